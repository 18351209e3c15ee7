"""Files: what is loaded, what is wrong with it, and the way to load something else."""

from __future__ import annotations

import html
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from evaluator import formats
from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import BadInput, count_of, has_errors, issue_count, plain
from evaluator.formats.base import Kind
from evaluator.pdf.folder import folders_of
from evaluator.project import AnyProject, Project, Upload
from evaluator.review.store_address import state_folder
from evaluator.workspace import project_file
from evaluator.workspace.roles import Sides
from evaluator.workspace.uploads import DroppedFiles, ProposedSide, endings, sort_dropped_files
from pages.app import frame, own_files, pictures, session_files, widgets, workspace_store
from pages.app.address import parts, read_url, take
from pages.app.session_files import BOXES, FIELDS, KINDS, POSTERS, AnyKind
from pages.app.state import FilesWithRole, State, form_value, state
from pages.views.files import columns, doctor, file_list

_KINDS: dict[str, AnyKind] = {kind.name: kind for kind in KINDS}
_ROLES: dict[str, Side] = {"Ground truth": "ground_truth", "Prediction": "prediction"}
_BY_CONTENT, _LEAVE_OUT = "By content", "Leave out"
# Names of files left out that are shown.
_NAMED = 6
_PAGES_LISTED = 40
_NO_FOLDER = "Uploaded files and the sample data have no folder to save a project in."
_NOTHING_WRONG = "Nothing is wrong with these files."


def _problems() -> None:
    of_files, of_pages = session_files.issues(BOXES), file_list.issues_of_pages()
    issues = sorted((*of_files, *of_pages), key=lambda issue: issue.severity != "error")
    if not issues and not session_files.files(BOXES).members:
        return
    counted = f"{len(of_files):,} in these files"
    if of_pages:
        counted = f"{counted}, {count_of(len(of_pages), 'page file')} that cannot be read"
    frame.section("Issues", counted)
    if not issues:
        others = len(file_list.unused_files())
        left_out = f"{count_of(others, 'file')} left out: neither annotations nor pages."
        st.caption(f"Nothing is wrong with the files that are read. {left_out}" if others else _NOTHING_WRONG)
        return
    if has_errors(issues):
        st.error("Files with an error are not evaluated. Each row shows how to fix it.", icon=":material/error:")
    frame.issues(issues)


def _other_kinds() -> None:
    others: tuple[tuple[str, str, AnyKind], ...] = (
        ("Extracted fields", "pages/fields.py", FIELDS),
        ("Posters", "pages/posters.py", POSTERS),
    )
    for title, page, kind in others:
        if not session_files.files(kind).members:
            continue
        issues = session_files.issues(kind)
        frame.section(title, count_of(issue_count(issues), "issue") if issues else "nothing is wrong with these files")
        if issues:
            frame.issues(sorted(issues, key=lambda issue: issue.severity != "error"))
        st.page_link(page, label=f"Open {page.split('/')[-1].removesuffix('.py').capitalize()}")


def _upload(held: Project[Annotations]) -> None:
    of = workspace_store.folder()
    place = "for you" if state.reader_folder else f"in {of.root.name}" if of else ""
    where = f"kept {place} until you remove them" if of else "kept until this tab closes or is reloaded"
    frame.section("Add files", where)
    if of is None:
        st.caption("Start with layoutscope open FOLDER --workspace DIR to keep uploads and the filter in a folder.")
    left, right = st.columns(2, gap="medium")
    with left:
        several = st.segmented_control(
            "Files to add", ["Files", "A folder"], default="Files", required=True, label_visibility="collapsed"
        )
        with st.form("annotations", clear_on_submit=True):
            roles = [_BY_CONTENT, *_ROLES]
            st.segmented_control("Role of the files", roles, default=_BY_CONTENT, required=True, key="upload_role")
            files = "upload_annotations" if several == "Files" else "upload_folder_of_files"
            st.file_uploader(
                "Boxes, extracted fields or posters of any format, PDFs and page images, or zip archives of them",
                type=endings(),
                accept_multiple_files="directory" if several == "A folder" else True,
                key=files,
            )
            session_files.read_button(State.given, files, "upload_role")
        widgets.run_pending(State.given, _take)
    with right:
        pictures.pages_uploader("upload_pages")
        _pdf_note(held)


