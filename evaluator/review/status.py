"""States of findings in words: whether what was judged is still there under today's results.

A verdict is never dropped: what no longer applies is shown as such, with its target as it was when it was judged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.data.dataset import box_key
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.error_types import ERROR_TYPES, NONE, Mistakes
from evaluator.review.identity import (
    PROPOSED,
    SUSPECTED,
    WRONG_PIXELS,
    MistakeTargets,
    box_model_name,
    in_unit_of,
    is_corrected,
    match_page_reviews,
    mistake_targets,
    rows_of_box,
)
from evaluator.review.verdicts import JudgedBox, ReviewedTarget, ReviewLog, Target, Unit

State = Literal["applies", "corrected", "regrouped", "matched", "left_out", "gone", "not_open"]

STATES: Final[Mapping[State, str]] = {
    "applies": "Still present in this run",
    "corrected": "Corrected in the ground truth that is open",
    "regrouped": "Part of another mistake",
    "matched": "No longer a mistake",
    "left_out": "Outside the thresholds",
    "gone": "No longer in the files",
    "not_open": "Not open",
}
_SENTENCES: Final[Mapping[State, str]] = {
    "applies": "Its boxes are unchanged.",
    "corrected": "The ground truth that is open is as its verdict asks for.",
    "regrouped": "Its boxes are in the files and belong to another mistake now.",
    "matched": "Its boxes are in the files and match now.",
    "left_out": "Its boxes are in the files and are not evaluated at these thresholds or labels.",
    "gone": "A box, or the page, is no longer in the files.",
    "not_open": "Its document or model is not among the open files.",
}
FIELD_PROBLEMS: Final[Mapping[str, str]] = {
    "below_threshold": "Box too far off",
    "missed": "Missed",
    "spurious": "Extra",
    "wrong_value": "Wrong value",
}
"""What can be wrong with a field that has a box."""


class FindingStatus(NamedTuple):
    """What became of a finding; `state` is a key of `STATES`, `sentence` its meaning in words.

    `model` is the row of the dataset's predictions it was looked for in, None for pages and documents. `mistake` is its
    name now, None when it is none; `box_key` one of its boxes on the page (``g12``, ``p3``), None when none is there.
    """

    judged: ReviewedTarget
    state: State
    sentence: str
    model: int | None = None
    mistake: str | None = None
    box_key: str | None = None


def finding_statuses(log: ReviewLog, results: Sequence[AnyBoxResult]) -> list[FindingStatus]:
    """Return what became of all findings but fields, words and items, under each open model, newest first."""
    look = _Look(results, log)
    return [look.at(judged) for judged in log.judged.values() if judged.target.kind not in ("field", "word", "item")]


class _Page:
    def __init__(self, result: AnyBoxResult, page: int, log: ReviewLog) -> None:
        self.matching, self.page = result.matching, page
        dataset = result.matching.dataset
        self.mistakes = mistake_targets(result, page)
        reviews = match_page_reviews(self.mistakes.targets, result, page, log)
        self.reviews = {judged.target_id: position for position, (_, judged) in enumerate(reviews) if judged}
        self.truths = np.flatnonzero(dataset.ground_truth.page == page)
        self.predictions = np.flatnonzero(result.matching.prediction.page == page)

    def look(self, judged: ReviewedTarget) -> FindingStatus:
        position = self.reviews.get(judged.target_id)
        if position is None:
            dataset, asks = self.matching.dataset, judged.verdict == "ground_truth_wrong"
            if asks and is_corrected(self._now(judged), dataset.ground_truth, self.truths, dataset.labels):
                return status_of(judged, "corrected", self.matching.model)
            return self._boxes(judged)
        name = self.mistakes.targets[position].mistake
        return status_of(judged, "applies", self.matching.model, name, _key(self.mistakes, position))

    def _boxes(self, judged: ReviewedTarget) -> FindingStatus:
        if (judged.target.mistake or "").startswith(SUSPECTED):
            return self._suspect(judged)
        matching, mistakes = self.matching, self.mistakes
        states: set[State] = set()
        first: str | None = None
        named: str | None = None
        target = self._now(judged)
        for box in target.boxes:
            row = self._row(box, target.unit)
            if row is None:
                return status_of(judged, "gone", matching.model)
            key = box_key(box.side, row)
            first = first or key
            counts = matching.truth_counts if box.side == "ground_truth" else matching.prediction_counts
            if key in mistakes.of_box:
                named = named or mistakes.targets[mistakes.of_box[key]].mistake
                states.add("regrouped")
            else:
                states.add("matched" if counts[row] else "left_out")
        if judged.target.mistake == WRONG_PIXELS and states == {"matched"}:
            return status_of(judged, "applies", matching.model, key=first)
        # The strongest reason: a box that is left out explains why the others changed.
        state: State = next(state for state in ("left_out", "regrouped", "matched") if state in states)
        return status_of(judged, state, matching.model, named if state == "regrouped" else None, first)

    def _suspect(self, judged: ReviewedTarget) -> FindingStatus:
        """Return what became of a suspected error; it applies while its box, if any, is in the file."""
        target = self._now(judged)
        rows = [self._row(box, target.unit) for box in target.of("ground_truth")]
        if any(row is None for row in rows):
            return status_of(judged, "gone", self.matching.model)
        key = box_key("ground_truth", rows[0]) if rows and rows[0] is not None else None
        return status_of(judged, "applies", self.matching.model, key=key)

    def _now(self, judged: ReviewedTarget) -> Target:
        return in_unit_of(self.matching.dataset, judged.target, self.page)

    def _row(self, box: JudgedBox, unit: Unit) -> int | None:
        dataset = self.matching.dataset
        is_truth = box.side == "ground_truth"
        side, rows = (dataset.ground_truth, self.truths) if is_truth else (self.matching.prediction, self.predictions)
        same = rows_of_box(box, side, rows, dataset.labels, unit)
        return int(same[0]) if len(same) else None


class _Look:
    """Looks findings up in results; pages are worked out once."""

    def __init__(self, results: Sequence[AnyBoxResult], log: ReviewLog) -> None:
        self.results = results
        self.log = log
        self.names = [box_model_name(result.matching.prediction.source) for result in results]
        self._pages: dict[tuple[int, int], _Page] = {}

    def at(self, judged: ReviewedTarget) -> FindingStatus:
        target = judged.target
        if not self.results:
            return status_of(judged, "not_open")
        dataset = self.results[0].matching.dataset
        if target.document is not None and target.document not in dataset.document_code:
            return status_of(judged, "not_open")
        if target.kind == "comparison":
            sources = [result.matching.prediction.source for result in self.results]
            if not set(target.models) <= {*self.names, *(f"{source.model} {source.version}" for source in sources)}:
                return status_of(judged, "not_open")
        page = None
        if target.document is not None and target.page is not None:
            page = dataset.page_row(target.document, target.page)
            if page is None:
                return status_of(judged, "gone")
        if target.kind != "mistake":
            return status_of(judged, "applies")
        assert page is not None
        wanted = {box.model for box in target.of("prediction")} - {PROPOSED}
        places = [place for place, name in enumerate(self.names) if not wanted or name in wanted]
        # A missed box may be missed by several: the model that was looked at comes first.
        places.sort(key=lambda place: self.names[place] not in target.models)
        statuses = [self._page(place, page).look(judged) for place in places]
        # Where it applies says more than where it does not: two versions of a model have one name.
        return min(statuses, key=lambda status: list(STATES).index(status.state), default=status_of(judged, "not_open"))

    def _page(self, place: int, page: int) -> _Page:
        if (place, page) not in self._pages:
            self._pages[place, page] = _Page(self.results[place], page, self.log)
        return self._pages[place, page]


def mistake_of(status: FindingStatus, mistakes: Mistakes, model: int) -> int:
    """Return which of the mistakes of a model a finding is on, `NONE` for none.

    What is missed by several models is one finding of all of them.
    """
    target = status.judged.target
    if status.state != "applies" or status.box_key is None or target.kind != "mistake":
        return NONE
    mistake = mistakes.of_box(status.box_key)
    if target.of("prediction"):
        return mistake if status.model == model else NONE
    return NONE if mistake != NONE and len(mistakes.predictions_of(mistake)) else mistake


def _key(mistakes: MistakeTargets, position: int) -> str | None:
    return next((key for key, mistake in mistakes.of_box.items() if mistake == position), None)


def title_of(name: str) -> str:
    """Return a mistake, or what is wrong with a field, in words."""
    names = ERROR_TYPES["document"]
    return names[name].title if name in names else FIELD_PROBLEMS.get(name, name.replace("_", " ").capitalize())


def status_over(
    judged: ReviewedTarget, looks: Iterable[tuple[str, Collection[str], Callable[[ReviewedTarget], FindingStatus]]]
) -> FindingStatus:
    """Return what became of something that several models may have; where it applies goes first.

    `looks` has name and documents of each open model, and what gives the status there. A model is asked when it has the
    document and, where a prediction was judged, is the model of that.
    """
    document, wanted = judged.target.document, {box.model for box in judged.target.of("prediction")}
    states = [
        look(judged) for name, documents, look in looks if document in documents and (not wanted or name in wanted)
    ]
    return min(states, key=lambda one: list(STATES).index(one.state), default=status_of(judged, "not_open"))


def status_of(
    judged: ReviewedTarget, state: State, model: int | None = None, mistake: str | None = None, key: str | None = None
) -> FindingStatus:
    """Return a state with its sentence; also the new name of a mistake that has another one now."""
    sentence = _SENTENCES[state]
    if mistake is not None and mistake != judged.target.mistake and judged.target.mistake is not None:
        sentence += f" It is called {title_of(mistake)} now; it was judged as {title_of(judged.target.mistake)}."
    return FindingStatus(judged, state, sentence, model, mistake, key)
