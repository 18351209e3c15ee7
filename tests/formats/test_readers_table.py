"""Tables of boxes: which column is what, CSV and Parquet alike, and the whole sentence for what is wrong."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from evaluator import formats
from tests.model_outputs import boxes, read, refused
from tests.reading import OWN, head, warned
from tests.terminal import run_command

CSV = (OWN / "table.csv").read_bytes()
COLUMNS = "document=file,page_number=p,label=cls,x1=left,y1=top,w=width,h=height"
EXAMPLE = 'Write for example --columns "document=file,page_number=p,label=cls,x1=left,y1=top,x2=right,y2=bottom".'


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    target = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), target)
    return target.getvalue()


def table(*lines: str) -> bytes:
    return "\n".join(lines).encode() + b"\n"


def test_columns() -> None:
    source = read(CSV, "t.csv", columns=COLUMNS)
    assert head(source) == ("table", "prediction", "pixels", ["a", "b.v1"], [0, 1, 0], None)
    assert [each.name for each in source.documents] == ["a.pdf", "b.v1.pdf"]
    assert boxes(source) == [(0, "Table", 10, 20, 40, 60), (1, "Text", 0, 0, 5.5, 6), (0, "Table", 1, 2, 4, 6)]
    np.testing.assert_array_equal(source.boxes.score, [0.5, np.nan, 1.0])
    assert (list(source.boxes.ids), source.issues) == (["line 2", "line 3", "line 4"], ())


def test_columns_by_their_names() -> None:
    source = read(CSV, "t.csv")
    assert boxes(source) == [(0, "Table", 10, 20, 40, 60), (0, "Text", 0, 0, 5.5, 6), (0, "Table", 1, 2, 4, 6)]
    assert warned(source) == [
        't.csv: columns should have a known name (table of boxes); found "p". '
        "They are not read; --columns names what they hold."
    ]


@pytest.mark.parametrize(
    ("header", "row", "wanted"),
    [
        ("Label,X1,Y1,X2,Y2", "T,1,2,3,4", (1, 2, 3, 4)),
        ("class;x0;y0;x1;y1", "T;1;2;3;4", (1, 2, 3, 4)),
        ("class\txmin\tymin\txmax\tymax", "T\t1\t2\t3\t4", (1, 2, 3, 4)),
        ("category,left,top,right,bottom", "T,1,2,3,4", (1, 2, 3, 4)),
        ("x_1,y_1,x_2,y_2,type", "1,2,3,4,T", (1, 2, 3, 4)),
        ("x,y,w,h,label", "1,2,3,4,T", (1, 2, 4, 6)),
        ("x_center,y_center,width,height,label", "10,20,4,6,T", (8, 17, 12, 23)),
    ],
)
def test_known_names(header: str, row: str, wanted: tuple[float, ...]) -> None:
    source = read(table(header, row), "scan.csv")
    assert boxes(source) == [(0, "T", *wanted)]
    assert (source.side, source.documents[0].doc_id) == ("ground_truth", "scan")


def test_shares_sizes_and_pages_without_boxes() -> None:
    lines = "in/a.png,T,0.1,0.2,0.3,0.4,100,200", "in/b.png,,,,,,100,200"
    content = table("image,label,x1,y1,x2,y2,image_width,image_height", *lines)
    source = read(content, "t.csv", columns="unit=page")
    assert head(source)[2:] == ("page", ["a", "b"], [0, 0], [[100, 200], [100, 200]])
    assert [each.path for each in source.documents] == ["in/a.png", "in/b.png"]
    assert boxes(source) == [(0, "T", 0.1, 0.2, 0.3, 0.4)]


def test_parquet_says_the_same_as_csv() -> None:
    rows = [
        {"file": "a.pdf", "page_index": 0, "label": "T", "x1": 1, "y1": 2, "x2": 3.5, "y2": 4, "score": 0.5},
        {"file": "a.pdf", "page_index": 3, "label": "U", "x1": 1, "y1": 2, "x2": 3.0, "y2": 4, "score": None},
    ]
    source = read(as_parquet(rows), "t.parquet")
    lines = (",".join("" if value is None else str(value) for value in row.values()) for row in rows)
    twin = read(table(",".join(rows[0]), *lines), "t.csv")
    assert (source.format, source.side) == ("table", "prediction")
    assert source.page_index.tolist() == twin.page_index.tolist() == [0, 3]
    assert boxes(source) == boxes(twin) == [(0, "T", 1, 2, 3.5, 4), (3, "U", 1, 2, 3, 4)]
    assert list(source.boxes.ids) == ["row 1", "row 2"]
    assert formats.FORMATS["table"].side_of(as_parquet([{"x": 1}])) == "ground_truth"


def test_pages_are_counted_from_0_when_there_is_one() -> None:
    header = "document,page,label,x1,y1,x2,y2"
    source = read(table(header, "a,0,T,1,2,3,4", "a,2,T,1,2,3,4"), "t.csv")
    assert (source.page_index.tolist(), source.issues) == ([0, 2], ())
    source = read(table(header, "a,1,T,1,2,3,4", "a,2,T,1,2,3,4"), "t.csv")
    assert source.page_index.tolist() == [0, 1]
    assert warned(source) == [
        "t.csv: it should be clear whether pages are counted from 0 or from 1 (table of boxes); "
        'found a column "page" without a 0. They are counted from 1; --columns page_index=... counts from 0.'
    ]


def test_in_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, truth = tmp_path / "t.csv", tmp_path / "gt.csv"
    path.write_bytes(CSV)
    truth.write_bytes(table(*(line.rpartition(",")[0] for line in CSV.decode().splitlines())))
    code, out, _ = run_command(capsys, "check", path, "--columns", COLUMNS, "--json")
    (described,) = json.loads(out)["files"]
    assert (code, described["format"], described["pages"], described["boxes"]) == (0, "table", 3, 3)
    asked = ("evaluate", "snapshot", "--gt", truth, "--pred", path, "--columns", COLUMNS, "--json")
    code, out, _ = run_command(capsys, *asked)
    assert (code, json.loads(out)["thresholds"]["0.5"]["micro"]["f1"]) == (0, 1.0)
    # Sizes in the place of corners break the rules of the table, and are read for the diagnosis all the same.
    places = [(at % 3, 30 + 90 * (at % 5), 40 + 30 * at, 40 + 11 * (at % 7), 20 + 3 * (at % 4)) for at in range(24)]
    truth.write_bytes(table("f,c,l,t,r,b", *(f"a{a},T,{x},{y},{x + w},{y + h}" for a, x, y, w, h in places)))
    path.write_bytes(table("f,c,l,t,r,b", *(f"a{a},T,{x},{y},{w},{h}" for a, x, y, w, h in places)))
    columns = ("--columns", "document=f,label=c,x1=l,y1=t,x2=r,y2=b")
    assert "apply it with --fix xywh" in run_command(capsys, "check", truth, path, *columns)[1]
    out_file = ("--out", tmp_path / "o.json", "--page-size", "999x999")
    assert run_command(capsys, "convert", truth, "--to", "coco", "--gt", truth, *out_file, *columns)[0] == 0


HEADER = "document,page_number,label,x1,y1,x2,y2,score,page_width,page_height"
GOOD = "a.pdf,1,T,1,2,3,4,0.5,100,200"
ROWS: list[tuple[str, str]] = [
    ("a.pdf,0,T,1,2,3,4,0.5,100,200", "line 3, page_number: a page must be a whole number, 1 or more (table of boxes); "
     "found 0. Correct the number of the page."),
    ("a.pdf,1.5,T,1,2,3,4,0.5,100,200", "line 3, page_number: a page must be a whole number, 1 or more (table of "
     "boxes); found 1.5. Correct the number of the page."),
    ("a.pdf,x,T,1,2,3,4,0.5,100,200", 'line 3, page_number: page_number must be a finite number (table of boxes); '
     'found "x". Correct the row.'),
    ("a.pdf,1,T,1,2,,4,0.5,100,200", "line 3, x2: x2 must be a finite number (table of boxes); found nothing. "
     "Correct the row."),
    ("a.pdf,1,T,1,2,0,4,0.5,100,200", "line 3: x2 must not be less than x1, nor y2 less than y1 (table of boxes); "
     "found [1, 2, 0, 4]. Exchange the corners, or remove the box."),
    ("a.pdf,1,T,1,2,3,4,0.5,100,300", "line 3: the rows of a page must state one size (table of boxes); "
     "found 100 x 300, and 100 x 200 in line 2. Correct the size of the page."),
    ("a.pdf,1,T,1,2,3,4", "line 3: a line must have a value for each column (RFC 4180); found 7 where the first line "
     "has 10. Export the table again; a line may be cut off."),
]  # fmt: skip


@pytest.mark.parametrize(("row", "sentence"), ROWS)
def test_hostile_rows(row: str, sentence: str) -> None:
    errors = [each for each in refused(table(HEADER, GOOD, row), "t.csv") if "should not leave" not in each]
    assert errors == [f"t.csv: {sentence}"]


HEADERS: list[tuple[str, str, str]] = [
    ("file,image,label,x1,y1,x2,y2", "", 'one column must be the document (table of boxes); found "file" and "image". '
     "Say which: --columns document=file."),
    ("x0,y0,x1,y1,x2,y2,label", "", "one set of columns must be the box (table of boxes); found (x1, y1, x2, y2) and "
     f"(x0, y0, x1, y1). Say which: {EXAMPLE.removeprefix('Write for example ')}"),
    ("label,label,x1,y1,x2,y2", "", 'line 1: a column must occur once (table of boxes); found "label" twice. '
     "Rename one of them."),
    ("x1,y1,x2,y2,what", "", 'a column must hold the label (table of boxes); found "x1", "y1", "x2", "y2", "what". '
     + EXAMPLE),
    ("x1,y1,x2,y2,label,page_width", "", "page_width and page_height must both be there (table of boxes); "
     "found only one. Name both, or none."),
    ("a,b,c,d,label", "x1=a,y1=b", "columns must hold a box: x1, y1, x2, y2 or x1, y1, w, h or cx, cy, w, h (table of "
     'boxes); found "a", "b", "c", "d", "label". ' + EXAMPLE),
    ("x1,y1,x2,y2,label", "label=z", 'the column "z" of --columns must be in the table (table of boxes); '
     'found "x1", "y1", "x2", "y2", "label". Name a column of the table.'),
    ("x1,y1,x2,y2,label", "label", '--columns must have the form target=column,target=column; found "label". '
     + EXAMPLE),
    ("x1,y1,x2,y2,label", "colour=a", "a target of --columns must be one of document, page, page_index, page_number, "
     "label, score, page_width, page_height, x1, y1, x2, y2, cx, cy, w, h, unit; "
     f'found "colour". {EXAMPLE}'),
    ("x1,y1,x2,y2,label", "x1=x1,x1=y1", 'a target must occur once in --columns; found "x1=y1". '
     "Keep x1=x1, or this one."),
    ("x1,y1,x2,y2,label", "unit=mm", 'unit in --columns must be pixels or page; found "mm". '
     "Write unit=pixels or unit=page."),
]  # fmt: skip


@pytest.mark.parametrize(("header", "columns", "sentence"), HEADERS)
def test_hostile_headers(header: str, columns: str, sentence: str) -> None:
    assert refused(table(header), "t.csv", columns=columns) == [f"t.csv: {sentence}"]


def test_shares_are_not_guessed() -> None:
    content = table("label,x1,y1,x2,y2", "T,0.1,0.2,0.3,0.4")
    assert refused(content, "t.csv") == [
        "t.csv: the unit of the boxes must be clear (table of boxes); found all coordinates between 0 and 1. "
        "Add unit=page to --columns for shares of the page, or unit=pixels."
    ]
    assert read(content, "t.csv", columns="unit=pixels").unit == "pixels"


def test_a_table_without_known_names_is_named() -> None:
    assert refused(table("a,b,c,d,e", "1,2,3,4,T"), "t.csv") == [
        't.csv: this is a table whose columns have no known names; found "a", "b", "c", "d", "e". Write a row for each '
        "box, and say in the terminal which column holds what: "
        '--columns "document=file,page_number=p,label=cls,x1=left,y1=top,x2=right,y2=bottom".'
    ]
    assert refused(as_parquet([{"a": 1}]), "t.parquet")[0].startswith("t.parquet: this is a table whose columns")


def test_numbers_of_parquet_that_are_none() -> None:
    assert refused(as_parquet([{"label": "T", "x1": float("nan"), "y1": 2.0, "x2": 3.0, "y2": 4.0}]), "t.parquet") == [
        "t.parquet: row 1, x1: x1 must be a finite number (table of boxes); found nan. Correct the row."
    ]


def test_not_utf_8() -> None:
    assert not formats.FORMATS["table"].detect(b"label,x1,y1,x2,y\xff2\n")
    assert refused(b"label,x1,y1,x2,y2\n\xff,1,2,3,4\n", "t.csv") == [
        "t.csv: byte 18: the text must be UTF-8 (RFC 3629); found 0xFF. Save the file as UTF-8."
    ]
