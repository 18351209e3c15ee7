"""Which mistakes and which pages a reader wants to see, out of those of a whole dataset.

Owns the filter of the page browser: a few conditions on the columns of `metrics.error_types.Mistakes`, and the order
in which the pages that remain are walked. Everything is columns, so that a dataset of 80,000 pages is filtered within
one screen update. A mistake is an item of the list, whatever its number of boxes; shares of the page are in [0, 1].
Nothing here draws, names a mistake or reads a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec
import numpy as np

from evaluator.drawing.page_rows import page_shares
from evaluator.metrics.box_items import BoxPlaces, Items, middles
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.metrics.error_types import (
    DOCUMENT,
    NONE,
    KindArray,
    MistakeOptions,
    Mistakes,
)
from evaluator.metrics.results import count_of
from evaluator.model.boxes import BoolArray, FloatArray, IntArray, area
from evaluator.model.dataset import CodeArray, Dataset, JoinedBoxes

WHOLE: Final = (0.0, 1.0)
"""The range that excludes nothing."""


class MistakeFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What must hold for a mistake to be shown; the default keeps all.

    Attributes
    ----------
    document : str or None
        Id of the only document.
    names : tuple of str
        Names as in `evaluator.metrics.error_types.DOCUMENT`; none chosen means all.
    label : str or None
        Label of one of the mistake's boxes, ground truth or prediction.
    score : tuple of float
        Lowest and highest score, both included. What has no score, such as a missed box, stays.
    iou : tuple of float
        Lowest and highest IoU of the boxes of a mistake. A mistake without a pair has none: it stays as long as the
        range begins at 0, because a box that meets nothing overlaps less than any that does.
    size : tuple of float
        Smallest and largest area of the largest box of a mistake, as a share of the page.
    unjudged : bool
        Only those without a verdict.
    """

    document: str | None = None
    names: tuple[str, ...] = ()
    label: str | None = None
    score: tuple[float, float] = WHOLE
    iou: tuple[float, float] = WHOLE
    size: tuple[float, float] = WHOLE
    unjudged: bool = False


@dataclass(frozen=True, eq=False)
class MistakeColumns:
    """What is asked about mistakes, as columns of one length M in the order of `Mistakes`.

    Scores and measures are worked out when a filter asks for them: most ask for none.

    Attributes
    ----------
    result : BoxResult
    mistakes : Mistakes
        Of that result.
    kind : int8, shape (M,)
        Code into `DOCUMENT`.
    page : int64, shape (M,)
    document : int32, shape (M,)
        Code of the dataset.
    truth_label, prediction_label : int32, shape (M,)
        Codes of the dataset, of the boxes that carry the mistake's name; -1 for a side without one, such as the ground
        truth that a duplicate repeats.
    """

    result: AnyBoxResult
    mistakes: Mistakes
    kind: KindArray
    page: IntArray
    document: CodeArray
    truth_label: CodeArray
    prediction_label: CodeArray

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def score(self) -> FloatArray:
        """The highest score of the predictions of each, float64, shape (M,); NaN for none."""
        return _highest(
            self.result.matching.prediction.score[self.mistakes.prediction_rows], self.mistakes.prediction_offsets
        )

    @cached_property
    def iou(self) -> FloatArray:
        """The highest IoU of a ground truth with a prediction of each, float64, shape (M,); NaN without both."""
        return _best_iou(self.result, self.mistakes)

    @cached_property
    def size(self) -> FloatArray:
        """Area of the largest box of each as a share of the page, float64, shape (M,).

        NaN where boxes are in pixels and no file gives a page size.
        """
        matching, mistakes = self.result.matching, self.mistakes
        truths = page_shares(matching.dataset, matching.dataset.ground_truth, mistakes.truth_rows)
        predictions = page_shares(matching.dataset, matching.prediction, mistakes.prediction_rows)
        return np.fmax(
            _highest(area(truths), mistakes.truth_offsets), _highest(area(predictions), mistakes.prediction_offsets)
        )


def named(result: AnyBoxResult, options: MistakeOptions | None = None) -> Mistakes:
    """The mistakes of a whole dataset, poor matched pairs included when the options ask for them.

    Parameters
    ----------
    options : MistakeOptions, optional
        Those of ``result.mistakes`` when absent.
    """
    return result.mistakes if options is None else result.named(options)


