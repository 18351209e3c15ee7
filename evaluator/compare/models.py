"""Any number of models of one ground truth: standings by one measure, and which cannot be told apart.

Intervals come from drawing documents with replacement, the same draws for all models. That of one model is its
percentile interval; those of the differences of all pairs hold together, so that the best of many is not clear by luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.compare.differences import ModelColumns
from evaluator.compare.metrics import METRICS
from evaluator.compare.sentences import points
from evaluator.data.boxes import BoolArray, FloatArray
from evaluator.data.dataset import NO_RUN, Run
from evaluator.data.issues import count_of, isolated, listed
from evaluator.matching.box_measures import box_measures
from evaluator.matching.box_results import ALL_LABELS, AnyBoxResult
from evaluator.metrics.measures import Key, Measures
from evaluator.metrics.resampling import (
    FEW_DOCUMENTS,
    LEVEL,
    RESAMPLES,
    SEED,
    check_resamples,
    draws,
    interval,
    reach,
    widen_interval,
)
from evaluator.metrics.results import RATIOS, JsonObject, ResultTable, defined, ratio_text

OrderedBy = Literal["date", "run", ""]

_STAR: Final = "★"
_NAMED: Final = 3
_WORDS: Final = (
    "No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ModelEntry:
    """What is known of one model: its numbers, and where its boxes are open what is to be corrected.

    `mistakes` counts boxes that somebody corrects by hand on `pages` (`Mistakes.corrections`), None where not known.
    `family` is the name without its version: runs of one family are joined by a line.
    """

    name: str
    measures: Measures
    mistakes: int | None = None
    pages: int = 0
    run: Run = NO_RUN
    boxes: bool = True
    family: str = ""

    @property
    def per_100_pages(self) -> float | None:
        """Boxes to correct on 100 pages; None where not known."""
        return None if self.mistakes is None or not self.pages else 100 * self.mistakes / self.pages

    @property
    def date(self) -> str | None:
        """Return the day of the run, as ``2026-02-22``; None when the file gives no such date."""
        text = (self.run.created_at or "")[:10]
        try:
            return str(np.datetime64(text, "D")) if len(text) == 10 else None
        except ValueError:
            return None

    @property
    def run_text(self) -> str:
        """Return the day of the run, or its run_id; empty when the file gives neither."""
        return self.date or self.run.run_id or ""


def model_entry(
    name: str,
    result: AnyBoxResult,
    measures: Measures | None = None,
    *,
    label: str | None = None,
    metrics: Sequence[str] = RATIOS,
    mistakes: bool = True,
) -> ModelEntry:
    """Return a model whose boxes are open, by its result at one IoU threshold.

    Without `measures` they are `metrics` of the matching. With a `label`, only mistakes of it count as boxes to
    correct; 0 for a label that the files do not have. Without `mistakes` these are not counted.
    """
    labels, source = result.matching.dataset.labels, result.matching.prediction.source
    corrections = result.corrections if mistakes else None
    if corrections is not None and label is not None:
        corrections = corrections[[code for code, each in enumerate(labels) if each == label]]
    return ModelEntry(
        name=name,
        measures=box_measures(result, metrics=metrics) if measures is None else measures,
        mistakes=None if corrections is None else int(corrections.sum()),
        pages=result.matching.dataset.pages,
        run=source.run,
        family=source.model or name,
    )


def order_of_runs(models: Sequence[ModelEntry]) -> tuple[OrderedBy, tuple[str | None, ...]]:
    """Return what orders the runs of some models ("date", "run" or ""), and the place of each model.

    Their dates when two differ; else their run_id, when a family has two different ones. The place is a day or run_id,
    None without one.
    """
    dates = tuple(model.date for model in models)
    if len({date for date in dates if date}) > 1:
        return "date", dates
    runs = {(model.family, model.run.run_id) for model in models if model.run.run_id}
    if len({family for family, _ in runs}) < len(runs):
        return "run", tuple(model.run.run_id or None for model in models)
    return "", (None,) * len(models)


class Pair(NamedTuple):
    """The column's model minus the row's with its simultaneous interval; None where undefined."""

    difference: float | None
    low: float | None
    high: float | None
    clear: bool


@dataclass(frozen=True, eq=False)
class Standings:
    """One measure of N models, best first, undefined last; values alone when `resamples` is 0.

    `low` and `high`, shape (N,), are the 95 % interval of each model alone; `difference`, `pair_low` and `pair_high`,
    shape (N, N), column minus row with the interval that holds for all pairs together. NaN where undefined, and with
    fewer than `FEW_DOCUMENTS` documents.
    """

    key: Key
    models: tuple[ModelEntry, ...]
    values: FloatArray
    low: FloatArray
    high: FloatArray
    difference: FloatArray
    pair_low: FloatArray
    pair_high: FloatArray
    documents: int
    seed: int
    resamples: int

    @property
    def few_documents(self) -> bool:
        """Return whether there are too few documents for intervals and ranks."""
        return self.documents < FEW_DOCUMENTS

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals and ranks can be shown: there are enough documents, and they were resampled."""
        return bool(self.resamples) and not self.few_documents

    @property
    def clear(self) -> BoolArray:
        """Return which pairs differ clearly, bool, shape (N, N)."""
        return np.asarray((self.pair_low > 0.0) | (self.pair_high < 0.0))

    @property
    def ranks(self) -> tuple[tuple[int, int] | None, ...]:
        """Return of each model the best and the worst rank that the documents allow; None where it has none."""
        known = ~np.isnan(self.values)
        if not self.has_intervals:
            return (None,) * len(self.models)
        gain = self.difference * _sign(self.key)
        better = (self.clear & (gain > 0.0)).sum(axis=1)
        worse = (self.clear & (gain < 0.0)).sum(axis=1)
        size = int(known.sum())
        return tuple(
            (1 + int(better[row]), size - int(worse[row])) if known[row] else None for row in range(len(self.models))
        )

    @property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """Runs of models that cannot be told apart, first and last place, best first; they may overlap."""
        known = int((~np.isnan(self.values)).sum())
        if not self.has_intervals:
            return ()
        runs: list[tuple[int, int]] = []
        for first in range(known):
            last = first
            while last + 1 < known and not self.clear[first : last + 2, first : last + 2].any():
                last += 1
            if last > first and (not runs or last > runs[-1][1]):
                runs.append((first, last))
        return tuple(runs)

    def pair(self, row: int, column: int) -> Pair:
        """Return the model of a column minus that of a row."""
        ends = defined(self.pair_low[row, column]), defined(self.pair_high[row, column])
        return Pair(defined(self.difference[row, column]), *ends, bool(self.clear[row, column]))

    @property
    def sentence(self) -> tuple[str, str]:
        """Return the answer, which names its label, and what follows from it, each a sentence or nothing."""
        first, second = self._answer
        of = self.key.label
        return first if of == ALL_LABELS else f"{isolated(of)}: {first}", second

    @property
    def _answer(self) -> tuple[str, str]:
        known = [model.name for model, value in zip(self.models, self.values, strict=True) if not np.isnan(value)]
        title = METRICS[self.key.metric].title
        most, above = ("highest", "above") if _sign(self.key) > 0 else ("lowest", "below")
        if len(self.models) == len(known) == 1:
            return f"{known[0]} has {title} {ratio_text(float(self.values[0]))}.", "Open another model to compare them."
        if len(known) < 2:
            return f"{_number(len(known))} {'model has' if len(known) == 1 else 'models have'} {title} here.", ""
        if self.few_documents:
            return (
                f"{known[0]} has the {most} {title}.",
                f"{count_of(self.documents, 'document')} are too few to say whether models differ: "
                f"{FEW_DOCUMENTS} are needed for intervals and ranks.",
            )
        if not self.resamples:
            return f"{known[0]} has the {most} {title}.", "Ranks and intervals follow."
        top = sum(rank is not None and rank[0] == 1 for rank in self.ranks)
        if top == 1:
            others = "the other one" if len(known) == 2 else f"all {len(known) - 1} others"
            return f"{known[0]} is clearly better than {others}.", ""
        if top == len(known):
            return f"The {_number(top).lower()} models cannot be told apart on these documents.", ""
        first = [model.name for model, rank in zip(self.models, self.ranks, strict=True) if rank and rank[0] == 1]
        below = [place for place, rank in enumerate(self.ranks) if rank is not None and rank[0] > 1]
        under_all = [self.models[place].name for place in below if self.ranks[place][0] > top]  # type: ignore[index]
        everyone = "Both" if top == 2 else f"All {_number(top).lower()}"
        follows = f"{everyone} are clearly {above} {_listed(under_all)}." if under_all else ""
        apart = "not clearly below the best" if self.groups and self.groups[0][1] + 1 < top else "cannot be told apart"
        verb = f"are {apart}" if apart.startswith("not") else apart
        return f"{_number(top)} models {verb} at the top: {_listed(first)}.", follows

    def to_json(self) -> JsonObject:
        """Return the standings as plain values; undefined is None."""
        ranks = self.ranks
        return {
            "metric": self.key.metric,
            "label": self.key.label,
            "sentence": " ".join(self.sentence).strip(),
            "documents": self.documents,
            "level": LEVEL,
            "seed": self.seed,
            "resamples": self.resamples,
            "models": [
                {
                    "model": model.name,
                    "value": defined(self.values[place]),
                    "low": defined(self.low[place]),
                    "high": defined(self.high[place]),
                    "rank": None if ranks[place] is None else list(ranks[place] or ()),
                    "boxes_to_correct_per_100_pages": model.per_100_pages,
                    "created_at": model.run.created_at,
                    "run_id": model.run.run_id,
                    "boxes": model.boxes,
                }
                for place, model in enumerate(self.models)
            ],
            "cannot_be_told_apart": [
                [self.models[place].name for place in range(first, last + 1)] for first, last in self.groups
            ],
            "pairs": [
                {
                    "row": self.models[row].name,
                    "column": self.models[column].name,
                    **self.pair(row, column)._asdict(),
                }
                for row in range(len(self.models))
                for column in range(row + 1, len(self.models))
            ],
        }

    def table(self, signature: str) -> ResultTable:
        """Return one row per model, best first, for terminals."""
        title = METRICS[self.key.metric].title
        rows = tuple(
            (
                "–" if rank is None else rank_text(rank),
                model.name,
                defined(self.values[place]),
                defined(self.low[place]),
                defined(self.high[place]),
                model.per_100_pages,
                model.run_text,
            )
            for place, (model, rank) in enumerate(zip(self.models, self.ranks, strict=True))
        )
        return ResultTable(
            title=f"Models by {title}, {self.key.label}. {' '.join(self.sentence)}".rstrip(),
            signature=signature,
            columns=("rank", "model", title, "low", "high", "to correct per 100 pages", "run"),
            rows=rows,
        )


