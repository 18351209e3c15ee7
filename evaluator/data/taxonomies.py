"""Labels of well-known taxonomies under those of another one, by the meanings in ``taxonomies.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

NAMES: Final = (
    "doclaynet", "publaynet", "docbank", "m6doc", "d4la", "omnidocbench", "pp-doclayout", "docling", "mineru",
)  # fmt: skip
"""The taxonomies, as they are chosen."""


class Taxonomy(NamedTuple):
    """A list of labels with their meanings, where it is from, and the format whose files have these labels."""

    title: str
    source: str
    labels: Mapping[str, str]
    format: str = ""


class Renamed(NamedTuple):
    """New names of labels by their old ones, and the labels for which there is none."""

    names: Mapping[str, str]
    left: tuple[str, ...]


@cache
def taxonomy(name: str) -> Taxonomy:
    """Return a taxonomy of `NAMES`."""
    return Taxonomy(**_tables()[name])


@cache
def wider_meanings() -> Mapping[str, str]:
    """Return the meaning that covers each meaning; "" for none."""
    wider: Mapping[str, str] = _tables()["wider"]
    return wider


def under_names_of(target: str, labels: Sequence[str], format: str = "") -> Renamed:
    """Return the labels of a file under those of a taxonomy; of `format` where that says which taxonomy they are of.

    Else they are of the taxonomy that has most of them. Where several have as many and say different things of a
    label, it is left.

    >>> under_names_of("publaynet", ["Title", "Section-header", "Formula"])
    Renamed(names={'Title': 'title', 'Section-header': 'title'}, left=('Formula',))
    """
    known = taxonomy(target).labels
    if known.keys() >= {*labels}:
        return Renamed({}, ())
    of = [taxonomy(name) for name in NAMES]
    held = [sum(label in each.labels for label in labels) for each in of]
    likely = [each for each in of if each.format == format != ""] or [
        each for each, count in zip(of, held, strict=True) if count == max(held) > 0
    ]
    meant = {label: {_named(target, each.labels.get(label, "")) for each in likely} for label in labels}
    names = {label: next(iter(each)) for label, each in meant.items() if len(each) == 1}
    left = tuple(label for label in labels if not names.get(label))
    return Renamed({old: new for old, new in names.items() if new not in ("", old)}, left)


def taxonomies_of(labels: Sequence[str]) -> Iterator[str]:
    """Yield the taxonomies that have all of some labels; none without labels."""
    yield from (name for name in NAMES if labels and taxonomy(name).labels.keys() >= {*labels})


def _named(target: str, meaning: str) -> str:
    """Return the first label of a taxonomy for a meaning, or for the next wider one.

    "" for none, and for a meaning that the taxonomy divides: which of its labels is meant is not known.
    """
    held = taxonomy(target).labels
    while meaning:
        if label := next((label for label, of_label in held.items() if of_label == meaning), ""):
            return label
        if any(meaning in _widening(each) for each in held.values()):
            return ""
        meaning = wider_meanings()[meaning]
    return ""


def _widening(meaning: str) -> Iterator[str]:
    while meaning := wider_meanings()[meaning]:
        yield meaning


@cache
def _tables() -> dict[str, dict]:  # type: ignore[type-arg]
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
