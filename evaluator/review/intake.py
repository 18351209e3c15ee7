"""Findings from files: CSV, JSON and Parquet, checked row by row.

Owns the checks on the way in; the columns are those of ``exchange``. Files come from strangers: all bad rows are told
at once, and then none is taken. An imported verdict is never verified, because a file can say anything.
"""

from __future__ import annotations

import csv
import io
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from evaluator.formats import json_text, limits
from evaluator.model.issues import BadInput, Collector, Issue, quote
from evaluator.review.exchange import COLUMNS, FORMULA_STARTS
from evaluator.review.verdicts import KINDS, VERDICTS, Event, Target, judge, target_problem

MOST_ROWS: Final = 1_000_000
_NEEDED: Final = ("verdict", "author", "time")
_ZONE: Final = re.compile(r"(Z|[+-][0-9:]{2,8})\Z")
_EVENT_ID: Final = re.compile(r"[A-Za-z0-9-]{1,64}\Z")
_TARGET_ID: Final = re.compile(r"[0-9a-f]{32}\Z")
# Events that a file does not name get the same name each time it is read.
_NAMES: Final = uuid.UUID("6f3c8e9e-3f8b-5a44-9d6b-0a6c1b1f7d42")


class Imported(NamedTuple):
    """What a file of findings holds.

    Attributes
    ----------
    events : tuple of Event
        In the order of the file; ``source`` names the file, nobody is verified.
    issues : tuple of Issue
        Warnings about what was left aside.
    """

    events: tuple[Event, ...]
    issues: tuple[Issue, ...]


def read(content: bytes, name: str, *, max_per_rule: int | None = 200) -> Imported:
    """The events of a file of findings; CSV, JSON and Parquet are told by content.

    Parameters
    ----------
    content : bytes
    name : str
        File name without folder, for findings and as the source of the events.
    max_per_rule : int or None
        How many findings of one rule are spelled out; None spells out all.

    Returns
    -------
    Imported

    Raises
    ------
    BadInput
        With all bad rows; none of the others is taken then.

    Notes
    -----
    A row needs ``verdict`` (may be empty), ``author``, ``time`` with a time zone, and what it is about: ``snapshot``,
    or for a page or document ``kind``, ``document`` and ``page_index``. A row without ``event`` gets an id that
    follows from its content, so that a file can be read twice and counts once.
    """
    found = Collector(name, max_per_rule=max_per_rule)
    events = [event for place, row in _rows(content, name, found) if (event := _event(place, row, name, found))]
    if found.failed:
        raise BadInput(found.issues())
    return Imported(tuple(events), found.issues())


def _from_csv_cell(text: str) -> str:
    """A cell of CSV without the apostrophe that keeps it from running."""
    quoted = text.startswith("'") and text[1:].lstrip(" ").startswith(FORMULA_STARTS)
    return text[1:] if quoted else text


def _rows(content: bytes, name: str, found: Collector) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a file by column, each with its place."""
    if content[:4] == b"PAR1":
        yield from _parquet_rows(content, found)
    elif content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        yield from _json_rows(content, name, found)
    else:
        yield from _csv_rows(content, name, found)


def _csv_rows(content: bytes, name: str, found: Collector) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of CSV, with comma or semicolon."""
    if not content.strip():
        found.error("", "a file of findings must not be empty", "nothing", "Export the findings again.")
        return
    # The same rules for bytes as in JSON: a size limit, UTF-8, no NUL.
    text = json_text.open_source(content, name).content.decode()
    # A snapshot of many boxes is longer than what the module allows by default.
    csv.field_size_limit(max(csv.field_size_limit(), 1 << 22))
    head = text.split("\n", 1)[0]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=";" if ";" in head and "," not in head else ",", strict=True
    )
    columns: list[str] = []
    start = 1
    try:
        for cells in reader:
            place, start = f"line {start}", reader.line_num + 1
            if not columns:
                columns = [cell.strip() for cell in cells]
                if not _known_columns(columns, place, found):
                    return
            elif len(cells) != len(columns):
                if any(cells):
                    rule = "a row must have as many cells as the header"
                    found.error(place, rule, f"{len(cells)} cells for {len(columns)} columns", "Correct the row.")
            else:
                yield place, dict(zip(columns, map(_from_csv_cell, cells), strict=True))
    except csv.Error as problem:
        found.error(
            f"line {reader.line_num}", "the text must be well-formed CSV (RFC 4180)", str(problem), "Correct it."
        )


