"""The heatmap of one confusion matrix: cell texts and colour levels, scales and legend in both themes.

Background x background is in no scale: it is most of the page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Literal

import numpy as np

from evaluator.components.matrix.payload import MatrixLayer, ScaleItem
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.metrics.results import MINUS
from evaluator.protocols.pixel.difference import MatrixDifference, largest
from evaluator.protocols.pixel.matrix import Matrices, plain_matrix

Shows = Literal["pixels", "row", "column", "f1"]
Colour = Literal["steps", "linear", "log"]
SHOWS: Final[dict[Shows, str]] = {"pixels": "confusion", "row": "recall", "column": "precision", "f1": "f1"}
"""What a cell shows, and the matrix that it comes from."""
COLOURS: Final[tuple[Colour, ...]] = ("steps", "linear", "log")

STEPS: Final = (0.001, 0.02, 0.05, 0.15, 0.40, 0.85)
"""Shares from which the second to the seventh colour is used."""
_BLUE: Final = ("#F3F7FC", "#D6E4F4", "#ACC9E8", "#86B1DD", "#629ACF", "#1F5FA8", "#123F75")
_BLUE_DARK: Final = ("#1A222B", "#1F3B5C", "#28547F", "#3A74AE", "#5B97D6", "#8CBCF0", "#CFE3FB")
_ORANGE: Final = ("#F6F7F9", "#FCE7D6", "#F9CFAF", "#F0AE7C", "#E38F4F", "#B54900", "#7E3300")
_ORANGE_DARK: Final = ("#1A222B", "#44290F", "#633A12", "#8F541C", "#D98436", "#F5A868", "#FFDDBF")
_LEVELS: Final = 33
"""Colours of a scale without steps."""
# What a logarithmic scale of shares counts in: one in a thousand is its 1.
_SHARE_UNIT: Final = 0.001


Ink = tuple[str, str, str, str]
"""A cell's colour and the colour of its text, light and dark theme."""


def matrix_data(
    classes: Sequence[str], matrices: Matrices, shows: Shows, colour: Colour, *, largest_pixels: float | None = None
) -> MatrixLayer:
    """Return the heatmap of one scope: matrices of shape (1, C, C) over `classes`, the background first.

    Steps of pixels follow the share of the row. `largest_pixels` ends the other scales of pixels, by default at the
    largest here. Level -1 is outside the scale; facts are None where undefined.
    """
    values = getattr(matrices, SHOWS[shows])[0]
    shares = matrices.recall[0] if shows == "pixels" else values
    top = (largest_pixels or largest(values)) if shows == "pixels" else 1.0
    level = _levels(shares if colour == "steps" else values, colour, top, 1.0 if shows == "pixels" else _SHARE_UNIT)
    level[0, 0] = -1
    return MatrixLayer(
        classes=list(classes),
        kind="matrix",
        shows=shows,
        text=[[_text(value, shows) for value in row] for row in values.tolist()],
        level=level.tolist(),
        ramp=_ramp(colour == "steps"),
        facts={shows: plain_matrix(getattr(matrices, name)[0]) for shows, name in SHOWS.items()},
        scale=_scale(shows, colour, top),
    )


def difference_data(
    difference: MatrixDifference, shows: Shows, colour: Colour, *, shares: MatrixDifference | None = None
) -> MatrixLayer:
    """Return the heatmap of one matrix minus another; facts are ``first``, ``second`` and ``gain``.

    `shares`, the difference of the row shares, is needed for steps of pixels. Levels rise from deepest orange (second)
    to deepest blue (first).
    """
    values = difference.values
    stepped = shares.values if colour == "steps" and shares is not None else values
    top = difference.limit or 1.0
    unit = 1.0 if shows == "pixels" else _SHARE_UNIT
    depth = _levels(np.abs(stepped), colour, top, unit)
    middle = len(_BLUE) - 1 if colour == "steps" else _LEVELS - 1
    level = np.where(depth < 0, -1, middle + depth * difference.gain)
    level[0, 0] = -1
    return MatrixLayer(
        classes=list(difference.classes),
        kind="difference",
        shows=shows,
        text=[[_signed(value, shows) for value in row] for row in values.tolist()],
        level=level.tolist(),
        ramp=_two_sided(colour == "steps"),
        facts={
            "first": plain_matrix(difference.first),
            "second": plain_matrix(difference.second),
            "gain": difference.gain.tolist(),
        },
        scale=_difference_scale(shows, colour, top),
    )