def standings(models: Sequence[ModelEntry], key: Key, *, seed: int = SEED, resamples: int = RESAMPLES) -> Standings:
    """Return one measure of some models, with intervals for each and for all pairs together.

    The models are of one ground truth under one signature; equal values stay in the given order. 0 resamples give the
    values alone, else at least `LEAST_RESAMPLES`.

    Paired bootstrap over documents, one draw for all models, without resamples in which some number is undefined.
    Intervals of pairs are those of the studentised maximum over all pairs: the difference plus and minus c times the
    standard deviation of its resamples, c being the 95 % quantile over the resamples of the largest deviation of any
    pair from its difference in its standard deviations; widened within what is possible (`widen_interval`). With one
    pair this is a symmetric interval, which may differ a little from the percentile interval of a comparison of two.
    """
    check_resamples(resamples)
    documents = sorted({name for model in models for name in model.measures.documents})
    columns = [ModelColumns.of(model.measures.only({key}), documents, [key]) for model in models]
    values = np.array([float(one.values[0]) for one in columns])
    order = np.argsort(np.where(np.isnan(values), np.inf, -values * _sign(key)), kind="stable")
    models, values, columns = [models[row] for row in order], values[order], [columns[row] for row in order]
    difference, count = values[None, :] - values[:, None], len(documents)
    if not resamples or count < FEW_DOCUMENTS:
        ends, pairs = np.full(len(values), np.nan), np.full_like(difference, np.nan)
        return Standings(key, tuple(models), values, ends, ends, difference, pairs, pairs, count, seed, resamples)
    parts = [
        np.column_stack([np.empty((len(weights), 0)), *(one.resampled(weights) for one in columns)])
        for weights in draws(count, resamples=resamples, seed=seed)
    ]
    resampled = np.concatenate(parts)
    least, most = METRICS[key.metric].least, METRICS[key.metric].most
    alone = widen_interval(interval(resampled), values, np.full(len(values), count), least=least, most=most)
    low, high = (np.clip(each, least - most, most - least) for each in _simultaneous(resampled, difference, count))
    return Standings(key, tuple(models), values, alone.low, alone.high, difference, low, high, count, seed, resamples)


