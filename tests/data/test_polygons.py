"""Polygons: areas by hand and by pixels, boxes where there is no outline, and what is stated about bad ones."""

import contextlib
import io
import itertools
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely  # type: ignore[import-untyped]
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pycocotools import mask as official  # type: ignore[import-untyped]

from evaluator import formats
from evaluator.components.gallery.crops import cards
from evaluator.components.viewer.mistake_filter import mistake_columns
from evaluator.components.viewer.outlines import outline_paths
from evaluator.components.viewer.page_overlay import page_data
from evaluator.data import geometries
from evaluator.data.boxes import Overlap, overlap
from evaluator.data.dataset import Annotations, join
from evaluator.data.issues import Collector
from evaluator.data.polygons import drawn_rings, edge_bounds, outline_bounds, polygon_issues, polygon_overlap
from evaluator.matching.box_items import items
from evaluator.matching.error_types import DOCUMENT, NONE, SIDES, TIDE
from evaluator.project import evaluate
from evaluator.protocols import box_protocols, coco, snapshot
from evaluator.review.identity import mistake_targets
from tests.building import annotations, box, ground_truth, random_rows

Ring = list[tuple[float, float]]
Row = dict[str, Any]


@dataclass
class Regions:
    xyxy: np.ndarray
    polygons: dict[int, list[np.ndarray]] = field(default_factory=dict)


def regions(*outlines: list[Ring] | tuple[float, float, float, float]) -> Regions:
    """Regions from rings, or from corners where a row has no outline; the box of an outline is around it."""
    made = Regions(xyxy=np.zeros((len(outlines), 4)))
    for row, outline in enumerate(outlines):
        if isinstance(outline, tuple):
            made.xyxy[row] = outline
            continue
        made.polygons[row] = [np.array(ring, dtype=np.float64).reshape(-1, 2) for ring in outline]
        if outline:
            points = np.concatenate(made.polygons[row])
            made.xyxy[row] = [*points.min(axis=0), *points.max(axis=0)]
    return made


def fit(truth: Regions, predicted: Regions) -> list[tuple[float, float, float]]:
    rows = np.arange(len(truth.xyxy))
    shares = polygon_overlap(truth, predicted, rows, rows)
    return [tuple(float(column[row]) for column in shares) for row in rows.tolist()]  # type: ignore[misc]


def square(x: float, y: float, side: float) -> Ring:
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side)]


BOX = (0.0, 0.0, 4.0, 4.0)
TRIANGLE: Ring = [(0, 0), (4, 0), (0, 4)]
BOW_TIE: Ring = [(0, 0), (4, 4), (4, 0), (0, 4)]


@pytest.mark.parametrize(
    ("truth", "predicted", "expected"),
    [
        ([TRIANGLE], BOX, (0.5, 1.0, 0.5)),
        (BOX, [TRIANGLE], (0.5, 0.5, 1.0)),
        ([TRIANGLE], [TRIANGLE], (1.0, 1.0, 1.0)),
        ([TRIANGLE], [TRIANGLE[::-1]], (1.0, 1.0, 1.0)),
        ([TRIANGLE], [[*TRIANGLE, TRIANGLE[0]]], (1.0, 1.0, 1.0)),
        # Triangles of one box in opposite corners share the middle line only.
        ([TRIANGLE], [[(4, 0), (4, 4), (0, 4)]], (0.0, 0.0, 0.0)),
        # Two parts: 9 + 4 - 1 of 16.
        ([square(0, 0, 3), square(2, 2, 2)], BOX, (0.75, 1.0, 0.75)),
        ([square(0, 0, 1), square(3, 3, 1)], BOX, (0.125, 1.0, 0.125)),
        # A ring inside of another is a part, not a hole.
        ([square(0, 0, 4), square(1, 1, 1)], BOX, (1.0, 1.0, 1.0)),
        # Two triangles of area 4 each.
        ([BOW_TIE], BOX, (0.5, 1.0, 0.5)),
        # What encloses nothing is its box.
        ([[(0, 0), (2, 2), (4, 4)]], BOX, (1.0, 1.0, 1.0)),
        ([[(0, 0), (4, 4)]], BOX, (1.0, 1.0, 1.0)),
        ([square(0, 0, 4), [(1, 1), (2, 2)]], BOX, (1.0, 1.0, 1.0)),
    ],
)
def test_areas_by_hand(
    truth: list[Ring] | tuple[float, ...],
    predicted: list[Ring] | tuple[float, ...],
    expected: tuple[float, float, float],
) -> None:
    assert fit(regions(truth), regions(predicted)) == [pytest.approx(expected)]  # type: ignore[arg-type]


