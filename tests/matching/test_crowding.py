"""Pages with more overlapping pairs of boxes than memory has room for: refused before a pair is made."""

import json
import tracemalloc
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.analysis.doctor import match_check
from evaluator.data.boxes import BoolArray, FloatArray, IntArray, iou
from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import BadInput
from evaluator.matching import causes
from evaluator.matching import pairs as matching
from evaluator.matching.overlap_limit import crowding_issues
from evaluator.matching.pairs import TooManyPairs, crowding, most_pairs, overlapping_pairs
from evaluator.protocols import PROTOCOLS, box_protocols
from tests.building import annotations, box, write_file
from tests.dashboard import PAGE_BROWSER, issues, start, workspace
from tests.terminal import run_command


@cache
def stack(boxes: int, side: Side = "prediction") -> Annotations:
    return annotations([box(0.0, 0.0, 1.0, 1.0, score=0.5)] * boxes, side=side)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("crowded")
    return [
        write_file(folder / f"{side}.json", [box(0.0, 0.0, 1.0, 1.0, score=score)] * 1200, side=side)
        for side, score in (("ground_truth", None), ("prediction", 0.5))
    ]


@pytest.mark.parametrize("protocol", sorted(box_protocols()))
def test_three_thousand_equal_boxes_on_each_side_are_refused_in_little_memory(protocol: str) -> None:
    truth, prediction = stack(3_000, "ground_truth"), stack(3_000)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput) as refused:
            PROTOCOLS[protocol].evaluate(truth, [prediction], PROTOCOLS[protocol].options())
        assert tracemalloc.get_traced_memory()[1] < 30 << 20
    finally:
        tracemalloc.stop()
    errors = [issue.sentence for issue in refused.value.issues if issue.severity == "error"]
    assert errors == [
        f"{name}: a.pdf, page 1: at most 1,192,000 pairs of boxes of a file may overlap on a page (1,000,000 and "
        f"32 for each box); found more, with 3,000 boxes in {name} on this page. Remove the boxes that repeat others "
        "(non-maximum suppression does), or the page."
        for name in ("ground_truth.json", "prediction.json")
    ]


def test_two_files_that_are_fine_alone_may_be_too_much_together() -> None:
    with (
        patch("evaluator.matching.overlap_limit.most_pairs", lambda boxes: 0 * boxes),
        patch.object(matching, "most_pairs", lambda boxes: 10 + 0 * boxes),
    ):
        upright = [box(0.2 * at, 0.0, 0.2 * at + 0.1, 1.0, page=1) for at in range(5)]
        lying = [box(0.0, 0.2 * at, 1.0, 0.2 * at + 0.1, page=1) for at in range(5)]
        (issue,) = crowding_issues(annotations(upright, side="ground_truth"), annotations(lying))
    assert "of the two files" in issue.rule
    assert issue.place == "a.pdf, page 2"


@given(
    counts=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=4), limit=st.integers(0, 60)
)
def test_pairs_are_counted_as_they_are_made(counts: list[tuple[int, int]], limit: int) -> None:
    truth, predicted = (np.repeat(np.arange(len(counts)), [pair[side] for pair in counts]) for side in (0, 1))
    corners = [np.tile([0.0, 0.0, 1.0, 1.0], (len(group), 1)) for group in (truth, predicted)]
    made = overlapping_pairs(corners[0], truth, corners[1], predicted, iou_floor=0.5)
    with patch.object(matching, "most_pairs", lambda boxes: limit + 0 * boxes):
        crowd = crowding(corners[0], truth, corners[1], predicted)
    assert (crowd is not None) == (len(made.iou) > limit)


def comb(teeth: int) -> FloatArray:
    left = np.repeat(np.arange(teeth) / teeth, 4) + np.tile([0.0, 0.0, 0.5, 0.5], teeth) / teeth
    return np.vstack([np.stack([left, np.tile([0.1, 1.0, 1.0, 0.1], teeth)], axis=1), [[1.0, 0.0], [0.0, 0.0]]])


@pytest.mark.parametrize(
    ("outlines", "rule"),
    [
        # 200 x 200 pairs of 502 + 502 points.
        (
            [[comb(125)] * 200] * 2,
            "the pairs of outlines that overlap may have at most 4,212,800 points on a page (1,000,000 and 16 for each "
            "point); found more, with 200 boxes in ground_truth.json and 200 boxes in prediction.json on this page.",
        ),
        # 400 edges upright across 400 lying.
        (
            [[comb(200)], [comb(200)[:, ::-1]]],
            "the bounds of at most 112,832 pairs of edges of outlines may overlap on a page (100,000 and 8 for each "
            "edge); found more, with 1 box in ground_truth.json and 1 box in prediction.json on this page.",
        ),
    ],
)
def test_outlines_that_are_too_much_to_compare_are_refused(outlines: list[list[FloatArray]], rule: str) -> None:
    sides = []
    for side, rings in zip(("ground_truth", "prediction"), outlines, strict=True):
        made = annotations([box(0.0, 0.0, 1.0, 1.0, score=0.5)] * len(rings), side=side)  # type: ignore[arg-type]
        polygons = {row: [ring] for row, ring in enumerate(rings)}
        sides.append(replace(made, boxes=replace(made.boxes, polygons=polygons)))
    (issue,) = crowding_issues(sides[0], sides[1], polygons=True)
    assert issue.sentence == (
        f"prediction.json: a.pdf, page 1: {rule} Simplify the outlines, or compare the boxes alone."
    )
    assert crowding_issues(sides[0], sides[1]) == ()
    system = PROTOCOLS["snapshot"]
    options = system.options(polygons=True)
    with (
        patch("evaluator.data.geometries.areas", side_effect=AssertionError),
        pytest.raises(BadInput, match="pairs of"),
    ):
        system.evaluate(sides[0], [sides[1]], options)
    # The doctor does not compare them either.
    assert match_check.measure_of(system, options)(sides[0], sides[1]) is None


