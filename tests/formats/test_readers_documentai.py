"""Google Document AI: shares and pixels, left-out zeros, and the whole sentence for what is wrong."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from evaluator import formats
from tests.model_outputs import boxes, own, read, refused
from tests.reading import head, refusal, warned

FIX = "Lines, tokens, form fields and entities are not read; check the field mask."


def test_columns() -> None:
    source = read(own("documentai.json"), "report.json")
    assert head(source) == ("documentai", "prediction", "page", ["report"], [0, 1], [[1000, 2000]] * 2)
    assert boxes(source) == [
        (0, "block", 0.25, 0.25, 0.5, 0.5), (0, "paragraph", 0.0, 0.0, 0.5, 0.5), (0, "table", 0.0, 0.5, 1.0, 0.75),
        (0, "figure", 0.1, 0.1, 0.2, 0.25),
    ]  # fmt: skip
    np.testing.assert_array_equal(source.boxes.score, [0.75, math.nan, 1.0, math.nan])
    assert (list(source.boxes.polygons), source.boxes.ids[0], source.issues) == ([3], "$.pages[0].blocks[0]", ())
    assert boxes(read({"document": own("documentai.json")})) == boxes(source)


def test_shards_of_one_folder_are_one_document(tmp_path: Path) -> None:
    tree = own("documentai.json")
    for shard, page in enumerate(tree["pages"]):
        held = {**tree, "pages": [page], "shardInfo": {"shardIndex": str(shard), "shardCount": "2"}}
        (tmp_path / f"report-{shard}.json").write_text(json.dumps(held))
    source = formats.read(tmp_path)
    assert [each.doc_id for each in source.documents] == ["report"]
    assert source.page_index.tolist() == [0, 1]
    assert boxes(source) == boxes(read(tree))
    # A document that is no shard keeps the number in its name.
    assert read({**tree, "shardInfo": {"shardCount": "1"}}, "report-7.json").documents[0].doc_id == "report-7"
    assert refused({**tree, "shardInfo": []}) == [
        "f.json: $.shardInfo: shardInfo must be an object (Document AI); found []. "
        "Export the file again, or correct it."
    ]


def test_shards_that_repeat_a_page_are_refused(tmp_path: Path) -> None:
    held = {**own("documentai.json"), "shardInfo": {"shardCount": 2}}
    for shard in range(2):
        (tmp_path / f"report-{shard}.json").write_text(json.dumps(held))
    assert refusal(formats.read, tmp_path)[0] == (
        f"{tmp_path.name}: report-1.json and report-0.json: a page may be listed by one of the files read as one; "
        'found page 1 of "report". Remove one of the files, or give one alone with --gt or --pred.'
    )


def test_without_pages() -> None:
    tree = {"mimeType": "application/pdf", "documentLayout": {"blocks": []}}
    assert refused(tree) == [
        "f.json: This is a Document AI document without pages: nothing has a place on a page. "
        "Process the document with an OCR or form processor, and keep pages in the field mask."
    ]


@pytest.mark.parametrize(("pages", "count"), [([1], "1 page"), ([1, 2], "2 pages")])
def test_pages_without_any_element(pages: list[int], count: str) -> None:
    tree = {
        "mimeType": "application/pdf",
        "text": "x",
        "pages": [{"pageNumber": page, "tokens": [], "lines": []} for page in pages],
    }
    source = read(tree)
    assert (len(source.page_index), len(source.boxes)) == (len(pages), 0)
    assert warned(source) == [
        "f.json: $.pages: pages should hold blocks, paragraphs, tables or visual elements (Document AI); found none on "
        f"{count}. They are pages without boxes. {FIX}"
    ]
    assert warned(read({"document": tree}))[0].startswith("f.json: $.document.pages: pages should hold")
    tree["pages"][0] |= {"tokens": [{"layout": {}}], "formFields": [{}]}  # type: ignore[index,operator]
    tree["entities"] = [{"type": "total"}]
    assert refused(tree) == [
        "f.json: $.pages: pages should hold blocks, paragraphs, tables or visual elements (Document AI); found only "
        f'"tokens", "formFields", "entities". {FIX}'
    ]
    tree["pages"][0]["blocks"] = [{"layout": {"boundingPoly": {"normalizedVertices": [{}, {"x": 1, "y": 1}]}}}]  # type: ignore[index]
    assert read(tree).issues == ()
    bare = {**tree, "pages": [{"pageNumber": 1, "blocks": [{"layout": {}}]}]}
    assert refused(bare) == [
        "f.json: This is a Document AI document without places: none of its 1 elements has vertices. Process the "
        "document again with an OCR processor, and keep boundingPoly in the field mask."
    ]
    held = tree["pages"][0].pop("blocks")  # type: ignore[attr-defined]
    tree["pages"].append({"pageNumber": 3, "blocks": held})  # type: ignore[attr-defined]
    assert warned(read(tree))[0].endswith(
        f'found only "tokens", "formFields" on 1 of {len(pages) + 1} pages. They are pages without boxes. {FIX}'
    )


def test_pages_that_were_transformed_are_named() -> None:
    tree = own("documentai.json")
    tree["pages"][0]["transforms"] = []
    assert read(tree).issues == ()
    tree["pages"][1]["transforms"] = [{"rows": 2, "cols": 3, "type": 6, "data": "AAAA"}]
    assert warned(read(tree)) == [
        "f.json: boxes of a page that was transformed before it was read are on the transformed image, not the page as "
        "given; found 1 of 2 pages: f, page 2. They are compared as they are written; give the other side the images "
        "of the result, or both straight ones."
    ]
