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

import gc
import importlib
import importlib.util
import multiprocessing
import sys
import time
import tracemalloc
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from evaluator.data.dataset import Annotations
from evaluator.data.subsets import only_page
from evaluator.metrics.pixel_counts import Resolution, count_pairs
from evaluator.protocols.pixel.evaluation import PixelResult, evaluate
from evaluator.protocols.pixel.matrix import zero_division
from tests.benchmarks.corpus import Columns, annotations, dln_like
from tests.benchmarks.measuring import in_turns, parsed, parser_of, spread, tell, timed

PEER = "docling-metrics-layout"
PEER_BAR = 40.0
RESOLUTION_BAR = 1.5
# Ways to ask us for the same pages.
WAYS = ("batch", "calls", "call after the peer")
PEERS = ("peer as it comes", "peer")
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
    return in_pixels([np.array(column) for column in zip(*truth, strict=True)], pages, size), in_pixels(
        [np.array(column) for column in zip(*placed, strict=True)], pages, size, scored=True
    )


def overlapping(
    pages: int, boxes: int, largest: float | None, size: tuple[int, int] = SQUARE, seed: int = 2021
) -> tuple[Annotations, Annotations]:
    """Both sides of pages with boxes anywhere, sides up to a share of the page; None: between two random points."""
    rng = np.random.default_rng(seed)
    sides: list[Annotations] = []
    for scored in (False, True):
        if largest is None:
            ends = rng.uniform(0.0, 1.0, (pages, boxes, 2, 2))
            low, high = ends.min(axis=2), ends.max(axis=2)
        else:
            extent = rng.uniform(0.01, largest, (pages, boxes, 2))
            low = rng.uniform(0.0, 1.0, extent.shape) * (1.0 - extent)
            high = low + extent
        corners = np.concatenate([low, high], axis=2).reshape(-1, 4)
        label = rng.integers(len(CLASSES), size=(pages, boxes)).ravel()
        columns = np.repeat(np.arange(pages), boxes), label, corners
        sides.append(in_pixels(columns, pages, size, scored=scored))
    return sides[0], sides[1]


def in_pixels(columns: Columns, pages: int, size: tuple[int, int], *, scored: bool = False) -> Annotations:
    """One side of pages of a size, in pixels of two decimals, as a COCO file has them."""
    page, label, corners = columns
    xyxy = np.round(corners.clip(0.0, 1.0) * np.tile(np.array(size, dtype=np.float64), 2), 2)
    score = np.full(len(page), 0.5 if scored else np.nan)
    side = "prediction" if scored else "ground_truth"
    source = annotations((page, label, xyxy), score, CLASSES, pages, side, pages_per_document=pages)
    sizes = np.tile(np.array(size, dtype=np.float64), (pages, 1))
    return replace(source, format="coco", unit="pixels", page_size=sizes)


def everything(truth: Annotations, prediction: Annotations) -> PixelResult:
    """Our result with every number of every page that the peer computes."""
    result = evaluate(truth, prediction)
    for matrices in (result.per_page.matrices, result.per_page.collapsed):
        _ = matrices.confusion, matrices.precision, matrices.recall, matrices.f1
    return result


