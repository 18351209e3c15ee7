"""The same boxes in every format, through every command that gives a number: one result, or one clear refusal.

Boxes lie on pages of 1024 x 1024 pixels at whole multiples of 32, so that shares of the page are exact in binary and a
format changes no digit. What the formats cannot all hold is not compared: sizes in pixels (POD's small objects, COCO's
area ranges).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from evaluator import cli, project, protocols
from evaluator.metrics.results import Metrics
from evaluator.model.dataset import Annotations, Side
from evaluator.model.issues import BadInput
from evaluator.review.identity import page_mistakes
from evaluator.review.store import Store
from evaluator.review.verdicts import judge
from tests.building import Box, annotations, snapshot_file
from tests.dashboard import cards, start, workspace

SIZE: Final = 1024
LABELS: Final = ("table", "figure", "formula")
Row = tuple[str, str, tuple[int, int, int, int], float]

TRUTH: Final[tuple[Row, ...]] = (
    ("p1", "table", (64, 64, 576, 320), 1.0),
    ("p1", "figure", (64, 384, 448, 896), 1.0),
    ("p1", "formula", (512, 512, 960, 576), 1.0),
    ("p2", "table", (128, 128, 896, 512), 1.0),
    ("p2", "table", (128, 576, 896, 960), 1.0),
)
# Exact matches, one cut off by a quarter, a false positive, a wrong label, and a missed formula.
A: Final[tuple[Row, ...]] = (
    ("p1", "table", (64, 64, 448, 320), 0.9),
    ("p1", "figure", (64, 384, 448, 896), 0.8),
    ("p1", "figure", (576, 640, 960, 960), 0.7),
    ("p2", "table", (128, 128, 896, 512), 0.6),
    ("p2", "figure", (128, 576, 896, 960), 0.5),
)
B: Final[tuple[Row, ...]] = (
    ("p1", "table", (64, 64, 576, 320), 0.9),
    ("p1", "formula", (512, 512, 960, 576), 0.4),
    ("p2", "table", (128, 128, 896, 512), 0.6),
    ("p2", "table", (128, 576, 896, 960), 0.5),
)


class Form(NamedTuple):
    """How the boxes are written in one format: ground truth and predictions, and the ending of the file."""

    truth: Callable[[tuple[Row, ...]], str]
    prediction: Callable[[tuple[Row, ...]], str]
    suffix: str


def pages(rows: tuple[Row, ...]) -> dict[str, list[Row]]:
    """The rows of each page; every page is there, with or without boxes."""
    return {page: [row for row in rows if row[0] == page] for page in ("p1", "p2")}


def as_boxes(rows: tuple[Row, ...]) -> list[Box]:
    """The rows as shares of the page."""
    return [
        Box(page, 0, label, tuple(value / SIZE for value in corners), score)  # type: ignore[arg-type]
        for page, label, corners, score in rows
    ]


def snapshot(rows: tuple[Row, ...], side: Side) -> str:
    return json.dumps(snapshot_file(as_boxes(rows), side=side, labels=LABELS))


def coco_truth(rows: tuple[Row, ...]) -> str:
    names = ("p1", "p2")
    images = [{"id": at, "file_name": f"{page}.png", "width": SIZE, "height": SIZE} for at, page in enumerate(names, 1)]
    annotations = [
        {**coco_box(row), "id": at, "iscrowd": 0, "area": coco_box(row)["bbox"][2] * coco_box(row)["bbox"][3]}
        for at, row in enumerate(rows, start=1)
    ]
    categories = [{"id": at, "name": label} for at, label in enumerate(LABELS, start=1)]
    return json.dumps({"images": images, "annotations": annotations, "categories": categories})


def coco_box(row: Row) -> dict[str, Any]:
    page, label, (x1, y1, x2, y2), _ = row
    return {"image_id": int(page[1]), "category_id": LABELS.index(label) + 1, "bbox": [x1, y1, x2 - x1, y2 - y1]}


def coco_results(rows: tuple[Row, ...]) -> str:
    return json.dumps([{**coco_box(row), "score": row[3]} for row in rows])


def pod(rows: tuple[Row, ...], *, scored: bool) -> str:
    lines = []
    for page, of_page in pages(rows).items():
        lines.append(f'<document filename="{page}.png">')
        for _, label, (x1, y1, x2, y2), score in of_page:
            prob = f' prob="{score}"' if scored else ""
            lines.append(
                f'<{label}Region{prob}><Coords points="{x1},{y1} {x2},{y1} {x1},{y2} {x2},{y2}"/></{label}Region>'
            )
        lines.append("</document>")
    return "\n".join(lines)


def cvat(rows: tuple[Row, ...]) -> str:
    images = []
    for at, (page, of_page) in enumerate(pages(rows).items()):
        boxes = "".join(
            f'<box label="{label}" xtl="{x1}" ytl="{y1}" xbr="{x2}" ybr="{y2}" occluded="0"/>'
            for _, label, (x1, y1, x2, y2), _ in of_page
        )
        images.append(f'<image id="{at}" name="{page}.png" width="{SIZE}" height="{SIZE}">{boxes}</image>')
    return "<annotations><version>1.1</version>" + "".join(images) + "</annotations>"


FORMS: Final = {
    "snapshot": Form(lambda rows: snapshot(rows, "ground_truth"), lambda rows: snapshot(rows, "prediction"), ".json"),
    "coco": Form(coco_truth, coco_results, ".json"),
    "pod": Form(lambda rows: pod(rows, scored=False), lambda rows: pod(rows, scored=True), ".xml"),
    "cvat": Form(cvat, cvat, ".xml"),
}
NAMES: Final = tuple(Metrics.__annotations__)
THRESHOLD: Final = {name: protocol.thresholds[0] for name, protocol in protocols.box_protocols().items()}


@pytest.fixture
def files(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Path]:
    """The three files in the format of the parameter."""
    form = FORMS[request.param]
    paths = {name: tmp_path / f"{name}{form.suffix}" for name in ("truth", "a", "b")}
    for (name, path), rows in zip(paths.items(), (TRUTH, A, B), strict=True):
        path.write_text((form.truth if name == "truth" else form.prediction)(rows))
    return paths


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def ran(*words: object) -> Ran:
        with pytest.raises(SystemExit) as left:
            cli.main([str(word) for word in words])
        streams = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Ran(left.value.code, streams.out, streams.err)

    return ran


@cache
def expected(protocol: str) -> dict[str, dict[str, Any]]:
    """Counts and ratios of all labels by model, from the columns of this file and no reader of a format."""

    def side(rows: tuple[Row, ...], role: Side) -> Annotations:
        boxes = [box._replace(score=None) if role == "ground_truth" else box for box in as_boxes(rows)]
        return annotations(boxes, side=role, labels=LABELS)

    system = protocols.box_protocols()[protocol]
    evaluations = system.evaluate(
        side(TRUTH, "ground_truth"), [side(A, "prediction"), side(B, "prediction")], system.options()
    )
    return {
        name: dict(one.result.first.micro.row(0))  # type: ignore[attr-defined]
        for name, one in zip("ab", evaluations, strict=True)
    }


def accepted(protocol: str, form: str) -> bool:
    """Whether a protocol takes predictions of a format: CVAT has no scores."""
    return form != "cvat" or not protocols.box_protocols()[protocol].needs_scores


every_pair = pytest.mark.parametrize(
    ("protocol", "files"),
    [(protocol, form) for protocol in protocols.box_protocols() for form in FORMS if accepted(protocol, form)],
    indirect=["files"],
)
refused_pairs = pytest.mark.parametrize(
    ("protocol", "files"),
    [(protocol, form) for protocol in protocols.box_protocols() for form in FORMS if not accepted(protocol, form)],
    indirect=["files"],
)


def test_by_hand() -> None:
    """Snapshot at IoU 0.5: A has the table cut to 3/4, the figure and a table; B all but the figure."""
    assert [expected("snapshot")[name][key] for name in "ab" for key in ("tp", "fp", "fn")] == [3, 2, 2, 4, 0, 1]


@every_pair
def test_evaluate_compare_and_gate(protocol: str, files: dict[str, Path], run: Callable[..., Ran]) -> None:
    options = ("--gt", files["truth"], "--pred", files["a"], "--iou", THRESHOLD[protocol])
    want = expected(protocol)
    compared = json.loads(run("compare", protocol, *options, "--pred", files["b"], "--json").out)
    for name in "ab":
        values = {one["metric"]: one[name] for one in compared["differences"] if one["label"] == "All labels"}
        assert {key: values[key] for key in NAMES[3:]} == pytest.approx(
            {key: want[name][key] for key in NAMES[3:]}, abs=0
        )
    f1 = want["a"]["f1"]
    assert run("gate", protocol, *options, "--fail-if", f"f1 < {f1!r}").code == 0
    assert run("gate", protocol, *options, "--fail-if", f"f1 <= {f1!r}").code == 1
    result = json.loads(run("evaluate", protocol, *options, "--json").out)
    if protocol == "coco":
        assert result["AP50"] is not None
    else:
        (threshold,) = result["thresholds"].values()
        assert threshold["micro"] == want["a"]


@every_pair
def test_report(protocol: str, files: dict[str, Path], run: Callable[..., Ran], tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    words = ("--gt", files["truth"], "--pred", files["a"], "--pred", files["b"], "--out", folder)
    assert run("report", protocol, *words).code == 0
    with (folder / "results.csv").open(encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row["label"] == "All labels"]
    for row, name in zip(rows, "ab", strict=True):
        assert {key: float(row[key]) for key in NAMES} == {key: float(expected(protocol)[name][key]) for key in NAMES}


@every_pair
def test_the_dashboard(protocol: str, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, files=workspace(files["truth"], [files["a"], files["b"]]), protocol=protocol)
    for card, name in zip(cards(app), "ab", strict=True):
        want = expected(protocol)[name]
        assert [card[key] for key in ("TP", "FP", "FN")] == [str(want[key]) for key in ("tp", "fp", "fn")]
        assert float(card["F1"]) == pytest.approx(want["f1"], abs=0.0005)


@every_pair
def test_corrected(protocol: str, files: dict[str, Path], run: Callable[..., Ran], tmp_path: Path) -> None:
    """The false positive of model A at the foot of the first page is right, the ground truth wrong: one more match."""
    system = protocols.box_protocols()[protocol]
    options = system.options()
    opened = project.open_project(system, files["truth"], [files["a"]], options)
    dataset = project.require_joined(opened, system, options).dataset
    first = system.match(system.pair(dataset, 0, options), options).at(THRESHOLD[protocol])
    target = next(each for each in page_mistakes(first, 0).targets if each.mistake == "invented")
    given: dict[str, Any] = {"author": "Anna", "verified": True, "time": datetime(2026, 1, 31, tzinfo=UTC)}
    store = Store(str(tmp_path / "findings.sqlite"))
    store.add([judge(target, verdict="ground_truth_wrong", **given)])
    store.close()
    words = ("--gt", files["truth"], "--pred", files["a"], "--iou", THRESHOLD[protocol], "--json")
    ran = run("evaluate", protocol, *words, "--findings", tmp_path / "findings.sqlite")
    official, corrected = json.loads(ran.out)
    assert corrected["verdicts_applied"] == 1
    if protocol == "coco":
        # One figure of one is found by one prediction a page; with the accepted one, one of two.
        assert [values["per_class"]["figure"]["AR1"] for values in (official, corrected)] == [1.0, 0.5]
        return
    (before,), (after,) = official["thresholds"].values(), corrected["thresholds"].values()
    assert after["micro"]["tp"] - before["micro"]["tp"] == 1
    assert after["micro"]["fp"] - before["micro"]["fp"] == -1


@refused_pairs
def test_predictions_without_scores_are_refused_alike(
    protocol: str, files: dict[str, Path], run: Callable[..., Ran], tmp_path: Path
) -> None:
    sides = ("--gt", files["truth"], "--pred", files["a"])
    with pytest.raises(BadInput) as refused:
        project.evaluate(protocol, files["truth"], [files["a"]])
    assert "every prediction" in str(refused.value)
    for words in (
        ("evaluate", protocol, *sides),
        ("compare", protocol, *sides, "--pred", files["b"]),
        ("gate", protocol, *sides, "--fail-if", "f1 < 0.5"),
        ("report", protocol, *sides, "--out", tmp_path / "pack.html"),
    ):
        ended = run(*words)
        assert (ended.code, ended.out) == (2, "")
        assert all(issue.sentence in ended.err for issue in refused.value.issues)


@pytest.mark.parametrize("form", ["snapshot", "coco"])
def test_the_snippet_of_the_readme(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (Path(cli.__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    snippet = readme.split("```python\n", 1)[1].split("```", 1)[0]
    (tmp_path / "ground_truth.json").write_text(FORMS[form].truth(TRUTH))
    (tmp_path / "model.json").write_text(FORMS[form].prediction(A))
    monkeypatch.chdir(tmp_path)
    exec(snippet, {})
    assert capsys.readouterr().out == f"{expected('snapshot')['a']}\n"
