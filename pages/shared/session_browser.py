"""What the page browser holds: its filter, the mistakes that pass, the place in the list, and what is drawn of a page.

The filter stands in the address and in the session state; results that many pages share are cached by the digests of
the files and the operating point. Neighbours of the shown page are prepared in the background, so that a page turn
finds its picture and its words ready.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
import streamlit as st

from evaluator.drawing import layers, mistake_filter, text_lost
from evaluator.drawing.mistake_filter import WHOLE, MistakeColumns, MistakeFilter, PageList
from evaluator.drawing.payloads import LostText, MistakeItem, PageLayers, PagePayload, WalkItem
from evaluator.metrics.error_types import DOCUMENT, NONE, MistakeOptions, Mistakes
from evaluator.model.boxes import BoolArray, IntArray
from evaluator.pdf.problems import PageProblem
from evaluator.protocols import snapshot
from pages.shared import session
from pages.shared import session_findings as findings

POOR: Final = 0.7
_RANGES: Final = ("score", "fit", "size")
_KEPT_FILTERS: Final = 50
# Keys of the filter in the session state with the values that keep everything.
_OFF: Final[Mapping[str, Any]] = {
    "within": "",
    "label": "",
    "only": False,
    "mistake_names": [],
    "score_range": WHOLE,
    "fit_range": WHOLE,
    "size_range": WHOLE,
    "unjudged": False,
    "poor": False,
    "poor_coverage": POOR,
    "poor_purity": POOR,
}


# --- the filter ----------------------------------------------------------------------------------------------


def _names_of(text: str) -> list[str]:
    """Names of mistakes from the address; ValueError for one that is none."""
    names = text.split(",")
    if any(name not in DOCUMENT for name in names):
        raise ValueError(text)
    return names


def _range_of(text: str) -> tuple[float, float]:
    """A range such as ``0.35-1``; ValueError for anything else."""
    low, _, high = text.partition("-")
    bounds = float(low), float(high)
    if not 0.0 <= bounds[0] <= bounds[1] <= 1.0:
        raise ValueError(text)
    return bounds


def _yes(text: str) -> bool:
    """A switch that is on; ValueError for anything but ``yes``."""
    if text != "yes":
        raise ValueError(text)
    return True


def _share(text: str) -> float:
    """A share; ValueError out of [0, 1]."""
    value = float(text)
    if not 0.0 <= value <= 1.0:
        raise ValueError(text)
    return value


for _name, _key, _read in (
    ("mistakes", "mistake_names", _names_of),
    *((name, f"{name}_range", _range_of) for name in _RANGES),
    ("unjudged", "unjudged", _yes),
    ("poor", "poor", _yes),
    ("coverage", "poor_coverage", _share),
    ("purity", "poor_purity", _share),
):
    session.own_choice(_name, _key, _OFF[_key], _read)


def settle_filter(found: session.Opened) -> None:
    """Take away what the open files do not have, and write each choice again for widgets that start anew."""
    documents = {document.doc_id for document in found.dataset.documents}
    labels = found.dataset.labels[: found.dataset.evaluated]
    for key, off in _OFF.items():
        st.session_state[key] = st.session_state.get(key, off)
    if st.session_state["within"] not in documents:
        st.session_state["within"] = ""
    if st.session_state["label"] not in labels:
        st.session_state["label"] = ""
    if st.session_state.get("order") not in ("worst", "page"):
        st.session_state["order"] = "worst"


def chosen_filter() -> MistakeFilter:
    """The filter as it is set."""
    state = st.session_state
    return MistakeFilter(
        document=state["within"] or None,
        names=tuple(state["mistake_names"] or ()),
        label=state["label"] or None,
        score=tuple(state["score_range"]),
        iou=tuple(state["fit_range"]),
        size=tuple(state["size_range"]),
        unjudged=bool(state["unjudged"]),
    )


def options() -> MistakeOptions | None:
    """How mistakes are named: with poor matched pairs when they are asked for."""
    state = st.session_state
    if not state.get("poor"):
        return None
    return MistakeOptions(min_coverage=float(state["poor_coverage"]), min_purity=float(state["poor_purity"]))


def clear_filter() -> None:
    """Everything shows again."""
    for key, off in _OFF.items():
        st.session_state[key] = off


def saved_filters() -> dict[str, dict[str, Any]]:
    """The filters of this session by their names."""
    found: dict[str, dict[str, Any]] = st.session_state.setdefault("saved_filters", {})
    return found


def save_filter(name: str) -> str | None:
    """Keep the filter of the moment under a name; what is wrong when it cannot be kept."""
    name = name.strip()
    if not name:
        return "A filter needs a name."
    saved = saved_filters()
    if name not in saved and len(saved) >= _KEPT_FILTERS:
        return f"There are {_KEPT_FILTERS} saved filters already; delete one first."
    saved[name] = {key: st.session_state[key] for key in _OFF}
    return None


def use_filter(name: str) -> None:
    """Set the filter to one that was saved."""
    for key, value in saved_filters()[name].items():
        st.session_state[key] = value


def forget_filter(name: str) -> None:
    """Delete a saved filter."""
    saved_filters().pop(name, None)


def filter_address() -> dict[str, str | None]:
    """The filter as it stands in the address; None for what keeps everything."""
    state, written = st.session_state, chosen_filter()
    ranges = {"score": written.score, "fit": written.iou, "size": written.size}
    poor = bool(state["poor"])
    return {
        "within": state["within"] or None,
        "label": state["label"] or None,
        "order": None if state["order"] == "worst" else state["order"],
        "only": "yes" if state["only"] else None,
        "mistakes": ",".join(written.names) or None,
        **{name: None if bounds == WHOLE else f"{bounds[0]:g}-{bounds[1]:g}" for name, bounds in ranges.items()},
        "unjudged": "yes" if written.unjudged else None,
        "poor": "yes" if poor else None,
        "coverage": f"{state['poor_coverage']:g}" if poor and state["poor_coverage"] != POOR else None,
        "purity": f"{state['poor_purity']:g}" if poor and state["poor_purity"] != POOR else None,
    }


# --- what passes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Working:
    """One model at one operating point: what every page of it shares.

    Attributes
    ----------
    result : ThresholdResult
    mistakes : Mistakes
    columns : MistakeColumns
    """

    result: snapshot.ThresholdResult
    mistakes: Mistakes
    columns: MistakeColumns


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """What the filter leaves.

    Attributes
    ----------
    working : Working
    chosen : MistakeFilter
    keep : bool, shape (M,)
    counts : int64, shape (9,)
        Mistakes of each name under the other conditions.
    pages : PageList
    """

    working: Working
    chosen: MistakeFilter
    keep: BoolArray
    counts: IntArray
    pages: PageList


def working(found: session.Opened, model: session.Model) -> Working:
    """The mistakes of a model at the operating point."""
    named = options()
    poor = None if named is None else (named.min_coverage, named.min_purity)
    key = (*session.result_key(found, model), poor)
    return _working(key, _options=named, _result=lambda: session.result_of(found, model))


@st.cache_resource(max_entries=16, show_spinner="Naming the mistakes")
def _working(
    key: tuple[Any, ...], *, _options: MistakeOptions | None, _result: Callable[[], snapshot.ThresholdResult]
) -> Working:
    """The mistakes of a result; `key` says which result and how they are named."""
    result = _result()
    mistakes = mistake_filter.named(result, _options)
    return Working(result, mistakes, mistake_filter.mistake_columns(result, mistakes))


def listed(found: session.Opened, model: session.Model) -> Listed:
    """The mistakes and pages that the filter keeps."""
    own, chosen = working(found, model), chosen_filter()
    with_verdict = judged(found, model) if chosen.unjudged else None
    dataset = found.dataset
    keep = mistake_filter.passing(own.columns, dataset, chosen, judged=with_verdict)
    pages = mistake_filter.page_list(
        own.result,
        own.columns,
        keep,
        document=chosen.document,
        label=chosen.label,
        pdf_pages=(session.page_count(found, chosen.document) or 0) if chosen.document else 0,
        only_mistakes=bool(st.session_state["only"]),
        worst_first=st.session_state["order"] == "worst",
    )
    counts = mistake_filter.name_counts(own.columns, dataset, chosen, judged=with_verdict)
    return Listed(own, chosen, keep, counts, pages)


def find_place(shown: Listed) -> session.Place | None:
    """The page that is shown: the one of the address or of the last run, else the first of the list.

    A page that a changed filter hides gives way to the first one. One that a link names stays although the filter
    hides it, and so does the page of the moment when only the thresholds have moved.
    """
    state, pages = st.session_state, shown.pages
    order = (shown.chosen, state["order"], state["only"])
    same = session.linked() or state.get("filter_shown") == order
    state["filter_shown"] = order
    document, index = state.get("doc"), int(state.get("page") or 0)
    if document is not None and (pages.position(document, index) is not None or (same and _known(pages, document))):
        return session.Place(document, index)
    return session.Place(*pages.at(0)) if len(pages) else None


def _known(pages: PageList, document: str) -> bool:
    """Whether the dataset has a document."""
    return any(each.doc_id == document for each in pages.dataset.documents)


def turn(shown: Listed, document: str, index: int, step: int) -> None:
    """Go some pages on in the list; from a page outside of it, as if it stood before the first."""
    here = shown.pages.position(document, index)
    if step == 0:
        session.go_to(document, index)
    elif len(shown.pages):
        place = (here if here is not None else -1) + step
        session.go_to(*shown.pages.at(min(max(place, 0), len(shown.pages) - 1)))


def turn_to_mistake(shown: Listed, document: str, index: int, step: int) -> bool:
    """Go to the next page of the list with a mistake, and choose the first or last one there; False without one."""
    here = shown.pages.position(document, index)
    position = shown.pages.with_mistakes(-1 if here is None else here, step)
    if position is None:
        return False
    session.go_to(*shown.pages.at(position))
    st.session_state["box"] = "first" if step > 0 else "last"
    return True


def settle_box(mistakes: Sequence[MistakeItem]) -> str | None:
    """The chosen box of the page; "first" and "last" of its mistakes become a box."""
    box = st.session_state.get("box")
    if box in ("first", "last"):
        keys = [mistake.keys[0] for mistake in mistakes]
        box = (keys[0] if box == "first" else keys[-1]) if keys else None
        st.session_state["box"] = box
    return box if isinstance(box, str) else None


def judged(found: session.Opened, model: session.Model) -> BoolArray:
    """Which mistakes of a model have a verdict, bool, in the order of its mistakes."""
    mistakes = working(found, model).mistakes
    said = np.zeros(len(mistakes), dtype=bool)
    for standing in findings.standings(found):
        if standing.model != model.index or standing.box_key is None or not standing.judged.opinions:
            continue
        of = mistakes.of_truth if standing.box_key[0] == "g" else mistakes.of_prediction
        number = of[int(standing.box_key[1:])]
        if number != NONE:
            said[number] = True
    return said


def with_verdicts(
    found: session.Opened, model: session.Model, place: session.Place, payload: PagePayload
) -> PagePayload:
    """The viewer's payload with what was said about each mistake; a poor match is none that can be judged."""
    told = findings.on_page(found, model, place, payload)
    mistakes = [
        msgspec.structs.replace(each, target=None, verdict=None, unsaved=None) if each.tags == ["TP"] else each
        for each in told.mistakes
    ]
    return msgspec.structs.replace(told, mistakes=mistakes, verdicts=True)


