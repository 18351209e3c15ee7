"""Poster text validation: words, reading order, numbers and structure of a poster extracted as JSON.

Owns the four criteria of the poster evaluation and their two profiles. ``documented`` does what the text of the
evaluation says; ``published`` does what the program behind its printed table does (posters-science-extraction-api,
results of commit 8cdc1bc), which is something else in five places. Reading is in ``readers.posters``. The
reference is the ground truth, the generated text the prediction.

A metric without a denominator is undefined (None); ``published`` has a number there, as its program does.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypedDict

import numpy as np

from evaluator import text
from evaluator.boxes import FloatArray, IntArray
from evaluator.errors import Collector, Finding, quote
from evaluator.readers.json_text import step
from evaluator.readers.posters import Poster, Posters, Section, text_of
from evaluator.results import ResultTable, Signature, weighted_mean

NAME: Final = "posters"
# The text has no version of its own; this counts the readings of it.
VERSION: Final = "1"
TITLE: Final = "Poster text validation"

CRITERIA: Final = ("word_capture", "rouge_l", "number_capture", "field_proportion")
PASS_FROM: Final = 0.75
FIELDS_FROM: Final = 0.50
FIELDS_TO: Final = 2.00

YEARS: Final = (1900, 2099)
"""Integers of four digits that the documented profile takes for years of publication."""

STOP_WORDS_NAME: Final = "layoutscope-en-1"
"""Name of `STOP_WORDS`; a changed list gets a new one."""

_STOP_WORD_LIST: Final = """
    a about above after again against all also am among an and any are as at be because been before being below
    between both but by can could did do does doing done down during each either else ever every few for from
    further had has have having he hence her here hers herself him himself his how however i if in into is it
    its itself just may me might more most must my myself neither no nor not now of off on once only onto or
    other our ours ourselves out over own per rather same shall she should since so some such than that the
    their theirs them themselves then there therefore these they this those though through thus to too toward
    towards under until up upon us very via was we were what when where whether which while who whom whose why
    will with within without would yet you your yours yourself yourselves
