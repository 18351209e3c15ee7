"""What the PDFs say of the pages: words, text layer and ink.

Owns three attributes of pages that are read from the documents themselves, once for each page. A page
that cannot be read has none of them, so no condition on them holds there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluator.model.dataset import Dataset
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.slices.attributes import Value


def of_pdf_pages(
    dataset: Dataset, folder: PdfFolder, pool: PagePool, count: Callable[[int, int], None] = lambda _done, _all: None
) -> dict[tuple[str, int | None], dict[str, Value]]:
    """Attributes of the pages of a dataset from its PDFs and page images.

    Parameters
    ----------
    folder : PdfFolder
        Where the documents are found by name.
    count : callable
        Called with how many of how many pages are read.

    Returns
    -------
    dict
        See `evaluator.slices.attributes.OfPages`: ``words`` (their number), ``text layer`` ("yes" or "no") and ``ink``
        (share of the page). Without the pages that cannot be read.
    """
    found: dict[tuple[str, int | None], dict[str, Value]] = {}
    for page in range(dataset.pages):
        count(page, dataset.pages)
        document, index = dataset.documents[dataset.page_document[page]], int(dataset.page_index[page])
        try:
            path, of_file = folder.find_page(document.name, index, dataset.page_images)
            words, ink = len(pool.words(path, of_file).boxes), pool.ink(path, of_file).marked
        except PageProblem:
            continue
        share = float(np.mean(ink)) if ink.size else None
        found[document.doc_id, index] = {"words": words, "text layer": "yes" if words else "no", "ink": share}
    return found
