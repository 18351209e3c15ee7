"""Converting and describing files: round trips box for box, what a target cannot hold, and refusals."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import formats, project
from evaluator.analysis.doctor.contents import PageCount, contents, page_counts
from evaluator.data.dataset import Annotations, page_keys
from evaluator.formats.writers import WRITERS, writer_named
from evaluator.protocols.coco.evaluation import CocoResult
from tests.building import annotations, box, write_file
from tests.terminal import run_command

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return partial(run_command, capsys)


ROWS = [
    box(0.1, 0.2, 0.3, 0.4, score=0.9, document="a.pdf"),
    box(0.5, 0.5, 1.0, 0.75, label="Table", score=0.25, document="a.pdf", page=2),
    box(0.0, 0.0, 1.0, 1.0, label="Tab & <le>", score=0.5, document="b.png"),
]
LABELS = ("Figure", "Table", "Tab & <le>")


def sized(side: str = "prediction") -> Annotations:
    source = annotations(ROWS, labels=LABELS, pages=[("b.png", 1)], side=side)  # type: ignore[arg-type]
    if side == "ground_truth":
        source = replace(source, boxes=replace(source.boxes, score=np.full(len(ROWS), np.nan)))
    size = np.array([[600.0, 800.0], [600.0, 800.0], [1000.0, 500.0], [600.0, 800.0]])
    return replace(source, page_size=size[: len(source.page_index)])


def in_shares(source: Annotations) -> np.ndarray:
    if source.unit == "page":
        return source.boxes.xyxy
    if source.page_size is None:
        # Predictions of OmniDocBench say no size; in the order of the file these are the pages of the boxes.
        return source.boxes.xyxy / np.tile([[600.0, 800.0], [1000.0, 500.0], [600.0, 800.0]], 2)
    return source.boxes.xyxy / np.tile(source.page_size[source.boxes.entry], 2)


def text_of(name: str, source: Annotations) -> dict[str, str]:
    return {key: value.decode() for key, value in WRITERS[name].convert(source).files.items()}


def test_coco_has_an_image_per_page_and_an_annotation_per_box() -> None:
    value = json.loads(text_of("coco", sized())["coco.json"])
    assert [(image["file_name"], image["width"], image["height"]) for image in value["images"]] == [
        ("b.png_p0002.png", 600, 800), ("a.pdf_p0001.png", 600, 800),
        ("a.pdf_p0003.png", 1000, 500), ("b.png_p0001.png", 600, 800),
    ]  # fmt: skip
    assert [category["name"] for category in value["categories"]] == list(LABELS)
    assert [(item["image_id"], item["category_id"], item["score"]) for item in value["annotations"]] == [
        (1, 1, 0.9), (2, 2, 0.25), (3, 3, 0.5),
    ]  # fmt: skip
    # As documents and pages are sorted: ids decide between equal scores.
    assert [image["id"] for image in value["images"]] == [4, 1, 2, 3]
    np.testing.assert_allclose(value["annotations"][1]["bbox"], [500.0, 250.0, 500.0, 125.0])


@pytest.mark.parametrize("name", ["snapshot", "coco", "cvat", "label-studio", "omnidocbench", "yolo", "page-xml"])
@pytest.mark.parametrize("side", ["ground_truth", "prediction"])
def test_a_file_comes_back_box_for_box(tmp_path: Path, name: str, side: str) -> None:
    source = sized(side)
    written = formats.FORMATS[name].write(source)
    out = tmp_path / ("folder" if WRITERS[name].folder else next(iter(written.files)))
    for file, content in written.files.items():
        path = out / file if WRITERS[name].folder else out
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    as_side: Any = "ground_truth" if name == "cvat" else side
    again = formats.read(out, format=name, side=as_side)
    here, there = (
        sorted((each.labels[code], *row) for code, row in zip(each.boxes.label, in_shares(each).tolist(), strict=True))
        for each in (source, again)
    )
    close = 0.002 if name == "page-xml" else 1e-9
    for mine, other in zip(here, there, strict=True):
        assert mine[0] == other[0]
        assert other[1:] == pytest.approx(mine[1:], abs=close)
    if side == "prediction" and name != "cvat":
        assert sorted(again.boxes.score) == [0.25, 0.5, 0.9]
    # Images are named so that readers find document and page again; results of OmniDocBench list no empty page.
    pages = {*page_keys(source)} - ({("b.png", 1)} if (name, side) == ("omnidocbench", "prediction") else set())
    assert ({*page_keys(again)}, again.documents[0].name) == (pages, again.documents[0].doc_id)


def test_yolo_is_a_folder_of_centres_in_shares() -> None:
    files = text_of("yolo", sized())
    assert sorted(files) == [
        "data.yaml", "labels/a.pdf_p0001.txt", "labels/a.pdf_p0003.txt",
        "labels/b.png_p0001.txt", "labels/b.png_p0002.txt",
    ]  # fmt: skip
    assert files["data.yaml"] == ('path: .\nval: images\nnames:\n  0: "Figure"\n  1: "Table"\n  2: "Tab & <le>"\n')
    assert [float(word) for word in files["labels/a.pdf_p0003.txt"].split()] == [1, 0.75, 0.625, 0.5, 0.25, 0.25]
    assert files["labels/b.png_p0002.txt"] == ""


def test_label_studio_is_in_per_cent_with_the_model() -> None:
    tasks = json.loads(text_of("label-studio", sized())["tasks.json"])
    (made,) = tasks[2]["predictions"]
    (region,) = made["result"]
    assert (made["model_version"], tasks[2]["annotations"], region["score"]) == ("toy", [], 0.25)
    assert region["value"] == {
        "x": 50.0, "y": 50.0, "width": 50.0, "height": 25.0, "rotation": 0, "rectanglelabels": ["Table"],
    }  # fmt: skip
    assert (region["original_width"], region["original_height"]) == (1000, 500)


def test_a_name_may_be_spelled_otherwise() -> None:
    assert [row and row.name for row in map(writer_named, ["Label Studio", "schema 1.3", "COCO", "PAGE", "word"])] == [
        "label-studio", "snapshot", "coco", "page-xml", None,
    ]  # fmt: skip


def test_the_command_converts_and_never_overwrites(run: Run, tmp_path: Path) -> None:
    source = write_file(tmp_path / "pred.json", ROWS[:2])
    words = ("convert", source, "--to", "coco", "--out", tmp_path / "out.json")
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err == (
        "error: pred.json: COCO needs the width and height of every page; found 2 of 2 pages without, a.pdf, page 1 "
        "first. Give the PDFs with --pdfs DIR, or one size for all with --page-size WxH.\n"
    )
    code, out, err = run(*words, "--page-size", "600x800")
    assert (code, out) == (0, "out.json: COCO instances (JSON), 2 pages, 2 boxes\n")
    assert err == "warning: pred.json: COCO does not name a model; found toy. The name is left out.\n"
    before = (tmp_path / "out.json").read_bytes()
    code, _, err = run(*words, "--page-size", "60x80")
    assert (code, err) == (2, "error: out.json exists; choose another --out, or overwrite it with --force.\n")
    assert (tmp_path / "out.json").read_bytes() == before
    assert run(*words, "--page-size", "60x80", "--force")[0] == 0
    assert (tmp_path / "out.json").read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "pred.json"]
    code, _, err = run("convert", source, "--to", "word", "--out", tmp_path / "x")
    assert (code, err) == (2, f"error: --to must be one of {', '.join(WRITERS)}; found word.\n")


def test_what_is_written_is_counted_and_a_model_has_the_name_of_its_file(run: Run, tmp_path: Path) -> None:
    truth = {"images": [{"id": 1, "file_name": "a.png", "width": 100, "height": 50}],
             "categories": [{"id": 1, "name": "Table"}], "annotations": []}  # fmt: skip
    inside, beyond = ({"image_id": 1, "category_id": 1, "bbox": [x, 0, 60, 50], "score": 0.5} for x in (40, 41))
    (tmp_path / "gt.json").write_text(json.dumps(truth), encoding="utf-8")
    (tmp_path / "fast r-cnn.json").write_text(json.dumps([inside, beyond]), encoding="utf-8")
    words = ("convert", tmp_path / "fast r-cnn.json", "--gt", tmp_path / "gt.json", "--to", "snapshot")
    code, out, _ = run(*words, "--out", tmp_path / "out.json")
    assert (code, out.split(", ")[-2:]) == (0, ["1 page", "1 of 2 boxes\n"])
    written = json.loads((tmp_path / "out.json").read_bytes())
    assert [len(page["objects"]) for page in written["predictions"]] == [1]
    assert written["info"]["model"] == {"name": "fast r-cnn"}


@pytest.mark.parametrize("target", ["yolo", "page-xml"])
def test_force_replaces_a_folder_of_the_same_format_and_no_other(run: Run, tmp_path: Path, target: str) -> None:
    source, out = write_file(tmp_path / "pred.json", ROWS), tmp_path / "out"
    words = ("convert", source, "--to", target, "--page-size", "600x800", "--out", out, "--force")
    assert run(*words)[0] == 0
    write_file(source, ROWS[:1])
    assert run(*words)[0] == 0
    fresh = sorted(path.name for path in out.rglob("*.*"))
    link = tmp_path / "link"
    link.symlink_to(out)
    assert run(*words[:-2], link, "--force")[0] == 0
    assert link.is_symlink()
    assert sorted(path.name for path in out.rglob("*.*")) == fresh
    sub = out / "scans"
    sub.mkdir()
    for foreign, content in (
        (sub / "a.pdf", b"%PDF-"), (out / "notes.txt", b"mine"), (out / "labels.xml", b"<annotation/>"),
        (out / "link.xml", None),
    ):  # fmt: skip
        if content is None:
            foreign.symlink_to(source)
        else:
            foreign.write_bytes(content)
        before = sorted(path for path in out.rglob("*"))
        name = foreign.relative_to(out).as_posix()
        code, said, err = run(*words)
        assert (code, said, err) == (
            2, "", f"error: out: --force replaces a folder in which a conversion to {target} wrote every file; found "
            f"{name}. Choose another --out, or move what is in it.\n",
        )  # fmt: skip
        assert sorted(path for path in out.rglob("*")) == before
        foreign.unlink()
    for name in ("1.pdf", "2.pdf", "3.pdf"):
        (sub / name).write_bytes(b"%PDF-")
    assert "; found scans/1.pdf and 2 other files. " in run(*words)[2]


def test_labels_of_others_are_not_replaced(run: Run, tmp_path: Path) -> None:
    source, out = write_file(tmp_path / "pred.json", ROWS[:1]), tmp_path / "out"
    words = ("convert", source, "--to", "yolo", "--out", out, "--force")
    labels = out / "labels"
    labels.mkdir(parents=True)
    (labels / "a.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    assert "; found labels/a.txt. " in run(*words)[2]
    (out / "data.yaml").write_text("names: [Table]\n")
    assert "; found data.yaml and 1 other file. " in run(*words)[2]
    (out / "data.yaml").write_text("path: .\nval: images\nnames:\n")
    (labels / "notes.txt").write_text("look again")
    assert "; found labels/notes.txt. " in run(*words)[2]
    (labels / "notes.txt").unlink()
    assert run(*words)[0] == 0


def test_pages_and_the_ground_truth_are_never_written_over(run: Run, tmp_path: Path) -> None:
    source, pdfs = write_file(tmp_path / "pred.json", ROWS[:1]), tmp_path / "pdf"
    pdfs.mkdir()
    (pdfs / "a.pdf").write_bytes(b"%PDF-")
    words = ("convert", source, "--pdfs", pdfs, "--page-size", "6x8", "--force")
    for out, target, named in (
        (pdfs, "yolo", "--pdfs"), (tmp_path, "yolo", "convert"), (pdfs / "a.pdf", "coco", "--pdfs"),
        (source, "coco", "convert"),
    ):  # fmt: skip
        code, _, err = run(*words, "--to", target, "--out", out)
        rule = "a source file is never written to"
        assert (code, err) == (2, f"error: {out.name}: {rule}; found what {named} reads. Choose another --out.\n")
    assert (pdfs / "a.pdf").read_bytes() == b"%PDF-"


def test_coco_has_the_same_ap_as_its_source(run: Run, tmp_path: Path) -> None:
    """Many predictions of the sample have equal scores, between which the image id decides in COCO."""
    truth, made = tmp_path / "truth.json", tmp_path / "made.json"
    for name, out in (("ground_truth", truth), ("lines", made)):
        words = ("--to", "coco", "--out", out, "--pdfs", SAMPLE / "pdf")
        assert run("convert", SAMPLE / f"{name}.json", *words)[0] == 0
    again = tmp_path / "again.json"
    assert run("convert", truth, "--to", "coco", "--out", again)[0] == 0
    source, predictions = SAMPLE / "ground_truth.json", SAMPLE / "lines.json"
    # Points of the PDFs are the sizes.
    np.testing.assert_allclose(in_shares(formats.read(made)), formats.read(predictions).boxes.xyxy, atol=1e-12)
    names = ("AP", "AP50", "AP75", "AR100")
    (expected,) = project.evaluate("coco", source, [predictions])
    assert isinstance(expected.result, CocoResult)
    for ground_truth, prediction in ((truth, made), (source, made), (again, predictions)):
        (one,) = project.evaluate("coco", ground_truth, [prediction], pdfs=SAMPLE / "pdf")
        assert isinstance(one.result, CocoResult)
        for name in names:
            assert one.result.numbers[name] == pytest.approx(expected.result.numbers[name], abs=1e-12)


def test_a_results_list_needs_its_ground_truth(run: Run, tmp_path: Path) -> None:
    truth = tmp_path / "gt.json"
    truth.write_bytes(next(iter(WRITERS["coco"].convert(sized("ground_truth")).files.values())))
    results = tmp_path / "dt.json"
    results.write_text(json.dumps([{"image_id": 2, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}]))
    words = ("convert", results, "--to", "cvat", "--out", tmp_path / "out.xml")
    code, _, err = run(*words)
    assert (code, err) == (
        2, "error: dt.json is a COCO results list, which names no pages and labels; give them with --gt.\n",
    )  # fmt: skip
    assert run(*words, "--gt", truth)[0] == 0
    assert len(formats.read(tmp_path / "out.xml").boxes) == 1


def test_what_is_in_a_file(run: Run, tmp_path: Path) -> None:
    rows = [box(0.1, 0.1, 0.2, 0.2), box(0.1, 0.1, 0.2, 0.2), box(0.1, 0.1, 0.2, 0.2, label="Table")]
    source = write_file(tmp_path / "gt.json", rows, side="ground_truth", pages=[("a.pdf", 4)])
    code, out, err = run("describe", source, "--json")
    assert (code, err) == (0, "")
    wanted = {
        "labels": {"Figure": 2, "Table": 1}, "documents": 1, "pages": 2, "boxes": 3, "pages_without_boxes": 1,
        "duplicates": 1, "outside": 0, "flat": 0, "score": {"smallest": None, "median": None, "largest": None},
    }  # fmt: skip
    described = json.loads(out)
    assert {key: described[key] for key in wanted} == wanted
    lines = run("describe", source)[1].splitlines()
    assert lines[:2] == ["gt.json: snapshot, ground truth, annotators", "1 document, 2 pages, 3 boxes, 2 labels"]
    assert "duplicate boxes: 1" in lines


def test_boxes_that_leave_their_page_are_counted_where_its_size_is_known() -> None:
    source = replace(sized(), unit="pixels")
    described = contents(replace(source, boxes=replace(source.boxes, xyxy=source.boxes.xyxy * 900.0)))
    assert (described.outside, described.pages_without_size) == (2, 0)
    assert contents(replace(source, page_size=None)).outside is None
    assert contents(annotations([])).boxes == 0


@pytest.mark.parametrize(("folder", "key"), [("fields/anchors", "fields"), ("posters/ground_truth", "posters")])
def test_fields_and_posters_are_described(run: Run, folder: str, key: str) -> None:
    code, out, err = run("describe", SAMPLE / folder, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)[key] > 0


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_broken_poster_is_an_error_beside_the_others(run: Run, tmp_path: Path, more: tuple[str, ...]) -> None:
    folder = tmp_path / "posters"
    shutil.copytree(SAMPLE / "posters" / "ground_truth", folder)
    (folder / "seed-bank.json").write_text("{")
    code, out, err = run("describe", folder, *more)
    assert code == 2
    if more:
        assert (json.loads(out)["posters"], json.loads(out)["broken"], err) == (4, 1, "")
    else:
        assert "posters: 4\nbroken: 1\n" in out
        assert err.startswith("error: ")
        assert "seed-bank.json" in err


def test_every_count_has_its_pages() -> None:
    rows = [
        *[box(0.1, 0.1, 0.2, 0.2)] * 3, box(0.1, 0.1, 0.2, 0.2, label="Table"),
        box(0.5, 0.5, 0.5, 0.6, page=1), box(0.5, 0.5, 1.1, 0.6, page=1), box(-0.1, 0.5, 0.2, 0.6, document="b.pdf"),
    ]  # fmt: skip
    source, empty = annotations(rows, pages=[("a.pdf", 4), ("b.pdf", 2)]), annotations([], documents=["a.pdf"])
    for check, places in {
        "duplicates": [("a.pdf", 0, 2)], "pages_without_boxes": [("a.pdf", 4, 1), ("b.pdf", 2, 1)],
        "outside": [("a.pdf", 1, 1), ("b.pdf", 0, 1)], "flat": [("a.pdf", 1, 1)],
    }.items():  # fmt: skip
        assert page_counts(source, check) == [PageCount(*place) for place in places]
        assert getattr(contents(source), check) == sum(number for _, _, number in places)
        assert page_counts(empty, check) == []


def test_columns_of_a_table_are_named_for_describe_and_convert(run: Run, tmp_path: Path) -> None:
    table, target = tmp_path / "t.csv", tmp_path / "o.json"
    table.write_text("f,c,l,t,r,b\na.pdf,Table,1,2,30,40\na.pdf,Figure,5,6,70,80\n")
    code, _, said = run("describe", table)
    assert (code, "--columns" in said) == (2, True)
    words = ("--columns", "document=f,label=c,x1=l,y1=t,x2=r,y2=b,unit=pixels", "--format", "table")
    code, out, _ = run("describe", table, *words)
    assert (code, "2 boxes, 2 labels" in out) == (0, True)
    assert run("convert", table, *words, "--to", "coco", "--out", target, "--page-size", "100x100")[0] == 0
    assert len(json.loads(target.read_bytes())["annotations"]) == 2


def test_a_document_that_cannot_be_measured_is_named_with_the_reason(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "a.pdf").write_text("no PDF")
    source = write_file(tmp_path / "g.json", [box(0.1, 0.1, 0.5, 0.5, document="a.pdf")], side="ground_truth")
    pred = write_file(tmp_path / "p.json", [box(0.1, 0.1, 0.5, 0.5, document="a.pdf", score=0.5)])
    pdfs = ("--pdfs", tmp_path / "pdf")
    for words in (
        ("convert", source, "--to", "coco", "--out", tmp_path / "o.json", *pdfs),
        ("evaluate", "pixel", "--gt", source, "--pred", pred, *pdfs),
    ):
        code, _, said = run(*words)
        assert code == 2
        assert (
            "a.pdf: a document must be readable to give the sizes of its pages; found a.pdf is not a document" in said
        )


@pytest.mark.parametrize(("folder", "holds"), [("fields/anchors", "fields"), ("posters/ground_truth", "posters")])
def test_fields_and_posters_are_checked(run: Run, folder: str, holds: str) -> None:
    for more in ((), ("--format", holds)):
        code, out, _ = run("check", SAMPLE / folder, *more, "--json")
        (described,) = json.loads(out)["files"]
        assert code == 0
        assert (described["valid"], described["format"]) == (True, holds)
        assert described["documents" if holds == "fields" else "posters"] > 1


def test_a_broken_document_of_fields_is_named_by_check(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"total": {"_value": "3"}}')
    (tmp_path / "b.json").write_text('{"total": {"_value": "3"}')
    code, said, _ = run("check", tmp_path)
    assert code == 2
    assert said.startswith("error: b.json: line 1, column 26: the text must be well-formed JSON (RFC 8259); found ")
    assert "1 checked: 1 error, 0 warnings" in said


def test_a_format_that_is_none_is_said_once(run: Run, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    code, out, _ = run("check", tmp_path, "--format", "xyz")
    assert (code, out.count('found "xyz". Correct --format.')) == (2, 1)
