"""The columns of a table whose names do not say what they hold, chosen by the reader: ``--columns``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from evaluator.data.dataset import Side
from evaluator.data.issues import plain
from evaluator.formats import table
from evaluator.project import Upload
from pages.app import frame, widgets
from pages.app.state import State, UploadedFiles, form_value, state

_ROLES: Final[dict[str, Side]] = {"Ground truth": "ground_truth", "Prediction": "prediction"}
_UNITS: Final = {"pixels": "pixels", "page": "shares of the page"}
_PAGES: Final = {"page_number": "from 1", "page_index": "from 0"}
_WORDS: Final = {
    "document": "Document", "label": "Label", "score": "Score", "x1": "x1, left", "y1": "y1, top", "x2": "x2, right",
    "y2": "y2, bottom", "w": "Width", "h": "Height", "cx": "x of the centre", "cy": "y of the centre",
    "page_width": "Width of the page", "page_height": "Height of the page",
}  # fmt: skip
_OPTIONAL: Final = ("document", "score", "page_width", "page_height")


def tables(unnamed: UploadedFiles) -> None:
    """Draw a form for each of some tables whose columns have no known names."""
    for place, (name, content) in enumerate(unnamed):
        _form(place, name, content)


def _form(place: int, name: str, content: bytes) -> None:
    header = table.header_names(content, name)
    frame.section("Columns of a table", name)
    if any("," in column for column in header):
        st.warning("A column has a comma in its name; rename it in the table.", icon=":material/table:")
        return
    form = widgets.switch("Form of the boxes", {key: key for key in table.BOX_FORMS}, State.box_form)
    targets = ("label", *table.BOX_FORMS[form], *_OPTIONAL)
    with st.form(f"columns_{place}"):
        has_score = False
        for at, spot in enumerate(_spots(len(targets) + 1)):
            with spot:
                target = targets[at] if at < len(targets) else "page"
                column = _choice(place, target, header)
                has_score = has_score or (target == "score" and column is not None)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox("Pages count", list(_PAGES), format_func=_PAGES.__getitem__, key=f"count_{place}")
            st.selectbox("Coordinates", list(_UNITS), format_func=_UNITS.__getitem__, key=f"unit_{place}")
            st.selectbox("Role", list(_ROLES), index=int(has_score), key=f"table_role_{place}")
            asked = (place, targets, name, content)
            st.form_submit_button("Read the table", type="primary", on_click=_ask, args=asked)


def _ask(place: int, targets: Sequence[str], name: str, content: bytes) -> None:
    columns = {target: form_value(f"column_{place}_{target}") for target in (*targets, "page")}
    chosen = {target: str(column) for target, column in columns.items() if column is not None}
    if "page" in chosen:
        chosen[str(form_value(f"count_{place}"))] = chosen.pop("page")
    chosen["unit"] = str(form_value(f"unit_{place}"))
    upload = Upload(name, ((name, content),), table.FORMAT.name, table.columns_text(chosen))
    state.table_asked = (upload, _ROLES[str(form_value(f"table_role_{place}"))])


def _spots(count: int) -> list[st.delta_generator.DeltaGenerator]:
    return [spot for start in range(0, count, 5) for spot in st.columns(5)[: min(5, count - start)]]


def _choice(place: int, target: str, header: Sequence[str]) -> str | None:
    guess = table.guessed_column(target, header)
    if target == "page" and guess is None:
        guess = table.guessed_column("page_number", header) or table.guessed_column("page_index", header)
    return st.selectbox(
        _WORDS.get(target, "Page"),
        header,
        index=header.index(guess) if guess is not None else None,
        format_func=plain,
        placeholder="none",
        key=f"column_{place}_{target}",
    )
