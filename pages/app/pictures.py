"""Pages of the open documents as pictures, words and sizes; one that cannot be shown says why.

PDFs are looked up by name under one folder; uploads, after a check of name and first bytes, under one of the session.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import streamlit as st

from evaluator.components.page_picture import (
    FIRST_DPI,
    FIRST_PIXELS,
    SHARPEST_WIDTH,
    picture_item,
    problem_item,
    shown_image,
)
from evaluator.components.payload import PictureItem
from evaluator.components.viewer.payload import SharperEvent, StripItem
from evaluator.data.issues import Issue
from evaluator.pdf import parquet_pictures
from evaluator.pdf.folder import Folders, PageFile, PdfFolder, folders_of, name_problem
from evaluator.pdf.passwords import FILE_VARIABLE, NONE, Passwords
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.pdf.sizes import Size, document_page_sizes
from evaluator.pdf.worker import PageImage, is_page_file, pixel_size
from evaluator.project import AnyProject
from evaluator.system.atomic_write import atomic_write
from evaluator.system.lru_cache import LRUCache
from evaluator.workspace.store import link_or_copy
from evaluator.workspace.uploads import PAGE_BYTES, PAGE_SUFFIXES, no_page, not_kept
from pages.app import ended_sessions, routes, workspace_store
from pages.app.session_files import (
    BOXES,
    KINDS,
    AnyKind,
    LoadedBoxes,
    Place,
    files,
    initial_workspace,
)
from pages.app.state import State, state

PATIENCE: Final = 5.0
"""Seconds that a view waits for a slow page, the limit of a page: its own run has two more."""
TEXT_PATIENCE: Final = 0.5
"""Seconds that a view waits for the words of such a page, whose picture it has waited for."""
THUMBNAIL_WIDTH: Final = 96
"""Pixels; the strip shows it half as wide, for screens of two pixels to one."""
# What says that a page is not there names this folder, not the temporary one around it.
_UPLOADS: Final = "uploads"
# File systems stop at 255 bytes, not characters.
_NAME_BYTES: Final = 240
# Pages that were waited for in vain.
_NOT_READY: Final = LRUCache[PageFile, bool](most=256)


class AddedPages(NamedTuple):
    """Pages that were taken, by name, open files in whose place some are shown, and why others are left out."""

    names: tuple[str, ...]
    replaced: tuple[str, ...]
    issues: tuple[Issue, ...]


# Whether pages are made that the reader has not turned to.
_ahead: Final[ContextVar[bool]] = ContextVar("_ahead", default=False)


@contextlib.contextmanager
def of_pages_ahead() -> Iterator[None]:
    """Wait for nothing of the renderer: a page not drawn has the address of its picture, and no words."""
    token = _ahead.set(True)
    try:
        yield
    finally:
        _ahead.reset(token)


def patience(seconds: float) -> float:
    """Return how long something of a page is waited for; 0 for pages that the reader has not turned to."""
    return 0.0 if _ahead.get() else seconds


@st.cache_resource(show_spinner=False)
def _renderer() -> PagePool:
    """Return the renderer of this process, for all sessions, with the passwords of the command line."""
    passwords = NONE
    if file := os.environ.get(FILE_VARIABLE):
        with contextlib.suppress(OSError, ValueError):  # it was read when the command started
            passwords = Passwords.read(Path(file))
    made = PagePool(spares=1, passwords=passwords)
    ended_sessions.call_when_no_session(made.rest)
    return made


def pool() -> PagePool:
    """Return the renderer of this process, which opens PDFs with the passwords that this session has."""
    renderer, given = _renderer(), state.pdf_passwords
    return renderer.opening_with(renderer.passwords.having(given)) if given else renderer


def lacks_password(path: Path) -> bool:
    """Return whether a PDF needs a password which this session does not have; False for one that cannot be read."""
    try:
        return pool().describe(path, patience=PATIENCE).encrypted
    except PageProblem:
        return False


def start_renderer(kind: AnyKind) -> None:
    """Start the renderer's processes where there is a folder of pages; nothing is read or waited for."""
    held = kind.project_field.get()
    if (initial_workspace().of(kind.name).pdfs if held is None else held.pdfs) is not None:
        pool().start()


