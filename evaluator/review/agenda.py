"""The agenda of a meeting on the findings of a model: its items, most wrong boxes first, and their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.data.issues import count_of, plain
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.causes import CausesPartial, Family, family_title
from evaluator.matching.error_types import ERROR_TYPES, NONE
from evaluator.review.finding_groups import FindingSet, Opinion, Results, agreed_by_two, mistake_of
from evaluator.review.identity import WRONG_PIXELS, match_page_reviews, mistake_targets, targets_by_id
from evaluator.review.status import FIELD_PROBLEMS, FindingStatus, title_of
from evaluator.review.verdicts import KINDS, STATUSES, VERDICTS, Event, ReviewLog, Target, Verdict
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


@dataclass(frozen=True, eq=False)
class AgendaItem(FindingSet):
    """Item of the agenda: a kind of cause of one model on all its pages, or a finding without a cause.

    `key` is the same under every threshold. `examples` has rows of its causes, the largest first; `boxes` counts its
    wrong boxes. Without a cause: title "", family and model None, no examples.
    """

    key: str
    title: str
    family: Family | None
    model: int | None
    examples: IntArray
    boxes: int
    mistakes: int
    pages: int
    documents: int
    entries: tuple[FindingStatus, ...]

    @property
    def judged(self) -> int:
        """Mistakes, or findings without a cause, with a verdict or a conflict."""
        return sum(entry.judged.verdict is not None or entry.judged.conflict for entry in self.entries)

    @property
    def done(self) -> bool:
        """Return whether everything of it was judged."""
        return self.judged >= max(self.mistakes, len(self.entries))

    @property
    def agreed(self) -> bool:
        """Return whether all of it has one verdict that two reviewers or more gave."""
        return (
            self.done
            and self.opinion not in ("conflict", "several", "note")
            and all(agreed_by_two(entry.judged) for entry in self.entries)
        )

    @property
    def votes(self) -> dict[tuple[str, bool], Opinion]:
        """Return each reviewer's verdict on it, by name and whether a login vouches for it."""
        verdicts: dict[tuple[str, bool], set[Verdict]] = {}
        for event in self.opinions:
            if event.verdict is not None:
                verdicts.setdefault(event.reviewer, set()).add(event.verdict)
        return {who: next(iter(each)) if len(each) == 1 else "several" for who, each in verdicts.items()}


def agenda(result: AnyBoxResult, results: Results, statuses: Sequence[FindingStatus]) -> list[AgendaItem]:
    """Return what a meeting on the model of `result` goes through.

    The kinds of causes, most wrong boxes first, then findings without a cause, the newest first; the boxes add up to
    those of the model. `results` has every open model, `statuses` all findings.
    """
    causes, dataset, model = result.causes, result.matching.dataset, result.matching.model
    by_model = {each.matching.model: each for each in results}
    entries: dict[Family, list[FindingStatus]] = {}
    others: list[FindingStatus] = []
    for entry in statuses:
        mistake = mistake_of(entry, by_model)
        if mistake is None:
            others.append(entry)
        elif mistake[0] == model:
            entries.setdefault(causes.families[int(causes.of_mistake[mistake[1]])], []).append(entry)
    items = []
    for family, total in CausesPartial.of(causes, dataset.page_document).most_first:
        items.append(
            AgendaItem(
                key="/".join(family),
                title=family_title(family),
                family=family,
                model=model,
                examples=causes.alike[family],
                boxes=total.boxes,
                mistakes=total.mistakes,
                pages=total.pages,
                documents=total.documents,
                entries=tuple(entries.get(family, ())),
            )
        )
    nothing = np.empty(0, dtype=np.int64)
    items += [AgendaItem(entry.judged.target_id, "", None, None, nothing, 0, 0, 0, 0, (entry,)) for entry in others]
    return items


def targets_of_causes(result: AnyBoxResult, rows: IntArray, log: ReviewLog) -> dict[str, Target]:
    """Return the mistakes of causes (rows of ``result.causes``) by verdict identity, page by page."""
    causes = result.causes
    wanted = np.isin(causes.of_mistake, rows)
    targets: dict[str, Target] = {}
    for page in np.unique(causes.page[rows]).tolist():
        on_page = mistake_targets(result, page)
        reviews = match_page_reviews(on_page.targets, result, page, log)
        mistakes = ((place, result.mistakes.of_box(key)) for key, place in on_page.of_box.items())
        places = {place for place, mistake in mistakes if mistake != NONE and wanted[mistake]}
        targets |= targets_by_id(reviews[place] for place in sorted(places))
    return targets


# ---- its words ----------------------------------------------------------------------------------------------------


def title_of_item(item: AgendaItem) -> str:
    """Return an item of the agenda in words."""
    if item.title:
        return plain(item.title)
    target = item.entries[0].judged.target
    name = target.mistake or ""
    known = name in ERROR_TYPES["document"] or name == WRONG_PIXELS
    what = title_of(name) if known else {**FIELD_PROBLEMS, **WORD_PROBLEMS}.get(name, KINDS[target.kind])
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
    return f"{count_of(len(rest), 'item')} with {count_of(sum(item.boxes for item in rest), 'wrong box')} not listed."


def sentence_of_item(item: AgendaItem, letter: str, other: AnyBoxResult | None, other_letter: str) -> str:
    """Return an item's wrong boxes and places, and how often the other model (None: not open) has its cause."""
    if item.family is None:
        return item.entries[0].sentence
    pages = f"on {count_of(item.pages, 'page')} of {count_of(item.documents, 'document')}"
    text = f"{letter}: {count_of(item.boxes, 'wrong box')} at {count_of(len(item.examples), 'place')} {pages}."
    if other is None:
        return text
    beside = CausesPartial.of(other.causes, other.matching.dataset.page_document).totals.get(item.family)
    return f"{text} {other_letter}: {'none' if beside is None else beside.words}."


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


def task_text(task: Event | None) -> str:
    """Return owner, due date and status in words; empty where nobody gave one."""
    if task is None:
        return ""
    parts = [plain(task.owner), f"due {task.due}" if task.due else "", STATUSES.get(task.status, "").lower()]
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
