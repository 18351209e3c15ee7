"""Zip archives to the files in them: limits on entries, sizes, expansion and names; nothing is written to disk."""

from __future__ import annotations

import io
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Sequence
from typing import NamedTuple

from evaluator.data.issues import Collector, quote
from evaluator.formats import limits

_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
# Starts the record of an entry in the list at the end of an archive.
_ENTRY_MARK = b"PK\x01\x02"
_ARCHIVE_SUFFIXES = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst")
# What is a zip archive and holds no files of its own, by the end of one of its names, and what to give instead.
_NO_ARCHIVES = {
    "[Content_Types].xml": ("a file of an office program", "Save its table as CSV."),
    "data.pkl": ("a file of PyTorch", "Save its boxes as results of COCO."),
    ".npy": ("a file of NumPy", "Write a table with a row for each box."),
}
_DRIVE = re.compile(r"[A-Za-z]:")
_STEP = 1 << 16
# Small files of blanks compress better than any limit; below this nothing is gained by refusing them.
_RATIO_COUNTS_FROM = 1 << 20
_UNREADABLE = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OSError,
    OverflowError, RuntimeError, ValueError,
)  # fmt: skip


class Member(NamedTuple):
    """A file of an archive: its path there, relative with "/", and its bytes."""

    name: str
    content: bytes


def is_archive(head: bytes) -> bool:
    """Return whether bytes begin like a zip archive."""
    return head.startswith(_MAGIC)


def read(content: bytes, collector: Collector, *, suffixes: Sequence[str]) -> list[Member]:
    """Return the files of an archive, at least one, sorted by name.

    Only those whose name ends in one of `suffixes` (lower case) and that are not hidden; others get a warning. Raises
    `BadInput` for an archive that is unreadable, encrypted, over `limits.MAX_ARCHIVE_*` (the ratio counts above 1 MiB)
    or has none, and for entries that are absolute, leave it, repeat a name, are no regular files or are archives.
    """
    try:
        with _open(content, collector) as opened:
            chosen = _chosen(opened.infolist(), collector, suffixes)
            members = _contents(opened, chosen, collector)
    except _UNREADABLE as error:
        found = str(error) or type(error).__name__
        collector.error("", "a zip archive must be readable", found, "Zip the files again.")
    collector.raise_if_failed()
    return members


def _open(content: bytes, collector: Collector) -> zipfile.ZipFile:
    """Return the archive after counting its entries: the list of a hostile one would fill the memory."""
    entries = content.count(_ENTRY_MARK)
    if entries > limits.MAX_ARCHIVE_ENTRIES:
        rule = f"an archive may have {limits.MAX_ARCHIVE_ENTRIES:,} entries"
        collector.error("", rule, f"{entries:,}", "Split the archive, or give a folder.")
    collector.raise_if_failed()
    return zipfile.ZipFile(io.BytesIO(content))


def _chosen(entries: Sequence[zipfile.ZipInfo], collector: Collector, suffixes: Sequence[str]) -> list[zipfile.ZipInfo]:
    owner: dict[str, str] = {}
    files, others = [], 0
    for entry in entries:
        name = entry.orig_filename
        _check_entry(entry, name, collector)
        # File systems that fold letter case or Unicode forms would write one over the other.
        key = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).rstrip("/")
        if key in owner:
            rule = "entries must differ in more than letter case"
            collector.error(quote(name), rule, f"{quote(owner[key])} as well", "Keep one of them.")
        owner.setdefault(key, name)
        if name.endswith("/") or any(part.startswith(".") or part == "__MACOSX" for part in name.split("/")):
            continue
        if name.lower().endswith(tuple(suffixes)):
            files.append(entry)
        else:
            others += 1
    collector.raise_if_failed()
    for ending, (kind, fix) in _NO_ARCHIVES.items():
        if any(name.endswith(ending) for name in owner.values()):
            collector.error("", f"this is {kind}, which is not read", "", fix)
    collector.raise_if_failed()
    wanted = " or ".join(suffixes)
    if not files:
        collector.error("", f"an archive must hold files that end in {wanted}", "none", "Zip the annotation files.")
    elif others:
        rule = f"only the files of an archive that end in {wanted} are read"
        collector.warning("", rule, f"{others:,} of another kind", "Nothing to do if they are page images.")
    collector.raise_if_failed()
    return sorted(files, key=lambda entry: entry.filename)


def _check_entry(entry: zipfile.ZipInfo, name: str, collector: Collector) -> None:
    where = quote(name)
    parts = name.rstrip("/").split("/")
    fix = "Zip the files again with plain relative names."
    if name.startswith("/") or _DRIVE.match(name):
        collector.error(where, "the name of an entry must be relative", "an absolute path", fix)
    if ".." in parts:
        collector.error(where, "an entry must stay inside of the archive", '".."', fix)
    if "\\" in name:
        collector.error(where, 'the name of an entry must use "/" (ZIP 6.3, section 4.4.17)', "a backslash", fix)
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        collector.error(where, "the name of an entry must be printable", "a control character", fix)
    if "" in parts and not name.startswith("/"):
        collector.error(where, "every part of an entry's name must be named", "an empty part", fix)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a symbolic link" if kind == stat.S_IFLNK else "a special file"
        collector.error(where, "an entry must be a file or a folder", what, "Zip the files themselves.")
    if name.lower().endswith(_ARCHIVE_SUFFIXES):
        collector.error(where, "an archive must not hold archives", "one", "Zip the files themselves.")
    if entry.flag_bits & 0x1:
        collector.error(
            where, "an entry must not be encrypted", "an encrypted one", "Zip the files without a password."
        )
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        what = f"method {entry.compress_type}"
        collector.error(where, "an entry must be stored or deflated", what, "Zip the files in the usual way.")


def _contents(opened: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo], collector: Collector) -> list[Member]:
    members = []
    room = limits.MAX_ARCHIVE_BYTES
    for entry in entries:
        try:
            content = _content(opened, entry, room, collector)
        except _UNREADABLE as error:
            rule = "every entry of an archive must be intact"
            collector.error(quote(entry.filename), rule, str(error) or type(error).__name__, "Zip the files again.")
            continue
        if is_archive(content):
            what = "one under another name"
            collector.error(
                quote(entry.filename), "an archive must not hold archives", what, "Zip the files themselves."
            )
        room -= len(content)
        members.append(Member(entry.filename, content))
    return members


def _content(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, room: int, collector: Collector) -> bytes:
    parts, size = [], 0
    most = max(limits.MAX_ARCHIVE_RATIO * entry.compress_size, _RATIO_COUNTS_FROM)
    with opened.open(entry) as stream:
        while part := stream.read(_STEP):
            size += len(part)
            if size > room:
                rule = f"the files of an archive may have {limits.MAX_ARCHIVE_BYTES:,} bytes"
                collector.error(quote(entry.filename), rule, "more", "Split the archive.")
            elif size > most:
                rule = f"a file may expand to {limits.MAX_ARCHIVE_RATIO} times its compressed size"
                collector.error(quote(entry.filename), rule, "more", "Give the file itself if it is meant.")
            collector.raise_if_failed()
            parts.append(part)
    return b"".join(parts)
