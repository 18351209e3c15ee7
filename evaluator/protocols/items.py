"""What the protocols of items share, `order`, `text` and `tables`: options, pairs of items, sums over pages, slices."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum
from statistics import fmean
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, NamedTuple, Self, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

from evaluator import formats
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.dataset import Annotations, Boxes, Dataset, JoinedBoxes, Side, fix_texts, join
from evaluator.data.issues import Issue, count_of, examples
from evaluator.data.subsets import kept_boxes
from evaluator.data.unshared_pages import unshared_issues
from evaluator.formats.json_text import garbage_collection_off
from evaluator.matching.item_pairs import ItemPairs, pages_by_text, pair_items, text_limit_issues
from evaluator.matching.overlap_limit import crowding_issues
from evaluator.metrics.item_ledger import Item, ItemLedger, Items, item_ledger
from evaluator.metrics.measures import Key, Measures, Ratios
from evaluator.metrics.observations import MeasureWords, Observations, attributes_of
from evaluator.metrics.results import JsonObject, ResultTable, Signature, threshold_text
from evaluator.protocols.base import (
    Count,
    Evaluation,
    FormatName,
    Labels,
    LevelName,
    MapLabel,
    Options,
    PageSize,
    Pdfs,
    Protocol,
    Result,
    Thresholds,
    View,
    raise_on_errors,
)

ALL_PAGES: Final = "All pages"
PAGES: Final = "pages"
"""The measure of slices that every protocol of items has, under a profile as well: its number page by page."""
_MARKDOWN: Final = "markdown"
DEFAULT_IOU: Final = 0.5
MOST_TEXT: Final = 200
"""Characters of a text in an exported table; JSON has all of it."""
Ratio = tuple[float, float]
"""A sum and what it is divided by; nothing where that is 0."""
Cell = str | int | float | None
_HAS: Final = {
    "order": ("the reading order of items", "order"),
    "text": ("the text of items", "text"),
    "cells": ("tables with cells", "html or cells"),
}


ItemProfile = Literal["own", "omnidocbench-1.5"]
"""Whose numbers: those of the protocol, or the published ones of a benchmark."""


class ItemOptions(Options, frozen=True, kw_only=True):
    """The options of every protocol of items."""

    profile: Annotated[
        ItemProfile,
        Meta(description="own, or the published numbers of a benchmark, of its ground truth and a folder of Markdown."),
    ] = "own"
    iou: Thresholds = ()
    same_label: Annotated[bool, Meta(description="pair items of one label only, here and in text and tables.")] = False
    labels: Labels = None
    map_label: MapLabel = msgspec.field(default_factory=dict)
    format: FormatName = None
    level: LevelName = None
    page_size: PageSize = None
    pdfs: Pdfs = None


OptionsT = TypeVar("OptionsT", bound=ItemOptions)


class PageNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """What a page adds to the numbers: where it is, and for each measure a sum and its divisor."""

    document: str
    page: int

    @property
    def ratios(self) -> Mapping[str, Ratio]:
        """Return the measures of the page, by name."""
        raise NotImplementedError

    @property
    def costs(self) -> Sequence[tuple[str, int]]:
        """Return the name and the cost of each mistake of the page, the dearest first."""
        raise NotImplementedError

    def to_json(self) -> JsonObject | list[JsonObject]:
        """Return what is stated of this page alone, under ``items``."""
        raise NotImplementedError


PageT = TypeVar("PageT", bound=PageNumbers)
Sums = Mapping[str, Callable[[Sequence[PageNumbers]], Ratio]]
"""What adds up measures over some pages, by their names."""


def value_of(ratio: Ratio) -> float | None:
    """Return a ratio; None without a divisor."""
    return ratio[0] / ratio[1] if ratio[1] else None


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are defined; None for none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def by_document(pages: Iterable[PageT]) -> dict[str, list[PageT]]:
    """Return pages by their document, in order."""
    documents: dict[str, list[PageT]] = {}
    for page in pages:
        documents.setdefault(page.document, []).append(page)
    return documents


def page_means(pages: Sequence[PageNumbers], name: str) -> JsonObject:
    """Return a measure as the mean over pages and over documents, and pooled; and on how many pages it is defined."""
    ratios = [page.ratios[name] for page in pages]
    of_documents = (mean(value_of(page.ratios[name]) for page in some) for some in by_document(pages).values())
    return {
        "page_mean": mean(map(value_of, ratios)),
        "document_mean": mean(of_documents),
        "micro": pooled(ratios),
        "pages": sum(1 for ratio in ratios if ratio[1]),
    }


def pooled(ratios: Iterable[Ratio]) -> float | None:
    """Return the sum over the sum of the divisors."""
    return value_of(total(ratios))


def total(ratios: Iterable[Ratio]) -> Ratio:
    """Return the sum, and that of the divisors."""
    every = list(ratios)
    return fsum(part for part, _ in every), fsum(whole for _, whole in every)


class Page(msgspec.Struct, frozen=True):
    """A page of both sides: the rows of the items that take part, in file order, and which of them are one."""

    document: str
    page: int
    truth: list[int]
    predicted: list[int]
    pairs: dict[int, int]

    @property
    def rows(self) -> list[tuple[int | None, int | None]]:
        """Return the true items with their partners, then the predicted ones without, None for none."""
        partners = {*self.pairs.values()}
        alone: list[tuple[int | None, int | None]] = [(None, row) for row in self.predicted if row not in partners]
        return [*((row, self.pairs.get(row)) for row in self.truth), *alone]


@dataclass(frozen=True, eq=False)
class ItemPartial(Generic[PageT]):
    """The pages of a result, in the order of document and page; those of parts are those of the whole."""

    pages: tuple[PageT, ...]

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """Put the pages of all parts together; none may be in two of them."""
        return cls(tuple(sorted((page for part in parts for page in part.pages), key=_place)))


def _place(page: PageNumbers) -> tuple[str, int]:
    return page.document, page.page


@dataclass(frozen=True, eq=False)
class ItemResult(Result, Generic[PageT]):
    """The evaluation of one prediction, page by page.

    `paired`: the items of each of `own_pages` and which are one. `said` is what the signature says besides the counts.
    `merged`: the pages of parts evaluated by themselves.
    """

    dataset: Dataset
    paired: Sequence[Page]
    own_pages: tuple[PageT, ...]
    said: tuple[str, ...]
    merged: ItemPartial[PageT] | None = None
    name: ClassVar[str]
    version: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]

    @property
    def ground_truth(self) -> Annotations:
        """Return the true side."""
        return self.dataset.ground_truth.source

    @property
    def prediction(self) -> Annotations:
        """Return the predicted side."""
        return self.dataset.predictions[0].source

    @property
    def pages(self) -> tuple[PageT, ...]:
        """Return every page of either side, by document and page."""
        return self.partial.pages

    @property
    def partial(self) -> ItemPartial[PageT]:
        """Return what the numbers follow from."""
        return self.merged or ItemPartial(self.own_pages)

    @property
    def signature(self) -> Signature:
        """Return what made these numbers."""
        return Signature(
            protocol=self.name,
            version=self.version,
            min_score=None,
            options=(*self.said, *fix_texts(self.ground_truth, self.prediction)),
            documents=len(by_document(self.pages)),
            pages=len(self.pages),
        )

    @abstractmethod
    def summary(self, pages: Sequence[PageT]) -> JsonObject:
        """Return the numbers of some pages under the keys of the terminal contract."""

    @abstractmethod
    def row(self, pages: Sequence[PageT]) -> tuple[Cell, ...]:
        """Return the numbers of some pages as cells of the table, one for each of `columns`."""

    def sums(self, names: Iterable[str]) -> Sums:
        """Return what adds up each of the measures that are compared; here all, pooled."""
        return {name: pooled_sum(name) for name in names}

    def to_json(self) -> JsonObject:
        """Return the result as plain values; undefined is None, pages count from 0."""
        sides = {"ground_truth": self.ground_truth, "predictions": self.prediction}
        only_in = self.dataset.documents_only_in()
        return {
            "protocol": self.name,
            "signature": self.signature.line,
            **{key: {"name": side.name, "sha256": side.sha256} for key, side in sides.items()},
            "dataset": self.summary(self.pages),
            "documents": {document: self.summary(pages) for document, pages in by_document(self.pages).items()},
            "pages": [
                {"document": page.document, "page": page.page, **self.summary([page]), "items": page.to_json()}
                for page in self.pages
            ],
            "documents_only_in": {
                "ground_truth": list(only_in["ground_truth"]),
                "predictions": list(only_in["prediction"]),
            },
        }

    def table(self) -> ResultTable:
        """Return the numbers of all pages, then those of each document."""
        documents = by_document(self.pages)
        rows = [(ALL_PAGES, *self.row(self.pages)), *((name, *self.row(some)) for name, some in documents.items())]
        return self.as_table(("document", *self.columns), rows)

    def csv_table(self) -> ResultTable:
        """Return one row per page, which is counted from 0."""
        rows = [(page.document, page.page, *self.row([page])) for page in self.pages]
        return self.as_table(("document", "page", *self.columns), rows)

    def as_table(self, columns: Sequence[str], rows: Sequence[tuple[Cell, ...]]) -> ResultTable:
        """Return rows under the name of the prediction and the signature."""
        return ResultTable(
            title=self.prediction.name, signature=self.signature.line, columns=tuple(columns), rows=tuple(rows)
        )


# --- what slices are made of ---------------------------------------------------------------------------------


Known = Mapping[str, str | float | None]
"""Attributes of a thing, by name."""


class Thing(NamedTuple):
    """What a measure counts once: the place of its page among those of the result, its own place, value, attributes.

    `place`: its position in the file of the ground truth, empty for the page as a whole. `value`: in [0, 1].
    """

    at: int
    place: str
    value: float
    own: Known


def observations_of(
    results: Sequence[ItemResult[Any]], things: Callable[[ItemResult[Any]], Iterable[Thing]]
) -> Observations:
    """Return the things of one `ItemResult`, or those that two of one ground truth share, with attributes."""
    first = results[0]
    every = [{_thing_key(result, thing): thing for thing in things(result)} for result in results]
    seen = {key: thing for key, thing in every[0].items() if all(key in others for others in every)}
    items, own = [Item(*key) for key in seen], [thing.own for thing in seen.values()]
    documents, labels = first.dataset.document_ids, [str(known.get("label", "")) for known in own]
    code, label_code = ({name: at for at, name in enumerate(names)} for names in (documents, sorted({*labels})))
    values = [[others[key].value for key in seen] for others in every]
    return Observations(
        documents=documents,
        document=np.array([code[item.document] for item in items], dtype=np.int64),
        page=np.array([item.page for item in items], dtype=np.int64),
        items=items,
        label=np.array([label_code[label] for label in labels], dtype=np.int64),
        values=np.array(values, dtype=np.float64).reshape(len(results), len(seen)),
        attributes=(
            *attributes_of(own, "box"),
            *attributes_of(_known_of_pages(first, [thing.at for thing in seen.values()]), "page"),
        ),
    )


def _thing_key(result: ItemResult[Any], thing: Thing) -> tuple[str, int, str]:
    page = result.pages[thing.at]
    return page.document, page.page, thing.place


def _known_of_pages(result: ItemResult[Any], places: Sequence[int]) -> list[Known]:
    last: Counter[str] = Counter()
    for page in result.pages:
        last[page.document] = max(last[page.document], page.page)
    known: list[Known] = []
    for at in places:
        page = result.pages[at]
        end = last[page.document]
        known.append(
            {
                "items on page": float(len(result.paired[at].truth)),
                "page number": page.page + 1.0,
                "position in document": page.page / end if end else None,
                "pages in document": end + 1.0,
            }
        )
    return known


# --- the protocol ---------------------------------------------------------------------------------------------


class PublishedResult(ItemResult[PageT]):
    """The result of a profile: numbers as a benchmark publishes them; `cost` is what differences of its pages cost."""

    cost: ClassVar[str]

    @classmethod
    @abstractmethod
    def prepare(
        cls, truth: Annotations, predicted: Annotations, options: ItemOptions
    ) -> tuple[Annotations, tuple[Issue, ...]]:
        """Return a prediction and all issues of the two; see `Protocol.prepare`."""

    @classmethod
    @abstractmethod
    def evaluate(cls, truth: Annotations, models: Sequence[Annotations], options: ItemOptions) -> list[Evaluation]:
        """Return the evaluations of models against one ground truth, in order."""


class ItemProtocol(Protocol[Annotations, OptionsT]):
    """A protocol that compares items of pages one by one.

    `column` is what both sides must have; `titles` has the names of mistakes in words, those of the profile as well,
    `cost` what they cost; `by_page` is the measure of slices of pages; `published` evaluates under a profile.
    """

    kind = "boxes"
    reads_items = True
    correctable = False
    views: ClassVar[tuple[View, ...]] = ("reading",)
    column: ClassVar[Literal["order", "text", "cells"]]
    titles: ClassVar[Mapping[Any, str]]
    cost: ClassVar[str]
    by_page: ClassVar[str]
    published: ClassVar[type[PublishedResult[Any]]]

    def reading(self, side: Side, options: OptionsT) -> formats.Reading:
        """Return how a side is read: scores say nothing here, so that either file may have them."""
        format = options.format
        if options.profile != "own":
            format = "omnidocbench" if side == "ground_truth" else "markdown"
        return formats.Reading(format=format, level=options.level, unscored=True, items=True)

    def label_mapping(self, options: OptionsT) -> Mapping[str, str]:
        """Return new names of labels by their old ones."""
        return options.map_label

    def labels(self, result: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:  # noqa: ANN401
        """Return the labels that the two files know."""
        return result.ground_truth.labels, result.prediction.labels

    @abstractmethod
    def takes_part(self, side: JoinedBoxes) -> BoolArray:
        """Return which items of a side are compared, bool, shape (N,)."""

    @abstractmethod
    def result(self, pages: Sequence[Page], dataset: Dataset, options: OptionsT, said: tuple[str, ...]) -> Any:  # noqa: ANN401
        """Return the result of a dataset with one prediction; `said` is how items were paired."""

    def evaluate(
        self, truth: Annotations, models: Sequence[Annotations], options: OptionsT, count: Count | None = None
    ) -> list[Evaluation]:
        """Return one evaluation for each model."""
        if options.profile != "own":
            return self.published.evaluate(truth, models, options)
        if len(options.iou) > 1:
            raise ValueError(f"--iou takes one threshold for {self.name}; found {len(options.iou)}")
        iou = options.iou[0] if options.iou else DEFAULT_IOU
        evaluations = []
        for predicted in models:
            resolved, issues = self.prepare(truth, predicted, options)
            dataset = join(truth, resolved)
            taking = self._taking(dataset, options)
            pairs = pair_items(dataset, taking, pages_by_text(dataset, taking), iou=iou, same_label=options.same_label)
            label = "one label" if options.same_label else "any label"
            said = [f"IoU ≥ {threshold_text(iou)}, {label}"]
            if options.labels is not None:
                said.append("labels " + ", ".join(options.labels))
            with garbage_collection_off():
                result = self.result(pages_of(dataset, pairs), dataset, options, tuple(said))
            odd = (*issues, *_pairing_issues(dataset, pairs), *self.side_issues(dataset))
            odd += result.own_issues(predicted.name)
            evaluations.append(Evaluation(result, odd))
        return evaluations

    def measures(self, result: Any) -> Measures:  # noqa: ANN401
        """Return the measures; documents weigh by what these are divided by."""
        return document_ratios(result.pages, result.sums(self.metrics))

    def cost_of(self, result: Any) -> str:  # noqa: ANN401
        """Return what the mistakes of a result cost, under a profile as that has it."""
        return result.cost if isinstance(result, PublishedResult) else self.cost

    def item_ledgers(self, a: Any, b: Any) -> tuple[ItemLedger, ...]:  # noqa: ANN401
        """Return the pages of two results by what their mistakes cost, all and by name."""
        places = list(dict.fromkeys(_place(page) for result in (a, b) for page in result.pages))
        row_of = {place: row for row, place in enumerate(places)}
        amounts = []
        for result in (a, b):
            costs: FloatArray = np.zeros((len(places), 1 + len(self.titles)))
            column_of = {name: column for column, name in enumerate(self.titles, start=1)}
            for page in result.pages:
                for name, cost in page.costs:
                    costs[row_of[_place(page)], [0, column_of[name]]] += cost
            amounts.append(costs)
        happens = np.flatnonzero((amounts[0] + amounts[1]).any(axis=0) | (np.arange(1 + len(self.titles)) == 0))
        rows = ["All mistakes", *self.titles.values()]
        items, happening = Items(Item(document, page) for document, page in places), [rows[row] for row in happens]
        return (item_ledger("page", f"{self.cost_of(a)}s", happening, items, [side[:, happens] for side in amounts]),)

    @abstractmethod
    def things(self, result: Any, measure: str) -> Iterable[Thing]:  # noqa: ANN401
        """Return what one of `slice_measures` is a mean over."""

    def sliced_by(self, result: Any) -> Mapping[str, MeasureWords]:  # noqa: ANN401
        """Return the measures of slices: under a profile that of pages alone."""
        return {PAGES: self.slice_measures[PAGES]} if isinstance(result, PublishedResult) else self.slice_measures

    def observations(self, results: Sequence[Any], measure: str, *, scores: bool = False) -> Observations:
        """See `Protocol.observations`."""
        if measure not in self.slice_measures:
            raise KeyError(measure)
        if measure == PAGES:
            return observations_of(results, self._pages)
        if measure not in self.sliced_by(results[0]):
            raise ValueError(f"slices of published numbers are by page; give --measure {PAGES}, or leave out --profile")
        return observations_of(results, partial(self.things, measure=measure))

    def _pages(self, result: ItemResult[Any]) -> Iterable[Thing]:
        """Yield the pages on which `by_page` is defined, 1 for what is read right."""
        name = self.by_page
        for at, page in enumerate(result.pages):
            value = value_of(page.ratios[name])
            if value is not None:
                share = 1.0 - value if self.metrics[name].lower_is_better else value
                yield Thing(at, "", min(max(share, 0.0), 1.0), {})

    def side_issues(self, dataset: Dataset) -> tuple[Issue, ...]:
        """Return what is odd about the items of the two sides, as warnings."""
        return ()

    def _taking(self, dataset: Dataset, options: OptionsT) -> list[BoolArray]:
        return [self._chosen(side, dataset, options) for side in (dataset.ground_truth, dataset.predictions[0])]

    def _chosen(self, side: JoinedBoxes, dataset: Dataset, options: OptionsT) -> BoolArray:
        codes = [dataset.label_code[label] for label in dataset.scored_labels(options.labels)]
        return self.takes_part(side) & (np.isin(side.label, codes) | (options.labels is None))

    def prepare(
        self, truth: Annotations, predicted: Annotations, options: OptionsT
    ) -> tuple[Annotations, tuple[Issue, ...]]:
        """See `Protocol.prepare`; a side without what is compared is an error besides."""
        if options.profile != "own":
            return self.published.prepare(truth, predicted, options)
        raise_on_errors(_markdown_issues(truth, predicted))
        resolved, issues = super().prepare(truth, predicted, options)
        lacking = tuple(issue for side in (truth, resolved) for issue in self._lacking(side, options))
        boxed = (kept_boxes(side, ~np.isnan(side.boxes.xyxy[:, 0])) for side in (truth, resolved))
        issues = raise_on_errors(issues, lacking, unshared_issues(truth, resolved), crowding_issues(*boxed))
        dataset = join(truth, resolved)
        taking = self._taking(dataset, options)
        by_text, compares_texts = pages_by_text(dataset, taking), self.column != "order"
        return resolved, raise_on_errors(
            issues, text_limit_issues(dataset, taking, by_text, compares_texts=compares_texts)
        )

    def lacks_column(self, side: Boxes, options: OptionsT) -> bool:
        """Return whether a side has nothing that could be compared."""
        return getattr(side, self.column) is None

    def _lacking(self, side: Annotations, options: OptionsT) -> tuple[Issue, ...]:
        if not len(side.boxes) or not self.lacks_column(side.boxes, options):
            return ()
        what, key = _HAS[self.column]
        return (
            Issue(
                severity="error",
                file=side.name,
                place="",
                rule=f"{self.name} compares {what} ({self.title})",
                found=f"none of {count_of(len(side.boxes), 'item')} has any",
                fix=f"Give a file that has them, such as lines of items with {key} (format items, docs/formats.md).",
            ),
        )


def _markdown_issues(truth: Annotations, predicted: Annotations) -> tuple[Issue, ...]:
    """Return an error for Markdown beside another format: it has one text for a page, and the other one for an item."""
    if (truth.format == _MARKDOWN) == (predicted.format == _MARKDOWN):
        return ()
    markdown, other = (truth, predicted) if truth.format == _MARKDOWN else (predicted, truth)
    return (
        Issue(
            severity="error",
            file=markdown.name,
            place="",
            rule="Markdown is compared with Markdown, or with a ground truth of OmniDocBench under its profile",
            found=f"{other.name} ({other.format})",
            fix="Add --profile omnidocbench-1.5, or choose it in Reading; else give Markdown for both.",
        ),
    )


def pages_of(dataset: Dataset, pairs: ItemPairs) -> list[Page]:
    """Return every page of either side with its items, in order."""
    sides = (dataset.ground_truth, dataset.predictions[0])
    rows = [
        _rows_by_page(side.page, part, dataset.pages)
        for side, part in zip(sides, (pairs.truth, pairs.predicted), strict=True)
    ]
    partner = dict(zip(pairs.truth_rows.tolist(), pairs.predicted_rows.tolist(), strict=True))
    names = dataset.document_ids
    places = zip(dataset.page_document.tolist(), dataset.page_index.tolist(), *rows, strict=True)
    return [
        Page(names[document], index, truth, predicted, {row: partner[row] for row in truth if row in partner})
        for document, index, truth, predicted in places
    ]


def position(side: JoinedBoxes, row: int | None) -> int | None:
    """Return the position of an item in its page of the file; None for none."""
    return None if row is None else int(side.source.boxes.position[row])


def _rows_by_page(page: IntArray, part: BoolArray, pages: int) -> list[list[int]]:
    rows = np.flatnonzero(part)
    order = rows[np.argsort(page[rows], kind="stable")]
    ends = np.cumsum(np.bincount(page[rows], minlength=pages))
    return [own.tolist() for own in np.split(order, ends[:-1])] if pages else []


def _pairing_issues(dataset: Dataset, pairs: ItemPairs) -> tuple[Issue, ...]:
    """Return a warning that names the pages matched by text, and one for items that say nothing there."""
    if not len(pairs.by_text):
        return ()
    truth, name = dataset.ground_truth.source.name, dataset.predictions[0].source.name
    names = dataset.document_ids
    pages = [f"{names[dataset.page_document[row]]}, page {dataset.page_index[row] + 1}" for row in pairs.by_text]
    rule = f"items of a page are paired with those of {truth} by their boxes, by their text where one has none"
    mute = f"; {count_of(pairs.mute, 'item')} without text and cells {'takes' if pairs.mute == 1 else 'take'} no part"
    issue = Issue(
        severity="warning",
        file=name,
        place="",
        rule=rule,
        found=f"pages by text {examples(pages)}{mute * bool(pairs.mute)}",
        fix="Nothing to do if the source has no boxes.",
    )
    return (issue,)


def document_ratios(pages: Sequence[PageNumbers], keys: Sums) -> Measures:
    """Return what is compared of a result: for each measure a sum and its divisor by document."""
    documents = by_document(pages)
    table = np.array([[keys[name](some) for name in keys] for some in documents.values()], dtype=np.float64)
    table = table.reshape(len(documents), len(keys), 2)
    numerator, denominator = table[:, :, 0], table[:, :, 1]
    sums = [total(zip(numerator[:, at], denominator[:, at], strict=True)) for at in range(len(keys))]
    values: FloatArray = np.array([np.nan if not whole else part / whole for part, whole in sums])
    part = Ratios(tuple(Key(name, ALL_PAGES) for name in keys), values, numerator, denominator)
    return Measures(tuple(documents), ALL_PAGES, (part,))


def page_sum(name: str) -> Callable[[Sequence[PageNumbers]], Ratio]:
    """Return what sums a measure as a mean over pages."""

    def sums(pages: Sequence[PageNumbers]) -> Ratio:
        values = [value for page in pages if (value := value_of(page.ratios[name])) is not None]
        return fsum(values), len(values)

    return sums


def pooled_sum(name: str) -> Callable[[Sequence[PageNumbers]], Ratio]:
    """Return what sums a measure as a pooled ratio."""
    return lambda pages: total(page.ratios[name] for page in pages)
