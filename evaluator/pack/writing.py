"""The writing process seen from the app: messages sent, answers awaited, and killed when it takes too long."""

from __future__ import annotations

import subprocess
from types import TracebackType
from typing import Final

import msgspec

from evaluator.pdf import worker as pdf_worker
from evaluator.pdf import writer as pdf_writer
from evaluator.pdf.handing import Handing, little_environment, python_module
from evaluator.pdf.writer import Answer, Finish, Fonts, Mark, Piece, Refusal, Rows, Section, Taken
from evaluator.system.timeouts import TIMEOUTS

_SECONDS: Final = 60.0
_REPLY_BYTES: Final = pdf_writer.PIECE_BYTES + 4096


class WritingProblem(Exception):
    """Raised when a document cannot be written; the message is one sentence."""


class Writer:
    """One process that writes documents, one after the other; a context manager that leaves nothing running.

    Once it has raised `WritingProblem`, it writes nothing more.

    Parameters
    ----------
    seconds : float
        Longest time for one message; the process is killed beyond it.
    """

    def __init__(self, *, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._handing = Handing()
        self._process = subprocess.Popen(
            [*python_module("evaluator.pdf.writer"), *self._handing.words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=little_environment(),
            pass_fds=self._handing.kept,
            start_new_session=True,
        )
        self._handing.started()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process and close what is open to it."""
        self._process.kill()
        self._process.wait()
        self._handing.close()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # closing flushes into the pipe of a process that has gone
                    continue

    def send(self, message: Fonts | Section | Rows | Mark) -> int:
        """Have one message worked off; the number of notes that had no page. Raises `WritingProblem`."""
        if isinstance(message, Mark) and self._handing.open:
            message = self._handed(message)
        answer = self._ask(message)
        if isinstance(answer, Taken):
            return answer.left_out
        raise WritingProblem(_sentence(answer))

    def _handed(self, message: Mark) -> Mark:
        """The message without the path of its document, which goes over open."""
        try:
            with pdf_worker.open_regular(message.path) as file:
                self._handing.hand(file)
        except OSError as problem:
            raise WritingProblem(problem.strerror or "The file cannot be read.") from problem
        return msgspec.structs.replace(message, path="")

    def finish(self, title: str = "") -> bytes:
        """The finished document; raises `WritingProblem`."""
        pieces: list[bytes] = []
        answer: Answer | None = self._ask(Finish(title))
        while isinstance(answer, Piece):
            pieces.append(answer.content)
            if answer.last:
                return b"".join(pieces)
            answer = self._answer(None)
        raise WritingProblem(_sentence(answer))

    def _ask(self, message: Fonts | Section | Rows | Mark | Finish) -> Answer | None:
        payload = msgspec.msgpack.encode(message)
        if len(payload) > pdf_writer.MESSAGE_BYTES_LIMIT:
            raise WritingProblem("A part of the document is larger than can be sent to the renderer.")
        return self._answer(payload)

    def _answer(self, payload: bytes | None) -> Answer | None:
        """The answer to a message, or to none; None when the process has gone or was killed."""
        if self._process.stdin is None or self._process.stdout is None:
            return None
        # Pipes cannot be polled on Windows, so the limit is a second thread that kills; the read then ends.
        watch = TIMEOUTS.after(self._seconds, self._process.kill)
        try:
            if payload is not None:
                pdf_worker.write_frame(self._process.stdin, payload)
            frame = pdf_worker.read_frame(self._process.stdout, limit=_REPLY_BYTES)
        except (OSError, ValueError):
            return None
        finally:
            watch.cancel()
        return None if frame is None else msgspec.msgpack.decode(frame, type=Answer)


def _sentence(answer: Answer | None) -> str:
    """Why nothing came, in one sentence."""
    if isinstance(answer, Refusal):
        return answer.detail
    return "The process that writes PDFs ended or took too long."