class Pages(NamedTuple):
    """Where the pages of a document are: a folder, the name there, and the images of pages by that name and index."""

    root: Folders | None
    name: str
    images: Mapping[tuple[str, int], str] | None = None

    def file(self, index: int) -> PageFile:
        """Return the file that shows a page, of its document or of the page alone; raises `PageProblem`."""
        if self.root is None:
            raise PageProblem("no_folder", document=self.name)
        return _folder(self.root).find_page(self.name, index, self.images)


def pages_of(loaded: LoadedBoxes, document: str) -> Pages:
    """Return where the pages of a document of the dataset are."""
    dataset = loaded.dataset
    name = dataset.documents[dataset.document_code[document]].name
    return Pages(loaded.project.pdfs, name, dataset.page_images)


def prepare(pages: Pages, index: int, *, width: int | None = None) -> None:
    """Put picture and text of a page into the renderer's caches; errors show when the page is opened."""
    renderer = pool()
    with contextlib.suppress(PageProblem):
        page = pages.file(index)
        shown_image(renderer, page.path, page.page_index, width=width)
        if not renderer.words(page.path, page.page_index).texts:
            renderer.ink(page.path, page.page_index)


def prepare_page(loaded: LoadedBoxes, place: Place) -> None:
    """Put picture and text of a page of the dataset into the renderer's caches; see `prepare`."""
    prepare(pages_of(loaded, place.document), place.index)


def _folder(root: Folders) -> PdfFolder:
    if root not in state.pdf_folders:
        state.pdf_folders = {**state.pdf_folders, root: PdfFolder(root)}
    return state.pdf_folders[root]


def refresh_pdfs() -> None:
    """Look at the PDF folders again."""
    State.pdf_folders.pop()


def _path(root: Folders | None, name: str) -> Path:
    if root is None:
        raise PageProblem("no_folder", document=name)
    return _folder(root).find(name)


def page_count(loaded: LoadedBoxes, document: str) -> int | None:
    """Return the pages of a document's PDF; None when it cannot be opened."""
    return pdf_page_count(*pages_of(loaded, document)[:2])


def pdf_page_count(root: Folders | None, name: str) -> int | None:
    """Return the pages of the PDF of a name under a folder; None when it cannot be opened."""
    try:
        return pool().describe(_path(root, name), patience=PATIENCE).page_count or None
    except PageProblem:
        return None


def sizes_of(loaded: LoadedBoxes, document: str, pages: Sequence[int]) -> dict[int, Size]:
    """Return the sizes of a document's pages, or of page images, by page index; see `pdf.sizes.measured`."""
    root, name, images = pages_of(loaded, document)
    return {} if root is None else document_page_sizes(_folder(root), pool(), name, pages, images or {})


def pdf_listing(root: Folders | None) -> PdfFolder | None:
    """Return the listing of a PDF folder: another one after `refresh_pdfs`."""
    return None if root is None else _folder(root)


def request_sharper(wanted: SharperEvent | None) -> None:
    """Note that a page is zoomed beyond its picture."""
    if wanted is not None:
        state.sharper = msgspec.structs.replace(wanted, width=min(wanted.width, SHARPEST_WIDTH))


def page_picture(loaded: LoadedBoxes, place: Place) -> PictureItem:
    """Return the picture of a page of the dataset, as sharp as the zoom needs; see `picture`."""
    return zoomed_picture(pages_of(loaded, place.document), place)


def zoomed_picture(pages: Pages, place: Place) -> PictureItem:
    """Return the picture of a page, as sharp as the zoom needs; see `picture`."""
    wanted = state.sharper
    zoomed = wanted is not None and (wanted.document, wanted.index) == (place.document, place.index)
    return picture(pages, place.index, width=wanted.width if zoomed and wanted else None)


def picture(pages: Pages, index: int, *, width: int | None = None) -> PictureItem:
    """Return the picture of a page as the viewer wants it, or the reason why there is none."""
    try:
        page = pages.file(index)
        try:
            image = awaited_image(pool(), page, width=width)
        except PageProblem as problem:
            if problem.kind == "not_ready" and _ahead.get():
                return _drawn_when_fetched(page)
            raise
    except PageProblem as problem:
        return problem_item(problem)
    address = _first_address(page, image.jpeg) if width is None else routes.picture_address(image.jpeg)
    return picture_item(image, address)


