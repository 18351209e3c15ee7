"""The one way in: paths, uploads or bytes become a project, and a project becomes results.

Owns `Project` and the order of a run: read both sides, rename labels, check the pair, evaluate. Knows no format and no
protocol by name, computes no number and formats nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from evaluator import formats
from evaluator.data.dataset import Annotations, Dataset, Side, join, map_labels
from evaluator.data.fixes import Fix, fixes_for, refuse_label
from evaluator.data.issues import BadInput, FixableMismatch, Issue, has_errors, refuse
from evaluator.data.page_sizes import measured_issues, with_sizes
from evaluator.formats.base import Kind, Reading
from evaluator.formats.corpus import is_corpus, side_at
from evaluator.formats.folder import files_below, head, is_folder
from evaluator.pdf.folder import Folders, PdfFolder
from evaluator.protocols import PROTOCOLS, AnyProtocol
from evaluator.protocols.base import (
    SUSPECT_F1,
    BoxOptions,
    Count,
    Evaluation,
    Options,
    Say,
    Source,
    SourceT,
    Thresholds,
)
from evaluator.system.engine import Engine
from evaluator.system.memory import release_freed_memory
from evaluator.system.threads import thread_pool

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from evaluator.analysis.costs import ModelCosts
    from evaluator.system.parts import Parts

_READ_AHEAD_BYTES: Final = 64 << 20
# What of a file shows its kind, and at how many files is looked.
_BEGINNING: Final = 1 << 16
_MOST_BEGINNINGS: Final = 500
# Bytes of predictions to a byte of ground truth.
_MOST_PREDICTIONS: Final = 3


class Upload(NamedTuple):
    """Files whose names and bytes are at hand; several are read as a folder, in the named format.

    `columns` says which column of a table holds what; see `Reading`.
    """

    name: str
    files: tuple[tuple[str, bytes], ...]
    format: str | None = None
    columns: str = ""


class MergedFiles(NamedTuple):
    """Files of boxes of one side that are read as one; no document is in two of them."""

    parts: tuple[Path, ...]

    @property
    def name(self) -> str:
        """Return how many files they are, and the name of the first."""
        return several_name([part.name for part in self.parts])


def several_name(names: Sequence[str]) -> str:
    """Return the name of several files that are one side.

    >>> several_name(["a.xml", "b.xml"])
    '2 files, a.xml first'
    """
    return f"{len(names)} files, {names[0]} first"


def one_input(paths: Sequence[Path]) -> Path | MergedFiles:
    """Return the paths of one side, at least one, as what is read."""
    return paths[0] if len(paths) == 1 else MergedFiles(tuple(paths))


def paths_of(side: Origin | None) -> tuple[Path, ...]:
    """Return the files and folders of this machine behind one side; none of an upload."""
    if isinstance(side, MergedFiles):
        return side.parts
    return (side,) if isinstance(side, Path) else ()


Input = Path | str | Upload | MergedFiles
"""A file or folder of this machine, several of them that are read as one, or uploaded bytes."""
Origin = Path | Upload | MergedFiles
"""Where a side was read from."""


class OptionError(ValueError):
    """Raised for an option that the protocol does not have, or a value that it refuses; one sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Member(Generic[SourceT]):
    """One side of a project: a file, a folder or an upload, readable or not.

    Attributes
    ----------
    name : str
        Of the file or folder, with the folders above it where models have the same one.
    source : Annotations, FieldDocuments, Posters or None
        None when it has errors.
    issues : tuple of Issue
        Of this file alone.
    origin : Path, MergedFiles or Upload
        Where to read it again under another role.
    """

    name: str
    side: Side
    source: SourceT | None
    issues: tuple[Issue, ...]
    origin: Origin


