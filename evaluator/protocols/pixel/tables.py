"""Every matrix of a pixel evaluation as tables for spreadsheets: one file per matrix, and all of them in one long form.

Owns the names and the layout of these files. Values are those of `PixelResult`; nothing is computed or rounded here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from evaluator.metrics.results import ResultTable, defined
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME, REST_NAME, VECTORS, PixelColumns

if TYPE_CHECKING:
    from evaluator.protocols.pixel.evaluation import PixelResult


PER_CLASS = "per class"
"""What the rows of class vectors are called in the long form."""


MATRICES: Final = ("confusion", "precision", "recall", "f1")


def matrix_tables(result: PixelResult, columns: PixelColumns | None = None, row: int = 0) -> tuple[ResultTable, ...]:
    """Every matrix of one scope as rows: `MATRICES`, and the same four of the collapsed matrix.

    Parameters
    ----------
    columns : PixelColumns, optional
        `whole`, `per_document` or `per_page`; the whole dataset when absent.
    row : int
        Which of its scopes.

    Returns
    -------
    tuple of ResultTable
        The first column is the class of the first side; the others are named for the classes of the second.
    """
    columns = columns or result.whole
    kinds = (
        ("", columns.matrices, result.classes),
        ("collapsed ", columns.collapsed, (BACKGROUND_NAME, REST_NAME)),
    )
    return tuple(
        ResultTable(
            title=f"{kind}{name}",
            signature=result.signature.line,
            columns=("label", *names),
            rows=tuple(
                (label, *(defined(value) for value in values))
                for label, values in zip(names, getattr(matrices, name)[row].tolist(), strict=True)
            ),
        )
        for kind, matrices, names in kinds
        for name in MATRICES
    )


def matrix_files(result: PixelResult, columns: PixelColumns | None = None, row: int = 0) -> dict[str, ResultTable]:
    """The tables of `matrix_tables` under the names of their files, titled with the name of the predictions.

    Returns
    -------
    dict of ResultTable
        ``confusion.csv``, ``precision.csv``, ``recall.csv``, ``f1.csv`` and ``collapsed-confusion.csv`` to
        ``collapsed-f1.csv``.
    """
    return {
        f"{table.title.replace(' ', '-')}.csv": msgspec.structs.replace(table, title=result.prediction.source.name)
        for table in matrix_tables(result, columns, row)
    }


def long_table(result: PixelResult) -> ResultTable:
    """Every matrix of the whole dataset with one cell per row, and the class vectors after them.

    Returns
    -------
    ResultTable
        Columns ``matrix``, ``row``, ``column``, ``value``. ``row`` is a class of the first side, ``column`` one of the
        second; for ``per class`` it is the name of the number: ``gt_pixels``, ``pred_pixels``, ``precision``,
        ``recall``, ``f1``, ``iou``, ``pixel_precision``, ``pixel_recall``.
    """
    rows: list[tuple[str | int | float | None, ...]] = []
    for table in matrix_tables(result):
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
