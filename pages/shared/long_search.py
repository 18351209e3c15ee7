"""A search for slices, and of one that takes long how far it is, the way to cancel it, and the way to begin it again.

A long one goes on when the view is run again, and ends with its session. What a search gave is kept for all sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple, TypeVar, cast

import streamlit as st

from evaluator.system.recent import Recent
from pages.shared import ended_sessions, waiting
from pages.shared.computed import computed
from pages.shared.reading import KEPT
from pages.shared.state import Field

T = TypeVar("T")


class _LongSearch(NamedTuple):
    """A search that a session has begun."""

    key: Hashable
    work: waiting.Work[Any]


_CANCELLED: Final[Field[Hashable | None]] = Field(None, "slices_cancelled")
_UNDER_WAY: Final[Field[_LongSearch | None]] = Field(None, "slices_under_way")


@st.cache_resource(show_spinner=False)
def _ended() -> Recent[Hashable, Any]:
    """What long searches of this process gave."""
    return Recent(most=KEPT)


def found(
    key: Hashable, search: Callable[[], T], *, long: bool, meanwhile: Callable[[bool], None] | None = None
) -> T | None:
    """What a search gives, that of an earlier run of the view where it is still under way; None once it was cancelled.

    Parameters
    ----------
    key : hashable
        Identifies the search; one that was cancelled does not begin by itself again.
    search : callable
        Reports how many sets it has tested, `evaluator.system.progress`.
    long : bool
        Whether it shows how far it is, and can be cancelled.
    meanwhile : callable, optional
        Shows what is known before a long search has ended; called with whether it goes on. The view is run again when
        it has ended, so that what it gave comes in the place of that.
    """
    if not long:
        return cast(T, _short(key, _search=search))
    kept: T | None = _ended().get(key)
    if kept is not None:
        return kept
    goes_on = _CANCELLED.get() != key
    if meanwhile is not None:
        meanwhile(goes_on)
    return _awaited(key, search, beside=meanwhile is not None) if goes_on else None


def begin_again(key: str) -> None:
    """Say that the search was cancelled, with the button that begins it again, of some key."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("The search was cancelled.")
        st.button("Search for slices", key=f"{key}_again", on_click=_CANCELLED.set, args=(None,))


@computed(32, spinner="Searching for slices")
def _short(key: Hashable, *, _search: Callable[[], object]) -> object:
    """What a search gives; `key` identifies it."""
    return _search()


def _awaited(key: Hashable, search: Callable[[], T], *, beside: bool) -> T:
    def searched() -> T:
        result = search()
        ended.put(key, result)
        return result

    def words(tested: int, _total: int) -> str:
        return f"{tested:,} tested" if tested else "reading attributes"

    ended, before = _ended(), _UNDER_WAY.get()
    work: waiting.Work[T]
    if before is not None and before.key == key and not before.work.lost:
        work = before.work
    else:
        if before is not None:
            before.work.stop()
        work = waiting.Work(searched)
        _UNDER_WAY.set(_LongSearch(key, work))
        ended_sessions.at_end(work.stop)

    def cancel() -> None:
        _CANCELLED.set(key)
        work.stop()

    if not beside:
        return waiting.with_progress("Searching for slices", work, cancel, words=words, key="cancel_search")
    waiting.in_a_line("Searching for slices", work, cancel, words=words, key="cancel_search")
    st.rerun()
