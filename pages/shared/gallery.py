"""What the gallery shows: the items behind what was clicked or brushed that pass the filter, and their crops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
import streamlit as st

from evaluator.drawing import crops, mistake_filter
from evaluator.drawing.payloads import CardItem, CropItem, Rect
from evaluator.metrics import box_items
from evaluator.metrics.box_items import MATCHED, Items, Question
from evaluator.metrics.error_types import DOCUMENT
from evaluator.metrics.results import ScoreCurve
from evaluator.model.boxes import BoolArray, IntArray
from evaluator.model.issues import plain
from evaluator.pdf.problems import PageProblem
from pages.shared import pictures
from pages.shared.browser import listing
from pages.shared.opened import Model, OpenedBoxes
from pages.shared.results import Result, ResultKey, pairs_of, result_key, result_of
from pages.shared.state import state

CHARTS: Final = {
    "classes": "Classes",
    "scores": "Scores",
    "fit": "Fit",
    "names": "Names",
}
ORDERS: Final = {
    "page": "By page",
    "surest": "Highest score",
    "worst": "Lowest IoU",
    "largest": "Largest box",
}
THIRDS: Final = {"": "Anywhere", "top": "Top third", "middle": "Middle", "bottom": "Bottom third"}
CARDS: Final = 240
"""Cards on one screen of the gallery."""
_CROP_WIDTH: Final = 360
# Letter paper, for pages that cannot be drawn: the crop is then an empty sheet with the boxes.
_UNKNOWN_POINTS: Final = (612.0, 792.0)


def drop_unknown(found: OpenedBoxes) -> None:
    """Take away what the open files do not have."""
    listing.drop_unknown(found)
    question = state.gallery_question
    labels = found.dataset.labels[: found.dataset.evaluated]
    asked = [label for label in (question.cell or ()) if label is not None] if question else []
    named = question.name if question else None
    if any(label not in labels for label in asked) or (named not in (None, box_items.MATCHED_NAME, *DOCUMENT)):
        state.gallery_question = None


def ask(asked: Question | None) -> None:
    """Show what is behind a number; None for all mistakes."""
    state.gallery_question, state.gallery_sheet = asked, 0


def clear() -> None:
    """No question any more; the marks on the charts go with it, because their next round has other keys."""
    ask(None)
    state.gallery_round += 1


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The items that pass.

    Attributes
    ----------
    items : Items
        In the chosen order.
    mistakes, pages : int
        How many of them are mistakes, and on how many pages they are.
    """

    result: Result
    items: Items
    mistakes: int
    pages: int


@st.cache_resource(max_entries=16, show_spinner="Listing the boxes")
def _items(key: ResultKey, *, _result: Callable[[], Result]) -> Items:
    """All items of a result; `key` says which."""
    return box_items.items(_result())


@st.cache_resource(max_entries=32, show_spinner="Matching at every score")
def _curve(key: ResultKey, *, _make: Callable[[], ScoreCurve]) -> ScoreCurve:
    """The score curve of a model at an IoU threshold."""
    return _make()


def curve_of(found: OpenedBoxes, model: Model) -> ScoreCurve:
    """What a model reaches at each score threshold, at the IoU threshold of the moment."""
    # The same for every score threshold, so that is not part of the key.
    key = result_key(found, model)._replace(min_score=0.0)
    return _curve(key, _make=lambda: pairs_of(found, model).score_curve(iou=key.iou))


def every_item(found: OpenedBoxes, model: Model) -> Items:
    """All matched pairs and mistakes of a model at the operating point."""
    return _items(result_key(found, model), _result=lambda: result_of(found, model))


def shown(found: OpenedBoxes, model: Model) -> Shown:
    """The items behind the question that pass the filter, in the chosen order."""
    result, every = result_of(found, model), every_item(found, model)
    asked = state.gallery_question
    keep = every.kind != MATCHED if asked is None else box_items.answer(result, every, asked)
    keep &= _passing(every, found) & _in_third(every, state.gallery_third)
    rows = np.flatnonzero(keep)
    rows = rows[_order(every, rows, state.gallery_sort)]
    chosen = every.take(rows)
    mistakes = int((chosen.kind != MATCHED).sum())
    return Shown(result, chosen, mistakes, len(np.unique(chosen.page)))


def _passing(every: Items, found: OpenedBoxes) -> BoolArray:
    """What the filter of the page browser keeps; names are about mistakes, matched pairs have none."""
    # Verdicts are about mistakes under their own ids; the gallery does not know them.
    chosen = msgspec.structs.replace(listing.chosen_filter(), unjudged=False)
    return mistake_filter.passing(every, found.dataset, chosen)


def _in_third(every: Items, third: str) -> BoolArray:
    """Which items lie in a third of their page."""
    if not third:
        return np.ones(len(every), dtype=bool)
    place = list(THIRDS).index(third) - 1
    return np.asarray(np.clip((every.middle * 3).astype(np.int64), 0, 2) == place, dtype=bool)


def _order(every: Items, rows: IntArray, order: str) -> IntArray:
    """Places of the rows in the wanted order; what has no value comes last."""
    if order == "surest":
        return np.argsort(-np.nan_to_num(every.score[rows], nan=-1.0), kind="stable")
    if order == "worst":
        return np.argsort(np.nan_to_num(every.iou[rows], nan=2.0), kind="stable")
    if order == "largest":
        return np.argsort(-every.size[rows], kind="stable")
    return np.arange(len(rows))


def crops_of(found: OpenedBoxes, cards: Sequence[CardItem]) -> dict[str, CropItem]:
    """Crops of some cards, by their keys."""
    return {card.key: crop(found, card.document, card.index, [box.xyxy for box in card.boxes]) for card in cards}


def crop(
    found: OpenedBoxes,
    document: str,
    index: int,
    boxes: Sequence[Rect],
    *,
    width: int = _CROP_WIDTH,
    dpi: float = pictures.FIRST_DPI,
) -> CropItem:
    """The part of a page around some boxes, all of it for none, or an empty sheet with the reason.

    It has at most `width` pixels and is cut from a page that is drawn with `dpi`.
    """
    corners = np.array(list(boxes) or [(0.0, 0.0, 1.0, 1.0)])
    try:
        picture = pictures.pool().page_image(pictures.document_path(found, document), index, dpi=dpi)
    except PageProblem as problem:
        part = crops.region(corners, _UNKNOWN_POINTS)
        return CropItem(None, part, crops.aspect_of(part, _UNKNOWN_POINTS), plain(problem.title))
    points = (picture.page_width, picture.page_height)
    part = crops.region(corners, points)
    image = crops.data_url(crops.cut(picture.webp, part, width=width))
    return CropItem(image, part, crops.aspect_of(part, points), None)
