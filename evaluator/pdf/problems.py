"""Why a page, or its document, cannot be shown: typed outcomes and sentences, never with a path of this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from evaluator.data.issues import plain

ProblemKind = Literal[
    "no_folder", "missing", "blocked", "ambiguous", "not_pdf", "encrypted", "unreadable", "no_pages",
    "page_out_of_range", "too_large", "too_slow", "not_ready", "out_of_memory", "worker_lost", "busy", "no_renderer",
]  # fmt: skip

# Title, text, fix. Braces: document, folder, page (from 1), index (from 0), detail.
_SENTENCES: dict[ProblemKind, tuple[str, str, str]] = {
    "no_folder": ("No PDF folder is open",
     "{document} is looked up by its name in the folder of the PDFs, and none was given.",
     "Add the PDF in Files, or start with the folder that holds it."),
    "missing": ("PDF not found under {folder}",
     "No document named {document} is in the folder {folder} or in the folders inside it. {detail}",
     "Put the document into this folder, or add it in Files."),
    "blocked": ("PDF not found under {folder}",
     "Documents are found by their name inside the folder {folder}; {document} {detail}, so it was not looked up.",
     "Name the document in the annotation by its file name, such as report.pdf."),
    "ambiguous": ("Several documents are named {document}",
     "The folder {folder} holds {detail}; which one is meant is not clear.",
     "Keep one of them, or give them different names."),
    "not_pdf": ("{document} is not a document that can be shown",
     "Its content is neither that of a PDF nor of the image that its name promises. {detail}",
     "Replace it by the real document."),
    "encrypted": ("{document} needs a password",
     "The document can be opened only with its password, so its pages cannot be drawn. {detail}",
     "Give the password in Files or with --password-file, or save a copy without it under the same name."),
    "unreadable": ("{document} cannot be read", "The document is damaged, so this page cannot be drawn. {detail}",
     "Open it in a PDF viewer and save it again, or get a fresh copy."),
    "no_pages": ("{document} has no pages", "The document holds no page, so no annotation can lie on one.",
     "Get a complete copy of the document."),
    "page_out_of_range": ("{document} has no page {page}",
     "The annotation asks for page_index {index}, which counts from 0; the document has {detail}.",
     "Check page_index in the annotation, or get the document that was annotated."),
    "too_large": ("{document} is too large to be drawn",
     "The limits are 200 MiB for a document, 100,000 pages, and 50 million pixels for an image, 400 million for a "
     "JPEG, 20 million for a WebP. {detail}", "Split the document, or save it smaller."),
    "too_slow": ("Rendering took too long",
     "Page {page} of {document} was not ready after {detail} and was stopped. It is not tried again for 10 minutes.",
     "Open the page in a PDF viewer; saving it again in simpler form often helps."),
    "not_ready": ("This page is still being drawn",
     "Page {page} of {document} was not ready after {detail}. It is drawn further while others go first.",
     "It is looked for again by itself for a minute; after that open it again."),
    "out_of_memory": ("Rendering needed too much memory",
     "Page {page} of {document} needs more memory than a page may have. It is not tried again for 10 minutes.",
     "Save the document with smaller images, or view it in a PDF viewer."),
    "worker_lost": ("The renderer stopped at this page",
     "The renderer ended while it was at page {page} of {document}. The page is not tried again for 10 minutes.",
     "Open the document in a PDF viewer and save it again."),
    "busy": ("The renderer is busy", "Other pages are being drawn; page {page} of {document} had to wait too long.",
     "Try again in a moment."),
    "no_renderer": ("Pages cannot be drawn here", "The renderer could not be started. {detail}",
     "Check the installation of PyMuPDF and Pillow; all numbers are complete without page images."),
}  # fmt: skip


class PageProblem(Exception):
    """Why a page, or its document, cannot be shown; to be shown in its place.

    `page_index` counts from 0; `detail` is what the sentence of this kind leaves open. `title`, `text` and `fix` are
    sentences with control characters escaped; `in_files`: the document or its password can be given in the view Files.
    """

    def __init__(
        self, kind: ProblemKind, *, document: str, folder: str = "", page_index: int = 0, detail: str = ""
    ) -> None:
        self.kind = kind
        self.detail = detail
        self.in_files = kind in ("no_folder", "missing", "encrypted")
        self._arguments = (document, folder, page_index, detail)
        shown = {
            "document": plain(_shortened(document)) or '""',
            "folder": plain(_shortened(folder)) or "of the documents",
            # Digits without end are the annotation's; turning them into text may even be refused by Python.
            "page": page_index + 1 if abs(page_index) < 10**12 else "of that number",
            "index": page_index if abs(page_index) < 10**12 else "far out of range",
            "detail": plain(detail),
        }
        self.title, self.text, self.fix = (sentence.format(**shown).strip() for sentence in _SENTENCES[kind])
        super().__init__(f"{self.title}. {self.text} {self.fix}")

    def __reduce__(self) -> tuple[Callable[..., PageProblem], tuple[object, ...]]:
        return _problem, (self.kind, *self._arguments)


def _problem(kind: ProblemKind, document: str, folder: str, page_index: int, detail: str) -> PageProblem:
    return PageProblem(kind, document=document, folder=folder, page_index=page_index, detail=detail)


def _shortened(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:60]}…{name[-15:]}"
