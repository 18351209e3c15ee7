"""The font of a review pack, embedded in HTML and PDF so that its text looks the same everywhere.

Source Sans 3 (Latin, Greek, Cyrillic) under a name of its own, as the SIL Open Font License asks; made by
``docs/make_font.py``. Other scripts come from the reader's machine or the PDF engine.
"""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import Final

from evaluator.pdf.writer import Fonts

_FOLDER: Final = Path(__file__).parent / "fonts"
# The bold files have weight 650, and stand for all that is bold.
_WEIGHTS: Final = {"regular": "400", "bold": "600 700"}


@cache
def css() -> str:
    """Return the faces for a style sheet, with the font inside."""
    faces = []
    for style, weight in _WEIGHTS.items():
        address = "data:font/woff2;base64," + base64.b64encode(_read(style, "woff2")).decode("ascii")
        faces.append(
            f'@font-face {{ font-family: "LayoutScope Sans"; font-weight: {weight}; '
            f"src: url({address}) format('woff2'); }}\n"
        )
    return "".join(faces)


@cache
def fonts() -> Fonts:
    """Return the faces for the writer of PDFs."""
    return Fonts(_read("regular", "ttf"), _read("bold", "ttf"))


def _read(style: str, kind: str) -> bytes:
    return (_FOLDER / f"{style}.{kind}").read_bytes()
