"""Poster text validation: words, reading order, numbers and structure of a poster extracted as JSON.

The reference is the ground truth, the generated text the prediction. Profile ``documented`` does what the text of the
evaluation says; ``published`` does what the program behind its printed table does (posters-science-extraction-api,
results of commit 8cdc1bc). A metric without a denominator is undefined (None); ``published`` has a number there, as its
program does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import fix_texts
from evaluator.data.issues import Issue, examples
from evaluator.formats.posters import Posters
from evaluator.metrics.results import JsonObject, ResultTable, Signature, weighted_mean
from evaluator.protocols.base import Result
from evaluator.protocols.posters.comparison import Captured, PosterComparison, PosterMetrics
from evaluator.protocols.posters.profiles import (
    DEFAULT_PROFILE,
    DEFAULT_WORDS,
    LEAST_READ,
    Profile,
    ProfileName,
    WordRule,
    profile_of,
)

NAME: Final = "posters"
# The text has no version of its own; this counts the readings of it.
VERSION: Final = "1"
TITLE: Final = "Poster text validation"

CRITERIA: Final = ("word_capture", "rouge_l", "number_capture", "field_proportion")
PASS_FROM: Final = 0.75
FIELDS_FROM: Final = 0.50
FIELDS_TO: Final = 2.00


@dataclass(frozen=True)
class PosterResult:
    """One poster: compared, or why it could not be.

    `comparison` is None, and `error` a sentence, when a side is missing or broken. `source`: where the raw text of the
    extraction is from (``pdfalto``, ``qwen_vision``); None when not given.
    """

    poster_id: str
    comparison: PosterComparison | None
    error: str | None = None
    source: str | None = None

    @property
    def metrics(self) -> PosterMetrics:
        """Return the four criteria; all None without a comparison."""
        if self.comparison is None:
            return PosterMetrics(word_capture=None, rouge_l=None, number_capture=None, field_proportion=None)
        return self.comparison.metrics

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the criteria that are not met, an undefined one among them; empty without a comparison."""
        return () if self.comparison is None else failed(self.metrics)

    @property
    def passes(self) -> bool:
        """Return whether the poster was compared and meets every criterion."""
        return self.comparison is not None and not self.failed

    def to_json(self) -> JsonObject:
        """Return the poster as plain values under the keys of the terminal contract.

        Without a comparison, lists are empty and ``rouge_l`` and ``fields`` None.
        """
        comparison = self.comparison
        words, numbers = (comparison.words, comparison.numbers) if comparison else (_NOTHING, _NOTHING)
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
            "rouge_l": _rouge_json(comparison) if comparison else None,
            "fields": _fields_json(comparison) if comparison else None,
            "error": self.error,
            "source": self.source,
        }


