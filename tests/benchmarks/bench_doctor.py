"""How many planted hypotheses the doctor finds, alone and two at a time, and how long that takes.

    python -m tests.benchmarks.bench_doctor [--smoke]

With LAYOUTSCOPE_SHARED the World Bank files come on top. It ends with 1 when a hypothesis alone is not found.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from pathlib import Path

from evaluator import checkup, formats
from tests.planting import PLANTS, planted

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
CLOSE = 0.03
# Both count from the bottom of the page; together they undo each other.
SAME = {"bottom left", "bottom left, corners"}


def main(arguments: list[str] | None = None) -> int:
    """Print one line for each pair of files, and each hypothesis that was not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="four hypotheses on one file: only that it runs")
    options = parser.parse_args(arguments)
    pairs = [(SAMPLE / "ground_truth.json", SAMPLE / f"{model}.json") for model in ("lines", "blocks")]
    if shared := os.environ.get("LAYOUTSCOPE_SHARED"):
        folder = Path(shared) / "real" / "worldbank"
        pairs.append((folder / "evaluate_model_gt.json", folder / "evaluate_model_pred.json"))
    combinations = [*((name,) for name in PLANTS), *itertools.combinations(PLANTS, 2)]
    if options.smoke:
        pairs, combinations = pairs[:1], combinations[:4]
    alone = True
    for truth_path, path in pairs:
        truth, prediction = formats.read(truth_path), formats.read(path)
        good = checkup.diagnosis_of(truth, prediction).as_given or 0.0
        named, seconds = 0, []
        tried = [names for names in combinations if set(names) != SAME]
        for names in tried:
            spoilt = planted(prediction, *names)
            start = time.perf_counter()
            best = checkup.diagnosis_of(truth, spoilt).best
            seconds.append(time.perf_counter() - start)
            if best is not None and (best.f1 or 0.0) >= good - CLOSE:
                named += 1
            else:
                alone = alone and len(names) > 1
                print(f"  not found: {' and '.join(names)}: {best and (best.words, best.f1)}")
        seconds.sort()
        print(
            f"{path.name}: {named} of {len(tried)} found; "
            f"median {seconds[len(seconds) // 2]:.2f} s, longest {seconds[-1]:.2f} s"
        )
    return 0 if alone else 1


if __name__ == "__main__":
    sys.exit(main())
