"""Sessions without a browser end when their time has passed, one by one, and take with them what they hold."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from pages.app import ended_sessions


class Server:
    def __init__(self) -> None:
        self.active, self.closed, self.of_run = set[str](), list[str](), ""

    def exists(self) -> bool:
        return True

    def instance(self) -> Server:
        return self

    def is_active_session(self, session: str) -> bool:
        return session in self.active

    def close_session(self, session: str) -> None:
        self.closed.append(session)

    def run(self, session: str) -> None:
        self.active.add(session)
        self.of_run = session
        ended_sessions.mark_connected()

    def lose(self, session: str) -> None:
        self.active.discard(session)
        ended_sessions._lost_browser(session)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    made = Server()
    monkeypatch.setattr(ended_sessions, "Runtime", made)
    monkeypatch.setattr(ended_sessions, "get_script_run_ctx", lambda **_: SimpleNamespace(session_id=made.of_run))
    monkeypatch.setattr(ended_sessions, "_session_with_browser", lambda: made.of_run)
    monkeypatch.setattr(ended_sessions, "_WHEN_NONE", [])
    monkeypatch.setattr(st, "get_option", lambda _name: 0.05)
    before = dict(ended_sessions._ENDS)
    ended_sessions._ENDS.clear()
    yield made
    ended_sessions._ENDS.clear()
    ended_sessions._ENDS.update(before)


async def until(done: Callable[[], Any]) -> None:
    for _ in range(2_000):
        if done():
            return
        await asyncio.sleep(0.01)
    pytest.fail("waited in vain")


def joined() -> None:
    [thread.join(60) for thread in threading.enumerate() if thread.name == "end of a session"]


def test_a_session_ends_when_its_time_has_passed_with_what_it_noted_last(server: Server) -> None:
    async def course() -> None:
        ended: list[str] = []
        for session in ("first", "other"):
            server.run(session)
            ended_sessions.call_at_end("folder", lambda: ended.append("replaced"))
            ended_sessions.call_at_end("folder", lambda session=session: ended.append(session))  # type: ignore[misc]
            ended_sessions.call_at_end("job", lambda: ended.append("done"))
            ended_sessions.call_at_end("job", None)
        ended_sessions.call_when_no_session(lambda: ended.append("renderer"))
        ended_sessions.call_when_no_session(lambda: ended.append("ahead"))
        server.lose("first")
        await until(lambda: server.closed)
        joined()
        assert (server.closed, ended) == (["first"], ["first"])
        server.lose("other")
        await until(lambda: len(server.closed) == 2)
        joined()
        # What all share is given back when nobody is there, the newest first.
        assert ended == ["first", "other", "ahead", "renderer"]

    asyncio.run(course())


def test_a_session_whose_browser_is_back_goes_on(server: Server) -> None:
    async def course() -> None:
        for session in ("back", "gone"):
            server.run(session)
            server.lose(session)
        server.run("back")
        await until(lambda: server.closed)
        await asyncio.sleep(0.2)
        assert server.closed == ["gone"]
        # It loses its browser again, and has its whole time.
        server.lose("back")
        await until(lambda: len(server.closed) == 2)

    asyncio.run(course())


def test_a_session_that_is_there_when_its_time_has_passed_goes_on(server: Server) -> None:
    async def course() -> None:
        server.run("there")
        server.lose("there")
        server.active.add("there")
        await until(lambda: not ended_sessions._CLOCKS)
        assert server.closed == []
        assert "there" in ended_sessions._ENDS

    asyncio.run(course())


def test_a_folder_that_cannot_be_removed_does_not_keep_the_rest(server: Server) -> None:
    ended: list[str] = []

    def fails() -> None:
        raise OSError("busy")

    ended_sessions._call([fails, lambda: ended.append("rest")])
    assert ended == ["rest"]


def test_without_a_server_nothing_is_noted(server: Server) -> None:
    server.of_run = "alone"
    ended_sessions.call_at_end("folder", lambda: None)
    ended_sessions._lost_browser("alone")
    assert (ended_sessions._ENDS, ended_sessions._CLOCKS) == ({}, {})
