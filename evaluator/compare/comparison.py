"""Results of one protocol against the same ground truth, compared: what the terminal and reports show.

Owns `Comparison`, its plain values under the keys of the terminal contract, and its tables. The first result is A,
the baseline, the second B, the candidate; further ones are only in the table of all models.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec

from evaluator.compare.differences import Difference, differences, in_reading_order
from evaluator.compare.labels import LabelNotes, label_notes
from evaluator.compare.ledger import Ledger, ledger
from evaluator.compare.metrics import METRICS
from evaluator.compare.mistakes import MistakeCounts, mistake_counts
from evaluator.compare.resampling import LEVEL, RESAMPLES, SEED
from evaluator.compare.sentences import interval_text, moved_text, sentence, summary
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.metrics.error_types import ERROR_TYPES
from evaluator.metrics.measures import Measures
from evaluator.metrics.results import ResultTable, Signature, threshold_text
from evaluator.protocols import protocol_of
from evaluator.protocols.base import BoxEvaluation, Result

STAR: Final = "★"
NOTHING: Final = "–"
_LETTERS: Final = string.ascii_uppercase


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two or more models under one protocol.

    Attributes
    ----------
    results : tuple of results, length >= 2
        A, B and further ones.
    seed, resamples : int
        Of the intervals.
    """

    results: tuple[Result, ...]
    seed: int = SEED
    resamples: int = RESAMPLES

    @cached_property
    def measures(self) -> tuple[Measures, ...]:
        """The numbers of each model."""
        return tuple(protocol_of(result).measures(result) for result in self.results)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """B minus A, in the order of the protocol."""
        return self.against_a(1)

    def against_a(self, model: int) -> tuple[Difference, ...]:
        """One of the models minus A."""
        return differences(self.measures[0], self.measures[model], seed=self.seed, resamples=self.resamples)

    @cached_property
    def ledger(self) -> Ledger | None:
        """Box by box, at the first IoU threshold; None for protocols without a one-to-one matching of boxes."""
        a, b = (first_boxes(result) for result in self.results[:2])
        return None if a is None or b is None else ledger(a, b)

    @cached_property
    def mistakes(self) -> MistakeCounts | None:
        """Named mistakes of A and B, at the first IoU threshold; None as for the ledger."""
        a, b = (first_boxes(result) for result in self.results[:2])
        return None if a is None or b is None else mistake_counts(a, b)

    @cached_property
    def labels(self) -> LabelNotes:
        """How the labels of A and B differ; nothing for protocols without labelled boxes."""
        (truth, a), (_, b) = (protocol_of(result).labels(result) for result in self.results[:2])
        return label_notes(a, b, truth)

    @property
    def signature(self) -> str:
        """What made these numbers."""
        return signature_line(
            [result.signature for result in self.results[:2]], seed=self.seed, resamples=self.resamples
        )

    def to_json(self, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The comparison as plain values under the keys of the terminal contract.

        Parameters
        ----------
        results : sequence of mapping
            The results as plain values, one per model.

        Returns
        -------
        dict
            ``protocol``, ``signature``, ``summary``, ``a``, ``b``; ``iou``, ``ledger`` by label, ``false_positives``,
            ``documents`` (the ledger of each), ``pages`` (those that changed) and ``mistakes``, all None for protocols
            without boxes; ``differences`` in reading order; ``labels``, ``seed``, ``resamples``, ``level``; ``models``
            with the numbers of all of them when there are more than two. Undefined is None.
        """
        counts, words = self.ledger, summary(self.differences)
        boxes = first_boxes(self.results[0])
        value: dict[str, Any] = {
            "protocol": results[0]["protocol"],
            "signature": self.signature,
            "summary": f"{words.headline} {words.notes}".rstrip(),
            "a": results[0],
            "b": results[1],
            "iou": None if boxes is None else boxes.iou,
            "ledger": None if counts is None else counts.to_json(),
            "false_positives": None if counts is None else counts.false_positives_json(),
            "differences": [difference_json(one) for one in in_reading_order(self.differences)],
            "mistakes": None if self.mistakes is None else self.mistakes.to_json(),
            "documents": None if counts is None else counts.documents_json(),
            "pages": None if counts is None else counts.pages_json(),
            "labels": {"notes": list(self.labels.sentences), "map_label": self.labels.mapping},
            "seed": self.seed,
            "resamples": self.resamples,
            "level": LEVEL,
        }
        if len(self.results) > 2:
            value["models"] = [
                {
                    "model": _LETTERS[place % len(_LETTERS)],
                    "result": results[place],
                    "differences": [difference_json(one) for one in self.against_a(place)] if place else [],
                }
                for place in range(len(self.results))
            ]
        return value

    def tables(self, names: Sequence[str]) -> tuple[ResultTable, ...]:
        """The comparison as tables for terminals.

        Parameters
        ----------
        names : sequence of str
            Of the models.

        Returns
        -------
        tuple of ResultTable
            All models when there are more than two; the differences; the ledger by label and the named mistakes for
            protocols that match boxes.
        """
        title, words = f"A {names[0]}, B {names[1]}", summary(self.differences)
        tables = [self._models_table(names)] if len(self.results) > 2 else []
        tables.append(self._differences_table(f"{title}. {words.headline} {words.notes}".rstrip()))
        if self.ledger is not None and self.mistakes is not None:
            tables.append(_ledger_table(self.ledger, title, self.signature))
            tables.append(_mistakes_table(self.mistakes, title, self.signature))
        return tuple(tables)

    def _differences_table(self, title: str) -> ResultTable:
        """One row per difference, B minus A, in reading order; no interval where there are too few documents."""
        every = in_reading_order(self.differences)
        moved = _aligned([moved_text(one) for one in every])
        intervals = _aligned([None if _too_few(one) else interval_text(one, signed=True) for one in every])
        return ResultTable(
            title=title,
            signature=self.signature,
            columns=("metric", "label", "a", "b", "points", "interval", "clear", "better", "worse"),
            rows=tuple(
                (
                    METRICS[one.metric].title, one.label, one.a, one.b, moved[row], intervals[row],
                    STAR if one.starred else "", one.documents_better, one.documents_worse,
                )
                for row, one in enumerate(every)
            ),
        )  # fmt: skip

    def _models_table(self, names: Sequence[str]) -> ResultTable:
        """One row per number over all labels: every model, and its difference to A with the interval."""
        letters = [_LETTERS[place % len(_LETTERS)] for place in range(len(names))]
        against = [self.against_a(place) for place in range(1, len(names))]
        rows = []
        for place, one in enumerate(against[0]):
            if one.overall:
                others = [model[place] for model in against]
                cells = [cell for other in others for cell in (other.b, points_and_interval(other))]
                rows.append((METRICS[one.metric].title, one.a, *cells))
        return ResultTable(
            title="All models: " + ", ".join(f"{letter} {name}" for letter, name in zip(letters, names, strict=True)),
            signature=self.signature,
            columns=(
                "metric",
                "a",
                *(f"{letter.lower()}{more}" for letter in letters[1:] for more in ("", " minus a")),
            ),
            rows=tuple(rows),
        )


def first_boxes(result: Result) -> AnyBoxResult | None:
    """The result at the first IoU threshold, whose boxes the ledger counts; None for protocols without boxes."""
    return result.first if isinstance(result, BoxEvaluation) else None


def compare(results: Sequence[Result], *, seed: int = SEED, resamples: int = RESAMPLES) -> Comparison:
    """Models under one protocol, compared.

    Parameters
    ----------
    results : sequence of results, length >= 2
        Of one protocol with one choice of options; those that match boxes are of one dataset, see
        `evaluator.project.evaluate_together`.
    seed, resamples : int
        See `evaluator.compare.resampling.draws`.

    Returns
    -------
    Comparison
        Its parts are worked out when asked for.

    Raises
    ------
    ValueError
        With fewer than two results, results of different protocols, or fewer than one resample.
    """
    if len(results) < 2:
        raise ValueError("a comparison needs at least two predictions")
    if len({type(result) for result in results}) > 1:
        raise ValueError("results are compared under one protocol")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1; found {resamples}")
    return Comparison(tuple(results), seed, resamples)


def signature_line(signatures: Sequence[Signature], *, seed: int = SEED, resamples: int = RESAMPLES) -> str:
    """What made the numbers of a comparison, in one line.

    Parameters
    ----------
    signatures : sequence of Signature
        Of A and B.
    seed, resamples : int

    Returns
    -------
    str
        The signature of both, with both score thresholds where only these differ, or one after the other.
    """
    a, b = signatures
    line = a.line
    if a != b:
        line = f"A: {a.line} · B: {b.line}"
        if (
            a.min_score is not None
            and b.min_score is not None
            and msgspec.structs.replace(b, min_score=a.min_score) == a
        ):
            mine, other = (f"score ≥ {threshold_text(score)}" for score in (a.min_score, b.min_score))
            line = a.line.replace(mine, f"{mine} (A), {other.removeprefix('score ')} (B)", 1)
    return f"{line} · {LEVEL:.0%} intervals: {resamples:,} resamples of documents, seed {seed}".replace("95%", "95 %")


def difference_json(one: Difference) -> dict[str, Any]:
    """A difference as plain values under the keys of the terminal contract; undefined is None."""
    return {
        "metric": one.metric,
        "label": one.label,
        "a": one.a,
        "b": one.b,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "documents_better": one.documents_better,
        "documents_worse": one.documents_worse,
        "documents": one.documents,
        "documents_with": one.documents_with,
        "few_documents": one.few_documents,
        "clear": one.starred,
        "undefined_resamples": one.undefined,
        "sentence": sentence(one),
    }


def points_and_interval(one: Difference) -> str | None:
    """A difference with its interval in points, ``+2.6 (1.7 to 3.5)``; None when it is undefined."""
    text, interval = moved_text(one), interval_text(one)
    return text if text is None or interval is None or _too_few(one) else f"{text} ({interval})"


def _too_few(one: Difference) -> bool:
    """Whether there are too few documents for an interval."""
    return one.few_documents or one.rare


def _ledger_table(counts: Ledger, title: str, signature: str) -> ResultTable:
    """One row per label, all of them first."""
    rows: list[tuple[str | int, ...]] = [("All labels", *counts.total.row(0).values())]
    rows += [(label, *counts.per_label.row(row).values()) for row, label in enumerate(counts.labels)]
    columns = ("label", "both", "a only", "b only", "neither", "fp shared", "fp a only", "fp b only", "net")
    return ResultTable(title=f"Ledger: {title}", signature=signature, columns=columns, rows=tuple(rows))


def _mistakes_table(mistakes: MistakeCounts, title: str, signature: str) -> ResultTable:
    """One row per name of a mistake."""
    rows = tuple(
        (ERROR_TYPES["document"][name].title, row["a"], row["b"], row["difference"])
        for name, row in mistakes.to_json().items()
    )
    columns = ("mistake", "a", "b", "b minus a")
    return ResultTable(title=f"Mistakes: {title}", signature=signature, columns=columns, rows=rows)


def _aligned(texts: Sequence[str | None]) -> list[str]:
    """Texts of one width, to the right."""
    shown = [NOTHING if text is None else text for text in texts]
    width = max(map(len, shown), default=0)
    return [text.rjust(width) for text in shown]
