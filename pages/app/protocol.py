"""The protocol that the views of boxes show: the one place of the dashboard that looks a protocol up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeGuard, cast

import numpy as np

from evaluator import formats
from evaluator.analysis.doctor import match_check
from evaluator.data.dataset import Annotations, Dataset
from evaluator.data.fixes import Fix, fixes_for, parse_fix
from evaluator.data.issues import Issue
from evaluator.data.polygons import POLYGON_IOU
from evaluator.matching.box_results import AnyBoxPairs, BoxMatching
from evaluator.metrics.average_precision import Curve
from evaluator.metrics.results import threshold_text
from evaluator.protocols import DEFAULT, PROTOCOLS, AnyBoxProtocol, AnyProtocol
from evaluator.protocols.base import BoxEvaluation, BoxProtocol, boxless_issues, raise_on_errors
from evaluator.protocols.coco import coco_numbers
from evaluator.protocols.coco.matching import MOST_DETECTIONS
from pages.app.cache import Cached
from pages.app.state import state

_TRUTHS: Final = Cached[Annotations](8)


def available() -> dict[str, AnyBoxProtocol]:
    """Return the protocols that can be chosen, by name."""
    return {name: each for name, each in PROTOCOLS.items() if _is_available(each)}


def _is_available(each: AnyProtocol) -> TypeGuard[AnyBoxProtocol]:
    return isinstance(each, BoxProtocol) and "overview" in each.views


def chosen() -> AnyBoxProtocol:
    """Return the chosen protocol."""
    return named(state.protocol)


def named(name: str) -> AnyBoxProtocol:
    """Return the protocol of a name, the default one for a name that is none of `available`."""
    each = PROTOCOLS.get(name)
    return each if each is not None and _is_available(each) else cast(AnyBoxProtocol, PROTOCOLS[DEFAULT])


def suited(truth: Annotations | None, predictions: Iterable[Annotations]) -> str:
    """Return the protocol of the ground truth's format; the default one without it, and where it misses scores."""
    system = None if truth is None else available().get(truth.format)
    if system is None or (system.needs_scores and any(np.isnan(each.boxes.score).any() for each in predictions)):
        return DEFAULT
    return system.name


def of_files() -> str:
    """Return the protocol of the open files."""
    held = state.files
    return DEFAULT if held is None else suited(held.truth, [each.source for each in held.models if each.source])


def standard_iou() -> float:
    """Return the IoU threshold that the chosen protocol starts with."""
    return chosen().thresholds[0]


def options() -> Any:  # noqa: ANN401 - of the chosen protocol
    """Return the options of the chosen protocol as the reader set them."""
    return chosen().options(polygons=state.polygons, **_limit())


def _limit() -> dict[str, int]:
    limited = "max_detections" in chosen().options.__struct_fields__
    return {"max_detections": state.max_detections} if limited else {}


def key() -> str:
    """Return what results follow from beside files and thresholds: the protocol and its options."""
    return ", ".join([chosen().name, *([POLYGON_IOU] if state.polygons else []), *limit_words()])


def limit_words() -> tuple[str, ...]:
    """Return the limit of predictions as a signature states it, where it is not the protocol's own; else nothing."""
    limits = [most for most in _limit().values() if most != MOST_DETECTIONS]
    return tuple(f"at most {most} predictions per page and label" for most in limits)


def iou_words() -> str:
    """Return the IoU threshold as a signature states it, such as "IoU ≥ 0.50"."""
    name = POLYGON_IOU if state.polygons else "IoU"
    return f"{name} {'>' if chosen().above else '≥'} {threshold_text(state.iou)}"


def prepare(truth: Annotations, prediction: Annotations) -> tuple[Annotations, tuple[Issue, ...]]:
    """Return a prediction that can be joined with its ground truth, and issues; raises BadInput."""
    return chosen().prepare(truth, match_check.with_fixes(prediction, truth, fixes(prediction.name)), options())


def prepare_pixels(truth: Annotations, prediction: Annotations) -> tuple[Annotations, tuple[Issue, ...]]:
    """Return a prediction whose pixels can be counted, whatever its labels, and issues; raises BadInput."""
    raise_on_errors(*map(boxless_issues, (truth, prediction)))
    resolved = formats.resolve(match_check.with_fixes(prediction, truth, fixes(prediction.name)), truth)
    return resolved, resolved.issues


def truth_as_compared(truth: Annotations) -> Annotations:
    """Return the ground truth with the fixes that are for all files."""
    chosen_fixes = tuple(fix for fix in map(parse_fix, state.fixes) if fix.of_all_files and not fix.file)
    if not chosen_fixes:
        return truth
    key = truth.sha256, truth.name, truth.columns, truth.level, *truth.fixes, *(fix.text for fix in chosen_fixes)
    return _TRUTHS.of(key, lambda: match_check.with_fixes(truth, truth, chosen_fixes))


def fixes(name: str) -> tuple[Fix, ...]:
    """Return the chosen fixes of a prediction."""
    return fixes_for(tuple(map(parse_fix, state.fixes)), name)


def pairs(dataset: Dataset, model: int, files: Sequence[str] | None) -> AnyBoxPairs:
    """Return every pair of boxes of a model that could match, for every threshold that can be chosen.

    With the digests of all `files` they are kept for other processes.
    """
    of, how = chosen(), options()
    return of.pair(dataset, model, how) if files is None else of.kept_pair(dataset, model, how, files)


def evaluation(of_matching: object) -> BoxEvaluation:
    """Return the evaluation of a matching at the protocol's own IoU thresholds."""
    of = chosen()
    return of.result(of_matching, of.thresholds, options())


def curve(result: Any, label: str) -> Curve:  # noqa: ANN401 - of a protocol that ranks by score
    """Return precision and recall of a label against the score."""
    curve: Curve = result.curve(label)
    return curve


def match(of_pairs: AnyBoxPairs, min_score: float) -> BoxMatching:
    """Return the matching of the boxes with at least a score."""
    return chosen().match(of_pairs, options(), min_score=min_score)


def has_class_weights() -> bool:
    """Return whether the chosen protocol weighs labels in their mean."""
    return "class_weight" in chosen().options.__struct_fields__


def has_average_precision() -> bool:
    """Return whether the chosen protocol has average precision of its own."""
    return chosen().needs_scores


def average_precision(dataset: Dataset, model: int) -> Mapping[str, float | None] | None:
    """Return COCO's numbers of all predictions of a model; None when one has no score."""
    return coco_numbers(dataset, model)
