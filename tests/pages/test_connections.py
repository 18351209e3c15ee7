"""What a connection costs before it is known who reads: bytes, time, number, and lines in the log."""

import asyncio
import contextlib
import http.client
import itertools
import json
import logging
import re
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvicorn
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value, generate_xsrf_token_string
from websockets import ConnectionClosed, Origin, Subprotocol
from websockets.sync.client import ClientConnection, connect

from evaluator.components.guard import Receive, Scope, Send
from pages.app import connections
from tests.serving import PATIENCE, ROOT, free_port, processes, served

SECRET = "only for tests, " * 3
FILES = 1_024
"""Descriptors of the server: the usual soft limit, and here the hard one too."""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of open files, and memory in /proc")


class Server(NamedTuple):
    """A running dashboard that wants a login, as users start it."""

    url: str
    pid: int
    log: Path

    def most_memory(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]

    def health(self) -> int:
        return asked(self.url, "GET", "/_stcore/health")

    def said(self) -> list[str]:
        """Lines of the log, without the one with the address."""
        lines = self.log.read_text().splitlines()
        return [line for line in lines if not line.startswith("LayoutScope is running at")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder, port = tmp_path_factory.mktemp("login"), free_port()
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text(
        f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\ncookie_secret = "{SECRET}"\n'
        'client_id = "a"\nclient_secret = "b"\nserver_metadata_url = "http://127.0.0.1:9/none"\n'
    )
    command = [sys.executable, "-m", "evaluator.cli", "open", str(ROOT / "sample_data"), "--no-browser"]
    limited = ["sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh", *command, "--port", str(port)]
    with served(limited, port, folder) as (url, pid):
        (own,) = [each for each in processes(pid) if b"server.py" in Path(f"/proc/{each}/cmdline").read_bytes()]
        yield Server(url, own, folder / f"server-{port}.log")


def asked(url: str, method: str, path: str, body: bytes = b"", **sent: str) -> int:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in sent.items()})
        return connection.getresponse().status


def opened(url: str, sent: bytes = b"") -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    made = socket.create_connection((host, int(port)))
    made.sendall(sent)
    return made


@contextlib.contextmanager
def tab(url: str, *protocols: str, cookie: str = "") -> Iterator[ClientConnection]:
    """An open session, as a browser has it."""
    with connect(
        f"{url.replace('http', 'ws')}/_stcore/stream", origin=Origin(url), max_size=None, proxy=None,
        subprotocols=[Subprotocol(each) for each in ("streamlit", *protocols)],
        additional_headers={"Cookie": cookie} if cookie else None,
    ) as session:  # fmt: skip
        yield session


def run(session: ClientConnection, *, padding: int = 0) -> str:
    message, end, name = BackMsg(), ForwardMsg(), ""
    message.rerun_script.query_string = ""
    message.rerun_script.widget_states.widgets.add(id="none", string_value="x" * padding)
    session.send(message.SerializeToString())
    while end.WhichOneof("type") != "script_finished" or end.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
        end.ParseFromString(session.recv(timeout=PATIENCE, decode=False))
        name = name or end.new_session.initialize.session_id
    return name


def close_code(session: ClientConnection, act: Callable[[], object]) -> int | None:
    with contextlib.suppress(ConnectionClosed):
        act()
        while True:
            session.recv(timeout=PATIENCE)
    return session.close_code


def test_a_small_message_that_unpacks_to_a_huge_one_costs_little(server: Server) -> None:
    with tab(server.url) as session:
        run(session)
    before = server.most_memory()
    for _ in range(3):
        with tab(server.url) as session:
            assert close_code(session, lambda: session.send(bytes(80 * 2**20))) == 1009
    assert server.most_memory() - before < 8


def test_idle_connections_shut_nobody_out_and_fill_no_log(server: Server) -> None:
    before = len(server.said())
    with contextlib.ExitStack() as idle:
        for _ in range(1_100):
            idle.enter_context(opened(server.url))
        assert server.health() == 200
        with tab(server.url) as session:
            run(session)
        most = FILES - connections.BACKLOG - connections.FILES_KEPT
        line = f"{most} connections are open, the most at a time: one that waits is closed for each new one."
        assert server.said()[before:] == [line]


def test_a_request_that_breaks_the_rules_of_http_is_closed_in_one_line(server: Server) -> None:
    before = len(server.said())
    head = b"POST /auth/x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    for _ in range(5):
        with opened(server.url, head + b"no number\r\n") as wrong:
            assert closed(wrong)
    assert [line.partition(" (")[0] for line in server.said()[before:]] == [
        "Invalid HTTP request received.",
        "A request that breaks the rules of HTTP was closed",
        "ASGI callable returned without completing response.",
    ]


def test_text_in_place_of_bytes_is_refused_in_one_line(server: Server) -> None:
    before = len(server.said())
    for _ in range(5):
        with tab(server.url) as session:
            assert close_code(session, lambda: session.send("text")) == 1003
    (line,) = server.said()[before:]
    assert line.endswith("A session sent text where only bytes are understood; it was closed.")