def _json_rows(content: bytes, name: str, found: Collector) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The events of JSON: an object with ``events``, or the list alone."""
    tree = json_text.parse(json_text.open_source(content, name))
    place, rows = ("$.events", tree.get("events")) if isinstance(tree, dict) else ("$", tree)
    if not isinstance(rows, list):
        found.error(place, "findings must be a list", json_text.excerpt(rows), "Export the findings again.")
        return
    for position, row in enumerate(rows):
        here = f"{place}[{position}]"
        odd = next(json_text.oddities(row, here), None)
        if odd is not None:
            found.error(*odd)
        elif not isinstance(row, dict):
            found.error(here, "an event must be an object", json_text.excerpt(row), "Correct it.")
        elif _known_columns(list(row), here, found):
            yield here, row


def _parquet_rows(content: bytes, found: Collector) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of Parquet, after a look at how large they will be."""
    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        if file.metadata.num_rows > MOST_ROWS or size > limits.MAX_FILE_BYTES:
            rule = f"a file of findings may have {MOST_ROWS:,} rows and {limits.MAX_FILE_BYTES:,} bytes"
            found.error("", rule, f"{file.metadata.num_rows:,} rows, {size:,} bytes", "Split the file.")
            return
        columns = [name for name in file.schema_arrow.names if name in COLUMNS]
        if not _known_columns(file.schema_arrow.names, "", found):
            return
        rows = file.read(columns=columns).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as problem:
        found.error("", "the file must be readable as Parquet", str(problem)[:160].rstrip("."), "Export again.")
        return
    for position, row in enumerate(rows):
        yield f"row {position + 1}", row


def _known_columns(columns: Sequence[str], place: str, found: Collector) -> bool:
    """Whether the columns can be understood; what is not known is left aside with a warning."""
    missing = [name for name in _NEEDED if name not in columns]
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    if missing:
        found.error(place, "findings need verdict, author and time", f"no {', '.join(missing)}", "Add what is missing.")
    if repeated:
        found.error(place, "a column must not be repeated", ", ".join(map(quote, repeated)), "Keep one of them.")
    strange = [name for name in columns if name not in COLUMNS]
    if strange:
        names = ", ".join(map(quote, strange[:5]))
        found.warning(place, "a column must be known", names, "It is left aside; the others are read.")
    return not missing and not repeated


def _event(place: str, row: Mapping[str, Any], name: str, found: Collector) -> Event | None:
    """The event of a row; None when something is wrong with it, which is noted."""
    target = _target(place, row, found)
    time = _time(place, row, found)
    said = _said(place, row, found)
    ids = _ids(place, row, found)
    if target is None or time is None or said is None or ids is None:
        return None
    event_id, target_id = ids
    named = event_id or uuid.uuid5(_NAMES, msgspec.json.encode([target.id, time, said]).decode()).hex
    try:
        return judge(
            target,
            verdict=said["verdict"],
            note=said["note"],
            tags=said["tags"],
            author=said["author"],
            verified=False,
            time=time,
            target_id=target_id,
            event_id=named,
            source=name[:200],
        )
    except ValueError as problem:
        found.error(place, str(problem).rstrip("."), "", "Correct the row.")
        return None


def _ids(place: str, row: Mapping[str, Any], found: Collector) -> tuple[str | None, str | None] | None:
    """The ids of event and target where a row gives them."""
    good = True
    given: list[str | None] = []
    for column, pattern in (("event", _EVENT_ID), ("target", _TARGET_ID)):
        value = row.get(column) or None
        if value is not None and not (isinstance(value, str) and pattern.match(value)):
            found.error(
                _at(place, column), f"{column} must be an id as it was exported", quote(value), "Leave it empty."
            )
            good = False
        given.append(value if isinstance(value, str) else None)
    return (given[0], given[1]) if good else None


