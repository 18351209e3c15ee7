"""Vector charts, maps and diagrams of the sample reports.

Each maker returns a `Drawing`: a function that draws into a box of a canvas (points, origin top left) and nowhere
else. All numbers are invented by the reports; noise comes from generators with fixed seeds.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sample_data.generators.canvas import GREY, HAIR, INK, WHITE, Box, Canvas, Color, Point, Style, padded, text_width
from sample_data.generators.layout import Drawing

AXIS = Style(7.0, "sans", (0.30, 0.33, 0.38))
LABEL = Style(7.2)
STRONG = Style(8.4, "sans-bold")
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


def even_texts(values: Sequence[float]) -> list[str]:
    """Values with the same number of decimals: as many (at most two) as the finest of them needs.

    >>> even_texts([2.0, 3.5])
    ['2.0', '3.5']
    """
    digits = next(n for n in (0, 1, 2) if n == 2 or all(abs(round(value, n) - value) < 1e-9 for value in values))
    return [f"{value:,.{digits}f}" for value in values]


def _at(box: Box, x: float, y: float) -> Point:
    """Return the point of a box at shares of its width and height."""
    return box[0] + (box[2] - box[0]) * x, box[1] + (box[3] - box[1]) * y


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
    """Return grouped or stacked vertical bars; `values` writes the number on each bar, `heading` a title inside."""
    legend = list(series) if len(series) > 1 else []

    def draw(canvas: Canvas, box: Box) -> None:
        if heading:
            canvas.text(box[0], box[1] + 7, heading, STRONG)
            box = (box[0], box[1] + 16, box[2], box[3])
        columns = list(zip(*series.values(), strict=True))
        ticks = nice_ticks(max(sum(column) if stacked else max(column) for column in columns))
        left, top, right, bottom = _plot_box(canvas, box, ticks, unit, legend)
        scale, step = (bottom - top) / ticks[-1], (right - left) / len(categories)
        each = step * 0.68 if stacked else step * 0.68 / len(series)
        for number, (name, column) in enumerate(zip(categories, columns, strict=True)):
            canvas.text(left + step * (number + 0.5), bottom + 10, name, AXIS, "center")
            x, floor = left + step * (number + 0.16), bottom
            for color, value in zip(colors, column, strict=False):
                high = floor - value * scale
                canvas.rect((x, high, x + each * (1 if stacked else 0.92), floor), fill=color)
                if values:
                    canvas.text(x + each * 0.46, high - 2.5, even_texts([value])[0], AXIS, "center")
                x, floor = (x, high) if stacked else (x + each, floor)
        _legend(canvas, legend, colors, left, box[3] - 1.5)

    return draw


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
        plot = _plot_box(canvas, (box[0], box[1], box[2] - room, box[3]), ticks, unit, [])
        shares_x = [(number + 0.5) / len(ticks_x) for number in range(len(ticks_x))]
        for share, name in zip(shares_x, ticks_x, strict=True):
            if name:
                canvas.text(_at(plot, share, 0)[0], plot[3] + 10, name, AXIS, "center")
        for (name, values), color in zip(series.items(), colors, strict=False):
            points = [_at(plot, x, 1 - value / ticks[-1]) for x, value in zip(shares_x, values, strict=True)]
            if area:
                outline = [*points, (points[-1][0], plot[3]), (points[0][0], plot[3])]
                canvas.polyline(outline, color=None, fill=color, opacity=0.25)
            canvas.polyline(points, color=color, width=1.5)
            for point in points if dots else ():
                canvas.circle(point, 1.9, color=WHITE, width=0.5, fill=color)
            canvas.text(points[-1][0] + 6, points[-1][1] + 2.5, name, Style(7.2, "sans-bold", color))

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
        left, top, right, bottom = plot = (box[0] + 34, box[1] + 2, box[2] - 2, box[3] - 26)
        for share in np.arange(6) / 5:
            x, y = _at(plot, share, 1 - share)
            text_x, text_y = even_texts([top_x * share])[0], even_texts([top_y * share])[0]
            canvas.line((x, bottom), (x, bottom + 3), color=GREY)
            canvas.line((left - 3, y), (left, y), color=GREY)
            canvas.text(x, bottom + 10.5, text_x, AXIS, "center")
            canvas.text(left - 5, y + 2.4, text_y, AXIS, "right")
        canvas.rect(plot, color=GREY, width=0.6)
        for (xs, ys), color in zip(clouds.values(), colors, strict=False):
            for x, y in zip(xs, ys, strict=True):
                canvas.circle(_at(plot, x / top_x, 1 - y / top_y), 1.7, color=color, width=0.4, fill=color)
        if slope is not None:
            start, end = (_at(plot, x, 1 - (slope[0] + slope[1] * top_x * x) / top_y) for x in (0, 1))
            canvas.line(start, end, color=INK, width=0.9, dash="[4 3]")
        canvas.text((left + right) / 2, box[3] - 2, label_x, LABEL, "center")
        canvas.text_upward(box[0] + 6, (top + bottom) / 2, label_y, LABEL)
        _legend(canvas, list(clouds), colors, left + 8, top + 12)

    return draw


def daily_columns(amounts: FloatArray, months: Sequence[str], *, unit: str, color: Color = BLUES[0]) -> Drawing:
    """One thin stroke per day: a chart of several hundred strokes."""

    def draw(canvas: Canvas, box: Box) -> None:
        ticks = nice_ticks(float(amounts.max()), 4)
        plot = _plot_box(canvas, box, ticks, unit, [])
        for number, amount in enumerate(amounts):
            if amount > 0:
                x, y = _at(plot, (number + 0.5) / len(amounts), 1 - amount / ticks[-1])
                canvas.line((x, plot[3]), (x, y), color=color)
        for number, name in enumerate(months):
            canvas.text(_at(plot, (number + 0.5) / len(months), 0)[0], plot[3] + 10, name, AXIS, "center")

    return draw


def heat_matrix(rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]]) -> Drawing:
    """Return a shaded matrix with the number in each cell: a figure that looks like a table."""

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
                style = Style(7.2, "sans", WHITE if share > 0.55 else INK)
                canvas.text((cell[0] + cell[2]) / 2, top + tall / 2 + 2.6, next(texts), style, "center")

    return draw


def _rough_edge(start: Point, end: Point, rng: np.random.Generator, depth: int = 4) -> list[Point]:
    """Return a fractal line from start to end, without its last point."""
    if depth == 0:
        return [start]
    span = math.dist(start, end)
    middle = (
        (start[0] + end[0]) / 2 + rng.uniform(-0.11, 0.11) * span,
        (start[1] + end[1]) / 2 + rng.uniform(-0.11, 0.11) * span,
    )
    return [*_rough_edge(start, middle, rng, depth - 1), *_rough_edge(middle, end, rng, depth - 1)]


def district_map(
    names: Sequence[str], shades: Sequence[float], *, across: int, seed: int, legend: str, ramp: Color = BLUES[0]
) -> Drawing:
    """Return a map of districts with rough borders, a river, a scale bar and a north arrow.

    `shades` are in [0, 1]; districts are given row by row, `across` in a row.
    """

    def draw(canvas: Canvas, box: Box) -> None:
        rng = np.random.default_rng(seed)
        canvas.rect(box, color=HAIR, width=0.6, fill=(0.97, 0.98, 0.985))
        inner = (box[0] + 14, box[1] + 12, box[2] - 14, box[3] - 30)
        sides = _map_sides(inner, across, len(names) // across, rng)
        for number, (name, shade) in enumerate(zip(names, shades, strict=True)):
            row, column = divmod(number, across)
            outline = [
                *sides[row, column, "right"],
                *sides[row, column + 1, "down"],
                *reversed(sides[row + 1, column, "right"]),
                *reversed(sides[row, column, "down"]),
            ]
            canvas.polyline(outline, color=WHITE, width=1.2, fill=_tint(ramp, shade))
            x, y = np.mean(np.array(outline), axis=0)
            canvas.text(x, y + 2, name, Style(7.0, "sans-bold", WHITE if shade > 0.6 else INK), "center")
        share = rng.uniform(0.3, 0.7)
        start, end = _at(inner, share, 0), _at(inner, 1 - share, 1)
        river = [*_rough_edge((start[0], start[1] + 4), (end[0], end[1] - 4), rng, 6), (end[0], end[1] - 4)]
        canvas.polyline(river, color=(0.36, 0.60, 0.80), width=2.2)
        _map_furniture(canvas, box, legend, ramp)

    return draw


def _tint(color: Color, share: float) -> Color:
    """Return the colour mixed with near-white; share 1 is the colour itself."""
    weight = 0.12 + 0.88 * share
    return (0.96 + (color[0] - 0.96) * weight, 0.97 + (color[1] - 0.97) * weight, 0.98 + (color[2] - 0.98) * weight)


def _map_sides(box: Box, across: int, down: int, rng: np.random.Generator) -> dict[tuple[int, int, str], list[Point]]:
    """Rough borders, shared by the two districts beside them; key: row, column, direction."""
    nodes: dict[tuple[int, int], Point] = {}
    for row, column in np.ndindex(down + 1, across + 1):
        shift_x, shift_y = rng.uniform(-0.22, 0.22, 2) * (0 < column < across, 0 < row < down)
        nodes[row, column] = _at(box, (column + shift_x) / across, (row + shift_y) / down)
    sides = {}
    for (row, column), node in nodes.items():
        for direction, other in (("right", (row, column + 1)), ("down", (row + 1, column))):
            if other in nodes:
                sides[row, column, direction] = [*_rough_edge(node, nodes[other], rng), nodes[other]]
    return sides


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
    """Return a smooth random surface in [0, 1]."""
    rng = np.random.default_rng(seed)
    field = np.zeros(shape)
    for octave in range(3):
        count = 4 * 2**octave
        surface = rng.random((count + 1, count + 1))
        for axis in (0, 1):
            places = np.linspace(0, count - 1e-6, shape[axis])
            surface = np.apply_along_axis(functools.partial(np.interp, places, np.arange(count + 1)), axis, surface)
        field += surface / 2.2**octave
    for axis in (0, 1):
        padding = [(smooth // 2,) * 2 if axis == side else (0, 0) for side in (0, 1)]
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(field, padding, "edge"), smooth, axis)
        field = windows.mean(axis=-1)
    return np.asarray((field - field.min()) / (field.max() - field.min()), dtype=np.float64)


def contour_map(
    *, seed: int, levels: int = 9, towns: Mapping[str, Point], unit: str, ramp: Color = BLUES[0]
) -> Drawing:
    """Return a shaded surface with contour lines and towns (positions as shares of the box)."""

    def draw(canvas: Canvas, box: Box) -> None:
        x0, y0, x1, y1 = box[0], box[1], box[2], box[3] - 20
        rows, columns = MAP_ROWS, max(MAP_ROWS, round(MAP_ROWS * (x1 - x0) / (y1 - y0)))
        field = noise_field((rows + 1, columns + 1), seed)
        wide, tall = (x1 - x0) / columns, (y1 - y0) / rows
        for row in range(rows):
            values = field[row : row + 2].mean(axis=0)
            classes = np.minimum(((values[1:] + values[:-1]) / 2 * levels).astype(int), levels - 1)
            # Neighbours of the same class are one rectangle; all but the last row reach a little below.
            cuts = [0, *(np.flatnonzero(np.diff(classes)) + 1).tolist(), columns]
            top, bottom = y0 + tall * row, y0 + tall * (row + 1) + SEAM * (row < rows - 1)
            for first, stop in itertools.pairwise(cuts):
                fill = _tint(ramp, 0.75 * float(classes[first]) / levels)
                canvas.rect((x0 + wide * first, top, x0 + wide * stop, bottom), fill=fill)
        for level in range(1, levels):
            for ends in contour_segments(field, level / levels):
                start, end = ((x0 + wide * column, y0 + tall * row) for row, column in ends)
                canvas.line(start, end, color=(0.25, 0.33, 0.42), width=0.3 if level % 3 else 0.7)
        canvas.rect((x0, y0, x1, y1), color=INK, width=0.7)
        for name, share in towns.items():
            x, y = _at((x0, y0, x1, y1), *share)
            canvas.circle((x, y), 2.2, color=WHITE, width=0.7, fill=INK)
            canvas.text(x + 5, y + 2.5, name, Style(7.4, "sans-bold"))
        for level in range(levels):
            left, bottom = x0 + level * 22, box[3]
            canvas.rect((left, bottom - 15, left + 22, bottom - 9), fill=_tint(ramp, 0.75 * level / levels))
            canvas.text(left + 11, bottom - 1.5, str(400 + 100 * level), AXIS, "center")
        canvas.text(x0 + levels * 22 + 6, box[3] - 9.5, unit, AXIS)

    return draw


def contour_segments(field: FloatArray, level: float) -> list[tuple[Point, Point]]:
    """Segments of one contour in (row, column) units (marching squares; saddles are cut one way)."""
    segments: list[tuple[Point, Point]] = []
    for row, column in np.ndindex(field.shape[0] - 1, field.shape[1] - 1):
        corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
        values = [float(field[corner]) - level for corner in corners]
        cuts: list[Point] = []
        for one, two in ((0, 1), (1, 2), (2, 3), (3, 0)):
            if (values[one] > 0) != (values[two] > 0):
                share = values[one] / (values[one] - values[two])
                cuts.append(_at((*corners[one], *corners[two]), share, share))
        segments.extend(zip(cuts[::2], cuts[1::2], strict=True))
    return segments


def flow_diagram(
    boxes: Mapping[str, tuple[float, float, str]], arrows: Sequence[tuple[str, str]], *, color: Color = BLUES[0]
) -> Drawing:
    """Boxes with text and arrows between them; centres are shares of the figure, a line feed breaks the text."""

    def draw(canvas: Canvas, box: Box) -> None:
        half_wide, half_tall = 52.0, 17.0
        room = padded(box, -half_wide, -half_tall)
        places = {key: _at(room, share_x, share_y) for key, (share_x, share_y, _) in boxes.items()}
        for one, two in arrows:
            _arrow(canvas, places[one], places[two], (half_wide, half_tall))
        for key, (_, _, text) in boxes.items():
            x, y = places[key]
            canvas.rect(padded((x, y, x, y), half_wide, half_tall), color=color, fill=_tint(color, 0.08))
            parts = text.split("\n")
            for number, part in enumerate(parts):
                canvas.text(x, y + 2.6 + 9 * (number - (len(parts) - 1) / 2), part, LABEL, "center")

    return draw


def _arrow(canvas: Canvas, start: Point, end: Point, half: Point) -> None:
    """Draw an arrow between the rims of two boxes of the same half size."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    share = min(half[0] / abs(dx) if dx else math.inf, half[1] / abs(dy) if dy else math.inf)
    way = (*start, *end)
    tail, tip = _at(way, share, share), _at(way, 1 - share, 1 - share)
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
        for name, (color, course) in routes.items():
            points = [_at(box, *share) for share in course]
            canvas.polyline(points, color=color, width=4.0)
            canvas.circle(points[0], 7.0, color=WHITE, width=1.0, fill=color)
            canvas.text(points[0][0], points[0][1] + 2.7, name, Style(7.6, "sans-bold", WHITE), "center")
        for name, (share_x, share_y, side) in stops.items():
            x, y = _at(box, share_x, share_y)
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
            canvas.polyline(outline, color=(0.45, 0.40, 0.33), width=0.5, fill=color)
            canvas.text(x0 + 8, float(upper[4] + lower[4]) / 2 + 3, name, LABEL)
            upper = lower
        for name, share, depth in wells:
            x = x0 + (x1 - x0) * share
            canvas.rect((x - 1.6, y0 - 2, x + 1.6, y0 + (y1 - y0) * depth), color=INK, width=0.6, fill=WHITE)
            canvas.text(x, y0 - 7, name, Style(7.2, "sans-bold"), "center")
        canvas.rect(box, color=HAIR, width=0.6)

    return draw
