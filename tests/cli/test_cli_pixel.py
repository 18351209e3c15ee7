"""`layoutscope evaluate pixel`: every matrix as CSV, exact counts, page sizes, progress on a terminal."""

import csv
import io
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from evaluator.cli.progress import SILENT, progress
from evaluator.project import evaluate
from evaluator.protocols.pixel.evaluation import PixelResult
from tests import network
from tests.building import box, write_file
from tests.cli.conftest import Runner
from tests.sample_part import SAMPLE as SAMPLE_DATA
from tests.sample_part import write_part

PIXEL = ("evaluate", "pixel")
PROJECT = Path(__file__).resolve().parents[2]
MATRICES = [f"{kind}{name}.csv" for kind in ("", "collapsed-") for name in ("confusion", "precision", "recall", "f1")]


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_part(tmp_path_factory.mktemp("part"), "tram-options.pdf")


def sides(part: Path) -> tuple[object, ...]:
    return *PIXEL, "--page-size", "612x792", "--gt", part / "ground_truth.json", "--pred", part / "lines.json"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[object, ...]:
    truth = write_file(tmp_path / "gt.json", [box(0.0, 0.0, 0.5, 0.5)], side="ground_truth")
    return *PIXEL, "--gt", truth, "--pred", write_file(tmp_path / "pred.json", [box(0.0, 0.0, 0.5, 0.25, score=0.9)])


@pytest.fixture(scope="module")
def result(part: Path) -> PixelResult:
    (evaluated,) = evaluate("pixel", part / "ground_truth.json", [part / "lines.json"], page_size=(612.0, 792.0))
    assert isinstance(evaluated.result, PixelResult)
    return evaluated.result


def test_the_csv_has_every_cell_of_every_matrix(run: Runner, part: Path, result: PixelResult) -> None:
    code, out, _ = run(*sides(part), "--csv")
    assert code == 0
    header, *rows = csv.reader(io.StringIO(out))
    assert header == ["predictions", "matrix", "row", "column", "value", "signature"]
    cells = {tuple(row[1:4]): row[4] for row in rows}
    for name in ("confusion", "precision", "recall", "f1"):
        for i, first in enumerate(result.classes):
            for j, second in enumerate(result.classes):
                cell, value = cells[name, first, second], getattr(result.whole.matrices, name)[0, i, j]
                # A share of no pixels is not defined.
                assert (cell == "") == np.isnan(value)
                assert not cell or float(cell) == value
    assert float(cells["per class", "Table", "iou"]) == result.whole.iou[0, result.classes.index("Table")]
    assert {row[5] for row in rows} == {result.signature.line}
    assert {row[0] for row in rows} == {"lines.json"}


def test_the_folder_gets_one_csv_for_each_matrix(run: Runner, part: Path, result: PixelResult, tmp_path: Path) -> None:
    code, _, _ = run(*sides(part), "--out", tmp_path / "one")
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == sorted(
        [*MATRICES, "result.csv", "result.json", "result.md"]
    )
    rows = list(csv.reader(io.StringIO((tmp_path / "one" / "confusion.csv").read_text(encoding="utf-8"))))
    assert rows[0] == ["predictions", "label", *result.classes, "signature"]
    assert [[float(cell) for cell in row[2:-1]] for row in rows[1:]] == result.whole.matrices.confusion[0].tolist()
    run(*sides(part), "--pred", part / "blocks.json", "--out", tmp_path / "two")
    names = {path.name for path in (tmp_path / "two").iterdir()}
    assert {f"model-{model}-{name}" for model in (1, 2) for name in MATRICES} < names
    long = (tmp_path / "two" / "result.csv").read_text(encoding="utf-8").splitlines()
    assert {row[0] for row in csv.reader(long[1:])} == {"lines.json", "blocks.json"}


def test_exact_adds_the_integers(run: Runner, pair: tuple[object, ...]) -> None:
    value = run(*pair, "--page-size", "100x200", "--exact", "--json").json()
    # Background, the half that was found, the half that was not: label sets of the ground truth and of the prediction.
    assert value["dataset"]["pair_counts"] == [[1, 1, 15000], [2, 1, 2500], [2, 2, 2500]]
    assert value["classes"] == ["Background", "Figure", "Table"]
    assert value["dataset"]["confusion"][1] == [2500.0, 2500.0, 0.0]
    assert value["dataset"]["recall"][1] == [0.5, 0.5, 0.0]
    assert value["dataset"]["recall"][2] == [None, None, None]


def test_a_page_without_a_size_is_one_sentence(run: Runner, pair: tuple[object, ...]) -> None:
    assert run(*pair) == (
        2,
        "",
        'error: gt.json: document "a.pdf", page 1: a page needs its width and height, so that its pixels can be '
        "counted (pixel); found none. Give the PDFs, a COCO file with the sizes of its images, or one size for "
        "all (--page-size WIDTHxHEIGHT).\n",
    )


def test_the_count_of_pages_is_told() -> None:
    told: list[tuple[int, int]] = []
    paths = SAMPLE_DATA / "ground_truth.json", [SAMPLE_DATA / "lines.json"]
    evaluate("pixel", *paths, page_size=(612.0, 792.0), count=lambda done, total: told.append((done, total)))
    assert told[-1] == (36, 36)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_progress_is_silent_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("Reading") as bar:
        bar("Evaluating")
        bar.count(3, 7)
        assert bar is SILENT
    assert capsys.readouterr() == ("", "")


def _all_of(terminal: int) -> bytes:
    """What is written to a pseudo terminal until its other end is closed."""
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo terminal is asked for")
def test_a_terminal_sees_a_bar_and_then_only_the_result(part: Path) -> None:
    """The bars go to standard error while the result goes to a pipe."""
    import pty

    primary, secondary = pty.openpty()
    truth, model, pdfs = map(str, (part / "ground_truth.json", part / "lines.json", SAMPLE_DATA / "pdf"))
    words = ["evaluate", "pixel", "--gt", truth, "--pred", model, "--pdfs", pdfs, "--csv"]
    command = [sys.executable, "-m", "evaluator.cli", *words]
    environment = {**os.environ, "PYTHONPATH": network.python_path(PROJECT), "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=secondary, env=environment, cwd=PROJECT) as process:
        os.close(secondary)
        assert process.stdout is not None
        # Both at once: a terminal that nobody reads fills up, and the command waits for it.
        with ThreadPoolExecutor(1) as beside:
            drawn = beside.submit(_all_of, primary)
            out = process.stdout.read()
            seen = drawn.result()
        assert process.wait() == 0
    os.close(primary)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert "Reading ground_truth.json" in text
    assert re.search(r"Evaluating lines\.json .*3/3", text)
    assert out.startswith(b"predictions,matrix,row,column,value,signature")


def test_predictions_without_scores_and_with_other_labels_are_counted_when_told_to(run: Runner, tmp_path: Path) -> None:
    truth = write_file(tmp_path / "truth.json", [box(0.0, 0.0, 0.5, 0.5)], side="ground_truth")
    model = write_file(tmp_path / "model.json", [box(0.0, 0.0, 0.5, 0.5, score=0.5)])
    model.write_text(model.read_text().replace('"Figure"', '"picture"').replace('"score": 0.5', '"score": null'))
    given = (*PIXEL, "--gt", truth, "--pred", model, "--page-size", "10x10", "--json")
    code, out, err = run(*given, "--classes", "different")
    assert (code, err) == (0, "")
    assert "different classes" in out
