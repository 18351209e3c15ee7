"""A research poster: set on a small sheet, stored at A0 or A1, with the reference text written from the layout.

Owns the band with title and people, the columns of parts, the enlargement to the size of a poster, the picture of a
poster that is handed out as JPEG, and the reference in the schema of the poster evaluation. Words come from
`poster_sheets.py`. Units: points; origin top left of the displayed page.
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pymupdf

from sample_data.generators.canvas import Box, Canvas
from sample_data.generators.layout import (
    Block,
    Caption,
    Heading,
    Item,
    Page,
    Paragraph,
    Row,
    Rule,
    Span,
    Table,
    Theme,
    Title,
    draw_body,
    stack_height,
)
from sample_data.generators.pdf_file import as_jpeg, move_contents, pdf_bytes, picture_of
from sample_data.generators.typeset import MARKUP

A0, A1 = (2384.0, 3370.0), (1684.0, 2384.0)
MARGIN = 34.0
BAND_TINT = 0.90
PICTURE_WIDTH = 1_700
PICTURE_QUALITY = 44

Json = dict[str, object]


@dataclass(frozen=True)
class Person:
    """An author: family name, given name, and where they work."""

    name: str
    place: str


@dataclass(frozen=True, init=False)
class Part:
    """A section of a poster: its title and its blocks."""

    title: str
    blocks: tuple[Block, ...]

    def __init__(self, title: str, *blocks: Block) -> None:
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "blocks", blocks)


@dataclass(frozen=True)
class Sheet:
    """A poster: its words and how it is set.

    `wide` is A1 in landscape, else it is A0; `picture` is handed out as JPEG. `enlarged` says how many times larger the
    poster is than the sheet it is set on: the type of a report becomes that of a poster.
    """

    name: str
    title: str
    people: tuple[Person, ...]
    event: str
    theme: Theme
    columns: tuple[tuple[Part, ...], ...]
    wide: bool = False
    picture: bool = False
    enlarged: float = 4.15

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the sheet on which the poster is set."""
        width, height = A1[::-1] if self.wide else A0
        return width / self.enlarged, height / self.enlarged


def write_pdf(sheet: Sheet) -> tuple[bytes, float]:
    """The poster as PDF (the same bytes on every run), and the room that stays free on its sheet in points."""
    width, height = sheet.size
    document = pymupdf.open()
    canvas = Canvas(document, width, height)
    page = _page(sheet)
    _tint_band(canvas, sheet)
    free = draw_body(canvas, sheet.theme, page, (MARGIN, MARGIN - 8, width - MARGIN, height - MARGIN + 12))
    canvas.finish()
    document.subset_fonts()
    _enlarge(document[0], sheet.enlarged)
    return pdf_bytes(document, sheet.title), free


def write_picture(pdf: bytes) -> bytes:
    """The poster as JPEG, as a scan or an export gives it: no text can be read from it."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        dpi = 72 * PICTURE_WIDTH / document[0].rect.width
        return as_jpeg(picture_of(document[0], dpi, "RGB"), PICTURE_QUALITY)


def reference(sheet: Sheet) -> Json:
    """The structured text of the poster: what its layout set, without the labels inside figures.

    Returns
    -------
    dict
        ``titles``, ``creators``, ``conference``, ``posterContent.sections``, ``imageCaptions``, ``tableCaptions``.
        Paragraphs and items of a section are joined by empty lines; a table is one line per row.
    """
    parts = [part for column in sheet.columns for part in column]
    captions = [block for part in parts for block in part.blocks if isinstance(block, Caption)]
    return {
        "titles": [{"title": sheet.title}],
        "creators": [
            {"name": person.name, "nameType": "Personal", "affiliation": [{"name": person.place}]}
            for person in sheet.people
        ],
        "conference": {"conferenceName": sheet.event},
        "posterContent": {
            "sections": [
                {"sectionTitle": part.title, "sectionContent": "\n\n".join(_texts(part.blocks))} for part in parts
            ]
        },
        "imageCaptions": {"captions": list(_captions(captions, "Figure"))},
        "tableCaptions": {"captions": list(_captions(captions, "Table"))},
    }


def _texts(blocks: Sequence[Block]) -> Iterator[str]:
    """The running text of blocks; captions stand elsewhere, figures have none."""
    for block in blocks:
        if isinstance(block, Paragraph):
            yield plain(block.source)
        elif isinstance(block, Item):
            yield f"{block.mark} {plain(block.source)}"
        elif isinstance(block, Table):
            yield "\n".join(" ".join(cell for cell in row if cell) for row in (*block.head, *block.rows))


def _captions(captions: Sequence[Caption], kind: str) -> Iterator[Json]:
    for caption in captions:
        if caption.lead.startswith(kind):
            yield {"captionParts": [caption.lead, plain(caption.source)]}


def plain(source: str) -> str:
    """A text without its markup.

    >>> plain("10{^:-5} of {b:them}")
    '10-5 of them'
    """
    return MARKUP.sub(lambda match: match.group(2), source)


def _head(sheet: Sheet) -> list[Block]:
    """Title, people and event."""
    people = "; ".join(_name(person) for person in sheet.people)
    places = " · ".join(dict.fromkeys(person.place for person in sheet.people))
    return [
        Title(sheet.title),
        Paragraph(people, scale=1.3, font=sheet.theme.heads),
        Paragraph(f"{places} · {sheet.event}", scale=1.05, font=f"{sheet.theme.heads}-italic", before=0.5),
        Rule(2.2),
    ]


def _head_height(sheet: Sheet) -> float:
    return stack_height(_head(sheet), sheet.size[0] - 2 * MARGIN, sheet.theme)


def _page(sheet: Sheet) -> Page:
    """The poster as bands: title and people, then the columns."""
    cells = [[block for part in column for block in (Heading(part.title), *part.blocks)] for column in sheet.columns]
    return Page([Span(_head(sheet)), Row(cells, shares=[1.0] * len(cells), gutter=26.0)], plain=True)


def _name(person: Person) -> str:
    """A name as a poster prints it: given name first."""
    family, _, given = person.name.partition(", ")
    return f"{given} {family}"


def _tint_band(canvas: Canvas, sheet: Sheet) -> None:
    """A tinted sheet head with a strip of the accent above it."""
    red, green, blue = sheet.theme.accent
    tint = tuple(BAND_TINT + (1 - BAND_TINT) * share for share in (red, green, blue))
    band: Box = (0.0, 0.0, canvas.width, MARGIN - 8 + _head_height(sheet))
    canvas.rect(band, fill=(tint[0], tint[1], tint[2]))
    canvas.rect((0.0, 0.0, canvas.width, 9.0), fill=sheet.theme.accent)


def _enlarge(page: pymupdf.Page, factor: float) -> None:
    """Make a page larger with all that is on it; text stays text."""
    width, height = round(page.rect.width * factor), round(page.rect.height * factor)
    move_contents(page, f"{factor:g} 0 0 {factor:g} 0 0")
    page.set_mediabox(pymupdf.Rect(0, 0, width, height))
