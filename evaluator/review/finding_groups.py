"""Findings grouped by cause, most wrong boxes first.

Owns which findings are of one cause (`matching.causes`), their wrong boxes, and what another model did in the same
place. A finding that is no mistake of an open result is a group of its own and has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, area, intersection
from evaluator.data.issues import count_of
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.matching.error_types import NONE
from evaluator.matching.page_rows import rows_on
from evaluator.review.identity import match_page_reviews, mistake_targets, targets_by_id
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import VERDICTS, Event, ReviewedTarget, ReviewLog, Target, Verdict

Results = Sequence[AnyBoxResult]
Opinion = Verdict | Literal["conflict", "several", "note"]
"""The verdict of several findings: ``conflict`` where reviewers differ on one, ``several`` where findings differ."""
OPINIONS: Final[Mapping[str, str]] = {
    **dict(VERDICTS.items()),
    "conflict": "Reviewers differ",
    "several": "Several verdicts",
    "note": "Note only",
}
VERDICT_MARKS: Final[Mapping[str, str]] = {
    "model_wrong": "●",
    "ground_truth_wrong": "◆",
    "ambiguous": "◐",
    "ignore": "○",
    "conflict": "≠",
    "several": "∷",
    "note": "✎",
}
"""The sign of each of `OPINIONS`."""
MOST_AT_ONCE: Final = 5_000
"""Mistakes that one decision may be for."""

# How much of a box lies in another one that it is beside.
_INSIDE_SHARE: Final = 0.5


class FindingSet:
    """Findings that are listed as one."""

    entries: tuple[FindingStatus, ...]

    @property
    def opinions(self) -> Iterator[Event]:
        """Return what reviewers hold of its findings now."""
        return (event for entry in self.entries for event in entry.judged.opinions)

    @property
    def opinion(self) -> Opinion:
        """Return the verdict of its findings together; ``note`` without any verdict."""
        if any(entry.judged.conflict for entry in self.entries):
            return "conflict"
        verdicts = {verdict for entry in self.entries if (verdict := entry.judged.verdict) is not None}
        if not verdicts:
            return "note"
        return verdicts.pop() if len(verdicts) == 1 else "several"

    @property
    def votes(self) -> dict[tuple[str, bool], Opinion]:
        """Return each reviewer's verdict, by name and whether a login vouches for it."""
        verdicts: dict[tuple[str, bool], set[Verdict]] = {}
        for event in self.opinions:
            if event.verdict is not None:
                verdicts.setdefault(event.reviewer, set()).add(event.verdict)
        return {who: next(iter(each)) if len(each) == 1 else "several" for who, each in verdicts.items()}

    @property
    def split(self) -> str:
        """Return what most of its reviewers say where they disagree, ``2 of 3: Model wrong``; else empty."""
        if self.opinion != "conflict":
            return ""
        votes = Counter(self.votes.values())
        most, count = votes.most_common(1)[0]
        return f"{count:,} of {votes.total():,}: {OPINIONS[most]}"

    @property
    def task(self) -> Event | None:
        """Return the latest opinion with an owner, a due date or a status; None where nobody gave one."""
        tasks = [task for entry in self.entries if (task := entry.judged.task) is not None]
        return max(tasks, key=lambda event: event.time, default=None)


@dataclass(frozen=True, eq=False)
class FindingGroup(FindingSet):
    """Findings of one cause of one model on one page, or one finding that has no cause.

    `entries`: at least one, the newest first. `boxes` counts the wrong boxes of these findings, `mistakes` all of the
    cause, judged or not. `cause` is a row of the `Causes` of the model's result. Without one: "", None and 0.
    """

    entries: tuple[FindingStatus, ...]
    title: str = ""
    model: int | None = None
    cause: int | None = None
    boxes: int = 0
    mistakes: int = 0

    @property
    def key(self) -> str:
        """Return its key: the identity of its newest finding."""
        return self.entries[0].judged.target_id

    @property
    def authors(self) -> tuple[str, ...]:
        """Return who holds an opinion, each name once."""
        return tuple(dict.fromkeys(name for entry in self.entries for name in entry.judged.authors))

    @property
    def note(self) -> str:
        """Return the latest note."""
        events = [event for event in self.opinions if event.note]
        return max(events, key=lambda event: event.time).note if events else ""


def agreed_by_two(judged: ReviewedTarget) -> bool:
    """Return whether two reviewers or more gave a verdict, all the same one."""
    return judged.verdict is not None and sum(event.verdict is not None for event in judged.opinions) > 1


