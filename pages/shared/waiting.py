"""A large file being read: a progress bar, and the way to cancel it.

The file is read in a thread. The view waits and shows how far it is; when the reader of the view does anything else,
Cancel included, the view ends there and the thread after its next step.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
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
        pool = ThreadPoolExecutor(1, thread_name_prefix="reading a file")
        self.future: Future[T] = pool.submit(self._run, call)
        pool.shutdown(wait=False)

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
    """What a call gives, with a progress bar while it lasts; raises what the call raises.

    Parameters
    ----------
    name : str
        Of the file.
    cancel : callable
        Called when the reader of the view cancels, before the view is run again.
    """
    place = st.empty()
    # One under the other: Streamlit's own header lies over the right end of the first line.
    with place.container(gap="small"):
        st.html(f"<span>Reading {html.escape(plain(name))}</span>")
        bar = st.progress(0.0)
        st.button("Cancel", key=f"cancel_reading_{name}", on_click=cancel)
    work = Work(read)
    try:
        while wait([work.future], _STEP_SECONDS).not_done:
            share = min(work.done / work.total, 1.0) if work.total else 0.0
            # Here the view ends when the reader does anything.
            bar.progress(share, text=f"{share:.0%} read" if work.total else "being read")
    finally:
        work.stop()
    place.empty()
    return work.future.result()
