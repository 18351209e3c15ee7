"""PAGE XML of 2019: a file for each page, with a region for each box."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector, count_of
from evaluator.formats.writers.base import OutputPage, Writer, rings_of, scaled, score_of
from evaluator.formats.writers.markup import quoted

_TITLE: Final = "PAGE XML"
_SPACE: Final = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
_CREATOR: Final = "<Creator>LayoutScope</Creator>"
_REGIONS: Final = frozenset(
    ("TextRegion", "ImageRegion", "LineDrawingRegion", "GraphicRegion", "TableRegion", "ChartRegion", "MapRegion",
     "SeparatorRegion", "MathsRegion", "ChemRegion", "MusicRegion", "AdvertRegion", "NoiseRegion", "UnknownRegion")
)  # fmt: skip
_TYPES: Final = frozenset(
    ("paragraph", "heading", "caption", "header", "footer", "page-number", "drop-capital", "credit", "floating",
     "signature-mark", "catch-word", "marginalia", "footnote", "footnote-continued", "endnote", "TOC-entry",
     "list-label", "other")
)  # fmt: skip


def write(source: Annotations, pages: list[OutputPage], collector: Collector) -> Mapping[str, bytes]:
    """Return ``IMAGE.xml`` for each page; a label that PAGE does not know is a type in ``custom``."""
    files: dict[str, bytes] = {}
    moved, negative, lost, unsafe = 0, 0, 0, 0
    for page in pages:
        assert page.size is not None
        width, height = (max(1, round(side)) for side in page.size)
        name = quoted(page.image)
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<PcGts xmlns="{_SPACE}">',
            f"  <Metadata>{_CREATOR}<Created>1970-01-01T00:00:00</Created>"
            "<LastChange>1970-01-01T00:00:00</LastChange></Metadata>",
            f'  <Page imageFilename={name} imageWidth="{width}" imageHeight="{height}">',
        ]
        for place, (row, (x1, y1, x2, y2)) in enumerate(scaled(source, page, "pixels"), 1):
            rings = rings_of(source, page, row, "pixels")
            lost += len(rings) > 1
            ring = rings[0] if len(rings) == 1 else np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]])
            whole = np.round(ring)
            moved += bool((whole != ring).any())
            negative += bool((whole < 0).any())
            points = " ".join(f"{int(x)},{int(y)}" for x, y in whole)
            score = score_of(source, row)
            held = score is not None and 0.0 <= score <= 1.0
            unsafe += score is not None and not held
            conf = f' conf="{score!r}"' if held else ""
            label = source.labels[source.boxes.label[row]]
            element, kind = _written_as(label)
            lines.append(f'    <{element} id="r{place}"{kind}><Coords points="{points}"{conf}/></{element}>')
        lines += ["  </Page>", "</PcGts>", ""]
        files[f"{PurePosixPath(page.image).stem}.xml"] = "\n".join(lines).encode()
    for count, rule, fix in (
        (moved, f"{_TITLE} coordinates are whole pixels", "They are rounded."),
        (negative, f"{_TITLE} coordinates are not negative", "They are written as they are."),
        (lost, f"a {_TITLE} outline is one ring", "Their boxes alone are written."),
        (unsafe, f"{_TITLE} confidences are in [0, 1]", "The scores are left out."),
    ):
        if count:
            collector.warning("", rule, f"{count_of(count, 'box')} with others", fix)
    return files


def _written_as(label: str) -> tuple[str, str]:
    if label in _REGIONS:
        return label, ""
    if label in _TYPES:
        return "TextRegion", f' type="{label}"'
    custom = label.replace(";", ",").replace("{", "(").replace("}", ")")
    return "TextRegion", f" custom={quoted(f'structure {{type:{custom};}}')}"


def own_files(files: Mapping[str, bytes]) -> Collection[str]:
    """Return the files that name this program as their creator, which it writes among their first words."""
    return {name for name, head in files.items() if "/" not in name and _CREATOR.encode() in head}


WRITER = Writer(
    "page-xml",
    "PAGE XML 2019 (a file for each page)",
    _TITLE,
    folder=True,
    unit="pixels",
    lacks=("documents", "crowds", "model"),
    write=write,
    own_files=own_files,
)
