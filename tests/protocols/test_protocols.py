"""What must hold for every evaluation system: a protocol joins these tests by being registered.

Each protocol's ``evaluate(ground_truth, prediction, **options)`` answers with a result whose ``thresholds``
hold pooled, per-label, per-page and per-document columns. Inputs are seeded corpora without ties.
"""

import importlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import project
from evaluator.data.dataset import Annotations, join
from evaluator.formats.fields import FORMAT
from evaluator.formats.posters import Posters
from evaluator.matching.box_results import BoxPairs
from evaluator.metrics import export
from evaluator.metrics.results import RATIOS, Fit, MetricColumns
from evaluator.project import Upload
from evaluator.protocols import PROTOCOLS, coco, pod
from tests.building import Box, annotations, box, ground_truth, plain_curve, random_rows, shuffled, taken
from tests.protocols.test_protocol_coco import random_set, read_pair
from tests.protocols.test_protocol_pod import grid_rows, in_pixels

Evaluate = Callable[..., Any]
seeds = st.integers(0, 10**6)
# Where the better score chooses first, the sides are not alike and file order decides between equal scores.
BY_SCORE = {"evaluator.protocols.coco.evaluation", "evaluator.protocols.pod.evaluation"}


@pytest.fixture(params=[name for name, row in PROTOCOLS.items() if row.matches_boxes], scope="module")
def evaluate(request: pytest.FixtureRequest) -> Evaluate:
    return importlib.import_module(f"evaluator.protocols.{request.param}").evaluate


def module_of(evaluate: Evaluate) -> Any:
    return importlib.import_module(evaluate.__module__.rsplit(".", 1)[0])


def sides(seed: int) -> tuple[Annotations, Annotations]:
    truth, predicted = random_rows(seed)
    return ground_truth(truth), annotations(predicted)


def without_equal_scores(source: Annotations) -> Annotations:
    order = np.lexsort((np.arange(len(source.boxes)), source.boxes.score))
    score = np.empty(len(order))
    score[order] = np.linspace(0.0, 1.0, len(order))
    return replace(source, boxes=replace(source.boxes, score=score))


def counts(columns: MetricColumns) -> list[tuple[int, int, int]]:
    return list(zip(columns.tp.tolist(), columns.fp.tolist(), columns.fn.tolist(), strict=True))


def plain_rows(columns: MetricColumns) -> list[Any]:
    """Each row as `MetricColumns.row` gives it, column by column: row by row takes longer than an evaluation."""
    names = ("tp", "fp", "fn", *RATIOS)
    numbers = zip(*(getattr(columns, name).tolist() for name in names), strict=True)
    return [{name: None if math.isnan(one) else one for name, one in zip(names, row, strict=True)} for row in numbers]


def test_the_table_names_each_protocol_by_its_key() -> None:
    for key, protocol in PROTOCOLS.items():
        module = importlib.import_module(f"evaluator.protocols.{key}")
        assert (protocol.name, protocol.version) == (key, module.VERSION)
        assert protocol.title


@given(seed=seeds)
def test_the_order_of_rows_does_not_matter(evaluate: Evaluate, seed: int) -> None:
    truth, prediction = sides(seed)
    if evaluate.__module__ in BY_SCORE:
        prediction = without_equal_scores(prediction)
    first = evaluate(truth, prediction)
    second = evaluate(shuffled(truth, seed + 1), shuffled(prediction, seed + 2))
    for one, other in zip(first.thresholds.values(), second.thresholds.values(), strict=True):
        for name in ("micro", "per_label", "per_page", "per_document"):
            assert plain_rows(getattr(one, name)) == plain_rows(getattr(other, name))


@given(seed=seeds)
def test_identical_input_is_perfect(evaluate: Evaluate, seed: int) -> None:
    rows, _ = random_rows(seed)
    for result in evaluate(ground_truth(rows), annotations(rows)).thresholds.values():
        (tp, fp, fn), scored = counts(result.micro)[0], sum(row.label != "For review" for row in rows)
        assert (tp, fp, fn) == (scored, 0, 0)
        expected = 1.0 if scored else None
        assert [result.micro.row(0)[name] for name in RATIOS] == [expected] * len(RATIOS)


