"""Findings written as CSV, JSON and Parquet, and as a table.

Owns the columns; reading is in `findings_import`. All three forms hold every event with its target. In CSV, text that a
spreadsheet would run as a formula begins with an apostrophe, which reading removes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from evaluator.metrics.results import ResultTable
from evaluator.review.verdicts import Event, ReviewedTarget

FORMAT: Final = "layoutscope findings 1"
COLUMNS: Final = (
    "event", "target", "kind", "document", "page_index", "label", "mistake", "verdict", "note", "tags", "author",
    "verified", "time", "source", "snapshot", "owner", "due", "status",
)  # fmt: skip
# The apostrophe itself too, so that one that is taken off was put on by us.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "'")


def to_csv(events: Iterable[Event]) -> str:
    """Return every event as a row of CSV with LF line ends; only a header for no events.

    Columns `COLUMNS`; pages from 0, tags separated by commas, times in UTC, the target as JSON in ``snapshot``.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for event in events:
        row = _row(event)
        row["tags"] = ",".join(row["tags"])
        row["verified"] = "true" if row["verified"] else "false"
        writer.writerow([_csv_cell(row[name]) for name in COLUMNS])
    return out.getvalue()


def to_json(events: Iterable[Event]) -> str:
    """Return events as objects of JSON under ``events``, after ``format``; no closing newline."""
    rows = [{**_row(event), "snapshot": event.target} for event in events]
    return msgspec.json.format(msgspec.json.encode({"format": FORMAT, "events": rows}), indent=2).decode()


def to_parquet(events: Iterable[Event]) -> bytes:
    """Return every event as a row of Parquet: ``page_index`` int64, ``verified`` bool, ``tags`` a list."""
    rows = [_row(event) for event in events]
    types: dict[str, pa.DataType] = dict.fromkeys(COLUMNS, pa.string())
    types |= {"page_index": pa.int64(), "verified": pa.bool_(), "tags": pa.list_(pa.string())}
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    return parquet_of(columns, types, metadata={"layoutscope": FORMAT})


def parquet_of(
    columns: Mapping[str, Sequence[Any]], types: Mapping[str, pa.DataType], *, metadata: Mapping[str, str] | None = None
) -> bytes:
    """Return the columns of one length, each of its type, as the content of a Parquet file."""
    out = pa.BufferOutputStream()
    schema = pa.schema([(name, types[name]) for name in columns], metadata=metadata)
    parquet.write_table(pa.Table.from_pydict(columns, schema=schema), out)
    content: bytes = out.getvalue().to_pybytes()
    return content


def table(judged: Iterable[ReviewedTarget], *, title: str = "Findings", signature: str = "") -> ResultTable:
    """Return findings as one row per target, as reviewers hold them now.

    ``verdict`` is ``conflict`` where reviewers disagree, ``opinions`` gives the verdict by author; ``owner``, ``due``
    and ``status`` are empty where nobody gave one.
    """
    rows = []
    for finding in judged:
        target, opinions = finding.target, finding.opinions
        verdict = "conflict" if finding.conflict else finding.verdict
        opinions_text = "; ".join(f"{event.author}: {event.verdict or 'note'}" for event in opinions)
        notes = "\n".join(f"{event.author}: {event.note}" for event in opinions if event.note)
        place = (target.kind, target.document, target.page, target.label, target.mistake)
        task = finding.task
        assigned = (task.owner, task.due, task.status) if task else ("", "", "")
        said = (verdict, opinions_text, notes, ",".join(finding.tags))
        rows.append((*place, *said, finding.last.stamp, finding.target_id, *assigned))
    columns = (
        "kind", "document", "page_index", "label", "mistake", "verdict", "opinions", "notes", "tags", "time", "target",
        "owner", "due", "status",
    )  # fmt: skip
    return ResultTable(title=title, signature=signature, columns=columns, rows=tuple(rows))


def _row(event: Event) -> dict[str, Any]:
    cells = {**msgspec.structs.asdict(event.target), **msgspec.structs.asdict(event)} | {
        "event": event.id,
        "target": event.target_id,
        "page_index": event.target.page,
        "tags": list(event.tags),
        "time": event.stamp,
        "snapshot": msgspec.json.encode(event.target).decode(),
    }
    return {name: cells[name] for name in COLUMNS}


def _csv_cell(cell: object) -> str:
    """Return a cell of CSV: empty for nothing, text that cannot run."""
    text = "" if cell is None else str(cell)
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_STARTS) else text
