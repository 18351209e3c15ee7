"""Annotations and results whose values are plain numbers, read by Arrow.

Owns the keys of plain numbers, and one function that fills the columns of a piece. Arrow's parser refuses unknown and
repeated keys, other types and anything that is not JSON, with three exceptions that are checked here: NaN and
Infinity, null or missing values, and records without a comma between them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

BOX: Final = "bbox"
INTEGERS: Final = frozenset({"image_id", "category_id", "id", "iscrowd", "ignore"})
NUMBERS: Final = frozenset({"score", "area"})
_CLOSING, _COMMA, _BLANK = b"},"[0], b"},"[1], b" "[0]

Text = npt.NDArray[np.uint8]
Column = npt.NDArray[Any]


def read(text: Text, columns: dict[str, Column]) -> bool:
    """Write the records of a piece into columns of their number.

    Parameters
    ----------
    text : uint8, shape (B,)
        Records with a comma between them.
    columns : dict of arrays by key
        int64 or float64, shape (N,), ``bbox`` (N, 4); every record must have these keys and no others.

    Returns
    -------
    bool
        Whether the text is N such records; the columns mean nothing otherwise.
    """
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.json  # type: ignore[import-untyped]

    records = text.copy()
    closing = np.flatnonzero(records == _CLOSING)
    if not len(closing) or (records[closing[:-1] + 1] != _COMMA).any():
        return False
    # Arrow reads records that follow each other. When each has one closing brace, which a comma follows in all but
    # the last, they are the array that the bytes spell.
    records[closing[:-1] + 1] = _BLANK
    kinds = {BOX: pa.list_(pa.float64()), **dict.fromkeys(NUMBERS, pa.float64())}
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(pa.py_buffer(records)),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(records) + 1),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=pa.schema([(key, kinds.get(key, pa.int64())) for key in columns]),
                newlines_in_values=True,
                unexpected_field_behavior="error",
            ),
            memory_pool=pa.system_memory_pool(),
        )
    except pa.ArrowInvalid:
        return False
    if len(table) != len(closing) or any(table.column(key).null_count for key in columns):
        return False
    for key, column in columns.items():
        values = table.column(key).combine_chunks()
        if key == BOX:
            bounds, values = _numbers(values.offsets, "i4"), values.values
            if values.null_count or not np.array_equal(bounds, np.arange(0, 4 * len(column) + 1, 4)):
                return False
        column[...] = _numbers(values, column.dtype).reshape(column.shape)
    return all(np.isfinite(columns[key]).all() for key in columns if key not in INTEGERS)


def _numbers(values: Any, dtype: npt.DTypeLike) -> Column:  # noqa: ANN401 - pyarrow has no types
    """An array without nulls as it is in memory; Arrow's own conversion would load pandas."""
    return np.frombuffer(values.buffers()[1], dtype=dtype)[values.offset : values.offset + len(values)]
