"""What a new IoU threshold costs below the views: everything that the Overview shows of one model, computed anew.

    python -m tests.benchmarks.bench_threshold [--pages 80000] [--rounds 3] [--smoke] [--json]

No peer: nobody matches again. The boxes are matched and other thresholds were shown before, the last one a step of 0.01
away, as when a reader moves the slider; the names of the mistakes are compared with those of a fresh matching before
any time is taken.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

import numpy as np

from evaluator.components.viewer.mistake_filter import mistake_columns
from evaluator.data.dataset import Dataset, join
from evaluator.matching.box_scores import box_calibrations, threshold_choice
from evaluator.protocols import snapshot
from evaluator.protocols.snapshot.evaluation import Pairs
from tests.benchmarks.corpus import dln_like

BAR = 0.5
"""Seconds of CPU for one model: two of them within a second."""
SHOWN = (0.5, 0.55, 0.6)
STEP = 0.01
_COLUMNS = (
    "kind", "page", "label", "truth_offsets", "truth_rows", "prediction_offsets", "prediction_rows", "side", "share",
    "of_truth", "of_prediction",
)  # fmt: skip


def parts(pairs: Pairs, iou: float) -> dict[str, Callable[[], object]]:
    """What is computed at a threshold, in its order; each part once."""
    result = pairs.match().at(iou)
    return {
        "numbers": lambda: (result.micro, result.per_label, result.per_document),
        "mistakes": lambda: result.mistakes,
        "mistake columns": lambda: mistake_columns(result, result.mistakes),
        "best scores": lambda: threshold_choice(pairs.score_curve(iou=iou)),
        "calibration": lambda: box_calibrations(result),
    }


def need_equal(dataset: Dataset, pairs: Pairs, iou: float) -> None:
    """Stop unless mistakes that are named later are those of a fresh matching."""
    fresh, later = (each.match().at(iou).mistakes for each in (snapshot.pair(dataset), pairs))
    for name in _COLUMNS:
        if not np.array_equal(getattr(fresh, name), getattr(later, name), equal_nan=name == "share"):
            raise SystemExit(f"{name} of the mistakes at IoU {iou} differs")


def main(arguments: list[str] | None = None) -> int:
    """Print the least CPU of some thresholds, as text or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=80_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="a small corpus: only that it runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.pages, options.rounds = 200, 1
    dataset = join(*dln_like(options.pages))
    pairs = snapshot.pair(dataset)
    # Results stay, as in the cache of the dashboard.
    kept = [parts(pairs, iou) for iou in SHOWN]
    for shown in kept:
        for part in shown.values():
            part()
    need_equal(dataset, pairs, SHOWN[-1] + STEP)
    taken: dict[str, list[float]] = {}
    for number in range(options.rounds):
        kept.append(parts(pairs, SHOWN[-1] + STEP * (number + 1)))
        for name, part in kept[-1].items():
            started = time.process_time()
            part()
            taken.setdefault(name, []).append(time.process_time() - started)
    seconds = {name: min(each) for name, each in taken.items()}
    total = sum(seconds.values())
    if options.json:
        print(json.dumps({"pages": options.pages, "cpu_s": seconds, "total": total, "reached": total <= BAR}, indent=2))
    else:
        for name, each in seconds.items():
            print(f"{name:16} {each:.3f} s")
        print(f"{options.pages:,} pages, one model: {total:.3f} s CPU (bar {BAR} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
