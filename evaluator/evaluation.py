"""One prediction against one ground truth, from paths to a result, for every protocol.

Owns which reader and which options belong to which protocol, and the order of a run: read both sides, rename labels,
check the pair, evaluate. The terminal, gates and reports call it; it computes no number and formats nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import msgspec

from evaluator import formats
from evaluator.formats import coco as coco_reader
from evaluator.formats import fields as fields_reader
from evaluator.formats import pod as pod_reader
from evaluator.formats import posters as posters_reader
from evaluator.formats import snapshot as snapshot_reader
from evaluator.formats.folder import is_folder
from evaluator.metrics.results import ResultTable, Signature
from evaluator.model.dataset import Annotations, Side, join, map_labels
from evaluator.model.fields import FieldDocuments
from evaluator.model.issues import BadInput, Issue, has_errors
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from evaluator.protocols import coco, fields, pixel, pod, posters, snapshot
from evaluator.protocols.coco import ranges as coco_ranges
from evaluator.protocols.pixel import tables as pixel_tables

Say = Callable[[str], None]
Count = Callable[[int, int], None]
"""Told how much of the present job is done, and how much there is."""


class Result(Protocol):
    """What every protocol's evaluation gives back."""

    @property
    def signature(self) -> Signature:
        """What made the numbers."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Plain values under the keys of the terminal contract."""
        ...

    def table(self) -> ResultTable:
        """Rows for terminals and spreadsheets."""
        ...


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the user chose; None is "not said" and leaves the protocol's own choice.

    Attributes
    ----------
    iou : tuple of float
        IoU thresholds.
    min_score, min_area : float
        Predictions below are left out before matching.
    labels : tuple of str
        Score these only.
    map_label : mapping of str
        New label by old label, in both files.
    class_weight : mapping of float
        Weights in the mean over labels.
    as_reference : bool
        The ground truth may be a prediction.
    format : str
        Format of the files; told by content when None.
    polygons : bool
        Compare outlines instead of boxes, where a file has them.
    ap : str
        ``11-point`` or ``all-point``.
    small_px, line_px : float
        Objects of at most this width and height are not counted; regions of at most this width or height are lines.
    lenient : bool
        Repair what the format allows, with a warning each.
    classes : str
        ``auto``, ``same`` or ``different``.
    missing_page : str
        ``penalize`` or ``ignore``.
    page_size : tuple of float
        Width and height of pages whose size nobody gives.
    pdfs : Path
        Folder of the PDFs that give the sizes of the pages.
    exact : bool
        Add the integer counts of label sets to the plain values.
    parity : str
        ``stickler`` reproduces the reference's pairing of fields.
    recall_grid : str
        ``linspace`` or ``decimal``.
    schema : Path
        How values of fields are compared.
    profile : str
        Profile of the poster protocol.
    page_ranges : bool
        Read and match a range of pages at a time; only the numbers remain.
    """

    iou: tuple[float, ...] | None = None
    min_score: float | None = None
    min_area: float | None = None
    labels: tuple[str, ...] | None = None
    map_label: Mapping[str, str] | None = None
    class_weight: Mapping[str, float] | None = None
    as_reference: bool | None = None
    format: str | None = None
    polygons: bool | None = None
    ap: str | None = None
    small_px: float | None = None
    line_px: float | None = None
    lenient: bool | None = None
    classes: str | None = None
    missing_page: str | None = None
    page_size: tuple[float, float] | None = None
    pdfs: Path | None = None
    exact: bool | None = None
    parity: str | None = None
    recall_grid: str | None = None
    schema: Path | None = None
    profile: str | None = None
    page_ranges: bool | None = None

    def said(self) -> dict[str, Any]:
        """The options that were chosen, by name."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


class Evaluation(NamedTuple):
    """A result, everything that was odd about its inputs, and the option of pixel counts in its plain values."""

    result: Result
    issues: tuple[Issue, ...]
    exact: bool = False

    def to_json(self) -> dict[str, Any]:
        """The result as plain values, with the issues of its inputs."""
        exact = self.exact and isinstance(self.result, pixel.PixelResult)
        values = self.result.to_json(exact=True) if exact else self.result.to_json()  # type: ignore[call-arg]
        return {**values, "issues": list(self.issues)}

    def csv_table(self) -> ResultTable:
        """The rows for a spreadsheet: those of the result, and for pixels every cell of every matrix."""
        found = self.result
        return pixel_tables.long_table(found) if isinstance(found, pixel.PixelResult) else found.table()

    def csv_files(self, model: int = 0, models: int = 1) -> dict[str, ResultTable]:
        """More tables by the name of their file: for pixels each matrix, for other protocols none."""
        if not isinstance(self.result, pixel.PixelResult):
            return {}
        return pixel_tables.numbered(pixel_tables.matrix_files(self.result), model, models)


