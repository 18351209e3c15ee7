"""Pairs of texts of a page as the quick match of OmniDocBench 1.5 makes them: joined, assigned, found in one another.

Costs are normalised edit distances. Where several assignments cost the same that of SciPy decides, and the order of a
set of numbers; both are part of the published numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeVar

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.protocols.omnidocbench.markdown import Item
from evaluator.protocols.omnidocbench.normal_forms import needed, normal_formula, normal_text

IGNORED: Final = (
    "figure_caption", "figure_footnote", "table_caption", "table_footnote", "code_algorithm", "code_algorithm_caption",
    "header", "footer", "page_footnote", "page_number", "equation_caption",
)  # fmt: skip
"""Categories that are paired first and not counted."""
FORMULA: Final = "equation_isolated"

_GOOD: Final = 0.25
_TOO_FAR: Final = 0.7
_PIECE: Final = 0.6
_INSIDE: Final = 0.4
_ARRAY: Final = re.compile(r"\\begin\{array\}\{(?P<columns>[^}]*)\}(?P<rows>.*?)\\end\{array\}", re.DOTALL)
_COLUMN_MARKS: Final = re.compile(r"\s+|\||[@!]\{[^}]*\}")

Units = list[list[int]]
T = TypeVar("T")


class Truth(NamedTuple):
    """A true item: its category, its text or LaTeX, and its number in the reading order, None for none."""

    category: str
    text: str
    order: float | None


class Entry(NamedTuple):
    """True items and predicted ones that are compared as one, in their normal forms and as they are.

    `orders` are the numbers of the true items, None for none; `position` is the start of the first predicted one, and
    `of_formula` whether that is a formula; None without any.
    """

    category: str
    truth: str
    predicted: str
    raw_truth: str
    raw_predicted: str
    orders: tuple[float | None, ...]
    position: int | None
    of_formula: bool | None


class _Line(NamedTuple):
    raw: str
    normal: str


def quick_match(truths: Sequence[Truth], items: Sequence[Item]) -> list[Entry]:
    """Return the entries of a page, in the order in which its program makes them; predictions alone are left out."""
    truths = [part for each in truths for part in _rows_of_truth(each)]
    ordered = sorted(items, key=lambda item: (item.inline, item.start))
    items = [part for each in ordered for part in _rows_of_item(each)]
    return list(_Page(truths, items).entries())


def distances(first: Sequence[str], second: Sequence[str]) -> FloatArray:
    """Return the normalised edit distance of each text with each other one, 0 of two empty ones."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    edits = cdist(list(first), list(second), scorer=Levenshtein.distance, dtype=np.int64)
    longest = np.maximum.outer([len(text) for text in first], [len(text) for text in second])
    return np.asarray(edits / np.maximum(longest, 1), dtype=np.float64)


def assigned(costs: FloatArray) -> Iterator[tuple[int, int]]:
    """Yield the rows and columns of the cheapest assignment."""
    if costs.size:
        rows, columns = needed("scipy.optimize").linear_sum_assignment(costs)
        yield from zip(rows.tolist(), columns.tolist(), strict=True)


def _array_rows(latex: str) -> tuple[list[str], re.Match[str]] | None:
    array = _ARRAY.search(latex)
    if array is None or _COLUMN_MARKS.sub("", array["columns"]) not in ("l", "c", "r"):
        return None
    return [row.strip() for row in re.split(r"\\\\", array["rows"]) if row.strip()], array


def _rows_of_truth(truth: Truth) -> Iterator[Truth]:
    held = _array_rows(truth.text) if truth.category == FORMULA else None
    if held is None:
        yield truth
        return
    for number, row in enumerate(held[0], 1):
        yield Truth(FORMULA, rf"\[{row}\]", round((truth.order or 0.0) + number / 10, 1))


def _rows_of_item(item: Item) -> Iterator[Item]:
    held = _array_rows(item.text) if item.is_formula else None
    if held is None:
        yield item
        return
    rows, array = held
    at = 0
    for row in rows:
        begin = array["rows"].find(row, at)
        at = begin + len(row)
        yield item._replace(text=rf"\[{row}\]", start=item.start + array.start("rows") + begin)


