"""The columns of large files, kept on disk, so that the second opening of a file does not parse it again.

Owns the folder of the cache, its bound, and the form of its files. A file of the cache belongs to the bytes and the
name of one annotation file, to how it was asked for, and to these readers: anything else is another file. It is used
when its checksum, its key, and the lengths and codes of its columns are right; otherwise the annotation file is read,
and the file of the cache is written again. Every file in the folder may be deleted at any time. Files with errors are
not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, cast

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.formats.base import Reading
from evaluator.formats.coco.outlines import Outlines
from evaluator.formats.coco.reader import Numbers
from evaluator.model.boxes import FloatArray
from evaluator.model.dataset import Annotations, Boxes, Document, Part, Run, Side
from evaluator.model.issues import Issue
from evaluator.system.cache_folder import cache_folder
from evaluator.system.whole_file import write_whole
from evaluator.version import __version__

SMALLEST: Final = 8 << 20
"""Bytes from which a file is kept: a smaller one is parsed in the time of a blink."""
MOST: Final = 2 << 30
"""Bytes of all files of the cache; the ones that were not used for longest go first."""

# Changes with the form of the files.
_MARK: Final = b"layoutscope columns 1\n"
_CHECKSUM_BYTES: Final = 4

# The columns by type and shape: of N boxes, of M page entries, of the outlines, and the ids that are numbers.
_OF_BOXES: Final = {
    "document": "<i4", "page": "<i8", "label": "<i4", "score": "<f8", "entry": "<i4", "position": "<i4",
    "area": "<f8", "crowd": "|b1", "box_area": "<f8", "xyxy": "<f8",
}  # fmt: skip
_OF_PAGES: Final = {"page_document": "<i4", "page_index": "<i8", "page_size": "<f8"}
_OF_OUTLINES: Final = {"rows": "<i8", "first_ring": "<i8", "first_point": "<i8", "points": "<f8"}
_WIDTH: Final = {"xyxy": 4, "page_size": 2, "points": 2}
_TYPES: Final = {**_OF_BOXES, **_OF_PAGES, **_OF_OUTLINES, "ids": "<i8"}
_MAY_LACK: Final = ("area", "crowd", "box_area", "page_size")

Columns = dict[str, npt.NDArray[np.generic]]


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What a file of the cache holds after its mark and checksum: what is no column of `Annotations`, and columns."""

    key: str
    name: str
    sha256: str
    format: str
    side: Side
    model: str | None
    version: str | None
    labels: tuple[str, ...]
    evaluated: int
    documents: tuple[Document, ...]
    issues: tuple[Issue, ...]
    label_map: dict[str, str]
    page_ids: list[str]
    parts: tuple[Part, ...]
    unit: Literal["page", "pixels"]
    items_at: str
    attributes: dict[str, list[str | None]]
    page_images: list[str]
    fixes: tuple[str, ...]
    run: Run
    columns: str
    # The ids of the boxes, or what their numbers stand for; None for numbers.
    ids: list[str] | None
    arrays: dict[str, bytearray]


# What both have by these names.
_OWN: Final = tuple(field.name for field in msgspec.structs.fields(_Kept) if field.name not in ("key", "ids", "arrays"))


def kept(content: bytes, name: str, asked: tuple[str | None, Reading], read: Callable[[], Annotations]) -> Annotations:
    """The columns of a file, from the cache where it has them.

    Parameters
    ----------
    content : bytes
        The whole file.
    name : str
        Its name, which its issues state.
    asked : tuple
        The format that was named, and what the reader is asked for.
    read : callable
        Reads the file; what it raises is raised.

    Returns
    -------
    Annotations
        The same whether it comes from the cache or not.
    """
    home = cache_folder()
    if home is None or len(content) < SMALLEST:
        return read()
    key = _key(name, asked, hashlib.sha256(content).hexdigest())
    path = home / f"{key}.columns"
    source = _loaded(path, key)
    if source is None:
        source = read()
        # Without room or permission, or with names that are no text, there is no cache and nothing else is wrong.
        with contextlib.suppress(OSError, UnicodeEncodeError):
            _store(path, key, source)
    return source


