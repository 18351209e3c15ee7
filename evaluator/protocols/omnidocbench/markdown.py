"""Markdown of a page to items as OmniDocBench 1.5 takes it apart: tables, formulas, code and text, each with its start.

What is taken out becomes as many blanks, so that the starts of what follows stay. Positions of text leave out the line
feeds between its parts; rows of a pipe table lose cells with a colon. Both are so in the published numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_PICTURE: Final = re.compile(r"!\[.*?\]\(.*?\)")
_FENCES: Final = (
    re.compile(r"^```(?:markdown|html|latex)\n?", re.MULTILINE),
    re.compile(r"```\n?$", re.MULTILINE),
)
_REPEATED: Final = (re.compile("_{4,}"), re.compile(" {4,}"))
_PAGE_TAGS: Final = ("<html>", "</html>", "<body>", "</body>")
_LATEX_TABLE: Final = re.compile(r"\\begin{table}(.*?)\\end{table}", re.DOTALL)
_FORMULA: Final = re.compile(r"\$\$(.*?)\$\$|\\\[(.*?)\\\]|\$(.*?)\$|\\\((.*?)\\\)", re.DOTALL)
_DOLLARS: Final = re.compile(r"\$\$(.*?)\$\$|\$(.*?)\$|\\\((.*?)\\\)", re.DOTALL)
_PIPES: Final = re.compile(r"\|\s*.*?\s*\|\n", re.DOTALL)
_FEWEST_PIPES: Final = 2
_RULE: Final = re.compile(":|---")
_COMMENT: Final = re.compile(r"<!--[\s\S]*?-->")
_PIPE_TABLE: Final = re.compile(r"<table>[\s\S]*?</table>")
_TABLE_PARTS: Final = re.compile("</?t(able|head|body)>")
_HTML_TABLE: Final = re.compile("(<table.*?</table>)", re.DOTALL)
_CODE: Final = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
_UNWRAPPED: Final = (
    re.compile(r"\\title\{(.*?)\}"),
    re.compile(r"\\title\s*\{\s*(.*?)\s*\}", re.DOTALL),
    re.compile(r"\\text\s*\{\s*(.*?)\s*\}", re.DOTALL),
    re.compile(r"\\section\*?\{(.*?)\}"),
    re.compile(r"\\section\*?\{\s*(.*?)\s*\}", re.DOTALL),
)


class Marks(NamedTuple):
    """What begins and ends an element that may hold others of its kind.

    `step` is how far the search goes on behind a mark and how long the end is taken to be, `start` how far behind one
    that never ends.
    """

    begin: re.Pattern[str]
    end: re.Pattern[str]
    step: int
    start: int


# The published program takes the lengths of its patterns for those of the marks.
_TABULAR: Final = Marks(re.compile(r"\\begin{tabular}"), re.compile(r"\\end{tabular}"), 14, 16)
_HTML: Final = Marks(re.compile("<table(?:[^>]*)>"), re.compile("</table>"), 8, 16)


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
    text = _PICTURE.sub("", markdown)
    for fence in _FENCES:
        text = fence.sub("", text)
    for repeated in _REPEATED:
        text = repeated.sub(lambda run: run[0][:4], text)
    for tag in _PAGE_TAGS:
        text = text.replace(tag, "")
    items: list[Item] = []
    for kind, places in (("latex", _latex_tables), ("html", lambda held: _outermost(held, _HTML))):
        for start, end in places(text):
            items.append(Item(kind, text[start:end], start))
            text = _without(text, start, end)
    text = _formulas(text, items)
    if len(_PIPES.findall(text + "\n")) >= _FEWEST_PIPES:
        text = _with_pipe_tables(text)
        for match in _HTML_TABLE.finditer(text):
            items.append(Item("html", match[0].strip(), match.start()))
            text = _without(text, *match.span())
    for match in _CODE.finditer(text):
        items.append(Item("text", match[2].strip(), match.start()))
        text = _without(text, *match.span())
    for wrapped in _UNWRAPPED:
        text = wrapped.sub(r"\1", text)
    items += _paragraphs(text)
    return sorted(items, key=lambda item: item.start)


def _without(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _latex_tables(text: str) -> list[tuple[int, int]]:
    tables = [match.span() for match in _LATEX_TABLE.finditer(text)]
    for span in tables:
        text = _without(text, *span)
    return sorted([*tables, *_outermost(text, _TABULAR)], key=lambda span: span[0])


def _outermost(text: str, marks: Marks, offset: int = 0) -> list[tuple[int, int]]:
    """Return where elements are that lie in no other of their kind; one without an end is passed over."""
    spans: list[tuple[int, int]] = []
    open_: list[int] = []
    at = offset
    while True:
        begin, end = marks.begin.search(text, at), marks.end.search(text, at)
        if begin and (not end or begin.start() < end.start()):
            open_.append(begin.start())
            at = begin.start() + marks.step
        elif end:
            first = open_.pop() if open_ else None
            if first is not None and not open_:
                spans.append((first, min(end.start() + marks.step, len(text))))
            at = end.start() + marks.step
        else:
            break
    return spans + _outermost(text, marks, open_[0] + marks.start) if open_ else spans


def _formulas(text: str, items: list[Item]) -> str:
    r"""Add the formulas of a text and return it without those that stand by themselves, ``$$`` and ``\[``."""
    for match in _FORMULA.finditer(text):
        line = " ".join(match[0].strip().split("\n"))
        inner = _DOLLARS.search(line)
        if inner is None or inner[1]:
            text = _without(text, *match.span())
            items.append(Item("formula", _DOLLARS.sub(r"\\[\1\\]", line), match.start()))
        else:
            items.append(Item("formula", _DOLLARS.sub(r"\\[\2\3\\]", line), match.start(), inline=True))
    return text


def _with_pipe_tables(text: str) -> str:
    """Return a text with HTML in the place of its pipe tables; the line before each is lost."""
    text = text.replace("\r", "") + "\n"
    for stretch in _PIPES.findall(text):
        text = text.replace(stretch, _pipe_rows(stretch), 1)
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
    for table in _PIPE_TABLE.findall(_COMMENT.sub("", "\n".join(block))):
        lines = [line.replace("<th>", "<td>").replace("</th>", "</td>") for line in table.split("\n")]
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
