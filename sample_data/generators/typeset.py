"""Words into lines: markup, line breaking with hyphenation, justified setting, and displayed formulas.

Text markup: `{b:bold}`, `{i:italic}`, `{^:raised}`. Lengths in points. A line is drawn at its baseline.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from sample_data.generators.canvas import Canvas, Point, Style, text_width

MARKUP = re.compile(r"\{([bi^]):([^}]*)\}")
# Endings before which English words may be divided safely, and the shortest stem that stays on the line.
DIVIDABLE = re.compile(r"^(\w{4,})((?:tion|tions|ment|ments|ness|ship|ships|tional|fully)\W*)$")
RAISE, RAISED_SIZE = 0.36, 0.66
MAX_SHRINK = 0.22  # of a word space
HYPHEN_COST, SHORT_LAST_COST, OVERFULL_COST = 1.2, 4.0, 1e6
SHORT_LAST_LINE = 0.12  # of the measure


@dataclass(frozen=True)
class Piece:
    """A run of one style inside a word; `rise` lifts it above the baseline."""

    text: str
    style: Style
    rise: float = 0.0


Word = tuple[Piece, ...]


@dataclass(frozen=True)
class Line:
    """The words of one line; `justified` is False for the last line of a paragraph."""

    words: tuple[Word, ...]
    justified: bool


def variant(font: str, kind: str) -> str:
    """Bold ("b") or italic ("i") member of a font family.

    >>> variant("serif", "b"), variant("sans-bold", "i")
    ('serif-bold', 'sans-bold-italic')
    """
    return f"{font}-{'bold' if kind == 'b' else 'italic'}"


def parse(text: str, style: Style) -> list[Word]:
    """Words of a text with markup; a markup run may span several words."""
    pieces: list[Piece] = []
    position = 0
    for match in MARKUP.finditer(text):
        pieces.append(Piece(text[position : match.start()], style))
        kind, inner = match.groups()
        if kind == "^":
            pieces.append(Piece(inner, replace(style, size=style.size * RAISED_SIZE), style.size * RAISE))
        else:
            pieces.append(Piece(inner, replace(style, font=variant(style.font, kind))))
        position = match.end()
    pieces.append(Piece(text[position:], style))
    return _cut_at_spaces(pieces)


def _cut_at_spaces(pieces: list[Piece]) -> list[Word]:
    words: list[Word] = []
    current: list[Piece] = []
    for piece in pieces:
        for index, chunk in enumerate(piece.text.split(" ")):
            if index and current:
                words.append(tuple(current))
                current = []
            if chunk:
                current.append(Piece(chunk, piece.style, piece.rise))
    if current:
        words.append(tuple(current))
    return words


def word_width(word: Word) -> float:
    """Advance width of a word."""
    return sum(text_width(piece.text, piece.style) for piece in word)


def divide(word: Word) -> tuple[Word, Word] | None:
    """The word in two parts with a hyphen, or None when it has no safe place."""
    if len(word) != 1:
        return None
    match = DIVIDABLE.match(word[0].text)
    if match is None:
        return None
    head, tail = match.groups()
    piece = word[0]
    return (Piece(head + "-", piece.style),), (Piece(tail, piece.style),)


def _badness(natural: float, gaps: int, space: float, measure: float, last: bool) -> float:
    """How bad a line looks: cubic in the stretch of its spaces, infinite-like when it does not fit."""
    spare = measure - natural
    if spare < -MAX_SHRINK * space * max(gaps, 0) - 0.01:
        return OVERFULL_COST - spare
    if last:
        return SHORT_LAST_COST if natural < SHORT_LAST_LINE * measure else 0.0
    if gaps == 0:
        return 60.0 + spare
    stretch = spare / (gaps * space)
    return float((abs(stretch) / 0.7) ** 3)


def break_lines(words: list[Word], measure: float, space: float) -> list[Line]:
    """Lines with the least total badness (dynamic programming over all breaks, divided words included).

    Parameters
    ----------
    words : words of the paragraph.
    measure, space : line length and width of a word space.
    """
    best: dict[tuple[int, bool], tuple[float, tuple[Line, ...]]] = {(0, False): (0.0, ())}
    count = len(words)
    for start in range(count):
        for tail_first in (False, True):
            state = best.get((start, tail_first))
            if state is None:
                continue
            cost, lines = state
            divided = divide(words[start]) if tail_first else None
            taken: list[Word] = []
            natural = -space
            for stop in range(start, count):
                word = divided[1] if divided is not None and stop == start else words[stop]
                parts = divide(word) if stop > start else None
                if parts is not None:
                    reach = natural + space + word_width(parts[0])
                    value = cost + HYPHEN_COST + _badness(reach, len(taken), space, measure, False)
                    line = Line((*taken, parts[0]), True)
                    if value < best.get((stop, True), (float("inf"), ()))[0]:
                        best[stop, True] = (value, (*lines, line))
                natural += space + word_width(word)
                taken.append(word)
                last = stop == count - 1
                penalty = _badness(natural, len(taken) - 1, space, measure, last)
                value = cost + penalty + 0.02
                line = Line(tuple(taken), not last)
                if value < best.get((stop + 1, False), (float("inf"), ()))[0]:
                    best[stop + 1, False] = (value, (*lines, line))
                if natural > measure * 1.1 and len(taken) > 1:
                    break
    return list(best[count, False][1])


@functools.cache
def set_paragraph(text: str, style: Style, measure: float) -> tuple[Line, ...]:
    """Lines of a text with markup."""
    return tuple(break_lines(parse(text, style), measure, text_width(" ", style)))


def draw_line(canvas: Canvas, line: Line, origin: Point, measure: float, style: Style, *, justify: bool = True) -> None:
    """Draw one line at its baseline; spaces stretch or shrink to fill the measure."""
    x, baseline = origin
    natural = sum(word_width(word) for word in line.words)
    gaps = len(line.words) - 1
    space = text_width(" ", style)
    spare = measure - natural - gaps * space
    if gaps and ((justify and line.justified) or spare < 0):
        space += spare / gaps
    for number, word in enumerate(line.words):
        for piece_number, piece in enumerate(word):
            # The space glyph belongs to the word, as in typeset PDFs, so that readers need not guess it.
            ending = " " if number < gaps and piece_number == len(word) - 1 else ""
            canvas.text(x, baseline - piece.rise, piece.text + ending, piece.style)
            x += text_width(piece.text, piece.style)
        x += space


@dataclass(frozen=True)
class MathBox:
    """A laid-out part of a formula: extents from its baseline and how to draw it at (x, baseline)."""

    width: float
    ascent: float
    descent: float
    draw: Callable[[Canvas, float, float], None]


def glyphs(text: str, style: Style) -> MathBox:
    """A run of letters or operators."""
    return MathBox(
        text_width(text, style),
        style.size * 0.70,
        style.size * 0.22,
        lambda canvas, x, baseline: _ignore(canvas.text(x, baseline, text, style)),
    )


def _ignore(_: float) -> None:
    """Drop the width that `Canvas.text` returns."""


def beside(*boxes: MathBox) -> MathBox:
    """Boxes one after the other on a common baseline."""

    def draw(canvas: Canvas, x: float, baseline: float) -> None:
        for box in boxes:
            box.draw(canvas, x, baseline)
            x += box.width

    return MathBox(sum(b.width for b in boxes), max(b.ascent for b in boxes), max(b.descent for b in boxes), draw)


def scripts(base: MathBox, *, sub: MathBox | None = None, sup: MathBox | None = None, size: float) -> MathBox:
    """A base with a lowered and a raised part; `size` is the size of the base in points."""
    drop, lift = size * 0.20, size * 0.40

    def draw(canvas: Canvas, x: float, baseline: float) -> None:
        base.draw(canvas, x, baseline)
        if sub is not None:
            sub.draw(canvas, x + base.width + 0.4, baseline + drop)
        if sup is not None:
            sup.draw(canvas, x + base.width + 0.6, baseline - lift)

    width = base.width + 0.8 + max(sub.width if sub else 0.0, sup.width if sup else 0.0)
    ascent = max(base.ascent, lift + sup.ascent if sup else 0.0)
    descent = max(base.descent, drop + sub.descent if sub else 0.0)
    return MathBox(width, ascent, descent, draw)


def fraction(top: MathBox, bottom: MathBox, *, size: float) -> MathBox:
    """A fraction with its bar on the axis of the line."""
    width = max(top.width, bottom.width) + size * 0.4
    axis, gap = size * 0.26, size * 0.22

    def draw(canvas: Canvas, x: float, baseline: float) -> None:
        bar = baseline - axis
        canvas.line((x, bar), (x + width, bar), width=0.55)
        top.draw(canvas, x + (width - top.width) / 2, bar - gap - top.descent)
        bottom.draw(canvas, x + (width - bottom.width) / 2, bar + gap + bottom.ascent)

    ascent = axis + gap + top.ascent + top.descent
    descent = gap + bottom.ascent + bottom.descent - axis
    return MathBox(width + size * 0.1, ascent, descent, draw)


def limits(sign: MathBox, *, below: MathBox, above: MathBox) -> MathBox:
    """A large sign with limits under and over it."""
    width = max(sign.width, below.width, above.width)

    def draw(canvas: Canvas, x: float, baseline: float) -> None:
        sign.draw(canvas, x + (width - sign.width) / 2, baseline)
        below.draw(canvas, x + (width - below.width) / 2, baseline + sign.descent + below.ascent)
        above.draw(canvas, x + (width - above.width) / 2, baseline - sign.ascent - above.descent)

    ascent = sign.ascent + above.ascent + above.descent
    return MathBox(width + 1.0, ascent, sign.descent + below.ascent + below.descent, draw)


def formula(source: str, size: float) -> MathBox:
    r"""A formula from a small TeX-like notation.

    Letters are italic, everything else upright. `_{..}` lowers, `^{..}` raises, `\frac{..}{..}` divides,
    `\sum{below}{above}` sums, `\text{..}` is upright.
    """
    boxes: list[MathBox] = []
    rest = source
    while rest:
        box, rest = _atom(rest, size)
        while rest[:2] in ("_{", "^{"):
            sub = sup = None
            for _ in range(2):
                if rest.startswith("_{") and sub is None:
                    inner, rest = _braced(rest[1:])
                    sub = formula(inner, size * 0.68)
                elif rest.startswith("^{") and sup is None:
                    inner, rest = _braced(rest[1:])
                    sup = formula(inner, size * 0.68)
            box = scripts(box, sub=sub, sup=sup, size=size)
        boxes.append(box)
    return beside(*boxes)


def _atom(source: str, size: float) -> tuple[MathBox, str]:
    """The first part of a formula and what follows it."""
    if source.startswith("\\frac"):
        top, rest = _braced(source[5:])
        bottom, rest = _braced(rest)
        return fraction(formula(top, size), formula(bottom, size), size=size), rest
    if source.startswith("\\sum"):
        below, rest = _braced(source[4:])
        above, rest = _braced(rest)
        sign = glyphs("∑", Style("serif", size * 1.45))
        return limits(sign, below=formula(below, size * 0.62), above=formula(above, size * 0.62)), rest
    if source.startswith("\\text"):
        inner, rest = _braced(source[5:])
        return glyphs(inner, Style("serif", size)), rest
    match = re.match(r"[A-Za-z]+|[^A-Za-z\\_^]+?(?=[A-Za-z\\_^]|$)", source)
    if match is None:
        raise ValueError(f"formula: cannot read {source!r}")
    run = match.group()
    return glyphs(run, Style("serif-italic" if run[0].isalpha() else "serif", size)), source[match.end() :]


def _braced(source: str) -> tuple[str, str]:
    """Inside of the leading {..} and what follows."""
    depth = 0
    for index, char in enumerate(source):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            return source[1:index], source[index + 1 :]
    raise ValueError(f"formula: {source!r} has no closing brace")