def awaited_image(renderer: PagePool, page: PageFile, *, dpi: float = FIRST_DPI, width: int | None = None) -> PageImage:
    """Return a page as `shown_image` does, waited for as long as a view does; shortly if it was in vain before."""
    waits = patience(TEXT_PATIENCE if _NOT_READY.get(page) else PATIENCE)
    try:
        image = shown_image(renderer, page.path, page.page_index, dpi=dpi, width=width, patience=waits)
    except PageProblem as problem:
        if problem.kind == "not_ready" and not _ahead.get():
            _NOT_READY.put(page, value=True)
        raise
    _NOT_READY.drop(page)
    return image


def _drawn_when_fetched(page: PageFile) -> PictureItem:
    """Return a page whose picture is drawn when fetched; `PageProblem` when its size is not known."""
    width, height = pool().page_size(page.path, page.page_index)
    if not width > 0 or not height > 0:
        raise PageProblem("not_ready", document=page.path.name, page_index=page.page_index)
    pixels, _ = pixel_size(width, height, dpi=FIRST_DPI, width=None, most=FIRST_PIXELS)
    address = _first_address(page)
    return PictureItem(width=width, height=height, image=address, image_width=pixels, problem=None, notes=())


def _first_address(page: PageFile, jpeg: bytes | None = None) -> str:
    """Return the address of a page's picture without zoom: the same before and after it is drawn."""
    renderer = pool()

    def make() -> bytes | None:
        with contextlib.suppress(PageProblem):
            return shown_image(renderer, page.path, page.page_index, patience=PATIENCE).jpeg
        return None

    if jpeg is not None and not routes.has_routes():
        return routes.picture_address(jpeg)
    return lazy_address(page, "page", make, known=jpeg, whole=True)


def thumbnail(pages: Pages, index: int) -> str:
    """Return the address of a small picture of a page, drawn when it is fetched; empty for none."""
    try:
        page = pages.file(index)
    except PageProblem:
        return ""
    renderer = pool()

    def make() -> bytes | None:
        with contextlib.suppress(PageProblem):
            return shown_image(renderer, page.path, page.page_index, width=THUMBNAIL_WIDTH).jpeg
        return None

    return lazy_address(page, "", make)


def lazy_address(
    page: PageFile, what: str, make: Callable[[], bytes | None], *, known: bytes | None = None, whole: bool = False
) -> str:
    """Return the address of a page's picture, made when fetched; see `routes.lazy_address`."""
    try:
        stat = page.path.stat()
    except OSError:
        return ""
    of = f"{page.path}\0{stat.st_mtime_ns}\0{stat.st_size}\0{page.page_index}\0{what}"
    # The route keys its digest; who lacks the password has another address.
    of += f"\0{pool().passwords.of(page.path)}"
    return routes.lazy_address(of, make, known=known, whole=whole)


def with_thumbnails(strip: Sequence[StripItem], pages_of: Callable[[str], Pages]) -> tuple[StripItem, ...]:
    """Return the pages of a strip with small pictures; `pages_of` says where those of a document are."""
    return tuple(msgspec.structs.replace(page, image=thumbnail(pages_of(page.document), page.index)) for page in strip)


def add_pages(uploads: Sequence[tuple[str, bytes]], kinds: Collection[AnyKind] = (BOXES,)) -> AddedPages:
    """Put uploaded PDFs and page images into a folder of this session, before equally good names."""
    if not uploads:
        return AddedPages((), (), ())
    added, issues = [], []
    try:
        folder = _upload_folder()
    except OSError as problem:
        return AddedPages((), (), tuple(not_kept(name, problem) for name, _ in uploads))
    replaced = _replaced(uploads, kinds)
    for name, content in uploads:
        # The name reaches the file system, so it is held to plain words; the content is judged again on opening.
        parts = name.split("/")
        safe = name.isprintable() and not name_problem(name) and not any(part.startswith(".") for part in parts)
        safe = safe and len(parts[-1].encode()) <= _NAME_BYTES
        pictures = parts[-1].lower().endswith(parquet_pictures.SUFFIX)
        safe = safe and (pictures or parts[-1].lower().endswith(PAGE_SUFFIXES))
        if safe and (pictures or (len(content) <= PAGE_BYTES and is_page_file(content))):
            path = folder / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                atomic_write(path, [content], durable=False)
            except OSError as problem:
                issues.append(not_kept(name, problem))
            else:
                added.append(name)
        else:
            issues.append(no_page(name) if safe else _unsafe(name))
    if added:
        look_among_uploads(kinds)
        workspace_store.keep_pages([(name, content) for name, content in uploads if name in added])
    return AddedPages(tuple(added), tuple(was for name, was in replaced if name in added), tuple(issues))


