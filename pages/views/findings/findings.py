"""The findings of this session: the store of the process, who reviews, and what could not be saved.

A verdict is saved when the store says so; until then its text stays here, marked NOT SAVED. One that others keep out of
the store waits, and is tried again while any view is open. The store's address comes from the command line or the
environment, never from the browser.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar
from uuid import uuid4

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.components.compare.pair import page_mistakes
from evaluator.components.compare.payload import PaneItem
from evaluator.components.decisions.payload import EditEvent
from evaluator.components.gallery.payload import JudgeItem
from evaluator.components.meeting.payload import DecideEvent, ReviewerPayload
from evaluator.components.viewer.judged import attach
from evaluator.components.viewer.payload import MistakeItem, PagePayload, UnsavedItem, VerdictEvent
from evaluator.data.issues import count_of, plain
from evaluator.project import paths_of
from evaluator.review import identity, status
from evaluator.review.corrected_results import CorrectedResult, corrected_result
from evaluator.review.corrections import Corrections, corrections
from evaluator.review.meetings import HEARD_OF, Follower, Meeting
from evaluator.review.problems import StoreProblem
from evaluator.review.status import FindingStatus
from evaluator.review.store_address import FINDINGS_WORKSPACE_VARIABLE, holds_nothing, store_address
from evaluator.review.verdicts import AUTHOR_LENGTH, Event, ReviewLog, Target, judge
from evaluator.system.lru_cache import LRUCache
from pages.app import frame
from pages.app.cache import Cached
from pages.app.components import reviewer
from pages.app.results import ResultKey, result_key, result_of
from pages.app.session_files import BOXES, LoadedBoxes, Model, Place, files, is_bundled
from pages.app.state import Field, State, report, state
from pages.app.streamlit_patch import run_whole_view

if TYPE_CHECKING:
    from evaluator.review.store import Store

# A database that does not answer is not asked again on every run: each question waits for its time limit.
_ASK_AGAIN_SECONDS: Final = 15.0
# Shorter than the browser waits until it sends a verdict again; the reader waits for as long.
_BUSY_SECONDS: Final = 2.0
_SAVE_AGAIN_SECONDS: Final = 3.0
# The reader does not know that it is tried again, and goes on meanwhile.
_BUSY_AGAIN_SECONDS: Final = 0.2
_PULSE_SECONDS: Final = 0.5
_REMEMBERED: Final = "remembered_reviewer"
OWN: Final = "own"
"""As verdict or note: what the reviewer has said of each target stays."""
DrawnT = TypeVar("DrawnT", PagePayload, PaneItem)
ActT = TypeVar("ActT", bound=VerdictEvent | JudgeItem | EditEvent | DecideEvent)


class Task(NamedTuple):
    """Who is to act on a finding, until when (``2026-01-31``), and how far it is, or empty texts."""

    owner: str = ""
    due: str = ""
    status: str = ""


class Unsaved(NamedTuple):
    """A verdict not stored, and why, in one line; tried again under its `event_id` it is stored at most once."""

    target: Target
    target_id: str
    verdict: str | None
    note: str
    tags: tuple[str, ...]
    task: Task
    event_id: str
    address: str
    event: Event | None = None
    problem: str = ""
    busy: bool = False

    @property
    def words(self) -> str:
        """Return that it is not saved, and why."""
        return f"{'Waiting to be saved' if self.busy else 'NOT SAVED'}. {self.problem}"


# By target, what the store did not take in this session.
_UNSAVED: Final[Field[Mapping[str, Unsaved]]] = Field({}, "unsaved_findings")
_TRIED: Final[Field[float]] = Field(0.0, "tried_unsaved")


class Pulse(NamedTuple):
    """What changes while a meeting goes on: what is presented, the findings, who follows; `lost`: no answer."""

    meeting: Meeting | None
    revision: tuple[int, str]
    followers: Sequence[Follower] = ()
    lost: bool = False


class _OpenStore:
    def __init__(self, address: str) -> None:
        self._pulses: dict[str, tuple[float, Pulse]] = {}
        self._asking = Lock()
        self._address = address
        self._store: Store | None = None
        self._problem: StoreProblem | None = None
        self._asked = 0.0

    def opened(self) -> Store | None:
        """Return the store; None where its address can never work. What reaches databases is imported for it."""
        from evaluator.review.store import Store

        try:
            self._store = self._store or Store(self._address, busy_seconds=_BUSY_SECONDS)
        except StoreProblem as problem:
            self._problem = problem
        return self._store

    @property
    def replaced(self) -> int:
        return 0 if self._store is None else self._store.replaced

    def read(self, workspace: str) -> tuple[ReviewLog, StoreProblem | None]:
        if self._store is None and holds_nothing(self._address):
            return ReviewLog(), None
        store = self.opened()
        if store is None or (self._problem and monotonic() - self._asked < _ASK_AGAIN_SECONDS):
            return ReviewLog(), self._problem
        try:
            log = store.log(workspace)
        except StoreProblem as problem:
            self._problem, self._asked = problem, monotonic()
            return ReviewLog(), problem
        self._problem = None
        return log, None

    def write(self, events: Sequence[Event], workspace: str, busy_seconds: float | None = None) -> StoreProblem | None:
        store = self.opened()
        if store is None:
            return self._problem
        try:
            store.add(events, workspace, busy_seconds=busy_seconds)
        except StoreProblem as problem:
            return problem
        self._problem = None
        self._pulses.pop(workspace, None)
        return None

    def pulse(self, workspace: str) -> Pulse:
        """Return what changes, asked for once for all sessions of this process that ask at about the same time."""
        with self._asking:
            asked, pulse = self._pulses.get(workspace, (0.0, Pulse(None, (0, ""))))
            nothing = self._store is None and holds_nothing(self._address)
            if not nothing and monotonic() - asked > _PULSE_SECONDS and (store := self.opened()) is not None:
                try:
                    now, meeting = datetime.now(UTC), store.meeting(workspace)
                    live = meeting is not None and meeting.is_live(now)
                    followers = store.followers(now, workspace) if live else []
                    pulse = Pulse(meeting, store.log(workspace).revision, followers)
                except StoreProblem:
                    pulse = pulse._replace(lost=True)
                self._pulses[workspace] = monotonic(), pulse
        return pulse

    def tell(self, write: Callable[[Store], None], workspace: str) -> StoreProblem | None:
        store = self.opened()
        if store is None:
            return self._problem
        try:
            write(store)
        except StoreProblem as problem:
            return problem
        self._pulses.pop(workspace, None)
        return None


def address() -> str:
    """Return where the findings of this session are kept: a path or a database address."""
    truth = files(BOXES).ground_truth
    own = truth is not None and not is_bundled(truth.origin)
    origin = next(iter(paths_of(truth.origin)), None) if truth is not None and own else None
    return store_address(origin, environment=os.environ, reader_folder=state.reader_folder)


_STORES: Final = Cached[_OpenStore](8)
_CORRECTIONS: Final = Cached[Corrections](8)
_CORRECTED: Final = Cached[CorrectedResult](32, spinner="Comparing the boxes with the corrected ground truth")
_STATUSES: Final = Cached[list[FindingStatus]](32)
# The mistakes of pages as targets of verdicts.
_KNOWN: Final = LRUCache[tuple[ResultKey, int], identity.MistakeTargets](most=256)


def _open_store(at: str = "") -> _OpenStore:
    at = at or address()
    return _STORES.of(at, lambda: _OpenStore(at))


def _workspace() -> str:
    return os.environ.get(FINDINGS_WORKSPACE_VARIABLE, "")


def review_log() -> ReviewLog:
    """Return all opinions in this workspace; empty when they cannot be read, see `store_problem`."""
    return _read()[0]


def store_problem() -> StoreProblem | None:
    """Return why findings cannot be read; None when they can."""
    return _read()[1]


def _read() -> tuple[ReviewLog, StoreProblem | None]:
    """Return all opinions and why they cannot be read, and note what a reader of any view has to know of them."""
    at = address()
    held = _open_store(at)
    log, problem = held.read(_workspace())
    replaced, seen = held.replaced, state.findings_replaced
    if at not in seen:
        state.findings_replaced = seen = {**seen, at: replaced}
    said = str(problem) if problem else ""
    if not problem and replaced > seen[at]:
        said = f"{store_name()} was deleted, moved or restored. What is shown is what is in it now."
    if said != state.said_of_findings:
        # It stands outside of the part of Pages that runs alone.
        state.said_of_findings, state.whole_view = said, True
    return log, problem


def asking() -> Callable[[], Pulse]:
    """Return what asks, also without a session, who presents what: at most half a second old."""
    return partial(_open_store().pulse, _workspace())


def pulse() -> Pulse:
    """Return who presents what, and the revision of the findings, at most half a second old."""
    return asking()()


def present(meeting: Meeting, *, moved: bool = False) -> StoreProblem | None:
    """Write what is presented, as another place if the presenter has `moved`; return what went wrong."""
    before = pulse().meeting
    number = (before.number if before else 0) + moved
    shown = msgspec.structs.replace(meeting, number=number)
    return _open_store().tell(lambda store: store.present(shown, _workspace()), _workspace())


def follow(session: str, *, leaves: bool = False) -> StoreProblem | None:
    """Note that the reader follows the meeting in a session, or `leaves` it; return what went wrong."""
    name, verified = author()
    who = Follower(session=session, name=name, verified=verified, time=datetime.now(UTC))
    return _open_store().tell(lambda store: store.follow(who, _workspace(), leaves=leaves), _workspace())


def store_name() -> str:
    """Return a file name, or host and database without user and password."""
    store = _open_store().opened()
    return "" if store is None else store.name


# --- who and what ----------------------------------------------------------------------------------------------


def author() -> tuple[str, bool]:
    """Return who reviews, empty for nobody, and whether a login or a trusted proxy vouches for it."""
    if state.vouched:
        return state.vouched[:AUTHOR_LENGTH], True
    return state.reviewer.strip()[:AUTHOR_LENGTH], False


def ask_author(*, label: str = "Your name") -> None:
    """Draw the field for the reviewer's name; for a reader who is logged in, only who that is."""
    name, verified = author()
    if verified:
        st.caption(f"You review as {frame.escaped(name)}.")
        return
    remember_author()
    st.text_input(
        label,
        key=State.reviewer.key,
        max_chars=AUTHOR_LENGTH,
        placeholder="Needed for verdicts",
        persist_state="session",
        help="Shown with each verdict, as typed and not verified.",
    )


