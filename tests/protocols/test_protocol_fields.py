"""The fields protocol against its reference, pycocotools, a plain loop, and paper.

`tests/oracles/stickler` holds documents and what stickler-eval 1.0.0 says about them, with ``expected_seed_literal``
where its text and its code part. Files are read through the reader, as JSON lines.
"""

import itertools
import json
import math
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.fields import (
    FieldDocuments,
    Rule,
    Schema,
    box_similarity,
    class_key,
    leaves,
    natural_order,
    path_steps,
    schema_of,
)
from evaluator.formats.fields import FORMAT
from evaluator.metrics import export
from evaluator.protocols.fields.evaluation import FieldsResult, compare, evaluate, merge, score
from evaluator.protocols.fields.pairing import assign
from evaluator.protocols.fields.values import dates_of, is_right, number_of, similarities, similarity, text_similarity
from evaluator.system.version import __version__
from tests.building import field_documents

ORACLES = Path(__file__).parents[1] / "oracles" / "stickler"
CASES = sorted(path.stem for path in ORACLES.glob("[a-z]*.json"))
METRICS = ("mean_ap", "map_50", "map_75", "iou_thresholds", "fields", "coverage")
COMPARATORS = {"LevenshteinComparator": "text", "NumericComparator": "number", "ExactComparator": "exact"}
seeds = st.integers(0, 10**6)


def decoded(value: Any) -> Any:
    if isinstance(value, dict):
        if "__float__" in value:
            return float(value["__float__"])
        return {key: decoded(inner) for key, inner in value.items()}
    return [decoded(inner) for inner in value] if isinstance(value, list) else value


