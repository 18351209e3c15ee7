"""The causes of all open models with what was decided and what that is worth, for Decisions, a meeting and a pack.

A row is a kind of cause (`matching.causes.Family`; the same mistake once or several times on a page is one kind) with
its places under every model, the findings on them, who acts on it, and the effect of its verdict on the numbers. A
finding of no mistake of these results is a row of its own.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.compare.decision import FOUND, Decision
from evaluator.compare.differences import Difference
from evaluator.compare.metrics import METRICS
from evaluator.compare.sentences import points
from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.dataset import box_key
from evaluator.data.issues import count_of, listed, plain
from evaluator.matching.box_results import ALL_LABELS, UNMATCHED, AnyBoxResult
from evaluator.matching.causes import Family, family_title
from evaluator.matching.error_types import ERROR_TYPES, NONE
from evaluator.metrics.results import capitalised
from evaluator.review.corrected_results import corrected_result
from evaluator.review.corrections import corrections
from evaluator.review.finding_groups import (
    OPINIONS,
    VERDICT_MARKS,
    FindingSet,
    PlaceRows,
    Results,
    agreed_by_two,
    beside,
    rows_of,
    targets_of_causes,
)
from evaluator.review.identity import WRONG_PIXELS
from evaluator.review.item_targets import ITEM_PROBLEMS, ItemSide
from evaluator.review.status import FIELD_PROBLEMS, FindingStatus, mistake_of, title_of
from evaluator.review.verdicts import KINDS, STATUSES, VERDICTS, Event, ReviewLog, Target
from evaluator.review.word_targets import WORD_PROBLEMS

TEXT_PROBLEMS: Final = {**FIELD_PROBLEMS, **WORD_PROBLEMS, **ITEM_PROBLEMS}
"""What can be wrong with fields, words and items, in words."""
STATUS_MARKS: Final[Mapping[str, str]] = {"open": "○", "in_progress": "◔", "done": "✓"}
EffectKind = Literal["fixed", "corrected", "none"]
EFFECT_WORDS: Final[Mapping[EffectKind, str]] = {
    "fixed": "If fixed",
    "corrected": "Corrected, official stays",
    "none": "Changes no number",
}


class CauseSide(NamedTuple):
    """What one model has of a cause: rows of its ``causes``, the largest first, and its wrong boxes.

    `missed` and `extra`: rows of the ground truth (FN) and of its predictions (FP). `judged` of its `mistakes` have a
    verdict, or several.
    """

    result: AnyBoxResult
    rows: IntArray
    missed: IntArray
    extra: IntArray
    mistakes: int
    judged: int

    @property
    def wrong(self) -> int:
        """Return the number of wrong boxes."""
        return len(self.missed) + len(self.extra)

    @property
    def noun(self) -> str:
        """Return what is counted as wrong, of several."""
        return "wrong boxes"

    @property
    def documents(self) -> int:
        """Return in how many documents its places are."""
        pages = self.result.causes.page[self.rows]
        return len(np.unique(self.result.matching.dataset.page_document[pages]))

    @property
    def words(self) -> str:
        """Return wrong boxes and places: ``19 wrong boxes at 5 places``."""
        if not len(self.rows):
            return "none"
        if not self.wrong:
            return f"{count_of(len(self.rows), 'place')}, no wrong box"
        return f"{count_of(self.wrong, 'wrong box')} at {count_of(len(self.rows), 'place')}"


class CausePlace(NamedTuple):
    """Where a cause happened once: the model (its place among the models), and the row of its ``causes``."""

    model: int
    row: int


@dataclass(frozen=True, eq=False)
class CausePlaces:
    """Places in columns, each made when it is looked at: `model` and `row` of `CausePlace`, int64, shape (N,)."""

    model: IntArray
    row: IntArray

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, at: int) -> CausePlace:
        return CausePlace(int(self.model[at]), int(self.row[at]))

    def __iter__(self) -> Iterator[CausePlace]:
        return (self[at] for at in range(len(self)))


class EffectLine(NamedTuple):
    """A measure of one model (its place among the models) before and after; None where it is undefined."""

    model: int
    measure: str
    before: float | None
    after: float | None


class Effect(NamedTuple):
    """What the verdict on a cause is worth; `note` is a sentence, or empty."""

    kind: EffectKind
    lines: tuple[EffectLine, ...] = ()
    note: str = ""

    @property
    def words(self) -> str:
        """Return what the lines are."""
        return EFFECT_WORDS[self.kind]


@dataclass(frozen=True, eq=False)
class CauseRow(FindingSet):
    """A kind of cause under all models, or (`family` None, no sides) a finding of none, or several that are closed.

    `fails`: the differences of the rule that it makes fail.
    """

    family: Family | None
    sides: tuple[CauseSide, ...]
    entries: tuple[FindingStatus, ...] = ()
    fails: tuple[Difference, ...] = ()

    @property
    def key(self) -> str:
        """Return what names it, the same under every threshold; a digest, as labels may be long."""
        if self.family is None:
            return self.entries[0].judged.target_id
        return hashlib.sha256("/".join(self.family).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def title(self) -> str:
        """Return it in words."""
        if self.family is not None:
            return plain(family_title(self.family))
        more = f", and {len(self.entries) - 1:,} more" if len(self.entries) > 1 else ""
        return _finding_title(self.entries[0]) + more

    @property
    def mistakes(self) -> int:
        """Return the number of its mistakes, of all models, or of its findings."""
        return sum(side.mistakes for side in self.columns) if self.columns else len(self.entries)

    @property
    def columns(self) -> Sequence[CauseSide | ItemSide]:
        """Return what each model has of it; nothing for a finding of no mistake."""
        return self.sides

    @property
    def examples(self) -> int:
        """Return how many places there are to show one by one; 0 for a finding."""
        return len(self.places)

    def target(self, example: int = 0) -> tuple[str, Target] | None:
        """Return what is shown of a row without boxes, by the identity of its verdicts; None for nothing."""
        return (self.entries[0].judged.target_id, self.entries[0].judged.target) if self.entries else None

    @property
    def closed(self) -> bool:
        """Return whether the ground truth that is open is corrected as its verdict asks for."""
        return bool(self.entries) and all(entry.state == "corrected" for entry in self.entries)

    @property
    def judged(self) -> int:
        """Return how many of its mistakes have a verdict, or several."""
        if self.columns:
            return sum(side.judged for side in self.columns)
        return sum(entry.judged.verdict is not None or entry.judged.conflict for entry in self.entries)

    @property
    def done(self) -> bool:
        """Return whether all of it was judged."""
        return self.judged >= self.mistakes

    @property
    def agreed(self) -> bool:
        """Return whether all of it has one verdict that two reviewers or more gave."""
        return self.done and self.opinion in VERDICTS and all(agreed_by_two(entry.judged) for entry in self.entries)

    @property
    def most(self) -> int:
        """Return the wrong boxes, or the cost, of the worse model; 0 for a finding."""
        return max((side.wrong for side in self.columns), default=0)

    @cached_property
    def places(self) -> CausePlaces:
        """Return where it happened, once each: of the model with most wrong boxes first, the largest first."""
        models, rows, seen = [], [], np.empty(0, dtype=np.int64)
        for model in self._worst_first:
            side = self.sides[model]
            causes, mistakes = side.result.causes, side.result.mistakes
            # The place of another model is the same one where both miss the same ground truth.
            again = causes.of_mistake[mistakes.of_truth[side.missed[np.isin(side.missed, seen)]]]
            rows.append(side.rows[~np.isin(side.rows, again)])
            models.append(np.full(len(rows[-1]), model))
            seen = np.concatenate([seen, side.missed])
        return CausePlaces(*(np.concatenate([seen[:0], *parts]) for parts in (models, rows)))

    @property
    def _worst_first(self) -> list[int]:
        return sorted(range(len(self.sides)), key=lambda place: (-self.sides[place].wrong, place))

    @cached_property
    def verdict(self) -> str:
        """Return the verdict in words, with counts where places differ or are not judged; empty for none."""
        said = Counter("conflict" if entry.judged.conflict else entry.judged.verdict or "" for entry in self.entries)
        said.pop("", None)
        if not said:
            return "Note only" if self.entries else ""
        if len(said) > 1:
            return ", ".join(f"{count:,} {OPINIONS[each]}" for each, count in said.most_common())
        words = OPINIONS[next(iter(said))]
        left = "" if self.judged >= self.mistakes else f", {self.judged:,} of {self.mistakes:,} mistakes judged"
        return words + left

    @property
    def said(self) -> str:
        """Return the sign of the verdict and its words, ``● Model wrong``; empty where nobody said anything."""
        return f"{VERDICT_MARKS[self.opinion]} {self.verdict}" if self.entries else ""

    @property
    def notes(self) -> tuple[Event, ...]:
        """Return the notes, each text once, the oldest first: one note on many places is one note."""
        events = sorted((event for event in self.opinions if event.note.strip()), key=lambda event: event.time)
        return tuple({event.note.strip(): event for event in reversed(events)}.values())[::-1]

    @property
    def people(self) -> tuple[str, ...]:
        """Return who decided and when, each name once: ``Ada, 28 Nov 2026``."""
        last: dict[str, Event] = {}
        for event in sorted(self.opinions, key=lambda event: event.time):
            last[_author(event)] = event
        return tuple(f"{name}, {event.time.day} {event.time:%b %Y}" for name, event in last.items())

    @property
    def owner(self) -> str:
        """Return who acts on it; empty for nobody."""
        return plain(self.task.owner) if self.task else ""

    @property
    def due(self) -> str:
        """Return until when, as ``11 Dec 2026``; empty without a day."""
        return day_words(self.task.due) if self.task else ""

    @property
    def status(self) -> str:
        """Return how far the work is, in words: open until somebody says otherwise, or it is seen in the files."""
        return STATUSES[self.status_key]

    @property
    def status_key(self) -> str:
        """Return how far the work is, as it is stored."""
        return "done" if self.closed else (self.task.status if self.task else "") or "open"

    def targets(self, log: ReviewLog, example: int | None = None) -> dict[str, Target]:
        """Return its mistakes under all models, or those of one place, by the identity of their verdicts."""
        if example is not None:
            place = self.places[example]
            return targets_of_causes(self.sides[place.model].result, np.array([place.row]), log)
        targets = {entry.judged.target_id: entry.judged.target for entry in self.entries} if not self.sides else {}
        for side in self.sides:
            if len(side.rows):
                targets |= targets_of_causes(side.result, side.rows, log)
        return targets


def _author(event: Event) -> str:
    return plain(event.author) + ("" if event.verified else " (unverified)")


def _finding_title(entry: FindingStatus) -> str:
    target = entry.judged.target
    name = entry.mistake or target.mistake or ""
    known = name in ERROR_TYPES["document"] or name == WRONG_PIXELS
    what = title_of(name) if known else TEXT_PROBLEMS.get(name, KINDS[target.kind])
    where = [plain(target.document)] if target.document else []
    where += [f"page {target.page + 1}"] if target.page is not None else []
    return f"{what}: {', '.join(where)}" if where else what


def day_words(day: str) -> str:
    """Return ``2026-12-11`` as ``11 Dec 2026``; empty for no day."""
    if not day:
        return ""
    read = date.fromisoformat(day)
    return f"{read.day} {read:%b %Y}"


def task_text(task: Event | None) -> str:
    """Return owner, due date and status in words; empty where nobody gave one."""
    if task is None:
        return ""
    parts = [plain(task.owner), f"due {day_words(task.due)}" if task.due else "", STATUSES.get(task.status, "").lower()]
    return ", ".join(part for part in parts if part)


def cause_rows(
    results: Results, statuses: Sequence[FindingStatus], made: Decision | None = None
) -> tuple[list[CauseRow], list[CauseRow]]:
    """Return the causes of some models, and the findings that are of none of their mistakes, in their order.

    Causes that make the rule fail come first, then most wrong boxes of the worse model. `results`: of one dataset;
    `statuses`: of all findings; `made`: the decision between the first two.
    """
    entries, judged, others = _entries(results, statuses)
    families = dict.fromkeys(each for result in results for each in result.causes.kinds)
    by_result = [_sides(result, judged[place]) for place, result in enumerate(results)]
    nothing = np.empty(0, dtype=np.int64)
    rows = [
        CauseRow(
            family,
            tuple(
                each.get(family, CauseSide(result, nothing, nothing, nothing, 0, 0))
                for result, each in zip(results, by_result, strict=True)
            ),
            tuple(entries.get(family, ())),
        )
        for family in families
    ]
    fails: dict[str, list[Difference]] = {}
    for one in made.forbidding if made is not None else ():
        worst = max(rows, key=lambda row: _share_of(row, one), default=None)
        if worst is not None and _share_of(worst, one) > 0:
            fails.setdefault(worst.key, []).append(one)
    rows = [replace(row, fails=tuple(fails.get(row.key, ()))) for row in rows]
    rows.sort(key=lambda row: (not row.fails, -row.most, -max(len(side.rows) for side in row.sides)))
    return rows, finding_rows(others)


def names_in(rows: Sequence[CauseRow]) -> list[str]:
    """Return who acts on some rows, and who gave verdicts on them, in alphabetical order."""
    owners = {event.owner for row in rows for event in row.opinions if event.owner}
    return sorted(map(plain, owners | {reviewer for row in rows for reviewer, _ in row.votes}))


def finding_rows(entries: Sequence[FindingStatus]) -> list[CauseRow]:
    """Return findings that are of no cause, each as a row of its own; those of one kind that are corrected as one."""
    rows: dict[object, list[FindingStatus]] = {}
    for entry in entries:
        target, task = entry.judged.target, entry.judged.task
        alike = (target.mistake, target.label, task.owner if task else "") if entry.state == "corrected" else None
        rows.setdefault(alike or entry.judged.target_id, []).append(entry)
    return [CauseRow(None, (), tuple(each)) for each in rows.values()]


def said_of_pages(entries: Iterable[FindingStatus]) -> dict[tuple[str, int], str]:
    """Return what was said of each page by document and page from 0, as `CauseRow.said`; findings may come twice."""
    pages: dict[tuple[str, int], dict[str, FindingStatus]] = {}
    for entry in entries:
        target = entry.judged.target
        if target.document is not None and target.page is not None:
            pages.setdefault((target.document, target.page), {})[entry.judged.target_id] = entry
    return {page: CauseRow(None, (), tuple(of_page.values())).said for page, of_page in pages.items()}


def _entries(
    results: Results, statuses: Sequence[FindingStatus]
) -> tuple[dict[Family, list[FindingStatus]], list[set[int]], list[FindingStatus]]:
    entries: dict[Family, list[FindingStatus]] = {}
    judged: list[set[int]] = [set() for _ in results]
    others: list[FindingStatus] = []
    for entry in statuses:
        families: dict[Family, None] = {}
        for place, result in enumerate(results):
            mistake = mistake_of(entry, result.mistakes, result.matching.model)
            if mistake == NONE:
                continue
            families[result.causes.families[int(result.causes.of_mistake[mistake])]] = None
            if entry.judged.verdict is not None or entry.judged.conflict:
                judged[place].add(mistake)
        for family in families:
            entries.setdefault(family, []).append(entry)
        if not families:
            others.append(entry)
    return entries, judged, others


def _sides(result: AnyBoxResult, judged: set[int]) -> dict[Family, CauseSide]:
    causes, mistakes = result.causes, result.mistakes
    code = causes.kind
    wrong = []
    for of, partner in (
        (mistakes.of_truth, result.truth_partner),
        (mistakes.of_prediction, result.prediction_partner),
    ):
        rows = np.flatnonzero((of != NONE) & (partner == UNMATCHED))
        wrong.append((rows, code[causes.of_mistake[of[rows]]]))
    of_mistake = code[causes.of_mistake]
    seen = (
        np.bincount(of_mistake[sorted(judged)], minlength=len(causes.kinds))
        if judged
        else np.zeros(len(causes.kinds), np.int64)
    )
    sides = {}
    for at, family in enumerate(causes.kinds):
        missed, extra = (rows[of == at] for rows, of in wrong)
        sides[family] = CauseSide(
            result, causes.alike[family], missed, extra, int((of_mistake == at).sum()), int(seen[at])
        )
    return sides


def _share_of(row: CauseRow, one: Difference) -> int:
    """Return how many more wrong boxes than the first model the second has, of those that a difference counts."""
    if one.metric not in FOUND or len(row.sides) < 2:
        return 0
    first, second = (_counted(side, one.metric, one.label) for side in row.sides[:2])
    return second - first


def _counted(side: CauseSide, metric: str, label: str) -> int:
    missed, extra = _of_label(side, label)
    return (metric != "precision") * int(missed.sum()) + (metric != "recall") * int(extra.sum())


def _of_label(side: CauseSide, label: str) -> tuple[BoolArray, BoolArray]:
    matching = side.result.matching
    if label == ALL_LABELS:
        return np.ones(len(side.missed), dtype=bool), np.ones(len(side.extra), dtype=bool)
    code = matching.labels.index(label)
    return matching.dataset.ground_truth.label[side.missed] == code, matching.prediction.label[side.extra] == code


# --- what a verdict is worth ---------------------------------------------------------------------------------------


def effect_of(row: CauseRow, log: ReviewLog, made: Decision | None = None) -> Effect | None:
    """Return what the verdict on a cause is worth; None without a verdict.

    "Model wrong": F1, and the measure that the rule names, with the extra boxes of the cause gone and the missed ones
    found. "Ground truth wrong" and "Ignore": F1 on the ground truth corrected by the verdicts on this cause alone.
    """
    if not row.sides:
        return Effect("none") if row.columns else None
    verdicts = {entry.judged.verdict for entry in row.entries if not entry.judged.conflict}
    if {"ground_truth_wrong", "ignore"} & verdicts:
        return _corrected(row, log)
    if "model_wrong" in verdicts:
        return _fixed(row, made)
    return Effect("none") if row.opinion in VERDICTS or row.opinion in ("conflict", "several") else None


def effect_text(effect: Effect | None, letters: Sequence[str]) -> str:
    """Return an effect in one line: ``If fixed: A F1 0.696 → 0.758``; empty for none."""
    if effect is None:
        return ""
    lines = ", ".join(
        f"{letters[line.model]} {line.measure} {_number(line.before)} → {_number(line.after)}" for line in effect.lines
    )
    return f"{effect.words}{': ' if lines else ''}{lines}{'. ' if effect.note else ''}{effect.note}"


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _corrected(row: CauseRow, log: ReviewLog) -> Effect:
    wanted = {entry.judged.target_id for entry in row.entries}
    dataset = row.sides[0].result.matching.dataset
    to = corrections(dataset, ReviewLog.of(event for event in log.events if event.target_id in wanted))
    if not to.applied:
        return Effect("none", note="No verdict can be applied.")
    lines = []
    for place, side in enumerate(row.sides):
        both = side.result, corrected_result(side.result, to).result
        before, after = (result.micro.row(0)["f1"] for result in both)
        if before != after:
            lines.append(EffectLine(place, "F1", before, after))
    return Effect("corrected", tuple(lines))


def _fixed(row: CauseRow, made: Decision | None) -> Effect:
    lines, notes = [], []
    for one in row.fails:
        first, second = row.sides[:2]
        before, after = _ratio(second, one.metric, one.label, False), _ratio(second, one.metric, one.label, True)
        name = METRICS[one.metric].title if one.metric == "f1" else METRICS[one.metric].title.lower()
        title = capitalised(METRICS[one.metric].title) if one.label == ALL_LABELS else f"{plain(one.label)} {name}"
        lines.append(EffectLine(1, title, before, after))
        other = _ratio(first, one.metric, one.label, False)
        if after is not None and other is not None and made is not None and made.rule.loss is not None:
            notes.append(_beside_a(title, after - other, made.rule.loss))
    lines += [
        EffectLine(place, "F1", _ratio(side, "f1", ALL_LABELS, False), _ratio(side, "f1", ALL_LABELS, True))
        for place, side in enumerate(row.sides)
        if side.wrong and not (row.fails and place == 1)
    ]
    return Effect("fixed", tuple(lines), " ".join(notes))


def _beside_a(measure: str, difference: float, loss: float) -> str:
    moved = f"{measure} {points(abs(difference)).lstrip('+−±')} points"
    if difference >= 0:
        return f"{moved} above A."
    allowed = f"{100 * loss:.1f}".removesuffix(".0")
    return f"{moved} below A, {'within' if difference >= -loss else 'more than'} the {allowed} allowed."


def _ratio(side: CauseSide, metric: str, label: str, fixed: bool) -> float | None:
    result = side.result
    columns, row = (result.micro, 0) if label == ALL_LABELS else (result.per_label, result.matching.labels.index(label))
    counts = columns.row(row)
    tp, fp, fn = (int(counts[each] or 0) for each in ("tp", "fp", "fn"))
    if fixed:
        missed, extra = (int(each.sum()) for each in _of_label(side, label))
        tp, fp, fn = tp + missed, fp - extra, fn - missed
    part, whole = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "f1": (2 * tp, 2 * tp + fp + fn)}[metric]
    return part / whole if whole else None


# --- an example, and words -----------------------------------------------------------------------------------------


class PlaceBoxes(NamedTuple):
    """The boxes of a place under one model, by key; those of each status, and in words ``3 matched, 1 missed``."""

    keys: frozenset[str]
    matched: int
    missed: int
    extra: int

    @property
    def words(self) -> str:
        """Return what the model did there."""
        counts = (self.matched, "matched"), (self.missed, "missed"), (self.extra, "extra")
        return ", ".join(f"{count:,} {word}" for count, word in counts if count) or "no box here"


class Example(NamedTuple):
    """A place of a cause: the model whose cause it is (its place among the models), and the page."""

    model: int
    page: int
    boxes: tuple[PlaceBoxes, ...]


def example_of(row: CauseRow, pages: BoolArray | None = None) -> Example | None:
    """Return the first place of a cause; None without one on the wanted `pages`."""
    wanted = (each for each in row.places if pages is None or pages[row.sides[each.model].result.causes.page[each.row]])
    place = next(wanted, None)
    return None if place is None else example_at(row, place)


def example_at(row: CauseRow, place: CausePlace) -> Example:
    """Return a place of a cause, with what each model did there."""
    own = row.sides[place.model].result
    here = rows_of(own, own.causes.rows[place.row], int(own.causes.page[place.row]))
    return Example(place.model, here.page, tuple(_boxes_of(side.result, here, own) for side in row.sides))


def _boxes_of(result: AnyBoxResult, place: PlaceRows, own: AnyBoxResult) -> PlaceBoxes:
    here = beside(result, place, own)
    partners = result.truth_partner[here.truths]
    matched = partners[partners != UNMATCHED]
    keys = [box_key("ground_truth", row) for row in here.truths.tolist()]
    keys += [box_key("prediction", row) for row in (*here.predictions.tolist(), *matched.tolist())]
    return PlaceBoxes(frozenset(keys), len(matched), len(here.truths) - len(matched), len(here.predictions))


def decisions_words(rows: Sequence[CauseRow]) -> str:
    """Return how many causes are decided, by whom, and what is left to do by person."""
    decided = [row for row in rows if row.entries]
    if not decided:
        return "No cause is decided yet."
    people = listed(list(dict.fromkeys(_author(event) for row in decided for event in row.opinions)))
    left = Counter(row.owner or "no owner" for row in decided if row.status != STATUSES["done"])
    order = sorted(left.items(), key=lambda each: (each[0] == "no owner", -each[1], each[0]))
    to_do = f" Still to do: {', '.join(f'{name} {count:,}' for name, count in order)}." if left else ""
    return f"{len(decided):,} of {count_of(len(rows), 'cause')}, by {people}.{to_do}"
