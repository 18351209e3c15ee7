"""What a protocol is: one object with everything that differs between evaluation systems.

Owns `Protocol`, `BoxProtocol` for those that match boxes one to one, and their results. A new system is one file with
one such object and a line in the table of ``protocols``. Nothing here reads a file.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

from evaluator import formats
from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.dataset import Annotations, Dataset, Level, Run, Side, join, repeated_issues
from evaluator.data.fixes import Fix
from evaluator.data.issues import BadInput, Issue, count_of, has_errors
from evaluator.data.page_sizes import unit_issue
from evaluator.data.subsets import kept_boxes
from evaluator.data.unshared_pages import unshared_issues
from evaluator.matching.box_results import AnyBoxPairs, AnyBoxResult, BoxMatching, plain_values
from evaluator.metrics.metric import BOX_HEADLINE, BOX_METRICS, Metric
from evaluator.metrics.results import JsonObject, ResultTable, Signature, SourceFile
from evaluator.metrics.tied_scores import Range, Ties
from evaluator.pdf.folder import Folders
from evaluator.system import kept_values

if TYPE_CHECKING:
    # Numbers without boxes need none of these.
    from evaluator.data.fields import FieldDocuments
    from evaluator.formats.posters import Posters
    from evaluator.matching.box_items import SliceAverage
    from evaluator.matching.box_measures import RankedLabel
    from evaluator.matching.error_types import TideErrors
    from evaluator.metrics.costs import Costs
    from evaluator.metrics.item_ledger import ItemLedger
    from evaluator.metrics.measures import Key, Measures
    from evaluator.metrics.observations import MeasureWords, Observations
    from evaluator.system.engine import Engine, Partial

Source: TypeAlias = "Annotations | FieldDocuments | Posters"
"""One side as its format reads it."""
Kind = Literal["boxes", "fields", "posters"]
Count = Callable[[int, int], None]
"""Called with how much of the present job is done, and how much there is."""
Say = Callable[[str], None]
"""Called with a few words about what is being done."""
View = Literal[
    "overview", "page_browser", "gallery", "compare", "models", "slices", "pixel_confusion", "reading", "fields",
    "posters", "findings", "review_pack",
]  # fmt: skip

BOX_VIEWS: Final[tuple[View, ...]] = (
    "overview", "page_browser", "gallery", "compare", "models", "slices", "findings", "review_pack",
)  # fmt: skip

SUSPECT_F1: Final = 0.5
"""From this F1 on, two files are not suspected to be compared wrongly."""

SourceT = TypeVar("SourceT", bound="Source")
OptionsT = TypeVar("OptionsT", bound="Options")
BoxOptionsT = TypeVar("BoxOptionsT", bound="BoxOptions")


# --- options ---------------------------------------------------------------------------------------------------

Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What can be chosen of a protocol; terminal flags and dashboard controls follow from it.

    Every field has the protocol's own default and, in its annotation, a `msgspec.Meta` with help text and range. `fix`
    is done to the files before they are compared; see `evaluator.data.fixes`.
    """

    fix: Annotated[
        tuple[Fix, ...],
        Meta(
            description="Correct the predictions before they are compared, y-flip or lines.json:page-offset=+1; repeat "
            "it for more. layoutscope check proposes what fits."
        ),
    ] = ()
    allow_no_match: Annotated[bool, Meta(description="Evaluate files of which nothing matches, too.")] = False
    page_ranges: Annotated[
        int | bool,
        Meta(
            ge=0, description="Evaluate parts of about so many pages, by default of a number that fits, without boxes."
        ),
    ] = 0

    def chosen(self) -> dict[str, Any]:
        """Return the options that are not the protocol's own, by name."""
        defaults = type(self)()
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value != getattr(defaults, name)}


