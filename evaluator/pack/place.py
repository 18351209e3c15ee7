"""File names of a review pack in its folder, and which an earlier pack left; loads nothing that writes."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

import msgspec

from evaluator.system.decoding import json_decoder

RESULTS: Final = "results.json"
FILES: Final = (
    RESULTS, "results.csv", "results.parquet", "decisions.csv", "findings.csv", "findings.json", "findings.parquet",
    "pack.html", "pack.pdf",
)  # fmt: skip
"""Names of the files of every pack."""
MARKED: Final = "marked"
"""The folder of the marked copies."""
_COPY: Final = re.compile(r".+-marked(-\d+)?\.pdf")


class _Results(msgspec.Struct):
    title: str
    signature: str
    models: list[msgspec.Raw]
    differences: list[msgspec.Raw]


_results_of: Final = json_decoder(_Results)


def foreign_files(path: Path) -> list[str]:
    """Return what a pack in a folder would replace and no earlier pack wrote, by name."""
    try:
        _results_of((path / RESULTS).read_bytes())
    except (OSError, msgspec.MsgspecError, RecursionError):
        copies = sorted(f"{MARKED}/{copy.name}" for copy in _copies(path / MARKED))
        return [name for name in FILES if os.path.lexists(path / name)] + copies
    return []


def _copies(folder: Path) -> list[Path]:
    """Return the marked copies in a folder, which need not exist."""
    return [path for path in folder.iterdir() if _COPY.fullmatch(path.name)] if folder.is_dir() else []


def remove_copies(folder: Path, kept: set[Path | None]) -> None:
    """Remove the marked copies of an earlier pack, and the folder when nothing is left in it."""
    for path in _copies(folder):
        if path not in kept:
            path.unlink()
    # It holds something else, or is not there.
    with contextlib.suppress(OSError):
        folder.rmdir()