def _said(place: str, row: Mapping[str, Any], found: Collector) -> dict[str, Any] | None:
    """Verdict, note, tags and author of a row."""
    values: dict[str, Any] = {"verdict": row.get("verdict") or None, "note": row.get("note") or ""}
    tags = row.get("tags") or []
    values["tags"] = tags.split(",") if isinstance(tags, str) else tags
    values["author"] = row.get("author") or ""
    good = isinstance(values["tags"], list) and all(isinstance(tag, str) for tag in values["tags"])
    if not good:
        found.error(_at(place, "tags"), "tags must be text, separated by commas", quote(tags), "Correct them.")
    for column in ("note", "author"):
        if not isinstance(values[column], str):
            found.error(_at(place, column), f"{column} must be text", quote(values[column]), "Correct it.")
            good = False
    if isinstance(values["author"], str) and not values["author"].strip():
        found.error(_at(place, "author"), "a verdict needs an author", "nothing", "Write who said it.")
        good = False
    if values["verdict"] is not None and values["verdict"] not in VERDICTS:
        rule = f"the verdict must be one of {', '.join(VERDICTS)}, or empty"
        found.error(_at(place, "verdict"), rule, quote(values["verdict"]), "Correct it.")
        good = False
    return values if good else None


def _time(place: str, row: Mapping[str, Any], found: Collector) -> datetime | None:
    """The time of a row."""
    value = row.get("time")
    try:
        time = datetime.fromisoformat(value).astimezone(UTC) if isinstance(value, str) and _ZONE.search(value) else None
    except (ValueError, OverflowError):
        time = None
    if time is None:
        rule = "time must be ISO 8601 with a time zone, for instance 2026-01-31T12:00:00Z"
        found.error(_at(place, "time"), rule, quote(value), "Correct it.")
        return None
    return time


def _target(place: str, row: Mapping[str, Any], found: Collector) -> Target | None:
    """What a row is about."""
    snapshot = row.get("snapshot")
    try:
        if isinstance(snapshot, str) and snapshot:
            target = msgspec.json.decode(snapshot, type=Target)
        elif isinstance(snapshot, dict):
            target = msgspec.convert(snapshot, type=Target)
        else:
            return _named_target(place, row, found)
    except (msgspec.MsgspecError, UnicodeEncodeError) as problem:
        found.error(_at(place, "snapshot"), "snapshot must be as it was exported", str(problem)[:160], "Export again.")
        return None
    wrong = target_problem(target)
    if wrong:
        found.error(_at(place, "snapshot"), wrong, "", "Export the findings again.")
    return None if wrong else target


def _named_target(place: str, row: Mapping[str, Any], found: Collector) -> Target | None:
    """A page or document that is named by hand."""
    kind, document, page = row.get("kind"), row.get("document") or None, row.get("page_index")
    if kind not in ("page", "document") or not isinstance(document, str):
        rule = "a row without snapshot must name a page or a document"
        told = (
            f"kind {quote(kind)}"
            if kind not in KINDS
            else f"{kind} without {'document' if not document else 'snapshot'}"
        )
        found.error(place, rule, told, "Give kind, document and page_index, or the exported snapshot.")
        return None
    if kind == "document":
        return Target(kind="document", document=document)
    number = int(page) if isinstance(page, int) or (isinstance(page, str) and re.fullmatch(r"[0-9]{1,9}", page)) else -1
    if isinstance(page, bool) or not 0 <= number < 2**31:
        found.error(_at(place, "page_index"), "page_index must be a number from 0", quote(page), "Correct it.")
        return None
    return Target(kind="page", document=document, page=number)


def _at(place: str, column: str) -> str:
    """A cell of a row."""
    return f"{place}.{column}" if place.startswith("$") else f"{place}, {column}"
