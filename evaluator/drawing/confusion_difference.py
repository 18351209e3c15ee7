"""The class confusion of one model minus that of another, for the heatmap: counts of boxes, B minus A."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.drawing.class_matrix import BACKGROUND_NAME
from evaluator.drawing.matrix import difference_data
from evaluator.drawing.pair_list import signed
from evaluator.metrics.box_items import ClassConfusion
from evaluator.model.issues import plain
from evaluator.protocols.pixel.difference import MatrixDifference


def class_difference(a: ClassConfusion, b: ClassConfusion) -> dict[str, Any]:
    """The heatmap of B minus A.

    Parameters
    ----------
    a, b : ClassConfusion
        Of two models on one dataset.

    Returns
    -------
    dict
        As `evaluator.drawing.matrix.difference_data` with B as the first: blue cells speak for B, orange ones for A.
        The background stands first; ``unit`` is "boxes".
    """
    # The heatmap has the background first.
    order = np.roll(np.arange(len(a.labels) + 1), 1)
    sides = [each.counts[np.ix_(order, order)] for each in (b, a)]
    classes = (BACKGROUND_NAME, *(plain(label) for label in a.labels))
    data = difference_data(MatrixDifference(classes, *(side.astype(np.float64) for side in sides)), "pixels", "linear")
    text = [[signed(value) for value in row] for row in (sides[0] - sides[1]).tolist()]
    # No box of the background was ever drawn: the corner has no count.
    text[0][0] = ""
    scale = {**data["scale"], "name": "Boxes, B minus A"}
    return {**data, "text": text, "scale": scale, "unit": "boxes"}
