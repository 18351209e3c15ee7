"""Standings of five models of one corpus: how long the table of the view Models takes once the boxes are matched.

    python -m tests.benchmarks.bench_models [--pages 10000] [--rounds 3] [--smoke] [--json]

No peer: the bar is one second for five models. Timed are the numbers by document, the resampling of three measures and
the intervals of all pairs; reading and matching are not. Of the sample, COCO's AP is timed with its matching too.
"""

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
from tests.benchmarks.measuring import parsed, parser_of, spread, tell, timed

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

    def table() -> Any:
        models = []
        for model in range(MODELS):
            result = COCO.result(COCO.pair(dataset, model, options).match(), COCO.thresholds, options)
            models.append(model_entry(f"model {model}", result.first, COCO.measures(result)))
        return standings(models, Key("AP", ALL_LABELS))

    run = timed(table)
    return {"documents": run.answer.documents, "cpu": run.cpu, "bar": BAR, "reached": run.cpu <= BAR}


def main() -> None:
    """Print the least times of some rounds."""
    given = parsed(parser_of(__doc__, pages=10_000, rounds=3), pages=200, rounds=1)
    # First, while nothing is kept from before.
    own = average_precision()
    truth, predicted = dln_like(given.pages)
    dataset = join(truth, *(thin_curve(predicted, model) for model in range(MODELS)))
    matchings = [
        snapshot.pair(dataset, model, iou_floor=snapshot.IOU_FLOOR).match(min_score=0.4) for model in range(MODELS)
    ]

    def tables() -> list[Any]:
        models = [model_entry(f"model {place}", matching.at(0.5)) for place, matching in enumerate(matchings)]
        return [standings(models, Key(measure, ALL_LABELS)) for measure in MEASURES]

    seconds = spread([timed(tables) for _ in range(given.rounds)])
    report = {"pages": given.pages, "models": MODELS, "seconds": seconds}
    report |= {"bar": BAR, "reached": seconds["cpu"] <= BAR, "average_precision": own}
    tell(report, as_json=given.json)


if __name__ == "__main__":
    main()
