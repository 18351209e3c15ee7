"""The running server: it answers under its own names only, and a foreign page cannot open a session."""

import asyncio
import base64
import contextlib
import http.client
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, get_args
from urllib.parse import urljoin, urlsplit

import pytest
from starlette.middleware.trustedhost import TrustedHostMiddleware
from websockets import Origin
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.sync.client import connect

from evaluator.cli import dashboard as command
from evaluator.components import guard
from evaluator.components.page_styles import PageStyles
from evaluator.workspace.roles import Workspace
from pages.app import connections, page_style
from pages.app import server as serve
from pages.app.state import View
from tests import network, sessions
from tests.browser.conftest import alive, dashboard
from tests.serving import ROOT, free_port, lasting, processes


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with dashboard(tmp_path_factory.mktemp("elsewhere")) as url:
        yield url


def asked(url: str, path: str, method: str = "GET", **sent: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers by their names in small letters, and body of one request with headers of our own."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    connection.putrequest(method, path, skip_host="Host" in sent)
    for name, value in sent.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    body = b"" if answer.status == 101 else answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


def handshake(url: str, *, host: str, origin: str) -> int:
    """The status that answers the opening of a session."""
    key = base64.b64encode(b"0123456789abcdef").decode()
    status, _, _ = asked(
        url, "/_stcore/stream", Host=host, Origin=origin, Upgrade="websocket", Connection="Upgrade",
        Sec_WebSocket_Key=key, Sec_WebSocket_Version="13",
    )  # fmt: skip
    return status


def test_it_answers_under_its_own_names_only(server: str) -> None:
    port = urlsplit(server).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}"):
        assert asked(server, "/", Host=host)[0] == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", ""):
        assert [asked(server, path, Host=host)[0] for path in ("/", "/_stcore/health")] == [400, 400]


def test_only_the_exact_origin_opens_a_session(server: str) -> None:
    port = urlsplit(server).port
    assert port is not None
    own = f"127.0.0.1:{port}"
    for host in (own, f"localhost:{port}"):
        assert handshake(server, host=host, origin=f"http://{host}") == 101
    for origin in (
        "http://evil.example", f"http://127.0.0.1:{port + 1}", f"http://localhost:{port}", "http://localhost:3000",
        "http://127.0.0.1", "null", f"file://{own}", f"http://{own}.evil.example", "http://[",
    ):  # fmt: skip
        assert handshake(server, host=own, origin=origin) == 403, origin
    # A name that was made to point at this machine is host and origin at once.
    assert handshake(server, host="evil.example", origin="http://evil.example") in (400, 403)


def test_messages_are_compressed_in_one_stream_per_tab(server: str) -> None:
    """A small one that unpacks to a huge one is refused: `test_connections`."""
    own = f"127.0.0.1:{urlsplit(server).port}"
    with connect(f"ws://{own}/_stcore/stream", origin=Origin(f"http://{own}"), max_size=None) as session:
        (agreed,) = session.protocol.extensions
        assert isinstance(agreed, PerMessageDeflate)
        assert not agreed.remote_no_context_takeover


@pytest.mark.parametrize("path", ["/", "/gallery", "/_stcore/health", "/static/none.js", "/media/none.png", "/../x"])
def test_every_answer_says_what_a_browser_may_do(server: str, path: str) -> None:
    _, sent, _ = asked(server, path)
    rules = dict(rule.split(" ", 1) for rule in sent["content-security-policy"].split("; ") if " " in rule)
    assert rules["default-src"] == rules["frame-ancestors"] == "'none'"
    assert "unsafe-eval" not in sent["content-security-policy"]
    if not path.startswith("/media/"):
        assert "unsafe-inline" not in rules["script-src"]
        assert rules["connect-src"] == f"'self' ws://{urlsplit(server).netloc} wss://{urlsplit(server).netloc}"
    assert sent.items() >= {
        ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"), ("referrer-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    }  # fmt: skip