def test_a_large_message_and_an_upload_need_a_login_and_a_session_of_ones_own(server: Server) -> None:
    """The cookie of one is enough: the first message of a tab that comes back has all that is typed in its view."""
    token = generate_xsrf_token_string()

    def cookie_of(name: str) -> str:
        user = {"origin": server.url, "is_logged_in": True, "provider": "default", "email": f"{name}@example.org"}
        return f"_streamlit_user={create_signed_value(SECRET, '_streamlit_user', json.dumps(user)).decode()}"

    known, foreign = cookie_of("ben"), cookie_of("mallory")
    padding = connections.UNKNOWN_BYTES
    file = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nx\r\n--b--\r\n'

    def upload(name: str, cookie: str = "") -> int:
        path, kind = f"/_stcore/upload_file/{name}/1", "multipart/form-data; boundary=b"
        xsrf = {"Cookie": f"{cookie}; _streamlit_xsrf={token}", "X_Xsrftoken": token}
        return asked(server.url, "PUT", path, file, Content_Type=kind, **xsrf)

    with tab(server.url, token) as session:
        name = run(session)
        assert [upload(name), upload(name, known), upload("none", known)] == [403, 403, 403]
        assert close_code(session, lambda: run(session, padding=padding)) == 1009
    with tab(server.url, token, cookie=f"{known}; _streamlit_xsrf={token}") as session:
        name = run(session)
        run(session, padding=padding)
        assert [upload(name, each) for each in (known, foreign, "")] == [204, 403, 403]
    # Who knows the name of a session that lost its tab gets another one.
    for cookie in (foreign, ""):
        with tab(server.url, token, name, cookie=f"{cookie}; _streamlit_xsrf={token}") as session:
            assert run(session) != name
    with tab(server.url, token, name, cookie=f"{known}; _streamlit_xsrf={token}") as session:
        assert run(session, padding=padding) == name
    for cookie in (known.replace("=", "=a", 1), f"{known}a", "_streamlit_user="):
        with tab(server.url, token, cookie=f"{cookie}; _streamlit_xsrf={token}") as session:
            assert close_code(session, lambda session=session: run(session, padding=padding)) == 1009  # type: ignore[misc]
    line = f"A session sent {padding + 22} bytes before the login, more than {padding}; it was closed."
    assert [each for each in server.said() if "before the login" in each][-1].endswith(line)


@contextlib.contextmanager
def small_server(monkeypatch: pytest.MonkeyPatch, **limits: float) -> Iterator[str]:
    """The protocols and the layer alone, with other limits, before an application that answers much to a request."""
    for name, value in limits.items():
        monkeypatch.setattr(connections, name, value)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for more in (*[True] * 200, False):
                await send({"type": "http.response.body", "body": bytes(100_000), "more_body": more})
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            while (await receive())["type"] != "websocket.disconnect":
                await send({"type": "websocket.send", "bytes": b"answer"})

    port = free_port()
    settings: dict[str, Any] = {"http": connections.HttpConnection, "ws": connections.SessionConnection}
    running = uvicorn.Server(
        uvicorn.Config(
            connections.Limits(application, lambda _: None), port=port, lifespan="off", log_config=None, **settings
        )
    )
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        while not running.started:
            thread.join(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.should_exit = True
        thread.join()
    assert not connections._open


def closed(*sockets: socket.socket) -> bool:
    """Whether the other end closes connections before long, read to their end."""
    for each in sockets:
        each.settimeout(PATIENCE)
        with contextlib.suppress(ConnectionError):
            while each.recv(2**20):
                continue
    return True


def test_a_connection_that_asks_for_nothing_or_takes_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    with small_server(monkeypatch, WAITING_SECONDS=0.2, STALLED_SECONDS=0.2) as url:
        head = b"GET / HTTP/1.1\r\nHost: a\r\n"
        with opened(url) as silent, opened(url, head) as half:
            assert closed(silent, half)
        with opened(url, head + b"\r\n") as greedy:
            while connections._open:
                threading.Event().wait(0.01)
            assert closed(greedy)


def test_the_one_that_waits_longest_and_the_oldest_unknown_session_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    with small_server(monkeypatch, _most=4, MOST_UNKNOWN=1) as url, contextlib.ExitStack() as stay:
        first, *others = [stay.enter_context(opened(url)) for _ in range(5)]
        assert closed(first)
        with tab(url) as old, tab(url) as new:
            assert close_code(old, lambda: None) == 1006
            new.send(b"one")
            assert new.recv(timeout=PATIENCE) == b"answer"
        assert closed(others[0])


def test_a_message_of_parts_without_end_and_answers_that_nobody_reads_end_a_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with small_server(monkeypatch, MESSAGE_BYTES=1_000) as url:
        with tab(url) as session:
            assert close_code(session, lambda: session.send([b""] * (2 * connections.PARTS))) == 1006
        key = "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n"
        upgrade = f"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{key}\r\n".encode()
        ping = b"\x89\xfd\0\0\0\0" + bytes(125)
        with opened(url, upgrade) as deaf, pytest.raises(ConnectionError):
            deque(map(deaf.sendall, itertools.repeat(ping * 100)), maxlen=0)


def test_a_line_of_a_cause_is_written_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr("pages.app.connections.time.monotonic", lambda: now[0])
    once = connections.OncePerCause()

    def written(line: int, text: str) -> str | None:
        record = logging.LogRecord("any", logging.WARNING, "file.py", line, text, ("a",), None)
        return record.getMessage() if once.filter(record) else None

    assert [written(1, "%s 1"), written(1, "%s 2"), written(2, "%s 3"), written(1, "%s 4")] == [
        "a 1",
        None,
        "a 3",
        None,
    ]
    now[0] += connections.REPEAT_SECONDS
    assert written(1, "%s 5") == "a 5 (2 more like this since the last one)"
    assert written(1, "%s 6") is None


def test_what_strangers_cause_in_the_loop_is_said_in_words(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.new_event_loop()
    with contextlib.closing(loop):
        for told, problem in {
            "socket.accept() out of system resource": OSError(24, "Too many open files"),
            "something else": ValueError("else"),
        }.items():
            connections._log_in_words(loop, {"message": told, "exception": problem})
    cause = "No more files can be opened ([Errno 24] Too many open files)"
    assert caplog.messages == [
        f"{cause}: new connections wait; raise the limit (ulimit -n).",
        "something else",
    ]
