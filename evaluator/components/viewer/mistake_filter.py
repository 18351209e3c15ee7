"""The filter of the page browser over the items of `matching.error_types.Mistakes`, and the page order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec
import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, area
from evaluator.data.dataset import CodeArray, Dataset, JoinedBoxes
from evaluator.data.issues import count_of
from evaluator.matching.box_items import BoxPlaces, Items, middles
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.matching.error_types import DOCUMENT, NONE, KindArray, MistakeOptions, Mistakes
from evaluator.matching.page_rows import page_shares

WHOLE: Final = (0.0, 1.0)
"""The range that excludes nothing."""


class MistakeFilter(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions that a mistake must meet to be shown; the default keeps all.

    `names` are of `DOCUMENT`, empty for all; `label` is that of either side. Ranges include both ends; `score` keeps
    mistakes without a score, `iou` those without a pair when it begins at 0; `size` is the largest box's share of the
    page.
    """

    document: str | None = None
    names: tuple[str, ...] = ()
    label: str | None = None
    score: tuple[float, float] = WHOLE
    iou: tuple[float, float] = WHOLE
    size: tuple[float, float] = WHOLE
    unjudged: bool = False

    @property
    def narrows(self) -> bool:
        """Return whether it asks for some of the mistakes of a page: then only pages with such a mistake are listed."""
        return self != MistakeFilter(document=self.document)


@dataclass(frozen=True, eq=False)
class MistakeColumns:
    """The columns that a filter reads, of length M in the order of `Mistakes`.

    `kind` codes `DOCUMENT`, `document` and the labels code the dataset. A label is that of the boxes that carry the
    mistake's name; -1 for a side without one, such as the ground truth that a duplicate repeats.
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
    def wrong_boxes(self) -> IntArray:
        """Return the missed and extra boxes of each mistake, int64, shape (M, 2); none of a poor match."""
        sides = (
            (self.mistakes.truth_carriers, self.result.truth_partner),
            (self.mistakes.prediction_carriers, self.result.prediction_partner),
        )
        return np.stack(
            [
                np.bincount(carriers.mistake[partner[carriers.rows] == UNMATCHED], minlength=len(self))
                for carriers, partner in sides
            ],
            axis=1,
        )

    @cached_property
    def score(self) -> FloatArray:
        """Return the highest prediction score of each mistake, shape (M,); NaN for none."""
        return _highest(
            self.result.matching.prediction.score[self.mistakes.prediction_rows], self.mistakes.prediction_offsets
        )

    @cached_property
    def iou(self) -> FloatArray:
        """Return the highest IoU of a ground truth with a prediction of each, shape (M,); NaN without both."""
        return _best_iou(self.result, self.mistakes)

    @cached_property
    def size(self) -> FloatArray:
        """Return the largest area of each as a page share, shape (M,); NaN for pixels without a page size."""
        matching, mistakes = self.result.matching, self.mistakes
        truths = page_shares(matching.dataset, matching.dataset.ground_truth, mistakes.truth_rows)
        predictions = page_shares(matching.dataset, matching.prediction, mistakes.prediction_rows)
        return np.fmax(
            _highest(area(truths), mistakes.truth_offsets), _highest(area(predictions), mistakes.prediction_offsets)
        )


def mistakes_of(result: AnyBoxResult, options: MistakeOptions | None = None) -> Mistakes:
    """Return the mistakes of a dataset, by ``result.mistakes`` or by other options."""
    return result.mistakes if options is None else result.named(options)


def mistake_columns(result: AnyBoxResult, mistakes: Mistakes) -> MistakeColumns:
    """Return the columns that a filter reads; `mistakes` are of that result, from `mistakes_of`."""
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
    """Return where the boxes of one side lie on their pages, whatever the thresholds."""
    places = page_shares(dataset, side, np.arange(len(side)))
    return BoxPlaces(area(places), middles(places))


def named_labels(result: AnyBoxResult, mistakes: Mistakes) -> tuple[CodeArray, CodeArray]:
    """Return the truth and prediction label that carry each mistake's name, one per side; -1 for none."""
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
    """Count the mistakes that a filter by each label keeps; one between two labels counts for both."""
    both = columns.truth_label != columns.prediction_label
    # A side without a label has -1.
    sides = columns.truth_label, columns.prediction_label[both]
    first, second = (np.bincount(side + 1, minlength=labels + 1)[1:] for side in sides)
    return first + second


