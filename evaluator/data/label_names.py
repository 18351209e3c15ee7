"""Labels that two files call differently: proposals from their names, and from the overlap of their boxes."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import IntArray

# Below these a proposal from overlap alone is a guess; so often are labels shuffled to see what chance brings.
_FEWEST: Final = 3
_LEAST_SHARE: Final = 0.6
_SHUFFLES: Final = 99
# A rule for all labels brings at least so much of what each label by itself brings.
_AS_MANY: Final = 0.9
# Labels are exchanged when so much more of the boxes lie on their label then.
_LEAST_GAIN: Final = 0.1


LabelTable = Counter[tuple[int, int]]
"""How many boxes of a label of one file, by its code, lie on one of a label of another."""


class Overlaps(NamedTuple):
    """How many boxes of each label lie on a box of each label of another file.

    `counts`: boxes of each label, (L,). `compared`: those on pages that were looked at and where the other file has
    boxes. `table`: those with IoU 0.5 or more with a box of a label; the best one counts. `known`: boxes of each label
    of the other file on these pages, (K,).
    """

    counts: IntArray
    compared: IntArray
    table: LabelTable
    known: IntArray


class LabelProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A label of a model, and the label of the ground truth that it probably is.

    `proposal`: None when nothing speaks for one. `compared`: boxes on pages that were looked at, of many pages a
    sample. `overlapping`: of these, those that overlap one of the proposed label with IoU 0.5 or more. `reason`: "name"
    (equal but for spelling), "overlap" or "".
    """

    label: str
    boxes: int
    proposal: str | None
    compared: int
    overlapping: int
    reason: str


def folded(label: str) -> str:
    """Return the letters and digits of a label in one case."""
    normal = unicodedata.normalize("NFKC", label).casefold()
    return "".join(char for char in normal if char.isalnum()) or label


