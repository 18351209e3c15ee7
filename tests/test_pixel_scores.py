"""Counts at another score from the table of what each box adds: integer by integer those of a fresh count."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from evaluator.metrics import pixel_scores
from evaluator.metrics.pixel_changes import PageCounts
from evaluator.metrics.pixel_counts import PairCounts, Resolution, count_pairs
from evaluator.metrics.pixel_scores import ScoreChanges, ScoredCounts
from evaluator.metrics.pixel_steps import PixelBoxes
from evaluator.model.boxes import FloatArray, IntArray
from evaluator.protocols.pixel import evaluation, page_sums, wrong
from evaluator.protocols.pixel.evaluation import evaluate
from evaluator.protocols.pixel.page_sums import PageSums
from tests.building import annotations
from tests.test_pixel_changes import SIZE, _same, _side, _some
from tests.test_protocol_pixel import random_rows


def _changes(sides: list[Resolution], score: FloatArray, size: IntArray = SIZE) -> ScoreChanges:
    changes = ScoreChanges.of([PixelBoxes.of(side, size) for side in sides], score, len(size))
    assert changes is not None
    return changes


def _fresh(sides: list[Resolution], score: FloatArray, floor: float) -> tuple[PairCounts, int]:
    """The counts of the boxes with at least a score, those without one among them, and how many these are."""
    taken = ~(score < floor)
    return count_pairs(sides[0], _some(sides[1], taken), SIZE), int(np.count_nonzero(taken))


@pytest.mark.parametrize("seed", range(20))
def test_every_score_has_the_counts_of_a_fresh_count_from_every_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = [_side(rng, int(rng.integers(1, 50)), sort=bool(seed % 2)) for _ in range(2)]
    score = np.round(rng.uniform(-0.2, 1.0, len(sides[1].page)), 1)
    score[rng.random(len(score)) < 0.2] = np.nan
    with patch.multiple(pixel_scores, _BOXES_AT_ONCE=7, _MANY_PIECES=99.0):
        changes = _changes(sides, score)
    assert (changes.pixels > 0).all()
    last, before = _fresh(sides, score, 0.4)
    counts: PageCounts | ScoredCounts = PageCounts(last)
    for step, floor in enumerate(rng.permutation([-0.3, 0.0, 0.15, 0.3, 0.5, 0.5, 0.7, 0.9, 1.1])):
        fresh, now = _fresh(sides, score, floor)
        moves = changes.between(before, now)
        scored = counts.at(now) if isinstance(counts, ScoredCounts) else ScoredCounts(counts, before, now, changes)
        pages = np.flatnonzero(rng.random(len(SIZE)) < 0.5)
        _same(scored.of(pages), fresh.of(pages))
        _same(scored.on(step % len(SIZE)), fresh.between(step % len(SIZE), step % len(SIZE) + 1))
        for into, scopes in ((np.zeros(len(SIZE), np.int64), 1), (np.array([0, 0, 0, 1, 1, 2]), 3)):
            after = fresh.pooled(into, scopes).triples(0)
            known = {pair[:2]: pair[2] for pair in last.pooled(into, scopes).triples(0)}
            for first, second, pixels in moves.pooled(into, scopes).triples(0):
                known[first, second] = known.get((first, second), 0) + pixels
            assert sorted((*pair, pixels) for pair, pixels in known.items() if pixels) == after
        if step % 3 == seed % 3:
            _same(scored.every, fresh)
        counts, before, last = scored, now, fresh
    _same(counts.every, last)
    _same(counts.changed(changes.between(before, 0)).every, _fresh(sides, np.full_like(score, -9.0), 0.0)[0])


def test_a_box_moves_what_no_box_with_a_higher_score_has_moved() -> None:
    size, page = np.array([[9, 9]]), np.zeros(3, dtype=np.int64)
    truth = Resolution(page[:1], np.array([1]), np.array([[0.0, 0.0, 4.0, 4.0]]))
    boxes = Resolution(page, np.array([1, 1, 2]), np.array([[0.0, 0, 2, 4], [0, 0, 4, 4], [3, 3, 5, 5]]))
    changes = _changes([truth, boxes], np.array([0.2, 0.9, np.nan]), size)
    # The one without a score comes first, then that of 0.9; the one of 0.2 lies on it and says the same.
    assert changes.rank.tolist() == [1, 1, 0, 0]
    assert changes.between(0, 1).counts.triples(0) == [(1, 1, -3), (1, 4, 3), (2, 1, -1), (2, 4, 1)]
    assert changes.between(1, 2).counts.triples(0) == [(2, 1, -15), (2, 2, 15), (2, 4, -1), (2, 6, 1)]
    assert changes.between(2, 1).counts.triples(0) == [(2, 1, 15), (2, 2, -15), (2, 4, 1), (2, 6, -1)]
    assert changes.between(2, 3).counts.triples(0) == []


def test_no_box_moves_nothing() -> None:
    nothing = Resolution(np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, 4)))
    changes = _changes([nothing, nothing], np.empty(0), np.array([[3, 3], [4, 4]]))
    assert len(changes.between(0, 0)) == 0
    assert len(changes.between(0, 0).counts) == 0


def test_boxes_that_lie_on_each_other_again_and_again_are_left_to_a_count_of_all_pages() -> None:
    size, page = np.array([[9, 9]]), np.zeros(8, dtype=np.int64)
    side = PixelBoxes.of(Resolution(page, page + 1, np.tile([1.0, 1.0, 7.0, 7.0], (8, 1))), size)
    # On each of the eight lie the eight of the first side, and those of the second that came before it: 64 + 28.
    for most, there in ((92, True), (91, False)):
        with patch.object(pixel_scores, "_MANY_PIECES", most / 16):
            assert (ScoreChanges.of([side, side], np.linspace(0.0, 1.0, 8), 1) is not None) == there


@pytest.mark.parametrize("exact", [2.0, 200_000.0])
def test_numbers_of_pages_that_are_too_fine_are_rounded_and_not_kept(exact: float) -> None:
    truth, predicted = random_rows(3, documents=4, per_page=6.0)
    sides = annotations(truth), annotations(predicted)
    fresh = [evaluate(*sides, page_size=(61.0, 79.5), min_score=floor) for floor in (0.0, 0.5)]
    with patch.object(page_sums, "EXACT", exact), patch.object(wrong, "EXACT", exact):
        earlier = None
        for floor, wanted in zip((0.0, 0.5), fresh, strict=True):
            result = evaluate(*sides, page_size=(61.0, 79.5), min_score=floor, earlier=earlier)
            for row, column in ((1, 0), (1, 1), (0, 2), (2, 1)):
                np.testing.assert_allclose(
                    result.cell_pixels(row, column), wanted.cell_pixels(row, column), rtol=1e-12, atol=0.0
                )
            assert exact > 2.0 or result.files.known.get((1, 1)) is None
            earlier = result


def test_what_a_page_adds_to_a_cell_is_that_of_its_matrix_to_the_last_bit() -> None:
    truth, predicted = random_rows(5, documents=6, per_page=6.0)
    result = evaluate(annotations(truth), annotations(predicted), page_size=(61.0, 79.5))
    matrices = result.per_page.matrices.confusion
    for row, column in np.ndindex(matrices.shape[1:]):
        np.testing.assert_array_equal(result.cell_pixels(row, column), matrices[:, row, column])


def test_the_table_is_made_ahead_once_and_only_where_there_are_scores() -> None:
    truth, predicted = random_rows(1, documents=3, per_page=2.0)
    unscored = annotations([row._replace(score=None) for row in predicted])
    with patch.object(evaluation.ScoreChanges, "of", wraps=ScoreChanges.of) as made:
        evaluate(annotations(truth), unscored, page_size=(60.0, 80.0)).prepare_scores()
        assert not made.called
        result = evaluate(annotations(truth), annotations(predicted), page_size=(60.0, 80.0))
        result.prepare_scores()
        result.prepare_scores()
        evaluate(annotations(truth), annotations(predicted), page_size=(60.0, 80.0), min_score=0.5, earlier=result)
    assert made.call_count == 1


@pytest.mark.parametrize("seed", range(4))
def test_numbers_that_follow_from_the_nearest_of_several_scores_are_those_of_a_fresh_count(seed: int) -> None:
    sides = [annotations(rows) for rows in random_rows(seed, documents=6, per_page=8.0)]
    result = evaluate(*sides, page_size=(61.0, 79.5))
    assert result.wrong is not None
    assert result.per_document is not None
    with patch.object(pixel_scores, "_MANY_PIECES", 99.0):
        result.prepare_scores()
    prepared = result.files.prepared
    assert {name: len(starts) for name, starts in prepared.items()} == {"wrong": 2, "documents": 2}
    fewer, most = sorted(taken.boxes[1] for taken, _ in prepared["wrong"])
    assert 0 < fewer < most < len(sides[1].boxes)
    floors = np.random.default_rng(seed).permutation([0.0, 0.1, 0.3, 0.5, 0.62, 0.8, 0.95, 1.1])
    with patch.object(evaluation.Files, "moves", autospec=True, side_effect=evaluation.Files.moves) as moves:
        for floor in floors.tolist():
            fresh = evaluate(*sides, page_size=(61.0, 79.5), min_score=floor)
            result = evaluate(*sides, page_size=(61.0, 79.5), min_score=floor, earlier=result)
            assert result.wrong is not None
            assert fresh.wrong is not None
            np.testing.assert_array_equal(result.wrong.amounts, fresh.wrong.amounts)
            _same(result.per_document.counts, fresh.per_document.counts)
    starts = {call.args[1].boxes for call in moves.call_args_list}
    assert starts & {taken.boxes for taken, _ in prepared["wrong"]}


def test_no_page_has_no_number() -> None:
    nothing = count_pairs(
        *[Resolution(*(np.empty(0, np.int64),) * 2, np.empty((0, 4)))] * 2, np.empty((0, 2), np.int64)
    )
    sums = PageSums((1, 1), 3, np.zeros(0)).counted(nothing, 0)
    assert sums is not None
    assert sums.pixels.shape == (0,)
