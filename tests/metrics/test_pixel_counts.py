"""Pixel counts: equal to a painter that sets every pixel, whatever the order, the batches and the sizes."""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.metrics import pixel_counts, pixel_sweep
from evaluator.metrics.pixel_counts import PageCounts, PairCounts, Resolution, count_pairs, merge
from tests.painting import paint


class Row(NamedTuple):
    page: int
    bit: int
    xyxy: tuple[float, float, float, float]


Triples = list[tuple[int, int, int]]
Drawn = tuple[list[Row], list[Row], list[tuple[int, int]]]


def resolution(rows: list[Row], scale: np.ndarray | None = None) -> Resolution:
    """The columns of some rows; nothing may edit them."""
    page, bit = (np.array([getattr(row, name) for row in rows], dtype=np.int64) for name in ("page", "bit"))
    xyxy = np.array([row.xyxy for row in rows], dtype=np.float64).reshape(-1, 4)
    page.flags.writeable = bit.flags.writeable = xyxy.flags.writeable = False
    return Resolution(page, bit, xyxy, scale)


def painted(rows: list[Row], page: int, width: int, height: int) -> list[int]:
    """The label set of each pixel."""
    words = np.zeros((height, width), dtype=np.uint64)
    for row in rows:
        if row.page == page:
            x1, y1 = (max(math.floor(low), 0) for low in row.xyxy[:2])
            x2, y2 = (max(math.ceil(high), 0) for high in row.xyxy[2:])
            words[y1:y2, x1:x2] |= np.uint64(1 << row.bit)
    words[words == 0] = 1
    return words.ravel().tolist()


def by_painting(first: list[Row], second: list[Row], sizes: list[tuple[int, int]]) -> list[Triples]:
    words = ([painted(rows, page, *size) for rows in (first, second)] for page, size in enumerate(sizes))
    return [sorted((g, p, n) for (g, p), n in Counter(zip(*both, strict=True)).items()) for both in words]


def every(counts: PairCounts) -> list[Triples]:
    return [counts.triples(scope) for scope in range(counts.scopes)]


def counted(first: list[Row], second: list[Row], sizes: list[tuple[int, int]]) -> PairCounts:
    return count_pairs(resolution(first), resolution(second), np.array(sizes, dtype=np.int64).reshape(-1, 2))


coordinates = st.integers(-12, 60).map(lambda step: step / 4)
bits = st.sampled_from([1, 2, 3, 31, 32, 33, 63])
boxes = st.tuples(coordinates, coordinates, coordinates, coordinates)
upright = boxes.map(lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])))
size = st.tuples(st.integers(0, 12), st.integers(0, 12))


@st.composite
def pages(draw: st.DrawFn, highest_bit: int = 63) -> Drawn:
    sizes = draw(st.lists(size, min_size=1, max_size=4))
    allowed = bits.filter(lambda bit: bit <= highest_bit)
    row = st.builds(Row, st.integers(0, len(sizes) - 1), allowed, st.one_of(upright, upright, boxes))
    rows = st.lists(row, max_size=10)
    return draw(rows), draw(rows), sizes


