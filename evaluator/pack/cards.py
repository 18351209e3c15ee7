"""The findings of a review pack: one card for each judged mistake, page, document or comparison.

A mistake that is still there is shown as it is today, any other as it was judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import msgspec
import numpy as np

from evaluator.compare.decision import Rule
from evaluator.components.viewer import page_overlay
from evaluator.components.viewer.judged import attach
from evaluator.components.viewer.payload import BoxItem, MistakeItem, PageLayers
from evaluator.data.boxes import area
from evaluator.data.dataset import Dataset, box_key
from evaluator.data.issues import count_of, listed, plain
from evaluator.matching.box_results import AnyBoxResult
from evaluator.review.corrected_results import CorrectedResult
from evaluator.review.status import STATES, FindingStatus, title_of
from evaluator.review.verdicts import VERDICTS, Event, ReviewedTarget, ReviewLog, Target

MOST_CARDS: Final = 300
MOST_SECONDS: Final = 3_600
"""An hour for one box."""
MOST_PAGES_PER_YEAR: Final = 1_000_000_000
MOST_MEGABYTES: Final = 1_000
"""Of one file, 2**20 bytes each."""
CONFLICT: Final = "conflict"
"""The choice among the verdicts for findings on which reviewers disagree."""
VERDICT_WORDS: Final = dict[str, str]([*VERDICTS.items(), (CONFLICT, "Reviewers disagree")])
"""What the verdicts that findings can be chosen by are called."""
# Shown when nobody has judged anything yet, so that a first meeting has something to look at.
_UNJUDGED_CARDS: Final = 12
_KINDS: Final = {"page": "Page", "document": "Document", "comparison": "Comparison"}


def today() -> str:
    """Return the day that a pack carries."""
    day = date.today()
    return f"{day.day} {day:%B %Y}"


class PackOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the reader chose; ValueError, one sentence, for a value out of its range.

    `title`, `date`: as printed. `judged_only`: no findings where nothing is judged. `cards`, `pages`: at most so many.
    `budget`: bytes of the file. `documents`, `verdicts`, `tags`: of the findings, empty for all; numbers are of all
    documents. `seconds`: to correct one box. `rule`: when the candidate is shipped.
    """

    title: str = ""
    date: str = ""
    judged_only: bool = False
    cards: int = 60
    pages: int = 60
    budget: float = 20.0 * 2**20
    documents: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    seconds: float = 8.0
    pages_per_year: int = 20_000
    rule: Rule = Rule()

    def __post_init__(self) -> None:
        if not 0 <= self.cards <= MOST_CARDS:
            raise ValueError(f"a pack holds 0 to {MOST_CARDS} findings; found {self.cards}")
        if self.pages < 0:
            raise ValueError(f"the number of pages must be at least 0; found {self.pages}")
        unknown = [name for name in self.verdicts if name not in (*VERDICTS, CONFLICT)]
        if unknown:
            raise ValueError(f"verdicts are {', '.join((*VERDICTS, CONFLICT))}; found {', '.join(unknown)}")
        if not 0.0 < self.seconds <= MOST_SECONDS:
            allowed = f"above 0 and at most {MOST_SECONDS:,}"
            raise ValueError(f"the seconds for a box must be {allowed}; found {self.seconds:g}")
        if not 1 <= self.pages_per_year <= MOST_PAGES_PER_YEAR:
            allowed = f"between 1 and {MOST_PAGES_PER_YEAR:,}"
            raise ValueError(f"the pages per year must be {allowed}; found {self.pages_per_year:,}")
        if not 0.5 <= self.budget / 2**20 <= MOST_MEGABYTES:
            allowed = f"between 0.5 and {MOST_MEGABYTES:,} MB"
            raise ValueError(f"the size budget must be {allowed}; found {self.budget / 2**20:g} MB")


@dataclass(frozen=True, slots=True)
class Model:
    """One model of the pack; `letter` is its short name in tables and pictures."""

    letter: str
    name: str
    result: AnyBoxResult
    corrected: CorrectedResult | None

    @property
    def signature(self) -> str:
        """Return what made its numbers, in one line."""
        line: str = self.result.matching.signature(self.result.iou).line
        return line


