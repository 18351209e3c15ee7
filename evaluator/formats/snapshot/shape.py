"""The parts of a schema-1.3 file as typed structs, and their decoder; for another shape it answers None."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from evaluator.data.boxes import BoolArray, FloatArray
from evaluator.data.dataset import CodeArray
from evaluator.formats import limits
from evaluator.system.decoding import json_decoder

_QUOTE = ord('"')
_COUNT_STEP = 1 << 18
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_GIANT = 10**300
# What a mismatch in the count of strings is made of when a part is too deep or a number too long.
_NEVER = -(1 << 60)
_ATTRIBUTES_DEPTH = 6
_PAGES_AT_A_TIME = 64
# Crowded pages are decoded fewer at a time: as objects they take five times their bytes.
_BYTES_AT_A_TIME = 4 << 20
_NO_ROWS = (np.empty(0), np.empty(0), np.empty(0, np.bool_), np.empty(0, np.bool_), np.empty(0, np.int32))


class DocumentEntry(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """One of ``documents``. Fields are None where the exact walk found them unusable."""

    doc_id: str
    doc_name: str
    doc_path: str


class ObjectEntry(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """One of ``objects``. Where the exact walk found a field unusable it is None, in boxes and scores NaN."""

    id: str
    label: str
    bbox: tuple[float, float, float, float]
    score: float | UnsetType | None = UNSET
    attributes: dict[str, object] | UnsetType = UNSET


class PageEntry(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """One of ``predictions``. Fields are None where the exact walk found them unusable."""

    page_id: str
    doc_id: str
    page_index: int | float
    objects: list[ObjectEntry]


class _Skimmed(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A file whose page entries are still bytes; the parts of its header are checked later."""

    label_map: object
    info: object
    documents: list[DocumentEntry]
    predictions: list[msgspec.Raw]


class PageColumns(NamedTuple):
    """The page entries as columns of one length M; None where the exact walk found a field unusable."""

    page_ids: list[str]
    doc_ids: list[str]
    indices: list[int]
    sizes: list[int]


class ObjectColumns(NamedTuple):
    """The objects as columns of length N, in file order.

    `entry` is the position of the page entry in the file, `position` that of the object in the entry. `xyxy`, shape (N,
    4), and `score` are NaN where missing or unusable; `null_score` and `no_score` tell why. `label` is a code into
    `names`, which are in order of appearance, None for unusable ones. `ids_repeat`: an id occurs twice in one entry.
    """

    entry: CodeArray
    position: CodeArray
    xyxy: FloatArray
    score: FloatArray
    null_score: BoolArray
    no_score: BoolArray
    label: CodeArray
    names: list[str]
    ids: list[str]
    ids_repeat: bool

    def place(self, row: int, key: str) -> str:
        """Return the JSON path of one key of an object."""
        return f"$.predictions[{self.entry[row]}].objects[{self.position[row]}].{key}"


class SnapshotFile(NamedTuple):
    """A file of the shape of schema 1.3; label_map and info are generic JSON, UNSET when missing.

    `documents` is None when it is no array; `pointed` are the entries whose page_index has a decimal point or an
    exponent.
    """

    label_map: object
    info: object
    documents: list[DocumentEntry] | None
    pages: PageColumns
    objects: ObjectColumns
    pointed: list[int]


_SKIM = json_decoder(_Skimmed)
_PAGE = json_decoder(PageEntry)


class _Codes(dict[str, int]):
    def __missing__(self, name: str) -> int:
        self[name] = code = len(self)
        return code


