"""B against A in the views of pixels, fields, posters: sentence, differences with intervals, ledger."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.compare.differences import Difference, decision_differences, differences
from evaluator.compare.sentences import difference_points, interval_text, name_of, summary
from evaluator.data.issues import count_of, displayed, plain
from evaluator.metrics.item_ledger import Item, ItemLedger
from evaluator.metrics.measures import Measures
from evaluator.metrics.resampling import FEW_DOCUMENTS, RESAMPLES
from pages.app import frame, widgets
from pages.app.cache import cached
from pages.app.session_files import PairModel
from pages.app.state import state
from pages.views.compare import item_ledger

_ROWS = 10


@cached(48)
def _differences(
    key: tuple[str, ...], resamples: int, *, _measures: Callable[[], Sequence[Measures]]
) -> tuple[Difference, ...]:
    a, b = _measures()
    return differences(a, b, resamples=resamples)


@cached(12)
def _ledgers(
    key: tuple[str, ...], at: float | None, *, _ledgers: Callable[[], Sequence[ItemLedger]]
) -> tuple[ItemLedger, ...]:
    return tuple(_ledgers())


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
    names = [frame.letter_and_name(model) for model in models[:2]]

    with st.container(key="pair_differences"):
        place, identity = st.empty(), tuple(key)
        # Once for both: what a document alone has is kept with them.
        once = functools.cache(measures)
        if state.resampled_before != identity:
            _differences_part(place, _differences(identity, 0, _measures=once), names, of)
        item_ledger.part(_ledgers(identity, at, _ledgers=ledgers), open_item)
        _differences_part(place, _differences(identity, RESAMPLES, _measures=once), names, of)
        state.resampled_before = identity


def _differences_part(place: DeltaGenerator, every: Sequence[Difference], names: Sequence[str], of: str) -> None:
    with place.container():
        _sentence(every, names, of)
        _table(every)


def _sentence(every: Sequence[Difference], names: Sequence[str], of: str) -> None:
    frame.section("B against A", f"{of + ' · ' if of else ''}95 % intervals from resampled {_noun(every)}s")
    if _resampled(every):
        text = " ".join(part for part in summary(every, names) if part)
        st.html(f'<p class="ls-sentence{frame.theme_class()}"><span>{html.escape(plain(text))}</span></p>')


def _noun(every: Sequence[Difference]) -> str:
    return next((one.noun for one in every), "document")


def _resampled(every: Sequence[Difference]) -> bool:
    return any(one.resamples for one in every)


def _table(every: Sequence[Difference]) -> None:
    metrics = tuple(dict.fromkeys(one.metric for one in every))
    rows = decision_differences(every, limit=max(_ROWS, sum(one.overall for one in every)), metrics=metrics)
    if not rows:
        return
    few, noun = "–", _noun(every)
    widgets.table(
        {
            "Number": [displayed(name_of(one)) for one in rows],
            "A": [one.a for one in rows],
            "B": [one.b for one in rows],
            "B − A, points": [f"{difference_points(one)}{' ★' if one.is_clear else ''}" for one in rows],
            "95 % interval": [few if one.too_few else interval_text(one, signed=True) or few for one in rows],
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
