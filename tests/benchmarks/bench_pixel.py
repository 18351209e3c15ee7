"""Pixel confusion against docling-metrics-layout, interleaved in one run, with equal counts and matrices.

    python -m tests.benchmarks.bench_pixel [--pages 240] [--peer-pages 12] [--pages-dln 10000] [--smoke] [--json]

The peer is the pixel half ("TORE") of docling-metrics-layout, page by page from the objects that it wants; it is left
out, and said so, when it is not installed. Its package file is not run, because that imports torch for the other
half. Ours starts from the columns that a reader returns and gives the counts, the four matrices and the four
collapsed ones of every page. All pages have 12 classes. Tidy ones have 50 to 200 boxes on each side in up to three
columns; random ones have 50, 100 or 200 boxes on each side that lie anywhere, with sides up to a fifth of the page or
between two random points. Each kind is counted in one batch and one page a call, the calls one after the other and each
after a page of the peer, which leaves nothing of ours in the caches. Times are CPU seconds, ours and the peer in turns.
The peer is also measured in a process of its own. Three more questions: does the resolution matter, how long does a
corpus of annotated pages take from columns to the numbers of a report, and does memory grow with the number of pages.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import multiprocessing
import sys
import time
import tracemalloc
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from evaluator.data.dataset import Annotations, Boxes, Document, Side
from evaluator.metrics.pixel_counts import Resolution, count_pairs
from evaluator.protocols.pixel.evaluation import PixelResult, evaluate
from evaluator.protocols.pixel.matrix import zero_division
from tests.benchmarks.corpus import dln_like

PEER = "docling-metrics-layout"
PEER_BAR = 40.0
RESOLUTION_BAR = 1.5
# Ways to ask us for the same pages.
WAYS = ("batch", "calls", "call after the peer")
CLASSES = tuple(f"class {code:02d}" for code in range(12))
SQUARE, SMALL, LARGE = (1025, 1025), (612, 792), (2550, 3300)


class Peer(NamedTuple):
    """What is needed of docling-metrics-layout."""

    evaluator: Any
    sample: Any
    box: Any
    pairs: Callable[..., Any]
    paint: Callable[..., Any]


@cache
def peer() -> Peer | None:
    """The pixel half of docling-metrics-layout, or None when it cannot be imported."""
    name = "docling_metrics_layout"
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    package = types.ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations or ())
    sys.modules[name] = package
    try:
        matrix = importlib.import_module(f"{name}.tore.multi_label_confusion_matrix")
        tore = importlib.import_module(f"{name}.tore.tore_layout_evaluator")
        kinds = importlib.import_module(f"{name}.layout_types")
    except ImportError:
        return None
    return Peer(
        tore.ToreLayoutEvaluator(dict(enumerate(CLASSES, 1)), 1),
        kinds.LayoutMetricSample,
        kinds.BboxResolution,
        matrix.compress_binary_representations,
        matrix.MultiLabelConfusionMatrix().make_binary_representation,
    )


def crowded(pages: int, size: tuple[int, int], seed: int = 2020) -> tuple[Annotations, Annotations]:
    """Ground truth and predictions of crowded pages in pixels; the same boxes at any size but for rounding."""
    rng = np.random.default_rng(seed)
    truth: list[tuple[int, int, np.ndarray]] = []
    placed: list[tuple[int, int, np.ndarray]] = []
    for page in range(pages):
        columns = int(rng.integers(1, 4))
        rows = -(-int(rng.integers(50, 201)) // columns)
        width, height = 0.92 / columns, 0.92 / rows
        for column in range(columns):
            for line in range(rows):
                gaps = rng.uniform(0.02, 0.2, 4) * [width, height, width, height]
                left, top = 0.04 + column * width, 0.04 + line * height
                corners = np.array([left, top, left + width, top + height]) + gaps * [1, 1, -1, -1]
                label = int(rng.integers(len(CLASSES)))
                truth.append((page, label, corners))
                moved = corners + rng.normal(0.0, 0.02, 4) * [width, height, width, height]
                if rng.uniform() > 0.08:
                    placed.append((page, int(rng.integers(len(CLASSES))) if rng.uniform() < 0.1 else label, moved))
                if rng.uniform() < 0.06:
                    placed.append((page, int(rng.integers(len(CLASSES))), moved + rng.normal(0.0, 0.1, 4) * height))
    return _annotations(truth, "ground_truth", pages, size), _annotations(placed, "prediction", pages, size)


def overlapping(
    pages: int, boxes: int, largest: float | None, size: tuple[int, int] = SQUARE, seed: int = 2021
) -> tuple[Annotations, Annotations]:
    """Both sides of pages with boxes anywhere, sides up to a share of the page; None: between two random points."""
    rng = np.random.default_rng(seed)
    sides: list[Annotations] = []
    for side in ("ground_truth", "prediction"):
        if largest is None:
            ends = rng.uniform(0.0, 1.0, (pages, boxes, 2, 2))
            low, high = ends.min(axis=2), ends.max(axis=2)
        else:
            extent = rng.uniform(0.01, largest, (pages, boxes, 2))
            low = rng.uniform(0.0, 1.0, extent.shape) * (1.0 - extent)
            high = low + extent
        corners = np.concatenate([low, high], axis=2)
        label = rng.integers(len(CLASSES), size=(pages, boxes))
        rows = [(page, int(label[page, at]), corners[page, at]) for page in range(pages) for at in range(boxes)]
        sides.append(_annotations(rows, side, pages, size))
    return sides[0], sides[1]


def _annotations(
    rows: Sequence[tuple[int, int, np.ndarray]], side: Side, pages: int, size: tuple[int, int]
) -> Annotations:
    page = np.array([row[0] for row in rows], dtype=np.int64)
    corners = np.array([row[2] for row in rows]).clip(0.0, 1.0)
    first_of_page = np.searchsorted(page, page, side="left")
    return Annotations(
        name=f"{side}.json",
        sha256="",
        format="coco",
        side=side,
        model=None,
        version=None,
        labels=CLASSES,
        evaluated=len(CLASSES),
        documents=(Document("a.pdf", "a.pdf"),),
        page_document=np.zeros(pages, dtype=np.int32),
        page_index=np.arange(pages),
        boxes=Boxes(
            document=np.zeros(len(page), dtype=np.int32),
            page=page,
            label=np.array([row[1] for row in rows], dtype=np.int32),
            xyxy=np.round(corners * np.tile(np.array(size, dtype=np.float64), 2), 2),
            score=np.full(len(page), np.nan),
            entry=page.astype(np.int32),
            position=(np.arange(len(page)) - first_of_page).astype(np.int32),
            ids=[str(index) for index in range(len(page))],
        ),
        unit="pixels",
        page_size=np.tile(np.array(size, dtype=np.float64), (pages, 1)),
    )


def everything(truth: Annotations, prediction: Annotations) -> PixelResult:
    """Our result with every number of every page that the peer computes."""
    result = evaluate(truth, prediction)
    for matrices in (result.per_page.matrices, result.per_page.collapsed):
        _ = matrices.confusion, matrices.precision, matrices.recall, matrices.f1
    return result


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds and the answer."""
    # Garbage is not collected before: to look through all objects would leave nothing of either side in the caches.
    gc.disable()
    start = time.process_time()
    answer = work()
    seconds = time.process_time() - start
    gc.enable()
    return seconds, answer


