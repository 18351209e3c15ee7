"""The address bar: parts of `State`, those whose text depends on what is open, reading and writing.

A link is the whole state of a view. A part that cannot be followed is named on screen, never guessed; a value at its
start is not written.
"""

from __future__ import annotations

import contextlib
import os
import urllib.parse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from evaluator.analysis.slices.measure_values import ALL, AVERAGES, MEASURES
from evaluator.data.fixes import parse_fix
from evaluator.data.issues import MOST_SHOWN, cut, whole
from evaluator.matching.box_items import Query
from evaluator.matching.causes import Family
from evaluator.metrics.item_ledger import Outcome
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME, REST_NAME
from evaluator.workspace.variables import QUERY_VARIABLE
from pages.app import pictures, protocol, results, session_files, workspace_store
from pages.app.codecs import (
    FROM_ONE,
    Codec,
    between,
    cut_text,
    json_of,
    number_of,
    one_of,
    plain_number,
    plain_text,
    whole_number,
)
from pages.app.components import MODES
from pages.app.session_files import Place
from pages.app.state import FILTER, LEDGERS, AnyField, Field, Part, State, View, state
from pages.views.compare import decision, model_pair
from pages.views.fields import field_results
from pages.views.gallery import gallery_items
from pages.views.overview import means
from pages.views.pixel.pixel_results import OF
from pages.views.posters import poster_results

_ADDRESSES_KEPT: Final = 64
# The name under which the workspace folder has the saved filters, which no address has.
_SAVED: Final = "saved"


# --- texts that depend on what is open -----------------------------------------------------------------------


def _document(text: str) -> str:
    """Return the id of a document, whole where it was `cut`."""
    loaded = session_files.load_boxes()
    return whole(text, loaded.dataset.document_code) if loaded else text


def _label(text: str) -> str:
    """Return a label, whole where it was `cut`."""
    loaded = session_files.load_boxes()
    return whole(text, loaded.dataset.labels) if loaded else text


def _field_document(text: str) -> str:
    return _whole_of_fields(text, lambda models: models[0].result.compared.documents)


def _field_type(text: str) -> str:
    return _whole_of_fields(text, lambda models: [name for each in models for name in each.result.compared.classes])


def _whole_of_fields(text: str, names: Callable[[Sequence[field_results.FieldModel]], Collection[str]]) -> str:
    compared = field_results.compare_models() if len(text) > MOST_SHOWN else None
    return text if compared is None else whole(text, names(compared.models))


def _has_document(text: str, address: Mapping[str, str]) -> bool:
    loaded = session_files.load_boxes()
    return loaded is None or _document(text) in loaded.dataset.document_code


def _has_label(text: str, address: Mapping[str, str]) -> bool:
    loaded = session_files.load_boxes()
    return loaded is None or _label(text) in loaded.dataset.labels[: loaded.dataset.evaluated]


def _has_class(text: str, address: Mapping[str, str]) -> bool:
    loaded = session_files.load_boxes()
    return loaded is None or _label(text) in {*loaded.dataset.labels, BACKGROUND_NAME, REST_NAME}


def _has_page(text: str, address: Mapping[str, str]) -> bool:
    """Return whether the document of an address has a page; True where the document alone is refused."""
    boxes, document = session_files.load_boxes(), _document(address.get("doc", ""))
    if boxes is None:
        return True
    if document not in boxes.dataset.document_code or not (text.isascii() and text.isdigit() and len(text) < 10):
        return document in boxes.dataset.document_code or "doc" in address
    index = int(text) - 1
    if boxes.dataset.page_row(document, index) is not None:
        return True
    # Pages that no file mentions are walked only when the document is chosen.
    return _document(address.get("within", "")) == document and 0 <= index < (pictures.page_count(boxes, document) or 0)


def _model(kind: session_files.AnyKind | None, *, begins: int | None = None, other: str = "") -> Codec[int]:
    """Return the codec of a model's place (of the view's own kind for None), never that of part `other`."""

    def known(text: str, address: Mapping[str, str]) -> bool:
        if text == address.get(other):
            return False
        project = session_files.load_files(
            kind or (session_files.FIELDS if state.view == "fields" else session_files.BOXES)
        )
        # What is no number, or none of a model, is refused where it is read; thousands of digits are an error to `int`.
        return project is None or not (text.isdecimal() and len(text) < 10) or int(text) <= len(project.names)

    return FROM_ONE._replace(known=known, start=None if begins is None else lambda: begins)