"""
STOP_WORDS: Final = frozenset(_STOP_WORD_LIST.split())
"""English words without content, lower case, as `evaluator.text.words` splits them."""

_DOI: Final = re.compile(r"\b10\.\d{4,9}/\S*")
_PUBLISHED_NUMBER: Final = re.compile(r"\d+\.?\d*")
_PUBLISHED_SIGNS: Final = {**text.SPACES, **text.OTHER_QUOTES, **text.DASHES, **text.RAISED_DIGITS}
_PUBLISHED_TOKEN: Final = re.compile(r"[a-z0-9]+")
# The program stops counting below this many levels of objects and arrays.
_PUBLISHED_DEPTH: Final = 10

ProfileName = Literal["documented", "published"]
Winner = Literal["global", "sections"]


class PosterMetrics(TypedDict):
    """The four criteria of one poster, or their means; undefined is None."""

    word_capture: float | None
    rouge_l: float | None
    number_capture: float | None
    field_proportion: float | None


@dataclass(frozen=True)
class Profile:
    """One reading of the four criteria.

    Attributes
    ----------
    name : str
    normalised : callable
        Text in one spelling.
    words : callable
        The words of a normalised text that count for word capture.
    tokens : callable
        The tokens of a normalised text for ROUGE-L, in order.
    numbers : callable
        The numbers of a normalised text: those that count, and those that are left out.
    section_text : callable
        The text of a section, not yet normalised; None when it is not compared.
    span : regular expression
        The longest piece of a text that can hold one word.
    max_depth : int or None
        Levels of objects and arrays below which fields are not counted.
    without_reference : float or None
        Word capture when the reference has no word, and field proportion when it has no field and the generated
        has none either.
    options : tuple of str
        What the signature says.
    """

    name: ProfileName
    normalised: Callable[[str], str]
    words: Callable[[str], frozenset[str]]
    tokens: Callable[[str], list[str]]
    numbers: Callable[[str], tuple[frozenset[str], frozenset[str]]]
    section_text: Callable[[Any], str | None]
    span: re.Pattern[str]
    max_depth: int | None
    without_reference: float | None
    options: tuple[str, ...]


def _documented_words(normal: str) -> frozenset[str]:
    return frozenset(text.words(normal)) - STOP_WORDS


def _documented_numbers(normal: str) -> tuple[frozenset[str], frozenset[str]]:
    """Numbers that count, and those that stand only in a DOI or are years."""
    outside = frozenset(text.numbers(_DOI.sub(" ", normal)))
    years = {number for number in outside if len(number) == 4 and number.isdecimal() and _is_year(int(number))}
    return outside - years, (frozenset(text.numbers(normal)) - outside) | years


def _is_year(number: int) -> bool:
    return YEARS[0] <= number <= YEARS[1]


def _documented_section(value: object) -> str | None:
    """All text of a section; a section without any is not compared."""
    found = text_of(value)
    return found if found.strip() else None


def _published_normalised(written: str) -> str:
    # Two of the program's quotes are really the string between them: a comma and a blank.
    return unicodedata.normalize("NFKD", written.translate(_PUBLISHED_SIGNS).replace(", ", "'"))


def _published_words(normal: str) -> frozenset[str]:
    return frozenset(re.sub(r"[^a-zA-Z0-9\s]", "", normal).lower().split())


def _published_tokens(normal: str) -> list[str]:
    # rouge-score leaves tokens of up to three characters unstemmed.
    return [text.stem(token) if len(token) > 3 else token for token in _PUBLISHED_TOKEN.findall(normal.lower())]


def _published_numbers(normal: str) -> tuple[frozenset[str], frozenset[str]]:
    """Numbers that count, and integers from 2010 to 2030 or of 100,000 and more."""
    every = frozenset(_PUBLISHED_NUMBER.findall(normal))
    # float takes any length; digits that are no number to it do not match the pattern.
    kept = {n for n in every if "." in n or ((size := float(n)) < 100_000 and not 2010 <= size <= 2030)}
    return frozenset(kept), every - kept


def _published_section(value: object) -> str:
    return " ".join(str(item) for item in value) if isinstance(value, list) else str(value)


PROFILES: Final[Mapping[ProfileName, Profile]] = {
    "documented": Profile(
        name="documented",
        normalised=text.normalised,
        words=_documented_words,
        tokens=text.words,
        numbers=_documented_numbers,
        section_text=_documented_section,
        span=re.compile(r"\S+"),
        max_depth=None,
        without_reference=None,
        options=(
            "profile documented",
            f"stop words {STOP_WORDS_NAME}",
            f"numbers without DOIs and years {YEARS[0]}–{YEARS[1]}",
        ),
    ),
    "published": Profile(
        name="published",
        normalised=_published_normalised,
        words=_published_words,
        tokens=_published_tokens,
        numbers=_published_numbers,
        section_text=_published_section,
        # A comma and one blank join two words there.
        span=re.compile(r"\S+(?:(?<=,)[ \u00a0\u2000-\u200a\u202f\u205f\u3000]\S+)*"),
        max_depth=_PUBLISHED_DEPTH,
        without_reference=0.0,
        options=("profile published", "no stop words", "Porter stems", "numbers without 2010–2030 and from 100000"),
    ),
}
"""The two readings, by name; `documented` is the one that the text describes."""

DEFAULT_PROFILE: Final[ProfileName] = "documented"


@dataclass(frozen=True)
class Captured:
    """What of a set of words or numbers of the reference the generated text has.

    Attributes
    ----------
    reference, generated : frozenset of str
        Those that count.
    left_out : tuple of str
        Those of the reference that do not count, sorted; for words always empty.
    """

    reference: frozenset[str]
    generated: frozenset[str]
    left_out: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Those that only the reference has, sorted."""
        return tuple(sorted(self.reference - self.generated))

    @property
    def extra(self) -> tuple[str, ...]:
        """Those that only the generated text has, sorted."""
        return tuple(sorted(self.generated - self.reference))

    def share(self, without_reference: float | None) -> float | None:
        """Captured share of the reference in [0, 1]; `without_reference` when the reference has none."""
        if not self.reference:
            return without_reference
        return len(self.reference & self.generated) / len(self.reference)


