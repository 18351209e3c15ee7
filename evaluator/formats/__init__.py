"""The table of formats by name, detection by content, and reading from a path or bytes.

A new format is one file with a `Format` and one line in the table; the order of the lines decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeVar, overload

import msgspec
import numpy as np

from evaluator.formats import folder, json_text, limits
from evaluator.formats.base import (
    KINDS,
    BoxFormat,
    Content,
    Format,
    Kind,
    Reading,
    Unit,
    UnknownFormat,
    read_boxes,
    warn_of_unknown,
)
from evaluator.formats.column_cache import digest_of, holds, kept
from evaluator.model.dataset import Annotations, Side
from evaluator.model.issues import BadInput, Collector, Issue, examples, quote, refuse
from evaluator.model.page_sizes import in_unit_of
from evaluator.model.polygons import polygon_issues
from evaluator.system.registry import Registry

if TYPE_CHECKING:
    from evaluator.formats import archive
    from evaluator.formats.known import Known

__all__ = [
    "FORMATS", "HEAD_BYTES", "KINDS", "AnyFormat", "BoxFormat", "Content", "Format", "Kind", "Reading", "Unit",
    "detect_bytes", "detect_file", "digest_of", "files_of", "format_of", "is_kept", "need_kind", "of_kind",
    "outline_issues", "pair_issues", "read", "read_bytes", "reads_whole", "recognise", "register", "registered",
    "resolve", "side_of", "suffixes",
]  # fmt: skip

HEAD_BYTES = 1 << 22
"""How much of a file the detection looks at."""
# Where nearly every file states what it is; the rest is looked at only when this does not.
_FIRST_BYTES = 1 << 16
# How far below a folder, and at how many files, is looked for those that are meant.
_FOLDER_DEPTH: Final = 4
_FILES_LOOKED_AT: Final = 500
# Endings of files of every kind, such as notes: read where nothing else is.
_ANY_TEXT: Final = (".txt", ".yaml", ".yml")
# Whose own rules are about the numbers of pages.
_STATES_FAR_PAGES: Final = "snapshot"
# An empty list has no sign of any format; as predictions it is the results of this one, by a model that found nothing.
_LISTS_RESULTS: Final = "coco"
_EMPTY_LIST: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\]\s*")
# What an archive without files consists of; a format that claims it reads archives itself.
_EMPTY_ARCHIVE = b"PK\x05\x06" + bytes(18)

AnyFormat = Format[Any]
"""A format of any kind; `of_kind` gives those of one kind with what they read."""
F = TypeVar("F", bound=AnyFormat)

_TABLE: Final[Mapping[str, str]] = {
    "snapshot": "evaluator.formats.snapshot",
    "pod": "evaluator.formats.pod",
    "coco": "evaluator.formats.coco",
    "cvat": "evaluator.formats.cvat",
    "page-xml": "evaluator.formats.page_xml",
    "alto": "evaluator.formats.alto",
    "voc": "evaluator.formats.voc",
    "label-studio": "evaluator.formats.label_studio",
    "omnidocbench": "evaluator.formats.omnidocbench",
    "yolo": "evaluator.formats.yolo",
    "docling": "evaluator.formats.docling",
    "mineru": "evaluator.formats.mineru",
    "paddle": "evaluator.formats.paddle",
    "marker": "evaluator.formats.marker",
    "azure": "evaluator.formats.azure",
    "textract": "evaluator.formats.textract",
    "documentai": "evaluator.formats.documentai",
    "unstructured": "evaluator.formats.unstructured",
    "supervision": "evaluator.formats.supervision",
    "table": "evaluator.formats.table",
    "fields": "evaluator.formats.fields",
    "posters": "evaluator.formats.posters",
}

FORMATS: Registry[AnyFormat] = Registry({name: f"{module}:FORMAT" for name, module in _TABLE.items()})
"""Every format by its name, of all kinds; imported when it is asked for."""


def register(format: AnyFormat) -> None:
    """Add a format to the table; ValueError when its name is taken."""
    if format.name in FORMATS:
        raise ValueError(f"there is a format {format.name} already")
    FORMATS[format.name] = format


@contextmanager
def registered(format: AnyFormat) -> Iterator[None]:
    """Keep a format in the table while this lasts."""
    register(format)
    try:
        yield
    finally:
        del FORMATS[format.name]


@overload
def of_kind(kind: Literal["boxes"]) -> Mapping[str, BoxFormat]: ...
@overload
def of_kind(kind: Kind) -> Mapping[str, AnyFormat]: ...
def of_kind(kind: Kind) -> Mapping[str, AnyFormat]:
    """Return the formats of one kind, by name."""
    return {name: row for name, row in FORMATS.items() if row.kind == kind}


def suffixes() -> frozenset[str]:
    """Return the endings of files that any format has."""
    return frozenset(suffix for row in FORMATS.values() for suffix in row.suffixes)


def recognise(content: bytes, name: str) -> AnyFormat | None:
    """Return the format, of any kind, that the beginning of a file looks like.

    A format does not claim a file with an ending that only others have. Where kinds compete, the most particular wins;
    None for no format, and for more than one of the same kind.
    """
    ending = Path(name).suffix.lower()
    of_others = ending in suffixes()
    possible = [row for row in FORMATS.values() if ending in row.suffixes or not of_others]
    for kind in KINDS:
        claims = _claims((row for row in possible if row.kind == kind), content, name)
        if claims:
            return claims[0] if len(claims) == 1 else None
    return None


def _claims(possible: Iterable[F], content: bytes, name: str) -> list[F]:
    """Return the formats that match the first bytes, or else those that match the first `HEAD_BYTES`.

    Further on a file may hold anything, text that looks like another format included.
    """
    rows = list(possible)
    first = [row for row in rows if row.detect(content[:_FIRST_BYTES], name)]
    return first or [row for row in rows if row.detect(content[:HEAD_BYTES], name)]


def _box_claims(content: bytes, name: str) -> list[BoxFormat]:
    return _claims(of_kind("boxes").values(), content, name)


def detect_bytes(content: bytes, name: str) -> str:
    """Return the name of the only format of boxes that fits; `BadInput` when none or more than one does."""
    return _only(_box_claims(content, name), content, name)


def detect_file(path: Path) -> str:
    """Return the name of a file's format of boxes, as `detect_bytes`; OSError when it cannot be opened."""
    with path.open("rb") as file:
        content = file.read(_FIRST_BYTES)
        claims = _box_claims(content, path.name)
        if not claims:
            content += file.read(HEAD_BYTES - len(content))
            claims = _box_claims(content, path.name)
    return _only(claims, content, path.name)


