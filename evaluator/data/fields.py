"""The model of extracted fields: documents as trees of values, each with its box, page and confidence.

Boxes are x1, y1, x2, y2 in any unit that both sides share; pages count from 0. Nothing here reads a file or pairs two
documents.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec
import numpy as np

from evaluator.data.boxes import FloatArray, iou
from evaluator.data.dataset import Side
from evaluator.data.issues import Issue

Corners = tuple[float, float, float, float]
Comparator = Literal["text", "exact", "number", "date"]

# Products of two sides above this overflow; IoU has no unit, so such boxes are scaled down first.
_LARGEST_SAFE_SIDE = 1e150
_SCALE = 2.0**-600
_INDEX = re.compile(r"\[[0-9]+\]")
_DIGITS = re.compile(r"([0-9]+)")


class Field(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One extracted value and what its file states about it.

    Attributes
    ----------
    value : object
        Plain JSON value; None for null. For a rich value what is under ``_value``, whatever it is: the
        outermost rich value wins, inner ones are part of the value.
    has_box : bool
        Whether the file gives a box; a malformed one counts.
    box : tuple of 4 floats or None
        x1, y1, x2, y2 with x1 <= x2 and y1 <= y2; None without a box or with a malformed one.
    page : int
        Page of the box, from 0.
    confidence : float
        Any finite number; NaN when the file gives none or one that cannot be ranked.
    confidence_refused : bool
        Whether the file gives a confidence that is not a number in [0, 1]: it has no part in calibration.
    extras : mapping
        Every other key of the rich value, as it is there, ``_bbox`` included.
    """

    value: Any
    has_box: bool = False
    box: Corners | None = None
    page: int = 0
    confidence: float = math.nan
    confidence_refused: bool = False
    extras: Mapping[str, Any] = {}


# A document: fields, objects and lists of them.
Tree = Field | dict[str, Any] | list[Any]


@dataclass(frozen=True, slots=True, eq=False)
class FieldDocuments:
    """The extracted fields of several documents, from one side.

    Attributes
    ----------
    sha256 : str
        Digest of the bytes; of the digests of the files for a folder.
    side : "ground_truth", "prediction" or None
        What it was given as; the files themselves do not say.
    documents : mapping of Tree
        By document id, in file order. Objects are dicts, lists are lists, everything else is a `Field`.
    issues : tuple of Issue
        Warnings only.
    single : bool
        Whether this is one document in a file of its own, whose name need not be that of the other side's.
    format : str
        Name of the format that they were read from.
    fixes : tuple of str
        What was done to the names after reading; every signature states it.
    """

    name: str
    sha256: str
    side: Side | None
    documents: Mapping[str, Tree]
    issues: tuple[Issue, ...] = field(default=())
    single: bool = False
    format: str = "fields"
    fixes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.documents)


def leaves(tree: Tree, path: str = "") -> Iterator[tuple[str, Field]]:
    """Yield every field of a tree below `path` with its path, ``("a.b[2].c", ...)``, in file order."""
    if isinstance(tree, Field):
        yield path, tree
    elif isinstance(tree, dict):
        for key, inner in tree.items():
            yield from leaves(inner, below(path, key))
    else:
        for index, inner in enumerate(tree):
            yield from leaves(inner, f"{path}[{index}]")


def below(path: str, key: str) -> str:
    """Return the path of a key of the object at a path."""
    return f"{path}.{key}" if path else key


def class_key(path: str) -> str:
    """Return the class of a field: its path without the positions in lists.

    >>> class_key("LineItems[12].a[3].b")
    'LineItems[].a[].b'
    """
    return _INDEX.sub("[]", path)


def natural_order(text: str) -> tuple[Any, ...]:
    """Return a key that sorts text as people count: ``d2`` before ``d10``; ``d1`` and ``d01`` differ."""
    parts = _DIGITS.split(text)
    # The digits stay text: Python refuses to convert very long ones.
    numbers = [(len(digits := part.lstrip("0")), digits) for part in parts[1::2]]
    key: list[Any] = [parts[0]]
    for number, rest in zip(numbers, parts[2::2], strict=True):
        key += (number, rest)
    return tuple(key), text


