"""COCO average precision against pycocotools and hotcoco, interleaved in one run, with equal numbers.

    python -m tests.benchmarks.bench_coco [--pages 10000] [--many 80000] [--smoke] [--json]

Two corpora of eleven labels are written as COCO files. On the small one all peers run, on the big one those that are
not a hundred times slower. First everybody is a new process in each turn, from its start to its end, without the cache
on disk: wall and processor seconds, and the memory of one more run of the same program, because looking at memory takes
time. Ours begins as ``layoutscope evaluate coco`` does and takes its way, which leaves large files to processes where
there is a second processor; the seconds and the memory are those of all of them. The bars are for these;
hotcoco is called from Python, because its own command takes longer. Then, in one process, loading and numbers are timed
apart, in wall and in processor seconds (hotcoco uses all cores): of whole files, and over ranges of pages, where
reading and numbers are one step. A peer that is not installed is skipped and named.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from evaluator import formats
from evaluator.data.dataset import Annotations, join
from evaluator.formats import coco as reader
from evaluator.project import read_ahead
from evaluator.protocols import coco
from evaluator.protocols.coco.streaming import evaluate_streamed
from tests.benchmarks.controls import processes
from tests.benchmarks.corpus import PAGES_PER_DOCUMENT, dln_like

SIDE_PX = 1025.0
OVER_PYCOCOTOOLS = 60.0
TIME_OF_HOTCOCO = 1.0
MEMORY_OF_HOTCOCO = 0.6
NEW_SCORE_MS = 50.0
ROUNDS = 5
OURS, RANGES = "layoutscope", "page ranges"
# What must be installed for each.
NEEDS = {OURS: "numpy", RANGES: "numpy", "hotcoco": "hotcoco", "pycocotools": "pycocotools"}


class Peer(NamedTuple):
    """One way to the twelve numbers."""

    load: Callable[[Path, Path], Any]
    numbers: Callable[[Any], list[float | None]]


def load_ours(truth: Path, prediction: Path) -> tuple[Annotations, Annotations]:
    """Both files as columns, small ones at the same time, as ``project.evaluate`` reads them."""
    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(formats.read, prediction, side="prediction") if read_ahead(prediction) else None
        ground_truth = formats.read(truth, side="ground_truth")
    predicted = ahead.result() if ahead else formats.read(prediction, side="prediction")
    return ground_truth, reader.resolve(predicted, ground_truth)


def numbers_of_ours(sides: tuple[Annotations, Annotations]) -> list[float | None]:
    """The twelve numbers."""
    return list(coco.evaluate(*sides).numbers.values())


def load_nothing(truth: Path, prediction: Path) -> tuple[Path, Path]:
    """The paths: over ranges of pages, reading is a part of the numbers."""
    return truth, prediction


def numbers_in_parts(paths: tuple[Path, Path]) -> list[float | None]:
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


def numbers_of_pycocotools(sides: Any) -> list[float | None]:
    """Its twelve numbers; -1 is undefined."""
    from pycocotools.cocoeval import COCOeval

    return summarized(COCOeval(*sides, "bbox"))


def load_hotcoco(truth: Path, prediction: Path) -> Any:
    """The two objects of hotcoco."""
    import hotcoco

    ground_truth = hotcoco.COCO(str(truth))
    return ground_truth, ground_truth.load_res(str(prediction))


def numbers_of_hotcoco(sides: Any) -> list[float | None]:
    """Its twelve numbers; -1 is undefined."""
    import hotcoco

    return summarized(hotcoco.COCOeval(*sides, "bbox"))


def summarized(evaluation: Any) -> list[float | None]:
    """The three steps that both libraries share."""
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return [None if value == -1.0 else float(value) for value in evaluation.stats]


PEERS = {
    OURS: Peer(load_ours, numbers_of_ours),
    RANGES: Peer(load_nothing, numbers_in_parts),
    "hotcoco": Peer(load_hotcoco, numbers_of_hotcoco),
    "pycocotools": Peer(load_pycocotools, numbers_of_pycocotools),
}


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Standard output to nowhere, also what compiled code writes."""
    sys.stdout.flush()
    kept = None
    with contextlib.suppress(OSError, ValueError):
        kept = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)