def remember_author() -> None:
    """Let the browser remember the reviewer's name, and take over the one that it knows."""

    def remembered() -> None:
        set_author(reviewer.events(report(_REMEMBERED)).name or "")

    reviewer(ReviewerPayload(author()[0]), key=_REMEMBERED, on_name=remembered)


def set_author(name: str) -> None:
    """Take a name that was not typed into the field of `ask_author`, when nobody is named yet."""
    if name.strip() and not author()[0]:
        # It comes from a browser: half a character of UTF-16 can neither be stored nor shown.
        state.reviewer = plain(name.strip())[:AUTHOR_LENGTH]


def save(
    target: Target,
    *,
    verdict: str | None,
    note: str = "",
    tags: Sequence[str] | None = None,
    task: Task | None = None,
    target_id: str | None = None,
    event_id: str | None = None,
) -> Unsaved | None:
    """Keep what the reviewer says about a target; None when on disk, else what was said, for `unsaved`.

    No verdict and nothing else takes everything back; without `tags` or `task` the reviewer's own stay. `target_id` is
    the identity that `on_page` gave; an `event_id` that is there already is not stored again.
    """
    key = target_id or target.id
    return save_all({key: target}, verdict=verdict, note=note, tags=tags, task=task, event_id=event_id)


def save_all(
    targets: Mapping[str, Target],
    *,
    verdict: str | None,
    note: str = "",
    tags: Sequence[str] | None = None,
    task: Task | None = None,
    event_id: str | None = None,
) -> Unsaved | None:
    """Keep the same of all targets or none, as `save`; None, or the first that is not on disk.

    With `OWN` the reviewer's own verdict, or note, on each target stays. Event ids follow from `event_id`: a repeated
    message stores nothing twice.
    """
    first, (name, verified), log = event_id or uuid4().hex, author(), review_log()
    at, said = address(), list[Event]()
    waiting: list[Unsaved] = []
    for place, (key, target) in enumerate(targets.items()):
        event = f"{first}-{place}" if place else first
        held = _held(log, key, (name, verified))
        kept = (held.tags if held else ()) if tags is None else tuple(tags)
        own = (Task(held.owner, held.due, held.status) if held else Task()) if task is None else task
        of_one = (held.verdict if held else None) if verdict == OWN else verdict
        words = (held.note if held else "") if note == OWN else note
        waiting.append(Unsaved(target, key, of_one, words, kept, own, event, at))
        try:
            said.append(
                judge(
                    target,
                    verdict=of_one,
                    note=words,
                    tags=kept,
                    author=name,
                    verified=verified,
                    time=datetime.now(UTC),
                    target_id=key,
                    event_id=event,
                    **own._asdict(),
                )
            )
        except ValueError as problem:
            return _keep_unsaved([entry._replace(problem=f"Not saved. {problem}") for entry in waiting])
        waiting[-1] = waiting[-1]._replace(event=said[-1])
    return _write(waiting)


