"""Numbers on the Overview: those that a protocol is known by are what others compute, means those of the terminal."""

import json
from collections.abc import Sequence
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator import formats, project
from evaluator.charts import scores as charts
from evaluator.data.dataset import join
from evaluator.matching.box_scores import (
    ThresholdChoice,
    box_calibration,
    box_calibrations,
    thin_curve,
    threshold_choice,
)
from evaluator.matching.error_types import TIDE
from evaluator.metrics.average_precision import Curve
from evaluator.metrics.confidence import calibration
from evaluator.metrics.results import ScoreCurve
from evaluator.protocols import PROTOCOLS, coco
from evaluator.protocols.base import BoxEvaluation
from pages.app import address
from tests import dashboard
from tests.building import annotations, box, ground_truth
from tests.charting import specification
from tests.dashboard import SAMPLE_DATA, start, workspace
from tests.protocols.test_protocol_coco import official, random_set, read_pair, undefined_as_none
from tests.reading import needs_shared, real

ORACLES = Path(__file__).resolve().parents[1] / "oracles"
PODS = sorted(path.parent for path in (ORACLES / "pod").glob("p0*/expected.json"))


def shown(app: AppTest) -> list[list[str]]:
    body = next(
        body
        for body in dashboard.html_blocks(app)
        if '"ls-own' in body and "ls-gains" not in body and "ls-means" not in body
    )
    numbers = []
    for row in body.split("<tr")[3:]:
        cells = [dashboard.read_html("<td" + cell).words for cell in row.split("<td")[1:]]
        numbers.append([" ".join(words) for words in cells])
    return numbers


def three(value: float | None, undefined: str = "–") -> str:
    return undefined if value is None else f"{value:.3f}"


def assert_shows_pycocotools(folder: Path, instances: dict[str, Any], *models: list[dict[str, Any]]) -> None:
    truth = folder / "instances.json"
    truth.write_text(json.dumps(instances), encoding="utf-8")
    files = []
    for place, results in enumerate(models):
        files.append(folder / f"model_{place}.json")
        files[-1].write_text(json.dumps(results), encoding="utf-8")
    rows = shown(start(files=workspace(truth, files), protocol="coco"))
    stats = [[undefined_as_none(value) for value in official(instances, results).stats] for results in models]
    # A size that no box has is named below the table.
    there = [any(value is not None for value in values) for values in zip(*stats, strict=True)]
    stats = [list(compress(row, there)) for row in stats]
    assert rows[: len(models)] == [[three(value) for value in row] for row in stats]
    if len(models) == 2:
        for cell, a, b in zip(rows[2], *stats, strict=True):
            moved = None if a is None or b is None else 100 * (b - a)
            sign = "" if not moved else "+" if moved >= 0.05 else "−" if moved <= -0.05 else "±"
            assert cell == ("–" if moved is None else f"{sign}{abs(moved):.1f}")


def test_the_twelve_numbers_on_screen_are_those_of_pycocotools(tmp_path: Path) -> None:
    instances, results = random_set(7)
    worse = [row for place, row in enumerate(results) if place % 3]
    assert_shows_pycocotools(tmp_path, instances, results, worse)


@needs_shared
@pytest.mark.parametrize("name", ["hotcoco_gt.json", "instances_val.json", "roboflow_annotations.coco.json"])
def test_the_twelve_numbers_of_real_files(tmp_path: Path, name: str) -> None:
    instances = json.loads(real("formats", "coco", name).read_text())
    if name == "hotcoco_gt.json":
        copies = json.loads(real("formats", "coco", "hotcoco_dt.json").read_text())
        models = copies, copies[:4]
    else:
        for place, annotation in enumerate(instances["annotations"], 1):
            # Of id 0 pycocotools ignores the match, as an issue says.
            annotation["id"] = place
        copies = [
            {**{key: one[key] for key in ("image_id", "category_id", "bbox")}, "score": 0.9 - place / 100}
            for place, one in enumerate(instances["annotations"])
        ]
        moved = [{**one, "bbox": [one["bbox"][0] + 0.2 * one["bbox"][2], *one["bbox"][1:]]} for one in copies]
        models = copies, [*moved, *copies[1:]]
    assert_shows_pycocotools(tmp_path, instances, *models)


