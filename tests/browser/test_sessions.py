"""Several readers of one running dashboard, one of whom opens a page that never ends: the others go on."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT, dashboard
from tests.sessions import BOMBS, GOOD, VIEWS, Act, Reader, fetch, poisoned_files

pytestmark = pytest.mark.browser


async def _acts(url: str) -> tuple[list[Act], int]:
    """Views and page turns of two readers while a third waits for its page, and what the server says of its health."""
    readers = [await Reader(url).connected() for _ in range(2)]
    lost = await Reader(url).connected()
    acts = [await reader.open("page_browser", order="page", within=GOOD) for reader in readers]
    waiting = asyncio.create_task(lost.open("page_browser", order="page", within=BOMBS.format(0)))
    for _ in range(3):
        acts += await asyncio.gather(*(reader.turn() for reader in readers))
    status, _ = await asyncio.to_thread(fetch, url, "/_stcore/health")
    waiting.cancel()
    for reader in (*readers, lost):
        await reader.left()
    return acts, status


def test_a_page_that_never_ends_stops_no_other_reader(tmp_path: Path) -> None:
    poisoned_files(tmp_path, pages_of_good=6, bombs=1)
    # In a thread of its own: the loop of the browser that other tests use runs in this one.
    with dashboard(tmp_path, "open", str(tmp_path)) as url, ThreadPoolExecutor(1) as thread:
        acts, status = thread.submit(asyncio.run, _acts(url)).result()
    assert [act.errors for act in acts if act.errors] == []
    assert len(acts) == 8
    assert status == 200


def test_the_client_walks_over_views_of_the_dashboard() -> None:
    pages = {path.stem for path in (ROOT / "pages").glob("[a-z]*.py")}
    assert set(VIEWS) - {""} <= pages
