"""COCO files of plain numbers read piece by piece: neither bytes nor objects are there all at once.

Owns `Instances` and `Results`, whose rows come in file order, with the digest of the bytes they were made of. The rules
are those of ``rules``; what would be an issue, or is not plain numbers, is a doubt for the ordinary reader.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import CodeArray, Side
from evaluator.data.issues import BadInput, Collector
from evaluator.formats import json_text, limits
from evaluator.formats.coco.chunks import CLOSING, empty_columns, plain_keys
from evaluator.formats.coco.fixed_layout import Column, read
from evaluator.formats.coco.rules import (
    Index,
    Labels,
    check_categories,
    check_id_zero,
    check_ids,
    check_images,
    check_inside,
    check_items,
    check_rotation,
    check_scores,
    check_size,
)
from evaluator.formats.coco.shape import (
    ANNOTATIONS,
    BLANKS,
    MALFORMED,
    CocoFile,
    ItemColumns,
    NeedsFullValidation,
    corners,
    images_and_categories,
    is_frame,
    plain_columns,
    possible_ends,
)
from evaluator.system.threads import in_threads

NEED_FULL_VALIDATION: Final = (*MALFORMED, BadInput, OSError)
"""What is raised here where the ordinary reader has to look at the file."""
_ANY: Final = [("page", "i4"), ("row", "i4"), ("id", "i8"), ("label", "i2"), ("xywh", "f8", 4)]
TRUTH: Final = np.dtype([*_ANY, ("area", "f8"), ("crowd", "?")])
"""A row of a ground truth: place of the image among the ids, row of the file, own id, rank of the category id."""
PREDICTION: Final = np.dtype([*_ANY, ("score", "f8")])
"""A row of a results list."""
MOST_THREADS: Final = 3
"""Each has a piece and its columns in memory."""

# No id that is read: those are floats without loss.
_NO_ID: Final = -(2**63)
# Bytes of a piece, and of the first look at either end of a file.
_STEP = 1 << 20
# What is before and behind the annotations is decoded as a whole.
_MOST_AROUND: Final = 256 << 20

Rows = npt.NDArray[np.void]
T = TypeVar("T")
R = TypeVar("R")


class ImagesAndLabels(NamedTuple):
    """What annotations and results name: images and categories, without what only views need.

    `ids`, int64, shape (M,), `size` (width, height), `document`, int32, and `page` in it, int64, from 0, are of the
    images, by rising id where it is read from a file; `documents` are the sorted ids behind these codes; `labels` by
    rising id; `lookup` and `label_index` are of the ids of images and categories.
    """

    ids: IntArray
    size: FloatArray
    document: CodeArray
    page: IntArray
    documents: tuple[str, ...]
    labels: Labels
    lookup: Index
    label_index: Index


class Instances:
    """A ground truth from a file that stays open until its rows were taken; raises one of `NEED_FULL_VALIDATION`.

    `frame`: the file with an empty array in the place of its annotations. `most`: bytes of a file, None for the limit.
    """

    def __init__(self, file: BinaryIO, most: int | None = None) -> None:
        self._array, self.frame = _annotations(_File(file, most))

    def named(self) -> ImagesAndLabels:
        """Return its images and categories."""
        json_text.text_of(self.frame, "")
        collector = _no_issues()
        with json_text.garbage_collection_off():
            images, categories = images_and_categories(self.frame)
            pages, labels = check_images(images, collector), check_categories(categories, collector)
        check_rotation(self.frame, collector)
        _need_nothing(collector)
        if pages.page_size is None:
            raise NeedsFullValidation
        order = np.argsort(pages.ids)
        ids, size, page = pages.ids[order], pages.page_size[order], pages.page_index[order]
        names = [document.doc_id for document in pages.documents]
        by_name = sorted(range(len(names)), key=names.__getitem__)
        document = np.argsort(by_name).astype(np.int32)[pages.page_document[order]]
        # The names are made anew, because those of the images lie between values whose memory is to be given back.
        encoded = msgspec.json.encode([names[row] for row in by_name])
        del images, pages, names
        documents = msgspec.json.decode(encoded, type=tuple[str, ...])
        return ImagesAndLabels(ids, size, document, page, documents, labels, Index(ids), Index(labels.ids))

    @property
    def sha256(self) -> str:
        """Return the digest of the file, once all rows were taken."""
        return self._array.sha256

    def rows(self, named: ImagesAndLabels, threads: int = MOST_THREADS) -> Iterator[Rows]:
        """Yield the annotations in file order, as arrays of `TRUTH`; so many pieces are read at a time."""
        ids, count = bytearray(), 0

        def placed(items: ItemColumns) -> tuple[Rows, bytes]:
            rows = _placed(items, named, TRUTH, "ground_truth")
            rows["crowd"] = False if items.crowd is None else items.crowd != 0
            rows["area"] = items.area
            return rows, b"" if items.id is None else items.id.tobytes()

        for rows, own in self._array.read(placed, threads):
            ids += own
            yield _numbered(rows, count)
            count += len(rows)
        collector = _no_issues()
        known = np.frombuffer(ids, dtype=np.int64) if ids else None
        check_ids(known, "", collector)
        check_id_zero(known, None, "", collector)
        check_size(count, collector)
        _need_nothing(collector)


class Results:
    """A results list from a file that stays open until its rows were taken; see `Instances`."""

    def __init__(self, file: BinaryIO, most: int | None = None) -> None:
        self._array = _list(_File(file, most))

    @property
    def sha256(self) -> str:
        """Return the digest of the file, once all rows were taken."""
        return self._array.sha256

    def rows(self, named: ImagesAndLabels, threads: int = MOST_THREADS) -> Iterator[Rows]:
        """Yield the results in file order, as arrays of `PREDICTION`; so many pieces are read at a time."""
        count = 0

        def placed(items: ItemColumns) -> Rows:
            rows = _placed(items, named, PREDICTION, "prediction")
            rows["score"] = items.score
            return rows

        for rows in self._array.read(placed, threads):
            yield _numbered(rows, count)
            count += len(rows)
        collector = _no_issues()
        check_size(count, collector)
        _need_nothing(collector)


def _placed(items: ItemColumns, named: ImagesAndLabels, row: np.dtype[np.void], side: Side) -> Rows:
    page, label = named.lookup.rows_of(items.image_id), named.label_index.rows_of(items.category_id)
    if min(page.min(), label.min()) < 0:
        raise NeedsFullValidation
    collector = _no_issues()
    check_items(items, "", collector, side=side)
    if side == "prediction":
        check_scores(items, "", collector)
    check_inside(corners(items.xywh), named.size.take(page, axis=0), lambda _row: "", collector)
    _need_nothing(collector)
    rows = np.empty(len(page), dtype=row)
    rows["page"], rows["label"], rows["xywh"] = page, label, items.xywh
    rows["id"] = _NO_ID if items.id is None else items.id
    return rows


def _numbered(rows: Rows, first: int) -> Rows:
    """Return rows with their places in the file, which are also their ids where it has none."""
    rows["row"] = np.arange(first, first + len(rows))
    if len(rows) and rows["id"][0] == _NO_ID:
        rows["id"] = rows["row"]
    return rows


def _no_issues() -> Collector:
    return Collector("", max_per_rule=1)


def _need_nothing(collector: Collector) -> None:
    """NeedsFullValidation when there is any issue; the ordinary reader finds the place for it."""
    if collector.issues():
        raise NeedsFullValidation


class _File:
    def __init__(self, file: BinaryIO, most: int | None = None) -> None:
        self._file = file
        self.size = os.fstat(file.fileno()).st_size
        if self.size > (limits.MAX_FILE_BYTES if most is None else most):
            raise NeedsFullValidation

    def bytes(self, start: int, stop: int) -> bytes:
        """Return the bytes between two places; NeedsFullValidation when somebody cut the file off."""
        self._file.seek(start)
        piece = self._file.read(stop - start)
        if len(piece) < stop - start:
            raise NeedsFullValidation
        return piece


class _Array:
    """The array whose records are rows; `head` and `tail` are the file around it, with its brackets."""

    def __init__(self, file: _File, head: bytes, tail: bytes) -> None:
        self._file, self._tail = file, tail
        self._start, self._stop = len(head), file.size - len(tail)
        self._digest = hashlib.sha256(head)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def read(self, use: Callable[[ItemColumns], R], threads: int) -> Iterator[R]:
        """Yield what `use` makes of each piece, in file order; so many pieces are worked on at a time."""
        return in_threads(lambda given: use(plain_columns(_columns(*given))), self._keyed(), most=threads)

    def whole(self, threads: int) -> ItemColumns:
        """Return all pieces as one; so many are read at a time."""
        parts = list(in_threads(lambda given: _columns(*given), self._keyed(), most=threads))
        if not parts:
            raise NeedsFullValidation
        # One column after the other: the parts of each are given up once it is whole.
        return plain_columns({key: np.concatenate([part.pop(key) for part in parts]) for key in list(parts[0])})

    def _keyed(self) -> Iterator[tuple[bytes, tuple[str, ...]]]:
        """Yield each piece with the keys of its records, which are those of the first one."""
        keys: tuple[str, ...] = ()
        for piece in self._pieces():
            keys = keys or plain_keys(piece, 0, len(piece))
            yield piece, keys

    def _pieces(self) -> Iterator[bytes]:
        """Yield records with a comma between them; an empty array has no piece."""
        at = self._start
        while at < self._stop:
            text = self._file.bytes(at, min(at + _STEP, self._stop))
            end = following = len(text)
            if at + len(text) < self._stop:
                # In records of plain numbers every brace opens or closes one.
                following = text.rfind(b"{")
                end = text.rfind(b"}", 0, max(following, 0)) + 1
                if not end or text[end:following].strip(BLANKS) != b",":
                    raise NeedsFullValidation
            self._digest.update(memoryview(text)[:following])
            yield text[:end]
            at += following
        self._digest.update(self._tail)


def _columns(piece: bytes, keys: tuple[str, ...]) -> dict[str, Column]:
    text = np.frombuffer(piece, dtype=np.uint8)
    columns = empty_columns(keys, int(np.count_nonzero(text == CLOSING)))
    if not keys or not read(text, columns):
        raise NeedsFullValidation
    return columns


def plain_file(path: Path) -> tuple[CocoFile, json_text.Source]:
    """Return a file of plain numbers whose text is never in memory as a whole, and what is around its records.

    One of `NEED_FULL_VALIDATION` for any other.
    """
    with path.open("rb") as opened:
        file = _File(opened, sys.maxsize)
        if file.bytes(0, min(_STEP, file.size)).lstrip(BLANKS)[:1] == b"[":
            array, frame = _list(file), b"[]"
        else:
            array, frame = _annotations(file)
        items = array.whole(MOST_THREADS)
    json_text.text_of(frame, path.name)
    source = json_text.Source(path.name, frame, array.sha256)
    if frame == b"[]":
        return CocoFile(None, None, items), source
    with json_text.garbage_collection_off():
        return CocoFile(*images_and_categories(frame), items), source


def _annotations(file: _File) -> tuple[_Array, bytes]:
    """Return the annotations of an instances file, and the file with an empty array in their place."""
    head = _head(file)
    for end in possible_ends(file.bytes, len(head), file.size, _STEP):
        if file.size - end <= _MOST_AROUND:
            tail = file.bytes(end, file.size)
            if is_frame(head[:-1], tail[1:]):
                return _Array(file, head, tail), head + tail
    raise NeedsFullValidation


def _head(file: _File) -> bytes:
    size = _STEP
    while True:
        text = file.bytes(0, min(size, file.size))
        begin = ANNOTATIONS.search(text)
        if begin:
            return text[: begin.end() + 1]
        if size >= min(file.size, _MOST_AROUND):
            raise NeedsFullValidation
        size *= 2


def _list(file: _File) -> _Array:
    head, tail = file.bytes(0, min(_STEP, file.size)), file.bytes(max(file.size - _STEP, 0), file.size)
    start, stop = len(head) - len(head.lstrip(BLANKS)), len(tail.rstrip(BLANKS))
    if head[start : start + 1] != b"[" or tail[stop - 1 : stop] != b"]":
        raise NeedsFullValidation
    return _Array(file, head[: start + 1], tail[stop - 1 :])
