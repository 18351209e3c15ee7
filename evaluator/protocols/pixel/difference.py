"""Two pixel confusion matrices of one ground truth against each other, cell by cell, by their integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.protocols.pixel.matrix import Matrices, PixelColumns

KINDS: Final = ("confusion", "precision", "recall", "f1")


@dataclass(frozen=True, eq=False)
class MatrixDifference:
    """One matrix of a first prediction minus that of a second, float64, shape (C, C); NaN where undefined.

    `classes`: those of both, the background first.
    """

    classes: tuple[str, ...]
    first: FloatArray
    second: FloatArray

    @property
    def values(self) -> FloatArray:
        """Return first minus second, float64, shape (C, C); NaN where one of them is undefined."""
        return self.first - self.second

    @property
    def gain(self) -> IntArray:
        """Return 1 where the first prediction is better, -1 the second, 0 neither, int64, shape (C, C)."""
        sign = np.sign(np.nan_to_num(self.values)).astype(np.int64)
        return np.where(np.eye(len(self.classes), dtype=bool), sign, -sign)

    @property
    def limit(self) -> float:
        """Return the largest absolute difference outside background x background, for a scale; 0 for none."""
        return largest(self.values)


def difference(
    first: PixelColumns, second: PixelColumns, kind: str, *, rows: tuple[int, int] = (0, 0)
) -> MatrixDifference:
    """Return a matrix of one prediction minus that of another, for one scope of each.

    Both are against one ground truth; `rows` is which scope of each. ValueError for a kind that is none of `KINDS`. A
    class that only one prediction uses has a row and a column of zero pixels in the matrix of the other, as if it had
    been in its label map: ratios of other classes do not change by it.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; found {kind}")
    classes = tuple(dict.fromkeys([*first.classes, *second.classes]))
    matrices = [
        getattr(_under(side.matrices, row, side.classes, classes), kind)[0]
        for side, row in zip((first, second), rows, strict=True)
    ]
    return MatrixDifference(classes, matrices[0], matrices[1])


def largest(matrix: FloatArray) -> float:
    """Return the largest absolute value of a matrix outside background x background; 0 for none."""
    values = np.abs(matrix).ravel()[1:]
    return float(np.nanmax(values)) if len(values) and not np.isnan(values).all() else 0.0


def _under(matrices: Matrices, row: int, own: Sequence[str], classes: Sequence[str]) -> Matrices:
    """Return one scope's matrix under other classes, which contain its own."""
    at = np.array([classes.index(name) for name in own])
    scaled = np.zeros((1, len(classes), len(classes)))
    scaled[0][np.ix_(at, at)] = matrices.scaled[row]
    return Matrices(scaled, matrices.divisor)
