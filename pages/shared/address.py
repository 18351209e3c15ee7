"""What the address bar holds: one table of names, the fields of `State` behind them, and the views that write them.

A link is the whole state of a view. `read_url` takes an address over when the reader opened, changed or stepped back
to it; a part that cannot be followed is named on screen, never guessed. `write_url` writes what a view shows; a value
at its start is left out.
"""

from __future__ import annotations

import contextlib
import os
import urllib.parse
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, get_args

import msgspec
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from evaluator.compare.decision import FOUND
from evaluator.doctor import fix_of
from evaluator.drawing import fields as field_drawing
from evaluator.drawing.matrix import COLOURS, SHOWS
from evaluator.drawing.pair import PAGE_FILTERS
from evaluator.metrics.box_items import Question
from evaluator.metrics.causes import Family
from evaluator.metrics.error_types import DOCUMENT
from evaluator.metrics.item_ledger import Outcome
from evaluator.model.issues import MOST_SHOWN, cut, whole
from evaluator.protocols import PROTOCOLS, pixel
from evaluator.protocols.fields.drill_down import LINKS
from evaluator.protocols.fields.ledger import BY_BOX, BY_VALUE
from evaluator.protocols.pixel.ledger import BY_PIXELS
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME, REST_NAME
from evaluator.protocols.posters.ledger import BY_CRITERIA
from evaluator.protocols.posters.profiles import PROFILES
from evaluator.review.verdicts import VERDICTS
from evaluator.slices.measured import ALL, AVERAGES, MEASURES
from evaluator.suspects.ranking import KINDS
from evaluator.workspace import QUERY_VARIABLE
from pages.shared import compare, decision, gallery, kept, means, opened, pictures, protocol, results
from pages.shared.compared import KINDS_COMPARED
from pages.shared.components import MODES
from pages.shared.fields import results as of_fields
from pages.shared.opened import Place
from pages.shared.pixel.results import OF, SCOPES
from pages.shared.posters import results as of_posters
from pages.shared.state import FILTER, AnyField, Field, State, state

T = TypeVar("T")
View = Literal[
    "overview", "page_browser", "gallery", "compare", "models", "slices", "pixel_confusion", "fields", "posters",
    "suspects", "findings", "review_pack", "files",
]  # fmt: skip
VIEWS: Final[frozenset[View]] = frozenset(get_args(View))
# Views that show boxes at the operating point of the session; the view Fields has an IoU threshold of its own.
_OF_BOXES: Final = VIEWS - {"fields", "files"}
_ADDRESSES_KEPT: Final = 64
# What a finding is filtered by: its verdict, and the two kinds without one.
_FINDING_KINDS: Final = frozenset({*dict(VERDICTS.items()), "conflict", "note"})
# The name under which the workspace folder has the saved filters, which no address has.
_SAVED: Final = "saved"
# What Compare shows while it writes a part of the address: files of boxes, or one kind alone.
_RASTERED: Final = ("boxes", "pixels")
_ALONE: Final[Mapping[str, tuple[str]]] = {kind: (kind,) for kind in KINDS_COMPARED}


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """One part of the address.

    Attributes
    ----------
    name : str
        In the address bar.
    field : Field
        Where its value is.
    read : callable
        The value of a text; raises ValueError for one that makes no sense.
    write : callable
        The text of a value.
    views : set of str
        Who writes it; every view reads it.
    applies : callable
        Whether it means anything at the moment; it is not written otherwise.
    known : callable or None
        Whether the open files have what the text names; the whole address is the second argument.
    stays : bool
        Kept by a step back to an address without it; others are then at their start.
    begins : callable or None
        The value that is not written, when it is not the field's own start.
    kinds : tuple of str
        What Compare shows while it writes the part; see `KINDS_COMPARED`.
    """

    name: str
    field: Field[T]
    read: Callable[[str], T]
    write: Callable[[T], str]
    views: frozenset[View]
    applies: Callable[[], bool] = lambda: True
    known: Callable[[str, Mapping[str, str]], bool] | None = None
    stays: bool = False
    begins: Callable[[], T] | None = None
    kinds: tuple[str, ...] = KINDS_COMPARED

    @property
    def start(self) -> T:
        """The value that is not written."""
        return self.field.start if self.begins is None else self.begins()

    def is_of(self, view: View) -> bool:
        """Whether a view writes the part, Compare only for what it shows."""
        return view in self.views and (view != "compare" or state.pair_kind in self.kinds)

    def text(self, value: T) -> str | None:
        """The value for the address; None for what is left out."""
        unset = value in (None, "", self.start)
        return None if unset or not self.applies() else self.write(value) or None


