"""Results of one protocol and ground truth, compared: baseline ``a``, candidate ``b``, and further models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import msgspec
import numpy as np

from evaluator.compare.decision import Decision, Rule, cost_of, decide
from evaluator.compare.differences import Difference, differences, in_reading_order, without_ties
from evaluator.compare.labels import LabelNotes, label_notes
from evaluator.compare.ledger import Ledger, ledger
from evaluator.compare.metrics import METRICS
from evaluator.compare.models import ModelEntry, Standings, model_entry, standings
from evaluator.compare.sentences import difference_points, interval_text, sentence, summary
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from evaluator.metrics.item_ledger import OUTCOMES, ItemLedger
from evaluator.metrics.measures import Key, Measures, Part
from evaluator.metrics.resampling import FEW_DOCUMENTS, LEAST_RESAMPLES, LEVEL, RESAMPLES, SEED
from evaluator.metrics.results import JsonObject, ResultTable, Signature, threshold_text
from evaluator.metrics.tied_scores import Range
from evaluator.protocols import protocol_of
from evaluator.protocols.base import BoxEvaluation, Result
from evaluator.system.memory import release_freed_memory

STAR: Final = "★"
NOTHING: Final = "–"
_ITEMS_LISTED: Final = 20
_WORST_PAGES: Final = 5


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two or more models under one protocol: the baseline, the candidate and further ones.

    `more` has numbers besides those of the protocol, such as those of named slices: one tuple for each result, or none
    at all; `more_ties` their ``tied_ranges``. `rule` is when the candidate is to be shipped.
    """

    results: tuple[Result, ...]
    names: tuple[str, ...]
    seed: int
    resamples: int
    more: tuple[tuple[Part, ...], ...] = ()
    more_ties: tuple[Mapping[Key, Range], ...] = ()
    rule: Rule = field(default_factory=Rule)

    @cached_property
    def decision(self) -> Decision:
        """Return what the first two say under the rule."""
        a, b = (first_boxes(result) for result in self.results[:2])
        # Before the differences: to name mistakes takes memory that the curves can have afterwards.
        cost = None if a is None or b is None else cost_of(a, b)
        release_freed_memory()
        return decide(self.differences, self.names, rule=self.rule, cost=cost)

    @cached_property
    def measures(self) -> tuple[Measures, ...]:
        """Return the numbers of each model."""
        own = tuple(protocol_of(result).measures(result) for result in self.results)
        if not self.more:
            return own
        both = zip(own, self.more, strict=True)
        return tuple(replace(each, parts=(*each.parts, *parts)) for each, parts in both)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Return the candidate minus the baseline, in the order of the protocol."""
        return self.against_baseline(1)

    def against_baseline(self, model: int) -> tuple[Difference, ...]:
        """Return one of the models minus the baseline."""
        every = differences(self.measures[0], self.measures[model], seed=self.seed, resamples=self.resamples)
        a, b = (self._tied_ranges(place) for place in (0, model))
        return without_ties(every, a, b)

    def _tied_ranges(self, place: int) -> Mapping[Key, Range]:
        own = self.results[place].tied_ranges
        return {**own, **self.more_ties[place]} if self.more_ties else own

    @cached_property
    def standings(self) -> Standings:
        """Return all models by F1, or by the first metric of the protocol's headline where it has no F1."""
        names = {key.metric for key in self.measures[0].keys}
        of = protocol_of(self.results[0])
        metric = next(name for name in ("f1", *of.headline) if name in names)
        label = self.measures[0].overall
        return standings(
            [self._model_entry(place) for place in range(len(self.results))],
            Key(metric, label),
            seed=self.seed,
            resamples=self.resamples,
        )

    def _model_entry(self, place: int) -> ModelEntry:
        boxes, measures = first_boxes(self.results[place]), self.measures[place]
        name = self.names[place]
        return ModelEntry(name, measures) if boxes is None else model_entry(name, boxes, measures)

    @cached_property
    def ledger(self) -> Ledger | None:
        """Box by box, at the first IoU threshold; None for protocols without a one-to-one matching of boxes."""
        a, b = (first_boxes(result) for result in self.results[:2])
        return None if a is None or b is None else ledger(a, b)

    @cached_property
    def item_ledgers(self) -> tuple[ItemLedger, ...]:
        """Ledgers of pages, fields or posters; empty for protocols with a one-to-one matching of boxes."""
        return protocol_of(self.results[0]).item_ledgers(*self.results[:2])

    @cached_property
    def mistakes(self) -> dict[str, dict[str, int]] | None:
        """Named mistakes of ``a``, ``b`` and ``difference`` by name, at the first threshold; None as for the ledger."""
        a, b = (first_boxes(result) for result in self.results[:2])
        if a is None or b is None:
            return None
        counts = zip(DOCUMENT, a.mistakes.counts.tolist(), b.mistakes.counts.tolist(), strict=True)
        return {name: {"a": of_a, "b": of_b, "difference": of_b - of_a} for name, of_a, of_b in counts}

    @cached_property
    def labels(self) -> LabelNotes:
        """Return how the labels of the first two differ; nothing for protocols without labelled boxes."""
        (truth, a), (_, b) = (protocol_of(result).labels(result) for result in self.results[:2])
        return label_notes(a, b, truth, names=self.names)

    @property
    def signature(self) -> str:
        """Return what made these numbers."""
        signatures = [result.signature for result in self.results[:2]]
        return signature_line(signatures, self.names, seed=self.seed, resamples=self.resamples)

    def to_json(self, results: Sequence[Mapping[str, object]]) -> JsonObject:
        """Return the comparison as plain values under the keys of the terminal contract; undefined is None.

        `results` are the results as plain values, one per model. ``iou``, ``ledger``, ``false_positives``,
        ``documents``, ``pages`` and ``mistakes`` are None for protocols without boxes, which have ``item_ledgers``;
        ``standings`` and ``models`` are there with more than two models.
        """
        decision, counts = self.decision, self.ledger
        words = summary(self.differences, self.names)
        boxes = first_boxes(self.results[0])
        value: dict[str, object] = {
            "protocol": results[0]["protocol"],
            "signature": self.signature,
            "decision": decision.to_json(),
            "summary": f"{words.headline} {words.notes}".rstrip(),
            "a": results[0],
            "b": results[1],
            "iou": None if boxes is None else boxes.iou,
            "ledger": None if counts is None else counts.to_json(),
            "item_ledgers": [one.to_json() for one in self.item_ledgers],
            "false_positives": None if counts is None else counts.false_positives_json(),
            "differences": [difference_json(one, self.names) for one in in_reading_order(self.differences)],
            "mistakes": self.mistakes,
            "documents": None if counts is None else counts.documents_json(),
            "pages": None if counts is None else counts.pages_json(),
            "labels": {"notes": list(self.labels.sentences), "map_label": self.labels.mapping},
            "seed": self.seed,
            "resamples": self.resamples,
            "level": LEVEL,
        }
        if len(self.results) > 2:
            value["standings"] = self.standings.to_json()
            value["models"] = [
                {
                    "model": name,
                    "result": results[place],
                    "differences": [
                        difference_json(one, (self.names[0], name))
                        for one in (self.against_baseline(place) if place else ())
                    ],
                }
                for place, name in enumerate(self.names)
            ]
        return value

    def tables(self, files: Sequence[str], *, brief: bool = False) -> tuple[ResultTable, ...]:
        """Return the comparison as tables for terminals; `files` are named in the titles.

        With more than two models their standings and numbers; the differences; ledger by label and named mistakes, or
        the ledgers of pages, fields or posters, each followed by the things that differ. `brief`: of the differences
        those that are clear, and in place of the ledgers the pages on which the second model loses most.
        """
        titles = [f"{name} {file}" for name, file in zip(self.names, files, strict=True)]
        decision, words = self.decision, summary(self.differences, self.names)
        title = ", ".join(titles[:2])
        tables = []
        if len(titles) > 2:
            tables = [self.standings.table(self.signature), self._models_table("All models: " + ", ".join(titles))]
        tables.append(
            self._differences_table(
                f"{title}. {decision.headline}. {decision.sentence} {words.headline} {words.notes}".rstrip(),
                clear=brief,
            )
        )
        if brief:
            return (*tables, *self._worst_pages(title))
        if self.ledger is not None and self.mistakes is not None:
            tables.append(_ledger_table(self.ledger, title, self.signature))
            tables.append(self._mistakes_table(self.mistakes, title))
        for one in self.item_ledgers:
            tables += _item_tables(one, title, self.signature)
        return tuple(tables)

    def _worst_pages(self, title: str) -> Iterator[ResultTable]:
        if self.ledger is None:
            return
        a, b, dataset, counts = *self.names[:2], self.ledger.dataset, self.ledger.per_page
        pages = self.ledger.pages[counts.losses[self.ledger.pages] > 0]
        worst = pages[np.lexsort((counts.gains[pages], -counts.losses[pages]))][:_WORST_PAGES]
        yield ResultTable(
            title=f"Pages with most boxes that {b} alone gets wrong: {title}",
            signature=self.signature,
            columns=("document", "page", f"{b} alone wrong", f"{a} alone wrong"),
            rows=tuple(
                (dataset.documents[document].doc_id, index + 1, losses, gains)
                for document, index, losses, gains in zip(
                    dataset.page_document[worst].tolist(), dataset.page_index[worst].tolist(),
                    counts.losses[worst].tolist(), counts.gains[worst].tolist(), strict=True,
                )
            ),
        )  # fmt: skip

    def _differences_table(self, title: str, *, clear: bool = False) -> ResultTable:
        """Return one row per difference, or clear one, in reading order; no interval for too few documents."""
        every = [one for one in in_reading_order(self.differences) if one.is_clear or not clear]
        moved = _aligned([difference_points(one) for one in every])
        intervals = _aligned([interval_text(one, signed=True) for one in every])
        return ResultTable(
            title=title,
            signature=self.signature,
            columns=("metric", "label", "a", "b", "points", "interval", "clear", "better", "worse"),
            rows=tuple(
                (
                    METRICS[one.metric].title, one.label, one.a, one.b, moved[row], intervals[row],
                    STAR if one.is_clear else "", one.documents_better, one.documents_worse,
                )
                for row, one in enumerate(every)
            ),
        )  # fmt: skip

    def _mistakes_table(self, mistakes: Mapping[str, Mapping[str, int]], title: str) -> ResultTable:
        boxes = first_boxes(self.results[0])
        # Where some labels were asked for, boxes of others may lie where nothing is counted.
        some = boxes is not None and boxes.matching.asked_labels is not None
        titles = {name: one.title_of_some if some else one.title for name, one in ERROR_TYPES["document"].items()}
        rows: list[tuple[str | int, ...]] = [(titles[name], *counts.values()) for name, counts in mistakes.items()]
        columns = ("mistake", "a", "b", "b minus a")
        return ResultTable(title=f"Mistakes: {title}", signature=self.signature, columns=columns, rows=tuple(rows))

    def _models_table(self, title: str) -> ResultTable:
        """Return one row per number over all labels: each model and its difference to the baseline."""
        against = [self.against_baseline(place) for place in range(1, len(self.results))]
        first, *others = (name.lower() for name in self.names)
        columns = [column for name in others for column in (name, f"{name} minus {first}")]
        rows = []
        for place, one in enumerate(against[0]):
            if one.overall:
                moved = [model[place] for model in against]
                cells = [cell for each in moved for cell in (each.b, _points_and_interval(each))]
                rows.append((METRICS[one.metric].title, one.a, *cells))
        return ResultTable(title=title, signature=self.signature, columns=("metric", first, *columns), rows=tuple(rows))