@given(seed=seeds)
def test_swapping_the_sides_swaps_precision_and_recall(evaluate: Evaluate, seed: int) -> None:
    if evaluate.__module__ in BY_SCORE:
        return
    truth, predicted = random_rows(seed)
    forth = evaluate(ground_truth(truth), annotations(predicted))
    back = evaluate(ground_truth(predicted), annotations(truth))
    swapped = {"fp": "fn", "fn": "fp", "precision": "recall", "recall": "precision"}
    swapped |= {"mean_coverage": "mean_purity", "mean_purity": "mean_coverage"}
    for one, other in zip(forth.thresholds.values(), back.thresholds.values(), strict=True):
        for row, turned in zip(plain_rows(one.per_label), plain_rows(other.per_label), strict=True):
            assert row == {key: turned[swapped.get(key, key)] for key in row}


@given(seed=seeds, page=st.integers(0, 3))
def test_an_extra_false_positive_never_helps(evaluate: Evaluate, seed: int, page: int) -> None:
    truth, predicted = random_rows(seed)
    # No ground truth is in this corner of the page, and page 3 has none at all.
    truth = [row for row in truth if row.xyxy[2] < 0.9 or row.xyxy[3] < 0.9]
    extra = Box("0.pdf", page, "Table", (0.9, 0.9, 1.0, 1.0), 1.0)
    before = evaluate(ground_truth(truth), annotations(predicted))
    after = evaluate(ground_truth(truth), annotations([*predicted, extra]))
    for one, other in zip(before.thresholds.values(), after.thresholds.values(), strict=True):
        old, new = one.micro.row(0), other.micro.row(0)
        assert (new["tp"], new["fp"], new["fn"]) == (old["tp"], old["fp"] + 1, old["fn"])
        assert new["precision"] <= (1.0 if old["precision"] is None else old["precision"])
        assert new["recall"] == old["recall"]
        assert old["f1"] is None or new["f1"] <= old["f1"]


@given(seed=seeds)
def test_pages_documents_and_labels_add_up_to_the_pooled_row(evaluate: Evaluate, seed: int) -> None:
    result = evaluate(*sides(seed))
    for threshold in result.thresholds.values():
        for name in ("per_page", "per_document", "per_label"):
            columns = getattr(threshold, name)
            pooled = columns.pooled(np.zeros(len(columns), dtype=np.int64), 1)
            assert counts(pooled) == counts(threshold.micro)
            assert all(pooled.fit_sum(fit) == threshold.micro.fit_sum(fit) for fit in get_args(Fit))
        boxes = (len(each) for each in (threshold.matches, threshold.false_positives, threshold.false_negatives))
        assert counts(threshold.micro) == [tuple(boxes)]


@given(seed=seeds)
def test_documents_evaluated_apart_add_up(evaluate: Evaluate, seed: int) -> None:
    truth, predicted = random_rows(seed)
    whole = evaluate(ground_truth(truth), annotations(predicted))
    document_rows = {iou: {} for iou in whole.thresholds}
    for name in sorted({row.document for row in [*truth, *predicted]}):
        apart = [[row for row in rows if row.document == name] for rows in (truth, predicted)]
        for iou, result in evaluate(ground_truth(apart[0]), annotations(apart[1])).thresholds.items():
            (document_rows[iou][name],) = plain_rows(result.micro)
    for iou, result in whole.thresholds.items():
        assert plain_rows(result.per_document) == list(document_rows[iou].values())


