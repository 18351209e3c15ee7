"""What a format is: an object that recognises and reads a file (docs/new-format.md makes one)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Generic, Literal, Protocol, TypedDict, TypeVar

import msgspec

from evaluator.data.dataset import Annotations, Level, Side
from evaluator.data.issues import BadInput, Collector, Issue, examples, has_errors
from evaluator.formats import folder, limits
from evaluator.formats.image_paths import is_truth_name

if TYPE_CHECKING:
    from evaluator.formats.writers import WriteResult

Kind = Literal["boxes", "fields", "posters"]
"""What the files of a format hold: `Annotations`, `FieldDocuments` or `Posters`."""

KINDS: Final[tuple[Kind, ...]] = ("boxes", "fields", "posters")
"""The most particular kind first: fields may have any key, and a poster is text of any kind."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader is asked for.

    Attributes
    ----------
    side : "ground_truth", "prediction" or None
        What the file is given as; None accepts either.
    as_reference : bool
        Accept predictions as ground truth; their scores are dropped, with a warning.
    lenient : bool
        Repair what the format allows to be repaired, each time with a warning.
    max_per_rule : int or None
        Issues of one rule that are spelled out; None for all.
    format : str or None
        Name of the format; None recognises it by the content.
    columns : str
        Columns of a table, as ``target=column,target=column``; empty for known names.
    as_written : bool
        Keep coordinates that break the rules of the format, for a fix or a diagnosis.
    unscored : bool
        Accept predictions without scores although the format requires them.
    level : "outer", "inner", "all" or None
        Which boxes are read of those that lie in others, as the file states; None for tables, figures and lists as a
        whole, and for what only groups others, such as a column, its parts.
    items : bool
        Read the order, text and cells of items besides, and items without a box.
    """

    side: Side | None = None
    as_reference: bool = False
    lenient: bool = False
    max_per_rule: int | None = 200
    format: str | None = None
    columns: str = ""
    as_written: bool = False
    unscored: bool = False
    level: Level | None = None
    items: bool = False


class ReadingOptions(TypedDict, total=False):
    """The fields of `Reading` but the format, as arguments of a call."""

    side: Side | None
    as_reference: bool
    lenient: bool
    max_per_rule: int | None
    columns: str
    as_written: bool
    unscored: bool
    level: Level | None
    items: bool


ANY_SIDE: Final = Reading()
"""A file as either side, without repairs."""


class Content(Protocol):
    """What was read, of any kind."""

    @property
    def name(self) -> str:
        """Name of the file or folder."""

    @property
    def sha256(self) -> str:
        """Digest of the bytes; of the digests of the files for a folder."""

    @property
    def format(self) -> str:
        """Name of the format."""

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Return what was odd about it."""


class FileGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder that is read as a whole, and what its content and names say of its side.

    Attributes
    ----------
    sides : frozenset of Side
        The sides stated by content or names; a folder can hold both. Empty when none is stated.
    unscored : bool
        No side is stated and no file has scores: the ground truth, if there is only one such unit.
    """

    path: Path
    format: str
    sides: frozenset[Side]
    unscored: bool = False


T = TypeVar("T", bound=Content)


class Format(ABC, Generic[T]):
    """One format of files. Subclasses set the class variables and are used as one instance each.

    Attributes
    ----------
    name : str
        The value of ``--format`` and of ``Content.format``.
    title, looks_for : str
        What the format is, and what `detect` looks for, in words for messages and help.
    suffixes : tuple of str
        Endings of its files; in a folder only these are looked at.
    of_all_kinds : tuple of str
        Endings that other files have too: one that is not recognised is no annotation file.
    states_side : bool
        Whether a file states its side; if so, one that does not is broken or belongs to the files beside it.
    holds_items : bool
        A file can have the order, text or cells of its items; see `Reading.items`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    looks_for: ClassVar[str]
    kind: ClassVar[Kind]
    suffixes: ClassVar[tuple[str, ...]] = (".json",)
    of_all_kinds: ClassVar[tuple[str, ...]] = ()
    states_side: ClassVar[bool] = True
    holds_items: ClassVar[bool] = False

    @abstractmethod
    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the beginning of a file, or all of it, looks like the format."""

    @abstractmethod
    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return the side that a file states, without reading it; None when it states none."""

    @abstractmethod
    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> T:
        """Return the content of a file from its bytes; `BadInput` with all issues, warnings included."""

    @abstractmethod
    def read_path(self, path: Path, reading: Reading = ANY_SIDE) -> T:
        """Return the content of a file, or of a folder as one side; `BadInput` with all issues of all files."""

    @abstractmethod
    def read_files(self, files: Sequence[tuple[str, bytes]], name: str, reading: Reading = ANY_SIDE) -> T:
        """Return the content of files given as bytes, as if they lay in a folder `name`; one as itself."""

    def pair_issues(self, truth: T, prediction: T, *, lenient: bool = False) -> tuple[Issue, ...]:
        """Return what is wrong or odd about two files together; empty where rules are about single files."""
        return ()

    def write(self, content: T) -> WriteResult | None:
        """Return the files of some content and what they cannot hold; None for formats that are read only."""
        return None

    def group_path(self, file: Path, given: Collection[Path]) -> Path:
        """Return what is read with this file: itself, or a folder above it; `given` was named by the user."""
        return file

    def merged_groups(
        self, groups: Mapping[Path, Sequence[tuple[Path, bytes]]], given: Collection[Path]
    ) -> dict[Path, Path]:
        """Return the folder that each group of `group_path` is a part of, by group; empty for most formats."""
        return {}

    def file_group(self, path: Path, files: Sequence[tuple[Path, bytes]]) -> FileGroup:
        """Return what the names and bytes of its files say of the side of a group."""
        sides = (self.side_of(content, file.name) for file, content in files)
        return FileGroup(path=path, format=self.name, sides=frozenset(side for side in sides if side is not None))


