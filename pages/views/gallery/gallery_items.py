"""The gallery: the items behind a question that pass the filter, in order, and their crops."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
import numpy as np

from evaluator.components.gallery import crops
from evaluator.components.gallery.payload import CardItem, CropItem, GalleryPayload, GridCauseItem, GroupItem
from evaluator.components.page_picture import FIRST_DPI
from evaluator.components.payload import Rect
from evaluator.components.viewer import mistake_filter
from evaluator.components.viewer.payload import JudgedItem
from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.dataset import JoinedBoxes
from evaluator.data.issues import count_of, cut, plain, whole
from evaluator.data.order import order_by
from evaluator.matching import box_items
from evaluator.matching.box_items import MATCHED, BoxPlaces, Inside, Items, Query, Selection, asks_for_matches
from evaluator.matching.causes import Family
from evaluator.metrics.results import ScoreCurve
from evaluator.pdf.problems import PageProblem
from pages.app import pictures, session_files
from pages.app.cache import Cached
from pages.app.components import MOST_WANTED, gallery
from pages.app.results import Result, result_key, result_of, result_of_all
from pages.app.session_files import LoadedBoxes, Model
from pages.app.state import FILTER, AnyField, State, is_narrowed, report, state
from pages.views.browser import page_listing
from pages.views.browser.page_listing import ListedPages
from pages.views.slices import slices

ORDERS: Final = {
    "costliest": "By cause",
    "page": "By page",
    "label": "By label",
    "surest": "By score",
}
THIRDS: Final = {"": "Anywhere", "top": "Top third", "middle": "Middle", "bottom": "Bottom third"}
CARDS: Final = 240
"""Cards on one screen of the gallery."""
_CROP_WIDTH: Final = 360
_FILTER: Final[tuple[AnyField, ...]] = (*FILTER, State.gallery_third)
# Parts of the filter that alone hide nothing here.
_IDLE: Final = (State.only, State.poor_coverage, State.poor_purity)
# Letter paper, for pages that cannot be drawn: the crop is then an empty sheet with the boxes.
_UNKNOWN_POINTS: Final = (612.0, 792.0)


def show_query(asked: Query | None) -> None:
    """Show what is behind a number; None for all mistakes."""
    state.gallery_question, state.gallery_sheet = asked, 0


def show_alike(family: tuple[str, str, str, str, str]) -> None:
    """Have a view leave for the gallery, which then shows all causes like one of its page."""
    page_listing.clear_filter()
    loaded = session_files.load_boxes()
    labels = loaded.dataset.labels if loaded else ()
    show_query(Query(cause=Family(*(whole(part, labels) for part in family))))
    state.alike_asked = True


def empty_text() -> str:
    """Return why there is no card, and what to do next."""
    filtered = state.gallery_question is not None or is_narrowed(field for field in _FILTER if field not in _IDLE)
    return "Nothing passes the filter. Remove a condition above." if filtered else "No mistake at these thresholds."


@dataclass(frozen=True, slots=True, eq=False)
class ShownItems:
    """The items that pass: `rows` of `every` in the chosen order, and how many of them are mistakes.

    `boxes` counts those of the cell or slice that was asked for, None for any other question; `hidden` the items behind
    the question that the filter hides. `causes`, in the chosen order, are the places of the mistakes, each a card; None
    where matched pairs are asked for.
    """

    result: Result
    every: Items
    rows: IntArray
    mistakes: int
    pages: int
    boxes: int | None
    hidden: int
    causes: IntArray | None

    def __len__(self) -> int:
        return len(self.rows) if self.causes is None else len(self.causes)


_ITEMS: Final = Cached[Items](16, spinner="Listing the boxes")
_PLACES: Final = Cached[BoxPlaces](4)
_CURVES: Final = Cached[ScoreCurve](32, spinner="Matching at every score")
_ORDERED: Final = Cached[IntArray](16)


def _places(loaded: LoadedBoxes, model: int | None, side: JoinedBoxes) -> BoxPlaces:
    return _PLACES.of((loaded.digests, model), lambda: mistake_filter.box_places(loaded.dataset, side))


def curve_of(loaded: LoadedBoxes, model: Model) -> ScoreCurve:
    """Return what a model reaches at each score threshold, at the chosen IoU threshold."""
    # The same for every score threshold, so that is not part of the key.
    key = result_key(loaded, model)._replace(min_score=0.0)
    return _CURVES.of(key, lambda: result_of_all(loaded, model).score_curve())


def every_item(loaded: LoadedBoxes, model: Model, *, matched: bool = True) -> Items:
    """Return all matched pairs and mistakes of a model at the operating point, or its mistakes alone."""

    def items() -> Items:
        result = result_of(loaded, model)
        truth = _places(loaded, None, loaded.dataset.ground_truth)
        prediction = _places(loaded, model.index, result.matching.prediction)
        return replace(box_items.items(result, matched=matched), places=(truth, prediction))

    return _ITEMS.of((result_key(loaded, model), matched), items)


def filtered_items(loaded: LoadedBoxes, model: Model) -> ShownItems:
    """Return the items behind the question that pass the filter, in the chosen order."""
    asked = state.gallery_question
    # Matched pairs are most of the boxes of a good model.
    result, every = result_of(loaded, model), every_item(loaded, model, matched=asks_for_matches(asked))
    inside = slice_boxes(loaded, model)
    if asked is None:
        keep = np.ones(len(every), dtype=bool)
    elif isinstance(inside, str):
        keep = np.zeros(len(every), dtype=bool)
    else:
        keep = box_items.in_query(every, asked, inside)
    behind = int(keep.sum())
    keep &= _passing(loaded, model, every) & _in_third(every, state.gallery_third)
    if asks_for_matches(asked):
        rows = np.flatnonzero(keep)
        rows = rows[_order(result, every.take(rows), state.gallery_sort)]
    else:
        # Mistakes are few, and every question about them and each card that opens finds them in order.
        key = (result_key(loaded, model), state.gallery_sort)
        order = _ORDERED.of(key, lambda: _order(result, every, state.gallery_sort))
        rows = order[keep[order]]
    with_item = np.zeros(result.matching.dataset.pages, dtype=bool)
    with_item[every.page[keep]] = True
    return ShownItems(
        result,
        every,
        rows,
        mistakes=int(np.count_nonzero(keep & (every.kind != MATCHED))),
        pages=int(np.count_nonzero(with_item)),
        causes=None if asks_for_matches(asked) else _places_of(result, every.take(rows)),
        boxes=None if asked is None else _boxes_held(result, every.take(rows), asked, inside),
        hidden=behind - len(rows),
    )


def list_pages(loaded: LoadedBoxes, model: Model) -> ListedPages:
    """Return the pages of Pages: those of the filter, or of what is behind the question too."""
    asked = state.gallery_question
    if asked is None:
        return page_listing.list_pages(loaded, model)
    shown = filtered_items(loaded, model)
    chosen, mistakes = shown.every.take(shown.rows), shown.result.mistakes
    keep = np.zeros(len(mistakes), dtype=bool)
    keep[chosen.mistake[chosen.mistake >= 0]] = True
    boxes = box_items.asked_boxes(shown.result, asked)
    if boxes is None and (chosen.kind == MATCHED).any():
        boxes = Selection(np.ones(len(mistakes.of_truth), dtype=bool), np.ones(len(mistakes.of_prediction), dtype=bool))
    if boxes is not None:
        boxes = box_items.held_of(chosen, boxes)
    per_page = np.bincount(chosen.page, minlength=loaded.dataset.pages)
    return page_listing.list_pages(loaded, model, page_listing.Behind(keep, boxes, per_page, heading(shown)))


def slice_boxes(loaded: LoadedBoxes, model: Model) -> Inside | str | None:
    """Return the boxes of the asked slice, or why they are not known; None for another question."""
    asked = state.gallery_question
    return None if asked is None or asked.slice is None else slices.boxes_in_slice(loaded, model, asked.slice)


def _boxes_held(result: Result, chosen: Items, asked: Query, inside: Inside | str | None) -> int | None:
    if asked.slice is not None and not isinstance(inside, str) and inside is not None:
        return box_items.count_boxes(chosen, inside)
    return box_items.count_asked(chosen, asked)


def query_words(asked: Query) -> str:
    """Return a question in words."""
    if asked.slice is None:
        return box_items.query_text(asked)
    others = msgspec.structs.replace(asked, slice=None)
    more = "" if others == Query() else f", {box_items.query_text(others)}"
    return f"{slices.slice_words(asked.slice)}{more}"


def _places_of(result: Result, chosen: Items) -> IntArray:
    of, made = result.causes.of_mistake[chosen.mistake[chosen.mistake >= 0]], result.causes
    if state.gallery_sort not in ("costliest", "label"):
        _, at = np.unique(of, return_index=True)
        return np.asarray(of[np.sort(at)], dtype=np.int64)
    ranked = np.concatenate([np.empty(0, dtype=np.int64), *made.alike.values()])
    ranked = ranked[np.isin(ranked, of)]
    if state.gallery_sort == "costliest":
        return ranked
    known = {label: code for code, label in enumerate(result.matching.dataset.labels)}
    codes = np.array([known.get(family.label, len(known)) for family in made.kinds], dtype=np.int64)
    return ranked[np.argsort(codes[made.kind[ranked]], kind="stable")]


def heading(shown: ShownItems) -> str:
    """Return what the cards hold, each number with its unit, and how much of it the filter hides."""
    matched = len(shown.rows) - shown.mistakes
    held = [count_of(shown.mistakes, "mistake")] if shown.mistakes or not matched else []
    held += [count_of(matched, "matched pair")] if matched else []
    places = "" if shown.causes is None else f", at {count_of(len(shown.causes), 'place')}"
    text = f"{' and '.join(held)}{places} on {count_of(shown.pages, 'page')}"
    if shown.boxes is not None:
        text = f"{count_of(shown.boxes, 'box')} in {text}"
    elif not matched:
        mistakes = shown.every.mistake[shown.rows]
        text = f"{count_of(int(shown.result.mistakes.wrong_boxes[mistakes].sum()), 'wrong box')} in {text}"
    return f"{text}; the filter hides {shown.hidden:,}" if shown.hidden else text


def _passing(loaded: LoadedBoxes, model: Model, every: Items) -> BoolArray:
    """Return what the page browser's filter keeps, by the same columns; matched pairs have no name."""
    chosen = page_listing.chosen_filter()
    asked = ["truth_label", "prediction_label"] if chosen.label is not None else []
    asked += [name for name in ("score", "iou", "size") if getattr(chosen, name) != mistake_filter.WHOLE]
    columns: dict[str, Any] = {}
    mistakes = every.mistake >= 0
    at = every.mistake[mistakes]
    judged = np.zeros(len(every), dtype=bool)
    if chosen.unjudged:
        judged[mistakes] = page_listing.with_verdict(loaded, model, result_of(loaded, model).mistakes)[at]
    if asked:
        own = page_listing.all_mistakes(loaded, model)
    for name in asked:
        columns[name] = getattr(every, name).copy()
        columns[name][mistakes] = getattr(own, name)[at]
    return mistake_filter.passing(every.with_columns(**columns), loaded.dataset, chosen, judged=judged)


