"""What all readers of model outputs have: each file is one format's, a cut-off file states so, and the known ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator import formats
from evaluator.data.issues import BadInput, Issue
from evaluator.formats import unsupported
from evaluator.project import evaluate
from tests.model_outputs import REAL, changed, own, read, refused
from tests.reading import OWN, needs_shared

FORMAT_OF = {
    "azure.json": "azure", "azure_old.json": "azure", "docling.json": "docling", "documentai.json": "documentai",
    "marker.json": "marker", "mineru_content_list.json": "mineru", "mineru_middle.json": "mineru",
    "mineru_model.json": "mineru", "paddle.json": "paddle", "supervision.csv": "supervision", "table.csv": "table",
    "textract.json": "textract", "unstructured.json": "unstructured",
}  # fmt: skip
JSON = sorted(name for name in FORMAT_OF if name.endswith(".json"))


@pytest.mark.parametrize(("name", "format"), FORMAT_OF.items())
def test_a_file_is_of_one_format(name: str, format: str) -> None:
    content = (OWN / name).read_bytes()
    assert [key for key, row in formats.FORMATS.items() if row.detect(content, name)] == [format]
    assert formats.detect_bytes(content, name) == format
    assert formats.FORMATS[format].side_of(content, name) == "prediction"
    assert unsupported.find(content) is None


@pytest.mark.parametrize("name", JSON)
def test_a_cut_off_file_says_so(name: str) -> None:
    content = json.dumps(own(name)).encode()[:-1]
    assert refused(content) == [
        f"f.json: line 1, column {len(content) + 1}: the text must be well-formed JSON (RFC 8259); "
        "found the end of the text. The file is cut off; copy or export it again."
    ]


@pytest.mark.parametrize("name", JSON)
def test_a_repeated_key_is_an_issue(name: str) -> None:
    content = json.dumps(own(name)).replace("{", '{"twice": 1, "twice": 2, ', 1)
    (sentence,) = refused(content.encode())
    assert sentence.endswith(
        'a key must not be repeated in one object (RFC 8259, section 4); found "twice" 2 times. Keep one of them.'
    )


def test_scores_as_ground_truth() -> None:
    assert refused(own("paddle.json"), side="ground_truth") == [
        "f.json: $.layout_det_res.boxes[0]: a ground truth file must not have a score (PaddleX); "
        "found 2 of 2 regions with one. Give this file as the prediction, or remove the score."
    ]
    source = read(own("paddle.json"), side="ground_truth", as_reference=True)
    assert [issue.sentence for issue in source.issues] == [
        "f.json: $.layout_det_res.boxes[0]: predictions are used as the reference, on request; "
        "found 2 of 2 regions with one. Their scores are left out; read results accordingly."
    ]


@pytest.mark.parametrize("name", ["docling.json", "azure.json", "marker.json", "mineru_middle.json"])
def test_a_file_agrees_with_itself(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder in "ab":
        (tmp_path / folder / name).write_bytes((OWN / name).read_bytes())
    (done,) = evaluate("snapshot", tmp_path / "a" / name, [tmp_path / "b" / name], iou=(0.5,), as_reference=True)
    assert done.to_json()["thresholds"]["0.5"]["micro"]["f1"] == 1.0


KNOWN = [
    (b'{"document": "a.pdf", "labels": [{"label": "T", "value": [{"page": 1, "boundingBoxes": [[0, 0]]}]}]}', "l.json",
     "this is a labels file of Azure Document Intelligence, words of form fields, which is not read. "
     "Give the result of prebuilt-layout for the same document."),
    (b'{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {}}', "s.json",
     "this is a JSON schema, which is not read. Give a file that follows it."),
]  # fmt: skip


@pytest.mark.parametrize(("content", "name", "sentence"), KNOWN)
def test_known_files_are_named(content: bytes, name: str, sentence: str) -> None:
    assert refused(content, name) == [f"{name}: {sentence}"]


@needs_shared
@pytest.mark.parametrize("name", ["sample.html", "tess.hocr"])
def test_real_hocr_is_named(name: str) -> None:
    assert refused((REAL / "hocr" / name).read_bytes(), name)[0].startswith(
        f"{name}: this is hOCR, which is not read. "
    )


AGAIN = "Export the file again, or correct it."
TOPS = [
    ("docling", [1], f"$: the top level must be an object (DoclingDocument); found [1]. {AGAIN}"),
    ("mineru", 3, f"$: the top level must be an array or an object with pdf_info (MinerU); found 3. {AGAIN}"),
    ("mineru", {"pdf_info": {}}, f"$.pdf_info: pdf_info must be an array (MinerU); found {{}}. {AGAIN}"),
    ("mineru", [[1], 2], f"$[0][0]: an entry must be an object (MinerU); found 1. {AGAIN}"),
    ("paddle", 3, f"$: a result must be an object (PaddleX); found 3. {AGAIN}"),
    ("paddle", {"a": 1},
     f'$: a result must have boxes, layout_det_res or parsing_res_list (PaddleX); found "a". {AGAIN}'),
    ("marker", {"children": None},
     f'$: the top level must be an object with children, the pages (Marker); found {{"children":null}}. {AGAIN}'),
    ("azure", [], f"$: the top level must be an object (Document Intelligence); found []. {AGAIN}"),
    ("textract", {"Blocks": {}},
     f'$: a response must have an array of Blocks (Textract); found {{"Blocks":{{}}}}. {AGAIN}'),
    ("documentai", [], f"$: the top level must be an object (Document AI); found []. {AGAIN}"),
    ("unstructured", {}, f"$: the top level must be an array of elements (unstructured); found {{}}. {AGAIN}"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "tree", "sentence"), TOPS)
def test_another_top_level(format: str, tree: object, sentence: str) -> None:
    assert refused(tree, format=format)[0] == f"f.json: {sentence}"


ODD = (None, [], {}, "x", -1, 1e308, True, [[[]]], 10**30)


def paths(tree: object, at: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """The way to every value of a tree."""
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path for key, value in entries for path in ((*at, key), *paths(value, (*at, key)))]


@pytest.mark.parametrize("name", JSON)
def test_no_value_anywhere_gives_a_traceback(name: str) -> None:
    tree = own(name)
    for turn, path in enumerate(paths(tree)):
        spoilt = changed(tree, *path, to=ODD[turn % len(ODD)])
        for issue in issues_of(spoilt, format=FORMAT_OF[name]):
            assert issue.file == "f.json"
            assert issue.rule
            assert issue.fix


def issues_of(tree: object, *, format: str) -> tuple[Issue, ...]:
    try:
        return read(tree, format=format).issues
    except BadInput as bad:
        return bad.issues
