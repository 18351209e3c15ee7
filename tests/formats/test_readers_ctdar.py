"""Tables of ICDAR 2019 cTDaR and ICDAR 2013: what is read, what is left out, and what is taken for another format."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.data.dataset import Annotations
from evaluator.formats import ctdar
from evaluator.project import evaluate
from evaluator.workspace.roles import find
from tests.reading import SHARED, needs_shared, outlines, refusal, rows, warned

COORDS = '<Coords points="85,107 85,555 1134,555 1134,107"/>'
SLANTED = '<Coords points="149,521 2425,639 2317,3117 163,3117"/>'
BOX = '<bounding-box x1="66" y1="451" x2="528" y2="665"/>'
SOURCE = "ICDAR 2019 cTDaR"


def document(*tables: str, name: str | None = "Page_1.JPG") -> str:
    named = "" if name is None else f' filename="{name}"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<document{named}>{"".join(tables)}</document>'


def table(*inner: str, given: str = "") -> str:
    return f"<table{given}>{''.join(inner)}</table>"


def read(text: str, **given: Any) -> Annotations:
    return formats.read_bytes(text.encode(), "a.xml", **given)


def refused(text: str, **given: Any) -> list[str]:
    return refusal(read, text, **given)


def test_tables_are_boxes_and_outlines() -> None:
    source = read(document(table(COORDS), "\n", table(SLANTED)))
    assert (source.format, source.side, source.unit, source.labels) == ("ctdar", "ground_truth", "pixels", ("table",))
    assert rows(source) == [
        ("Page_1", 0, "table", [85, 107, 1134, 555]),
        ("Page_1", 0, "table", [149, 521, 2425, 3117]),
    ]
    assert outlines(source) == {1: [[[149, 521], [2425, 639], [2317, 3117], [163, 3117]]]}
    assert (source.boxes.ids, source.issues) == (["line 2", "line 3"], ())


def test_the_page_is_that_of_the_file_where_none_is_named() -> None:
    assert rows(read(document(table(COORDS), name=None))) == [("a", 0, "table", [85, 107, 1134, 555])]


def test_regions_state_their_page() -> None:
    regions = f'<region id="1" page="2">{COORDS}</region><region id="2" page="3">{SLANTED}</region>'
    source = read(document(table(regions, given=' id="1"'), name="us-001.pdf"))
    assert rows(source) == [
        ("us-001", 1, "table", [85, 107, 1134, 555]),
        ("us-001", 2, "table", [149, 521, 2425, 3117]),
    ]
    assert refused(document(table(f'<region page="0">{COORDS}</region>', f'<region page="1">{COORDS}</region>'))) == [
        f'a.xml: line 2, <region>: page must be a whole number, 1 or more ({SOURCE}); found "0". Correct the number of '
        "the page."
    ]


def test_cells_are_left_out_and_counted() -> None:
    cell = f'<cell start-row="0" start-col="0" end-row="0" end-col="0">{COORDS}</cell>'
    for text in (document(table(COORDS, cell, cell)), document(table(f"<region>{COORDS}{cell}{cell}</region>"))):
        source = read(text)
        assert len(source.boxes) == 1
        assert warned(source) == [
            f"a.xml: line 2, <cell>: cells of tables are not read ({SOURCE}); found 2 cells. They are left out."
        ]


def test_scores() -> None:
    for key in ("prob", "score", "conf", "confidence"):
        source = read(document(table(COORDS, given=f' {key}="0.5"')))
        assert (source.side, source.boxes.score.tolist()) == ("prediction", [0.5])
    assert np.isnan(read(document(table(COORDS)), side="prediction").boxes.score).all()


def test_other_elements_beside_tables() -> None:
    source = read(document(table(COORDS), f"<figure>{COORDS}</figure>"))
    assert warned(source) == [
        f"a.xml: line 2, <figure>: a document should have nothing but tables ({SOURCE}); found 1 element. They are "
        "left out."
    ]


@pytest.mark.parametrize(
    "inner", [f'<region id="1" page="1">{BOX}</region>', f'<region page="1"><cell>{BOX}</cell></region>', BOX]
)
def test_boxes_of_2013_in_points_from_the_bottom_are_refused(inner: str) -> None:
    sentences = refused(document(table(inner), table(inner), name="us-001.pdf"))
    assert sentences[0].split("<", 1)[1].split(": ", 1)[1] == (
        "a <bounding-box> of ICDAR 2013 is in points from the bottom left of a PDF page of unstated height (ICDAR 2013 "
        "tables); found 2 tables. Write the tables as <Coords points=...> in pixels of the page image from its top "
        "left, as cTDaR has."
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            document(table(f"<cell>{COORDS}</cell>")),
            f"line 2, <table>: a table must have one <Coords> element ({SOURCE}); found none. Write the outline of the "
            "table, or remove the table.",
        ),
        (
            document(table(COORDS, COORDS)),
            f"line 2, <table>: a table must have one <Coords> element ({SOURCE}); found 2. Write the outline of the "
            "table, or remove the table.",
        ),
        (
            document(table('<Coords points="1,2 3"/>')),
            "line 2, <Coords>: points must be pairs x,y of finite numbers with blanks between them "
            f'({SOURCE}); found "1,2 3". Write them, for example points="10,10 90,10 50,60".',
        ),
        (
            document(table('<Coords points="1,2 3,4"/>')),
            f'line 2, <Coords>: an outline must have at least 3 points ({SOURCE}); found "1,2 3,4". Correct the '
            "region, or remove it.",
        ),
        (
            f"<documents>{document(table(COORDS)).partition('?>')[2]}</documents>",
            f'line 1, <documents>: the outermost elements must be <document> ({SOURCE}); found "documents". Export the '
            "file again.",
        ),
    ],
)
def test_what_is_refused(text: str, sentence: str) -> None:
    assert refused(text)[0] == f"a.xml: {sentence}"


def test_a_file_without_elements_under_its_name() -> None:
    assert refusal(ctdar.FORMAT.read, b"<!-- -->", "a.xml")[0] == (
        f"a.xml: a file must have a <document> ({SOURCE}); found none. Export the file again."
    )


def test_detection_is_by_tables_with_an_outline() -> None:
    pod = '<document filename="a"><tableRegion><Coords points="0,0 9,9"/></tableRegion></document>'
    for text, name in ((document(table(COORDS)), "ctdar"), (pod, "pod"), (document(), "pod")):
        assert formats.detect_bytes(text.encode(), "a.xml") == name
        assert formats.detect_bytes(text.replace("UTF-8", "UTF-16").encode("utf-16-le"), "a.xml") == name
    for text in (document(table()), "<html><document/><table/></html>", "<document><table><row/></table></document>"):
        assert not ctdar.FORMAT.detect(text.encode())


def results(folder: Path, name: str, boxes: list[list[int]]) -> Path:
    images = [{"id": 1, "file_name": name, "width": 4800, "height": 3500}]
    annotations = [
        {"id": at, "image_id": 1, "category_id": 1, "bbox": box, "score": 0.9} for at, box in enumerate(boxes, 1)
    ]
    path = folder / "pred.json"
    path.write_text(
        json.dumps({"images": images, "categories": [{"id": 1, "name": "table"}], "annotations": annotations})
    )
    return path


def true_positives(truth: Path, prediction: Path) -> tuple[int, int, int]:
    (evaluation,) = evaluate("snapshot", truth, [prediction], page_size=(4800, 3500))
    row = evaluation.to_json()["thresholds"]["0.5"]["micro"]
    return row["tp"], row["fp"], row["fn"]


def test_a_ground_truth_against_predictions_of_coco(tmp_path: Path) -> None:
    (tmp_path / "gt.xml").write_text(document(table(COORDS), table(SLANTED)))
    boxes = [[85, 107, 1049, 448], [149, 521, 2276, 2596]]
    assert true_positives(tmp_path / "gt.xml", results(tmp_path, "Page_1.JPG", boxes)) == (2, 0, 0)


@needs_shared
def test_the_file_of_the_competition(tmp_path: Path) -> None:
    folder = Path(SHARED, "reports", "21-ctdar")
    assert true_positives(folder / "real_cTDaR_t00002.xml", folder / "pred.json") == (2, 0, 0)


def test_pages_without_tables_are_read_as_those_beside_them(tmp_path: Path) -> None:
    """Alone such a file is one of ICDAR 2017 POD, of which it may be as well."""
    files = {"a.xml": document(name="a.jpg"), "b.xml": document(table(COORDS), name="b.jpg")}
    folder, packed = tmp_path / "gt", tmp_path / "gt.zip"
    folder.mkdir()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            (folder / name).write_text(text)
            archive.writestr(name, text)
    for source in (formats.read(folder), formats.read(packed)):
        assert (source.format, [each.doc_id for each in source.documents], source.issues) == ("ctdar", ["a", "b"], ())
        assert rows(source) == [("b", 0, "table", [85, 107, 1134, 555])]
    scored = tmp_path / "pred"
    scored.mkdir()
    (scored / "b.xml").write_text(document(table(COORDS, given=' score="0.5"'), name="b.jpg"))
    sides = find([tmp_path / "gt", scored]).of("boxes")
    assert (sides.ground_truth, sides.predictions) == (folder, (scored / "b.xml",))
    assert read(files["a.xml"]).format == "pod"
    (folder / "b.xml").write_text(files["a.xml"].replace("a.jpg", "b.jpg"))
    assert formats.read(folder).format == "pod"
