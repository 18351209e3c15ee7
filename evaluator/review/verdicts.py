"""Verdicts on mistakes, pages, documents and comparisons: targets, events, and their log.

The last event of a reviewer on a target is that reviewer's opinion; the opinions on a target agree, or they are a
conflict that is shown and counts for nothing.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Final, Literal, NamedTuple

import msgspec

from evaluator.data.dataset import Side
from evaluator.metrics.results import capitalised
from evaluator.system.decoding import json_decoder

Kind = Literal["mistake", "field", "word", "item", "page", "document", "comparison"]
Verdict = Literal["model_wrong", "ground_truth_wrong", "ambiguous", "ignore"]
Action = Literal["judged", "cleared"]
Unit = Literal["page", "pixels"]

KINDS: Final[Mapping[Kind, str]] = {
    "mistake": "Mistake",
    "field": "Field",
    "word": "Word",
    "item": "Item",
    "page": "Page",
    "document": "Document",
    "comparison": "Comparison",
}
WITH_BOXES: Final[frozenset[Kind]] = frozenset({"mistake", "field", "word", "item"})
"""The kinds that are judged by their boxes."""
VERDICTS: Final[Mapping[Verdict, str]] = {
    "model_wrong": "Model wrong",
    "ground_truth_wrong": "Ground truth wrong",
    "ambiguous": "Ambiguous",
    "ignore": "Ignore",
}
STATUSES: Final[Mapping[str, str]] = {"open": "Open", "in_progress": "In work", "done": "Done"}
"""How far the work on a finding is."""
NOTE_LENGTH: Final = 20_000
AUTHOR_LENGTH: Final = 200
TAG_LENGTH: Final = 60
MOST_TAGS: Final = 20
# Nobody judges more boxes at once, and no file may fill the memory with one line.
MOST_BOXES: Final = 1_000
_CLOCKS_APART: Final = timedelta(minutes=5)

# Of the sender or of us; a sender's own name for an event is what keeps it from being stored twice.
_EVENT_ID: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
_TARGET_ID: Final = re.compile(r"[0-9a-f]{32}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Coordinates are part of an identity with this many decimals: shares of the page, or pixels.
_DECIMALS: Final[Mapping[Unit, int]] = {"page": 6, "pixels": 3}


class JudgedBox(msgspec.Struct, frozen=True, kw_only=True):
    """Box as it was when somebody judged it; `xyxy` with all digits, `model` None for ground truth."""

    side: Side
    label: str
    xyxy: tuple[float, float, float, float]
    model: str | None = None


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What a verdict is about, as it looked when it was judged.

    `document` None means all documents; `page` counts from 0. `boxes` has, ground truth first, those that carry the
    name of a mistake; for a field its boxes, whose label is its path; for a word its places, whose label is the word;
    for items those of the mistake, whose label is its name; else none. `mistake` is a key of
    ``ERROR_TYPES["document"]``, `status.FIELD_PROBLEMS`, `word_targets.WORD_PROBLEMS` or `item_targets.ITEM_PROBLEMS`.
    `repeat` tells mistakes of equal boxes on a page apart, in file order.

    The identity is made of kind, document, page, the boxes with side, model and label, and `repeat`; it survives
    another threshold and another order of the file. Coordinates enter with six decimals of the page (three of a pixel),
    rounded correctly by `format`, so that a file written again with six or more decimals keeps it; for fewer,
    `identity.match_reviews` also accepts equal boxes up to 0.0001 of the page.
    """

    kind: Kind
    document: str | None = None
    page: int | None = None
    boxes: tuple[JudgedBox, ...] = ()
    models: tuple[str, ...] = ()
    mistake: str | None = None
    label: str | None = None
    signature: str = ""
    unit: Unit = "page"
    repeat: int = 0

    @property
    def id(self) -> str:
        """Return the identity: 32 hexadecimal digits."""
        places = _DECIMALS[self.unit]
        parts: list[object] = [self.kind, self.document, self.page]
        if self.kind == "comparison":
            parts += [list(self.models), self.label]
        if self.kind in WITH_BOXES:
            parts += [sorted(_content(box, places) for box in self.boxes), self.unit, self.repeat]
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:32]

    def of(self, side: Side) -> tuple[JudgedBox, ...]:
        """Return the boxes of one side."""
        return tuple(box for box in self.boxes if box.side == side)


