"""Snapshot evaluation against two other ways of doing it, interleaved in one run, with equal results.

    python -m tests.benchmarks.bench_snapshot [--pages-snap 10000] [--pages-dln 80000] [--smoke] [--json]

The first peer is the algorithm of the public reference evaluator, written anew from its description: for each
threshold, page and label it scans every object of both files. It is quadratic, so it runs once. The second is the
best that plain Python does: objects grouped by (document, page, label) once, then a double loop in each group.
Neither reads files; both start from the objects that a JSON decoder leaves behind, and ours from the columns
that a reader returns. Times are wall seconds.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args

import pytest

from evaluator.data.dataset import Annotations, join
from evaluator.metrics.results import RATIOS, Fit
from evaluator.protocols.snapshot.evaluation import IOU_THRESHOLDS, evaluate, pair
from tests.benchmarks.corpus import dln_like, snap_like
from tests.benchmarks.measuring import OURS, against, in_turns, parsed, parser_of, spread, tell, timed

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


def by_rescanning(truths: list[Item], predictions: list[Item]) -> Counts:
    """The reference's way: every object of both files is looked at for each (page, label) and threshold."""
    pages = sorted({item.page_id for item in (*truths, *predictions)})
    labels = sorted({item.label for item in (*truths, *predictions)})

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


def same(counts: Counts, first: Counts) -> bool:
    """Whether counts are equal, and sums but for what the order of a running sum decides."""
    near = {iou: {name: pytest.approx(row, rel=1e-12) for name, row in of.items()} for iou, of in first.items()}
    return counts == near


def duel(
    name: str, sides: tuple[Annotations, Annotations], peer: Callable[..., Counts], *, once: bool
) -> dict[str, Any]:
    """Both in turns, the peer perhaps in the first alone; counts must be equal, and sums to 1e-12."""
    objects = [items(side) for side in sides]
    works = {OURS: lambda: by_layoutscope(*sides), name: lambda: peer(*objects)}
    seconds = in_turns(works, ROUNDS, once=name if once else "", same=same)
    row = {"peer": name, "boxes": [len(side) for side in objects], "seconds": seconds}
    row |= against(seconds, name, clock="wall")
    return row | {"bar": BARS[name], "reached": row["ratio_min"] >= BARS[name]}


def on_screen(truth: Annotations, prediction: Annotations) -> dict[str, Any]:
    """What a slider costs: everything on screen at a new IoU threshold and at a new score threshold."""
    pairs = pair(join(truth, prediction))
    matching = pairs.match()

    def show(threshold: Any) -> None:
        for columns in (threshold.micro, threshold.per_label):
            for ratio in RATIOS:
                getattr(columns, ratio)
        _ = threshold.per_document.f1, threshold.per_document.mistakes, threshold.per_page.mistakes

    acts: dict[str, Callable[[float], object]] = {
        "new iou": lambda iou: show(matching.at(iou)),
        "new score": lambda score: show(pairs.match(min_score=score).at(0.5)),
        "matching at a new score": lambda score: pairs.match(min_score=score),
    }
    steps = [0.3 + 0.05 * step for step in range(10)]
    seconds = {name: spread([timed(act, step) for step in steps]) for name, act in acts.items()}
    slowest = max(seconds[name]["median_wall"] for name in ("new iou", "new score"))
    return {"seconds": seconds, "bar": SCREEN_SECONDS, "reached": slowest <= SCREEN_SECONDS}


def main() -> None:
    """Run the benchmark and print it."""
    given = parsed(parser_of(__doc__, pages_snap=10_000, pages_dln=80_000), pages_snap=300, pages_dln=500)
    few, many = snap_like(given.pages_snap), dln_like(given.pages_dln)
    duels = [
        {"corpus": f"snap-like, {given.pages_snap:,} pages", **duel("reference", few, by_rescanning, once=True)},
        {"corpus": f"dln-like, {given.pages_dln:,} pages", **duel("plain loop", many, by_plain_loop, once=False)},
    ]
    tell({"duels": duels, "on_screen": on_screen(*many)}, as_json=given.json)


if __name__ == "__main__":
    main()
