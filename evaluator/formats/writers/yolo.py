"""YOLO: a text file for each page, and ``data.yaml`` with the names of the classes."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Final

from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector, count_of
from evaluator.formats.writers.base import OutputPage, Writer, rings_of, scaled, score_of

_POINTS = 3
_CLASSES: Final = "data.yaml"
_HEAD: Final = "path: .\nval: images\nnames:\n"
_LABELS: Final = re.compile(r"labels/[^/]+\.txt")
_NUMBERS: Final = re.compile(rb"[0-9e+\-. \n]*")


def write(source: Annotations, pages: list[OutputPage], collector: Collector) -> Mapping[str, bytes]:
    """Return ``labels/IMAGE.txt`` of class, centre, width and height in shares of the page, score last."""
    # A name in double quotes with JSON's escapes is YAML, whatever is in it.
    names = "".join(f"  {code}: {json.dumps(label)}\n" for code, label in enumerate(source.labels))
    files = {_CLASSES: f"{_HEAD}{names}".encode()}
    rings_lost = 0
    for page in pages:
        lines = []
        for row, (x1, y1, x2, y2) in scaled(source, page, "page"):
            rings = rings_of(source, page, row, "page")
            if len(rings) == 1 and len(rings[0]) > _POINTS - 1:
                values = rings[0].ravel().tolist()
            else:
                rings_lost += bool(rings)
                values = [float((x1 + x2) / 2), float((y1 + y2) / 2), float(x2 - x1), float(y2 - y1)]
            score = score_of(source, row)
            words = [*values, *([] if score is None else [score])]
            lines.append(f"{int(source.boxes.label[row])} {' '.join(map(repr, words))}\n")
        files[f"labels/{PurePosixPath(page.image).stem}.txt"] = "".join(lines).encode()
    if rings_lost:
        rule = "a YOLO outline is one ring of at least three points"
        collector.warning("", rule, f"{count_of(rings_lost, 'box')} with another one", "Their boxes alone are written.")
    if any(page.size for page in pages):
        collector.warning("", "YOLO does not hold the sizes of pages", count_of(len(pages), "page"), "Keep the images.")
    return files


def own_files(files: Mapping[str, bytes]) -> Collection[str]:
    """Return files of numbers in ``labels`` beside class names that begin as this writer's do."""
    if not files.get(_CLASSES, b"").startswith(_HEAD.encode()):
        return ()
    return {
        name
        for name, head in files.items()
        if name == _CLASSES or (_LABELS.fullmatch(name) and _NUMBERS.fullmatch(head))
    }


WRITER = Writer(
    "yolo",
    "YOLO labels (text, with data.yaml)",
    "YOLO",
    folder=True,
    unit="page",
    lacks=("documents", "crowds", "model"),
    write=write,
    own_files=own_files,
)
