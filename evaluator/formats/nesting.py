"""Which boxes of a file lie in which, as the file states, and which level of them is read, by one rule."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Final

import numpy as np

from evaluator.data.boxes import area, intersection
from evaluator.data.dataset import Level

_WHOLES: Final = re.compile(
    r"(?<![a-z])(tab(le|ular|leau|elle)|figure|picture|image|illustration|photo(graph)?|graphic|chart|diagram|drawing"
    r"|map|list(e)?)s?(?![a-z])",
    re.IGNORECASE,
)

Extent = tuple[int, int, str]
"""Where the text of an item begins and ends, and the item."""
Placed = tuple[tuple[float, float, float, float], str]
"""The box of an item, and the item."""
# Tools round boxes, and pad them by a few pixels.
_HELD: Final = 0.9

MOST_ABOVE: Final = 64
"""How many items may hold one, by way of others: no tool nests as deep, a stranger's file may have all in all."""


def is_whole(label: str) -> bool:
    """Return whether a label that a tool chose freely is that of a table, figure or list.

    >>> is_whole("Table of contents"), is_whole("column")
    (True, False)
    """
    return _WHOLES.search(label) is not None


class Nesting:
    """The items of a file and what holds them; an item may have several boxes, or none."""

    def __init__(self) -> None:
        self._holders: dict[Hashable, list[Hashable]] = {}
        self._groups: set[Hashable] = set()
        self._boxes: list[tuple[Hashable, int, str]] = []
        # Each sound item, then everything that holds it.
        self._lines: dict[Hashable, tuple[Hashable, ...]] = {}

    @property
    def stated(self) -> bool:
        """Return whether any item is in another."""
        return bool(self._holders)

    def put(self, item: Hashable, *, inside: Hashable, group: bool) -> None:
        """State that an item lies in another, which is read as a whole, or as its parts if it is a `group`."""
        self._holders.setdefault(item, []).append(inside)
        if group:
            self._groups.add(inside)

    def put_by_text(
        self, items: Iterable[Extent], *, inside: Iterable[Extent], group: bool = False, equal: bool = True
    ) -> None:
        """State that items lie in those whose text has theirs, with `equal` also where it is no more than theirs."""
        holders = sorted(inside)
        starts = [start for start, _, _ in holders]
        for start, end, item in items if holders else ():
            at = bisect_right(starts, start) - 1
            if at >= 0 and end <= holders[at][1] and (equal or holders[at][:2] != (start, end)):
                self.put(item, inside=holders[at][2], group=group)

    def put_by_place(
        self, items: Sequence[Placed], *, inside: Sequence[Placed], group: bool = False, equal: bool = True
    ) -> None:
        """State that items lie in the smallest of those that hold nearly all of their box; `equal` as `put_by_text`."""
        if not items or not inside:
            return
        holders = np.array([box for box, _ in inside], dtype=np.float64)
        sizes = area(holders)
        for corners, item in items:
            box = np.array(corners, dtype=np.float64)
            shared = intersection(holders, box)
            held = (shared > 0.0) & (shared >= _HELD * area(box)) & (equal | (shared < _HELD * sizes))
            if held.any():
                self.put(item, inside=inside[int(np.where(held, sizes, np.inf).argmin())][1], group=group)

    def add_box(self, item: Hashable, row: int, place: str) -> None:
        """State that a box is one of an item's."""
        self._boxes.append((item, row, place))

    def place_of(self, row: int) -> str:
        """Return the place in the file of a box of an item."""
        return next(place for _, each, place in self._boxes if each == row)

    def members(self, holder: Hashable) -> list[Hashable]:
        """Return what lies in an item itself; asked for when everything has been put."""
        return self._members.get(holder, [])

    @cached_property
    def _members(self) -> dict[Hashable, list[Hashable]]:
        members: dict[Hashable, list[Hashable]] = {}
        for item, holders in self._holders.items():
            for holder in holders:
                members.setdefault(holder, []).append(item)
        return members

    @cached_property
    def _rows(self) -> dict[Hashable, list[int]]:
        rows: dict[Hashable, list[int]] = {}
        for item, row, _ in self._boxes:
            rows.setdefault(item, []).append(row)
        return rows

    def drop_unsound(self) -> list[int]:
        """Forget where items lie that lie in themselves or more than `MOST_ABOVE` others; return their rows.

        By way of others, and what lies in such items.
        """
        sorter = TopologicalSorter(self._holders)
        with suppress(CycleError):  # those outside of circles can be had all the same
            sorter.prepare()
        while ready := sorter.get_ready():
            for item in ready:
                lines = [self._lines.get(holder) for holder in self._holders.get(item, ())]
                above = dict.fromkeys(chain.from_iterable(line or () for line in lines))
                if None not in lines and len(above) <= MOST_ABOVE:
                    self._lines[item] = (item, *above)
            sorter.done(*ready)
        unsound = [item for item in self._holders if item not in self._lines]
        for item in unsound:
            del self._holders[item]
        return sorted(row for item in unsound for row in self._rows.get(item, ()))

    def left_out(self, pages: Sequence[int]) -> dict[Level | None, set[int]]:
        """Return the rows that each level leaves out, None for the one that is read by default; `pages` by row.

        Empty where no box lies in another of its page. After `drop_unsound`.
        """
        inner: set[int] = set()
        default: set[int] = set()
        on_page: dict[tuple[Hashable, int], list[int]] = {}
        for item, row, _ in self._boxes:
            on_page.setdefault((item, pages[row]), []).append(row)
        held: set[tuple[Hashable, int]] = set()
        dissolved: set[tuple[Hashable, int]] = set()
        for item in self._holders:
            _, *above = self._lines[item]
            for row in self._rows.get(item, ()):
                held_by = [key for holder in above if (key := (holder, pages[row])) in on_page]
                if not held_by:
                    continue
                inner.add(row)
                held.update(held_by)
                if all(holder in self._groups for holder, _ in held_by):
                    dissolved.update(held_by)
                else:
                    default.add(row)
        outer = {row for key in held for row in on_page[key]}
        default |= {row for key in dissolved for row in on_page[key]}
        return {"outer": inner, "inner": outer, "all": set(), None: default} if inner else {}
