"""What a session has open: files of both sides, models that can be evaluated, their names and issues.

What is read is shared by all sessions under digests of content, name and role, never under a path or a time.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import msgspec
import streamlit as st

from evaluator import formats, project
from evaluator.analysis.doctor import match_check
from evaluator.data.dataset import Annotations, Dataset, Side, join
from evaluator.data.fields import FieldDocuments
from evaluator.data.issues import BadInput, Issue, plain, refuse
from evaluator.formats.base import Kind as KindName
from evaluator.formats.base import Reading
from evaluator.formats.folder import load
from evaluator.formats.limits import MAX_FILE_BYTES
from evaluator.formats.posters import Posters
from evaluator.metrics.results import distinct_names
from evaluator.project import Member, MergedFiles, Origin, Project, Upload, paths_of
from evaluator.protocols.base import Source
from evaluator.protocols.items import ItemOptions, ItemProfile, ItemProtocol
from evaluator.workspace import roles
from evaluator.workspace.roles import Workspace
from evaluator.workspace.store import OpenUpload
from evaluator.workspace.variables import WORKSPACE_VARIABLE
from pages.app import jobs, protocol
from pages.app.cache import Cached
from pages.app.state import Field, PlaceField, State, state

SAMPLE_DATA: Final = (Path(__file__).resolve().parents[2] / "sample_data").resolve()
# Beside it: a folder of the sample that is opened has boxes alone.
SAMPLE_READING: Final = (Path(__file__).resolve().parents[2] / "sample_reading").resolve()


C = TypeVar("C", bound=Source)


@dataclass(frozen=True, slots=True, eq=False)
class Kind(Generic[C]):
    """One kind of files (boxes, fields, posters) and how it is read and compared.

    `size_heading` heads the column of `size`; `project_field` and `model_fields` are where the session has the files,
    and A and B among the models. `read` and `prepare` (a prediction comparable with a ground truth, and issues) raise
    BadInput. `ids` adds to a side's digest; `waiting` is shown while the first files are read.
    """

    name: KindName
    size_heading: str
    size: Callable[[C], int]
    project_field: Field[Project[C] | None]
    model_fields: tuple[PlaceField[int | None], PlaceField[int | None]]
    read: Callable[[Origin, str, Reading], C]
    prepare: Callable[[C, C], tuple[C, tuple[Issue, ...]]]
    ids: Callable[[C], str] = lambda content: ""
    title: Callable[[C], str] = lambda content: content.name
    waiting: str = ""

    def digest(self, content: C) -> str:
        """Return what identifies a side as it was read."""
        return f"{content.sha256}/{content.name}/{self.ids(content)}"


@dataclass(frozen=True, slots=True)
class Model:
    """A prediction that can be evaluated: its place among the models, and its name."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class PairModel(Model):
    """One of two models that a view shows side by side, with its letter: A or B."""

    letter: str


@dataclass(frozen=True, slots=True)
class LoadedFiles(Generic[C]):
    """What can be evaluated: predictions that fit the ground truth, names in their order, all issues."""

    kind: Kind[C]
    project: Project[C]
    ground_truth: C
    predictions: tuple[C, ...]
    names: tuple[str, ...]
    issues: tuple[Issue, ...]

    @property
    def digests(self) -> tuple[str, ...]:
        """Return what identifies the ground truth and each model, in this order."""
        return tuple(self.kind.digest(each) for each in (self.ground_truth, *self.predictions))

    @property
    def models(self) -> tuple[Model, ...]:
        """Return every model that can be evaluated."""
        return tuple(Model(index, name) for index, name in enumerate(self.names))

    @property
    def pair(self) -> tuple[PairModel, ...]:
        """Return A and B, two different models, the first two unless chosen; one when only one is open."""
        names = self.names
        places = [_place(field, default, len(names)) for default, field in enumerate(self.kind.model_fields)]
        if len(names) > 1 and places[0] == places[1]:
            places[1] = 0 if places[0] else 1
        return tuple(PairModel(at, names[at], letter) for letter, at in zip("AB"[: len(names)], places, strict=False))

    @property
    def shown(self) -> Model:
        """Return the model that a view of one model shows."""
        index = State.model.get()
        return self.models[index if index < len(self.names) else 0]

    @property
    def shown_of_pair(self) -> PairModel:
        """Return the one of the two models that is shown in detail."""
        return next((model for model in self.pair if model.index == State.model.get()), self.pair[0])


