"""A table beside the files with attributes of pages or documents, as CSV.

Column ``document`` names the document; ``page`` or ``page_index`` (from 0) or ``page_no`` (from 1) the page, without
which a row is about the whole document. Every other column is an attribute; numbers are numbers when all of a column
are. Two rows of one page or document must not contradict each other.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from evaluator.analysis.slices.attributes import PageValues, Value
from evaluator.analysis.slices.slices import plain_numbers
from evaluator.data.issues import Collector, Issue, count_of, examples, quote, refuse
from evaluator.formats import folder

_DOCUMENT: Final = ("document", "doc", "doc_id", "doc_name")
_PAGE: Final = {"page": 0, "page_index": 0, "page_no": 1}
NAMING: Final = (*_DOCUMENT, *_PAGE)
"""Columns that say what a row is about."""
_MOST_BYTES: Final = 256 << 20


Key = tuple[str, int | None]
"""A document, and a page of it from 0; None for the document itself."""


class PageTable(NamedTuple):
    """The columns by name, the cells of each row by its number, from 2, and what a row is about."""

    names: dict[str, int]
    body: dict[int, list[str]]
    keys: dict[int, Key]

    def cell(self, number: int, name: str) -> str:
        """Return a cell without blanks around it; "" where the table has no such column."""
        return self.body[number][self.names[name]].strip() if name in self.names else ""


def read_page_table(
    path: Path, documents: Sequence[str], pages: Callable[[], Collection[tuple[str, int]]]
) -> tuple[PageValues, tuple[Issue, ...]]:
    """Return the attributes in a table, and warnings about unknown documents and pages.

    `path`: CSV in UTF-8 with a row of names; empty cells are left out. `documents`: ids of the dataset, one of which
    must be named. `pages` gives its (document, page from 0), called when a row is about a page. BadInput has every row
    that cannot be understood or contradicts another.
    """
    collector = Collector(path.name, max_per_rule=20)
    names, body, keys = read_rows(path, documents, pages, collector)
    of_pages: dict[Key, dict[str, Value]] = {}
    said: dict[tuple[Key, str], int] = {}
    for name, place in names.items():
        if name in NAMING or not name:
            continue
        values = plain_numbers([row[place] for row in body.values()])
        for (number, key), value in zip(keys.items(), values, strict=True):
            if value is None:
                continue
            before = of_pages.setdefault(key, {}).setdefault(name, value)
            first = said.setdefault((key, name), number)
            if before != value:
                found = f"{quote(before)} in row {first}, {quote(value)} in row {number}"
                rule = "rows of the same page or document must have the same value in a column"
                collector.error(f"rows {first} and {number}, {name}", rule, found, "Keep the row that is right.")
    collector.raise_if_failed()
    return of_pages, collector.issues()


def read_rows(
    path: Path, documents: Sequence[str], pages: Callable[[], Collection[tuple[str, int]]], collector: Collector
) -> PageTable:
    """Return the rows of a table with what each is about; parameters and BadInput as `read_page_table`."""
    written_names, body = _rows(path)
    names = {name: place for place, name in enumerate(written_names)}
    at_document = next((names[name] for name in _DOCUMENT if name in names), None)
    if at_document is None:
        refuse(path.name, "row 1", "a table must have a column document", ", ".join(names)[:80] or "nothing",
               "Name the column with the ids of the documents.")  # fmt: skip
    twice = [name for name, times in Counter(written_names).items() if name and times > 1]
    if twice:
        refuse(path.name, "row 1", "a table must name each column once", examples(twice),
               "Rename or remove the others.")  # fmt: skip
    page_column = next((name for name in _PAGE if name in names), None)
    keys: dict[int, Key] = {}
    known = set(documents)
    by_stem = {name.rsplit(".", 1)[0]: name for name in documents}
    for number, row in body.items():
        if len(row) != len(written_names):
            rule = f"a row must have {len(written_names)} cells"
            collector.error(f"row {number}", rule, str(len(row)), "Quote commas.")
            continue
        written = row[at_document].strip()
        document = written if written in known else by_stem.get(written, written)
        page: int | None = None
        if page_column is not None and (cell := row[names[page_column]].strip()):
            if not cell.isdecimal() or len(cell) > 9 or int(cell) < _PAGE[page_column]:
                rule = f"{page_column} must be a whole number from {_PAGE[page_column]}"
                collector.error(f"row {number}", rule, cell[:80], "Write the number of the page.")
                continue
            page = int(cell) - _PAGE[page_column]
        keys[number] = (document, page)
    collector.raise_if_failed()
    named = {document for document, _ in keys.values()}
    if named and not named & known:
        refuse(path.name, "", "a table must name documents of the ground truth", examples(sorted(named)),
               f"Write them like {examples(sorted(known))}.")  # fmt: skip
    _note_unknown(collector, keys, known, pages)
    return PageTable(names, body, keys)


def _rows(path: Path) -> tuple[list[str], dict[int, list[str]]]:
    if path.is_file() and path.stat().st_size > _MOST_BYTES:
        refuse(path.name, "", "a table must be at most 256 MB", f"{path.stat().st_size:,} bytes", "Leave columns out.")
    content = folder.load(path, _MOST_BYTES)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        refuse(path.name, "", "a table must be UTF-8", "other bytes", "Save it as UTF-8.")
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        names = [name.strip() for name in next(rows, [])]
        return names, {number: row for number, row in enumerate(rows, 2) if row}
    except csv.Error as problem:
        refuse(path.name, "", "a table must be CSV", str(problem), "Save it as CSV with commas.")


def _note_unknown(
    collector: Collector,
    keys: Mapping[int, Key],
    known: Collection[str],
    pages: Callable[[], Collection[tuple[str, int]]],
) -> None:
    strange = [document for document, _ in keys.values() if document not in known]
    if strange:
        found = f"{count_of(len(strange), 'row')} of other documents, {examples(sorted(set(strange)))}"
        rule = "rows should name documents of the files that are compared"
        collector.warning("", rule, found, "They are left out; correct the names if they are meant.")
    on_pages = [(document, page) for document, page in keys.values() if page is not None and document in known]
    if not on_pages:
        return
    there = set(pages())
    beyond = sorted({each for each in on_pages if each not in there})
    if beyond:
        shown = examples([f"{document}, page {page + 1}" for document, page in beyond])
        rule = "rows should name pages of the files that are compared"
        fix = "They are left out; page and page_index are counted from 0, page_no from 1."
        collector.warning("", rule, f"{sum(each not in there for each in on_pages):,} of other pages, {shown}", fix)
