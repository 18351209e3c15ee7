"""Two comparisons of fields with one ground truth, field by field: which model has which fields right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.fields import natural_order
from evaluator.metrics.item_ledger import Item, ItemLedger, Items
from evaluator.metrics.results import threshold_text
from evaluator.protocols.fields.drill_down import problems
from evaluator.protocols.fields.evaluation import SPURIOUS, TRUE_POSITIVE, FieldsResult
from evaluator.system.lru_cache import LRUCache

EVERYTHING = "All fields"
BY_BOX, BY_VALUE, BY_BOTH = "box", "value", "box and value"
# In place of a row: a spurious field that a model does not have, and one that it has.
_RIGHT, _WRONG = -1, -2


class FieldLedgers:
    """The ledgers of two comparisons with one ground truth, at any threshold; fields are collected once."""

    def __init__(self, a: FieldsResult, b: FieldsResult) -> None:
        self._results = a, b
        classes = {name for result in self._results for name in result.compared.classes}
        self._names = sorted(classes, key=natural_order)
        # One for each measure, and others while a threshold changes what is spurious.
        self._layouts: LRUCache[tuple[str, bytes, bytes], _Layout] = LRUCache(most=6)

    def by_box_and_value(self, iou: float) -> tuple[ItemLedger, ItemLedger]:
        """Return the ledgers by box at a threshold in (0, 1], and by value; rows are all fields, then each class.

        By box every field of the ground truth with a box counts, and every predicted box without one; by value every
        field of the ground truth, and every predicted value without one that is not null. Where only one model has such
        a spurious field, nothing is wrong in the other.

        Under stickler's parity a box of the ground truth may be lost in the pairing of one model; such a field counts
        in neither. Spurious fields of both models are one field when they have one path in one document.
        """
        models = []
        for result in self._results:
            status = result.status(iou)
            models.append(_Counted(result, result.with_truth, status == TRUE_POSITIVE, status == SPURIOUS))
        return self._ledger(BY_BOX, models, at=f"IoU ≥ {threshold_text(iou)}"), self._by_value

    def whole(self, iou: float) -> ItemLedger:
        """Return the ledger by box and value together.

        A field is right when nothing is wrong with its box at the threshold, where either side has one, and its value
        is right.
        """
        models = []
        for result in self._results:
            lonely = result.compared.only_predicted
            rows = result.taking_part & ~lonely
            models.append(_Counted(result, rows, ~problems(result, iou), result.taking_part & lonely))
        return self._ledger(BY_BOTH, models, at=f"IoU ≥ {threshold_text(iou)}")

    @cached_property
    def _by_value(self) -> ItemLedger:
        models = []
        for result in self._results:
            part, lonely = result.taking_part, result.compared.only_predicted
            models.append(_Counted(result, part & ~lonely, result.compared.right, part & lonely))
        return self._ledger(BY_VALUE, models)

    def _ledger(self, measure: str, models: Sequence[_Counted], at: str = "") -> ItemLedger:
        spurious = [model.spurious & ~model.right for model in models]
        key = measure, spurious[0].tobytes(), spurious[1].tobytes()
        layout = self._layouts.get_or_make(key, lambda: _layout(models, spurious, self._names))
        a, b = (layout.amounts(side, model.right) for side, model in zip(layout.sides, models, strict=True))
        return ItemLedger("field", measure, layout.names, layout.items, a, b, at)


class _Counted(NamedTuple):
    """What counts of a comparison, bool by row: of the ground truth, what of it is right, and spurious."""

    result: FieldsResult
    truth: BoolArray
    right: BoolArray
    spurious: BoolArray


class _Places(NamedTuple):
    """Where the things of a ledger are in one comparison, int64, shape (K,).

    `row`: `_RIGHT` and `_WRONG` where the thing is that whatever the threshold. `column`: row of the ledger of its
    class; 0 for none.
    """

    row: IntArray
    column: IntArray


class _Layout(NamedTuple):
    """The things of a ledger, whatever is wrong with them.

    `names`: rows of the ledger. `empty`: float64, shape (K, R), 0 where a thing is counted, else NaN.
    """

    items: Items
    names: tuple[str, ...]
    empty: FloatArray
    sides: tuple[_Places, _Places]

    def amounts(self, places: _Places, right: BoolArray) -> FloatArray:
        """Return how much is wrong with each thing in one comparison, float64, shape (K, R)."""
        amounts, known = self.empty.copy(), places.row >= 0
        wrong = places.row == _WRONG
        wrong[known] = ~right[places.row[known]]
        amounts[wrong, 0] = 1.0
        of_class = np.flatnonzero(wrong & (places.column > 0))
        amounts[of_class, places.column[of_class]] = 1.0
        return amounts


def _layout(models: Sequence[_Counted], spurious: Sequence[BoolArray], names: Sequence[str]) -> _Layout:
    """Return the things that both models have, in the order of the first, and the ledger rows that count."""
    places = [
        {item: (at, column) for item, at, column in _fields(model.result, model.truth, names, spurious=False)}
        for model in models
    ]
    alone = [
        {
            (item.document, item.place): (item, column)
            for item, _, column in _fields(model.result, rows, names, spurious=True)
        }
        for model, rows in zip(models, spurious, strict=True)
    ]
    for place in dict.fromkeys(place for model in alone for place in model):
        # The page is that of the first model that has the field.
        item, column = next(model[place] for model in alone if place in model)
        for own, model in zip(places, alone, strict=True):
            own[item] = (_WRONG if place in model else _RIGHT), column
    first, second = places
    items = Items(item for item in first if item in second)
    sides = [np.array([side[item] for item in items], dtype=np.int64).reshape(-1, 2) for side in places]
    # A thing counts in the row of its class where both models say that it is of it.
    of_class = np.where(sides[0][:, 1] == sides[1][:, 1], sides[0][:, 1], 0)
    rows, listed = (EVERYTHING, *names), np.unique(np.append(of_class, 0))
    columns = np.searchsorted(listed, of_class)
    empty = np.full((len(items), len(listed)), np.nan)
    empty[np.arange(len(items)), columns] = 0.0
    empty[:, 0] = 0.0
    a, b = (_Places(np.ascontiguousarray(side[:, 0]), columns) for side in sides)
    return _Layout(items, tuple(rows[row] for row in listed.tolist()), empty, (a, b))


def _fields(
    result: FieldsResult, chosen: BoolArray, names: Sequence[str], *, spurious: bool
) -> Iterator[tuple[Item, int, int]]:
    """Yield the chosen fields of a side, the prediction's if `spurious`, with row and ledger row of their class."""
    compared = result.compared
    paths, fields = compared.truth_path, compared.truth
    if spurious:
        paths, fields = compared.prediction_path, compared.predicted
    of_class = np.array([1 + names.index(name) for name in compared.classes], dtype=np.int64)
    column = of_class[compared.field_class].tolist()
    for at in compared.in_order(compared.is_field & chosen).tolist():
        if (path := paths[at]) is not None:
            field = fields[at]
            page = field.page if field is not None and field.has_box else None
            yield Item(compared.documents[compared.document[at]], page, path, spurious=spurious), at, column[at]
