"""The numbers of every protocol with boxes on the corrected ground truth, next to the official ones.

Owns the second run: the protocol itself, with the options of the official result, on the files of ``corrections``. No
count is changed by hand, so whatever follows from a result (labels, pages, documents, average precision, mistakes,
pixels) follows here too. Ground truth that is ignored leaves with the prediction that matches it: for that the
protocol runs once with it. For a protocol that is greedy this takes away nothing else, because a pair that is taken out
was no rival of the pairs that remain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import numpy as np

from evaluator.metrics.box_results import UNMATCHED, BoxResult
from evaluator.metrics.results import ResultTable, Signature
from evaluator.model.dataset import Dataset, join
from evaluator.model.polygons import POLYGON_IOU
from evaluator.protocols import coco, pixel, pod, snapshot
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME
from evaluator.review.corrections import SAME_OBJECT_IOU, Corrections
from evaluator.review.revised import kept_boxes

BoxEvaluation = snapshot.SnapshotResult | pod.PodResult | coco.CocoResult


class Corrected(NamedTuple):
    """A result on the corrected files, to be shown next to the official one.

    Attributes
    ----------
    result : BoxResult
        Of the same protocol at the same operating point; documents and pages have the official rows.
    signature : Signature
    applied : int
        Verdicts behind it.
    """

    result: BoxResult[Any]
    signature: Signature
    applied: int


class CorrectedEvaluation(NamedTuple):
    """An evaluation of a protocol on the corrected files; the same calls as the official one.

    Attributes
    ----------
    result : SnapshotResult, PodResult, CocoResult or PixelResult
        Its own signature does not know of the corrections; `signature` does.
    signature : Signature
    applied : int
    """

    result: Any
    signature: Signature
    applied: int

    def to_json(self) -> dict[str, Any]:
        """Plain values under the keys of the terminal contract, with ``verdicts_applied``."""
        return {**self.result.to_json(), "signature": self.signature.line, "verdicts_applied": self.applied}

    def table(self) -> ResultTable:
        """Rows for terminals and spreadsheets, under a title that says "corrected"."""
        table: ResultTable = self.result.table()
        return msgspec.structs.replace(table, title=f"{table.title} (corrected)", signature=self.signature.line)


def corrected(result: BoxResult[Any], to: Corrections) -> Corrected:
    """The result of a model on the corrected files, at the same operating point.

    Parameters
    ----------
    result : BoxResult
        Of the dataset that was corrected: `snapshot`, `pod` or `coco`.
    to : Corrections

    Returns
    -------
    Corrected

    Raises
    ------
    ValueError
        When the result is of another dataset, or of a protocol without boxes to match.
    """
    _require_same_files(result.matching.dataset, to)
    again = _again(result)
    dataset = to.dataset
    if to.ignored.any():
        dataset = _without_ignored(lambda dataset: again(dataset).at(result.iou), to, result.matching.model)
    found = again(dataset).at(result.iou)
    return Corrected(found, signed(found.matching.signature(result.iou), to), to.applied)


def corrected_evaluation(official: BoxEvaluation | pixel.PixelResult, to: Corrections) -> CorrectedEvaluation:
    """An evaluation run again on the corrected files: all its thresholds, average precision and pixels included.

    Parameters
    ----------
    official : SnapshotResult, PodResult, CocoResult or PixelResult
        Of the dataset that was corrected.
    to : Corrections

    Returns
    -------
    CorrectedEvaluation

    Raises
    ------
    ValueError
        When the evaluation is of another dataset.

    Notes
    -----
    Ignored ground truth takes the prediction with it that matches it at the lowest threshold. The pixel protocol
    matches nothing; there it is the one that snapshot 1.3 matches at IoU 0.5, and what both covered is background.
    """
    if isinstance(official, pixel.PixelResult):
        _require_same_files(official.dataset, to)
        again = _pixels_again(official)(_without_ignored(_matched_boxes, to, 0) if to.ignored.any() else to.dataset)
        return CorrectedEvaluation(again, signed(official.signature, to), to.applied)
    lowest = official.thresholds[min(official.thresholds)]
    _require_same_files(official.matching.dataset, to)
    run = _again(lowest)
    dataset = to.dataset
    if to.ignored.any():
        dataset = _without_ignored(lambda dataset: run(dataset).at(lowest.iou), to, official.matching.model)
    result = _evaluated(official, run(dataset))
    return CorrectedEvaluation(result, signed(result.signature, to), to.applied)


def signed(signature: Signature, to: Corrections) -> Signature:
    """A signature that says how many verdicts are behind the number."""
    return msgspec.structs.replace(signature, options=(*signature.options, to.words))


def _require_same_files(dataset: Dataset, to: Corrections) -> None:
    """ValueError for a result of other files than those that were corrected."""
    files = [
        [(side.source.sha256, side.source.name) for side in (some.ground_truth, *some.predictions)]
        for some in (dataset, to.official)
    ]
    if files[0] != files[1]:
        raise ValueError("the corrections are those of another dataset")


def _again(result: BoxResult[Any]) -> Callable[[Dataset], Any]:
    """The matching of a dataset under the options of a result."""
    matching = result.matching
    scored_all = matching.labels == matching.dataset.labels[: matching.dataset.evaluated]
    chosen: dict[str, Any] = {
        "min_score": matching.min_score,
        "min_area": matching.min_area,
        "labels": None if scored_all else matching.labels,
    }
    pairing: dict[str, Any] = {
        "iou_floor": matching.iou_floor,
        "polygons": POLYGON_IOU in matching.signature(result.iou).options,
    }
    if isinstance(matching, snapshot.Matching):
        protocol: Any = snapshot
    elif isinstance(matching, pod.Matching):
        protocol = pod
        chosen |= {name: getattr(matching, name) for name in ("ap", "small_px", "line_max_px", "lenient")}
    elif isinstance(matching, coco.Matching):
        protocol = coco
        pairing["min_area"] = matching.min_area
    else:
        raise ValueError(f"no corrected numbers for {type(matching).__module__}")
    return lambda dataset: protocol.pair(dataset, matching.model, **pairing).match(**chosen)


def _evaluated(official: Any, matching: Any) -> Any:  # noqa: ANN401 - one of the three results, and its matching
    """The evaluation of a new matching at the thresholds of an old evaluation."""
    thresholds = {threshold: matching.at(threshold) for threshold in official.thresholds}
    if isinstance(official, snapshot.SnapshotResult):
        return snapshot.SnapshotResult(matching, thresholds, official.class_weight)
    if isinstance(official, pod.PodResult):
        return pod.PodResult(matching, thresholds)
    return coco.CocoResult(matching, thresholds, coco.average(matching, list(thresholds)))


def _without_ignored(run: Callable[[Dataset], BoxResult[Any]], to: Corrections, model: int) -> Dataset:
    """The corrected dataset without ignored ground truth and what matches it in a run."""
    partner = run(to.dataset).truth_partner[to.ignored]
    predictions = [side.source for side in to.dataset.predictions]
    kept = np.ones(len(to.dataset.predictions[model]), dtype=bool)
    kept[partner[partner != UNMATCHED]] = False
    predictions[model] = kept_boxes(predictions[model], kept)
    return join(kept_boxes(to.dataset.ground_truth.source, ~to.ignored), *predictions)


def _matched_boxes(dataset: Dataset) -> BoxResult[Any]:
    """Which boxes are one object, for a protocol that matches none."""
    return snapshot.pair(dataset, iou_floor=SAME_OBJECT_IOU).match().at(SAME_OBJECT_IOU)


def _pixels_again(official: pixel.PixelResult) -> Callable[[Dataset], pixel.PixelResult]:
    """The pixel protocol under the options of a result, on rasters of the same sizes."""
    dataset, same = official.dataset, official.same_classes
    ids = [document.doc_id for document in dataset.documents]
    places = zip(dataset.page_document.tolist(), dataset.page_index.tolist(), official.extent.tolist(), strict=True)
    sizes = {(ids[code], page): (width, height) for code, page, (width, height) in places if not math.isnan(width)}
    shared = (
        ()
        if same
        else tuple(
            name
            for name, comparable in zip(official.classes, official.comparable.tolist(), strict=True)
            if comparable and name != BACKGROUND_NAME
        )
    )
    missing = next(word for word in pixel.MISSING_PAGE if f"missing pages: {word}" in official.options)
    return lambda dataset: pixel.evaluate(
        dataset.ground_truth.source,
        dataset.predictions[0].source,
        classes="same" if same else "different",
        missing_page=missing,
        page_sizes=sizes,
        labels=official.chosen,
        shared_labels=shared,
        min_score=official.min_score,
    )
