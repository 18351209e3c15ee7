"""Snapshot 1.3: equal to the reference to the last digit, to the text where the two differ, and to sums by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import formats
from evaluator.data.dataset import Annotations, join
from evaluator.formats.snapshot import check_pair
from evaluator.matching.box_results import BoxResult
from evaluator.metrics.results import RATIOS
from evaluator.protocols.snapshot.evaluation import IOU_FLOOR, ThresholdResult, evaluate, pair
from evaluator.system.version import __version__
from tests.building import LABELS, annotations, box, ground_truth, random_rows
from tests.reading import SHARED, needs_shared, refusal, refusal_issues

ORACLES = Path(__file__).resolve().parents[1] / "oracles" / "snapshot"
CASES = sorted(path.parent for path in ORACLES.glob("*/*/expected.json"))
REAL = Path(SHARED, "real", "worldbank")
KEYS = {"mean_iou": "mean_iou", "mean_area_recall": "mean_coverage", "mean_area_precision": "mean_purity"}
KEYS |= {key: key for key in ("tp", "fp", "fn", "precision", "recall")}


def load(folder: Path) -> tuple[Annotations, Annotations, dict[str, Any]]:
    truth = formats.read(folder / "gt.json", side="ground_truth")
    prediction = formats.read(folder / "pred.json", side="prediction")
    return truth, prediction, json.loads((folder / "expected.json").read_text())


def as_reference(row: dict[str, Any]) -> dict[str, Any]:
    return {theirs: row[ours] for theirs, ours in KEYS.items()}


def from_reference(row: dict[str, Any]) -> dict[str, Any]:
    assert row["matched"] == row["tp"]
    return {key: row[key] for key in KEYS}


def matching_of(result: ThresholdResult) -> list[dict[str, Any]]:
    dataset, prediction = result.matching.dataset, result.matching.prediction
    truth = dataset.ground_truth
    groups: dict[tuple[str, str], dict[str, list[Any]]] = {}

    def group(side: Any, row: int) -> dict[str, list[Any]]:
        key = side.source.page_ids[side.source.boxes.entry[row]], dataset.labels[side.label[row]]
        return groups.setdefault(key, {"pairs": [], "fp": [], "fn": []})

    matches = result.matches
    for p, g, iou in zip(matches.prediction, matches.ground_truth, matches.iou, strict=True):
        names = prediction.source.boxes.ids[p], truth.source.boxes.ids[g]
        group(truth, g)["pairs"].append([*names, float(iou)])
    for row in result.false_positives:
        group(prediction, row)["fp"].append(prediction.source.boxes.ids[row])
    for row in result.false_negatives:
        group(truth, row)["fn"].append(truth.source.boxes.ids[row])
    return [{"page_id": page, "label": label, **groups[page, label]} for page, label in sorted(groups)]


def close_to(expected: dict[str, Any], result: Any) -> None:
    for iou, threshold in result.thresholds.items():
        metrics = expected["metrics"][str(iou)]
        rows = [(threshold.micro.row(0), metrics["micro"])]
        labels = enumerate(result.matching.labels)
        rows += [(threshold.per_label.row(row), metrics["per_class"][label]) for row, label in labels]
        for ours, theirs in rows:
            assert as_reference(ours) == pytest.approx(from_reference(theirs), abs=1e-9)


@pytest.mark.parametrize("folder", [path for path in CASES if path.name[0] in "cr"], ids=lambda path: path.name)
def test_numbers_and_pairs_equal_the_reference(folder: Path) -> None:
    truth, prediction, expected = load(folder)
    result = evaluate(truth, prediction, iou=expected["thresholds"])
    assert truth.label_map == expected["label_map"]
    only_in, mismatch = result.to_json()["documents_only_in"], expected["documents_mismatch"]
    assert only_in == {"ground_truth": mismatch["only_gt"], "predictions": mismatch["only_pred"]}
    close_to(expected, result)
    for iou, threshold in result.thresholds.items():
        assert list(result.matching.labels) == list(expected["metrics"][str(iou)]["per_class"])
        seen = sorted(expected["matching"][str(iou)], key=lambda group: (group["page_id"], group["label"]))
        assert matching_of(threshold) == seen


@pytest.mark.parametrize("folder", [path for path in CASES if path.name[0] in "cr"][::3], ids=lambda path: path.name)
def test_a_lower_floor_and_a_new_matching_give_the_same(folder: Path) -> None:
    truth, prediction, _ = load(folder)
    low = pair(join(truth, prediction), iou_floor=IOU_FLOOR).match()
    for iou in (0.1, 0.3, 0.5, 0.75, 1.0):
        anew = evaluate(truth, prediction, iou=[iou]).thresholds[iou]
        assert low.at(iou).micro.row(0) == anew.micro.row(0)
        assert matching_of(low.at(iou)) == matching_of(anew)


REFUSED = {
    "d01_out_of_range_clamped": "coordinates must lie in [0, 1] (snapshot 1.3, sections 3 and 9.4)",
    "d02_degenerate_boxes": "x2 must be greater than x1 (snapshot 1.3, section 3)",
    "d05_gt_has_scores_pred_has_none": "no object of a ground truth file may have a score (snapshot 1.3, section 9.6)",
    "d06_roles_swapped": 'a ground truth file must have type "ground_truth" (snapshot 1.3, section 4)',
    "d07_numeric_strings": "bbox must be four finite numbers, x1, y1, x2, y2 (snapshot 1.3, section 3)",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_text_rejects_is_rejected(name: str) -> None:
    folder = ORACLES / "cases" / name
    assert json.loads((folder / "expected.json").read_text())["spec_says"].startswith("reject")
    assert REFUSED[name] in [issue.rule for issue in refusal_issues(load, folder) if issue.severity == "error"]
    if name == "d06_roles_swapped":  # each file is read alone, and the pair is refused
        sides = (formats.read(folder / "gt.json"), formats.read(folder / "pred.json"))
        assert [issue.severity for issue in check_pair(*sides)] == ["error", "error"]
    if name == "d05_gt_has_scores_pred_has_none":
        assert "9.5" in str(refusal(formats.read, folder / "pred.json"))


GROUPED_WRONGLY = ("d03_page_id_not_unique_across_docs", "d04_page_id_spelled_differently")


@pytest.mark.parametrize("name", GROUPED_WRONGLY)
def test_where_the_reference_groups_wrongly_the_text_counts(name: str) -> None:
    truth, prediction, expected = load(ORACLES / "cases" / name)
    row = evaluate(truth, prediction, iou=[0.5]).thresholds[0.5].micro.row(0)
    assert {key: row[key] for key in ("tp", "fp", "fn")} == expected["spec_says"]["0.5"]["micro"]
    warnings = [*truth.issues, *prediction.issues, *check_pair(truth, prediction)]
    assert any("page_id" in issue.rule and issue.severity == "warning" for issue in warnings)


def test_every_oracle_is_there_and_every_disagreement_covered() -> None:
    assert len(CASES) == 40
    assert {path.name for path in CASES if path.name[0] == "d"} == {*REFUSED, *GROUPED_WRONGLY}


@needs_shared
def test_the_published_numbers_of_the_world_bank() -> None:
    truth = formats.read(REAL / "evaluate_model_gt.json", side="ground_truth")
    result = evaluate(truth, formats.read(REAL / "evaluate_model_pred.json", side="prediction"))
    row = result.thresholds[0.5].micro.row(0)
    assert (row["tp"], row["fp"], row["fn"]) == (420, 942, 79)
    assert len(result.matching.dataset.documents) == 38
    close_to(json.loads((REAL / "evaluate_model_ref.json").read_text()), result)


@needs_shared
def test_every_real_pair_equals_the_reference() -> None:
    expected = json.loads((REAL / "expected.json").read_text())
    assert len(expected) >= 5
    for numbers in expected.values():
        pseudo = "PSEUDO" in numbers["note"]
        truth = formats.read(REAL / Path(numbers["gt"]).name, side="ground_truth", as_reference=pseudo)
        prediction = formats.read(REAL / Path(numbers["pred"]).name, side="prediction")
        close_to(numbers, evaluate(truth, prediction, iou=numbers["thresholds"]))


# A corpus small enough for paper. a.pdf has one Figure found exactly and one Table missed; b.pdf has a Table of
# which the lower half is found (IoU 1/2, coverage 1/2, purity 1) and a Figure that is not there.
HAND_TRUTH = [
    box(0.0, 0.0, 0.5, 0.5),
    box(0.5, 0.5, 1.0, 1.0, label="Table"),
    box(0.0, 0.0, 1.0, 0.5, label="Table", document="b.pdf"),
]
HAND_PREDICTED = [
    box(0.0, 0.0, 0.5, 0.5, score=0.9),
    box(0.0, 0.25, 1.0, 0.5, label="Table", document="b.pdf", score=0.4),
    box(0.75, 0.75, 1.0, 1.0, document="b.pdf", page=2, score=0.6),
]


def hand(**options: Any) -> Any:
    return evaluate(ground_truth(HAND_TRUTH), annotations(HAND_PREDICTED), iou=[0.5], **options)


def metrics(tp: int, fp: int, fn: int, *ratios: float | None) -> dict[str, Any]:
    return {"tp": tp, "fp": fp, "fn": fn, **dict(zip(RATIOS, ratios, strict=True))}


def test_counts_ratios_and_means_by_hand() -> None:
    threshold = hand().to_json()["thresholds"]["0.5"]
    assert threshold["micro"] == metrics(2, 1, 1, 2 / 3, 2 / 3, 2 / 3, 0.75, 0.75, 1.0)
    assert threshold["per_class"] == {
        "Figure": metrics(1, 1, 0, 0.5, 1.0, 2 / 3, 1.0, 1.0, 1.0),
        "Table": metrics(1, 0, 1, 1.0, 0.5, 2 / 3, 0.5, 0.5, 1.0),
    }


def test_macro_means_by_hand() -> None:
    # a.pdf: P 1, R 1/2, F1 2/3, IoU 1; b.pdf: P 1/2, R 1, F1 2/3, IoU 1/2. So do the labels.
    threshold = hand().thresholds[0.5]
    ratios = dict(zip(RATIOS, (0.75, 0.75, 2 / 3, 0.75, 0.75, 1.0), strict=True))
    for name, means in (("documents", threshold.macro_documents()), ("labels", threshold.macro_labels())):
        assert means.pop(name) == dict.fromkeys(RATIOS, 2)
        assert means == pytest.approx(ratios)


def test_class_weights_by_hand() -> None:
    # Table weighs 3, Figure 1: precision (1 * 0.5 + 3 * 1) / 4, recall (1 * 1 + 3 * 0.5) / 4, IoU (1 + 1.5) / 4.
    result = hand(class_weight={"Table": 3.0})
    means = result.to_json()["thresholds"]["0.5"]["macro_labels"]
    assert (means["precision"], means["recall"], means["mean_iou"]) == (0.875, 0.625, 0.625)
    assert "weights Table 3" in result.signature.line
    assert result.to_json()["thresholds"]["0.5"]["micro"] == hand().to_json()["thresholds"]["0.5"]["micro"]
    undefined = hand(class_weight={"Table": 0.0, "Figure": 0.0}).to_json()["thresholds"]["0.5"]["macro_labels"]
    assert [undefined[name] for name in ("precision", "recall", "mean_iou")] == [None, None, None]


def test_macro_means_leave_undefined_documents_out() -> None:
    # a.pdf is perfect; b.pdf has only a missed box (no precision); c.pdf only an invented one (no recall).
    one = (0.0, 0.0, 0.5, 0.5)
    truth, predicted = [box(*one), box(*one, document="b.pdf")], [box(*one), box(*one, document="c.pdf")]
    means = evaluate(ground_truth(truth), annotations(predicted), iou=[0.5]).thresholds[0.5].macro_documents()
    assert means.pop("documents") == dict(zip(RATIOS, (2, 2, 3, 1, 1, 1), strict=True))
    assert means == pytest.approx(dict(zip(RATIOS, (0.5, 0.5, 1 / 3, 1.0, 1.0, 1.0), strict=True)))


def test_documents_of_one_file_count_and_the_common_ones_are_shown_apart() -> None:
    only_truth, only_predicted = box(0, 0, 1, 1, document="t.pdf"), box(0, 0, 1, 1, document="p.pdf")
    truth, predicted = ground_truth([*HAND_TRUTH, only_truth]), annotations([*HAND_PREDICTED, only_predicted])
    value = evaluate(truth, predicted, iou=[0.5]).to_json()
    assert value["documents_only_in"] == {"ground_truth": ["t.pdf"], "predictions": ["p.pdf"]}
    assert value["thresholds"]["0.5"]["micro"] == metrics(2, 2, 2, 0.5, 0.5, 0.5, 0.75, 0.75, 1.0)
    expected = hand().to_json()["thresholds"]["0.5"]
    assert value["common_documents"] == {"0.5": {key: expected[key] for key in ("micro", "per_class")}}
    assert "common_documents" not in hand().to_json()


def test_a_document_listed_without_boxes_is_in_both() -> None:
    only = box(0, 0, 1, 1, document="t.pdf")
    value = evaluate(ground_truth([only]), annotations([], documents=["t.pdf"])).to_json()
    assert value["documents_only_in"] == {"ground_truth": [], "predictions": []}
    assert value["thresholds"]["0.5"]["micro"]["fn"] == 1


def test_labels_outside_the_map_are_kept_and_not_scored() -> None:
    odd = [box(0.0, 0.0, 1.0, 1.0, label="For review"), box(0.0, 0.0, 1.0, 1.0, label="table")]
    truth, predicted = ground_truth([*HAND_TRUTH, *odd]), annotations([*odd, *HAND_PREDICTED])
    result = evaluate(truth, predicted, iou=[0.5])
    assert result.to_json()["labels"] == list(LABELS)
    assert result.to_json()["thresholds"]["0.5"] == hand().to_json()["thresholds"]["0.5"]
    matching = result.matching
    assert matching.dataset.labels == ("Figure", "Table", "For review", "table")
    assert (len(matching.dataset.ground_truth), len(matching.prediction)) == (5, 5)
    assert (int(matching.truth_counts.sum()), int(matching.prediction_counts.sum())) == (3, 3)
    threshold = result.thresholds[0.5]
    assert threshold.truth_partner.tolist() == [2, -1, 3, -1, -1]
    assert threshold.prediction_partner.tolist() == [-1, -1, 0, 2, -1]
    assert (threshold.false_negatives.tolist(), threshold.false_positives.tolist()) == ([1], [4])


def test_only_the_chosen_labels_are_scored() -> None:
    result = hand(labels=["Table"])
    threshold = result.to_json()["thresholds"]["0.5"]
    assert list(threshold["per_class"]) == ["Table"]
    assert threshold["micro"] == threshold["per_class"]["Table"] == metrics(1, 0, 1, 1.0, 0.5, 2 / 3, 0.5, 0.5, 1.0)
    assert "labels Table" in result.signature.line
    # The order is that of the label map, and all of them named is all of them.
    assert hand(labels=["Table", "Figure"]).to_json() == hand().to_json()


def test_the_smallest_area_is_kept() -> None:
    # Sides that are powers of two, so that the area is exact: 1/128 is kept at 1/128.
    rows = [box(0.0, 0.0, 0.125, 0.0625), box(0.0, 0.5, 0.125, 0.5 + 1 / 32)]
    for min_area, kept in ((0.0, 2), (1 / 256, 2), (1 / 128, 1), (1 / 64, 0)):
        result = evaluate(ground_truth(rows), annotations(rows), iou=[0.5], min_area=min_area)
        row = result.thresholds[0.5].micro.row(0)
        assert (row["tp"], row["fp"], row["fn"]) == (kept, 0, 2 - kept)
    assert "area ≥ 0.015625 of the page" in result.signature.line


def test_the_lowest_score_is_kept_and_a_missing_score_stays() -> None:
    rows = [box(0, 0, 0.5, 0.5, score=0.3), box(0.5, 0.5, 1, 1, score=None), box(0, 0.5, 0.5, 1, score=0.29)]
    row = evaluate(ground_truth(rows), annotations(rows), iou=[0.5], min_score=0.3).thresholds[0.5].micro.row(0)
    assert (row["tp"], row["fp"], row["fn"]) == (2, 0, 1)


def test_a_score_threshold_frees_the_ground_truth_for_the_next_best() -> None:
    truth = [box(0.0, 0.0, 0.8, 0.8)]
    predicted = [box(0.0, 0.0, 0.8, 0.8, score=0.2), box(0.0, 0.0, 0.8, 0.6, score=0.9)]
    pairs = pair(join(ground_truth(truth), annotations(predicted)))
    assert pairs.match().at(0.5).truth_partner.tolist() == [0]
    assert pairs.match(min_score=0.5).at(0.5).truth_partner.tolist() == [1]


@given(
    seed=st.integers(0, 10**6),
    options=st.sampled_from([{}, {"labels": ["Table"]}, {"min_area": 0.05}]),
    odd=st.sampled_from([None, "without", -0.25]),
)
def test_tables_counted_over_pairs_are_those_of_the_matches(seed: int, options: Any, odd: Any) -> None:
    """In whatever order thresholds come, to the last digit: what other protocols of boxes count from their matches."""
    truth, predicted = random_rows(seed)
    if odd is not None:
        predicted[::3] = [row._replace(score=None if odd == "without" else odd) for row in predicted[::3]]
    pairs = pair(join(ground_truth(truth), annotations(predicted)))
    rng = np.random.default_rng(seed)
    for iou, score in zip(rng.choice([0.1, 0.3, 0.5, 0.52, 0.9], 6), rng.choice([0.0, 0.2, 0.55, 1.0], 6), strict=True):
        result = pairs.match(min_score=float(score), **options).at(float(iou))
        np.testing.assert_array_equal(result.truth_matched, BoxResult.truth_matched.fget(result))
        for name in ("false_positives", "false_negatives"):
            np.testing.assert_array_equal(getattr(result, name), getattr(BoxResult, name).func(result))
        for name in ("micro", "per_label", "per_page", "per_document", "per_document_and_label"):
            counted, expected = getattr(result, name), getattr(BoxResult, name).func(result)
            for column in ("tp", "fp", "fn", *RATIOS):
                assert getattr(counted, column).tobytes() == getattr(expected, column).tobytes(), (name, column)


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), iou=st.sampled_from([0.1, 0.5, 0.75]), review=st.booleans())
def test_best_f1_equals_trying_every_threshold(seed: int, iou: float, review: bool) -> None:
    truth, predicted = random_rows(seed, documents=2)
    if review:  # as many boxes outside the label map as in it: none of them may count
        truth = [*truth, *(row._replace(label="For review") for row in truth)]
        predicted = [*predicted, *(row._replace(label="For review", score=1.0) for row in truth)]
    sides = ground_truth(truth), annotations(predicted)
    results = (evaluate(*sides, iou=[iou], min_score=step / 100).thresholds[iou] for step in range(101))
    tried = [result.micro.row(0)["f1"] or 0.0 for result in results]
    assert pair(join(*sides)).best_f1(iou=iou) == tried.index(max(tried)) / 100


def test_a_score_curve_keeps_what_has_no_score_and_refuses_other_questions() -> None:
    predicted = [row._replace(score=None) for row in HAND_PREDICTED]
    pairs = pair(join(ground_truth(HAND_TRUTH), annotations(predicted)))
    curve = pairs.score_curve(iou=0.5)
    assert (curve.columns().tp == 2).all()
    assert (curve.threshold[0], curve.threshold[-1], len(curve.threshold)) == (0.0, 1.0, 101)
    with pytest.raises(ValueError, match=r"^iou must be in \[0.1, 1\]; found 0.05$"):
        pairs.score_curve(iou=0.05)
    with pytest.raises(ValueError, match="not in tuple"):
        curve.columns("Chart")


def test_best_f1_by_hand() -> None:
    # At 0.41 the Table goes: TP 1 FP 1 FN 2. At 0.61 the invented Figure goes too: TP 1 FN 2. All: TP 2 FP 1 FN 1.
    pairs = pair(join(ground_truth(HAND_TRUTH), annotations(HAND_PREDICTED)))
    assert pairs.best_f1(iou=0.5) == 0.0
    # At IoU 0.75 the Table never matches: keeping only the exact Figure is best, from 0.61 on.
    assert pairs.best_f1(iou=0.75) == 0.61
    assert pair(join(ground_truth([]), annotations([]))).best_f1(iou=0.5) == 0.0


def test_the_table_has_the_pooled_row_first() -> None:
    table = evaluate(ground_truth(HAND_TRUTH), annotations(HAND_PREDICTED)).table()
    assert table.title == "prediction.json"
    assert [row[:2] for row in table.rows] == [
        (0.5, "All labels"), (0.5, "Figure"), (0.5, "Table"), (0.75, "All labels"), (0.75, "Figure"), (0.75, "Table"),
    ]  # fmt: skip
    assert table.rows[2] == (0.5, "Table", 1, 0, 1, 1.0, 0.5, 2 / 3, 0.5, 0.5, 1.0)
    assert table.rows[5] == (0.75, "Table", 0, 1, 2, 0.0, 0.0, 0.0, None, None, None)


def test_the_signature_says_everything_that_was_chosen() -> None:
    assert hand().signature.line == (
        f"snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 · 2 documents, 3 pages · layoutscope {__version__}"
    )
    changed = hand(min_score=0.25, min_area=0.008, labels=["Figure"], class_weight={"Table": 2.0})
    assert changed.signature.line == (
        "snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.25 · area ≥ 0.008 of the page · labels Figure · weights Table 2 · "
        f"2 documents, 3 pages · layoutscope {__version__}"
    )


def test_a_second_model_shares_the_codes_and_not_the_matching() -> None:
    truth, first, second = ground_truth(HAND_TRUTH), annotations(HAND_PREDICTED), annotations(HAND_TRUTH)
    dataset = join(truth, first, second)
    assert pair(dataset, 1).match().at(0.5).micro.row(0) == metrics(3, 0, 0, *[1.0] * 6)
    assert pair(dataset, 0).match().at(0.5).micro.row(0) == hand().thresholds[0.5].micro.row(0)
