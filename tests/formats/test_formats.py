"""The table of formats: one object for each, known by name to nobody else."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from evaluator import formats
from evaluator.data.issues import BadInput, Collector
from evaluator.formats import detect, limits, registry, search
from evaluator.formats.base import FileGroup, Reading
from evaluator.formats.build import Builder
from evaluator.formats.coco import Coco
from evaluator.project import evaluate
from tests.building import Box, annotations, box, snapshot_file
from tests.reading import needs_shared, real, refusal, refusal_issues, zipped
from tests.toys.lines import Lines

ORACLES = Path(__file__).resolve().parents[1] / "oracles"
TRUTH = "# boxes ground_truth\na.pdf 0 Table 0.1 0.1 0.5 0.5\na.pdf 2 Figure 0.2 0.2 0.4 0.4\n"
PREDICTION = "# boxes prediction\na.pdf 0 Table 0.1 0.1 0.5 0.5 0.9\n"
INSTANCES = {
    "images": [{"id": 1, "file_name": "a.png", "width": 100, "height": 100}],
    "categories": [{"id": 1, "name": "Table"}],
    "annotations": [
        {"id": 9, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5]},
        {"id": 8, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5], "segmentation": [[0, 0, 9, 9, 9, 0, 0, 9]]},
    ],
}
RESULTS = [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5], "score": 0.5}]
CROSSED = [{**RESULTS[0], "segmentation": [[0, 0, 9, 9, 9, 0, 0, 9]]}]
POD = '<document filename="a.png">\n<tableRegion><Coords points="1,1 5,5"/></tableRegion>\n</document>'
CVAT = """<annotations>
<image id="0" name="a.png" width="9" height="9">
<polygon label="T" points="0,0;9,9;9,0;0,9"/>
</image></annotations>"""


def encoded(value: object) -> bytes:
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


def written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded(value))
    return path


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_format_describes_itself(name: str) -> None:
    row = formats.FORMATS[name]
    assert (row.name, row.kind in formats.KINDS) == (name, True)
    assert all((row.title, row.looks_for))
    # Markdown is read as a folder, never by the ending of a file.
    assert bool(row.suffixes) == (name != "markdown")
    assert all(suffix.startswith(".") for suffix in row.suffixes)
    assert not row.detect(b"")


def test_the_formats_of_each_kind() -> None:
    assert [list(formats.of_kind(kind)) for kind in formats.KINDS] == [
        ["snapshot", "pod", "ctdar", "coco", "cvat", "page-xml", "alto", "voc", "label-studio", "omnidocbench", "yolo",
         "docling", "mineru", "paddle", "marker", "azure", "textract", "documentai", "unstructured", "supervision",
         "table", "image-folder", "items", "markdown"],
        ["fields"], ["posters"],
    ]  # fmt: skip
    assert formats.suffixes() == {
        ".json", ".jsonl", ".ndjson", ".xml", ".csv", ".tsv", ".parquet", ".txt", ".yaml", ".yml",
    }  # fmt: skip


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="there is a format coco already"):
        formats.register(Coco())


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (snapshot_file([box(0, 0, 1, 1)]), "a.json", "snapshot"),
        (snapshot_file([box(0, 0, 1, 1)]), "a", "snapshot"),
        (snapshot_file([box(0, 0, 1, 1)]), "a.jsonl", None),
        (INSTANCES, "a.json", "coco"),
        (RESULTS, "a.json", "coco"),
        (POD, "a.xml", "pod"),
        (POD, "a.json", None),
        (CVAT, "a.xml", "cvat"),
        ({"total": {"_value": 1}}, "a.json", "fields"),
        ({"doc_id": "a", "fields": {}}, "a.jsonl", "fields"),
        ({"posterContent": {"sections": []}}, "a.json", "posters"),
        # Boxes go before fields, and these before posters: a more particular kind is meant.
        ({**INSTANCES, "_value": 1}, "a.json", "coco"),
        ({"posterContent": {"_value": 1}}, "a.json", "fields"),
        ({"images": [], "annotations": [], "documents": [], "predictions": []}, "a.json", None),
        ({}, "a.json", None),
    ],
)
def test_a_file_is_recognised_among_all_kinds(content: object, name: str, expected: str | None) -> None:
    row = formats.recognise(encoded(content), name)
    assert (row and row.name) == expected


def test_the_order_of_the_table_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (registry, detect):
        monkeypatch.setattr(module, "FORMATS", dict(reversed([*formats.FORMATS.items()])))
    test_a_file_is_recognised_among_all_kinds({"posterContent": {"_value": 1}}, "a.json", "fields")
    assert refusal(
        formats.read_bytes, encoded({"images": [], "annotations": [], "documents": [], "predictions": []}), "a.json"
    ) == [
        "a.json: the format must be clear from the content; found signs of coco (COCO instances or results (JSON)) and "
        "snapshot (Document Snapshot Detection, schema 1.3 (JSON)). Name one with --format coco or --format snapshot."
    ]


def test_a_new_format_is_read_as_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, prediction = written(tmp_path / "gt.boxes", TRUTH), written(tmp_path / "p.boxes", PREDICTION)
    with monkeypatch.context() as patch:
        patch.setitem(formats.FORMATS, "lines", Lines())
        assert formats.read(truth).format == "lines"
        assert formats.side_of(truth) == "ground_truth"
        source = formats.read(prediction)
        assert (source.format, source.side, source.labels) == ("lines", "prediction", ("Table",))
        assert Lines().place(formats.read(truth), 1) == "line 3"
        assert formats.pair_issues(formats.read(truth), source) == ()
        assert formats.resolve(source, formats.read(truth)) is source
    with pytest.raises(BadInput, match="known format"):
        formats.read(prediction)


def test_a_folder_of_a_new_format_is_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "1.boxes", PREDICTION)
    written(tmp_path / "2.boxes", PREDICTION.replace("a.pdf", "b.pdf"))
    monkeypatch.setitem(formats.FORMATS, "lines", Lines())
    source = formats.read(tmp_path)
    assert formats.FORMATS["lines"].read_path(tmp_path).sha256 == source.sha256
    assert [part.name for part in source.parts] == ["1.boxes", "2.boxes"]
    assert [Lines().place(source, row) for row in range(2)] == ["1.boxes: line 2", "2.boxes: line 2"]


NAMED = "f.json: the file must be of the format that was named"
DOCLING = b'{"schema_name": "DoclingDocument", "version": "1.3.0", "name": "d", "pages": {}, "texts": []}'


@pytest.mark.parametrize(
    ("format", "content", "sentence"),
    [
        ("documentai", DOCLING, f"{NAMED}; found DoclingDocument (JSON), not Google Document AI document (JSON). Read "
         "it with --format docling, or leave --format out."),
        ("alto", encoded(INSTANCES), f"{NAMED}; found COCO instances or results (JSON), not ALTO XML, versions 1 to 4. "
         "Read it with --format coco, or leave --format out."),
        ("azure", b'{"a": 1}', f"{NAMED}; Azure Document Intelligence result (JSON) has analyzeResult, "
         "boundingRegions with pageNumber, or modelId with stringIndexType; found nothing of that. Correct --format, "
         "or leave it out."),
        ("azure", b'{"$schema": "x", "properties": {}}', "f.json: this is a JSON schema, which is not read. Give a "
         "file that follows it."),
    ],
)  # fmt: skip
def test_a_named_format_that_the_file_does_not_have(format: str, content: bytes, sentence: str) -> None:
    assert refusal(formats.read_bytes, content, "f.json", format=format) == [sentence]


def test_a_named_format_holds_where_it_finds_boxes() -> None:
    table = b"x_min,y_min,x_max,y_max,class_id,confidence,tracker_id,label\n1,2,3,4,0,0.5,,a\n"
    assert formats.read_bytes(table, "f.csv").format == "supervision"
    assert len(formats.read_bytes(table, "f.csv", format="table").boxes) == 1


@needs_shared
def test_real_files_read_as_every_other_format_say_what_they_are() -> None:
    tried: set[str] = set()
    # The smallest of each format: the sentence is made of names.
    for path in sorted(real("formats").glob("*/*"), key=lambda each: each.stat().st_size):
        content = path.read_bytes()
        own = None if path.name == "SOURCES.txt" else formats.recognise(content, path.name)
        if own is None or own.name in tried or len(content) > 1_000_000:
            continue
        tried.add(own.name)
        for name in formats.of_kind("boxes"):
            if name == own.name or (name, own.name) == ("table", "supervision"):
                continue
            rule = "the file must be of the format that was named"
            assert refusal(formats.read_bytes, content, path.name, format=name) == [
                f"{path.name}: {rule}; found {own.title}, not {formats.FORMATS[name].title}. Read it with --format "
                f"{own.name}, or leave --format out."
            ]
    assert len(tried) > 10


@pytest.mark.parametrize(
    ("files", "row", "expected"),
    [
        ([snapshot_file([box(0, 0, 1, 1), box(0, 0, 1, 1, id="b"), box(0, 0, 1, 1, page=1)])], 1,
         "$.predictions[0].objects[1]"),
        ([snapshot_file([box(0, 0, 1, 1)]), snapshot_file([box(0, 0, 1, 1, document="b.pdf")])], 1,
         "1.json: $.predictions[0].objects[0]"),
        ([INSTANCES], 1, "$.annotations[1]"),
        ([RESULTS], 0, "$[0]"),
        ([POD], 0, "line 2"),
        ([CVAT], 0, "line 3"),
    ],
)  # fmt: skip
def test_a_box_has_a_place_in_its_file(files: list[object], row: int, expected: str) -> None:
    held = [(f"{place}.json", encoded(value)) for place, value in enumerate(files)]
    name = formats.detect_bytes(held[0][1], "f")
    source = formats.of_kind("boxes")[name].read_files(held, "folder")
    assert formats.FORMATS[source.format].place(source, row) == expected


def test_made_boxes_stay_as_they_are() -> None:
    made = annotations([Box("a.pdf", 0, "Table", (0, 0, 1, 1), id="seven")])
    object.__setattr__(made, "format", "made")
    assert formats.FORMATS["textract"].write(made) is None
    assert formats.resolve(made, made) is made


def test_an_outline_has_the_place_of_its_format() -> None:
    truth = formats.read_bytes(encoded(INSTANCES), "gt.json")
    results = formats.read_bytes(encoded(CROSSED), "dt.json")
    rule = "a polygon must not cross or touch itself (OGC simple features 1.2.1, section 6.1.11)"
    for source, place in (
        (truth, "gt.json: $.annotations[1].segmentation"),
        (results, "dt.json: $[0].segmentation"),
        # A results list stays one when it has the pages and labels of its ground truth.
        (formats.resolve(results, truth), "dt.json: $[0].segmentation"),
        (formats.read_bytes(encoded(CVAT), "c.xml"), "c.xml: line 3"),
    ):
        (issue,) = formats.outline_issues(source)
        assert issue.sentence.startswith(f"{place}: {rule}; found Self-intersection")


def test_the_rules_of_a_pair_are_those_of_the_common_format() -> None:
    truth, prediction = (annotations([], side=side, documents=["a.pdf"]) for side in ("ground_truth", "prediction"))
    assert formats.pair_issues(truth, prediction) == ()
    assert [issue.place for issue in formats.pair_issues(prediction, truth)] == ["$.info.type", "$.info.type"]
    pod = formats.read_bytes(encoded(POD), "a.xml")
    assert formats.pair_issues(truth, pod) == ()
    one, other = formats.FORMATS["pod"].read_files([("a.xml", encoded(POD))], "a"), pod
    assert [issue.severity for issue in formats.pair_issues(one, other)] == ["error"]


def test_fields_and_posters_are_read_and_paired_like_boxes(tmp_path: Path) -> None:
    fields, posters = formats.FORMATS["fields"], formats.FORMATS["posters"]
    written(tmp_path / "a.json", {"total": {"_value": 1}})
    read = fields.read_path(tmp_path, Reading(side="prediction"))
    assert (read.format, read.side, list(read.documents)) == ("fields", "prediction", ["a"])
    assert [issue.rule for issue in formats.pair_issues(read, read)] == [
        "mAP over one document is a quick check: a handful of fields means little (fields, single document)"
    ]
    held = [("one_extracted.json", b'{"posterContent": {}}'), ("two_extracted.json", b"{")]
    both = posters.read_files(held, "several")
    assert (both.name, both.format, list(both.posters), list(both.broken)) == ("several", "posters", ["one"], ["two"])
    sides = [("one_extracted.json", b'{"posterContent": {}}'), ("one_reference.json", b'{"posterContent": {}}')]
    chosen = posters.read_files(sides, "several", Reading(side="ground_truth"))
    assert [poster.file for poster in chosen.posters.values()] == ["one_reference.json"]
    assert list(posters.read(sides[0][1], "reference.json").posters) == ["reference"]
    assert posters.read(held[0][1], held[0][0]).sha256 == both.posters["one"].sha256
    assert formats.pair_issues(both, both) == ()


def test_the_units_of_a_folder(tmp_path: Path) -> None:
    boxes = written(tmp_path / "p.json", snapshot_file([box(0, 0, 1, 1, score=0.5)]))
    written(tmp_path / "fields" / "gt" / "a.json", {"total": {"_value": 1}})
    written(tmp_path / "fields" / "gt" / "plain.json", {"total": 1})
    written(tmp_path / "fields" / "one" / "a.json", {"total": {"_value": 1, "_confidence": 0.5}})
    written(tmp_path / "fields" / "two" / "a.json", {"total": {"_value": 1}})
    lines = written(tmp_path / "fields" / "lines.jsonl", {"doc_id": "a", "fields": {}})
    written(tmp_path / "posters" / "x_reference.json", {"posterContent": {}})
    written(tmp_path / "posters" / "y_extracted.json", {"posterContent": {}})
    unknown = written(tmp_path / "z" / "package.json", {"name": "x"})
    written(tmp_path / ".hidden" / "p.json", RESULTS)
    written(tmp_path / "notes.txt", "x")
    xml = written(tmp_path / "z" / "none.xml", '<document filename="a.png"></document>')
    units = search.file_groups(search.walk([tmp_path]), [tmp_path])
    assert units.groups == [
        FileGroup(path=boxes, format="snapshot", sides=frozenset({"prediction"})),
        FileGroup(path=lines, format="fields", sides=frozenset(), unscored=True),
        FileGroup(path=tmp_path / "fields" / "gt", format="fields", sides=frozenset({"ground_truth"})),
        FileGroup(path=tmp_path / "fields" / "one", format="fields", sides=frozenset()),
        FileGroup(path=tmp_path / "fields" / "two", format="fields", sides=frozenset(), unscored=True),
        FileGroup(path=tmp_path / "posters", format="posters", sides=frozenset({"ground_truth", "prediction"})),
    ]
    assert units.unknown == [xml, unknown]


def test_a_named_file_is_a_unit_of_its_own(tmp_path: Path) -> None:
    one = written(tmp_path / "a.json", {"total": {"_value": 1}})
    poster = written(tmp_path / "p" / "p.json", {"posterContent": {}})
    assert [unit.path for unit in search.file_groups([one, poster], [one, poster]).groups] == [one, poster]
    assert [unit.path for unit in search.file_groups([one, poster]).groups] == [tmp_path, tmp_path]


def test_the_format_of_a_path(tmp_path: Path) -> None:
    assert search.format_at(tmp_path) is None
    written(tmp_path / "a" / "x.json", {})
    written(tmp_path / "b" / "x.json", {"posterContent": {}})
    assert search.format_at(tmp_path) is formats.FORMATS["posters"]
    assert search.format_at(written(tmp_path / "x.json", RESULTS)) is formats.FORMATS["coco"]


def test_of_a_large_file_no_more_is_read_than_shows_its_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", 10)
    assert search.format_at(written(tmp_path / "x.json", RESULTS)) is formats.FORMATS["coco"]


def test_pixels_become_shares_of_the_page() -> None:
    builder = Builder(Collector("a.json", max_per_rule=None), format="lines", source="made")
    page = builder.image("scans/a.png", "$[0]", size=(200, 100))
    builder.box(page, "Table", (20, 10, 100, 50), "$[0].a", score=0.5, rings=[np.array([[20.0, 10.0], [100.0, 50.0]])])
    source = builder.annotations("", Reading(), normalise=True)
    assert (source.unit, source.side, source.documents[0].doc_id) == ("page", "prediction", "a")
    assert source.boxes.xyxy.tolist() == [[0.1, 0.1, 0.5, 0.5]]
    assert source.boxes.polygons[0][0].tolist() == [[0.1, 0.1], [0.5, 0.5]]
    assert source.page_size.tolist() == [[200, 100]]


def packed(path: Path, files: dict[str, object]) -> Path:
    path.write_bytes(zipped(*((name, encoded(value)) for name, value in files.items())))
    return path


VOC = (
    "<annotation><filename>{}.jpg</filename><object><name>T</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax>"
    "<ymax>5</ymax></bndbox></object></annotation>"
)


def test_an_archive_is_read_like_a_folder(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {"gt.json": INSTANCES})
    for source in (formats.read(path), formats.read_bytes(path.read_bytes(), "a.zip")):
        assert (source.format, len(source.boxes)) == ("coco", 2)


def test_an_archive_of_no_known_file_names_it(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {"notes.json": '{"foo": 1}', "page.png": "x"})
    (issue,) = refusal_issues(formats.read, path)
    assert (issue.file, issue.found) == ("a.zip/notes.json", 'a JSON object with "foo"')


def test_what_is_wrong_with_an_archive_is_said_whatever_it_holds(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {"gt.json": "{}", "../gt2.json": "{}"})
    (issue,) = refusal_issues(formats.read, path)
    assert (issue.place, issue.found) == ('"../gt2.json"', '".."')


DETECTIONS = "x_min,y_min,x_max,y_max,class_id,confidence,tracker_id,class_name,image\n1,1,5,5,0,0.5,,T,{}\n"


def test_files_of_a_folder_with_several_endings_are_one_side(tmp_path: Path) -> None:
    row = dict(zip(*(line.split(",") for line in DETECTIONS.format("a.png").splitlines()), strict=True))
    (tmp_path / "a.json").write_text(json.dumps([row]))
    (tmp_path / "b.csv").write_text(DETECTIONS.format("b.png"))
    (tmp_path / "metrics.csv").write_text("epoch,loss\n1,0.5\n")
    (tmp_path / "README.txt").write_text("Made by hand.")
    read = formats.read(tmp_path)
    assert [part.name for part in read.parts] == ["a.json", "b.csv"]
    assert [document.doc_id for document in read.documents] == ["a", "b"]
    assert [issue.sentence for issue in read.issues] == [
        f'{tmp_path.name}: files of no known format are left out; found 1: "metrics.csv". '
        "Nothing to do if they hold no boxes."
    ]
    assert formats.files_of(tmp_path) == [tmp_path / "a.json", tmp_path / "b.csv"]


def test_files_below_a_folder_that_is_read_are_named(tmp_path: Path) -> None:
    for file in ("a.xml", "more/b.xml", "more/pages/c.xml"):
        written(tmp_path / file, VOC.format(Path(file).stem))
    written(tmp_path / "more" / "notes.json", "{}")
    # To open a pipe would wait for ever.
    os.mkfifo(tmp_path / "more" / "pipe.xml")
    read = formats.read(tmp_path)
    assert len(read.boxes) == 1
    assert [issue.sentence for issue in read.issues] == [
        f'{tmp_path.name}: only the files of a folder itself are read; found more below it: 2: "more/b.xml", '
        '"more/pages/c.xml". Move them into the folder if they belong to it.'
    ]


def test_fields_and_posters_are_not_read_from_files_of_other_kinds(tmp_path: Path) -> None:
    boxes = written(tmp_path / "boxes.json", INSTANCES)
    fields, plain = (written(tmp_path / f"{name}.json", {"total": value}) for name, value in (
        ("fields", {"_value": "3"}), ("plain", "3"),
    ))  # fmt: skip
    rule = "the file must hold structured texts of posters (JSON); found"
    for file, sentence in (
        (boxes, f"{rule} COCO instances or results (JSON). Evaluate it under a protocol of boxes."),
        (fields, f"{rule} extracted fields (JSON, or JSON lines). Evaluate it under a protocol of fields."),
    ):
        issues = refusal_issues(evaluate, "posters", file, [file])
        assert [issue.sentence for issue in issues if issue.severity == "error"] == [f"{file.name}: {sentence}"]
    with pytest.raises(BadInput, match="must hold extracted fields"):
        evaluate("fields", boxes, [boxes])
    assert all(evaluate("fields", file, [file]) for file in (fields, plain))
    assert evaluate("posters", plain, [plain])


def test_a_page_that_no_document_has_is_said_whatever_the_format() -> None:
    rows = "document,page_index,label,x1,y1,x2,y2,score\na.pdf,1000000000,Table,1,1,4,4,0.5\n"
    read = formats.read_bytes(rows.encode(), "a.csv")
    assert [issue.sentence for issue in read.issues if "can have" in issue.rule] == [
        "a.csv: a, page 1000000001: a page should be one that a document can have; none has 100,000 pages; "
        "found page 1000000001. Check how the pages are counted."
    ]


def test_a_page_with_too_many_boxes_is_refused_in_a_format_without_a_limit_of_its_own() -> None:
    item = INSTANCES["annotations"][0]
    value = {**INSTANCES, "annotations": [{**item, "id": number} for number in range(1, 10_002)]}
    with pytest.raises(BadInput) as refused:
        formats.read_bytes(encoded(value), "gt.json")
    (issue,) = (issue for issue in refused.value.issues if issue.severity == "error")
    assert issue.sentence == (
        "gt.json: a, page 1: a page may have 10,000 boxes; found 10,001. Split the page, or remove boxes."
    )


def test_a_folder_of_folders_names_those_that_are_meant(tmp_path: Path) -> None:
    written(tmp_path / "export" / "Annotations" / "a.xml", VOC.format("a"))
    assert len(formats.read(tmp_path / "export").documents) == 1
    written(tmp_path / "export" / "gt" / "b.xml", VOC.format("b"))
    written(tmp_path / "export" / "labelmap.txt", "# label:color_rgb:parts:actions\nT:1,2,3::\n")
    assert refusal(formats.read, tmp_path / "export") == [
        'export: a folder must hold its annotation files itself; found none, and some in 2: "Annotations", "gt". Name '
        "the folder of the annotation files, or a zip archive of all of them."
    ]


def test_an_archive_that_is_read_as_one_document_is_named(tmp_path: Path) -> None:
    path = packed(tmp_path / "fields.zip", {"a.json": '{"total": {"_value": "3"}}'})
    for protocol in ("fields", "posters"):
        assert {*refusal(evaluate, protocol, path, [path])} == {
            "fields.zip: the text must be well-formed JSON (RFC 8259); found a zip archive. "
            "Unpack it, and give the folder."
        }
