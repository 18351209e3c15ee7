"""Which files below some paths are annotations, and which of them are read as one `FileGroup`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final, NamedTuple

from evaluator import formats
from evaluator.data.issues import BadInput
from evaluator.formats import corpus, folder, limits
from evaluator.formats.base import BoxFormat, FileGroup, has_truth_name, in_company

_DEPTH: Final = 4
_MAX_FILES: Final = 20_000


class Search(NamedTuple):
    """What was recognised: groups in the order of their first files.

    `unknown`: of no format or side. `others`: of no format, with an ending that files of all kinds have, such as .txt.
    `beside`: below a folder that is read as a whole, whose reader does not take them.
    """

    groups: list[FileGroup]
    unknown: list[Path]
    others: list[Path]
    beside: list[Path]


def walk(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield up to 20,000 files given and up to four levels below folders given, by name; no hidden folders."""
    seen = 0
    for path in paths:
        if path.is_file():
            yield path
            continue
        for here, folders, names in os.walk(path):
            depth = len(Path(here).relative_to(path).parts)
            if corpus.LIST in names:
                folders.clear()
                yield Path(here) / corpus.LIST
                continue
            folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < _DEPTH else []
            for name in sorted(names):
                seen += 1
                if seen > _MAX_FILES:
                    return
                yield Path(here) / name


def file_groups(files: Iterable[Path], given: Sequence[Path] = ()) -> Search:
    """Return the groups that some files belong to; a file in `given`, named by the user, is its own group.

    Files without the ending of a format are passed over. One of no known format belongs to the folder it lies in when
    that is a group, whose reader judges it; the others, and files that should state their side and do not, are unknown.
    """
    endings = formats.suffixes()
    of_all_kinds = {suffix for row in formats.FORMATS.values() for suffix in row.of_all_kinds}
    members: dict[tuple[str, Path], list[tuple[Path, bytes]]] = {}
    recognised_files: list[tuple[formats.AnyFormat, Path, bytes]] = []
    looked_at: list[Path] = []
    others: list[Path] = []
    packed: list[FileGroup] = []
    pages = formats.of_kind("boxes")["markdown"]
    is_of_pages = cache(pages.reads_whole)
    for file in files:
        if file.name == corpus.LIST:
            packed += corpus.groups(file.parent)
            continue
        if file.suffix.lower() in pages.beside and is_of_pages(file.parent):
            packed += [pages.file_group(file.parent, ())] if file.parent not in {each.path for each in packed} else []
            continue
        if file.suffix.lower() not in endings:
            continue
        content = _content(file)
        format_ = formats.recognise(content, file.name)
        (looked_at if format_ or file.suffix.lower() not in of_all_kinds else others).append(file)
        if format_:
            recognised_files.append((format_, file, content))
    of_folder: dict[Path, set[BoxFormat]] = {}
    for format_, file, _ in recognised_files:
        if isinstance(format_, BoxFormat):
            of_folder.setdefault(file.parent, set()).add(format_)
    for row, file, content in recognised_files:
        if isinstance(row, BoxFormat):
            row = in_company(row, content, file.name, partial(of_folder.__getitem__, file.parent))  # noqa: PLW2901
        members.setdefault((row.name, row.group_path(file, given)), []).append((file, content))
    _gather_documents(members, given)
    _join_parts(members, given)
    recognised = [formats.FORMATS[name].file_group(path, parts) for (name, path), parts in members.items()]
    usable = [group for group in recognised if group.sides or not formats.FORMATS[group.format].states_side]
    within = {group.path for group in usable}
    used = {file for (_, path), parts in members.items() if path in within for file, _ in parts}
    unknown, others = (
        [file for file in part if file not in used and within.isdisjoint(file.parents)] for part in (looked_at, others)
    )
    # Where a format takes whole folders, its reader says what it leaves out.
    whole = [group for group in usable if group.path.is_dir() and formats.whole_path_format(group.path) is None]
    beside = [file for file in looked_at if file not in used and any(_passes_over(group, file) for group in whole)]
    return Search([*packed, *usable], unknown, others, beside)


def _passes_over(group: FileGroup, file: Path) -> bool:
    if group.path not in file.parents:
        return False
    row = formats.FORMATS[group.format]
    deeper = row.kind == "boxes" and file.parent != group.path
    return deeper or file.suffix.lower() not in row.suffixes


def _gather_documents(members: dict[tuple[str, Path], list[tuple[Path, bytes]]], given: Sequence[Path]) -> None:
    """Make one group of the files of a folder when each holds one document and nothing else lies there."""
    folders: dict[Path, list[tuple[str, Path]]] = {}
    for key, parts in members.items():
        for where in {file.parent for file, _ in parts}:
            folders.setdefault(where, []).append(key)
    for where, keys in folders.items():
        format_ = formats.of_kind("boxes").get(keys[0][0])
        files = [file for _, file in keys]
        alike = len(keys) > 1 and {name for name, _ in keys} == {keys[0][0]}
        alike = alike and not {*files} & {*given} and not any(map(has_truth_name, files))
        if format_ and format_.file_per_document and alike and formats.files_of(where) == files:
            members[keys[0][0], where] = [part for key in keys for part in members.pop(key)]


def _join_parts(members: dict[tuple[str, Path], list[tuple[Path, bytes]]], given: Sequence[Path]) -> None:
    for name in dict.fromkeys(name for name, _ in members):
        parts = {path: files for (of, path), files in members.items() if of == name}
        for path, whole in formats.FORMATS[name].merged_groups(parts, given).items():
            files = members.pop((name, path))
            members.setdefault((name, whole), []).extend(files)


def format_at(path: Path) -> formats.AnyFormat | None:
    """Return the format of the first file at or below a path that has one; None without."""
    if (pages := formats.of_kind("boxes")["markdown"]).reads_whole(path):
        return pages
    endings = formats.suffixes()
    files = (file for file in walk([path]) if file.suffix.lower() in endings)
    heads = ((folder.head(file, formats.HEAD_BYTES), file.name) for file in files)
    return next((row for content, name in heads if (row := formats.recognise(content, name))), None)


def _content(file: Path) -> bytes:
    try:
        return folder.load(file, limits.MAX_FILE_BYTES)
    except BadInput:
        return b""
