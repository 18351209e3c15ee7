"""Differences in words: sentences of one difference, the summary of all, points and intervals.

A difference is called more or less only when its interval excludes 0 and there are enough documents. Labels are in the
sentences as they are; whoever shows them escapes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from evaluator.compare.differences import Difference
from evaluator.compare.metrics import METRICS, headlines
from evaluator.data.issues import count_of
from evaluator.matching.causes import Family, family_title
from evaluator.metrics import results
from evaluator.metrics.resampling import LEVEL
from evaluator.metrics.results import MINUS, capitalised

_LEVEL: Final = f"{LEVEL:.0%}".replace("%", " %")


class Summary(NamedTuple):
    """Headline on the most telling difference over all labels, and notes on the others, maybe none."""

    headline: str
    notes: str


def points(value: float, *, signed: bool = True, decimals: int = 1) -> str:
    """Return a difference of ratios in points, the hundredths of a ratio; zero has no sign.

    >>> points(0.026), points(-0.004), points(0.0)
    ('+2.6', '−0.4', '0.0')
    """
    text = results.signed(100.0 * value, decimals)
    return text if signed else text.removeprefix("+")


def tick_text(value: float) -> str:
    """Return a tick of an axis in points: ``+5``, ``−10``, ``0``."""
    return f"+{value:g}" if value > 0 else f"{MINUS}{-value:g}" if value < 0 else "0"


def decimals(one: Difference) -> int:
    """Return the decimals of a difference in points: 2 where a number other than 0 would read as 0.0."""
    numbers = (one.difference, one.low, one.high)
    return 2 if any(number and abs(number) * 100.0 < 0.05 for number in numbers) else 1


def difference_points(one: Difference) -> str | None:
    """Return a difference in points with the decimals of its interval, ``+2.6``; None when undefined."""
    return None if one.difference is None else points(one.difference, decimals=decimals(one))


def difference_with_unit(one: Difference) -> str | None:
    """Return a difference with its unit, ``+2.6 points``; None when it is undefined."""
    text = difference_points(one)
    return None if text is None else f"{text} points"


def named_difference(one: Difference) -> str:
    """Return a difference after what it is of: ``Table recall −2.6 points``."""
    return f"{name_of(one)} {difference_with_unit(one) or 'n/a'}"


def interval_text(one: Difference, *, signed: bool = False) -> str | None:
    """Return the interval of a difference in points, ``−0.2 to 1.6``; None where there is none to show."""
    if one.too_few or one.low is None or one.high is None:
        return None
    return " to ".join(points(end, signed=signed, decimals=decimals(one)) for end in (one.low, one.high))


def name_of(one: Difference) -> str:
    """Return what a difference is of, for a table: ``Recall, all labels`` or ``Table recall``."""
    title = METRICS[one.metric].title
    return f"{capitalised(title)}, all labels" if one.overall else f"{one.label} {title}"


def sentence(one: Difference, names: Sequence[str]) -> str:
    """Return a difference in one sentence.

    ``B finds more: recall +2.6 points, 95 % interval 1.7 to 3.5; 29 documents better, 6 worse.``; with ``no clear
    difference`` when 0 is inside of the interval, and without a claim when there are too few documents.
    """
    metric = METRICS[one.metric]
    what = capitalised(metric.title) + ("" if one.overall else f" of {one.label}")
    if one.difference is None:
        without = [name for name, value in zip(names, (one.a, one.b), strict=False) if value is None]
        return f"{what}: not defined for {' and '.join(without)}."
    if one.difference == 0.0 and not one.low and not one.high:
        return f"{what}: no difference."
    moved = difference_with_unit(one)
    if one.by_ties:
        return f"{what}: no difference beyond the order of equal scores, which alone can make {moved}."
    if one.documents < 2:
        return f"{what} {moved}. With {count_of(one.documents, one.noun)} there is no interval."
    counts = f"{count_of(one.documents_better, one.noun)} better, {one.documents_worse:,} worse"
    if one.low is None:
        why = f"{one.undefined:,} of {one.resamples:,} resamples leave it undefined"
        return f"{what} {moved}; {counts}. No interval: {why}."
    if one.too_few:
        known = f"{one.documents:,}"
        if one.rare:
            known = f"{metric.title} is defined in {one.documents_with or 0:,} of {one.documents:,}"
        return f"{what} {moved}; {counts}. Too few {one.noun}s for an interval: {known}."
    sure = f"{_LEVEL} interval {interval_text(one)}; {counts}."
    if one.is_clear:
        does = metric.better if one.difference > 0.0 else metric.worse
        return f"{names[1]} {does}{'' if one.overall else f' ({one.label})'}: {metric.title} {moved}, {sure}"
    return f"{what}: no clear difference, {moved}, {sure}"


def matched_sentence(names: Sequence[str], matched: Sequence[int], extra: Sequence[int], boxes: int) -> str:
    """Return how many ground-truth boxes one or two models find, the later model first.

    >>> matched_sentence(["A", "B"], [345, 378], [189, 116], 458)
    'B finds 378 of 458 boxes, A finds 345.'
    >>> matched_sentence(["A"], [479], [1001], 588)
    'A finds 479 of 588 boxes, and draws 1,001 that are not in the ground truth.'
    """
    if len(names) == 1:
        drawn = f"and draws {extra[0]:,} that {'is' if extra[0] == 1 else 'are'} not in the ground truth"
        return f"{names[0]} finds {matched[0]:,} of {count_of(boxes, 'box')}, {drawn}."
    return f"{names[1]} finds {matched[1]:,} of {count_of(boxes, 'box')}, {names[0]} finds {matched[0]:,}."


def worse_sentence(family: Family, names: Sequence[str], *, is_new: bool) -> str:
    """Return what the second of two models does wrong more than the first; `is_new`: the first does not at all.

    >>> worse_sentence(Family("joined", truth_label="Text", prediction_label="Text"), ["A", "B"], is_new=True)
    'But B joins Text boxes that A keeps apart.'
    >>> worse_sentence(Family("named", name="missed", truth_label="Table"), ["A", "B"], is_new=False)
    'But B misses Table boxes more often than A.'
    """
    truth = f"{family.truth_label} boxes" if family.truth_label else "boxes"
    does, first = {
        "joined": (f"joins {truth}", "keeps apart"),
        "parts": (f"splits {truth}", "keeps whole"),
        "missed": (f"misses {truth}", "finds"),
        "wrong_class": (f"takes {truth} for {family.prediction_label}", "does not"),
    }.get(family.name if family.cause == "named" else family.cause, ("", ""))
    if not does:
        return f"But {names[1]} has more of this: {family_title(family)}."
    if is_new:
        return f"But {names[1]} {does} that {names[0]} {first}."
    return f"But {names[1]} {does} more often than {names[0]}."


def worst_loss(every: Sequence[Difference]) -> Difference | None:
    """Return the clear loss of a label that is furthest from 0; None without any."""
    losses = [one for one in every if one.kind == "loss" and not one.overall]
    return min(losses, key=lambda one: one.gain, default=None)


def summary(every: Sequence[Difference], names: Sequence[str]) -> Summary:
    """Return a comparison, differences in any order, in a headline and a few words.

    The headline is the clear difference over all labels that is furthest from 0, or a sentence that none is clear. The
    notes name the other metrics of the headline, and the label that lost most when a loss is clear.
    """
    ranked = sorted(_headlines(every), key=lambda one: (not one.is_clear, -abs(one.difference or 0.0)))
    if not ranked:
        return Summary("Nothing can be compared: no metric is defined for both models.", "")
    notes = [_short(one) for one in ranked[1:]]
    worst = worst_loss(every)
    if worst is not None:
        notes.append(loss_text(worst))
    return Summary(sentence(ranked[0], names), " ".join(notes))


def loss_text(worst: Difference) -> str:
    """Return the words of a summary about `worst_loss`."""
    return f"Worst loss: {named_difference(worst)}."


def _headlines(every: Sequence[Difference]) -> list[Difference]:
    overall = {one.metric: one for one in every if one.overall and one.difference is not None}
    for group in headlines():
        chosen = [overall[metric] for metric in group if metric in overall]
        if chosen:
            return chosen
    return []


def _short(one: Difference) -> str:
    title = capitalised(METRICS[one.metric].title)
    if one.difference is None or (not one.difference and not one.low and not one.high):
        return f"{title}: no difference."
    if one.is_clear or one.too_few:
        return f"{title} {difference_with_unit(one)}."
    return f"{title}: no clear difference."
