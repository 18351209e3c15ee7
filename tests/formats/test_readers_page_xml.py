"""PAGE XML: columns of regions, against a count of its own on real files, and the whole sentence for what is wrong."""

import numpy as np
import pytest

from evaluator import formats
from evaluator.formats import page_xml
from tests import reading
from tests.reading import OWN, head, outlines, rows, warned

ROW = page_xml.FORMAT


def region(points: str = "10,20 110,20 110,70 10,70", name: str = "TextRegion", more: str = "") -> str:
    return f'<{name} id="r" {more}><Coords points="{points}"/></{name}>'


def page(*regions: str, size: tuple[object, object] = (300, 400), image: str = "a.tif") -> bytes:
    head = f'<PcGts>\n<Page imageFilename="{image}" imageWidth="{size[0]}" imageHeight="{size[1]}">'
    return "\n".join([head, *regions, "</Page>", "</PcGts>"]).encode()


def test_columns_with_a_prefix() -> None:
    source = formats.read(OWN / "page_2019.xml", level="all")
    assert head(source) == ("page-xml", "prediction", "pixels", ["p1"], [0], [[300, 400]])
    assert rows(source) == [
        ("p1", 0, "heading", [10, 20, 110, 70]), ("p1", 0, "TableRegion", [10, 100, 200, 300]),
        ("p1", 0, "cell", [20, 120, 60, 140]), ("p1", 0, "GraphicRegion", [5, 5, 9, 9]),
    ]  # fmt: skip
    assert (source.documents[0].path, list(source.boxes.ids)) == ("scans/p1.tif", ["r1", "r2", "r3", "r4"])
    np.testing.assert_array_equal(source.boxes.score, [0.75, np.nan, np.nan, np.nan])
    # The outline of an upright box is the box.
    ring = [[10, 100], [200, 110], [190, 300], [10, 290]]
    assert outlines(source) == {1: [ring], 3: [[[5, 5], [9, 5], [7, 9]]]}
    assert source.issues == ()


def test_points_of_2010_without_a_prefix() -> None:
    source = formats.read(OWN / "page_2010.xml")
    assert rows(source) == [("p2", 0, "paragraph", [10, 20, 110, 70]), ("p2", 0, "ImageRegion", [1, 2, 31, 42])]
    assert (list(source.boxes.polygons), source.side) == ([1], "ground_truth")


def test_a_page_without_an_image_is_named_like_its_file() -> None:
    source = ROW.read(b'<PcGts><Page imageFilename=" " imageWidth="300" imageHeight="400"/></PcGts>', "p.xml")
    assert ([document.doc_id for document in source.documents], len(source.boxes)) == (["p"], 0)


def test_a_type_of_a_tool_stands_in_for_a_missing_one() -> None:
    own = 'custom="structure {type:Main;}"'
    annotations = reading.read(
        ROW, page(region(more=own), region(more=f'type="other" {own}'), region(more=f'type="caption" {own}')), "p.xml"
    )
    assert [label for _, _, label, _ in rows(annotations)] == ["Main", "Main", "caption"]
    escaped = region(name="ImageRegion", more=r'custom="structure {type:Machine\u0020Print;}"')
    assert rows(reading.read(ROW, page(escaped), "p.xml"))[0][2] == "Machine Print"


AS_PAIRS = "points must be pairs x,y of finite numbers with blanks between them (PAGE XML); found"
WRITE_PAIRS = 'Write them, for example points="10,10 90,10 50,60".'
WRONG = [
    (page(region("1,2 3,4")), "line 3, <TextRegion>: an outline must have at least 3 points (PAGE XML); found "
     '"1,2 3,4". Correct the region, or remove it.'),
    (page(region("1,2 3,4 NaN,5")), f'line 3, <TextRegion>: {AS_PAIRS} "1,2 3,4 NaN,5". {WRITE_PAIRS}'),
    (page('<TextRegion><Coords><Point x="1"/></Coords></TextRegion>'),
     f'line 3, <TextRegion>: {AS_PAIRS} "1,?". {WRITE_PAIRS}'),
    (page(size=("wide", 400)), 'line 2, <Page>: imageWidth must be a finite number (PAGE XML); found "wide". '
     "Correct it."),
    (b"<PcGts></PcGts>", "the file must have a <Page> (PAGE XML); found none. Export the file again."),
    (page().replace(b"PcGts>", b"Pc>"), "line 1, <Pc>: the outermost element must be <PcGts> (PAGE XML); found "
     '"Pc". Export the file again.'),
    (page().replace(b"</PcGts>", b'<Page imageFilename="a.tif" imageWidth="1" imageHeight="1"/></PcGts>'),
     'line 4, <Page>: an image must occur once (PAGE XML); found "a.tif", as in line 2, <Page>. Join the two.'),
]  # fmt: skip


@pytest.mark.parametrize(("content", "sentence"), WRONG)
def test_sentences(content: bytes, sentence: str) -> None:
    assert reading.refused(ROW, content, "p.xml") == [f"p.xml: {sentence}"]


def test_a_region_without_an_outline_is_left_out() -> None:
    source = reading.read(ROW, page("<TextRegion><Coords/></TextRegion>", region()), "p.xml")
    assert warned(source) == [
        "p.xml: line 3, <TextRegion>: a region must have an outline (PAGE XML); found none. It is left out; draw its "
        "outline to have it compared.",
    ]
    assert len(source.boxes) == 1


def test_a_truth_with_confidence_is_refused() -> None:
    content = page(region().replace("/></", ' conf="0.5"/></'))
    assert ROW.side_of(content) == "prediction"
    assert reading.refused(ROW, content, "p.xml", side="ground_truth") == [
        "p.xml: line 3, <TextRegion>: a ground truth file must not have a conf (PAGE XML); found 1 of 1 regions with "
        "one. Give this file as the prediction, or remove the conf."
    ]