class _Page:
    """The lines of a page. Numbers, starts and kinds are looked up in the lists of before empty lines were left out."""

    def __init__(self, truths: Sequence[Truth], items: Sequence[Item]) -> None:
        self._truths, self._items = truths, items
        true = [
            (truth.category, _Line(truth.text, _normal(truth.text, formula=truth.category == FORMULA)))
            for truth in truths
        ]
        self._lines = [(category, line) for category, line in true if line.raw and line.normal]
        read = [_Line(item.text, _normal(item.text, formula=item.is_formula)) for item in items]
        self._read = [line for line in read if line.raw and line.normal]

    def entries(self) -> Iterator[Entry]:
        if not self._lines:
            return
        if not self._read:
            yield from (self._entry([at], []) for at in range(len(self._lines)))
            return
        if len(self._lines) == len(self._read) == 1:
            yield self._entry([0], [0])
            return
        ignored = [at for at, (category, _) in enumerate(self._lines) if category in IGNORED]
        truths = [at for at in range(len(self._lines)) if at not in ignored]
        normal = [line.normal for line in self._read]
        near = distances([self._lines[at][1].normal for at in ignored], normal) < _GOOD
        read = np.flatnonzero(~near.any(axis=0)).tolist() if ignored else list(range(len(normal)))
        yield from (
            self._entry([truths[at] for at in own], [read[at] for at in others])
            for own, others in _match([self._lines[at][1].normal for at in truths], [normal[at] for at in read])
        )

    def _entry(self, truths: Sequence[int], read: Sequence[int]) -> Entry:
        lines = [self._lines[at] for at in truths]
        categories = [category for category, _ in lines]
        first = self._items[read[0]] if read else None
        category = Counter(categories).most_common(1)[0][0]
        raws = [line.raw for _, line in lines]
        return Entry(
            category=category,
            truth="".join(line.normal for _, line in lines),
            predicted="".join(self._read[at].normal for at in read),
            raw_truth=_array_of(raws) if category == FORMULA and len(raws) > 1 else "".join(raws),
            raw_predicted="".join(self._read[at].raw for at in read),
            orders=tuple(self._truths[at].order for at in truths),
            position=None if first is None else first.start,
            of_formula=None if first is None else first.is_formula,
        )


def _normal(text: str, *, formula: bool) -> str:
    return normal_formula(text) if formula else normal_text(text)


def _array_of(formulas: Sequence[str]) -> str:
    rows = " \\\\ ".join("{" + formula.strip("$").strip("\n") + "}" for formula in formulas)
    return f"\\begin{{array}}{{l}} {rows} \\end{{array}}"


