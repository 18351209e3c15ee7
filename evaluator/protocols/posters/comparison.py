"""The two texts of one poster side by side under a profile: words, numbers, sections and fields."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypedDict

import numpy as np

from evaluator.data import text
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.formats.json_text import step
from evaluator.formats.posters import Poster, Section, text_of
from evaluator.protocols.posters.profiles import Profile

Winner = Literal["global", "sections"]


class PosterMetrics(TypedDict):
    """The four criteria of one poster, or their means; undefined is None."""

    word_capture: float | None
    rouge_l: float | None
    number_capture: float | None
    field_proportion: float | None


@dataclass(frozen=True)
class Captured:
    """What of a set of words or numbers of the reference the generated text has.

    `left_out`: those of the reference that do not count, sorted; for words always empty.
    """

    reference: frozenset[str]
    generated: frozenset[str]
    left_out: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Return those that only the reference has, sorted."""
        return tuple(sorted(self.reference - self.generated))

    @property
    def extra(self) -> tuple[str, ...]:
        """Return those that only the generated text has, sorted."""
        return tuple(sorted(self.generated - self.reference))

    def share(self, without_reference: float | None) -> float | None:
        """Return the captured share of the reference in [0, 1]; `without_reference` when that has none."""
        if not self.reference:
            return without_reference
        return len(self.reference & self.generated) / len(self.reference)


@dataclass(frozen=True, eq=False)
class SectionMatches:
    """How well each section of the reference is found again in each section of the generated text.

    `reference`, `generated`: R and G sections, under the documented profile those with text. `f1`: float64, shape (R,
    G), ROUGE-L of each pair, in [0, 1].
    """

    reference: tuple[Section, ...]
    generated: tuple[Section, ...]
    f1: FloatArray

    @cached_property
    def best(self) -> IntArray:
        """Return the first best generated section of each reference section, int64, shape (R,); -1 for none."""
        if not self.f1.size:
            return np.full(len(self.reference), -1, dtype=np.int64)
        return np.where(self.f1.max(axis=1) > 0.0, self.f1.argmax(axis=1), -1).astype(np.int64)

    @cached_property
    def best_f1(self) -> FloatArray:
        """Return ROUGE-L of each reference section with its best match, float64, shape (R,); 0 for none."""
        return self.f1.max(axis=1) if self.f1.size else np.zeros(len(self.reference))

    @property
    def mean(self) -> float:
        """Return the mean of `best_f1`; 0 when either side has no sections."""
        return float(self.best_f1.mean()) if self.f1.size else 0.0


@dataclass(frozen=True)
class FieldCount:
    """How often a field, a JSON path with ``[*]``, has a value that is not empty, null, false or 0."""

    path: str
    reference: int
    generated: int


@dataclass(frozen=True)
class PosterComparison:
    """Everything that follows from the two texts of one poster."""

    profile: Profile
    reference: Poster
    generated: Poster

    @cached_property
    def texts(self) -> tuple[str, str]:
        """Return all text of the reference and of the generated object, normalised."""
        reference, generated = (self.profile.normalised(text_of(side.content)) for side in self._sides)
        return reference, generated

    @cached_property
    def read(self) -> tuple[float, float]:
        """Return the share of the letters and digits of each side that the profile reads, in [0, 1]; 1 without any."""
        reference, generated = map(self.profile.read, self.texts)
        return reference, generated

    @cached_property
    def words(self) -> Captured:
        """Return the words of the two texts."""
        reference, generated = (self.profile.words(normal) for normal in self.texts)
        return Captured(reference, generated)

    @cached_property
    def numbers(self) -> Captured:
        """Return the numbers of the two texts, as they are spelled."""
        (reference, left_out), (generated, _) = (self.profile.numbers(normal) for normal in self.texts)
        return Captured(reference, generated, tuple(sorted(left_out)))

    @cached_property
    def global_f1(self) -> float:
        """Return ROUGE-L of the two whole texts, in [0, 1]; 0 when a side has no words."""
        reference, generated = (self.profile.tokens(normal) for normal in self.texts)
        return text.lcs_f1(reference, generated)

    @cached_property
    def sections(self) -> SectionMatches:
        """Return ROUGE-L of every section of one side with every section of the other."""
        kept: list[tuple[Section, ...]] = []
        tokens: list[list[list[str]]] = []
        for side in self._sides:
            written = [(section, self.profile.section_text(section.value)) for section in side.sections]
            compared = [(section, content) for section, content in written if content is not None]
            kept.append(tuple(section for section, _ in compared))
            tokens.append([self.profile.tokens(self.profile.normalised(content)) for _, content in compared])
        return SectionMatches(kept[0], kept[1], text.lcs_f1s(tokens[0], tokens[1]))

    @property
    def rouge_winner(self) -> Winner:
        """Return which of the two ROUGE-L values is the score; the whole text when they are equal."""
        return "global" if self.global_f1 >= self.sections.mean else "sections"

    @cached_property
    def fields(self) -> tuple[FieldCount, ...]:
        """Return every field of the two objects, sorted by path."""
        reference, generated = (_fields(side.content, self.profile.max_depth) for side in self._sides)
        return tuple(FieldCount(path, reference[path], generated[path]) for path in sorted(reference | generated))

    @property
    def only_in_reference(self) -> tuple[FieldCount, ...]:
        """Return fields that the generated object does not have at all."""
        return tuple(field for field in self.fields if not field.generated)

    @property
    def only_in_generated(self) -> tuple[FieldCount, ...]:
        """Return fields that the reference does not have at all."""
        return tuple(field for field in self.fields if not field.reference)

    @cached_property
    def metrics(self) -> PosterMetrics:
        """Return the four criteria."""
        return PosterMetrics(
            word_capture=self.words.share(self.profile.without_reference),
            rouge_l=max(self.global_f1, self.sections.mean),
            number_capture=self.numbers.share(1.0),
            field_proportion=self._field_proportion(),
        )

    @property
    def _sides(self) -> tuple[Poster, Poster]:
        return self.reference, self.generated

    def _field_proportion(self) -> float | None:
        reference = sum(field.reference for field in self.fields)
        generated = sum(field.generated for field in self.fields)
        if not reference and self.profile.without_reference is None:
            return None
        return generated / max(reference, 1)


def _fields(content: object, max_depth: int | None) -> Counter[str]:
    counts: Counter[str] = Counter()

    def walk(value: object, place: str, depth: int) -> None:
        if max_depth is not None and depth > max_depth:
            return
        if isinstance(value, dict):
            for key, inner in value.items():
                if inner:
                    below = step(place, key)
                    counts[below] += 1
                    walk(inner, below, depth + 1)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, f"{place}[*]", depth + 1)

    walk(content, "$", 0)
    return counts
