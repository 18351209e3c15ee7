"""Where the two texts of a poster differ: marked passages, section names, tree of fields, two models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray
from evaluator.formats.json_text import step
from evaluator.formats.posters import Poster, Section, text_of
from evaluator.protocols.posters.comparison import FieldCount, PosterComparison
from evaluator.protocols.posters.evaluation import CRITERIA, PostersResult

TextSide = Literal["reference", "generated"]
Mark = Literal["", "word", "number"]
FieldState = Literal["both", "missing", "fewer", "extra", "more"]
Verdict = Literal["both pass", "A only", "B only", "both fail"]

_CAPTION_PLACE: Final = re.compile(r"\$\.(image|table)Captions?(?:\.captions)?\[(\d+)\](?:\.\w+\[(\d+)\])?")
_SECTION_PLACE: Final = re.compile(r"\$\.posterContent\.sections\[(\d+)\]")


class Piece(NamedTuple):
    """A stretch of text, and whether a word or a number in it is missing (or extra, on the other side)."""

    text: str
    mark: Mark


class Passage(NamedTuple):
    """One string of a poster's JSON: its place, and its text in pieces that together are the string."""

    place: str
    pieces: tuple[Piece, ...]

    @property
    def marked(self) -> int:
        """Return how many pieces are marked."""
        return sum(bool(piece.mark) for piece in self.pieces)


def passages(comparison: PosterComparison, side: TextSide = "reference") -> tuple[Passage, ...]:
    """Return the strings of one side, in document order, with everything marked that the other lacks.

    Marks follow the profile: under ``published`` a comma with a blank joins two words, so both sides of it are marked
    even where they are in two strings. A number that is missing is marked as a number although its digits are words.
    """
    poster = comparison.reference if side == "reference" else comparison.generated
    spans = list(_marked_spans(comparison, poster, side))
    passages: list[Passage] = []
    first = 0
    for place, start, text in _strings(poster.content):
        end = start + len(text)
        while first < len(spans) and spans[first][1] <= start:
            first += 1
        passages.append(Passage(place, tuple(_pieces(text, start, end, spans, first))))
    return tuple(passages)


def _marked_spans(comparison: PosterComparison, poster: Poster, side: TextSide) -> Iterator[tuple[int, int, Mark]]:
    """Yield start, end and mark of every stretch of the whole text where something is missing or extra."""
    profile = comparison.profile
    mine, others = ("reference", "generated") if side == "reference" else ("generated", "reference")
    words = getattr(comparison.words, mine) - getattr(comparison.words, others)
    numbers = getattr(comparison.numbers, mine) - getattr(comparison.numbers, others)
    for match in profile.span.finditer(text_of(poster.content)):
        normal = profile.normalised(match.group())
        if profile.numbers(normal)[0] & numbers:
            yield match.start(), match.end(), "number"
        elif profile.words(normal) & words:
            yield match.start(), match.end(), "word"


def _pieces(text: str, start: int, end: int, spans: Sequence[tuple[int, int, Mark]], first: int) -> Iterator[Piece]:
    """Yield a string cut at the marks that lie in it; `spans` from `first` on may."""
    at = start
    for left, right, mark in spans[first:]:
        if left >= end:
            break
        left, right = max(left, start), min(right, end)  # noqa: PLW2901 - the part of it in this string
        if left > at:
            yield Piece(text[at - start : left - start], "")
        yield Piece(text[left - start : right - start], mark)
        at = right
    if at < end:
        yield Piece(text[at - start :], "")