def _uploads() -> None:
    taken, pages = state.taken, pictures.uploaded_pages()
    if state.kept_problem:
        st.error(frame.escaped(state.kept_problem), icon=":material/error:")
    if state.kept_issues:
        frame.issues(state.kept_issues)
    if not taken and not pages:
        return
    count = f"{count_of(len(taken), 'side')}, {count_of(len(pages), 'page file')}"
    frame.section("Uploaded files", count)
    roles = {side: role for role, side in _ROLES.items()}
    for place, each in enumerate(taken):
        files = f", {count_of(len(each.upload.files), 'file')}" if len(each.upload.files) > 1 else ""
        words = f"{each.upload.name} · {roles[each.side].lower()} of {each.kind}{files}"
        _removable(words, f"upload_{place}", session_files.remove, each)
    for place, name in enumerate(pages[:_PAGES_LISTED]):
        _removable(name, f"page_{place}", pictures.remove_page, name)
    if len(pages) > _PAGES_LISTED:
        st.caption(f"The first {_PAGES_LISTED} of {len(pages):,} page files.")
        st.button("Remove all page files", on_click=_remove_pages, args=(pages,))


def _removable(words: str, key: str, remove: Callable[[Any], None], what: object) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Remove", key=f"remove_{key}", on_click=remove, args=(what,), help="Close it and forget it.")
        st.html(f"<span>{html.escape(plain(words))}</span>")


def _remove_pages(names: Sequence[str]) -> None:
    for name in names:
        pictures.remove_page(name)


def _take(given: FilesWithRole) -> None:
    """Read uploaded files as one side, or sort them for the reader to decide; errors change nothing."""
    files, role = given
    state.rejected, state.dropped, state.dropped_problem = None, None, ""
    side = _ROLES.get(role)
    if side is None:
        truths = [kind.name for kind in _KINDS.values() if session_files.files(kind).ground_truth is not None]
        state.dropped = sort_dropped_files(files, open_truths=truths)
        state.tables = state.dropped.tables
    else:
        recognised = formats.recognise(files[0][1], files[0][0])
        kind = _KINDS[recognised.kind] if recognised is not None else BOXES
        member = session_files.add_uploaded_files(kind, files, side)
        state.rejected = member if member.source is None else None
        state.tables = columns.tables_of(files) if member.source is None else ()


def _sorted_files() -> None:
    dropped = state.dropped
    if dropped is None:
        return
    unexplained, nothing = dropped.unexplained(), not dropped.proposed and not dropped.pages
    if nothing and dropped.tables and not dropped.issues and not unexplained:
        return
    frame.section(
        "Dropped files", f"{count_of(len(dropped.proposed), 'side')}, {count_of(len(dropped.pages), 'page file')}"
    )
    if dropped.issues:
        frame.issues(dropped.issues)
    if unexplained:
        shown = frame.escaped(", ".join(unexplained[:_NAMED]))
        more = f" and {len(unexplained) - _NAMED:,} more" if len(unexplained) > _NAMED else ""
        st.caption(f"Left out, because they are neither annotations nor pages: {shown}{more}.")
    if nothing and dropped.tables:
        return
    if nothing:
        st.warning("Nothing that can be opened is among these files.", icon=":material/folder_off:")
        return
    with st.form("dropped_files"):
        for place, each in enumerate(dropped.proposed):
            _role_choice(place, each)
        st.form_submit_button("Open these files", type="primary", on_click=_ask_to_open, args=(dropped,))
    if state.dropped_problem:
        st.error(state.dropped_problem, icon=":material/error:")
    widgets.run_pending(State.dropped_asked, lambda sides: _open_dropped(dropped, sides))


def _role_choice(place: int, proposed: ProposedSide) -> None:
    options = [*_ROLES, _LEAVE_OUT]
    sides = [*_ROLES.values(), None]
    count = len(proposed.upload.files)
    several = f" · {count_of(count, 'file')}" if count > 1 else ""
    st.selectbox(
        f"{frame.escaped(proposed.upload.name)} · {frame.escaped(proposed.title)}{several}",
        options,
        index=sides.index(proposed.side),
        help=frame.escaped(f"Proposed: {proposed.why}."),
        key=f"dropped_role_{place}",
    )


def _ask_to_open(dropped: DroppedFiles) -> None:
    """Note the chosen sides of what was dropped; two ground truths of a kind are refused."""
    sides = tuple(_ROLES.get(str(form_value(f"dropped_role_{place}"))) for place in range(len(dropped.proposed)))
    truths = [each.kind for each, side in zip(dropped.proposed, sides, strict=True) if side == "ground_truth"]
    twice = next((kind for kind in truths if truths.count(kind) > 1), None)
    state.dropped_asked = sides if twice is None else None
    refused = f"One session has one ground truth of {twice}: choose one, and leave out the others."
    state.dropped_problem = refused if twice else ""


