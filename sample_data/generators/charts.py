"""Vector charts, maps and diagrams of the sample reports.

Each maker returns a `Drawing`: a function that draws into a box of a canvas (points, origin top left) and nowhere
else. All numbers are invented by the reports; noise comes from generators with fixed seeds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sample_data.generators.canvas import GREY, HAIR, INK, WHITE, Box, Canvas, Color, Point, Style, text_width
from sample_data.generators.layout import Drawing

AXIS = Style("sans", 7.0, (0.30, 0.33, 0.38))
LABEL = Style("sans", 7.2, INK)
STRONG = Style("sans-bold", 8.4, INK)
# Where the name of a tram stop stands: shift from the stop and alignment.
STOP_NAMES = {
    "right": (6.0, 2.5, "left"),
    "left": (-6.0, 2.5, "right"),
    "above": (0.0, -6.0, "center"),
    "below": (0.0, 11.5, "center"),
    "corner": (5.0, -5.0, "left"),
}
MAP_ROWS = 52  # cells of a contour map from top to bottom
SEAM = 0.35  # points by which shaded cells overlap, so that no white seams show between them
GRID: Color = (0.86, 0.88, 0.90)

BLUES: tuple[Color, ...] = ((0.13, 0.33, 0.52), (0.60, 0.69, 0.77), (0.32, 0.53, 0.68), (0.82, 0.86, 0.90))
EARTH: tuple[Color, ...] = ((0.50, 0.38, 0.20), (0.80, 0.68, 0.42), (0.40, 0.52, 0.30), (0.70, 0.76, 0.58))
TEALS: tuple[Color, ...] = ((0.05, 0.42, 0.44), (0.55, 0.73, 0.73), (0.85, 0.55, 0.28), (0.80, 0.87, 0.86))
GREYS: tuple[Color, ...] = ((0.25, 0.25, 0.27), (0.62, 0.62, 0.64), (0.45, 0.45, 0.47), (0.82, 0.82, 0.83))

FloatArray = NDArray[np.float64]


def nice_ticks(top: float, count: int = 5) -> list[float]:
    """Round tick values from 0 to at least `top`.

    >>> nice_ticks(87.0)
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    """
    raw = top / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * 0.999)
    return [step * number for number in range(math.ceil(top / step - 1e-9) + 1)]


def tick_text(value: float) -> str:
    """A tick value with thousands separators and no needless decimals."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"


def even_texts(values: Sequence[float]) -> list[str]:
    """Values with the same number of decimals: as many (at most two) as the finest of them needs.

    >>> even_texts([2.0, 3.5])
    ['2.0', '3.5']
    """
    digits = next(n for n in (0, 1, 2) if n == 2 or all(abs(round(value, n) - value) < 1e-9 for value in values))
    return [f"{value:,.{digits}f}" for value in values]


def _legend(canvas: Canvas, names: Sequence[str], colors: Sequence[Color], x: float, y: float) -> None:
    for name, color in zip(names, colors, strict=False):
        canvas.rect((x, y - 5.2, x + 7, y), fill=color)
        x += 10 + canvas.text(x + 10, y, name, LABEL) + 12


def _plot_box(canvas: Canvas, box: Box, ticks: Sequence[float], unit: str, legend: Sequence[str]) -> Box:
    """Draw grid lines, tick labels and unit; return the box of the plot."""
    x0, y0, x1, y1 = box
    texts = even_texts(ticks)
    left = x0 + max(text_width(text, AXIS) for text in texts) + 6
    top = y0 + 13 if unit else y0 + 5
    bottom = y1 - (30 if legend else 14)
    if unit:
        canvas.text(x0, y0 + 6, unit, AXIS)
    for tick, text in zip(ticks, texts, strict=True):
        y = bottom - (bottom - top) * tick / ticks[-1]
        canvas.line((left, y), (x1, y), color=GRID if tick else GREY, width=0.5)
        canvas.text(left - 4, y + 2.4, text, AXIS, "right")
    return left, top, x1, bottom


