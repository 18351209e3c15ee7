"""Whole sentences of the readers of schema 1.3 and of the writers: place, rule, what was found, and the fix."""

import io
import json
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyarrow import parquet

from evaluator import formats
from evaluator.data.issues import Collector
from evaluator.formats import limits
from evaluator.formats.build import Builder
from evaluator.formats.writers import WRITERS
from tests.broken import snapshot as broken
from tests.building import annotations, box
from tests.formats.test_convert import sized
from tests.reading import OWN, refusal, refused, warned, zipped

SNAPSHOT: Any = formats.FORMATS["snapshot"]


def changed(path: str, value: object) -> bytes:
    """A file of schema 1.3 with one value replaced or added; steps of the path are keys and places."""
    file: Any = json.loads(broken.VALID["prediction"])
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    at = reduce(getitem, steps, file)
    if isinstance(at, list):
        at[last : last + 1] = [value]
    else:
        at[last] = value
    return json.dumps(file).encode()


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("label_map", [], "$.label_map: label_map must be an object of ids and names (schema 1.3); found []. "
         'Write it as {"1": "Figure", "2": "Table"}.'),
        ("label_map", {}, "$.label_map: label_map must not be empty (schema 1.3); found {}. "
         "List the labels to evaluate."),
        ("label_map", {"x": "Figure"}, "$.label_map.x: keys of label_map must be positive integers in quotes (schema "
         '1.3); found "x". Number the labels from 1.'),
        ("label_map", {"1": 5}, '$.label_map["1"]: names in label_map must be text of at least one character (schema '
         "1.3); found 5. Write the name of the label in double quotes."),
        ("info", [], "$.info: info must be an object (schema 1.3); found []. Write it as an object."),
        ("info.extra", 1, "$.info.extra: info has no such key (schema 1.3, additionalProperties); found 1. "
         "Remove it, or move it into model."),
        ("info.run_id", "", "$.info.run_id: run_id must be null or text of at least one character (schema 1.3); found "
         '"". Write the name of the run, or null.'),
        ("info.created_at", 5, "$.info.created_at: created_at must be an ISO 8601 date or time (schema 1.3); found 5. "
         "Write it as 2026-02-22, or remove it."),
        ("info.model", None, "$.info.model: model must be an object with a name (schema 1.3); found null. "
         'Write it as {"name": "..."}.'),
        ("info.model", {}, "$.info.model: name is required here (schema 1.3); found {}. Add the model's name."),
        ("info.model.name", "", "$.info.model.name: name must be text of at least one character (schema 1.3); found "
         '"". Write the model\'s name in double quotes.'),
        ("info.model.version", 5, "$.info.model.version: version must be text or null (schema 1.3); found 5. "
         "Put it in double quotes."),
        ("info.coordinate_system", [], "$.info.coordinate_system: coordinate_system must be an object with type, "
         "range, origin (snapshot 1.3, section 3); found []. Write it as the specification does."),
        ("info.coordinate_system.extra", 1, "$.info.coordinate_system.extra: only type, range, origin are allowed "
         "here (schema 1.3, additionalProperties); found 1. Remove it."),
        ("documents", [], "$.documents: documents must not be empty (schema 1.3); found []. "
         "List every evaluated document."),
        ("predictions.0.objects", {}, "$.predictions[0].objects: objects must be an array (schema 1.3); found {}. "
         "Write [] for a page without objects."),
        ("predictions.0.objects.0.label", "", "$.predictions[0].objects[0].label: label must not be empty (schema "
         '1.3); found "". Write a text of at least one character.'),
        ("predictions.0.objects.0.label", 5, "$.predictions[0].objects[0].label: label must be a string (schema 1.3); "
         "found 5. Write it as text in double quotes."),
    ],
)  # fmt: skip
def test_what_is_refused(path: str, value: object, sentence: str) -> None:
    assert refused(SNAPSHOT, changed(path, value), "p.json") == [f"p.json: {sentence}"]


