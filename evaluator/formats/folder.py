"""Files on disk to bytes under a limit, files of a folder, and annotations of several files to one."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray
from evaluator.data.dataset import Annotations, Boxes, CodeArray, Document, LevelKey, Part, page_keys
from evaluator.data.issues import BadInput, Collector, Issue, quote, refuse
from evaluator.formats import limits
from evaluator.formats.image_paths import files_apart, page_of
from evaluator.system import progress

T = TypeVar("T")


class File(NamedTuple):
    """A file by name, and the function that loads its bytes under a limit of bytes."""

    name: str
    load: Callable[[int], bytes]


def on_disk(paths: Iterable[Path], below: Path | None = None) -> list[File]:
    """Return files by their paths, under their names, or those that they have `below` a folder."""
    return [File(path.relative_to(below).as_posix() if below else path.name, partial(load, path)) for path in paths]


def in_memory(files: Iterable[tuple[str, bytes]]) -> list[File]:
    """Return files whose names and bytes are at hand."""
    return [File(name, lambda _limit, content=content: content) for name, content in files]  # type: ignore[misc]


def read_parts(files: Iterable[File], read: Callable[[bytes, str], T]) -> tuple[list[T], list[Issue]]:
    """Return what `read` makes of each file, in order, and the issues of files that it refuses.

    Each is loaded with the bytes that the others left of `limits.MAX_FILE_BYTES`; `read` gets bytes and name, and
    raises `BadInput` with all issues of a file.
    """
    parts: list[T] = []
    issues: list[Issue] = []
    room = limits.MAX_FILE_BYTES
    every = list(files)
    for done, file in enumerate(every):
        progress.report(done, len(every))
        try:
            content = file.load(room)
            room -= len(content)
            with progress.reporting(None):  # files are counted, not what is in them
                parts.append(read(content, file.name))
        except BadInput as bad:
            issues += bad.issues
    return parts, issues


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder; False for names that no file system accepts."""
    return os.path.isdir(path)


def list_files(path: Path) -> list[Path]:
    """Return the files of a folder by name, without hidden ones; `BadInput` when it cannot be listed."""
    try:
        return [entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".") and entry.is_file()]
    except OSError as error:
        _refuse_unreadable(path, error)


