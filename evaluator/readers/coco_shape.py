"""The parts of a COCO file as typed structs, and the fast way from bytes to columns.

Owns the shape: images, categories, annotations or results, in the field names of the COCO data format. Boxes are
x, y, width, height in pixels, origin top left. The decoder accepts only that shape, without repeated keys; it does
not explain what is wrong: it answers None, and `coco_walk` finds the words.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import UNSET, UnsetType

from evaluator.boxes import BoolArray, FloatArray, IntArray

# Objects of so many bytes are decoded at a time: what becomes of them stays in the processor's cache.
_STEP = 1 << 16
# Small columns are joined so early that they leave no holes in the memory behind them.
_PARTS_OF_A_BLOCK: Final = 64
_QUOTE: Final = ord('"')
_NEXT_ITEM = re.compile(rb"\}\s*+,\s*+(?=\{)")
# A key that is spelled with an escape would not be found by counting.
_ESCAPED_KEY = re.compile(rb'"[^"\\]*+\\(?:[^"\\]|\\.)*+"\s*+:', re.DOTALL)

PAGE_KEYS: Final = ("page_index", "page", "page_no")
DOCUMENT_KEYS: Final = ("doc", "doc_name")

T = TypeVar("T")
_Columns = tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray, BoolArray, BoolArray]


class Image(msgspec.Struct, gc=False):
    """One of ``images``. Fields are None where the exact walk found them unusable."""

    id: int
    width: float | UnsetType | None = UNSET
    height: float | UnsetType | None = UNSET
    file_name: str | UnsetType = UNSET
    doc: str | UnsetType = UNSET
    doc_name: str | UnsetType = UNSET
    page_index: int | UnsetType = UNSET
    page: int | UnsetType = UNSET
    page_no: int | UnsetType = UNSET


class Category(msgspec.Struct, gc=False):
    """One of ``categories``. Fields are None where the exact walk found them unusable."""

    id: int
    name: str


class Item(msgspec.Struct, gc=False):
    """One of ``annotations``, or one result. Numbers are NaN, ids None, where the exact walk found them unusable."""

    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    score: float | UnsetType = UNSET
    id: int | UnsetType = UNSET
    area: float | UnsetType = UNSET
    iscrowd: int | UnsetType = UNSET
    ignore: int | UnsetType = UNSET
    segmentation: msgspec.Raw | UnsetType = UNSET


class _PlainItem(Item, gc=False, forbid_unknown_fields=True):
    """An item without other keys, whose strings can be counted."""


class _PlainResult(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A result with the keys that the COCO format asks for, and no other."""

    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    score: float


