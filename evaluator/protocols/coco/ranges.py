"""COCO detection over ranges of pages: the twelve numbers of two files that are never in memory as a whole.

Owns the state of a range and how states become numbers. Images are ranked by id, which decides between equal scores,
and a range is a run of ranks. All boxes wait on disk as packed rows; those of a range are matched by the same code as a
whole corpus, and what stays of each prediction is its score and, for each size, a bit for every IoU threshold. Who
matches on one page does not depend on another one, and precision is made of counts: the numbers are those of
``coco.evaluate`` to the last digit, however many ranges there are.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator import formats
from evaluator.formats.coco import stream as coco_stream
from evaluator.formats.coco.reader import Numbers
from evaluator.formats.coco.shape import Doubt, ItemColumns, corners
from evaluator.formats.coco.stream import Named, Rows
from evaluator.metrics.average_precision import RECALL_101, average_precisions, counted, falling, first_reaching
from evaluator.metrics.box_results import plain_values
from evaluator.metrics.matching import most_pairs
from evaluator.metrics.results import JsonObject, ResultTable, Signature, SourceFile, ratio
from evaluator.model.boxes import BoolArray, FloatArray, IntArray
from evaluator.model.dataset import Annotations, Boxes, Document, Side, join
from evaluator.protocols.base import Result
from evaluator.protocols.coco.curves import MAX_DETECTIONS, Columns, Matched, matched_by_size
from evaluator.protocols.coco.evaluation import IOU_THRESHOLDS, numbers_by_label, numbers_of, table_of
from evaluator.protocols.coco.matching import AREA_RANGES, NAME, Pairs, own_signature, pair
from evaluator.system.beside import Beside, Work, beside, copies
from evaluator.system.freed_memory import give_back, keep
from evaluator.system.threads import in_threads

_MOST_PAGES: Final = 2_500
# Ranges of few pages take longer, and many ranges of a small corpus make the most of its memory.
_FEWEST_PAGES: Final = 250
_RANGES: Final = 20
# Each range that is matched needs memory of its own.
_MATCHED_AT_A_TIME: Final = 2
# Pieces of a ground truth that wait for its images, each some 150 kB.
_MOST_HELD: Final = 64
# One bit for each; for more of them the ordinary way is taken.
_MOST_THRESHOLDS: Final = 64
# The row of the range of all sizes.
_ALL: Final = [*AREA_RANGES].index("all")

BitArray = npt.NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False)
class RangesResult(Result):
    """The numbers of one model, without its boxes.

    Attributes
    ----------
    iou : tuple of float
        The thresholds, rising.
    columns : Columns
        Rows of ``iou``, columns of ``labels``.
    f1 : float or None
        Over all labels at the lowest threshold; None without any box.
    """

    ground_truth: SourceFile
    prediction: SourceFile
    labels: tuple[str, ...]
    iou: tuple[float, ...]
    columns: Columns
    documents: int
    pages: int
    f1: float | None

    @cached_property
    def signature(self) -> Signature:
        """What made these numbers."""
        return Signature(documents=self.documents, pages=self.pages, **own_signature(self.iou))

    @cached_property
    def numbers(self) -> dict[str, float | None]:
        """The twelve numbers by their COCO names; None where undefined."""
        return numbers_of(self.columns, self.iou)

    @cached_property
    def per_label(self) -> dict[str, dict[str, float | None]]:
        """The twelve numbers of each label; None where undefined."""
        return numbers_by_label(self.columns, self.iou, self.labels)

    def to_json(self) -> JsonObject:
        """The result as plain values under the keys of `CocoResult.to_json`; ``error_types`` is None."""
        # A results list takes its documents from its ground truth.
        nowhere: dict[Side, tuple[str, ...]] = {"ground_truth": (), "prediction": ()}
        own = {**self.numbers, "per_class": self.per_label, "error_types": None}
        return plain_values(self.signature, (self.ground_truth, self.prediction), self.labels, own, nowhere)

    def table(self) -> ResultTable:
        """One row per label, the mean over labels first: columns ``label`` and the twelve numbers."""
        return table_of(self.prediction.name, self.signature, self.numbers, self.per_label)


def average_over_ranges(
    ground_truth: Path,
    prediction: Path,
    *,
    iou: Sequence[float] = IOU_THRESHOLDS,
    pages_at_a_time: int | None = None,
) -> RangesResult | None:
    """The twelve numbers of a results list against an instances file, in a fraction of the memory.

    Parameters
    ----------
    ground_truth, prediction : Path
        Files, which need not be sorted.
    iou : sequence of float
        Thresholds in (0, 1].
    pages_at_a_time : int, >= 1, optional
        Pages of a range, by the size of the corpus when absent; the numbers do not depend on it.

    Returns
    -------
    RangesResult or None
        None when the ordinary way has to be taken, because a file or an option is anything but plain: a file cannot be
        read, is no COCO file of plain numbers (outlines, keys of other tools, missing values), or an error or a warning
        is to be reported; a threshold is out of range, or there are more than 64; so many boxes are on one page that
        their pairs have to be counted.

    Notes
    -----
    A box takes at most 47 bytes of a temporary file without a name, and what stays of a prediction some 25 bytes of
    memory. A range takes some 5 kB of memory for each page of 30 boxes. See `coco.evaluate` for the protocol.
    """
    rising = sorted(set(map(float, iou)))
    if not rising or len(rising) > _MOST_THRESHOLDS or not 0.0 < rising[0] <= rising[-1] <= 1.0:
        return None
    if not (_is_coco(ground_truth) and _is_coco(prediction)):
        return None
    keep()
    try:
        return _result(ground_truth, prediction, rising, pages_at_a_time)
    except coco_stream.DOUBTS:
        # The ordinary way uses the same code: what is wrong there is raised again.
        return None


def _result(
    ground_truth: Path, prediction: Path, iou: Sequence[float], pages_at_a_time: int | None
) -> RangesResult:  # fmt: skip
    """The result of two files; one of `coco_stream.DOUBTS` when they are not plain, or the disk is full."""
    threads = 1 if copies() else coco_stream.MOST_THREADS
    with (
        tempfile.TemporaryFile() as truth_spill,
        tempfile.TemporaryFile() as prediction_spill,
        ground_truth.open("rb") as truth_file,
        prediction.open("rb") as prediction_file,
    ):
        truth = coco_stream.Instances(truth_file)

        def waiting(named: Named) -> tuple[_Waiting, _Waiting]:
            """Both sides, of which no row is there yet."""
            pages = len(named.ids)
            at_a_time = min(pages, pages_at_a_time or min(max(pages // _RANGES, _FEWEST_PAGES), _MOST_PAGES))
            sides = (coco_stream.TRUTH, truth_spill), (coco_stream.PREDICTION, prediction_spill)
            truths, predictions = (_Waiting(row, pages, at_a_time, spill) for row, spill in sides)
            return truths, predictions

        def second_half() -> Work:
            named = truth.named()
            predicted = coco_stream.Results(prediction_file, named)
            # The first predictions are looked at before all of the ground truth is: most doubts are about them.
            rows = predicted.rows(threads)
            first = [*islice(rows, 1)]
            yield named.arrays()
            truths, predictions = waiting(named)
            predictions.add(chain(first, rows))
            told = yield *predictions.arrays(), np.frombuffer(bytes.fromhex(predicted.sha256), np.uint8)
            truths.know(told)
            give_back()
            matched = _matched(truths, predictions, truths.ranges[truths.middle :], named.labels.names, iou)
            yield from _later_labels(matched, len(iou))

        with beside(second_half) as other, closing(truth.columns(threads)) as columns:
            # Annotations wait until it is known which images there are.
            held = deque[ItemColumns]()
            for items in columns:
                held.append(items)
                if other.ready() or len(held) == _MOST_HELD:
                    break
            named = Named.of(other.ask())
            other.tell([])
            truths, predictions = waiting(named)
            truths.add(truth.rows(chain(_taken(held), columns), named))
            *known, digest = other.ask()
            predictions.know(known)
            _need_few_pairs(truths)
            _need_few_pairs(predictions)
            other.tell(truths.arrays())
            matched = _matched(truths, predictions, truths.ranges[: truths.middle], named.labels.names, iou)
            averages = _of_all_labels(matched, other, len(iou))
    return RangesResult(
        ground_truth=SourceFile(ground_truth.name, truth.sha256),
        prediction=SourceFile(prediction.name, digest.tobytes().hex()),
        labels=named.labels.names,
        iou=tuple(iou),
        columns=averages.columns,
        documents=named.documents,
        pages=len(named.ids),
        f1=averages.f1,
    )


def _taken(parts: deque[ItemColumns]) -> Iterator[ItemColumns]:
    """Parts that are given up while they are used."""
    while parts:
        yield parts.popleft()


def _matched(
    truths: _Waiting, predictions: _Waiting, numbers: range, labels: tuple[str, ...], iou: Sequence[float]
) -> Iterator[_State]:
    """The states of some ranges."""
    at_a_time = truths.pages_at_a_time
    sides = (
        (_side(truths.take(number), labels, at_a_time), _side(predictions.take(number), labels, at_a_time))
        for number in numbers
    )
    return in_threads(lambda both: _state(*both, iou), sides, most=1 if copies() else _MATCHED_AT_A_TIME)


def _need_few_pairs(waiting: _Waiting) -> None:
    """Doubt about a side whose pairs the ordinary way counts before it makes them; see `metrics.crowding`."""
    if float((waiting.of_page.astype(np.float64) ** 2).sum()) > most_pairs(int(waiting.of_page.sum())):
        raise Doubt


def _is_coco(path: Path) -> bool:
    """Whether a path is a file that is read as COCO; a folder and a device are not."""
    try:
        return path.is_file() and formats.detect_file(path) == NAME
    except coco_stream.DOUBTS:
        return False


class _Waiting:
    """The rows of a file that wait on disk until it is the turn of their range.

    Parameters
    ----------
    row : dtype
        Has the field ``page``.
    pages : int
        How many there are.
    file : binary file
        Empty; the rows are there until it is closed.

    Attributes
    ----------
    of_page : int64, shape (M,)
        Rows of each page.
    spans : int64, shape (K, 3)
        Number of a range, the first of some of its rows in the file, and the one after the last; in file order.
    ranges : range
        The numbers of all ranges.
    middle : int
        Where the second half of them begins.
    """

    def __init__(self, row: np.dtype[np.void], pages: int, pages_at_a_time: int, file: BinaryIO) -> None:
        self._row, self.pages_at_a_time, self._file = row, pages_at_a_time, file
        self.ranges = range(-(-pages // pages_at_a_time))
        self.middle = len(self.ranges) // 2
        self.of_page = np.zeros(pages, dtype=np.int64)
        self.spans = np.zeros((0, 3), dtype=np.int64)

    def arrays(self) -> tuple[IntArray, IntArray]:
        """What another object has to know of rows that are in the same file."""
        return self.of_page, self.spans

    def know(self, arrays: Iterable[IntArray]) -> None:
        """Rows that another object added to the same file."""
        self.of_page, self.spans = arrays

    def add(self, parts: Iterable[Rows]) -> None:
        """Write all rows, arrays of `row` in file order."""
        pages, spans, written = len(self.of_page), [self.spans], 0
        for rows in parts:
            page = np.ascontiguousarray(rows["page"])
            first = int(page.min(initial=pages))
            there = np.bincount(page - first)
            self.of_page[first : first + len(there)] += there
            number = page // self.pages_at_a_time
            if (number[1:] < number[:-1]).any():
                order = np.argsort(number, kind="stable")
                rows, number = rows.take(order), number[order]  # noqa: PLW2901 - the same rows in another order
            self._file.write(rows.view(np.uint8).data)
            starts = np.flatnonzero(np.diff(number, prepend=-1))
            bounds = np.append(starts, len(rows)) + written
            spans.append(np.stack([number[starts], bounds[:-1], bounds[1:]], axis=1))
            written += len(rows)
        self._file.flush()
        self.spans = np.concatenate(spans)

    def take(self, number: int) -> Rows:
        """The rows of a range in file order, with pages counted from its first."""
        spans = self.spans[self.spans[:, 0] == number, 1:].tolist()
        rows = np.empty(sum(stop - start for start, stop in spans), dtype=self._row)
        filled = 0
        for start, stop in spans:
            into = rows[filled : filled + stop - start].view(np.uint8).data
            if self._read(into, start * self._row.itemsize) != len(into):
                raise OSError(f"a temporary file lost its end: {len(into):,} bytes at row {start:,}")
            filled += stop - start
        rows["page"] -= number * self.pages_at_a_time
        return rows

    def _read(self, into: memoryview, at: int) -> int:
        """Fill some memory from a place of the file, which a copy of this process may read as well."""
        if sys.platform != "win32":
            return os.preadv(self._file.fileno(), [into], at)
        self._file.seek(at)
        return self._file.readinto(into)


def _side(rows: Rows, labels: tuple[str, ...], pages: int) -> Annotations:
    """The rows of a range as one document, whose pages are in the order of the image ids."""
    side: Side = "ground_truth" if rows.dtype == coco_stream.TRUTH else "prediction"
    xywh = np.ascontiguousarray(rows["xywh"])
    page, place = rows["page"].astype(np.int32), np.arange(len(rows), dtype=np.int32)
    is_truth = side == "ground_truth"
    return Annotations(
        name=side,
        sha256="",
        format=NAME,
        side=side,
        model=None,
        version=None,
        labels=labels,
        evaluated=len(labels),
        documents=(Document("", ""),),
        page_document=np.zeros(pages, dtype=np.int32),
        page_index=np.arange(pages),
        boxes=Boxes(
            document=np.zeros(len(rows), dtype=np.int32),
            page=page.astype(np.int64),
            label=rows["label"].astype(np.int32),
            xyxy=corners(xywh),
            score=np.broadcast_to(np.nan, len(rows)) if is_truth else rows["score"].astype(np.float64),
            entry=page,
            position=place,
            ids=Numbers(place.astype(np.int64)),
            area=rows["area"].astype(np.float64) if is_truth else None,
            crowd=rows["crowd"].copy() if is_truth and rows["crowd"].any() else None,
            box_area=xywh[:, 2] * xywh[:, 3],
        ),
        unit="pixels",
    )


class _Ranked(NamedTuple):
    """The predictions that count for any size at any IoU threshold, by (label, falling score, image id, file order).

    Attributes
    ----------
    score : float64, shape (N,)
    true, counts : unsigned integers, shape (S, N)
        At which thresholds, as bits, it is a true positive for each of `AREA_RANGES`, and at which it is a true or a
        false positive.
    bounds : int64, shape (L + 1,)
        Where each label begins, and where the last one ends.
    """

    score: FloatArray
    true: BitArray
    counts: BitArray
    bounds: IntArray


class _State(NamedTuple):
    """What stays of a range of pages.

    Attributes
    ----------
    ranked : _Ranked
    positives : int64, shape (S, L)
        Ground truth that counts, by size and label.
    best : dict of int64, shape (T, L)
        True positives of any size among so many predictions of each page and label, for the limits below 100.
    """

    ranked: _Ranked
    positives: IntArray
    best: dict[int, IntArray]

    def arrays(self) -> Iterator[npt.NDArray[Any]]:
        """All columns, in an order of their own."""
        yield from (*self.ranked, self.positives)
        yield from (self.best[most] for most in MAX_DETECTIONS[:-1])

    def of(self, labels: slice) -> _State:
        """A copy of what belongs to some labels that follow each other."""
        score, true, counts, bounds = self.ranked
        begins, ends = bounds[:-1][labels], bounds[1:][labels]
        rows = slice(int(begins[0]), int(ends[-1])) if len(ends) else slice(0, 0)
        bounds = np.append(begins, ends[-1:]) - rows.start
        ranked = _Ranked(score[rows].copy(), true[:, rows].copy(), counts[:, rows].copy(), bounds)
        return _State(ranked, self.positives[:, labels], {most: best[:, labels] for most, best in self.best.items()})

    @classmethod
    def all_of(cls, arrays: Iterable[npt.NDArray[Any]]) -> Iterator[_State]:
        """States from their columns, one state after the other."""
        coming = iter(arrays)
        for score in coming:
            ranked = _Ranked(score, *islice(coming, len(_Ranked._fields) - 1))
            yield cls(ranked, next(coming), dict(zip(MAX_DETECTIONS[:-1], coming, strict=False)))


def _state(truths: Annotations, predictions: Annotations, iou: Sequence[float]) -> _State:
    """The state of a range of pages."""
    pairs = pair(join(truths, predictions), iou_floor=iou[0])
    by_size = dict(matched_by_size(pairs, iou))
    true, counts = np.stack([_bits(by_size[size], len(iou)) for size in AREA_RANGES], axis=1)
    rows = np.flatnonzero(counts.any(axis=0))
    score, bounds = pairs.prediction.score[pairs.order], np.searchsorted(rows, pairs.label_bounds)
    ranked = _Ranked(score[rows], true.take(rows, axis=1), counts.take(rows, axis=1), bounds)
    best = {most: _best(pairs, true[_ALL], most, len(iou)) for most in MAX_DETECTIONS[:-1]}
    return _State(ranked, np.stack([by_size[size].positives for size in AREA_RANGES]), best)


def _bits(matched: Matched, thresholds: int) -> tuple[BitArray, BitArray]:
    """At which thresholds each prediction, by place, is a true positive, and at which it counts."""
    # All thresholds before one.
    before = [(1 << step) - 1 for step in range(thresholds + 1)]
    below = np.array(before, dtype=np.min_scalar_type(before[-1]))
    # All predictions twice: matched with ground truth that counts, and with ground truth that does not.
    places = len(matched.inside)
    matches = np.zeros(2 * places, dtype=below.dtype)
    for hits in matched.pairs:
        bits = below.take(hits.last) - below.take(hits.first)
        # A prediction matches once at each threshold, so that a sum sets every bit once.
        np.add.at(matches, hits.place + places * matched.ignored.take(hits.truth), bits)
    true, ignored = matches[:places], matches[places:]
    return true, true | np.where(matched.inside, below[-1] & ~ignored, 0).astype(below.dtype)


def _best(pairs: Pairs, true: BitArray, most: int, thresholds: int) -> IntArray:
    """True positives among so many predictions of each page and label, int64, shape (T, L)."""
    rows = np.flatnonzero((pairs.before < most) & (true != 0))
    label, bits = pairs.prediction.label[pairs.order[rows]], true[rows]
    labels = len(pairs.dataset.labels)
    return np.array([np.bincount(label[_at(bits, step)], minlength=labels) for step in range(thresholds)])


def _at(bits: BitArray, step: int) -> BoolArray:
    """Which have the bit of a threshold."""
    return np.asarray((bits & bits.dtype.type(1 << step)) != 0)


class _Averages(NamedTuple):
    """What the states of all ranges come to, for some labels.

    Attributes
    ----------
    precision, recall : float64, shape (S, T, L)
        Average precision and recall for each of `AREA_RANGES`; NaN where a label has no ground truth.
    recall_at : float64, shape (M, T, L)
        Of any size, for each of `MAX_DETECTIONS`.
    boxes : int64, shape (3,)
        True positives, predictions and ground truth that count for any size at the lowest threshold.
    """

    precision: FloatArray
    recall: FloatArray
    recall_at: FloatArray
    boxes: IntArray

    @classmethod
    def of_all(cls, parts: Sequence[_Averages]) -> _Averages:
        """Those of all labels, from those of labels that follow each other."""
        precision, recall, recall_at = (
            np.concatenate([part[field] for part in parts], axis=2) for field in range(len(cls._fields) - 1)
        )
        return cls(precision, recall, recall_at, np.sum([part.boxes for part in parts], axis=0))

    @property
    def columns(self) -> Columns:
        """By size and by number of predictions."""
        precision, recall = (dict(zip(AREA_RANGES, each, strict=True)) for each in (self.precision, self.recall))
        return Columns(precision, recall, dict(zip(MAX_DETECTIONS, self.recall_at, strict=True)))

    @property
    def f1(self) -> float | None:
        """F1 over all labels at the lowest threshold; None without any box."""
        hits, predicted, positives = self.boxes.tolist()
        return 2 * hits / (predicted + positives) if predicted + positives else None


def _of_all_labels(matched: Iterable[_State], other: Beside, thresholds: int) -> _Averages:
    """What the states of the first ranges and of those of another process come to; it averages the later labels."""
    states = [*matched]
    (middle,), *arrays = other.ask()
    earlier, later = _divided(states, middle)
    other.tell(array for state in later for array in state.arrays())
    del later
    give_back()
    averaged = _averaged([*earlier, *_State.all_of(arrays)], thresholds)
    return _Averages.of_all([averaged, _Averages(*other.ask())])


def _later_labels(matched: Iterable[_State], thresholds: int) -> Work:
    """The part of the other process, from the states of the later ranges."""
    states = [*matched]
    # Up to this label there are about as many predictions as from it on.
    ends = np.sum([state.ranked.bounds[1:] for state in states], axis=0)
    middle = int(np.abs(2 * ends - ends[-1:]).argmin()) + 1 if len(ends) else 0
    earlier, later = _divided(states, middle)
    told = yield chain([np.array([middle])], (array for state in earlier for array in state.arrays()))
    del earlier
    give_back()
    yield _averaged([*_State.all_of(told), *later], thresholds)


def _divided(states: list[_State], middle: int) -> tuple[list[_State], list[_State]]:
    """The states of the labels before one and from it on; the list is emptied, so that nothing is there twice."""
    earlier, later = [], []
    while states:
        state = states.pop()
        earlier.append(state.of(slice(middle)))
        later.append(state.of(slice(middle, None)))
    return earlier[::-1], later[::-1]


def _averaged(states: Sequence[_State], thresholds: int) -> _Averages:
    """Average precision and recall of all pages, from the states of ranges in the order of their image ids."""
    positives = np.sum([state.positives for state in states], axis=0)
    sizes, labels = positives.shape
    if not labels:
        of_size, of_most = (np.zeros((count, thresholds, 0)) for count in (sizes, len(MAX_DETECTIONS)))
        return _Averages(of_size, of_size, of_most, np.zeros(3, dtype=np.int64))
    every = _together([state.ranked for state in states], labels)
    precision, recall = np.stack(
        [
            _of_size(true, counts, every.bounds, known, thresholds)
            for true, counts, known in zip(every.true, every.counts, positives, strict=True)
        ],
        axis=1,
    )
    recall_at = []
    for most in MAX_DETECTIONS[:-1]:
        hits = np.sum([state.best[most] for state in states], axis=0)
        recall_at.append(ratio(hits, np.broadcast_to(positives[_ALL], hits.shape)))
    boxes = [np.count_nonzero(_at(bits[_ALL], 0)) for bits in (every.true, every.counts)]
    return _Averages(precision, recall, np.stack([*recall_at, recall[_ALL]]), np.array([*boxes, positives[_ALL].sum()]))


def _together(parts: Sequence[_Ranked], labels: int) -> _Ranked:
    """The predictions of all ranges."""
    spans = [(part, slice(*part.bounds[code : code + 2].tolist())) for code in range(labels) for part in parts]
    score = np.concatenate([part.score[span] for part, span in spans])
    bounds = np.sum([part.bounds for part in parts], axis=0)
    # Ranges follow each other by image id, and equal scores keep their order.
    order = np.concatenate([falling(score[start:stop]) + start for start, stop in pairwise(bounds.tolist())])
    score = score[order]
    # One after the other: what is not in order is not kept.
    true = np.concatenate([part.true[:, span] for part, span in spans], axis=1).take(order, axis=1)
    counts = np.concatenate([part.counts[:, span] for part, span in spans], axis=1).take(order, axis=1)
    return _Ranked(score, true, counts, bounds)


def _of_size(
    true: BitArray, counts: BitArray, bounds: IntArray, positives: IntArray, thresholds: int
) -> FloatArray:  # fmt: skip
    """Average precision and recall of one size, float64, shape (2, T, L)."""
    answer = np.full((2, thresholds, len(positives)), np.nan)
    known = positives > 0
    first = first_reaching(RECALL_101, np.maximum(positives, 1)[:, None])
    hits = np.flatnonzero(true != 0)
    bits, of_label = true[hits], np.searchsorted(hits, bounds)
    # Most predictions count at every threshold or at none: their part of a rank is the same at all of them.
    always = counts == (1 << thresholds) - 1
    rank = counted(always, bounds)[hits].astype(np.float64)
    at_some = np.flatnonzero((counts != 0) & ~always)
    further = _Further(counts[at_some], at_some, hits, bounds) if len(at_some) else None
    for step in range(thresholds):
        now = np.flatnonzero(_at(bits, step))
        begins = np.searchsorted(now, of_label)
        of_step = (rank if further is None else rank + further.ranks(step)).take(now)
        answer[0, step, known] = average_precisions(of_step, begins, first)[known]
        answer[1, step, known] = np.diff(begins)[known] / positives[known]
    return answer


class _Further:
    """What predictions that count at some thresholds alone add to the ranks of others.

    Parameters
    ----------
    counts : unsigned integers, shape (M,)
        At which thresholds they count.
    rows, hits : int64, shape (M,) and (K,), rising
        Where they are, and where those whose ranks are wanted are.
    bounds : int64, shape (L + 1,)
        Where each label begins, and where the last one ends.
    """

    def __init__(self, counts: BitArray, rows: IntArray, hits: IntArray, bounds: IntArray) -> None:
        self._counts, self._bounds = counts, np.searchsorted(rows, bounds)
        # From these rows on another number is added: where a label begins it is 0 again.
        changes = np.append(bounds[:-1], rows)
        self._order = np.argsort(changes, kind="stable")
        self._lengths = np.diff(np.searchsorted(hits, changes[self._order]), append=len(hits))

    def ranks(self, step: int) -> IntArray:
        """For each of `hits`, int64, shape (K,)."""
        added = counted(_at(self._counts, step), self._bounds)
        from_here = np.append(np.zeros(len(self._bounds) - 1, dtype=np.int64), added)
        return np.repeat(from_here[self._order], self._lengths)
