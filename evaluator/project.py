"""The one way in: paths, uploads or bytes become a project, and a project becomes results.

Owns `Project` (one ground truth, an ordered list of models, everything that is odd about them) and the order of a run:
read both sides, rename labels, check the pair, evaluate. The terminal, the dashboard, packs and plain Python all come
this way, so that the same files give the same numbers everywhere. It knows no format and no protocol by name, computes
no number and formats nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple

import msgspec

from evaluator import formats
from evaluator.formats.base import Kind, Reading
from evaluator.formats.folder import is_folder
from evaluator.model.dataset import Annotations, Dataset, Side, join, map_labels
from evaluator.model.issues import BadInput, Issue, has_errors
from evaluator.protocols import PROTOCOLS, AnyProtocol
from evaluator.protocols.base import BoxProtocol, Count, Evaluation, Options, Source, SourceT

Say = Callable[[str], None]
"""Called with a few words about what is being done."""
_READ_AHEAD_BYTES: Final = 64 << 20


class Upload(NamedTuple):
    """Files whose names and bytes are at hand; several are read as a folder of this name."""

    name: str
    files: tuple[tuple[str, bytes], ...]


Input = Path | str | Upload
"""A file or folder of this machine, or uploaded bytes."""


class OptionError(ValueError):
    """Raised for an option that the protocol does not have, or a value that it refuses; one sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Member(Generic[SourceT]):
    """One side of a project: a file, a folder or an upload, readable or not.

    Attributes
    ----------
    name : str
        Name of the file or folder, without the folders above it.
    side : "ground_truth" or "prediction"
        The role it was given.
    source : Annotations, FieldDocuments, Posters or None
        None when it has errors.
    issues : tuple of Issue
        Of this file alone.
    origin : Path or Upload
        Where to read it again under another role.
    """

    name: str
    side: Side
    source: SourceT | None
    issues: tuple[Issue, ...]
    origin: Path | Upload