def _open_dropped(dropped: DroppedFiles, sides: Sequence[Side | None]) -> None:
    """Open what was dropped; a ground truth with predictions replaces all files of its kind."""
    chosen = [(each, side) for each, side in zip(dropped.proposed, sides, strict=True) if side is not None]
    state.rejected = None
    if dropped.pages:
        kinds = {_KINDS[each.kind] for each, _ in chosen}
        pictures.add_pages(dropped.pages, kinds or {BOXES})
    emptied: set[str] = set()
    # The ground truth first: it empties its kind when predictions come with it.
    for each, side in sorted(chosen, key=lambda pair: pair[1] != "ground_truth"):
        both = {other for one, other in chosen if one.kind == each.kind}
        alone = len(both) == 2 and each.kind not in emptied
        member = session_files.add_upload(_KINDS[each.kind], each.upload, side, alone=alone)
        if member.source is None:
            state.rejected = state.rejected or member
        else:
            emptied.add(each.kind)
    state.dropped, state.left_out, state.passed_over = None, dropped.reasons(), dropped.unexplained()


def _rejected_upload() -> None:
    rejected = state.rejected
    if rejected is None:
        return
    st.error("The file has errors and was not taken; what was loaded before stays in use.", icon=":material/error:")
    frame.issues(rejected.issues)


def _passwords() -> None:
    """Ask for the passwords of PDFs; they stay in the memory of this session."""
    locked = file_list.locked_pages()
    if not locked:
        return
    frame.section("PDFs that need a password", count_of(len(locked), "file"))
    st.caption("A password is kept in this session only. It is not stored, and not in packs or project files.")
    for path in locked:
        if path.name in state.pdf_passwords:
            st.error(f"The given password does not open {frame.escaped(path.name)}.", icon=":material/error:")
    names = [path.name for path in locked[:_PAGES_LISTED]]
    with st.form("passwords", clear_on_submit=True):
        for place, name in enumerate(names):
            st.text_input(f"Password of {frame.escaped(name)}", type="password", key=f"password_{place}")
        st.form_submit_button("Open with these passwords", on_click=_take_passwords, args=(names,))
    if len(locked) > _PAGES_LISTED:
        st.caption(f"The first {_PAGES_LISTED} of {len(locked):,} files.")


def _take_passwords(names: Sequence[str]) -> None:
    given = {name: form_value(f"password_{place}") for place, name in enumerate(names)}
    state.pdf_passwords = {**state.pdf_passwords, **{name: word for name, word in given.items() if word}}


def _pdf_note(held: Project[Annotations]) -> None:
    if held.pdfs is None:
        st.caption(
            "No folder of pages is open, so pages are shown as empty sheets. "
            "Start with layoutscope open FOLDER --pdfs DIR, or add PDFs or page images here."
        )
    else:
        where = frame.escaped(pictures.folder_words(held.pdfs))
        st.caption(f"PDFs and page images are looked up by name {where}.")


def _reference(held: Project[Annotations]) -> None:
    """Without a ground truth, let the reader make one of the models the reference."""
    if held.ground_truth is not None or len(held.models) < 2:
        return
    names = {place: plain(model.name) for place, model in enumerate(held.models) if model.source}
    st.warning(
        "No ground truth is open. One of the predictions can serve as reference: the numbers then show how far the "
        "models agree, not which is right.",
        icon=":material/compare_arrows:",
    )
    with st.form("reference"):
        st.selectbox(
            "Reference", list(names), format_func=widgets.distinct_words(names), index=None, key="reference_place"
        )
        st.form_submit_button("Use as reference", on_click=_ask_for_reference)
    widgets.run_pending(State.reference_asked, session_files.use_as_reference)


def _ask_for_reference() -> None:
    state.reference_asked = form_value("reference_place")


def _save() -> None:
    held = {kind.name: session_files.files(kind) for kind in _KINDS.values()}
    if not any(files.ground_truth is not None and files.models for files in held.values()):
        return
    frame.section("Project", "files, protocol, fixes and filters in one file")
    if state.reader_folder:
        _download_project(held)
        return
    st.button(
        "Save project", on_click=_save_project, args=(held,), help="Writes layoutscope.toml beside the ground truth."
    )
    of, is_saved, words = state.project_saved
    # What was said about other files or filters is not true of these.
    if words and of == _of_project(held):
        if is_saved:
            st.success(words)
        else:
            st.error(words, icon=":material/error:")


