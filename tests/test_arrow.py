"""Columns as Parquet: the bytes that pyarrow writes of the same values, without pandas."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from evaluator.review.arrow import to_parquet

TYPES = {"text": pa.string(), "count": pa.int64(), "ratio": pa.float64(), "truth": pa.bool_(),
         "texts": pa.list_(pa.string())}  # fmt: skip
TEXTS = ("", "a", "Größe", "a\0", "long " * 9)


def columns(rows: int, missing: float) -> dict[str, list[Any]]:
    """Random values, a share of them missing."""
    rng = np.random.default_rng(rows)
    of: dict[str, Callable[[], Any]] = {
        "text": lambda: TEXTS[rng.integers(len(TEXTS))],
        "count": lambda: int(rng.integers(-(2**60), 2**60)),
        "ratio": lambda: float(rng.normal()),
        "truth": lambda: bool(rng.random() < 0.5),
        "texts": lambda: [TEXTS[at] for at in rng.integers(0, len(TEXTS), rng.integers(4))],
    }
    return {name: [None if rng.random() < missing else value() for _ in range(rows)] for name, value in of.items()}


@pytest.mark.parametrize("rows", [0, 1, 8, 9, 1000])
@pytest.mark.parametrize("missing", [0.0, 0.3, 1.0])
def test_bytes_are_those_that_pyarrow_writes(rows: int, missing: float) -> None:
    given = columns(rows, missing)
    for metadata in (None, {"layoutscope": "findings"}):
        table = pa.table({name: pa.array(values, type=TYPES[name]) for name, values in given.items()})
        out = pa.BufferOutputStream()
        parquet.write_table(table.replace_schema_metadata(metadata), out)
        assert to_parquet(given, TYPES, metadata=metadata) == out.getvalue().to_pybytes()


def test_pandas_is_not_imported() -> None:
    code = (
        "import sys, pyarrow; from evaluator.review.arrow import to_parquet;"
        "to_parquet({'a': ['b', None]}, {'a': pyarrow.string()}); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
