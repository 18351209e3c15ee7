"""The columns of large files as maps on disk, so that the second opening of a file parses nothing.

Owns the folder of the cache, its bound, and the form of what is in it: a folder for the bytes and the name of one
annotation file, for how it was asked for, and for these readers; anything else is another folder. It has a file for
each column, and a manifest, written last, of what is no column and of length and digest of each file. What differs from
it is not believed: the annotation file is read, and the folder is written again. Every file and folder may be deleted
at any time. Files with errors are not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, overload

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Annotations, Boxes
from evaluator.data.polygons import Outlines
from evaluator.formats.base import Reading
from evaluator.formats.coco.reader import Numbers
from evaluator.system.cache_folder import cache_folder
from evaluator.system.threads import in_threads
from evaluator.system.version import __version__

SMALLEST: Final = 8 << 20
"""Bytes from which a file is kept: a smaller one is parsed in the time of a blink."""
MOST: Final = 2 << 30
"""Bytes of all folders of the cache; the ones that were not used for longest go first."""
# Of the folders, and of the single files of earlier versions.
_SUFFIX: Final = ".columns"
_MANIFEST: Final = "manifest"
# Bytes whose digest one thread makes at a time.
_PIECE: Final = 4 << 20
# The columns of `Numbers` or `Texts`, and of `Outlines`.
_IDS: Final = ("ids", "ids_first")
_OUTLINES: Final = ("outlines", "outlines_first_ring", "outlines_first_point", "outlines_points")

Asked = tuple[str | None, Reading]
"""The format that was named, and what the reader is asked for."""
Columns = dict[str, npt.NDArray[Any]]


class _Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder holds: length and digest of each column's file, and `Annotations` with names in their places."""

    key: str
    columns: dict[str, tuple[int, int]]
    # What the ids stand for where they are numbers of texts.
    id_texts: Sequence[str] | None
    source: msgspec.Raw


# What msgspec knows of a class is made here: made by two threads at the same time, it ends the process.
_manifest_of: Final = msgspec.json.Decoder(_Manifest).decode
msgspec.json.Decoder(Annotations)


