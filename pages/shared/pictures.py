"""Pages of the open documents as pictures, words and sizes: the one renderer of the process and the PDF folders.

A page that cannot be shown says why in the place of its picture. PDFs are looked up by name under one folder; an
uploaded one is put into a folder of the session, after its name and its first bytes were checked.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec
import streamlit as st

from evaluator.drawing.payloads import PictureItem, ProblemItem, SharperEvent
from evaluator.model.boxes import FloatArray
from evaluator.model.issues import plain
from evaluator.pdf.folder import PageFile, PdfFolder, name_problem
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.pdf.worker import PIXEL_LIMIT, is_page_file
from evaluator.project import Project
from evaluator.uploads import PAGE_BYTES, PAGE_SUFFIXES
from evaluator.workspace_folder import put
from pages.shared import by_digest, frame, kept
from pages.shared.opened import BOXES, FIELDS, POSTERS, Kind, OpenedBoxes, Place, files, workspace_named
from pages.shared.state import State, state

# Enough for a whole page on most screens; the viewer asks for more when it needs it, and less is sent at each turn.
FIRST_DPI: Final = 90.0
FIRST_PIXELS: Final = 8_000_000
"""Of such a picture at most, however large the page is."""
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
            renderer.page_image(path, index, dpi=FIRST_DPI, most_pixels=FIRST_PIXELS)
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


def page_file(loaded: OpenedBoxes, document: str, index: int) -> PageFile:
    """The file that shows a page, of its document or of the page alone; raises `PageProblem` when there is none."""
    return _page_file(loaded.project.pdfs, _name_of(loaded, document), index, loaded.dataset.page_images)


def _page_file(root: Path | None, name: str, index: int, images: Mapping[tuple[str, int], str] | None) -> PageFile:
    if root is None:
        raise PageProblem("no_folder", document=name)
    return _folder(root).find_page(name, index, images)


def _name_of(loaded: OpenedBoxes, document: str) -> str:
    """The name under which the PDF of a document is looked up."""
    dataset = loaded.dataset
    return dataset.documents[dataset.document_code[document]].name


def _path(root: Path | None, name: str) -> Path:
    """The PDF of a name under a folder; raises `PageProblem` when there is none."""
    if root is None:
        raise PageProblem("no_folder", document=name)
    return _folder(root).find(name)


def page_count(loaded: OpenedBoxes, document: str) -> int | None:
    """Pages of a document's PDF; None when it cannot be opened."""
    return pages_of(loaded.project.pdfs, _name_of(loaded, document))


def pages_of(root: Path | None, name: str) -> int | None:
    """Pages of the PDF of a name under a folder; None when it cannot be opened."""
    try:
        return pool().describe(_path(root, name)).page_count or None
    except PageProblem:
        return None


def sizes_of(loaded: OpenedBoxes, document: str) -> FloatArray:
    """Width and height in points of every page of a document's PDF; raises `PageProblem` when it cannot be measured."""
    return pool().page_sizes(_path(loaded.project.pdfs, _name_of(loaded, document)))


def pdf_listing(root: Path | None) -> PdfFolder | None:
    """The listing of a PDF folder: another one after `refresh_pdfs`."""
    return None if root is None else _folder(root)


def ask_sharper(wanted: SharperEvent | None) -> None:
    """Note that a page is zoomed beyond its picture."""
    if wanted is not None:
        state.sharper = msgspec.structs.replace(wanted, width=min(wanted.width, SHARPEST_WIDTH))


def page_picture(loaded: OpenedBoxes, place: Place) -> PictureItem:
    """The picture of a page of a document of the dataset, as sharp as the zoom needs; see `picture`."""
    return zoomed_picture(loaded.project.pdfs, _name_of(loaded, place.document), place, loaded.dataset.page_images)


def zoomed_picture(
    root: Path | None, name: str, place: Place, images: Mapping[tuple[str, int], str] | None = None
) -> PictureItem:
    """The picture of a page whose PDF has a name, as sharp as the zoom needs; see `picture`."""
    wanted = state.sharper
    zoomed = wanted is not None and (wanted.document, wanted.index) == (place.document, place.index)
    return picture(root, name, place.index, width=wanted.width if zoomed and wanted else None, images=images)


