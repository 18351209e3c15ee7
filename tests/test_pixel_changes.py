"""Counts after a change of some boxes: integer by integer those of a fresh count, however many changes came before."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from evaluator.metrics import pixel_changes, pixel_steps
from evaluator.metrics.pixel_changes import PageCounts, SideChange, count_changes
from evaluator.metrics.pixel_counts import PairCounts, Resolution, count_pairs
from evaluator.metrics.pixel_moves import PixelMoves
from evaluator.metrics.pixel_steps import PixelBoxes
from evaluator.model.boxes import BoolArray, IntArray

SIZE = np.array([[30, 40], [1, 1], [0, 0], [25, 7], [64, 64], [30, 40]])


def _side(rng: np.random.Generator, boxes: int, *, sort: bool) -> Resolution:
    """Boxes of several labels that overlap, reach beyond their page, are equal, inverted or without width."""
    page = rng.integers(0, len(SIZE), boxes)
    if sort:
        page.sort()
    corner = rng.uniform(-8.0, 40.0, (boxes, 2))
    extent = rng.choice([0.0, 0.4, 3.0, 9.5, 40.0, -2.0], (boxes, 2))
    xyxy = np.hstack([corner, corner + extent])
    xyxy[rng.random(boxes) < 0.3] = np.rint(xyxy[0])
    scale = rng.choice([1.0, 1.5], (len(SIZE), 2)) if sort else None
    return Resolution(page, rng.choice([1, 2, 5, 40], boxes), xyxy, scale)


def _some(side: Resolution, taken: BoolArray) -> Resolution:
    return Resolution(side.page[taken], side.bit[taken], side.xyxy[taken], side.scale)


def _same(one: PairCounts, other: PairCounts) -> None:
    assert one.scopes == other.scopes
    for name in ("scope", "row_first", "row_second", "pixels"):
        mine, others = getattr(one, name), getattr(other, name)
        assert mine.dtype == others.dtype
        np.testing.assert_array_equal(mine, others)


def _change(sides: list[Resolution], before: list[BoolArray], now: list[BoolArray], size: IntArray) -> PixelMoves:
    each = zip(sides, before, now, strict=True)
    with (
        patch.multiple(pixel_changes, _MANY_BOXES=9.0, _MANY_PIECES=99.0),
        patch.object(pixel_steps, "_PAIRS_AT_ONCE", 7),
    ):
        change = count_changes([SideChange(PixelBoxes.of(side, size), *took) for side, *took in each], len(size))
    assert change is not None
    assert (change.counts.pixels != 0).all()
    return change


@pytest.mark.parametrize("seed", range(20))
def test_a_walk_of_changes_gives_fresh_counts_after_every_step(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = [_side(rng, int(rng.integers(1, 60)), sort=bool(seed % 2)) for _ in range(2)]
    taken = [rng.random(len(side.page)) < 0.6 for side in sides]
    counts = PageCounts(count_pairs(_some(sides[0], taken[0]), _some(sides[1], taken[1]), SIZE))
    with patch.multiple(pixel_changes, _MOST_CHANGES=4, _MANY_ROWS=(0.5, 99.0)[seed % 2]):
        for step in range(12):
            # Of one side, of both, of neither.
            moved = [
                rng.random(len(each)) < rate for each, rate in zip(taken, rng.choice([0.0, 0.04, 0.5], 2), strict=True)
            ]
            now = [each ^ other for each, other in zip(taken, moved, strict=True)]
            counts = counts.changed(_change(sides, taken, now, SIZE))
            taken = now
            fresh = count_pairs(_some(sides[0], taken[0]), _some(sides[1], taken[1]), SIZE)
            pages = np.flatnonzero(rng.random(len(SIZE)) < 0.5)
            _same(counts.of(pages), fresh.of(pages))
            _same(counts.on(step % len(SIZE)), fresh.between(step % len(SIZE), step % len(SIZE) + 1))
            if step % 3 == seed % 3:
                _same(counts.every, fresh)
    _same(counts.every, fresh)


def test_only_pixels_of_the_boxes_that_left_or_came_are_counted() -> None:
    page, bit = np.array([0, 0, 1, 0, 0]), np.array([1, 2, 1, 2, 3])
    xyxy = np.array(
        [
            [2.0, 2.0, 6.0, 6.0], [4.0, 4.0, 9.0, 9.0], [0.0, 0.0, 3.0, 3.0], [8.0, 8.0, 10.0, 10.0],
            [5.0, 8.0, 7.0, 10.0],
        ]
    )  # fmt: skip
    side, size = Resolution(page, bit, xyxy), np.array([[10, 10], [10, 10]])
    nothing = np.zeros(0, dtype=bool)
    first = Resolution(page[:0], bit[:0], xyxy[:0])
    before, now = np.array([True, True, True, False, True]), np.array([True, False, True, True, True])
    both = [
        SideChange(PixelBoxes.of(first, size), nothing, nothing),
        SideChange(PixelBoxes.of(side, size), before, now),
    ]
    with (
        patch.multiple(pixel_changes, _MANY_BOXES=1.0, _MANY_PIECES=2.0),
        patch.object(pixel_steps, "count_pairs", wraps=count_pairs) as counted,
    ):
        change = count_changes(both, 2)
    assert change is not None
    # Swept is the box that left, 5 x 5 pixels, 2 x 2 of which are of one that stays and 2 x 1 of another. The one that
    # came, 2 x 2, lies where the one that left is not any more, and nothing else.
    assert counted.call_args.args[2].tolist() == [[5, 5]]
    assert [column.tolist() for column in counted.call_args.args[1][:3]] == [
        [0, 0], [1, 3], [[0.0, 0.0, 2.0, 2.0], [1.0, 4.0, 3.0, 5.0]],
    ]  # fmt: skip
    assert change.counts.triples(0) == [(1, 1, 15), (1, 2, 4), (1, 4, -15), (1, 6, -4), (1, 8, 2), (1, 12, -2)]
    assert change.counts.triples(1) == []


def test_pixels_that_another_box_gives_the_same_label_do_not_change() -> None:
    page, bit = np.zeros(3, dtype=np.int64), np.array([3, 3, 4])
    xyxy = np.array([[0.0, 0.0, 4.0, 4.0], [2.0, 0.0, 6.0, 4.0], [0.0, 0.0, 1.0, 1.0]])
    size, every = np.array([[9, 9]]), np.ones(1, dtype=bool)
    other = Resolution(page[:1], bit[:1], np.array([[0.0, 0.0, 9.0, 2.0]]))
    sides = [
        SideChange(PixelBoxes.of(other, size), every, every),
        SideChange(PixelBoxes.of(Resolution(page, bit, xyxy), size), np.ones(3, bool), np.array([False, True, True])),
    ]
    change = count_changes(sides, 1)
    assert change is not None
    # Of the 4 x 4 pixels of the box that leaves, the right half is the second's too, a corner the third's too.
    assert change.counts.triples(0) == [(1, 1, 4), (1, 8, -4), (8, 1, 3), (8, 8, -3), (8, 16, 1), (8, 24, -1)]


def test_many_changes_are_left_to_a_count_of_all_pages() -> None:
    page, size = np.zeros(8, dtype=np.int64), np.array([[9, 9]])
    boxes = PixelBoxes.of(Resolution(page, page + 1, np.tile([1.0, 1.0, 7.0, 7.0], (8, 1))), size)
    every = np.ones(8, dtype=bool)
    for left in (8, 4, 3):
        now = np.arange(8) >= left
        changes = [SideChange(boxes, every, every), SideChange(boxes, every, now)]
        taken = 16 - left
        with patch.multiple(pixel_changes, _MANY_BOXES=left / taken, _MANY_PIECES=99.0):
            assert count_changes(changes, 1) is not None
        with patch.multiple(pixel_changes, _MANY_BOXES=0.9 * left / taken, _MANY_PIECES=99.0):
            assert count_changes(changes, 1) is None
    # On the three that left lie the eight of the first side, and seven, six and five of the second.
    for pieces, counted in ((42, True), (41, False)):
        with patch.multiple(pixel_changes, _MANY_BOXES=1.0, _MANY_PIECES=pieces / 13):
            assert (count_changes(changes, 1) is not None) == counted
    assert count_changes([change._replace(now=every) for change in changes], 1) is not None
