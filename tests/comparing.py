"""Builders for the tests of comparisons: two models of one ground truth, and corpora with documents drawn again.
A drawn corpus really holds every copy of a document under a name of its own, so that a protocol can be run on it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evaluator.compare.differences import Difference
from evaluator.data.dataset import Annotations, Dataset, join
from evaluator.matching.box_results import ALL_LABELS
from evaluator.protocols import snapshot
from evaluator.protocols.snapshot.evaluation import ThresholdResult
from tests.building import Box, annotations, ground_truth, random_rows

Rows = list[Box]


def two_models(
    seed: int, *, documents: int = 5, distinct: bool = True, per_page: float = 3.0
) -> tuple[Rows, Rows, Rows]:
    """Ground truth, a model, and one that does some of it better and some of it worse.

    No two scores are equal when `distinct`.
    """
    rng = np.random.default_rng(seed)
    truth, a = random_rows(seed, documents=documents, per_page=per_page)
    _, other = random_rows(seed + 1, documents=documents, per_page=per_page)
    kept = [row for row in a if rng.uniform() < 0.7]
    right = [row for row in truth if row.label != "For review" and rng.uniform() < 0.3]
    b = [*kept, *right, *(row for row in other if rng.uniform() < 0.1)]
    if distinct:
        a, b = (with_distinct_scores(rows, rng) for rows in (a, b))
    return truth, a, [row._replace(score=row.score if row.score is not None else 0.5) for row in b]


def with_distinct_scores(rows: Rows, rng: np.random.Generator) -> Rows:
    """The rows with other scores, of which no two are equal."""
    scores = (rng.permutation(len(rows)) / len(rows)).tolist()
    return [row._replace(score=score) for row, score in zip(rows, scores, strict=True)]


def names(documents: int) -> list[str]:
    """The documents of random rows, in the order of their ids."""
    return [f"{document}.pdf" for document in range(documents)]


def side(
    rows: Rows, documents: Sequence[str], *, truth: bool = False, page: tuple[float, float] | None = None
) -> Annotations:
    """Rows as a reader returns them, with all documents, in shares of the page or in its pixels."""
    pages = [(document, index) for document in documents for index in range(3)]
    build = ground_truth if truth else annotations
    built = build([row for row in rows if row.document in set(documents)], documents=documents, pages=pages)
    if page is None:
        return built
    scaled = built.boxes.xyxy * np.tile(np.array(page), 2)
    sizes = np.tile(np.array(page, dtype=np.float64), (len(built.page_index), 1))
    return replace(built, boxes=replace(built.boxes, xyxy=scaled), unit="pixels", page_size=sizes)


def drawn(rows: Rows, documents: Sequence[str], counts: Sequence[int]) -> tuple[Rows, list[str]]:
    """The rows of a resample: each document as often as it was drawn, its copies one after the other."""
    copies: Rows = []
    for document, count in zip(documents, counts, strict=True):
        own = [row for row in rows if row.document == document]
        copies += [row._replace(document=f"{document}#{copy}") for copy in range(count) for row in own]
    return copies, [
        f"{document}#{copy}" for document, count in zip(documents, counts, strict=True) for copy in range(count)
    ]


def dataset(truth: Rows, *models: Rows, documents: Sequence[str] = ()) -> Dataset:
    return join(
        side(truth, documents, truth=True) if documents else ground_truth(truth),
        *(side(rows, documents) if documents else annotations(rows) for rows in models),
    )


def snapshot_results(
    truth: Rows, *models: Rows, iou: float = 0.5, documents: Sequence[str] = (), **options: Any
) -> list[ThresholdResult]:
    """Results of some models of one dataset under the snapshot protocol."""
    joined = dataset(truth, *models, documents=documents)
    return [snapshot.pair(joined, model).match(**options).at(iou) for model in range(len(models))]


def made(
    metric: str, label: str, difference: float | None, low: float | None = None, high: float | None = None, **given: Any
) -> Difference:
    """A difference of 38 documents, unless stated otherwise."""
    values = {"documents": 38, "documents_better": 29, "documents_worse": 6, "undefined": 0, "resamples": 2000}
    return Difference(
        metric=metric, label=label, overall=label == ALL_LABELS, difference=difference, low=low, high=high,
        **{"a": 0.5, "b": 0.5, **values, **given},
    )  # fmt: skip