def oracle(name: str) -> Any:
    return decoded(json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8")))


def schema_from(model: dict[str, Any]) -> Schema:
    rules: dict[str, Rule] = {}
    thresholds: dict[str, float] = {}

    def walk(inner: dict[str, Any], path: str) -> None:
        for name, entry in inner.items():
            here = f"{path}.{name}" if path else name
            if entry["type"] == "list_structured_model":
                thresholds[here] = entry["match_threshold"]
                walk(entry["fields"], f"{here}[]")
            elif entry["type"] == "structured_model":
                walk(entry["fields"], here)
            else:
                item = f"{here}[]" if entry["type"].startswith("List[") else here
                rules[item] = Rule(COMPARATORS[entry["comparator"]], entry["threshold"])  # type: ignore[arg-type]

    walk(model["fields"], "")
    return schema_of(rules, thresholds, name="model.json", sha256="0" * 64)


def side(documents: Iterable[tuple[str, Any]], name: str = "side.jsonl") -> FieldDocuments:
    return field_documents(dict(documents), name)


def sides(case: dict[str, Any]) -> tuple[FieldDocuments, FieldDocuments]:
    trees = ({one["doc_id"]: one[key] for one in case["documents"]} for key in ("ground_truth", "prediction"))
    return field_documents(next(trees), "gt.jsonl"), field_documents(next(trees), "pred.jsonl")


def evaluated(case: dict[str, Any], **options: Any) -> FieldsResult:
    if case["iou_thresholds"] is not None:
        options = {"iou": case["iou_thresholds"], **options}
    return evaluate(*sides(case), schema=schema_from(case["model"]), **options)


def close(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: close(inner) for key, inner in tree.items()}
    if isinstance(tree, list):
        return [close(inner) for inner in tree]
    return None if tree is None else pytest.approx(tree, rel=0, abs=1e-12)


def metrics(result: FieldsResult, names: Iterable[str] = METRICS) -> dict[str, Any]:
    numbers = result.to_json()
    return {key: numbers[key] for key in names}


def test_the_oracles_are_all_there() -> None:
    assert (len(CASES), sum("expected_seed_literal" in oracle(name) for name in CASES)) == (30, 5)


@pytest.mark.parametrize("name", CASES)
def test_a_case_equals_the_reference(name: str) -> None:
    case = oracle(name)
    default, parity = evaluated(case), evaluated(case, parity="stickler")
    assert metrics(parity) == close(case["expected"]["bbox_map_metrics"])
    # The default follows the text of the documentation where the code loses boxes.
    expected = case.get("expected_seed_literal", case["expected"])["bbox_map_metrics"]
    assert metrics(default, expected) == close(expected)
    assert_observations(parity, case["expected"]["keyed_bbox_pairs"])
    assert_values(parity, case["joined_rows"])
    assert_confidence(parity, case["expected"]["confidence_metrics"])
    if "expected_seed_literal" not in case:
        # Else fields of items that the reference loses are judged too; see test_lonely_fields_are_judged.
        assert_confidence(default, case["expected"]["confidence_metrics"], empty_bins_are_missing=True)


def assert_observations(result: FieldsResult, state: dict[str, Any]) -> None:
    compared = result.compared
    ours: dict[str, list[Any]] = {}
    for row in np.flatnonzero(compared.has_truth | compared.has_prediction):
        confidence = float(compared.confidence[row])
        ours.setdefault(compared.classes[compared.field_class[row]], []).append(
            {
                "has_gt": bool(compared.has_truth[row]),
                "has_pred": bool(compared.has_prediction[row]),
                "iou": float(compared.iou[row]),
                "confidence": None if math.isnan(confidence) else confidence,
            }
        )
    expected = state["keyed_bbox_pairs"]
    for observation in itertools.chain(*expected.values()):  # NaN ranks as missing here, and is reported
        if observation["confidence"] is not None and math.isnan(observation["confidence"]):
            observation["confidence"] = None
    assert ours == close(expected)
    assert (int(compared.has_truth.sum()), len(compared)) == (state["bbox_fields_with"], state["bbox_fields_total"])


def assert_values(result: FieldsResult, joined: list[dict[str, Any]]) -> None:
    """A value is right where the reference says so."""
    compared = result.compared
    verdicts = {
        (document["doc_id"], row["expected_key"], row["actual_key"]): row["match"]
        for document in joined
        for row in document["rows"]
    }
    names = [compared.documents[code] for code in compared.document]
    for *key, right, is_field in zip(
        names, compared.truth_path, compared.prediction_path, compared.right, compared.is_field, strict=True
    ):
        assert not is_field or verdicts.get(tuple(key)) in (None, bool(right))


def assert_confidence(result: FieldsResult, expected: Any, *, empty_bins_are_missing: bool = False) -> None:
    """The numbers of confidence are those of the reference."""
    ours = result.to_json()["confidence"]
    if expected is None:
        assert (ours["auroc"], ours["brier"], ours["ece"]) == (None, None, None)
        return
    for row in ours["bins"]:
        if empty_bins_are_missing and not row["count"]:  # undefined is not zero; the reference writes 0
            assert (row["accuracy"], row["mean_confidence"]) == (None, None)
            row.update(accuracy=0.0, mean_confidence=0.0)
    budgets = ours["review_budget"]
    assert {
        "auroc": {"value": ours["auroc"]},
        "brier_score": {"value": ours["brier"]},
        "ece": {"value": ours["ece"], "bins": ours["bins"]},
        "error_capture_at_budget": {"value": budgets.get("0.30", {}).get("gain"), "budgets": budgets},
    } == close(expected["overall"])
    assert empty_bins_are_missing or ours["coverage"] == close(expected["coverage"])


@pytest.mark.parametrize("name", sorted(set(oracle("_pycocotools_crosscheck")["cases"]) & set(CASES)))
def test_the_linspace_grid_equals_pycocotools(name: str) -> None:
    expected = oracle("_pycocotools_crosscheck")["cases"][name]
    written = evaluated(oracle(name), parity="stickler", recall_grid="linspace").to_json()
    for mean in ("mean_ap", "map_50", "map_75"):
        assert written[mean] == close(expected[f"coco_{mean}"])
    for label, numbers in expected["per_class"].items():
        row = written["fields"][label]
        assert [row["ap"], row["ap_50"], row["ap_75"]] == close(numbers or [None] * 3), label


def test_the_grids_differ_where_recall_meets_a_grid_point() -> None:
    # 100 true boxes, every second prediction right: recall meets every grid point, and ten of them by one ulp.
    box, elsewhere = [0, 0, 10, 10], [50, 50, 60, 60]
    truth = [(f"d{i}", {"a": {"_value": 1, "_bbox": box}}) for i in range(100)]
    predicted = [
        (f"d{i}", {"a": {"_value": 1, "_bbox": elsewhere if i % 3 == 1 else box, "_confidence": 1 - i / 200}})
        for i in range(100)
    ]
    compared = compare(side(truth), side(predicted))
    linspace, decimal = (score(compared, iou=0.5, recall_grid=grid).mean_ap for grid in ("linspace", "decimal"))
    assert linspace != pytest.approx(decimal, rel=0, abs=1e-6)
    assert linspace == pytest.approx(decimal, rel=0, abs=1e-2)


def test_a_single_document_equals_the_reference() -> None:
    case = oracle("_single_document")
    pair = side([("d", case["ground_truth"])]), side([("d", case["prediction"])])
    for options, name in (({}, "default"), ({"iou": 0.5}, "0.5"), ({}, "no_rows_flag")):
        ours = metrics(evaluate(*pair, **options))
        assert ours == close(case["results"][name]["bbox_metrics"])
    assert ours["mean_ap"] == pytest.approx(0.6)  # not the 0.667 that the source prints


def test_merged_shards_equal_the_reference() -> None:
    merging = oracle("_state_merge")
    case = oracle(merging["source_case"])
    shards = []
    for first, last in (merging["shard_a_docs"], merging["shard_b_docs"]):
        part = {**case, "documents": case["documents"][first:last]}
        shards.append(evaluated(part, parity="stickler").compared)
    for order, name in ((shards, "merged_a_b"), (shards[::-1], "merged_b_a")):
        assert metrics(score(merge(*order))) == close(merging[name])
    other = metrics(score(merge(*shards), iou=[0.5, 0.8]))
    assert other == close(merging["same_state_other_thresholds_0.5_0.8"])
    assert metrics(evaluated(case, parity="stickler")) == close(merging["whole"])


@pytest.mark.parametrize("case", oracle("_bbox_iou_comparator")["cases"], ids=lambda c: f"{c['bbox1']}-{c['bbox2']}")
def test_boxes_compare_as_in_the_reference(case: dict[str, Any]) -> None:
    ours = box_similarity(case["bbox1"], case["bbox2"])
    assert ours == pytest.approx(case["compare"], rel=0, abs=1e-12)
    assert [int(ours >= 0.5), int(ours < 0.5)] == case["binary_at_0.5"]


def test_areas_that_overflow_have_an_iou() -> None:
    huge = [-1.7e308, -1.7e308, 1.7e308, 1.7e308]
    assert box_similarity(huge, huge) == 1.0
    assert box_similarity(huge, [0, 0, 1, 1]) == 0.0
    assert box_similarity([0, 0, 10**400, 1], [0, 0, 1, 1]) == 0.0


def test_classes_are_spelled_as_in_the_reference() -> None:
    for path, expected in oracle("_class_key").items():
        assert class_key(path) == expected
    assert path_steps("a.b[].c[][].d") == ["a", "b", "[]", "c", "[]", "[]", "d"]


def plain(tree: Any) -> Any:
    """The values of a document without what its file states about them."""
    if isinstance(tree, dict):
        return {key: plain(inner) for key, inner in tree.items()}
    return [plain(inner) for inner in tree] if isinstance(tree, list) else tree.value


@pytest.mark.parametrize("case", oracle("_rich_value"), ids=lambda case: json.dumps(case["input"])[:60])
def test_rich_values_are_read_as_in_the_reference(case: dict[str, Any]) -> None:
    documents = side([("d", case["input"])])
    tree = documents.documents["d"]
    if '"value"' in json.dumps(case["input"]) and '"confidence"' in json.dumps(case["input"]):
        # An object without _value is nested data, and a issue says so; the reference reads the old spelling.
        assert plain(tree) == case["input"]
        assert [issue.severity for issue in documents.issues] == ["warning"]
        return
    assert plain(tree) == case["value"]
    confidences = {path: field.confidence for path, field in leaves(tree) if not math.isnan(field.confidence)}
    extras = {path: dict(field.extras) for path, field in leaves(tree) if field.extras}
    assert (confidences, extras) == (case["confidences"], case["extras"])
    lonely_box = case["input"] == {"a": {"_bbox": [0, 0, 1, 1]}}  # nested data as well, and a issue on top
    assert bool(documents.issues) == (bool(case["warnings"]) or lonely_box)


def test_natural_order_counts() -> None:
    names = ["d10", "d2", "d1", "d01", "d", "e", "d2.x[10]", "d2.x[9]", "9" * 5000]
    ordered = ["9" * 5000, "d", "d01", "d1", "d2", "d2.x[9]", "d2.x[10]", "d10", "e"]
    assert sorted(names, key=natural_order) == ordered


@pytest.mark.parametrize(
    ("truth", "predicted", "right"),
    [
        ("Acme Corp", "ACME  corp", True), ("Acme Corp", "Acme Korp", True), ("Acme Corp", "Apex", False),
        (1500, "1,500.00", True), ("$1,500.00", "1500 USD", True), ("(20)", -20, True), (1500, 1500.0000001, True),
        (1500, 1501, False), ("1500", "1501", False), ("12345678", "12345679", False), ("1.500,00", 1500, False),
        ("007", "7", False), ("0.7", ".7", True), ("12 pieces", 12, False), (True, True, True), (True, 1, False),
        (False, None, False), (None, None, True), (None, "", False), ("", "", True), ("", "x", False),
        ({"a": 1}, {"a": 1.0}, True), ({"a": 1}, {"a": True}, False), ([1, 2], [2, 1], False), ([1], {"a": 1}, False),
        ("1", [1], False),
    ],
)  # fmt: skip
def test_values_without_a_schema(truth: Any, predicted: Any, right: bool) -> None:
    assert is_right(truth, predicted, None) is right
    assert is_right(predicted, truth, None) is right


@pytest.mark.parametrize(
    ("comparator", "truth", "predicted", "expected"),
    [
        ("text", "12345678", "12345679", 0.875), ("text", 15, "15", 1.0), ("text", [1], [1], 1.0),
        ("text", "a", None, 0.0),
        ("exact", "Acme", "acme", 0.0), ("exact", 1, 1.0, 1.0), ("exact", True, 1, 0.0),
        ("number", "1,500", 1500, 1.0), ("number", "x", "x", 0.0), ("number", True, True, 0.0),
        ("date", "2020-03-04", "4 March 2020", 1.0), ("date", "2020-03-04", "04/03/2020", 1.0),
        ("date", "2020-03-04", "04.03.2020", 1.0), ("date", "2020-04-03", "04.03.2020", 0.0),
        ("date", "20200304", "Mar 4, 2020", 1.0), ("date", "2020-03-04T10:00:00", "2020/3/4", 1.0),
        ("date", "soon", "Soon ", 1.0), ("date", "soon", "later", 0.0), ("date", "2020-13-45", "2020-13-45", 1.0),
        ("date", 2020, 2020, 1.0), ("date", "2020-03-04", "foo 4, 2020", 0.0),
    ],
)  # fmt: skip
def test_values_with_a_schema(comparator: Any, truth: Any, predicted: Any, expected: float) -> None:
    assert similarity(truth, predicted, Rule(comparator, 0.5)) == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("€ 1 234", 1234.0), ("1'234.5", 1234.5), ("EUR 12", 12.0), ("12 CHF", 12.0), ("-3", -3.0), ("+.5", 0.5),
        ("1,23", None), ("1,2345", None), ("12-34", None), ("", None), ("$", None), ("1e5", None), ("٣", None),
        ("1 2", None),
    ],
)  # fmt: skip
def test_text_that_is_a_number(text: str, number: float | None) -> None:
    assert number_of(text) == number


