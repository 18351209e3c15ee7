"""Findings read from CSV, JSON and Parquet, checked row by row, and merged; the columns are those of `findings_export`.

All bad rows are listed at once, and then none is stored. An imported verdict is never verified: a file can say
anything.
"""

from __future__ import annotations

import csv
import io
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, get_type_hints

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from evaluator.data.issues import Collector, Issue, quote
from evaluator.formats import json_text, limits
from evaluator.formats.table import utf8_of
from evaluator.review.findings_export import COLUMNS, FORMULA_STARTS
from evaluator.review.verdicts import (
    KINDS,
    Event,
    ReviewedTarget,
    ReviewLog,
    Target,
    decode_target,
    event_problems,
    judge,
)
from evaluator.system.decoding import convert

MOST_ROWS: Final = 1_000_000
_NEEDED: Final = ("verdict", "author", "time")
_ZONE: Final = re.compile(r"(Z|[+-][0-9:]{2,8})\Z")
# Events that a file does not name get the same name each time it is read.
_NAMES: Final = uuid.UUID("6f3c8e9e-3f8b-5a44-9d6b-0a6c1b1f7d42")
_NOTHING: Final = Target(kind="document", document="")
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)

Row = Mapping[str, object]
"""Cells by column, of the types that the file has."""


class Imported(NamedTuple):
    """Events of a file in its order (``source`` is its name, nobody is verified), and warnings."""

    events: tuple[Event, ...]
    issues: tuple[Issue, ...]


def read(content: bytes, name: str, *, max_per_rule: int | None = 200) -> Imported:
    """Return the events of a file of findings; CSV, JSON and Parquet are recognised by content.

    A row needs ``verdict`` (may be empty), ``author``, ``time`` with a zone, and ``snapshot`` or, for a page or
    document, ``kind``, ``document`` and ``page_index``. Without ``event`` its id follows from its content, so that a
    file read twice counts once. `BadInput` with all bad rows; `max_per_rule` None spells out all of one rule.
    """
    collector = Collector(name, max_per_rule=max_per_rule)
    events = [event for place, row in _rows(content, name, collector) if (event := _event(place, row, name, collector))]
    collector.raise_if_failed()
    if not events:
        collector.warning(
            "", "a file of findings should hold events", "none", "Export the findings again, or leave the file out."
        )
    return Imported(tuple(events), collector.issues())


def _from_csv_cell(text: str) -> str:
    """Return a cell of CSV without the apostrophe that keeps it from running."""
    quoted = text.startswith("'") and text[1:].lstrip(" ").startswith(FORMULA_STARTS)
    return text[1:] if quoted else text


def _rows(content: bytes, name: str, collector: Collector) -> Iterator[tuple[str, Row]]:
    if content[:4] == b"PAR1":
        yield from _parquet_rows(content, collector)
    elif content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        yield from _json_rows(content, name, collector)
    else:
        yield from _csv_rows(content, collector)


def _csv_rows(content: bytes, collector: Collector) -> Iterator[tuple[str, Row]]:
    if not content.strip():
        collector.error("", "a file of findings must not be empty", "nothing", "Export the findings again.")
        return
    text = utf8_of(content, collector).decode()
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
                if not _known_columns(columns, place, collector):
                    return
            elif len(cells) != len(columns):
                if any(cells):
                    rule = "a row must have as many cells as the header"
                    collector.error(place, rule, f"{len(cells)} cells for {len(columns)} columns", "Correct the row.")
            else:
                yield place, dict(zip(columns, map(_from_csv_cell, cells), strict=True))
    except csv.Error as problem:
        collector.error(
            f"line {reader.line_num}", "the text must be well-formed CSV (RFC 4180)", str(problem), "Correct it."
        )


def _json_rows(content: bytes, name: str, collector: Collector) -> Iterator[tuple[str, Row]]:
    tree = json_text.parse(json_text.open_source(content, name))
    place, rows = ("$.events", tree.get("events")) if isinstance(tree, dict) else ("$", tree)
    if not isinstance(rows, list):
        collector.error(place, "findings must be a list", json_text.excerpt(rows), "Export the findings again.")
        return
    for position, row in enumerate(rows):
        here = f"{place}[{position}]"
        odd = next(json_text.oddities(row, here), None)
        if odd is not None:
            collector.error(*odd)
        elif not isinstance(row, dict):
            collector.error(here, "an event must be an object", json_text.excerpt(row), "Correct it.")
        elif _known_columns(list(row), here, collector):
            yield here, row


