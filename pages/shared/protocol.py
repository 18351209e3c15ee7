"""The protocol that the views of boxes show: the one place of the dashboard that looks a protocol up.

Every protocol of the table that matches boxes one to one can be chosen, and whether outlines are compared instead of
boxes; its own defaults are the other options.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator import formats, match_check
from evaluator.doctor import Fix, fix_of, fixes_for
from evaluator.metrics.average_precision import Curve
from evaluator.metrics.box_results import AnyBoxMatching, AnyBoxPairs
from evaluator.metrics.results import threshold_text
from evaluator.model.dataset import Annotations, Dataset
from evaluator.model.issues import Issue
from evaluator.model.polygons import POLYGON_IOU
from evaluator.protocols import DEFAULT, AnyBoxProtocol, box_protocols
from evaluator.protocols.base import BoxEvaluation
from evaluator.protocols.coco import coco_numbers
from pages.shared.state import state


def shown() -> dict[str, AnyBoxProtocol]:
    """The protocols that can be chosen, by name."""
    return {name: each for name, each in box_protocols().items() if "overview" in each.views}


def chosen() -> AnyBoxProtocol:
    """The chosen protocol."""
    every = shown()
    return every.get(state.protocol, every[DEFAULT])


def options() -> Any:  # noqa: ANN401 - of the chosen protocol
    """The options of the chosen protocol as the reader set them."""
    return chosen().options(polygons=state.polygons)


def key() -> str:
    """What results follow from beside the files and the thresholds: the chosen protocol and its options."""
    return f"{chosen().name}, {POLYGON_IOU}" if state.polygons else chosen().name


def iou_words() -> str:
    """The IoU threshold as a signature states it, such as "IoU ≥ 0.50"."""
    name = POLYGON_IOU if state.polygons else "IoU"
    return f"{name} {'>' if chosen().above else '≥'} {threshold_text(state.iou)}"


def prepare(truth: Annotations, prediction: Annotations) -> tuple[Annotations, tuple[Issue, ...]]:
    """A prediction that can be joined with its ground truth, and what is odd about the two; raises BadInput."""
    return chosen().prepared(truth, match_check.with_fixes(prediction, truth, fixes(prediction.name)), options())


def prepare_pixels(truth: Annotations, prediction: Annotations) -> Annotations:
    """A prediction whose pixels can be counted against a ground truth, whatever its labels; raises BadInput."""
    return formats.resolve(match_check.with_fixes(prediction, truth, fixes(prediction.name)), truth)


def fixes(name: str) -> tuple[Fix, ...]:
    """What the reader chose to mend a prediction with."""
    return fixes_for(tuple(map(fix_of, state.fixes)), name)


def pairs(dataset: Dataset, model: int) -> AnyBoxPairs:
    """Every pair of boxes of a model that could match, for every threshold that can be chosen."""
    return chosen().pair(dataset, model, options())


def evaluation(of_matching: object) -> BoxEvaluation:
    """The evaluation of a matching at the protocol's own IoU thresholds."""
    of = chosen()
    return of.result(of_matching, of.thresholds, options())


def curve(result: Any, label: str) -> Curve:  # noqa: ANN401 - of a protocol that ranks by score
    """Precision and recall of a label against the score."""
    curve: Curve = result.curve(label)
    return curve


def match(of_pairs: AnyBoxPairs, min_score: float) -> AnyBoxMatching:
    """The matching of the boxes with at least a score."""
    return chosen().match(of_pairs, options(), min_score=min_score)


def has_class_weights() -> bool:
    """Whether the chosen protocol weighs labels in their mean."""
    return "class_weight" in chosen().options.__struct_fields__


def ranks() -> bool:
    """Whether the chosen protocol has average precision of its own."""
    return chosen().needs_scores


def average_precision(dataset: Dataset, model: int) -> Mapping[str, float | None] | None:
    """COCO's numbers of all predictions of a model, whatever the protocol; None when a prediction has no score."""
    return coco_numbers(dataset, model)