@dataclass(frozen=True, slots=True, eq=False)
class Project(Generic[SourceT]):
    """A ground truth and its models, in the order given, as far as they can be read.

    Attributes
    ----------
    pdfs : Path, tuple of Path, or None
        Where documents are looked up; see `PdfFolder`.
    as_reference : bool
        The ground truth is a prediction, used as reference on purpose.
    """

    ground_truth: Member[SourceT] | None
    models: tuple[Member[SourceT], ...]
    pdfs: Folders | None = None
    as_reference: bool = False

    @property
    def truth(self) -> SourceT | None:
        """Return what the ground truth holds; None without one, and when it has errors."""
        return self.ground_truth.source if self.ground_truth else None

    @property
    def members(self) -> tuple[Member[SourceT], ...]:
        """Both sides, the ground truth first."""
        return (*((self.ground_truth,) if self.ground_truth else ()), *self.models)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Return everything that is odd about the files, each once; those of pairs come with a protocol."""
        return tuple(dict.fromkeys(issue for member in self.members for issue in member.issues))

    def required(self) -> tuple[SourceT, list[SourceT]]:
        """Return the ground truth and the models; BadInput with the issues of all files when one has an error."""
        if has_errors(self.issues):
            raise BadInput(self.issues)
        assert self.ground_truth is not None
        assert self.ground_truth.source is not None
        return self.ground_truth.source, [member.source for member in self.models if member.source is not None]


AnyMember = Member[Any]
AnyProject = Project[Any]


class Joined(NamedTuple):
    """All models of a project joined with its ground truth, and the issues of all files and pairs."""

    dataset: Dataset
    issues: tuple[Issue, ...]


# --- options ---------------------------------------------------------------------------------------------------


def protocol_named(protocol: str) -> AnyProtocol:
    """Return the protocol of a name; OptionError when there is none."""
    if protocol not in PROTOCOLS:
        raise OptionError(f"protocol must be one of {', '.join(PROTOCOLS)}; found {protocol}")
    return PROTOCOLS[protocol]


def options_of(protocol: AnyProtocol, **chosen: object) -> Options:
    """Return the options of a protocol with some of them chosen; None leaves the protocol's own.

    Raises
    ------
    OptionError
        For an option that the protocol does not have, and for a value that it cannot have.
    """
    every = Options.__struct_fields__
    fields = (*(name for name in protocol.options.__struct_fields__ if name not in every), *every)
    values = {name: value for name, value in chosen.items() if value is not None}
    for name in values:
        if name not in fields:
            raise OptionError(
                f"{spelled(name)} is not an option of {protocol.name}, which has {', '.join(map(spelled, fields))}"
            )
    hints = get_type_hints(protocol.options, include_extras=True)
    for name, value in values.items():
        _need_value(name, value, hints[name])
    options: Options = protocol.options(**values)
    return options


def _need_value(name: str, value: object, hint: object) -> None:
    if get_origin(hint) is not Annotated:
        return
    kind, *metas = get_args(hint)
    bounds = next((meta for meta in metas if meta.ge is not None or meta.le is not None), None)
    if kind == int | bool:
        if isinstance(value, float):
            raise OptionError(f"{spelled(name)} must be a whole number; found {value}")
        if isinstance(value, bool):
            return
    # A comparison with NaN is never true.
    if bounds is not None and not (
        _is_number(value) and (bounds.ge is None or value >= bounds.ge) and (bounds.le is None or value <= bounds.le)
    ):
        where = f"from {bounds.ge:g} to {bounds.le:g}" if bounds.le is not None else f"of {bounds.ge:g} or more"
        raise OptionError(f"{spelled(name)} must be a number {where}; found {value}")
    # Of a Literal and None `|` makes the union of typing.
    several = get_args(kind) if get_origin(kind) in (UnionType, Union) else (kind,)
    kinds = [each for each in several if each is not NoneType]
    if get_origin(kinds[0]) is Literal and value not in get_args(kinds[0]):
        raise OptionError(f"{spelled(name)} must be one of {', '.join(get_args(kinds[0]))}; found {value}")
    if len(kinds) > 1 or get_args(kinds[0])[1:] != (...,):
        return
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise OptionError(f"{spelled(name)} takes several values, as a list or tuple; found {value}")
    if hint == Thresholds and not all(_is_number(each) and 0.0 < each <= 1.0 for each in value):
        raise OptionError(f"{spelled(name)} must have numbers above 0, up to 1; found {list(value)}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def spelled(option: str) -> str:
    """Return an option as it is written on the command line."""
    return "--" + option.replace("_", "-")


# --- reading ---------------------------------------------------------------------------------------------------


def model_names(predictions: Sequence[Input]) -> tuple[str, ...]:
    """Return the name of each model: that of its file, or the shortest end of its path that is its own.

    Uploads keep their names, and so does a file that is given twice. OptionError for one file in place of several.

    >>> model_names(["a/pred.json", "b/pred.json", "b/lines.json"])
    ('a/pred.json', 'b/pred.json', 'lines.json')
    """
    if isinstance(predictions, str | Path | Upload | MergedFiles):
        raise OptionError(f"predictions must be a list of files; found {_name(predictions)}")
    # Links are not followed: what was typed is shown.
    own = [None if isinstance(each, Upload) else _first(each) for each in predictions]
    parts = [() if each is None else Path(os.path.abspath(each)).parts for each in own]
    names = []
    for origin, ends in zip(predictions, parts, strict=True):
        shared = max((_shared_end(ends, each) for each in parts if each != ends), default=0)
        one = shared and not isinstance(origin, MergedFiles)
        names.append(Path(*ends[-shared - 1 :]).as_posix() if one else _name(origin))
    return tuple(names)


def _shared_end(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        count += 1
    return count


def read_content(origin: Origin, reading: Reading, kind: Kind) -> Source:
    """Return what the files of one side hold; `BadInput` with all issues of all files."""
    if isinstance(origin, MergedFiles):
        if kind != "boxes":
            rule, fix = "several files are merged for boxes only", "Give one file or folder with --gt."
            refuse(origin.parts[0].name, "", rule, f"files of {kind}", fix)
        asked = msgspec.structs.asdict(reading)
        return merged(origin, lambda part: formats.read(part, **asked))
    if isinstance(origin, Upload) and origin.format and reading.format is None:
        reading = msgspec.structs.replace(reading, format=origin.format)
    if isinstance(origin, Upload) and origin.columns and not reading.columns:
        reading = msgspec.structs.replace(reading, columns=origin.columns)
    if kind == "boxes":
        asked = msgspec.structs.asdict(reading)
        if isinstance(origin, Path):
            return formats.read(origin, **asked)
        if len(origin.files) == 1:
            name, content = origin.files[0]
            return formats.read_bytes(content, name, **asked)
        named = reading.format or next(iter(formats.of_kind(kind)))
        return formats.read_files(origin.files, origin.name, named, reading)
    if reading.format is None:
        formats.need_kind(_beginnings(origin), kind)
    row = formats.FORMATS[reading.format] if reading.format else next(iter(formats.of_kind(kind).values()))
    if isinstance(origin, Path):
        source: Source = row.read_path(origin, reading)
    else:
        source = row.read_files(origin.files, origin.name, reading)
    return source


def merged(origin: MergedFiles, read: Callable[[Path], Annotations]) -> Annotations:
    """Return the files of one side as one, each by `read`; BadInput when a document is in two of them."""
    parts: list[Annotations] = []
    issues: list[Issue] = []
    for path, name in zip(origin.parts, model_names(origin.parts), strict=True):
        try:
            part = read(path)
            parts.append(part if "/" not in name else replace(part, name=name))
        except BadInput as problem:
            issues += problem.issues
    if issues:
        raise BadInput(issues)
    return formats.merged(origin.name, parts)


def _beginnings(origin: Path | Upload) -> Iterator[tuple[str, bytes]]:
    """Names and beginnings of files of JSON: of one, or of those of a folder and of the folders in it."""
    if isinstance(origin, Upload):
        yield from ((name, content[:_BEGINNING]) for name, content in origin.files)
        return
    for file in files_below(origin, 1, _MOST_BEGINNINGS) if is_folder(origin) else [origin]:
        if file == origin or file.suffix.lower() in (".json", ".jsonl", ".ndjson"):
            yield file.name, head(file, _BEGINNING)


def open_project(
    protocol: AnyProtocol,
    ground_truth: Input,
    predictions: Sequence[Input],
    options: Options,
    say: Say = lambda _text: None,
    *,
    names: Sequence[str] = (),
) -> Project[Source]:
    """Return the project of some files, read as a protocol needs them; unreadable ones have their issues.

    Parameters
    ----------
    options : Options
        Of the protocol; states how the files are read and which labels are renamed.
    say : callable
        Called with a few words about what is being read.
    names : sequence of str
        Those of the models; `model_names` when empty.

    Raises
    ------
    BadInput
        A label that gets another name is in none of the files.
    """
    if any(fix.kind == "swap-sides" for fix in options.fix):
        if len(predictions) != 1:
            raise OptionError("--fix swap-sides takes one prediction")
        ground_truth, predictions = predictions[0], [ground_truth]
        names = ()
    names = names or model_names(predictions)
    members: list[Member[Source]] = []
    with thread_pool(1) as pool:
        ahead = None
        if predictions and read_ahead(predictions[0]):
            ahead = pool.submit(_read, protocol, predictions[0], "prediction", options, names[0])
        say(f"Reading {_name(ground_truth)}")
        truth = _read(protocol, ground_truth, "ground_truth", options, _name(ground_truth))
    for place, (origin, name) in enumerate(zip(predictions, names, strict=True)):
        say(f"Reading {name}")
        early = ahead if place == 0 else None
        members.append(early.result() if early else _read(protocol, origin, "prediction", options, name))
    project = _renamed(Project(truth, tuple(members)), protocol.label_mapping(options))
    return _with_true_side(_with_fixes(_with_sizes(project, protocol, options, say), options), protocol, options, say)


def _renamed(project: Project[Source], names: Mapping[str, str]) -> Project[Source]:
    sources = [each.source for each in project.members]
    if all(isinstance(source, Annotations) for source in sources):
        labels = {label for source in sources if isinstance(source, Annotations) for label in source.labels}
        for old in names:
            if old not in labels:
                refuse_label("--map-label", old, project.members[0].name, labels)
    truth = project.ground_truth
    renamed = tuple(_relabelled(each, names) for each in project.models)
    return replace(project, ground_truth=truth and _relabelled(truth, names), models=renamed)


def _with_sizes(project: Project[Source], protocol: AnyProtocol, options: Options, say: Say) -> Project[Source]:
    folder, given = getattr(options, "pdfs", None), getattr(options, "page_size", None)
    if not (isinstance(options, BoxOptions) or protocol.reads_items) or (folder is None and given is None):
        return project
    truth = project.ground_truth
    units = {member.source.unit for member in project.members if isinstance(member.source, Annotations)}

    def sized(member: Member[Source]) -> Member[Source]:
        source = member.source
        if not isinstance(source, Annotations):
            return member
        if folder is None or (len(units) == 1 and source.page_size is None):
            return replace(member, source=with_sizes(source, {}, given))
        from evaluator.pdf.locked import locked_issues  # these bring the processes that read PDFs
        from evaluator.pdf.sizes import page_sizes

        say(f"Measuring the pages of {member.name}")
        known = page_sizes(source, folder, images_only=True) if len(units) > 1 else {}
        issues: tuple[Issue, ...] = ()
        if source.page_size is not None:
            issues = measured_issues(source, page_sizes(source, folder))
            if member is truth:
                issues = (*issues, *locked_issues((each.name for each in source.documents), PdfFolder(folder)))
        sized = with_sizes(source, known, given)
        return replace(member, source=replace(sized, issues=(*source.issues, *issues)) if issues else sized)

    return replace(project, ground_truth=truth and sized(truth), models=tuple(map(sized, project.models)))


def _with_true_side(project: Project[Source], protocol: AnyProtocol, options: Options, say: Say) -> Project[Source]:
    truth = project.ground_truth
    if truth is None or truth.source is None:
        return project
    try:
        source = protocol.true_side(truth.source, options, say)
    except ValueError as problem:
        raise OptionError(str(problem)) from problem
    return replace(project, ground_truth=replace(truth, source=source))


def _with_fixes(project: Project[Source], options: Options) -> Project[Source]:
    fixes, truth, members = options.fix, project.ground_truth, project.members
    names = [member.name for member in members]
    if strange := [fix for fix in fixes if fix.file and fix.file not in names]:
        raise OptionError(f"--fix is for one of {', '.join(names)}; found {strange[0].file}")
    if not fixes or truth is None or any(member.source is None for member in members):
        return project
    from evaluator.analysis.doctor import match_check

    _need_labels(project, fixes)
    known: Source | None = truth.source
    models: list[Member[Source]] = []
    for member in project.models:
        assert member.source is not None
        try:
            known, (source,) = match_check.fix_sources(truth.source, [member.source], fixes)
        except BadInput as problem:
            models.append(replace(member, source=None, issues=(*member.issues, *problem.issues)))
        else:
            models.append(replace(member, source=source, issues=source.issues))
    return Project(replace(truth, source=known), tuple(models))


def _need_labels(project: Project[Source], fixes: Sequence[Fix]) -> None:
    labels: set[str] = set()
    truth = project.truth
    for member in project.models:
        if not isinstance(truth, Annotations) or not isinstance(member.source, Annotations):
            return
        try:
            # A results list has the labels of its ground truth.
            resolved = formats.resolve(member.source, truth, keep_unit=True)
        except BadInput:
            return
        labels |= set(resolved.labels)
    for fix in fixes:
        old, _, _ = fix.value.rpartition("=")
        if fix.kind == "label" and not fix.file and old not in labels:
            refuse_label("--fix label", old, project.models[0].name, labels)


def read_ahead(origin: Input) -> bool:
    """Return whether a file is read while another one is: two big ones at a time need the memory of both."""
    if isinstance(origin, Upload | MergedFiles):
        return False
    path = Path(origin)
    return path.exists() and path.stat().st_size <= _READ_AHEAD_BYTES


def require_joined(project: Project[Source], protocol: AnyProtocol, options: Options) -> Joined:
    """Return all models on one dataset; BadInput with all issues when a file or a pair has an error.

    ValueError when the options say that boxes of two files cannot be compared.
    """
    truth = project.truth
    issues, fitting = list(project.issues), []
    for member in project.models:
        if isinstance(truth, Annotations) and isinstance(member.source, Annotations):
            try:
                predicted, of_pair = protocol.prepare(truth, member.source, options)
            except BadInput as problem:
                issues += problem.issues
            else:
                issues += of_pair
                fitting.append(predicted)
    each_once = tuple(dict.fromkeys(issues))
    if not isinstance(truth, Annotations) or not fitting or len(fitting) < len(project.models):
        raise BadInput((*each_once, *explanation(project, protocol, options)))
    return Joined(join(truth, *fitting), each_once)


def read_member(name: str, side: Side, origin: Origin, read: Callable[[], SourceT]) -> Member[SourceT]:
    """Return one side from what reads it; an unreadable one carries its issues.

    A name with more of the path than the file's is given to what was read and to its issues, too.
    """
    own = {origin.name, origin.resolve().name} if isinstance(origin, Path) and "/" in name else set()
    try:
        source = read()
    except BadInput as problem:
        return Member(name, side, None, _under_name(problem.issues, own, name), origin)
    if own:
        source = replace(source, name=name, issues=_under_name(source.issues, own, name))
    return Member(name, side, source, source.issues, origin)


def _under_name(issues: Iterable[Issue], old: Collection[str], new: str) -> tuple[Issue, ...]:
    return tuple(msgspec.structs.replace(issue, file=new) if issue.file in old else issue for issue in issues)


def _read(
    protocol: AnyProtocol, origin: Input, side: Side, options: Options, name: str, *, as_written: bool = False
) -> Member[Source]:  # fmt: skip
    files = origin if isinstance(origin, Upload | MergedFiles) else Path(origin)
    # A protocol may read either side from any file, and a corpus has both.
    files = _kept_in_corpus(origin, side) or files
    reading = protocol.reading(side, options)
    fixes = fixes_for(options.fix, name, prediction=side == "prediction")
    if as_written or any(fix.moves_boxes for fix in fixes):
        reading = msgspec.structs.replace(reading, as_written=True)
    return read_member(name, side, files, lambda: read_content(files, reading, protocol.kind))


def _relabelled(member: Member[Source], names: Mapping[str, str]) -> Member[Source]:
    """Return a side with its labels renamed; the signature states it of the predictions, once for both."""
    if not names or not isinstance(member.source, Annotations):
        return member
    renamed = map_labels(member.source, names)
    if member.side == "prediction":
        renamed = replace(renamed, fixes=tuple(f"label={old}={new}" for old, new in names.items()))
    return replace(member, source=renamed)


def _name(origin: Input) -> str:
    return origin.name if isinstance(origin, Upload | MergedFiles) else Path(origin).name


def _first(origin: Path | str | MergedFiles) -> Path | str:
    return origin.parts[0] if isinstance(origin, MergedFiles) else origin


# --- evaluating ------------------------------------------------------------------------------------------------


def evaluate(
    protocol: str,
    ground_truth: Input,
    predictions: Sequence[Input],
    say: Say = lambda _text: None,
    count: Count | None = None,
    *,
    boxes: bool = True,
    executor: Executor | Callable[[], Executor] | None = None,
    parts: Parts | None = None,
    costs: Path | None = None,
    failed_empty: bool = False,
    **chosen: Any,  # noqa: ANN401 - each option has a type of its own
) -> list[Evaluation]:
    """Evaluate predictions against one ground truth, which is read once; return one result each, in order.

    Parameters
    ----------
    protocol : str
        A key of ``protocols.PROTOCOLS``.
    ground_truth, predictions : Path, str or Upload, sequence of the same
        Files or folders; one prediction for each model.
    say, count : callable
        Called with words about what is being done, and by some protocols with how many of how many pages are counted.
    boxes : bool
        False when the tables suffice: one plain prediction may then be evaluated over ranges of pages, for the same
        numbers and issues.
    executor : Executor or callable, optional
        What may work on parts of a large corpus, any executor of ``concurrent.futures``; or what makes one, which is
        closed then.
    parts : Parts, optional
        Of several runs that share the work, for one prediction; see `evaluator.system.parts`.
    costs : Path, optional
        A table of failed pages, seconds and cost; with `failed_empty` what is predicted on failed pages is left out.
    **chosen
        Options of the protocol by name; None leaves the protocol's own.

    Raises
    ------
    BadInput
        With all issues of both sides and of the pair.
    OptionError
        An option does not belong to the protocol, or its value makes no sense.
    """
    system = protocol_named(protocol)
    options = options_of(system, **chosen)
    with Engine(executor, parts) as engine:
        in_parts = bool(options.page_ranges) or (not boxes and len(predictions) == 1)
        if costs is not None or not in_parts or not (system.can_stream or in_corpora(ground_truth, predictions)):
            project = open_project(system, ground_truth, predictions, options, say)
            with explained(project, system, options):
                stated = _stated(project, system, costs, failed_empty=failed_empty)
            return _one_by_one(project, system, options, say, count, engine=engine, stated=stated)
        evaluations = []
        for origin, name in zip(predictions, model_names(predictions), strict=True):
            over = _over_ranges if system.can_stream else _over_corpus
            alone = over(system, ground_truth, origin, options, say, name=name, boxes=boxes, engine=engine)
            if alone is None:
                project = open_project(system, ground_truth, [origin], options, say, names=[name])
                evaluations += _one_by_one(project, system, options, say, count, engine=engine)
            else:
                evaluations.append(alone)
        return evaluations


def _one_by_one(
    project: Project[Source],
    protocol: AnyProtocol,
    options: Options,
    say: Say,
    count: Count | None = None,
    *,
    engine: Engine,
    stated: Sequence[ModelCosts] | None = None,
) -> list[Evaluation]:
    with explained(project, protocol, options):
        truth, models = project.required()
        if stated is not None:
            models = [each.prediction for each in stated]
        evaluations = []
        for member, model in zip(project.models, models, strict=True):
            say(f"Evaluating {member.name}")
            evaluations += _evaluated(protocol, truth, [model], options, count, engine=engine)
    return _with_costs(evaluations, stated)


def _with_costs(evaluations: list[Evaluation], stated: Sequence[ModelCosts] | None) -> list[Evaluation]:
    if stated is None:
        return evaluations
    return [
        replace(evaluation, costs=each.costs, issues=(*evaluation.issues, *each.issues))
        for evaluation, each in zip(evaluations, stated, strict=True)
    ]


def _stated(
    project: AnyProject, protocol: AnyProtocol, costs: Path | None, *, failed_empty: bool
) -> list[ModelCosts] | None:
    if costs is None:
        return None
    from evaluator.analysis.costs import read_costs  # most evaluations have no such table

    truth, models = project.required()
    if not isinstance(truth, Annotations):
        raise OptionError(f"--costs is about pages, and {protocol.name} has none")
    named = {member.name: model for member, model in zip(project.models, models, strict=True)}
    return read_costs(costs, truth, named, failed_empty=failed_empty)


def evaluate_together(
    protocol: str,
    ground_truth: Input,
    predictions: Sequence[Input],
    say: Say = lambda _text: None,
    count: Count | None = None,
    *,
    scores: Sequence[float] = (),
    costs: Path | None = None,
    failed_empty: bool = False,
    **chosen: Any,  # noqa: ANN401 - each option has a type of its own
) -> list[Evaluation]:
    """Evaluate predictions so that they can be compared; parameters and errors as in `evaluate`.

    Models of a protocol that matches boxes are of one dataset: documents, pages and labels have one code, and a label
    or document that only one file has is in all results. `scores` are those of `evaluate_read`.
    """
    system = protocol_named(protocol)
    options = options_of(system, **chosen)
    if options.page_ranges:
        raise OptionError("--page-ranges leaves no boxes to compare; it belongs to layoutscope evaluate")
    project = open_project(system, ground_truth, predictions, options, say)
    with explained(project, system, options):
        truth, models = project.required()
        stated = _stated(project, system, costs, failed_empty=failed_empty)
        if stated is not None:
            models = [each.prediction for each in stated]
        say("Evaluating")
        evaluations = evaluate_read(system, truth, models, options, count, scores=scores)
    for evaluation in evaluations:
        evaluation.result.release()
    release_freed_memory()
    return _with_costs(evaluations, stated)


def evaluate_read(
    protocol: AnyProtocol,
    truth: Source,
    models: Sequence[Source],
    options: Options,
    count: Count | None = None,
    *,
    scores: Sequence[float] = (),
) -> list[Evaluation]:
    """Evaluate predictions that are read already, so that they can be compared; one result each, in order.

    Parameters
    ----------
    truth, models
        As `Project.required` gives them.
    count : callable, optional
        As in `evaluate`.
    scores : sequence of float
        A score threshold for each model in place of ``min_score``; without effect when all are 0 or the protocol has
        no such option. Models with different thresholds are evaluated one by one.

    Raises
    ------
    BadInput, OptionError
        As in `evaluate`.
    """
    if not any(scores) or not hasattr(options, "min_score"):
        return _evaluated(protocol, truth, models, options, count)
    parts = [models] if len(set(scores)) == 1 else [[model] for model in models]
    evaluations = []
    for part, score in zip(parts, scores, strict=False):
        evaluations += _evaluated(protocol, truth, part, msgspec.structs.replace(options, min_score=score), count)
    return evaluations


def _evaluated(
    protocol: AnyProtocol,
    truth: Source,
    models: Sequence[Source],
    options: Options,
    count: Count | None,
    *,
    engine: Engine | None = None,
) -> list[Evaluation]:
    from evaluator.analysis.doctor import match_check

    try:
        if options.page_ranges:
            from evaluator.protocols.sharding import run_in_shards

            parts = partial(run_in_shards, pages=options.page_ranges, engine=engine)
            evaluations = [protocol.evaluate_in_shards(truth, model, options, parts) for model in models]
        else:
            evaluations = protocol.evaluate(truth, models, options, count)
        return [
            match_check.check_evaluation(protocol, truth, model, options, evaluation)
            for model, evaluation in zip(models, evaluations, strict=True)
        ]
    except ValueError as problem:
        raise OptionError(str(problem)) from problem


@contextmanager
def explained(project: AnyProject | None, protocol: AnyProtocol, options: Options) -> Iterator[None]:
    """Refuse what cannot be compared, with the diagnosis besides where there is one."""
    try:
        yield
    except FixableMismatch:
        raise
    except BadInput as problem:
        more = () if project is None else explanation(project, protocol, options)
        if not more or any(issue in problem.issues for issue in more):
            raise
        raise BadInput((*problem.issues, *more)) from problem


def explanation(project: AnyProject, protocol: AnyProtocol, options: Options) -> tuple[Issue, ...]:
    """Return one diagnosis for each prediction with which a fix would help; empty for files without boxes."""
    if protocol.kind != "boxes" or protocol.reads_items or project.ground_truth is None:
        return ()
    from evaluator.analysis.doctor import match_check

    truth = _as_written(project.ground_truth, protocol, options)
    issues = []
    for member in project.models:
        prediction = _as_written(member, protocol, options)
        if not isinstance(truth, Annotations) or not isinstance(prediction, Annotations):
            issues += _swapped(project.ground_truth, member, protocol, options)
            continue
        try:
            diagnosis = match_check.diagnosis_of(truth, prediction, protocol, options)
        except BadInput:
            continue
        if diagnosis.best is not None:
            issues.append(msgspec.structs.replace(diagnosis.issue(options.fix, prediction.fixes), severity="error"))
    return tuple(issues)


def _as_written(member: Member[Source], protocol: AnyProtocol, options: Options) -> Source | None:
    return member.source if member.source is not None else _read_as(member.side, member, protocol, options)


def _read_as(side: Side, member: Member[Source], protocol: AnyProtocol, options: Options) -> Source | None:
    plain_options = msgspec.structs.replace(options, fix=())
    read = _read(protocol, member.origin, side, plain_options, member.name, as_written=True)
    return _relabelled(read, protocol.label_mapping(options)).source


def _swapped(truth: Member[Source], prediction: Member[Source], protocol: AnyProtocol, options: Options) -> list[Issue]:
    from evaluator.analysis.doctor import match_check
    from evaluator.metrics.results import ratio_text

    first = _read_as("ground_truth", prediction, protocol, options)
    second = _read_as("prediction", truth, protocol, options)
    if not isinstance(first, Annotations) or not isinstance(second, Annotations):
        return []
    try:
        diagnosis = match_check.diagnosis_of(first, second, protocol, msgspec.structs.replace(options, fix=()))
    except BadInput:
        return []
    rule = (
        f"a ground truth and predictions must be given as what they are; {truth.name} and {prediction.name} are swapped"
    )
    found = f"exchanged they have F1 {ratio_text(diagnosis.as_given)}"
    swapped = any(each.kind == "swap-sides" for each in options.fix)
    fix = f"Apply it with --fix swap-sides, or give --gt {prediction.name} --pred {truth.name}."
    if swapped:
        fix = "Leave out --fix swap-sides."
    if diagnosis.best is not None:
        found = f"{found}; with {diagnosis.best.words}: {ratio_text(diagnosis.best.f1)}"
        fix = f"Apply it with --fix swap-sides {diagnosis.option}."
        if swapped:
            fix = f"Leave out --fix swap-sides, and give {diagnosis.option}."
    return [Issue(severity="error", file=prediction.name, place="", rule=rule, found=found, fix=fix)]


def _over_ranges(
    protocol: AnyProtocol,
    ground_truth: Input,
    prediction: Input,
    options: Options,
    say: Say,
    *,
    name: str,
    boxes: bool,
    engine: Engine,
) -> Evaluation | None:
    """Return the numbers of one model over ranges of pages, without boxes; None for the ordinary way."""
    asked, strange = bool(options.page_ranges), _needing_boxes(protocol, options)
    if strange and asked:
        raise OptionError(f"--page-ranges goes with --iou alone, and not with {spelled(strange[0])}")
    kept = _kept_in_corpus(ground_truth, "ground_truth"), _kept_in_corpus(prediction, "prediction")
    paths = []
    for origin, side in zip((ground_truth, prediction), kept, strict=True):
        if isinstance(origin, Upload | MergedFiles) or (None in kept and is_folder(Path(origin))):
            if asked:
                what = "are several" if isinstance(origin, MergedFiles) else "is a folder"
                raise OptionError(f"--page-ranges reads files, and {_name(origin)} {what}")
            return None
        paths.append(Path(origin) if side is None else side)
    truth, predicted = paths
    if isinstance(prediction, str | Path) and is_corpus(Path(prediction)):
        # A corpus of one model is called like it.
        name = predicted.name
    if not asked:
        if strange or not (None not in kept or (os.path.isfile(truth) and os.path.isfile(predicted))):
            return None
        if predicted.stat().st_size > _MOST_PREDICTIONS * truth.stat().st_size:
            # Where so many boxes are predicted few of them match, and the ordinary way looks for the reason.
            return None
        sides: tuple[tuple[Path, Side], ...] = ((predicted, "prediction"), (truth, "ground_truth"))
        if None in kept and all(formats.is_cached(path, protocol.reading(side, options)) for path, side in sides):
            return None
    say(f"Reading {truth.name} and {name}")
    result = protocol.evaluate_streamed(truth, predicted, options, name, error_types=boxes, engine=engine)
    # Predictions of low scores, which may be many, are no reason to give up the ranges that were asked for.
    share = getattr(result, "recall" if asked else "f1", None) or 0.0
    if result is None or (share < SUSPECT_F1 and not (asked and options.allow_no_match)):
        return None
    return Evaluation(result, result.own_issues(name))


def _over_corpus(
    protocol: AnyProtocol,
    ground_truth: Input,
    prediction: Input,
    options: Options,
    say: Say,
    *,
    name: str,
    boxes: bool,
    engine: Engine,
) -> Evaluation | None:
    """Return the numbers of a model of a corpus without its boxes; None where the ordinary way has to be taken."""
    from evaluator.analysis.corpus_evaluation import evaluate_corpus  # most evaluations are of files

    truth, predicted = _kept_in_corpus(ground_truth, "ground_truth"), _kept_in_corpus(prediction, "prediction")
    assert truth is not None
    assert predicted is not None
    say(f"Evaluating {name}")
    return evaluate_corpus(protocol, (truth, predicted), options, boxes=boxes, engine=engine)


def in_corpora(ground_truth: Input, predictions: Sequence[Input]) -> bool:
    """Return whether both sides are those of corpora."""
    truth = _kept_in_corpus(ground_truth, "ground_truth")
    return truth is not None and all(_kept_in_corpus(each, "prediction") is not None for each in predictions)


def _kept_in_corpus(origin: Input, side: Side) -> Path | None:
    """Return the folder of a side of a corpus; None for others, and where the ordinary way says what is wrong."""
    with suppress(BadInput):
        return None if isinstance(origin, Upload | MergedFiles) else side_at(Path(origin), side)
    return None


def _needing_boxes(protocol: AnyProtocol, options: Options) -> list[str]:
    return [
        name
        for name, value in options.chosen().items()
        if name not in ("page_ranges", "iou", "allow_no_match") and (name, value) != ("format", protocol.name)
    ]
