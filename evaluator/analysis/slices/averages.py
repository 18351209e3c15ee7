"""Slices by the means over labels of a protocol: what each box adds to them, and their exact values in a slice.

Average precision ranks the predictions of all pages in one list. Boxes of one page and label are matched among
themselves, so a set of whole pages and labels can be evaluated by itself: conditions are on page, document and label
alone, and both sides of a page share one value, that of the ground truth where the file says nothing.

The value of a box in the search is the average precision of its label plus its own contribution: the first derivative
with its weight (the infinitesimal jackknife; Efron 1982), times the boxes of the label. So the mean over a label is its
average precision; average recall and the F1 of a label are treated likewise. What is listed has the exact numbers of
the protocol over the labels in the slice and elsewhere.

A second search compares each box with the others of its document: documents differ more by average precision than by
recall, which hides a failure on some pages of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from evaluator.analysis.slices.attributes import PageValues
from evaluator.analysis.slices.conditions import Condition, condition_mask
from evaluator.analysis.slices.measure_values import GROUND_TRUTH, BoxValues, tables_of
from evaluator.analysis.slices.search import ALPHA, SMALLEST_EFFECT
from evaluator.analysis.slices.slices import (
    Slice,
    Slices,
    attribute_table,
    find_in_values,
    known_page_values,
    model_difference,
    slice_numbers,
)
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import JoinedBoxes
from evaluator.matching.box_items import SliceAverage
from evaluator.matching.box_measures import RankedLabel
from evaluator.matching.box_results import UNMATCHED
from evaluator.metrics.observations import Attribute
from evaluator.protocols import box_protocols
from evaluator.protocols.base import BoxEvaluation

LABEL: Final = "label"
_RECALLS: Final = frozenset({"AR1", "AR10", "AR100"})
_OF_BOXES: Final[Mapping[str, float]] = {"boxes on page": 0.0, "columns": np.nan}
"""Attributes of a page that are counted on the boxes of a side, and what is said of a page without any."""


def find_by_average(
    evaluations: Sequence[BoxEvaluation],
    average: SliceAverage,
    *,
    of_pages: PageValues | None = None,
    smallest: float = SMALLEST_EFFECT,
    depth: int = 3,
    signature: str = "",
) -> Slices:
    """Find where a model has a low average precision or recall, or where two models differ in it.

    See `slices.find_slices` for the other parameters; `average` is one of the ``averages`` of the
    protocol. Boxes and documents are those of the ground truth. A slice is confirmed when the search confirms it and
    the exact numbers differ in the same direction in both halves. ValueError: the evaluation lacks the average.
    """
    counted = average_values(evaluations, average)
    known = known_page_values(counted.dataset.ground_truth, of_pages)
    tables = of_whole_pages(counted.sides, tables_of(counted, of_pages=known, score=False))
    searches = [
        find_in_values(
            counted, tables, alpha=ALPHA / 2, smallest=smallest, depth=depth, signature=signature,
            within_documents=within_documents,
        )
        for within_documents in (False, True)
    ]  # fmt: skip
    tried = _clearest_of_both(searches, {at: attribute_table(table) for at, table in tables.items()})
    halves = tried.searched.halves

    def exact(one: Slice) -> Slice:
        return _with_exact(one, evaluations, average, tables, halves)

    def sorted_by_cost(slices: Sequence[Slice]) -> tuple[Slice, ...]:
        made = [each for each in map(exact, slices) if abs(each.difference) >= smallest]
        return tuple(sorted(made, key=lambda each: -each.lost))

    truths = int((counted.origin == GROUND_TRUTH).sum())
    return tried._replace(slices=sorted_by_cost(tried.slices), thin=sorted_by_cost(tried.thin), boxes=truths)


def _clearest_of_both(searches: Sequence[Slices], tables: Mapping[int, Mapping[str, Attribute]]) -> Slices:
    """Merge two searches; of slices that share half of the smaller one's boxes the clearest stays."""
    plain, within = searches

    def clearest(slices: Sequence[Slice]) -> tuple[Slice, ...]:
        kept: list[tuple[Slice, BoolArray]] = []
        for one in sorted(slices, key=lambda each: each.p):
            mine = np.concatenate([condition_mask(one.conditions, table) for table in tables.values()])
            if all(2 * (mine & other).sum() <= min(mine.sum(), other.sum()) for _, other in kept):
                kept.append((replace(one, p=min(2.0 * one.p, 1.0)), mine))
        return tuple(one for one, _ in kept)

    both = [each.searched for each in searches]
    return plain._replace(
        slices=clearest((*plain.slices, *within.slices)),
        thin=clearest((*plain.thin, *within.thin)),
        searched=replace(
            plain.searched,
            tested=sum(each.tested for each in both),
            best_p=min(min(2.0 * each.best_p, 1.0) for each in both),
        ),
    )


