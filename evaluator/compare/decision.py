"""Ship B, keep A, or cannot tell: the result of a comparison under a rule that the reader can set.

A failed condition decides: a clear loss over the limit keeps A, whatever the main measure does. Below `FEW_DOCUMENTS`
documents, or where the interval reaches on both sides of what matters, the answer is "cannot tell"; a label with too
few documents is named as not judged and neither forbids nor carries anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from evaluator.compare.differences import Difference
from evaluator.compare.metrics import METRICS, headlines
from evaluator.compare.sentences import difference_with_unit, interval_text, named_difference, points
from evaluator.data.issues import count_of, listed
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.resampling import FEW_DOCUMENTS
from evaluator.metrics.results import JsonObject, capitalised

Answer = Literal["ship", "keep", "cannot_tell"]
MANY_DOCUMENTS: Final = 1_000
"""When more documents than this would be needed, more documents are unlikely to settle it."""
FOUND: Final = ("f1", "precision", "recall")
"""Of models that are judged by what they find: how well a found box fits neither forbids nor carries anything."""
_FIRST_CHOICES: Final = ("f1", "map", "mean_f1", "mean_ap")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """When B is to be shipped.

    `metric` is the main measure over all labels, a key of `evaluator.compare.metrics.METRICS`; None is `main_metric`.
    `least` is the smallest difference that matters, `loss` the largest clear loss that is allowed (None: any), as
    ratios; losses are of `FOUND` where the main measure is one of them, over all labels or one, else of any other
    number.
    """

    metric: str | None = None
    least: float = 0.01
    loss: float | None = 0.05

    def __post_init__(self) -> None:
        if not 0.0 <= self.least < 1.0 or (self.loss is not None and not 0.0 <= self.loss < 1.0):
            raise ValueError(f"least and loss must be in [0, 1); found {self.least} and {self.loss}")


State = Literal["fails", "open", "holds"]
STATES: Final[tuple[State, ...]] = ("fails", "open", "holds")
"""What a condition can be, in the order in which conditions are said."""


class Condition(NamedTuple):
    """A condition of a rule: `one` is the difference that decides it, None where there is none, `least` its limit."""

    state: State
    words: str
    one: Difference | None
    least: float


class Cost(NamedTuple):
    """Boxes to correct by hand per 100 pages with each model, and B minus A; see `Mistakes.corrections`."""

    a: float
    b: float

    @property
    def difference(self) -> float:
        """B minus A; negative where B saves work."""
        return self.b - self.a


class Decision(NamedTuple):
    """Result of a comparison under a rule.

    `main` is None when the measure is defined for neither model. `losses` and `gains` are clear ones beside it, the
    largest first (of `FOUND` alone where it is one of them); `forbidding` those beyond the rule's limit.
    `documents_needed`: 0 when settled, None without an answer. `cost` is None without boxes.
    """

    answer: Answer
    sentence: str
    rule: Rule
    names: tuple[str, str]
    main: Difference | None
    losses: tuple[Difference, ...]
    gains: tuple[Difference, ...]
    forbidding: tuple[Difference, ...]
    unjudged: tuple[str, ...]
    documents: int
    documents_needed: int | None
    cost: Cost | None

    @property
    def headline(self) -> str:
        """Return the answer: ``Ship blocks 1.0``, ``Keep lines 1.0``, ``Cannot tell on these 8 documents``."""
        if self.answer == "cannot_tell":
            return f"Cannot tell on {'this document' if self.documents == 1 else f'these {self.documents:,} documents'}"
        return f"{'Ship' if self.answer == 'ship' else 'Keep'} {self.names[self.answer == 'ship']}"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Return the conditions of the rule, those that fail first."""
        main, rule = self.main, self.rule
        title = "the main measure" if main is None else METRICS[main.metric].title
        way = "up" if main is None else _better(main)
        words = f"{title} {way} by {_points(rule.least)} or more" if rule.least else f"{title} clearly {way}"
        made = [Condition(self.main_state, words, main, rule.least)]
        if rule.loss is not None:
            words = f"no clear loss over {_points(rule.loss)}" if rule.loss else "no clear loss"
            worst = next(iter((*self.forbidding, *self.losses)), None)
            made.append(Condition(self.loss_state, words, worst, -rule.loss))
        return tuple(sorted(made, key=lambda each: STATES.index(each.state)))

    @property
    def main_state(self) -> State:
        """Return whether the main measure is better by as much as the rule asks for."""
        main, least = self.main, self.rule.least
        span = None if main is None or main.too_few or main.by_ties else main.gain_interval
        if span is None:
            return "open"
        low, high = span
        if low >= least and low > 0.0:
            return "holds"
        return "fails" if high < max(least, 1e-9) else "open"

    @property
    def loss_state(self) -> State:
        """Return whether there is no clear loss beyond the limit of the rule."""
        if self.forbidding:
            return "fails"
        return "open" if self.main is None or self.main.few_documents else "holds"

    @property
    def counted(self) -> str:
        """Return the numbers whose clear losses and gains count, in words."""
        return counted_metrics_text(None if self.main is None else self.main.metric)

    @property
    def more_documents(self) -> str:
        """Return what more documents would do, in a sentence; empty where they would do nothing."""
        needed = self.documents_needed
        if not needed or self.main is None:
            return ""
        if needed > MANY_DOCUMENTS:
            return "More documents are unlikely to settle it."
        more = count_of(needed, "more document")
        title = METRICS[self.main.metric].title
        return f"{more} would settle {title} if the difference stays at {difference_with_unit(self.main)}."

    @property
    def cost_words(self) -> tuple[str, str]:
        """Return what B costs or saves, and what that is made of; empty without boxes."""
        if self.cost is None:
            return "", ""
        # Of the numbers as they are said: 146.2 and 161.5 are 15.3 apart.
        saved = round(round(self.cost.a, 1) - round(self.cost.b, 1), 1)
        noun = "corrected boxes per 100 pages"
        head = f"Saves {saved:,.1f} {noun}" if saved > 0 else f"Costs {-saved:,.1f} more {noun}"
        head = f"As many {noun}" if saved == 0 else head
        return head, f"{self.cost.b:,.1f} instead of {self.cost.a:,.1f}"

    def to_json(self) -> JsonObject:
        """Return the decision as plain values under the keys of the terminal contract; undefined is None."""
        main = self.main
        return {
            "answer": self.answer,
            "headline": self.headline,
            "sentence": self.sentence,
            "rule": {"metric": None if main is None else main.metric, "least": self.rule.least, "loss": self.rule.loss},
            "difference": None if main is None else main.difference,
            "low": None if main is None else main.low,
            "high": None if main is None else main.high,
            "losses": [_plain(one) for one in self.losses],
            "gains": [_plain(one) for one in self.gains],
            "not_judged": list(self.unjudged),
            "documents": self.documents,
            "documents_needed": self.documents_needed,
            "corrected_boxes_per_100_pages": None
            if self.cost is None
            else {"a": self.cost.a, "b": self.cost.b, "difference": self.cost.difference},
        }