@dataclass(frozen=True, eq=False)
class SectionMatches:
    """How well each section of the reference is found again in each section of the generated text.

    Attributes
    ----------
    reference, generated : tuple of Section
        R and G sections; those without text are left out under the documented profile.
    f1 : float64, shape (R, G), in [0, 1]
        ROUGE-L of each pair.
    """

    reference: tuple[Section, ...]
    generated: tuple[Section, ...]
    f1: FloatArray

    @cached_property
    def best(self) -> IntArray:
        """The first of the best generated sections for each reference section, int64, shape (R,); -1 for none."""
        if not self.f1.size:
            return np.full(len(self.reference), -1, dtype=np.int64)
        return np.where(self.f1.max(axis=1) > 0.0, self.f1.argmax(axis=1), -1).astype(np.int64)

    @cached_property
    def best_f1(self) -> FloatArray:
        """ROUGE-L of each reference section with its best generated section, float64, shape (R,); 0 for none."""
        return self.f1.max(axis=1) if self.f1.size else np.zeros(len(self.reference))

    @property
    def mean(self) -> float:
        """Mean of `best_f1`; 0 when either side has no sections."""
        return float(self.best_f1.mean()) if self.f1.size else 0.0


@dataclass(frozen=True)
class FieldCount:
    """How often a field stands in the two objects.

    Attributes
    ----------
    path : str
        JSON path with ``[*]`` for the index of an array.
    reference, generated : int
        Entries with a value that is not empty, null, false or 0.
    """

    path: str
    reference: int
    generated: int


@dataclass(frozen=True)
class Comparison:
    """Everything that follows from the two texts of one poster.

    Attributes
    ----------
    profile : Profile
    reference, generated : Poster
    """

    profile: Profile
    reference: Poster
    generated: Poster

    @cached_property
    def texts(self) -> tuple[str, str]:
        """All text of the reference and of the generated object, normalised."""
        reference, generated = (self.profile.normalised(text_of(side.content)) for side in self._sides)
        return reference, generated

    @cached_property
    def words(self) -> Captured:
        """The words of the two texts."""
        reference, generated = (self.profile.words(normal) for normal in self.texts)
        return Captured(reference, generated)

    @cached_property
    def numbers(self) -> Captured:
        """The numbers of the two texts, as they are spelled."""
        (reference, left_out), (generated, _) = (self.profile.numbers(normal) for normal in self.texts)
        return Captured(reference, generated, tuple(sorted(left_out)))

    @cached_property
    def global_f1(self) -> float:
        """ROUGE-L of the two whole texts, in [0, 1]; 0 when a side has no words."""
        reference, generated = (self.profile.tokens(normal) for normal in self.texts)
        return text.lcs_f1(reference, generated)

    @cached_property
    def sections(self) -> SectionMatches:
        """ROUGE-L of every section of one side with every section of the other."""
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
        """Which of the two ROUGE-L values is the score; the whole text when they are equal."""
        return "global" if self.global_f1 >= self.sections.mean else "sections"

    @cached_property
    def fields(self) -> tuple[FieldCount, ...]:
        """Every field of the two objects, sorted by path."""
        reference, generated = (_fields(side.content, self.profile.max_depth) for side in self._sides)
        return tuple(FieldCount(path, reference[path], generated[path]) for path in sorted(reference | generated))

    @property
    def only_in_reference(self) -> tuple[FieldCount, ...]:
        """Fields that the generated object does not have at all."""
        return tuple(field for field in self.fields if not field.generated)

    @property
    def only_in_generated(self) -> tuple[FieldCount, ...]:
        """Fields that the reference does not have at all."""
        return tuple(field for field in self.fields if not field.reference)

    @cached_property
    def metrics(self) -> PosterMetrics:
        """The four criteria."""
        return PosterMetrics(
            word_capture=self.words.share(self.profile.without_reference),
            rouge_l=max(self.global_f1, self.sections.mean),
            number_capture=self.numbers.share(1.0),
            field_proportion=self._field_proportion(),
        )

    def marked(self) -> Iterator[tuple[str, bool]]:
        """The text of the reference in pieces, each with whether a word or number in it is missing.

        Yields
        ------
        (str, bool)
            Pieces in order; together they are the text of the reference as its file has it, the values joined
            by one space. Nothing for a reference without text.
        """
        profile, written, end = self.profile, text_of(self.reference.content), 0
        lost = self.words.reference - self.words.generated, self.numbers.reference - self.numbers.generated
        for match in profile.span.finditer(written):
            if match.start() > end:
                yield written[end : match.start()], False
            normal, end = profile.normalised(match.group()), match.end()
            yield match.group(), bool(profile.words(normal) & lost[0] or profile.numbers(normal)[0] & lost[1])
        if end < len(written):
            yield written[end:], False

    @property
    def _sides(self) -> tuple[Poster, Poster]:
        return self.reference, self.generated

    def _field_proportion(self) -> float | None:
        reference = sum(field.reference for field in self.fields)
        generated = sum(field.generated for field in self.fields)
        if not reference and self.profile.without_reference is None:
            return None
        return generated / max(reference, 1)


