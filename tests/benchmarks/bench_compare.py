"""Comparisons: how long the resampling takes, that it is a plain loop's, and whether the intervals are honest.

    python -m tests.benchmarks.bench_compare [--smoke] [--json]

Speed: all metrics of all labels of two models, 2,000 resamples of 500 documents, against a loop that adds up the drawn
documents one resample at a time; equal before anything is told. Average precision apart, because it is no sum: long
rankings are followed in stretches, and their intervals, those of the difference too, end within 2 % of their width of
the exact ones.
Coverage: corpora drawn from a known law, so that the true difference is known; the share of intervals that hold it. It
ends with 1 when no more than half of the intervals of a law hold the truth.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evaluator.compare.differences import differences
from evaluator.compare.ledger import ledger
from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Dataset, join
from evaluator.data.subsets import boxes_at
from evaluator.matching.box_measures import box_measures
from evaluator.metrics.bootstrap_ap import EXACT, Curves
from evaluator.metrics.measures import Averages, Key, Means, Measures, Ratios
from evaluator.metrics.resampling import RESAMPLES, draws, interval, widen_interval
from evaluator.metrics.results import MetricColumns
from evaluator.protocols import pod, protocol_of, snapshot
from tests.benchmarks.corpus import PAGES_PER_DOCUMENT, dln_like
from tests.benchmarks.measuring import parsed, parser_of, tell, timed
from tests.building import shuffled

BAR_SECONDS = 1.0
# How far the ends of an interval may be from those of the exact curves, in widths.
INTERVAL_BAR = 0.02


def two_models(pages: int) -> Dataset:
    """A corpus with eleven labels and two models, the second of which lost every fifth box of the first."""
    truth, predicted = dln_like(pages)
    other = shuffled(predicted, 5)
    kept = np.flatnonzero(np.arange(len(other.boxes)) % 5)
    return join(truth, predicted, replace(other, boxes=boxes_at(other.boxes, kept)))


def plain_loop(tables: Sequence[MetricColumns], documents: int, resamples: int) -> FloatArray:
    """What precision, recall and F1 change from a model to the next in each resample, by adding up drawn documents."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(resamples):
        drawn = rng.integers(0, documents, documents)
        numbers = []
        for one in tables:
            tp, fp, fn = (int(column[drawn].sum()) for column in (one.tp, one.fp, one.fn))
            numbers.append((tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)))
        rows.append([later - earlier for earlier, later in zip(*numbers, strict=True)])
    return np.array(rows)


def speed(documents: int, resamples: int, rounds: int) -> dict[str, Any]:
    """All metrics of a corpus, against a plain loop over three of them."""
    dataset = two_models(documents * PAGES_PER_DOCUMENT)
    results = [snapshot.pair(dataset, model).match().at(0.5) for model in (0, 1)]
    sums = timed(lambda: [box_measures(result) for result in results])
    drawing = timed(lambda: list(draws(documents, resamples=resamples)))
    runs = [timed(differences, *sums.answer, resamples=resamples) for _ in range(rounds)]
    counting = timed(lambda: ledger(*results).per_page)
    loop = timed(plain_loop, [result.per_document for result in results], documents, resamples)
    overall = {one.metric: one for one in runs[0].answer if one.overall and one.label == "All labels"}
    metrics = [overall[metric] for metric in ("precision", "recall", "f1")]
    estimates = np.array([one.difference for one in metrics])
    ends = widen_interval(interval(loop.answer), estimates, np.full(3, documents))
    if not np.allclose([(one.low, one.high) for one in metrics], np.stack(ends[:2], axis=1), rtol=0, atol=1e-12):
        raise SystemExit(f"ours {metrics}; plain loop {ends}")
    ours = min(run.cpu for run in runs)
    return {
        "documents": documents, "resamples": resamples, "numbers": len(runs[0].answer),
        "seconds": {"differences": ours, "drawing": drawing.cpu, "sums": sums.cpu, "ledger": counting.cpu,
                    "plain loop": loop.cpu},
        # The loop has 3 numbers of all labels; ours has them for every label, and the fit besides.
        "ratio": loop.cpu / 3 * len(runs[0].answer) / ours, "bar": BAR_SECONDS, "reached": ours < BAR_SECONDS,
    }  # fmt: skip


