"""Files: what is loaded, what is wrong with it, and the way to load something else."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import BadInput, count_of, has_errors, issue_count, plain
from evaluator.formats.base import Kind
from evaluator.pdf.folder import folders_of
from evaluator.project import AnyProject, Project, Upload
from evaluator.review.store_address import state_folder
from evaluator.system.registry import LEFT_OUT
from evaluator.workspace import project_file
from evaluator.workspace.roles import Sides
from pages.app import frame, own_files, pictures, session_files, workspace_store
from pages.app.address import parts, read_url, take
from pages.app.session_files import BOXES, FIELDS, KINDS, POSTERS, AnyKind
from pages.app.state import form_value, state
from pages.views.files import doctor, file_list

_KINDS: dict[str, AnyKind] = {kind.name: kind for kind in KINDS}
_ROLES: dict[str, Side] = {"Ground truth": "ground_truth", "Prediction": "prediction"}
_BY_CONTENT, _LEAVE_OUT = "By content", "Leave out"
_OF_SAMPLE: dict[str, str] = {FIELDS.name: "14 invoices and forms", POSTERS.name: "5 posters"}
# Names of files left out that are shown.
_NAMED = 6
_PAGES_LISTED = 40
_NO_FOLDER = "Uploaded files and the sample data have no folder to save a project in."
_NOTHING_WRONG = "Nothing is wrong with these files."


def _problems() -> None:
    for sentence in LEFT_OUT:
        st.warning(frame.escaped(sentence), icon=":material/extension_off:")
    of_files, of_pages = session_files.issues(BOXES), file_list.issues_of_pages()
    issues = sorted((*of_files, *of_pages), key=lambda issue: issue.severity != "error")
    if not issues and not session_files.files(BOXES).members:
        return
    counted = f"{len(of_files):,} in these files"
    if of_pages:
        counted = f"{counted}, {count_of(len(of_pages), 'page file')} that cannot be read"
    frame.section("Issues", counted)
    if not issues:
        others = len(session_files.unused_files())
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


def _add(held: Project[Annotations]) -> None:
    with st.container(key="add_files", horizontal=True, vertical_alignment="center"):
        openers = frame.opener("Add files"), frame.opener("Add a folder", folder=True)
        st.html(f"{' '.join(openers)} or drop files and folders anywhere in this window", width="content")
        own_files.roles_button("Change roles", "change_roles")
    offered = {kind.name: kind for kind in (FIELDS, POSTERS) if session_files.is_offered(kind)}
    if offered:
        with st.container(key="sample_files", horizontal=True, vertical_alignment="center"):
            for name, words in _OF_SAMPLE.items():
                if name in offered:
                    label = f"Also open the sample's {words}"
                    st.button(label, key=f"sample_{name}", on_click=session_files.open_sample, args=(offered[name],))
    if state.kept_problem:
        st.error(frame.escaped(state.kept_problem), icon=":material/error:")
    if state.kept_issues:
        frame.issues(state.kept_issues)
    of = workspace_store.folder()
    if state.taken or pictures.uploaded_pages():
        place = "for you" if state.reader_folder else f"in {of.root.name}" if of else ""
        where = f"kept {place} until they are not used" if of else "kept until this tab closes or is reloaded"
        how = "" if of else ". Start with layoutscope open FOLDER --workspace DIR to keep them in a folder"
        st.caption(frame.escaped(f"Uploads are {where}{how}."))
    _pdf_note(held)


def _passwords() -> None:
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
            "No folder of pages is open, so pages are shown as empty sheets. Add PDFs or page images, or start with "
            "layoutscope open FOLDER --pdfs DIR."
        )
    else:
        where = frame.escaped(pictures.folder_words(held.pdfs))
        st.caption(f"PDFs and page images are looked up by name {where}.")


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
    saved = {name: sides for name, files in held.items() if (sides := _own_sides(files))}
    if not any(each.ground_truth for each in saved.values()):
        raise project_file.ProjectFileError(_NO_FOLDER)
    return saved


def _own_sides(files: AnyProject) -> Sides | None:
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
    _add(held)
    doctor.cards()
    file_list.all_files()
    _problems()
    doctor.taxonomy()
    doctor.label_mapping()
    doctor.what_is_in_the_data()
    _other_kinds()
    _passwords()
    _save()
    _recent()
    boxes = session_files.load_boxes()
    if boxes is not None:
        frame.at_right(boxes)


view()
