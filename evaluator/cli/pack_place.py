"""Checks of ``report --out``: over nothing that a pack is made of, over no file that no pack wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from evaluator.cli.paths import PDFS, Read, need_apart, need_no_foreign
from evaluator.pack.place import FILES, MARKED, foreign_files

# What every PDF of a pack has, and no document has.
_PRODUCER: Final = b"/Producer(LayoutScope)"


def need_own_place(out: Path, read: Read, *, in_folder: bool) -> None:
    """Refuse to write a pack over what it is made of, or over a file in its folder that no pack wrote.

    `read` is by the flag that names it; `in_folder`: `out` is a folder that gets all files of a pack. `BadInput` with
    the first path that must stay.
    """
    written = [out / name for name in (*FILES, MARKED)] if in_folder else [out]
    need_apart(written, {flag: paths for flag, paths in read.items() if flag != PDFS})
    # An earlier pack may lie in the folder of the documents; it is none of them.
    need_apart([path for path in written if not _is_pack(path)], {PDFS: read.get(PDFS)})
    if in_folder:
        need_no_foreign(out, foreign_files(out), "a pack replaces only the files of an earlier pack")


def _is_pack(path: Path) -> bool:
    return path.suffix.lower() == ".pdf" and path.is_file() and _PRODUCER in path.read_bytes()
