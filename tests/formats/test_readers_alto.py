"""ALTO: columns of blocks, against a count of its own on real files, and the whole sentence for what is wrong."""

import pytest

from evaluator import formats
from evaluator.formats import alto
from tests import reading
from tests.reading import OWN, head, outlines, rows, warned

ROW = alto.FORMAT


def block(edges: tuple[object, ...] = (10, 20, 100, 50), name: str = "TextBlock", inner: str = "") -> str:
    given = zip(("HPOS", "VPOS", "WIDTH", "HEIGHT"), edges, strict=False)
    return f"<{name} {' '.join(f'{key}={str(value)!r}' for key, value in given)}>{inner}</{name}>"


def polygon(points: str) -> str:
    return f'<Shape><Polygon POINTS="{points}"/></Shape>'


def page(*blocks: str, size: str = 'WIDTH="300" HEIGHT="400"', unit: str = "pixel") -> bytes:
    head = f"<alto><Description><MeasurementUnit>{unit}</MeasurementUnit></Description>"
    return "\n".join(
        [head, f"<Layout><Page {size}><PrintSpace>", *blocks, "</PrintSpace></Page></Layout>", "</alto>"]
    ).encode()


def test_columns() -> None:
    source = formats.read(OWN / "alto_4.xml", level="all")
    assert head(source) == ("alto", "ground_truth", "pixels", ["p1"], [0], [[300, 400]])
    assert rows(source) == [
        ("p1", 0, "TextBlock", [5, 2, 55.5, 8]), ("p1", 0, "Main", [10, 20, 110, 70]),
        ("p1", 0, "table", [10, 100, 210, 200]), ("p1", 0, "stamp", [20, 110, 30, 120]),
        ("p1", 0, "GraphicalElement", [1, 300, 31, 342]),
    ]  # fmt: skip
    assert (source.documents[0].path, list(source.boxes.ids)) == ("scans/p1.jpg", ["b0", "b1", "b2", "b3", "b4"])
    ring = [[10, 20], [110, 20], [110, 70], [10, 60]]
    assert outlines(source) == {1: [ring], 4: [[[1, 300], [31, 300], [16, 342]]]}
    assert [issue.found for issue in source.issues] == ['1 block with one, the first of kind "language"']


def test_blocks_on_the_page_itself() -> None:
    whole = page(
        "</PrintSpace>", block((1, 2, 3, 4), inner=polygon("1,2 4,2 3,6") + '<TextLine HPOS="1"/>'),
        block((5, 6, 7, 8), "ComposedBlock", block((5, 6, 2, 2))),
        "<TopMargin>", block((9, 9, 9, 9), "Illustration"), "</TopMargin>", "<PrintSpace>",
    )  # fmt: skip
    source = reading.read(ROW, whole, "a.xml", level="all")
    assert rows(source) == [
        ("a", 0, "TextBlock", [1, 2, 4, 6]), ("a", 0, "ComposedBlock", [5, 6, 12, 14]),
        ("a", 0, "TextBlock", [5, 6, 7, 8]), ("a", 0, "Illustration", [9, 9, 18, 18]),
    ]  # fmt: skip
    assert (list(source.boxes.polygons), source.issues) == ([0], ())


@pytest.mark.parametrize("unit", ["mm10", "inch1200"])
def test_parts_of_a_millimetre_or_inch_become_shares(unit: str) -> None:
    source = reading.read(ROW, (OWN / "alto_mm10.xml").read_bytes().replace(b"mm10", unit.encode()), "book.xml")
    blocks = [("book", 0, "TextBlock", [0.25, 0.25, 0.75, 0.75]), ("book", 1, "TextBlock", [0, 0, 0.25, 0.5])]
    assert (source.unit, rows(source)) == ("page", blocks)


def test_pages_without_blocks_or_a_size() -> None:
    assert len(reading.read(ROW, page(), "a.xml").boxes) == 0
    assert reading.read(ROW, page(block(), size=""), "a.xml").page_size is None