def test_rows_may_repeat_and_mix() -> None:
    truth, predicted = regions([TRIANGLE], BOX, (9.0, 9.0, 10.0, 10.0)), regions(BOX, [TRIANGLE])
    shares = polygon_overlap(truth, predicted, np.array([0, 0, 1, 2, 1]), np.array([0, 1, 0, 1, 1]))
    assert shares.iou.tolist() == pytest.approx([0.5, 1.0, 1.0, 0.0, 0.5])
    assert shares.coverage.tolist() == pytest.approx([1.0, 1.0, 1.0, 0.0, 0.5])
    assert shares.purity.tolist() == pytest.approx([0.5, 1.0, 1.0, 0.0, 1.0])


def test_nothing_to_compare() -> None:
    nobody = np.empty(0, dtype=np.int64)
    for some in (regions(), regions([TRIANGLE])):
        shares = polygon_overlap(some, some, nobody, nobody)
        assert [column.shape for column in shares] == [(0,)] * 3
    assert outline_bounds(regions()).shape == (0, 4)


boxes_of_12 = arrays(np.float64, (12, 4), elements=st.floats(0, 1).map(lambda value: round(value, 3))).map(
    lambda made: np.hstack([np.minimum(made[:, :2], made[:, 2:]), np.maximum(made[:, :2], made[:, 2:])])
)


@given(first=boxes_of_12, second=boxes_of_12)
def test_without_outlines_the_numbers_are_those_of_boxes(first: np.ndarray, second: np.ndarray) -> None:
    rows = np.arange(12)
    shares = polygon_overlap(Regions(first), Regions(second), rows, rows)
    for column, wanted in zip(shares, overlap(first, second), strict=True):
        assert (column == wanted).all()


@given(first=boxes_of_12, second=boxes_of_12)
def test_an_outline_that_is_the_box_changes_nothing(first: np.ndarray, second: np.ndarray) -> None:
    outlined = [
        Regions(xyxy, {row: [xyxy[row][[0, 1, 2, 1, 2, 3, 0, 3]].reshape(4, 2)] for row in range(0, 12, step)})
        for xyxy, step in ((first, 1), (second, 2))
    ]
    rows = np.arange(12)
    for column, wanted in zip(polygon_overlap(*outlined, rows, rows), overlap(first, second), strict=True):
        np.testing.assert_allclose(column, wanted, rtol=0, atol=1e-9)
        assert ((column >= 0.0) & (column <= 1.0)).all()


def covered(rings: list[np.ndarray], cells: int) -> Any:
    return official.merge(official.frPyObjects([(ring * cells).ravel().tolist() for ring in rings], cells, cells))


