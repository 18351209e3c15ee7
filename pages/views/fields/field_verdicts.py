"""Verdicts on extracted fields: on a page of the view Fields, their status, and corrected numbers."""

from __future__ import annotations

from typing import Final

import msgspec

from evaluator.components.compare.payload import PaneItem
from evaluator.components.viewer.judged import attach_fields
from evaluator.components.viewer.payload import PagePayload, VerdictEvent
from evaluator.protocols.fields import FieldsResult
from evaluator.review.corrected_results import CorrectedEvaluation
from evaluator.review.field_corrections import FieldCorrections, corrected_fields, field_corrections
from evaluator.review.field_targets import JudgedFields, field_model_name, field_statuses, judged_fields, targets_of
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import ReviewLog
from evaluator.system.lru_cache import LRUCache
from pages.app.cache import Cached
from pages.app.state import state
from pages.views.fields import field_results
from pages.views.fields.field_results import ComparedFields, FieldModel
from pages.views.findings import findings

VIEW_FILE: Final = "pages/fields.py"
_DOCUMENTS: Final = LRUCache[object, JudgedFields](most=16)
_CORRECTIONS: Final = Cached[FieldCorrections](8)
_CORRECTED: Final = Cached[CorrectedEvaluation[FieldsResult]](
    16, spinner="Comparing the fields with the corrected ground truth"
)


def on_page(model: FieldModel, document: str, payload: PagePayload) -> PagePayload:
    """Return the payload, with the layers of the model's result, with verdicts and what is not saved."""
    judged = attach_fields(payload.mistakes, _fields_with_verdicts(model, document))
    return msgspec.structs.replace(findings.with_verdicts(payload, judged), verdicts=True)


def on_pane(model: FieldModel, document: str, pane: PaneItem) -> PaneItem:
    """Return the page of one of two models with verdicts and what is not saved, as `on_page`."""
    return findings.with_verdicts(pane, attach_fields(pane.mistakes, _fields_with_verdicts(model, document)))


def handle(model: FieldModel, event: VerdictEvent) -> findings.Unsaved | None:
    """Keep a verdict that the viewer sent; None when it is on disk or its target is not known any more."""
    targets = targets_of(model.result, _fields_with_verdicts(model, event.document), iou=state.field_iou)
    return findings.save_event(event, targets)


def _fields_with_verdicts(model: FieldModel, document: str) -> JudgedFields:
    log, iou = findings.review_log(), state.field_iou
    key = (model.key, field_model_name(model.result.compared), document, iou, log.revision)
    return _DOCUMENTS.get_or_make(key, lambda: judged_fields(model.result, document, log, iou=iou))


def any_field(log: ReviewLog) -> bool:
    """Return whether any field was judged."""
    return any(judged.target.kind == "field" for judged in log.judged.values())


def corrections_of(compared: ComparedFields) -> FieldCorrections | None:
    """Return the corrected ground truth of the open fields; None when no verdict changes it."""
    log = findings.review_log()
    if not any_field(log):
        return None
    key = (*(model.key for model in compared.models), log.revision)
    to = _CORRECTIONS.of(key, lambda: field_corrections([model.result for model in compared.models], log))
    return to if to.applied or to.issues else None


def corrected_of(compared: ComparedFields, model: FieldModel) -> CorrectedEvaluation[FieldsResult] | None:
    """Return a model's result on the corrected ground truth; None when no verdict changes it."""
    to = corrections_of(compared)
    if to is None or not to.applied:
        return None
    key = (*(each.key for each in compared.models), model.key, findings.review_log().revision)
    return _CORRECTED.of(key, lambda: corrected_fields(model.result, to))


def statuses(log: ReviewLog) -> list[FindingStatus]:
    """Return what became of every judged field, the newest first; empty when none was judged."""
    if not any_field(log):
        return []
    compared = field_results.compare_models()
    threshold = state.field_iou
    return field_statuses(log, [model.result for model in compared.models] if compared else [], iou=threshold)


def show_on_page(entry: FindingStatus) -> None:
    """Make the view Fields open the page of a finding, its box chosen, every problem listed."""
    target, compared = entry.judged.target, field_results.compare_models()
    box = None
    threshold = state.field_iou
    models = sorted(
        compared.models if compared else (),
        key=lambda model: field_model_name(model.result.compared) not in target.models,
    )
    for model in models:
        (here,) = field_statuses(ReviewLog.of(entry.judged.history), [model.result], iou=threshold)
        if here.box_key is not None:
            state.model = model.index
            box = here.box_key
            break
    state.field_number, state.field_label, state.field_within = field_results.PROBLEMS, "", ""
    state.field_doc, state.field_page, state.field_box = target.document, (target.page or 0) + 1, box
