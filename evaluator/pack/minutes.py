"""The minutes of a meeting as Markdown: what was decided, by whom, who acts on it until when, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from evaluator.components.decisions.rows import place_of
from evaluator.components.meeting.payload import MeetingNumberItem
from evaluator.metrics.export import markdown_text
from evaluator.review.decisions import CauseRow, Effect, decisions_words, effect_text, task_text

Link = Callable[[str, int], str]
"""Returns the address of a page, from document id and index."""


def minutes(
    rows: Sequence[tuple[CauseRow, Effect | None]],
    others: Sequence[CauseRow],
    numbers: Sequence[MeetingNumberItem],
    *,
    letters: Sequence[str],
    signature: str,
    time: datetime,
    link: Link,
) -> str:
    """Return the minutes; text of reviewers and files cannot become markup. `others`: findings of no cause."""
    decided = [(row, effect) for row, effect in rows if row.entries]
    left = [row for row, _ in rows if not row.entries]
    parts = [f"# Minutes, {time:%Y-%m-%d}", markdown_text(signature), "## Decisions", markdown_text(_words(rows))]
    heads = ["Cause", *letters, "Page", "Verdict and note", "Owner", "Due", "Status", "Effect on the numbers"]
    parts += _table(heads, [[*_cause(row, link), *_said(row, effect, letters)] for row, effect in decided])
    if left:
        parts += [f"## Not decided: {len(left):,} of {len(rows):,}"]
        parts += _table(["Cause", *letters, "Page"], [_cause(row, link) for row in left])
    if others:
        parts += ["## Other findings"]
        heads = ["Finding", "Verdict", "Note", "Owner, due, status"]
        rest = [[row.title, row.verdict, _notes(row), task_text(row.task)] for row in others]
        parts += _table(heads, [list(map(markdown_text, row)) for row in rest])
    if numbers:
        parts += ["## Numbers"]
        cells = [[number.name, number.official, number.corrected] for number in numbers]
        parts += _table(["Number", "Official", "Corrected"], [list(map(markdown_text, row)) for row in cells])
    return "\n\n".join(parts) + "\n"


def _words(rows: Sequence[tuple[CauseRow, Effect | None]]) -> str:
    return decisions_words([row for row, _ in rows])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    lines = [heads, [" --- "] * len(heads), *rows]
    return ["\n".join(f"| {' | '.join(line)} |" for line in lines)]


def _cause(row: CauseRow, link: Link) -> list[str]:
    return [markdown_text(row.title), *(side.words for side in row.columns), _page(row, link)]


def _page(row: CauseRow, link: Link) -> str:
    place = place_of(row)
    return "" if place is None else f"[{markdown_text(place[2])}]({link(*place[:2])})"


def _notes(row: CauseRow) -> str:
    return "; ".join(event.note.strip() for event in row.notes)


def _said(row: CauseRow, effect: Effect | None, letters: Sequence[str]) -> list[str]:
    notes = _notes(row)
    split = f" ({row.split})" if row.split else ""
    verdict = f"{row.verdict}{split}, {', '.join(row.people)}" + (f". {notes}" if notes else "")
    owner = row.owner or "no owner"
    return list(map(markdown_text, (verdict, owner, row.due or "no date", row.status, effect_text(effect, letters))))