def mistake_columns(result: AnyBoxResult, mistakes: Mistakes) -> MistakeColumns:
    """The columns that a filter asks about.

    Parameters
    ----------
    mistakes : Mistakes
        Of that result, from `named`.

    Returns
    -------
    MistakeColumns
        Empty columns for no mistakes.
    """
    labels = named_labels(result, mistakes)
    return MistakeColumns(
        result=result,
        mistakes=mistakes,
        kind=mistakes.kind,
        page=mistakes.page,
        document=result.matching.dataset.page_document[mistakes.page],
        truth_label=labels[0],
        prediction_label=labels[1],
    )


def box_places(dataset: Dataset, side: JoinedBoxes) -> BoxPlaces:
    """Where the boxes of one side of a dataset lie on their pages, the same under every threshold."""
    places = page_shares(dataset, side, np.arange(len(side)))
    return BoxPlaces(area(places), middles(places))


def named_labels(result: AnyBoxResult, mistakes: Mistakes) -> tuple[CodeArray, CodeArray]:
    """Label of the ground truth and of the predictions that carry the name of each mistake, int32; -1 for none.

    A mistake is one of a label when such a box has it: that is what a filter by label keeps and what a page then lists.
    All boxes of a mistake on one side have one label.
    """
    sides = (
        (result.matching.dataset.ground_truth.label, mistakes.truth_carriers),
        (result.matching.prediction.label, mistakes.prediction_carriers),
    )
    columns = []
    for labels, carriers in sides:
        column = np.full(len(mistakes), NONE, dtype=np.int32)
        column[carriers.mistake] = labels[carriers.rows]
        columns.append(column)
    return columns[0], columns[1]


def label_counts(columns: MistakeColumns, labels: int) -> IntArray:
    """How many mistakes a filter by each label keeps, int64, shape (labels,).

    A mistake between two labels counts for both, so they may add up to more than there are.
    """
    both = columns.truth_label != columns.prediction_label
    # A side without a label has -1.
    sides = columns.truth_label, columns.prediction_label[both]
    first, second = (np.bincount(side + 1, minlength=labels + 1)[1:] for side in sides)
    return first + second


def document_counts(columns: MistakeColumns, documents: int) -> IntArray:
    """How many mistakes there are in each document, int64, shape (documents,)."""
    return np.bincount(columns.document, minlength=documents)


def _highest(values: FloatArray, offsets: IntArray) -> FloatArray:
    """The highest value of each group; NaN for an empty one and for one without any value."""
    highest = np.full(len(offsets) - 1, np.nan)
    filled = offsets[1:] > offsets[:-1]
    if filled.any():
        # Groups follow each other without gaps, so the starts of the filled ones cut the column into them.
        highest[filled] = np.fmax.reduceat(values, offsets[:-1][filled])
    return highest


def _best_iou(result: AnyBoxResult, mistakes: Mistakes) -> FloatArray:
    """The highest IoU inside each mistake; NaN where one side is missing.

    A mistake has one box on one of its sides at least, so the rows of the longer side make all of its pairs.
    """
    truths, predictions = np.diff(mistakes.truth_offsets), np.diff(mistakes.prediction_offsets)
    pairs = np.where((truths > 0) & (predictions > 0), np.maximum(truths, predictions), 0)
    owner = np.repeat(np.arange(len(mistakes)), pairs)
    starts = np.zeros(len(mistakes) + 1, dtype=np.int64)
    np.cumsum(pairs, out=starts[1:])
    step = np.arange(len(owner)) - starts[owner]
    rows = [
        column[offsets[:-1][owner] + np.minimum(step, counts[owner] - 1)]
        for column, offsets, counts in (
            (mistakes.truth_rows, mistakes.truth_offsets, truths),
            (mistakes.prediction_rows, mistakes.prediction_offsets, predictions),
        )
    ]
    return _highest(result.matching.fit(rows[0], rows[1]).iou, starts)


