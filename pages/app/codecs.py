"""How a value is read from a part of the address and written there; none of these asks what is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from evaluator.data.issues import cut
from evaluator.system.decoding import json_decoder

T = TypeVar("T")


class Codec(NamedTuple, Generic[T]):
    """The text of a value in the address; `read` raises ValueError for a text that makes no sense.

    `known` says whether the open files have what the text names, given the whole address; `start` gives the value that
    is not written, where it is not the field's own.
    """

    read: Callable[[str], T]
    write: Callable[[T], str]
    known: Callable[[str, Mapping[str, str]], bool] | None = None
    start: Callable[[], T] | None = None


def plain_text(value: str | None) -> str:
    """Return the text itself; empty for None."""
    return value or ""


def cut_text(value: str | None) -> str:
    """Return a name with a bounded length."""
    return cut(value or "")


def plain_number(value: float) -> str:
    """Return the shortest digits of a number."""
    return f"{value:g}"


def _valid(read: Callable[[str], T], write: Callable[[T], str], valid: Callable[[T], bool]) -> Codec[T]:
    def checked(text: str) -> T:
        value = read(text)
        if not valid(value):
            raise ValueError(text)
        return value

    return Codec(checked, write)


def one_of(words: Sequence[str]) -> Codec[Any]:
    """Return the codec of one of some words."""
    return _valid(str, plain_text, words.__contains__)


def some_of(words: Sequence[str]) -> Codec[list[str]]:
    """Return the codec of some words, separated by commas."""

    def read(text: str) -> list[str]:
        return [str(one_of(words).read(word)) for word in text.split(",")]

    return Codec(read, ",".join)


def number_of(choices: Sequence[float]) -> Codec[float]:
    """Return the codec of one of some numbers."""
    return _valid(float, plain_number, choices.__contains__)


def between(low: float, high: float) -> Codec[float]:
    """Return the codec of a number between two others, both included."""
    return _valid(float, plain_number, lambda value: low <= value <= high)


def whole_number(low: int, high: int, *, shift: int = 0) -> Codec[int]:
    """Return the codec of a whole number; with `shift` 1 the address counts from 1, the value from 0."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
            raise ValueError(text)
        return int(text) - shift

    return Codec(read, lambda value: "" if value is None else str(value + shift))


def json_of(kind: Any, checked: Callable[[Any], T], plain: Callable[[T], object]) -> Codec[T]:  # noqa: ANN401 - a type
    """Return the codec of a value as JSON; `checked` makes it of what was decoded, `plain` encodes it."""
    decode = json_decoder(kind)

    def read(text: str) -> T:
        try:
            return checked(decode(text.encode()))
        except msgspec.DecodeError as problem:
            raise ValueError(text) from problem

    return Codec(read, lambda value: msgspec.json.encode(plain(value)).decode())


def _range(text: str) -> tuple[float, float]:
    """Return a range such as ``0.35-1``."""
    low, _, high = text.partition("-")
    return float(low), float(high)


TEXT: Final = Codec(str, plain_text)
YES: Final = Codec(lambda text: one_of(("yes",)).read(text) == "yes", lambda on: "yes")
RANGE: Final = _valid(
    _range, lambda value: f"{value[0]:g}-{value[1]:g}", lambda value: 0.0 <= value[0] <= value[1] <= 1.0
)
FROM_ONE: Final = whole_number(1, 10**9, shift=1)