# --- reading and writing one part ----------------------------------------------------------------------------


def _slice_measure(text: str) -> str:
    """A measure of slices of any protocol."""
    own = [name for protocol in PROTOCOLS.values() for name in protocol.slice_measures]
    return str(_one_of((ALL, *MEASURES, *AVERAGES, *own))(text))


def _one_of(words: Sequence[str]) -> Callable[[str], Any]:
    """Reads one of some words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return read


def _number_of(choices: Sequence[float]) -> Callable[[str], float]:
    """Reads one of some numbers."""

    def read(text: str) -> float:
        value = float(text)
        if value not in choices:
            raise ValueError(text)
        return value

    return read


def _share(low: float, high: float) -> Callable[[str], float]:
    """Reads a number between two others."""

    def read(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return read


def _protocol(text: str) -> str:
    """Reads the name of a protocol that matches boxes."""
    return str(_one_of(tuple(protocol.shown()))(text))


def _iou(text: str) -> float:
    """Reads an IoU threshold within the range of the chosen protocol."""
    return _share(*results.iou_range())(text)


def _whole(low: int, high: int, *, shift: int = 0) -> Callable[[str], int]:
    """Reads a whole number; what the address counts from 1 is kept from 0 with a `shift` of 1."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
            raise ValueError(text)
        return int(text) - shift

    return read


def _yes(text: str) -> bool:
    """Reads a switch that is on."""
    if text != "yes":
        raise ValueError(text)
    return True


def _range(text: str) -> tuple[float, float]:
    """Reads a range such as ``0.35-1``."""
    low, _, high = text.partition("-")
    bounds = float(low), float(high)
    if not 0.0 <= bounds[0] <= bounds[1] <= 1.0:
        raise ValueError(text)
    return bounds


def _scores(text: str) -> tuple[float, ...]:
    """Reads the score thresholds of the models, in their order."""
    read = _share(0.0, 1.0)
    values = tuple(read(part) for part in text.split(","))
    if len(values) > len(opened.files(opened.BOXES).models):
        raise ValueError(text)
    return values


def _mistakes(text: str) -> list[str]:
    """Reads names of mistakes."""
    names = text.split(",")
    if any(name not in DOCUMENT for name in names):
        raise ValueError(text)
    return names


def _verdicts(text: str) -> list[str]:
    """Reads kinds of findings."""
    kinds = text.split(",")
    if any(kind not in _FINDING_KINDS for kind in kinds):
        raise ValueError(text)
    return kinds


def _measure(text: str) -> str:
    """Reads a measure that the chosen protocol compares."""
    return str(_one_of(tuple(protocol.chosen().metrics))(text))


def _question(text: str) -> Question:
    """Reads what was clicked or selected in the gallery."""
    try:
        return _with_labels(msgspec.json.decode(text.encode(), type=Question), _label)
    except msgspec.DecodeError as problem:
        raise ValueError(text) from problem


def _question_text(asked: Question) -> str:
    return msgspec.json.encode(_with_labels(asked, cut)).decode()


def _with_labels(asked: Question, named: Callable[[str], str]) -> Question:
    """A question with other names of its labels."""
    truth, prediction = asked.cell or (None, None)
    cell = asked.cell and (truth if truth is None else named(truth), prediction and named(prediction))
    return msgspec.structs.replace(asked, cell=cell, cause=asked.cause and Family(*map(named, asked.cause)))


def _fixes(text: str) -> tuple[str, ...]:
    """Reads fixes with semicolons between them, each as on the command line."""
    parts = tuple(urllib.parse.unquote(part) for part in text.split(";"))
    for part in parts:
        fix_of(part)  # a FixError is a ValueError
    return parts


