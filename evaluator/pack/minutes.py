"""The minutes of a meeting: what was decided, by whom, who acts on it until when, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from evaluator.components.meeting.agenda import votes_of
from evaluator.components.meeting.payload import MeetingNumberItem
from evaluator.metrics.export import to_markdown
from evaluator.metrics.results import ResultTable
from evaluator.review.agenda import AgendaItem, last_note, state_of_item, title_of_item, verdict_words
from evaluator.review.verdicts import STATUSES


def minutes(
    items: Sequence[AgendaItem],
    numbers: Sequence[MeetingNumberItem],
    *,
    model: str,
    signature: str,
    time: datetime,
) -> str:
    """Return the minutes as Markdown; text of reviewers and files cannot become markup.

    `items`: the whole agenda, of the mistakes of `model`. Tables without rows are left out.
    """
    judged = [item for item in items if item.judged]
    left = [item for item in items if not item.done]
    tables = [
        ResultTable(
            title=f"Decided: {len(judged):,} of {len(items):,}",
            signature=signature,
            columns=("item", "boxes", "verdict", "by", "owner", "due", "status", "note"),
            rows=tuple(
                (
                    title_of_item(item),
                    _boxes(item),
                    verdict_words(item),
                    ", ".join(vote.name for vote in votes_of(item)),
                    *_task(item),
                )
                for item in judged
            ),
        ),
        ResultTable(
            title=f"Open: {len(left):,}",
            signature=signature,
            columns=("item", "boxes", "state"),
            rows=tuple((title_of_item(item), _boxes(item), state_of_item(item)) for item in left),
        ),
        ResultTable(
            title="Numbers",
            signature=signature,
            columns=("number", "official", "corrected"),
            rows=tuple((number.name, number.official, number.corrected) for number in numbers),
        ),
    ]
    head = ResultTable(title=f"Minutes, {time:%Y-%m-%d}", signature=f"Mistakes of {model}", columns=("",), rows=())
    intro = to_markdown([head]).split("\n\n| ", 1)[0]
    return (
        f"{intro}\n\n{to_markdown([table for table in tables if table.rows])}" if any(t.rows for t in tables) else intro
    )


def _boxes(item: AgendaItem) -> int | None:
    """Return the boxes to correct; None for a finding without a cause."""
    return item.cost if item.family is not None else None


def _task(item: AgendaItem) -> tuple[str, str, str, str]:
    task = item.task
    words = STATUSES.get(task.status, "") if task else ""
    return (task.owner if task else "", task.due if task else "", words, last_note(item))
