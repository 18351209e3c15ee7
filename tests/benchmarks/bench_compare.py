"""Comparisons: how long the resampling takes, that it is a plain loop's, and whether the intervals are honest.

    python -m tests.benchmarks.bench_compare [--smoke] [--json]

Speed: all metrics of all labels of two models, 2,000 resamples of 500 documents, against a loop that adds up the drawn
documents one resample at a time; equal before anything is told. Average precision apart, because it is no sum: long
rankings are followed in stretches, and their intervals, those of the difference too, end within 2 % of their width of
the exact ones.
Coverage: corpora drawn from a known law, so that the true difference is known; the share of intervals that hold it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evaluator.compare.differences import differences
from evaluator.compare.ledger import ledger
from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Dataset, join
from evaluator.matching.box_measures import box_measures
from evaluator.metrics.bootstrap_ap import EXACT, Curves
from evaluator.metrics.measures import Averages, Key, Means, Measures, Ratios
from evaluator.metrics.resampling import RESAMPLES, draws, interval, widen_interval
from evaluator.metrics.results import MetricColumns
from evaluator.protocols import pod, protocol_of, snapshot
from tests.benchmarks.corpus import PAGES_PER_DOCUMENT, dln_like
from tests.building import shuffled

BAR_SECONDS = 1.0
# How far the ends of an interval may be from those of the exact curves, in widths.
INTERVAL_BAR = 0.02


def cpu(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Best CPU time of some rounds, and what the last one gave."""
    best, answer = float("inf"), None
    for _ in range(rounds):
        start = time.process_time()
        answer = work()
        best = min(best, time.process_time() - start)
    return best, answer


def two_models(pages: int) -> Dataset:
    """A corpus with eleven labels and two models, the second of which lost every fifth box of the first."""
    truth, predicted = dln_like(pages)
    other = shuffled(predicted, 5)
    kept = np.arange(len(other.boxes)) % 5 != 0
    columns = {
        name: getattr(other.boxes, name)[kept]
        for name in ("document", "page", "label", "xyxy", "score", "entry", "position")
    }
    ids = [name for name, keep in zip(other.boxes.ids, kept.tolist(), strict=True) if keep]
    fewer = type(other.boxes)(**columns, ids=ids)
    return join(
        truth, predicted, type(other)(**{name: getattr(other, name) for name in other.__slots__} | {"boxes": fewer})
    )


