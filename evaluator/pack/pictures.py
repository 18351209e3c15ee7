"""Pictures of a review pack: pages and crops as WebP or JPEG, made one at a time, within a budget.

A page that cannot be drawn is an empty sheet with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from evaluator.components.gallery.crops import aspect_of, data_url, region
from evaluator.components.page_picture import page_text
from evaluator.components.payload import Rect
from evaluator.components.viewer.text_lost import PageText
from evaluator.data.issues import count_of, plain
from evaluator.pdf.folder import Folders, PageFile, PdfFolder
from evaluator.pdf.passwords import Passwords
from evaluator.pdf.pool import PageImage, PagePool
from evaluator.pdf.problems import PageProblem, ProblemKind
from evaluator.pdf.worker import Encoding
from evaluator.system.threads import in_threads

PAGE_WIDTHS: Final = (1000, 820, 660, 520, 420)
"""Pixels of a page picture, the sharpest first; the first that fits the budget is taken."""
_CROP_WIDTH: Final = 640
_CROP_DPI: Final = 144.0
# Pages differ: three of them are looked at, and the rest may be this much larger.
_LOOKED_AT: Final = 3
_CAUTION: Final = 1.3
_NO_PICTURES: Final = 1_000.0
_SHAPE: Final = 1.414
_ABSENT: Final[frozenset[ProblemKind]] = frozenset({"no_folder", "missing"})
_NO_FILE: Final = "there is no PDF or image of the page"
# Reasons of empty sheets that are named.
_REASONS: Final = 5
_UNKNOWN_POINTS: Final = (612.0, 792.0)

T = TypeVar("T")
D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Picture:
    """A page or a crop (`part`, as shares); without one `webp` and `jpeg` are None, `problem` says why.

    `points`: page size, of letter paper when unknown. `size`: pixels.
    """

    webp: bytes | None
    part: Rect
    points: tuple[float, float]
    size: tuple[int, int]
    problem: str = ""
    jpeg: bytes | None = None

    @property
    def address(self) -> str | None:
        """Return the picture as a data URL."""
        return None if self.webp is None else data_url(self.webp)


def page_width(pages: int, budget: int, per_megapixel: float) -> int:
    """Return the pixels across with which so many pages stay within a budget of bytes, before base64.

    The smallest of `PAGE_WIDTHS` when even that may not fit; see `fitting`.

    >>> page_width(10, 20_000_000, 150_000.0), page_width(200, 20_000_000, 150_000.0)
    (1000, 660)
    """
    fits = (width for width in PAGE_WIDTHS if pages * _bytes_of(width, per_megapixel) <= budget)
    return next(fits, PAGE_WIDTHS[-1])


def fitting(pages: int, budget: int, per_megapixel: float) -> int:
    """Return how many pages fit a budget at the smallest width.

    >>> fitting(500, 10_000_000, 150_000.0), fitting(5, 10_000_000, 150_000.0)
    (267, 5)
    """
    return min(pages, int(budget // _bytes_of(PAGE_WIDTHS[-1], per_megapixel)))


def _bytes_of(width: int, per_megapixel: float) -> float:
    return width * width * _SHAPE / 1e6 * per_megapixel


class Pictures:
    """Draws the pages and crops of a pack from the PDFs and page images under a folder, or several.

    Without a folder every picture is an empty sheet with the reason. `images`: see `Dataset.page_images`. `encoding`:
    HTML needs WebP, PDF JPEG, a folder with both files both, each page drawn once.
    """

    def __init__(
        self,
        pool: PagePool,
        folder: Folders | None,
        images: Mapping[tuple[str, int], str] | None = None,
        *,
        encoding: Encoding = "webp",
    ) -> None:
        self._pool, self._images, self.encoding = pool, images, encoding
        self._folder = None if folder is None else PdfFolder(folder)
        # Of several threads; adding to a dictionary is one step.
        self._sheets: dict[tuple[str, int], str] = {}
        self._looked_at: dict[tuple[str, int, int], Picture] = {}

    @property
    def passwords(self) -> Passwords:
        """Return the passwords with which PDFs are opened."""
        return self._pool.passwords

    def encoded(self, encoding: Encoding) -> Pictures:
        """Return the same pictures in another encoding; those in both are in any."""
        if self.encoding in ("both", encoding):
            return self
        other = copy(self)
        other.encoding, other._looked_at = encoding, {}
        return other

    def sheets(self, places: Iterable[tuple[str, int]]) -> int:
        """Return how many of some pages (name and index) were asked for and are empty sheets."""
        return len(self._sheets.keys() & set(places))

    def why_sheets(self, places: Iterable[tuple[str, int]]) -> str:
        """Return why some pages are empty sheets, in words; with counts where there are several reasons."""
        why = Counter(self._sheets[place] for place in places if place in self._sheets)
        if len(why) < 2:
            return next(iter(why), "")
        named = sorted(why.items(), key=lambda each: (-each[1], each[0]))[:_REASONS]
        reasons = [f"{count_of(count, 'page')}: {reason}" for reason, count in named]
        return "; ".join([*reasons, *([f"{len(why) - _REASONS:,} more reasons"] if len(why) > _REASONS else [])])

    def points(self, name: str, index: int) -> tuple[float, float] | None:
        """Return the size of a page in points; None when the page cannot be opened."""
        try:
            path, at = self._page(name, index)
            sizes = self._pool.page_sizes(path)
        except PageProblem:
            return None
        if not 0 <= at < len(sizes) or np.isnan(sizes[at]).any():
            return None
        return float(sizes[at, 0]), float(sizes[at, 1])

    def page(self, name: str, index: int, *, width: int) -> Picture:
        """Return a whole page, `width` pixels across."""
        return self._looked_at.get((name, index, width)) or self._whole(name, index, width, self.encoding)

    def _whole(self, name: str, index: int, width: int, encoding: Encoding) -> Picture:
        try:
            drawn = self._pool.page_image(*self._page(name, index), width=width, encoding=encoding)
        except PageProblem as problem:
            self._sheets[name, index] = _NO_FILE if problem.kind in _ABSENT else problem.title
            return self._sheet((0.0, 0.0, 1.0, 1.0), width, problem)
        return _picture(drawn, (0.0, 0.0, 1.0, 1.0))

    def ahead(self, runs: Iterable[Sequence[tuple[T, Callable[[], D]]]]) -> Iterator[tuple[T, D]]:
        """Yield things in order, each with what its call drew, a few runs ahead, in all workers.

        A run is made in order, by one worker where it can be: a document's pages are opened once.
        """
        for drawn in in_threads(_drawn, runs, most=self._pool.workers):
            yield from drawn

    def density(self, places: Sequence[tuple[str, int]], width: int) -> float:
        """Return a cautious estimate, above 0, of the WebP bytes of a million pixels of pages (name, index)."""
        step = max(1, len(places) // _LOOKED_AT)
        encoding: Encoding = "webp" if self.encoding == "webp" else "both"
        drawn = []
        for name, index in places[::step][:_LOOKED_AT]:
            drawn.append(self._whole(name, index, width, encoding))
            self._looked_at[name, index, width] = drawn[-1]
        sizes = [(len(each.webp), each.size[0] * each.size[1]) for each in drawn if each.webp is not None]
        if not sizes:
            return _NO_PICTURES
        return _CAUTION * 1e6 * sum(size for size, _ in sizes) / sum(pixels for _, pixels in sizes)

    def text(self, name: str, index: int) -> PageText | None:
        """Return the words of a page, or its ink where it has none; None when it cannot be read."""
        try:
            return page_text(self._pool, self._page(name, index))
        except PageProblem:
            return None

    def part(self, name: str, index: int, part: Rect, *, width: int = _CROP_WIDTH) -> Picture:
        """Return a part of a page."""
        try:
            page = self._page(name, index)
            drawn = self._pool.page_part(*page, part=part, dpi=_CROP_DPI, width=width, encoding=self.encoding)
        except PageProblem as problem:
            return self._sheet(part, width, problem)
        return _picture(drawn, part)

    def crop(self, name: str, index: int, boxes: Sequence[Sequence[float]], *, width: int = _CROP_WIDTH) -> Picture:
        """Return the part of a page around some boxes; the whole page for none."""
        xyxy = np.array(boxes, dtype=np.float64).reshape(-1, 4)
        return self.part(name, index, _part(xyxy, self.points(name, index) or _UNKNOWN_POINTS), width=width)

    def _page(self, name: str, index: int) -> PageFile:
        if self._folder is None:
            raise PageProblem("no_folder", document=name)
        return self._folder.find_page(name, index, self._images)

    def _sheet(self, part: Rect, width: int, problem: PageProblem) -> Picture:
        size = (width, max(1, round(width / aspect_of(part, _UNKNOWN_POINTS))))
        return Picture(None, part, _UNKNOWN_POINTS, size, f"{plain(problem.title)}: {plain(problem.text)}")


def _picture(drawn: PageImage, part: Rect) -> Picture:
    points, size = (drawn.page_width, drawn.page_height), (drawn.width, drawn.height)
    return Picture(drawn.webp or None, part, points, size, jpeg=drawn.jpeg or None)


def _drawn(run: Sequence[tuple[T, Callable[[], D]]]) -> list[tuple[T, D]]:
    return [(thing, draw()) for thing, draw in run]


def _part(boxes: np.ndarray, points: tuple[float, float]) -> Rect:
    return region(boxes, points) if len(boxes) else (0.0, 0.0, 1.0, 1.0)
