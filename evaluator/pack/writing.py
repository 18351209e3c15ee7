"""The writing process seen from the app: messages sent, answers awaited, and killed when it takes too long."""

from __future__ import annotations

from types import TracebackType
from typing import Final

import msgspec

from evaluator.pdf import writer as pdf_writer
from evaluator.pdf.process import Process, ProcessLost, ProcessTimeout
from evaluator.pdf.writer import Accepted, Answer, Finish, Fonts, Mark, Piece, Refusal, Rows, Section
from evaluator.system.decoding import msgpack_decoder

_SECONDS: Final = 60.0
_answer_of: Final = msgpack_decoder(Answer)
_REPLY_BYTES: Final = pdf_writer.PIECE_BYTES + 4096


class WritingProblem(Exception):
    """Raised when a document cannot be written; the message is one sentence."""


class Writer:
    """A context manager of one process that writes documents; useless once it raised `WritingProblem`.

    Killed when one message takes over `seconds`.
    """

    def __init__(self, *, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._process = Process("evaluator.pdf.writer", reply_bytes=_REPLY_BYTES)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process and close what is open to it."""
        self._process.discard()

    def send(self, message: Fonts | Section | Rows | Mark) -> Accepted:
        """Have one message worked off; `WritingProblem` when it cannot be."""
        if isinstance(message, Mark):
            message = self._handed(message)
        answer = self._ask(message)
        if isinstance(answer, Accepted):
            return answer
        raise WritingProblem(_sentence(answer))

    def _handed(self, message: Mark) -> Mark:
        """Return the message without the path of its document, whose open file is handed over."""
        try:
            handed = self._process.hand(message.path)
        except OSError as problem:
            raise WritingProblem(problem.strerror or "The file cannot be read.") from problem
        except ProcessLost:
            raise WritingProblem(_sentence(None)) from None
        return msgspec.structs.replace(message, path="") if handed else message

    def finish(self, title: str = "") -> bytes:
        """Return the finished document; raises `WritingProblem`."""
        pieces: list[bytes] = []
        answer: Answer | None = self._ask(Finish(title))
        while isinstance(answer, Piece):
            pieces.append(answer.content)
            if answer.last:
                return b"".join(pieces)
            answer = self._answer(b"")
        raise WritingProblem(_sentence(answer))

    def _ask(self, message: Fonts | Section | Rows | Mark | Finish) -> Answer | None:
        payload = msgspec.msgpack.encode(message)
        if len(payload) > pdf_writer.MESSAGE_BYTES_LIMIT:
            raise WritingProblem("A part of the document is larger than can be sent to the renderer.")
        return self._answer(payload)

    def _answer(self, payload: bytes) -> Answer | None:
        try:
            frame = self._process.exchange(payload, seconds=self._seconds)
        except (ProcessTimeout, ProcessLost):
            return None
        answer: Answer = _answer_of(frame)
        return answer


def _sentence(answer: Answer | None) -> str:
    if isinstance(answer, Refusal):
        return answer.detail
    return "The process that writes PDFs ended or took too long."
