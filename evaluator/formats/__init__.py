"""The table of annotation formats, and the way from a path or an upload to columns.

Owns `FORMATS`, the detection of a format from the content, and the reading of a file or a folder of files. Each
format has its own file; a new one is added by writing ``detect`` and ``read`` there and one row here. Nothing
here knows a format's rules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol

from evaluator.formats import coco, cvat, folder, json_text, limits, pod, snapshot
from evaluator.model.dataset import Annotations, Side
from evaluator.model.issues import BadInput, Collector, Issue, has_errors, quote
from evaluator.model.polygons import polygon_issues

HEAD_BYTES = 1 << 22
"""How much of a file the detection looks at."""
# Where nearly every file says what it is; the rest is looked at only when this does not.
_FIRST_BYTES = 1 << 16


class Reader(Protocol):
    """Bytes of one file to columns; raises `BadInput` with all issues."""

    def __call__(
        self,
        content: bytes,
        name: str,
        *,
        side: Side | None = None,
        as_reference: bool = False,
        max_per_rule: int | None = 200,
    ) -> Annotations:
        """Read one file."""
        ...


class Format(NamedTuple):
    """One row of the table of formats.

    Attributes
    ----------
    name : str
        Key of the row, the value of ``--format`` and of `Annotations.format`.
    description : str
        What it is, in words, for messages and help.
    looks_for : str
        What the detection looks for, in words.
    detect : callable
        Whether the first bytes of a file look like it.
    read : Reader
    side_of : callable
        What the bytes say they are, ground truth or prediction, without reading them; None when they do not say.
    read_leniently : Reader or None
        The same with the repairs that the format allows, each with a warning; None when it has none.
    """

    name: str
    description: str
    looks_for: str
    detect: Callable[[bytes], bool]
    read: Reader
    side_of: Callable[[bytes], Side | None]
    read_leniently: Reader | None = None


FORMATS: dict[str, Format] = {
    "snapshot": Format(
        name="snapshot",
        description="Document Snapshot Detection, schema 1.3 (JSON)",
        looks_for="two of the keys label_map, coordinate_system, documents, predictions, page_index",
        detect=snapshot.detect,
        read=snapshot.read,
        side_of=snapshot.side_of,
    ),
    "pod": Format(
        name="pod",
        description="ICDAR 2017 page object detection (XML, or a zip archive of it)",
        looks_for="a <document> element or a zip archive",
        detect=pod.detect,
        read=pod.read,
        side_of=pod.side_of,
        read_leniently=pod.read_leniently,
    ),
    "coco": Format(
        name="coco",
        description="COCO instances or results (JSON)",
        looks_for="two of the keys image_id, category_id, images, file_name, annotations, categories, iscrowd",
        detect=coco.detect,
        read=coco.read,
        side_of=coco.side_of,
    ),
    "cvat": Format(
        name="cvat",
        description="CVAT for images 1.1 (XML)",
        looks_for="an <annotations> element with an <image>",
        detect=cvat.detect,
        read=cvat.read,
        side_of=cvat.side_of,
    ),
}


def detect(path: str | Path) -> str:
    """Key of the format of a file, or of the first file of a folder, from its content.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    str
        A key of `FORMATS`.

    Raises
    ------
    BadInput
        The path cannot be read, no format fits, or more than one does.
    """
    path = Path(path)
    file = folder.files(path)[0] if folder.is_folder(path) else path
    return detect_bytes(folder.load(file, limits.MAX_FILE_BYTES), file.name)


def side_of(path: Path) -> Side | None:
    """What a file says it is, ground truth or prediction, without reading it.

    Parameters
    ----------
    path : Path
        A file.

    Returns
    -------
    "ground_truth", "prediction" or None
        None for a file of no known format, one that cannot be opened, or one that does not say.
    """
    try:
        content = folder.load(path, limits.MAX_FILE_BYTES)
        return FORMATS[detect_bytes(content, path.name)].side_of(content)
    except BadInput:
        return None


def detect_bytes(content: bytes, name: str) -> str:
    """Key of the format of some bytes; see `detect`."""
    possible: list[str] = []
    for size in (_FIRST_BYTES, HEAD_BYTES):
        head = content[:size]
        possible = possible or [key for key, row in FORMATS.items() if row.detect(head)]
    if len(possible) == 1:
        return possible[0]
    if possible:
        rule = "the format must be clear from the content"
        names = " and ".join(f"{key} ({FORMATS[key].description})" for key in possible)
        _refuse(name, rule, f"signs of {names}", f"Name one with --format {' or --format '.join(possible)}.")
    _refuse_unknown(content, name)


def read(
    path: str | Path,
    *,
    format: str | None = None,
    side: Side | None = None,
    as_reference: bool = False,
    max_per_rule: int | None = 200,
    lenient: bool = False,
) -> Annotations:
    """The columns of an annotation file, or of a folder of files of one side read as one.

    Parameters
    ----------
    path : str or Path
    format : str or None
        A key of `FORMATS`; None detects it from the content.
    side : "ground_truth", "prediction" or None
        What the file is given as; None accepts either.
    as_reference : bool
        Accept predictions as ground truth; their scores are dropped and a warning says so.
    max_per_rule : int or None
        How many issues of one rule are spelled out; None spells out all.
    lenient : bool
        Let the reader repair what its format allows to be repaired; each repair is a warning.

    Returns
    -------
    Annotations
        For a folder: named like it, with the files in `Annotations.parts`, in the order of their names.

    Raises
    ------
    BadInput
        With all issues of all files.
    """
    path = Path(path)
    files = folder.files(path) if folder.is_folder(path) else [path]
    parts: list[Annotations] = []
    issues: list[Issue] = []
    room = limits.MAX_FILE_BYTES
    # Asked for once, and only when a file does not say its side.
    side_of_others = cache(lambda: next((told for file in files if (told := side_of(file))), None))
    for file in files:
        try:
            content = folder.load(file, room)
            room -= len(content)
            parts.append(
                read_bytes(
                    content,
                    file.name,
                    format=format,
                    side=side if side or _says_its_side(content) else side_of_others(),
                    as_reference=as_reference,
                    max_per_rule=max_per_rule,
                    lenient=lenient,
                )
            )
        except BadInput as bad:
            issues += bad.issues
    if has_errors(issues):
        raise BadInput([*issues, *(issue for part in parts for issue in part.issues)])
    return folder.merge(path.resolve().name, parts) if folder.is_folder(path) else parts[0]


def outline_issues(source: Annotations) -> tuple[Issue, ...]:
    """Warnings for the outlines of a file that cannot be used as they stand.

    Parameters
    ----------
    source : Annotations
        As read; a COCO results list before it is resolved.

    Returns
    -------
    tuple of Issue
        Empty for files without outlines.
    """
    found = Collector(source.name, max_per_rule=200)
    polygon_issues(source.boxes, found, lambda row: _outline_place(source, row))
    return found.issues()


def _outline_place(source: Annotations, row: int) -> str:
    """Where the outline of a box stands."""
    name, _, position = source.source_of(row)
    place = source.boxes.ids[row]
    if source.format == "coco":
        place = f"{'$' if coco.is_unresolved(source) else '$.annotations'}[{position}].segmentation"
    return place if name == source.name else f"{name}: {place}"


def read_bytes(
    content: bytes,
    name: str,
    *,
    format: str | None = None,
    side: Side | None = None,
    as_reference: bool = False,
    max_per_rule: int | None = 200,
    lenient: bool = False,
) -> Annotations:
    """The columns of an annotation file whose bytes are at hand; parameters as in `read`.

    Parameters
    ----------
    content : bytes
    name : str
        File name for the issues; folders in it are left out.

    Returns
    -------
    Annotations

    Raises
    ------
    BadInput
        With all issues of the file.
    """
    name = name.replace("\\", "/").rsplit("/", 1)[-1]
    if format is not None and format not in FORMATS:
        _refuse(name, f"the format must be one of {', '.join(FORMATS)}", quote(format), "Correct --format.")
    key = format or detect_bytes(content, name)
    row = FORMATS[key]
    reader = row.read_leniently if lenient and row.read_leniently else row.read
    return reader(content, name, side=side, as_reference=as_reference, max_per_rule=max_per_rule)


def _says_its_side(content: bytes) -> bool:
    """Whether a file says what it is, ground truth or prediction; a page without boxes may not."""
    return any(row.detect(content[:HEAD_BYTES]) and row.side_of(content) for row in FORMATS.values())


def _refuse_unknown(content: bytes, name: str) -> NoReturn:
    """Say what is wrong with bytes that no format claims: first as JSON, then as an annotation file."""
    text = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text or text[:1] in b"{[/'\"" or content[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in content[:HEAD_BYTES]:
        json_text.parse(json_text.open_source(content, name))
    looked = "; ".join(f"{row.looks_for} ({row.description})" for row in FORMATS.values())
    _refuse(name, f"the content must be of a known format; looked for {looked}", quote(_head(content)), "Convert it.")


def _head(content: bytes) -> str:
    return content[:40].decode("utf-8", errors="replace")


def _refuse(name: str, rule: str, found: str, fix: str) -> NoReturn:
    raise BadInput([Issue(severity="error", file=name, place="", rule=rule, found=found, fix=fix)])
