"""Pairs of items of two sides, page by page: by their boxes, or by what they say where one has no box."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.cells import Cell, Table, cells_of
from evaluator.data.dataset import Dataset, JoinedBoxes
from evaluator.data.issues import Issue
from evaluator.data.plain_text import plain
from evaluator.matching.pairs import Candidates, greedy_rows, most_pairs, overlapping_pairs

MOST_CHARACTER_PAIRS: Final = 10_000_000_000
"""Pairs of characters of the texts of a page that are compared: 100,000 on each side."""
_LEAST_IOU: Final = 1e-12


class ItemPairs(NamedTuple):
    """Which items are one: int64 rows of both sides, none twice, and how the pages were matched.

    `truth`, `predicted`: bool, the items that take part. `by_text`: pages, int64, rising, that were matched by text; on
    them `mute` items, with neither text nor cells, take no part.
    """

    truth_rows: IntArray
    predicted_rows: IntArray
    truth: BoolArray
    predicted: BoolArray
    by_text: IntArray
    mute: int


def pages_by_text(dataset: Dataset, taking: Sequence[BoolArray]) -> BoolArray:
    """Return the pages on which an item of a side that takes part has no box, bool, shape (pages,)."""
    by_text = np.zeros(dataset.pages, dtype=bool)
    for side, part in zip((dataset.ground_truth, dataset.predictions[0]), taking, strict=True):
        by_text[side.page[part & np.isnan(side.xyxy[:, 0])]] = True
    return by_text


def text_limit_issues(
    dataset: Dataset, taking: Sequence[BoolArray], by_text: BoolArray, *, compares_texts: bool
) -> tuple[Issue, ...]:
    """Return an error for the page with the most pairs of items or of characters, if it has too many to compare.

    Items are compared on pages `by_text`; characters there, and everywhere if the protocol `compares_texts`.
    """
    sides = dataset.ground_truth, dataset.predictions[0]
    items, characters = [], []
    of_texts = by_text | compares_texts
    for side, part in zip(sides, taking, strict=True):
        items.append(np.bincount(side.page[part], minlength=dataset.pages))
        rows = np.flatnonzero(part & of_texts[side.page])
        lengths = [_length(side, row) for row in rows.tolist()]
        characters.append(np.bincount(side.page[rows], lengths, minlength=dataset.pages))
    rules = (
        ("items", items, by_text, most_pairs(items[0] + items[1]), "Give the items boxes, or split the page."),
        (
            "characters",
            characters,
            of_texts,
            np.full(dataset.pages, MOST_CHARACTER_PAIRS),
            "Split the page, or the longest text.",
        ),
    )
    issues = []
    for what, counts, compared, most, fix in rules:
        pairs = np.where(compared, counts[0] * counts[1], 0)
        over = np.flatnonzero(pairs > most)
        if len(over):
            page = over[np.argmax(pairs[over])]
            name = dataset.document_ids[dataset.page_document[page]]
            rule = f"at most {most[page]:,} pairs of {what} of the two sides of a page are compared by text"
            found = f"{counts[0][page]:,.0f} and {counts[1][page]:,.0f}"
            place = f"{name}, page {dataset.page_index[page] + 1}"
            issues.append(
                Issue(severity="error", file=sides[1].source.name, place=place, rule=rule, found=found, fix=fix)
            )
    return tuple(issues)


def _length(side: JoinedBoxes, row: int) -> int:
    boxes = side.source.boxes
    text = None if boxes.text is None else boxes.text[row]
    table: Table | None = None if text is not None or boxes.cells is None else boxes.cells[row]
    return len(text or "") if table is None or isinstance(table, str) else sum(len(cell.text) for cell in table)


def pair_items(
    dataset: Dataset, taking: Sequence[BoolArray], by_text: BoolArray, *, iou: float, same_label: bool
) -> ItemPairs:
    """Return the pairs of the items that take part; greedy by falling IoU, or by rising distance of texts.

    On pages `by_text` texts have a similarity of 3/10, elsewhere boxes an IoU of at least `iou`. The lower predicted
    row goes first of equal pairs, then the lower one of the ground truth. `same_label` keeps pairs of different labels
    out.
    """
    sides, taking = (dataset.ground_truth, dataset.predictions[0]), [part.copy() for part in taking]
    groups = [side.page * (len(dataset.labels) if same_label else 1) + side.label * same_label for side in sides]
    rows = [np.flatnonzero(part & ~by_text[side.page]) for side, part in zip(sides, taking, strict=True)]
    columns = [(side.xyxy[own], group[own]) for side, own, group in zip(sides, rows, groups, strict=True)]
    candidates = overlapping_pairs(*columns[0], *columns[1], iou_floor=max(iou, _LEAST_IOU))
    taken = candidates.take(greedy_rows(candidates, len(rows[0]), len(rows[1])))
    pairs = [(rows[0][taken.ground_truth], rows[1][taken.prediction])]
    mute = 0
    pages = np.flatnonzero(by_text)
    texts: list[dict[int, str]] = []
    for side, part in zip(sides, taking, strict=True):
        own = np.flatnonzero(part & by_text[side.page]).tolist()
        said = {row: text for row in own if (text := text_of(side, row)) is not None}
        part[own] = [row in said for row in own]
        mute += len(own) - len(said)
        texts.append(said)
    for of_truth, of_prediction in _by_group(texts, groups) if len(pages) else ():
        pairs.append(_paired_by_text(of_truth, of_prediction))
    first, second = (np.concatenate(column) for column in zip(*pairs, strict=True))
    return ItemPairs(first, second, taking[0], taking[1], pages, mute)


def text_of(side: JoinedBoxes, row: int) -> str | None:
    """Return what an item says in one form: its text, else that of its cells; None without both."""
    boxes = side.source.boxes
    text = None if boxes.text is None else boxes.text[row]
    if text is not None:
        return plain(text)
    table: Table | None = None if boxes.cells is None else boxes.cells[row]
    return None if table is None else text_of_cells(cells_of(table) or ())


def text_of_cells(cells: Sequence[Cell]) -> str:
    """Return the texts of cells by row, then by column, joined by blanks."""
    return " ".join(cell.text for cell in sorted(cells, key=lambda cell: (cell.row, cell.col)))


def _by_group(
    texts: Sequence[dict[int, str]], groups: Sequence[IntArray]
) -> Iterable[tuple[dict[int, str], dict[int, str]]]:
    sides: list[dict[int, dict[int, str]]] = [{}, {}]
    for side, said, group in zip(sides, texts, groups, strict=True):
        for row, text in said.items():
            side.setdefault(int(group[row]), {})[row] = text
    return ((sides[0][group], sides[1][group]) for group in sides[0] if group in sides[1])


def _paired_by_text(truth: dict[int, str], predicted: dict[int, str]) -> tuple[IntArray, IntArray]:
    # Here, so that what has no text starts without it.
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    distance = cdist(list(truth.values()), list(predicted.values()), scorer=Levenshtein.distance, dtype=np.int64)
    longest = np.maximum.outer([len(text) for text in truth.values()], [len(text) for text in predicted.values()])
    # In whole numbers: a similarity of 3/10 or more, and none of two empty texts.
    prediction, ground_truth = np.nonzero(((10 * distance <= 7 * longest) & (longest > 0)).T)
    # The greedy goes by falling values: distances as they are, because one less them would be rounded.
    falling = -(distance[ground_truth, prediction] / longest[ground_truth, prediction])
    candidates = Candidates(prediction, ground_truth, falling)
    taken = candidates.take(greedy_rows(candidates, len(truth), len(predicted)))
    rows = np.array(list(truth), dtype=np.int64), np.array(list(predicted), dtype=np.int64)
    return rows[0][taken.ground_truth], rows[1][taken.prediction]
