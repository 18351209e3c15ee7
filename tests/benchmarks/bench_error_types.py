"""Names of mistakes against hotcoco and tidecv, interleaved in one run, with equal counts.

    python -m tests.benchmarks.bench_error_types [--pages 80000] [--pages-tidecv 10000] [--rounds 5] [--smoke] [--json]

Peers that are not installed are left out, with a line that says so. Nobody reads files: hotcoco starts from its own
loaded data sets, tidecv from its own lists of boxes, ours from columns. hotcoco needs its `evaluate` before its
`tide_errors`, so both the second alone and the two together are timed. Boxes are x, y, width, height with four
decimals, as files have them: pairs at a threshold fall on the same side only when IoU is worked out in the same way.
CPU seconds are the honest ratio on a busy machine; wall seconds count hotcoco's two threads in its favour. The document
names have no peer; their time is next to TIDE's.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations
from evaluator.formats.coco.shape import corners
from evaluator.matching.error_types import DOCUMENT, NONE, TIDE, BoxColumns, TideErrors, name_mistakes, tide
from evaluator.matching.pairs import fit_pairs, overlapping_pairs
from tests.benchmarks.corpus import PAGES_PER_DOCUMENT, dln_like

BAR = 1.5
PIXELS = 1025
PEER_NAMES = dict(zip(TIDE, ("Cls", "Loc", "Both", "Dupe", "Bkg", "Miss"), strict=True))
Work = Callable[[], dict[str, int]]


class Side(NamedTuple):
    """The boxes of one side as columns, and as x, y, width, height for the peers."""

    boxes: BoxColumns
    xywh: FloatArray


def side_of(source: Annotations) -> Side:
    """The boxes of a corpus in pixels, as a COCO file has them."""
    boxes = source.boxes
    corners_ = boxes.xyxy * PIXELS
    xywh = np.round(np.hstack([corners_[:, :2], corners_[:, 2:] - corners_[:, :2]]), 4)
    columns = BoxColumns(
        xyxy=corners(xywh),
        label=boxes.label,
        page=boxes.document.astype(np.int64) * PAGES_PER_DOCUMENT + boxes.page,
        score=boxes.score,
        area=xywh[:, 2] * xywh[:, 3],
    )
    return Side(columns, xywh)


def installed(peer: str) -> bool:
    """Whether a peer can be asked; says so when not."""
    if importlib.util.find_spec(peer) is not None:
        return True
    print(f"{peer} is not installed: left out", file=sys.stderr)
    return False


def seconds(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU and wall seconds of one call, and what it returned."""
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    answer = work()
    return time.process_time() - cpu, time.perf_counter() - wall, answer


def counted(errors: TideErrors) -> dict[str, int]:
    """Ours by name."""
    return dict(zip(TIDE, errors.counts.tolist(), strict=True))


def against_hotcoco(ours_: tuple[Side, Side], labels: int, rounds: int) -> dict[str, Any]:
    """Best times of both in turns; stops when a count differs."""
    import hotcoco

    (truth, truth_xywh), (predicted, predicted_xywh) = ours_

    pages = int(max(truth.page.max(), predicted.page.max())) + 1
    data = hotcoco.COCO.from_arrays(
        [{"id": page + 1, "width": 1024, "height": 1024} for page in range(pages)],
        [{"id": label + 1, "name": str(label)} for label in range(labels)],
        truth.page + 1,
        truth.label.astype(np.int64) + 1,
        truth_xywh,
    )
    detections = data.load_res(
        np.column_stack([predicted.page + 1, predicted_xywh, predicted.score, predicted.label + 1])
    )
    times: dict[str, list[tuple[float, float]]] = {"ours": [], "tide_errors": [], "both": []}
    for _ in range(rounds):
        evaluation = hotcoco.COCOeval(data, detections, "bbox")
        before_cpu, before_wall, _ = seconds(evaluation.evaluate)
        cpu, wall, theirs = seconds(evaluation.tide_errors)
        times["tide_errors"].append((cpu, wall))
        times["both"].append((before_cpu + cpu, before_wall + wall))
        cpu, wall, ours = seconds(lambda: tide(truth, predicted))
        times["ours"].append((cpu, wall))
        expected = {name: theirs["counts"][short] for name, short in PEER_NAMES.items()}
        # Its recall grid is COCO's, which differs from that of tidecv in the last digit of ten points.
        if counted(ours) != expected or abs(ours.costs.ap - theirs["ap_base"]) > 1e-4:
            raise SystemExit(
                f"hotcoco says {expected}, AP {theirs['ap_base']}; ours {counted(ours)}, AP {ours.costs.ap}"
            )
    best = {name: tuple(min(column) for column in zip(*rows, strict=True)) for name, rows in times.items()}
    ratios = {
        f"{name}_{clock}": best[name][place] / best["ours"][place]
        for name in ("tide_errors", "both")
        for place, clock in enumerate(("cpu", "wall"))
    }
    return {
        "peer": "hotcoco",
        "pages": pages,
        "boxes": [len(truth), len(predicted)],
        "rounds": rounds,
        "seconds": {name: {"cpu": cpu, "wall": wall} for name, (cpu, wall) in best.items()},
        "ratios": ratios,
        "bar": BAR,
        "reached": min(ratios.values()) >= BAR,
    }


