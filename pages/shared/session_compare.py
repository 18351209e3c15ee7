"""What the view Compare holds: its filter, its way to look, and the cached results of two models.

The filter and the way to look stand in the address beside the operating point, document, page and label that all views
share. Caches are keyed by the digests of the files and the thresholds, so that both models, swapped or not, are worked
out once.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import streamlit as st

from evaluator.compare import differences, from_results
from evaluator.compare.differences import Difference
from evaluator.compare.ledger import Ledger, ledger
from evaluator.compare.measures import Measures
from evaluator.drawing import pair, pair_list
from evaluator.drawing.board import TABLE_METRICS
from evaluator.drawing.payloads import LinkItem
from evaluator.model.boxes import IntArray
from evaluator.protocols import snapshot
from pages.shared import session
from pages.shared.linked_panes import MODES

SHOW: Final = "pair_show"
MODE: Final = "pair_mode"
PART: Final = "pair_part"
PARTS: Final = ("mistakes", "classes", "pixels")
"""What is shown below the pages: named mistakes, which labels are taken for which, which pixels."""


session.own_choice("show", SHOW, "changed", session.one_of(tuple(pair.PAGE_FILTERS)))
session.own_choice("look", MODE, "side", session.one_of(MODES))
session.own_choice("below", PART, "mistakes", session.one_of(PARTS))


# --- choices -------------------------------------------------------------------------------------------------


def settle(found: session.Opened) -> None:
    """Take away what the open files do not have, and write each choice again for widgets that start anew."""
    documents = {document.doc_id for document in found.dataset.documents}
    state = st.session_state
    state["within"] = state.get("within") if state.get("within") in documents else ""
    state["label"] = state.get("label") if state.get("label") in found.dataset.labels[: found.dataset.evaluated] else ""
    for key, start in ((SHOW, "changed"), (MODE, "side"), (PART, "mistakes")):
        state[key] = state.get(key) or start


def show() -> str:
    """The filter of the page list, a name of `pair.PAGE_FILTERS`."""
    return str(st.session_state.get(SHOW, "changed"))


def mode() -> str:
    """The way to look at the two pages, one of `MODES`."""
    return str(st.session_state.get(MODE, "side"))


def part() -> str:
    """What is shown below the pages, one of `PARTS`."""
    return str(st.session_state.get(PART) or "mistakes")


def choose_show(name: str) -> None:
    """List other pages, from the first one."""
    st.session_state[SHOW] = name
    st.session_state["doc"] = st.session_state["box"] = None
    st.session_state["pair_whole"] = True


def touches_everything() -> bool:
    """Whether the last choice changes more than the pages, such as the mark on the board; told once."""
    return bool(st.session_state.pop("pair_whole", False))


def choose_mode(name: str) -> None:
    """Note the way to look."""
    st.session_state[MODE] = name


def open_door(door: LinkItem) -> None:
    """List the pages behind a number of the board, which counts all documents, and bring them into the window."""
    choose_show(door.show)
    st.session_state["label"] = door.label
    st.session_state["within"] = ""
    st.session_state["pair_visits"] = visits() + 1


def ask_mistakes(name: str) -> None:
    """Filter the Page browser by a name of mistakes, and go there as soon as a callback has ended."""
    st.session_state["mistake_names"] = [name]
    st.session_state["box"] = st.session_state["doc"] = None
    st.session_state["pair_mistakes"] = name


def asked_mistakes() -> str | None:
    """The name of mistakes whose pages are to be opened in the Page browser; told once."""
    name: str | None = st.session_state.pop("pair_mistakes", None)
    return name


def visits() -> int:
    """How many numbers of the board were opened in this session."""
    return int(st.session_state.get("pair_visits", 0))


def clear() -> None:
    """Every changed page again."""
    choose_show("changed")
    st.session_state["label"] = st.session_state["within"] = ""


def swap() -> None:
    """A becomes B, with its score threshold."""
    state = st.session_state
    state["model_a"], state["model_b"] = state.get("model_b", 1), state.get("model_a", 0)
    state["score_a"], state["score_b"] = state.get("score_b", 0.0), state.get("score_a", 0.0)
    state["box"] = None


def make_b(index: int) -> None:
    """Compare A with another model; A itself and B stay what they are."""
    state = st.session_state
    if index not in (state.get("model_a", 0), state.get("model_b", 1)):
        state["model_b"], state["score_b"], state["box"] = index, 0.0, None


def finish(place: session.Place | None) -> str:
    """Write what the view shows into the address bar; the query of the address."""
    state = st.session_state
    if place is not None:
        state["doc"], state["page"] = place.document, place.index
    return session.finish(
        doc=place.document if place else None,
        page=str(place.index + 1) if place else None,
        show=None if show() == "changed" else show(),
        look=None if mode() == "side" else mode(),
        below=None if part() == "mistakes" else part(),
        label=state.get("label") or None,
        within=state.get("within") or None,
        box=state.get("box"),
    )


def shown_place(found: session.Opened) -> session.Place | None:
    """The page that the last run showed; None for none."""
    document = st.session_state.get("doc")
    known = any(each.doc_id == document for each in found.dataset.documents)
    return session.Place(str(document), int(st.session_state.get("page") or 0)) if known else None


# --- results -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Two models at one operating point.

    Attributes
    ----------
    chosen : (Model, Model)
        A and B.
    results : (ThresholdResult, ThresholdResult)
    ledger : Ledger
        Of everything.
    listed : Ledger
        Of the chosen label and document.
    differences : tuple of Difference
    """

    chosen: tuple[session.Model, session.Model]
    results: tuple[snapshot.ThresholdResult, snapshot.ThresholdResult]
    ledger: Ledger
    listed: Ledger
    differences: tuple[Difference, ...]


