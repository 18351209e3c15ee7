"""Findings of further chapters of a pack, as they were judged: fields of documents, words of posters."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from evaluator.data.fields import FieldDocuments
from evaluator.data.issues import count_of, plain
from evaluator.metrics.results import capitalised
from evaluator.pack.blocks import Rows
from evaluator.pack.cards import PackOptions, filter_in_words, is_included, verdict_words
from evaluator.protocols.base import Source
from evaluator.review.field_targets import FIELD_PROBLEMS
from evaluator.review.verdicts import Kind, ReviewedTarget, ReviewLog
from evaluator.review.word_targets import WORD_PROBLEMS

_TITLES: Final = {**FIELD_PROBLEMS, **WORD_PROBLEMS}


def text_findings(log: ReviewLog, truth: Source, models: Collection[str], options: PackOptions) -> Rows | None:
    """Return the judged fields or words, by document and page; None without any, or for boxes.

    Only of documents of `truth`, of files named in `models`, and wanted by `options`.
    """
    kind, documents = _documents(truth)
    judged = [
        each
        for each in log.judged.values()
        if each.target.kind == kind
        and each.target.document in documents
        and all(box.model in models for box in each.target.of("prediction"))
        and is_included(each, options)
    ]
    shown = sorted(judged, key=_place)[: options.cards]
    if not shown:
        return None
    left_out = len(judged) - len(shown)
    note = f"{count_of(len(shown), 'finding')}{filter_in_words(options)}, as they were when they were judged"
    if left_out:
        note += f"; {left_out:,} more are left out"
    columns = ("Where", "What", "Model", "Verdict", "By", "Note")
    return Rows("Findings", note, columns, tuple(map(_row, shown)), words=True)


def _documents(truth: Source) -> tuple[Kind | None, Collection[str]]:
    """Return the kind of target of a ground truth, and its documents."""
    if isinstance(truth, FieldDocuments):
        return "field", truth.documents
    posters = getattr(truth, "posters", None)
    return ("word", posters) if posters is not None else (None, ())


def _place(judged: ReviewedTarget) -> tuple[str, int, str, str]:
    target = judged.target
    return target.document or "", target.page or 0, target.label or "", judged.target_id


def _row(judged: ReviewedTarget) -> tuple[str, ...]:
    target = judged.target
    what = _TITLES.get(target.mistake or "") or capitalised((target.mistake or "right").replace("_", " "))
    notes = " · ".join(" ".join(event.note.split()) for event in judged.opinions if event.note.strip())
    return (
        f"{plain(target.document or '')}, page {(target.page or 0) + 1}",
        f"{what}: {plain(target.label or '')}",
        ", ".join(map(plain, target.models)),
        verdict_words(judged),
        ", ".join(map(plain, judged.authors)),
        plain(notes),
    )
