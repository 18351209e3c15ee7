"""The reader's own files: dropped anywhere, listed with their roles, opened in place of what is open, taken back."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import streamlit as st

from evaluator.components.drop.listing import file_list, has_pages, page_folders, reasons
from evaluator.components.drop.payload import DropPayload, DroppedEvent
from evaluator.data.dataset import Side
from evaluator.data.issues import Issue, count_of, listed
from evaluator.formats import search
from evaluator.pdf import parquet_pictures
from evaluator.pdf.folder import Folders, folders_of
from evaluator.project import AnyMember, AnyProject, Project, Upload, model_names, paths_of
from evaluator.workspace.proposal import LETTERS, TRUTH, UNUSED, ListedFile, Proposal, merged_origin, parts_of, propose
from evaluator.workspace.roles import Workspace
from evaluator.workspace.store import OpenUpload
from evaluator.workspace.uploads import PAGE_SUFFIXES, sort_dropped_files
from pages.app import (
    address,
    columns,
    components,
    navigation,
    pictures,
    protocol,
    session_files,
    widgets,
    workspace_store,
)
from pages.app.session_files import BOXES, KINDS, AnyKind, initial_workspace
from pages.app.state import AnyField, Field, State, UploadedFiles, form_value, report, state

_DROP, _LIST = "drop_anywhere", "file_list"
# Names of replaced files that are said.
_NAMED: Final = 6
# What an upload replaces, and what "Undo" brings back.
_REPLACED: Final[tuple[AnyField, ...]] = (
    *(kind.project_field for kind in KINDS), State.taken, State.unused, State.left_out, State.passed_over, State.fixes,
    State.protocol, State.iou,
)  # fmt: skip


# What stays as the reader has it while the ground truth of boxes is the same.
_OF_TRUTH: Final[tuple[AnyField, ...]] = (
    State.protocol, State.polygons, State.max_detections, State.iou, State.level, State.class_weights,
)  # fmt: skip


@dataclass(frozen=True)
class Listed:
    """Files that are listed: with a role, pages, and those left out, with an issue or by name alone.

    `uploaded`: names of pages that were uploaded before. `folders`: folders of pages that are open already. `tables`:
    those whose columns have no known names. `unused`: folders of pages that are not used. `paired`: the one page on
    each side is the same.
    """

    proposal: Proposal
    pages: UploadedFiles = ()
    uploaded: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    issues: tuple[Issue, ...] = ()
    names: tuple[str, ...] = ()
    tables: UploadedFiles = ()
    unused: frozenset[str] = frozenset()
    paired: bool = False

    @property
    def page_names(self) -> list[str]:
        """Return the PDFs and page images, those of open folders as well."""
        paths = [(folder, path) for folder in self.folders for path in search.walk([folder])]
        pages = [
            each for each in paths if each[1].suffix.lower() in PAGE_SUFFIXES or parquet_pictures.has_pictures(each[1])
        ]
        names = ((folder.name / path.relative_to(folder)).as_posix() for folder, path in pages)
        return [*dict.fromkeys((*(name for name, _ in self.pages), *self.uploaded)), *names]

    def is_used(self, name: str) -> bool:
        """Return whether an uploaded page lies in a folder that is used."""
        return self.unused.isdisjoint(page_folders([name]))

    def with_proposal(self, proposal: Proposal) -> Listed:
        """Return the list under another proposal: of other documents, the pages of these are used."""
        if proposal.documents("boxes") == self.proposal.documents("boxes"):
            return replace(self, proposal=proposal)
        return replace(self, proposal=proposal, unused=_folders_elsewhere(proposal, self.pages))

    @property
    def used_folders(self) -> Folders | None:
        """Return the open folders of pages that are used; None for none."""
        used = tuple(folder for folder in self.folders if folder.name not in self.unused)
        return used[0] if len(used) == 1 else used or None


_LISTED: Final[Field[Listed | None]] = Field(None, "own_listed")
# The view over which the list is shown; None while it is not.
_SHOWN: Final[Field[str | None]] = Field(None, "own_list_shown")
_STARTED: Final[Field[bool]] = Field(False, "own_started")
# How many drops the hidden uploader has taken; the names of all that ever came, and those of the last drop.
_DROPS: Final[Field[int]] = Field(0, "own_drops")
_EVER_ARRIVED: Final[Field[frozenset[str]]] = Field(frozenset(), "own_ever_arrived")
_DROPPED: Final[Field[DroppedEvent | None]] = Field(None, "own_dropped")
_ASKED: Final[Field[str]] = Field("", "own_asked")
# What was open before, until another view is chosen, and what is said of it.
_BEFORE: Final[Field[Mapping[str, Any] | None]] = Field(None, "own_before")
_SAID: Final[Field[tuple[str, str]]] = Field(("", ""), "own_said")


# --- dropping ------------------------------------------------------------------------------------------------


def uploader() -> None:
    """Draw what takes files that are dropped anywhere, which nobody sees."""
    key = f"dropped_{_DROPS.get()}"
    with st.container(key="drop"):
        st.file_uploader("Dropped files", accept_multiple_files=True, key=key, on_change=_arrive, args=(key,))
        limit = int(st.get_option("server.maxUploadSize"))
        components.drop(DropPayload(key, limit), key=_DROP, on_dropped=_note_dropped)


def _arrive(key: str) -> None:
    """Take what the uploader holds; a message on its way may name the one before it."""
    if key != f"dropped_{_DROPS.get()}":
        return
    uploaded = tuple((each.name, each.getvalue()) for each in form_value(key) or [])
    if uploaded:
        # On a slow way the browser may hand the same files over twice.
        state.arrived = tuple(dict((*(state.arrived or ()), *uploaded)).items())
        _EVER_ARRIVED.set(_EVER_ARRIVED.get().union(name for name, _ in uploaded))
        _DROPS.set(_DROPS.get() + 1)


def _note_dropped() -> None:
    _DROPPED.set(components.drop.events(report(_DROP)).dropped)


def _not_arrived(dropped: DroppedEvent) -> tuple[Issue, ...]:
    """Return an issue for each file of a drop that did not arrive: Streamlit says nothing of it."""
    limit, arrived, large = int(st.get_option("server.maxUploadSize")), _EVER_ARRIVED.get(), {*dropped.large}
    missing = [name for name in dropped.names if name in large or name not in arrived]
    return tuple(_missing(name, name in large, limit) for name in missing)


def _missing(name: str, is_large: bool, limit: int) -> Issue:
    rule, fix = "a dropped file must arrive whole", "Drop it again."
    if is_large:
        rule, fix = f"a dropped file may have {limit} MB", "Use layoutscope open FOLDER, which has no such limit."
    return Issue(severity="warning", file=name, place="", rule=rule, found="", fix=fix)


def _receive(uploads: UploadedFiles, view: str) -> None:
    with st.spinner(f"Reading {count_of(len(uploads), 'file')}"):
        _LISTED.set(_with_files(_list_now(), uploads))
    _SHOWN.set(view)


def _with_files(held: Listed, uploads: UploadedFiles) -> Listed:
    truths = {each.kind for each in held.proposal.files if each.stated == "ground_truth"}
    dropped = sort_dropped_files(uploads, open_truths=truths)
    new = [_read(each.kind, each.upload, each.upload.name, each.side) for each in dropped.proposed]
    # A file that is dropped again takes the place of itself.
    names = {each.name for each in new}
    kept = [each for each in held.proposal.files if each.name not in names]
    again = {name for name, _ in dropped.pages}
    proposal = propose([*kept, *new]) if new else held.proposal
    given = {name for name, _ in uploads}
    listed = replace(
        held,
        pages=(*(each for each in held.pages if each[0] not in again), *dropped.pages),
        issues=(*(issue for issue in held.issues if issue.file not in given), *dropped.reasons()),
        names=(*(name for name in held.names if name not in given), *dropped.unexplained()),
        tables=(*(table for table in held.tables if table[0] not in given), *dropped.tables),
    ).with_proposal(proposal)
    return replace(listed, unused=listed.unused | _folders_elsewhere(proposal, dropped.pages))


def _folders_elsewhere(proposal: Proposal, pages: UploadedFiles) -> frozenset[str]:
    folders = page_folders([name for name, _ in pages])
    return frozenset(folder for folder, names in folders.items() if not has_pages(proposal, names))


def _list_now() -> Listed:
    """Return the list that is shown; else the reader's own files that are open, none while the sample is."""
    shown = _LISTED.get()
    if _SHOWN.get() is not None and shown is not None:
        return shown
    files, roles, folders = list[ListedFile](), list[str](), dict[Path, None]()
    for kind in KINDS:
        held = session_files.files(kind)
        letters = iter(LETTERS)
        for member in held.members:
            if session_files.is_bundled(member.origin):
                continue
            role = TRUTH if member is held.ground_truth else next(letters, UNUSED)
            parts = parts_of(member.origin)
            for origin in parts:
                if held.as_reference and role == TRUTH:
                    files.append(_read(kind.name, origin, member.name, "prediction"))
                elif len(parts) > 1:
                    files.append(_read(kind.name, origin, origin.name, member.side))
                else:
                    files.append(ListedFile(kind.name, member.side, member))
                roles.append(role)
            folders |= dict.fromkeys(() if held.pdfs is None else folders_of(held.pdfs))
    unused = [each for each in state.unused if not session_files.is_bundled(each[1].origin)]
    files += [ListedFile(_kind(name).name, member.side, member) for name, member in unused]
    roles += [UNUSED] * len(unused)
    folders.pop(pictures.uploaded_folder() or Path(), None)
    uploaded = tuple(pictures.uploaded_pages())
    return Listed(
        replace(propose(files), roles=tuple(roles)),
        uploaded=uploaded,
        folders=tuple(folders),
        issues=tuple(issue for issue in session_files.left_out_issues() if issue.file not in uploaded),
        names=session_files.unused_files(),
    )