class Texts(Sequence[str]):
    """Texts made when looked at: text i is UTF-8 `content`, uint8, from ``first[i]`` up to ``first[i + 1]``, int64."""

    __slots__ = ("_content", "_first")

    def __init__(self, content: npt.NDArray[np.uint8], first: IntArray) -> None:
        # A row of a memoryview is had in a sixth of the time.
        self._content, self._first = content.data, first.data

    def __reduce__(self) -> tuple[type[Texts], tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        return Texts, (np.asarray(self._content), np.asarray(self._first))

    def __len__(self) -> int:
        return len(self._first) - 1

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


def digest_of(content: bytes) -> str:
    """Return the digest of some bytes: that of the digests of their pieces, which threads make at the same time."""
    view = memoryview(content)
    return _digest_of(view[start : start + _PIECE] for start in range(0, len(view), _PIECE))


def _digest_of(pieces: Iterable[bytes | memoryview]) -> str:
    # On processors that have no instruction for SHA-256 this is the faster one.
    digests = in_threads(lambda piece: hashlib.blake2b(piece).digest(), pieces)
    return hashlib.blake2b(b"".join(digests), digest_size=32).hexdigest()


def get_or_read(
    content: bytes, name: str, asked: Asked, read: Callable[[], Annotations], *, digest: str | None = None
) -> Annotations:
    """Return the columns of a file with these bytes and this name, as read-only maps where the cache has them.

    `read` reads the file; what it raises is raised. `digest` is that of the bytes, where it is known.
    """
    home = cache_folder()
    if home is None or len(content) < SMALLEST:
        return read()
    folder = home / _folder_name(name, asked, digest or digest_of(content))
    source = _opened(folder)
    if source is None:
        source = read()
        # Without room or permission, or with names that are no text, there is no cache and nothing else is wrong.
        with contextlib.suppress(OSError, UnicodeEncodeError):
            _store(folder, source)
    return source


def is_stored(path: Path, asked: Asked) -> bool:
    """Return whether the cache has the columns of an annotation file, whose bytes are not read where it is empty."""
    home = cache_folder()
    if home is None or path.stat().st_size < SMALLEST or not home.is_dir() or not any(home.glob(f"*{_SUFFIX}")):
        return False
    try:
        with path.open("rb") as file:
            digest = _digest_of(iter(partial(file.read, _PIECE), b""))
    except OSError:
        return False
    return (home / _folder_name(path.name, asked, digest) / _MANIFEST).exists()


def _folder_name(name: str, asked: Asked, digest: str) -> str:
    seen = msgspec.json.encode((__version__, _readers(), name, asked, digest))
    return hashlib.sha256(seen).hexdigest() + _SUFFIX


@cache
def _readers() -> str:
    """Digest of the names, sizes and times of the modules that make columns: other readers may make others."""
    root = Path(__file__).resolve().parent
    modules = sorted([*root.rglob("*.py"), *(root.parent / "data").glob("*.py")])
    states = [(str(module.relative_to(root.parent)), module.stat()) for module in modules]
    seen = [(module, state.st_size, state.st_mtime_ns) for module, state in states]
    return hashlib.sha256(msgspec.json.encode(seen)).hexdigest()


def _opened(folder: Path) -> Annotations | None:
    """Return the columns of a folder as maps; None when there is none that can be trusted."""
    try:
        checksum, _, body = (folder / _MANIFEST).read_bytes().partition(b"\n")
        if checksum != _checksum(body):
            return None
        manifest = _manifest_of(body)
        digests = in_threads(_digest, [_place(folder, column) for column in manifest.columns])
        if manifest.key != folder.name or list(digests) != list(manifest.columns.values()):
            return None
        columns = {column: _mapped(_place(folder, column)) for column in manifest.columns}
        source = msgspec.json.decode(manifest.source, type=Annotations, dec_hook=lambda _type, name: columns[name])
    except (OSError, ValueError):
        return None
    with contextlib.suppress(OSError):
        os.utime(folder)
    first, *others = (columns[column] for column in _IDS if column in columns)
    ids = Texts(first, *others) if others else Numbers(first, manifest.id_texts)
    outlines = [columns[column] for column in _OUTLINES if column in columns]
    return replace(source, boxes=replace(source.boxes, ids=ids, polygons=Outlines(*outlines) if outlines else {}))


def _store(folder: Path, source: Annotations) -> None:
    """Write a folder, then delete what goes beyond the bound."""
    boxes, home = source.boxes, folder.parent
    arrays = {**_arrays(boxes), **_arrays(source)}
    names = {id(values): column for column, values in arrays.items()}

    def plain(value: Sequence[str]) -> str | list[str]:
        return names.get(id(value)) or list(value)

    columns = {**arrays, **_id_columns(boxes.ids), **_outline_columns(boxes.polygons)}
    if sum(values.nbytes for values in columns.values()) > MOST:
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    begun = Path(tempfile.mkdtemp(dir=home, suffix=_SUFFIX))
    try:
        for column, values in columns.items():
            with open(_place(begun, column), "wb", opener=_private) as file:
                np.save(file, values)
        own = replace(source, boxes=replace(boxes, ids=(), polygons={}))
        manifest = _Manifest(
            key=folder.name,
            columns={column: _digest(_place(begun, column)) for column in columns},
            id_texts=boxes.ids.texts if isinstance(boxes.ids, Numbers) else None,
            source=msgspec.Raw(msgspec.json.encode(own, enc_hook=plain)),
        )
        body = msgspec.json.encode(manifest)
        with open(begun / _MANIFEST, "wb", opener=_private) as file:
            file.write(_checksum(body) + b"\n" + body)
        shutil.rmtree(folder, ignore_errors=True)
        begun.rename(folder)
    finally:
        shutil.rmtree(begun, ignore_errors=True)
    _bound(home)


def _bound(home: Path) -> None:
    """Delete the folders that were not used for longest, until the rest has at most `MOST` bytes."""
    states = []
    for each in home.glob(f"*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            files = each.iterdir() if each.is_dir() else [each]
            states.append((each.stat().st_mtime_ns, sum(file.stat().st_size for file in files), each))
    room = MOST
    for _, size, each in sorted(states, reverse=True):
        room -= size
        if room < 0:
            with contextlib.suppress(OSError):
                shutil.rmtree(each) if each.is_dir() else each.unlink()


def _place(folder: Path, column: str) -> Path:
    return folder / f"{column}.npy"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _checksum(body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body)


def _digest(path: Path) -> tuple[int, int]:
    """Length and checksum of a file."""
    content = np.memmap(path, mode="r")
    return len(content), zlib.crc32(content.data)


def _mapped(path: Path) -> npt.NDArray[Any]:
    """Return the array of a file, read when it is looked at; `np.memmap` is slower in parts and when pickled."""
    values: npt.NDArray[Any] = np.load(path, mmap_mode="r")
    return values.view(np.ndarray)


def _arrays(owner: Annotations | Boxes) -> Columns:
    values = {field.name: getattr(owner, field.name) for field in fields(owner)}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def _id_columns(ids: Sequence[str]) -> Columns:
    """Return the ids of boxes as the columns of `Numbers` or `Texts`."""
    if isinstance(ids, Numbers):
        return {_IDS[0]: ids.values}
    texts = [text.encode() for text in ids]
    first = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return dict(zip(_IDS, (np.frombuffer(b"".join(texts), dtype=np.uint8), first), strict=True))


def _outline_columns(polygons: Mapping[int, Sequence[FloatArray]]) -> Columns:
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
