"""Every matrix of a pixel evaluation as tables for spreadsheets: one file per matrix, and all of them in one long form.

Owns the names and the layout of these files. Values are those of `PixelResult`; nothing is computed or rounded here.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from evaluator.metrics.results import ResultTable, Signature, defined
from evaluator.model.dataset import JoinedBoxes
from evaluator.protocols.pixel.matrix import VECTORS, PixelColumns


class Matrices(Protocol):
    """What is written of a result; see `evaluator.protocols.pixel.evaluation.PixelResult`."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, the background first."""

    @property
    def prediction(self) -> JoinedBoxes:
        """The boxes of the second side."""

    @property
    def signature(self) -> Signature:
        """What made the numbers."""

    @property
    def whole(self) -> PixelColumns:
        """One scope: every counted page."""

    def matrix_tables(self, columns: PixelColumns | None = None, row: int = 0) -> tuple[ResultTable, ...]:
        """Every matrix of one scope."""


PER_CLASS = "per class"
"""What the rows of class vectors are called in the long form."""


def matrix_files(result: Matrices, columns: PixelColumns | None = None, row: int = 0) -> dict[str, ResultTable]:
    """Each matrix of one scope under the name of its file.

    Parameters
    ----------
    columns : PixelColumns, optional
        `whole`, `per_document` or `per_page`; the whole dataset when absent.
    row : int
        Which of its scopes.

    Returns
    -------
    dict of ResultTable
        ``confusion.csv``, ``precision.csv``, ``recall.csv``, ``f1.csv`` and the same four of the collapsed matrix with
        ``collapsed-`` before; titled with the name of the predictions.
    """
    return {
        f"{table.title.replace(' ', '-')}.csv": msgspec.structs.replace(table, title=result.prediction.source.name)
        for table in result.matrix_tables(columns, row)
    }


def long_table(result: Matrices) -> ResultTable:
    """Every matrix of the whole dataset with one cell per row, and the class vectors after them.

    Returns
    -------
    ResultTable
        Columns ``matrix``, ``row``, ``column``, ``value``. ``row`` is a class of the first side, ``column`` one of the
        second; for ``per class`` it is the name of the number: ``gt_pixels``, ``pred_pixels``, ``precision``,
        ``recall``, ``f1``, ``iou``, ``pixel_precision``, ``pixel_recall``.
    """
    rows: list[tuple[str | int | float | None, ...]] = []
    for table in result.matrix_tables():
        for label, *values in table.rows:
            rows += [
                (table.title, label, column, value) for column, value in zip(table.columns[1:], values, strict=True)
            ]
    whole = result.whole
    vectors = (*VECTORS, "pixel_precision", "pixel_recall")
    for code, label in enumerate(result.classes):
        rows.append((PER_CLASS, label, "gt_pixels", int(whole.first_pixels[0, code])))
        rows.append((PER_CLASS, label, "pred_pixels", int(whole.second_pixels[0, code])))
        rows += [(PER_CLASS, label, name, defined(getattr(whole, name)[0, code])) for name in vectors]
    return ResultTable(
        title=result.prediction.source.name,
        signature=result.signature.line,
        columns=("matrix", "row", "column", "value"),
        rows=tuple(rows),
    )
