"""A folder of Markdown, a file for each page: texts without boxes, for profiles that take them apart."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import Collector
from evaluator.data.plain_text import with_line_feeds
from evaluator.formats import folder, limits
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import Builder, Held

_SOURCE: Final = "Markdown"
_ENDINGS: Final = (".md", ".mmd")
MOST_CHARACTERS: Final = 100_000
"""Of the Markdown of a page."""


class Markdown(BoxFormat):
    """Files that end in md or mmd, nothing else beside them; the document is the name without that."""

    name = "markdown"
    title = "Markdown (a folder of files, one for each page)"
    looks_for = "a folder of files that end in md or mmd"
    suffixes = ()
    file_per_document = True

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return False: a file by itself may say anything."""
        return False

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return prediction."""
        return "prediction"

    def reads_whole(self, path: Path) -> bool:
        """Return whether a folder has files of Markdown alone."""
        if not folder.is_folder(path):
            return False
        files = folder.list_files(path)
        return bool(files) and all(file.suffix.lower() in _ENDINGS for file in files)

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Refuse a single file."""
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        rule, fix = "Markdown is read as a folder, a file for each page", "Give the folder of the files."
        collector.fail("", rule, "a file", fix)

    def read_path(self, path: Path, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the files of a folder, each a page with one item, whose text is the file."""
        collector = Collector(path.name, max_per_rule=reading.max_per_rule)
        if not reading.items:
            rule, fix = (
                "Markdown has no boxes",
                "Evaluate it with order, text or tables and --profile omnidocbench-1.5.",
            )
            collector.fail("", rule, "a folder of it", fix)
        builder = Builder(collector, format=self.name, source=_SOURCE)
        room, digest = limits.MAX_FILE_BYTES, hashlib.sha256()
        for file in folder.list_files(path):
            content = folder.load(file, room)
            room -= len(content)
            digest.update(content)
            text = _text_of(content, file.name, collector)
            page = builder.page(file.stem, file.name, index=0, name=file.name, path=file.name)
            builder.box(page, self.name, None, file.name, held=Held(text=text))
        return builder.annotations(digest.hexdigest(), reading, side="prediction")


FORMAT: Final = Markdown()


def _text_of(content: bytes, name: str, collector: Collector) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError as problem:
        found = f"byte 0x{content[problem.start]:02X} at {problem.start:,}"
        collector.error(name, f"text must be UTF-8 ({_SOURCE})", found, "Save the file as UTF-8.")
        return ""
    if len(text) > MOST_CHARACTERS:
        rule = f"a page may have {MOST_CHARACTERS:,} characters ({_SOURCE})"
        collector.error(name, rule, f"{len(text):,}", "Give each page a file of its own.")
        return ""
    return with_line_feeds(text)