@pytest.mark.parametrize(
    ("path", "value", "sentences"),
    [
        ("info.created_at", "yesterday", ["$.info.created_at: created_at should be an ISO 8601 date or time (schema "
         '1.3); found "yesterday". Write it as 2026-02-22, or remove it.']),
        ("predictions.1", {"page_id": "b", "doc_id": "a", "page_index": 0, "objects": []}, ["$.predictions[1]: a page "
         'should have one entry (snapshot 1.3 is silent); found "a", page_index 0, also at $.predictions[0]. The '
         "objects of both entries are pooled.",
         "$.predictions[1].page_id: page_id should be spelled the same for the same page (snapshot 1.3 is silent); "
         'found "b" and "a::0". Nothing is lost: pages are distinguished by doc_id and page_index.']),
    ],
)  # fmt: skip
def test_what_is_odd(path: str, value: object, sentences: list[str]) -> None:
    source = formats.read_bytes(changed(path, value), "p.json")
    assert warned(source) == [f"p.json: {sentence}" for sentence in sentences]


IMAGES = "has images, no documents of several pages; found 2 documents with 4 pages. Each page is an image of its own"
ALONE = "Their boxes alone are written."
LOST = {
    "snapshot": [f"schema 1.3 has no outlines; found 1 box with one. {ALONE}"],
    "coco": ["COCO does not name a model; found toy. The name is left out."],
    "yolo": [f"a YOLO outline is one ring of at least three points; found 1 box with another one. {ALONE}",
     "YOLO does not hold the sizes of pages; found 4 pages. Keep the images.",
     f"YOLO {IMAGES}, such as b.png_p0002.png.",
     "YOLO does not name a model; found toy. The name is left out."],
    "cvat": [f"a CVAT polygon is one ring; found 1 box with several. {ALONE}",
     "CVAT has no scores; found 3 boxes with one. The scores are left out.", f"CVAT {IMAGES}, such as b.png_p0002.png.",
     "CVAT does not name a model; found toy. The name is left out."],
    "label-studio": [f"a Label Studio polygon is one ring; found 1 box with several. {ALONE}",
     f"Label Studio {IMAGES}, such as b.png_p0002.png."],
    "page-xml": [f"a PAGE XML outline is one ring; found 1 box with others. {ALONE}",
     f"PAGE XML {IMAGES}, such as b.png_p0002.png.",
     "PAGE XML does not name a model; found toy. The name is left out."],
    "omnidocbench": ["an OmniDocBench outline has four points, and results have none; found 1 box with another one. "
     f"{ALONE}", "OmniDocBench results list boxes, no pages; found 1 page without boxes. They are left out.",
     f"OmniDocBench {IMAGES}, such as b.png_p0002.png.",
     "OmniDocBench does not name a model; found toy. The name is left out."],
    "items": ["items has no outlines; found 1 box with one. Their boxes alone are written.",
     "items does not name a model; found toy. The name is left out."],
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
def test_what_a_target_cannot_hold(name: str) -> None:
    ring = np.array([[0.1, 0.2], [0.3, 0.2], [0.2, 0.4]])
    source = sized()
    source = replace(source, boxes=replace(source.boxes, polygons={0: [ring, ring / 2.0]}))
    said = [issue.sentence for issue in WRITERS[name].convert(source).warnings]
    assert said == [f"prediction.json: {sentence}" for sentence in LOST[name]]


@pytest.mark.parametrize(
    ("score", "sentence"),
    [
        (np.nan, "every prediction must have a score in schema 1.3; found 1 of 3 without. Add the scores, or convert "
         "the file with --as ground_truth."),
        (2.0, "scores must be in [0, 1] in schema 1.3; found 1 outside. Scale them."),
    ],
)  # fmt: skip
def test_scores_that_schema_1_3_cannot_hold(score: float, sentence: str) -> None:
    source = sized()
    source = replace(source, boxes=replace(source.boxes, score=np.array([score, 0.5, 0.5])))
    assert refusal(WRITERS["snapshot"].convert, source) == [f"prediction.json: {sentence}"]


def test_boxes_that_schema_1_3_cannot_hold() -> None:
    source = annotations([box(0.1, 0.1, 1.2, 0.3, score=0.5)])
    assert [issue.sentence for issue in WRITERS["snapshot"].convert(source).warnings] == [
        "prediction.json: boxes must lie on their page and have a width and a height in schema 1.3; found 1 do not. "
        "They are left out."
    ]


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    assert refusal(formats.read, tmp_path / "nothing") == [
        "nothing: the file must be readable; found No such file or directory. Correct the path or its permissions."
    ]
    assert refusal(formats.read, "/dev/null") == [
        "null: the path must be a file or a folder of files; found neither of them. Correct the path."
    ]


def coco(path: str, value: object) -> bytes:
    """A COCO file of one box with one value replaced or added; steps of the path are keys and places."""
    file: Any = {
        "images": [{"id": 1, "width": 9, "height": 9, "file_name": "a.png"}],
        "categories": [{"id": 1, "name": "T"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "area": 4, "iscrowd": 0}],
    }
    list_of, key = path.split(".")
    file[list_of][0][key] = value
    return json.dumps(file).encode()


RESULT = b'[{"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "score": 1}]'
NUMBER = "must be a finite number (COCO format); found"
WHOLE = "must be an integer of 64 bits (COCO format); found"
QUOTES = "Write it as a number, without quotes."


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("annotations.area", "4", f'area {NUMBER} "4". {QUOTES}'),
        ("annotations.category_id", True, f"category_id {WHOLE} true. Write the number of the id without quotes."),
        ("annotations.id", [1], f"id {WHOLE} [1]. Write the number of the id without quotes."),
        ("annotations.score", "0.5", f'score {NUMBER} "0.5". {QUOTES}'),
        ("images.width", "9", f'width {NUMBER} "9". {QUOTES}'),
        ("images.file_name", 5, "file_name must be a string (COCO format); found 5. Put it in quotes."),
        ("images.page_index", "2", f'page_index {WHOLE} "2". Write it without quotes.'),
        ("images.page", [2], f"page {WHOLE} [2]. Write it without quotes."),
        ("images.page_no", [2], f"page_no {WHOLE} [2]. Write it without quotes."),
        ("images.page_index", -1, "page_index must be from 0 to 2147483647; found -1. Correct the page."),
        ("categories.name", "", 'a category must have a name (COCO format); found "". Name it.'),
        ("categories.name", 5, "name must be a string (COCO format); found 5. Put it in quotes."),
    ],
)
def test_what_is_refused_of_coco(path: str, value: object, sentence: str) -> None:
    list_of, key = path.split(".")
    # A category without a usable name, and a score in a ground truth, are said to be more than that.
    assert (
        refused(formats.FORMATS["coco"], coco(path, value), "c.json")[0] == f"c.json: $.{list_of}[0].{key}: {sentence}"
    )


