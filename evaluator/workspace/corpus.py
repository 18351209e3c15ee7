"""Making a corpus of files: each side is read once, as every command reads it, and kept as columns."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from evaluator import formats
from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import Issue, refuse
from evaluator.formats import coco, columns, corpus, limits
from evaluator.formats.base import Reading
from evaluator.formats.coco import column_parts
from evaluator.formats.coco.stream import NEED_FULL_VALIDATION
from evaluator.formats.folder import files_below, is_folder
from evaluator.project import MergedFiles, model_names, paths_of, read_content
from evaluator.protocols.base import Say, Source

# Of a side that is a folder.
_DEPTH = 4
_MOST_FILES = 20_000


class Made(NamedTuple):
    """A side of a corpus: how many boxes it has, None for one that was there, and what was odd about it."""

    name: str
    boxes: int | None
    issues: tuple[Issue, ...] = ()


def make(
    out: Path,
    ground_truth: Path | MergedFiles | None,
    predictions: Sequence[Path | MergedFiles],
    reading: Reading = Reading(),  # noqa: B008 - it cannot be changed
    say: Say = lambda _text: None,
) -> list[Made]:
    """Write sides into a corpus, a new one or one that is there, and return what each is.

    Parameters
    ----------
    out : Path
        The folder of the corpus. What an interrupted run has finished is kept.
    ground_truth, predictions
        Files or folders; a corpus has one ground truth, and further predictions at any time.
    reading : Reading
        Format, level and columns of the files; the side is that of each.

    Raises
    ------
    BadInput
        With all issues of a side that cannot be read, and for another side of a name that is taken.
    """
    there = corpus.groups(out) if corpus.is_corpus(out) else []
    truths = [unit.path.name for unit in there if "ground_truth" in unit.sides]
    sides: list[tuple[Side, str, Path | MergedFiles]] = []
    if ground_truth is not None:
        (name,) = model_names([ground_truth])
        if truths not in ([], [name]):
            found = f"{truths[0]} in {out.resolve().name}"
            refuse(name, "", "a corpus has one ground truth", found, "Choose another --out.")
        sides.append(("ground_truth", name, ground_truth))
        truths = [name]
    sides += [("prediction", name, each) for name, each in zip(model_names(predictions), predictions, strict=True)]
    made = []
    for side, name, origin in sides:
        asked = msgspec.structs.replace(reading, side=side)
        key = _key(origin, name, asked)
        truth = partial(corpus.read_pages, out, "ground_truth", truths[0])
        say(f"Reading {name}")
        written = corpus.write_side(out, side, name, key, partial(_written, key, origin, asked, truth=truth))
        made.append(Made(name, None) if written is None else Made(name, *written))
    corpus.list_sides(out, [(side, name) for side, name, _ in sides])
    return made


def _written(
    key: str, origin: Path | MergedFiles, asked: Reading, folder: Path, *, truth: Callable[[], Annotations]
) -> tuple[int, tuple[Issue, ...]]:
    """Write the columns of a side, a file of plain numbers by parts; return how many boxes it has, and its issues."""
    if isinstance(origin, Path) and _is_coco(origin, asked):
        # What else there is to be read is read at once.
        with suppress(*NEED_FULL_VALIDATION):
            source = column_parts.write(folder, key, origin, _pages(origin, asked, truth))
            return len(source.boxes.ids), source.issues
    source = _read(origin, asked, truth=truth)
    columns.write(folder, source, key)
    return len(source.boxes), source.issues


def _is_coco(path: Path, asked: Reading) -> bool:
    name = coco.FORMAT.name
    as_it_is = asked.format in (None, name) and not asked.columns and asked.level is None
    return as_it_is and path.is_file() and formats.detect_file(path) == name


def _pages(path: Path, asked: Reading, truth: Callable[[], Annotations]) -> Annotations:
    """Return what a COCO file says without its boxes; a results list has the pages of its ground truth."""
    named = msgspec.structs.asdict(msgspec.structs.replace(asked, format=coco.FORMAT.name))
    if asked.side == "ground_truth":
        return formats.read_bytes(column_parts.frame_of(path), path.name, **named)
    nothing = formats.read_bytes(b"[]", path.name, **named)
    # That it is empty is not so.
    return replace(formats.resolve(nothing, truth()), issues=())


def _read(origin: Path | MergedFiles, asked: Reading, *, truth: Callable[[], Annotations]) -> Annotations:
    source: Source | None = None
    if isinstance(origin, Path) and origin.is_file() and origin.stat().st_size > limits.MAX_FILE_BYTES:
        source = coco.FORMAT.read_in_parts(origin, asked)
    source = source or read_content(origin, asked, "boxes")
    assert isinstance(source, Annotations)
    format_ = formats.format_of(source)
    if asked.side == "ground_truth" or format_ is None:
        return source
    return format_.resolve(source, truth())


def _key(origin: Path | MergedFiles, name: str, asked: Reading) -> str:
    digest = hashlib.sha256(msgspec.json.encode((name, asked)))
    for path in paths_of(origin):
        for file in files_below(path, _DEPTH, _MOST_FILES) if is_folder(path) else [path]:
            with file.open("rb") as content:
                own = hashlib.file_digest(content, "blake2b").hexdigest()
            digest.update(msgspec.json.encode((str(file.relative_to(path.parent)), own)))
    return digest.hexdigest()
