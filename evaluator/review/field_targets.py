"""Targets of compared fields, the verdicts on them, and whether these still apply.

A field is identified by the content of its boxes and by its paths, never by its row, its status or a threshold. A field
without a box that can be drawn has no target. Boxes are x1, y1, x2, y2 in the unit of their files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from evaluator.data.boxes import IntArray
from evaluator.data.dataset import box_key
from evaluator.data.fields import Field
from evaluator.protocols.fields.drill_down import problems
from evaluator.protocols.fields.evaluation import BELOW_THRESHOLD, MISSED, SPURIOUS, FieldsResult
from evaluator.protocols.fields.rows import ComparedFields, as_one
from evaluator.review.identity import TOLERANCE, TargetReview, match_reviews, stored_name, targets_by_id
from evaluator.review.status import FindingStatus, State, status_of, status_over
from evaluator.review.verdicts import JudgedBox, ReviewedTarget, ReviewLog, Target

_OF_STATUS: Final[Mapping[int, str]] = {BELOW_THRESHOLD: "below_threshold", MISSED: "missed", SPURIOUS: "spurious"}


def field_model_name(compared: ComparedFields) -> str:
    """Return the name under which a model's fields are known: that of its file or folder."""
    return stored_name(as_one(compared.prediction).name)


def _target(result: FieldsResult, row: int, problem: str | None, signature: str) -> Target | None:
    """Return a compared field as a target, on the page of its truth box if any; None without any box."""
    compared = result.compared
    model = field_model_name(compared)
    sides = compared.truth[row], compared.predicted[row]
    paths = compared.truth_path[row], compared.prediction_path[row]
    boxes = [
        _judged_box(field, path or "", None if place == 0 else model)
        for place, (field, path) in enumerate(zip(sides, paths, strict=True))
        if field is not None and field.box is not None
    ]
    if not boxes:
        return None
    page = next(field.page for field in sides if field is not None and field.box is not None)
    shares = all(0.0 <= number <= 1.0 for box in boxes for number in box.xyxy)
    return Target(
        kind="field",
        document=compared.documents[compared.document[row]],
        page=page,
        boxes=tuple(boxes),
        models=(model,),
        mistake=problem,
        label=paths[0] or paths[1] or "",
        signature=signature,
        unit="page" if shares else "pixels",
    )


JudgedFields = Mapping[int, TargetReview]
"""The fields of a document that can be judged, by row, each with the verdicts on it."""


def judged_fields(result: FieldsResult, document: str, log: ReviewLog, *, iou: float) -> JudgedFields:
    """Return the fields of a document that can be judged, each with the verdicts on it, by row.

    Rows rise; empty for an unknown document. A verdict goes to one field at most, see `identity.match_reviews`.
    """
    status, line = result.status(iou), result.signature.line
    targets: dict[int, Target] = {}
    for row in result.places(document).tolist():
        target = _target(result, row, _problem(result, row, int(status[row])), line)
        if target is not None:
            targets[row] = target
    return dict(zip(targets, match_reviews(list(targets.values()), log.fields_of(document)), strict=True))


def judged_rows(result: FieldsResult, document: str, log: ReviewLog, *, iou: float) -> dict[str, int]:
    """Return the row of each judged field of a document, by target id."""
    fields = judged_fields(result, document, log, iou=iou)
    return {judged.target_id: row for row, (_, judged) in fields.items() if judged}


def targets_of(result: FieldsResult, judged: JudgedFields, *, iou: float) -> dict[str, Target]:
    """Return the problems of a document by the identities under which verdicts are kept."""
    wrong = problems(result, iou)
    return targets_by_id(review for row, review in judged.items() if wrong[row])


def field_statuses(log: ReviewLog, results: Sequence[FieldsResult], *, iou: float) -> list[FindingStatus]:
    """Return what became of every judged field under the result of each open model, the newest first.

    ``model`` is None, because fields are no boxes of a dataset. Without results everything is not open.
    """
    looks = [_Look(result, log, iou) for result in results]
    asked = [(look.name, look.documents, look.at) for look in looks]
    return [status_over(judged, asked) for judged in log.judged.values() if judged.target.kind == "field"]


def same_box(box: JudgedBox, field: Field | None, path: str | None, target: Target) -> bool:
    """Return whether a field has the path and, up to the tolerance of its unit, the box that was judged."""
    if field is None or field.box is None or path != box.label:
        return False
    return all(abs(a - b) <= TOLERANCE[target.unit] for a, b in zip(field.box, box.xyxy, strict=True))


class _Look:
    """Looks judged fields up in one result; documents are worked out once."""

    def __init__(self, result: FieldsResult, log: ReviewLog, iou: float) -> None:
        self.result, self.log, self.iou = result, log, iou
        self.name = field_model_name(result.compared)
        self.documents = frozenset(result.compared.documents)
        self.wrong, self.status = problems(result, iou), result.status(iou)
        self._rows: dict[str, dict[str, int]] = {}

    def at(self, judged: ReviewedTarget) -> FindingStatus:
        row = self._judged_rows(judged.target.document or "").get(judged.target_id)
        state: State = "applies"
        if row is None:
            rows = [_row_of(box, judged.target, self.result) for box in judged.target.boxes]
            there = [row for row in rows if row is not None]
            if len(there) < len(rows):
                return status_of(judged, "gone")
            row, state = next((row for row in there if self.wrong[row]), there[0]), "regrouped"
        now: State = state if self.wrong[row] else "matched"
        name = _problem(self.result, row, int(self.status[row]))
        return status_of(judged, now, None, name, _key(self.result, row))

    def _judged_rows(self, document: str) -> dict[str, int]:
        if document not in self._rows:
            self._rows[document] = judged_rows(self.result, document, self.log, iou=self.iou)
        return self._rows[document]


def _row_of(box: JudgedBox, target: Target, result: FieldsResult) -> int | None:
    compared = result.compared
    is_truth = box.side == "ground_truth"
    fields, paths = (
        (compared.truth, compared.truth_path) if is_truth else (compared.predicted, compared.prediction_path)
    )
    rows: IntArray = result.places(target.document or "")
    return next((row for row in rows.tolist() if same_box(box, fields[row], paths[row], target)), None)


def _problem(result: FieldsResult, row: int, status: int) -> str | None:
    """Return a key of `FIELD_PROBLEMS`: what is wrong with the box before the value; None for nothing."""
    name = _OF_STATUS.get(status)
    wrong_value = bool(result.compared.is_field[row] and not result.compared.right[row])
    return name or ("wrong_value" if wrong_value else None)


def _key(result: FieldsResult, row: int) -> str:
    predicted = result.compared.predicted[row]
    return box_key("prediction" if predicted is not None and predicted.box is not None else "ground_truth", row)


def _judged_box(field: Field, path: str, model: str | None) -> JudgedBox:
    assert field.box is not None
    return JudgedBox(
        side="prediction" if model is not None else "ground_truth", label=path, xyxy=field.box, model=model
    )