@given(seed=seeds, wanted=st.integers(0, 15))
def test_documents_that_are_chosen_equal_their_own_rows(evaluate: Evaluate, seed: int, wanted: int) -> None:
    for result in evaluate(*sides(seed)).thresholds.values():
        everything = np.ones(len(result.per_document), dtype=bool)
        micro, per_label = result.in_documents(everything)
        assert plain_rows(micro) + plain_rows(per_label) == plain_rows(result.micro) + plain_rows(result.per_label)
        assert micro.fit_sum("iou") == result.micro.fit_sum("iou")
        for nothing in result.in_documents(~everything):
            assert set(counts(nothing)) == {(0, 0, 0)}
            assert np.isnan(nothing.precision).all()
        chosen = np.array([bool(wanted >> code & 1) for code in range(len(everything))], dtype=bool)
        rows, (micro, per_label) = result.per_document.take(np.flatnonzero(chosen)), result.in_documents(chosen)
        for columns in (rows, per_label):
            assert counts(columns.pooled(np.zeros(len(columns), dtype=np.int64), 1)) == counts(micro)


def corpus(evaluate: Evaluate, seed: int) -> tuple[Annotations, Annotations]:
    if evaluate is coco.evaluate:
        return read_pair(*random_set(seed, images=6, per_image=3.0, crowds=(0.0, 0.3)[seed % 2]))
    return in_pixels(*grid_rows(seed)) if evaluate is pod.evaluate else sides(seed)


ious = st.sampled_from([0.1, 0.33, 0.5, 0.75, 0.9])


@given(seed=seeds, score=st.integers(0, 100), iou=ious)
def test_a_score_threshold_equals_a_filtered_file(evaluate: Evaluate, seed: int, score: int, iou: float) -> None:
    truth, prediction = corpus(evaluate, seed)
    iou = max(iou, 0.5) if evaluate is coco.evaluate else iou
    cut = evaluate(truth, prediction, min_score=score / 100, iou=[iou])
    anew = evaluate(truth, taken(prediction, np.flatnonzero(prediction.boxes.score >= score / 100)), iou=[iou])
    assert cut.table().rows == anew.table().rows
    rematched = module_of(evaluate).pair(join(truth, prediction)).match(min_score=score / 100).at(iou)
    for one in (cut.thresholds[iou], rematched):
        for name in ("micro", "per_label", "per_page", "per_document"):
            assert plain_rows(getattr(one, name)) == plain_rows(getattr(anew.thresholds[iou], name))


@given(seed=seeds, iou=ious, step=st.integers(0, 100), below=st.booleans())
def test_a_score_curve_is_the_matching_at_each_threshold(
    evaluate: Evaluate, seed: int, iou: float, step: int, below: bool
) -> None:
    truth, prediction = corpus(evaluate, seed)
    if below:  # scores that are no probabilities: a threshold of 0 leaves none out
        prediction = replace(prediction, boxes=replace(prediction.boxes, score=3 * prediction.boxes.score - 1))
    pairs = module_of(evaluate).pair(join(truth, prediction))
    iou = max(iou, 0.5) if evaluate is coco.evaluate else iou
    curve = pairs.score_curve(iou=iou)
    for at in (0, step, 100):
        result = pairs.match(min_score=at / 100).at(iou)
        columns = [(curve.columns(label), result.per_label, row) for row, label in enumerate(result.matching.labels)]
        for of_curve, expected, row in [(curve.columns(), result.micro, 0), *columns]:
            counted = [(column.tp, column.fp, column.fn) for column in (of_curve, expected)]
            assert [each[at] for each in counted[0]] == [each[row] for each in counted[1]]
    # A result with fewer predictions or labels does not know all of them.
    for matching in (pairs.match(min_score=0.4), pairs.match(labels=pairs.dataset.labels[:1])):
        assert plain_curve(matching.at(iou).score_curve()) == plain_curve(curve)
    assert plain_curve(BoxPairs.score_curve(pairs, iou=iou)) == plain_curve(curve)


@given(seed=seeds)
def test_ratios_are_in_range_or_undefined(evaluate: Evaluate, seed: int) -> None:
    truth, predicted = random_rows(seed, documents=2, pages=2, per_page=0.6)
    for result in evaluate(ground_truth(truth), annotations(predicted)).thresholds.values():
        for columns in (result.micro, result.per_label, result.per_page, result.per_document):
            rows = plain_rows(columns)
            for index, (tp, fp, fn) in enumerate(counts(columns)):
                row = columns.row(index)
                assert row == rows[index]
                denominators = {"precision": tp + fp, "recall": tp + fn, "f1": tp + fp + fn}
                for name in RATIOS:
                    assert (row[name] is None) == (denominators.get(name, tp) == 0)
                    assert row[name] is None or 0.0 <= row[name] <= 1.0
                    assert math.isnan(getattr(columns, name)[index]) == (row[name] is None)


