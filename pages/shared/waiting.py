"""Work that takes long, such as reading a large file: a progress bar, and the way to cancel it.

It is done in a thread. The view waits and shows how far it is; when the reader of the view does anything else,
Cancel included, the view ends there. The thread ends after its next step, unless the work is kept for the next run.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final, Generic, TypeVar

import streamlit as st

from evaluator.model.issues import plain
from evaluator.system.progress import reporting

LARGE_BYTES = 8 << 20
"""From this size on a file is read with a progress bar."""
_STEP_SECONDS: Final = 0.2
T = TypeVar("T")


class _Cancelled(Exception):
    """Raised in the thread to end it."""


class Work(Generic[T]):
    """A call in a thread, how far it is, and the way to end it.

    Attributes
    ----------
    done, total : int
        As reported last; 0 and 0 before the first report.
    future : Future
        What comes of it.
    """

    def __init__(self, call: Callable[[], T]) -> None:
        self.done, self.total = 0, 0
        self._stop = threading.Event()
        pool = ThreadPoolExecutor(1, thread_name_prefix="work with progress")
        self.future: Future[T] = pool.submit(self._run, call)
        pool.shutdown(wait=False)

    @property
    def lost(self) -> bool:
        """Whether nothing will come of it: it was stopped, or it failed."""
        failed = self.future.done() and self.future.exception() is not None
        return self._stop.is_set() or failed

    def stop(self) -> None:
        """End after the next step."""
        self._stop.set()

    def _note(self, done: int, total: int) -> None:
        if self._stop.is_set():
            raise _Cancelled
        self.done, self.total = done, total

    def _run(self, call: Callable[[], T]) -> T:
        with reporting(self._note):
            return call()


def read_with_progress(name: str, read: Callable[[], T], cancel: Callable[[], None]) -> T:
    """A file read with a progress bar; see `with_progress`.

    Parameters
    ----------
    name : str
        Of the file.
    """

    def words(done: int, total: int) -> str:
        return f"{done / total:.0%} read" if total else "being read"

    work = Work(read)
    try:
        return with_progress(f"Reading {plain(name)}", work, cancel, words=words, key=f"cancel_reading_{name}")
    finally:
        work.stop()


def with_progress(
    title: str, work: Work[T], cancel: Callable[[], None], *, words: Callable[[int, int], str], key: str
) -> T:
    """What comes of some work, with a progress bar while it lasts; raises what the work raises.

    Parameters
    ----------
    title : str
        What is done.
    cancel : callable
        Called when the reader of the view cancels, before the view is run again.
    words : callable
        How far it is, in words, from what the call reports; a total of 0 is not known.
    key : str
        Of the button.
    """
    place = st.empty()
    # One under the other: Streamlit's own header lies over the right end of the first line.
    with place.container(gap="small"):
        st.html(f"<span>{html.escape(title)}</span>")
        bar = st.progress(0.0)
        st.button("Cancel", key=key, on_click=cancel)
    for done, total in _reports(work):
        bar.progress(min(done / total, 1.0) if total else 0.0, text=words(done, total))
    place.empty()
    return work.future.result()


def in_a_line(
    title: str, work: Work[T], cancel: Callable[[], None], *, words: Callable[[int, int], str], key: str
) -> T:
    """The same beside what is in its place meanwhile: one line, without a bar."""
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        line = st.empty()
        st.button("Cancel", key=key, on_click=cancel)
    line.caption(f"{title}: {words(0, 0)}")
    for done, total in _reports(work):
        line.caption(f"{title}: {words(done, total)}")
    place.empty()
    return work.future.result()


def _reports(work: Work[T]) -> Iterator[tuple[int, int]]:
    """How far some work is, at each step until it has ended; where that is shown, the view ends when it is left."""
    while wait([work.future], _STEP_SECONDS).not_done:
        yield work.done, work.total
