"""Boxes behind a number: the class confusion adds up, every cell has its boxes, and every item is found once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.dataset import join
from evaluator.matching.box_items import (
    BACKGROUND,
    MATCHED,
    Query,
    Selection,
    class_confusion,
    in_cell,
    in_query,
    in_selection,
    items,
    query_text,
    with_fit,
)
from evaluator.matching.error_types import DOCUMENT
from evaluator.protocols.coco.matching import pair as coco_pair
from evaluator.protocols.pod.evaluation import pair as pod_pair
from evaluator.protocols.snapshot.evaluation import ThresholdResult, pair
from tests.building import annotations, box, ground_truth, random_rows

TRUTH = [
    box(0.0, 0.0, 0.4, 0.2),
    box(0.0, 0.5, 0.4, 0.7),
    box(0.5, 0.0, 0.9, 0.2, label="Table"),
    box(0.5, 0.5, 0.9, 0.9, label="Table", page=1),
]
PREDICTED = [
    box(0.0, 0.0, 0.4, 0.2, score=0.9),
    box(0.0, 0.5, 0.4, 0.7, label="Table", score=0.8),
    box(0.5, 0.6, 0.6, 0.7, label="Figure", score=0.3),
    box(0.5, 0.5, 0.9, 0.9, label="Table", page=1, score=0.6),
]


def result_of(truth: list, predicted: list, *, iou: float = 0.5, **options: object) -> ThresholdResult:
    return pair(join(ground_truth(truth), annotations(predicted))).match(**options).at(iou)


HAND = result_of(TRUTH, PREDICTED)
EVERY = items(HAND)


def test_the_confusion_by_hand() -> None:
    confusion = class_confusion(HAND)
    assert confusion.labels == ("Figure", "Table")
    # A figure found, a figure called Table, a table missed, a table found, a figure invented.
    assert confusion.counts.tolist() == [[1, 1, 0], [0, 1, 1], [1, 0, 0]]
    tables = class_confusion(result_of(TRUTH, PREDICTED, labels=("Table",)))
    assert (tables.labels, tables.counts.tolist()) == (("Table",), [[1, 1], [1, 0]])


def test_items_by_hand() -> None:
    names = [MATCHED if kind == MATCHED else DOCUMENT[kind] for kind in EVERY.kind]
    assert names == [MATCHED, "missed", "wrong_class", "invented", MATCHED]
    columns = (EVERY.page, EVERY.truth, EVERY.prediction)
    assert [column.tolist() for column in columns] == [[0, 0, 0, 0, 1], [0, 2, 1, -1, 3], [0, -1, 1, 2, 3]]
    assert (EVERY.prediction_label[1], EVERY.truth_label[3]) == (BACKGROUND, BACKGROUND)
    assert EVERY.score.tolist() == pytest.approx([0.9, np.nan, 0.8, 0.3, 0.6], nan_ok=True)
    assert EVERY.iou.tolist() == pytest.approx([1.0, np.nan, 1.0, np.nan, 1.0], nan_ok=True)
    assert EVERY.size.tolist() == pytest.approx([0.08, 0.08, 0.08, 0.01, 0.16])


@pytest.mark.parametrize(
    ("row", "column", "places"),
    [
        ("Figure", "Figure", [0]),
        ("Figure", "Table", [2]),
        ("Table", None, [1]),
        ("Table", "Table", [4]),
        (None, "Figure", [3]),
        (None, None, []),
        ("Table", "Figure", []),
    ],
)
def test_the_boxes_of_a_cell_by_hand(row: str | None, column: str | None, places: list[int]) -> None:
    assert np.flatnonzero(in_selection(EVERY, in_cell(HAND, row, column))).tolist() == places


def test_ranges_by_hand() -> None:
    assert np.flatnonzero(with_fit(EVERY, iou=(0.9, 1.0), coverage=(1.0, 1.0))).tolist() == [0, 2, 4]
    with pytest.raises(ValueError, match=r"^width is none of iou, coverage, purity$"):
        with_fit(EVERY, width=(0.0, 1.0))
    with pytest.raises(ValueError, match="not in tuple"):
        in_cell(HAND, "Chart", None)


@pytest.mark.parametrize("protocol", [pair, coco_pair, pod_pair], ids=["snapshot", "coco", "pod"])
@given(
    seed=st.integers(0, 10**6), iou=st.sampled_from([0.1, 0.5, 0.75]), score=st.sampled_from([0.0, 0.4]),
    labels=st.sampled_from([None, ("Table",)]),
)  # fmt: skip
def test_the_confusion_adds_up_and_every_cell_has_its_boxes(
    protocol: Callable[..., Any], seed: int, iou: float, score: float, labels: Any
) -> None:
    truth, predicted = random_rows(seed)
    iou = max(iou, 0.5) if protocol is coco_pair else iou
    result = protocol(join(ground_truth(truth), annotations(predicted))).match(min_score=score, labels=labels).at(iou)
    every, confusion = items(result), class_confusion(result)
    counts, per_label, names = confusion.counts, result.per_label, [*confusion.labels, None]
    assert counts.dtype == np.int64
    assert (counts[:-1].sum(axis=1) == per_label.tp + per_label.fn).all()
    assert (counts[:, :-1].sum(axis=0) == per_label.tp + per_label.fp).all()
    assert (counts.diagonal()[:-1] == per_label.tp).all()
    assert counts[-1, -1] == 0
    wrong = int(result.mistakes.counts[DOCUMENT.index("wrong_class")])
    assert counts[:-1, :-1].sum() - per_label.tp.sum() == wrong
    seen = np.zeros(len(every), dtype=int)
    for row, column in np.ndindex(counts.shape):
        pick = in_cell(result, names[row], names[column])
        assert (pick.prediction if names[row] is None else pick.truth).sum() == counts[row, column]
        kept = in_selection(every, pick)
        assert kept.any() == (counts[row, column] > 0)
        seen += kept
    assert (seen > 0).all()
    assert (every.kind == MATCHED).sum() == len(result.matches) == len(every) - len(result.mistakes)
    assert (np.diff(every.page) >= 0).all()


@pytest.mark.parametrize(
    ("question", "places", "words"),
    [
        (Query(), [0, 1, 2, 3, 4], "All boxes"),
        (Query(cell=("Figure", "Table")), [2], "Figure predicted as Table"),
        (Query(cell=(None, "Figure")), [3], "background predicted as Figure"),
        (Query(name="missed"), [1], "Missed"),
        (Query(score=(0.6, 0.8)), [2, 4], "score 0.60 to 0.80"),
        (Query(name="matched", score=(0.7, 1.0)), [0], "Matched, score 0.70 to 1.00"),
        (Query(iou=(0.5, 1.0), purity=(0.0, 0.5)), [], "IoU 0.50 to 1.00, purity 0.00 to 0.50"),
    ],
)
def test_questions_by_hand(question: Query, places: list[int], words: str) -> None:
    assert np.flatnonzero(in_query(EVERY, question)).tolist() == places
    assert query_text(question) == words


def test_nothing_gives_nothing() -> None:
    result = result_of([], [])
    every = items(result)
    assert len(every) == 0
    assert class_confusion(result).counts.sum() == 0
    assert len(in_selection(every, Selection(np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)))) == 0


@pytest.mark.parametrize("matched", [False, True])
@pytest.mark.parametrize("paired", [pair, coco_pair, pod_pair])
@pytest.mark.parametrize("seed", range(6))
def test_items_are_pairs_then_mistakes_in_a_stable_order(seed: int, paired: Callable, matched: bool) -> None:
    """By page and height, and where both are equal pairs come first, then mistakes as they are numbered."""
    # On a coarse grid, so that many middles are equal.
    truth, predicted = (
        [row for row in (row._replace(xyxy=tuple(round(4 * value) / 4 for value in row.xyxy)) for row in side)
         if row.xyxy[0] < row.xyxy[2] and row.xyxy[1] < row.xyxy[3]]
        for side in random_rows(seed)
    )  # fmt: skip
    result = paired(join(ground_truth(truth), annotations(predicted))).match().at(0.5)
    mistakes, matches = result.mistakes, result.matches
    pairs = list(zip(matches.ground_truth.tolist(), matches.prediction.tolist(), strict=True))
    firsts = zip(mistakes.first_truth.tolist(), mistakes.first_prediction.tolist(), strict=True)
    rows = [(MATCHED, -1, own, other) for own, other in (pairs if matched else ())]
    rows += [(int(mistakes.kind[at]), at, own, other) for at, (own, other) in enumerate(firsts)]
    sides = result.matching.dataset.ground_truth, result.matching.prediction

    def place(row: tuple[int, int, int, int]) -> tuple[int, float]:
        side, at = (sides[0], row[2]) if row[2] >= 0 else (sides[1], row[3])
        return int(side.page[at]), float(side.xyxy[at, 1::2].mean())

    expected = sorted(rows, key=place)
    assert len({place(row) for row in rows}) < len(rows)
    every, fits = items(result, matched=matched), dict(zip(pairs, matches.iou, strict=True))
    columns = (every.kind, every.mistake, every.truth, every.prediction)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert list(zip(every.page.tolist(), every.middle.tolist(), strict=True)) == [place(row) for row in expected]
    for at, (kind, _, own, other) in enumerate(expected):
        corners = [side.xyxy[row] for side, row in zip(sides, (own, other), strict=True) if row >= 0]
        assert every.size[at] == max((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in corners)
        assert (
            every.iou[at] == fits[own, other] if kind == MATCHED else np.isnan(every.iou[at]) == (min(own, other) < 0)
        )


@pytest.mark.parametrize(
    "name", ["truth_label", "prediction_label", "score", "iou", "coverage", "purity", "size", "middle", "page"]
)
def test_a_column_can_be_another_one(name: str) -> None:
    truth, predicted = random_rows(3)
    every = items(pair(join(ground_truth(truth), annotations(predicted))).match().at(0.5))
    column = getattr(every, name)
    other = every.with_columns(**{name: column[::-1]})
    np.testing.assert_array_equal(getattr(other, name), column[::-1])
    np.testing.assert_array_equal(getattr(other.take(np.array([3, 1])), name), column[::-1][[3, 1]])
    np.testing.assert_array_equal(getattr(every, name), column)
