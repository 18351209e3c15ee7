"""Labels that two files call differently: proposals from their names, and from the overlap of their boxes.

Owns which label of a model is probably which of the ground truth, and how sure that is. Nothing is renamed here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.model.boxes import IntArray

# Below these a proposal from overlap alone is a guess.
_FEWEST: Final = 3
_LEAST_SHARE: Final = 0.6


class Overlaps(NamedTuple):
    """Of boxes of each label, how many lie on a box of each label of another file.

    Attributes
    ----------
    counts : int64, shape (L,)
        Boxes of each label.
    compared : int64, shape (L,)
        Those of them on pages that were looked at and on which the other file has boxes.
    table : int64, shape (L, K)
        Those of them with IoU 0.5 or more with a box of a label; the best one counts.
    """

    counts: IntArray
    compared: IntArray
    table: IntArray


class LabelProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A label of a model and the label of the ground truth that it probably is.

    Attributes
    ----------
    label : str
        Of the model; the ground truth does not have it.
    boxes : int
        How many boxes of the model have it.
    proposal : str or None
        The label of the ground truth; None when nothing speaks for one.
    compared : int
        How many of the boxes were looked at: those on pages of the ground truth, of many pages a sample.
    overlapping : int
        How many of these overlap one of the proposed label with IoU 0.5 or more.
    reason : "name", "overlap" or ""
        Whether the names are equal but for spelling, or most boxes lie on boxes of that label.
    """

    label: str
    boxes: int
    proposal: str | None
    compared: int
    overlapping: int
    reason: str


def folded(label: str) -> str:
    """The letters and digits of a label in one case."""
    normal = unicodedata.normalize("NFKC", label).casefold()
    return "".join(char for char in normal if char.isalnum()) or label


def same_but_for_spelling(labels: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """The known name by label, for labels that are equal to exactly one known name but for case and punctuation."""
    by_folded: dict[str, list[str]] = {}
    for name in dict.fromkeys(known):
        by_folded.setdefault(folded(name), []).append(name)
    spellings = {label: by_folded.get(folded(label), []) for label in labels if label not in set(known)}
    return {label: names[0] for label, names in spellings.items() if len(names) == 1}


def proposals(labels: Sequence[str], known: Sequence[str], overlaps: Overlaps) -> tuple[LabelProposal, ...]:
    """A proposal for each label of a model that the ground truth does not have.

    Parameters
    ----------
    labels, known : sequence of str
        Of the model and of the ground truth.
    overlaps : Overlaps
        Of boxes of the model on boxes of the ground truth.

    Returns
    -------
    tuple of LabelProposal
        Most boxes first; empty when the ground truth has every label that has boxes.
    """
    by_name = same_but_for_spelling(labels, known)
    proposed = []
    for row, label in enumerate(labels):
        if label in known or not overlaps.counts[row]:
            continue
        lying, compared = overlaps.table[row], int(overlaps.compared[row])
        best = int(np.argmax(lying)) if len(known) else 0
        most = int(lying[best]) if len(known) else 0
        proposal, reason = by_name.get(label), "name"
        if proposal is not None:
            most = int(lying[list(known).index(proposal)])
        elif most >= _FEWEST and most >= _LEAST_SHARE * int(lying.sum()) and 2 * most >= _LEAST_SHARE * compared:
            # Of the boxes that lie on anything, most lie on this label.
            proposal, reason = known[best], "overlap"
        proposed.append(
            LabelProposal(
                label=label,
                boxes=int(overlaps.counts[row]),
                proposal=proposal,
                compared=compared,
                overlapping=most,
                reason=reason if proposal is not None else "",
            )
        )
    return tuple(sorted(proposed, key=lambda each: (-each.boxes, each.label)))
