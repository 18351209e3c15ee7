"""Boxes from a path or from bytes: a file, a folder whose files are read as one, or an archive."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

import msgspec
import numpy as np

from evaluator.data.dataset import Annotations, page_keys
from evaluator.data.issues import BadInput, Collector, Issue, examples, refuse
from evaluator.data.page_sizes import as_given
from evaluator.formats import corpus, folder, limits
from evaluator.formats.base import (
    BoxFormat,
    Reading,
    ReadingOptions,
    in_company,
    read_boxes,
    read_several,
    warn_of_unknown,
)
from evaluator.formats.column_cache import get_or_read, is_stored
from evaluator.formats.detect import (
    HEAD_BYTES,
    allows_empty,
    box_format,
    box_suffixes,
    detect_file,
    need_format,
    refuse_unknown,
    unsupported_format,
)
from evaluator.formats.image_paths import is_truth_name
from evaluator.formats.registry import of_kind, with_usable_outlines

if TYPE_CHECKING:
    from evaluator.formats import archive

# How far below a folder, and at how many files, is looked for those that are meant.
_FOLDER_DEPTH: Final = 4
_FILES_LOOKED_AT: Final = 500
# Of a folder of folders that is read as one side.
_MOST_IN_FOLDERS: Final = 20_000
# Endings of files of every kind, such as notes: read where nothing else is.
_ANY_TEXT: Final = (".txt", ".yaml", ".yml")
# Whose own rules are about the numbers of pages.
_STATES_FAR_PAGES: Final = "snapshot"
# Whose predictions of a model that found nothing are a list of nothing.
_LIST_BOXES: Final = ("coco", "supervision", "table")
# What an archive without files consists of; a format that claims it reads archives itself.
_EMPTY_ARCHIVE = b"PK\x05\x06" + bytes(18)


def read(path: str | Path, *, format: str | None = None, **options: Unpack[ReadingOptions]) -> Annotations:
    """Return the boxes of a file, or of a folder whose files of one side are read as one.

    `format` is a key of `of_kind`; None detects it from the content. `options` are those of `Reading`. For a folder,
    `Annotations.parts` has the files in the order of their names. Raises `BadInput` with all issues of all files.
    """
    reading = Reading(**options)
    path = Path(path)
    need_format(format, path.name)
    packed = corpus.read(path, msgspec.structs.replace(reading, format=format))
    if packed is not None:
        return packed
    if whole := whole_path_format(path, format):
        return _sound(whole.read_path(path, reading))
    if path.suffix.lower() == ".zip" and not folder.is_folder(path):
        packed = _from_archive(folder.load(path, limits.MAX_FILE_BYTES), path.name, format, reading)
        if packed is not None:
            return _sound(packed)

    # In a folder an empty list is left out: the files beside it say nothing about it.
    may_be_empty = allows_empty(reading) and not folder.is_folder(path)

    def format_of(content: bytes, name: str) -> BoxFormat:
        return box_format(content, name, format, reading.columns, may_be_empty=may_be_empty)

    def read_file(content: bytes, name: str) -> Annotations:
        return get_or_read(
            content, name, (format, reading), lambda: format_of(content, name).read(content, name, reading)
        )

    try:
        if below := _files_in_folders(path):
            return _sound(read_several(folder.on_disk(below, path), path.resolve().name, reading, format_of))
        source = read_boxes(path, reading, format_of, box_suffixes(), read_file=read_file, known=_goes_along)
    except BadInput:
        if folder.is_folder(path):
            _name_known_files(path)
            _name_folders_below(path)
        raise
    if folder.is_folder(path):
        source = replace(source, issues=(*_left_out(path), *source.issues))
    return _sound(source)


def is_cached(path: Path, reading: Reading) -> bool:
    """Return whether `read` would take the columns of a file from the cache on disk."""
    # As `read` hands it on: the format apart.
    return is_stored(path, (reading.format, msgspec.structs.replace(reading, format=None)))


def _files_in_folders(path: Path) -> list[Path]:
    """Return the files below a folder of folders of one format, a document in each; empty where it is not one side."""
    # Folders of models look the same, but name documents that the other side does not have.
    if not folder.is_folder(path) or any(map(_is_known_file, folder.list_files(path))):
        return []
    files = [file for file in folder.files_below(path, _FOLDER_DEPTH, _MOST_IN_FOLDERS) if _is_known_file(file)]
    names = {step for file in files for step in file.relative_to(path).parts[:-1]}
    rows = [of_kind("boxes")[name] for name in {*map(detect_file, files)}]
    return files if len(rows) == 1 and rows[0].file_per_document and not any(map(is_truth_name, names)) else []


def _name_known_files(path: Path) -> None:
    named = [(file, head) for file in folder.list_files(path) if unsupported_format(head := folder.head(file))]
    if named and not any(map(_is_known_file, folder.list_files(path))):
        file, head = named[0]
        refuse_unknown(head, f"{path.resolve().name}/{file.name}")


def _name_folders_below(path: Path) -> None:
    """Refuse a folder without files of a known format by naming those below it; pass when there are none."""
    known_files = (file for file in folder.files_below(path, _FOLDER_DEPTH, _FILES_LOOKED_AT) if _is_known_file(file))
    names = list(dict.fromkeys(file.parent.relative_to(path).as_posix() for file in known_files))
    if names and "." not in names:
        rule = "a folder must hold its annotation files itself"
        fix = "Name the folder of the annotation files, or a zip archive of all of them."
        refuse(path.name, "", rule, f"none, and some in {examples(names)}", fix)


def _left_out(path: Path) -> tuple[Issue, ...]:
    collector = Collector(path.resolve().name, max_per_rule=None)
    read, endings = set(files_of(path)), box_suffixes()
    beside = [file for file in folder.list_files(path) if file not in read and file.suffix.lower() in endings]
    texts = [file for file in beside if file.suffix.lower() in _ANY_TEXT]
    warn_of_unknown([file.name for file in beside if file not in texts], collector)
    if labels := [file.name for file in texts[:_FILES_LOOKED_AT] if _is_known_file(file)]:
        rule, fix = "text files that look like labels are left out", "Give them as a folder of their own."
        collector.warning("", rule, examples(labels), fix)
    folders = (entry for entry in sorted(path.iterdir()) if entry.is_dir() and not entry.name.startswith("."))
    inside = (file for each in folders for file in folder.files_below(each, _FOLDER_DEPTH - 1, _FILES_LOOKED_AT))
    below = [
        file.relative_to(path).as_posix() for file in islice(inside, 10 * _FILES_LOOKED_AT) if _is_known_file(file)
    ]
    if below:
        rule, fix = "only the files of a folder itself are read", "Move them into the folder if they belong to it."
        collector.warning("", rule, f"more below it: {examples(below)}", fix)
    return collector.issues()


def _is_known_file(path: Path) -> bool:
    if path.suffix.lower() not in box_suffixes():
        return False
    try:
        detect_file(path)
    except (BadInput, OSError):
        return False
    return True


def _goes_along(path: Path) -> bool:
    """Return whether a file of a folder is read with those of another ending; text files never are."""
    return path.suffix.lower() not in _ANY_TEXT and _is_known_file(path)


def files_of(path: Path) -> list[Path]:
    """Return the files that `read` takes from a folder, sorted by name; `BadInput` when there are none."""
    return folder.files(path, box_suffixes(), _goes_along)


def whole_path_format(path: Path, format: str | None = None) -> BoxFormat | None:
    """Return the format of boxes that reads a path as a whole; None for a path that is read file by file."""
    rows = of_kind("boxes").items()
    return next((row for name, row in rows if format in (name, None) and row.reads_whole(path)), None)


def read_bytes(
    content: bytes,
    name: str,
    *,
    format: str | None = None,
    on_disk: str | None = None,
    **options: Unpack[ReadingOptions],
) -> Annotations:
    """Return the boxes of a file whose bytes are at hand, as `read`; issues call it by `name`.

    `on_disk` is the `digest_of` the bytes of a file on disk: the cache may keep its columns, and none of an upload.
    """
    name = name.replace("\\", "/").rsplit("/", 1)[-1]
    reading = Reading(**options)
    source = _from_archive(content, name, format, reading)
    if source is None:

        def read_content() -> Annotations:
            row = box_format(content, name, format, reading.columns, may_be_empty=allows_empty(reading))
            return row.read(content, name, reading)

        asked = format, reading
        source = get_or_read(content, name, asked, read_content, digest=on_disk) if on_disk else read_content()
    return _sound(source)


def read_files(files: Sequence[tuple[str, bytes]], name: str, format: str, reading: Reading) -> Annotations:
    """Return the boxes of several files of a format whose bytes are at hand, as `read` of a folder of a name."""
    return _sound(of_kind("boxes")[format].read_files(files, name, reading))


def merged(name: str, parts: Sequence[Annotations]) -> Annotations:
    """Return files of one side, at least one, as one; `BadInput` when two have a document, or a page."""
    pages_apart = all(of_kind("boxes")[part.format].pages_apart for part in parts)
    return folder.merge(name, parts, pages_apart=pages_apart)


def _sound(source: Annotations) -> Annotations:
    """Return the source with a warning for the first page that no document can have; `BadInput` for one without any."""
    if not source.documents and not (source.side == "prediction" and source.format in _LIST_BOXES):
        title, looks_for = (getattr(of_kind("boxes")[source.format], key) for key in ("title", "looks_for"))
        fix = f"Check that it is the right file; {title} has {looks_for}."
        collector = Collector(source.name, max_per_rule=None)
        collector.error("", "a file must have a page or a box", "none", fix)
        raise BadInput([*source.issues, *collector.issues()])
    boxes = np.bincount(source.boxes.entry, minlength=1)
    if (most := int(boxes.max())) > limits.MAX_OBJECTS_PER_PAGE:
        document, index = page_keys(source)[int(boxes.argmax())]
        rule = f"a page may have {limits.MAX_OBJECTS_PER_PAGE:,} boxes"
        refuse(source.name, f"{document}, page {index + 1}", rule, f"{most:,}", "Split the page, or remove boxes.")
    source = as_given(with_usable_outlines(source))
    far = np.flatnonzero(source.page_index >= limits.MOST_PAGES)
    if source.format == _STATES_FAR_PAGES or not len(far):
        return source
    document, index = source.documents[source.page_document[far[0]]].doc_id, int(source.page_index[far[0]])
    issue = Issue(
        severity="warning",
        file=source.name,
        place=f"{document}, page {index + 1}",
        rule=f"a page should be one that a document can have; none has {limits.MOST_PAGES:,} pages",
        found=f"page {index + 1}",
        fix="Check how the pages are counted.",
    )
    return replace(source, issues=(*source.issues, issue))


def _from_archive(content: bytes, name: str, format: str | None, reading: Reading) -> Annotations | None:
    """Return the files of a zip archive as of a folder; None for no archive, and one that its format reads itself."""
    from evaluator.formats import archive

    if not archive.is_archive(content):
        return None
    collector = Collector(name, max_per_rule=reading.max_per_rule)
    beside = [suffix for each in of_kind("boxes").values() for suffix in each.beside]
    members = archive.read(content, collector, suffixes=[*box_suffixes(), *beside])
    rows = [row for row in of_kind("boxes").values() if format in (row.name, None)]
    claims = ((member, row) for member in members for row in rows if _is_own(member, row))
    first = next(claims, None)
    row = first and in_company(first[1], first[0].content, first[0].name, lambda: (row for _, row in claims))
    if row is None:
        named = (member for member in members if unsupported_format(member.content))
        if (known := next(named, None)) is not None:
            refuse_unknown(known.content, f"{name}/{known.name}")
        of_archives = [suffix for each in rows if each.detect(_EMPTY_ARCHIVE, name) for suffix in each.suffixes]
        if format is None and not any(member.name.lower().endswith(tuple(of_archives)) for member in members):
            refuse_unknown(members[0].content, f"{name}/{members[0].name}")
    if row is None or row.detect(_EMPTY_ARCHIVE, name):
        return None
    own = [member for member in members if member.name.lower().endswith((*row.suffixes, *row.beside))]
    if others := [member.name for member in own if _is_other(member, row)]:
        rule, fix = "files of another kind are left out", "Nothing to do if they hold no boxes."
        collector.warning("", rule, examples(others), fix)
    files = [(member.name, member.content) for member in own if member.name not in others]
    source = row.read_files(files, name, reading)
    return replace(source, issues=(*collector.issues(), *source.issues))


def _is_own(member: archive.Member, row: BoxFormat) -> bool:
    named = member.name.lower().endswith((*row.suffixes, *row.beside))
    return named and row.detect(member.content[:HEAD_BYTES], member.name)


def _may_be(member: archive.Member, row: BoxFormat) -> bool:
    """Return whether a file of an archive is of a format, or one without a box that looks like another."""
    others = (other for other in of_kind("boxes").values() if row.name in other.empty_of)
    claims = (each for each in (row, *others) if _is_own(member, each))
    return any(in_company(each, member.content, member.name, lambda: (row,)) is row for each in claims)


def _is_other(member: archive.Member, row: BoxFormat) -> bool:
    """Return whether a file of an archive is sound and only goes along, as the mets.xml of an export."""
    if member.name.lower().endswith((*row.of_all_kinds, *row.beside)) or _may_be(member, row):
        return False
    content = member.content.removeprefix(b"\xef\xbb\xbf").strip()
    if content.startswith(b"<"):
        return True
    with suppress(msgspec.MsgspecError, RecursionError):
        return isinstance(msgspec.json.decode(content), dict)
    return False
