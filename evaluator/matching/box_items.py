"""Which boxes a number counts: matched pairs and mistakes as one list, by cell, name, score or slice.

An item is a matched pair or a named mistake; a mistake of several boxes is one item. Rows and codes are those of the
`Dataset`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import AnyArray, BoolArray, FloatArray, IntArray, Overlap, area
from evaluator.data.dataset import CodeArray, JoinedBoxes
from evaluator.data.order import order_by
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.matching.causes import Family, family_title
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES, KindArray

MATCHED: Final = -1
"""Kind of a matched pair; mistakes have the codes of `evaluator.matching.error_types.DOCUMENT`."""
BACKGROUND: Final = -1
"""Label code of no box."""
FITS: Final = ("iou", "coverage", "purity")
# Columns of items that are made when somebody asks for them.
_WORKED_OUT: Final = ("document", "truth_label", "prediction_label", "score", *FITS, "size", "middle")
SliceMeasure = Literal["recall", "precision", "f1", "mean_iou", "mean_coverage", "mean_purity"]
"""A measure that is a mean over boxes: of the ground truth, of the predictions, of both, or of matches."""
SliceAverage = Literal["AP", "AP50", "AP75", "AR1", "AR10", "AR100", "map", "mean_f1"]
"""A mean over labels that a protocol makes, most of them of a ranking; slices of whole pages and labels have it."""


Status = Literal["TP", "FP", "FN"]


class Selection(NamedTuple):
    """Boxes of the two sides that a question is about: bool, shape (G,) and (P,)."""

    truth: BoolArray
    prediction: BoolArray


class BoxPlaces(NamedTuple):
    """Where each box of a side lies: float64, shape (N,); NaN where the page size is not known.

    `size`: area as a share of the page. `middle`: height of the middle in [0, 1]; 0 is the top.
    """

    size: FloatArray
    middle: FloatArray


@dataclass(frozen=True, eq=False)
class Items:
    """Matched pairs and mistakes as columns of one length K, sorted by page, then top to bottom.

    `kind`: int8, `MATCHED` or the code of a mistake's name. `mistake`, `match`: place in ``BoxResult.mistakes`` and
    ``BoxResult.matches``, -1 for one of the other kind. `truth`, `prediction`: first row of each side, -1 for none.
    `places`: None where sizes are in the unit of the boxes, not shares of the page.
    """

    result: AnyBoxResult
    kind: KindArray
    mistake: IntArray
    match: IntArray
    truth: IntArray
    prediction: IntArray
    page: IntArray
    places: tuple[BoxPlaces, BoxPlaces] | None = None

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, rows: IntArray) -> Items:
        """Return the items in the given rows and order."""
        names = ("kind", "mistake", "match", "truth", "prediction", "page")
        taken = replace(self, **{name: getattr(self, name)[rows] for name in names})
        vars(taken).update({name: vars(self)[name][rows] for name in _WORKED_OUT if name in vars(self)})
        return taken

    def with_columns(self, **columns: AnyArray) -> Items:
        """Return the same items with other values of some columns."""
        other = replace(self)
        vars(other).update(columns)
        return other

    @property
    def _sides(self) -> tuple[tuple[JoinedBoxes, IntArray], tuple[JoinedBoxes, IntArray]]:
        matching = self.result.matching
        return (matching.dataset.ground_truth, self.truth), (matching.prediction, self.prediction)

    @cached_property
    def document(self) -> CodeArray:
        """Return the code of the document, int32, shape (K,)."""
        return np.asarray(self.result.matching.dataset.page_document[self.page], dtype=np.int32)

    @cached_property
    def truth_label(self) -> CodeArray:
        """Return the label code of the ground truth, int32, shape (K,); -1 without one."""
        return codes_at(self._sides[0][0].label, self.truth)

    @cached_property
    def prediction_label(self) -> CodeArray:
        """Return the label code of the prediction, int32, shape (K,); -1 without one."""
        return codes_at(self._sides[1][0].label, self.prediction)

    @cached_property
    def score(self) -> FloatArray:
        """Return the score of the first prediction, float64, shape (K,); NaN without one."""
        rows = np.flatnonzero(self.prediction >= 0)
        return _placed(self._sides[1][0].score[self.prediction[rows]], rows, len(self))

    @cached_property
    def iou(self) -> FloatArray:
        """Return the IoU of the first boxes of both sides, float64, shape (K,); NaN where a side is missing."""
        return self._fit.iou

    @cached_property
    def coverage(self) -> FloatArray:
        """Return the coverage of the same boxes; NaN where a side is missing."""
        return self._fit.coverage

    @cached_property
    def purity(self) -> FloatArray:
        """Return the purity of the same boxes; NaN where a side is missing."""
        return self._fit.purity

    @cached_property
    def _fit(self) -> Overlap:
        """Return how the first boxes of both sides fit; of matched pairs what the matching says."""
        matched = self.kind == MATCHED
        both = np.flatnonzero((self.truth >= 0) & (self.prediction >= 0) & ~matched)
        fit = self.result.matching.fit(self.truth[both], self.prediction[both])
        columns = [_placed(column, both, len(self)) for column in fit]
        if matched.any():
            for name, column in zip(fit._fields, columns, strict=True):
                column[matched] = getattr(self.result.matches, name)[self.match[matched]]
        return Overlap(*columns)

    @cached_property
    def size(self) -> FloatArray:
        """Return the area of the larger first box, float64, shape (K,): a share of the page, or in box units."""
        if self.places is not None:
            # A side that is missing has -1, which is the last place.
            sides = zip(self.places, self._sides, strict=True)
            first, second = (np.append(place.size, np.nan)[rows] for place, (_, rows) in sides)
        else:
            known = [(side, rows, np.flatnonzero(rows >= 0)) for side, rows in self._sides]
            first, second = (_placed(area(side.xyxy[rows[there]]), there, len(self)) for side, rows, there in known)
        return np.asarray(np.fmax(first, second), dtype=np.float64)

    @cached_property
    def middle(self) -> FloatArray:
        """Return the height of the middle of the truth, else of the prediction, float64, shape (K,); 0 is top.

        A share of the page, or in the unit of the boxes.
        """
        middle = np.empty(len(self))
        for place, (side, rows), there in zip(
            self.places or (None, None), self._sides, (self.truth >= 0, self.truth < 0), strict=True
        ):
            some = rows[there]
            middle[there] = (
                (side.xyxy[:, 1][some] + side.xyxy[:, 3][some]) / 2.0 if place is None else place.middle[some]
            )
        return middle


def items(result: AnyBoxResult, *, matched: bool = True) -> Items:
    """Return all matched pairs and mistakes of a result, or its mistakes alone; empty without any box."""
    mistakes = result.mistakes
    truth, prediction, page = mistakes.first_truth, mistakes.first_prediction, mistakes.page
    pairs = 0
    if matched:
        predictions, truths = result.matched_rows
        pairs = len(truths)
        truth, prediction = np.concatenate([truths, truth]), np.concatenate([predictions, prediction])
        page = np.concatenate([result.matching.dataset.ground_truth.page[truths], page])
    number = np.arange(len(page))
    mistake, match = np.where(number >= pairs, number - pairs, -1), np.where(number < pairs, number, -1)
    kind = np.append(mistakes.kind, np.int8(MATCHED))[mistake]
    every = Items(result, kind, mistake, match, truth, prediction, page)
    return every.take(order_by([page, every.middle]))


def middles(xyxy: FloatArray) -> FloatArray:
    """Return the height of the middle of each box, float64, shape (N,)."""
    return np.asarray((xyxy[:, 1] + xyxy[:, 3]) / 2.0)


def in_selection(every: Items, pick: Selection) -> BoolArray:
    """Return which items a pick holds, bool, shape (K,).

    A matched pair when both of its boxes are picked; a mistake when one of the boxes that carry its name is.
    """
    mistakes, matched = every.result.mistakes, every.kind == MATCHED
    kept = _flags(every, mistakes.of_truth[pick.truth], mistakes.of_prediction[pick.prediction])[every.mistake]
    kept[matched] = pick.truth[every.truth[matched]] & pick.prediction[every.prediction[matched]]
    return kept


class ClassConfusion(NamedTuple):
    """Boxes by the label they have and the label they got; int64, shape (L + 1, L + 1), background last.

    Row: label of the ground truth; column: label of the prediction. The last row counts predictions that are no ground
    truth's, the last column ground truth that nobody predicted; their corner is 0.
    """

    labels: tuple[str, ...]
    counts: IntArray


def class_confusion(result: AnyBoxResult) -> ClassConfusion:
    """Return the class confusion matrix of boxes at one operating point.

    Its rows add up to the ground truth of each label, its columns to the predictions, its diagonal to the true
    positives. A ground truth and a prediction of different labels are one cell off the diagonal when
    `matching.error_types` names them "wrong class"; every other unmatched box is against the background. Matrices that
    match without regard to the label (Ultralytics, FiftyOne) can move boxes off the diagonal that the protocol counts
    as matched, and then show a lower recall.
    """
    labels, of_label = result.matching.labels, result.per_label
    size, mistakes = len(labels) + 1, result.mistakes
    truth, prediction = result.matching.dataset.ground_truth.label, result.matching.prediction.label
    place = _places(result)
    wrong = np.flatnonzero(mistakes.kind == DOCUMENT.index("wrong_class"))
    own, other = place[truth[mistakes.first_truth[wrong]]], place[prediction[mistakes.first_prediction[wrong]]]
    counts = np.bincount(own * size + other, minlength=size * size).reshape(size, size)
    inside = counts[:-1, :-1]
    # Whatever is neither matched nor one of these pairs is against the background.
    counts[:-1, -1] += of_label.fn - inside.sum(axis=1)
    counts[-1, :-1] += of_label.fp - inside.sum(axis=0)
    counts[np.arange(size - 1), np.arange(size - 1)] += of_label.tp
    return ClassConfusion(labels, counts)


def in_cell(result: AnyBoxResult, truth_label: str | None, prediction_label: str | None) -> Selection:
    """Return the boxes in a cell of the confusion, None: background; ValueError for a label not scored."""
    labels, size = result.matching.labels, len(result.matching.labels) + 1
    row = size - 1 if truth_label is None else labels.index(truth_label)
    column = size - 1 if prediction_label is None else labels.index(prediction_label)
    cells = _cells(result)
    matching = result.matching
    pick = Selection(
        np.zeros(len(matching.truth_counts), dtype=bool), np.zeros(len(matching.prediction_counts), dtype=bool)
    )
    pick.truth[np.flatnonzero(matching.truth_counts)[cells.truth == row * size + column]] = True
    pick.prediction[np.flatnonzero(result.counting_predictions)[cells.prediction == row * size + column]] = True
    return pick


def with_status(result: AnyBoxResult, status: Status, label: str | None) -> Selection:
    """Return the boxes that a count of true positives, false positives or missed ones counts, of a label or of all.

    Both boxes of each true positive. Nothing for a label that no file has.
    """
    matching, dataset = result.matching, result.matching.dataset
    code = None if label is None else dataset.labels.index(label) if label in dataset.labels else BACKGROUND
    truths, predictions = (
        counts & (np.ones(len(counts), dtype=bool) if code is None else side.label == code)
        for counts, side in (
            (matching.truth_counts, dataset.ground_truth),
            (result.counting_predictions, matching.prediction),
        )
    )
    nothing = np.zeros(len(truths), dtype=bool), np.zeros(len(predictions), dtype=bool)
    if status == "FN":
        return Selection(truths & (result.truth_partner == UNMATCHED), nothing[1])
    if status == "FP":
        return Selection(nothing[0], predictions & (result.prediction_partner == UNMATCHED))
    return Selection(
        truths & (result.truth_partner != UNMATCHED), predictions & (result.prediction_partner != UNMATCHED)
    )


def asked_boxes(result: AnyBoxResult, question: Query) -> Selection | None:
    """Return the boxes that a number about boxes counts, a cell or a status; None for another question."""
    if question.cell is not None:
        return in_cell(result, *question.cell)
    return None if question.status is None else with_status(result, question.status, question.label)


def count_asked(chosen: Items, question: Query) -> int | None:
    """Return how many of the boxes that a question counts some items hold; None where it is not about boxes.

    A mistake may hold several boxes: the sum is the number that was asked for when `chosen` is all behind it.
    """
    pick, mistakes = asked_boxes(chosen.result, question), chosen.result.mistakes
    if pick is None:
        return None
    held, matched = _flags(chosen, chosen.mistake), int((chosen.kind == MATCHED).sum())
    if question.status == "FP" or (question.cell is not None and question.cell[0] is None):
        return int((pick.prediction & held[mistakes.of_prediction]).sum())
    return matched + int((pick.truth & held[mistakes.of_truth]).sum())


def held_of(chosen: Items, boxes: Selection) -> Selection:
    """Return those of some boxes that some items hold: both of a matched pair, those that carry a mistake's name."""
    mistakes, matched = chosen.result.mistakes, chosen.kind == MATCHED
    held = _flags(chosen, chosen.mistake)
    sides = []
    for mask, of, rows in zip(
        boxes, (mistakes.of_truth, mistakes.of_prediction), (chosen.truth, chosen.prediction), strict=True
    ):
        kept = held[of]
        kept[rows[matched]] = True
        sides.append(mask & kept)
    return Selection(*sides)


