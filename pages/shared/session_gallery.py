"""What the gallery holds: the question that was clicked or brushed, the items that pass, and the crops of its cards."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
import streamlit as st

from evaluator.drawing import crops, mistake_filter
from evaluator.drawing.mistake_filter import MistakeColumns
from evaluator.drawing.payloads import CardItem, CropItem, Rect
from evaluator.metrics import box_items
from evaluator.metrics.box_items import MATCHED, Items, Question
from evaluator.metrics.box_results import BoxResult
from evaluator.metrics.error_types import DOCUMENT
from evaluator.metrics.results import ScoreCurve
from evaluator.model.boxes import BoolArray, IntArray
from evaluator.model.issues import plain
from evaluator.pdf.problems import PageProblem
from pages.shared import session
from pages.shared import session_browser as browser

DOORS: Final = {
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


def _question_of(text: str) -> Question | None:
    """A question from the address; ValueError when it makes no sense."""
    try:
        return msgspec.json.decode(text.encode(), type=Question)
    except msgspec.DecodeError as problem:
        raise ValueError(text) from problem


def _whole(text: str) -> int:
    """A page of cards, counted from 1 in the address."""
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 6 and int(text) > 0):
        raise ValueError(text)
    return int(text) - 1


session.own_choice("question", "gallery_question", None, _question_of)
session.own_choice("door", "gallery_door", "classes", session.one_of(tuple(DOORS)))
session.own_choice("sort", "gallery_sort", "page", session.one_of(tuple(ORDERS)))
session.own_choice("third", "gallery_third", "", session.one_of(tuple(THIRDS)[1:]))
session.own_choice("sheet", "gallery_sheet", 0, _whole)


def settle(found: session.Opened) -> None:
    """Take away what the open files do not have, and write each choice again for widgets that start anew."""
    browser.settle_filter(found)
    state = st.session_state
    for key, default in (("gallery_door", "classes"), ("gallery_sort", "page"), ("gallery_third", "")):
        state[key] = state.get(key) or default
    question = state.get("gallery_question")
    labels = found.dataset.labels[: found.dataset.evaluated]
    asked = [label for label in (question.cell or ()) if label is not None] if question else []
    named = question.name if question else None
    if any(label not in labels for label in asked) or (named not in (None, box_items.MATCHED_NAME, *DOCUMENT)):
        state["gallery_question"] = None


def question() -> Question | None:
    """What was clicked or brushed; None shows all mistakes."""
    asked: Question | None = st.session_state.get("gallery_question")
    return asked


def ask(asked: Question | None) -> None:
    """Show what stands behind a number; None for all mistakes."""
    st.session_state["gallery_question"] = asked
    st.session_state["gallery_sheet"] = 0


def clear() -> None:
    """No question any more; the marks on the charts go with it."""
    ask(None)
    st.session_state["gallery_round"] = chart_round() + 1


def chart_round() -> int:
    """Part of the keys of the charts: another round has no marks."""
    return int(st.session_state.get("gallery_round", 0))


def address() -> dict[str, str | None]:
    """The gallery's choices as they stand in the address; None for the defaults."""
    state, asked = st.session_state, question()
    kept = browser.filter_address()
    kept.pop("order", None)
    kept.pop("only", None)
    return {
        **kept,
        "question": msgspec.json.encode(asked).decode() if asked is not None else None,
        "door": None if state["gallery_door"] == "classes" else state["gallery_door"],
        "sort": None if state["gallery_sort"] == "page" else state["gallery_sort"],
        "third": state["gallery_third"] or None,
        "sheet": str(sheet() + 1) if sheet() else None,
    }