def bars(
    categories: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    unit: str = "",
    colors: Sequence[Color] = BLUES,
    stacked: bool = False,
    values: bool = False,
    heading: str = "",
) -> Drawing:
    """Grouped or stacked vertical bars; `values` writes the number on each bar, `heading` a title inside."""
    names = list(series)
    legend = names if len(names) > 1 else []

    def draw(canvas: Canvas, box: Box) -> None:
        if heading:
            canvas.text(box[0], box[1] + 7, heading, STRONG)
            box = (box[0], box[1] + 16, box[2], box[3])
        columns = list(zip(*series.values(), strict=True))
        peak = max(sum(column) if stacked else max(column) for column in columns)
        ticks = nice_ticks(peak)
        left, top, right, bottom = _plot_box(canvas, box, ticks, unit, legend)
        scale = (bottom - top) / ticks[-1]
        step = (right - left) / len(categories)
        for number, (name, column) in enumerate(zip(categories, columns, strict=True)):
            start = left + step * (number + 0.16)
            canvas.text(left + step * (number + 0.5), bottom + 10, name, AXIS, "center")
            _bar_group(canvas, column, (start, bottom, step * 0.68, scale), colors, stacked=stacked, values=values)
        _legend(canvas, legend, colors, left, box[3] - 1.5)

    return draw


def _bar_group(
    canvas: Canvas,
    column: Sequence[float],
    place: tuple[float, float, float, float],
    colors: Sequence[Color],
    *,
    stacked: bool,
    values: bool,
) -> None:
    """Bars of one category; place: left, bottom, width of the group, points per unit."""
    x, bottom, width, scale = place
    each = width if stacked else width / len(column)
    floor = bottom
    for color, value in zip(colors, column, strict=False):
        top = floor - value * scale
        canvas.rect((x, top, x + each * (1 if stacked else 0.92), floor), fill=color)
        if values:
            canvas.text(x + each * 0.46, top - 2.5, tick_text(value), AXIS, "center")
        if stacked:
            floor = top
        else:
            x += each


def sideways_bars(
    categories: Sequence[str], amounts: Sequence[float], *, unit: str, color: Color = BLUES[0]
) -> Drawing:
    """Horizontal bars with the number at the end of each."""

    def draw(canvas: Canvas, box: Box) -> None:
        x0, y0, x1, y1 = box
        left = x0 + max(text_width(name, LABEL) for name in categories) + 8
        step = (y1 - y0 - 12) / len(categories)
        scale = (x1 - left - 28) / max(amounts)
        for number, (name, amount, text) in enumerate(zip(categories, amounts, even_texts(amounts), strict=True)):
            middle = y0 + step * (number + 0.5)
            canvas.text(left - 5, middle + 2.5, name, LABEL, "right")
            canvas.rect((left, middle - step * 0.32, left + amount * scale, middle + step * 0.32), fill=color)
            canvas.text(left + amount * scale + 4, middle + 2.5, text, LABEL)
        canvas.line((left, y0), (left, y1 - 12), color=GREY, width=0.6)
        canvas.text(left, y1 - 2, unit, AXIS)

    return draw


def lines(
    ticks_x: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    unit: str = "",
    colors: Sequence[Color] = BLUES,
    dots: bool = True,
    area: bool = False,
) -> Drawing:
    """Lines over equally spaced x values, named at their right ends."""

    def draw(canvas: Canvas, box: Box) -> None:
        room = max(text_width(name, LABEL) for name in series) + 6
        ticks = nice_ticks(max(max(values) for values in series.values()))
        left, top, right, bottom = _plot_box(canvas, (box[0], box[1], box[2] - room, box[3]), ticks, unit, [])
        count = len(ticks_x)
        xs = [left + (right - left) * (number + 0.5) / count for number in range(count)]
        for x, name in zip(xs, ticks_x, strict=True):
            if name:
                canvas.text(x, bottom + 10, name, AXIS, "center")
        for (name, values), color in zip(series.items(), colors, strict=False):
            points = [(x, bottom - (bottom - top) * v / ticks[-1]) for x, v in zip(xs, values, strict=True)]
            if area:
                outline = [*points, (xs[-1], bottom), (xs[0], bottom)]
                canvas.polyline(outline, color=None, fill=color, opacity=0.25)
            canvas.polyline(points, color=color, width=1.5)
            for point in points if dots else ():
                canvas.circle(point, 1.9, color=WHITE, width=0.5, fill=color)
            canvas.text(points[-1][0] + 6, points[-1][1] + 2.5, name, Style("sans-bold", 7.2, color))

    return draw