def _parquet_rows(content: bytes, collector: Collector) -> Iterator[tuple[str, Row]]:
    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        groups = [file.metadata.row_group(place) for place in range(file.metadata.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        if file.metadata.num_rows > MOST_ROWS or size > limits.MAX_FILE_BYTES:
            rule = f"a file of findings may have {MOST_ROWS:,} rows and {limits.MAX_FILE_BYTES:,} bytes"
            collector.error("", rule, f"{file.metadata.num_rows:,} rows, {size:,} bytes", "Split the file.")
            return
        columns = [name for name in file.schema_arrow.names if name in COLUMNS]
        if not _known_columns(file.schema_arrow.names, "", collector):
            return
        rows = file.read(columns=columns).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as problem:
        collector.error("", "the file must be readable as Parquet", str(problem)[:160].rstrip("."), "Export again.")
        return
    for position, row in enumerate(rows):
        yield f"row {position + 1}", row


def _known_columns(columns: Sequence[str], place: str, collector: Collector) -> bool:
    missing = [name for name in _NEEDED if name not in columns]
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    if missing:
        collector.error(
            place, "findings need verdict, author and time", f"no {', '.join(missing)}", "Add what is missing."
        )
    if repeated:
        collector.error(place, "a column must not be repeated", ", ".join(map(quote, repeated)), "Keep one of them.")
    strange = [name for name in columns if name not in COLUMNS]
    if strange:
        names = ", ".join(map(quote, strange[:5]))
        collector.warning(place, "a column must be known", names, "It is left aside; the others are read.")
    return not missing and not repeated


def _event(place: str, row: Row, name: str, collector: Collector) -> Event | None:
    cells = _typed(place, row, collector)
    if cells is None:
        return None
    target, time = _target(place, cells, collector), _time(place, cells.time, collector)
    content = [cells.verdict, cells.note, cells.tags, cells.author]
    # Only where they are there, so that a file of before keeps the ids of its rows.
    content += [part for part in (cells.owner, cells.due, cells.status) if part]
    event = judge(
        # Stands in where the row names none, so that everything that is wrong with the row is listed at once.
        target or _NOTHING,
        verdict=cells.verdict or None,
        note=cells.note or "",
        tags=cells.tags.split(",") if isinstance(cells.tags, str) else cells.tags or (),
        author=cells.author or "",
        verified=False,
        time=time or _NEVER,
        target_id=cells.target or None,
        event_id=cells.event
        or uuid.uuid5(_NAMES, msgspec.json.encode([target and target.id, time, *content]).decode()).hex,
        source=name[:200],
        owner=cells.owner or "",
        due=cells.due or "",
        status=cells.status or "",
        check=False,
    )
    problems = list(event_problems(event))
    for problem in problems:
        value = "" if problem.value is None else quote(problem.value) if problem.value != "" else "nothing"
        collector.error(_at(place, problem.column), problem.rule, value, problem.fix)
    return None if problems or target is None or time is None else event


class _Cells(msgspec.Struct):
    verdict: str | None = None
    note: str | None = None
    tags: str | list[str] | None = None
    author: str | None = None
    time: str | None = None
    event: str | None = None
    target: str | None = None
    kind: str | None = None
    document: str | None = None
    page_index: int | str | None = None
    snapshot: str | dict[str, object] | None = None
    owner: str | None = None
    due: str | None = None
    status: str | None = None


_TYPES: Final = get_type_hints(_Cells)


def _typed(place: str, row: Row, collector: Collector) -> _Cells | None:
    cells, good = _Cells(), True
    for column in _Cells.__struct_fields__:
        try:
            setattr(cells, column, convert(row.get(column), _TYPES[column]))
        except msgspec.ValidationError:
            rule = {"tags": "tags must be text, separated by commas"}.get(column, f"{column} must be text")
            collector.error(_at(place, column), rule, quote(row[column]), "Correct it.")
            good = False
    return cells if good else None


def _time(place: str, value: str | None, collector: Collector) -> datetime | None:
    try:
        time = datetime.fromisoformat(value).astimezone(UTC) if value and _ZONE.search(value) else None
    except (ValueError, OverflowError):
        time = None
    if time is None:
        rule = "time must be ISO 8601 with a time zone, for instance 2026-01-31T12:00:00Z"
        collector.error(_at(place, "time"), rule, quote(value), "Correct it.")
    return time


def _target(place: str, cells: _Cells, collector: Collector) -> Target | None:
    if not cells.snapshot:
        return _named_target(place, cells, collector)
    try:
        if isinstance(cells.snapshot, str):
            return decode_target(cells.snapshot)
        return convert(cells.snapshot, Target)
    except (msgspec.MsgspecError, UnicodeEncodeError) as problem:
        rule = "snapshot must be as it was exported"
        collector.error(_at(place, "snapshot"), rule, str(problem)[:160], "Export again.")
        return None


def _named_target(place: str, cells: _Cells, collector: Collector) -> Target | None:
    kind, document, page = cells.kind, cells.document, cells.page_index
    if kind not in ("page", "document") or not document:
        rule = "a row without snapshot must name a page or a document"
        named = f"{kind} without {'snapshot' if document else 'document'}" if kind in KINDS else f"kind {quote(kind)}"
        collector.error(place, rule, named, "Give kind, document and page_index, or the exported snapshot.")
        return None
    if kind == "document":
        return Target(kind="document", document=document)
    number = page if isinstance(page, int) else int(page) if page and re.fullmatch(r"[0-9]{1,9}", page) else -1
    if not 0 <= number < 2**31:
        collector.error(_at(place, "page_index"), "page_index must be a number from 0", quote(page), "Correct it.")
        return None
    return Target(kind="page", document=document, page=number)


def _at(place: str, column: str) -> str:
    return f"{place}.{column}" if place.startswith("$") else f"{place}, {column}"


class Merged(NamedTuple):
    """Events of several files or stores together.

    `events` has each once, by time; events of one source keep its order whatever their times. `conflicts`: the newest
    first. `repeated` counts events that were there more than once.
    """

    events: tuple[Event, ...]
    log: ReviewLog
    conflicts: tuple[ReviewedTarget, ...]
    repeated: int


def merge(*sources: Sequence[Event]) -> Merged:
    """Return the events of several sources, each once, and the conflicts, of which none is decided."""
    every = _interleaved(sources)
    log = ReviewLog.of(every)
    return Merged(log.events, log, tuple(log.conflicts), len(every) - len(log.events))


def _interleaved(sources: Sequence[Sequence[Event]]) -> list[Event]:
    """Return all events by time, where an event is no later than those that its own source kept after it."""
    timed: list[tuple[datetime, Event]] = []
    for events in sources:
        latest, rows = None, []
        for event in reversed(events):
            latest = event.time if latest is None else min(latest, event.time)
            rows.append((latest, event))
        timed += reversed(rows)
    # Stable: events of one time stay in the order of the sources.
    return [event for _, event in sorted(timed, key=lambda row: row[0])]
