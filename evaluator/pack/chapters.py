"""Chapters of a review pack: what models reach under one protocol, in its own numbers and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.compare import sentences
from evaluator.compare.comparison import compare
from evaluator.compare.decision import Decision
from evaluator.compare.differences import Difference
from evaluator.compare.metrics import METRICS
from evaluator.components.matrix.matrix import difference_data, matrix_data
from evaluator.components.payload import ModelItem
from evaluator.data.dataset import Annotations
from evaluator.data.issues import Issue, count_of, plain
from evaluator.matching.box_scores import box_calibration, thin_curve
from evaluator.matching.error_types import ERROR_TYPES, TIDE
from evaluator.metrics.results import SourceFile, defined, ratio_text, threshold_text
from evaluator.pack.blocks import Block, Line, Passage, Plot, Rows, Texts, heatmap_of, printed, rows_of
from evaluator.protocols import AnyBoxProtocol, protocol_of
from evaluator.protocols.base import BoxEvaluation, BoxProtocol, DatasetResult, Evaluation, NumberGroup, Result, Source
from evaluator.protocols.fields.evaluation import FieldsResult
from evaluator.protocols.fields.rows import as_one
from evaluator.protocols.items import ItemResult
from evaluator.protocols.pixel.difference import difference as pixel_difference
from evaluator.protocols.pixel.evaluation import PixelResult
from evaluator.protocols.posters.difference import columns_of, passages, worst_first
from evaluator.protocols.posters.evaluation import PostersResult
from evaluator.review.item_targets import ItemSide, by_kind, places_of

_CURVES: Final = 6
_CURVE_POINTS: Final = 80
_POSTERS: Final = 12
_PASSAGES: Final = 6
# A passage shows so many characters around what is marked.
_AROUND: Final = 90
_DIFFERENCES: Final = 14
_SIDES: Final = ("ground_truth", "predictions")


class FileRow(NamedTuple):
    """A file behind the numbers."""

    role: str
    name: str
    sha256: str


@dataclass(frozen=True, eq=False)
class Chapter:
    """What models reach under one protocol; with one model `decision` is None, and no `differences`.

    `differences`: second minus first in the protocol's order. `numbers`: overall, a row for each model.
    """

    anchor: str
    title: str
    signature: str
    models: tuple[ModelItem, ...]
    decision: Decision | None
    summary: str
    differences: tuple[Difference, ...]
    numbers: Rows
    blocks: tuple[Block, ...]
    files: tuple[FileRow, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return what the first two are called in sentences."""
        return tuple(model.letter for model in self.models[:2])


def chapter_of(results: Sequence[Result], called: Sequence[ModelItem]) -> Chapter:
    """Return the chapter of one protocol; ValueError without results or with another number of names."""
    if not results or len(results) != len(called):
        raise ValueError(f"a pack needs a result and a name of each model; found {len(results)} and {len(called)}")
    of, letters = protocol_of(results[0]), [model.letter for model in called]
    compared = compare(results, letters) if len(results) > 1 else None
    words = sentences.summary(compared.differences, letters) if compared else None
    named = tuple(ModelItem(model.letter, plain(model.name)) for model in called)
    return Chapter(
        anchor=f"protocol-{of.name}",
        title=of.title,
        signature=_signature(results, letters),
        models=named,
        decision=None if compared is None else compared.decision._replace(names=(named[0].name, named[1].name)),
        summary=f"{words.headline} {words.notes}".strip() if words else "",
        differences=compared.differences if compared else (),
        numbers=_numbers(results, named),
        blocks=tuple(_own(results[0], results, named)),
        files=files_of(results, letters),
    )


class ChapterWithIssues(NamedTuple):
    """A chapter, and the issues of the files behind it."""

    chapter: Chapter
    issues: tuple[Issue, ...]


def chapter_with_issues(evaluations: Sequence[Evaluation], called: Sequence[ModelItem]) -> ChapterWithIssues:
    """Return the chapter of some evaluations with their issues, each once; raises as `chapter_of`."""
    every = dict.fromkeys(issue for evaluation in evaluations for issue in evaluation.issues)
    return ChapterWithIssues(chapter_of([evaluation.result for evaluation in evaluations], called), tuple(every))


def issues_of(made: Sequence[ChapterWithIssues]) -> tuple[Issue, ...]:
    """Return the issues of all chapters, each once."""
    return tuple(dict.fromkeys(issue for each in made for issue in each.issues))


def own_chapter(
    protocol: AnyBoxProtocol, results: Sequence[BoxEvaluation], called: Sequence[ModelItem]
) -> Chapter | None:
    """Return what a protocol of boxes shows beside a matching, such as AP; None without such numbers."""
    return chapter_of(results, called) if protocol.protocol_metrics(results[0]) else None