@dataclass(frozen=True, eq=False)
class PostersPartial:
    """Values of `posters`, each `PosterResult.to_json`, sorted by id, that add up to a table and the numbers."""

    posters: tuple[JsonObject, ...]

    @classmethod
    def of(cls, result: PostersResult) -> PostersPartial:
        """Return that of a result."""
        return cls(tuple(poster.to_json() for poster in result.posters))

    @classmethod
    def merged(cls, parts: Sequence[PostersPartial]) -> PostersPartial:
        """Put the posters of all parts together; none may be in two of them."""
        return cls(tuple(sorted((each for part in parts for each in part.posters), key=itemgetter("poster_id"))))

    @cached_property
    def aggregate(self) -> PosterMetrics:
        """Return the mean of each criterion over the posters where it is defined; None where it is nowhere.

        The printed average of the field proportion (0.99) is not the mean of its column (1.01); this is.
        """
        table = [_row(poster["metrics"]) for poster in self.posters]
        columns = np.array(table, dtype=np.float64).reshape(-1, len(CRITERIA))
        word, rouge, number, field = (weighted_mean(column)[0] for column in columns.T)
        return PosterMetrics(word_capture=word, rouge_l=rouge, number_capture=number, field_proportion=field)

    @property
    def counts(self) -> dict[str, int]:
        """Count the posters, and those that were compared, pass or had an error."""
        errors = sum(poster["error"] is not None for poster in self.posters)
        passed = sum(poster["passes"] for poster in self.posters)
        every = len(self.posters)
        return {"posters": every, "compared": every - errors, "passed": passed, "errors": errors}

    def to_json(self) -> JsonObject:
        """Return ``posters`` and ``aggregate`` of `PostersResult.to_json`."""
        return {"posters": list(self.posters), "aggregate": {**self.aggregate, **self.counts}}

    @property
    def columns(self) -> tuple[str, ...]:
        """Name the columns of `PostersResult.table`."""
        return ("poster_id", *CRITERIA, "passes", "failed", *["source"] * self._sourced)

    @property
    def _sourced(self) -> bool:
        return any(poster["source"] for poster in self.posters)

    def rows(self) -> list[tuple[str | int | float | None, ...]]:
        """Return the rows of `PostersResult.table`."""
        counts, sourced = self.counts, self._sourced
        passed = f"{counts['passed']} of {counts['posters']}"
        rows: list[tuple[str | int | float | None, ...]] = []
        rows.append(("All posters", *_row(self.aggregate), passed, "", *[""] * sourced))
        for poster in self.posters:
            verdict = "error" if poster["error"] is not None else "yes" if poster["passes"] else "no"
            reason, source = poster["error"] or ", ".join(poster["failed"]), [poster["source"] or ""] * sourced
            rows.append((poster["poster_id"], *_row(poster["metrics"]), verdict, reason, *source))
        return rows


@dataclass(frozen=True)
class PostersResult(Result):
    """The evaluation of one set of extractions.

    Attributes
    ----------
    posters : tuple of PosterResult
        Every poster of either side, sorted by id.
    issues : tuple of Issue
        Those of the two sides, and a warning for posters that one side lacks.
    merged : PostersPartial or None
        That of parts which were compared by themselves.
    """

    profile: Profile
    ground_truth: Posters
    prediction: Posters
    posters: tuple[PosterResult, ...]
    issues: tuple[Issue, ...]
    merged: PostersPartial | None = None

    @property
    def signature(self) -> Signature:
        """Return what made these numbers; a poster is a document of one page."""
        thresholds = f"pass ≥ {PASS_FROM:.2f}, fields {FIELDS_FROM:.2f}–{FIELDS_TO:.2f}"
        return Signature(
            protocol=NAME,
            version=VERSION,
            min_score=None,
            options=(*self.profile.options, thresholds, *fix_texts(self.ground_truth, self.prediction)),
            documents=len(self.posters),
            pages=len(self.posters),
        )

    def column(self, criterion: str) -> FloatArray:
        """Return one of the `CRITERIA` by poster, float64; NaN where undefined or not compared."""
        values = [poster.metrics[criterion] for poster in self.posters]  # type: ignore[literal-required]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    @cached_property
    def partial(self) -> PostersPartial:
        """Return what the numbers are made of."""
        return self.merged or PostersPartial.of(self)

    @property
    def aggregate(self) -> PosterMetrics:
        """Return the mean of each criterion; see `PostersPartial.aggregate`."""
        return self.partial.aggregate

    def to_json(self) -> JsonObject:
        """Return the result as plain values under the keys of the terminal contract; undefined is None.

        Besides what all have: ``profile``, ``posters``, ``aggregate`` (the four means, and how many posters there are,
        were compared, pass and had an error), ``documents_only_in``.
        """
        sides = {"ground_truth": self.ground_truth, "predictions": self.prediction}
        ids = {key: {*side.posters, *side.broken} for key, side in sides.items()}
        return {
            "protocol": NAME,
            "signature": self.signature.line,
            **{key: {"name": side.name, "sha256": side.sha256} for key, side in sides.items()},
            "issues": list(self.issues),
            "profile": self.profile.name,
            **self.partial.to_json(),
            "documents_only_in": {
                "ground_truth": sorted(ids["ground_truth"] - ids["predictions"]),
                "predictions": sorted(ids["predictions"] - ids["ground_truth"]),
            },
        }

    def results_json(self, sources: Mapping[str, str] | None = None) -> dict[str, object]:
        """Return the result in the form of the reference program's ``results.json``, with the means.

        `sources`: where the raw text of a poster is from, by poster id; those of the files when absent. ``results``:
        ``metrics`` are None without a comparison, ``error`` is a sentence without one, else whether the extraction
        states that it failed. ``aggregate``: the four means.
        """
        return {
            "results": [
                _result(poster, poster.source if sources is None else sources.get(poster.poster_id))
                for poster in self.posters
            ],
            "aggregate": dict(self.aggregate),
        }

    def table(self) -> ResultTable:
        """Return the means, then one row per poster.

        Columns ``poster_id``, those of `CRITERIA`, ``passes`` (yes, no or error; for the means how many of how many),
        ``failed`` (names of criteria, or the error) and, when a source is given, ``source``.
        """
        partial, signature = self.partial, self.signature.line
        rows = tuple(partial.rows())
        return ResultTable(title=self.prediction.name, signature=signature, columns=partial.columns, rows=rows)


