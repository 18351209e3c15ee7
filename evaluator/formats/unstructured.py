"""Elements of unstructured to boxes in shares of the page, origin top left.

An element names its coordinate system: pixels from the top left, or points and shares from the bottom left.
"""

from __future__ import annotations

import math
import re
from typing import Final

import msgspec

from evaluator.formats.build import Held, Size, listed
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import AGAIN, ModelOutput, OutputFile, document_of

_FROM_BELOW: Final = ("PointSpace", "RelativeCoordinateSystem")
_NOT_IN_ORDER: Final = ("Header", "Footer", "PageBreak")
_MARKS: Final = (b'"element_id"', b'"metadata"', b'"type"')
_PLACE_MARKS: Final = (b'"metadata"', b'"coordinates"', b'"layout_width"', b'"type"')
_WRAPPED = re.compile(rb'\{\s*"elements"\s*:')
_SECOND_LINE = re.compile(rb"\}[ \t\r]*\n\s*\{")


class _Coordinates(msgspec.Struct, gc=False):
    points: list[tuple[float, float]] | None = None
    system: str | None = None
    layout_width: float | None = None
    layout_height: float | None = None


class _Metadata(msgspec.Struct, gc=False):
    coordinates: _Coordinates | None = None
    page_number: int | None = None
    filename: str | None = None
    file_directory: str | None = None
    detection_class_prob: float | None = None
    # Only looked at where items are read.
    text_as_html: object = None


class _Element(msgspec.Struct, gc=False):
    type: str
    metadata: _Metadata | None = None
    text: object = None


class Unstructured(ModelOutput):
    """Elements that ``elements_to_json`` of unstructured writes, or ``elements_to_ndjson``, one in a line."""

    name = "unstructured"
    title = "unstructured elements (JSON, or lines of JSON)"
    looks_for = "elements with element_id and metadata, in a list or in lines"
    suffixes = (".json", ".ndjson", ".jsonl")
    source = "unstructured"

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the keys of an element are there, in a list or in the first of several lines."""
        start = head[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
        if not all(mark in head for mark in _MARKS):
            return all(mark in head for mark in _PLACE_MARKS) and start.startswith((b"[", b"{"))
        return start.startswith(b"[") or (
            start.startswith(b"{") and (_WRAPPED.match(start) is not None or self._in_lines(head, name))
        )

    def _in_lines(self, head: bytes, name: str) -> bool:
        if name.lower().endswith(self.suffixes[1:]):
            return True
        end = head.find(b"\n")
        first = head[: end + 1 or len(head)]
        return all(mark in first for mark in _MARKS) and _SECOND_LINE.search(head) is not None

    def tree_text(self, content: bytes) -> bytes:
        """Return lines of elements as an array, each in the line where it was."""
        start = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start.startswith(b"{") or _WRAPPED.match(start):
            return content
        lines = content.split(b"\n")
        held = [at for at, line in enumerate(lines) if line.strip()]
        if not all(mark in lines[held[0]] for mark in _MARKS):
            return content
        for at in held[1:]:
            lines[at] = b"," + lines[at]
        return b"[" + b"\n".join(lines) + b"]"

    def fill(self, tree: object, file: OutputFile) -> None:
        """Add a page for every document and page number, with its elements."""
        top = "$"
        if isinstance(tree, dict) and isinstance(tree.get("elements"), list):
            tree, top = tree["elements"], "$.elements"
        if not isinstance(tree, list):
            file.refuse("the top level must be an array of elements (unstructured)", AGAIN, excerpt(tree), "$")
        elements = list(file.entries(tree, top, _Element))
        bare = [place for place, element in elements if not _has_place(element)]
        file.leave_out(
            bare,
            len(elements),
            "elements",
            should="an element should have coordinates",
            without="These are unstructured elements without coordinates: none of the {} has a place on a page",
            fix='Partition the PDF with strategy="hi_res", or "fast" with coordinates, and export before chunking.',
        )
        sizes: dict[int, Size] = {}
        for place, element in elements:
            if element.metadata is not None and _has_place(element):
                held = _held(element, element.metadata, place, file) if file.reads_items else None
                _add(element.type, element.metadata, place, file, sizes, held=held)


FORMAT: Final = Unstructured()


def _has_place(element: _Element) -> bool:
    metadata = element.metadata
    return metadata is not None and metadata.coordinates is not None and metadata.coordinates.points is not None


def _held(element: _Element, metadata: _Metadata, place: str, file: OutputFile) -> Held:
    order = None if element.type in _NOT_IN_ORDER else (file.builder.boxes,)
    html = file.text_of(metadata.text_as_html, f"{place}.metadata.text_as_html")
    return Held(order, file.text_of(element.text, f"{place}.text"), html)


def _add(
    label: str, metadata: _Metadata, place: str, file: OutputFile, sizes: dict[int, Size], *, held: Held | None
) -> None:
    where, stated = f"{place}.metadata.coordinates", metadata.coordinates
    assert stated is not None
    assert stated.points is not None
    width, height = stated.layout_width, stated.layout_height
    if width is None or height is None:
        rule = "coordinates must have layout_width and layout_height (unstructured)"
        file.collector.error(where, rule, "none", AGAIN)
        return
    if not 0.0 < width < math.inf or not 0.0 < height < math.inf:
        rule = "width and height must be above 0 (unstructured)"
        file.collector.error(where, rule, listed((width, height)), "Write the size of the page.")
        return
    filename = metadata.filename or ""
    document = document_of(filename) if filename.strip() else file.document
    index = 0 if metadata.page_number is None else metadata.page_number - 1
    path = f"{metadata.file_directory}/{filename}" if metadata.file_directory and filename else filename
    row = file.page_of(index, document, path)
    if row is None:
        row = file.page(where, index=index, size=(width, height), document=document, name=filename, path=path)
        sizes[row] = width, height
    flipped = stated.system in _FROM_BELOW
    # An element may have been found on an image of another resolution than the first one of its page.
    across, down = sizes[row][0] / width, sizes[row][1] / height
    points = [(x * across, (height - y if flipped else y) * down) for x, y in stated.points]
    file.outline(row, label, points, where, score=metadata.detection_class_prob, held=held)
