"""Causes: which mistakes belong together, what they cost, and that nothing is counted twice or lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.dataset import join
from evaluator.matching import causes as grouping
from evaluator.matching.causes import CAUSES, Causes, Family, family_title
from evaluator.protocols import snapshot
from tests.building import Box, annotations, box, ground_truth, random_rows
from tests.sample_results import box_result

LABELS = ("Text", "Table", "Title", "Figure")


def result_of(truth: list[Box], predicted: list[Box]) -> snapshot.ThresholdResult:
    scored = [row._replace(score=row.score or 0.5) for row in predicted]
    dataset = join(ground_truth(truth, labels=LABELS), annotations(scored, labels=LABELS))
    return snapshot.pair(dataset, 0, iou_floor=snapshot.IOU_FLOOR).match().at(0.5)


def titles(truth: list[Box], predicted: list[Box]) -> list[str]:
    named_causes = result_of(truth, predicted).causes
    return sorted(named_causes.title(row) for row in range(len(named_causes)))


def lines(count: int, *, label: str = "Text", top: float = 0.1, height: float = 0.4, page: int = 0) -> list[Box]:
    step = height / count
    return [
        box(0.1, top + step * row, 0.9, top + step * row + 0.8 * step, label=label, page=page) for row in range(count)
    ]


TABLE = box(0.1, 0.1, 0.9, 0.5, label="Table")
ELSEWHERE = [box(0.1, 0.6 + 0.05 * row, 0.9, 0.63 + 0.05 * row, label="Text") for row in range(5)]


class TestRules:
    def test_a_table_read_as_lines_is_one_event(self) -> None:
        named_causes = result_of([TABLE, *ELSEWHERE], [*lines(22), *ELSEWHERE]).causes
        assert len(named_causes) == 1
        assert named_causes.title(0) == "Table read as 22 Text boxes"
        assert named_causes.families[0] == Family("parts", "", "Table", "Text")
        assert named_causes.boxes.tolist() == [23]

    def test_whatever_the_lines_are_called(self) -> None:
        mixed = [*lines(4), *lines(3, label="Title", top=0.12, height=0.3)]
        assert titles([TABLE, *ELSEWHERE], [*mixed, *ELSEWHERE]) == ["Table read as 7 boxes"]

    def test_a_box_beside_the_table_is_not_part_of_it(self) -> None:
        beside = box(0.1, 0.52, 0.9, 0.57, label="Title")
        assert titles([TABLE, *ELSEWHERE], [*lines(3), beside, *ELSEWHERE]) == [
            "Extra Title",
            "Table read as 3 Text boxes",
        ]

    def test_several_boxes_read_as_one(self) -> None:
        one = box(0.1, 0.1, 0.9, 0.5, label="Figure")
        assert titles([*lines(5), *ELSEWHERE], [one, *ELSEWHERE]) == ["5 Text boxes read as one Figure"]

    def test_a_page_without_predictions(self) -> None:
        truth = [*lines(4), box(0.1, 0.1, 0.5, 0.5, page=1, label="Text")]
        assert titles(truth, truth[4:]) == ["Whole page missed, 4 boxes"]
        assert titles(truth[2:], truth[4:]) == ["Missed Text", "Missed Text"], "two boxes are not a page"

    def test_a_page_without_ground_truth(self) -> None:
        here = [box(0.1, 0.1, 0.5, 0.5, page=1, label="Text")]
        assert titles(here, [*here, *lines(3)]) == ["3 boxes on a page without ground truth"]

    def test_a_shifted_page(self) -> None:
        truth = [*lines(4, height=0.3), *ELSEWHERE]
        moved = [row._replace(xyxy=tuple(np.add(row.xyxy, (0.0, 0.045, 0.0, 0.045)).tolist())) for row in truth]
        named_causes = result_of(truth, moved).causes
        assert named_causes.families[0].cause == "shifted"
        assert named_causes.title(0) == f"Page shifted, {named_causes.counts[0][0]} boxes"
        assert named_causes.counts[0][0] >= 4

    def test_label_mix_ups_of_one_pair_are_one_cause_of_a_page(self) -> None:
        titles_ = [row._replace(label="Title") for row in ELSEWHERE]
        assert titles(ELSEWHERE[:3], titles_[:3]) == ["Text taken for Title, 3 times"]
        other = [ELSEWHERE[3]._replace(page=1)]
        assert titles([*ELSEWHERE[:2], *other], [*titles_[:2], other[0]._replace(label="Figure")]) == [
            "Text taken for Figure",
            "Text taken for Title, 2 times",
        ]

    def test_cuts_of_one_side_are_one_cause(self) -> None:
        cut = [row._replace(xyxy=(*row.xyxy[:2], 0.3, row.xyxy[3])) for row in ELSEWHERE[:3]]
        assert titles(ELSEWHERE[:3], cut) == ["Text cut off, right, 3 times"]

    def test_nothing_wrong(self) -> None:
        named_causes = result_of(ELSEWHERE, ELSEWHERE).causes
        assert (len(named_causes), named_causes.alike, len(named_causes.on_page(0))) == (0, {}, 0)


class TestSums:
    @pytest.mark.parametrize("seed", range(12))
    def test_each_mistake_has_exactly_one_cause_and_boxes_add_up(self, seed: int) -> None:
        rows = random_rows(seed)
        dataset = join(ground_truth(rows[0]), annotations(rows[1]))
        result = snapshot.pair(dataset, 0, iou_floor=snapshot.IOU_FLOOR).match().at(0.5)
        self.check(result.causes, result)

    @pytest.mark.parametrize("model", [0, 1])
    def test_on_the_sample(self, model: int) -> None:
        result = box_result(model)
        named_causes = result.causes
        self.check(named_causes, result)
        assert len(named_causes) < 0.6 * len(result.mistakes)

    @staticmethod
    def check(grouped: Causes, result: snapshot.ThresholdResult) -> None:
        mistakes = result.mistakes
        members = np.concatenate([*grouped.rows, np.empty(0, dtype=np.int64)])
        assert sorted(members.tolist()) == list(range(len(mistakes)))
        for cause, rows in enumerate(grouped.rows):
            assert (grouped.of_mistake[rows] == cause).all()
            assert (mistakes.page[rows] == grouped.page[cause]).all()
            assert grouped.families[cause].cause in CAUSES
        assert int(mistakes.wrong_boxes.sum()) == int(result.micro.mistakes[0])
        named = int((mistakes.of_truth >= 0).sum() + (mistakes.of_prediction >= 0).sum())
        assert int(grouped.boxes.sum()) == named == int(result.micro.mistakes[0])
        assert sum(len(rows) for rows in grouped.alike.values()) == len(grouped)


def test_the_tables_of_the_sample_read_as_lines_are_like_each_other() -> None:
    named_causes = box_result().causes
    family, rows = next(iter(named_causes.alike.items()))
    assert family == Family("parts", "", "Table", "")
    assert family_title(family) == "Table read as several boxes"
    assert len(rows) == 8
    assert named_causes.more_like(int(rows[0])) == 7
    costs = named_causes.boxes[rows].tolist()
    assert costs == sorted(costs, reverse=True)
    assert named_causes.title(int(rows[0])) == "Table read as 14 boxes"


@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(0, 12))
def test_what_lies_in_what_of_its_page(seed: int, wholes: int, boxes: int) -> None:
    rng = np.random.default_rng(seed)

    def side(count: int) -> grouping._Boxes:
        low = rng.integers(0, 6, (count, 2)) / 8.0
        rows, page = np.arange(count), np.sort(rng.integers(0, 2, count))
        return grouping._Boxes(rows, rows, page, np.hstack([low, low + rng.integers(0, 4, (count, 2)) / 8.0]), rows)

    whole, box = side(wholes), side(boxes)
    inside = grouping._inside(whole, box)
    for at in range(wholes):
        low, high = whole.xyxy[at, :2], whole.xyxy[at, 2:]
        shares = np.maximum(np.minimum(box.xyxy[:, 2:], high) - np.maximum(box.xyxy[:, :2], low), 0.0).prod(axis=1)
        areas = (box.xyxy[:, 2:] - box.xyxy[:, :2]).prod(axis=1)
        lying = (box.page == whole.page[at]) & (areas > 0.0) & (0.75 * areas <= shares)
        assert inside.of(at).tolist() == np.flatnonzero(lying).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_a_page_has_the_causes_that_it_has_alone(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules look at one page at a time, although they are applied to all pages at once, in pieces of some pairs."""
    monkeypatch.setattr(grouping, "_AT_ONCE", (1, 7, 60, 1 << 20)[seed])
    rng = np.random.default_rng(seed)

    def boxes(count: int) -> list[Box]:
        low, size = rng.integers(0, 12, (count, 2)) / 16.0, rng.integers(1, 9, (count, 2)) / 16.0
        labels, pages = rng.integers(0, 3, count), rng.integers(0, 6, count)
        return [
            box(*corner, *(corner + extent), label=LABELS[label], page=page, score=score)
            for corner, extent, label, page, score in zip(
                low, size, labels.tolist(), pages.tolist(), rng.random(count), strict=True
            )
        ]

    truth = [each for each in boxes(40) if each.page != 1]
    moved = [each._replace(page=5, xyxy=tuple(np.add(each.xyxy, 0.02).tolist())) for each in truth if each.page == 4]
    predicted = [*(each for each in boxes(50) if each.page not in (2, 5)), *moved]
    truth = [*(each for each in truth if each.page != 5), *(each._replace(page=5) for each in truth if each.page == 4)]

    def of(rows: tuple[list[Box], list[Box]], page: int) -> list[tuple[Family, int, list[int]]]:
        grouped = result_of(*rows).causes
        here = np.flatnonzero(grouped.page == (page if rows[0] is truth else 0))
        return [
            (grouped.families[each], int(grouped.boxes[each]), grouped.counts[each].tolist()) for each in here.tolist()
        ]

    for page in range(6):
        alone = tuple([each._replace(page=0) for each in side if each.page == page] for side in (truth, predicted))
        if all(alone):
            assert of((truth, predicted), page) == of((alone[0], alone[1]), page)