@dataclass(frozen=True, slots=True)
class Card:
    """One finding as it is shown.

    `number`: from 1, its anchor. `page`: row in the dataset, -1 for none. `boxes`: empty for a page or document.
    `verdict`: None without one or with several. `state`: empty where the finding applies, else what became of it.
    """

    number: int
    title: str
    model: str
    facts: tuple[str, ...]
    place: str
    page: int
    boxes: tuple[BoxItem, ...]
    verdict: str | None = None
    verdict_words: str = "No verdict yet"
    people: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    state: str = ""


_NAMED: Final = 3
"""So many documents are named; more are counted."""


def documents_in_words(options: PackOptions) -> str:
    """Return the shown documents, ``tram-options.pdf`` or ``4 documents``; empty for all."""
    named = list(map(plain, options.documents))
    return listed(named) if len(named) <= _NAMED else count_of(len(named), "document")


def filter_in_words(options: PackOptions) -> str:
    """Return which findings are shown: `` of tram-options.pdf with the tag border``; empty for all."""
    documents = documents_in_words(options)
    conditions = []
    if options.verdicts:
        verdicts = [VERDICT_WORDS[name].lower() for name in options.verdicts]
        conditions.append(f"the verdict {listed(verdicts, 'or')}")
    if options.tags:
        conditions.append(f"the tag {listed([plain(tag) for tag in options.tags], 'or')}")
    of = f" of {documents}" if documents else ""
    return f"{of} with {' and '.join(conditions)}" if conditions else of


def is_document_included(document: str | None, options: PackOptions) -> bool:
    """Tell whether a document goes in."""
    return not options.documents or document is None or document in options.documents


def is_included(judged: ReviewedTarget, options: PackOptions) -> bool:
    """Tell whether a finding goes in: its document, its verdict and its tags are wanted."""
    verdict = CONFLICT if judged.conflict else judged.verdict
    return (
        is_document_included(judged.target.document, options)
        and (not options.verdicts or verdict in options.verdicts)
        and (not options.tags or bool(set(judged.tags) & set(options.tags)))
    )


def chosen_events(events: Sequence[Event], options: PackOptions) -> list[Event]:
    """Return the events of the findings that go in, in order, superseded ones included."""
    every = ReviewLog.of(events).every
    return [event for event in events if is_included(every[event.target_id], options)]


def cards_of(
    models: Sequence[Model], status: Sequence[FindingStatus], log: ReviewLog, options: PackOptions
) -> tuple[Card, ...]:
    """Return the findings in the order of their places; the largest mistakes where nothing is judged."""
    if status:
        shown = sorted(status, key=lambda one: _place_key(models, one))[: options.cards]
        return tuple(_judged_card(number, models, one, log) for number, one in enumerate(shown, start=1))
    if options.judged_only or options.verdicts or options.tags:
        return ()
    return tuple(_largest(models[-1], min(options.cards, _UNJUDGED_CARDS), options))


def _place_key(models: Sequence[Model], one: FindingStatus) -> tuple[int, int, int, str]:
    """Return document, page and model of a finding, for sorting; comparisons come first."""
    codes, target = models[0].result.matching.dataset.document_code, one.judged.target
    document = codes.get(target.document, len(codes)) if target.document is not None else -1
    return document, -1 if target.page is None else target.page, one.model or 0, one.judged.target_id


def _judged_card(number: int, models: Sequence[Model], one: FindingStatus, log: ReviewLog) -> Card:
    target, judged = one.judged.target, one.judged
    dataset = models[0].result.matching.dataset
    has_page = target.document in dataset.document_code and target.page is not None
    page = dataset.page_row(target.document or "", target.page or 0) if has_page else None
    model = next((each for each in models if each.result.matching.model == one.model), models[0])
    drawn = _drawn(model, page, judged.target_id, log) if one.state == "applies" and page is not None else None
    votes = [event for event in judged.opinions if event.verdict is not None]
    return Card(
        number=number,
        title=title_of_target(target, drawn[0].title if drawn else ""),
        model=model.letter if target.kind == "mistake" else "",
        facts=tuple(drawn[0].lines) if drawn else (),
        place=place_of(target, dataset),
        page=-1 if page is None else page,
        boxes=tuple(drawn[1]) if drawn else tuple(_judged_boxes(target)),
        verdict=judged.verdict,
        verdict_words=verdict_words(judged),
        people=", ".join(_person(event) for event in (votes or judged.opinions)),
        notes=tuple((plain(event.author), plain(event.note)) for event in judged.opinions if event.note.strip()),
        tags=tuple(dict.fromkeys(plain(tag) for event in judged.opinions for tag in event.tags)),
        state="" if one.state == "applies" else f"{STATES[one.state]}. {one.sentence}",
    )