def samples(rival: Peer, sides: tuple[Annotations, Annotations], pages: int) -> list[Any]:
    """The first pages as the peer wants them."""
    boxes: list[list[list[Any]]] = []
    for side in sides:
        rows: list[list[Any]] = [[] for _ in range(pages)]
        for page, label, corners in zip(
            side.boxes.page.tolist(), side.boxes.label.tolist(), side.boxes.xyxy.tolist(), strict=True
        ):
            if page < pages:
                rows[page].append(rival.box(category_id=label + 1, bbox=corners))
        boxes.append(rows)
    width, height = SQUARE
    return [
        rival.sample(
            id=str(page),
            page_width=width,
            page_height=height,
            page_resolution_a=boxes[0][page],
            page_resolution_b=boxes[1][page],
        )
        for page in range(pages)
    ]


def check_equal(rival: Peer, pages: Sequence[Any], theirs: Sequence[Any], ours: PixelResult) -> None:
    """Leave with an error unless counts are equal, and matrices to 1e-12."""
    for row, (sample, theirs_page) in enumerate(zip(pages, theirs, strict=True)):
        words = [
            rival.paint(sample.page_width, sample.page_height, boxes)
            for boxes in (sample.page_resolution_a, sample.page_resolution_b)
        ]
        columns = [column.tolist() for column in rival.pairs(*words)]
        if sorted(zip(*columns, strict=True)) != ours.counts.triples(row):
            raise SystemExit(f"page {row}: the counts differ")
        for kind, matrices in (("detailed", ours.per_page.matrices), ("collapsed", ours.per_page.collapsed)):
            expected = getattr(theirs_page.matrix_evaluation, kind)
            for name in ("confusion", "precision", "recall", "f1"):
                mine = zero_division(getattr(matrices, name)[row])
                if not np.allclose(mine, getattr(expected, f"{name}_matrix"), rtol=1e-12, atol=1e-12):
                    raise SystemExit(f"page {row}: {kind} {name} differs")


