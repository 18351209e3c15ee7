"""Writes docs/speed.md: one table of measured speeds beside other tools.

    python -m tests.benchmarks.bench_speed [--only NAME ...] [--limit SECONDS] [--smoke]

Each benchmark that has such a peer is run with ``--json``, one after the other, and its numbers become rows. What was
not run, took longer than the limit, or has a peer that is not installed is "not measured". ``--smoke`` runs all of
them on small corpora and prints the table in place of writing it.
"""

import functools
import json
import math
import operator
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, NamedTuple

from evaluator.system.engine import processors
from tests.benchmarks.measuring import OURS, parsed, parser_of

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "speed.md"
NOT_MEASURED: Final = "not measured"
HEADS: Final = ("work", "unit", "LayoutScope", "peer", "its number", "times")
HEAD: Final = """# Speed beside other tools

What each tool can do is compared in the [README](../README.md#comparison-with-other-tools).

Written by `python -m tests.benchmarks.bench_speed` on {date} with Python {python} and {processors} processors. The load
of the machine was {before} before the run and {after} at its end; wall time suffers from other work on it.

Each benchmark runs LayoutScope and its peer in turns on the same data and stops when results that must be equal differ.
The least of the turns counts (of page turns the median), and a slow peer runs once. "Times" is the peer's number
divided by that of LayoutScope: above 1 LayoutScope is faster or needs less memory, below 1 the peer. CPU is the time of
the processors, wall that of the clock. Peers are no requirements of LayoutScope; what was not run, or has a peer that
was not installed, is "not measured".

To repeat it, install the peers of the table at their versions beside LayoutScope, with `uv pip install`, and run the
line above; `--only coco` runs one benchmark.

"""


class Row(NamedTuple):
    """A row of the table: what is measured in which unit, and the peer, by its name and that of its distribution.

    `ours` and `theirs` are the ways to their numbers in what is printed: keys and places, after `at` that both share.
    """

    work: str
    unit: str
    peer: str
    package: str
    at: tuple[str | int, ...]
    ours: tuple[str | int, ...]
    theirs: tuple[str | int, ...]


class Benchmark(NamedTuple):
    options: tuple[str, ...]
    rows: tuple[Row, ...]


def of_coco(pages: str, peer: str, step: str, clock: str, words: str = ", new process") -> Row:
    """A step of the COCO benchmark, on the small corpus or the large one."""
    unit = {"wall": "s wall", "cpu": "s CPU", "peak_mb": "MB at most"}[clock]
    at = "corpora", int(pages == "80,000"), "peers"
    work = f"COCO, the twelve numbers of {pages} pages{words}"
    return Row(work, unit, peer, peer, at, (OURS, step, clock), (peer, step, clock))


def of_pixel(kind: int, way: str, words: str) -> Row:
    name, at = "docling-metrics-layout", ("duels", kind, "ms_a_page")
    work = f"pixel confusion of a page of 1,025 x 1,025, {words}"
    return Row(work, "ms CPU", name, name, at, (way, "min"), ("peer as it comes", "min"))