def decide(
    every: Sequence[Difference], names: Sequence[str], *, rule: Rule | None = None, cost: Cost | None = None
) -> Decision:
    """Return the decision on some differences, B minus A in any order; without a `rule`, the default one.

    "Keep" when a clear loss is beyond ``rule.loss`` or the whole interval of the main measure is below ``rule.least``;
    "ship" when no loss is and the whole interval is at least ``rule.least``; else "cannot tell". More documents: an
    interval narrows with the root of their number n, so its half h reaches the distance d to ``rule.least`` at n (h /
    d)²; undefined where d is 0.
    """
    chosen = Rule() if rule is None else rule
    metric = chosen.metric or main_metric(every)
    main = next((one for one in every if one.overall and one.metric == metric and one.difference is not None), None)
    others = [one for one in every if one is not main and (metric not in FOUND or one.metric in FOUND)]
    losses = sorted((one for one in others if one.kind == "loss"), key=lambda one: one.gain)
    gains = sorted((one for one in others if one.kind == "gain"), key=lambda one: -one.gain)
    over = [one for one in losses if chosen.loss is not None and -one.gain > chosen.loss]
    answer, sentence = _answer(main, losses, over, chosen)
    return Decision(
        answer=answer,
        sentence=sentence,
        rule=chosen,
        names=(names[0], names[1]),
        main=main,
        losses=tuple(losses),
        gains=tuple(gains),
        forbidding=tuple(over),
        unjudged=_unjudged(others),
        documents=max((one.documents for one in every), default=0),
        documents_needed=0 if over else documents_needed(main, chosen.least),
        cost=cost,
    )


def counted_metrics_text(metric: str | None) -> str:
    """Return the numbers whose clear losses and gains count beside a main measure, in words."""
    if metric is not None and metric not in FOUND:
        return "any other number"
    return listed([METRICS[each].title for each in FOUND], "or")


def _unjudged(every: Sequence[Difference]) -> tuple[str, ...]:
    of_labels = [one for one in every if not one.overall and one.difference is not None]
    judged = {one.label for one in of_labels if not one.rare}
    return tuple(dict.fromkeys(one.label for one in of_labels if one.label not in judged))


def main_metric(every: Sequence[Difference]) -> str | None:
    """Return the default measure: F1, or the first of the protocol's summary; None when none is defined."""
    defined = [one.metric for one in every if one.overall and one.difference is not None]
    preferred = (*_FIRST_CHOICES, *(metric for group in headlines() for metric in group), *defined)
    return next((metric for metric in preferred if metric in defined), None)


