"""Slices of what is not matched box by box: fields, posters with their words, labels of pages."""

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from evaluator import project
from evaluator.analysis.slices.conditions import Condition, condition_mask
from evaluator.analysis.slices.measure_values import ALL
from evaluator.analysis.slices.named_slices import NamedSlice
from evaluator.analysis.slices.observation_slices import (
    find_observation_slices,
    measures_of,
    observation_numbers,
    observations_of,
    pages_of,
)
from evaluator.analysis.slices.slices import attribute_table
from evaluator.cli.registered import run
from evaluator.metrics.observations import Observations
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.base import Result
from evaluator.protocols.fields.evaluation import FieldsResult
from evaluator.protocols.pixel.evaluation import PixelResult
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME
from evaluator.protocols.posters.evaluation import PostersResult
from tests.dashboard import SAMPLE_DATA
from tests.terminal import run_command

FIELDS = SAMPLE_DATA / "fields"
POSTERS = SAMPLE_DATA / "posters"


@cache
def results_of(protocol: str, *models: str) -> tuple[Result, ...]:
    if protocol == "pixel":
        truth, files = SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / f"{name}.json" for name in models]
        given = {"page_size": (612.0, 792.0)}
    else:
        folder = FIELDS if protocol == "fields" else POSTERS
        truth, files, given = folder / "ground_truth", [folder / name for name in models], {}
    evaluated = project.evaluate_together(protocol, truth, files, lambda _said: None, **given)
    return tuple(one.result for one in evaluated)


def mean_of(observed: Observations, model: int = 0) -> float:
    values = observed.values[model]
    return float(values[~np.isnan(values)].mean())


def test_the_mean_over_all_fields_is_the_number_of_the_protocol() -> None:
    (result,) = results_of("fields", "anchors")
    assert isinstance(result, FieldsResult)
    overall, compared = result.overall(0.5), result.compared
    asked = compared.is_field & ~compared.only_predicted
    expected = {
        "recall": overall.recall[0], "precision": overall.precision[0], "value": compared.right[asked].mean(),
        "mean_iou": pytest.approx(compared.iou[result.with_prediction].mean(), abs=1e-15),
    }  # fmt: skip
    assert {measure: mean_of(observations_of([result], measure)) for measure in expected} == expected


def test_the_mean_over_the_labels_of_pages_is_the_mean_over_pages_of_the_protocol() -> None:
    (result,) = results_of("pixel", "lines")
    assert isinstance(result, PixelResult)
    of_class = result.page_means.to_json()["per_class"]
    for measure in PROTOCOLS["pixel"].slice_measures:
        observed = observations_of([result], measure)
        label = attribute_table(observed.attributes)["label"]
        assert BACKGROUND_NAME not in label.names
        for code, name in enumerate(label.names):
            mean = observed.values[0][label.values == code].mean()
            assert mean == pytest.approx(of_class[name][measure], abs=1e-12)
        missing = {name for name, numbers in of_class.items() if numbers[measure] is None}
        assert set(label.names) == set(of_class) - missing - {BACKGROUND_NAME}


def test_the_means_over_posters_and_their_words_are_the_numbers_of_the_protocol() -> None:
    (result,) = results_of("posters", "columns")
    assert isinstance(result, PostersResult)
    for criterion in ("word_capture", "rouge_l", "number_capture"):
        assert mean_of(observations_of([result], criterion)) == pytest.approx(result.aggregate[criterion], abs=1e-15)  # type: ignore[literal-required]
    assert mean_of(observations_of([result], "passes")) == np.mean([poster.passes for poster in result.posters])
    met = ["field_proportion" not in poster.failed for poster in result.posters]
    assert mean_of(observations_of([result], "field_proportion")) == np.mean(met)
    for measure, criterion in (("words", "word_capture"), ("numbers", "number_capture")):
        observed = observations_of([result], measure)
        for code, poster in enumerate(result.posters):
            rows = observed.document == code
            if rows.any():
                assert observed.values[0][rows].mean() == pytest.approx(poster.metrics[criterion], abs=1e-12)  # type: ignore[literal-required]
    observed = observations_of([result], "sections")
    means = [observed.values[0][observed.document == code].mean() for code in range(len(result.posters))]
    assert means == pytest.approx([poster.comparison.sections.mean for poster in result.posters])  # type: ignore[union-attr]
    titles = attribute_table(observed.attributes)["section title"].names
    assert "background" in titles, "titles that differ in case are one"


