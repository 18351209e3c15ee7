"""Targets of the mistakes on a page, and what an older verdict is about today.

A mistake is identified by the content of the boxes that carry its name, never by its number, name, score or place in a
file. Boxes are those of `BoxResult`, x1, y1, x2, y2, origin top left, in the unit of the ground truth file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np

from evaluator.data.boxes import FloatArray, IntArray, iou
from evaluator.data.dataset import Annotations, Dataset, JoinedBoxes, Side
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from evaluator.matching.page_mistakes import PageMistakes, page_mistakes
from evaluator.review.verdicts import JudgedBox, ReviewedTarget, ReviewLog, Target, Unit

TOLERANCE: Final[Mapping[Unit, float]] = {"page": 1e-4, "pixels": 0.1}
"""Boxes whose corners differ by at most this are one box written with fewer digits."""

SAME_OBJECT_IOU: Final = 0.5
"""Accepted boxes of one label that overlap at least so much are one object."""

PROPOSED: Final = "proposed correction"
"""The model of a box that no model drew: what is proposed for a suspected error of the ground truth."""

SUSPECTED: Final = "suspected "
"""How the name of a judged suspected error of the ground truth begins, before its kind."""

WRONG_PIXELS: Final = "wrong_pixels"
"""The name of a judged match whose boxes differ in pixels: no mistake of boxes, see `pixel_targets`."""

TargetReview = tuple[Target, ReviewedTarget | None]
"""A target and the verdicts on it; None where nobody judged it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MistakeTargets(PageMistakes):
    """Mistakes of one page as targets, in the order of `mistakes`."""

    targets: tuple[Target, ...]


def box_model_name(prediction: Annotations) -> str:
    """Return the name of a model's boxes, without version so that verdicts outlive it; else the file's."""
    return stored_name(prediction.model or prediction.name)


def stored_name(name: str) -> str:
    """Return a name from a file as every store takes it: what no encoding holds is written as an escape."""
    return name.encode("utf-8", "backslashreplace").decode()


def finding_id(target: Target, reviewed: ReviewedTarget | None) -> str:
    """Return the identity under which a verdict on a target is kept: of earlier verdicts, else its own."""
    return reviewed.target_id if reviewed else target.id


def mistake_target(
    result: AnyBoxResult, page: int, boxes: Iterable[tuple[Side, int]], *, name: str, label: str, signature: str
) -> Target:
    """Return boxes of a page (row of the dataset), by side and row of its file, as the target of a verdict."""
    dataset, prediction = result.matching.dataset, result.matching.prediction
    model, sides = box_model_name(prediction.source), {"ground_truth": dataset.ground_truth, "prediction": prediction}
    judged = []
    for side, row in boxes:
        x1, y1, x2, y2 = sides[side].xyxy[row].tolist()
        of_model = model if side == "prediction" else None
        box_label = dataset.labels[sides[side].label[row]]
        judged.append(JudgedBox(side=side, label=box_label, xyxy=(x1, y1, x2, y2), model=of_model))
    return Target(
        kind="mistake",
        document=dataset.documents[dataset.page_document[page]].doc_id,
        page=int(dataset.page_index[page]),
        boxes=tuple(judged),
        models=(model,),
        mistake=name,
        label=label,
        signature=signature,
        unit=dataset.ground_truth.source.unit,
    )


def mistake_targets(result: AnyBoxResult, page: int, *, signature: str = "") -> MistakeTargets:
    """Return the mistakes of one page as targets of verdicts.

    `page` is a row of the dataset, -1 for a page that no file mentions; without a `signature`, that of the matching.
    """
    named = page_mistakes(result, page)
    mistakes, labels = named.mistakes, result.matching.dataset.labels
    line = signature or (result.matching.signature(result.iou).line if len(mistakes) else "")
    seen: dict[str, int] = {}
    targets: list[Target] = []
    for mistake in range(len(mistakes)):
        kind = ERROR_TYPES["document"][DOCUMENT[mistakes.kind[mistake]]]
        boxes = [(side, row) for side in kind.sides for row in named.rows_of(mistake, side).tolist()]
        label = labels[mistakes.label[mistake]]
        target = mistake_target(result, page, boxes, name=kind.name, label=label, signature=line)
        # Equal boxes are interchangeable, so the order of the mistakes is enough to tell them apart.
        seen[target.id] = repeat = seen.get(target.id, -1) + 1
        targets.append(msgspec.structs.replace(target, repeat=repeat) if repeat else target)
    rows = named.truth_rows, named.prediction_rows
    return MistakeTargets(targets=tuple(targets), mistakes=mistakes, truth_rows=rows[0], prediction_rows=rows[1])


def page_target(document: str, page: int, *, signature: str = "") -> Target:
    """Return a whole page as the target of a verdict; `page` from 0."""
    return Target(kind="page", document=document, page=page, signature=signature)


def match_reviews(
    targets: Sequence[Target], judged: Sequence[ReviewedTarget], now: Callable[[Target], Target] = lambda target: target
) -> list[TargetReview]:
    """Return each target of a page with the verdicts on it.

    A verdict goes to one target at most: first to the one of its identity, then to one whose boxes are equal up to
    `TOLERANCE`, where `now` is a judged target in the unit of the others.
    """
    by_id = {entry.target_id: entry for entry in judged}
    answer = [by_id.pop(target.id, None) if by_id else None for target in targets]
    rest = list(by_id.values())
    for position, target in enumerate(targets):
        if answer[position] is None and rest:
            twin = next((entry for entry in rest if _same_boxes(now(entry.target), target)), None)
            if twin is not None:
                rest.remove(twin)
                answer[position] = twin
    return list(zip(targets, answer, strict=True))


