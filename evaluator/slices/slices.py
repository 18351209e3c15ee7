"""Slices of evaluated boxes: which boxes are meant, how a slice reads, what it costs.

Owns the way from results of protocols that match boxes to the search and back: the outcome of each box, the attributes,
and every slice found as numbers, a sentence and rows. What is tried and how chance is controlled, `search` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.metrics.box_results import UNMATCHED, AnyBoxResult
from evaluator.metrics.results import ResultTable, count_of
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.model.dataset import Dataset, JoinedBoxes
from evaluator.slices.attributes import Attribute, OfPages, attributes_of, joined
from evaluator.slices.conditions import Condition, holding, subject
from evaluator.slices.search import ALPHA, SMALLEST_EFFECT, Search, Subset, search

Measure = Literal["recall", "precision"]
MEASURES: Final[tuple[Measure, ...]] = ("recall", "precision")


@dataclass(frozen=True, eq=False)
class Slice:
    """Boxes selected by conditions where a model is worse than elsewhere, or, of two models, B differs from A.

    Attributes
    ----------
    conditions : tuple of Condition
    measure : "recall" or "precision"
    value, rest : float
        The measure in the slice and elsewhere; of two models B minus A. Elsewhere are the other boxes, those of the
        same label when the slice names one.
    boxes, documents : int
        In the slice.
    lost : float
        Boxes that the slice costs: how many more would be right with the measure of elsewhere.
    p : float
        Chance of so clear a slice anywhere in the search where there is none.
    confirmed : bool
        See `evaluator.slices.search.Subset`.
    models : tuple of float, or None
        The measure in the slice of A and of B; None for one model.
    rows : int64
        Rows of the boxes in their file.
    held : uint8, shape (N,)
        For each box of the side a bit for each condition, the first one lowest: whether it holds.
    """

    conditions: tuple[Condition, ...]
    measure: Measure
    value: float
    rest: float
    boxes: int
    documents: int
    lost: float
    p: float
    confirmed: bool
    models: tuple[float, float] | None
    rows: IntArray
    held: npt.NDArray[np.uint8]

    @property
    def difference(self) -> float:
        """The measure in the slice minus that elsewhere."""
        return self.value - self.rest

    @property
    def subject(self) -> str:
        """Which boxes, as the beginning of a sentence."""
        return subject(self.conditions, "predictions" if self.measure == "precision" else "boxes")

    @property
    def sentence(self) -> str:
        """The slice in one sentence."""
        kept = "confirmed on the other half" if self.confirmed else "not confirmed on the other half"
        counts = f"{self.boxes:,} {'box' if self.boxes == 1 else 'boxes'} in {count_of(self.documents, 'document')}"
        if self.models is None:
            return f"{self.subject}: {self.measure} {self.value:.2f}, elsewhere {self.rest:.2f}; {counts}; {kept}"
        a, b = self.models
        way = "loses" if self.difference < 0 else "gains"
        return (
            f"{self.subject}: B {way} here, {self.measure} {b:.2f} against {a:.2f} of A "
            f"({100 * self.value:+.1f} points, elsewhere {100 * self.rest:+.1f}); {counts}; {kept}"
        )

    def to_json(self) -> dict[str, Any]:
        """The slice under the keys of the terminal contract."""
        value: dict[str, Any] = {
            "conditions": [each.to_json() for each in self.conditions],
            "measure": self.measure,
            "value": self.value,
            "rest": self.rest,
            "difference": self.difference,
            "boxes": self.boxes,
            "documents": self.documents,
            "lost": self.lost,
            "p": self.p,
            "confirmed": self.confirmed,
            "sentence": self.sentence,
        }
        if self.models is not None:
            value |= {"a": self.models[0], "b": self.models[1]}
        return value


class Slices(NamedTuple):
    """What was found in one search.

    Attributes
    ----------
    slices : tuple of Slice
        Most costly first.
    boxes : int
        That were searched.
    attributes : tuple of str
        Names of what the conditions could be on.
    searched : Search
    signature : str
        Of the results.
    """

    slices: tuple[Slice, ...]
    boxes: int
    attributes: tuple[str, ...]
    searched: Search
    signature: str

    @property
    def summary(self) -> str:
        """What was found, what was tested and what is controlled, in words; with too few documents, only that."""
        tried = self.searched
        if not self.enough:
            missing = count_of(tried.needed - tried.documents, "more document") + " would do for a search"
            return f"Too few documents to say: {tried.documents} with boxes; {missing}, more find smaller effects."
        return f"{self.heading}, {self.tested}"

    @property
    def enough(self) -> bool:
        """Whether there are enough documents for a search."""
        return self.searched.documents >= self.searched.needed

    @property
    def heading(self) -> str:
        """How many were found and confirmed: "5 slices found, 4 confirmed"."""
        if not self.slices:
            return "No slice found"
        confirmed = sum(each.confirmed for each in self.slices)
        return f"{count_of(len(self.slices), 'slice')} found, {confirmed} confirmed"

    @property
    def tested(self) -> str:
        """What was tested and what is controlled, in words."""
        tried = self.searched
        more = "" if self.slices else f" The clearest has p = {min(tried.best_p, 1.0):.2g}."
        return (
            f"of {tried.tested:,} tested on {self.boxes:,} boxes of {count_of(tried.documents, 'document')}. "
            f"At most {100 * ALPHA:.0f} % chance that any is listed where there is none (max-T over all tests, random "
            f"signs of whole documents).{more}"
        )

    def table(self) -> ResultTable:
        """One row per slice."""
        columns = ("lost", "slice", "value", "elsewhere", "boxes", "documents", "p", "confirmed")
        rows = tuple(
            (round(each.lost), each.subject, each.value, each.rest, each.boxes, each.documents, each.p,
             "yes" if each.confirmed else "no")
            for each in self.slices
        )  # fmt: skip
        return ResultTable(title=self.summary, signature=self.signature, columns=columns, rows=rows)


def find_slices(
    results: Sequence[AnyBoxResult],
    *,
    measure: Measure = "recall",
    of_pages: OfPages | None = None,
    of_boxes: Sequence[Attribute] = (),
    use_score: bool = False,
    smallest: float = SMALLEST_EFFECT,
    depth: int = 3,
    signature: str = "",
) -> Slices:
    """Where a model fails, or where the second of two models differs from the first.

    Parameters
    ----------
    results : sequence of BoxResult
        One, or two of one dataset.
    measure : "recall" or "precision"
        Of one model; recall alone for two.
    of_pages : mapping, optional
        Attributes of pages and documents from elsewhere, on top of those of the ground truth's file.
    of_boxes : sequence of Attribute
        Attributes from elsewhere of all boxes that the measure is of (see `side_of`).
    use_score : bool
        Whether conditions may be on the score; for precision only.
    smallest, depth
        See `search`.

    Raises
    ------
    ValueError
        For the precision of two models.
    """
    if len(results) == 2 and measure == "precision":
        raise ValueError("two models are compared on the boxes of the ground truth, so by recall")
    first = results[0]
    dataset = first.matching.dataset
    side = side_of(first, measure)
    outcomes = [hits(result, measure) for result in results]
    rows = np.flatnonzero(outcomes[0][1])
    right = [outcome[rows].astype(np.float64) for outcome, _ in outcomes]
    known = known_of_pages(dataset.ground_truth, of_pages)
    use_score = use_score and measure == "precision"
    every = attributes_of(dataset, side, of_pages=known, of_boxes=of_boxes, score=use_score)
    taken = [each.take(rows) for each in every]
    value = right[0] if len(right) == 1 else right[1] - right[0]
    loss = 1.0 - value if len(right) == 1 else -value
    document = side.document[rows].astype(np.int64)
    tried = search(taken, loss, document, two_sided=len(right) == 2, smallest=smallest, depth=depth)
    label = side.label[rows].astype(np.int64)
    made = [_slice(one, measure, value, right=right, label=label, rows=rows, every=every) for one in tried.subsets]
    # Elsewhere is what a reader compares with: where it is the same label and hardly differs, there is nothing to tell.
    listed = [each for each in made if abs(each.difference) >= smallest]
    listed.sort(key=lambda each: -each.lost)
    return Slices(tuple(listed), len(rows), tuple(each.name for each in every), tried, signature)


def side_of(result: AnyBoxResult, measure: Measure) -> JoinedBoxes:
    """The boxes that a measure is of: the ground truth's for recall, the predictions for precision."""
    dataset: Dataset = result.matching.dataset
    prediction: JoinedBoxes = result.matching.prediction
    return dataset.ground_truth if measure == "recall" else prediction


