"""Pages of which the boxes are off although those of other pages are not: turned, rescaled, of another page, renamed.

What brings the boxes of such pages onto those of the ground truth is proposed for them alone. One page says little
about a model that finds half of the boxes: what is wrong is told from all pages on which little matches.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from evaluator.data import label_names
from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations, Dataset, join, page_keys
from evaluator.data.issues import listed
from evaluator.data.label_names import Overlaps
from evaluator.matching.pages_apart import (
    FEWEST,
    MOST_PAGES,
    Change,
    Changes,
    Fit,
    Page,
    PagesApart,
    apart_of,
    iou_of_each,
    pages_of,
)

_IOU: Final = 0.5
# Little matches on a page: so much of what does on the better pages, or so few of its boxes.
_LITTLE: Final = 0.5
_POOR: Final = 0.2
# So many boxes lie on others by chance, at least; a change brings so many times those that another one does, and so
# many of all on pages on which little matches.
_BY_CHANCE: Final = 0.02
_TIMES: Final = 2.5
_LEAST: Final = 0.15
_UNLIKELY: Final = 1e-4
_RENAMED_BY_CHANCE: Final = 0.005
_NOT_ALL_RENAMED: Final = 0.001
_MOST_CHANGES: Final = 4
# So many boxes have to get their label.
_FEWEST_NAMED: Final = 5


def pages_apart(truth: Annotations, prediction: Annotations) -> tuple[tuple[PagesApart, ...], Annotations]:
    """Return the pages that are off, by what brings their boxes in place, and the prediction with all of that.

    None for files of two units. Pages with fewer than three boxes on a side say nothing by themselves; the first
    thousand are looked at.
    """
    if truth.unit != prediction.unit:
        return (), prediction
    dataset = join(truth, prediction)
    pages = _looked_at(dataset)
    apart, moved = _moved(dataset, pages)
    if apart:
        dataset = join(truth, moved)
        pages = _looked_at(dataset)
    renamed, moved = _renamed(dataset, pages)
    return (*apart, *renamed), moved


def _looked_at(dataset: Dataset) -> list[Page]:
    return list(pages_of(dataset, 0, np.flatnonzero(np.bincount(dataset.predictions[0].entry_page))[:MOST_PAGES]))


def _moved(dataset: Dataset, pages: list[Page]) -> tuple[tuple[PagesApart, ...], Annotations]:
    prediction = dataset.predictions[0].source
    shares = [page.given.share for page in pages if page.enough]
    if not shares:
        return (), prediction
    # Of the better pages, the better one of two; `numpy.quantile` would import masked arrays.
    poor = max(_POOR, _LITTLE * sorted(shares)[3 * len(shares) // 4])
    changes = Changes(dataset, 0, [page for page in pages if page.given.share <= poor])
    chosen: dict[int, Change] = {}
    for _ in range(_MOST_CHANGES):
        left = [page for page in pages if page.row not in chosen]
        key = _established([(page, changes.of(page)) for page in left if page.given.share <= poor])
        tried = [(page, changes.of(page).get(key)) for page in left] if key else []
        better = {page.row: change for page, change in tried if change is not None and _better(change, page)}
        if not better:
            break
        chosen |= better
    for page in pages:
        # A page that fits well enough says it alone.
        if page.row not in chosen and (best := changes.best(page)) is not None:
            chosen[page.row] = best
    if not chosen:
        return (), prediction
    boxes = prediction.boxes
    xyxy, entry = boxes.xyxy.copy(), boxes.entry.copy()
    entry_of = {row: at for at, row in reversed(list(enumerate(dataset.predictions[0].entry_page.tolist())))}
    for page in pages:
        if page.row in chosen:
            change = chosen[page.row]
            xyxy[page.ours], entry[page.ours] = change.xyxy, entry_of[change.row]
    document, index = prediction.page_document[entry], prediction.page_index[entry]
    moved = replace(boxes, xyxy=xyxy, entry=entry, document=document, page=index, polygons={}, area=None, box_area=None)
    said = {row: (change.words, change.more) for row, change in sorted(chosen.items())}
    return apart_of(said, page_keys(dataset)), replace(prediction, boxes=moved)


def _better(changed: Change, page: Page) -> bool:
    return changed.fit.boxes > page.given.boxes and changed.fit.overlap > page.given.overlap


def _established(pages: list[tuple[Page, dict[str, Change]]]) -> str:
    """Return the change that brings many more boxes in place on all of these pages than others do; empty for none."""
    # What each page suggests for itself brings some in place on each.
    keys = list(dict.fromkeys(key for _, changes in pages for key in changes if not key.startswith("own ")))
    if not keys:
        return ""
    nothing = Fit(0.0, 0.0, 0.0, 0.0)
    of_each = np.array([[changes[key].fit if key in changes else nothing for key in keys] for _, changes in pages])
    given = np.array([page.given for page, _ in pages])
    boxes, _, overlap, labelled = of_each.sum(axis=0).T
    best = int((boxes + overlap).argmax())
    most = sum(min(len(page.ours), len(page.theirs)) or len(page.ours) for page, _ in pages)
    # By chance fewer boxes come in place with their label; under other labels none does.
    for column, counts in ((0, boxes), (3, labelled)):
        # What most of the others bring is chance.
        chance = max(float(np.sort(counts)[: math.ceil(0.75 * len(counts))].mean()), _BY_CHANCE * most)
        gained = float(np.maximum(of_each[:, best, column] - given[:, column], 0.0).sum())
        if gained >= max(FEWEST, _TIMES * chance, _LEAST * most) and _unlikely(gained, chance, _UNLIKELY):
            return keys[best]
    return ""


def _unlikely(count: float, mean: float, least: float) -> bool:
    """Tell whether so many or more have less than this probability where `mean` are expected (Poisson)."""
    below = sum(math.exp(at * math.log(mean) - mean - math.lgamma(at + 1)) for at in range(int(count)))
    return 1.0 - below < least


# --- labels ------------------------------------------------------------------------------------------------------


def _renamed(dataset: Dataset, pages: list[Page]) -> tuple[tuple[PagesApart, ...], Annotations]:
    """Return the pages on which labels stand for one another, and the prediction with the labels that are meant."""
    truth, prediction = dataset.ground_truth.source, dataset.predictions[0].source
    tables = {page.row: table for page in pages if (table := _table(truth, prediction, page)).any()}
    code = {label: at for at, label in enumerate(truth.labels)}
    own = {row: code[label] for row, label in enumerate(prediction.labels) if label in code}
    given = {entry: _on(table, own) for entry, table in tables.items()}
    pool = sum(
        (table for entry, table in tables.items() if given[entry] <= _LITTLE * table.sum()),
        np.zeros((len(prediction.labels), len(truth.labels)), dtype=np.int64),
    )
    counts = pool.sum(axis=1)
    overlaps = Overlaps(counts, counts, pool, pool.sum(axis=0))
    exchanged = label_names.exchanged(prediction.labels, truth.labels, overlaps, fewest=1)
    names, words = exchanged
    # A model that takes one kind for another has no label in its place; several at once are none.
    if not set(names) & set(names.values()) and not (
        names and label_names.beyond_chance(prediction.labels, truth.labels, overlaps, exchanged)
    ):
        return (), prediction
    meant = own | {row: code[names[label]] for row, label in enumerate(prediction.labels) if label in names}
    rows = [entry for entry, table in tables.items() if _on(table, meant) > given[entry]]
    gained = sum(_on(tables[entry], meant) - given[entry] for entry in rows)
    # A model that mixes up labels has pages on which it does so more than on others.
    others = sum(tables.values()) - pool
    mixed_up = (others.sum() - _on(others, own) + 0.5) / (others.sum() + 1.0) * pool.sum()
    least = _RENAMED_BY_CHANCE if set(names) == set(names.values()) else _NOT_ALL_RENAMED
    if gained < _FEWEST_NAMED or not _unlikely(gained, float(mixed_up), least):
        return (), prediction
    labels = list(dict.fromkeys([*prediction.labels, *names.values()]))
    new = np.array([labels.index(names.get(label, label)) for label in prediction.labels], dtype=np.int32)
    boxes = prediction.boxes
    label = np.where(np.isin(dataset.predictions[0].page, rows), new[boxes.label], boxes.label)
    said = words or listed([f"{old} read as {name}" for old, name in names.items()])
    moved = replace(prediction, labels=tuple(labels), boxes=replace(boxes, label=label))
    return apart_of(dict.fromkeys(rows, (f"renamed, {said}", "")), page_keys(dataset)), moved


def _table(truth: Annotations, prediction: Annotations, page: Page) -> IntArray:
    """Return how many boxes of each label of a page lie on one of each label of the ground truth; the best counts."""
    table = np.zeros((len(prediction.labels), len(truth.labels)), dtype=np.int64)
    if len(page.theirs):
        ours, known = prediction.boxes.xyxy[page.ours], truth.boxes.xyxy[page.theirs]
        of_pair = iou_of_each(ours[None], known)[0]
        fits = of_pair.max(axis=1) >= _IOU
        theirs = truth.boxes.label[page.theirs[of_pair.argmax(axis=1)]]
        np.add.at(table, (prediction.boxes.label[page.ours][fits], theirs[fits]), 1)
    return table


def _on(table: IntArray, meant: dict[int, int]) -> int:
    """Return how many boxes lie on the label that theirs means."""
    return sum(int(table[row, at]) for row, at in meant.items())
