"""Pascal VOC: columns of objects, against a count of its own on real files, and the sentence for what is wrong."""

from pathlib import Path

import numpy as np
import pytest

from evaluator import formats
from evaluator.formats import search, voc
from tests import reading
from tests.reading import OWN, head, rows, warned

ROW = voc.FORMAT
EDGES = ("xmin", "ymin", "xmax", "ymax")


def thing(corners: tuple[object, ...] = (10, 20, 110, 70), label: str = "Table", more: str = "") -> str:
    edges = "".join(f"<{key}>{value}</{key}>" for key, value in zip(EDGES, corners, strict=False))
    return f"<object><name>{label}</name><bndbox>{edges}</bndbox>{more}</object>"


def image(*things: str, name: str = "a.jpg", size: tuple[object, object] = (300, 400)) -> bytes:
    head = f"<annotation><filename>{name}</filename><size><width>{size[0]}</width><height>{size[1]}</height></size>"
    return "\n".join([head, *things, "</annotation>"]).encode()


def test_columns() -> None:
    source = formats.read(OWN / "voc.xml")
    assert head(source) == ("voc", "ground_truth", "pixels", ["p1"], [0], [[300, 400]])
    assert rows(source) == [("p1", 0, "Table", [10, 20, 110.5, 70]), ("p1", 0, "Text", [1, 2, 9, 8])]
    assert (list(source.boxes.ids), source.issues) == (["line 4", "line 5"], ())
    assert np.isnan(source.boxes.score).all()


@pytest.mark.parametrize("key", ["score", "confidence"])
def test_scores_make_a_prediction(key: str) -> None:
    content = image(thing(more=f"<{key}>0.25</{key}>"), thing())
    source = reading.read(ROW, content, "v.xml")
    assert (ROW.side_of(content), source.side) == ("prediction", "prediction")
    np.testing.assert_array_equal(source.boxes.score, [0.25, np.nan])


def test_the_name_of_the_file_stands_in_for_that_of_the_image() -> None:
    content = b"<annotation><object/></annotation>".replace(b"<object/>", thing().encode())
    source = reading.read(ROW, content, "scan 7.xml")
    assert ([document.doc_id for document in source.documents], source.page_size) == (["scan 7"], None)


def test_a_folder_is_read_as_one_side(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.xml").write_bytes(image(thing(), name=f"{name}.jpg"))
    assert len(formats.read(tmp_path, side="prediction").boxes) == 2
    units = search.file_groups(search.walk([tmp_path]))
    assert [unit.format for unit in units.groups] == ["voc"]


WRONG = [
    (image(thing((10, 20, 5, 70))), "line 2, <bndbox>: xmax must not be less than xmin, nor ymax less than ymin "
     "(Pascal VOC); found [10, 20, 5, 70]. Exchange the corners, or remove the object."),
    (image(thing(("NaN", 20, 50, 70))), 'line 2, <xmin>: xmin must be a finite number (Pascal VOC); found "NaN". '
     "Correct it."),
    (image(thing((10, 20, 50))), "line 2, <bndbox>: ymax must be a finite number (Pascal VOC); found none. "
     "Correct it."),
    (image(thing(label="")), "line 2, <object>: a region must have a label (Pascal VOC). Label it, or remove it."),
    (image(thing(more="<score>high</score>")), 'line 2, <score>: score must be a finite number (Pascal VOC); found '
     '"high". Correct it.'),
    (image("<object><name>a</name><polygon/></object>"), "line 2, <object>: an object must have a <bndbox> (Pascal "
     'VOC); found only "name", "polygon". Add it, or remove the object.'),
    (image("<object/>"), "line 2, <object>: an object must have a <bndbox> (Pascal VOC). Add it, or remove the "
     "object."),
    (image() + b"\n" + image(), "line 3, <annotation>: the file must have one outermost element, <annotation> (Pascal "
     'VOC); found "annotation". Write one file for each image.'),
    (b"<!-- nothing -->", "the outermost element must be <annotation> (Pascal VOC); found no element. Export the file "
     "again."),
]  # fmt: skip


@pytest.mark.parametrize(("content", "sentence"), WRONG)
def test_sentences(content: bytes, sentence: str) -> None:
    assert reading.refused(ROW, content, "v.xml") == [f"v.xml: {sentence}"]


def test_warnings() -> None:
    part = "<part><name>head</name><bndbox/></part>"
    assert warned(reading.read(ROW, image(thing(more=f"<difficult>1</difficult>{part}")), "v.xml")) == [
        "v.xml: line 2, <part>: parts of objects are not read (Pascal VOC); found 1. They are left out.",
        "v.xml: line 2, <object>: objects marked as difficult are compared as any other; the competition's own "
        "evaluation leaves them out (Pascal VOC); found 1. Remove them to have them left out.",
    ]
