"""Pages of which the boxes are off although those of other pages are not: turned, mirrored, rescaled, shifted, cropped.

What brings the boxes of such a page onto those of the ground truth, whatever their labels, is proposed for it alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import AnyArray, FloatArray, IntArray, iou
from evaluator.data.dataset import Dataset, PageKey
from evaluator.data.fixes import POSITIONAL, Fix, fix_description, in_second_column, to_corners
from evaluator.data.issues import Collector, Issue
from evaluator.data.order import PageRows
from evaluator.data.page_sizes import pages_named, unturned

_IOU: Final = 0.5
_FITS: Final = 0.75
GAIN: Final = 0.4
"""With a change, so many of the boxes of a page lie on one of the other file, and so many more than before."""
_PRICE: Final = 0.02
FEWEST: Final = 3
"""Fewer boxes on a side of a page say nothing by themselves."""
# A shift that is estimated brings one or two boxes in place by itself; noise leaves boxes this close, chance does not.
_FEWEST_SHIFTED: Final = 5
_CLOSE: Final = 0.65
_SAME_SCALE: Final = 0.05
# So many more boxes of a page are on another one.
_FEWEST_MOVED: Final = 2
_FOUND: Final = 0.25
"""Where more of the ground truth of a page is found its boxes are in place."""
MOST_PAGES: Final = 1_000
MOST_PAIRS: Final = 20_000
"""Of boxes of a page."""
_MOST_OF_ALL: Final = 2_000_000
"""Pairs of all pages: some forty boxes on each of a thousand, and some seconds where no page fits."""
BY_CHANCE: Final = 0.02
"""So many boxes lie on others by chance, at least."""
UNLIKELY: Final = 1e-4
_EACH_UNLIKELY: Final = 0.003
_SCALES: Final = (
    0.25, 1 / 3, 0.36, 0.48, 0.5, 2 / 3, 0.72, 0.75, 0.8, 1.25, 4 / 3, 100 / 72, 1.5, 2.0, 150 / 72, 200 / 72, 3.0, 4.0,
)  # fmt: skip
"""Usual ones of resolutions."""


class PagesApart(msgspec.Struct, frozen=True, kw_only=True):
    """Pages on which the boxes match with one change. `words` follow "when they are", `named` is how many and which."""

    words: str
    named: str
    pages: int


def apart_issues(apart: Sequence[PagesApart], file: str) -> tuple[Issue, ...]:
    """Return a warning that names the pages of a file of predictions that are off; empty for none."""
    if not apart:
        return ()
    collector = Collector(file, max_per_rule=None)
    rule = "boxes of some pages should not be turned, rescaled, moved or renamed where those of other pages are not"
    found = "; ".join(f"they match when {each.words} on {each.named}" for each in apart)
    fix = "They are compared as they are written; write them in the frame that the ground truth has for the page."
    collector.warning("", rule, found, fix)
    return collector.issues()


def apart_of(changes: Mapping[int, tuple[str, str]], keys: Sequence[PageKey]) -> tuple[PagesApart, ...]:
    """Return pages by what brings their boxes in place; by row of `keys` in words, and what is said of the page."""
    rows: dict[str, list[int]] = {}
    for row, (words, _) in changes.items():
        rows.setdefault(words, []).append(row)
    return tuple(
        PagesApart(
            words=words,
            named=pages_named(keys, np.array(of_words), lambda row: changes[row][1]),
            pages=len(of_words),
        )
        for words, of_words in rows.items()
    )


def pages_in_doubt(dataset: Dataset, model: int, true_positives: IntArray) -> tuple[IntArray, int]:
    """Return the pages with few `true_positives`, int64 (P,), for their ground truth, and how many are compared.

    Pages with fewer than three boxes on a side say nothing.
    """
    truths, boxes = (
        np.bincount(side.page, minlength=dataset.pages) for side in (dataset.ground_truth, dataset.predictions[model])
    )
    compared = (truths >= FEWEST) & (boxes >= FEWEST) & (truths * boxes <= MOST_PAIRS)
    return np.flatnonzero(compared & (true_positives <= _FOUND * truths)), int(np.count_nonzero(compared))


def single_pages(doubt: IntArray, compared: int) -> IntArray:
    """Return the pages in doubt that are looked at: the first thousand, none where they are most of those compared."""
    return doubt[: MOST_PAGES if 2 * len(doubt) <= compared else 0]


def changes_on(dataset: Dataset, model: int, pages: IntArray) -> dict[int, tuple[str, str]]:
    """Return what brings the boxes of some pages, which rise, onto the ground truth, as `apart_of` takes it."""
    changes, looked_at = Changes(dataset, model), list(pages_of(dataset, model, pages))
    chosen = exchanged(dataset, model, looked_at, closed=True)
    chosen |= {page.row: best for page in looked_at if page.row not in chosen and (best := changes.best(page))}
    return {row: (change.words, change.more) for row, change in sorted(chosen.items())}


def grouped(page: AnyArray, pages: IntArray) -> list[IntArray]:
    """Return the rows of each of some pages, which rise."""
    rows = np.flatnonzero(np.isin(page, pages))
    rows = rows[np.argsort(page[rows], kind="stable")]
    ends = np.searchsorted(page[rows], pages[1:])
    return np.split(rows, ends) if len(pages) else []


class Fit(NamedTuple):
    """How well boxes fit those of a page: pairs one to one at most, the mean share of either side, the mean IoU.

    `labelled`: of the pairs those under one label.
    """

    boxes: float
    share: float
    overlap: float
    labelled: float


class Change(NamedTuple):
    """What may have been done to a page, in words, its boxes without that, and the page on which they are then.

    `more`: what is said of the page beside the words. `price`: a usual change goes before one that the boxes suggest.
    """

    words: str
    xyxy: FloatArray
    row: int
    fit: Fit
    more: str = ""
    price: float = 0.0

    @property
    def rank(self) -> float:
        """Return how good it is."""
        return self.fit.share + self.fit.overlap - self.price

    def mends(self, given: Fit) -> bool:
        """Return whether a page that fits so says by itself that it was off when it fitted as `given`."""
        shifted = self.price > _PRICE
        if shifted and (self.fit.boxes < _FEWEST_SHIFTED or self.fit.overlap < _CLOSE):
            return False
        return self.fit.share >= max(_FITS, given.share + GAIN)


class Page(NamedTuple):
    """A page, its boxes, those of the ground truth, and how well they fit as given."""

    row: int
    ours: IntArray
    theirs: IntArray
    given: Fit

    @property
    def enough(self) -> bool:
        """Return whether it says something by itself."""
        return min(len(self.ours), len(self.theirs)) >= FEWEST


def pages_of(dataset: Dataset, model: int, pages: IntArray) -> Iterator[Page]:
    """Yield those of some pages, which rise, that have boxes of the model and not too many, alone and together."""
    truth, prediction = dataset.ground_truth, dataset.predictions[model]
    sides, left = (grouped(side.page, pages) for side in (prediction, truth)), _MOST_OF_ALL
    for row, ours, theirs in zip(pages.tolist(), *sides, strict=True):
        pairs = len(ours) * len(theirs)
        if len(ours) and pairs <= min(MOST_PAIRS, left):
            left -= pairs
            (fit,) = fits(prediction.xyxy[ours][None], truth.xyxy[theirs], prediction.label[ours], truth.label[theirs])
            yield Page(row, ours, theirs, fit)


class Changes:
    """What may have been done to pages; of `together`, which are off, also what is told from all of them."""

    def __init__(self, dataset: Dataset, model: int, together: Sequence[Page] | None = None) -> None:
        self._dataset, self._truth, self._prediction = dataset, dataset.ground_truth, dataset.predictions[model]
        self._made: dict[int, dict[str, Change]] = {}
        self._sizes = np.ones((dataset.pages, 2)) if self._truth.source.unit == "page" else dataset.page_size
        self._together = together is not None
        # Scales, shifts and what these are multiplied by, of each page.
        self._scale, self._shifts = 1.0, list[tuple[FloatArray, FloatArray, FloatArray]]()
        if together is None:
            return
        enough = [page for page in together if page.enough]
        sides = [(self._prediction.xyxy[page.ours], self._truth.xyxy[page.theirs]) for page in enough]
        # The middle one; `numpy.median` would import masked arrays.
        self._scale = sorted(own_scale(*side) for side in sides)[len(sides) // 2] if sides else 1.0
        of_pages, times = self._sizes[[page.row for page in enough]], np.ones_like(self._sizes)
        self._shifts = [(*each, times) for each in _shifts(sides)]
        # Pages of several sizes may be moved by one share of each, or by as many pixels.
        if not np.isnan(of_pages).any() and (of_pages != of_pages[:1]).any():
            units = np.tile(of_pages, 2)
            shares = [(ours / unit, theirs / unit) for (ours, theirs), unit in zip(sides, units, strict=True)]
            self._shifts += [(*each, self._sizes) for each in _shifts(shares)]
        self._known = PageRows(self._truth.page, dataset.pages)
        entry_page, ids = self._prediction.entry_page.tolist(), self._prediction.source.page_ids
        self._own_id, self._by_id = (dict(zip(*each, strict=False)) for each in ((entry_page, ids), (ids, entry_page)))
        self._ours, self._theirs = set(entry_page), set(self._truth.entry_page.tolist())

    def best(self, page: Page) -> Change | None:
        """Return what brings a page in place that says it by itself; None for nothing."""
        if not page.enough or page.given.share > 1.0 - GAIN:
            return None
        mending = (change for change in self.of(page).values() if change.mends(page.given))
        return max(mending, key=lambda change: change.rank, default=None)

    def of(self, page: Page) -> dict[str, Change]:
        """Return each change of a page; worked out once."""
        if page.row not in self._made:
            self._made[page.row] = dict(self._all(page))
        return self._made[page.row]

    def _all(self, page: Page) -> Iterator[tuple[str, Change]]:
        known, boxes = self._truth.xyxy[page.theirs], self._prediction.xyxy[page.ours]
        tried = [(words, words, xyxy, "", 0.0) for words, xyxy in self._boxes(page)]
        tried += self._estimated(page, boxes, known, alone=page.enough and page.given.share <= 1.0 - GAIN)
        labels = self._prediction.label[page.ours], self._truth.label[page.theirs]
        of_each = fits(np.stack([xyxy for _, _, xyxy, _, _ in tried]), known, *labels)
        for (key, words, xyxy, more, price), fit in zip(tried, of_each, strict=True):
            if np.isfinite(xyxy).all() and (xyxy[:, 2:] >= xyxy[:, :2]).all():
                yield key, Change(words, xyxy, page.row, fit, more, price)
        for words, row in self._neighbours(page.row) if self._together else ():
            if row in self._ours and row in self._theirs:
                rows = self._known.of(row)
                (fit,) = fits(boxes[None], self._truth.xyxy[rows], labels[0], self._truth.label[rows])
                yield words, Change(words, boxes, row, fit)

    def _estimated(
        self, page: Page, boxes: FloatArray, known: FloatArray, *, alone: bool
    ) -> Iterator[tuple[str, str, FloatArray, str, float]]:
        """Yield what boxes suggest, those of all pages and the own ones: resolutions, shifts, parts of a page."""
        for by in dict.fromkeys([self._scale, *([own_scale(boxes, known)] if alone else [])]):
            yield f"rescaled by {by:.3g}", f"rescaled by {by:.3g}", boxes * by, "", _PRICE
        own = _shifts([(boxes, known)]) if alone and min(len(boxes), len(known)) >= _FEWEST_SHIFTED else []
        pooled = [(scale, shift * times[page.row]) for scale, shift, times in self._shifts]
        for name, given, price in (("all", pooled, 2.0), ("own", own, 3.0)):
            for at, (scale, shift) in enumerate(given):
                words, times, place = "shifted", "", ", ".join(f"{number:.3g}" for number in shift)
                if (scale != 1.0).any():
                    words, times = "rescaled and shifted", ", ".join(f"{number:.3g}" for number in scale) + " and "
                moved = boxes * np.tile(scale, 2) + np.tile(shift, 2)
                yield f"{name} {at}", words, moved, f" (by {times}{place})", price * _PRICE

    def _neighbours(self, row: int) -> Iterator[tuple[str, int]]:
        """Yield the pages whose id or number is one more and one less."""
        dataset, own = self._dataset, self._own_id.get(row, "")
        for by, where in ((1, "on"), (-1, "back")):
            next_to = row + by
            if next_to in self._theirs and (
                dataset.page_document[next_to] == dataset.page_document[row]
                and dataset.page_index[next_to] == dataset.page_index[row] + by
            ):
                yield f"moved 1 page {where}", next_to
            elif own.isdecimal() and (other := self._by_id.get(str(int(own) + by))) is not None:
                yield f"moved 1 image id {where}", other

    def _boxes(self, page: Page) -> Iterator[tuple[str, FloatArray]]:
        """Yield boxes with each change; those that need the size of the page only where it is known."""
        prediction, unit = self._prediction.source, self._truth.source.unit
        boxes, size, format = prediction.boxes.xyxy[page.ours], self._sizes[page.row], prediction.format
        yield from changed(boxes, size)
        for form in ("xywh", "xyxy", "centre"):
            corners = to_corners(boxes, form, format)
            if (corners != boxes).any():
                yield fix_description(Fix(form)).removeprefix("boxes "), corners
        if np.isnan(size).any():
            return
        of_page = np.tile(size, 2)
        if unit == "pixels":
            yield "read as pixels", boxes / of_page
        if format in POSITIONAL:
            xyxy, _ = in_second_column(boxes / of_page, prediction.boxes.score[page.ours], format)
            yield "read with the confidence in the second column", xyxy * of_page
        if format in POSITIONAL and unit == "pixels":
            # Axes are exchanged in the numbers of the file, which are shares of the page.
            for words, xyxy in itertools.islice(changed(boxes / of_page, np.ones(2)), 4):
                yield f"{words} as shares of the page", xyxy * of_page


def exchanged(dataset: Dataset, model: int, pages: Sequence[Page], *, closed: bool) -> dict[int, Change]:
    """Return the change of those of some pages on which little matches whose boxes are on the pages of one another.

    `closed`: each of them has some there, else all but one. None where the pages have too many boxes together.
    """
    truth, prediction = dataset.ground_truth, dataset.predictions[model]
    pages = [page for page in pages if len(page.theirs)]
    sides = [page.ours for page in pages], [page.theirs for page in pages]
    if len(pages) < 2 or math.prod(sum(map(len, side)) for side in sides) > _MOST_OF_ALL:
        return {}
    ours, theirs = map(np.concatenate, sides)
    first, second = (np.cumsum([0, *map(len, side[:-1])]) for side in sides)
    near = iou_of_each(prediction.xyxy[ours][None], truth.xyxy[theirs])[0] >= _IOU
    of_ours = np.add.reduceat(np.logical_or.reduceat(near, second, axis=1), first, axis=0, dtype=np.int64)
    of_theirs = np.add.reduceat(np.logical_or.reduceat(near, first, axis=0), second, axis=1, dtype=np.int64)
    on_other, count = np.minimum(of_ours, of_theirs), len(pages)
    gain = on_other - on_other.diagonal()[:, None]
    chance = (on_other.sum() - on_other.max(axis=1).sum()) / (count * (count - 1))
    changes: dict[int, Change] = {}
    least = np.array([max(chance, BY_CHANCE * min(len(page.ours), len(page.theirs))) for page in pages])
    for round_ in _rounds(gain, closed=closed):
        gains = [(float(gain[at, to]), float(least[at])) for at, to in round_]
        # One page of a round may have few boxes.
        if closed and sum(not unlikely(*each, _EACH_UNLIKELY) for each in gains) > 1:
            continue
        gained, mean = (sum(column) for column in zip(*gains, strict=True))
        if unlikely(gained, mean, UNLIKELY / math.comb(count, 2)):
            for page, other in ((pages[at], pages[to]) for at, to in round_):
                xyxy, labels = prediction.xyxy[page.ours], (prediction.label[page.ours], truth.label[other.theirs])
                (fit,) = fits(xyxy[None], truth.xyxy[other.theirs], *labels)
                changes[page.row] = Change("exchanged with one another", xyxy, other.row, fit)
    return changes


def _rounds(gain: IntArray, *, closed: bool) -> Iterator[list[tuple[int, int]]]:
    """Yield pages in a round, each with the next one, most boxes first; also those of which one gains nothing."""
    cells = [(-int(gain[at, to]), at, to) for at, to in np.argwhere(gain >= _FEWEST_MOVED).tolist()]
    following: dict[int, int] = {}
    for _, at, to in sorted(cells):
        if at not in following and to not in following.values():
            following[at] = to
    while following:
        at = start = min(following.keys() - following.values(), default=min(following))
        round_ = []
        while at in following:
            round_.append((at, following.pop(at)))
            at = round_[-1][1]
        if at == start or not closed:
            yield round_ if at == start else [*round_, (at, start)]


def unlikely(count: float, mean: float, least: float) -> bool:
    """Tell whether so many or more have less than this probability where `mean` are expected (Poisson)."""
    below = sum(math.exp(at * math.log(mean) - mean - math.lgamma(at + 1)) for at in range(int(count)))
    return 1.0 - below < least


def iou_of_each(ours: FloatArray, known: FloatArray) -> FloatArray:
    """Return the IoU of each of (C, N, 4) boxes with each of (M, 4), float64 (C, N, M)."""
    with np.errstate(invalid="ignore", over="ignore"):
        return iou(known, ours[:, :, None])


def fits(ours: FloatArray, known: FloatArray, labels: AnyArray, known_labels: AnyArray) -> list[Fit]:
    """Return how well (C, N, 4) boxes fit those of the ground truth, (M, 4), C of them; 0 without any."""
    if not len(known):
        return [Fit(0.0, 0.0, 0.0, 0.0)] * len(ours)
    of_pair = iou_of_each(ours, known)
    sides = of_pair.max(axis=2), of_pair.max(axis=1)
    fitting = [(side >= _IOU).sum(axis=1) for side in sides]
    shares = sum(count / side.shape[1] for count, side in zip(fitting, sides, strict=True)) / 2.0
    overlap = np.concatenate(sides, axis=1).mean(axis=1)
    same = (of_pair >= _IOU) & (labels[:, None] == known_labels)
    labelled = np.minimum(*(same.any(axis=axis).sum(axis=1) for axis in (2, 1)))
    return list(map(Fit, np.minimum(*fitting).tolist(), shares.tolist(), overlap.tolist(), labelled.tolist()))


def own_scale(boxes: FloatArray, known: FloatArray) -> float:
    """Return the scale that the extents suggest, for a resolution that is not usual; 1 for boxes without extent."""
    extent = np.ptp(boxes.reshape(-1, 2), axis=0)
    return float((np.ptp(known.reshape(-1, 2), axis=0) / extent).mean()) if (extent > 0.0).all() else 1.0


def changed(boxes: FloatArray, size: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield what is usually done to a page, in words, and its boxes without that; `size` may be NaN."""
    yield "read with x and y exchanged", boxes[:, [1, 0, 3, 2]]
    if not np.isnan(size).any():
        for quarter in (1, 2, 3):
            points = unturned(boxes.reshape(-1, 2, 2), np.full(len(boxes), quarter), np.tile(size, (len(boxes), 1)))
            yield f"turned clockwise by {90 * quarter} degrees", np.hstack([points.min(axis=1), points.max(axis=1)])
        for axis, words in enumerate(("mirrored from left to right", "mirrored from top to bottom")):
            mirrored = boxes.copy()
            mirrored[:, [axis, axis + 2]] = size[axis] - boxes[:, [axis + 2, axis]]
            yield words, mirrored
        yield "read as shares of the page", boxes * np.tile(size, 2)
    for each in _SCALES:
        yield f"rescaled by {each:.3g}", boxes * each