def test_no_other_origin_may_hold_the_dashboard_or_read_its_answers(server: str) -> None:
    status, _, body = asked(server, "/_stcore/host-config", Origin="http://localhost:3000")
    assert (status, json.loads(body)["allowedOrigins"]) == (200, [])
    for path in ("/_stcore/host-config", "/_stcore/health", "/media/none.png"):
        _, sent, _ = asked(server, path, Origin="http://localhost:3000")
        assert [name for name in sent if name.startswith("access-control-")] == []


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics", "/_stcore/metrics?families=cache_memory_bytes", "/_stcore/agent/openapi.json",
        "/_stcore/agent", "/_stcore/script-health-check", "/component/any/index.html", "/app/static/x",
        "/_stcore/%6detrics", "/oauth2callback/../_stcore/metrics",
    ],
)  # fmt: skip
def test_what_no_view_needs_is_shut(server: str, path: str) -> None:
    for method in ("GET", "OPTIONS", "POST"):
        status, _, body = asked(server, path, method)
        assert status in (400, 404, 405), method
        assert b"# EOF" not in body


def test_the_name_of_the_first_view_leads_to_the_bare_address(server: str) -> None:
    for path, place in (
        ("/overview", "."), ("/overview?model=Lines&x=%2F", ".?model=Lines&x=%2F"), ("/overview/", ".."),
        ("/overview/?model=Lines", "..?model=Lines"),
    ):  # fmt: skip
        for method in ("GET", "HEAD"):
            status, sent, _ = asked(server, path, method)
            assert (status, sent["location"]) == (307, place)
        below = urljoin(f"http://127.0.0.1:8501/below{path}", place).partition("?")[0]
        assert below == "http://127.0.0.1:8501/below/"
    navigation = Path(serve.__file__).parent / "navigation.py"
    assert f'default=view == "{serve.FIRST_VIEW}"' in navigation.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["/", "/?model=Lines", "/gallery", "/overviews", "/gallery/overview", "//overview"])
def test_no_other_address_is_led_elsewhere(server: str, path: str) -> None:
    status, sent, _ = asked(server, path)
    assert (status == 307, "location" in sent) == (False, False)


def test_no_picture_is_handed_out_that_it_was_not_given(server: str) -> None:
    for path in ("/layoutscope/0123456789abcdef0123456789abcdef.picture", "/layoutscope/..%2f..%2fapp.py"):
        status, _, body = asked(server, path)
        assert status in (400, 404), path
        assert b"import" not in body


def test_a_page_of_another_origin_sends_nothing(server: str) -> None:
    path = "/_stcore/upload_file/session/file"
    for method in ("PUT", "POST", "DELETE"):
        status, _, body = asked(server, path, method, Origin="http://localhost:3000")
        assert (status, body) == (403, b"A page of another origin may not send this.")


def test_a_public_name_is_an_origin_of_ours() -> None:
    assert guard.same_origin("https://scope.example.org", "scope.example.org")
    assert guard.same_origin("https://Scope.Example.org", "127.0.0.1:8501", ["scope.example.org"])
    for origin in ("https://evil.example", "https://scope.example.org.evil.example", "ftp://scope.example.org", ""):
        assert not guard.same_origin(origin, "127.0.0.1:8501", ["scope.example.org"])


def test_a_name_that_is_unfit_for_a_header_is_left_out_of_the_policy() -> None:
    assert "ws://" not in guard.content_policy("a; script-src *", ())
    assert "ws://[::1]:8501" in guard.content_policy("[::1]:8501", ())


