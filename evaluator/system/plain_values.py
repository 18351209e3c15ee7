"""Results of work as bytes and back: arrays, plain values, and named tuples, dataclasses and structs of the package."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import msgspec
import numpy as np

from evaluator.data.boxes import AnyArray

_PACKAGE: Final = "evaluator."


def to_bytes(value: object, apart: list[AnyArray] | None = None) -> bytes:
    """Return a value as bytes, its arrays appended to `apart` if given; TypeError for one that is not plain."""
    return msgspec.msgpack.encode(_encoded(value, apart))


def from_bytes(content: bytes, apart: Sequence[AnyArray] = ()) -> Any:  # noqa: ANN401 - whatever was encoded
    """Return the value of `to_bytes` with the arrays that were set apart; ValueError for other bytes.

    Nothing but the package's own classes is made.
    """
    try:
        return _decoded(msgspec.msgpack.decode(content), apart)
    except (AttributeError, ImportError, LookupError, RecursionError, TypeError) as problem:
        raise ValueError("no values of this package") from problem


def _encoded(value: object, apart: list[AnyArray] | None) -> object:
    """Return a value as plain ones; what msgpack has no type for is a list that begins with its kind."""
    if apart is not None and isinstance(value, np.ndarray):
        apart.append(value)
        return ["apart", len(apart) - 1]
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        return ["array", array.dtype.str, list(array.shape), array.tobytes()]
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    encoded = partial(_encoded, apart=apart)
    if isinstance(value, dict):
        return ["dict", [[encoded(key), encoded(each)] for key, each in value.items()]]
    if type(value) in (list, tuple):
        return [type(value).__name__, [encoded(each) for each in value]]  # type: ignore[attr-defined]
    kind = type(value)
    if not kind.__module__.startswith(_PACKAGE):
        raise TypeError(f"{kind.__name__} is not plain")
    return ["object", kind.__module__, kind.__qualname__, encoded(_state_of(value))]


def _state_of(value: Any) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(value, tuple):
        return value._asdict()  # type: ignore[attr-defined, no-any-return]
    if "__getstate__" in vars(type(value)):
        state: dict[str, Any] = value.__getstate__()
        return state
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else msgspec.structs.fields(value)
    return {field.name: getattr(value, field.name) for field in fields}


def _decoded(value: Any, apart: Sequence[AnyArray]) -> Any:  # noqa: ANN401
    if not isinstance(value, list):
        return value
    kind, *rest = value
    if kind == "array":
        dtype, shape, content = rest
        array = np.frombuffer(content, dtype=np.dtype(dtype)).reshape(shape)
        return array if shape else array[()]
    if kind == "apart":
        return apart[rest[0]]
    decoded = partial(_decoded, apart=apart)
    if kind == "dict":
        return {decoded(key): decoded(each) for key, each in rest[0]}
    if kind != "object":
        return {"list": list, "tuple": tuple}[kind](map(decoded, rest[0]))
    module, name, state = rest
    if not module.startswith(_PACKAGE):
        raise KeyError(module)
    made, values = getattr(importlib.import_module(module), name), decoded(state)
    if isinstance(made, type) and (issubclass(made, msgspec.Struct) or hasattr(made, "_fields")):
        return made(**values)
    if not dataclasses.is_dataclass(made):
        raise KeyError(name)
    empty: Any = object.__new__(made)  # type: ignore[arg-type]
    if "__setstate__" in vars(made):
        empty.__setstate__(values)
    else:
        for field, each in values.items():
            object.__setattr__(empty, field, each)
    return empty