def hits(result: AnyBoxResult, measure: Measure) -> tuple[BoolArray, BoolArray]:
    """Which boxes are right, and which take part, both bool of one length.

    For recall of the ground truth, for precision of the predictions.
    """
    if measure == "recall":
        return result.truth_partner != UNMATCHED, result.matching.truth_counts
    return result.prediction_partner != UNMATCHED, result.counting_predictions


def boxes_in(
    conditions: Sequence[Condition],
    result: AnyBoxResult,
    measure: Measure,
    *,
    of_pages: OfPages | None = None,
    of_boxes: Sequence[Attribute] = (),
) -> BoolArray:
    """The boxes of a slice that count, bool, shape (N,), of the side that the measure is of.

    Raises
    ------
    KeyError
        For an attribute that is not known; its name.
    """
    dataset, side = result.matching.dataset, side_of(result, measure)
    known = known_of_pages(dataset.ground_truth, of_pages)
    every = attributes_of(dataset, side, of_pages=known, of_boxes=of_boxes, score=measure == "precision")
    return holding(conditions, attribute_table(every)) & hits(result, measure)[1]


def attributes_in(side: JoinedBoxes) -> dict[tuple[str, int | None], dict[str, str | int | float | bool | None]]:
    """What the file of a side says about its pages besides their boxes; numbers where all texts are numbers."""
    source = side.source
    of_pages: dict[tuple[str, int | None], dict[str, str | int | float | bool | None]] = {}
    for name, texts in source.attributes.items():
        values = plain_numbers(texts)
        for entry, value in enumerate(values):
            if value is not None:
                document = source.documents[int(source.page_document[entry])].doc_id
                of_pages.setdefault((document, int(source.page_index[entry])), {}).setdefault(name, value)
    return of_pages


