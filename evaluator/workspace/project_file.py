"""The project file ``layoutscope.toml``: what is open, under which protocol, with which fixes and filters.

Also the list of recent ones. Paths are relative to its folder and never leave it; every other value is text for the
address of the dashboard, which checks it as if the reader had typed it.
"""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Final, get_args

import msgspec

from evaluator.data.dataset import Level
from evaluator.data.fixes import FixError, parse_fix
from evaluator.data.issues import Collector, quote
from evaluator.formats import folder
from evaluator.formats.base import Kind
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.problems import PageProblem
from evaluator.project import MergedFiles, one_input, paths_of
from evaluator.protocols import box_protocols
from evaluator.system.atomic_write import atomic_write
from evaluator.system.decoding import convert
from evaluator.workspace.roles import NO_SIDES, Sides, Workspace

SUFFIX: Final = ".toml"
FILE_NAME: Final = "layoutscope.toml"
_SOURCE: Final = "project file"
_MAX_BYTES: Final = 1 << 20
_WRITE: Final = "Correct it, or save the project again on Files."
# The parser takes the product of the parts of a key and the lines below it: a megabyte of them would take hours.
_STRINGS: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?')
_DEEP_KEY: Final = re.compile(r"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){16}")
KINDS_SAVED: Final[tuple[Kind, ...]] = ("boxes", "fields", "posters")
"""The kinds of files that a project has, in the order of the file."""
_RECENT: Final = "recent-projects.json"
_MOST_RECENT: Final = 8
_MARK: Final = "# A project of LayoutScope: layoutscope open layoutscope.toml"


class ProjectFileError(Exception):
    """Raised for a project that has no place to be saved in; one sentence."""


