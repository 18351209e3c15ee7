"""Multi-label pixel layout evaluation: how the pixels of two layout resolutions agree, class by class.

The first side (LR1, rows) is the ground truth or a prediction, the second (LR2, columns) a prediction. Case A: both use
the same classes, case B: different ones. A raster is in the unit of the first side, origin top left. No box is matched
to another, and scores play no part beyond ``min_score``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import Annotations, Dataset, JoinedBoxes, fix_texts, join, page_keys
from evaluator.data.issues import BadInput, Collector, Issue
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.item_ledger import Item, Items
from evaluator.metrics.pixel_counts import PageCounts, PairCounts, Resolution, count_pairs, merge
from evaluator.metrics.results import JsonObject, ResultTable, Signature, applied_score, defined, threshold_text
from evaluator.protocols.base import DatasetResult
from evaluator.protocols.pixel import tables
from evaluator.protocols.pixel.inputs import (
    Classes,
    MatrixClasses,
    MissingPage,
    PageSizes,
    Raster,
    SideBoxes,
    counted_pages,
    matrix_classes,
    raster,
    report_labels,
)
from evaluator.protocols.pixel.matrix import (
    BACKGROUND_NAME,
    REST_NAME,
    VECTORS,
    PageMeans,
    PixelColumns,
    pixels_of_cell,
    shares,
    wrong_pixels,
)
from evaluator.protocols.pixel.regions import CutPage, Region, WrongComponent, connected_components
from evaluator.protocols.snapshot import evaluation as snapshot
from evaluator.system.lru_cache import LRUCache

NAME: Final = "pixel"
# The year of the matrix; the definition itself has no version.
VERSION: Final = "2020"

CLASSES: Final[tuple[Classes, ...]] = ("auto", "same", "different")
MISSING_PAGE: Final[tuple[MissingPage, ...]] = ("penalize", "ignore")
Scope = Literal["dataset", "documents", "pages"]
SCOPES: Final[tuple[Scope, ...]] = ("dataset", "documents", "pages")

ALL_CLASSES: Final = "Mean of all classes"
PRESENT_CLASSES: Final = "Mean of present classes"

ORDER_MATTERS: Final = (
    "Rows are the first side. Swapping the sides does not transpose the matrix: labels that only the second side adds "
    "lower the recall of the classes that the first side has there."
)
MIXED_SIZES: Final = (
    "Pages weigh by their pixels, and these have different numbers of them; page_mean gives every page the same weight."
)

BOXES_COUNT: Final = "pixels of boxes, not of outlines"
"""Stated where a file has outlines or masks."""

SAME_OBJECT_IOU: Final = 0.5
# Pages whose numbers are held at once while JSON is made.
_PAGES_AT_ONCE: Final = 1 << 9
# Cells of a result whose pages are kept: a view asks for those of one cell several times.
_MOST_CELLS: Final = 4


class Cell(NamedTuple):
    """What a page (row of the dataset's pages) adds to a cell; fractions where pixels have several labels."""

    page: int
    pixels: float


@dataclass(frozen=True, eq=False)
class PixelInputs:
    """Two files made ready to be counted under some options, whatever the scores of the boxes.

    `counted`: bool, shape (P,), the pages that are counted. `sides`: the boxes that can take part. `chosen`: the labels
    that are scored, None for all. `options`: what was decided, in words of the signature.
    """

    dataset: Dataset
    matrix: MatrixClasses
    counted: BoolArray
    raster: Raster
    sides: tuple[SideBoxes, SideBoxes]
    issues: tuple[Collector, Collector]
    missing_page: MissingPage
    chosen: tuple[str, ...] | None
    options: tuple[str, ...]

    @classmethod
    def of(
        cls,
        ground_truth: Annotations,
        prediction: Annotations,
        *,
        classes: Classes = "auto",
        missing_page: MissingPage = "penalize",
        page_sizes: PageSizes | None = None,
        page_size: tuple[float, float] | None = None,
        labels: Sequence[str] | None = None,
        shared_labels: Sequence[str] = (),
    ) -> PixelInputs:
        """Make two files ready; parameters and errors are those of `evaluate`."""
        _check_options(classes, missing_page)
        dataset = join(ground_truth, prediction)
        joined = dataset.ground_truth, dataset.predictions[0]
        issues = Collector(ground_truth.name, max_per_rule=200), Collector(prediction.name, max_per_rule=200)
        matrix = matrix_classes(
            ground_truth, prediction, classes=classes, labels=labels, shared=shared_labels, issues=issues[1]
        )
        counted = counted_pages(dataset, missing_page, issues)
        rasters = raster(dataset, counted, page_sizes or {}, page_size, issues)
        _refuse(issues)
        for side, bits, collector in zip(joined, matrix.bits, issues, strict=True):
            report_labels(side, bits, labels=labels, issues=collector)
        first, second = (
            SideBoxes.of(side, bits, scale, counted, rasters.size)
            for side, bits, scale in zip(joined, matrix.bits, rasters.scale, strict=True)
        )
        options = (
            *([f"shared {', '.join(shared_labels)}"] if shared_labels and not matrix.same else []),
            f"missing pages: {missing_page}",
            *([] if page_size is None else [f"pages of unknown size: {page_size[0]:g} x {page_size[1]:g}"]),
        )
        chosen = None if labels is None else tuple(labels)
        return cls(dataset, matrix, counted, rasters, (first, second), issues, missing_page, chosen, options)

    def evaluate(
        self,
        *,
        min_score: float = 0.0,
        first_min_score: float = 0.0,
        count: Callable[[int, int], None] | None = None,
    ) -> PixelResult:
        """Return the result of the boxes with at least some scores; see `evaluate`."""
        first, second = self.sides
        taken = first.taking_part(first_min_score), second.taking_part(min_score)
        if count is not None:
            self.page_counts.of(taken, count=count)
        sources = self.dataset.ground_truth.source, self.dataset.predictions[0].source
        return PixelResult(
            dataset=self.dataset,
            classes=self.matrix.names,
            comparable=self.matrix.comparable,
            size=self.raster.size,
            extent=self.raster.extent,
            counted=self.counted,
            files=self,
            taken=taken,
            chosen=self.chosen,
            options=(
                "same classes" if self.matrix.same else "different classes",
                *self.options,
                *([f"score of the first side ≥ {threshold_text(first_min_score)}"] if first_min_score > 0.0 else []),
                *([BOXES_COUNT] if any(len(side.boxes.polygons) for side in sources) else []),
                *fix_texts(*sources),
            ),
            min_score=min_score,
            missing_page=self.missing_page,
        )

    @cached_property
    def page_counts(self) -> PageCounts:
        """Return the counts of the pages."""
        first, second = self.sides
        return PageCounts((first.boxes, second.boxes), self.raster.size)

    @cached_property
    def items(self) -> Items:
        """Return the pages that are counted, as things of a ledger."""
        dataset, rows = self.dataset, np.flatnonzero(self.counted)
        ids = dataset.document_ids
        places = zip(dataset.page_document[rows].tolist(), dataset.page_index[rows].tolist(), strict=True)
        return Items(Item(ids[document], page) for document, page in places)


@dataclass(frozen=True, eq=False)
class PixelResult(DatasetResult):
    """The evaluation of one pair of layout resolutions.

    Attributes
    ----------
    dataset : Dataset
        Its ground truth is the first side, its only prediction the second.
    classes : tuple of str, length C
        The background first.
    comparable : bool, shape (C,)
        Classes that mean the same on both sides: all in case A, in case B only those that the caller shares.
    size : int64, shape (P, 2)
        Raster of each page; 0 for a page that is not counted.
    extent : float64, shape (P, 2)
        Width and height before they are rounded up to whole pixels; NaN where no file states them.
    counted : bool, shape (P,)
        Pages that are counted.
    taken : pair of bool, shape (N,)
        Which boxes of each side of `files` take part.
    chosen : tuple of str or None
        The labels that are scored; None for all.
    options : tuple of str
        What was decided, in words of the signature.
    exact : bool
        Whether plain values have the integer counts of label sets.
    merged : PixelPartial or None
        That of parts which were counted by themselves; plain values have no single documents and pages then.
    """

    dataset: Dataset
    classes: tuple[str, ...]
    comparable: BoolArray
    size: IntArray
    extent: FloatArray
    counted: BoolArray
    files: PixelInputs
    taken: tuple[BoolArray, BoolArray]
    chosen: tuple[str, ...] | None
    options: tuple[str, ...]
    min_score: float
    missing_page: MissingPage = "penalize"
    exact: bool = False
    merged: PixelPartial | None = None
    _of_cells: LRUCache[tuple[int, int], FloatArray] = field(
        default_factory=lambda: LRUCache(most=_MOST_CELLS), init=False, repr=False
    )

    @property
    def counts(self) -> PairCounts:
        """Return the counts of all pages, one scope per page; large, so they are not kept with each result."""
        return self.files.page_counts.of(self.taken)

    def page_counts(self, page: int) -> PairCounts:
        """Return the counts of one page, as a single scope."""
        one, other = (
            side._replace(page=np.zeros_like(side.page), scale=None if side.scale is None else side.scale[[page]])
            for side in self.on_page(page)
        )
        return count_pairs(one, other, self.size[[page]])

    @cached_property
    def issues(self) -> tuple[Issue, ...]:
        """Warnings: everything that was left out, cut off, rescaled or decided."""
        collectors = [issues.copy() for issues in self.files.issues]
        for side, boxes, issues in zip(self.files.sides, self.taken, collectors, strict=True):
            side.report(boxes, issues)
        return tuple(issue for collector in collectors for issue in collector.issues())

    def on_page(self, page: int) -> tuple[Resolution, Resolution]:
        """Return the boxes of one page that take part, of both sides."""
        first, second = (side.on_page(page, taken) for side, taken in zip(self.files.sides, self.taken, strict=True))
        return first, second

    @property
    def evaluated(self) -> Dataset:
        """Return the dataset that was evaluated."""
        return self.dataset

    @property
    def model(self) -> int:
        """Return which of the dataset's predictions: its only one."""
        return 0

    @property
    def prediction(self) -> JoinedBoxes:
        """Return the boxes of the second side under the dataset's codes."""
        return self.dataset.predictions[0]

    def on(self, dataset: Dataset) -> PixelResult:
        """Return the same evaluation of another dataset, on rasters of the same sizes."""
        extents = zip(page_keys(self.dataset), self.extent.tolist(), strict=True)
        sizes = {key: (width, height) for key, (width, height) in extents if not math.isnan(width)}
        shared = [name for name, comparable in zip(self.classes, self.comparable, strict=True) if comparable]
        again = evaluate(
            dataset.ground_truth.source,
            dataset.predictions[0].source,
            classes="same" if self.same_classes else "different",
            missing_page=self.missing_page,
            page_sizes=sizes,
            labels=self.chosen,
            shared_labels=() if self.same_classes else [name for name in shared if name != BACKGROUND_NAME],
            min_score=self.min_score,
        )
        # Where the sizes came from is a fact of the official run.
        return replace(again, options=self.options, exact=self.exact)

    def pairing_on(self, dataset: Dataset) -> AnyBoxResult:
        """Return the matching of snapshot 1.3 at IoU 0.5: this protocol matches no boxes itself."""
        return snapshot.pair(dataset, iou_floor=SAME_OBJECT_IOU).match().at(SAME_OBJECT_IOU)

    def csv_table(self) -> ResultTable:
        """Return every cell of every matrix."""
        return tables.long_table(self.whole, signature=self.signature.line, title=self.prediction.source.name)

    def csv_files(self, columns: PixelColumns | None = None, row: int = 0) -> Mapping[str, ResultTable]:
        """Return each matrix under the name of its file, of scope `row`; of the whole dataset by default."""
        signature, title = self.signature.line, self.prediction.source.name
        return tables.matrix_files(columns or self.whole, row, signature=signature, title=title)

    @property
    def same_classes(self) -> bool:
        """Return whether both sides use the same classes (case A)."""
        return bool(self.comparable.all())

    @property
    def mixed_sizes(self) -> bool:
        """Return whether the counted pages have different numbers of pixels."""
        return len(np.unique(self.size[self.counted].prod(axis=1))) > 1

    @cached_property
    def signature(self) -> Signature:
        """Return what made these numbers."""
        min_score, kept = applied_score(self.min_score, self.prediction.score)
        return Signature(
            protocol=NAME,
            version=VERSION,
            min_score=min_score or None,
            labels=self.chosen,
            options=(*kept, *self.options),
            documents=len(np.unique(self.dataset.page_document[self.counted])),
            pages=int(self.counted.sum()),
        )

    @property
    def per_page(self) -> PixelColumns:
        """Return one scope per page of the dataset; large, so ask for parts of it with ``between``."""
        return PixelColumns(self.counts, self.classes, self.comparable)

    def page_columns(self, page: int) -> PixelColumns:
        """Return one page, as a single scope."""
        return PixelColumns(self.page_counts(page), self.classes, self.comparable)

    @property
    def per_document(self) -> PixelColumns:
        """Return one scope per document of the dataset."""
        into = self.dataset.page_document.astype(np.int64)
        return PixelColumns(self.counts.pooled(into, len(self.dataset.documents)), self.classes, self.comparable)

    def document_columns(self, document: int) -> PixelColumns:
        """Return one document, as a single scope."""
        pages = np.flatnonzero(self.dataset.page_document == document)
        return PixelColumns(self.counts.of(pages).pooled(*self._in_one), self.classes, self.comparable)

    @cached_property
    def whole(self) -> PixelColumns:
        """Return one scope: every counted page, weighted by its pixels."""
        if self.merged is not None:
            return self.merged.whole
        return PixelColumns(self.counts.pooled(*self._in_one), self.classes, self.comparable)

    @property
    def _in_one(self) -> tuple[IntArray, int]:
        return np.zeros(self.dataset.pages, dtype=np.int64), 1

    @cached_property
    def wrong_pixels(self) -> FloatArray:
        """Return how many pixels are wrong on each page, float64, shape (P, C); see `matrix.wrong_pixels`."""
        return wrong_pixels(self.counts, len(self.classes))

    @cached_property
    def page_means(self) -> PageMeans:
        """Add up the numbers of the pages that count."""
        return PageMeans.of(self.per_page, np.flatnonzero(self.counted))

    def to_json(self, *, exact: bool | None = None, scopes: Sequence[Scope] = SCOPES) -> JsonObject:
        """Return the result as plain values under the keys of the terminal contract; undefined is None.

        `exact` (by default the own one) adds ``pair_counts`` to every scope: [G bits, P bits, pixels], bit 0 the
        background; above 52 classes the bits need a reader that keeps 64-bit integers.
        """
        exact, scopes = self.exact if exact is None else exact, scopes if self.merged is None else SCOPES[:1]
        dataset, truth, prediction = self.dataset, self.dataset.ground_truth.source, self.prediction.source
        value: dict[str, object] = {
            "protocol": NAME,
            "signature": self.signature.line,
            "ground_truth": {"name": truth.name, "sha256": truth.sha256},
            "predictions": {"name": prediction.name, "sha256": prediction.sha256},
            "issues": [msgspec.to_builtins(issue) for issue in self.issues],
            "classes": list(self.classes),
            "same_classes": self.same_classes,
            "notes": [ORDER_MATTERS, *([MIXED_SIZES] if self.mixed_sizes else [])],
        }
        numbers = self.partial.to_json(exact=exact)
        value |= {name: each for name, each in numbers.items() if name == "page_mean" or name in scopes}
        if "documents" in scopes:
            columns = self.per_document
            value["documents"] = {
                doc_id: columns.row(row, exact=exact) for row, doc_id in enumerate(dataset.document_ids)
            }
        if "pages" in scopes:
            value["pages"] = list(self._pages(exact=exact))
        return value

    @property
    def partial(self) -> PixelPartial:
        """Return what the numbers follow from."""
        return self.merged or PixelPartial.of(self)

    def table(self) -> ResultTable:
        """Return one row per class of the whole dataset, then the means and the collapsed classes.

        Columns ``label``, ``gt_pixels``, ``pred_pixels`` (first and second side), ``precision``, ``recall``, ``f1``,
        ``iou``, ``pixel_precision``, ``pixel_recall``.
        """
        whole, vectors = self.whole, (*VECTORS, "pixel_precision", "pixel_recall")
        rows: list[tuple[str | int | float | None, ...]] = []
        for code, label in enumerate(whole.classes):
            pixels = int(whole.first_pixels[0, code]), int(whole.second_pixels[0, code])
            rows.append((label, *pixels, *(defined(getattr(whole, name)[0, code]) for name in vectors)))
        for label, mean in ((ALL_CLASSES, whole.mean_all), (PRESENT_CLASSES, whole.mean_present)):
            rows.append((label, None, None, *(defined(mean(name)[0]) for name in VECTORS), None, None))
        for code, label in enumerate((f"Collapsed: {BACKGROUND_NAME}", f"Collapsed: {REST_NAME}")):
            values = (defined(getattr(whole.collapsed, name)[0, code, code]) for name in VECTORS[:3])
            rows.append((label, None, None, *values, None, None, None))
        return ResultTable(
            title=self.prediction.source.name,
            signature=self.signature.line,
            columns=("label", "gt_pixels", "pred_pixels", *vectors),
            rows=tuple(rows),
        )

    def cell_pixels(self, row: int, column: int) -> FloatArray:
        """Return the pixels that each page adds to one cell of the confusion matrix, float64, shape (P,).

        Fractions where pixels have several labels. Row and column are classes of the first and the second side.
        """
        return self._of_cells.get_or_make(
            (row, column), lambda: pixels_of_cell(self.counts, row, column, len(self.classes))
        )

    def row_pixels(self, row: int) -> IntArray:
        """Return the pixels of each page that carry a class on the first side, int64, shape (P,)."""
        counts = self.counts
        there = counts.row_first >> np.uint64(row) & np.uint64(1)
        return np.bincount(counts.scope, weights=counts.pixels * there, minlength=counts.scopes).astype(np.int64)

    def cell_region(self, page: int, row: int, column: int) -> Region:
        """Return where the pixels of one page are that add to one cell; see `cell_pixels`.

        Rectangles in pixels of the page's raster, however large it is; divided by `extent` they are shares of the page.
        """
        counts = self.page_counts(page)
        parts = shares(counts.first, counts.second, len(self.classes))
        chosen = parts.pair[(parts.row == row) & (parts.column == column)]
        sets = zip(counts.first[chosen].tolist(), counts.second[chosen].tolist(), strict=True)
        return self._cut(page).region(list(sets))

    def wrong_regions(self, page: int) -> dict[tuple[int, int], Region]:
        """Return where the pixels of one page are that add to each cell off the diagonal, by row and column.

        Cells without a pixel on the page are left out; a pixel with several labels may be in several.
        """
        counts = self.page_counts(page)
        first, second = counts.first, counts.second
        parts = shares(first, second, len(self.classes))
        cut, regions = self._cut(page), dict[tuple[int, int], Region]()
        wrong = (parts.row != parts.column) & (parts.numerator > 0)
        for row, column in sorted(set(zip(parts.row[wrong].tolist(), parts.column[wrong].tolist(), strict=True))):
            pairs = parts.pair[wrong & (parts.row == row) & (parts.column == column)]
            sets = list(zip(first[pairs].tolist(), second[pairs].tolist(), strict=True))
            regions[row, column] = cut.region(sets)
        return regions

    def counted_page(self, document: str, index: int) -> int | None:
        """Return the row of a page that is counted; None for another page."""
        row = self.dataset.page_row(document, index)
        return row if row is not None and self.counted[row] else None

    def wrong_components(self, document: str, index: int) -> list[WrongComponent]:
        """Return the wrong pixels of a page, largest component first; none of a page that is not counted."""
        page = self.counted_page(document, index)
        if page is None:
            return []
        components = [
            WrongComponent((self.classes[row], self.classes[column]), rectangles)
            for (row, column), part in self.wrong_regions(page).items()
            for rectangles in connected_components(part.rectangles)
        ]
        return sorted(components, key=lambda each: (-each.pixels, each.cell, each.rectangles[0].tolist()))

    def _cut(self, page: int) -> CutPage:
        width, height = self.size[page].tolist()
        return CutPage(*self.on_page(page), (width, height))

    def _pages(self, *, exact: bool) -> Iterator[dict[str, object]]:
        keys = [{"document": document, "page": page} for document, page in page_keys(self.dataset)]
        for start in range(0, len(keys), _PAGES_AT_ONCE):
            stop = min(start + _PAGES_AT_ONCE, len(keys))
            part = self.per_page.between(start, stop)
            for row in np.flatnonzero(self.counted[start:stop]).tolist():
                yield {**keys[start + row], **part.row(row, exact=exact)}


@dataclass(frozen=True, eq=False)
class PixelPartial:
    """Arrays that add up over documents and give the numbers of a result; `whole`: one scope, every counted page."""

    whole: PixelColumns
    page_means: PageMeans

    @classmethod
    def of(cls, result: PixelResult) -> PixelPartial:
        """Return that of a result."""
        return cls(result.whole, result.page_means)

    @classmethod
    def merged(cls, parts: Sequence[PixelPartial]) -> PixelPartial:
        """Add up the partials of different documents of the same classes, at least one."""
        first = parts[0].whole
        counts = merge([part.whole.counts for part in parts])
        means = PageMeans.merged([part.page_means for part in parts])
        return cls(PixelColumns(counts, first.classes, first.comparable), means)

    def to_json(self, *, exact: bool) -> JsonObject:
        """Return ``page_mean`` and ``dataset`` of `PixelResult.to_json`."""
        return {"page_mean": self.page_means.to_json(), "dataset": self.whole.row(0, exact=exact)}


def evaluate(
    ground_truth: Annotations,
    prediction: Annotations,
    *,
    classes: Classes = "auto",
    missing_page: MissingPage = "penalize",
    page_sizes: PageSizes | None = None,
    page_size: tuple[float, float] | None = None,
    labels: Sequence[str] | None = None,
    shared_labels: Sequence[str] = (),
    min_score: float = 0.0,
    first_min_score: float = 0.0,
    count: Callable[[int, int], None] | None = None,
) -> PixelResult:
    """Return the result of the pixels of one layout resolution against those of another.

    Parameters
    ----------
    ground_truth, prediction : Annotations
        First side (rows) and second side (columns); two predictions can be compared too.
    classes : "auto", "same" or "different"
        Case A or case B. ``auto`` takes the classes as the same when one side's contain the other's.
    missing_page : "penalize" or "ignore"
        A page that only one side has is background on the other, or is left out.
    page_sizes : mapping, optional
        Sizes of pages that the first side does not give itself, for instance from PDFs.
    page_size : tuple of float, optional
        Width and height of pages whose size nobody gives.
    labels : sequence of str, optional
        Classes that take part; all of the label maps when absent. The others become background.
    shared_labels : sequence of str
        In case B, names that are one class although the classes differ; other names on both sides stay two classes.
    min_score, first_min_score : float
        Boxes of the second side, and of the first, with a lower score are left out; those without a score stay.
    count : callable, optional
        Called with how many of how many pages are counted; they are counted when they are asked for without it.

    Raises
    ------
    BadInput
        A page has no size or one that cannot be counted, there are more than 63 classes, or one is called "Background".
    ValueError
        An option does not exist, or neither side has a label.

    Notes
    -----
    "Multi-label pixel layout evaluations", with the matrix of Krstinic et al. 2020. The definition knows bounding boxes
    only ("each detected object is assigned a bounding box"): of a box with an outline or a mask every pixel of the box
    counts, and the options of the result state it. Here boxes are cut off at the page, where docling-eval and
    docling-metrics-layout lose a box that begins left of it or above it (recall or precision falls there); with boxes
    on the page the numbers are equal, undefined ones apart, which they call 0.
    """
    files = PixelInputs.of(
        ground_truth,
        prediction,
        classes=classes,
        missing_page=missing_page,
        page_sizes=page_sizes,
        page_size=page_size,
        labels=labels,
        shared_labels=shared_labels,
    )
    return files.evaluate(min_score=min_score, first_min_score=first_min_score, count=count)


def _check_options(classes: str, missing_page: str) -> None:
    for name, value, known in (("classes", classes, CLASSES), ("missing_page", missing_page, MISSING_PAGE)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}; found {value}")


def _refuse(issues: Sequence[Collector]) -> None:
    if any(collector.failed for collector in issues):
        raise BadInput([issue for collector in issues for issue in collector.issues()])
