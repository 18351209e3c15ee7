"""The sinks of supervision: CSV and JSON alike, and the whole sentence for what is wrong."""

import csv
import io
from typing import Any

import numpy as np
import pytest

from tests.model_outputs import REAL, boxes, read, real, refused
from tests.reading import OWN, head, needs_shared, warned

CSV = (OWN / "supervision.csv").read_bytes()
ROW: dict[str, Any] = {
    "x_min": 1.0, "y_min": 2.0, "x_max": 3.0, "y_max": 4.0, "class_id": 5, "confidence": 0.5, "tracker_id": "",
}  # fmt: skip


def test_csv() -> None:
    source = read(CSV, "d.csv")
    assert head(source) == ("supervision", "prediction", "pixels", ["a_page0", "b"], [0, 0], None)
    assert [each.path for each in source.documents] == ["in/a_page0.png", "b.png"]
    assert source.boxes.document.tolist() == [0, 0, 1]
    assert boxes(source) == [(0, "title", 88, 170, 452, 186), (0, "text", 86, 198, 451, 214.5), (0, "text", 1, 2, 3, 4)]
    np.testing.assert_array_equal(source.boxes.score, [0.98, np.nan, 0.5])
    assert (list(source.boxes.ids), source.issues) == (["line 2", "line 3", "line 4"], ())
    assert len(read(CSV.partition(b"\n")[0] + b"\n", "d.csv").boxes) == 0


def test_json() -> None:
    source = read([ROW | {"file_name": "a.png", "class_name": "Table"}])
    assert (source.format, list(source.boxes.ids)) == ("supervision", ["$[0]"])
    assert boxes(source) == [(0, "Table", 1, 2, 3, 4)]
    rows = [{**row, "file_name": row["file_name"].split("/")[-1]} for row in csv.DictReader(io.StringIO(CSV.decode()))]
    assert boxes(read(rows)) == boxes(read(CSV, "d.csv"))


def test_without_names() -> None:
    source = read([ROW], "scan.json")
    assert [each.doc_id for each in source.documents] == ["scan"]
    assert boxes(source) == [(0, "5", 1, 2, 3, 4)]
    assert warned(source) == [
        "scan.json: a column should name the image (supervision); found none. All rows are read as one image; pass "
        'custom_data={"file_name": ...} to append for each image.'
    ]


def test_frames_are_pages() -> None:
    source = read([ROW | {"file_name": "v.mp4", "frame_index": index} for index in (0, 2)])
    assert source.page_index.tolist() == [0, 2]


@needs_shared
@pytest.mark.parametrize("name", ["detections.csv", "detections.json"])
def test_real_files_are_read_as_a_plain_script_reads_them(name: str) -> None:
    rows = real("supervision", "detections.json")
    source = read((REAL / "supervision" / name).read_bytes(), name)
    assert [each.doc_id for each in source.documents] == ["demo1_page0"]
    assert boxes(source) == [
        (0, row["class_name"], row["x_min"], row["y_min"], row["x_max"], row["y_max"]) for row in rows
    ]
    assert source.boxes.score.tolist() == [row["confidence"] for row in rows]


LINE = b"86.0,198.0,451.0,214.5,1,,,text,in/a_page0.png"
HOSTILE: list[tuple[bytes, str]] = [
    (b"86,x,451,214,1,,,text,a.png", 'line 3, y1: y1 must be a finite number (supervision); found "x". '
     "Correct the row."),
    (b"86,198,451,214,1,high,,text,a.png", 'line 3, score: score must be a finite number (supervision); found "high". '
     "Correct the row."),
    (b"86,198,451,214,1,,,,a.png", "line 3: a region must have a label (supervision). Label it, or remove it."),
    (b"86,198,451,214,1,,,text,", "line 3: a box must name its document (supervision). Fill in the document."),
    (b'86,198,451,214,1,,,"text,a.png', "line 3: the text must be CSV (RFC 4180); found unexpected end of data. "
     "Export the table again."),
]  # fmt: skip


@pytest.mark.parametrize(("line", "sentence"), HOSTILE)
def test_hostile(line: bytes, sentence: str) -> None:
    assert refused(CSV.replace(LINE, line), "d.csv") == [f"d.csv: {sentence}"]


def test_hostile_json() -> None:
    assert refused([ROW | {"file_name": "a.png"}, 3]) == [
        "f.json: $[1]: a detection must be an object (supervision); found 3. Write the file again."
    ]
    assert refused([ROW | {"file_name": "a.png", "x_min": [1]}]) == [
        "f.json: $[0], x1: x1 must be a finite number (supervision); found [1]. Correct the row."
    ]
