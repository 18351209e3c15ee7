"""Files from strangers, in numbers, and what goes wrong in the middle of work; ends with 1 when anything did harm.

    python -m tests.benchmarks.bench_attack [--part NAME] [--count N] [--seed N] [--reader NAME] [--smoke] [--json]

========== ===================================================================================== ===================
part       what is counted                                                                       count when not given
========== ===================================================================================== ===================
readers    changed files for every reader: errors that are no issues, over two seconds of CPU    100,000 for each
documents  changed PDFs: errors that are not typed, freezes of the asking process over 50 ms     100,000
names      names of documents: anything that is opened outside their folder                      100,000
geometry   legal pages at 72 to 300 dpi: the box is more than a pixel off                        220
crowded    100 pages of 10,000 equal boxes a side: more than 500 MB, or no issue                 1
killed     commands that are killed: a result that is torn, or other bytes when it runs again    50 for each
properties what must hold for every input (Hypothesis): examples of each test                    10,000
========== ===================================================================================== ===================

Runs with other seeds add up. Times are of a whole machine, so they say something when nothing else runs on it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.attacks import attempts, good_files
from tests.attacks_pages import drawn_documents, freezes, geometry_offs
from tests.building import box, write_file
from tests.interruptions import COMMANDS, interrupted
from tests.red_box import MOST_OFF

MOST_SECONDS: Final = 2.0
MOST_FREEZE: Final = 0.05
MOST_MEGABYTES: Final = 500
ROOT: Final = Path(__file__).resolve().parents[2]
# The tests of properties: those that Hypothesis makes inputs for.
PROPERTY_TESTS: Final = (
    "tests/test_protocols.py", "tests/test_matching.py", "tests/test_boxes.py", "tests/test_ranked.py",
    "tests/test_average_precision.py", "tests/test_pixel_counts.py", "tests/test_crowding.py", "tests/test_causes.py",
    "tests/test_confidence.py", "tests/test_compare_differences.py",
)  # fmt: skip
Row = dict[str, Any]
"""What a part counted; ``harm`` is the number of things that must not happen."""


def readers(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Changed files for every reader."""
    report: dict[str, Row] = {}
    for reader in [only] if only else sorted(good_files()):
        uncaught: Counter[str] = Counter()
        slow, slowest, done = 0, 0.0, 0
        for attempt in attempts(reader, count, seed):
            done += 1
            slow += attempt.seconds > MOST_SECONDS
            slowest = max(slowest, attempt.seconds)
            if attempt.uncaught:
                uncaught[attempt.uncaught[:160]] += 1
        report[reader] = {
            "files": done, "uncaught": dict(uncaught.most_common(5)), "slowest_s": round(slowest, 3),
            "harm": uncaught.total() + slow,
        }  # fmt: skip
    return report


