"""Findings that are listed as one: their verdict together, which are of a cause, and the boxes of its places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, area, intersection
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult
from evaluator.matching.error_types import NONE
from evaluator.matching.page_rows import rows_on
from evaluator.matching.pairs import TOUCHING, overlapping_pairs
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
UNDECIDED_MARK: Final = "◌"
"""The sign of what nobody has judged."""
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
        votes: Counter[str] = Counter(self.votes.values())
        most = max(OPINIONS, key=lambda each: votes[each])
        return f"{votes[most]:,} of {votes.total():,}: {OPINIONS[most]}"

    @property
    def task(self) -> Event | None:
        """Return the latest opinion with an owner, a due date or a status; None where nobody gave one."""
        tasks = [task for entry in self.entries if (task := entry.judged.task) is not None]
        return max(tasks, key=lambda event: event.time, default=None)


def agreed_by_two(judged: ReviewedTarget) -> bool:
    """Return whether two reviewers or more gave a verdict, all the same one."""
    return judged.verdict is not None and sum(event.verdict is not None for event in judged.opinions) > 1


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
    inside: BoolArray = np.zeros(len(boxes), dtype=bool)
    groups = (np.zeros(len(each), dtype=np.int64) for each in (boxes, others))
    pairs = overlapping_pairs(boxes, next(groups), others, next(groups), iou_floor=TOUCHING)
    own = boxes[pairs.ground_truth]
    half = intersection(own, others[pairs.prediction]) >= _INSIDE_SHARE * area(own)
    inside[pairs.ground_truth[half]] = True
    return inside
