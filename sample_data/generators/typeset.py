"""Words into lines: markup, line breaking with hyphenation, justified setting, and displayed formulas.

Text markup: `{b:bold}`, `{i:italic}`, `{^:raised}`. Lengths in points. A line is drawn at its baseline.
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass, replace

from sample_data.generators.canvas import Canvas, Point, Style, text_width

MARKUP = re.compile(r"\{([bi^]):([^}]*)\}")
MARKED_OR_PLAIN = re.compile(MARKUP.pattern + r"|[^{]+")
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


def parse(text: str, style: Style) -> list[Word]:
    """Words of a text with markup; a markup run may span several words."""
    words: list[list[Piece]] = [[]]
    for match in MARKED_OR_PLAIN.finditer(text):
        kind, inner = match[1], match[2] or match[0]
        if kind == "^":
            own, rise = replace(style, size=style.size * RAISED_SIZE), style.size * RAISE
        else:
            own, rise = replace(style, font=style.font + {"b": "-bold", "i": "-italic", None: ""}[kind]), 0.0
        for index, chunk in enumerate(inner.split(" ")):
            if index:
                words.append([])
            if chunk:
                words[-1].append(Piece(chunk, own, rise))
    return [tuple(word) for word in words if word]


def line_text(line: Line) -> str:
    """Return the words of a line with blanks between them."""
    return " ".join("".join(piece.text for piece in word) for word in line.words)


def word_width(word: Word) -> float:
    """Advance width of a word."""
    return sum(text_width(piece.text, piece.style) for piece in word)


def divide(word: Word) -> tuple[Word, Word] | None:
    """Return the word in two parts with a hyphen, or None when it has no safe place."""
    match = DIVIDABLE.match(word[0].text) if len(word) == 1 else None
    return match and ((Piece(match[1] + "-", word[0].style),), (Piece(match[2], word[0].style),))


def _badness(natural: float, gaps: int, space: float, measure: float, *, last: bool) -> float:
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


def break_lines(words: list[Word], measure: float, space: float) -> tuple[Line, ...]:
    """Lines with the least total badness (dynamic programming over all breaks, divided words included).

    `measure` and `space` are the length of a line and the width of a word space.
    """
    # The state is the first word of the next line, and whether only its tail is left.
    best: dict[tuple[int, bool], tuple[float, tuple[Line, ...]]] = {(0, False): (0.0, ())}

    def offer(state: tuple[int, bool], cost: float, lines: tuple[Line, ...]) -> None:
        if state not in best or cost < best[state][0]:
            best[state] = cost, lines

    for start, tail_first in itertools.product(range(len(words)), (False, True)):
        if (start, tail_first) not in best:
            continue
        cost, lines = best[start, tail_first]
        divided = divide(words[start]) if tail_first else None
        taken: list[Word] = []
        natural = -space
        for stop in range(start, len(words)):
            word = divided[1] if divided is not None and stop == start else words[stop]
            parts = divide(word) if stop > start else None
            if parts is not None:
                badness = _badness(natural + space + word_width(parts[0]), len(taken), space, measure, last=False)
                offer((stop, True), cost + HYPHEN_COST + badness, (*lines, Line((*taken, parts[0]), True)))
            natural += space + word_width(word)
            taken.append(word)
            last = stop == len(words) - 1
            badness = _badness(natural, len(taken) - 1, space, measure, last=last)
            offer((stop + 1, False), cost + badness + 0.02, (*lines, Line(tuple(taken), not last)))
            if natural > measure * 1.1 and len(taken) > 1:
                break
    return best[len(words), False][1]


@functools.cache
def set_paragraph(text: str, style: Style, measure: float) -> tuple[Line, ...]:
    """Lines of a text with markup."""
    return break_lines(parse(text, style), measure, text_width(" ", style))


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


Bar = tuple[float, float, float]  # left end, height from the baseline, width


@dataclass(frozen=True)
class MathBox:
    """A laid-out part of a formula: its extents, and its texts and bars at (x, y) from the start of its baseline."""

    width: float
    ascent: float
    descent: float
    texts: tuple[tuple[float, float, str, Style], ...]
    bars: tuple[Bar, ...] = ()

    def draw(self, canvas: Canvas, x: float, baseline: float) -> None:
        """Draw the part at (x, baseline)."""
        for left, y, width in self.bars:
            canvas.line((x + left, baseline + y), (x + left + width, baseline + y), width=0.55)
        for left, y, text, style in self.texts:
            canvas.text(x + left, baseline + y, text, style)


def glyphs(text: str, style: Style) -> MathBox:
    """Return a run of letters or operators."""
    return MathBox(text_width(text, style), style.size * 0.70, style.size * 0.22, ((0.0, 0.0, text, style),))


def composed(width: float, *parts: tuple[MathBox, float, float], bars: tuple[Bar, ...] = ()) -> MathBox:
    """Boxes that are each moved by (x, y), and further bars."""
    return MathBox(
        width,
        max(box.ascent - y for box, _, y in parts),
        max(box.descent + y for box, _, y in parts),
        tuple((x + left, y + up, text, style) for box, x, y in parts for left, up, text, style in box.texts),
        bars + tuple((x + left, y + up, wide) for box, x, y in parts for left, up, wide in box.bars),
    )


def fraction(top: MathBox, bottom: MathBox, size: float) -> MathBox:
    """Return a fraction with its bar on the axis of the line; `size` is that of the line in points."""
    width = max(top.width, bottom.width) + size * 0.4
    axis, gap = size * 0.26, size * 0.22
    return composed(
        width + size * 0.1,
        (top, (width - top.width) / 2, -axis - gap - top.descent),
        (bottom, (width - bottom.width) / 2, -axis + gap + bottom.ascent),
        bars=((0.0, -axis, width),),
    )


def limits(sign: MathBox, below: MathBox, above: MathBox) -> MathBox:
    """Return a large sign with limits under and over it."""
    width = max(sign.width, below.width, above.width)
    return composed(
        width + 1.0,
        (sign, (width - sign.width) / 2, 0.0),
        (below, (width - below.width) / 2, sign.descent + below.ascent),
        (above, (width - above.width) / 2, -sign.ascent - above.descent),
    )


def formula(source: str, size: float) -> MathBox:
    r"""Return a formula from a small TeX-like notation.

    Letters are italic, everything else upright. `_{..}` lowers, `^{..}` raises, `\frac{..}{..}` divides,
    `\sum{below}{above}` sums, `\text{..}` is upright.
    """
    parts: list[tuple[MathBox, float, float]] = []
    width = 0.0
    while source:
        box, source = _atom(source, size)
        moved = [(box, 0.0, 0.0)]
        while source.startswith(("_{", "^{")):
            shift = (0.4, size * 0.20) if source[0] == "_" else (0.6, -size * 0.40)
            inner, source = _braced(source[1:])
            moved.append((formula(inner, size * 0.68), box.width + shift[0], shift[1]))
        if len(moved) > 1:
            box = composed(box.width + 0.8 + max(script.width for script, _, _ in moved[1:]), *moved)
        parts.append((box, width, 0.0))
        width += box.width
    return composed(width, *parts)


def _atom(source: str, size: float) -> tuple[MathBox, str]:
    """Return the first part of a formula and what follows it."""
    if source.startswith("\\frac"):
        top, rest = _braced(source[5:])
        bottom, rest = _braced(rest)
        return fraction(formula(top, size), formula(bottom, size), size), rest
    if source.startswith("\\sum"):
        below, rest = _braced(source[4:])
        above, rest = _braced(rest)
        sign = glyphs("∑", Style(size * 1.45, "serif"))
        return limits(sign, formula(below, size * 0.62), formula(above, size * 0.62)), rest
    if source.startswith("\\text"):
        inner, rest = _braced(source[5:])
        return glyphs(inner, Style(size, "serif")), rest
    match = re.match(r"[A-Za-z]+|[^A-Za-z\\_^]+?(?=[A-Za-z\\_^]|$)", source)
    if match is None:
        raise ValueError(f"formula: cannot read {source!r}")
    run = match.group()
    return glyphs(run, Style(size, "serif-italic" if run[0].isalpha() else "serif")), source[match.end() :]


def _braced(source: str) -> tuple[str, str]:
    """Inside of the leading {..} and what follows."""
    depth = 0
    for index, char in enumerate(source):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            return source[1:index], source[index + 1 :]
    raise ValueError(f"formula: {source!r} has no closing brace")
