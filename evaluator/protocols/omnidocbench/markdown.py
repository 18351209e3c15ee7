"""Markdown of a page to items as OmniDocBench 1.5 takes it apart: tables, formulas, code and text, each with its start.

What is taken out becomes as many blanks, so that the starts of what follows stay. Positions of text leave out the line
feeds between its parts; rows of a pipe table lose cells with a colon. Both are so in the published numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from evaluator.protocols.omnidocbench.marks import Places, spans, without, without_pictures

_FENCES: Final = (
    re.compile(r"^```(?:markdown|html|latex)\n?", re.MULTILINE),
    re.compile(r"```\n?$", re.MULTILINE),
)
_REPEATED: Final = (re.compile("_{4,}"), re.compile(" {4,}"))
_PAGE_TAGS: Final = ("<html>", "</html>", "<body>", "</body>")
_LATEX_TABLE: Final = re.compile(r"\\begin{table}")
_FORMULA: Final = re.compile(r"\$\$|\\\[|\$|\\\(")
_DOLLARS: Final = re.compile(r"\$\$|\$|\\\(")
_FORMULA_ENDS: Final = {"$$": "$$", "\\[": "\\]", "$": "$", "\\(": "\\)"}
_FEWEST_PIPES: Final = 2
_BAR: Final = re.compile(r"\|")
_RULE: Final = re.compile(":|---")
_COMMENT: Final = re.compile("<!--")
_TABLE: Final = re.compile("<table>")
_HTML_TABLE: Final = re.compile("<table")
_TABLE_PARTS: Final = re.compile("</?t(able|head|body)>")
_CODE: Final = re.compile(r"```(\w+)\n")
# What begins what is unwrapped, and whether in a line, where blanks around the inside stay.
_WRAPPED: Final = (
    (re.compile(r"\\title\{"), True),
    (re.compile(r"\\title\s*\{"), False),
    (re.compile(r"\\text\s*\{"), False),
    (re.compile(r"\\section\*?\{"), True),
    (re.compile(r"\\section\*?\{"), False),
)


class Marks(NamedTuple):
    """What begins and ends an element that may hold others of its kind.

    `step` is how far the search goes on behind a mark and how long the end is taken to be, `start` how far behind one
    that never ends.
    """

    begin: str
    end: str
    step: int
    start: int


# The published program takes the lengths of its patterns for those of the marks.
_TABULAR: Final = Marks(r"\begin{tabular}", r"\end{tabular}", 14, 16)
_HTML: Final = Marks("<table", "</table>", 8, 16)


class Item(NamedTuple):
    """A part of a page: what it is, what it says, and where it starts."""

    kind: str
    text: str
    start: int
    inline: bool = False

    @property
    def is_formula(self) -> bool:
        """Return whether it is a formula, in a line of text or by itself."""
        return self.kind == "formula"


def items_of(markdown: str) -> list[Item]:
    """Return the items of a page by their starts: kinds html, latex, formula and text."""
    text = without_pictures(markdown)
    for fence in _FENCES:
        text = fence.sub("", text)
    for repeated in _REPEATED:
        text = repeated.sub(lambda run: run[0][:4], text)
    for tag in _PAGE_TAGS:
        text = text.replace(tag, "")
    items: list[Item] = []
    for kind, places in (("latex", _latex_tables), ("html", lambda held: _outermost(held, _HTML))):
        # One may begin in another.
        for start, end in places(text):
            items.append(Item(kind, text[start:end], start))
            text = _without(text, [(start, end)])
    text = _formulas(text, items)
    if len(list(spans(text + "\n", _BAR, "|\n"))) >= _FEWEST_PIPES:
        text = _with_pipe_tables(text)
        tables = list(spans(text, _HTML_TABLE, "</table>"))
        items += [Item("html", text[span.start : span.end].strip(), span.start) for span in tables]
        text = _without(text, [(span.start, span.end) for span in tables])
    code = list(spans(text, _CODE, "```"))
    items += [Item("text", text[span.inside : span.stop].strip(), span.start) for span in code]
    text = _without(text, [(span.start, span.end) for span in code])
    for begin, in_line in _WRAPPED:
        text = _unwrapped(text, begin, in_line=in_line)
    items += _paragraphs(text)
    return sorted(items, key=lambda item: item.start)


def _without(text: str, places: Iterable[tuple[int, int]]) -> str:
    """Return a text with blanks in some places, which rise and share nothing."""
    parts, done = [], 0
    for start, end in places:
        parts += [text[done:start], " " * (end - start)]
        done = end
    return "".join([*parts, text[done:]])


def _latex_tables(text: str) -> list[tuple[int, int]]:
    tables = [(span.start, span.end) for span in spans(text, _LATEX_TABLE, r"\end{table}")]
    return sorted([*tables, *_outermost(_without(text, tables), _TABULAR)], key=lambda span: span[0])


def _outermost(text: str, marks: Marks) -> list[tuple[int, int]]:
    """Return where elements are that lie in no other of their kind; one without an end is passed over."""
    outer: list[tuple[int, int]] = []
    offset: int | None = 0
    while offset is not None:
        places, open_, at = Places(text), list[int](), offset
        while (end := places.after(marks.end, at)) <= len(text):
            begin = places.after(marks.begin, at)
            if begin < end:
                open_.append(begin)
            elif open_:
                first = open_.pop()
                if not open_:
                    outer.append((first, min(end + marks.step, len(text))))
            at = min(begin, end) + marks.step
        offset = open_[0] + marks.start if open_ else None
    return outer


def _formulas(text: str, items: list[Item]) -> str:
    r"""Add the formulas of a text and return it without those that stand by themselves, ``$$`` and ``\[``."""
    displayed = []
    for span in spans(text, _FORMULA, _FORMULA_ENDS):
        line = " ".join(text[span.start : span.end].strip().split("\n"))
        inner = next(spans(line, _DOLLARS, _FORMULA_ENDS), None)
        if inner is None or (inner.mark == "$$" and inner.stop > inner.inside):
            displayed.append((span.start, span.end))
            items.append(Item("formula", _displayed(line, ("$$",)), span.start))
        else:
            items.append(Item("formula", _displayed(line, ("$", "\\(")), span.start, inline=True))
    return _without(text, displayed)


def _displayed(line: str, marks: tuple[str, ...]) -> str:
    """Return a formula with brackets for dollars, with what is in it between some marks alone."""
    parts, done = [], 0
    for span in spans(line, _DOLLARS, _FORMULA_ENDS):
        inside = line[span.inside : span.stop] if span.mark in marks else ""
        parts += [line[done : span.start], f"\\[{inside}\\]"]
        done = span.end
    return "".join([*parts, line[done:]])


def _unwrapped(text: str, begin: re.Pattern[str], *, in_line: bool) -> str:
    parts, done = [], 0
    for span in spans(text, begin, "}", in_line=in_line):
        inside = text[span.inside : span.stop]
        parts += [text[done : span.start], inside if in_line else inside.strip()]
        done = span.end
    return "".join([*parts, text[done:]])


def _with_pipe_tables(text: str) -> str:
    """Return a text with HTML in the place of its pipe tables; the line before each is lost."""
    text = text.replace("\r", "") + "\n"
    parts, done = [], 0
    for span in spans(text, _BAR, "|\n"):
        parts += [text[done : span.start], _pipe_rows(text[span.start : span.end])]
        done = span.end
    text = "".join([*parts, text[done:]])
    lines: list[str] = []
    block: list[str] = []
    inside, before = False, ""
    for line in text.split("\n"):
        if "<table>" in line:
            inside = True
            block.append(before)
        elif inside:
            if not _RULE.search(before) and "</thead>" not in before:
                block.append(before)
            if "</table>" in before:
                inside = False
                lines.append(_joined_tables(block))
                block = []
        else:
            lines.append(before)
        before = line
    if before:
        ended = inside or "</table>" in before
        lines.append(_joined_tables([*block, before]) if ended else before)
    html = "\n".join(lines).replace("<table>", '<table border="1" >')
    return html.replace("<td>", '<td colspan="1" rowspan="1">')


def _pipe_rows(stretch: str) -> str:
    """Return a stretch of bars as a table of its first line and of those behind its second."""
    rows = [[cell.strip() for cell in row.strip().split("|")[1:-1]] for row in stretch.strip().split("\n")]
    head, *body = ["".join(f"      <th>{cell}</th>\n" for cell in row) for row in rows[:1] + rows[2:]]
    others = "".join(f"    <tr>\n{cells.replace('th>', 'td>')}    </tr>\n" for cells in body)
    return f"<table>\n  <thead>\n    <tr>\n{head}    </tr>\n  </thead>\n  <tbody>\n{others}  </tbody>\n</table>\n"


def _joined_tables(block: list[str]) -> str:
    """Return the rows of tables without a line between them as one; tables of which no cell is left go."""
    rows: list[str] = []
    text = without("\n".join(block), _COMMENT, "-->")
    for span in spans(text, _TABLE, "</table>"):
        table = text[span.start : span.end].replace("<th>", "<td>").replace("</th>", "</td>")
        lines = table.split("\n")
        kept = [line for line in lines if not _TABLE_PARTS.search(line)]
        if len(kept) > len(("<tr>", "</tr>")):
            rows += kept
    return "\n\n<table>\n{}\n</table>\n\n".format("\n".join(rows))


def _paragraphs(text: str) -> Iterator[Item]:
    parts = text.split("\n\n")
    if len(parts) == 1:
        parts = text.split("\n")
    start = 0
    for part in parts:
        said = "\n".join(line.strip() for line in part.strip().split("\n") if line.strip())
        if said.startswith("<table") and said.endswith("</table>"):
            yield Item("html", said, start)
        elif said.startswith("$") and said.endswith("$"):
            if said.replace("$", "").strip():
                yield Item("formula", said, start)
        elif said:
            yield Item("text", said, start)
        start += len(part)
