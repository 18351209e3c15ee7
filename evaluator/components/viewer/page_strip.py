"""The page strip of the viewer: mistakes and a few blocks of each page, as shares to two decimals."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from evaluator.components.viewer.mistake_filter import PageList
from evaluator.components.viewer.payload import StripItem
from evaluator.data.issues import cut, displayed
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.page_rows import page_shares, rows_on

_BLOCKS: Final = 8
WINDOW: Final = 120
"""Pages of the strip that the viewer is given at once."""


def window(position: int, total: int, most: int = WINDOW) -> tuple[int, int]:
    """Return first and last plus one of the pages, `most` of them, that a strip shows around a position.

    It moves in steps of half its length, so that most page turns leave the strip as it is.

    >>> window(3, 500), window(59, 500), window(61, 500), window(499, 500), window(2, 7)
    ((0, 120), (0, 120), (30, 150), (380, 500), (0, 7))
    """
    half = most // 2
    first = max(0, min((position // half) * half - half // 2, total - most))
    return first, min(first + most, total)


class Strip(NamedTuple):
    """The pages around one page, and the position of the first of them in the list, from 0."""

    pages: tuple[StripItem, ...]
    first: int


def strip(result: AnyBoxResult, pages: PageList, current: int | None) -> Strip:
    """Return the page strip around a position (None: the first); blocks only for pages of known size."""
    first, last = window(current or 0, len(pages))
    return Strip(tuple(_entry(result, pages, at, current) for at in range(first, last)), first)


def _entry(result: AnyBoxResult, pages: PageList, position: int, current: int | None) -> StripItem:
    dataset = result.matching.dataset
    document, index = pages.at(position)
    row = dataset.page_row(document, index)
    rows = np.zeros(0, dtype=np.int64) if row is None else rows_on(result, row, None)[0][:_BLOCKS]
    places = page_shares(dataset, dataset.ground_truth, rows).round(2)
    names = [displayed(dataset.labels[code]) for code in dataset.ground_truth.label[rows].tolist()]
    return StripItem(
        document=cut(document),
        index=index,
        mistakes=int(pages.mistakes[position]),
        blocks=[]
        if np.isnan(places).any()
        else [(x1, y1, x2, y2, name) for (x1, y1, x2, y2), name in zip(places.tolist(), names, strict=True)],
        current=position == current,
    )
