"""COCO average precision against pycocotools and hotcoco, interleaved in one run, with equal numbers.

    python -m tests.benchmarks.bench_coco [--pages 10000] [--many 80000] [--smoke] [--json]

Two corpora of eleven labels are written as COCO files. On the small one all peers run, on the big one those that are
not a hundred times slower. First everybody is a new process in each turn, from its start to its end, without the cache
on disk: wall and processor seconds, and the memory of one more run of the same program, because looking at memory takes
time. Ours begins as ``layoutscope evaluate coco`` does and takes its way, which leaves large files to processes where
there is a second processor; the seconds and the memory are those of all of them. The bars are for these;
hotcoco is called from Python, because its own command takes longer. Then, in one process, loading and numbers are timed
apart: of whole files, and over ranges of pages, where reading and numbers are one step.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from evaluator import formats
from evaluator.data.dataset import Annotations, join
from evaluator.formats import coco as reader
from evaluator.project import read_ahead
from evaluator.protocols import coco
from evaluator.protocols.coco.streaming import evaluate_streamed
from tests.benchmarks.corpus import write_pair
from tests.benchmarks.measuring import OURS, Run, installed, parsed, parser_of, spread, tell, timed
from tests.serving import processes

RANGES, SLOW = "page ranges", "pycocotools"
Numbers = list[float | None]
Paths = tuple[Path, Path]


class Peer(NamedTuple):
    """One way to the twelve numbers."""

    load: Callable[[Path, Path], Any]
    numbers: Callable[[Any], Numbers]


def load_ours(truth: Path, prediction: Path) -> tuple[Annotations, Annotations]:
    """Both files as columns, small ones at the same time, as ``project.evaluate`` reads them."""
    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(formats.read, prediction, side="prediction") if read_ahead(prediction) else None
        ground_truth = formats.read(truth, side="ground_truth")
    predicted = ahead.result() if ahead else formats.read(prediction, side="prediction")
    return ground_truth, reader.resolve(predicted, ground_truth)


def numbers_in_parts(paths: Paths) -> Numbers:
    """The twelve numbers without ever holding the files, as ``--page-ranges`` gives them."""
    result = evaluate_streamed(*paths)
    if result is None:
        raise SystemExit(f"{RANGES}: the files were left to the ordinary reader")
    return list(result.numbers.values())


def load_pycocotools(truth: Path, prediction: Path) -> Any:
    """The two objects of pycocotools."""
    from pycocotools.coco import COCO

    ground_truth = COCO(str(truth))
    return ground_truth, ground_truth.loadRes(str(prediction))


def numbers_of_pycocotools(sides: Any) -> Numbers:
    """Its twelve numbers."""
    from pycocotools.cocoeval import COCOeval

    return summarized(COCOeval(*sides, "bbox"))


def load_hotcoco(truth: Path, prediction: Path) -> Any:
    """The two objects of hotcoco."""
    import hotcoco

    ground_truth = hotcoco.COCO(str(truth))
    return ground_truth, ground_truth.load_res(str(prediction))


def numbers_of_hotcoco(sides: Any) -> Numbers:
    """Its twelve numbers."""
    import hotcoco

    return summarized(hotcoco.COCOeval(*sides, "bbox"))


def summarized(evaluation: Any) -> Numbers:
    """The three steps that both libraries share; -1 is undefined."""
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return [None if value == -1.0 else float(value) for value in evaluation.stats]


PEERS = {
    OURS: Peer(load_ours, lambda sides: list(coco.evaluate(*sides).numbers.values())),
    RANGES: Peer(lambda *paths: paths, numbers_in_parts),
    "hotcoco": Peer(load_hotcoco, numbers_of_hotcoco),
    SLOW: Peer(load_pycocotools, numbers_of_pycocotools),
}


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Standard output to nowhere, also what compiled code writes."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def need_equal(name: str, numbers: Numbers, ours: Numbers) -> None:
    """Stop unless two sets of numbers are the same to 1e-12."""
    for one, other in zip(numbers, ours, strict=True):
        if (one is None) != (other is None) or abs((one or 0.0) - (other or 0.0)) > 1e-12:
            raise SystemExit(f"{name}: numbers differ: {numbers} and {ours}")


def race(paths: Paths, names: list[str], rounds: int) -> dict[str, dict[str, Any]]:
    """Loading and numbers of everybody, in turns in this process."""
    runs: dict[str, list[tuple[Run, Run]]] = {name: [] for name in names}
    for turn in range(rounds):
        for name, peer in ((name, PEERS[name]) for name in names if name != SLOW or not turn):
            with silence():
                load = timed(peer.load, *paths)
                numbers = timed(peer.numbers, load.answer)
            runs[name].append((load._replace(answer=None), numbers))
            need_equal(name, numbers.answer, runs[OURS][0][1].answer)
    rows = {}
    for name, both in runs.items():
        load, numbers = (spread(of) for of in zip(*both, strict=True))
        rows[name] = {"load": load, "numbers": numbers}
        rows[name]["both"] = {clock: load[clock] + numbers[clock] for clock in ("wall", "cpu")}
    return rows


_OURS = """
import gc, json, os, sys
# As the command begins, before it imports anything else; see evaluator.cli.
gc.set_threshold(50_000)
gc.disable()
from evaluator.project import evaluate
from evaluator.system.engine import processes, processors
gc.freeze()
gc.enable()
executor = processes if processors() > 1 else None
(evaluation,) = evaluate("coco", sys.argv[1], [sys.argv[2]], boxes=False, executor=executor)
print(json.dumps(list(evaluation.result.numbers.values())))
"""
_THEIRS = """
import json, sys
from {0} import COCO
from {1} import COCOeval
truth = COCO(sys.argv[1])
evaluation = COCOeval(truth, truth.{2}(sys.argv[2]), "bbox")
evaluation.evaluate(); evaluation.accumulate(); evaluation.summarize()
print(json.dumps([None if value == -1.0 else float(value) for value in evaluation.stats]))
"""
_PROGRAMS = {
    OURS: _OURS,
    "hotcoco": _THEIRS.format("hotcoco", "hotcoco", "load_res"),
    SLOW: _THEIRS.format("pycocotools.coco", "pycocotools.cocoeval", "loadRes"),
}


def fresh(paths: Paths, names: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Everybody as a new process, in turns: least wall and processor seconds, and the peak of memory in MB."""
    runs: dict[str, list[Run]] = {name: [] for name in names}
    environment = {**os.environ, "LAYOUTSCOPE_CACHE": "off", "OPENBLAS_NUM_THREADS": "1"}
    # An installed package is compiled once; a checkout that was edited would be compiled in every turn.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def started(name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _PROGRAMS[name], *map(str, paths)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    ours: Numbers = []
    for turn in range(rounds):
        # Forwards and backwards: what a process leaves behind takes a while to go, and meets not always the same one.
        for name in names[::-1] if turn % 2 else names:
            if name == SLOW and turn:
                continue
            begin = time.perf_counter()
            process = started(name)
            assert process.stdout is not None
            said = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begin
            process.stdout.close()
            process.returncode = status
            if status:
                raise SystemExit(f"{name}: exit status {status}")
            numbers = json.loads(said.splitlines()[-1])
            ours = ours or numbers
            need_equal(name, numbers, ours)
            runs[name].append(Run(usage.ru_utime + usage.ru_stime, wall, None))
    return {name: spread(rows) | {"peak_mb": peak_mb(started(name))} for name, rows in runs.items()}