def _match(truths: Sequence[str], read: Sequence[str]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield which true lines and which predicted ones are compared as one, none of these for a line alone."""
    units = _joined(truths, read) if truths and read else [[at] for at in range(len(read))]
    texts = [" ".join(read[at] for at in unit) for unit in units]
    costs = distances(truths, texts) if truths and texts else np.zeros((0, 0))
    taken = {row: column for row, column in assigned(costs) if costs[row, column] <= _TOO_FAR}
    entries: dict[tuple[int, ...], list[int]] = {tuple(units[column]): [row] for row, column in sorted(taken.items())}
    alone = [at for at in range(len(truths)) if at not in taken]
    for at, text in enumerate(read):
        inside = [truth for truth in alone if least_distance(text, truths[truth], _INSIDE) < _INSIDE]
        if inside:
            held = {truth for rows in entries.values() for truth in rows}
            entries.setdefault((at,), []).extend(truth for truth in inside if truth not in held)
    # The order of these sets decides between pairs of one cost.
    truths_left = list(set(range(len(truths))) - {truth for rows in entries.values() for truth in rows})
    read_left = list(set(range(len(read))) - {at for unit in entries for at in unit})
    rest: dict[int, int] = {}
    if truths_left and read_left:
        costs = distances([truths[at] for at in truths_left], [read[at] for at in read_left])
        rest = {truths_left[row]: read_left[column] for row, column in assigned(costs)}
    yield from ((sorted(rows), list(unit)) for unit, rows in entries.items() if rows)
    yield from (([truth], [at]) for truth, at in rest.items())
    paired = {*rest, *(truth for rows in entries.values() for truth in rows)}
    yield from (([truth], []) for truth in range(len(truths)) if truth not in paired)


def least_distance(text: str, part: str, below: float) -> float:
    """Return the least edit distance of a part with as long a piece of a text over its length, where it is `below`.

    More than that for any other; and 1 where the text is shorter, or the part empty.
    """
    edits_of, size = _edits(), len(part)
    if not size or size > len(text):
        return 1.0
    least, at = int(below * size) + 2, 0
    while at <= len(text) - size and least:
        edits = edits_of(text[at : at + size], part)
        least = min(least, edits)
        # Each step drops one character and takes one: it changes the distance by two at most.
        at += (edits - least) // 2 + 1
    return least / size


def _joined(truths: Sequence[str], read: Sequence[str]) -> Units:
    """Return the predicted lines in units: those that say one true line together are one."""
    good = distances(truths, read) < _GOOD
    free_truths = np.flatnonzero(~good.any(axis=1)).tolist()
    free = [not any(column) for column in good.T.tolist()]
    chosen: list[tuple[list[int], float]] = []
    for truth in free_truths:
        subsets = [_grown(truths[truth], read, at, free) for at in range(len(read)) if free[at]]
        if subsets:
            chosen.append(min(subsets, key=lambda subset: subset[1]))
    units: Units = [[at] for at in range(len(read))]
    for subset in _apart(chosen):
        at = next(at for at, unit in enumerate(units) if unit[0] == subset[0])
        units[at : at + len(subset)] = [subset]
    return units


def _grown(truth: str, read: Sequence[str], first: int, free: Sequence[bool]) -> tuple[list[int], float]:
    """Return a line with the next ones as long as they say more of a true one, and what they cost together."""
    subset, text = [first], read[first]
    cost = _cost(truth, text)
    while (after := subset[-1] + 1) < len(read) and free[after]:
        longer = f"{text} {read[after]}"
        new = _cost(truth, longer)
        # Every line after the first is in it because it is near enough.
        if new > cost or (len(subset) == 1 and least_distance(truth, text, _PIECE) > _PIECE):
            break
        if least_distance(truth, read[after], _PIECE) >= _PIECE:
            break
        subset, text, cost = [*subset, after], longer, new
        if len(longer) > len(truth):
            break
    return subset, cost


def _cost(first: str, second: str) -> float:
    return _edits()(first, second) / max(len(first), len(second))


@cache
def _edits() -> Callable[[str, str], int]:
    """Return the edit distance, imported once: in each of a million calls it takes a third of their time."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance


def _apart(subsets: Sequence[tuple[list[int], float]]) -> Iterator[list[int]]:
    """Yield subsets that do not overlap: of each group of those that do the ones that cost least on average."""
    groups: list[list[tuple[list[int], float]]] = []
    for subset in sorted(subsets, key=lambda each: each[0][0]):
        if groups and any(set(subset[0]) & set(other[0]) for other in groups[-1]):
            groups[-1].append(subset)
        else:
            groups.append([subset])
    for group in groups:
        paths = [[group[0]]]
        for subset in group[1:] if len(group) > 1 else ():
            joined = False
            for path in paths:
                same = next((other for other in path if other[0] == subset[0]), None)
                if same is not None:
                    joined = True
                    if same[1] > subset[1]:
                        path.remove(same)
                        path.append(subset)
                elif not any(set(subset[0]) & set(other[0]) for other in path):
                    path.append(subset)
                    joined = True
            if not joined:
                paths.append([subset])
        yield from (subset for subset, _ in min(paths, key=lambda path: sum(cost for _, cost in path) / len(path)))
