"""The meeting on screen: what its component shows, and what becomes of the reader's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
import streamlit as st

from evaluator.components.gallery import crops
from evaluator.components.meeting.agenda import agenda_rows, decided_items, opinion_of, votes_of
from evaluator.components.meeting.payload import (
    DecideEvent,
    MeetingNumberItem,
    MeetingPageItem,
    MeetingPaneItem,
    MeetingPayload,
    OpinionState,
)
from evaluator.data.dataset import box_key
from evaluator.data.issues import plain
from evaluator.review import agenda as words
from evaluator.review.agenda import AgendaItem, agenda, targets_of_causes
from evaluator.review.finding_groups import beside, outcome, rows_of
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import Target
from pages.app import frame
from pages.app.components import meeting
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import open_page, report, state
from pages.views.findings import decision_rows, findings
from pages.views.gallery.gallery_items import crop

_KEY: Final = "meeting_board"
_BROWSER_VIEW: Final = "pages/page_browser.py"
_WIDTH: Final = 1_000
_NUMBERS: Final = {"precision": "Precision", "recall": "Recall", "f1": "F1"}


def start() -> None:
    """Begin at the top of the agenda, with the mistakes of the candidate."""
    state.meeting_open, state.meeting_item, state.meeting_example, state.meeting_minutes = True, "", 0, ""
    state.meeting_unsaved = ""


def show(loaded: LoadedBoxes, statuses: Sequence[FindingStatus]) -> None:
    """Draw the whole screen of a meeting."""
    model = _model(loaded)
    items = agenda(result_of(loaded, model), [result_of(loaded, each) for each in loaded.models], statuses)
    item = next((each for each in items if each.key == state.meeting_item), items[0] if items else None)
    payload = _payload(loaded, model, items, item)
    state.meeting_minutes = payload.minutes
    with st.container(key="meeting"):
        meeting(
            payload,
            key=_KEY,
            on_decide=lambda: _save_decision(loaded, model, items),
            on_show=_show_item,
            on_end=_end,
        )
    if meeting.events(report(_KEY)).open and item is not None:
        _open(loaded, model, item)


def _model(loaded: LoadedBoxes) -> PairModel:
    """Return whose mistakes the agenda has: the chosen one of the pair, else the last."""
    return next((model for model in loaded.pair if model.letter == state.meeting_of), loaded.pair[-1])


def _payload(
    loaded: LoadedBoxes, model: PairModel, items: Sequence[AgendaItem], item: AgendaItem | None
) -> MeetingPayload:
    name, verified = findings.author()
    unsaved = findings.unsaved(state.meeting_unsaved)
    numbers, line = _numbers(loaded), frame.signature(loaded, loaded.pair)
    known = {event.owner for each in items for event in each.opinions if event.owner}
    known |= {reviewer for each in items for reviewer, _ in each.votes}
    payload = MeetingPayload(
        agenda=agenda_rows(items, item.key if item else ""),
        rest=words.rest_of_agenda(items),
        letter=model.letter,
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
        owners=sorted(map(plain, known)),
        decided=decided_items(items),
        numbers=numbers,
        minutes=decision_rows.minutes_of(loaded, items, numbers),
        reviewer=name,
        verified=verified,
        problem="" if unsaved is None else plain(unsaved.words),
    )
    return payload if item is None else _with_item(payload, loaded, model, item)


def _with_item(payload: MeetingPayload, loaded: LoadedBoxes, model: PairModel, item: AgendaItem) -> MeetingPayload:
    other = next((each for each in loaded.pair if each.letter != model.letter), None)
    other_result = None if other is None else result_of(loaded, other)
    example = min(max(state.meeting_example, 0), max(len(item.examples) - 1, 0))
    own = result_of(loaded, model).causes
    return msgspec.structs.replace(
        payload,
        item=item.key,
        title=words.title_of_item(item),
        sentence=words.sentence_of_item(item, model.letter, other_result, other.letter if other else ""),
        example=example,
        examples=len(item.examples),
        mistakes=item.mistakes if item.mistakes <= words.MOST_AT_ONCE else 0,
        here=len(own.rows[item.examples[example]]) if len(item.examples) else 1,
        page=_page(loaded, model, item, example),
        counts=words.counts_of(item),
        held=opinion_of(item, findings.author()),
        votes=votes_of(item),
    )


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


def _page(loaded: LoadedBoxes, model: PairModel, item: AgendaItem, example: int) -> MeetingPageItem | None:
    """Return the page of an example with both models on it; None without a page in the open files."""
    dataset, own = loaded.dataset, result_of(loaded, model)
    if len(item.examples):
        made, cause = own.causes, int(item.examples[example])
        page = int(made.page[cause])
        place = rows_of(own, made.rows[cause], page)
        document, index = dataset.documents[dataset.page_document[page]], int(dataset.page_index[page])
    else:
        target = item.entries[0].judged.target
        known = None if target.page is None else dataset.page_row(target.document or "", target.page)
        if known is None:
            return None
        page, place = known, None
        document, index = dataset.documents[dataset.page_document[page]], target.page or 0
    panes, near = [], []
    for each in loaded.pair:
        result = result_of(loaded, each)
        boxes = crops.page_boxes(result, page)
        chosen: set[str] = set()
        if place is not None:
            there = place if each.letter == model.letter else beside(result, place, own)
            chosen = {box_key("ground_truth", row) for row in there.truths.tolist()}
            chosen |= {box_key("prediction", row) for row in there.predictions.tolist()}
        near += [box.xyxy for box in boxes if box.key in chosen]
        text = "" if place is None else outcome(result, place, own).sentence
        panes.append(
            MeetingPaneItem(each.letter, plain(each.name), text, boxes, [box.key for box in boxes if box.key in chosen])
        )
    picture = crop(loaded, document.doc_id, index, [], width=_WIDTH)
    points = (picture.aspect, 1.0)
    return MeetingPageItem(
        place=f"{plain(document.name)}, page {index + 1}",
        image=picture.image,
        aspect=picture.aspect,
        problem=picture.problem,
        zoom=crops.region(np.array(near), points, aspect=picture.aspect) if near else (0.0, 0.0, 1.0, 1.0),
        panes=panes,
    )


def _show_item() -> None:
    event = meeting.events(report(_KEY)).show
    if event is not None:
        state.meeting_item, state.meeting_example, state.meeting_of = event.item, event.example, event.letter


def _end() -> None:
    state.meeting_open = False


def _save_decision(loaded: LoadedBoxes, model: PairModel, items: Sequence[AgendaItem]) -> None:
    """Keep a decision, and go on when it is on disk."""
    event = meeting.events(report(_KEY)).decide
    item = next((each for each in items if event is not None and each.key == event.item), None)
    if event is None or item is None:
        return
    findings.set_author(event.name)
    targets = _targets(loaded, model, item, event)
    unsaved = findings.save_all(
        targets,
        verdict=event.verdict,
        note=event.note,
        task=findings.Task(event.owner.strip(), event.due, event.status),
        event_id=event.id,
    )
    state.meeting_unsaved = "" if unsaved is None else unsaved.target_id
    if unsaved is None and event.onward:
        if not event.whole and event.example + 1 < len(item.examples):
            state.meeting_example = event.example + 1
        else:
            state.meeting_item, state.meeting_example = words.next_item(items, item.key), 0


def _targets(loaded: LoadedBoxes, model: PairModel, item: AgendaItem, event: DecideEvent) -> Mapping[str, Target]:
    if not len(item.examples):
        return {entry.judged.target_id: entry.judged.target for entry in item.entries}
    whole = event.whole and item.mistakes <= words.MOST_AT_ONCE
    example = min(max(event.example, 0), len(item.examples) - 1)
    rows = item.examples if whole else item.examples[[example]]
    return targets_of_causes(result_of(loaded, model), rows, findings.review_log())


def _open(loaded: LoadedBoxes, model: PairModel, item: AgendaItem) -> None:
    result = result_of(loaded, model)
    if len(item.examples):
        page = int(result.causes.page[item.examples[min(state.meeting_example, len(item.examples) - 1)]])
        dataset = loaded.dataset
        open_page(dataset.documents[dataset.page_document[page]].doc_id, int(dataset.page_index[page]))
        state.model = model.index
    else:
        target = item.entries[0].judged.target
        open_page(target.document or "", target.page or 0)
    st.switch_page(_BROWSER_VIEW)
