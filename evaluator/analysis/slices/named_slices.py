"""Named slices: sets of boxes with a name, kept in a file, whose measures are shown beside those of the labels.

The file is a JSON object of names with lists of conditions. The numbers, labelled ``slice:NAME``, are the means over
boxes as sums by document, and the average precisions of the protocol where a slice has whole pages and labels (see
`averages`); otherwise the sides do not agree which boxes are in it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from evaluator.analysis.slices.attributes import PageValues
from evaluator.analysis.slices.averages import of_whole_pages
from evaluator.analysis.slices.conditions import Condition, condition_mask
from evaluator.analysis.slices.measure_values import GROUND_TRUTH, MEASURES, box_values, tables_of
from evaluator.analysis.slices.slices import attribute_table, known_page_values
from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.issues import Collector, refuse
from evaluator.formats import folder
from evaluator.matching.box_results import ALL_LABELS, AnyBoxResult
from evaluator.metrics.exact_sums import ExactSums, exact_mean
from evaluator.metrics.measures import Key, Measures, Part, Ratios
from evaluator.metrics.observations import Attribute
from evaluator.metrics.results import ResultTable
from evaluator.metrics.tied_scores import Range
from evaluator.protocols import protocol_of
from evaluator.protocols.base import BoxEvaluation
from evaluator.system.atomic_write import atomic_write

FILE_NAME: Final = "layoutscope-slices.json"
"""Where named slices are looked for, beside the ground truth."""
PREFIX: Final = "slice:"
_OPS: Final = ("==", "<", ">=")
_MOST_BYTES: Final = 1 << 20
# JSON has whole numbers that no float64 is.
_LARGEST: Final = sys.float_info.max


class NamedSlice(NamedTuple):
    """A name and the conditions of its boxes, at least one."""

    name: str
    conditions: tuple[Condition, ...]


class NamedMeasure(NamedTuple):
    """A measure of a named slice; `value` is NaN where no box is in it.

    `total`, `boxes`: float64, shape (D,), the sum of the values of its boxes, and their number, by document.
    """

    slice: NamedSlice
    measure: str
    value: float
    total: FloatArray
    boxes: FloatArray

    @classmethod
    def of(cls, one: NamedSlice, measure: str, values: FloatArray, document: IntArray, documents: int) -> NamedMeasure:
        """Return the measure of a slice from value and document of each thing in it."""
        boxes = np.bincount(document, minlength=documents).astype(np.float64)
        return cls(one, measure, exact_mean(values), ExactSums.of(values, document, documents).total, boxes)


_SIZES: Final[Mapping[str, str]] = {"recall": "ground_truth", "precision": "predictions"}


class NamedNumbers(NamedTuple):
    """The numbers of the named slices of one result.

    `averages`: those of slices of whole pages and labels, if the protocol has any; `ties`: their ``tied_ranges``.
    `names`: every measure a slice may have, in order. `sizes`: by measure the name under which its number of things is
    stated.
    """

    measures: tuple[NamedMeasure, ...] = ()
    averages: tuple[Part, ...] = ()
    names: tuple[str, ...] = MEASURES
    sizes: Mapping[str, str] = _SIZES
    ties: Mapping[Key, Range] = MappingProxyType({})


def read_named(path: Path) -> tuple[NamedSlice, ...]:
    """Return the named slices of a file; BadInput with everything that cannot be understood.

    For example ``{"scans": [{"attribute": "scan", "op": "==", "value": "yes"}]}``; instead of the list a slice may be
    an object of ``layoutscope slices --json``.
    """
    try:
        value = msgspec.json.decode(folder.load(path, _MOST_BYTES))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
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
    collector.raise_if_failed()
    return tuple(slices)


def _condition(collector: Collector, name: str, value: object) -> Condition | None:
    if isinstance(value, dict) and isinstance(value.get("attribute"), str) and value.get("op") in _OPS:
        limit = value.get("value")
        if isinstance(limit, (int, float)) and not isinstance(limit, bool) and abs(limit) <= _LARGEST:
            return Condition(value["attribute"], value["op"], float(limit))
        if isinstance(limit, str) and value["op"] == "==":
            return Condition(value["attribute"], value["op"], limit)
    collector.error(name, "a condition must have attribute, op (==, < or >=) and value", str(value)[:80],
                    'Write {"attribute": "area", "op": "<", "value": 0.05}.')  # fmt: skip
    return None


def default_file(ground_truth: Path) -> Path:
    """Return where named slices are looked for: in the folder of a ground truth, or beside its file."""
    return (ground_truth if ground_truth.is_dir() else ground_truth.parent) / FILE_NAME


def save_named(path: Path, added: NamedSlice) -> tuple[NamedSlice, ...]:
    """Add a named slice to a file, replacing one of the same name, and return all of them."""
    others = [each for each in (read_named(path) if path.exists() else ()) if each.name != added.name]
    every = (*others, added)
    value = {each.name: [condition.to_json() for condition in each.conditions] for each in every}
    atomic_write(path, [msgspec.json.format(msgspec.json.encode(value), indent=2), b"\n"])
    return every


def numbers_of(
    evaluation: BoxEvaluation,
    named: Sequence[NamedSlice],
    of_pages: PageValues | None = None,
    of_boxes: Sequence[Sequence[Attribute]] = (),
) -> NamedNumbers:
    """Return every measure of named slices at the first threshold, and averages over all thresholds.

    `of_boxes` has attributes of the boxes of ground truth and predictions from elsewhere, or is empty. A slice with a
    condition on the score has precision alone. ValueError: an attribute that there is not; one sentence.
    """
    result = evaluation.first
    tables = named_tables(result, of_pages, of_boxes)
    averages: list[Part] = []
    ties: dict[Key, Range] = {}
    matching = result.matching
    whole = of_whole_pages((matching.dataset.ground_truth, matching.prediction), {
        at: tuple(table.values()) for at, table in tables.items()
    })  # fmt: skip
    for each in named:
        if {one.attribute for one in each.conditions} <= {one.name for one in whole[GROUND_TRUTH]}:
            inside = [condition_mask(each.conditions, attribute_table(table)) for table in whole.values()]
            parts, ranges = _averages(evaluation, each.name, *inside)
            averages += parts
            ties |= ranges
    return NamedNumbers(measure_named(result, named, tables), tuple(averages), ties=ties)


def named_tables(
    result: AnyBoxResult, of_pages: PageValues | None = None, of_boxes: Sequence[Sequence[Attribute]] = ()
) -> dict[int, dict[str, Attribute]]:
    """Return the attributes that conditions of named slices may use, by side and name."""
    known = known_page_values(result.matching.dataset.ground_truth, of_pages)
    tables = tables_of(box_values([result], "f1"), of_pages=known, of_boxes=of_boxes, score=True)
    return {origin: dict(attribute_table(each)) for origin, each in tables.items()}


def measure_named(
    result: AnyBoxResult, named: Sequence[NamedSlice], tables: Mapping[int, Mapping[str, Attribute]]
) -> tuple[NamedMeasure, ...]:
    """Return every measure of named slices that is a mean over boxes; `tables` has the attributes of each side."""
    size = len(result.matching.dataset.documents)
    holds = {(each.name, origin): _inside(each, table, origin) for each in named for origin, table in tables.items()}
    made = []
    for measure in MEASURES:
        counted = box_values([result], measure)
        document, (values,) = counted.document, counted.values
        for each in named:
            of_side = {origin: holds[each.name, origin] for origin in counted.origins}
            masks = {origin: mask for origin, mask in of_side.items() if mask is not None}
            if len(masks) < len(of_side):
                continue
            rows = counted.mask_of(masks)
            made.append(NamedMeasure.of(each, measure, values[rows], document[rows], size))
    return tuple(made)


def _averages(
    evaluation: BoxEvaluation, name: str, truth: BoolArray, predicted: BoolArray
) -> tuple[list[Part], dict[Key, Range]]:
    """Return the numbers over all labels that are no ratio of boxes, on the boxes of a slice, with what ties do."""
    protocol = protocol_of(evaluation)
    if not any(_is_average(key) for key in protocol.measures(evaluation).keys):
        return [], {}
    parts = []
    inside = evaluation.subset(truth, predicted)
    for part in protocol.measures(inside).parts:
        columns = np.flatnonzero([_is_average(key) for key in part.keys])
        if len(columns):
            some = part.take(columns)
            parts.append(replace(some, keys=tuple(Key(key.metric, PREFIX + name) for key in some.keys)))  # type: ignore[type-var]
    ranges = {Key(key.metric, PREFIX + name): each for key, each in inside.tied_ranges.items() if _is_average(key)}
    return parts, ranges


def _is_average(key: Key) -> bool:
    return key.label == ALL_LABELS and key.metric not in MEASURES


def _inside(each: NamedSlice, table: Mapping[str, Attribute], origin: int) -> BoolArray | None:
    """Return the boxes of a slice on one side; None for ground truth where it is about scores."""
    missing = [one.attribute for one in each.conditions if one.attribute not in table]
    if origin == GROUND_TRUTH and set(missing) == {"score"}:
        return None
    if missing:
        raise ValueError(f"slice {each.name} needs the attribute {missing[0]}; there are {', '.join(table)}")
    return condition_mask(each.conditions, table)


def with_slices(measures: Measures, slices: NamedNumbers) -> Measures:
    """Return measures with those of named slices added."""
    return replace(measures, parts=(*measures.parts, *slices_part(slices)))


def slices_part(numbers: NamedNumbers) -> tuple[Part, ...]:
    """Return the numbers of named slices as parts of `Measures`; none without slices."""
    slices = numbers.measures
    if not slices:
        return ()
    part = Ratios(
        keys=tuple(Key(each.measure, PREFIX + each.slice.name) for each in slices),
        values=np.array([each.value for each in slices]),
        numerator=np.column_stack([each.total for each in slices]),
        denominator=np.column_stack([each.boxes for each in slices]),
    )
    return (part, *numbers.averages)


def slices_table(slices: NamedNumbers, title: str, signature: str) -> ResultTable:
    """Return one row per named slice: its measures, and the number of things of each."""
    averages = dict.fromkeys(key.metric for part in slices.averages for key in part.keys)
    of_measures = [column for name in slices.names for column in (name, slices.sizes.get(name)) if column]
    columns = ("slice", *(column.replace("_", " ") if column in slices.sizes.values() else column
                          for column in of_measures), *averages)  # fmt: skip
    rows = tuple(
        (name, *(one.get(column) for column in (*of_measures, *averages))) for name, one in slices_json(slices).items()
    )
    return ResultTable(title=title, signature=signature, columns=columns, rows=rows)


def slices_json(slices: NamedNumbers) -> dict[str, Any]:
    """Return named slices as plain values: measures, numbers of things, and conditions, by name."""
    averages = {
        key: None if np.isnan(value) else float(value)
        for part in slices.averages
        for key, value in zip(part.keys, part.values, strict=True)
    }
    by_name: dict[str, dict[str, Any]] = {}
    for each in slices.measures:
        one = by_name.setdefault(
            each.slice.name,
            {**dict.fromkeys((*slices.names, *slices.sizes.values())),
             "conditions": [condition.to_json() for condition in each.slice.conditions]},
        )  # fmt: skip
        one[each.measure] = None if np.isnan(each.value) else each.value
        if each.measure in slices.sizes:
            one[slices.sizes[each.measure]] = int(each.boxes.sum())
    for key, average in averages.items():
        by_name[key.label.removeprefix(PREFIX)][key.metric] = average
    return by_name
