"""Long work in threads beside the views, with progress and cancel; one job of a kind per session.

A job goes on when its view is left and ends with its session; results are kept for all sessions, by key.
"""

from __future__ import annotations

import functools
import html
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from typing import Any, Final, Generic, Protocol, TypeVar, cast

import streamlit as st

from evaluator.data.issues import count_of
from evaluator.system.lru_cache import LRUCache
from evaluator.system.progress import reporting
from pages.app import ended_sessions
from pages.app.cache import Cached
from pages.app.state import Field

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
KEPT: Final = 8
"""Results that a process keeps, of each kind of job."""
_STEP_SECONDS: Final = 0.2


class ReportProgress(Protocol):
    """Called with how much of how much is done, and what comes next; ends the work of a cancelled job."""

    def __call__(self, done: int, total: int, text: str = "") -> None:
        """Report; raises `Cancelled`."""


class Cancelled(Exception):
    """Raised in the thread of a cancelled job when it says how far it is."""


class Job(Generic[K, T]):
    """A call in a thread, whose result follows from `key`; `future` raises `Cancelled` once cancelled."""

    def __init__(
        self,
        key: K,
        work: Callable[[ReportProgress], T],
        *,
        total: int = 0,
        awaited: bool = False,
        keep: Callable[[T], object] | None = None,
        discard: Callable[[T], object] | None = None,
        name: str = "job",
    ) -> None:
        self.key, self.done, self.total, self.text = key, 0, total, "Starting"
        self.future: Future[T] = Future()
        self._awaited, self._keep, self._discard = awaited, keep, discard
        self._cancelled, self._lock = False, threading.Lock()
        threading.Thread(target=self._run, args=(work,), name=name, daemon=True).start()

    @property
    def running(self) -> bool:
        """Return whether it is at work."""
        return not self.future.done()

    @property
    def failed(self) -> bool:
        """Return whether it ended by an error."""
        problem = self.future.exception() if self.future.done() else None
        return problem is not None and not isinstance(problem, Cancelled)

    @property
    def lost(self) -> bool:
        """Return whether nothing will come of it."""
        return self._cancelled or self.failed

    @property
    def result(self) -> T | None:
        """Return what came of it; None while it is at work and when nothing did."""
        return self.future.result() if self.future.done() and self.future.exception() is None else None

    def cancel(self) -> None:
        """End it at its next report; what it gave already is discarded."""
        with self._lock:
            self._cancelled = True
            result = self.result
            if result is not None and self._discard is not None:
                self._discard(result)

    def note(self, done: int, total: int, text: str = "") -> None:
        """Note how far it is; raises `Cancelled` when it was cancelled."""
        if self._cancelled:
            raise Cancelled
        self.done, self.total, self.text = done, total, text

    def _run(self, work: Callable[[ReportProgress], T]) -> None:
        try:
            with reporting(self.note):
                result = work(self.note)
            with self._lock:
                if self._cancelled:
                    if self._discard is not None:
                        self._discard(result)
                    raise Cancelled
                if self._keep is not None:
                    self._keep(result)
                self.future.set_result(result)
        except Cancelled as cancelled:
            self.future.set_exception(cancelled)
        except BaseException as problem:
            self.future.set_exception(problem)
            # A view that waits raises it; otherwise the log of the server is the only place.
            if not self._awaited:
                raise


class Jobs(Generic[K, T]):
    """The jobs of one kind, one a session, and the last `kept` results for all; `discard` gets what nobody can have."""

    def __init__(self, name: str, *, kept: int = KEPT, discard: Callable[[T], object] | None = None) -> None:
        self._name, self._discard = name, discard
        self._of_session: Field[Job[K, T] | None] = Field(None, name)
        self._kept: LRUCache[K, T] | None = LRUCache(most=kept) if kept else None

    @property
    def current(self) -> Job[K, T] | None:
        """Return the job of this session, also when it has ended."""
        return self._of_session.get()

    @property
    def running(self) -> bool:
        """Return whether this session has a job at work."""
        return self.current is not None and self.current.running

    def start(self, key: K, work: Callable[[ReportProgress], T], *, total: int = 0, awaited: bool = False) -> Job[K, T]:
        """Begin a job in the place of the session's earlier one; `awaited` when a view waits for its result."""
        self.cancel()
        keep = None
        if self._kept is not None:
            self._kept.drop(key)
            keep = functools.partial(self._kept.put, key)
        job = Job(key, work, total=total, awaited=awaited, keep=keep, discard=self._discard, name=self._name)
        self._of_session.set(job)
        ended_sessions.call_at_end(self._name, job.cancel)
        return job

    def of(self, key: K, work: Callable[[ReportProgress], T]) -> Job[K, T]:
        """Return the job of a key that a view waits for: that of an earlier run, else a new one."""
        job = self.current
        return job if job is not None and job.key == key and not job.lost else self.start(key, work, awaited=True)

    def result(self, key: K) -> T | None:
        """Return the result of a key, of this session or any; None while there is none."""
        job = self.current
        if job is not None and job.key == key and job.result is not None:
            return job.result
        return None if self._kept is None else self._kept.get(key)

    def cancel(self) -> None:
        """End the job of this session, and discard what it gave."""
        job = self._of_session.pop()
        if job is not None:
            job.cancel()
            ended_sessions.call_at_end(self._name, None)


