"""The causes of the chosen models with what was decided on them, cached, and the minutes of it."""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
import streamlit as st

from evaluator.compare.decision import Decision
from evaluator.components.meeting.payload import MeetingNumberItem
from evaluator.pack.minutes import minutes
from evaluator.review.decisions import CauseRow, Effect, cause_rows, effect_of, finding_rows
from pages.app import frame
from pages.app.cache import Cached
from pages.app.results import result_key, result_of
from pages.app.session_files import LoadedBoxes
from pages.views.compare import model_pair
from pages.views.fields import field_verdicts
from pages.views.findings import findings
from pages.views.posters import poster_verdicts

_BROWSER: Final = "page_browser"
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


def worth_of(loaded: LoadedBoxes, row: CauseRow) -> Effect | None:
    """Return what the verdict on a cause is worth."""
    made = model_pair.decision_of(loaded)
    return _EFFECTS.of((*_key(loaded, made), row.key), lambda: effect_of(row, findings.review_log(), made))


def _key(loaded: LoadedBoxes, made: Decision | None) -> tuple[object, ...]:
    of_rule = None if made is None else msgspec.json.encode(made.rule)
    return (*(result_key(loaded, model) for model in loaded.pair), findings.review_log().revision, of_rule)


def page_address(document: str, index: int) -> str:
    """Return the address of a page in Pages, as the reader's browser opens it."""
    query = urllib.parse.urlencode({"doc": document, "page": index + 1})
    return urllib.parse.urljoin(st.context.url or "", f"{_BROWSER}?{query}")


def minutes_of(loaded: LoadedBoxes, numbers: Sequence[MeetingNumberItem]) -> str:
    """Return the minutes of what was decided so far."""
    causes, others = rows_of(loaded)
    return minutes(
        [(row, worth_of(loaded, row)) for row in causes],
        others,
        numbers,
        letters=[model.letter for model in loaded.pair],
        signature=frame.signature(loaded, loaded.pair),
        time=datetime.now(UTC),
        link=page_address,
    )
