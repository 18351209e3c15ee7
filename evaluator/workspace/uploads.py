"""Files dropped onto the dashboard, sorted by content: annotations with a proposed role, pages, and what is left out.

Archives are unpacked. Names come from a browser or an archive: one that could lead anywhere is refused before a file is
touched. A role is a proposal; the reader decides.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple, TypeVar

import msgspec

from evaluator import formats
from evaluator.data.dataset import Side
from evaluator.data.issues import BadInput, Collector, Issue
from evaluator.formats import archive, search, table, unsupported
from evaluator.formats.base import KINDS, FileGroup, Kind
from evaluator.pdf import parquet_pictures
from evaluator.pdf.folder import IMAGE_SUFFIXES, name_problem
from evaluator.pdf.worker import is_page_file
from evaluator.project import Upload

T = TypeVar("T")
PAGE_SUFFIXES: Final = (".pdf", *IMAGE_SUFFIXES)
"""Endings of documents and of images of pages."""
PAGE_BYTES: Final = 50 * 2**20
"""The largest document that is taken."""


class ProposedSide(NamedTuple):
    """One side that was dropped; `side` is None where several say that they are the ground truth."""

    upload: Upload
    kind: Kind
    side: Side | None


class DroppedFiles(NamedTuple):
    """Dropped files, sorted, by their relative names.

    `pages`: documents and page images. `left_out`: neither. `issues`: of archives and names. `tables`: those whose
    columns have no known names.
    """

    proposed: tuple[ProposedSide, ...]
    pages: tuple[tuple[str, bytes], ...]
    left_out: tuple[str, ...]
    issues: tuple[Issue, ...]
    tables: tuple[tuple[str, bytes], ...] = ()

    def reasons(self) -> tuple[Issue, ...]:
        """Return why files are left out, as warnings: what is opened beside them is not wrong."""
        return tuple(
            issue
            if issue.severity == "warning"
            else msgspec.structs.replace(issue, severity="warning", fix=f"Left out. {issue.fix}")
            for issue in self.issues
        )

    def unexplained(self) -> tuple[str, ...]:
        """Return the names of files that are left out without an issue."""
        explained = {issue.file for issue in self.issues}
        return tuple(name for name in self.left_out if name not in explained)


def sort_dropped_files(uploads: Sequence[tuple[str, bytes]], *, open_truths: Collection[Kind] = ()) -> DroppedFiles:
    """Return what some dropped files are, by their content; archives are unpacked.

    `uploads`: relative names and bytes. `open_truths`: kinds of which a ground truth is open; one lone file that states
    no side is then proposed as a prediction. Without room for them in the temporary folder all are left out, with an
    issue.
    """
    try:
        return _sorted(uploads, open_truths)
    except OSError as problem:
        names = tuple(name for name, _ in uploads)
        return DroppedFiles((), (), names, tuple(not_kept(name, problem) for name in names))


def _sorted(uploads: Sequence[tuple[str, bytes]], open_truths: Collection[Kind]) -> DroppedFiles:
    issues: list[Issue] = []
    pages: list[tuple[str, bytes]] = []
    left_out: list[str] = []
    with tempfile.TemporaryDirectory(prefix="layoutscope-", ignore_cleanup_errors=True) as place:
        root = Path(place)
        taken: set[str] = set()
        for name, content in _unpacked(uploads, issues):
            if problem := name_problem(name):
                collector = Collector(name, max_per_rule=None)
                collector.error("", "a file must have a plain relative name", f"it {problem}", "Rename the file.")
                issues += collector.issues()
            elif not taken.isdisjoint([name, *map(str, PurePosixPath(name).parents)]) or (root / name).is_dir():
                issues.append(_taken(name))
                left_out.append(name)
            elif any(part.startswith(".") for part in name.split("/")):
                left_out.append(name)
            elif name.lower().endswith(PAGE_SUFFIXES):
                refused = _too_large(name) if len(content) > PAGE_BYTES else None
                refused = refused or (None if is_page_file(content) else no_page(name))
                pages += [] if refused else [(name, content)]
                taken.add(name)
                left_out += [name] if refused else []
                issues += [refused] if refused else []
            else:
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                taken.add(name)
        files = list(search.walk([root]))
        units = search.file_groups(files)
        whole = _whole_archives(units.groups, root, uploads)
        loose = [unit for unit in units.groups if whole.keys().isdisjoint(unit.path.parents)]
        held = [*loose, *(each.unit for each in whole.values())]
        proposed = tuple(_proposed(held, root, files, open_truths, whole))
        pictures = [path for path in files if parquet_pictures.has_pictures(path)]
        pages += [(path.relative_to(root).as_posix(), path.read_bytes()) for path in pictures]
        tables = tuple(
            (path.relative_to(root).as_posix(), path.read_bytes())
            for path in (*units.unknown, *units.others)
            if path not in pictures
            and path.suffix.lower() in table.FORMAT.suffixes
            and table.looks_like_table(path.read_bytes())
        )
        suffixes = formats.suffixes()
        of_others = [
            path for path in files if path.suffix.lower() not in suffixes and unsupported.find(path.read_bytes())
        ]
        for path in (*units.unknown, *of_others):
            try:
                formats.detect_bytes(path.read_bytes(), path.relative_to(root).as_posix())
            except BadInput as problem:
                issues += problem.issues
    used = {name for name, _ in (*tables, *pages)} | {file for each in proposed for file, _ in each.upload.files}
    names = [path.relative_to(root).as_posix() for path in files if whole.keys().isdisjoint(path.parents)]
    # The files of a folder are used by their names in it.
    alone = [name for name in names if used.isdisjoint(name.split("/", at)[-1] for at in range(name.count("/") + 1))]
    return DroppedFiles(proposed, tuple(pages), (*left_out, *alone), tuple(issues), tables)


def not_kept(name: str, problem: OSError) -> Issue:
    """Return the issue of an upload that the folder of uploads does not take."""
    rule = "the folder of uploads must have room and be writable"
    fix = "Nothing of it is kept. Make room there, or start with another folder in TMPDIR; then add it again."
    # What the system says beside it may name folders of the server.
    found = os.strerror(problem.errno) if problem.errno else "an error of the file system"
    return Issue(severity="error", file=name, place="", rule=rule, found=found, fix=fix)


def no_page(name: str) -> Issue:
    """Return the issue of a file that is called a page and is none."""
    rule = "a file with the ending of a page must be a PDF or an image"
    fix = "Left out. Export the page again, or give the file the ending of what it is."
    return Issue(severity="warning", file=name, place="", rule=rule, found="another beginning", fix=fix)


def _taken(name: str) -> Issue:
    rule = "a name must stand for one file"
    found, fix = "another file or folder of this name", "Left out. Rename one of them, or add it by itself."
    return Issue(severity="warning", file=name, place="", rule=rule, found=found, fix=fix)


def _too_large(name: str) -> Issue:
    rule = f"a page file must have at most {PAGE_BYTES // 2**20} MiB"
    fix = "Left out. Start with layoutscope open FOLDER --pdfs DIR, which has no such limit."
    return Issue(severity="warning", file=name, place="", rule=rule, found="a larger one", fix=fix)


def _unpacked(uploads: Sequence[tuple[str, bytes]], issues: list[Issue]) -> Iterator[tuple[str, bytes]]:
    suffixes = [*formats.suffixes() - {".zip"}, *formats.of_kind("boxes")["markdown"].beside, *PAGE_SUFFIXES]
    for name, content in uploads:
        if not archive.is_archive(content):
            yield name, content
            continue
        collector = Collector(name, max_per_rule=20)
        try:
            members = archive.read(content, collector, suffixes=suffixes)
        except BadInput as problem:
            issues += problem.issues
            continue
        issues += collector.issues()
        for member in members:
            yield f"{Path(name).stem}/{member.name}", member.content


class _Whole(NamedTuple):
    unit: FileGroup
    upload: Upload


def _whole_archives(units: Sequence[FileGroup], root: Path, uploads: Sequence[tuple[str, bytes]]) -> dict[Path, _Whole]:
    whole, below = {}, _by_folder(units, lambda unit: unit.path)
    for name, content in uploads:
        folder = root / Path(name).stem
        inside = below.get(folder, [])
        if len(inside) < 2 or not archive.is_archive(content):
            continue
        recognised = formats.recognise(content, name)
        kinds = {(unit.format, unit.sides, unit.unscored) for unit in inside}
        if recognised is None or len(kinds) > 1 or inside[0].format != recognised.name:
            continue
        unit = FileGroup(path=folder, format=recognised.name, sides=inside[0].sides, unscored=inside[0].unscored)
        whole[folder] = _Whole(unit, Upload(name, ((name, content),), unit.format))
    return whole


def _by_folder(items: Iterable[T], path_of: Callable[[T], Path]) -> dict[Path, list[T]]:
    below: dict[Path, list[T]] = {}
    for item in items:
        for folder in path_of(item).parents:
            below.setdefault(folder, []).append(item)
    return below


def _proposed(
    units: Sequence[FileGroup],
    root: Path,
    files: Sequence[Path],
    open_truths: Collection[Kind],
    whole: Mapping[Path, _Whole],
) -> Iterator[ProposedSide]:
    below = _by_folder(files, lambda path: path)
    for kind in KINDS:
        of_kind = sorted(
            (unit for unit in units if formats.FORMATS[unit.format].kind == kind), key=lambda unit: unit.path
        )
        stated = [unit for unit in of_kind if "ground_truth" in unit.sides]
        bare = [unit for unit in of_kind if unit.unscored]
        for unit in of_kind:
            upload = whole[unit.path].upload if unit.path in whole else _upload(unit, root, below)
            if "ground_truth" in unit.sides:
                yield ProposedSide(upload, kind, "ground_truth" if len(stated) == 1 else None)
                if "prediction" not in unit.sides:
                    continue
            side: Side | None = "prediction"
            if unit.unscored and not stated and len(bare) > 1:
                side = None
            elif unit.unscored and not stated and (len(of_kind) > 1 or kind not in open_truths):
                side = "ground_truth"
            yield ProposedSide(upload, kind, side)


def _upload(unit: FileGroup, root: Path, below: Mapping[Path, Sequence[Path]]) -> Upload:
    if unit.path not in below:
        return Upload(unit.path.name, ((unit.path.name, unit.path.read_bytes()),), unit.format)
    row = formats.FORMATS[unit.format]
    # Files that are read as a folder alone have no ending of their own.
    suffixes = row.suffixes or getattr(row, "beside", ())
    inside = [path for path in below[unit.path] if path.suffix.lower() in suffixes]
    held = tuple((path.relative_to(unit.path).as_posix(), path.read_bytes()) for path in inside)
    name = unit.path.name if unit.path != root else f"{len(held)} files, {held[0][0]} first"
    return Upload(name if len(held) > 1 or unit.path != root else held[0][0], held, unit.format)
