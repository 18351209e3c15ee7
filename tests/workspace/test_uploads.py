"""Dropped files: what they are by their content, which role is proposed, and that no name leads anywhere."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from evaluator import project
from evaluator.data.issues import BadInput
from evaluator.formats.base import Reading
from evaluator.workspace.uploads import ProposedSide, sort_dropped_files
from tests.dashboard import SAMPLE_DATA

SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
TRUTH = {
    "images": [{"id": 1, "file_name": "scan-1.png", "width": 100, "height": 80}],
    "categories": [{"id": 1, "name": "Table"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 20], "area": 800, "iscrowd": 0}],
}
RESULTS = [{"image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 20], "score": 0.9}]
VOC = (
    "<annotation><filename>{0}.jpg</filename><size><width>100</width><height>80</height><depth>3</depth></size><object>"
    "<name>Table</name>{1}<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>40</ymax></bndbox></object></annotation>"
)


def png() -> bytes:
    sheet = io.BytesIO()
    Image.new("RGB", (100, 80), "white").save(sheet, "PNG")
    return sheet.getvalue()


def archive(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, content in files.items():
            made.writestr(name.replace("__", "/").replace("_", "."), content)
    return packed.getvalue()


def roles(uploads: list[tuple[str, bytes]], **given: object) -> dict[str, object]:
    """Proposed role by the name of what was dropped."""
    return {each.upload.name: each.side for each in sort_dropped_files(uploads, **given).proposed}  # type: ignore[arg-type]


def test_a_dropped_folder_is_sorted_by_content() -> None:
    dropped = sort_dropped_files(
        [
            ("job/a.json", json.dumps(TRUTH).encode()),
            ("job/b.json", json.dumps(RESULTS).encode()),
            ("job/images/scan-1.png", png()),
            ("job/report.pdf", (SAMPLE_DATA / "pdf" / "tram-options.pdf").read_bytes()),
            ("job/notes.md", b"# notes"),
            ("job/fake.png", b"no image"),
            ("job/.DS_Store", b"x"),
        ]
    )
    assert [(each.upload.name, each.side, each.kind) for each in dropped.proposed] == [
        ("a.json", "ground_truth", "boxes"),
        ("b.json", "prediction", "boxes"),
    ]
    assert [name for name, _ in dropped.pages] == ["job/images/scan-1.png", "job/report.pdf"]
    assert sorted(dropped.left_out) == ["job/.DS_Store", "job/fake.png", "job/notes.md"]
    assert [issue.sentence for issue in dropped.reasons()] == [
        "job/fake.png: a file with the ending of a page must be a PDF or an image; found another beginning. "
        "Left out. Export the page again, or give the file the ending of what it is."
    ]
    assert sorted(dropped.unexplained()) == ["job/.DS_Store", "job/notes.md"]


def test_an_archive_is_sorted_like_a_folder() -> None:
    packed = archive(
        gt_json=json.dumps(TRUTH).encode(), model__dt_json=json.dumps(RESULTS).encode(), pages__scan1_png=png()
    )
    dropped = sort_dropped_files([("job.zip", packed)])
    assert [(each.upload.name, each.side) for each in dropped.proposed] == [
        ("gt.json", "ground_truth"),
        ("dt.json", "prediction"),
    ]
    assert [name for name, _ in dropped.pages] == ["job/pages/scan1.png"]


def test_files_of_one_document_each_are_one_side_and_are_read_as_one() -> None:
    files = [(f"{side}/{page}.xml", VOC.format(page, score).encode()) for side, score in (
        ("labels", ""), ("model", "<score>0.5</score>")
    ) for page in ("p1", "p2")]  # fmt: skip
    dropped = sort_dropped_files(files)
    assert [(each.upload.name, each.side, each.why) for each in dropped.proposed] == [
        ("labels", "ground_truth", "it has no scores"),
        ("model", "prediction", "by its content"),
    ]
    read = project.read_content(dropped.proposed[0].upload, Reading(side="ground_truth"), "boxes")
    assert len(read.documents) == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(("open_truths", "side"), [((), "ground_truth"), (("boxes",), "prediction")])
def test_a_lone_file_that_says_nothing(open_truths: tuple[str, ...], side: str) -> None:
    assert roles([("p1.xml", VOC.format("p1", "").encode())], open_truths=open_truths) == {"p1.xml": side}


def test_two_possible_truths_are_left_to_the_reader() -> None:
    truth = json.dumps(TRUTH).encode()
    assert roles([("a.json", truth), ("b.json", truth)]) == {"a.json": None, "b.json": None}


def test_names_that_lead_somewhere_are_refused() -> None:
    names = ["../a.json", "/tmp/b.png", "C:\\c.pdf", "a/../../d.json", "e\n.png"]
    dropped = sort_dropped_files([(name, png()) for name in names])
    assert dropped.proposed == ()
    assert dropped.pages == ()
    assert len(dropped.issues) == len(names)
    assert {issue.rule for issue in dropped.issues} == {"a file must have a plain relative name"}


def test_broken_files_and_archives_say_what_is_wrong() -> None:
    dropped = sort_dropped_files([("broken.json", b"{"), ("bad.zip", b"PK\x03\x04 nothing more")])
    assert {issue.file for issue in dropped.issues} == {"broken.json", "bad.zip"}
    assert dropped.proposed == ()
    assert not any(sort_dropped_files([]))


def test_the_sample_data_of_every_kind() -> None:
    files = [path for path in sorted(SAMPLE_DATA.rglob("*.json")) if "generators" not in path.parts]
    dropped = sort_dropped_files([(path.relative_to(SAMPLE_DATA).as_posix(), path.read_bytes()) for path in files])
    sides = [(each.kind, each.side) for each in dropped.proposed]
    for kind in ("boxes", "fields", "posters"):
        assert sides.count((kind, "ground_truth")) == 1
        assert sides.count((kind, "prediction")) == 2
    assert Path("ground_truth.json").name in {each.upload.name for each in dropped.proposed}


# --- real files of each format -----------------------------------------------------------------------------------

TRUTHS = {"alto", "coco", "cvat", "label-studio", "omnidocbench", "page-xml", "voc", "yolo"}
# Format by folder; those of one name are not listed. Some folders hold files of another format, by name.
FORMAT_OF = {
    "azure-di": "azure", "doclaynet": "coco", "google-documentai": "documentai", "pascal-voc": "voc",
    "pp-doclayout": "paddle", "publaynet": "coco", "activities.gt.azure.json": "azure",
}  # fmt: skip
REFUSED = {
    "Invoice_1.pdf.labels.json": "this is a labels file of Azure Document Intelligence",
    "DoclingDocument.schema.json": "this is a JSON schema",
    "sample.html": "this is hOCR",
    "tess.hocr": "this is hOCR",
}
# What a model gave, in a format of ground truth.
RESULTS_OF = {"hotcoco_dt.json", "detection_prediction.json"}


def opens_or_is_refused(proposed: ProposedSide) -> bool:
    """Whether a file opens, or every issue of it names it."""
    reading = Reading(side=proposed.side, unscored=True)
    try:
        return project.read_content(proposed.upload, reading, proposed.kind).name == proposed.upload.name
    except BadInput as refused:
        return {issue.file for issue in refused.issues} == {proposed.upload.name}


@pytest.mark.skipif(not SHARED, reason="LAYOUTSCOPE_SHARED does not name the folder of real/formats")
def test_a_real_file_of_each_format_is_recognised_with_its_side_or_refused_by_name() -> None:
    paths = [path for path in sorted(Path(SHARED, "real", "formats").glob("*/*")) if path.name != "SOURCES.txt"]
    assert len(paths) > 40
    for path in paths:
        dropped = sort_dropped_files([(path.name, path.read_bytes())])
        if path.name in REFUSED:
            assert dropped.proposed == (), path.name
            assert [REFUSED[path.name] in issue.sentence for issue in dropped.issues] == [True], path.name
            continue
        (proposed,) = dropped.proposed
        name = FORMAT_OF.get(path.name) or FORMAT_OF.get(path.parent.name, path.parent.name)
        is_truth = name in TRUTHS and path.name not in RESULTS_OF
        assert (proposed.upload.format, proposed.side) == (name, "ground_truth" if is_truth else "prediction"), path
        assert opens_or_is_refused(proposed), path.name


def test_a_zip_that_its_format_reads_whole_is_one_side(tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "oracles" / "pod" / "p01_basic"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for path in sorted((folder / "gt").glob("*.xml")):
            made.write(path, path.name)
    submission = (folder / "submission.xml").read_bytes()
    dropped = sort_dropped_files(
        [("gt.zip", packed.getvalue()), ("submission.xml", submission), ("POD_0001.png", png())]
    )
    assert {each.upload.name: (each.side, each.kind) for each in dropped.proposed} == {
        "gt.zip": ("ground_truth", "boxes"), "submission.xml": ("prediction", "boxes"),
    }  # fmt: skip
    assert dropped.left_out == ()
    assert dropped.issues == ()
    truth = next(each for each in dropped.proposed if each.side == "ground_truth")
    read = project.read_content(truth.upload, Reading(side="ground_truth", format=truth.upload.format), "boxes")
    assert len(read.boxes) == 4  # type: ignore[attr-defined]
