"""The answer at the head of Compare: ship B, keep A or cannot tell, on a ruler, by the reader's rule."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from evaluator.compare.decision import FOUND, Cost, Decision, Rule, decide, main_metrics
from evaluator.compare.differences import Difference
from evaluator.compare.metrics import METRICS
from evaluator.compare.sentences import difference_points, interval_text, name_of
from evaluator.components.compare.decision_scale import scale
from evaluator.data.issues import count_of, plain
from evaluator.metrics.results import capitalised
from pages.app import frame, widgets
from pages.app.cache import Cached
from pages.app.session_files import PairModel
from pages.app.state import State, state

ANY_LOSS: Final = 100.0
"""The limit under which every clear loss is allowed, in points."""
LEAST: Final = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0)
LOSSES: Final = (0.0, 1.0, 2.0, 5.0, 10.0, ANY_LOSS)


def rule() -> Rule:
    """Return the rule of this session."""
    limit = None if state.rule_loss == ANY_LOSS else state.rule_loss / 100.0
    return Rule(metric=state.rule_measure or None, least=state.rule_least / 100.0, loss=limit)


COSTS: Final = Cached[Cost | None](32, spinner="Counting what has to be corrected")
"""What has to be corrected of two models, by the keys of their results."""


@st.fragment
def card(
    chosen: Sequence[PairModel],
    differences: Sequence[Difference],
    costs: Callable[[], Cost | None],
    costs_known: Callable[[], bool],
    write: Callable[[], object],
    *,
    draw_differences: Callable[[], object],
) -> Callable[[], None]:
    """Draw the answer, its rule and what is opened below; return what adds the costs of mistakes without names yet."""
    if State.pair_whole.pop():
        st.rerun()
    if State.rule_moved.pop():
        write()
    measures = [metric for metric in main_metrics(differences) if metric in FOUND]
    if state.rule_measure not in measures:
        state.rule_measure = "f1" if "f1" in measures else next(iter(measures), "")
    made = decide(differences, [plain(frame.whole_name(model)) for model in chosen], rule=rule())
    costed = costs_known()
    with st.container(key="decision"):
        answer = st.empty()
        with st.container(key="decision_rule"):
            with st.container(key="decision_ways", horizontal=True, vertical_alignment="center", gap="medium"):
                both = " both hold" if len(made.conditions) > 1 else ""
                st.html(f'<span class="ls-rule">Ship {chosen[1].letter} if{both}</span>', width="content")
                known = len([one for one in differences if one.difference is not None])
                for name, words in (("rule", "Change the rule"), ("differences", f"All {known} differences")):
                    widgets.fold(name, words, State.pair_opened, then=lambda: State.rule_moved.set(True))
            st.html(_conditions(made))
    if "rule" in state.pair_opened:
        _rule(chosen[1], measures)
    if "differences" in state.pair_opened:
        with st.container(key="all_differences"):
            draw_differences()

    def consequences(*, with_costs: bool) -> None:
        answer.html(_answer(made._replace(cost=costs()) if with_costs else made))

    consequences(with_costs=costed)
    return (lambda: None) if costed else partial(consequences, with_costs=True)


def _rule(candidate: PairModel, measures: Sequence[str]) -> None:
    look: dict[str, Any] = {
        "label_visibility": "collapsed",
        "width": 110,
        "on_change": lambda: State.rule_moved.set(True),
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="decision_choices"):
        st.html(f'<span class="ls-rule">Ship {candidate.letter} if</span>', width="content")
        titles = {metric: METRICS[metric].title for metric in measures}
        if titles:
            widgets.choice("Main measure", titles, State.rule_measure, **look)
        st.html('<span class="ls-rule">is clearly up by</span>', width="content")
        least = {each: f"{each:g} {'point' if each == 1 else 'points'}" for each in LEAST}
        widgets.choice("Smallest difference that matters", least, State.rule_least, **look)
        st.html('<span class="ls-rule">with no clear loss over</span>', width="content")
        limits = {
            each: "any size" if each == ANY_LOSS else f"{each:g} {'point' if each == 1 else 'points'}"
            for each in LOSSES
        }
        widgets.choice("Largest clear loss", limits, State.rule_loss, **look)


def _answer(made: Decision) -> str:
    cost, detail = made.cost_words
    losses, gains = len(made.losses), len(made.gains)
    moved = (
        f"{losses:,} clear {'loss' if losses == 1 else 'losses'}, {count_of(gains, 'clear gain')} in {made.counted}."
    )
    unjudged = f"Too few documents to judge {', '.join(made.unjudged)}." if made.unjudged else ""
    more = " ".join(part for part in (f"{cost}." if cost else "", made.more_documents) if part)
    title = " ".join(part for part in (made.sentence, f"{cost}: {detail}." if cost else "", moved, unjudged) if part)
    return (
        f'<section class="ls-decision ls-{made.answer}{frame.theme_class()}" aria-label="Decision">'
        f"<h2>{_text(made.headline)}</h2>"
        f'<p title="{_text(title)}"><b>{_text(made.sentence)}</b> {_text(more)}</p></section>'
    )


_MARKS: Final = {"fails": "✕", "open": "?", "holds": "✓"}


def _conditions(made: Decision) -> str:
    conditions = made.conditions
    places, ticks = scale(conditions)
    rows = []
    # Of few documents there are none.
    spans = any(each.one is not None and interval_text(each.one) for each in conditions)
    for each, place in zip(conditions, places, strict=True):
        marks = [f'<i class="ls-zone" style="left:{100 * place.limit:.2f}%"></i>']
        if place.low is not None and place.high is not None:
            marks.append(
                f'<i class="ls-span" style="left:{_share(place.low)};width:{_share(place.high - place.low)}"></i>'
            )
        if place.value is not None:
            marks.append(f'<i class="ls-dot" style="left:{_share(place.value)}"></i>')
        one = each.one
        span = None if one is None else interval_text(one, signed=True)
        number = "" if one is None else f"{difference_points(one)}{' ★' if one.is_clear else ''}"
        name = "" if one is None else _text(_shown_name(one))
        rows.append(
            f'<tr class="ls-{each.state}"><th scope="row">{_MARKS[each.state]} {each.state}</th>'
            f'<td class="ls-condition" title="{_text(each.words)}">{_text(each.words)}</td>'
            f'<td class="ls-line"><div>{"".join(marks)}</div></td>'
            f'<td class="ls-number"><div title="{name}"><bdi>{name}</bdi> <b>{_text(number)}</b></div></td>'
            + (f'<td class="ls-interval">{_text(span or "")}</td></tr>' if spans else "</tr>")
        )
    axis = "".join(f'<span style="left:{_share(at)}">{text}</span>' for at, text in ticks)
    # A table of fixed columns takes their widths from its first row.
    head = f'<td class="ls-state"></td><td></td><td class="ls-line"><div>{axis}</div></td><td class="ls-number"></td>'
    head += '<td class="ls-interval"></td>' if spans else ""
    return (
        f'<table class="ls-conditions{frame.theme_class()}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _shown_name(one: Difference) -> str:
    return capitalised(METRICS[one.metric].title) if one.overall else name_of(one)


def _share(place: float) -> str:
    return f"{100 * place:.2f}%"


def _text(words: str) -> str:
    return html.escape(plain(words))