def passing(
    columns: MistakeColumns | Items, dataset: Dataset, chosen: MistakeFilter, *, judged: BoolArray | None = None
) -> BoolArray:
    """Which mistakes a filter keeps.

    Parameters
    ----------
    dataset : Dataset
        Gives ids and labels their codes.
    judged : bool, shape (M,), optional
        Mistakes with a verdict; needed for ``unjudged``.

    Returns
    -------
    bool, shape (M,)
        Nothing passes for a document or label that the dataset does not have.

    Raises
    ------
    ValueError
        When a name is none of `DOCUMENT`, or ``unjudged`` is asked for without `judged`.
    """
    unknown = [name for name in chosen.names if name not in DOCUMENT]
    if unknown:
        raise ValueError(f"unknown names of mistakes: {', '.join(unknown)}")
    keep = np.ones(len(columns), dtype=bool)
    if chosen.document is not None:
        keep &= columns.document == dataset.document_code.get(chosen.document, -1)
    if chosen.names:
        keep &= np.isin(columns.kind, [DOCUMENT.index(name) for name in chosen.names])
    if chosen.label is not None:
        code = dataset.labels.index(chosen.label) if chosen.label in dataset.labels else -2
        keep &= (columns.truth_label == code) | (columns.prediction_label == code)
    if chosen.score != WHOLE:
        keep &= np.isnan(columns.score) | _between(columns.score, chosen.score)
    if chosen.iou != WHOLE:
        keep &= _between(columns.iou, chosen.iou) | (np.isnan(columns.iou) & (chosen.iou[0] <= 0.0))
    if chosen.size != WHOLE:
        # A size that nobody knows is no reason to hide a mistake.
        keep &= np.isnan(columns.size) | _between(columns.size, chosen.size)
    if chosen.unjudged:
        if judged is None:
            raise ValueError("only mistakes without a verdict were asked for, and nothing says which have one")
        keep &= ~judged
    return keep


def _between(column: FloatArray, bounds: tuple[float, float]) -> BoolArray:
    """Whether a value lies in a closed range; False for NaN."""
    return np.asarray((column >= bounds[0]) & (column <= bounds[1]), dtype=bool)


def name_counts(
    columns: MistakeColumns, dataset: Dataset, chosen: MistakeFilter, *, judged: BoolArray | None = None
) -> IntArray:
    """How many mistakes of each name there are under the other conditions of a filter.

    Returns
    -------
    int64, shape (9,)
        By the codes of `DOCUMENT`; the names that the filter chooses do not matter.
    """
    others = msgspec.structs.replace(chosen, names=())
    return np.bincount(columns.kind[passing(columns, dataset, others, judged=judged)], minlength=len(DOCUMENT))


@dataclass(frozen=True, eq=False)
class PageList:
    """The pages that a reader walks through, in order.

    Attributes
    ----------
    document : int32, shape (K,)
        Code of the document of each page.
    index : int64, shape (K,)
        Page in its document, from 0.
    mistakes : int64, shape (K,)
        Mistakes of the page that pass the filter.
    """

    dataset: Dataset
    document: CodeArray
    index: IntArray
    mistakes: IntArray

    def __len__(self) -> int:
        return len(self.index)

    def at(self, position: int) -> tuple[str, int]:
        """Document id and page index at a position."""
        return self.dataset.documents[self.document[position]].doc_id, int(self.index[position])

    @cached_property
    def _keys(self) -> tuple[IntArray, IntArray]:
        """The pages as sorted numbers, and the position of each."""
        keys = (self.document.astype(np.int64) << 32) | self.index
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def position(self, document: str, index: int) -> int | None:
        """Place of a page in the list, from 0; None when the filter hides the page, or nobody knows it."""
        code = self.dataset.document_code.get(document)
        if code is None or not 0 <= index < 2**32:
            return None
        keys, order = self._keys
        at = int(np.searchsorted(keys, (code << 32) | index))
        return int(order[at]) if at < len(keys) and keys[at] == (code << 32) | index else None

    def with_mistakes(self, position: int, step: int) -> int | None:
        """The nearest page with a mistake after a position (positive `step`) or before it; None for none there."""
        some = self._with_mistakes
        at = int(np.searchsorted(some, position, side="right" if step > 0 else "left"))
        at = at if step > 0 else at - 1
        return int(some[at]) if 0 <= at < len(some) else None

    @cached_property
    def _with_mistakes(self) -> IntArray:
        return np.flatnonzero(self.mistakes)


