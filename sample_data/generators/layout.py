"""Blocks, bands and pages: how a report is composed and where each layout element comes from.

A page is a stack of bands (`Span`: full width, `Flow`: balanced columns, `Row`: cells side by side) with footnotes at
its foot and a running header and footer. Each block opens its own layout element on the canvas, so the ground truth
is a by-product of drawing. Units: points, origin top left of the displayed page.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sample_data.generators.canvas import GREY, HAIR, INK, Box, Canvas, Cell, Color, Style, text_width
from sample_data.generators.typeset import Line, draw_line, formula, line_text, set_paragraph

MAX_GAP_STRETCH = 7.0  # points that a gap between blocks may grow to align the feet of columns
MAX_GROWTH = 165.0  # points that figures marked `grow` may gain to fill a page
MAX_BAND_STRETCH = 12.0  # points that a gap between bands may gain on a page that is nearly full
FOOTNOTE_RULE = 90.0
FORMULA_SIZE = 1.08  # of the running text


@dataclass(frozen=True)
class Theme:
    """Typography of one report."""

    body: str = "serif"
    heads: str = "sans"
    size: float = 9.6
    leading: float = 12.5
    accent: Color = (0.12, 0.30, 0.50)
    title_size: float = 24.0
    head_sizes: tuple[float, float] = (13.0, 10.8)
    table_font: str = "sans"
    table_size: float = 8.0
    caption_font: str = "sans"
    caption_size: float = 8.2
    gap: float = 6.5
    justify: bool = True


Drawing = Callable[[Canvas, Box], None]


class Block:
    """A piece of a page."""

    @property
    def before(self) -> float:
        """Gap above the block, in gaps of the theme."""
        return 1.0

    @property
    def keep_with_next(self) -> bool:
        """Whether a column may not end after this block."""
        return False

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        raise NotImplementedError

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        raise NotImplementedError

    def split(self, width: float, theme: Theme, room: float) -> tuple[Block, Block] | None:
        """Head that fits into `room` and the rest, or None when the block stays whole."""
        return None


class Text(Block):
    """Lines of type under one label, perhaps with a mark that hangs in front of them."""

    label: str
    source: str
    mark: str = ""
    hang: float = 0.0

    def _typography(self, theme: Theme) -> tuple[Style, float, bool]:
        """Style, distance of the baselines, and whether lines are set to the full width."""
        raise NotImplementedError

    def _lines(self, width: float, theme: Theme) -> tuple[Line, ...]:
        """Return the lines of the text for a block of this width."""
        return set_paragraph(self.source, self._typography(theme)[0], width - self.hang)

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        style, leading, _ = self._typography(theme)
        return (len(self._lines(width, theme)) - 1) * leading + style.size * 0.96

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y); the first baseline lies one ascender below."""
        style, leading, justify = self._typography(theme)
        baseline = y + style.size * 0.74
        lines = self._lines(width, theme)
        said = "\n".join(map(line_text, lines))
        with canvas.element(self.label, f"{self.mark} {said}" if self.mark else said):
            if self.mark:
                canvas.text(x + 1, baseline, self.mark + " ", style)
            for line in lines:
                draw_line(canvas, line, (x + self.hang, baseline), width - self.hang, style, justify=justify)
                baseline += leading


