"""Build the sample data: PDFs, ground truth and the predictions of two detectors.

Run `python -m sample_data.make` in the project root. The output is the same on every run with the versions in
`BUILT_WITH`; others may draw a letter or compress a photograph differently. Boxes are normalised by the displayed
page: origin top left, x1, y1, x2, y2.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pymupdf

from sample_data.generators import make_paperwork, make_posters
from sample_data.generators.detectors import detect_blocks, detect_lines
from sample_data.generators.labelling import Region
from sample_data.generators.report import Report, TruthPage, write
from sample_data.generators.reports import (
    groundwater_note,
    harvest_survey,
    port_authority,
    rainfall_atlas,
    river_districts,
    scanned_minutes,
    school_census,
    tram_options,
)

LABELS = (
    "Caption",
    "Figure",
    "Footnote",
    "Formula",
    "List-item",
    "Page-footer",
    "Page-header",
    "Section-header",
    "Table",
    "Text",
    "Title",
)
CREATED_AT = "2025-01-15T00:00:00Z"
DECIMALS = 6
BUILT_WITH = {"pymupdf": "1.28.2", "pillow": "13.0.0", "numpy": "2.4.6"}
REPORTS: tuple[Report, ...] = tuple(
    module.REPORT
    for module in (
        river_districts,
        harvest_survey,
        port_authority,
        school_census,
        scanned_minutes,
        rainfall_atlas,
        groundwater_note,
        tram_options,
    )
)
DETECTORS: dict[str, Callable[[bytes], list[list[Region]]]] = {"lines": detect_lines, "blocks": detect_blocks}
NOTES = {
    "lines": "Ruling lines, images, clusters of drawings and text blocks of PyMuPDF; labels by rules.",
    "blocks": "Word gaps, aligned columns and large clusters of drawings; labels by rules.",
}

JsonObject = dict[str, object]


def normalised(box: Sequence[float], width: float, height: float) -> list[float]:
    """A box in points as shares of the page, rounded.

    >>> normalised((0, 50, 100, 100), 200, 100)
    [0.0, 0.5, 0.5, 1.0]
    """
    x0, y0, x1, y1 = box
    return [round(value, DECIMALS) for value in (x0 / width, y0 / height, x1 / width, y1 / height)]


def page_entry(name: str, index: int, objects: Sequence[JsonObject]) -> JsonObject:
    """One page of a file of schema 1.3; the objects get their ids here."""
    page_id = f"{name}::p{index:03d}"
    numbered = [{"id": f"{page_id}:{number}", **content} for number, content in enumerate(objects)]
    return {"page_id": page_id, "doc_id": name, "page_index": index, "objects": numbered}


def truth_entry(name: str, index: int, page: TruthPage) -> JsonObject:
    """Ground truth of one page."""
    objects: list[JsonObject] = [
        {"label": item.label, "bbox": normalised(item.box, page.width, page.height), "score": None}
        for item in page.boxes
    ]
    return page_entry(name, index, objects)


def prediction_entry(name: str, index: int, regions: Sequence[Region], size: tuple[float, float]) -> JsonObject:
    """Predictions of one page."""
    objects: list[JsonObject] = [
        {"label": region.label, "bbox": normalised(region.box, *size), "score": region.score} for region in regions
    ]
    return page_entry(name, index, objects)


def document_file(names: Sequence[str], info: JsonObject, pages: Sequence[JsonObject]) -> str:
    """A complete file of schema 1.3 as text."""
    documents = [{"doc_id": name, "doc_name": name, "doc_path": f"pdf/{name}"} for name in names]
    system = {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"}
    content = {
        "label_map": {str(number): label for number, label in enumerate(LABELS, start=1)},
        "info": {"schema_version": "1.3", "created_at": CREATED_AT, **info, "coordinate_system": system},
        "documents": documents,
        "predictions": list(pages),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def build(folder: Path, reports: Sequence[Report] = REPORTS) -> None:
    """Write the PDFs of the reports, their ground truth and all predictions into a folder."""
    # Newer versions print an advertisement for another package at the first table; older ones lack the switch.
    getattr(pymupdf, "no_recommend_layout", lambda: None)()
    (folder / "pdf").mkdir(parents=True, exist_ok=True)
    names = [f"{report.name}.pdf" for report in reports]
    pdfs: dict[str, bytes] = {}
    sizes: dict[str, list[tuple[float, float]]] = {}
    truth: list[JsonObject] = []
    for name, report in zip(names, reports, strict=True):
        pdfs[name], pages = write(report)
        (folder / "pdf" / name).write_bytes(pdfs[name])
        sizes[name] = [(page.width, page.height) for page in pages]
        truth.extend(truth_entry(name, index, page) for index, page in enumerate(pages))
    info: JsonObject = {
        "type": "ground_truth",
        "run_id": None,
        "model": {"name": "layout code", "notes": "Boxes of the drawn ink, padded by 1.5 points."},
    }
    (folder / "ground_truth.json").write_text(document_file(names, info, truth), encoding="utf-8")
    for model in DETECTORS:
        text = document_file(names, _model_info(model), predict(model, pdfs, sizes))
        (folder / f"{model}.json").write_text(text, encoding="utf-8")


def _model_info(model: str) -> JsonObject:
    return {
        "type": "prediction",
        "run_id": f"{model}-1.0",
        "model": {"name": model, "version": "1.0", "notes": NOTES[model]},
    }


def predict(model: str, pdfs: dict[str, bytes], sizes: dict[str, list[tuple[float, float]]]) -> list[JsonObject]:
    """Pages of the prediction file of one detector."""
    entries: list[JsonObject] = []
    for name, pdf in pdfs.items():
        for index, (regions, size) in enumerate(zip(DETECTORS[model](pdf), sizes[name], strict=True)):
            entries.append(prediction_entry(name, index, regions, size))
    return entries


if __name__ == "__main__":
    build(Path(__file__).parent)
    make_paperwork.build(Path(__file__).parent / "fields")
    make_posters.build(Path(__file__).parent / "posters")
