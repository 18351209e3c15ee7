"""Ids that are written as text: whole numbers for the columns, and the way back to what the file states.

Owns which ids of a file are numbered, and how an id is written in an issue. Numbers in quotes are the numbers; other
texts are numbered in their order, which is that of pycocotools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from evaluator.data.boxes import IntArray
from evaluator.data.issues import Collector, quote
from evaluator.formats.json_text import has_lone_surrogate

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
# Of 64 bits.
_LARGEST: Final = 2**63
_PLACES: Final = {
    "images": (("images", "id"), ("annotations", "image_id")),
    "categories": (("categories", "id"), ("annotations", "category_id")),
    "annotations": (("annotations", "id"),),
}

Texts = Sequence[str] | None
"""The text of each number; None where ids are whole numbers."""


class IdTexts(NamedTuple):
    """The texts of the ids of a file."""

    images: Texts = None
    categories: Texts = None
    annotations: Texts = None


WHOLE_NUMBERS: Final = IdTexts()


def id_text(number: int, texts: Texts) -> str:
    """Return an id as other files name it."""
    return str(number) if texts is None else texts[number]


def id_texts(numbers: IntArray, texts: Texts) -> list[str]:
    """Ids as other files name them."""
    return list(map(str if texts is None else texts.__getitem__, numbers.tolist()))


def quoted_id(number: int, texts: Texts) -> str:
    """Return an id as an issue shows it."""
    return str(number) if texts is None else quote(texts[number])


def by_number(ids: Sequence[str]) -> list[object]:
    """Keys that sort ids as pycocotools does: whole numbers by value, others as texts."""
    keys = list(ids)
    return [*map(int, keys)] if all(map(_WHOLE.fullmatch, keys)) else [*keys]


def number_ids(parts: Mapping[str, Sequence[object]], place: str, collector: Collector) -> IdTexts:
    """Replace ids that are texts by whole numbers, in the objects themselves; leave any others as they are.

    `parts`: the entries under ``images``, ``categories`` and ``annotations``. `place`: JSON path of the annotations.
    """
    texts: dict[str, Texts] = {}
    for kind, places in _PLACES.items():
        held = [
            (entry, key, f"{place if name == 'annotations' else f'$.{name}'}[{row}].{key}")
            for name, key in places
            for row, entry in _objects(parts.get(name, ()), key)
        ]
        first = next(((entry[key], where) for entry, key, where in held if isinstance(entry[key], str)), None)
        if first is None:
            continue
        keys = sorted({_text(entry[key]) for entry, key, _ in held})
        whole = all(map(_WHOLE.fullmatch, keys))
        number = {key: int(key) if whole else rank for rank, key in enumerate(keys)}
        if not whole:
            texts[kind] = keys
            rule = f"ids of {kind} should be whole numbers (COCO format)"
            fix = "They are compared as they are written; a number and the same in quotes are one id."
            collector.warning(first[1], rule, quote(first[0]), fix)
        for entry, key, _ in held:
            entry[key] = number[_text(entry[key])]
    return IdTexts(**texts)


def _objects(entries: Sequence[Any], key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Position and object of the entries that have an id under a key: a text, or a whole number, written 5 or 5.0."""
    for row, entry in enumerate(entries):
        value = entry.get(key) if isinstance(entry, dict) else None
        usable = isinstance(value, str) and value != "" and not has_lone_surrogate(value)
        whole = isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST
        if usable or whole or (isinstance(value, int) and not isinstance(value, bool)):
            yield row, entry


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else str(int(value))