def _size(text: str) -> tuple[float, float]:
    """Reads a page size such as ``612x792``."""
    width, height = (float(part) for part in text.split("x"))
    if not (0.0 < width < 1e6 and 0.0 < height < 1e6):
        raise ValueError(text)
    return width, height


def _poster(text: str) -> str:
    """Reads the id of a poster that is open, which is whole where it was `cut`."""
    every = of_posters.posters_open()
    return str(_one_of(tuple(every))(whole(text, every)))


def _standard_iou() -> float:
    """The IoU threshold that the chosen protocol starts with."""
    return protocol.chosen().thresholds[0]


def _weights(text: str) -> tuple[tuple[str, float], ...]:
    """Reads weights of labels: label and weight in turn, as JSON."""
    weight = Annotated[float, msgspec.Meta(ge=0.0, le=means.MOST_WEIGHT)]
    try:
        pairs = msgspec.json.decode(text.encode(), type=tuple[tuple[str, weight], ...])
        return tuple((_label(label), value) for label, value in pairs)
    except msgspec.DecodeError as problem:
        raise ValueError(text) from problem


def _weights_text(pairs: tuple[tuple[str, float], ...]) -> str:
    return msgspec.json.encode([(cut(label), value) for label, value in pairs]).decode()


def _ledger(text: str) -> tuple[str, str, str]:
    """Reads a number of a ledger: measure, row and outcome, as JSON."""
    try:
        chosen = msgspec.json.decode(text.encode(), type=tuple[str, str, Outcome])
    except msgspec.DecodeError as problem:
        raise ValueError(text) from problem
    _one_of([measure for measures in _LEDGERS.values() for measure in measures])(chosen[0])
    measure, row, outcome = chosen
    return measure, _field_type(row) if measure in _LEDGERS["fields"] else _label(row), outcome


def _ledger_text(chosen: tuple[str, str, str]) -> str:
    measure, row, outcome = chosen
    return msgspec.json.encode((measure, cut(row), outcome)).decode()


def _ledgers_view() -> str:
    """The view whose ledgers are shown."""
    return _LEDGERS_OF.get(state.pair_kind, "") if state.view == "compare" else state.view


def _number(value: float) -> str:
    return f"{value:g}"


def _from_one(value: int | None) -> str:
    return "" if value is None else str(value + 1)


def _text(value: str | None) -> str:
    return value or ""


def _bounds(value: tuple[float, float]) -> str:
    return f"{value[0]:g}-{value[1]:g}"


def _cut(value: str | None) -> str:
    """A name with a bounded length."""
    return cut(value or "")


def _document(text: str) -> str:
    """Reads the id of a document, which is whole where it was `cut`."""
    loaded = opened.boxes()
    return whole(text, loaded.dataset.document_code) if loaded else text


def _label(text: str) -> str:
    """Reads a label, which is whole where it was `cut`."""
    loaded = opened.boxes()
    return whole(text, loaded.dataset.labels) if loaded else text


def _field_document(text: str) -> str:
    """Reads the id of a document with fields, which is whole where it was `cut`."""
    return _whole_of_fields(text, lambda models: models[0].result.compared.documents)


def _field_type(text: str) -> str:
    """Reads a type of fields, which is whole where it was `cut`."""
    return _whole_of_fields(text, lambda models: [name for each in models for name in each.result.compared.classes])


def _whole_of_fields(text: str, names: Callable[[Sequence[of_fields.FieldModel]], Collection[str]]) -> str:
    """The name that was `cut` to a text; the fields are compared only to find a long one."""
    compared = of_fields.compared() if len(text) > MOST_SHOWN else None
    return text if compared is None else whole(text, names(compared.models))


def _has_document(text: str, address: Mapping[str, str]) -> bool:
    """Whether the open files have a document."""
    loaded = opened.boxes()
    return loaded is None or _document(text) in loaded.dataset.document_code


def _has_label(text: str, address: Mapping[str, str]) -> bool:
    """Whether a label of the open files is evaluated."""
    loaded = opened.boxes()
    return loaded is None or _label(text) in loaded.dataset.labels[: loaded.dataset.evaluated]