@given(seed=seeds)
def test_a_curve_ends_where_the_row_is(evaluate: Evaluate, seed: int) -> None:
    result = evaluate(*corpus(evaluate, seed)).first
    for row, label in enumerate(result.matching.labels if evaluate.__module__ in BY_SCORE else ()):
        curve, of_label = result.curve(label), result.per_label
        assert (np.diff(curve.score) < 0).all()
        if len(curve.score):
            ends = [of_label.precision[row], of_label.recall[row]]
            assert [curve.precision[-1], curve.recall[-1]] == pytest.approx(ends, nan_ok=True)
        else:
            assert math.isnan(of_label.precision[row])


def test_two_empty_files_leave_every_ratio_undefined(evaluate: Evaluate) -> None:
    result = evaluate(ground_truth([]), annotations([]))
    for threshold in result.thresholds.values():
        assert list(threshold.micro.row(0).values()) == [0, 0, 0, *[None] * len(RATIOS)]
        assert (len(threshold.per_page), len(threshold.per_document)) == (0, 0)
    assert "NaN" not in export.to_json(result.to_json())
    no_label = evaluate(ground_truth([], labels=()), annotations([], labels=())).first
    assert no_label.score_curve().tp.shape == (101, 0)


@given(seed=seeds)
def test_the_json_has_the_keys_of_the_contract_and_no_nan(evaluate: Evaluate, seed: int) -> None:
    value = evaluate(*sides(seed)).to_json()
    assert {"protocol", "signature", "ground_truth", "predictions", "issues"} <= value.keys()
    assert set(value["ground_truth"]) == set(value["predictions"]) == {"name", "sha256"}

    def refuse(value: Any) -> None:
        assert not (isinstance(value, float) and math.isnan(value))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
            refuse(inner)

    refuse(value)
    assert msgspec.json.decode(export.to_json(value)) == msgspec.to_builtins(value)


@given(seed=seeds)
def test_evaluating_twice_gives_the_same_and_edits_nothing(evaluate: Evaluate, seed: int) -> None:
    truth, prediction = sides(seed)
    for side in (truth, prediction):
        for column in (side.boxes.xyxy, side.boxes.score, side.boxes.label, side.boxes.page, side.page_index):
            column.flags.writeable = False
    assert evaluate(truth, prediction).to_json() == evaluate(truth, prediction).to_json()


