"""The columns of annotations as a folder of maps: the one form in which boxes are kept on disk.

Boxes are sorted by document name, page and row of their file, so that those of some documents follow each other. A
folder has a file for each column, and a manifest, written last, of what is no column and of length and checksum of each
file. Numbers are kept as smaller integers where these give the very same ones again.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, overload

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Annotations, Boxes, CodeArray
from evaluator.data.polygons import Outlines
from evaluator.data.subsets import cut
from evaluator.formats import column_checks
from evaluator.formats.coco.reader import Numbers
from evaluator.formats.column_checks import MOST_DIGITS, AnyColumn
from evaluator.system.atomic_write import checksum_of, written_folder
from evaluator.system.decoding import json_decoder
from evaluator.system.threads import in_threads

MANIFEST: Final = "manifest"
"""The name of the file that makes a folder whole."""
# The columns of `Numbers` or `Texts`, and of `Outlines`.
_IDS: Final = ("ids", "ids_first")
_OUTLINES: Final = ("outlines", "outlines_first_ring", "outlines_first_point", "outlines_points")
# Texts of page entries, of which there may be many.
_PAGE_TEXTS: Final = ("page_ids", "page_images")
_PAGE_ARRAYS: Final = ("page_document", "page_index", "page_size")
# Of boxes, in the order of the pages; document and page follow from the entry.
_BOX_ARRAYS: Final = ("entry", "label", "score", "position", "area", "crowd")
_SAMPLE: Final = 1_000

Columns = dict[str, AnyColumn]


class DamagedColumns(ValueError):
    """Raised for a folder that is not what was written."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """How a column is kept: length and checksum of its file, its own type, and digits behind the decimal point."""

    length: int
    checksum: int
    dtype: str
    digits: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder holds: its key, how each column is kept, and `Annotations` without columns.

    `id_texts` is what the ids stand for where they are numbers of texts; `sized`: boxes are kept as corner and size,
    and their area is the product.
    """

    key: str
    columns: dict[str, Kept]
    id_texts: Sequence[str] | None
    sized: bool
    source: msgspec.Raw


# What msgspec knows of a class is made here: made by two threads at the same time, it ends the process.
_manifest_of: Final = json_decoder(Manifest)
_NO_ARRAY: Final = np.empty(0)
_source_of: Final = json_decoder(Annotations, hook=lambda _type, _value: _NO_ARRAY)


class Texts(Sequence[str]):
    """Texts made when looked at: text i is UTF-8 `content`, uint8, from ``first[i]`` up to ``first[i + 1]``, int64."""

    __slots__ = ("_content", "_first")

    def __init__(self, content: npt.NDArray[np.uint8], first: IntArray) -> None:
        # A row of a memoryview is had in a sixth of the time.
        self._content, self._first = content.data, first.data

    def __reduce__(self) -> tuple[type[Texts], tuple[AnyColumn, AnyColumn]]:
        return Texts, (np.asarray(self._content), np.asarray(self._first))

    def __len__(self) -> int:
        return len(self._first) - 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Texts):
            return NotImplemented
        return self._first == other._first and self._content == other._content

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[str]:
        content = bytes(self._content)
        return (content[start:stop].decode() for start, stop in pairwise(self._first))

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(len(self))[row]]
        if row < 0:
            row = range(len(self))[row]
        return str(self._content[self._first[row] : self._first[row + 1]], "utf-8")


BoxColumn = Callable[[str], AnyColumn | None]
"""Returns a column of `Boxes` by its name for some boxes in the order of the pages, None for one that is not there.

Their ``row`` is the place of each in the order of the file, int64; None where both orders are one.
"""


class _Column(NamedTuple):
    """A column that need not be in memory as a whole: how many rows it has, and what makes its parts, at least one."""

    rows: int
    parts: Callable[[], Iterable[AnyColumn]]


