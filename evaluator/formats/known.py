"""Formats that are recognised and not read: what they are called, and what to export instead.

Owns `KNOWN` and `name_of`. A row is a title, the words to look for in the file, and what can be read instead.
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
        'Save it as CSV, layout.to_dataframe().to_csv("boxes.csv"), which is read.',
    ),
    Known(
        "a labels file of Azure Document Intelligence, words of form fields",
        ((b'"labels"',), (b'"boundingBoxes"',)),
        "Give the result of prebuilt-layout for the same document.",
    ),
    Known(
        "a LabelMe file",
        ((b'"shapes"',), (b'"shape_type"', b'"imagePath"'), (b'"points"', b'"imageData"', b'"imageHeight"')),
        "Export it as COCO or Pascal VOC, as labelme2coco.py and labelme2voc.py of its examples do.",
    ),
    Known(
        "a project or export of VGG Image Annotator",
        ((b'"shape_attributes"', b'"_via_img_metadata"'), (b'"region_attributes"', b'"regions"')),
        "Export it as COCO (Annotation, Export Annotations, COCO format).",
    ),
    Known(
        "a Datumaro dataset",
        ((b'"items"',), (b'"categories"',), (b'"label_id"', b'"point_type"', b'"dm_format_version"')),
        'Export it with "datum convert -f coco_instances" or -f voc.',
    ),
    Known(
        "a Create ML file",
        ((b'"coordinates"',), (b'"annotations"', b'"annotation"'), (b'"imagefilename"', b'"image"'), (b'"label"',)),
        "Write its annotations as COCO, bbox as [x - width / 2, y - height / 2, width, height].",
    ),
    Known(
        "an answer of Google Cloud Vision",
        ((b'"fullTextAnnotation"', b'"textAnnotations"'), (b'"boundingBox"', b'"boundingPoly"')),
        "Give the result of a Document AI processor for the same document.",
    ),
    Known(
        "a document of Docling 1",
        ((b'"main-text"',), (b'"page-dimensions"', b'"file-info"')),
        "Convert the document with Docling 2 and save that as JSON.",
    ),
    Known(
        "a form of AnalyzeExpense or AnalyzeID of AWS Textract",
        ((b'"ExpenseDocuments"', b'"IdentityDocuments"'),),
        "Call AnalyzeDocument with the feature LAYOUT for the same document.",
    ),
    Known(
        "a JSON schema",
        ((b'"$defs"', b'"$schema"', b'"definitions"'), (b'"properties"',)),
        "Give a file that follows it.",
    ),
)


SUFFIXES: Final = (".hocr", ".html", ".htm", ".xhtml")
"""Endings that only formats have which are not read."""


def name_of(head: bytes) -> Known | None:
    """The format that the beginning of a file has, of those that are not read; None for no such format."""
    return next((row for row in KNOWN if row.detect(head)), None)
