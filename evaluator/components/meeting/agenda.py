"""A meeting as the browser shows it: the agenda, opinions on an item, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.components.meeting.payload import AgendaRowItem, DecidedItem, OpinionState, VoteItem
from evaluator.data.issues import plain
from evaluator.review import agenda as words
from evaluator.review.agenda import AgendaItem
from evaluator.review.verdicts import VERDICTS


def agenda_rows(items: Sequence[AgendaItem], shown: str = "") -> list[AgendaRowItem]:
    """Return the first `AGENDA_LENGTH` items as the meeting lists them, and the shown one anywhere."""
    return [
        AgendaRowItem(
            key=item.key,
            title=words.title_of_item(item),
            boxes=f"{item.boxes:,}" if item.family is not None else "",
            state=words.state_of_item(item),
            done=item.done,
        )
        for place, item in enumerate(items)
        if place < words.AGENDA_LENGTH or item.key == shown
    ]


def opinion_of(item: AgendaItem, reviewer: tuple[str, bool]) -> OpinionState:
    """Return a reviewer's opinion of an item (verdict None for none or several), and its task."""
    vote, task = item.votes.get(reviewer), item.task
    return OpinionState(
        verdict=vote if vote in VERDICTS else None,
        note=words.last_note(item, reviewer),
        owner=task.owner if task else "",
        due=task.due if task else "",
        status=task.status if task else "",
    )


def votes_of(item: AgendaItem) -> list[VoteItem]:
    """Return the verdict of each reviewer on an item, by name."""
    return [
        VoteItem(plain(name) + ("" if verified else " (unverified)"), words.OPINIONS[vote])
        for (name, verified), vote in sorted(item.votes.items())
    ]


def decided_items(items: Sequence[AgendaItem]) -> list[DecidedItem]:
    """Return what was decided so far, in the order of the agenda."""
    return [
        DecidedItem(words.title_of_item(item), words.verdict_words(item), words.task_text(item.task))
        for item in items
        if item.judged
    ]