# Options that several protocols have; each says the same everywhere.
Thresholds = Annotated[
    tuple[float, ...],
    Meta(description='IoU threshold in (0, 1], or a range "0.50:0.95:0.05"; repeat it for more.'),
]
MinScore = Annotated[Share, Meta(description="Leave out predictions below this score before matching.")]
Labels = Annotated[tuple[str, ...] | None, Meta(description="Score these labels only, separated by commas.")]
MapLabel = Annotated[
    Mapping[str, str], Meta(description='Rename a label in all files, "fig=Figure"; repeat it for more.')
]
FormatName = Annotated[
    str | None, Meta(description="Format of the files, when it should not be recognised by content.")
]
PageSize = Annotated[
    tuple[float, float] | None,
    Meta(description='Width and height, "612x792", of pages whose size nothing else gives.'),
]
Pdfs = Annotated[Folders | None, Meta(description="Folder of the PDFs and page images that give the sizes of pages.")]
Columns = Annotated[
    str,
    Meta(
        description='What the columns of a CSV or Parquet file hold, "document=file,label=cls,x1=left,y1=top,x2=right,'
        'y2=bottom"; those with known names need not be listed.'
    ),
]

LevelName = Annotated[
    Level | None,
    Meta(
        description="Which boxes are read where a file states that some lie in others: outer, inner or all. By default "
        "tables, figures and lists as a whole, and the parts of what only groups others, such as a column."
    ),
]


class BoxOptions(Options, frozen=True, kw_only=True):
    """The options of every protocol that matches boxes; see the help texts."""

    iou: Thresholds = ()
    min_score: MinScore = 0.0
    min_area: Annotated[
        Share,
        Meta(
            description="Leave out predictions below this share of the page "
            "(0.008 for the published World Bank numbers)."
        ),
    ] = 0.0
    labels: Labels = None
    map_label: MapLabel = msgspec.field(default_factory=dict)
    as_reference: Annotated[bool, Meta(description="Allow --gt to be a prediction file.")] = False
    format: FormatName = None
    columns: Columns = ""
    level: LevelName = None
    page_size: PageSize = None
    pdfs: Pdfs = None
    polygons: Annotated[bool, Meta(description="Compare outlines instead of boxes, where a file has them.")] = False
    tolerant: Annotated[
        bool, Meta(description="State a second score besides, in which split and merged boxes are found.")
    ] = False


# --- results ---------------------------------------------------------------------------------------------------


class ByDocument(NamedTuple):
    """What is kept of each document beside the numbers over boxes.

    `documents` are ids. `thresholds`: true positives, false positives and false negatives of each document, int64, by
    IoU threshold. `run` and `model` (name and version, empty if not stated) made the predictions.
    """

    documents: tuple[str, ...]
    pages: int
    thresholds: Mapping[float, tuple[IntArray, IntArray, IntArray]]
    run: Run
    model: str


class Result(ABC):
    """What every protocol's evaluation gives back."""

    @property
    @abstractmethod
    def signature(self) -> Signature:
        """Return what made the numbers."""

    @abstractmethod
    def to_json(self) -> JsonObject:
        """Plain values under the keys of the terminal contract."""

    @abstractmethod
    def table(self) -> ResultTable:
        """Rows for terminals and spreadsheets."""

    def csv_table(self) -> ResultTable:
        """Return the rows for a spreadsheet."""
        return self.table()

    def csv_files(self) -> Mapping[str, ResultTable]:
        """More tables by the name of their file; empty for most protocols."""
        return {}

    def tables_beside(self) -> Sequence[ResultTable]:
        """Return tables that are shown below the one of the result; mostly none."""
        return ()

    @property
    def partial(self) -> Partial | None:
        """Return what the numbers follow from; a result that has it takes that of several parts as `merged`."""
        return None

    @property
    def by_document(self) -> ByDocument | None:
        """Return the counts of each document; None where no boxes are matched."""
        return None

    @property
    def ties(self) -> Ties | None:
        """Return what equal scores do to the average precision; None where it is the same in every order of them."""
        return None

    @property
    def tied_ranges(self) -> Mapping[Key, Range]:
        """Return the worst and the best value of each number that the order of equal scores moves; mostly none."""
        return {}

    def own_issues(self, file: str) -> tuple[Issue, ...]:
        """Return warnings about a file of predictions that follow from the numbers; here equal scores."""
        return () if self.ties is None else (self.ties.issue(file),)

    def release(self) -> None:  # noqa: B027 - most results keep nothing else
        """Give up what is kept only for another score threshold; one takes as long as the first then."""