def _has_class(text: str, address: Mapping[str, str]) -> bool:
    """Whether there can be a row and a column of pixels for a label, or for what has none."""
    loaded = opened.boxes()
    return loaded is None or _label(text) in {*loaded.dataset.labels, BACKGROUND_NAME, REST_NAME}


def _has_page(text: str, address: Mapping[str, str]) -> bool:
    """Whether the document of an address has a page; without the document the page is not judged twice."""
    boxes, document = opened.boxes(), _document(address.get("doc", ""))
    if boxes is None:
        return True
    if document not in boxes.dataset.document_code or not (text.isascii() and text.isdigit() and len(text) < 10):
        return document in boxes.dataset.document_code or "doc" in address
    index = int(text) - 1
    if boxes.dataset.page_row(document, index) is not None:
        return True
    # Pages that no file mentions are walked only when the document is chosen.
    return _document(address.get("within", "")) == document and 0 <= index < (pictures.page_count(boxes, document) or 0)


def _model(
    name: str,
    field: AnyField,
    views: frozenset[View],
    kind: opened.AnyKind | None,
    *,
    begins: int | None = None,
    kinds: tuple[str, ...] = _RASTERED,
    other: str = "",
) -> Entry[Any]:
    """The place of a model in the list of those that are open, of the view's own kind when none is given.

    It is never that of the `other` part of an address, where it has both.
    """

    def known(text: str, address: Mapping[str, str]) -> bool:
        if text == address.get(other):
            return False
        project = opened.opened(kind or (opened.FIELDS if state.view == "fields" else opened.BOXES))
        # What is no number, or none of a model, is refused where it is read; thousands of digits are an error to `int`.
        return project is None or not (text.isdecimal() and len(text) < 10) or int(text) <= len(project.names)

    start = None if begins is None else lambda: begins
    return Entry(name, field, _whole(1, 10**9, shift=1), _from_one, views, known=known, begins=start, kinds=kinds)


# --- the table -----------------------------------------------------------------------------------------------

_FILTERED: Final[frozenset[View]] = frozenset({"page_browser", "gallery"})
_BROWSER: Final[frozenset[View]] = frozenset({"page_browser"})
_GALLERY: Final[frozenset[View]] = frozenset({"gallery"})
_COMPARE: Final[frozenset[View]] = frozenset({"compare"})
_MODELS: Final[frozenset[View]] = frozenset({"models"})
_PIXEL: Final[frozenset[View]] = frozenset({"pixel_confusion"})
_SLICES: Final[frozenset[View]] = frozenset({"slices"})
_FIELDS: Final[frozenset[View]] = frozenset({"fields"})
_FINDINGS: Final[frozenset[View]] = frozenset({"findings"})
_POSTERS: Final[frozenset[View]] = frozenset({"posters"})
_SUSPECTS: Final[frozenset[View]] = frozenset({"suspects"})
# What Compare has of each kind, beside boxes.
_BOTH_PIXELS: Final = _PIXEL | _COMPARE
_BOTH_FIELDS: Final = _FIELDS | _COMPARE
_BOTH_POSTERS: Final = _POSTERS | _COMPARE
# What the ledgers of a view go by.
_LEDGERS: Final[Mapping[str, Sequence[str]]] = {
    "pixel_confusion": (BY_PIXELS,),
    "fields": (BY_BOX, BY_VALUE),
    "posters": (BY_CRITERIA,),
}
# The views that show the ledgers of a kind alone; Compare shows that of its kind.
_LEDGERS_OF: Final[Mapping[str, str]] = {"pixels": "pixel_confusion", "fields": "fields", "posters": "posters"}
_PAGES: Final = _BROWSER | _COMPARE | _PIXEL

