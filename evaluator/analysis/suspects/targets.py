"""A suspect as the target of a verdict: accepting it is a "ground truth wrong" with the proposed correction.

The proposed box takes the place of a predictionin `evaluator.review.corrections`.
"""

from __future__ import annotations

from msgspec.structs import replace

from evaluator.analysis.suspects.listing import Suspects
from evaluator.review.identity import PROPOSED, SUSPECTED, box_model_name
from evaluator.review.verdicts import JudgedBox, Target


def target_of(suspects: Suspects, place: int, *, signature: str = "") -> Target:
    """Return the target of a verdict on the suspect at a place of the list.

    Its boxes are the ground truth box, if there is one, and the proposed box, unless the box is to go. An extra box is
    the same target as the missed box that it is for the models. `signature` says what made the list.
    """
    suspect, dataset = suspects[place], suspects.dataset
    boxes = []
    if suspect.kind != "missing":
        boxes.append(JudgedBox(side="ground_truth", label=suspect.label, xyxy=suspect.bbox))
    proposal = suspect.proposal
    if proposal.bbox is not None and proposal.label is not None:
        boxes.append(JudgedBox(side="prediction", label=proposal.label, xyxy=proposal.bbox, model=PROPOSED))
    return Target(
        kind="mistake",
        document=suspect.document,
        page=suspect.page,
        boxes=tuple(boxes),
        models=tuple(box_model_name(side.source) for side in dataset.predictions),
        mistake=f"{SUSPECTED}{suspect.kind}",
        label=suspect.label,
        signature=signature,
        unit=dataset.ground_truth.source.unit,
    )


def edited(target: Target, label: str, xyxy: tuple[float, float, float, float]) -> Target:
    """Return the target with another correction; a verdict on it is kept under the same identity.

    `label` and `xyxy`, in the unit of the target, are those of the box as it should be. ValueError: a box without area.
    """
    x1, y1, x2, y2 = xyxy
    if not (x1 < x2 and y1 < y2):
        raise ValueError("the right edge must be right of the left one, and the bottom edge below the top one")
    boxes = target.of("ground_truth")
    return replace(target, boxes=(*boxes, JudgedBox(side="prediction", label=label, xyxy=xyxy, model=PROPOSED)))
