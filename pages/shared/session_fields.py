"""What the view Fields has open and has chosen: files of both sides, comparisons in the cache, filter and place.

Comparisons are shared by all sessions under the digests of their files; a threshold is never part of the key, because
stored observations are scored again at any of them. Choices stand in the address under the words of `_ADDRESS`.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import streamlit as st

from evaluator.drawing import fields as overlay
from evaluator.drawing.payloads import PictureItem
from evaluator.formats import fields as reader
from evaluator.model.boxes import IntArray
from evaluator.model.fields import FieldDocuments
from evaluator.model.issues import BadInput, Issue, plain
from evaluator.protocols import fields
from evaluator.protocols.fields.drill_down import DOORS, LEAST_SURE, FieldPages, behind
from evaluator.protocols.fields.types import ApCurves, ap_curves
from pages.shared import session

IOU_RANGE: Final = (0.05, 0.95)
BUDGETS: Final = (1, 100)
VIEW: Final = "fields"
AUTO: Final = "auto"
PRESETS: Final = (0.5, 0.75)
STRIP_PAGES: Final = 200
LETTERS: Final = string.ascii_uppercase
PROBLEMS: Final = "problems"
# Doors whose rows are not all problems: the list beside the page then keeps all problems of the page.
_MIXED: Final = ("ground_truth", "predictions", "true_positive", "value_right_box_right")


def _threshold(text: str) -> float:
    """Reads an IoU threshold of an address."""
    value = float(text)
    if not IOU_RANGE[0] <= value <= IOU_RANGE[1]:
        raise ValueError(text)
    return value


def _whole(low: int, high: int) -> Callable[[str], int]:
    """Reads a whole number of an address."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
            raise ValueError(text)
        return int(text)

    return read


# Name in the address, key in the session, start, and what reads it.
_ADDRESS: Final[tuple[tuple[str, str, Any, Callable[[str], Any]], ...]] = (
    ("field_iou", "field_iou", fields.IOU_THRESHOLDS[0], _threshold),
    ("field", "field_label", "", str),
    ("behind", "field_door", PROBLEMS, session.one_of(tuple(DOORS))),
    ("budget", "field_budget", 20, _whole(*BUDGETS)),
    ("field_within", "field_within", "", str),
    ("field_doc", "field_doc", None, str),
    ("field_page", "field_page", 1, _whole(1, 10**9)),
    ("field_box", "field_box", None, str),
    ("unit", "field_unit", AUTO, session.one_of((AUTO, *overlay.UNITS))),
)
for _word, _place, _begins, _reads in _ADDRESS:
    session.own_choice(_word, _place, _begins, _reads)


@dataclass(frozen=True, slots=True)
class FieldSource:
    """The fields of one side, readable or not.

    Attributes
    ----------
    name : str
    documents : FieldDocuments or None
        None when the files have errors.
    issues : tuple of Issue
    """

    name: str
    documents: FieldDocuments | None
    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class FieldFiles:
    """All files of the view.

    Attributes
    ----------
    ground_truth : FieldSource or None
    predictions : tuple of FieldSource
    pdfs : Path or None
    """

    ground_truth: FieldSource | None
    predictions: tuple[FieldSource, ...]
    pdfs: Path | None


@dataclass(frozen=True, slots=True)
class FieldModel:
    """One prediction against the ground truth.

    Attributes
    ----------
    letter, name : str
    result : FieldsResult
        At the thresholds of the specification; other thresholds are asked of it.
    pages : FieldPages
    key : tuple of str
        Digests of both sides.
    """

    letter: str
    name: str
    result: fields.FieldsResult
    pages: FieldPages
    key: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Opened:
    """What can be evaluated: A and, when there are two, B.

    Attributes
    ----------
    models : tuple of FieldModel
    names : tuple of str
        Of every prediction that can be read.
    issues : tuple of Issue
        Of all files and pairs.
    files : FieldFiles
    """

    models: tuple[FieldModel, ...]
    names: tuple[str, ...]
    issues: tuple[Issue, ...]
    files: FieldFiles


# --- files ---------------------------------------------------------------------------------------------------