def verdict_words(judged: ReviewedTarget) -> str:
    """Return the verdict of a finding in words."""
    return VERDICT_WORDS[CONFLICT] if judged.conflict else VERDICTS[judged.verdict] if judged.verdict else "Note"


def _person(event: Event) -> str:
    unverified = "" if event.verified else " (unverified)"
    return f"{plain(event.author)}{unverified}, {event.time.day} {event.time:%b %Y}"


def title_of_target(target: Target, today: str = "") -> str:
    """Return what a finding is of and its label; `today` is what a mistake is called today, if any."""
    name = _KINDS.get(target.kind) or today or title_of(target.mistake or "mistake")
    return f"{name} · {plain(target.label)}" if target.label else name


def place_of(target: Target, dataset: Dataset | None) -> str:
    """Return document and page of a finding in words; an unknown document goes by its id."""
    if target.document is None:
        return "all documents"
    code = None if dataset is None else dataset.document_code.get(target.document)
    name = plain(target.document if dataset is None or code is None else dataset.documents[code].name)
    return name if target.page is None else f"{name}, page {target.page + 1}"


def _judged_boxes(target: Target) -> list[BoxItem]:
    """Return the boxes of a target as they were when it was judged."""
    if target.unit != "page":
        return []
    return [
        BoxItem("", box.side, "FN" if box.side == "ground_truth" else "FP", plain(box.label), box.xyxy)
        for box in target.boxes
    ]


def _drawn(model: Model, page: int, target_id: str, log: ReviewLog) -> tuple[MistakeItem, list[BoxItem]] | None:
    """Return a judged mistake as the viewer shows it today, and its boxes; None when it is gone."""
    data = page_overlay.page_data(model.result, page)
    for mistake in attach(data.mistakes, model.result, page, log):
        if mistake.target == target_id:
            return mistake, _boxes_of(data, mistake)
    return None


def _boxes_of(data: PageLayers, mistake: MistakeItem) -> list[BoxItem]:
    by_key = {box.key: box for box in data.boxes}
    return [by_key[key] for key in mistake.keys if key in by_key]


def _largest(model: Model, count: int, options: PackOptions) -> list[Card]:
    """Return the mistakes with the largest boxes, at most one of a page."""
    dataset, mistakes = model.result.matching.dataset, model.result.mistakes
    size = np.zeros(len(mistakes))
    for side, rows, offsets in (
        (dataset.ground_truth, mistakes.truth_rows, mistakes.truth_offsets),
        (model.result.matching.prediction, mistakes.prediction_rows, mistakes.prediction_offsets),
    ):
        owner = np.repeat(np.arange(len(mistakes)), np.diff(offsets))
        np.maximum.at(size, owner, area(side.xyxy[rows]))
    cards: list[Card] = []
    seen: set[int] = set()
    for at in np.argsort(-size, kind="stable").tolist():
        page = int(mistakes.page[at])
        document = dataset.documents[dataset.page_document[page]]
        if page in seen or not is_document_included(document.doc_id, options):
            continue
        if len(cards) == count:
            break
        seen.add(page)
        data = page_overlay.page_data(model.result, page)
        keys = {
            *(box_key("ground_truth", row) for row in mistakes.truths_of(at).tolist()),
            *(box_key("prediction", row) for row in mistakes.predictions_of(at).tolist()),
        }
        shown = next((each for each in data.mistakes if set(each.keys) <= keys), None)
        if shown is None:
            continue
        cards.append(
            Card(
                number=len(cards) + 1,
                title=f"{shown.title} · {plain(shown.label)}",
                model=model.letter,
                facts=tuple(shown.lines),
                place=f"{plain(document.name)}, page {int(dataset.page_index[page]) + 1}",
                page=page,
                boxes=tuple(_boxes_of(data, shown)),
            )
        )
    return cards