decode_target: Final = json_decoder(Target)
"""The target that some JSON is."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Whole opinion of one reviewer on a target from its time on; never changed afterwards.

    `id` is made by the sender; an event that is there already is not stored again. `target_id` is `Target.id`, or that
    of the older target whose verdicts this one inherits. `action` "cleared" takes back everything. `verdict` None is a
    note. `verified`: a login vouches for the author. `time` in UTC. `source` names the imported file. "" where not
    given.
    """

    id: str
    target_id: str
    target: Target
    action: Action
    verdict: Verdict | None
    note: str
    tags: tuple[str, ...]
    author: str
    verified: bool
    time: datetime
    source: str = ""
    owner: str = ""
    due: str = ""
    status: str = ""

    @property
    def reviewer(self) -> tuple[str, bool]:
        """Return who gave it: a typed name is never the same reviewer as a verified one."""
        return self.author, self.verified

    @property
    def stamp(self) -> str:
        """Return the time as text that sorts: ``2026-01-31T12:00:00.000000Z``."""
        return time_text(self.time)


def judge(
    target: Target,
    *,
    verdict: str | None,
    note: str = "",
    tags: Sequence[str] = (),
    author: str,
    verified: bool,
    time: datetime,
    target_id: str | None = None,
    event_id: str | None = None,
    source: str = "",
    owner: str = "",
    due: str = "",
    status: str = "",
    check: bool = True,
) -> Event:
    """Return the event of a reviewer's whole opinion on a target; one that holds nothing takes all back.

    Line ends of `note` become LF, tags are stripped and made unique; `time` has a zone. `EventError` when a part cannot
    be stored; without `check` the caller asks `event_problems`.
    """
    note = note.replace("\r\n", "\n").replace("\r", "\n")
    kept = tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    event = Event(
        id=event_id or uuid.uuid4().hex,
        target_id=target_id or target.id,
        target=target,
        action="judged" if verdict or note.strip() or kept or owner.strip() or due or status else "cleared",
        verdict=verdict,  # type: ignore[arg-type]
        note=note if note.strip() else "",
        tags=kept,
        author=author.strip(),
        verified=verified,
        time=time,
        source=source,
        owner=owner.strip(),
        due=due,
        status=status,
    )
    return check_event(event) if check else event


class EventProblem(NamedTuple):
    """Why a part of an event cannot be stored.

    `column` is the name of the part in exported files; `value` is None where the rule names it; `fix` is what to do in
    a file, `advice` on screen.
    """

    column: str
    rule: str
    value: object = None
    fix: str = "Correct it."
    advice: str = ""

    @property
    def sentence(self) -> str:
        """Return the rule for a reviewer on screen."""
        return f"{capitalised(self.rule)}{self.advice}."


class EventError(ValueError):
    """Raised for an event that cannot be stored; one sentence about the first part that is wrong."""


def check_event(event: Event) -> Event:
    """Return the event with its time in UTC; `EventError` when a part of it cannot be stored.

    Every event passes here before it is stored and when it is read back, whoever sent it.
    """
    problem = next(event_problems(event), None)
    if problem is not None:
        raise EventError(problem.sentence)
    return event if event.time.tzinfo is UTC else msgspec.structs.replace(event, time=event.time.astimezone(UTC))


def event_problems(event: Event) -> Iterator[EventProblem]:
    """Yield what is wrong with an event of declared types: the rules of screen, file and store."""
    if event.time.tzinfo is None:
        yield EventProblem("time", "the time must have a time zone")
    yield from _text_problems("note", "a note", event.note, NOTE_LENGTH, allowed="\n\t")
    yield from _text_problems("author", "the author", event.author, AUTHOR_LENGTH)
    if not event.author:
        advice = ": log in, or type a name"
        yield EventProblem("author", "a verdict needs an author", "", "Write who gave it.", advice)
    if event.verdict is not None and event.verdict not in VERDICTS:
        rule = f"the verdict must be one of {', '.join(VERDICTS)}"
        yield EventProblem("verdict", rule, event.verdict, "Correct it, or leave it empty.")
    holds = event.verdict or event.note or event.tags or event.owner or event.due or event.status
    if event.action != ("judged" if holds else "cleared"):
        yield EventProblem("action", "an event that holds nothing is cleared, every other one judged")
    yield from _task_problems(event)
    if len(event.tags) > MOST_TAGS:
        yield EventProblem("tags", f"a finding may have {MOST_TAGS} tags", len(event.tags))
    for tag in event.tags:
        yield from _text_problems("tags", "a tag", tag, TAG_LENGTH)
        if "," in tag:
            yield EventProblem("tags", "a tag must not contain a comma; use two tags", tag)
    for column, value, pattern in (("event", event.id, _EVENT_ID), ("target", event.target_id, _TARGET_ID)):
        if not pattern.fullmatch(value):
            yield EventProblem(column, f"{column} must be an id as it was exported", value, "Leave it empty.")
    wrong = target_problem(event.target)
    if wrong:
        yield EventProblem("snapshot", wrong, None, "Export the findings again.")


