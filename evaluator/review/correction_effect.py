"""What one more accepted correction changes in the corrected counts of a model, and its words.

Only the page of the correction is matched again: matching never looks beyond a page, so the counts equal those of
`corrected` on all pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from evaluator.data.dataset import Dataset, join
from evaluator.data.subsets import only_page
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.results import ratio_text
from evaluator.review.corrected_results import corrected_result
from evaluator.review.corrections import corrections
from evaluator.review.verdicts import Event, ReviewLog


class Counts(NamedTuple):
    """Counts of a model over all labels."""

    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def recall(self) -> float | None:
        """Share of the ground truth that is matched; None without any."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """Share of the predictions that are matched; None without any."""
        return _share(self.true_positives, self.true_positives + self.false_positives)


class PageFiles:
    """One page of a dataset, as files that have nothing else; `page` from 0."""

    def __init__(self, dataset: Dataset, document: str, page: int) -> None:
        self.document, self.page = document, page
        sides = (dataset.ground_truth, *dataset.predictions)
        self.dataset = join(*(only_page(side.source, document, page) for side in sides))

    def counts(self, result: AnyBoxResult, events: Iterable[Event]) -> Counts:
        """Return the corrected counts of the page under some verdicts, at a result's operating point."""
        matching = result.matching
        alone = matching.on(self.dataset).at(result.iou)
        to = corrections(self.dataset, ReviewLog.of(events))
        return counts_of(corrected_result(alone, to).result if to.applied else alone)

    def events(self, log: ReviewLog) -> list[Event]:
        """Return the events on mistakes of the page, in the order in which they were kept."""
        judged = {one.target_id for one in log.on_page(self.document, self.page)}
        return [event for event in log.events if event.target_id in judged]


def counts_of(result: AnyBoxResult) -> Counts:
    """Return the counts of a result."""
    row = result.micro.row(0)
    return Counts(int(row["tp"] or 0), int(row["fp"] or 0), int(row["fn"] or 0))


def effect(now: AnyBoxResult, page: PageFiles, log: ReviewLog, event: Event) -> Counts:
    """Return the corrected counts of all pages once an event is kept.

    `now` is the corrected result of a model, or the official one while nothing is corrected; `page` is that of the
    event.
    """
    events = page.events(log)
    before, after = page.counts(now, events), page.counts(now, [*events, event])
    return Counts(*(total - old + new for total, old, new in zip(counts_of(now), before, after, strict=True)))


def effect_words(name: str, before: Counts, after: Counts) -> str:
    """Return recall and precision of a model before and after, in words.

    >>> effect_words("A", Counts(7, 3, 3), Counts(8, 2, 2))
    'A recall 0.700 → 0.800, precision 0.700 → 0.800'
    """
    parts = []
    for measure in ("recall", "precision"):
        old, new = (ratio_text(getattr(counts, measure)) for counts in (before, after))
        parts.append(f"{measure} stays {old}" if old == new else f"{measure} {old} → {new}")
    return f"{name} {', '.join(parts)}"


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