PairModelT = TypeVar("PairModelT", bound=PairModel)


def of_letter(models: Iterable[PairModelT], letter: str) -> PairModelT | None:
    """Return the model of a letter; None for a letter that none has, as in an event of files that were open before."""
    return next((model for model in models if model.letter == letter), None)


AnyKind = Kind[Any]
AnyLoadedFiles = LoadedFiles[Any]


@dataclass(frozen=True, slots=True)
class LoadedBoxes(LoadedFiles[Annotations]):
    """Files of boxes that can be evaluated; `dataset` holds ground truth and predictions, joined."""

    dataset: Dataset


_ANNOTATIONS: Final = Cached[Annotations](32)
_SHARED: Final = Cached[Source](32)
_PAIRED: Final = Cached[Any](96)
_TRUE_SIDES: Final = Cached[Annotations](12, spinner="Reading the files")
_DATASETS: Final = Cached[Dataset](8, spinner="Reading the files")


def _place(field: Field[int | None], default: int, count: int) -> int:
    chosen = field.get()
    return chosen if chosen is not None and chosen < count else min(default, count - 1)


@dataclass(frozen=True, slots=True)
class Place:
    """A page: document id and index from 0."""

    document: str
    index: int


# --- reading -------------------------------------------------------------------------------------------------


def _read_boxes(origin: Origin, name: str, reading: Reading) -> Annotations:
    if isinstance(origin, MergedFiles):
        return project.merged(origin, lambda part: _read_boxes(part, part.name, reading))
    if isinstance(origin, Path) and (origin.is_dir() or formats.whole_path_format(origin)):
        return cast(Annotations, project.read_content(origin, reading, "boxes"))
    if isinstance(origin, Upload) and len(origin.files) > 1:
        return cast(Annotations, project.read_content(origin, reading, "boxes"))
    content = load(origin, MAX_FILE_BYTES) if isinstance(origin, Path) else origin.files[0][1]
    # Some formats name documents after their file, so that the folders of a longer name come afterwards.
    name = origin.name if isinstance(origin, Path) else name
    # The name is part of the key because issues and results carry it.
    digest = formats.digest_of(content)
    if isinstance(origin, Upload):
        reading = msgspec.structs.replace(
            reading, columns=origin.columns, format=reading.format or origin.format or None
        )

    def read() -> Annotations:
        on_disk = digest if isinstance(origin, Path) else None
        return formats.read_bytes(content, name, on_disk=on_disk, **msgspec.structs.asdict(reading))

    return _ANNOTATIONS.of((digest, name, reading), read)


def _read_other(
    kind: KindName, ids: Callable[[Any], str] = lambda content: ""
) -> Callable[[Origin, str, Reading], Any]:
    def read(origin: Origin, name: str, reading: Reading) -> Source:
        content = project.read_content(origin, reading, kind)
        return _SHARED.of((kind, content.sha256, content.name, ids(content)), lambda: content)

    return read


def _prepare_by_format(truth: Any, prediction: Any) -> tuple[Any, tuple[Issue, ...]]:  # noqa: ANN401 - any content
    return prediction, formats.pair_issues(truth, prediction)


def _box_title(read: Annotations) -> str:
    name = read.model or read.name
    return f"{name} {read.version}" if read.version and len(read.version) <= 12 else name