@dataclass(frozen=True)
class Paragraph(Text):
    """Running text, or other text of its kind under another label."""

    source: str
    label: str = "Text"
    scale: float = 1.0
    font: str = ""
    lines: tuple[Line, ...] = ()
    before: float = 1.0

    def _typography(self, theme: Theme) -> tuple[Style, float, bool]:
        return Style(theme.size * self.scale, self.font or theme.body), theme.leading * self.scale, theme.justify

    def _lines(self, width: float, theme: Theme) -> tuple[Line, ...]:
        # A part of a paragraph keeps the lines of the whole.
        return self.lines or super()._lines(width, theme)

    def split(self, width: float, theme: Theme, room: float) -> tuple[Block, Block] | None:
        """Head that fits into `room` and the rest; two lines stay together on both sides."""
        style, leading, _ = self._typography(theme)
        lines = self._lines(width, theme)
        count = min(int((room - style.size * 0.96) // leading) + 1, len(lines) - 2)
        return (replace(self, lines=lines[:count]), replace(self, lines=lines[count:])) if count >= 2 else None


@dataclass(frozen=True)
class Title(Text):
    """Title of a document or chapter."""

    source: str
    scale: float = 1.0
    label = "Title"

    def _typography(self, theme: Theme) -> tuple[Style, float, bool]:
        size = theme.title_size * self.scale
        return Style(size, f"{theme.heads}-bold", theme.accent), size * 1.16, False

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points, with some air below."""
        return len(self._lines(width, theme)) * self._typography(theme)[1] + 4


@dataclass(frozen=True)
class Heading(Text):
    """Section header of level 1 or 2; may run over several lines."""

    source: str
    level: int = 1
    label = "Section-header"
    keep_with_next = True

    @property
    def before(self) -> float:
        """Gap above the block, in gaps of the theme."""
        return 2.0 if self.level == 1 else 1.5

    def _typography(self, theme: Theme) -> tuple[Style, float, bool]:
        size = theme.head_sizes[self.level - 1]
        return Style(size, f"{theme.heads}-bold", theme.accent), size * 1.2, False


@dataclass(frozen=True)
class Item(Text):
    """One item of a list with a hanging mark."""

    source: str
    mark: str = "•"
    hang: float = 13.0
    label = "List-item"
    before = 0.62

    def _typography(self, theme: Theme) -> tuple[Style, float, bool]:
        return Style(theme.size, theme.body), theme.leading, theme.justify


def bullets(*sources: str) -> list[Block]:
    """List items with bullets."""
    return [Item(source) for source in sources]


def numbered(*sources: str, hang: float = 13.0) -> list[Block]:
    """List items with numbers."""
    return [Item(source, f"{number}.", hang) for number, source in enumerate(sources, start=1)]


@dataclass(frozen=True)
class Caption(Text):
    """Caption: a bold lead such as "Figure 3." and the text; `below` when it stands under its object."""

    lead: str
    source: str
    below: bool = True
    label = "Caption"

    @property
    def before(self) -> float:
        """Gap above the block, in gaps of the theme."""
        return 0.8 if self.below else 1.5

    @property
    def keep_with_next(self) -> bool:
        """Whether a column may not end after this block."""
        return not self.below

    def _typography(self, theme: Theme) -> tuple[Style, float, bool]:
        return Style(theme.caption_size, theme.caption_font), theme.caption_size * 1.25, False

    def _lines(self, width: float, theme: Theme) -> tuple[Line, ...]:
        return set_paragraph(f"{{b:{self.lead}}} {self.source}", self._typography(theme)[0], width)


@dataclass(frozen=True)
class Figure(Block):
    """A drawing of at least a height; `grow` lets it take the free room of its page, `inset` narrows it."""

    drawing: Drawing
    tall: float
    grow: bool = True
    inset: float = 0.0
    before = 1.4
    keep_with_next = True

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        return self.tall

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        with canvas.element("Figure"):
            self.drawing(canvas, (x + self.inset, y, x + width - self.inset, y + self.tall))


@dataclass(frozen=True)
class Formula(Block):
    """A displayed formula in the notation of `typeset.formula`, with its number at the right margin."""

    source: str
    number: str = ""
    before = 1.4

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        box = formula(self.source, theme.size * FORMULA_SIZE)
        return box.ascent + box.descent + 2

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        box = formula(self.source, theme.size * FORMULA_SIZE)
        with canvas.element("Formula", f"{self.source} {self.number}".strip()):
            box.draw(canvas, x + (width - box.width) / 2, y + box.ascent)
            if self.number:
                canvas.text(x + width, y + box.ascent, self.number, Style(theme.size, theme.body), "right")


@dataclass(frozen=True)
class Rule(Block):
    """A decorative line across the column; belongs to no element."""

    weight: float = 1.2

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        return self.weight

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        canvas.line((x, y), (x + width, y), color=theme.accent, width=self.weight)


@dataclass(frozen=True)
class Table(Block):
    """A table.

    Attributes
    ----------
    align : one letter per column: l, r or c.
    head : rows of the header; a line feed breaks a cell.
    rows : body; a row with one cell is a group row, a row that starts with "=" is a total (bold).
    rules : "grid" (all cells), "three" (top, under the head, bottom), "hair" (a hairline under every row),
        "zebra" (shaded rows, no lines) or "bare" (nothing at all).
    spans : headings over several columns as (first column, last column, text).
    """

    align: str
    head: Sequence[Sequence[str]]
    rows: Sequence[Sequence[str]]
    rules: str = "three"
    spans: Sequence[tuple[int, int, str]] = ()
    pitch: float = 1.8
    weights: Sequence[float] = ()
    before = 0.7

    def _style(self, theme: Theme, *, bold: bool) -> Style:
        return Style(theme.table_size, f"{theme.table_font}-bold" if bold else theme.table_font)

    def _row_height(self, row: Sequence[str], theme: Theme) -> float:
        lines = max(cell.count("\n") + 1 for cell in row)
        return theme.table_size * (self.pitch + 1.18 * (lines - 1))

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        rows = [*self.head, *self.rows]
        return sum(self._row_height(row, theme) for row in rows) + bool(self.spans) * theme.table_size * 1.7 + 1

    def _edges(self, width: float, theme: Theme) -> list[float]:
        """Left edges of the columns and the right edge of the last one, relative to the table."""
        natural = [0.0] * len(self.align)
        for number, row in enumerate([*self.head, *self.rows]):
            style = self._style(theme, bold=number < len(self.head) or row[0].startswith("="))
            if len(row) == len(natural):
                widths = (max(text_width(part, style) for part in cell.lstrip("=").split("\n")) + 9 for cell in row)
                natural = [max(pair) for pair in zip(natural, widths, strict=True)]
        spare = width - sum(natural)
        weights = self.weights or [1.0] * len(natural)
        columns = (own + spare * weight / sum(weights) for own, weight in zip(natural, weights, strict=True))
        return list(itertools.accumulate(columns, initial=0.0))

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        edges = [x + edge for edge in self._edges(width, theme)]
        with canvas.element("Table") as element:
            element.cells = self._cells(theme, edges, y)
            bands = [y]
            y += 0.5
            if self.spans:
                y = self._draw_spans(canvas, theme, edges, y)
            for row in self.head:
                y = self._draw_row(canvas, theme, edges, y, row, bold=True)
            bands.append(y)
            for number, row in enumerate(self.rows):
                if self.rules == "zebra" and number % 2 == 0:
                    canvas.rect((edges[0], y, edges[-1], y + self._row_height(row, theme)), fill=(0.93, 0.95, 0.97))
                y = self._draw_row(canvas, theme, edges, y, row, bold=row[0].startswith("="))
                bands.append(y)
            self._draw_rules(canvas, theme, edges, bands)

    def _cells(self, theme: Theme, edges: Sequence[float], y: float) -> list[Cell]:
        """Return the cells of the grid in rows from the top; a group row is one cell over all columns."""
        starts = dict.fromkeys(range(len(self.align)), "")
        wide = {first: (last - first + 1, text) for first, last, text in self.spans}
        covered = {place for first, last, _ in self.spans for place in range(first + 1, last + 1)}
        head = [[(place, *wide.get(place, (1, text))) for place, text in starts.items() if place not in covered]]
        rows = head if self.spans else []
        heights = [theme.table_size * 1.7] if self.spans else []
        for row in (*self.head, *self.rows):
            span = 1 if len(row) > 1 else len(self.align)
            rows.append([(place, span, cell.lstrip("=")) for place, cell in enumerate(row)])
            heights.append(self._row_height(row, theme))
        tops = list(itertools.accumulate(heights, initial=y + 0.5))
        headers = len(rows) - len(self.rows)
        return [
            Cell(row, col, (edges[col], tops[row], edges[col + span], tops[row + 1]), text, row < headers, span)
            for row, cells in enumerate(rows)
            for col, span, text in cells
        ]

    def _draw_spans(self, canvas: Canvas, theme: Theme, edges: list[float], y: float) -> float:
        style = self._style(theme, bold=True)
        bottom = y + theme.table_size * 1.7
        for first, last, text in self.spans:
            left, right = edges[first] + 5, edges[last + 1] - 3
            canvas.text((left + right) / 2, bottom - style.size * 0.55, text, style, "center")
            if self.rules != "bare":
                canvas.line((left, bottom - 1), (right, bottom - 1), color=GREY, width=0.4)
        return bottom

    def _draw_row(
        self, canvas: Canvas, theme: Theme, edges: list[float], y: float, row: Sequence[str], *, bold: bool
    ) -> float:
        bottom = y + self._row_height(row, theme)
        style = self._style(theme, bold=bold)
        if len(row) < len(self.align):
            style = replace(style, font=f"{theme.table_font}-italic")
        pad = 4.0 if self.rules in {"grid", "zebra"} else 1.5
        for kind, left, right, cell in zip(self.align, edges, edges[1:], row, strict=False):
            places = {"l": (left + pad, "left"), "r": (right - pad, "right"), "c": ((left + right) / 2, "center")}
            x, align = places[kind]
            parts = cell.lstrip("=").split("\n")
            for number, part in enumerate(parts, start=1 - len(parts)):
                if part:
                    canvas.text(x, bottom - style.size * (0.55 - 1.18 * number), part, style, align)
        return bottom

    def _draw_rules(self, canvas: Canvas, theme: Theme, edges: list[float], bands: list[float]) -> None:
        def across(y: float, color: Color, width: float) -> None:
            canvas.line((edges[0], y), (edges[-1], y), color=color, width=width)

        if self.rules == "grid":
            for y in bands:
                across(y, GREY, 0.5)
            for edge in edges:
                canvas.line((edge, bands[0]), (edge, bands[-1]), color=GREY, width=0.5)
        if self.rules == "hair":
            for y in bands[2:-1]:
                across(y, HAIR, 0.35)
        if self.rules in {"three", "hair"}:
            for y, weight in ((bands[0], 0.9), (bands[1], 0.5), (bands[-1], 0.9)):
                across(y, INK, weight)
        if self.rules == "zebra":
            across(bands[1], theme.accent, 1.0)


@dataclass(frozen=True)
class Flow:
    """Blocks in balanced columns; paragraphs may continue in the next column."""

    blocks: Sequence[Block]
    columns: int = 2
    gutter: float = 18.0


@dataclass(frozen=True)
class Span(Flow):
    """Blocks over the full width."""

    columns: int = 1


@dataclass(frozen=True)
class Row:
    """Cells side by side, each a stack of blocks; `shares` are relative widths."""

    cells: Sequence[Sequence[Block]]
    shares: Sequence[float] = (1.0, 1.0)
    gutter: float = 18.0


Band = Flow | Row


@dataclass(frozen=True)
class Page:
    """One page: its bands and footnotes; `wide` turns it to landscape, `plain` leaves header and footer out."""

    bands: Sequence[Band]
    footnotes: Sequence[tuple[str, str]] = ()
    wide: bool = False
    plain: bool = False
    turned: bool = False
    trimmed: bool = False
    backdrop: Callable[[Canvas], None] | None = None


def stack_height(blocks: Sequence[Block], width: float, theme: Theme) -> float:
    """Height of blocks on top of each other; the gap above the first one does not count."""
    gaps = sum(block.before * theme.gap for block in blocks[1:])
    return gaps + sum(block.height(width, theme) for block in blocks)


def fill_columns(
    blocks: Sequence[Block], columns: int, width: float, theme: Theme, tall: float
) -> list[list[Block]] | None:
    """Blocks dealt into columns of a height, or None when they do not fit."""
    filled: list[list[Block]] = [[]]
    queue = list(blocks)
    while queue:
        block, column = queue[0], filled[-1]
        needed = stack_height([*column, block], width, theme)
        follower = queue[1] if block.keep_with_next and len(queue) > 1 else None
        if follower is not None:
            reserve = follower.height(width, theme)
            if not isinstance(follower, Figure | Table | Caption):
                reserve = min(reserve, theme.leading * 3)
            needed += follower.before * theme.gap + reserve
        if needed <= tall + 0.01:
            column.append(queue.pop(0))
            continue
        room = tall - stack_height(column, width, theme) - (block.before * theme.gap if column else 0)
        parts = block.split(width, theme, room) if follower is None else None
        if parts is not None:
            column.append(parts[0])
            queue[0] = parts[1]
        if len(filled) == columns or not column:
            return None
        filled.append([])
    return filled


def balance(blocks: Sequence[Block], columns: int, width: float, theme: Theme) -> list[list[Block]]:
    """Columns of the smallest height that takes all blocks."""
    low, high = 0.0, stack_height(blocks, width, theme) + 20
    best = fill_columns(blocks, columns, width, theme, high)
    while high - low > 0.5:
        middle = (low + high) / 2
        trial = fill_columns(blocks, columns, width, theme, middle)
        if trial is None:
            low = middle
        else:
            high, best = middle, trial
    if best is None:
        raise ValueError("layout: a block is taller than its column")
    return best


def grown(band: Band, extra: float) -> Band:
    """Return the band with all its growing figures higher by `extra`."""

    def taller(blocks: Sequence[Block]) -> list[Block]:
        return [replace(b, tall=b.tall + extra) if isinstance(b, Figure) and b.grow else b for b in blocks]

    if isinstance(band, Row):
        return replace(band, cells=[taller(cell) for cell in band.cells])
    return replace(band, blocks=taller(band.blocks))


def cells_of(band: Band, width: float, theme: Theme) -> list[tuple[Sequence[Block], float]]:
    """Return the cells of a band from left to right: blocks and width."""
    if isinstance(band, Flow):
        each = (width - band.gutter * (band.columns - 1)) / band.columns
        return [(column, each) for column in balance(band.blocks, band.columns, each, theme)]
    free = width - band.gutter * (len(band.cells) - 1)
    return [(cell, free * share / sum(band.shares)) for cell, share in zip(band.cells, band.shares, strict=True)]


def band_height(band: Band, width: float, theme: Theme) -> float:
    """Height of a band in points."""
    return max(stack_height(blocks, each, theme) for blocks, each in cells_of(band, width, theme))


def _band_gap(band: Band, theme: Theme) -> float:
    first = band.cells[0][0] if isinstance(band, Row) else band.blocks[0]
    return theme.gap * max(1.6, first.before + 0.4)


def page_height(bands: Sequence[Band], width: float, theme: Theme) -> float:
    """Height of all bands with the gaps between them."""
    gaps = sum(_band_gap(band, theme) for band in bands[1:])
    return gaps + sum(band_height(band, width, theme) for band in bands)


def fit(bands: Sequence[Band], width: float, theme: Theme, room: float) -> tuple[Sequence[Band], float]:
    """Bands whose growing figures use up the room of the page, and the room that stays free (negative: too much)."""
    free = room - page_height(bands, width, theme)
    if free <= 0:
        return bands, free
    low, high = 0.0, MAX_GROWTH
    while high - low > 0.25:
        middle = (low + high) / 2
        tall = page_height([grown(band, middle) for band in bands], width, theme)
        low, high = (middle, high) if tall <= room else (low, middle)
    bands = [grown(band, low) for band in bands]
    return bands, room - page_height(bands, width, theme)


def draw_stack(canvas: Canvas, theme: Theme, blocks: Sequence[Block], box: Box) -> None:
    """Draw blocks downwards from the top of the box, spread to its bottom by a few points per gap."""
    x, y, right, bottom = box
    width = right - x
    spare = bottom - y - stack_height(blocks, width, theme)
    # A header or figure stays close to what follows it, so only the other gaps give way.
    soft = [not block.keep_with_next for block in blocks[:-1]]
    extra = min(spare / sum(soft), MAX_GAP_STRETCH) if any(soft) else 0.0
    for number, block in enumerate(blocks):
        if number:
            y += block.before * theme.gap + extra * soft[number - 1]
        block.draw(canvas, theme, x, y, width)
        y += block.height(width, theme)


def draw_body(canvas: Canvas, theme: Theme, page: Page, frame: Box) -> float:
    """Draw footnotes at the foot and the bands above them; return the free room in points."""
    x, y, right, bottom = frame
    width = right - x
    notes = [Paragraph(f"{{^:{mark}}} {source}", "Footnote", 0.8, before=0.35) for mark, source in page.footnotes]
    if notes:
        tall = stack_height(notes, width, theme)
        draw_stack(canvas, theme, notes, (x, bottom - tall, right, bottom))
        bottom -= tall + 6
        canvas.line((x, bottom), (x + FOOTNOTE_RULE, bottom), color=GREY, width=0.4)
        bottom -= 10
    bands, free = fit(page.bands, width, theme, bottom - y)
    loose = min(max(free, 0.0) / max(len(bands) - 1, 1), MAX_BAND_STRETCH)
    for number, band in enumerate(bands):
        if number:
            y += _band_gap(band, theme) + loose
        left, tall = x, band_height(band, width, theme)
        for blocks, each in cells_of(band, width, theme):
            draw_stack(canvas, theme, blocks, (left, y, left + each, y + tall))
            left += each + band.gutter
        y += tall
    return free