def test_ambiguous_dates_have_two_readings_and_wrong_ones_none() -> None:
    assert len(dates_of("03/04/2020")) == 2
    assert len(dates_of("25/04/2020")) == 1
    assert dates_of("25/25/2020") == dates_of("2020") == dates_of("20201341") == frozenset()


KINDS = (
    st.sampled_from(["bolt", "Bolt ", "nut", ""]),
    st.sampled_from([1, 2.5, 1 + 1e-12, 0, -0.0, 10**20]),
    st.sampled_from(["1", "$1.00", "x", "2,500", "007", "7", 1, 2500, None, True, False, [1], {"a": 1}]),
)


@given(
    columns=st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(*[st.lists(kind, max_size=4)] * 2)),
    rule=st.sampled_from([None, *(Rule(name, 0.5) for name in ("text", "exact", "number", "date"))]),
)
def test_a_table_of_similarities_says_what_each_pair_says(columns: Any, rule: Rule | None) -> None:
    truths, predictions = columns
    expected = [[similarity(truth, predicted, rule) for predicted in predictions] for truth in truths]
    table = similarities(truths, predictions, rule)
    assert table.shape == (len(truths), len(predictions))
    assert table.tolist() == expected or not table.size


@given(one=st.text("ab c", max_size=8), other=st.text("ab c", max_size=8))
def test_text_similarity_is_symmetric_and_in_range(one: str, other: str) -> None:
    similarity = text_similarity(one, other)
    assert similarity == text_similarity(other, one)
    assert 0.0 <= similarity <= 1.0
    assert (similarity == 1.0) == (one.split() == other.split())


