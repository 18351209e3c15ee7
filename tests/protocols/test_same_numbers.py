"""The same boxes in every format, and through every command that gives a number: one result, or one clear refusal.

Boxes lie on pages of 1024 x 1024 pixels at whole multiples of 32, so that shares of the page are exact in binary and a
format changes no digit. What the formats cannot all hold is not compared: sizes in pixels (POD's small objects, COCO's
area ranges).
"""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

import evaluator
from evaluator import formats, project, protocols
from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import BadInput
from evaluator.formats.writers import WRITERS
from evaluator.metrics.results import Metrics
from evaluator.review.identity import mistake_targets
from evaluator.review.store import Store
from tests import format_files
from tests.building import Box, annotations
from tests.dashboard import cards, start, workspace
from tests.judging import opinion
from tests.terminal import run_command

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


Run = Callable[..., tuple[int, str, str]]
Written = str | dict[str, str]
"""A file, or the files of a folder by their names."""


class Form(NamedTuple):
    truth: Callable[[tuple[Row, ...]], Written]
    prediction: Callable[[tuple[Row, ...]], Written]
    suffix: str
    scored: bool = True


def pages(rows: tuple[Row, ...]) -> dict[str, list[Row]]:
    """The rows of each page; every page is there, with or without boxes."""
    return {page: [row for row in rows if row[0] == page] for page in ("p1", "p2")}


def as_columns(rows: tuple[Row, ...], side: Side) -> Annotations:
    boxes = [
        Box(page, 0, label, tuple(value / SIZE for value in corners), None if side == "ground_truth" else score)
        for page, label, corners, score in rows
    ]
    made = annotations(boxes, side=side, labels=LABELS)
    return replace(made, page_size=np.full((len(made.page_index), 2), float(SIZE)))


def written(name: str, side: Side) -> Callable[[tuple[Row, ...]], Written]:
    """The file, or the files of a folder, that the writer of a format makes; readers have their own tests by hand."""

    def made(rows: tuple[Row, ...]) -> Written:
        files = {file: text.decode() for file, text in WRITERS[name].convert(as_columns(rows, side)).files.items()}
        return files if WRITERS[name].folder else next(iter(files.values()))

    return made


def by_writer(name: str, suffix: str = ".json", **given: bool) -> Form:
    return Form(written(name, "ground_truth"), written(name, "prediction"), suffix, **given)


coco_truth: Final = written("coco", "ground_truth")


def apart(page_text: Callable[[str, list[Row]], str], suffix: str) -> Callable[[tuple[Row, ...]], Written]:
    return lambda rows: {f"{page}{suffix}": page_text(page, of_page) for page, of_page in pages(rows).items()}


def page_of(page: str, rows: list[Row]) -> format_files.Page:
    return format_files.Page(page, 0, [(corners, label, score) for _, label, corners, score in rows], SIZE)


def filled(of: format_files.Text, suffix: str = ".json") -> Callable[[tuple[Row, ...]], Written]:
    return apart(lambda page, rows: format_files.file_of(of, [page_of(page, rows).written(of)], page), suffix)


def in_one(of: format_files.Text) -> Callable[[tuple[Row, ...]], Written]:
    return lambda rows: format_files.file_of(of, [page_of(*each).written(of) for each in pages(rows).items()])


def unscored(of: format_files.Text) -> format_files.Text:
    return of._replace(box=re.sub(r',? "?(prob|score)"?[=:] ?"?%\(score\)s"?', "", of.box))


def ring(corners: tuple[int, int, int, int]) -> list[list[int]]:
    x1, y1, x2, y2 = corners
    return [[x1, y1], [x2, y1], [x2, y2], [x1, y2]]


def named_as_in_textract(rows: tuple[Row, ...]) -> str:
    text = json.loads(str(coco_truth(rows)))
    for category in text["categories"]:
        category["name"] = f"LAYOUT_{category['name'].upper()}"
    return json.dumps(text)


