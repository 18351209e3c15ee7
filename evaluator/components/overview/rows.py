"""The numbers of the Overview as it draws them: shares of its axes and words. Ratios are from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.compare.differences import Difference
from evaluator.compare.metrics import METRICS
from evaluator.compare.models import Standings
from evaluator.compare.sentences import points
from evaluator.components.overview.payload import AxisTickItem, BarsPayload, LabelDotsItem, LabelsPayload, ModelBarItem
from evaluator.data.issues import count_of, cut, displayed
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.results import defined, ratio_text
from evaluator.metrics.terms import explained

LABELS_SHOWN: Final = 5
# At least so much of F1 is on its axis, and so many ticks are.
_LEAST_SPAN: Final = 0.1
_MOST_TICKS: Final = 6
_STEPS: Final = (0.01, 0.02, 0.05, 0.1, 0.2)


class CorrectedF1(NamedTuple):
    """F1 on the corrected ground truth in words, and what that is."""

    words: str
    why: str


def bars(
    results: Mapping[str, AnyBoxResult],
    names: Sequence[str],
    standings: Standings,
    corrected: Mapping[str, CorrectedF1],
    *,
    resampled: bool,
) -> BarsPayload:
    """Return the row of each model, by letter. `standings`: of F1, its models named by letter."""
    places = {model.name: row for row, model in enumerate(standings.models)}
    known = [value for value in (*standings.values, *standings.low, *standings.high) if not math.isnan(value)]
    low, high, ticks = _axis(known)

    def at(value: float) -> float:
        return min(max((value - low) / (high - low), 0.0), 1.0)

    note = "" if standings.has_intervals else "too few documents for an interval"
    if not resampled:
        note = "intervals of so many boxes: layoutscope compare"
    rows = []
    for (letter, result), name in zip(results.items(), names, strict=True):
        micro, place = result.micro, places[letter]
        f1 = defined(micro.f1[0])
        ends = defined(standings.low[place]), defined(standings.high[place])
        has_ends = ends[0] is not None and ends[1] is not None
        again = corrected.get(letter, CorrectedF1("", ""))
        rows.append(
            ModelBarItem(
                letter=letter,
                name=displayed(name),
                matched=int(micro.tp[0]),
                missed=int(micro.fn[0]),
                extra=int(micro.fp[0]),
                f1=ratio_text(f1),
                recall=f"Recall {ratio_text(defined(micro.recall[0]))}. {explained('Recall')}",
                precision=f"Precision {ratio_text(defined(micro.precision[0]))}. {explained('Precision')}",
                place=None if f1 is None else at(f1),
                ends=(at(ends[0]), at(ends[1])) if ends[0] is not None and ends[1] is not None else None,
                interval=f"95 % interval {ratio_text(ends[0])} to {ratio_text(ends[1])}" if has_ends else note,
                corrected=again.words,
                why=again.why,
            )
        )
    boxes = rows[0].matched + rows[0].missed if rows else 0
    return BarsPayload(rows, boxes, [AxisTickItem(at(tick), f"{tick:g}") for tick in ticks], note)


def _axis(known: Sequence[float]) -> tuple[float, float, list[float]]:
    """Return ends and ticks of an axis that holds some ratios; from 0 to 1 for none.

    >>> _axis([0.55, 0.696, 0.9])
    (0.5, 0.9, [0.5, 0.6, 0.7, 0.8, 0.9])
    >>> _axis([1.0])
    (0.9, 1.0, [0.9, 0.92, 0.94, 0.96, 0.98, 1.0])
    """
    if not known:
        return 0.0, 1.0, [0.0, 0.5, 1.0]
    low, high = min(known), max(known)
    low = min(low, max(high - _LEAST_SPAN, 0.0))
    step = next((step for step in _STEPS if _last(high, step) - _first(low, step) < _MOST_TICKS), _STEPS[-1])
    ticks = [
        round(place * step, 6) for place in range(_first(low, step), max(_last(high, step), _first(low, step) + 1) + 1)
    ]
    return ticks[0], ticks[-1], ticks


def _first(value: float, step: float) -> int:
    return math.floor(value / step + 1e-9)


def _last(value: float, step: float) -> int:
    return math.ceil(value / step - 1e-9)


def labels(results: Mapping[str, AnyBoxResult], every: Sequence[Difference] | None, *, opened: bool) -> LabelsPayload:
    """Return the labels with most wrong boxes of the worse model; `every` difference of two models, None for one."""
    # The number is a clear loss of the label in precision or recall, else the difference in F1; of one model F1.
    first = next(iter(results.values()))
    names = first.matching.labels
    wrong = np.max([each.per_label.fp + each.per_label.fn for each in results.values()], axis=0)
    order = np.argsort(-wrong, kind="stable")[:LABELS_SHOWN].tolist()
    last = [*results][-1]
    cells = []
    for code in order:
        values = [defined(each.per_label.f1[code]) for each in results.values()]
        words, fails = _number(names[code], values, every)
        hint = f"{displayed(names[code])}: {_each(results, values)}. Opens its mistakes in {last}."
        cells.append(
            LabelDotsItem(
                label=cut(names[code]), title=displayed(names[code]), values=values, words=words, fails=fails, hint=hint
            )
        )
    facts = "F1 from 0 to 1" + (", B minus A in points" if len(results) == 2 else "")
    most = f"; the {len(cells)} with most wrong boxes" if len(cells) < len(names) and wrong.any() else ""
    star = "★ clear: the 95 % interval excludes 0" if any(not one.too_few for one in every or ()) else ""
    return LabelsPayload(cells, [*results], facts + most, f"All {count_of(len(names), 'label')}", star, opened)


def _each(results: Mapping[str, AnyBoxResult], values: Sequence[float | None]) -> str:
    return ", ".join(f"F1 of {letter} {ratio_text(value)}" for letter, value in zip(results, values, strict=True))


def _number(label: str, values: Sequence[float | None], every: Sequence[Difference] | None) -> tuple[str, bool]:
    if len(values) == 1:
        return f"F1 {ratio_text(values[0])}", False
    own = [one for one in every or () if one.label == label and not one.overall]
    losses = [one for one in own if one.kind == "loss" and one.metric in ("precision", "recall")]
    if losses:
        worst = min(losses, key=lambda one: one.difference or 0.0)
        return f"{METRICS[worst.metric].title.lower()} {points(worst.difference or 0.0)} ★", True
    a, b = values
    if a is None or b is None:
        return "F1 n/a", False
    one = next((one for one in own if one.metric == "f1"), None)
    clear = "" if one is None or one.too_few else " ★" if one.is_clear else ", not clear"
    return f"F1 {points(b - a)}{clear}", one is not None and one.kind == "loss"
