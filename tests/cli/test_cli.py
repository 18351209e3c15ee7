"""The terminal contract: keys, exit codes, what goes to which stream, and no traceback for anybody's mistake."""

import csv
import hashlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cyclopts import App

from evaluator import formats
from evaluator.cli import registered
from evaluator.protocols import PROTOCOLS
from evaluator.system.version import __version__
from tests.building import box, snapshot_file, write_file
from tests.cli.conftest import Runner

PROJECT = Path(__file__).resolve().parents[2]
TRUTH = [box(0.0, 0.0, 0.5, 0.5), box(0.5, 0.5, 1.0, 1.0, label="Table")]
FOUND = [box(0.0, 0.0, 0.5, 0.5, score=0.9), box(0.5, 0.5, 1.0, 0.75, label="Table", score=0.3)]
HOSTILE = "Fig\x1b[31mure\u202e"
METRICS = ["tp", "fp", "fn", "precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity"]


@pytest.fixture
def gt(tmp_path: Path) -> Path:
    return write_file(tmp_path / "gt.json", TRUTH, side="ground_truth")


@pytest.fixture
def pred(tmp_path: Path) -> Path:
    return write_file(tmp_path / "pred.json", FOUND)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    value = snapshot_file(FOUND)
    value["predictions"][0]["objects"][0]["bbox"] = [0.5, 0.1, 0.4, 0.2]
    value["predictions"][0]["objects"][1]["score"] = None
    path = tmp_path / "broken.json"
    path.write_bytes(msgspec.json.encode(value))
    return path