# --- shifts ------------------------------------------------------------------------------------------------------


def _shifts(sides: Sequence[tuple[FloatArray, FloatArray]]) -> list[tuple[FloatArray, FloatArray]]:
    """Return scales and shifts that bring most boxes of each of some pages, (N, 4), onto (M, 4): two at most."""
    if not sides:
        return []
    pairs = [(np.repeat(boxes, len(known), axis=0), np.tile(known, (len(boxes), 1))) for boxes, known in sides]
    ours, theirs = (np.concatenate(column) for column in zip(*pairs, strict=True))
    ours, theirs = ours[:MOST_PAIRS], theirs[:MOST_PAIRS]
    extent = np.ptp(theirs.reshape(-1, 2), axis=0)
    tried: dict[bool, tuple[int, FloatArray, FloatArray]] = {}
    for voted, place in votes(ours, theirs, extent):
        same = bool((np.abs(voted - 1.0) <= _SAME_SCALE).all())
        scale, shift = (np.ones(2), place) if same else refined(ours, theirs, voted, place)
        near = iou(theirs, ours * np.tile(scale, 2) + np.tile(shift, 2)) >= _IOU
        fitting = int(np.count_nonzero(near))
        if fitting > tried.get(same, (0,))[0]:
            between = (theirs - ours * np.tile(scale, 2))[near]
            tried[same] = fitting, scale, _middle((between[:, :2] + between[:, 2:]) / 2.0)
    return [(scale, shift) for _, scale, shift in tried.values()]


