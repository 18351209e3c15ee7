"""Every protocol from the terminal with each of its options, and what is refused before a file is read."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import project
from evaluator.cli import arguments
from evaluator.project import OptionError
from evaluator.protocols import PROTOCOLS
from tests.reading import refusal_issues
from tests.terminal import run_command

POD = Path(__file__).resolve().parents[1] / "oracles" / "pod" / "p01_basic"
SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
BOXES = SAMPLE / "ground_truth.json", SAMPLE / "lines.json"
FILES = {
    **dict.fromkeys(("snapshot", "coco", "pixel"), BOXES),
    "pod": (POD / "gt", POD / "submission.xml"),
    "fields": (SAMPLE / "fields" / "ground_truth", SAMPLE / "fields" / "anchors"),
    "posters": (SAMPLE / "posters" / "ground_truth", SAMPLE / "posters" / "columns"),
}


@pytest.mark.parametrize(
    ("protocol", "options", "said"),
    [
        ("snapshot", "--iou 0.7 --min-area 0.001 --class-weight Table=3",
         "IoU ≥ 0.70 · score ≥ 0.00 · area ≥ 0.001 of the page · weights Table 3 · 8 documents, 36 pages"),
        ("coco", "--iou 0.50:0.60:0.05 --min-score 0.25 --labels Table", "IoU ≥ 0.50, 0.55, 0.60 · score ≥ 0.25 · "
         "labels Table · at most 100 predictions per page and label · sizes in pixels not known · 8 documents, "
         "36 pages"),
        ("pod", "--ap all-point --small-px 0 --line-px 1 --small-duplicates --iou 0.7 --lenient", "IoU > 0.70 · "
         "score ≥ 0.00 · AP all-point · ignored: 0 × 0 px, lines of 1 px, not their duplicates · lenient · "
         "2 documents, 2 pages"),
        ("pixel", "--page-size 64x48 --classes different --missing-page ignore", "different classes · "
         "missing pages: ignore · pages of unknown size: 64 x 48 · 8 documents, 36 pages"),
        ("fields", "--iou 0.5 --parity stickler --recall-grid linspace --schema SCHEMA", "IoU ≥ 0.50 · score ≥ 0.00 · "
         "values: schema.json 7510d51f2a5f · parity stickler · 14 documents, 17 pages"),
        ("posters", "--profile published", "profile published · no stop words · Porter stems · "
         "numbers without 2010–2030 and from 100000 · pass ≥ 0.75, fields 0.50–2.00 · 5 documents, 5 pages"),
    ],
)  # fmt: skip
def test_every_option_of_the_terminal_reaches_its_protocol(
    protocol: str, options: str, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"total": {"comparator": "exact", "threshold": 1.0}}')
    truth, prediction = FILES[protocol]
    words = options.replace("SCHEMA", str(schema)).split()
    code, out, err = run_command(capsys, "evaluate", protocol, "--gt", truth, "--pred", prediction, "--json", *words)
    assert code == 0, err
    signature = json.loads(out)["signature"].split(" · ")
    assert " · ".join(signature[1:-1]) == said
    assert signature[0].startswith(f"{protocol} ")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_option_of_another_protocol_and_files_that_are_not_there_are_refused(protocol: str) -> None:
    foreign, name = ({"ap": "11-point"}, "--ap") if protocol != "pod" else ({"profile": "published"}, "--profile")
    with pytest.raises(OptionError, match=f"^{name} is not an option of {protocol}, which has --"):
        project.evaluate(protocol, Path("x"), [Path("y")], **foreign)
    assert {issue.file for issue in refusal_issues(project.evaluate, protocol, Path("x"), [Path("y")])} == {"x", "y"}


@pytest.mark.parametrize(
    ("protocol", "option", "said"),
    [
        ("snapshot", {"min_score": math.nan}, "--min-score must be a number from 0 to 1; found nan"),
        ("snapshot", {"min_score": 5}, "--min-score must be a number from 0 to 1; found 5"),
        ("snapshot", {"min_area": "0.1"}, "--min-area must be a number from 0 to 1; found 0.1"),
        ("snapshot", {"iou": 0.5}, "--iou takes several values, as a list or tuple; found 0.5"),
        ("snapshot", {"iou": "0.5"}, "--iou takes several values, as a list or tuple; found 0.5"),
        ("snapshot", {"iou": (0.5, 2)}, "--iou must have numbers above 0, up to 1; found [0.5, 2]"),
        ("snapshot", {"iou": [math.nan]}, "--iou must have numbers above 0, up to 1; found [nan]"),
        ("snapshot", {"labels": "Table"}, "--labels takes several values, as a list or tuple; found Table"),
        ("pod", {"small_px": -1}, "--small-px must be a number of 0 or more; found -1"),
    ],
)
def test_python_may_give_what_the_terminal_may(protocol: str, option: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError) as raised:
        project.evaluate(protocol, BOXES[0], [BOXES[1]], **option)
    assert str(raised.value) == said
    options: Any = project.options_of(PROTOCOLS["pixel"], pdfs=SAMPLE / "pdf", min_score=np.float32(0.5))
    assert options.min_score == 0.5


def test_one_prediction_is_a_list_of_one() -> None:
    with pytest.raises(OptionError, match=r"^predictions must be a list of files; found lines\.json$"):
        project.evaluate("snapshot", BOXES[0], str(BOXES[1]))


def test_issues_of_both_sides_are_told_at_once(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("gt.json", "pred.json")]
    for path in paths:
        path.write_text("[]")
    issues = refusal_issues(project.evaluate, "snapshot", paths[0], paths[1:], format="snapshot")
    assert {issue.file for issue in issues} == {"gt.json", "pred.json"}


def test_both_sides_of_posters_may_be_in_one_folder(tmp_path: Path) -> None:
    for name in ("one.json", "one_extracted.json"):
        (tmp_path / name).write_text(
            json.dumps({"content": {"sections": [{"sectionContent": "Forty wells in 3 rows"}]}})
        )
    (evaluated,) = project.evaluate("posters", tmp_path, [tmp_path])
    assert [(poster["poster_id"], poster["passes"]) for poster in evaluated.to_json()["posters"]] == [("one", True)]


def test_an_iou_range_has_both_ends_and_no_stray_digits() -> None:
    assert list(arguments.thresholds("0.50:0.95:0.05")) == [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
    assert list(arguments.thresholds("0.5")) == [0.5]
