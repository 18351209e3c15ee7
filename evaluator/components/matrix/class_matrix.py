"""The class confusion of boxes as a heatmap: the grid of the pixel confusion, with counts of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from evaluator.components.matrix.matrix import difference_data, matrix_data
from evaluator.components.matrix.payload import MatrixLayer
from evaluator.data.boxes import IntArray
from evaluator.data.issues import displayed
from evaluator.matching.box_items import ClassConfusion
from evaluator.metrics.results import signed
from evaluator.protocols.pixel.difference import MatrixDifference
from evaluator.protocols.pixel.matrix import Matrices

BACKGROUND_NAME: Final = "Background"


def class_matrix(confusion: ClassConfusion) -> MatrixLayer:
    """Return the heatmap of a class confusion, coloured by share of the row; background first."""
    counts = _background_first(confusion)
    data = matrix_data(_classes(confusion), Matrices(counts[None].astype(np.float64), 1), "pixels", "steps")
    return _in_boxes(data, [[f"{value:,}" for value in row] for row in counts.tolist()])


def class_difference(a: ClassConfusion, b: ClassConfusion, *, names: Sequence[str]) -> MatrixLayer:
    """Return the heatmap of `b` minus `a` as `difference_data`, background first; blue is for `b`."""
    first, second = _background_first(b), _background_first(a)
    moved = MatrixDifference(_classes(a), first.astype(np.float64), second.astype(np.float64))
    data = difference_data(moved, "pixels", "linear")
    scale = msgspec.structs.replace(data.scale, name=f"Boxes, {names[1]} minus {names[0]}")
    text = [[signed(value) for value in row] for row in (first - second).tolist()]
    return _in_boxes(msgspec.structs.replace(data, scale=scale), text)


def _background_first(confusion: ClassConfusion) -> IntArray:
    order = np.roll(np.arange(len(confusion.labels) + 1), 1)
    return confusion.counts[np.ix_(order, order)]


def _classes(confusion: ClassConfusion) -> tuple[str, ...]:
    return BACKGROUND_NAME, *(displayed(label) for label in confusion.labels)


def _in_boxes(data: MatrixLayer, text: list[list[str]]) -> MatrixLayer:
    text[0][0] = ""
    facts = {name: [[None, *rows[0][1:]], *rows[1:]] for name, rows in data.facts.items()}
    return msgspec.structs.replace(data, text=text, facts=facts, unit="boxes")