@pytest.mark.parametrize("folder", sorted((ORACLES / "snapshot" / "realistic").iterdir()), ids=lambda path: path.name)
def test_the_numbers_of_a_snapshot_file(folder: Path) -> None:
    truth = formats.read(folder / "gt.json", side="ground_truth")
    prediction = formats.read(folder / "pred.json", side="prediction")
    (evaluated,) = project.evaluate_together("coco", folder / "gt.json", [folder / "pred.json"])
    dataset = evaluated.result.evaluated  # type: ignore[attr-defined]
    sides: list[list[dict[str, Any]]] = [[], []]
    for rows, side, boxes in zip(
        sides, (dataset.ground_truth, *dataset.predictions), (truth.boxes, prediction.boxes), strict=True
    ):
        xywh = np.hstack([boxes.xyxy[:, :2], boxes.xyxy[:, 2:] - boxes.xyxy[:, :2]]).tolist()
        columns = zip(side.page.tolist(), side.label.tolist(), xywh, boxes.score.tolist(), strict=True)
        for row, (page, label, bbox, score) in enumerate(columns, 1):
            place = {"id": row, "image_id": page + 1, "category_id": label + 1, "bbox": bbox}
            rows.append({**place, "score": score, "iscrowd": 0, "area": bbox[2] * bbox[3]})
    instances = {
        "images": [{"id": page + 1, "width": 1, "height": 1} for page in range(dataset.pages)],
        "categories": [{"id": code + 1, "name": name} for code, name in enumerate(dataset.labels[: dataset.evaluated])],
        "annotations": sides[0],
    }
    stats = official(instances, sides[1]).stats
    row = shown(start(files=workspace(folder / "gt.json", [folder / "pred.json"]), protocol="coco"))[0]
    # Shares of a page have no size in pixels.
    assert row == [three(undefined_as_none(stats[place])) for place in (0, 1, 2, 6, 7, 8)]


def test_the_sliders_move_no_average_precision() -> None:
    app = start(protocol="coco", charts="labels,scores")
    before = shown(app)
    app.slider(key="iou").set_value(0.75)
    dashboard.fine(app.slider(key="score_0").set_value(0.6).run())
    assert shown(app) == before
    assert [each.proto.alt for each in app.get("vega_lite_chart")] == [
        "Precision against recall by label",
        "F1, precision and recall against the score threshold",
        "Precision against recall",
        "What each error costs",
        "Reliability of the scores of A",
        "Reliability of the scores of B",
    ]
    choice = app.selectbox(key="table_iou_0.75")
    assert choice.options == [f"IoU {value:.2f}" for value in coco.IOU_THRESHOLDS]
    table = next(each for each in app.dataframe if "ECE B" in each.value)
    columns = json.loads(table.proto.columns)
    # The width of the table in a window of 1,440 pixels, measured in Chromium.
    assert sum(each["width"] for name, each in columns.items() if name in table.value) <= 754
    dashboard.fine(choice.set_value(0.9).run())


def test_an_undefined_number_says_why() -> None:
    instances, results = random_set(3)
    for annotation in instances["annotations"]:
        annotation["area"] = 100
    result = coco.evaluate(*read_pair(instances, results))
    groups = PROTOCOLS["coco"].protocol_metrics(result)  # type: ignore[attr-defined]
    why = {one.title: one.why for one in groups[0].numbers}
    assert why["Medium"] == why["Large"] == "no ground truth of this size"
    assert [one.value for group in groups for one in group.numbers] == list(result.numbers.values())


@pytest.mark.parametrize("folder", PODS, ids=lambda path: path.name)
def test_the_numbers_of_pod_on_screen_are_those_of_the_oracle(folder: Path) -> None:
    app = start(files=workspace(folder / "gt", [folder / "submission.xml"]), protocol="pod", charts="labels")
    expected = json.loads((folder / "expected.json").read_text())["expected"]
    wanted = []
    for iou in ("0.6", "0.8"):
        wanted += [three(expected[iou][name] and expected[iou][name]["value"]) for name in ("map_11point", "ave_f1")]
    assert shown(app)[0] == wanted
    table = app.dataframe[0].value
    for iou in ("0.6", "0.8"):
        for row, label in enumerate(table["Label"]):
            numbers = expected[iou][label]
            first = iou == "0.6"
            for title, name in ((f"AP {iou}0{', A' if first else ''}", "ap_11point"), (f"F1 {iou}0", "f1")):
                if numbers is not None:
                    assert table[title][row] == pytest.approx(numbers[name]["value"])


@cache
def sample_result(protocol: str, model: int = 1) -> BoxEvaluation:
    files = [SAMPLE_DATA / f"{name}.json" for name in ("lines", "blocks")]
    return project.evaluate_together(protocol, SAMPLE_DATA / "ground_truth.json", files)[model].result


