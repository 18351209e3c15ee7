"""The page browser: its filter, the mistakes that pass, the place in the list, and a page's layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.components.page_picture import page_text as read_text
from evaluator.components.payload import LostText
from evaluator.components.viewer import mistake_filter, page_overlay, text_lost
from evaluator.components.viewer.mistake_filter import MistakeColumns, MistakeFilter, PageList
from evaluator.components.viewer.page_strip import WINDOW
from evaluator.components.viewer.payload import (
    MistakeItem,
    PageLayers,
    PagePayload,
    VerdictEvent,
)
from evaluator.data.boxes import BoolArray, IntArray
from evaluator.matching.box_items import MATCHED_NAME, Query, Selection, Status
from evaluator.matching.error_types import DOCUMENT, NONE, MistakeOptions, Mistakes
from evaluator.pdf.problems import PageProblem
from evaluator.review.finding_groups import targets_of_causes
from evaluator.review.status import mistake_of
from evaluator.review.verdicts import ReviewedTarget, Target
from pages.app import pictures
from pages.app.cache import Cached
from pages.app.results import Result, most_kept, result_key, result_of
from pages.app.session_files import LoadedBoxes, Model, Place
from pages.app.state import FILTER, Field, State, go_to_page, reset, state
from pages.views.findings import findings

_KEPT_FILTERS: Final = 50


class PageOrder(NamedTuple):
    """What decides which pages are listed and how: another one starts at its first page."""

    chosen: MistakeFilter
    question: Query | None
    order: str
    only: bool


_ORDER_SHOWN: Final[Field[PageOrder | None]] = Field(None, "filter_shown")


# --- the filter ----------------------------------------------------------------------------------------------


def drop_unknown(loaded: LoadedBoxes) -> None:
    """Drop what the open files do not have."""
    if state.within not in loaded.dataset.document_code:
        state.within = ""
    labels = loaded.dataset.labels[: loaded.dataset.evaluated]
    if state.label not in labels:
        state.label = ""
    asked = state.gallery_question
    if asked is not None and asked.cause is not None and asked.cause.cause in ("alike", "single"):
        # As links had it while several mistakes of a page and one alone were two kinds.
        asked = msgspec.structs.replace(asked, cause=asked.cause._replace(cause="named"))
        state.gallery_question = asked
    if asked is not None:
        named = [label for label in (*(asked.cell or ()), asked.label) if label is not None]
        if any(label not in labels for label in named) or asked.name not in (None, MATCHED_NAME, *DOCUMENT):
            state.gallery_question = None


def chosen_filter() -> MistakeFilter:
    """Return the filter as it is set."""
    return MistakeFilter(
        document=state.within or None,
        names=tuple(state.mistake_names),
        label=state.label or None,
        score=state.score_range,
        iou=state.fit_range,
        size=state.size_range,
        unjudged=state.unjudged,
    )


def poor_match_options() -> MistakeOptions | None:
    """Return how mistakes are named: with poor matched pairs when asked for, else None."""
    if not state.poor or state.gallery_question is not None:
        return None
    return MistakeOptions(min_coverage=state.poor_coverage, min_purity=state.poor_purity)


def clear_filter() -> None:
    """Show everything again."""
    reset((*FILTER, State.gallery_question))


def save_filter(text: str) -> None:
    """Keep the current filter under a name; why it cannot be kept is noted with the name."""
    name, why = text.strip(), ""
    if not name:
        why = "A filter needs a name."
    elif name not in state.saved_filters and len(state.saved_filters) >= _KEPT_FILTERS:
        why = f"There are {_KEPT_FILTERS} saved filters already; delete one first."
    else:
        state.saved_filters = {**state.saved_filters, name: tuple(field.get() for field in FILTER)}
    state.filter_refused = (text, why)


def use_filter(name: str) -> None:
    """Set the filter to one that was saved."""
    for field, value in zip(FILTER, state.saved_filters[name], strict=True):
        field.set(value)


def delete_filter(name: str) -> None:
    """Delete a saved filter."""
    state.saved_filters = {each: kept for each, kept in state.saved_filters.items() if each != name}


# --- what passes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ModelMistakes:
    """One model at one operating point: what every page of it shares."""

    result: Result
    mistakes: Mistakes
    columns: MistakeColumns


@dataclass(frozen=True, slots=True, eq=False)
class ListedPages:
    """What the filter leaves: `keep` of the mistakes, `counts` by name under its other conditions, pages."""

    working: ModelMistakes
    chosen: MistakeFilter
    keep: BoolArray
    counts: IntArray
    pages: PageList
    asked: Selection | None = None
    said: str = ""

    @property
    def words(self) -> str:
        """Return what is listed, each number with its noun."""
        return self.said or mistake_filter.kept_words(self.working.columns, self.keep)


class Behind(NamedTuple):
    """What is behind a number that was opened: mistakes, bool (M,), boxes, items on each page, and it in words."""

    mistakes: BoolArray
    boxes: Selection | None
    per_page: IntArray
    words: str


def model_mistakes(loaded: LoadedBoxes, model: Model) -> ModelMistakes:
    """Return the mistakes of a model at the operating point."""
    named = poor_match_options()
    poor = (state.poor_coverage, state.poor_purity) if named is not None else None
    return _working(loaded, model, poor, named)


def all_mistakes(loaded: LoadedBoxes, model: Model) -> MistakeColumns:
    """Return all mistakes of a model at the operating point, whatever the filter."""
    return _working(loaded, model, None, None).columns


def open_all_of(
    model: Model, *, within: str = "", label: str = "", name: str = "", status: Status | None = None
) -> None:
    """Show all mistakes of a model that a number counts; with a status the boxes that it counts, of a label or all."""
    clear_filter()
    if status is not None:
        state.gallery_question, label = Query(status=status, label=label or None), ""
    state.model = model.index
    state.within, state.label, state.mistake_names = within, label, [name] if name else []
    state.order, state.doc, state.box, state.page = "worst", None, None, None


def open_unjudged() -> None:
    """Show all mistakes without a verdict, in Grid."""
    clear_filter()
    state.unjudged, state.gallery_third, state.gallery_sheet = True, "", 0


_WORKING: Final = Cached[ModelMistakes](16, spinner="Naming the mistakes")


def _working(
    loaded: LoadedBoxes, model: Model, poor: tuple[float, float] | None, options: MistakeOptions | None
) -> ModelMistakes:
    def named() -> ModelMistakes:
        result = result_of(loaded, model)
        mistakes = mistake_filter.mistakes_of(result, options)
        return ModelMistakes(result, mistakes, mistake_filter.mistake_columns(result, mistakes))

    return _WORKING.of((result_key(loaded, model), poor), named, most=most_kept(loaded.dataset, len(loaded.models)))


def list_pages(loaded: LoadedBoxes, model: Model, behind: Behind | None = None) -> ListedPages:
    """Return the mistakes and pages that the filter keeps, of those behind an opened number."""
    own, chosen = model_mistakes(loaded, model), chosen_filter()
    verdicts = has_verdict(loaded, model) if chosen.unjudged else None
    dataset = loaded.dataset
    keep = mistake_filter.passing(own.columns, dataset, chosen, judged=verdicts)
    if behind is not None:
        keep &= behind.mistakes
    pages = mistake_filter.page_list(
        dataset,
        np.bincount(own.columns.page[keep], minlength=dataset.pages) if behind is None else behind.per_page,
        document=chosen.document,
        pdf_pages=(pictures.page_count(loaded, chosen.document) or 0) if chosen.document else 0,
        only_mistakes=state.only or chosen.narrows or behind is not None,
        worst_first=state.order == "worst",
    )
    counts = mistake_filter.name_counts(own.columns, dataset, chosen, judged=verdicts)
    if behind is None:
        return ListedPages(own, chosen, keep, counts, pages)
    return ListedPages(own, chosen, keep, counts, pages, behind.boxes, behind.words)


def find_place(shown: ListedPages) -> Place | None:
    """Return the page of the address or of the last run, else the first of the list; None without."""
    # A page that a filter hides gives way, but not to moved thresholds, nor one that a link names without a filter.
    pages, order = shown.pages, PageOrder(shown.chosen, state.gallery_question, state.order, state.only)
    same = _ORDER_SHOWN.get() == order or (state.linked and not shown.chosen.narrows and not shown.said)
    _ORDER_SHOWN.set(order)
    document, index = state.doc, state.page or 0
    if document is None:
        return Place(*pages.at(0)) if len(pages) else None
    if pages.position(document, index) is not None or (same and document in pages.dataset.document_code):
        return Place(document, index)
    return Place(*pages.at(0)) if len(pages) else None


def turn(shown: ListedPages, document: str, index: int, step: int) -> None:
    """Go some pages on in the list, or to a page."""
    place = shown.pages.on_from(document, index, step) if step else (document, index)
    if place is not None:
        go_to_page(*place)


def turn_to_mistake(shown: ListedPages, document: str, index: int, step: int) -> None:
    """Go to the next page with a mistake, after the last to the first, and choose its first or last mistake."""
    place = shown.pages.on_to_mistake(document, index, step)
    if place is not None:
        go_to_page(*place)
        state.box = "first" if step > 0 else "last"


def chosen_box(mistakes: Sequence[MistakeItem]) -> str | None:
    """Return the chosen box of the page; "first" and "last" of its mistakes become a box."""
    if state.box in ("first", "last"):
        keys = [mistake.keys[0] for mistake in mistakes]
        state.box = (keys[0] if state.box == "first" else keys[-1]) if keys else None
    return state.box


def with_verdict(loaded: LoadedBoxes, model: Model, mistakes: Mistakes) -> BoolArray:
    """Return which mistakes have a verdict of anybody, bool, shape (M,)."""
    judged = np.zeros(len(mistakes), dtype=bool)
    judged[[*said_of_mistakes(loaded, model, mistakes)]] = True
    return judged


def said_of_mistakes(loaded: LoadedBoxes, model: Model, mistakes: Mistakes) -> dict[int, ReviewedTarget]:
    """Return what reviewers said of mistakes, by their number."""
    statuses = findings.statuses(loaded, findings.review_log())
    said = ((mistake_of(status, mistakes, model.index), status.judged) for status in statuses)
    return {number: judged for number, judged in said if number != NONE}


def has_verdict(loaded: LoadedBoxes, model: Model) -> BoolArray:
    """Return which mistakes of a model have a verdict, in the order of its mistakes, but for what is judged now."""
    mistakes = model_mistakes(loaded, model).mistakes
    judged = with_verdict(loaded, model, mistakes)
    # The reviewer may still be typing a note on what was judged a moment ago: it is listed until another is chosen.
    here = state.judged_here
    if here is not None and here == (state.doc, state.page, state.box):
        number = mistakes.of_box(here[2])
        if number != NONE:
            cause_of = result_of(loaded, model).causes.of_mistake
            judged[cause_of == cause_of[number] if len(cause_of) == len(judged) else number] = False
    return judged


def judged_places(loaded: LoadedBoxes, model: Model, shown: ListedPages) -> tuple[int, int]:
    """Return how many places have a mistake that passes, and how many of them only mistakes with a verdict."""
    place_of = mistake_filter.place_of_each(shown.working.columns)
    without = shown.keep & ~with_verdict(loaded, model, shown.working.mistakes)
    every, still = (len(np.unique(place_of[some])) for some in (shown.keep, without))
    return every, every - still


def judged_causes(loaded: LoadedBoxes, model: Model) -> BoolArray:
    """Return which causes of a result have only mistakes with a verdict, bool, shape (K,)."""
    result = result_of(loaded, model)
    without = result.causes.of_mistake[~with_verdict(loaded, model, result.mistakes)]
    return np.asarray(np.bincount(without, minlength=len(result.causes)) == 0)


def judged_on_pages(loaded: LoadedBoxes, model: Model, shown: ListedPages, first: int) -> list[int]:
    """Return how many mistakes that pass have a verdict, for the pages of the strip that begins at a place."""
    judged = shown.keep & with_verdict(loaded, model, shown.working.mistakes)
    counts = np.bincount(shown.working.columns.page[judged], minlength=loaded.dataset.pages)
    places = range(first, min(first + WINDOW, len(shown.pages)))
    rows = (loaded.dataset.page_row(*shown.pages.at(at)) for at in places)
    return [0 if row is None else int(counts[row]) for row in rows]


def targets_alike(loaded: LoadedBoxes, model: Model, event: VerdictEvent) -> dict[str, Target]:
    """Return the mistakes of all places like the one that a verdict is on, by verdict identity."""
    result = result_of(loaded, model)
    number = result.mistakes.of_box(event.keys[0]) if event.keys else NONE
    if number == NONE:
        return {}
    rows = result.causes.alike[result.causes.family(int(result.causes.of_mistake[number]))]
    return targets_of_causes(result, rows, findings.review_log())


def with_verdicts(loaded: LoadedBoxes, model: Model, place: Place, payload: PagePayload) -> PagePayload:
    """Return the payload with the verdicts on each mistake; a poor match cannot be judged."""
    payload = findings.on_page(loaded, model, place, payload)
    mistakes = [
        msgspec.structs.replace(each, target=None, verdict=None, unsaved=None) if each.tags == ["TP"] else each
        for each in payload.mistakes
    ]
    return msgspec.structs.replace(payload, mistakes=mistakes, verdicts=True)


# --- what is drawn -------------------------------------------------------------------------------------------


def page_text(loaded: LoadedBoxes, place: Place) -> text_lost.PageText | None:
    """Return the words of a page, or its ink where it has none; None when the page cannot be read, or not yet."""
    try:
        page = pictures.pages_of(loaded, place.document).file(place.index)
        patience = pictures.patience(pictures.TEXT_PATIENCE)
        return read_text(pictures.pool(), page, patience=patience)
    except PageProblem:
        return None


def page_layers(
    loaded: LoadedBoxes,
    shown: ListedPages,
    place: Place,
    page_points: tuple[float, float] | None,
    text: text_lost.PageText | None,
) -> tuple[PageLayers, LostText]:
    """Return boxes, mistakes and counts of a page, and its lost text; `text` is of `page_text`."""
    label, result = shown.chosen.label, shown.working.result
    row = loaded.dataset.page_row(place.document, place.index)
    page = -1 if row is None else row
    layer = page_overlay.page_data(
        result,
        page,
        labels=[label] if label is not None and label in result.matching.labels else None,
        page_points=page_points,
        kept=page_overlay.FilteredMistakes(shown.working.mistakes, shown.keep, shown.asked),
        text=text,
        # Poor matches are mistakes of this list alone; causes are those of the result.
        causes=result.causes if shown.working.mistakes is result.mistakes else None,
    )
    return layer, page_overlay.lost_text(result, page, text)