def box_corners(box: object) -> Corners | None:
    """Return the sorted corners of a box, ``[[x1, y1], [x2, y2]]`` or ``[x1, y1, x2, y2]``.

    None for anything else and for coordinates that are not finite. As in ``BBoxIoUComparator`` of stickler-eval 1.0.0:
    corners may come in any order, booleans count as 0 and 1, numbers written as text are understood in the form of two
    points only.
    """
    if not isinstance(box, list | tuple):
        return None
    try:
        if len(box) == 2 and all(isinstance(point, list | tuple) and len(point) == 2 for point in box):
            x1, y1, x2, y2 = (float(number) for point in box for number in point)
        elif len(box) == 4 and all(isinstance(number, int | float) for number in box):
            x1, y1, x2, y2 = map(float, box)
        else:
            return None
    except (TypeError, ValueError, OverflowError):
        return None
    # One sum tests all four; only where it is not finite the numbers may still be.
    if not math.isfinite(x1 + y1 + x2 + y2) and not all(map(math.isfinite, (x1, y1, x2, y2))):
        return None
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def box_similarity(first: object, second: object) -> float:
    """Return the IoU of two boxes in any form of `box_corners`, outside of an evaluation.

    None equals None (1) and nothing else (0); 0 for a malformed box and for one without area.

    >>> box_similarity([[0, 0], [2, 1]], [1, 0, 3, 1])
    0.3333333333333333
    """
    if first is None or second is None:
        return float(first is second)
    corners = box_corners(first), box_corners(second)
    if corners[0] is None or corners[1] is None:
        return 0.0
    return float(paired_iou(np.array([corners[1]]), np.array([corners[0]]))[0])


def paired_iou(ground_truth: FloatArray, prediction: FloatArray) -> FloatArray:
    """Return `boxes.iou` for finite numbers of any size; stickler-eval 1.0.0 gets NaN on overflow."""
    huge = (np.maximum(np.abs(ground_truth), np.abs(prediction)) > _LARGEST_SAFE_SIDE).any(axis=1)
    if huge.any():
        factor = np.where(huge, _SCALE, 1.0)[:, None]
        ground_truth, prediction = ground_truth * factor, prediction * factor
    return iou(ground_truth, prediction)


class Rule(msgspec.Struct, frozen=True):
    """How the values of one field are compared; a value is right at `threshold`, in [0, 1], or above."""

    comparator: Comparator
    threshold: float


DEFAULT_MATCH_THRESHOLD: Final = 0.7
"""Items of a list are pairs at this mean similarity of their fields, or above."""


class SchemaNode(msgspec.Struct, kw_only=True):
    """One step of the paths of a schema.

    `rule` is None where the schema does not state it; `match_threshold` and `item` are of the items of a list here,
    `children` the fields of an object here, in the order of the schema.
    """

    rule: Rule | None = None
    is_list: bool = False
    match_threshold: float = DEFAULT_MATCH_THRESHOLD
    item: SchemaNode | None = None
    children: dict[str, SchemaNode] = {}


class Schema(msgspec.Struct, frozen=True, kw_only=True):
    """How values are compared, field by field."""

    name: str
    sha256: str
    root: SchemaNode


def schema_of(
    rules: Mapping[str, Rule], match_thresholds: Mapping[str, float], *, name: str = "schema", sha256: str = ""
) -> Schema:
    """Return a schema from rules by class (``LineItems[].Desc``) and thresholds by path of the list."""
    root = SchemaNode()
    for path, rule in rules.items():
        _node_at(root, path).rule = rule
    for path, threshold in match_thresholds.items():
        node = _node_at(root, path.removesuffix("[]"))
        node.is_list, node.match_threshold = True, threshold
    return Schema(name=name, sha256=sha256, root=root)


def path_steps(path: str) -> Sequence[str]:
    """Return the steps of a class path: names, and ``[]`` for the items of a list.

    >>> path_steps("LineItems[].Desc")
    ['LineItems', '[]', 'Desc']
    """
    steps: list[str] = []
    for part in path.split("."):
        name = part
        while name.endswith("[]"):
            name = name.removesuffix("[]")
        steps += [name] if name else []
        steps += ["[]"] * ((len(part) - len(name)) // 2)
    return steps


def _node_at(root: SchemaNode, path: str) -> SchemaNode:
    node = root
    for name in path_steps(path):
        if name == "[]":
            node.is_list = True
            node.item = node.item or SchemaNode()
            node = node.item
        else:
            node = node.children.setdefault(name, SchemaNode())
    return node
