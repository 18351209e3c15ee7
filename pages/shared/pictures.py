"""Pages of the open documents as pictures, words and sizes: the one renderer of the process and the PDF folders.

A page that cannot be shown says why in the place of its picture. PDFs are looked up by name under one folder; an
uploaded one is put into a folder of the session, after its name and its first bytes were checked.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec
import streamlit as st

from evaluator.drawing.payloads import PictureItem, ProblemItem, SharperEvent
from evaluator.model.boxes import FloatArray
from evaluator.model.issues import plain
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from pages.shared import by_digest
from pages.shared.opened import BOXES, OpenedBoxes, Place, files
from pages.shared.state import State, state

UPLOAD_BYTES: Final = 50 * 2**20
# Enough for a whole page on most screens; the viewer asks for more when it needs it, and less is sent at each turn.
FIRST_DPI: Final = 90.0
SHARPEST_WIDTH: Final = 8_000
# File systems stop at 255 bytes, not characters.
_NAME_BYTES: Final = 240


@st.cache_resource(show_spinner=False)
def pool() -> PagePool:
    """The renderer of this process, for all sessions."""
    return PagePool()


def preparation(path: Path, index: int) -> Callable[[], None]:
    """A task that has the picture and the text of a page ready in the renderer's caches.

    A page that cannot be drawn says why when it is opened, and not before.
    """
    renderer = pool()

    def prepare() -> None:
        with contextlib.suppress(PageProblem):
            renderer.page_image(path, index, dpi=FIRST_DPI)
            if not renderer.words(path, index).texts:
                renderer.ink(path, index)

    return prepare


def _folder(root: Path) -> PdfFolder:
    """The listing of one of this session's PDF folders."""
    if root not in state.pdf_folders:
        state.pdf_folders = {**state.pdf_folders, root: PdfFolder(root)}
    return state.pdf_folders[root]


def refresh_pdfs() -> None:
    """Look at the PDF folders again."""
    State.pdf_folders.take()


def document_path(found: OpenedBoxes, document: str) -> Path:
    """The PDF of a document; raises `PageProblem` when there is none."""
    return _path(found.project.pdfs, _name_of(found, document))


def _name_of(found: OpenedBoxes, document: str) -> str:
    """The name under which the PDF of a document is looked up."""
    dataset = found.dataset
    return dataset.documents[dataset.document_code[document]].name


def _path(root: Path | None, name: str) -> Path:
    """The PDF of a name under a folder; raises `PageProblem` when there is none."""
    if root is None:
        raise PageProblem("no_folder", document=name)
    return _folder(root).find(name)


def page_count(found: OpenedBoxes, document: str) -> int | None:
    """Pages of a document's PDF; None when it cannot be opened."""
    return pages_of(found.project.pdfs, _name_of(found, document))


def pages_of(root: Path | None, name: str) -> int | None:
    """Pages of the PDF of a name under a folder; None when it cannot be opened."""
    try:
        return pool().describe(_path(root, name)).page_count or None
    except PageProblem:
        return None


def sizes_of(found: OpenedBoxes, document: str) -> FloatArray:
    """Width and height in points of every page of a document's PDF; raises `PageProblem` when it cannot be measured."""
    return pool().page_sizes(document_path(found, document))


def pdf_listing(root: Path | None) -> PdfFolder | None:
    """The listing of a PDF folder: another one after `refresh_pdfs`."""
    return None if root is None else _folder(root)


def ask_sharper(wanted: SharperEvent | None) -> None:
    """Note that a page is zoomed beyond its picture."""
    if wanted is not None:
        state.sharper = msgspec.structs.replace(wanted, width=min(wanted.width, SHARPEST_WIDTH))


def page_picture(found: OpenedBoxes, place: Place) -> PictureItem:
    """The picture of a page of a document of the dataset, as sharp as the zoom needs; see `picture`."""
    return zoomed_picture(found.project.pdfs, _name_of(found, place.document), place)


def zoomed_picture(root: Path | None, name: str, place: Place) -> PictureItem:
    """The picture of a page whose PDF has a name, as sharp as the zoom needs; see `picture`."""
    wanted = state.sharper
    zoomed = wanted is not None and (wanted.document, wanted.index) == (place.document, place.index)
    return picture(root, name, place.index, width=wanted.width if zoomed and wanted else None)


def picture(root: Path | None, name: str, index: int, *, width: int | None = None) -> PictureItem:
    """The picture of a page as the viewer wants it, or the reason why there is none."""
    try:
        image = pool().page_image(_path(root, name), index, width=width, dpi=FIRST_DPI)
    except PageProblem as problem:
        return PictureItem(
            width=595.0,
            height=842.0,
            image=None,
            image_width=0,
            problem=ProblemItem(problem.title, problem.text, problem.fix),
            notes=(),
        )
    return PictureItem(
        width=image.page_width,
        height=image.page_height,
        image=by_digest.picture_address(image.webp),
        image_width=image.width,
        problem=None,
        notes=tuple(plain(warning) for warning in image.warnings),
    )


def add_pdfs(uploads: Sequence[tuple[str, bytes]]) -> tuple[list[str], list[str]]:
    """Put uploaded PDFs into a folder of this session and look documents up there from now on.

    Returns
    -------
    (list of str, list of str)
        Names that were added, and names that were refused because the content or the name is not a PDF's.
    """
    uploaded = state.upload_folder or tempfile.TemporaryDirectory(prefix="layoutscope-")
    state.upload_folder = uploaded
    folder = Path(uploaded.name)
    added, refused = [], []
    for name, content in uploads:
        # The name reaches the file system, so it is held to plain words; the content is judged again on opening.
        safe = name == os.path.basename(name) and "\\" not in name and name.isprintable()
        safe = safe and len(name.encode()) <= _NAME_BYTES
        if safe and not name.startswith(".") and len(content) <= UPLOAD_BYTES and b"%PDF-" in content[:1024]:
            (folder / name).write_bytes(content)
            added.append(name)
        else:
            refused.append(name)
    if added:
        state.files = replace(files(BOXES), pdfs=folder)
        refresh_pdfs()
    return added, refused
