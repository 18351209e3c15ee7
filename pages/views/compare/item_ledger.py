"""The ledger of B against A in the views of pixels, fields and posters, and the items behind a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from evaluator.data.issues import count_of, displayed
from evaluator.metrics.item_ledger import OUTCOMES, Item, ItemLedger
from pages.app import frame, widgets
from pages.app.state import chosen_cells, state

_TITLES = {"b_better": "B better", "a_better": "A better", "same_right": "Same, right", "same_wrong": "Same, wrong"}


def part(ledgers: Sequence[ItemLedger], open_item: Callable[[Item], None]) -> None:
    """Draw the ledgers, and the items of the chosen number; `open_item` is called before the view runs."""
    for ledger in ledgers:
        _table(ledger)
    chosen = next((each for each in ledgers if each.measure == state.ledger_of[0]), None)
    if chosen is not None:
        _behind(chosen, open_item)


def _table(ledger: ItemLedger) -> None:
    frame.section(f"Ledger, by {ledger.criterion}", f"{ledger.noun}s; a count lists them")
    counts = [ledger.counts(row) for row in range(len(ledger.rows))]
    key = f"ledger_{ledger.noun}_{ledger.measure}"
    columns = {title: [each[name] for each in counts] for name, title in _TITLES.items()}

    def picked() -> None:
        for row, title in chosen_cells(key):
            outcome = next((name for name in OUTCOMES if _TITLES[name] == title), None)
            if outcome is not None and row < len(ledger.rows):
                state.ledger_of = (ledger.measure, ledger.rows[row], outcome)

    widgets.table(
        {"": [displayed(name) for name in ledger.rows], **columns, "Net": [each["net"] for each in counts]},
        rows=8,
        on_select=picked,
        key=key,
        names="",
        columns={"": 210, **dict.fromkeys(columns, widgets.count_column(84)), "Net": widgets.count_column(64)},
        alt=f"Ledger of {ledger.noun}s, by {ledger.criterion}",
    )


def _behind(ledger: ItemLedger, open_item: Callable[[Item], None]) -> None:
    _, name, outcome = state.ledger_of
    if outcome not in OUTCOMES:
        return
    if name not in ledger.rows:
        st.caption(f"The ledger by {ledger.criterion} has no row {frame.escaped(displayed(name))}.")
        return
    row = ledger.rows.index(name)
    places = ledger.items_with_outcome(row, outcome)
    items = [ledger.items[at] for at in places.tolist()]
    title = f"{_TITLES[outcome]}: {frame.escaped(displayed(name))}, by {ledger.criterion}"
    frame.section(title, f"{count_of(len(items), ledger.noun)}; a row opens it")
    if not items:
        return
    table = {"Document": [displayed(item.document) for item in items]}
    if any(item.page is not None for item in items):
        table["Page"] = ["–" if item.page is None else f"{item.page + 1:,}" for item in items]
    if any(item.place for item in items):
        table["Field"] = [displayed(item.place_words) for item in items]
    if not ledger.is_yes_or_no:
        for letter, side in (("A", ledger.a), ("B", ledger.b)):
            table[f"{ledger.criterion.capitalize()}, {letter}"] = [f"{side[at, row]:,.0f}" for at in places.tolist()]
    key = f"ledger_behind_{ledger.noun}_{ledger.criterion}_{row}_{outcome}"

    def picked() -> None:
        for at, _ in chosen_cells(key):
            if at < len(items):
                open_item(items[at])

    widgets.table(
        table,
        rows=8,
        on_select=picked,
        key=key,
        names="Document",
        columns={"Document": 240},
        alt=f"{ledger.noun.capitalize()}s behind the number",
    )