def _scores(text: str) -> tuple[float, ...]:
    values = tuple(between(0.0, 1.0).read(part) for part in text.split(","))
    if len(values) > len(session_files.files(session_files.BOXES).models):
        raise ValueError(text)
    return values


def _with_labels(asked: Query, named: Callable[[str], str]) -> Query:
    truth, prediction = asked.cell or (None, None)
    cell = asked.cell and (truth if truth is None else named(truth), prediction and named(prediction))
    return msgspec.structs.replace(asked, cell=cell, cause=asked.cause and Family(*map(named, asked.cause)))


def _fixes(text: str) -> tuple[str, ...]:
    parts = tuple(urllib.parse.unquote(part) for part in text.split(";"))
    for part in parts:
        parse_fix(part)  # a FixError is a ValueError
    return parts


def _size(text: str) -> tuple[float, float]:
    width, height = (float(part) for part in text.split("x"))
    if not (0.0 < width < 1e6 and 0.0 < height < 1e6):
        raise ValueError(text)
    return width, height


def _poster(text: str) -> str:
    every = poster_results.poster_ids()
    return str(one_of(tuple(every)).read(whole(text, every)))


def _ledger(chosen: tuple[str, str, Outcome]) -> tuple[str, str, str]:
    measure, row, outcome = chosen
    one_of([each for measures in LEDGERS.values() for each in measures]).read(measure)
    return measure, _field_type(row) if measure in LEDGERS["fields"] else _label(row), outcome


def _slice_measures() -> list[str]:
    return [ALL, *MEASURES, *AVERAGES, *(name for each in PROTOCOLS.values() for name in each.slice_measures)]


_WEIGHT = Annotated[float, msgspec.Meta(ge=0.0, le=means.MOST_WEIGHT)]
_NAMED_DOCUMENT: Final = Codec(_document, cut_text, known=_has_document)
_NAMED_CLASS: Final = Codec(_label, cut_text, known=_has_class)
_NAMED_FIELDS: Final = Codec(_field_document, cut_text)
CODECS: Final[Mapping[str, Codec[Any]]] = {
    "fix": Codec(_fixes, lambda texts: ";".join(text.replace("%", "%25").replace(";", "%3B") for text in texts)),
    "protocol": Codec(lambda text: one_of(tuple(protocol.available())).read(text), plain_text, start=protocol.of_files),
    "iou": Codec(lambda text: between(*results.iou_range()).read(text), plain_number, start=protocol.standard_iou),
    "weights": json_of(
        tuple[tuple[str, _WEIGHT], ...],
        lambda pairs: tuple((_label(label), weight) for label, weight in pairs),
        lambda pairs: [(cut(label), weight) for label, weight in pairs],
    ),
    "scores": Codec(_scores, lambda values: ",".join(map(plain_number, values))),
    "model": _model(None),
    "model_a": _model(session_files.BOXES, begins=0),
    "model_b": _model(session_files.BOXES, begins=1, other="model_a"),
    "doc": _NAMED_DOCUMENT,
    "page": FROM_ONE._replace(known=_has_page),
    "within": _NAMED_DOCUMENT,
    "label": Codec(_label, cut_text, known=_has_label),
    "question": json_of(Query, lambda asked: _with_labels(asked, _label), lambda asked: _with_labels(asked, cut)),
    "sort": one_of([*gallery_items.ORDERS]),
    "third": one_of([*gallery_items.THIRDS][1:]),
    "look": one_of(MODES),
    "below": one_of(model_pair.PARTS),
    "least": number_of(decision.LEAST),
    "loss": number_of(decision.LOSSES),
    "rank_by": Codec(lambda text: one_of(tuple(protocol.chosen().metrics)).read(text), plain_text),
    "slice_measure": one_of(_slice_measures()),
    "of": one_of(OF),
    "page_size": Codec(_size, lambda size: f"{size[0]:g}x{size[1]:g}"),
    "row": _NAMED_CLASS,
    "column": _NAMED_CLASS,
    "field_a": _model(session_files.FIELDS, begins=0),
    "field_b": _model(session_files.FIELDS, begins=1, other="field_a"),
    "field_iou": between(*field_results.IOU_RANGE),
    "field": Codec(_field_type, cut_text),
    "budget": whole_number(*field_results.BUDGETS),
    "field_within": _NAMED_FIELDS,
    "field_doc": _NAMED_FIELDS,
    "ledger": json_of(tuple[str, str, Outcome], _ledger, lambda chosen: (chosen[0], cut(chosen[1]), chosen[2])),
    "poster_a": _model(session_files.POSTERS, begins=0),
    "poster_b": _model(session_files.POSTERS, begins=1, other="poster_a"),
    "poster": Codec(_poster, cut_text),
    "part": one_of(poster_results.PARTS),
    "poster_of": one_of(poster_results.MODELS),
}
"""The codecs of parts that have none in `State`, by the name of the part."""


