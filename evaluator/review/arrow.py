"""Columns of plain values as Parquet, made of the bytes that Arrow keeps.

pyarrow converts them too, but looks for pandas first, whose import takes a quarter of a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from evaluator.model.boxes import BoolArray

Column = Sequence[Any]


def to_parquet(
    columns: Mapping[str, Column], types: Mapping[str, pa.DataType], *, metadata: Mapping[str, str] | None = None
) -> bytes:
    """Columns of one length as the content of a Parquet file.

    Parameters
    ----------
    columns : mapping of sequences
        Values by name: str, int, float, bool, sequences of these, or None for nothing.
    types : mapping of pyarrow.DataType
        Of each column: string, int64, float64, bool, or a list of these.
    metadata : mapping of str, optional
        Of the file.
    """
    schema = pa.schema([(name, types[name]) for name in columns], metadata=metadata)
    arrays = [array_of(values, types[name]) for name, values in columns.items()]
    out = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), out)
    content: bytes = out.getvalue().to_pybytes()
    return content


def array_of(values: Column, of: pa.DataType) -> pa.Array:
    """A column as Arrow has it; see `to_parquet`."""
    known = np.array([each is not None for each in values], bool)
    buffers = [None if known.all() else _bits(known)]
    children = None
    if pa.types.is_list(of):
        lists = [() if each is None else each for each in values]
        buffers.append(_offsets(map(len, lists)))
        children = [array_of([one for each in lists for one in each], of.value_type)]
    elif pa.types.is_string(of):
        texts = [b"" if each is None else each.encode() for each in values]
        buffers += [_offsets(map(len, texts)), pa.py_buffer(b"".join(texts))]
    elif pa.types.is_boolean(of):
        buffers.append(_bits(np.array([bool(each) for each in values], bool)))
    else:
        dtype = np.int64 if pa.types.is_integer(of) else np.float64
        buffers.append(pa.py_buffer(np.array([0 if each is None else each for each in values], dtype)))
    return pa.Array.from_buffers(of, len(values), buffers, children=children)


def _bits(values: BoolArray) -> pa.Buffer:
    """Truth values as bits, the first one lowest."""
    return pa.py_buffer(np.packbits(values, bitorder="little"))


def _offsets(lengths: Iterable[int]) -> pa.Buffer:
    """Where each of some values begins, and where the last one ends."""
    return pa.py_buffer(np.cumsum([0, *lengths], dtype=np.int32))