BOX = [0, 0, 10, 10]
HALF = [0, 0, 10, 5]
FAR = [50, 50, 60, 60]


def rich(value: Any, box: Any = None, confidence: float | None = None, page: int | None = None) -> dict[str, Any]:
    extras = {"_bbox": box, "_confidence": confidence, "_page": page}
    return {"_value": value, **{key: extra for key, extra in extras.items() if extra is not None}}


HAND_TRUTH = {
    "vendor": rich("Acme", BOX),
    "total": rich(10, BOX),
    "date": rich("2020-01-01", BOX),
    "note": "no box",
    "lines": [{"name": rich("bolt", BOX)}, {"name": rich("nut", FAR)}],
}
HAND_PREDICTED = {
    "vendor": rich("Acme", BOX, 0.9),
    "total": rich(11, HALF, 0.8),
    "phone": rich("555", FAR, 0.3),
    "note": "no box",
    "lines": [{"name": rich("nut", FAR, 0.7)}],
}


def hand(**options: Any) -> FieldsResult:
    return evaluate(side([("a", HAND_TRUTH)], "gt.jsonl"), side([("a", HAND_PREDICTED)], "pred.jsonl"), **options)


def test_metrics_by_hand() -> None:
    ours = hand(iou=[0.5, 0.75]).to_json()
    one = {"ap": 1.0, "ap_50": 1.0, "ap_75": 1.0, "mean_iou": 1.0, "num_gt": 1, "num_detections": 1}
    expected = {
        "vendor": one,
        "total": {**one, "ap": 0.5, "ap_75": 0.0, "mean_iou": 0.5},
        "date": {**one, "ap": 0.0, "ap_50": 0.0, "ap_75": 0.0, "mean_iou": 0.0, "num_detections": 0},
        "phone": {**one, "ap": None, "ap_50": None, "ap_75": None, "mean_iou": 0.0, "num_gt": 0},
        "lines[].name": {**one, "ap": 51 / 101, "ap_50": 51 / 101, "ap_75": 51 / 101, "num_gt": 2},
    }
    assert ours["fields"] == close(expected)
    at_50, at_75 = (1 + 1 + 0 + 51 / 101) / 4, (1 + 0 + 0 + 51 / 101) / 4
    assert [ours["map_50"], ours["map_75"], ours["mean_ap"]] == close([at_50, at_75, (at_50 + at_75) / 2])
    assert ours["coverage"] == {"fields_with_bbox": 5, "fields_total": 7, "ratio": 5 / 7}


def test_statuses_and_counts_by_hand() -> None:
    result = hand()
    assert {
        (row.truth_path, row.prediction_path, row.status, row.iou, row.confidence, row.right)
        for row in result.rows(0.75)
    } == {
        ("vendor", "vendor", "true positive", 1.0, 0.9, True),
        ("total", "total", "below threshold", 0.5, 0.8, False),
        ("date", "date", "missed", None, None, False),
        ("phone", "phone", "spurious", None, 0.3, False),
        ("note", "note", "no box", None, None, True),
        ("lines[1].name", "lines[0].name", "true positive", 1.0, 0.7, True),
        ("lines[0].name", None, "missed", None, None, False),
    }
    names = ("true_positive", "below_threshold", "missed", "spurious", "precision", "recall")
    assert [getattr(result.overall(0.75), name)[0] for name in names] == [2, 1, 2, 1, 2 / 4, 2 / 5]
    assert result.overall(0.5).true_positive.tolist() == [3]
    per_class = dict(zip(result.compared.classes, result.per_class(0.5).missed.tolist(), strict=True))
    assert per_class == {"date": 1, "lines[].name": 1, "note": 0, "phone": 0, "total": 0, "vendor": 0}
    assert result.value_by_box(0.75) == {
        "value_right": {"box_right": 2, "box_wrong": 0},
        "value_wrong": {"box_right": 0, "box_wrong": 1},
    }