def evaluate(
    ground_truth: Posters,
    prediction: Posters,
    *,
    profile: ProfileName = DEFAULT_PROFILE,
    words: WordRule = DEFAULT_WORDS,
) -> PostersResult:
    """Return the result of extracted posters against reference annotations, paired by poster id.

    A poster that one side lacks, or whose file is broken, has an error instead of metrics, and does not enter the
    means. `words`: what a word is in scripts without blanks, see `profiles.WordRule`. A warning names posters of which
    the profile reads less than 0.9 on a side. ValueError when there is no such profile, or it has no such words.

    Notes
    -----
    Poster evaluation, sections "Metric Implementation" and "Text Normalization". The program behind the printed table
    differs from them, and ``published`` follows it: it excludes no stop words (word capture moves either way); it
    deletes punctuation instead of splitting at it and takes a comma with a blank for a quote, so words grow together
    and lists of names rarely match (usually lower); it leaves curly quotes as they are (no number changes); for numbers
    it drops integers from 2010 to 2030 and from 100,000 on instead of DOIs and years, and reads "5." as another number
    than "5" (usually lower); its ROUGE-L compares Porter stems of ASCII letters and digits (higher; no cell of its
    printed table is another without stems), where ``documented`` compares words of any script. It counts fields to
    eleven levels. It reads a caption given as text character by character; both profiles take it as one part.

    The text does not state how a year of publication is distinguished from other numbers: ``documented`` leaves out
    every integer from 1900 to 2099, and the result lists them. A reference without numbers has number capture 1.
    """
    chosen = profile_of(profile, words)
    ids = sorted({*ground_truth.posters, *ground_truth.broken, *prediction.posters, *prediction.broken})
    issues = (*ground_truth.issues, *prediction.issues, *_lonely(ground_truth, prediction))
    posters = tuple(_poster(poster_id, ground_truth, prediction, chosen) for poster_id in ids)
    return PostersResult(chosen, ground_truth, prediction, posters, (*issues, *_unread(chosen, posters, prediction)))


def failed(metrics: PosterMetrics) -> tuple[str, ...]:
    """Return the criteria that the unrounded metrics do not meet, in the order of `CRITERIA`; undefined fails."""
    bounds = {"field_proportion": (FIELDS_FROM, FIELDS_TO)}
    values = zip(CRITERIA, _row(metrics), strict=True)
    return tuple(name for name, value in values if not _within(value, *bounds.get(name, (PASS_FROM, np.inf))))


def _row(metrics: PosterMetrics) -> tuple[float | None, ...]:
    return metrics["word_capture"], metrics["rouge_l"], metrics["number_capture"], metrics["field_proportion"]


