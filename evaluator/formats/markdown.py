"""A folder of Markdown, a file for each page: texts without boxes, one of another or taken apart by a profile."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import Collector
from evaluator.data.plain_text import with_line_feeds
from evaluator.formats import folder, limits
from evaluator.formats.base import ANY_SIDE, BoxFormat, FileGroup, Reading, has_truth_name
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
    beside = _ENDINGS
    holds_items = True
    file_per_document = True

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return False: a file by itself may say anything."""
        return False

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return prediction."""
        return "prediction"

    def reads_whole(self, path: Path) -> bool:
        """Return whether a folder has files of Markdown alone, none of which is called readme."""
        if not folder.is_folder(path):
            return False
        files = folder.list_files(path)
        pages = bool(files) and all(file.suffix.lower() in _ENDINGS for file in files)
        return pages and not any(file.stem.lower() == "readme" for file in files)

    def file_group(self, path: Path, files: Sequence[tuple[Path, bytes]]) -> FileGroup:
        """Return a prediction, or a ground truth where the folder is called so."""
        side: Side = "ground_truth" if has_truth_name(path) else "prediction"
        return FileGroup(path=path, format=self.name, sides=frozenset([side]))

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the one page of a file."""
        return self.read_files([(name, content)], name, reading)

    def read_path(self, path: Path, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the files of a folder."""
        return self._read(folder.on_disk(folder.list_files(path)), path.resolve().name, reading)

    def read_files(self, files: Sequence[tuple[str, bytes]], name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the files whose bytes are at hand."""
        return self._read(folder.in_memory(files), name, reading)

    def _read(self, files: Sequence[folder.File], name: str, reading: Reading) -> Annotations:
        """Return files as pages with one item each, whose text is the file."""
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        if not reading.items:
            rule, fix = (
                "Markdown has no boxes",
                "Evaluate it with order, text or tables and --profile omnidocbench-1.5.",
            )
            collector.fail("", rule, "a folder of it", fix)
        builder = Builder(collector, format=self.name, source=_SOURCE)
        room, digest = limits.MAX_FILE_BYTES, hashlib.sha256()
        for file in files:
            content = file.load(room)
            room -= len(content)
            digest.update(content)
            text = _text_of(content, file.name, collector)
            page = builder.page(PurePosixPath(file.name).stem, file.name, index=0, name=file.name, path=file.name)
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