def test_rows_know_their_fields_and_can_be_chosen() -> None:
    result = hand()
    (row,) = result.rows(0.5, document="a", label="total")
    assert (row.document, row.label, row.truth.value, row.predicted.value) == ("a", "total", 10, 11)
    assert (row.truth.box, row.predicted.box) == ((0, 0, 10, 10), (0, 0, 10, 5))
    assert result.rows(0.5, document="b") == result.rows(0.5, label="x") == []


def test_confidence_by_hand() -> None:
    confidence = hand().to_json()["confidence"]
    # vendor .9 right, total .8 wrong, phone .3 wrong, nut .7 right.
    assert confidence["auroc"] == 0.75
    assert confidence["brier"] == pytest.approx((0.01 + 0.64 + 0.09 + 0.09) / 4)
    assert confidence["coverage"] == {"fields_with_confidence": 4, "fields_total": 6, "ratio": 4 / 6}
    assert confidence["review_budget"]["0.50"]["errors_found"] == 1
    assert [row["count"] for row in confidence["bins"]] == [0, 0, 0, 1, 0, 0, 0, 1, 1, 1]
    assert hand().confidence("vendor").to_json()["brier"] == pytest.approx(0.01)
    assert len(hand().confidence("unknown")) == 0


def test_lonely_fields_are_judged() -> None:
    # The reference sees no field of an extra item; here each predicted one counts, and it is wrong.
    for name, judged in (
        ("list_pred_item_extra", [(0.6, True), (0.9, False)]),
        ("list_in_list", [(0.8, True), (0.9, True)]),
    ):
        confidence = evaluated(oracle(name)).confidence()
        assert sorted(zip(confidence.confidence.tolist(), confidence.right.tolist(), strict=True)) == judged


def test_boxes_on_different_pages_do_not_meet() -> None:
    pages = [(None, None), (0, None), (2, 2), (1, 2)]
    truth = {f"f{i}": rich("x", BOX, page=page) for i, (page, _) in enumerate(pages)}
    predicted = {f"f{i}": rich("x", BOX, 0.5, page=page) for i, (_, page) in enumerate(pages)}
    result = evaluate(side([("a", truth)]), side([("a", predicted)]))
    assert result.compared.iou.tolist() == [1.0, 1.0, 1.0, 0.0]
    assert [row.status for row in result.rows(0.5)] == ["true positive"] * 3 + ["below threshold"]
    assert "1 document, 3 pages" in result.signature.line


def test_a_document_of_one_side_is_missed_or_spurious() -> None:
    truth, predicted = side([("a", {"f": rich(1, BOX)})]), side([("b", {"f": rich(1, BOX, 0.5)})])
    result = evaluate(truth, predicted)
    assert [row.status for row in result.rows(0.5)] == ["missed", "spurious"]
    assert result.to_json()["fields"]["f"] == {
        "ap": 0.0, "ap_50": 0.0, "ap_75": 0.0, "mean_iou": 0.0, "num_gt": 1, "num_detections": 1,
    }  # fmt: skip


def test_two_files_of_one_document_each_are_that_document() -> None:
    files = (HAND_TRUTH, "truth.json"), (HAND_PREDICTED, "model.json")
    result = evaluate(*(FORMAT.read(json.dumps(tree).encode(), name) for tree, name in files))
    assert (result.compared.documents, result.mean_ap) == (("truth",), hand().mean_ap)


def test_nothing_at_all_is_undefined() -> None:
    for documents in ({}, {"a": {}}):
        empty = FieldDocuments("x", "", None, documents)
        numbers = evaluate(empty, empty).to_json()
        assert [numbers[key] for key in ("mean_ap", "map_50", "map_75", "fields")] == [None, None, None, {}]
        for coverage, name in ((numbers["coverage"], "bbox"), (numbers["confidence"]["coverage"], "confidence")):
            assert coverage == {f"fields_with_{name}": 0, "fields_total": 0, "ratio": None}
        assert "NaN" not in export.to_json(numbers)


def test_a_box_is_present_whether_or_not_it_is_well_formed() -> None:
    truth = {"a": rich(1, BOX), "b": rich(1, "0,0,1,1"), "c": rich(1, [5, 5, 5, 5])}
    predicted = {"a": rich(1, [0, 0, 1], 0.5), "b": rich(1, BOX, 0.5), "c": rich(1, [5, 5, 5, 5], 0.5)}
    sides_ = side([("d", truth)]), side([("d", predicted)])
    assert [row.status for row in evaluate(*sides_).rows(0.01)] == ["below threshold"] * 3
    assert [len(one.issues) for one in sides_] == [1, 1]


def test_a_confidence_out_of_range_ranks_and_is_not_judged() -> None:
    truth = [(f"d{i}", {"a": rich(1, BOX)}) for i in range(3)]
    predicted = [("d0", {"a": rich(1, FAR, 0.99)}), ("d1", {"a": rich(1, BOX, 1.7)}), ("d2", {"a": rich(1, BOX)})]
    result = evaluate(side(truth), side(predicted), iou=0.5)
    # 1.7, then the missing one as 1, then .99: right, right, wrong of three.
    assert result.mean_ap == pytest.approx(67 / 101)
    assert result.confidence().confidence.tolist() == [0.99]


