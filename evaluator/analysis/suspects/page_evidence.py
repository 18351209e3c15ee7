"""The evidence of the page on a suspect: words and ink inside the ground truth box and inside the proposal.

Owns how far they move the probability of the likeliest suspects. The factors are set by judgement, not measured. Boxes
are compared as shares of the displayed page; a page that cannot be read changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from evaluator.analysis.suspects.listing import Suspects
from evaluator.analysis.suspects.ranking import BORDER, EXTRA, MISSING
from evaluator.data.boxes import BoolArray, FloatArray, area, intersection
from evaluator.data.issues import count_of
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.ink import cells_in
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem

MOST_PAGES: Final = 500
"""So many pages are read, those of the likeliest suspects."""
_UNCOVERED, _ALL_COVERED = 3.0, 0.25
_EMPTY, _FILLED = 20.0, 0.5
_NO_INK_MISSING: Final = 0.1
_CUT: Final = 3.0
_INSIDE: Final = 0.5
"""A word belongs to a box that holds half of it."""
_WHOLE: Final = 0.9
_LEAST_CUT: Final = 0.1


class _Page(NamedTuple):
    words: FloatArray
    ink: BoolArray


class _Evidence(NamedTuple):
    factor: float
    reason: str


_NOTHING: Final = _Evidence(1.0, "")
_NOT_LISTED: Final = _Evidence(0.0, "")
"""Of what would leave words without a box."""


def with_page_evidence(
    suspects: Suspects,
    folder: PdfFolder,
    pool: PagePool,
    *,
    count: Callable[[int, int], None] = lambda _done, _all: None,
) -> Suspects:
    """Return the suspects under new probabilities from their pages, most likely first.

    Those that would leave words of the page without a box are left out; where it cannot be read they keep theirs.
    `count` gets how many of how many pages are read.
    """
    ranked, dataset = suspects.ranked, suspects.dataset
    score, notes = ranked.score.copy(), [""] * len(ranked)
    _, first = np.unique(ranked.page, return_index=True)
    pages = ranked.page[np.sort(first)[:MOST_PAGES]]
    by_page = np.argsort(ranked.page, kind="stable")
    truth = dataset.ground_truth
    order = np.argsort(truth.page, kind="stable")
    ends = np.searchsorted(truth.page[order], [pages, pages + 1])
    size = dataset.page_size if truth.source.unit == "pixels" else np.ones((dataset.pages, 2))
    for done, page in enumerate(pages.tolist()):
        count(done, len(pages))
        scale = size[page][[0, 1, 0, 1]]
        read = _read(suspects, page, folder, pool)
        if read is None or np.isnan(scale).any():
            continue
        low, high = np.searchsorted(ranked.page[by_page], [page, page + 1])
        here = order[ends[0][done] : ends[1][done]]
        for place in by_page[low:high].tolist():
            others = truth.xyxy[here[here != ranked.truth[place]]] / scale
            now, proposed = ranked.xyxy[place] / scale, ranked.new_xyxy[place] / scale
            evidence = _evidence(int(ranked.kind[place]), read, now, proposed, others)
            odds = score[place] / max(1.0 - score[place], 1e-9) * evidence.factor
            score[place], notes[place] = odds / (1.0 + odds), evidence.reason
    again = np.argsort(-score, kind="stable")[: int((score > 0.0).sum())]
    moved = replace(ranked, score=score).take(again)
    return replace(suspects, ranked=moved, notes=tuple(notes[place] for place in again.tolist()))


def _read(suspects: Suspects, page: int, folder: PdfFolder, pool: PagePool) -> _Page | None:
    dataset = suspects.dataset
    name, index = dataset.documents[dataset.page_document[page]].name, int(dataset.page_index[page])
    try:
        path, of_file = folder.find_page(name, index, dataset.page_images)
        return _Page(pool.words(path, of_file).boxes, pool.ink(path, of_file).marked)
    except PageProblem:
        return None


def _evidence(kind: int, page: _Page, now: FloatArray, proposed: FloatArray, others: FloatArray) -> _Evidence:
    inside = _inside(page.words, now)
    if kind == MISSING:
        free = inside & ~_in_any(page.words, others)
        if free.any():
            return _Evidence(_UNCOVERED, f"{count_of(int(free.sum()), 'word')} there that no ground truth box covers")
        if inside.any():
            return _Evidence(_ALL_COVERED, "all words there are in other ground truth boxes")
        held = cells_in(page.ink.shape, now[None]) & page.ink
        if not held.any():
            return _Evidence(_NO_INK_MISSING, "no ink there")
        uncovered = (held & ~cells_in(page.ink.shape, others)).sum() / held.sum()
        return _Evidence(_UNCOVERED, "ink there that no ground truth box covers") if uncovered >= _INSIDE else _NOTHING
    if kind == EXTRA:
        if (inside & ~_in_any(page.words, others)).any():
            return _NOT_LISTED
        if inside.any():
            return _Evidence(_FILLED, f"{count_of(int(inside.sum()), 'word')} in it")
        blank = not (cells_in(page.ink.shape, now[None]) & page.ink).any()
        return _Evidence(_EMPTY, "no ink in it") if blank else _NOTHING
    if kind == BORDER:
        # What it would no longer hold, and nothing else holds.
        if (inside & ~_inside(page.words, proposed) & ~_in_any(page.words, others)).any():
            return _NOT_LISTED
        before, after = int(_cut(page.words, now).sum()), int(_cut(page.words, proposed).sum())
        if before > after:
            return _Evidence(_CUT, f"it cuts through {count_of(before, 'word')} now, {after} then")
        return _Evidence(1.0 / _CUT, f"it would cut through {count_of(after, 'word')}") if after > before else _NOTHING
    return _NOTHING


def _shares(words: FloatArray, box: FloatArray) -> FloatArray:
    """Return the share of each word that a box holds, float64 in [0, 1]."""
    whole = area(words)
    shared = intersection(words, np.broadcast_to(box, words.shape))
    return np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0.0)


def _inside(words: FloatArray, box: FloatArray) -> BoolArray:
    return np.asarray(_shares(words, box) >= _INSIDE)


def _in_any(words: FloatArray, boxes: FloatArray) -> BoolArray:
    return np.asarray(np.any([np.zeros(len(words), dtype=bool), *(_inside(words, box) for box in boxes)], axis=0))


def _cut(words: FloatArray, box: FloatArray) -> BoolArray:
    shares = _shares(words, box)
    return np.asarray((shares > _LEAST_CUT) & (shares < _WHOLE))
