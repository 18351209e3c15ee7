"""Sizes of the pages that a file of boxes names, measured in their PDFs and images."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from evaluator.model.dataset import Annotations
from evaluator.model.page_sizes import PageKey
from evaluator.pdf.folder import IMAGE_SUFFIXES, PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem


def page_sizes(
    source: Annotations,
    folder: Path,
    count: Callable[[int, int], None] | None = None,
    *,
    images_only: bool = False,
) -> dict[PageKey, tuple[float, float]]:
    """Sizes of the pages of the documents that a file names, from their PDFs and images.

    Parameters
    ----------
    folder : Path
        The one folder under which the documents are looked up by name.
    count : callable, optional
        Called with how many of how many documents are measured.
    images_only : bool
        Leave out PDFs, which state points and no pixels.

    Returns
    -------
    dict
        Width and height by document id and page index: points of a PDF, pixels of an image. Documents that cannot be
        found or measured are missing; whoever needs them says so.
    """
    sizes: dict[PageKey, tuple[float, float]] = {}
    documents = PdfFolder(folder)
    with PagePool() as pool:
        for place, document in enumerate(source.documents):
            if count is not None:
                count(place, len(source.documents))
            try:
                path = documents.find(document.name)
                if images_only and path.suffix.lower() not in IMAGE_SUFFIXES:
                    continue
                measured = pool.page_sizes(path)
            except PageProblem:
                continue
            for page_index, (width, height) in enumerate(measured.tolist()):
                if not math.isnan(width):
                    sizes[document.doc_id, page_index] = (width, height)
    return sizes
