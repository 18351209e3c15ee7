"""What is open: the ground truth, the predictions and the PDF folder behind a command or a folder.

Owns the detection of roles: files of boxes say what they are (``info.type``); extracted fields and posters do not,
so the name of their folder or file decides, then what stands in it. It reads files only as far as that needs and
evaluates nothing. Paths come from the command line or the uploader, never from inside an annotation file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from evaluator import formats
from evaluator.formats import fields, folder, limits, posters
from evaluator.model.dataset import Side
from evaluator.model.issues import BadInput, Issue, Severity, has_errors

# How the terminal tells the dashboard what to open: JSON in the environment.
WORKSPACE_VARIABLE: Final = "LAYOUTSCOPE_WORKSPACE"
_FOLDER_DEPTH: Final = 4
_FOLDER_FILES: Final = 20_000
_MODELS_SHOWN: Final = 26
# The formats whose boxes are shares of the page, which is what the views of boxes draw and evaluate.
BOX_FORMATS: Final = ("snapshot",)
FIELDS: Final[Literal["fields"]] = "fields"
POSTERS: Final[Literal["posters"]] = "posters"
SHOWN_FORMATS: Final = (*BOX_FORMATS, FIELDS, POSTERS)
_ANNOTATION_SUFFIXES: Final = (".json", *fields.LINE_SUFFIXES)
_PAGE_IMAGES: Final = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp")
# Folders and files of fields or posters with one of these names are the ground truth.
_TRUTH_NAMES: Final = ("ground_truth", "groundtruth", "gt", "truth", "reference", "references")

OtherFormat = Literal["fields", "posters"]


@dataclass(frozen=True, slots=True)
class Sides:
    """The files of a format with a view of its own: extracted fields, or posters.

    Attributes
    ----------
    ground_truth : Path or None
        A folder or a file, for the reader of the format.
    predictions : tuple of Path
        In the order A, B, ... One folder can be both sides of posters.
    pdfs : Path or None
        The one folder under which documents are looked up by name.
    """

    ground_truth: Path | None = None
    predictions: tuple[Path, ...] = ()
    pdfs: Path | None = None

    def __bool__(self) -> bool:
        return self.ground_truth is not None or bool(self.predictions)


@dataclass(frozen=True, slots=True)
class Workspace:
    """The files of one session.

    Attributes
    ----------
    ground_truth : Path or None
        Of boxes; None when no file is a ground truth and none was named as reference.
    predictions : tuple of Path
        Of boxes, in the order A, B, ...
    pdfs : Path or None
        The one folder under which documents are looked up by name.
    as_reference : bool
        The ground truth is a prediction file, used as reference because somebody asked for it.
    issues : tuple of Issue
        What was passed over, and why.
    fields, posters : Sides
        The files of these two formats.
    """

    ground_truth: Path | None
    predictions: tuple[Path, ...]
    pdfs: Path | None
    as_reference: bool = False
    issues: tuple[Issue, ...] = ()
    fields: Sides = field(default_factory=Sides)
    posters: Sides = field(default_factory=Sides)

    def to_json(self) -> str:
        """The paths, absolute, for another process; issues are not among them."""
        return msgspec.json.encode(
            {**_sides_json(self), "as_reference": self.as_reference}
            | {name: _sides_json(getattr(self, name)) for name in (FIELDS, POSTERS)}
        ).decode()


def from_json(text: str) -> Workspace:
    """The workspace of `Workspace.to_json`; formats that it does not mention are empty."""
    described = msgspec.json.decode(text.encode())
    boxes = _sides(described)
    return Workspace(
        ground_truth=boxes.ground_truth,
        predictions=boxes.predictions,
        pdfs=boxes.pdfs,
        as_reference=bool(described["as_reference"]),
        fields=_sides(described.get(FIELDS, {})),
        posters=_sides(described.get(POSTERS, {})),
    )


def sample(root: Path) -> Workspace:
    """The bundled sample data.

    Parameters
    ----------
    root : Path
        Its folder. Below it, ``fields`` and ``posters`` have the folders ``pdf``, ``ground_truth`` and one for each
        model, in the order of their names.

    Returns
    -------
    Workspace
    """
    return Workspace(
        ground_truth=root / "ground_truth.json",
        predictions=(root / "lines.json", root / "blocks.json"),
        pdfs=root / "pdf",
        fields=_sample_sides(root / FIELDS),
        posters=_sample_sides(root / POSTERS),
    )


def find(
    paths: Sequence[Path] = (),
    *,
    ground_truth: Path | None = None,
    predictions: Sequence[Path] = (),
    pdfs: Path | None = None,
    as_reference: bool = False,
) -> Workspace:
    """The workspace behind folders and files, roles detected from content.

    Parameters
    ----------
    paths : sequence of Path
        Folders (searched four levels deep, hidden ones left out) and files.
    ground_truth, predictions, pdfs : optional
        Named by the user; what is named is not guessed.
    as_reference : bool
        Allows `ground_truth` to be a prediction file.

    Returns
    -------
    Workspace

    Raises
    ------
    BadInput
        When a path does not exist, or two files could be the ground truth of one format.

    Notes
    -----
    Documents of fields lie in one folder per side, or in one file of JSON lines. A folder or file that is called
    ground truth, truth, gt or reference is the ground truth; else the only one without any confidence is. A folder
    of posters can hold both sides, told apart by the names of the files.
    """
    named = [*paths, *([ground_truth] if ground_truth else []), *predictions, *([pdfs] if pdfs else [])]
    missing = [_missing(path) for path in named if not path.exists()]
    if missing:
        raise BadInput(missing)
    files = list(_files(paths))
    seen = _sorted_out(paths, files, taken=[path for path in (ground_truth, *predictions) if path])
    truth_format = _format_of_path(ground_truth) if ground_truth else None
    by_format: dict[str, list[Path]] = {FIELDS: [], POSTERS: [], "": []}
    for path in predictions:
        by_format[_format_of_path(path)].append(path)
    issues = list(seen.issues)
    truths = [ground_truth] if ground_truth and truth_format == "" else seen.boxes["ground_truth"]
    if len(truths) > 1:
        issues.append(_several(truths))
    if ground_truth and not as_reference and ground_truth.is_file() and formats.side_of(ground_truth) == "prediction":
        issues.append(_not_a_truth(ground_truth))
    pdf_folder = pdfs or _folder_of_pdfs(files)
    of_fields, of_posters = (
        choose(seen.units[name], ground_truth if truth_format == name else None, by_format[name], pdf_folder, issues)
        for name, choose in _CHOICES
    )
    if has_errors(issues):
        raise BadInput(issues)
    return Workspace(
        ground_truth=truths[0] if truths else None,
        predictions=tuple(by_format[""] or seen.boxes["prediction"])[:_MODELS_SHOWN],
        pdfs=pdf_folder,
        as_reference=as_reference,
        issues=tuple(issues),
        fields=of_fields,
        posters=of_posters,
    )


def format_of(content: bytes, name: str) -> str | None:
    """Which format some bytes look like, among those of boxes, fields and posters.

    Parameters
    ----------
    content : bytes
        The file, or its beginning.
    name : str
        Its name; the ending says whether it is JSON lines.

    Returns
    -------
    str or None
        A key of ``formats.FORMATS``, ``fields`` or ``posters``; None for none of them, or more than one of boxes.
    """
    head = content[: formats.HEAD_BYTES]
    lines = name.lower().endswith(fields.LINE_SUFFIXES)
    possible = [] if lines else [key for key, row in formats.FORMATS.items() if row.detect(head)]
    if possible:
        return possible[0] if len(possible) == 1 else None
    if fields.detect(head):
        return FIELDS
    return POSTERS if not lines and posters.detect(head) else None


# --- what the files are --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Unit:
    """One side, or both, of fields or posters: a folder, or a file of its own.

    ``told`` are the sides that its names tell; ``confident`` whether any file of it gives a confidence.
    """

    path: Path
    told: frozenset[Side]
    confident: bool


@dataclass(frozen=True, slots=True)
class _Seen:
    """The annotation files of a search, by what they are."""

    boxes: dict[Side, list[Path]]
    units: dict[OtherFormat, list[_Unit]]
    issues: list[Issue]


def _sorted_out(paths: Sequence[Path], files: Iterable[Path], taken: Sequence[Path]) -> _Seen:
    """Every annotation file that was not named by the user, under its format and side."""
    skipped = {path.resolve() for path in taken}
    given = {path for path in paths if path.is_file()}
    boxes: dict[Side, list[Path]] = {"ground_truth": [], "prediction": []}
    members: dict[OtherFormat, dict[Path, list[tuple[Path, bytes]]]] = {FIELDS: {}, POSTERS: {}}
    unknown: list[Path] = []
    issues: list[Issue] = []
    for path in files:
        if path.suffix.lower() not in _ANNOTATION_SUFFIXES or (skipped and not skipped.isdisjoint(_at_or_above(path))):
            continue
        content = _content(path)
        format_ = format_of(content, path.name)
        if format_ == FIELDS:
            members[FIELDS].setdefault(_fields_unit(path, given), []).append((path, content))
        elif format_ == POSTERS:
            members[POSTERS].setdefault(_posters_unit(path, paths), []).append((path, content))
        elif format_ is None or (side := formats.FORMATS[format_].side_of(content)) is None:
            unknown.append(path)
        elif format_ not in BOX_FORMATS:
            issues.append(not_shown(path.name, format_, "warning"))
        else:
            boxes[side].append(path)
    # A document without any rich value, or a broken one, belongs to the folder it lies in; its reader judges it.
    within = set(members[FIELDS]) | set(members[POSTERS])
    issues += [_passed_over(path) for path in unknown if within.isdisjoint(path.parents)]
    units: dict[OtherFormat, list[_Unit]] = {
        FIELDS: [_unit(path, parts, _told_by_name(path)) for path, parts in members[FIELDS].items()],
        POSTERS: [_unit(path, parts, _told_by_files(path, parts)) for path, parts in members[POSTERS].items()],
    }
    return _Seen(boxes, units, issues)


def _content(path: Path) -> bytes:
    """The bytes of a file; none of one that cannot be read, which is then of no known format."""
    try:
        return folder.load(path, limits.MAX_FILE_BYTES)
    except BadInput:
        return b""


def _at_or_above(path: Path) -> tuple[Path, ...]:
    """A file and the folders above it."""
    resolved = path.resolve()
    return resolved, *resolved.parents


def _format_of_path(path: Path) -> OtherFormat | Literal[""]:
    """``fields`` or ``posters`` for a named path that looks like it, else nothing: boxes."""
    files = (file for file in _files([path]) if file.suffix.lower() in _ANNOTATION_SUFFIXES)
    for file in files:
        format_ = format_of(_content(file), file.name)
        if format_ is not None:
            return FIELDS if format_ == FIELDS else POSTERS if format_ == POSTERS else ""
    return ""


def _unit(path: Path, parts: Sequence[tuple[Path, bytes]], told: Iterable[Side]) -> _Unit:
    return _Unit(path, frozenset(told), any(b'"_confidence"' in content for _, content in parts))


def _fields_unit(path: Path, given: set[Path]) -> Path:
    """What is one side of fields: a file of JSON lines, a file that was given by itself, or else the folder."""
    return path if path in given or path.suffix.lower() in fields.LINE_SUFFIXES else path.parent


def _posters_unit(path: Path, paths: Sequence[Path]) -> Path:
    """The folder of the posters that a file belongs to; a folder of one poster lies in it, unless it was given."""
    if path in paths:
        return path
    inside = posters.in_own_folder(path)
    return path.parent.parent if inside and path.parent not in paths else path.parent


def _told_by_name(path: Path) -> Iterator[Side]:
    """Ground truth for one of the usual names of a folder or file."""
    name = path.resolve().stem if path.is_file() else path.resolve().name
    if name.lower().replace("-", "_").replace(" ", "_") in _TRUTH_NAMES:
        yield "ground_truth"


def _told_by_files(path: Path, parts: Sequence[tuple[Path, bytes]]) -> Iterator[Side]:
    """The sides that the names of the files of some posters tell, or else the name of the folder."""
    told = {side for file, _ in parts if (side := posters.side_of(file)) is not None}
    yield from told or _told_by_name(path)


# --- which is which ------------------------------------------------------------------------------------------


def _fields_sides(
    units: Sequence[_Unit], truth: Path | None, named: Sequence[Path], pdfs: Path | None, issues: list[Issue]
) -> Sides:
    """The sides of fields: by name, else the only unit without confidence is the ground truth."""
    truths = [truth] if truth else [unit.path for unit in units if "ground_truth" in unit.told]
    if not truths:
        truths = [unit.path for unit in units if not unit.confident]
        if len(truths) > 1:
            issues.append(_no_truth(truths))
            truths = []
    if len(truths) > 1:
        issues.append(_several(truths))
    others = list(named) or [unit.path for unit in units if unit.path not in truths]
    return _as_sides(truths, others, pdfs)


def _posters_sides(
    units: Sequence[_Unit], truth: Path | None, named: Sequence[Path], pdfs: Path | None, issues: list[Issue]
) -> Sides:
    """The sides of posters: a unit whose names tell nothing is a prediction."""
    truths = [truth] if truth else [unit.path for unit in units if "ground_truth" in unit.told]
    if len(truths) > 1:
        issues.append(_several(truths))
    others = list(named) or [unit.path for unit in units if unit.told != {"ground_truth"} and unit.path != truth]
    return _as_sides(truths, others, pdfs)


_CHOICES: Final = ((FIELDS, _fields_sides), (POSTERS, _posters_sides))


def _as_sides(truths: Sequence[Path], predictions: Sequence[Path], pdfs: Path | None) -> Sides:
    if not truths and not predictions:
        return Sides()
    return Sides(truths[0] if truths else None, tuple(predictions)[:_MODELS_SHOWN], pdfs)


def _sample_sides(root: Path) -> Sides:
    """The sample data of one format; empty without its folder."""
    if not root.is_dir():
        return Sides()
    others = sorted(path for path in root.iterdir() if path.is_dir() and path.name not in ("pdf", "ground_truth"))
    models = [path for path in others if not path.name.startswith((".", "_"))]
    return Sides(root / "ground_truth", tuple(models), root / "pdf")


def _sides_json(sides: Sides | Workspace) -> dict[str, Any]:
    return {
        "ground_truth": str(sides.ground_truth.resolve()) if sides.ground_truth else None,
        "predictions": [str(path.resolve()) for path in sides.predictions],
        "pdfs": str(sides.pdfs.resolve()) if sides.pdfs else None,
    }


def _sides(described: dict[str, Any]) -> Sides:
    truth, pdfs = described.get("ground_truth"), described.get("pdfs")
    predictions = tuple(Path(path) for path in described.get("predictions", ()))
    return Sides(Path(truth) if truth else None, predictions, Path(pdfs) if pdfs else None)


# --- files ---------------------------------------------------------------------------------------------------


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    """Files given or below the folders given, sorted by name in each folder."""
    seen = 0
    for path in paths:
        if path.is_file():
            yield path
            continue
        for here, folders, names in os.walk(path):
            depth = len(Path(here).relative_to(path).parts)
            folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < _FOLDER_DEPTH else []
            for name in sorted(names):
                seen += 1
                if seen > _FOLDER_FILES:
                    return
                yield Path(here) / name


def _folder_of_pdfs(files: Iterable[Path]) -> Path | None:
    """The deepest folder that holds every PDF of the files, or every page image when there is no PDF; None without."""
    by_kind: dict[bool, set[str]] = {True: set(), False: set()}
    for path in files:
        if path.suffix.lower() in (".pdf", *_PAGE_IMAGES):
            by_kind[path.suffix.lower() == ".pdf"].add(str(path.resolve().parent))
    folders = by_kind[True] or by_kind[False]
    return Path(os.path.commonpath(folders)) if folders else None


def _missing(path: Path) -> Issue:
    return Issue(
        severity="error",
        file=path.name or str(path),
        place="",
        rule="the file or folder must exist",
        found="",
        fix="Check the spelling, or give the path from the folder you are in.",
    )


def _passed_over(path: Path) -> Issue:
    return Issue(
        severity="warning",
        file=path.name,
        place="",
        rule="a JSON file must be of a known annotation format",
        found="none that LayoutScope reads",
        fix="The file is left out; run layoutscope check on it to see why.",
    )


def _not_a_truth(path: Path) -> Issue:
    return Issue(
        severity="error",
        file=path.name,
        place="$.info.type",
        rule='a ground truth file must have type "ground_truth" (snapshot 1.3, section 4)',
        found='"prediction"',
        fix="Give a ground truth, or add --as-reference to measure how far the models agree.",
    )


def not_shown(name: str, format_: str, severity: Severity) -> Issue:
    """That a file is of a format which the terminal evaluates and the dashboard does not show yet.

    Returns
    -------
    Issue
    """
    return Issue(
        severity=severity,
        file=name,
        place="",
        rule=f"the dashboard shows files of the formats {', '.join(SHOWN_FORMATS[:-1])} and {SHOWN_FORMATS[-1]}",
        found=format_,
        fix=f"Evaluate it in the terminal: layoutscope evaluate {format_} --gt FILE --pred FILE.",
    )


def _several(truths: Sequence[Path]) -> Issue:
    names = ", ".join(path.name for path in truths)
    return Issue(
        severity="error",
        file=truths[0].name,
        place="",
        rule="one session has one ground truth",
        found=names,
        fix="Name the one you mean with --gt.",
    )


def _no_truth(candidates: Sequence[Path]) -> Issue:
    names = ", ".join(path.name for path in candidates)
    return Issue(
        severity="warning",
        file=candidates[0].name,
        place="",
        rule="files of fields do not say which is the ground truth; its folder or file is called ground_truth",
        found=f"{names}, all without confidence",
        fix="Name the ground truth with --gt; until then all of them are predictions.",
    )
