"""The fields behind each number: links, problems, pages, the table of field types, and what the viewer draws.

One document is worked out on paper; random ones are checked against plain loops over the rows.
"""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.components.viewer.fields import POINTS, SHARES, UNITS, Paper, page_data, strip, unit_of, value_text
from evaluator.data.fields import FieldDocuments
from evaluator.formats.fields import FORMAT
from evaluator.metrics.confidence import BINS
from evaluator.protocols.fields.drill_down import BIN, LEAST_SURE, LINKS, VALUE_BOX, FieldPages, linked_rows, problems
from evaluator.protocols.fields.evaluation import ALL_FIELDS, STATUSES, FieldsResult, evaluate, score
from evaluator.protocols.fields.field_types import CURVE_IOU, ap_curves, type_rows
from pages.views.fields.field_results import MIXED
from tests.building import read_by_browser

seeds = st.integers(0, 10**6)


def side(name: str, documents: dict[str, Any]) -> FieldDocuments:
    lines = [json.dumps({"doc_id": doc_id, "fields": fields}) for doc_id, fields in documents.items()]
    return FORMAT.read("\n".join(lines).encode(), f"{name}.jsonl")


def rich(value: Any, box: Any = None, *, page: int = 0, confidence: float | None = None) -> dict[str, Any]:
    """A rich value; what is None is left out."""
    more = {"_bbox": box, "_page": page or None, "_confidence": confidence}
    return {"_value": value, **{key: each for key, each in more.items() if each is not None}}


# One field for each thing that can happen; boxes are shares of the page.
BOX, OTHER = [0.1, 0.1, 0.5, 0.2], [0.1, 0.1, 0.5, 0.156]  # IoU 0.56
FAR = [0.6, 0.6, 0.9, 0.7]
TRUTH = {
    "hit": rich("Acme", BOX),
    "wrong": rich("Acme Corporation", BOX),
    "low": rich("12 March", BOX),
    "low_wrong": rich("first", BOX),
    "missed": rich("gone", FAR, page=1),
    "boxless": rich("text", FAR),
    "no_box": rich("plain"),
    "turned": rich("leaf", BOX),
}
PREDICTED = {
    "hit": rich("Acme", BOX, confidence=0.95),
    "wrong": rich("Umbrella Ltd", BOX, confidence=0.8),
    "low": rich("12 March", OTHER, confidence=0.7),
    "low_wrong": rich("second", FAR, confidence=0.05),
    "boxless": rich("text", confidence=1.0),
    "no_box": rich("other"),
    "turned": rich("leaf", BOX, page=2, confidence=0.6),
    "made_up": rich("x", FAR, confidence=0.3),
}


@pytest.fixture(scope="module")
def result() -> FieldsResult:
    return evaluate(side("truth", {"d": TRUTH}), side("model", {"d": PREDICTED}))


@pytest.fixture(scope="module")
def pages(result: FieldsResult) -> FieldPages:
    return FieldPages(result.compared)


def names(result: FieldsResult, rows: Any) -> set[str]:
    compared = result.compared
    return {compared.truth_path[row] or compared.prediction_path[row] or "" for row in rows.tolist()}


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("true_positive", {"hit", "wrong"}),
        ("below_threshold", {"low", "low_wrong", "turned"}),
        ("missed", {"missed", "boxless"}),
        ("spurious", {"made_up"}),
        ("ground_truth", {"hit", "wrong", "low", "low_wrong", "missed", "boxless", "turned"}),
        ("predictions", {"hit", "wrong", "low", "low_wrong", "turned", "made_up"}),
        ("problems", {"wrong", "low", "low_wrong", "missed", "boxless", "no_box", "turned", "made_up"}),
        ("value_right_box_right", {"hit"}),
        ("value_right_box_wrong", {"low", "turned"}),
        ("value_wrong_box_right", {"wrong"}),
        ("value_wrong_box_wrong", {"low_wrong"}),
        ("bin_0", {"low_wrong"}),
        ("bin_3", {"made_up"}),
        ("bin_6", {"turned"}),
        ("bin_9", {"hit", "boxless"}),
        ("bin_2", set()),
    ],
)
def test_every_link_opens_its_fields(result: FieldsResult, link: str, expected: set[str]) -> None:
    assert names(result, linked_rows(result, link, iou=0.6)) == expected