TABLE: Final[tuple[Entry[Any], ...]] = (
    Entry(
        "fix",
        State.fixes,
        _fixes,
        lambda texts: ";".join(text.replace("%", "%25").replace(";", "%3B") for text in texts),
        _OF_BOXES,
        stays=True,
        kinds=_RASTERED,
    ),
    Entry("protocol", State.protocol, _protocol, _text, _OF_BOXES, kinds=_ALONE["boxes"]),
    Entry("polygons", State.polygons, _yes, lambda on: "yes", _OF_BOXES, kinds=_ALONE["boxes"]),
    Entry("iou", State.iou, _iou, _number, _OF_BOXES, begins=_standard_iou, kinds=_ALONE["boxes"]),
    Entry("weights", State.class_weights, _weights, _weights_text, frozenset({"overview"})),
    Entry("scores", results.SCORES, _scores, lambda values: ",".join(map(_number, values)), _OF_BOXES, kinds=_RASTERED),
    # Models by their place in the list: the shown one, and the two that a view shows side by side.
    _model("model", State.model, _OF_BOXES | _FIELDS, None),
    _model("model_a", State.model_a, _OF_BOXES, opened.BOXES, begins=0),
    _model("model_b", State.model_b, _OF_BOXES, opened.BOXES, begins=1, other="model_a"),
    # The page that is shown.
    Entry("doc", State.doc, _document, _cut, _PAGES, known=_has_document, stays=True, kinds=_RASTERED),
    Entry(
        "page",
        State.page,
        _whole(1, 10**9, shift=1),
        _from_one,
        _PAGES,
        known=_has_page,
        stays=True,
        kinds=_RASTERED,
    ),
    Entry("box", State.box, str, _text, _BROWSER | _COMPARE, kinds=_ALONE["boxes"]),
    # The filter of mistakes.
    Entry(
        "within",
        State.within,
        _document,
        _cut,
        _FILTERED | _COMPARE | _SUSPECTS,
        known=_has_document,
        kinds=_ALONE["boxes"],
    ),
    Entry(
        "label",
        State.label,
        _label,
        _cut,
        _FILTERED | _COMPARE | _SUSPECTS | _MODELS,
        known=_has_label,
        kinds=_ALONE["boxes"],
    ),
    Entry("order", State.order, _one_of(("worst", "page")), _text, _BROWSER),
    Entry("only", State.only, _yes, lambda _: "yes", _BROWSER),
    Entry("mistakes", State.mistake_names, _mistakes, ",".join, _FILTERED),
    Entry("score", State.score_range, _range, _bounds, _FILTERED),
    Entry("fit", State.fit_range, _range, _bounds, _FILTERED),
    Entry("size", State.size_range, _range, _bounds, _FILTERED),
    Entry("unjudged", State.unjudged, _yes, lambda _: "yes", _FILTERED),
    Entry("poor", State.poor, _yes, lambda _: "yes", _FILTERED),
    Entry("coverage", State.poor_coverage, _share(0.0, 1.0), _number, _FILTERED, applies=State.poor.get),
    Entry("purity", State.poor_purity, _share(0.0, 1.0), _number, _FILTERED, applies=State.poor.get),
    # Gallery.
    Entry("question", State.gallery_question, _question, _question_text, _GALLERY),
    Entry("charts", State.gallery_charts, _one_of(tuple(gallery.CHARTS)), _text, _GALLERY),
    Entry("sort", State.gallery_sort, _one_of(tuple(gallery.ORDERS)), _text, _GALLERY),
    Entry("third", State.gallery_third, _one_of(tuple(gallery.THIRDS)[1:]), _text, _GALLERY),
    Entry("sheet", State.gallery_sheet, _whole(1, 99_999, shift=1), _from_one, _GALLERY),
    # Compare.
    Entry("compare", State.pair_kind, _one_of(KINDS_COMPARED), _text, _COMPARE),
    Entry("show", State.pair_show, _one_of(tuple(PAGE_FILTERS)), _text, _COMPARE),
    Entry("cause", State.pair_cause, str, _text, _COMPARE, kinds=_ALONE["boxes"]),
    Entry("chosen", State.pair_box, str, _text, _COMPARE, kinds=("pixels", "fields", "posters")),
    Entry("look", State.pair_mode, _one_of(MODES), _text, _COMPARE),
    Entry("below", State.pair_part, _one_of(compare.PARTS), _text, _COMPARE, kinds=_ALONE["boxes"]),
    Entry("measure", State.rule_measure, _one_of(FOUND), _text, _COMPARE, kinds=_ALONE["boxes"]),
    Entry("least", State.rule_least, _number_of(decision.LEAST), _number, _COMPARE, kinds=_ALONE["boxes"]),
    Entry("loss", State.rule_loss, _number_of(decision.LOSSES), _number, _COMPARE, kinds=_ALONE["boxes"]),
    # Models.
    Entry("rank_by", State.rank_by, _measure, _text, _MODELS),
    # Slices.
    Entry("slices", State.slices_kind, _one_of(KINDS_COMPARED), _text, _SLICES),
    Entry("of_models", State.slices_of, _one_of(("A", "B", "B-A")), _text, _SLICES),
    Entry("slice_measure", State.slices_measure, _slice_measure, _text, _SLICES),
    # Pixel confusion.
    Entry("scope", State.pixel_scope, _one_of(SCOPES), _text, _PIXEL),
    Entry("shows", State.pixel_shows, _one_of(tuple(SHOWS)), _text, _PIXEL),
    Entry("colour", State.pixel_colour, _one_of(COLOURS), _text, _PIXEL),
    Entry("of", State.pixel_of, _one_of(OF), _text, _PIXEL),
    Entry("classes", State.pixel_classes, _one_of(pixel.CLASSES), _text, _BOTH_PIXELS, kinds=_ALONE["pixels"]),
    Entry("missing", State.pixel_missing, _one_of(pixel.MISSING_PAGE), _text, _BOTH_PIXELS, kinds=_ALONE["pixels"]),
    Entry(
        "page_size",
        State.pixel_size,
        _size,
        lambda size: f"{size[0]:g}x{size[1]:g}",
        _BOTH_PIXELS,
        kinds=_ALONE["pixels"],
    ),
    Entry("row", State.pixel_row, _label, _cut, _PIXEL, known=_has_class),
    Entry("column", State.pixel_column, _label, _cut, _PIXEL, known=_has_class),
    # Suspected ground truth.
    Entry("suspected", State.suspect_kind, _one_of(KINDS), _text, _SUSPECTS),
    Entry("evidence", State.suspect_least, _share(0.0, 1.0), _number, _SUSPECTS),
    Entry("margin", State.suspect_margin, _share(0.001, 0.5), _number, _SUSPECTS | _FINDINGS),
    Entry("queue", State.queue_of_findings, _one_of(("sample",)), _text, _FINDINGS),
    # A meeting: a reload goes on where it was.
    Entry("meeting", State.meeting_open, _yes, lambda _: "yes", _FINDINGS),
    Entry("meeting_of", State.meeting_of, _one_of(("A", "B")), _text, _FINDINGS, applies=State.meeting_open.get),
    Entry("said", State.finding_verdicts, _verdicts, ",".join, _FINDINGS),
    Entry("by", State.finding_author, str, _text, _FINDINGS),
    Entry("tag", State.finding_tag, str, _text, _FINDINGS),
    Entry("still", State.finding_state, _one_of(("applies", "past")), _text, _FINDINGS),
    Entry("item", State.meeting_item, str, _text, _FINDINGS, applies=State.meeting_open.get),
    # Fields.
    _model("field_a", State.field_a, _BOTH_FIELDS, opened.FIELDS, begins=0, kinds=_ALONE["fields"]),
    _model("field_b", State.field_b, _BOTH_FIELDS, opened.FIELDS, begins=1, kinds=_ALONE["fields"], other="field_a"),
    Entry("field_iou", State.field_iou, _share(*of_fields.IOU_RANGE), _number, _BOTH_FIELDS, kinds=_ALONE["fields"]),
    Entry("field", State.field_label, _field_type, _cut, _FIELDS),
    Entry("behind", State.field_number, _one_of(tuple(LINKS)), _text, _FIELDS),
    Entry("budget", State.field_budget, _whole(*of_fields.BUDGETS), str, _FIELDS),
    Entry("field_within", State.field_within, _field_document, _cut, _FIELDS),
    Entry("field_doc", State.field_doc, _field_document, _cut, _BOTH_FIELDS, kinds=_ALONE["fields"]),
    Entry("field_page", State.field_page, _whole(1, 10**9), str, _BOTH_FIELDS, kinds=_ALONE["fields"]),
    Entry("field_box", State.field_box, str, _text, _FIELDS),
    Entry(
        "unit",
        State.field_unit,
        _one_of((of_fields.AUTO, *field_drawing.UNITS)),
        _text,
        _BOTH_FIELDS,
        kinds=_ALONE["fields"],
    ),
    Entry("parity", State.field_parity, _one_of(of_fields.PARITY), _text, _BOTH_FIELDS, kinds=_ALONE["fields"]),
    Entry(
        "recall_grid",
        State.field_recall_grid,
        _one_of((of_fields.AUTO, *of_fields.RECALL_GRIDS)),
        _text,
        _BOTH_FIELDS,
        kinds=_ALONE["fields"],
    ),
    Entry(
        "ledger",
        State.ledger_of,
        _ledger,
        _ledger_text,
        _PIXEL | _FIELDS | _POSTERS | _COMPARE,
        applies=lambda: state.ledger_of[0] in _LEDGERS.get(_ledgers_view(), ()),
    ),
    # Posters.
    _model("poster_a", State.poster_a, _BOTH_POSTERS, opened.POSTERS, begins=0, kinds=_ALONE["posters"]),
    _model(
        "poster_b", State.poster_b, _BOTH_POSTERS, opened.POSTERS, begins=1, kinds=_ALONE["posters"], other="poster_a"
    ),
    Entry("profile", State.poster_profile, _one_of(tuple(PROFILES)), _text, _BOTH_POSTERS, kinds=_ALONE["posters"]),
    Entry("poster", State.poster, _poster, _cut, _BOTH_POSTERS, kinds=_ALONE["posters"]),
    Entry("part", State.poster_part, _one_of(of_posters.PARTS), _text, _POSTERS),
    Entry("poster_of", State.poster_of, _one_of(of_posters.MODELS), _text, _POSTERS),
    Entry(
        "text_of",
        State.poster_text,
        _one_of(("reference", "generated")),
        _text,
        _POSTERS,
        applies=lambda: state.poster_part == "text",
    ),
    Entry(
        "tree",
        State.poster_tree,
        _one_of(("differences", "all")),
        _text,
        _POSTERS,
        applies=lambda: state.poster_part == "fields",
    ),
)


