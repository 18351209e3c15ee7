"""Compared fields one by one, with what is known of each: the columns in which slices are searched."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.fields import Field, natural_order
from evaluator.metrics.item_ledger import Item
from evaluator.metrics.observations import Attribute, MeasureWords, Observations, category, number
from evaluator.protocols.fields.drill_down import NO_PAGE
from evaluator.protocols.fields.evaluation import TRUE_POSITIVE, FieldsResult

MEASURES: Final[Mapping[str, MeasureWords]] = {
    "recall": MeasureWords("recall", "fields", "missed", "fields lost", "field"),
    "precision": MeasureWords("precision", "predicted fields", "false", "fields lost", "field", scored=True),
    "mean_iou": MeasureWords(
        "mean IoU", "predicted fields", "ill-fitting", "IoU lost", "field", fits=True, scored=True
    ),
    "value": MeasureWords("right values", "fields", "wrong", "fields lost", "field"),
}
"""What a slice of fields can be measured by, the first one when nothing is said."""
_POSITION: Final = re.compile(r"\[([0-9]+)\](?!.*\[)")


class _Seen(NamedTuple):
    """A field that counts: where and what it is, and its row in each result that counts it; -1 in the others."""

    document: str
    path: str
    label: str
    field: Field | None
    rows: tuple[int, ...]


def observations(results: Sequence[FieldsResult], measure: str, iou: float, *, scores: bool = False) -> Observations:
    """Return the fields that a measure of `MEASURES` is a mean over, of one result or of two.

    Of two results the fields of the ground truth that both compare, once; predicted fields of each by itself; by
    document and path. `scores`: confidence is an attribute, of predicted fields.
    """
    confident = scores and MEASURES[measure].scored
    seen = _of_predictions(results) if MEASURES[measure].scored else _of_truth(results, measure)
    documents = tuple(dict.fromkeys(name for result in results for name in result.compared.documents))
    code = {name: place for place, name in enumerate(documents)}
    labels = sorted({each.label for each in seen}, key=natural_order)
    of_label = {name: place for place, name in enumerate(labels)}
    values = np.full((len(results), len(seen)), np.nan)
    for place, result in enumerate(results):
        rows = np.array([each.rows[place] for each in seen], dtype=np.int64)
        counted = rows >= 0
        values[place, counted] = _value(result, measure, iou)[rows[counted]]
    page = [NO_PAGE if each.field is None or not each.field.has_box else each.field.page for each in seen]
    return Observations(
        documents=documents,
        document=np.array([code[each.document] for each in seen], dtype=np.int64),
        page=np.array(page, dtype=np.int64),
        items=[Item(each.document, None if at < 0 else at, each.path) for each, at in zip(seen, page, strict=True)],
        label=np.array([of_label[each.label] for each in seen], dtype=np.int64),
        values=values,
        attributes=(*_attributes(results, seen), *(_confidence(results, seen) if confident else ())),
    )


def _value(result: FieldsResult, measure: str, iou: float) -> FloatArray:
    if measure == "mean_iou":
        return result.compared.iou
    if measure == "value":
        return result.compared.right.astype(np.float64)
    return np.asarray(result.status(iou) == TRUE_POSITIVE, dtype=np.float64)


def _confidence(results: Sequence[FieldsResult], seen: Sequence[_Seen]) -> list[Attribute]:
    values = np.full(len(seen), np.nan)
    for place, result in enumerate(results):
        rows = np.array([each.rows[place] for each in seen], dtype=np.int64)
        values[rows >= 0] = result.compared.confidence[rows[rows >= 0]]
    return [] if np.isnan(values).all() else [number("confidence", values)]


def _of_truth(results: Sequence[FieldsResult], measure: str) -> list[_Seen]:
    every: list[dict[tuple[str, str], int]] = []
    for result in results:
        compared = result.compared
        known = compared.is_field & result.taking_part & ~compared.only_predicted
        rows = compared.in_order(known if measure == "value" else result.with_truth).tolist()
        names = [compared.documents[code] for code in compared.document[rows].tolist()]
        paths = [compared.truth_path[row] or compared.prediction_path[row] or "" for row in rows]
        every.append(dict(zip(zip(names, paths, strict=True), rows, strict=True)))
    compared, first = results[0].compared, every[0]
    label, fields = compared.field_class.tolist(), compared.truth
    return [
        _Seen(*key, compared.classes[label[row]], fields[row], tuple(each[key] for each in every))
        for key, row in first.items()
        if all(key in each for each in every)
    ]


def _of_predictions(results: Sequence[FieldsResult]) -> list[_Seen]:
    seen = []
    for place, result in enumerate(results):
        compared = result.compared
        label, fields = compared.field_class.tolist(), compared.predicted
        for row in compared.in_order(result.with_prediction).tolist():
            document = compared.documents[compared.document[row]]
            path = compared.prediction_path[row] or compared.truth_path[row] or ""
            rows = tuple(row if at == place else -1 for at in range(len(results)))
            seen.append(_Seen(document, path, compared.classes[label[row]], fields[row], rows))
    return seen


def _attributes(results: Sequence[FieldsResult], seen: Sequence[_Seen]) -> tuple[Attribute, ...]:
    # Two models may have predicted other fields in a document.
    alone = [next(place for place, row in enumerate(each.rows) if row >= 0) for each in seen]
    in_document = Counter((each.document, place) for each, place in zip(seen, alone, strict=True))
    same = Counter((each.document, place, each.label) for each, place in zip(seen, alone, strict=True))
    position = [_POSITION.search(each.path) for each in seen]
    attributes = [
        category("label", [each.label for each in seen]),
        category("in a list", ["yes" if "[" in each.path else "no" for each in seen]),
        number("place in list", [np.nan if at is None else float(at[1]) + 1.0 for at in position], whole=True),
        number("depth", [each.path.count(".") + 1.0 for each in seen], whole=True),
        number("same label in document", [
            same[each.document, place, each.label] for each, place in zip(seen, alone, strict=True)
        ], whole=True),
        number("fields in document", [
            in_document[each.document, place] for each, place in zip(seen, alone, strict=True)
        ], "document", whole=True),
    ]  # fmt: skip
    if all(each.field is not None for each in seen):
        attributes += _of_values(seen)
        attributes += _of_boxes(results, seen)
    return tuple(attributes)


def _of_values(seen: Sequence[_Seen]) -> list[Attribute]:
    values = [None if each.field is None else each.field.value for each in seen]
    texts = ["" if value is None else str(value) for value in values]
    return [
        category("value type", [_type_of(value) for value in values]),
        number("value length", [float(len(text)) for text in texts], whole=True),
        number("words in value", [float(len(text.split())) for text in texts], whole=True),
    ]


def _type_of(value: object) -> str:
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, (int, float)):
        return "number"
    if not isinstance(value, str):
        return "object"
    return "text with digits" if any(letter.isdecimal() for letter in value) else "text"


def _of_boxes(results: Sequence[FieldsResult], seen: Sequence[_Seen]) -> list[Attribute]:
    xyxy = np.full((len(seen), 4), np.nan)
    page = np.full(len(seen), np.nan)
    for place, each in enumerate(seen):
        if each.field is not None and each.field.has_box:
            page[place] = each.field.page
            if each.field.box is not None:
                xyxy[place] = each.field.box
    pages, extent = _of_documents(results)
    if max((high for size in extent.values() for high in size), default=1.0) > 1.0:
        xyxy /= np.array([[*extent[each.document], *extent[each.document]] for each in seen]).reshape(-1, 4)
    size = xyxy[:, 2:] - xyxy[:, :2]
    count = np.array([pages[each.document] for each in seen], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        aspect = np.where(size[:, 1] > 0.0, size[:, 0] / size[:, 1], np.nan)
        part = np.where(count > 1.0, page / np.maximum(count - 1.0, 1.0), np.nan)
    return [
        number("area", size[:, 0] * size[:, 1]),
        number("width", size[:, 0]),
        number("height", size[:, 1]),
        number("aspect", aspect),
        number("x", (xyxy[:, 0] + xyxy[:, 2]) / 2.0),
        number("y", (xyxy[:, 1] + xyxy[:, 3]) / 2.0),
        number("page number", page + 1.0, "page", whole=True),
        number("position in document", part, "page"),
        number("pages in document", count, "document", whole=True),
    ]


def _of_documents(results: Sequence[FieldsResult]) -> tuple[dict[str, int], dict[str, tuple[float, float]]]:
    pages: dict[str, int] = {}
    extent: dict[str, tuple[float, float]] = {}
    for result in results:
        compared = result.compared
        for name in compared.documents:
            pages.setdefault(name, 1)
            extent.setdefault(name, (1.0, 1.0))
        for side in (compared.truth, compared.predicted):
            for field, code in zip(side, compared.document.tolist(), strict=True):
                if field is None or field.box is None:
                    continue
                name = compared.documents[code]
                pages[name] = max(pages[name], field.page + 1)
                width, height = extent[name]
                extent[name] = max(width, field.box[2]), max(height, field.box[3])
    return pages, extent