def against_tidecv(ours_: tuple[Side, Side], rounds: int) -> dict[str, Any]:
    """tidecv once, ours in turns around it; stops when a count or a gain differs."""
    (truth, truth_xywh), (predicted, predicted_xywh) = ours_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tidecv import Data
        from tidecv.quantify import TIDERun
    ours_cpu = [seconds(lambda: tide(truth, predicted))[0] for _ in range(rounds)]
    boxes, predictions = Data("truth"), Data("predicted")
    for page in range(int(max(truth.page.max(), predicted.page.max())) + 1):
        boxes.add_image(page, str(page))
    rows = zip(truth.page.tolist(), truth.label.tolist(), truth_xywh.tolist(), strict=True)
    for page, label, box in rows:
        boxes.add_ground_truth(page, label, box)
    assert predicted.score is not None
    columns_of = (predicted.page, predicted.label, predicted.score, predicted_xywh)
    for page, label, score, box in zip(*(column.tolist() for column in columns_of), strict=True):
        predictions.add_detection(page, label, score, box)

    def everything() -> tuple[Any, Any]:
        run = TIDERun(boxes, predictions, 0.5, 0.1, "bbox", 100)
        return run, list(run.fix_main_errors().values()) + list(run.fix_special_errors().values())

    cpu, wall, (run, gains) = seconds(everything)
    ours = tide(truth, predicted)
    expected = {name: run.count_errors()[kind] for name, kind in zip(TIDE, run.error_dict, strict=True)}
    own_gains = [*ours.costs.delta_ap, ours.costs.false_positive_ap, ours.costs.false_negative_ap]
    if counted(ours) != expected or not np.allclose(np.array(gains) / 100, own_gains, rtol=0, atol=1e-9):
        raise SystemExit(f"tidecv says {expected}, {gains}; ours {counted(ours)}, {own_gains}")
    return {
        "peer": "tidecv",
        "pages": len(boxes.images),
        "seconds": {"tidecv": {"cpu": cpu, "wall": wall}, "ours": {"cpu": min(ours_cpu)}},
        "ratios": {"cpu": cpu / min(ours_cpu)},
    }


def document_names(truth: BoxColumns, predicted: BoxColumns, rounds: int) -> dict[str, Any]:
    """Best times of the document names at an IoU threshold of 0.5, the matching excluded."""
    groups = [side.page * 100 + side.label for side in (truth, predicted)]
    pairs = overlapping_pairs(truth.xyxy, groups[0], predicted.xyxy, groups[1], iou_floor=0.5)
    fitted = fit_pairs(pairs, truth.xyxy, predicted.xyxy, groups[0])
    matches = fitted.columns.take(np.flatnonzero(fitted.score_intervals(np.full(len(predicted), np.nan)).at(0.0)))
    partner = np.full(len(truth), NONE, dtype=np.int64)
    partner[matches.ground_truth] = matches.prediction
    runs = [seconds(lambda: name_mistakes(truth, predicted, partner, iou=0.5)) for _ in range(rounds)]
    return {
        "seconds": {"cpu": min(run[0] for run in runs), "wall": min(run[1] for run in runs)},
        "counts": dict(zip(DOCUMENT, runs[0][2].counts.tolist(), strict=True)),
    }


def main(arguments: list[str] | None = None) -> int:
    """Print the ratios, as text or JSON.

    Returns
    -------
    int
        0; the run stops with a message when counts differ.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=80_000)
    parser.add_argument("--pages-tidecv", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--smoke", action="store_true", help="small corpora: only that it runs and counts are equal")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.pages, options.pages_tidecv, options.rounds = 400, 100, 2
    sources = dln_like(options.pages)
    both = side_of(sources[0]), side_of(sources[1])
    names = document_names(*(side.boxes for side in both), options.rounds)
    results: dict[str, Any] = {"duels": [], "document_names": names}
    if installed("hotcoco"):
        results["duels"].append(against_hotcoco(both, len(sources[0].labels), options.rounds))
    if installed("tidecv"):
        truth, predicted = dln_like(options.pages_tidecv)
        results["duels"].append(against_tidecv((side_of(truth), side_of(predicted)), options.rounds))
    print(json.dumps(results, indent=2) if options.json else as_text(results, options.pages))
    return 0


def as_text(results: dict[str, Any], pages: int) -> str:
    """The results in a few lines."""
    names = results["document_names"]["seconds"]
    lines = [f"document names, {pages:,} pages: {names['cpu']:.3f} s CPU, {names['wall']:.3f} s wall"]
    for duel in results["duels"]:
        lines.append(f"{duel['peer']}, {duel['pages']:,} pages, counts equal")
        for who, times in duel["seconds"].items():
            lines.append(f"  {who:12} " + "  ".join(f"{value:8.3f} s {clock}" for clock, value in times.items()))
        lines.append("  ratios " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in duel["ratios"].items()))
        if "bar" in duel:
            lines.append(f"  bar {duel['bar']} {'reached' if duel['reached'] else 'missed'} by the lowest of them")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