def document_counts(columns: MistakeColumns, documents: int) -> IntArray:
    """Count the mistakes of each document, shape (documents,)."""
    return np.bincount(columns.document, minlength=documents)


def _highest(values: FloatArray, offsets: IntArray) -> FloatArray:
    highest = np.full(len(offsets) - 1, np.nan)
    filled = offsets[1:] > offsets[:-1]
    if filled.any():
        # Groups follow each other without gaps, so the starts of the filled ones cut the column into them.
        highest[filled] = np.fmax.reduceat(values, offsets[:-1][filled])
    return highest


def _best_iou(result: AnyBoxResult, mistakes: Mistakes) -> FloatArray:
    """Return the highest IoU inside each mistake, of which one side has one box; NaN without both sides."""
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
    """Return which mistakes a filter keeps, bool, shape (M,); none for an unknown document or label.

    ValueError for a name not in `DOCUMENT`, and for `unjudged` without `judged`, shape (M,).
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
    return np.asarray((column >= bounds[0]) & (column <= bounds[1]), dtype=bool)


def name_counts(
    columns: MistakeColumns, dataset: Dataset, chosen: MistakeFilter, *, judged: BoolArray | None = None
) -> IntArray:
    """Count the mistakes of each name under the other conditions, shape (9,), by codes of `DOCUMENT`."""
    others = msgspec.structs.replace(chosen, names=())
    return np.bincount(columns.kind[passing(columns, dataset, others, judged=judged)], minlength=len(DOCUMENT))


@dataclass(frozen=True, eq=False)
class PageList:
    """The pages of the page browser in order: document code, index from 0, mistakes that pass."""

    dataset: Dataset
    document: CodeArray
    index: IntArray
    mistakes: IntArray

    def __len__(self) -> int:
        return len(self.index)

    def at(self, position: int) -> tuple[str, int]:
        """Return document id and page index at a position."""
        return self.dataset.documents[self.document[position]].doc_id, int(self.index[position])

    @cached_property
    def _keys(self) -> tuple[IntArray, IntArray]:
        keys = (self.document.astype(np.int64) << 32) | self.index
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def position(self, document: str, index: int) -> int | None:
        """Return the position of a page, from 0; None for one that is filtered out or unknown."""
        code = self.dataset.document_code.get(document)
        if code is None or not 0 <= index < 2**32:
            return None
        keys, order = self._keys
        at = int(np.searchsorted(keys, (code << 32) | index))
        return int(order[at]) if at < len(keys) and keys[at] == (code << 32) | index else None

    def with_mistakes(self, position: int, step: int) -> int | None:
        """Return the nearest page with a mistake after (`step` > 0) or before a position; None for none."""
        some = self._with_mistakes
        at = int(np.searchsorted(some, position, side="right" if step > 0 else "left"))
        at = at if step > 0 else at - 1
        return int(some[at]) if 0 <= at < len(some) else None

    def on_from(self, document: str, index: int, step: int) -> tuple[str, int] | None:
        """Return the page some pages on, at most the first or last; None without pages.

        A page outside of the list is as if it stood before the first.
        """
        here = self.position(document, index)
        place = (-1 if here is None else here) + step
        return self.at(min(max(place, 0), len(self) - 1)) if len(self) else None

    def on_to_mistake(self, document: str, index: int, step: int) -> tuple[str, int] | None:
        """Return the next (`step` > 0) or previous page with a mistake, after the last the first; None without one."""
        here = self.position(document, index)
        place = self.with_mistakes(-1 if here is None else here, step)
        if place is None and step > 0:
            place = self.with_mistakes(-1, step)
        return None if place is None else self.at(place)

    @cached_property
    def _with_mistakes(self) -> IntArray:
        return np.flatnonzero(self.mistakes)


def page_list(
    dataset: Dataset,
    mistakes: IntArray,
    *,
    document: str | None = None,
    pdf_pages: int = 0,
    only_mistakes: bool = False,
    worst_first: bool = True,
) -> PageList:
    """Return the pages that a filter leaves, by document and page; `worst_first`: most mistakes first.

    `mistakes`: how many of each page pass. With a document, pages of its PDF (`pdf_pages`) that no file mentions are
    listed too, unless only pages with mistakes are.
    """
    shown = mistakes > 0 if only_mistakes else np.ones(dataset.pages, dtype=bool)
    codes, indexes = dataset.page_document, dataset.page_index
    if document is not None:
        code = dataset.document_code.get(document, -1)
        shown &= codes == code
        if pdf_pages and not only_mistakes:
            return _with_pdf_pages(dataset, np.flatnonzero(shown), mistakes, code, pdf_pages, worst_first=worst_first)
    rows = np.flatnonzero(shown)
    return _ordered(dataset, codes[rows], indexes[rows], mistakes[rows], worst_first=worst_first)


def _with_pdf_pages(
    dataset: Dataset, rows: IntArray, mistakes: IntArray, code: int, pdf_pages: int, *, worst_first: bool
) -> PageList:
    silent = np.setdiff1d(np.arange(pdf_pages), dataset.page_index[rows])
    index = np.concatenate([dataset.page_index[rows], silent])
    every = np.concatenate([mistakes[rows], np.zeros(len(silent), dtype=np.int64)])
    order = np.argsort(index, kind="stable")
    documents = np.full(len(index), code, dtype=np.int32)
    return _ordered(dataset, documents, index[order], every[order], worst_first=worst_first)


def _ordered(
    dataset: Dataset, document: CodeArray, index: IntArray, mistakes: IntArray, *, worst_first: bool
) -> PageList:
    if worst_first:
        order = np.argsort(-mistakes, kind="stable")
        document, index, mistakes = document[order], index[order], mistakes[order]
    return PageList(dataset=dataset, document=document, index=index, mistakes=mistakes)


def place_of_each(columns: MistakeColumns) -> IntArray:
    """Return the place of each mistake, its cause, shape (M,); mistakes with poor matches are a place each."""
    causes = columns.result.causes.of_mistake
    return causes if columns.mistakes is columns.result.mistakes else np.arange(len(columns))


def kept_words(columns: MistakeColumns, keep: BoolArray) -> str:
    """Return what a filter keeps: ``6 wrong boxes in 4 mistakes (4 extra, 2 missed), at 3 places on 1 page``."""
    missed, extra = columns.wrong_boxes[keep].sum(axis=0).tolist()
    held = f"{count_of(missed + extra, 'wrong box')} in {count_of(int(np.count_nonzero(keep)), 'mistake')}"
    sides = side_words(extra, missed)
    places, on = (len(np.unique(column[keep])) for column in (place_of_each(columns), columns.page))
    return f"{held}{sides and f' ({sides})'}, at {count_of(places, 'place')} on {count_of(on, 'page')}"


def side_words(extra: int, missed: int, names: tuple[str, str] = ("extra", "missed")) -> str:
    """Return how many wrong boxes are of each side; empty without any.

    >>> side_words(68, 8), side_words(0, 8)
    ('68 extra, 8 missed', 'all missed')
    """
    sides = [(number, name) for number, name in zip((extra, missed), names, strict=True) if number]
    if len(sides) == 1:
        return f"all {sides[0][1]}"
    return ", ".join(f"{number:,} {name}" for number, name in sides)