def _kind(name: str) -> AnyKind:
    return next(each for each in KINDS if each.name == name)


def _read(kind: str, origin: Any, name: str, side: Side | None) -> ListedFile:  # noqa: ANN401 - any origin
    of = _kind(kind)
    return ListedFile(of.name, side, session_files.read(of, origin, name, side or "ground_truth"))


def start(view: str) -> None:
    """List the files named at the start when several or none of them may be the ground truth; once in a session."""
    if _STARTED.get():
        return
    _STARTED.set(True)
    named = initial_workspace()
    sides = [each for each in named.sides.values() if each]
    if any(each.truths for each in sides) or (sides and all(each.ground_truth is None for each in sides)):
        _LISTED.set(_of_workspace(named))
        _SHOWN.set(view)


def _of_workspace(named: Workspace) -> Listed:
    files = []
    for kind in KINDS:
        sides = named.of(kind.name)
        truths = (*sides.truths, *paths_of(sides.ground_truth))
        files += [_read(kind.name, path, path.name, "ground_truth") for path in truths]
        models = zip(sides.predictions, model_names(sides.predictions), strict=True)
        files += [_read(kind.name, model, name, "prediction") for model, name in models]
    folders = dict.fromkeys(
        folder for sides in named.sides.values() if sides.pdfs is not None for folder in folders_of(sides.pdfs)
    )
    return Listed(propose(files), folders=tuple(folders), issues=named.issues, names=named.passed_over)