def scatter(
    clouds: Mapping[str, tuple[FloatArray, FloatArray]],
    *,
    label_x: str,
    label_y: str,
    top_x: float,
    top_y: float,
    slope: tuple[float, float] | None = None,
    colors: Sequence[Color] = TEALS,
) -> Drawing:
    """Point clouds in a frame with both axes labelled; `slope` draws the line intercept + slope * x."""

    def draw(canvas: Canvas, box: Box) -> None:
        left, top, right, bottom = box[0] + 34, box[1] + 2, box[2] - 2, box[3] - 26
        for share in range(6):
            x, y = left + (right - left) * share / 5, bottom - (bottom - top) * share / 5
            canvas.line((x, bottom), (x, bottom + 3), color=GREY)
            canvas.line((left - 3, y), (left, y), color=GREY)
            canvas.text(x, bottom + 10.5, tick_text(round(top_x * share / 5, 2)), AXIS, "center")
            canvas.text(left - 5, y + 2.4, tick_text(round(top_y * share / 5, 2)), AXIS, "right")
        canvas.rect((left, top, right, bottom), color=GREY, width=0.6)
        for (_, (xs, ys)), color in zip(clouds.items(), colors, strict=False):
            for x, y in zip(xs, ys, strict=True):
                spot = (left + (right - left) * x / top_x, bottom - (bottom - top) * y / top_y)
                canvas.circle(spot, 1.7, color=color, width=0.4, fill=color)
        if slope is not None:
            ends = [(0.0, slope[0]), (top_x, slope[0] + slope[1] * top_x)]
            marks = [(left + (right - left) * x / top_x, bottom - (bottom - top) * y / top_y) for x, y in ends]
            canvas.line(marks[0], marks[1], color=INK, width=0.9, dash="[4 3]")
        canvas.text((left + right) / 2, box[3] - 2, label_x, LABEL, "center")
        canvas.text_upward(box[0] + 6, (top + bottom) / 2, label_y, LABEL)
        _legend(canvas, list(clouds), colors, left + 8, top + 12)

    return draw


def daily_columns(amounts: FloatArray, months: Sequence[str], *, unit: str, color: Color = BLUES[0]) -> Drawing:
    """One thin stroke per day: a chart of several hundred strokes."""

    def draw(canvas: Canvas, box: Box) -> None:
        ticks = nice_ticks(float(amounts.max()), 4)
        left, top, right, bottom = _plot_box(canvas, box, ticks, unit, [])
        step = (right - left) / len(amounts)
        for number, amount in enumerate(amounts):
            if amount > 0:
                x = left + step * (number + 0.5)
                canvas.line((x, bottom), (x, bottom - (bottom - top) * float(amount) / ticks[-1]), color=color)
        for number, name in enumerate(months):
            canvas.text(left + (right - left) * (number + 0.5) / len(months), bottom + 10, name, AXIS, "center")

    return draw


