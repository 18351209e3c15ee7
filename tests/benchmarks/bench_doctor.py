"""How many planted hypotheses the doctor finds, alone and two at a time, and how long that takes.

    python -m tests.benchmarks.bench_doctor [--smoke] [FILE...]

FILE is lines, blocks or worldbank; with LAYOUTSCOPE_SHARED worldbank is one of all. Two that undo each other leave
files of which as much matches as before: there the doctor has to be silent. It ends with 1 when anything is missed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from pathlib import Path

from evaluator import formats
from evaluator.analysis.doctor import match_check
from tests.planting import PLANTS, spoilt

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
CLOSE = 0.03


def main(arguments: list[str] | None = None) -> int:
    """Print one line for each pair of files, and each hypothesis that was not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", choices=[[], "lines", "blocks", "worldbank"])
    parser.add_argument("--smoke", action="store_true", help="four hypotheses on one file: only that it runs")
    options = parser.parse_args(arguments)
    pairs = {model: (SAMPLE / "ground_truth.json", SAMPLE / f"{model}.json") for model in ("lines", "blocks")}
    if shared := os.environ.get("LAYOUTSCOPE_SHARED"):
        folder = Path(shared) / "real" / "worldbank"
        pairs["worldbank"] = (folder / "evaluate_model_gt.json", folder / "evaluate_model_pred.json")
    combinations = [*((name,) for name in PLANTS), *itertools.combinations(PLANTS, 2)]
    chosen = [name for name in options.files or pairs if name in pairs]
    if options.smoke:
        chosen, combinations = chosen[:1], combinations[:4]
    missed = 0
    for name in chosen:
        truth, prediction = (formats.read(path) for path in pairs[name])
        good = match_check.diagnosis_of(truth, prediction).as_given or 0.0
        undone, seconds = 0, []
        for names in combinations:
            both = spoilt(truth, prediction, *names)
            start = time.perf_counter()
            diagnosis = match_check.diagnosis_of(*both)
            seconds.append(time.perf_counter() - start)
            best = diagnosis.best
            if best is None and len(names) == 2 and (diagnosis.as_given or 0.0) >= good - CLOSE:
                undone += 1
            elif best is None or (best.f1 or 0.0) < good - CLOSE:
                missed += 1
                print(f"  not found: {' and '.join(names)}: {best and (best.words, best.f1)}", flush=True)
        seconds.sort()
        print(
            f"{name}: {len(combinations)} tried, {undone} undo each other; "
            f"median {seconds[len(seconds) // 2]:.2f} s, longest {seconds[-1]:.2f} s"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