_Together = Callable[[Any, Sequence[Any], dict[str, Any]], list[Evaluation]]


class OptionError(ValueError):
    """Raised for an option that the protocol does not have, or a value that it refuses; one sentence."""


def evaluate(
    protocol: str,
    ground_truth: Path,
    predictions: Sequence[Path],
    options: Options,
    say: Say = lambda _text: None,
    *,
    count: Count | None = None,
) -> list[Evaluation]:
    """Predictions evaluated against one ground truth, which is read once.

    Parameters
    ----------
    protocol : str
        A key of ``protocols.PROTOCOLS``.
    ground_truth : Path
        File or folder.
    predictions : sequence of Path
        Files or folders, one for each model.
    options : Options
    say : callable
        Told in a few words what is being done.
    count : callable, optional
        Told how many of how many pages are counted, by protocols that go page by page.

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
    run, said, reading = _run(protocol, options)
    if options.page_ranges:
        _need_plain_files(options, ground_truth, *predictions)
        return [_over_ranges(ground_truth, path, options, say) for path in predictions]
    if count is not None and protocol == pixel.NAME:
        said["count"] = count
    said_of_predictions = {**reading, "as_reference": False}
    evaluations: list[Evaluation] = []
    with ThreadPoolExecutor(1) as pool:
        ahead = None
        if predictions and read_ahead(predictions[0]):
            ahead = pool.submit(_read, run, predictions[0], "prediction", said_of_predictions)
        say(f"Reading {ground_truth.name}")
        truth, issues = _read(run, ground_truth, "ground_truth", reading)
    for path in predictions:
        say(f"Reading {path.name}")
        read_already, ahead = ahead, None
        predicted, more = read_already.result() if read_already else _read(run, path, "prediction", said_of_predictions)
        if has_errors(issues) or has_errors(more):
            raise BadInput(dict.fromkeys([*issues, *more]))
        say(f"Evaluating {path.name}")
        evaluations += _evaluated(run, truth, [predicted], said)
    return evaluations


def evaluate_together(
    protocol: str, ground_truth: Path, predictions: Sequence[Path], options: Options, say: Say = lambda _text: None
) -> list[Evaluation]:
    """Predictions evaluated against one ground truth so that they can be compared.

    Parameters
    ----------
    protocol, ground_truth, predictions, options, say
        See `evaluate`.

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
    run, said, reading = _run(protocol, options)
    if options.page_ranges:
        raise OptionError("--page-ranges leaves no boxes to compare; it belongs to layoutscope evaluate")
    sides: list[Any] = []
    issues: list[Issue] = []
    for path in (ground_truth, *predictions):
        say(f"Reading {path.name}")
        side: Side = "prediction" if sides else "ground_truth"
        read, found = _read(run, path, side, {**reading, "as_reference": False} if sides else reading)
        sides.append(read)
        issues += found
    if has_errors(issues):
        raise BadInput(dict.fromkeys(issues))
    say("Evaluating")
    return _evaluated(run, sides[0], sides[1:], said)


def _need_plain_files(options: Options, *paths: Path) -> None:
    """Refuse what cannot be told by the numbers alone, or read piece by piece."""
    for name, value in options.said().items():
        if name not in ("page_ranges", "iou") and (name, value) != ("format", coco.NAME):
            raise OptionError(f"--page-ranges goes with --iou alone, and not with {_spelled(name)}")
    for path in paths:
        if is_folder(path):
            raise OptionError(f"--page-ranges reads files, and {path.name} is a folder")


def _over_ranges(ground_truth: Path, prediction: Path, options: Options, say: Say) -> Evaluation:
    """The numbers of one model, without its boxes where the files allow it.

    Where they do not, the ordinary way is taken: its issues are the same for everybody, and its result is kept whole,
    error types included, because they are there.
    """
    say(f"Reading {ground_truth.name} and {prediction.name}")
    result = coco_ranges.average_over_ranges(ground_truth, prediction, iou=options.iou or coco.IOU_THRESHOLDS)
    if result is not None:
        return Evaluation(result, ())
    ordinary = msgspec.structs.replace(options, page_ranges=None)
    return evaluate(coco.NAME, ground_truth, [prediction], ordinary, say)[0]


