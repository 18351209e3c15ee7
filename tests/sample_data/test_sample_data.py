"""The sample reports: files of the schema that cover every page, special pages, and a ground truth that lies on ink."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from evaluator import formats
from sample_data import make

FOLDER = Path(make.__file__).parent
TEXT_LABELS = {"Text", "Title", "Caption"}
DESCENDING = set("gjpqyQJ,;()[]/|{}ç")
INK = 190  # grey value under which a pixel counts as ink


@pytest.fixture(scope="module")
def documents() -> Iterator[dict[str, pymupdf.Document]]:
    opened = {f"{report.name}.pdf": pymupdf.open(FOLDER / "pdf" / f"{report.name}.pdf") for report in make.REPORTS}
    yield opened
    for document in opened.values():
        document.close()


def truth_pages(documents: dict[str, pymupdf.Document]) -> Iterator[tuple[pymupdf.Page, list[dict[str, Any]]]]:
    for entry in json.loads((FOLDER / "ground_truth.json").read_text(encoding="utf-8"))["predictions"]:
        yield documents[entry["doc_id"]][entry["page_index"]], entry["objects"]


def grey_of(page: pymupdf.Page, scale: int) -> np.ndarray:
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY)
    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)


def in_points(bbox: list[float], page: pymupdf.Page) -> tuple[float, float, float, float]:
    width, height = page.rect.width, page.rect.height
    return bbox[0] * width, bbox[1] * height, bbox[2] * width, bbox[3] * height


def test_the_set_is_small_and_has_special_pages(documents: dict[str, pymupdf.Document]) -> None:
    pages = [page for document in documents.values() for page in document]
    assert len(documents) >= 6
    assert len(pages) >= 30
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.suffix in {".pdf", ".json"}) < 5 * 2**20
    assert {path.name for path in (FOLDER / "pdf").iterdir()} == documents.keys()
    assert any(page.rotation == 0 and page.rect.width > page.rect.height for page in pages)
    assert any(page.rotation == 90 and page.rect.width > page.rect.height for page in pages)
    assert any(page.cropbox != page.mediabox and page.cropbox_position != (0, 0) for page in pages)
    scans = [page for page in pages if not page.get_text().strip()]
    assert scans
    assert all(len(page.get_images()) == 1 for page in scans)


@pytest.mark.parametrize("name", ["ground_truth", "lines", "blocks"])
def test_a_file_keeps_the_rules_and_has_every_page(name: str, documents: dict[str, pymupdf.Document]) -> None:
    source = formats.read(FOLDER / f"{name}.json")
    assert (source.format, source.labels, source.issues) == ("snapshot", make.LABELS, ())
    listed = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["documents"]
    assert listed == [{"doc_id": each, "doc_name": each, "doc_path": f"pdf/{each}"} for each in documents]
    assert source.page_ids == [
        f"{document}::p{index:03d}" for document, opened in documents.items() for index in range(len(opened))
    ]
    assert (source.boxes.xyxy == source.boxes.xyxy.round(6)).all()
    if name == "ground_truth":
        assert source.side == name
        assert np.isnan(source.boxes.score).all()
        assert set(source.boxes.label) == set(range(len(make.LABELS))), "all labels occur"
    else:
        assert (source.side, source.model, source.version) == ("prediction", name, "1.0")
        assert ((source.boxes.score > 0) & (source.boxes.score < 1)).all()
        assert len(set(source.boxes.score)) > 100


def test_ground_truth_lies_on_ink(documents: dict[str, pymupdf.Document]) -> None:
    for page, objects in truth_pages(documents):
        grey = grey_of(page, 1)
        for item in objects:
            x1, y1, x2, y2 = in_points(item["bbox"], page)
            assert grey[int(y1) : int(np.ceil(y2)), int(x1) : int(np.ceil(x2))].min() < INK, item


def test_text_boxes_end_where_the_ink_ends(documents: dict[str, pymupdf.Document]) -> None:
    """No ink on the rim of a text box, and ink within 1.2 points of the padding on all four sides."""
    scale = 4
    for page, objects in truth_pages(documents):
        if not page.get_text().strip():
            continue
        grey = grey_of(page, scale)
        for item in objects:
            if item["label"] not in TEXT_LABELS:
                continue
            x1, y1, x2, y2 = (round(value * scale) for value in in_points(item["bbox"], page))
            dark = grey[y1:y2, x1:x2] < INK
            rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
            margins = [rows[0], columns[0], y2 - y1 - 1 - rows[-1], x2 - x1 - 1 - columns[-1]]
            assert 0.5 * scale <= min(margins) <= max(margins) <= 2.7 * scale, item


def test_words_of_a_text_box_lie_inside(documents: dict[str, pymupdf.Document]) -> None:
    """Within a point; the room that a word without descenders leaves below its baseline does not count."""
    before = pymupdf.TOOLS.set_small_glyph_heights()
    pymupdf.TOOLS.set_small_glyph_heights(True)
    try:
        counted = sum(check_words(page, objects) for page, objects in truth_pages(documents))
    finally:
        pymupdf.TOOLS.set_small_glyph_heights(before)
    assert counted > 4000


def check_words(page: pymupdf.Page, objects: list[dict[str, Any]]) -> int:
    """How many words were looked at."""
    on_page = [(pymupdf.Rect(word[:4]) * page.rotation_matrix, word[4]) for word in page.get_text("words")]
    counted = 0
    for item in (each for each in objects if each["label"] in TEXT_LABELS):
        x1, y1, x2, y2 = in_points(item["bbox"], page)
        for rect, word in on_page:
            if x1 < (rect.x0 + rect.x1) / 2 < x2 and y1 < (rect.y0 + rect.y1) / 2 < y2:
                counted += 1
                empty = 0.0 if DESCENDING & set(word) else 0.24 * rect.height
                outside = (x1 - rect.x0, rect.x1 - x2, y1 - rect.y0, rect.y1 - empty - y2)
                assert max(outside) <= 1, (word, item)
    return counted