def _write(waiting: Sequence[Unsaved], busy_seconds: float | None = None) -> Unsaved | None:
    """Store what waits, all for one address; None, or the first of it when the store did not take it."""
    if not waiting:
        return None
    events = [entry.event for entry in waiting if entry.event is not None]
    why = _open_store(waiting[0].address).write(events, _workspace(), busy_seconds)
    if why is not None:
        return _keep_unsaved([entry._replace(problem=str(why), busy=why.kind == "busy") for entry in waiting])
    saved = {entry.target_id for entry in waiting}
    _UNSAVED.set({key: entry for key, entry in _UNSAVED.get().items() if key not in saved})
    return None


def add_events(events: Sequence[Event]) -> StoreProblem | None:
    """Keep imported events; return what went wrong, None when they are on disk."""
    return _open_store().write(events, _workspace())


def verdicts_key() -> tuple[object, ...]:
    """Return a value that is another one when the verdicts that the pages show are others."""
    return review_log().revision, _UNSAVED.get()


def unsaved(target_id: str) -> Unsaved | None:
    """Return a verdict on a target that the store did not take."""
    return _UNSAVED.get().get(target_id)


def all_unsaved() -> list[Unsaved]:
    """Return everything that the store did not take in this session."""
    return list(_UNSAVED.get().values())