@pytest.mark.parametrize("protocol", ["snapshot", "pod", "coco", "pixel"])
def test_regions_of_many_objects_are_left_out_or_said_to_count(protocol: str) -> None:
    truth = {
        "images": [{"id": 1, "file_name": "a.png", "width": 900, "height": 900}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [
            {"id": place, "image_id": 1, "category_id": 1, "bbox": [200 * place, 0, 100, 100], "area": 1e4,
             "iscrowd": place % 2}
            for place in (1, 2, 3)
        ],
    }  # fmt: skip
    result = [{"image_id": 1, "category_id": 1, "bbox": [400, 0, 100, 100], "score": 0.5}]
    gt, dt = (Upload(n, ((n, json.dumps(c).encode()),)) for n, c in (("gt.json", truth), ("dt.json", result)))
    (evaluated,) = project.evaluate(protocol, gt, [dt])
    said = [str(issue.place) + " " + issue.found for issue in evaluated.issues if "many objects" in issue.rule]
    assert said == ([] if protocol == "coco" else ["$.annotations[0].iscrowd 2 regions"])
    if protocol != "pixel":
        assert evaluated.result.first.micro.row(0)["fn"] == (0 if protocol == "coco" else 2)  # type: ignore[attr-defined]


ROWS = [box(0.0, 0.0, 1.0, 1.0, score=0.5), box(0.0, 0.0, 0.5, 0.5, label="Table", score=0.5)]
BOXES = ground_truth(ROWS), annotations(ROWS)
FIELDS = [FORMAT.read(b'{"doc_id": "a", "fields": {"total": 1}}', f"{name}.jsonl") for name in ("gt", "pred")]


@pytest.mark.parametrize(
    ("protocol", "options", "sentence"),
    [
        ("snapshot", {"iou": []}, "at least one IoU threshold is needed"),
        ("snapshot", {"iou": [0.0]}, "iou_floor must be in (0, 1]; found 0.0"),
        ("snapshot", {"iou": [0.5, 1.5]}, "iou must be in [0.5, 1]; found 1.5"),
        ("snapshot", {"labels": ["Figure", "Chart"]}, "labels not in the label map: Chart"),
        ("snapshot", {"class_weight": {"Chart": 2.0}}, "weights for labels not in the label map: Chart"),
        ("coco", {"iou": []}, "at least one IoU threshold is needed"),
        ("coco", {"iou": [0.0]}, "iou_floor must be in (0, 1]; found 0.0"),
        ("coco", {"labels": ["Chart"]}, "labels not in the label map: Chart"),
        ("pod", {"iou": []}, "at least one IoU threshold is needed"),
        ("pod", {"iou": [0.0]}, "iou_floor must be in (0, 1]; found 0.0"),
        ("pod", {"iou": [0.5, 1.5]}, "iou must be in [0.5, 1]; found 1.5"),
        ("pod", {"ap": "101-point"}, "ap must be one of 11-point, all-point; found 101-point"),
        ("pod", {"small_px": -1.0}, "small_px must be a number of at least 0; found -1.00"),
        ("pod", {"line_max_px": math.nan}, "line_max_px must be a number of at least 0; found nan"),
        ("pod", {"labels": ["Chart"]}, "labels that no file has: Chart"),
        ("pixel", {"classes": "equal"}, "classes must be one of auto, same, different; found equal"),
        ("pixel", {"missing_page": "skip"}, "missing_page must be one of penalize, ignore; found skip"),
        ("pixel", {"labels": ["Table", "z"]}, "labels not in the label maps: z"),
        ("pixel", {"shared_labels": ["b"]}, "shared labels must be on both sides: b"),
        ("fields", {"iou": [0.5, 0.0]}, "iou must be in (0, 1]; found 0.0"),
        ("fields", {"iou": math.nan}, "iou must be in (0, 1]; found nan"),
        ("fields", {"min_score": 1.5}, "min_score must be in [0, 1]; found 1.5"),
        ("fields", {"parity": "coco"}, "parity must be one of none, stickler; found coco"),
        ("fields", {"recall_grid": "fine"}, "recall_grid must be one of linspace, decimal; found fine"),
        ("fields", {"labels": ["total", "sum"]}, "labels that no document has: sum"),
        ("posters", {"profile": "strict"}, "profile must be one of documented, published; found strict"),
    ],
)
def test_options_that_make_no_sense_are_refused(protocol: str, options: dict[str, Any], sentence: str) -> None:
    module = importlib.import_module(f"evaluator.protocols.{protocol}")
    given_sides = {"fields": FIELDS, "posters": [Posters("gold", "0" * 64, {}, {}, ())] * 2}.get(protocol, BOXES)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        module.evaluate(*given_sides, **({"page_size": (9.0, 9.0)} if protocol == "pixel" else {}), **options)


@pytest.mark.parametrize("protocol", ["coco", "pod"])
def test_a_question_outside_of_the_matching_is_refused(protocol: str) -> None:
    matching = importlib.import_module(f"evaluator.protocols.{protocol}").pair(join(*BOXES)).match()
    with pytest.raises(ValueError, match=r"^iou must be in \[0.[15], 1\]; found 0.04$"):
        matching.at(0.04)
    with pytest.raises(ValueError, match=r"^label must be one of Figure, Table; found Chart$"):
        matching.at(0.6).curve("Chart")
