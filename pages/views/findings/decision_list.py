"""The list of decisions on screen: causes with what was decided on them, edited in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import streamlit as st

from evaluator.components.decisions import rows as shown
from evaluator.components.decisions.payload import DecisionPictureItem, DecisionsPayload, EditEvent
from evaluator.components.gallery.payload import CardBoxItem
from evaluator.components.payload import ModelItem
from evaluator.data.dataset import box_key
from evaluator.data.issues import count_of, plain
from evaluator.review.decisions import CauseRow, Effect, names_in
from evaluator.review.identity import stored_name
from pages.app import frame, widgets
from pages.app.components import MOST_WANTED, decisions
from pages.app.results import result_key
from pages.app.session_files import LoadedBoxes
from pages.app.state import State, report, state
from pages.views.findings import decision_rows, findings
from pages.views.gallery import gallery_items

_KEY: Final = "decisions"
_LISTED: Final = 200
_WIDTH: Final = 680
_GRID: Final = "pages/gallery.py"
_CHOICES: Final = {"": "All", "decided": "Decided", "open": "Open"}
_EMPTY: Final = {
    "": "No mistake at these thresholds, and nothing is judged.",
    "decided": "Nothing is decided yet: choose All, then 1 to 4 judge the largest cause.",
    "open": "Every cause is decided.",
}


def show(loaded: LoadedBoxes | None) -> None:
    """Draw how far the decisions are, the choice of rows, and the rows."""
    causes, others, worth = decision_rows.rows_of(loaded)
    letters = [model.letter for model in loaded.pair] if loaded is not None else []
    groups = {"": causes, "decided": [row for row in causes if row.entries]}
    groups["open"] = [row for row in causes if not row.entries]
    with st.container(
        key="decided_line",
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
        gap="small",
    ):
        first, rest = shown.summary(causes, letters) if causes else ("", "")
        st.html(f'<p class="ls-decided"><b>{first}</b> {rest}</p>', width="stretch")
        names = {key: f"{word} {len(groups[key]):,}" for key, word in _CHOICES.items()}
        widgets.switch("Causes", names, State.decided, label_visibility="collapsed", width="content")
    rows = [*groups[state.decided], *(others if state.decided != "open" else [])]
    _list(loaded, rows, letters, worth)


def _list(
    loaded: LoadedBoxes | None,
    rows: Sequence[CauseRow],
    letters: Sequence[str],
    worth: Callable[[CauseRow], Effect | None],
) -> None:
    # What was decided is never behind what was not.
    listed = [row for place, row in enumerate(rows) if row.entries or place < _LISTED]
    by_key = {row.key: row for row in listed}
    name, verified = author = findings.author()
    unsaved = findings.unsaved(state.decision_unsaved)
    improbable = findings.review_log().improbable(datetime.now(UTC))
    payload = DecisionsPayload(
        set=str(hash((state.decided, *(result_key(loaded, model) for model in loaded.pair)))) if loaded else "",
        models=[ModelItem(model.letter, plain(frame.whole_name(model))) for model in loaded.pair] if loaded else [],
        rows=[
            shown.decision_row(
                row,
                worth(row),
                letters=letters,
                reviewer=author,
                known=_is_open(loaded, row),
                improbable=improbable,
            )
            for row in listed
        ],
        rest=f"{count_of(len(rows) - len(listed), 'smaller cause')} not listed." if len(rows) > len(listed) else "",
        empty=_EMPTY[state.decided],
        pictures=_pictures(loaded, [by_key[key] for key in state.decisions_wanted if key in by_key]),
        owners=names_in(rows),
        reviewer=name,
        verified=verified,
        answered=state.answered,
        problem="" if unsaved is None else plain(unsaved.words),
    )
    state.decisions_wanted = ()

    def want() -> None:
        state.decisions_wanted = [*(decisions.events(report(_KEY)).want or ())][:MOST_WANTED]

    def edit() -> None:
        for event in findings.newly_said(decisions.events(report(_KEY)).edit):
            keep(loaded, event)

    # Its room is kept until it is drawn, so that nothing moves.
    with st.container(key="decision_list"):
        said = decisions(payload, key=_KEY, on_want=want, on_edit=edit)
    if said.open in by_key:
        decision_rows.show_on_page(loaded, by_key[said.open])
    elif said.alike in by_key:
        row = by_key[said.alike]
        if loaded is None or row.family is None:
            decision_rows.show_on_page(loaded, row)
        else:
            state.model = loaded.pair[row.places[0].model].index
            gallery_items.show_alike(row.family)
            st.switch_page(_GRID)


def keep(loaded: LoadedBoxes | None, event: EditEvent) -> None:
    """Keep what the reader said of a row; verdict, note and task of each mistake stay where it is of another one."""
    findings.set_author(event.name)
    row = decision_rows.row_at(loaded, event.row)
    if row is None:
        return
    state.verdict_refused = False
    task, value = row.task, event.value
    of_row = findings.Task(task.owner, task.due, task.status) if task else findings.Task()
    if event.field in findings.Task._fields:
        of_row = of_row._replace(**{event.field: value})
        if (of_row.owner or of_row.due) and not of_row.status:
            of_row = of_row._replace(status="open")
    undo = event.field == "undo"
    unsaved = findings.save_all(
        row.targets(findings.review_log()),
        verdict=None if undo else (value or None) if event.field == "verdict" else findings.OWN,
        note="" if undo else value if event.field == "note" else findings.OWN,
        tags=[] if undo else None,
        task=findings.Task() if undo else of_row if event.field in findings.Task._fields else None,
        event_id=event.id,
    )
    state.decision_unsaved = "" if unsaved is None else unsaved.target_id


def _is_open(loaded: LoadedBoxes | None, row: CauseRow) -> bool:
    shown = row.target()
    return loaded is not None and shown is not None and shown[1].document in loaded.dataset.document_code


def _pictures(loaded: LoadedBoxes | None, rows: Sequence[CauseRow]) -> dict[str, DecisionPictureItem]:
    pictures: dict[str, DecisionPictureItem] = {}
    if loaded is None:
        return pictures
    for row in rows:
        place, boxes = shown.place_of(row), shown.example_boxes(row)
        if place is None:
            continue
        if not row.sides:
            names = [stored_name(loaded.predictions[model.index].name) for model in loaded.pair]
            boxes = [_judged_boxes(row, name) for name in names]
        corners = [box.xyxy for side in boxes for box in side]
        pictures[row.key] = DecisionPictureItem(
            gallery_items.crop(loaded, place[0], place[1], corners, width=_WIDTH), boxes
        )
    return pictures


def _judged_boxes(row: CauseRow, model: str) -> list[CardBoxItem]:
    shown = row.target()
    if shown is None or (target := shown[1]).unit != "page":
        return []
    return [
        CardBoxItem(box_key(box.side, place), box.side, "FN" if box.side == "ground_truth" else "FP", box.xyxy)
        for place, box in enumerate(target.boxes)
        # What one model does wrong with items is right in the other one, or another mistake.
        if target.kind != "item" or model in target.models
    ]