def test_files_of_a_folder_that_do_not_belong_together(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "a.json").write_bytes(coco("images.id", 1))
    (folder / "b.json").write_text(json.dumps([{"type": "text", "bbox": [1, 1, 5, 5], "page_idx": 0}]))
    same = "d: b.json and a.json: files read as one must have the same"
    assert refusal(formats.read, folder) == [
        f'{same} format; found "mineru" and "coco". Give one of them alone with --gt or --pred.',
        f'{same} side; found "prediction" and "ground_truth". Give one of them alone with --gt or --pred.',
        f'{same} unit; found "page" and "pixels". Give one of them alone with --gt or --pred.',
        f'{same} label_map (snapshot 1.3, section 9.2); found {{}} and {{"1":"T"}}. Give all files the same ids and '
        "names.",
    ]


TITLES = {"coco": "COCO", "cvat": "CVAT", "page-xml": "PAGE XML", "omnidocbench": "OmniDocBench"}


@pytest.mark.parametrize("name", TITLES)
def test_what_needs_the_sizes_of_pages(name: str) -> None:
    assert refusal(WRITERS[name].convert, replace(sized(), page_size=None)) == [
        f"prediction.json: {TITLES[name]} needs the width and height of every page; found 4 of 4 pages without, b.png, "
        "page 2 first. Give the PDFs with --pdfs DIR, or one size for all with --page-size WxH."
    ]


