"""COCO average precision against pycocotools and hotcoco, interleaved in one run, with equal numbers.

    python -m tests.benchmarks.bench_coco [--pages 10000] [--many 80000] [--smoke] [--json]

Two corpora of eleven labels are written as COCO files. On the small one all peers run, on the big one those that
are not a hundred times slower. Each turn runs everybody once: loading both files and the twelve numbers, timed apart,
in wall and in processor seconds (hotcoco uses all cores). Peak memory is that of a process of its own which does both
once. A peer that is not installed is skipped and named. We run three times: as installed, with the compiled reader of
the extra ``fast``, which is loaded before the first turn as the peers' compiled code is, and over ranges of pages
(``--page-ranges``), where reading and numbers are one step. The time bars are for the second, the memory bar is for the
third.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
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
from unittest import mock

import msgspec
import numpy as np

from evaluator import formats
from evaluator.formats import coco as reader
from evaluator.formats.coco import arrow as coco_arrow
from evaluator.formats.coco import pieces as coco_pieces
from evaluator.model.dataset import Annotations, join
from evaluator.project import read_ahead
from evaluator.protocols import coco
from evaluator.protocols.coco import ranges as coco_ranges
from tests.benchmarks.corpus import PAGES_PER_DOCUMENT, dln_like

SIDE_PX = 1025.0
OVER_PYCOCOTOOLS = 60.0
TIME_OF_HOTCOCO = 1.0
MEMORY_OF_HOTCOCO = 1 / 3
NEW_SCORE_MS = 50.0
ROUNDS = 5
OURS, FAST, RANGES = "layoutscope", "with fast", "page ranges"
# What must be installed for each.
NEEDS = {OURS: "numpy", FAST: "numba", RANGES: "numpy", "hotcoco": "hotcoco", "pycocotools": "pycocotools"}


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


def load_by_arrow(truth: Path, prediction: Path) -> tuple[Annotations, Annotations]:
    """The same without the extra ``fast``."""
    with mock.patch.object(coco_pieces, "_reader", return_value=coco_arrow.read):
        return load_ours(truth, prediction)


def load_compiled(truth: Path, prediction: Path) -> tuple[Annotations, Annotations]:
    """The same with it, whatever the size of the files."""
    importlib.import_module("evaluator.formats.coco.compiled")
    return load_ours(truth, prediction)


def load_nothing(truth: Path, prediction: Path) -> tuple[Path, Path]:
    """The paths: over ranges of pages, reading is a part of the numbers."""
    return truth, prediction


def numbers_over_ranges(paths: tuple[Path, Path]) -> list[float | None]:
    """The twelve numbers without ever holding the files, as ``--page-ranges`` gives them."""
    result = coco_ranges.average_over_ranges(*paths)
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
    OURS: Peer(load_by_arrow, numbers_of_ours),
    FAST: Peer(load_compiled, numbers_of_ours),
    RANGES: Peer(load_nothing, numbers_over_ranges),
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
    if FAST in names:
        load_compiled(*paths)
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


def peak_mb(name: str, paths: tuple[Path, Path]) -> float:
    """Peak memory of a process that loads both files and computes the numbers once."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_coco", "--once", name, *map(str, paths)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(answer.stdout.strip().splitlines()[-1])


def once(name: str, truth: str, prediction: str) -> None:
    """The work of `peak_mb`; prints its peak in MB."""
    with silence():
        PEERS[name].numbers(PEERS[name].load(Path(truth), Path(prediction)))
    # Not ru_maxrss: that keeps the peak of the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(int(status.split("VmHWM:")[1].split()[0]) / 1024)


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
    ours, least = rows.get(FAST, rows[OURS]), rows[OURS]
    bars = [("a new score threshold, ms of cpu", least["new_score_ms"], NEW_SCORE_MS, False)]
    if "pycocotools" in rows:
        ratio = rows["pycocotools"]["numbers"]["cpu"] / ours["numbers"]["cpu"]
        bars.append(("numbers: pycocotools / ours, cpu", ratio, OVER_PYCOCOTOOLS, True))
        for kind in ("wall", "cpu"):
            ratio = rows["pycocotools"]["both"][kind] / ours["both"][kind]
            bars.append((f"load and numbers: pycocotools / ours, {kind}", ratio, OVER_PYCOCOTOOLS, True))
    if "hotcoco" in rows:
        for step in ("load", "numbers", "both"):
            for kind in ("wall", "cpu"):
                ratio = ours[step][kind] / rows["hotcoco"][step][kind]
                bars.append((f"{step}: ours / hotcoco, {kind}", ratio, TIME_OF_HOTCOCO, False))
        ratio = rows[RANGES]["peak_mb"] / rows["hotcoco"]["peak_mb"]
        bars.append(("peak memory over page ranges: ours / hotcoco", ratio, MEMORY_OF_HOTCOCO, False))
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
    parser.add_argument("--once", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.once:
        once(*chosen.once)
        return
    there = [name for name in PEERS if importlib.util.find_spec(NEEDS[name])]
    skipped = [name for name in PEERS if name not in there]
    corpora = [(chosen.pages, there), (chosen.many, [name for name in there if name != "pycocotools"])]
    if chosen.smoke:
        corpora, chosen.rounds = [(200, there)], 1
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for pages, names in corpora:
            paths = write(Path(folder), pages)
            rows = race(paths, names, chosen.rounds)
            for name in names:
                rows[name]["peak_mb"] = peak_mb(name, paths)
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
            print(f"  {name:12} {steps}  peak {row['peak_mb']:6.0f} MB  ({row['runs']} runs)")
        for bar in result["bars"]:
            print(
                f"  {bar['what']:44} {bar['ratio']:8.2f}  bar {bar['bar']:6.2f}  {'' if bar['reached'] else 'missed'}"
            )
    print("seconds: wall (cpu), fastest turn")


if __name__ == "__main__":
    main()