def with_fit(every: Items, **ranges: tuple[float, float]) -> BoolArray:
    """Return items with ``iou``, ``coverage`` or ``purity`` in a range, bool, (K,); False without a side."""
    kept = np.ones(len(every), dtype=bool)
    for name, (low, high) in ranges.items():
        if name not in FITS:
            raise ValueError(f"{name} is none of {', '.join(FITS)}")
        column = getattr(every, name)
        kept &= (column >= low) & (column <= high)
    return kept


def _flags(every: Items, *mistakes: IntArray) -> BoolArray:
    """Return which mistakes of the result are named, bool, shape (M + 1,); the last place is for none."""
    flags = np.zeros(len(every.result.mistakes) + 1, dtype=bool)
    for rows in mistakes:
        flags[rows] = True
    flags[-1] = False
    return flags


class Inside(NamedTuple):
    """Boxes of one or both sides, bool, (G,) and (P,), None for a side not meant; `matched`: as matches."""

    truth: BoolArray | None
    prediction: BoolArray | None = None
    matched: bool = False


def with_boxes(every: Items, inside: Inside) -> BoolArray:
    """Return items that hold one of some boxes, bool, shape (K,)."""
    kept = np.zeros(len(every), dtype=bool)
    matched = every.kind == MATCHED
    for mask, of, rows in _sides(every, inside):
        if not inside.matched:
            kept |= _flags(every, of[mask])[every.mistake] & ~matched
        kept[matched] |= mask[rows[matched]]
    return kept