def _add_table(asked: tuple[Upload, Side]) -> None:
    upload, side = asked
    held, names = _list_now(), {name for name, _ in upload.files}
    proposal = propose([*held.proposal.files, _read(BOXES.name, upload, upload.name, side)])
    tables = tuple(each for each in held.tables if each[0] not in names)
    issues = tuple(issue for issue in held.issues if issue.file not in names)
    _LISTED.set(replace(held, proposal=proposal, tables=tables, issues=issues))


# --- the list ------------------------------------------------------------------------------------------------


def follow(view: str) -> None:
    """Do what the reader asked for: list what arrived, evaluate, undo; before the view is drawn."""
    start(view)
    widgets.run_pending(State.arrived, lambda uploads: _receive(uploads, view))
    widgets.run_pending(State.table_asked, _add_table)
    dropped = _DROPPED.pop()
    if dropped is not None and (missing := _not_arrived(dropped)):
        held = _list_now()
        _LISTED.set(replace(held, issues=(*held.issues, *missing)))
        _SHOWN.set(view)
    asked = _ASKED.pop()
    if asked == "evaluate":
        _evaluate()
    elif asked == "undo":
        _undo()
    elif asked == "roles":
        _LISTED.set(_list_now())
        _SHOWN.set(view)
    if _SHOWN.get() not in (None, view):
        _SHOWN.set(None)


def is_shown() -> bool:
    """Return whether the list is shown in place of a view."""
    return _SHOWN.get() is not None and _LISTED.get() is not None


def roles_button(label: str, key: str, kind: Literal["secondary", "tertiary"] = "secondary") -> None:
    """Draw the button that shows the list, over the view of the moment; nothing while the sample is open."""
    own = (member for project in map(session_files.files, KINDS) for member in project.members)
    if not state.unused and all(session_files.is_bundled(member.origin) for member in own):
        return
    st.button(label, key=key, type=kind, on_click=_ASKED.set, args=("roles",))


