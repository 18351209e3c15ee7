"""The corrected ground truth of fields from verdicts: *one* for all models and thresholds.

====================  =========================  ======================================================================
verdict               boxes that were judged     what changes
====================  =========================  ======================================================================
ground truth wrong    ground truth (missed)      the ground truth field goes, and an object or list that it leaves empty
ground truth wrong    prediction (spurious)      the predicted field becomes ground truth, with its value and box
ground truth wrong    both (below threshold,     the ground truth field takes the predicted value, box and page, and
                      wrong value)               keeps its path
ignore                every one                  the compared field leaves the result of each model, both sides of it
others, conflict      every one                  nothing
====================  =========================  ======================================================================

A spurious field of a list item without partner brings the item: a copy of the predicted item, in which no other field
has a box. Without it the protocol, which pairs items by their values, would leave the accepted field alone again. Its
other boxes stay spurious until they are judged themselves; their values count as right in the confidence metrics.

What is ignored is taken out after the fields were paired, so that no list item loses its partner by it. Of several
verdicts that change one field the latest counts, and of several accepted predictions of one class with IoU >= 0.5 on
one page (one object, seen by two models) the latest.

Direction: an accepted prediction is its model's own box and value, so that model gets a match with IoU 1; its corrected
numbers are an upper bound. Another model is measured against that box as against any other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import BoolArray
from evaluator.data.fields import Corners, Field, FieldDocuments, Tree, below, box_similarity, class_key, leaves
from evaluator.protocols.fields.evaluation import FieldsResult
from evaluator.protocols.fields.pairing import compare
from evaluator.protocols.fields.rows import COLUMNS, ComparedFields, CompareInputs
from evaluator.review.corrected_results import CorrectedEvaluation, corrected_signature
from evaluator.review.corrections import Applied, Draft, correcting_verdicts
from evaluator.review.field_targets import field_model_name, judged_rows, same_box
from evaluator.review.identity import SAME_OBJECT_IOU
from evaluator.review.verdicts import ReviewedTarget, ReviewLog

# Names of objects, and places in lists.
Chain = tuple[str | int, ...]
# Model, document, path, box and page of a predicted field.
_Predicted = tuple[str, str, str | None, Corners | None, int]
_WORDS: Final = {
    "removed": "removed",
    "added": "added",
    "replaced": "replaced by the prediction",
    "ignored": "left out of the counts",
}
_INDEX = re.compile(r"\[([0-9]+)\]")
# Identities and paths do not depend on a threshold.
_ANY_IOU: Final = 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class FieldCorrections(Applied):
    """Corrected ground truth of fields, the official one, and the verdicts applied.

    `ignored` has fields of `truth` that leave the counts, each with its partner of every model; `ignored_predictions`
    the predicted fields that leave (model, document, path, box and page).
    """

    truth: FieldDocuments
    official: FieldDocuments
    ignored: tuple[Field, ...]
    ignored_predictions: frozenset[_Predicted]


def field_corrections(results: Sequence[FieldsResult], log: ReviewLog) -> FieldCorrections:
    """Return the corrected ground truth that follows from the agreed verdicts on fields.

    `results`: at least one, every open model. `ValueError` for results of several ground truths, or of a state, which
    has no documents. Without any verdict that applies, `truth` is the official documents themselves.
    """
    every = [_inputs(result) for result in results]
    if len({(inputs.ground_truth.name, inputs.ground_truth.sha256) for inputs in every}) != 1:
        raise ValueError("corrections need results of one ground truth")
    draft = _Draft(every[0].ground_truth, results, log)
    for judged in correcting_verdicts(log, "field"):
        draft.apply(judged)
    return draft.finished()


def corrected_fields(official: FieldsResult, to: FieldCorrections) -> CorrectedEvaluation[FieldsResult]:
    """Return a result on the corrected ground truth; ValueError for other ground truth or a state."""
    inputs = _inputs(official)
    if (inputs.ground_truth.name, inputs.ground_truth.sha256) != (to.official.name, to.official.sha256):
        raise ValueError("the corrections are those of another ground truth")
    compared = compare(to.truth, inputs.prediction, schema=inputs.schema, parity=official.compared.parity)
    left_out = {id(field) for field in to.ignored}
    kept = [
        id(compared.truth[row]) not in left_out and _predicted(compared, row) not in to.ignored_predictions
        for row in range(len(compared))
    ]
    result = replace(official, compared=_rows(compared, np.array(kept, dtype=bool)))
    return CorrectedEvaluation(result, corrected_signature(result.signature, to), to.applied)


def _predicted(compared: ComparedFields, row: int) -> _Predicted | None:
    field = compared.predicted[row]
    if field is None:
        return None
    document = compared.documents[compared.document[row]]
    return field_model_name(compared), document, compared.prediction_path[row], field.box, field.page


def _inputs(result: FieldsResult) -> CompareInputs:
    if result.compared.inputs is None:
        raise ValueError("there are no corrected numbers for the rows of a state")
    return result.compared.inputs


def _rows(compared: ComparedFields, kept: BoolArray) -> ComparedFields:
    if kept.all():
        return compared
    lists = ("truth_path", "prediction_path", "truth", "predicted")
    columns: dict[str, Any] = {name: getattr(compared, name)[kept] for name in COLUMNS}
    columns |= {name: list(compress(getattr(compared, name), kept)) for name in lists}
    return replace(compared, **columns)


class _Added(NamedTuple):
    model: int
    document: str
    path: str
    field: Field


class _NoPlaceError(Exception):
    """Raised when the ground truth has something else where a field would have to go."""


class _Draft(Draft):
    def __init__(self, truth: FieldDocuments, results: Sequence[FieldsResult], log: ReviewLog) -> None:
        super().__init__(truth.name)
        # A verdict on a class that is not scored is not gone.
        self.results = [replace(result, labels=None, min_score=0.0) for result in results]
        self.truth, self.log = truth, log
        self.judged = dict[tuple[int, str], dict[str, int]]()
        # By document: what becomes of a field, by path and the field itself; None when it goes.
        self.edits = dict[str, dict[tuple[str, int], Field | None]]()
        self.trees = dict[str, Tree]()
        # Copies of predicted items, by model, document and path.
        self.items = dict[tuple[int, str, str], Any]()
        self.partners = dict[tuple[int, str], dict[str, int]]()
        self.added: list[_Added] = []
        self.ignored = list[Field]()
        self.ignored_predictions = set[_Predicted]()
        # The fields of the ground truth by path, box and page: each model may have read it for itself.
        self.fields = dict[str, dict[tuple[str, Corners | None, int], Field]]()
        self.touched = set[int]()

    def apply(self, judged: ReviewedTarget) -> None:
        target = judged.target
        document = target.document or ""
        if not any(document in result.compared.documents for result in self.results):
            return self.refuse(judged, "its document is open", "not among these files")
        place = self._place(judged, document)
        if place is None:
            return self.refuse(
                judged, "its field is still in the files", "changed or gone, or of a model that is not open"
            )
        model, row = place
        compared = self.results[model].compared
        truth = self._own(document, compared.truth_path[row], compared.truth[row])
        predicted = compared.predicted[row] if target.of("prediction") else None
        both = [field for field in (truth, predicted) if field is not None]
        if self.touched.intersection(map(id, both)):
            return self.refuse(judged, "no newer one changes the same field", "a newer one")
        if judged.verdict == "ignore":
            self.ignored += [] if truth is None else [truth]
            named = None if predicted is None else _predicted(compared, row)
            self.ignored_predictions |= set() if named is None else {named}
            self._note(judged, "ignored", both)
        elif truth is not None:
            path = compared.truth_path[row] or ""
            taken = None if predicted is None else _as_truth(predicted)
            self.edits.setdefault(document, {})[path, id(truth)] = taken
            self._note(judged, "removed" if taken is None else "replaced", both)
        elif predicted is not None:
            self._add(judged, model, row, predicted)
        return None

    def finished(self) -> FieldCorrections:
        truth = self.truth
        if self.edits or self.trees:
            documents = dict(truth.documents) | self.trees
            for document, edits in self.edits.items():
                kept = _edited(documents[document], edits, "")
                documents[document] = {} if kept is None else kept
            digest = hashlib.sha256(f"{truth.sha256}/{self.reason}".encode()).hexdigest()
            truth = replace(truth, documents=documents, sha256=digest)
        return FieldCorrections(
            truth=truth,
            official=self.truth,
            ignored=tuple(self.ignored),
            ignored_predictions=frozenset(self.ignored_predictions),
            changes=tuple(self.changes),
            issues=tuple(self.issues),
        )

    def _own(self, document: str, path: str | None, field: Field | None) -> Field | None:
        if field is None:
            return None
        if document not in self.fields:
            tree = self.truth.documents.get(document, {})
            self.fields[document] = {(place, each.box, each.page): each for place, each in leaves(tree)}
        return self.fields[document].get((path or "", field.box, field.page), field)

    def _place(self, judged: ReviewedTarget, document: str) -> tuple[int, int] | None:
        target = judged.target
        for model in range(len(self.results)):
            row = self._judged_rows(model, document).get(judged.target_id)
            if row is not None:
                return model, row
        if target.of("prediction"):
            return None
        # A verdict about the ground truth alone holds whatever the models say about the field.
        (box,) = target.boxes
        for model, result in enumerate(self.results):
            compared = result.compared
            for row in result.places(document).tolist():
                if same_box(box, compared.truth[row], compared.truth_path[row], target):
                    return model, row
        return None

    def _judged_rows(self, model: int, document: str) -> dict[str, int]:
        if (model, document) not in self.judged:
            self.judged[model, document] = judged_rows(self.results[model], document, self.log, iou=_ANY_IOU)
        return self.judged[model, document]

    def _add(self, judged: ReviewedTarget, model: int, row: int, predicted: Field) -> None:
        compared = self.results[model].compared
        document = compared.documents[compared.document[row]]
        there = compared.prediction_path[row] or ""
        if document not in self.truth.documents and self.truth.single:
            return self.refuse(judged, "its document is in the ground truth", "a file with one other document")
        if self._known(model, document, there, predicted):
            return self.refuse(judged, "no newer one adds the same field", "a newer one")
        tree = self.trees.get(document)
        if tree is None:
            tree = _mapped(self.truth.documents.get(document, {}), lambda field: field)
        try:
            self._put(tree, model, row, _as_truth(predicted))
        except _NoPlaceError:
            return self.refuse(judged, "the ground truth has a place for its field", "another kind of value there")
        self.trees[document] = tree
        self.added.append(_Added(model, document, there, predicted))
        return self._note(judged, "added", [predicted])

    def _known(self, model: int, document: str, path: str, predicted: Field) -> bool:
        """Return whether a newer verdict on another model added the same field, or object in a list."""
        name = class_key(path)
        return any(
            other.model != model
            and other.document == document
            and (
                other.path == path
                if name == path
                else class_key(other.path) == name and _same_object(predicted, other.field)
            )
            for other in self.added
        )

    def _put(self, tree: Tree, model: int, row: int, field: Field) -> None:
        """Set a field in a copy of the ground truth, at the place that the pairing gives it."""
        compared = self.results[model].compared
        document = compared.documents[compared.document[row]]
        source: Any = _prediction_tree(_inputs(self.results[model]), document)
        chain = _chain_to(source, compared.prediction_path[row] or "", compared.predicted[row])
        node: Any = tree
        there, copied = "", False
        for place, step in enumerate(chain[:-1]):
            there = below(there, step) if isinstance(step, str) else f"{there}[{step}]"
            source = source[step]
            if copied:
                node = node[step]
            elif isinstance(step, str):
                node = _inner(node, step, is_list=isinstance(chain[place + 1], int))
            else:
                partner = self._partners(model, document).get(there)
                node = self._item(node, partner, (model, document, there), source)
                copied = partner is None
        last = chain[-1]
        if copied or (isinstance(last, str) and isinstance(node, dict) and node.get(last) is None):
            node[last] = field
        elif isinstance(last, int) and isinstance(node, list):
            node.append(field)
        else:
            raise _NoPlaceError

    def _item(self, node: Any, partner: int | None, key: tuple[int, str, str], source: Tree) -> Any:  # noqa: ANN401
        """Return the partner of a predicted item in a list of the truth, or the copy that stands for it."""
        if not isinstance(node, list):
            raise _NoPlaceError
        if partner is not None:
            return node[partner]
        if key not in self.items:
            self.items[key] = _mapped(source, lambda field: Field(value=field.value))
            node.append(self.items[key])
        return self.items[key]

    def _partners(self, model: int, document: str) -> dict[str, int]:
        """Return the place in its list of each predicted item's true partner, by the item's path."""
        if (model, document) not in self.partners:
            compared = self.results[model].compared
            partners: dict[str, int] = {}
            for row in np.flatnonzero(compared.document == compared.documents.index(document)).tolist():
                here, there = compared.truth_path[row], compared.prediction_path[row]
                if here is None or there is None:
                    continue
                for one, other in zip(_INDEX.finditer(here), _INDEX.finditer(there), strict=False):
                    # A row that ends here may be two items that are not alike enough to be a pair.
                    if one.end() < len(here) and other.end() < len(there):
                        partners[there[: other.end()]] = int(one[1])
            self.partners[model, document] = partners
        return self.partners[model, document]

    def _note(self, judged: ReviewedTarget, what: str, fields: Sequence[Field]) -> None:
        self.touched.update(map(id, fields))
        removed, added = int(what in ("removed", "replaced")), int(what in ("added", "replaced"))
        self.note(judged, what, f"{judged.target.label} {_WORDS[what]}", removed=removed, added=added)


def _same_object(one: Field, other: Field) -> bool:
    return one.page == other.page and box_similarity(one.box, other.box) >= SAME_OBJECT_IOU


def _as_truth(predicted: Field) -> Field:
    """Return a predicted field as another object, so that nothing that is ignored is both sides."""
    return msgspec.structs.replace(predicted)


def _mapped(tree: Tree, of: Callable[[Field], Field]) -> Tree:
    if isinstance(tree, Field):
        return of(tree)
    if isinstance(tree, dict):
        return {key: _mapped(inner, of) for key, inner in tree.items()}
    return [_mapped(inner, of) for inner in tree]


def _edited(tree: Tree, edits: Mapping[tuple[str, int], Field | None], path: str) -> Tree | None:
    if isinstance(tree, Field):
        return edits.get((path, id(tree)), tree)
    if isinstance(tree, dict):
        named = {key: _edited(inner, edits, below(path, key)) for key, inner in tree.items()}
        left: Tree = {key: inner for key, inner in named.items() if inner is not None}
    else:
        items = [_edited(inner, edits, f"{path}[{index}]") for index, inner in enumerate(tree)]
        left = [inner for inner in items if inner is not None]
    return None if tree and not left else left


def _inner(node: Any, name: str, *, is_list: bool) -> Any:  # noqa: ANN401 - a tree
    if not isinstance(node, dict):
        raise _NoPlaceError
    held = node.get(name)
    if held is None or (isinstance(held, Field) and held.value is None and not held.has_box):
        node[name] = [] if is_list else {}
    return node[name]


def _prediction_tree(inputs: CompareInputs, document: str) -> Tree:
    """Return a document's fields as a model extracts them; two single files are one document."""
    documents = inputs.prediction.documents
    alone = inputs.ground_truth.single and inputs.prediction.single
    return next(iter(documents.values())) if alone else documents[document]


def _chain_to(tree: Tree, path: str, field: Field | None, begun: str = "") -> Chain:
    if isinstance(tree, Field):
        return ()
    steps: list[tuple[str | int, str, Tree]] = (
        [(key, below(begun, key), inner) for key, inner in tree.items()]
        if isinstance(tree, dict)
        else [(index, f"{begun}[{index}]", inner) for index, inner in enumerate(tree)]
    )
    for step, so_far, inner in steps:
        if inner is field and so_far == path:
            return (step,)
        if path.startswith(so_far) and (further := _chain_to(inner, path, field, so_far)):
            return (step, *further)
    return ()
