"""Two extractions of the same posters: which posters pass in which model, and by which criterion."""

from __future__ import annotations

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.metrics.item_ledger import Item, ItemLedger, item_ledger
from evaluator.protocols.posters.difference import PosterColumns
from evaluator.protocols.posters.evaluation import CRITERIA

EVERYTHING = "All criteria"
BY_CRITERIA = "criteria"
_TITLES = {
    "word_capture": "word capture",
    "rouge_l": "ROUGE-L",
    "number_capture": "number capture",
    "field_proportion": "field proportion",
}


def poster_ledger(a: PosterColumns, b: PosterColumns) -> ItemLedger:
    """Return the ledger of posters by pass and fail: all four criteria together, then each of them.

    Every poster of either model counts; one that a model lacks, or that could not be compared, fails there.
    """
    ids = sorted({*a.ids, *b.ids})
    rows = (EVERYTHING, *(_TITLES[name] for name in CRITERIA))
    return item_ledger("poster", BY_CRITERIA, rows, *(_failed(columns, ids) for columns in (a, b)))


def _failed(columns: PosterColumns, ids: list[str]) -> dict[Item, FloatArray]:
    """Return 1 for each poster that fails, over everything and by criterion, else 0."""
    failed: dict[Item, FloatArray] = {}
    for poster_id in ids:
        row = columns.of(poster_id)
        if row is None or columns.errors[row]:
            failed[Item(poster_id)] = np.ones(1 + len(CRITERIA))
            continue
        own = [name in columns.failed[row] for name in CRITERIA]
        failed[Item(poster_id)] = np.array([not columns.passes[row], *own], dtype=np.float64)
    return failed