def write(folder: Path, pages: int) -> tuple[Path, Path]:
    """A corpus as an instances file and a results list; pixels with two decimals, scores with six."""
    truth, prediction = dln_like(pages)
    paths = folder / f"gt_{pages}.json", folder / f"dt_{pages}.json"
    rows = xywh(truth)
    instances = {
        "images": [
            {"id": page + 1, "width": 1025, "height": 1025, "file_name": f"{page}.png",
             "doc": truth.documents[page // PAGES_PER_DOCUMENT].doc_id}
            for page in range(pages)
        ],
        "categories": [{"id": code + 1, "name": name} for code, name in enumerate(truth.labels)],
        "annotations": [
            {"id": row + 1, "image_id": image, "category_id": label, "bbox": bbox, "area": bbox[2] * bbox[3],
             "iscrowd": 0}
            for row, (image, label, bbox) in enumerate(rows)
        ],
    }  # fmt: skip
    scores = prediction.boxes.score.round(6).tolist()
    results = [
        {"image_id": image, "category_id": label, "bbox": bbox, "score": score}
        for (image, label, bbox), score in zip(xywh(prediction), scores, strict=True)
    ]
    for path, value in zip(paths, (instances, results), strict=True):
        # Spaced as the standard library writes it.
        path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=0))
    return paths


def xywh(source: Annotations) -> list[tuple[int, int, list[float]]]:
    """Image id, category id and box of each row."""
    boxes = source.boxes
    corners = boxes.xyxy * SIDE_PX
    rows = np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1).round(2).tolist()
    return list(zip((boxes.entry + 1).tolist(), (boxes.label + 1).tolist(), rows, strict=True))


def timed(work: Callable[[], Any]) -> tuple[tuple[float, float], Any]:
    """Wall and processor seconds of one call, and what it returned."""
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    answer = work()
    return (time.perf_counter() - wall, time.process_time() - processor), answer


def race(paths: tuple[Path, Path], names: list[str], rounds: int) -> dict[str, dict[str, Any]]:
    """Everybody in turns; the slow one as often as it can be afforded. Numbers must be equal to ours."""
    seconds: dict[str, dict[str, list[tuple[float, float]]]] = {name: {"load": [], "numbers": []} for name in names}
    ours: list[float | None] = []
    for turn in range(rounds):
        for name in names:
            if name == "pycocotools" and turn:
                continue
            with silence():
                loading, sides = timed(lambda name=name: PEERS[name].load(*paths))  # type: ignore[misc]
                computing, numbers = timed(lambda name=name, sides=sides: PEERS[name].numbers(sides))  # type: ignore[misc]
            seconds[name]["load"].append(loading)
            seconds[name]["numbers"].append(computing)
            ours = numbers if name == OURS else ours
            if not equal(numbers, ours):
                raise SystemExit(f"{name}: numbers differ: {numbers} and {ours}")
            del sides
    return {name: summary(rows) for name, rows in seconds.items()}


def equal(numbers: list[float | None], ours: list[float | None]) -> bool:
    """Whether two sets of numbers are the same to 1e-12."""
    pairs = zip(numbers, ours, strict=True)
    return all((one is None) == (other is None) and abs((one or 0.0) - (other or 0.0)) <= 1e-12 for one, other in pairs)


def summary(rows: dict[str, list[tuple[float, float]]]) -> dict[str, Any]:
    """Fastest turn: seconds of each step and of both, in wall and processor time."""
    best = {step: {"wall": min(r[0] for r in runs), "cpu": min(r[1] for r in runs)} for step, runs in rows.items()}
    both = {kind: best["load"][kind] + best["numbers"][kind] for kind in ("wall", "cpu")}
    return {**best, "both": both, "runs": len(rows["load"])}


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
numbers = list(evaluation.result.numbers.values())
"""
_SUMMARIZED = """
evaluation.evaluate(); evaluation.accumulate(); evaluation.summarize()
numbers = [None if value == -1.0 else float(value) for value in evaluation.stats]
"""
_PROGRAMS = {
    OURS: _OURS,
    "hotcoco": """
import json, sys, hotcoco
truth = hotcoco.COCO(sys.argv[1])
evaluation = hotcoco.COCOeval(truth, truth.load_res(sys.argv[2]), "bbox")
""" + _SUMMARIZED,
    "pycocotools": """
