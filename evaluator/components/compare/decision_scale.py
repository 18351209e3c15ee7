"""The ruler of a decision: zones, interval of the main measure and ticks, as shares of its width."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from evaluator.compare.differences import Difference
from evaluator.compare.sentences import tick_text

_STEPS: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_MOST_TICKS: Final = 7


class Ruler(NamedTuple):
    """Places from 0 to 1: zones end at `keep` and begin at `ship`; `low` and `high` None without interval."""

    keep: float
    ship: float
    zero: float
    value: float
    low: float | None
    high: float | None
    ticks: tuple[tuple[float, str], ...]


def ruler(main: Difference, least: float) -> Ruler | None:
    """Return the ruler of a difference for the least one that matters; None for an undefined one."""
    if main.difference is None:
        return None
    shown = not main.too_few and main.low is not None and main.high is not None
    held = [main.difference, *([main.low, main.high] if shown else [])]
    reach = 100.0 * max(3.0 * least, *(abs(each) * 1.15 for each in held if each is not None), 0.01)
    step = next((each for each in _STEPS if 2 * math.floor(reach / each) + 1 <= _MOST_TICKS), _STEPS[-1])
    sides = math.floor(reach / step)
    ticks = [place * step for place in range(-sides, sides + 1)]

    def at(value: float) -> float:
        return (100.0 * value + reach) / (2.0 * reach)

    return Ruler(
        keep=at(-least),
        ship=at(least),
        zero=0.5,
        value=at(main.difference),
        low=at(main.low) if shown and main.low is not None else None,
        high=at(main.high) if shown and main.high is not None else None,
        ticks=tuple((at(tick / 100.0), tick_text(round(tick, 1))) for tick in ticks),
    )