def same_but_for_spelling(labels: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Return the known name by label, where it equals exactly one but for case and punctuation."""
    by_folded: dict[str, list[str]] = {}
    for name in dict.fromkeys(known):
        by_folded.setdefault(folded(name), []).append(name)
    same = set(known)
    spellings = {label: by_folded.get(folded(label), []) for label in labels if label not in same}
    return {label: names[0] for label, names in spellings.items() if len(names) == 1}


class Exchanged(NamedTuple):
    """The other label by label, of labels that both files have, and what that is in words; empty for nothing."""

    names: Mapping[str, str]
    words: str = ""


def exchanged(labels: Sequence[str], known: Sequence[str], overlaps: Overlaps, fewest: int = _FEWEST) -> Exchanged:
    """Return which labels that both files have stand for one another: the boxes of each lie on those of another one.

    `overlaps` is of boxes of the model on boxes of the ground truth. Nothing when two labels would become one: a model
    may take one kind for another, but then none takes its place. Fewer than `fewest` boxes of a label are no sign, but
    those of all labels are where none of 99 orders of the labels brings as many in place.
    """
    each = _exchanged(labels, known, overlaps, fewest)
    together = each if each.words or fewest == 1 else _exchanged(labels, known, overlaps, 1)
    return together if together.names == each.names or beyond_chance(labels, known, overlaps, together) else each


def _exchanged(labels: Sequence[str], known: Sequence[str], overlaps: Overlaps, fewest: int) -> Exchanged:
    code, table = {label: at for at, label in enumerate(known)}, overlaps.table
    shared = {row: label for row, label in enumerate(labels) if label in code}
    lying = sum(count for (row, _), count in table.items() if row in shared)
    own = {row: code[label] for row, label in shared.items()}
    taken = _one_to_one(table, own, fewest)
    others = set(taken.values())
    # The others stay what they are.
    taken |= {row: at for row, at in own.items() if row not in taken and at not in others}
    on_taken = sum(table[cell] for cell in taken.items())
    for words, rule in _orders(known):
        # Labels of few boxes follow the rule that most boxes follow.
        following = sum(table[row, code[rule[label]]] for row, label in shared.items())
        if following > _LEAST_SHARE * lying and following >= _AS_MANY * on_taken:
            return Exchanged({label: rule[label] for label in shared.values() if rule[label] != label}, words)
    moved = {row: taken[row] for row, at in own.items() if taken.get(row, at) != at}
    gained = sum(table[row, to] - table[row, own[row]] for row, to in moved.items())
    names = {shared[row]: known[to] for row, to in moved.items()}
    # Where it is no chance, and labels are mixed up besides, most is enough.
    least = _LEAST_SHARE if fewest > 1 else 0.5
    return Exchanged(names if on_taken > least * lying and gained > _LEAST_GAIN * lying else {})


def _one_to_one(table: LabelTable, own: Mapping[int, int], fewest: int) -> dict[int, int]:
    """Return a column by row of `own`: most boxes first; of equally many a row has its own one."""
    most: dict[int, int] = {}
    for (at, _), count in table.items():
        most[at] = max(count, most.get(at, 0))
    cells = [(count, at, to) for (at, to), count in table.items() if at in own and 2 * count >= most[at]]
    cells.sort(key=lambda cell: (-cell[0], own[cell[1]] != cell[2], cell[1:]))
    taken: dict[int, int] = {}
    others = set[int]()
    for least in (fewest, 1):
        for count, at, to in cells:
            enough = count >= (fewest if own[at] not in others else least)
            if enough and at not in taken and to not in others:
                taken[at] = to
                others.add(to)
    return taken


def beyond_chance(labels: Sequence[str], known: Sequence[str], overlaps: Overlaps, meant: Exchanged) -> bool:
    """Tell whether none of 99 orders brings as many boxes of the labels that are meant otherwise in place."""
    row, code = ({label: at for at, label in enumerate(names)} for names in (labels, known))
    rows, width = dict.fromkeys((row[label] for label in meant.names), -1), len(known)
    boxes = Counter({cell: count for cell, count in sorted(overlaps.table.items()) if cell[0] in rows})
    ours, theirs = np.array([*boxes.elements()], dtype=np.int64).reshape(-1, 2).T
    reached = sum(overlaps.table[row[old], code[new]] for old, new in meant.names.items())
    rng = np.random.default_rng(0)
    for _ in range(_SHUFFLES):
        cells, counts = np.unique(ours * width + rng.permutation(theirs), return_counts=True)
        places = zip((cells // width).tolist(), (cells % width).tolist(), strict=True)
        mixed = Counter(dict(zip(places, counts.tolist(), strict=True)))
        if sum(mixed[cell] for cell in _one_to_one(mixed, rows, 1).items()) >= reached:
            return False
    return True


def _orders(known: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the ways in which a list of labels is taken for another one, in words, and the label by label."""
    names, by_name = list(dict.fromkeys(known)), sorted(set(known))
    ways = (
        ("each label read as the next one of the ground truth", names, [*names[1:], *names[:1]]),
        ("each label read as the previous one of the ground truth", names, [*names[-1:], *names[:-1]]),
        ("labels in the order of the file read as in alphabetical order", names, by_name),
        ("labels in alphabetical order read as in the order of the file", by_name, names),
    )
    for words, old, new in ways:
        # Of two labels there is but one way, which is said label by label.
        if sum(one != other for one, other in zip(old, new, strict=True)) > 2:
            yield words, dict(zip(old, new, strict=True))


def proposals(labels: Sequence[str], known: Sequence[str], overlaps: Overlaps) -> tuple[LabelProposal, ...]:
    """Return a proposal for each label of a model that the ground truth does not have, most boxes first.

    `overlaps` is of boxes of the model on boxes of the ground truth. Labels without boxes are left out.
    """
    by_name = same_but_for_spelling(labels, known)
    code = {label: at for at, label in enumerate(known)}
    lying_on: dict[int, dict[int, int]] = {}
    for (row, to), count in sorted(overlaps.table.items()):
        lying_on.setdefault(row, {})[to] = count
    proposed = []
    for row, label in enumerate(labels):
        if label in code or not overlaps.counts[row]:
            continue
        lying, compared = lying_on.get(row, {}), int(overlaps.compared[row])
        best = max(lying, key=lying.__getitem__, default=0)
        most = lying.get(best, 0)
        proposal, reason = by_name.get(label), "name"
        if proposal is not None:
            most = lying.get(code[proposal], 0)
        elif (
            most >= _FEWEST
            and 2 * most > sum(lying.values())
            and 3 * most >= _LEAST_SHARE * min(compared, int(overlaps.known[best]))
        ):
            # Of the boxes that lie on anything, most lie on this label, and many of either side do.
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
