"""The numbers of every protocol with boxes on the corrected ground truth, next to the official ones.

Owns the second run: the protocol itself, with the options of the official result, on the files of ``corrections``. No
count is changed by hand, so whatever follows from a result (labels, pages, documents, average precision, mistakes,
pixels) follows here too. Ground truth that is ignored leaves with the prediction that matches it: for that the
protocol runs once with it. For a protocol that is greedy this takes away nothing else, because a pair that is taken out
was no rival of the pairs that remain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from evaluator.metrics.box_results import UNMATCHED, AnyBoxResult
from evaluator.metrics.results import ResultTable, Signature
from evaluator.model.dataset import Dataset, join
from evaluator.model.portions import kept_boxes
from evaluator.protocols.base import DatasetResult, Result
from evaluator.review.corrections import Applied, Corrections

ResultT = TypeVar("ResultT", bound=Result)


class Corrected(NamedTuple):
    """A result on the corrected files, to be shown next to the official one.

    Attributes
    ----------
    result : BoxResult
        Of the same protocol at the same operating point; documents and pages have the official rows.
    applied : int
        Verdicts behind it.
    """

    result: AnyBoxResult
    signature: Signature
    applied: int


@dataclass(frozen=True, eq=False)
class CorrectedEvaluation(Result, Generic[ResultT]):
    """An evaluation of a protocol on the corrected files; the same calls as the official one.

    Attributes
    ----------
    result : Result
        Its own signature does not know of the corrections; `signed` does.
    applied : int
        Verdicts behind it.
    """

    result: ResultT
    signed: Signature
    applied: int

    @property
    def signature(self) -> Signature:
        """What made these numbers, the corrections included."""
        return self.signed

    def to_json(self) -> dict[str, object]:
        """Plain values under the keys of the terminal contract, with ``verdicts_applied``."""
        return {**self.result.to_json(), "signature": self.signature.line, "verdicts_applied": self.applied}

    def table(self) -> ResultTable:
        """Rows for terminals and spreadsheets, under a title that says "corrected"."""
        table = self.result.table()
        return msgspec.structs.replace(table, title=f"{table.title} (corrected)", signature=self.signature.line)


def corrected(result: AnyBoxResult, to: Corrections) -> Corrected:
    """The result of a model on the corrected files, at the same operating point.

    Parameters
    ----------
    result : BoxResult
        Of the dataset that was corrected.

    Raises
    ------
    ValueError
        When the result is of another dataset, or of a protocol without boxes to match.
    """
    matching = result.matching
    _require_same_files(matching.dataset, to)
    dataset = to.dataset
    if to.ignored.any():
        dataset = _without_ignored(lambda dataset: matching.on(dataset).at(result.iou), to, matching.model)
    again = matching.on(dataset).at(result.iou)
    return Corrected(again, signed(again.matching.signature(result.iou), to), to.applied)


def corrected_evaluation(official: DatasetResult, to: Corrections) -> CorrectedEvaluation[DatasetResult]:
    """An evaluation run again on the corrected files: all its thresholds, average precision and pixels included.

    Parameters
    ----------
    official : DatasetResult
        Of the dataset that was corrected.

    Raises
    ------
    ValueError
        When the evaluation is of another dataset.

    Notes
    -----
    Ignored ground truth takes the prediction with it that matches it at the lowest threshold. The pixel protocol
    matches nothing; there it is the one that snapshot 1.3 matches at IoU 0.5, and what both covered is background.
    """
    _require_same_files(official.evaluated, to)
    dataset = to.dataset
    if to.ignored.any():
        dataset = _without_ignored(official.pairing_on, to, official.model)
    again = official.on(dataset)
    return CorrectedEvaluation(again, signed(again.signature, to), to.applied)


def signed(signature: Signature, to: Applied) -> Signature:
    """A signature that states how many verdicts are behind the number."""
    return msgspec.structs.replace(signature, options=(*signature.options, to.words))


def _require_same_files(dataset: Dataset, to: Corrections) -> None:
    """ValueError for a result of other files than those that were corrected."""
    files = [
        [(side.source.sha256, side.source.name) for side in (some.ground_truth, *some.predictions)]
        for some in (dataset, to.official)
    ]
    if files[0] != files[1]:
        raise ValueError("the corrections are those of another dataset")


def _without_ignored(run: Callable[[Dataset], AnyBoxResult], to: Corrections, model: int) -> Dataset:
    """The corrected dataset without ignored ground truth and what matches it in a run."""
    partner = run(to.dataset).truth_partner[to.ignored]
    predictions = [side.source for side in to.dataset.predictions]
    kept = np.ones(len(to.dataset.predictions[model]), dtype=bool)
    kept[partner[partner != UNMATCHED]] = False
    predictions[model] = kept_boxes(predictions[model], kept)
    return join(kept_boxes(to.dataset.ground_truth.source, ~to.ignored), *predictions)
