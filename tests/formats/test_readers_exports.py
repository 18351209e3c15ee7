"""Folders and archives as the tools write them: annotations beside files that hold none, or hold the same boxes."""

import json
from pathlib import Path
from typing import Final

import pytest

from evaluator import formats
from evaluator.data.dataset import Annotations
from evaluator.data.issues import BadInput
from evaluator.workspace.roles import find
from tests.model_outputs import changed, own, read, refused
from tests.reading import refusal, zipped

MARKER: Final = own("marker.json")
YOLO: Final = "0 0.5 0.5 0.2 0.4\n1 0.1 0.1 0.1 0.1\n"
PAGE: Final = (
    '<PcGts><Page imageFilename="{}.jpg" imageWidth="9" imageHeight="9"><TextRegion id="r">'
    '<Coords points="1,1 5,1 5,5"/></TextRegion></Page></PcGts>'
)
METS: Final = '<mets xmlns="http://www.loc.gov/METS/"/>'
MIDDLE: Final = json.dumps(
    {"pdf_info": [{"page_idx": 0, "page_size": [9, 9], "para_blocks": [{"type": "text", "bbox": [1, 1, 5, 5]}]}]}
)
MODEL: Final = json.dumps([{"layout_dets": [], "page_info": {"page_no": 0, "width": 9, "height": 9}}])
LIST: Final = json.dumps([{"type": "text", "bbox": [1, 1, 5, 5], "page_idx": 0}])
META: Final = json.dumps({"table_of_contents": [], "page_stats": []})
NOTES: Final = json.dumps({"categories": [{"id": 0, "name": "Text"}], "info": {"contributor": "Label Studio"}})

# What the tool writes; how many documents and boxes it has, its first label, and the files that are left out.
EXPORTS: Final[dict[str, tuple[dict[str, str], int, int, str, list[str]]]] = {
    "YOLO of Label Studio": (
        {"classes.txt": "\ufeffText\r\nTable\r\n", "notes.json": NOTES, "labels/a.txt": YOLO, "labels/b.txt": ""},
        2, 2, "Text", [],
    ),
    "YOLO of CVAT": (
        {"obj.data": "classes = 2", "obj.names": "Text\nTable\n", "train.txt": "data/a.png\n",
         "obj_train_data/a.txt": YOLO},
        1, 2, "Text", ["train.txt"],
    ),
    "YOLO whose data.yaml has a byte order mark": (
        {"data.yaml": "\ufeffnames:\r\n- Text\r\n- Table\r\n", "labels/a.txt": YOLO}, 1, 2, "Text", [],
    ),
    "MinerU": (
        {"a_middle.json": MIDDLE, "a_model.json": MODEL, "a_content_list.json": LIST, "a.md": "x"},
        1, 1, "text", ["a_content_list.json", "a_model.json"],
    ),
    "MinerU as a service": (
        {"layout.json": MIDDLE, "1_model.json": MODEL, "full.md": "x"}, 1, 1, "text", ["1_model.json"],
    ),
    "Marker": ({"a.json": json.dumps(MARKER), "a_meta.json": META}, 1, 4, "Text", ["a_meta.json"]),
    "PAGE of eScriptorium": (
        {"a.xml": PAGE.format("a"), "b.xml": PAGE.format("b"), "METS.xml": METS}, 2, 2, "TextRegion", ["METS.xml"],
    ),
}  # fmt: skip


def left_out(source: Annotations) -> list[str]:
    said = [issue for issue in source.issues if "are left out" in issue.rule]
    return [name for issue in said for name in json.loads(f"[{issue.found.partition(': ')[2]}]")]


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
@pytest.mark.parametrize("tool", EXPORTS)
def test_exports_are_read_whole(tool: str, packed: bool, tmp_path: Path) -> None:
    files, documents, boxes, label, others = EXPORTS[tool]
    path = tmp_path / ("export.zip" if packed else "export")
    if packed:
        path.write_bytes(zipped(*((name, text.encode()) for name, text in files.items())))
    else:
        for name, text in files.items():
            file = path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
    source = formats.read(path)
    assert (len(source.documents), len(source.boxes)) == (documents, boxes)
    assert source.labels[source.boxes.label[0]] == label
    assert left_out(source) == others
    assert all(issue.severity == "warning" for issue in source.issues)


