"""Which predicted field belongs to which true one: by path, and in lists by the best assignment.

The values decide, not the boxes. With ``parity="stickler"`` the walk ends where that of stickler-eval 1.0.0 ends, with
its losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import lap  # type: ignore[import-untyped]
import msgspec
import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray
from evaluator.data.fields import (
    DEFAULT_MATCH_THRESHOLD,
    Field,
    FieldDocuments,
    Schema,
    SchemaNode,
    Tree,
    below,
    leaves,
    paired_iou,
)
from evaluator.metrics.results import SourceFile
from evaluator.protocols.base import ShardPair, ShardRunner
from evaluator.protocols.fields.rows import ComparedFields, CompareInputs, Parity, merge
from evaluator.protocols.fields.values import describe, is_absent, is_right, similarities, similarity

# Sums of similarities that differ by less than this are equal, and items then stay in the order of their lists.
_TIE = 1e-9


class Spot(NamedTuple):
    """Two things that are at one place of both documents, and how the walk came there.

    `truth`, `predicted`: None where a side has nothing. `here`, `there`: the path on each side; they differ inside of
    lists. `nested`: inside of an object of the document. `item`: directly inside of a paired list item. `known`: the
    reference comes here at all; beyond that there are rows for fields only.
    """

    truth: Tree | None
    predicted: Tree | None
    here: str = ""
    there: str = ""
    node: SchemaNode | None = None
    nested: bool = False
    item: bool = False
    known: bool = True


def compare(
    ground_truth: FieldDocuments,
    prediction: FieldDocuments,
    *,
    schema: Schema | None = None,
    parity: Parity = "none",
    parts: ShardRunner | None = None,
) -> ComparedFields:
    """Return every comparison between two sides, by the values of `schema` and the pairing of `parity`.

    Documents in the order of the ground truth, then those that only the prediction has, which are compared with an
    empty document. Two sides of one document each in files of their own are that document. Fields of the schema are
    rows even where both sides lack them. For `parts` see `protocols.base.ShardRunner`.

    Notes
    -----
    Stickler documentation, "Bounding Box mAP Metrics". Fields are paired by path, and a list item with the item of the
    other list that the assignment with the highest sum of similarities gives it. Items that are objects are a pair from
    the match threshold on, otherwise both are lonely. An item that is a plain value keeps its partner whatever the
    similarity, as in the reference.

    Every field of an object or item without partner is a row: a miss or a spurious one if it has a box. The object or
    item is one more row, as the reference counts it for coverage, but not a ground-truth item of a list at the top of
    the document that has boxes. The reference loses the boxes of items beyond the true ones, of objects and lists that
    one side lacks, of lonely items in a list below an object, of pairs below the match threshold and of everything
    deeper than one list; each loss leaves misses or false positives out.

    With ``parity="stickler"`` the rows are those of the reference. Two differences are known: which of several equally
    good assignments it takes, and how alike objects and lists inside of list items are (it counts what both lack as
    alike and cuts values below their threshold to 0).
    """
    inputs = CompareInputs(ground_truth, prediction, schema)
    if parts is not None:
        work = partial(_part, schema=schema, parity=parity)
        return replace(merge(*parts(work, (ground_truth, prediction))), inputs=inputs)
    walk = _Walk(schema, reference=parity == "stickler")
    sides = _together(ground_truth, prediction)
    pages = []
    for truth, predicted in sides.values():
        walk.document(truth, predicted)
        boxed = [field for tree in (truth, predicted) for _, field in leaves(tree) if field.has_box]
        pages.append(len({field.page for field in boxed}))
    return walk.rows(
        documents=tuple(sides),
        pages=np.array(pages, dtype=np.int64),
        parity=parity,
        value_rule=describe(schema),
        ground_truth=(SourceFile(ground_truth.name, ground_truth.sha256),),
        prediction=(SourceFile(prediction.name, prediction.sha256),),
        inputs=inputs,
    )


def _part(cut: ShardPair, schema: Schema | None, parity: Parity) -> ComparedFields:
    return replace(compare(*cut, schema=schema, parity=parity), inputs=None)


def assign(similarities: FloatArray) -> list[tuple[int, int]]:
    """Return the one-to-one assignment with the highest sum of similarities, float64, shape (T, P).

    min(T, P) pairs of row and column, sorted by row. Of assignments with sums equal to 1e-9, the one that keeps the
    order of rows and columns best.
    """
    rows, columns = similarities.shape
    if not rows or not columns:
        return []
    # Squares, because they add up to least when pairs do not cross.
    shift = (np.arange(rows)[:, None] - np.arange(columns)[None, :]).astype(np.float64) ** 2
    value = similarities - shift * (_TIE / (max(rows, columns) ** 3))
    best = value.argmax(axis=1)
    if rows <= columns and len(np.unique(best)) == rows:
        return list(enumerate(best.tolist()))
    _, partner, _ = lap.lapjv(1.0 - value, extend_cost=True)
    return [(row, int(column)) for row, column in enumerate(partner) if column >= 0]


def item_similarity(truth: Tree, predicted: Tree, node: SchemaNode | None) -> float:
    """Return how much two list items are alike, in [0, 1].

    Objects: the mean over the fields that either has, 1 when neither has any. Lists: the sum of the best assignment
    over the longer length. 0 for items of different kinds.
    """
    if isinstance(truth, Field) and isinstance(predicted, Field):
        return similarity(truth.value, predicted.value, node.rule if node else None)
    if isinstance(truth, dict) and isinstance(predicted, dict):
        return float(_object_table([truth], [predicted], node)[0, 0])
    if isinstance(truth, list) and isinstance(predicted, list):
        longer = max(len(truth), len(predicted))
        table = _similarities(truth, predicted, node.item if node else None)
        return sum(float(table[pair]) for pair in assign(table)) / longer if longer else 1.0
    return 0.0


def _similarities(truths: Sequence[Tree], predictions: Sequence[Tree], node: SchemaNode | None) -> FloatArray:
    if all(isinstance(item, dict) for item in (*truths, *predictions)):
        return _object_table(truths, predictions, node)  # type: ignore[arg-type]
    if all(isinstance(item, Field) for item in (*truths, *predictions)):
        here, there = ([item.value for item in side] for side in (truths, predictions))  # type: ignore[union-attr]
        return similarities(here, there, node.rule if node else None)
    table = [[item_similarity(first, second, node) for second in predictions] for first in truths]
    return np.array(table, dtype=np.float64).reshape(len(truths), len(predictions))


def _object_table(
    truths: Sequence[dict[str, Any]], predictions: Sequence[dict[str, Any]], node: SchemaNode | None
) -> FloatArray:
    """Return the mean similarity, over the fields that either has, of each object with each."""
    declared = node.children if node else {}
    total = np.zeros((len(truths), len(predictions)))
    count = np.zeros_like(total)
    here, there = _rows_by_name(truths), _rows_by_name(predictions)
    for name in dict.fromkeys([*declared, *here, *there]):
        first, second = here.get(name, []), there.get(name, [])
        both = np.ix_(first, second)
        if first and second:
            sides = [truths[row][name] for row in first], [predictions[row][name] for row in second]
            total[both] += _similarities(*sides, declared.get(name))
        count[first, :] += 1
        count[:, second] += 1
        count[both] -= 1
    return np.divide(total, count, out=np.ones_like(total), where=count > 0)


def _rows_by_name(items: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        for name, tree in item.items():
            if _says(tree):
                rows.setdefault(name, []).append(row)
    return rows


def _says(tree: Tree) -> bool:
    return not is_absent(tree.value if isinstance(tree, Field) else tree)


def _equal_as_text(truth: Sequence[Tree], predicted: Sequence[Tree]) -> FloatArray:
    """Return the reference's similarity of plain items: 1 for equal text but for case and white space."""

    def said(item: Tree) -> str:
        value = item.value if isinstance(item, Field) else None
        return "" if value is None else " ".join(str(value).lower().split())

    here, there = [said(item) for item in truth], [said(item) for item in predicted]
    return np.array([[float(first == second) for second in there] for first in here]).reshape(len(here), len(there))


