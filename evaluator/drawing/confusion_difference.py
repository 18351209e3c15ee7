"""The class confusion of one model minus that of another, for the heatmap: counts of boxes, B minus A."""

from __future__ import annotations

import msgspec
import numpy as np

from evaluator.drawing.class_matrix import BACKGROUND_NAME
from evaluator.drawing.matrix import difference_data
from evaluator.drawing.pair_list import signed
from evaluator.drawing.payloads import MatrixLayer
from evaluator.metrics.box_items import ClassConfusion
from evaluator.model.issues import plain
from evaluator.protocols.pixel.difference import MatrixDifference


def class_difference(a: ClassConfusion, b: ClassConfusion) -> MatrixLayer:
    """The heatmap of B minus A.

    Parameters
    ----------
    a, b : ClassConfusion
        Of two models on one dataset.

    Returns
    -------
    MatrixLayer
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
    scale = msgspec.structs.replace(data.scale, name="Boxes, B minus A")
    return msgspec.structs.replace(data, text=text, scale=scale, unit="boxes")