def test_a_file_about_a_run_is_no_annotation(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(MARKER))
    (tmp_path / "a_meta.json").write_text('{"table_of_contents"')
    with pytest.raises(BadInput, match=r"a_meta\.json: line 1, column 21: the text must be well-formed JSON"):
        formats.read(tmp_path)
    (tmp_path / "a.json").unlink()
    (tmp_path / "a_meta.json").write_text(META)
    with pytest.raises(BadInput, match=r"a_meta\.json: this is the metadata of a Marker run, which is not read\."):
        formats.read(tmp_path)


def runs(path: Path, tool: str, *documents: str) -> Path:
    for document in documents:
        within = path / document / ("auto" if tool == "MinerU" else "")
        within.mkdir(parents=True)
        for name, text in EXPORTS["MinerU"][0].items() if tool == "MinerU" else (("a.json", json.dumps(MARKER)),):
            (within / name.replace("a", document, 1)).write_text(text)
        if tool == "Marker":
            (within / f"{document}_meta.json").write_text(META)
    return path


@pytest.mark.parametrize("tool", ["MinerU", "Marker"])
def test_a_folder_for_each_document_is_one_model(tool: str, tmp_path: Path) -> None:
    first, second = (runs(tmp_path / "all" / name, tool, "doc1", "doc2") for name in ("one", "two"))
    source = formats.read(first)
    assert sorted(document.doc_id for document in source.documents) == ["doc1", "doc2"]
    assert len(source.boxes) == 2 * EXPORTS[tool][2]
    assert find([first]).of("boxes").predictions == (first,)
    assert find([tmp_path / "all"]).of("boxes").predictions == (first, second)
    assert find([tmp_path / "all"]).issues == ()


def test_one_run_of_mineru_is_one_model(tmp_path: Path) -> None:
    auto = runs(tmp_path / "out", "MinerU", "doc1") / "doc1" / "auto"
    assert find([auto]).of("boxes").predictions == (auto,)
    named = auto / "doc1_model.json"
    assert find([named]).of("boxes").predictions == (named,), "a file that is named is read itself"
    (auto / "gt.json").write_text('{"images": [], "annotations": [], "categories": []}')
    assert len(find([auto]).of("boxes").predictions) == 3


def test_what_is_said_of_the_files_of_one_run(tmp_path: Path) -> None:
    for name, text in EXPORTS["MinerU"][0].items():
        (tmp_path / name).write_text(text)
    assert [issue.sentence for issue in formats.read(tmp_path).issues] == [
        f"{tmp_path.name}: files with the boxes of another file of their folder are left out; found 2: "
        '"a_content_list.json", "a_model.json". Give one of them alone to have it read.'
    ]


def test_azure_elements_without_a_place() -> None:
    source = read(changed(own("azure.json"), "analyzeResult", "tables", 0, "boundingRegions", to=[]))
    assert [issue.sentence for issue in source.issues] == [
        "f.json: $.analyzeResult.tables[0]: an element should have boundingRegions (Document Intelligence); found "
        "1 without. They are left out."
    ]
    assert refused({"analyzeResult": {"pages": [{"pageNumber": 1}], "paragraphs": [{}, {"boundingRegions": []}]}}) == [
        "f.json: This is a Document Intelligence result without places: none of its 2 elements is on a page. Analyze a "
        "PDF or images; Office and HTML files have no pages."
    ]


def test_omnidocbench_results_as_a_list() -> None:
    assert refused([{"image_name": "a", "bbox": [1, 1, 5, 5], "category_id": 1, "score": 0.5}]) == [
        'f.json: $[0]: a page must have layout_dets (OmniDocBench); found "image_name", "bbox", "category_id", '
        '"score". Write results as {"results": [...], "categories": {"1": "title"}}.'
    ]


def test_a_document_ai_page_begins_with_its_image() -> None:
    tree = own("documentai.json")
    image = {"content": "A" * (formats.HEAD_BYTES + 1)}
    assert len(read({**tree, "pages": [{"pageNumber": 1, "image": image, **tree["pages"][0]}]}).boxes) == 4
    blank = {"pageNumber": 2, "dimension": {"width": 4, "height": 8}}
    assert len(read({"mimeType": "application/pdf", "text": "", "pages": [blank]}).page_index) == 1


def test_names_of_classes_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "data.yaml").write_bytes("names: [T\u00e9xt]\n".encode("latin-1"))
    (tmp_path / "a.txt").write_text(YOLO)
    assert refusal(formats.read, tmp_path) == [
        f"{tmp_path.name}: data.yaml: text must be UTF-8 (YOLO); found 0xE9 at byte 9. Save the file as UTF-8."
    ]