def count_boxes(chosen: Items, inside: Inside) -> int:
    """Return how many of some boxes some items hold; see `with_boxes`."""
    matched = chosen.kind == MATCHED
    held = _flags(chosen, *([] if inside.matched else [chosen.mistake]))
    return sum(
        int(mask[rows[matched]].sum()) + int((mask & held[of]).sum()) for mask, of, rows in _sides(chosen, inside)
    )


def _sides(every: Items, inside: Inside) -> Iterator[tuple[BoolArray, IntArray, IntArray]]:
    """Yield of each side that is meant its boxes, the mistake of each, and the row of each item there."""
    mistakes = every.result.mistakes
    if inside.truth is not None:
        yield inside.truth, mistakes.of_truth, every.truth
    if inside.prediction is not None:
        yield inside.prediction, mistakes.of_prediction, every.prediction


class SliceOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Boxes that this measure of a slice is a mean over and for which all conditions hold.

    A condition is (attribute, operator, value); see `evaluator.analysis.slices.conditions`.
    """

    measure: SliceMeasure | SliceAverage
    conditions: tuple[tuple[str, Literal["==", "<", ">="], str | float], ...]


class Query(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a reader clicked or selected, and so which items are meant: every condition must hold.

    `cell`: label of the ground truth and of the prediction in the class confusion; None is the background. `status`:
    the boxes that TP, FP or FN counts, of `label` where there is one. `name`: of
    `error_types.DOCUMENT`, or ``matched``. `cause`: a family of `matching.causes`. `score`, `iou`, `coverage`,
    `purity`: lowest and highest value, both included.
    """

    cell: tuple[str | None, str | None] | None = None
    status: Status | None = None
    label: str | None = None
    name: str | None = None
    cause: Family | None = None
    score: tuple[float, float] | None = None
    iou: tuple[float, float] | None = None
    coverage: tuple[float, float] | None = None
    purity: tuple[float, float] | None = None
    slice: SliceOf | None = None