class _PlainAnnotation(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """An annotation with the keys that boxes need, and no other."""

    id: int
    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    area: float
    iscrowd: int


class ItemColumns(NamedTuple):
    """Annotations or results as columns of one length N, in file order.

    Attributes
    ----------
    image_id, category_id : int64, shape (N,)
    xywh : float64, shape (N, 4)
        NaN where the exact walk found the box unusable.
    score, area : float64, shape (N,)
        NaN where missing or unusable.
    no_score, no_area : bool, shape (N,)
        Where the key is missing.
    id : int64, shape (N,), or None
        None when an item has no id.
    crowd : int64, shape (N,), or None
        ``iscrowd``, 0 where missing; None when it is 0 everywhere.
    ignored : bool, shape (N,), or None
        Where the key ``ignore`` is set, which COCO's evaluation does not read; None for nowhere.
    outlines : dict of bytes by int
        ``segmentation`` of the rows that have one, as JSON.
    unusable : bool, shape (N,), or None
        Rows about whose ids the exact walk has already reported; None for none.
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


class CocoFile(NamedTuple):
    """A file of the shape of COCO; images and categories are None in a results list."""

    images: list[Image] | None
    categories: list[Category] | None
    items: ItemColumns


_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw], strict=True).decode
_IMAGES = msgspec.json.Decoder(list[Image], strict=True).decode
_CATEGORIES = msgspec.json.Decoder(list[Category], strict=True).decode
_ITEMS = msgspec.json.Decoder(list[Item], strict=True).decode
_OPTIONAL: Final = ("score", "id", "area", "iscrowd", "ignore", "segmentation")
# From the narrowest shape to the widest: the fewer keys, the less there is to look at.
_PLAIN: Final[tuple[tuple[Callable[[bytes], Any], tuple[str, ...]], ...]] = (
    (msgspec.json.Decoder(list[_PlainResult], strict=True).decode, ("score",)),
    (msgspec.json.Decoder(list[_PlainAnnotation], strict=True).decode, ("id", "area", "iscrowd")),
    (msgspec.json.Decoder(list[_PlainItem], strict=True).decode, _OPTIONAL),
)


class _Doubt(Exception):
    """Raised inside when the exact walk has to look at the file."""


@contextmanager
def collector_off() -> Iterator[None]:
    """Garbage collection off: it would walk over the many new objects again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def decode(content: bytes) -> CocoFile | None:
    """A COCO file as columns, or None when anything about its shape needs the exact walk.

    Parameters
    ----------
    content : bytes
        UTF-8 without byte order mark.

    Returns
    -------
    CocoFile or None
        None when the bytes are not JSON, not of the shape, or may repeat a key.

    Notes
    -----
    The big arrays are cut between two objects and decoded piece by piece. Pieces that are all well-formed and
    were cut at commas are the array that the bytes spell, wherever the cuts were; a cut inside of an object or of
    a string leaves a piece that is not well-formed. A decoder keeps the last of repeated keys; they are found
    by counting: quotation marks where all keys are known, each known key elsewhere.
    """
    try:
        with collector_off():
            start = len(content) - len(content.lstrip())
            if content[start : start + 1] == b"[":
                return CocoFile(None, None, _items(content, start, len(content.rstrip())))
            return _whole(content)
    except (msgspec.MsgspecError, RecursionError, UnicodeError, OverflowError, _Doubt):
        return None


def _whole(content: bytes) -> CocoFile:
    parts = _TOP(content)
    if parts.keys() & _KNOWN != _KNOWN:
        raise _Doubt
    quotes = 2 * len(parts) + sum(_quotes(np.frombuffer(part, dtype=np.uint8)) for part in parts.values())
    if quotes != _quotes(np.frombuffer(content, dtype=np.uint8)):
        raise _Doubt
    base = np.frombuffer(content, dtype=np.uint8).ctypes.data
    start = np.frombuffer(parts["annotations"], dtype=np.uint8).ctypes.data - base
    stop = start + len(memoryview(parts["annotations"]))
    if not 0 <= start < stop <= len(content):
        raise _Doubt
    images = [
        image
        for piece in _pieces(bytes(parts["images"]), 0, len(memoryview(parts["images"])))
        for image in _counted(piece, _IMAGES, Image)
    ]
    categories = _counted(bytes(parts["categories"]), _CATEGORIES, Category)
    numbers = [image.id for image in images] + [category.id for category in categories]
    numbers += [page for image in images for page in (image.page_index, image.page, image.page_no) if page is not UNSET]
    # Overflows when one has more than 64 bits.
    np.array(numbers, dtype=np.int64)
    return CocoFile(images, categories, _items(content, start, stop))


_KNOWN = {"images", "annotations", "categories"}


def _pieces(content: bytes, start: int, stop: int) -> Iterator[bytes]:
    """The array in ``content[start:stop]`` as arrays of some of its objects each, in order."""
    if content[start : start + 1] != b"[" or content[stop - 1 : stop] != b"]":
        raise _Doubt
    at, end = start + 1, stop - 1
    while at < end:
        cut = _NEXT_ITEM.search(content, at + _STEP, end) if at + _STEP < end else None
        last = cut.start() + 1 if cut else end
        yield b"".join((b"[", content[at:last], b"]"))
        at = cut.end() if cut else end


def _counted(piece: bytes, decoder: Callable[[bytes], list[T]], shape: type[Any]) -> list[T]:
    """The objects of a piece, none of which repeats a key of its shape."""
    found = decoder(piece)
    if b"\\" in piece and _ESCAPED_KEY.search(piece):
        raise _Doubt
    for name in shape.__struct_fields__:
        there = len(found) - [getattr(item, name) for item in found].count(UNSET)
        if piece.count(b'"%b"' % name.encode()) != there:
            raise _Doubt
    return found


def _items(content: bytes, start: int, stop: int) -> ItemColumns:
    gathering = Gathering()
    shape = 0
    for piece in _pieces(content, start, stop):
        strings = None
        while strings is None and shape < len(_PLAIN):
            plain, keys = _PLAIN[shape]
            try:
                strings = gathering.add(plain(piece), keys)
            except msgspec.ValidationError:
                shape += 1
        if strings is None:
            gathering.add(_counted(piece, _ITEMS, Item))
        elif 2 * strings != _quotes(np.frombuffer(piece, dtype=np.uint8)):
            # Escaped quotation marks count too much.
            _counted(piece, _ITEMS, Item)
    return gathering.columns()


def _quotes(view: npt.NDArray[np.uint8]) -> int:
    step = 1 << 18
    return sum(int(np.count_nonzero(view[at : at + step] == _QUOTE)) for at in range(0, len(view), step))


class Gathering:
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

    def add(self, items: Sequence[Any], keys: Sequence[str] = _OPTIONAL) -> int:
        """Append some items.

        Parameters
        ----------
        items : sequence of Item
            Or of a narrower shape.
        keys : sequence of str
            The optional keys that the shape has.

        Returns
        -------
        int
            How many strings they are written with, keys included.
        """
        count, first = len(items), self._rows
        score, no_score = _numbers([item.score for item in items] if "score" in keys else [], count)
        area, no_area = _numbers([item.area for item in items] if "area" in keys else [], count)
        self._parts.append(
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
        if len(self._parts) == _PARTS_OF_A_BLOCK:
            self._blocks.append(_joined(self._parts))
            self._parts = []
        strings = 5 * count - int(no_score.sum()) - int(no_area.sum())
        strings += self._add_ids([item.id for item in items] if "id" in keys else [], count)
        if "iscrowd" in keys:
            strings += self._add_crowd([item.iscrowd for item in items], first)
        if "ignore" in keys:
            strings += self._add_ignored([item.ignore for item in items], first)
        if "segmentation" in keys:
            strings += self._add_outlines([item.segmentation for item in items], first)
        self._rows += count
        return strings

    def _add_ids(self, ids: list[int | UnsetType], count: int) -> int:
        missing = ids.count(UNSET) if ids else count
        self._all_ids = self._all_ids and not missing
        given = [value for value in ids if value is not UNSET] if missing else ids
        # Overflows when an id has more than 64 bits, also where ids are then not used.
        self._ids.append(np.fromiter(given, dtype=np.int64, count=count - missing))
        return count - missing

    def _add_crowd(self, values: list[int | UnsetType], first: int) -> int:
        missing = values.count(UNSET)
        if missing:
            values = [0 if value is UNSET else value for value in values]
        crowd = np.fromiter(values, dtype=np.int64, count=len(values))
        if crowd.any():
            self._crowd[first] = crowd
        return len(values) - missing

    def _add_ignored(self, values: list[int | UnsetType], first: int) -> int:
        there = [(first + row, value) for row, value in enumerate(values) if value is not UNSET]
        self._ignored += [row for row, value in there if value]
        return len(there)

    def _add_outlines(self, values: list[msgspec.Raw | UnsetType], first: int) -> int:
        there = {first + row: bytes(value) for row, value in enumerate(values) if isinstance(value, msgspec.Raw)}
        self._outlines |= there
        return len(there) + sum(text.count(b'"') for text in there.values()) // 2

    def columns(self) -> ItemColumns:
        """The columns of all items so far; of length 0 when there are none."""
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
    """Columns of several parts as one."""
    one, two, three, four, five, six, seven = (np.concatenate(column) for column in zip(*parts, strict=True))
    return one, two, three, four, five, six, seven


def _numbers(values: list[float | UnsetType], count: int) -> tuple[FloatArray, BoolArray]:
    """Numbers with NaN for missing ones, and where they are missing; no values at all stand for missing ones."""
    missing = values.count(UNSET) if values else count
    if missing == count:
        return np.full(count, np.nan), np.ones(count, dtype=bool)
    if not missing:
        return np.fromiter(values, dtype=np.float64, count=count), np.zeros(count, dtype=bool)
    gaps = np.array([value is UNSET for value in values], dtype=bool)
    filled = [np.nan if value is UNSET else value for value in values]
    return np.array(filled, dtype=np.float64), gaps
