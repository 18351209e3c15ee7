"""What the viewer draws of the reading order of a page: both orders, wrong jumps, and mistakes by name."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from evaluator.components.viewer.items import PageItems, counts_of, kept_mistakes, key_of, labels_of
from evaluator.components.viewer.payload import MistakeItem, OrderPathItem, PageLayers
from evaluator.data.dataset import Side
from evaluator.data.issues import count_of
from evaluator.metrics.results import ratio_text
from evaluator.protocols.items import value_of
from evaluator.protocols.order.evaluation import Mistake, OrderPage, OrderResult
from evaluator.protocols.order.mistakes import TITLES

WORDS: Final = ("in order", "out of order or extra", "missing")
_EXCERPTS: Final = 3


class _Orders(NamedTuple):
    """The place of each item in the order of its side, by row, from 0.

    `sequence`: the true places of what both sides place, as they are read; `rising` sorted, `read_at` where each is.
    """

    truth: dict[int, int]
    predicted: dict[int, int]
    sequence: list[int]
    rising: list[int]
    read_at: dict[int, int]

    @classmethod
    def of(cls, page: OrderPage, items: PageItems) -> _Orders:
        truth = {items.page.truth[place]: rank for rank, place in enumerate(page.right)}
        predicted = {items.page.predicted[place]: rank for rank, place in enumerate(page.read)}
        back = items.partner["prediction"]
        sequence = [rank for row in predicted if (rank := truth.get(back.get(row, -1))) is not None]
        return cls(truth, predicted, sequence, sorted(sequence), {rank: at for at, rank in enumerate(sequence)})


def order_layers(result: OrderResult, at: int, names: Collection[str] = ()) -> PageLayers:
    """Return what is drawn of a page of a result; only mistakes of some `names` are listed, all without any."""
    page, items = result.own_pages[at], PageItems(result.dataset, result.paired[at])
    orders = _Orders.of(page, items)
    kept = kept_mistakes([_mistake(items, orders, each) for each in page.mistakes], names)
    wrong = kept.keys
    boxes = []
    for row in items.page.predicted:
        key, matched = key_of("prediction", row), row in items.partner["prediction"]
        if matched or row in orders.predicted:
            name = _name(orders.predicted.get(row), "predicted")
            boxes.append(items.box("prediction", row, "FP" if key in wrong or not matched else "TP", name))
    for row in items.page.truth:
        is_missing = row in orders.truth and row not in items.partner["ground_truth"]
        name = _name(orders.truth.get(row), "ground truth")
        boxes.append(items.box("ground_truth", row, "FN" if is_missing else "truth", name))
    drawn, limit = kept.numbered(boxes)
    return items.layers(
        kept,
        (drawn, limit),
        counts_of(drawn),
        head=_head(page),
        paths=_paths(items, orders, {box.key for box in drawn}),
        status_words=WORDS,
    )


def _name(place: int | None, order: str) -> str:
    return f"item without a place, {order}" if place is None else f"item {place + 1} of the {order} order"


def _head(page: OrderPage) -> str:
    names = (("edit_distance", "edit distance"), ("kendall_tau", "tau"), ("adjacent", "neighbours"))
    return " · ".join(f"{words} {ratio_text(value_of(page.ratios[name]))}" for name, words in names)


def _paths(items: PageItems, orders: _Orders, drawn: Collection[str]) -> list[OrderPathItem]:
    back = items.partner["prediction"]
    dense = {rank: at for at, rank in enumerate(orders.rising)}
    keys: list[str] = []
    numbers: list[int] = []
    wrong: list[int] = []
    before: int | None = None
    for row, place in orders.predicted.items():
        rank = orders.truth.get(back.get(row, -1))
        here = None if rank is None else dense[rank]
        key = key_of("prediction", row)
        if key in drawn:
            if keys and here is not None and before is not None and here != before + 1:
                wrong.append(len(keys))
            keys.append(key)
            numbers.append(place + 1)
        before = before if here is None else here
    truth = [(key, place + 1) for row, place in orders.truth.items() if (key := key_of("ground_truth", row)) in drawn]
    return [
        OrderPathItem("ground_truth", [key for key, _ in truth], [number for _, number in truth]),
        OrderPathItem("prediction", keys, numbers, wrong),
    ]


def _mistake(items: PageItems, orders: _Orders, mistake: Mistake) -> MistakeItem:
    truths = items.at("ground_truth", mistake.ground_truth)
    predicted = items.at("prediction", mistake.predictions)
    side: Side = "ground_truth" if truths else "prediction"
    rows = truths or predicted
    excerpts = [items.excerpt(side, row) for row in rows[:_EXCERPTS]]
    more = [f"and {len(rows) - _EXCERPTS:,} more"] * (len(rows) > _EXCERPTS)
    alone = [key_of("ground_truth", row) for row in truths if row not in items.partner["ground_truth"]]
    return MistakeItem(
        number=0,
        name=mistake.name,
        status="FN" if mistake.name == "missing" else "FP",
        title=TITLES[mistake.name],
        label=labels_of(items.label(side, row) for row in rows),
        lines=[_where(orders, truths, predicted), ", ".join([*excerpts, *more])],
        tags=[count_of(mistake.cost, "item")],
        keys=[*(key_of("prediction", row) for row in predicted), *alone],
    )


def _where(orders: _Orders, truths: Sequence[int], predicted: Sequence[int]) -> str:
    read = _span([place for row in predicted if (place := orders.predicted.get(row)) is not None])
    ranks = [place for row in truths if (place := orders.truth.get(row)) is not None]
    if not ranks:
        return f"read as {read}, no place in the ground truth"
    if not read:
        return f"{_span(ranks)} of the ground truth, not read"
    first = min(orders.read_at[rank] for rank in ranks)
    before = orders.sequence[first - 1] if first else None
    lower = bisect_left(orders.rising, min(ranks))
    right = orders.rising[lower - 1] if lower else None
    said = [("at the beginning" if rank is None else f"after {rank + 1}") for rank in (before, right)]
    return f"{_span(ranks)} of the ground truth, read {said[0]}{f' instead of {said[1]}' * (said[0] != said[1])}"


def _span(places: Sequence[int]) -> str:
    """Return places from 1 in words.

    >>> _span([3]), _span([3, 4, 5]), _span([0, 4]), _span([])
    ('4', '4 to 6', '1, 5', '')
    """
    if not places:
        return ""
    first, last = min(places), max(places)
    if len(places) > 1 and last - first == len(places) - 1:
        return f"{first + 1} to {last + 1}"
    return ", ".join(str(place + 1) for place in places[:6]) + ("…" if len(places) > 6 else "")