def _poster_ids(read: Posters) -> str:
    """Return a digest of the ids of a side's texts, which follow from file names, not from content."""
    ids = "\0".join((*read.posters, "", *read.broken)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(ids).hexdigest()


BOXES: Final[Kind[Annotations]] = Kind(
    name="boxes",
    size_heading="Boxes",
    size=lambda read: len(read.boxes),
    project_field=State.files,
    model_fields=(State.model_a, State.model_b),
    read=_read_boxes,
    prepare=protocol.prepare,
    ids=lambda read: "/".join((read.side, read.columns, read.level or "", *read.fixes)),
    title=_box_title,
)
FIELDS: Final[Kind[FieldDocuments]] = Kind(
    name="fields",
    size_heading="Documents",
    size=len,
    project_field=State.field_files,
    model_fields=(State.field_a, State.field_b),
    read=_read_other("fields"),
    prepare=_prepare_by_format,
)
POSTERS: Final[Kind[Posters]] = Kind(
    name="posters",
    size_heading="Posters",
    size=lambda read: len(read.posters),
    project_field=State.poster_files,
    model_fields=(State.poster_a, State.poster_b),
    read=_read_other("posters", _poster_ids),
    prepare=_prepare_by_format,
    ids=_poster_ids,
    waiting="Reading the posters",
)


KINDS: Final[tuple[AnyKind, ...]] = (BOXES, FIELDS, POSTERS)
LARGE_BYTES: Final = 8 << 20
"""From this size on a file is read with a progress bar."""


def read(
    kind: Kind[C], origin: Origin, name: str, side: Side, *, as_reference: bool = False, as_written: bool = False
) -> Member[C]:
    """Read a file or folder, or uploaded files; unreadable ones carry their issues."""
    # Once cancelled, a large one is not read again until the tab is reloaded.
    reading = Reading(side=side, as_reference=as_reference, as_written=as_written, level=state.level or None)

    def content() -> C:
        return kind.read(origin, name, reading)

    def member() -> Member[C]:
        read = project.read_member(name, side, origin, content)
        return read if read.source is not None or kind.name != BOXES.name else _without_boxes(read)

    size = _bytes_of(origin)
    if size < LARGE_BYTES:
        return member()
    if name in state.cancelled:
        rule, fix = "the file must be read to its end", "Reload the tab to read it."
        issue = Issue(severity="error", file=name, place="", rule=rule, found="its reading was cancelled", fix=fix)
        return Member(name, side, None, (issue,), origin)

    def cancel() -> None:
        of_file.cancel()
        # An upload is forgotten, and can be read again at once.
        if not isinstance(origin, Upload):
            state.cancelled = (*state.cancelled, name)
        else:
            state.arrived = state.table_asked = None

    of_file: jobs.Jobs[Hashable, Member[C]] = jobs.Jobs(f"reading_{name}", kept=0)
    job = of_file.of((origin, size, kind.name, reading), lambda _: member())
    key = f"cancel_reading_{name}"
    made = jobs.wait_with_progress(f"Reading {plain(name)}", job, cancel, words=_share_read, key=key)
    of_file.cancel()
    return made


def _without_boxes(member: Member[Any]) -> Member[Any]:
    """Return a file of which no item has a box with what these hold; no protocol of boxes takes it."""
    how = Reading(unscored=True, items=True)
    held = project.read_member(
        member.name, member.side, member.origin, lambda: _read_boxes(member.origin, member.name, how)
    )
    return held if held.source is not None and held.source.boxes.lacks_boxes else member


def _share_read(done: int, total: int) -> str:
    return f"{done / total:.0%} read" if total else "being read"


def _bytes_of(origin: Origin) -> int:
    """Return the bytes of a file, an upload, or a folder's files; 0 for what cannot be looked at."""
    if isinstance(origin, Upload):
        return sum(len(content) for _, content in origin.files)
    try:
        paths = [each for part in paths_of(origin) for each in (part.iterdir() if part.is_dir() else [part])]
        return sum(path.stat().st_size for path in paths if path.is_file())
    except OSError:
        return 0


# --- files ---------------------------------------------------------------------------------------------------


def initial_workspace() -> Workspace:
    """Return what the command line named, of all kinds, or the boxes of the sample data."""
    described = os.environ.get(WORKSPACE_VARIABLE)
    if described:
        return roles.from_json(described)
    return Workspace({BOXES.name: roles.sample(SAMPLE_DATA).of(BOXES.name)})


def has_files(kind: AnyKind) -> bool:
    """Return whether any file of this kind is open, or will be once a view asks for it."""
    held = kind.project_field.get()
    if held is not None:
        return bool(held.members)
    sides = initial_workspace().of(kind.name)
    return sides.ground_truth is not None or bool(sides.predictions)


def open_kinds() -> list[AnyKind]:
    """Return the kinds of files that are open; boxes where none is."""
    return [kind for kind in KINDS if has_files(kind)] or [BOXES]


def left_out_issues() -> tuple[Issue, ...]:
    """Return why files are not read: of those named on the command line, then of the last upload."""
    return tuple(dict.fromkeys((*initial_workspace().issues, *state.left_out)))


def unused_files() -> tuple[str, ...]:
    """Return the files that are neither annotations nor pages: command line, then last upload."""
    return tuple(dict.fromkeys((*initial_workspace().passed_over, *state.passed_over)))


def is_bundled(side: Origin | None) -> bool:
    """Return whether a file is of the sample data, beside which nothing is written."""
    places = [path.resolve() for path in paths_of(side)]
    return any(place.is_relative_to(root) for place in places for root in (SAMPLE_DATA, SAMPLE_READING))


def sample_is_open() -> bool:
    """Return whether the boxes are those of the sample data."""
    held = BOXES.project_field.get()
    if held is None:
        return is_bundled(initial_workspace().of(BOXES.name).ground_truth)
    return held.ground_truth is not None and is_bundled(held.ground_truth.origin)


def is_offered(kind: AnyKind) -> bool:
    """Return whether the sample data are open without those of a kind."""
    return sample_is_open() and not has_files(kind)


def open_sample(kind: AnyKind) -> None:
    """Open the sample data of a kind."""
    open_workspace(kind, roles.sample(SAMPLE_DATA))


def files(kind: Kind[C]) -> Project[C]:
    """Return the files of this session; those named at the start when it is new."""
    held = kind.project_field.get()
    if held is None:
        return open_workspace(kind, initial_workspace())
    if kind.name == BOXES.name and state.level_read != state.level:
        held = _at_level(held)
        kind.project_field.set(held)
    return held


def _at_level(held: Project[C]) -> Project[C]:
    """Return the files of boxes at the level of the moment; those without boxes in boxes, and sound, as they are."""
    state.level_read = state.level

    def again(member: Member[Any]) -> Member[Any]:
        if member.source is not None and not member.source.levels:
            return member
        as_reference = held.as_reference and member.side == "ground_truth"
        return read(BOXES, member.origin, member.name, member.side, as_reference=as_reference)

    state.unused = tuple((name, again(each) if name == BOXES.name else each) for name, each in state.unused)
    truth = held.ground_truth and again(held.ground_truth)
    return replace(held, ground_truth=truth, models=tuple(map(again, held.models)))


def open_workspace(kind: Kind[C], named: Workspace) -> Project[C]:
    """Open the files of a workspace in this session."""
    sides = named.of(kind.name)
    if sides.truths:
        # Until the reader chooses: the first, and the others are in the list of files.
        sides = replace(sides, ground_truth=sides.truths[0], truths=())
        others = (read(kind, path, path.name, "ground_truth") for path in named.of(kind.name).truths[1:])
        state.unused = (*state.unused, *((kind.name, member) for member in others))
    as_reference = named.as_reference and kind.name == BOXES.name

    def member(path: Path | MergedFiles, side: Side, name: str = "", *, as_reference: bool = False) -> Member[C]:
        name = name or path.name or paths_of(path)[0].resolve().name
        return read(kind, path, name, side, as_reference=as_reference)

    with st.spinner(kind.waiting) if kind.waiting else contextlib.nullcontext():
        made = Project(
            member(sides.ground_truth, "ground_truth", as_reference=as_reference) if sides.ground_truth else None,
            tuple(
                member(path, "prediction", name)
                for path, name in zip(sides.predictions, project.model_names(sides.predictions), strict=True)
            ),
            sides.pdfs,
            as_reference,
        )
    kind.project_field.set(made)
    if kind.name == BOXES.name:
        state.level_read = state.level
    return made


def _open_taken(kind: Kind[C], taken: OpenUpload, *, kept: bool = False) -> Member[C]:
    """Open an upload; one that was `kept` as the ground truth may be a prediction that was made the reference."""
    member, held, as_reference = read(kind, taken.upload, taken.upload.name, taken.side), files(kind), False
    if kept and member.source is None:
        member, as_reference = read_as(kind, taken.upload, taken.upload.name, taken.side)
    if taken.alone and member.source is not None:
        held = replace(held, ground_truth=None, models=(), as_reference=False)
    if member.source is not None and taken.side == "ground_truth":
        kind.project_field.set(replace(held, ground_truth=member, as_reference=as_reference))
    elif member.source is not None:
        others = tuple(other for other in held.models if other.name != member.name)
        kind.project_field.set(replace(held, models=(*others, member)))
    return member


def has_outlines() -> bool:
    """Return whether an open file of boxes has outlines or masks."""
    held = files(BOXES)
    members = (held.ground_truth, *held.models)
    return any(one is not None and one.source is not None and len(one.source.boxes.polygons) > 0 for one in members)


def open_kept_uploads(taken: Sequence[OpenUpload]) -> None:
    """Open the uploads that the workspace folder has, beside the files that were named at the start."""
    if any(each.alone for each in taken):
        for kind in KINDS:
            if any(is_bundled(member.origin) for member in files(kind).members):
                kind.project_field.set(Project(None, ()))
    usable = [each for each in taken if _open_taken(_kind_of(each), each, kept=True).source is not None]
    state.taken = (*state.taken, *usable)
    state.of_uploads = bool(state.taken)


def _kind_of(taken: OpenUpload) -> AnyKind:
    return next(kind for kind in KINDS if kind.name == taken.kind)


def read_as(kind: Kind[C], origin: Origin, name: str, side: Side) -> tuple[Member[C], bool]:
    """Read a file as a side, a prediction as the reference where it cannot be a ground truth; return which it is."""
    member = read(kind, origin, name, side)
    if member.source is not None or side != "ground_truth" or kind.name != BOXES.name:
        return member, False
    again = read(kind, origin, name, side, as_reference=True)
    return (again, True) if again.source is not None else (member, False)


def with_fixes(kind: Kind[C], model: Member[C]) -> Member[C]:
    """Return a prediction as it is compared: read again when it breaks its rules and a fix was chosen."""
    moves = kind.name == BOXES.name and any(fix.moves_boxes for fix in protocol.fixes(model.name))
    if model.source is not None or not moves:
        return model
    return read(kind, model.origin, model.name, model.side, as_written=True)


def issues(kind: Kind[C]) -> tuple[Issue, ...]:
    """Return all issues of the files of a kind and of their pairs, each once; for boxes also `left_out_issues`."""
    held = files(kind)
    truth = _truth_as_compared(held.truth)
    every = [] if held.ground_truth is None else list(held.ground_truth.issues if truth is None else truth.issues)
    if kind.name == BOXES.name:
        every += left_out_issues()
    for model in (with_fixes(kind, each) for each in held.models):
        every += model.issues
        if truth is not None and model.source is not None:
            every += pair_with_truth(kind, truth, model.source).issues
    return tuple(dict.fromkeys(every))


def _truth_as_compared(truth: C | None) -> C | None:
    return cast(C, protocol.truth_as_compared(truth)) if isinstance(truth, Annotations) else truth


@dataclass(frozen=True, slots=True)
class PairedPrediction(Generic[C]):
    """A prediction that fits its ground truth, None when it does not, and the issues of the two."""

    prediction: C | None
    issues: tuple[Issue, ...]


def pair_with_truth(kind: Kind[C], truth: C, prediction: C) -> PairedPrediction[C]:
    """Return a prediction as compared with its ground truth, cached by content and by what compares them."""
    # Whether boxes can be compared is the matter of the chosen protocol.
    of: str = kind.name
    if kind.name == BOXES.name:
        of = "/".join((protocol.key(), *(fix.text for fix in protocol.fixes(prediction.name))))
    return _paired(of, kind, truth, prediction, kind.prepare)


def _paired(
    of: str, kind: Kind[C], truth: C, prediction: C, prepare: Callable[[C, C], tuple[C, tuple[Issue, ...]]]
) -> PairedPrediction[C]:
    def pair() -> PairedPrediction[C]:
        try:
            return PairedPrediction(*prepare(truth, prediction))
        except BadInput as problem:
            return PairedPrediction(None, problem.issues)

    return cast(PairedPrediction[C], _PAIRED.of((of, kind.digest(truth), kind.digest(prediction)), pair))


# --- what can be evaluated -----------------------------------------------------------------------------------


def load_files(kind: Kind[C]) -> LoadedFiles[C] | None:
    """Return what can be evaluated in this session; None when a side is missing or has errors."""
    held = files(kind)
    truth = _truth_as_compared(held.truth)
    if truth is None:
        return None
    models = [with_fixes(kind, model) for model in held.models]
    pairs = [pair_with_truth(kind, truth, model.source) for model in models if model.source is not None]
    usable = tuple(pair.prediction for pair in pairs if pair.prediction is not None)
    if not usable:
        return None
    names = distinct_names([kind.title(each) for each in usable])
    return LoadedFiles(kind, held, truth, usable, names, issues(kind))


def load_boxes() -> LoadedBoxes | None:
    """Return the joined files of boxes of this session; None when a side is missing or has errors."""
    freeze_loaded("opened")
    of_boxes = load_files(BOXES)
    if of_boxes is None:
        return None
    return _joined(of_boxes)


def _joined(of_boxes: LoadedFiles[Annotations]) -> LoadedBoxes:
    truth, predictions = of_boxes.ground_truth, of_boxes.predictions
    dataset = _DATASETS.of(of_boxes.digests, lambda: join(truth, *predictions))
    return LoadedBoxes(BOXES, of_boxes.project, truth, predictions, of_boxes.names, of_boxes.issues, dataset)


def load_pixels() -> LoadedBoxes | None:
    """Return the files of boxes whose pixels can be counted; None when a side is missing or has errors."""
    held = files(BOXES)
    truth = _truth_as_compared(held.truth)
    if truth is None:
        return None
    usable, refused = [], []
    for model in held.models:
        source = with_fixes(BOXES, model).source
        prediction = None if source is None else pair_with_truth(BOXES, truth, source).prediction
        if prediction is None:
            refused.append(source or _unscored(model))
        else:
            usable.append(prediction)
    pairs = [_pixel_pair(truth, source).prediction for source in refused if source is not None]
    usable += [prediction for prediction in pairs if prediction is not None]
    if not usable:
        return None
    names = distinct_names([BOXES.title(each) for each in usable])
    return _joined(LoadedFiles(BOXES, held, truth, tuple(usable), names, issues(BOXES)))


def _unscored(model: Member[Annotations]) -> Annotations | None:
    how = Reading(unscored=True, level=state.level or None)
    return project.read_member(
        model.name, model.side, model.origin, lambda: _read_boxes(model.origin, model.name, how)
    ).source


class ReadItems(NamedTuple):
    """Files whose items can be compared, None where a side is missing or has errors, and all issues."""

    loaded: LoadedBoxes | None
    issues: tuple[Issue, ...]


def _published(held: Project[Annotations]) -> ItemProfile:
    """Return the profile of what nothing else compares, a ground truth of OmniDocBench with Markdown; else none."""
    formats_of = [None if each.source is None else each.source.format for each in held.models]
    truth = None if held.truth is None else held.truth.format
    return "omnidocbench-1.5" if truth == "omnidocbench" and {*formats_of} == {"markdown"} else "own"


def item_options(of: ItemProtocol[Any]) -> ItemOptions:
    """Return how a protocol of items reads the open files, without what it compares them by."""
    profile = _published(files(BOXES)) if state.reading_profile == "auto" else state.reading_profile
    if profile != "own":
        published: ItemOptions = of.options(profile=profile)
        return published
    pdfs = files(BOXES).pdfs
    asked = {"true_text": state.reading_true_text} if pdfs is not None else {}
    known = {name: value for name, value in asked.items() if name in of.options.__struct_fields__}
    options: ItemOptions = of.options(level=state.level or None, pdfs=pdfs, **known)
    return options


def load_items(of: ItemProtocol[Any]) -> ReadItems:
    """Return the files of boxes, read with order, text and cells, as far as a protocol can compare their items."""
    held, options = files(BOXES), item_options(of)
    if held.ground_truth is None:
        return ReadItems(None, ())

    def content(member: Member[Annotations]) -> Annotations:
        return _read_boxes(member.origin, member.name, of.reading(member.side, options))

    members = [project.read_member(each.name, each.side, each.origin, partial(content, each)) for each in held.members]
    truth, issues = members[0].source, [issue for member in members for issue in member.issues]
    if truth is not None:
        key = BOXES.digest(truth), of.name, repr(options)
        truth = _TRUE_SIDES.of(key, partial(of.true_side, truth, options, lambda _: None))
        issues += truth.issues
    usable: list[Annotations] = []
    for model in members[1:]:
        if truth is not None and model.source is not None:
            pair = _paired(f"items/{of.name}/{options}", BOXES, truth, model.source, partial(_item_pair, of, options))
            issues += pair.issues
            usable += [] if pair.prediction is None else [pair.prediction]
    every = tuple(dict.fromkeys(issues))
    if truth is None or not usable:
        return ReadItems(None, every)
    names = distinct_names([BOXES.title(each) for each in usable])
    digests = tuple(map(BOXES.digest, (truth, *usable)))
    dataset = _DATASETS.of(("items", *digests), lambda: join(truth, *usable))
    return ReadItems(LoadedBoxes(BOXES, held, truth, tuple(usable), names, every, dataset), every)


def _item_pair(
    of: ItemProtocol[Any], options: ItemOptions, truth: Annotations, prediction: Annotations
) -> tuple[Annotations, tuple[Issue, ...]]:
    fixed = match_check.with_fixes(prediction, truth, protocol.fixes(prediction.name))
    try:
        return of.prepare(truth, fixed, options)
    except ValueError as problem:
        refuse(prediction.name, "", str(problem), "", "Choose the numbers of the protocol instead.")


def _pixel_pair(truth: Annotations, prediction: Annotations) -> PairedPrediction[Annotations]:
    of = "/".join(("pixel", *(fix.text for fix in protocol.fixes(prediction.name))))
    return _paired(of, BOXES, truth, prediction, protocol.prepare_pixels)


@st.cache_resource(show_spinner=False)
def freeze_loaded(moment: str) -> bool:
    """Exclude what is loaded from the garbage collection of each run; once per process and moment."""
    gc.collect()
    gc.freeze()
    return True
