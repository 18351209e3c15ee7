"""A format of one file: a line of text for each box, ``document page label x1 y1 x2 y2 [score]``, as shares.

The first line says what the file is: ``# boxes ground_truth`` or ``# boxes prediction``.
"""

from __future__ import annotations

import hashlib
import math
from typing import Final

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import Collector
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import Builder

_SIDES: dict[bytes, Side] = {b"# boxes ground_truth": "ground_truth", b"# boxes prediction": "prediction"}


class Lines(BoxFormat):
    """The format."""

    name = "lines"
    title = "Boxes as lines of text"
    looks_for = "a first line with # boxes"
    suffixes = (".boxes",)

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether a file begins as this format does."""
        return head.startswith(b"# boxes ")

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return the side that the first line states."""
        return _SIDES.get(content.split(b"\n", 1)[0].strip())

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file; see `Format.read`."""
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        builder = Builder(collector, format=self.name, source="lines", unit="page")
        pages: dict[tuple[str, str], int] = {}
        for number, line in enumerate(content.decode().splitlines()[1:], start=2):
            place = f"line {number}"
            if len(words := line.split()) in (7, 8):
                document, page, label, *numbers = words
                if (document, page) not in pages:
                    pages[document, page] = builder.page(document, place, index=int(page))
                x1, y1, x2, y2, *score = map(float, numbers)
                builder.box(
                    pages[document, page], label, (x1, y1, x2, y2), place, score=score[0] if score else math.nan
                )
            elif words:
                collector.error(place, "a line must have 7 or 8 words", line, "Write one box a line.")
        return builder.annotations(hashlib.sha256(content).hexdigest(), reading, side=self.side_of(content))


FORMAT: Final = Lines()