class Entry(NamedTuple):
    """A part of the address with the field behind it."""

    part: Part
    field: AnyField
    codec: Codec[Any]

    @property
    def name(self) -> str:
        """Return the name in the address bar."""
        return self.part.name

    @property
    def start(self) -> Any:  # noqa: ANN401 - the field's own type
        """Return the value that is not written."""
        return self.field.start if self.codec.start is None else self.codec.start()

    def is_of(self, view: View) -> bool:
        """Return whether a view writes the part, Compare only for what it shows."""
        return view in self.part.views and (view != "compare" or state.pair_kind in self.part.kinds)

    def text(self, value: object) -> str | None:
        """Return the value for the address; None for what is left out."""
        unset = value in (None, "", self.start)
        return None if unset or not self.part.applies() else self.codec.write(value) or None


def _entries() -> Iterator[Entry]:
    for field in vars(State).values():
        for each in (results.SCORES, field) if field is State.model else (field,):
            if isinstance(each, Field) and each.part is not None:
                yield Entry(each.part, each, each.part.codec or CODECS[each.part.name])


TABLE: Final = tuple(_entries())


# --- the whole address ---------------------------------------------------------------------------------------


_MOVED: Final[Mapping[tuple[View, str, str], tuple[View, Mapping[str, str]]]] = {
    ("gallery", "charts", "classes"): ("class_confusion", {}),
    ("gallery", "charts", "scores"): ("overview", {"charts": "scores"}),
    ("gallery", "charts", "fit"): ("overview", {"charts": "fit"}),
    ("compare", "below", "classes"): ("class_confusion", {"of": "A-B"}),
    ("compare", "below", "pixels"): ("pixel_confusion", {"of": "A-B"}),
    ("findings", "queue", "sample"): ("queue", {}),
}
"""Parts of old addresses whose view has become another one: that view, and what it shows then."""


def _follow_moved(view: View) -> None:
    for name, text in st.query_params.items():
        if (view, name, text) in _MOVED:
            place, parts_there = _MOVED[view, name, text]
            take(parts_there)
            state.refused = tuple(each for each in state.refused if each != name)
            st.switch_page(f"pages/{place}.py")


def read_url(view: View) -> None:
    """Take over the address bar when it was opened, changed or stepped back to by the reader.

    Each part, and the reviewer's name, is written when a view is entered, since a widget of the same key would start at
    its lowest value, and only then, as the reader may be moving it. A known address is followed only after a step back
    or onto another view: quick requests carry an old one. A session that did not come through app.py is sent there and
    ends.
    """
    if not state.access:
        st.switch_page("app.py")
    entered = state.view != view
    following = State.next_view.pop()
    # A press in the navigation that came before the run which would lead elsewhere is the later wish.
    if following and not entered:
        st.switch_page(following)
    for kind in (session_files.FIELDS, session_files.POSTERS):
        asked = view, *map(st.query_params.get, ("compare", "slices"))
        if kind.name in asked and session_files.is_offered(kind):
            # The sample opens with boxes alone. The navigation, above the view, has the others from the next run on.
            session_files.open_sample(kind)
            st.rerun()
    state.view = view
    _read(view, entered)
    _follow_moved(view)
    if entered:
        for field in (*(entry.field for entry in TABLE), State.reviewer):
            field.rewrite()


def _read(view: View, entered: bool) -> None:
    address = dict(st.query_params.items())
    if not state.restored:
        _restore(view, address)
    if "uploads" in address and not state.taken:
        # What it names is not open any more.
        state.lost, address = True, {}
    context = get_script_run_ctx()
    stepped = context is not None and context.is_history_navigation
    state.entered_bare = entered and not address
    state.linked = False
    if not address or (address in state.addresses and not entered and not stepped):
        return
    _remember(address)
    if stepped:
        for entry in TABLE:
            if not entry.part.stays:
                entry.field.set(entry.start)
    followed = {entry.name for entry in TABLE if entry.name in address and _follow(entry, address)}
    if "protocol" in followed and "iou" not in followed:
        state.iou = protocol.standard_iou()
    refused = tuple(name for name in address if name not in followed)
    state.refused = refused
    state.linked = "doc" in address and not {"doc", "page"} & set(refused)


