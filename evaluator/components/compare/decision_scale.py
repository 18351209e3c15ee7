"""The scale of the conditions of a decision: what is allowed, interval and limit of each, as shares of its width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evaluator.compare.decision import Condition
from evaluator.compare.sentences import tick_text
from evaluator.components.compare.comparison_summary import axis_of


class Places(NamedTuple):
    """Places from 0 to 1; the allowed zone is from `limit` to 1, and what is undefined is None."""

    limit: float
    value: float | None
    low: float | None
    high: float | None


def scale(conditions: Sequence[Condition]) -> tuple[list[Places], list[tuple[float, str]]]:
    """Return the places of each condition on one axis of points, and its ticks."""
    low, high, ticks = axis_of([each.one for each in conditions if each.one is not None])

    def at(value: float | None) -> float | None:
        return None if value is None else min(max((100.0 * value - low) / (high - low), 0.0), 1.0)

    places = []
    for each in conditions:
        hidden = each.one is None or each.one.too_few
        ends = (None, None) if hidden or each.one is None else (each.one.low, each.one.high)
        value = None if each.one is None else each.one.difference
        places.append(Places(at(each.least) or 0.0, at(value), *map(at, ends)))
    return places, [(at(tick / 100.0) or 0.0, tick_text(tick)) for tick in ticks]
