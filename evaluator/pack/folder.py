"""A review pack as a folder or zip: every form of it, the tables, the findings, and marked copies of the documents.

Owns the names of its files, and by what a folder is recognised as that of an earlier pack, whose files are replaced.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from evaluator.pack import tables
from evaluator.pack.cards import chosen_events
from evaluator.pack.contents import Contents
from evaluator.pack.html_pack import Progress, Written, write_html
from evaluator.pack.marked import COPY, Marked, write_marked
from evaluator.pack.pdf_pack import write_pdf
from evaluator.pack.pictures import Pictures
from evaluator.pdf.folder import Folders
from evaluator.review import exchange
from evaluator.review.verdicts import Event
from evaluator.system.whole_file import write_whole

_RESULTS: Final = "results.json"
FILES: Final = (
    _RESULTS, "results.csv", "results.parquet", "findings.csv", "findings.json", "findings.parquet", "pack.html",
    "pack.pdf",
)  # fmt: skip
"""Names of the files of every pack."""
MARKED: Final = "marked"
"""The folder of the marked copies."""


class _Results(msgspec.Struct):
    """What the results of every pack have."""

    title: str
    signature: str
    models: list[msgspec.Raw]
    differences: list[msgspec.Raw]


class Folder(NamedTuple):
    """What was written; `marked` is empty without PDFs."""

    html: Written
    pdf: Written
    marked: list[Marked]


def write_folder(
    path: Path,
    contents: Contents,
    pictures: Pictures,
    events: Sequence[Event],
    pdfs: Folders | None,
    *,
    progress: Progress,
) -> Folder:
    """Write a pack in all its forms into a folder, which is made when it is not there.

    The verdicts and notes of `events` that the options choose go into the findings files, all of their history
    included; without a folder `pdfs` nothing is marked. Marked copies of an earlier pack are removed.
    """
    path.mkdir(parents=True, exist_ok=True)
    events = chosen_events(events, contents.options)
    # The results come first: by them the others are recognised as those of a pack.
    for name, content in (
        (_RESULTS, tables.to_json(contents).encode()),
        ("results.csv", tables.to_csv(contents).encode()),
        ("results.parquet", tables.to_parquet(contents)),
        ("findings.csv", exchange.to_csv(events).encode()),
        ("findings.json", exchange.to_json(events).encode()),
        ("findings.parquet", exchange.to_parquet(events)),
    ):
        write_whole(path / name, [content])
    pictures = pictures.encoded("both")
    html = write_html(path / "pack.html", contents, pictures, progress=progress)
    pdf = write_pdf(path / "pack.pdf", contents, pictures, progress=progress)
    marked: list[Marked] = []
    if pdfs is not None:
        (path / MARKED).mkdir(exist_ok=True)
        marked = write_marked(path / MARKED, contents, pdfs, progress=progress)
    _remove_copies(path / MARKED, {one.path for one in marked})
    return Folder(html, pdf, marked)


def foreign_files(path: Path) -> list[str]:
    """What a pack in a folder would replace and no earlier pack wrote, by its names in the folder."""
    try:
        msgspec.json.decode((path / _RESULTS).read_bytes(), type=_Results)
    except (OSError, msgspec.MsgspecError, RecursionError):
        copies = sorted(f"{MARKED}/{copy.name}" for copy in _copies(path / MARKED))
        return [name for name in FILES if os.path.lexists(path / name)] + copies
    return []


def _copies(folder: Path) -> list[Path]:
    """The marked copies in a folder, which need not exist."""
    return [path for path in folder.iterdir() if COPY.fullmatch(path.name)] if folder.is_dir() else []


def _remove_copies(folder: Path, kept: set[Path | None]) -> None:
    """Remove the marked copies of an earlier pack, and the folder when nothing is left in it."""
    for path in _copies(folder):
        if path not in kept:
            path.unlink()
    # It holds something else, or is not there.
    with contextlib.suppress(OSError):
        folder.rmdir()


def write_zip(
    path: Path,
    contents: Contents,
    pictures: Pictures,
    events: Sequence[Event],
    pdfs: Folders | None,
    *,
    progress: Progress,
) -> Folder:
    """Write what `write_folder` writes into one archive; an older one stays until the new one is complete.

    The size of the HTML file in what is returned is that of the archive.
    """
    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=f".{path.name}.") as beside:
        folder, made = Path(beside) / "pack", Path(beside) / "made"
        written = write_folder(folder, contents, pictures, events, pdfs, progress=progress)
        # What is large in it is compressed already.
        with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    archive.write(file, file.relative_to(folder).as_posix())
        os.replace(made, path)
    return written._replace(html=written.html._replace(size=path.stat().st_size))
