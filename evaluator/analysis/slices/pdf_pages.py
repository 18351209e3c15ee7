"""Attributes of pages and boxes from the PDFs; a page that cannot be read has none, so no condition holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.analysis.slices.attributes import Value, has_page_sizes, page_shares
from evaluator.analysis.slices.ruled_lines import ruled_lines
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import Dataset, JoinedBoxes
from evaluator.data.text import script_of
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.observations import Attribute
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import Ink, Layout, PagePool, Words
from evaluator.pdf.problems import PageProblem
from evaluator.system.threads import in_threads

_OF_BOXES: Final = {"words in box": True, "font size": False, "ink in box": False, "ruled lines in box": True}
"""Attributes of boxes, and whether they are counts."""


class PdfAttributes(NamedTuple):
    """Attributes from the documents; pages that cannot be read are left out, their boxes have NaN.

    `of_pages`: numbers of ``words``, ``images`` and ``ruled lines``; ``font size of page`` (points, median over
    characters); ``ink``, ``image area`` (shares of the page, the latter of the largest image); ``rotation`` (degrees);
    ``script`` of most letters; ``landscape``, ``page width`` and ``page height`` (points, PDFs only) where no file
    gives page sizes.

    `of_boxes`: by side ``words in box``, ``font size`` (points), ``ink in box`` (share), ``ruled lines in box``.
    """

    of_pages: dict[tuple[str, int | None], dict[str, Value]]
    of_boxes: tuple[tuple[Attribute, ...], ...]


class _Page(NamedTuple):
    words: Words
    ink: Ink
    layout: Layout
    size: tuple[float, float]
    is_pdf: bool


def of_pdf_pages(
    dataset: Dataset,
    sides: Sequence[JoinedBoxes],
    folder: PdfFolder,
    pool: PagePool,
    count: Callable[[int, int], None] = lambda _done, _all: None,
) -> PdfAttributes:
    """Return attributes of pages and boxes from PDFs and images; `count` gets done and total."""
    columns = [_Columns.of(dataset, side) for side in sides]
    of_pages: dict[tuple[str, int | None], dict[str, Value]] = {}
    documents, codes = dataset.documents, dataset.page_document
    pages = [(documents[codes[page]].name, int(dataset.page_index[page])) for page in range(dataset.pages)]
    for page, seen in enumerate(_read(pages, folder, pool, count, dataset.page_images)):
        if seen is None:
            continue
        lines = _lines(seen)
        sizes = {} if has_page_sizes(dataset) else _of_size(seen)
        of_pages[documents[codes[page]].doc_id, pages[page][1]] = {**_of_page(seen, lines), **sizes}
        for of_side in columns:
            of_side.fill(page, seen, lines)
    return PdfAttributes(of_pages, tuple(of_side.attributes() for of_side in columns))


def of_listed_pages(
    pages: Iterable[tuple[str, int]],
    folder: PdfFolder,
    pool: PagePool,
    count: Callable[[int, int], None] = lambda _done, _all: None,
) -> dict[tuple[str, int | None], dict[str, Value]]:
    """Return attributes of some pages (document, page from 0), with their sizes; see `PdfAttributes.of_pages`."""
    listed = list(dict.fromkeys(pages))
    return {
        page: {**_of_page(seen, _lines(seen)), **_of_size(seen)}
        for page, seen in zip(listed, _read(listed, folder, pool, count), strict=True)
        if seen is not None
    }


def _read(
    pages: Sequence[tuple[str, int]],
    folder: PdfFolder,
    pool: PagePool,
    count: Callable[[int, int], None],
    images: Mapping[tuple[str, int], str] | None = None,
) -> Iterator[_Page | None]:
    def read(page: tuple[str, int]) -> _Page | None:
        try:
            path, of_file = folder.find_page(*page, images)
            # A page that the file does not have is a problem of it here; there is no size to ask for.
            parts = pool.words(path, of_file), pool.ink(path, of_file), pool.layout(path, of_file)
            width, height = pool.page_sizes(path)[of_file].tolist()
            return _Page(*parts, (width, height), path.suffix.lower() == ".pdf")
        except PageProblem:
            return None

    for done, seen in enumerate(in_threads(read, pages, most=2)):
        count(done, len(pages))
        yield seen


def _lines(seen: _Page) -> FloatArray:
    return ruled_lines(seen.layout.mask) if seen.layout.scanned else seen.layout.rules


def of_results(
    results: Sequence[AnyBoxResult], folder: PdfFolder, pool: PagePool, count: Callable[[int, int], None]
) -> PdfAttributes:
    """Return `of_pdf_pages` for the ground truth and predictions of some results of one dataset."""
    dataset = results[0].matching.dataset
    sides = [dataset.ground_truth, *(each.matching.prediction for each in results)]
    return of_pdf_pages(dataset, sides, folder, pool, count)


class _Columns(NamedTuple):
    shares: FloatArray
    order: IntArray
    bounds: IntArray
    values: dict[str, FloatArray]

    @classmethod
    def of(cls, dataset: Dataset, side: JoinedBoxes) -> _Columns:
        order = np.argsort(side.page, kind="stable").astype(np.int64)
        bounds = np.searchsorted(side.page[order], np.arange(dataset.pages + 1)).astype(np.int64)
        values = {name: np.full(len(side.page), np.nan) for name in _OF_BOXES}
        return cls(page_shares(dataset, side), order, bounds, values)

    def fill(self, page: int, seen: _Page, lines: FloatArray) -> None:
        rows = self.order[self.bounds[page] : self.bounds[page + 1]]
        if len(rows):
            for name, values in _in_boxes(self.shares[rows], seen, lines).items():
                self.values[name][rows] = values

    def attributes(self) -> tuple[Attribute, ...]:
        return tuple(
            Attribute(name, "number", self.values[name], (), "box", whole) for name, whole in _OF_BOXES.items()
        )


def _of_page(seen: _Page, lines: FloatArray) -> Mapping[str, Value]:
    layout, ink = seen.layout, seen.ink.marked
    areas = (layout.images[:, 2] - layout.images[:, 0]) * (layout.images[:, 3] - layout.images[:, 1])
    return {
        "words": len(seen.words.boxes),
        "text layer": "yes" if len(seen.words.boxes) else "no",
        "scanned": "yes" if layout.scanned else "no",
        "script": script_of(seen.words.texts),
        "font size of page": _median(layout.sizes, layout.characters),
        "ink": float(np.mean(ink)) if ink.size else None,
        "images": len(layout.images),
        "image area": float(areas.max(initial=0.0)),
        "ruled lines": len(lines),
        "rotation": str(layout.rotation),
        "producer": layout.producer or None,
    }


def _of_size(seen: _Page) -> Mapping[str, Value]:
    width, height = seen.size
    if np.isnan(width) or np.isnan(height):
        return {}
    shown: dict[str, Value] = {"landscape": "yes" if width > height else "no"}
    return {**shown, "page width": width, "page height": height} if seen.is_pdf else shown


def _in_boxes(boxes: FloatArray, seen: _Page, lines: FloatArray) -> Mapping[str, FloatArray]:
    words = _centre_inside(boxes, seen.words.boxes)
    texts = _centre_inside(boxes, seen.layout.texts)
    sizes = [_median(seen.layout.sizes[held], seen.layout.characters[held]) for held in texts]
    return {
        "words in box": words.sum(axis=1).astype(np.float64),
        "font size": np.array([np.nan if size is None else size for size in sizes], dtype=np.float64),
        "ink in box": _ink_inside(boxes, seen.ink.marked),
        "ruled lines in box": _centre_inside(boxes, lines).sum(axis=1).astype(np.float64),
    }


def _centre_inside(boxes: FloatArray, items: FloatArray) -> BoolArray:
    x, y = (items[:, 0] + items[:, 2]) / 2, (items[:, 1] + items[:, 3]) / 2
    across = (x >= boxes[:, [0]]) & (x <= boxes[:, [2]])
    return np.asarray(across & (y >= boxes[:, [1]]) & (y <= boxes[:, [3]]), dtype=np.bool_)


def _ink_inside(boxes: FloatArray, ink: BoolArray) -> FloatArray:
    """Return the share of cells with ink under each box; NaN where it holds no cell's centre."""
    rows, columns = ink.shape
    total = np.zeros((rows + 1, columns + 1), dtype=np.int64)
    total[1:, 1:] = ink.cumsum(axis=0).cumsum(axis=1)
    # The cells whose centre is inside.
    left, right = (np.clip(np.ceil(boxes[:, side] * columns - 0.5), 0, columns).astype(int) for side in (0, 2))
    top, bottom = (np.clip(np.ceil(boxes[:, side] * rows - 0.5), 0, rows).astype(int) for side in (1, 3))
    cells = (right - left) * (bottom - top)
    held = total[bottom, right] - total[top, right] - total[bottom, left] + total[top, left]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(cells > 0, held / cells, np.nan), dtype=np.float64)


def _median(values: FloatArray, weights: FloatArray) -> float | None:
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return round(float(values[order][np.searchsorted(reached, reached[-1] / 2)]), 1)