def _sign(key: Key) -> float:
    return -1.0 if METRICS[key.metric].lower_is_better else 1.0


def _simultaneous(resampled: FloatArray, difference: FloatArray, documents: int) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the intervals of all pairs, float64, shape (N, N); NaN where undefined."""
    size = len(difference)
    low, high = np.full((size, size), np.nan), np.full((size, size), np.nan)
    known = np.flatnonzero(~np.isnan(difference).all(axis=1)) if size else np.empty(0, dtype=np.int64)
    pairs = [(row, column) for row in known for column in known if row < column]
    if not pairs:
        return low, high
    first, second = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    moved = resampled[:, second] - resampled[:, first]
    moved = moved[~np.isnan(moved).any(axis=1)]
    centre = difference[first, second]
    spread = moved.std(axis=0) if len(moved) else np.full(len(pairs), np.nan)
    # Models that agree in every document differ by nothing, whatever is drawn.
    varies = spread > 1e-15
    largest = np.zeros(len(moved))
    if varies.any():
        largest = (np.abs(moved[:, varies] - centre[varies]) / spread[varies]).max(axis=1)
    factor = float(np.quantile(largest, LEVEL)) if len(largest) else float("nan")
    half = np.where(varies, reach(documents) * factor * spread, 0.0)
    low[first, second], high[first, second] = centre - half, centre + half
    low[second, first], high[second, first] = -(centre + half), -(centre - half)
    return low, high


def rank_text(rank: tuple[int, int]) -> str:
    """Return a rank, or the first and the last one that a model may have.

    >>> rank_text((1, 3)), rank_text((4, 4))
    ('1–3', '4')
    """
    return f"{rank[0]}" if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"


def difference_text(pair: Pair) -> str:
    """Return a difference in points with its sign, starred when clear; a dash where undefined."""
    if pair.difference is None:
        return "–"
    return f"{points(pair.difference)}{f' {_STAR}' if pair.clear else ''}"


def _number(count: int) -> str:
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > _NAMED + 1:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return listed(names)
