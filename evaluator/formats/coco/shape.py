"""The parts of a COCO file as typed structs, and the fast decoder from bytes to columns.

Boxes are x, y, width, height in pixels, origin top left. The decoder accepts only this shape, without repeated keys;
for anything else it answers None, and ``validate`` writes the issues.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from evaluator.data.boxes import AnyArray, BoolArray, FloatArray, IntArray
from evaluator.formats.coco.chunks import ChunkReader
from evaluator.formats.coco.ids import WHOLE_NUMBERS, IdTexts
from evaluator.formats.json_text import garbage_collection_off
from evaluator.system.decoding import json_decoder

# Small columns are joined so early that they leave no holes in the memory behind them.
_PARTS_OF_A_BLOCK: Final = 64
# Bytes that are looked through at a time.
_STEP: Final = 1 << 18
_QUOTE: Final = ord('"')
# White space is that of JSON: Python's own has more.
BLANKS: Final = b" \t\n\r"
ANNOTATIONS: Final = re.compile(rb'"annotations"[ \t\n\r]*+:[ \t\n\r]*+(?=\[)')
_LAST_ITEM: Final = re.compile(rb"\}[ \t\n\r]*+\]")
# A key that is spelled with an escape would not be found by counting.
_ESCAPED_KEY = re.compile(rb'"[^"\\]*+\\(?:[^"\\]|\\.)*+"\s*+:', re.DOTALL)

PAGE_KEYS: Final = ("page_index", "page", "page_no")
DOCUMENT_KEYS: Final = ("doc", "doc_name")
ATTRIBUTE_KEYS: Final = ("doc_category", "collection", "annotator", "precedence")
"""What DocLayNet and others say about an image besides; kept for the page and never an error."""

T = TypeVar("T")
Attribute = str | int | float | bool | UnsetType | None
_Columns = tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray, BoolArray, BoolArray]


class Image(msgspec.Struct, gc=False):
    """One of ``images``. Fields are None where the exact walk found them unusable."""

    id: int
    width: float | UnsetType | None = UNSET
    height: float | UnsetType | None = UNSET
    file_name: str | UnsetType = UNSET
    path: str | UnsetType | None = UNSET
    doc: str | UnsetType = UNSET
    doc_name: str | UnsetType = UNSET
    page_index: int | UnsetType = UNSET
    page: int | UnsetType = UNSET
    page_no: int | UnsetType = UNSET
    doc_category: Attribute = UNSET
    collection: Attribute = UNSET
    annotator: Attribute = UNSET
    precedence: Attribute = UNSET


class Category(msgspec.Struct, gc=False):
    """One of ``categories``. Fields are None where the exact walk found them unusable."""

    id: int
    name: str


class Item(msgspec.Struct, gc=False):
    """An annotation or a result; unusable numbers are NaN and unusable ids None in the exact walk."""

    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    score: float | UnsetType = UNSET
    id: int | UnsetType = UNSET
    area: float | UnsetType = UNSET
    iscrowd: int | UnsetType = UNSET
    ignore: int | UnsetType = UNSET
    segmentation: msgspec.Raw | UnsetType = UNSET
    file_name: str | UnsetType | None = UNSET
    category_name: str | UnsetType | None = UNSET


class ItemColumns(NamedTuple):
    """Annotations or results as columns of length N, in file order.

    `xywh`, shape (N, 4), is NaN where unusable, `score` and `area` also where missing. None stands for: an item without
    `id`; `crowd` (``iscrowd``) 0, `ignored` (``ignore``, which COCO's evaluation does not read) false or `unusable`
    (ids already reported) false everywhere. `outlines` is ``segmentation`` as JSON by row, `region_area` its square
    pixels where there is no bbox. `file_names` and `category_names` by row are those that some tools state.
    """

    image_id: IntArray
    category_id: IntArray
    xywh: FloatArray
    score: FloatArray
    no_score: BoolArray
    area: FloatArray
    no_area: BoolArray
    id: IntArray | None
    crowd: IntArray | None
    ignored: BoolArray | None
    outlines: dict[int, bytes]
    unusable: BoolArray | None = None
    region_area: Mapping[int, float] = MappingProxyType({})
    file_names: Mapping[int, str] = MappingProxyType({})
    category_names: Mapping[int, str] = MappingProxyType({})


class CocoFile(NamedTuple):
    """A file of the shape of COCO; images and categories are None in a results list."""

    images: list[Image] | None
    categories: list[Category] | None
    items: ItemColumns
    texts: IdTexts = WHOLE_NUMBERS


_TOP = json_decoder(dict[str, msgspec.Raw])
_IMAGES = json_decoder(list[Image])
_CATEGORIES = json_decoder(list[Category])
_ITEMS = json_decoder(list[Item])


class NeedsFullValidation(Exception):
    """Raised inside when the exact walk has to look at the file."""


MALFORMED: Final = (msgspec.MsgspecError, RecursionError, UnicodeError, OverflowError, NeedsFullValidation)
"""What the reading of a file raises that is not of the shape."""


def decode(content: bytes) -> CocoFile | None:
    """Return a COCO file, UTF-8 without byte order mark, as columns; None when it needs the exact walk.

    The big arrays are cut at commas and decoded piece by piece: a cut inside of an object or string leaves a piece that
    is not well-formed. Repeated keys are found by counting, see `_listed`.
    """
    try:
        with garbage_collection_off():
            start, stop = len(content) - len(content.lstrip(BLANKS)), len(content.rstrip(BLANKS))
            if content[start : start + 1] == b"[" and content[stop - 1 : stop] == b"]":
                with ChunkReader(content, start, stop) as reading:
                    return CocoFile(None, None, _items(reading, content))
            return _whole(content)
    except MALFORMED:
        return None


def _whole(content: bytes) -> CocoFile:
    start, stop = _annotations(content)
    with ChunkReader(content, start, stop) as reading:
        images, categories = images_and_categories(b"".join((content[:start], b"[]", content[stop:])))
        return CocoFile(images, categories, _items(reading, content))


def images_and_categories(frame: bytes) -> tuple[list[Image], list[Category]]:
    """Return images and categories of a file whose annotations were replaced by an empty array.

    Raises `NeedsFullValidation`, `msgspec.MsgspecError` or `OverflowError` for another shape, or keys that may be
    repeated.
    """
    parts = _TOP(frame)
    if not parts.keys() >= _KNOWN or 2 * len(parts) + sum(map(_quotes, parts.values())) != _quotes(frame):
        raise NeedsFullValidation
    images = _listed(bytes(parts["images"]), _IMAGES, Image)
    categories = _listed(bytes(parts["categories"]), _CATEGORIES, Category)
    numbers = [image.id for image in images] + [category.id for category in categories]
    for key in PAGE_KEYS:
        numbers += [page for page in map(attrgetter(key), images) if page is not UNSET]
    # Overflows when one has more than 64 bits.
    np.array(numbers, dtype=np.int64)
    return images, categories


_KNOWN = {"images", "annotations", "categories"}


def _annotations(content: bytes) -> tuple[int, int]:
    # A guess is right when the rest, with an empty array in its place, has that under this key; else all is searched.
    begin = ANNOTATIONS.search(content)
    if begin is None:
        return _place(_TOP(content), content)
    start = begin.end()
    for end in possible_ends(lambda one, other: content[one:other], start + 1, len(content), _STEP):
        if is_frame(content[:start], content[end + 1 :]):
            return start, end + 1
    return _place(_TOP(content), content)


def is_frame(head: bytes, tail: bytes) -> bool:
    """Return whether the bytes between two ends are the ``annotations``, if they are an array."""
    frame = b"".join((head, b"[]", tail))
    with suppress(msgspec.MsgspecError):
        parts = _TOP(frame)
        return parts.keys() >= _KNOWN and _place(parts, frame) == (len(head), len(head) + 2)
    return False


def possible_ends(text: Callable[[int, int], bytes], start: int, size: int, step: int) -> Iterator[int]:
    """Yield where the closing bracket of the annotations, which begin before `start`, may be.

    `text` gives the bytes between two places of the file; it is asked for at most `step` of them.
    """
    first = max(start, size - step)
    tail = text(first, size)
    stop = tail.rfind(b"]")
    before = tail.rfind(b"]", 0, max(stop, 0))
    if before >= 0 and tail.find(b"[", before, stop) < 0:
        yield first + stop
    at = start
    while at < size:
        part = text(at, min(at + step, size))
        last = _LAST_ITEM.search(part)
        if last:
            yield at + last.end() - 1
            return
        # White space may be between a brace at the end of this part and a bracket in the next.
        at += max(part.rfind(b"}"), 0) or len(part)


def _place(parts: dict[str, msgspec.Raw], content: bytes) -> tuple[int, int]:
    if "annotations" not in parts:
        raise NeedsFullValidation
    base = np.frombuffer(content, dtype=np.uint8).ctypes.data
    start = np.frombuffer(parts["annotations"], dtype=np.uint8).ctypes.data - base
    stop = start + len(memoryview(parts["annotations"]))
    inside = 0 <= start < stop <= len(content)
    if not inside or content[start : start + 1] != b"[" or content[stop - 1 : stop] != b"]":
        raise NeedsFullValidation
    return start, stop


def _listed(piece: bytes, decoder: Callable[[bytes], list[T]], shape: type[Any]) -> list[T]:
    """Return the objects of a piece, none of which repeats a key of its shape; NeedsFullValidation when one may."""
    objects = decoder(piece)
    # A key that is repeated or unknown has two quotation marks more; a text may have less than it is encoded with.
    escaped = shape is not Item and b"\\" in piece
    if escaped or _quotes(piece) != _quotes(msgspec.json.encode(objects)):
        _need_each_once(piece, objects, shape)
    return objects


def _need_each_once(piece: bytes, objects: Sequence[object], shape: type[Any]) -> None:
    """NeedsFullValidation when an object of a piece repeats a key of its shape."""
    if b"\\" in piece and _ESCAPED_KEY.search(piece):
        raise NeedsFullValidation
    for name in shape.__struct_fields__:
        written = piece.count(b'"%b"' % name.encode())
        # An object has no key that is nowhere written.
        if written and written != len(objects) - [*map(attrgetter(name), objects)].count(UNSET):
            raise NeedsFullValidation


def _items(reading: ChunkReader, content: bytes) -> ItemColumns:
    whole = reading.columns()
    if whole is not None:
        return plain_columns(whole)
    gathering = ColumnBuilder()
    for place, columns in reading.pieces():
        if columns is not None:
            gathering.add_columns(columns)
        else:
            gathering.add(_listed(b"".join((b"[", content[place], b"]")), _ITEMS, Item))
    return gathering.columns()


def corners(xywh: FloatArray) -> FloatArray:
    """Return x1, y1, x2, y2 of boxes, float64, shape (N, 4)."""
    xyxy = np.array(xywh)
    # numpy takes a seventh of the time for two long columns that it does for many rows of two.
    xyxy[:, 2] += xywh[:, 0]
    xyxy[:, 3] += xywh[:, 1]
    return xyxy


def plain_columns(columns: dict[str, AnyArray]) -> ItemColumns:
    """Return columns from ``pieces``, in which every item has every key."""
    count = len(columns["image_id"])
    nothing = np.broadcast_to(np.nan, count)
    nowhere, everywhere = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    crowd, ignored = columns.get("iscrowd"), columns.get("ignore")
    return ItemColumns(
        image_id=columns["image_id"],
        category_id=columns["category_id"],
        xywh=columns["bbox"],
        score=columns.get("score", nothing),
        no_score=nowhere if "score" in columns else everywhere,
        area=columns.get("area", nothing),
        no_area=nowhere if "area" in columns else everywhere,
        id=columns.get("id"),
        crowd=crowd if crowd is not None and crowd.any() else None,
        ignored=ignored != 0 if ignored is not None and ignored.any() else None,
        outlines={},
    )


def _quotes(text: bytes | msgspec.Raw) -> int:
    view = np.frombuffer(text, dtype=np.uint8)
    return sum(int(np.count_nonzero(view[at : at + _STEP] == _QUOTE)) for at in range(0, len(view), _STEP))


class ColumnBuilder:
    """Items on their way to columns, so that only few of them exist as objects at a time."""

    def __init__(self) -> None:
        self._rows = 0
        self._parts: list[_Columns] = []
        self._blocks: list[_Columns] = []
        self._ids: list[IntArray] = []
        self._all_ids = True
        self._crowd: dict[int, IntArray] = {}
        self._ignored: list[int] = []
        self._outlines: dict[int, bytes] = {}
        self._names: dict[str, dict[int, str]] = {"file_name": {}, "category_name": {}}

    def add(self, items: Sequence[Item]) -> None:
        """Append some items."""
        count, first = len(items), self._rows
        score, no_score = _numbers([item.score for item in items], count)
        area, no_area = _numbers([item.area for item in items], count)
        self._append(
            (
                np.fromiter([item.image_id for item in items], dtype=np.int64, count=count),
                np.fromiter([item.category_id for item in items], dtype=np.int64, count=count),
                np.fromiter(chain.from_iterable([item.bbox for item in items]), dtype=np.float64, count=4 * count),
                score,
                area,
                no_score,
                no_area,
            )
        )
        self._add_ids([item.id for item in items])
        crowd = np.array([0 if item.iscrowd is UNSET else item.iscrowd for item in items], dtype=np.int64)
        if crowd.any():
            self._crowd[first] = crowd
        ignored = (row for row, item in enumerate(items, first) if item.ignore is not UNSET and item.ignore)
        self._ignored.extend(ignored)
        outlines = ((row, item.segmentation) for row, item in enumerate(items, first))
        self._outlines.update((row, bytes(text)) for row, text in outlines if isinstance(text, msgspec.Raw))
        for key, names in self._names.items():
            stated = [*map(attrgetter(key), items)]
            if any(stated):
                names.update((row, name) for row, name in enumerate(stated, first) if name)
        self._rows += count

    def add_columns(self, columns: dict[str, AnyArray]) -> None:
        """Append items from ``pieces``."""
        items = plain_columns(columns)
        count = len(items.image_id)
        numbers = items.image_id, items.category_id, items.xywh.ravel(), items.score, items.area
        self._append((*numbers, items.no_score, items.no_area))
        self._ids += [] if items.id is None else [items.id]
        self._all_ids = self._all_ids and items.id is not None
        if items.crowd is not None:
            self._crowd[self._rows] = items.crowd
        if items.ignored is not None:
            self._ignored += (self._rows + np.flatnonzero(items.ignored)).tolist()
        self._rows += count

    def _append(self, part: _Columns) -> None:
        self._parts.append(part)
        if len(self._parts) == _PARTS_OF_A_BLOCK:
            self._blocks.append(_joined(self._parts))
            self._parts = []

    def _add_ids(self, ids: list[int | UnsetType]) -> None:
        given = [value for value in ids if value is not UNSET]
        self._all_ids = self._all_ids and len(given) == len(ids)
        # Overflows when an id has more than 64 bits, also where ids are then not used.
        self._ids.append(np.array(given, dtype=np.int64))

    def columns(self) -> ItemColumns:
        """Return the columns of all items so far; of length 0 when there are none."""
        nothing, no_ids, nowhere = np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
        none = no_ids, no_ids, nothing, nothing, nothing, nowhere, nowhere
        image_id, category_id, xywh, score, area, no_score, no_area = _joined([none, *self._blocks, *self._parts])
        return ItemColumns(
            image_id=image_id,
            category_id=category_id,
            xywh=xywh.reshape(-1, 4),
            score=score,
            no_score=no_score,
            area=area,
            no_area=no_area,
            id=np.concatenate(self._ids) if self._all_ids and self._ids else None,
            crowd=self._crowd_column(),
            ignored=self._ignored_column(),
            outlines=self._outlines,
            file_names=self._names["file_name"],
            category_names=self._names["category_name"],
        )

    def _crowd_column(self) -> IntArray | None:
        if not self._crowd:
            return None
        crowd = np.zeros(self._rows, dtype=np.int64)
        for first, values in self._crowd.items():
            crowd[first : first + len(values)] = values
        return crowd

    def _ignored_column(self) -> BoolArray | None:
        if not self._ignored:
            return None
        ignored = np.zeros(self._rows, dtype=bool)
        ignored[self._ignored] = True
        return ignored


def _joined(parts: Sequence[_Columns]) -> _Columns:
    one, two, three, four, five, six, seven = (np.concatenate(column) for column in zip(*parts, strict=True))
    return one, two, three, four, five, six, seven


def _numbers(values: list[float | UnsetType], count: int) -> tuple[FloatArray, BoolArray]:
    """Numbers with NaN for missing ones, and where they are missing."""
    missing = values.count(UNSET)
    if missing == count:
        return np.full(count, np.nan), np.ones(count, dtype=bool)
    if not missing:
        return np.fromiter(values, dtype=np.float64, count=count), np.zeros(count, dtype=bool)
    gaps = np.array([value is UNSET for value in values], dtype=bool)
    filled = [np.nan if value is UNSET else value for value in values]
    return np.array(filled, dtype=np.float64), gaps