# --- the whole address ---------------------------------------------------------------------------------------


def read_url(view: View) -> None:
    """Take over the address bar when it was opened, changed or stepped back to by the reader.

    Widgets of the same key on two views are two widgets for Streamlit, and in the first run of the second one it
    starts at its lowest value unless the value is written again; so every part is written when a view is entered, and
    only then: what is written on every run is set back while the reader still moves it.

    The browser sends the address of the moment with each request, so quick ones carry an address that `write_url` has
    replaced meanwhile. One that this session knows is therefore followed only after a step back or onto another view.

    The view that a button of the last one led to comes first, so the way holds although a message ended the run before.

    A session that did not come through app.py is sent there and ends: started by other means than its command,
    Streamlit may run a view alone.
    """
    if not state.access:
        st.switch_page("app.py")
    following = State.next_view.take()
    if following:
        st.switch_page(following)
    entered = state.view != view
    state.view = view
    _read(view, entered)
    if entered:
        for entry in TABLE:
            entry.field.again()


def _read(view: View, entered: bool) -> None:
    """Take over the address bar; see `read_url`."""
    address = dict(st.query_params.items())
    if not state.restored:
        _restore(view, address)
    context = get_script_run_ctx()
    stepped = context is not None and context.is_history_navigation
    state.entered_bare = entered and not address
    state.linked = False
    if not address or (address in state.addresses and not entered and not stepped):
        return
    _remember(address)
    if stepped:
        for entry in TABLE:
            if not entry.stays:
                entry.field.set(entry.start)
    followed = {entry.name for entry in TABLE if entry.name in address and _follow(entry, address)}
    if "protocol" in followed and "iou" not in followed:
        state.iou = _standard_iou()
    refused = tuple(name for name in address if name not in followed)
    state.refused = refused
    state.linked = "doc" in address and not {"doc", "page"} & set(refused)


