"""Pages of which the boxes are off although those of other pages are not: turned, rescaled, of another page, renamed.

What brings the boxes of such pages onto those of the ground truth is proposed for them alone. One page says little
about a model that finds half of the boxes: what is wrong is told from all pages on which little matches.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from evaluator.data import label_names
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Annotations, page_keys
from evaluator.data.fixes import POSITIONAL, Fix, fix_description, in_second_column, to_corners
from evaluator.data.issues import listed
from evaluator.data.label_names import Overlaps
from evaluator.data.page_sizes import entry_sizes
from evaluator.matching.pages_apart import (
    FEWEST,
    GAIN,
    MOST_PAGES,
    MOST_PAIRS,
    Fit,
    PagesApart,
    apart_of,
    changed,
    fits,
    grouped,
    overlaps,
    own_scale,
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
_RENAMED_BY_CHANCE: Final = 0.1
_NOT_ALL_RENAMED: Final = 0.001
_MOST_CHANGES: Final = 4
# So many boxes have to get their label, and so many of one label.
_FEWEST_NAMED: Final = 5
_FEWEST_OF_LABEL: Final = 2


class _Changed(NamedTuple):
    """The boxes of a page with a change, the page entry on which they are then, and how well they fit."""

    xyxy: FloatArray
    entry: int
    fit: Fit


class _Page(NamedTuple):
    """A page entry, its boxes, those of the ground truth, and how well they fit as given."""

    entry: int
    ours: IntArray
    theirs: IntArray
    given: Fit

    @property
    def enough(self) -> bool:
        return min(len(self.ours), len(self.theirs)) >= FEWEST


def pages_apart(truth: Annotations, prediction: Annotations) -> tuple[tuple[PagesApart, ...], Annotations]:
    """Return the pages that are off, by what brings their boxes in place, and the prediction with all of that.

    None for files of two units. Pages with fewer than three boxes on a side say nothing by themselves; the first
    thousand are looked at.
    """
    if truth.unit != prediction.unit:
        return (), prediction
    apart, moved = _moved(truth, prediction)
    renamed, moved = _renamed(truth, moved)
    return (*apart, *renamed), moved


def _moved(truth: Annotations, prediction: Annotations) -> tuple[tuple[PagesApart, ...], Annotations]:
    pages = list(_shared_pages(truth, prediction))
    shares = [page.given.share for page in pages if page.enough]
    if not shares:
        return (), prediction
    # Of the better pages; `numpy.quantile` would import masked arrays.
    poor = max(_POOR, _LITTLE * sorted(shares)[3 * (len(shares) - 1) // 4])
    changes = _Changes(truth, prediction, [page for page in pages if page.given.share <= poor])
    chosen: dict[int, str] = {}
    for _ in range(_MOST_CHANGES):
        left = [page for page in pages if page.entry not in chosen]
        words = _established([(page, changes.of(page)) for page in left if page.given.share <= poor])
        better = [page.entry for page in left if words and _better(changes.of(page).get(words), page)]
        if not better:
            break
        chosen |= dict.fromkeys(better, words)
    for page in pages:
        if page.entry in chosen or not page.enough or page.given.share > 1.0 - GAIN:
            continue
        # A page that fits well enough says it alone; a usual change goes before the scale that the boxes suggest.
        tried = changes.of(page)
        best = max(tried, key=lambda words: tried[words].fit.rank(usual=words != changes.own))
        if tried[best].fit.mends(page.given):
            chosen[page.entry] = best
    if not chosen:
        return (), prediction
    boxes = prediction.boxes
    xyxy, entry = boxes.xyxy.copy(), boxes.entry.copy()
    for page in pages:
        if page.entry in chosen:
            xyxy[page.ours], entry[page.ours], _ = changes.of(page)[chosen[page.entry]]
    document, index = prediction.page_document[entry], prediction.page_index[entry]
    moved = replace(boxes, xyxy=xyxy, entry=entry, document=document, page=index, polygons={}, area=None, box_area=None)
    return apart_of(dict(sorted(chosen.items())), page_keys(prediction)), replace(prediction, boxes=moved)


def _better(changed: _Changed | None, page: _Page) -> bool:
    if changed is None:
        return False
    return changed.fit.boxes > page.given.boxes and changed.fit.overlap > page.given.overlap


def _established(pages: list[tuple[_Page, dict[str, _Changed]]]) -> str:
    """Return the change that brings many more boxes in place on all of these pages than others do; empty for none."""
    words = list(dict.fromkeys(each for _, changes in pages for each in changes))
    if not words:
        return ""
    nothing = Fit(0.0, 0.0, 0.0)
    of_each = np.array([[changes[each].fit if each in changes else nothing for each in words] for _, changes in pages])
    boxes, _, overlap = of_each.sum(axis=0).T
    best = int((boxes + overlap).argmax())
    # What most of the others bring is chance.
    chance = float(np.sort(boxes)[: math.ceil(0.75 * len(boxes))].mean())
    most = sum(min(len(page.ours), len(page.theirs)) or len(page.ours) for page, _ in pages)
    chance = max(chance, _BY_CHANCE * most)
    gained = sum(
        max(0.0, changed - page.given.boxes) for (page, _), changed in zip(pages, of_each[:, best, 0], strict=True)
    )
    return (
        words[best]
        if gained >= max(FEWEST, _TIMES * chance, _LEAST * most) and _unlikely(gained, chance, _UNLIKELY)
        else ""
    )


def _unlikely(count: float, mean: float, least: float) -> bool:
    """Tell whether so many or more have less than this probability where `mean` are expected (Poisson)."""
    below = sum(math.exp(at * math.log(mean) - mean - math.lgamma(at + 1)) for at in range(int(count)))
    return 1.0 - below < least


def _shared_pages(truth: Annotations, prediction: Annotations) -> Iterator[_Page]:
    """Yield page entries of the prediction with their boxes and those of the ground truth."""
    theirs = dict(zip(page_keys(truth), _rows(truth), strict=True))
    nothing = np.empty(0, dtype=np.int64)
    for entry, (key, rows) in enumerate(zip(page_keys(prediction), _rows(prediction), strict=True)):
        if entry == MOST_PAGES:
            return
        known = theirs.get(key, nothing)
        if len(rows) and len(rows) * len(known) <= MOST_PAIRS:
            (fit,) = fits(prediction.boxes.xyxy[rows][None], truth.boxes.xyxy[known])
            yield _Page(entry, rows, known, fit)


def _rows(source: Annotations) -> list[IntArray]:
    """Return the boxes of each page entry."""
    return grouped(source.boxes.entry, np.arange(len(source.page_index)))


class _Changes:
    """What may have been done to a page, in words, and its boxes without that."""

    def __init__(self, truth: Annotations, prediction: Annotations, poor: list[_Page]) -> None:
        self._truth, self._prediction = truth, prediction
        self._made: dict[int, dict[str, _Changed]] = {}
        pages = np.ones((len(prediction.page_index), 2))
        self._sizes = pages if truth.unit == "page" else entry_sizes(prediction, truth)
        self._keys = page_keys(prediction)
        self._entries = {key: entry for entry, key in enumerate(self._keys)}
        self._by_id = dict(zip(prediction.page_ids, self._keys, strict=False))
        self._theirs = dict(zip(page_keys(truth), _rows(truth), strict=True))
        # The one that the extents suggest, for a resolution that is not usual.
        sides = [(prediction.boxes.xyxy[page.ours], truth.boxes.xyxy[page.theirs]) for page in poor if page.enough]
        # The middle one; `numpy.median` would import masked arrays.
        self._scale = sorted(own_scale(*side) for side in sides)[len(sides) // 2] if sides else 1.0
        self.own = f"rescaled by {self._scale:.3g}"

    def of(self, page: _Page) -> dict[str, _Changed]:
        """Return each change of a page in words, with its boxes as they are then; worked out once."""
        if page.entry not in self._made:
            self._made[page.entry] = dict(self._all(page))
        return self._made[page.entry]

    def _all(self, page: _Page) -> Iterator[tuple[str, _Changed]]:
        tried = list(self._boxes(page))
        of_each = fits(np.stack([xyxy for _, xyxy in tried]), self._truth.boxes.xyxy[page.theirs])
        for (words, xyxy), fit in zip(tried, of_each, strict=True):
            if np.isfinite(xyxy).all() and (xyxy[:, 2:] >= xyxy[:, :2]).all():
                yield words, _Changed(xyxy, page.entry, fit)
        xyxy = self._prediction.boxes.xyxy[page.ours]
        for words, key in self._neighbours(page.entry):
            if key in self._entries and key in self._theirs:
                (fit,) = fits(xyxy[None], self._truth.boxes.xyxy[self._theirs[key]])
                yield words, _Changed(xyxy, self._entries[key], fit)

    def _neighbours(self, entry: int) -> Iterator[tuple[str, tuple[str, int]]]:
        """Yield the pages whose id or number is one more and one less."""
        document, index = self._keys[entry]
        own = self._prediction.page_ids[entry] if self._by_id else ""
        for by, where in ((1, "on"), (-1, "back")):
            if (document, index + by) in self._theirs:
                yield f"moved 1 page {where}", (document, index + by)
            elif own.isdecimal() and (key := self._by_id.get(str(int(own) + by))):
                yield f"moved 1 image id {where}", key

    def _boxes(self, page: _Page) -> Iterator[tuple[str, FloatArray]]:
        """Yield boxes with each change; those that need the size of the page only where it is known."""
        boxes, size, format = self._prediction.boxes.xyxy[page.ours], self._sizes[page.entry], self._prediction.format
        yield from changed(boxes, size, self._scale)
        for form in ("xywh", "xyxy", "centre"):
            corners = to_corners(boxes, form, format)
            if (corners != boxes).any():
                yield fix_description(Fix(form)).removeprefix("boxes "), corners
        if np.isnan(size).any():
            return
        of_page = np.tile(size, 2)
        if self._truth.unit == "pixels":
            yield "read as pixels", boxes / of_page
        if format in POSITIONAL:
            scores = self._prediction.boxes.score[page.ours]
            xyxy, _ = in_second_column(boxes / of_page, scores, format)
            yield "read with the confidence in the second column", xyxy * of_page
        if format in POSITIONAL and self._truth.unit == "pixels":
            # Axes are exchanged in the numbers of the file, which are shares of the page.
            for words, xyxy in itertools.islice(changed(boxes / of_page, np.ones(2), 1.0), 4):
                yield f"{words} as shares of the page", xyxy * of_page


# --- labels ------------------------------------------------------------------------------------------------------


def _renamed(truth: Annotations, prediction: Annotations) -> tuple[tuple[PagesApart, ...], Annotations]:
    """Return the pages on which labels stand for one another, and the prediction with the labels that are meant."""
    tables = {
        page.entry: table
        for page in _shared_pages(truth, prediction)
        if (table := _table(truth, prediction, page)).any()
    }
    code = {label: at for at, label in enumerate(truth.labels)}
    own = {row: code[label] for row, label in enumerate(prediction.labels) if label in code}
    given = {entry: _on(table, own) for entry, table in tables.items()}
    pool = sum(
        (table for entry, table in tables.items() if given[entry] <= _LITTLE * table.sum()),
        np.zeros((len(prediction.labels), len(truth.labels)), dtype=np.int64),
    )
    counts = pool.sum(axis=1)
    names, words = label_names.exchanged(
        prediction.labels, truth.labels, Overlaps(counts, counts, pool), _FEWEST_OF_LABEL
    )
    # A model that takes one kind for another has no label in its place.
    if not set(names) & set(names.values()):
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
    label = np.where(np.isin(boxes.entry, rows), new[boxes.label], boxes.label)
    said = words or listed([f"{old} read as {name}" for old, name in names.items()])
    moved = replace(prediction, labels=tuple(labels), boxes=replace(boxes, label=label))
    return apart_of(dict.fromkeys(rows, f"renamed, {said}"), page_keys(prediction)), moved


def _table(truth: Annotations, prediction: Annotations, page: _Page) -> IntArray:
    """Return how many boxes of each label of a page lie on one of each label of the ground truth; the best counts."""
    table = np.zeros((len(prediction.labels), len(truth.labels)), dtype=np.int64)
    if len(page.theirs):
        ours, known = prediction.boxes.xyxy[page.ours], truth.boxes.xyxy[page.theirs]
        of_pair = overlaps(ours[None], known)[0]
        fits = of_pair.max(axis=1) >= _IOU
        theirs = truth.boxes.label[page.theirs[of_pair.argmax(axis=1)]]
        np.add.at(table, (prediction.boxes.label[page.ours][fits], theirs[fits]), 1)
    return table


def _on(table: IntArray, meant: dict[int, int]) -> int:
    """Return how many boxes lie on the label that theirs means."""
    return sum(int(table[row, at]) for row, at in meant.items())