def test_a_link_follows_its_threshold_and_its_class(result: FieldsResult) -> None:
    for link, chosen, expected in (
        ("true_positive", {"iou": 0.5}, {"hit", "wrong", "low"}),
        ("value_right_box_wrong", {"iou": 0.5}, {"turned"}),
        ("problems", {"iou": 0.6, "label": "low"}, {"low"}),
        ("problems", {"iou": 0.6, "label": "nobody has it"}, set()),
        (LEAST_SURE, {"iou": 0.6, "label": "hit", "budget": 1.0}, {"hit"}),
    ):
        assert names(result, linked_rows(result, link, **chosen)) == expected


def test_the_least_sure_come_in_their_order(result: FieldsResult) -> None:
    compared = result.compared
    rows = linked_rows(result, LEAST_SURE, iou=0.6, budget=0.5)  # 3 of 7
    assert [compared.prediction_path[row] for row in rows] == ["low_wrong", "made_up", "turned"]
    assert len(linked_rows(result, LEAST_SURE, iou=0.6, budget=0.01)) == 1


def test_a_link_that_makes_no_sense_is_refused(result: FieldsResult) -> None:
    with pytest.raises(ValueError, match="the linked number must be one of problems, "):
        linked_rows(result, "nowhere", iou=0.5)
    with pytest.raises(ValueError, match="the least sure fields need a budget"):
        linked_rows(result, LEAST_SURE, iou=0.5)


def random_sides(seed: int, documents: int = 4) -> tuple[FieldDocuments, FieldDocuments]:
    rng = np.random.default_rng(seed)

    def leaf(*, sure: bool) -> Any:
        if rng.random() < 0.15:
            return str(rng.integers(3))
        x, y = rng.integers(0, 8, 2) / 10
        box = [float(x), float(y), float(x) + 0.2, float(y) + 0.1] if rng.random() < 0.85 else None
        value = None if rng.random() < 0.1 else str(rng.integers(3))
        confidence = float(rng.integers(0, 11)) / 10 if sure and rng.random() < 0.9 else None
        return rich(value, box, page=int(rng.integers(0, 3)), confidence=confidence)

    def tree(*, sure: bool) -> dict[str, Any]:
        fields: dict[str, Any] = {name: leaf(sure=sure) for name in "abc" if rng.random() < 0.8}
        fields["address"] = {name: leaf(sure=sure) for name in ("street", "town") if rng.random() < 0.8}
        fields["items"] = [{"text": leaf(sure=sure), "sum": leaf(sure=sure)} for _ in range(rng.integers(0, 4))]
        return fields

    truth = {f"d{number}": tree(sure=False) for number in range(documents)}
    predicted = {f"d{number}": tree(sure=True) for number in range(documents)}
    return side("truth", truth), side("model", predicted)


@given(seeds, st.sampled_from([0.1, 0.5, 0.75]))
def test_links_hold_what_their_numbers_count(seed: int, iou: float) -> None:
    result = evaluate(*random_sides(seed))
    columns = {name: name for name in ("true_positive", "below_threshold", "missed", "spurious")}
    columns |= {"ground_truth": "num_gt", "predictions": "num_detections"}
    for row in type_rows({"A": result}, "A", iou=iou):
        label = None if row.label == ALL_FIELDS else row.label
        for link, column in columns.items():
            assert len(linked_rows(result, link, iou=iou, label=label)) == getattr(row, column), (link, label)
    cells = result.value_by_box(iou)
    wanted = {link: cells[link.split("_box_")[0]]["box_" + link.split("_box_")[1]] for link in VALUE_BOX}
    wanted |= {f"{BIN}{at}": count for at, count in enumerate(result.confidence().calibration.count.tolist())}
    assert {link: len(linked_rows(result, link, iou=iou)) for link in wanted} == wanted


@given(seeds)
def test_problems_are_the_wrong_boxes_and_the_wrong_values(seed: int) -> None:
    result = evaluate(*random_sides(seed))
    wrong = problems(result, 0.5)
    compared, status = result.compared, result.status(0.5)
    for row in range(len(compared)):
        box = STATUSES[status[row]] in ("below threshold", "missed", "spurious")
        assert wrong[row] == (box or bool(compared.is_field[row] and not compared.right[row]))