def time_text(time: datetime) -> str:
    """Return a time in UTC as text that sorts, with six decimals of a second and a Z."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def target_problem(target: Target) -> str | None:
    """Return what is wrong with a target from a file or a browser, in a few words; None for nothing."""
    on_page = target.kind in WITH_BOXES or target.kind == "page"
    if target.page is not None and not 0 <= target.page < 2**31:
        return "the page must be a number from 0"
    if on_page and (target.document is None or target.page is None):
        return f"a {target.kind} needs a document and a page"
    if target.kind == "document" and target.document is None:
        return "a document needs its id"
    if target.kind == "comparison" and len(target.models) < 2:
        return "a comparison needs two models"
    if (target.kind in WITH_BOXES) != bool(target.boxes):
        return "a mistake, a field, a word and an item have boxes, and nothing else has"
    if len(target.boxes) > MOST_BOXES:
        return f"a mistake may have {MOST_BOXES:,} boxes"
    if target.repeat < 0:
        return "repeat must be at least 0"
    for box in target.boxes:
        x1, y1, x2, y2 = box.xyxy
        if not all(math.isfinite(value) for value in box.xyxy) or x1 > x2 or y1 > y2:
            return "boxes must be finite, with x1 <= x2 and y1 <= y2"
        if (box.side == "prediction") != (box.model is not None):
            return "a prediction names its model, and ground truth has none"
    return None


@dataclass(frozen=True, eq=False)
class ReviewedTarget:
    """Target and its history: at least one event, in the order in which they were kept."""

    target_id: str
    history: tuple[Event, ...]

    @property
    def last(self) -> Event:
        """Return the latest event."""
        return self.history[-1]

    @property
    def target(self) -> Target:
        """Return what it looked like when it was judged last."""
        return self.last.target

    @cached_property
    def opinions(self) -> tuple[Event, ...]:
        """Return the last event of each reviewer who holds an opinion, in order; empty when all took theirs back."""
        latest = {event.reviewer: event for event in self.history}
        return tuple(event for event in self.history if latest[event.reviewer] is event and event.action == "judged")

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict on which all reviewers agree who gave one; None without any, and in a conflict."""
        verdicts = {event.verdict for event in self.opinions if event.verdict}
        return verdicts.pop() if len(verdicts) == 1 else None

    @property
    def conflict(self) -> bool:
        """Return whether reviewers gave different verdicts."""
        return len({event.verdict for event in self.opinions if event.verdict}) > 1

    @property
    def tags(self) -> tuple[str, ...]:
        """Return the tags of all opinions, each once."""
        return tuple(dict.fromkeys(tag for event in self.opinions for tag in event.tags))

    @property
    def task(self) -> Event | None:
        """Return the latest opinion with an owner, a due date or a status; None where nobody gave one."""
        return next((event for event in reversed(self.opinions) if event.owner or event.due or event.status), None)

    @property
    def authors(self) -> tuple[str, ...]:
        """Return who holds an opinion, each name once."""
        return tuple(dict.fromkeys(event.author for event in self.opinions))