def heat_matrix(rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]]) -> Drawing:
    """A shaded matrix with the number in each cell: a figure that looks like a table."""

    def draw(canvas: Canvas, box: Box) -> None:
        x0, y0, x1, y1 = box
        left = x0 + max(text_width(name, LABEL) for name in rows) + 6
        wide, tall = (x1 - left) / len(columns), (y1 - y0 - 12) / len(rows)
        peak = max(max(row) for row in values)
        texts = iter(even_texts([value for row in values for value in row]))
        for column, name in enumerate(columns):
            canvas.text(left + wide * (column + 0.5), y0 + 7, name, AXIS, "center")
        for number, (name, row) in enumerate(zip(rows, values, strict=True)):
            top = y0 + 12 + tall * number
            canvas.text(left - 4, top + tall / 2 + 2.5, name, LABEL, "right")
            for column, value in enumerate(row):
                share = value / peak
                fill = (0.95 - 0.82 * share, 0.97 - 0.62 * share, 0.99 - 0.45 * share)
                cell = (left + wide * column, top, left + wide * (column + 1), top + tall)
                canvas.rect(cell, color=WHITE, width=1.0, fill=fill)
                style = Style("sans", 7.2, WHITE if share > 0.55 else INK)
                canvas.text((cell[0] + cell[2]) / 2, top + tall / 2 + 2.6, next(texts), style, "center")

    return draw


def _rough_edge(start: Point, end: Point, rng: np.random.Generator, depth: int = 4) -> list[Point]:
    """A fractal line from start to end, without its last point."""
    if depth == 0:
        return [start]
    span = math.dist(start, end)
    middle = (
        (start[0] + end[0]) / 2 + float(rng.uniform(-0.11, 0.11)) * span,
        (start[1] + end[1]) / 2 + float(rng.uniform(-0.11, 0.11)) * span,
    )
    return [*_rough_edge(start, middle, rng, depth - 1), *_rough_edge(middle, end, rng, depth - 1)]


def district_map(
    names: Sequence[str], shades: Sequence[float], *, across: int, seed: int, legend: str, ramp: Color = BLUES[0]
) -> Drawing:
    """A map of districts with rough borders, a river, a scale bar and a north arrow.

    `shades` are in [0, 1]; districts are given row by row, `across` in a row.
    """

    def draw(canvas: Canvas, box: Box) -> None:
        rng = np.random.default_rng(seed)
        x0, y0, x1, y1 = box
        canvas.rect(box, color=HAIR, width=0.6, fill=(0.97, 0.98, 0.985))
        inner = (x0 + 14, y0 + 12, x1 - 14, y1 - 30)
        down = len(names) // across
        nodes = _map_nodes(inner, across, down, rng)
        sides = _map_sides(nodes, rng)
        for number, (name, shade) in enumerate(zip(names, shades, strict=True)):
            row, column = divmod(number, across)
            outline = _district_outline(sides, row, column)
            fill = _tint(ramp, shade)
            canvas.polyline(outline, color=WHITE, width=1.2, fill=fill)
            middle = np.mean(np.array(outline), axis=0)
            style = Style("sans-bold", 7.0, WHITE if shade > 0.6 else INK)
            canvas.text(float(middle[0]), float(middle[1]) + 2, name, style, "center")
        _river(canvas, inner, rng)
        _map_furniture(canvas, box, legend, ramp)

    return draw


def _tint(color: Color, share: float) -> Color:
    """The colour mixed with near-white; share 1 is the colour itself."""
    weight = 0.12 + 0.88 * share
    return (0.96 + (color[0] - 0.96) * weight, 0.97 + (color[1] - 0.97) * weight, 0.98 + (color[2] - 0.98) * weight)


def _map_nodes(inner: Box, across: int, down: int, rng: np.random.Generator) -> list[list[Point]]:
    wide, tall = (inner[2] - inner[0]) / across, (inner[3] - inner[1]) / down
    nodes = []
    for row in range(down + 1):
        line = []
        for column in range(across + 1):
            shift_x, shift_y = rng.uniform(-0.22, 0.22, 2)
            x = inner[0] + wide * (column + float(shift_x) * (0 < column < across))
            y = inner[1] + tall * (row + float(shift_y) * (0 < row < down))
            line.append((x, y))
        nodes.append(line)
    return nodes


def _map_sides(nodes: list[list[Point]], rng: np.random.Generator) -> dict[tuple[int, int, str], list[Point]]:
    """Rough borders, shared by the two districts beside them; key: row, column, direction."""
    sides = {}
    for row, line in enumerate(nodes):
        for column, node in enumerate(line):
            if column + 1 < len(line):
                sides[row, column, "right"] = [*_rough_edge(node, line[column + 1], rng), line[column + 1]]
            if row + 1 < len(nodes):
                below = nodes[row + 1][column]
                sides[row, column, "down"] = [*_rough_edge(node, below, rng), below]
    return sides