@dataclass(frozen=True)
class PosterResult:
    """One poster: compared, or why it could not be.

    Attributes
    ----------
    poster_id : str
    comparison : Comparison or None
        None when a side is missing or broken.
    error : str or None
        Why it could not be compared, as a sentence; None when it was.
    """

    poster_id: str
    comparison: Comparison | None
    error: str | None = None

    @property
    def metrics(self) -> PosterMetrics:
        """The four criteria; all None without a comparison."""
        if self.comparison is None:
            return PosterMetrics(word_capture=None, rouge_l=None, number_capture=None, field_proportion=None)
        return self.comparison.metrics

    @property
    def failed(self) -> tuple[str, ...]:
        """The criteria that are not met, an undefined one among them; empty without a comparison."""
        return () if self.comparison is None else failed(self.metrics)

    @property
    def passes(self) -> bool:
        """Whether the poster was compared and meets every criterion."""
        return self.comparison is not None and not self.failed

    @property
    def extraction_failed(self) -> bool:
        """Whether the generated object says itself, by a key ``error``, that the extraction failed."""
        return self.comparison is not None and "error" in self.comparison.generated.content

    def to_json(self) -> dict[str, Any]:
        """The poster as plain values under the keys of the terminal contract.

        Returns
        -------
        dict
            ``poster_id``, ``metrics``, ``passes``, ``failed``, ``missing_words``, ``extra_words``,
            ``missing_numbers``, ``extra_numbers``, ``left_out_numbers``, ``rouge_l``, ``fields``, ``error``;
            lists are empty and ``rouge_l`` and ``fields`` None without a comparison.
        """
        found = self.comparison
        words, numbers = (found.words, found.numbers) if found else (_NOTHING, _NOTHING)
        return {
            "poster_id": self.poster_id,
            "metrics": self.metrics,
            "passes": self.passes,
            "failed": list(self.failed),
            "missing_words": list(words.missing),
            "extra_words": list(words.extra),
            "missing_numbers": list(numbers.missing),
            "extra_numbers": list(numbers.extra),
            "left_out_numbers": list(numbers.left_out),
            "rouge_l": _rouge_json(found) if found else None,
            "fields": _fields_json(found) if found else None,
            "error": self.error,
        }