def chapter_differences(chapter: Chapter) -> tuple[Difference, ...]:
    """Return the drawn differences: over all labels, then clear ones of labels, the larger first."""
    known = [one for one in chapter.differences if one.difference is not None]
    overall = [one for one in known if one.overall]
    clear = sorted(
        (one for one in known if one.is_clear and not one.overall), key=lambda one: -abs(one.difference or 0)
    )
    return (*overall, *clear[: max(_DIFFERENCES - len(overall), 0)])


def _signature(results: Sequence[Result], letters: Sequence[str]) -> str:
    lines = [result.signature.line for result in results]
    if len(set(lines)) == 1:
        return lines[0]
    return " / ".join(f"{line} ({letter})" for line, letter in zip(lines, letters, strict=True))


def _numbers(results: Sequence[Result], called: Sequence[ModelItem]) -> Rows:
    measures = [protocol_of(result).measures(result) for result in results]
    keys = [key for key in measures[0].keys if key.label == measures[0].overall]
    rows = []
    for model, each in zip(called, measures, strict=True):
        value = dict(zip(each.keys, each.values.tolist(), strict=True))
        rows.append((f"{model.letter} {model.name}", *(printed(defined(value.get(key, np.nan))) for key in keys)))
    columns = ("Model", *(METRICS[key.metric].title for key in keys))
    return Rows("Key numbers", measures[0].overall.lower(), columns, tuple(rows))


def model_name(source: Source) -> str:
    """Return what the file of a model calls it, with its version; empty where it does not say."""
    if not isinstance(source, Annotations) or not source.model:
        return ""
    return f"{source.model} {source.version or ''}".strip()


# --- files -----------------------------------------------------------------------------------------------------


def files_of(results: Sequence[Result], letters: Sequence[str]) -> tuple[FileRow, ...]:
    """Return the files behind some results of one ground truth."""
    sides = [_sides(result) for result in results]
    rows = [FileRow("Ground truth", plain(sides[0][0].name), sides[0][0].sha256)]
    rows += [
        FileRow(f"Model {letter}", plain(side.name), side.sha256)
        for letter, (_, side) in zip(letters, sides, strict=True)
    ]
    return tuple(rows)


@singledispatch
def _sides(result: Result) -> tuple[SourceFile, SourceFile]:
    """Return the files of both sides; of a protocol from outside, what its JSON says."""
    value = result.to_json()
    truth, prediction = (SourceFile(value[side]["name"], value[side]["sha256"]) for side in _SIDES)
    return truth, prediction


@_sides.register
def _(result: DatasetResult) -> tuple[SourceFile, SourceFile]:
    dataset = result.evaluated
    truth, prediction = dataset.ground_truth.source, dataset.predictions[result.model].source
    return SourceFile(truth.name, truth.sha256), SourceFile(prediction.name, prediction.sha256)


@_sides.register
def _(result: FieldsResult) -> tuple[SourceFile, SourceFile]:
    return as_one(result.compared.ground_truth), as_one(result.compared.prediction)


@_sides.register
def _(result: PostersResult) -> tuple[SourceFile, SourceFile]:
    truth, prediction = result.ground_truth, result.prediction
    return SourceFile(truth.name, truth.sha256), SourceFile(prediction.name, prediction.sha256)


# --- what only one protocol shows ------------------------------------------------------------------------------


@singledispatch
def _own(_first: Result, results: Sequence[Any], called: Sequence[ModelItem]) -> Iterator[Block]:
    """Yield the blocks of a protocol from outside: the table of each model."""
    for result, model in zip(results, called, strict=True):
        yield rows_of(result.table(), f"{model.letter} {model.name}")


@_own.register(ItemResult)
def _(_first: Any, results: Sequence[Any], called: Sequence[ModelItem]) -> Iterator[Block]:  # noqa: ANN401
    """Yield the kinds of mistakes of items, the dearest first, with the page where each costs most, and the tables."""
    of: Any = protocol_of(results[0])
    rows = []
    for name, of_models in by_kind([list(places_of(result)) for result in results]).items():
        sides = [ItemSide(own, 0, of.cost_of(results[0])) for own in of_models]
        worst = max((place for side in sides for place in side.places), key=lambda place: place.cost)
        row = (of.titles[name], *(side.words for side in sides), f"{plain(worst.document)}, page {worst.page + 1}")
        rows.append((max(side.wrong for side in sides), row))
    rows.sort(key=lambda each: -each[0])
    if rows:
        columns = ("Mistake", *(model.letter for model in called), "Costs most on")
        yield Rows("Mistakes", "all, the dearest first", columns, tuple(row for _, row in rows), words=True)
    for result, model in zip(results, called, strict=True):
        yield rows_of(result.table(), f"{model.letter} {model.name}")