class Kind(NamedTuple):
    """Pages of one kind: their name, and what makes some of them."""

    name: str
    pages: Callable[[int], tuple[Annotations, Annotations]]


def kinds() -> list[Kind]:
    """Every kind of page on which the peer is met."""
    random = [
        Kind(
            f"random, {boxes} boxes, {words}",
            lambda pages, boxes=boxes, largest=largest: overlapping(pages, boxes, largest),
        )
        for largest, words in ((0.2, "sides up to 0.2"), (None, "any two corners"))
        for boxes in (50, 100, 200)
    ]
    return [Kind("tidy, 50-200 boxes", lambda pages: crowded(pages, SQUARE)), *random]


def rounds_of_peer(pages: int, peer_pages: int, connection: Connection) -> None:
    """What a process of its own does: the peer's pages once for each kind it is sent, answered with CPU seconds."""
    rival = peer()
    assert rival is not None
    objects: dict[int, list[Any]] = {}
    while (kind := connection.recv()) is not None:
        if kind not in objects:
            objects[kind] = samples(rival, kinds()[kind].pages(pages), peer_pages)
            rival.evaluator.evaluate_sample(objects[kind][0])
        connection.send(timed(lambda kind=kind: [rival.evaluator.evaluate_sample(page) for page in objects[kind]])[0])