@dataclass(frozen=True)
class PostersResult:
    """The evaluation of one set of extractions.

    Attributes
    ----------
    profile : Profile
    ground_truth, prediction : Posters
    posters : tuple of PosterResult
        Every poster of either side, sorted by id.
    findings : tuple of Finding
        Those of the two sides, and a warning for posters that one side lacks.
    """

    profile: Profile
    ground_truth: Posters
    prediction: Posters
    posters: tuple[PosterResult, ...]
    findings: tuple[Finding, ...]

    @property
    def signature(self) -> Signature:
        """What made these numbers; a poster is a document of one page."""
        thresholds = f"pass ≥ {PASS_FROM:.2f}, fields {FIELDS_FROM:.2f}–{FIELDS_TO:.2f}"
        return Signature(
            protocol=NAME,
            version=VERSION,
            min_score=None,
            options=(*self.profile.options, thresholds),
            documents=len(self.posters),
            pages=len(self.posters),
        )

    def column(self, criterion: str) -> FloatArray:
        """One criterion for every poster.

        Parameters
        ----------
        criterion : str
            One of `CRITERIA`.

        Returns
        -------
        float64, shape (posters,), >= 0
            NaN where undefined or not compared.
        """
        values = [poster.metrics[criterion] for poster in self.posters]  # type: ignore[literal-required]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    @cached_property
    def aggregate(self) -> PosterMetrics:
        """Mean of each criterion over the posters where it is defined; None where it is nowhere.

        Notes
        -----
        The printed average of the field proportion (0.99) is not the mean of its column (1.01); this is.
        """
        word, rouge, number, field = (weighted_mean(self.column(criterion))[0] for criterion in CRITERIA)
        return PosterMetrics(word_capture=word, rouge_l=rouge, number_capture=number, field_proportion=field)

    def to_json(self) -> dict[str, Any]:
        """The result as plain values under the keys of the terminal contract.

        Returns
        -------
        dict
            ``protocol``, ``signature``, ``ground_truth``, ``predictions``, ``findings``, ``profile``,
            ``posters``, ``aggregate`` (the four means, and how many posters there are, were compared, pass and
            had an error), ``documents_only_in``. Undefined is None.
        """
        sides = {"ground_truth": self.ground_truth, "predictions": self.prediction}
        ids = {key: {*side.posters, *side.broken} for key, side in sides.items()}
        return {
            "protocol": NAME,
            "signature": self.signature.line,
            **{key: {"name": side.name, "sha256": side.sha256} for key, side in sides.items()},
            "findings": list(self.findings),
            "profile": self.profile.name,
            "posters": [poster.to_json() for poster in self.posters],
            "aggregate": {**self.aggregate, **self._counts()},
            "documents_only_in": {
                "ground_truth": sorted(ids["ground_truth"] - ids["predictions"]),
                "predictions": sorted(ids["predictions"] - ids["ground_truth"]),
            },
        }

    def results_json(self, sources: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The result in the form of the reference program's ``results.json``, with the means.

        Parameters
        ----------
        sources : mapping of str, optional
            How the raw text of a poster was had (``pdfalto``, ``qwen_vision``), by poster id.

        Returns
        -------
        dict
            ``results``: a list of ``poster_id``, ``metrics`` (the four and ``gen_sections``, ``ref_sections``; None
            without a comparison), ``passes``, ``error`` (a sentence without a comparison, else whether the
            extraction says that it failed) and ``source`` (None when not told); ``aggregate``: the four means.
        """
        return {
            "results": [_result(poster, (sources or {}).get(poster.poster_id)) for poster in self.posters],
            "aggregate": dict(self.aggregate),
        }

    def table(self) -> ResultTable:
        """One row per poster, the means first.

        Returns
        -------
        ResultTable
            Columns ``poster_id``, those of `CRITERIA`, ``passes`` (yes, no or error; for the means how many of
            how many) and ``failed`` (names of criteria, or the error).
        """
        counts = self._counts()
        rows: list[tuple[str | int | float | None, ...]] = [
            ("All posters", *_row(self.aggregate), f"{counts['passed']} of {counts['posters']}", "")
        ]
        for poster in self.posters:
            verdict = "error" if poster.comparison is None else "yes" if poster.passes else "no"
            rows.append((poster.poster_id, *_row(poster.metrics), verdict, poster.error or ", ".join(poster.failed)))
        return ResultTable(
            title=self.prediction.name,
            signature=self.signature.line,
            columns=("poster_id", *CRITERIA, "passes", "failed"),
            rows=tuple(rows),
        )

    def _counts(self) -> dict[str, int]:
        compared = sum(poster.comparison is not None for poster in self.posters)
        return {
            "posters": len(self.posters),
            "compared": compared,
            "passed": sum(poster.passes for poster in self.posters),
            "errors": len(self.posters) - compared,
        }


def evaluate(ground_truth: Posters, prediction: Posters, *, profile: ProfileName = DEFAULT_PROFILE) -> PostersResult:
    """The result of extracted posters against reference annotations.

    Parameters
    ----------
    ground_truth, prediction : Posters
        As read by ``readers.posters.read``; paired by poster id.
    profile : "documented" or "published"

    Returns
    -------
    PostersResult
        A poster that one side lacks, or whose file is broken, has an error instead of metrics, and does not
        enter the means.

    Raises
    ------
    ValueError
        When there is no such profile.

    Notes
    -----
    Poster evaluation, sections "Metric Implementation" and "Text Normalization". The program behind the printed
    table differs from them, and ``published`` follows it: it excludes no stop words (word capture moves either
    way); it deletes punctuation instead of splitting at it and takes a comma with a blank for a quote, so words
    grow together and lists of names rarely match (usually lower); it leaves curly quotes as they are (no number
    changes); for numbers it drops integers from 2010 to 2030 and from 100,000 on instead of DOIs and years, and
    reads "5." as another number than "5" (usually lower); its ROUGE-L compares Porter stems of ASCII letters and
    digits (higher; no cell of its printed table is another without stems), where ``documented`` compares words of
    any script. It counts fields to eleven levels. It reads a caption given as text character by character; both
    profiles take it as one part.

    The text does not say how a year of publication is told from other numbers: ``documented`` leaves out every
    integer from 1900 to 2099, and the result lists them. A reference without numbers has number capture 1.
    """
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}; found {profile}")
    ids = sorted({*ground_truth.posters, *ground_truth.broken, *prediction.posters, *prediction.broken})
    findings = (*ground_truth.findings, *prediction.findings, *_lonely(ground_truth, prediction))
    posters = tuple(_poster(poster_id, ground_truth, prediction, PROFILES[profile]) for poster_id in ids)
    return PostersResult(PROFILES[profile], ground_truth, prediction, posters, findings)


def failed(metrics: PosterMetrics) -> tuple[str, ...]:
    """The criteria that metrics do not meet, in the order of `CRITERIA`.

    Returns
    -------
    tuple of str
        An undefined criterion is not met. Values are compared as they are, not rounded: 0.7499999 does not pass.
    """
    bounds = {"field_proportion": (FIELDS_FROM, FIELDS_TO)}
    values = zip(CRITERIA, _row(metrics), strict=True)
    return tuple(name for name, value in values if not _within(value, *bounds.get(name, (PASS_FROM, np.inf))))


def _row(metrics: PosterMetrics) -> tuple[float | None, ...]:
    """The values of `CRITERIA`, in that order."""
    return metrics["word_capture"], metrics["rouge_l"], metrics["number_capture"], metrics["field_proportion"]


def _within(value: float | None, low: float, high: float) -> bool:
    return value is not None and low <= value <= high


_NOTHING: Final = Captured(frozenset(), frozenset())


def _poster(poster_id: str, ground_truth: Posters, prediction: Posters, profile: Profile) -> PosterResult:
    """One poster, compared when both sides have it in order."""
    problems = []
    for side in (ground_truth, prediction):
        if broken := side.broken.get(poster_id):
            problems += [finding.sentence for finding in broken if finding.severity == "error"]
        elif poster_id not in side.posters:
            problems.append(f"{side.name} has no such poster.")
    if problems:
        return PosterResult(poster_id, None, " ".join(problems))
    return PosterResult(poster_id, Comparison(profile, ground_truth.posters[poster_id], prediction.posters[poster_id]))


def _lonely(ground_truth: Posters, prediction: Posters) -> tuple[Finding, ...]:
    """A warning for each side that lacks posters of the other."""
    findings: list[Finding] = []
    for side, other, name in ((ground_truth, prediction, "ground truth"), (prediction, ground_truth, "prediction")):
        lacking = sorted({*other.posters, *other.broken} - {*side.posters, *side.broken})
        if lacking:
            found = Collector(side.name, max_per_rule=None)
            rule = f"every poster needs a {name}; without one it is not evaluated"
            shown = f"none for {len(lacking):,}: {_examples(lacking)}"
            found.warning("", rule, shown, "Add the files, or read the means as those of the other posters.")
            findings += found.findings()
    return tuple(findings)


def _examples(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return f"{', '.join(quote(name) for name in names[:3])}{more}"


def _fields(content: object, max_depth: int | None) -> Counter[str]:
    """How often each field with a value stands in a JSON object, by path."""
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


def _rouge_json(found: Comparison) -> dict[str, Any]:
    sections = found.sections
    best = zip(sections.reference, sections.best.tolist(), sections.best_f1.tolist(), strict=True)
    return {
        "global": found.global_f1,
        "sections": sections.mean,
        "won": found.rouge_winner,
        "best_sections": [
            {"reference": section.place, "generated": sections.generated[at].place if at >= 0 else None, "f1": f1}
            for section, at, f1 in best
        ],
    }


def _fields_json(found: Comparison) -> dict[str, Any]:
    return {
        "reference": sum(field.reference for field in found.fields),
        "generated": sum(field.generated for field in found.fields),
        "only_in_reference": {field.path: field.reference for field in found.only_in_reference},
        "only_in_generated": {field.path: field.generated for field in found.only_in_generated},
    }


def _result(poster: PosterResult, source: str | None) -> dict[str, Any]:
    """One entry of ``results.json``."""
    metrics: dict[str, Any] | None = None
    if poster.comparison is not None:
        sections = poster.comparison.sections
        metrics = {
            **poster.metrics,
            "gen_sections": len(sections.generated),
            "ref_sections": len(sections.reference),
        }
    return {
        "poster_id": poster.poster_id,
        "metrics": metrics,
        "passes": poster.passes,
        "error": poster.extraction_failed if poster.error is None else poster.error,
        "source": source,
    }
