"""Which page an image is: images of one name in several folders, names in another case, and tasks of Label Studio."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evaluator import formats
from evaluator.data.dataset import Annotations, page_keys
from evaluator.data.issues import BadInput, Issue
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.problems import PageProblem
from evaluator.project import evaluate
from tests.pdf_fixtures import png_header

FOLDERS = "images of one name in several folders are read as pages of a document for each folder"
PATHS = "images of one name in several folders are read as documents of their own"
CATEGORIES = [{"id": 1, "name": "Text"}]


def coco(tmp_path: Path, name: str, files: list[str], **keys: Any) -> Path:
    """A file with one box on each image, each at a place of its own on a prediction or by `keys` on all images."""
    predicted = name != "gt.json"
    images = [{"id": row, "file_name": file, "width": 800, "height": 1000, **keys} for row, file in enumerate(files, 1)]
    boxes = []
    for row, file in enumerate(files, 1):
        top = 7 * (sum(file.replace("\\", "/").removeprefix("./").removesuffix(".jpg").encode()) % 97)
        box = {"id": row, "image_id": row, "category_id": 1, "bbox": [50, top, 90, 6], "area": 540, "iscrowd": 0}
        boxes.append({**box, "score": 0.9} if predicted else box)
    path = tmp_path / name
    path.write_text(json.dumps({"images": images, "annotations": boxes, "categories": CATEGORIES}))
    return path


def keys(truth: Path, prediction: Path) -> list[tuple[str, int]]:
    """The pages of a prediction beside its ground truth."""
    return page_keys(formats.resolve(read(prediction, "prediction"), read(truth)))


def read(path: Path, side: Any = "ground_truth") -> Annotations:
    return formats.read(path, side=side)


def refused(path: Path) -> list[Issue]:
    with pytest.raises(BadInput) as caught:
        read(path)
    return list(caught.value.issues)


PAGES = [f"doc{name}/page_{number}.png" for name in "ABC" for number in (1, 2)]


def counts(truth: Path, prediction: Path) -> tuple[Any, ...]:
    (evaluation,) = evaluate("snapshot", truth, [prediction], iou=[0.5])
    row = evaluation.result.first.per_label.micro.row(0)
    return row["tp"], row["fp"], row["fn"]


def test_pages_in_folders_are_those_of_the_paths(tmp_path: Path) -> None:
    truth, prediction = coco(tmp_path, "gt.json", PAGES), coco(tmp_path, "pred.json", PAGES[1:])
    results = tmp_path / "results.json"
    rows = json.loads(prediction.read_text())["annotations"]
    results.write_text(json.dumps([{**row, "image_id": row["image_id"] + 1} for row in rows]))
    for given in (prediction, results):
        assert counts(truth, given) == (5, 0, 1)
        (evaluation,) = evaluate("snapshot", truth, [given], iou=[0.5])
        assert evaluation.result.matching.dataset.document_ids == ("docA", "docB", "docC")
        assert evaluation.issues[0].sentence == (
            f'gt.json: $.images: {FOLDERS}; found "docA": "docA/page_1.png", "docB": "docB/page_1.png". '
            "Give the images a key doc if other images belong together."
        )
    assert keys(truth, prediction)[0] == ("docA", 1)


@pytest.mark.parametrize(
    ("files", "pages", "rule"),
    [
        (["x/a.png", "y/a.png", "y/b.png"], [("x/a", 0), ("y/a", 0), ("b", 0)], PATHS),
        (["x/10.png", "x/9.png", "y/9.png"], [("x", 1), ("x", 0), ("y", 0)], FOLDERS),
        (["in/x/images/p1.png", "in/y/images/p1.png"], [("x", 0), ("y", 0)], FOLDERS),
        (["train/p1.png", "val/p1.png"], [("train/p1", 0), ("val/p1", 0)], PATHS),
        (["d/train/p1.png", "d/val/p1.png"], [("train/p1", 0), ("val/p1", 0)], PATHS),
        (["p1.png", "x/p1.png"], [("p1", 0), ("x/p1", 0)], PATHS),
        (["x/p1.png", "y/p1.png", "x.png"], [("x/p1", 0), ("y/p1", 0), ("x", 0)], PATHS),
        (["x/p1.png", "./x\\p1.jpg", "x/p2.png"], [("p1", 0), ("p1", 1), ("p2", 0)], "images with one file name"),
        (["x/p1.png", "y/p2.png"], [("p1", 0), ("p2", 0)], ""),
    ],
)
def test_images_of_one_name_are_told_apart(
    tmp_path: Path, files: list[str], pages: list[tuple[str, int]], rule: str
) -> None:
    source = read(coco(tmp_path, "gt.json", files))
    assert page_keys(source) == pages
    assert [issue.rule[: len(rule)] for issue in source.issues] == [rule] * bool(rule)
    lines = "".join(f'<image id="{row}" name="{file}" width="8" height="8"/>' for row, file in enumerate(files))
    (tmp_path / "gt.xml").write_text(f"<annotations>{lines}</annotations>")
    assert page_keys(read(tmp_path / "gt.xml")) == pages


VOC = (
    "<annotation><filename>{}</filename><size><width>800</width><height>1000</height></size><object><name>Text</name>"
    "<bndbox><xmin>50</xmin><ymin>{}</ymin><xmax>140</xmax><ymax>{}</ymax></bndbox></object></annotation>"
)
PAGE = (
    '<PcGts><Page imageFilename="{}" imageWidth="800" imageHeight="1000"><TextRegion id="r"><Coords points="50,{top} '
    '140,{top} 140,{end} 50,{end}"/></TextRegion></Page></PcGts>'
)


@pytest.mark.parametrize("xml", [VOC, PAGE])
@pytest.mark.parametrize(
    "files",
    [
        [(f"{name}.xml", f"{name}.png") for name in ("docA/page_1", "docB/page_1", "docB/page_2")],
        [(f"{name}.xml", "images/page_1.png") for name in ("docA/page_1", "docB/page_1")],
        [(f"{name}.xml", "page_1.png") for name in ("docA/page_1", "docB/page_1")],
        [(f"{name}.xml", f"doc{name}/page_1.png") for name in "AB"],
    ],
)
def test_files_of_an_image_each_are_told_apart(tmp_path: Path, xml: str, files: list[tuple[str, str]]) -> None:
    paths = [image if image.startswith("doc") else f"{file[:5]}{image}" for file, image in files]
    truth, flat = tmp_path / "gt.zip", tmp_path / "gt"
    flat.mkdir()
    with zipfile.ZipFile(truth, "w") as archive:
        for (file, image), path in zip(files, paths, strict=True):
            top = 7 * (sum(path.removesuffix(".png").encode()) % 97)
            archive.writestr(file, xml.format(image, top, top + 6, top=top, end=top + 6))
            (flat / file.replace("/", "_")).write_bytes(archive.read(file))
    source = read(truth)
    assert [key for key in page_keys(source) if key[1] == 0] == [("docA", 0), ("docB", 0)]
    assert source.issues[0].sentence == (
        f'gt.zip: {FOLDERS}; found "docA": "{paths[0]}", "docB": "{paths[1]}". '
        "Rename the images if other images belong together; give folders of several models one by one."
    )
    prediction = coco(tmp_path, "pred.json", [path.replace(".png", ".jpg") for path in paths[1:]])
    assert keys(truth, prediction) == page_keys(source)[1:]
    if paths == [image for _, image in files]:
        assert page_keys(read(flat)) == page_keys(source)
    else:
        assert [issue.sentence for issue in refused(flat)] == [
            "gt: docB_page_1.xml and docA_page_1.xml: a document may be listed by one of the files read as one; found "
            '"page_1". Put all pages of a document into one file, or give one of the files alone with --gt or --pred.'
        ]


def test_images_of_one_path_are_pages_of_one_document(tmp_path: Path) -> None:
    (issue,) = read(coco(tmp_path, "gt.json", ["x/a.png", "x/a.jpg"])).issues
    assert issue.sentence == (
        'gt.json: $.images: images with one file name are read as pages of one document; found "a": "x/a.png", '
        '"x/a.jpg". Give the images a key doc if they are different documents.'
    )
    lines = '<image id="0" name="x/a.png" width="8" height="8"/><image id="1" name="x/a.jpg" width="8" height="8"/>'
    (tmp_path / "gt.xml").write_text(f"<annotations>{lines}</annotations>")
    (issue,) = read(tmp_path / "gt.xml").issues
    assert issue.sentence == (
        'gt.xml: images with one file name are read as pages of one document; found "a": "x/a.png", "x/a.jpg". '
        "Rename the images if they are different documents."
    )


def test_a_stated_document_is_kept(tmp_path: Path) -> None:
    truth = coco(tmp_path, "gt.json", ["x/p1.png", "y/p1.png"], doc="report")
    assert (page_keys(read(truth)), read(truth).issues) == ([("report", 0), ("report", 1)], ())
    assert keys(truth, coco(tmp_path, "pred.json", ["y/p1.png", "x/p1.png"])) == [("report", 1), ("report", 0)]


@pytest.mark.parametrize(
    ("files", "pages"),
    [
        (PAGES[2:4], [("docB", 0), ("docB", 1)]),
        (["./docB\\page_2.jpg", "docA/page_1.png"], [("docB", 1), ("docA", 0)]),
        (["/run/1/docC/page_2.png", "/run/1/docA/page_2.png"], [("docC", 1), ("docA", 1)]),
        (
            ["docA/page_1.png", "docA/page_3.png", "docB/page_3.png"],
            [("docA", 0), ("docA/page_3", 0), ("docB/page_3", 0)],
        ),
        (["docD/page_1.png", "docE/page_1.png"], [("docD", 0), ("docE", 0)]),
        (["page_1.png", "page_2.png"], [("page_1", 0), ("page_2", 0)]),
    ],
)  # fmt: skip
def test_a_page_is_that_of_its_path_or_of_none(tmp_path: Path, files: list[str], pages: list[tuple[str, int]]) -> None:
    assert keys(coco(tmp_path, "gt.json", PAGES), coco(tmp_path, "pred.json", files)) == pages


def test_a_page_without_a_partner_is_none_of_another_folder(tmp_path: Path) -> None:
    truth = coco(tmp_path, "gt.json", ["docA/page_1.png", "docA/page_2.png"])
    prediction = coco(tmp_path, "pred.json", ["docA/page_2.png", "docB/page_1.png"])
    assert keys(truth, prediction) == [("page_2", 0), ("docB/page_1", 0)]
    assert counts(truth, prediction) == (1, 1, 1)


def test_folders_that_only_say_where_the_images_are_change_nothing(tmp_path: Path) -> None:
    truth = coco(tmp_path, "gt.json", ["gt/a.png", "gt/b.png"])
    for files in (["a.png", "b.png"], ["out/a.jpg", "out/b.jpg"], ["hash-1.png", "b.png"]):
        prediction = read(coco(tmp_path, "pred.json", files), "prediction")
        assert formats.resolve(prediction, read(truth)) is prediction


def test_other_formats_state_paths_too(tmp_path: Path) -> None:
    truth = coco(tmp_path, "gt.json", PAGES)
    box = '<box label="Text" xtl="1" ytl="1" xbr="9" ybr="9"/>'
    image = f'<image id="3" name="docB/page_2.png" width="800" height="1000">{box}</image>'
    (tmp_path / "p.xml").write_text(f"<annotations>{image}</annotations>")
    (tmp_path / "p.csv").write_text("image,label,x1,y1,x2,y2,score\ndocC/page_1.png,Text,1,1,9,9,0.5\n")
    assert keys(truth, tmp_path / "p.xml") == [("docB", 1)]
    assert keys(truth, tmp_path / "p.csv") == [("docC", 0)]


def test_the_picture_of_a_page_is_that_of_its_folder(tmp_path: Path) -> None:
    for file in ("img/docA/page_1.png", "img/docA/page_2.png", "img/docB/page_1.png", "img/val/a.png"):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png_header(8, 8))
    images = {("docA", 1): "docA/page_2.png", ("docB", 0): "docB\\page_1.png", ("docB", 1): "docB/page_2.png",
              ("val/a", 0): "val/a.png", ("train/a", 0): "train/a.png", ("docC", 0): "docC/page_2.png"}  # fmt: skip
    for root in (tmp_path, tmp_path / "img"):
        folder = PdfFolder(root)
        for key in (("docA", 1), ("docB", 0), ("val/a", 0)):
            file = images[key].replace("\\", "/")
            assert folder.find_page(*key, images) == (tmp_path.resolve() / "img" / file, 0)
        for key in (("docB", 1), ("train/a", 0), ("docC", 0)):
            with pytest.raises(PageProblem):
                folder.find_page(*key, images)


POD = '<document filename="POD_0001.bmp"><tableRegion{}><Coords points="100,100 700,400"/></tableRegion></document>'


@pytest.mark.parametrize("name", ["POD_0001.bmp", "pod_0001.bmp"])
def test_names_of_pod_are_compared_without_case_with_other_formats(tmp_path: Path, name: str) -> None:
    images = [{"id": 1, "file_name": name, "width": 1000, "height": 1400}]
    box = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [100, 100, 600, 300], "area": 1, "iscrowd": 0}
    for file, more in (("gt.json", {}), ("pred.json", {"score": 0.9})):
        value = {"images": images, "annotations": [{**box, **more}], "categories": [{"id": 1, "name": "table"}]}
        (tmp_path / file).write_text(json.dumps(value))
    (tmp_path / "gt.xml").write_text(POD.format(""))
    (tmp_path / "pred.xml").write_text(POD.format(' prob="0.9"'))
    for truth, prediction in (("gt.xml", "pred.json"), ("gt.json", "pred.xml"), ("gt.xml", "pred.xml")):
        assert counts(tmp_path / truth, tmp_path / prediction) == (1, 0, 0)
    (evaluation,) = evaluate("pod", tmp_path / "gt.xml", [tmp_path / "pred.json"])
    assert evaluation.result.first.per_label.micro.row(0)["tp"] == 1


def test_an_unknown_page_of_pod_is_named_by_its_image(tmp_path: Path) -> None:
    (tmp_path / "gt.xml").write_text(POD.format(""))
    prediction = coco(tmp_path, "pred.json", ["x/POD_0002.bmp"])
    with pytest.raises(BadInput) as refused:
        evaluate("pod", tmp_path / "gt.xml", [prediction])
    assert '<document filename="x/POD_0002.bmp">' in str(refused.value)


GEOMETRY = {"x": 10, "y": 5, "width": 80, "height": 10, "rotation": 0, "original_width": 10, "original_height": 14}


def tasks(tmp_path: Path, *records: dict[str, Any]) -> Annotations:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(records))
    return read(path)


def whole(**data: Any) -> dict[str, Any]:
    value = {**GEOMETRY, "rectanglelabels": ["Text"]}
    result = {"id": "r", "type": "rectanglelabels", "from_name": "l", "to_name": "i", "value": value, "item_index": 0}
    return {"id": 1, "data": data, "annotations": [{"id": 2, "result": [result]}]}


@pytest.mark.parametrize(
    ("data", "document"),
    [
        ({"image": "/data/upload/1/page-1.png", "keywords": ["annual report", "2019"]}, "page-1"),
        ({"keywords": ["a", "v1.20"], "image": "/data/upload/1/page-1.png"}, "page-1"),
        ({"words": ["total 12.14", "see page.png now"], "ocr": "page-1.png"}, "page-1"),
        ({"pages": ["/data/r-1.png", "/data/r-2.png"], "title": "x"}, "r"),
        ({"pages": [{"page": "https://host/r-1.png?s=1"}, {"page": "https://host/r-2.png"}]}, "r"),
        ({"pages": ["https://host/r_1", "https://host/r_2"]}, "r"),
    ],
)
def test_a_list_of_texts_is_not_the_list_of_pages(tmp_path: Path, data: dict[str, Any], document: str) -> None:
    source = tasks(tmp_path, whole(**data))
    assert [each.doc_id for each in source.documents] == [document]


def test_rows_of_bbox_have_their_label_in_another_list(tmp_path: Path) -> None:
    other = {**GEOMETRY, "x": 3}
    record = {"ocr": "/d/page-1.png", "id": 1, "bbox": [GEOMETRY], "label": [{**GEOMETRY, "labels": ["Title"]}],
              "transcription": ["Annual report"], "annotator": 1, "annotation_id": 11}  # fmt: skip
    source = tasks(tmp_path, record)
    assert ([each.doc_id for each in source.documents], source.labels, len(source.boxes)) == (["page-1"], ("Title",), 1)
    assert source.issues == ()
    source = tasks(tmp_path, {**record, "bbox": [GEOMETRY, other]})
    assert [issue.found for issue in source.issues] == ["1 without"]


def test_documents_of_which_none_is_shared_are_shown_by_a_name_of_each_side(tmp_path: Path) -> None:
    truth, prediction = coco(tmp_path, "gt.json", ["a.png"]), coco(tmp_path, "pred.json", ["report.png"])
    with pytest.raises(BadInput) as refused:
        evaluate("snapshot", truth, [prediction])
    assert str(refused.value) == (
        'pred.json: documents should be those of gt.json; none is; found F1 0.000; "report" here, "a" there. Check '
        "that the two files belong together; --allow-no-match evaluates them as they are."
    )
