"""One page as the components show it: its picture for a screen, and its words or ink."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from evaluator.components.payload import PictureItem, ProblemItem
from evaluator.components.viewer.text_lost import PageText
from evaluator.data.issues import plain
from evaluator.pdf.folder import PageFile
from evaluator.pdf.pool import PageImage, PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.pdf.worker import PIXEL_LIMIT

# Enough for a whole page on most screens; the viewer asks for more when it needs it, and less is sent at each turn.
FIRST_DPI: Final = 90.0
FIRST_PIXELS: Final = 8_000_000
"""Of such a picture at most, however large the page is."""
SHARPEST_WIDTH: Final = 8_000


def shown_image(
    renderer: PagePool,
    path: Path,
    index: int,
    *,
    dpi: float = FIRST_DPI,
    width: int | None = None,
    patience: float | None = None,
) -> PageImage:
    """Return a page as JPEG for a screen, drawn once for all callers; see `page_image`."""
    most = FIRST_PIXELS if width is None else PIXEL_LIMIT
    return renderer.page_image(
        path, index, dpi=dpi, width=width, most_pixels=most, patience=patience, encoding="screen"
    )


def picture_item(image: PageImage, address: str) -> PictureItem:
    """Return a page with its picture, which the browser finds at an address."""
    return PictureItem(
        width=image.page_width,
        height=image.page_height,
        image=address,
        image_width=image.width,
        problem=None,
        notes=tuple(plain(warning) for warning in image.warnings),
    )


def problem_item(problem: PageProblem) -> PictureItem:
    """Return an empty sheet with the reason why a page has no picture."""
    again = problem.kind == "not_ready"
    why = ProblemItem(problem.title, problem.text, problem.fix, problem.in_files, again=again)
    return PictureItem(width=595.0, height=842.0, image=None, image_width=0, problem=why, notes=())


def page_text(renderer: PagePool, page: PageFile, *, patience: float | None = None) -> PageText:
    """Return the words of a page, or its ink where it has none; `PageProblem` when it cannot be read."""
    words = renderer.words(*page, patience=patience)
    return PageText(words, None if words.texts else renderer.ink(*page, patience=patience))
