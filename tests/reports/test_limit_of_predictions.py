"""Predictions beyond the limit of a page and label: how many, on how many pages, and another limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator import formats
from evaluator.project import OptionError, evaluate
from evaluator.protocols import coco
from tests.dashboard import fine, signature, start, workspace
from tests.terminal import run_command

SENTENCE = (
    "dt.json: the best 100 predictions of a page and label count (COCO); found 25 predictions left out on 2 pages. "
    "Give a larger --max-detections to count them."
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Three pages with 120, 105 and 100 predictions; all are right."""
    images, truth, rows = [], [], []
    for image, count in enumerate((120, 105, 100), 1):
        images.append({"id": image, "file_name": f"{image}.png", "width": 1000, "height": 1000})
        for at in range(count):
            box = [20 + 40 * (at % 20), 20 + 40 * (at // 20), 30, 30]
            common = {"image_id": image, "category_id": 1, "bbox": box}
            truth.append({"id": len(truth) + 1, "area": 900, "iscrowd": 0, **common})
            rows.append({**common, "score": round(0.99 - len(rows) / 1000, 3)})
    instances = {"images": images, "categories": [{"id": 1, "name": "Text"}], "annotations": truth}
    for name, value in (("gt.json", instances), ("dt.json", rows)):
        (tmp_path / name).write_text(json.dumps(value))
    return tmp_path / "gt.json", tmp_path / "dt.json"


@pytest.mark.parametrize("options", [{}, {"page_ranges": 1}])
def test_what_is_left_out_is_said(files: tuple[Path, Path], options: dict[str, int]) -> None:
    (evaluation,) = evaluate("coco", files[0], [files[1]], **options)
    assert [issue.sentence for issue in evaluation.issues] == [SENTENCE]
    assert evaluation.to_json()["AR100"] == pytest.approx(300 / 325)


def test_another_limit_counts_them(files: tuple[Path, Path]) -> None:
    (evaluation,) = evaluate("coco", files[0], [files[1]], max_detections=300)
    assert evaluation.issues == ()
    assert evaluation.to_json()["AR100"] == evaluation.to_json()["AP"] == pytest.approx(1.0)
    assert "at most 300 predictions per page and label" in evaluation.result.signature.line
    result = coco.evaluate(*map(formats.read, files), max_detections=5)
    assert result.numbers["AR100"] == pytest.approx(15 / 325)
    assert result.beyond_limit == (5, 310, 3)
    with pytest.raises(OptionError):
        evaluate("coco", files[0], [files[1]], max_detections=0)
    with pytest.raises(ValueError, match=r"^max_detections must be at least 1; found 0$"):
        coco.evaluate(*map(formats.read, files), max_detections=0)


def test_scores_and_labels_that_do_not_count_are_not_left_out(files: tuple[Path, Path]) -> None:
    (evaluation,) = evaluate("coco", files[0], [files[1]], min_score=0.8)
    # Of the second page 105 scores follow those of the first: its last ones are below.
    assert [issue.found for issue in evaluation.issues] == ["20 predictions left out on 1 page"]


def test_terminal_and_check_say_it(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    gt, dt = map(str, files)
    for words in (["evaluate", "coco", "--gt", gt, "--pred", dt], ["check", gt, dt]):
        code, out, err = run_command(capsys, *words)
        assert (code, f"warning: {SENTENCE}\n" in out + err) == (0, True)
    code, out, err = run_command(capsys, "evaluate", "coco", "--gt", gt, "--pred", dt, "--max-detections", "120")
    assert (code, err, "at most 120" in " ".join(out.split())) == (0, "", True)


def test_the_dashboard_has_the_limit(files: tuple[Path, Path]) -> None:
    app = start(files=workspace(files[0], [files[1]]), protocol="coco")
    said = "The best 100 of a page and label count: 25 predictions left out on 2 pages in A."
    shown = [caption.value.replace("\\", "").replace("\u2060", "") for caption in app.caption]
    assert any(said in each for each in shown)
    app = fine(app.number_input(key="max_detections").set_value(200).run())
    assert "at most 200 predictions per page and label" in signature(app)
