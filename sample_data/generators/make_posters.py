"""Build the sample posters: PDFs and a JPEG, reference texts, and what two extractors read from them.

Run `python -m sample_data.make`; the output is the same on every run with the versions named there. The poster that
is handed out as JPEG has no text layer: its extractions were made from the PDF of which it is a picture.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sample_data.generators.poster_extraction import EXTRACTORS, Json
from sample_data.generators.poster_layout import Sheet, reference, write_pdf, write_picture
from sample_data.generators.poster_sheets import SHEETS


def build(folder: Path, sheets: Sequence[Sheet] = SHEETS) -> None:
    """Write pages, references and extractions of posters into a folder."""
    for name in ("pdf", "ground_truth", *EXTRACTORS):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for sheet in sheets:
        pdf, _ = write_pdf(sheet)
        if sheet.picture:
            (folder / "pdf" / f"{sheet.name}.jpg").write_bytes(write_picture(pdf))
        else:
            (folder / "pdf" / f"{sheet.name}.pdf").write_bytes(pdf)
        _write(folder / "ground_truth" / f"{sheet.name}.json", reference(sheet))
        for name, extract in EXTRACTORS.items():
            _write(folder / name / f"{sheet.name}_extracted.json", extract(pdf))


def _write(path: Path, content: Json) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