def test_two_models_are_compared_where_both_have_the_thing() -> None:
    results = results_of("fields", "anchors", "rules")
    both = observations_of(results, "recall")
    assert both.values.shape == (2, len(both))
    assert not np.isnan(both.values).any()
    for model, result in enumerate(results):
        assert mean_of(both, model) == mean_of(observations_of([result], "recall"))
    predicted = observations_of(results, "precision")
    assert (np.isnan(predicted.values).sum(axis=0) == 1).all(), "each model predicts fields of its own"
    for model, result in enumerate(results):
        assert mean_of(predicted, model) == mean_of(observations_of([result], "precision"))


@pytest.mark.parametrize("protocol", ["fields", "posters", "pixel"])
def test_attributes_and_values_are_of_the_things(protocol: str) -> None:
    models = {"fields": ("anchors", "rules"), "posters": ("across", "columns"), "pixel": ("lines", "blocks")}[protocol]
    results = results_of(protocol, *models)
    words = PROTOCOLS[protocol].slice_measures
    for measure in words:
        for chosen in (results[:1], results):
            observed = observations_of(chosen, measure)
            names = [each.name for each in observed.attributes]
            assert len(set(names)) == len(names)
            assert all(len(each.values) == len(observed) == len(observed.items) for each in observed.attributes)
            known = observed.values[~np.isnan(observed.values)]
            assert ((known >= 0.0) & (known <= 1.0)).all()
            assert words[measure].fits or np.isin(known, (0.0, 1.0)).all(), measure
            assert (observed.document < len(observed.documents)).all()
    assert set(pages_of(results)) >= {(observed.documents[0], 0)}
    assert set(measures_of(words)) <= set(words)
    with pytest.raises(KeyError):
        PROTOCOLS[protocol].observations(results, "nothing")


def test_the_confidence_is_an_attribute_of_predictions_only() -> None:
    (result,) = results_of("fields", "anchors")
    names = {measure: {each.name for each in observations_of([result], measure, scores=True).attributes}
             for measure in PROTOCOLS["fields"].slice_measures}  # fmt: skip
    assert {measure for measure, of in names.items() if "confidence" in of} == {"precision", "mean_iou"}
    assert "confidence" not in {each.name for each in observations_of([result], "precision").attributes}


def test_what_is_known_of_pages_and_documents_is_added() -> None:
    (result,) = results_of("fields", "anchors")
    (document, *_) = observations_of([result], "recall").documents
    known = observations_of([result], "recall", of_pages={(document, None): {"vendor": "a", "depth": 7}})
    table = attribute_table(known.attributes)
    assert {"vendor", "depth", "depth (file)"} <= table.keys()
    of_document = known.document == 0
    assert (table["vendor"].values[of_document] == 0).all()
    assert np.isnan(table["vendor"].values[~of_document]).all()


def planted_fields(folder: Path, *, documents: int, miss: bool) -> tuple[Path, Path]:
    """Documents of 12 fields in lists and outside; where it is asked for, most totals outside of lists are missed."""
    rng = np.random.default_rng(3)
    for side in ("truth", "model"):
        (folder / side).mkdir()
    for number in range(documents):
        truth: dict[str, object] = {}
        for place in range(12):
            top = 0.05 + 0.07 * place
            name = ("total", "date", "city")[place % 3]
            value = {"_value": f"{name} {rng.integers(100)}", "_confidence": 0.9, "_bbox": [0.1, top, 0.4, top + 0.05]}
            truth[f"{name}_{place // 3}" if place % 3 else name] = value
            if place % 3 == 0:
                truth[f"part{place}"] = {"total": value}
        model = {key: value for key, value in truth.items()
                 if not (miss and key.startswith("part") and rng.random() < 0.7) and rng.random() > 0.1}  # fmt: skip
        for side, content in (("truth", truth), ("model", model)):
            (folder / side / f"d{number}.json").write_text(json.dumps(content))
    return folder / "truth", folder / "model"


