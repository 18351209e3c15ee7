"""A parsed JSON tree against the types and keys of a format: `Shape` of an object, `Values` one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.issues import Collector, quote
from evaluator.formats.json_text import (
    JsonPath,
    Unusable,
    excerpt,
    has_lone_surrogate,
    lone_surrogate,
    oddities,
    repeated_key,
    repeats,
    step,
)

Check = Callable[[Any, str, JsonPath, Collector], Any]
"""What is taken of a value under a key of the object at a place; with an error for a value that does not fit."""


class Shape(NamedTuple):
    """An object of a format: its checks by key, in the order of the issues.

    `rule` and `fix` are for a value that is no object, `none` is what is found in one without any of its keys,
    `unknown` are rule and fix for other keys (None allows them); repeated `described` keys are only warned of.
    """

    rule: str
    fix: str
    source: str
    checks: Mapping[str, Check]
    required: Collection[str]
    none: str = ""
    unknown: tuple[str, str] | None = None
    described: Collection[str] = ()

    def fields(self, value: object, place: JsonPath, collector: Collector) -> dict[str, Any] | None:
        """Return what is taken of an object, by key; None with an error for what is no object."""
        if not isinstance(value, dict):
            collector.error(place, self.rule, excerpt(value), self.fix)
            return None
        self.check_keys(value, place, collector)
        return {key: check(value[key], key, place, collector) for key, check in self.checks.items() if key in value}

    def check_keys(self, value: dict[str, object], place: JsonPath, collector: Collector) -> None:
        """Report repeated, missing and unknown keys."""
        for key, times in repeats(value).items():
            if key in self.described:
                rule = "of a repeated key only the last value is used (RFC 8259, section 4)"
                found, fix = f"{quote(key)} {times} times", f"{excerpt(value[key])} is used; keep one {key}."
                collector.warning(step(place, key), rule, found, fix)
            elif self.unknown or key in self.checks:
                collector.error(*repeated_key(step(place, key), key, times))
        for key in self.required:
            if key not in value:
                known = self.required if self.unknown else self.checks
                there = ", ".join(quote(other) for other in value if other in known)
                found = f"only {there}" if there else self.none
                collector.error(place, f"{key} is required here ({self.source})", found, f"Add {key}.")
        if self.unknown is None:
            return
        rule, fix = self.unknown
        for key, other in value.items():
            if key not in self.checks:
                collector.error(step(place, key), rule, excerpt(other), fix)
                no_oddities(other, key, place, collector)


def wanted(take: Callable[[Any], Any], rule: str, fix: str, *, otherwise: object = None) -> Check:
    """Return a check of what `take` gives None for; ``{key}`` in the rule stands for the key."""

    def check(value: object, key: str, place: JsonPath, collector: Collector) -> Any:  # noqa: ANN401 - any kind of value
        taken = take(value)
        if taken is None:
            collector.error(step(place, key), rule.format(key=key), excerpt(value), fix)
            return otherwise
        return taken

    return check


def text(source: str, fix: str) -> Check:
    """Return a check of text that can be written; None for anything else."""

    def check(value: object, key: str, place: JsonPath, collector: Collector) -> str | None:
        if not isinstance(value, str):
            collector.error(step(place, key), f"{key} must be a string ({source})", excerpt(value), fix)
        elif has_lone_surrogate(value):
            collector.error(*lone_surrogate(step(place, key), value))
        else:
            return value
        return None

    return check


def no_oddities(value: object, key: str, place: JsonPath, collector: Collector) -> None:
    """Check a part of any form; see `json_text.oddities`."""
    for oddity in oddities(value, step(place, key)):
        collector.error(*oddity)


class Values:
    """Typed access to the values of one file; `source` is what the rules come from."""

    def __init__(self, collector: Collector, source: str) -> None:
        self._collector, self._source = collector, source

    def number(self, value: dict[str, object], key: str, place: str) -> float:
        """Return the finite number under a key; NaN with an error for anything else."""
        held = value.get(key)
        # The place of a number is put together for an error alone. A whole number of many digits has no float64; the
        # checked tree has none beyond 300 digits.
        if type(held) is float or type(held) is int:
            return float(held)
        return self._no_number(held, key, step(place, key) if key in value else place, there=key in value)

    def numbers(self, value: object, name: str, place: str) -> list[float]:
        """Return a list of numbers, with an error and NaN for each not finite, an empty one for no list."""
        if not isinstance(value, list):
            self._wrong(place, f"{name} must be a list of numbers", value)
            return []
        return [
            float(each) if type(each) in (float, int) else self._no_number(each, name, f"{place}[{at}]", there=True)
            for at, each in enumerate(value)
        ]

    def pairs(self, value: object, name: str, place: str) -> FloatArray | None:
        """Return a list of pairs of finite numbers, float64 (K, 2); None with an error for anything else."""
        if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            self._wrong(place, f"{name} must be a list of pairs of numbers", value)
            return None
        rows = [self.numbers(pair, name, f"{place}[{at}]") for at, pair in enumerate(value)]
        ring = np.array(rows, dtype=np.float64).reshape(-1, 2)
        return ring if np.isfinite(ring).all() else None

    def objects(self, value: object, name: str, place: str) -> Iterator[tuple[dict[str, object], str]]:
        """Yield the objects of a list with their places; an error for no list and any other value in it."""
        if not isinstance(value, list):
            self._wrong(place, f"{name} must be a list", value)
            return
        for at, each in enumerate(value):
            if isinstance(each, dict):
                yield each, f"{place}[{at}]"
            else:
                self._wrong(f"{place}[{at}]", f"each of {name} must be an object", each)

    def mapping(self, value: dict[str, object], key: str, place: str) -> dict[str, object]:
        """Return the object under a key; empty without the key, for null, and with an error for the rest."""
        value_of_key = value.get(key)
        if isinstance(value_of_key, dict):
            return value_of_key
        if value_of_key is not None:
            self._wrong(step(place, key), f"{key} must be an object", value_of_key)
        return {}

    def text(self, value: dict[str, object], key: str, place: str) -> str:
        """Return the text under a key; empty without it, and with an error for what cannot be written."""
        check = text(self._source, "Write it as text.")
        return check(value[key], key, place, self._collector) or "" if key in value else ""

    def _no_number(self, value: object, name: str, place: str, *, there: bool) -> float:
        if not isinstance(value, Unusable):
            rule = f"{name} must be a finite number ({self._source})"
            self._collector.error(place, rule, excerpt(value) if there else "none", "Correct it.")
        return math.nan

    def _wrong(self, place: str, rule: str, value: object) -> None:
        self._collector.error(place, f"{rule} ({self._source})", excerpt(value), "Export the file again.")
