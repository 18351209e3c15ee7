"""Findings put together by cause, what the other model did there, and the words of a meeting, on the sample data."""

from __future__ import annotations

import numpy as np

from evaluator.review.agenda import AgendaItem, agenda, next_item, state_of_item, targets_of_causes, verdict_words
from evaluator.review.finding_groups import FindingGroup, group_by_cause, of_causes, outcome, rows_of
from evaluator.review.status import finding_statuses
from evaluator.review.verdicts import Event, ReviewLog, Target
from tests.judging import opinion
from tests.sample_part import sample_results


def verdicts_on(targets: dict[str, Target], verdict: str, author: str = "Anna", minutes: int = 0) -> list[Event]:
    return [opinion(target, verdict, author=author, minutes=minutes) for target in targets.values()]


def table_read_as_lines() -> int:
    """The costliest Table of the first model that was read as lines."""
    made = sample_results()[0].causes
    return int(
        made.alike[next(each for each in made.alike if each.cause == "parts" and each.truth_label == "Table")][0]
    )


def grouped(*events: Event) -> list[FindingGroup]:
    return group_by_cause(finding_statuses(ReviewLog.of(events), sample_results()), sample_results())


def item_of(log: ReviewLog, title: str) -> tuple[AgendaItem, list[AgendaItem]]:
    items = agenda(sample_results()[0], sample_results(), finding_statuses(log, sample_results()))
    return next(item for item in items if item.title == title), items


def test_findings_of_one_cause_are_one_group_with_the_boxes_of_what_was_judged() -> None:
    made, cause = sample_results()[0].causes, table_read_as_lines()
    targets = targets_of_causes(sample_results()[0], np.array([cause]), ReviewLog())
    assert len(targets) == len(made.rows[cause])
    (group,) = grouped(*verdicts_on(targets, "model_wrong"))
    assert (group.model, group.cause, group.title) == (0, cause, made.title(cause))
    assert (group.boxes, len(group.entries), group.opinion) == (made.boxes[cause], group.mistakes, "model_wrong")
    first = dict([next(iter(targets.items()))])
    (part,) = grouped(*verdicts_on(first, "ignore"))
    assert (len(part.entries), part.mistakes) == (1, group.mistakes)
    assert part.boxes < group.boxes


def test_the_boxes_of_groups_add_up_and_each_finding_is_in_one() -> None:
    result = sample_results()[0]
    targets = targets_of_causes(result, np.arange(len(result.causes)), ReviewLog())
    assert len(targets) == len(result.mistakes)
    every = grouped(*verdicts_on(targets, "ignore"))
    assert sum(len(group.entries) for group in every) == len(targets)
    assert sum(group.boxes for group in every) == int(result.micro.mistakes[0])
    costs = [group.boxes for group in every]
    assert costs == sorted(costs, reverse=True)


def test_a_model_is_beside_itself_what_its_cause_says() -> None:
    result, cause = sample_results()[0], table_read_as_lines()
    made = result.causes
    place = rows_of(result, made.rows[cause], int(made.page[cause]))
    truths, predictions = made.counts[cause]
    assert (len(place.truths), len(place.predictions)) == (truths, predictions)
    own = outcome(result, place, result)
    assert own.extra >= predictions - truths
    assert own.matched < own.truths


def test_agreed_needs_two_reviewers() -> None:
    result, title = sample_results()[0], "Table read as several boxes"
    item, items = item_of(ReviewLog(), title)
    assert (item.boxes, len(item.examples), state_of_item(item)) == (76, 8, "Open")
    targets = targets_of_causes(result, item.examples, ReviewLog())
    one = verdicts_on(targets, "model_wrong")
    item, _ = item_of(ReviewLog.of(one[:1]), title)
    assert state_of_item(item) == f"1 of {item.mistakes} judged"
    item, items = item_of(ReviewLog.of(one), title)
    assert (state_of_item(item), verdict_words(item)) == ("Model wrong", "Model wrong, 1 of 1 reviewer")
    assert next_item(items, item.key) == items[1].key
    item, items = item_of(ReviewLog.of([*one, *verdicts_on(targets, "model_wrong", "Ben", 1)]), title)
    assert (state_of_item(item), verdict_words(item)) == ("Model wrong, agreed", "Model wrong, 2 of 2 reviewers")
    assert of_causes(finding_statuses(ReviewLog.of(one), sample_results()), result, item.examples) != []
    assert of_causes(finding_statuses(ReviewLog.of(one), sample_results()), result, item.examples[:0]) == []
    judged = of_causes(finding_statuses(ReviewLog.of(one), sample_results()), result, item.examples[:1])
    assert len(judged) == len(result.causes.rows[int(item.examples[0])])
    item, _ = item_of(ReviewLog.of([*one, *verdicts_on(targets, "ignore", "Ben", 1)]), title)
    assert state_of_item(item) == "Reviewers differ"