BENCHMARKS: Final[Mapping[str, Benchmark]] = {
    "coco": Benchmark((), (
        *(of_coco("80,000", "hotcoco", "fresh", clock) for clock in ("wall", "cpu", "peak_mb")),
        *(of_coco("10,000", "hotcoco", "fresh", clock) for clock in ("wall", "cpu", "peak_mb")),
        of_coco("10,000", "pycocotools", "fresh", "wall"),
        of_coco("10,000", "pycocotools", "numbers", "cpu", " that are loaded"),
    )),
    "error_types": Benchmark((), (
        Row("TIDE error types of 80,000 pages", "s CPU", "hotcoco", "hotcoco", ("duels", 0, "seconds"), (OURS, "cpu"),
            ("both", "cpu")),
        Row("TIDE error types of 10,000 pages", "s CPU", "tidecv", "tidecv", ("duels", -1, "seconds"), (OURS, "cpu"),
            ("tidecv", "cpu")),
    )),
    "snapshot": Benchmark((), (
        Row("snapshot 1.3, 10,000 pages with Figures and Tables", "s wall", "algorithm of the reference evaluator", "",
            ("duels", 0, "seconds"), (OURS, "wall"), ("reference", "wall")),
    )),
    "pixel": Benchmark(("--rounds", "3"), (
        of_pixel(0, "batch", "50 to 200 boxes in columns, in a batch"),
        of_pixel(0, "calls", "the same, one page a call"),
        of_pixel(3, "batch", "200 boxes that overlap, in a batch"),
    )),
    "fields": Benchmark((), (
        Row("extracted fields, 40 invoices of 30 items", "s CPU", "stickler-eval", "stickler-eval", ("seconds",),
            (OURS, "cpu"), ("stickler-eval", "cpu")),
    )),
    "posters": Benchmark((), (
        Row("ROUGE-L of two texts of 10,000 tokens", "s CPU", "rouge-score", "rouge-score", ("duels", 0, "seconds"),
            (OURS, "cpu"), ("rouge-score", "cpu")),
    )),
    "suspects": Benchmark(("--only", "ranking", "--pages", "200"), (
        Row("suspected ground truth of two models, 200 dense pages five times", "s CPU", "ObjectLab (cleanlab)",
            "cleanlab", ("seconds", "dense"), ("models_2",), ("objectlab",)),
    )),
    "screen": Benchmark(("--part", "turns"), (
        Row("turn to the next page with 200 boxes, until it is painted", "ms wall", "st.image (Streamlit)", "streamlit",
            ("acts",), ("page turn", "ms"), ("page turn, st.image", "ms")),
    )),
}  # fmt: skip


def printed_by(name: str, *, limit: float, smoke: bool) -> Any:
    """Return what a benchmark prints as JSON; None where it fails or takes longer, which a smoke run must not."""
    options = ("--smoke",) if smoke else BENCHMARKS[name].options
    command = [sys.executable, "-m", f"tests.benchmarks.bench_{name}", "--json", *options]
    try:
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=limit, text=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as problem:
        if smoke:
            raise
        print(f"{name}: {problem}", file=sys.stderr)
        return None
    return json.loads(run.stdout)


def cells(row: Row, printed: Any) -> tuple[str, ...]:
    """Return the cells of a row from what its benchmark printed, None where it did not run."""
    try:
        ours, theirs = (functools.reduce(operator.getitem, (*row.at, *way), printed) for way in (row.ours, row.theirs))
        numbers = shown(ours), shown(theirs), shown(theirs / ours)
    except (KeyError, IndexError, TypeError):
        return row.work, row.unit, NOT_MEASURED, row.peer, NOT_MEASURED, NOT_MEASURED
    return row.work, row.unit, numbers[0], f"{row.peer} {version_of(row.package)}".rstrip(), *numbers[1:]


def shown(number: float) -> str:
    """Return a number with three digits, or all before the point."""
    return f"{number:,.{max(0, 2 - math.floor(math.log10(number)))}f}"


def version_of(package: str) -> str:
    """Return the version of a distribution, empty for none."""
    try:
        return version(package) if package else ""
    except PackageNotFoundError:
        return ""


def lines(printed: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the table."""
    rows = [cells(row, printed.get(name)) for name, benchmark in BENCHMARKS.items() for row in benchmark.rows]
    for row in (HEADS, ("---",) * len(HEADS), *rows):
        yield f"| {' | '.join(row)} |"


def main() -> None:
    parser = parser_of(__doc__, limit=1_800.0)
    parser.add_argument("--only", nargs="+", choices=list(BENCHMARKS), default=list(BENCHMARKS))
    chosen = parsed(parser)
    printed, before = {}, os.getloadavg()[0]
    for name in chosen.only:
        print(f"bench_{name}", file=sys.stderr)
        printed[name] = printed_by(name, limit=chosen.limit, smoke=chosen.smoke)
    table = "\n".join(lines(printed)) + "\n"
    if chosen.smoke:
        print(f"small corpora, whatever the rows say\n{table}", end="")
        return
    today = datetime.now(UTC).date().isoformat()
    loads = {"before": f"{before:.1f}", "after": f"{os.getloadavg()[0]:.1f}"}
    head = HEAD.format(date=today, python=platform.python_version(), processors=processors(), **loads)
    PAGE.write_text(head + table, encoding="utf-8")


if __name__ == "__main__":
    main()
