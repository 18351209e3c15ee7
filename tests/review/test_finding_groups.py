"""Findings put together by cause, what the other model did there, and the words of a meeting, on the sample data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from evaluator import formats
from evaluator.data.dataset import join
from evaluator.pack.minutes import minutes
from evaluator.protocols import snapshot
from evaluator.review.agenda import AgendaItem, agenda, next_item, state_of_item, targets_of_causes, verdict_words
from evaluator.review.finding_groups import group_by_cause, of_causes, outcome, rows_of
from evaluator.review.status import finding_statuses
from evaluator.review.verdicts import Event, ReviewLog, Target, judge
from tests.dashboard import SAMPLE_DATA

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@cache
def results() -> tuple[Any, Any]:
    dataset = join(*(formats.read(SAMPLE_DATA / f"{name}.json") for name in ("ground_truth", "lines", "blocks")))
    return snapshot.pair(dataset, 0).match().at(0.5), snapshot.pair(dataset, 1).match().at(0.5)


def said(targets: dict[str, Target], verdict: str, author: str = "Anna", minutes_later: int = 0) -> list[Event]:
    time = NOW + timedelta(minutes=minutes_later)
    return [judge(target, verdict=verdict, author=author, verified=False, time=time) for target in targets.values()]


def table_read_as_lines() -> int:
    """The costliest Table of the first model that was read as lines."""
    made = results()[0].causes
    return int(
        made.alike[next(each for each in made.alike if each.cause == "parts" and each.truth_label == "Table")][0]
    )


def item_of(log: ReviewLog, title: str) -> tuple[AgendaItem, list[AgendaItem]]:
    items = agenda(results()[0], results(), finding_statuses(log, results()))
    return next(item for item in items if item.title == title), items


def test_findings_of_one_cause_are_one_group_with_the_cost_of_what_was_judged() -> None:
    made, cause = results()[0].causes, table_read_as_lines()
    targets = targets_of_causes(results()[0], np.array([cause]), ReviewLog())
    assert len(targets) == len(made.rows[cause])
    log = ReviewLog.of(said(targets, "model_wrong"))
    (group,) = group_by_cause(finding_statuses(log, results()), results())
    assert (group.model, group.cause, group.title) == (0, cause, made.title(cause))
    assert (group.cost, len(group.entries), group.opinion) == (made.cost[cause], group.mistakes, "model_wrong")
    first = dict([next(iter(targets.items()))])
    (part,) = group_by_cause(finding_statuses(ReviewLog.of(said(first, "ignore")), results()), results())
    assert (len(part.entries), part.mistakes) == (1, group.mistakes)
    assert part.cost < group.cost


def test_the_costs_of_groups_add_up_and_each_finding_is_in_one() -> None:
    result = results()[0]
    targets = targets_of_causes(result, np.arange(len(result.causes)), ReviewLog())
    assert len(targets) == len(result.mistakes)
    every = group_by_cause(finding_statuses(ReviewLog.of(said(targets, "ignore")), results()), results())
    assert sum(len(group.entries) for group in every) == len(targets)
    assert sum(group.cost for group in every) == int(result.mistakes.corrections.sum())
    costs = [group.cost for group in every]
    assert costs == sorted(costs, reverse=True)


def test_a_model_is_beside_itself_what_its_cause_says() -> None:
    result, cause = results()[0], table_read_as_lines()
    made = result.causes
    place = rows_of(result, made.rows[cause], int(made.page[cause]))
    truths, predictions = made.counts[cause]
    assert (len(place.truths), len(place.predictions)) == (truths, predictions)
    own = outcome(result, place, result)
    assert own.extra >= predictions - truths
    assert own.matched < own.truths


def test_agreed_needs_two_reviewers() -> None:
    result, title = results()[0], "Table read as several boxes"
    item, items = item_of(ReviewLog(), title)
    assert (item.cost, len(item.examples), state_of_item(item)) == (72, 8, "Open")
    targets = targets_of_causes(result, item.examples, ReviewLog())
    one = said(targets, "model_wrong")
    item, _ = item_of(ReviewLog.of(one[:1]), title)
    assert state_of_item(item) == f"1 of {item.mistakes} judged"
    item, items = item_of(ReviewLog.of(one), title)
    assert (state_of_item(item), verdict_words(item)) == ("Model wrong", "Model wrong, 1 of 1 reviewer")
    assert next_item(items, item.key) == items[1].key
    item, items = item_of(ReviewLog.of([*one, *said(targets, "model_wrong", "Ben", 1)]), title)
    assert (state_of_item(item), verdict_words(item)) == ("Model wrong, agreed", "Model wrong, 2 of 2 reviewers")
    text = minutes(items, [], model="A", signature="snapshot", time=NOW)
    assert text.startswith("**Minutes, 2026-01-31**")
    assert f"**Decided: 1 of {len(items)}**" in text
    (row,) = [line for line in text.splitlines() if "2 of 2 reviewers" in line]
    assert "Anna" in row
    assert "Ben" in row
    assert of_causes(finding_statuses(ReviewLog.of(one), results()), result, item.examples) != []
    assert of_causes(finding_statuses(ReviewLog.of(one), results()), result, item.examples[:0]) == []
    judged = of_causes(finding_statuses(ReviewLog.of(one), results()), result, item.examples[:1])
    assert len(judged) == len(result.causes.rows[int(item.examples[0])])
    item, _ = item_of(ReviewLog.of([*one, *said(targets, "ignore", "Ben", 1)]), title)
    assert state_of_item(item) == "Reviewers differ"
