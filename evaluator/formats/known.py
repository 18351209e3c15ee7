"""Formats that are recognised and not read: what they are called, and what to export instead.

Owns `KNOWN` and `name_of`. A row is a title, the words to look for in the file, and a sentence that says the way in.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Known(NamedTuple):
    """A format that is not read.

    Attributes
    ----------
    title : str
        What it is called.
    marks : tuple of tuple of bytes
        Of each tuple, one must occur.
    instead : str
        What to do, as a sentence.
    """

    title: str
    marks: tuple[tuple[bytes, ...], ...]
    instead: str

    def detect(self, head: bytes) -> bool:
        """Whether the beginning of a file has all marks."""
        return all(any(mark in head for mark in marks) for marks in self.marks)


KNOWN: Final[tuple[Known, ...]] = (
    Known(
        "hOCR",
        ((b"<html", b"<HTML"), (b"ocr_page", b"ocr-system", b"ocr-capabilities")),
        'Export ALTO instead, as "tesseract IMAGE OUT alto" does.',
    ),
    Known(
        "a FiftyOne dataset",
        ((b'"_cls"',), (b'"Detections"', b'"Detection"', b'"bounding_box"')),
        "Export it with dataset_type=fiftyone.types.COCODetectionDataset.",
    ),
    Known(
        "a LayoutParser layout",
        ((b'"block_type"',), (b'"x_1"', b'"points"')),
        "Write its blocks as COCO annotations, bbox as [x_1, y_1, x_2 - x_1, y_2 - y_1].",
    ),
    Known(
        "a labels file of Azure Document Intelligence, words of form fields",
        ((b'"labels"',), (b'"boundingBoxes"',)),
        "Give the result of prebuilt-layout for the same document.",
    ),
    Known(
        "an Azure Document Intelligence result with the keys of the older Python SDK",
        ((b'"bounding_regions"',), (b'"page_number"',)),
        "Save the answer of the service, or as_dict() of azure-ai-documentintelligence.",
    ),
    Known(
        "a Google Document AI document with snake-case keys",
        ((b'"bounding_poly"',),),
        "Write it with documentai.Document.to_json(document).",
    ),
    Known(
        "a JSON schema",
        ((b'"$defs"', b'"$schema"', b'"definitions"'), (b'"properties"',)),
        "Give a file that follows it.",
    ),
)


def name_of(head: bytes) -> Known | None:
    """The format that the beginning of a file has, of those that are not read; None for no such format."""
    return next((row for row in KNOWN if row.detect(head)), None)