# --- what is drawn -------------------------------------------------------------------------------------------


def page_text(found: session.Opened, place: session.Place) -> text_lost.PageText | None:
    """The words of a page, or its ink where it has none; None when the page cannot be read."""
    try:
        path = session.document_path(found, place.document)
        words = session.pool().words(path, place.index)
        ink = None if len(words.texts) else session.pool().ink(path, place.index)
    except PageProblem:
        return None
    return text_lost.PageText(words, ink)


def drawn(
    found: session.Opened,
    shown: Listed,
    place: session.Place,
    page_points: tuple[float, float] | None,
) -> tuple[PageLayers, LostText]:
    """Boxes, mistakes and counts of a page for the viewer, and its lost text."""
    label, result, text = shown.chosen.label, shown.working.result, page_text(found, place)
    row = found.dataset.page_row(place.document, place.index)
    page = -1 if row is None else row
    layer = layers.page_data(
        result,
        page,
        labels=[label] if label in result.matching.labels else None,
        page_points=page_points,
        kept=layers.Kept(shown.working.mistakes, shown.keep),
        text=text,
    )
    return layer, layers.lost_text(result, page, text)


class _Preparer:
    """One thread that asks for pages before they are wanted; only the latest wish counts."""

    def __init__(self) -> None:
        self._wish: list[Callable[[], None]] = []
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True, name="page preparer")
        self._thread.start()

    def wish(self, tasks: Sequence[Callable[[], None]]) -> None:
        with self._wake:
            self._wish = list(tasks)
            self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._wish:
                    self._wake.wait()
                task = self._wish.pop(0)
            task()


@st.cache_resource(show_spinner=False)
def _preparer() -> _Preparer:
    """The preparing thread of this process."""
    return _Preparer()


def prepare_neighbours(found: session.Opened, shown: Listed, place: session.Place) -> None:
    """Have the next and the previous page drawn in the background."""
    here = shown.pages.position(place.document, place.index)
    if here is None:
        return
    neighbours = [at for at in (here + 1, here - 1, here + 2) if 0 <= at < len(shown.pages)]
    tasks = []
    for at in neighbours:
        document, index = shown.pages.at(at)
        try:
            path = session.document_path(found, document)
        except PageProblem:
            continue
        tasks.append(session.preparation(path, index))
    _preparer().wish(tasks)


def walk(shown: Listed, position: int | None) -> WalkItem:
    """Whether mistakes follow on later and earlier pages of the list, and how many there are in all."""
    pages = shown.pages
    here = -1 if position is None else position
    return WalkItem(
        before=pages.with_mistakes(here, -1) is not None,
        after=pages.with_mistakes(here, 1) is not None,
        total=int(pages.mistakes.sum()),
    )
