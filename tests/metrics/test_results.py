"""Result columns by hand, and the signature line to the letter."""

import io
import math
import zipfile
from typing import get_args

import numpy as np
import pytest

from evaluator.data.issues import count_of, listed
from evaluator.metrics import export
from evaluator.metrics.exact_sums import ExactSums
from evaluator.metrics.results import (
    RATIOS,
    Fit,
    MetricColumns,
    Metrics,
    Signature,
    capitalised,
    count_by,
    defined,
    ratio,
    threshold_text,
    weighted_mean,
)
from evaluator.system.version import __version__

# tp, fp, fn, and the sums of IoU, coverage and purity.
ROWS = [(2, 1, 2, 1.5, 1.75, 1.25), (0, 0, 0, 0, 0, 0), (0, 3, 0, 0, 0, 0), (0, 0, 4, 0, 0, 0)]


def columns(rows: list[tuple[float, ...]] = ROWS) -> MetricColumns:
    counted = [np.array([row[column] for row in rows], dtype=np.int64) for column in range(3)]
    fits = {name: np.array([row[column] for row in rows]) for column, name in enumerate(get_args(Fit), 3)}
    cells = np.arange(len(rows))
    return MetricColumns(*counted, sum_of_fit=lambda name: ExactSums.of(fits[name], cells, len(rows)))


def test_a_row_by_hand() -> None:
    row = columns().row(0)
    assert {type(value) for value in row.values()} == {int, float}
    assert list(row) == list(Metrics.__annotations__) == ["tp", "fp", "fn", *RATIOS]
    assert row == {
        "tp": 2, "fp": 1, "fn": 2, "precision": 2 / 3, "recall": 0.5, "f1": 4 / 7,
        "mean_iou": 0.75, "mean_coverage": 0.875, "mean_purity": 0.625,
    }  # fmt: skip


def test_undefined_is_none_and_never_zero() -> None:
    rows = [tuple(columns().row(row).values()) for row in (1, 2, 3)]
    undefined = (None, None, None)
    assert rows == [
        (0, 0, 0, None, None, None, *undefined), (0, 3, 0, 0.0, None, 0.0, *undefined),
        (0, 0, 4, None, 0.0, 0.0, *undefined),
    ]  # fmt: skip
    assert np.isnan(columns().precision).tolist() == [False, True, False, True]


def test_rows_are_taken_and_pooled() -> None:
    taken = columns().take(np.array([3, 0]))
    assert (taken.fn.tolist(), taken.fit_sum("iou").tolist(), len(taken)) == ([4, 2], [0.0, 1.5], 2)
    pooled = columns().pooled(np.array([0, 2, 0, 2]), 3)
    assert (pooled.tp.tolist(), pooled.fp.tolist(), pooled.fn.tolist()) == ([2, 0, 0], [4, 0, 0], [2, 0, 4])
    assert pooled.tp.dtype == np.int64
    assert pooled.row(1)["precision"] is None
    assert columns().mistakes.tolist() == [3, 0, 3, 4]
    assert count_by(np.array([2, 0, 2]), np.array([5, 6, 7]), 4).tolist() == [6, 0, 12, 0]


def test_ratio_has_no_denominator_no_value() -> None:
    shares = ratio(np.array([1, 0, 3]), np.array([2, 0, 4]))
    assert shares.tolist()[::2] == [0.5, 0.75]
    assert math.isnan(shares[1])
    assert ratio(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).shape == (0,)
    assert ratio(np.array([[1.0, 2.0], [0.0, 6.0]]), np.array([[1.0, 8.0]])).tolist() == [[1.0, 0.25], [0.0, 0.75]]
    of_rows = ratio(np.array([[0.0, 0.0], [1.0, 3.0]]), np.array([[0.0], [4.0]]))
    np.testing.assert_array_equal(of_rows, [[np.nan, np.nan], [0.25, 0.75]])
    assert (defined(float("nan")), defined(0.0)) == (None, 0.0)


def test_weighted_means_leave_the_undefined_out() -> None:
    values = np.array([1.0, np.nan, 0.0])
    assert weighted_mean(values) == (0.5, 2)
    assert weighted_mean(values, np.array([3.0, 100.0, 1.0])) == (0.75, 2)
    assert weighted_mean(values, np.array([0.0, 1.0, 0.0])) == (None, 2)
    assert weighted_mean(np.array([np.nan])) == (None, 0)
    assert weighted_mean(np.array([])) == (None, 0)


PACKAGE = f"layoutscope {__version__}"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"iou": (0.5, 0.75), "documents": 38, "pages": 1412},
         "IoU ≥ 0.50, 0.75 · score ≥ 0.00 · 38 documents, 1,412 pages"),
        ({"iou": (0.625, 1.0), "min_score": 0.25, "min_area": 0.008, "documents": 1, "pages": 1},
         "IoU ≥ 0.625, 1.00 · score ≥ 0.25 · area ≥ 0.008 of the page · 1 document, 1 page"),
        ({"iou": (0.5,), "labels": ("Figure", "Table"), "class_weight": {"Table": 2.0, "Figure": 0.5}},
         "IoU ≥ 0.50 · score ≥ 0.00 · labels Figure, Table · weights Table 2, Figure 0.5 · 0 documents, 0 pages"),
        ({"iou": (0.5,), "labels": ()}, "IoU ≥ 0.50 · score ≥ 0.00 · labels  · 0 documents, 0 pages"),
    ],
)  # fmt: skip
def test_the_signature_line(given: dict[str, object], line: str) -> None:
    assert Signature(protocol="snapshot", version="1.3", **given).line == f"snapshot 1.3 · {line} · {PACKAGE}"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.00"), (0.5, "0.50"), (0.75, "0.75"), (1, "1.00"), (0.125, "0.125"), (1 / 3, "0.3333333333333333"),
     (0.1 + 0.2, "0.30000000000000004"), (1e-9, "1e-09")],
)  # fmt: skip
def test_thresholds_lose_no_digit(value: float, text: str) -> None:
    assert threshold_text(value) == text


def test_counts_with_their_noun() -> None:
    assert [count_of(count, "page") for count in (0, 1, 2, 1204)] == ["0 pages", "1 page", "2 pages", "1,204 pages"]
    assert [count_of(2, noun) for noun in ("box", "match", "clear loss")] == ["2 boxes", "2 matches", "2 clear losses"]


def test_words_in_a_sentence() -> None:
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    names = {"mean IoU": "Mean IoU", "F1": "F1", "": "", "mAP at 0.50": "mAP at 0.50", "recall": "Recall"}
    assert {words: capitalised(words) for words in names} == names


def test_a_zip_archive_is_the_same_whenever_it_is_made() -> None:
    files = {"a.csv": "x,y\n1,2\n", "name \u2192.csv": "\udcff"}
    content = export.to_zip(files)
    assert content == export.to_zip(files)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    assert read == {"a.csv": b"x,y\n1,2\n", "name \u2192.csv": b"\\udcff"}
    assert zipfile.ZipFile(io.BytesIO(export.to_zip({}))).namelist() == []