def files_below(path: Path, depth: int, most: int) -> Iterator[Path]:
    """Yield the first files in a folder and so far below it, by name in each folder, without hidden ones."""
    left = most
    for here, folders, names in os.walk(path):
        deep = len(Path(here).relative_to(path).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if deep < depth else []
        for name in sorted(names)[:left]:
            # To open a pipe would wait for ever.
            if not name.startswith(".") and (file := Path(here, name)).is_file():
                yield file
        left -= len(names)
        if left <= 0:
            return


def head(path: Path, most: int = 1 << 16) -> bytes:
    """Return the beginning of a file; nothing of one that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(most)
    except (OSError, ValueError):
        return b""


def files(path: Path, suffixes: Sequence[str], known: Callable[[Path], bool] = lambda _file: False) -> list[Path]:
    """Return the annotation files of a folder, sorted by name; `BadInput` when there are none.

    Those with the first of `suffixes` that the folder has, and of those with others the ones that `known` accepts.
    """
    entries = [entry for entry in list_files(path) if entry.suffix.lower() in suffixes]
    if not entries:
        rule = f"a folder must hold files that end in {' or '.join(suffixes)}"
        refuse(path.name, "", rule, "none", "Name the folder of the annotation files.")
    first = min((entry.suffix.lower() for entry in entries), key=suffixes.index)
    return [entry for entry in entries if entry.suffix.lower() == first or known(entry)]


def load(path: Path, limit: int) -> bytes:
    """Return the bytes of a file; `BadInput` when it cannot be read or has more bytes than `limit`."""
    try:
        status = path.stat()
        # A device or pipe has no size and may never end.
        if not stat.S_ISREG(status.st_mode):
            rule = "the path must be a file or a folder of files"
            refuse(path.name, "", rule, "neither of them", "Correct the path.")
        if status.st_size <= limit:
            return path.read_bytes()
    except (OSError, ValueError) as error:
        _refuse_unreadable(path, error)
    rule = f"a file, or the files of a folder together, may have {limits.MAX_FILE_BYTES:,} bytes"
    refuse(path.name, "", rule, f"{status.st_size:,}", "Split the input.")


def merge(name: str, parts: Sequence[Annotations], *, pages_apart: bool = False) -> Annotations:
    """Return the annotations of several files of one side (at least one) as one, rows in their order.

    `Annotations.parts` states how many rows came from each, `Boxes.entry` counts the page entries of all; the digest is
    that of the parts' digests. `pages_apart`: a file holds a page, so files of one document complete each other, as do
    images that are named as its pages (`image_paths.page_of`). Files of images of one name in several folders are told
    apart, see `image_paths.files_apart`. Raises `BadInput` when formats, sides or label maps differ, or two files list
    one document (with `pages_apart`, one page of it).
    """
    collector = Collector(name, max_per_rule=None)
    placed = files_apart(parts, collector)
    _check(placed, collector, pages_apart=pages_apart or placed is not parts)
    parts = placed
    if collector.failed:
        raise BadInput([*collector.issues(), *(issue for part in parts for issue in part.issues)])
    first = parts[0]
    # Formats without a label map know the labels that occur in a file, which differ from file to file.
    mapped = dict.fromkeys(label for part in parts for label in part.labels[: part.evaluated])
    others = dict.fromkeys(label for part in parts for label in part.labels[part.evaluated :] if label not in mapped)
    labels = (*mapped, *others)
    documents: dict[str, Document] = {}
    for document in (document for part in parts for document in part.documents):
        documents.setdefault(document.doc_id, document)
    code = {doc_id: row for row, doc_id in enumerate(documents)}
    codes = [np.array([code[each.doc_id] for each in part.documents], dtype=np.int32) for part in parts]
    return Annotations(
        name=name,
        sha256=hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest(),
        format=first.format,
        side=first.side,
        model=first.model,
        version=first.version,
        labels=labels,
        evaluated=len(mapped),
        documents=tuple(documents.values()),
        page_document=_join([of_part[part.page_document] for part, of_part in zip(parts, codes, strict=True)]),
        page_index=np.concatenate([part.page_index for part in parts]),
        boxes=_boxes(parts, labels, codes),
        issues=(*collector.issues(), *(issue for part in parts for issue in part.issues)),
        label_map={key: name for part in parts for key, name in part.label_map.items()},
        page_ids=[name for part in parts for name in part.page_ids],
        parts=tuple(Part(part.name, part.sha256, len(part.page_index), len(part.boxes)) for part in parts),
        unit=first.unit,
        page_size=_sizes(parts),
        items_at=first.items_at,
        attributes=_attributes(parts),
        page_images=[name for part in parts for name in part.page_images or [""] * len(part.page_index)],
        level=next((part.level for part in parts if part.level), None),
        levels=_levels(parts),
    )


def _sizes(parts: Sequence[Annotations]) -> FloatArray | None:
    if all(part.page_size is None for part in parts):
        return None
    known = [np.full((len(part.page_index), 2), np.nan) if part.page_size is None else part.page_size for part in parts]
    return np.concatenate(known)


def _levels(parts: Sequence[Annotations]) -> dict[LevelKey, int]:
    """Return how many boxes each level of all parts has; empty where no box of any lies in another."""
    keys = next((part.levels.keys() for part in parts if part.levels), ())
    return {key: sum(part.levels.get(key, len(part.boxes)) for part in parts) for key in keys}


def _boxes(parts: Sequence[Annotations], labels: Sequence[str], documents: Sequence[CodeArray]) -> Boxes:
    code = {label: index for index, label in enumerate(labels)}
    recoded = [np.array([code[label] for label in part.labels], dtype=np.int32)[part.boxes.label] for part in parts]
    entries = _offsets([len(part.page_index) for part in parts])
    return Boxes(
        document=_join([of_part[part.boxes.document] for part, of_part in zip(parts, documents, strict=True)]),
        page=np.concatenate([part.boxes.page for part in parts]),
        label=_join(recoded),
        xyxy=np.concatenate([part.boxes.xyxy for part in parts]),
        score=np.concatenate([part.boxes.score for part in parts]),
        entry=_join([part.boxes.entry + start for part, start in zip(parts, entries, strict=True)]),
        position=_join([part.boxes.position for part in parts]),
        ids=[name for part in parts for name in part.boxes.ids],
        area=_if_all([part.boxes.area for part in parts]),
        crowd=_crowd(parts),
        polygons=_polygons(parts),
        box_area=_if_all([part.boxes.box_area for part in parts]),
        order=_of_items(parts, "order"),
        text=_of_items(parts, "text"),
        cells=_of_items(parts, "cells"),
    )


def _of_items(parts: Sequence[Annotations], name: str) -> list[Any] | None:
    columns = [(getattr(part.boxes, name), len(part.boxes)) for part in parts]
    if all(column is None for column, _ in columns):
        return None
    return [each for column, length in columns for each in (column or [None] * length)]


def _check(parts: Sequence[Annotations], collector: Collector, *, pages_apart: bool) -> None:
    first = parts[0]
    owner: dict[str, Annotations] = {}
    page_owner: dict[tuple[str, int], Annotations] = {}
    named: dict[str, str] = {}
    for part in parts:
        what = f"{part.name} and {first.name}"
        for key in ("format", "side", "unit"):
            if getattr(part, key) != getattr(first, key):
                pair = f"{quote(getattr(part, key))} and {quote(getattr(first, key))}"
                rule = f"files read as one must have the same {key}"
                collector.error(what, rule, pair, "Give one of them alone with --gt or --pred.")
        # A results list names the categories that occur in it.
        same = (
            part.label_map == first.label_map
            if part.evaluated
            else all(named.get(key, name) == name for key, name in part.label_map.items())
        )
        named |= part.label_map
        if not same:
            rule = "files read as one must have the same label_map (snapshot 1.3, section 9.2)"
            pair = f"{quote(part.label_map)} and {quote(first.label_map)}"
            collector.error(what, rule, pair, "Give all files the same ids and names.")
        if (part.model, part.version) != (first.model, first.version):
            rule = "files read as one should come from one model"
            pair = f"{quote([part.model, part.version])} and {quote([first.model, first.version])}"
            collector.warning(what, rule, pair, "They are read as one model under the first name.")
        by_page = pages_apart or any(map(page_of, part.page_images))
        if by_page:
            _check_pages(part, page_owner, collector)
        for document in () if by_page else part.documents:
            if (other := owner.setdefault(document.doc_id, part)) is not part:
                rule = "a document may be listed by one of the files read as one"
                fix = "Put all pages of a document into one file, or give one of the files alone with --gt or --pred."
                collector.error(f"{part.name} and {other.name}", rule, quote(document.doc_id), fix)
    boxes = sum(len(part.boxes) for part in parts)
    if boxes > limits.MAX_BOXES:
        collector.error("", f"a folder may have {limits.MAX_BOXES:,} boxes", f"{boxes:,}", "Split the folder.")


def _check_pages(part: Annotations, owner: dict[tuple[str, int], Annotations], collector: Collector) -> None:
    for document, index in page_keys(part):
        if (other := owner.setdefault((document, index), part)) is not part:
            rule = "a page may be listed by one of the files read as one"
            fix = "Remove one of the files, or give one alone with --gt or --pred."
            collector.error(f"{part.name} and {other.name}", rule, f"page {index + 1} of {quote(document)}", fix)


def _offsets(lengths: Sequence[int]) -> list[np.int32]:
    return list((np.cumsum(lengths) - lengths).astype(np.int32))


def _join(columns: Sequence[CodeArray]) -> CodeArray:
    return np.concatenate(columns).astype(np.int32, copy=False)


def _if_all(columns: Sequence[FloatArray | None]) -> FloatArray | None:
    known = [column for column in columns if column is not None]
    return np.concatenate(known) if len(known) == len(columns) else None


def _crowd(parts: Sequence[Annotations]) -> BoolArray | None:
    of_parts = [part.boxes for part in parts]
    if all(boxes.crowd is None for boxes in of_parts):
        return None
    every = [np.zeros(len(boxes), dtype=bool) if boxes.crowd is None else boxes.crowd for boxes in of_parts]
    return np.concatenate(every)


def _attributes(parts: Sequence[Annotations]) -> Mapping[str, Sequence[str | None]]:
    names = dict.fromkeys(name for part in parts for name in part.attributes)
    return {
        name: [text for part in parts for text in part.attributes.get(name, [None] * len(part.page_index))]
        for name in names
    }


def _polygons(parts: Sequence[Annotations]) -> Mapping[int, Sequence[FloatArray]]:
    merged: dict[int, Sequence[FloatArray]] = {}
    start = 0
    for part in parts:
        merged |= {start + row: rings for row, rings in part.boxes.polygons.items()}
        start += len(part.boxes)
    return merged


def _refuse_unreadable(path: Path, error: Exception) -> NoReturn:
    reason = getattr(error, "strerror", None) or str(error)
    refuse(path.name, "", "the file must be readable", reason, "Correct the path or its permissions.")