def files() -> FieldFiles:
    """The files of this session; those named at the start, or the sample data, when it is new."""
    if "field_files" not in st.session_state:
        sides = session.workspace_named().fields
        st.session_state["field_files"] = FieldFiles(
            ground_truth=_from_path(sides.ground_truth) if sides.ground_truth else None,
            predictions=tuple(_from_path(path) for path in sides.predictions),
            pdfs=sides.pdfs,
        )
    found: FieldFiles = st.session_state["field_files"]
    return found


def _from_path(path: Path) -> FieldSource:
    """One side that was named at the start."""
    return _read(path.name, lambda: reader.read(path))


def _read(name: str, read: Callable[[], FieldDocuments]) -> FieldSource:
    """One side; unreadable ones carry their issues."""
    try:
        found = read()
    except BadInput as problem:
        return FieldSource(name, None, problem.issues)
    return FieldSource(found.name, _shared(found.sha256, found.name, _documents=found), found.issues)


@st.cache_resource(max_entries=16, show_spinner=False)
def _shared(digest: str, name: str, *, _documents: FieldDocuments) -> FieldDocuments:
    """The first copy of some documents, so that sessions on the same files hold them once."""
    return _documents


def take_upload(uploads: Sequence[tuple[str, bytes]], *, as_truth: bool) -> FieldSource:
    """Read uploaded files as one side, and use it when it has no errors; what was open stays otherwise."""
    ordered = sorted(uploads)
    name = ordered[0][0] if len(ordered) == 1 else f"{len(ordered)} files, {ordered[0][0]} first"
    source = _read(name, lambda: reader.read_uploads(ordered, name))
    if source.documents is None:
        return source
    held = files()
    if as_truth:
        st.session_state["field_files"] = replace(held, ground_truth=source)
    else:
        others = tuple(other for other in held.predictions if other.name != source.name)
        st.session_state["field_files"] = replace(held, predictions=(*others, source))
    return source


def file_issues() -> tuple[Issue, ...]:
    """All issues of the files of fields and of their pairs, each once."""
    held = files()
    truth = held.ground_truth
    found = list(truth.issues) if truth else []
    for source in held.predictions:
        found += source.issues
        if truth and truth.documents is not None and source.documents is not None:
            found += _pair_issues(*_key(truth.documents, source.documents), _sides=(truth.documents, source.documents))
    return tuple(dict.fromkeys(found))


def loaded_rows() -> list[dict[str, Any]]:
    """What is loaded, one row per side, for a table of files."""
    held = files()
    sides = [("Ground truth", held.ground_truth)] if held.ground_truth else []
    sides += [("Prediction", source) for source in held.predictions]
    return [
        {
            "Role": role,
            "File": plain(source.name),
            "Format": "fields",
            "Documents": len(source.documents) if source.documents is not None else None,
            "Issues": len(source.issues),
            "SHA-256": source.documents.sha256[:12] if source.documents is not None else "",
        }
        for role, source in sides
        if source is not None
    ]


# --- comparisons ---------------------------------------------------------------------------------------------


def opened() -> Opened | None:
    """What can be evaluated in this session; None when a side is missing or has errors."""
    held = files()
    truth = held.ground_truth.documents if held.ground_truth else None
    usable = [source.documents for source in held.predictions if source.documents is not None]
    if truth is None or not usable:
        return None
    names = session.distinct_names([documents.name for documents in usable])
    models = tuple(
        FieldModel(LETTERS[place], names[index], *_compared(*_key(truth, usable[index]), _sides=(truth, usable[index])),
                   _key(truth, usable[index]))
        for place, index in enumerate(_pair(len(usable)))
    )  # fmt: skip
    return Opened(models=models, names=names, issues=file_issues(), files=held)


def _pair(count: int) -> list[int]:
    """Places of the models A and B among the predictions."""
    places = []
    for key, default in (("field_a", 0), ("field_b", 1)):
        value = st.session_state.get(key)
        places.append(value if isinstance(value, int) and value < count else min(default, count - 1))
    return places[:1] if count == 1 else places


def _key(truth: FieldDocuments, predicted: FieldDocuments) -> tuple[str, str]:
    """What identifies a comparison: content and names of both sides."""
    return f"{truth.sha256}/{truth.name}", f"{predicted.sha256}/{predicted.name}"


@st.cache_resource(max_entries=12, show_spinner="Comparing the fields")
def _compared(
    truth: str, predicted: str, *, _sides: tuple[FieldDocuments, FieldDocuments]
) -> tuple[fields.FieldsResult, FieldPages]:
    """A comparison by the digests of its sides, and the pages that its boxes lie on."""
    result = fields.evaluate(*_sides)
    return result, FieldPages(result.compared)


