"""The commands about one file: what is in it, and the same boxes in another format."""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from cyclopts import Parameter

from evaluator import formats
from evaluator.analysis.doctor.contents import Contents, Spread, contents
from evaluator.cli.arguments import size as size_of
from evaluator.cli.paths import PDFS, PasswordFile, need_apart, need_free, need_no_foreign, passwords_of
from evaluator.cli.program import (
    BAD_INPUT,
    OK,
    Columns,
    Json,
    LevelName,
    UsageError,
    need_folder,
    print_issues,
    writing,
)
from evaluator.cli.progress import progress
from evaluator.data.dataset import Annotations
from evaluator.data.fields import FieldDocuments, class_key, leaves
from evaluator.data.issues import BadInput, Issue, count_of, has_errors, plain
from evaluator.data.page_sizes import with_sizes
from evaluator.formats import search
from evaluator.formats.base import Reading
from evaluator.formats.coco import is_unresolved
from evaluator.formats.posters import Posters
from evaluator.formats.writers import WRITERS, Writer, WriteResult, writer_named
from evaluator.formats.writers.base import HEAD
from evaluator.metrics import export
from evaluator.pdf.passwords import opening_with
from evaluator.pdf.sizes import page_sizes
from evaluator.project import paths_of, read_content
from evaluator.protocols.base import Source
from evaluator.workspace.roles import find

_Role = Literal["ground_truth", "prediction"]