def write(folder: Path, source: Annotations, key: str, parts: Sequence[BoxColumn] | None = None) -> None:
    """Write the columns of annotations as a folder, which is there when it is whole, in the place of an older one.

    `parts`: the boxes in the order of `page_order`; the source then has none itself, but their ids, and a column of no
    rows in the place of each that they have.
    """
    with written_folder(folder) as begun:
        _write(begun, source, key, [_ordered(source)] if parts is None else parts)


def _write(folder: Path, source: Annotations, key: str, parts: Sequence[BoxColumn]) -> None:
    boxes, pages = source.boxes, page_order(source)
    counts = np.zeros(len(pages), dtype=np.int64)
    for part in parts:
        counts += np.bincount(_of(part, "entry"), minlength=len(pages))
    first_box = np.append(0, np.cumsum(counts[pages]))
    rows = int(first_box[-1])
    size_digits = None if boxes.box_area is None else _size_digits(parts)

    def of_boxes(name: str) -> _Column:
        return _Column(rows, lambda: (_of(part, name) for part in parts))

    there = [name for name in _BOX_ARRAYS if getattr(boxes, name) is not None]
    if all(np.isnan(_of(part, "score")).all() for part in parts):
        there.remove("score")
    columns: dict[str, AnyColumn | _Column] = {
        name: values for name in _PAGE_ARRAYS if (values := getattr(source, name)) is not None
    }
    columns |= {name: column for text in _PAGE_TEXTS for name, column in text_columns(getattr(source, text), text)}
    columns |= {"pages": pages, "first_box": first_box}
    if parts[0]("row") is not None:
        columns["row"] = of_boxes("row")
    columns |= {name: of_boxes(name) for name in there}
    if size_digits is not None:
        columns["xyxy"] = _Column(rows, lambda: (_with_size(_of(part, "xyxy"), size_digits) for part in parts))
    else:
        columns["xyxy"] = of_boxes("xyxy")
        columns |= {} if boxes.box_area is None else {"box_area": of_boxes("box_area")}
    columns |= {_IDS[0]: boxes.ids.values} if isinstance(boxes.ids, Numbers) else dict(text_columns(boxes.ids))
    columns |= outline_columns(boxes.polygons)
    kept = {name: _saved(folder, name, values) for name, values in columns.items()}
    none: Any = _NO_ARRAY
    without: dict[str, Any] = dict.fromkeys((*_PAGE_ARRAYS, *_PAGE_TEXTS), ())
    plain = replace(source, boxes=Boxes(none, none, none, none, none, none, none, ids=()), **without)
    manifest = Manifest(
        key=key,
        columns=kept,
        id_texts=boxes.ids.texts if isinstance(boxes.ids, Numbers) else None,
        sized=size_digits is not None,
        source=msgspec.Raw(msgspec.json.encode(plain, enc_hook=lambda _array: None)),
    )
    body = msgspec.json.encode(manifest)
    (folder / MANIFEST).write_bytes(b"%08x\n" % zlib.crc32(body) + body)


