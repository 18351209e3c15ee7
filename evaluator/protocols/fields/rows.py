"""What was compared, as columns: one row per pair of fields, per lonely field, and per lonely item.

Rows keep the raw IoU and confidence, so that every threshold can be applied later. They are in the order of arrival;
every number follows `ComparedFields.order` instead, which no shard and no file can change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.fields import Field, FieldDocuments, Schema, class_key, natural_order
from evaluator.metrics.results import SourceFile

Parity = Literal["none", "stickler"]
COLUMNS: Final = {
    "document": np.int64, "has_truth": bool, "has_prediction": bool, "iou": np.float64, "confidence": np.float64,
    "refused": bool, "right": bool, "is_field": bool, "only_predicted": bool,
}  # fmt: skip
"""The columns of one length that are arrays, with what they hold."""


class CompareInputs(NamedTuple):
    """Both sides of a comparison as they were read, and how values are compared."""

    ground_truth: FieldDocuments
    prediction: FieldDocuments
    schema: Schema | None


@dataclass(frozen=True, eq=False)
class ComparedFields:
    """Every comparison of a run, as columns of one length N.

    Attributes
    ----------
    documents, document : tuple of str, length D, and int64, shape (N,)
        Every document of any side, in the order of arrival; code of each row.
    pages : int64, shape (D,)
        Pages that a box of the document names.
    truth_path, prediction_path : sequence of str or None
        Where the field is on each side; None for an item of a list without partner.
    has_truth, has_prediction : bool, shape (N,)
        Whether there is a box; a malformed one counts.
    iou : float64, shape (N,), in [0, 1]
        0 unless both boxes are well-formed and on one page.
    confidence, refused : float64 and bool, shape (N,)
        Of the prediction, NaN for none; whether it is not a number in [0, 1].
    right : bool, shape (N,)
        Whether the value is right; a field that only one side has is wrong unless its value is null.
    is_field : bool, shape (N,)
        False for items and objects that were compared as a whole.
    only_predicted : bool, shape (N,)
        Whether the ground truth has no field there, only the prediction.
    parity, value_rule : str
        Whose pairing this is; how values were compared, in words.
    ground_truth, prediction : tuple of SourceFile
        The files, one per shard.
    truth, predicted, inputs : sequence of Field or None, and CompareInputs or None
        The fields and what was compared; None for several shards.
    """

    documents: tuple[str, ...]
    pages: IntArray
    document: IntArray
    truth_path: Sequence[str | None]
    prediction_path: Sequence[str | None]
    has_truth: BoolArray
    has_prediction: BoolArray
    iou: FloatArray
    confidence: FloatArray
    refused: BoolArray
    right: BoolArray
    is_field: BoolArray
    only_predicted: BoolArray
    parity: Parity
    value_rule: str
    ground_truth: tuple[SourceFile, ...]
    prediction: tuple[SourceFile, ...]
    truth: Sequence[Field | None]
    predicted: Sequence[Field | None]
    inputs: CompareInputs | None = None

    def __len__(self) -> int:
        return len(self.document)

    @cached_property
    def order(self) -> IntArray:
        """Return rows by document, then by path, both in natural order, int64, shape (N,).

        The path is that of the prediction where there is one. Ties in confidence are broken by this order; the
        reference (stickler-eval 1.0.0) breaks them by arrival, so its number depends on the order of files.
        """
        paths = [there or here or "" for here, there in zip(self.truth_path, self.prediction_path, strict=True)]
        place = _places(paths)
        documents = _places(self.documents)
        document = np.array([documents[name] for name in self.documents], dtype=np.int64)[self.document]
        path = np.array([place[text] for text in paths], dtype=np.int64)
        return np.lexsort((path, document)).astype(np.int64)

    @property
    def tie_order(self) -> IntArray:
        """Return rows in the order that breaks ties in confidence: `order`, under stickler's parity that of arrival."""
        return np.arange(len(self), dtype=np.int64) if self.parity == "stickler" else self.order

    def in_order(self, chosen: BoolArray) -> IntArray:
        """Return the rows that are chosen, bool, shape (N,), by `order`, int64."""
        return np.asarray(self.order[chosen[self.order]])

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Return every class of field, in natural order."""
        return tuple(sorted(set(self._class_names), key=natural_order))

    @cached_property
    def field_class(self) -> IntArray:
        """Return the class of each row, int64, shape (N,): code into `classes`."""
        code = {name: index for index, name in enumerate(self.classes)}
        return np.array([code[name] for name in self._class_names], dtype=np.int64)

    @cached_property
    def _class_names(self) -> list[str]:
        """Return the class of each row; the ground truth's path names it where there is one."""
        known: dict[str, str] = {}
        names = []
        for here, there in zip(self.truth_path, self.prediction_path, strict=True):
            path = here if here is not None else there or ""
            if path not in known:
                known[path] = class_key(path)
            names.append(known[path])
        return names


def merge(*parts: ComparedFields) -> ComparedFields:
    """Return the rows of several shards, at least one, as one.

    Every number is the same for any order of the parts and equals that of one run over all documents; under
    ``parity="stickler"`` ties follow the order of the parts, as in the reference. ValueError without parts, when a
    document is in two of them, or when they were paired by different rules.
    """
    if not parts:
        raise ValueError("there is nothing to merge")
    if len({(part.parity, part.value_rule) for part in parts}) > 1:
        rules = " and ".join(sorted({f"{part.parity}, {part.value_rule}" for part in parts}))
        raise ValueError(f"shards must be paired by the same rules; found {rules}")
    documents = tuple(name for part in parts for name in part.documents)
    if len(set(documents)) < len(documents):
        twice = sorted({name for name in documents if documents.count(name) > 1}, key=natural_order)
        raise ValueError(f"a document may be in one shard only; found {', '.join(twice[:3])} in several")
    first = np.cumsum([0, *(len(part.documents) for part in parts)])
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS if name != "document"
    }
    return ComparedFields(
        documents=documents,
        pages=np.concatenate([part.pages for part in parts]),
        document=np.concatenate([part.document + start for part, start in zip(parts, first, strict=False)]),
        **columns,
        truth_path=[path for part in parts for path in part.truth_path],
        prediction_path=[path for part in parts for path in part.prediction_path],
        parity=parts[0].parity,
        value_rule=parts[0].value_rule,
        ground_truth=tuple(sorted({source for part in parts for source in part.ground_truth})),
        prediction=tuple(sorted({source for part in parts for source in part.prediction})),
        truth=[field for part in parts for field in part.truth],
        predicted=[field for part in parts for field in part.predicted],
    )


def as_one(sources: Sequence[SourceFile]) -> SourceFile:
    """Return one name and digest for the files of all shards: those of the only one, or joined."""
    if len(sources) == 1:
        return sources[0]
    digest = hashlib.sha256("".join(source.sha256 for source in sources).encode()).hexdigest()
    return SourceFile(" + ".join(source.name for source in sources), digest)


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(sorted(set(names), key=natural_order))}