def documents(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Changed PDFs, while a thread of this process looks whether it is kept from running."""
    outcomes: Counter[str] = Counter()
    uncaught: Counter[str] = Counter()
    slowest = 0.0
    with freezes() as late:
        for drawn in drawn_documents(count, seed):
            outcomes[drawn.outcome] += 1
            slowest = max(slowest, drawn.seconds)
            if drawn.uncaught:
                uncaught[drawn.uncaught[:160]] += 1
    frozen = sum(each > MOST_FREEZE for each in late)
    row = {
        "files": outcomes.total(), "outcomes": dict(outcomes.most_common()), "uncaught": dict(uncaught),
        "slowest_s": round(slowest, 3), "longest_freeze_ms": round(1000 * max(late, default=0.0)),
        "freezes_over_50_ms": frozen, "harm": uncaught.total(),
    }  # fmt: skip
    return {"documents": row}


def names(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Names that lead out of the folder, in a process whose every opening is noted."""
    done = _python("-m", "tests.attacks_pages", str(count), str(seed))
    looked_up, outside, *examples = done.splitlines()
    return {"names": {"names": int(looked_up), "opened_outside": examples, "harm": int(outside)}}


def geometry(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Boxes on the pictures of legal pages."""
    offs = [far for _, _, far in geometry_offs(count, seed)]
    row = {"pages": len(offs), "worst_px": round(max(offs), 3), "harm": sum(far > MOST_OFF for far in offs)}
    return {"geometry": row}


def crowded(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """The memory of a process that is given 100 pages of 10,000 equal boxes on both sides."""
    pages = 100 if count else 4
    with tempfile.TemporaryDirectory() as place:
        for side, score in (("ground_truth", None), ("prediction", 0.5)):
            rows = [box(0.1, 0.1, 0.9, 0.9, score=score, page=page) for page in range(pages) for _ in range(10_000)]
            write_file(Path(place, f"{side}.json"), rows, side=side)  # type: ignore[arg-type]
        # Not by getrusage, which counts the process that started it as well.
        code = (
            "import re, sys; from evaluator import cli\n"
            "try: cli.main(sys.argv[1:])\n"
            "except SystemExit as left:\n"
            "    most = re.search(r'VmHWM:\\s+([0-9]+)', open('/proc/self/status').read())\n"
            "    print(left.code, int(most[1]) // 1024)"
        )
        report: dict[str, Row] = {}
        for command in (("evaluate", "snapshot", "--gt", "{0}", "--pred", "{1}"), ("check", "{0}", "{1}")):
            files = (f"{place}/ground_truth.json", f"{place}/prediction.json")
            said = _python("-c", code, *(word.format(*files) for word in command)).splitlines()[-1].split()
            megabytes = int(said[1])
            row = {"exit": int(said[0]), "mb": megabytes, "harm": int(said[0] != "2") + (megabytes > MOST_MEGABYTES)}
            report[command[0]] = row
    return report


def killed(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """Commands that are killed in the middle."""
    report: dict[str, Row] = {}
    for kind in [only] if only else sorted(COMMANDS):
        ended = interrupted(kind, count, seed)
        report[kind] = {**ended._asdict(), "harm": ended.torn + ended.differing}
    return report


def properties(count: int, seed: int, only: str | None) -> dict[str, Row]:
    """The tests that Hypothesis makes inputs for, with so many examples each."""
    report: dict[str, Row] = {}
    for file in [only] if only else PROPERTY_TESTS:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "hypothesis", "--timeout", "0",
             f"--hypothesis-seed={seed}", file],
            cwd=ROOT, env={**os.environ, "LAYOUTSCOPE_EXAMPLES": str(count)}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-200:]
        report[file] = {"examples_each": count, "said": last, "harm": int(done.returncode != 0)}
    return report


PARTS: Final[dict[str, tuple[Callable[[int, int, str | None], dict[str, Row]], int, int]]] = {
    "readers": (readers, 100_000, 50),
    "documents": (documents, 100_000, 50),
    "names": (names, 100_000, 500),
    "geometry": (geometry, 220, 5),
    "crowded": (crowded, 1, 0),
    "killed": (killed, 50, 1),
    "properties": (properties, 10_000, 5),
}
"""Each part, its full count, and that of a short run which only shows that it works."""


def _python(*words: str) -> str:
    """What a Python process of its own prints."""
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> None:
    """Run the parts and print one line for each thing that was attacked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=sorted(PARTS))
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", help="one reader, one command, or one file of tests")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    report: dict[str, dict[str, Row]] = {}
    for name in [asked.part] if asked.part else [part for part in PARTS if not (asked.smoke and part == "properties")]:
        part, full, short = PARTS[name]
        count = short if asked.smoke else full if asked.count is None else asked.count
        report[name] = part(count, asked.seed, asked.reader)
        if not asked.json:
            for what, row in report[name].items():
                print(f"  {name:10} {what:16} " + ", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if asked.json:
        print(json.dumps(report))
    if any(row["harm"] for rows in report.values() for row in rows.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
