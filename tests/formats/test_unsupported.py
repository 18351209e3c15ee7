"""Formats that are recognised and not read: what they are called, and what to export instead."""

import json
from pathlib import Path

import pytest

from evaluator import formats
from evaluator.formats import unsupported
from tests.reading import needs_shared, real, refusal

FIFTYONE = {"samples": [{"filepath": "a.png", "gt": {"_cls": "Detections", "detections": []}}]}
LAYOUT_PARSER = {"page_data": {}, "blocks": [{"block_type": "rectangle", "x_1": 1, "y_1": 2, "x_2": 3, "y_2": 4}]}
LABELME = {"version": "5.4", "shapes": [{"label": "a", "points": [[1, 1], [2, 2]], "shape_type": "rectangle"}]}
VIA = {"a.png1": {"filename": "a.png", "regions": [{"shape_attributes": {"name": "rect"}, "region_attributes": {}}]}}
DATUMARO = {"info": {}, "categories": {"label": {}}, "items": [{"id": "a", "annotations": [{"label_id": 0}]}]}
CREATE_ML = [{"image": "a.png", "annotations": [{"label": "a", "coordinates": {"x": 1, "y": 1}}]}]
VISION = {"responses": [{"fullTextAnnotation": {"pages": [{"blocks": [{"boundingBox": {}}]}]}}]}
BLOCKS = [{"boundingBox": {"normalizedVertices": [{"x": 0.1}]}}]
VISION_OF_PDF = {
    "inputConfig": {"mimeType": "application/pdf"},
    "responses": [{"fullTextAnnotation": {"pages": [{"width": 9, "height": 9, "blocks": BLOCKS}], "text": "x"}}],
}
VISION_OBJECTS = {"responses": [{"localizedObjectAnnotations": [{"boundingPoly": {"normalizedVertices": []}}]}]}
VISION_OF_PYTHON = {"full_text_annotation": {"pages": []}, "text_annotations": [{"bounding_poly": {}}], "mime_type": 1}
VISION_SENTENCE = (
    "this is an answer of Google Cloud Vision, which is not read. Give the result of a Document AI processor for the "
    "same document."
)
HOCR = '<!DOCTYPE html PUBLIC "-//W3C//DTD"><html><body><div class="ocr_page" title="bbox 0 0 9 9"/></body></html>'


AS_TABLE = "Write a table with a row for each box, of the columns document, label, x1, y1, x2 and y2, which is read."
BOX = {"geometry": [[0.1, 0.1], [0.5, 0.2]], "lines": []}
OTHERS: dict[str, tuple[object, str]] = {
    "a result of docTR": ({"pages": [{"page_idx": 0, "dimensions": [9, 9], "blocks": [BOX]}]}, AS_TABLE),
    "an annotation of FUNSD or XFUND": ({"form": [{"box": [1, 2, 3, 4], "words": [], "linking": []}]}, AS_TABLE),
    "a manifest of SageMaker Ground Truth": ({"source-ref": "s3://b/a.png", "l": {"annotations": []}}, AS_TABLE),
    "an export of Labelbox": ({"data_row": {"id": "x"}, "projects": {}}, AS_TABLE),
    "a result of a Hugging Face pipeline without the name of its page": (
        [{"score": 0.9, "label": "T", "box": {"xmin": 1, "ymin": 2, "xmax": 3, "ymax": 4}}], AS_TABLE),
    "the labels of PPOCRLabel, lines of text": (
        'a.jpg\t[{"transcription": "x", "points": [[1, 2]], "difficult": false}]', AS_TABLE),
    "an annotation of Supervisely": (
        {"objects": [{"classTitle": "T", "points": {"exterior": [[1, 2], [3, 4]]}}]}, "Export the project as COCO."),
    "an annotation of V7 Darwin": ({"item": {"name": "a", "slots": []}, "annotations": []}, "Export it as COCO."),
    "metadata.csv of a Hugging Face image folder": (
        'file_name,objects\na.png,"{""bbox"": [[1, 2, 3, 4]]}"',
        "Write it as metadata.jsonl, a line of JSON for each image, which is read."),
}  # fmt: skip


@pytest.mark.parametrize("title", OTHERS)
def test_others_are_named_with_the_way_out(title: str) -> None:
    content, instead = OTHERS[title]
    text = content if isinstance(content, str) else json.dumps(content)
    name = "a.csv" if text.startswith("file_name") else "a.txt" if text.startswith("a.jpg") else "a.json"
    assert refused(text, name) == f"{name}: this is {title}, which is not read. {instead}"