def _in_third(every: Items, third: str) -> BoolArray:
    if not third:
        return np.ones(len(every), dtype=bool)
    place = list(THIRDS).index(third) - 1
    known = np.nan_to_num(every.middle)
    return np.asarray(np.isnan(every.middle) | (np.clip((known * 3).astype(np.int64), 0, 2) == place), dtype=bool)


def _order(result: Result, every: Items, order: str) -> IntArray:
    """Return rows in an order, NaN last; "costliest": most wrong boxes, lowest IoU of pairs, largest."""
    if order == "costliest":
        touched = np.append(result.mistakes.wrong_boxes, 0)[every.mistake]
        size, matched = -np.nan_to_num(every.size, nan=-np.inf), every.kind == MATCHED
        # A column that is 0 in every row decides nothing, and keeps the sizes out of the number that is sorted.
        fit = [np.where(matched, np.nan_to_num(every.iou), 0.0)] if matched.any() else []
        return order_by([-touched, *fit, size])
    if order == "surest":
        return np.argsort(-np.nan_to_num(every.score, nan=-1.0), kind="stable")
    return np.arange(len(every))


@dataclass(frozen=True, slots=True)
class GridPart:
    """What Grid has beside its cards; fields as in `GalleryPayload`."""

    groups: Sequence[GroupItem]
    causes: Sequence[GridCauseItem]
    by_cause: bool
    verdicts: Sequence[Sequence[JudgedItem | None]]
    reviewer: str
    answered: str
    problem: str