@dataclass(frozen=True, eq=False)
class ReviewLog:
    """All events of a workspace, arranged by what they are about.

    `every` has the history by target id, the newest latest event first, also where all opinions were taken back;
    `events` are in the order in which they were kept.
    """

    every: Mapping[str, ReviewedTarget] = field(default_factory=dict)
    events: tuple[Event, ...] = ()

    @classmethod
    def of(cls, events: Iterable[Event]) -> ReviewLog:
        """Return the log of some events, given in the order in which they were kept; repeated ones count once.

        That order alone decides what is the latest: clocks may be wrong, and a file can name any time.
        """
        known: dict[str, Event] = {}
        for event in events:
            known.setdefault(event.id, event)
        together: dict[str, list[Event]] = {}
        for event in known.values():
            # Taken out and put back, so that the target of the latest event comes last.
            history = together.pop(event.target_id, [])
            history.append(event)
            together[event.target_id] = history
        newest = reversed(together.items())
        return cls(
            {target_id: ReviewedTarget(target_id, tuple(history)) for target_id, history in newest},
            tuple(known.values()),
        )

    def __len__(self) -> int:
        return len(self.judged)

    def of_documents(self, documents: Collection[str]) -> list[ReviewedTarget]:
        """Return targets with an opinion in some documents, or comparisons over all; newest first."""
        return [one for one in self.judged.values() if (named := one.target.document) is None or named in documents]

    @cached_property
    def judged(self) -> dict[str, ReviewedTarget]:
        """Return the targets on which somebody holds an opinion, by target id."""
        return {target_id: judged for target_id, judged in self.every.items() if judged.opinions}

    @property
    def revision(self) -> tuple[int, str]:
        """Return the version of a workspace: how many events there are, and the last one's id."""
        return len(self.events), self.events[-1].id if self.events else ""

    @property
    def conflicts(self) -> list[ReviewedTarget]:
        """Return the targets on which reviewers disagree."""
        return [judged for judged in self.judged.values() if judged.conflict]

    def improbable(self, now: datetime) -> frozenset[str]:
        """Return the ids of events whose time cannot be right; `now` has a time zone.

        Events after now, and those later than one that was given here after them; a few minutes between two clocks are
        allowed. Imported events say nothing of those before them: a file may well be old.
        """
        latest, strange = now + _CLOCKS_APART, set()
        for event in reversed(self.events):
            if event.time > latest:
                strange.add(event.id)
            elif not event.source:
                latest = min(latest, event.time + _CLOCKS_APART)
        return frozenset(strange)

    def get(self, target_id: str) -> ReviewedTarget | None:
        """Return the history of a target, also when all opinions were withdrawn; None when never judged."""
        return self.every.get(target_id)

    def on_page(self, document: str, page: int) -> tuple[ReviewedTarget, ...]:
        """Return the judged mistakes of one page, the newest first."""
        return tuple(self._by_place.get(("mistake", document, page), ()))

    def fields_of(self, document: str) -> tuple[ReviewedTarget, ...]:
        """Return the judged fields of one document, the newest first."""
        return tuple(self._by_place.get(("field", document, None), ()))

    def words_of(self, poster: str) -> tuple[ReviewedTarget, ...]:
        """Return the judged words of one poster, the newest first."""
        return tuple(self._by_place.get(("word", poster, None), ()))

    def items_on(self, document: str, page: int) -> tuple[ReviewedTarget, ...]:
        """Return the judged mistakes of items of one page, the newest first."""
        return tuple(self._by_place.get(("item", document, page), ()))

    @cached_property
    def _by_place(self) -> dict[tuple[Kind, str | None, int | None], list[ReviewedTarget]]:
        places: dict[tuple[Kind, str | None, int | None], list[ReviewedTarget]] = {}
        for judged in self.every.values():
            kind, document = judged.target.kind, judged.target.document
            page = judged.target.page if kind in ("mistake", "item") else None
            places.setdefault((kind, document, page), []).append(judged)
        return places


def _content(box: JudgedBox, places: int) -> list[str]:
    # Adding 0.0 turns -0.0 into 0.0, which is the same place.
    numbers = [format(value + 0.0, f".{places}f") for value in box.xyxy]
    return [box.side, box.model or "", box.label, *("0" if float(text) == 0.0 else text for text in numbers)]


def _task_problems(event: Event) -> Iterator[EventProblem]:
    yield from _text_problems("owner", "the owner", event.owner, AUTHOR_LENGTH)
    if event.status and event.status not in STATUSES:
        rule = f"the status must be one of {', '.join(STATUSES)}"
        yield EventProblem("status", rule, event.status, "Correct it, or leave it empty.")
    if event.due and not _is_date(event.due):
        rule = "the due date must be a day such as 2026-01-31"
        yield EventProblem("due", rule, event.due, "Correct it, or leave it empty.")


def _is_date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text)) and date.fromisoformat(text) is not None
    except ValueError:
        return False


def _text_problems(column: str, what: str, text: str, length: int, *, allowed: str = "") -> Iterator[EventProblem]:
    """Yield why a text cannot be stored: it is too long, or no file or screen can hold it."""
    if len(text) > length:
        yield EventProblem(column, f"{what} may have {length:,} characters; this one has {len(text):,}")
    if any(unicodedata.category(char) in ("Cc", "Cs") and char not in allowed for char in text):
        yield EventProblem(column, f"{what} must not contain control characters")
