"""Verdicts on extracted fields in this session: on a page of the view Fields, their standing, and corrected numbers."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import streamlit as st

from evaluator.drawing.payloads import PagePayload
from evaluator.protocols.fields.evaluation import IOU_THRESHOLDS
from evaluator.review.corrected import CorrectedEvaluation
from evaluator.review.field_corrections import FieldCorrections, corrected_fields, field_corrections
from evaluator.review.field_targets import attach_fields, field_model_name, stand_fields, targets_of
from evaluator.review.status import Standing
from evaluator.review.verdicts import Book
from pages.shared import session
from pages.shared import session_fields as choices
from pages.shared import session_findings as findings

VIEW_FILE: Final = "pages/fields.py"


def on_page(model: choices.FieldModel, document: str, payload: PagePayload) -> PagePayload:
    """The viewer's payload of a page with verdicts, what is not saved, and who reviews; see `session_findings`.

    Parameters
    ----------
    model : FieldModel
    document : str
    payload : PagePayload
        With the layers of the model's result.
    """
    told = attach_fields(payload, model.result, document, findings.book(), iou=choices.iou())
    return msgspec.structs.replace(findings.with_unsaved(told), verdicts=True)


def handle(model: choices.FieldModel, document: str, event: dict[str, Any]) -> findings.Unsaved | None:
    """Keep a verdict that the viewer sent; None when it is on disk, or when the document has no such problem any more.

    Parameters
    ----------
    model : FieldModel
        What is shown.
    document : str
        That of the event.
    event : dict
        ``target``, ``verdict`` and ``note``. It comes from a browser: an unknown target is not taken.
    """
    targets = targets_of(model.result, document, findings.book(), iou=choices.iou())
    target = targets.get(event["target"])
    if target is None:
        return None
    return findings.save(target, verdict=event["verdict"], note=event["note"], target_id=event["target"])


def any_field(book: Book) -> bool:
    """Whether a field was judged at all."""
    return any(judged.target.kind == "field" for judged in book.judged.values())


def corrections_of(found: choices.Opened) -> FieldCorrections | None:
    """The corrected ground truth of the open fields; None when no verdict changes it."""
    book = findings.book()
    if not any_field(book):
        return None
    to = _corrections(tuple(model.key for model in found.models), book.revision, _found=found, _book=book)
    return to if to.applied or to.issues else None


@st.cache_resource(max_entries=8, show_spinner=False)
def _corrections(
    keys: tuple[tuple[str, str], ...], revision: tuple[int, str], *, _found: choices.Opened, _book: Book
) -> FieldCorrections:
    return field_corrections([model.result for model in _found.models], _book)


def corrected_of(found: choices.Opened, model: choices.FieldModel) -> CorrectedEvaluation | None:
    """The result of a model on the corrected ground truth; None when no verdict changes it."""
    to = corrections_of(found)
    if to is None or not to.applied:
        return None
    keys = tuple(each.key for each in found.models)
    return _corrected((*keys, model.key), findings.book().revision, _model=model, _to=to)


@st.cache_resource(max_entries=16, show_spinner="Comparing the fields with the corrected ground truth")
def _corrected(
    keys: tuple[tuple[str, str], ...],
    revision: tuple[int, str],
    *,
    _model: choices.FieldModel,
    _to: FieldCorrections,
) -> CorrectedEvaluation:
    return corrected_fields(_model.result, _to)


def standings() -> list[Standing]:
    """What became of every judged field, the newest first; nothing is read when no field was judged."""
    book = findings.book()
    if not any_field(book):
        return []
    found = choices.opened()
    threshold = float(session.chosen("field_iou", IOU_THRESHOLDS[0]))
    return stand_fields(book, [model.result for model in found.models] if found else [], iou=threshold)


def every_standing(found: session.Opened | None) -> list[Standing]:
    """What became of every finding, of boxes and of fields, the newest first."""
    place = {target_id: number for number, target_id in enumerate(findings.book().judged)}
    every = [*findings.standings(found), *standings()]
    return sorted(every, key=lambda entry: place.get(entry.judged.target_id, len(place)))


def show_on_page(entry: Standing) -> None:
    """Make the view Fields open the page of a finding, with its box chosen and every problem in the list."""
    target, found = entry.judged.target, choices.opened()
    box = None
    threshold = float(session.chosen("field_iou", IOU_THRESHOLDS[0]))
    models = sorted(
        found.models if found else (), key=lambda model: field_model_name(model.result.compared) not in target.models
    )
    for model in models:
        (here,) = stand_fields(Book.of(entry.judged.history), [model.result], iou=threshold)
        if here.box_key is not None:
            session.choose("model", model.letter)
            box = here.box_key
            break
    for key, value in (
        ("field_door", choices.PROBLEMS),
        ("field_label", ""),
        ("field_within", ""),
        ("field_doc", target.document),
        ("field_page", (target.page or 0) + 1),
        ("field_box", box),
    ):
        session.choose(key, value)