def plain_loop(tables: list[list[MetricColumns]], documents: int, resamples: int) -> FloatArray:
    """Recall, precision and F1 of each table in each resample, by adding up the drawn documents."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(resamples):
        drawn = rng.integers(0, documents, documents)
        numbers = []
        for a, b in zip(*tables, strict=True):
            pair = []
            for one in (a, b):
                tp, fp, fn = (int(column[drawn].sum()) for column in (one.tp, one.fp, one.fn))
                pair.append((tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)))
            numbers += [later - earlier for earlier, later in zip(*pair, strict=True)]
        rows.append(numbers)
    return np.array(rows)


def speed(documents: int, resamples: int, rounds: int) -> dict[str, Any]:
    """All metrics of a corpus, against a plain loop over three of them."""
    dataset = two_models(documents * PAGES_PER_DOCUMENT)
    results = [snapshot.pair(dataset, model).match().at(0.5) for model in (0, 1)]
    making, sides = cpu(lambda: [box_measures(result) for result in results], 1)
    drawing, _ = cpu(lambda: list(draws(documents, resamples=resamples)), rounds)
    ours, changes = cpu(lambda: differences(*sides, resamples=resamples), rounds)
    counting, _ = cpu(lambda: ledger(*results).per_page, rounds)
    loop, expected = cpu(lambda: plain_loop([[result.per_document] for result in results], documents, resamples), 1)
    ours_by = {(one.metric, one.label): one for one in changes if one.overall}
    estimates = np.array([ours_by[metric, "All labels"].difference for metric in ("precision", "recall", "f1")])
    ends = widen_interval(interval(expected), estimates, np.full(3, documents))
    for row, metric in enumerate(("precision", "recall", "f1")):
        one = ours_by[metric, "All labels"]
        if not np.allclose([one.low, one.high], [ends.low[row], ends.high[row]], rtol=0, atol=1e-12):
            raise SystemExit(f"{metric}: ours {one.low}, {one.high}; plain loop {ends.low[row]}, {ends.high[row]}")
    return {
        "documents": documents,
        "resamples": resamples,
        "numbers": len(changes),
        "seconds": {"differences": ours, "drawing": drawing, "sums": making, "ledger": counting, "plain loop": loop},
        # The loop has 3 numbers of all labels; ours has them for every label, and the fit besides.
        "ratio": loop / 3 * len(changes) / ours,
        "bar": BAR_SECONDS,
        "reached": ours < BAR_SECONDS,
    }


def average_precision(documents: int, resamples: int) -> dict[str, Any]:
    """Average precision of every label at one threshold and their mean, resampled exactly."""
    dataset = two_models(documents * PAGES_PER_DOCUMENT)
    results = []
    for model in (0, 1):
        matching = pod.pair(dataset, model).match(ap="all-point")
        results.append(pod.PodResult(matching, {0.6: matching.at(0.6)}))
    sides = [protocol_of(result).measures(result) for result in results]
    keys = [key for key in sides[0].keys if key.metric in ("ap", "map")]
    seconds, changes = cpu(lambda: differences(*sides, resamples=resamples, keys=keys), 1)
    boxes = sum(len(side) for side in dataset.predictions)
    row = {"documents": documents, "predictions": boxes, "numbers": len(changes), "seconds": seconds}
    return row | followed(sides, documents, resamples)


def followed(sides: Sequence[Measures], documents: int, resamples: int) -> dict[str, Any]:
    """Curves followed in stretches against the exact ones: time, and how far the ends of intervals are apart.

    Of one model, and of B minus A, whose intervals are narrower and have the errors of both.
    """
    weights = np.concatenate(list(draws(documents, resamples=resamples)))

    def both_ways(side: Measures) -> tuple[int, float, FloatArray, float, FloatArray]:
        (part,) = (part.of for part in side.parts if isinstance(part, Means) and isinstance(part.of, Averages))
        quick, ours = cpu(lambda: Curves(part.rankings, part.interpolated).averages(weights), 1)
        longest = max(len(one.document) for one in part.rankings)
        exactly, exact = cpu(lambda: Curves(part.rankings, part.interpolated, exact=longest).averages(weights), 1)
        return sum(len(one.document) > EXACT for one in part.rankings), quick, ours, exactly, exact

    long, quick, ours, exactly, exact = zip(*map(both_ways, sides), strict=True)
    apart = {
        "apart": _apart(ours[0], exact[0]),
        "difference_apart": _apart(ours[1] - ours[0], exact[1] - exact[0]),
    }
    for name, share in apart.items():
        if share > INTERVAL_BAR:
            raise SystemExit(f"{name}: an interval of followed curves ends {share:.1%} of its width from the exact one")
    return {"followed": sum(long), "followed_seconds": sum(quick), "exact_seconds": sum(exactly), **apart}


def _apart(ours: FloatArray, exact: FloatArray) -> float:
    """How far the ends of the intervals of some columns are apart at most, as a share of the exact width."""
    ends, wanted = interval(ours), interval(exact)
    apart = np.maximum(np.abs(ends.low - wanted.low), np.abs(ends.high - wanted.high)) / (wanted.high - wanted.low)
    return float(np.nanmax(apart))


def coverage(documents: int, corpora: int, resamples: int, seed: int, *, skewed: bool) -> dict[str, Any]:
    """Share of intervals that hold the true difference of recall, over corpora of one law.

    A document has 1 to 40 boxes and a difficulty of its own that both models share; given these, A finds a box with
    probability h. B finds it with h + 0.03, or, where the law is skewed, with h in three of four documents and with h
    and an exponential gain of mean 0.15 in the fourth. The truth is the ratio of expectations, from ten million
    documents.
    """
    rng = np.random.default_rng(seed)
    truth = _true_difference(np.random.default_rng(seed + 1), skewed=skewed)
    held, width = 0, 0.0
    for _ in range(corpora):
        boxes, *chances = _law(rng, documents, skewed=skewed)
        sides = []
        for chance in chances:
            covered = rng.binomial(boxes, chance).astype(np.float64)
            part = Ratios(
                (Key("recall", "All labels"),),
                np.array([covered.sum() / boxes.sum()]),
                covered[:, None],
                boxes.astype(np.float64)[:, None],
            )
            sides.append(Measures(tuple(map(str, range(documents))), "All labels", (part,)))
        (one,) = differences(*sides, resamples=resamples, seed=int(rng.integers(2**31)))
        assert one.low is not None
        assert one.high is not None
        held += one.low <= truth <= one.high
        width += one.high - one.low
    share = held / corpora
    return {
        "documents": documents,
        "law": "skewed" if skewed else "even",
        "corpora": corpora,
        "share": share,
        "standard_error": (share * (1.0 - share) / corpora) ** 0.5,
        "mean_width_points": 100.0 * width / corpora,
    }


def _law(rng: np.random.Generator, documents: int, *, skewed: bool) -> tuple[Any, FloatArray, FloatArray]:
    """Boxes of each document, and the chances that A and B find one of them."""
    boxes, chance = rng.integers(1, 41, documents), rng.beta(6.0, 2.0, documents)
    more: Any = 0.03
    if skewed:
        more = np.where(rng.random(documents) < 0.25, rng.exponential(0.15, documents), 0.0)
    return boxes, chance, np.clip(chance + more, 0.0, 1.0)


def _true_difference(rng: np.random.Generator, *, skewed: bool) -> float:
    """The difference of recall that the law gives."""
    boxes, chance, better = _law(rng, 10_000_000, skewed=skewed)
    return float((boxes * (better - chance)).sum() / boxes.sum())


def main(arguments: list[str] | None = None) -> int:
    """Print times, ratios and coverage, as text or JSON.

    Returns
    -------
    int
        0; 1 when no more than half of the intervals of a law hold the truth. The run stops with a message when the
        intervals are not those of the plain loop.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--corpora", type=int, default=2000)
    parser.add_argument("--smoke", action="store_true", help="small: only that it runs and equals the loop")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    documents, resamples, rounds = options.documents, RESAMPLES, 3
    sizes: tuple[int, ...] = (8, 20, 50, 200)
    if options.smoke:
        documents, resamples, rounds, options.corpora, sizes = 20, 200, 1, 20, (8, 20)
    values = {
        "speed": speed(documents, resamples, rounds),
        "average_precision": average_precision(documents, resamples),
        "coverage": [
            coverage(size, options.corpora, min(resamples, 1000), 17, skewed=skewed)
            for skewed in (False, True)
            for size in sizes
        ],
    }
    print(json.dumps(values, indent=2) if options.json else as_text(values))
    return int(any(row["share"] <= 0.5 for row in values["coverage"]))


