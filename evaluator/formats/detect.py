"""Which format a file has, by its content, and what is said of a file that has none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

from evaluator.data.dataset import Side
from evaluator.data.issues import BadInput, Collector, Issue, examples, quote, refuse
from evaluator.formats import folder, json_text, limits
from evaluator.formats.base import KINDS, BoxFormat, Kind, Reading, UnknownFormat
from evaluator.formats.registry import FORMATS, AnyFormat, of_kind, suffixes

if TYPE_CHECKING:
    from evaluator.formats.unsupported import Unsupported

HEAD_BYTES = 1 << 22
"""How much of a file the detection looks at."""
# Where nearly every file states what it is; the rest is looked at only when this does not.
_FIRST_BYTES = 1 << 16
# An empty list has no sign of any format; as predictions it is the results of this one, by a model that found nothing.
_LISTS_RESULTS: Final = "coco"
_EMPTY_LIST: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\]\s*")
_JSON_SCHEMA: Final = (b'"$schema"', b"json-schema.org", b'"type"')
_OF_LINES: Final = (".jsonl", ".ndjson")
F = TypeVar("F", bound=AnyFormat)


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
    """Return the formats that match the first bytes, or else those that match the first `HEAD_BYTES`."""
    # Further on a file may hold anything. A JSON Schema has the keys of the format that it describes, and is none.
    if all(mark in content[:HEAD_BYTES] for mark in _JSON_SCHEMA):
        return []
    # The texts in a Parquet file may look like anything.
    parquet = content.startswith(b"PAR1")
    rows = [row for row in possible if not parquet or ".parquet" in row.suffixes]
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
    refuse_unknown(content, name)


def side_of(path: Path) -> Side | None:
    """Return the side that a file of boxes states; None without one, for an unknown format or no such file."""
    try:
        content = folder.load(path, limits.MAX_FILE_BYTES)
        return FORMATS[detect_bytes(content, path.name)].side_of(content, path.name)
    except BadInput:
        return None


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


def box_suffixes() -> list[str]:
    """Return the endings of files of boxes: JSON first, then XML, then by name."""
    endings = {suffix for row in of_kind("boxes").values() for suffix in row.suffixes}
    return sorted(endings, key=lambda suffix: (suffix != ".json", suffix != ".xml", suffix))


def allows_empty(reading: Reading) -> bool:
    """Return whether an empty list of results is allowed: predictions, or a side without scores."""
    return reading.side == "prediction" or (reading.side is None and reading.unscored)


def box_format(
    content: bytes, name: str, format: str | None, columns: str = "", *, may_be_empty: bool = False
) -> BoxFormat:  # fmt: skip
    """Return the format that was named, or else the detected one; with `columns` every table is one.

    An empty list is one of results where that `may_be_empty`.
    """
    formats = of_kind("boxes")
    if format is None and may_be_empty and _EMPTY_LIST.fullmatch(content):
        return formats[_LISTS_RESULTS]
    need_format(format, name)
    if format is None and columns and Path(name).suffix.lower() in (of_tables := formats["table"]).suffixes:
        return of_tables
    if format is None:
        return formats[detect_bytes(content, name)]
    _need_looks(formats[format], content, name, columns)
    return formats[format]


def need_format(format: str | None, name: str) -> None:
    """Refuse a name that is no format of boxes; pass None."""
    if format is None:
        return
    known = of_kind("boxes")
    if format not in known:
        refuse(name, "", f"the format must be one of {', '.join(known)}", quote(format), "Correct --format.")


def _need_looks(named: BoxFormat, content: bytes, name: str, columns: str) -> None:
    """Refuse bytes that look like another format than the named one, unless its reader finds a box in them."""
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
    if other := unsupported_format(content):
        _refuse(name, f"this is {other.title}, which is not read", "", other.instead)
    if not pages:
        fix = "Correct --format, or leave it out."
        refuse(name, "", f"{rule}; {named.title} has {named.looks_for}", "nothing of that", fix)


def unsupported_format(content: bytes) -> Unsupported | None:
    """Return the format that bytes are recognised as and that is not read."""
    # Its table takes 1 ms, and only files that are refused need it.
    from evaluator.formats import unsupported

    return unsupported.find(content[:HEAD_BYTES])


def refuse_unknown(content: bytes, name: str) -> NoReturn:
    """Raise `BadInput` for bytes that no format claims: what they are, or what is wrong with them."""
    if other := unsupported_format(content):
        _refuse(name, f"this is {other.title}, which is not read", "", other.instead)
    if _EMPTY_LIST.fullmatch(content):
        fix = (
            f"Give it as predictions of a model that found nothing, or name its format with --format {_LISTS_RESULTS}."
        )
        _refuse(name, "the content must be of a known format", "an empty list, which could be of several", fix)
    from evaluator.formats import table

    if table.looks_like_table(content[:HEAD_BYTES]):
        rule = "this is a table whose columns have no known names"
        fix = f"Write a row for each box, and say in the terminal which column holds what: {table.EXAMPLE}."
        _refuse(name, rule, ", ".join(map(quote, table.header_names(content, name)[:8])), fix)
    if Path(name).suffix.lower() in table.FORMAT.suffixes:
        header = table.text_rows(content, Collector(name, max_per_rule=None))[0]
        rule, fix = "the first line of a table must name its columns", "Write for example document,label,x1,y1,x2,y2."
        _refuse(name, rule, ", ".join(map(quote, header[:8])), fix)
    found = quote(content[:40].decode(errors="replace"))
    text = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text or text[:1] in b"{[/'\"" or content[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in content[:HEAD_BYTES]:
        lines = Path(name).suffix.lower() in _OF_LINES
        tree = json_text.parse(json_text.open_source(text.partition(b"\n")[0] if lines else content, name))
        of_list = isinstance(tree, list) and tree and isinstance(tree[0], dict)
        keys = tree[0] if of_list else tree  # type: ignore[index]
        if isinstance(keys, dict) and keys:
            kind = "a list of JSON objects" if of_list else "lines of JSON objects" if lines else "a JSON object"
            found = f"{kind} with {', '.join(map(quote, list(keys)[:6]))}"
    from evaluator.formats.unsupported import AS_TABLE

    fix = f"{AS_TABLE} Other formats that are: {', '.join(of_kind('boxes'))}."
    _refuse(name, "the content must be of a known format", found, fix)


def _refuse(name: str, rule: str, found: str, fix: str) -> NoReturn:
    issue = Issue(severity="error", file=name, place="", rule=rule, found=found, fix=fix)
    raise UnknownFormat([issue])