def test_it_listens_on_this_machine_only(server: str) -> None:
    others = {str(address[4][0]) for address in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in (each for each in others if not each.startswith("127.")):
        with socket.socket() as knock:
            knock.settimeout(5)
            assert knock.connect_ex((address, urlsplit(server).port)) != 0


def test_layers_of_ours_stand_before_those_of_streamlit() -> None:
    first, second, third, last = serve.middleware(["127.0.0.1", "scope.example.org"])
    of_streamlit: Any = None
    made = first.cls(of_streamlit)
    assert isinstance(made, guard.Guard)
    # The script that we put into the page may run.
    assert {*guard.inline_scripts(page_style.page_styles()["head"])} < {*made._scripts}
    assert second.cls is connections.Limits
    assert (third.cls, third.kwargs["allowed_hosts"]) == (TrustedHostMiddleware, ["127.0.0.1", "scope.example.org"])
    assert (last.cls, last.kwargs) == (PageStyles, page_style.page_styles())
    assert 'url("data:image/png;base64,' in page_style.page_styles()["head"]


def test_a_page_has_our_style_in_its_head_and_nothing_else_changes() -> None:
    """A page is asked for whole; what a browser asks for besides goes through as it is."""
    asked_with: list[dict[bytes, bytes]] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        asked_with.append(dict(scope["headers"]))
        kind = b"text/html" if scope["path"] == "/" else b"text/css"
        headers = [(b"content-type", kind), (b"content-length", b"26"), (b"etag", b"1"), (b"vary", b"accept")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"<head>", "more_body": True})
        await send({"type": "http.response.body", "body": b"</head><body></body>"})

    def answer(path: str, accept: bytes) -> tuple[dict[bytes, bytes], bytes]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"accept", accept), (b"accept-encoding", b"gzip"), (b"if-none-match", b"1")]
        scope = {"type": "http", "method": "GET", "path": path, "headers": headers}
        asyncio.run(PageStyles(application, "<style>i {}</style>", "<style>b {}</style>")(scope, None, send))  # type: ignore[arg-type]
        return dict(sent[0]["headers"]), b"".join(each["body"] for each in sent[1:])

    headers, body = answer("/", b"text/html,*/*")
    assert body == b"<head><style>i {}</style></head><body><style>b {}</style></body>"
    assert headers == {b"content-type": b"text/html", b"vary": b"accept", b"content-length": b"64"}
    for path, accept in (("/a.css", b"text/html"), ("/", b"*/*")):
        headers, body = answer(path, accept)
        assert (body, headers[b"content-length"], headers[b"etag"]) == (b"<head></head><body></body>", b"26", b"1")
    assert [sorted(each) for each in asked_with] == [
        [b"accept"],
        [b"accept"],
        [b"accept", b"accept-encoding", b"if-none-match"],
    ]


@pytest.mark.usefixtures("store_path")
def test_the_first_page_waits_for_no_table_and_no_database_and_no_view_writes_into_the_log(tmp_path: Path) -> None:
    """Pandas and SQLAlchemy were half of what the first page took; the log also after all views in one session."""
    libraries: list[str] = []

    def maps_of(pid: int, port: str) -> str:
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        is_server = port in words and any(word.endswith("app/server.py") for word in words)
        return Path(f"/proc/{pid}/maps").read_text() if is_server else ""

    async def read(url: str) -> list[str]:
        reader = await sessions.Reader(url).connected()
        acts = [await reader.open("page_browser")]
        libraries.extend(maps_of(pid, url.rpartition(":")[2]) for pid in processes(os.getpid()))
        acts += [await reader.open(view.replace("overview", "")) for view in get_args(View)[:-1]]
        acts += [await reader.open("page_browser"), await reader.turn(1), await reader.open("models")]
        await reader.left()
        return [error for act in acts for error in act.errors]

    with dashboard(tmp_path) as url:
        assert asyncio.run(read(url)) == []
        found = [name for name in ("numpy", "pandas", "pyarrow", "sqlalchemy") if f"/{name}/" in "".join(libraries)]
        assert found == ["numpy"]
        said = (tmp_path / "server.log").read_text().splitlines()
        assert [line for line in said if not line.startswith("LayoutScope is running at")] == []


def test_every_release_of_the_major_version_may_be_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "streamlit>=1.67,<2" in project["dependencies"]


