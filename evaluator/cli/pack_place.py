"""Where a review pack is written: over nothing that it is made of, and over no file that no pack wrote.

Owns the checks of ``--out`` of ``report`` that ask what is there. What a pack consists of is ``pack.folder``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from evaluator.cli.places import PDFS, Read, need_apart
from evaluator.metrics.results import count_of
from evaluator.model.issues import refuse
from evaluator.pack.folder import FILES, MARKED, foreign_files

# What every PDF of a pack has, and no document has.
_PRODUCER: Final = b"/Producer(LayoutScope)"


def need_own_place(out: Path, read: Read, *, in_folder: bool) -> None:
    """Refuse to write a pack over what it is made of, or over a file in its folder that no pack wrote.

    Parameters
    ----------
    read : mapping
        What the pack is made of, by the flag that names it.
    in_folder : bool
        Whether `out` is a folder that gets all files of a pack.

    Raises
    ------
    BadInput
        With the first path that must stay.
    """
    written = [out / name for name in (*FILES, MARKED)] if in_folder else [out]
    need_apart(written, {flag: paths for flag, paths in read.items() if flag != PDFS})
    # An earlier pack may lie in the folder of the documents; it is none of them.
    need_apart([path for path in written if not _is_pack(path)], {PDFS: read.get(PDFS)})
    if in_folder:
        _need_no_foreign(out, foreign_files(out))


def _is_pack(path: Path) -> bool:
    """Whether a file is the PDF of a pack."""
    return path.suffix.lower() == ".pdf" and path.is_file() and _PRODUCER in path.read_bytes()


def _need_no_foreign(out: Path, foreign: Sequence[str]) -> None:
    """Refuse to replace files that no pack wrote."""
    if foreign:
        more = f" and {count_of(len(foreign) - 1, 'other file')}" if len(foreign) > 1 else ""
        rule = "a pack replaces only the files of an earlier pack"
        refuse(out.resolve().name, "", rule, f"{foreign[0]}{more}", "Choose another --out, or move what is in it.")
