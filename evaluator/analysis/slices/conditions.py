"""Conditions on attributes, never true where one is not known, their bins, and their words in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.metrics.observations import Attribute
from evaluator.metrics.results import capitalised

Operator = Literal["==", "<", ">="]
CodeArray = npt.NDArray[np.uint8]
Float32 = npt.NDArray[np.float32]

_QUANTILES: Final = (0.02, 0.05, *(step / 10 for step in range(1, 10)), 0.95, 0.98)
# A category beyond these many is in no condition of the search; a named slice may still use it.
_MOST_CATEGORIES: Final = 24


class Condition(NamedTuple):
    """One condition on one attribute: ``==`` for categories, ``<`` or ``>=`` for numbers."""

    attribute: str
    op: Operator
    value: str | float

    @property
    def on_label(self) -> bool:
        """Return whether it asks for one label."""
        return self.attribute == "label" and self.op == "=="

    def to_json(self) -> dict[str, object]:
        """Return the condition as plain values."""
        return {"attribute": self.attribute, "op": self.op, "value": self.value}

    def holds(self, attribute: Attribute) -> BoolArray:
        """Return where the condition holds, bool, shape (N,); nowhere for a category not in the data."""
        if self.op == "==":
            if attribute.kind == "number":
                return np.asarray(attribute.values == _number(self.value))
            name = str(self.value)
            if name not in attribute.names:
                return np.zeros(len(attribute.values), bool)
            return np.asarray(attribute.values == attribute.names.index(name))
        value = _number(self.value)
        with np.errstate(invalid="ignore"):
            return attribute.values < value if self.op == "<" else attribute.values >= value


def _number(value: str | float) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan")


def condition_mask(conditions: Sequence[Condition], attributes: Mapping[str, Attribute]) -> BoolArray:
    """Return where all of some conditions hold, bool, shape (N,); KeyError for an attribute that is not there."""
    parts = [condition.holds(attributes[condition.attribute]) for condition in conditions]
    return np.asarray(np.logical_and.reduce(parts), dtype=bool)


class Range(NamedTuple):
    """A condition of the search: an attribute by its place, and the bins from `low` to before `high`."""

    attribute: int
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class Binned:
    """Attributes as bins, and the conditions that can be expressed with bins.

    Only attributes with two bins or more. `cuts`: where bins of numbers begin; of categories the code of each bin.
    `codes`: uint8, shape (N, A), the bin of each box, or the number of bins where the value is unknown.
    """

    attributes: tuple[Attribute, ...]
    cuts: tuple[FloatArray, ...]
    codes: CodeArray
    sizes: tuple[int, ...]

    @cached_property
    def starts(self) -> IntArray:
        """Place of the first bin of each attribute among all bins, int64, shape (A + 1,)."""
        return np.append(0, np.cumsum(self.sizes)).astype(np.int64)

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        """Return all single conditions, those of one attribute together."""
        made = []
        for place, (attribute, size) in enumerate(zip(self.attributes, self.sizes, strict=True)):
            if attribute.kind == "category":
                made += [Range(place, bin_, bin_ + 1) for bin_ in range(size)]
            else:
                made += [Range(place, 0, cut) for cut in range(1, size)]
                made += [Range(place, cut, size) for cut in range(1, size)]
        return tuple(made)

    @cached_property
    def two_ended(self) -> tuple[Range, ...]:
        """Return all ranges of numbers with two ends, those of one attribute together."""
        return tuple(
            Range(place, low, high)
            for place, (attribute, size) in enumerate(zip(self.attributes, self.sizes, strict=True))
            if attribute.kind == "number"
            for low in range(1, size)
            for high in range(low + 1, size)
        )

    def within(self, part: Range) -> BoolArray:
        """Return where a condition holds, bool, shape (N,)."""
        codes = self.codes[:, part.attribute]
        if part.high == part.low + 1:
            return np.asarray(codes == part.low)
        return (codes >= part.low) & (codes < part.high)

    def conditions(self, part: Range) -> list[Condition]:
        """Return a range as conditions: one, or two for a range with two ends."""
        attribute, cuts = self.attributes[part.attribute], self.cuts[part.attribute]
        if attribute.kind == "category":
            return [Condition(attribute.name, "==", attribute.names[int(cuts[part.low])])]
        made = []
        if part.low > 0:
            made.append(Condition(attribute.name, ">=", float(cuts[part.low - 1])))
        if part.high < self.sizes[part.attribute]:
            made.append(Condition(attribute.name, "<", float(cuts[part.high - 1])))
        return made


def binned(attributes: Sequence[Attribute], *, least: int) -> Binned:
    """Return attributes in bins; a category with fewer boxes than `least` gets none."""
    kept, cuts, codes = [], [], []
    for attribute in attributes:
        known = ~np.isnan(attribute.values)
        values = attribute.values[known]
        column = np.empty(len(known), np.uint8)
        if attribute.kind == "category":
            count = np.bincount(values.astype(np.int64), minlength=len(attribute.names))
            most = np.argsort(-count, kind="stable")[:_MOST_CATEGORIES]
            chosen = np.sort(most[count[most] >= least])
            bin_of = np.full(len(attribute.names) + 1, len(chosen), np.uint8)
            bin_of[chosen] = np.arange(len(chosen))
            column[:] = bin_of[np.where(known, attribute.values, len(attribute.names)).astype(np.int64)]
            # One value for all boxes says nothing.
            size, edges = len(chosen), chosen.astype(np.float64)
            if size == 1 and count[chosen[0]] == len(known):
                continue
        else:
            edges = _cuts(values)
            size = len(edges) + 1
            column[:] = np.where(known, np.searchsorted(edges, attribute.values, side="right"), size)
            if size == 1:
                continue
        if size:
            kept.append(attribute)
            cuts.append(edges)
            codes.append(column)
    table = np.column_stack(codes) if codes else np.empty((0, 0), np.uint8)
    sizes = tuple(len(edges) + (attribute.kind == "number") for attribute, edges in zip(kept, cuts, strict=True))
    return Binned(tuple(kept), tuple(cuts), table, sizes)


def _cuts(values: FloatArray) -> FloatArray:
    """Return where bins of numbers begin, rising, between neighbouring values; empty for one value."""
    if not len(values):
        return np.empty(0)
    at = np.unique(np.quantile(values, _QUANTILES, method="higher"))
    different = np.unique(values) if len(values) < 1_000_000 else np.unique(np.concatenate([values[::17], at]))
    before = different[np.maximum(np.searchsorted(different, at) - 1, 0)]
    return np.array(sorted({short_between(low, high) for low, high in zip(before, at, strict=True) if low < high}))


def short_between(low: float, high: float) -> float:
    """Return the number with the fewest digits that is above `low` and at most `high`; ``low < high``.

    >>> short_between(0.1234, 0.1311)
    0.13
    >>> short_between(2.0, 3.0)
    3.0
    """
    for digits in range(13):
        scale = 10.0**digits
        value = float(np.floor(high * scale) / scale)
        if low < value <= high:
            return value
    return float(high)


# --- words -----------------------------------------------------------------------------------------------------

# Numbers in per cent: their words, and of what.
_PER_CENT: Final[Mapping[str, tuple[str, str]]] = {
    "area": ("area", " of the page"),
    "width": ("width", " of the page"),
    "height": ("height", " of the page"),
    "distance": ("distance to the next box", " of the page"),
    "x": ("centre from the left", " of the page"),
    "y": ("centre from the top", " of the page"),
    "position in document": ("position in the document", ""),
    "area of label": ("area of the label", " of the page"),
    "place in text": ("place in the text", ""),
}
# Conditions that read better without "with": of the box, then of its page.
_OF_BOX: Final[Mapping[tuple[str, str], tuple[float | str, str]]] = {
    ("ruled lines in box", "<"): (1.0, "without ruled lines"),
    ("ruled lines in box", ">="): (1.0, "with ruled lines"),
    ("words in box", "<"): (1.0, "without words"),
    ("inside", ">="): (1.0, "inside another box"),
    ("holds", ">="): (1.0, "that hold another box"),
}
_ON_PAGE: Final[Mapping[tuple[str, str], str]] = {
    ("scanned", "yes"): "on scanned pages",
    ("scanned", "no"): "on born-digital pages",
    ("text layer", "yes"): "on pages with a text layer",
    ("text layer", "no"): "on pages without a text layer",
    ("landscape", "yes"): "on landscape pages",
    ("landscape", "no"): "on portrait pages",
    ("in a list", "yes"): "in lists",
    ("in a list", "no"): "outside of lists",
}


def _phrase(condition: Condition) -> tuple[int, str] | None:
    """Return the position of a condition in a sentence and its words; None if it goes behind "with"."""
    name, op, value = condition
    if op == "==":
        text = _ON_PAGE.get((name, str(value)))
        return None if text is None else (2, text)
    limit, text = _OF_BOX.get((name, op), (None, ""))
    return (0, text) if limit == value else None


def words(condition: Condition) -> str:
    """Return a condition in words: ``area below 2.5 % of the page``."""
    name, op, value = condition
    if op == "==":
        return f"{name} {value}" if not isinstance(value, float) else f"{name} {value:g}"
    text, whole = _PER_CENT.get(name, (name, None))
    number = f"{float(value):.6g}" if whole is None else f"{float(value) * 100:.6g} %{whole}"
    return f"{text} below {number}" if op == "<" else f"{text} {number} or more"


def subject(conditions: Sequence[Condition], noun: str) -> str:
    """Return which boxes a slice has, as the beginning of a sentence.

    >>> subject([Condition("label", "==", "Table"), Condition("area", "<", 0.025)], "boxes")
    'Table boxes with area below 2.5 % of the page'
    >>> subject([Condition("scanned", "==", "yes"), Condition("ruled lines in box", "<", 1.0)], "boxes")
    'Boxes without ruled lines on scanned pages'
    """
    labels = [str(each.value) for each in conditions if each.on_label]
    parts: list[list[str]] = [[], [], []]
    for each in conditions:
        if each.on_label:
            continue
        place, text = _phrase(each) or (1, words(each))
        parts[place].append(text)
    start = f"{labels[0]} {noun}" if labels else capitalised(noun)
    others = [*parts[0], *([f"with {' and '.join(parts[1])}"] if parts[1] else []), *parts[2]]
    return " ".join([start, *others])