@_own.register
def _(_first: BoxEvaluation, results: Sequence[BoxEvaluation], called: Sequence[ModelItem]) -> Iterator[Block]:
    """Yield the protocol's own numbers, overall and by label, curves, costs of errors, and reliability."""
    of = protocol_of(results[0])
    if not isinstance(of, BoxProtocol):
        return
    groups = [of.protocol_metrics(result) for result in results]
    if not groups[0]:
        return
    for place, group in enumerate(groups[0]):
        yield _group(group.title, [each[place] for each in groups], called)
    yield from _labels([of.label_numbers(result) for result in results], results, called)
    for result, model in zip(results, called, strict=True):
        lines = tuple(_label_curves(result))
        if lines:
            iou = threshold_text(result.first.iou)
            note = f"{model.letter} {model.name}, IoU {iou}; {len(lines)} labels with the most boxes; dot: all scores"
            yield Plot("Precision and recall", note, "Recall", "Precision", lines)
    yield from _costs(of, results, called)
    yield from _reliability(results, called)


def _group(title: str, groups: Sequence[NumberGroup], called: Sequence[ModelItem]) -> Rows:
    rows = [
        (f"{model.letter} {model.name}", *(printed(number.value) for number in group.numbers))
        for model, group in zip(called, groups, strict=True)
    ]
    why = {f"{number.title}: {number.why}" for group in groups for number in group.numbers if number.why}
    if len(groups) == 2:
        pairs = zip(groups[0].numbers, groups[1].numbers, strict=True)
        rows.append(("B − A, points", *(_moved(a.value, b.value) for a, b in pairs)))
    columns = ("Model", *(number.title for number in groups[0].numbers))
    return Rows(title, "; ".join(sorted(why)), columns, tuple(rows))


def _moved(a: float | None, b: float | None) -> str:
    return printed(None) if a is None or b is None else sentences.points(b - a)


def _labels(
    numbers: Sequence[Any], results: Sequence[BoxEvaluation], called: Sequence[ModelItem]
) -> Iterator[Rows]:  # fmt: skip
    if not numbers[0]:
        return
    counts = results[0].first.per_label
    boxes = (counts.tp + counts.fn).tolist()
    columns = ["Label", "Boxes", *(f"{title}, {model.letter}" for title in numbers[0] for model in called)]
    rows = [
        (label, printed(boxes[row]), *(printed(each[title][row]) for title in numbers[0] for each in numbers))
        for row, label in enumerate(results[0].matching.labels)
    ]
    yield Rows("By label", "", tuple(columns), tuple(rows))


def _label_curves(result: BoxEvaluation) -> Iterator[Line]:
    first: Any = result.first
    counts, labels = first.per_label, result.matching.labels
    truths = (counts.tp + counts.fn).tolist()
    most = sorted((row for row in range(len(labels)) if truths[row]), key=lambda row: -truths[row])[:_CURVES]
    for row in most:
        curve = thin_curve(first.curve(labels[row]), _CURVE_POINTS)
        if len(curve.score):
            points = zip(curve.recall.tolist(), curve.precision.tolist(), strict=True)
            yield Line(labels[row], tuple(points), (float(counts.recall[row]), float(counts.precision[row])))


def _costs(
    of: AnyBoxProtocol, results: Sequence[BoxEvaluation], called: Sequence[ModelItem]
) -> Iterator[Rows]:  # fmt: skip
    errors = [of.error_types(result) for result in results]
    known = [(model, one) for model, one in zip(called, errors, strict=True) if one is not None]
    if not known:
        return
    rows = tuple(
        (
            ERROR_TYPES["tide"][name].title,
            *(
                text
                for _, one in known
                for text in (printed(int(one.counts[place])), _points(float(one.costs.delta_ap[place])))
            ),
        )
        for place, name in enumerate(TIDE)
    )
    columns = ("Error", *(text for model, _ in known for text in (f"{model.letter}, errors", f"{model.letter}, AP")))
    note = f"points of AP that its repair alone gains; TIDE at IoU ≥ {threshold_text(known[0][1].options.iou)}"
    yield Rows("What each error costs", f"{note}; the costs do not add up", columns, rows)


def _points(value: float) -> str:
    return printed(None) if np.isnan(value) else sentences.points(value)