def draw() -> None:
    """Draw the list of files."""
    held = _LISTED.get()
    assert held is not None
    st.html('<h1 class="ls-title">Files to open</h1>')
    is_sample = any(session_files.is_bundled(member.origin) for member in session_files.files(BOXES).members)
    used = protocol.named(_protocol_of(held.proposal))
    payload = file_list(
        held.proposal,
        held.page_names,
        reasons(held.issues, held.names),
        unused_pages=held.unused,
        paired=held.paired,
        back="Back to the sample" if is_sample else "Back",
        protocol=f"Protocol {used.name} {used.version}, that of these files",
    )
    components.file_list(
        payload, key=_LIST, on_role=_change_role, on_choose=_choose, on_evaluate=_ask_to_evaluate, on_back=_go_back
    )
    columns.tables(held.tables)


def _protocol_of(proposal: Proposal) -> str:
    sources = [each.source for each in proposal.files]
    truth = next((sources[at] for at in proposal.places("boxes", TRUTH)), None)
    models = [sources[at] for places in proposal.models("boxes") for at in places if sources[at] is not None]
    return protocol.suited(truth, models)


def _change_role() -> None:
    event, held = components.file_list.events(report(_LIST)).role, _LISTED.get()
    if event is None or held is None:
        return
    files = held.proposal.files
    if 0 <= event.at < len(files) and event.role in (TRUTH, UNUSED, *LETTERS):
        _LISTED.set(held.with_proposal(held.proposal.with_role(event.at, event.role)))
        return
    folders = [*page_folders(held.page_names)]
    if len(files) <= event.at < len(files) + len(folders):
        folder = folders[event.at - len(files)]
        _LISTED.set(replace(held, unused=held.unused | {folder} if event.role == UNUSED else held.unused - {folder}))


def _choose() -> None:
    name, held = components.file_list.events(report(_LIST)).choose, _LISTED.get()
    if name is None or held is None:
        return
    what, _, rest = name.partition(":")
    proposal = held.proposal
    kind = next((each.name for each in KINDS if each.name == rest.partition(":")[0]), BOXES.name)
    if what == "pair":
        _LISTED.set(replace(held, paired=not held.paired))
    elif what == "apart":
        _LISTED.set(held.with_proposal(proposal.with_models(kind, apart=True)))
    elif what == "reference" and (reference := proposal.as_reference()) is not None:
        _LISTED.set(held.with_proposal(replace(proposal, roles=reference.roles)))
    elif what == "truth":
        _, choices = proposal.truth_choices(kind)
        asked = dict(zip(map(str, range(len(choices))), choices, strict=True)).get(rest.rpartition(":")[2])
        if asked is not None:
            _LISTED.set(held.with_proposal(replace(proposal, roles=asked.roles)))


def _ask_to_evaluate() -> None:
    if components.file_list.events(report(_LIST)).evaluate is not None:
        _ASKED.set("evaluate")


def _go_back() -> None:
    if components.file_list.events(report(_LIST)).back is not None:
        _SHOWN.set(None)
        _LISTED.set(None)


# --- opening -------------------------------------------------------------------------------------------------


def _evaluate() -> None:
    """Open the files under their roles, in place of everything that is open, and show them; errors change nothing."""
    held = _LISTED.get()
    if held is None or not held.proposal.can_open:
        return
    if not held.proposal.kinds and (reference := held.proposal.as_reference()) is not None:
        held = held.with_proposal(replace(held.proposal, roles=reference.roles))
    opened = {kind: _opened(kind, held) for kind in KINDS}
    members = [member for each in opened.values() for member in each.members]
    wrong = [issue for member in members if member.source is None for issue in member.issues]
    if wrong:
        _LISTED.set(replace(held, issues=(*held.issues, *wrong)))
        return
    before = {field.name: field.get() for field in _REPLACED}
    is_other = held.paired or any(
        _sources(kind, opened[kind]) != _sources(kind, session_files.files(kind)) for kind in KINDS
    )
    was, now = session_files.files(BOXES).truth, opened[BOXES].truth
    # Further models beside the same ground truth are judged as those before them.
    is_same_truth = was is not None and now is not None and BOXES.digest(was) == BOXES.digest(now)
    for kind, project in opened.items():
        kind.project_field.set(project)
    _BEFORE.set(before if is_other else None)
    pages, left_out = _take_pages(held, [kind for kind in KINDS if opened[kind].members])
    state.left_out, explained = (*held.issues, *left_out), {issue.file for issue in held.issues}
    state.passed_over = (*held.names, *(name for name, _ in held.tables if name not in explained))
    roles = zip(held.proposal.files, held.proposal.roles, strict=True)
    state.unused = tuple((each.kind, each.member) for each, role in roles if role == UNUSED)
    view = _SHOWN.pop() or "overview"
    _LISTED.set(None)
    if not is_other:
        # The reader stays where he is: only pages have come or gone.
        _SAID.set((pages or "Nothing has changed.", view))
        return
    for entry in address.TABLE:
        if not (is_same_truth and entry.field in _OF_TRUTH):
            entry.field.set(entry.field.start)
    if not is_same_truth:
        state.protocol = protocol.of_files()
        state.iou = protocol.standard_iou()
    if held.paired:
        state.fixes = ("names=only",)
    _keep(opened)
    counts = [f"{count_of(len(held.proposal.files) - len(state.unused), 'file')} opened"]
    counts += [f"{len(state.unused):,} not used"] if state.unused else []
    without = len(reasons(state.left_out, state.passed_over))
    counts += [f"{without:,} left out"] if without else []
    of_before = [member for kind in KINDS if (was := before[kind.project_field.name]) for member in was.members]
    was_sample = any(session_files.is_bundled(each.origin) for each in of_before)
    words = [f"{', '.join(counts)}.", pages, "The sample is closed." if was_sample else ""]
    view = "overview" if held.proposal.is_ready("boxes") else held.proposal.kinds[0]
    if view == "overview" and session_files.load_boxes() is None and navigation.holds_items():
        view = "reading"
    _SAID.set((" ".join(filter(None, words)), view))
    st.switch_page(f"pages/{view}.py")