def known_of_pages(side: JoinedBoxes, of_pages: OfPages | None) -> OfPages:
    """What is known of pages: what the file of a side says, and what comes from elsewhere, which counts more."""
    return joined(attributes_in(side), of_pages or {})


def plain_numbers(texts: Sequence[str | None]) -> list[str | float | None]:
    """Texts as numbers when all of them are; an empty one is None."""
    known = [None if text is None or not str(text).strip() else str(text).strip() for text in texts]
    try:
        numbers = [None if text is None else float(text) for text in known]
    except ValueError:
        return list(known)
    if any(number is not None and not np.isfinite(number) for number in numbers):
        return list(known)
    return list(numbers)


def _slice(
    subset: Subset,
    measure: Measure,
    value: FloatArray,
    *,
    right: Sequence[FloatArray],
    label: IntArray,
    rows: IntArray,
    every: Sequence[Attribute],
) -> Slice:
    """The numbers of a slice."""
    inside = np.zeros(len(value), bool)
    inside[subset.rows] = True
    elsewhere = ~inside
    if any(each.attribute == "label" and each.op == "==" for each in subset.conditions) and len(subset.conditions) > 1:
        same = elsewhere & (label == label[subset.rows[0]])
        elsewhere = same if same.any() else elsewhere
    here, there = float(value[inside].mean()), float(value[elsewhere].mean())
    table = attribute_table(every)
    held = np.zeros(len(every[0].values), dtype=np.uint8)
    for place, each in enumerate(subset.conditions):
        held |= each.holds(table[each.attribute]).astype(np.uint8) << place
    models = None
    if len(right) == 2:
        models = float(right[0][inside].mean()), float(right[1][inside].mean())
    return Slice(
        conditions=subset.conditions, measure=measure, value=here, rest=there, boxes=len(subset.rows),
        documents=subset.documents, lost=len(subset.rows) * (there - here), p=subset.p, confirmed=subset.confirmed,
        models=models, rows=rows[subset.rows], held=held,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageOfSlice:
    """A page with boxes of a slice: how many, and how many of them are wrong in the last of the models."""

    document: str
    page: int
    boxes: int
    wrong: int


def pages_of(one: Slice, results: Sequence[AnyBoxResult]) -> tuple[PageOfSlice, ...]:
    """The pages with boxes of a slice, those with most wrong ones first; `results` are those that were searched."""
    last = results[-1]
    dataset = last.matching.dataset
    side = side_of(last, one.measure)
    right, _ = hits(last, one.measure)
    page = side.page[one.rows]
    boxes = np.bincount(page, minlength=dataset.pages)
    wrong = np.bincount(page[~right[one.rows]], minlength=dataset.pages)
    order = np.lexsort((np.arange(dataset.pages), -wrong))
    names = dataset.document_ids
    return tuple(
        PageOfSlice(names[dataset.page_document[row]], int(dataset.page_index[row]), int(boxes[row]), int(wrong[row]))
        for row in order.tolist()
        if boxes[row]
    )


def attribute_table(attributes: Sequence[Attribute]) -> dict[str, Attribute]:
    """Attributes by name."""
    return {each.name: each for each in attributes}