def picture(
    root: Path | None,
    name: str,
    index: int,
    *,
    width: int | None = None,
    images: Mapping[tuple[str, int], str] | None = None,
) -> PictureItem:
    """The picture of a page as the viewer wants it, or the reason why there is none."""
    try:
        page = _page_file(root, name, index, images)
        most = FIRST_PIXELS if width is None else PIXEL_LIMIT
        image = pool().page_image(page.path, page.page_index, width=width, dpi=FIRST_DPI, most_pixels=most)
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


def add_pages(
    uploads: Sequence[tuple[str, bytes]], kinds: Collection[Kind[Any]] = (BOXES,)
) -> tuple[list[str], list[str]]:
    """Put uploaded PDFs and page images into a folder of this session and look documents up there from now on.

    Parameters
    ----------
    kinds : collection of Kind
        Whose documents they are; other kinds look there only when they have no folder of pages.

    Returns
    -------
    (list of str, list of str)
        Names that were added, and names that were refused because the content or the name is not that of a page.
    """
    folder = _upload_folder()
    added, refused = [], []
    for name, content in uploads:
        # The name reaches the file system, so it is held to plain words; the content is judged again on opening.
        parts = name.split("/")
        safe = name.isprintable() and not name_problem(name) and not any(part.startswith(".") for part in parts)
        safe = safe and len(parts[-1].encode()) <= _NAME_BYTES and parts[-1].lower().endswith(PAGE_SUFFIXES)
        if safe and len(content) <= PAGE_BYTES and is_page_file(content):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            added.append(name)
        else:
            refused.append(name)
    if added:
        _look_there(folder, kinds)
        kept.keep_pages([(name, content) for name, content in uploads if name in added])
    state.page_note = (added, refused)
    return added, refused


def _upload_folder() -> Path:
    """The folder of this session's uploaded pages, beside those that are kept: one file need not be there twice."""
    of = kept.folder()
    uploaded = state.upload_folder or tempfile.TemporaryDirectory(
        prefix="layoutscope-", dir=None if of is None else of.session_folder()
    )
    state.upload_folder = uploaded
    return Path(uploaded.name)


def _look_there(folder: Path, kinds: Collection[Kind[Any]]) -> None:
    """Look documents up in the folder of uploads from now on."""
    for kind in (BOXES, FIELDS, POSTERS):
        held: Project[Any] = files(kind)
        if kind in kinds or held.pdfs is None:
            kind.held.set(replace(held, pdfs=folder))
    refresh_pdfs()


def open_kept_pages(pages: Mapping[str, Path]) -> None:
    """Open the documents and page images that the workspace folder has."""
    if not pages:
        return
    folder = _upload_folder()
    for name, source in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        put(source, path)
    _look_there(folder, (BOXES,))


def uploaded_pages() -> list[str]:
    """Relative names of the documents and page images that were uploaded in this session or kept, sorted."""
    if state.upload_folder is None:
        return []
    folder = Path(state.upload_folder.name)
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def remove_page(name: str) -> None:
    """Forget an uploaded document or page image; without any left, pages come from where they came at the start."""
    kept.remove_page(name)
    if name not in uploaded_pages() or state.upload_folder is None:
        return
    folder = Path(state.upload_folder.name)
    (folder / name).unlink()
    if not uploaded_pages():
        for kind in (BOXES, FIELDS, POSTERS):
            held: Project[Any] = files(kind)
            if held.pdfs == folder:
                kind.held.set(replace(held, pdfs=workspace_named().of(kind.name).pdfs))
    refresh_pdfs()


def pages_uploader(key: str) -> None:
    """A place to add PDFs and page images, which shows them on the pages of their names."""
    with st.form(key, clear_on_submit=True, border=False):
        endings = [suffix.removeprefix(".") for suffix in PAGE_SUFFIXES]
        pages = st.file_uploader("PDFs and page images", type=endings, accept_multiple_files=True, key=f"{key}_files")
        if st.form_submit_button("Add the pages") and pages:
            add_pages([(page.name, page.getvalue()) for page in pages])
            st.rerun()
    if state.page_note:
        added, refused = state.page_note
        names = frame.escaped(", ".join(refused))
        st.caption(f"Added {len(added)}." + (f" Neither PDF nor image: {names}." if refused else ""))
