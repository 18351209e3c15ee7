"""The workspace folder: what a reader uploaded and the filter, so that a reload or a new start shows it again.

``uploads/`` has the bytes of every file under the digest of its content, ``workspace.json`` what each is called and is
for. Both are written whole, are bounded, and nothing is written outside: a name from the browser or the state file is
never a path here. One server uses a folder at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from evaluator.data.dataset import Side
from evaluator.data.issues import Collector, Issue, quote
from evaluator.formats.base import Kind
from evaluator.pdf.folder import name_problem
from evaluator.project import Upload
from evaluator.system.atomic_write import atomic_write
from evaluator.system.decoding import json_decoder

STATE_FILE: Final = "workspace.json"
MOST_BYTES: Final = 4 * 2**30
"""All uploads together, each content counted once."""
MOST_FILES: Final = 20_000
_UPLOADS: Final = "uploads"
_SESSIONS: Final = "sessions"
_MOST_STATE_BYTES: Final = 16 * 2**20
_LAYOUT: Final = 1
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SOURCE: Final = "workspace folder"
_AS_KEPT: Final = f"an upload must be as it was kept ({_SOURCE})"
_ADD_AGAIN: Final = "Add the file again, or name another folder with --workspace."


class StoreError(Exception):
    """Raised when something cannot be written into the workspace folder; one sentence."""


class OpenUpload(NamedTuple):
    """An upload that is open as one side; `alone` if it replaced everything open of its kind."""

    kind: Kind
    side: Side
    upload: Upload
    alone: bool = False

    def replaces(self, other: OpenUpload) -> bool:
        """Tell whether an earlier upload has no place beside this one."""
        if self.kind != other.kind:
            return False
        same_role = self.side == other.side and (self.side == "ground_truth" or self.upload.name == other.upload.name)
        return self.alone or same_role


class StoredUploads(NamedTuple):
    """What a workspace folder holds: uploads as they were opened, the first one first.

    `pages`: documents and page images by relative name, each under the digest of its content. `filters`: the parts of
    the dashboard's address. `issues`: uploads that are gone or changed, and a state file that cannot be read.
    """

    taken: tuple[OpenUpload, ...] = ()
    pages: Mapping[str, Path] = {}
    filters: Mapping[str, str] = {}
    issues: tuple[Issue, ...] = ()


class _File(msgspec.Struct, frozen=True):
    """A file of the state file: its name, and the digest under which its content lies."""

    name: str
    sha256: str


class _Side(msgspec.Struct, frozen=True):
    kind: Kind
    side: Side
    name: str
    files: tuple[_File, ...]
    format: str | None = None
    alone: bool = False


class _State(msgspec.Struct, frozen=True):
    layout: int = _LAYOUT
    sides: tuple[_Side, ...] = ()
    pages: tuple[_File, ...] = ()
    filters: dict[str, str] = {}


_state_of: Final = json_decoder(_State)


class WorkspaceFolder:
    """A workspace folder, made when missing, that this process alone writes to.

    `most_bytes`: of all uploads together. StoreError: the folder cannot be made or written, or another server uses it.
    """

    def __init__(self, root: Path, *, most_bytes: int = MOST_BYTES) -> None:
        # Here, so that who keeps nothing starts without it.
        from filelock import FileLock, Timeout

        self.root = root.resolve()
        self._uploads = self.root / _UPLOADS
        self._most = most_bytes
        self._lock = threading.RLock()
        try:
            self._uploads.mkdir(parents=True, exist_ok=True)
            if self._uploads.is_symlink() or (self.root / STATE_FILE).is_symlink():
                raise StoreError(f"{self.root.name}/{_UPLOADS} and {STATE_FILE} must not be links that lead elsewhere.")
            self._held = FileLock(self.root / ".lock", thread_local=False)
            self._held.acquire(blocking=False)
            # What an ended server left behind.
            shutil.rmtree(self.root / _SESSIONS, ignore_errors=True)
        except Timeout:
            raise StoreError("Another LayoutScope uses this workspace folder.") from None
        except OSError as problem:
            raise StoreError(f"The workspace folder cannot be written: {problem.strerror}.") from problem

    def close(self) -> None:
        """Let another server use the folder."""
        self._held.release()

    def session_folder(self) -> Path:
        """Return where a session links uploads by the names of their pages, empty at first; raises OSError."""
        folder = self.root / _SESSIONS
        folder.mkdir(exist_ok=True)
        return folder

    def read(self) -> StoredUploads:
        """Return everything that is kept; what is gone or changed is reported as an issue."""
        with self._lock:
            state, problems = self._state()
        collector = Collector(STATE_FILE, max_per_rule=20)
        taken = [OpenUpload(each.kind, each.side, upload, each.alone) for each in state.sides
                 if (upload := self._upload(each, collector)) is not None]  # fmt: skip
        # Of documents, which may be many and large, no byte is read: the renderer judges each when it is opened.
        pages = {each.name: path for each in state.pages if (path := self._page(each, collector)) is not None}
        return StoredUploads(tuple(taken), pages, dict(state.filters), (*problems, *collector.issues()))

    def keep(self, taken: OpenUpload) -> None:
        """Keep an upload in the place of those that it replaces; raises `StoreError`."""
        with self._lock:
            state = self._sound_state()
            files = self._write(taken.upload.files)
            side = _Side(taken.kind, taken.side, taken.upload.name, files, taken.upload.format, taken.alone)
            others = tuple(each for each in state.sides if not taken.replaces(_bare(each)))
            self._replace(msgspec.structs.replace(state, sides=(*others, side)))

    def keep_pages(self, pages: Sequence[tuple[str, bytes]]) -> None:
        """Keep documents and page images, replacing those of the same names; raises `StoreError`."""
        with self._lock:
            state = self._sound_state()
            files = self._write(pages)
            names = {each.name for each in files}
            others = tuple(each for each in state.pages if each.name not in names)
            self._replace(msgspec.structs.replace(state, pages=(*others, *files)))

    def remove(self, taken: OpenUpload) -> None:
        """Forget an upload, and its bytes where nothing else has them; raises `StoreError`."""
        of = taken.kind, taken.side, taken.upload.name
        with self._lock:
            state = self._sound_state()
            sides = tuple(each for each in state.sides if (each.kind, each.side, each.name) != of)
            self._replace(msgspec.structs.replace(state, sides=sides))

    def remove_page(self, name: str) -> None:
        """Forget a document or page image; raises `StoreError`."""
        with self._lock:
            state = self._sound_state()
            self._replace(
                msgspec.structs.replace(state, pages=tuple(each for each in state.pages if each.name != name))
            )

    def keep_filters(self, filters: Mapping[str, str]) -> None:
        """Keep the parts of the dashboard's address; raises `StoreError`."""
        with self._lock:
            state = self._sound_state()
            if state.filters != filters:
                self._replace(msgspec.structs.replace(state, filters=dict(filters)), tidy=False)

    # --- inside ----------------------------------------------------------------------------------------------

    def _path(self, digest: str) -> Path:
        return self._uploads / digest

    def _state(self) -> tuple[_State, tuple[Issue, ...]]:
        collector = Collector(STATE_FILE, max_per_rule=None)
        path = self.root / STATE_FILE
        try:
            if path.stat().st_size > _MOST_STATE_BYTES:
                raise msgspec.ValidationError(f"more than {_MOST_STATE_BYTES >> 20} MB")
            state = _state_of(path.read_bytes())
            if state.layout != _LAYOUT:
                raise msgspec.ValidationError(f"layout {state.layout}")
        except FileNotFoundError:
            return _State(), ()
        except (OSError, UnicodeDecodeError, RecursionError, msgspec.MsgspecError) as problem:
            rule = f"the state file must be as this program wrote it ({_SOURCE})"
            collector.error("", rule, quote(str(problem)), "Move it away; the next upload begins a new one.")
            return _State(), collector.issues()
        return state, ()

    def _sound_state(self) -> _State:
        state, problems = self._state()
        if problems:
            raise StoreError(f"{STATE_FILE} of the workspace folder cannot be read, so nothing is kept; move it away.")
        return state

    def _upload(self, side: _Side, collector: Collector) -> Upload | None:
        contents = [(each.name, self._content(each, collector)) for each in side.files]
        whole = tuple((name, content) for name, content in contents if content is not None)
        return Upload(side.name, whole, side.format) if whole and len(whole) == len(contents) else None

    def _page(self, file: _File, collector: Collector) -> Path | None:
        path = self._path(file.sha256)
        if not _DIGEST.fullmatch(file.sha256) or name_problem(file.name):
            collector.warning("", f"names and digests must be plain ({_SOURCE})", quote(file.name), _ADD_AGAIN)
        elif path.is_symlink() or not path.is_file():
            collector.warning("", _AS_KEPT, f"{quote(file.name)}, which is gone", _ADD_AGAIN)
        else:
            return path
        return None

    def _content(self, file: _File, collector: Collector) -> bytes | None:
        path = self._page(file, collector)
        if path is None:
            return None
        with contextlib.suppress(OSError):
            content = path.read_bytes()
            if hashlib.sha256(content).hexdigest() == file.sha256:
                return content
        collector.warning("", _AS_KEPT, f"{quote(file.name)}, whose bytes are others now", _ADD_AGAIN)
        return None

    def _write(self, files: Sequence[tuple[str, bytes]]) -> tuple[_File, ...]:
        written = [_File(name, hashlib.sha256(content).hexdigest()) for name, content in files]
        contents = dict(zip((each.sha256 for each in written), (content for _, content in files), strict=True))
        try:
            sizes = {entry.name: entry.stat(follow_symlinks=False).st_size for entry in os.scandir(self._uploads)}
            new = {digest: content for digest, content in contents.items() if digest not in sizes}
            if sum(sizes.values()) + sum(map(len, new.values())) > self._most or len(sizes) + len(new) > MOST_FILES:
                raise StoreError(
                    f"The workspace folder is full ({self._most / 2**30:g} GB or {MOST_FILES:,} files): remove uploads "
                    "first. What was added stays until this tab closes."
                )
            for digest, content in new.items():
                atomic_write(self._path(digest), [content])
        except OSError as problem:
            raise StoreError(f"The workspace folder cannot be written: {problem.strerror}.") from problem
        return tuple(written)

    def _replace(self, state: _State, *, tidy: bool = True) -> None:
        """Write the state file, then delete contents that it does not name."""
        try:
            atomic_write(self.root / STATE_FILE, [msgspec.json.format(msgspec.json.encode(state), indent=1)])
        except OSError as problem:
            raise StoreError(f"The workspace folder cannot be written: {problem.strerror}.") from problem
        if not tidy:
            return
        named = {each.sha256 for side in state.sides for each in side.files} | {each.sha256 for each in state.pages}
        for entry in os.scandir(self._uploads):
            if _DIGEST.fullmatch(entry.name) and entry.name not in named:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def link_or_copy(source: Path, target: Path) -> None:
    """Put a file under another name, as a link where the file system can do that; raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        target.unlink()
    try:
        os.link(source, target)
    except OSError:
        with source.open("rb") as file:
            atomic_write(target, iter(partial(file.read, 2**20), b""), durable=False)


def _bare(side: _Side) -> OpenUpload:
    """Return a kept side without its bytes, for `OpenUpload.replaces`."""
    return OpenUpload(side.kind, side.side, Upload(side.name, (), side.format), side.alone)
