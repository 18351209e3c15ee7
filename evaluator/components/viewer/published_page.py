"""What the viewer draws of a page under a profile: the true items, and what differs in the list alone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from evaluator.components.payload import BoxStatus
from evaluator.components.viewer.items import PageItems, kept_mistakes, key_of
from evaluator.components.viewer.payload import MistakeItem, PageLayers, PieceItem
from evaluator.components.viewer.text_page import displayed_text
from evaluator.data.issues import count_of
from evaluator.metrics.results import ratio_text
from evaluator.protocols.items import value_of
from evaluator.protocols.omnidocbench.evaluation import Difference, OrderSample, ProfileResult, TableSample
from evaluator.protocols.text.differences import pieces_of

WORDS: Final = ("in the ground truth", "different", "missing")
_NOTE: Final = "Markdown has no boxes: what differs is in the list alone."
_MOST_SHOWN: Final = 2_000
_TRUTH: Final[BoxStatus] = "TP"
_NAMES: Final = {"edit_distance": "edit distance", "ned": "NED", "teds": "TEDS", "teds_s": "TEDS-S"}


def published_layers(result: ProfileResult, at: int, names: Collection[str] = ()) -> PageLayers:
    """Return what is drawn of a page of a result; only differences of some `names` are listed, all without any."""
    page, items = result.own_pages[at], PageItems(result.dataset, result.paired[at])
    kept = kept_mistakes([_mistake(result, number, each) for number, each in enumerate(page.differences)], names)
    boxes = (items.box("ground_truth", row, _TRUTH, items.label("ground_truth", row)) for row in items.page.truth)
    numbers = (f"{_NAMES[name]} {ratio_text(value_of(page.ratios[name]))}" for name in result.measures)
    return items.layers(
        kept,
        kept.numbered(boxes),
        (len(items.page.truth), len(page.differences), 0),
        head=" · ".join(numbers),
        notes=[_NOTE],
        status_words=WORDS,
    )


def _mistake(result: ProfileResult, number: int, one: Difference) -> MistakeItem:
    sample = one.sample
    pieces: list[PieceItem] = []
    if isinstance(sample, OrderSample):
        lines = [f"{side} {_numbers(of)}" for side, of in (("read", sample.predicted), ("in truth", sample.truth))]
    elif isinstance(sample, TableSample):
        lines = [f"TEDS {ratio_text(sample.teds)} · TEDS-S {ratio_text(sample.teds_s)}"]
    else:
        cut = max(len(sample.truth), len(sample.predicted)) > _MOST_SHOWN
        lines = [f"NED {ratio_text(value_of(sample.ratio))}{', the beginning is shown' * cut}"]
        different = pieces_of(sample.truth[:_MOST_SHOWN], sample.predicted[:_MOST_SHOWN])
        pieces = [PieceItem(displayed_text(text), mark) for text, mark in different]
    return MistakeItem(
        number=0,
        name=one.name,
        status="FP",
        title=result.titles[one.name],
        label="",
        lines=lines,
        tags=[count_of(one.cost, result.cost)],
        # No box has this name: Markdown has none.
        keys=[key_of("prediction", number)],
        pieces=pieces,
    )


def _numbers(order: list[float]) -> str:
    return ", ".join(f"{number:g}" for number in order[:40]) + "…" * (len(order) > 40) or "nothing"
