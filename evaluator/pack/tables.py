"""The numbers of a review pack as CSV, JSON and Parquet, each row with its signature."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa  # type: ignore[import-untyped]

from evaluator.data.issues import plain
from evaluator.matching.box_results import ALL_LABELS, AnyBoxResult
from evaluator.metrics import export
from evaluator.metrics.results import Metrics, ResultTable
from evaluator.pack.annotated_pdf import AnnotatedDocument
from evaluator.pack.contents import Contents
from evaluator.review.decisions import effect_text
from evaluator.review.findings_export import parquet_of

_NUMBERS = tuple(Metrics.__annotations__)
_DIFFERENCE = ("metric", "label", "a", "b", "difference", "low", "high", "documents_better", "documents_worse")


def result_tables(contents: Contents) -> tuple[ResultTable, ...]:
    """Return the numbers of each model, official and corrected: all labels pooled, then each label."""
    tables = []
    for model in contents.models:
        title = f"{model.letter} {model.name}"
        tables.append(_table(title, model.result, model.signature))
        if model.corrected is not None:
            tables.append(_table(f"{title}, corrected", model.corrected.result, model.corrected.signature.line))
    return tuple(tables)


def _table(title: str, result: AnyBoxResult, signature: str) -> ResultTable:
    rows = [(ALL_LABELS, *result.micro.row(0).values())]
    rows += [(plain(label), *result.per_label.row(row).values()) for row, label in enumerate(result.matching.labels)]
    return ResultTable(
        title=title,
        signature=signature,
        columns=("label", *_NUMBERS),
        rows=tuple(rows),  # type: ignore[arg-type]
    )


def decisions_table(contents: Contents) -> ResultTable:
    """Return the decided causes as rows: wrong boxes of each model, what was decided, who acts, and the effect."""
    rows: list[tuple[str | int, ...]] = [
        (
            cause.row.title,
            *(side.wrong for side in cause.row.sides),
            cause.place,
            cause.row.verdict,
            "\n".join(plain(event.note) for event in cause.row.notes),
            "; ".join(cause.row.people),
            cause.row.owner,
            cause.row.task.due if cause.row.task else "",
            cause.row.status,
            effect_text(cause.effect, [model.letter for model in contents.models]),
        )
        for cause in contents.causes
        if cause.decided
    ]
    wrong = (f"wrong_boxes_{model.letter}" for model in contents.models)
    said = ("example", "verdict", "notes", "by", "owner", "due", "status", "effect")
    columns = ("cause", *wrong, *said)
    return ResultTable(title="Decisions", signature=contents.signature, columns=columns, rows=tuple(rows))


def to_csv(contents: Contents) -> str:
    """Return all numbers as CSV."""
    return export.to_csv(result_tables(contents))


def to_json(contents: Contents, marked: Sequence[AnnotatedDocument] = ()) -> str:
    """Return all numbers, differences, the ledger and the marked copies as JSON; undefined is null."""
    decided = decisions_table(contents)
    value: dict[str, object] = {
        "title": plain(contents.title),
        "signature": contents.signature,
        "models": [
            {
                "model": table.title,
                "signature": table.signature,
                "labels": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
            }
            for table in result_tables(contents)
        ],
        "decision": None if contents.decision is None else contents.decision.to_json(),
        "since": None if contents.since is None else contents.since.to_json(),
        "differences": [{name: getattr(one, name) for name in _DIFFERENCE} for one in contents.differences],
        "decisions": [dict(zip(decided.columns, row, strict=True)) for row in decided.rows],
        "ledger": None if contents.ledger is None else contents.ledger.to_json(),
        "marked": [
            {"document": each.name, "file": each.path and each.path.name, "said": each.words} for each in marked
        ],
        "slices": [
            {"of": card.of, "measure": card.measure, "sentence": card.sentence, "lost": card.lost}
            for card in contents.slices.cards
        ],
        "chapters": [
            {
                "protocol": chapter.anchor.removeprefix("protocol-"),
                "signature": chapter.signature,
                "decision": None if chapter.decision is None else chapter.decision.to_json(),
                "differences": [{name: getattr(one, name) for name in _DIFFERENCE} for one in chapter.differences],
            }
            for chapter in (*((contents.own,) if contents.own else ()), *contents.chapters)
        ],
    }
    return export.to_json(value) + "\n"


def to_parquet(contents: Contents) -> bytes:
    """Return all numbers as Parquet: the columns of `to_csv`, undefined as null."""
    names = ("predictions", "label", *_NUMBERS, "signature")
    rows = [(table.title, *row, table.signature) for table in result_tables(contents) for row in table.rows]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    types = {name: pa.int64() if name in ("tp", "fp", "fn") else pa.float64() for name in _NUMBERS}
    return parquet_of(columns, {name: types.get(name, pa.string()) for name in names})