def peak_mb(process: subprocess.Popen[str]) -> float:
    """The most memory that a process and those below it had together, looked at all the time until it ended.

    What several of them share counts once: it is the sum of their proportional shares.
    """
    peak = 0.0
    while process.poll() is None:
        kb = 0
        for pid in processes(process.pid):
            # It may end in between.
            with contextlib.suppress(OSError, IndexError):
                kb += int(Path(f"/proc/{pid}/smaps_rollup").read_text().split("\nPss:")[1].split()[0])
        peak = max(peak, kb / 1024)
    process.communicate()
    return peak


def new_score_ms(paths: Paths) -> float:
    """Median CPU milliseconds from a new score threshold to the twelve numbers, once the first are there."""
    pairs, iou = coco.pair(join(*load_ours(*paths))), list(coco.IOU_THRESHOLDS)
    coco.average(pairs.match(), iou)
    scores = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    runs = [timed(lambda score=score: coco.average(pairs.match(min_score=score), iou)) for score in scores]  # type: ignore[misc]
    return 1000 * spread(runs)["median_cpu"]


def judged(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Ratios to the bars, for the peers that ran; those of pycocotools are to be above theirs, the others below."""
    ours = rows[OURS]
    bars = {"a new score threshold, ms of cpu": (ours["new_score_ms"], 50.0)}
    if SLOW in rows:
        bars["numbers: pycocotools / ours, cpu"] = rows[SLOW]["numbers"]["cpu"] / ours["numbers"]["cpu"], 60.0
    for clock, most in (("wall", 1.0), ("cpu", 1.0), ("peak_mb", 0.6)):
        if SLOW in rows and clock != "peak_mb":
            bars[f"new process: pycocotools / ours, {clock}"] = rows[SLOW]["fresh"][clock] / ours["fresh"][clock], 60.0
        if "hotcoco" in rows:
            peer = rows["hotcoco"]["fresh"]
            bars[f"new process: ours / hotcoco, {clock}"] = ours["fresh"][clock] / peer[clock], most
    return {
        what: {"ratio": ratio, "bar": bar, "reached": ratio >= bar if "pycocotools /" in what else ratio <= bar}
        for what, (ratio, bar) in bars.items()
    }


def main() -> None:
    """Run the benchmark and print it."""
    chosen = parsed(parser_of(__doc__, pages=10_000, many=80_000, rounds=5), pages=200, many=0, rounds=1)
    there = [name for name in PEERS if name in (OURS, RANGES) or installed(name)]
    corpora = [(chosen.pages, there), (chosen.many, [name for name in there if name != SLOW])]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for pages, names in corpora:
            if not pages:
                continue
            paths = write_pair(Path(folder), pages, at_once=pages)
            alone = fresh(paths, [name for name in names if name in _PROGRAMS], chosen.rounds)
            rows = race(paths, names, chosen.rounds)
            for name, row in alone.items():
                rows[name]["fresh"] = row
            rows[OURS]["new_score_ms"] = new_score_ms(paths)
            megabytes = sum(path.stat().st_size for path in paths) / 1e6
            results.append({"pages": pages, "megabytes": megabytes, "peers": rows, "bars": judged(rows)})
    tell({"corpora": results}, as_json=chosen.json)


if __name__ == "__main__":
    main()
