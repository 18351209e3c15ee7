"""Several readers of one running dashboard, one of whom opens a page that never ends; then the dashboard is killed."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT, own_port, started, stop
from tests.serving import lasting, processes
from tests.sessions import BOMBS, GOOD, VIEWS, Act, Reader, fetch, poisoned_files

pytestmark = pytest.mark.browser


async def _acts(url: str, server: int) -> tuple[list[Act], int, set[int]]:
    """Views and page turns of two readers while a third waits for its page, and what there is of the server then.

    That is what it says of its health, and its processes.
    """
    readers, acts = list[Reader](), list[Act]()
    for _ in range(2):
        # Connected right before it asks: the server closes a connection that says nothing for a while.
        readers.append(await Reader(url).connected())
        acts.append(await readers[-1].open("page_browser", order="page", within=GOOD))
    lost = await Reader(url).connected()
    waiting = asyncio.create_task(lost.open("page_browser", order="page", within=BOMBS.format(0)))
    for _ in range(3):
        acts += await asyncio.gather(*(reader.turn() for reader in readers))
    status, _ = await asyncio.to_thread(fetch, url, "/_stcore/health")
    pids = await asyncio.to_thread(processes, server)
    waiting.cancel()
    for reader in (*readers, lost):
        await reader.left()
    return acts, status, pids


def test_a_page_that_never_ends_stops_no_other_reader_and_nothing_is_left_of_a_killed_dashboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is ended is in `test_closed_tab`."""
    scratch, data, port = tmp_path / "scratch", tmp_path / "data", own_port()
    for folder in (scratch, data):
        folder.mkdir()
    poisoned_files(data, pages_of_good=6, bombs=1)
    monkeypatch.setenv("TMPDIR", str(scratch))
    server = started(tmp_path, port, "open", str(data))
    try:
        # In a thread of its own: the loop of the browser that other tests use runs in this one.
        with ThreadPoolExecutor(1) as thread:
            acts, status, pids = thread.submit(asyncio.run, _acts(f"http://127.0.0.1:{port}", server.pid)).result()
        assert [act.errors for act in acts if act.errors] == []
        assert len(acts) == 8
        assert status == 200
        assert len(pids) >= 4, "the command, the server and two that draw pages"
        if Path("/proc/self/maps").exists():
            # Who draws is asked last: a process that has just been begun goes by the name of the server.
            loaded = [pid for pid in pids if "mupdf" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").lower()]
            names = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in loaded]
            assert names, "a page was drawn"
            assert all(b"evaluator.pdf.worker" in name for name in names), "the renderer is where pages are drawn"
        server.kill()
        server.wait(30)
        assert lasting(pids) == set()
    finally:
        stop(server)
    assert list(scratch.iterdir()) == []


def test_the_client_walks_over_views_of_the_dashboard() -> None:
    pages = {path.stem for path in (ROOT / "pages").glob("[a-z]*.py")}
    assert set(VIEWS) - {""} <= pages
