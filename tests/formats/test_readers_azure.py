"""Azure Document Intelligence: inches and pixels, three generations, and the whole sentence for what is wrong."""

from typing import Any

from tests.model_outputs import boxes, changed, own, read, refused, same
from tests.reading import head, warned

LINES = (
    "f.json: $.analyzeResult: a result should have paragraphs (Document Intelligence); found none. "
    "Its lines and tables are read; run prebuilt-layout of API version 2023-07-31 or later for paragraphs."
)


def test_columns() -> None:
    source = read(own("azure.json"), "report.pdf.json")
    assert head(source) == ("azure", "prediction", "page", ["report"], [0, 1], [[612, 792], [1000, 2000]])
    same(source, [
        (0, "title", 0.1, 0.1, 0.5, 0.2), (0, "paragraph", 0.0, 0.5, 1.0, 1.0), (1, "paragraph", 0.1, 0.1, 0.5, 0.205),
        (1, "table", 0.0, 0.0, 1.0, 0.25), (1, "figure", 0.25, 0.5, 0.75, 0.75),
    ])  # fmt: skip
    assert source.boxes.ids[2] == "$.analyzeResult.paragraphs[1].boundingRegions[1]"
    assert (list(source.boxes.polygons), source.issues) == ([2], ())
    assert boxes(read(own("azure.json")["analyzeResult"])) == boxes(source)


def test_a_result_without_paragraphs_is_read_by_its_lines() -> None:
    source = read(changed(own("azure.json"), "analyzeResult", "paragraphs"))
    assert [box[1] for box in boxes(source)] == ["line", "table", "figure"]
    assert warned(source) == [LINES]


def test_version_2() -> None:
    source = read(own("azure_old.json"))
    same(source, [
        (0, "line", 0.1, 0.1, 0.5, 0.2), (0, "table", 0.0, 0.5, 1.0, 1.0), (0, "table", 0.2, 0.2, 0.8, 0.3),
    ])  # fmt: skip
    assert warned(source) == [LINES]


UNREAD = (
    "pages should have paragraphs, lines, tables or figures (Document Intelligence); found {}Words, marks and fields "
    "are not read; run prebuilt-layout of API version 2023-07-31 or later."
)


def test_pages_of_which_nothing_is_read() -> None:
    page = {"pageNumber": 1, "width": 8, "height": 9, "unit": "inch", "words": [], "lines": []}
    tree: dict[str, Any] = {"modelId": "prebuilt-read", "stringIndexType": "x", "pages": [page]}
    place = "f.json: $.pages: "
    empty = "none on 1 page. They are pages without boxes. "
    assert warned(read(tree)) == [place + UNREAD.format(empty)]
    words = {**page, "words": [{"content": "a", "polygon": [0, 0, 1, 1]}], "barcodes": [{}]}
    assert refused({**tree, "pages": [words]}) == [place + UNREAD.format('only "words", "barcodes". ')]
    assert refused({**tree, "documents": [{}]}) == [place + UNREAD.format('only "documents". ')]
    lines = {**words, "pageNumber": 2, "lines": [{"polygon": [0, 0, 1, 1]}]}
    stated = 'only "words", "barcodes" on 1 of 2 pages. They are pages without boxes. '
    assert warned(read({**tree, "pages": [words, lines]}))[1:] == [place + UNREAD.format(stated)]
    assert warned(read({**tree, "pages": [page, lines]})) == [LINES.replace("$.analyzeResult", "$")]
    old = {"page": 1, "width": 8, "height": 9, "unit": "inch", "lines": [], "selectionMarks": [{}]}
    assert refused({"analyzeResult": {"readResults": [old]}}) == [
        "f.json: $.analyzeResult.readResults: " + UNREAD.format('only "selectionMarks". ')
    ]
