"""Blocks from text in light markup.

Empty lines separate blocks: paragraphs, lists with "- " or "1. ", tables ("| " and their rules in the first line, cells
between "|"), captions ("Figure 1. ") and "!" with the name of a figure. "(0.8) " sets a paragraph so much smaller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sample_data.generators.layout import Block, Caption, Paragraph, Table, bullets, numbered

LEAD = re.compile(r"((?:Figure|Table) \d+\.) (.+)")
SCALED = re.compile(r"(?:\((\d\.\d+)\) )?(.+)")


def blocks_of(text: str, figures: Mapping[str, Block]) -> Iterator[Block]:
    """Yield the blocks of a text, with figures by their names."""
    for source in text.strip().split("\n\n"):
        joined = source.replace("\n", " ")
        if source.startswith("!"):
            yield figures[source[1:]]
        elif source.startswith("| "):
            (rules,), *rows = [[cell.strip() for cell in row.split("|")[1:]] for row in source.split("\n")]
            yield Table("l" + "r" * (len(rows[0]) - 1), rows[:1], rows[1:], rules)
        elif source.startswith("- "):
            yield from bullets(*source[2:].split("\n- "))
        elif source.startswith("1. "):
            yield from numbered(*re.split(r"\n?\d+\. ", source)[1:])
        elif lead := LEAD.fullmatch(joined):
            yield Caption(lead[1], lead[2])
        elif scaled := SCALED.fullmatch(joined):
            yield Paragraph(scaled[2], scale=float(scaled[1] or 1))