def _run(protocol: str, options: Options) -> tuple[_Run, dict[str, Any], dict[str, Any]]:
    """How a protocol runs, its chosen options and those of its reader; OptionError for one that it does not have."""
    run, said = _RUNS[protocol], options.said()
    for name in said:
        if name not in run.options:
            allowed = ", ".join(_spelled(option) for option in run.options)
            raise OptionError(f"{_spelled(name)} is not an option of {protocol}, which has {allowed}")
    reading = {name: said[name] for name in _READING if name in said}
    return run, {name: value for name, value in said.items() if name not in reading or name in _BOTH}, reading


def _evaluated(run: _Run, truth: Any, models: Sequence[Any], said: Mapping[str, Any]) -> list[Evaluation]:  # noqa: ANN401 - what its reader gives
    """The evaluations of some models; OptionError for an option whose value makes no sense."""
    try:
        return run.evaluate(truth, models, dict(said))
    except ValueError as problem:
        raise OptionError(str(problem)) from problem


# Options that a reader takes; the others, and those that both take, are the protocol's own.
_READING = ("as_reference", "format", "map_label", "lenient")
_BOTH = ("lenient",)
_READ_AHEAD_BYTES = 64 << 20
_BOXES = ("iou", "min_score", "min_area", "labels", "map_label", "as_reference", "format", "polygons")


def _spelled(option: str) -> str:
    """An option as it is written on the command line."""
    return "--" + option.replace("_", "-")


def read_ahead(path: Path) -> bool:
    """Whether a file is read while another one is.

    Big ones are not: their pieces are read in all threads anyway, and two at a time need the memory of both.
    """
    return path.exists() and path.stat().st_size <= _READ_AHEAD_BYTES


def _read(run: _Run, path: Path, side: Side, reading: Mapping[str, Any]) -> tuple[Any, tuple[Issue, ...]]:
    """One side, or None and its issues, so that the issues of both sides can be told at once."""
    try:
        return run.read(path, side, reading), ()
    except BadInput as problem:
        return None, problem.issues


def _read_boxes(path: Path, side: Side, reading: Mapping[str, Any]) -> Annotations:
    """A file of boxes with its labels renamed."""
    names = reading.get("map_label", {})
    options = {name: value for name, value in reading.items() if name != "map_label"}
    return map_labels(formats.read(path, side=side, **options), names)


def _read_either(path: Path, _side: Side, reading: Mapping[str, Any]) -> Annotations:
    """A file of boxes whatever it says it is: two annotators, or two models, can be compared."""
    return map_labels(formats.read(path, format=reading.get("format")), reading.get("map_label", {}))


def _checked(*issues: Sequence[Issue]) -> tuple[Issue, ...]:
    """All issues in order, each once; raised when one of them is an error."""
    every = tuple(dict.fromkeys(issue for group in issues for issue in group))
    if has_errors(every):
        raise BadInput(every)
    return every


class _Prepared(NamedTuple):
    """A prediction that can be joined with its ground truth, and everything that was odd about the two."""

    predicted: Annotations
    issues: tuple[Issue, ...]


def _prepared(protocol: str, truth: Annotations, predicted: Annotations, said: Mapping[str, Any]) -> _Prepared:
    """A prediction with the pages and labels of its ground truth; raised when they do not belong together."""
    outlines: tuple[Issue, ...] = ()
    if said.get("polygons"):
        outlines = (*formats.outline_issues(truth), *formats.outline_issues(predicted))
    if coco_reader.is_unresolved(predicted):
        predicted = coco_reader.resolve(predicted, truth)
    pair: tuple[Issue, ...] = ()
    if protocol == snapshot.NAME:
        pair = snapshot_reader.check_pair(truth, predicted)
    if protocol == pod.NAME:
        pair = pod_reader.check_pair(truth, predicted, lenient=bool(said.get("lenient")))
    return _Prepared(predicted, _checked(truth.issues, predicted.issues, outlines, pair))


def _of_boxes(protocol: ModuleType) -> _Together:
    """How models are evaluated under a protocol that matches boxes: against one dataset, which is joined once."""

    def evaluated(truth: Annotations, models: Sequence[Annotations], said: dict[str, Any]) -> list[Evaluation]:
        prepared = [_prepared(protocol.NAME, truth, predicted, said) for predicted in models]
        options = {"line_max_px" if name == "line_px" else name: value for name, value in said.items()}
        dataset = join(truth, *(one.predicted for one in prepared))
        results = (protocol.evaluate_model(dataset, model, **options) for model in range(len(models)))
        return [Evaluation(result, one.issues) for result, one in zip(results, prepared, strict=True)]

    return evaluated


