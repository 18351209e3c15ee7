"""YOLO: columns of boxes and outlines, names of classes, and the whole sentence for what is wrong."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.data.dataset import Annotations
from evaluator.data.issues import issues_text
from evaluator.formats import search, yolo
from evaluator.project import evaluate
from tests import reading
from tests.reading import OWN, cut_short, head, needs_shared, outlines, real, refusal, rows, warned

ROW = yolo.FORMAT
NAMES = "names: [Table, Text]\n"
UNNAMED = (
    "the names of the classes should be in data.yaml or classes.txt (YOLO); found none. Labels are the numbers of the "
    "classes, or the names of the ground truth."
)


def folder_of(path: Path, **files: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / (name.replace("__", ".") if "__" in name else f"{name}.txt")).write_text(text, encoding="utf-8")
    return path


def read(text: str, **given: Any) -> Annotations:
    return reading.read(ROW, text.encode(), "a.txt", **given)


@pytest.mark.parametrize("path", [OWN / "yolo", OWN / "yolo" / "data.yaml"], ids=["folder", "yaml"])
def test_a_data_set(path: Path) -> None:
    source = formats.read(path)
    assert head(source) == ("yolo", "ground_truth", "page", ["p1", "p2"], [0, 0], None)
    assert (source.name, source.labels, source.evaluated) == ("yolo", ("Table", "no", "Figure"), 3)
    assert source.label_map == {"0": "Table", "1": "no", "2": "Figure"}
    assert rows(source) == [("p1", 0, "Table", [0.25, 0.125, 0.75, 0.375]), ("p1", 0, "Figure", [0.1, 0.1, 0.3, 0.4])]
    assert outlines(source) == {1: [[[0.1, 0.1], [0.3, 0.1], [0.2, 0.4]]]}
    assert list(source.boxes.ids) == ["labels/train/p1.txt, line 1", "labels/train/p1.txt, line 2"]
    assert source.issues == ()


def test_one_file_has_the_names_of_the_folders_above() -> None:
    source = formats.read(OWN / "yolo" / "labels" / "train" / "p1.txt")
    assert (source.labels, list(source.boxes.ids), source.issues) == (
        ("Table", "no", "Figure"), ["line 1", "line 2"], (),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "corners", "score", "outline"),
    [
        ("0 0.5 0.5 0.5 0.5", [0.25, 0.25, 0.75, 0.75], None, False),
        ("0 0.5 0.5 0.5 0.5 0.9", [0.25, 0.25, 0.75, 0.75], 0.9, False),
        ("0 0 0 0.5 0 0.25 0.5", [0, 0, 0.5, 0.5], None, True),
        ("0 0 0 0.5 0 0.25 0.5 0.9", [0, 0, 0.5, 0.5], 0.9, True),
        ("0 0 0 0.5 0 0.5 0.5 0 0.5", [0, 0, 0.5, 0.5], None, False),
    ],
)
def test_lines(line: str, corners: list[float], score: float | None, outline: bool) -> None:
    source = read(line)
    assert source.boxes.xyxy.tolist() == [corners]
    assert source.side == ("prediction" if score else "ground_truth")
    assert source.boxes.score.tolist() == ([score] if score else pytest.approx([np.nan], nan_ok=True))
    assert bool(source.boxes.polygons) == outline
    assert ROW.side_of(line.encode()) == ("prediction" if score else None)


def test_names_of_other_tools(tmp_path: Path) -> None:
    source = formats.read(folder_of(tmp_path, classes="Text\n\nTable\n", a="1 0.5 0.5 0.1 0.1"))
    assert (source.labels, rows(source)[0][2]) == (("Text", "Table"), "Table")


def test_a_prediction_takes_the_names_of_its_ground_truth(tmp_path: Path) -> None:
    truth = folder_of(tmp_path / "gt", data__yaml=NAMES, a="1 0.5 0.5 0.2 0.2\n0 0.2 0.2 0.1 0.1")
    predicted = folder_of(tmp_path / "runs" / "labels", a="1 0.5 0.5 0.2 0.2 0.9")
    (evaluated,) = evaluate("coco", truth, [predicted])
    assert evaluated.result.thresholds[0.5].micro.tp.tolist() == [1]  # type: ignore[attr-defined]
    assert formats.resolve(formats.read(predicted), formats.read(truth)).labels == ("Text",)
    strange = formats.read(folder_of(tmp_path / "more", a="7 0.5 0.5 0.2 0.2 0.9"))
    assert refusal(formats.resolve, strange, formats.read(truth)) == [
        'more: the number of a class must be one that gt names (YOLO); found 1: "7". Give the data.yaml of the model.'
    ]


def test_files_are_read_as_either_side(tmp_path: Path) -> None:
    path = folder_of(tmp_path, data__yaml=NAMES, a="0 0.5 0.5 0.2 0.2")
    assert formats.read(path, side="prediction").side == "prediction"
    assert formats.read(path, side="ground_truth", format="yolo").side == "ground_truth"


def test_a_data_set_is_one_unit_of_a_folder(tmp_path: Path) -> None:
    root = folder_of(tmp_path / "data", data__yaml=NAMES)
    folder_of(root / "train" / "labels", a="0 0.5 0.5 0.2 0.2")
    folder_of(root / "val" / "labels", b="")
    scored = folder_of(tmp_path / "runs", a="0 0.5 0.5 0.2 0.2 0.5")
    units = search.file_groups(search.walk([tmp_path]))
    assert [(unit.path, sorted(unit.sides), unit.unscored) for unit in units.groups] == [
        (root, [], True), (scored, ["prediction"], False),
    ]  # fmt: skip
    assert units.unknown == []


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        # The splits of a data set, as Ultralytics and Roboflow lay them out, and with years as COCO names them.
        (("labels/train/a", "labels/val/b"), {".": False}),
        (("train/labels/a", "valid/labels/b", "test/labels/c"), {".": False}),
        (("labels/train2017/a", "labels/val2017/b"), {".": False}),
        (("gt/train/a", "gt/val/b", "pred/train/a*", "pred/val/b*"), {"gt": False, "pred": True}),
        # A folder for each document, and files beside folders.
        (("gt/one/a", "gt/two/b", "pred/one/a*", "pred/two/b*"), {"gt": False, "pred": True}),
        (("gt/a", "gt/more/b", "pred/a*", "pred/more/b*"), {"gt": False, "pred": True}),
        # Models have the same pages, or confidences where the ground truth has none.
        (("gt/labels/a", "m/x/labels/a*", "m/y/labels/a*"), {"gt": False, "m/x": True, "m/y": True}),
        (("data/one/a", "data/two/b*"), {"data/one": False, "data/two": True}),
        (("a/a", "b/b"), {"a": False, "b": False}),
        (("data/gt/a", "data/other/b"), {"data/gt": False, "data/other": False}),
        # The same names in two splits are two pages that nothing tells apart.
        (("labels/train/a", "labels/val/a"), {"labels/train": False, "labels/val": False}),
    ],
)
def test_nested_folders_without_names(tmp_path: Path, files: tuple[str, ...], wanted: dict[str, bool]) -> None:
    for file in files:
        path = tmp_path / file.removesuffix("*")
        folder_of(path.parent, **{path.name: "0 0.5 0.5 0.2 0.2" + (" 0.9" if file.endswith("*") else "")})
    units = search.file_groups(search.walk([tmp_path]), [tmp_path]).groups
    assert {unit.path.relative_to(tmp_path).as_posix(): "prediction" in unit.sides for unit in units} == wanted
    assert sum(len(ROW.read_path(unit.path).page_index) for unit in units) == len(files)


def test_a_split_that_was_named_is_read_alone(tmp_path: Path) -> None:
    for split in ("train", "val"):
        folder_of(tmp_path / "labels" / split, **{split: "0 0.5 0.5 0.2 0.2"})
    named = [tmp_path / "labels" / "train"]
    assert [unit.path for unit in search.file_groups(search.walk(named), named).groups] == named


def test_folders_of_other_formats_are_left_to_them(tmp_path: Path) -> None:
    folder_of(tmp_path, README__txt="Read me")
    (tmp_path / "a.json").write_text(json.dumps([{"image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5], "score": 1}]))
    assert formats.read(tmp_path).format == "coco"
    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.2 0.2")
    read = formats.read(tmp_path)
    assert read.format == "coco"
    assert issues_text(read.issues[:1]) == (
        f"warning: {tmp_path.name}: text files that look like labels are left out; "
        'found 1: "a.txt". Give them as a folder of their own.\n'
    )
    assert not ROW.detect(b"Read me\n1 2 3")
    assert not ROW.detect(b"train: a", "x.yaml")


NUMBERS = "a line must be a class and finite numbers (YOLO); found"
MEND = "Correct the line, or remove it."
WRONG = [
    ("0 0.5 0.5 0.1", "line 1: a line must be a class with centre, width and height, or with at least 3 points (YOLO); "
     f'found "0 0.5 0.5 0.1". {MEND}'),
    ("0 0.5 0.5 0.1 x", f'line 1: {NUMBERS} "x" in "0 0.5 0.5 0.1 x". {MEND}'),
    ("\n0 0.5 0.5 0.1 NaN", f'line 2: {NUMBERS} "NaN" in "0 0.5 0.5 0.1 NaN". {MEND}'),
    ("0 0.5 0.5 0.1 1e999", f'line 1: {NUMBERS} "1e999" in "0 0.5 0.5 0.1 1e999". {MEND}'),
    ("0.5 0.5 0.5 0.1 0.1", "line 1: a class must be a whole number from 0 (YOLO); found 0.5. Correct the class."),
    ("-1 0.5 0.5 0.1 0.1", "line 1: a class must be a whole number from 0 (YOLO); found -1. Correct the class."),
    ("0 0.5 0.5 -0.1 0.1", f"line 1: width and height must not be negative (YOLO); found [-0.1, 0.1]. {MEND}"),
    (b"0 0.5 0.5 0.1 0.1 \xff", "text must be UTF-8 (YOLO); found 0xFF at byte 18. Save the file as UTF-8."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_sentences(text: str | bytes, sentence: str) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    assert reading.refused(ROW, content, "a.txt") == [f"a.txt: {sentence}"]


def test_names_alone_are_refused() -> None:
    assert reading.refused(ROW, NAMES.encode(), "data.yaml") == [
        "data.yaml: names of classes are not boxes (YOLO). Give the folder of the labels, or a zip archive of it."
    ]


def test_warnings() -> None:
    assert warned(read("0 0.9 0.5 0.4 0.1 7")) == [
        f"a.txt: {UNNAMED}",
        "a.txt: line 1: coordinates should be between 0 and 1, shares of the page (YOLO); found [0.7, 0.45, 1.1, 0.55] "
        "(corners) in 1 x 1. It is compared as it is; check the size of the image.",
        "a.txt: line 1: confidence should be between 0 and 1 (YOLO); found 7. It is kept as it is; only the rank "
        "counts.",
    ]
    # Six decimals round, which leaves the page by less than a millionth.
    assert warned(read("0 0.999999 0.5 0.000003 0.1")) == [f"a.txt: {UNNAMED}"]


def test_text_files_without_boxes_and_keypoints(tmp_path: Path) -> None:
    pose = "names: [Table]\nkpt_shape: [2, 3]\n"
    path = folder_of(tmp_path, data__yaml=pose, a="0 0.5 0.5 0.2 0.2 0.1 0.1 2 0.2 0.2 2", notes="Read me", b="")
    source = formats.read(path)
    assert source.boxes.xyxy.tolist() == [pytest.approx([0.4, 0.4, 0.6, 0.6])]
    assert len(source.page_ids) == 2
    assert warned(source) == [
        f'{tmp_path.name}: text files without boxes are left out (YOLO); found 1: "notes.txt". Nothing to do if they '
        "hold no labels.",
        f"{tmp_path.name}: a.txt: keypoints are not read (YOLO, kpt_shape); found 1 box with them. They are left out.",
    ]


def test_images_of_one_name_in_two_folders_are_two_documents(tmp_path: Path) -> None:
    for part in ("train", "val"):
        folder_of(tmp_path / part, a="0 0.5 0.5 0.2 0.2")
    folder_of(tmp_path, data__yaml=NAMES)
    source = formats.read(tmp_path)
    assert [document.doc_id for document in source.documents] == ["train/a", "val/a"]
    assert warned(source) == [
        f"{tmp_path.name}: images of one name in several folders are read as documents of their own; found "
        '"train/a": "train/a.txt", "val/a": "val/a.txt". Rename the images if other images belong together.'
    ]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (NAMES, "a.txt, line 1: a class must be one of the 2 that data.yaml names (YOLO); found 5. Correct the class, "
         "or name it."),
        *((f"names: {names}\n", "data.yaml, line 1: names must be a list of names, or a name for each number of a "
           "class (YOLO); found another value. Write it as names: [Text, Table].")
          for names in ("5", "[a, [b]]", "{0: a, x: b}")),
        ("nc: 2\nnames: [a, b\n", "data.yaml, line 3: the text must be well-formed YAML (YAML 1.2); found expected "
         "',' or ']', but got '<stream end>'. Correct the text."),
        ("names: " + "[" * 700, "data.yaml: the text must be well-formed YAML (YAML 1.2); found RecursionError. "
         "Correct the text."),
        ("names: [a]\n#" + "x" * (1 << 20), "data.yaml: a file of names may have 1,048,576 bytes; found 1,048,588. "
         "Keep only the names in it."),
    ],
)  # fmt: skip
def test_sentences_on_names(tmp_path: Path, names: str, sentence: str) -> None:
    path = folder_of(tmp_path, data__yaml=names, a="5 0.5 0.5 0.2 0.2")
    assert refusal(formats.read, path)[0] == f"{tmp_path.name}: {sentence}"


def test_a_folder_without_labels(tmp_path: Path) -> None:
    path = folder_of(tmp_path, data__yaml=NAMES) / "data.yaml"
    assert refusal(formats.read, path)[0] == (
        f"{tmp_path.name}: a folder must hold text files of boxes (YOLO); found none. Name the folder of labels."
    )


def counted(path: Path, names: list[str]) -> list[tuple[str, list[float]]]:
    boxes = []
    for line in path.read_text(encoding="utf-8").splitlines():
        key, x, y, width, height = map(float, line.split()[:5])
        boxes.append((names[int(key)], [x - width / 2, y - height / 2, x + width / 2, y + height / 2]))
    return boxes


@needs_shared
@pytest.mark.parametrize("name", ["", "data.yaml", "train_001.txt"])
def test_real_files(name: str) -> None:
    path = real("formats", "yolo")
    source = formats.read(path / name)
    assert [(label, corners) for _, _, label, corners in rows(source)] == counted(
        path / "train_001.txt", ["label_0", "label_1"]
    )


def test_a_line_that_is_cut_off_is_refused() -> None:
    for content in cut_short(b"0 0.5 0.25 0.5 0.25\n1 0.5"):
        assert reading.refused(ROW, content, "a.txt")


@pytest.mark.parametrize(
    ("name", "score", "what"), [("labels", " 0.9", "one with scores"), ("gt", "", "one called a ground truth")]
)
def test_folders_of_two_sides_are_no_data_set(tmp_path: Path, name: str, score: str, what: str) -> None:
    folder_of(tmp_path / "all" / name, p1="0 0.5 0.5 0.2 0.2")
    folder_of(tmp_path / "all" / "out", p1=f"0 0.5 0.5 0.2 0.2{score}")
    assert refusal(formats.read, tmp_path / "all")[0] == (
        f'all: the folders of a data set must be one side; found p1.txt in "{name}" and in "out", {what}. '
        "Give the ground truth and the predictions as two folders."
    )
