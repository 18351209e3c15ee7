"""A meeting on the findings of a model in words: the agenda, what was decided, and the next item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from evaluator.data.issues import count_of, plain
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.error_types import ERROR_TYPES
from evaluator.review.field_targets import PROBLEMS
from evaluator.review.groups import AgendaItem
from evaluator.review.identity import WRONG_PIXELS
from evaluator.review.status import title_of
from evaluator.review.verdicts import KINDS, STATUSES, VERDICTS
from evaluator.review.word_targets import WORD_PROBLEMS

MOST_AT_ONCE: Final = 5_000
"""Mistakes that one decision may be for."""
AGENDA_LENGTH: Final = 60
"""Items of the agenda that are listed; the rest is named in one line."""

OPINIONS: Final[Mapping[str, str]] = {
    **dict(VERDICTS.items()),
    "conflict": "Reviewers differ",
    "several": "Several verdicts",
    "note": "Note only",
}


def title_of_item(item: AgendaItem) -> str:
    """Return an item of the agenda in words."""
    if item.title:
        return plain(item.title)
    target = item.entries[0].judged.target
    name = target.mistake or ""
    known = name in ERROR_TYPES["document"] or name == WRONG_PIXELS
    what = title_of(name) if known else {**PROBLEMS, **WORD_PROBLEMS}.get(name, KINDS[target.kind])
    where = [plain(target.document)] if target.document else []
    where += [f"page {target.page + 1}"] if target.page is not None else []
    return f"{what}: {', '.join(where)}" if where else what


def state_of_item(item: AgendaItem) -> str:
    """Return how far reviewers have come with an item, in words.

    "Open", "2 of 8 judged", the verdict when all of it was judged, and "agreed" only where two reviewers gave it.
    """
    if not item.judged:
        return "Open"
    if not item.done:
        return f"{item.judged:,} of {item.mistakes:,} judged"
    return OPINIONS[item.opinion] + (", agreed" if item.agreed else "")


def rest_of_agenda(items: Sequence[AgendaItem]) -> str:
    """Return what the agenda does not list, in words; empty for nothing."""
    rest = items[AGENDA_LENGTH:]
    if not rest:
        return ""
    return f"{count_of(len(rest), 'item')} with {count_of(sum(item.cost for item in rest), 'box')} not listed."


def sentence_of_item(item: AgendaItem, letter: str, other: AnyBoxResult | None, other_letter: str) -> str:
    """Return an item's cost and places, and how often the other model (None: not open) has its cause."""
    if item.family is None:
        return item.entries[0].sentence
    places = f"{count_of(len(item.examples), 'place')} on {count_of(item.pages, 'page')}"
    text = f"{letter}: {count_of(item.cost, 'box')} to correct, {places} of {count_of(item.documents, 'document')}."
    if other is None:
        return text
    made = other.causes
    rows = made.alike.get(item.family)
    if rows is None:
        return f"{text} {other_letter}: none."
    return f"{text} {other_letter}: {count_of(int(made.cost[rows].sum()), 'box')}, {count_of(len(rows), 'place')}."


def next_item(items: Sequence[AgendaItem], key: str) -> str:
    """Return the key of the next item not done, after the last the first; of the next when all are done."""
    keys = [item.key for item in items]
    at = keys.index(key) if key in keys else -1
    order = [*items[at + 1 :], *items[: max(at, 0)]]
    return next((item.key for item in order if not item.done), order[0].key if order else key)


def counts_of(item: AgendaItem) -> dict[str, int]:
    """Return how many reviewers gave each verdict on an item; those who gave several count for none."""
    given = list(item.votes.values())
    return {verdict: given.count(verdict) for verdict in VERDICTS}


def task_words(item: AgendaItem) -> str:
    """Return owner, due date and status in words; empty where nobody gave one."""
    task = item.task
    if task is None:
        return ""
    parts = [
        plain(task.owner),
        f"due {task.due}" if task.due else "",
        STATUSES.get(task.status, "").lower(),
    ]
    return ", ".join(part for part in parts if part)


def verdict_words(item: AgendaItem) -> str:
    """Return the verdict on an item and how many gave it, such as "Model wrong, 2 of 2 reviewers"."""
    votes = item.votes
    text = OPINIONS[item.opinion]
    if item.opinion in VERDICTS:
        given = sum(vote == item.opinion for vote in votes.values())
        text += f", {given} of {count_of(len(votes), 'reviewer')}"
    if not item.done:
        text += f", {item.judged:,} of {item.mistakes:,} judged"
    return text


def last_note(item: AgendaItem, reviewer: tuple[str, bool] | None = None) -> str:
    """Return the latest note on an item, of anyone or of one reviewer; empty for none."""
    events = (event for event in item.opinions if event.note and reviewer in (None, event.reviewer))
    notes = sorted(events, key=lambda event: event.time)
    return notes[-1].note if notes else ""