class DatasetResult(Result):
    """A result about the boxes of a `Dataset`, which can be had again on a corrected one."""

    @property
    @abstractmethod
    def evaluated(self) -> Dataset:
        """Return the dataset that was evaluated."""

    @property
    @abstractmethod
    def model(self) -> int:
        """Return which of the dataset's predictions."""

    @abstractmethod
    def on(self, dataset: Dataset) -> DatasetResult:
        """Return the same evaluation of another dataset: its model, thresholds and options."""

    @abstractmethod
    def pairing_on(self, dataset: Dataset) -> AnyBoxResult:
        """Return which boxes of another dataset are one object, at the lowest threshold of this result."""


@dataclass(frozen=True, eq=False)
class BoxEvaluation(DatasetResult):
    """The evaluation of one model under a protocol that matches boxes.

    `thresholds` are by IoU threshold, in the order asked for. `merged`: the partial of parts that were matched by
    themselves; None where the numbers are those of the matching. `tolerant`: whether the score in which split and
    merged boxes are found is stated besides.
    """

    matching: BoxMatching
    thresholds: Mapping[float, AnyBoxResult]
    merged: Any = field(default=None, kw_only=True)
    tolerant: bool = field(default=False, kw_only=True)

    @property
    def first(self) -> AnyBoxResult:
        """Return the result at the first threshold, whose boxes are compared and counted by document."""
        return next(iter(self.thresholds.values()))

    @property
    def counted(self) -> Mapping[float, Any]:
        """Return what has ``per_label`` and ``by_document`` by IoU threshold: the results, or what is merged."""
        return self.thresholds if self.merged is None else self.merged.thresholds

    @property
    def evaluated(self) -> Dataset:
        """Return the dataset that was evaluated."""
        return self.matching.dataset

    @property
    def model(self) -> int:
        """Return which of the dataset's predictions."""
        return self.matching.model

    @property
    def signature(self) -> Signature:
        """Return what made these numbers."""
        return self.matching.signature(*self.thresholds)

    @property
    def by_document(self) -> ByDocument:
        """Return the counts of each document."""
        source, counted = self.matching.prediction.source, {}
        for iou, result in self.counted.items():
            tp, fp, fn = result.by_document
            counted[iou] = tp, fp, fn
        model = " ".join(part for part in (source.model, source.version) if part)
        return ByDocument(self.evaluated.document_ids, self.evaluated.pages, counted, source.run, model)

    def on(self, dataset: Dataset) -> BoxEvaluation:
        """Return the same evaluation of another dataset; see `BoxMatching.on`."""
        return self.of(self.matching.on(dataset))

    def subset(self, truth: BoolArray, predicted: BoolArray) -> BoxEvaluation:
        """Return the evaluation of some boxes of both sides: whole pages and labels, so that matches stay."""
        predictions = [side.source for side in self.evaluated.predictions]
        predictions[self.model] = kept_boxes(predictions[self.model], predicted)
        return self.on(join(kept_boxes(self.evaluated.ground_truth.source, truth), *predictions))

    def pairing_on(self, dataset: Dataset) -> AnyBoxResult:
        """Return the matching of another dataset at the lowest threshold."""
        return self.matching.on(dataset).at(min(self.thresholds))

    def of(self, matching: BoxMatching) -> BoxEvaluation:
        """Return the evaluation of another matching at the same thresholds."""
        thresholds = {iou: matching.at(iou) for iou in self.thresholds}
        return replace(self, matching=matching, thresholds=thresholds, merged=None)

    def plain_values(self, **own: Any) -> dict[str, Any]:  # noqa: ANN401 - what only this protocol says
        """Return the result under the keys of the terminal contract; see `matching.box_results.plain_values`."""
        dataset = self.evaluated
        sides = dataset.ground_truth.source, self.matching.prediction.source
        truth, prediction = (SourceFile(side.name, side.sha256) for side in sides)
        only_in = dataset.documents_only_in(self.model)
        if self.tolerant:
            from evaluator.matching.tolerant import tolerant_json  # most results state no such score

            own["tolerant"] = {repr(iou): tolerant_json(result) for iou, result in self.thresholds.items()}
        return plain_values(self.signature, (truth, prediction), self.matching.labels, own, only_in)

    def tables_beside(self) -> Sequence[ResultTable]:
        """Return the tolerant score below the strict one, where it is stated."""
        if not self.tolerant:
            return ()
        from evaluator.matching.tolerant import tolerant

        rows: list[tuple[str | int | float | None, ...]] = []
        for iou, result in self.thresholds.items():
            strict, score = result.per_label.micro.row(0), tolerant(result)
            rows.append((iou, "strict", strict["precision"], strict["recall"], strict["f1"], None, None))
            kinds = [group.kind for group in score.groups]
            ratios = score.precision, score.recall, score.f1
            rows.append((iou, "tolerant", *ratios, kinds.count("split"), kinds.count("merge")))
        columns = ("iou_threshold", "score", "precision", "recall", "f1", "split", "merged")
        return (self.as_table(columns, rows),)

    def as_table(self, columns: Sequence[str], rows: Iterable[tuple[str | int | float | None, ...]]) -> ResultTable:
        """Rows under the name of the prediction file and the signature."""
        title = self.matching.prediction.source.name
        return ResultTable(title=title, signature=self.signature.line, columns=tuple(columns), rows=tuple(rows))


