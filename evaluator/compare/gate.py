"""Gates: conditions under which a run must fail, written in one line, judged against a baseline.

    metric [ "[" label "]" ] ( "<" | ">" | "<=" | ">=" ) limit [ "and significant" ]
    limit = number [ "%" | "pt" ] | "baseline" [ ( "-" | "+" ) number ( "pt" | "%" ) ]

A condition states what is *not* allowed: ``recall[Table] < baseline - 0.5pt`` fails when recall of Table is more than
half a point below the baseline. ``pt`` are points, the hundredths of a ratio; ``%`` after the baseline is a share of
it. Without a label, or with ``[all]``, the number is that over all labels; a label with odd characters is written in
double quotes. ``and significant``: it fails only when the interval of the difference to the baseline excludes 0.

A condition that cannot be judged fails, with its reason: a number that is undefined for the prediction is mostly the
very regression that a gate is for (a model that finds nothing has no precision).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, cast

from evaluator.compare.differences import Difference, differences, without_ties
from evaluator.compare.metrics import METRICS
from evaluator.compare.sentences import difference_points, interval_text, points
from evaluator.metrics.measures import Key, Measures
from evaluator.metrics.resampling import RESAMPLES, SEED
from evaluator.metrics.results import MINUS, JsonObject, ResultTable, defined
from evaluator.metrics.tied_scores import LEAST_RANGE, Range

Operator = Literal["<", ">", "<=", ">="]
Unit = Literal["points", "percent"]

ALL: Final = "all"
"""Name of all labels together; a label of this name is written in quotes."""
EXAMPLE: Final = '"recall[Table] < baseline - 0.5pt"'

# Numbers that are nearer than this are equal: a baseline of 0.805 less half a point is not exactly 0.8.
_EQUAL: Final = 1e-12
_GRAMMAR: Final = re.compile(
    r"""\s*+ (?P<metric>[A-Za-z]\w*+)
        \s*+ (?:\[ \s*+ (?: "(?P<quoted>(?:[^"\\]|\\.)*)" | (?P<label>[^\]"]*[^\]"\s]) ) \s*+ \])?
        \s*+ (?P<operator><=|>=|<|>)
        \s*+ (?: baseline (?: \s*+ (?P<sign>[-+−]) \s*+ (?P<offset>\d+(?:\.\d+)?) \s*+ (?P<unit>points?|pts?|%) )?
              | (?P<number>\d+(?:\.\d+)?) \s*+ (?P<number_unit>points?|pts?|%)? )
        \s*+ (?P<significant>and\s++significant)? \s*+""",
    re.VERBOSE,
)


class ConditionError(ValueError):
    """Raised, with one sentence, for a condition that cannot be read or names what does not exist."""


class Limit(NamedTuple):
    """What a value is compared with: a ratio, or the baseline plus a ratio ("points") or share of it."""

    of_baseline: bool
    amount: float
    unit: Unit

    def value(self, baseline: float | None) -> float | None:
        """Return the limit as a ratio; None when it is that of a baseline which is undefined."""
        if not self.of_baseline:
            return self.amount
        if baseline is None:
            return None
        return baseline + (self.amount if self.unit == "points" else baseline * self.amount)


@dataclass(frozen=True, slots=True)
class Condition:
    """What is not allowed; `label` None for all, `significant` only when the interval excludes 0."""

    text: str
    metric: str
    label: str | None
    operator: Operator
    limit: Limit
    significant: bool

    def holds(self, value: float, limit: float) -> bool:
        """Return whether a value is what is not allowed; numbers that differ by less than 1e-12 are equal."""
        above = value - limit
        strict = {"<": above < -_EQUAL, ">": above > _EQUAL, "<=": above <= _EQUAL, ">=": above >= -_EQUAL}
        return strict[self.operator]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of a condition; `difference` is prediction minus baseline, None where undefined."""

    condition: Condition
    key: Key
    value: float | None
    baseline: float | None
    limit: float | None
    difference: Difference | None
    failed: bool
    reason: str

    def to_json(self) -> JsonObject:
        """Return the verdict as plain values; undefined is None."""
        one = self.difference
        return {
            "condition": self.condition.text,
            "metric": self.key.metric,
            "label": self.key.label,
            "failed": self.failed,
            "value": self.value,
            "baseline": self.baseline,
            "limit": self.limit,
            "difference": one and one.difference,
            "low": one and (None if one.too_few else one.low),
            "high": one and (None if one.too_few else one.high),
            "documents": one and one.documents,
            "reason": self.reason,
        }


