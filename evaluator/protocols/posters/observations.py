"""Posters, their words, numbers and sections: the columns in which slices of posters are searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.text import script_of
from evaluator.formats.posters import Section, text_of
from evaluator.metrics.item_ledger import Item
from evaluator.metrics.observations import MeasureWords, Observations, attributes_of
from evaluator.protocols.posters.comparison import PosterComparison
from evaluator.protocols.posters.evaluation import FIELDS_FROM, FIELDS_TO, PosterResult, PostersResult

MEASURES: Final[Mapping[str, MeasureWords]] = {
    "passes": MeasureWords("share that passes", "posters", "failed", "posters lost", "poster"),
    "word_capture": MeasureWords("word capture", "posters", "incomplete", "word capture lost", "poster", fits=True),
    "rouge_l": MeasureWords("ROUGE-L", "posters", "disordered", "ROUGE-L lost", "poster", fits=True),
    "number_capture": MeasureWords(
        "number capture", "posters", "incomplete", "number capture lost", "poster", fits=True
    ),
    "field_proportion": MeasureWords(
        f"field proportion from {FIELDS_FROM:.2f} to {FIELDS_TO:.2f}", "posters", "failed", "posters lost", "poster"
    ),
    "words": MeasureWords("words captured", "words", "missing", "words lost", "word"),
    "numbers": MeasureWords("numbers captured", "numbers", "missing", "numbers lost", "number"),
    "sections": MeasureWords("ROUGE-L of sections", "sections", "ill-matching", "ROUGE-L lost", "section", fits=True),
}  # fmt: skip
"""What a slice of posters can be measured by, the first one when nothing is said."""
_OTHER: Final = "other text"
_CAPTION: Final = "Caption"


class _Seen(NamedTuple):
    """A thing of a poster that counts.

    `place`: word, number or path of the section; empty for the poster. `values`: what it adds to the measure of each
    result, NaN where it is not counted. `own`: attributes, by name.
    """

    poster: str
    place: str
    values: tuple[float, ...]
    own: Mapping[str, str | float | None]


def observations(results: Sequence[PostersResult], measure: str) -> Observations:
    """Return what a measure of `MEASURES` is a mean over: posters, words, numbers or sections.

    Of one result or two. Posters of every result, sorted by id; one that could not be compared does not pass, and its
    criteria are not counted. Words, numbers and sections are those of the reference of posters that all results
    compare. A poster is a document of one page.
    """
    every = [{poster.poster_id: poster for poster in result.posters} for result in results]
    ids = tuple(sorted({name for posters in every for name in posters}))
    seen: list[_Seen] = []
    for name in ids:
        posters = [of_result.get(name) for of_result in every]
        seen += _things(name, posters, measure) if measure in _THINGS else _whole(name, posters, measure)
    code = {name: place for place, name in enumerate(ids)}
    known = {name: _of_poster([of_result.get(name) for of_result in every]) for name in ids}
    values = np.array([each.values for each in seen], dtype=np.float64).reshape(len(seen), len(results)).T
    if len(results) == 2 and len(seen):
        # Two models are compared where both have a number.
        kept = np.flatnonzero(~np.isnan(values).any(axis=0))
        values, seen = values[:, kept], [seen[row] for row in kept.tolist()]
    return Observations(
        documents=ids,
        document=np.array([code[each.poster] for each in seen], dtype=np.int64),
        page=np.zeros(len(seen), dtype=np.int64),
        items=[Item(each.poster, None, each.place) for each in seen],
        label=np.zeros(len(seen), dtype=np.int64),
        values=values,
        attributes=(
            *attributes_of([each.own for each in seen], "box"),
            *attributes_of([known[each.poster] for each in seen], "document"),
        ),
    )


# --- posters as a whole ------------------------------------------------------------------------------------------


def _whole(name: str, posters: Sequence[PosterResult | None], measure: str) -> list[_Seen]:
    return [_Seen(name, "", tuple(_criterion(poster, measure) for poster in posters), {})]


def _criterion(poster: PosterResult | None, measure: str) -> float:
    if measure == "passes":
        return float(poster is not None and poster.passes)
    if poster is None or poster.comparison is None:
        return float("nan")
    if measure == "field_proportion":
        # More fields than the reference has are no better than fewer: the criterion is met or not.
        return float(measure not in poster.failed)
    value = poster.metrics[measure]  # type: ignore[literal-required]
    return float("nan") if value is None else float(value)


def _of_poster(posters: Sequence[PosterResult | None]) -> dict[str, str | float | None]:
    """Return what is known of a poster: of its reference, and where the text of the extraction is from."""
    results = [poster for poster in posters if poster is not None]
    sources = {poster.source for poster in results if poster.source}
    known: dict[str, str | float | None] = {"source": sources.pop() if len(sources) == 1 else None}
    compared = next((poster.comparison for poster in results if poster.comparison is not None), None)
    if compared is None:
        return known
    reference = compared.reference
    tokens = compared.profile.tokens(compared.texts[0])
    sections = [part for part in reference.sections if not _is_caption(part)]
    return known | {
        "words in poster": float(len(tokens)),
        "different words": float(len(compared.words.reference)),
        "numbers in poster": float(len(compared.numbers.reference)),
        "sections in poster": float(len(sections)),
        "captions in poster": float(len(reference.sections) - len(sections)),
        "fields in poster": float(sum(field.reference for field in compared.fields)),
        "characters per word": len(compared.texts[0]) / len(tokens) if tokens else None,
        "script": script_of([text_of(reference.content)]),
    }


def _is_caption(section: Section) -> bool:
    return _CAPTION in section.place


# --- words, numbers and sections ---------------------------------------------------------------------------------


def _words(name: str, comparisons: Sequence[PosterComparison], *, numbers: bool) -> list[_Seen]:
    sides = [each.numbers if numbers else each.words for each in comparisons]
    first = comparisons[0]
    tokens = _tokens_of(first, first.texts[0], numbers=numbers)
    place = {token: at for at, token in reversed(list(enumerate(tokens)))}
    count, parts = Counter(tokens), list(_parts(first, numbers=numbers))
    seen = []
    for token in sorted(sides[0].reference):
        part = next((each for each in parts if token in each.tokens), None)
        at = place.get(token)
        own: dict[str, str | float | None] = {
            "length": float(len(token)),
            "times in poster": float(count[token]) if count[token] else None,
            "place in text": None if at is None else at / len(tokens),
            "part": _OTHER if part is None else part.kind,
            "section title": None if part is None else part.title,
        }
        if not numbers:
            own["has digits"] = "yes" if any(letter.isdecimal() for letter in token) else "no"
        values = tuple(float(token in side.generated) for side in sides)
        seen.append(_Seen(name, token, values, own))
    return seen


def _tokens_of(comparison: PosterComparison, text: str, *, numbers: bool) -> list[str]:
    """Return words of a text in order, each as the criterion counts it; those that count only."""
    profile = comparison.profile
    tokens: list[str] = []
    for match in profile.span.finditer(text):
        normal = profile.normalised(match.group())
        tokens += sorted(profile.numbers(normal)[0] if numbers else profile.words(normal))
    return tokens


class _Part(NamedTuple):
    kind: str
    title: str | None
    tokens: frozenset[str]


def _parts(comparison: PosterComparison, *, numbers: bool) -> Iterator[_Part]:
    profile = comparison.profile
    for section in comparison.reference.sections:
        normal = profile.normalised(f"{section.title} {text_of(section.value)}")
        tokens = profile.numbers(normal)[0] if numbers else profile.words(normal)
        kind = "caption" if _is_caption(section) else "section"
        yield _Part(kind, _title_of(section), tokens)


def _title_of(section: Section) -> str | None:
    """Return the title of a section, so that titles that differ in case are one; None without."""
    return section.title.strip().casefold() or None


def _sections(name: str, comparisons: Sequence[PosterComparison]) -> list[_Seen]:
    matches = [each.sections for each in comparisons]
    profile, seen = comparisons[0].profile, []
    for at, section in enumerate(matches[0].reference):
        tokens = profile.tokens(profile.normalised(profile.section_text(section.value) or ""))
        own: dict[str, str | float | None] = {
            "part": "caption" if _is_caption(section) else "section",
            "section title": _title_of(section),
            "words in section": float(len(tokens)),
            "rank in poster": float(at + 1),
            "numbers in section": float(sum(token.isdecimal() for token in tokens)),
        }
        seen.append(_Seen(name, section.place, tuple(float(each.best_f1[at]) for each in matches), own))
    return seen


_THINGS: Final[Mapping[str, Callable[[str, Sequence[PosterComparison]], list[_Seen]]]] = {
    "words": partial(_words, numbers=False),
    "numbers": partial(_words, numbers=True),
    "sections": _sections,
}


def _things(name: str, posters: Sequence[PosterResult | None], measure: str) -> list[_Seen]:
    """Return the words, numbers or sections of a poster; none where a result could not compare it."""
    comparisons = [poster.comparison for poster in posters if poster is not None and poster.comparison is not None]
    return _THINGS[measure](name, comparisons) if len(comparisons) == len(posters) else []