def holds(path: Path, asked: tuple[str | None, Reading]) -> bool:
    """Whether the cache has a file of the columns of an annotation file; `asked` as in `kept`.

    Returns
    -------
    bool
        False without looking at the bytes where the cache is empty or off, or the file is too small for it.
    """
    home = cache_folder()
    if home is None or path.stat().st_size < SMALLEST or not home.is_dir() or not any(home.glob("*.columns")):
        return False
    try:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return False
    return (home / f"{_key(path.name, asked, sha256)}.columns").exists()


def _key(name: str, asked: tuple[str | None, Reading], sha256: str) -> str:
    """What a file of the cache is found by."""
    return hashlib.sha256(msgspec.json.encode((__version__, _readers(), name, asked, sha256))).hexdigest()


def clear() -> None:
    """Delete every file of the cache."""
    home = cache_folder()
    if home is not None and home.is_dir():
        _bound(home, 0)


@cache
def _readers() -> str:
    """Digest of the names, sizes and times of the modules that make columns: other readers may make others."""
    root = Path(__file__).resolve().parent
    modules = sorted([*root.rglob("*.py"), *(root.parent / "model").glob("*.py")])
    states = [(str(module.relative_to(root.parent)), module.stat()) for module in modules]
    seen = [(module, state.st_size, state.st_mtime_ns) for module, state in states]
    return hashlib.sha256(msgspec.json.encode(seen)).hexdigest()


def _loaded(path: Path, key: str) -> Annotations | None:
    """The columns of a file of the cache; None when there is none that can be trusted."""
    try:
        content = path.read_bytes()
        start = len(_MARK) + _CHECKSUM_BYTES
        body = memoryview(content)[start:]
        checksum = int.from_bytes(content[len(_MARK) : start], "little")
        if content[: len(_MARK)] != _MARK or zlib.crc32(body) != checksum:
            return None
        stored = msgspec.msgpack.decode(body, type=_Kept)
        if stored.key != key:
            return None
        source = _annotations(stored)
    except (OSError, msgspec.MsgspecError, ValueError, KeyError):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return source


def _store(path: Path, key: str, source: Annotations) -> None:
    """Write a file of the cache, then delete what goes beyond the bound."""
    boxes = source.boxes
    arrays: Columns = {
        **{column: getattr(boxes, column) for column in _OF_BOXES},
        **{column: getattr(source, column) for column in _OF_PAGES},
    }
    arrays = {column: values for column, values in arrays.items() if values is not None}
    if boxes.polygons:
        arrays |= _outline_columns(boxes.polygons)
    ids: list[str] | None
    if isinstance(boxes.ids, Numbers):
        arrays["ids"] = boxes.ids.values
        ids = None if boxes.ids.texts is None else list(boxes.ids.texts)
    else:
        ids = list(boxes.ids)
    if any(values.dtype != np.dtype(_TYPES[column]) for column, values in arrays.items()):
        return
    own = {
        **{field: getattr(source, field) for field in _OWN},
        "label_map": dict(source.label_map),
        "page_ids": list(source.page_ids),
        "page_images": list(source.page_images),
        "attributes": {each: list(texts) for each, texts in source.attributes.items()},
    }
    held = {column: bytearray(values.tobytes()) for column, values in arrays.items()}
    body = msgspec.msgpack.encode(_Kept(key=key, ids=ids, arrays=held, **own))
    if len(body) > MOST:
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, [_MARK, zlib.crc32(body).to_bytes(_CHECKSUM_BYTES, "little"), body], durable=False, mode=0o600)
    _bound(path.parent, MOST)


def _bound(home: Path, most: int) -> None:
    """Delete the files that were not used for longest, until the rest has so many bytes."""
    states = []
    for path in home.iterdir():
        with contextlib.suppress(OSError):
            states.append((path.stat(), path))
    room = most
    for state, path in sorted(states, key=lambda pair: -pair[0].st_mtime_ns):
        room -= state.st_size
        if room < 0:
            with contextlib.suppress(OSError):
                path.unlink()


