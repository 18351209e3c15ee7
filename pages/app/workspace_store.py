"""The workspace folder and what sessions keep in it; a failure is noted for Files and stops no view."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import streamlit as st

from evaluator.workspace.store import OpenUpload, StoredUploads, StoreError, WorkspaceFolder
from evaluator.workspace.variables import FOLDER_VARIABLE
from pages.app.state import state


def folder() -> WorkspaceFolder | None:
    """Return the workspace folder; None without one, or when it cannot be used, noted for Files."""
    root = os.environ.get(FOLDER_VARIABLE)
    if not root:
        return None
    try:
        return _open(Path(root, state.reader_folder))
    except StoreError as problem:
        state.kept_problem = str(problem)
        return None


@st.cache_resource(show_spinner=False)
def _open(root: Path) -> WorkspaceFolder:
    """Return the folder, held as long as the process runs; StoreError when it cannot be used."""
    return WorkspaceFolder(root)


def read() -> StoredUploads:
    """Return what the folder holds; its issues are noted for Files."""
    of = folder()
    held = of.read() if of is not None else StoredUploads()
    state.kept_issues = held.issues
    return held


def keep(taken: OpenUpload) -> None:
    """Keep an upload."""
    _change(lambda of: of.keep(taken))


def remove(taken: OpenUpload) -> None:
    """Forget an upload."""
    _change(lambda of: of.remove(taken))


def keep_pages(pages: Sequence[tuple[str, bytes]]) -> None:
    """Keep documents and page images."""
    _change(lambda of: of.keep_pages(pages))


def remove_page(name: str) -> None:
    """Forget a document or page image."""
    _change(lambda of: of.remove_page(name))


def keep_filters(filters: Mapping[str, str]) -> None:
    """Keep the parts of the address that filter, when they differ from the last ones."""
    if filters != state.kept_filters:
        state.kept_filters = dict(filters)
        _change(lambda of: of.keep_filters(filters))


def _change(change: Callable[[WorkspaceFolder], None]) -> None:
    of = folder()
    if of is None:
        return
    try:
        change(of)
    except StoreError as problem:
        state.kept_problem = str(problem)
    else:
        state.kept_problem = ""
