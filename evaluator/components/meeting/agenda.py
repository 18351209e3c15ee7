"""A meeting as the browser shows it: the agenda, opinions on an item, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluator.components.meeting.payload import AgendaRowItem, DecidedItem, OpinionState, VoteItem
from evaluator.data.issues import count_of, plain
from evaluator.review.decisions import CauseRow, task_text
from evaluator.review.finding_groups import OPINIONS
from evaluator.review.verdicts import VERDICTS

AGENDA_LENGTH: Final = 60
"""Items of the agenda that are listed; the rest is named in one line."""


def agenda_rows(rows: Sequence[CauseRow], shown: str = "") -> list[AgendaRowItem]:
    """Return the first `AGENDA_LENGTH` items as the meeting lists them, and the shown one anywhere."""
    return [
        AgendaRowItem(
            key=row.key,
            title=row.title,
            wrong=" / ".join(f"{side.wrong:,}" for side in row.columns),
            noun=row.columns[0].noun if row.columns else "",
            state=state_words(row),
            done=row.done,
        )
        for place, row in enumerate(rows)
        if place < AGENDA_LENGTH or row.key == shown
    ]


def state_words(row: CauseRow) -> str:
    """Return how far reviewers have come with an item; "agreed" only where two gave the verdict."""
    if not row.judged:
        return "Open"
    if not row.done:
        return f"{row.judged:,} of {row.mistakes:,} judged"
    return OPINIONS[row.opinion] + (", agreed" if row.agreed else "")


def rest_of_agenda(rows: Sequence[CauseRow]) -> str:
    """Return what the agenda does not list, in words; empty for nothing."""
    rest = rows[AGENDA_LENGTH:]
    return f"{count_of(len(rest), 'item')} not listed." if rest else ""


def sentence_of(row: CauseRow, letters: Sequence[str]) -> str:
    """Return what is wrong, places and documents of an item under each model; what became of a finding."""
    if not row.columns:
        return row.entries[0].sentence
    parts = []
    for letter, side in zip(letters, row.columns, strict=True):
        where = f" in {count_of(side.documents, 'document')}" if side.documents else ""
        parts.append(f"{letter}: {side.words}{where}.")
    return " ".join(parts)


def next_item(rows: Sequence[CauseRow], key: str) -> str:
    """Return the key of the next item not done, after the last the first; of the next when all are done."""
    keys = [row.key for row in rows]
    at = keys.index(key) if key in keys else -1
    order = [*rows[at + 1 :], *rows[: max(at, 0)]]
    return next((row.key for row in order if not row.done), order[0].key if order else key)


def counts_of(row: CauseRow) -> dict[str, int]:
    """Return how many reviewers gave each verdict on an item; those who gave several count for none."""
    given = list(row.votes.values())
    return {verdict: given.count(verdict) for verdict in VERDICTS}


def opinion_of(row: CauseRow, reviewer: tuple[str, bool]) -> OpinionState:
    """Return a reviewer's opinion of an item (verdict None for none or several), and its task."""
    vote, task = row.votes.get(reviewer), row.task
    notes = [event for event in row.opinions if event.reviewer == reviewer and event.note]
    return OpinionState(
        verdict=vote if vote in VERDICTS else None,
        note=max(notes, key=lambda event: event.time).note if notes else "",
        owner=task.owner if task else "",
        due=task.due if task else "",
        status=task.status if task else "",
    )


def votes_of(row: CauseRow) -> list[VoteItem]:
    """Return the verdict of each reviewer on an item, by name."""
    return [VoteItem(reviewer_words(*reviewer), OPINIONS[vote]) for reviewer, vote in sorted(row.votes.items())]


def reviewer_words(name: str, verified: bool) -> str:
    """Return the name of a reviewer, and that nobody vouches for it."""
    return plain(name) + ("" if verified else " (unverified)")


def decided_items(rows: Sequence[CauseRow]) -> list[DecidedItem]:
    """Return what was decided so far, in the order of the agenda."""
    return [DecidedItem(row.title, verdict_words(row), task_text(row.task)) for row in rows if row.judged]


def verdict_words(row: CauseRow) -> str:
    """Return the verdict on an item and how many gave it, such as "Model wrong, 2 of 2 reviewers"."""
    text = row.split or row.verdict
    if row.opinion in VERDICTS:
        given = list(row.votes.values()).count(row.opinion)
        text += f", {given} of {count_of(len(row.votes), 'reviewer')}"
    return text
