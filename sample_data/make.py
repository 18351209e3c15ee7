"""Build the sample data: documents, ground truth and the predictions of two models for each kind of them.

Run `python -m sample_data.make` in the project root. The output is the same on every run with the versions in
`BUILT_WITH`; others may draw a letter or compress a photograph differently. Boxes are normalised by the displayed
page: origin top left, x1, y1, x2, y2.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pymupdf

from sample_data.generators import applications, invoices
from sample_data.generators.anchors import extract_anchors
from sample_data.generators.canvas import Box, Cell, shares
from sample_data.generators.detectors import detect_blocks, detect_lines
from sample_data.generators.labelling import Region
from sample_data.generators.page_reading import ReadItem, read_blocks, read_lines
from sample_data.generators.paperwork import tree_of
from sample_data.generators.pdf_file import pdf_bytes
from sample_data.generators.poster_extraction import extract_across, extract_columns
from sample_data.generators.poster_layout import reference, write_pdf, write_picture
from sample_data.generators.poster_sheets import SHEETS
from sample_data.generators.report import Report, TruthBox, write
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
from sample_data.generators.rules import extract_rules

LABELS = (
    "Caption", "Figure", "Footnote", "Formula", "List-item", "Page-footer", "Page-header", "Section-header", "Table",
    "Text", "Title",
)  # fmt: skip
CREATED_AT = "2025-01-15T00:00:00Z"
DECIMALS = 6
BUILT_WITH = {"pymupdf": "1.28.2", "pillow": "13.0.0", "numpy": "2.4.6"}
MODULES = (
    river_districts, harvest_survey, port_authority, school_census, scanned_minutes, rainfall_atlas, groundwater_note,
    tram_options,
)  # fmt: skip
REPORTS: tuple[Report, ...] = tuple(module.REPORT for module in MODULES)
DETECTORS: dict[str, Callable[[bytes], list[list[Region]]]] = {"lines": detect_lines, "blocks": detect_blocks}
NOTES = {
    "lines": "Ruling lines, images, clusters of drawings and text blocks of PyMuPDF; labels by rules.",
    "blocks": "Word gaps, aligned columns and large clusters of drawings; labels by rules.",
}

JsonObject = dict[str, object]
READERS: dict[str, Callable[[bytes], list[list[ReadItem]]]] = {"lines": read_lines, "blocks": read_blocks}
FIELD_EXTRACTORS: dict[str, Callable[[bytes], JsonObject]] = {"anchors": extract_anchors, "rules": extract_rules}
POSTER_EXTRACTORS: dict[str, Callable[[bytes], JsonObject]] = {"across": extract_across, "columns": extract_columns}


def page_entry(name: str, index: int, objects: Iterable[Region | TruthBox], size: tuple[float, float]) -> JsonObject:
    """One page of a file of schema 1.3; boxes in points become shares of the page."""
    page_id = f"{name}::p{index:03d}"
    numbered = [
        {"id": f"{page_id}:{number}", "label": label, "bbox": shares(box, size, DECIMALS), "score": score}
        for number, (label, box, score) in enumerate(objects)
    ]
    return {"page_id": page_id, "doc_id": name, "page_index": index, "objects": numbered}


def document_file(names: Sequence[str], side: str, pages: Sequence[JsonObject]) -> str:
    """Return a complete file of schema 1.3 as text; the side is the ground truth or a model."""
    info: JsonObject = {"schema_version": "1.3", "created_at": CREATED_AT}
    if side in DETECTORS:
        info |= {"type": "prediction", "run_id": f"{side}-1.0"}
        info["model"] = {"name": side, "version": "1.0", "notes": NOTES[side]}
    else:
        info |= {"type": "ground_truth", "run_id": None}
        info["model"] = {"name": "layout code", "notes": "Boxes of the drawn ink, padded by 1.5 points."}
    info["coordinate_system"] = {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"}
    content: JsonObject = {
        "label_map": {str(number): label for number, label in enumerate(LABELS, start=1)},
        "info": info,
        "documents": [{"doc_id": name, "doc_name": name, "doc_path": f"pdf/{name}"} for name in names],
        "predictions": list(pages),
    }
    return plain_text(content)


def build(folder: Path, reports: Sequence[Report] = REPORTS) -> None:
    """Write the PDFs of the reports, their ground truth and all predictions into a folder."""
    # Newer versions print an advertisement for another package at the first table; older ones lack the switch.
    getattr(pymupdf, "no_recommend_layout", lambda: None)()
    names = [f"{report.name}.pdf" for report in reports]
    entries: dict[str, list[JsonObject]] = {side: [] for side in ("ground_truth", *DETECTORS)}
    for name, report in zip(names, reports, strict=True):
        pdf, truth = write(report)
        _write(folder / "pdf" / name, pdf)
        predicted = {model: detect(pdf) for model, detect in DETECTORS.items()}
        for index, page in enumerate(truth):
            entries["ground_truth"].append(page_entry(name, index, page.boxes, page.size))
            for model, pages in predicted.items():
                entries[model].append(page_entry(name, index, pages[index], page.size))
    for side, pages_of_side in entries.items():
        _write(folder / f"{side}.json", document_file(names, side, pages_of_side))


def build_reading(folder: Path, reports: Sequence[Report] = REPORTS) -> None:
    """Write order, text and cells of the reports and what both detectors read of them, a page a line."""
    lines: dict[str, list[str]] = {side: [] for side in ("ground_truth", *READERS)}
    for report in reports:
        pdf, truth = write(report)
        read = {side: reader(pdf) for side, reader in READERS.items()}
        for index, page in enumerate(truth):
            name = f"{report.name}.pdf"
            said = zip(page.boxes, page.places, page.elements, strict=True)
            items = [item_entry(box, place, each.text, each.cells) for box, place, each in said]
            lines["ground_truth"].append(page_line(name, index, page.size, items))
            for side, pages in read.items():
                items = [item_entry(*each) for each in pages[index]]
                lines[side].append(page_line(name, index, page.size, items))
    for side, pages_of_side in lines.items():
        _write(folder / f"{side}.jsonl", "".join(pages_of_side))


def page_line(name: str, index: int, size: tuple[float, float], items: Sequence[JsonObject]) -> str:
    """One page of a file of items, as a line; boxes are in points."""
    page = {"document": name, "page": index, "width": size[0], "height": size[1], "items": items}
    return json.dumps(page, ensure_ascii=False, separators=(",", ":")) + "\n"


def item_entry(
    region: Region | TruthBox, place: int | None, text: str | None, cells: Sequence[Cell] | None
) -> JsonObject:
    """One item of a page; what it does not have is left out."""
    label, box, score = region
    entry: JsonObject = {"label": label, "box": _points(box), "score": score, "order": place, "text": text}
    if cells is not None:
        entry["cells"] = [
            {"row": cell.row, "col": cell.col, "text": cell.text, "box": _points(cell.box)}
            | ({"header": True} if cell.header else {})
            | ({"col_span": cell.col_span} if cell.col_span > 1 else {})
            for cell in cells
        ]
    return {key: value for key, value in entry.items() if value is not None}


def _points(box: Box) -> list[float]:
    return [round(value, 2) for value in box]


def build_fields(folder: Path) -> None:
    """Write the invoices and forms, the ground truth of their fields and what both extractors find into a folder."""
    bills = [(each.name, invoices.draw(each), f"Invoice {each.number}") for each in invoices.read_invoices()]
    title = "Application for a market pitch"
    forms = [(each.name, applications.draw(each), title) for each in applications.APPLICATIONS]
    for name, paper, title in [*bills, *forms]:
        pdf, truth = pdf_bytes(paper.document, title), tree_of(paper.fields)
        _write(folder / "pdf" / f"{name}.pdf", pdf)
        sides = {"ground_truth": truth, **{side: extract(pdf) for side, extract in FIELD_EXTRACTORS.items()}}
        for side, tree in sides.items():
            _write(folder / side / f"{name}.json", rich_text(tree) + "\n")


def rich_text(value: object, indent: str = "") -> str:
    """JSON with one line for each rich value, so that a difference names its field."""
    if isinstance(value, dict) and "_value" not in value:
        inner = [f"{indent} {json.dumps(key)}: {rich_text(each, indent + ' ')}" for key, each in value.items()]
        return "{\n" + ",\n".join(inner) + f"\n{indent}}}" if inner else "{}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(f"{indent} {rich_text(each, indent + ' ')}" for each in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def build_posters(folder: Path) -> None:
    """Write the posters, their references and what both extractors read into a folder.

    The poster that is handed out as JPEG has no text layer: its extractions are those of the PDF of which it is a
    picture.
    """
    for sheet in SHEETS:
        pdf, _ = write_pdf(sheet)
        page = write_picture(pdf) if sheet.picture else pdf
        _write(folder / "pdf" / f"{sheet.name}.{'jpg' if sheet.picture else 'pdf'}", page)
        _write(folder / "ground_truth" / f"{sheet.name}.json", plain_text(reference(sheet)))
        for side, extract in POSTER_EXTRACTORS.items():
            _write(folder / side / f"{sheet.name}_extracted.json", plain_text(extract(pdf)))


def plain_text(content: JsonObject) -> str:
    """JSON with one line for each value."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


if __name__ == "__main__":
    build(Path(__file__).parent)
    build_reading(Path(__file__).parents[1] / "sample_reading")
    build_fields(Path(__file__).parent / "fields")
    build_posters(Path(__file__).parent / "posters")
