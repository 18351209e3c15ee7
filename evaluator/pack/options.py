"""What the reader of a review pack chose, the models in it, and which findings go in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import msgspec

from evaluator.compare.decision import Rule
from evaluator.data.issues import count_of, listed, plain
from evaluator.matching.box_results import AnyBoxResult
from evaluator.review.corrected_results import CorrectedResult
from evaluator.review.verdicts import VERDICTS, Event, ReviewedTarget, ReviewLog

MOST_SECONDS: Final = 3_600
"""An hour for one box."""
MOST_PAGES_PER_YEAR: Final = 1_000_000_000
MOST_MEGABYTES: Final = 1_000
"""Of one file, 2**20 bytes each."""
CONFLICT: Final = "conflict"
"""The choice among the verdicts for findings on which reviewers disagree."""
VERDICT_WORDS: Final = dict[str, str]([*VERDICTS.items(), (CONFLICT, "Reviewers disagree")])
"""What the verdicts that findings can be chosen by are called."""


def today() -> str:
    """Return the day that a pack carries."""
    day = date.today()
    return f"{day.day} {day:%B %Y}"


class PackOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the reader chose; ValueError, one sentence, for a value out of its range.

    `title`, `date`: as printed. `pages`: at most so many. `budget`: bytes of the file. `documents`, `verdicts`, `tags`:
    of the findings, empty for all; numbers are of all documents. `seconds`: to correct one box. `rule`: when the
    candidate is shipped.
    """

    title: str = ""
    date: str = ""
    pages: int = 60
    budget: float = 20.0 * 2**20
    documents: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    seconds: float = 8.0
    pages_per_year: int = 20_000
    rule: Rule = Rule()

    def __post_init__(self) -> None:
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