def test_what_page_xml_rounds() -> None:
    source = replace(annotations([box(-0.5, 0.1, 0.3, 0.3, score=2.0)]), page_size=np.array([[99.0, 99.0]]))
    assert [issue.sentence for issue in WRITERS["page-xml"].convert(source).warnings] == [
        "prediction.json: PAGE XML coordinates are whole pixels; found 1 box with others. They are rounded.",
        "prediction.json: PAGE XML coordinates are not negative; found 1 box with others. They are written as they "
        "are.",
        "prediction.json: PAGE XML confidences are in [0, 1]; found 1 box with others. The scores are left out.",
        "prediction.json: PAGE XML does not name a model; found toy. The name is left out.",
    ]


def sentences_of(content: bytes, name: str, **given: Any) -> list[str]:
    return refusal(formats.read_bytes, content, name, **given)


def test_files_of_an_archive_that_go_along() -> None:
    alto = (OWN / "alto_4.xml").read_bytes()
    source = formats.read_bytes(zipped(("a.xml", alto), ("mets.xml", b"<mets/>")), "a.zip", side="ground_truth")
    assert warned(source)[0] == (
        'a.zip: files of another kind are left out; found 1: "mets.xml". Nothing to do if they hold no boxes.'
    )


def test_a_format_that_there_is_not() -> None:
    names = ", ".join(formats.of_kind("boxes"))
    assert sentences_of(b"{}", "a.json", format="nonsense") == [
        f'a.json: the format must be one of {names}; found "nonsense". Correct --format.'
    ]


def test_a_folder_without_annotation_files(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"")
    assert refusal(formats.read, tmp_path) == [
        f"{tmp_path.name}: a folder must hold files that end in .json or .xml or .csv or .jsonl or .ndjson or .parquet "
        "or .tsv or .txt or .yaml or .yml; found none. Name the folder of the annotation files."
    ]


def test_files_of_a_folder_by_two_models(tmp_path: Path) -> None:
    for document, model in (("a", "m"), ("b", "n")):
        tree = json.loads(changed("info.model", {"name": model}))
        tree["documents"][0] |= {"doc_id": document}
        tree["predictions"][0] |= {"doc_id": document, "page_id": f"{document}::p000"}
        (tmp_path / f"{document}.json").write_text(json.dumps(tree))
    assert warned(formats.read(tmp_path)) == [
        f'{tmp_path.name}: b.json and a.json: files read as one should come from one model; found ["n",null] and '
        '["m",null]. They are read as one model under the first name.'
    ]


def parquet_of(**columns: object) -> bytes:
    written = io.BytesIO()
    parquet.write_table(pa.table({name: [value] for name, value in columns.items()}), written)
    return written.getvalue()


@pytest.mark.parametrize(
    ("limit", "most", "name", "content", "sentence"),
    [
        ("MAX_FILE_BYTES", 100, "p.json", changed("info.run_id", "r"), "a file may have 100 bytes; found {bytes}. "
         "Split the file."),
        ("MAX_EXACT_BYTES", 100, "p.json", changed("predictions.0.objects.0.bbox", 5), "issues are listed only for "
         "files of up to 100 bytes; found {bytes} bytes. Something in it breaks schema 1.3; split it into several "
         "files in one folder and check that."),
        ("MAX_BOXES", 0, "p.json", changed("info.run_id", "r"), "a file may have 0 boxes; found 1. Split the file."),
        ("MAX_LABELS", 1, "p.json", changed("info.run_id", "r"), "a file may have 1 different labels; found 2. Merge "
         "labels, or put free text into attributes."),
        ("MAX_LABELS", 0, "r.json", RESULT, "$: a file may have 0 labels; found 1. Check category_id."),
        ("MAX_LABELS", 0, "g.json", coco("images.id", 1), "$.categories: a file may have 0 labels; found 1. Remove "
         "those that are not used."),
        ("MAX_BOXES", 0, "a.parquet", parquet_of(label="T", x1=1.0, y1=1.0, x2=2.0, y2=2.0), "a file may have 0 boxes; "
         "found 1. Split the table."),
    ],
)  # fmt: skip
def test_limits(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, *, name: str, content: bytes, sentence: str
) -> None:
    monkeypatch.setattr(limits, limit, most)
    assert sentences_of(content, name) == [f"{name}: {sentence.format(bytes=len(content))}"]