def _only(claims: Sequence[BoxFormat], content: bytes, name: str) -> str:
    """Return the name of the one format that claims some bytes; `BadInput` for none or several."""
    possible = [row.name for row in claims]
    if len(possible) == 1:
        return possible[0]
    if possible:
        rule = "the format must be clear from the content"
        names = " and ".join(f"{key} ({FORMATS[key].title})" for key in possible)
        refuse(name, "", rule, f"signs of {names}", f"Name one with --format {' or --format '.join(possible)}.")
    _refuse_unknown(content, name)


def side_of(path: Path) -> Side | None:
    """Return the side that a file of boxes states, without reading all of it.

    None for a file of no known format, one that cannot be opened, or one that does not state its side.
    """
    try:
        content = folder.load(path, limits.MAX_FILE_BYTES)
        return FORMATS[detect_bytes(content, path.name)].side_of(content, path.name)
    except BadInput:
        return None


def read(
    path: str | Path,
    *,
    format: str | None = None,
    side: Side | None = None,
    as_reference: bool = False,
    max_per_rule: int | None = 200,
    lenient: bool = False,
    columns: str = "",
    as_written: bool = False,
    unscored: bool = False,
) -> Annotations:
    """Return the boxes of a file, or of a folder whose files of one side are read as one.

    `format` is a key of `of_kind`; None detects it from the content. For the rest see `Reading`. For a folder,
    `Annotations.parts` has the files in the order of their names. Raises `BadInput` with all issues of all files.
    """
    reading = Reading(
        side=side, as_reference=as_reference, max_per_rule=max_per_rule, lenient=lenient, columns=columns,
        as_written=as_written, unscored=unscored,
    )  # fmt: skip
    path = Path(path)
    _need_format(format, path.name)
    if whole := reads_whole(path, format):
        return _with_far_pages(whole.read_path(path, reading))
    if path.suffix.lower() == ".zip" and not folder.is_folder(path):
        packed = _from_archive(folder.load(path, limits.MAX_FILE_BYTES), path.name, format, reading)
        if packed is not None:
            return _with_far_pages(packed)

    # In a folder an empty list is left out: the files beside it say nothing about it.
    may_be_empty = _may_be_empty(reading) and not folder.is_folder(path)

    def format_of(content: bytes, name: str) -> BoxFormat:
        return _box_format(content, name, format, columns, may_be_empty=may_be_empty)

    def read_file(content: bytes, name: str) -> Annotations:
        return kept(content, name, (format, reading), lambda: format_of(content, name).read(content, name, reading))

    try:
        source = read_boxes(path, reading, format_of, _box_suffixes(), read_file=read_file, known=_goes_along)
    except BadInput:
        if folder.is_folder(path):
            _name_known_files(path)
            _name_folders_below(path)
        raise
    if folder.is_folder(path):
        source = replace(source, issues=(*_left_out(path), *source.issues))
    return _with_far_pages(source)