def test_json_has_the_keys_of_the_contract(run: Runner, gt: Path, pred: Path) -> None:
    code, out, err = run("evaluate", "snapshot", "--gt", gt, "--pred", pred, "--json")
    assert (code, err) == (0, "")
    result = msgspec.json.decode(out)
    assert list(result) == [
        "protocol", "signature", "ground_truth", "predictions", "issues", "labels", "thresholds", "documents_only_in",
        "by_document", "run", "model",
    ]  # fmt: skip
    assert (result["protocol"], result["issues"], result["labels"]) == ("snapshot", [], ["Figure", "Table"])
    assert result["documents_only_in"] == {"ground_truth": [], "predictions": []}
    for side, path in (("ground_truth", gt), ("predictions", pred)):
        assert result[side] == {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert list(result["thresholds"]) == ["0.5", "0.75"]
    for threshold in result["thresholds"].values():
        labels = threshold["per_class"]
        assert list(threshold) == ["micro", "per_class", "macro_documents", "macro_labels", "mistakes"]
        assert list(threshold["micro"]) == list(labels["Figure"]) == list(labels["Table"]) == METRICS
        assert list(labels) == ["Figure", "Table"]
        assert list(threshold["macro_documents"]) == [*METRICS[3:], "documents"]
        assert list(threshold["macro_labels"]) == [*METRICS[3:], "labels"]
    assert result["thresholds"]["0.5"]["micro"]["tp"] == 2
    assert result["thresholds"]["0.75"]["per_class"]["Table"]["mean_iou"] is None


def test_several_predictions_give_a_list(run: Runner, gt: Path, pred: Path, tmp_path: Path) -> None:
    other = write_file(tmp_path / "other.json", TRUTH)
    results = run("evaluate", "snapshot", "--gt", gt, "--pred", pred, "--pred", other, "--json").json()
    assert [result["predictions"]["name"] for result in results] == ["pred.json", "other.json"]
    assert [result["thresholds"]["0.75"]["micro"]["tp"] for result in results] == [1, 2]


def test_models_of_one_file_name_are_told_apart_in_every_command(
    run: Runner, gt: Path, broken: Path, tmp_path: Path
) -> None:
    for name, rows in (("a", FOUND), ("b", FOUND[:1])):
        (tmp_path / name).mkdir()
        write_file(tmp_path / name / "pred.json", rows)
    a, b = tmp_path / "a" / "pred.json", tmp_path / "b" / "pred.json"
    words = ("--gt", gt, "--pred", a, "--pred", b)
    for form in ((), ("--csv",), ("--markdown",), ("--json",)):
        out = run("evaluate", "snapshot", *words, *form).out
        assert out.count("pred.json") == out.count("a/pred.json") + out.count("b/pred.json")
        assert {name for name in ("a/pred.json", "b/pred.json") if name in out} == {"a/pred.json", "b/pred.json"}
    assert "A a/pred.json, B b/pred.json" in run("compare", "snapshot", *words).out
    out = run("gate", "snapshot", "--gt", gt, "--pred", a, "--baseline", b, "--fail-if", "f1 < 0.1").out
    assert "Gate passed: a/pred.json against b/pred.json" in out
    fixed = ("evaluate", "snapshot", *words, "--allow-no-match", "--json", "--fix")
    assert ["y-flip" in str(one) for one in run(*fixed, "b/pred.json:y-flip").json()] == [False, True]
    code, _, err = run(*fixed, "pred.json:y-flip")
    assert code == 2
    assert "--fix is for one of gt.json, a/pred.json, b/pred.json; found pred.json." in err
    broken.replace(b)
    err = run("evaluate", "snapshot", *words).err
    assert ("b/pred.json" in err, "a/pred.json" in err) == (True, False)


def test_class_weights_show_the_mean_that_they_are_for(run: Runner, gt: Path, pred: Path) -> None:
    words = ("evaluate", "snapshot", "--gt", gt, "--pred", pred, "--iou", "0.75")
    name, weighted = "Weighted mean over labels", (*words, "--class-weight", "Table=3")
    for form in ((), ("--csv",), ("--markdown",)):
        assert (name in run(*words, *form).out, name in run(*weighted, *form).out) == (False, True), form
    mean = run(*weighted, "--json").json()["thresholds"]["0.75"]["macro_labels"]
    row = next(row for row in csv.DictReader(io.StringIO(run(*weighted, "--csv").out)) if row["label"] == name)
    assert (row["tp"], row["fp"], row["fn"]) == ("", "", "")
    assert float(row["f1"]) == mean["f1"] == 0.25


def test_csv_markdown_and_text(run: Runner, gt: Path, pred: Path) -> None:
    words = ("evaluate", "snapshot", "--gt", gt, "--pred", pred, "--iou", "0.5")
    code, out, err = run(*words, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, err, [row["label"] for row in rows]) == (0, "", ["All labels", "Figure", "Table"])
    assert (rows[0]["predictions"], rows[0]["iou_threshold"], rows[0]["tp"]) == ("pred.json", "0.5", "2")
    assert rows[0]["signature"].startswith("snapshot 1.3 · IoU ≥ 0.50 · ")
    code, out, err = run(*words, "--markdown")
    assert (code, err) == (0, "")
    assert "| 0.5000 | Table | 1 | 0 | 0 | 1.0000 | 1.0000 | 1.0000 | 0.5000 | 0.5000 | 1.0000 |" in out
    code, out, err = run(*words[:-2])
    assert (code, err) == (0, "")
    for word in ("pred.json", "All labels", "Figure", "mean coverage", "n/a", "1 document"):
        assert word in out


def test_out_gets_all_three_files(run: Runner, gt: Path, pred: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    for option, name in (("--json", "result.json"), ("--csv", "result.csv"), ("--markdown", "result.md")):
        printed = run("evaluate", "snapshot", "--gt", gt, "--pred", pred, option, "--out", folder).out
        assert (folder / name).read_bytes().decode() == printed
    assert sorted(path.name for path in folder.iterdir()) == ["result.csv", "result.json", "result.md"]


def test_out_takes_no_file_that_is_read(run: Runner, gt: Path, pred: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    truth = folder / "result.json"
    truth.write_bytes(gt.read_bytes())
    code, out, err = run("evaluate", "snapshot", "--gt", truth, "--pred", pred, "--out", folder)
    rule = "a source file is never written to"
    assert (code, out, err) == (2, "", f"error: result.json: {rule}; found what --gt reads. Choose another --out.\n")
    assert truth.read_bytes() == gt.read_bytes()


def test_thresholds_are_repeated_and_options_named_in_the_signature(run: Runner, gt: Path, pred: Path) -> None:
    options = ("--iou", "0.6", "--iou", "0.9", "--min-score", "0.5", "--min-area", "0.01", "--labels", "Table, Figure")
    words = ("evaluate", "snapshot", "--gt", gt, "--pred", pred, *options, "--class-weight", "Table=2")
    result = run(*words, "--json").json()
    assert list(result["thresholds"]) == ["0.6", "0.9"]
    assert result["thresholds"]["0.6"]["micro"]["fn"] == 1
    assert result["signature"] == (
        "snapshot 1.3 · IoU ≥ 0.60, 0.90 · score ≥ 0.50 · area ≥ 0.01 of the page · weights Table 2 · "
        f"1 document, 1 page · layoutscope {__version__}"
    )


def test_labels_are_renamed_in_both_files(run: Runner, tmp_path: Path) -> None:
    truth = write_file(tmp_path / "gt.json", [box(0, 0, 1, 1, label="fig")], side="ground_truth")
    model = write_file(tmp_path / "pred.json", [box(0, 0, 1, 1, label="picture=x")])
    options = ("--map-label", "fig=Figure", "--map-label", "picture=x=Figure")
    result = run("evaluate", "snapshot", "--gt", truth, "--pred", model, *options, "--json").json()
    assert result["thresholds"]["0.5"]["per_class"]["Figure"]["tp"] == 1


def test_a_label_that_no_file_has_gets_no_other_name(run: Runner, tmp_path: Path) -> None:
    truth = write_file(tmp_path / "gt.json", [box(0, 0, 1, 1, label="fig")], side="ground_truth", labels=["fig"])
    models = [
        write_file(tmp_path / name, [box(0, 0, 1, 1, label=label)], labels=[label])
        for name, label in (("a.json", "picture"), ("b.json", "graph"))
    ]
    both = ("--gt", truth, "--pred", models[0], "--pred", models[1])
    sides = ("evaluate", "pixel", *both, "--classes", "different", "--page-size", "9x9")
    rule = "a label that gets another name must be in the files"
    for option, place, found in (
        (("--map-label", "Fig=Figure"), "gt.json: --map-label", '"Fig"; there are "fig", "graph", "picture"'),
        (("--fix", "label=fig=Figure"), "a.json: --fix label", '"fig"; there are "graph", "picture"'),
        (("--fix", "a.json:label=graph=fig"), "a.json: --fix a.json:label", '"graph"; there are "picture"'),
    ):
        code, out, err = run(*sides, *option)
        assert (code, out) == (2, "")
        assert f"error: {place}: {rule}; found {found}. Write it as the files do.\n" in err
    for fine in (("--map-label", "graph=fig"), ("--fix", "label=graph=fig"), ("--fix", "b.json:label=graph=fig")):
        assert run(*sides, *fine).code == 0


def test_documents_of_one_file_are_shown_with_and_without(run: Runner, gt: Path, tmp_path: Path) -> None:
    model = write_file(tmp_path / "more.json", [*FOUND, box(0, 0, 1, 1, document="b.pdf")])
    code, out, err = run("evaluate", "snapshot", "--gt", gt, "--pred", model, "--json")
    result = msgspec.json.decode(out)
    assert (code, err, result["documents_only_in"]["predictions"]) == (0, "", ["b.pdf"])
    assert (result["thresholds"]["0.5"]["micro"]["fp"], result["common_documents"]["0.5"]["micro"]["fp"]) == (1, 0)
    assert [issue["severity"] for issue in result["issues"]] == ["warning"]
    assert list(result["issues"][0]) == ["severity", "file", "place", "rule", "found", "fix"]


@pytest.mark.parametrize("form", [(), ("--csv",), ("--markdown",)])
def test_warnings_go_to_standard_error(run: Runner, gt: Path, tmp_path: Path, form: tuple[str, ...]) -> None:
    model = write_file(tmp_path / "pred.json", [*FOUND, box(0, 0, 1, 1, label="For review")])
    code, out, err = run("evaluate", "snapshot", "--gt", gt, "--pred", model, *form)
    assert code == 0
    assert err == (
        "warning: pred.json: $.predictions[0].objects[2].label: label should be in label_map (schema 1.3, label); "
        'found "For review" 1 time. Add it to label_map, or leave it: its boxes are shown and not scored.\n'
    )
    assert "For review" not in out


def test_a_prediction_serves_as_reference_only_when_asked(run: Runner, pred: Path) -> None:
    code, out, err = run("evaluate", "snapshot", "--gt", pred, "--pred", pred)
    assert (code, out) == (2, "")
    assert 'a ground truth file must have type "ground_truth"' in err
    code, out, err = run("evaluate", "snapshot", "--gt", pred, "--pred", pred, "--as-reference", "--json")
    assert (code, msgspec.json.decode(out)["thresholds"]["0.75"]["micro"]["f1"]) == (0, 1.0)


def test_bad_input_lists_every_issue_and_no_traceback(run: Runner, gt: Path, broken: Path) -> None:
    code, out, err = run("evaluate", "snapshot", "--gt", gt, "--pred", broken, "--json")
    assert (code, out) == (2, "")
    assert err.splitlines() == sorted(err.splitlines(), key=lambda line: not line.startswith("error: "))
    assert "broken.json: $.predictions[0].objects[0].bbox: x2 must be greater than x1" in err
    assert "$.predictions[0].objects[1].score" in err
    assert "Traceback" not in err
    code, _, err = run("evaluate", "snapshot", "--gt", gt, "--pred", broken, "--debug")
    assert code == 2
    assert "Traceback (most recent call last):" in err


def test_label_maps_that_differ_are_refused_by_every_command(run: Runner, gt: Path, tmp_path: Path) -> None:
    model = write_file(tmp_path / "pred.json", FOUND, labels=["Figure", "Table", "Chart"])
    one = ("snapshot", "--gt", gt, "--pred", model)
    for words in (
        ("evaluate", *one), ("check", gt, model), ("compare", *one, "--pred", model),
        ("gate", *one, "--fail-if", "f1 < 0"), ("report", *one, "--out", tmp_path / "x.html"),
    ):  # fmt: skip
        code, out, err = run(*words)
        assert code == 2
        assert "label_map must be the same as in gt.json (snapshot 1.3, section 9.2)" in err + out


USAGE = [
    (("voc",), f"protocol must be one of {', '.join(PROTOCOLS)}; found voc."),
    (("snapshot", "--iou", "a"), '--iou must be a number or a range such as "0.50:0.95:0.05"; found a.'),
    (("snapshot", "--iou", "0.9:0.5:0.1"),
     "--iou must rise from start to stop in steps of at least 0.001; found 0.9:0.5:0.1."),
    (("snapshot", "--profile", "published"),
     "--profile is not an option of snapshot, which has --iou, --min-score, --min-area, --labels, --map-label, "
     "--as-reference, --format, --columns, --level, --page-size, --pdfs, --polygons, --tolerant, --class-weight, "
     "--fix, --allow-no-match, --page-ranges."),
    (("snapshot", "--iou", "0"), "--iou must be above 0 and at most 1; found 0."),
    (("snapshot", "--iou", "1.5"), "--iou must be above 0 and at most 1; found 1.5."),
    (("snapshot", "--iou", "nan"), "--iou must be above 0 and at most 1; found nan."),
    (("snapshot", "--min-score=-0.1"), "--min-score must be between 0 and 1; found -0.1."),
    (("snapshot", "--min-area", "2"), "--min-area must be between 0 and 1; found 2."),
    (("snapshot", "--labels", "Chart"), "labels not in the label map: Chart."),
    (("snapshot", "--labels", " , "), "--labels must name at least one label."),
    (("snapshot", "--map-label", "fig"), '--map-label must look like "name=value"; found fig.'),
    (("snapshot", "--class-weight", "Table=-1"), "--class-weight of Table must be a number of at least 0; found -1."),
    (("snapshot", "--class-weight", "Table=inf"), "--class-weight of Table must be a number of at least 0; found inf."),
    (("snapshot", "--class-weight", "Chart=1"), "weights for labels not in the label map: Chart."),
    (("snapshot", "--json", "--csv"), "choose one of --json, --csv and --markdown."),
    (("snapshot", "--labels", HOSTILE), "labels not in the label map: Fig\\x1b[31mure\\u202e."),
]  # fmt: skip


@pytest.mark.parametrize(("words", "sentence"), USAGE)
def test_usage_errors_are_one_sentence(
    run: Runner, gt: Path, pred: Path, words: tuple[str, ...], sentence: str
) -> None:
    assert run("evaluate", *words, "--gt", gt, "--pred", pred) == (2, "", f"error: {sentence}\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("gate",), 'Command "gate" parameter PROTOCOL requires an argument.'),
        (("gate", "snapshot", "--gt", "x"), 'Command "gate" parameter --pred requires an argument.'),
        (("evaluate", "snapshot", "--gt", "x", "--pred", "y", "--bogus"),
         "Unknown option: --bogus. Did you mean --out?"),
        (("evaluate", "snapshot", "--gt", "x", "--pred", "y", "--min-score", "a"),
         'Invalid value for --min-score: unable to convert "a" into float.'),
        (("check",), 'Command "check" parameter FILES requires an argument.'),
        (("nonsense", "x"), "nonsense x is not understood here."),
        (("non\x1b[31msense",), "non\\x1b[31msense is not understood here."),
    ],
)  # fmt: skip
def test_what_cannot_be_parsed_is_said_in_one_sentence(run: Runner, words: tuple[str, ...], sentence: str) -> None:
    assert run(*words) == (2, "", f"error: {sentence}\nSee layoutscope --help.\n")


def test_errors_of_the_system_name_what_was_given(run: Runner, gt: Path, pred: Path, tmp_path: Path) -> None:
    words, taken = ("evaluate", "snapshot", "--gt", gt, "--pred", pred), tmp_path / "taken"
    taken.write_text("")
    (tmp_path / "s.json").write_text("{}")
    known, read = ", ".join(formats.of_kind("boxes")), "the file must be readable; found No such file or directory."
    fix = "found Not a directory. Choose another place, or correct its permissions."
    for more, said in (
        (("--pred", tmp_path / "gone.json"), f"gone.json: {read} Correct the path or its permissions."),
        (("--format", "coco13"), f'gt.json: the format must be one of {known}; found "coco13". Correct --format.'),
        (("--out", gt / "folder"), f"--out: folder must be writable; {fix}"),
        (("--out", taken), "--out must name a folder; taken is a file. Choose another name."),
        (("--out", taken / "x"), f"--out: x must be writable; {fix}"),
        (("--slices", tmp_path / "s.json", "--attributes", tmp_path / "nope.csv"),
         f"nope.csv: {read} Correct the path or its permissions."),
    ):  # fmt: skip
        code, out, err = run(*words, *more)
        assert (code, out, err.splitlines()[0]) == (2, "", f"error: {said}")
    said = run("convert", gt, "--to", "snapshot", "--out", taken / "o.json").err
    assert said.startswith("error: --out: o.json must be writable; found ")


@pytest.mark.parametrize("command", ["evaluate", "compare", "gate"])
def test_attributes_without_named_slices_are_refused(command: str, run: Runner, gt: Path, pred: Path) -> None:
    """They are about nothing else, so that the option would have no effect."""
    words = [command, "snapshot", "--gt", gt, "--pred", pred, "--attributes", gt.parent / "pages.csv"]
    words += {"compare": ["--pred", pred], "gate": ["--fail-if", "f1 < 0.5"]}.get(command, [])
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err == (
        "error: --attributes has no effect without named slices; give --slices, or layoutscope-slices.json beside the "
        "ground truth.\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_said_of_standard_output(gt: Path, pred: Path) -> None:
    words = [sys.executable, "-m", "evaluator.cli", "evaluate", "snapshot", "--gt", gt, "--pred", pred]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, cwd=PROJECT, check=False)
    said = "error: standard output: it must take the whole result; found No space left on device. "
    assert ended.stderr.decode().startswith(said)
    assert ended.returncode != 0


def test_a_crash_is_code_3_with_a_message_and_no_traceback(
    run: Runner, gt: Path, pred: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> Any:
        raise RuntimeError("no such\x1b luck")

    monkeypatch.setattr(type(PROTOCOLS["snapshot"]), "evaluate_model", crash)
    words = "evaluate", "snapshot", "--gt", gt, "--pred", pred
    assert run(*words) == (
        3,
        "",
        "internal error: RuntimeError: no such\\x1b luck\nRun again with --debug for the traceback.\n",
    )
    code, _, err = run(*words, "--debug")
    assert code == 3
    assert "Traceback (most recent call last):" in err


def test_check_counts_and_tells_the_code(run: Runner, gt: Path, pred: Path, broken: Path, tmp_path: Path) -> None:
    assert run("check", gt, pred) == (0, "2 checked: 0 errors, 0 warnings\n", "")
    code, out, err = run("check", broken)
    assert (code, err) == (2, "")
    assert out.endswith("1 checked: 2 errors, 0 warnings\n")
    assert "broken.json: $.predictions[0].objects[0].bbox: x2 must be greater than x1" in out
    # Of a pair it tells what the two do not share.
    more = write_file(tmp_path / "more.json", [*FOUND, box(0, 0, 1, 1, document="b.pdf")])
    code, out, _ = run("check", gt, more)
    assert code == 0
    assert "warning: more.json: $.documents: documents that only more.json lists" in out
    assert out.endswith("2 checked: 0 errors, 1 warning\n")
    # It takes the format that it asks for.
    (tmp_path / "both.json").write_text('[{"image_name": "a", "category_type": 1, "layout_dets": [], "image_id": 1, '
                                        '"category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}]')  # fmt: skip
    assert run("check", tmp_path / "both.json", "--format", "coco")[:2] == (0, "1 checked: 0 errors, 0 warnings\n")


def test_check_of_a_folder_with_both_sides_reads_each(run: Runner, gt: Path, pred: Path, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    folder.mkdir()
    for path in (gt, pred):
        path.rename(folder / path.name)
    assert run("check", folder) == (
        0,
        "warning: both: a folder with both sides is read as a ground truth and predictions; found ground truth "
        "gt.json, 1 prediction: pred.json. Name files or folders one by one to check others.\n"
        "2 checked: 0 errors, 1 warning\n",
        "",
    )


def test_check_json(run: Runner, gt: Path, broken: Path, tmp_path: Path) -> None:
    code, out, err = run("check", gt, broken, tmp_path / "gone.json", "--json")
    assert (code, err) == (2, "")
    value = msgspec.json.decode(out)
    assert len(value["files"][0].pop("sha256")) == 64
    assert value["files"] == [
        {"name": "gt.json", "valid": True, "format": "snapshot", "side": "ground_truth", "model": "annotators",
         "labels": ["Figure", "Table"], "documents": 1, "pages": 1, "boxes": 2},
        {"name": "broken.json", "valid": False},
        {"name": "gone.json", "valid": False},
    ]  # fmt: skip
    assert [issue["file"] for issue in value["issues"]] == ["broken.json", "broken.json", "gone.json"]


def test_a_hostile_label_is_escaped_on_the_terminal(run: Runner, tmp_path: Path) -> None:
    rows, labels = [box(0, 0, 1, 1, label=HOSTILE)], [HOSTILE]
    truth = write_file(tmp_path / "gt.json", rows, side="ground_truth", labels=labels)
    model = write_file(tmp_path / "pred.json", rows, labels=labels)
    sides = ("snapshot", "--gt", truth, "--pred", model)
    evaluate, compare = ("evaluate", *sides, "--labels", HOSTILE), ("compare", *sides, "--pred", model)
    every = [(*evaluate, *form) for form in ((), ("--csv",), ("--markdown",))] + [compare, (*compare, "--markdown")]
    for words in every:
        code, out, err = run(*words)
        assert (code, "x1b" in out, set(out + err) & {"\x1b", "\u202e"}) == (0, True, set())
    code, out, err = run("gate", *sides, "--fail-if", f'recall["{HOSTILE}x"] < 1')
    assert (code, "\x1b" in out + err) == (2, False)
    out = run("evaluate", *sides, "--json").out
    assert ("\x1b" in out, msgspec.json.decode(out)["labels"]) == (False, [HOSTILE])


def test_a_folder_is_read_as_one_file(run: Runner, gt: Path, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    for row in FOUND:
        name = f"{row.label}.json"
        write_file(tmp_path / "model" / name, [row._replace(document=f"{row.label}.pdf")])
    words = ("evaluate", "snapshot", "--gt", gt, "--pred", tmp_path / "model", "--allow-no-match", "--json")
    result = run(*words).json()
    assert result["predictions"]["name"] == "model"
    assert result["thresholds"]["0.5"]["micro"]["fp"] == 2


def test_version_and_help(run: Runner) -> None:
    assert run("--version") == (0, f"layoutscope {__version__}\n", "")
    for words in (["--help"], ["evaluate", "--help"], ["check", "--help"], ["open", "--help"]):
        code, out, _ = run(*words)
        assert code == 0
        assert "Usage: layoutscope" in out


def test_a_shell_completes_commands_and_options(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    code, _, err = run("--install-completion", "--shell", "bash")
    script = tmp_path / ".local/share/bash-completion/completions/layoutscope"
    assert (code, err) == (0, "")
    ask = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _layoutscope; echo "${COMPREPLY[@]}"'
    for words, answer in ((["ev"], "evaluate"), (["evaluate", "--g"], "--gt")):
        done = subprocess.run(
            ["bash", "-c", ask, script, "layoutscope", *words], capture_output=True, text=True, check=True
        )  # fmt: skip
        assert done.stdout.split() == [answer]


def commands_of(app: App, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    names = [name for name in app if not name.startswith("-")]
    for name in names:
        yield from commands_of(app[name], (*path, name))
    if app.default_command is not None:
        yield path, app


def test_every_option_has_a_help_text() -> None:
    seen = [
        (*path, argument.name, (argument.parameter.help or "").strip())
        for path, app in commands_of(registered.app)
        for argument in app.assemble_argument_collection(parse_docstring=True)
        if argument.parse and argument.show
    ]
    assert {"evaluate", "findings"} <= {words[0] for words in seen}
    assert [words for words in seen if not words[-1]] == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a file name")
def test_piped_results_are_utf_8_whatever_the_locale_and_the_file_name(gt: Path, pred: Path) -> None:
    odd = os.fsencode(pred.with_name("p")) + b"\xff.json"
    os.rename(pred, odd)
    words = [sys.executable, "-m", "evaluator.cli", "evaluate", "snapshot", "--gt", gt, "--pred", odd, "--json"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(words, cwd=PROJECT, env=environment, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    result = msgspec.json.decode(ended.stdout)
    assert result["predictions"]["name"] == "p\\udcff.json"
    assert " · " in result["signature"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell with pipefail")
def test_a_reader_that_leaves_early_is_no_error(gt: Path, tmp_path: Path) -> None:
    labels = [f"Label {index:05}" for index in range(1000)]
    for name, side in (("gt.json", "ground_truth"), ("pred.json", "prediction")):
        write_file(tmp_path / name, [], side=side, labels=labels, documents=["a.pdf"])
    line = f'"{sys.executable}" -m evaluator.cli evaluate snapshot --gt "{gt}" --pred "{tmp_path}/pred.json" --json'
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line} | head -1"], cwd=PROJECT, capture_output=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"{\n", b"")
