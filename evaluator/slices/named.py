"""Named slices: sets of boxes with a name, kept in a file, whose measures are shown beside those of the labels.

Owns the file, a JSON object of names with lists of conditions, and the numbers: recall of the boxes of the ground truth
in the slice, precision of the predictions in it, both as sums by document, so that they are compared, resampled and
judged like any other number. Their label is ``slice:NAME``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from evaluator.metrics.box_results import AnyBoxResult
from evaluator.metrics.measures import Key, Measures, Ratios
from evaluator.metrics.results import ResultTable, ratio
from evaluator.model.boxes import BoolArray, FloatArray
from evaluator.model.issues import BadInput, Collector, refuse
from evaluator.slices.attributes import Attribute, OfPages, attributes_of
from evaluator.slices.conditions import Condition, holding
from evaluator.slices.slices import MEASURES, Measure, attribute_table, hits, known_of_pages
from evaluator.system.whole_file import write_whole

FILE_NAME: Final = "layoutscope-slices.json"
"""Where named slices are looked for, beside the ground truth."""
PREFIX: Final = "slice:"
_OPS: Final = ("==", "<", ">=")


class NamedSlice(NamedTuple):
    """A name and the conditions of its boxes, at least one."""

    name: str
    conditions: tuple[Condition, ...]


class Counted(NamedTuple):
    """A measure of a named slice.

    Attributes
    ----------
    value : float
        NaN where no box is in it.
    right, boxes : float64, shape (D,)
        Boxes that are right, and all of them, by document.
    """

    slice: NamedSlice
    measure: Measure
    value: float
    right: FloatArray
    boxes: FloatArray


def read_named(path: Path) -> tuple[NamedSlice, ...]:
    """The named slices of a file.

    Parameters
    ----------
    path : Path
        ``{"scans": [{"attribute": "scan", "op": "==", "value": "yes"}]}``; an object of a slice as ``layoutscope slices
        --json`` gives it may be given instead of the list.

    Raises
    ------
    BadInput
        With everything that cannot be understood.
    """
    try:
        value = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        refuse(path.name, "", "named slices must be JSON", str(problem), "Write {name: [conditions]}.")
    if not isinstance(value, dict):
        refuse(
            path.name,
            "",
            "named slices must be an object of names",
            type(value).__name__,
            "Write {name: [conditions]}.",
        )
    collector = Collector(path.name, max_per_rule=20)
    slices = []
    for name, body in value.items():
        conditions = body.get("conditions") if isinstance(body, dict) else body
        if not name.strip() or not isinstance(conditions, list) or not conditions:
            collector.error(name, "a slice must have a name and conditions", str(conditions)[:80],
                            'Write [{"attribute": "label", "op": "==", "value": "Table"}].')  # fmt: skip
            continue
        read = [_condition(collector, name, each) for each in conditions]
        if all(each is not None for each in read):
            slices.append(NamedSlice(name, tuple(each for each in read if each is not None)))
    if collector.failed:
        raise BadInput(collector.issues())
    return tuple(slices)


def _condition(collector: Collector, name: str, value: object) -> Condition | None:
    """One condition of a file; None with an issue when it is none."""
    if isinstance(value, dict) and isinstance(value.get("attribute"), str) and value.get("op") in _OPS:
        limit = value.get("value")
        if isinstance(limit, (int, float)) and not isinstance(limit, bool):
            return Condition(value["attribute"], value["op"], float(limit))
        if isinstance(limit, str) and value["op"] == "==":
            return Condition(value["attribute"], value["op"], limit)
    collector.error(name, "a condition must have attribute, op (==, < or >=) and value", str(value)[:80],
                    'Write {"attribute": "area", "op": "<", "value": 0.05}.')  # fmt: skip
    return None


def default_file(ground_truth: Path) -> Path:
    """Where the named slices of a ground truth are looked for: in its folder, or beside the file."""
    return (ground_truth if ground_truth.is_dir() else ground_truth.parent) / FILE_NAME


def saved(path: Path, added: NamedSlice) -> tuple[NamedSlice, ...]:
    """The named slices of a file with one more, which replaces one of the same name; the file is written whole."""
    others = [each for each in (read_named(path) if path.exists() else ()) if each.name != added.name]
    every = (*others, added)
    value = {each.name: [condition.to_json() for condition in each.conditions] for each in every}
    write_whole(path, [msgspec.json.format(msgspec.json.encode(value), indent=2), b"\n"])
    return every


def counted(
    result: AnyBoxResult,
    named: Sequence[NamedSlice],
    of_pages: OfPages | None = None,
    of_boxes: Mapping[Measure, Sequence[Attribute]] | None = None,
) -> tuple[Counted, ...]:
    """Recall and precision of named slices.

    A slice with a condition on the score has no recall: the ground truth has none.

    Parameters
    ----------
    of_pages : mapping, optional
        Attributes of pages and documents from elsewhere.
    of_boxes : mapping, optional
        Attributes of boxes from elsewhere: of the ground truth's for recall, of the predictions for precision.

    Raises
    ------
    ValueError
        When a condition is on an attribute that there is not; one sentence.
    """
    dataset = result.matching.dataset
    size = len(dataset.documents)
    known = known_of_pages(dataset.ground_truth, of_pages)
    counted_slices = []
    for measure in MEASURES:
        side = dataset.ground_truth if measure == "recall" else result.matching.prediction
        more = (of_boxes or {}).get(measure, ())
        every = attributes_of(dataset, side, of_pages=known, of_boxes=more, score=measure == "precision")
        table = attribute_table(every)
        right, counts = hits(result, measure)
        document = side.document.astype(np.int64)
        for each in named:
            inside = _inside(each, table, measure)
            if inside is None:
                continue
            rows = inside & counts
            boxes = np.bincount(document[rows], minlength=size).astype(np.float64)
            correct = np.bincount(document[rows & right], minlength=size).astype(np.float64)
            value = float(ratio(correct.sum(keepdims=True), boxes.sum(keepdims=True))[0])
            counted_slices.append(Counted(each, measure, value, correct, boxes))
    return tuple(counted_slices)


def _inside(each: NamedSlice, table: Mapping[str, Attribute], measure: Measure) -> BoolArray | None:
    """The boxes of a slice; None for what this side cannot have."""
    missing = [one.attribute for one in each.conditions if one.attribute not in table]
    if missing == ["score"] * len(missing) and missing and measure == "recall":
        return None
    if missing:
        raise ValueError(f"slice {each.name} needs the attribute {missing[0]}; there are {', '.join(table)}")
    return holding(each.conditions, table)


def with_slices(measures: Measures, slices: Sequence[Counted]) -> Measures:
    """Measures with those of named slices besides."""
    return Measures(measures.documents, measures.overall, (*measures.parts, *slices_part(slices)))


def slices_part(slices: Sequence[Counted]) -> tuple[Ratios, ...]:
    """The numbers of named slices as one part of `Measures`; none without slices."""
    if not slices:
        return ()
    part = Ratios(
        keys=tuple(Key(each.measure, PREFIX + each.slice.name) for each in slices),
        values=np.array([each.value for each in slices]),
        numerator=np.column_stack([each.right for each in slices]),
        denominator=np.column_stack([each.boxes for each in slices]),
    )
    return (part,)


def slices_table(slices: Sequence[Counted], title: str, signature: str) -> ResultTable:
    """One row per named slice: recall and precision, and of how many boxes."""
    values = slices_json(slices)
    columns = ("slice", "recall", "ground truth", "precision", "predictions")
    rows = tuple(
        (name, one["recall"], one["ground_truth"], one["precision"], one["predictions"]) for name, one in values.items()
    )
    return ResultTable(title=title, signature=signature, columns=columns, rows=rows)


def slices_json(slices: Sequence[Counted]) -> dict[str, Any]:
    """Named slices as plain values: recall, precision, boxes of both sides and conditions, by name."""
    by_name: dict[str, dict[str, Any]] = {}
    for each in slices:
        one = by_name.setdefault(
            each.slice.name,
            {"recall": None, "precision": None, "ground_truth": None, "predictions": None,
             "conditions": [condition.to_json() for condition in each.slice.conditions]},
        )  # fmt: skip
        one[each.measure] = None if np.isnan(each.value) else each.value
        one["ground_truth" if each.measure == "recall" else "predictions"] = int(each.boxes.sum())
    return by_name
