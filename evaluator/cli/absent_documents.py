"""Notes of a command on documents whose pages it was to read and that have no file, or need a password."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from evaluator.data.dataset import Dataset
from evaluator.data.issues import count_of, plain
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.locked import locked_issues

_NAMED: Final = 5


def absent_note(dataset: Dataset, folder: PdfFolder) -> list[str]:
    """Return which documents have no file in the folder of the PDFs, and which need a password, as notes."""
    names = [document.name for document in dataset.documents]
    pages = zip((names[row] for row in dataset.page_document.tolist()), dataset.page_index.tolist(), strict=True)
    return absent_of(pages, len(names), folder, dataset.page_images)


def absent_of(
    pages: Iterable[tuple[str, int]],
    documents: int,
    folder: PdfFolder,
    images: Mapping[tuple[str, int], str] | None = None,
) -> list[str]:
    """Return such notes of some pages (name of the document and page from 0) of as many documents."""
    pages = list(pages)
    locked = [issue.sentence for issue in locked_issues((name for name, _ in pages), folder)]
    absent = folder.absent(pages, images)
    if not absent:
        return locked
    more = f" and {len(absent) - _NAMED:,} more" if len(absent) > _NAMED else ""
    shown = ", ".join(map(plain, absent[:_NAMED]))
    return [
        f"{len(absent):,} of {count_of(documents, 'document')} have neither a PDF nor page images in "
        f"{plain(folder.name)}, so nothing of their pages was read: {shown}{more}.",
        *locked,
    ]
