"""Mistakes of reading order with names: what moved, what it is, and what it stands beside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

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
    def _bodies(self) -> tuple[int, int, int]:
        """Return where body items begin and end as read, and where they end in truth; past the other end for none."""
        places = [at for at, kind in enumerate(self.kinds) if kind == "body"]
        ranks = [self.ranks[at] for at in places]
        return min(places, default=len(self.kinds)), max(places, default=-1), max(ranks, default=-1)

    @property
    def is_reversed(self) -> bool:
        """Return whether at least three items are read from the last to the first."""
        return len(self.ranks) >= _FEWEST_REVERSED and list(self.ranks) == list(range(len(self.ranks)))[::-1]

    def moves(self) -> Iterator[tuple[Name, range]]:
        """Yield the names and the places of the items that moved, by predicted order."""
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
            yield self._name(start, stop - 1), range(start, stop)
            start = stop

    def _name(self, first: int, last: int) -> Name:
        ranks, kinds, right = self.ranks, self.kinds, self._right
        run = {*kinds[first : last + 1]}
        begins, ends, ends_in_truth = self._bodies
        if run == {"furniture"} and begins < first and last < ends:
            return "furniture_inside"
        if run == {"footnote"} and last < ends and ends_in_truth <= ranks[last]:
            return "footnote_inside"
        exchanged = [
            {kinds[at], kinds[at + 1]}
            for at in (first - 1, last)
            if 0 <= at < len(ranks) - 1 and ranks[at + 1] == ranks[at] - 1
        ]
        if {"caption", "float"} in exchanged:
            return "caption_side"
        neighbours = (ranks[first] - 1, ranks[last] + 1)
        if run == {"caption"} and "float" in [right[rank] for rank in neighbours if 0 <= rank < len(ranks)]:
            return "caption_apart"
        if any(self._is_other_column(first, last, at, neighbours) for at in (first - 1, last + 1)):
            return "column_jumped"
        return "swapped" if first == last and exchanged else "moved"

    def _is_other_column(self, first: int, last: int, at: int, neighbours: tuple[int, int]) -> bool:
        """Return whether an item beside a run is no neighbour of it in truth, and lies level with it and apart."""
        if not 0 <= at < len(self.ranks) or self.ranks[at] in neighbours:
            return False
        other, boxes = self.boxes[at], [box for box in self.boxes[first : last + 1] if box is not None]
        if other is None or len(boxes) <= last - first:
            return False
        x1, y1 = (min(box[edge] for box in boxes) for edge in (0, 1))
        x2, y2 = (max(box[edge] for box in boxes) for edge in (2, 3))
        return min(x2, other[2]) <= max(x1, other[0]) and min(y2, other[3]) > max(y1, other[1])


def longest_rising(ranks: Sequence[int], kinds: Sequence[Kind]) -> list[int]:
    """Return the places of the longest rising part: of several that with most body items, then of the least ranks.

    `ranks` differ, and none is below 0.
    """
    # Length first, then body items, in one number; `best` is the most of a part that begins with a rank or a later one,
    # as a tree of maxima (Fenwick 1994).
    size, top = len(ranks), max(ranks, default=-1) + 1
    best = [0] * (top + 1)
    places: dict[int, list[int]] = {}
    worths = [size + 1 + (kind == "body") for kind in kinds]
    for place in range(size - 1, -1, -1):
        at, most = top - ranks[place] - 1, 0
        while at:
            most = max(most, best[at])
            at &= at - 1
        most += worths[place]
        places.setdefault(most, []).append(place)
        at = top - ranks[place]
        while at <= top:
            best[at] = max(best[at], most)
            at += at & -at
    chosen: list[int] = []
    left, above = max(places, default=0), -1
    while left:
        # Of parts worth the same the later ones begin with lower ranks.
        place = next(each for each in places[left] if ranks[each] > above)
        chosen.append(place)
        left, above = left - worths[place], ranks[place]
    return chosen