class BoxFormat(Format[Annotations]):
    """A format of files of boxes.

    Attributes
    ----------
    pages_apart : bool
        A file holds a page: in a folder, files of one document complete each other.
    file_per_document : bool
        A file holds one page or document, so that a folder of such files alone is one side.
    beside : tuple of str
        Endings of files read along with those of the format, which hold no boxes.
    empty_of : tuple of str
        Formats whose files without a box look like those of this one: beside others of theirs it is read as these.
    lower_case : bool
        Documents are named in lower case, so that the names of two files are compared without case.
    """

    kind = "boxes"
    empty_of: ClassVar[tuple[str, ...]] = ()
    lower_case: ClassVar[bool] = False
    beside: ClassVar[tuple[str, ...]] = ()
    pages_apart: ClassVar[bool] = False
    file_per_document: ClassVar[bool] = False

    def write(self, content: Annotations) -> WriteResult | None:
        """Return what the writer of this name makes; None without one, `BadInput` for what it cannot write."""
        # Only what writes a file needs them, which take 1 ms.
        from evaluator.formats.writers import WRITERS

        writer = WRITERS.get(self.name)
        return writer.convert(content) if writer else None

    def file_group(self, path: Path, files: Sequence[tuple[Path, bytes]]) -> FileGroup:
        """Return what the files state, else the ground truth by its name or by its lack of scores."""
        stated = super().file_group(path, files)
        if stated.sides or self.states_side:
            return stated
        sides: frozenset[Side] = frozenset(["ground_truth"] if has_truth_name(path) else [])
        return msgspec.structs.replace(stated, sides=sides, unscored=not sides)

    def place(self, source: Annotations, row: int) -> str:
        """Return where a box is in its file, a JSON path or a line; after the file's name for a folder."""
        name = source.source_of(row)[0]
        place = self.place_in_file(source, row)
        return place if name == source.name else f"{name}: {place}"

    def place_in_file(self, source: Annotations, row: int) -> str:
        """Return where a box is in the file that holds it; its id for formats that number their lines."""
        return source.boxes.ids[row]

    def outline_place(self, source: Annotations, row: int) -> str:
        """Return where the outline of a box is."""
        return self.place(source, row)

    def resolve(self, prediction: Annotations, truth: Annotations) -> Annotations:
        """Return a prediction with the pages and labels of its ground truth; as it is if its files have them.

        `BadInput` when the two do not belong together.
        """
        return prediction

    def repeated(self, names: Sequence[str]) -> Sequence[str]:
        """Return the files whose boxes another of the same folder has as well; none for most formats."""
        return ()

    def reads_whole(self, path: Path) -> bool:
        """Return whether `read_path` reads a file or folder as a whole; only for a few formats."""
        return False

    def read_path(self, path: Path, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file, or of a folder of files; see `Format.read_path`."""
        return read_boxes(path, reading, lambda _content, _name: self, self.suffixes)

    def read_files(self, files: Sequence[tuple[str, bytes]], name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of several files whose bytes are at hand; see `Format.read_files`."""
        return read_several(folder.in_memory(files), name, reading, lambda _content, _name: self)


FormatOf = Callable[[bytes, str], BoxFormat]
"""The format of a file by its bytes and name; raises `UnknownFormat`, or `BadInput` for what is broken."""


class UnknownFormat(BadInput):
    """Raised for a file that is sound, and of no format that is read."""


ReadFile = Callable[[bytes, str], Annotations]
"""The columns of a file by its bytes and name."""


def read_boxes(
    path: Path,
    reading: Reading,
    format_of: FormatOf,
    suffixes: Sequence[str],
    *,
    read_file: ReadFile | None = None,
    known: Callable[[Path], bool] = lambda _file: False,
) -> Annotations:
    """Return the columns of a file of boxes, or of a folder of files of one side.

    `suffixes` and `known` choose the files of a folder, see `folder.files`; `read_file` reads a single one in place of
    its format. A folder's columns are named like it, with the files in `Annotations.parts`, in the order of their
    names. `BadInput` with all issues of all files.
    """
    if folder.is_folder(path):
        return _merged(folder.on_disk(folder.files(path, suffixes, known)), path.resolve().name, reading, format_of)
    content = folder.load(path, limits.MAX_FILE_BYTES)
    if read_file is not None:
        return read_file(content, path.name)
    return format_of(content, path.name).read(content, path.name, reading)


def read_several(files: Sequence[folder.File], name: str, reading: Reading, format_of: FormatOf) -> Annotations:
    """Return several files of one side as one; a single one as itself."""
    if len(files) > 1:
        return _merged(files, name, reading, format_of)
    content = files[0].load(limits.MAX_FILE_BYTES)
    return format_of(content, files[0].name).read(content, files[0].name, reading)


def _merged(files: Sequence[folder.File], name: str, reading: Reading, format_of: FormatOf) -> Annotations:
    formats_of_others = cache(lambda: {row for file in files if (row := _format_of(file, format_of)) is not None})
    side_of_others = cache(lambda: next((side for file in files if (side := _side_of(file, format_of))), None))

    rows: dict[str, BoxFormat] = {}
    unknown: dict[str, UnknownFormat] = {}

    def read(content: bytes, file: str) -> Annotations | None:
        try:
            format_ = rows[file] = in_company(format_of(content, file), content, file, formats_of_others)
        except UnknownFormat as refused:
            unknown[file] = refused
            return None
        if reading.side or format_.side_of(content, file):
            return format_.read(content, file, reading)
        return format_.read(content, file, msgspec.structs.replace(reading, side=side_of_others()))

    every, issues = folder.read_parts(files, read)
    parts = [part for part in every if part is not None]
    if has_errors(issues):
        raise BadInput([*issues, *(issue for part in parts for issue in part.issues)])
    if not parts:
        raise next(iter(unknown.values()))
    collector = Collector(name, max_per_rule=None)
    warn_of_unknown(list(unknown), collector)
    if again := {file for row in {*rows.values()} for file in row.repeated(list(rows))}:
        rule = "files with the boxes of another file of their folder are left out"
        collector.warning("", rule, examples(sorted(again)), "Give one of them alone to have it read.")
        parts = [part for part in parts if part.name not in again]
    merged = folder.merge(name, parts, pages_apart={row.pages_apart for row in rows.values()} == {True})
    return replace(merged, issues=(*collector.issues(), *merged.issues))


def warn_of_unknown(names: Sequence[str], collector: Collector) -> None:
    """Warn of files of a folder that are left out because no format recognises them, if any."""
    if names:
        rule, fix = "files of no known format are left out", "Nothing to do if they hold no boxes."
        collector.warning("", rule, examples(names), fix)


def in_company(row: BoxFormat, content: bytes, name: str, others: Callable[[], Iterable[BoxFormat]]) -> BoxFormat:
    """Return the format of a file beside those of some formats, for one of which it may stand; see `empty_of`."""
    if not row.empty_of or row.side_of(content, name) is not None:
        return row
    return next((other for other in others() if other.name in row.empty_of), row)


def _format_of(file: folder.File, format_of: FormatOf) -> BoxFormat | None:
    try:
        return format_of(file.load(limits.MAX_FILE_BYTES), file.name)
    except BadInput:
        return None


def _side_of(file: folder.File, format_of: FormatOf) -> Side | None:
    try:
        content = file.load(limits.MAX_FILE_BYTES)
        return format_of(content, file.name).side_of(content, file.name)
    except BadInput:
        return None


def has_truth_name(path: Path) -> bool:
    """Return whether a folder or file has one of the usual names of a ground truth."""
    return is_truth_name(path.resolve().stem if path.is_file() else path.resolve().name)