def average_values(evaluations: Sequence[BoxEvaluation], average: SliceAverage) -> BoxValues:
    """Return what each box adds to an average of each evaluation; see the module."""
    dataset = evaluations[0].evaluated
    sides = (dataset.ground_truth, *(each.matching.prediction for each in evaluations))
    starts = np.concatenate([[0], np.cumsum([len(side) for side in sides])])
    values = np.full((len(evaluations), int(starts[-1])), np.nan)
    for place, each in enumerate(evaluations):
        truth, predicted = _values(each, average)
        values[place, : starts[1]] = truth
        values[place, starts[place + 1] : starts[place + 2]] = predicted
    origin = np.repeat(np.arange(len(sides)), np.diff(starts))
    row = np.arange(starts[-1]) - starts[origin]
    kept = ~np.isnan(values).all(axis=0)
    return BoxValues.of(average, dataset, sides, (origin[kept], row[kept]), values[:, kept])


def _values(evaluation: BoxEvaluation, average: SliceAverage) -> tuple[FloatArray, FloatArray]:
    """Return the values of both sides, NaN for a box that never counts; what is matched counts with its partner."""
    truth, prediction = evaluation.evaluated.ground_truth, evaluation.matching.prediction
    added = np.zeros(len(truth)), np.zeros(len(prediction))
    counts = np.zeros(len(truth), bool), np.zeros(len(prediction), bool)
    of_label = np.zeros(len(evaluation.evaluated.labels))
    steps = 0
    for ranked in box_protocols()[evaluation.signature.protocol].ranked(evaluation, average):
        steps += 1
        for one in ranked:
            boxes, made = len(one.truth), len(one.prediction)
            if not (boxes or (made and average == "mean_f1")):
                continue
            counts[0][one.truth] = True
            counted = boxes
            if average in _RECALLS:
                value, of_truth = float(one.found.mean()), one.found / boxes
            else:
                counts[1][one.prediction] = True
                if average == "mean_f1":
                    counted = boxes + made
                    # F1 is 2 TP over the boxes of both sides: the pair counts at its ground truth.
                    value, of_truth = 2.0 * int(one.hit.sum()) / counted, 2.0 * one.found / counted
                    added[1][one.prediction] -= value / counted
                else:
                    value, of_prediction = influence(one)
                    of_truth = np.zeros(boxes)
                    added[1][one.prediction] += of_prediction
            added[0][one.truth] += of_truth - value / counted
            of_label[truth.label[one.truth[0]] if boxes else prediction.label[one.prediction[0]]] += value
    if not steps:
        raise ValueError(f"{average} needs an IoU threshold that was not evaluated")
    matched = np.flatnonzero(evaluation.first.truth_partner != UNMATCHED)
    partner = evaluation.first.truth_partner[matched]
    added[0][matched] += added[1][partner]
    counts[1][partner] = False
    size = np.zeros(len(of_label))
    for side, some in zip((truth, prediction), counts, strict=True):
        size += np.bincount(side.label[some], minlength=len(of_label))
    values = [
        np.where(some, (of_label[side.label] + size[side.label] * each) / steps, np.nan)
        for side, each, some in zip((truth, prediction), added, counts, strict=True)
    ]
    return values[0], values[1]


