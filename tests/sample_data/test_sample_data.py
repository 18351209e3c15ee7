"""The sample data: the rules of its files, its special pages, truth on ink, and the same bytes on every build."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from sample_data import make
from sample_data.generators import detectors, labelling, page_text

FOLDER = Path(make.__file__).parent
FILES = ("ground_truth", "lines", "blocks")
FEW = ("school-census", "port-authority-annual")  # the turned, landscape and trimmed pages
TEXT_LABELS = {"Text", "Title", "Caption"}
DESCENDING = set("gjpqyQJ,;()[]/|{}ç")
INK = 190  # grey value under which a pixel counts as ink
Page = dict[str, Any]


def load(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def documents() -> Iterator[dict[str, pymupdf.Document]]:
    opened = {path.name: pymupdf.open(path) for path in sorted((FOLDER / "pdf").glob("*.pdf"))}
    yield opened
    for document in opened.values():
        document.close()


def pages_of(documents: dict[str, pymupdf.Document]) -> list[pymupdf.Page]:
    return [page for document in documents.values() for page in document]


def truth_pages() -> list[Page]:
    return load("ground_truth")["predictions"]


def in_points(bbox: list[float], page: pymupdf.Page) -> tuple[float, float, float, float]:
    width, height = page.rect.width, page.rect.height
    return bbox[0] * width, bbox[1] * height, bbox[2] * width, bbox[3] * height


def test_size_of_the_set(documents: dict[str, pymupdf.Document]) -> None:
    assert len(documents) >= 6
    assert len(pages_of(documents)) >= 30
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.suffix in {".pdf", ".json"}) < 5 * 2**20


def test_special_pages(documents: dict[str, pymupdf.Document]) -> None:
    pages = pages_of(documents)
    assert any(page.rotation == 0 and page.rect.width > page.rect.height for page in pages)
    assert any(page.rotation == 90 and page.rect.width > page.rect.height for page in pages)
    assert any(page.cropbox != page.mediabox and page.cropbox_position != (0, 0) for page in pages)
    scans = [page for page in pages if not page.get_text().strip()]
    assert len(scans) >= 1
    assert all(len(page.get_images()) == 1 for page in scans)


@pytest.mark.parametrize("name", FILES)
def test_head_of_each_file(name: str) -> None:
    content = load(name)
    assert set(content) == {"label_map", "info", "documents", "predictions"}
    assert content["label_map"] == {str(number): label for number, label in enumerate(make.LABELS, start=1)}
    info = content["info"]
    assert info["schema_version"] == "1.3"
    assert info["coordinate_system"] == {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"}
    if name == "ground_truth":
        assert (info["type"], info["run_id"]) == ("ground_truth", None)
    else:
        assert info["type"] == "prediction"
        assert (info["model"]["name"], info["model"]["version"]) == (name, "1.0")
        assert info["run_id"]


@pytest.mark.parametrize("name", FILES)
def test_documents_and_pages_agree_with_the_pdfs(name: str, documents: dict[str, pymupdf.Document]) -> None:
    content = load(name)
    assert [entry["doc_id"] for entry in content["documents"]] == [f"{report.name}.pdf" for report in make.REPORTS]
    for entry in content["documents"]:
        assert entry == {
            "doc_id": entry["doc_id"],
            "doc_name": entry["doc_id"],
            "doc_path": f"pdf/{entry['doc_id']}",
        }
    pages = [(page["doc_id"], page["page_index"], page["page_id"]) for page in content["predictions"]]
    expected = [
        (entry["doc_id"], index, f"{entry['doc_id']}::p{index:03d}")
        for entry in content["documents"]
        for index in range(len(documents[entry["doc_id"]]))
    ]
    assert pages == expected


@pytest.mark.parametrize("name", FILES)
def test_objects_follow_the_schema(name: str) -> None:
    for page in load(name)["predictions"]:
        assert set(page) == {"page_id", "doc_id", "page_index", "objects"}
        ids = [item["id"] for item in page["objects"]]
        assert len(set(ids)) == len(ids)
        for item in page["objects"]:
            assert set(item) == {"id", "label", "bbox", "score"}
            assert item["label"] in make.LABELS
            x1, y1, x2, y2 = item["bbox"]
            assert 0 <= x1 < x2 <= 1, item
            assert 0 <= y1 < y2 <= 1, item
            assert all(round(value, 6) == value for value in item["bbox"])
            if name == "ground_truth":
                assert item["score"] is None
            else:
                assert 0 < item["score"] < 1


def test_all_labels_occur_in_the_ground_truth() -> None:
    assert {item["label"] for page in truth_pages() for item in page["objects"]} == set(make.LABELS)


@pytest.mark.parametrize("name", FILES[1:])
def test_scores_are_a_continuum(name: str) -> None:
    scores = [item["score"] for page in load(name)["predictions"] for item in page["objects"]]
    assert len(set(scores)) > 100


def test_ground_truth_lies_on_ink(documents: dict[str, pymupdf.Document]) -> None:
    for entry in truth_pages():
        page = documents[entry["doc_id"]][entry["page_index"]]
        pixmap = page.get_pixmap(dpi=72, colorspace=pymupdf.csGRAY)
        grey = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)
        for item in entry["objects"]:
            x1, y1, x2, y2 = in_points(item["bbox"], page)
            inside = grey[int(y1) : int(np.ceil(y2)), int(x1) : int(np.ceil(x2))]
            assert inside.min() < INK, item


def test_text_boxes_end_where_the_ink_ends(documents: dict[str, pymupdf.Document]) -> None:
    """No ink on the rim of a text box, and ink within 1.2 points of the padding on all four sides."""
    scale = 4
    for entry in truth_pages():
        page = documents[entry["doc_id"]][entry["page_index"]]
        if not page.get_text().strip():
            continue
        pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY)
        grey = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)
        for item in entry["objects"]:
            if item["label"] not in TEXT_LABELS:
                continue
            x1, y1, x2, y2 = (round(value * scale) for value in in_points(item["bbox"], page))
            dark = grey[y1:y2, x1:x2] < INK
            rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
            margins = [rows[0], columns[0], y2 - y1 - 1 - rows[-1], x2 - x1 - 1 - columns[-1]]
            assert min(margins) >= 0.5 * scale, item
            assert max(margins) <= 2.7 * scale, item


def test_words_of_a_text_box_lie_inside(documents: dict[str, pymupdf.Document]) -> None:
    """Within a point; the room that a word without descenders leaves below its baseline does not count."""
    before = pymupdf.TOOLS.set_small_glyph_heights()
    pymupdf.TOOLS.set_small_glyph_heights(True)
    try:
        counted = sum(_check_words(entry, documents[entry["doc_id"]][entry["page_index"]]) for entry in truth_pages())
    finally:
        pymupdf.TOOLS.set_small_glyph_heights(before)
    assert counted > 4000


def _check_words(entry: Page, page: pymupdf.Page) -> int:
    found_words = [(pymupdf.Rect(word[:4]) * page.rotation_matrix, word[4]) for word in page.get_text("words")]
    counted = 0
    for item in entry["objects"]:
        if item["label"] not in TEXT_LABELS:
            continue
        x1, y1, x2, y2 = in_points(item["bbox"], page)
        for rect, word in found_words:
            if not (x1 < (rect.x0 + rect.x1) / 2 < x2 and y1 < (rect.y0 + rect.y1) / 2 < y2):
                continue
            counted += 1
            empty = 0.0 if DESCENDING & set(word) else 0.24 * rect.height
            assert rect.x0 >= x1 - 1, (word, item)
            assert rect.x1 <= x2 + 1, (word, item)
            assert rect.y0 >= y1 - 1, (word, item)
            assert rect.y1 - empty <= y2 + 1, (word, item)
    return counted


def test_detectors_see_the_pdf_only() -> None:
    for detect in (detectors.detect_lines, detectors.detect_blocks):
        assert [str(p.annotation) for p in inspect.signature(detect).parameters.values()] == ["bytes"]
    for module in (detectors, labelling, page_text):
        source = inspect.getsource(module)
        forbidden = (
            "ground_truth",
            "import json",
            "sample_data.generators.report",
            "pathlib",
            "import random",
            "default_rng",
        )
        assert not any(word in source for word in forbidden)


def test_committed_files_are_those_of_the_script(tmp_path: Path) -> None:
    """Built another time and without the other reports, they have the same bytes."""
    versions = {name: importlib.metadata.version(name) for name in make.BUILT_WITH}
    if versions != make.BUILT_WITH:
        pytest.skip(f"built with {make.BUILT_WITH}, found {versions}")
    make.build(tmp_path, [report for report in make.REPORTS if report.name in FEW])
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert files == sorted([*(Path(f"pdf/{name}.pdf") for name in FEW), *(Path(f"{name}.json") for name in FILES)])
    for path in (tmp_path / "pdf").iterdir():
        assert path.read_bytes() == (FOLDER / "pdf" / path.name).read_bytes(), path.name
    for name in FILES:
        committed = [page for page in load(name)["predictions"] if Path(page["doc_id"]).stem in FEW]
        assert load(name, tmp_path)["predictions"] == committed
