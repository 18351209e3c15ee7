"""The view Review pack: one job of this session, and its finished files."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from evaluator.components.payload import ModelItem
from evaluator.components.viewer.reading import READINGS
from evaluator.data.issues import BadInput, Issue, plain
from evaluator.pack import tables
from evaluator.pack.contents import Contents, gather
from evaluator.pack.diff import PackRecord
from evaluator.pack.extra_protocols import Boxes, ExtraEvaluation, MadeBefore, gather_all
from evaluator.pack.folder import write_zip
from evaluator.pack.html_pack import WrittenPack, write_html
from evaluator.pack.options import PackOptions
from evaluator.pack.pdf_pack import write_pdf
from evaluator.pack.pictures import Pictures
from evaluator.pack.writing import WritingProblem
from evaluator.pdf.folder import Folders
from evaluator.project import OptionError, options_of
from evaluator.protocols import PROTOCOLS, AnyProtocol, pixel
from evaluator.protocols.base import Options
from evaluator.protocols.fields.protocol import FieldsOptions, OptionsWithSchema
from pages.app import pictures, protocol
from pages.app.cache import Cached
from pages.app.jobs import Jobs, ReportProgress
from pages.app.results import ResultKey, result_key, result_of, score_threshold
from pages.app.session_files import FIELDS, POSTERS, AnyLoadedFiles, LoadedBoxes, load_files, load_pixels
from pages.app.state import state
from pages.views.fields import field_results
from pages.views.findings import findings
from pages.views.reading import reading_results
from pages.views.slices import slices

FORMS: Final[Mapping[str, str]] = {"html": "One HTML file", "pdf": "PDF for print", "zip": "Everything, as a zip"}
NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "html": ("review-pack.html", "text/html"),
    "pdf": ("review-pack.pdf", "application/pdf"),
    "zip": ("review-pack.zip", "application/zip"),
}
_CONTENTS: Final = Cached[Contents](4, spinner="Building the pack")
_MADE_BEFORE: Final = MadeBefore(most=12)


class Choices(NamedTuple):
    """What a pack is made of, as a key; `results` are empty without boxes, `earlier` without a record."""

    digests: tuple[str, ...]
    results: tuple[ResultKey, ...]
    options: bytes
    revision: tuple[int, str]
    also: tuple[str, ...]
    earlier: bytes = b""


@dataclass(frozen=True, slots=True)
class FinishedPack:
    """A pack in a form of `FORMS`: what was written, None without a file, and then the problem and issues."""

    form: str
    folder: tempfile.TemporaryDirectory[str] | None = None
    contents: Contents | None = None
    written: WrittenPack | None = None
    problem: str = ""
    issues: tuple[Issue, ...] = ()

    @property
    def path(self) -> Path:
        """Return where its file is, when there is one."""
        assert self.folder is not None
        return Path(self.folder.name) / NAMES[self.form][0]

    def discard(self) -> None:
        """Remove its file."""
        if self.folder is not None:
            self.folder.cleanup()


JOB: Final[Jobs[Choices, FinishedPack]] = Jobs("pack_job", kept=0, discard=FinishedPack.discard)
"""The pack of the session, by what it is made of."""


def contents_of(loaded: LoadedBoxes, options: PackOptions, earlier: PackRecord | None = None) -> Contents:
    """Return what a pack about the chosen models would say."""
    chosen, log = loaded.pair, findings.review_log()
    results = [result_of(loaded, model) for model in chosen]
    # Names of models and findings of files follow from the files, which are part of the key of a result.
    keys = tuple(result_key(loaded, model) for model in chosen)
    return _CONTENTS.of(
        (keys, msgspec.json.encode(options), log.revision, _encoded(earlier)),
        lambda: gather(results, _called(loaded), log, options, issues=loaded.issues, earlier=earlier),
    )


def _encoded(earlier: PackRecord | None) -> bytes:
    return b"" if earlier is None else msgspec.json.encode(earlier)


def tags() -> list[str]:
    """Return the tags of all findings, sorted."""
    opinions = (event for judged in findings.review_log().judged.values() for event in judged.opinions)
    return sorted({tag for event in opinions for tag in event.tags})


def systems(loaded: LoadedBoxes | None) -> dict[str, AnyProtocol]:
    """Return the evaluation systems with open files, by name, without the chosen one of the boxes."""
    kinds = _open_kinds(loaded)
    return {
        name: each
        for name, each in PROTOCOLS.items()
        if each.views and _open_for(each, kinds) is not None and (loaded is None or name != protocol.chosen().name)
    }


def _open_for(system: AnyProtocol, kinds: Mapping[str, AnyLoadedFiles | None]) -> AnyLoadedFiles | None:
    """Return what a system can evaluate; pixels and items can be compared in more files than boxes matched."""
    if system.reads_items:
        reading = reading_results.read(READINGS[system.name])
        return None if reading is None else reading.loaded
    of = kinds[system.kind]
    return load_pixels() if of is None and system.name == pixel.NAME else of


def choices(
    loaded: LoadedBoxes | None, options: PackOptions, also: Sequence[str], earlier: PackRecord | None = None
) -> Choices:
    """Return what a pack that is made now would be made of."""
    every = (*_open_kinds(loaded).values(), load_pixels() if loaded is None else None)
    kinds = [each for each in every if each is not None]
    digests = tuple(digest for each in kinds for digest in (*each.digests, *(model.name for model in each.pair)))
    now = (
        sorted(_chosen(None).items(), key=str),
        state.class_weights,
        state.field_schema and state.field_schema.sha256,
    )
    chosen_now = (str(now),) if also else ()
    keys = tuple(result_key(loaded, model) for model in loaded.pair) if loaded is not None else ()
    encoded, revision = msgspec.json.encode(options), findings.review_log().revision
    return Choices((*digests, *chosen_now), keys, encoded, revision, tuple(also), _encoded(earlier))


def start(
    loaded: LoadedBoxes | None,
    options: PackOptions,
    form: str,
    also: Sequence[str] = (),
    earlier: PackRecord | None = None,
) -> None:
    """Begin a pack of the boxes and of further evaluation systems; give up an older one of this session."""
    pdfs = loaded.project.pdfs if loaded is not None else None
    drawn = Pictures(pictures.pool(), pdfs, loaded.dataset.page_images if loaded is not None else None)
    events = [event for judged in findings.review_log().judged.values() for event in judged.history]
    # All that follows from the session is read here: the thread has none.
    boxes, others = _boxes(loaded), _further(loaded, also)

    def gathered(note: ReportProgress) -> Contents:
        return gather_all(boxes, others, options, note, earlier=earlier, before=_MADE_BEFORE)

    def write(path: Path, contents: Contents, note: ReportProgress) -> WrittenPack:
        if form == "zip":
            return write_zip(path, contents, drawn, events, pdfs, progress=note).html
        return (write_pdf if form == "pdf" else write_html)(path, contents, drawn, progress=note)

    JOB.start(choices(loaded, options, also, earlier), lambda note: _make(form, gathered, write, note))


def _open_kinds(loaded: LoadedBoxes | None) -> dict[str, AnyLoadedFiles | None]:
    return {"boxes": loaded, FIELDS.name: load_files(FIELDS), POSTERS.name: load_files(POSTERS)}


def _boxes(loaded: LoadedBoxes | None) -> Boxes | None:
    if loaded is None:
        return None
    results = [result_of(loaded, model) for model in loaded.pair]
    of = protocol.chosen()
    seen = slices.pdf_attributes(loaded, loaded.pair)
    options = _options(of, loaded)
    return Boxes(of, results, _called(loaded), findings.review_log(), loaded.issues, options, *seen)


def _further(loaded: LoadedBoxes | None, also: Sequence[str]) -> list[ExtraEvaluation]:
    kinds, known, log = _open_kinds(loaded), systems(loaded), findings.review_log()
    further = []
    for name in (each for each in known if each in also):
        system = known[name]
        of = _open_for(system, kinds)
        if of is None:
            continue
        models = [of.predictions[model.index] for model in of.pair]
        scores = [score_threshold(of, model) for model in of.pair] if isinstance(of, LoadedBoxes) else []
        options, called = _options(system, of), _called(of)
        digests = (of.digests[0], *(of.digests[1 + model.index] for model in of.pair))
        # Sizes of pages come from the PDFs: another listing of their folder, and they are measured again.
        listing = pictures.pdf_listing(of.project.pdfs)
        key = (name, digests, tuple(called), tuple(scores), repr(options), listing)
        further.append(ExtraEvaluation(system, of.ground_truth, models, options, called, scores, of.project, key, log))
    return further


def _called(of: AnyLoadedFiles) -> list[ModelItem]:
    return [ModelItem(model.letter, model.name) for model in of.pair]


def _options(system: AnyProtocol, of: AnyLoadedFiles) -> Options:
    if system.reads_items:
        return reading_results.options(READINGS[system.name])
    known = system.options.__struct_fields__
    chosen = {name: value for name, value in _chosen(of.project.pdfs).items() if name in known}
    if isinstance(of, LoadedBoxes):
        labels = of.dataset.labels[: of.dataset.evaluated]
        weights = {label: weight for label, weight in state.class_weights if label in labels}
        chosen |= {"class_weight": weights} if weights and "class_weight" in known else {}
    options = options_of(system, **chosen)
    if isinstance(options, FieldsOptions) and state.field_schema is not None:
        return OptionsWithSchema(**{**msgspec.structs.asdict(options), "read": state.field_schema})
    return options


def _chosen(pdfs: Folders | None) -> dict[str, object]:
    return {
        "classes": state.pixel_classes,
        "missing_page": state.pixel_missing,
        "page_size": state.pixel_size,
        "profile": state.poster_profile,
        "words": state.poster_words if state.poster_profile == "documented" else None,
        "parity": field_results.options().parity,
        "recall_grid": field_results.options().recall_grid,
        "pdfs": pdfs,
    }


def csv_of(contents: Contents) -> str:
    """Return the numbers of a pack as CSV."""
    return tables.to_csv(contents)


def _make(
    form: str,
    gathered: Callable[[ReportProgress], Contents],
    write: Callable[[Path, Contents, ReportProgress], WrittenPack],
    note: ReportProgress,
) -> FinishedPack:
    """Make a pack in a folder of its own; a problem with the files is said and leaves no folder."""
    contents: Contents | None = None
    issues: tuple[Issue, ...] = ()
    with contextlib.ExitStack() as without_file:
        try:
            folder = tempfile.TemporaryDirectory(prefix="layoutscope-pack-", ignore_cleanup_errors=True)
            without_file.enter_context(folder)
            contents = gathered(note)
            written = write(Path(folder.name) / NAMES[form][0], contents, note)
        except BadInput as problem:
            said, issues = "Files cannot be evaluated as chosen. Each row shows how to fix it.", problem.issues
        except OptionError as problem:
            said = f"{plain(str(problem))}."
        except WritingProblem as problem:
            said = plain(str(problem))
        except OSError as problem:
            said = f"The file cannot be written: {plain(problem.strerror or 'an error of the file system')}."
        else:
            without_file.pop_all()
            return FinishedPack(form, folder, contents, written)
    return FinishedPack(form, None, contents, None, said, issues)
