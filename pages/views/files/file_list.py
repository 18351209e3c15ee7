"""All files of the session in one table, with what was left out and why, and a choice of roles."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any, Final, NamedTuple

import streamlit as st

from evaluator.data.dataset import Annotations, LevelKey
from evaluator.data.issues import Issue, count_of, plain
from evaluator.pdf.folder import folders_of
from evaluator.project import paths_of
from evaluator.workspace import file_list, project_file
from evaluator.workspace.file_list import LEFT_OUT, READ, WITH_ISSUES, FileRow, PageFiles
from pages.app import frame, pictures, session_files, widgets
from pages.app.session_files import BOXES, FIELDS, KINDS, AnyKind
from pages.app.state import State, chosen_cells, state
from pages.views.files import doctor
from pages.views.findings import findings

_LEVELS: Final[dict[LevelKey, str]] = {"": "By kind", "outer": "Outer", "inner": "Inner", "all": "All"}
_ROWS: Final = 20
_VIEWS: Final[dict[str, tuple[str, str]]] = {
    "Findings": ("Open Findings", "pages/findings.py"),
    "fields": ("Open Fields", "pages/fields.py"),
    "posters": ("Open Posters", "pages/posters.py"),
}


class _Listed(NamedTuple):
    row: FileRow
    member: tuple[AnyKind, Any] | None = None
    reason: Issue | None = None


def all_files() -> None:
    """Draw every file of the session, the card of the chosen one, and the choice of a role."""
    members = _members()
    listed = _list_rows(members)
    head, control = st.columns([1, 1.4], vertical_alignment="center")
    head.html('<h2 class="ls-section">All files <small>recognised by content</small></h2>')
    if not members:
        st.caption("No annotation file is open. Add files, or start with layoutscope open FOLDER.")
    if not listed:
        return
    names = ("All", READ, LEFT_OUT, WITH_ISSUES)
    counts = {name: sum(each.row.shown_under(name) for each in listed) for name in names}
    with control.container(horizontal=True, horizontal_alignment="right"):
        words = {name: f"{name} {count:,}" for name, count in counts.items()}
        chosen = widgets.switch("Files shown", words, State.files_shown, label_visibility="collapsed")
    shown = [each for each in listed if each.row.shown_under(chosen)]
    if shown:
        _table([each.row for each in shown], key := f"files_{chosen}")
        cells = chosen_cells(key)
        if cells and cells[0][0] < len(shown):
            with st.container(border=True, key="file_card"):
                _card(shown[cells[0][0]])
        else:
            st.caption("Choose a row to see what is in the file.")
    else:
        st.caption("No file.")
    _level()


def _level() -> None:
    held = [each for each in session_files.files(BOXES).members if each.source is not None and each.source.levels]
    if not held:
        return
    counts = {key: sum(each.source.levels[key] for each in held if each.source is not None) for key in _LEVELS}
    words = {key: f"{title} {counts[key]:,}" for key, title in _LEVELS.items()}
    more = f" and {count_of(len(held) - 1, 'more file')}" if len(held) > 1 else ""
    widgets.switch(
        f"Boxes in boxes of {frame.escaped(held[0].name)}{more}",
        words,
        State.level,
        help="Which boxes are read where a file states that some lie in others. By kind: tables, figures and lists as "
        "a whole, and the parts of what only groups others, such as a column. Outer: what lies in no other box. "
        "Inner: what holds no other box.",
    )


def _card(listed: _Listed) -> None:
    row = listed.row
    what = " · ".join(filter(None, (row.what, row.role, row.sha256 and f"SHA-256 {row.sha256}")))
    st.html(f'<h2 class="ls-section">{html.escape(plain(row.name))} <small>{html.escape(plain(what))}</small></h2>')
    if listed.member is None:
        if listed.reason is not None:
            frame.issues((listed.reason,))
        if row.role in _VIEWS:
            title, page = _VIEWS[row.role]
            st.page_link(page, label=title)
        return
    kind, member = listed.member
    if isinstance(member.source, Annotations):
        doctor.description(member.name, member.source)
    if member.issues:
        frame.issues(sorted(member.issues, key=lambda issue: issue.severity != "error"))
    if kind is not BOXES:
        title, page = _VIEWS[kind.name]
        st.page_link(page, label=title)


def _members() -> list[tuple[AnyKind, Any]]:
    held = [(kind, member) for kind in KINDS for member in session_files.files(kind).members]
    by_name: dict[str, AnyKind] = {kind.name: kind for kind in KINDS}
    return [*held, *((by_name[name], member) for name, member in state.unused)]


def _list_rows(members: list[tuple[AnyKind, Any]]) -> list[_Listed]:
    """Return the files that are read, boxes first, then pages, findings, project, then those left out."""
    rows = [row for kind in KINDS for row in file_list.of_project(session_files.files(kind), _letters(kind))]
    rows += file_list.of_unused(member for _, member in state.unused)
    listed = [_Listed(row, member) for row, member in zip(rows, members, strict=True)]
    uploads = pictures.uploaded_folder()
    others = []
    for folder in _folders_of_pages():
        own = folder == uploads
        count = len(pictures.uploaded_pages()) if own else _page_files(str(folder)).files
        others.append(file_list.of_pages("Uploaded pages" if own else folder.name, count))
    if members and (judged := findings.review_log().of_documents(_documents())):
        others.append(file_list.of_findings(findings.store_name(), len(judged)))
    truth = session_files.files(BOXES).ground_truth
    if truth is not None and (paths := paths_of(truth.origin)):
        beside = paths[0].resolve().parent / project_file.FILE_NAME
        if beside.is_file():
            others.append(file_list.of_project_file(beside.name))
    reasons = (*session_files.left_out_issues(), *issues_of_pages())
    left_out = map(_Listed, file_list.of_left_out(reasons, session_files.unused_files()))
    explained = [each._replace(reason=reason) for reason, each in zip(reasons, left_out, strict=False)]
    return [*listed, *map(_Listed, others), *explained, *left_out]


def issues_of_pages() -> tuple[Issue, ...]:
    """Return an issue for each file in the folders of pages that is no page despite its name."""
    own = pictures.uploaded_folder()
    return tuple(issue for folder in _folders_of_pages() if folder != own for issue in _page_files(str(folder)).issues)


def locked_pages() -> list[Path]:
    """Return the PDFs in the folders of pages that need a password which this session does not have."""
    own = pictures.uploaded_folder()
    folders = _folders_of_pages()
    held = (file_list.page_files(folder) if folder == own else _page_files(str(folder)) for folder in folders)
    return [path for of_folder in held for path in of_folder.encrypted if pictures.lacks_password(path)]


def _folders_of_pages() -> list[Path]:
    open_now = [held.pdfs for kind in KINDS if (held := session_files.files(kind)).members and held.pdfs is not None]
    return list(dict.fromkeys(folder for pdfs in open_now for folder in folders_of(pdfs)))


def _documents() -> set[str]:
    boxes, fields = session_files.load_boxes(), session_files.load_files(FIELDS)
    return {*(boxes.dataset.document_code if boxes else ()), *(fields.ground_truth.documents if fields else ())}


def _letters(kind: AnyKind) -> dict[str, str]:
    loaded = session_files.load_files(kind)
    return {loaded.predictions[model.index].name: model.letter for model in loaded.pair} if loaded else {}


@st.cache_data(max_entries=16, ttl=60, show_spinner=False)
def _page_files(folder: str) -> PageFiles:
    return file_list.page_files(Path(folder))


def _table(rows: list[FileRow], key: str) -> None:
    widgets.table(
        {
            "File": [plain(row.name) for row in rows],
            "What it is": [plain(row.what) for row in rows],
            "Role": [row.role for row in rows],
            "Pages": [row.pages for row in rows],
            "Boxes": [row.boxes for row in rows],
            "Labels": [row.labels for row in rows],
            # Of a file that is not read nothing is known.
            "Issues": ["" if row.issues == "none" and not row.sha256 else row.issues for row in rows],
        },
        rows=_ROWS,
        placeholder="",
        # Together they are as wide as the view at 150 % zoom of a 1440-pixel window.
        columns={
            "File": 140,
            "What it is": 262,
            "Role": 92,
            "Pages": widgets.count_column(52),
            "Boxes": widgets.count_column(60),
            "Labels": widgets.count_column(56),
            "Issues": 76,
        },
        names="File",
        alt="Files of this session",
        on_select="rerun",
        key=key,
    )
