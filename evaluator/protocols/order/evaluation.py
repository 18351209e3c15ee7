"""Reading order of pages: predicted order against that of the ground truth, with ties of both.

``edit_distance`` is that of OmniDocBench, Levenshtein's over the number of true items, on the ranks of what was paired:
a true item without partner counts, an extra prediction does not; in ``edit_distance_all`` it does. ``kendall_tau`` is
scipy's where nothing is tied. ``ard`` is the formula of docling-eval, which compares an order model of its own with the
ground truth, so that none of its published values is comparable; a reversed page of even length has 1/2, and
``weighted_ard`` is near 1 on every long page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import fsum
from typing import ClassVar, Final, NamedTuple

import msgspec

from evaluator.data.dataset import Place
from evaluator.metrics.results import JsonObject, ResultTable
from evaluator.protocols.items import Cell, ItemResult, PageNumbers, Ratio, Sums, mean, page_means, page_sum, value_of
from evaluator.protocols.order.mistakes import Box, Name, Read, kind_of
from evaluator.protocols.order.tree import as_allowed, as_read, pair_counts

NAME: Final = "order"
VERSION: Final = "1"
TITLE: Final = "Reading order"
POOLED: Final = ("edit_distance", "edit_distance_all", "kendall_tau", "adjacent")
"""Measures that are a ratio of counts; the others are means over pages alone."""
COUNTS: Final = ("n", "matched", "extra", "left_out")
MEASURES: Final = (*POOLED, "ard", "weighted_ard")


class Item(msgspec.Struct, frozen=True, gc=False):
    """An item of one side: its place in the order or None, its label, its box or None, its position in the file."""

    place: Place | None
    label: str
    box: Box | None
    position: int


class Mistake(msgspec.Struct, frozen=True, gc=False):
    """A mistake of a page; positions are those of the files."""

    name: Name
    cost: int
    ground_truth: list[int]
    predictions: list[int]

    @property
    def positions(self) -> tuple[list[int], list[int]]:
        """Return the positions in both files."""
        return self.ground_truth, self.predictions


class OrderPage(PageNumbers, frozen=True, kw_only=True):
    """What a page says of reading order.

    `n` true items have a place, the ranks of the `matched` ones in predicted order are `sequence`. `extra`: predicted
    items with a place and no partner; `left_out`: true ones whose partner has no place. `right`, `read`: the items of
    both sides that have a place, in their orders, by their places among the items of the page.
    """

    right: list[int]
    read: list[int]
    n: int
    matched: int
    extra: int
    left_out: int
    sequence: list[int]
    edits: int
    edits_all: int
    longest: int
    concordant: int
    discordant: int
    tied: int
    adjacent_right: int
    ard: float | None
    weighted_ard: float | None
    mistakes: list[Mistake]

    @property
    def ratios(self) -> Mapping[str, Ratio]:
        """Return the measures of the page."""
        counted = self.concordant + self.discordant + self.tied
        return {
            "edit_distance": (self.edits, self.n),
            "edit_distance_all": (self.edits_all, self.longest),
            "kendall_tau": (self.concordant - self.discordant, counted),
            "adjacent": (self.adjacent_right, max(self.n - 1, 0)),
            **{name: (0, 0) if (value := getattr(self, name)) is None else (value, 1) for name in MEASURES[4:]},
        }

    @property
    def costs(self) -> Sequence[tuple[str, int]]:
        """Return the mistakes."""
        return [(each.name, each.cost) for each in self.mistakes]

    def to_json(self) -> JsonObject:
        """Return the sequence and the mistakes, the dearest first."""
        return {"sequence": self.sequence, "mistakes": [msgspec.structs.asdict(each) for each in self.mistakes]}


def order_page(
    document: str, page: int, truth: Sequence[Item], predicted: Sequence[Item], pairs: Mapping[int, int]
) -> OrderPage:
    """Return what a page says of reading order; `pairs` are places in `predicted` by places in `truth`."""
    # Here, so that what has no order starts without it.
    from rapidfuzz.distance import Levenshtein

    back = {other: one for one, other in pairs.items()}
    true_places, places = (_places(side) for side in (truth, predicted))
    read = as_read(places)
    read_at = {back[other]: at for at, other in enumerate(read) if back.get(other) in true_places}
    right = as_allowed(true_places, read_at)
    rank = {item: at for at, item in enumerate(right)}
    matched = list(read_at)
    sequence = [rank[item] for item in matched]
    # An extra prediction is a symbol that the truth does not have; a partner without a place is none at all.
    symbols = [rank.get(back[other]) if other in back else -1 - other for other in read]
    whole = [symbol for symbol in symbols if symbol is not None]
    n, k = len(right), len(sequence)
    counts = pair_counts(sequence, [true_places[item] for item in matched], [places[pairs[item]] for item in matched])
    rising = sorted(sequence)
    dense = {at: place for place, at in enumerate(rising)}
    ranks = [dense[at] for at in sequence]
    moved = [abs(place - at) for place, at in enumerate(ranks)]
    order = Order(
        right=right,
        read=read,
        matched=matched,
        ranks=ranks,
        missing=[item for item in right if item not in pairs],
        left_out=[item for item in right if item in pairs and pairs[item] not in places],
        extra=[other for other in read if other not in back],
        unplaced={back[other] for other, symbol in zip(read, symbols, strict=True) if symbol is None},
    )
    return OrderPage(
        document=document,
        page=page,
        right=list(right),
        read=list(read),
        n=n,
        matched=k,
        extra=len(order.extra),
        left_out=len(order.left_out),
        sequence=sequence,
        edits=Levenshtein.distance(range(n), sequence),
        edits_all=Levenshtein.distance(range(n), whole),
        longest=max(n, len(whole)),
        concordant=counts[0],
        discordant=counts[1],
        tied=counts[2],
        adjacent_right=sum(after == at + 1 for at, after in pairwise(sequence)),
        ard=(k * k - sum(moved)) / (k * k) if k else None,
        weighted_ard=_weighted_ard(moved, [truth[right[at]].box for at in rising]),
        mistakes=sorted(_mistakes(truth, predicted, pairs, order), key=lambda each: -each.cost),
    )


def _places(items: Sequence[Item]) -> dict[int, Place]:
    return {at: item.place for at, item in enumerate(items) if item.place is not None}


def _weighted_ard(moved: Sequence[int], boxes: Sequence[Box | None]) -> float | None:
    """Return `ard` with each move weighed by the area of the true item of its place; None without areas."""
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in boxes if box is not None]
    total = fsum(areas)
    if len(areas) < len(moved) or not total:
        return None
    return 1.0 - fsum(move * area for move, area in zip(moved, areas, strict=True)) / total / len(moved) ** 2


class Order(NamedTuple):
    """Items of a page in the order of the truth and as read; the `matched` true ones as read, and their ranks.

    `missing`: true items with a place and no partner; `left_out` their partner has none; `extra` predicted ones;
    `unplaced`: true items without a place whose partner has one.
    """

    right: Sequence[int]
    read: Sequence[int]
    matched: Sequence[int]
    ranks: Sequence[int]
    missing: Sequence[int]
    left_out: Sequence[int]
    extra: Sequence[int]
    unplaced: Collection[int]


def _mistakes(
    truth: Sequence[Item], predicted: Sequence[Item], pairs: Mapping[int, int], order: Order
) -> Iterator[Mistake]:
    """Yield what moved, furniture that is read in the text, then what has no partner or no place."""

    def mistake(name: Name, ones: Sequence[int], others: Sequence[int]) -> Mistake:
        return Mistake(
            name,
            max(len(ones), len(others)),
            [truth[item].position for item in ones],
            [predicted[item].position for item in others],
        )

    matched, kinds = order.matched, [kind_of(item.label) for item in truth]
    moved = Read(order.ranks, [kinds[item] for item in matched], [truth[item].box for item in matched])
    if moved.is_reversed:
        yield mistake("reversed", matched, [pairs[item] for item in matched])
    else:
        for name, start, stop in moved.moves():
            run = matched[start:stop]
            yield mistake(name, run, [pairs[item] for item in run])
    if order.unplaced:
        back = {other: one for one, other in pairs.items()}
        partners = [back[other] for other in order.read if other in back]
        bodies = [at for at, item in enumerate(partners) if kinds[item] == "body"]
        for item in partners[bodies[0] : bodies[-1]] if bodies else ():
            if item in order.unplaced and kinds[item] == "furniture":
                yield mistake("furniture_inside", [item], [pairs[item]])
    yield from (mistake("missing", [item], []) for item in order.missing)
    yield from (mistake("left_out", [item], [pairs[item]]) for item in order.left_out)
    yield from (mistake("extra", [], [other]) for other in order.extra)


class OrderResult(ItemResult[OrderPage]):
    """The reading order of one prediction."""

    name = NAME
    version = VERSION
    columns: ClassVar[tuple[str, ...]] = ("pages", "n", "matched", "extra", "left_out", *MEASURES)

    def sums(self, names: Iterable[str]) -> Sums:
        """Return what adds up each of the measures, as means over pages."""
        return {name: page_sum(name) for name in names}

    def summary(self, pages: Sequence[OrderPage]) -> JsonObject:
        """Return the counts, and each measure as means and, where it is a ratio of counts, pooled."""
        values: dict[str, object] = {name: sum(getattr(page, name) for page in pages) for name in COUNTS}
        for name in MEASURES:
            means = page_means(pages, name)
            values[name] = means if name in POOLED else {**means, "micro": None}
        return values

    def row(self, pages: Sequence[OrderPage]) -> tuple[Cell, ...]:
        """Return the counts, and each measure as the mean over pages."""
        means = (mean(value_of(page.ratios[name]) for page in pages) for name in MEASURES)
        return (len(pages), *(sum(getattr(page, name) for page in pages) for name in COUNTS), *means)

    def csv_files(self) -> Mapping[str, ResultTable]:
        """Return the mistakes, one in a row; positions are those of the files."""
        rows: list[tuple[Cell, ...]] = [
            (page.document, page.page, each.name, each.cost, *(" ".join(map(str, rows)) for rows in each.positions))
            for page in self.pages
            for each in page.mistakes
        ]
        columns = ("document", "page", "mistake", "cost", "ground_truth", "predictions")
        return {"mistakes.csv": self.as_table(columns, rows)}
