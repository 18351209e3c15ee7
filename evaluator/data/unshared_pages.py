"""Documents and pages that only one of two files lists, so that the boxes on them are missed or invented."""

from __future__ import annotations

import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations, page_keys
from evaluator.data.issues import Collector, Issue, examples
from evaluator.data.page_sizes import pages_named


def unshared_issues(
    truth: Annotations,
    prediction: Annotations,
    counts: tuple[IntArray, IntArray] | None = None,
    *,
    invented: bool = True,
) -> tuple[Issue, ...]:
    """Return warnings of documents with boxes, and of such pages of the others, that only one of two files lists.

    `counts`: how many boxes each page entry of the two has, int64 (M,); those of the files when absent. Without
    `invented` what only the prediction lists is left out.
    """
    collector = Collector(prediction.name, max_per_rule=None)
    of_documents, of_pages = ("$.documents", "$.predictions") if prediction.format == "snapshot" else ("", "")
    sides = (truth, prediction, "missed"), (prediction, truth, "invented")
    for at, (side, other, count_as) in enumerate(sides[: 1 + invented]):
        listed = {document.doc_id: code for code, document in enumerate(other.documents)}
        code = np.array([listed.get(document.doc_id, -1) for document in side.documents], dtype=np.int64)
        document = code[side.page_document]
        known = np.sort((other.page_document.astype(np.int64) << 32) | other.page_index)
        key = (document << 32) | side.page_index
        alone = (document < 0) | (np.append(known, -1)[known.searchsorted(key)] != key)
        if not alone.any():
            continue
        boxes = np.bincount(side.boxes.entry, minlength=len(alone)) if counts is None else counts[at]
        alone &= boxes > 0
        if only := {side.documents[row].doc_id for row in side.page_document[alone & (document < 0)].tolist()}:
            rule = f"documents that only {side.name} lists count as {count_as}"
            fix = "Compare files of the same documents; nothing to do if nothing is on them."
            collector.warning(of_documents, rule, examples(sorted(only)), fix)
        if len(rows := np.flatnonzero(alone & (document >= 0))):
            rule = f"pages that only {side.name} lists count as {count_as}"
            fix = "Compare files of the same pages; nothing to do if nothing is on them."
            collector.warning(of_pages, rule, pages_named(page_keys(side), rows), fix)
    return collector.issues()
