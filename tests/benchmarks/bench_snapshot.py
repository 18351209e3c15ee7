"""Snapshot evaluation against two other ways of doing it, interleaved in one run, with equal results.

    python -m tests.benchmarks.bench_snapshot [--pages-snap 10000] [--pages-dln 80000] [--smoke] [--json]

The first peer is the algorithm of the public reference evaluator, written anew from its description: for each
threshold, page and label it scans every object of both files. It is quadratic, so it runs once. The second is the
best that plain Python does: objects grouped by (document, page, label) once, then a double loop in each group.
Neither reads files; both start from the objects that a JSON decoder leaves behind, and ours from the columns
that a reader returns. Times are wall seconds.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args

import pytest

from evaluator.data.dataset import Annotations, join
from evaluator.metrics.results import RATIOS, Fit
from evaluator.protocols.snapshot.evaluation import IOU_THRESHOLDS, evaluate, pair
from tests.benchmarks.corpus import dln_like, snap_like

BARS = {"reference": 500.0, "plain loop": 8.0}
SCREEN_SECONDS = 0.050
ROUNDS = 5


class Item(NamedTuple):
    """One object as plain Python has it."""

    document: str
    page: int
    page_id: str
    label: str
    bbox: list[float]


Counts = dict[float, dict[str, tuple[int, int, int, float, float, float]]]
"""By threshold and label: true and false positives, false negatives, sums of IoU, coverage and purity."""


def items(source: Annotations) -> list[Item]:
    """The boxes of a file, in its order."""
    boxes = source.boxes
    rows = zip(boxes.document.tolist(), boxes.page.tolist(), boxes.entry.tolist(), boxes.label.tolist(), strict=True)
    return [
        Item(source.documents[document].doc_id, page, source.page_ids[entry], source.labels[label], bbox)
        for (document, page, entry, label), bbox in zip(rows, boxes.xyxy.tolist(), strict=True)
    ]


def fit(truth: list[float], predicted: list[float]) -> tuple[float, float, float]:
    """IoU, coverage and purity of two boxes."""
    width = min(truth[2], predicted[2]) - max(truth[0], predicted[0])
    height = min(truth[3], predicted[3]) - max(truth[1], predicted[1])
    if width <= 0.0 or height <= 0.0:
        return 0.0, 0.0, 0.0
    shared = width * height
    truth_area = (truth[2] - truth[0]) * (truth[3] - truth[1])
    predicted_area = (predicted[2] - predicted[0]) * (predicted[3] - predicted[1])
    return shared / (predicted_area + truth_area - shared), shared / truth_area, shared / predicted_area


def greedy(truths: list[Item], predictions: list[Item], threshold: float) -> list[tuple[float, float, float]]:
    """The fits of the pairs that the greedy takes in one group."""
    candidates = []
    for p, prediction in enumerate(predictions):
        for g, truth in enumerate(truths):
            fits = fit(truth.bbox, prediction.bbox)
            if fits[0] >= threshold:
                candidates.append((p, g, fits))
    candidates.sort(key=lambda candidate: -candidate[2][0])
    used_p: set[int] = set()
    used_g: set[int] = set()
    taken = []
    for p, g, fits in candidates:
        if p not in used_p and g not in used_g:
            used_p.add(p)
            used_g.add(g)
            taken.append(fits)
    return taken


def counted(groups: Iterator[tuple[str, list[Item], list[Item]]], threshold: float) -> dict[str, Any]:
    """Counts and sums per label over all groups."""
    total: dict[str, list[float]] = {}
    for label, truths, predictions in groups:
        row = total.setdefault(label, [0, 0, 0, 0.0, 0.0, 0.0])
        taken = greedy(truths, predictions, threshold)
        row[0] += len(taken)
        row[1] += len(predictions) - len(taken)
        row[2] += len(truths) - len(taken)
        for fits in taken:
            row[3] += fits[0]
            row[4] += fits[1]
            row[5] += fits[2]
    return {label: tuple(total[label]) for label in sorted(total)}


def by_rescanning(truths: list[Item], predictions: list[Item], labels: tuple[str, ...]) -> Counts:
    """The reference's way: every object of both files is looked at for each (page, label) and threshold."""
    pages = sorted({item.page_id for item in (*truths, *predictions)})

    def groups() -> Iterator[tuple[str, list[Item], list[Item]]]:
        for page in pages:
            for label in labels:
                yield (
                    label,
                    [item for item in truths if item.page_id == page and item.label == label],
                    [item for item in predictions if item.page_id == page and item.label == label],
                )

    return {threshold: counted(groups(), threshold) for threshold in IOU_THRESHOLDS}


def by_plain_loop(truths: list[Item], predictions: list[Item]) -> Counts:
    """Plain Python done well: grouped once, then a double loop in each group."""
    grouped: dict[tuple[str, int, str], tuple[list[Item], list[Item]]] = {}
    for side, objects in enumerate((truths, predictions)):
        for item in objects:
            key = item.document, item.page, item.label
            if key not in grouped:
                grouped[key] = [], []
            grouped[key][side].append(item)
    ordered = sorted(grouped)
    return {threshold: counted(((key[2], *grouped[key]) for key in ordered), threshold) for threshold in IOU_THRESHOLDS}


