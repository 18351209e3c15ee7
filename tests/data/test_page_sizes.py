"""Files in pixels beside files in shares of the page: paired where the sizes of pages are known, refused elsewhere."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from evaluator import formats, project
from evaluator.data.issues import quote
from evaluator.data.page_sizes import entry_sizes, in_unit_of, on_same_pages, unit_issue
from tests.building import annotations, box, ground_truth
from tests.reading import refusal_issues

VOC = (
    "<annotation><filename>p1.jpg</filename>{}<object><name>table</name><bndbox><xmin>100</xmin><ymin>200</ymin>"
    "<xmax>300</xmax><ymax>400</ymax></bndbox></object></annotation>"
)
SIZE = "<size><width>1000</width><height>800</height><depth>3</depth></size>"
# The same box: centre 0.2 0.375 and size 0.2 0.25 of 1000 x 800.
YOLO = "0 0.2 0.375 0.2 0.25 0.9\n"
STUDIO = (
    '[{{"id": 1, "data": {{"image": "/data/p1.jpg"}}, "annotations": [{{"result": [{{"id": "a", "type": '
    '"rectanglelabels", {}"value": {{"x": 10, "y": 25, "width": 20, "height": 25, "rotation": 0, "rectanglelabels": '
    '["table"]}}}}]}}]}}]'
)
STUDIO_SIZE = '"original_width": 1000, "original_height": 800, '


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "yolo").mkdir()
    (tmp_path / "yolo" / "data.yaml").write_text("names:\n  0: table\n")
    (tmp_path / "yolo" / "p1.txt").write_text(YOLO)
    (tmp_path / "sized.xml").write_text(VOC.format(SIZE))
    (tmp_path / "bare.xml").write_text(VOC.format(""))
    (tmp_path / "studio.json").write_text(STUDIO.format(STUDIO_SIZE))
    (tmp_path / "bare.json").write_text(STUDIO.format(""))
    (tmp_path / "images").mkdir()
    pixmap = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 1000, 800))
    pixmap.clear_with(255)
    pixmap.save(tmp_path / "images" / "p1.png")
    return tmp_path


@pytest.mark.parametrize("sized", ["gt", "dt"])
@pytest.mark.parametrize(("corners", "off"), [((100, 0, 301, 400), 0), ((100, 0, 302, 400), 1), ((-2, 0, 9, 9), 1)])
def test_boxes_beyond_a_page_that_the_other_file_states_are_named(
    sized: str, corners: tuple[float, float, float, float], off: int
) -> None:
    rows = [box(1, 1, 9, 9), box(*corners)]
    sides = {"gt": ground_truth(rows), "dt": annotations(rows)}
    size = np.array([[300.0, 400.0]])
    sides = {name: replace(each, name=name, unit="pixels", page_size=size if name == sized else None)
             for name, each in sides.items()}  # fmt: skip
    other = "dt" if sized == "gt" else "gt"
    assert [issue.sentence for issue in on_same_pages(sides["dt"], sides["gt"]).issues] == off * [
        f"{other}: a box should not leave its page, as {sized} states it, by more than 1 px; found 1 box, the first "
        f"{quote([float(side) for side in corners])} (corners) on a.pdf, page 1 (300 x 400). They are compared as they "
        "are; check the unit of the boxes and the size."
    ]


def counts(folder: Path, truth: str, prediction: str, **options: Any) -> tuple[int, int, int]:
    (evaluated,) = project.evaluate("snapshot", folder / truth, [folder / prediction], iou=(0.99,), **options)
    row = evaluated.result.first.micro.row(0)  # type: ignore[attr-defined]
    return row["tp"], row["fp"], row["fn"]


@pytest.mark.parametrize(
    ("truth", "prediction", "options"),
    [
        ("sized.xml", "yolo", {}),
        ("studio.json", "sized.xml", {}),
        ("studio.json", "bare.xml", {}),
        ("bare.json", "sized.xml", {}),
        ("bare.xml", "studio.json", {}),
        ("bare.xml", "yolo", {"page_size": (1000.0, 800.0)}),
        ("bare.json", "bare.xml", {"page_size": (1000.0, 800.0)}),
        ("bare.xml", "yolo", {"pdfs": "images"}),
    ],
)
def test_boxes_of_two_units_are_compared(files: Path, truth: str, prediction: str, options: dict[str, Any]) -> None:
    options = {name: files / value if name == "pdfs" else value for name, value in options.items()}
    assert counts(files, truth, prediction, **options) == (1, 0, 0)


@pytest.mark.parametrize("protocol", ["snapshot", "coco", "pod"])
def test_without_a_size_the_refusal_says_what_is_missing(files: Path, protocol: str) -> None:
    assert (
        "yolo: boxes in shares of the page can be compared with bare.xml, which is in pixels, only where the width and "
        "height of the page are known; found 1 of 1 pages without, p1, page 1 first. Give one size for all pages "
        "(--page-size WxH), or a folder with the images of the pages (--pdfs DIR)."
    ) in [issue.sentence for issue in refusal_issues(project.evaluate, protocol, files / "bare.xml", [files / "yolo"])]


def test_sizes_of_the_other_file_are_used_with_a_warning(files: Path) -> None:
    (evaluated,) = project.evaluate("snapshot", files / "studio.json", [files / "bare.xml"])
    assert (
        "bare.xml: the boxes of bare.xml are pixels of pages without a size; found sizes in studio.json, which are "
        "used. Give one size for all pages when its images are others."
    ) in [issue.sentence for issue in evaluated.issues]


def test_outlines_and_columns_go_along() -> None:
    truth = replace(ground_truth([box(0, 0, 1, 1)]), unit="pixels", page_size=np.array([[400.0, 200.0]]))
    ring = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 1.0]])
    shares = annotations([box(0, 0, 0.5, 1, score=0.5)])
    shares = replace(shares, boxes=replace(shares.boxes, polygons={0: [ring]}, area=np.array([0.25])))
    moved = in_unit_of(shares, truth)
    assert (moved.unit, moved.boxes.area, moved.issues) == ("pixels", None, ())
    assert moved.boxes.xyxy.tolist() == [[0.0, 0.0, 200.0, 200.0]]
    assert moved.boxes.polygons[0][0].tolist() == [[0.0, 0.0], [200.0, 0.0], [200.0, 200.0]]
    assert moved.page_size.tolist() == [[400.0, 200.0]]
    assert shares.boxes.xyxy.tolist() == [[0.0, 0.0, 0.5, 1.0]]


def test_pages_without_boxes_need_no_size() -> None:
    truth = replace(ground_truth([box(0, 0, 10, 10)]), unit="pixels", page_size=np.array([[10.0, 10.0]]))
    more = annotations([box(0, 0, 1, 1)], pages=[("other.pdf", 0)])
    assert unit_issue(truth, in_unit_of(more, truth)) == ()
    elsewhere = annotations([box(0, 0, 1, 1), box(0, 0, 1, 1, document="other.pdf", page=3)])
    (issue,) = unit_issue(truth, in_unit_of(elsewhere, truth))
    assert issue.found == "1 of 2 pages: other.pdf, page 4"
    assert np.isnan(entry_sizes(more, truth)[0]).all()
    assert in_unit_of(annotations([]), truth).unit == "pixels"


def test_a_fix_of_the_unit_goes_before_what_the_format_says(files: Path) -> None:
    from evaluator.data.fixes import parse_fix

    assert counts(files, "studio.json", "sized.xml", fix=(parse_fix("units=pixels"),)) == (1, 0, 0)
    source = formats.read(files / "sized.xml", side="prediction")
    truth = formats.read(files / "studio.json", side="ground_truth")
    assert formats.resolve(source, truth, keep_unit=True).unit == "pixels"
    assert formats.resolve(source, truth).unit == "page"
