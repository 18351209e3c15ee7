"""What the viewer draws of the text of a page: each region that is read otherwise, with what differs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from evaluator.components.payload import BoxStatus
from evaluator.components.viewer.items import PageItems, kept_mistakes, key_of
from evaluator.components.viewer.payload import BoxItem, MistakeItem, PageLayers, PieceItem
from evaluator.data.dataset import Side
from evaluator.data.issues import count_of, displayed
from evaluator.metrics.results import ratio_text
from evaluator.protocols.items import value_of
from evaluator.protocols.text.differences import MOST_PIECES, pieces_of
from evaluator.protocols.text.evaluation import TextPair, TextResult
from evaluator.protocols.text.mistakes import TITLES

WORDS: Final = ("read right", "read otherwise or extra", "missing")
_MOST_SHOWN: Final = 2_000


def text_layers(result: TextResult, at: int, names: Collection[str] = ()) -> PageLayers:
    """Return what is drawn of a page of a result; only mistakes of some `names` are listed, all without any."""
    page, items = result.own_pages[at], PageItems(result.dataset, result.paired[at])
    kept = kept_mistakes([_mistake(items, pair) for pair in page.by_cost], names)
    pairs = [*page.pairs, *page.formulas]
    drawn = kept.numbered([box for pair in pairs for box in _boxes(items, pair)])
    right = sum(pair.is_matched and not pair.mistake for pair in pairs)
    missing = sum(pair.prediction is None for pair in pairs)
    numbers = ((name.upper(), value_of(ratio)) for name, ratio in page.ratios.items())
    return items.layers(
        kept,
        drawn,
        (right, len(pairs) - right - missing, missing),
        head=" · ".join(f"{name} {ratio_text(value)}" for name, value in numbers),
        status_words=WORDS,
    )


def _rows(items: PageItems, pair: TextPair) -> tuple[list[int], list[int]]:
    return items.at("ground_truth", [pair.ground_truth]), items.at("prediction", [pair.prediction])


def _boxes(items: PageItems, pair: TextPair) -> list[BoxItem | None]:
    truths, predicted = _rows(items, pair)
    cer = value_of(pair.ratios["cer"])
    name = TITLES[pair.mistake] if pair.mistake else WORDS[0]
    chip = "" if not pair.mistake else f"CER {ratio_text(cer)}" if pair.is_matched else name
    truth: BoxStatus = "truth" if predicted else "FN"
    prediction: BoxStatus = "FP" if pair.mistake else "TP"
    sides: tuple[tuple[Side, list[int], BoxStatus], ...] = (
        ("prediction", predicted, prediction),
        ("ground_truth", truths, truth),
    )
    return [items.box(side, row, status, name, cause=chip) for side, rows, status in sides for row in rows]


def _mistake(items: PageItems, pair: TextPair) -> MistakeItem:
    assert pair.mistake is not None
    truths, predicted = _rows(items, pair)
    side: Side = "ground_truth" if truths else "prediction"
    label = items.label(side, (truths or predicted)[0])
    measures = " · ".join(f"{name.upper()} {ratio_text(value_of(ratio))}" for name, ratio in pair.ratios.items())
    counts = (("changed", pair.substitutions), ("out", pair.deletions), ("in", pair.insertions))
    what = ", ".join(f"{count:,} {word}" for word, count in counts if count)
    pieces = pieces_of(pair.reference[:_MOST_SHOWN], pair.hypothesis[:_MOST_SHOWN])
    more = max(len(pair.reference), len(pair.hypothesis)) > _MOST_SHOWN or len(pieces) > MOST_PIECES
    return MistakeItem(
        number=0,
        name=pair.mistake,
        status="FP" if predicted else "FN",
        title=TITLES[pair.mistake],
        label=label,
        lines=[
            f"{measures} of {count_of(pair.reference_length, 'character')}" if pair.is_matched else measures,
            f"{what}{', the beginning is shown' * more}",
        ],
        tags=[count_of(pair.edits, "edit")],
        keys=[key_of("prediction", row) for row in predicted] or [key_of("ground_truth", row) for row in truths],
        pieces=[PieceItem(displayed_text(text), mark) for text, mark in pieces],
    )


def displayed_text(text: str) -> str:
    r"""Return text of a page as a view shows it, with its blanks at both ends.

    >>> displayed_text(" a\u202eb ")
    ' a\\u202eb '
    """
    return "".join(char if char.isprintable() else displayed(char) for char in text)