def draw_cards(
    loaded: LoadedBoxes,
    cards: Sequence[CardItem],
    *,
    of: str,
    key: str,
    empty: str = "",
    aspect: float = crops.CARD_ASPECT,
    grid: GridPart | None = None,
    **on: Callable[[], None],
) -> None:
    """Draw cards in a part of a view; one that the reader opens is in `State.gallery_opened` when the part runs again.

    With it is the side of the card that was pressed, -1 for the whole. `of` is what they are cards of: another set
    forgets the crops. `aspect`: width of a crop over its height. `on`: callbacks of the events of `grid`.
    """
    by_key = {card.key: card for card in cards}
    places = {side.key: (card, at) for card in cards for at, side in enumerate(card.sides)}
    asked = [by_key[wanted] for wanted in state.gallery_wanted if wanted in by_key]

    def want() -> None:
        state.gallery_wanted = [*(gallery.events(report(key)).want or ())][:MOST_WANTED]

    def opened() -> None:
        pressed = gallery.events(report(key)).open or ""
        state.gallery_opened = places.get(pressed) or ((by_key[pressed], -1) if pressed in by_key else None)

    payload = GalleryPayload(
        set=of,
        cards=[msgspec.structs.replace(card, document=cut(card.document)) for card in cards],
        crops=crops_of(loaded, asked, aspect),
        empty=empty,
        **({} if grid is None else {name: getattr(grid, name) for name in grid.__slots__}),
    )
    gallery(payload, key=key, on_want=want, on_open=opened, **on)
    state.gallery_wanted = []


