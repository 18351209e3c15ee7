"""What benchmarks share: options, times of several ways in turns, peers that may be missing, and the printing."""

import argparse
import gc
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

OURS = "layoutscope"
"""The name of our own times in every report."""
Work = Callable[..., Any]


def parser_of(doc: str | None, **defaults: Any) -> argparse.ArgumentParser:
    """Options of a benchmark, each with its default, which says the type, and `--smoke` and `--json` besides."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    parser.add_argument("--smoke", action="store_true", help="small: only that it runs and equal results are equal")
    parser.add_argument("--json", action="store_true")
    return parser


def parsed(parser: argparse.ArgumentParser, **smoke: Any) -> argparse.Namespace:
    """What was asked for; `smoke` replaces the numbers of a smoke run."""
    given = parser.parse_args()
    vars(given).update(smoke if given.smoke else {})
    return given


class Run(NamedTuple):
    """One call: seconds of the processors and of the clock, and what it returned."""

    cpu: float
    wall: float
    answer: Any


def timed(work: Work, *given: Any, **more: Any) -> Run:
    """Call once, without garbage from before."""
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    answer = work(*given, **more)
    return Run(time.process_time() - cpu, time.perf_counter() - wall, answer)


def spread(runs: Sequence[Run]) -> dict[str, float]:
    """Least and middle of some runs, in seconds."""
    cpu, wall = ([getattr(run, clock) for run in runs] for clock in ("cpu", "wall"))
    middle = {"median_cpu": statistics.median(cpu), "median_wall": statistics.median(wall)}
    return {"cpu": min(cpu), "wall": min(wall), **middle, "runs": len(runs)}


def in_turns(
    works: Mapping[str, Work], rounds: int, *, once: str = "", same: Callable[[Any, Any], bool] | None = None
) -> dict[str, dict[str, float]]:
    """Time several ways, all of them in each round, the slow one in the first alone.

    Stops when an answer is not the `same` as the first one.
    """
    runs: dict[str, list[Run]] = {name: [] for name in works}
    first: list[Any] = []
    for number in range(rounds):
        for name, work in works.items():
            if number and name == once:
                continue
            run = timed(work)
            first = first or [run.answer]
            if same is not None and not same(run.answer, first[0]):
                raise SystemExit(f"{name}: the results differ: {run.answer} and {first[0]}"[:2000])
            # Answers of whole corpora would be held until the end.
            runs[name].append(run._replace(answer=None))
    return {name: spread(of) for name, of in runs.items()}


def against(seconds: Mapping[str, Mapping[str, float]], peer: str, *, clock: str = "cpu") -> dict[str, float]:
    """How many times as long a peer takes, by the least and the middle of the runs."""
    ours, theirs = seconds[OURS], seconds[peer]
    middle = f"median_{clock}"
    return {"ratio_min": theirs[clock] / ours[clock], "ratio_median": theirs[middle] / ours[middle]}


def installed(package: str) -> bool:
    """Whether a peer can be asked; says so when not."""
    there = importlib.util.find_spec(package) is not None
    if not there:
        print(f"{package} is not installed: left out", file=sys.stderr)
    return there


def tell(report: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a report as JSON, or as lines of names and numbers."""
    print(json.dumps(report, indent=2) if as_json else "\n".join(_lines("", report)))


def _lines(name: str, value: Any, indent: str = "") -> Iterator[str]:
    """A line for what has plain values alone, else one for its name and those of its parts below it."""
    if isinstance(value, list):
        for each in value:
            yield from _lines(name, each, indent)
    elif not isinstance(value, Mapping):
        yield f"{indent}{name:28} {_shown(value)}"
    elif any(isinstance(each, list | Mapping) for each in value.values()):
        yield f"{indent}{name}" if name else ""
        for inner, each in value.items():
            yield from _lines(inner, each, indent + "  " * bool(name))
    else:
        yield f"{indent}{name:28} " + "  ".join(f"{inner} {_shown(each)}" for inner, each in value.items())


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