def refused(content: str, name: str) -> str:
    return "\n".join(refusal(formats.read_bytes, content.encode(), name))


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (HOCR, "a.hocr", 'this is hOCR, which is not read. Export ALTO instead, as "tesseract IMAGE OUT alto" does.'),
        (HOCR, "a.xml", 'this is hOCR, which is not read. Export ALTO instead, as "tesseract IMAGE OUT alto" does.'),
        (json.dumps(FIFTYONE), "samples.json", "this is a FiftyOne dataset, which is not read. Export it with "
         "dataset_type=fiftyone.types.COCODetectionDataset."),
        (json.dumps(LAYOUT_PARSER), "a.json", "this is a LayoutParser layout, which is not read. Save it as CSV, "
         'layout.to_dataframe().to_csv("boxes.csv"), which is read.'),
        (json.dumps(LABELME), "a.json", "this is a LabelMe file, which is not read. Export it as COCO or Pascal VOC, "
         "as labelme2coco.py and labelme2voc.py of its examples do."),
        ('{"document": "a.pdf", "labels": [{"label": "T", "value": [{"page": 1, "boundingBoxes": [[0, 0]]}]}]}',
         "l.json", "this is a labels file of Azure Document Intelligence, words of form fields, which is not read. "
         "Give the result of prebuilt-layout for the same document."),
        (json.dumps(VIA), "a.json", "this is a project or export of VGG Image Annotator, which is not read. Export it "
         "as COCO (Annotation, Export Annotations, COCO format)."),
        (json.dumps(DATUMARO), "a.json", "this is a Datumaro dataset, which is not read. Export it with "
         '"datum convert -f coco_instances" or -f voc.'),
        (json.dumps(CREATE_ML), "a.json", "this is a Create ML file, which is not read. Write its annotations as "
         "COCO, bbox as [x - width / 2, y - height / 2, width, height]."),
        (json.dumps(VISION), "a.json", VISION_SENTENCE),
        (json.dumps(VISION_OF_PDF), "output-1-to-2.json", VISION_SENTENCE),
        (json.dumps(VISION_OBJECTS), "a.json", VISION_SENTENCE),
        (json.dumps(VISION_OF_PYTHON), "a.json", VISION_SENTENCE),
        ('{"_name": "", "file-info": {}, "main-text": [], "page-dimensions": []}', "a.json", "this is a document of "
         "Docling 1, which is not read. Convert the document with Docling 2 and save that as JSON."),
        ('{"DocumentMetadata": {}, "ExpenseDocuments": [{"Blocks": [{"BlockType": "PAGE"}]}]}', "a.json", "this is a "
         "form of AnalyzeExpense or AnalyzeID of AWS Textract, which is not read. It has fields and no layout; call "
         "AnalyzeDocument with the feature LAYOUT for the same document."),
        ('{"JobStatus": "SUCCEEDED", "ExpenseDocuments": [{"SummaryFields": []}]}', "a.json", "this is a "
         "form of AnalyzeExpense or AnalyzeID of AWS Textract, which is not read. It has fields and no layout; call "
         "AnalyzeDocument with the feature LAYOUT for the same document."),
        ('{"JobStatus": "SUCCEEDED", "Results": [{"Extractions": [{"ExpenseDocument": {}}]}]}', "a.json", "this is a "
         "form of AnalyzeExpense or AnalyzeID of AWS Textract, which is not read. It has fields and no layout; call "
         "AnalyzeDocument with the feature LAYOUT for the same document."),
        ('{"dt_polys": [], "rec_texts": [], "rec_boxes": []}', "a.json", "this is a result of PaddleOCR with lines of "
         "text and no regions, which is not read. Run PP-StructureV3 or a PP-DocLayout model on the same page."),
        ('{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"info": {}, '
         '"documents": {}, "predictions": {}}}', "a.json", "this is a JSON Schema, which is not read. Give the files "
         "that it describes; how fields are compared is said by --schema."),
        ('{"a": [{"bboxes": [], "image_bbox": [0, 0, 9, 9], "page": 1}]}', "a.json", "this is a layout of Surya, which "
         "is not read. Convert the document with Marker and --output_format json."),
        ('{"status": "Succeeded", "result": {"analyzerId": "a", "contents": []}}', "a.json", "this is a result of "
         "Azure Content Understanding, which is not read. Run prebuilt-layout of Document Intelligence on the same "
         "document."),
        ('{"status": "running", "createdDateTime": "2026-01-01"}', "a.json", "this is an answer of Azure Document "
         "Intelligence without a result, which is not read. Ask for the result again when the analysis has succeeded."),
        ('{"JobStatus": "FAILED", "StatusMessage": "x"}', "a.json", "this is an answer of AWS Textract without blocks, "
         "which is not read. Ask for the result again when the job has succeeded."),
        ("schema_name: DoclingDocument", "a.yaml", "this is a document of Docling in DocTags or YAML, which is not "
         "read. Save it as JSON, as document.save_as_json does."),
        ("image,id,label,annotator,annotation_id,created_at,lead_time", "a.csv", "this is a CSV export of Label "
         "Studio, which is not read. Export the project as JSON."),
        ('{"table_of_contents": [], "page_stats": [{"page_id": 0}]}', "a_meta.json", "this is the metadata of a Marker "
         "run, which is not read. Convert the document with --output_format json and give that file."),
        ('{"backend": "vlm", "results": {"a": {"middle_json": "{}"}}}', "a.json", "this is an answer of a MinerU "
         "server "
         "with files in it, which is not read. Save the text of middle_json, or of content_list, as a file."),
        ('[{"name": "a", "class": 0, "confidence": 0.9, "box": {"x1": 1, "y1": 1, "x2": 2, "y2": 2}}]', "a.json",
         "this is a result of Ultralytics without the name of its page, which is not read. Save labels instead, as "
         "save_txt=True and save_conf=True do."),
        ('{"predictions": [{"x": 3, "y": 1, "confidence": 1, "class": "a"}], "image": {"width": 9}}', "a.json",
         "this is an answer of Roboflow without the name of its page, which is not read. Write its boxes with the "
         "JSONSink or CSVSink of supervision, which are read."),
        ('{"status": "Succeeded", "recognitionResults": [{"page": 1, "lines": []}]}', "a.json", "this is a result of "
         "Azure Computer Vision, which is not read. Run prebuilt-layout of Document Intelligence on the same "
         "document."),
        ('{"metadata": {"page_hash": "a"}, "cells": []}', "a.json", "this is the cells of text of a DocLayNet page, "
         "which "
         "is not read. Give the COCO file of the data set."),
        ('<document xmlns="http://www.abbyy.com/FineReader_xml/FineReader10-schema-v1.xml"><page><block '
         'blockType="Text"/>'
         "</page></document>", "a.xml", "this is ABBYY FineReader XML, which is not read. Export ALTO instead."),
        ('<mets:mets xmlns:mets="http://www.loc.gov/METS/"/>', "mets.xml", "this is a METS list of files, which is not "
         "read. Give the ALTO or PAGE XML files that it lists."),
        ('<TEI xmlns="http://www.tei-c.org/ns/1.0"/>', "a.xml", "this is TEI XML, which is not read. Give PAGE XML "
         "or ALTO "
         "of the same pages."),
        ("%PDF-1.7", "a.json", "this is a PDF, which is not read. Give the annotations of its pages, and the PDF with "
         "--pdfs."),
        ("BZh9", "a.json.bz2", "this is a compressed file, which is not read. Unpack it, or give a zip archive."),
        ("/d/p.png,1,2,3,4,Text", "a.csv", 'the first line of a table must name its columns; found "/d/p.png", "1", '
         '"2", "3", "4", "Text". Write for example document,label,x1,y1,x2,y2.'),
        ('{"a": 1}\n{"a": 2}', "a.json", "line 2, column 1: the text must be well-formed JSON (RFC 8259); found a "
         'further value: "{\\"a\\": 2}". Put the values in one array, with commas between them.'),
    ],
)  # fmt: skip
def test_sentences(content: str, name: str, sentence: str) -> None:
    assert refused(content, name) == f"{name}: {sentence}"


@pytest.mark.parametrize("head", [b"\x80\4\x95\0", b"\x93NUMPY\1\0"])
def test_pickles_and_arrays_are_named(head: bytes) -> None:
    said = f"a.bin: this is a file of Python objects or NumPy arrays, which is not read. {AS_TABLE}"
    assert refusal(formats.read_bytes, head, "a.bin") == [said]


def test_other_files_have_no_such_name() -> None:
    assert unsupported.find(b"") is None
    assert unsupported.find(b'{"images": [], "annotations": []}') is None
    assert refused('{"page_data": {}}', "a.json").startswith("a.json: the content must be of a known format")


@needs_shared
@pytest.mark.parametrize("name", ["tess.hocr", "sample.html"])
def test_real_files(name: str) -> None:
    path: Path = real("formats", "hocr", name)
    assert refused(path.read_text(encoding="utf-8"), name) == (
        f'{name}: this is hOCR, which is not read. Export ALTO instead, as "tesseract IMAGE OUT alto" does.'
    )
