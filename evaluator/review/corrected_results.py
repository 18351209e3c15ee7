"""The numbers of every protocol on the corrected ground truth, with the official result's options.

The protocol runs again on the files of ``corrections``; no count is changed by hand. Ignored ground truth leaves with
the prediction that matches it, which a first run finds; with greedy matching the remaining pairs stay the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from evaluator.data.dataset import Dataset, join
from evaluator.data.subsets import kept_boxes
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.metrics.results import ResultTable, Signature
from evaluator.protocols.base import DatasetResult, Result
from evaluator.review.corrections import Applied, Corrections

ResultT = TypeVar("ResultT", bound=Result)


class CorrectedResult(NamedTuple):
    """Result on the corrected files, to be shown next to the official one.

    `result` is of the same protocol and operating point, with the official rows of documents and pages; `applied`
    counts verdicts.
    """

    result: AnyBoxResult
    signature: Signature
    applied: int


@dataclass(frozen=True, eq=False)
class CorrectedEvaluation(Result, Generic[ResultT]):
    """Evaluation on the corrected files with the calls of the official one; `signed` names the verdicts."""

    result: ResultT
    signed: Signature
    applied: int

    @property
    def signature(self) -> Signature:
        """Return what made these numbers, the corrections included."""
        return self.signed

    def to_json(self) -> dict[str, object]:
        """Return plain values under the keys of the terminal contract, with ``verdicts_applied``."""
        return {**self.result.to_json(), "signature": self.signature.line, "verdicts_applied": self.applied}

    def table(self) -> ResultTable:
        """Return the rows for terminals and spreadsheets, under a title that says "corrected"."""
        table = self.result.table()
        return msgspec.structs.replace(table, title=f"{table.title} (corrected)", signature=self.signature.line)


def corrected_result(result: AnyBoxResult, to: Corrections) -> CorrectedResult:
    """Return the result of a model on the corrected files, at the same operating point.

    `ValueError` for a result of another dataset than the corrected one, or of a protocol without boxes to match.
    """
    matching = result.matching
    _require_same_files(matching.dataset, to)
    dataset = to.dataset
    if to.ignored.any():
        dataset = _without_ignored(lambda dataset: matching.on(dataset).at(result.iou), to, matching.model)
    again = matching.on(dataset).at(result.iou)
    return CorrectedResult(again, corrected_signature(again.matching.signature(result.iou), to), to.applied)


def corrected_evaluation(official: DatasetResult, to: Corrections) -> CorrectedEvaluation[DatasetResult]:
    """Run an evaluation again on the corrected files: all thresholds, average precision and pixels.

    Ignored ground truth leaves with the prediction that matches it at the lowest threshold (pixel protocol: by snapshot
    1.3 at IoU 0.5; what both covered is background). `ValueError` for an evaluation of another dataset.
    """
    _require_same_files(official.evaluated, to)
    dataset = to.dataset
    if to.ignored.any():
        dataset = _without_ignored(official.pairing_on, to, official.model)
    again = official.on(dataset)
    return CorrectedEvaluation(again, corrected_signature(again.signature, to), to.applied)


def corrected_signature(signature: Signature, to: Applied) -> Signature:
    """Return a signature that states how many verdicts are behind the number."""
    return msgspec.structs.replace(signature, options=(*signature.options, to.words))


def _require_same_files(dataset: Dataset, to: Corrections) -> None:
    files = [
        [(side.source.sha256, side.source.name) for side in (some.ground_truth, *some.predictions)]
        for some in (dataset, to.official)
    ]
    if files[0] != files[1]:
        raise ValueError("the corrections are those of another dataset")


def _without_ignored(run: Callable[[Dataset], AnyBoxResult], to: Corrections, model: int) -> Dataset:
    partner = run(to.dataset).truth_partner[to.ignored]
    predictions = [side.source for side in to.dataset.predictions]
    kept = np.ones(len(to.dataset.predictions[model]), dtype=bool)
    kept[partner[partner != UNMATCHED]] = False
    predictions[model] = kept_boxes(predictions[model], kept)
    return join(kept_boxes(to.dataset.ground_truth.source, ~to.ignored), *predictions)
