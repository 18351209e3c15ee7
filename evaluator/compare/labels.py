"""Label sets that differ: labels that only one model knows, and names in two spellings. Nothing is renamed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evaluator.data.label_names import same_but_for_spelling


class LabelNotes(NamedTuple):
    """How the labels of two models differ: proposed new name by old name, and sentences."""

    mapping: dict[str, str]
    sentences: tuple[str, ...]


def label_notes(a: Sequence[str], b: Sequence[str], truth: Sequence[str] = (), *, names: Sequence[str]) -> LabelNotes:
    """Return notes on the labels of two models, called `names`; the spelling of the ground truth is kept.

    A mapping is proposed for names that are equal but for case, punctuation and blanks, when they are so with one name
    of the ground truth, or, where it has none of them, with one of the other model.

    >>> label_notes(["list item"], ["List-item"], names=("A", "B")).mapping
    {'list item': 'List-item'}
    """
    only_a = [label for label in dict.fromkeys(a) if label not in b]
    only_b = [label for label in dict.fromkeys(b) if label not in a]
    strange = [label for label in dict.fromkeys([*a, *b]) if label not in truth]
    mapping = same_but_for_spelling([label for label in only_a if label in strange], only_b)
    mapping |= same_but_for_spelling(strange, truth)
    alone = zip(names, (only_a, only_b), strict=False)
    sentences = [f"{', '.join(labels)}: only in {name}." for name, labels in alone if labels]
    if mapping:
        options = " ".join(f'--map-label "{old}={new}"' for old, new in mapping.items())
        sentences.append(f"Equal but for case and punctuation; to compare them as one label: {options}.")
    return LabelNotes(mapping, tuple(sentences))
