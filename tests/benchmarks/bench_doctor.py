"""How many planted hypotheses the doctor finds, alone and two at a time, and how long that takes.

    python -m tests.benchmarks.bench_doctor [--files lines,blocks,worldbank] [--smoke] [--json]

Some are planted on a part of the pages, too: on most of them they have to be found, on a few no fix may be proposed.
With LAYOUTSCOPE_SHARED worldbank is one of all files. Two that undo each other leave files of which as much matches as
before: there the doctor has to be silent. It ends with 1 when anything is missed.
"""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path
from typing import Any

from evaluator import formats
from evaluator.analysis.doctor import match_check
from tests.benchmarks.measuring import parsed, parser_of, spread, tell, timed
from tests.planting import IN_PART, NOT_TOGETHER, PLANTS, on_part, spoilt

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
CLOSE = 0.03


def tried(paths: tuple[Path, Path], combinations: list[tuple[str, ...]]) -> dict[str, Any]:
    """What is found of each combination, planted in the second file of a pair."""
    sides = [formats.read(path) for path in paths]
    good = match_check.diagnosis_of(*sides).as_given or 0.0
    undone, runs, missed = 0, [], []
    for names in combinations:
        both = spoilt(*sides, *names)
        runs.append(timed(match_check.diagnosis_of, *both))
        diagnosis = runs[-1].answer
        best = diagnosis.best
        if best is None and len(names) == 2 and (diagnosis.as_given or 0.0) >= good - CLOSE:
            undone += 1
        elif best is None or (best.f1 or 0.0) < good - CLOSE:
            missed.append(f"{' and '.join(names)}: {best and (best.words, best.f1)}")
    for name in IN_PART if len(combinations) > len(PLANTS) else ():
        for share, least in ((0.8, 0.7 * good), (0.15, None)):
            truth, prediction = sides
            runs.append(timed(match_check.diagnosis_of, truth, on_part(PLANTS[name], share)(prediction)))
            best = runs[-1].answer.best
            if (best is None) != (least is None) or (best is not None and (best.f1 or 0.0) < (least or 0.0)):
                missed.append(f"{name} on {share:.0%} of the pages: {best and (best.words, best.f1)}")
    longest = max(run.wall for run in runs)
    median = spread(runs)["median_wall"]
    return {"tried": len(runs), "undo_each_other": undone, "missed": missed, "median_s": median, "longest_s": longest}


def main() -> int:
    """Print one line for each pair of files, with each hypothesis that was not found."""
    given = parsed(parser_of(__doc__, files="lines,blocks,worldbank"), files="lines")
    pairs = {model: (SAMPLE / "ground_truth.json", SAMPLE / f"{model}.json") for model in ("lines", "blocks")}
    if shared := os.environ.get("LAYOUTSCOPE_SHARED"):
        folder = Path(shared) / "real" / "worldbank"
        pairs["worldbank"] = (folder / "evaluate_model_gt.json", folder / "evaluate_model_pred.json")
    combinations = [*((name,) for name in PLANTS), *itertools.combinations(PLANTS, 2)]
    combinations = [names for names in combinations if frozenset(names) not in NOT_TOGETHER]
    wanted = [name for name in given.files.split(",") if name in pairs]
    report = {name: tried(pairs[name], combinations[: 4 if given.smoke else None]) for name in wanted}
    tell(report, as_json=given.json)
    return int(any(row["missed"] for row in report.values()))


if __name__ == "__main__":
    sys.exit(main())