def first_boxes(result: Result) -> AnyBoxResult | None:
    """Return the result at the first IoU threshold, for the ledger; None for protocols without boxes."""
    return result.first if isinstance(result, BoxEvaluation) else None


def compare(
    results: Sequence[Result],
    names: Sequence[str],
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    more: Sequence[Sequence[Part]] = (),
    more_ties: Sequence[Mapping[Key, Range]] = (),
    rule: Rule | None = None,
) -> Comparison:
    """Return the comparison of two or more results of one protocol and one choice of options.

    Results that match boxes are of one dataset, see `evaluator.project.evaluate_together`. `ValueError` with fewer than
    two results, not one name for each, several protocols, or fewer than `LEAST_RESAMPLES` resamples.
    """
    if len(results) < 2:
        raise ValueError("a comparison needs at least two predictions")
    if len(results) != len(names):
        raise ValueError(f"a comparison needs one name for each model; found {len(names)} for {len(results)}")
    if len({type(result) for result in results}) > 1:
        raise ValueError("results are compared under one protocol")
    if resamples < LEAST_RESAMPLES:
        raise ValueError(f"resamples must be at least {LEAST_RESAMPLES}; found {resamples}")
    more_parts = tuple(tuple(parts) for parts in more)
    return Comparison(tuple(results), tuple(names), seed, resamples, more_parts, tuple(more_ties), rule or Rule())