def _annotations(stored: _Kept) -> Annotations:
    """The annotations of a file of the cache; ValueError or KeyError where its columns do not fit together."""
    arrays = {column: _array(column, data) for column, data in stored.arrays.items()}
    number, entries = len(arrays["label"]), len(arrays["page_index"])
    for columns, length in ((_OF_BOXES, number), (_OF_PAGES, entries)):
        for column in columns:
            if column not in arrays and column not in _MAY_LACK:
                raise ValueError(f"no column {column}")
            if column in arrays and len(arrays[column]) != length:
                raise ValueError(f"{column} has {len(arrays[column])} rows of {length}")
    for column, limit in (("document", len(stored.documents)), ("label", len(stored.labels)), ("entry", entries)):
        _check_codes(arrays[column], limit)
    _check_codes(arrays["page_document"], len(stored.documents))
    texts = stored.ids
    ids: Sequence[str] = Numbers(arrays["ids"], texts) if "ids" in arrays else texts or []  # type: ignore[arg-type]
    if len(ids) != number:
        raise ValueError(f"{len(ids)} ids of {number}")
    if "ids" in arrays and texts is not None:
        _check_codes(arrays["ids"], len(texts))
    of_boxes: dict[str, Any] = {column: arrays.get(column) for column in _OF_BOXES}
    boxes = Boxes(
        **of_boxes,
        ids=ids,
        polygons=_outlines(arrays, number) if "rows" in arrays else {},
    )
    own = {field: getattr(stored, field) for field in _OWN}
    of_pages: dict[str, Any] = {column: arrays.get(column) for column in _OF_PAGES}
    return Annotations(boxes=boxes, **own, **of_pages)


def _array(column: str, data: bytearray) -> npt.NDArray[np.generic]:
    """One column of its type and shape; KeyError for an unknown one, ValueError for a length that does not fit."""
    values: npt.NDArray[np.generic] = np.frombuffer(data, dtype=np.dtype(_TYPES[column]))
    return values.reshape(-1, _WIDTH[column]) if column in _WIDTH else values


def _check_codes(codes: npt.NDArray[np.generic], limit: int) -> None:
    """ValueError for a code that is out of range."""
    whole = cast("npt.NDArray[np.int64]", codes)
    if len(whole) and (int(whole.min()) < 0 or int(whole.max()) >= limit):
        raise ValueError("a code is out of range")


def _outline_columns(polygons: Mapping[int, Sequence[FloatArray]]) -> Columns:
    """The outlines of some rows as the columns of `Outlines`."""
    if isinstance(polygons, Outlines):
        return dict(zip(_OF_OUTLINES, polygons.columns, strict=True))
    rows = sorted(polygons)
    rings = [ring for row in rows for ring in polygons[row]]
    return {
        "rows": np.array(rows, dtype=np.int64),
        "first_ring": np.cumsum([0, *(len(polygons[row]) for row in rows)], dtype=np.int64),
        "first_point": np.cumsum([0, *map(len, rings)], dtype=np.int64),
        "points": np.concatenate([np.empty((0, 2)), *rings]),
    }


def _outlines(arrays: Columns, number: int) -> Outlines:
    """The outlines of some of so many rows; ValueError where the columns do not fit together."""
    columns = [cast("npt.NDArray[np.int64]", arrays[column]) for column in _OF_OUTLINES]
    rows, first_ring, first_point, points = columns
    _check_codes(rows, number)
    for firsts, length, end in (
        (first_ring, len(rows), len(first_point) - 1),
        (first_point, len(first_point) - 1, len(points)),
    ):
        if len(firsts) != length + 1 or firsts[0] != 0 or firsts[-1] != end or (np.diff(firsts) < 0).any():
            raise ValueError("the outlines do not fit together")
    return Outlines(rows, first_ring, first_point, cast(FloatArray, points))