def need_kind(files: Iterable[tuple[str, bytes]], kind: Kind) -> None:
    """Raise `BadInput` for files, by name and beginning, that only formats of other kinds recognise.

    Files that a format of this kind recognises, or that none does, pass: fields may have any key and a poster any text.
    One error for each format that was found instead.
    """
    from evaluator.formats import archive

    named = next(iter(of_kind(kind)))
    found: dict[str, list[str]] = {}
    for name, head in files:
        # Any archive may be of a format of boxes that reads archives; what it is instead is said where it is read.
        if archive.is_archive(head) or any(row.detect(head, name) for row in of_kind(kind).values()):
            continue
        others = (row for other in KINDS[1:] if other != kind for row in of_kind(other).values())
        claims: list[AnyFormat] = [*_box_claims(head, name), *(row for row in others if row.detect(head, name))]
        if claims:
            found.setdefault(claims[0].name, []).append(name)
    issues = []
    for format, names in found.items():
        row = FORMATS[format]
        rule = f"the file must hold {FORMATS[named].title}"
        several = f" in {examples(names)}" if len(names) > 1 else ""
        fix = f"Evaluate {'them' if len(names) > 1 else 'it'} under a protocol of {row.kind}."
        issues.append(
            Issue(severity="error", file=names[0], place="", rule=rule, found=f"{row.title}{several}", fix=fix)
        )
    if issues:
        raise BadInput(issues)


def is_kept(path: Path, reading: Reading) -> bool:
    """Return whether `read` would take the columns of a file from the cache on disk."""
    # As `read` hands it on: the format apart.
    return holds(path, (reading.format, msgspec.structs.replace(reading, format=None)))


def _name_known_files(path: Path) -> None:
    """Refuse a folder whose recognised files are all of formats that are not read."""
    named = [(file, head) for file in folder.listed(path) if _known(head := folder.head(file))]
    if named and not any(map(_is_known_file, folder.listed(path))):
        file, head = named[0]
        _refuse_unknown(head, f"{path.resolve().name}/{file.name}")