def average_precision(documents: int, resamples: int) -> dict[str, Any]:
    """Average precision of every label at one threshold and their mean, resampled exactly."""
    dataset = two_models(documents * PAGES_PER_DOCUMENT)
    results = []
    for model in (0, 1):
        matching = pod.pair(dataset, model).match(ap="all-point")
        results.append(pod.PodResult(matching, {0.6: matching.at(0.6)}))
    sides = [protocol_of(result).measures(result) for result in results]
    keys = [key for key in sides[0].keys if key.metric in ("ap", "map")]
    run = timed(differences, *sides, resamples=resamples, keys=keys)
    boxes = sum(len(side) for side in dataset.predictions)
    row = {"documents": documents, "predictions": boxes, "numbers": len(run.answer), "seconds": run.cpu}
    return row | followed(sides, documents, resamples)


def followed(sides: Sequence[Measures], documents: int, resamples: int) -> dict[str, Any]:
    """Curves followed in stretches against the exact ones: time, and how far the ends of intervals are apart.

    Of one model, and of B minus A, whose intervals are narrower and have the errors of both.
    """
    weights = np.concatenate(list(draws(documents, resamples=resamples)))
    long, quick, exact = 0, [], []
    for side in sides:
        (part,) = (part.of for part in side.parts if isinstance(part, Means) and isinstance(part.of, Averages))
        lengths = [len(one.document) for one in part.rankings]
        long += sum(length > EXACT for length in lengths)
        for runs, curves in ((quick, {}), (exact, {"exact": max(lengths)})):
            runs.append(timed(Curves(part.rankings, part.interpolated, **curves).averages, weights))
    (a, b), (exact_a, exact_b) = ([run.answer for run in runs] for runs in (quick, exact))
    apart = {"apart": _apart(a, exact_a), "difference_apart": _apart(b - a, exact_b - exact_a)}
    for name, share in apart.items():
        if share > INTERVAL_BAR:
            raise SystemExit(f"{name}: an interval of followed curves ends {share:.1%} of its width from the exact one")
    followed_s, exact_s = (sum(run.cpu for run in runs) for runs in (quick, exact))
    return {"followed": long, "followed_seconds": followed_s, "exact_seconds": exact_s, **apart}


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
    every, chance, better = _law(np.random.default_rng(seed + 1), 10_000_000, skewed=skewed)
    truth = float((every * (better - chance)).sum() / every.sum())
    held, width = 0, 0.0
    for _ in range(corpora):
        boxes, *chances = _law(rng, documents, skewed=skewed)
        sides = []
        for each in chances:
            covered, of = rng.binomial(boxes, each).astype(np.float64), boxes.astype(np.float64)
            estimate = np.array([covered.sum() / of.sum()])
            part = Ratios((Key("recall", "All labels"),), estimate, covered[:, None], of[:, None])
            sides.append(Measures(tuple(map(str, range(documents))), "All labels", (part,)))
        (one,) = differences(*sides, resamples=resamples, seed=int(rng.integers(2**31)))
        assert one.low is not None
        assert one.high is not None
        held += one.low <= truth <= one.high
        width += one.high - one.low
    share = held / corpora
    return {
        "documents": documents, "law": "skewed" if skewed else "even", "corpora": corpora, "share": share,
        "standard_error": (share * (1.0 - share) / corpora) ** 0.5, "mean_width_points": 100.0 * width / corpora,
    }  # fmt: skip


def _law(rng: np.random.Generator, documents: int, *, skewed: bool) -> tuple[Any, FloatArray, FloatArray]:
    """Boxes of each document, and the chances that A and B find one of them."""
    boxes, chance = rng.integers(1, 41, documents), rng.beta(6.0, 2.0, documents)
    more: Any = 0.03
    if skewed:
        more = np.where(rng.random(documents) < 0.25, rng.exponential(0.15, documents), 0.0)
    return boxes, chance, np.clip(chance + more, 0.0, 1.0)


def main() -> int:
    """Print times, ratios and coverage."""
    parser = parser_of(__doc__, documents=500, corpora=2000, resamples=RESAMPLES, rounds=3)
    given = parsed(parser, documents=20, corpora=20, resamples=200, rounds=1)
    sizes = (8, 20) if given.smoke else (8, 20, 50, 200)
    covered = [
        coverage(size, given.corpora, min(given.resamples, 1000), 17, skewed=skewed)
        for skewed in (False, True)
        for size in sizes
    ]
    report = {
        "speed": speed(given.documents, given.resamples, given.rounds),
        "average_precision": average_precision(given.documents, given.resamples),
        "coverage": covered,
    }
    tell(report, as_json=given.json)
    return int(any(row["share"] <= 0.5 for row in covered))


if __name__ == "__main__":
    sys.exit(main())
