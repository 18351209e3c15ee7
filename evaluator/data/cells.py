"""Tables as cells: from HTML, Markdown, OTSL or stated cells, and as grids of slots; rows and columns from 0.

HTML of strangers is parsed by libxml2, and its size is limited before: the parser of the standard library takes
quadratic time, and stops at marks that HTML does not have.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final, NamedTuple

from evaluator.data.plain_text import plain

MOST_MARKUP: Final = 1_000_000
"""Characters of the markup of a table; a longer one is not read."""
MOST_SLOTS: Final = 100_000
"""Rows times columns of a table."""
_DEEPEST: Final = 256
_MOST_COLUMNS: Final = 1_000
_PARTS: Final = ("thead", "tbody", "tfoot")
_CELLS: Final = ("td", "th")
# Their start tags part words.
_BLANKS: Final = ("br", "p", "div", "li", "table", "tr", *_CELLS)
_SPAN: Final = re.compile(r"[\t\n\f\r ]*\+?([0-9]{1,9})")
_OTSL: Final = re.compile(r"<(fcel|ecel|lcel|ucel|xcel|nl|ched|rhed|srow)>([^<]*)")
_OTSL_STARTS: Final = ("fcel", "ecel", "ched", "rhed", "srow")
# libxml2 passes over the end of what no tag began, such as a row that its first cell begins, and takes <td/> as closed;
# browsers do neither. So each end is a tag of its own, and the bar of <td/> is left out.
_ENDS: Final = re.compile(r"</(t[rdh]|thead|tbody|tfoot)(?![a-z0-9-])", re.IGNORECASE)
_CLOSED: Final = re.compile(r"(<t[rdh](?![a-z0-9-])[^<>]*)/>", re.IGNORECASE)
_END: Final = "-end"
_BAR: Final = re.compile(r"(?<!\\)\|")
_RULE: Final = re.compile(r":?-+:?")


class Cell(NamedTuple):
    """A cell of a table; `text` as written, `box` in the unit of the page, None where it is not stated."""

    row: int
    col: int
    row_span: int = 1
    col_span: int = 1
    header: bool = False
    text: str = ""
    box: tuple[float, float, float, float] | None = None


Cells = tuple[Cell, ...]
Table = str | Cells
"""A table as its source has it: markup, or cells."""


def cells_of(table: Table) -> Cells | None:
    """Return the cells of a table with plain texts, in the order of the source; None for one that is unreadable.

    Markup is OTSL where it has its tags, else HTML where it has a tag, else Markdown.
    """
    if not isinstance(table, str):
        cells = [cell._replace(text=plain(cell.text)) for cell in table]
    elif len(table) > MOST_MARKUP:
        return None
    elif _OTSL.search(table):
        cells = otsl_cells(table)
    else:
        parsed = html_cells(table) if "<" in table else markdown_cells(table)
        if parsed is None:
            return None
        cells = parsed
    return tuple(cells) if _fits(cells) else None


def _fits(cells: Sequence[Cell]) -> bool:
    """Return whether cells are of few enough slots, also where they lie on each other."""
    rows, columns = shape_of(cells)
    return max(rows * columns, sum(cell.row_span * cell.col_span for cell in cells)) <= MOST_SLOTS


def html_of(table: Table) -> str | None:
    """Return a table as HTML, as it is where it is that, with empty cells where others stand behind a gap.

    None for one that is unreadable, or too large.
    """
    if isinstance(table, str) and "<" in table and not _OTSL.search(table):
        return table
    cells = cells_of(table) if isinstance(table, str) else table
    if cells is None or not _fits(cells):
        return None
    rows: list[list[Cell]] = [[] for _ in range(shape_of(cells)[0])]
    taken: set[tuple[int, int]] = set()
    for cell in cells:
        rows[cell.row].append(cell)
        slots = range(cell.row, cell.row + cell.row_span), range(cell.col, cell.col + cell.col_span)
        taken.update((row, col) for row in slots[0] for col in slots[1])
    lines = []
    for row, own in enumerate(rows):
        last = max((cell.col for cell in own), default=0)
        gaps = [Cell(row, col) for col in range(last) if (row, col) not in taken]
        lines.append("".join(map(_cell_html, sorted((*own, *gaps), key=lambda cell: cell.col))))
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _cell_html(cell: Cell) -> str:
    tag = "th" if cell.header else "td"
    spans = (("rowspan", cell.row_span), ("colspan", cell.col_span))
    stated = "".join(f' {name}="{span}"' for name, span in spans if span > 1)
    return f"<{tag}{stated}>{html.escape(cell.text, quote=False)}</{tag}>"


def moved(table: Table | None, factor: Sequence[float]) -> Table | None:
    """Return a table with the boxes of its cells times a factor for x and y."""
    if table is None or isinstance(table, str):
        return table
    x, y = factor
    return tuple(
        cell
        if cell.box is None
        else cell._replace(box=(cell.box[0] * x, cell.box[1] * y, cell.box[2] * x, cell.box[3] * y))
        for cell in table
    )


def shape_of(cells: Sequence[Cell]) -> tuple[int, int]:
    """Return the numbers of rows and columns that cells reach."""
    return (
        max((cell.row + cell.row_span for cell in cells), default=0),
        max((cell.col + cell.col_span for cell in cells), default=0),
    )


class _Open:
    def __init__(self, row_span: int, col_span: int, *, header: bool) -> None:
        self.row_span, self.col_span, self.header = row_span, col_span, header
        self.text: list[str] = []


class _FirstTable:
    """The rows of the first table, told by a parser; a nested one is text of its cell."""

    def __init__(self) -> None:
        self.depth, self.seen, self.done, self.deepest = 0, False, False, 0
        self.rows: list[list[_Open]] = []
        self._cell: _Open | None = None
        self._in_row = self._in_head = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self.done:
            return
        if tag.endswith(_END):
            self._end(tag.removesuffix(_END))
            return
        if tag == "table":
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
            self.seen = True
        elif self.depth == 1 and tag in _PARTS:
            self._cell, self._in_row, self._in_head = None, False, tag == "thead"
            return
        elif self.depth == 1 and tag == "tr":
            self._begin_row()
            return
        elif self.depth == 1 and tag in _CELLS:
            if not self._in_row:
                self._begin_row()
            spans = _span(attributes.get("rowspan"), MOST_SLOTS), _span(attributes.get("colspan"), _MOST_COLUMNS)
            self._cell = _Open(*spans, header=tag == "th" or self._in_head)
            self.rows[-1].append(self._cell)
            return
        if self._cell is not None and tag in _BLANKS:
            self._cell.text.append(" ")

    def end(self, tag: str) -> None:
        if tag == "table" and self.depth:
            self.depth -= 1
            if self.depth == 0:
                self._cell, self.done = None, True

    def data(self, text: str) -> None:
        if self._cell is not None and not self.done:
            self._cell.text.append(text)

    def close(self) -> list[list[_Open]] | None:
        return self.rows if self.seen and self.deepest <= _DEEPEST else None

    def _end(self, tag: str) -> None:
        if self.depth != 1:
            return
        self._cell = None
        if tag not in _CELLS:
            self._in_row = False
        if tag in _PARTS:
            self._in_head = False

    def _begin_row(self) -> None:
        self._cell, self._in_row = None, True
        self.rows.append([])


def _span(value: str | None, most: int) -> int:
    """Return a span as browsers read it: the leading integer, 1 for 0 and for anything else."""
    digits = _SPAN.match(value or "")
    return min(int(digits[1]), most) or 1 if digits else 1


def html_cells(text: str) -> list[Cell] | None:
    """Return the cells of the first table of some HTML; None without one, and for what no parser takes."""
    # Only tables of markup need it, which takes 10 ms.
    from lxml.etree import HTMLParser, LxmlError  # type: ignore[import-untyped]

    parser = HTMLParser(target=_FirstTable())
    try:
        parser.feed(_ENDS.sub(rf"<\1{_END}></\1", _CLOSED.sub(r"\1>", text)))
        rows = parser.close()
    except LxmlError:
        return None
    return None if rows is None else _placed(rows)


def markdown_cells(text: str) -> list[Cell] | None:
    """Return the cells of a Markdown table, of which the first row is the header; None without a rule row."""
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    split = [
        [part.strip().replace("\\|", "|") for part in _BAR.split(line.removeprefix("|").removesuffix("|"))]
        for line in lines
    ]
    if len(split) < 2 or not all(map(_RULE.fullmatch, split[1])):
        return None
    header, _, *others = split
    return [
        Cell(row, col, header=row == 0, text=plain(part))
        for row, parts in enumerate([header, *others])
        for col, part in enumerate([*parts, *[""] * len(header)][: len(header)])
    ]


def otsl_cells(text: str) -> list[Cell]:
    """Return the cells of a table in OTSL."""
    grid: list[list[tuple[str, str]]] = [[]]
    for tag, content in _OTSL.findall(text):
        if tag == "nl":
            grid.append([])
        else:
            grid[-1].append((tag, content))

    def is_part(down: int, right: int, wanted: str) -> bool:
        return down < len(grid) and right < len(grid[down]) and grid[down][right][0] == wanted

    return [
        Cell(
            row,
            col,
            row_span=next(span for span in count(1) if not is_part(row + span, col, "ucel")),
            col_span=next(span for span in count(1) if not is_part(row, col + span, "lcel")),
            header=tag == "ched",
            text=plain(content),
        )
        for row, line in enumerate(grid)
        for col, (tag, content) in enumerate(line)
        if tag in _OTSL_STARTS
    ]


def _placed(rows: Sequence[Sequence[_Open]]) -> list[Cell] | None:
    taken: set[tuple[int, int]] = set()
    cells: list[Cell] = []
    slots = 0
    for row, line in enumerate(rows):
        col = 0
        for cell in line:
            while (row, col) in taken:
                col += 1
            row_span = min(cell.row_span, len(rows) - row)
            slots += row_span * cell.col_span
            if slots > MOST_SLOTS:
                return None
            taken.update((row + down, col + right) for down in range(row_span) for right in range(cell.col_span))
            cells.append(Cell(row, col, row_span, cell.col_span, cell.header, plain("".join(cell.text))))
            col += cell.col_span
    return cells