def _reliability(results: Sequence[BoxEvaluation], called: Sequence[ModelItem]) -> Iterator[Plot]:
    lines, words = [], []
    for result, model in zip(results, called, strict=True):
        bins = box_calibration(result.first)
        if bins is None or not bins.count.any():
            continue
        filled = bins.count > 0
        points = zip(bins.mean_confidence[filled].tolist(), bins.accuracy[filled].tolist(), strict=True)
        lines.append(Line(f"{model.letter} {model.name}", tuple(points)))
        words.append(f"{model.letter} {ratio_text(bins.error)}")
    if lines:
        note = f"share that is right, by score; expected calibration error {', '.join(words)}"
        yield Plot("Reliability of scores", note, "Score", "Right", tuple(lines))


@_own.register
def _(_first: PixelResult, results: Sequence[PixelResult], called: Sequence[ModelItem]) -> Iterator[Block]:
    for result, model in zip(results, called, strict=True):
        layer = matrix_data(result.classes, result.whole.matrices, "row", "steps")
        note = f"{model.letter} {model.name}; shares of the pixels of each row, all documents"
        yield heatmap_of(layer, "Confusion of pixels: recall", note)
    if len(results) > 1:
        moved = pixel_difference(results[1].whole, results[0].whole, "recall")
        note = "points of the row share; on the diagonal more is better: blue favours B, orange A"
        yield heatmap_of(difference_data(moved, "row", "steps"), "Confusion of pixels: B − A", note)
    for result, model in zip(results, called, strict=True):
        yield rows_of(result.table(), f"By class, {model.letter} {model.name}")


@_own.register
def _(_first: FieldsResult, results: Sequence[FieldsResult], called: Sequence[ModelItem]) -> Iterator[Block]:
    """Yield AP against the IoU threshold, the numbers of each field, and what the confidence is worth."""
    steps = tuple(dict.fromkeys(results[0].iou))
    if len(steps) > 1:
        lines = []
        for result, model in zip(results, called, strict=True):
            means = [result.map_at(step) for step in steps]
            points = tuple((step, value) for step, value in zip(steps, means, strict=True) if value is not None)
            lines.append(Line(f"{model.letter} {model.name}", points))
        yield Plot("AP against IoU", "mean over the classes of field", "IoU", "AP", tuple(lines), min(steps))
    for result, model in zip(results, called, strict=True):
        yield rows_of(result.table(), f"By field, {model.letter} {model.name}")
    rows = []
    for result, model in zip(results, called, strict=True):
        judged = result.confidence()
        numbers = judged.to_json()
        wrong = int((~judged.right).sum())
        cells = (len(judged), wrong, numbers["auroc"], numbers["brier"], numbers["ece"])
        rows.append((f"{model.letter} {model.name}", *map(printed, cells)))
    columns = ("Model", "Values", "Wrong values", "AUROC", "Brier score", "Calibration error")
    yield Rows("Confidence", "of all predicted fields that have one", columns, tuple(rows))


@_own.register
def _(_first: PostersResult, results: Sequence[PostersResult], called: Sequence[ModelItem]) -> Iterator[Block]:
    for result, model in zip(results, called, strict=True):
        yield rows_of(result.table(), f"By poster, {model.letter} {model.name}")
    every = worst_first([columns_of(result) for result in results])
    for poster_id in every[:_POSTERS]:
        for result, model in zip(results, called, strict=True):
            poster = next((each for each in result.posters if each.poster_id == poster_id), None)
            comparison = None if poster is None else poster.comparison
            if comparison is None:
                continue
            lost = [each for each in passages(comparison) if each.marked]
            shown = tuple(
                Passage(each.place, tuple(_shortened([(piece.text, bool(piece.mark)) for piece in each.pieces])))
                for each in sorted(lost, key=lambda each: -each.marked)[:_PASSAGES]
            )
            words, numbers = len(comparison.words.missing), len(comparison.numbers.missing)
            counts = f"{count_of(words, 'word')}, {count_of(numbers, 'number')}"
            more = f"; {count_of(len(lost) - len(shown), 'more passage')}" if len(lost) > len(shown) else ""
            note = f"{model.letter} {model.name}: {counts} of the ground truth missing{more}"
            yield Texts(f"Text lost, {poster_id}", note, shown)
    if len(every) > _POSTERS:
        yield Rows("Posters without texts here", f"{len(every) - _POSTERS} more; the worst come first", (), ())


def _shortened(pieces: Sequence[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    for place, (text, marked) in enumerate(pieces):
        first, last = place == 0, place == len(pieces) - 1
        if marked or len(text) <= 2 * _AROUND:
            yield text, marked
        else:
            before = "" if first else text[:_AROUND]
            after = "" if last else text[-_AROUND:]
            yield f"{before} … {after}", False
