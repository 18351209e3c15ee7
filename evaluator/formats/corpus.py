"""A corpus: a folder with the columns of a ground truth and of models, read like the files that it was made of.

``ground_truth/NAME`` and ``predictions/NAME`` are folders of columns, one for each side. A list names them with the
digests of their manifests; it is written last, and what it does not name is not there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final, TypeVar

import msgspec

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import examples, quote, refuse
from evaluator.formats import columns
from evaluator.formats.base import FileGroup, Reading
from evaluator.formats.columns import ColumnFolder
from evaluator.system.atomic_write import atomic_write
from evaluator.system.decoding import json_decoder

LIST: Final = "layoutscope-corpus.json"
"""The name of the file that lists the sides."""
FOLDERS: Final[Mapping[Side, str]] = {"ground_truth": "ground_truth", "prediction": "predictions"}
T = TypeVar("T")
_VERSION: Final = 1
# Steps from a side up to its corpus: of a name with folders, which tells files of one name apart.
_DEEPEST: Final = 8
_DAMAGED: Final = "the columns of a corpus must be as they were written"
_AGAIN: Final = "Make it again with layoutscope corpus."


class _Side(msgspec.Struct, frozen=True):
    """One side: what it is, the format it was read from, and the digest of its manifest."""

    side: Side
    format: str
    digest: str


class _List(msgspec.Struct, frozen=True):
    version: int = _VERSION
    sides: dict[str, _Side] = {}


_list_of: Final = json_decoder(_List)


def is_corpus(path: Path) -> bool:
    """Return whether a folder is a corpus that is whole; also of a path that no file can have."""
    return os.path.isfile(path / LIST)


def groups(path: Path) -> list[FileGroup]:
    """Return the sides of a corpus."""
    listed = _listed(path).sides.items()
    return [FileGroup(path=path / name, format=each.format, sides=frozenset([each.side])) for name, each in listed]


def read(path: Path, reading: Reading) -> Annotations | None:
    """Return a side of a corpus as it was read from its files; that of a corpus which has one of the side asked for.

    None for what is no corpus and no side of one. `BadInput` for one that is not whole, is damaged, or cannot be read
    as it is asked for.
    """
    place = side_at(path, reading.side)
    if place is None:
        return None
    try:
        source = ColumnFolder(place).checked().consistent().whole()
    except (OSError, ValueError) as problem:
        refuse(place.name, str(problem), _DAMAGED, "others", _AGAIN)
    _need_same(place.name, source, reading)
    return source


def side_at(path: Path, side: Side | None) -> Path | None:
    """Return the folder of a side: the path itself, or the only one of that side of a corpus; None as `read`."""
    if is_corpus(path):
        sides = [group.path for group in groups(path) if side is None or side in group.sides]
        if len(sides) != 1:
            names = examples([each.relative_to(path).as_posix() for each in sides]) if sides else "none"
            rule = f"a corpus is read as its only {(side or 'side').replace('_', ' ')}"
            refuse(path.resolve().name, "", rule, names, "Name one of them below the corpus, or add it.")
        path = sides[0]
    if not os.path.isfile(path / columns.MANIFEST):
        if os.path.isdir(path) and any(path.glob(f"{FOLDERS['ground_truth']}/*/{columns.MANIFEST}")):
            fix = "Run the same layoutscope corpus again, which goes on where it was."
            refuse(path.resolve().name, "", "a corpus must be whole", f"no {LIST}", fix)
        return None
    root = next((each for each in list(path.absolute().parents)[:_DEEPEST] if is_corpus(each)), None)
    name = "" if root is None else path.absolute().relative_to(root).as_posix()
    entry = None if root is None else _listed(root).sides.get(name)
    if entry is None:
        refuse(path.name, "", "a side must be one that its corpus lists", "one that is not there", _AGAIN)
    try:
        same = _digest(path) == entry.digest
    except OSError:
        same = False
    if not same:
        refuse(path.name, columns.MANIFEST, _DAMAGED, "others", _AGAIN)
    return path


def write_side(corpus: Path, side: Side, name: str, key: str, write: Callable[[Path], T]) -> T | None:
    """Return what writes the columns of a side that is not there yet into a folder; None for one that was there.

    `key` stands for what the side is made of; `BadInput` for another one of that name. It is not listed yet.
    """
    folder = corpus / FOLDERS[side] / name
    known = _key_of(folder)
    if known == key:
        return None
    if known is not None and is_corpus(corpus) and f"{FOLDERS[side]}/{name}" in _listed(corpus).sides:
        rule, fix = "a side of a corpus is made once", "Rename the file, or choose another --out."
        refuse(name, "", rule, f"another {name} in {corpus.resolve().name}", fix)
    for begun in folder.parent.glob(".*"):
        shutil.rmtree(begun, ignore_errors=True)
    return write(folder)


def read_pages(corpus: Path, side: Side, name: str) -> Annotations:
    """Return a side that was written, whether it is listed or not, without its boxes."""
    return ColumnFolder(corpus / FOLDERS[side] / name).checked().pages


def list_sides(corpus: Path, sides: Iterable[tuple[Side, str]]) -> None:
    """List sides that were written, which makes the corpus whole with them and with those that it has."""
    listed = dict(_listed(corpus).sides) if is_corpus(corpus) else {}
    for side, name in sides:
        folder = corpus / FOLDERS[side] / name
        listed[f"{FOLDERS[side]}/{name}"] = _Side(side, ColumnFolder(folder).pages.format, _digest(folder))
    atomic_write(corpus / LIST, [msgspec.json.format(msgspec.json.encode(_List(sides=listed))), b"\n"])


def _listed(corpus: Path) -> _List:
    try:
        listed = _list_of((corpus / LIST).read_bytes())
    except (OSError, ValueError) as problem:
        refuse(corpus.resolve().name, LIST, "the list of a corpus must be as it was written", str(problem), _AGAIN)
    for name in listed.sides:
        first, *others = PurePosixPath(name).parts
        if first not in FOLDERS.values() or not others or ".." in others:
            refuse(corpus.resolve().name, LIST, "the sides of a corpus must lie in it", quote(name), _AGAIN)
    if listed.version != _VERSION:
        refuse(corpus.resolve().name, LIST, f"a corpus must be of version {_VERSION}", str(listed.version), _AGAIN)
    return listed


def _key_of(folder: Path) -> str | None:
    try:
        return ColumnFolder(folder).manifest.key
    except (OSError, ValueError):
        return None


def _digest(folder: Path) -> str:
    return hashlib.sha256((folder / columns.MANIFEST).read_bytes()).hexdigest()


def _need_same(name: str, source: Annotations, reading: Reading) -> None:
    for key in ("side", "format", "level", "columns"):
        asked, made = getattr(reading, key), getattr(source, key)
        if asked and asked != made:
            rule, fix = "a side of a corpus is read as what it was made as", "Give the file itself."
            refuse(name, "", rule, f"{key} {quote(made)}, and {quote(asked)} is asked for", fix)
