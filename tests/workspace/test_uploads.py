"""Dropped files: what they are by their content, which role is proposed, and that no name leads anywhere."""

import io
import json
import os
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from evaluator import project
from evaluator.data.issues import BadInput
from evaluator.formats.base import Reading
from evaluator.workspace.uploads import DroppedFiles, ProposedSide, sort_dropped_files
from tests.dashboard import SAMPLE_DATA
from tests.page_asking import picture_of

SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
TRUTH = {
    "images": [{"id": 1, "file_name": "scan-1.png", "width": 100, "height": 80}],
    "categories": [{"id": 1, "name": "Table"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 20], "area": 800, "iscrowd": 0}],
}
RESULTS = [{"image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 20], "score": 0.9}]
TRUTH_FILE, RESULTS_FILE = json.dumps(TRUTH).encode(), json.dumps(RESULTS).encode()
VOC = (
    "<annotation><filename>{0}.jpg</filename><size><width>100</width><height>80</height><depth>3</depth></size><object>"
    "<name>Table</name>{1}<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>40</ymax></bndbox></object></annotation>"
)


def png() -> bytes:
    return picture_of(Image.new("RGB", (100, 80), "white"), "PNG")


def archive(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    return packed.getvalue()


def sorted_files(files: dict[str, bytes], **given: Any) -> tuple[dict[str, object], DroppedFiles]:
    dropped = sort_dropped_files([*files.items()], **given)
    return {each.upload.name: each.side for each in dropped.proposed}, dropped


def test_a_dropped_folder_is_sorted_by_content() -> None:
    sides, dropped = sorted_files(
        {
            "job/a.json": TRUTH_FILE, "job/b.json": RESULTS_FILE, "job/images/scan-1.png": png(),
            "job/report.pdf": (SAMPLE_DATA / "pdf" / "tram-options.pdf").read_bytes(),
            "job/notes.md": b"# notes", "job/fake.png": b"no image", "job/.DS_Store": b"x",
        }
    )  # fmt: skip
    assert sides == {"a.json": "ground_truth", "b.json": "prediction"}
    assert {each.kind for each in dropped.proposed} == {"boxes"}
    assert [name for name, _ in dropped.pages] == ["job/images/scan-1.png", "job/report.pdf"]
    assert sorted(dropped.left_out) == ["job/.DS_Store", "job/fake.png", "job/notes.md"]
    assert [issue.sentence for issue in dropped.reasons()] == [
        "job/fake.png: a file with the ending of a page must be a PDF or an image; found another beginning. "
        "Left out. Export the page again, or give the file the ending of what it is."
    ]
    assert sorted(dropped.unexplained()) == ["job/.DS_Store", "job/notes.md"]


def test_an_archive_is_sorted_like_a_folder() -> None:
    packed = archive({"gt.json": TRUTH_FILE, "model/dt.json": RESULTS_FILE, "pages/scan1.png": png()})
    sides, dropped = sorted_files({"job.zip": packed})
    assert sides == {"gt.json": "ground_truth", "dt.json": "prediction"}
    assert [name for name, _ in dropped.pages] == ["job/pages/scan1.png"]


def test_files_of_one_document_each_are_one_side_and_are_read_as_one() -> None:
    scores = {"labels": "", "model": "<score>0.5</score>"}
    files = {f"{side}/{page}.xml": VOC.format(page, scores[side]).encode() for side in scores for page in ("p1", "p2")}
    sides, dropped = sorted_files(files)
    assert sides == {"labels": "ground_truth", "model": "prediction"}
    read = project.read_content(dropped.proposed[0].upload, Reading(side="ground_truth"), "boxes")
    assert len(read.documents) == 2  # type: ignore[attr-defined]


def test_what_says_nothing_is_the_truth_where_none_is_open_and_two_are_left_to_the_reader() -> None:
    lone = {"p1.xml": VOC.format("p1", "").encode()}
    assert sorted_files(lone, open_truths=())[0] == {"p1.xml": "ground_truth"}
    assert sorted_files(lone, open_truths=("boxes",))[0] == {"p1.xml": "prediction"}
    assert sorted_files({"a.json": TRUTH_FILE, "b.json": TRUTH_FILE})[0] == {"a.json": None, "b.json": None}


def test_names_that_lead_somewhere_are_refused() -> None:
    names = ["../a.json", "/tmp/b.png", "C:\\c.pdf", "a/../../d.json", "e\n.png"]
    sides, dropped = sorted_files(dict.fromkeys(names, png()))
    assert (sides, dropped.pages) == ({}, ())
    assert [issue.rule for issue in dropped.issues] == ["a file must have a plain relative name"] * len(names)


@pytest.mark.parametrize(
    ("names", "refused"),
    [(["a.json", "a.json"], 1), (["a.json", "a.json/b.json"], 1), (["a.json/b.json", "a.json"], 1), (["a.png"] * 2, 1)],
)
def test_a_name_stands_for_one_file(names: list[str], refused: int) -> None:
    content = png() if names[0].endswith("png") else TRUTH_FILE
    dropped = sort_dropped_files([("good.json", RESULTS_FILE), *((name, content) for name in names)])
    (issue,) = dropped.issues
    assert (issue.file, dropped.left_out, issue.sentence) == (
        names[refused], (names[refused],),
        f"{names[refused]}: a name must stand for one file; found another file or folder of this name. Left out. "
        "Rename one of them, or add it by itself.",
    )  # fmt: skip
    assert len(dropped.proposed) + len(dropped.pages) == 2


def test_broken_files_and_archives_say_what_is_wrong() -> None:
    sides, dropped = sorted_files({"broken.json": b"{", "bad.zip": b"PK\x03\x04 nothing more"})
    assert (sides, {issue.file for issue in dropped.issues}) == ({}, {"broken.json", "bad.zip"})
    assert not any(sort_dropped_files([]))


def test_the_sample_data_of_every_kind() -> None:
    files = [path for path in sorted(SAMPLE_DATA.rglob("*.json")) if "generators" not in path.parts]
    _, dropped = sorted_files({path.relative_to(SAMPLE_DATA).as_posix(): path.read_bytes() for path in files})
    sides = Counter((each.kind, each.side) for each in dropped.proposed)
    assert sides == {
        (kind, side): count
        for kind in ("boxes", "fields", "posters")
        for side, count in (("ground_truth", 1), ("prediction", 2))
    }


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


def test_a_zip_that_its_format_reads_whole_is_one_side() -> None:
    folder = Path(__file__).parents[1] / "oracles" / "pod" / "p01_basic"
    packed = archive({path.name: path.read_bytes() for path in sorted((folder / "gt").glob("*.xml"))})
    sides, dropped = sorted_files(
        {"gt.zip": packed, "submission.xml": (folder / "submission.xml").read_bytes(), "POD_0001.png": png()}
    )
    assert sides == {"gt.zip": "ground_truth", "submission.xml": "prediction"}
    assert (dropped.left_out, dropped.issues) == ((), ())
    truth = next(each for each in dropped.proposed if each.side == "ground_truth")
    read = project.read_content(truth.upload, Reading(side="ground_truth", format=truth.upload.format), "boxes")
    assert len(read.boxes) == 4  # type: ignore[attr-defined]
