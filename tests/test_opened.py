"""Files that a script opens: numbers, frames, charts, and the dashboard on them."""

from __future__ import annotations

import doctest
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import evaluator
from evaluator.charts.result import Figure
from evaluator.opened import ModelResult
from tests.dashboard import SAMPLE_DATA
from tests.serving import OPENER, ROOT
from tests.terminal import run_command

FILES = SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json"]

TRACKERS = "requirements-notebook.txt has the trackers of experiments"


@pytest.fixture(scope="module")
def lines() -> ModelResult:
    return evaluator.open(*FILES).evaluate("snapshot")[0]


def test_a_model_has_the_numbers_of_the_terminal(lines: ModelResult, capsys: pytest.CaptureFixture[str]) -> None:
    sides = "--gt", str(FILES[0]), "--pred", str(FILES[1][0])
    said = json.loads(run_command(capsys, "evaluate", "snapshot", *sides, "--json")[1])
    own = lines.to_json()
    assert own["thresholds"] == said["thresholds"]
    at = own["thresholds"]["0.5"]
    flat = lines.flat()
    assert flat["f1"] == at["micro"]["f1"]
    assert flat["recall_by_label/Table"] == at["per_class"]["Table"]["recall"]
    assert (lines.name, lines.signature, lines.issues) == ("lines.json", said["signature"], ())
    table = lines.table()
    assert table[(table.iou_threshold == 0.5) & (table.label == "Table")].tp.item() == at["per_class"]["Table"]["tp"]


def test_every_box_says_what_became_of_it_and_where_it_is_stated(lines: ModelResult) -> None:
    boxes = lines.boxes()
    micro = lines.to_json()["thresholds"]["0.5"]["micro"]
    counts = boxes.groupby(["side", "status"]).size().to_dict()
    assert counts == {
        ("ground_truth", "FN"): micro["fn"], ("ground_truth", "TP"): micro["tp"],
        ("prediction", "FP"): micro["fp"], ("prediction", "TP"): micro["tp"],
    }  # fmt: skip
    truth, predicted = (boxes[boxes.side == side].set_index("row") for side in ("ground_truth", "prediction"))
    matched = truth[truth.status == "TP"]
    assert predicted.loc[matched.partner].partner.tolist() == matched.index.tolist()
    assert predicted.loc[matched.partner].iou.tolist() == matched.iou.tolist()
    assert boxes[boxes.status.isin(["FP", "FN"])].cause.notna().all()
    file = json.loads(FILES[1][0].read_text(encoding="utf-8"))
    box = predicted.iloc[-1]
    assert (box.file, box.place) == ("lines.json", "$.predictions[35].objects[17]")
    assert file["predictions"][35]["objects"][17]["bbox"] == [box.x1, box.y1, box.x2, box.y2]
    assert (lines.boxes(0.75).status == "TP").sum() == 2 * lines.to_json()["thresholds"]["0.75"]["micro"]["tp"]


def test_the_same_twelve_lines_are_in_the_readme_the_manual_and_the_docstring() -> None:
    script = (ROOT / "tests/user_script.py").read_text(encoding="utf-8")
    assert len(script.splitlines()) == 12
    for page in ("README.md", "docs/terminal.md"):
        assert f"\n```python\n{script}```\n" in (ROOT / page).read_text(encoding="utf-8"), page
    shown = doctest.DocTestParser().get_examples(evaluator.open.__doc__ or "")
    lines = [line for line in script.splitlines() if line and not line.startswith("#")]
    assert [each.source.rstrip() for each in shown] == lines


def test_mlflow_keeps_what_is_flat(lines: ModelResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason=TRACKERS)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("layout")
    with mlflow.start_run() as run:
        mlflow.log_metrics(lines.flat())
    assert mlflow.get_run(run.info.run_id).data.metrics == lines.flat()


def test_dvclive_keeps_what_is_flat(lines: ModelResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dvclive = pytest.importorskip("dvclive", reason=TRACKERS)
    monkeypatch.chdir(tmp_path)  # where it makes a repository of its own
    with dvclive.Live(str(tmp_path), save_dvc_exp=False) as live:
        for name, value in lines.flat().items():
            live.log_metric(name, value)
    kept, flat = json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8")), lines.flat()
    assert (kept["f1"], kept["f1_by_label"]["Table"]) == (flat["f1"], flat["f1_by_label/Table"])


def data_of(result: ModelResult, figure: Figure, label: str | None = None) -> list[dict[str, Any]]:
    chart = json.loads(result.chart(figure, label).to_json())
    return [row for rows in chart["datasets"].values() for row in rows]


@pytest.mark.parametrize(
    ("figure", "columns"),
    [
        ("scores", {"model", "score", "measure", "value"}),
        ("precision_recall", {"model", "score", "precision", "recall", "f1"}),
        *((name, {"start", "boxes", "model"}) for name in ("iou", "coverage", "purity")),
        ("coverage_purity", {"coverage", "purity", "pair"}),
        *((name, {"label", "model", "mistakes"}) for name in ("labels", "causes")),
        ("confusion", {"truth", "prediction", "text", "f1"}),
    ],
)
def test_a_figure_has_its_data(lines: ModelResult, figure: Figure, columns: set[str]) -> None:
    assert any(columns <= row.keys() for row in data_of(lines, figure, "Table"))


def test_the_figures_count_the_boxes_that_are_wrong(lines: ModelResult) -> None:
    boxes = lines.boxes()
    wrong = int((boxes["status"] != "TP").sum())
    assert sum(row["mistakes"] for row in data_of(lines, "labels")) == wrong
    matched = sum(int(row["text"]) for row in data_of(lines, "confusion") if row["best"])
    assert matched == int((boxes["status"] == "TP").sum()) // 2
    with pytest.raises(ValueError, match=r"^a figure is one of scores, precision_recall, .*; found none$"):
        lines.chart("none")  # type: ignore[arg-type]


def test_what_matches_no_boxes_has_numbers_alone(lines: ModelResult) -> None:
    (pixel,) = evaluator.open(FILES[0], FILES[1][0], pdfs=SAMPLE_DATA / "pdf").evaluate("pixel")
    assert pixel.flat()["f1"] > 0.5
    for asked in (pixel.boxes, partial(pixel.chart, "scores"), pixel.viewer):
        with pytest.raises(ValueError, match=r"^pixel matches no boxes; table\(\) has its numbers$"):
            asked()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.json is not there\.$"):
        evaluator.open(tmp_path / "none.json", FILES[1])


def test_a_dashboard_runs_on_the_files_until_it_is_stopped() -> None:
    with evaluator.open(*FILES).serve(browser=False) as dashboard:
        assert OPENER.open(f"{dashboard.url}/_stcore/health").read() == b"ok"
    assert dashboard._process.returncode is not None


def test_a_dashboard_that_does_not_start_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"^The dashboard did not start\.\n.*--port"):
        evaluator.open(*FILES).serve(port=-1, browser=False)