def _restore(view: View, address: Mapping[str, str]) -> None:
    """Open the workspace folder once; take its filter, or the project's, where the address says nothing."""
    state.restored = True
    filters: Mapping[str, str] = {}
    if workspace_store.folder() is not None:
        held = workspace_store.read()
        session_files.open_kept_uploads(held.taken)
        pictures.open_kept_pages(held.pages)
        filters = held.filters
    said = {entry.name for entry in TABLE if address and entry.is_of(view)}
    session_files.files(session_files.BOXES)
    if protocol.of_files() != state.protocol:
        state.protocol = protocol.of_files()
        state.iou = protocol.standard_iou()
    before = filters or dict(urllib.parse.parse_qsl(os.environ.get(QUERY_VARIABLE, "")))
    take({name: text for name, text in before.items() if name not in said})
    _take_saved(filters.get(_SAVED, ""))


def _take_saved(text: str) -> None:
    with contextlib.suppress(msgspec.MsgspecError):
        saved = msgspec.json.decode(text.encode(), type=dict[str, dict[str, str]])
        state.saved_filters = {
            name: tuple(_filter_value(field, texts) for field in FILTER) for name, texts in saved.items()
        }


def _filter_value(field: AnyField, texts: Mapping[str, str]) -> object:
    entry = next(each for each in TABLE if each.field is field)
    with contextlib.suppress(ValueError):
        return entry.codec.read(texts[entry.name]) if entry.name in texts else field.start
    return field.start


def _saved_text() -> str:
    entries = [next(each for each in TABLE if each.field is field) for field in FILTER]
    saved = {
        name: {e.name: e.codec.write(value) for e, value in zip(entries, values, strict=True) if value != e.field.start}
        for name, values in state.saved_filters.items()
    }
    return msgspec.json.encode(saved).decode()


def _follow(entry: Entry, address: Mapping[str, str]) -> bool:
    text = address[entry.name]
    if entry.codec.known is not None and not entry.codec.known(text, address):
        return False
    try:
        entry.field.set(entry.codec.read(text))
    except ValueError:
        return False
    return True


def _remember(address: dict[str, str]) -> None:
    """Note an address that the browser may send again although the session has moved on."""
    others = tuple(each for each in state.addresses if each != address)
    state.addresses = (*others, address)[-_ADDRESSES_KEPT:]


def write_url(view: View, shown: Mapping[AnyField, object] | None = None) -> str:
    """Write what a view shows to the address bar, `shown` in place of the session's; return the query, or ""."""
    # Streamlit makes every change a step of the history: after `leave_first_address` the caller replaces the address.
    instead = shown or {}
    texts = {
        entry.name: entry.text(instead[entry.field] if entry.field in instead else entry.field.get())
        for entry in TABLE
        if entry.is_of(view)
    }
    address = {name: text for name, text in texts.items() if text is not None}
    _remember(address)
    if not State.address_left.pop() and dict(st.query_params.items()) != address:
        st.query_params.from_dict(address)
    if workspace_store.folder() is not None:
        workspace_store.keep_filters({**parts(), **({_SAVED: _saved_text()} if state.saved_filters else {})})
    return urllib.parse.urlencode(address)


def loses_uploads() -> bool:
    """Return whether the address is of uploads that ended with the session that had them."""
    return state.lost or ("uploads" in st.query_params and not state.taken and workspace_store.folder() is None)


def is_bare() -> bool:
    """Return whether the address bar names a view alone, or nothing."""
    return len(st.query_params) == 0


def take(query: Mapping[str, str]) -> None:
    """Set the session to the parts of an address, in the order of the table; skip those without sense."""
    for entry in TABLE:
        if entry.name in query:
            with contextlib.suppress(ValueError):
                entry.field.set(entry.codec.read(query[entry.name]))


def parts() -> dict[str, str]:
    """Return every part of the address that the session has a value for, whatever view writes it."""
    texts = {entry.name: entry.text(entry.field.get()) for entry in TABLE}
    return {name: text for name, text in texts.items() if text is not None}


def at(place: Place | None) -> dict[AnyField, object]:
    """Return a page, or none, as `write_url` takes it."""
    return {State.doc: place.document if place else None, State.page: place.index if place else None}


def leave_first_address() -> None:
    """Let the next `write_url` of a view that was opened by its name alone not write the address."""
    # Once: later runs of a part of the view still find what the whole view's last run has left.
    state.address_left = State.entered_bare.pop()
