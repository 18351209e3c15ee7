"""A live meeting: one presents, others see the same place at the same thresholds on their own screens.

The store has one row of it, which the presenter writes and followers read: who was away for a while finds the place
again. A follower may look around, and comes back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Final, Literal
from uuid import uuid4

import msgspec
import streamlit as st

from evaluator.components.meeting.agenda import reviewer_words
from evaluator.components.meeting.payload import LiveItem, VoteItem
from evaluator.data.issues import plain
from evaluator.review.decisions import CauseRow
from evaluator.review.meetings import ABSENT, Follower, Meeting, Thresholds
from pages.app import protocol, routes
from pages.app.results import iou_range, score_threshold
from pages.app.session_files import LoadedBoxes
from pages.app.state import State, state
from pages.views.findings import findings

Role = Literal["presents", "follows", "looks", "alone"]
# A follower is heard of three times before being taken for one who has left.
_FOLLOWS_SECONDS: Final = ABSENT.total_seconds() / 3
_NO_VOTE: Final = "no vote yet"


def now_of(loaded: LoadedBoxes, pulse: findings.Pulse) -> Meeting | None:
    """Return the live meeting on these files; None without one."""
    now = pulse.meeting
    return now if now is not None and now.is_live(datetime.now(UTC)) and now.files == _files(loaded) else None


def role(loaded: LoadedBoxes, pulse: findings.Pulse) -> Role:
    """Return what this session does in the meeting."""
    now = now_of(loaded, pulse)
    if now is None:
        return "alone"
    if now.session == state.meeting_session:
        return "presents"
    return "looks" if state.meeting_looks else "follows"


def present() -> None:
    """Become the one who presents, from the next run on."""
    _stop_following()
    state.meeting_session, state.meeting_looks, state.meeting_begins = uuid4().hex, False, True


def follow(loaded: LoadedBoxes, pulse: findings.Pulse) -> None:
    """Take the place and the thresholds of the presenter."""
    now = now_of(loaded, pulse)
    if now is None or state.meeting_begins or role(loaded, pulse) != "follows":
        return
    state.meeting_item, state.meeting_example, state.meeting_followed = now.item, now.example, True
    low, high = iou_range()
    if now.thresholds.protocol == protocol.chosen().name and low <= now.thresholds.iou <= high:
        state.meeting_own = state.meeting_own or _thresholds(loaded)
        _use(loaded, now.thresholds)


def _thresholds(loaded: LoadedBoxes) -> Thresholds:
    scores = {model.index: score_threshold(loaded, model) for model in loaded.models}
    return Thresholds(protocol=protocol.chosen().name, iou=state.iou, scores=scores)


def _use(loaded: LoadedBoxes, thresholds: Thresholds) -> None:
    state.iou = thresholds.iou
    for model in loaded.models:
        State.score.of(model.index).set(thresholds.scores.get(model.index, 0.0))


def tell(loaded: LoadedBoxes, pulse: findings.Pulse, row: CauseRow | None, example: int) -> findings.Pulse:
    """Write what is presented, when the presenter has moved; return what is known of the meeting then."""
    if not state.meeting_session or (role(loaded, pulse) != "presents" and not state.meeting_begins):
        return pulse
    (name, verified), before = findings.author(), pulse.meeting
    shown = Meeting(
        session=state.meeting_session,
        presenter=name,
        verified=verified,
        files=_files(loaded),
        item=row.key if row is not None else "",
        example=example,
        thresholds=_thresholds(loaded),
        number=before.number if before is not None else 0,
        time=datetime.now(UTC),
    )
    state.meeting_begins = False
    if before is not None and _place(before) == _place(shown):
        return pulse
    problem = findings.present(shown, moved=True)
    state.meeting_refused = "" if problem is None else f"Nobody can follow. {plain(str(problem))}"
    return findings.pulse()


def end(loaded: LoadedBoxes) -> None:
    """Leave the meeting with one's own thresholds; that of the presenter has ended."""
    _stop_following()
    pulse = findings.pulse()
    now = now_of(loaded, pulse)
    if now is not None and role(loaded, pulse) == "presents":
        findings.present(msgspec.structs.replace(now, open=False), moved=True)
    elif state.meeting_own is not None:
        _use(loaded, state.meeting_own)
    state.meeting_open, state.meeting_session, state.meeting_followed, state.meeting_own = False, "", False, None


