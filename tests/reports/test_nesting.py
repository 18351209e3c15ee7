"""A box and the boxes in it are not both counted where a file states which lie in which; the level can be chosen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator import formats
from evaluator.data.dataset import Level
from evaluator.formats.nesting import MOST_ABOVE, Nesting
from evaluator.project import OptionError, evaluate
from tests.cli.conftest import Runner, run

__all__ = ["run"]  # a fixture

OTHERS = "Read others with --level outer ({}), inner ({}) or all ({})."
FOUND = "found 10 boxes, of which 5 are read. Read others with --level outer (5), inner (8) or all (10)."
LEVELS: tuple[Level | None, ...] = (None, "outer", "inner", "all")


def rect(x: float, y: float, width: float = 1.0, height: float = 0.25) -> list[float]:
    """A polygon in inches."""
    return [x, y, x + width, y, x + width, y + height, x, y + height]


def region(polygon: list[float], page: int = 1) -> dict[str, Any]:
    return {"boundingRegions": [{"pageNumber": page, "polygon": polygon}]}


def azure(**parts: Any) -> bytes:
    pages = [{"pageNumber": number, "width": 8.5, "height": 11, "unit": "inch"} for number in (1, 2)]
    return json.dumps({"analyzeResult": {"pages": pages, **parts}}).encode()


def report() -> bytes:
    """A title, a table of four cells whose paragraphs are listed again, and a figure with text in it and a caption."""
    cells = [rect(1 + column, 3 + row / 4) for row in (0, 1) for column in (0, 1)]
    paragraphs = [{**region(rect(1, 1, 6)), "role": "title"}, *map(region, cells)]
    paragraphs += [region(rect(1, 5)), region(rect(1, 8, 3)), region(rect(1, 9, 3))]
    table = {**region(rect(1, 3, 2, 0.5)), "cells": [{"elements": [f"/paragraphs/{row}"]} for row in range(1, 5)]}
    figure = {
        **region(rect(1, 5, 3, 2.5)),
        "elements": [f"/paragraphs/{row}" for row in (5, 6, 7)],
        "caption": {"elements": ["/paragraphs/6"]},
        "footnotes": [{"elements": ["/paragraphs/7"]}],
    }
    return azure(paragraphs=paragraphs, tables=[table], figures=[figure])


COMPOSED = """<alto><Description><MeasurementUnit>pixel</MeasurementUnit></Description><Layout>
<Page WIDTH="900" HEIGHT="900"><PrintSpace>{}</PrintSpace></Page></Layout></alto>"""
BLOCK = '<{name} ID="{id}" HPOS="{x}" VPOS="{y}" WIDTH="100" HEIGHT="100"{type}>{inside}</{name}>'


def block(id: str, inside: str = "", type: str = "", x: int = 0) -> str:
    name = "ComposedBlock" if inside else "TextBlock"
    return BLOCK.format(name=name, id=id, x=x, y=0, type=f' TYPE="{type}"' if type else "", inside=inside)


def read(content: bytes | str, level: Level | None = None, name: str = "a.xml") -> tuple[list[str], list[str]]:
    """The ids of the boxes that are read, and the issues in words."""
    source = formats.read_bytes(content if isinstance(content, bytes) else content.encode(), name, level=level)
    assert source.level == (level if source.levels else None)
    words = [f"{each.place}: {each.rule}; found {each.found}. {each.fix}" for each in source.issues]
    return list(source.boxes.ids), words


def test_paragraphs_of_tables_and_figures_of_azure() -> None:
    counts = []
    for level in LEVELS:
        source = formats.read_bytes(report(), "report.json", level=level)
        counts.append((len(source.boxes), source.labels))
    labels = ("title", "paragraph", "table", "figure")
    assert counts == [(5, labels), (5, labels), (8, ("title", "paragraph")), (10, labels)]
    ids, words = read(report(), name="report.json")
    assert [each.removeprefix("$.analyzeResult.").removesuffix(".boundingRegions[0]") for each in ids] == [
        "paragraphs[0]", "paragraphs[6]", "paragraphs[7]", "tables[0]", "figures[0]",
    ]  # fmt: skip
    assert words == [
        "$.analyzeResult.paragraphs[1].boundingRegions[0]: a box and the boxes in it should not both be counted "
        f"(Document Intelligence); {FOUND}"
    ]
    assert read(report(), "all", name="report.json")[1] == []


@pytest.mark.parametrize("cells", [True, False])
def test_cells_before_version_4_state_their_text_by_spans(cells: bool) -> None:
    def spanned(start: int, length: int, polygon: list[float]) -> dict[str, Any]:
        return {**region(polygon), "spans": [{"offset": start, "length": length}]}

    texts = [spanned(0, 9, rect(1, 1)), *(spanned(10 * at, 9, rect(1, 2 + at)) for at in (1, 2)), region(rect(1, 9))]
    table = {**spanned(10, 19, rect(1, 3, 1, 2)), "cells": [spanned(10 * at, 9, rect(1, 2 + at)) for at in (1, 2)]}
    table["cells"] = table["cells"] if cells else []
    ids, words = read(azure(paragraphs=texts, tables=[table]), name="a.json")
    assert [each.split(".")[2] for each in ids] == ["paragraphs[0]", "paragraphs[3]", "tables[0]"]
    assert words[0].endswith("; found 5 boxes, of which 3 are read. " + OTHERS.format(3, 4, 5))
    assert counts(json.loads(azure(tables=[table]))) == [1, 1, 1, 1]
    lines = [{"polygon": rect(1, 1 + at), "spans": [{"offset": 10 * at, "length": 9}]} for at in range(3)]
    page = {"pageNumber": 1, "width": 8.5, "height": 11, "unit": "inch", "lines": lines}
    assert counts({"analyzeResult": {"pages": [page], "tables": [table]}}) == [2, 2, 3, 4]


def test_a_part_on_a_page_without_its_table_is_read() -> None:
    cells = [{"elements": ["/paragraphs/0"]}, {"elements": ["/paragraphs/1"]}]
    paragraphs = [region(rect(1, 3)), region(rect(1, 1), page=2)]
    content = azure(paragraphs=paragraphs, tables=[{**region(rect(1, 3, 2, 2)), "cells": cells}])
    assert len(read(content, name="a.json")[0]) == 2
    bare = azure(paragraphs=paragraphs, tables=[{"cells": cells}])
    assert len(formats.read_bytes(bare, "a.json").boxes) == 2


def test_lines_of_a_table_of_azure_before_paragraphs() -> None:
    line = {"boundingBox": rect(1, 3)}
    page = {"page": 1, "width": 8.5, "height": 11, "unit": "inch", "lines": [line, {"boundingBox": rect(1, 8)}]}
    cell = {**line, "elements": ["#/readResults/0/lines/0/words/0", "#/readResults/0/lines/0/words/1"]}
    held = {"readResults": [page], "pageResults": [{"page": 1, "tables": [{"cells": [cell]}]}]}
    for content in ({"analyzeResult": held}, held):
        ids, words = read(json.dumps(content).encode(), name="a.json")
        assert [each.rpartition("Results")[2] for each in ids] == ["[0].lines[1]", "[0].tables[0]"]
        assert words[-1].endswith("; found 3 boxes, of which 2 are read. " + OTHERS.format(2, 2, 3))


@pytest.mark.parametrize(
    ("type", "default"),
    [
        *((name, ["b1", "b2", "b0"]) for name in ("", "column", "heading")),
        ("Table", ["c", "b0"]),
        ("list", ["c", "b0"]),
    ],
)
def test_composed_blocks_of_alto(type: str, default: list[str]) -> None:
    content = COMPOSED.format(block("c", block("b1") + block("b2"), type) + block("b0"))
    assert read(content)[0] == default
    assert [read(content, level)[0] for level in LEVELS[1:]] == [
        ["c", "b0"], ["b1", "b2", "b0"], ["c", "b1", "b2", "b0"],
    ]  # fmt: skip
    unlabelled = [
        "line 2, <TextBlock>: a block in one with a label should have a label of its own (ALTO); found 2 blocks "
        'without, the first in one of "heading". They have the name of their element; --level outer reads what holds '
        "them, by their labels."
    ] * (type == "heading")
    assert [len(read(content, level)[1]) - len(unlabelled) for level in LEVELS] == [1, 1, 1, 0]
    place = "<ComposedBlock>" if "b1" in default else "<TextBlock>"
    assert read(content)[1] == [
        *unlabelled,
        f"line 2, {place}: a box and the boxes in it should not both be counted (ALTO); "
        f"found 4 boxes, of which {len(default)} are read. {OTHERS.format(2, 3, 4)}",
    ]


def test_a_table_in_a_column_is_read_and_what_is_in_it_is_not() -> None:
    content = COMPOSED.format(block("c", block("t", block("p"), "table") + block("b")))
    assert [read(content, level)[0] for level in LEVELS] == [["t", "b"], ["c"], ["p", "b"], ["c", "t", "p", "b"]]


def test_files_without_boxes_in_boxes_are_read_as_before() -> None:
    content = COMPOSED.format(block("a") + block("b"))
    for level in LEVELS:
        source = formats.read_bytes(content.encode(), "a.xml", level=level)
        assert (source.boxes.ids, source.issues, source.level) == (["a", "b"], (), None)


PAGE = """<PcGts><Page imageFilename="a.png" imageWidth="99" imageHeight="99">{}</Page></PcGts>"""


def page_region(id: str, inside: str = "", *, name: str = "TextRegion", more: str = "") -> str:
    return f'<{name} id="{id}" {more}><Coords points="0,0 9,0 9,9 0,9"/>{inside}</{name}>'


@pytest.mark.parametrize(
    ("outer", "default"),
    [
        ({"name": "TableRegion"}, ["r"]),
        ({"name": "TextRegion"}, ["a", "b"]),
        ({"name": "UnknownRegion"}, ["a", "b"]),
        ({"more": 'type="other"'}, ["a", "b"]),
        ({"more": 'type="paragraph"'}, ["r"]),
        ({"more": 'custom="structure {type:article;}"'}, ["r"]),
        ({"name": "CustomRegion", "more": 'type="column"'}, ["a", "b"]),
        ({"name": "CustomRegion", "more": 'type="list"'}, ["r"]),
    ],
)
def test_regions_in_regions_of_page_xml(outer: dict[str, str], default: list[str]) -> None:
    content = PAGE.format(page_region("r", page_region("a") + page_region("b"), **outer))
    assert read(content)[0] == default
    assert [read(content, level)[0] for level in LEVELS[1:]] == [["r"], ["a", "b"], ["r", "a", "b"]]


def test_a_text_region_with_lines_of_its_own_is_read() -> None:
    line = '<TextLine id="l"><Coords points="0,0 9,0 9,9 0,9"/></TextLine>'
    content = PAGE.format(page_region("r", page_region("a", more='type="drop-capital"') + line))
    assert read(content)[0] == ["r"]


def test_regions_in_regions_of_label_studio() -> None:
    """A cell in a table, two paragraphs in a column, and a choice about the page that names no region."""
    made = [("t", "Table", ""), ("c", "Cell", "t"), ("a", "Column", ""), ("p", "Text", "a"), ("q", "Text", "a")]
    regions = [
        {"id": key, "type": "rectanglelabels", "original_width": 100, "original_height": 100,
         **({"parentID": parent} if parent else {}),
         "value": {"x": 10 * at, "y": 0, "width": 9, "height": 9, "rectanglelabels": [label]}}
        for at, (key, label, parent) in enumerate(made)
    ]  # fmt: skip
    regions.append({"id": "x", "type": "choices", "parentID": "gone", "value": {"choices": ["scan"]}})
    task = {"id": 1, "data": {"image": "/data/a.png"}, "annotations": [{"id": 1, "result": regions}]}
    content = json.dumps([task, {**task, "id": 2, "data": {"image": "/data/b.png"}}]).encode()
    by_level = [read(content, level, "a.json")[0] for level in LEVELS]
    assert by_level == [list(ids) * 2 for ids in ("tpq", "ta", "cpq", "tcapq")]


def test_boxes_of_circles_are_read() -> None:
    nesting = Nesting()
    stated = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "d"), ("e", "a"), ("f", "g"), ("g", "")]
    for row, (item, inside) in enumerate(stated):
        nesting.put(item, inside=inside, group=False)
        nesting.add_box(item, row, item)
    assert nesting.drop_unsound() == [0, 1, 2, 3, 4]
    assert nesting.left_out([0] * len(stated))[None] == {5}
    assert (Nesting().drop_unsound(), Nesting().left_out([])) == ([], {})
    pictures = [docling_item(f"pictures/{row}", f"pictures/{1 - row}", "picture") for row in (0, 1)]
    assert read(json.dumps({**DOCLING, "pictures": pictures}).encode(), name="a.json")[1] == [
        "$.pictures[0].prov[0]: no item should lie in itself or more than 64 others, by way of others "
        "(DoclingDocument); found 2 boxes of items that do, or that lie in one that does. Correct which lies in which; "
        "all of them are read."
    ]
    assert counts({**DOCLING, "pictures": pictures}) == [2, 2, 2, 2]


def test_groups_of_marker_and_mineru() -> None:
    shape = {"polygon": [[1, 1], [9, 1], [9, 9], [1, 9]], "bbox": [1, 1, 9, 9]}
    item = {"block_type": "ListItem", **shape}
    group = {"block_type": "ListGroup", "children": [{**item, "block_type": "TableCell"}, item]}
    page = {"id": "/page/0/Page/1", "block_type": "Page", **shape, "children": [item, {**group, **shape}]}
    assert counts({"block_type": "Document", "children": [page]}) == [3, 2, 3, 4]
    assert counts({"block_type": "Document", "children": [{**page, "children": [item, group]}]}) == [3, 3, 3, 3]
    part = {"type": "table_body", "bbox": [1, 1, 9, 9]}
    table = {"type": "table", "bbox": [1, 1, 9, 9], "blocks": [part, {**part, "type": "table_caption"}]}
    info = {"page_idx": 0, "page_size": [99, 99], "para_blocks": [table, part]}
    assert counts({"pdf_info": [info]}) == [3, 2, 3, 4]
    assert counts({"pdf_info": [{**info, "para_blocks": [{"type": "table", "blocks": [part]}]}]}) == [1, 1, 1, 1]


def counts(tree: Any) -> list[int]:
    """How many boxes each level reads, in the order of `LEVELS`; the file says so of all of them."""
    content, made = json.dumps(tree).encode(), []
    for level in LEVELS:
        source = formats.read_bytes(content, "a.json", level=level)
        made.append(len(source.boxes))
        assert source.levels.get(level or "", made[-1]) == made[-1]
        assert bool(source.levels) or level is None or made[-1] == made[0]
    return made


def textract_block(kind: str, key: str, *children: str) -> dict[str, Any]:
    box = {"BoundingBox": {"Width": 0.1, "Height": 0.1, "Left": 0.1, "Top": 0.1}}
    relationships = [{"Type": "CHILD", "Ids": [*children]}] if children else None
    return {"BlockType": kind, "Id": key, "Geometry": box, "Confidence": 90, "Relationships": relationships}


def test_lists_and_tables_of_textract() -> None:
    lists = [textract_block("LAYOUT_LIST", "l", "a", "b"), *(textract_block("LAYOUT_TEXT", key) for key in "abc")]
    assert counts({"Blocks": [textract_block("PAGE", "p"), *lists]}) == [2, 2, 3, 4]
    table = [textract_block("TABLE", "t", "cell"), textract_block("CELL", "cell", "w1", "w2")]
    lines = [textract_block("LINE", "x", "w1", "w2"), textract_block("LINE", "y", "w2", "w3")]
    lines += [textract_block("LINE", "z", "w4"), textract_block("LINE", "empty")]
    assert counts({"Blocks": [textract_block("PAGE", "p"), *table, *lines]}) == [4, 4, 4, 5]


DOCLING: dict[str, Any] = {
    "schema_name": "DoclingDocument",
    "pages": {"1": {"size": {"width": 99, "height": 99}, "page_no": 1}},
}


def docling_item(ref: str, parent: str, label: str = "text", **more: Any) -> dict[str, Any]:
    prov = [{"page_no": 1, "bbox": {"l": 1, "t": 1, "r": 9, "b": 9, "coord_origin": "TOPLEFT"}}]
    return {"self_ref": f"#/{ref}", "parent": {"$ref": f"#/{parent}"}, "label": label, "prov": prov, **more}


def test_pictures_groups_and_headings_of_docling() -> None:
    beside = {"captions": [{"$ref": "#/texts/0"}], "footnotes": [{"cref": "#/texts/1"}]}
    texts = [
        docling_item("texts/0", "pictures/0", "caption"), docling_item("texts/1", "pictures/0", "footnote"),
        docling_item("texts/2", "pictures/0"), docling_item("texts/3", "groups/0", "list_item"),
        docling_item("texts/4", "body", "section_header"), docling_item("texts/5", "texts/4"),
        docling_item("texts/6", "groups/1"),
    ]  # fmt: skip
    groups = [docling_item("groups/0", "pictures/0", "list", prov=[]), docling_item("groups/1", "body", "section")]
    pictures = [docling_item("pictures/0", "body", "picture", **beside)]
    tree = {**DOCLING, "texts": texts, "groups": groups, "pictures": pictures}
    # The picture, what is beside it, the heading with the text below it, and the text of the section or the section.
    assert counts(tree) == [6, 6, 7, 9]
    del texts[2]["parent"]
    assert counts(tree)[0] == 7
    pictures[0]["children"] = [{"$ref": "#/texts/2"}]
    assert counts(tree) == [6, 6, 7, 9]


def placed(top: float = 0.1, bottom: float = 0.9, **more: Any) -> dict[str, Any]:
    corners = [{"x": x, "y": y} for x, y in ((0.1, top), (0.9, top), (0.9, bottom), (0.1, bottom))]
    return {"layout": {"boundingPoly": {"normalizedVertices": corners}, **more}}


def anchored(start: int, end: int) -> dict[str, Any]:
    return placed(textAnchor={"textSegments": [{"startIndex": str(start), "endIndex": str(end)}]})


def test_blocks_paragraphs_and_tables_of_document_ai() -> None:
    edges = [(0, 4), (4, 10), (10, 20), (20, 30), (30, 40)]
    page = {
        "pageNumber": 1,
        "blocks": [anchored(0, 10), anchored(10, 20), anchored(20, 30)],
        "paragraphs": [anchored(start, end) for start, end in edges],
        "tables": [anchored(20, 30)],
    }
    ids = formats.read_bytes(json.dumps({"mimeType": "a", "pages": [page]}).encode(), "a.json").boxes.ids
    assert [each.removeprefix("$.pages[0].") for each in ids] == [
        "paragraphs[0]", "paragraphs[1]", "paragraphs[2]", "paragraphs[4]", "tables[0]",
    ]  # fmt: skip
    assert counts({"mimeType": "a", "pages": [page]}) == [5, 4, 5, 9]
    # A table whose text is stated by its cells alone.
    bare, row = anchored(0, 0), {"cells": [anchored(20, 25), anchored(25, 30)]}
    del bare["layout"]["textAnchor"]
    tables = [{**bare, "headerRows": [row], "bodyRows": []}]
    assert counts({"mimeType": "a", "pages": [{**page, "tables": tables}]})[0] == 5


@pytest.mark.parametrize("anchors", [(), ("paragraphs",), ("blocks", "tables")])
def test_what_document_ai_states_no_text_of_is_in_what_holds_its_box(anchors: tuple[str, ...]) -> None:
    """Two paragraphs in a block, a table that is a block with a paragraph, and a paragraph of its own."""
    page: dict[str, Any] = {
        "blocks": [placed(0.1, 0.5), placed(0.6, 0.8)],
        "paragraphs": [placed(0.1, 0.3), placed(0.29, 0.51), placed(0.65, 0.75), placed(0.81, 0.9)],
        "tables": [placed(0.6, 0.8)],
    }
    for key in anchors:
        for at, element in enumerate(page[key]):
            element["layout"]["textAnchor"] = anchored(10 * at + 50 * (key == "tables"), 10 * at + 60)["layout"][
                "textAnchor"
            ]
    assert counts({"mimeType": "a", "pages": [{"pageNumber": 1, **page}]}) == [4, 3, 4, 7]


def test_blocks_of_the_layout_parser_are_in_those_that_hold_their_box() -> None:
    def text(top: float, bottom: float, *inside: Any) -> dict[str, Any]:
        return {"boundingBox": placed(top, bottom)["layout"]["boundingPoly"], "textBlock": {"blocks": [*inside]}}

    blocks = [text(0.1, 0.5, text(0.1, 0.2), text(0.2, 0.4)), text(0.6, 0.65, text(0.66, 0.8))]
    assert counts({"mimeType": "a", "documentLayout": {"blocks": blocks}}) == [4, 3, 4, 5]


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """A ground truth of the title, the table, the figure and two paragraphs, and the report."""
    labels = ["title", "paragraph", "paragraph", "table", "figure"]
    boxes = [(1, 1, 6, 0.25), (1, 8, 3, 0.25), (1, 9, 3, 0.25), (1, 3, 2, 0.5), (1, 5, 3, 2.5)]
    names = list(dict.fromkeys(labels))
    images = [{"id": 1, "file_name": "report.png", "width": 612, "height": 792}]
    rows = [
        {
            "id": row,
            "image_id": 1,
            "category_id": names.index(label),
            "bbox": [72 * edge for edge in box],
            "area": 72 * 72 * box[2] * box[3],
            "iscrowd": 0,
        }
        for row, (label, box) in enumerate(zip(labels, boxes, strict=True))
    ]
    categories = [{"id": code, "name": name} for code, name in enumerate(names)]
    (tmp_path / "gt.json").write_text(json.dumps({"images": images, "categories": categories, "annotations": rows}))
    one_page = json.loads(report())
    del one_page["analyzeResult"]["pages"][1]
    (tmp_path / "report.json").write_text(json.dumps(one_page))
    return tmp_path / "gt.json", tmp_path / "report.json"


@pytest.mark.parametrize("protocol", ["snapshot", "pixel"])
def test_the_level_is_an_option_that_the_signature_states(sides: tuple[Path, Path], protocol: str) -> None:
    signatures = []
    for level in LEVELS:
        (evaluation,) = evaluate(protocol, sides[0], [sides[1]], level=level)
        signatures.append(evaluation.result.signature.line)
        assert sum("both be counted" in each.rule for each in evaluation.issues) == (level != "all")
    stated = [line.partition("level ")[2].partition(" ")[0] for line in signatures]
    assert stated == ["", "outer", "inner", "all"]


def test_a_table_and_its_paragraphs_are_not_both_counted(sides: tuple[Path, Path]) -> None:
    def f1(level: Level | None, **options: Any) -> float:
        (evaluation,) = evaluate("snapshot", sides[0], [sides[1]], level=level, **options)
        return float(evaluation.to_json()["thresholds"]["0.5"]["micro"]["f1"])

    assert [f1(level, iou=(0.5,)) for level in LEVELS] == pytest.approx([1.0, 1.0, 6 / 13, 10 / 15])
    assert f1("all", iou=(0.5,), page_ranges=1) == f1("all", iou=(0.5,))


def test_terminal(run: Runner, sides: tuple[Path, Path], tmp_path: Path) -> None:
    counts = []
    for level in ("outer", "inner", "all"):
        code, out, _ = run("check", *sides, "--level", level, "--json")
        assert code == 0
        counts.append(json.loads(out)["files"][1]["boxes"])
        code, out, _ = run("describe", sides[1], "--level", level, "--json")
        assert (code, json.loads(out)["boxes"]) == (0, counts[-1])
        composed = tmp_path / "composed.xml"
        composed.write_text(COMPOSED.format(block("c", block("a") + block("b"))))
        code, out, _ = run("convert", composed, "--to", "coco", "--out", tmp_path / f"{level}.json", "--level", level)
        assert (code, out.rpartition(", ")[2].split()[0]) == (0, {"outer": "1", "inner": "2", "all": "3"}[level])
    assert counts == [5, 8, 10]
    code, out, _ = run("check", *sides)
    assert (
        code,
        FOUND in out,
    ) == (0, True)
    code, out, _ = run("evaluate", "snapshot", "--gt", sides[0], "--pred", sides[1], "--level", "inner", "--json")
    assert (code, " · level inner · " in json.loads(out)["signature"]) == (0, True)


def test_other_levels_are_refused(sides: tuple[Path, Path]) -> None:
    with pytest.raises(OptionError, match="--level must be one of outer, inner, all; found both"):
        evaluate("snapshot", sides[0], [sides[1]], level="both")


def test_what_lies_in_more_than_64_others_is_read_and_a_holder_of_many_boxes_takes_no_pairs_of_them() -> None:
    """A chain of all items, then one item in as many others as it has parts: counted in entries, not in seconds."""
    nesting, rows = Nesting(), 3_000
    for item in range(rows):
        nesting.add_box(item, item, "")
        nesting.put(item, inside=item + 1, group=False)
    for row in range(rows, 2 * rows):
        nesting.add_box(rows, row, "")
    assert nesting.drop_unsound() == [*range(rows - MOST_ABOVE)]
    out = nesting.left_out([0] * (2 * rows))
    assert {level: len(left) for level, left in out.items()} == {
        "outer": MOST_ABOVE, "inner": rows + MOST_ABOVE - 1, "all": 0, None: MOST_ABOVE,
    }  # fmt: skip
    nesting = Nesting()
    for part in range(rows):
        nesting.put(f"part {part}", inside="table", group=False)
        nesting.put("table", inside=f"figure {part}", group=False)
        nesting.add_box(f"part {part}", part, "")
    assert nesting.drop_unsound() == [*range(rows)]
    assert max(map(len, nesting._lines.values())) == 1
