"""Sessions without a browser end when their time has passed, one by one, and take with them what they hold."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any, cast

import pytest
from streamlit.runtime.session_manager import SessionInfo

from pages.shared.ended_sessions import EndingStorage
from tests.browser.conftest import ROOT


class Session:
    """As much of a session of Streamlit's as the storage uses."""

    def __init__(self, name: str, ended: list[str]) -> None:
        self.id, self._ended = name, ended

    def shutdown(self) -> None:
        self._ended.append(self.id)


def info(name: str, ended: list[str]) -> SessionInfo:
    return SessionInfo(None, cast("Any", Session(name, ended)), 1)


async def until(done: Any) -> None:
    for _ in range(2_000):
        if done():
            return
        await asyncio.sleep(0.01)
    pytest.fail("waited in vain")


def test_a_session_ends_when_its_time_has_passed_without_another_one() -> None:
    async def course() -> None:
        ended: list[str] = []
        storage = EndingStorage(ttl_seconds=cast("int", 0.05))
        storage.save(info("first", ended))
        assert storage.get("first") is not None
        await until(lambda: ended)
        assert (ended, storage.get("first"), storage.list()) == (["first"], None, [])

    asyncio.run(course())


def test_a_session_whose_browser_is_back_goes_on() -> None:
    async def course() -> None:
        ended: list[str] = []
        storage = EndingStorage(ttl_seconds=cast("int", 0.05))
        storage.save(info("back", ended))
        storage.save(info("gone", ended))
        storage.delete("back")
        await until(lambda: ended)
        await asyncio.sleep(0.05)
        assert ended == ["gone"]
        with pytest.raises(KeyError):
            storage.delete("back")

    asyncio.run(course())


def test_a_session_that_waits_again_has_its_whole_time() -> None:
    async def course() -> None:
        ended: list[str] = []
        storage = EndingStorage(ttl_seconds=3_600)
        for _ in range(2):
            storage.save(info("again", ended))
        assert len(storage.list()) == 1
        assert ended == []
        storage.delete("again")

    asyncio.run(course())


def test_beyond_the_most_the_oldest_ends() -> None:
    async def course() -> None:
        ended: list[str] = []
        storage = EndingStorage(maxsize=2, ttl_seconds=3_600)
        for name in ("a", "b", "c"):
            storage.save(info(name, ended))
        assert ended == ["a"]
        assert [each.session.id for each in storage.list()] == ["b", "c"]
        for name in ("b", "c"):
            storage.delete(name)

    asyncio.run(course())


_STREAMLIT = """
import tempfile
from pathlib import Path
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils import script_run_context as runs
from pages.shared import ended_sessions
ended_sessions.keep_watch()
class Context:
    session_id = "one"
ended_sessions.get_script_run_ctx = lambda **_: Context
folder, kept = tempfile.TemporaryDirectory(), tempfile.TemporaryDirectory()
ended_sessions.at_end("folder", folder.cleanup)
Context.session_id = "other"
ended_sessions.at_end("folder", kept.cleanup)
session = object.__new__(AppSession)
session.id = "one"
AppSession.shutdown.__wrapped__.__code__ = (lambda session: None).__code__
session.shutdown()
session.shutdown()
import threading
[each.join() for each in threading.enumerate() if each.name == "end of a session"]
print(Path(folder.name).exists(), Path(kept.name).exists())
"""


def test_what_a_session_noted_ends_with_it_and_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-c", _STREAMLIT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("False True\n", 0), done.stderr