def crops_of(loaded: LoadedBoxes, cards: Sequence[CardItem], aspect: float = crops.CARD_ASPECT) -> dict[str, CropItem]:
    """Return crops of some cards, by their keys."""
    width = round(_CROP_WIDTH * max(aspect / crops.CARD_ASPECT, 1.0))
    return {
        card.key: crop(loaded, card.document, card.index, [box.xyxy for box in card.boxes], width=width, aspect=aspect)
        for card in cards
    }


def crop(
    loaded: LoadedBoxes,
    document: str,
    index: int,
    boxes: Sequence[Rect],
    *,
    width: int = _CROP_WIDTH,
    dpi: float = FIRST_DPI,
    aspect: float = crops.CARD_ASPECT,
) -> CropItem:
    """Return a page around some boxes (all for none), at most `width` pixels; an empty sheet if it fails."""
    corners = np.array(list(boxes) or [(0.0, 0.0, 1.0, 1.0)])
    # Of this session, with its passwords: fetched, a crop is made without a session.
    renderer = pictures.pool()
    try:
        page = pictures.pages_of(loaded, document).file(index)
        picture = pictures.awaited_image(renderer, page, dpi=dpi)
    except PageProblem as problem:
        part = crops.region(corners, _UNKNOWN_POINTS, aspect=aspect)
        # Of all pages alike: the view says it once, and no box is covered.
        title = None if problem.kind == "no_folder" else plain(problem.title)
        return CropItem(None, part, crops.aspect_of(part, _UNKNOWN_POINTS), title)
    points = (picture.page_width, picture.page_height)
    part = crops.region(corners, points, aspect=aspect)

    def make() -> bytes | None:
        # Asked for again rather than kept: the renderer has its last pictures.
        with contextlib.suppress(PageProblem):
            return crops.cut(pictures.awaited_image(renderer, page, dpi=dpi).jpeg, part, width=width)
        return None

    image = pictures.lazy_address(page, f"{part} {width} {dpi}", make)
    image = image or crops.data_url(crops.cut(picture.jpeg, part, width=width))
    return CropItem(image, part, crops.aspect_of(part, points), None)
