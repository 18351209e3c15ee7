"""Files from strangers, in numbers: changed files for every reader, none of which may raise anything but its issues.

    python -m tests.benchmarks.bench_attack [--count 100000] [--seed 0] [--reader NAME] [--smoke] [--json]

Counts what was uncaught and what took over two seconds of the processor; ends with 1 when there is anything.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

from tests.attacks import attempts, good_files

MOST_SECONDS = 2.0


def main() -> None:
    """Run the attack and print one line for each reader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", choices=sorted(good_files()))
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    count = 50 if asked.smoke else asked.count
    report = {}
    for reader in [asked.reader] if asked.reader else sorted(good_files()):
        uncaught: Counter[str] = Counter()
        slow, slowest, done = 0, 0.0, 0
        for attempt in attempts(reader, count, asked.seed):
            done += 1
            slow += attempt.seconds > MOST_SECONDS
            slowest = max(slowest, attempt.seconds)
            if attempt.uncaught:
                uncaught[attempt.uncaught[:160]] += 1
        report[reader] = {"files": done, "uncaught": dict(uncaught), "slow": slow, "slowest": round(slowest, 3)}
        if not asked.json:
            print(f"  {reader:14} {done:>7,} files, {uncaught.total()} uncaught, slowest {slowest:.2f} s")
            for error, times in uncaught.most_common(5):
                print(f"    {times} x {error}")
    if asked.json:
        print(json.dumps(report))
    if any(row["uncaught"] or row["slow"] for row in report.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