def _restore(view: View, address: Mapping[str, str]) -> None:
    """Open what the workspace folder has, once in a session.

    Where the address says nothing, the filter is that of the folder, or else what the project file says. An address
    says what its view shows, and nothing of what only other views do.
    """
    state.restored = True
    filters: Mapping[str, str] = {}
    if kept.folder() is not None:
        held = kept.read()
        opened.open_kept(held.taken)
        pictures.open_kept_pages(held.pages)
        filters = held.filters
    said = {entry.name for entry in TABLE if address and entry.is_of(view)}
    before = filters or dict(urllib.parse.parse_qsl(os.environ.get(QUERY_VARIABLE, "")))
    take({name: text for name, text in before.items() if name not in said})
    _take_saved(filters.get(_SAVED, ""))


def _take_saved(text: str) -> None:
    """The filters that were saved under names; a part that makes no sense any more is at its start."""
    with contextlib.suppress(msgspec.MsgspecError):
        saved = msgspec.json.decode(text.encode(), type=dict[str, dict[str, str]])
        state.saved_filters = {
            name: tuple(_filter_value(field, texts) for field in FILTER) for name, texts in saved.items()
        }


def _filter_value(field: AnyField, texts: Mapping[str, str]) -> object:
    """The value of one part of a saved filter."""
    entry = next(each for each in TABLE if each.field is field)
    with contextlib.suppress(ValueError):
        return entry.read(texts[entry.name]) if entry.name in texts else field.start
    return field.start


