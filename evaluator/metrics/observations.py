"""What is observed one by one, with attributes, so that a search for slices needs to know no protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.metrics.item_ledger import Item

AttributeKind = Literal["category", "number"]
Level = Literal["box", "page", "document"]


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """One attribute of N boxes or other things, by its name in conditions, JSON and named slices.

    `values`: float64, shape (N,), numbers or codes into `names`; NaN where not known. `names`: empty for numbers.
    `level`: "box" also for a field, a word or another thing on a page. `whole`: its numbers are counts.
    """

    name: str
    kind: AttributeKind
    values: FloatArray
    names: tuple[str, ...] = ()
    level: Level = "box"
    whole: bool = False

    def take(self, rows: IntArray) -> Attribute:
        """Return the attribute of some of the boxes."""
        return Attribute(self.name, self.kind, self.values[rows], self.names, self.level, self.whole)


def number(
    name: str, values: Sequence[float] | FloatArray | IntArray, level: Level = "box", *, whole: bool = False
) -> Attribute:
    """Return an attribute of numbers."""
    return Attribute(name, "number", np.asarray(values, np.float64), (), level, whole)


def category(name: str, values: Sequence[str | None], level: Level = "box") -> Attribute:
    """Return an attribute of categories from their names, in alphabetical order; None is not known.

    >>> category("source", ["b", None, "a"]).values
    array([ 1., nan,  0.])
    """
    names = tuple(sorted({each for each in values if each is not None}))
    code = {name: float(place) for place, name in enumerate(names)}
    codes = [float("nan") if each is None else code[each] for each in values]
    return Attribute(name, "category", np.array(codes, dtype=np.float64), names, level)


def attributes_of(rows: Sequence[Mapping[str, str | float | None]], level: Level) -> Iterator[Attribute]:
    """Yield the attributes that some rows have, as columns."""
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        if any(isinstance(value, str) for value in values):
            yield category(name, [None if value is None else str(value) for value in values], level)
        else:
            column = np.array([np.nan if value is None else float(value) for value in values])
            yield number(name, column, level, whole=bool((column[~np.isnan(column)] % 1.0 == 0.0).all()))


class MeasureWords(NamedTuple):
    """How a measure reads that is a mean over things.

    `noun`: a plural. `wrong`: a thing that lowers it. `lost`: what a slice costs. `unit`: one of the things. `fits`: a
    thing has any value from 0 to 1, else it is right or wrong. `scored`: about predictions, whose score can be an
    attribute.
    """

    title: str
    noun: str
    wrong: str
    lost: str
    unit: str = "box"
    fits: bool = False
    scored: bool = False


@dataclass(frozen=True, eq=False)
class Observations:
    """The U things that a measure of a protocol is a mean over, of M results of one ground truth.

    `document`: code into `documents`, which are independent. `page`: from 0, whose attributes the thing has too; -1
    where it is on none. `items`: where each thing is, for people. `label`: code of its label, such as the type of a
    field, with which a slice that names it is compared. `values`: float64, shape (M, U), in [0, 1]; NaN where the
    result does not count it.
    """

    documents: tuple[str, ...]
    document: IntArray
    page: IntArray
    items: Sequence[Item]
    label: IntArray
    values: FloatArray
    attributes: tuple[Attribute, ...]

    def __len__(self) -> int:
        return len(self.document)