def influence(ranked: RankedLabel) -> tuple[float, FloatArray]:
    """Return the average precision of a label, and its derivative with the weight of each prediction.

    With n(k) predictions up to place k, t(k) true positives among them and N ground-truth boxes, average precision
    (area under the interpolated precision, in [0, 1]) is the sum over true positives i of t(k)/n(k) at the place k >= i
    where it is largest, over N; ties count at the first place. The derivative, float64 (P,), is that of t and n at all
    places from a prediction on; for each ground-truth box it is -AP/N, and all add up to 0.

    >>> rows = np.arange(2)
    >>> influence(RankedLabel(rows, np.array([False, True]), rows, np.array([True, False])))
    (0.25, array([-0.125,  0.375]))
    """
    hits, truths = np.flatnonzero(ranked.hit), len(ranked.truth)
    made = np.zeros(len(ranked.hit))
    if not len(hits):
        return 0.0, made
    precision = np.arange(1, len(hits) + 1) / (hits + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    at = np.where(precision == best, np.arange(len(hits)), len(hits))
    place = hits[np.minimum.accumulate(at[::-1])[::-1]]
    per_true, per_any = np.zeros(len(made)), np.zeros(len(made))
    np.add.at(per_true, place, 1.0 / (place + 1))
    np.add.at(per_any, place, best / (place + 1))
    behind = np.cumsum(per_true[::-1])[::-1], np.cumsum(per_any[::-1])[::-1]
    made = (ranked.hit * behind[0] - behind[1]) / truths
    made[hits] += best / truths
    return float(best.sum() / truths), made


def of_whole_pages(
    sides: Sequence[JoinedBoxes], tables: Mapping[int, Sequence[Attribute]]
) -> dict[int, tuple[Attribute, ...]]:
    """Return attributes of page, document and label that both sides agree on, by origin, as in the ground truth."""
    truth = sides[GROUND_TRUTH]
    kept = {at: [each for each in table if each.level != "box" or each.name == LABEL] for at, table in tables.items()}
    counted = {each.name: each.values for each in tables[GROUND_TRUTH] if each.name in _OF_BOXES}
    made = {GROUND_TRUTH: tuple(kept.pop(GROUND_TRUTH))}
    for at, table in kept.items():
        side, columns = sides[at], []
        pages = 1 + max(int(truth.page.max(initial=0)), int(side.page.max(initial=0)))
        for each in table:
            values = each.values
            if each.name in counted:
                of_page = np.full(pages, _OF_BOXES[each.name])
                of_page[truth.page] = counted[each.name]
                values = of_page[side.page]
            columns.append(replace(each, values=values))
        made[at] = tuple(columns)
    return made


def average_on(evaluation: BoxEvaluation, average: SliceAverage, truth: BoolArray, predicted: BoolArray) -> float:
    """Return an average of a protocol over the pages and labels of some boxes; NaN where it is undefined."""
    sides = evaluation.evaluated.ground_truth, evaluation.matching.prediction
    cells = np.zeros((evaluation.evaluated.pages, len(evaluation.evaluated.labels)), bool)
    for side, mask in zip(sides, (truth, predicted), strict=True):
        cells[side.page[mask], side.label[mask]] = True
    value = box_protocols()[evaluation.signature.protocol].average_on(evaluation, average, cells)
    return float("nan") if value is None else value


def _with_exact(
    one: Slice,
    evaluations: Sequence[BoxEvaluation],
    average: SliceAverage,
    tables: Mapping[int, Sequence[Attribute]],
    halves: Sequence[IntArray],
) -> Slice:
    """Return a slice with the numbers of the protocol in place of those of the search."""
    inside = {at: condition_mask(one.conditions, attribute_table(table)) for at, table in tables.items()}
    sides = (evaluations[0].evaluated.ground_truth, *(each.matching.prediction for each in evaluations))
    elsewhere = {at: ~mask & _comparable(one.conditions, tables[at]) for at, mask in inside.items()}

    def numbers(masks: Mapping[int, BoolArray], documents: IntArray | None = None) -> list[float]:
        there = {
            at: mask if documents is None else mask & np.isin(sides[at].document, documents)
            for at, mask in masks.items()
        }
        return [
            average_on(each, average, there[GROUND_TRUTH], there[place + 1]) for place, each in enumerate(evaluations)
        ]

    def difference(documents: IntArray) -> float:
        here, there = numbers(inside, documents), numbers(elsewhere, documents)
        return model_difference(here) - model_difference(there)

    here, there = numbers(inside), numbers(elsewhere)
    counts = evaluations[0].matching.truth_counts & inside[GROUND_TRUTH]
    made = slice_numbers(here, there, sides[GROUND_TRUTH].document[counts])
    confirmed = one.confirmed and all((made.value - made.rest) * difference(half) > 0.0 for half in halves)
    return replace(one, confirmed=confirmed, **made._asdict())


def _comparable(conditions: Sequence[Condition], table: Sequence[Attribute]) -> BoolArray:
    label = next(each for each in table if each.name == LABEL)
    named = [each for each in conditions if each.on_label]
    if not named or len(conditions) < 2:
        return np.ones(len(label.values), bool)
    return condition_mask(named, {LABEL: label})
