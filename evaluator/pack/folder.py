"""A review pack as a folder or zip: every form, the tables, the findings, and marked documents."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evaluator.metrics import export
from evaluator.pack import tables
from evaluator.pack.annotated_pdf import AnnotatedDocument, write_annotated
from evaluator.pack.contents import Contents
from evaluator.pack.html_pack import Progress, WrittenPack, write_html
from evaluator.pack.options import chosen_events
from evaluator.pack.pdf_pack import write_pdf
from evaluator.pack.pictures import Pictures
from evaluator.pack.place import MARKED, RESULTS, remove_copies
from evaluator.pdf.folder import Folders
from evaluator.review import findings_export
from evaluator.review.verdicts import Event
from evaluator.system.atomic_write import atomic_write


class Folder(NamedTuple):
    """What was written; `marked` is empty without PDFs."""

    html: WrittenPack
    pdf: WrittenPack
    marked: list[AnnotatedDocument]


def write_folder(
    path: Path,
    contents: Contents,
    pictures: Pictures,
    events: Sequence[Event],
    pdfs: Folders | None,
    *,
    keep_active: bool = False,
    progress: Progress,
) -> Folder:
    """Write a pack in all its forms into a folder; marked copies of an earlier pack are removed.

    Chosen events keep all of their history; nothing is marked without `pdfs`. `keep_active`: see `write_annotated`.
    """
    path.mkdir(parents=True, exist_ok=True)
    events = chosen_events(events, contents.options)
    # The results come first: by them the others are recognised as those of a pack.
    for name, content in (
        (RESULTS, tables.to_json(contents).encode()),
        ("results.csv", tables.to_csv(contents).encode()),
        ("decisions.csv", export.to_csv([tables.decisions_table(contents)]).encode()),
        ("results.parquet", tables.to_parquet(contents)),
        ("findings.csv", findings_export.to_csv(events).encode()),
        ("findings.json", findings_export.to_json(events).encode()),
        ("findings.parquet", findings_export.to_parquet(events)),
    ):
        atomic_write(path / name, [content])
    pictures = pictures.encoded("both")
    html = write_html(path / "pack.html", contents, pictures, progress=progress)
    pdf = write_pdf(path / "pack.pdf", contents, pictures, progress=progress)
    marked: list[AnnotatedDocument] = []
    if pdfs is not None:
        (path / MARKED).mkdir(exist_ok=True)
        marked = write_annotated(
            path / MARKED, contents, pdfs, passwords=pictures.passwords, keep_active=keep_active, progress=progress
        )
        atomic_write(path / RESULTS, [tables.to_json(contents, marked).encode()])
    remove_copies(path / MARKED, {one.path for one in marked})
    return Folder(html, pdf, marked)


def write_zip(
    path: Path,
    contents: Contents,
    pictures: Pictures,
    events: Sequence[Event],
    pdfs: Folders | None,
    *,
    keep_active: bool = False,
    progress: Progress,
) -> Folder:
    """Write what `write_folder` writes into one archive, whose size is returned as that of the HTML file.

    An older archive stays until the new one is complete.
    """
    with tempfile.TemporaryDirectory(
        dir=path.absolute().parent, prefix=f".{path.name}.", ignore_cleanup_errors=True
    ) as beside:
        folder, made = Path(beside) / "pack", Path(beside) / "made"
        written = write_folder(folder, contents, pictures, events, pdfs, keep_active=keep_active, progress=progress)
        # What is large in it is compressed already.
        with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(folder).as_posix())
        os.replace(made, path)
    return written._replace(html=written.html._replace(size=path.stat().st_size))