def test_sides_of_pod_that_are_exchanged() -> None:
    region = '<tableRegion{}><Coords points="1,1 9,9"/></tableRegion>'
    truth, prediction = (
        formats.read_bytes(f'<document filename="a.bmp">{region.format(prob)}</document>'.encode(), name)
        for prob, name in (("", "gt.xml"), (' prob="0.5"', "pred.xml"))
    )
    one = "must be one: predictions have a prob, a ground truth has none; found"
    fix = "Exchange the files, or correct the one."
    said = [issue.sentence for issue in formats.pair_issues(prediction, truth)][:2]
    assert said == [
        f"pred.xml: the ground truth {one} a prediction. {fix}",
        f"gt.xml: the prediction {one} a ground truth. {fix}",
    ]


ALTO = (
    '<alto><Layout><Page WIDTH="0" HEIGHT="0"><PrintSpace><TextBlock HPOS="1" VPOS="1" WIDTH="2" HEIGHT="2"/>'
    "</PrintSpace></Page></Layout></alto>"
)
POD = '<document filename="a.bmp"><tableRegion><Coords points="1,1 9,9"/><Note/></tableRegion></document>'


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.xml", ALTO, "line 1, <Page>: WIDTH and HEIGHT should be those of the page (ALTO); found 0 x 0. The page is "
         "read without a size; write that of the image."),
        ("a.xml", POD, "line 1, <Note>: a region has nothing but a <Coords> element (ICDAR 2017 POD); found "
         '"Note". It is left out.'),
        ("d.json", '{"doc_id": "d", "fields": {"a": {"_page": 1, "b": {"_value": "x"}}}}',
         'line 1, $.fields.a: an object with _page should have _value (fields, rich value); found ["_page","b"]. '
         "Without it the object is read as nested fields; add _value (null is allowed)."),
    ],
)  # fmt: skip
def test_what_is_odd_about_small_files(name: str, content: str, sentence: str) -> None:
    row = formats.recognise(content.encode(), name)
    assert f"{name}: {sentence}" in [issue.sentence for issue in row.read(content.encode(), name).issues]


ELEMENT = {"type": "Title", "element_id": "a", "metadata": {"coordinates": {
    "points": [[1, 1], [2, 2]], "layout_width": 5e-324, "layout_height": 5e-324,
}}}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "format", "sentence"),
    [
        ("a.json", b'{"images": [3], "categories": [], "annotations": []}', None,
         "a.json: $.images[0]: an image must be an object with an id (COCO format); found 3. Remove it."),
        ("a.json", b'{"images": [], "categories": [3], "annotations": []}', None,
         "a.json: $.categories[0]: a category must be an object with id and name (COCO format); found 3. Remove it."),
        ("a.json", b'{"children": [{"id": "/page/0/Page/0", "block_type": "Page", "polygon": [], "children": []}]}',
         "marker", "a.json: $.children[0]: bbox is required here (Marker). Add bbox, or polygon."),
        ("a.json", json.dumps([ELEMENT]).encode(), None,
         "a.json: the size of a page must be in the unit of its boxes (unstructured); found 4.94066e-324 x "
         "4.94066e-324. Correct the width and height of the page."),
        ("a.csv", b"document,label,x1,y1,x2,y2,x0,y0\na,T,1,1,2,2,0,0\n", None,
         "a.csv: one set of columns must be the box (table of boxes); found (x1, y1, x2, y2) and (x0, y0, x1, y1). Say "
         'which: --columns "document=file,page_number=p,label=cls,x1=left,y1=top,x2=right,y2=bottom".'),
    ],
)  # fmt: skip
def test_what_is_refused_of_small_files(name: str, content: bytes, format: str | None, sentence: str) -> None:
    assert sentences_of(content, name, format=format)[0] == sentence