def main_metrics(every: Sequence[Difference]) -> tuple[str, ...]:
    """Return the measures that a rule can ask about: defined over all labels, and more is better."""
    metrics = [one.metric for one in every if one.overall and one.difference is not None]
    return tuple(dict.fromkeys(metric for metric in metrics if METRICS[metric].target is None))


def documents_needed(main: Difference | None, least: float) -> int | None:
    """Return how many more documents would settle a difference; 0 when settled, None without an answer."""
    span = None if main is None or main.too_few else main.gain_interval
    if main is None or main.difference is None or span is None:
        return None
    low, high = span
    if low >= least or high < least:
        return 0
    distance = abs(main.gain - least)
    if distance == 0.0:
        return None
    half = (high - low) / 2.0
    # Rounded, because 0.03 - 0.01 is not exactly 0.02.
    return max(math.ceil(round(main.documents * (half / distance) ** 2 - main.documents, 6)), 1)


def cost_of(a: AnyBoxResult, b: AnyBoxResult) -> Cost | None:
    """Return the boxes to correct by hand per 100 pages with each of two models; None without pages."""
    pages = a.matching.dataset.pages
    if not pages:
        return None
    totals = [100.0 * int(result.corrections.sum()) / pages for result in (a, b)]
    return Cost(*totals)


def _answer(
    main: Difference | None, losses: Sequence[Difference], over: Sequence[Difference], rule: Rule
) -> tuple[Answer, str]:
    if over and (main is None or main.kind != "loss"):
        also = f", and {count_of(len(over) - 1, 'more such loss')}" if len(over) > 1 else ""
        allowed = _points(rule.loss or 0.0).split()[0]
        told = f"{named_difference(over[0])}, more than the {allowed} allowed{also}."
        return "keep", told if main is None else f"{told} {_told(main)}."
    if main is None or main.difference is None:
        return "cannot_tell", "The main measure is not defined for both models."
    title = capitalised(METRICS[main.metric].title)
    moved, matters = difference_with_unit(main), _points(rule.least)
    if main.by_ties:
        return "cannot_tell", f"{title} {moved}, which the order of equal scores alone can make."
    if main.few_documents:
        few = f"{count_of(main.documents, 'document')} {'is' if main.documents == 1 else 'are'} too few"
        return "cannot_tell", f"{title} {moved}, but {few} for an interval: {FEW_DOCUMENTS} are needed."
    if main.rare or (gained := main.gain_interval) is None:
        return "cannot_tell", f"{title} {moved}, and there is no interval: too few documents define it."
    low, high = gained
    span = interval_text(main, signed=True)
    if low >= rule.least and low > 0.0:
        by = f" by more than {matters}" if rule.least else ""
        return "ship", f"{title} is clearly {_better(main)}{by} ({span}). {_loss_words(losses, rule, main.metric)}"
    if high < 0.0:
        return "keep", f"{title} is clearly {'up' if _better(main) == 'down' else 'down'}: {moved} ({span})."
    if high < rule.least:
        verb = "matters" if matters.endswith(" point") else "matter"
        return (
            "keep",
            f"{title} gains {points(high)} points at most ({span}): less than the {matters} that {verb}.",
        )
    return "cannot_tell", f"{title} {moved}: its interval, {span}, reaches from below {_border(rule)} to above."


def _better(main: Difference) -> str:
    """Return which way a measure goes that becomes better."""
    return "down" if METRICS[main.metric].lower_is_better else "up"


def _told(main: Difference) -> str:
    """Return the main measure, and its interval where the documents are enough for one."""
    span = interval_text(main, signed=True)
    title = capitalised(METRICS[main.metric].title)
    return f"{title} {difference_with_unit(main)}{'' if span is None else f' ({span})'}"


def _border(rule: Rule) -> str:
    return _points(rule.least, signed=True) if rule.least else "0"


def _loss_words(losses: Sequence[Difference], rule: Rule, metric: str) -> str:
    counted = counted_metrics_text(metric)
    if not losses:
        return f"No clear loss in {counted}."
    within = "" if rule.loss is None else ", within the limit"
    worst = named_difference(losses[0]) if len(losses) == 1 else f"the worst is {named_difference(losses[0])}"
    return f"{count_of(len(losses), 'clear loss')} in {counted}{within}: {worst}."


def _points(value: float, *, signed: bool = False) -> str:
    number = f"{value * 100.0:.1f}".removesuffix(".0")
    return f"{'+' if signed else ''}{number} {'point' if number == '1' else 'points'}"


def _plain(one: Difference) -> dict[str, object]:
    return {name: getattr(one, name) for name in ("metric", "label", "difference", "low", "high")}
