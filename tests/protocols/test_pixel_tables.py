"""Every matrix for spreadsheets: names, layout, and that no digit is lost."""

from __future__ import annotations

import csv
import io
import math
import zipfile

import pytest

from evaluator.cli.evaluate import numbered
from evaluator.metrics import export
from evaluator.protocols.pixel.tables import PER_CLASS
from tests.protocols.test_protocol_pixel import several_pages

NAMES = ["confusion", "precision", "recall", "f1"]


def test_one_file_for_each_matrix() -> None:
    _, result = several_pages()
    files = result.csv_files()
    assert list(files) == [f"{kind}{name}.csv" for kind in ("", "collapsed-") for name in NAMES]
    rows = list(csv.reader(io.StringIO(export.to_csv([files["recall.csv"]]))))
    assert rows[0] == ["predictions", "label", *result.classes, "signature"]
    assert rows[1][:2] == [result.prediction.source.name, result.classes[0]]
    cells = [[float(cell) if cell else None for cell in row[2:-1]] for row in rows[1:]]
    expected = [
        [None if math.isnan(value) else value for value in row] for row in result.whole.matrices.recall[0].tolist()
    ]
    assert cells == expected
    page = result.csv_files(result.per_page, 1)["confusion.csv"]
    assert [list(row[1:]) for row in page.rows] == result.per_page.matrices.confusion[1].tolist()


def test_all_matrices_in_one_long_form() -> None:
    _, result = several_pages()
    table = result.csv_table()
    cells = {row[:3]: row[3] for row in table.rows}
    count = len(result.classes)
    assert len(cells) == len(table.rows) == 4 * count**2 + 16 + 8 * count
    for matrix in result.csv_files().items():
        name, values = matrix[0].removesuffix(".csv").replace("-", " "), matrix[1]
        for label, *numbers in values.rows:
            for column, value in zip(values.columns[1:], numbers, strict=True):
                assert cells[name, label, column] == value
    # The numbers of the table on the screen are there too.
    for label, *numbers in result.table().rows[:count]:
        for column, value in zip(result.table().columns[1:], numbers, strict=True):
            assert cells[PER_CLASS, label, column] == value


@pytest.mark.parametrize(("models", "first"), [(1, "confusion.csv"), (3, "model-2-confusion.csv")])
def test_files_of_several_models_have_names_of_their_own(models: int, first: str) -> None:
    _, result = several_pages()
    files = numbered(result.csv_files(), 1, models)
    assert next(iter(files)) == first
    assert len(files) == 8


def test_a_zip_archive_is_the_same_whenever_it_is_made() -> None:
    files = {"a.csv": "x,y\n1,2\n", "name \u2192.csv": "\udcff"}
    content = export.to_zip(files)
    assert content == export.to_zip(files)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == list(files)
        assert archive.read("a.csv") == b"x,y\n1,2\n"
        assert archive.read("name \u2192.csv") == b"\\udcff"
    assert zipfile.ZipFile(io.BytesIO(export.to_zip({}))).namelist() == []
