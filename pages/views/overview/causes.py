"""What goes wrong, on the Overview: the largest causes as pictures of one place under each model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from evaluator.components.decisions.rows import pair_card
from evaluator.data.issues import count_of
from evaluator.review.decisions import CauseRow
from pages.app import widgets
from pages.app.results import result_key
from pages.app.session_files import LoadedBoxes
from pages.app.state import State, state
from pages.views.findings import decision_rows
from pages.views.gallery import gallery_items

GALLERY_VIEW: Final = "pages/gallery.py"
_DECISIONS_VIEW: Final = "pages/findings.py"
# Two rows in a window of 1,920 pixels; the browser shows six of them in others.
_SHOWN: Final = 8
# Width over height of a picture of two, and of one.
_ASPECTS: Final = {2: 1.5, 1: 3.0}
_LEGEND: Final = (
    '<i class="ls-legend ls-tp"></i>matched (TP) <i class="ls-legend ls-fp"></i>extra (FP) '
    '<i class="ls-legend ls-fn"></i>missed (FN)'
)
_CHOICES: Final = {"largest": "Largest", "new": "New in B", "solved": "Solved in B"}


def rows_of(loaded: LoadedBoxes) -> list[CauseRow]:
    """Return the causes, the one behind the decision first, then by the wrong boxes of the worse model."""
    rows = decision_rows.boxes_of(loaded).causes
    return [*rows[:1], *sorted(rows[1:], key=lambda row: -row.most)]


def draw(loaded: LoadedBoxes, rows: Sequence[CauseRow]) -> None:
    """Draw the first causes as cards, in room that is kept for them; each opens its places of one model."""
    with st.container(key=f"cause_cards_{min(len(rows), _SHOWN)}"):
        _cards(loaded, rows)


@st.fragment
def _cards(loaded: LoadedBoxes, rows: Sequence[CauseRow]) -> None:
    letters = [model.letter for model in loaded.pair]
    which = "largest"
    first = ", the one that decides first" if rows and rows[0].fails else ""
    sheets = "" if loaded.project.pdfs else "; no PDF is open: boxes on empty sheets"
    with st.container(key="which_causes_head", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(
            f'<h2 class="ls-section">What goes wrong <small>an example of each cause{first}; a picture opens its places'
            f"{sheets}</small><small class='ls-right'>{_LEGEND}</small></h2>",
            width="stretch",
        )
        if rows and len(letters) == 2:
            which = widgets.one_of("Causes", _CHOICES, "which_causes")
        if rows:
            st.page_link(_DECISIONS_VIEW, label=f"All {count_of(len(rows), 'cause')}")
    if which != "largest":
        has, lacks = (1, 0) if which == "new" else (0, 1)
        rows = [row for row in rows if len(row.sides[has].rows) and not len(row.sides[lacks].rows)]
    of = "/".join(str(result_key(loaded, model)) for model in loaded.pair)
    empty = "No mistake at these thresholds." if which == "largest" else f"No cause is {which} in B."
    shown = {row.key: row for row in rows[:_SHOWN]}
    gallery_items.draw_cards(
        loaded,
        [pair_card(row, letters) for row in shown.values()],
        of=of,
        key="causes_shown",
        empty=empty,
        aspect=_ASPECTS[len(letters)],
    )
    opened = State.gallery_opened.pop()
    if opened is not None and opened[0].key in shown:
        card, side = opened
        row = shown[card.key]
        # One without any places has those of the other model.
        model = side if side >= 0 and len(row.sides[side].rows) else row.places[0].model
        state.model = loaded.pair[model].index
        assert row.family is not None, "a cause has a family"
        gallery_items.show_alike(row.family)
    if State.alike_asked.pop():
        st.switch_page(GALLERY_VIEW)
