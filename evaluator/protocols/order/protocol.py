"""Reading order as one object: its options, how it runs, what is compared of its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from msgspec import Meta

from evaluator.data.boxes import BoolArray
from evaluator.data.dataset import Boxes, Dataset, JoinedBoxes
from evaluator.metrics.metric import Metric
from evaluator.metrics.observations import MeasureWords
from evaluator.protocols.items import PAGES, ItemOptions, ItemProtocol, Page, Thing, value_of
from evaluator.protocols.omnidocbench import OrderProfile
from evaluator.protocols.order.evaluation import NAME, TITLE, VERSION, Item, OrderResult, order_page
from evaluator.protocols.order.mistakes import TITLES


class OrderOptions(ItemOptions, frozen=True, kw_only=True):
    """The options of reading order."""

    order: Annotated[
        Literal["stated", "file"],
        Meta(description="what is read in no stated order has none, or that of the file."),
    ] = "stated"


class OrderProtocol(ItemProtocol[OrderOptions]):
    """Whether the items of a page are read one after the other as they should be; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = TITLE
    options = OrderOptions
    column = "order"
    titles: ClassVar[Mapping[str, str]] = {**dict(TITLES.items()), **OrderProfile.titles}
    cost = "misplaced item"
    by_page = "edit_distance"
    published = OrderProfile
    metrics: ClassVar[Mapping[str, Metric]] = {
        "edit_distance": Metric(
            "edit distance of the order", "needs more moves", "needs fewer moves", lower_is_better=True
        ),
        "edit_distance_all": Metric(
            "edit distance with extra items", "needs more moves", "needs fewer moves", lower_is_better=True
        ),
        "kendall_tau": Metric("Kendall's tau", "orders more pairs right", "orders fewer pairs right", least=-1.0),
        "adjacent": Metric("neighbours in order", "keeps more neighbours", "keeps fewer neighbours"),
        "ard": Metric("ARD", "reads closer to the order", "reads further from the order"),
        "weighted_ard": Metric("weighted ARD", "reads closer to the order", "reads further from the order"),
    }
    headline: ClassVar[tuple[str, ...]] = ("edit_distance", "kendall_tau", "adjacent")
    slice_measures: ClassVar[Mapping[str, MeasureWords]] = {
        "adjacent": MeasureWords("neighbours in order", "pages", "disordered", "neighbours lost", "page", fits=True),
        "faultless": MeasureWords("share read in order", "pages", "disordered", "pages lost", "page"),
        PAGES: MeasureWords("order kept", "pages", "disordered", "order lost", "page", fits=True),
    }

    def takes_part(self, side: JoinedBoxes) -> BoolArray:
        """Return that every item is compared."""
        return np.ones(len(side), dtype=bool)

    def lacks_column(self, side: Boxes, options: OrderOptions) -> bool:
        """Return whether a side has no order, and none of its file is asked for."""
        return side.order is None and options.order == "stated"

    def result(
        self, pages: Sequence[Page], dataset: Dataset, options: OrderOptions, said: tuple[str, ...]
    ) -> OrderResult:
        """Return the result of a dataset with one prediction."""
        truths, predictions = (_items(side, dataset.labels) for side in (dataset.ground_truth, dataset.predictions[0]))
        of_pages = []
        for page in pages:
            at = {row: place for place, row in enumerate(page.predicted)}
            ones, others = [truths[row] for row in page.truth], [predictions[row] for row in page.predicted]
            if options.order == "file":
                ones, others = _in_file_order(ones), _in_file_order(others)
            pairs = {place: at[page.pairs[row]] for place, row in enumerate(page.truth) if row in page.pairs}
            of_pages.append(order_page(page.document, page.page, ones, others, pairs))
        more = ("file order where none is stated",) if options.order == "file" else ()
        return OrderResult(
            dataset=dataset,
            paired=pages,
            own_pages=tuple(of_pages),
            said=(*said, "ties free", *more),
        )

    def things(self, result: OrderResult, measure: str) -> Iterator[Thing]:
        """Yield the pages on which a measure is defined."""
        for at, page in enumerate(result.pages):
            value = value_of(page.ratios["adjacent"]) if measure == "adjacent" else float(not page.mistakes)
            if value is not None:
                yield Thing(at, "", value, {"items in order": float(page.n)})


PROTOCOL: Final = OrderProtocol()


def _items(side: JoinedBoxes, labels: Sequence[str]) -> list[Item]:
    boxes = side.source.boxes
    places = boxes.order or [None] * len(boxes)
    corners = [None if isnan(x1) else (x1, y1, x2, y2) for x1, y1, x2, y2 in boxes.xyxy.tolist()]
    codes, positions = side.label.tolist(), boxes.position.tolist()
    return [
        Item(place, labels[code], box, position)
        for place, code, box, position in zip(places, codes, corners, positions, strict=True)
    ]


def _in_file_order(items: Sequence[Item]) -> list[Item]:
    if any(item.place is not None for item in items):
        return list(items)
    return [Item((at,), item.label, item.box, item.position) for at, item in enumerate(items)]