@pytest.mark.parametrize("protocol", ["snapshot", "pod", "coco"])
def test_calibration_is_that_of_the_true_and_false_positives(protocol: str) -> None:
    first = sample_result(protocol).first
    side, labels = first.matching.prediction, first.matching.labels
    rows = np.concatenate([first.matches.prediction, first.false_positives])
    right, together = np.arange(len(rows)) < len(first.matches), box_calibrations(first)
    assert list(together) == [None, *labels]
    for label, bins in together.items():
        of_label = side.label[rows] == first.matching.dataset.labels.index(label or labels[0]) if label else right >= 0
        wanted = calibration(right[of_label], side.score[rows][of_label], bins=10)
        for made in (bins, box_calibration(first, label)):
            np.testing.assert_array_equal(made.count, wanted.count)
            np.testing.assert_allclose(made.accuracy, wanted.accuracy)
            assert made.error == pytest.approx(wanted.error, nan_ok=True)
    with pytest.raises(ValueError, match="label must be one of"):
        box_calibration(first, "no label")


@pytest.mark.parametrize("protocol", ["snapshot", "pod", "coco"])
def test_best_score_and_ece_of_each_label_are_on_screen(protocol: str) -> None:
    app = start(protocol=protocol, iou="0.6", charts="labels,scores")
    table = next(each.value for each in app.dataframe if "ECE A" in each.value.columns)
    system, dataset = PROTOCOLS[protocol], sample_result(protocol).evaluated
    options = system.options()
    pairs = system.pair(dataset, 0, options)
    result = system.match(pairs, options).at(0.6)
    choice = threshold_choice(pairs.score_curve(iou=0.6))
    assert list(table["Label"]) == list(result.matching.labels)
    own = dict(zip(choice.labels, choice.own.tolist(), strict=True))
    f1 = dict(zip(choice.labels, choice.label_f1_own.tolist(), strict=True))
    for label, score, best, error in zip(
        *(table[name] for name in ("Label", "Score A", "Best F1", "ECE A")), strict=True
    ):
        bins = box_calibration(result, label)
        assert (score, best) == pytest.approx((own[label], f1[label]), nan_ok=True)
        assert error == pytest.approx(bins.error, nan_ok=True)
    # The bars are those of the chosen label.
    chosen = next(each for each in app.selectbox if each.label == "Reliability of")
    label = result.matching.labels[0]
    dashboard.fine(chosen.set_value(label).run())
    bins = box_calibration(result, label)
    assert f"A ECE {bins.error:.3f}" in dashboard.words(app)


@pytest.mark.parametrize("protocol", ["snapshot", "pod", "coco"])
def test_a_threshold_of_each_label_is_the_best_of_a_search(protocol: str) -> None:
    pairs = sample_result(protocol).matching.pairs
    iou = PROTOCOLS[protocol].thresholds[0]  # type: ignore[attr-defined]
    choice = threshold_choice(pairs.score_curve(iou=iou))
    assert choice.one == pairs.best_f1(iou=iou)
    tp = fp = fn = 0
    for label, own, f1 in zip(choice.labels, choice.own, choice.label_f1_own, strict=True):
        steps = [pairs.match(min_score=step / 100, labels=(label,)).at(iou).micro for step in range(0, 101, 5)]
        assert max(np.nan_to_num(step.f1[0]) for step in steps) <= f1 + 1e-12
        at = pairs.match(min_score=float(own), labels=(label,)).at(iou).micro
        assert at.f1[0] == pytest.approx(f1)
        tp, fp, fn = tp + int(at.tp[0]), fp + int(at.fp[0]), fn + int(at.fn[0])
    assert choice.f1_own == pytest.approx(2 * tp / (2 * tp + fp + fn))
    plain = choice.to_json()
    assert plain["one"]["score"] == choice.one
    assert list(plain["own"]["score"]) == list(choice.labels)


def test_thresholds_without_boxes_are_undefined() -> None:
    nothing = np.zeros((2, 1), dtype=np.int64)
    curve = ScoreCurve(np.array([0.0, 1.0]), ("a",), nothing, nothing, np.zeros(1, dtype=np.int64))
    choice: ThresholdChoice = threshold_choice(curve)
    assert (choice.one, choice.to_json()["own"]) == (0.0, {"f1": None, "score": {"a": None}})
    assert choice.gains.tolist() == []


def test_a_thinned_curve_keeps_its_ends() -> None:
    recall = np.linspace(0.0, 1.0, 5000)
    kept = thin_curve(Curve(1.0 - recall, np.linspace(1.0, 0.3, 5000), recall, recall), 100)
    assert 50 < len(kept.score) <= 102
    assert (kept.recall[0], kept.recall[-1]) == (0.0, 1.0)
    assert len(thin_curve(Curve(*(np.array([np.nan, 0.5]) for _ in range(4)))).score) == 1


@pytest.mark.parametrize("protocol", ["snapshot", "pod", "coco"])
def test_every_protocol_of_boxes_tells_what_errors_cost(protocol: str) -> None:
    of = PROTOCOLS[protocol]
    result = sample_result(protocol)
    errors = of.error_types(result)
    assert errors.options.iou == of.thresholds[0]
    first = result.first
    assert errors.counts[:-1].sum() == len(first.false_positives)
    assert errors.counts[TIDE.index("missed")] <= len(first.false_negatives)


