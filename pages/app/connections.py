"""What a connection may cost: limits on bytes, time and number, most of all before it is known who reads.

A connection waits until it has asked for something, and again after each answer. A session is unknown where a login is
wanted, until its cookie or a run had access (`login_settings.reader_of`, `login.require_access`). When there are too
many, the one that has waited longest, or the oldest unknown session, makes room. SECURITY.md states the limits.

A session belongs to its reader: who knows its name and is somebody else uploads nothing to it and does not come back
to it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from h11 import ProtocolError
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from evaluator.components.guard import Application, Message, Receive, Scope, Send, answer

HEAD_BYTES: Final = 32 * 2**10
"""Of a request, without its body."""
HEADERS: Final = 100
MESSAGE_BYTES: Final = 512 * 2**10
"""Of a message of a session, unpacked: what is typed in all fields of a view at once."""
UNKNOWN_BYTES: Final = 16 * 2**10
"""Of a message of a session of which is not known who reads: one for the log-in screen has less than 2 KiB."""
PARTS: Final = 1_000
"""Of a message: each part that is kept costs more than its bytes."""
WAITING_SECONDS: Final = 10.0
STALLED_SECONDS: Final = 30.0
MOST: Final = 1_000
MOST_UNKNOWN: Final = 200
BACKLOG: Final = 128
"""Connections that are taken at once, before the first of them is counted."""
OPEN_FILES: Final = 10_240
FILES_KEPT: Final = 256
"""Descriptors that connections leave to documents, stores and processes."""
REPEAT_SECONDS: Final = 60.0
NAME_HEADER: Final = "x-layoutscope-connection"
"""Set by this layer alone; tells the run of a session which connection it has."""
_UPLOAD: Final = re.compile(r"/_stcore/upload_file/([^/]+)/")
_logger: Final = logging.getLogger(__name__)

_open: Final[dict[_Limited, None]] = {}
# Who had access in the last run of each session; None for nobody.
_readers: Final[dict[str, str | None]] = {}
_most = MOST


class _Limited(asyncio.Protocol):
    """Part of a protocol of uvicorn that counts and ends its connection."""

    transport: asyncio.Transport
    app_state: dict[str, Any]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        before = transport.get_protocol()
        if isinstance(before, _Limited) and before is not self:
            # A session begins as a request, which hands its connection on.
            before._forget()
        self.name = secrets.token_hex(16)
        self.session = self.known = False
        self._waiting: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self.app_state = {**self.app_state, "connection": self}
        super().connection_made(transport)
        _open[self] = None
        self.wait()
        if len(_open) > _most:
            _logger.warning(
                "%d connections are open, the most at a time: one that waits is closed for each new one.", _most
            )
            waiting = [(each._waiting.when(), each) for each in _open if each._waiting is not None]
            min(waiting, key=lambda pair: pair[0])[1].drop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look_again(sys.maxsize)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_looking()

    def wait(self) -> None:
        if self in _open:
            self.asked()
            self._waiting = asyncio.get_running_loop().call_later(WAITING_SECONDS, self.drop)

    def asked(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def drop(self) -> None:
        """Close the connection at once, whatever is on its way."""
        self._forget()
        self.transport.abort()

    def _look_again(self, unsent: int) -> None:
        now = self.transport.get_write_buffer_size()
        if now >= unsent:
            self.drop()
        else:
            self._stalled = asyncio.get_running_loop().call_later(STALLED_SECONDS, self._look_again, now)

    def _forget(self) -> None:
        _open.pop(self, None)
        self.asked()
        self._stop_looking()

    def _stop_looking(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


class HttpConnection(_Limited, H11Protocol):
    """A connection for requests."""


class SessionConnection(_Limited, WebSocketsSansIOProtocol):
    """A connection of a session."""

    def data_received(self, data: bytes) -> None:
        """Take what came, and close a connection that would cost too much."""
        super().data_received(data)
        unread = self.transport.get_write_buffer_size() > MESSAGE_BYTES and not self.known
        if unread or len(self.frames) > PARTS:
            # Answers to pings that nobody reads, or a message of parts without end.
            self.drop()


class Limits:
    """The layer that knows what was asked for, behind the guard: what that answers takes no time."""

    def __init__(self, application: Application, reader_of: Callable[[Scope], str | None]) -> None:
        self._application = application
        self._reader_of = reader_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or one session."""
        if scope["type"] == "websocket":
            await self._session(scope, receive, send)
        elif scope["type"] == "http":
            connection = cast(_Limited, scope["state"]["connection"])
            connection.asked()
            try:
                await self._request(scope, receive, send)
            except ProtocolError as problem:
                _logger.warning("A request that breaks the rules of HTTP was closed (%s).", problem)
                connection.drop()
            finally:
                connection.wait()
        else:
            await self._application(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        upload = _UPLOAD.search(scope["path"])
        if len(scope["headers"]) > HEADERS:
            await answer(send, 431, b"text/plain; charset=utf-8", b"The request has too many headers.")
        elif upload and scope["method"] not in ("GET", "HEAD", "OPTIONS") and not self._may_upload(upload[1], scope):
            words = b"Log in before you upload files, and upload them to a session of your own."
            await answer(send, 403, b"text/plain; charset=utf-8", words)
        else:
            await self._application(scope, receive, send)

    def _may_upload(self, session: str, scope: Scope) -> bool:
        reader = _readers.get(session)
        return reader is not None and reader == self._reader_of(scope)

    async def _session(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = cast(_Limited, scope["state"]["connection"])
        connection.session = True
        # A tab that comes back, also to a server that was started again, sends all that is typed in it.
        reader = self._reader_of(scope)
        connection.known = reader is not None
        unknown = [each for each in _open if each.session and not each.known]
        if len(unknown) > MOST_UNKNOWN:
            _logger.warning(
                "%d sessions have not logged in, the most at a time: the oldest is closed for each new one.",
                MOST_UNKNOWN,
            )
            unknown[0].drop()

        async def limited() -> Message:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            connection.asked()
            content = message.get("bytes")
            if content is None:
                _logger.warning("A session sent text where only bytes are understood; it was closed.")
                code = 1003
            elif len(content) > UNKNOWN_BYTES and not connection.known:
                _logger.warning(
                    "A session sent %d bytes before the login, more than %d; it was closed.",
                    len(content),
                    UNKNOWN_BYTES,
                )
                code = 1009
            else:
                return message
            await send({"type": "websocket.close", "code": code})
            return {"type": "websocket.disconnect", "code": code}

        wanted = NAME_HEADER.encode()
        headers = [(name, value) for name, value in scope["headers"] if name.lower() != wanted]
        # A tab that comes back names its session third, after the protocol and its token.
        for at, (name, value) in enumerate(headers):
            asked = value.decode("latin-1").split(",") if name.lower() == b"sec-websocket-protocol" else []
            if any(_readers.get(each.strip(), reader) != reader for each in asked):
                headers[at] = name, ",".join(asked[:2]).encode("latin-1")
        await self._application({**scope, "headers": [*headers, (wanted, connection.name.encode())]}, limited, send)


def note_reader(session: str, name: str | None, reader: str | None) -> None:
    """Note who has access in a session, None for nobody; `name` is that of its connection, by `NAME_HEADER`."""
    _readers[session] = reader
    for each in list(_open):
        if each.name == name:
            each.known = reader is not None


def forget_reader(session: str) -> None:
    """Forget a session that has ended."""
    _readers.pop(session, None)


def allow_open_files() -> None:
    """Let this process open as many files as the system lets it, and leave some of them to others than connections."""
    global _most  # noqa: PLW0603 - once, at the start of the server
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    _most = MOST if soft == resource.RLIM_INFINITY else max(1, min(MOST, soft - BACKLOG - FILES_KEPT))


class OncePerCause(logging.Filter):
    """Lets a line of one place in the code, and of one place of an exception, through once in `REPEAT_SECONDS`."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[object, ...], list[float]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the line is written; it then tells how many like it were not."""
        kind, _, raised = record.exc_info or (None, None, None)
        while raised is not None and raised.tb_next is not None:
            raised = raised.tb_next
        place = raised and (raised.tb_frame.f_code, raised.tb_lineno)
        now = time.monotonic()
        last = self._last.setdefault((record.pathname, record.lineno, kind, place), [now - REPEAT_SECONDS, 0])
        if now - last[0] < REPEAT_SECONDS:
            last[1] += 1
            return False
        if last[1]:
            record.msg, record.args = f"{record.getMessage()} ({last[1]:.0f} more like this since the last one)", ()
        last[:] = now, 0
        return True


@asynccontextmanager
async def quiet_log(_: object) -> AsyncIterator[None]:
    """Write a line of each cause once in a while, while the server runs: strangers can cause many."""
    once = OncePerCause()
    loggers = [each for each in logging.root.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    for each in (logging.root, *loggers):
        each.addFilter(once)
    asyncio.get_running_loop().set_exception_handler(_log_in_words)
    yield


def _log_in_words(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if str(context.get("message", "")).startswith("socket.accept() out of system resource"):
        _logger.warning(
            "No more files can be opened (%s): new connections wait; raise the limit (ulimit -n).", context["exception"]
        )
    else:
        loop.default_exception_handler(context)
