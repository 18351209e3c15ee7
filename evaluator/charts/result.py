"""Figures of one result, drawn as the dashboard draws them; Python has them as charts of Altair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

import numpy as np

from evaluator.charts import boxes, curves
from evaluator.charts.matrix import matrix
from evaluator.charts.theme import tips
from evaluator.charts.vega import Chart
from evaluator.data.boxes import IntArray
from evaluator.matching import box_items
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.causes import CausesPartial, title_of
from evaluator.metrics.results import distinct_names

Figure = Literal[
    "scores", "precision_recall", "iou", "coverage", "purity", "coverage_purity", "labels", "causes", "confusion"
]
"""What `draw` draws."""
_HEIGHT: Final = 260


def draw(name: Figure, model: str, result: AnyBoxResult, *, label: str | None, dark: bool) -> Chart:
    """Return one figure of the result of a model; `label` is of the two figures of scores, None for all labels."""
    match name:
        case "scores" | "precision_recall":
            curve = curves.against_score if name == "scores" else curves.precision_recall
            scored, now = {model: result.score_curve()}, {model: result.matching.min_score}
            return curve(scored, now, label=label, baseline=model, dark=dark)
        case "iou" | "coverage" | "purity":
            values = {model: getattr(result.matches, name)}
            low = result.iou if name == "iou" else 0.0
            return boxes.histogram(values, low=low, baseline=model, dark=dark, height=_HEIGHT)
        case "coverage_purity":
            every = box_items.items(result)
            pairs = np.flatnonzero(~np.isnan(every.iou))[: curves.SCATTER_POINTS]
            matched = (every.kind[pairs] == box_items.MATCHED).tolist()
            return curves.coverage_purity(every.coverage[pairs], every.purity[pairs], matched, dark=dark)
        case "labels":
            of_label = result.per_label
            return _wrong_boxes(result.matching.labels, of_label.fp + of_label.fn, model, dark=dark)
        case "causes":
            totals = CausesPartial.of(result.causes, result.matching.dataset.page_document).totals
            titles = [title_of(family, all_.missed, all_.extra, all_.mistakes) for family, all_ in totals.items()]
            wrong = np.array([each.boxes for each in totals.values()], dtype=np.int64)
            return _wrong_boxes(distinct_names(titles), wrong, model, dark=dark)
        case "confusion":
            confusion = box_items.class_confusion(result)
            names, counts = [*confusion.labels, "background"], confusion.counts
            shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
            return matrix(
                names, names, shares, [[f"{count:,}" for count in row] for row in counts.tolist()],
                np.diag([*[True] * len(confusion.labels), False]),
                tips=tips(truth="Ground truth", prediction="Prediction", text="Boxes", f1=("Share of the row", ".3f")),
                named={"truth": names, "prediction": names}, dark=dark, angle=-60,
            )  # fmt: skip
    raise ValueError(f"a figure is one of {', '.join(get_args(Figure))}; found {name}")


def _wrong_boxes(names: Sequence[str], counts: IntArray, model: str, *, dark: bool) -> Chart:
    return boxes.mistakes_by_label(
        names, {model: counts}, baseline=model, dark=dark, height=_HEIGHT, what="Wrong boxes"
    )