def _name_folders_below(path: Path) -> None:
    """Refuse a folder without files of a known format by naming those below it; pass when there are none."""
    known_files = (file for file in folder.below(path, _FOLDER_DEPTH, _FILES_LOOKED_AT) if _is_known_file(file))
    names = list(dict.fromkeys(file.parent.relative_to(path).as_posix() for file in known_files))
    if names and "." not in names:
        rule = "a folder must hold its annotation files itself"
        refuse(path.name, "", rule, f"none, and some in {examples(names)}", "Name the folder of the annotation files.")


def _left_out(path: Path) -> tuple[Issue, ...]:
    """Return warnings for what lies in a folder and is not read with it."""
    collector = Collector(path.resolve().name, max_per_rule=None)
    read, endings = set(files_of(path)), _box_suffixes()
    beside = [file for file in folder.listed(path) if file not in read and file.suffix.lower() in endings]
    texts = [file for file in beside if file.suffix.lower() in _ANY_TEXT]
    warn_of_unknown([file.name for file in beside if file not in texts], collector)
    if labels := [file.name for file in texts[:_FILES_LOOKED_AT] if _is_known_file(file)]:
        rule, fix = "text files that look like labels are left out", "Give them as a folder of their own."
        collector.warning("", rule, examples(labels), fix)
    folders = (entry for entry in sorted(path.iterdir()) if entry.is_dir() and not entry.name.startswith("."))
    inside = (file for each in folders for file in folder.below(each, _FOLDER_DEPTH - 1, _FILES_LOOKED_AT))
    below = [
        file.relative_to(path).as_posix() for file in islice(inside, 10 * _FILES_LOOKED_AT) if _is_known_file(file)
    ]
    if below:
        rule, fix = "only the files of a folder itself are read", "Move them into the folder if they belong to it."
        collector.warning("", rule, f"more below it: {examples(below)}", fix)
    return collector.issues()


def _is_known_file(path: Path) -> bool:
    if path.suffix.lower() not in _box_suffixes():
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
    return folder.files(path, _box_suffixes(), _goes_along)


def reads_whole(path: Path, format: str | None = None) -> BoxFormat | None:
    """Return the format of boxes that reads a path as a whole; None for a path that is read file by file."""
    rows = of_kind("boxes").items()
    return next((row for name, row in rows if format in (name, None) and row.takes(path)), None)


def read_bytes(
    content: bytes,
    name: str,
    *,
    format: str | None = None,
    side: Side | None = None,
    as_reference: bool = False,
    max_per_rule: int | None = 200,
    lenient: bool = False,
    columns: str = "",
    as_written: bool = False,
    unscored: bool = False,
    on_disk: str | None = None,
) -> Annotations:
    """Return the boxes of a file whose bytes are at hand, as `read`; issues call it by `name`.

    `on_disk` is the `digest_of` the bytes of a file on disk: the cache may keep its columns, and none of an upload.
    """
    name = name.replace("\\", "/").rsplit("/", 1)[-1]
    reading = Reading(
        side=side, as_reference=as_reference, max_per_rule=max_per_rule, lenient=lenient, columns=columns,
        as_written=as_written, unscored=unscored,
    )  # fmt: skip
    source = _from_archive(content, name, format, reading)
    if source is None:

        def read_content() -> Annotations:
            may_be_empty = _may_be_empty(reading)
            return _box_format(content, name, format, columns, may_be_empty=may_be_empty).read(content, name, reading)

        asked = format, reading
        source = kept(content, name, asked, read_content, digest=on_disk) if on_disk else read_content()
    return _with_far_pages(source)


def _with_far_pages(source: Annotations) -> Annotations:
    """Return the source with a warning for the first page that no document can have; not for snapshot."""
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


def format_of(source: Annotations) -> BoxFormat | None:
    """Return the format that some boxes were read from; None for boxes that were made."""
    return of_kind("boxes").get(source.format)