class Number(NamedTuple):
    """One of the numbers that a protocol is known by.

    `metric` is a key of `evaluator.metrics.metric.Metric` where its difference has an interval, else empty; `value` is
    None where undefined, and then `why` says so in a few words.
    """

    title: str
    metric: str
    value: float | None
    why: str = ""


class NumberGroup(NamedTuple):
    """Numbers that belong together, in the order of the protocol."""

    title: str
    numbers: tuple[Number, ...]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A result, and everything that was odd about its inputs; `has_boxes`: whether it has more than its numbers.

    `costs`: what a table states of time, money and failed pages.
    """

    result: Result
    issues: tuple[Issue, ...]
    has_boxes: bool = True
    costs: Costs | None = None

    def to_json(self) -> JsonObject:
        """Return the result as plain values, with the issues of its inputs."""
        costs = {} if self.costs is None else {"costs": self.costs.to_json()}
        return {**self.result.to_json(), **costs, "issues": list(self.issues)}


ShardPair: TypeAlias = "tuple[Any, Any]"
"""Ground truth and prediction of some documents."""
ShardRunner: TypeAlias = Callable[[Callable[[ShardPair], Any], ShardPair], list[Any]]
"""Called with work, which another process can be given, and two sides; returns what it makes of each part, in order."""


# --- protocols -------------------------------------------------------------------------------------------------


class Protocol(ABC, Generic[SourceT, OptionsT]):
    """One evaluation system.

    Attributes
    ----------
    name : str
        As on the command line, and in signatures; `version` and `title` are what people call it.
    kind : "boxes", "fields" or "posters"
        What it evaluates; the formats of this kind can be given to it.
    options : type of Options
        What can be chosen, with defaults, ranges and help.
    needs_scores, matches_boxes : bool
        Whether every prediction must have a score; whether it pairs boxes one to one, as a `BoxProtocol`.
    reads_items : bool
        Whether it compares what items hold or their order, so that they need no box, and no labels in common.
    can_stream : bool
        Whether it has `evaluate_streamed`.
    knows_crowds : bool
        Whether it leaves regions of many objects (COCO ``iscrowd``) out; else they count as plain ground truth.
    correctable : bool
        Whether its numbers can be worked out on ground truth that reviewers corrected.
    metrics, headline : mapping of Metric, tuple of str
        What is compared of its results, by the name in JSON, and the names that a summary speaks of.
    views : tuple of str
        The views that can show it.
    slice_measures : mapping of MeasureWords
        What slices of its results can be measured by (see `observations`), the default first; empty where boxes are
        matched one to one.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    title: ClassVar[str]
    kind: ClassVar[Kind] = "boxes"
    options: type[OptionsT]
    needs_scores: ClassVar[bool] = False
    knows_crowds: ClassVar[bool] = False
    matches_boxes: ClassVar[bool] = False
    reads_items: ClassVar[bool] = False
    can_stream: ClassVar[bool] = False
    correctable: ClassVar[bool] = True
    metrics: ClassVar[Mapping[str, Metric]]
    headline: ClassVar[tuple[str, ...]]
    views: ClassVar[tuple[View, ...]]
    slice_measures: ClassVar[Mapping[str, MeasureWords]] = {}

    def reading(self, side: Side, options: OptionsT) -> formats.Reading:
        """Return how one side is read under some options."""
        return formats.Reading(side=side)

    def label_mapping(self, options: OptionsT) -> Mapping[str, str]:
        """Return new names of labels by their old ones."""
        return {}

    def true_side(self, truth: SourceT, options: OptionsT, say: Say) -> SourceT:
        """Return a ground truth as it is compared; ValueError for options that make no sense, in one sentence."""
        return truth

    def evaluate_streamed(
        self,
        ground_truth: Path,
        prediction: Path,
        options: OptionsT,
        name: str,
        *,
        error_types: bool = True,
        engine: Engine,
    ) -> Result | None:
        """Return the result from the files themselves, with F1 as ``f1``; None where they do not allow it.

        `name` is the prediction's in it; `error_types` says whether it is to have them. The engine may work on parts
        of it.
        """
        return None

    @abstractmethod
    def evaluate(
        self, truth: SourceT, models: Sequence[SourceT], options: OptionsT, count: Count | None = None
    ) -> list[Evaluation]:
        """Return the evaluations of models against one ground truth, one per model, in order.

        Protocols that go page by page call `count` with how many of how many pages are counted.

        Raises
        ------
        BadInput
            With all issues of both sides and of the pair.
        ValueError
            For an option that makes no sense; one sentence.
        """

    def evaluate_in_shards(
        self, truth: SourceT, predicted: SourceT, options: OptionsT, parts: ShardRunner
    ) -> Evaluation:
        """Return `evaluate` of one model, the numbers merged from parts of the documents where they have partials."""
        (whole,) = self.evaluate(truth, [predicted], options)
        result: Any = whole.result
        if type(result).partial is Result.partial:
            return whole
        partials = parts(partial(self._partial, options=options), (truth, predicted))
        return replace(whole, result=replace(result, merged=type(partials[0]).merged(partials)))

    def _partial(self, cut: ShardPair, options: OptionsT) -> Any:  # noqa: ANN401
        truth, predicted = cut
        return self.evaluate(truth, [predicted], options)[0].result.partial

    @abstractmethod
    def measures(self, result: Any) -> Measures:  # noqa: ANN401 - the protocol's own result
        """Return everything that can be compared of a result of this protocol."""

    def labels(self, result: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:  # noqa: ANN401
        """Return the labels that the ground truth and the prediction of a result know; empty without labelled boxes."""
        return (), ()

    def crowd_issues(self, truth: Annotations) -> tuple[Issue, ...]:
        """Return that regions of many objects count as plain boxes, in a system that does not know them."""
        crowd = truth.boxes.crowd
        if self.knows_crowds or crowd is None or not crowd.any():
            return ()
        place = f"{truth.items_at}[{int(truth.boxes.position[int(crowd.argmax())])}].iscrowd" if truth.items_at else ""
        rule = f"{self.title} has no regions of many objects (iscrowd)"
        fix = "They count as plain ground truth; coco leaves them, and what is predicted in them, out."
        count = count_of(int(crowd.sum()), "region")
        return (Issue(severity="warning", file=truth.name, place=place, rule=rule, found=count, fix=fix),)

    def prepare(
        self, truth: Annotations, predicted: Annotations, options: OptionsT
    ) -> tuple[Annotations, tuple[Issue, ...]]:
        """Return a prediction that can be joined with its ground truth, and all issues of the two.

        Raises
        ------
        BadInput
            When a file or the pair has an error.
        ValueError
            When the options say that boxes of the two cannot be compared; one sentence.
        """
        resolved = formats.resolve(predicted, truth)
        own = tuple(dict.fromkeys((*predicted.issues, *resolved.issues)))
        return resolved, raise_on_errors(truth.issues, own, (*unit_issue(truth, resolved), *self.crowd_issues(truth)))

    def item_ledgers(self, a: Any, b: Any) -> tuple[ItemLedger, ...]:  # noqa: ANN401 - the protocol's own results
        """Return two results of this protocol thing by thing; empty where boxes are matched one to one."""
        return ()

    def sliced_by(self, result: Any) -> Mapping[str, MeasureWords]:  # noqa: ANN401 - the protocol's own result
        """Return those of `slice_measures` that slices of a result have; mostly all."""
        return self.slice_measures

    def observations(self, results: Sequence[Any], measure: str, *, scores: bool = False) -> Observations:
        """Return what one of `slice_measures` is a mean over, of one result or of two with one ground truth.

        With `scores`, those of predictions are among the attributes where the measure is about predictions. KeyError
        for a measure that slices of the protocol do not have.
        """
        raise KeyError(measure)


class BoxProtocol(Protocol[Annotations, BoxOptionsT]):
    """A protocol that pairs the boxes of two files one to one.

    Attributes
    ----------
    iou_floor, iou_ceiling : float
        How far a slider may go; down to the floor without new pairs.
    above : bool
        Whether an IoU must be above its threshold; else at least the threshold.
    thresholds : tuple of float
        The protocol's own IoU thresholds.
    averages : tuple of str
        Its means over labels that have slices; see `evaluator.analysis.slices.averages`.
    pairs : type of BoxPairs
        What `pair` returns.
    """

    matches_boxes = True
    metrics = BOX_METRICS
    headline: ClassVar[tuple[str, ...]] = BOX_HEADLINE
    views = BOX_VIEWS
    iou_floor: ClassVar[float] = 0.1
    iou_ceiling: ClassVar[float] = 0.95
    above: ClassVar[bool] = False
    thresholds: ClassVar[tuple[float, ...]]
    averages: ClassVar[tuple[SliceAverage, ...]] = ()
    pairs: ClassVar[type[AnyBoxPairs]]

    def ranked(self, result: BoxEvaluation, average: SliceAverage) -> Iterator[list[RankedLabel]]:
        """Return the boxes behind one of `averages`, by threshold, then by label; nothing where it is undefined."""
        return iter(())

    def average(self, result: BoxEvaluation, average: SliceAverage) -> float | None:
        """Return one of `averages` over all labels; None where it is undefined."""
        return None

    def average_on(self, result: BoxEvaluation, average: SliceAverage, cells: BoolArray) -> float | None:
        """Return one of `averages` over some pages and labels, bool, shape (pages, labels)."""
        truth, predicted = result.evaluated.ground_truth, result.matching.prediction
        return self.average(result.subset(*(cells[side.page, side.label] for side in (truth, predicted))), average)

    def reading(self, side: Side, options: BoxOptionsT) -> formats.Reading:
        """Return how one side is read: a prediction as ground truth only when the options ask for that."""
        as_reference = side == "ground_truth" and options.as_reference
        return formats.Reading(
            side=side,
            as_reference=as_reference,
            format=options.format,
            columns=options.columns,
            level=options.level,
        )

    def label_mapping(self, options: BoxOptionsT) -> Mapping[str, str]:
        """Return new names of labels by their old ones."""
        return options.map_label

    def pair_issues(self, truth: Annotations, prediction: Annotations, options: BoxOptionsT) -> tuple[Issue, ...]:
        """Return what is wrong or odd about two files together; by itself that their boxes are in one unit."""
        return unit_issue(truth, prediction)

    def unshared_issues(
        self, truth: Annotations, prediction: Annotations, counts: tuple[IntArray, IntArray] | None = None
    ) -> tuple[Issue, ...]:
        """Return what only one of two files lists; see `unshared_pages.unshared_issues`."""
        return unshared_issues(truth, prediction, counts)

    @abstractmethod
    def pair(
        self, dataset: Dataset, model: int, options: BoxOptionsT, *, iou_floor: float | None = None
    ) -> AnyBoxPairs:
        """Return every pair of boxes that could match, for any score and IoU threshold from the floor on."""

    def kept_pair(self, dataset: Dataset, model: int, options: BoxOptionsT, files: Sequence[str]) -> AnyBoxPairs:
        """Return `pair` with maps for its columns, which another process finds again; `files`: digests of all sides."""
        # A corpus has the digests of the files it is made of, which another version may have read otherwise.
        columns = [
            zlib.crc32(np.ascontiguousarray(column).data)
            for side in (dataset.ground_truth, *dataset.predictions)
            for column in (side.page, side.label, side.xyxy, side.score)
        ]
        key = (list(files), self.name, repr(options), model, columns)
        parts = kept_values.get_or_make(key, lambda: self.pair(dataset, model, options).parts())
        return self.pairs.of_parts(dataset, parts)

    def match(
        self,
        pairs: AnyBoxPairs,
        options: BoxOptionsT,
        *,
        min_score: float | None = None,
        labels: Sequence[str] | None = None,
    ) -> BoxMatching:
        """Return the matching of the boxes that take part; `min_score` and `labels` instead of those of the options."""
        matching: BoxMatching = pairs.match(
            min_score=options.min_score if min_score is None else min_score,
            min_area=options.min_area,
            labels=options.labels if labels is None else labels,
            **self.own_options(options),
        )
        return matching

    def own_options(self, options: BoxOptionsT) -> Mapping[str, object]:
        """Return what its pairs receive in addition when they are matched, by name; empty for most protocols."""
        return {}

    @abstractmethod
    def result(self, matching: Any, iou: Sequence[float], options: BoxOptionsT) -> BoxEvaluation:  # noqa: ANN401
        """Return the evaluation of a matching at some thresholds."""

    def evaluate_model(self, dataset: Dataset, model: int, options: BoxOptionsT) -> BoxEvaluation:
        """Return the result of one of the models of a dataset."""
        if options.tolerant and options.polygons:
            raise ValueError("--tolerant is about boxes; leave out --polygons")
        iou = options.iou or self.thresholds
        pairs = self.pair(dataset, model, options, iou_floor=min(iou))
        return replace(self.result(self.match(pairs, options), iou, options), tolerant=options.tolerant)

    def evaluate(
        self,
        truth: Annotations,
        models: Sequence[Annotations],
        options: BoxOptionsT,
        count: Count | None = None,
    ) -> list[Evaluation]:
        """Return the evaluations of models of one dataset, so that documents, pages and labels have one code."""
        prepared = [self.prepare(truth, predicted, options) for predicted in models]
        dataset = join(truth, *(predicted for predicted, _ in prepared))
        results = [self.evaluate_model(dataset, model, options) for model in range(len(prepared))]
        return [
            Evaluation(result, (*issues, *result.own_issues(predicted.name)))
            for result, (predicted, issues) in zip(results, prepared, strict=True)
        ]

    def prepare(
        self, truth: Annotations, predicted: Annotations, options: BoxOptionsT
    ) -> tuple[Annotations, tuple[Issue, ...]]:
        """See `Protocol.prepare`; boxes that overlap in too many pairs are an error besides."""
        from evaluator.matching.overlap_limit import crowding_issues

        raise_on_errors(*(boxless_issues(side) for side in (truth, predicted)))
        outlines: tuple[Issue, ...] = ()
        if options.polygons:
            outlines = (*formats.outline_issues(truth), *formats.outline_issues(predicted))
        resolved = formats.resolve(predicted, truth)
        pair = self.pair_issues(truth, resolved, options)
        pair = pair if has_errors(pair) else (*pair, *self.unshared_issues(truth, resolved))
        own = tuple(dict.fromkeys((*predicted.issues, *resolved.issues)))
        again = (*repeated_issues(truth, "ground_truth"), *repeated_issues(predicted, "prediction"))
        every = raise_on_errors(truth.issues, own, outlines, pair, self.crowd_issues(truth), again)
        return resolved, raise_on_errors(every, crowding_issues(truth, resolved, polygons=options.polygons))

    def measures(self, result: BoxEvaluation) -> Measures:
        """Return the ratios of the matching at the first threshold."""
        from evaluator.matching.box_measures import box_measures

        return box_measures(result.first)

    def protocol_metrics(self, result: BoxEvaluation) -> tuple[NumberGroup, ...]:
        """Return the numbers that the protocol is known by, beside those at one threshold; often none."""
        return ()

    def label_numbers(self, result: BoxEvaluation) -> Mapping[str, Sequence[float | None]]:
        """Return some of these for each label of the matching, by title; the first is what labels are compared by."""
        return {}

    def error_types(self, result: BoxEvaluation) -> TideErrors | None:
        """Return the six TIDE types at the first threshold and what each costs; None where undetermined."""
        from evaluator.matching.box_scores import tide_of

        return tide_of(result.first)

    def labels(self, result: BoxEvaluation) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the labels that the two files know."""
        matching = result.matching
        return matching.dataset.ground_truth.source.labels, matching.prediction.source.labels


def lowest_threshold(iou: Sequence[float]) -> float:
    """Return the lowest of some IoU thresholds; ValueError without any."""
    if not iou:
        raise ValueError("at least one IoU threshold is needed")
    return min(iou)


def join_pair(truth: Annotations, prediction: Annotations) -> Dataset:
    """Return two files as one dataset; a prediction without pages and labels gets the ground truth's.

    BadInput when the two do not belong together, or their boxes are in different units.
    """
    resolved = formats.resolve(prediction, truth)
    raise_on_errors(unit_issue(truth, resolved))
    return join(truth, resolved)


def boxless_issues(source: Annotations) -> tuple[Issue, ...]:
    """Return an error for a file that has items and not a box."""
    if not source.boxes.lacks_boxes:
        return ()
    rule, found = "boxes are compared", f"none of {count_of(len(source.boxes), 'item')} has one"
    fix = "Evaluate it with order, text or tables."
    return (Issue(severity="error", file=source.name, place="", rule=rule, found=found, fix=fix),)


def raise_on_errors(*issues: Sequence[Issue]) -> tuple[Issue, ...]:
    """Return all issues in order, each once; BadInput when one of them is an error."""
    every = tuple(dict.fromkeys(issue for group in issues for issue in group))
    if has_errors(every):
        raise BadInput(every)
    return every
