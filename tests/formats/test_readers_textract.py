"""AWS Textract: layout blocks, or tables and lines, and the whole sentence for what is wrong."""

from tests.model_outputs import boxes, own, read, refused
from tests.reading import head, warned

LINES = (
    "f.json: $: a response should have LAYOUT blocks (Textract); found none. "
    "Its lines and tables are read; call AnalyzeDocument with the feature LAYOUT for regions."
)


def test_columns() -> None:
    source = read(own("textract.json"), "report.json")
    assert head(source) == ("textract", "prediction", "page", ["report"], [0, 1], None)
    assert boxes(source) == [(0, "LAYOUT_TITLE", 0.125, 0.5, 0.625, 0.75), (1, "LAYOUT_TABLE", 0.0, 0.5, 0.5, 1.0)]
    assert source.boxes.score.tolist() == [0.75, 0.25]
    assert (source.boxes.ids, source.issues) == (["$.Blocks[2]", "$.Blocks[4]"], ())


def test_a_response_without_layout_is_read_by_tables_and_lines() -> None:
    tree = own("textract.json")
    tree["Blocks"] = [block for block in tree["Blocks"] if not block["BlockType"].startswith("LAYOUT")]
    source = read(tree)
    assert [box[:2] for box in boxes(source)] == [(0, "LINE"), (1, "TABLE")]
    assert warned(source) == [LINES]


def test_the_parts_of_an_answer_are_one() -> None:
    tree = own("textract.json")
    parts = [{"Blocks": tree["Blocks"][:3]}, {"Blocks": tree["Blocks"][3:]}]
    source = read(parts)
    assert boxes(source) == boxes(read(tree))
    assert source.boxes.ids == ["$[0].Blocks[2]", "$[1].Blocks[1]"]
    assert refused([*parts, None]) == [
        "f.json: $[2]: a response must have an array of Blocks (Textract); found null. "
        "Export the file again, or correct it."
    ]
