"""Build the invoices and forms: PDFs, ground truth of their fields, and what the two extractors find.

``fields/pdf`` holds the documents; ``fields/ground_truth``, ``fields/anchors`` and ``fields/rules`` hold one JSON file
of rich values for each. Run by `sample_data.make`; the same versions (`BUILT_WITH` there) give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from sample_data.generators import applications, invoices
from sample_data.generators.anchors import extract_anchors
from sample_data.generators.paperwork import JsonObject
from sample_data.generators.rules import extract_rules

EXTRACTORS: dict[str, Callable[[bytes], JsonObject]] = {"anchors": extract_anchors, "rules": extract_rules}


def documents() -> Iterator[tuple[str, bytes, JsonObject]]:
    """Name, PDF and ground truth of each document."""
    for invoice in invoices.read_invoices():
        yield invoice.name, *invoices.draw(invoice).finish(f"Invoice {invoice.number}")
    for form in applications.read_applications():
        yield form.name, *applications.draw(form).finish("Application for a market pitch")


def build(folder: Path) -> None:
    """Write all documents, their ground truth and the findings of both extractors into a folder."""
    for name in ("pdf", "ground_truth", *EXTRACTORS):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, pdf, truth in documents():
        (folder / "pdf" / f"{name}.pdf").write_bytes(pdf)
        _write(folder / "ground_truth" / f"{name}.json", truth)
        for extractor, extract in EXTRACTORS.items():
            _write(folder / extractor / f"{name}.json", extract(pdf))


def _write(path: Path, tree: JsonObject) -> None:
    path.write_text(_text(tree) + "\n", encoding="utf-8")


def _text(value: object, indent: str = "") -> str:
    """JSON with one line for each rich value, so that a difference names its field."""
    if isinstance(value, dict) and "_value" not in value:
        inner = [f"{indent} {json.dumps(key)}: {_text(each, indent + ' ')}" for key, each in value.items()]
        return "{\n" + ",\n".join(inner) + f"\n{indent}}}" if inner else "{}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(f"{indent} {_text(each, indent + ' ')}" for each in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)