def test_pairs_that_were_not_counted_before_are_not_kept_either() -> None:
    corners, group = np.tile([0.0, 0.0, 1.0, 1.0], (2200, 1)), np.zeros(2200, dtype=np.int64)
    with pytest.raises(TooManyPairs, match="more than 4,563,200 pairs of boxes overlap"):
        overlapping_pairs(corners, group, corners, group, iou_floor=0.1)
    # The doctor tries what it can.
    system = PROTOCOLS["snapshot"]
    assert match_check.measure_of(system, system.options())(stack(2200, "ground_truth"), stack(2200)) is None


def test_the_page_browser_says_that_an_outline_is_left_out(tmp_path: Path) -> None:
    """One of 2,000 points across itself: its page is drawn by its box."""
    points = np.random.default_rng(0).uniform(0, 1_000, 4_000).round(1).tolist()
    item = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 999, 999], "area": 1, "segmentation": [points]}
    value = {
        "images": [{"id": 1, "file_name": "a.png", "width": 1_000, "height": 1_000}],
        "annotations": [item],
        "categories": [{"id": 1, "name": "a"}],
    }
    paths = [tmp_path / name for name in ("truth.json", "model.json")]
    paths[0].write_text(json.dumps(value))
    paths[1].write_text(json.dumps({**value, "annotations": [{**item, "score": 0.5}]}))
    with patch("evaluator.data.geometries.of_rows", side_effect=AssertionError):
        app = start(PAGE_BROWSER, files=workspace(paths[0], paths[1:]))
    assert any("2 issues in the files" in each.proto.body for each in app.get("html"))


def test_ordinary_files_are_not_even_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.matching.overlap_limit.join", None)
    assert crowding_issues(stack(900, "ground_truth"), stack(900)) == ()
    assert crowding_issues(stack(0, "ground_truth"), stack(0)) == ()
    assert most_pairs(0) == 1_000_000


def test_columns_of_one_height_are_told_apart_by_their_sides() -> None:
    left = np.arange(4000.0)
    corners = np.stack([left, np.zeros(4000), left + 0.5, np.ones(4000)], axis=1)
    group = np.zeros(4000, dtype=np.int64)
    compared = 0

    def measure(truth: IntArray, predicted: IntArray) -> FloatArray:
        nonlocal compared
        compared += len(truth)
        return iou(corners[truth], corners[predicted])

    pairs = overlapping_pairs(corners, group, corners, group, iou_floor=0.5, measure=measure)
    assert (len(pairs.iou), compared < 10_000) == (4000, True)


def test_check_says_it_too(crowded: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run_command(capsys, "check", *crowded, "--json")
    said = json.loads(out)
    assert (code, said["diagnosis"]) == (2, [])
    assert [issue["severity"] for issue in said["issues"]] == ["error", "error", "warning", "warning"]


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 40))
def test_what_moved_together_is_the_same_in_pieces(seed: int, size: int, at_once: int) -> None:
    moved = np.random.default_rng(seed).integers(0, 5, (size, 2)) / 10.0
    tolerance = np.array([0.1, 0.15])
    near: BoolArray = np.all(np.abs(moved[:, None, :] - moved[None, :, :]) <= tolerance, axis=2)
    with patch.object(causes, "_AT_ONCE", at_once):
        together = causes._together(moved, tolerance)
    assert together.tolist() == near[int(near.sum(axis=1).argmax())].tolist()


def test_the_common_distance_of_many_pairs_is_among_the_cells_where_most_are() -> None:
    moved = np.concatenate([np.random.default_rng(5).random((20_000, 2)), np.full((300, 2), 0.5)])
    assert int(causes._together(moved, np.array([0.001, 0.001]))[-300:].sum()) == 300


def test_a_page_of_alike_boxes_is_looked_at_piece_by_piece() -> None:
    own = np.tile([0.0, 0.0, 0.1, 0.1], (3000, 1))
    label = np.zeros(3000, dtype=np.int64)
    tracemalloc.start()
    try:
        first, _ = causes._alike_boxes(own, label, own + 0.5, label)
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()
    assert not len(first)


def test_boxes_are_compared_with_those_that_are_nearly_as_long_on_the_better_axis_alone() -> None:
    own, label = (
        np.column_stack([np.zeros((3000, 2)), np.linspace(0.1, 0.9, 3000), np.full(3000, 0.1)]),
        np.arange(3000),
    )
    compared: list[int] = []

    def noted(sizes: FloatArray, others: FloatArray) -> BoolArray:
        compared.append(len(sizes))
        return same_size(sizes, others)

    same_size = causes._same_size
    with patch.object(causes, "_same_size", noted):
        assert not len(causes._alike_boxes(own, label % 2, own * 0.1, label % 2)[0])
        first, second = causes._alike_boxes(own, label, own[::-1], label[::-1])
    assert first.tolist() == second[::-1].tolist() == label.tolist()
    assert sum(compared) < 4 * 3000


@pytest.mark.parametrize("view", ["overview", "page_browser", "gallery", "compare", "models", "slices"])
def test_every_view_shows_why_nothing_is_compared(crowded: list[Path], view: str) -> None:
    app = start(f"pages/{view}.py", files=workspace(crowded[0], crowded[1:]))
    rules = [row["Rule"] for row in issues(app)]
    assert sum("pairs of boxes of a file may overlap" in rule for rule in rules) == 2