def _within(value: float | None, low: float, high: float) -> bool:
    return value is not None and low <= value <= high


_NOTHING: Final = Captured(frozenset(), frozenset())


def _poster(poster_id: str, ground_truth: Posters, prediction: Posters, profile: Profile) -> PosterResult:
    problems = []
    for side in (ground_truth, prediction):
        if broken := side.broken.get(poster_id):
            problems += [issue.sentence for issue in broken if issue.severity == "error"]
        elif poster_id not in side.posters:
            problems.append(f"{side.name} has no such poster.")
    source = prediction.sources.get(poster_id)
    if problems:
        return PosterResult(poster_id, None, " ".join(problems), source)
    compared = PosterComparison(profile, ground_truth.posters[poster_id], prediction.posters[poster_id])
    return PosterResult(poster_id, compared, source=source)


def _lonely(ground_truth: Posters, prediction: Posters) -> tuple[Issue, ...]:
    issues: list[Issue] = []
    for side, other, name in ((ground_truth, prediction, "ground truth"), (prediction, ground_truth, "prediction")):
        lacking = sorted({*other.posters, *other.broken} - {*side.posters, *side.broken})
        if lacking:
            rule = f"every poster needs a {name}; without one it is not evaluated"
            found = f"none for {examples(lacking)}"
            fix = "Add the files, or read the means as those of the other posters."
            issues.append(Issue(severity="warning", file=side.name, place="", rule=rule, found=found, fix=fix))
    return tuple(issues)


def _unread(profile: Profile, posters: Sequence[PosterResult], prediction: Posters) -> tuple[Issue, ...]:
    """Return one warning for the posters of which the profile reads little, with the shares and those that pass."""
    read = {poster.poster_id: poster.comparison.read for poster in posters if poster.comparison is not None}
    little = [poster for poster in posters if min(read.get(poster.poster_id, (1.0, 1.0))) < LEAST_READ]
    if not little:
        return ()
    names = [poster.poster_id for poster in little]
    truth, predicted = (min(read[name][side] for name in names) for side in (0, 1))
    passed = sum(poster.passes for poster in little)
    rule, are, fix = profile.unread
    found = (
        f"{examples(names)}, of whose letters and digits as little as {truth:.1%} of the reference and {predicted:.1%} "
        f"of the extraction are {are}; {passed:,} of them pass"
    )
    return (Issue(severity="warning", file=prediction.name, place="", rule=rule, found=found, fix=fix),)


def _rouge_json(comparison: PosterComparison) -> dict[str, object]:
    sections = comparison.sections
    best = zip(sections.reference, sections.best.tolist(), sections.best_f1.tolist(), strict=True)
    return {
        "global": comparison.global_f1,
        "sections": sections.mean,
        "won": comparison.rouge_winner,
        "best_sections": [
            {"reference": section.place, "generated": sections.generated[at].place if at >= 0 else None, "f1": f1}
            for section, at, f1 in best
        ],
    }


def _fields_json(comparison: PosterComparison) -> dict[str, object]:
    return {
        "reference": sum(field.reference for field in comparison.fields),
        "generated": sum(field.generated for field in comparison.fields),
        "only_in_reference": {field.path: field.reference for field in comparison.only_in_reference},
        "only_in_generated": {field.path: field.generated for field in comparison.only_in_generated},
    }


def _result(poster: PosterResult, source: str | None) -> dict[str, object]:
    metrics: dict[str, object] | None = None
    error: bool | str | None = poster.error
    if poster.comparison is not None:
        sections = poster.comparison.sections
        counts = {"gen_sections": len(sections.generated), "ref_sections": len(sections.reference)}
        metrics = {**poster.metrics, **counts}
        # The generated object itself states that the extraction failed.
        error = "error" in poster.comparison.generated.content
    return {
        "poster_id": poster.poster_id,
        "metrics": metrics,
        "passes": poster.passes,
        "error": error,
        "source": source,
    }