def at_once(work: Callable[[], Any]) -> float:
    """CPU seconds of a call between others.

    Garbage is not collected before: to look through all objects would leave nothing of either side in the caches.
    """
    gc.disable()
    start = time.process_time()
    work()
    seconds = time.process_time() - start
    gc.enable()
    return seconds


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
    both = zip(*boxes, strict=True)
    return [
        rival.sample(
            id=str(page), page_width=width, page_height=height, page_resolution_a=truth, page_resolution_b=predicted
        )
        for page, (truth, predicted) in enumerate(both)
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


def kinds() -> dict[str, Callable[[int], tuple[Annotations, Annotations]]]:
    """Every kind of page on which the peer is met, and what makes some of them."""
    return {"tidy, 50-200 boxes": partial(crowded, size=SQUARE)} | {
        f"random, {boxes} boxes, {words}": partial(overlapping, boxes=boxes, largest=largest)
        for largest, words in ((0.2, "sides up to 0.2"), (None, "any two corners"))
        for boxes in (50, 100, 200)
    }


def rounds_of_peer(pages: int, peer_pages: int, connection: Connection) -> None:
    """What a process of its own does: the peer's pages once for each kind it is sent, answered with CPU seconds."""
    rival = peer()
    assert rival is not None
    objects: dict[str, list[Any]] = {}
    while (kind := connection.recv()) is not None:
        if kind not in objects:
            objects[kind] = samples(rival, kinds()[kind](pages), peer_pages)
            rival.evaluator.evaluate_sample(objects[kind][0])
        connection.send(at_once(lambda kind=kind: [rival.evaluator.evaluate_sample(page) for page in objects[kind]]))


@contextmanager
def peer_as_it_comes(pages: int, peer_pages: int) -> Iterator[Callable[[str], float]]:
    """The seconds of one round of the peer on a kind of pages, in a process whose numpy is as it comes."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=rounds_of_peer, args=(pages, peer_pages, there), daemon=True)
    process.start()

    def one_round(kind: str) -> float:
        here.send(kind)
        return float(here.recv())

    try:
        yield one_round
    finally:
        here.send(None)
        process.join()


def against_peer(
    rival: Peer, kind: str, as_it_comes: Callable[[str], float], *, pages: int, peer_pages: int, rounds: int
) -> dict[str, Any]:
    """Milliseconds a page of both, in turns, on a kind of pages."""
    sides = kinds()[kind](pages)
    objects = samples(rival, sides, peer_pages)
    ask = rival.evaluator.evaluate_sample
    check_equal(rival, objects, [ask(page) for page in objects], everything(*sides))
    document = sides[0].documents[0].doc_id
    alone = [tuple(only_page(side, document, page) for side in sides) for page in range(peer_pages)]
    seconds: dict[str, list[float]] = {way: [] for way in (*PEERS, *WAYS)}
    for _ in range(rounds):
        seconds["peer as it comes"].append(as_it_comes(kind) / peer_pages)
        seconds["batch"].append(at_once(lambda: everything(*sides)) / pages)
        seconds["calls"].append(at_once(lambda: [everything(*own) for own in alone]) / peer_pages)
        mine = theirs = 0.0
        for page, own in zip(objects, alone, strict=True):
            theirs += at_once(partial(ask, page)) / peer_pages
            mine += at_once(partial(everything, *own)) / peer_pages
        seconds["peer"].append(theirs)
        seconds["call after the peer"].append(mine)
    ms = {way: {"min": 1e3 * min(each), "median": 1e3 * float(np.median(each))} for way, each in seconds.items()}
    ratios = {
        f"{way} / {other}": {of: ms[other][of] / ms[way][of] for of in ("min", "median")}
        for way in WAYS
        for other in PEERS
    }
    boxes = [len(side.boxes) for side in sides]
    return {"pages": f"{kind}, {pages:,} pages", "boxes": boxes, "ms_a_page": ms, "ratio": ratios, "bar": PEER_BAR}


def across_resolutions(pages: int, rounds: int) -> dict[str, Any]:
    """Seconds at a small and a large resolution of the same boxes, interleaved."""
    corpora = {size: crowded(pages, size) for size in (SMALL, LARGE)}
    works = {f"{size[0]} x {size[1]}": partial(everything, *sides) for size, sides in corpora.items()}
    seconds = in_turns(works, rounds)
    small, large = seconds.values()
    ratios = {f"ratio_{name}": large[of] / small[of] for name, of in (("min", "cpu"), ("median", "median_cpu"))}
    return {"corpus": f"crowded, {pages:,} pages", "seconds": seconds, **ratios, "bar": RESOLUTION_BAR}


def end_to_end(pages: int, rounds: int) -> dict[str, Any]:
    truth, prediction = dln_like(pages)
    runs: dict[str, list[Any]] = {"evaluate": [], "table": [], "documents": [], "page_mean": []}
    for _ in range(rounds):
        runs["evaluate"].append(timed(evaluate, truth, prediction, page_size=SQUARE))
        result: PixelResult = runs["evaluate"][-1].answer
        runs["table"].append(timed(result.table))
        runs["documents"].append(timed(lambda result=result: result.per_document.matrices.f1))  # type: ignore[misc]
        runs["page_mean"].append(timed(lambda result=result: result.page_means.to_json()))  # type: ignore[misc]
    seconds = {name: spread(each) for name, each in runs.items()}
    boxes = [len(truth.boxes), len(prediction.boxes)]
    return {"corpus": f"dln-like, {pages:,} pages", "boxes": boxes, "rows": len(result.counts), "seconds": seconds}


def working_memory(pages: int) -> dict[str, dict[str, int]]:
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
        peaks[f"{count:,} pages"] = {"peak": peak, "answer": kept, "working": peak - 2 * kept, "rows": len(counts)}
    return peaks


def main() -> None:
    """Run the benchmark and print it."""
    parser = parser_of(__doc__, pages=240, peer_pages=12, pages_dln=10_000, rounds=7)
    given = parsed(parser, pages=24, peer_pages=3, pages_dln=300, rounds=2)
    duels, rival = [], peer()
    if rival is None:
        print(f"{PEER} cannot be imported: no comparison with it", file=sys.stderr)
    else:
        with peer_as_it_comes(given.pages, given.peer_pages) as as_it_comes:
            sizes = {"pages": given.pages, "peer_pages": given.peer_pages, "rounds": given.rounds}
            duels = [against_peer(rival, kind, as_it_comes, **sizes) for kind in kinds()]
    report = {
        "duels": duels,
        "resolutions": across_resolutions(given.pages // 2, given.rounds),
        "corpus": end_to_end(given.pages_dln, min(given.rounds, 3)),
        "bytes": working_memory(given.pages_dln // 4),
    }
    tell(report, as_json=given.json)


if __name__ == "__main__":
    main()
