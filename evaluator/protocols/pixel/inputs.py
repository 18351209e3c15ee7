"""The inputs of a pixel count, made ready: classes of the matrix, rasters, counted boxes of two layout resolutions.

A raster is ceil(width) x ceil(height) of the page in the unit of the first side (LR1); boxes of the second side (LR2)
are rescaled when it says another size. Nothing is left out, cut off or rescaled without an issue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import Annotations, Dataset, JoinedBoxes, page_keys
from evaluator.data.issues import Collector, count_of, quote
from evaluator.data.order import PageRows, all_true
from evaluator.metrics.pixel_counts import MAX_CLASSES, MAX_SIDE, Resolution, on_page, pixel_edges
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME

Classes = Literal["auto", "same", "different"]
MissingPage = Literal["penalize", "ignore"]
PageSizes = Mapping[tuple[str, int], tuple[float, float]]
"""Width and height by document id and page index, in the unit of the first side: points of a PDF, pixels."""

_SHOWN: Final = 5
# Classes of pairs of files that are kept.
_MOST_CLASSES: Final = 16
# Boxes looked at in one go.
_BOXES_AT_ONCE: Final = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class MatrixClasses:
    """The classes of the matrix and which label is which of them.

    `names`: length C, the background first. `comparable`: bool, shape (C,), classes that mean the same on both sides.
    `bits`: per side int64, shape (L,), by label code of the file: position in `names`; 0 for a label that takes no
    part.
    """

    names: tuple[str, ...]
    comparable: BoolArray
    bits: tuple[IntArray, IntArray]

    @property
    def same(self) -> bool:
        """Return whether both sides use the same classes (case A)."""
        return all_true(self.comparable)


class Raster(NamedTuple):
    """The rasters of the pages of a dataset; arrays of shape (P, 2).

    `size`: int64, columns and rows; 0 for a page that is not counted. `scale`: per side float64, what takes its boxes
    to pixels; None when they are pixels. `extent`: width and height before rounding up; NaN where no file states them.
    """

    size: IntArray
    scale: tuple[FloatArray | None, FloatArray | None]
    extent: FloatArray


def matrix_classes(
    first: Annotations,
    second: Annotations,
    *,
    classes: Classes,
    labels: Sequence[str] | None,
    shared: Sequence[str],
    issues: Collector,
) -> MatrixClasses:
    """Return the classes of the matrix of two sides.

    Case A: background and the classes of both, in the order of the first side. Case B: background, the classes of the
    first side, those of the second, each named ``LR1:`` or ``LR2:`` and those in `shared` by their plain name.
    `labels`: those that take part; all when absent. As in `dataset.join`, in case A a label of one label map counts in
    both files. Bits are numbered anew without gaps. ValueError when `labels` or `shared` names what a side does not
    have; `issues` gets an error for too many classes for a word and for a label called "Background", and a warning when
    ``auto`` finds different classes.
    """
    sides = tuple((side.labels, side.evaluated) for side in (first, second))
    named = _named_classes(sides, classes, None if labels is None else tuple(labels), tuple(shared))
    if classes == "auto" and not named.same:
        _report_different(named.labels[0], named.labels[1], issues)
    _check_names(named, issues)
    return named.classes


class _NamedClasses(NamedTuple):
    classes: MatrixClasses
    same: bool
    labels: list[list[str]]
    names: list[list[str]]


@lru_cache(maxsize=_MOST_CLASSES)
def _named_classes(
    sides: Sequence[tuple[tuple[str, ...], int]],
    classes: Classes,
    labels: tuple[str, ...] | None,
    shared: tuple[str, ...],
) -> _NamedClasses:
    """Return `matrix_classes` of the labels of the sides and how many of each its label map has."""
    # Never written to; kept, as pages that are evaluated one by one have the same labels.
    mapped = [dict.fromkeys(names[:evaluated]) for names, evaluated in sides]
    own = [[name for name in names if labels is None or name in labels] for names in mapped]
    if unknown := [name for name in labels or () if not any(name in names for names in mapped)]:
        raise ValueError(f"labels not in the label maps: {', '.join(unknown)}")
    if unshared := [name for name in shared if name not in own[0] or name not in own[1]]:
        raise ValueError(f"shared labels must be on both sides: {', '.join(unshared)}")
    same = classes == "same" or (classes == "auto" and (set(own[0]) <= set(own[1]) or set(own[1]) <= set(own[0])))
    named = own
    if not same:
        sides_of = zip(own, ("LR1", "LR2"), strict=True)
        named = [[name if name in shared else f"{side}:{name}" for name in names] for names, side in sides_of]
    names = tuple(dict.fromkeys([BACKGROUND_NAME, *named[0], *named[1]]))
    comparable = np.full(len(names), same)
    if not same:
        comparable[[names.index(name) for name in shared]] = True
    bit = {name: code for code, name in enumerate(names)}
    # In case A a label that only the other file maps counts here too.
    of_label = [
        bit if same else {label: bit[name] for label, name in zip(labels_of, names_of, strict=True)}
        for labels_of, names_of in zip(own, named, strict=True)
    ]
    first, second = (
        np.array([known.get(label, 0) for label in every], dtype=np.int64)
        for (every, _), known in zip(sides, of_label, strict=True)
    )
    return _NamedClasses(MatrixClasses(names, comparable, (first, second)), same, own, named)


def counted_pages(dataset: Dataset, missing_page: MissingPage, issues: tuple[Collector, Collector]) -> BoolArray:
    """Return which pages are counted, bool, shape (P,): all that any side has, or those of both.

    `issues` gets a warning for the pages that a side does not have.
    """
    has = [np.zeros(dataset.pages, dtype=bool) for _ in range(2)]
    for pages, boxes in zip(has, (dataset.ground_truth, dataset.predictions[0]), strict=True):
        pages[boxes.entry_page] = True
    what, other = ("background there", "ignore") if missing_page == "penalize" else ("left out", "penalize")
    for side, collector in zip(has, issues, strict=True):
        if len(missing := (~side).nonzero()[0]):
            rule = f"both sides should have the same pages; one that a side does not have is {what} (pixel)"
            place = f"{_page_name(dataset, int(missing[0]))}{_more(len(missing), 'page')}"
            collector.warning(place, rule, "", f"Add the pages, or give --missing-page {other}.")
    return np.ones(dataset.pages, dtype=bool) if missing_page == "penalize" else has[0] & has[1]


def raster(
    dataset: Dataset,
    counted: BoolArray,
    given: PageSizes,
    otherwise: tuple[float, float] | None,
    issues: tuple[Collector, Collector],
) -> Raster:
    """Return the raster of each page, and what takes the boxes of each side to it.

    The first of these that knows a page's size: the first side's file, the caller (`given`), the second side's file,
    `otherwise`. Boxes in pixels of a side that does not say how large its pages are count as pixels of the raster.
    `issues` gets an error for a page without a usable size, a warning when boxes of the second side are rescaled.
    """
    first, second = dataset.ground_truth, dataset.predictions[0]
    own, other = _file_sizes(dataset, first, issues[0]), _file_sizes(dataset, second, issues[1])
    width_height = own
    if np.count_nonzero(np.isnan(own)):
        fallback = np.full((dataset.pages, 2), (np.nan, np.nan) if otherwise is None else otherwise)
        width_height = own.copy()
        for sizes in (_given_sizes(dataset, given), other, fallback):
            unknown = np.isnan(width_height).any(axis=1)
            width_height[unknown] = sizes[unknown]
    usable = counted[:, None] & (width_height > 0.0) & (width_height <= MAX_SIDE)
    scale = counted_size = width_height
    if not all_true(usable):
        _check_sizes(dataset, counted, width_height, issues[0])
        scale = np.where(np.isnan(width_height), 1.0, width_height)
        counted_size = np.where(usable, width_height, 0.0)
    rescaled = None
    if second.source.unit == "pixels" and np.count_nonzero(scale != other):
        unsaid = np.isnan(other)
        rescaled = np.where(unsaid, 1.0, scale / np.where(unsaid, 1.0, other))
        other_size = (rescaled != 1.0).any(axis=1)
        _report_rescaled(dataset, counted & other_size, other, scale, issues[1])
        rescaled = rescaled if other_size.any() else None
    sides = (
        scale if first.source.unit == "page" else None,
        scale if second.source.unit == "page" else rescaled,
    )
    return Raster(np.ceil(counted_size).astype(np.int64), sides, width_height)


@dataclass(frozen=True, eq=False)
class SideBoxes:
    """The N boxes of a side that can take part, whatever their scores, in file order.

    Those of a class, on counted pages. `rows`: int64, shape (N,), in the file. `size`: int64, shape (P, 2), page
    rasters.
    """

    side: JoinedBoxes
    boxes: Resolution
    rows: IntArray
    size: IntArray

    @classmethod
    def of(
        cls, side: JoinedBoxes, bits: IntArray, scale: FloatArray | None, counted: BoolArray, size: IntArray
    ) -> SideBoxes:
        """Return the boxes of a side.

        `bits`: int64, shape (L,), bit of each label of the file, 0 for none. `scale`: see `Resolution`.
        """
        boxes = Resolution(side.page, bits[side.source.boxes.label], side.xyxy, scale)
        if all_true(bits) and all_true(counted):
            return cls(side, boxes, np.arange(len(side)), size)
        rows = np.flatnonzero((boxes.bit > 0) & counted[side.page])
        return cls(side, boxes if len(rows) == len(side) else boxes.at(rows), rows, size)

    @cached_property
    def beyond_and_empty(self) -> tuple[IntArray, IntArray]:
        """Return those of the N that reach beyond their page, and those that cover no pixel of it, rising."""
        beyond, empty = [], []
        for start in range(0, len(self.rows), _BOXES_AT_ONCE):
            some = self.boxes.at(slice(start, start + _BOXES_AT_ONCE))
            edges = pixel_edges(some)
            covered = on_page(edges, some.page, self.size)
            # Nearly every box lies on its page and covers something.
            if (edges != covered).any():
                beyond.append(start + np.flatnonzero((edges != covered).any(axis=1)))
            if not (covered[:, :2] < covered[:, 2:]).all():
                empty.append(start + np.flatnonzero((covered[:, :2] >= covered[:, 2:]).any(axis=1)))
        nothing = np.empty(0, np.int64)
        return np.concatenate(beyond or [nothing]), np.concatenate(empty or [nothing])

    @cached_property
    def by_page(self) -> PageRows:
        """Return the N boxes by page."""
        return PageRows(self.boxes.page, len(self.size))

    def taking_part(self, min_score: float) -> BoolArray:
        """Return those with at least a score or without one, bool, shape (N,); all for a score of 0."""
        if min_score <= 0.0:
            return np.ones(len(self.rows), dtype=bool)
        return ~(self.score < min_score)

    @property
    def score(self) -> FloatArray:
        """Return the score of each of the N boxes, float64, shape (N,); NaN for none."""
        score = self.side.score
        return score if len(self.rows) == len(score) else score[self.rows]

    def chosen(self, boxes: BoolArray) -> Resolution:
        """Return some of the N boxes, bool, shape (N,)."""
        return self.boxes if all_true(boxes) else self.boxes.at(np.flatnonzero(boxes))

    def on_page(self, page: int, taken: BoolArray) -> Resolution:
        """Return those of one page, of some of the N boxes, bool, shape (N,)."""
        rows = self.by_page.of(page)
        return self.boxes.at(rows[taken[rows]])

    def report(self, taken: BoolArray, issues: Collector) -> None:
        """Warn of the boxes that take part and lie beyond the page or cover no pixel."""
        beyond, empty = (rows[taken[rows]] for rows in self.beyond_and_empty)
        if len(beyond):
            rule = "boxes should lie on their page; what lies beyond it is not counted (pixel)"
            first = beyond[0]
            box, limit = self.boxes.xyxy[first].tolist(), self.size[self.boxes.page[first]].tolist()
            issues.warning(
                _place(self.side, self.rows[beyond]),
                rule,
                f"{quote(box)} on {limit[0]:,} x {limit[1]:,} pixels",
                "Correct the boxes, or the size of the page.",
            )
        if len(empty):
            rule = "boxes should cover at least one pixel; these count nothing (pixel)"
            box = self.boxes.xyxy[empty[0]].tolist()
            issues.warning(_place(self.side, self.rows[empty]), rule, quote(box), "Correct or remove the boxes.")


def report_labels(side: JoinedBoxes, bits: IntArray, *, labels: Sequence[str] | None, issues: Collector) -> None:
    """Warn of boxes whose label is no class, with bit 0; not where the caller chose the labels."""
    if labels is not None or all_true(bits):
        return
    if len(left_out := np.flatnonzero(bits[side.source.boxes.label] == 0)):
        names = [side.source.labels[code] for code in np.unique(side.source.boxes.label[left_out])]
        rule = "boxes whose label is not in the label map count as background (pixel)"
        issues.warning(_place(side, left_out), rule, _some(names), "Add the label to the label map to count it.")


def _check_names(named: _NamedClasses, issues: Collector) -> None:
    if any(BACKGROUND_NAME in side for side in named.names):
        rule = f'no label may be called "{BACKGROUND_NAME}", which is the name of pixels without a label (pixel)'
        issues.error("", rule, quote(BACKGROUND_NAME), "Rename it with --map-label, or leave it out with --labels.")
    if len(named.classes.names) - 1 > MAX_CLASSES:
        rule = f"a matrix may have {MAX_CLASSES} classes beside the background (pixel)"
        fix = "Choose classes with --labels, or bring some together with --map-label."
        issues.error("", rule, f"{len(named.classes.names) - 1}", fix)


def _report_different(first: Sequence[str], second: Sequence[str], issues: Collector) -> None:
    only = [name for name in first if name not in second], [name for name in second if name not in first]
    rule = "the sides use different classes, so each side has its own in the matrix (pixel, case B)"
    value = f"only in the first {_some(only[0])}, only in the second {_some(only[1])}"
    fix = "Bring names together with --map-label, or give --classes same or --classes different."
    issues.warning("", rule, value, fix)


def _file_sizes(dataset: Dataset, side: JoinedBoxes, issues: Collector) -> FloatArray:
    given, entries = side.source.page_size, side.entry_page
    if given is None:
        return np.full((dataset.pages, 2), np.nan)
    if len(entries) == dataset.pages and all_true(entries[1:] > entries[:-1]) and not np.count_nonzero(np.isnan(given)):
        # One entry for each page, in order.
        return given
    sizes = np.full((dataset.pages, 2), np.nan)
    known = np.flatnonzero(~np.isnan(given).any(axis=1))
    pages, stated = entries[known], given[known]
    # Backwards, so that the first entry of a page is what remains.
    sizes[pages[::-1]] = stated[::-1]
    differing = (sizes[pages] != stated).any(axis=1)
    issues.errors(
        "the entries of one page must give one size (pixel)",
        known[differing].tolist(),
        lambda entry: (
            _page_name(dataset, int(entries[entry])),
            f"{_size_text(given[entry])} after {_size_text(sizes[entries[entry]])}",
            "Correct the sizes.",
        ),
    )
    return sizes


def _given_sizes(dataset: Dataset, given: PageSizes) -> FloatArray:
    sizes = np.full((dataset.pages, 2), np.nan)
    if given:
        for row, key in enumerate(page_keys(dataset)):
            sizes[row] = given.get(key, (np.nan, np.nan))
    return sizes


def _check_sizes(dataset: Dataset, counted: BoolArray, sizes: FloatArray, issues: Collector) -> None:
    missing = counted & np.isnan(sizes).any(axis=1)
    issues.errors(
        "a page needs its width and height, so that its pixels can be counted (pixel)",
        np.flatnonzero(missing).tolist(),
        lambda page: (
            _page_name(dataset, page),
            "none",
            "Give the PDFs, a COCO file with the sizes of its images, or one size for all (--page-size WIDTHxHEIGHT).",
        ),
    )
    wrong = counted & ~missing & ~((sizes > 0.0) & (sizes <= MAX_SIDE)).all(axis=1)
    issues.errors(
        f"the width and height of a page must be above 0 and at most {MAX_SIDE:,} pixels (pixel)",
        np.flatnonzero(wrong).tolist(),
        lambda page: (_page_name(dataset, page), _size_text(sizes[page]), "Correct the size."),
    )


def _report_rescaled(
    dataset: Dataset, pages: BoolArray, other: FloatArray, sizes: FloatArray, issues: Collector
) -> None:
    rows = np.flatnonzero(pages)
    if len(rows):
        rule = "both sides should give a page the same size; boxes of the second side are rescaled to the first (pixel)"
        value = f"{_size_text(other[rows[0]])} and {_size_text(sizes[rows[0]])}"
        fix = "Nothing to do if both are images of one page."
        issues.warning(f"{_page_name(dataset, int(rows[0]))}{_more(len(rows), 'page')}", rule, value, fix)


def _place(side: JoinedBoxes, rows: IntArray) -> str:
    row = int(rows[0])
    name, entry, position = side.source.source_of(row)
    file = f"{name}, " if side.source.parts else ""
    return f"{file}page entry {entry}, object {position}{_more(len(rows), 'object')}"


def _more(count: int, noun: str) -> str:
    return f" and {count_of(count - 1, noun)} more" if count > 1 else ""


def _page_name(dataset: Dataset, page: int) -> str:
    document = dataset.documents[dataset.page_document[page]].doc_id
    return f"document {quote(document)}, page {int(dataset.page_index[page]) + 1}"


def _size_text(size: FloatArray) -> str:
    return f"{size[0]:g} x {size[1]:g}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(quote(name) for name in names[:_SHOWN]) or "none"
    return f"{shown} and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else shown
