"""Results as files that people pass on: JSON, CSV, Markdown, and text for a terminal.

Writes `ResultTable` rows or plain values and never computes. Every output carries the signature. In text from data
control characters are escaped, spreadsheet formulas quoted, Markdown and terminal markup neutralised.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence

import msgspec

from evaluator.data.issues import plain
from evaluator.metrics.results import MINUS, ResultTable

# A cell that begins like this is run as a formula by spreadsheets.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# What would be read as markup, and nothing else, because people also read the text as it is: not the line in
# "ground_truth", nor the colon of a sentence or a time, but that of an address or an emoji. With ":" and "@" escaped,
# GitHub makes no link of a bare address either; "www." is handled apart.
_MARKDOWN_SPECIAL = re.compile(
    r"[\\`*\[\]<>#|~$@]|(?<![^\W_])_|_(?![^\W_])|&(?=[#\w])|:(?=\S)(?!(?<=\d:)\d)",
)

Cell = str | int | float | None


def in_form(
    values: Callable[[], object], tables: Callable[[], Sequence[ResultTable]], *, json: bool, markdown: bool
) -> str:
    """Return a result for standard output: its values as JSON, or its tables as Markdown or plain text."""
    if json:
        return to_json(values()) + "\n"
    return to_markdown(tables()) if markdown else to_text(tables())


def to_json(value: object) -> str:
    """Return plain values as indented JSON without a closing newline; undefined is None, never NaN."""
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:  # a file name that is not UTF-8
        encoded = msgspec.json.encode(_encodable(msgspec.to_builtins(value)))
    return msgspec.json.format(encoded, indent=2).decode()


def to_csv(tables: Sequence[ResultTable]) -> str:
    """Return tables as CSV: one header, a column for the predictions, the signature in each row.

    Floats with all their digits, undefined as an empty cell, LF line ends; only a header for no rows. Text that a
    spreadsheet would run as a formula begins with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for table in tables[:1]:
        writer.writerow(["predictions", *table.columns, "signature"])
    for table in tables:
        for row in table.rows:
            cells = [table.title, *row, table.signature]
            writer.writerow([_csv_cell(cell) for cell in cells])
    return out.getvalue()


def to_zip(files: Mapping[str, str]) -> bytes:
    """Return text files, by file name, in one zip archive: the same bytes for the same files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            # The date of the format's beginning: the time of the export is no part of the content.
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text.encode("utf-8", "backslashreplace"))
    return out.getvalue()


def to_markdown(tables: Sequence[ResultTable]) -> str:
    """Return tables as GitHub-flavoured Markdown, ratios with four decimals; labels cannot become markup."""
    parts = []
    for table in tables:
        head = "| " + " | ".join(table.columns) + " |"
        rule = "|" + "|".join(" --- " if _is_text(table, i) else " ---: " for i in range(len(table.columns))) + "|"
        body = ["| " + " | ".join(map(markdown_text, map(_shown, row))) + " |" for row in table.rows]
        title, signature = markdown_text(table.title), markdown_text(table.signature)
        parts.append("\n".join([f"**{title}**", "", signature, "", head, rule, *body]))
    return "\n\n".join(parts) + "\n"


def to_text(tables: Sequence[ResultTable], *, width: int | None = None) -> str:
    """Return tables for a terminal, without colour, at most `width` (or 240) columns wide."""
    from rich.console import Console  # here: the other forms do without
    from rich.table import Table
    from rich.text import Text

    out = io.StringIO()
    console = Console(file=out, width=width or 240, color_system=None, highlight=False, markup=False)
    for table in tables:
        grid = Table(title=Text(plain(table.title)), title_justify="left", caption=Text(plain(table.signature)))
        grid.caption_justify = "left"
        for index, name in enumerate(table.columns):
            grid.add_column(Text(name.replace("_", " ")), justify="left" if _is_text(table, index) else "right")
        for row in table.rows:
            grid.add_row(*(Text(plain(_shown(cell))) for cell in row))
        console.print(grid)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _encodable(value: object) -> object:
    """Return the value with surrogates in its text written as escapes, which UTF-8 can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    return [_encodable(inner) for inner in value] if isinstance(value, list | tuple) else value


def _is_text(table: ResultTable, column: int) -> bool:
    return any(isinstance(row[column], str) for row in table.rows)


def _shown(cell: Cell) -> str:
    """Return a cell as people read it: four decimals, thousands, a minus, n/a."""
    if cell is None:
        return "n/a"
    if isinstance(cell, str):
        return cell
    return (f"{cell:.4f}" if isinstance(cell, float) else f"{cell:,}").replace("-", MINUS)


def _csv_cell(cell: Cell) -> str:
    """Return a cell for a spreadsheet: full digits, empty for undefined, text that cannot run."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        text = plain(cell)
        return f"'{text}" if cell.lstrip(" ").startswith(_FORMULA_STARTS) else text
    return repr(cell)


def markdown_text(text: str) -> str:
    """Return text in which no character is markup."""
    escaped = _MARKDOWN_SPECIAL.sub(r"\\\g<0>", plain(text))
    return re.sub(r"(?i)(www)\.", r"\1\\.", escaped)