def outline_issues(source: Annotations) -> tuple[Issue, ...]:
    """Return warnings for outlines that cannot be used as they are; empty for files without outlines."""
    format_ = format_of(source)
    issues = Collector(source.name, max_per_rule=200)
    polygon_issues(source.boxes, issues, lambda row: format_.outline_place(source, row) if format_ else "")
    return issues.issues()


def resolve(prediction: Annotations, truth: Annotations, *, keep_unit: bool = False) -> Annotations:
    """Return a prediction with the pages, labels and unit of its ground truth; see `BoxFormat.resolve`.

    `keep_unit` leaves the numbers as they are, for a fix that states what they mean.
    """
    format_ = format_of(prediction)
    resolved = format_.resolve(prediction, truth) if format_ else prediction
    return resolved if keep_unit else in_unit_of(resolved, truth)


def pair_issues(truth: Content, prediction: Content, *, lenient: bool = False) -> tuple[Issue, ...]:
    """Return what is wrong or odd about two files together, by the rules of their format.

    Both were read without error; `lenient` makes what may be repaired a warning. Empty for two different formats.
    """
    format_ = FORMATS.get(truth.format)
    if format_ is None or truth.format != prediction.format:
        return ()
    return format_.pair_issues(truth, prediction, lenient=lenient)


def _from_archive(content: bytes, name: str, format: str | None, reading: Reading) -> Annotations | None:
    """Return the files of a zip archive as if they lay in a folder of its name.

    None for no archive and for one whose format reads archives itself. `BadInput` with all issues, and when no file is
    of a known format.
    """
    from evaluator.formats import archive

    if not archive.is_archive(content):
        return None
    collector = Collector(name, max_per_rule=reading.max_per_rule)
    beside = [suffix for each in of_kind("boxes").values() for suffix in each.beside]
    members = archive.read(content, collector, suffixes=[*_box_suffixes(), *beside])
    rows = [row for row in of_kind("boxes").values() if format in (row.name, None)]
    row = next((row for member in members for row in rows if _is_own(member, row)), None)
    if row is None:
        named = (member for member in members if _known(member.content))
        if (first := next(named, None)) is not None:
            _refuse_unknown(first.content, f"{name}/{first.name}")
        of_archives = [suffix for each in rows if each.detect(_EMPTY_ARCHIVE, name) for suffix in each.suffixes]
        if format is None and not any(member.name.lower().endswith(tuple(of_archives)) for member in members):
            _refuse_unknown(members[0].content, f"{name}/{members[0].name}")
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


def _is_other(member: archive.Member, row: BoxFormat) -> bool:
    """Return whether a file of an archive is sound and only goes along, as the mets.xml of an export."""
    if member.name.lower().endswith((*row.of_all_kinds, *row.beside)) or _is_own(member, row):
        return False
    content = member.content.removeprefix(b"\xef\xbb\xbf").strip()
    if content.startswith(b"<"):
        return True
    with suppress(msgspec.MsgspecError, RecursionError):
        return isinstance(msgspec.json.decode(content), dict)
    return False


def _box_suffixes() -> list[str]:
    """Return the endings of files of boxes: JSON first, then XML, then by name."""
    endings = {suffix for row in of_kind("boxes").values() for suffix in row.suffixes}
    return sorted(endings, key=lambda suffix: (suffix != ".json", suffix != ".xml", suffix))


def _may_be_empty(reading: Reading) -> bool:
    """Return whether an empty list of results is allowed: predictions, or a side without scores."""
    return reading.side == "prediction" or (reading.side is None and reading.unscored)


def _box_format(
    content: bytes, name: str, format: str | None, columns: str = "", *, may_be_empty: bool = False
) -> BoxFormat:  # fmt: skip
    """Return the format that was named, or else the detected one; with `columns` every table is one.

    An empty list is one of results where that `may_be_empty`.
    """
    formats = of_kind("boxes")
    if format is None and may_be_empty and _EMPTY_LIST.fullmatch(content):
        return formats[_LISTS_RESULTS]
    _need_format(format, name)
    if format is None and columns and Path(name).suffix.lower() in (of_tables := formats["table"]).suffixes:
        return of_tables
    if format is None:
        return formats[detect_bytes(content, name)]
    _need_looks(formats[format], content, name, columns)
    return formats[format]