def test_schema_fields_are_rows_even_where_both_sides_lack_them() -> None:
    schema = schema_of({"a": Rule("text", 0.8), "b": Rule("text", 0.8), "v.c": Rule("text", 0.8)}, {"l": 0.7})
    documents = side([("d", {"a": "x", "extra": "y"})])
    assert compare(documents, documents, schema=schema).truth_path == ["a", "b", "v", "l", "extra"]
    # The reference compares what its model declares.
    assert compare(documents, documents, schema=schema, parity="stickler").truth_path == ["a", "b", "v", "l"]


def test_the_match_threshold_of_a_list_comes_from_the_schema() -> None:
    truth, predicted = ({"l": [{"a": name, "b": rich("y", BOX, 0.5)}]} for name in ("bolt", "colt"))
    for threshold, pairs in ((0.7, 1), (0.9, 0)):
        compared = compare(side([("d", truth)]), side([("d", predicted)]), schema=schema_of({}, {"l": threshold}))
        assert int((compared.has_truth & compared.has_prediction).sum()) == pairs


@pytest.mark.parametrize(
    ("truth", "predicted", "rows"),
    [
        ([], [], []), ([], None, []), ([], {"_value": None}, []), (None, None, [("l", "l")]),
        ([1], [], [("l[0]", None)]), ([], [1], [(None, "l[0]")]),
        ([1, [2]], [1, [2]], [("l[0]", "l[0]"), ("l[1]", "l[1]"), ("l[1][0]", "l[1][0]")]),
        ([1], None, [("l", "l"), ("l[0]", None)]), ({"a": 1}, [1], [("l", "l"), ("l.a", None), (None, "l[0]")]),
        ([], {"a": 1}, [("l", "l"), (None, "l.a")]), (7, {"a": 1}, [("l", "l"), (None, "l.a")]),
    ],
)  # fmt: skip
def test_lists_objects_and_nothing_in_every_combination(truth: Any, predicted: Any, rows: Any) -> None:
    schema = schema_of({"l": Rule("text", 0.8)}, {})
    trees = [{"l": value} if value is not None else {} for value in (truth, predicted)]
    compared = compare(side([("d", trees[0])]), side([("d", trees[1])]), schema=schema)
    assert list(zip(compared.truth_path, compared.prediction_path, strict=True)) == rows


def test_options_leave_boxes_and_classes_out() -> None:
    cut = hand(min_score=0.75, iou=0.5).to_json()
    assert cut["fields"]["lines[].name"]["num_detections"] == 0
    assert "phone" not in cut["fields"]
    assert cut["confidence"] == hand(iou=0.5).to_json()["confidence"]
    chosen = hand(labels=["total", "vendor"], iou=0.5)
    assert list(chosen.to_json()["fields"]) == ["total", "vendor"]
    assert chosen.to_json()["coverage"] == {"fields_with_bbox": 2, "fields_total": 2, "ratio": 1.0}
    assert chosen.mean_ap == pytest.approx(1.0)


def test_the_signature_says_everything_that_was_chosen() -> None:
    assert hand(iou=[0.75, 0.5]).signature.line == (
        "fields 1.0 · IoU ≥ 0.50, 0.75 · score ≥ 0.00 · values: text ≥ 0.80, numbers within 1e-09, others exact · "
        f"1 document, 1 page · layoutscope {__version__}"
    )
    schema = schema_of({"total": Rule("number", 1.0)}, {}, name="invoice.json", sha256="0123456789abcdef")
    changed = hand(iou=0.5, schema=schema, parity="stickler", min_score=0.25, labels=["total"])
    assert changed.signature.line == (
        "fields 1.0 · IoU ≥ 0.50 · score ≥ 0.25 · labels total · values: invoice.json 0123456789ab · parity stickler · "
        f"recall grid decimal · 1 document, 1 page · layoutscope {__version__}"
    )


def test_the_table_has_the_means_first() -> None:
    table = hand(iou=[0.5, 0.75]).table()
    assert (table.title, table.columns[0]) == ("pred.jsonl", "field")
    assert [row[0] for row in table.rows] == ["All fields", "date", "lines[].name", "phone", "total", "vendor"]
    assert table.rows[0][4:] == (pytest.approx((1 + 0.5 + 0 + 1) / 4), 5, 4)
    assert table.rows[-1] == ("vendor", pytest.approx(1), pytest.approx(1), pytest.approx(1), 1.0, 1, 1)


def test_the_json_has_the_keys_of_the_contract() -> None:
    numbers = hand().to_json()
    assert list(numbers) == [
        "protocol", "signature", "ground_truth", "predictions", "issues", "mean_ap", "map_50", "map_75",
        "ties", "iou_thresholds", "fields", "coverage", "confidence",
    ]  # fmt: skip
    assert numbers["ground_truth"]["name"] == "gt.jsonl"
    assert set(numbers["ground_truth"]) == set(numbers["predictions"]) == {"name", "sha256"}
    assert list(numbers["confidence"]) == ["auroc", "brier", "ece", "bins", "review_budget", "coverage"]
    assert json.loads(export.to_json(numbers)) == numbers