def match_page_reviews(
    targets: Sequence[Target], result: AnyBoxResult, page: int, log: ReviewLog
) -> list[TargetReview]:
    """Return targets of a page (row of the dataset of `result`), each with the verdicts on it."""
    if not targets:
        return []
    dataset = result.matching.dataset
    document = dataset.documents[dataset.page_document[page]].doc_id
    judged = log.on_page(document, int(dataset.page_index[page]))
    return match_reviews(targets, judged, lambda target: in_unit_of(dataset, target, page))


def targets_by_id(reviews: Iterable[TargetReview]) -> dict[str, Target]:
    """Return targets by the identities under which verdicts on them are kept."""
    return {finding_id(target, reviewed): target for target, reviewed in reviews}


def page_targets(result: AnyBoxResult, page: int, log: ReviewLog) -> dict[str, Target]:
    """Return the mistakes of a page (row of the dataset) by the identities under which verdicts are kept."""
    return targets_by_id(match_page_reviews(mistake_targets(result, page).targets, result, page, log))


def rows_of_box(box: JudgedBox, side: JoinedBoxes, rows: IntArray, labels: Sequence[str], unit: Unit) -> IntArray:
    """Return which of some rows are a judged box: its label and, up to `TOLERANCE`, its corners.

    `labels` has the names behind the codes of the side. The nearest first; empty when the box is not there.
    """
    if not len(rows) or box.label not in labels or side.source.unit != unit:
        return np.empty(0, dtype=np.int64)
    rows = rows[side.label[rows] == labels.index(box.label)]
    distance = np.abs(side.xyxy[rows] - np.array(box.xyxy)).max(axis=1, initial=0.0)
    near = np.flatnonzero(distance <= TOLERANCE[unit])
    return np.asarray(rows[near[np.argsort(distance[near], kind="stable")]])


def is_corrected(target: Target, truth: JoinedBoxes, rows: IntArray, labels: Sequence[str]) -> bool:
    """Return whether the ground truth has become what the verdict "ground truth wrong" on a mistake asks for.

    `target` as of `in_unit_of`; `rows`: those of the ground truth on its page; `labels`: names behind the codes. Boxes
    of the mistake must be gone there, and each accepted one be there under its label, maybe drawn anew
    (`SAME_OBJECT_IOU`); what repeats another box, exactly.
    """
    before, accepted = target.of("ground_truth"), target.of("prediction")
    unit = truth.source.unit
    if target.unit != unit or not (before or accepted):
        return False
    if len(before) == len(accepted) == 1 and before[0].label != accepted[0].label:
        accepted = (msgspec.structs.replace(accepted[0], xyxy=before[0].xyxy),)

    def look(box: JudgedBox) -> tuple[FloatArray, FloatArray]:
        """Return the corners of the boxes of a label, and those of the judged box as often."""
        label = labels.index(box.label) if box.label in labels else -1
        of_label = truth.xyxy[rows[truth.label[rows] == label]]
        return of_label, np.tile(np.array(box.xyxy), (len(of_label), 1))

    def is_there(box: JudgedBox) -> bool:
        drawn, judged = look(box)
        return bool((np.abs(drawn - judged).max(axis=1, initial=0.0) <= TOLERANCE[unit]).any())

    def is_drawn(box: JudgedBox) -> bool:
        if not before and target.mistake == "duplicate":
            return is_there(box)
        pairs = look(box)
        return bool(len(pairs[0])) and float(iou(*pairs).max()) >= SAME_OBJECT_IOU

    return not any(map(is_there, before)) and all(map(is_drawn, accepted))


def in_unit_of(dataset: Dataset, target: Target, page: int) -> Target:
    """Return a target on a page (row of the dataset) with its boxes in the unit of the ground truth.

    So a verdict on shares of a page is found again when the same boxes are opened in pixels. As it is where nobody
    knows the size of the page.
    """
    unit = dataset.ground_truth.source.unit
    if target.unit == unit or np.isnan(size := dataset.page_size[page]).any():
        return target
    factor = np.tile(size if unit == "pixels" else 1.0 / size, 2)
    boxes = []
    for box in target.boxes:
        x1, y1, x2, y2 = (np.array(box.xyxy) * factor).tolist()
        boxes.append(msgspec.structs.replace(box, xyxy=(x1, y1, x2, y2)))
    return msgspec.structs.replace(target, boxes=tuple(boxes), unit=unit)


def _same_boxes(first: Target, second: Target) -> bool:
    if len(first.boxes) != len(second.boxes) or first.unit != second.unit:
        return False
    rest = list(second.boxes)
    for box in first.boxes:
        twin = next((other for other in rest if _same_box(box, other, TOLERANCE[first.unit])), None)
        if twin is None:
            return False
        rest.remove(twin)
    return True


def _same_box(first: JudgedBox, second: JudgedBox, tolerance: float) -> bool:
    if (first.side, first.label, first.model) != (second.side, second.label, second.model):
        return False
    return all(abs(a - b) <= tolerance for a, b in zip(first.xyxy, second.xyxy, strict=True))