def short_pixels(value: float) -> str:
    """Return a number of pixels in few characters.

    >>> [short_pixels(value) for value in (0.0, 0.4, 812.0, 50_400.0, 999_960.0, 1_309_000.0, 113_500_000.0)]
    ['0', '0.4', '812', '50.4k', '1.0 M', '1.3 M', '114 M']
    """
    if value == 0 or 99.5 <= value < 999.5:
        return f"{value:.0f}"
    if value < 99.5:
        return f"{value:.0f}" if float(value).is_integer() or value >= 9.95 else f"{value:.1f}"
    for limit, unit, name in ((999_950.0, 1e3, "k"), (999.5e6, 1e6, " M"), (math.inf, 1e9, " G")):
        if value < limit:
            scaled = value / unit
            return f"{scaled:.1f}{name}" if scaled < 99.95 else f"{scaled:.0f}{name}"
    raise AssertionError  # the last limit is infinite


def step_of(share: float) -> int:
    """Return which of the seven steps a share has, 0 to 6."""
    return int(np.searchsorted(np.array(STEPS), share, side="right"))


def _text(value: float, shows: Shows) -> str:
    if math.isnan(value):
        return "–"
    if value == 0.0:
        return "0"
    if shows == "pixels":
        return short_pixels(value)
    if shows == "f1":
        return f"{value:.2f}" if value >= 0.005 else "<.01"
    if value < STEPS[0]:
        return "<0.1"
    # Not all of it is not 100.
    return "100" if value == 1.0 else f"{min(100 * value, 99.9):.1f}"


def _signed(value: float, shows: Shows) -> str:
    if math.isnan(value):
        return "–"
    if value == 0.0:
        return "0"
    size = abs(value)
    number = short_pixels(size) if shows == "pixels" else f"{size:.2f}" if shows == "f1" else f"{100 * size:.1f}"
    sign = "±" if not number.strip("0.") else "+" if value > 0 else MINUS
    return sign + number


def _levels(values: FloatArray, colour: Colour, top: float, unit: float) -> IntArray:
    """Return the level of each cell: 0 to 6 for steps, 0 to 32 for the others; -1 where undefined."""
    known = np.nan_to_num(values)
    if colour == "steps":
        level = np.searchsorted(np.array(STEPS), known, side="right")
    else:
        share = np.log1p(known / unit) / math.log1p(top / unit) if colour == "log" and top else known / (top or 1.0)
        # A cell that has something is never the colour of nothing.
        level = np.where(known > 0.0, np.maximum(np.rint(np.clip(share, 0.0, 1.0) * (_LEVELS - 1)), 1), 0)
    return np.where(np.isnan(values), -1, level).astype(np.int64)


@cache
def _ramp(steps: bool) -> tuple[Ink, ...]:
    light, dark = (_BLUE, _BLUE_DARK) if steps else (_between(_BLUE), _between(_BLUE_DARK))
    return tuple((fill, _ink(fill), other, _ink(other)) for fill, other in zip(light, dark, strict=True))


@cache
def _two_sided(steps: bool) -> tuple[Ink, ...]:
    orange, dark = (_ORANGE, _ORANGE_DARK) if steps else (_between(_ORANGE), _between(_ORANGE_DARK))
    loss = [(fill, _ink(fill), other, _ink(other)) for fill, other in zip(orange, dark, strict=True)]
    return (*loss[:0:-1], *_ramp(steps))