def _one_by_one(evaluated: Callable[[Any, Any, dict[str, Any]], Evaluation]) -> _Together:
    """How models are evaluated under any other protocol."""
    return lambda truth, models, said: [evaluated(truth, predicted, dict(said)) for predicted in models]


def _pixel(truth: Annotations, predicted: Annotations, said: dict[str, Any]) -> Evaluation:
    folder, exact = said.pop("pdfs", None), bool(said.pop("exact", False))
    if folder is not None:
        said["page_sizes"] = page_sizes(truth, folder, said.get("count"))
    if coco_reader.is_unresolved(predicted):
        predicted = coco_reader.resolve(predicted, truth)
    result = pixel.evaluate(truth, predicted, **said)
    return Evaluation(result, _checked(truth.issues, predicted.issues, result.issues), exact)


def check_pair(truth: Annotations, predicted: Annotations) -> tuple[Issue, ...]:
    """What is wrong or odd about two files of boxes together, by the rules of their format.

    Returns
    -------
    tuple of Issue
        Empty for formats whose rules are about single files.
    """
    if truth.format != predicted.format:
        return ()
    checks = {"snapshot": snapshot_reader.check_pair, "pod": pod_reader.check_pair}
    return checks[truth.format](truth, predicted) if truth.format in checks else ()


def page_sizes(
    source: Annotations, folder: Path, count: Count | None = None
) -> dict[tuple[str, int], tuple[float, float]]:
    """Sizes of the pages of the documents that a file names, from their PDFs.

    Parameters
    ----------
    source : Annotations
    folder : Path
        The one folder under which the PDFs are looked up by name.
    count : callable, optional
        Told how many of how many documents are measured.

    Returns
    -------
    dict
        Width and height in points by document id and page index. Documents that cannot be found or measured are
        missing; whoever needs them says so.
    """
    sizes: dict[tuple[str, int], tuple[float, float]] = {}
    documents = PdfFolder(folder)
    with PagePool() as pool:
        for place, document in enumerate(source.documents):
            if count is not None:
                count(place, len(source.documents))
            try:
                measured = pool.page_sizes(documents.find(document.name))
            except PageProblem:
                continue
            for page_index, (width, height) in enumerate(measured.tolist()):
                if not math.isnan(width):
                    sizes[document.doc_id, page_index] = (width, height)
    return sizes


def _read_fields(path: Path, side: Side, _reading: Mapping[str, Any]) -> FieldDocuments:
    return fields_reader.read(path, side=side)


def _fields(truth: FieldDocuments, predicted: FieldDocuments, said: dict[str, Any]) -> Evaluation:
    found = _checked(truth.issues, predicted.issues, fields_reader.check_pair(truth, predicted))
    if "schema" in said:
        said["schema"] = fields_reader.read_schema(said["schema"])
    return Evaluation(fields.evaluate(truth, predicted, **said), found)


def _read_posters(path: Path, side: Side, _reading: Mapping[str, Any]) -> posters_reader.Posters:
    return posters_reader.read(path, side=side)


def _posters(truth: posters_reader.Posters, predicted: posters_reader.Posters, said: dict[str, Any]) -> Evaluation:
    result = posters.evaluate(truth, predicted, **said)
    return Evaluation(result, result.issues)


class _Run(NamedTuple):
    """How a side is read, how models are evaluated against one ground truth, and which options there are."""

    read: Callable[[Path, Side, Mapping[str, Any]], Any]
    evaluate: _Together
    options: tuple[str, ...]


_RUNS: dict[str, _Run] = {
    snapshot.NAME: _Run(_read_boxes, _of_boxes(snapshot), (*_BOXES, "class_weight")),
    pixel.NAME: _Run(
        _read_either,
        _one_by_one(_pixel),
        ("min_score", "labels", "map_label", "format", "classes", "missing_page", "page_size", "pdfs", "exact"),
    ),
    pod.NAME: _Run(
        _read_boxes,
        _of_boxes(pod),
        (*_BOXES, "ap", "small_px", "line_px", "lenient"),
    ),
    coco.NAME: _Run(_read_boxes, _of_boxes(coco), (*_BOXES, "page_ranges")),
    fields.NAME: _Run(
        _read_fields, _one_by_one(_fields), ("iou", "min_score", "labels", "parity", "recall_grid", "schema")
    ),
    posters.NAME: _Run(_read_posters, _one_by_one(_posters), ("profile",)),
}
