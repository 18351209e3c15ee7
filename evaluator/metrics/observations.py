"""What is observed one by one and has attributes: the columns in which slices are searched.

Owns `Attribute`, a column with one value for each thing; `MeasureWords`, how a measure reads that is a mean over
things; and `Observations`, the things of a protocol that does not match boxes one to one: fields, posters, words of a
poster, labels of a page. A protocol gives them (`Protocol.observations`), so that a search needs to know no protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from evaluator.metrics.item_ledger import Item
from evaluator.model.boxes import FloatArray, IntArray

AttributeKind = Literal["category", "number"]
Level = Literal["box", "page", "document"]


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """One attribute of N boxes, or of N other things.

    Attributes
    ----------
    name : str
        As in conditions, JSON and named slices.
    kind : "category" or "number"
    values : float64, shape (N,)
        Numbers, or codes into `names`; NaN where it is not known.
    names : tuple of str
        The categories; empty for numbers.
    level : "box", "page" or "document"
        What it is an attribute of; "box" also for a field, a word or another thing on a page.
    whole : bool
        Whether its numbers are counts.
    """

    name: str
    kind: AttributeKind
    values: FloatArray
    names: tuple[str, ...] = ()
    level: Level = "box"
    whole: bool = False

    def take(self, rows: IntArray) -> Attribute:
        """The attribute of some of the boxes."""
        return Attribute(self.name, self.kind, self.values[rows], self.names, self.level, self.whole)


def number(
    name: str, values: Sequence[float] | FloatArray | IntArray, level: Level = "box", *, whole: bool = False
) -> Attribute:
    """An attribute of numbers."""
    return Attribute(name, "number", np.asarray(values, np.float64), (), level, whole)


def category(name: str, values: Sequence[str | None], level: Level = "box") -> Attribute:
    """An attribute of categories from their names, in the order of the alphabet; None is not known.

    Examples
    --------
    >>> category("source", ["b", None, "a"]).values
    array([ 1., nan,  0.])
    """
    names = tuple(sorted({each for each in values if each is not None}))
    code = {name: float(place) for place, name in enumerate(names)}
    codes = [float("nan") if each is None else code[each] for each in values]
    return Attribute(name, "category", np.array(codes, dtype=np.float64), names, level)


class MeasureWords(NamedTuple):
    """How a measure reads that is a mean over things.

    Attributes
    ----------
    title : str
        In a sentence.
    noun : str
        What it is a mean over, as a plural.
    wrong : str
        What a thing is called that lowers it.
    lost : str
        What a slice costs.
    unit : str
        One of what it is a mean over.
    fits : bool
        Whether a thing has any value from 0 to 1, else it is right or wrong.
    scored : bool
        Whether it is about predictions, whose score can be an attribute.
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
    """The things that a measure of a protocol is a mean over, of M results of one ground truth.

    Attributes
    ----------
    documents : tuple of str
        Ids; what is independent.
    document : int64, shape (U,)
        Code into `documents` of each thing.
    page : int64, shape (U,)
        Page from 0 whose attributes the thing has too; -1 where it is on none.
    items : sequence of Item, length U
        Where each thing is, for people.
    label : int64, shape (U,)
        Code of its label, such as the type of a field: what a slice that names one is compared with.
    values : float64, shape (M, U), in [0, 1]
        What it adds to the mean of each result; NaN where the result does not count it.
    attributes : tuple of Attribute
        Of the things.
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