def parse(text: str) -> Condition:
    """Return a condition read from its text, see the module.

    `ConditionError` when it cannot be read, or compares a ratio with a number above 1.

    >>> condition = parse('recall[Table] < baseline - 0.5pt and significant')
    >>> condition.metric, condition.label, condition.operator, condition.significant
    ('recall', 'Table', '<', True)
    >>> round(condition.limit.value(0.8), 6)
    0.795
    """
    read = _GRAMMAR.fullmatch(text)
    if read is None:
        raise ConditionError(f"a condition must look like {EXAMPLE}; found {text}")
    quoted, label = read["quoted"], read["label"]
    if quoted is not None:
        label = re.sub(r"\\(.)", r"\1", quoted)
    elif label == ALL:
        label = None
    return Condition(
        text=text.strip(),
        metric=read["metric"],
        label=label,
        operator=cast(Operator, read["operator"]),
        limit=_limit(read, text),
        significant=read["significant"] is not None,
    )


def _limit(read: re.Match[str], text: str) -> Limit:
    if read["number"] is None:
        sign = -1.0 if read["sign"] in ("-", MINUS) else 1.0
        amount = sign * float(read["offset"] or 0.0) / 100.0
        return Limit(of_baseline=True, amount=amount, unit="percent" if read["unit"] == "%" else "points")
    number = float(read["number"])
    if read["number_unit"] is not None:
        return Limit(of_baseline=False, amount=number / 100.0, unit="points")
    metric = METRICS.get(read["metric"])
    if number > 1.0 and (metric is None or metric.most <= 1.0):
        raise ConditionError(f"a ratio is at most 1, so write {read['number']} % or a number up to 1; found {text}")
    return Limit(of_baseline=False, amount=number, unit="points")


def judge(
    conditions: Sequence[Condition],
    prediction: Measures,
    baseline: Measures | None,
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    ties: tuple[Mapping[Key, Range], Mapping[Key, Range]] = ({}, {}),
) -> tuple[Verdict, ...]:
    """Return a verdict per condition; ConditionError where there is none; `ties`: ``tied_ranges`` of both."""
    every = dict.fromkeys([*prediction.keys, *(() if baseline is None else baseline.keys)])
    keys = [_key(condition, list(every), prediction.overall) for condition in conditions]
    lonely = [condition.text for condition in conditions if condition.limit.of_baseline or condition.significant]
    if lonely and baseline is None:
        raise ConditionError(f"{lonely[0]} needs --baseline")
    values = dict(zip(prediction.keys, prediction.values.tolist(), strict=True))
    by_key: dict[Key, Difference] = {}
    if baseline is not None:
        compared = differences(baseline, prediction, seed=seed, resamples=resamples, keys=keys)
        compared = without_ties(compared, *ties)
        by_key = {Key(one.metric, one.label): one for one in compared}
    return tuple(
        _verdict(condition, key, values.get(key), by_key.get(key), [side.get(key) for side in ties])
        for condition, key in zip(conditions, keys, strict=True)
    )