def test_results_of_image_ids_that_are_there_twice(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.json").write_bytes(coco("images.file_name", f"{name}.png"))
    truth, results = formats.read(tmp_path), formats.read_bytes(RESULT, "r.json")
    assert refusal(formats.resolve, results, truth) == [
        "r.json: the image ids of all files of a ground truth must differ to be named by a results list; found image "
        f"id 1 twice in {tmp_path.name}. Evaluate the files one by one."
    ]


def test_parquet_that_is_cut_off() -> None:
    with pytest.raises(ValueError, match="footer") as spoilt:
        parquet.ParquetFile(io.BytesIO(b"PAR1 cut off"))
    assert sentences_of(b"PAR1 cut off", "a.parquet") == [
        f'a.parquet: the file must be Parquet (Apache Parquet 2); found "{str(spoilt.value)[:100]}". Write the table '
        "again; the file may be cut off."
    ]


@pytest.mark.parametrize(
    ("limit", "most", "sentence"),
    [
        ("MAX_BOXES", 1, "a folder may have 1 boxes; found 2. Split the folder."),
        ("MAX_FILE_BYTES", 400, "a file, or the files of a folder together, may have 400 bytes; found 503. "
         "Split the input."),
    ],
)  # fmt: skip
def test_limits_of_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, most: int, sentence: str
) -> None:
    for name in "ab":
        (tmp_path / f"{name}.json").write_bytes(coco("images.file_name", f"{name}.png").ljust(503))
    monkeypatch.setattr(limits, limit, most)
    assert refusal(formats.read, tmp_path)[0].partition(": ")[2] == sentence


def test_a_folder_of_posters_that_cannot_be_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(_: Path) -> Any:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "posters").mkdir()
    monkeypatch.setattr(Path, "iterdir", refuse)
    assert refusal(formats.FORMATS["posters"].read_path, tmp_path / "posters")[0] == (
        "posters: the folder must be readable; found Permission denied. Correct the path or its permissions."
    )


def test_what_a_target_cannot_hold_besides() -> None:
    source = replace(sized(), page_size=None)
    crowd = np.array([True, *([False] * (len(source.boxes) - 1))])
    crowded = replace(source, boxes=replace(source.boxes, crowd=crowd))
    said = [issue.sentence for issue in WRITERS["label-studio"].convert(crowded).warnings]
    assert said[0] == (
        "prediction.json: Label Studio regions have the size of their image; found no page sizes. original_width and "
        "original_height are left out."
    )
    assert (
        "prediction.json: Label Studio has no regions of many objects (iscrowd); found 1 box. They become plain boxes."
    ) in said
    ring = np.array([[0.1, 0.2], [0.3, 0.2]])
    thin = replace(sized(), boxes=replace(sized().boxes, polygons={0: [ring]}))
    assert WRITERS["coco"].convert(thin).warnings[0].sentence == (
        "prediction.json: COCO outlines have at least three points; found 1 with fewer. They are left out."
    )


def test_a_box_whose_numbers_are_none() -> None:
    collector = Collector("a.xml", max_per_rule=None)
    builder = Builder(collector, format="voc", source="Pascal VOC")
    builder.box(builder.page("a", "line 1"), "T", (1.0, 1.0, float("nan"), 2.0), "line 2, <object>")
    assert [issue.sentence for issue in collector.issues()] == [
        "a.xml: line 2, <object>: coordinates must be finite numbers (Pascal VOC); found NaN. Correct the region."
    ]
