"""The one way from a document name in an annotation to a file: by name, under the open folders only.

A name is never opened as a path; links that lead out of their folder are refused. The pictures of a Parquet file stand
as if it were a folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import threading
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from evaluator.pdf import parquet_pictures
from evaluator.pdf.problems import PageProblem, ProblemKind

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp")
_DOCUMENT_SUFFIXES = frozenset({*IMAGE_SUFFIXES, ".pdf", ""})
_TABLE = parquet_pictures.SUFFIX
_STEM = re.compile(r"\.(pdf|xml|json|jpe?g|png|tiff?|bmp|webp)$", re.IGNORECASE)
_NAME_BYTES = 255
_NAME_PARTS = 16
Folders = Path | tuple[Path, ...]
"""A folder of documents, or a Parquet file of pictures; of several an earlier one is meant among equally good names."""
# Windows opens a device under these names in every folder, with any extension.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in "123456789")}
)


def folders_of(folders: Folders) -> tuple[Path, ...]:
    """Return the folders as a tuple, also where it is one."""
    return folders if isinstance(folders, tuple) else (folders,)


def name_problem(name: str) -> str:
    """Return why a name is unfit to be looked up, as the end of a sentence, or ""; touches no file."""
    if not name.strip(". "):
        return "is empty"
    # Surrogates would become arbitrary bytes of a file name.
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        return "holds a control character"
    if "\\" in name or ":" in name:
        return "holds a backslash or a colon, as a Windows path or a web address does"
    if name.startswith("/"):
        return "is an absolute path"
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "holds steps such as . or .."
    if len(parts) > _NAME_PARTS or any(len(part.encode()) > _NAME_BYTES for part in parts):
        return "is too long for a file name"
    if any(part.split(".")[0].strip().casefold() in _DEVICES for part in parts):
        return "is the name of a device"
    return ""


def _folded(name: str) -> str:
    """Return a name as it is compared: accents composed, case ignored."""
    return unicodedata.normalize("NFC", name).casefold()


def _spellings(base: str) -> Iterator[tuple[str, ...]]:
    """Yield which files a base name may mean, better ones first; the names of one entry are equally good.

    >>> list(_spellings("a.pdf"))[:4]
    [('a.pdf',), ('a.pdf.pdf',), ('a',), ('a.jpg', 'a.jpeg', 'a.png', 'a.tif', 'a.tiff', 'a.bmp', 'a.webp')]
    """
    stem = _STEM.sub("", base)
    yield (base,)
    yield (f"{base}.pdf",)
    if stem != base:
        yield (stem,)
    if not base.lower().endswith((".pdf", "/")) and stem != base:
        yield (f"{stem}.pdf",)
    yield tuple(stem + suffix for suffix in IMAGE_SUFFIXES)
    if stem != base:
        yield tuple(base + suffix for suffix in IMAGE_SUFFIXES)


def _steps(path: str) -> list[str]:
    steps = [step for step in path.split("/") if step not in ("", ".")] or [""]
    return [*(step for step in steps[:-1] if step not in ("images", "labels")), steps[-1]]


def _shared_end(folders: Sequence[str], others: Sequence[str]) -> int:
    pairs = zip(reversed(folders), reversed(others), strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(folders), len(others)))


class PageFile(NamedTuple):
    """The file that shows a page, and which of its pages that is, from 0."""

    path: Path
    page_index: int


class PdfFolder:
    """Documents under one folder, or several (the earlier one first), found by name and only there.

    At most `max_files` and `max_depth` of each tree are listed, once, when first needed.
    """

    def __init__(self, root: Folders | str, *, max_files: int = 50_000, max_depth: int = 8) -> None:
        self.roots = folders_of(Path(root) if isinstance(root, str) else root)
        self._max_files = max_files
        self._max_depth = max_depth
        self._index: dict[Path, dict[str, list[Path]]] = {}
        self._complete = True
        self._linked: list[str] = []
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Return what the folder is called; of several the last one, which was open first."""
        return self.roots[-1].name

    def find(self, name: str) -> Path:
        """Return the file that a document name from an annotation means; the only way from a name to a file.

        The path is resolved: a regular file inside the resolved root. `PageProblem` ``blocked``: the name is a path out
        of the folder, an address, a device, or no name at all, refused before any file-system call (a link that leads
        outside after resolving it); ``missing``; ``ambiguous``: there are several.

        Order: the name inside the root, the same with ``.pdf``; then the base name anywhere in the tree, with case and
        the composition of accents ignored, the same with ``.pdf``, without its suffix, and as ``.pdf`` or an image
        instead; last the one document of a folder of that name. A file of exactly that spelling goes before one that
        differs in case, and of several folders each step tries all in their order. Nothing is expanded or decoded:
        ``~``, ``$HOME`` and ``%2e`` are plain characters. Snapshot specification, item 9 (``doc_path`` is never
        trusted); CVE-2025-25295.
        """
        why = name_problem(name)
        if why:
            raise self._problem("blocked", name, why)
        roots = self._resolved()
        if not roots:
            raise self._problem("missing", name, "The folder does not exist.")
        for spelling in (name, f"{name}.pdf"):
            for root in roots:
                path = self._contained(root / spelling, root, name)
                if path is not None and path.suffix.lower() in _DOCUMENT_SUFFIXES:
                    return path
        return self._by_base_name(name, roots)

    def _resolved(self) -> list[Path]:
        roots = []
        for root in self.roots:
            with contextlib.suppress(OSError, RuntimeError):
                roots.append(root.resolve(strict=True))
        return roots

    def path_of(self, name: str) -> Path:
        """Return the file or folder of a relative name inside the root; PageProblem when there is none."""
        why = name_problem(name)
        if why:
            raise self._problem("blocked", name, why)
        for root in self._resolved():
            try:
                resolved = (root / name).resolve(strict=True)
            except (OSError, RuntimeError):
                continue
            if not resolved.is_relative_to(root):
                raise self._problem("blocked", name, "is a link that leads out of the folder")
            return resolved
        raise self._problem("missing", name, "It does not exist there.")

    def find_page(self, name: str, index: int, images: Mapping[tuple[str, int], str] | None = None) -> PageFile:
        """Return the file that shows a page (from 0): its document, else the image of this page alone.

        `images` names files by (document, page): a file in these folders, else the one of this name. An image found for
        the document itself is not taken for one in another folder. `PageProblem` as in `find`.
        """
        image = (images or {}).get((name, index), "").replace("\\", "/")
        try:
            path = self.find(name)
        except PageProblem as problem:
            alone = self._find_image(name, image) if problem.kind in ("missing", "ambiguous") else None
            if alone is None:
                raise
            return PageFile(alone, 0)
        if "/" in image and path.suffix.lower() in IMAGE_SUFFIXES:
            if (alone := self._in_folders(image)) is not None:
                return PageFile(alone, 0)
            base = _folded(name.rsplit("/", 1)[-1])
            of_folder = _folded(path.parent.name) == base != _folded(path.stem)
            if of_folder or ("/" in name and self._elsewhere(path, image)):
                raise self._problem("missing", name, self._left_out())
        return PageFile(path, index)

    def _find_image(self, name: str, image: str) -> Path | None:
        """Return the file of a page image of a document, None without one; a name is enough unless folders differ."""
        if "/" in image and (path := self._in_folders(image)) is not None:
            return path
        try:
            path = self.find(image.rsplit("/", 1)[-1])
        except PageProblem:
            return None
        by_folder = f"/{name}/" in f"/{image}" or "/" in name
        return None if by_folder and self._elsewhere(path, image) else path

    def _in_folders(self, image: str) -> Path | None:
        """Return the one file that has the most of the folders of an image above it, at least one; None without."""
        *folders, base = _steps(image)
        spellings = {_folded(base), *(_folded(f"{base.rpartition('.')[0]}{suffix}") for suffix in IMAGE_SUFFIXES)}
        shared: dict[int, set[Path]] = {}
        for root in self._resolved():
            index = self._listing(root)
            for path in {path for spelling in spellings for path in index.get(spelling, ())}:
                count = _shared_end(_steps(path.as_posix())[:-1], folders)
                inside = self._contained(path, root, image) if count else None
                if inside is not None:
                    shared.setdefault(count, set()).add(inside)
        best = shared[max(shared)] if shared else set()
        exact = {path for path in best if path.name == base} or best
        return next(iter(exact)) if len(exact) == 1 else None

    def _elsewhere(self, path: Path, image: str) -> bool:
        """Return whether a file lies in a folder below the opened ones, and in no folder of the image."""
        below = any(path.parent != root and path.is_relative_to(root) for root in self._resolved())
        return below and not _shared_end(_steps(path.as_posix())[:-1], _steps(image)[:-1])

    def absent(
        self, pages: Iterable[tuple[str, int]], images: Mapping[tuple[str, int], str] | None = None
    ) -> list[str]:
        """Return the documents of some pages (name and index) of which no page has a file, in order."""
        there: dict[str, bool] = {}
        for name, index in pages:
            if not there.get(name, False):
                try:
                    there[name] = bool(self.find_page(name, index, images))
                except PageProblem:
                    there[name] = False
        return [name for name in there if not there[name]]

    def _contained(self, path: Path, root: Path, name: str) -> Path | None:
        table = next((each for each in path.parents if each.suffix.lower() == _TABLE and each.is_file()), None)
        try:
            resolved = (table or path).resolve(strict=True)
            if not resolved.is_relative_to(root):
                raise self._problem("blocked", name, "is a link that leads out of the folder")
            if table is not None:
                return parquet_pictures.copied(resolved, path.relative_to(table).as_posix())
            return resolved if stat.S_ISREG(resolved.stat().st_mode) else None
        except parquet_pictures.PicturesUnreadable as problem:
            raise self._problem("unreadable", name, str(problem)) from None
        except (OSError, RuntimeError):  # RuntimeError: a circle of links, before Python 3.13
            return None

    def _by_base_name(self, name: str, roots: Sequence[Path]) -> Path:
        base = name.rsplit("/", 1)[-1]
        indices = [(root, self._listing(root)) for root in roots]
        for spellings in _spellings(base):
            for root, index in indices:
                paths = self._listed(index, spellings, name, root)
                if len(paths) > 1:
                    # A picture of a table is a copy elsewhere, in a folder of the table's name.
                    steps = sorted(
                        each.relative_to(root).parts if root in each.parents else each.parts[-2:] for each in paths
                    )
                    shown = " and ".join(map("/".join, steps[:3]))
                    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
                    raise self._problem("ambiguous", base, shown + more)
                if paths:
                    return paths[0]
        # A folder of that name stands for the one document in it: poster-7/poster.pdf.
        for root, index in indices:
            links = {path for path in index.get(_folded(f"{base}/"), ()) if path.is_symlink()}
            inside = self._listed(index, (f"{base}/",), name, root, without=links)
            for alone in ([path for path in inside if path.suffix.lower() == ".pdf"], inside):
                if len(alone) == 1:
                    return alone[0]
        raise self._problem("missing", name, self._left_out())

    def _left_out(self) -> str:
        told = [] if self._complete else [f"Only the first {self._max_files} files were looked at."]
        if self._linked:
            more = f" and {len(self._linked) - 3} more" if len(self._linked) > 3 else ""
            told.append(f"Folders that are links are not looked into: {', '.join(self._linked[:3])}{more}.")
        return " ".join(told)

    def _listed(
        self,
        index: Mapping[str, Sequence[Path]],
        spellings: Sequence[str],
        name: str,
        root: Path,
        without: Collection[Path] = (),
    ) -> list[Path]:
        """Return the listed files under some spellings, sorted; only exact ones when there are any."""
        listed = [path for spelling in spellings for path in index.get(_folded(spelling), ()) if path not in without]
        exact = [path for path in listed if path.name in spellings]
        # Two links to one file are one document.
        contained = (self._contained(path, root, name) for path in exact or listed)
        return sorted({path for path in contained if path is not None})

    def _listing(self, root: Path) -> dict[str, list[Path]]:
        with self._lock:
            if root not in self._index:
                index: dict[str, list[Path]] = {}
                listed = 0
                for path in self._walk(root):
                    listed += 1
                    if listed > self._max_files:
                        break
                    if path.suffix.lower() == _TABLE:
                        pictures = islice(parquet_pictures.picture_names(path), self._max_files + 1 - listed)
                        for picture in pictures:
                            listed += 1
                            index.setdefault(_folded(picture.rsplit("/", 1)[-1]), []).append(path / picture)
                    if path.suffix.lower() in _DOCUMENT_SUFFIXES:
                        index.setdefault(_folded(path.name), []).append(path)
                        if path.suffix and path.parent != root:
                            index.setdefault(_folded(f"{path.parent.name}/"), []).append(path)
                self._index[root] = index
                self._complete = self._complete and listed <= self._max_files
            return self._index[root]

    def _walk(self, root: Path) -> Iterator[Path]:
        if root.is_file():
            yield root
        for folder, folders, files in os.walk(root, followlinks=False):
            depth = len(Path(folder).relative_to(root).parts)
            # Sorted, so that a cut listing is the same on every machine.
            folders[:] = sorted(folders) if depth < self._max_depth else []
            self._linked += [name for name in folders if Path(folder, name).is_symlink()]
            yield from (Path(folder, file) for file in sorted(files))

    def _problem(self, kind: ProblemKind, name: str, detail: str) -> PageProblem:
        return PageProblem(kind, document=name, folder=self.name, detail=detail)