def convert(
    source: Path,
    /,
    *,
    to: str,
    out: Path,
    format: str | None = None,
    columns: Columns = "",
    level: LevelName = None,
    role: Annotated[_Role | None, Parameter(name="--as")] = None,
    gt: Path | None = None,
    pdfs: Path | None = None,
    password_file: PasswordFile = None,
    page_size: str | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Write the boxes of a file in another format, and list what that cannot hold.

    Parameters
    ----------
    source
        A file of boxes, or a folder of files of one side.
    to
        snapshot (schema 1.3), coco, yolo, cvat, label-studio, page-xml, omnidocbench or items.
    out
        The file to write, or the folder for formats of several files (yolo, page-xml).
    format
        Format of the source, when it should not be recognised by content.
    role
        What the source is, when it should not be recognised by what it states: ground_truth or prediction.
    gt
        The ground truth of a COCO results list, which has its pages and labels.
    pdfs
        The folder of the PDFs that give the sizes of pages, in points, where the source does not.
    page_size
        Width and height, "612x792", of pages whose size nothing else gives.
    force
        Write over a file that exists, or a folder in which an earlier conversion to the format wrote every file.
    """
    writer = writer_named(to)
    if writer is None:
        raise UsageError(f"--to must be one of {', '.join(WRITERS)}; found {to}.")
    need_free(out, force=force)
    if out.exists() and out.is_dir() != writer.folder:
        what = "a folder" if writer.folder else "a file"
        raise UsageError(f"{writer.name} is written to {what} of its own; choose another --out than {out.name}.")
    if pdfs is not None:
        need_folder("--pdfs", pdfs)
    need_apart([out], {"convert": source, "--gt": gt, PDFS: pdfs, "--password-file": password_file})
    if writer.folder and out.is_dir():
        _need_own_folder(out, writer)
    with opening_with(passwords_of(password_file)), progress("Reading") as say:
        say(f"Reading {source.name}")
        asked = Reading(format=format, columns=columns, level=level, side=role, items=writer.items)
        read = _boxes(source, asked, gt)
        refused: list[Issue] = []
        if pdfs is not None or page_size is not None:
            say("Measuring the pages")
            read = _with_sizes(read, pdfs, size_of(page_size), say.count, refused)
        say(f"Writing {out.name}")
        try:
            written = writer.convert(read)
        except BadInput as problem:
            raise BadInput((*refused, *problem.issues)) from problem
        with writing("--out", out):
            # A link to a folder stays one.
            _save(written, out.resolve() if writer.folder else out, folder=writer.folder)
    print_issues((*read.issues, *refused, *written.warnings))
    pages = count_of(len(read.page_index), "page")
    every = count_of(len(read.boxes), "box")
    boxes = every if written.boxes == len(read.boxes) else f"{written.boxes:,} of {every}"
    print(f"{plain(out.name)}: {writer.title}, {pages}, {boxes}")
    return OK


def _need_own_folder(out: Path, writer: Writer) -> None:
    """Refuse to replace a folder with a file that no conversion wrote: it would be deleted."""
    files: dict[str, bytes] = {}
    foreign = []
    for folder, below, names in os.walk(out, onerror=_raised):
        for each in (Path(folder, name) for name in (*names, *below)):
            name = each.relative_to(out).as_posix()
            if each.is_symlink() or not (each.is_file() or each.is_dir()):
                foreign.append(name)
            elif each.is_file():
                with each.open("rb") as file:
                    files[name] = file.read(HEAD)
    foreign = sorted({*foreign, *files} - {*writer.own_files(files)})
    need_no_foreign(out, foreign, f"--force replaces a folder in which a conversion to {writer.name} wrote every file")


def _raised(problem: OSError) -> None:
    """Raise what kept a folder from being listed: it may hold anything."""
    raise problem


def _boxes(path: Path, reading: Reading, gt: Path | None) -> Annotations:
    if reading.side is None and gt is not None:
        reading = msgspec.structs.replace(reading, side="prediction")
    read = formats.read(path, **msgspec.structs.asdict(reading))
    if gt is not None:
        as_truth = Reading(side="ground_truth", columns=reading.columns, level=reading.level)
        read = formats.resolve(read, formats.read(gt, **msgspec.structs.asdict(as_truth)))
    if is_unresolved(read):
        raise UsageError(f"{path.name} is a COCO results list, which names no pages and labels; give them with --gt.")
    return read


def _with_sizes(
    source: Annotations,
    pdfs: Path | None,
    given: tuple[float, float] | None,
    count: Any,  # noqa: ANN401 - the counting of the progress bar
    refused: list[Issue],
) -> Annotations:
    """Return the columns with sizes for pages that have none: of PDFs and images, else the given one."""
    in_pixels = source.unit == "pixels"
    known = {} if pdfs is None else page_sizes(source, pdfs, count, images_only=in_pixels, refused=refused)
    sized = with_sizes(source, known, given)
    if in_pixels and pdfs is not None and (sized.page_size is None or np.isnan(sized.page_size).any()):
        # A PDF says points, and nothing says how many pixels these are.
        raise UsageError(
            "the boxes are pixels of pages without a size, which a PDF states in points; give images of the pages with "
            "--pdfs, or --page-size."
        )
    return sized


def _save(written: WriteResult, out: Path, *, folder: bool) -> None:
    """Put the files in their place, all or none: an interrupted conversion leaves what was there."""
    out.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        for name, content in written.files.items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if folder:
            made.chmod(0o755)
            _exchange(made, out)
        else:
            os.replace(made / next(iter(written.files)), out)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _exchange(made: Path, out: Path) -> None:
    """Put a folder in the place of another, which is whole beside it until the new one is there."""
    before = made.with_name(f"{made.name}.before")
    if out.exists():
        os.replace(out, before)
    try:
        os.replace(made, out)
    except OSError:
        if before.exists():
            os.replace(before, out)
        raise
    shutil.rmtree(before, ignore_errors=True)


# --- describe ------------------------------------------------------------------------------------------------


def describe(
    source: Path,
    /,
    *,
    format: str | None = None,
    columns: Columns = "",
    level: LevelName = None,
    json: Json = False,
) -> int:
    """Summarise a file: counts per label, pages without boxes, duplicates, sizes, boxes that leave their page.

    Exit 2 when any issue is an error; a poster with one is left out, and the others of its folder are summarised.

    Parameters
    ----------
    source
        A file or folder of boxes, extracted fields or posters.
    format
        Format of the source, when it should not be recognised by content.
    """
    for note in both_sides(source, format)[1]:
        rule, fix = "a folder that is described must be one side", "Name one of them."
        raise BadInput([msgspec.structs.replace(note, severity="error", rule=rule, fix=fix)])
    with progress("Reading") as say:
        say(f"Reading {source.name}")
        read = read_any(source, Reading(format=format, columns=columns, level=level))
    if isinstance(read, Annotations):
        described = contents(read)
        values: dict[str, object] = msgspec.structs.asdict(described)
        text = _text(described)
    else:
        values = other_contents(read)
        text = "".join(f"{name.replace('_', ' ')}: {_words(value)}\n" for name, value in values.items())
    if json:
        print(export.to_json({**values, "issues": list(read.issues)}))
    else:
        sys.stdout.write("".join(f"{plain(line)}\n" for line in text.splitlines()))
        print_issues(read.issues)
    # A poster with an error does not take out the others of its folder, which are described.
    return BAD_INPUT if has_errors(read.issues) else OK


def both_sides(path: Path, format: str | None) -> tuple[list[Path], list[Issue]]:
    """Return the files of a path: a folder with a ground truth and predictions is these, with a note."""
    if format is not None or not path.is_dir():
        return [path], []
    try:
        sides = find([path]).of("boxes")
    except BadInput:
        return [path], []  # why it is not clear is said when it is read as one side
    if sides.ground_truth is None or not sides.predictions:
        return [path], []
    truths, models = paths_of(sides.ground_truth), [path for each in sides.predictions for path in paths_of(each)]
    predictions = ", ".join(each.name for each in sides.predictions)
    predictions = f"{count_of(len(sides.predictions), 'prediction')}: {predictions}"
    note = Issue(
        severity="warning",
        file=path.resolve().name,
        place="",
        rule="a folder with both sides is read as a ground truth and predictions",
        found=f"ground truth {sides.ground_truth.name}, {predictions}",
        fix="Name files or folders one by one to check others.",
    )
    return [*truths, *models], [note]


def read_any(path: Path, reading: Reading) -> Source:
    """Return what a file of any kind holds: boxes, else extracted fields or posters."""
    named = formats.FORMATS.get(reading.format) if reading.format else None
    if named is None or named.kind == "boxes":
        try:
            return read_content(path, reading, "boxes")
        except BadInput:
            named = None if reading.format else search.format_at(path)
            if named is None or named.kind == "boxes":
                raise
    return read_content(path, msgspec.structs.replace(reading, format=named.name), named.kind)


def other_contents(read: FieldDocuments | Posters) -> dict[str, object]:
    """Return what is in extracted fields or posters."""
    values: dict[str, object] = {"name": read.name, "format": read.format}
    if isinstance(read, Posters):
        sections = sum(len(poster.sections) for poster in read.posters.values())
        return {**values, "posters": len(read.posters), "broken": len(read.broken), "sections": sections}
    every = [(class_key(path), field) for tree in read.documents.values() for path, field in leaves(tree)]
    return {
        **values,
        "documents": len(read.documents),
        "documents_without_fields": sum(not any(leaves(tree)) for tree in read.documents.values()),
        "fields": len(every),
        "labels": dict(Counter(name for name, _ in every)),
        "without_box": sum(field.box is None for _, field in every),
        "without_score": sum(math.isnan(field.confidence) for _, field in every),
    }


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {count:,}" for key, count in value.items()) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _text(described: Contents) -> str:
    side = described.side.replace("_", " ")
    lines = [
        f"{described.name}: {described.format}, {side}{f', {described.model}' if described.model else ''}",
        f"{count_of(described.documents, 'document')}, {count_of(described.pages, 'page')}, "
        f"{count_of(described.boxes, 'box')}, {count_of(len(described.labels), 'label')}",
        "",
    ]
    wide = max((len(label) for label in described.labels), default=0)
    lines += [f"  {label:<{wide}}  {count:>9,}" for label, count in described.labels.items()]
    unit = "of the page" if described.unit == "page" else "px"
    lines += [
        "",
        f"pages without boxes: {described.pages_without_boxes:,}",
        f"duplicate boxes: {described.duplicates:,}",
        f"boxes that leave the page: {'n/a' if described.outside is None else f'{described.outside:,}'}",
        f"boxes without width or height: {described.flat:,}",
        f"boxes without a score: {described.without_score:,}",
        f"boxes with an outline: {described.outlines:,}",
        f"labels with fewer than 20 boxes: {', '.join(described.few) or 'none'}",
        f"width: {_range(described.width)} {unit}",
        f"height: {_range(described.height)} {unit}",
        f"share of the page: {_range(described.page_share)}",
        f"score: {_range(described.score)}",
    ]
    if described.pages_without_size:
        lines.append(f"pages without a size: {described.pages_without_size:,}")
    return "\n".join(lines)


def _range(spread: Spread) -> str:
    if spread.median is None or spread.smallest is None or spread.largest is None:
        return "n/a"
    return f"{spread.smallest:.4g} to {spread.largest:.4g}, median {spread.median:.4g}"