def documentai(page: str, rows: list[Row]) -> str:
    def element(row: Row) -> dict[str, Any]:
        corners = [{"x": x / SIZE, "y": y / SIZE} for x, y in ring(row[2])]
        layout = {"boundingPoly": {"normalizedVertices": corners}, "confidence": row[3], "textAnchor": {}}
        return {"type": row[1], "layout": layout}

    size = {"width": SIZE, "height": SIZE, "unit": "pixels"}
    sheet = {"pageNumber": 1, "dimension": size, "visualElements": [element(row) for row in rows]}
    return json.dumps({"mimeType": "application/pdf", "text": "", "pages": [sheet]})


def table(*, scored: bool) -> Callable[[tuple[Row, ...]], str]:
    def lines(rows: tuple[Row, ...]) -> str:
        cells = [(page, label, *map(str, corners), *([str(score)] * scored)) for page, label, corners, score in rows]
        head = ("document", "label", "x1", "y1", "x2", "y2", *(["score"] * scored))
        return "\n".join(",".join(row) for row in (head, *cells)) + "\n"

    return lines


def image_folder(*, scored: bool) -> Callable[[tuple[Row, ...]], str]:
    def lines(rows: tuple[Row, ...]) -> str:
        def line(page: str) -> str:
            own = [row for row in rows if row[0] == page]
            boxes = [[x1, y1, x2 - x1, y2 - y1] for _, _, (x1, y1, x2, y2), _ in own]
            objects: dict[str, Any] = {"bbox": boxes, "category": [row[1] for row in own]}
            return json.dumps(
                {
                    "file_name": f"{page}.png",
                    "objects": objects | ({"score": [row[3] for row in own]} if scored else {}),
                }
            )

        return "\n".join(line(page) for page in dict.fromkeys(row[0] for row in rows)) + "\n"

    return lines


def plain(form: Callable[[tuple[Row, ...]], Written]) -> Form:
    """A form without scores, which is both sides."""
    return Form(form, form, "", scored=False)


FORMS: Final = {
    "snapshot": by_writer("snapshot"),
    "coco": by_writer("coco"),
    "pod": Form(in_one(unscored(format_files.POD)), in_one(format_files.POD), ".xml"),
    "cvat": by_writer("cvat", ".xml", scored=False),
    "voc": plain(filled(format_files.VOC, ".xml")),
    "alto": plain(filled(format_files.ALTO, ".xml")),
    "page-xml": by_writer("page-xml", ".xml"),
    "label-studio": by_writer("label-studio"),
    "omnidocbench": by_writer("omnidocbench"),
    "yolo": by_writer("yolo", ""),
    "items": Form(filled(unscored(format_files.ITEMS), ".jsonl"), filled(format_files.ITEMS, ".jsonl"), ".jsonl"),
    "docling": plain(filled(format_files.DOCLING)),
    "mineru": Form(coco_truth, filled(format_files.MINERU_MIDDLE), ".json"),
    "paddle": Form(coco_truth, filled(format_files.PADDLE), ".json"),
    "marker": plain(filled(format_files.MARKER)),
    "azure": plain(filled(format_files.AZURE)),
    "textract": Form(named_as_in_textract, filled(format_files.TEXTRACT), ".json"),
    "documentai": Form(coco_truth, apart(documentai, ".json"), ".json"),
    "unstructured": Form(coco_truth, in_one(format_files.UNSTRUCTURED), ".json"),
    "supervision": Form(coco_truth, in_one(format_files.SUPERVISION), ".csv"),
    "table": Form(table(scored=False), table(scored=True), ".csv"),
    "image-folder": Form(image_folder(scored=False), image_folder(scored=True), ".jsonl"),
}
# All protocols; every other format goes through the first of them.
UNDER_ALL: Final = ("snapshot", "coco", "pod", "cvat")
NAMES: Final = tuple(Metrics.__annotations__)
THRESHOLD: Final = {name: protocol.thresholds[0] for name, protocol in protocols.box_protocols().items()}


