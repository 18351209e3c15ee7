"""Every matrix of a pixel evaluation as tables for spreadsheets: a file per matrix, or one long form."""

from __future__ import annotations

from typing import Final

import msgspec

from evaluator.metrics.results import ResultTable, defined
from evaluator.protocols.pixel.matrix import BACKGROUND_NAME, REST_NAME, VECTORS, PixelColumns

PER_CLASS = "per class"
"""What the rows of class vectors are called in the long form."""

MATRICES: Final = ("confusion", "precision", "recall", "f1")


def matrix_tables(columns: PixelColumns, row: int, signature: str) -> tuple[ResultTable, ...]:
    """Return every matrix of the scope `row`: `MATRICES`, and the same four of the collapsed matrix.

    The first column is the class of the first side; the others are named for the classes of the second.
    """
    kinds = (
        ("", columns.matrices, columns.classes),
        ("collapsed ", columns.collapsed, (BACKGROUND_NAME, REST_NAME)),
    )
    return tuple(
        ResultTable(
            title=f"{kind}{name}",
            signature=signature,
            columns=("label", *names),
            rows=tuple(
                (label, *(defined(value) for value in values))
                for label, values in zip(names, getattr(matrices, name)[row].tolist(), strict=True)
            ),
        )
        for kind, matrices, names in kinds
        for name in MATRICES
    )


def matrix_files(columns: PixelColumns, row: int, *, signature: str, title: str) -> dict[str, ResultTable]:
    """Return the tables of `matrix_tables` under the names of their files, all with one title.

    ``confusion.csv``, ``precision.csv``, ``recall.csv``, ``f1.csv`` and ``collapsed-confusion.csv`` to
    ``collapsed-f1.csv``.
    """
    return {
        f"{table.title.replace(' ', '-')}.csv": msgspec.structs.replace(table, title=title)
        for table in matrix_tables(columns, row, signature)
    }


def long_table(whole: PixelColumns, *, signature: str, title: str) -> ResultTable:
    """Return every matrix of the whole dataset with one cell per row, then the class vectors.

    Columns ``matrix``, ``row``, ``column``, ``value``. ``row`` is a class of the first side, ``column`` one of the
    second; for ``per class`` it is the name of the number: ``gt_pixels``, ``pred_pixels``, ``precision``, ``recall``,
    ``f1``, ``iou``, ``pixel_precision``, ``pixel_recall``.
    """
    rows: list[tuple[str | int | float | None, ...]] = []
    for table in matrix_tables(whole, 0, signature):
        for label, *values in table.rows:
            rows += [
                (table.title, label, column, value) for column, value in zip(table.columns[1:], values, strict=True)
            ]
    vectors = (*VECTORS, "pixel_precision", "pixel_recall")
    for code, label in enumerate(whole.classes):
        rows.append((PER_CLASS, label, "gt_pixels", int(whole.first_pixels[0, code])))
        rows.append((PER_CLASS, label, "pred_pixels", int(whole.second_pixels[0, code])))
        rows += [(PER_CLASS, label, name, defined(getattr(whole, name)[0, code])) for name in vectors]
    return ResultTable(title=title, signature=signature, columns=("matrix", "row", "column", "value"), rows=tuple(rows))