@contextmanager
def peer_as_it_comes(pages: int, peer_pages: int) -> Iterator[Callable[[int], float]]:
    """A function with the seconds of one round of the peer on a kind of pages, in a process whose numpy is as it comes.

    Without the peer it is not to be called.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=rounds_of_peer, args=(pages, peer_pages, there), daemon=True)
    if peer() is not None:
        process.start()

    def one_round(kind: int) -> float:
        here.send(kind)
        return float(here.recv())

    try:
        yield one_round
    finally:
        if peer() is not None:
            here.send(None)
            process.join()


def against_peer(
    number: int, pages: int, peer_pages: int, rounds: int, as_it_comes: Callable[[int], float]
) -> dict[str, Any] | None:
    """Seconds a page of both, in turns, on a kind of pages; None without the peer."""
    rival = peer()
    if rival is None:
        return None
    kind = kinds()[number]
    sides = kind.pages(pages)
    objects = samples(rival, sides, peer_pages)
    check_equal(rival, objects, [rival.evaluator.evaluate_sample(page) for page in objects], everything(*sides))
    alone = [tuple(one_page(side, page) for side in sides) for page in range(peer_pages)]
    seconds: dict[str, list[float]] = {way: [] for way in ("peer as it comes", "peer", *WAYS)}
    for _ in range(rounds):
        seconds["peer as it comes"].append(as_it_comes(number) / peer_pages)
        seconds["batch"].append(timed(lambda: everything(*sides))[0] / pages)
        seconds["calls"].append(timed(lambda: [everything(*own) for own in alone])[0] / peer_pages)
        mine = theirs = 0.0
        for page, own in zip(objects, alone, strict=True):
            theirs += timed(lambda page=page: rival.evaluator.evaluate_sample(page))[0] / peer_pages
            mine += timed(lambda own=own: everything(*own))[0] / peer_pages
        seconds["peer"].append(theirs)
        seconds["call after the peer"].append(mine)
    return {
        "pages": f"{kind.name}, {pages:,} pages of {SQUARE[0]} x {SQUARE[1]}, {len(CLASSES)} classes",
        "boxes": [len(side.boxes) for side in sides],
        "peer": PEER,
        "peer_pages": peer_pages,
        "ms_a_page": {way: summary(values) for way, values in seconds.items()},
        "ratio": {
            way: {
                against: {
                    "min": min(seconds[against]) / min(seconds[way]),
                    "median": float(np.median(seconds[against]) / np.median(seconds[way])),
                }
                for against in ("peer as it comes", "peer")
            }
            for way in WAYS
        },
        "bar": PEER_BAR,
    }


def one_page(side: Annotations, page: int) -> Annotations:
    """A file with one page of a side of which page and entry are the same."""
    rows = np.flatnonzero(side.boxes.page == page)
    columns = {name: getattr(side.boxes, name)[rows] for name in ("document", "label", "xyxy", "score", "position")}
    boxes = Boxes(
        **columns,
        page=np.zeros(len(rows), dtype=np.int64),
        entry=np.zeros(len(rows), dtype=np.int32),
        ids=[str(index) for index in range(len(rows))],
    )
    assert side.page_size is not None
    return replace(
        side,
        boxes=boxes,
        page_document=side.page_document[:1],
        page_index=side.page_index[:1],
        page_size=side.page_size[page : page + 1],
    )


def across_resolutions(pages: int, rounds: int) -> dict[str, Any]:
    """Seconds a page at a small and a large resolution of the same boxes, interleaved."""
    corpora = {size: crowded(pages, size) for size in (SMALL, LARGE)}
    seconds: dict[tuple[int, int], list[float]] = {size: [] for size in corpora}
    for _ in range(rounds):
        for size, sides in corpora.items():
            seconds[size].append(timed(lambda sides=sides: everything(*sides))[0] / pages)
    return {
        "corpus": f"crowded, {pages:,} pages",
        "ms_a_page": {f"{size[0]} x {size[1]}": summary(values) for size, values in seconds.items()},
        "ratio_min": min(seconds[LARGE]) / min(seconds[SMALL]),
        "ratio_median": float(np.median(seconds[LARGE]) / np.median(seconds[SMALL])),
        "bar": RESOLUTION_BAR,
    }


def end_to_end(pages: int, rounds: int) -> dict[str, Any]:
    """Seconds from the columns of an annotated corpus to its table, its documents and its page means."""
    truth, prediction = dln_like(pages)
    seconds: dict[str, list[float]] = {"evaluate_and_table": [], "documents": [], "page_mean": []}
    for _ in range(rounds):
        spent, result = timed(lambda: evaluate(truth, prediction, page_size=SQUARE))
        seconds["evaluate_and_table"].append(spent + timed(result.table)[0])
        seconds["documents"].append(timed(lambda result=result: result.per_document.matrices.f1)[0])
        seconds["page_mean"].append(timed(lambda result=result: result.page_means.to_json())[0])
    return {
        "corpus": f"dln-like, {pages:,} pages of {SQUARE[0]} x {SQUARE[1]}",
        "boxes": [len(truth.boxes), len(prediction.boxes)],
        "rows": len(result.counts),
        "seconds": {name: {"min": min(values), "median": float(np.median(values))} for name, values in seconds.items()},
    }


def working_memory(pages: int) -> dict[str, Any]:
    """Bytes that counting holds at its peak and that its answer takes, for some pages and for 4 times as many."""
    peaks = {}
    for count in (pages, 4 * pages):
        sides = dln_like(count)
        scale = np.full((count, 2), 1025.0)
        first, second = (
            Resolution(side.boxes.entry.astype(np.int64), side.boxes.label.astype(np.int64) + 1, side.boxes.xyxy, scale)
            for side in sides
        )
        size = np.full((count, 2), 1025)
        gc.collect()
        tracemalloc.start()
        counts = count_pairs(first, second, size)
        kept, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # The answer is there twice while its batches are put together.
        peaks[count] = {"peak": peak, "answer": kept, "working": peak - 2 * kept, "rows": len(counts)}
    return {"corpus": "dln-like", "bytes": peaks}


def summary(seconds: list[float]) -> dict[str, float]:
    """Milliseconds."""
    return {"min": min(seconds) * 1000, "median": float(np.median(seconds)) * 1000, "runs": len(seconds)}


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=240)
    parser.add_argument("--peer-pages", type=int, default=12)
    parser.add_argument("--pages-dln", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--smoke", action="store_true", help="small corpora: only that it runs and results are equal")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.smoke:
        chosen.pages, chosen.peer_pages, chosen.pages_dln, chosen.rounds = 24, 3, 300, 2
    with peer_as_it_comes(chosen.pages, chosen.peer_pages) as as_it_comes:
        duels = [
            against_peer(number, chosen.pages, chosen.peer_pages, chosen.rounds, as_it_comes)
            for number in range(len(kinds()))
        ]
    resolutions = across_resolutions(chosen.pages // 2, chosen.rounds)
    corpus = end_to_end(chosen.pages_dln, min(chosen.rounds, 3))
    memory = working_memory(chosen.pages_dln // 4)
    if chosen.json:
        print(json.dumps({"duels": duels, "resolutions": resolutions, "corpus": corpus, "memory": memory}, indent=2))
        return
    if None in duels:
        print(f"{PEER} cannot be imported: no comparison with it")
    for duel in filter(None, duels):
        print(f"{duel['pages']} ({duel['boxes'][0]:,} + {duel['boxes'][1]:,} boxes), counts and matrices equal")
        for who, way in (
            (f"{PEER}, numpy as it comes", "peer as it comes"),
            (f"{PEER}, numpy as ours", "peer"),
            ("layoutscope, batch", "batch"),
            ("layoutscope, page a call", "calls"),
            ("layoutscope, page a call after the peer's", "call after the peer"),
        ):
            row, ratios = duel["ms_a_page"][way], duel["ratio"].get(way, {})
            words = "".join(f"  {ratio['min']:.0f}, {ratio['median']:.0f}" for ratio in ratios.values())
            words = f"  ratio to each{words}; bar {duel['bar']:.0f}" if words else ""
            print(f"  {who:42} min {row['min']:8.3f}  median {row['median']:8.3f} ms a page{words}")
    print(f"resolution, {resolutions['corpus']}")
    for name, row in resolutions["ms_a_page"].items():
        print(f"  {name:24} min {row['min']:8.3f}  median {row['median']:8.3f} ms a page")
    print(
        f"  ratio {resolutions['ratio_min']:.2f} (min), {resolutions['ratio_median']:.2f} (median);"
        f" bar {RESOLUTION_BAR}"
    )
    print(f"{corpus['corpus']} ({corpus['boxes'][0]:,} + {corpus['boxes'][1]:,} boxes), {corpus['rows']:,} rows")
    for name, row in corpus["seconds"].items():
        print(f"  {name.replace('_', ' '):24} min {row['min']:8.3f}  median {row['median']:8.3f} s")
    for count, row in memory["bytes"].items():
        sizes = ", ".join(f"{name} {row[name] / 1e6:.1f} MB" for name in ("peak", "answer", "working"))
        print(f"memory, {count:,} pages: {sizes}")


if __name__ == "__main__":
    main()
