"""A table beside the files with attributes of pages or documents, as CSV.

Owns its columns: ``document`` names the document; ``page`` or ``page_index`` (from 0) or ``page_no`` (from 1) the
page, and without any of these a row is about the whole document. Every other column is an attribute; numbers are
numbers when all of a column are. Text from the table is only ever shown as text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evaluator.formats import folder
from evaluator.model.issues import BadInput, Collector, examples, refuse
from evaluator.slices.attributes import OfPages, Value
from evaluator.slices.slices import plain_numbers

_DOCUMENT: Final = ("document", "doc", "doc_id", "doc_name")
_PAGE: Final = {"page": 0, "page_index": 0, "page_no": 1}
_MOST_BYTES: Final = 256 << 20


def read_page_table(path: Path, documents: Sequence[str]) -> OfPages:
    """The attributes in a table.

    Parameters
    ----------
    path : Path
        CSV in UTF-8 with a row of names.
    documents : sequence of str
        Ids of the documents of the dataset; a row of another document must not be all there are.

    Returns
    -------
    mapping
        See `evaluator.slices.attributes.OfPages`; empty cells are left out.

    Raises
    ------
    BadInput
        With every row that cannot be understood.
    """
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
        body = [row for row in rows if row]
    except csv.Error as problem:
        refuse(path.name, "", "a table must be CSV", str(problem), "Save it as CSV with commas.")
    at_document = next((names.index(name) for name in _DOCUMENT if name in names), None)
    if at_document is None:
        refuse(path.name, "row 1", "a table must have a column document", ", ".join(names)[:80] or "nothing",
               "Name the column with the ids of the documents.")  # fmt: skip
    page_column = next((name for name in _PAGE if name in names), None)
    collector = Collector(path.name, max_per_rule=20)
    keys: list[tuple[str, int | None] | None] = []
    known = set(documents)
    by_stem = {name.rsplit(".", 1)[0]: name for name in documents}
    for number, row in enumerate(body, 2):
        if len(row) != len(names):
            collector.error(f"row {number}", f"a row must have {len(names)} cells", str(len(row)), "Quote commas.")
            keys.append(None)
            continue
        written = row[at_document].strip()
        document = written if written in known else by_stem.get(written, written)
        page: int | None = None
        if page_column is not None and row[names.index(page_column)].strip():
            cell = row[names.index(page_column)].strip()
            if not cell.isdecimal() or len(cell) > 9 or int(cell) < _PAGE[page_column]:
                rule = f"{page_column} must be a whole number from {_PAGE[page_column]}"
                collector.error(f"row {number}", rule, cell[:80], "Write the number of the page.")
                keys.append(None)
                continue
            page = int(cell) - _PAGE[page_column]
        keys.append((document, page))
    if collector.failed:
        raise BadInput(collector.issues())
    named = {key[0] for key in keys if key is not None}
    if named and not named & known:
        refuse(path.name, "", "a table must name documents of the ground truth", examples(sorted(named)),
               f"Write them like {examples(sorted(known))}.")  # fmt: skip
    of_pages: dict[tuple[str, int | None], dict[str, Value]] = {}
    for place, name in enumerate(names):
        if place == at_document or name in _PAGE or not name:
            continue
        values = plain_numbers([row[place] if len(row) > place else None for row in body])
        for key, value in zip(keys, values, strict=True):
            if key is not None and value is not None:
                of_pages.setdefault(key, {})[name] = value
    return of_pages
