"""The meeting on screen: what its component shows, and what becomes of the reader's answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
import streamlit as st

from evaluator.components.gallery import crops
from evaluator.components.gallery.payload import CardBoxItem
from evaluator.components.meeting import agenda
from evaluator.components.meeting.payload import (
    DecideEvent,
    MeetingNumberItem,
    MeetingPageItem,
    MeetingPaneItem,
    MeetingPayload,
    OpinionState,
)
from evaluator.data.issues import name_in_list, plain
from evaluator.review.decisions import CauseRow, example_at, names_in
from evaluator.review.finding_groups import MOST_AT_ONCE
from evaluator.review.identity import TOLERANCE
from evaluator.review.verdicts import JudgedBox
from pages.app import frame
from pages.app.components import meeting
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes
from pages.app.state import report, state
from pages.views.findings import decision_rows, findings, live
from pages.views.gallery.gallery_items import crop

_KEY: Final = "meeting_board"
_WIDTH: Final = 1_000
_NUMBERS: Final = {"precision": "Precision", "recall": "Recall", "f1": "F1"}


def start() -> None:
    """Begin at the top of the agenda, and present it."""
    live.present()
    join()


def join() -> None:
    """Open the screen of the meeting."""
    state.meeting_looks = False
    state.meeting_open, state.meeting_item, state.meeting_example, state.meeting_minutes = True, "", 0, ""
    state.meeting_unsaved = ""


def show(loaded: LoadedBoxes) -> None:
    """Draw the whole screen of a meeting."""
    # What comes later is not drawn yet.
    pulse = findings.pulse()
    live.follow(loaded, pulse)
    every = decision_rows.rows_of(loaded)
    rows = [*every.causes, *every.others]
    row = next((each for each in rows if each.key == state.meeting_item), rows[0] if rows else None)
    pulse = live.tell(loaded, pulse, row, _example(row) if row is not None else 0)
    payload = _payload(loaded, pulse, every, row)
    state.meeting_minutes = payload.minutes
    with st.container(key="meeting"):
        meeting(
            payload,
            key=_KEY,
            on_decide=lambda: _save_decisions(loaded),
            on_show=lambda: _show_item(loaded),
            on_end=lambda: live.end(loaded),
            on_back=_back,
            on_present=live.present,
        )
        findings.remember_author()
        live.be_heard(payload.live.role)
    if meeting.events(report(_KEY)).open and row is not None:
        decision_rows.show_on_page(loaded, row, _example(row))


def _payload(
    loaded: LoadedBoxes, pulse: findings.Pulse, every: decision_rows.Rows, row: CauseRow | None
) -> MeetingPayload:
    rows = [*every.causes, *every.others]
    name, verified = findings.author()
    unsaved = findings.unsaved(state.meeting_unsaved)
    numbers, line = _numbers(loaded), frame.signature(loaded, loaded.pair)
    payload = MeetingPayload(
        agenda=agenda.agenda_rows(rows, row.key if row else ""),
        rest=agenda.rest_of_agenda(rows),
        live=live.shown(loaded, pulse, rows),
        letters=[each.letter for each in loaded.pair],
        signature=line,
        item="",
        title="",
        sentence="",
        example=0,
        examples=0,
        mistakes=0,
        here=0,
        page=None,
        counts={},
        held=OpinionState(None, "", "", "", ""),
        votes=[],
        owners=names_in(rows),
        decided=agenda.decided_items(rows),
        numbers=numbers,
        minutes=decision_rows.minutes_of(loaded, every, numbers),
        reviewer=name,
        verified=verified,
        answered=state.answered,
        problem="" if unsaved is None else plain(unsaved.words),
    )
    return payload if row is None else _with_item(payload, loaded, pulse, row)


def _with_item(payload: MeetingPayload, loaded: LoadedBoxes, pulse: findings.Pulse, row: CauseRow) -> MeetingPayload:
    place = row.places[_example(row)] if row.places else None
    people, votes = live.people(loaded, pulse, agenda.votes_of(row))
    return msgspec.structs.replace(
        payload,
        item=row.key,
        title=row.title,
        sentence=agenda.sentence_of(row, payload.letters),
        example=_example(row),
        examples=row.examples,
        mistakes=row.mistakes if row.mistakes <= MOST_AT_ONCE else 0,
        here=1 if place is None else len(row.sides[place.model].result.causes.rows[place.row]),
        page=_page(loaded, row),
        counts=agenda.counts_of(row),
        held=agenda.opinion_of(row, findings.author()),
        votes=votes,
        live=msgspec.structs.replace(payload.live, people=people),
    )


def _example(row: CauseRow, wanted: int | None = None) -> int:
    return min(max(state.meeting_example if wanted is None else wanted, 0), max(row.examples - 1, 0))


def _numbers(loaded: LoadedBoxes) -> list[MeetingNumberItem]:
    rows = []
    for model in loaded.pair:
        corrected = findings.corrected_of(loaded, model)
        before = result_of(loaded, model).micro.row(0)
        after = corrected.result.micro.row(0) if corrected is not None else None
        rows += [
            MeetingNumberItem(
                f"{title} of {model.letter}",
                frame.number(before[key]),  # type: ignore[literal-required]
                frame.number(after[key]) if after is not None else "–",  # type: ignore[literal-required]
            )
            for key, title in _NUMBERS.items()
        ]
    return rows


def _page(loaded: LoadedBoxes, row: CauseRow) -> MeetingPageItem | None:
    dataset = loaded.dataset
    example = example_at(row, row.places[_example(row)]) if row.places else None
    shown = row.target(_example(row)) if example is None else None
    target = None if shown is None else shown[1]
    if example is not None:
        page = example.page
    elif target is not None and target.page is not None:
        known = dataset.page_row(target.document or "", target.page)
        if known is None:
            return None
        page = known
    else:
        return None
    document, index = dataset.documents[dataset.page_document[page]], int(dataset.page_index[page])
    # A mistake of items has boxes of its own.
    judged = target.boxes if example is None and target is not None and target.kind == "item" else ()
    panes, near = [], [box.xyxy for box in judged]
    for place, each in enumerate(loaded.pair):
        boxes = crops.page_boxes(result_of(loaded, each), page)
        here = example.boxes[place] if example is not None else None
        chosen = [box for box in boxes if (_is_of(box, judged) if here is None else box.key in here.keys)]
        near += [box.xyxy for box in chosen]
        text = here.words if here is not None else ""
        panes.append(MeetingPaneItem(each.letter, plain(each.name), text, boxes, [box.key for box in chosen]))
    picture = crop(loaded, document.doc_id, index, [], width=_WIDTH)
    points = (picture.aspect, 1.0)
    return MeetingPageItem(
        place=f"{name_in_list(document.name)}, page {index + 1}",
        image=picture.image,
        aspect=picture.aspect,
        problem=picture.problem,
        zoom=crops.region(np.array(near), points, aspect=picture.aspect) if near else (0.0, 0.0, 1.0, 1.0),
        panes=panes,
    )


def _is_of(box: CardBoxItem, judged: Sequence[JudgedBox]) -> bool:
    return any(
        one.side == box.side and np.allclose(one.xyxy, box.xyxy, rtol=0, atol=TOLERANCE["page"]) for one in judged
    )


def _show_item(loaded: LoadedBoxes) -> None:
    event = meeting.events(report(_KEY)).show
    if event is not None:
        state.meeting_looks = live.role(loaded, findings.pulse()) in ("follows", "looks")
        state.meeting_item, state.meeting_example = event.item, event.example


def _back() -> None:
    state.meeting_looks = False


def _save_decisions(loaded: LoadedBoxes) -> None:
    for event in findings.newly_said(meeting.events(report(_KEY)).decide):
        findings.set_author(event.name)
        row = decision_rows.row_at(loaded, event.item)
        if row is not None:
            state.verdict_refused = False
            _save_decision(loaded, row, event)


def _save_decision(loaded: LoadedBoxes, row: CauseRow, event: DecideEvent) -> None:
    whole = not row.examples or (event.whole and row.mistakes <= MOST_AT_ONCE)
    unsaved = findings.save_all(
        row.targets(findings.review_log(), None if whole else _example(row, event.example)),
        verdict=event.verdict,
        note=event.note,
        task=findings.Task(event.owner.strip(), event.due, event.status),
        event_id=event.id,
    )
    state.meeting_unsaved = "" if unsaved is None else unsaved.target_id
    # Others see at once who that is.
    state.meeting_told = 0.0
    if unsaved is None and event.onward and live.role(loaded, findings.pulse()) != "follows":
        if not event.whole and event.example + 1 < row.examples:
            state.meeting_example = event.example + 1
        else:
            every = decision_rows.rows_of(loaded)
            state.meeting_item = agenda.next_item([*every.causes, *every.others], row.key)
            state.meeting_example = 0
