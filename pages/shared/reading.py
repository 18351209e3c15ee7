"""Pages of the open documents being read in a thread beside the views: its progress, its stop, and what came of it.

A job belongs to what it was started for, its key. What a finished job gave is kept by who started it; the pages
themselves are cached by the digests of their documents, so reading again is quick.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

import streamlit as st

from evaluator.metrics.results import count_of
from evaluator.system.recent import Recent
from pages.shared import ended_sessions
from pages.shared.state import Field

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Count = Callable[[int, int], None]
KEPT: Final = 8
"""Results of reading that a process keeps, of each kind."""


class _Stopped(Exception):
    """Raised in the thread to end it."""


class PageJob(Generic[K]):
    """Work on pages in a thread, which can be stopped.

    Parameters
    ----------
    key : hashable
        What it is for.
    total : int
        Pages, about.
    """

    def __init__(self, key: K, total: int) -> None:
        self.key, self.total = key, total
        self.failed = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """End after the page of the moment."""
        self._stop.set()

    def _begin(self, work: Callable[[], None], name: str) -> None:
        """Run the work in a thread of this name; what it raises leaves the job failed."""

        def run() -> None:
            self.failed = True
            work()
            self.failed = False

        self._thread = threading.Thread(target=run, daemon=True, name=name)
        self._thread.start()
        ended_sessions.at_end(self.stop)


class Reading(PageJob[K], Generic[K, T]):
    """Pages that are being read, or were."""

    def __init__(self, key: K, total: int) -> None:
        super().__init__(key, total)
        self.done = 0
        self.result: T | None = None

    def start(self, work: Callable[[Count], T]) -> None:
        """Begin; `work` calls what it is given with how many of how many pages are read."""

        def note(done: int, total: int) -> None:
            if self._stop.is_set():
                raise _Stopped
            self.done, self.total = done, total

        def read() -> None:
            with contextlib.suppress(_Stopped):
                self.result = work(note)

        self._begin(read, "reading pages")


def kept_result(job: Reading[K, T] | None, key: K, kept: Recent[K, T]) -> T | None:
    """What was read for a key, by this session just now or by any before; None while it is not read."""
    if job is not None and job.key == key and job.result is not None:
        kept.put(key, job.result)
    return kept.get(key)


def panel(
    field: Field[Reading[K, T] | None], *, start: Callable[[], None], unread: str, read: str | None, key: str
) -> None:
    """The way to the reading, its progress with a stop, or what was read.

    Parameters
    ----------
    start : callable
        Begins to read.
    unread : str
        What reading brings, as a caption.
    read : str or None
        What was read, as a caption; None while nothing is.
    """
    job = field.get()
    running = job is not None and job.running
    st.fragment(_panel, run_every=0.5 if running else None)(field, running, start, (unread, read), key)


def _panel(
    field: Field[Reading[K, T] | None],
    was_running: bool,
    start: Callable[[], None],
    words: tuple[str, str | None],
    key: str,
) -> None:
    job = field.get()
    if job is not None and job.running:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.progress(job.done / max(job.total, 1), text=f"{job.done:,} of {count_of(job.total, 'page')} read")
            st.button("Stop", key=f"{key}_stop", on_click=job.stop)
        if not was_running:
            # From here on this part runs by itself.
            st.rerun()
        return
    if was_running:
        st.rerun()
    unread, read = words
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        failed = "Reading failed; see the server log. " if job is not None and job.failed else ""
        st.caption(failed + (unread if read is None else read))
        title, kind = ("Read the PDFs", "secondary") if read is None else ("Read again", "tertiary")
        st.button(title, key=f"{key}_read", type=kind, on_click=start)  # type: ignore[arg-type]