@given(seeds)
def test_every_row_lies_on_its_pages(seed: int) -> None:
    result = evaluate(*random_sides(seed))
    pages, compared = FieldPages(result.compared), result.compared
    counts = pages.counts(np.arange(len(compared)))
    expected: dict[tuple[int, int], int] = {}
    for row in range(len(compared)):
        here = {field.page for field in (compared.truth[row], compared.predicted[row]) if field and field.has_box}
        for page in here or {0}:
            key = int(compared.document[row]), page
            expected[key] = expected.get(key, 0) + 1
    assert counts == expected
    assert set(pages.order(counts)) == set(pages.every)
    ordered = [counts.get(page, 0) for page in pages.order(counts)]
    assert ordered == sorted(ordered, reverse=True)
    assert pages.order(counts, only=True) == [page for page in pages.order(counts) if counts.get(page)]
    assert pages.order(counts, document=0) == sorted(page for page in pages.every if page[0] == 0)
    on_pages = {int(row) for page in pages.every for row in pages.rows_on(*page)}
    assert on_pages == set(np.flatnonzero(compared.is_field | compared.has_truth | compared.has_prediction).tolist())


def test_the_table_of_field_types_on_paper(result: FieldsResult) -> None:
    rows = {row.label: row for row in type_rows({"A": result}, "A", iou=0.6)}
    assert next(iter(rows)) == ALL_FIELDS
    assert set(rows) - {ALL_FIELDS} == {*TRUTH, "made_up"} - {"no_box"}
    low = rows["low"]
    assert (low.ap_at, low.ap_50, low.ap_75, low.mean_iou) == pytest.approx((0.0, 1.0, 0.0, 0.56))
    assert (low.num_gt, low.num_detections, low.true_positive, low.below_threshold) == (1, 1, 0, 1)
    assert low.ap == {"A": pytest.approx(0.2)}
    made_up, missed = rows["made_up"], rows["missed"]
    assert (made_up.ap["A"], made_up.ap_at, made_up.mean_iou, made_up.spurious) == (None, None, 0.0, 1)
    assert (missed.ap, missed.mean_iou) == ({"A": 0.0}, None)
    whole = rows[ALL_FIELDS]
    assert (whole.num_gt, whole.num_detections) == (7, 6)
    assert (whole.true_positive, whole.below_threshold, whole.missed, whole.spurious) == (2, 3, 2, 1)
    assert whole.ap["A"] == result.mean_ap


def test_two_models_share_the_rows(result: FieldsResult) -> None:
    other = evaluate(side("truth", {"d": TRUTH}), side("other", {"d": {"extra": rich("y", FAR)}}))
    rows = {row.label: row for row in type_rows({"A": result, "B": other}, "A", iou=0.5)}
    assert (rows["extra"].ap, rows["extra"].num_detections) == ({"A": None, "B": None}, 0)
    assert rows["hit"].ap == pytest.approx({"A": 1.0, "B": 0.0})
    of_other = {row.label: row for row in type_rows({"A": result, "B": other}, "B", iou=0.5)}
    assert of_other["extra"].num_detections == 1
    assert [row.label for row in of_other.values()] == [row.label for row in rows.values()]


@given(seeds, st.sampled_from([0.3, 0.5, 0.75, 0.9]))
def test_the_table_agrees_with_the_protocol(seed: int, iou: float) -> None:
    result = evaluate(*random_sides(seed))
    plain = result.to_json()["fields"]
    for row in type_rows({"A": result}, "A", iou=iou)[1:]:
        theirs = plain[row.label]
        assert (row.ap["A"], row.ap_50, row.ap_75) == (theirs["ap"], theirs["ap_50"], theirs["ap_75"])
        assert (row.num_gt, row.num_detections) == (theirs["num_gt"], theirs["num_detections"])
        assert (row.mean_iou or 0.0) == theirs["mean_iou"]
        assert row.num_gt == row.true_positive + row.below_threshold + row.missed


@given(seeds)
def test_curves_are_ap_at_each_threshold(seed: int) -> None:
    result = evaluate(*random_sides(seed))
    curves = ap_curves(result)
    assert curves.iou == CURVE_IOU
    at = {threshold: score(result.compared, iou=threshold) for threshold in (0.25, 0.5, 0.8)}
    for threshold, rescored in at.items():
        column = CURVE_IOU.index(threshold)
        for label, curve in curves.of_class.items():
            assert curve[column] == rescored.to_json()["fields"][label]["ap"]
        mean = rescored.mean_ap
        assert (mean is None and math.isnan(curves.mean[column])) or curves.mean[column] == pytest.approx(mean)


def test_curves_of_nothing_are_undefined() -> None:
    curves = ap_curves(evaluate(side("truth", {"d": {}}), side("model", {"d": {"a": rich(1, BOX)}})))
    assert (curves.of_class, np.isnan(curves.mean).all()) == ({}, True)