@dataclass(frozen=True, slots=True, eq=False)
class Project(Generic[SourceT]):
    """A ground truth and its models, as far as they can be read.

    Attributes
    ----------
    ground_truth : Member or None
    models : tuple of Member
        In the order in which they were given.
    pdfs : Path or None
        The one folder under which documents are looked up.
    as_reference : bool
        The ground truth is a prediction, used as reference on purpose.
    """

    ground_truth: Member[SourceT] | None
    models: tuple[Member[SourceT], ...]
    pdfs: Path | None = None
    as_reference: bool = False

    @property
    def members(self) -> tuple[Member[SourceT], ...]:
        """Both sides, the ground truth first."""
        return (*((self.ground_truth,) if self.ground_truth else ()), *self.models)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Everything that is odd about the files, each once; those of pairs come with a protocol."""
        return tuple(dict.fromkeys(issue for member in self.members for issue in member.issues))

    def required(self) -> tuple[SourceT, list[SourceT]]:
        """The ground truth and the models; BadInput with the issues of all files when one of them has an error."""
        if has_errors(self.issues):
            raise BadInput(self.issues)
        assert self.ground_truth is not None
        assert self.ground_truth.source is not None
        return self.ground_truth.source, [member.source for member in self.models if member.source is not None]


class Joined(NamedTuple):
    """All models of a project joined with its ground truth, and the issues of all files and pairs."""

    dataset: Dataset
    issues: tuple[Issue, ...]


# --- options ---------------------------------------------------------------------------------------------------


def protocol_named(protocol: str) -> AnyProtocol:
    """The protocol of a name; OptionError when there is none."""
    if protocol not in PROTOCOLS:
        raise OptionError(f"protocol must be one of {', '.join(PROTOCOLS)}; found {protocol}")
    return PROTOCOLS[protocol]


def options_of(protocol: AnyProtocol, **chosen: Any) -> Options:  # noqa: ANN401 - each option has a type of its own
    """The options of a protocol with some of them chosen; None leaves the protocol's own.

    Raises
    ------
    OptionError
        For an option that the protocol does not have.
    """
    fields = protocol.options.__struct_fields__
    values = {name: value for name, value in chosen.items() if value is not None}
    for name in values:
        if name not in fields:
            raise OptionError(
                f"{spelled(name)} is not an option of {protocol.name}, which has {', '.join(map(spelled, fields))}"
            )
    options: Options = protocol.options(**values)
    return options


def spelled(option: str) -> str:
    """An option as it is written on the command line."""
    return "--" + option.replace("_", "-")


# --- reading ---------------------------------------------------------------------------------------------------


def read_content(origin: Path | Upload, reading: Reading, kind: Kind) -> Source:
    """What the files of one side hold; `BadInput` with all issues of all files."""
    if kind == "boxes":
        asked = msgspec.structs.asdict(reading)
        if isinstance(origin, Path):
            return formats.read(origin, **asked)
        if len(origin.files) == 1:
            name, content = origin.files[0]
            return formats.read_bytes(content, name, **asked)
    row = formats.FORMATS[reading.format] if reading.format else next(iter(formats.of_kind(kind).values()))
    if isinstance(origin, Path):
        source: Source = row.read_path(origin, reading)
    else:
        source = row.read_files(origin.files, origin.name, reading)
    return source


def open_project(
    protocol: AnyProtocol,
    ground_truth: Input,
    predictions: Sequence[Input],
    options: Options,
    say: Say = lambda _text: None,
) -> Project[Source]:
    """The project of some files, read as a protocol needs them.

    Parameters
    ----------
    ground_truth : Path, str or Upload
    predictions : sequence of the same
        In the order of the models.
    options : Options
        Of the protocol; says how the files are read and which labels are renamed.
    say : callable
        Called with a few words about what is being read.

    Returns
    -------
    Project
        Files with errors are in it with their issues.
    """
    members = []
    with ThreadPoolExecutor(1) as pool:
        ahead = None
        if predictions and read_ahead(predictions[0]):
            ahead = pool.submit(_read, protocol, predictions[0], "prediction", options)
        say(f"Reading {_name(ground_truth)}")
        truth = _read(protocol, ground_truth, "ground_truth", options)
    for place, origin in enumerate(predictions):
        say(f"Reading {_name(origin)}")
        early = ahead if place == 0 else None
        members.append(early.result() if early else _read(protocol, origin, "prediction", options))
    return Project(truth, tuple(members))


def read_ahead(origin: Input) -> bool:
    """Whether a file is read while another one is.

    Big ones are not: their pieces are read in all threads anyway, and two at a time need the memory of both.
    """
    if isinstance(origin, Upload):
        return False
    path = Path(origin)
    return path.exists() and path.stat().st_size <= _READ_AHEAD_BYTES


def require_joined(project: Project[Source], protocol: BoxProtocol[Any], options: Options) -> Joined:
    """All models of a project on one dataset; BadInput with all issues when a file or a pair has an error."""
    truth = project.ground_truth.source if project.ground_truth else None
    issues, fitting = list(project.issues), []
    for member in project.models:
        if isinstance(truth, Annotations) and isinstance(member.source, Annotations):
            try:
                predicted, of_pair = protocol.prepared(truth, member.source, options)
            except BadInput as problem:
                issues += problem.issues
            else:
                issues += of_pair
                fitting.append(predicted)
    each_once = tuple(dict.fromkeys(issues))
    if not isinstance(truth, Annotations) or not fitting or len(fitting) < len(project.models):
        raise BadInput(each_once)
    return Joined(join(truth, *fitting), each_once)


def read_member(name: str, side: Side, origin: Path | Upload, read: Callable[[], SourceT]) -> Member[SourceT]:
    """One side from what reads it; an unreadable one carries its issues."""
    try:
        source = read()
    except BadInput as problem:
        return Member(name, side, None, problem.issues, origin)
    return Member(name, side, source, source.issues, origin)


def _read(protocol: AnyProtocol, origin: Input, side: Side, options: Options) -> Member[Source]:
    """One side as the protocol needs it, with its labels renamed."""

    def renamed() -> Source:
        source = read_content(files, protocol.reading(side, options), protocol.kind)
        return map_labels(source, protocol.renamed(options)) if isinstance(source, Annotations) else source

    files = origin if isinstance(origin, Upload) else Path(origin)
    return read_member(files.name, side, files, renamed)


def _name(origin: Input) -> str:
    return origin.name if isinstance(origin, Upload) else Path(origin).name


# --- evaluating ------------------------------------------------------------------------------------------------


def evaluate(
    protocol: str,
    ground_truth: Input,
    predictions: Sequence[Input],
    say: Say = lambda _text: None,
    count: Count | None = None,
    **chosen: Any,  # noqa: ANN401 - each option has a type of its own
) -> list[Evaluation]:
    """Predictions evaluated against one ground truth, which is read once; each by itself.

    Parameters
    ----------
    protocol : str
        A key of ``protocols.PROTOCOLS``.
    ground_truth : Path, str or Upload
        File or folder.
    predictions : sequence of the same
        Files or folders, one for each model.
    say : callable
        Called with a few words about what is being done.
    count : callable, optional
        Called with how many of how many pages are counted, by protocols that go page by page.
    **chosen
        Options of the protocol by name; None leaves the protocol's own.

    Returns
    -------
    list of Evaluation
        One per prediction, in order.

    Raises
    ------
    BadInput
        With all issues of both sides and of the pair.
    OptionError
        An option does not belong to the protocol, or its value makes no sense.
    """
    system = protocol_named(protocol)
    options = options_of(system, **chosen)
    if system.wants_ranges(options):
        return [_over_ranges(system, ground_truth, origin, options, say) for origin in predictions]
    project = open_project(system, ground_truth, predictions, options, say)
    truth, models = project.required()
    evaluations = []
    for member, model in zip(project.models, models, strict=True):
        say(f"Evaluating {member.name}")
        evaluations += _evaluated(system, truth, [model], options, count)
    return evaluations


def evaluate_together(
    protocol: str,
    ground_truth: Input,
    predictions: Sequence[Input],
    say: Say = lambda _text: None,
    count: Count | None = None,
    **chosen: Any,  # noqa: ANN401 - each option has a type of its own
) -> list[Evaluation]:
    """Predictions evaluated against one ground truth so that they can be compared; parameters as in `evaluate`.

    Returns
    -------
    list of Evaluation
        One per prediction, in order. Those of a protocol that matches boxes are models of one dataset, so that
        documents, pages and labels have one code: a label or document that only one file has is in all of the results.

    Raises
    ------
    BadInput
        With all issues of all files and pairs.
    OptionError
        See `evaluate`.
    """
    system = protocol_named(protocol)
    options = options_of(system, **chosen)
    if system.wants_ranges(options):
        raise OptionError("--page-ranges leaves no boxes to compare; it belongs to layoutscope evaluate")
    project = open_project(system, ground_truth, predictions, options, say)
    truth, models = project.required()
    say("Evaluating")
    return _evaluated(system, truth, models, options, count)


def _evaluated(
    protocol: AnyProtocol, truth: Source, models: Sequence[Source], options: Options, count: Count | None
) -> list[Evaluation]:
    """The evaluations of some models; OptionError for an option whose value makes no sense."""
    try:
        return protocol.evaluate(truth, models, options, count)
    except ValueError as problem:
        raise OptionError(str(problem)) from problem


def _over_ranges(
    protocol: AnyProtocol, ground_truth: Input, prediction: Input, options: Options, say: Say
) -> Evaluation:
    """The numbers of one model, without its boxes where the files allow it.

    Where they do not, the ordinary way is taken: its issues are the same for everybody, and its result is kept whole,
    error types included, because they are there.
    """
    for name, value in options.chosen().items():
        if name not in ("page_ranges", "iou") and (name, value) != ("format", protocol.name):
            raise OptionError(f"--page-ranges goes with --iou alone, and not with {spelled(name)}")
    paths = []
    for origin in (ground_truth, prediction):
        if isinstance(origin, Upload) or is_folder(Path(origin)):
            raise OptionError(f"--page-ranges reads files, and {_name(origin)} is a folder")
        paths.append(Path(origin))
    say(f"Reading {paths[0].name} and {paths[1].name}")
    result = protocol.over_ranges(paths[0], paths[1], options)
    if result is not None:
        return Evaluation(result, ())
    ordinary = {name: value for name, value in options.chosen().items() if name != "page_ranges"}
    return evaluate(protocol.name, ground_truth, [prediction], say, **ordinary)[0]
