"""Formats that are recognised and not read: what they are called, and what to export instead."""

from __future__ import annotations

from typing import Final, NamedTuple


class Unsupported(NamedTuple):
    """A format that is not read: `title`, what to do `instead`, and `marks`, of each of which one must occur."""

    title: str
    marks: tuple[tuple[bytes, ...], ...]
    instead: str
    at_start: bool = False

    def detect(self, head: bytes) -> bool:
        """Return whether the beginning of a file has all marks."""
        if self.at_start:
            return all(head.startswith(marks) for marks in self.marks)
        return all(any(mark in head for mark in marks) for marks in self.marks)


VISION: Final = (
    b'"fullTextAnnotation"', b'"textAnnotations"', b'"localizedObjectAnnotations"', b'"full_text_annotation"',
    b'"text_annotations"', b'"localized_object_annotations"',
)  # fmt: skip
"""Keys of an answer of Google Cloud Vision, which has pages and vertices as Document AI has."""

AS_TABLE: Final = (
    "Write a table with a row for each box, of the columns document, label, x1, y1, x2 and y2, which is read."
)

UNSUPPORTED_FORMATS: Final[tuple[Unsupported, ...]] = (
    Unsupported("a compressed file", ((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf", b"Rar!"),),
     "Unpack it, or give a zip archive.", at_start=True),
    Unsupported("a PDF", ((b"%PDF-",),), "Give the annotations of its pages, and the PDF with --pdfs.", at_start=True),
    Unsupported("an image", ((b"\x89PNG", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"GIF8"),),
     "Give its annotations, and the folder of the images with --pdfs.", at_start=True),
    Unsupported("a file of Python objects or NumPy arrays", ((b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5",
     b"\x93NUMPY"),), AS_TABLE, at_start=True),
    Unsupported("a CSV export of Label Studio", ((b"annotation_id",), (b"annotator",), (b"lead_time",)),
     "Export the project as JSON."),
    Unsupported("a document of Docling in DocTags or YAML", ((b"<doctag>", b"<doctags>", b"<doclang",
     b"schema_name: DoclingDocument"),), "Save it as JSON, as document.save_as_json does."),
    Unsupported("a result of PaddleOCR with lines of text and no regions", ((b'"rec_texts"',), (b'"dt_polys"',
     b'"rec_boxes"', b'"rec_polys"')), "Run PP-StructureV3 or a PP-DocLayout model on the same page."),
    Unsupported("a JSON Schema", ((b'"$schema"',), (b"json-schema.org",)),
     "Give the files that it describes; how fields are compared is said by --schema."),
    Unsupported("a layout of Surya", ((b'"image_bbox"',), (b'"bboxes"',)),
     "Convert the document with Marker and --output_format json."),
    Unsupported("a result of Azure Content Understanding", ((b'"analyzerId"',), (b'"contents"',)),
     "Run prebuilt-layout of Document Intelligence on the same document."),
    Unsupported("an answer of Azure Document Intelligence without a result", ((b'"status"',), (b'"createdDateTime"',),
     (b'"lastUpdatedDateTime"', b'"running"', b'"notStarted"', b'"failed"')),
     "Ask for the result again when the analysis has succeeded."),
    Unsupported("a form of AnalyzeExpense or AnalyzeID of AWS Textract", ((b'"ExpenseDocuments"',
     b'"IdentityDocuments"', b'"LendingDocument"', b'"ExpenseDocument"', b'"IdentityDocument"'),),
     "It has fields and no layout; call AnalyzeDocument with the feature LAYOUT for the same document."),
    Unsupported("an answer of AWS Textract without blocks", ((b'"JobStatus"',),),
     "Ask for the result again when the job has succeeded."),
    Unsupported("the metadata of a Marker run", ((b'"table_of_contents"', b'"pdf_toc"', b'"computed_toc"'),
     (b'"page_stats"', b'"block_stats"', b'"ocr_stats"')),
     "Convert the document with --output_format json and give that file."),
    Unsupported("an answer of a MinerU server with files in it", ((b'"results"',), (b'"backend"',), (b'"middle_json"',
     b'"model_output"', b'"content_list"', b'"md_content"')),
     "Save the text of middle_json, or of content_list, as a file."),
    Unsupported("a result of Ultralytics without the name of its page", ((b'"name"',), (b'"class"',), (
     b'"confidence"',), (b'"box"',), (b'"x1"',)), "Save labels instead, as save_txt=True and save_conf=True do."),
    Unsupported("an answer of Roboflow without the name of its page", ((b'"predictions"',), (b'"image"',),
     (b'"class_id"', b'"class"'), (b'"confidence"',), (b'"detection_id"', b'"x"')),
     "Write its boxes with the JSONSink or CSVSink of supervision, which are read."),
    Unsupported("a result of Azure Computer Vision", ((b'"recognitionResults"', b'"readResult"'), (b'"lines"',)),
     "Run prebuilt-layout of Document Intelligence on the same document."),
    Unsupported("the cells of text of a DocLayNet page", ((b'"page_hash"',), (b'"cells"',)),
     "Give the COCO file of the data set."),
    Unsupported(
        "ABBYY FineReader XML",
        ((b"<document",), (b"FineReader_xml", b"blockType="), (b"<page", b"<document")),
        "Export ALTO instead.",
    ),
    Unsupported("a METS list of files", ((b"<mets:mets", b"<mets ", b"loc.gov/METS"), (b"fileSec", b"structMap",
     b"METS")), "Give the ALTO or PAGE XML files that it lists."),
    Unsupported("TEI XML", ((b"<TEI", b"<teiCorpus"),), "Give PAGE XML or ALTO of the same pages."),
    Unsupported("hOCR", ((b"<html", b"<HTML"), (b"ocr_page", b"ocr-system", b"ocr-capabilities")),
     'Export ALTO instead, as "tesseract IMAGE OUT alto" does.'),
    Unsupported("a FiftyOne dataset", ((b'"_cls"',), (b'"Detections"', b'"Detection"', b'"bounding_box"')),
     "Export it with dataset_type=fiftyone.types.COCODetectionDataset."),
    Unsupported("a LayoutParser layout", ((b'"block_type"',), (b'"x_1"', b'"points"')),
     'Save it as CSV, layout.to_dataframe().to_csv("boxes.csv"), which is read.'),
    Unsupported("a labels file of Azure Document Intelligence, words of form fields", ((b'"labels"',), (
     b'"boundingBoxes"',)), "Give the result of prebuilt-layout for the same document."),
    Unsupported("a LabelMe file", ((b'"shapes"',), (b'"shape_type"', b'"imagePath"'), (b'"points"', b'"imageData"',
     b'"imageHeight"')), "Export it as COCO or Pascal VOC, as labelme2coco.py and labelme2voc.py of its examples do."),
    Unsupported("a project or export of VGG Image Annotator", ((b'"shape_attributes"', b'"_via_img_metadata"',
     b"region_shape_attributes"), (b'"region_attributes"', b'"regions"', b"region_attributes")),
     "Export it as COCO (Annotation, Export Annotations, COCO format)."),
    Unsupported("a Datumaro dataset", ((b'"items"',), (b'"categories"',), (b'"label_id"', b'"point_type"',
     b'"dm_format_version"')), 'Export it with "datum convert -f coco_instances" or -f voc.'),
    Unsupported("a Create ML file", ((b'"coordinates"',), (b'"annotations"', b'"annotation"'), (b'"imagefilename"',
     b'"image"'), (b'"label"',)),
     "Write its annotations as COCO, bbox as [x - width / 2, y - height / 2, width, height]."),
    Unsupported("an answer of Google Cloud Vision", (VISION,),
     "Give the result of a Document AI processor for the same document."),
    Unsupported("a document of Docling 1", ((b'"main-text"',), (b'"page-dimensions"', b'"file-info"')),
     "Convert the document with Docling 2 and save that as JSON."),
    Unsupported("a result of docTR", ((b'"page_idx"',), (b'"dimensions"',), (b'"geometry"',)), AS_TABLE),
    Unsupported("an annotation of FUNSD or XFUND", ((b'"linking"',), (b'"box"',), (b'"words"',)), AS_TABLE),
    Unsupported("a manifest of SageMaker Ground Truth", ((b'"source-ref"',),), AS_TABLE),
    Unsupported("an export of Labelbox", ((b'"data_row"',), (b'"projects"',)), AS_TABLE),
    Unsupported("a result of a Hugging Face pipeline without the name of its page", ((b'"box"',), (b'"xmin"',),
     (b'"score"',)), AS_TABLE),
    Unsupported("the labels of PPOCRLabel, lines of text", ((b'"transcription"',), (b'"points"',), (b'"difficult"',)),
     AS_TABLE),
    Unsupported("an annotation of Supervisely", ((b'"classTitle"',), (b'"exterior"',)), "Export the project as COCO."),
    Unsupported("an annotation of V7 Darwin", ((b'"item"',), (b'"slots"',), (b'"annotations"',)), "Export it as COCO."),
    Unsupported("metadata.csv of a Hugging Face image folder", ((b"file_name,",), (b'""bbox""', b'""bboxes""')),
     "Write it as metadata.jsonl, a line of JSON for each image, which is read."),
    Unsupported(
        "a JSON schema",
        ((b'"$defs"', b'"$schema"', b'"definitions"'), (b'"properties"',)),
        "Give a file that follows it.",
    ),
)  # fmt: skip


SUFFIXES: Final = (".hocr", ".html", ".htm", ".xhtml")
"""Endings that only formats have which are not read."""


def find(head: bytes) -> Unsupported | None:
    """Return the format that the beginning of a file has, of those that are not read; None for none."""
    return next((row for row in UNSUPPORTED_FORMATS if row.detect(head)), None)