@pytest.fixture
def files(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Path]:
    """The three files in the format of the parameter."""
    form = FORMS[request.param]
    paths = {}
    for name, rows in (("truth", TRUTH), ("a", A), ("b", B)):
        content = (form.truth if name == "truth" else form.prediction)(rows)
        if isinstance(content, str):
            paths[name] = (
                tmp_path / f"{name}{'.json' if content[:1] in '[{' and form.suffix != '.jsonl' else form.suffix}"
            )
            paths[name].write_text(content)
            continue
        paths[name] = tmp_path / name
        for file, text in content.items():
            (paths[name] / file).parent.mkdir(parents=True, exist_ok=True)
            (paths[name] / file).write_text(text)
    return paths


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return partial(run_command, capsys)


@cache
def expected(protocol: str) -> dict[str, dict[str, Any]]:
    """Counts and ratios of all labels by model, from the columns of this file and no reader of a format."""
    system = protocols.box_protocols()[protocol]
    models = [as_columns(rows, "prediction") for rows in (A, B)]
    sides = [replace(side, page_size=None) for side in (as_columns(TRUTH, "ground_truth"), *models)]
    evaluations = system.evaluate(sides[0], sides[1:], system.options())
    return {name: dict(one.result.first.micro.row(0)) for name, one in zip("ab", evaluations, strict=True)}


def accepted(protocol: str, form: str) -> bool:
    """Whether a protocol takes predictions of a format: some have no scores."""
    return FORMS[form].scored or not protocols.box_protocols()[protocol].needs_scores


def test_every_format_is_here() -> None:
    # Tables are all that cTDaR has, and Markdown has no boxes; their own tests state their numbers.
    assert {*FORMS, "ctdar", "markdown"} == set(formats.of_kind("boxes"))


every_pair = pytest.mark.parametrize(
    ("protocol", "files"),
    [
        (protocol, form)
        for protocol in protocols.box_protocols()
        for form in FORMS
        if accepted(protocol, form) and (protocol == "snapshot" or form in UNDER_ALL)
    ],
    indirect=["files"],
)
# What commands and the dashboard do with the columns: each protocol once, with and without scores, files and a folder.
some_pairs = pytest.mark.parametrize(
    ("protocol", "files"),
    [("snapshot", "cvat"), ("snapshot", "yolo"), ("pod", "coco"), ("coco", "pod")],
    indirect=["files"],
)


def test_by_hand() -> None:
    """Snapshot at IoU 0.5: A has the table cut to 3/4, the figure and a table; B all but the figure."""
    assert [expected("snapshot")[name][key] for name in "ab" for key in ("tp", "fp", "fn")] == [3, 2, 2, 4, 0, 1]


@every_pair
def test_every_format(protocol: str, files: dict[str, Path]) -> None:
    evaluations = project.evaluate(protocol, files["truth"], [files["a"], files["b"]])
    rows = [dict(one.result.first.micro.row(0)) for one in evaluations]  # type: ignore[attr-defined]
    assert rows == [expected(protocol)[name] for name in "ab"]


@some_pairs
def test_evaluate_compare_and_gate(protocol: str, files: dict[str, Path], run: Run) -> None:
    options = ("--gt", files["truth"], "--pred", files["a"], "--iou", THRESHOLD[protocol])
    want = expected(protocol)
    compared = json.loads(run("compare", protocol, *options, "--pred", files["b"], "--json")[1])
    for name in "ab":
        values = {one["metric"]: one[name] for one in compared["differences"] if one["label"] == "All labels"}
        assert {key: values[key] for key in NAMES[3:]} == pytest.approx(
            {key: want[name][key] for key in NAMES[3:]}, abs=0
        )
    f1 = want["a"]["f1"]
    for code, operator in enumerate(("<", "<=")):
        assert run("gate", protocol, *options, "--fail-if", f"f1 {operator} {f1!r}")[0] == code
    result = json.loads(run("evaluate", protocol, *options, "--json")[1])
    if protocol == "coco":
        assert result["AP50"] is not None
    else:
        (threshold,) = result["thresholds"].values()
        assert threshold["micro"] == want["a"]