def _between(colours: Sequence[str]) -> tuple[str, ...]:
    """Interpolate colours to `_LEVELS` even steps."""
    points = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours], dtype=float)
    at = np.linspace(0, len(colours) - 1, _LEVELS)
    channels = [np.interp(at, np.arange(len(colours)), points[:, channel]) for channel in range(3)]
    rounded = np.rint(np.stack(channels, axis=1)).astype(int).tolist()
    return tuple("#" + "".join(f"{channel:02X}" for channel in colour) for colour in rounded)


def contrast(one: str, other: str) -> float:
    """Return the WCAG contrast of two colours "#RRGGBB", 1 to 21.

    >>> contrast("#FFFFFF", "#000000")
    21.0
    """
    low, high = sorted(_luminance(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _ink(fill: str) -> str:
    """Return the most readable text colour on a colour: ours at contrast 4.6 or more, else black or white."""
    best = max(("#1B2430", "#FFFFFF"), key=lambda ink: contrast(ink, fill))
    return best if contrast(best, fill) >= 4.6 else max(("#000000", "#FFFFFF"), key=lambda ink: contrast(ink, fill))


_NAMES: Final[Mapping[Shows, str]] = {
    "pixels": "Pixels",
    "row": "Share of the row, per cent",
    "column": "Share of the column, per cent",
    "f1": "F1",
}
_DIFFERENCE_NAMES: Final[Mapping[Shows, str]] = {
    **_NAMES,
    "row": "Points of the row share",
    "column": "Points of the column share",
}


def _scale(shows: Shows, colour: Colour, top: float) -> ScaleItem:
    """Return the legend: what the colours mean, and a swatch for each step or for five places of a scale."""
    if colour == "steps":
        swatches = [(0, "0"), *_step_marks(shows)]
        swatches[-1] = (swatches[-1][0], swatches[-1][1] + " +")
    else:
        swatches = _scale_marks((0, 8, 16, 24, 32), shows, colour, top)
    return ScaleItem(_scale_name(_NAMES, shows, colour), swatches)


def _difference_scale(shows: Shows, colour: Colour, top: float) -> ScaleItem:
    middle = len(_BLUE) - 1 if colour == "steps" else _LEVELS - 1
    sides = _step_marks(shows) if colour == "steps" else _scale_marks((16, 32), shows, colour, top)
    swatches = [(middle - level, mark) for level, mark in reversed(sides)]
    swatches += [(middle, "0"), *((middle + level, mark) for level, mark in sides)]
    return ScaleItem(_scale_name(_DIFFERENCE_NAMES, shows, colour), swatches)


def _scale_name(names: Mapping[Shows, str], shows: Shows, colour: Colour) -> str:
    if colour == "steps":
        return f"Colour: {names['row'][:1].lower()}{names['row'][1:]}" if shows == "pixels" else names[shows]
    return f"{names[shows]}, {'logarithmic' if colour == 'log' else 'linear'}"


def _step_marks(shows: Shows) -> list[tuple[int, str]]:
    return [(level, f"{step if shows == 'f1' else 100 * step:g}") for level, step in enumerate(STEPS, 1)]


def _scale_marks(levels: Sequence[int], shows: Shows, colour: Colour, top: float) -> list[tuple[int, str]]:
    unit = 1.0 if shows == "pixels" else _SHARE_UNIT
    marks = []
    for level in levels:
        share = level / (_LEVELS - 1)
        value = math.expm1(share * math.log1p(top / unit)) * unit if colour == "log" else share * top
        marks.append((level, _mark(value, shows)))
    return marks


def _mark(value: float, shows: Shows) -> str:
    if shows == "pixels":
        return short_pixels(value)
    return f"{value:.2g}" if shows == "f1" else f"{100 * value:.2g}" if value < 0.1 else f"{100 * value:.0f}"