def _strings(content: object) -> list[tuple[str, int, str]]:
    """Return place, offset in `text_of` and text of every string that is not empty."""
    strings: list[tuple[str, int, str]] = []

    def walk(value: object, place: str, at: int) -> int:
        if isinstance(value, str):
            if value:
                strings.append((place, at, value))
            return at + len(value)
        inner: list[tuple[str, object]] = []
        if isinstance(value, dict):
            inner = [(step(place, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            inner = [(f"{place}[{number}]", item) for number, item in enumerate(value)]
        for number, (below, item) in enumerate(inner):
            # One blank between two values, also when a value holds no text.
            at = walk(item, below, at + (number > 0))
        return at

    walk(content, "$", 0)
    return strings


def section_name(section: Section) -> str:
    """Return what a section is called on screen: its title, or which caption it is.

    >>> section_name(Section("$.imageCaptions.captions[1].captionParts[0]", "", "Figure 2."))
    'Image caption 2, part 1'
    >>> section_name(Section("$.posterContent.sections[4].sectionContent", "", "..."))
    'Section 5'
    """
    if section.title.strip():
        return section.title
    if match := _CAPTION_PLACE.match(section.place):
        kind, number, part = match.groups()
        return f"{kind.capitalize()} caption {int(number) + 1}" + (f", part {int(part) + 1}" if part else "")
    match = _SECTION_PLACE.match(section.place)
    return f"Section {int(match[1]) + 1}" if match else section.place


@dataclass(frozen=True)
class FieldNode:
    """A field of the two objects in the tree of all fields.

    `name`: what it adds to the path of its parent. `path`: with ``[*]`` for the index of an array. `depth`: 0 at the
    top. `reference`, `generated`: how often it occurs there with a value.
    """

    name: str
    path: str
    depth: int
    reference: int
    generated: int

    @property
    def state(self) -> FieldState:
        """Return whether the extraction has the field, and as often as the reference."""
        if not self.generated:
            return "missing"
        if not self.reference:
            return "extra"
        if self.generated == self.reference:
            return "both"
        return "fewer" if self.generated < self.reference else "more"


def field_tree(fields: Sequence[FieldCount]) -> tuple[FieldNode, ...]:
    """Return all fields of two objects as a tree, parents before their children, in order of the paths."""
    counts = {field.path: field for field in fields}
    children: dict[str, list[str]] = {}
    for path in sorted(counts):
        children.setdefault(_parent(path, counts), []).append(path)
    nodes: list[FieldNode] = []

    def add(parent: str, depth: int) -> None:
        for path in children.get(parent, ()):
            name = path.removeprefix(parent).removeprefix("[*]").lstrip(".")
            nodes.append(FieldNode(name, path, depth, counts[path].reference, counts[path].generated))
            add(path, depth + 1)

    add("$", 0)
    return tuple(nodes)


def _parent(path: str, known: dict[str, FieldCount]) -> str:
    """Return the longest known path that a path continues; ``$`` for none."""
    for end in range(len(path) - 1, 1, -1):
        if path[end] in ".[" and path[:end] in known:
            return path[:end]
    return "$"


@dataclass(frozen=True, eq=False)
class PosterColumns:
    """The four criteria and verdicts of P posters as columns by id, sorted, without the texts behind them.

    `values`: float64, shape (P, 4), the criteria in the order of `CRITERIA`; NaN where undefined or not compared.
    `failed`: the criteria that are not met. `errors`: why a poster could not be compared, empty when it was. `sources`:
    where its extracted text is from, empty when not given.
    """

    ids: tuple[str, ...]
    values: FloatArray
    failed: tuple[tuple[str, ...], ...]
    errors: tuple[str, ...]
    sources: tuple[str, ...]

    @cached_property
    def passes(self) -> BoolArray:
        """Return whether a poster was compared and meets every criterion, bool, shape (P,)."""
        return np.array(
            [not failed and not error for failed, error in zip(self.failed, self.errors, strict=True)], dtype=bool
        )

    def of(self, poster_id: str) -> int | None:
        """Return the row of a poster; None when it is not there."""
        return self._rows.get(poster_id)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {poster_id: row for row, poster_id in enumerate(self.ids)}


def columns_of(result: PostersResult) -> PosterColumns:
    """Return the columns of a result; of length 0 for no posters.

    Every text is compared for it. What was computed goes with `result`: the words need no memory once it is let go.
    """
    values = [result.column(criterion) for criterion in CRITERIA]
    return PosterColumns(
        ids=tuple(poster.poster_id for poster in result.posters),
        values=np.column_stack(values),
        failed=tuple(poster.failed for poster in result.posters),
        errors=tuple(poster.error or "" for poster in result.posters),
        sources=tuple(poster.source or "" for poster in result.posters),
    )


def worst_first(columns: Sequence[PosterColumns]) -> tuple[str, ...]:
    """Return the ids of every poster of some models, worst first.

    Those that no model could compare, then by how many criteria the models fail together, then by the lowest sum of the
    three shares, then by id.
    """
    keys: dict[str, tuple[int, int, float]] = {}
    for model in columns:
        shares = np.where(np.isfinite(model.values[:, :3]), model.values[:, :3], 0.0).sum(axis=1)
        for row, poster_id in enumerate(model.ids):
            errors, failed, share = keys.get(poster_id, (0, 0, 0.0))
            error = bool(model.errors[row])
            keys[poster_id] = (errors - error, failed - len(model.failed[row]), share + float(shares[row]))
    return tuple(sorted(keys, key=lambda poster_id: (*keys[poster_id], poster_id)))


def most_lost_first(pairs: PosterPairs) -> tuple[str, ...]:
    """Return the ids of the posters of two models, those on which the second loses most first.

    By the lowest sum of the differences of the three shares, undefined ones being 0; equal ones by id.
    """
    lost = np.nan_to_num(pairs.difference[:, :3]).sum(axis=1)
    return tuple(pairs.ids[row] for row in np.argsort(lost, kind="stable"))


@dataclass(frozen=True, eq=False)
class PosterPairs:
    """The P posters of two models side by side, sorted by id.

    `a`, `b`: float64, shape (P, 4), the criteria; NaN where undefined, not compared, or not there. `verdicts`: ``both
    pass``, ``A only``, ``B only`` or ``both fail``.
    """

    ids: tuple[str, ...]
    a: FloatArray
    b: FloatArray
    verdicts: tuple[Verdict, ...]

    @property
    def difference(self) -> FloatArray:
        """Return B minus A, float64, shape (P, 4); NaN where one of the two is not a number."""
        return self.b - self.a


def paired(a: PosterColumns, b: PosterColumns) -> PosterPairs:
    """Return the posters of two models side by side; of no posters, empty columns."""
    ids = tuple(sorted({*a.ids, *b.ids}))
    values = [np.full((len(ids), len(CRITERIA)), np.nan) for _ in (a, b)]
    passed = np.zeros((len(ids), 2), dtype=bool)
    for side, (columns, kept) in enumerate(zip((a, b), values, strict=True)):
        for row, poster_id in enumerate(ids):
            if (own := columns.of(poster_id)) is not None:
                kept[row] = columns.values[own]
                passed[row, side] = columns.passes[own]
    return PosterPairs(ids, values[0], values[1], tuple(_VERDICTS[one, other] for one, other in passed.tolist()))


_VERDICTS: Final[Mapping[tuple[bool, bool], Verdict]] = {
    (True, True): "both pass",
    (True, False): "A only",
    (False, True): "B only",
    (False, False): "both fail",
}