def by_layoutscope(truth: Annotations, prediction: Annotations) -> Counts:
    """Ours, down to the per-label columns."""
    result = evaluate(truth, prediction)
    counts: Counts = {}
    for iou, threshold in result.thresholds.items():
        row = threshold.per_label
        fits = map(row.fit_sum, get_args(Fit))
        columns = zip(*(column.tolist() for column in (row.tp, row.fp, row.fn, *fits)), strict=True)
        pairs = zip(result.matching.labels, columns, strict=True)
        counts[iou] = {label: values for label, values in sorted(pairs) if any(values)}
    return counts


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall seconds of one call, and what it returned."""
    gc.collect()
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def summary(seconds: list[float]) -> dict[str, float]:
    """Fastest and middle run."""
    ordered = sorted(seconds)
    return {"min": ordered[0], "median": ordered[len(ordered) // 2], "runs": len(ordered)}


def same(ours: Counts, theirs: Counts | None) -> bool:
    """Whether the counts are equal, and the sums but for what the order of a running sum decides."""
    assert theirs is not None
    rows = {iou: {label: pytest.approx(row, rel=1e-12) for label, row in of.items()} for iou, of in theirs.items()}
    return ours == rows


def duel(name: str, peer: Callable[[], Counts], ours: Callable[[], Counts], *, peer_runs: int) -> dict[str, Any]:
    """Both in turns, the peer as often as it can be afforded; their counts must be equal, and sums to 1e-12."""
    peer_seconds, our_seconds = [], []
    expected = None
    for turn in range(ROUNDS):
        if turn < peer_runs:
            seconds, expected = timed(peer)
            peer_seconds.append(seconds)
        seconds, counts = timed(ours)
        our_seconds.append(seconds)
        if not same(counts, expected):
            raise SystemExit(f"{name}: results differ")
    theirs, own = summary(peer_seconds), summary(our_seconds)
    ratio = theirs["min"] / own["min"]
    return {
        "peer": name, "peer_seconds": theirs, "our_seconds": own, "ratio_min": ratio,
        "ratio_median": theirs["median"] / own["median"], "bar": BARS[name], "reached": ratio >= BARS[name],
    }  # fmt: skip


def against_reference(pages: int) -> dict[str, Any]:
    """Figures and Tables against the rescanning algorithm."""
    truth, prediction = snap_like(pages)
    sides = items(truth), items(prediction)
    result = duel(
        "reference",
        lambda: by_rescanning(*sides, truth.labels),
        lambda: by_layoutscope(truth, prediction),
        peer_runs=1,
    )
    return {"corpus": f"snap-like, {pages:,} pages", "boxes": [len(side) for side in sides], **result}


def against_plain_loop(truth: Annotations, prediction: Annotations, pages: int) -> dict[str, Any]:
    """Eleven labels against a grouped double loop."""
    sides = items(truth), items(prediction)
    peer_runs = 3
    result = duel(
        "plain loop", lambda: by_plain_loop(*sides), lambda: by_layoutscope(truth, prediction), peer_runs=peer_runs
    )
    return {"corpus": f"dln-like, {pages:,} pages", "boxes": [len(side) for side in sides], **result}


def on_screen(truth: Annotations, prediction: Annotations, pages: int) -> dict[str, Any]:
    """What a slider costs: everything on screen at a new IoU threshold and at a new score threshold."""
    pairs = pair(join(truth, prediction))
    matching = pairs.match()

    def show(threshold: Any) -> None:
        """What the views draw: all ratios pooled and by label, F1 and mistakes by document, mistakes by page."""
        for columns in (threshold.micro, threshold.per_label):
            for ratio in RATIOS:
                getattr(columns, ratio)
        _ = threshold.per_document.f1, threshold.per_document.mistakes, threshold.per_page.mistakes

    steps = [0.3 + 0.05 * step for step in range(10)]
    new_iou = [timed(lambda iou=iou: show(matching.at(iou)))[0] for iou in steps]
    new_score = [timed(lambda score=score: show(pairs.match(min_score=score).at(0.5)))[0] for score in steps]
    matched_only = [timed(lambda score=score: pairs.match(min_score=score))[0] for score in steps]
    return {
        "corpus": f"dln-like, {pages:,} pages",
        "new_iou_seconds": summary(new_iou),
        "new_score_seconds": summary(new_score),
        "matching_at_a_new_score_seconds": summary(matched_only),
        "bar": SCREEN_SECONDS,
        "reached": max(summary(new_iou)["median"], summary(new_score)["median"]) <= SCREEN_SECONDS,
    }


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages-snap", type=int, default=10_000)
    parser.add_argument("--pages-dln", type=int, default=80_000)
    parser.add_argument("--smoke", action="store_true", help="small corpora: only that it runs and results are equal")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.smoke:
        chosen.pages_snap, chosen.pages_dln = 300, 500
    results = [against_reference(chosen.pages_snap)]
    sides = dln_like(chosen.pages_dln)
    results.append(against_plain_loop(*sides, chosen.pages_dln))
    screen = on_screen(*sides, chosen.pages_dln)
    if chosen.json:
        print(json.dumps({"duels": results, "on_screen": screen}, indent=2))
        return
    for row in results:
        boxes = " + ".join(f"{count:,}" for count in row["boxes"])
        print(f"{row['corpus']} ({boxes} boxes), results equal")
        for who, key in ((row["peer"], "peer_seconds"), ("layoutscope", "our_seconds")):
            times = row[key]
            print(f"  {who:12} min {times['min']:9.4f} s  median {times['median']:9.4f} s  ({times['runs']} runs)")
        print(f"  ratio {row['ratio_min']:.1f} (min), {row['ratio_median']:.1f} (median); bar {row['bar']:.0f}")
    print(f"{screen['corpus']}: everything on screen anew; bar {screen['bar'] * 1000:.0f} ms")
    for key in ("new_iou_seconds", "new_score_seconds", "matching_at_a_new_score_seconds"):
        times = screen[key]
        name = key.removesuffix("_seconds").replace("_", " ")
        print(f"  {name:28} min {times['min'] * 1000:7.1f} ms  median {times['median'] * 1000:7.1f} ms")


if __name__ == "__main__":
    main()