WRONG = [
    (page(block((10, 20, -5, 50))), "line 3, <TextBlock>: WIDTH and HEIGHT must not be negative (ALTO); found "
     "[-5, 50]. Correct the block, or remove it."),
    (page(block(("NaN", 20, 5, 50))), 'line 3, <TextBlock>: HPOS must be a finite number (ALTO); found "NaN". '
     "Correct it."),
    (page(block((10, 20, 5))), "line 3, <TextBlock>: HEIGHT must be a finite number (ALTO); found none. Correct it."),
    (page(block((10, 20, 5, "1e999"))), 'line 3, <TextBlock>: HEIGHT must be a finite number (ALTO); found "1e999". '
     "Correct it."),
    (page(block(inner=polygon("1,2 3"))), "line 3, <Polygon>: POINTS must be pairs of finite numbers (ALTO); found "
     '"1,2 3". Write them, for example POINTS="10,10 90,10 50,60".'),
    (page(block(inner=polygon("1,2 3,4"))), "line 3, <Polygon>: an outline must have at least 3 points (ALTO); found "
     '"1,2 3,4". Correct the block, or remove it.'),
    (page(block(), size='WIDTH="0" HEIGHT="9"'), "line 2, <Page>: width and height must be above 0 (ALTO); found "
     "[0, 9]. Write the size of the image in pixels."),
    (page(block(), size="", unit="mm10"), "line 2, <Page>: every page must have a width and a height (ALTO); found "
     "none. Write the size of the page."),
    (page(block(), unit="cm"), "line 1, <MeasurementUnit>: MeasurementUnit must be one of pixel, mm10, inch1200 "
     '(ALTO); found "cm". Correct the unit.'),
    (b"<alto></alto>", "the file must have a <Page> (ALTO); found none. Export the file again."),
    (page(block()).replace(b"Page", b"Sheet"), 'line 2, <Sheet>: a Layout must have only pages (ALTO); found "Sheet". '
     "Call it Page, or remove it."),
    (b"<alto2></alto2>", 'line 1, <alto2>: the outermost element must be <alto> (ALTO); found "alto2". Export the '
     "file again."),
]  # fmt: skip


@pytest.mark.parametrize(("content", "sentence"), WRONG)
def test_sentences(content: bytes, sentence: str) -> None:
    assert reading.refused(ROW, content, "a.xml") == [f"a.xml: {sentence}"]


@pytest.mark.parametrize(
    ("tag", "label"),
    [
        ('<StructureTag ID="t" TYPE="Running Title"/>', "Running Title"),
        ('<LayoutTag ID="t" TYPE="header" LABEL=" "/>', "header"),
        ('<LayoutTag ID="t" TYPE="marginalia" LABEL="note"/>', "note"),
        ('<StructureTag ID="t" TYPE="Structural" LABEL="titre 1"/>', "titre 1"),
        ('<StructureTag ID="t" TYPE="Structural"/>', "TextBlock"),
        ('<OtherTag ID="t" TYPE="stamp"/>', "stamp"),
        ('<RoleTag ID="t" LABEL="author"/>', "TextBlock"),
        ('<OtherTag ID="t" TYPE="NE" LABEL="important"/>', "TextBlock"),
    ],
)
def test_a_tag_gives_its_label_or_its_type(tag: str, label: str) -> None:
    content = page(block().replace(">", ' TAGREFS="x t">', 1)).replace(
        b"<Layout>", f"<Tags>{tag}</Tags><Layout>".encode()
    )
    source = reading.read(ROW, content, "a.xml")
    assert [row[2] for row in rows(source)] == [label]
    kind = "NE" if "NE" in tag else "RoleTag"
    left_out = [
        "a.xml: line 3, <TextBlock>: tags for named entities, roles, languages and fonts are no labels (ALTO); found 1 "
        f'block with one, the first of kind "{kind}". These blocks have the label of another tag, of their TYPE or of '
        "their element.",
    ]
    assert warned(source) == (left_out if "NE" in tag or "Role" in tag else [])


def test_what_stands_behind_the_pages_holds_of_them() -> None:
    tagged = page(block((0, 0, 150, 200)).replace(">", ' TAGREFS="t">', 1), unit="mm10")
    tags, layout = b'<Tags><OtherTag ID="t" TYPE="stamp"/></Tags>', tagged.index(b"<Layout>")
    description = tagged[tagged.index(b"<Description>") : layout]
    content = b"<alto>" + tagged[layout:].replace(b"</alto>", description + tags + b"</alto>")
    source = reading.read(ROW, content, "a.xml")
    assert (source.unit, rows(source)) == ("page", [("a", 0, "stamp", [0, 0, 0.5, 0.5])])


def test_a_block_without_a_place_is_left_out() -> None:
    assert warned(reading.read(ROW, page(block(()), block()), "a.xml")) == [
        "a.xml: line 3, <TextBlock>: a block must have HPOS, VPOS, WIDTH, HEIGHT or an outline (ALTO); found neither. "
        "It is left out; give its place to have it compared.",
    ]
