"""COCO detection of two large files that are never in memory as a whole: the numbers, no boxes.

Boxes wait in a temporary folder by shards of images. What matched adds up over shards: the numbers are those of
``coco.evaluate`` to the last digit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evaluator import formats
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import NO_RUN, CodeArray, Dataset, Repeats, Side, join
from evaluator.data.issues import Issue
from evaluator.formats import corpus
from evaluator.formats.coco.rules import Index, Labels
from evaluator.formats.coco.shape import NeedsFullValidation
from evaluator.formats.coco.shard_rows import PackJob, PackResult, as_document, read_shard, write_shards
from evaluator.formats.coco.stream import MOST_THREADS, NEED_FULL_VALIDATION, ImagesAndLabels, Instances
from evaluator.formats.columns import ColumnFolder
from evaluator.matching.box_results import plain_values
from evaluator.matching.pages_apart import PagesApart, apart_issues, apart_of, changes_on, pages_in_doubt, single_pages
from evaluator.matching.pairs import most_pairs
from evaluator.metrics.results import JsonObject, Signature, SourceFile
from evaluator.protocols.base import ByDocument
from evaluator.protocols.coco.curves import MOST_THRESHOLDS, CocoPartial, Curves
from evaluator.protocols.coco.evaluation import IOU_THRESHOLDS, CocoNumbers, error_types
from evaluator.protocols.coco.matching import MOST_DETECTIONS, NAME, BeyondLimit, own_signature, pair
from evaluator.system.engine import Engine, Shard, plan
from evaluator.system.memory import keep_freed_memory

if TYPE_CHECKING:
    from evaluator.matching.error_types import TidePartial

_MOST_PAGES: Final = 2_500
# Shards of few pages take longer, and many shards of a small corpus make the most of its memory.
_FEWEST_PAGES: Final = 1_000
_SHARDS: Final = 20
# Each shard that is matched needs memory of its own.
_MATCHED_AT_A_TIME: Final = 2
# Bytes of both files from which it pays to start processes.
_LARGE: Final = 64 << 20
_SIDES: Final[tuple[Side, Side]] = ("ground_truth", "prediction")


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamedResult(CocoNumbers):
    """The numbers of one model, without its boxes.

    `matched` is what they follow from. `errors` is what the error types follow from,
    None where they are not wanted. `repeats`: those of the ground truth and of the predictions.
    """

    ground_truth: SourceFile
    prediction: SourceFile
    pages: int
    matched: CocoPartial
    errors: TidePartial | None
    apart: tuple[PagesApart, ...]
    repeats: tuple[Repeats, Repeats]

    def own_issues(self, file: str) -> tuple[Issue, ...]:
        """Return what other results say, which single pages are off, and how many boxes are listed again."""
        again = (
            *self.repeats[0].issues(self.ground_truth.name, "ground_truth"),
            *self.repeats[1].issues(file, "prediction"),
        )
        return (*again, *super().own_issues(file), *apart_issues(self.apart, file))

    @property
    def title(self) -> str:
        """Return the name of the predictions."""
        return self.prediction.name

    @property
    def f1(self) -> float | None:
        """Return F1 over all labels at the lowest threshold; None without any box."""
        return self.matched.f1

    @property
    def recall(self) -> float | None:
        """Return recall over all labels at the lowest threshold; None without ground truth."""
        return self.matched.recall

    @property
    def ranked(self) -> tuple[Sequence[CocoPartial], Sequence[int], float]:
        """Return what matched by rising threshold, codes of the labels that are scored, and the lowest score."""
        return (self.matched,), range(len(self.labels)), 0.0

    @cached_property
    def signature(self) -> Signature:
        """Return what made these numbers."""
        return Signature(documents=len(self.documents), pages=self.pages, **own_signature(self.iou))

    @property
    def by_document(self) -> ByDocument:
        """Return counts of each document. A results list names no run and no model."""
        counts = zip(self.iou, self.matched.per_document(len(self.documents)), strict=True)
        return ByDocument(self.documents, self.pages, dict(counts), NO_RUN, "")

    def to_json(self) -> JsonObject:
        """Return the result as plain values under the keys of `CocoResult.to_json`."""
        # A results list takes its documents from its ground truth.
        nowhere: dict[Side, tuple[str, ...]] = {"ground_truth": (), "prediction": ()}
        own = self.own_values(self.errors)
        return plain_values(self.signature, (self.ground_truth, self.prediction), self.labels, own, nowhere)


def evaluate_streamed(
    ground_truth: Path,
    prediction: Path,
    *,
    iou: Sequence[float] = IOU_THRESHOLDS,
    pages: int | None = None,
    error_types: bool = False,
    engine: Engine | None = None,
) -> StreamedResult | None:
    """Return the twelve numbers of a results list against an instances file; None unless all is plain.

    Files need not be sorted; `iou` is in (0, 1]; `pages` of a shard do not change the numbers; `error_types`: whether
    the result has them; for `engine` see `Engine`. None when the ordinary way has to be taken: a file cannot be read
    or is no COCO file of plain numbers, an issue is to be reported, a threshold is out of range or there are more than
    64, or a page has so many boxes that their pairs have to be counted.
    """
    rising = tuple(sorted(set(map(float, iou))))
    if not rising or len(rising) > MOST_THRESHOLDS or not 0.0 < rising[0] <= rising[-1] <= 1.0:
        return None
    keep_freed_memory()
    try:
        kept = corpus.side_at(ground_truth, "ground_truth"), corpus.side_at(prediction, "prediction")
        if None in kept and not (_is_coco(ground_truth) and _is_coco(prediction)):
            return None
        sizes = (each.stat().st_size for side in (ground_truth, prediction) for each in _files(side))
        large = sum(sizes) >= _LARGE
        engine = Engine() if engine is None else engine if large else engine.here()
        with tempfile.TemporaryDirectory(prefix="layoutscope-") as folder:
            return _result(engine, (ground_truth, prediction), Path(folder), rising, pages, errors=error_types)
    except NEED_FULL_VALIDATION:
        # The ordinary way uses the same code: what is wrong there is raised again.
        return None


class _Work(NamedTuple):
    folder: Path
    shard: Shard
    kept: tuple[Path, Path] | None
    entries: IntArray
    labels: tuple[str, ...]
    page_document: CodeArray
    page_size: FloatArray
    iou: tuple[float, ...]
    errors: bool


def _result(
    engine: Engine,
    paths: tuple[Path, Path],
    folder: Path,
    iou: tuple[float, ...],
    pages: int | None,
    *,
    errors: bool,
) -> StreamedResult:
    """Return the result of two files; one of `NEED_FULL_VALIDATION` when they are not plain, or the disk is full."""
    source = _Columns(*paths) if paths[0].is_dir() else _Files(*paths)
    named = source.named
    count = len(named.ids)
    pages = pages or min(max(count // _SHARDS, _FEWEST_PAGES), _MOST_PAGES)
    if engine.parts is not None:
        pages = max(-(-count // engine.parts.count), 1)
    shards = plan(np.arange(count), pages)
    truth, predictions = source.packed(engine, shards, folder)
    _check_pair_counts(truth.boxes)
    _check_pair_counts(predictions.boxes)
    labels = named.labels.names
    work = [
        _Work(
            folder, shard, source.kept, source.entries[own], labels, named.document[own], named.size[own], iou, errors
        )
        for shard in shards
        for own in (slice(shard.start, shard.stop),)
    ]
    sources = truth.sha256, predictions.sha256
    parts = engine.share(work, sources, _matched, threads=_MATCHED_AT_A_TIME)
    partials, mistakes, beyond, doubts, truths, predicted = zip(*parts, strict=True)
    matched = CocoPartial.merged(partials)
    # As large as what they are merged to.
    del parts, partials
    return StreamedResult(
        ground_truth=SourceFile(source.names[0], truth.sha256),
        prediction=SourceFile(source.names[1], predictions.sha256),
        labels=labels,
        iou=iou,
        documents=named.documents,
        columns=Curves(matched).averages(range(len(labels))),
        pages=count,
        matched=matched,
        beyond_limit=BeyondLimit(MOST_DETECTIONS, *(sum(counts) for counts in zip(*beyond, strict=True))),
        errors=type(mistakes[0]).merged(mistakes) if errors else None,
        apart=_apart(engine, work, named, doubts),
        repeats=(Repeats.merged(truths), Repeats.merged(predicted)),
    )


class _Files:
    kept = None

    def __init__(self, truth: Path, predicted: Path) -> None:
        self._paths, self.names = (truth, predicted), (truth.name, predicted.name)
        with truth.open("rb") as file:
            self.named = Instances(file).named()
        self.entries = np.empty(0, dtype=np.int64)

    def packed(self, engine: Engine, shards: Sequence[Shard], folder: Path) -> list[PackResult]:
        threads = 1 if engine.elsewhere else MOST_THREADS
        packing = [
            PackJob(path, side, self.named, shards, folder, threads)
            for path, side in zip(self._paths, _SIDES, strict=True)
        ]
        # The predictions first: most doubts are about them.
        return engine.run(write_shards, packing[::-1])[::-1]


class _Columns:
    """Two sides of a corpus, whose boxes are where they are; raises `NeedsFullValidation` where they are not plain."""

    def __init__(self, truth: Path, predicted: Path) -> None:
        self.kept = truth, predicted
        self._folders = [ColumnFolder(each) for each in self.kept]
        pages, other = (each.pages for each in self._folders)
        self.names = pages.name, other.name
        plain = all(
            side.format == NAME and side.labels == pages.labels and not (side.issues or side.parts)
            for side in (pages, other)
        )
        columns_needed = self._folders[0].has("area") and self._folders[1].has("score")
        outlined = any(each.has("outlines") for each in self._folders)
        same = plain and list(pages.page_ids) == list(other.page_ids)
        if not (same and columns_needed) or outlined or pages.page_size is None or not pages.label_map:
            raise NeedsFullValidation
        try:
            ids = np.array(list(map(int, pages.page_ids)), dtype=np.int64)
        except ValueError as problem:
            raise NeedsFullValidation from problem
        self.entries = np.argsort(ids, kind="stable")
        names = [document.doc_id for document in pages.documents]
        by_name = sorted(range(len(names)), key=names.__getitem__)
        document = np.argsort(by_name).astype(np.int32)[pages.page_document[self.entries]]
        self.named = ImagesAndLabels(
            ids=ids[self.entries],
            size=pages.page_size[self.entries],
            document=document,
            page=pages.page_index[self.entries],
            documents=tuple(names[row] for row in by_name),
            labels=Labels(np.arange(len(pages.labels)), pages.labels),
            lookup=Index(ids[:0]),
            label_index=Index(ids[:0]),
        )

    def packed(self, _engine: Engine, _shards: Sequence[Shard], _folder: Path) -> list[PackResult]:
        return [PackResult(each.pages.sha256, each.page_counts[self.entries]) for each in self._folders]


def _check_pair_counts(boxes: IntArray) -> None:
    """Raise `NeedsFullValidation` where the ordinary way counts the pairs before it makes them."""
    if float((boxes.astype(np.float64) ** 2).sum()) > most_pairs(int(boxes.sum())):
        raise NeedsFullValidation


def _joined(given: _Work) -> Dataset:
    if given.kept is None:
        sides = [read_shard(given.folder, side, given.shard, given.labels) for side in _SIDES]
    else:
        boxes = [ColumnFolder(each).boxes_on(given.entries) for each in given.kept]
        pages = len(given.entries)
        sides = [as_document(each, side, pages, given.labels) for each, side in zip(boxes, _SIDES, strict=True)]
    return join(replace(sides[0], page_size=given.page_size), sides[1])


def _matched(
    given: _Work,
) -> tuple[CocoPartial, TidePartial | None, tuple[int, int], tuple[IntArray, int], Repeats, Repeats]:
    """Return what matched on the pages of a shard, the errors if wanted, what is beyond the limit, pages in doubt."""
    dataset = _joined(given)
    pairs = pair(dataset, iou_floor=given.iou[0])
    errors = error_types(pairs.match()) if given.errors else None
    _, predictions, pages = pairs.beyond_limit(pairs.beyond)
    by_page = CocoPartial.of(pairs, given.iou, np.arange(dataset.pages, dtype=np.int32))
    doubt = pages_in_doubt(dataset, 0, next(by_page.per_document(dataset.pages))[0])
    partial = by_page.on_documents(given.page_document)
    sides = (dataset.ground_truth, *dataset.predictions)
    truths, predicted = (Repeats.of(side.source.boxes) for side in sides)
    return partial, None if errors is None else errors.partial, (predictions, pages), doubt, truths, predicted


def _apart(
    engine: Engine, work: Sequence[_Work], named: ImagesAndLabels, doubts: Sequence[tuple[IntArray, int]]
) -> tuple[PagesApart, ...]:
    """Return the single pages of which the boxes are off; their shards are read again."""
    starts = [each.shard.start for each in work]
    doubt = np.concatenate([rows + start for (rows, _), start in zip(doubts, starts, strict=True)])
    by_document = doubt[np.lexsort((named.page[doubt], named.document[doubt]))]
    looked_at = single_pages(by_document, sum(compared for _, compared in doubts))
    if not len(looked_at):
        return ()
    rows = [np.sort(looked_at[(looked_at >= each.shard.start) & (looked_at < each.shard.stop)]) for each in work]
    again = [(each, own - each.shard.start) for each, own in zip(work, rows, strict=True) if len(own)]
    changes: dict[int, tuple[str, str]] = {}
    for (each, _), of_shard in zip(again, engine.run(_changes, again, threads=_MATCHED_AT_A_TIME), strict=True):
        changes |= {each.shard.start + row: change for row, change in of_shard.items()}
    pages = zip(named.document.tolist(), named.page.tolist(), strict=True)
    keys = [(named.documents[document], page) for document, page in pages] if changes else []
    return apart_of({row: changes[row] for row in looked_at.tolist() if row in changes}, keys)


def _changes(given: tuple[_Work, IntArray]) -> dict[int, tuple[str, str]]:
    """Return what brings the boxes of some pages of a shard in place, by page."""
    work, pages = given
    return changes_on(_joined(work), 0, pages)


def _files(side: Path) -> Iterable[Path]:
    return side.iterdir() if side.is_dir() else [side]


def _is_coco(path: Path) -> bool:
    """Return whether a path is a file that is read as COCO; a folder and a device are not."""
    return path.is_file() and formats.detect_file(path) == NAME