import json, sys
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
truth = COCO(sys.argv[1])
evaluation = COCOeval(truth, truth.loadRes(sys.argv[2]), "bbox")
""" + _SUMMARIZED,
}  # fmt: skip
_SAID = """
print(json.dumps(numbers))
"""


def fresh(paths: tuple[Path, Path], names: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Everybody as a new process, in turns: least wall and processor seconds, and the peak of memory in MB."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    environment = {**os.environ, "LAYOUTSCOPE_CACHE": "off", "OPENBLAS_NUM_THREADS": "1"}
    # An installed package is compiled once; a checkout that was edited would be compiled in every turn.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def started(name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _PROGRAMS[name] + _SAID, *map(str, paths)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    ours: list[float | None] = []
    for turn in range(rounds):
        # Forwards and backwards: what a process leaves behind takes a while to go, and meets not always the same one.
        for name in names[::-1] if turn % 2 else names:
            if name == "pycocotools" and turn:
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
            ours = numbers if name == OURS else ours
            if not equal(numbers, ours):
                raise SystemExit(f"{name}: numbers differ: {numbers} and {ours}")
            runs[name].append((wall, usage.ru_utime + usage.ru_stime))
    return {
        name: {"wall": min(r[0] for r in rows), "cpu": min(r[1] for r in rows), "peak_mb": peak_mb(started(name))}
        for name, rows in runs.items()
    }


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


def new_score_ms(paths: tuple[Path, Path]) -> float:
    """Median CPU milliseconds from a new score threshold to the twelve numbers, once the first are there."""
    pairs, iou = coco.pair(join(*load_ours(*paths))), list(coco.IOU_THRESHOLDS)
    coco.average(pairs.match(), iou)
    return statistics.median(
        1000.0 * timed(lambda score=score: coco.average(pairs.match(min_score=score), iou))[0][1]
        for score in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    )


def judged(rows: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Ratios to the bars, for the peers that ran."""
    ours = rows[OURS]
    bars = [("a new score threshold, ms of cpu", ours["new_score_ms"], NEW_SCORE_MS, False)]
    if "pycocotools" in rows:
        ratio = rows["pycocotools"]["numbers"]["cpu"] / ours["numbers"]["cpu"]
        bars.append(("numbers: pycocotools / ours, cpu", ratio, OVER_PYCOCOTOOLS, True))
        for kind in ("wall", "cpu"):
            ratio = rows["pycocotools"]["fresh"][kind] / ours["fresh"][kind]
            bars.append((f"new process: pycocotools / ours, {kind}", ratio, OVER_PYCOCOTOOLS, True))
    if "hotcoco" in rows:
        peer = rows["hotcoco"]["fresh"]
        bars += [
            (f"new process: ours / hotcoco, {kind}", ours["fresh"][kind] / peer[kind], TIME_OF_HOTCOCO, False)
            for kind in ("wall", "cpu")
        ]
        ratio = ours["fresh"]["peak_mb"] / peer["peak_mb"]
        bars.append(("new process: ours / hotcoco, peak memory", ratio, MEMORY_OF_HOTCOCO, False))
    return [
        {"what": what, "ratio": ratio, "bar": bar, "reached": ratio >= bar if more else ratio <= bar}
        for what, ratio, bar, more in bars
    ]


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=80_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--smoke", action="store_true", help="a small corpus: only that it runs and numbers are equal")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    there = [name for name in PEERS if importlib.util.find_spec(NEEDS[name])]
    skipped = [name for name in PEERS if name not in there]
    corpora = [(chosen.pages, there), (chosen.many, [name for name in there if name != "pycocotools"])]
    if chosen.smoke:
        corpora, chosen.rounds = [(200, there)], 1
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for pages, names in corpora:
            paths = write(Path(folder), pages)
            alone = fresh(paths, [name for name in names if name in _PROGRAMS], chosen.rounds)
            rows = race(paths, names, chosen.rounds)
            for name, row in alone.items():
                rows[name]["fresh"] = row
            rows[OURS]["new_score_ms"] = new_score_ms(paths)
            megabytes = sum(path.stat().st_size for path in paths) / 1e6
            results.append({"pages": pages, "megabytes": megabytes, "peers": rows, "bars": judged(rows)})
    if chosen.json:
        print(json.dumps({"corpora": results, "skipped": skipped}, indent=2))
        return
    for name in skipped:
        print(f"{name}: {NEEDS[name]} is not installed, skipped")
    for result in results:
        print(f"dln-like, {result['pages']:,} pages, {result['megabytes']:.0f} MB of JSON; numbers equal to 1e-12")
        for name, row in result["peers"].items():
            steps = "  ".join(
                f"{step} {row[step]['wall']:7.3f} s ({row[step]['cpu']:7.3f})" for step in ("load", "numbers", "both")
            )
            print(f"  {name:12} {steps}  ({row['runs']} runs)")
            if "fresh" in row:
                alone = row["fresh"]
                print(
                    f"  {'':12} new process {alone['wall']:.3f} s ({alone['cpu']:.3f}), peak {alone['peak_mb']:.0f} MB"
                )
        for bar in result["bars"]:
            print(
                f"  {bar['what']:44} {bar['ratio']:8.2f}  bar {bar['bar']:6.2f}  {'' if bar['reached'] else 'missed'}"
            )
    print("seconds: wall (cpu), fastest turn")


if __name__ == "__main__":
    main()