def test_a_failure_of_fields_is_found_by_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth, model = planted_fields(tmp_path, documents=40, miss=True)
    assert run(["slices", "fields", "--gt", str(truth), "--pred", str(model), "--json"]) == 0
    out, err = capsys.readouterr()
    (first, *others) = json.loads(out)
    assert first["measure"] == "recall"
    assert first["value"] < 0.5 < first["rest"]
    assert first["confirmed"]
    assert " fields in 40 documents" in first["sentence"]
    assert "on 520 fields of 40 documents" in err.replace("\n", " ")
    # The slice as a named one has the same number, in evaluate and in the gate.
    named = tmp_path / "named.json"
    named.write_text(json.dumps({"worst": first}))
    arguments = ["--gt", str(truth), "--pred", str(model), "--slices", str(named)]
    assert run(["evaluate", "fields", *arguments, "--json"]) == 0
    one = json.loads(capsys.readouterr().out)["slices"]["worst"]
    assert one["recall"] == first["value"]
    assert one["fields_counted"] == first["boxes"]
    assert run(["gate", "fields", *arguments, "--fail-if", "recall[slice:worst] < 0.6"]) == 1
    assert run(["gate", "fields", *arguments, "--fail-if", f"value[slice:worst] < {first['value'] / 2}"]) == 0
    assert not others or first["lost"] >= others[0]["lost"]


def test_nothing_is_listed_where_nothing_is_planted(tmp_path: Path) -> None:
    truth, model = planted_fields(tmp_path, documents=40, miss=False)
    (one,) = project.evaluate_together("fields", truth, [model], lambda _said: None)
    for measure in (ALL, *PROTOCOLS["fields"].slice_measures):
        searched = find_observation_slices([one.result], measure)
        assert not searched.slices
        assert searched.enough


def test_one_failure_is_one_row_of_all_measures(tmp_path: Path) -> None:
    truth, model = planted_fields(tmp_path, documents=40, miss=True)
    (one,) = project.evaluate_together("fields", truth, [model], lambda _said: None)
    kept: dict[str, Observations] = {}
    searched = find_observation_slices([one.result], ALL, keep=kept.__setitem__)
    assert tuple(kept) == searched.measures
    for row in searched.slices:
        values = kept[row.measure].values[0][row.parts[0].rows]
        assert (values.mean(), len(values)) == (pytest.approx(row.value), row.boxes)
    assert searched.measures == measures_of(PROTOCOLS["fields"].slice_measures)
    first = searched.slices[0]
    assert {first.measure, *first.also} >= {"recall", "value"}
    assert first.also_titles
    assert ("also right values" in first.sentence) or ("also recall" in first.sentence)
    alone = find_observation_slices([one.result], first.measure).slices[0]
    assert (alone.conditions, alone.value, alone.boxes) == (first.conditions, first.value, first.boxes)
    assert first.p == pytest.approx(min(alone.p * len(searched.measures), 1.0))


