"""A tab that is closed, and a server that is ended: neither leaves a file or a process."""

import asyncio
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.browser.conftest import Visit, own_port, started, stop
from tests.building import box, write_file
from tests.pdf_fixtures import page
from tests.serving import lasting, processes, running
from tests.sessions import Reader

pytestmark = pytest.mark.browser


async def drawn(url: str, server: int) -> set[int]:
    reader = await Reader(url).connected()
    act = await reader.open("page_browser")
    assert act.errors == ()
    assert reader.shown["image"]
    pids = await asyncio.to_thread(processes, server)
    await reader.left()
    return pids


@pytest.mark.skipif(sys.platform == "win32", reason="processes are listed by ps")
def test_the_last_closed_tab_and_an_ended_server_leave_no_file_and_no_process(
    tmp_path: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session ends by itself, also when it was the only one."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL", "1")
    files = [
        write_file(tmp_path / f"{side}.json", [box(0.1, 0.1, 0.9, 0.9, document="own.pdf", score=score)], side=side)
        for side, score in (("ground_truth", None), ("prediction", 0.5))
    ]
    pages = tmp_path / "own.pdf"
    pages.write_bytes(page())

    def left() -> list[str]:
        return sorted(path.name for path in temporary.glob("layoutscope-*"))

    port = own_port()
    server = started(tmp_path, port)
    try:
        # What the server has of its own from the start, such as the process that holds its port.
        before = running(processes(server.pid))
        screen = visit(f"http://127.0.0.1:{port}")
        # Own files by whoever was told nothing: what the first view offers, and what the list says Enter does.
        screen.open().choose(*files, pages, link="Open your own files")
        for width in (1024, 1440):
            row = screen.sized(width).page.locator(".layoutscope-files .file").first
            places = [row.locator(part).first.bounding_box() for part in ("select", ".name", ".count")]
            assert [place["x"] for place in places] == sorted(place["x"] for place in places), width
        screen.page.keyboard.press("Enter")
        screen.wait(lambda: "1 page file added. The sample is closed." in screen.text(), "what became of the files")
        answer = screen.page.locator(".ls-headline")
        assert "1 of 1" in answer.inner_text() or "all" in answer.inner_text()
        assert answer.bounding_box()["y"] + 34 < screen.page.viewport_size["height"], "seen without scrolling"
        screen.go("Pages")
        screen.page.locator(".page-image").first.wait_for()
        assert len(left()) == 1
        assert running(processes(server.pid)) > before
        screen.leave()
        deadline = time.monotonic() + 60
        while (left() or running(processes(server.pid)) - before) and time.monotonic() < deadline:
            time.sleep(0.3)
        assert left() == []
        assert running(processes(server.pid)) - before == set()
        # Who comes back finds the sample data, and pages are drawn again.
        # In a thread of its own: the loop of the browser runs in this one.
        with ThreadPoolExecutor(1) as thread:
            pids = thread.submit(asyncio.run, drawn(f"http://127.0.0.1:{port}", server.pid)).result()
        assert left() == []
        server.send_signal(signal.SIGTERM)
        server.wait(30)
        assert lasting(pids) == set()
        assert list(temporary.iterdir()) == []
    finally:
        stop(server)