def _need_format(format: str | None, name: str) -> None:
    if format is None:
        return
    known = of_kind("boxes")
    if format not in known:
        refuse(name, "", f"the format must be one of {', '.join(known)}", quote(format), "Correct --format.")


def _need_looks(named: BoxFormat, content: bytes, name: str, columns: str) -> None:
    """Refuse bytes that do not look like the named format, unless its reader finds a box in them.

    What they look like instead is said first, before the named reader's own issues.
    """
    claims = _box_claims(content, name)
    if columns or named in claims or (named.name == _LISTS_RESULTS and _EMPTY_LIST.fullmatch(content)):
        return
    pages = False
    try:
        source = named.read(content, name, Reading(as_written=True, unscored=True))
        if len(source.boxes):
            return
        pages = len(source.page_index) > 0
    except BadInput:
        pages = True  # its own sentence says what is wrong, when nothing else claims the file
    rule = "the file must be of the format that was named"
    if claims:
        found = f"{' or '.join(row.title for row in claims)}, not {named.title}"
        refuse(name, "", rule, found, f"Read it with --format {claims[0].name}, or leave --format out.")
    if other := _known(content):
        _refuse(name, f"this is {other.title}, which is not read", "", other.instead)
    if not pages:
        fix = "Correct --format, or leave it out."
        refuse(name, "", f"{rule}; {named.title} has {named.looks_for}", "nothing of that", fix)


def _known(content: bytes) -> Known | None:
    """Return the format that bytes are recognised as and that is not read."""
    # Its table takes 1 ms, and only files that are refused need it.
    from evaluator.formats import known

    return known.name_of(content[:HEAD_BYTES])


def _refuse_unknown(content: bytes, name: str) -> NoReturn:
    """Raise `BadInput` for bytes that no format claims: what they are, or what is wrong with them."""
    if other := _known(content):
        _refuse(name, f"this is {other.title}, which is not read", "", other.instead)
    if _EMPTY_LIST.fullmatch(content):
        fix = (
            f"Give it as predictions of a model that found nothing, or name its format with --format {_LISTS_RESULTS}."
        )
        _refuse(name, "the content must be of a known format", "an empty list, which could be of several", fix)
    from evaluator.formats import table

    if table.looks_like_table(content[:HEAD_BYTES]):
        rule = "this is a table whose columns have no known names"
        _refuse(name, rule, "", f"Say in the terminal which column holds what: {table.EXAMPLE}.")
    if Path(name).suffix.lower() in table.FORMAT.suffixes:
        header = table.text_rows(content, Collector(name, max_per_rule=None))[0]
        rule, fix = "the first line of a table must name its columns", "Write for example document,label,x1,y1,x2,y2."
        _refuse(name, rule, ", ".join(map(quote, header[:8])), fix)
    found = quote(content[:40].decode(errors="replace"))
    text = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text or text[:1] in b"{[/'\"" or content[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in content[:HEAD_BYTES]:
        tree = json_text.parse(json_text.open_source(content, name))
        of_list = isinstance(tree, list) and tree and isinstance(tree[0], dict)
        keys = tree[0] if of_list else tree  # type: ignore[index]
        if isinstance(keys, dict) and keys:
            kind = "a list of JSON objects" if of_list else "a JSON object"
            found = f"{kind} with {', '.join(map(quote, list(keys)[:6]))}"
    fix = f"Convert it to one of {', '.join(of_kind('boxes'))}."
    _refuse(name, "the content must be of a known format", found, fix)


def _refuse(name: str, rule: str, found: str, fix: str) -> NoReturn:
    issue = Issue(severity="error", file=name, place="", rule=rule, found=found, fix=fix)
    raise UnknownFormat([issue])
