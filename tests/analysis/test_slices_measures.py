"""Measures of slices besides recall: each is a mean over boxes, in the search, in named slices and of two models."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from evaluator.analysis.slices.all_measures import find_by_all_measures
from evaluator.analysis.slices.conditions import Condition
from evaluator.analysis.slices.detail import detail_of
from evaluator.analysis.slices.measure_values import MEASURES, WORDS, Measure, box_values
from evaluator.analysis.slices.named_slices import NamedMeasure, NamedSlice, measure_named, named_tables
from evaluator.analysis.slices.slices import Slices, boxes_in, boxes_of_slice, find_slices, pages_of
from evaluator.data.dataset import join
from evaluator.matching.box_items import MATCHED, count_boxes, items, with_boxes
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.results import RATIOS
from evaluator.protocols.snapshot.evaluation import pair
from evaluator.system import progress
from tests.building import annotations as prediction
from tests.building import box, ground_truth
from tests.dashboard import SAMPLE_DATA
from tests.sample_part import sample_results
from tests.terminal import run_command


@pytest.fixture
def results() -> list[AnyBoxResult]:
    return list(sample_results())


def measured(result: AnyBoxResult, slices: list[NamedSlice]) -> tuple[NamedMeasure, ...]:
    return measure_named(result, slices, named_tables(result))


def test_the_measures_are_those_of_the_results(results: list[AnyBoxResult]) -> None:
    assert set(MEASURES) == set(RATIOS)
    for measure in MEASURES:
        (values,) = box_values(results[:1], measure).values
        assert values.mean() == pytest.approx(float(getattr(results[0].micro, measure)[0])), measure
        both = box_values(results, measure)
        for result, values in zip(results, both.values, strict=True):
            assert np.nanmean(values) == pytest.approx(float(getattr(result.micro, measure)[0])), measure
        assert both.paired == (measure == "recall")


def test_f1_of_a_slice_by_hand() -> None:
    truth = [box(0.1, 0.1, 0.4, 0.2), box(0.1, 0.3, 0.4, 0.4), box(0.1, 0.6, 0.4, 0.7)]
    predicted = [box(0.1, 0.1, 0.4, 0.2), box(0.1, 0.32, 0.4, 0.4), box(0.1, 0.8, 0.4, 0.9), box(0.6, 0.8, 0.9, 0.9)]
    result = pair(join(ground_truth(truth), prediction(predicted))).match().at(0.5)
    upper = NamedSlice("upper", (Condition("y", "<", 0.5),))
    lower = NamedSlice("lower", (Condition("y", ">=", 0.5),))
    values = {(each.slice.name, each.measure): each.value for each in measured(result, [upper, lower])}
    # Above: 2 boxes and 2 predictions, all matched, IoU 1 and 0.8. Below: 1 box and 2 predictions, none matched.
    above = [values["upper", measure] for measure in ("f1", "mean_iou", "mean_coverage", "mean_purity")]
    assert above == pytest.approx([1.0, 0.9, 0.9, 1.0])
    assert values["lower", "f1"] == 0.0
    assert np.isnan(values["lower", "mean_iou"])
    everything = NamedSlice("all", (Condition("y", ">=", 0.0),))
    f1 = next(each for each in measured(result, [everything]) if each.measure == "f1")
    assert (f1.total.sum(), f1.boxes.sum(), f1.value) == (4.0, 7.0, pytest.approx(4 / 7))
    assert f1.value == pytest.approx(float(result.micro.f1[0]))


def test_a_condition_on_the_score_has_precision_alone() -> None:
    rows = [box(0.1, 0.1, 0.4, 0.2, score=0.9)]
    result = pair(join(ground_truth(rows), prediction(rows))).match().at(0.5)
    made = measured(result, [NamedSlice("sure", (Condition("score", ">=", 0.5),))])
    assert [(each.measure, each.value) for each in made] == [("precision", 1.0)]


@pytest.mark.parametrize("measure", MEASURES)
def test_what_a_slice_counts_is_what_opens(results: list[AnyBoxResult], measure: Measure) -> None:
    last, every = results[0], items(results[0])
    listed: Slices = find_slices(results[:1], measure=measure, smallest=0.0, depth=2)
    conditions = [each.conditions for each in listed.slices] or [(Condition("label", "==", "Text"),)]
    for each in conditions:
        inside = boxes_in(each, last, measure)
        chosen = every.take(np.flatnonzero(with_boxes(every, inside)))
        (named,) = [one for one in measured(last, [NamedSlice("x", each)]) if one.measure == measure]
        assert count_boxes(chosen, inside) == named.boxes.sum()
        assert not WORDS[measure].fits or set(chosen.kind.tolist()) <= {MATCHED}
    for one in listed.slices:
        detail = detail_of(one, results[:1])
        assert detail.models[0].here.value == pytest.approx(one.value)
        assert detail.models[0].boxes == one.boxes == sum(page.boxes for page in pages_of(one, results[:1]))
        for side, other in zip(boxes_of_slice(one, last)[:2], boxes_in(one.conditions, last, measure)[:2], strict=True):
            assert (side is None) == (other is None)
            assert side is None or (side == other).all()


@pytest.fixture(scope="module")
def two_models() -> list[AnyBoxResult]:
    """A model, and one that draws captions loosely and finds list items where the ground truth has none."""
    rng = np.random.default_rng(0)
    rows, models = [], ([], [])  # type: ignore[var-annotated]
    for page in range(120):
        for place in range(10):
            label, top = ("Text", "Caption", "List-item")[int(rng.integers(3))], 0.02 + 0.08 * place
            one = box(0.1, top, 0.1 + float(rng.uniform(0.2, 0.4)), top + 0.05, label=label)
            one = one._replace(document=f"d{page // 6:02}.pdf", page=page % 6)
            unlabelled = rng.random() < 0.3
            if not unlabelled:
                rows.append(one)
            x1, y1, x2, y2 = one.xyxy
            for model, loose in zip(models, (False, True), strict=True):
                if rng.random() < ((0.1 if loose and label == "List-item" else 0.8) if unlabelled else 0.1):
                    continue
                more = 0.3 if loose and label == "Caption" else float(rng.uniform(0.0, 0.1))
                model.append(one._replace(xyxy=(x1, y1, x2, y2 + more * 0.05), score=0.9))
    labels = ("Text", "Caption", "List-item")
    dataset = join(ground_truth(rows, labels=labels), *(prediction(each, labels=labels) for each in models))
    return [pair(dataset, model).match().at(0.5) for model in (0, 1)]


@pytest.mark.parametrize(
    ("measure", "label"), [("precision", "List-item"), ("f1", "List-item"), ("mean_iou", "Caption")]
)
def test_the_difference_of_two_models_is_found_by_its_measure(
    two_models: list[AnyBoxResult], measure: Measure, label: str
) -> None:
    one = find_slices(two_models, measure=measure, depth=2).slices[0]
    assert Condition("label", "==", label) in one.conditions
    assert one.models is not None
    a, b = one.models
    assert one.value == pytest.approx(b - a)
    assert one.value < -0.1
    assert abs(one.rest) < 0.06
    # The boxes are those of B, of which the slice opens every one.
    inside = boxes_in(one.conditions, two_models[1], measure)
    (named,) = [each for each in measured(two_models[1], [NamedSlice("x", one.conditions)]) if each.measure == measure]
    assert one.boxes == named.boxes.sum()
    assert one.models[1] == pytest.approx(named.value)
    assert count_boxes(items(two_models[1]), boxes_of_slice(one, two_models[1])) == one.boxes
    assert count_boxes(items(two_models[1]), inside) == one.boxes
    detail = detail_of(one, two_models)
    assert [each.here.value for each in detail.models] == pytest.approx([a, b])


def test_where_both_models_are_alike_nothing_is_listed(two_models: list[AnyBoxResult]) -> None:
    for measure in ("precision", "mean_iou"):
        assert find_slices([two_models[0]] * 2, measure=measure, depth=2).slices == ()  # type: ignore[arg-type]


def test_all_measures_are_one_list_with_one_row_for_a_cause(results: list[AnyBoxResult]) -> None:
    steps: list[tuple[int, int]] = []
    measures: tuple[Measure, ...] = ("precision", "f1", "mean_purity")
    listed = find_by_all_measures(results[:1], measures=measures, depth=2, count=lambda *step: steps.append(step))
    assert steps == [(0, 3), (1, 3), (2, 3)]
    assert [each.lost for each in listed.slices] == sorted((each.lost for each in listed.slices), reverse=True)
    # Small predictions where the ground truth has none lower precision and F1: one row, which names the other measure.
    first = listed.slices[0]
    assert (first.measure, first.also) == ("precision", ("f1",))
    assert " documents; also F1; confirmed" in first.sentence
    assert first.to_json()["also"] == ["f1"]
    assert any(each.measure == "mean_purity" for each in listed.slices)
    alone = find_slices(results[:1], measure="precision", depth=2).slices[0]
    assert alone.also == ()
    assert "also" not in alone.to_json()
    assert (first.conditions, first.lost, first.p) == (alone.conditions, alone.lost, pytest.approx(3 * alone.p))


def test_where_b_gains_less_it_does_not_lose(two_models: list[AnyBoxResult]) -> None:
    one = find_slices(two_models, measure="mean_iou", depth=1).slices[0]
    assert "B loses here, " in one.sentence
    assert "B gains less here, " in replace(one, value=0.01, rest=0.2).sentence
    assert "B gains here, " in replace(one, value=0.3, rest=0.2).sentence
    assert "B loses less here, " in replace(one, value=-0.1, rest=-0.3).sentence


def test_the_terminal_takes_every_measure(capsys: pytest.CaptureFixture[str]) -> None:
    files = ("--gt", SAMPLE_DATA / "ground_truth.json", "--pred", SAMPLE_DATA / "lines.json")
    measures = {}
    for measure in ("f1", "all"):
        words = ("slices", "snapshot", *files, "--measure", measure, "--conditions", "1", "--json")
        code, out, err = run_command(capsys, *words)
        assert code == 0, err
        rows = msgspec.json.decode(out)
        assert [row["lost"] for row in rows] == sorted((row["lost"] for row in rows), reverse=True)
        measures[measure] = {row["measure"] for row in rows}
    assert measures["f1"] == {"f1"}
    assert len(measures["all"]) > 1


def test_the_gate_says_what_a_slice_has(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    named = tmp_path / "named.json"
    named.write_text('{"wide": [{"attribute": "width", "op": ">=", "value": 0.5}]}')
    files = ("--gt", SAMPLE_DATA / "ground_truth.json", "--pred", SAMPLE_DATA / "lines.json")
    code, _, err = run_command(capsys, "gate", "coco", *files, "--slices", named, "--fail-if", "ap[slice:wide] < 0.5")
    assert code == 2
    assert "no AP of slice:wide; of it there are recall, precision, f1, mean_iou, mean_coverage, mean_purity" in err


def test_too_few_documents_are_said_with_how_many_more(two_models: list[AnyBoxResult]) -> None:
    dataset = two_models[0].matching.dataset
    late = {(name, None): {"kind": "form" if name in ("d00.pdf", "d01.pdf", "d02.pdf") else "memo"}
            for name in dataset.document_ids}  # fmt: skip
    truth = dataset.ground_truth
    missed = np.isin(truth.document, [dataset.document_code[f"d0{place}.pdf"] for place in range(3)])
    rows = np.flatnonzero(missed)
    result = two_models[0]
    partner = result.truth_partner.copy()
    partner[rows] = -1
    worse = replace(result)
    worse.__dict__["truth_partner"] = partner
    listed = find_slices([worse], of_pages=late, depth=1)
    (one,) = [each for each in listed.thin if each.conditions[0].attribute == "kind"]
    assert one.missing == 2
    assert one.sentence.endswith("in 3 documents; too few documents, 2 more needed")


def test_a_search_reports_what_it_has_tested_and_may_be_ended(two_models: list[AnyBoxResult]) -> None:
    said: list[tuple[int, int]] = []
    with progress.reporting(lambda done, total: said.append((done, total))):
        slices = find_by_all_measures(two_models[:1], measures=("recall", "precision"), depth=2)
    assert [done for done, _ in said] == sorted(done for done, _ in said)
    assert 0 < said[-1][0] <= slices.searched.tested

    def enough(done: int, _total: int) -> None:
        raise LookupError(done)

    with progress.reporting(enough), pytest.raises(LookupError):
        find_by_all_measures(two_models[:1], measures=("recall",), depth=2)
