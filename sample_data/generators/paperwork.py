"""One invoice or form under construction, and the record of where the ink of each field is.

Owns the sheet that fields are written on, the tree of rich values that comes of them, and writing both to bytes. A
field is named by its path ("line_items[2].amount"); its box is the ink of its text plus some air, as shares of the
displayed page, origin top left. A scanned document is a picture with the text layer that character recognition leaves.
Does not know what stands on a document (`invoices.py`, `applications.py`).
"""

# PyMuPDF ships no types for its methods.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pymupdf
from PIL import Image

from sample_data.generators.canvas import Canvas, Point, Style, padded, shares, union, write_texts
from sample_data.generators.pdf_file import as_jpeg, picture_of, replace_by_picture

A4 = (595.0, 842.0)
# Air around the ink, as a person leaves it who draws the box.
PADDING = 2.0
DECIMALS = 5

SCAN_DPI, SCAN_QUALITY, SCAN_SEED = 96, 34, 2025
# What character recognition takes for each other; every so many-th of them goes wrong.
CONFUSED = {"O": "0", "0": "O", "l": "1", "1": "l", "5": "S", "S": "5", "8": "B", "B": "8", "e": "c", "g": "q"}
CONFUSED_EVERY = 11

JsonObject = dict[str, object]
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


class Sheet(Canvas):
    """A page on which some texts are fields."""

    def __init__(self, document: pymupdf.Document) -> None:
        super().__init__(document, *A4)
        self.values: dict[str, object] = {}

    @contextmanager
    def field(self, path: str, value: object) -> Iterator[None]:
        """Everything drawn inside the block is a field with this value."""
        self.values[path] = value
        with self.element(path):
            yield

    def put(
        self, path: str, place: Point, text: str, style: Style, *, align: str = "left", value: object = None
    ) -> float:
        """Write the text of a field at (x, baseline), or without a path one that is no field; return its width.

        The value is the text unless another is given.
        """
        if not path:
            return self.text(*place, text, style, align)
        with self.field(path, text if value is None else value):
            return self.text(*place, text, style, align)


@dataclass
class Paper:
    """A document under construction; pages are added with `sheet`. A scanned one keeps no drawn letters."""

    scanned: bool = False
    document: pymupdf.Document = field(default_factory=pymupdf.open)
    fields: list[tuple[str, JsonObject]] = field(default_factory=list)

    @contextmanager
    def sheet(self) -> Iterator[Sheet]:
        """Yield the next page; it is finished when the block ends."""
        sheet = Sheet(self.document)
        yield sheet
        sheet.finish()
        number = len(self.document) - 1
        if self.scanned:
            self._scan(number, sheet)
        for each in sheet.elements:
            box = shares(padded(union(each.inks), PADDING, PADDING), A4, DECIMALS)
            self.fields.append((each.label, rich(sheet.values[each.label], box, number)))

    def _scan(self, number: int, sheet: Sheet) -> None:
        """Replace a page by a grey picture of it, with an invisible text layer in which some letters are confused."""
        pixels = np.asarray(picture_of(self.document[number], SCAN_DPI))
        grain = np.random.default_rng(SCAN_SEED + number).normal(0, 3, pixels.shape)
        aged = np.clip(pixels * 0.86 + 26 + grain, 0, 250).astype(np.uint8)
        page = replace_by_picture(self.document, number, as_jpeg(Image.fromarray(aged), SCAN_QUALITY))
        letters = recognised("".join(text for _, text, _ in sheet.texts))
        read = [(place, "".join(next(letters) for _ in text), style) for place, text, style in sheet.texts]
        write_texts(page, read, render_mode=3)


def recognised(text: str) -> Iterator[str]:
    """Yield the letters of a text as character recognition reads them.

    >>> "".join(recognised("SOLO 1580 SOLO 15"))
    'SOLO 1580 SOLO l5'
    """
    seen = 0
    for letter in text:
        seen += letter in CONFUSED
        yield CONFUSED[letter] if letter in CONFUSED and seen % CONFUSED_EVERY == 0 else letter


def rich(value: object, box: list[float], page: int, confidence: float | None = None) -> JsonObject:
    """Return a rich value; page and confidence are left out where they say nothing."""
    leaf = {"_value": value, "_confidence": confidence, "_bbox": box, "_page": page or None}
    return {key: each for key, each in leaf.items() if each is not None}


def tree_of(fields: Iterable[tuple[str, JsonObject]]) -> JsonObject:
    """Objects and lists from paths; items of a list come in order.

    >>> tree_of([("a.b", {"_value": 1}), ("c[0].d", {"_value": 2})])
    {'a': {'b': {'_value': 1}}, 'c': [{'d': {'_value': 2}}]}
    """
    root: JsonObject = {}
    for path, leaf in fields:
        steps: list[str | int] = [name or int(index) for name, index in _STEP.findall(path)]
        place: Any = root
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            empty: object = leaf if following is None else [] if isinstance(following, int) else {}
            if isinstance(place, dict):
                place = place.setdefault(step, empty)
            else:
                place.extend([empty] * (step == len(place)))
                place = place[step]
    return root