def compared(found: session.Opened) -> Compared:
    """The two chosen models under the thresholds, the label and the document of this session."""
    first, second = session.models(found)
    results = session.result_of(found, first), session.result_of(found, second)
    keys = session.result_key(found, first), session.result_key(found, second)
    whole = _ledger(*keys, _results=results)
    label, within = st.session_state.get("label") or None, st.session_state.get("within") or None
    return Compared(
        (first, second),
        results,
        whole,
        _only(*keys, label, within, _ledger=whole) if label or within else whole,
        _differences(*keys, _measures=lambda: (_measured(found, first), _measured(found, second))),
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _ledger(
    first: tuple[Any, ...],
    second: tuple[Any, ...],
    *,
    _results: tuple[snapshot.ThresholdResult, snapshot.ThresholdResult],
) -> Ledger:
    """The ledger of two results; the keys say which."""
    return ledger(*_results)


@st.cache_resource(max_entries=16, show_spinner=False)
def _only(
    first: tuple[Any, ...], second: tuple[Any, ...], label: str | None, within: str | None, *, _ledger: Ledger
) -> Ledger:
    """The part of a ledger that the page list is about."""
    return _ledger.only(
        labels=None if label is None else {label},
        documents=None if within is None else {within},
    )


def _measured(found: session.Opened, model: session.Model) -> Measures:
    """What the numbers of a model are made of."""
    return _measures(session.result_key(found, model), _result=session.result_of(found, model))


@st.cache_resource(max_entries=8, show_spinner=False)
def _measures(key: tuple[Any, ...], *, _result: snapshot.ThresholdResult) -> Measures:
    """The sums by document of a result; `key` says which."""
    return from_results.box_measures(_result)


@st.cache_resource(max_entries=32, show_spinner="Resampling the documents")
def _differences(
    first: tuple[Any, ...],
    second: tuple[Any, ...],
    *,
    _measures: Callable[[], tuple[Measures, Measures]],
) -> tuple[Difference, ...]:
    """The differences that the board shows, with their intervals."""
    a, b = _measures()
    keys = [key for key in a.keys if key.metric in TABLE_METRICS]
    return differences.differences(a, b, keys=keys)


@dataclass(frozen=True, slots=True)
class OneOfMany:
    """A model in the table of all of them.

    Attributes
    ----------
    model : Model
        With the letter of its place; A and B are the chosen pair.
    result : ThresholdResult
    differences : dict of Difference
        Against A, over all labels, by metric; empty for A itself.
    """

    model: session.Model
    result: snapshot.ThresholdResult
    differences: dict[str, Difference]


def every_model(found: session.Opened) -> list[OneOfMany]:
    """All open models, the chosen pair first, each against A; models beside the pair keep every score."""
    pair_ = session.models(found)
    others = [index for index in range(len(found.names)) if index not in {model.index for model in pair_}]
    letters = string.ascii_uppercase[len(pair_) :]
    rest = [session.Model(index, found.names[index], letter) for index, letter in zip(others, letters, strict=False)]
    first = pair_[0]
    rows = []
    for model in (*pair_, *rest):
        found_differences = (
            _differences(
                session.result_key(found, first),
                session.result_key(found, model),
                _measures=lambda model=model: (_measured(found, first), _measured(found, model)),  # type: ignore[misc]
            )
            if model is not first
            else ()
        )
        overall = {one.metric: one for one in found_differences if one.overall}
        rows.append(OneOfMany(model, session.result_of(found, model), overall))
    return rows


# --- the page list -------------------------------------------------------------------------------------------


def place_in(both: Compared, rows: IntArray) -> int | None:
    """Position of the page that is shown among the listed rows; the first when it is not listed, None without any."""
    if not len(rows):
        return None
    dataset = both.ledger.dataset
    row = dataset.page_row(str(st.session_state.get("doc")), int(st.session_state.get("page") or 0))
    here = np.flatnonzero(rows == row) if row is not None else np.empty(0, dtype=np.int64)
    return int(here[0]) if len(here) else 0


def place_of(both: Compared, row: int) -> session.Place:
    """Document and page index of a row of pages."""
    dataset = both.ledger.dataset
    return session.Place(dataset.documents[dataset.page_document[row]].doc_id, int(dataset.page_index[row]))


def turn(both: Compared, document: str, index: int, step: int) -> None:
    """Go some pages on in the list, or to a page."""
    rows = pair_list.listed_pages(both.listed, show())
    if step and len(rows):
        here = place_in(both, rows) or 0
        place = place_of(both, int(rows[min(max(here + step, 0), len(rows) - 1)]))
        session.go_to(place.document, place.index)
    elif not step:
        session.go_to(document, index)
