"""The story of a pack: may B replace A, by what rule, what it costs by hand, and causes of mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.compare import differences as compare_differences
from evaluator.compare.decision import Cost, Decision, documents_needed
from evaluator.compare.differences import Difference
from evaluator.compare.metrics import METRICS
from evaluator.compare.sentences import difference_with_unit, interval_text, named_difference
from evaluator.components.gallery.crops import CARD_ASPECT, region
from evaluator.components.payload import Rect
from evaluator.components.viewer import page_overlay
from evaluator.components.viewer.judged import attach
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Side, box_key
from evaluator.data.issues import count_of, listed, plain
from evaluator.matching.box_measures import box_measures
from evaluator.matching.box_results import ALL_LABELS
from evaluator.matching.causes import Causes, CausesPartial, family_title
from evaluator.metrics.measures import Key
from evaluator.metrics.metric import BOX_METRICS
from evaluator.metrics.results import capitalised
from evaluator.pack.cards import Model, PackOptions, documents_in_words, is_document_included, verdict_words
from evaluator.review.verdicts import ReviewLog

MOST_CAUSES: Final = 4
_ROWS: Final = 12
# A crop of a cause shows at most this part of the width of a page, so that its text can be read.
_WIDEST: Final = 0.62
_WHAT: Final = {
    "page_missed": "A page with boxes has no prediction at all.",
    "page_extra": "A page without ground truth has predictions.",
    "shifted": "Boxes of the right size lie at one distance from their place.",
    "parts": "One box of the ground truth is read as several.",
    "joined": "Several boxes of the ground truth are read as one.",
    "alike": "The same mistake happens several times on a page.",
    "single": "Boxes that are wrong one by one.",
}

State = Literal["holds", "fails", "open"]
STATE_WORDS: Final[dict[State, str]] = {"holds": "holds", "fails": "fails", "open": "cannot tell"}


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
    """A cause of mistakes that costs much.

    `costs`: boxes to correct, of each model; `pages`: those with it; `page`: row of the shown one, `part` as shares;
    `verdict`: on the shown mistakes, or empty.
    """

    number: int
    title: str
    text: str
    costs: tuple[int, ...]
    pages: int
    place: str
    page: int
    part: Rect
    verdict: str


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
        state: State = "open"
        if main.low is not None and main.high is not None and not main.too_few:
            state = "holds" if main.low >= rule.least and main.low > 0.0 else "open"
            state = "fails" if main.high < max(rule.least, 0.0) else state
        span = None if main.too_few else interval_text(main, signed=True)
        number = f"{difference_with_unit(main)}, {span or 'too few documents for an interval'}"
        lines.append(RuleLine(state, f"{capitalised(title)} is clearly higher{by}", number))
    if rule.loss is not None:
        over = ", ".join(plain(named_difference(one)) for one in made.forbidding)
        lost = f"No clear loss of more than {_points(rule.loss)} in {made.counted}"
        worst = f"worst {plain(named_difference(made.losses[0]))}" if made.losses else "none"
        lines.append(RuleLine("fails" if over else "holds", lost, over or worst))
    return tuple(sorted(lines, key=lambda line: line.state != "fails"))


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
    """Return F1 after the verdicts, where they change anything."""
    applied = [model.corrected.applied for model in models[:2] if model.corrected is not None]
    if not applied:
        return []
    a, b = (box_measures(each.corrected.result if each.corrected else each.result) for each in models[:2])
    moved = compare_differences.differences(a, b, keys=[Key("f1", ALL_LABELS)])
    return [KeyDifference("F1", f"corrected, {count_of(max(applied), 'verdict')} applied", one) for one in moved]


# --- hand work and size of the test set ------------------------------------------------------------------------


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


def causes_of(models: Sequence[Model], log: ReviewLog, options: PackOptions) -> tuple[tuple[Cause, ...], str]:
    """Return the candidate's costliest causes and their share of its corrections; empty without mistakes.

    Only those with an example in a wanted document whose boxes can be drawn.
    """
    shown = models[:2]
    mine, model = shown[-1].result.causes, shown[-1]
    made: list[Cause] = []
    total = 0
    by_model = [CausesPartial.of(each.result.causes, each.result.matching.dataset.page_document) for each in shown]
    for family, of_family in by_model[-1].costliest:
        rows = mine.alike[family]
        if len(made) == MOST_CAUSES:
            break
        example = next((row for row in rows.tolist() if _is_wanted(model, int(mine.page[row]), options)), None)
        boxes = None if example is None else _boxes(model, mine, example)
        if example is None or boxes is None:
            continue
        costs = tuple(each.totals[family].cost if family in each.totals else 0 for each in by_model)
        page = int(mine.page[example])
        total += costs[-1]
        made.append(
            Cause(
                number=len(made) + 1,
                title=plain(mine.title(example) if not mine.more_like(example) else family_title(family)),
                text=_WHAT[family.cause],
                costs=costs,
                pages=of_family.pages,
                place=_place(model, page),
                page=page,
                part=_readable(boxes),
                verdict=_verdict(model, mine, example, log),
            )
        )
    every = int(mine.cost.sum())
    share = (
        f"{total:,} of the {every:,} boxes to correct with {model.letter} ({total / every * 100:.0f} %)"
        if every
        else ""
    )
    if not share:
        return tuple(made), ""
    documents = documents_in_words(options)
    if not documents:
        return tuple(made), f"{share}, costliest first"
    words = f"those with an example in {documents}, costliest first: {share}; boxes and pages are of all documents"
    return tuple(made), words


def _is_wanted(model: Model, page: int, options: PackOptions) -> bool:
    dataset = model.result.matching.dataset
    return is_document_included(dataset.documents[dataset.page_document[page]].doc_id, options)


def _place(model: Model, page: int) -> str:
    dataset = model.result.matching.dataset
    return f"{plain(dataset.documents[dataset.page_document[page]].name)}, page {int(dataset.page_index[page]) + 1}"


def _boxes(model: Model, mine: Causes, example: int) -> FloatArray | None:
    """Return the boxes of a cause as shares of its page; None where they cannot be drawn."""
    data = page_overlay.page_data(model.result, int(mine.page[example]), causes=mine)
    keys = set(_keys(model, mine, example))
    boxes = np.array([box.xyxy for box in data.boxes if box.key in keys], dtype=np.float64).reshape(-1, 4)
    return boxes if len(boxes) else None


def _keys(model: Model, mine: Causes, example: int) -> list[str]:
    mistakes = model.result.mistakes
    named: dict[Side, IntArray] = {"ground_truth": mistakes.of_truth, "prediction": mistakes.of_prediction}
    return [
        box_key(side, row)
        for side, of in named.items()
        for row in np.flatnonzero(np.isin(of, mine.rows[example])).tolist()
    ]


def _readable(boxes: FloatArray) -> Rect:
    """Return the part of a page around some boxes, no wider than its text can be read."""
    left, top, right, bottom = region(boxes, (612.0, 792.0))
    if right - left <= _WIDEST:
        return left, top, right, bottom
    down = _WIDEST * (612.0 / 792.0) / CARD_ASPECT
    x = min(max(float(boxes[:, 0].min()) - 0.03, 0.0), 1.0 - _WIDEST)
    y = min(max(float(boxes[:, 1].min()) - 0.03, 0.0), 1.0 - down)
    return x, y, x + _WIDEST, y + down


def _verdict(model: Model, mine: Causes, example: int, log: ReviewLog) -> str:
    """Return the verdicts on the mistakes of a cause, each with how many of them have it."""
    if not len(log):
        return ""
    page = int(mine.page[example])
    keys = set(_keys(model, mine, example))
    drawn = page_overlay.page_data(model.result, page, causes=mine).mistakes
    judged = [
        log.judged[mistake.target]
        for mistake in attach(drawn, model.result, page, log)
        if mistake.target in log.judged and set(mistake.keys) & keys
    ]
    said = Counter(verdict_words(one) for one in judged)
    whole = len(mine.rows[example])
    return ", ".join(f"{words}, {count} of {whole}" for words, count in said.most_common())
