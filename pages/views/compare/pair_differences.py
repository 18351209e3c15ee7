"""B against A in the views of pixels, fields, posters: sentence, differences with intervals, ledger."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.compare.differences import Difference, decision_differences, differences
from evaluator.compare.sentences import difference_points, interval_text, name_of, summary
from evaluator.data.issues import count_of, displayed, name_in_list, plain
from evaluator.metrics.item_ledger import OUTCOMES, Item, ItemLedger
from evaluator.metrics.measures import Measures
from evaluator.metrics.resampling import FEW_DOCUMENTS, RESAMPLES
from evaluator.metrics.results import signed
from pages.app import frame, widgets
from pages.app.cache import Cached
from pages.app.session_files import PairModel
from pages.app.state import chosen_cells, state

_ROWS = 10
_TITLES = {"b_better": "B better", "a_better": "A better", "same_right": "Same, right", "same_wrong": "Same, wrong"}


_DIFFERENCES: Final = Cached[tuple[Difference, ...]](48)
_LEDGERS: Final = Cached[Sequence[ItemLedger]](12)


def part(
    models: Sequence[PairModel],
    key: Sequence[str],
    measures: Callable[[], Sequence[Measures]],
    *,
    ledgers: Callable[[], Sequence[ItemLedger]],
    open_item: Callable[[Item], None],
    at: float | None = None,
    of: str = "",
) -> None:
    """Draw the sentence about two models, their differences, and the ledger; nothing for one model.

    `key` is what the numbers of both follow from: digests and signatures; `at` the threshold of the ledgers, where
    `key` has none. `measures` and `ledgers` are called when not known yet. `of` names what the numbers are of, where
    the rest of the view may be of less. Intervals replace the plain numbers when they are computed.
    """
    if len(models) < 2:
        return
    names, identity = [frame.letter_and_name(model) for model in models[:2]], tuple(key)
    # Once for both: what a document alone has is kept with them.
    once = functools.cache(measures)

    def compared(resamples: int) -> tuple[Difference, ...]:
        return _DIFFERENCES.of((identity, resamples), lambda: differences(*once(), resamples=resamples))

    with st.container(key="pair_differences"):
        place = st.empty()
        if state.resampled_before != identity:
            _differences_part(place, compared(0), names, of)
        _ledger_part(_LEDGERS.of((identity, at), ledgers), open_item)
        _differences_part(place, compared(RESAMPLES), names, of)
        state.resampled_before = identity


def _differences_part(place: DeltaGenerator, every: Sequence[Difference], names: Sequence[str], of: str) -> None:
    with place.container():
        _sentence(every, names, of)
        _table(every)


def _sentence(every: Sequence[Difference], names: Sequence[str], of: str) -> None:
    made_of = "" if _all_few(every) else f"95 % intervals from resampled {_noun(every)}s"
    frame.section("B against A", " · ".join(filter(None, (of, made_of))))
    if _resampled(every):
        text = " ".join(part for part in summary(every, names) if part)
        st.html(f'<p class="ls-sentence{frame.theme_class()}"><span>{html.escape(plain(text))}</span></p>')


def _noun(every: Sequence[Difference]) -> str:
    return next((one.noun for one in every), "document")


def _all_few(every: Sequence[Difference]) -> bool:
    return all(one.too_few for one in every)


def _resampled(every: Sequence[Difference]) -> bool:
    return any(one.resamples for one in every)


def _table(every: Sequence[Difference]) -> None:
    metrics = tuple(dict.fromkeys(one.metric for one in every))
    rows = decision_differences(every, limit=max(_ROWS, sum(one.overall for one in every)), metrics=metrics)
    if not rows:
        return
    noun = _noun(every)
    intervals = [interval_text(one, signed=True) or "–" for one in rows]
    widgets.table(
        {
            "Number": [displayed(name_of(one)) for one in rows],
            "A": [one.a for one in rows],
            "B": [one.b for one in rows],
            "B − A, points": [f"{difference_points(one)}{' ★' if one.is_clear else ''}" for one in rows],
            **({} if _all_few(every) else {"95 % interval": intervals}),
            "Better in B": [one.documents_better for one in rows],
            "Worse in B": [one.documents_worse for one in rows],
        },
        rows=12,
        placeholder="–",
        names="Number",
        columns={
            "Number": 210,
            "A": widgets.ratio_column(62),
            "B": widgets.ratio_column(62),
            "B − A, points": 100,
            "95 % interval": 120,
            "Better in B": widgets.count_column(80, help=f"{noun.capitalize()}s with the better number in B."),
            "Worse in B": widgets.count_column(80, help=f"{noun.capitalize()}s with the worse number in B."),
        },
        alt="Differences of B and A",
    )
    if not _resampled(every):
        st.caption(f"Resampling the {noun}s for the intervals.")
    elif any(one.too_few for one in rows):
        st.caption(f"No interval: under {count_of(FEW_DOCUMENTS, noun)} that have the number.")
    elif any(one.is_clear for one in rows):
        st.caption("★ the interval excludes 0.")


# --- the ledger ------------------------------------------------------------------------------------------------


def _ledger_part(ledgers: Sequence[ItemLedger], open_item: Callable[[Item], None]) -> None:
    """Draw the ledgers, and the items of the chosen number; `open_item` is called before the view runs."""
    for ledger in ledgers:
        _ledger_table(ledger)
    chosen = next((each for each in ledgers if each.measure == state.ledger_of[0]), None)
    if chosen is not None:
        _behind(chosen, open_item)


def _ledger_table(ledger: ItemLedger) -> None:
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
        {"": [displayed(name) for name in ledger.rows], **columns, "Net": [signed(each["net"]) for each in counts]},
        rows=8,
        on_select=picked,
        key=key,
        names="",
        columns={"": 210, **dict.fromkeys(columns, widgets.count_column(84)), "Net": 64},
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
    table = {"Document": [name_in_list(item.document) for item in items]}
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
