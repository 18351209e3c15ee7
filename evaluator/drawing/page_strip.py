"""The page strip of the viewer: pages with their number of mistakes and a few blocks of their layout.

Coordinates are shares of the displayed page, origin top left, to two decimals: a thumbnail is 46 pixels wide.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from evaluator.drawing.mistake_filter import PageList
from evaluator.drawing.page_rows import rows_on
from evaluator.metrics.box_results import BoxResult

_BLOCKS: Final = 8
WINDOW: Final = 120
"""Pages of the strip that the viewer is given at once."""


def window(position: int, total: int) -> tuple[int, int]:
    """First and last plus one of the pages that the strip shows around a position.

    The window moves in steps of half its length, so that most page turns leave the strip as it is.

    Examples
    --------
    >>> window(3, 500), window(59, 500), window(61, 500), window(499, 500), window(2, 7)
    ((0, 120), (0, 120), (30, 150), (380, 500), (0, 7))
    """
    half = WINDOW // 2
    first = max(0, min((position // half) * half - half // 2, total - WINDOW))
    return first, min(first + WINDOW, total)


def strip(result: BoxResult[Any], pages: PageList, current: int) -> dict[str, Any]:
    """The page strip around a page.

    Parameters
    ----------
    result : BoxResult
    pages : PageList
    current : int
        Position of the shown page.

    Returns
    -------
    dict
        ``strip``: list of dict with ``document``, ``index``, ``mistakes``, ``blocks`` ([x1, y1, x2, y2, kind], of the
        ground truth), ``current``; ``strip_first``: position of its first page, from 0. Empty without pages.
    """
    dataset = result.matching.dataset
    truth = dataset.ground_truth
    first, last = window(current, len(pages))
    entries: list[dict[str, Any]] = []
    for position in range(first, last):
        document, index = pages.at(position)
        row = dataset.page_row(int(pages.document[position]), index)
        boxes = np.zeros(0, dtype=np.int64) if row is None else rows_on(result, row, None)[0][:_BLOCKS]
        corners = truth.xyxy[boxes].round(2).tolist()
        names = [dataset.labels[code] for code in truth.label[boxes].tolist()]
        entries.append(
            {
                "document": document,
                "index": index,
                "mistakes": int(pages.mistakes[position]),
                "blocks": [[*block, name] for block, name in zip(corners, names, strict=True)],
                "current": position == current,
            }
        )
    return {"strip": entries, "strip_first": first}