def _together(ground_truth: FieldDocuments, prediction: FieldDocuments) -> dict[str, tuple[Tree, Tree]]:
    """Return both sides of each document; an empty one where a side lacks it."""
    truths, predictions = ground_truth.documents, prediction.documents
    if ground_truth.single and prediction.single:
        predictions = dict(zip(truths, predictions.values(), strict=True))
    names = dict.fromkeys([*truths, *predictions])
    return {name: (truths.get(name, {}), predictions.get(name, {})) for name in names}


class _Walk:
    """The walk over pairs of documents; collects the rows."""

    def __init__(self, schema: Schema | None, *, reference: bool) -> None:
        self._root = schema.root if schema else None
        self._reference = reference
        self._documents = -1
        self._document: list[int] = []
        self._paths: list[tuple[str | None, str | None]] = []
        self._fields: list[tuple[Field | None, Field | None]] = []
        self._right: list[bool] = []
        self._is_field: list[bool] = []

    def document(self, truth: Tree, predicted: Tree) -> None:
        self._documents += 1
        self._pair(Spot(truth, predicted, node=self._root))

    def rows(self, **given: Any) -> ComparedFields:  # noqa: ANN401 - passed on
        truth = [field for field, _ in self._fields]
        predicted = [field for _, field in self._fields]
        has_truth = _column(field is not None and field.has_box for field in truth)
        has_prediction = _column(field is not None and field.has_box for field in predicted)
        return ComparedFields(
            document=np.array(self._document, dtype=np.int64),
            truth_path=[path for path, _ in self._paths],
            prediction_path=[path for _, path in self._paths],
            has_truth=has_truth,
            has_prediction=has_prediction,
            iou=_iou(truth, predicted),
            confidence=np.array([field.confidence if field else np.nan for field in predicted], dtype=np.float64),
            refused=_column(field is not None and field.confidence_refused for field in predicted),
            right=np.array(self._right, dtype=bool),
            is_field=np.array(self._is_field, dtype=bool),
            only_predicted=_column(field is None for field in truth),
            truth=truth,
            predicted=predicted,
            **given,
        )

    def _row(self, here: str | None, there: str | None, spot: Spot) -> None:
        """Add one row: a pair of fields, a lonely one, or objects and lists as a whole."""
        truth = spot.truth if isinstance(spot.truth, Field) else None
        predicted = spot.predicted if isinstance(spot.predicted, Field) else None
        is_field = truth is spot.truth and predicted is spot.predicted
        rule = spot.node.rule if spot.node else None
        self._document.append(self._documents)
        self._paths.append((here, there))
        self._fields.append((truth, predicted))
        self._is_field.append(is_field)
        self._right.append(
            is_field and is_right(truth.value if truth else None, predicted.value if predicted else None, rule)
        )

    def _pair(self, spot: Spot) -> None:
        if not isinstance(spot.truth, dict | list) and not isinstance(spot.predicted, dict | list):
            self._row(spot.here, spot.there, spot)
        elif not spot.item:
            self._inside(spot)
        else:
            # The reference compares what an item holds as a whole and does not look inside.
            if spot.known:
                self._row(spot.here, spot.there, spot)
            if not self._reference:
                self._inside(spot._replace(item=False, known=False))

    def _inside(self, spot: Spot) -> None:
        """Compare two objects or lists; at least one side is one."""
        if isinstance(spot.truth, dict) and isinstance(spot.predicted, dict):
            self._objects(spot, spot.truth, spot.predicted)
        elif (isinstance(spot.truth, list) or _is_nothing(spot.truth, spot.predicted)) and (
            isinstance(spot.predicted, list) or _is_nothing(spot.predicted, spot.truth)
        ):
            self._lists(spot, _items_of(spot.truth), _items_of(spot.predicted))
        else:
            self._apart(spot)

    def _apart(self, spot: Spot) -> None:
        """Add rows of two things that are no pair, or of one thing: the whole, then every field on its own."""
        if spot.known:
            self._row(spot.here, spot.there, spot)
        self._lonely(spot.truth, spot.here, None)
        self._lonely(spot.predicted, None, spot.there)

    def _objects(self, spot: Spot, truth: dict[str, Any], predicted: dict[str, Any]) -> None:
        """Compare two objects field by field: those of the schema first, then those of the data."""
        declared = spot.node.children if spot.node else {}
        names = dict.fromkeys(declared)
        if not (self._reference and self._root):
            names |= dict.fromkeys(truth) | dict.fromkeys(predicted)
        nested = bool(spot.here or spot.there)
        for name in names:
            first, second = truth.get(name), predicted.get(name)
            if first is None and second is None and not spot.known:
                continue
            here, there = below(spot.here, name), below(spot.there, name)
            self._pair(Spot(first, second, here, there, declared.get(name), nested, spot.item, spot.known))

    def _lists(self, spot: Spot, truths: list[Any], predictions: list[Any]) -> None:
        node = spot.node.item if spot.node else None
        threshold = spot.node.match_threshold if spot.node else DEFAULT_MATCH_THRESHOLD
        table = self._table(truths, predictions, node)
        pairs = assign(table)
        spot = spot._replace(node=node)
        for first, second in pairs:
            here, there = f"{spot.here}[{first}]", f"{spot.there}[{second}]"
            both = spot._replace(truth=truths[first], predicted=predictions[second], here=here, there=there)
            self._items(both, alike=bool(table[first, second] >= threshold))
        for first in sorted(set(range(len(truths))) - {first for first, _ in pairs}):
            self._missed(spot._replace(truth=truths[first], predicted=None, here=f"{spot.here}[{first}]"))
        for second in sorted(set(range(len(predictions))) - {second for _, second in pairs}):
            self._invented(spot._replace(truth=None, predicted=predictions[second], there=f"{spot.there}[{second}]"))

    def _table(self, truths: list[Any], predictions: list[Any], node: SchemaNode | None) -> FloatArray:
        if self._reference and not all(isinstance(item, dict) for item in (*truths, *predictions)):
            return _equal_as_text(truths, predictions)
        return _similarities(truths, predictions, node)

    def _items(self, spot: Spot, *, alike: bool) -> None:
        if not (isinstance(spot.truth, dict) and isinstance(spot.predicted, dict)):
            self._pair(spot._replace(item=True))
        elif alike:
            self._objects(spot._replace(item=True), spot.truth, spot.predicted)
        else:
            self._apart(spot)

    def _missed(self, spot: Spot) -> None:
        inner = list(leaves(spot.truth or {}, spot.here))
        if self._reference and not spot.nested and any("_bbox" in field.extras for _, field in inner):
            for path, field in inner:
                if "_bbox" in field.extras:
                    # Here, and only here, the reference takes a null for a box.
                    self._row(path, None, Spot(msgspec.structs.replace(field, has_box=True), None))
        else:
            if isinstance(spot.truth, Field) or (
                spot.known and (spot.nested or not any(field.has_box for _, field in inner))
            ):
                # Below an object the reference spells the missing partner like a path, and counts it as one.
                spelled = f"{spot.there.rpartition('.')[0]}.None" if self._reference and spot.nested else None
                self._row(spot.here, spelled, spot)
            self._lonely(spot.truth, spot.here, None)

    def _invented(self, spot: Spot) -> None:
        if isinstance(spot.predicted, Field) or spot.known:
            self._row(None, spot.there, spot)
        self._lonely(spot.predicted, None, spot.there)

    def _lonely(self, tree: Tree | None, here: str | None, there: str | None) -> None:
        """Add rows of the fields in an object or list without partner; the reference loses them."""
        if self._reference or tree is None or isinstance(tree, Field):
            return
        for path, field in leaves(tree, here if here is not None else there or ""):
            if here is not None:
                self._row(path, None, Spot(field, None))
            else:
                self._row(None, path, Spot(None, field))


def _is_nothing(tree: Tree | None, other: Tree | None) -> bool:
    """Return whether one side is nothing at all where the other is an empty list."""
    return other == [] and (tree is None or (isinstance(tree, Field) and tree.value is None and not tree.has_box))


def _items_of(tree: Tree | None) -> list[Any]:
    return tree if isinstance(tree, list) else []


def _iou(truth: Sequence[Field | None], predicted: Sequence[Field | None]) -> FloatArray:
    both = [
        row for row, (first, second) in enumerate(zip(truth, predicted, strict=True))
        if first and second and first.box and second.box and first.page == second.page
    ]  # fmt: skip
    column = np.zeros(len(truth))
    if both:
        first = np.array([truth[row].box for row in both])  # type: ignore[union-attr]
        second = np.array([predicted[row].box for row in both])  # type: ignore[union-attr]
        column[both] = paired_iou(first, second)
    return column


def _column(values: Any) -> BoolArray:  # noqa: ANN401 - an iterable of bool
    return np.fromiter(values, dtype=bool)