@given(rows=st.integers(0, 4), columns=st.integers(0, 4), seed=seeds)
def test_assignments_have_the_highest_sum(rows: int, columns: int, seed: int) -> None:
    table = np.random.default_rng(seed).integers(0, 5, (rows, columns)) / 4
    pairs = assign(table)
    assert len(pairs) == min(rows, columns)
    assert len({first for first, _ in pairs}) == len({second for _, second in pairs}) == len(pairs)
    assert pairs == sorted(pairs)
    turned = table if rows <= columns else table.T
    best = max(
        sum(turned[i, j] for i, j in enumerate(chosen))
        for chosen in itertools.permutations(range(turned.shape[1]), turned.shape[0])
    )
    assert sum(table[pair] for pair in pairs) == pytest.approx(best)


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 5), (5, 2), (40, 40)])
def test_equal_items_stay_in_order(rows: int, columns: int) -> None:
    assert assign(np.ones((rows, columns))) == [(index, index) for index in range(min(rows, columns))]


WORDS = ("alpha widget", "beta gadget", "gamma thing", "delta rod", "epsilon", "zeta", "omega")


def random_tree(dice: random.Random, *, predicted: bool, depth: int = 0) -> dict[str, Any]:
    """A document with ties everywhere: few places, few confidences, few words."""

    def leaf() -> Any:
        value = dice.choice([*WORDS, dice.randrange(4), None, True])
        if dice.random() < 0.2:
            return value
        box = dice.choice([BOX, HALF, FAR, [[10, 0], [0, 9]], [0, 0, 10, 7.5], None, [1, 2], [3, 3, 3, 3]])
        confidence = dice.choice([None, 0.0, 0.25, 0.5, 0.5, 1.0, 1.5]) if predicted else None
        return rich(value, box, confidence, dice.choice([None, None, 0, 1]))

    names = [name for name in ("a", "b", "c") if dice.random() < 0.8]
    tree = {name: leaf() for name in names}
    if depth < 2:
        if dice.random() < 0.5:
            tree["object"] = random_tree(dice, predicted=predicted, depth=depth + 1)
        if dice.random() < 0.6:
            count = dice.randrange(4)
            tree["list"] = [random_tree(dice, predicted=predicted, depth=depth + 1) for _ in range(count)]
        if dice.random() < 0.3:
            tree["plain"] = [leaf() for _ in range(dice.randrange(4))]
    return tree


Documents = list[tuple[str, Any]]


def random_sides(seed: int, documents: int = 4) -> tuple[Documents, Documents]:
    dice = random.Random(seed)
    truth = [(f"d{i}", random_tree(dice, predicted=False)) for i in range(documents)]
    predicted = [(name, random_tree(dice, predicted=True) if dice.random() < 0.5 else tree) for name, tree in truth]
    return truth, [row for row in predicted if dice.random() < 0.9]


def random_result(seed: int, **options: Any) -> FieldsResult:
    return evaluate(*map(side, random_sides(seed)), **options)


def numbers(result: FieldsResult) -> dict[str, Any]:
    return {key: value for key, value in result.to_json().items() if key not in ("ground_truth", "predictions")}


@given(seed=seeds)
def test_the_order_of_documents_does_not_matter(seed: int) -> None:
    truth, predicted = random_sides(seed)
    dice = random.Random(seed + 1)
    shuffled = dice.sample(truth, len(truth)), dice.sample(predicted, len(predicted))
    first, second = (evaluate(side(one), side(other)) for one, other in ((truth, predicted), shuffled))
    assert numbers(first) == numbers(second)
    assert [row[:8] for row in first.rows(0.5)] == [row[:8] for row in second.rows(0.5)]


@given(seed=seeds, cuts=st.lists(st.integers(0, 4), max_size=3))
def test_shards_in_any_order_equal_the_whole(seed: int, cuts: list[int]) -> None:
    truth, predicted = random_sides(seed)
    bounds = [0, *sorted(cuts), len(truth)]
    shards = []
    for first, last in itertools.pairwise(bounds):
        names = {name for name, _ in truth[first:last]}
        shards.append(compare(side(truth[first:last]), side([row for row in predicted if row[0] in names])))
    whole = numbers(evaluate(side(truth), side(predicted)))
    random.Random(seed).shuffle(shards)
    assert numbers(score(merge(*shards))) == whole
    # Merging is associative.
    assert numbers(score(merge(shards[0], merge(*shards[1:])) if len(shards) > 1 else shards[0])) == whole


@given(seed=seeds, threshold=st.sampled_from([0.01, 0.3, 0.5, 0.75, 1.0]), parity=st.sampled_from(["none", "stickler"]))
def test_average_precision_equals_a_plain_loop(seed: int, threshold: float, parity: Any) -> None:
    result = random_result(seed, iou=threshold, parity=parity)
    compared = result.compared
    grid = [round(0.01 * i, 2) for i in range(101)] if parity == "stickler" else np.linspace(0, 1, 101).tolist()
    order = range(len(compared)) if parity == "stickler" else compared.order.tolist()
    for code, name in enumerate(compared.classes):
        rows = [row for row in order if compared.field_class[row] == code]
        positives = sum(bool(compared.has_truth[row]) for row in rows)
        detections = [
            (1.0 if math.isnan(compared.confidence[row]) else compared.confidence[row], compared.iou[row])
            for row in rows
            if compared.has_prediction[row]
        ]
        if not positives and not detections:
            assert name not in result.to_json()["fields"]
            continue
        numbers = result.to_json()["fields"][name]
        assert (numbers["num_gt"], numbers["num_detections"]) == (positives, len(detections))
        assert numbers["ap"] == close(plain_average_precision(detections, positives, threshold, grid))
        assert numbers["mean_iou"] == close(sum(iou for _, iou in detections) / max(len(detections), 1))


