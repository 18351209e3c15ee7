"""A research poster: set on a small sheet, stored at A0 or A1, with the reference text written from the layout.

Owns the band with title and people, the columns of parts, the enlargement to the size of a poster, the picture of a
poster that is handed out as JPEG, and the reference in the schema of the poster evaluation. Words come from
`posters.toml`. Units: points; origin top left of the displayed page.
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pymupdf

from sample_data.generators.canvas import Canvas
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


class Person(NamedTuple):
    """An author: family name, given name, and where they work."""

    name: str
    place: str


class Part(NamedTuple):
    """A section of a poster: its title and its blocks."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Sheet:
    """A poster: its words and how it is set.

    `wide` is A1 in landscape, else it is A0; `picture` is handed out as JPEG. `enlarged` says how many times larger the
    poster is than the sheet it is set on: the type of a report becomes that of a poster.
    """

    name: str
    title: str
    people: Sequence[Person]
    event: str
    theme: Theme
    columns: Sequence[Sequence[Part]]
    wide: bool = False
    picture: bool = False
    enlarged: float = 4.15


def write_pdf(sheet: Sheet) -> tuple[bytes, float]:
    """Return the poster as PDF (the same bytes on every run), and the room that stays free on its sheet in points."""
    width, height = (side / sheet.enlarged for side in (A1[::-1] if sheet.wide else A0))
    document = pymupdf.open()
    canvas = Canvas(document, width, height)
    head = _head(sheet)
    # A tinted head with a strip of the accent above it.
    red, green, blue = (BAND_TINT + (1 - BAND_TINT) * share for share in sheet.theme.accent)
    tall = MARGIN - 8 + stack_height(head, width - 2 * MARGIN, sheet.theme)
    canvas.rect((0.0, 0.0, width, tall), fill=(red, green, blue))
    canvas.rect((0.0, 0.0, width, 9.0), fill=sheet.theme.accent)
    cells = [[block for part in column for block in (Heading(part.title), *part.blocks)] for column in sheet.columns]
    page = Page([Span(head), Row(cells, shares=[1.0] * len(cells), gutter=26.0)], plain=True)
    free = draw_body(canvas, sheet.theme, page, (MARGIN, MARGIN - 8, width - MARGIN, height - MARGIN + 12))
    canvas.finish()
    document.subset_fonts()
    # The page is made larger with all that is on it; text stays text.
    move_contents(canvas.page, f"{sheet.enlarged:g} 0 0 {sheet.enlarged:g} 0 0")
    canvas.page.set_mediabox(pymupdf.Rect(0, 0, *(A1[::-1] if sheet.wide else A0)))
    return pdf_bytes(document, sheet.title), free


def _head(sheet: Sheet) -> list[Block]:
    """Title, people with their given names first, and event."""
    names = (person.name.partition(", ") for person in sheet.people)
    places = " · ".join(dict.fromkeys(person.place for person in sheet.people))
    return [
        Title(sheet.title),
        Paragraph("; ".join(f"{given} {family}" for family, _, given in names), scale=1.3, font=sheet.theme.heads),
        Paragraph(f"{places} · {sheet.event}", scale=1.05, font=f"{sheet.theme.heads}-italic", before=0.5),
        Rule(2.2),
    ]


def write_picture(pdf: bytes) -> bytes:
    """Return the poster as JPEG, as a scan or an export gives it: no text can be read from it."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        dpi = 72 * PICTURE_WIDTH / document[0].rect.width
        return as_jpeg(picture_of(document[0], dpi, "RGB"), PICTURE_QUALITY)


def reference(sheet: Sheet) -> Json:
    """Return the structured text of the poster: what its layout set, without the labels inside figures.

    Paragraphs and items of a section are joined by empty lines; a table is one line per row.
    """
    parts = [part for column in sheet.columns for part in column]
    captions = [block for part in parts for block in part.blocks if isinstance(block, Caption)]
    sections = [
        {"sectionTitle": part.title, "sectionContent": "\n\n".join(filter(None, map(_text, part.blocks)))}
        for part in parts
    ]
    return {
        "titles": [{"title": sheet.title}],
        "creators": [
            {"name": person.name, "nameType": "Personal", "affiliation": [{"name": person.place}]}
            for person in sheet.people
        ],
        "conference": {"conferenceName": sheet.event},
        "posterContent": {"sections": sections},
        "imageCaptions": _captions(captions, "Figure"),
        "tableCaptions": _captions(captions, "Table"),
    }


def _text(block: Block) -> str:
    """Return the running text of a block; captions stand elsewhere, figures have none."""
    if isinstance(block, Paragraph):
        return plain(block.source)
    if isinstance(block, Item):
        return f"{block.mark} {plain(block.source)}"
    if isinstance(block, Table):
        return "\n".join(" ".join(filter(None, row)) for row in (*block.head, *block.rows))
    return ""


def _captions(captions: Sequence[Caption], kind: str) -> Json:
    own = [caption for caption in captions if caption.lead.startswith(kind)]
    return {"captions": [{"captionParts": [caption.lead, plain(caption.source)]} for caption in own]}


def plain(source: str) -> str:
    """Return a text without its markup.

    >>> plain("10{^:-5} of {b:them}")
    '10-5 of them'
    """
    return MARKUP.sub(lambda match: match.group(2), source)
