"""Mistakes of reading order with names: what moved, what it is, and what it stands beside."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple

Kind = Literal["furniture", "footnote", "caption", "float", "body"]
Name = Literal[
    "reversed", "furniture_inside", "footnote_inside", "caption_side", "caption_apart", "column_jumped", "swapped",
    "moved", "missing", "left_out", "extra",
]  # fmt: skip
Box = tuple[float, float, float, float]
TITLES: Final[Mapping[Name, str]] = {
    "reversed": "Page read backwards",
    "furniture_inside": "Header or footer read in the text",
    "footnote_inside": "Footnote read in the text",
    "caption_side": "Caption and its figure exchanged",
    "caption_apart": "Caption read apart from its figure",
    "column_jumped": "Column jumped",
    "swapped": "Neighbours exchanged",
    "moved": "Read in another place",
    "missing": "Missing",
    "left_out": "Left out of the order",
    "extra": "Extra",
}
"""The names in words."""

_KINDS: Final[Mapping[Kind, str]] = {
    "furniture": "header footer pageheader pagefooter pagenumber number headerimage footerimage layoutheader "
    "layoutfooter layoutpagenumber abandon discarded",
    "footnote": "footnote pagefootnote tablefootnote figurefootnote imagefootnote visionfootnote",
    "caption": "caption figurecaption tablecaption imagecaption chartcaption codecaption algorithmcaption "
    "equationcaption formulacaption figuretitle tabletitle charttitle",
    "float": "figure image picture chart table imagebody tablebody layoutfigure layouttable",
}
_KIND_OF: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_FEWEST_REVERSED: Final = 3


@lru_cache(maxsize=4_096)
def kind_of(label: str) -> Kind:
    """Return what an item is by its label, whatever its case, digits and signs.

    >>> kind_of("Page-header"), kind_of("table_caption"), kind_of("Text")
    ('furniture', 'caption', 'body')
    """
    return _KIND_OF.get(re.sub("[^a-z]", "", label.lower()), "body")


class _Bodies(NamedTuple):
    """Where body items begin and end as read, and where they end in truth; past the other end for none."""

    begin: int
    end: int
    end_in_truth: int


@dataclass(frozen=True)
class Read:
    """The items that both sides place, in the predicted order.

    `ranks`: where each comes among them in the ground truth, a permutation of 0 to k - 1; `kinds` and `boxes` are those
    of the ground truth, a box None where there is none.
    """

    ranks: Sequence[int]
    kinds: Sequence[Kind]
    boxes: Sequence[Box | None]

    @cached_property
    def _right(self) -> list[Kind]:
        """Return the kinds in the order of the ground truth."""
        right = [*self.kinds]
        for rank, kind in zip(self.ranks, self.kinds, strict=True):
            right[rank] = kind
        return right

    @cached_property
    def _bodies(self) -> _Bodies:
        places = [at for at, kind in enumerate(self.kinds) if kind == "body"]
        ranks = [self.ranks[at] for at in places]
        return _Bodies(min(places, default=len(self.kinds)), max(places, default=-1), max(ranks, default=-1))

    @property
    def is_reversed(self) -> bool:
        """Return whether at least three items are read from the last to the first."""
        return len(self.ranks) >= _FEWEST_REVERSED and list(self.ranks) == list(range(len(self.ranks)))[::-1]

    def moves(self) -> Iterator[tuple[Name, int, int]]:
        """Yield the names of the runs that moved, by predicted order, where each begins and where it has ended."""
        size = len(self.ranks)
        if list(self.ranks) == list(range(size)):
            return
        kept = {*longest_rising(self.ranks, self.kinds)}
        start = 0
        while start < size:
            if start in kept:
                start += 1
                continue
            stop = start + 1
            while stop < size and stop not in kept and self.ranks[stop] == self.ranks[stop - 1] + 1:
                stop += 1
            yield self._name(start, stop - 1), start, stop
            start = stop

    def _name(self, first: int, last: int) -> Name:
        ranks, kinds = self.ranks, self.kinds
        run = {*kinds[first : last + 1]}
        if run == {"furniture"} and self._bodies.begin < first and last < self._bodies.end:
            return "furniture_inside"
        if run == {"footnote"} and last < self._bodies.end and self._bodies.end_in_truth <= ranks[last]:
            return "footnote_inside"
        exchanged = [
            {kinds[at], kinds[at + 1]}
            for at in (first - 1, last)
            if 0 <= at < len(ranks) - 1 and ranks[at + 1] == ranks[at] - 1
        ]
        if {"caption", "float"} in exchanged:
            return "caption_side"
        neighbours = (ranks[first] - 1, ranks[last] + 1)
        if run == {"caption"} and "float" in [self._right[rank] for rank in neighbours if 0 <= rank < len(ranks)]:
            return "caption_apart"
        if self._is_other_column(first, last, neighbours):
            return "column_jumped"
        return "swapped" if first == last and exchanged else "moved"

    def _is_other_column(self, first: int, last: int, neighbours: tuple[int, int]) -> bool:
        """Return whether an item beside a run is no neighbour of it in truth, and lies level with it and apart."""
        run = [box for box in self.boxes[first : last + 1] if box is not None]
        if len(run) <= last - first:
            return False
        x1, y1, x2, y2 = zip(*run, strict=True)
        for at in (first - 1, last + 1):
            if 0 <= at < len(self.ranks) and self.ranks[at] not in neighbours:
                other = self.boxes[at]
                if (
                    other is not None
                    and (max(x2) <= other[0] or other[2] <= min(x1))
                    and min(y1) < other[3]
                    and other[1] < max(y2)
                ):
                    return True
        return False


def longest_rising(ranks: Sequence[int], kinds: Sequence[Kind]) -> list[int]:
    """Return the places of the longest rising part: of several that with most body items, then of the least ranks.

    `ranks` differ, and none is below 0.
    """
    # Length first, then body items, in one number. Of the parts that begin further on, `most` is what those are worth
    # that begin with the rank `above` or a later one: the ranks rise, and what they are worth falls.
    above: list[int] = []
    most: list[int] = []
    places: dict[int, list[int]] = {}
    worths = [len(ranks) + 1 + (kind == "body") for kind in kinds]
    for place in range(len(ranks) - 1, -1, -1):
        start = stop = bisect_left(above, ranks[place])
        worth = worths[place] + (most[stop] if stop < len(most) else 0)
        while start and most[start - 1] <= worth:
            start -= 1
        above[start:stop] = (ranks[place],)
        most[start:stop] = (worth,)
        places.setdefault(worth, []).append(place)
    chosen: list[int] = []
    left, last = max(places, default=0), -1
    while left:
        # Of parts worth the same the later ones, which are listed first, begin with lower ranks.
        place = places[left][bisect_left(places[left], last + 1, key=ranks.__getitem__)]
        chosen.append(place)
        left, last = left - worths[place], ranks[place]
    return chosen
