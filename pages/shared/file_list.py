"""All files of the session in one table, with what was left out and why, and the role of each as a choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import streamlit as st

from evaluator import file_list
from evaluator.file_list import LEFT_OUT, READ, WITH_ISSUES, FileRow
from evaluator.formats import search
from evaluator.model.dataset import Side
from evaluator.model.issues import plain
from evaluator.pdf.folder import IMAGE_SUFFIXES, folders_of
from pages.shared import opened, pictures, widgets
from pages.shared.opened import BOXES, FIELDS, POSTERS, Kind
from pages.shared.state import State, state

_KINDS: Final[tuple[Kind[Any], ...]] = (BOXES, FIELDS, POSTERS)
_ROLES: Final[dict[str, Side | None]] = {"Ground truth": "ground_truth", "Prediction": "prediction", "Not used": None}
_ROWS: Final = 20


def all_files() -> None:
    """Every file of the session in one table, and the choice of a role."""
    members = _members()
    rows = [*_rows(), *file_list.of_left_out(opened.workspace_named(), state.passed_over)]
    head, control = st.columns([1, 1.4], vertical_alignment="center")
    head.html('<h2 class="ls-section">All files <small>recognised by content</small></h2>')
    if not members:
        st.caption("No annotation file is open. Upload one below, or start with layoutscope open FOLDER.")
    if not rows:
        return
    counts = {name: sum(row.shown_under(name) for row in rows) for name in ("All", READ, LEFT_OUT, WITH_ISSUES)}
    with control.container(horizontal=True, horizontal_alignment="right"):
        names = {name: f"{name} {count:,}" for name, count in counts.items()}
        chosen = widgets.switch("Files shown", names, State.files_shown, label_visibility="collapsed")
    shown = [row for row in rows if row.shown_under(chosen)]
    if shown:
        _table(shown)
    else:
        st.caption("No file.")
    if members:
        _role(members)


def _members() -> list[tuple[Kind[Any], Any]]:
    """The files that may have another role, of all kinds, those that are not used last."""
    held = [(kind, member) for kind in _KINDS for member in opened.files(kind).members]
    by_name: dict[str, Kind[Any]] = {kind.name: kind for kind in _KINDS}
    return [*held, *((by_name[name], member) for name, member in state.unused)]


def _rows() -> list[FileRow]:
    """The files that are read, those of boxes first, then the pages."""
    rows = [row for kind in _KINDS for row in file_list.of_project(opened.files(kind), _letters(kind))]
    rows += file_list.of_unused(member for _, member in state.unused)
    open_now = [held.pdfs for kind in _KINDS if (held := opened.files(kind)).members and held.pdfs is not None]
    folders = dict.fromkeys(folder for pdfs in open_now for folder in folders_of(pdfs))
    uploads = pictures.uploaded_folder()
    for folder in folders:
        own = folder == uploads
        count = len(pictures.uploaded_pages()) if own else _page_files(str(folder))
        rows.append(file_list.of_pages("Uploaded pages" if own else folder.name, count))
    return rows


def _letters(kind: Kind[Any]) -> dict[str, str]:
    """The letters of the two models that views show side by side, by the names of their files."""
    loaded = opened.opened(kind)
    return {loaded.predictions[model.index].name: model.letter for model in loaded.pair} if loaded else {}


@st.cache_data(max_entries=16, ttl=60, show_spinner=False)
def _page_files(folder: str) -> int:
    """How many PDFs and page images are below a folder."""
    return sum(path.suffix.lower() in (".pdf", *IMAGE_SUFFIXES) for path in search.walk([Path(folder)]))


def _table(rows: list[FileRow]) -> None:
    widgets.table(
        {
            "File": [plain(row.name) for row in rows],
            "What it is": [plain(row.what) for row in rows],
            "Role": [row.role for row in rows],
            "Pages": [row.pages for row in rows],
            "Boxes": [row.boxes for row in rows],
            "Labels": [row.labels for row in rows],
            "Issues": ["" if row.left_out else row.issues for row in rows],
            "SHA-256": [row.sha256 for row in rows],
        },
        height=widgets.HEADER_HEIGHT + widgets.ROW_HEIGHT * min(len(rows), _ROWS),
        placeholder="",
        columns={
            "File": 180,
            "What it is": 270,
            "Role": 100,
            "Pages": widgets.count(60),
            "Boxes": widgets.count(70),
            "Labels": widgets.count(60),
            "Issues": 90,
            "SHA-256": 90,
        },
        alt="Files of this session",
    )


def _role(members: list[tuple[Kind[Any], Any]]) -> None:
    """Another role for one file."""
    with st.form("file_role", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.selectbox(
            "File",
            range(len(members)),
            format_func=lambda at: plain(members[at][1].name),
            index=None,
            placeholder="Change the role of a file",
            label_visibility="collapsed",
            key="file_role_file",
        )
        role = st.selectbox("Role", list(_ROLES), label_visibility="collapsed", width=160, key="file_role")
        if st.form_submit_button("Change the role") and place is not None:
            kind, member = members[place]
            state.rejected = opened.change_role(kind, member, _ROLES[role])
            st.rerun()
    if state.unused:
        st.caption("Files that are not used stay in the list until this tab closes.")
