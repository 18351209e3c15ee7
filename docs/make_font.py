"""Makes the font of the review pack, ``evaluator/pack/fonts``, from Source Sans 3 as Streamlit brings it.

Needs ``fonttools`` and ``brotli``, which the package itself does not. Run from the top folder of the repository::

    python docs/make_font.py SITE_PACKAGES/streamlit/static/static/media/SourceSansVF-Upright*.woff2

Source Sans 3 is under the SIL Open Font License 1.1 with the reserved font name "Source", so what is made of it has a
name of its own and stays under that licence (``evaluator/pack/fonts/OFL.txt``). Kept are the letters of Latin, Greek
and Cyrillic with their kerning and figures of one width; the star, the tick, the cross and the pencil are drawn here.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

FOLDER = Path(__file__).resolve().parents[1] / "evaluator" / "pack" / "fonts"
FAMILY = "LayoutScope Sans"
WEIGHTS = {"regular": 400, "bold": 650}
FEATURES = ["kern", "tnum", "locl", "mark", "mkmk", "ccmp"]
RANGES = ((0x20, 0x52F), (0x1E00, 0x1EFF), (0x2000, 0x22FF), (0x25A0, 0x25FF), (0xFB00, 0xFB06))

Point = tuple[float, float]


def star() -> list[list[Point]]:
    """Five points around the middle of a capital."""
    turns = [math.pi / 2 + math.pi * at / 5 for at in range(10)]
    return [[(350 + (340, 140)[at % 2] * math.cos(turn), 310 + (340, 140)[at % 2] * math.sin(turn))
             for at, turn in enumerate(turns)][::-1]]  # fmt: skip


def stroke(start: Point, end: Point, width: float) -> list[Point]:
    """Return a straight line of a width."""
    x, y = end[0] - start[0], end[1] - start[1]
    across, down = -y * width / 2 / math.hypot(x, y), x * width / 2 / math.hypot(x, y)
    corners = [(start[0] + across, start[1] + down), (end[0] + across, end[1] + down),
               (end[0] - across, end[1] - down), (start[0] - across, start[1] - down)]  # fmt: skip
    return corners


def marks(width: float) -> dict[int, list[list[Point]]]:
    """Contours of what the pack needs and Source Sans lacks, by code point."""
    return {
        0x2605: star(),
        0x2713: [stroke((90, 300), (260, 110), width), stroke((230, 90), (580, 610), width)],
        0x2715: [stroke((110, 110), (550, 550), width), stroke((110, 550), (550, 110), width)],
        0x270E: [stroke((190, 190), (560, 560), 1.9 * width), [(70, 70), (120, 260), (260, 120)]],
    }


def add_marks(font: TTFont, width: float) -> None:
    """Give the font the glyphs of `marks`."""
    for code, contours in marks(width).items():
        name = f"uni{code:04X}"
        pen = TTGlyphPen(None)
        for contour in contours:
            pen.moveTo(contour[0])
            for point in contour[1:]:
                pen.lineTo(point)
            pen.closePath()
        glyph = pen.glyph(round=round)
        font.setGlyphOrder([*font.getGlyphOrder(), name])
        font["glyf"].glyphs[name] = glyph
        glyph.recalcBounds(font["glyf"])
        font["hmtx"].metrics[name] = (680, glyph.xMin)
        for table in font["cmap"].tables:
            if table.isUnicode():
                table.cmap[code] = name


def part_letters(font: TTFont) -> None:
    """Give each letter a glyph of its own: text that is copied from a PDF is found by its glyphs."""
    taken: dict[str, int] = {}
    for code, name in sorted(font.getBestCmap().items()):
        if taken.setdefault(name, code) == code:
            continue
        copy = f"uni{code:04X}.copy"
        font.setGlyphOrder([*font.getGlyphOrder(), copy])
        font["glyf"].glyphs[copy] = font["glyf"][name]
        font["hmtx"].metrics[copy] = font["hmtx"].metrics[name]
        for table in font["cmap"].tables:
            if table.isUnicode():
                table.cmap[code] = copy


def rename(font: TTFont, style: str) -> None:
    """Set a name of its own, and where it is from."""
    names, title = font["name"], style.capitalize()
    entries = {
        0: "Copyright 2023 Adobe (http://www.adobe.com/), with Reserved Font Name 'Source'. Changed by LayoutScope.",
        1: FAMILY, 2: title, 3: f"{FAMILY} {title} 1", 4: f"{FAMILY} {title}", 5: "Version 1",
        6: f"LayoutScopeSans-{title}", 13: "SIL Open Font License, Version 1.1", 14: "http://scripts.sil.org/OFL",
    }  # fmt: skip
    names.names = []
    for number, text in entries.items():
        names.setName(text, number, 3, 1, 0x409)


def make(source: Path) -> None:
    """Both weights, as TrueType for PDFs and as WOFF2 for browsers."""
    for style, weight in WEIGHTS.items():
        font = instantiateVariableFont(TTFont(source), {"wght": weight})
        options = Options(
            layout_features=FEATURES, hinting=False, glyph_names=False, name_IDs=["*"], notdef_outline=True
        )
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
        subsetter.subset(font)
        add_marks(font, 70 if style == "regular" else 105)
        part_letters(font)
        rename(font, style)
        font["OS/2"].usWeightClass = 400 if style == "regular" else 700
        # No time of making: the same bytes each time.
        font["head"].created = font["head"].modified = 0
        font.recalcTimestamp = False
        font.flavor = None
        font.save(FOLDER / f"{style}.ttf")
        font.flavor = "woff2"
        font.save(FOLDER / f"{style}.woff2")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