@some_pairs
def test_report(protocol: str, files: dict[str, Path], run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "pack"
    sides = ("--gt", files["truth"], "--pred", files["a"], "--pred", files["b"])
    assert run("report", protocol, *sides, "--out", folder, "--pages", "0")[0] == 0
    with (folder / "results.csv").open(encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row["label"] == "All labels"]
    for row, name in zip(rows, "ab", strict=True):
        assert {key: float(row[key]) for key in NAMES} == {key: float(expected(protocol)[name][key]) for key in NAMES}


@some_pairs
def test_the_dashboard(protocol: str, files: dict[str, Path]) -> None:
    app = start(files=workspace(files["truth"], [files["a"], files["b"]]), protocol=protocol)
    for card, name in zip(cards(app), "ab", strict=True):
        want = expected(protocol)[name]
        assert [card[key] for key in ("TP", "FP", "FN")] == [str(want[key]) for key in ("tp", "fp", "fn")]
        assert float(card["F1"]) == pytest.approx(want["f1"], abs=0.0005)


@some_pairs
def test_corrected(protocol: str, files: dict[str, Path], run: Run, tmp_path: Path) -> None:
    """The false positive of model A at the foot of the first page is right, the ground truth wrong: one more match."""
    system = protocols.box_protocols()[protocol]
    options = system.options()
    opened = project.open_project(system, files["truth"], [files["a"]], options)
    dataset = project.require_joined(opened, system, options).dataset
    first = system.match(system.pair(dataset, 0, options), options).at(THRESHOLD[protocol])
    target = next(each for each in mistake_targets(first, 0).targets if each.mistake == "invented")
    store = Store(str(tmp_path / "findings.sqlite"))
    store.add([opinion(target, "ground_truth_wrong", verified=True)])
    store.close()
    words = ("--gt", files["truth"], "--pred", files["a"], "--iou", THRESHOLD[protocol], "--json")
    official, corrected = json.loads(run("evaluate", protocol, *words, "--findings", tmp_path / "findings.sqlite")[1])
    assert corrected["verdicts_applied"] == 1
    if protocol == "coco":
        # One figure of one is found by one prediction a page; with the accepted one, one of two.
        assert [values["per_class"]["figure"]["AR1"] for values in (official, corrected)] == [1.0, 0.5]
        return
    (before,), (after,) = official["thresholds"].values(), corrected["thresholds"].values()
    assert after["micro"]["tp"] - before["micro"]["tp"] == 1
    assert after["micro"]["fp"] - before["micro"]["fp"] == -1


@pytest.mark.parametrize("protocol", [name for name, row in protocols.box_protocols().items() if row.needs_scores])
@pytest.mark.parametrize("files", [form for form in FORMS if not FORMS[form].scored], indirect=True)
def test_predictions_without_scores_are_refused(protocol: str, files: dict[str, Path]) -> None:
    with pytest.raises(BadInput, match="every prediction"):
        project.evaluate(protocol, files["truth"], [files["a"]])


@pytest.mark.parametrize(("protocol", "files"), [("pod", "cvat"), ("coco", "marker")], indirect=["files"])
def test_every_command_refuses_them_alike(protocol: str, files: dict[str, Path], run: Run, tmp_path: Path) -> None:
    sides = ("--gt", files["truth"], "--pred", files["a"])
    with pytest.raises(BadInput) as refused:
        project.evaluate(protocol, files["truth"], [files["a"]])
    for words in (
        ("evaluate", protocol, *sides),
        ("compare", protocol, *sides, "--pred", files["b"]),
        ("gate", protocol, *sides, "--fail-if", "f1 < 0.5"),
        ("report", protocol, *sides, "--out", tmp_path / "pack.html"),
    ):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert all(issue.sentence in err for issue in refused.value.issues)


@pytest.mark.parametrize("form", ["snapshot", "coco"])
def test_files_that_are_opened_from_python_have_these_numbers(form: str, tmp_path: Path) -> None:
    (tmp_path / "ground_truth.json").write_text(str(FORMS[form].truth(TRUTH)))
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(str(FORMS[form].prediction(A)))
    files = evaluator.open(tmp_path / "ground_truth.json", [tmp_path / "a.json", tmp_path / "b.json"])
    a, b = files.evaluate("snapshot")
    assert a.flat()["f1"] == b.flat()["f1"] == expected("snapshot")["a"]["f1"]
