"""The reading order of a page as a tree of ordered and unordered groups, and what ties of it allow.

A place is the way to an item: its first number counts in an ordered group, the second in an unordered one of that, the
third in an ordered one again. Items of one place are an unordered group.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.dataset import Place

Places = Mapping[int, Place]
"""The places of the items that have one, by item, as the items are in the file."""


def as_read(places: Places) -> list[int]:
    """Return items in reading order; members of unordered groups as they are listed, then as in the file."""
    return sorted(places, key=places.__getitem__)


def as_allowed(places: Places, read_at: Mapping[int, int]) -> list[int]:
    """Return items in the reading order that is nearest to another one, in which `read_at` says where each comes.

    The members of an unordered group come as the first item of each comes there, those without any last.
    """
    if _are_numbers(places.values()):
        return as_read(places)
    return list(_arranged(sorted(places), places, read_at, 0))


def _arranged(items: Sequence[int], places: Places, read_at: Mapping[int, int], depth: int) -> Iterator[int]:
    if len(items) == 1:
        yield items[0]
        return
    members: dict[tuple[float, int], list[int]] = {}
    for item in items:
        place = places[item]
        # An item whose place ends here shares it with others: it is a member by itself.
        key = (place[depth], -1) if len(place) > depth else (math.inf, item)
        members.setdefault(key, []).append(item)
    ordered = depth % 2 == 0
    if ordered:
        every = sorted(members.items())
    else:
        every = sorted(
            members.items(),
            key=lambda member: (min(read_at.get(item, math.inf) for item in member[1]), min(member[1])),
        )
    for (_, alone), some in every:
        if alone >= 0:
            yield from some
        else:
            yield from _arranged(some, places, read_at, depth + 1)


def _are_numbers(places: Collection[Place]) -> bool:
    """Return whether each place is one number that no other one is."""
    return sum(map(len, places)) == len({*places})


class Ties:
    """Which pairs of some items may be read in either order: those whose lowest common group is unordered."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._plain = _are_numbers(places)
        if self._plain:
            return
        deepest = max(map(len, places))
        # The end of a place is like no other number; numbers of items of one place differ behind it.
        self._numbers = np.full((len(places), deepest + 1), -np.inf)
        for row, place in enumerate(places):
            self._numbers[row, : len(place)] = place
        self._lengths = np.array([len(place) for place in places])

    def __bool__(self) -> bool:
        return not self._plain

    def after(self, row: int) -> BoolArray:
        """Return whether an item and each one listed after it are tied, bool."""
        first = self._numbers[row] != self._numbers[row + 1 :]
        same = ~first.any(axis=1)
        return np.asarray(same | (first.argmax(axis=1) % 2 == 1))


def pair_counts(sequence: Sequence[int], truth: Sequence[Place], predicted: Sequence[Place]) -> tuple[int, int, int]:
    """Return how many pairs are read in the right and in the wrong order, and in none by the prediction.

    `sequence`: ranks in the ground truth, as predicted; pairs that the ground truth does not order are not counted.
    """
    free, tied = Ties(truth), Ties(predicted)
    if not free and not tied:
        return _rising_pairs(sequence)
    ranks: IntArray = np.array(sequence, dtype=np.int64)
    right = wrong = undecided = 0
    for row in range(len(ranks) - 1):
        rising = ranks[row + 1 :] > ranks[row]
        counted = ~free.after(row) if free else np.ones(len(rising), dtype=bool)
        loose = tied.after(row) & counted if tied else np.zeros(len(rising), dtype=bool)
        undecided += int(loose.sum())
        right += int((rising & counted & ~loose).sum())
        wrong += int((~rising & counted & ~loose).sum())
    return right, wrong, undecided


def _rising_pairs(sequence: Sequence[int]) -> tuple[int, int, int]:
    """Return `pair_counts` where nothing is tied."""
    before: list[int] = []
    right = 0
    for rank in sequence:
        right += bisect_left(before, rank)
        insort(before, rank)
    return right, len(sequence) * (len(sequence) - 1) // 2 - right, 0