class ColumnFolder:
    """A folder that `write` made, whose columns are read when they are asked for.

    OSError or `DamagedColumns` where there is none; files of another length count as damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        checksum, _, body = (folder / MANIFEST).read_bytes().partition(b"\n")
        if checksum != b"%08x" % zlib.crc32(body):
            raise DamagedColumns(folder.name)
        self.manifest = _manifest_of(body)
        if not column_checks.are_known({name: (kept.dtype, kept.digits) for name, kept in self._kept.items()}):
            raise DamagedColumns(MANIFEST)
        for name, kept in self._kept.items():
            place = _place(folder, name)
            if place.is_symlink() or place.stat().st_size != kept.length:
                raise DamagedColumns(name)

    def checked(self) -> Self:
        """Return the folder itself after a look at every byte; DamagedColumns for one that is not as it was written."""
        sums = in_threads(lambda name: checksum_of(_place(self._folder, name)), self._kept)
        for (name, kept), checksum in zip(self._kept.items(), sums, strict=True):
            if checksum != kept.checksum:
                raise DamagedColumns(name)
        return self

    def consistent(self) -> Self:
        """Return the folder itself; DamagedColumns where columns contradict each other, which `write` never makes."""
        source = _source_of(self.manifest.source)
        for name in column_checks.contradictions(source, self._kept.keys(), self._values):
            raise DamagedColumns(name)
        return self

    @property
    def _kept(self) -> Mapping[str, Kept]:
        return self.manifest.columns

    def whole(self) -> Annotations:
        """Return everything, in the order of the file."""
        boxes = self._boxes(slice(None))
        if "row" in self.manifest.columns:
            rows = self._values("row")
            back = np.empty_like(rows)
            back[rows] = np.arange(len(rows))
            boxes = _in_order(boxes, back)
        return replace(self.pages, boxes=replace(boxes, ids=self._ids, polygons=self._outlines))

    @cached_property
    def pages(self) -> Annotations:
        """Return everything but the boxes, of which there are none."""
        values: dict[str, Any] = {name: self._values(name) if self.has(name) else None for name in _PAGE_ARRAYS}
        values |= {name: self._texts(name) for name in _PAGE_TEXTS}
        return replace(_source_of(self.manifest.source), **values, boxes=self._boxes(slice(0, 0)))

    @property
    def page_counts(self) -> IntArray:
        """Return how many boxes each page entry has, int64."""
        counts = np.empty(len(self.pages.page_index), dtype=np.int64)
        counts[self._values("pages")] = np.diff(self._values("first_box"))
        return counts

    def between(self, first: str, last: str) -> Annotations:
        """Return the documents from one name to another, as `only_documents` of the whole; without ids and outlines."""
        names, codes, first_page = self._by_name
        low, high = bisect_left(names, first), bisect_right(names, last)
        entries = np.sort(self._values("pages")[first_page[low] : first_page[high]]).astype(np.int64)
        boxes = self.boxes_on(entries)
        assert boxes.row is not None
        if (boxes.row[1:] < boxes.row[:-1]).any():
            boxes = _in_order(boxes, np.argsort(boxes.row))
        return cut(self.pages, np.sort(codes[low:high]).tolist(), entries, boxes)

    @cached_property
    def _by_name(self) -> tuple[list[str], IntArray, IntArray]:
        names = [document.doc_id for document in self.pages.documents]
        codes = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        counts = np.bincount(self.pages.page_document, minlength=len(names))[codes]
        return [names[code] for code in codes.tolist()], codes, np.append(0, np.cumsum(counts))

    @cached_property
    def _places(self) -> CodeArray:
        """Return where each page entry is in the order of the pages, int32."""
        pages = self._values("pages")
        place = np.empty(len(pages), dtype=np.int32)
        place[pages] = np.arange(len(pages), dtype=np.int32)
        return place

    def boxes_on(self, entries: IntArray) -> Boxes:
        """Return the boxes of some page entries, in their order and the file's, without ids and outlines."""
        first, place = self._values("first_box"), self._places[entries]
        start, stop = first[place], first[place + 1]
        counts = stop - start
        before = np.cumsum(counts) - counts
        every: IntArray = np.repeat(start - before, counts) + np.arange(counts.sum())
        rows: slice | IntArray = every
        if len(entries) and (start[1:] == stop[:-1]).all():
            rows = slice(int(start[0]), int(stop[-1]))
        entry = np.repeat(np.arange(len(entries), dtype=np.int32), counts)
        row = self._values("row", rows) if self.has("row") else every
        return replace(self._boxes(rows), entry=entry, row=row)

    def _boxes(self, rows: slice | IntArray) -> Boxes:
        known = filter(self.has, (*_BOX_ARRAYS, "xyxy", "box_area"))
        values: dict[str, Any] = {name: self._values(name, rows) for name in known}
        entry, xyxy = values.pop("entry"), values.pop("xyxy")
        if self.manifest.sized:
            xyxy = np.require(xyxy, requirements="W")
            values["box_area"] = xyxy[:, 2] * xyxy[:, 3]
            xyxy[:, 2:] += xyxy[:, :2]
        document, page = (self._values(name)[entry] for name in _PAGE_ARRAYS[:2])
        score = values.pop("score", None)
        score = np.full(len(entry), np.nan) if score is None else score
        return Boxes(document=document, page=page, entry=entry, xyxy=xyxy, score=score, ids=(), **values)

    @property
    def _ids(self) -> Sequence[str]:
        if self.has(_IDS[1]):
            return self._texts(_IDS[0])
        return Numbers(self._values(_IDS[0]), self.manifest.id_texts)

    @property
    def _outlines(self) -> Mapping[int, Sequence[FloatArray]]:
        return Outlines(*map(self._values, _OUTLINES)) if self.has(_OUTLINES[0]) else {}

    def _texts(self, name: str) -> Sequence[str]:
        return Texts(self._map(name), self._map(f"{name}_first")) if self.has(name) else ()

    def has(self, name: str) -> bool:
        """Return whether there is a column."""
        return name in self.manifest.columns

    def _values(self, name: str, rows: slice | IntArray = slice(None)) -> AnyColumn:
        """Return some rows of a column as they were before they were kept; a map where that is what is kept."""
        kept, values = self.manifest.columns[name], self._map(name)[rows]
        if kept.digits:
            return np.asarray(values / 10.0**kept.digits)
        return values.astype(kept.dtype, copy=False)

    def _map(self, name: str) -> AnyColumn:
        """Return the array of a file, read when it is looked at; `np.memmap` is slower in parts and when pickled."""
        try:
            values: AnyColumn = np.load(_place(self._folder, name), mmap_mode="r")
        except (OSError, EOFError, ValueError) as problem:
            raise DamagedColumns(name) from problem
        if not column_checks.may_be(name, values, self._kept[name].dtype, self._kept[name].digits):
            raise DamagedColumns(name)
        return values.view(np.ndarray)


