"""Sizes of the pages that files of boxes name, measured in their PDFs and images."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from evaluator.data.dataset import Annotations, PageKey, page_keys
from evaluator.data.issues import Issue
from evaluator.pdf.folder import IMAGE_SUFFIXES, Folders, PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem

Size = tuple[float, float]
"""Width and height: points of a PDF, pixels of an image."""


def page_sizes(
    source: Annotations,
    folder: Folders,
    count: Callable[[int, int], None] | None = None,
    *,
    images_only: bool = False,
    refused: list[Issue] | None = None,
) -> dict[PageKey, Size]:
    """Return width and height of the pages that a file names, by document id and page index.

    Points of a PDF (not with `images_only`), pixels of an image; pages not found or measured are missing. `count` gets
    done and all documents; `refused` a warning for each unreadable one.
    """
    sizes: dict[PageKey, Size] = {}
    documents = PdfFolder(folder)
    pages: dict[str, list[int]] = {}
    for doc_id, index in page_keys(source):
        pages.setdefault(doc_id, []).append(index)
    images = source.images_by_page()
    with PagePool() as pool:
        for place, document in enumerate(source.documents):
            if count is not None:
                count(place, len(source.documents))
            named = pages.get(document.doc_id, ())
            of_document = document_page_sizes(
                documents, pool, document.name, named, images, images_only=images_only, refused=refused
            )
            sizes |= {(document.doc_id, index): size for index, size in of_document.items()}
    return sizes


def document_page_sizes(
    folder: PdfFolder,
    pool: PagePool,
    name: str,
    pages: Sequence[int],
    images: Mapping[tuple[str, int], str],
    *,
    images_only: bool = False,
    refused: list[Issue] | None = None,
) -> dict[int, Size]:
    """Return the sizes of the pages of one document by index: its own, else those of single page images.

    `pages` are looked for when the document is not there. Empty when nothing is there; for `images`, `images_only` and
    `refused` see `PdfFolder.find_page` and `page_sizes`.
    """
    try:
        path = folder.find(name)
    except PageProblem:
        single = (index for index in pages if (name, index) in images)
        return {index: size for index in single if (size := _of_image(folder, pool, name, index, images)) is not None}
    if images_only and path.suffix.lower() not in IMAGE_SUFFIXES:
        return {}
    try:
        sizes = pool.page_sizes(path).tolist()
    except PageProblem as problem:
        if refused is not None:
            rule = "a document must be readable to give the sizes of its pages"
            found = f"{problem.title}: {problem.text.rstrip('.')}"
            fix = f"{problem.fix} Or give the size with --page-size WxH."
            refused.append(Issue(severity="warning", file=path.name, place="", rule=rule, found=found, fix=fix))
        return {}
    return {index: (width, height) for index, (width, height) in enumerate(sizes) if not math.isnan(width)}


def _of_image(
    folder: PdfFolder, pool: PagePool, name: str, index: int, images: Mapping[tuple[str, int], str]
) -> Size | None:
    """Return the size of a page that has an image of its own; None when that is not there or is none."""
    try:
        path, of_file = folder.find_page(name, index, images)
        width, height = pool.page_sizes(path)[of_file].tolist()
    except PageProblem:
        return None
    return None if math.isnan(width) else (width, height)
