"""Labels that two files call differently: proposals from their names, and from the overlap of their boxes.

Owns which label of a model is probably which of the ground truth, and how sure that is. Nothing is renamed here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from evaluator.model.boxes import IntArray

# Below these a proposal from overlap alone is a guess.
_FEWEST: Final = 3
_LEAST_SHARE: Final = 0.6


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
    overlapping : int
        How many of the boxes overlap one of the proposed label with IoU 0.5 or more.
    reason : "name", "overlap" or ""
        Whether the names are equal but for spelling, or most boxes lie on boxes of that label.
    """

    label: str
    boxes: int
    proposal: str | None
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


def proposals(
    labels: Sequence[str], known: Sequence[str], counts: IntArray, overlaps: IntArray
) -> tuple[LabelProposal, ...]:  # fmt: skip
    """A proposal for each label of a model that the ground truth does not have.

    Parameters
    ----------
    labels, known : sequence of str
        Of the model and of the ground truth.
    counts : int64, shape (L,)
        Boxes of each label of the model.
    overlaps : int64, shape (L, K)
        How many boxes of a label lie on a box of a known label.

    Returns
    -------
    tuple of LabelProposal
        Most boxes first; empty when the ground truth has every label that has boxes.
    """
    by_name = same_but_for_spelling(labels, known)
    proposed = []
    for row, label in enumerate(labels):
        if label in known or not counts[row]:
            continue
        best = int(np.argmax(overlaps[row])) if len(known) else 0
        most = int(overlaps[row, best]) if len(known) else 0
        proposal, reason = by_name.get(label), "name"
        if proposal is not None:
            most = int(overlaps[row, list(known).index(proposal)])
        elif most >= min(_FEWEST, int(counts[row])) and most >= _LEAST_SHARE * max(int(overlaps[row].sum()), 1):
            # Of the boxes that lie on anything, most lie on this label.
            proposal, reason = (known[best], "overlap") if 2 * most >= _LEAST_SHARE * counts[row] else (None, "")
        proposed.append(
            LabelProposal(
                label=label,
                boxes=int(counts[row]),
                proposal=proposal,
                overlapping=most,
                reason=reason if proposal is not None else "",
            )
        )
    return tuple(sorted(proposed, key=lambda each: (-each.boxes, each.label)))
