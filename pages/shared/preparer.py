"""A thread that does ahead what somebody may ask for next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import streamlit as st

from pages.shared import ended_sessions


class Preparer:
    """One thread that does tasks before their results are wanted; only the latest request counts."""

    def __init__(self, name: str) -> None:
        self._asked: list[Callable[[], object]] = []
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True, name=name)
        self._thread.start()

    def ask(self, tasks: Sequence[Callable[[], object]]) -> None:
        """Have these done in their order, and none of those that were asked for before and wait."""
        with self._wake:
            self._asked = list(tasks)
            self._wake.notify()

    def forget(self) -> None:
        """Do nothing more: nobody is there."""
        self.ask([])

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._asked:
                    self._wake.wait()
                task = self._asked.pop(0)
            task()


@st.cache_resource(show_spinner=False)
def preparer(name: str) -> Preparer:
    """The preparing thread of a name, for all sessions."""
    made = Preparer(name)
    ended_sessions.when_none(made.forget)
    return made


def prepare_thresholds(tasks: Sequence[Callable[[], object]]) -> None:
    """Have made in the background what the shown results need at other thresholds."""
    preparer("threshold preparer").ask(tasks)