@st.cache_resource(max_entries=32, show_spinner=False)
def _pair_issues(truth: str, predicted: str, *, _sides: tuple[FieldDocuments, FieldDocuments]) -> tuple[Issue, ...]:
    """The issues of a pair by the content of its files."""
    return reader.check_pair(*_sides)


def model_choice(found: Opened) -> FieldModel:
    """The model whose boxes and numbers are shown."""
    return next((model for model in found.models if model.letter == st.session_state.get("model")), found.models[0])


# --- choices -------------------------------------------------------------------------------------------------


def begin() -> None:
    """Take over the address bar, and write each choice again for widgets that start anew.

    Only on entering: a slider that is written on every run is set back while the reader still moves it.
    """
    entered = st.session_state.get("view") != VIEW
    session.begin(VIEW)
    for _, key, start, _ in _ADDRESS:
        if entered or key not in st.session_state:
            st.session_state[key] = st.session_state.get(key, start)


def settle(found: Opened) -> list[str]:
    """Take away choices that the open files do not have; their names for a sentence."""
    compared = found.models[0].result.compared
    refused = []
    classes = {name for model in found.models for name in model.result.compared.classes}
    for key, known in (("field_label", classes), ("field_within", set(compared.documents))):
        if st.session_state[key] and st.session_state[key] not in known:
            refused.append(str(st.session_state[key]))
            st.session_state[key] = ""
    return refused


def finish(model: FieldModel) -> None:
    """Write what the view shows into the address bar."""
    shown = {}
    for name, key, start, _ in _ADDRESS:
        value = st.session_state[key]
        text = f"{value:g}" if isinstance(value, float) else str(value)
        shown[name] = None if value in (start, None, "") else text
    letter = None if model.letter == LETTERS[0] else model.letter
    session.finish(iou=None, score_a=None, score_b=None, model=letter, **shown)


def iou() -> float:
    """The IoU threshold of the view."""
    return float(st.session_state["field_iou"])


def label() -> str | None:
    """The chosen class of field."""
    return st.session_state["field_label"] or None


def door() -> str:
    """The number whose fields are shown, a key of ``DOORS``."""
    return str(st.session_state["field_door"])


def budget() -> float:
    """The share of the fields that a review looks at."""
    return int(st.session_state["field_budget"]) / 100


def open_door(name: str, chosen_label: str | None = None) -> None:
    """Show the fields behind a number, from the first one on."""
    st.session_state["field_door"] = name
    st.session_state["field_label"] = chosen_label or ""
    st.session_state["field_within"] = ""
    st.session_state["field_doc"], st.session_state["field_box"] = None, "first"
    st.session_state["field_tab"] = BEHIND


DOCUMENT, BEHIND = "Fields of the document", "Fields behind the number"
TABS: Final = (DOCUMENT, BEHIND)


# --- place ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Listed:
    """The fields behind the chosen number and the pages they lie on.

    Attributes
    ----------
    rows : int64, shape (K,)
        In the columns of the comparison.
    counts : mapping of int
        Rows by document code and page.
    order : list of (int, int)
        Document codes and pages to walk through.
    """

    rows: IntArray
    counts: Mapping[tuple[int, int], int]
    order: list[tuple[int, int]]


def listed(model: FieldModel) -> Listed:
    """What passes the choices of the view."""
    within = st.session_state["field_within"]
    share = budget() if door() == LEAST_SURE else None
    return _listed(model.key, iou(), (door(), label(), share), within, _model=model)


@st.cache_resource(max_entries=64, show_spinner=False)
def _listed(
    key: tuple[str, str],
    threshold: float,
    number: tuple[str, str | None, float | None],
    within: str,
    *,
    _model: FieldModel,
) -> Listed:
    """Rows and pages by everything that they follow from: files, threshold, door with class and budget, document."""
    name, of_class, share = number
    result, pages = _model.result, _model.pages
    rows = behind(result, name, iou=threshold, label=of_class, budget=share)
    document = result.compared.documents.index(within) if within else None
    if document is not None:
        rows = rows[result.compared.document[rows] == document]
    counts = pages.counts(rows)
    order = pages.order(counts, document=document, only=document is None and (name != PROBLEMS or of_class is not None))
    return Listed(rows, counts, order)


