"""The causes of the chosen models with what was decided on them, cached, and the minutes of it."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec
import streamlit as st

from evaluator.components.meeting.payload import MeetingNumberItem
from evaluator.data.dataset import box_key
from evaluator.pack.minutes import minutes
from evaluator.review.decisions import CauseRow, Effect, cause_rows, effect_of, finding_rows
from evaluator.review.finding_groups import rows_of as rows_at
from pages.app import frame
from pages.app.cache import Cached
from pages.app.results import most_kept, result_key, result_of
from pages.app.session_files import LoadedBoxes
from pages.app.state import open_page, state
from pages.views.compare import model_pair
from pages.views.fields import field_verdicts
from pages.views.findings import findings
from pages.views.posters import poster_verdicts
from pages.views.reading import item_verdicts

_BROWSER: Final = "page_browser"
_BROWSER_VIEW: Final = f"pages/{_BROWSER}.py"
# Findings that have views of their own, by the kind of what they are about.
_OF_TEXTS: Final = {"field": field_verdicts, "word": poster_verdicts, "item": item_verdicts}
_ROWS: Final = Cached[tuple[list[CauseRow], list[CauseRow]]](4)
_EFFECTS: Final = Cached[Effect | None](256)


class Rows(NamedTuple):
    """The causes of the chosen models, those that fail the rule first, then those of items; and findings of none."""

    causes: list[CauseRow]
    others: list[CauseRow]
    worth: Callable[[CauseRow], Effect | None]


def rows_of(loaded: LoadedBoxes | None) -> Rows:
    """Return the causes of boxes and items, and the findings, under the thresholds of this session."""
    of_boxes, log = boxes_of(loaded), findings.review_log()
    of_items = item_verdicts.rows(loaded, log) if loaded is not None else []
    listed = {entry.judged.target_id for row in of_items for entry in row.entries}
    of_texts = [status for each in _OF_TEXTS.values() for status in each.statuses(log)]
    others = finding_rows([status for status in of_texts if status.judged.target_id not in listed])
    return Rows([*of_boxes.causes, *of_items], [*of_boxes.others, *others], of_boxes.worth)


def boxes_of(loaded: LoadedBoxes | None) -> Rows:
    """Return the causes of boxes, and the findings but those of fields, words and items."""
    log = findings.review_log()
    if loaded is None:
        return Rows([], finding_rows(findings.statuses(None, log)), lambda _: None)
    made = model_pair.decision_of(loaded)
    of_rule = None if made is None else msgspec.json.encode(made.rule)
    key = (*(result_key(loaded, model) for model in loaded.pair), log.revision, of_rule)

    def rows() -> tuple[list[CauseRow], list[CauseRow]]:
        results = [result_of(loaded, model) for model in loaded.pair]
        return cause_rows(results, findings.statuses(loaded, log), made)

    def worth(row: CauseRow) -> Effect | None:
        return _EFFECTS.of((*key, row.key), lambda: effect_of(row, log, made)) if row.entries else None

    causes, others = _ROWS.of(key, rows, most=most_kept(loaded.dataset, 1))
    return Rows(causes, others, worth)


def row_at(loaded: LoadedBoxes | None, key: str) -> CauseRow | None:
    """Return a row with all that was said until now; None for one that is not there."""
    every = rows_of(loaded)
    return next((each for each in (*every.causes, *every.others) if each.key == key), None)


def show_on_page(loaded: LoadedBoxes | None, row: CauseRow, example: int = 0) -> None:
    """Open a place of a row in Pages, or what a finding is about in the view of its texts; nothing without a page."""
    if loaded is not None and row.places:
        at, dataset = row.places[example], loaded.dataset
        result = row.sides[at.model].result
        page = int(result.causes.page[at.row])
        here = rows_at(result, result.causes.rows[at.row], page)
        extra, missed = here.predictions.tolist(), here.truths.tolist()
        open_page(dataset.documents[dataset.page_document[page]].doc_id, int(dataset.page_index[page]))
        state.model = loaded.pair[at.model].index
        state.box = box_key("prediction", extra[0]) if extra else box_key("ground_truth", missed[0])
        st.switch_page(_BROWSER_VIEW)
    shown = row.target(example)
    if shown is not None and shown[1].kind == "item":
        item_verdicts.show_on_page(*shown)
        st.switch_page(item_verdicts.VIEW_FILE)
    if not row.entries:
        return
    entry = row.entries[0]
    target = entry.judged.target
    if target.kind in _OF_TEXTS:
        _OF_TEXTS[target.kind].show_on_page(entry)
        st.switch_page(_OF_TEXTS[target.kind].VIEW_FILE)
    if loaded is not None and target.document is not None and target.page is not None:
        open_page(target.document, target.page)
        if entry.model is not None:
            state.model, state.box = entry.model, entry.box_key
        st.switch_page(_BROWSER_VIEW)


def page_address(document: str, index: int) -> str:
    """Return the address of a page in Pages, as the reader's browser opens it."""
    query = urllib.parse.urlencode({"doc": document, "page": index + 1})
    return urllib.parse.urljoin(st.context.url or "", f"{_BROWSER}?{query}")


def minutes_of(loaded: LoadedBoxes, rows: Rows, numbers: Sequence[MeetingNumberItem]) -> str:
    """Return the minutes of what was decided so far."""
    return minutes(
        [(row, rows.worth(row)) for row in rows.causes],
        rows.others,
        numbers,
        letters=[model.letter for model in loaded.pair],
        signature=frame.signature(loaded, loaded.pair),
        time=datetime.now(UTC),
        link=page_address,
    )