def _sources(kind: AnyKind, project: AnyProject) -> list[tuple[Side, str | None]]:
    """Return what tells the files of a kind apart from others: the side and the content of each."""
    members = project.members
    return [(each.side, None if each.source is None else kind.digest(each.source)) for each in members]


def _take_pages(held: Listed, kinds: Sequence[AnyKind]) -> tuple[str, tuple[Issue, ...]]:
    gone = [name for name in held.uploaded if not held.is_used(name)]
    kept = [issue for name in gone if (issue := pictures.remove_page(name)) is not None]
    pictures.look_among_uploads(kinds)
    added = pictures.add_pages([each for each in held.pages if held.is_used(each[0])], kinds)
    words = [f"{count_of(len(added.names), 'page file')} added."] if added.names else []
    words += [f"{count_of(len(gone) - len(kept), 'page file')} removed."] if len(gone) > len(kept) else []
    words += [f"Shown instead of {listed(added.replaced[:_NAMED])}."] if added.replaced else []
    return " ".join(words), (*added.issues, *kept)


def _opened(kind: AnyKind, held: Listed) -> AnyProject:
    proposal = held.proposal
    if not proposal.is_ready(kind.name):
        return Project(None, ())
    truth, as_reference = _side(kind, held, proposal.places(kind.name, TRUTH), "ground_truth")
    models = tuple(_side(kind, held, places, "prediction")[0] for places in proposal.models(kind.name))
    return Project(truth, models, held.used_folders, as_reference)


def _side(kind: AnyKind, held: Listed, places: Sequence[int], side: Side) -> tuple[AnyMember, bool]:
    members = [held.proposal.files[at].member for at in places]
    if len(members) == 1 and members[0].side == side and members[0].source is not None:
        return members[0], False
    origin = merged_origin([member.origin for member in members])
    return session_files.read_as(kind, origin, members[0].name if len(members) == 1 else origin.name, side)


def _keep(opened: Mapping[AnyKind, AnyProject]) -> None:
    """Note the uploads that are open now, which a workspace folder keeps in place of others."""
    for each in state.taken:
        workspace_store.remove(each)
    state.taken = tuple(
        OpenUpload(kind.name, member.side, member.origin, alone=member is project.ground_truth)
        for kind, project in opened.items()
        for member in project.members
        if isinstance(member.origin, Upload)
    )
    state.of_uploads = bool(state.taken)
    for each in state.taken:
        workspace_store.keep(each)


def _undo() -> None:
    before = _BEFORE.pop()
    if before is None:
        return
    for each in state.taken:
        workspace_store.remove(each)
    for field in _REPLACED:
        field.set(before[field.name])
    for each in state.taken:
        workspace_store.keep(each)
    _SAID.set(("", ""))
    st.switch_page("pages/overview.py")


def said(view: str) -> None:
    """Draw, on the view that is opened after "Evaluate", what became of the files, with the ways back."""
    words, where = _SAID.get()
    if not words:
        return
    if where != (view or "overview"):
        _SAID.set(("", ""))
        return
    with st.container(key="opened", horizontal=True, vertical_alignment="center"):
        st.html(f'<span role="status">{html.escape(words)}</span>', width="content")
        if _BEFORE.get() is not None:
            st.button("Undo", key="undo_open", type="tertiary", on_click=_ASKED.set, args=("undo",))
        roles_button("Roles", "show_roles", "tertiary")
