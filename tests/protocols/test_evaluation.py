"""Every protocol from the terminal, from paths to the keys of the contract; the options that belong to each."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from evaluator import cli, project
from evaluator.cli import arguments
from evaluator.data.issues import BadInput
from evaluator.project import OptionError
from evaluator.protocols import PROTOCOLS

SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
needs_shared = pytest.mark.skipif(
    not SHARED, reason="LAYOUTSCOPE_SHARED does not name the folder of real/ and oracles/"
)
PROJECT = Path(__file__).resolve().parents[2]
ORACLES = Path(__file__).resolve().parents[1] / "oracles"
SAMPLE = PROJECT / "sample_data"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    """Standard output of a command line that succeeds, as JSON."""
    with pytest.raises(SystemExit) as left:
        cli.main([str(word) for word in words])
    said = capsys.readouterr()
    assert left.value.code == 0, said.err
    return msgspec.json.decode(said.out)


def test_every_protocol_of_the_table_can_be_run() -> None:
    assert set(PROTOCOLS) == {"snapshot", "pixel", "fields", "pod", "posters", "coco"}
    for protocol in PROTOCOLS:
        with pytest.raises(BadInput):
            project.evaluate(protocol, Path("no such file"), [Path("nor this")])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_option_of_another_protocol_is_refused(protocol: str) -> None:
    foreign = {"profile": "published"} if protocol != "posters" else {"parity": "stickler"}
    name = "--profile" if protocol != "posters" else "--parity"
    with pytest.raises(OptionError, match=f"^{name} is not an option of {protocol}, which has --"):
        project.evaluate(protocol, Path("x"), [Path("y")], **foreign)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"min_score": math.nan}, "--min-score must be a number from 0 to 1; found nan"),
        ({"min_score": 5}, "--min-score must be a number from 0 to 1; found 5"),
        ({"min_area": "0.1"}, "--min-area must be a number from 0 to 1; found 0.1"),
        ({"iou": 0.5}, "--iou takes several values, as a list or tuple; found 0.5"),
        ({"iou": "0.5"}, "--iou takes several values, as a list or tuple; found 0.5"),
        ({"iou": (0.5, 2)}, "--iou must have numbers above 0, up to 1; found [0.5, 2]"),
        ({"iou": [math.nan]}, "--iou must have numbers above 0, up to 1; found [nan]"),
        ({"labels": "Table"}, "--labels takes several values, as a list or tuple; found Table"),
    ],
)
def test_python_may_give_what_the_terminal_may(option: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError) as raised:
        project.evaluate("snapshot", SAMPLE / "ground_truth.json", [SAMPLE / "lines.json"], **option)
    assert str(raised.value) == said


def test_a_number_of_any_bound_is_checked() -> None:
    with pytest.raises(OptionError, match=r"^--small-px must be a number of 0 or more; found -1$"):
        project.options_of(PROTOCOLS["pod"], small_px=-1)
    options: Any = project.options_of(PROTOCOLS["pixel"], pdfs=SAMPLE / "pdf", min_score=np.float32(0.5))
    assert options.min_score == 0.5


def test_one_prediction_is_a_list_of_one() -> None:
    with pytest.raises(OptionError, match=r"^predictions must be a list of files; found lines\.json$"):
        project.evaluate("snapshot", SAMPLE / "ground_truth.json", str(SAMPLE / "lines.json"))


def test_issues_of_both_sides_are_told_at_once(tmp_path: Path) -> None:
    for name in ("gt.json", "pred.json"):
        (tmp_path / name).write_text("[]")
    with pytest.raises(BadInput) as problem:
        project.evaluate("snapshot", tmp_path / "gt.json", [tmp_path / "pred.json"], format="snapshot")
    assert {issue.file for issue in problem.value.issues} == {"gt.json", "pred.json"}


def test_pod(capsys: pytest.CaptureFixture[str]) -> None:
    case = ORACLES / "pod" / "p01_basic"
    result = run(capsys, "evaluate", "pod", "--gt", case / "gt", "--pred", case / "submission.xml", "--json")
    assert (result["protocol"], list(result["thresholds"])) == ("pod", ["0.6", "0.8"])
    threshold = result["thresholds"]["0.6"]
    assert list(threshold)[-3:] == ["per_class", "map", "mean_f1"] or {"per_class", "map", "mean_f1"} <= set(threshold)
    for row in threshold["per_class"].values():
        assert {"tp", "fp", "fn", "precision", "recall", "f1", "ap"} <= set(row)
    other = run(
        capsys, "evaluate", "pod", "--gt", case / "gt", "--pred", case / "submission.xml", "--json",
        "--ap", "all-point", "--small-px", "0", "--line-px", "1", "--iou", "0.7", "--lenient",
    )  # fmt: skip
    assert list(other["thresholds"]) == ["0.7"]
    assert "all-point" in other["signature"]


def test_coco(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    truth = {
        "images": [{"id": 1, "width": 100, "height": 100, "file_name": "a.png"}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40], "area": 1600, "iscrowd": 0}
        ],
    }
    results = [{"image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40], "score": 0.9}]
    gt, pred = tmp_path / "gt.json", tmp_path / "pred.json"
    gt.write_text(json.dumps(truth))
    pred.write_text(json.dumps(results))
    result = run(capsys, "evaluate", "coco", "--gt", gt, "--pred", pred, "--json")
    names = "AP AP50 AP75 APs APm APl AR1 AR10 AR100 ARs ARm ARl".split()  # noqa: SIM905 - as COCO prints them
    assert {*names, "per_class", "error_types"} <= set(result)
    # pycocotools adds an epsilon to the denominator of precision, so a perfect AP ends in ...98.
    assert [result["AP"], result["AP50"], result["APm"]] == pytest.approx([1.0, 1.0, 1.0], abs=1e-12)
    assert result["APs"] is None
    assert set(result["error_types"]) >= {"classification", "localisation", "both", "duplicate", "background", "missed"}
    ranged = run(capsys, "evaluate", "coco", "--gt", gt, "--pred", pred, "--json", "--iou", "0.50:0.95:0.05")
    assert ranged["AP"] == result["AP"]


def test_an_iou_range_has_both_ends_and_no_stray_digits() -> None:
    assert list(arguments.thresholds("0.50:0.95:0.05")) == [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
    assert list(arguments.thresholds("0.5")) == [0.5]


def test_pixel_with_sizes_from_the_pdfs(capsys: pytest.CaptureFixture[str]) -> None:
    truth, lines = SAMPLE / "ground_truth.json", SAMPLE / "lines.json"
    words = ("evaluate", "pixel", "--gt", truth, "--pred", truth, "--pdfs", SAMPLE / "pdf", "--json")
    perfect = run(capsys, *words, "--exact")
    confusion = np.array(perfect["dataset"]["confusion"], dtype=np.float64)
    assert (confusion == np.diag(np.diag(confusion))).all()
    assert len(perfect["pages"]) == 36
    assert "pair_counts" in perfect["pages"][0] or "pair_counts" in perfect
    result = run(capsys, "evaluate", "pixel", "--gt", truth, "--pred", lines, "--pdfs", SAMPLE / "pdf", "--json")
    assert result["classes"][1:] == sorted(result["classes"][1:])
    assert {"pixels", "confusion", "precision", "recall", "f1", "per_class", "collapsed", "mean"} <= set(
        result["dataset"]
    )
    assert sum(map(sum, result["dataset"]["confusion"])) == pytest.approx(
        sum(sum(map(sum, page["confusion"])) for page in result["pages"])
    )


def test_pixel_without_sizes_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["evaluate", "pixel", "--gt", str(SAMPLE / "ground_truth.json"), "--pred", str(SAMPLE / "lines.json")])
    said = capsys.readouterr()
    assert left.value.code == 2
    assert "--page-size" in said.err
    assert "Traceback" not in said.err


def test_fields(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    field = {"_value": "7", "_confidence": 0.9, "_bbox": [[0, 0], [10, 10]]}
    for side in ("gt", "pred"):
        for document in ("a", "b"):
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / f"{document}.json").write_text(json.dumps({"total": field}))
    words = ("evaluate", "fields", "--gt", tmp_path / "gt", "--pred", tmp_path / "pred", "--json")
    result = run(capsys, *words)
    assert {"mean_ap", "map_50", "map_75", "iou_thresholds", "fields", "coverage", "confidence"} <= set(result)
    assert result["mean_ap"] == 1.0
    assert {"auroc", "brier", "ece", "bins", "review_budget"} <= set(result["confidence"])
    assert "stickler" in run(capsys, *words, "--parity", "stickler")["signature"]
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"total": {"comparator": "exact", "threshold": 1.0}}))
    assert run(capsys, *words, "--schema", schema, "--recall-grid", "decimal")["mean_ap"] == 1.0


@needs_shared
def test_posters(capsys: pytest.CaptureFixture[str]) -> None:
    real = Path(SHARED, "real", "posters")
    result = run(capsys, "evaluate", "posters", "--gt", real, "--pred", real, "--profile", "published", "--json")
    assert (result["profile"], len(result["posters"])) == ("published", 9)
    for poster in result["posters"]:
        assert {"poster_id", "metrics", "passes", "failed", "missing_words", "extra_words", "missing_numbers"} <= set(
            poster
        )
        assert set(poster["metrics"]) == {"word_capture", "rouge_l", "number_capture", "field_proportion"}


def test_posters_made_here(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    poster = {"titles": [{"title": "Water"}], "content": {"sections": [{"sectionContent": "Forty wells in 3 rows"}]}}
    for name in ("one.json", "one_extracted.json"):
        (tmp_path / name).write_text(json.dumps(poster))
    result = run(capsys, "evaluate", "posters", "--gt", tmp_path, "--pred", tmp_path, "--json")
    assert result["profile"] == "documented"
    assert result["posters"][0]["passes"] is True