def _of_project(held: Mapping[Kind, AnyProject]) -> str:
    """Return what a project file would have of the session, to be compared."""
    sources = [(name, member.name, member.source) for name, files in held.items() for member in files.members]
    return repr((sources, held["boxes"].as_reference, parts()))


def _download_project(held: Mapping[Kind, AnyProject]) -> None:
    """Offer the project file: who comes from elsewhere writes nothing on this machine and is told no folder of it."""
    try:
        saved = project_file.content(_saved_sides(held), parts(), as_reference=held["boxes"].as_reference)
    except project_file.ProjectFileError as problem:
        st.caption(frame.escaped(str(problem)))
        return
    name = project_file.FILE_NAME
    st.download_button("Download project", saved, name, "application/toml", on_click="ignore")
    st.caption(f"Put it beside the ground truth and open it with layoutscope open {name}")


def _save_project(held: Mapping[Kind, AnyProject]) -> None:
    try:
        path = project_file.save(_saved_sides(held), parts(), as_reference=held["boxes"].as_reference)
        project_file.remember(path, state_folder())
    except project_file.ProjectFileError as problem:
        state.project_saved = (_of_project(held), False, frame.escaped(str(problem)))
    else:
        words = f"Saved. Open it again with layoutscope open {frame.escaped(str(path))}"
        state.project_saved = (_of_project(held), True, words)


def _saved_sides(held: Mapping[Kind, AnyProject]) -> dict[Kind, Sides]:
    """Return the files of a project; raises ProjectFileError when they have no folder."""
    saved = {name: sides for name, files in held.items() if (sides := _own_sides(files))}
    if not any(each.ground_truth for each in saved.values()):
        raise project_file.ProjectFileError(_NO_FOLDER)
    return saved


def _own_sides(files: AnyProject) -> Sides | None:
    """Return the files of a kind; None for sample data or nothing; raises ProjectFileError with uploads."""
    paths = [member.origin for member in files.members if not isinstance(member.origin, Upload)]
    if not files.members or any(map(session_files.is_bundled, paths)):
        return None
    if len(paths) < len(files.members):
        raise project_file.ProjectFileError(_NO_FOLDER)
    truth = files.ground_truth.origin if files.ground_truth is not None else None
    models = tuple(paths[1:] if truth is not None else paths)
    # Uploads have no place in a project: the folder that was open before them has.
    pdfs = None if files.pdfs is None else folders_of(files.pdfs)[-1]
    return Sides(None if isinstance(truth, Upload) else truth, models, pdfs)


def _recent() -> None:
    # The list is that of the account which runs the server.
    paths = [] if state.reader_folder else project_file.recent(state_folder())
    if not paths:
        return
    frame.section("Recent projects", count_of(len(paths), "file"))
    for place, path in enumerate(paths):
        name = f"{plain(path.parent.name)}/{plain(path.name)}"
        if path.is_file():
            st.button(name, key=f"recent_{place}", on_click=_reopen, args=(path,), icon=":material/folder_open:")
        else:
            st.caption(f"{frame.escaped(name)} is not there any more; open it from its new place once.")
    if state.project_issues:
        frame.issues(state.project_issues)


def _reopen(path: Path) -> None:
    try:
        named, query = project_file.read(path)
    except BadInput as problem:
        state.project_issues = problem.issues
        return
    state.project_issues = ()
    project_file.remember(path, state_folder())
    # Those of this session; what the workspace folder has comes back with a reload.
    state.taken = ()
    for kind in _KINDS.values():
        session_files.open_workspace(kind, named)
    take(dict(urllib.parse.parse_qsl(query)))


def view() -> None:
    """Draw the whole view."""
    read_url("files")
    held = session_files.files(BOXES)
    frame.title("Files")
    # The browser opens a chooser for it.
    with st.container(key="add_files", horizontal=True, vertical_alignment="center"):
        frame.opener("Add files", "add_own")
        if own_files.has_list():
            st.button("Roles", on_click=own_files.show_again)
        st.html('<p class="ls-facts">or drop files and folders anywhere in this window</p>', width="content")
    _rejected_upload()
    _sorted_files()
    columns.tables()
    _reference(held)
    doctor.cards()
    file_list.all_files()
    _problems()
    doctor.label_mapping()
    doctor.what_is_in_the_data()
    _other_kinds()
    _uploads()
    _passwords()
    _upload(held)
    _save()
    _recent()
    boxes = session_files.load_boxes()
    if boxes is not None:
        frame.at_right(boxes)


view()
