"""Values of a parsed JSON tree by the type that a format wants, with an error for each of another type.

Owns `Values`. Numbers that `json_text.parse_checked` has reported already are not reported again. What the values mean
is the format's business.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from evaluator.formats import json_text
from evaluator.formats.json_text import Unusable, excerpt, step
from evaluator.model.boxes import FloatArray
from evaluator.model.issues import Collector


class Values:
    """Typed looks at the values of one file.

    Parameters
    ----------
    collector : Collector
        Of the file; gets every error.
    source : str
        What the rules come from.
    """

    def __init__(self, collector: Collector, source: str) -> None:
        self._collector, self._source = collector, source

    def number(self, value: dict[str, object], key: str, place: str) -> float:
        """The finite number under a key; NaN with an error for anything else."""
        return self._number(value.get(key), key, step(place, key) if key in value else place, there=key in value)

    def numbers(self, value: object, name: str, place: str) -> list[float]:
        """A list of finite numbers; NaN for each that is none, and an empty list for no list, with an error."""
        if not isinstance(value, list):
            self._wrong(place, f"{name} must be a list of numbers", value)
            return []
        return [self._number(each, name, f"{place}[{at}]", there=True) for at, each in enumerate(value)]

    def pairs(self, value: object, name: str, place: str) -> FloatArray | None:
        """A list of pairs of finite numbers, float64 of shape (K, 2); None with an error for anything else."""
        if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            self._wrong(place, f"{name} must be a list of pairs of numbers", value)
            return None
        rows = [self.numbers(pair, name, f"{place}[{at}]") for at, pair in enumerate(value)]
        ring = np.array(rows, dtype=np.float64).reshape(-1, 2)
        return ring if np.isfinite(ring).all() else None

    def objects(self, value: object, name: str, place: str) -> Iterator[tuple[dict[str, object], str]]:
        """The objects of a list with their places; an error for no list and for every other value in it."""
        if not isinstance(value, list):
            self._wrong(place, f"{name} must be a list", value)
            return
        for at, each in enumerate(value):
            if isinstance(each, dict):
                yield each, f"{place}[{at}]"
            else:
                self._wrong(f"{place}[{at}]", f"each of {name} must be an object", each)

    def mapping(self, value: dict[str, object], key: str, place: str) -> dict[str, object]:
        """The object under a key; an empty one without the key or with null, and with an error for anything else."""
        value_of_key = value.get(key)
        if isinstance(value_of_key, dict):
            return value_of_key
        if value_of_key is not None:
            self._wrong(step(place, key), f"{key} must be an object", value_of_key)
        return {}

    def text(self, value: dict[str, object], key: str, place: str) -> str:
        """The text under a key; empty without it, and with an error for anything but text that can be written."""
        fix = "Write it as text."
        return json_text.text_at(value, key, place, self._collector, source=self._source, fix=fix) or ""

    def _number(self, value: object, name: str, place: str, *, there: bool) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            # A whole number of many digits has no float64; the checked tree has none beyond 300 digits.
            return float(value)
        if not isinstance(value, Unusable):
            rule = f"{name} must be a finite number ({self._source})"
            self._collector.error(place, rule, excerpt(value) if there else "none", "Correct it.")
        return math.nan

    def _wrong(self, place: str, rule: str, value: object) -> None:
        self._collector.error(place, f"{rule} ({self._source})", excerpt(value), "Export the file again.")
