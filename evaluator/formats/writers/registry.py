"""Writers of columns to files, `WRITERS` by the reader's name; what cannot be held is warned of or refused."""

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