def _district_outline(sides: dict[tuple[int, int, str], list[Point]], row: int, column: int) -> list[Point]:
    return [
        *sides[row, column, "right"],
        *sides[row, column + 1, "down"],
        *reversed(sides[row + 1, column, "right"]),
        *reversed(sides[row, column, "down"]),
    ]


def _river(canvas: Canvas, inner: Box, rng: np.random.Generator) -> None:
    share = float(rng.uniform(0.3, 0.7))
    start = (inner[0] + (inner[2] - inner[0]) * share, inner[1] + 4)
    end = (inner[0] + (inner[2] - inner[0]) * (1 - share), inner[3] - 4)
    course = [*_rough_edge(start, end, rng, 6), end]
    canvas.polyline(course, color=(0.36, 0.60, 0.80), width=2.2)


def _map_furniture(canvas: Canvas, box: Box, legend: str, ramp: Color) -> None:
    """Legend ramp, scale bar and north arrow along the foot of a map."""
    x0, _, x1, y1 = box
    base = y1 - 9
    canvas.text(x0 + 14, base, legend, AXIS)
    x = x0 + 20 + text_width(legend, AXIS)
    for number in range(5):
        canvas.rect((x + number * 14, base - 6, x + number * 14 + 14, base), fill=_tint(ramp, number / 4))
    canvas.line((x1 - 92, base - 1), (x1 - 44, base - 1), width=1.4)
    canvas.text(x1 - 68, base - 4.5, "40 km", AXIS, "center")
    needle = [(x1 - 24, base), (x1 - 20, base - 13), (x1 - 16, base), (x1 - 20, base - 3)]
    canvas.polyline(needle, fill=INK)


