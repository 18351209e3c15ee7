"""The options that say when a candidate is to be shipped: those of ``compare``, and of ``report``."""

from __future__ import annotations

from typing import Annotated, Final

from cyclopts import Group, Parameter

from evaluator.cli.program import UsageError
from evaluator.compare.decision import Rule, counted_metrics_text
from evaluator.data.issues import plain
from evaluator.protocols import AnyProtocol

LEAST: Final = 1.0
LARGEST_LOSS: Final = 5.0
"""What the options are that nobody gave, in points."""

_group = Group("Decision", sort_key=2)

Measure = Annotated[
    str | None, Parameter(group=_group, help="Main measure of the decision; F1, or the protocol's first measure.")
]
Least = Annotated[float, Parameter(group=_group, help="Smallest difference of it that matters, in points.")]
Loss = Annotated[
    float,
    Parameter(
        group=_group,
        help=f"Largest clear loss allowed in {counted_metrics_text(None)}, of all labels or of one, in points; in "
        f"{counted_metrics_text('')} where the main measure is none of these.",
    ),
]


def rule_of(metric: str | None, least: float, loss: float, protocol: AnyProtocol) -> Rule:
    """Return when B is to be shipped under a protocol, from what was typed."""
    # More of a measure that has a target is not better.
    known = sorted(name for name, of in protocol.metrics.items() if of.target is None)
    if metric is not None and metric not in known:
        raise UsageError(f"--decide-by must be one of {', '.join(known)} under {protocol.name}; found {plain(metric)}.")
    for name, value in (("--least", least), ("--largest-loss", loss)):
        if not 0.0 <= value < 100.0:
            raise UsageError(f"{name} must be at least 0 and below 100 points; found {value:g}.")
    return Rule(metric=metric, least=least / 100.0, loss=loss / 100.0)