def retry_unsaved() -> None:
    """Try to save again what the store did not take, under its own ids, where it belonged when it was said."""
    of_stores: dict[str, list[Unsaved]] = {}
    for entry in all_unsaved():
        if entry.event is not None:
            of_stores.setdefault(entry.address, []).append(entry)
        else:
            save(
                entry.target,
                verdict=entry.verdict,
                note=entry.note,
                tags=entry.tags,
                task=entry.task,
                target_id=entry.target_id,
                event_id=entry.event_id,
            )
    for entries in of_stores.values():
        _write(entries)


def _keep_unsaved(waiting: Sequence[Unsaved]) -> Unsaved:
    _UNSAVED.set({**_UNSAVED.get(), **{entry.target_id: entry for entry in waiting}})
    _TRIED.set(monotonic())
    # What is said of it stands outside of the parts of views that run alone.
    run_whole_view()
    return waiting[0]


def draw_notices(place: DeltaGenerator) -> None:
    """Draw, above every view, what all have to know of the findings; verdicts that wait for others are tried again."""
    entries = all_unsaved()
    waiting = sum(entry.busy for entry in entries)
    away = state.meeting_open and state.view != "findings"
    if not (entries or state.said_of_findings or state.verdict_refused or away):
        return
    with place.container():
        if away:
            st.page_link("pages/findings.py", label="Back to the meeting", icon=":material/co_present:")
            present_on()
        if state.verdict_refused:
            st.warning("The last verdict was not stored: what it is about is not there any more.")
        if state.said_of_findings:
            st.warning(frame.escaped(state.said_of_findings), icon=":material/warning:")
        if waiting < len(entries):
            words = f"NOT SAVED: {count_of(len(entries) - waiting, 'verdict')}. Decisions has the reason."
            st.error(words, icon=":material/error:")
        if waiting:
            words = f"Waiting to be saved: {count_of(waiting, 'verdict')}. The findings are in use by others."
            st.warning(words, icon=":material/warning:")
            _save_again()


@st.fragment(run_every=HEARD_OF)
def present_on() -> None:
    """Let those who follow know, from time to time, that the presenter is still there."""
    before, now = pulse().meeting, datetime.now(UTC)
    presents = before is not None and before.session == state.meeting_session and before.is_live(now)
    if before is not None and presents and now - before.time > HEARD_OF / 2:
        present(msgspec.structs.replace(before, time=now))


@st.fragment(run_every=_SAVE_AGAIN_SECONDS)
def _save_again() -> None:
    if monotonic() - _TRIED.get() < _SAVE_AGAIN_SECONDS / 2:
        return
    waiting = [entry for entry in all_unsaved() if entry.busy]
    for at in {entry.address for entry in waiting}:
        _write([entry for entry in waiting if entry.address == at], _BUSY_AGAIN_SECONDS)
    if not any(entry.busy for entry in all_unsaved()):
        st.rerun()


def own_opinion(target_id: str) -> Event | None:
    """Return what the reviewer holds of a target; None for nothing."""
    return _held(review_log(), target_id, author())


def _held(log: ReviewLog, target_id: str, reviewer: tuple[str, bool]) -> Event | None:
    judged = log.get(target_id)
    return next((event for event in judged.opinions if event.reviewer == reviewer), None) if judged else None


# --- the page browser --------------------------------------------------------------------------------------------