def sheet() -> int:
    """Which stretch of `CARDS` cards is shown, from 0."""
    return int(st.session_state.get("gallery_sheet") or 0)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The items that pass.

    Attributes
    ----------
    result : BoxResult
    items : Items
        In the chosen order.
    mistakes, pages : int
        How many of them are mistakes, and on how many pages they are.
    """

    result: BoxResult[Any]
    items: Items
    mistakes: int
    pages: int


@st.cache_resource(max_entries=16, show_spinner="Listing the boxes")
def _items(key: tuple[Any, ...], *, _result: Callable[[], BoxResult[Any]]) -> Items:
    """All items of a result; `key` says which."""
    return box_items.items(_result())


@st.cache_resource(max_entries=32, show_spinner="Matching at every score")
def _curve(key: tuple[Any, ...], *, _make: Callable[[], ScoreCurve]) -> ScoreCurve:
    """The score curve of a model at an IoU threshold."""
    return _make()


def curve_of(found: session.Opened, model: session.Model) -> ScoreCurve:
    """What a model reaches at each score threshold, at the IoU threshold of the moment."""
    iou = session.iou_threshold()
    key = (*session.result_key(found, model)[:-2], iou)
    return _curve(key, _make=lambda: session.pairs_of(found, model).score_curve(iou=iou))


def every_item(found: session.Opened, model: session.Model) -> Items:
    """All matched pairs and mistakes of a model at the operating point."""
    return _items(session.result_key(found, model), _result=lambda: session.result_of(found, model))


def shown(found: session.Opened, model: session.Model) -> Shown:
    """The items behind the question that pass the filter, in the chosen order."""
    result, every = session.result_of(found, model), every_item(found, model)
    asked = question()
    keep = every.kind != MATCHED if asked is None else box_items.answer(result, every, asked)
    keep &= _passing(every, found) & _in_third(every, st.session_state["gallery_third"])
    rows = np.flatnonzero(keep)
    rows = rows[_order(every, rows, st.session_state["gallery_sort"])]
    chosen = every.take(rows)
    mistakes = int((chosen.kind != MATCHED).sum())
    return Shown(result, chosen, mistakes, len(np.unique(chosen.page)))


def _passing(every: Items, found: session.Opened) -> BoolArray:
    """What the filter of the page browser keeps; names are about mistakes, matched pairs have none."""
    columns = MistakeColumns(
        kind=every.kind,
        page=every.page,
        document=every.document,
        truth_label=every.truth_label,
        prediction_label=every.prediction_label,
        score=every.score,
        iou=every.iou,
        size=every.size,
    )
    # Verdicts are about mistakes under their own ids; the gallery does not know them.
    chosen = msgspec.structs.replace(browser.chosen_filter(), unjudged=False)
    return mistake_filter.passing(columns, found.dataset, chosen)


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


def crops_of(found: session.Opened, cards: Sequence[CardItem]) -> dict[str, CropItem]:
    """Crops of some cards, by their keys."""
    return {card.key: crop(found, card.document, card.index, [box.xyxy for box in card.boxes]) for card in cards}


def crop(
    found: session.Opened,
    document: str,
    index: int,
    boxes: Sequence[Rect],
    *,
    width: int = _CROP_WIDTH,
    dpi: float = session.FIRST_DPI,
) -> CropItem:
    """The part of a page around some boxes, all of it for none, or an empty sheet with the reason.

    It has at most `width` pixels and is cut from a page that is drawn with `dpi`.
    """
    corners = np.array(list(boxes) or [(0.0, 0.0, 1.0, 1.0)])
    try:
        picture = session.pool().page_image(session.document_path(found, document), index, dpi=dpi)
    except PageProblem as problem:
        part = crops.region(corners, _UNKNOWN_POINTS)
        return CropItem(None, part, _aspect(part, _UNKNOWN_POINTS), plain(problem.title))
    points = (picture.page_width, picture.page_height)
    part = crops.region(corners, points)
    image = base64.b64encode(crops.cut(picture.webp, part, width=width)).decode("ascii")
    return CropItem(f"data:image/webp;base64,{image}", part, _aspect(part, points), None)


def _aspect(part: Rect, points: tuple[float, float]) -> float:
    """Width over height of a part of a page."""
    return (part[2] - part[0]) * points[0] / ((part[3] - part[1]) * points[1])
