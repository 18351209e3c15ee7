"""Which page an image is, by the path that a file states for it: in one file, and between the two sides.

A path is compared by its folders and its name without suffix; backslashes, a leading ``./`` or ``/``, percent-encoding
and the Unicode form say nothing, nor does what follows the path in a web address.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final, NamedTuple
from urllib.parse import unquote

import numpy as np

from evaluator.data.dataset import Annotations, Document, PageKey, Side, page_keys, with_pages
from evaluator.data.document_names import PAGE_WORDS, without_ending
from evaluator.data.issues import Collector, quote

Parts = tuple[str, ...]
"""The folders of an image and its name without suffix."""

# Names of pages: page_1, p-001, IMG 12, scan3, or a number alone.
_PAGE: Final = re.compile(rf"(?:(?:{PAGE_WORDS})[\s_.-]*)?\d+", re.IGNORECASE)
# Folders that are a part of a data set, or of a document, but not the document.
_NO_DOCUMENT: Final = frozenset(
    ("train", "training", "val", "valid", "validation", "dev", "test", "testing", "images", "labels", "img", "pages")
)
_KINDS: Final = frozenset(("images", "labels"))
_IMAGE: Final = re.compile(r"\.(?:png|jpe?g|tiff?|bmp|webp|gif|jp2)\Z", re.IGNORECASE)
_QUERY: Final = re.compile("[?#]")
TRUTH_NAMES: Final = ("ground_truth", "groundtruth", "gt", "truth", "reference", "references")
"""What a folder or file may be called that is the ground truth, where the content does not state it."""
_DIGITS: Final = re.compile(r"(\d+)")
_PAGE_NAME: Final = re.compile(r"(.+)_p(0\d{3}|[1-9]\d{3,8})", re.DOTALL)
_QUOTED: Final = str.maketrans({"%": "%25", "/": "%2F", "\\": "%5C"})


def parts_of(file: str) -> Parts:
    r"""Return what the path of an image is compared by.

    >>> parts_of(".\\docA\\page%201.png"), parts_of("a.b.png")
    (('docA', 'page 1'), ('a.b',))
    """
    file = without_query(file)
    file = unquote(file) if "%" in file else file
    file = file if file.isascii() else unicodedata.normalize("NFC", file)
    steps = [step for step in file.replace("\\", "/").split("/") if step not in ("", ".")] or [""]
    return (*steps[:-1], stem_of(steps[-1]))


def without_query(file: str) -> str:
    """Return a web address without what follows its path, such as a signature; other names as they are."""
    return _QUERY.split(file, maxsplit=1)[0] if "://" in file else file


def is_image(path: str) -> bool:
    """Return whether a path ends as those of images do."""
    return _IMAGE.search(path) is not None


def is_truth_name(name: str) -> bool:
    """Return whether a name is one of the usual ones of a ground truth."""
    return name.lower().replace("-", "_").replace(" ", "_") in TRUTH_NAMES


@lru_cache(maxsize=1024)
def stem_of(file: str) -> str:
    """Return the name of a file without folders and ending; what no kind of file ends in belongs to the name.

    >>> stem_of("x/a.b.png"), stem_of("acme.final"), stem_of("x/"), stem_of("https://example/a.png?key=b/c.d")
    ('a.b', 'acme.final', 'x', 'a')
    """
    file = without_query(file)
    return without_ending(file.replace("\\", "/").rstrip("/").rpartition("/")[2]) or file


def page_name(document: str, index: int) -> str:
    """Return the name, without ending, of the image of a page of a document, from which `page_of` reads both.

    >>> page_name("a/b.pdf", 0)
    'a%2Fb.pdf_p0001'
    """
    return f"{document.translate(_QUOTED)}_p{index + 1:04d}"


def page_of(file: str) -> PageKey | None:
    """Return document and page of an image that is named by `page_name`; None for another name.

    >>> page_of("images/a%2Fb.pdf_p0012.png"), page_of("b_p12.png"), page_of("b_p0000.png")
    (('a/b.pdf', 11), None, None)
    """
    named = _PAGE_NAME.fullmatch(stem_of(file))
    return (unquote(named[1]), int(named[2]) - 1) if named and int(named[2]) else None


class Apart(NamedTuple):
    """Document and page of the images, by row, that their folders tell apart; two of them as an issue shows them."""

    documents: Mapping[int, str]
    pages: Mapping[int, int]
    by_folder: bool
    shown: str

    def report(self, collector: Collector, place: str = "", *, of_files: bool = False) -> None:
        """Say what was done; only COCO has a place, and `of_files` may be those of several models."""
        rule = "images of one name in several folders are read as documents of their own"
        if self.by_folder:
            rule = "images of one name in several folders are read as pages of a document for each folder"
        fix = "Rename the images if other images belong together."
        if of_files:
            fix = "Rename the images if other images belong together; give folders of several models one by one."
        if place:
            fix = "Give the images a key doc if other images belong together."
        collector.warning(place, rule, self.shown, fix)


def tell_apart(documents: Sequence[str], files: Mapping[int, str], *, images: bool = True) -> Apart | None:
    """Return what becomes of images of one stem in several folders; None where there are none.

    A folder is a document, its images in the order of their names are the pages, where the repeated stems are those of
    pages and the folders no parts of a data set; else each path is a document. `documents`: of each image so far, its
    stem or what the file states. `files`: paths of the images named by them, by row. `images`: False for documents of
    several pages, which are never pages of one.
    """
    if len({documents[row] for row in files}) == len(files):
        return None
    paths = {row: parts_of(file) for row, file in files.items()}
    folders: dict[str, set[Parts]] = defaultdict(set)
    for row, parts in paths.items():
        folders[documents[row]].add(parts[:-1])
    repeated = [row for row in paths if len(folders[documents[row]]) > 1]
    if not repeated:
        return None
    named = _folder_documents({paths[row][:-1] for row in repeated})
    of_folders = [row for row, parts in paths.items() if parts[:-1] in named]
    apart = {*of_folders}
    others = {document for row, document in enumerate(documents) if row not in apart}
    like_pages = images and all(_PAGE.fullmatch(paths[row][-1]) for row in repeated)
    by_folder = bool(named) and like_pages and others.isdisjoint(named.values())
    if by_folder:
        moved = sorted(of_folders, key=lambda row: _natural(paths[row][-1]))
        names = {row: named[paths[row][:-1]] for row in moved}
    else:
        moved, shared = repeated, len(_common({paths[row][:-1] for row in repeated}))
        names = {row: "/".join(paths[row][shared:]) for row in moved}
    pages: Counter[str] = Counter()
    numbers = {}
    for row in moved:
        numbers[row] = pages[names[row]]
        pages[names[row]] += 1
    alike = [row for row in repeated if documents[row] == documents[repeated[0]]]
    shown = {paths[row]: f"{quote(names[row])}: {quote(files[row])}" for row in reversed(alike)}
    return Apart(names, numbers, by_folder, ", ".join([*shown.values()][:-3:-1]))


def files_apart(parts: Sequence[Annotations], collector: Collector) -> Sequence[Annotations]:
    """Return files of a document each with other names for those of one name in several folders, which are reported.

    A document is told apart by the path that its file states, else by the folder of the file, else by a path that is
    stated besides (`Document.path`), else, where three or more all state one page of one name, by the names of the
    files: two may be versions of one page. The same object where no document is repeated, or nothing tells them apart.
    """
    names = [part.documents[0].doc_id for part in parts if len(part.documents) == 1]
    if len(names) < len(parts) or len({*names}) == len(names):
        return parts
    stated = [_stated(part) for part in parts]
    inside = [
        posixpath.normpath(posixpath.join(posixpath.dirname(part.name), file))
        for part, file in zip(parts, stated, strict=True)
    ]
    besides = [part.documents[0].path or file for part, file in zip(parts, stated, strict=True)]
    pages = [page_keys(part) for part in parts]
    images = all(len(keys) == 1 and keys[0][1] == 0 for keys in pages)
    files = next((files for files in (stated, inside, besides) if _once(files, pages)), inside)
    apart = tell_apart(names, dict(enumerate(files)), images=images)
    own = [stem_of(part.name) for part in parts]
    if apart is not None:
        need_one_side(((part.name, _side(part)) for part in parts), collector)
        apart.report(collector, of_files=True)
    elif len(parts) > 2 and set.intersection(*map(set, pages)) and len({*own}) == len(own):
        rule = "files should state names that differ; each is read as what the file is named"
        found = f"{quote(names[0])} in all {len(names):,} files"
        collector.warning("", rule, found, "State another name in each file if they are named otherwise.")
        apart, files = Apart(dict(enumerate(own)), {}, by_folder=False, shown=""), [part.name for part in parts]
    else:
        return parts
    placed = []
    for row, (part, keys, file) in enumerate(zip(parts, pages, files, strict=True)):
        name = apart.documents.get(row, names[row])
        made = [(name, apart.pages.get(row, 0) if images else index) for _, index in keys]
        known = {name: Document(name, name, file)}
        placed.append(with_pages(replace(part, page_images=[file]) if images else part, known, made))
    return placed


def need_one_side(files: Iterable[tuple[str, Side | None]], collector: Collector) -> None:
    """Report an error when folders (path and side of each) hold the same pages with and without scores."""
    first: dict[str, tuple[PurePosixPath, Side | None]] = {}
    for name, side in files:
        path = PurePosixPath(name)
        other, before = first.setdefault(path.name, (path, side))
        truths = [is_truth_name(each.parent.name) for each in (path, other)]
        scored = None not in (side, before) and side != before
        if path.parent != other.parent and (scored or truths[0] != truths[1]):
            what = f"{path.name} in {quote(str(other.parent))} and in {quote(str(path.parent))}"
            what += ", one with scores" if scored else ", one called a ground truth"
            fix = "Give the ground truth and the predictions as two folders."
            collector.error("", "the folders of a data set must be one side", what, fix)
            return


def _side(part: Annotations) -> Side | None:
    scored = not np.isnan(part.boxes.score).all()
    return None if not len(part.boxes) else "prediction" if scored else "ground_truth"


def _stated(part: Annotations) -> str:
    return next(filter(None, part.page_images), "") or part.documents[0].name


def _once(files: Sequence[str], pages: Sequence[Sequence[PageKey]]) -> bool:
    every = [(parts_of(file), index) for file, keys in zip(files, pages, strict=True) for _, index in keys]
    return len({*every}) == len(every)


def _folder_documents(folders: set[Parts]) -> dict[Parts, str]:
    """Return the document that each folder is; empty where one of them is none, or two are the same."""
    own = {folder: without_parts(folder) for folder in folders}
    shared = len(_common({*own.values()}))
    named = {folder: "/".join(steps[shared:]) for folder, steps in own.items()}
    return named if len({*named.values()}) == len(named) and all(named.values()) else {}


def without_parts(folder: Parts) -> Parts:
    """Return a folder without those at its end that are a part of a data set, or of a document."""
    while folder and folder[-1].lower() in _NO_DOCUMENT:
        folder = folder[:-1]
    return folder


def _common(folders: set[Parts]) -> Parts:
    first, last = min(folders), max(folders)
    count = next((at for at, step in enumerate(first) if at >= len(last) or step != last[at]), len(first))
    return first[:count]


def _natural(name: str) -> list[str | int]:
    """Return what puts page_2 before page_10."""
    return [int(part) if at % 2 else part.casefold() for at, part in enumerate(_DIGITS.split(name))]


def by_path(prediction: Annotations, truth: Annotations) -> Annotations:
    """Return a prediction with each page that has the path of one page of the ground truth as that page.

    Where only the roots of the paths differ, the longest common end of two paths counts. A page without a partner that
    would be one of another path becomes a document, named by its path. Pages whose document is stated otherwise keep
    it, and all do where a side states no paths, or no page has a partner. The same object where nothing changes.
    """
    if prediction.page_index is truth.page_index and prediction.page_images is truth.page_images:
        # Rows of a results list have the pages of the ground truth.
        return prediction
    ours, theirs = _paths(prediction), _paths(truth)
    if not any(ours) or not any(theirs) or _moved(prediction) or _moved(truth):
        return prediction
    if _agree(prediction, truth, (ours, theirs)):
        return prediction
    return _placed(prediction, truth, (ours, theirs))


def _paths(source: Annotations) -> list[str]:
    """Return the path of each page, empty for none; corrected files have pages that state none at their end."""
    return [*source.page_images, *[""] * (len(source.page_index) - len(source.page_images))]


def _moved(source: Annotations) -> bool:
    return any(fix.startswith(("names", "page-offset")) for fix in source.fixes)


def _agree(prediction: Annotations, truth: Annotations, files: tuple[Sequence[str], Sequence[str]]) -> bool:
    ours, theirs = files
    of_page = dict(zip(page_keys(truth), theirs, strict=True))
    by_folder = any("/" in file or "\\" in file for file in {*ours} & {*theirs})
    for key, file in zip(page_keys(prediction), ours, strict=True):
        other = of_page.get(key)
        # The comparison of texts is the quick one of most files.
        if other != file and (other is None or not _may_be_one(parts_of(file), parts_of(other), by_folder=by_folder)):
            return False
    return True


def _partners(ours: Sequence[Parts], theirs: Sequence[Parts]) -> tuple[list[int], bool]:
    """Return the row of `theirs` that each path of `ours` means, -1 for none, and whether folders must agree."""
    whole = _unique((parts, row) for row, parts in enumerate(theirs) if parts)
    rows = [whole.get(parts, -1) for parts in ours]
    by_folder = any(row >= 0 and len(parts) > 1 for row, parts in zip(rows, ours, strict=True))
    short = [_without_kinds(parts) for parts in theirs]
    ends = _unique((parts[start:], row) for row, parts in enumerate(short) for start in range(len(parts)))
    claims: dict[int, set[Parts]] = defaultdict(set)
    for row, parts in zip(rows, ours, strict=True):
        claims[row].add(parts)
    by_end: dict[Parts, int] = {}
    for parts in {parts for row, parts in zip(rows, ours, strict=True) if row < 0 and parts}:
        own = _without_kinds(parts)
        end = next((own[start:] for start in range(len(own)) if own[start:] in ends), ())
        row = ends.get(end, -1)
        if row >= 0 and (not by_folder or end in (own, short[row])):
            by_end[parts] = row
            claims[row].add(parts)
    by_end = {parts: row for parts, row in by_end.items() if len(claims[row]) == 1}
    return [by_end.get(parts, row) if row < 0 else row for row, parts in zip(rows, ours, strict=True)], by_folder


def _unique(pairs: Iterable[tuple[Parts, int]]) -> dict[Parts, int]:
    """Return the row of each key, -1 for a key of several."""
    rows: dict[Parts, int] = {}
    for key, row in pairs:
        rows[key] = row if rows.setdefault(key, row) == row else -1
    return rows


def _without_kinds(parts: Parts) -> Parts:
    """Return a path without the folders that tell images from their labels, as in images/train and labels/train."""
    return (*(step for step in parts[:-1] if step.lower() not in _KINDS), *parts[-1:])


def _placed(prediction: Annotations, truth: Annotations, files: tuple[Sequence[str], Sequence[str]]) -> Annotations:
    ours, theirs = ([parts_of(file) if file else () for file in side] for side in files)
    rows, by_folder = _partners(ours, theirs)
    keys, truth_keys = page_keys(prediction), page_keys(truth)
    known = {document.doc_id: document for document in truth.documents}
    path_of = dict(zip(reversed(truth_keys), reversed(theirs), strict=True))
    if max(rows) < 0:
        return prediction
    placed: list[PageKey] = []
    for key, row, parts in zip(keys, rows, ours, strict=True):
        # What the file states besides its path is kept where the ground truth has it.
        by_name = bool(parts) and (key[0] not in known or f"/{key[0]}/" in f"/{'/'.join(parts)}/")
        other = path_of.get(key, ())
        if row >= 0 and (by_name or truth_keys[row][0] == key[0]):
            placed.append(truth_keys[row])
        elif row < 0 and by_name and other and not _may_be_one(parts, other, by_folder=by_folder):
            placed.append(("/".join(parts), 0))
        else:
            placed.append(key)
    return prediction if placed == keys else with_pages(prediction, known, placed)


def _may_be_one(parts: Parts, others: Parts, *, by_folder: bool) -> bool:
    """Return whether two paths may be those of one image: one is the end of the other, or folders say nothing."""
    count = min(len(parts), len(others)) if by_folder else 1
    return parts[-count:] == others[-count:]
