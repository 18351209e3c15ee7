"""Blocks, bands and pages: how a report is composed and where each layout element comes from.

A page is a stack of bands (`Span`: full width, `Flow`: balanced columns, `Row`: cells side by side) with footnotes at
its foot and a running header and footer. Each block opens its own layout element on the canvas, so the ground truth
is a by-product of drawing. Units: points, origin top left of the displayed page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sample_data.generators.canvas import GREY, HAIR, INK, Box, Canvas, Color, Style, text_width
from sample_data.generators.typeset import Line, draw_line, formula, set_paragraph, variant

MAX_GAP_STRETCH = 7.0  # points that a gap between blocks may grow to align the feet of columns
MAX_GROWTH = 165.0  # points that figures marked `grow` may gain to fill a page
MAX_BAND_STRETCH = 12.0  # points that a gap between bands may gain on a page that is nearly full
FOOTNOTE_RULE = 90.0


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

    @property
    def text(self) -> Style:
        """Style of running text."""
        return Style(self.body, self.size)


Drawing = Callable[[Canvas, Box], None]


@dataclass(frozen=True)
class Block:
    """A piece of a page; `before` is the gap above it in gaps of the theme."""

    @property
    def before(self) -> float:
        """Gap above the block, in theme gaps."""
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
        del width, theme, room
        return None


def draw_lines(
    canvas: Canvas,
    lines: Sequence[Line],
    place: tuple[float, float, float],
    style: Style,
    leading: float,
    *,
    justify: bool,
) -> None:
    """Draw lines downwards; place: left, top, width. The first baseline lies one ascender below the top."""
    x, y, width = place
    baseline = y + style.size * 0.74
    for line in lines:
        draw_line(canvas, line, (x, baseline), width, style, justify=justify)
        baseline += leading


@dataclass(frozen=True)
class Paragraph(Block):
    """Running text, or other text of its kind under another label."""

    source: str
    label: str = "Text"
    scale: float = 1.0
    font: str = ""
    color: Color = INK
    lines: tuple[Line, ...] = ()
    gap_before: float = 1.0

    @property
    def before(self) -> float:
        """Gap above the block, in theme gaps."""
        return self.gap_before

    def _style(self, theme: Theme) -> Style:
        return Style(self.font or theme.body, theme.size * self.scale, self.color)

    def _set(self, width: float, theme: Theme) -> tuple[Line, ...]:
        return self.lines or set_paragraph(self.source, self._style(theme), width)

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        count = len(self._set(width, theme))
        return (count - 1) * theme.leading * self.scale + self._style(theme).size * 0.96

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        lines = self._set(width, theme)
        with canvas.element(self.label):
            leading = theme.leading * self.scale
            draw_lines(canvas, lines, (x, y, width), self._style(theme), leading, justify=theme.justify)

    def split(self, width: float, theme: Theme, room: float) -> tuple[Block, Block] | None:
        """Head that fits into `room` and the rest; two lines stay together on both sides."""
        lines = self._set(width, theme)
        count = int((room - self._style(theme).size * 0.96) // (theme.leading * self.scale)) + 1
        count = min(count, len(lines) - 2)
        if count < 2:
            return None
        return replace(self, lines=lines[:count]), replace(self, lines=lines[count:])


@dataclass(frozen=True)
class Title(Block):
    """Title of a document or chapter."""

    source: str
    scale: float = 1.0

    def _style(self, theme: Theme) -> Style:
        return Style(variant(theme.heads, "b"), theme.title_size * self.scale, theme.accent)

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        style = self._style(theme)
        return len(set_paragraph(self.source, style, width)) * style.size * 1.16 + 4

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        style = self._style(theme)
        with canvas.element("Title"):
            lines = set_paragraph(self.source, style, width)
            draw_lines(canvas, lines, (x, y, width), style, style.size * 1.16, justify=False)


@dataclass(frozen=True)
class Heading(Block):
    """Section header of level 1 or 2; may run over several lines."""

    source: str
    level: int = 1

    @property
    def before(self) -> float:
        """Gap above the block, in theme gaps."""
        return 2.0 if self.level == 1 else 1.5

    @property
    def keep_with_next(self) -> bool:
        """Whether a column may not end after this block."""
        return True

    def _style(self, theme: Theme) -> Style:
        return Style(variant(theme.heads, "b"), theme.head_sizes[self.level - 1], theme.accent)

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        style = self._style(theme)
        return (len(set_paragraph(self.source, style, width)) - 1) * style.size * 1.2 + style.size * 0.96

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        style = self._style(theme)
        with canvas.element("Section-header"):
            lines = set_paragraph(self.source, style, width)
            draw_lines(canvas, lines, (x, y, width), style, style.size * 1.2, justify=False)


@dataclass(frozen=True)
class Item(Block):
    """One item of a list with a hanging mark."""

    mark: str
    source: str
    hang: float = 13.0

    @property
    def before(self) -> float:
        """Gap above the block, in theme gaps."""
        return 0.62

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        count = len(set_paragraph(self.source, theme.text, width - self.hang))
        return (count - 1) * theme.leading + theme.size * 0.96

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        style = theme.text
        with canvas.element("List-item"):
            canvas.text(x + 1, y + style.size * 0.74, self.mark + " ", style)
            lines = set_paragraph(self.source, style, width - self.hang)
            place = (x + self.hang, y, width - self.hang)
            draw_lines(canvas, lines, place, style, theme.leading, justify=theme.justify)


def bullets(*sources: str) -> list[Block]:
    """List items with bullets."""
    return [Item("•", source) for source in sources]


def numbered(*sources: str, hang: float = 13.0) -> list[Block]:
    """List items with numbers."""
    return [Item(f"{number}.", source, hang) for number, source in enumerate(sources, start=1)]


@dataclass(frozen=True)
class Caption(Block):
    """Caption: a bold lead such as "Figure 3." and the text; `below` when it stands under its object."""

    lead: str
    source: str
    below: bool = True

    @property
    def before(self) -> float:
        """Gap above the block, in theme gaps."""
        return 0.8 if self.below else 1.5

    @property
    def keep_with_next(self) -> bool:
        """Whether a column may not end after this block."""
        return not self.below

    def _style(self, theme: Theme) -> Style:
        return Style(theme.caption_font, theme.caption_size)

    def _lines(self, width: float, theme: Theme) -> tuple[Line, ...]:
        return set_paragraph(f"{{b:{self.lead}}} {self.source}", self._style(theme), width)

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        size = theme.caption_size
        return (len(self._lines(width, theme)) - 1) * size * 1.25 + size * 0.96

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        style = self._style(theme)
        with canvas.element("Caption"):
            draw_lines(canvas, self._lines(width, theme), (x, y, width), style, style.size * 1.25, justify=False)


@dataclass(frozen=True)
class Figure(Block):
    """A drawing of a fixed height; `grow` lets it take the free room of its page, `inset` narrows it."""

    drawing: Drawing
    tall: float
    grow: bool = False
    inset: float = 0.0

    @property
    def before(self) -> float:
        """Gap above the block, in theme gaps."""
        return 1.4

    @property
    def keep_with_next(self) -> bool:
        """Whether a column may not end after this block."""
        return True

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        del width, theme
        return self.tall

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        del theme
        with canvas.element("Figure"):
            self.drawing(canvas, (x + self.inset, y, x + width - self.inset, y + self.tall))


@dataclass(frozen=True)
class Formula(Block):
    """A displayed formula in the notation of `typeset.formula`, with its number at the right margin."""

    source: str
    number: str = ""
    scale: float = 1.08

    @property
    def before(self) -> float:
        """Gap above the block, in theme gaps."""
        return 1.4

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        del width
        box = formula(self.source, theme.size * self.scale)
        return box.ascent + box.descent + 2

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        box = formula(self.source, theme.size * self.scale)
        with canvas.element("Formula"):
            box.draw(canvas, x + (width - box.width) / 2, y + box.ascent)
            if self.number:
                canvas.text(x + width, y + box.ascent, self.number, theme.text, "right")


@dataclass(frozen=True)
class Rule(Block):
    """A decorative line across the column; belongs to no element."""

    weight: float = 1.2

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        del width, theme
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

    @property
    def before(self) -> float:
        """Gap above the block, in theme gaps."""
        return 0.7

    def _style(self, theme: Theme, bold: bool = False) -> Style:
        return Style(variant(theme.table_font, "b") if bold else theme.table_font, theme.table_size)

    def _row_height(self, row: Sequence[str], theme: Theme) -> float:
        lines = max(cell.count("\n") + 1 for cell in row)
        return theme.table_size * (self.pitch + 1.18 * (lines - 1))

    def height(self, width: float, theme: Theme) -> float:
        """Height of the block in points."""
        del width
        rows = [*self.head, *self.rows]
        return sum(self._row_height(row, theme) for row in rows) + bool(self.spans) * theme.table_size * 1.7 + 1

    def _edges(self, width: float, theme: Theme) -> list[float]:
        """Left edges of the columns and the right edge of the last one, relative to the table."""
        count = len(self.align)
        natural = [0.0] * count
        for number, row in enumerate([*self.head, *self.rows]):
            style = self._style(theme, bold=number < len(self.head) or row[0].startswith("="))
            if len(row) < count:
                continue
            for column, cell in enumerate(row):
                widest = max(text_width(part, style) for part in cell.lstrip("=").split("\n"))
                natural[column] = max(natural[column], widest + 9)
        spare = width - sum(natural)
        weights = list(self.weights) or [1.0] * count
        edges = [0.0]
        for column in range(count):
            edges.append(edges[-1] + natural[column] + spare * weights[column] / sum(weights))
        return edges

    def draw(self, canvas: Canvas, theme: Theme, x: float, y: float, width: float) -> None:
        """Draw the block with its top left corner at (x, y)."""
        edges = [x + edge for edge in self._edges(width, theme)]
        with canvas.element("Table"):
            top, y = y, y + 0.5
            if self.spans:
                y = self._draw_spans(canvas, theme, edges, y)
            bands = [top]
            for row in self.head:
                y = self._draw_row(canvas, theme, edges, y, row, bold=True)
            bands.append(y)
            for number, row in enumerate(self.rows):
                if self.rules == "zebra" and number % 2 == 0:
                    canvas.rect((edges[0], y, edges[-1], y + self._row_height(row, theme)), fill=(0.93, 0.95, 0.97))
                y = self._draw_row(canvas, theme, edges, y, row, bold=row[0].startswith("="))
                bands.append(y)
            self._draw_rules(canvas, theme, edges, bands)

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
            style = style.with_font(variant(theme.table_font, "i"))
        pad = 4.0 if self.rules in {"grid", "zebra"} else 1.5
        for column, cell in enumerate(row):
            parts = cell.lstrip("=").split("\n")
            for number, part in enumerate(parts):
                baseline = bottom - style.size * (0.55 + 1.18 * (len(parts) - 1 - number))
                kind = self.align[column]
                anchor = {"l": edges[column] + pad, "r": edges[column + 1] - pad}.get(
                    kind, (edges[column] + edges[column + 1]) / 2
                )
                if part:
                    canvas.text(anchor, baseline, part, style, {"l": "left", "r": "right"}.get(kind, "center"))
        return bottom

    def _draw_rules(self, canvas: Canvas, theme: Theme, edges: list[float], bands: list[float]) -> None:
        left, right = edges[0], edges[-1]
        if self.rules == "grid":
            for y in bands:
                canvas.line((left, y), (right, y), color=GREY, width=0.5)
            for edge in edges:
                canvas.line((edge, bands[0]), (edge, bands[-1]), color=GREY, width=0.5)
        if self.rules == "hair":
            for y in bands[2:-1]:
                canvas.line((left, y), (right, y), color=HAIR, width=0.35)
        if self.rules in {"three", "hair"}:
            for y, weight in ((bands[0], 0.9), (bands[1], 0.5), (bands[-1], 0.9)):
                canvas.line((left, y), (right, y), color=INK, width=weight)
        if self.rules == "zebra":
            canvas.line((left, bands[1]), (right, bands[1]), color=theme.accent, width=1.0)


@dataclass(frozen=True)
class Span:
    """Blocks over the full width."""

    blocks: Sequence[Block]


@dataclass(frozen=True)
class Flow:
    """Blocks in balanced columns; paragraphs may continue in the next column."""

    blocks: Sequence[Block]
    columns: int = 2
    gutter: float = 18.0


@dataclass(frozen=True)
class Row:
    """Cells side by side, each a stack of blocks; `shares` are relative widths."""

    cells: Sequence[Sequence[Block]]
    shares: Sequence[float] = (1.0, 1.0)
    gutter: float = 18.0


Band = Span | Flow | Row


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
        block = queue[0]
        column = filled[-1]
        trial = [*column, block]
        follower = queue[1] if block.keep_with_next and len(queue) > 1 else None
        needed = stack_height(trial, width, theme)
        if follower is not None:
            reserve = min(follower.height(width, theme), theme.leading * 3)
            if isinstance(follower, Figure | Table | Caption):
                reserve = follower.height(width, theme)
            needed += follower.before * theme.gap + reserve
        if needed <= tall + 0.01:
            column.append(queue.pop(0))
            continue
        room = tall - stack_height(column, width, theme) - (block.before * theme.gap if column else 0)
        parts = block.split(width, theme, room) if follower is None else None
        if parts is not None:
            column.append(parts[0])
            queue[0] = parts[1]
        if len(filled) == columns or (not column):
            return None
        filled.append([])
    return filled


def balance(blocks: Sequence[Block], columns: int, width: float, theme: Theme) -> tuple[float, list[list[Block]]]:
    """Smallest column height that takes all blocks, and the columns."""
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
    return max(stack_height(column, width, theme) for column in best), best


def grown(block: Block, extra: float) -> Block:
    """The block, higher by `extra` when it may grow."""
    if isinstance(block, Figure) and block.grow:
        return replace(block, tall=block.tall + extra)
    return block


def grown_band(band: Band, extra: float) -> Band:
    """The band with all its growing figures higher by `extra`."""
    if isinstance(band, Row):
        return replace(band, cells=[[grown(block, extra) for block in cell] for cell in band.cells])
    return replace(band, blocks=[grown(block, extra) for block in band.blocks])


def _column_width(band: Flow, width: float) -> float:
    return (width - band.gutter * (band.columns - 1)) / band.columns


def _cell_widths(band: Row, width: float) -> list[float]:
    free = width - band.gutter * (len(band.cells) - 1)
    return [free * share / sum(band.shares) for share in band.shares]


def band_height(band: Band, width: float, theme: Theme) -> float:
    """Height of a band in points."""
    if isinstance(band, Span):
        return stack_height(band.blocks, width, theme)
    if isinstance(band, Flow):
        return balance(band.blocks, band.columns, _column_width(band, width), theme)[0]
    widths = _cell_widths(band, width)
    return max(stack_height(cell, each, theme) for cell, each in zip(band.cells, widths, strict=True))


def _band_gap(band: Band, theme: Theme) -> float:
    first = band.cells[0][0] if isinstance(band, Row) else band.blocks[0]
    return theme.gap * max(1.6, first.before + 0.4)


def page_height(bands: Sequence[Band], width: float, theme: Theme) -> float:
    """Height of all bands with the gaps between them."""
    gaps = sum(_band_gap(band, theme) for band in bands[1:])
    return gaps + sum(band_height(band, width, theme) for band in bands)


def fit(bands: Sequence[Band], width: float, theme: Theme, room: float) -> tuple[list[Band], float]:
    """Bands whose growing figures use up the room of the page, and the room that stays free (negative: too much)."""
    free = room - page_height(bands, width, theme)
    if free <= 0:
        return list(bands), free
    low, high = 0.0, MAX_GROWTH
    while high - low > 0.25:
        middle = (low + high) / 2
        tall = page_height([grown_band(band, middle) for band in bands], width, theme)
        low, high = (middle, high) if tall <= room else (low, middle)
    bands = [grown_band(band, low) for band in bands]
    return bands, room - page_height(bands, width, theme)


def draw_stack(canvas: Canvas, theme: Theme, blocks: Sequence[Block], box: Box, *, stretch: bool = False) -> None:
    """Draw blocks downwards from the top of the box; `stretch` spreads them to its bottom by a few points per gap."""
    x, y, right, bottom = box
    width = right - x
    spare = bottom - y - stack_height(blocks, width, theme)
    # A header or figure stays close to what follows it, so only the other gaps give way.
    soft = [not block.keep_with_next for block in blocks[:-1]]
    extra = min(spare / sum(soft), MAX_GAP_STRETCH) if stretch and any(soft) else 0.0
    for number, block in enumerate(blocks):
        if number:
            y += block.before * theme.gap + extra * soft[number - 1]
        block.draw(canvas, theme, x, y, width)
        y += block.height(width, theme)


def draw_band(canvas: Canvas, theme: Theme, band: Band, place: tuple[float, float, float]) -> float:
    """Draw a band and return its height; place: left, top, width."""
    x, y, width = place
    tall = band_height(band, width, theme)
    if isinstance(band, Span):
        draw_stack(canvas, theme, band.blocks, (x, y, x + width, y + tall))
    elif isinstance(band, Flow):
        each = _column_width(band, width)
        columns = balance(band.blocks, band.columns, each, theme)[1]
        for number, column in enumerate(columns):
            left = x + number * (each + band.gutter)
            draw_stack(canvas, theme, column, (left, y, left + each, y + tall), stretch=True)
    else:
        left = x
        for cell, each in zip(band.cells, _cell_widths(band, width), strict=True):
            draw_stack(canvas, theme, cell, (left, y, left + each, y + tall), stretch=True)
            left += each + band.gutter
    return tall


def footnote_blocks(page: Page) -> Iterator[Paragraph]:
    """Footnotes of a page as small paragraphs."""
    for mark, source in page.footnotes:
        yield Paragraph(f"{{^:{mark}}} {source}", label="Footnote", scale=0.8, gap_before=0.35)


def draw_body(canvas: Canvas, theme: Theme, page: Page, frame: Box) -> float:
    """Draw footnotes at the foot and the bands above them; return the free room in points."""
    x, top, right, bottom = frame
    width = right - x
    notes = list(footnote_blocks(page))
    if notes:
        tall = stack_height(notes, width, theme)
        draw_stack(canvas, theme, notes, (x, bottom - tall, right, bottom))
        bottom -= tall + 6
        canvas.line((x, bottom), (x + FOOTNOTE_RULE, bottom), color=GREY, width=0.4)
        bottom -= 10
    bands, free = fit(page.bands, width, theme, bottom - top)
    loose = min(max(free, 0.0) / max(len(bands) - 1, 1), MAX_BAND_STRETCH)
    y = top
    for number, band in enumerate(bands):
        if number:
            y += _band_gap(band, theme) + loose
        y += draw_band(canvas, theme, band, (x, y, width))
    return free
