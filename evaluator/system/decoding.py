"""JSON and msgpack decoded into declared types, and plain values checked against them, in any number of threads.

msgspec prepares a class when it first meets it. A second thread that meets a half-prepared one ends the process, so
whatever prepares classes is here and does it one at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar, overload

import msgspec

T = TypeVar("T")
_ONE_AT_A_TIME: Final = threading.Lock()
_prepared: Final[set[Hashable]] = set()


@overload
def json_decoder(kind: type[T], hook: Callable[[type, Any], Any] | None = None) -> Callable[[bytes | str], T]: ...
@overload
def json_decoder(kind: object, hook: Callable[[type, Any], Any] | None = None) -> Callable[[bytes | str], Any]: ...
def json_decoder(kind: object, hook: Callable[[type, Any], Any] | None = None) -> Callable[[bytes | str], Any]:
    """Return what decodes JSON into a type; `hook` makes values of types that msgspec does not know."""
    with _ONE_AT_A_TIME:
        return msgspec.json.Decoder(kind, dec_hook=hook).decode


@overload
def msgpack_decoder(kind: type[T]) -> Callable[[bytes], T]: ...
@overload
def msgpack_decoder(kind: object) -> Callable[[bytes], Any]: ...
def msgpack_decoder(kind: object) -> Callable[[bytes], Any]:
    """Return what decodes msgpack into a type."""
    with _ONE_AT_A_TIME:
        return msgspec.msgpack.Decoder(kind).decode


@overload
def convert(value: object, kind: type[T], *, strict: bool = True) -> T: ...
@overload
def convert(value: object, kind: object, *, strict: bool = True) -> Any: ...  # noqa: ANN401 - of that type
def convert(value: object, kind: object, *, strict: bool = True) -> Any:
    """Return plain values as a type; `msgspec.ValidationError` for others. Not `strict`, 1 is a bool, "1" a number."""
    if kind not in _prepared:
        msgpack_decoder(kind)
        _prepared.add(kind)
    return msgspec.convert(value, kind, strict=strict)