def test_a_session_of_a_proxy_has_an_origin_that_streamlit_knows() -> None:
    """About another one it would ask a foreign host whether it is this machine."""
    origins: list[bytes] = []

    async def streamlit_(scope: guard.Scope, _receive: guard.Receive, _send: guard.Send) -> None:
        origins.extend(value for name, value in scope["headers"] if name == b"origin")

    layer = guard.Guard(streamlit_, public=["scope.example.org"])
    headers = [(b"host", b"127.0.0.1:8501"), (b"origin", b"https://scope.example.org")]
    nothing: Any = None
    asyncio.run(layer({"type": "websocket", "headers": headers}, nothing, nothing))
    assert origins == [b"http://127.0.0.1:8501"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_signals_stop_it_as_ctrl_c_does_unless_they_are_ignored() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        for heeded, ignored in itertools.permutations(before):
            signal.signal(heeded, signal.SIG_DFL)
            signal.signal(ignored, signal.SIG_IGN)
            command._interrupted_by("SIGTERM", "SIGHUP", "SIGOFNOSYSTEM")
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(heeded)
            signal.raise_signal(ignored)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def running_command(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """The command on the sample data, with its output and messages in one pipe; nothing that it started is left."""
    here = os.path.relpath(ROOT / "sample_data", folder)
    words = [sys.executable, "-m", "evaluator.cli", "open", here, "--no-browser"]
    # A suite in the background of a shell would hand on that Ctrl+C is ignored.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(
        words, cwd=folder, env=os.environ | {"PYTHONPATH": network.python_path(ROOT)}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    try:
        yield process, process.stdout
    finally:
        process.stdout.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def assert_nothing_is_left(process: subprocess.Popen[bytes]) -> None:
    """The command ends by itself, and no process of its group is there any more."""
    process.wait(30)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_what_is_temporary_goes_when_the_server_is_stopped() -> None:
    script = """
import os, signal, weakref
from pages.app.server import serve
class Held: pass
held = Held()
weakref.finalize(held, print, "removed")
async def app(scope, receive, send):
    for part in ("startup", "shutdown"):
        await receive()
        os.kill(os.getpid(), signal.SIGTERM)
        await send({"type": f"lifespan.{part}.complete"})
serve(app, {"server.address": "127.0.0.1", "server.port": PORT})
"""
    command = [sys.executable, "-c", script.replace("PORT", str(free_port()))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "removed\n"), done.stderr


def test_no_process_is_left_when_nobody_reads_the_output(tmp_path: Path) -> None:
    with running_command(tmp_path) as (process, output):
        # The one line of the command, which comes when the server answers, finds the pipe closed.
        output.close()
        assert_nothing_is_left(process)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_server_ends_when_the_command_is_killed_whose_output_nobody_reads(tmp_path: Path) -> None:
    with running_command(tmp_path) as (process, output):
        assert output.readline().startswith(b"LayoutScope is running at http://127.0.0.1:")
        started = processes(process.pid) - {process.pid}
        assert started
        output.close()
        process.kill()
        process.wait(30)
        assert lasting(started) == set()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds the server in /proc")
def test_a_server_that_crashed_is_started_again_under_its_address_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    """Also when nobody reads the output any more; of SIGTERM see `test_wheel`."""
    with running_command(tmp_path) as (process, output):
        url = next(line for line in output if b"running at" in line).decode().split(" at ")[1].split(" (")[0]
        below = processes(process.pid) - {process.pid}
        (crashing,) = [pid for pid in below if b"server.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        os.kill(crashing, signal.SIGSEGV)
        said = next(line for line in output if b"by itself" in line)
        assert said == b"note: the server ended by itself (SIGSEGV); it is started again.\n"
        answer, deadline = None, time.monotonic() + 60
        while answer is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                answer, _, _ = asked(url, "/_stcore/health")
            time.sleep(0.1)
        assert answer == 200
        output.close()
        process.send_signal(signal.SIGINT)
        assert_nothing_is_left(process)


@pytest.mark.parametrize(
    ("codes", "answers", "ended", "said", "last"),
    [
        ([-11, 1, -9, -6, 0], True, 3, ["SIGSEGV", "exit code 1", "SIGKILL"], "SIGABRT"),
        ([-11, 0], True, 0, ["SIGSEGV"], ""),
        ([-15], True, 0, [], ""),
        # One that never answered would not the next time either.
        ([3, 0], False, 3, [], "exit code 3"),
    ],
)
def test_a_server_is_started_again_a_few_times(
    codes: list[int], answers: bool, ended: int, said: list[str], last: str, *,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    left = list(codes)

    class Server:
        def __init__(self, *words: object, **options: object) -> None:
            self.code = left.pop(0)

        def wait(self, seconds: float | None = None) -> int:
            return self.code

        def terminate(self) -> None:
            pass

    monkeypatch.setattr(command.subprocess, "Popen", Server)
    monkeypatch.setattr(command, "_answers", lambda url, child: answers)
    heeded: list[str] = []
    monkeypatch.setattr(command, "_interrupted_by", lambda *names: heeded.extend(names))
    assert command._serve(Workspace(), port=free_port(), browser=False) == ended
    assert heeded == ["SIGTERM", "SIGHUP"]
    out, notes = capsys.readouterr()
    assert out.count("LayoutScope is running") == answers
    lines = [f"note: the server ended by itself ({each}); it is started again." for each in said]
    lines += [f"note: the server ended by itself ({last}); it is not started again."] if last else []
    assert notes.splitlines() == lines


def test_a_server_of_these_tests_that_ends_by_itself_fails_the_test(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("Fatal Python error")
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"])
    with pytest.raises(pytest.fail.Exception, match="ended by itself with 7: Fatal Python error"), alive(process, log):
        process.wait(30)