@st.composite
def heaped(draw: st.DrawFn) -> Drawn:
    """Pages with many large boxes of few classes on one another, and now and then all 63."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = [(int(rng.integers(1, 40)), int(rng.integers(1, 40))) for _ in range(draw(st.integers(1, 3)))]
    classes = [draw(st.sampled_from([1, 2, 6, 16, 20, 32, 63])) for _ in range(2)]
    sides = []
    for highest in classes:
        rows = []
        for _ in range(draw(st.integers(0, 60))):
            x1, x2, y1, y2 = (*np.sort(rng.uniform(-3, 43, 2)), *np.sort(rng.uniform(-3, 43, 2)))
            corners = np.round([x1, y1, x2, y2], int(rng.integers(0, 2))).tolist()
            rows.append(Row(int(rng.integers(len(sizes))), int(rng.integers(1, highest + 1)), tuple(corners)))
        sides.append(rows)
    return sides[0], sides[1], sizes


any_pages = st.one_of(pages(), pages(highest_bit=31), heaped())


@given(drawn=any_pages)
def test_counts_equal_a_painter(drawn: Drawn) -> None:
    assert every(counted(*drawn)) == by_painting(*drawn)


@given(
    drawn=any_pages, boxes=st.sampled_from([1, 4, 1 << 20]), pieces=st.sampled_from([1, 7, 50, 1 << 17]),
    wider=st.sampled_from([1e-9, 0.1, 1e9]),
)  # fmt: skip
def test_how_the_work_is_cut_does_not_matter(drawn: Drawn, boxes: int, pieces: int, wider: float) -> None:
    # From strips of one column to one strip on a page.
    expected = every(counted(*drawn))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pixel_counts, "_BOXES_AT_ONCE", boxes)
        patch.setattr(pixel_sweep, "_PIECES_AT_ONCE", pieces)
        patch.setattr(pixel_sweep, "_WIDER", wider)
        assert every(counted(*drawn)) == expected


@given(data=st.data(), bits=st.integers(1, 64), kind=st.sampled_from([np.int32, np.int64, np.uint64]))
def test_numbers_are_put_in_order_digit_by_digit(data: st.DataObject, bits: int, kind: type) -> None:
    bits = min(bits, np.iinfo(kind).max.bit_length())
    drawn = data.draw(st.lists(st.one_of(st.integers(0, 2**bits - 1), st.integers(0, min(9, 2**bits - 1)))))
    order = pixel_sweep.in_order(np.array(drawn, dtype=kind), bits)
    assert order.tolist() == sorted(range(len(drawn)), key=lambda row: drawn[row])


@given(drawn=any_pages, times=st.sampled_from([2, 1000, 20_000]))
def test_larger_pixels_are_as_many_smaller_ones(drawn: Drawn, times: int) -> None:
    # Large pages need more bits than one number has: label sets are numbered then, and sorted by order.
    def enlarged(factor: int) -> PairCounts:
        whole = [
            [row._replace(xyxy=(*map(math.floor, row.xyxy[:2]), *map(math.ceil, row.xyxy[2:]))) for row in rows]
            for rows in drawn[:2]
        ]
        larger = [[row._replace(xyxy=tuple(factor * at for at in row.xyxy)) for row in rows] for rows in whole]
        return counted(*larger, [(factor * width, factor * height) for width, height in drawn[2]])

    expected = [[(g, p, times**2 * n) for g, p, n in triples] for triples in every(enlarged(1))]
    assert every(enlarged(times)) == expected


@given(drawn=pages(), seed=st.integers(0, 10**6))
def test_the_order_of_boxes_pages_and_shards_does_not_matter(drawn: Drawn, seed: int) -> None:
    first, second, sizes = drawn
    rng = np.random.default_rng(seed)
    expected = counted(first, second, sizes)
    mixed = [[rows[at] for at in rng.permutation(len(rows))] for rows in (first, second)]
    assert every(counted(*mixed, sizes)) == every(expected)

    def alone(page: int) -> PairCounts:
        own = [[row._replace(page=0) for row in rows if row.page == page] for rows in (first, second)]
        return counted(*own, sizes[page : page + 1])

    shards = [alone(page) for page in range(len(sizes))]
    assert [triples for shard in shards for triples in every(shard)] == every(expected)
    whole = expected.pooled(np.zeros(len(sizes), dtype=np.int64), 1)
    for order in (range(len(shards)), rng.permutation(len(shards))):
        merged = merge([shards[at] for at in order])
        for column in ("scope", "pair", "pixels", "first", "second"):
            assert getattr(merged, column).tolist() == getattr(whole, column).tolist()


@given(drawn=pages())
def test_counts_add_up(drawn: Drawn) -> None:
    first, second, sizes = drawn
    counts = counted(first, second, sizes)
    assert counts.totals.tolist() == [width * height for width, height in sizes]
    assert (np.diff(counts.scope) >= 0).all()
    assert (counts.pixels > 0).all()
    assert sorted(set(counts.pair.tolist())) == list(range(len(counts.first)))
    for words in (counts.first, counts.second):
        # The background is alone.
        assert all(word == 1 or not word & 1 for word in words.tolist())
    swapped = [sorted((p, g, n) for g, p, n in triples) for triples in every(counted(second, first, sizes))]
    assert swapped == every(counts)
    halves = [counts.between(0, len(sizes) // 2), counts.between(len(sizes) // 2, len(sizes))]
    assert [triples for half in halves for triples in every(half)] == every(counts)


@given(drawn=pages(), seed=st.integers(0, 10**6))
def test_counts_of_some_boxes_after_others_are_those_of_these_boxes_alone(drawn: Drawn, seed: int) -> None:
    *sides, sizes = drawn
    rng = np.random.default_rng(seed)
    asked = PageCounts(tuple(resolution(rows) for rows in sides), np.array(sizes, dtype=np.int64).reshape(-1, 2))
    taken = [np.ones(len(rows), dtype=bool) for rows in sides]
    for share in (0.0, 0.3, 0.0, 1.0, 0.1):
        taken = [boxes ^ (rng.random(len(boxes)) < share) for boxes in taken]
        some = [
            [row for row, there in zip(rows, boxes, strict=True) if there]
            for rows, boxes in zip(sides, taken, strict=True)
        ]
        one, other = asked.of(tuple(taken)), counted(*some, sizes)
        assert asked.of(tuple(map(np.copy, taken))) is one
        for name in ("scopes", "scope", "row_first", "row_second", "pixels"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@given(drawn=pages())
def test_paint_equals_the_painter(drawn: Drawn) -> None:
    first, _, sizes = drawn
    for page, (width, height) in enumerate(sizes):
        words = paint(resolution(first), page, (width, height))
        assert (words.shape, words.ravel().tolist()) == ((height, width), painted(first, page, width, height))


@pytest.mark.parametrize("boxes", [255, 256, 257, 1000, 70_000])
def test_any_number_of_boxes_on_one_spot_counts_once(boxes: int) -> None:
    # 8-bit counters would wrap at 256 and lose the spot, 16-bit ones at 65,536.
    rows = [Row(0, 1, (1.0, 1.0, 3.0, 3.0))] * boxes
    assert counted(rows, [], [(4, 4)]).triples(0) == [(1, 1, 12), (2, 1, 4)]


def test_a_page_with_more_pieces_than_fit_at_once() -> None:
    rng = np.random.default_rng(7)
    low = rng.integers(0, 900, (1500, 2))
    corners = np.hstack([low, low + rng.integers(1, 600, (1500, 2))]).astype(float)
    rows = [Row(0, 1 + at % 40, tuple(corner)) for at, corner in enumerate(corners.tolist())]
    side = resolution(rows)
    size = np.array([[1000, 1100]])
    known, pixels = np.unique(paint(side, 0, (1000, 1100)), return_counts=True)
    triples = count_pairs(side, resolution([]), size).triples(0)
    assert triples == [(int(word), 1, int(n)) for word, n in zip(known, pixels, strict=True)]


@pytest.mark.parametrize("width", [1, 3, 7, 612, 1025, 2550, 20_011])
def test_scaled_edges_that_were_on_a_pixel_stay_there(width: int) -> None:
    # 0.07 * 100 is 7.000000000000001: without care the ceiling paints an eighth column.
    steps = np.arange(width + 1)
    rows = resolution([Row(0, 1, (step / width, 0.0, step / width, 1.0)) for step in steps], np.array([[width, 5.0]]))
    edges = pixel_counts.on_page(pixel_counts.pixel_edges(rows), rows.page, np.array([[width, 5]]))
    assert (edges[:, 0] == steps).all()
    assert (edges[:, 2] == steps).all()


def test_coordinates_that_are_not_scaled_are_taken_as_they_are() -> None:
    noisy = 0.1 + 0.2 + 0.7 + 6.0000000000000009
    assert noisy > 7
    assert counted([Row(0, 1, (0, 0, noisy, 1))], [], [(20, 1)]).triples(0) == [(1, 1, 12), (2, 1, 8)]


def test_each_page_has_its_own_scale() -> None:
    scale = np.array([[10.0, 20.0], [1.0, 1.0], [0.5, 2.0]])
    rows = [Row(0, 1, (0.0, 0.0, 0.5, 0.5)), Row(1, 1, (0.0, 0.0, 2.0, 2.0)), Row(2, 1, (0.0, 0.0, 8.0, 2.0))]
    counts = count_pairs(resolution(rows, scale), resolution([]), np.array([[10, 20], [3, 3], [6, 6]]))
    assert [counts.triples(page)[1] for page in range(3)] == [(2, 1, 50), (2, 1, 4), (2, 1, 16)]


def test_no_pages_no_boxes_no_pixels() -> None:
    nothing = counted([], [], [])
    assert (nothing.scopes, len(nothing), every(nothing)) == (0, 0, [])
    assert every(counted([], [], [(3, 2), (0, 5)])) == [[(1, 1, 6)], []]
    assert every(counted([], [], [(3, 2)]).pooled(np.array([1]), 3)) == [[], [(1, 1, 6)], []]


def test_shards_must_have_the_same_scopes() -> None:
    with pytest.raises(ValueError, match=r"^shards must have the same scopes; found \[1, 2\]$"):
        merge([counted([], [], [(1, 1)]), counted([], [], [(1, 1), (1, 1)])])


def test_the_largest_page_is_counted() -> None:
    side = pixel_counts.MAX_SIDE
    rows = [Row(0, 1, (0.0, 0.0, float(side), 1.0))]
    assert counted(rows, [], [(side, side)]).triples(0) == [(1, 1, side * (side - 1)), (2, 1, side)]