def page_list(
    result: AnyBoxResult,
    columns: MistakeColumns,
    keep: BoolArray,
    *,
    document: str | None = None,
    label: str | None = None,
    pdf_pages: int = 0,
    only_mistakes: bool = False,
    worst_first: bool = True,
) -> PageList:
    """The pages to walk through under a filter.

    Parameters
    ----------
    keep : bool, shape (M,)
        From `passing`.
    document : str, optional
        Pages of this document only.
    label : str, optional
        Pages with a box of this label that takes part only.
    pdf_pages : int
        Pages of that document's PDF: those that no file mentions are walked too, unless a label is asked for.
    only_mistakes : bool
        Leave out pages without a mistake that passes.
    worst_first : bool
        Most mistakes first, equal ones by document and page; else by document and page.

    Returns
    -------
    PageList
        Without rows when nothing passes.
    """
    dataset = result.matching.dataset
    mistakes = np.bincount(columns.page[keep], minlength=dataset.pages)
    shown = np.ones(dataset.pages, dtype=bool) if label is None else _pages_with(result, label)
    if only_mistakes:
        shown &= mistakes > 0
    codes, indexes = dataset.page_document, dataset.page_index
    if document is not None:
        code = dataset.document_code.get(document, -1)
        shown &= codes == code
        if pdf_pages and label is None and not only_mistakes:
            return _with_pdf_pages(dataset, np.flatnonzero(shown), mistakes, code, pdf_pages, worst_first=worst_first)
    rows = np.flatnonzero(shown)
    return _ordered(dataset, codes[rows], indexes[rows], mistakes[rows], worst_first=worst_first)


def _pages_with(result: AnyBoxResult, label: str) -> BoolArray:
    """Which pages have a box of a label that takes part."""
    matching, dataset = result.matching, result.matching.dataset
    code = dataset.labels.index(label) if label in dataset.labels else -1
    has_label = np.zeros(dataset.pages, dtype=bool)
    has_label[dataset.ground_truth.page[matching.truth_counts & (dataset.ground_truth.label == code)]] = True
    has_label[matching.prediction.page[matching.prediction_counts & (matching.prediction.label == code)]] = True
    return has_label


def _with_pdf_pages(
    dataset: Dataset, rows: IntArray, mistakes: IntArray, code: int, pdf_pages: int, *, worst_first: bool
) -> PageList:
    """The pages of one document, those of its PDF that no file mentions included."""
    silent = np.setdiff1d(np.arange(pdf_pages), dataset.page_index[rows])
    index = np.concatenate([dataset.page_index[rows], silent])
    every = np.concatenate([mistakes[rows], np.zeros(len(silent), dtype=np.int64)])
    order = np.argsort(index, kind="stable")
    documents = np.full(len(index), code, dtype=np.int32)
    return _ordered(dataset, documents, index[order], every[order], worst_first=worst_first)


def _ordered(
    dataset: Dataset, document: CodeArray, index: IntArray, mistakes: IntArray, *, worst_first: bool
) -> PageList:
    """A list of pages that are by document and page so far, in the wanted order."""
    if worst_first:
        order = np.argsort(-mistakes, kind="stable")
        document, index, mistakes = document[order], index[order], mistakes[order]
    return PageList(dataset=dataset, document=document, index=index, mistakes=mistakes)


def kept_text(pages: PageList, keep: BoolArray, chosen: MistakeFilter) -> Sequence[str]:
    """What a filter keeps, in words: two lines for the foot of the sidebar.

    Returns
    -------
    sequence of str
        For instance ``412 pages, 38 documents`` and ``Filter keeps 689 mistakes on 287 pages``.
    """
    dataset = pages.dataset
    lines = [f"{count_of(dataset.pages, 'page')}, {count_of(len(dataset.documents), 'document')}"]
    mistakes = count_of(int(pages.mistakes.sum()), "mistake")
    on = count_of(int((pages.mistakes > 0).sum()), "page")
    lines.append(
        f"{mistakes} on {on}" if chosen == MistakeFilter() and keep.all() else f"Filter keeps {mistakes} on {on}"
    )
    return lines