def test_too_few_posters_say_how_many_would_do(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--gt", str(POSTERS / "ground_truth"), "--pred", str(POSTERS / "columns")]
    assert run(["slices", "posters", *arguments]) == 0
    said = " ".join(capsys.readouterr().out.split())
    # A slice needs 20 posters, and as many elsewhere.
    assert "Too few documents to say: 5 with posters. A search needs 35 more documents" in said
    assert run(["slices", "posters", *arguments, "--measure", "words", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == []
    assert "5 with words. A search needs 3 more documents" in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("fields --measure ap", "--measure: slices have no measure ap; use recall, precision, mean_iou, value or all."),
        ("posters --measure recall", "--measure: slices have no measure recall; use passes, word_capture, "),
        ("snapshot --measure AP", "--measure: slices have no measure AP; use recall, precision, f1, mean_iou, "
         "mean_coverage, mean_purity or all."),
        ("coco --measure APs", "--measure: APs has no slices, because it matches the boxes of a range of sizes anew"),
        ("fields --use-score", "--use-score goes with --measure precision: the ground truth has no scores."),
        ("fields --conditions 4", "--conditions must be 1, 2 or 3; found 4."),
        ("fields --smallest 2", "--smallest must be at least 0 and below 1; found 2."),
        ("fields --json --markdown", "choose one of --json and --markdown."),
        ("fields --pred x --pred y", "give --pred once or twice."),
    ],
)  # fmt: skip
def test_what_cannot_be_searched_is_refused_in_a_sentence(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = POSTERS if arguments.startswith("posters") else FIELDS
    sides = ("--gt", folder / "ground_truth", "--pred", folder / "columns")
    code, out, err = run_command(capsys, "slices", *arguments.split(), *sides)
    assert (code, out) == (2, "")
    assert " ".join(err.split()).startswith(f"error: {said}")


def test_pdfs_and_a_table_give_attributes_of_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "documents.csv"
    some = sorted((FIELDS / "ground_truth").iterdir())[::5]
    names = [path.stem for path in some]
    for side in ("ground_truth", "anchors"):
        (tmp_path / side).mkdir()
        for path in some:
            shutil.copy(FIELDS / side / path.name, tmp_path / side)
    table.write_text("document,vendor\n" + "".join(f"{name},{name.split('-')[0]}\n" for name in names))
    truth, prediction = str(tmp_path / "ground_truth"), str(tmp_path / "anchors")
    arguments = ["--gt", truth, "--pred", prediction, "--pdfs", str(FIELDS / "pdf")]
    assert run(["slices", "fields", *arguments, "--attributes", str(table), "--conditions", "1", "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), list)
    named = tmp_path / "named.json"
    named.write_text(json.dumps({"first": [{"attribute": "vendor", "op": "==", "value": names[0].split("-")[0]}]}))
    arguments = [*arguments[:4], "--slices", str(named), "--attributes", str(table)]
    assert run(["evaluate", "fields", *arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["slices"]["first"]["fields_counted"] > 0
    table.write_text(table.read_text() + "nobody,x\n")
    said = "rows should name documents of the files that are compared"
    assert run(["evaluate", "fields", *arguments, "--json"]) == 0
    assert [issue["rule"] for issue in json.loads(capsys.readouterr().out)["issues"]][1:] == [said]
    for command in ("slices", "evaluate", "compare"):
        given = [*arguments[:4], "--attributes", str(table), "--conditions", "1"] if command == "slices" else arguments
        more = ["--pred", truth] if command == "compare" else []
        assert run([command, "fields", *given, *more]) == 0
        assert capsys.readouterr().err.count(f"warning: documents.csv: {said}; found 1 row") == 1


def test_a_file_of_named_slices_of_boxes_is_left_alone() -> None:
    """The file beside the truth may be about boxes; of it only slices whose attributes there are."""
    (result,) = results_of("fields", "anchors")
    named = [
        NamedSlice("boxes", (Condition("aspect ratio", "<", 1.0),)),
        NamedSlice("low", (Condition("depth", "<", 2.0),)),
    ]
    numbers = observation_numbers(result, named, known_only=True)
    assert {each.slice.name for each in numbers.measures} == {"low"}
    with pytest.raises(ValueError, match="slice boxes needs the attribute aspect ratio; there are label"):
        observation_numbers(result, named)
    observed = observations_of([result], "recall")
    inside = condition_mask(named[1].conditions, attribute_table(observed.attributes))
    recall = next(each for each in numbers.measures if each.measure == "recall")
    assert recall.value == pytest.approx(observed.values[0][inside].mean())
    assert recall.boxes.sum() == inside.sum()
