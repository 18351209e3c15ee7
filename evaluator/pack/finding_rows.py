"""Findings of a review pack that are of no cause, as rows of words.

Fields of documents, words of posters; pages, documents and comparisons; mistakes that are there no longer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from evaluator.data.dataset import Annotations, Dataset
from evaluator.data.fields import FieldDocuments
from evaluator.data.issues import count_of, plain
from evaluator.metrics.results import capitalised
from evaluator.pack.blocks import Rows
from evaluator.pack.options import CONFLICT, VERDICT_WORDS, PackOptions, filter_in_words, is_included
from evaluator.protocols.base import Source
from evaluator.review.decisions import TEXT_PROBLEMS, task_text
from evaluator.review.status import STATES, FindingStatus, title_of
from evaluator.review.verdicts import VERDICTS, Kind, ReviewedTarget, ReviewLog, Target

_MOST: Final = 2_000
_COLUMNS: Final = ("Where", "What", "Model", "Verdict", "By", "Note", "Owner, due, status")
_KINDS: Final = {"page": "Page", "document": "Document", "comparison": "Comparison"}


def verdict_words(judged: ReviewedTarget) -> str:
    """Return the verdict of a finding in words."""
    return VERDICT_WORDS[CONFLICT] if judged.conflict else VERDICTS[judged.verdict] if judged.verdict else "Note"


def title_of_target(target: Target) -> str:
    """Return what a finding is of and its label."""
    name = _KINDS.get(target.kind) or title_of(target.mistake or "mistake")
    return f"{name} · {plain(target.label)}" if target.label else name


def place_of(target: Target, dataset: Dataset | None) -> str:
    """Return document and page of a finding in words; an unknown document goes by its id."""
    if target.document is None:
        return "all documents"
    code = None if dataset is None else dataset.document_code.get(target.document)
    name = plain(target.document if dataset is None or code is None else dataset.documents[code].name)
    return name if target.page is None else f"{name}, page {target.page + 1}"


def other_findings(others: Sequence[FindingStatus], dataset: Dataset) -> Rows | None:
    """Return findings of boxes that are of no cause, and what became of those that are there no longer."""
    if not others:
        return None
    order = {document.doc_id: place for place, document in enumerate(dataset.documents)}
    others = sorted(others, key=lambda one: (order.get(one.judged.target.document or "", -1), *_place(one.judged)[1:]))
    note = f"{count_of(len(others), 'finding')} on pages, documents, comparisons, and what is no mistake of these files"
    rows = (
        _row(
            one.judged,
            place_of(one.judged.target, dataset),
            title_of_target(one.judged.target) + ("" if one.state == "applies" else f" ({STATES[one.state].lower()})"),
        )
        for one in others[:_MOST]
    )
    return _rows("Other findings", note, rows, len(others))


def text_findings(
    log: ReviewLog, truth: Source, models: Collection[str], options: PackOptions, *, items_of: str = ""
) -> Rows | None:
    """Return the judged fields or words, by document and page; None without any, or for boxes.

    Only of documents of `truth`, of files named in `models`, and wanted by `options`. `items_of`: the protocol whose
    mistakes of items are wanted.
    """
    kind, documents = _documents(truth, items_of)
    judged = [
        each
        for each in log.judged.values()
        if each.target.kind == kind
        and each.target.document in documents
        and (each.target.mistake or "").startswith(f"{items_of}_" * bool(items_of))
        and all(box.model in models for box in each.target.of("prediction"))
        and is_included(each, options)
    ]
    if not judged:
        return None
    note = f"{count_of(len(judged), 'finding')}{filter_in_words(options)}, as they were when they were judged"
    rows = (_row(each, *_words_of_text(each.target)) for each in sorted(judged, key=_place)[:_MOST])
    return _rows("Findings", note, rows, len(judged))


def _rows(title: str, note: str, rows: Iterable[tuple[str, ...]], total: int) -> Rows:
    more = f"; {total - _MOST:,} more are left out" if total > _MOST else ""
    return Rows(title, note + more, _COLUMNS, tuple(rows), words=True)


def _documents(truth: Source, items_of: str) -> tuple[Kind | None, Collection[str]]:
    if isinstance(truth, FieldDocuments):
        return "field", truth.documents
    if isinstance(truth, Annotations):
        return ("item", [document.doc_id for document in truth.documents]) if items_of else (None, ())
    return "word", truth.posters


def _place(judged: ReviewedTarget) -> tuple[str, int, str, str]:
    target = judged.target
    return target.document or "", target.page or 0, target.label or "", judged.target_id


def _words_of_text(target: Target) -> tuple[str, str]:
    what = TEXT_PROBLEMS.get(target.mistake or "") or capitalised((target.mistake or "right").replace("_", " "))
    return f"{plain(target.document or '')}, page {(target.page or 0) + 1}", f"{what}: {plain(target.label or '')}"


def _row(judged: ReviewedTarget, where: str, what: str) -> tuple[str, ...]:
    notes = " · ".join(dict.fromkeys(" ".join(event.note.split()) for event in judged.opinions if event.note.strip()))
    models, authors = ", ".join(map(plain, judged.target.models)), ", ".join(map(plain, judged.authors))
    return where, what, models, verdict_words(judged), authors, plain(notes), task_text(judged.task)