@st.fragment(run_every=_FOLLOWS_SECONDS)
def _say_following() -> None:
    if monotonic() - state.meeting_told < _FOLLOWS_SECONDS and state.meeting_follower:
        return
    state.meeting_follower = state.meeting_follower or uuid4().hex
    state.meeting_told = monotonic()
    findings.follow(state.meeting_follower)


def _stop_following() -> None:
    if state.meeting_follower:
        findings.follow(state.meeting_follower, leaves=True)
    state.meeting_follower = ""


def people(loaded: LoadedBoxes, pulse: findings.Pulse, votes: Sequence[VoteItem]) -> tuple[str, list[VoteItem]]:
    """Return how many follow and have voted, in words, and everybody there with a vote, then who else has voted."""
    now = now_of(loaded, pulse)
    if now is None:
        return "", [*votes]
    # Two screens of one reviewer are one row; nobody knows that of those without a name.
    here = [(_words(now), "presents")]
    for each in pulse.followers:
        if not each.name or all(name != _words(each) for name, _ in here):
            here.append((_words(each), "follows"))
    said = {vote.name: vote.words for vote in votes}
    rows = [VoteItem(name, said.pop(name, _NO_VOTE), role) for name, role in here]
    voted = sum(row.words != _NO_VOTE for row in rows)
    verb = "follows" if len(pulse.followers) == 1 else "follow"
    words = f"{len(pulse.followers):,} {verb} · {voted:,} of {len(rows):,} {'has' if voted == 1 else 'have'} voted"
    return words, [*rows, *(vote for vote in votes if vote.name in said)]


def _words(who: Meeting | Follower) -> str:
    name = who.presenter if isinstance(who, Meeting) else who.name
    return reviewer_words(name, who.verified) if name else "Without a name"


def shown(loaded: LoadedBoxes, pulse: findings.Pulse, rows: Sequence[CauseRow]) -> LiveItem:
    """Return what the screen says of the meeting, and where the browser asks, without a run, whether it is still so."""
    mine, ask = role(loaded, pulse), findings.asking()

    def answer() -> bytes:
        now = ask()
        return b"" if now.lost else _seen(now, mine).encode()

    words = _words_of(mine, now_of(loaded, pulse), rows)
    return LiveItem(mine, words, asks=routes.answer_address("meeting", mine, answer), seen=_seen(pulse, mine))


def _words_of(mine: Role, now: Meeting | None, rows: Sequence[CauseRow]) -> str:
    if now is None:
        return "The meeting has ended." if state.meeting_followed else state.meeting_refused
    who = plain(now.presenter) or "Somebody"
    if mine == "presents":
        address = (st.context.url or "").partition("?")[0]
        return f"You present. Others join at {address}?meeting=yes"
    if mine == "looks":
        title = next((row.title for row in rows if row.key == now.item), "")
        return f"Looking around. {who} is at: {title}"
    other = "" if now.thresholds.protocol == protocol.chosen().name else " under another protocol"
    return f"{who} presents{other}"


def _seen(pulse: findings.Pulse, mine: Role) -> str:
    """Return a digest of the screen: who else follows is said at once to the presenter alone, to others in time."""
    shown: object = _place(pulse.meeting), pulse.revision
    if mine == "presents":
        presents = pulse.meeting.session if pulse.meeting is not None and pulse.meeting.open else None
        shown = presents, pulse.revision, [(each.name, each.session) for each in pulse.followers]
    return hashlib.sha256(msgspec.json.encode(shown)).hexdigest()


def be_heard(mine: Role) -> None:
    """Let the others know, from time to time, that this session is still there."""
    if mine == "presents":
        findings.present_on()
    elif mine != "alone":
        _say_following()


def _place(meeting: Meeting | None) -> object:
    if meeting is None or not meeting.open:
        return None
    return meeting.session, meeting.presenter, meeting.files, meeting.item, meeting.example, meeting.thresholds


def _files(loaded: LoadedBoxes) -> str:
    return hashlib.sha256("\n".join(loaded.digests).encode("utf-8", "surrogatepass")).hexdigest()