@pytest.mark.parametrize(("dark", "labels"), [(True, 0), (False, 1), (True, 6)])
def test_the_charts_can_be_drawn(dark: bool, labels: int) -> None:
    column = np.array([0.9, 0.5, 0.2])
    curves = {f"label {place}": Curve(column, column, 1 - column, column) for place in range(labels)}
    points: dict[str, charts.Point] = {label: charts.Point(0.4, float("nan")) for label in curves}
    assert specification(charts.label_curves(curves, points, points, dark=dark))
    costs: dict[str, Any] = {"A": np.array([1.0, np.nan])}
    counts: dict[str, Sequence[int]] = {"A": [3, 0]}
    assert specification(charts.error_costs(["x", "y"], costs, counts, baseline="A", dark=dark))
    bins = calibration(np.array([True, False]), np.array([0.2, 0.9]), bins=10)
    assert specification(charts.reliability_bars(bins, model="A", baseline="A", dark=dark))


FILES = (SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json"])


def means_shown(app: AppTest) -> tuple[list[str], list[list[str]]]:
    body = next(body for body in dashboard.html_blocks(app) if "ls-means" in body)
    titles = dashboard.read_html(body[: body.index("</tr>")]).words
    rows = [row.split("<td")[1:] for row in body.split("<tr")[3:]]
    return titles, [[dashboard.read_html("<td" + cell).words[0] for cell in row] for row in rows]


def expected_means(class_weight: dict[str, float]) -> list[list[str]]:
    """The same numbers from the terminal's way."""
    evaluation = project.evaluate("snapshot", *FILES, class_weight=class_weight)
    ranked = project.evaluate("coco", *FILES)
    rows = []
    for one, other in zip(evaluation, ranked, strict=True):
        at: dict[str, Any] = one.to_json()["thresholds"]["0.5"]
        groups = (at["micro"], at["macro_documents"], at["macro_labels"])
        values = [group[key] for group in groups for key in ("precision", "recall", "f1")]
        rows.append(
            [three(value, "n/a") for value in (*values, *(other.to_json()[name] for name in ("AP", "AP50", "AP75")))]
        )
    return rows


def test_the_means_are_those_of_the_terminal() -> None:
    titles, rows = means_shown(start(charts="means"))
    assert titles == ["All boxes pooled", "Mean over documents", "Mean over labels", "mAP (COCO)"]
    assert rows == expected_means({})


def test_class_weights_are_in_the_address_and_move_the_mean_over_labels_alone() -> None:
    label = json.loads(FILES[0].read_text())["label_map"].popitem()[1]
    app = start(weights=json.dumps([[label, 3.0]]), charts="means")
    titles, rows = means_shown(app)
    assert titles[2] == "Weighted mean over labels"
    assert rows == expected_means({label: 3.0})
    plain = expected_means({})
    assert [row[:6] + row[9:] for row in rows] == [row[:6] + row[9:] for row in plain]
    assert rows != plain
    said = " ".join(each.value for each in app.caption).replace("\\", "").replace("\u2060", "")
    assert f"Weights: {label}=3;" in said
    assert f"class weight {label}=3" in dashboard.signature(app)


def test_weights_that_make_no_sense_are_refused() -> None:
    (entry,) = [each for each in address.TABLE if each.name == "weights"]
    for text in ("[", "3", '[["Table", -1]]', '[["Table", 1e9]]', '[["Table"]]', '{"Table": 2}'):
        with pytest.raises(ValueError):  # noqa: PT011 - each has a reason of its own
            entry.codec.read(text)
    app = start(weights=text, charts="means")
    assert any("could not be followed" in each.value for each in app.caption)
    assert means_shown(app)[1] == expected_means({})


def test_a_protocol_without_weights_has_no_control_and_one_with_average_precision_no_other() -> None:
    titles, _ = means_shown(start(protocol="coco", weights='[["Table", 2]]', charts="means"))
    assert titles == ["All boxes pooled", "Mean over documents", "Mean over labels"]


def test_there_is_no_average_precision_without_scores() -> None:
    truth = ground_truth([box(0.1, 0.1, 0.4, 0.4)])
    bare = annotations([box(0.1, 0.1, 0.4, 0.4, score=None)], side="prediction")
    assert coco.coco_numbers(join(truth, bare)) is None
    scored = annotations([box(0.1, 0.1, 0.4, 0.4, score=0.5)], side="prediction")
    numbers = coco.coco_numbers(join(truth, scored))
    # COCO adds 2**-52 to each denominator.
    assert numbers["AP"] == pytest.approx(1.0, abs=1e-12)
    assert (numbers["AR100"], numbers["APs"]) == (1.0, None)