def place(model: FieldModel, shown: Listed) -> tuple[int, int] | None:
    """The page that is shown: the chosen one when the list has it, else the first."""
    if not shown.order:
        return None
    documents = model.result.compared.documents
    wanted = st.session_state["field_doc"], int(st.session_state["field_page"]) - 1
    named = next((page for page in shown.order if (documents[page[0]], page[1]) == wanted), None)
    return named or shown.order[0]


def go_to(model: FieldModel, page: tuple[int, int], box: str | None = None) -> None:
    """Show another page, and choose a box there: its key, ``first`` or ``last``."""
    st.session_state["field_doc"] = model.result.compared.documents[page[0]]
    st.session_state["field_page"] = page[1] + 1
    st.session_state["field_box"] = box


def turn(model: FieldModel, shown: Listed, here: tuple[str, int], step: int) -> None:
    """Show the page so many steps further in the list."""
    position = position_of(model, shown, here)
    if position is not None:
        go_to(model, shown.order[min(max(position + step, 0), len(shown.order) - 1)])


def turn_to_problem(model: FieldModel, shown: Listed, here: tuple[str, int], step: int) -> None:
    """Show the next or previous page that has something in its list, and choose the first or last of it."""
    position = position_of(model, shown, here)
    if position is None:
        return
    other = next_with(shown, position, step)
    if other is not None:
        go_to(model, shown.order[other], "first" if step > 0 else "last")


def next_with(shown: Listed, position: int, step: int) -> int | None:
    """Place of the next or previous page in the list with a row behind the number; None without."""
    places = range(position + 1, len(shown.order)) if step > 0 else range(position - 1, -1, -1)
    return next((other for other in places if shown.counts.get(shown.order[other])), None)


def position_of(model: FieldModel, shown: Listed, here: tuple[str, int]) -> int | None:
    """Place of a page, given by document id and index, in the list."""
    documents = model.result.compared.documents
    return next((place for place, page in enumerate(shown.order) if (documents[page[0]], page[1]) == here), None)


def kept_in_list(shown: Listed) -> IntArray | None:
    """Rows that the list beside the page keeps; None keeps every problem, when the number counts fields without one."""
    return None if door() in _MIXED else shown.rows


def is_shown(document: str, index: int) -> bool:
    """Whether a page is the one on screen."""
    return (st.session_state["field_doc"], int(st.session_state["field_page"]) - 1) == (document, index)


def settle_box(listed_keys: Sequence[str], drawn: Sequence[str]) -> str | None:
    """The chosen box, if the page has it; "first" and "last" become that box of the list."""
    box = st.session_state["field_box"]
    if box in ("first", "last"):
        box = (listed_keys[0] if box == "first" else listed_keys[-1]) if listed_keys else None
    st.session_state["field_box"] = box if box in drawn else None
    return st.session_state["field_box"] or None


# --- what is drawn -------------------------------------------------------------------------------------------


def unit(model: FieldModel) -> str:
    """The unit of the boxes: the chosen one, or what they look like."""
    chosen = st.session_state["field_unit"]
    return str(chosen) if chosen in overlay.UNITS else _unit(*model.key, _model=model)


def curves(model: FieldModel) -> ApCurves:
    """AP of a model against the IoU threshold."""
    return _curves(model.key, _model=model)


@st.cache_resource(max_entries=16, show_spinner=False)
def _curves(key: tuple[str, str], *, _model: FieldModel) -> ApCurves:
    """The curves of a comparison; they belong to no threshold."""
    return ap_curves(_model.result)


@st.cache_resource(max_entries=32, show_spinner=False)
def _unit(truth: str, predicted: str, *, _model: FieldModel) -> str:
    """What the boxes of a comparison look like."""
    return overlay.unit_of(_model.result)


def picture(held: FieldFiles, document: str, index: int) -> PictureItem:
    """The picture of a page as the viewer wants it, or the reason why there is none."""
    wish = st.session_state.get("field_sharper")
    width = wish[2] if wish and wish[:2] == (document, index) else None
    return session.picture(held.pdfs, document, index, width=width)


def page_count(held: FieldFiles, document: str) -> int | None:
    """Pages of a document's PDF; None when it cannot be opened."""
    return session.pages_of(held.pdfs, document)
