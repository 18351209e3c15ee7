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
from evaluator.compare.sentences import difference_points, named_difference
from evaluator.components.compare.decision_scale import Ruler, ruler
from evaluator.data.issues import count_of, plain
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
) -> Callable[[], None]:
    """Draw the answer and its rule; return what adds the costs, where the mistakes have no names yet.

    A change of the rule runs this part alone, and `write` then writes the address.
    """
    if State.rule_moved.pop():
        write()
    measures = [metric for metric in main_metrics(differences) if metric in FOUND]
    if state.rule_measure not in measures:
        state.rule_measure = "f1" if "f1" in measures else next(iter(measures), "")
    made = decide(differences, [plain(model.name) for model in chosen], rule=rule())
    known = costs_known()
    with st.container(border=True, key="decision"):
        st.html(_answer(made, chosen))
        _rule(chosen[1], measures)
        place = st.empty()

    def consequences(*, with_costs: bool) -> None:
        place.html(_consequences(made._replace(cost=costs()) if with_costs else made))

    consequences(with_costs=known)
    return (lambda: None) if known else partial(consequences, with_costs=True)


def _rule(candidate: PairModel, measures: Sequence[str]) -> None:
    look: dict[str, Any] = {
        "label_visibility": "collapsed",
        "width": 88,
        "on_change": lambda: State.rule_moved.set(True),
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="decision_rule"):
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


def _answer(made: Decision, chosen: Sequence[PairModel]) -> str:
    drawn = None if made.main is None else ruler(made.main, made.rule.least)
    marks = "" if drawn is None else _ruler(drawn, made, chosen)
    return (
        f'<section class="ls-decision ls-{made.answer}{frame.theme_class()}" aria-label="Decision">'
        f"<h2>{_text(made.headline)}</h2><p>{_text(made.sentence)}</p>{marks}</section>"
    )


def _ruler(drawn: Ruler, made: Decision, chosen: Sequence[PairModel]) -> str:
    a, b = (_text(frame.shorten(plain(model.name), 22)) for model in chosen[:2])
    small = "too small to matter" if drawn.ship - drawn.keep > 0.24 else "too small"
    zones = (
        ("keep", 0.0, drawn.keep, f"Keep {a}"),
        ("open", drawn.keep, drawn.ship, small if made.rule.least else ""),
        ("ship", drawn.ship, 1.0, f"Ship {b}"),
    )
    parts = [
        f'<i class="ls-zone ls-{name}" style="left:{100 * start:.2f}%;width:{100 * (end - start):.2f}%">'
        f"<span>{words if end - start > 0.16 else ''}</span></i>"
        for name, start, end, words in zones
    ]
    if drawn.low is not None and drawn.high is not None:
        width = 100 * (drawn.high - drawn.low)
        parts.append(f'<i class="ls-span" style="left:{100 * drawn.low:.2f}%;width:{width:.2f}%"></i>')
    parts.append(f'<i class="ls-dot" style="left:{100 * drawn.value:.2f}%"></i>')
    if made.main is not None:
        title = _text(f"{METRICS[made.main.metric].title} {difference_points(made.main)}")
        side = (
            f"right:{100 * (1 - (drawn.low or drawn.value)) + 1:.2f}%"
            if drawn.value > 0.62
            else (f"left:{100 * (drawn.high or drawn.value) + 1:.2f}%")
        )
        parts.append(f'<b class="ls-value" style="{side}">{title}</b>')
    ticks = "".join(f'<span style="left:{100 * at:.2f}%">{text}</span>' for at, text in drawn.ticks)
    return f'<div class="ls-ruler">{"".join(parts)}</div><div class="ls-ticks">{ticks}</div>'


def _consequences(made: Decision) -> str:
    head, detail = made.cost_words
    rows = [(head, detail, "One for each box to move, draw, relabel or delete")] if head else []
    if made.more_documents:
        rows.append((made.more_documents, "", ""))
    losses, gains = len(made.losses), len(made.gains)
    moved = f"{losses:,} clear {'loss' if losses == 1 else 'losses'}, {count_of(gains, 'clear gain')} in {made.counted}"
    largest = f"largest loss {named_difference(made.losses[0])}" if made.losses else ""
    unjudged = f"too few documents to judge {', '.join(made.unjudged)}" if made.unjudged else ""
    rows.append((moved, "; ".join(part for part in (largest, unjudged) if part), ""))
    body = "".join(
        f'<div title="{_text(title)}"><dt>{_text(name)}</dt> <dd>{_text(words)}</dd></div>'
        for name, words, title in rows
    )
    return f'<dl class="ls-consequences{frame.theme_class()}">{body}</dl>'


def _text(words: str) -> str:
    return html.escape(plain(words))
