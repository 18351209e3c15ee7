"""PAGE XML of 2019: a file for each page, with a region for each box."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.cells import Cells, cells_of, moved
from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector, count_of
from evaluator.formats.items import PageGroup
from evaluator.formats.writers.base import OutputPage, Writer, rings_of, scaled, score_of
from evaluator.formats.writers.items import group_of
from evaluator.formats.writers.markup import escaped, quoted

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
    rounded, negative, lost, unsafe, bare = 0, 0, 0, 0, 0
    order = source.boxes.order
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
        if placed := [(at, f"r{place}") for place, row in enumerate(page.rows, 1) if order and (at := order[row])]:
            lines.append(f"    <ReadingOrder>{_group(group_of(placed), 'ro')}</ReadingOrder>")
        for place, (row, (x1, y1, x2, y2)) in enumerate(scaled(source, page, "pixels"), 1):
            rings = rings_of(source, page, row, "pixels")
            lost += len(rings) > 1
            ring = rings[0] if len(rings) == 1 else np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]])
            whole = np.round(ring)
            rounded += bool((whole != ring).any())
            negative += bool((whole < 0).any())
            score = score_of(source, row)
            held = score is not None and 0.0 <= score <= 1.0
            unsafe += score is not None and not held
            conf = f' conf="{score!r}"' if held else ""
            label = source.labels[source.boxes.label[row]]
            cells = _cells_of(source, page, row)
            boxed = bool(cells) and all(cell.box is not None for cell in cells)
            bare += bool(cells) and not boxed
            element, kind = _written_as(label, is_table=boxed)
            text = None if source.boxes.text is None else source.boxes.text[row]
            inside = _cells(cells, f"r{place}") if boxed else _text(text)
            lines.append(
                f'    <{element} id="r{place}"{kind}><Coords points="{_points(whole)}"{conf}/>{inside}</{element}>'
            )
        lines += ["  </Page>", "</PcGts>", ""]
        files[f"{PurePosixPath(page.image).stem}.xml"] = "\n".join(lines).encode()
    for count, rule, fix in (
        (rounded, f"{_TITLE} coordinates are whole pixels", "They are rounded."),
        (negative, f"{_TITLE} coordinates are not negative", "They are written as they are."),
        (lost, f"a {_TITLE} outline is one ring", "Their boxes alone are written."),
        (unsafe, f"{_TITLE} confidences are in [0, 1]", "The scores are left out."),
    ):
        if count:
            collector.warning("", rule, f"{count_of(count, 'box')} with others", fix)
    if bare:
        rule = f"a {_TITLE} cell has an outline"
        collector.warning("", rule, f"{count_of(bare, 'table')} with a cell without", "Their cells are left out.")
    return files


def _points(ring: FloatArray) -> str:
    return " ".join(f"{int(x)},{int(y)}" for x, y in ring)


def _text(text: str | None) -> str:
    return "" if text is None else f"<TextEquiv><Unicode>{escaped(text)}</Unicode></TextEquiv>"


def _cells_of(source: Annotations, page: OutputPage, row: int) -> Cells:
    table = None if source.boxes.cells is None else source.boxes.cells[row]
    if table is None:
        return ()
    cells = cells_of(table) if isinstance(table, str) else table
    factor = page.size if source.unit == "page" and page.size is not None else (1.0, 1.0)
    return tuple(cell for cell in moved(cells or (), factor) or () if not isinstance(cell, str))


def _cells(cells: Cells, name: str) -> str:
    lines = []
    for number, cell in enumerate(cells):
        assert cell.box is not None
        x1, y1, x2, y2 = np.round(cell.box).tolist()
        header = ' header="true"' if cell.header else ""
        role = (
            f'<Roles><TableCellRole rowIndex="{cell.row}" columnIndex="{cell.col}" rowSpan="{cell.row_span}" '
            f'colSpan="{cell.col_span}"{header}/></Roles>'
        )
        corners = _points(np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]]))
        coords = f'<Coords points="{corners}"/>'
        lines.append(f'<TextRegion id="{name}c{number}">{coords}{role}{_text(cell.text)}</TextRegion>')
    return "".join(lines)


def _group(group: PageGroup, name: str, index: str = "", *, indexed: bool = False) -> str:
    """Return a group of the reading order; what is in an ordered one has a number."""
    members = group.unordered if group.ordered is None else group.ordered
    ordered = group.ordered is not None
    suffix = "Indexed" if ordered else ""
    lines = []
    for number, member in enumerate(members or ()):
        at = f' index="{number}"' if ordered else ""
        if isinstance(member, PageGroup):
            lines.append(_group(member, f"{name}-{number}", at, indexed=ordered))
        else:
            lines.append(f'<RegionRef{suffix} regionRef="{member}"{at}/>')
    element = f"{'Ordered' if ordered else 'Unordered'}Group{'Indexed' if indexed else ''}"
    return f'<{element} id="{name}"{index}>{"".join(lines)}</{element}>'


def _written_as(label: str, *, is_table: bool) -> tuple[str, str]:
    """Return the element and the attributes of a region; one with cells is a table in any case."""
    if is_table and label != "TableRegion":
        return "TableRegion", _custom(label)
    if label in _REGIONS:
        return label, ""
    if label in _TYPES:
        return "TextRegion", f' type="{label}"'
    return "TextRegion", _custom(label)


def _custom(label: str) -> str:
    custom = label.replace(";", ",").replace("{", "(").replace("}", ")")
    return f" custom={quoted(f'structure {{type:{custom};}}')}"


def own_files(files: Mapping[str, bytes]) -> Collection[str]:
    """Return the files that name this program as their creator, which it writes among their first words."""
    return {name for name, head in files.items() if "/" not in name and _CREATOR.encode() in head}


WRITER = Writer(
    "page-xml",
    "PAGE XML 2019 (a file for each page)",
    _TITLE,
    folder=True,
    unit="pixels",
    lacks=("boxless", "documents", "crowds", "model"),
    write=write,
    own_files=own_files,
    items=True,
)