def _unsafe(name: str) -> Issue:
    rule, fix = f"a page file must have a plain name of at most {_NAME_BYTES} bytes", "Left out. Rename the file."
    return Issue(severity="warning", file=name, place="", rule=rule, found="", fix=fix)


def _replaced(uploads: Sequence[tuple[str, bytes]], kinds: Collection[AnyKind]) -> list[tuple[str, str]]:
    roots = dict.fromkeys(held.pdfs for kind in kinds if (held := files(kind)).pdfs is not None)
    replaced = []
    for name, content in uploads:
        for root in roots:
            with contextlib.suppress(PageProblem, OSError):
                path = _path(root, name)
                same_name = path.name.casefold() == name.rsplit("/", 1)[-1].casefold()
                if same_name and (path.stat().st_size != len(content) or path.read_bytes() != content):
                    earlier = path.is_relative_to(_upload_folder().resolve())
                    replaced.append(
                        (name, f"{path.name}, {'uploaded before' if earlier else f'of {_folder(root).name}'}")
                    )
                    break
    return replaced


def folder_words(folders: Folders) -> str:
    """Return where documents are looked up, in words."""
    every = folders_of(folders)
    if uploaded_folder() not in every:
        return f"under the folder {_folder(folders).name}"
    return (
        "among the uploads" if len(every) == 1 else f"among the uploads, then under the folder {_folder(folders).name}"
    )


def _upload_folder() -> Path:
    of = workspace_store.folder()
    uploaded = state.upload_folder or tempfile.TemporaryDirectory(
        prefix="layoutscope-", dir=None if of is None else of.session_folder(), ignore_cleanup_errors=True
    )
    if state.upload_folder is None:
        state.upload_folder = uploaded
        ended_sessions.call_at_end("uploads", uploaded.cleanup)
    folder = Path(uploaded.name, _UPLOADS)
    folder.mkdir(exist_ok=True)
    return folder


def look_among_uploads(kinds: Collection[AnyKind]) -> None:
    """Look up pages among the uploads, for some kinds before their folders; nothing without uploads."""
    if not uploaded_pages():
        return
    folder = _upload_folder()
    for kind in KINDS:
        held: AnyProject = files(kind)
        if held.pdfs is None:
            kind.project_field.set(replace(held, pdfs=folder))
        elif kind in kinds and folder not in folders_of(held.pdfs):
            kind.project_field.set(replace(held, pdfs=(folder, *folders_of(held.pdfs))))
    refresh_pdfs()


def open_kept_pages(pages: Mapping[str, Path]) -> None:
    """Open the documents and page images that the workspace folder has."""
    if not pages:
        return
    try:
        folder = _upload_folder()
        for name, source in pages.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(source, path)
    except OSError as problem:
        state.kept_issues = (*state.kept_issues, not_kept("page files of the workspace folder", problem))
        return
    look_among_uploads((BOXES,))


def uploaded_folder() -> Path | None:
    """Return the folder of the uploaded documents and page images; None before the first."""
    return None if state.upload_folder is None else Path(state.upload_folder.name, _UPLOADS)


def uploaded_pages() -> list[str]:
    """Return the relative names of documents and page images uploaded in this session or kept, sorted."""
    folder = uploaded_folder()
    if folder is None:
        return []
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def remove_page(name: str) -> Issue | None:
    """Forget an uploaded page file, or return why it stays; after the last one, pages come from where they did."""
    workspace_store.remove_page(name)
    folder = uploaded_folder()
    if folder is None or name not in uploaded_pages():
        return None
    try:
        (folder / name).unlink(missing_ok=True)
    except OSError as problem:
        return msgspec.structs.replace(not_kept(name, problem), fix="It stays open. Remove it again later.")
    if not uploaded_pages():
        for kind in KINDS:
            held: AnyProject = files(kind)
            if held.pdfs is not None and folder in (open_now := folders_of(held.pdfs)):
                left = tuple(each for each in open_now if each != folder)
                kind.project_field.set(replace(held, pdfs=left[0] if len(left) == 1 else left or None))
    refresh_pdfs()
    return None
