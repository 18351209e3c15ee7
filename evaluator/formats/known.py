"""Files that are recognised and not read: what they are, and what to export instead.

Owns `KNOWN`, asked when no format claims a file. An entry is a name, a look at the beginning of the file, and the two
halves of the sentence; it says what the file is, never only what it is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from evaluator.formats import table

_HOCR = re.compile(rb"""class\s*=\s*['"]ocr_page['"]|name\s*=\s*['"]ocr-system['"]""")
_JSON_SCHEMA = re.compile(rb'"(\$defs|\$schema|definitions)"\s*:\s*[{"]')


class Known(NamedTuple):
    """A kind of file that is not read: its name, how it begins, what it is, and what to do."""

    name: str
    detect: Callable[[bytes], bool]
    what: str
    instead: str


KNOWN: Final[list[Known]] = [
    Known(
        "hocr",
        lambda head: _HOCR.search(head) is not None,
        "This is hOCR, a page of text in HTML",
        "Export ALTO or PAGE XML instead, with Tesseract: tesseract IMAGE OUT alto.",
    ),
    Known(
        "fiftyone",
        lambda head: (
            b'"_cls"' in head and (b'"filepath"' in head or b'"samples"' in head or b'"sample_fields"' in head)
        ),
        "This is a FiftyOne dataset",
        "Export it as COCO instead: dataset.export(dataset_type=fiftyone.types.COCODetectionDataset).",
    ),
    Known(
        "layoutparser",
        lambda head: b'"block_type"' in head and b'"x_1"' in head,
        "This is a LayoutParser layout",
        "Export it as CSV instead: layout.to_dataframe().to_csv(PATH).",
    ),
    Known(
        "azure-labels",
        lambda head: b'"labels"' in head and b'"boundingBoxes"' in head,
        "This is a labels file of Azure Document Intelligence: words of form fields, no layout",
        "Give the result of prebuilt-layout for the same document instead.",
    ),
    Known(
        "azure-snake-case",
        lambda head: b'"bounding_regions"' in head and b'"page_number"' in head,
        "This is a result of Azure Document Intelligence with the keys of the older Python SDK",
        "Save the answer of the service instead: as_dict() of azure-ai-documentintelligence.",
    ),
    Known(
        "documentai-snake-case",
        lambda head: b'"bounding_poly"' in head,
        "This is a Google Document AI document with snake-case keys",
        "Write it with documentai.Document.to_json(document) instead.",
    ),
    Known(
        "json-schema",
        lambda head: _JSON_SCHEMA.search(head) is not None and b'"properties"' in head,
        "This is a JSON schema, which describes files and holds no boxes",
        "Give a file that follows it.",
    ),
    Known(
        "unnamed-table",
        table.looks_like_table,
        "This is a table whose columns have no known names",
        f"Say in the terminal which column holds what: {table.EXAMPLE}.",
    ),
]


def recognised(head: bytes) -> Known | None:
    """The first entry that knows how a file begins; None for none."""
    return next((known for known in KNOWN if known.detect(head)), None)
