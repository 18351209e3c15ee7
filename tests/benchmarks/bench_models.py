"""Standings of five models of one corpus: how long the table of the view Models takes once the boxes are matched.

    python -m tests.benchmarks.bench_models [--pages 10000] [--rounds 3] [--smoke] [--json]

No peer: the bar is one second for five models. Timed are the numbers by document, the resampling of three measures and
the intervals of all pairs; reading and matching are not. Of the sample, COCO's AP is timed with its matching too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import sample_data
from evaluator.compare.models import model_entry, standings
from evaluator.data.dataset import Annotations, join
from evaluator.formats import read
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics.measures import Key
from evaluator.protocols import snapshot
from evaluator.protocols.coco.protocol import CocoOptions, CocoProtocol
from tests.benchmarks.corpus import dln_like

BAR = 1.0
MODELS = 5
MEASURES = ("f1", "precision", "recall")
COCO = CocoProtocol()


def thin_curve(source: Annotations, model: int) -> Annotations:
    """The predictions of a model that is a little worse than the one before: fewer boxes are sure."""
    score = np.clip(source.boxes.score - 0.02 * model * (source.boxes.position % 3), 0.0, 1.0)
    return replace(source, name=f"model {model}", boxes=replace(source.boxes, score=score))


def average_precision() -> dict[str, Any]:
    """COCO's AP of five models of the sample, from their boxes to the intervals of all pairs."""
    folder = Path(sample_data.__file__).parent
    truth, *predicted = (read(folder / f"{name}.json") for name in ("ground_truth", "lines", "blocks"))
    dataset = join(truth, *(thin_curve(predicted[model % 2], model) for model in range(MODELS)))
    options = CocoOptions()
    started = time.process_time()
    models = []
    for model in range(MODELS):
        result = COCO.result(COCO.pair(dataset, model, options).match(), COCO.thresholds, options)
        models.append(model_entry(f"model {model}", result.first, COCO.measures(result)))
    table = standings(models, Key("AP", ALL_LABELS))
    seconds = time.process_time() - started
    return {"documents": table.documents, "models": MODELS, "cpu": seconds, "bar": BAR, "reached": seconds <= BAR}


def main(arguments: list[str] | None = None) -> int:
    """Print the best time of some rounds, as text or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="a small corpus: only that it runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.pages, options.rounds = 200, 1
    # First, while nothing is kept from before.
    own = average_precision()
    truth, predicted = dln_like(options.pages)
    dataset = join(truth, *(thin_curve(predicted, model) for model in range(MODELS)))
    matchings = [
        snapshot.pair(dataset, model, iou_floor=snapshot.IOU_FLOOR).match(min_score=0.4) for model in range(MODELS)
    ]
    cpu, wall = [], []
    for _ in range(options.rounds):
        started = time.process_time(), time.perf_counter()
        models = [model_entry(f"model {place}", matching.at(0.5)) for place, matching in enumerate(matchings)]
        tables = [standings(models, Key(measure, ALL_LABELS)) for measure in MEASURES]
        cpu.append(time.process_time() - started[0])
        wall.append(time.perf_counter() - started[1])
    result = {
        "pages": options.pages,
        "documents": tables[0].documents,
        "models": MODELS,
        "seconds": {"cpu": min(cpu), "wall": min(wall)},
        "bar": BAR,
        "reached": min(cpu) <= BAR,
        "average_precision": own,
    }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"{MODELS} models, {options.pages:,} pages: {min(cpu):.3f} s CPU, {min(wall):.3f} s wall (bar {BAR} s)")
        print(f"{MODELS} models, AP of the sample: {own['cpu']:.3f} s CPU (bar {BAR} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
