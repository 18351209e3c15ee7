"""Counts of named mistakes (`matching.error_types`) of two models, label by label."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.data.boxes import IntArray
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES


@dataclass(frozen=True, slots=True, eq=False)
class MistakeCounts:
    """Counts of named mistakes of two models, shape (L, K) by label and name.

    `names` are keys of `evaluator.matching.error_types.ERROR_TYPES` of the document family. `some_labels`: boxes of
    others may lie where nothing is counted.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    a: IntArray
    b: IntArray
    some_labels: bool = False

    def title(self, name: str) -> str:
        """Return a name in words."""
        of_name = ERROR_TYPES["document"][name]
        return of_name.title_of_some if self.some_labels else of_name.title

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return the counts of both models and ``b`` minus ``a`` by name, over all labels."""
        counts = zip(self.names, self.a.sum(axis=0).tolist(), self.b.sum(axis=0).tolist(), strict=True)
        return {name: {"a": a, "b": b, "difference": b - a} for name, a, b in counts}


def mistake_counts(a: AnyBoxResult, b: AnyBoxResult) -> MistakeCounts:
    """Return the named mistakes of two models of one dataset, by label."""
    matching = a.matching
    labels = matching.dataset.labels
    rows = [labels.index(label) for label in matching.labels]
    of_a, of_b = (result.mistakes.per_label(len(labels))[rows] for result in (a, b))
    return MistakeCounts(tuple(DOCUMENT), matching.labels, of_a, of_b, some_labels=matching.asked_labels is not None)
