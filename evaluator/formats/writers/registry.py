"""Writers: columns of boxes to the files of a format; `WRITERS` by the name that the reader has too.

A new one is one file with a function, and its name in the table. Nothing is clamped: what a format cannot hold is left
out or refused, with a warning or an error that states how much.
"""

from __future__ import annotations

from typing import Final

from evaluator.formats.writers.base import Writer
from evaluator.system.registry import Registry

_NAMES: Final = ("snapshot", "coco", "yolo", "cvat", "label-studio", "page-xml", "omnidocbench")
WRITERS: Final[Registry[Writer]] = Registry(
    {name: f"evaluator.formats.writers.{name.replace('-', '_')}:WRITER" for name in _NAMES}
)
"""Every format that can be written, by its name; imported when it is asked for."""


def writer_named(name: str) -> Writer | None:
    """Return the writer of a name, however it is spelled (``Label Studio``, ``label_studio``), or None."""
    folded = _folded(name)
    other = {"schema13": "snapshot", "datasnapshot13": "snapshot", "pagexml": "page-xml", "page": "page-xml"}
    return next((row for key, row in WRITERS.items() if _folded(key) == folded), WRITERS.get(other.get(folded, "")))


def _folded(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())
