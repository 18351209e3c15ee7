"""Poster text validation as one object: its options, how it runs, what is compared of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final

import numpy as np
from msgspec import Meta

from evaluator.formats.posters import Posters
from evaluator.matching.box_measures import column
from evaluator.metrics.item_ledger import ItemLedger
from evaluator.metrics.measures import Key, Measures, Ratios
from evaluator.metrics.metric import Metric
from evaluator.metrics.observations import Observations
from evaluator.protocols.base import Count, Evaluation, Options, Protocol
from evaluator.protocols.posters.difference import columns_of
from evaluator.protocols.posters.evaluation import CRITERIA, NAME, TITLE, VERSION, PostersResult, evaluate
from evaluator.protocols.posters.ledger import poster_ledger
from evaluator.protocols.posters.observations import MEASURES, observations
from evaluator.protocols.posters.profiles import DEFAULT_PROFILE, DEFAULT_WORDS, ProfileName, WordRule

ALL_POSTERS: Final = "All posters"


class PostersOptions(Options, frozen=True, kw_only=True):
    """The options of poster text validation."""

    profile: Annotated[
        ProfileName,
        Meta(description="the text of the specification, or what reproduces the published table."),
    ] = DEFAULT_PROFILE
    words: Annotated[
        WordRule,
        Meta(description="what a word is in scripts without blanks (Chinese, Japanese, Thai): a run, or a character."),
    ] = DEFAULT_WORDS


class PostersProtocol(Protocol[Posters, PostersOptions]):
    """Words, numbers, order and structure of extracted posters; see ``evaluation``."""

    name = NAME
    version = VERSION
    title = TITLE
    kind = "posters"
    options = PostersOptions
    correctable = False
    metrics: ClassVar[Mapping[str, Metric]] = {
        "word_capture": Metric("word capture", "captures more words", "captures fewer words"),
        "rouge_l": Metric("ROUGE-L", "keeps the order of the text better", "keeps the order of the text worse"),
        "number_capture": Metric("number capture", "captures more numbers", "captures fewer numbers"),
        "field_proportion": Metric("field proportion", "writes more fields", "writes fewer fields", target=1.0),
        "passes": Metric("share that passes", "passes more posters", "passes fewer posters"),
        "words": Metric("words captured", "captures more words", "captures fewer words"),
        "numbers": Metric("numbers captured", "captures more numbers", "captures fewer numbers"),
        "sections": Metric("ROUGE-L of sections", "matches sections better", "matches sections worse"),
    }
    headline: ClassVar[tuple[str, ...]] = ("word_capture", "rouge_l", "number_capture")
    views = ("posters", "slices")
    slice_measures = MEASURES

    def evaluate(
        self,
        truth: Posters,
        models: Sequence[Posters],
        options: PostersOptions,
        count: Count | None = None,
    ) -> list[Evaluation]:
        """Return one comparison of posters for each model."""
        results = (evaluate(truth, predicted, profile=options.profile, words=options.words) for predicted in models)
        return [Evaluation(result, result.issues) for result in results]

    def item_ledgers(self, a: PostersResult, b: PostersResult) -> tuple[ItemLedger, ...]:
        """Return a ledger by poster."""
        return (poster_ledger(columns_of(a), columns_of(b)),)

    def observations(self, results: Sequence[PostersResult], measure: str, *, scores: bool = False) -> Observations:
        """Return the posters, words, numbers or sections behind a measure; none of them has a score."""
        return observations(results, measure)

    def measures(self, result: PostersResult) -> Measures:
        """Return the means of the four criteria over the posters where they are defined."""
        columns = np.column_stack([result.column(criterion) for criterion in CRITERIA])
        known = ~np.isnan(columns)
        part = Ratios(
            keys=tuple(Key(criterion, ALL_POSTERS) for criterion in CRITERIA),
            values=np.concatenate([column(result.aggregate[name]) for name in CRITERIA]),
            numerator=np.where(known, columns, 0.0),
            denominator=known.astype(np.float64),
        )
        return Measures(tuple(poster.poster_id for poster in result.posters), ALL_POSTERS, (part,), "poster")


PROTOCOL: Final = PostersProtocol()
