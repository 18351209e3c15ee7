"""A table of failed pages, seconds and cost beside the files, as CSV, by page or by document.

Columns ``document``; ``page`` from 0, blank for the whole document, which is spread evenly over its pages; ``model``
where there are several; ``status``, ``seconds``, ``cost``, ``currency``, ``input_tokens``, ``output_tokens`` and
``error``. Other columns are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from evaluator.analysis.slices.page_table import NAMING, Key, PageTable, read_rows
from evaluator.data.dataset import Annotations, page_keys
from evaluator.data.issues import Collector, Issue, count_of, examples, quote
from evaluator.data.subsets import kept_boxes
from evaluator.metrics.costs import STATUSES, Costs, PageCosts

_NUMBERS: Final = ("seconds", "cost", "input_tokens", "output_tokens")
_OWN: Final = (*NAMING, "model", "status", *_NUMBERS, "currency", "error")
_CURRENCY: Final = re.compile("[A-Z]{3}")
MOST: Final = 10**12
"""The largest number of seconds, cost or tokens."""
MOST_CHARACTERS: Final = 10_000
FAILED_EMPTY: Final = "failed-empty"
"""What a signature says where predictions on pages that failed are left out."""


class ModelCosts(NamedTuple):
    """What a table says of one model, and warnings about it; `prediction` is what is compared."""

    costs: Costs
    prediction: Annotations
    issues: tuple[Issue, ...]


def read_costs(
    path: Path, truth: Annotations, models: Mapping[str, Annotations], *, failed_empty: bool = False
) -> list[ModelCosts]:
    """Return what a table says of each model, by the names that the column ``model`` has.

    `failed_empty` leaves out what is predicted on pages that failed, timed out or were skipped. BadInput with every row
    that cannot be understood or says a page again.
    """
    pages = {name: sorted({*page_keys(truth), *page_keys(model)}) for name, model in models.items()}
    every = {page for some in pages.values() for page in some}
    collector = Collector(path.name, max_per_rule=20)
    table = read_rows(path, sorted({document for document, _ in every}), lambda: every, collector)
    rows = _rows(table, _model_of(table, list(models), collector), collector)
    currency = _one_currency(table, collector)
    collector.raise_if_failed()
    said = collector.issues()
    return [
        _of_model(
            Costs(name, len(pages[name]), _spread(rows.get(name, {}), pages[name]), currency),
            model,
            path.name,
            said,
            failed_empty=failed_empty,
        )
        for name, model in models.items()
    ]


def _model_of(table: PageTable, models: Sequence[str], collector: Collector) -> dict[int, str]:
    if "model" not in table.names:
        if len(models) > 1:
            rule, found = "a table of several models must have a column model", ", ".join(table.names)[:80]
            collector.error("row 1", rule, found, f"Name the model of each row, such as {quote(models[0])}.")
        return dict.fromkeys(table.keys, models[0])
    named = {spelled: name for name in reversed(models) for spelled in (name, name.rsplit(".", 1)[0])}
    written = {number: table.cell(number, "model") for number in table.keys}
    other = [name for name in written.values() if name not in named]
    if other:
        rule = "rows should name models that are compared"
        found = f"{count_of(len(other), 'row')} of others, {examples(sorted({*other}))}"
        collector.warning("", rule, found, f"They are left out; write {quote(models[0])}, for example.")
    return {number: named[name] for number, name in written.items() if name in named}


def _rows(table: PageTable, model_of: Mapping[int, str], collector: Collector) -> dict[str, dict[Key, PageCosts]]:
    rows: dict[str, dict[Key, PageCosts]] = {}
    first: dict[tuple[str, Key], int] = {}
    by_page: dict[tuple[str, str], int] = {}
    for number, model in model_of.items():
        document, page = table.keys[number]
        before = first.setdefault((model, table.keys[number]), number)
        other = by_page.setdefault((model, document), number)
        if before != number:
            rule, found = "a table of costs must say a page once", f"{quote(document)} again, as in row {before}"
            collector.error(f"row {number}", rule, found, "Keep the row that is right.")
        elif (table.keys[other][1] is None) != (page is None):
            rule = "a document must have one row, or rows of its pages"
            found = f"a row of {quote(document)} and one of a page of it, in row {other}"
            collector.error(f"row {number}", rule, found, "Remove the row of the document, or those of its pages.")
        rows.setdefault(model, {})[document, page] = _checked(table, number, collector)
    return rows


def _checked(table: PageTable, number: int, collector: Collector) -> PageCosts:
    values: dict[str, Any] = {}
    for name in _NUMBERS:
        text = table.cell(number, name)
        value = _number(text)
        if text and value is None:
            rule = f"{name} must be a number from 0 to {MOST:,}"
            fix = "Write it with a point, or leave it out."
            collector.error(f"row {number}, {name}", rule, quote(text), fix)
        values[name] = value
    status = table.cell(number, "status") or "ok"
    if status not in STATUSES:
        rule = f"status must be one of {', '.join(STATUSES)}"
        collector.error(f"row {number}, status", rule, quote(status), "Correct it, or leave it out for ok.")
    document, page = table.keys[number]
    more = {name: text for name in table.names if name not in _OWN and (text := table.cell(number, name))}
    error = table.cell(number, "error") or None
    said = len(error or "") + sum(len(name) + len(text) for name, text in more.items())
    if said > MOST_CHARACTERS:
        rule = f"error and the other columns of a row may have {MOST_CHARACTERS:,} characters"
        collector.error(f"row {number}", rule, f"{said:,}", "Shorten them; each page of a document repeats them.")
    return PageCosts(document=document, page=page or 0, status=status, error=error, more=more, **values)  # type: ignore[arg-type]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value <= MOST else None


def _one_currency(table: PageTable, collector: Collector) -> str | None:
    """Return the currency of the table; an error for a second one, and for what is none."""
    first: dict[str, int] = {}
    for number in table.keys:
        if text := table.cell(number, "currency"):
            first.setdefault(text, number)
    for text, number in first.items():
        if not _CURRENCY.fullmatch(text):
            rule, fix = "currency must be three capital letters (ISO 4217)", "Write it like USD."
            collector.error(f"row {number}, currency", rule, quote(text), fix)
        elif text != next(iter(first)):
            rule, found = (
                "a table of costs must have one currency",
                f"{quote(text)}, and {quote(next(iter(first)))} before",
            )
            collector.error(f"row {number}, currency", rule, found, "Convert the costs to one.")
    return next(iter(first), None)


def _spread(rows: Mapping[Key, PageCosts], pages: Sequence[tuple[str, int]]) -> tuple[PageCosts, ...]:
    """Return what is stated of each of the pages; a row of a document is spread evenly over its own."""
    count = Counter(document for document, _ in pages)
    stated = []
    for document, page in pages:
        row, share = rows.get((document, page)), 1
        if row is None:
            row, share = rows.get((document, None)), count[document]
        if row is not None:
            parts = {name: None if (value := getattr(row, name)) is None else value / share for name in _NUMBERS}
            stated.append(msgspec.structs.replace(row, page=page, **parts))
    return tuple(stated)


def _of_model(
    costs: Costs, prediction: Annotations, file: str, said: tuple[Issue, ...], *, failed_empty: bool
) -> ModelCosts:
    collector = Collector(file, max_per_rule=20)
    if not costs.stated:
        rule, fix = "a table of costs should have rows of each model", "Write its name in the column model."
        collector.warning("", rule, f"none of {costs.name}", fix)
    failed = {(page.document, page.page) for page in costs.stated if page.status != "ok"}
    entries = np.array([page in failed for page in page_keys(prediction)], dtype=bool)
    odd = entries[prediction.boxes.entry] if len(entries) else np.zeros(0, dtype=bool)
    if odd.any() and not failed_empty:
        keys = page_keys(prediction)
        named = {keys[entry] for entry in prediction.boxes.entry[odd].tolist()}
        shown = examples([f"{document}, page {page + 1}" for document, page in sorted(named)])
        rule = "a page that failed should have no predictions"
        found = f"{count_of(int(odd.sum()), 'prediction')} on pages {shown}"
        collector.warning("", rule, found, "They are compared; --failed-empty leaves them out.")
    if failed_empty:
        fixes = (*prediction.fixes, FAILED_EMPTY)
        prediction = replace(kept_boxes(prediction, ~odd), fixes=fixes)
    return ModelCosts(costs, prediction, (*said, *collector.issues()))