def star(rng: np.random.Generator) -> np.ndarray:
    """A ring around a point that does not cross itself."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(5, 12)))
    reach = rng.uniform(0.1, 0.3, len(angle))
    return rng.uniform(0.35, 0.65, 2) + np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])


@pytest.mark.parametrize("seed", range(4))
def test_areas_are_those_of_the_pixels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rings = [[star(rng) for _ in range(rng.integers(1, 4))] for _ in range(2)]
    truth, predicted = (regions([ring.tolist() for ring in side]) for side in rings)
    ours, theirs = (covered(side, 400) for side in rings)
    # With a crowd the area shared is divided by that of the first.
    pairs = (ours, theirs, 0), (ours, theirs, 1), (theirs, ours, 1)
    expected = tuple(official.iou([one], [other], [crowd]).item() for one, other, crowd in pairs)
    assert fit(truth, predicted) == [pytest.approx(expected, abs=0.01)]


@pytest.mark.parametrize("seed", range(2))
def test_swapping_the_sides_swaps_coverage_and_purity(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (regions(*([star(rng).tolist()] for _ in range(20))) for _ in range(2))
    rows = np.arange(20)
    straight, turned = polygon_overlap(first, second, rows, rows), polygon_overlap(second, first, rows, rows)
    for column, other in zip(straight, Overlap(turned.iou, turned.purity, turned.coverage), strict=True):
        np.testing.assert_allclose(column, other, rtol=1e-12)


def test_bounds_are_those_of_the_outline_whatever_the_box_says() -> None:
    some = regions(BOX, [TRIANGLE], [[(0, 0), (2, 2)]])
    some.xyxy[1:] = [0, 0, 1, 1]
    before = some.xyxy.copy()
    assert outline_bounds(some).tolist() == [[0, 0, 4, 4], [0, 0, 4, 4], [0, 0, 1, 1]]
    assert (some.xyxy == before).all()


def test_issues_name_every_outline_that_is_not_used_as_it_stands() -> None:
    some = regions(
        BOX, [TRIANGLE], [BOW_TIE], [[(0, 0), (2, 2), (4, 4)]], [[(1, 1)]], [], [square(0, 0, 3), BOW_TIE],
        [square(0, 0, 3), [(1, 1), (2, 2)]], [square(0, 0, 3), square(2, 2, 2)],
    )  # fmt: skip
    collector = Collector("coco.json", max_per_rule=None)
    polygon_issues(some, collector, lambda row: f"$.annotations[{row}].segmentation")
    encloses = "a polygon must enclose an area (OGC simple features 1.2.1, section 6.1.11); found"
    crosses = "a polygon must not cross or touch itself (OGC simple features 1.2.1, section 6.1.11); found"
    use_box, use_area = "Its box is used; correct the outline, or leave it out.", "What it encloses is used"
    assert [(issue.severity, issue.sentence) for issue in collector.issues()] == [
        ("warning", f"coco.json: $.annotations[{row}].segmentation: {said}")
        for row, said in (
            (2, f"{crosses} Self-intersection[2 2]. {use_area}; correct the outline."),
            (3, f"{encloses} 3 points. {use_box}"),
            (4, f"{encloses} 1 point. {use_box}"),
            (5, f"{encloses} 0 points. {use_box}"),
            (6, f"{crosses} Self-intersection[2 2]. {use_area}; correct the outline."),
            (7, f"{encloses} a ring of 2 points. Its other rings are used; correct this one."),
        )
    ]


def _bbox(ring: Any) -> list[float]:
    return [*ring.min(axis=0).tolist(), *np.ptp(ring, axis=0).tolist()]


def test_outlines_that_take_too_much_work_are_left_out() -> None:
    chance = np.random.default_rng(0)

    def around(points: int) -> list[Any]:
        angles = np.linspace(0.0, 2.0 * np.pi, points, endpoint=False)
        return [50.0 + 50.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)]

    items = {
        "crosses itself": [chance.uniform(0, 100, (2_000, 2))],
        "20,001 points": around(20_001), "smooth": around(20_000), "small": [chance.uniform(0, 100, (45, 2))],
    }  # fmt: skip
    annotation = {"image_id": 1, "category_id": 1, "area": 1, "iscrowd": 0}
    value = {
        "images": [{"id": 1, "file_name": "a.png", "width": 100, "height": 100}],
        "annotations": [
            {**annotation, "id": at, "segmentation": [ring.ravel().tolist()], "bbox": _bbox(ring)}
            for at, (ring,) in enumerate(items.values(), 1)
        ],
        "categories": [{"id": 1, "name": "a"}],
    }
    source = formats.read_bytes(json.dumps(value).encode(), "gt.json")
    use_box = "Its box is used; simplify the outline, or leave it out."
    assert [(issue.severity, issue.sentence) for issue in source.issues] == [
        (
            "warning",
            "gt.json: $.annotations[0].segmentation: the bounds of at most 1,000 pairs of edges of an outline, and 8 "
            f"for each of its points, may overlap; found 2,000 points. {use_box}",
        ),
        (
            "warning",
            "gt.json: $.annotations[1].segmentation: an outline must have at most 20,000 points; found 20,001 points. "
            + use_box,
        ),
    ]
    assert sorted(source.boxes.polygons) == [2, 3]
    assert formats.registry.with_usable_outlines(source) is source


@example(np.array([[0, 1], [1, 1], [0, 1], [0, 0], [1, 1]], dtype=np.float64))
@example(np.array([[0, 0], [2, 1], [3, 0], [2, 1], [1, 3], [3, 0], [2, 1], [2, 3]], dtype=np.float64))
@given(arrays(np.float64, st.tuples(st.integers(3, 8), st.just(2)), elements=st.integers(0, 3).map(float)))
def test_a_ring_encloses_nothing_where_its_repaired_region_is_empty(ring: Any) -> None:
    for each in (ring, np.vstack([ring, ring])):
        flat, _ = geometries.flaws([each])
        assert bool(flat) == (not shapely.area(geometries._outline([each])) > 0.0)


@given(arrays(np.float64, st.tuples(st.integers(3, 40), st.just(2)), elements=st.integers(0, 9).map(float)))
def test_edges_whose_bounds_overlap_are_counted(ring: Any) -> None:
    bounds = edge_bounds([ring, ring + 1.0])
    assert bounds.shape == (2 * len(ring), 4)
    assert bounds[len(ring) - 1].tolist() == [*np.minimum(ring[-1], ring[0]), *np.maximum(ring[-1], ring[0])]
    low, high = bounds[:, None, :2] <= bounds[None, :, 2:], bounds[:, None, 2:] >= bounds[None, :, :2]
    pairs = (int((low & high).all(axis=2).sum()) - len(bounds)) // 2
    assert not geometries.overlapping(bounds, pairs)
    assert geometries.overlapping(bounds, pairs - 1)


def with_outlines(source: Annotations, outlines: dict[int, Ring]) -> Annotations:
    rings = {row: [np.array(ring, dtype=np.float64)] for row, ring in outlines.items()}
    return replace(source, boxes=replace(source.boxes, polygons=rings))


def test_options_of_the_snapshot_protocol_with_outlines() -> None:
    truth, predicted = (
        with_outlines(make([box(0.0, 0.0, 0.4, 0.4)]), {0: LOWER_LEFT}) for make in (ground_truth, annotations)
    )
    dataset = join(truth, predicted)
    assert snapshot.pair(dataset).match().signature(0.5).options == ()
    scored = snapshot.pair(dataset, polygons=True).match(min_score=0.5, labels=("Table",)).at(0.5)
    assert scored.micro.tp[0] == 0
    with pytest.raises(ValueError, match=r"^iou_floor must be in \(0, 1\]; found 0$"):
        snapshot.pair(dataset, polygons=True, iou_floor=0)


LOWER_LEFT: Ring = [(0.0, 0.0), (0.4, 0.4), (0.0, 0.4)]


def test_what_is_drawn_has_the_numbers_of_what_is_compared() -> None:
    # The prediction's triangle is the opposite one of the same box on page 1: IoU 1 of the boxes, 0 of the outlines.
    rows = [box(0.0, 0.0, 0.4, 0.4), box(0.0, 0.0, 0.4, 0.4, page=1)]
    upper: Ring = [(0.0, 0.0), (0.4, 0.0), (0.4, 0.4)]
    dataset = join(
        with_outlines(ground_truth(rows), {0: LOWER_LEFT, 1: LOWER_LEFT}),
        with_outlines(annotations(rows), {0: [*upper, (0.0, 0.4)], 1: upper}),
    )
    boxes, outlined = (snapshot.pair(dataset, polygons=polygons).match().at(0.5) for polygons in (False, True))
    # Outlines that do not overlap are not near each other: one is missed, the other extra.
    for result, by_outline, ious in ((boxes, False, [1.0, 1.0]), (outlined, True, [0.5, None])):
        for page, iou in enumerate(ious):
            drawn = page_data(result, page)
            truth, predicted = drawn.boxes
            assert (drawn.by_outline, truth.outline) == (by_outline, "M0 0L4000 4000L0 4000Z")
            # An outline that is the box is not drawn twice.
            assert (predicted.outline, predicted.iou) == ([None, "M0 0L4000 0L4000 4000Z"][page], iou)
    assert np.array_equal(items(outlined).iou, [0.5, np.nan, np.nan], equal_nan=True)
    (card, *_) = cards(outlined, items(outlined))
    assert [each.outline for each in card.boxes] == ["M0 0L4000 4000L0 4000Z", None]


def test_a_mask_with_a_hole_is_drawn_with_its_hole_and_without_seams() -> None:
    # A frame of four rectangles, as a run-length mask is read.
    parts = [(0, 0, 4, 1), (0, 3, 4, 4), (0, 1, 1, 3), (3, 1, 4, 3)]
    frame = Regions(
        np.array([[0.0, 0.0, 4.0, 4.0]]),
        {0: [np.array([(a, b), (c, b), (c, d), (a, d)], dtype=float) for a, b, c, d in parts]},
    )
    rows = np.array([0, 0])
    (rings, again) = drawn_rings(frame, rows, tolerance=np.array([0.01, 0.01]))
    assert len(again) == len(rings) == 2
    assert sorted(sorted(map(tuple, ring.tolist())) for ring in rings) == [
        [(0.0, 0.0), (0.0, 4.0), (4.0, 0.0), (4.0, 4.0)],
        [(1.0, 1.0), (1.0, 3.0), (3.0, 1.0), (3.0, 3.0)],
    ]
    assert drawn_rings(frame, rows[:0], tolerance=np.empty(0)) == []


def test_outlines_in_pixels_are_drawn_as_shares_and_not_at_all_without_a_page_size() -> None:
    lower = [(0.0, 0.0), (40.0, 40.0), (0.0, 40.0)]
    source = with_outlines(ground_truth([box(0.0, 0.0, 40.0, 40.0)]), {0: lower})
    dataset = join(replace(source, unit="pixels"), replace(annotations([]), unit="pixels"))
    rows = np.array([0])
    assert outline_paths(dataset, dataset.ground_truth, rows) == [None]
    assert outline_paths(dataset, dataset.ground_truth, rows, stated=(80.0, 400.0)) == ["M0 0L5000 1000L0 1000Z"]


@pytest.mark.parametrize("seed", range(4))
def test_without_outlines_the_protocol_is_the_same_either_way(seed: int) -> None:
    truth, predicted = random_rows(seed)
    dataset = join(ground_truth(truth), annotations(predicted))
    plain, outlined = (
        snapshot.pair(dataset, polygons=polygons).match().at(snapshot.IOU_FLOOR).matches for polygons in (False, True)
    )
    for name in ("prediction", "ground_truth", "iou", "coverage", "purity"):
        assert (getattr(plain, name) == getattr(outlined, name)).all()


SQUARE = [0, 0, 40, 0, 40, 40, 0, 40]
UPPER_PART = [0, 0, 40, 0, 40, 16, 0, 16]


def write_pair(folder: Path, truth: list[Row], predicted: list[Row], images: int = 1) -> tuple[Path, Path]:
    """The COCO files of two sides; predictions have a score."""
    pages = [{"id": image, "width": 1000, "height": 800, "file_name": f"{image}.png"} for image in range(1, images + 1)]
    instances = {
        "images": pages, "categories": [{"id": 1, "name": "figure"}, {"id": 2, "name": "table"}], "info": {},
        "annotations": [{**row, "id": at, "iscrowd": 0} for at, row in enumerate(truth, 1)],
    }  # fmt: skip
    paths = folder / "gt.json", folder / "dt.json"
    for path, value in zip(paths, (instances, predicted), strict=True):
        path.write_text(json.dumps(value), encoding="utf-8")
    return paths


LOWER, UPPER = [0, 0, 40, 40, 0, 40], [0, 0, 40, 0, 40, 40]


def coco_files(folder: Path, truth: list[Any], predicted: list[Any]) -> tuple[Path, Path]:
    """One page with boxes of 40 by 40 pixels in a row; their outlines, None for none."""
    sides: list[list[Row]] = []
    for side in (truth, predicted):
        sides.append([])
        for place, rings in enumerate(side):
            row: Row = {"image_id": 1, "category_id": 1, "bbox": [100 * place, 0, 40, 40], "area": 1600}
            if rings is not None:
                moved = [np.array(ring) + 100 * place * (np.arange(len(ring)) % 2 == 0) for ring in rings]
                row["segmentation"] = [ring.tolist() for ring in moved]
            sides[-1].append(row)
    return write_pair(folder, sides[0], [{**row, "score": 0.9} for row in sides[1]])


@pytest.mark.parametrize("protocol", ["snapshot", "pod", "coco"])
def test_a_protocol_of_boxes_compares_outlines_when_told_to(protocol: str, tmp_path: Path) -> None:
    # The same triangle, the opposite one, and a half of a square: IoU 1, 0 and 0.5; 1 as boxes.
    truth, prediction = coco_files(tmp_path, [[LOWER], [LOWER], None], [[LOWER], [UPPER], [LOWER]])
    options = {"small_px": 0.0} if protocol == "pod" else {}
    for polygons, partner, coverage in ((None, [0, 1, 2], [1.0, 1.0, 1.0]), (True, [0, -1, 2], [0.5, 1.0])):
        (evaluated,) = evaluate(protocol, truth, [prediction], iou=(0.4,), polygons=polygons, **options)
        result = evaluated.result.thresholds[0.4]  # type: ignore[attr-defined]
        assert ("polygon IoU" in evaluated.result.signature.line) == bool(polygons)
        assert (result.truth_partner.tolist(), sorted(result.matches.coverage.tolist())) == (partner, coverage)
        assert result.matches.purity.tolist() == [1.0] * len(coverage)


def test_names_sides_and_shares_of_mistakes_follow_the_outlines(tmp_path: Path) -> None:
    # All boxes are equal. Outlines: the upper 40 per cent of a square, half of it in a corner, the other half.
    files = coco_files(tmp_path, [[SQUARE], [SQUARE], [LOWER]], [[UPPER_PART], [LOWER], [UPPER]])
    sides = [formats.read(path) for path in files]
    outlined, boxes = (coco.evaluate(*sides, iou=[0.6], polygons=chosen).thresholds[0.6] for chosen in (True, False))
    mistakes = outlined.mistakes
    assert len(boxes.mistakes.kind) == 0
    assert [DOCUMENT[kind] for kind in mistakes.kind] == ["cut_off", "near_miss", "missed", "invented"]
    assert ([SIDES[mistakes.side[0]]], mistakes.side[1:].tolist()) == (["bottom"], [NONE] * 3)
    np.testing.assert_array_equal(mistakes.share.round(6), [0.6, np.nan, np.nan, np.nan])
    assert mistake_columns(outlined, mistakes).iou[:2].round(6).tolist() == [0.4, 0.5]
    lines = [mistake.lines[0] for mistake in page_data(outlined, 0).mistakes if mistake.name == "cut_off"]
    assert lines == ["bottom −60 %"]
    assert mistake_targets(outlined, 0).mistakes.kind.tolist() == mistakes.kind.tolist()


@pytest.mark.parametrize("seed", range(2))
def test_outlines_that_are_their_boxes_have_the_mistakes_types_and_costs_of_boxes(tmp_path: Path, seed: int) -> None:
    sides = [formats.read(path) for path in squares(tmp_path, seed)]
    boxes, outlined = (coco.evaluate(*sides, polygons=polygons) for polygons in (False, True))
    mistakes, others = (result.thresholds[0.5].mistakes for result in (boxes, outlined))
    assert len(mistakes.kind)
    assert (mistakes.kind.tolist(), mistakes.side.tolist()) == (others.kind.tolist(), others.side.tolist())
    np.testing.assert_array_equal(mistakes.share.round(6), others.share.round(6))
    assert boxes.error_types.counts.tolist() == outlined.error_types.counts.tolist()
    np.testing.assert_allclose(boxes.error_types.costs.delta_ap, outlined.error_types.costs.delta_ap, atol=1e-12)
    assert boxes.error_types.costs.ap == pytest.approx(outlined.error_types.costs.ap, abs=1e-12)


def squares(folder: Path, seed: int) -> tuple[Path, Path]:
    """Rectangles of two labels on one page, each with its own corners as outline."""
    draw = np.random.default_rng(seed)
    sides: list[list[Row]] = []
    for _ in range(2):
        corners, sizes = draw.integers(0, 40, size=(10, 2)), draw.integers(4, 30, size=(10, 2))
        sides.append(
            [
                {"image_id": 1, "category_id": int(row % 2) + 1, "bbox": [x, y, w, h], "area": w * h,
                 "segmentation": [[x, y, x + w, y, x + w, y + h, x, y + h]], "score": float(draw.random())}
                for row, ((x, y), (w, h)) in enumerate(zip(corners.tolist(), sizes.tolist(), strict=True))
            ]
        )  # fmt: skip
    return write_pair(folder, [{key: row[key] for key in row if key != "score"} for row in sides[0]], sides[1])


def test_outlines_that_cannot_be_used_are_found_when_they_are_asked_for(tmp_path: Path) -> None:
    crossed, flat = [0, 0, 40, 40, 40, 0, 0, 40], [0, 0, 40, 40, 20, 20]
    truth, prediction = coco_files(tmp_path, [[crossed], None], [None, [flat]])
    places = [("gt.json", "$.annotations[0].segmentation"), ("dt.json", "$[1].segmentation")]
    for chosen, expected in (({}, []), ({"polygons": True}, places)):
        (evaluated,) = evaluate("snapshot", truth, [prediction], **chosen)
        assert [(issue.file, issue.place) for issue in evaluated.issues] == expected


def test_crowds_are_compared_by_the_share_of_the_prediction(tmp_path: Path) -> None:
    truth, prediction = coco_files(tmp_path, [[SQUARE], [LOWER]], [[LOWER], [SQUARE]])
    value = json.loads(truth.read_text(encoding="utf-8"))
    for row in value["annotations"]:
        row["iscrowd"] = 1
    value["annotations"].append(dict(value["annotations"][0], id=9, bbox=[500, 0, 40, 40], iscrowd=0, segmentation=[]))
    truth.write_text(json.dumps(value), encoding="utf-8")
    (evaluated,) = evaluate("coco", truth, [prediction], iou=(0.5, 0.75), polygons=True, allow_no_match=True)
    ignored = {iou: result.ignored.tolist() for iou, result in evaluated.result.thresholds.items()}  # type: ignore[attr-defined]
    assert ignored == {0.5: [0, 1], 0.75: [0]}


def l_shapes(folder: Path) -> tuple[Path, Path]:
    """L shapes with whole coordinates of two labels on twelve pages."""
    rng = np.random.default_rng(7)

    def shape(*sizes: int) -> list[int]:
        x, y, w, h, a, b = sizes
        return [x, y, x + w, y, x + w, y + b, x + a, y + b, x + a, y + h, x, y + h]

    truth: list[Row] = []
    results: list[Row] = []
    for image, place in itertools.product(range(1, 13), range(8)):
        x, y = 200 * (place % 4) + 10, 300 * (place // 4) + 10
        w, h = (int(value) for value in rng.integers(40, 150, 2))
        a, b = int(rng.integers(8, w - 4)), int(rng.integers(8, h - 4))
        base = {"image_id": image, "category_id": place % 2 + 1}
        area = w * b + a * (h - b)
        truth.append({**base, "bbox": [x, y, w, h], "segmentation": [shape(x, y, w, h, a, b)], "area": area})
        for _ in range(int(rng.integers(0, 3))):
            dx, dy, dw, dh = (int(value) for value in rng.integers(-9, 10, 4))
            nx, ny, nw, nh = x + dx, y + dy, max(w + dw, 20), max(h + dh, 20)
            ring = shape(nx, ny, nw, nh, min(a, nw - 2), min(b, nh - 2))
            score = round(float(rng.random()), 3)
            results.append({**base, "bbox": [nx, ny, nw, nh], "segmentation": [ring], "score": score})
    return write_pair(folder, truth, results, images=12)


def test_average_precision_by_outline_is_that_of_masks_whose_edges_are_those_of_pixels(tmp_path: Path) -> None:
    # pycocotools, iouType "segm"; L shapes with whole coordinates cover whole pixels, so that both areas are equal.
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truth, prediction = l_shapes(tmp_path)
    results = json.loads(prediction.read_text())
    with contextlib.redirect_stdout(io.StringIO()):
        loaded = COCO(str(truth))
        rows = [{**row, "segmentation": official.frPyObjects(row["segmentation"], 800, 1000)[0]} for row in results]
        for row in rows:
            del row["bbox"]
        evaluation = COCOeval(loaded, loaded.loadRes(rows), "segm")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    (evaluated,) = evaluate("coco", truth, [prediction], polygons=True)
    numbers = evaluated.result.numbers  # type: ignore[attr-defined]
    expected = dict(zip(numbers, evaluation.stats.tolist(), strict=True))
    for name in ("AP", "AP50", "AP75", "AR1", "AR10", "AR100"):
        assert numbers[name] == pytest.approx(expected[name], abs=1e-12)
    assert 0.05 < numbers["AP"] < 0.95
    # TIDE names masks, and its AP at 0.5 is that of masks.
    errors = evaluated.result.error_types  # type: ignore[attr-defined]
    assert errors.costs.ap == pytest.approx(expected["AP50"], abs=1e-12)
    assert dict(zip(TIDE, errors.counts.tolist(), strict=True)) == MASKS_OF_TIDECV["count"]
    costs = dict(zip(TIDE, errors.costs.delta_ap.tolist(), strict=True))
    assert costs == pytest.approx(MASKS_OF_TIDECV["delta_ap"], abs=1e-9)


MASKS_OF_TIDECV: dict[str, dict[str, float]] = {
    "count": {"classification": 0, "localisation": 4, "both": 0, "duplicate": 39, "background": 0, "missed": 28},
    "delta_ap": {
        "classification": 0.0, "localisation": 0.02911494505141761, "both": 0.0, "duplicate": 0.07045844574213952,
        "background": 0.0, "missed": 0.2475290921382645,
    },
}  # fmt: skip
"""What tidecv 1.0.1 says of the masks of `l_shapes` under ``TIDE.MASK``, the costs divided by 100."""


def test_the_six_types_follow_the_outlines(tmp_path: Path) -> None:
    # All boxes are equal. Outlines: the same; the opposite halves; half of a square; the upper part of one.
    files = coco_files(tmp_path, [[LOWER], [LOWER], [SQUARE], [SQUARE]], [[LOWER], [UPPER], [LOWER], [UPPER_PART]])
    for polygons, expected in ((False, {}), (True, {"localisation": 1, "background": 1, "missed": 1})):
        for protocol in ("coco", "snapshot"):
            (evaluated,) = evaluate(protocol, files[0], [files[1]], polygons=polygons)
            errors = box_protocols()[protocol].error_types(evaluated.result)  # type: ignore[arg-type]
            counts = zip(TIDE, errors.counts.tolist(), strict=True)
            assert {name: count for name, count in counts if count} == expected