def signature_line(
    signatures: Sequence[Signature], names: Sequence[str], *, seed: int = SEED, resamples: int = RESAMPLES
) -> str:
    """Return what made the numbers, in a line: the signature of both if only score thresholds differ, or both."""
    a, b = signatures
    line = a.line
    if a != b:
        line = f"{names[0]}: {a.line} · {names[1]}: {b.line}"
        scores = [one.min_score for one in signatures if one.min_score is not None]
        if len(scores) == 2 and msgspec.structs.replace(b, min_score=a.min_score) == a:
            mine, other = (f"≥ {threshold_text(score)}" for score in scores)
            line = a.line.replace(f"score {mine}", f"score {mine} ({names[0]}), {other} ({names[1]})", 1)
    if min(a.documents, b.documents) < FEW_DOCUMENTS:
        return line
    return f"{line} · {LEVEL:.0%} intervals: {resamples:,} resamples of documents, seed {seed}".replace("95%", "95 %")


_PLAIN: Final = (
    "metric", "label", "a", "b", "difference", "low", "high", "documents_better", "documents_worse", "documents",
    "documents_with", "few_documents",
)  # fmt: skip


def difference_json(one: Difference, names: Sequence[str]) -> dict[str, object]:
    """Return a difference as plain values under the keys of the terminal contract."""
    return {
        **{name: getattr(one, name) for name in _PLAIN},
        "clear": one.is_clear,
        "undefined_resamples": one.undefined,
        "sentence": sentence(one, names),
    }


