"""Evaluating two sides of a corpus by parts of whole documents: the boxes of a part are read where it is worked on.

What is said is what the whole says, numbers and issues. Where boxes are odd the whole is looked at instead.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.analysis.doctor.match_check import micro_of
from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations, Dataset, Repeats, join, page_keys
from evaluator.data.issues import BadInput, Issue
from evaluator.data.subsets import kept_boxes
from evaluator.formats.columns import ColumnFolder, DamagedColumns
from evaluator.matching.pages_apart import PagesApart, apart_issues, apart_of, changes_on, pages_in_doubt, single_pages
from evaluator.matching.pairs import most_pairs
from evaluator.metrics.metric import BOX_METRICS
from evaluator.metrics.results import MetricColumns
from evaluator.protocols import AnyProtocol
from evaluator.protocols.base import SUSPECT_F1, BoxEvaluation, BoxProtocol, Evaluation, Options, Result
from evaluator.protocols.sharding import LARGE, PAGES, DocumentShards
from evaluator.system.engine import Engine

# By these a side is read or changed as a whole.
_OF_THE_WHOLE: Final = (
    "fix",
    "map_label",
    "as_reference",
    "format",
    "columns",
    "level",
    "pdfs",
    "polygons",
    "tolerant",
)


class Documents(NamedTuple):
    """Two sides of a corpus between two names of documents; `keys` are those of what the folders hold."""

    folders: tuple[Path, Path]
    keys: tuple[str, str]
    first: str
    last: str

    def read(self) -> tuple[Annotations, Annotations]:
        """Return both sides."""
        truth, predicted = map(_opened, self.folders, self.keys)
        return truth.between(self.first, self.last), predicted.between(self.first, self.last)


@lru_cache(maxsize=4)
def _opened(folder: Path, _key: str) -> ColumnFolder:
    """Return a folder; opened once by each process, as long as it holds the same."""
    return ColumnFolder(folder)


class _Cuts(DocumentShards):
    """Two sides of a corpus, cut between documents into parts that can be sent."""

    def __init__(
        self, folders: tuple[Path, Path], sides: tuple[ColumnFolder, ColumnFolder], pages: int, parts: int | None
    ) -> None:
        self._folders, self._keys = folders, (sides[0].manifest.key, sides[1].manifest.key)
        super().__init__(sides[0].pages, sides[1].pages, pages, parts)

    def __getitem__(self, at: Any) -> Any:  # noqa: ANN401 - as that of its base
        start, stop = self.shards[at]
        first, last = (self.names[start], self.names[stop - 1]) if stop > start else ("", "")
        return Documents(self._folders, self._keys, first, last)


class _Part(NamedTuple):
    """What is known of some documents: what the numbers follow from, and what shows whether the boxes belong together.

    `micro`: the pooled counts at the first threshold. `doubt`: pages by row, and how many are compared, see
    `pages_in_doubt`. `repeats`: those of the ground truth and of the predictions.
    """

    partial: Any
    micro: MetricColumns
    doubt: tuple[IntArray, int]
    repeats: tuple[Repeats, Repeats]


def evaluate_corpus(
    protocol: AnyProtocol, folders: tuple[Path, Path], options: Options, *, boxes: bool, engine: Engine
) -> Evaluation | None:
    """Return the evaluation of two sides of a corpus, without their boxes; None where the whole has to be read.

    `boxes`: whether measures are kept that need them.
    """
    try:
        sides = _sound(folders[0]), _sound(folders[1])
    except (OSError, DamagedColumns):
        return None
    if not _plain(protocol, sides, options) or (boxes and _measures_boxes(protocol)):
        return None
    truth, predicted = (each.pages for each in sides)
    dataset = join(truth, predicted)
    try:
        (without,) = protocol.evaluate(truth, [predicted], options)
    except (BadInput, ValueError):
        # The whole says what is wrong.
        return None
    if type(without.result).partial is Result.partial or _crowded(sides, dataset):
        return None
    pages = PAGES if isinstance(options.page_ranges, bool) or not options.page_ranges else options.page_ranges
    cuts = _Cuts(folders, sides, pages, None if engine.parts is None else engine.parts.count)
    engine = engine if cuts.pages >= LARGE else engine.here()
    work: Callable[[Any], _Part | None] = partial(_part, protocol=protocol, options=options)
    answers = engine.share(cuts, [truth.sha256, predicted.sha256], work)
    parts = [part for part in answers if part is not None]
    if len(parts) < len(answers):
        return None
    if (MetricColumns.merged([part.micro for part in parts]).row(0)["f1"] or 0.0) < SUSPECT_F1:
        return None
    merged = type(parts[0].partial).merged([part.partial for part in parts])
    result: Any = without.result
    result = replace(result, merged=merged)
    issues: tuple[Issue, ...] = without.issues
    apart: tuple[Issue, ...] = ()
    if isinstance(protocol, BoxProtocol):
        unshared = protocol.unshared_issues(truth, predicted, (sides[0].page_counts, sides[1].page_counts))
        apart = apart_issues(_pages_off(cuts, parts, dataset, engine), predicted.name)
        truths, models = (Repeats.merged(part.repeats[at] for part in parts) for at in (0, 1))
        again = _again((truths, models), truth, predicted)
        issues = (*dict.fromkeys((*issues, *unshared)), *again)
    return Evaluation(result, (*issues, *result.own_issues(predicted.name), *apart), has_boxes=False)


def _sound(folder: Path) -> ColumnFolder:
    return ColumnFolder(folder).checked().consistent()


def _plain(protocol: AnyProtocol, sides: tuple[ColumnFolder, ColumnFolder], options: Options) -> bool:
    chosen, (truth, predicted) = options.chosen(), sides
    boxes_matched = isinstance(protocol, BoxProtocol)
    outlined = not boxes_matched and any(each.has("outlines") for each in sides)
    # Boxes without a score are not left out, and the signature says so.
    unscored = bool(chosen.get("min_score")) and not predicted.has("score")
    of_sizes = boxes_matched and "page_size" in chosen
    if outlined or unscored or of_sizes or any(name in chosen for name in _OF_THE_WHOLE):
        return False
    sizes = [each.pages.page_size for each in sides]
    return truth.pages.unit == predicted.pages.unit and not any(
        size is not None and np.isnan(size).any() for size in sizes
    )


def _measures_boxes(protocol: AnyProtocol) -> bool:
    return isinstance(protocol, BoxProtocol) and any(name not in BOX_METRICS for name in protocol.metrics)


def _crowded(sides: tuple[ColumnFolder, ColumnFolder], dataset: Dataset) -> bool:
    """Return whether pairs of boxes have to be counted before they are made, as in `overlap_limit`."""
    for side, joined in zip(sides, (dataset.ground_truth, *dataset.predictions), strict=True):
        counts = side.page_counts
        on_page = np.bincount(joined.entry_page, weights=counts, minlength=dataset.pages)
        if float((on_page**2).sum()) > most_pairs(int(counts.sum())):
            return True
    return False


def _part(given: Documents, *, protocol: AnyProtocol, options: Options) -> _Part | None:
    # Results and their columns refer to each other: those of the part before are in memory until then.
    gc.collect()
    truth, predicted = given.read()
    try:
        (evaluation,) = protocol.evaluate(truth, [predicted], options)
        (without,) = protocol.evaluate(_emptied(truth), [_emptied(predicted)], options)
        scores = np.isnan(predicted.boxes.score)
        result: Any = evaluation.result
        own = result.own_issues(predicted.name)
        unshared = protocol.unshared_issues(truth, predicted) if isinstance(protocol, BoxProtocol) else ()
        repeats = Repeats.of(truth.boxes), Repeats.of(predicted.boxes)
        known = {*own, *without.issues, *unshared, *_again(repeats, truth, predicted)}
        if {*evaluation.issues} - known or (scores.any() and not scores.all()):
            return None
        doubt = np.empty(0, dtype=np.int64), 0
        if isinstance(result, BoxEvaluation):
            pages = result.evaluated.predictions[result.model].page[result.first.matched_rows[0]]
            matched = np.bincount(pages, minlength=result.evaluated.pages)
            doubt = pages_in_doubt(result.evaluated, result.model, matched)
            micro = result.first.per_label.micro
        else:
            micro = micro_of(protocol, options)(truth, predicted)
    except (BadInput, ValueError):
        return None
    return _Part(result.partial, copy(micro), doubt, repeats)


def _again(repeats: tuple[Repeats, Repeats], truth: Annotations, predicted: Annotations) -> tuple[Issue, ...]:
    return (*repeats[0].issues(truth.name, "ground_truth"), *repeats[1].issues(predicted.name, "prediction"))


def _emptied(source: Annotations) -> Annotations:
    return kept_boxes(source, np.zeros(len(source.boxes), dtype=bool))


def _pages_off(cuts: _Cuts, parts: Sequence[_Part], dataset: Dataset, engine: Engine) -> tuple[PagesApart, ...]:
    """Return the single pages of which the boxes are off; their parts are read again."""
    starts = [shard.start for shard in cuts.shards]
    doubt = [part.doubt[0] + start for part, start in zip(parts, starts, strict=True)]
    looked_at = single_pages(np.concatenate(doubt), sum(part.doubt[1] for part in parts))
    ends = np.searchsorted(looked_at, starts[1:])
    rows = [each - start for each, start in zip(np.split(looked_at, ends), starts, strict=True)]
    work = [(at, (cuts[at], own)) for at, own in enumerate(rows) if len(own)]
    changes: dict[int, tuple[str, str]] = {}
    for (at, _), of_part in zip(work, engine.run(_changes, [each for _, each in work]), strict=True):
        changes |= {starts[at] + row: change for row, change in of_part.items()}
    return apart_of(changes, page_keys(dataset)) if changes else ()


def _changes(given: tuple[Documents, IntArray]) -> dict[int, tuple[str, str]]:
    """Return what brings the boxes of some pages in place, by row among those of the part."""
    documents, pages = given
    return changes_on(join(*documents.read()), 0, pages)
