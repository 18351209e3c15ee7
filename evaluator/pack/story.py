"""The story of a pack: may B replace A, by what rule, what it costs by hand, and causes of mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.compare import differences as compare_differences
from evaluator.compare.changed_causes import changed_causes
from evaluator.compare.decision import STATES, Cost, Decision, State, documents_needed
from evaluator.compare.differences import Difference
from evaluator.compare.ledger import ledger
from evaluator.compare.metrics import METRICS
from evaluator.compare.sentences import difference_with_unit, interval_text, named_difference
from evaluator.data.issues import count_of, listed, plain
from evaluator.matching.box_measures import box_measures
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics.measures import Key
from evaluator.metrics.metric import BOX_METRICS
from evaluator.metrics.results import capitalised
from evaluator.pack.options import Model, PackOptions, documents_in_words, is_document_included
from evaluator.review.decisions import (
    CauseRow,
    CauseSide,
    Effect,
    Example,
    cause_rows,
    effect_of,
    example_of,
)
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import ReviewLog

_ROWS: Final = 12
_WHAT: Final = {
    "page_missed": "A page with boxes has no prediction at all.",
    "page_extra": "A page without ground truth has predictions.",
    "shifted": "Boxes of the right size lie at one distance from their place.",
    "parts": "One box of the ground truth is read as several.",
    "joined": "Several boxes of the ground truth are read as one.",
    "named": "The same mistake, box by box.",
}

STATE_WORDS: Final[dict[State, str]] = {"holds": "holds", "fails": "fails", "open": "cannot tell"}
_FEW: Final = "too few documents for an interval"


class RuleLine(NamedTuple):
    """One condition of the rule, whether it holds, and its number."""

    state: State
    text: str
    number: str

    @property
    def word(self) -> str:
        """Return the state in words."""
        return STATE_WORDS[self.state]


class KeyDifference(NamedTuple):
    """A row of the key numbers: what is compared, and what is special about it."""

    name: str
    note: str
    difference: Difference


class Cause(NamedTuple):
    """A cause of mistakes; `number`: from 1, its anchor. `effect`: None without a verdict.

    `place`: of the example. `what` happens; `documents` with it, and the `change` in B, in words; empty with one model.
    """

    number: int
    row: CauseRow
    example: Example
    place: str
    effect: Effect | None
    what: str
    documents: str
    change: str

    @property
    def decided(self) -> bool:
        """Return whether anybody said anything about it."""
        return bool(self.row.entries)


def question(models: Sequence[Model]) -> str:
    """Return what the pack decides."""
    return f"Ship {models[1].name} instead of {models[0].name}?"


def rule_lines(made: Decision) -> tuple[RuleLine, ...]:
    """Return the conditions of the rule, each with whether it holds, failed ones first."""
    lines = []
    rule, main = made.rule, made.main
    if main is not None and main.difference is not None:
        title = METRICS[main.metric].title
        by = f" by at least {_points(rule.least)}" if rule.least else ""
        number = f"{difference_with_unit(main)}, {interval_text(main, signed=True) or _FEW}"
        lines.append(RuleLine(made.main_state, f"{capitalised(title)} is clearly higher{by}", number))
    if rule.loss is not None:
        over = ", ".join(plain(named_difference(one)) for one in made.forbidding)
        lost = f"No clear loss of more than {_points(rule.loss)} in {made.counted}"
        worst = f"worst {plain(named_difference(made.losses[0]))}" if made.losses else "none"
        lines.append(RuleLine(made.loss_state, lost, over or (_FEW if made.loss_state == "open" else worst)))
    return tuple(sorted(lines, key=lambda line: STATES.index(line.state)))


def _points(value: float) -> str:
    number = f"{100 * value:.1f}".removesuffix(".0")
    return f"{number} {'point' if number == '1' else 'points'}"


def key_differences(differences: Sequence[Difference], models: Sequence[Model]) -> tuple[KeyDifference, ...]:
    """Return the differences on one scale: all labels, corrected ones below, then clear labels."""
    if not differences:
        return ()
    chosen = compare_differences.decision_differences(differences, limit=_ROWS)
    own = [one for one in differences if one.overall and one.metric not in BOX_METRICS and one.difference is not None]
    own.sort(key=lambda one: list(METRICS).index(one.metric))
    overall = [KeyDifference(_title(one), "all labels", one) for one in chosen if one.overall]
    overall += [KeyDifference(_title(one), "all labels", one) for one in own]
    labels = [KeyDifference(_title(one), plain(one.label), one) for one in chosen if not one.overall]
    return (*overall[:1], *_corrected(models), *overall[1:], *labels)


def _title(one: Difference) -> str:
    return capitalised(METRICS[one.metric].title)


def _corrected(models: Sequence[Model]) -> list[KeyDifference]:
    applied = [model.corrected.applied for model in models[:2] if model.corrected is not None]
    if not applied:
        return []
    a, b = (box_measures(each.corrected.result if each.corrected else each.result) for each in models[:2])
    moved = compare_differences.differences(a, b, keys=[Key("f1", ALL_LABELS)])
    return [KeyDifference("F1", f"corrected, {count_of(max(applied), 'verdict')} applied", one) for one in moved]


# --- cost of correction and size of the test set ---------------------------------------------------------------


def manual_work(cost: Cost, options: PackOptions) -> tuple[str, str]:
    """Return what the corrections take with each model, and what B saves or costs, in sentences.

    >>> manual_work(Cost(839.0, 544.0), PackOptions())
    ('At 8 s a box: 1 h 52 min with A, 1 h 13 min with B.', '39 min less per 100 pages; for 20,000 pages a year 131 h.')
    """
    a, b = (each * options.seconds for each in cost)
    spent = f"At {options.seconds:g} s a box: {_duration(a)} with A, {_duration(b)} with B."
    moved = b - a
    if round(abs(moved) / 60) == 0:
        return spent, "As much work with both."
    word = "less" if moved < 0 else "more"
    year = abs(moved) / 100 * options.pages_per_year
    pages = f"for {options.pages_per_year:,} pages a year {_hours(year)}"
    return spent, f"{_duration(abs(moved))} {word} per 100 pages; {pages}."


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.0f} h" if seconds >= 36_000 else _duration(seconds)


def documents_words(made: Decision, differences: Sequence[Difference]) -> str:
    """Return whether the documents are enough to distinguish A from B, in sentences."""
    enough, needed = [], []
    for one in compare_differences.decision_differences(differences, limit=0):
        if not one.overall:
            continue
        title = METRICS[one.metric].title
        is_main = made.main is not None and one.metric == made.main.metric
        more = documents_needed(one, made.rule.least if is_main else 0.0)
        if more == 0:
            enough.append(title)
        elif more is None or more > 1_000:
            needed.append(f"more documents are unlikely to settle {title}" if more else f"{title} cannot be determined")
        else:
            needed.append(f"{title} needs about {count_of(more, 'more document')}")
    parts = [f"Large enough for {listed(enough)}." if enough else ""]
    parts += [f"{capitalised(each)}." for each in needed]
    if made.unjudged:
        parts.append(f"Too few documents to judge {listed([plain(label) for label in made.unjudged])}.")
    return " ".join(part for part in parts if part)


# --- causes ----------------------------------------------------------------------------------------------------


def causes_of(
    models: Sequence[Model],
    statuses: Sequence[FindingStatus],
    log: ReviewLog,
    options: PackOptions,
    made: Decision | None,
) -> tuple[tuple[Cause, ...], list[FindingStatus]]:
    """Return all causes, those that fail the rule first, then most wrong boxes; and the findings of none.

    Of some documents only, those with an example in them.
    """
    results = [model.result for model in models]
    rows, others = cause_rows(results, statuses, made)
    dataset = results[0].matching.dataset
    wanted = None
    if options.documents:
        codes = [code for code, each in enumerate(dataset.documents) if is_document_included(each.doc_id, options)]
        wanted = np.isin(dataset.page_document, codes)
    changes = {}
    if len(results) > 1:
        changed = changed_causes(results[0], results[1], ledger(*results[:2]))
        counts = zip(changed.solved.tolist(), changed.new.tolist(), strict=True)
        changes = dict(zip(changed.families, counts, strict=True))
    causes: list[Cause] = []
    for row in rows:
        example = example_of(row, wanted)
        # A finding of no cause has no family, and no example.
        if example is None or row.family is None:
            continue
        solved, new = changes.get(row.family, (0, 0))
        change = [words for count, words in ((solved, f"{solved:,} solved"), (new, f"{new:,} new")) if count]
        document = dataset.documents[dataset.page_document[example.page]]
        causes.append(
            Cause(
                number=len(causes) + 1,
                row=row,
                example=example,
                place=f"{plain(document.name)}, page {int(dataset.page_index[example.page]) + 1}",
                effect=effect_of(row, log, made),
                what=_WHAT[row.family.cause],
                documents=", ".join(map(_documents_with, models, row.sides)),
                change=", ".join(change) or "none",
            )
        )
    return tuple(causes), [entry for row in others for entry in row.entries]


def _documents_with(model: Model, side: CauseSide) -> str:
    return f"{side.documents:,} of {len(side.result.matching.dataset.documents):,} in {model.letter}"


def causes_words(models: Sequence[Model], causes: Sequence[Cause], options: PackOptions) -> str:
    """Return which causes there are and what they come to."""
    documents = documents_in_words(options)
    which = f"{len(causes):,} with an example in {documents}" if documents else f"all {len(causes):,}"
    wrong = (sum(side.wrong for side in sides) for sides in zip(*(cause.row.sides for cause in causes), strict=True))
    counts = zip(models, wrong, strict=False)
    totals = listed([f"{model.letter} has {total:,}" for model, total in counts])
    return f"{which}, most wrong boxes first: {totals}{'; of all documents' if documents else ''}" if causes else ""