MATCHED_NAME: Final = "matched"
_STATUS_WORDS: Final[dict[Status, str]] = {"TP": "Matched (TP)", "FP": "Extra (FP)", "FN": "Missed (FN)"}


def asks_for_matches(question: Query | None) -> bool:
    """Return whether a matched pair can be behind a question; without one all mistakes are meant."""
    if question is None or question.cause is not None or question.status in ("FP", "FN"):
        return False
    return question.name in (None, MATCHED_NAME)


def in_query(every: Items, question: Query, inside: Inside | None = None) -> BoolArray:
    """Return which of all the items of a result are behind a question, bool, shape (K,).

    `inside` has the boxes of the question's slice. ValueError when these are missing, a label is not scored or a name
    is unknown.
    """
    kept = np.ones(len(every), dtype=bool)
    pick = asked_boxes(every.result, question)
    if pick is not None:
        kept &= in_selection(every, pick)
    if question.name is not None:
        kept &= every.kind == (MATCHED if question.name == MATCHED_NAME else DOCUMENT.index(question.name))
    if question.cause is not None:
        causes = every.result.causes
        of_family = causes.alike.get(question.cause, np.empty(0, np.int64)).tolist()
        kept &= _flags(every, *(causes.rows[cause] for cause in of_family))[every.mistake]
    if question.score is not None:
        low, high = question.score
        kept &= (every.score >= low) & (every.score <= high)
    if question.slice is not None:
        if inside is None:
            raise ValueError("a question about a slice needs the boxes of the slice")
        kept &= with_boxes(every, inside)
    ranges = {name: getattr(question, name) for name in FITS if getattr(question, name) is not None}
    return kept & with_fit(every, **ranges)