def plain_average_precision(
    detections: Sequence[tuple[float, float]], positives: int, threshold: float, grid: Sequence[float]
) -> float | None:
    """101-point AP, written out."""
    if not positives:
        return None
    curve: list[tuple[float, float]] = []
    hits = 0
    for place, (_, iou) in enumerate(sorted(detections, key=lambda pair: -pair[0]), start=1):
        hits += iou >= threshold
        curve.append((hits / positives, hits / place))
    return sum(max((p for recall, p in curve if recall >= point), default=0.0) for point in grid) / len(grid)


@given(seed=seeds)
def test_identical_documents_are_perfect(seed: int) -> None:
    truth, _ = random_sides(seed)
    result = evaluate(side(truth), side(truth))
    compared = result.compared
    assert compared.right[compared.is_field].all()
    assert (compared.has_truth == compared.has_prediction).all()
    for row in result.rows(1.0):
        if row.truth is not None and row.truth.box is not None and row.truth.box[0] < row.truth.box[2]:
            assert (row.status, row.iou) == ("true positive", 1.0)


@given(seed=seeds)
def test_every_box_is_in_one_row_and_statuses_add_up(seed: int) -> None:
    both = [side(rows) for rows in random_sides(seed)]
    result = evaluate(*both)
    compared = result.compared
    columns = (compared.truth_path, compared.has_truth), (compared.prediction_path, compared.has_prediction)
    for documents, (paths, has_box) in zip(both, columns, strict=True):
        expected = [
            (name, path) for name, tree in documents.documents.items() for path, field in leaves(tree) if field.has_box
        ]
        rows = np.flatnonzero(has_box)
        assert sorted((compared.documents[compared.document[row]], paths[row]) for row in rows) == sorted(expected)
    for counts in (result.per_class(0.5), result.overall(0.5)):
        boxes = (counts.true_positive + counts.below_threshold).sum()
        assert boxes + counts.missed.sum() == result.num_gt.sum() == compared.has_truth.sum()
        assert boxes + counts.spurious.sum() == result.num_detections.sum() == compared.has_prediction.sum()
    assert sum(sum(row.values()) for row in result.value_by_box(0.5).values()) == boxes


@given(seed=seeds)
def test_an_extra_spurious_box_never_helps(seed: int) -> None:
    truth, predicted = random_sides(seed)
    extra = [(f"x{name}", {"a": rich("x", FAR, 1.0)}) for name in range(3)]
    before, after = (evaluate(side(truth), side(rows)) for rows in (predicted, [*predicted, *extra]))
    assert before.mean_ap is None or after.mean_ap <= before.mean_ap
    for name, row in before.to_json()["fields"].items():
        grown = after.to_json()["fields"][name]
        assert row["ap"] is None or grown["ap"] <= row["ap"]
        assert grown["num_gt"] == row["num_gt"]


@given(
    seed=seeds,
    iou=st.lists(st.sampled_from([0.1, 0.5, 0.5, 0.75, 0.9]), max_size=3),
    parity=st.sampled_from(["none", "stickler"]),
)
def test_rescoring_equals_evaluating_anew(seed: int, iou: list[float], parity: Any) -> None:
    result, anew = random_result(seed, parity=parity), random_result(seed, parity=parity, iou=iou)
    assert result.mean_ap is None or 0.0 <= result.mean_ap <= 1.0
    assert numbers(score(result.compared, iou=iou)) == numbers(anew)


@given(seed=seeds)
def test_the_reference_never_sees_more_boxes(seed: int) -> None:
    literal, parity = (random_result(seed, parity=name).compared for name in ("none", "stickler"))
    assert parity.has_prediction.sum() <= literal.has_prediction.sum()


def test_shards_that_do_not_fit_are_refused() -> None:
    compared, other = hand().compared, hand(parity="stickler").compared
    for shards, message in (
        ((compared, compared), r"^a document may be in one shard only; found a in several$"),
        ((compared, other), r"^shards must be paired by the same rules; found none, .* and stickler, .*$"),
        ((), r"^there is nothing to merge$"),
    ):
        with pytest.raises(ValueError, match=message):
            merge(*shards)


def test_merged_files_have_one_name_and_digest() -> None:
    parts = [compare(side([(name, HAND_TRUTH)], f"{name}.jsonl"), side([(name, HAND_PREDICTED)])) for name in "ab"]
    one, other = score(merge(*parts)).to_json(), score(merge(*parts[::-1])).to_json()
    assert one["ground_truth"] == other["ground_truth"]
    assert one["ground_truth"]["name"] == "a.jsonl + b.jsonl"
    assert len(one["ground_truth"]["sha256"]) == 64


def test_nothing_is_edited() -> None:
    truth, predicted = side([("a", HAND_TRUTH)]), side([("a", HAND_PREDICTED)])
    before, result = repr((truth, predicted)), evaluate(truth, predicted)
    for column in (result.compared.iou, result.compared.confidence, result.compared.has_truth):
        column.flags.writeable = False
    assert numbers(result) == numbers(evaluate(truth, predicted))
    assert repr((truth, predicted)) == before