def drawn(result: FieldsResult, pages: FieldPages, page: int = 0, **options: Any) -> dict[str, Any]:
    return read_by_browser(page_data(result, pages, Paper(0, page, (600.0, 800.0), SHARES), iou=0.6, **options))


def drawn_alone(result: FieldsResult, size: tuple[float, float] | None, unit: str) -> dict[str, Any]:
    return read_by_browser(page_data(result, FieldPages(result.compared), Paper(0, 0, size, unit), iou=0.5))


def test_boxes_have_the_status_of_their_field(result: FieldsResult, pages: FieldPages) -> None:
    data = drawn(result, pages)
    boxes = {(box["label"], box["side"]): box for box in data["boxes"]}
    # The prediction of the turned one is on page 3.
    for of, status, labels in (
        ("prediction", "TP", {"hit", "wrong"}),
        ("prediction", "FP", {"low", "low_wrong", "made_up"}),
        ("ground_truth", "truth", {"hit", "wrong"}),
        ("ground_truth", "FN", {"low", "low_wrong", "boxless", "turned"}),
    ):
        assert {label for (label, on), box in boxes.items() if (on, box["status"]) == (of, status)} == labels
    assert data["counts"] == {"TP": 2, "FP": 3, "FN": 4, "ground_truth": 6, "predictions": 5}
    hit = boxes["hit", "prediction"]
    assert (hit["partner"], hit["score"], hit["iou"], hit["source"]) == (
        boxes["hit", "ground_truth"]["key"], 0.95, pytest.approx(1.0), "model.jsonl, d, $.hit",
    )  # fmt: skip
    low = boxes["low", "prediction"]
    assert (low["iou"], low["coverage"], low["purity"]) == pytest.approx((0.56, 0.56, 1.0))
    assert low["mistake"] == boxes["low", "ground_truth"]["mistake"]


def test_problems_say_what_is_wrong(result: FieldsResult, pages: FieldPages) -> None:
    mistakes = {each["label"]: each for each in drawn(result, pages)["mistakes"]}
    assert {label: each["title"] for label, each in mistakes.items()} == {
        "wrong": "Wrong value", "low": "Box too far off", "low_wrong": "Box too far off, wrong value",
        "boxless": "Missed", "no_box": "Wrong value", "turned": "Box too far off", "made_up": "Extra",
    }  # fmt: skip
    assert mistakes["wrong"]["lines"] == [
        "predicted “Umbrella Ltd”", "ground truth “Acme Corporation”", "IoU 1.00 · confidence 0.80",
    ]  # fmt: skip
    assert mistakes["boxless"]["lines"][-1] == "confidence 1.00 · predicted without a box"
    assert mistakes["turned"]["lines"][-1] == "IoU 0.00 · confidence 0.60 · on page 3 instead of page 1"
    assert mistakes["made_up"]["lines"][:2] == ["predicted “x”", "no such field in the ground truth"]
    assert mistakes["no_box"]["keys"] == []
    assert (mistakes["low"]["tags"], mistakes["wrong"]["tags"]) == (["FP", "FN"], ["TP"])
    assert max(mistakes, key=lambda label: mistakes[label]["number"]) == "no_box"


def test_other_pages_have_their_own_boxes(result: FieldsResult, pages: FieldPages) -> None:
    second, third = drawn(result, pages, 1), drawn(result, pages, 2)
    assert [(box["label"], box["status"]) for box in second["boxes"]] == [("missed", "FN")]
    assert [(box["label"], box["status"]) for box in third["boxes"]] == [("turned", "FP")]
    assert second["mistakes"][0]["lines"] == ["nothing predicted", "ground truth “gone”"]
    assert drawn(result, pages, 7)["boxes"] == []


def test_the_list_keeps_the_chosen_fields(result: FieldsResult, pages: FieldPages) -> None:
    data = drawn(result, pages, kept=linked_rows(result, "below_threshold", iou=0.6))
    assert {each["label"] for each in data["mistakes"]} == {"low", "low_wrong", "turned"}
    assert data["hidden_mistakes"] == 4
    assert {box["label"] for box in data["boxes"] if box.get("faded")} == {"wrong", "boxless", "made_up"}
    assert drawn(result, pages)["hidden_mistakes"] == 0


def test_the_strip_counts_what_is_behind_the_number(result: FieldsResult, pages: FieldPages) -> None:
    counts = pages.counts(linked_rows(result, "missed", iou=0.6))
    entries = read_by_browser(strip(result, pages, pages.order(counts), 1, counts=counts))
    assert [(entry["document"], entry["index"], entry["mistakes"], entry["current"]) for entry in entries] == [
        ("d", 0, 1, False), ("d", 1, 1, True), ("d", 2, 0, False),
    ]  # fmt: skip
    assert entries[1]["blocks"] == [[0.6, 0.6, 0.9, 0.7, "Text"]]