class _Files(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of the tables ``fields`` and ``posters``, and of boxes at the top."""

    ground_truth: str | list[str] | None = None
    models: list[str | list[str]] = []
    pdfs: str | None = None


class _Project(_Files, frozen=True):
    fields: _Files | None = None
    posters: _Files | None = None
    as_reference: bool = False
    protocol: str | None = None
    level: str | None = None
    fix: list[str] = []
    filters: dict[str, str] = {}


def read(path: Path) -> tuple[Workspace, str]:
    """Return the workspace that a project file opens, and the query of the dashboard's address, or "".

    The query has protocol, level, fixes and filters. BadInput with all issues: no TOML, unknown keys, files that are
    gone or lie outside of the folder of the file.
    """
    collector = Collector(path.name, max_per_rule=None)
    content = folder.load(path, _MAX_BYTES)
    try:
        text = content.decode()
        if _DEEP_KEY.search(_STRINGS.sub("s", text)):
            raise ValueError("a key of many parts")
        held = convert(tomllib.loads(text), _Project)
    except msgspec.ValidationError as error:
        rule = f"the keys are {', '.join(_Project.__struct_fields__)} ({_SOURCE})"
        collector.fail("", rule, quote(str(error)), _WRITE)
    # Of the parser, of a number with thousands of digits, and of lists in lists.
    except (ValueError, RecursionError) as error:
        collector.fail("", "the text must be TOML 1.0", quote(str(error)), _WRITE)
    beside = path.resolve().parent
    root = PdfFolder(beside)

    def inside(name: str, place: str) -> Path:
        try:
            return beside if name == "." else root.path_of(name)
        except PageProblem as problem:
            rule = f"a path must be that of a file or folder beside this one or below ({_SOURCE})"
            fix = "Put it there, or correct the path."
            what = "does not exist" if problem.kind == "missing" else "leads out of the folder"
            collector.error(place, rule, f"{quote(name)}, which {what}", fix)
            return beside

    def side(names: str | list[str], place: str) -> Path | MergedFiles:
        return one_input([inside(name, place) for name in ([names] if isinstance(names, str) else names)])

    def sides(files: _Files, within: str = "") -> Sides:
        truth = side(files.ground_truth, f"{within}ground_truth") if files.ground_truth else None
        models = tuple(side(names, f"{within}models[{at}]") for at, names in enumerate(files.models) if names)
        return Sides(truth, models, None if files.pdfs is None else inside(files.pdfs, f"{within}pdfs"))

    by_kind: dict[Kind, Sides] = {"boxes": sides(held)}
    if held.fields is not None:
        by_kind["fields"] = sides(held.fields, "fields.")
    if held.posters is not None:
        by_kind["posters"] = sides(held.posters, "posters.")
    if held.protocol is not None and held.protocol not in box_protocols():
        rule = f"protocol must be one of {', '.join(box_protocols())} ({_SOURCE})"
        collector.error("protocol", rule, quote(held.protocol), "Correct it, or leave it out.")
    if held.level is not None and held.level not in get_args(Level):
        rule = f"level must be one of {', '.join(get_args(Level))} ({_SOURCE})"
        collector.error("level", rule, quote(held.level), "Correct it, or leave it out.")
    for at, text in enumerate(held.fix):
        try:
            parse_fix(text)
        except FixError as problem:
            collector.error(f"fix[{at}]", f"{problem} ({_SOURCE})", quote(text), "Correct it, or leave it out.")
    collector.raise_if_failed()
    parts = dict(held.filters)
    if held.protocol is not None:
        parts["protocol"] = held.protocol
    if held.level is not None:
        parts["level"] = held.level
    if held.fix:
        parts["fix"] = ";".join(text.replace("%", "%25").replace(";", "%3B") for text in held.fix)
    return Workspace(by_kind, held.as_reference), urllib.parse.urlencode(parts)


def save(by_kind: Mapping[Kind, Sides], parts: Mapping[str, str], *, as_reference: bool = False) -> Path:
    """Write the project file beside the ground truth of boxes, else fields, else posters; return its path.

    ProjectFileError, besides those of `content`: another file has that name, or it cannot be written.
    """
    path = _root(by_kind) / FILE_NAME
    saved = content(by_kind, parts, as_reference=as_reference).encode()
    try:
        if path.exists() and not path.read_bytes().startswith(_MARK.encode()):
            raise ProjectFileError(f"There is a {FILE_NAME} that was not saved here; rename it first.")
        atomic_write(path, [saved])
    except OSError as problem:
        raise ProjectFileError(f"{FILE_NAME} cannot be written: {problem.strerror}.") from problem
    return path


def _root(by_kind: Mapping[Kind, Sides]) -> Path:
    """Return the folder of a project: that of the first ground truth."""
    truths = (by_kind[kind].ground_truth for kind in KINDS_SAVED if kind in by_kind)
    return next(paths_of(truth)[0] for truth in truths if truth is not None).resolve().parent


def content(by_kind: Mapping[Kind, Sides], parts: Mapping[str, str], *, as_reference: bool = False) -> str:
    """Return what the project file of some files has.

    One of `by_kind` must have a ground truth; `parts` are those of the dashboard's address. ProjectFileError: a file
    lies outside of the folder of the ground truth.
    """
    root = _root(by_kind)

    def relative(side: Path | MergedFiles) -> str | list[str]:
        return one_relative(side) if isinstance(side, Path) else [one_relative(path) for path in side.parts]

    def one_relative(path: Path) -> str:
        if not path.resolve().is_relative_to(root):
            raise ProjectFileError(
                f"{path.name} lies outside of {root.name}, the folder of the ground truth; move it there."
            )
        return path.resolve().relative_to(root).as_posix()

    fixes = [urllib.parse.unquote(text) for text in parts.get("fix", "").split(";") if text]

    def files(sides: Sides) -> dict[str, object]:
        return {
            "ground_truth": None if sides.ground_truth is None else relative(sides.ground_truth),
            "models": [relative(path) for path in sides.predictions] or None,
            "pdfs": None if sides.pdfs is None else relative(sides.pdfs),
        }

    values: dict[str, object] = {
        **files(by_kind.get("boxes", NO_SIDES)),
        "as_reference": as_reference or None,
        "protocol": parts.get("protocol"),
        "level": parts.get("level"),
        "fix": fixes or None,
    }
    filters = {name: text for name, text in parts.items() if name not in ("protocol", "level", "fix")}
    lines = [_MARK, *_lines(values)]
    for kind in KINDS_SAVED[1:]:
        if by_kind.get(kind):
            lines += ["", f"[{kind}]", *_lines(files(by_kind[kind]))]
    if filters:
        lines += ["", "[filters]", *(f"{_toml(key)} = {_toml(text)}" for key, text in filters.items())]
    return "\n".join([*lines, ""])


def _lines(values: Mapping[str, object]) -> list[str]:
    return [f"{key} = {_toml(value)}" for key, value in values.items() if value is not None]


# --- recent projects ---------------------------------------------------------------------------------------------


def remember(path: Path, state: Path) -> None:
    """Note a project file that the user opened in the folder `state`, if that can be made and written."""
    kept = [str(each) for each in (path.resolve(), *recent(state))]
    with contextlib.suppress(OSError):
        state.mkdir(parents=True, exist_ok=True)
        atomic_write(state / _RECENT, [json.dumps(list(dict.fromkeys(kept))[:_MOST_RECENT]).encode()])


def recent(state: Path) -> list[Path]:
    """Return the project files that the user opened, the last one first, whether they still exist or not."""
    try:
        paths = msgspec.json.decode((state / _RECENT).read_bytes(), type=list[str])
    except (OSError, msgspec.DecodeError):
        return []
    return [Path(path) for path in paths if path.endswith(SUFFIX)][:_MOST_RECENT]


def _toml(value: object) -> str:
    """Return a value as TOML 1.0: its basic strings are those of JSON, but for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