def on_page(loaded: LoadedBoxes, model: Model, place: Place, payload: PagePayload) -> PagePayload:
    """Return the payload; each mistake of the model's result gets ``target``, ``verdict`` and ``unsaved``."""
    return with_verdicts(payload, _attached(loaded, model, place, payload.mistakes))


def _attached(
    loaded: LoadedBoxes, model: Model, place: Place, mistakes: Sequence[MistakeItem]
) -> Sequence[MistakeItem]:
    """Return the mistakes drawn on a page with the verdicts on each; as they are for a page that no file mentions."""
    row = loaded.dataset.page_row(place.document, place.index)
    if row is None or not mistakes:
        return mistakes
    result = result_of(loaded, model)
    known = _KNOWN.get_or_make((result_key(loaded, model), row), partial(identity.mistake_targets, result, row))
    return attach(mistakes, result, row, review_log(), known)


def on_pane(loaded: LoadedBoxes, model: Model, place: Place, pane: PaneItem) -> PaneItem:
    """Return the page of one of two models with verdicts and what is not saved, as `on_page`."""
    if loaded.dataset.page_row(place.document, place.index) is None:
        return pane
    return with_verdicts(pane, _attached(loaded, model, place, page_mistakes(pane)))


def with_verdicts(drawn: DrawnT, judged: Sequence[MistakeItem]) -> DrawnT:
    """Return a page with its mistakes as `judged` and what was not saved."""
    mistakes = [
        msgspec.structs.replace(each, keys=own.keys, unsaved=unsaved_item(unsaved(each.target or "")))
        for each, own in zip(judged, drawn.mistakes, strict=True)
    ]
    return msgspec.structs.replace(drawn, mistakes=mistakes)


def newly_said(acts: Sequence[ActT] | None) -> Iterator[ActT]:
    """Yield what a browser sent and was not handled before, in order; until it is kept it counts as refused."""
    said = acts or ()
    ids = [act.id for act in said]
    for act in said[ids.index(state.answered) + 1 if state.answered in ids else 0 :]:
        refused_before, state.verdict_refused = state.verdict_refused, True
        yield act
        # The browser keeps what it sent until it sees this.
        state.answered = act.id
        if refused_before or state.verdict_refused:
            # The notice stands outside of the parts of views that run alone.
            run_whole_view()


def handle(loaded: LoadedBoxes, model: Model, event: VerdictEvent) -> Unsaved | None:
    """Keep a verdict from the browser; None when it is on disk or its target is not on the page."""
    row = loaded.dataset.page_row(event.document, event.index)
    targets = {} if row is None else identity.page_targets(result_of(loaded, model), row, review_log())
    return save_event(event, targets)


def save_event(event: VerdictEvent, targets: Mapping[str, Target]) -> Unsaved | None:
    """Keep a verdict on those of its targets that are shown; return the first not saved, else None."""
    set_author(event.name)
    asked = dict.fromkeys([event.target or "", *event.targets])
    judged = {key: targets[key] for key in asked if key in targets}
    state.verdict_refused = not judged
    return save_all(judged, verdict=event.verdict, note=event.note, event_id=event.id)


def unsaved_item(entry: Unsaved | None) -> UnsavedItem | None:
    """Return what was not saved, for the viewer."""
    if entry is None:
        return None
    return UnsavedItem(entry.verdict, entry.note, plain(entry.problem), entry.busy)


# --- numbers -------------------------------------------------------------------------------------------------------


def corrections_of(loaded: LoadedBoxes) -> Corrections:
    """Return the corrected files of this session."""
    return _corrections(loaded, review_log())


def _corrections(loaded: LoadedBoxes, log: ReviewLog) -> Corrections:
    return _CORRECTIONS.of((loaded.digests, log.revision), lambda: corrections(loaded.dataset, log))


def corrected_of(loaded: LoadedBoxes, model: Model) -> CorrectedResult | None:
    """Return a model's result on the corrected files; None when no verdict changes a box."""
    log = review_log()
    to = _corrections(loaded, log)
    if not to.applied:
        return None
    key = (result_key(loaded, model), log.revision)
    return _CORRECTED.of(key, lambda: corrected_result(result_of(loaded, model), to))


def statuses(loaded: LoadedBoxes | None, log: ReviewLog) -> list[FindingStatus]:
    """Return what became of every finding of `review_log` at the operating point, the newest first."""
    if loaded is None:
        return status.finding_statuses(log, [])
    results = partial(map, partial(result_of, loaded), loaded.models)
    key = (*(result_key(loaded, model) for model in loaded.models), log.revision)
    return _STATUSES.of(key, lambda: status.finding_statuses(log, [*results()]))