def as_text(values: dict[str, Any]) -> str:
    """The results in a few lines."""
    speed, average = values["speed"], values["average_precision"]
    reached = "reached" if speed["reached"] else "missed"
    lines = [
        f"{speed['resamples']:,} resamples of {speed['documents']} documents, {speed['numbers']} numbers of two models",
        *(f"  {name:12} {seconds:8.3f} s CPU" for name, seconds in speed["seconds"].items()),
        f"  {speed['ratio']:.0f} times a plain loop, number for number; bar {speed['bar']} s {reached}",
        f"average precision, {average['predictions']:,} predictions of both models: {average['numbers']} numbers, "
        f"{average['seconds']:.3f} s CPU",
        f"  {average['followed']} long rankings in stretches: {average['followed_seconds']:.3f} s CPU, exact "
        f"{average['exact_seconds']:.3f}; intervals end up to {average['apart']:.2%} of their width apart, those of "
        f"the difference {average['difference_apart']:.2%}",
        "95 % intervals of recall on simulated corpora hold the truth",
    ]
    lines += [
        f"  {row['documents']:4} documents, {row['law']:6}: {row['share']:.1%} ± {row['standard_error']:.1%} of "
        f"{row['corpora']:,}, {row['mean_width_points']:.1f} points wide"
        for row in values["coverage"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