def _points_and_interval(one: Difference) -> str | None:
    """Return a difference and its interval in points, ``+2.6 (1.7 to 3.5)``; None when undefined."""
    text, interval = difference_points(one), interval_text(one)
    return text if text is None or interval is None else f"{text} ({interval})"


def _ledger_table(counts: Ledger, title: str, signature: str) -> ResultTable:
    rows: list[tuple[str | int, ...]] = [("All labels", *counts.total.rows()[0].values())]
    rows += [(label, *row.values()) for label, row in counts.to_json().items()]
    columns = ("label", "both", "a only", "b only", "neither", "fp shared", "fp a only", "fp b only", "net")
    return ResultTable(title=f"Ledger: {title}", signature=signature, columns=columns, rows=tuple(rows))


def _item_tables(counts: ItemLedger, title: str, signature: str) -> list[ResultTable]:
    """Return one row per row of a ledger of things; then the things that differ, worse in B first."""
    plural = f"{counts.noun}s"
    rows: list[tuple[str | int, ...]] = [(name, *counts.counts(row).values()) for row, name in enumerate(counts.rows)]
    columns = ("row", *(words.replace("_", " ") for words in (*OUTCOMES, "net")))
    heading = f"Ledger of {plural}, by {counts.criterion}: {title}"
    tables = [ResultTable(title=heading, signature=signature, columns=columns, rows=tuple(rows))]
    changed = [(code, at) for code in ("a_better", "b_better") for at in counts.items_with_outcome(0, code).tolist()]
    if changed:
        some = f"first {_ITEMS_LISTED} of {len(changed):,}" if len(changed) > _ITEMS_LISTED else f"{len(changed):,}"
        columns = (counts.noun, "better", *(f"{counts.criterion} in {letter}" for letter in "ab"))
        things: list[tuple[str | int | float, ...]] = [
            (counts.items[at].words, code[0], *map(_whole, counts.amounts(at))) for code, at in changed[:_ITEMS_LISTED]
        ]
        width = 2 if counts.is_yes_or_no else len(columns)
        tables.append(
            ResultTable(
                title=f"{plural.capitalize()} that differ, by {counts.criterion}, {some}: {title}",
                signature=signature,
                columns=columns[:width],
                rows=tuple(thing[:width] for thing in things),
            )
        )
    return tables


def _whole(amount: float) -> int | float:
    return int(amount) if amount.is_integer() else amount


def _aligned(texts: Sequence[str | None]) -> list[str]:
    shown = [NOTHING if text is None else text for text in texts]
    width = max(map(len, shown), default=0)
    return [text.rjust(width) for text in shown]
