"""What a new IoU threshold costs below the views: everything that the Overview shows of one model, computed anew.

    python -m tests.benchmarks.bench_threshold [--pages 80000] [--rounds 3] [--smoke] [--json]

No peer: nobody matches again. The boxes are matched and other thresholds were shown before, the last one a step of 0.01
away, as when a reader moves the slider; the names of the mistakes are compared with those of a fresh matching before
any time is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluator.components.viewer.mistake_filter import mistake_columns
from evaluator.data.dataset import Dataset, join
from evaluator.matching.box_scores import box_calibrations, threshold_choice
from evaluator.protocols import snapshot
from evaluator.protocols.snapshot.evaluation import Pairs
from tests.benchmarks.corpus import dln_like
from tests.benchmarks.measuring import Run, parsed, parser_of, spread, tell, timed

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


def main() -> None:
    """Print the least CPU of some thresholds."""
    given = parsed(parser_of(__doc__, pages=80_000, rounds=3), pages=200, rounds=1)
    dataset = join(*dln_like(given.pages))
    pairs = snapshot.pair(dataset)
    # Results stay, as in the cache of the dashboard.
    kept = [parts(pairs, iou) for iou in SHOWN]
    for shown in kept:
        for part in shown.values():
            part()
    need_equal(dataset, pairs, SHOWN[-1] + STEP)
    runs: dict[str, list[Run]] = {}
    for number in range(given.rounds):
        kept.append(parts(pairs, SHOWN[-1] + STEP * (number + 1)))
        for name, part in kept[-1].items():
            runs.setdefault(name, []).append(timed(part))
    seconds = {name: spread(each)["cpu"] for name, each in runs.items()}
    total = sum(seconds.values())
    report = {"pages": given.pages, "cpu_s": seconds, "total": total, "bar": BAR, "reached": total <= BAR}
    tell(report, as_json=given.json)


if __name__ == "__main__":
    main()
