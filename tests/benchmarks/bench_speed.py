"""Writes docs/speed.md: one table of measured speeds beside other tools.

    python -m tests.benchmarks.bench_speed [--only NAME ...] [--limit SECONDS] [--smoke]

Each benchmark that has such a peer is run with ``--json``, one after the other, and its numbers become rows. What was
not run, took longer than the limit, or has a peer that is not installed is "not measured". ``--smoke`` runs all of
them on small corpora and prints the table in place of writing it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, NamedTuple

from evaluator.system.engine import processors

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "speed.md"
NOT_MEASURED: Final = "not measured"
HEADS: Final = ("work", "unit", "LayoutScope", "peer", "its number", "times")
HEAD: Final = """# Speed beside other tools

Written by `python -m tests.benchmarks.bench_speed` on {date} with Python {python} and {processors} processors. The load
of the machine was {before} before the run and {after} at its end; wall time suffers from other work on it.

Each benchmark runs LayoutScope and its peer in turns on the same data and stops when results that must be equal differ.
The least of the turns counts (of page turns the median), and a slow peer runs once. "Times" is the peer's number
divided by that of LayoutScope: above 1 LayoutScope is faster or needs less memory, below 1 the peer. CPU is the time of
the processors, wall that of the clock. Peers are no requirements of LayoutScope; what was not run, or has a peer that
was not installed, is "not measured".

