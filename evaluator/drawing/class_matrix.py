"""The class confusion of boxes for the heatmap: the same grid as that of pixels, with counts of boxes in its cells."""

from __future__ import annotations

import msgspec
import numpy as np

from evaluator.drawing.matrix import matrix_data
from evaluator.drawing.payloads import MatrixLayer
from evaluator.metrics.box_items import ClassConfusion
from evaluator.model.issues import plain
from evaluator.protocols.pixel.matrix import Matrices

BACKGROUND_NAME = "Background"


def class_matrix(confusion: ClassConfusion) -> MatrixLayer:
    """The heatmap of a class confusion, coloured by the share of the row.

    Parameters
    ----------
    confusion : ClassConfusion

    Returns
    -------
    MatrixLayer
        The background first, with ``unit`` "boxes".
    """
    # The heatmap has the background first.
    order = np.roll(np.arange(len(confusion.labels) + 1), 1)
    counts = confusion.counts[np.ix_(order, order)]
    classes = [BACKGROUND_NAME, *(plain(label) for label in confusion.labels)]
    data = matrix_data(classes, Matrices(counts[None].astype(np.float64), 1), "pixels", "steps")
    text = [[f"{value:,}" for value in row] for row in counts.tolist()]
    # No box of the background was ever drawn: the corner has no count.
    text[0][0] = ""
    return msgspec.structs.replace(data, text=text, unit="boxes")
