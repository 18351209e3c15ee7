"""Two extractions of the same posters: which posters pass in which model, and by which criterion."""

from __future__ import annotations

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.metrics.item_ledger import Item, ItemLedger, Items
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
    failed_a, failed_b = _failed(a, ids), _failed(b, ids)
    return ItemLedger("poster", BY_CRITERIA, rows, Items(map(Item, ids)), failed_a, failed_b)


def _failed(columns: PosterColumns, ids: list[str]) -> FloatArray:
    """Return 1 for each poster that fails, over everything and by criterion, else 0; float64, shape (P, 5)."""
    failed = np.ones((len(ids), 1 + len(CRITERIA)))
    for place, poster_id in enumerate(ids):
        row = columns.of(poster_id)
        if row is not None and not columns.errors[row]:
            failed[place] = [not columns.passes[row], *(name in columns.failed[row] for name in CRITERIA)]
    return failed
