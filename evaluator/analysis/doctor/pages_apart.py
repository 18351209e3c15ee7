"""Pages of which the boxes are off although those of other pages are not: turned, rescaled, of another page, renamed.

What brings the boxes of such pages onto those of the ground truth is proposed for them alone. One page says little
about a model that finds half of the boxes: what is wrong is told from all pages on which little matches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from evaluator.data import label_names
from evaluator.data.dataset import Annotations, Dataset, join, page_keys
from evaluator.data.issues import listed
from evaluator.data.label_names import LabelTable, Overlaps
from evaluator.matching.pages_apart import (
    BY_CHANCE,
    FEWEST,
    GAIN,
    MOST_PAGES,
    UNLIKELY,
    Change,
    Changes,
    Fit,
    Page,
    PagesApart,
    apart_of,
    exchanged,
    iou_of_each,
    pages_of,
    unlikely,
)

_IOU: Final = 0.5
# Little matches on a page: so much of what does on the better pages, or so few of its boxes.
_LITTLE: Final = 0.5
_POOR: Final = 0.2
# A change brings so many times the boxes that another one does, and so many of all on pages on which little matches.
_TIMES: Final = 2.5
_LEAST: Final = 0.15
_RENAMED_BY_CHANCE: Final = 0.005
_NOT_ALL_RENAMED: Final = 0.001
_MOST_CHANGES: Final = 4
# Pages that are exchanged bring so many times the boxes that those next to their own do.
_MORE: Final = 2.0
# So many boxes have to get their label.
_FEWEST_NAMED: Final = 5

_Renamed = tuple[Mapping[str, str], str, list[int]]
"""The other label by label, what that is in words if it is a rule, and pages."""


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
    off = [page for page in pages if page.given.share <= poor]
    changes, rounds = Changes(dataset, 0, off), exchanged(dataset, 0, off, closed=True)
    chosen: dict[int, Change] = {}
    for _ in range(_MOST_CHANGES):
        left = [page for page in pages if page.row not in chosen]
        key = _established([(page, changes.of(page)) for page in off if page.row not in chosen])
        tried = [(page, changes.of(page).get(key)) for page in left] if key else []
        better = {page.row: change for page, change in tried if change is not None and _better(change, page)}
        # Pages that are moved on bring some of them to one another.
        if _brought(rounds) >= _brought(better):
            better = rounds
        if not better:
            break
        chosen |= better
        rounds = {}
    # Of pages that are exchanged one may be next to its own by chance, and one may fit a little where it is.
    free = [page for page in pages if page.row not in chosen or chosen[page.row].row != page.row]
    rounds = exchanged(dataset, 0, [page for page in free if page.given.share <= 1.0 - GAIN], closed=False)
    if _brought(rounds) >= _MORE * _brought({row: chosen[row] for row in rounds if row in chosen}):
        chosen |= rounds
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


def _brought(changes: Mapping[int, Change]) -> float:
    return sum(change.fit.boxes for change in changes.values())


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
        chance = max(float(np.sort(counts)[: math.ceil(0.75 * len(counts))].mean()), BY_CHANCE * most)
        gained = float(np.maximum(of_each[:, best, column] - given[:, column], 0.0).sum())
        if gained >= max(FEWEST, _TIMES * chance, _LEAST * most) and unlikely(gained, chance, UNLIKELY):
            return keys[best]
    return ""


# --- labels ------------------------------------------------------------------------------------------------------


def _renamed(dataset: Dataset, pages: list[Page]) -> tuple[tuple[PagesApart, ...], Annotations]:
    """Return the pages on which labels stand for one another, and the prediction with the labels that are meant."""
    truth, prediction = dataset.ground_truth.source, dataset.predictions[0].source
    tables = {page.row: table for page in pages if (table := _table(truth, prediction, page))}
    if not tables:
        return (), prediction
    code = {label: at for at, label in enumerate(truth.labels)}
    own = {row: code[label] for row, label in enumerate(prediction.labels) if label in code}
    names, words, rows = _of_pool(truth, prediction, tables, own) or _two(prediction, tables, own)
    if not rows:
        return (), prediction
    labels = list(dict.fromkeys([*prediction.labels, *names.values()]))
    place = {label: at for at, label in enumerate(labels)}
    new = np.array([place[names.get(label, label)] for label in prediction.labels], dtype=np.int32)
    boxes = prediction.boxes
    label = np.where(np.isin(dataset.predictions[0].page, rows), new[boxes.label], boxes.label)
    said = words or listed([f"{old} read as {name}" for old, name in names.items()])
    moved = replace(prediction, labels=tuple(labels), boxes=replace(boxes, label=label))
    return apart_of(dict.fromkeys(rows, (f"renamed, {said}", "")), page_keys(dataset)), moved


def _of_pool(
    truth: Annotations, prediction: Annotations, tables: Mapping[int, LabelTable], own: Mapping[int, int]
) -> _Renamed | None:
    """Return what labels mean on the pages on which most boxes have another one; None where that is no sign."""
    code = {label: at for at, label in enumerate(truth.labels)}
    given = {entry: _on(table, own) for entry, table in tables.items()}
    pool, others = LabelTable(), LabelTable()
    for entry, table in tables.items():
        (pool if given[entry] <= _LITTLE * table.total() else others).update(table)
    counts, known = np.zeros(len(prediction.labels), dtype=np.int64), np.zeros(len(truth.labels), dtype=np.int64)
    for (row, at), count in pool.items():
        counts[row] += count
        known[at] += count
    overlaps = Overlaps(counts, counts, pool, known)
    exchanged = label_names.exchanged(prediction.labels, truth.labels, overlaps, fewest=1)
    names, words = exchanged
    # A model that takes one kind for another has no label in its place; several at once are none.
    if not set(names) & set(names.values()) and not (
        names and label_names.beyond_chance(prediction.labels, truth.labels, overlaps, exchanged)
    ):
        return None
    meant = dict(own) | {row: code[names[label]] for row, label in enumerate(prediction.labels) if label in names}
    rows = [entry for entry, table in tables.items() if _on(table, meant) > given[entry]]
    gained = sum(_on(tables[entry], meant) - given[entry] for entry in rows)
    # A model that mixes up labels has pages on which it does so more than on others.
    mixed_up = (others.total() - _on(others, own) + 0.5) / (others.total() + 1.0) * pool.total()
    least = _RENAMED_BY_CHANCE if set(names) == set(names.values()) else _NOT_ALL_RENAMED
    if gained < _FEWEST_NAMED or not unlikely(gained, mixed_up, least):
        return None
    return names, words, rows


def _two(prediction: Annotations, tables: Mapping[int, LabelTable], own: Mapping[int, int]) -> _Renamed:
    """Return two labels that stand for one another on the pages on which most of their boxes do; empty for none."""
    total, row_of = LabelTable(), {at: row for row, at in own.items()}
    for table in tables.values():
        total.update(table)
    crossing = ((one, row_of.get(at, -1)) for (one, at), count in total.items() if count >= FEWEST and one in own)
    pairs = sorted((one, other) for one, other in crossing if one < other and total[other, own[one]] >= FEWEST)
    for one, other in sorted(pairs, key=lambda pair: -total[pair[0], own[pair[1]]] - total[pair[1], own[pair[0]]]):
        kept, exchanged_ = {one: own[one], other: own[other]}, {one: own[other], other: own[one]}
        counts = {entry: (_on(table, exchanged_), _on(table, kept)) for entry, table in tables.items()}
        rows = [entry for entry, (crossed, straight) in counts.items() if crossed > straight]
        each = [sum(tables[entry][cell] for entry in rows) for cell in exchanged_.items()]
        gained = sum(counts[entry][0] - counts[entry][1] for entry in rows)
        rate = _on(total, exchanged_) / (_on(total, exchanged_) + _on(total, kept))
        # A model that mixes the two up has pages on which most are mixed up.
        mixed_up = sum(
            (2 * count - boxes) * math.comb(boxes, count) * rate**count * (1.0 - rate) ** (boxes - count)
            for boxes in map(sum, counts.values())
            for count in range(boxes // 2 + 1, boxes + 1)
        )
        if (
            min(each) >= FEWEST
            and gained >= _FEWEST_NAMED
            and unlikely(gained, mixed_up, _NOT_ALL_RENAMED / len(pairs))
        ):
            first, second = prediction.labels[one], prediction.labels[other]
            return {first: second, second: first}, "", rows
    return {}, "", []


def _table(truth: Annotations, prediction: Annotations, page: Page) -> LabelTable:
    """Return how many boxes of each label of a page lie on one of each label of the ground truth; the best counts."""
    if not len(page.theirs):
        return LabelTable()
    ours, known = prediction.boxes.xyxy[page.ours], truth.boxes.xyxy[page.theirs]
    of_pair = iou_of_each(ours[None], known)[0]
    fits = of_pair.max(axis=1) >= _IOU
    theirs = truth.boxes.label[page.theirs[of_pair.argmax(axis=1)]]
    return LabelTable(zip(prediction.boxes.label[page.ours][fits].tolist(), theirs[fits].tolist(), strict=True))


def _on(table: LabelTable, meant: Mapping[int, int]) -> int:
    return sum(count for (row, at), count in table.items() if meant.get(row) == at)
