"""The project file ``layoutscope.toml``: what is open, under which protocol, with which fixes and filters.

Owns `read`, `save`, the keys of the file, and the list of recent ones. Its paths are relative to its folder and never
leave it; every other value is text for the address of the dashboard, which checks it as if the reader had typed it.
"""

from __future__ import annotations

import contextlib
import json
import tomllib
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from evaluator.doctor.fixes import FixError, fix_of
from evaluator.formats import folder
from evaluator.model.issues import BadInput, Collector, quote
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.problems import PageProblem
from evaluator.protocols import box_protocols
from evaluator.system.whole_file import write_whole
from evaluator.workspace import Sides, Workspace

SUFFIX: Final = ".toml"
FILE_NAME: Final = "layoutscope.toml"
_SOURCE: Final = "project file"
_MAX_BYTES: Final = 1 << 20
_WRITE: Final = "Correct it, or save the project again on Files."
_RECENT: Final = "recent-projects.json"
_MOST_RECENT: Final = 8
_MARK: Final = "# A project of LayoutScope: layoutscope open layoutscope.toml"


class CannotSave(Exception):
    """Raised for a project that has no place to be saved in; one sentence."""


class _Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of the file."""

    ground_truth: str | None = None
    models: list[str] = []
    pdfs: str | None = None
    as_reference: bool = False
    protocol: str | None = None
    fix: list[str] = []
    filters: dict[str, str] = {}


def read(path: Path) -> tuple[Workspace, str]:
    """What a project file opens.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Workspace
        Its files of boxes.
    str
        The query of the dashboard's address with protocol, fixes and filters; empty when it says none.

    Raises
    ------
    BadInput
        With all issues: no TOML, unknown keys, files that are gone or lie outside of the folder of the file.
    """
    collector = Collector(path.name, max_per_rule=None)
    content = folder.load(path, _MAX_BYTES)
    try:
        held = msgspec.convert(tomllib.loads(content.decode()), _Project)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        collector.error("", "the text must be TOML 1.0", quote(str(error)), _WRITE)
        raise BadInput(collector.issues()) from None
    except msgspec.ValidationError as error:
        rule = f"the keys are {', '.join(_Project.__struct_fields__)} ({_SOURCE})"
        collector.error("", rule, quote(str(error)), _WRITE)
        raise BadInput(collector.issues()) from None
    root = PdfFolder(path.resolve().parent)

    def inside(name: str, place: str) -> Path:
        try:
            return root.root if name == "." else root.path_of(name)
        except PageProblem as problem:
            rule = f"a path must be that of a file or folder beside this one or below ({_SOURCE})"
            fix = "Put it there, or correct the path."
            what = "does not exist" if problem.kind == "missing" else "leads out of the folder"
            collector.error(place, rule, f"{quote(name)}, which {what}", fix)
            return root.root

    truth = None if held.ground_truth is None else inside(held.ground_truth, "ground_truth")
    models = tuple(inside(name, f"models[{at}]") for at, name in enumerate(held.models))
    pdfs = None if held.pdfs is None else inside(held.pdfs, "pdfs")
    if held.protocol is not None and held.protocol not in box_protocols():
        rule = f"protocol must be one of {', '.join(box_protocols())} ({_SOURCE})"
        collector.error("protocol", rule, quote(held.protocol), "Correct it, or leave it out.")
    for at, text in enumerate(held.fix):
        try:
            fix_of(text)
        except FixError as problem:
            collector.error(f"fix[{at}]", f"{problem} ({_SOURCE})", quote(text), "Correct it, or leave it out.")
    if collector.failed:
        raise BadInput(collector.issues())
    parts = dict(held.filters)
    if held.protocol is not None:
        parts["protocol"] = held.protocol
    if held.fix:
        parts["fix"] = ";".join(text.replace("%", "%25").replace(";", "%3B") for text in held.fix)
    workspace = Workspace({"boxes": Sides(truth, models, pdfs)}, held.as_reference)
    return workspace, urllib.parse.urlencode(parts)


def save(sides: Sides, parts: Mapping[str, str], *, as_reference: bool = False) -> Path:
    """Write the project file beside the ground truth.

    Parameters
    ----------
    sides : Sides
        Files of boxes, with a ground truth.
    parts : mapping of str
        The parts of the dashboard's address by name.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    CannotSave
        A file lies outside of the folder of the ground truth, another file has that name, or it cannot be written.
    """
    assert sides.ground_truth is not None
    root = sides.ground_truth.resolve().parent

    def relative(path: Path) -> str:
        if not path.resolve().is_relative_to(root):
            raise CannotSave(f"{path.name} lies outside of {root.name}, the folder of the ground truth; move it there.")
        return path.resolve().relative_to(root).as_posix()

    fixes = [urllib.parse.unquote(text) for text in parts.get("fix", "").split(";") if text]
    values: dict[str, Any] = {
        "ground_truth": relative(sides.ground_truth),
        "models": [relative(path) for path in sides.predictions],
        "pdfs": None if sides.pdfs is None else relative(sides.pdfs),
        "as_reference": as_reference or None,
        "protocol": parts.get("protocol"),
        "fix": fixes or None,
    }
    filters = {name: text for name, text in parts.items() if name not in ("protocol", "fix")}
    lines = [_MARK, *(f"{key} = {_toml(value)}" for key, value in values.items() if value is not None)]
    if filters:
        lines += ["", "[filters]", *(f"{_toml(key)} = {_toml(text)}" for key, text in filters.items())]
    path = root / FILE_NAME
    try:
        if path.exists() and not path.read_bytes().startswith(_MARK.encode()):
            raise CannotSave(f"There is a {FILE_NAME} that was not saved here; rename it first.")
        write_whole(path, ["\n".join([*lines, ""]).encode()])
    except OSError as problem:
        raise CannotSave(f"{FILE_NAME} cannot be written: {problem.strerror}.") from problem
    return path


# --- recent projects ---------------------------------------------------------------------------------------------


def remember(path: Path, state: Path) -> None:
    """Note a project file that the user opened, in the user's state folder; where that cannot be written it is not.

    Parameters
    ----------
    state : Path
        Made when it does not exist.
    """
    kept = [str(each) for each in (path.resolve(), *recent(state))]
    with contextlib.suppress(OSError):
        state.mkdir(parents=True, exist_ok=True)
        write_whole(state / _RECENT, [json.dumps(list(dict.fromkeys(kept))[:_MOST_RECENT]).encode()])


def recent(state: Path) -> list[Path]:
    """The project files that the user opened, the last one first, whether they are still there or not."""
    try:
        paths = msgspec.json.decode((state / _RECENT).read_bytes(), type=list[str])
    except (OSError, msgspec.DecodeError):
        return []
    return [Path(path) for path in paths if path.endswith(SUFFIX)][:_MOST_RECENT]


def _toml(value: Any) -> str:  # noqa: ANN401 - text, a switch, or a list of texts
    """A value as TOML 1.0: its basic strings are those of JSON, but for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
