"""The causes of the chosen models with what was decided on them, cached, and the minutes of it."""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

import msgspec
import streamlit as st

from evaluator.compare.decision import Decision
from evaluator.components.meeting.payload import MeetingNumberItem
from evaluator.data.dataset import box_key
from evaluator.pack.minutes import minutes
from evaluator.review.decisions import CauseRow, Effect, cause_rows, effect_of, finding_rows
from evaluator.review.finding_groups import rows_of as rows_at
from pages.app import frame
from pages.app.cache import Cached
from pages.app.results import result_key, result_of
from pages.app.session_files import LoadedBoxes
from pages.app.state import open_page, state
from pages.views.compare import model_pair
from pages.views.fields import field_verdicts
from pages.views.findings import findings
from pages.views.posters import poster_verdicts

_BROWSER: Final = "page_browser"
_BROWSER_VIEW: Final = f"pages/{_BROWSER}.py"
# Findings that have views of their own, by the kind of what they are about.
_OF_TEXTS: Final = {"field": field_verdicts, "word": poster_verdicts}
_ROWS: Final = Cached[tuple[list[CauseRow], list[CauseRow]]](4)
_EFFECTS: Final = Cached[Effect | None](256)


def rows_of(loaded: LoadedBoxes | None) -> tuple[list[CauseRow], list[CauseRow]]:
    """Return the causes of the chosen models, those that fail the rule first, and the findings of none."""
    of_texts = finding_rows([*field_verdicts.statuses(), *poster_verdicts.statuses()])
    if loaded is None:
        return [], [*finding_rows(findings.statuses(None)), *of_texts]
    made = model_pair.decision_of(loaded)

    def rows() -> tuple[list[CauseRow], list[CauseRow]]:
        results = [result_of(loaded, model) for model in loaded.pair]
        return cause_rows(results, findings.statuses(loaded), made)

    causes, others = _ROWS.of(_key(loaded, made), rows)
    return causes, [*others, *of_texts]


def worths_of(loaded: LoadedBoxes, rows: Sequence[CauseRow]) -> list[Effect | None]:
    """Return what the verdict on each cause is worth."""
    made, log = model_pair.decision_of(loaded), findings.review_log()
    key = _key(loaded, made)
    return [_EFFECTS.of((*key, row.key), partial(effect_of, row, log, made)) if row.entries else None for row in rows]


def _key(loaded: LoadedBoxes, made: Decision | None) -> tuple[object, ...]:
    of_rule = None if made is None else msgspec.json.encode(made.rule)
    return (*(result_key(loaded, model) for model in loaded.pair), findings.review_log().revision, of_rule)


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


def minutes_of(
    loaded: LoadedBoxes, causes: Sequence[CauseRow], others: Sequence[CauseRow], numbers: Sequence[MeetingNumberItem]
) -> str:
    """Return the minutes of what was decided so far; rows as `rows_of` gives them."""
    return minutes(
        list(zip(causes, worths_of(loaded, causes), strict=True)),
        others,
        numbers,
        letters=[model.letter for model in loaded.pair],
        signature=frame.signature(loaded, loaded.pair),
        time=datetime.now(UTC),
        link=page_address,
    )