def query_text(question: Query) -> str:
    """Return a question in the words of the field; ``All boxes`` when nothing is asked.

    >>> query_text(Query(cell=("Table", None), iou=(0.5, 0.6)))
    'Table predicted as background, IoU 0.50 to 0.60'
    """
    parts = []
    if question.cell is not None:
        truth, predicted = ("background" if label is None else label for label in question.cell)
        parts.append(f"{truth} predicted as {predicted}")
    if question.status is not None:
        parts.append(f"{_STATUS_WORDS[question.status]} {question.label or 'boxes'}")
    if question.name is not None:
        parts.append("Matched" if question.name == MATCHED_NAME else ERROR_TYPES["document"][question.name].title)
    if question.cause is not None:
        parts.append(family_title(question.cause))
    names = {"score": "score", "iou": "IoU", "coverage": "coverage", "purity": "purity"}
    for field, name in names.items():
        bounds = getattr(question, field)
        if bounds is not None:
            parts.append(f"{name} {bounds[0]:.2f} to {bounds[1]:.2f}")
    return ", ".join(parts) or "All boxes"


class _Cells(NamedTuple):
    """Cell of each box that takes part, as row * size + column."""

    truth: IntArray
    prediction: IntArray


def _cells(result: AnyBoxResult) -> _Cells:
    matching, mistakes = result.matching, result.mistakes
    dataset, prediction = matching.dataset, matching.prediction
    size, place = len(matching.labels) + 1, _places(result)
    partner, other_partner = result.truth_partner.copy(), result.prediction_partner.copy()
    wrong = np.flatnonzero(mistakes.kind == DOCUMENT.index("wrong_class"))
    truths, predictions = mistakes.first_truth[wrong], mistakes.first_prediction[wrong]
    partner[truths], other_partner[predictions] = predictions, truths
    rows, columns = np.flatnonzero(matching.truth_counts), np.flatnonzero(result.counting_predictions)
    own, other = place[dataset.ground_truth.label[rows]], place[prediction.label[columns]]
    predicted = np.where(
        partner[rows] == UNMATCHED, size - 1, place[codes_at(prediction.label, partner[rows], missing=0)]
    )
    true = np.where(
        other_partner[columns] == UNMATCHED,
        size - 1,
        place[codes_at(dataset.ground_truth.label, other_partner[columns], missing=0)],
    )
    return _Cells(own * size + predicted, true * size + other)


def _places(result: AnyBoxResult) -> IntArray:
    """Return the row of each dataset label in the class confusion, int64; the last for unscored labels."""
    labels, scored = result.matching.dataset.labels, result.matching.labels
    place = np.full(len(labels), len(scored), dtype=np.int64)
    place[result.matching.label_codes] = np.arange(len(scored))
    return place


def _placed(values: FloatArray, rows: IntArray, size: int) -> FloatArray:
    column = np.full(size, np.nan)
    column[rows] = values
    return column


def codes_at(column: CodeArray, rows: IntArray, *, missing: int = BACKGROUND) -> CodeArray:
    """Return codes of some rows, int32; `missing` where there is no row."""
    codes = np.full(len(rows), missing, dtype=np.int32)
    codes[rows >= 0] = column[rows[rows >= 0]]
    return codes