"""


class Row(NamedTuple):
    """A row of the table: what is measured in which unit, the peer, and where its numbers are in what is printed.

    `package` is the distribution of the peer, empty where it is not one; `numbers` gives ours and the peer's.
    """

    work: str
    unit: str
    peer: str
    package: str
    numbers: Callable[[Any], tuple[float, float]]


class Benchmark(NamedTuple):
    """The options of a module `bench_NAME`, and its rows."""

    options: tuple[str, ...]
    rows: tuple[Row, ...]


def of_coco(corpus: int, peer: str, step: str, number: str) -> Callable[[Any], tuple[float, float]]:
    """Return what reads a number of a step of the COCO benchmark."""

    def numbers(printed: Any) -> tuple[float, float]:
        peers = printed["corpora"][corpus]["peers"]
        return peers["layoutscope"][step][number], peers[peer][step][number]

    return numbers


def of_duel(peer: str, number: str) -> Callable[[Any], tuple[float, float]]:
    """Return what reads CPU seconds of the benchmark of error types."""

    def numbers(printed: Any) -> tuple[float, float]:
        seconds = next(duel["seconds"] for duel in printed["duels"] if duel["peer"] == peer)
        return seconds["ours"]["cpu"], seconds[number]["cpu"]

    return numbers


def of_pixel(kind: int, way: str) -> Callable[[Any], tuple[float, float]]:
    """Return what reads milliseconds a page of the benchmark of pixel confusion."""

    def numbers(printed: Any) -> tuple[float, float]:
        ms = printed["duels"][kind]["ms_a_page"]
        return ms[way]["min"], ms["peer as it comes"]["min"]

    return numbers


def of_suspects(printed: Any) -> tuple[float, float]:
    """The seconds of all kinds of errors on dense pages."""
    rows = [row for row in printed["rows"] if row["corpus"] == "dense"]
    return sum(row["models_2"]["seconds"] for row in rows), sum(row["objectlab"]["seconds"] for row in rows)


_COCO = "COCO, the twelve numbers of {} pages, new process"
_PIXEL = "pixel confusion of a page of 1,025 x 1,025, {}"
BENCHMARKS: Final[Mapping[str, Benchmark]] = {
    "coco": Benchmark(
        (),
        (
            Row(_COCO.format("80,000"), "s wall", "hotcoco", "hotcoco", of_coco(1, "hotcoco", "fresh", "wall")),
            Row(_COCO.format("80,000"), "s CPU", "hotcoco", "hotcoco", of_coco(1, "hotcoco", "fresh", "cpu")),
            Row(_COCO.format("80,000"), "MB at most", "hotcoco", "hotcoco", of_coco(1, "hotcoco", "fresh", "peak_mb")),
            Row(_COCO.format("10,000"), "s wall", "hotcoco", "hotcoco", of_coco(0, "hotcoco", "fresh", "wall")),
            Row(_COCO.format("10,000"), "s CPU", "hotcoco", "hotcoco", of_coco(0, "hotcoco", "fresh", "cpu")),
            Row(_COCO.format("10,000"), "MB at most", "hotcoco", "hotcoco", of_coco(0, "hotcoco", "fresh", "peak_mb")),
            Row(
                _COCO.format("10,000"),
                "s wall",
                "pycocotools",
                "pycocotools",
                of_coco(0, "pycocotools", "fresh", "wall"),
            ),
            Row(
                "COCO, the twelve numbers of 10,000 pages that are loaded",
                "s CPU",
                "pycocotools",
                "pycocotools",
                of_coco(0, "pycocotools", "numbers", "cpu"),
            ),
        ),
    ),
    "error_types": Benchmark(
        (),
        (
            Row("TIDE error types of 80,000 pages", "s CPU", "hotcoco", "hotcoco", of_duel("hotcoco", "both")),
            Row("TIDE error types of 10,000 pages", "s CPU", "tidecv", "tidecv", of_duel("tidecv", "tidecv")),
        ),
    ),
    "snapshot": Benchmark(
        (),
        (
            Row(
                "snapshot 1.3, 10,000 pages with Figures and Tables",
                "s wall",
                "algorithm of the reference evaluator",
                "",
                lambda printed: (
                    printed["duels"][0]["our_seconds"]["min"],
                    printed["duels"][0]["peer_seconds"]["min"],
                ),
            ),
        ),
    ),
    "pixel": Benchmark(
        ("--rounds", "3"),
        tuple(
            Row(_PIXEL.format(pages), "ms CPU", "docling-metrics-layout", "docling-metrics-layout", of_pixel(kind, way))
            for pages, kind, way in (
                ("50 to 200 boxes in columns, in a batch", 0, "batch"),
                ("the same, one page a call", 0, "calls"),
                ("200 boxes that overlap, in a batch", 3, "batch"),
            )
        ),
    ),
    "fields": Benchmark(
        (),
        (
            Row(
                "extracted fields, 40 invoices of 30 items",
                "s CPU",
                "stickler-eval",
                "stickler-eval",
                lambda printed: (printed["our_seconds_there"], printed["peer_seconds"]),
            ),
        ),
    ),
    "posters": Benchmark(
        (),
        (
            Row(
                "ROUGE-L of two texts of 10,000 tokens",
                "s CPU",
                "rouge-score",
                "rouge-score",
                lambda printed: (printed["duels"][0]["our_seconds"]["min"], printed["duels"][0]["peer_seconds"]),
            ),
        ),
    ),
    "suspects": Benchmark(
        ("--only", "ranking", "--pages", "200"),
        (
            Row(
                "suspected ground truth of two models, 200 dense pages five times",
                "s CPU",
                "ObjectLab (cleanlab)",
                "cleanlab",
                of_suspects,
            ),
        ),
    ),
    "screen": Benchmark(
        ("--part", "turns"),
        (
            Row(
                "turn to the next page with 200 boxes, until it is painted",
                "ms wall",
                "st.image (Streamlit)",
                "streamlit",
                lambda printed: (printed["acts"]["page turn"]["ms"], printed["acts"]["page turn, st.image"]["ms"]),
            ),
        ),
    ),
}


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
        ours, theirs = row.numbers(printed)
        numbers = shown(ours), shown(theirs), shown(theirs / ours)
    except (KeyError, IndexError, TypeError, StopIteration):
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
    """Run the benchmarks and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(BENCHMARKS), default=list(BENCHMARKS))
    parser.add_argument("--limit", type=float, default=1_800.0, help="seconds that a benchmark may take")
    parser.add_argument("--smoke", action="store_true", help="small corpora: only that all of them give their numbers")
    chosen = parser.parse_args()
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
