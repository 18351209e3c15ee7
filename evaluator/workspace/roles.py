"""What is open: the ground truth, the predictions and the PDF folder behind a command or a folder, for each kind.

Owns which of the units that ``formats.search`` recognises is which side: names given by the user precede what files
state, and that the names of folders. Paths come from the command line or the uploader, never from an annotation file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from evaluator import formats
from evaluator.data.issues import BadInput, Issue, Severity, examples, has_errors, plain
from evaluator.formats import folder, limits, search, unsupported
from evaluator.formats.base import KINDS, FileGroup, Kind
from evaluator.formats.search import Search
from evaluator.pdf import parquet_pictures
from evaluator.pdf.folder import IMAGE_SUFFIXES
from evaluator.project import MergedFiles, one_input, paths_of
from evaluator.system.decoding import convert

_MODELS_SHOWN: Final = 26
# The environment of a process holds so many notes at most; the terminal has them all.
_NOTES_KEPT: Final = 100
_NAMES_KEPT: Final = 500


@dataclass(frozen=True, slots=True)
class Sides:
    """The files of one kind: boxes, extracted fields, or posters.

    One folder can be both sides of posters; documents are looked up by name under `pdfs`. `truths`: several that may be
    the ground truth, of which nobody has chosen.
    """

    ground_truth: Path | MergedFiles | None = None
    predictions: tuple[Path | MergedFiles, ...] = ()
    pdfs: Path | None = None
    truths: tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return self.ground_truth is not None or bool(self.predictions) or bool(self.truths)


NO_SIDES: Final = Sides()


@dataclass(frozen=True, slots=True)
class Workspace:
    """The files of one session, by kind; a kind without files may be missing.

    `as_reference`: the ground truth is a prediction file because somebody asked for it. `issues`: what was left out,
    and why. `others`: a note on files that are neither annotations nor pages; `passed_over`: their names.
    """

    sides: Mapping[Kind, Sides] = field(default_factory=dict)
    as_reference: bool = False
    issues: tuple[Issue, ...] = ()
    others: tuple[Issue, ...] = ()
    passed_over: tuple[str, ...] = ()

    def of(self, kind: Kind) -> Sides:
        """Return the files of a kind; none when there are none."""
        return self.sides.get(kind, NO_SIDES)

    def to_json(self) -> str:
        """Return the paths, absolute, and what was left out, for another process."""
        sides = {kind: _sides_json(sides) for kind, sides in self.sides.items()}
        notes = {"issues": self.issues[:_NOTES_KEPT], "others": self.others}
        plain_notes = {
            name: [msgspec.structs.replace(issue, file=plain(issue.file)) for issue in of] for name, of in notes.items()
        }
        names = [plain(name) for name in self.passed_over]
        values = {"sides": sides, "as_reference": self.as_reference, **plain_notes, "passed_over": names}
        return msgspec.json.encode(values).decode()


def from_json(text: str) -> Workspace:
    """Return the workspace of `Workspace.to_json`."""
    described = msgspec.json.decode(text.encode())
    sides = {kind: _sides(described["sides"][kind]) for kind in KINDS if kind in described["sides"]}
    issues, others = (convert(described.get(name, []), tuple[Issue, ...]) for name in ("issues", "others"))
    passed_over = tuple(map(str, described.get("passed_over", [])))
    return Workspace(sides, bool(described["as_reference"]), issues, others, passed_over)


def sample(root: Path) -> Workspace:
    """Return the bundled sample data below its folder.

    ``fields`` and ``posters`` have the folders ``pdf``, ``ground_truth`` and one for each model, in the order of names.
    """
    boxes = Sides(root / "ground_truth.json", (root / "lines.json", root / "blocks.json"), root / "pdf")
    others = {kind: _sample_sides(root / kind) for kind in KINDS if kind != "boxes"}
    return Workspace({"boxes": boxes, **{kind: sides for kind, sides in others.items() if sides}})


def sample_reading(root: Path, pdfs: Path) -> Workspace:
    """Return the bundled sample data with order, text and tables, below their folder."""
    models = root / "lines.jsonl", root / "blocks.jsonl"
    return Workspace({"boxes": Sides(root / "ground_truth.jsonl", models, pdfs)})


def find(
    paths: Sequence[Path] = (),
    *,
    ground_truth: Sequence[Path] = (),
    predictions: Sequence[Path] = (),
    pdfs: Path | None = None,
    as_reference: bool = False,
) -> Workspace:
    """Return the workspace behind folders and files, roles recognised from content.

    Folders are searched four levels deep without hidden ones; what is named is not guessed. `as_reference` allows a
    prediction as `ground_truth`; several are merged. BadInput: a path does not exist.

    Files of boxes state their side. Documents of fields are in one folder or one file of JSON lines per side: one
    called ground truth, truth, gt or reference is the ground truth, else the only one without confidence. A folder of
    posters can hold both sides, distinguished by the names of the files.
    """
    named = [*ground_truth, *predictions]
    _need_existing([*paths, *named, *([pdfs] if pdfs else [])])
    files = list(search.walk(paths))
    taken = {path.resolve() for path in named}
    left = [file for file in files if taken.isdisjoint((file.resolve(), *file.resolve().parents))]
    gathered = _without_notes(search.file_groups(left, paths), named)
    # Boxes where no format recognises it: their reader says why.
    format_of = {path: search.format_at(path) for path in named}
    kind_of = {path: format_.kind if format_ else "boxes" for path, format_ in format_of.items()}
    pdf_folder = pdfs or _folder_of_pdfs([*files, *(path for path in named if path.is_file())])
    unread = [path for path in left if path.suffix.lower() in unsupported.SUFFIXES and _is_known(path)]
    issues = [*map(_left_out, (*gathered.unknown, *unread)), *map(_beside, gathered.beside)]
    if not as_reference:
        # What other formats refuse as a ground truth their readers say; the output of a model may be one.
        of_schema = [each for each in ground_truth if each.is_file() and format_of[each] is formats.FORMATS["snapshot"]]
        issues += [_not_a_truth(each) for each in of_schema if formats.side_of(each) == "prediction"]
    sides: dict[Kind, Sides] = {}
    for kind in KINDS:
        units = [unit for unit in gathered.groups if formats.FORMATS[unit.format].kind == kind]
        truths = [path for path in ground_truth if kind_of[path] == kind]
        chosen = _chosen(units, truths, [path for path in predictions if kind_of[path] == kind], issues)
        issues += [_too_many(path) for path in chosen.predictions[_MODELS_SHOWN:]]
        chosen = replace(chosen, predictions=chosen.predictions[:_MODELS_SHOWN])
        if chosen or (kind == "boxes" and pdf_folder):
            sides[kind] = replace(chosen, pdfs=pdf_folder)
    if has_errors(issues):
        raise BadInput(issues)
    inside = {group.path for group in gathered.groups if not formats.FORMATS[group.format].suffixes}
    beside = [path for path in left if path not in unread and path.parent not in inside]
    passed_over = _passed_over(beside, gathered.others)
    names = tuple(path.name for path in passed_over[:_NAMES_KEPT])
    return Workspace(sides, as_reference, tuple(issues), tuple(_others_left_out(passed_over)), names)


def _without_notes(gathered: Search, named: Sequence[Path]) -> Search:
    """Leave folders of Markdown out where nothing else of these files can be compared with them."""
    truths = {group.format for group in gathered.groups if "ground_truth" in group.sides}
    known = truths | {row.name for path in named if (row := search.format_at(path)) is not None}
    if known & {"omnidocbench", "markdown"}:
        return gathered
    return gathered._replace(groups=[group for group in gathered.groups if group.format != "markdown"])


# --- which is which ------------------------------------------------------------------------------------------


def _chosen(
    units: Sequence[FileGroup], named_truths: Sequence[Path], named: Sequence[Path], issues: list[Issue]
) -> Sides:
    truths = [*named_truths] or [unit.path for unit in units if "ground_truth" in unit.sides]
    if not truths:
        truths = [unit.path for unit in units if unit.unscored]
        if len(truths) > 1:
            issues.append(_no_truth(truths))
            truths = []
    others = list(named) or [
        unit.path
        for unit in units
        if unit.sides != {"ground_truth"}
        and unit.path not in named_truths
        and not (unit.unscored and unit.path in truths)
    ]
    if len(truths) > 1 and not named_truths:
        return Sides(None, tuple(others), truths=tuple(truths))
    return Sides(one_input(truths) if truths else None, tuple(others))


def _sample_sides(root: Path) -> Sides:
    if not root.is_dir():
        return NO_SIDES
    others = sorted(path for path in root.iterdir() if path.is_dir() and path.name not in ("pdf", "ground_truth"))
    models = [path for path in others if not path.name.startswith((".", "_"))]
    return Sides(root / "ground_truth", tuple(models), root / "pdf")


def _sides_json(sides: Sides) -> dict[str, object]:
    return {
        "ground_truth": sides.ground_truth and _text(sides.ground_truth),
        "predictions": [_text(each) for each in sides.predictions],
        "pdfs": str(sides.pdfs.resolve()) if sides.pdfs else None,
        "truths": [str(path.resolve()) for path in sides.truths],
    }


def _sides(described: dict[str, Any]) -> Sides:
    truth, pdfs = described["ground_truth"], described["pdfs"]
    models, truths = tuple(map(_side, described["predictions"])), tuple(map(Path, described.get("truths", ())))
    return Sides(_side(truth) if truth else None, models, Path(pdfs) if pdfs else None, truths)


def _text(side: Path | MergedFiles) -> str | list[str]:
    return str(side.resolve()) if isinstance(side, Path) else [str(path.resolve()) for path in side.parts]


def _side(text: str | list[str]) -> Path | MergedFiles:
    return Path(text) if isinstance(text, str) else one_input([*map(Path, text)])


def _folder_of_pdfs(files: Iterable[Path]) -> Path | None:
    by_kind: dict[bool, set[str]] = {True: set(), False: set()}
    for path in files:
        if path.suffix.lower() in (".pdf", *IMAGE_SUFFIXES):
            by_kind[path.suffix.lower() == ".pdf"].add(str(path.resolve().parent))
        elif parquet_pictures.has_pictures(path):
            by_kind[False].add(str(path.resolve()))
    folders = by_kind[True] or by_kind[False]
    return Path(os.path.commonpath(folders)) if folders else None


# --- issues --------------------------------------------------------------------------------------------------


def _need_existing(paths: Iterable[Path]) -> None:
    missing = [path for path in paths if not path.exists()]
    if missing:
        rule, fix = "the file or folder must exist", "Check the spelling, or give the path from the folder you are in."
        raise BadInput(_issue("error", path, rule, "", fix, name=path.name or str(path)) for path in missing)


def _left_out(path: Path) -> Issue:
    try:
        format_ = formats.detect_bytes(folder.load(path, limits.MAX_FILE_BYTES), path.name)
    except BadInput as problem:
        first = problem.issues[0]
        return msgspec.structs.replace(first, severity="warning", file=path.name, fix=f"Left out. {first.fix}")
    return _issue(
        "warning",
        path,
        "a file must state whether it is ground truth or prediction",
        formats.FORMATS[format_].title,
        "Left out. Name it with --gt or --pred.",
    )


def _beside(path: Path) -> Issue:
    """Return a file below a folder that is read as one side, which its reader passes over."""
    rule = "of a folder that is read as one side the files of one format in it are read"
    fix = "Left out. Move it to a folder of its own, or name it with --gt or --pred."
    return _issue("warning", path, rule, f"{path.name} in {path.parent.name}", fix)


def _too_many(model: Path | MergedFiles) -> Issue:
    rule = f"at most {_MODELS_SHOWN} predictions are opened at a time"
    return _issue("warning", paths_of(model)[0], rule, "", "Left out. Name those that you want with --pred.")


def _is_known(path: Path) -> bool:
    try:
        return unsupported.find(folder.load(path, limits.MAX_FILE_BYTES)[: formats.HEAD_BYTES]) is not None
    except BadInput:
        return False


def _passed_over(files: Sequence[Path], unknown: Sequence[Path]) -> list[Path]:
    readable = {*formats.suffixes(), ".pdf", *IMAGE_SUFFIXES, ".sqlite", ".toml", ".zip"}
    unlike = [path for path in files if path.suffix.lower() not in readable]
    others = (path for path in (*unknown, *unlike) if not path.name.startswith("."))
    return [path for path in others if not parquet_pictures.has_pictures(path)]


def _others_left_out(others: Sequence[Path]) -> list[Issue]:
    if not others:
        return []
    rule, fix = "other files are left out", "Nothing to do if they hold no annotations."
    return [_issue("warning", others[0], rule, examples([path.name for path in others]), fix)]


def _not_a_truth(path: Path) -> Issue:
    return _issue(
        "error",
        path,
        'a ground truth file must have type "ground_truth" (snapshot 1.3, section 4)',
        '"prediction"',
        "Give a ground truth, or add --as-reference to measure how far the models agree.",
        place="$.info.type",
    )


def _no_truth(candidates: Sequence[Path]) -> Issue:
    names = ", ".join(path.name for path in candidates)
    return _issue(
        "warning",
        candidates[0],
        "files of fields do not state which is the ground truth; its folder or file is called ground_truth",
        f"{names}, all without confidence",
        "Name the ground truth with --gt; until then all of them are predictions.",
    )


def _issue(
    severity: Severity, path: Path, rule: str, found: str, fix: str, *, place: str = "", name: str = ""
) -> Issue:
    return Issue(severity=severity, file=name or path.name, place=place, rule=rule, found=found, fix=fix)