class ColumnBuilder:
    """Page entries on their way to columns, so that only few of them exist as objects at a time."""

    def __init__(self) -> None:
        self.pages = PageColumns([], [], [], [])
        self._ids: list[str] = []
        self._codes = _Codes()
        self._parts: list[tuple[FloatArray, FloatArray, BoolArray, BoolArray, CodeArray]] = []
        self._ids_repeat = False
        self.pointed: list[int] = []
        """Page entries whose page_index is a whole number written as 1.0 or 1e0."""
        self.strings = 0
        """Strings of the entries so far, keys included."""

    def add(self, pages: Sequence[PageEntry]) -> None:
        """Append some page entries; ValueError for a page_index that is no whole number."""
        columns = self.pages
        for row, page in enumerate(pages, len(columns.indices)):
            if isinstance(page.page_index, float):
                self.pointed.append(row)
        columns.page_ids.extend([page.page_id for page in pages])
        columns.doc_ids.extend([page.doc_id for page in pages])
        columns.indices.extend([_whole(page.page_index) for page in pages])
        columns.sizes.extend([len(page.objects) for page in pages])
        objects = [entry for page in pages for entry in page.objects]
        self._ids.extend([entry.id for entry in objects])
        self._ids_repeat = self._ids_repeat or any(
            len({entry.id for entry in page.objects}) != len(page.objects) for page in pages
        )
        score, null_score, no_score = _scores([entry.score for entry in objects])
        corners = chain.from_iterable([entry.bbox for entry in objects])
        xyxy = np.fromiter(corners, dtype=np.float64, count=4 * len(objects))
        codes = map(self._codes.__getitem__, [entry.label for entry in objects])
        label = np.fromiter(codes, dtype=np.int32, count=len(objects))
        self._parts.append((xyxy, score, null_score, no_score, label))
        self.strings += 6 * len(pages) + 6 * len(objects) - int(np.count_nonzero(no_score))
        attributes = [entry.attributes for entry in objects if entry.attributes is not UNSET]
        self.strings += sum(1 + _count_strings(value, _ATTRIBUTES_DEPTH) for value in attributes)

    def objects(self) -> ObjectColumns:
        """Return the columns of all objects so far; of length 0 when there are none."""
        sizes = np.array(self.pages.sizes, dtype=np.int64)
        total = int(sizes.sum())
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        columns = [list(column) for column in zip(_NO_ROWS, *self._parts, strict=True)]
        self._parts.clear()
        # Each column is joined when the parts of the one before are gone.
        xyxy, score, null_score, no_score, label = (np.concatenate(columns.pop(0)) for _ in _NO_ROWS)
        return ObjectColumns(
            entry=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            position=(np.arange(total) - starts).astype(np.int32),
            xyxy=xyxy.reshape(total, 4),
            score=score,
            null_score=null_score,
            no_score=no_score,
            label=label,
            names=list(self._codes),
            ids=self._ids,
            ids_repeat=self._ids_repeat,
        )


def decode(content: bytes) -> SnapshotFile | None:
    """Return a file, UTF-8 without byte order mark, as columns; None when it needs the exact walk.

    That is: no JSON, another shape, nested too deep, or a repeated key. Few page entries are decoded at a time, for
    cache and memory.
    """
    gathering = ColumnBuilder()
    try:
        file = _SKIM(content)
        for some in _few_at_a_time(file.predictions):
            gathering.add([_PAGE(raw) for raw in some])
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None
    header = 4 + 6 * len(file.documents) + _count_strings(file.label_map, 2) + _count_strings(file.info, 2)
    # A decoder keeps the last of repeated keys, so a repeated key loses at least one string: fewer arrived than
    # the bytes hold. Nothing else can differ, because the structs refuse unknown keys.
    if header + gathering.strings != _strings_in(content):
        return None
    return SnapshotFile(
        file.label_map, file.info, file.documents, gathering.pages, gathering.objects(), gathering.pointed
    )


def _whole(number: int | float) -> int:
    """Return a number of a page as integer; JSON Schema counts 1.0 as one. None, for an unusable one, stays."""
    if isinstance(number, float):
        whole = int(number)
        if whole != number:
            raise ValueError(number)
        return whole
    return number


def _few_at_a_time(entries: Sequence[msgspec.Raw]) -> Iterator[Sequence[msgspec.Raw]]:
    """Page entries in runs, each of few pages and few bytes, at least one."""
    start = size = 0
    for place, raw in enumerate(entries):
        if place - start == _PAGES_AT_A_TIME or (size and size + memoryview(raw).nbytes > _BYTES_AT_A_TIME):
            yield entries[start:place]
            start, size = place, 0
        size += memoryview(raw).nbytes
    if start < len(entries):
        yield entries[start:]


def _scores(values: list[float | UnsetType | None]) -> tuple[FloatArray, BoolArray, BoolArray]:
    nowhere = np.zeros(len(values), dtype=np.bool_)
    if values.count(None) == len(values):
        return np.full(len(values), np.nan), ~nowhere, nowhere
    try:
        score = np.array(values, dtype=np.float64)
        no_score = nowhere
    except TypeError:
        score = np.array([None if value is UNSET else value for value in values], dtype=np.float64)
        no_score = np.array([value is UNSET for value in values], dtype=np.bool_)
    if not np.isnan(score).any():
        return score, nowhere, no_score
    return score, np.array([value is None for value in values], dtype=np.bool_), no_score


def _strings_in(content: bytes) -> float:
    view = np.frombuffer(content, dtype=np.uint8)
    quotes = sum(
        int(np.count_nonzero(view[start : start + _COUNT_STEP] == _QUOTE)) for start in range(0, len(view), _COUNT_STEP)
    )
    if b"\\" in content:
        quotes -= sum(1 for escape in _ESCAPE.finditer(content) if escape[1] == b'"')
    return quotes / 2


def _count_strings(value: object, depth: int) -> int:
    """Return how many strings, keys included, a free-form part has; below zero when it needs the exact walk."""
    if isinstance(value, str):
        return 1
    if isinstance(value, dict | list):
        if depth > limits.MAX_DEPTH:
            return _NEVER
        items = value.values() if isinstance(value, dict) else value
        keys = len(value) if isinstance(value, dict) else 0
        return keys + sum(_count_strings(item, depth + 1) for item in items)
    return _NEVER if isinstance(value, int) and abs(value) >= _GIANT else 0
