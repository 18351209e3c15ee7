"""The contents of a review pack in any form: numbers, differences, findings, pages, and how it was made.

Plain text and numbers; pictures come later, one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.compare import decision, sentences
from evaluator.compare import differences as compare_differences
from evaluator.compare.differences import Difference
from evaluator.compare.ledger import Ledger, ledger
from evaluator.components.gallery.crops import page_boxes
from evaluator.components.payload import ModelItem
from evaluator.components.viewer import page_overlay
from evaluator.components.viewer.judged import attach
from evaluator.components.viewer.payload import BoxItem, PageLayers
from evaluator.data.dataset import Dataset
from evaluator.data.issues import Issue, count_of, folded, plain
from evaluator.matching.box_measures import box_measures
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.results import Metrics
from evaluator.pack.blocks import Rows, printed
from evaluator.pack.chapters import Chapter, FileRow
from evaluator.pack.diff import PackRecord, Since, record, since
from evaluator.pack.finding_rows import other_findings
from evaluator.pack.options import (
    Model,
    PackOptions,
    documents_in_words,
    filter_in_words,
    is_document_included,
    is_included,
)
from evaluator.pack.slice_cards import NO_SLICES, PackSlices
from evaluator.pack.story import (
    Cause,
    KeyDifference,
    causes_of,
    causes_words,
    key_differences,
    question,
)
from evaluator.review.corrected_results import corrected_result
from evaluator.review.corrections import Corrections, corrections
from evaluator.review.decisions import decisions_words
from evaluator.review.status import finding_statuses
from evaluator.review.verdicts import ReviewedTarget, ReviewLog

_DIFFERENCES: Final = 12


@dataclass(frozen=True, eq=False)
class Contents:
    """Everything in a pack; without boxes `dataset` is None, and `models`, `causes` and `pages` are empty.

    With one model `decision` and `ledger` are None, `differences` and `summary` empty. `pages`: rows of pages with a
    picture; `left_out`: pages with mistakes without one. `causes`: all, see `causes_of`; `findings`: those of none.
    `own`, `since`: None for nothing. `log`: all findings, shown or not; `judged`: those of boxes.
    """

    options: PackOptions
    title: str
    signature: str
    files: tuple[FileRow, ...]
    issues: tuple[Issue, ...]
    dataset: Dataset | None = None
    models: tuple[Model, ...] = ()
    differences: tuple[Difference, ...] = ()
    summary: str = ""
    ledger: Ledger | None = None
    findings: Rows | None = None
    pages: tuple[int, ...] = ()
    left_out: int = 0
    notes: tuple[str, ...] = ()
    question: str = ""
    decision: decision.Decision | None = None
    keys: tuple[KeyDifference, ...] = ()
    causes: tuple[Cause, ...] = ()
    decisions_words: str = ""
    causes_words: str = ""
    own: Chapter | None = None
    chapters: tuple[Chapter, ...] = ()
    since: Since | None = None
    log: ReviewLog = field(default_factory=ReviewLog)
    judged: tuple[ReviewedTarget, ...] = ()
    slices: PackSlices = NO_SLICES

    @property
    def record(self) -> PackRecord:
        """Return what a later pack is compared with."""
        answer = self.decision.headline if self.decision is not None else ""
        return record(date=self.options.date, answer=answer, models=self.models, judged=self.judged)

    @property
    def shown_documents(self) -> str:
        """Return the documents whose causes, findings and pages are shown; empty for all."""
        return documents_in_words(self.options)

    @property
    def intervals(self) -> bool:
        """Return whether any difference has an interval that may be shown."""
        return any(sentences.interval_text(one) for one in self.differences)

    @property
    def names(self) -> tuple[str, ...]:
        """Return what the baseline and the candidate are called; one name without a candidate."""
        return tuple(model.letter for model in self.models[:2])

    def place(self, page: int) -> tuple[str, str, int]:
        """Return id and name of the document of a page, and its index; ValueError without boxes."""
        if self.dataset is None:
            raise ValueError("a pack without boxes has no pages")
        document = self.dataset.documents[self.dataset.page_document[page]]
        return document.doc_id, document.name, int(self.dataset.page_index[page])

    def boxes_beside(self, model: Model, page: int) -> list[BoxItem]:
        """Return the boxes of a page that crops of a model show: all but the matched ones of the ground truth."""
        # The causes of a page share them.
        if (model.letter, page) not in self._boxes_beside:
            self._boxes_beside[model.letter, page] = [
                BoxItem(box.key, box.side, box.status, "", box.xyxy, outline=box.outline)
                for box in page_boxes(model.result, page)
                if box.status != "truth"
            ]
        return self._boxes_beside[model.letter, page]

    @cached_property
    def _boxes_beside(self) -> dict[tuple[str, int], list[BoxItem]]:
        return {}


def gather(
    results: Sequence[AnyBoxResult],
    called: Sequence[ModelItem],
    log: ReviewLog,
    options: PackOptions,
    *,
    issues: Sequence[Issue] = (),
    own: Chapter | None = None,
    chapters: Sequence[Chapter] = (),
    earlier: PackRecord | None = None,
    slices: PackSlices | None = None,
) -> Contents:
    """Return the contents of a pack about some models, under any protocol that matches boxes.

    `results` are of one dataset at one IoU threshold; the second is compared with the first. `own`: the chapter of
    their protocol, if it has more numbers. ValueError: no results, not as many names, or the two cannot be compared.
    """
    if not results or len(results) != len(called):
        raise ValueError(f"a pack needs a result and a name of each model; found {len(results)} and {len(called)}")
    dataset = results[0].matching.dataset
    applied = corrections(dataset, log) if len(log) else None
    models = _models(results, called, applied)
    differences = _differences(results[:2]) if len(results) > 1 else ()
    if own is not None:
        mine = {(one.metric, one.label) for one in differences}
        more = (one for one in own.differences if (one.metric, one.label) not in mine)
        differences = (*differences, *more)
    made = _decided(results, models, differences, options.rule) if differences else None
    differences = compare_differences.in_reading_order(differences)
    summary = sentences.summary(differences, [model.letter for model in models]) if differences else None
    every = finding_statuses(log, results)
    statuses = [status for status in every if is_included(status.judged, options)]
    between = ledger(*results[:2]) if len(results) > 1 else None
    causes, others = causes_of(models, statuses, log, options, made)
    pages, left_out = _pages(models, causes, options)
    contents = Contents(
        options=options,
        title=options.title or _title(models, made),
        signature=_signature(models),
        dataset=dataset,
        models=models,
        differences=differences,
        summary=f"{_decision_words(made)} {summary.headline} {summary.notes}".strip() if summary and made else "",
        ledger=between,
        findings=other_findings(others, dataset),
        pages=pages,
        left_out=left_out,
        issues=tuple(issues),
        notes=(*_filter_notes(options), *_notes(models, applied.issues if applied else ())),
        files=_files(models),
        question=question(models) if made else "",
        decision=made,
        keys=key_differences(differences, models),
        causes=causes,
        decisions_words=decisions_words([cause.row for cause in causes]),
        causes_words=causes_words(models, causes, options),
        own=own if own is not None and own.blocks else None,
        chapters=tuple(chapters),
        log=log,
        judged=tuple(status.judged for status in every),
        slices=slices or NO_SLICES,
    )
    return contents if earlier is None else replace(contents, since=since(earlier, contents.record))


def gather_chapters(
    chapters: Sequence[Chapter], options: PackOptions, *, issues: Sequence[Issue] = ()
) -> Contents:  # fmt: skip
    """Return the contents of a pack without boxes, led by the first chapter; ValueError without chapters."""
    if not chapters:
        raise ValueError("a pack needs at least one chapter")
    first = chapters[0]
    made = first.decision
    title = f"{first.models[0].name}: {first.title}"
    if made is not None:
        title = f"{made.names[1]} against {made.names[0]}: {made.headline}"
    return Contents(
        options=options,
        title=options.title or title,
        signature=first.signature,
        issues=tuple(issues),
        files=first.files,
        question=f"Ship {made.names[1]} instead of {made.names[0]}?" if made else "",
        decision=made,
        chapters=tuple(chapters),
    )


def _files(models: Sequence[Model]) -> tuple[FileRow, ...]:
    sides = [("Ground truth", models[0].result.matching.dataset.ground_truth.source)]
    sides += [(f"Model {model.letter}", model.result.matching.prediction.source) for model in models]
    return tuple(FileRow(role, plain(source.name), source.sha256) for role, source in sides)


def _models(
    results: Sequence[AnyBoxResult], called: Sequence[ModelItem], applied: Corrections | None
) -> tuple[Model, ...]:
    to = applied if applied and applied.applied else None
    return tuple(
        Model(model.letter, plain(model.name), result, corrected_result(result, to) if to else None)
        for model, result in zip(called, results, strict=True)
    )


class KeyRow(NamedTuple):
    """A row of the key numbers; `note` says what is special about it, empty for the official numbers."""

    letter: str
    name: str
    note: str
    numbers: Metrics


def key_rows(contents: Contents) -> list[KeyRow]:
    """Return the pooled numbers of each model, the corrected row of a model under its official one."""
    rows: list[KeyRow] = []
    for model in contents.models:
        rows.append(KeyRow(model.letter, model.name, "", model.result.micro.row(0)))
        if model.corrected is not None:
            words = f"corrected, {count_of(model.corrected.applied, 'verdict')} applied"
            rows.append(KeyRow(model.letter, model.name, words, model.corrected.result.micro.row(0)))
    return rows


def label_rows(contents: Contents) -> list[tuple[str, list[Metrics]]]:
    """Return the numbers of each label, one mapping per model."""
    if not contents.models:
        return []
    labels = contents.models[0].result.matching.labels
    columns = [model.result.per_label for model in contents.models]
    return [(plain(label), [column.row(row) for column in columns]) for row, label in enumerate(labels)]


def shown_differences(contents: Contents) -> tuple[Difference, ...]:
    """Return the differences that a pack draws, in reading order."""
    return compare_differences.headline_differences(contents.differences, limit=_DIFFERENCES)


def page_layers(contents: Contents, page: int, page_points: tuple[float, float] | None) -> list[PageLayers]:
    """Return the boxes, mistakes with their verdicts, and causes of a page, of each model, as the viewer reads them."""
    layers = []
    for model in contents.models:
        data = page_overlay.page_data(model.result, page, page_points=page_points, causes=model.result.causes)
        mistakes = attach(data.mistakes, model.result, page, contents.log)
        layers.append(msgspec.structs.replace(data, mistakes=mistakes))
    return layers


def _differences(results: Sequence[AnyBoxResult]) -> tuple[Difference, ...]:
    first, second = (box_measures(result) for result in results)
    return compare_differences.differences(first, second)


def _decided(
    results: Sequence[AnyBoxResult], models: Sequence[Model], differences: Sequence[Difference], rule: decision.Rule
) -> decision.Decision:
    names = [model.name for model in models[:2]]
    return decision.decide(differences, names, rule=rule, cost=decision.cost_of(*results[:2]))


def _title(models: Sequence[Model], made: decision.Decision | None) -> str:
    if made is None:
        return f"{models[0].name}: {_f1_words(models[0])}"
    return f"{models[1].name} against {models[0].name}: {made.headline}"


def _decision_words(made: decision.Decision) -> str:
    cost, detail = made.cost_words
    parts = [f"{made.headline}.", made.sentence, f"{cost}, {detail}." if cost else "", made.more_documents]
    return " ".join(part for part in parts if part)


def _signature(models: Sequence[Model]) -> str:
    same = models[0].signature
    if any(model.signature != same for model in models):
        same = " / ".join(f"{model.signature} ({model.letter})" for model in models)
    truth = models[0].result.matching.dataset.ground_truth.source
    return f"{same} · ground truth {truth.sha256[:8]}"


def _f1_words(model: Model) -> str:
    return f"F1 {printed(model.result.micro.row(0)['f1'])}"


def _filter_notes(options: PackOptions) -> list[str]:
    """Return what is left out, while the numbers are of everything, in sentences."""
    documents, only = documents_in_words(options), filter_in_words(options)
    notes = []
    if documents:
        notes.append(f"Numbers are over all documents; causes and pages are of {documents} only.")
    if only:
        notes.append(f"Findings are only those{only}.")
    return notes


def _pages(models: Sequence[Model], causes: Sequence[Cause], options: PackOptions) -> tuple[tuple[int, ...], int]:
    dataset = models[0].result.matching.dataset
    mistakes = sum(model.result.per_page.mistakes for model in models)
    counts = np.asarray(mistakes, dtype=np.int64)
    codes = [code for code, document in enumerate(dataset.documents) if is_document_included(document.doc_id, options)]
    counts = np.where(np.isin(dataset.page_document, codes), counts, 0)
    first = [cause.example.page for cause in causes if cause.decided]
    worst = [int(row) for row in np.argsort(-counts, kind="stable") if counts[row]]
    pages = list(dict.fromkeys([*first, *worst]))[: options.pages]
    return tuple(sorted(pages)), len(set(worst) - set(pages))


def _notes(models: Sequence[Model], not_applied: Sequence[Issue]) -> tuple[str, ...]:
    dataset = models[0].result.matching.dataset
    notes = []
    if dataset.ground_truth.source.side != "ground_truth":
        notes.append(
            "The reference is a model's prediction, not a ground truth: the numbers show how far models agree."
        )
    for model in models:
        only = dataset.documents_only_in(model.result.matching.model)
        if any(only.values()):
            notes.append(
                f"Model {model.letter}: {count_of(len(only['ground_truth']), 'document')} only in the ground truth, "
                f"{count_of(len(only['prediction']), 'document')} only in the prediction."
            )
    for issue in folded(not_applied):
        reason = plain(f"{issue.place}: {issue.rule}; found {issue.found}")
        notes.append(f"A verdict could not be applied: {reason}.")
    return tuple(notes)