def _in_order(boxes: Boxes, rows: IntArray) -> Boxes:
    columns = {name: getattr(boxes, name) for name in (*_BOX_ARRAYS, "document", "page", "xyxy", "box_area", "row")}
    arrays: dict[str, Any] = {name: None if values is None else values[rows] for name, values in columns.items()}
    return replace(boxes, **arrays)


def page_order(source: Annotations) -> CodeArray:
    """Return the page entries by document name and page, int32."""
    names = [document.doc_id for document in source.documents]
    rank = np.empty(len(names), dtype=np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return np.lexsort((source.page_index, rank[source.page_document])).astype(np.int32)


def _ordered(source: Annotations) -> BoxColumn:
    """Return the columns of all boxes, each brought in order when it is asked for."""
    pages = page_order(source)
    place = np.empty_like(pages)
    place[pages] = np.arange(len(pages), dtype=np.int32)
    of_box = place[source.boxes.entry]
    if (of_box[1:] >= of_box[:-1]).all():
        return lambda name: None if name == "row" else getattr(source.boxes, name)
    order = np.argsort(of_box, kind="stable")
    return lambda name: order if name == "row" else getattr(source.boxes, name)[order]


def _of(part: BoxColumn, name: str) -> AnyColumn:
    values = part(name)
    assert values is not None, name
    return values


def _size_digits(parts: Sequence[BoxColumn]) -> int | None:
    """Return to how many digits the sizes of boxes are rounded where all follows from corner and size; else None.

    A sum of decimals is rarely the very decimal: what was added is looked for.
    """
    digits = _digits(lambda: (_of(part, "xyxy")[:, :2] for part in parts))
    for more in () if digits is None else range(digits, MOST_DIGITS):
        if all(_follow(_of(part, "xyxy"), _of(part, "box_area"), more) for part in parts):
            return more
    return None


def _with_size(xyxy: FloatArray, digits: int) -> FloatArray:
    """Return boxes as corner and size, rounded to so many digits."""
    corner = xyxy[:, :2]
    return np.hstack([corner, np.rint((xyxy[:, 2:] - corner) * 10.0**digits) / 10.0**digits])


def _follow(xyxy: FloatArray, box_area: FloatArray, digits: int) -> bool:
    corner, size = np.hsplit(_with_size(xyxy, digits), 2)
    return _same(corner + size, xyxy[:, 2:]) and _same(size[:, 0] * size[:, 1], box_area)


def _saved(folder: Path, name: str, values: AnyColumn | _Column) -> Kept:
    """Write a column, as smaller integers where these give the same values, and return how it is kept."""
    column = values if isinstance(values, _Column) else _Column(len(values), lambda: [values])
    first = next(iter(column.parts()))
    kept, digits = first.dtype, 0
    if kept == np.float64 and (decimals := _digits(column.parts)):
        kept, digits = np.dtype(np.int32), decimals
    elif kept.kind == "i" and column.rows:
        ends = np.array([(part.min(), part.max()) for part in column.parts() if len(part)])
        smallest = np.min_scalar_type(ends.max())
        kept = smallest if ends.min() >= 0 and smallest.itemsize < kept.itemsize else kept
    path = _place(folder, name)
    shape = column.rows, *first.shape[1:]
    header = {"descr": np.lib.format.dtype_to_descr(kept), "fortran_order": False, "shape": shape}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for part in column.parts():
            file.write(np.ascontiguousarray(np.rint(part * 10.0**digits) if digits else part, dtype=kept).data)
    return Kept(length=path.stat().st_size, checksum=checksum_of(path), dtype=first.dtype.str, digits=digits)


def _digits(parts: Callable[[], Iterable[FloatArray]]) -> int | None:
    """Return how many decimal digits give the very values again as a quotient of int32, at least 1; None for none."""
    for digits in range(1, MOST_DIGITS + 1):
        if all(_are_decimals(some, digits) for part in parts() for some in (part[:_SAMPLE], part)):
            return digits
    return None


def _are_decimals(values: FloatArray, digits: int) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        whole = np.rint(values * 10.0**digits)
        return bool((np.abs(whole) < 2**31).all()) and _same(whole.astype(np.int32) / 10.0**digits, values)


def _same(one: FloatArray, other: FloatArray) -> bool:
    """Return whether all bits are the same: 0 and -0 are not."""
    return np.array_equal(np.ascontiguousarray(one).view(np.int64), np.ascontiguousarray(other).view(np.int64))


def text_columns(texts: Sequence[str], name: str = _IDS[0]) -> list[tuple[str, AnyColumn]]:
    """Return texts as the columns of `Texts`; none without any page text."""
    if not len(texts) and name in _PAGE_TEXTS:
        return []
    encoded = [text.encode() for text in texts]
    first = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return [(name, np.frombuffer(b"".join(encoded), dtype=np.uint8)), (f"{name}_first", first)]


def outline_columns(polygons: Mapping[int, Sequence[FloatArray]]) -> Columns:
    """Return the outlines of some rows as the columns of `Outlines`; none without any."""
    if not polygons:
        return {}
    if isinstance(polygons, Outlines):
        return dict(zip(_OUTLINES, polygons.columns, strict=True))
    rows = sorted(polygons)
    rings = [ring for row in rows for ring in polygons[row]]
    columns = (
        np.array(rows, dtype=np.int64),
        np.cumsum([0, *(len(polygons[row]) for row in rows)], dtype=np.int64),
        np.cumsum([0, *map(len, rings)], dtype=np.int64),
        np.concatenate([np.empty((0, 2)), *rings]),
    )
    return dict(zip(_OUTLINES, columns, strict=True))


def _place(folder: Path, column: str) -> Path:
    return folder / f"{column}.npy"