def _key(condition: Condition, keys: Sequence[Key], overall: str) -> Key:
    metrics = list(dict.fromkeys(key.metric for key in keys))
    named = [metric for metric in metrics if metric == condition.metric]
    named = named or [metric for metric in metrics if metric.casefold() == condition.metric.casefold()]
    if len(named) != 1:
        raise ConditionError(f"there is no metric {condition.metric}; there are {', '.join(metrics)}")
    labels = [key.label for key in keys if key.metric == named[0]]
    label = overall if condition.label is None else condition.label
    if label not in labels:
        others = [key.metric for key in keys if key.label == label]
        if others:
            raise ConditionError(f"there is no {named[0]} of {label}; of it there are {', '.join(others)}")
        asked = f"no value of {named[0]} over all labels" if condition.label is None else f"no label {condition.label}"
        raise ConditionError(f"there is {asked}; {named[0]} is there for {', '.join(labels)}")
    return Key(named[0], label)


def _verdict(
    condition: Condition,
    key: Key,
    value: float | None,
    difference: Difference | None,
    ties: Sequence[Range | None] = (None, None),
) -> Verdict:
    value = None if value is None else defined(value)
    baseline = None if difference is None else difference.a
    limit = condition.limit.value(baseline)
    failed, reason = True, ""
    if value is None:
        reason = "It cannot be judged: the number is not defined for the prediction."
    elif limit is None:
        reason = "It cannot be judged: the number is not defined for the baseline."
    elif (holds := _in_each_order(condition, value, baseline, ties)) is None:
        reason = "It cannot be judged: the order of equal scores decides it. Export scores that differ."
    elif not holds and condition.holds(value, limit):
        failed, reason = False, "It holds, but the order of equal scores alone can make this difference."
    elif not holds:
        failed, reason = False, "It does not hold."
    elif not condition.holds(value, limit):
        reason = "It holds in the best and in the worst order of equal scores, if not in that of the files."
    elif not condition.significant:
        reason = f"It holds by {points(abs(value - limit), signed=False, decimals=2)} points."
    else:
        assert difference is not None
        failed, reason = _significant(difference)
    return Verdict(condition, key, value, baseline, limit, difference, failed, reason)


def _in_each_order(
    condition: Condition, value: float, baseline: float | None, ties: Sequence[Range | None]
) -> bool | None:
    """Return whether a condition on the baseline holds in every order of equal scores; None where the order decides."""
    reported = any(each is not None and each.best - each.worst > LEAST_RANGE for each in ties)
    if baseline is None or not condition.limit.of_baseline or not reported:
        return condition.holds(value, cast(float, condition.limit.value(baseline)))
    limits, values = (each or Range(given, given) for each, given in zip(ties, (baseline, value), strict=True))
    orders = {
        condition.holds(one, cast(float, condition.limit.value(other)))
        for one, other in zip(values, limits, strict=True)
    }
    return orders.pop() if len(orders) == 1 else None


def _significant(difference: Difference) -> tuple[bool, str]:
    """Return whether a condition that holds fails although it must be significant, and why."""
    if difference.low is None:
        return True, "It holds, and cannot be judged to be chance: there is no interval."
    if difference.too_few:
        counted = difference.documents if difference.documents_with is None else difference.documents_with
        return True, f"It holds, and cannot be judged to be chance: too few documents for an interval ({counted:,})."
    if not difference.excludes_zero:
        return False, "It holds, and the interval of the difference includes 0."
    return True, "It holds, and the difference is clear (the interval excludes 0)."


def verdict_table(verdicts: Sequence[Verdict], title: str, signature: str) -> ResultTable:
    """Return one row per condition; ``points`` is prediction minus baseline."""
    columns = ("gate", "condition", "value", "baseline", "limit", "points", "interval", "why")
    rows = tuple(
        (
            "FAILED" if each.failed else "passed", each.condition.text, each.value, each.baseline, each.limit,
            None if each.difference is None else difference_points(each.difference),
            None if each.difference is None else interval_text(each.difference, signed=True), each.reason,
        )
        for each in verdicts
    )  # fmt: skip
    return ResultTable(title=title, signature=signature, columns=columns, rows=rows)