def group_by_cause(statuses: Sequence[FindingStatus], results: Results) -> list[FindingGroup]:
    """Return findings grouped by cause, most wrong boxes first; of as many the newest first.

    `statuses`: the newest first; `results`: one for each open model, at the operating point. Each finding is in exactly
    one group.
    """
    together: dict[tuple[int, int] | str, list[FindingStatus]] = {}
    by_model = {result.matching.model: result for result in results}
    places: dict[str, tuple[int, int]] = {}
    for entry in statuses:
        mistake = mistake_of(entry, by_model)
        if mistake is None:
            together[entry.judged.target_id] = [entry]
            continue
        result = by_model[mistake[0]]
        places[entry.judged.target_id] = mistake
        together.setdefault((mistake[0], int(result.causes.of_mistake[mistake[1]])), []).append(entry)
    groups = []
    for key, entries in together.items():
        if isinstance(key, str):
            groups.append(FindingGroup(tuple(entries)))
            continue
        model, cause = key
        result = by_model[model]
        causes = result.causes
        rows = np.unique([places[entry.judged.target_id][1] for entry in entries])
        boxes = int(result.mistakes.wrong_boxes[rows].sum())
        groups.append(FindingGroup(tuple(entries), causes.title(cause), model, cause, boxes, len(causes.rows[cause])))
    return sorted(groups, key=lambda group: -group.boxes)


def mistake_of(entry: FindingStatus, by_model: Mapping[int, AnyBoxResult]) -> tuple[int, int] | None:
    """Return model and mistake that a finding is about; None when it is about no mistake of a result."""
    if entry.mistake is None or entry.box_key is None or entry.model is None or entry.model not in by_model:
        return None
    mistake = by_model[entry.model].mistakes.of_box(entry.box_key)
    return None if mistake == NONE else (entry.model, mistake)


def of_causes(statuses: Sequence[FindingStatus], result: AnyBoxResult, rows: IntArray) -> list[FindingStatus]:
    """Return the findings that are mistakes of some causes, rows of ``result.causes``, in their order."""
    by_model, wanted, causes = {result.matching.model: result}, set(rows.tolist()), result.causes
    places = ((entry, mistake_of(entry, by_model)) for entry in statuses)
    return [entry for entry, place in places if place is not None and int(causes.of_mistake[place[1]]) in wanted]


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


# ---- what the other model did there ---------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What a model did with the boxes of a place; `extra` counts its false positives there."""

    truths: int
    matched: int
    extra: int

    @property
    def sentence(self) -> str:
        """Return the outcome in words, without the name of the model.

        >>> Outcome(1, 0, 22).sentence
        'misses 1 of 1 ground truth box, 22 extra boxes'
        >>> Outcome(4, 4, 0).sentence
        'matches 4 of 4 ground truth boxes'
        >>> Outcome(0, 0, 0).sentence
        'has no box here'
        """
        parts = []
        if self.truths:
            missed = self.truths - self.matched
            words = count_of(self.truths, "ground truth box")
            parts.append(f"misses {missed:,} of {words}" if missed else f"matches {self.matched:,} of {words}")
        if self.extra:
            parts.append(f"{'' if parts else 'has '}{count_of(self.extra, 'extra box')}")
        return ", ".join(parts) or "has no box here"


class PlaceRows(NamedTuple):
    """The boxes of a cause: a page, and rows of the ground truth and of the predictions of one model."""

    page: int
    truths: IntArray
    predictions: IntArray


def rows_of(result: AnyBoxResult, mistakes: IntArray, page: int) -> PlaceRows:
    """Return the boxes that carry the name of one of some mistakes of a page, rising."""
    truths, predictions = rows_on(result, page, None)
    named = result.mistakes
    return PlaceRows(
        page,
        np.sort(truths[np.isin(named.of_truth[truths], mistakes)]),
        np.sort(predictions[np.isin(named.of_prediction[predictions], mistakes)]),
    )


def outcome(result: AnyBoxResult, place: PlaceRows, of: AnyBoxResult) -> Outcome:
    """Count the boxes of `beside`: what a model did where another one made mistakes."""
    here = beside(result, place, of)
    return Outcome(len(here.truths), int((result.truth_partner[here.truths] != UNMATCHED).sum()), len(here.predictions))


def beside(result: AnyBoxResult, place: PlaceRows, of: AnyBoxResult) -> PlaceRows:
    """Return the boxes of `result` where the model of `of` made the mistakes of `place`; one dataset.

    The ground truths of the place and those with half their area in a box of it; the unmatched predictions of `result`
    with half their area in a box of the place.
    """
    matching = result.matching
    truth, prediction = matching.dataset.ground_truth, matching.prediction
    truths, predictions = rows_on(result, place.page, None)
    boxes = np.concatenate([truth.xyxy[place.truths], of.matching.prediction.xyxy[place.predictions]])
    here = truths[np.isin(truths, place.truths) | _beside(truth.xyxy[truths], boxes)]
    extra = predictions[result.prediction_partner[predictions] == UNMATCHED]
    extra = extra[_beside(prediction.xyxy[extra], boxes)]
    return PlaceRows(place.page, here, extra)


def _beside(boxes: FloatArray, others: FloatArray) -> BoolArray:
    """Return which boxes have half of their area in one of the others."""
    if not len(boxes) or not len(others):
        return np.zeros(len(boxes), dtype=bool)
    pairs = np.repeat(boxes, len(others), axis=0), np.tile(others, (len(boxes), 1))
    shared = intersection(*pairs).reshape(len(boxes), len(others))
    inside: BoolArray = (shared >= _INSIDE_SHARE * area(boxes)[:, None]).any(axis=1) & (area(boxes) > 0)
    return inside