def _saved_text() -> str:
    """The filters that were saved under names, each as the parts of an address that it sets."""
    entries = [next(each for each in TABLE if each.field is field) for field in FILTER]
    saved = {
        name: {e.name: e.write(value) for e, value in zip(entries, values, strict=True) if value != e.field.start}
        for name, values in state.saved_filters.items()
    }
    return msgspec.json.encode(saved).decode()


def _follow(entry: Entry[Any], address: Mapping[str, str]) -> bool:
    """Take one part of an address over; False when it makes no sense or the open files do not have it."""
    text = address[entry.name]
    if entry.known is not None and not entry.known(text, address):
        return False
    try:
        entry.field.set(entry.read(text))
    except ValueError:
        return False
    return True


def _remember(address: dict[str, str]) -> None:
    """Note an address that the browser may send again although the session has moved on."""
    others = tuple(each for each in state.addresses if each != address)
    state.addresses = (*others, address)[-_ADDRESSES_KEPT:]


def write_url(view: View, shown: Mapping[AnyField, object] | None = None) -> str:
    """Write what a view shows into the address bar.

    Streamlit makes every change of the address a step of the browser's history. A view that was entered by its name
    alone would be there twice, so after `leave_first_address` its address is left to the caller, who replaces it.

    Parameters
    ----------
    shown : mapping of Field to value, optional
        What the view shows in the place of the values of the session.

    Returns
    -------
    str
        The query of the address, without question mark; empty when nothing differs from the start.
    """
    instead = shown or {}
    texts = {
        entry.name: entry.text(instead[entry.field] if entry.field in instead else entry.field.get())
        for entry in TABLE
        if entry.is_of(view)
    }
    address = {name: text for name, text in texts.items() if text is not None}
    _remember(address)
    if not State.address_left.take() and dict(st.query_params.items()) != address:
        st.query_params.from_dict(address)
    if kept.folder() is not None:
        kept.keep_filters({**parts(), **({_SAVED: _saved_text()} if state.saved_filters else {})})
    return urllib.parse.urlencode(address)


def is_bare() -> bool:
    """Whether the address bar names a view alone, or nothing."""
    return len(st.query_params) == 0


def take(query: Mapping[str, str]) -> None:
    """Set the session to the parts of an address, in the order of the table; one that makes no sense is left out."""
    for entry in TABLE:
        if entry.name in query:
            with contextlib.suppress(ValueError):
                entry.field.set(entry.read(query[entry.name]))


def parts() -> dict[str, str]:
    """Every part of the address that the session has a value for, whatever view writes it."""
    texts = {entry.name: entry.text(entry.field.get()) for entry in TABLE}
    return {name: text for name, text in texts.items() if text is not None}


def at(place: Place | None) -> dict[AnyField, object]:
    """A page, or none, as `write_url` takes it."""
    return {State.doc: place.document if place else None, State.page: place.index if place else None}


def leave_first_address() -> None:
    """Let the next `write_url` of a view that was opened by its name alone not write the address."""
    # Once: later runs of a part of the view still find what the whole view's last run has left.
    state.address_left = State.entered_bare.take()