# --- what a view shows of a job -------------------------------------------------------------------------------


def wait_with_progress(
    title: str,
    job: Job[Any, T],
    cancel: Callable[[], None],
    *,
    words: Callable[[int, int], str],
    key: str,
) -> T:
    """Return the result of a job, with its progress while it lasts; raise what the job raises.

    Anything else that the user does ends the view here, and the job goes on. `cancel` is called before the view runs
    again; `words` gets done and total, 0 for an unknown total; `key` is that of the button.
    """
    place = st.empty()
    # One under the other: Streamlit's own header lies over the right end of the first line.
    with place.container(gap="small"):
        st.html(f"<span>{html.escape(title)}</span>")
        line = st.empty()
        st.button("Cancel", key=key, on_click=cancel)
    while True:
        done, total = job.done, job.total
        line.progress(min(done / total, 1.0) if total else 0.0, text=words(done, total))
        if not wait([job.future], _STEP_SECONDS).not_done:
            place.empty()
            return job.future.result()


@st.fragment(run_every=0.5)
def progress(
    jobs: Jobs[Any, Any], words: Callable[[Job[Any, Any]], str], cancel: Callable[[], None], label: str, key: str
) -> None:
    """Show how far the session's job is, with its cancel button; its end runs the whole view."""
    job = jobs.current
    if job is None or not job.running:
        st.rerun()
    st.progress(min(job.done / job.total, 1.0) if job.total else 0.0, text=words(job))
    st.button(label, key=key, on_click=cancel)


def read_pdfs_panel(
    jobs: Jobs[Any, Any], *, start: Callable[[], None], unread: str, read: str | None, key: str
) -> None:
    """Show the button to read PDFs, the progress with a stop, or `read` (None before): what was read."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if jobs.running:
            progress(jobs, _pages_read, jobs.cancel, "Stop", f"{key}_stop")
            return
        failed = "Reading failed; see the server log. " if jobs.current is not None and jobs.current.failed else ""
        st.caption(failed + (unread if read is None else read))
        title, kind = ("Read the PDFs", "secondary") if read is None else ("Read again", "tertiary")
        st.button(title, key=f"{key}_read", type=kind, on_click=start)  # type: ignore[arg-type]


def _pages_read(job: Job[Any, Any]) -> str:
    return f"{job.done:,} of {count_of(job.total, 'page')} read"


# --- searches -------------------------------------------------------------------------------------------------

_SHORT: Final = Cached[object](32, spinner="Searching for slices")
_SEARCHES: Final[Jobs[Hashable, Any]] = Jobs("slice_search")
_CANCELLED: Final[Field[Hashable | None]] = Field(None, "slices_cancelled")


def search_slices(key: Hashable, search: Callable[[], T], *, long: bool) -> T | None:
    """Return the result of a search for slices; None once the one of this key was cancelled, as a `long` one can be."""
    if not long:
        return cast(T, _SHORT.of(key, search))
    known: T | None = _SEARCHES.result(key)
    if known is not None:
        return known
    if _CANCELLED.get() == key:
        return None

    def cancel() -> None:
        _CANCELLED.set(key)
        _SEARCHES.cancel()

    job = _SEARCHES.of(key, lambda _: search())
    result: T = wait_with_progress("Searching for slices", job, cancel, words=_tested, key="cancel_search")
    return result


def search_again_button(key: str) -> None:
    """Say that the search was cancelled, with the button that begins it again, of some key."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("The search was cancelled.")
        st.button("Search for slices", key=f"{key}_again", on_click=_CANCELLED.set, args=(None,))


def _tested(tested: int, _total: int) -> str:
    return f"{tested:,} tested" if tested else "reading attributes"