@pytest.mark.parametrize(("unit", "per_inch"), [(POINTS, 72), ("150dpi", 150), ("300dpi", 300)])
def test_boxes_in_other_units_lie_on_the_same_place(unit: str, per_inch: int) -> None:
    width, height = 600.0, 800.0
    scaled = [share * side / 72 * per_inch for share, side in zip(BOX, (width, height) * 2, strict=True)]
    truth = side("truth", {"d": {"a": rich("x", scaled)}})
    result = evaluate(truth, truth)
    assert unit_of(result) == POINTS
    data = drawn_alone(result, (width, height), unit)
    assert (data["boxes"][0]["xyxy"], data["notes"]) == (pytest.approx(BOX), [])
    unknown = drawn_alone(result, None, unit)
    assert unknown["boxes"] == []
    assert unknown["notes"] == [
        "The size of the page is not known, so boxes that are not shares of the page cannot be drawn."
    ]


def test_a_wrong_unit_is_noticed() -> None:
    truth = side("truth", {"d": {"a": rich("x", [1200, 900, 1500, 950]), "b": rich("y", [10, 10, 50, 20])}})
    result = evaluate(truth, truth)
    assert drawn_alone(result, (595.0, 842.0), POINTS)["notes"] == [
        "2 of 4 boxes reach beyond the page when read as points."
    ]
    assert set(UNITS) == {"shares", "points", "96dpi", "100dpi", "150dpi", "200dpi", "300dpi"}


def test_shares_are_told_from_everything_else(result: FieldsResult) -> None:
    assert unit_of(result) == SHARES
    assert unit_of(evaluate(side("truth", {"d": {}}), side("model", {"d": {}}))) == SHARES


def test_a_malformed_box_is_said_and_not_drawn() -> None:
    truth = side("truth", {"d": {"a": rich("x", BOX)}})
    predicted = side("model", {"d": {"a": rich("x", [0.1, 0.2, 0.3], confidence=0.5)}})
    data = drawn_alone(evaluate(truth, predicted), None, SHARES)
    assert [box["side"] for box in data["boxes"]] == ["ground_truth"]
    assert data["mistakes"][0]["lines"][-1] == "IoU 0.00 · confidence 0.50 · malformed box in the prediction"
    assert data["notes"] == ["1 of 2 boxes of this page are malformed and cannot be drawn."]


def test_values_are_shown_as_text() -> None:
    values = "plain", 3, None, True, ["a", 1], "x" * 80
    assert [value_text(value) for value in values] == ["plain", "3", "null", "true", '["a", 1]', "x" * 59 + "…"]


@given(seeds)
def test_pages_together_draw_every_box_once(seed: int) -> None:
    result = evaluate(*random_sides(seed))
    pages = FieldPages(result.compared)
    totals = dict.fromkeys(("TP", "FP", "FN", "ground_truth", "predictions"), 0)
    keys: list[tuple[int, str]] = []
    listed = {link: linked_rows(result, link, iou=0.5) for link in ("problems", "missed", *MIXED, *VALUE_BOX)}
    for code, page in pages.every:
        paper = Paper(code, page, None, SHARES)
        for rows in listed.values():
            kept = page_data(result, pages, paper, iou=0.5, kept=rows).mistakes
            assert len(kept) == pages.counts(rows).get((code, page), 0)
        data = read_by_browser(page_data(result, pages, paper, iou=0.5))
        keys += [(code, box["key"]) for box in data["boxes"]]
        for name in totals:
            totals[name] += data["counts"][name]
        numbers = [each["number"] for each in data["mistakes"]]
        assert numbers == list(range(1, len(numbers) + 1))
        for each in data["mistakes"]:
            assert all(box["mistake"] == each["number"] for box in data["boxes"] if box["key"] in each["keys"])
    counts = result.overall(0.5)
    assert len(keys) == len(set(keys)) == totals["ground_truth"] + totals["predictions"]
    assert totals["TP"] == counts.true_positive[0]
    assert totals["FP"] == counts.below_threshold[0] + counts.spurious[0]
    assert totals["FN"] == counts.below_threshold[0] + counts.missed[0]


def test_every_link_has_a_name() -> None:
    assert len(set(LINKS.values())) == len(LINKS) == 12 + BINS