def votes(ours: FloatArray, truth: FloatArray, extent: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield scales and shifts that most pairs agree on: by ratio of sizes, then distance of centres."""
    sizes = [side[:, 2:] - side[:, :2] for side in (ours, truth)]
    usable = np.flatnonzero((sizes[0] > 0.0).all(axis=1) & (sizes[1] > 0.0).all(axis=1))
    if len(usable) < 3:
        return
    ratio = np.log(sizes[1][usable] / sizes[0][usable])
    bins = np.round(ratio / 0.05).astype(np.int64)
    for cell in _most_common(bins, 3):
        near = usable[(np.abs(ratio - cell * 0.05) <= 0.05).all(axis=1)]
        scale = np.exp(_middle(np.log(sizes[1][near] / sizes[0][near])))
        centres = [(side[near, :2] + side[near, 2:]) / 2.0 for side in (ours, truth)]
        distance = centres[1] - centres[0] * scale
        step = np.maximum(extent * 0.02, 1e-12)
        places = np.round(distance / step).astype(np.int64)
        for place in _most_common(places, 2):
            close = (np.abs(distance / step - place) <= 1.0).all(axis=1)
            if close.any():
                yield scale, _middle(distance[close])


def refined(
    ours: FloatArray, truth: FloatArray, scale: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return scale and shift fitted to the pairs, (P, 4) each, that overlap with them, a few times over."""
    before: IntArray | None = None
    for _ in range(3):
        near = np.flatnonzero(iou(truth, ours * np.tile(scale, 2) + np.tile(shift, 2)) >= _IOU)
        # Of the same pairs the fit is the same.
        if len(near) < 3 or (before is not None and np.array_equal(near, before)):
            break
        before = near
        mine, known = ours[near], truth[near]
        new_scale, new_shift = scale.copy(), shift.copy()
        for axis in (0, 1):
            x = np.concatenate([mine[:, axis], mine[:, axis + 2]])
            y = np.concatenate([known[:, axis], known[:, axis + 2]])
            if np.ptp(x) > 0.0:
                new_scale[axis], new_shift[axis] = _line(x, y)
        scale, shift = new_scale, new_shift
    return scale, shift


def _line(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Return slope and intercept of the line through some points, without those that lie far from it."""
    slope, intercept = _least_squares(x, y)
    off = np.abs(y - slope * x - intercept)
    kept = off <= max(2.0 * float(_middle(off)), 1e-12)
    if not kept.all() and kept.sum() >= 3 and np.ptp(x[kept]) > 0.0:
        slope, intercept = _least_squares(x[kept], y[kept])
    return slope, intercept


def _least_squares(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Return slope and intercept of the line with the least squares; slope 1 where `x` is too narrow to tell."""
    middle, level = float(x.mean()), float(y.mean())
    away = x - middle
    spread = float(away @ away)
    slope = float(away @ (y - level)) / spread if spread > 0.0 else 1.0
    return slope, level - slope * middle


def _middle(values: FloatArray) -> FloatArray:
    """Return the middle value of each column; `numpy.median` would import masked arrays."""
    return np.asarray(np.sort(values, axis=0)[len(values) // 2])


def _most_common(cells: IntArray, count: int) -> FloatArray:
    """Return the cells with most votes, those of neighbours included, shape (at most count, 2)."""
    low = cells.min(axis=0) - 1
    wide = int(cells[:, 1].max() - low[1]) + 2
    flat = (cells[:, 0] - low[0]) * wide + (cells[:, 1] - low[1])
    values, votes = np.unique(flat, return_counts=True)
    total = votes.astype(np.float64)
    for step in (1, -1, wide, -wide):
        at = np.searchsorted(values, values + step)
        there = (at < len(values)) & (values[np.minimum(at, len(values) - 1)] == values + step)
        total[there] += 0.5 * votes[at[there]]
    best = values[np.argsort(-total, kind="stable")[:count]]
    return np.stack([best // wide + low[0], best % wide + low[1]], axis=1)