def noise_field(shape: tuple[int, int], seed: int, smooth: int = 7) -> FloatArray:
    """A smooth random surface in [0, 1]."""
    rng = np.random.default_rng(seed)
    field = np.zeros(shape)
    for octave in range(3):
        count = 4 * 2**octave
        coarse = rng.random((count + 1, count + 1))
        rows = np.linspace(0, count - 1e-6, shape[0])
        columns = np.linspace(0, count - 1e-6, shape[1])
        field += _bilinear(coarse, rows, columns) / 2.2**octave
    kernel = np.ones(smooth) / smooth
    for axis in (0, 1):
        padded = np.pad(field, [(smooth // 2, smooth // 2) if axis == side else (0, 0) for side in (0, 1)], "edge")
        field = np.apply_along_axis(lambda line: np.convolve(line, kernel, "valid"), axis, padded)
    low, high = float(field.min()), float(field.max())
    return np.asarray((field - low) / (high - low), dtype=np.float64)


def _bilinear(coarse: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    i, j = rows.astype(int), columns.astype(int)
    u, v = (rows - i)[:, None], (columns - j)[None, :]
    upper = coarse[np.ix_(i, j)] * (1 - v) + coarse[np.ix_(i, j + 1)] * v
    lower = coarse[np.ix_(i + 1, j)] * (1 - v) + coarse[np.ix_(i + 1, j + 1)] * v
    return np.asarray(upper * (1 - u) + lower * u)


def contour_map(
    *, seed: int, levels: int = 9, towns: Mapping[str, Point], unit: str, ramp: Color = BLUES[0]
) -> Drawing:
    """A shaded surface with contour lines and towns (positions as shares of the box)."""

    def draw(canvas: Canvas, box: Box) -> None:
        x0, y0, x1, y1 = box[0], box[1], box[2], box[3] - 20
        rows, columns = MAP_ROWS, max(MAP_ROWS, round(MAP_ROWS * (x1 - x0) / (y1 - y0)))
        field = noise_field((rows + 1, columns + 1), seed)
        wide, tall = (x1 - x0) / columns, (y1 - y0) / rows
        for row in range(rows):
            last = row == rows - 1
            place = (x0, y0 + tall * row, wide, tall - SEAM * last)
            _shade_row(canvas, field[row : row + 2].mean(axis=0), place, levels, ramp)
        for level in range(1, levels):
            for start, end in contour_segments(field, level / levels):
                ends = [(x0 + wide * column, y0 + tall * row) for row, column in (start, end)]
                heavy = level % 3 == 0
                canvas.line(ends[0], ends[1], color=(0.25, 0.33, 0.42), width=0.7 if heavy else 0.3)
        canvas.rect((x0, y0, x1, y1), color=INK, width=0.7)
        for name, (share_x, share_y) in towns.items():
            spot = (x0 + (x1 - x0) * share_x, y0 + (y1 - y0) * share_y)
            canvas.circle(spot, 2.2, color=WHITE, width=0.7, fill=INK)
            canvas.text(spot[0] + 5, spot[1] + 2.5, name, Style("sans-bold", 7.4))
        _contour_legend(canvas, (x0, box[3]), levels, unit, ramp)

    return draw


def _shade_row(
    canvas: Canvas, values: FloatArray, place: tuple[float, float, float, float], levels: int, ramp: Color
) -> None:
    """Cells of one row, neighbours of the same class in one rectangle; place: left, top, cell width, height."""
    x, y, wide, tall = place
    middle = np.minimum(((values[1:] + values[:-1]) / 2 * levels).astype(int), levels - 1)
    cuts = [0, *(np.flatnonzero(np.diff(middle)) + 1).tolist(), len(middle)]
    for start, stop in itertools.pairwise(cuts):
        fill = _tint(ramp, 0.75 * float(middle[start]) / levels)
        canvas.rect((x + wide * start, y, x + wide * stop, y + tall + SEAM), fill=fill)


def _contour_legend(canvas: Canvas, place: Point, levels: int, unit: str, ramp: Color) -> None:
    x, bottom = place
    for level in range(levels):
        left = x + level * 22
        canvas.rect((left, bottom - 15, left + 22, bottom - 9), fill=_tint(ramp, 0.75 * level / levels))
        canvas.text(left + 11, bottom - 1.5, str(400 + 100 * level), AXIS, "center")
    canvas.text(x + levels * 22 + 6, bottom - 9.5, unit, AXIS)


def contour_segments(field: FloatArray, level: float) -> list[tuple[Point, Point]]:
    """Segments of one contour in (row, column) units (marching squares; saddles are cut one way)."""
    segments: list[tuple[Point, Point]] = []
    rows, columns = field.shape
    for row in range(rows - 1):
        for column in range(columns - 1):
            corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
            values = [float(field[corner]) - level for corner in corners]
            if min(values) > 0 or max(values) <= 0:
                continue
            cuts: list[Point] = []
            for one in range(4):
                two = (one + 1) % 4
                if (values[one] > 0) != (values[two] > 0):
                    share = values[one] / (values[one] - values[two])
                    (r0, c0), (r1, c1) = corners[one], corners[two]
                    cuts.append((r0 + (r1 - r0) * share, c0 + (c1 - c0) * share))
            segments.extend(zip(cuts[::2], cuts[1::2], strict=True))
    return segments


def flow_diagram(
    boxes: Mapping[str, tuple[float, float, str]], arrows: Sequence[tuple[str, str]], *, color: Color = BLUES[0]
) -> Drawing:
    """Boxes with text and arrows between them; centres are shares of the figure, a line feed breaks the text."""

    def draw(canvas: Canvas, box: Box) -> None:
        x0, y0, x1, y1 = box
        half_wide, half_tall = 52.0, 17.0
        places = {
            key: (x0 + half_wide + (x1 - x0 - 2 * half_wide) * sx, y0 + half_tall + (y1 - y0 - 2 * half_tall) * sy)
            for key, (sx, sy, _) in boxes.items()
        }
        for one, two in arrows:
            _arrow(canvas, places[one], places[two], (half_wide, half_tall))
        for key, (_, _, text) in boxes.items():
            x, y = places[key]
            canvas.rect(
                (x - half_wide, y - half_tall, x + half_wide, y + half_tall), color=color, fill=_tint(color, 0.08)
            )
            parts = text.split("\n")
            for number, part in enumerate(parts):
                canvas.text(x, y + 2.6 + 9 * (number - (len(parts) - 1) / 2), part, LABEL, "center")

    return draw


def _arrow(canvas: Canvas, start: Point, end: Point, half: Point) -> None:
    """An arrow between the rims of two boxes of the same half size."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    share = min(half[0] / abs(dx) if dx else math.inf, half[1] / abs(dy) if dy else math.inf)
    tail = (start[0] + dx * share, start[1] + dy * share)
    tip = (end[0] - dx * share, end[1] - dy * share)
    length = math.dist(tail, tip) or 1.0
    ux, uy = (tip[0] - tail[0]) / length, (tip[1] - tail[1]) / length
    canvas.line(tail, tip, color=GREY, width=0.9)
    wings = [(tip[0] - 5 * ux + 2.6 * s * uy, tip[1] - 5 * uy - 2.6 * s * ux) for s in (-1, 1)]
    canvas.polyline([tip, wings[0], wings[1]], color=GREY, fill=GREY)


def transit_map(
    routes: Mapping[str, tuple[Color, Sequence[Point]]], stops: Mapping[str, tuple[float, float, str]]
) -> Drawing:
    """Tram lines in octilinear strokes; positions are shares of the box, stops carry the side of their name."""

    def draw(canvas: Canvas, box: Box) -> None:
        x0, y0, x1, y1 = box

        def place(share: Point) -> Point:
            return x0 + (x1 - x0) * share[0], y0 + (y1 - y0) * share[1]

        for name, (color, course) in routes.items():
            canvas.polyline([place(point) for point in course], color=color, width=4.0)
            head = place(course[0])
            canvas.circle(head, 7.0, color=WHITE, width=1.0, fill=color)
            canvas.text(head[0], head[1] + 2.7, name, Style("sans-bold", 7.6, WHITE), "center")
        for name, (sx, sy, side) in stops.items():
            x, y = place((sx, sy))
            canvas.circle((x, y), 2.6, color=INK, width=1.0, fill=WHITE)
            dx, dy, align = STOP_NAMES[side]
            canvas.text(x + dx, y + dy, name, LABEL, align)

    return draw


def cross_section(
    layers: Sequence[tuple[str, Color, float]], *, seed: int, wells: Sequence[tuple[str, float, float]]
) -> Drawing:
    """Layers of ground in section with wells (name, position, depth as shares of the box)."""

    def draw(canvas: Canvas, box: Box) -> None:
        rng = np.random.default_rng(seed)
        x0, y0, x1, y1 = box[0] + 4, box[1] + 22, box[2] - 4, box[3] - 4
        xs = np.linspace(x0, x1, 46)
        upper = y0 + 10 * np.sin(np.linspace(0.2, 3.6, 46)) + rng.normal(0, 0.5, 46)
        for name, color, share in layers:
            lower = np.minimum(upper + (y1 - y0) * share + 7 * np.sin(np.linspace(0, 5, 46) + share * 20), y1)
            if name == layers[-1][0]:
                lower = np.full(46, y1)
            outline = [*zip(xs, upper, strict=True), *zip(xs[::-1], lower[::-1], strict=True)]
            points = [(float(x), float(y)) for x, y in outline]
            canvas.polyline(points, color=(0.45, 0.40, 0.33), width=0.5, fill=color)
            canvas.text(x0 + 8, float(upper[4] + lower[4]) / 2 + 3, name, LABEL)
            upper = lower
        for name, share, depth in wells:
            x = x0 + (x1 - x0) * share
            canvas.rect((x - 1.6, y0 - 2, x + 1.6, y0 + (y1 - y0) * depth), color=INK, width=0.6, fill=WHITE)
            canvas.text(x, y0 - 7, name, Style("sans-bold", 7.2), "center")
        canvas.rect(box, color=HAIR, width=0.6)

    return draw
