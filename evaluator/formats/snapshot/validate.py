"""The exact walk over a schema-1.3 file that the fast decoder refused: every flaw of its shape.

Owns the rules on shape: keys and types. What cannot be used becomes None (NaN in boxes and scores), so that the rules
on values see the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from evaluator.data.issues import BadInput, Collector
from evaluator.formats.json_text import excerpt, step
from evaluator.formats.json_values import Check, Shape, no_oddities, text, wanted
from evaluator.formats.snapshot.shape import ColumnBuilder, DocumentEntry, ObjectEntry, PageEntry, SnapshotFile

PAGE_INDEX_RULE = "page_index must be an integer from 0 to 2147483647 (schema 1.3)"
PAGE_INDEX_FIX = "Count the pages of the document from 0 and write the number without quotes."
SCORE_RULE = "score must be a number in [0, 1] (schema 1.3)"
SCORE_FIX = "Write the confidence as a number, for instance 0.87."
MISSING_SCORE_RULE = "every object of a prediction file must have a score (snapshot 1.3, section 9.5)"
MISSING_SCORE_FIX = "Write the model's confidence, or 1.0 when it gives none."

_SCHEMA = "schema 1.3"
_NO_BOX = (math.nan,) * 4


def _of_schema(what: str, checks: dict[str, Check], required: tuple[str, ...], allowed: tuple[str, ...] = ()) -> Shape:
    """Return an object of schema 1.3; without `allowed` only the required keys may be in it."""
    return Shape(
        f"{what} must be an object with {', '.join(required)} (schema 1.3)",
        "Write it as an object, or remove it.",
        _SCHEMA,
        checks,
        required,
        none="none of the keys",
        unknown=(
            f"only {', '.join(allowed or required)} are allowed here (schema 1.3, additionalProperties)",
            "Move it into attributes, or remove it." if allowed else "Remove it.",
        ),
    )


def _is_box(value: object) -> bool:
    # The exact type, because true is an int in Python and not a number in JSON.
    return isinstance(value, list) and len(value) == 4 and all(type(number) in (int, float) for number in value)


def _score(value: object, key: str, place: str, collector: Collector) -> object:
    if value is None or type(value) in (int, float):
        return value
    collector.error(step(place, key), SCORE_RULE, excerpt(value), SCORE_FIX)
    return math.nan


def _attributes(value: object, key: str, place: str, collector: Collector) -> object:
    if not isinstance(value, dict):
        rule = "attributes must be an object (schema 1.3)"
        collector.error(step(place, key), rule, excerpt(value), "Write the attributes as keys and values.")
    no_oddities(value, key, place, collector)
    return UNSET


def _object(value: object, place: str, collector: Collector) -> ObjectEntry:
    fields = _OBJECT.fields(value, place, collector)
    unusable: dict[str, Any] = {"id": None, "label": None, "bbox": _NO_BOX}
    return ObjectEntry(**unusable | ({"score": math.nan} if fields is None else fields))


def _page_index(value: Any) -> object:  # noqa: ANN401 - a value of a file
    # JSON Schema counts 0.0 as an integer; true is not a number.
    whole = type(value) is int or (type(value) is float and value.is_integer())
    return value if whole else None


_TEXT = text(_SCHEMA, "Write it as text in double quotes.")
_TOP = Shape(
    "the top level must be an object with label_map, info, documents, predictions (snapshot 1.3, section 4)",
    "Write one such object for each file.",
    "snapshot 1.3, section 4",
    dict.fromkeys(("label_map", "info"), no_oddities) | dict.fromkeys(("documents", "predictions"), lambda *_: None),
    ("label_map", "info", "documents", "predictions"),
    none="none of the keys",
    unknown=(
        "only label_map, info, documents, predictions are allowed here (schema 1.3, additionalProperties)",
        "Remove it.",
    ),
)
_DOCUMENT = _of_schema(
    "a document", dict.fromkeys(("doc_id", "doc_name", "doc_path"), _TEXT), ("doc_id", "doc_name", "doc_path")
)
_OBJECT = _of_schema(
    "an object",
    {
        "attributes": _attributes,
        **dict.fromkeys(("id", "label"), _TEXT),
        "bbox": wanted(
            lambda value: tuple(map(float, value)) if _is_box(value) else None,
            "bbox must be four finite numbers, x1, y1, x2, y2 (snapshot 1.3, section 3)",
            "Write them as [x1, y1, x2, y2], without quotes.",
            otherwise=_NO_BOX,
        ),
        "score": _score,
    },
    ("id", "label", "bbox"),
    ("id", "label", "bbox", "score", "attributes"),
    # What places or ranks an object must not be repeated.
)._replace(described=("id", "label", "attributes"))
_PAGE = _of_schema(
    "a page entry",
    {
        "objects": wanted(
            lambda value: value if isinstance(value, list) else None,
            "objects must be an array (schema 1.3)",
            "Write [] for a page without objects.",
            otherwise=(),
        ),
        **dict.fromkeys(("page_id", "doc_id"), _TEXT),
        "page_index": wanted(_page_index, PAGE_INDEX_RULE, PAGE_INDEX_FIX),
    },
    ("page_id", "doc_id", "page_index", "objects"),
)


def validate(tree: object, collector: Collector) -> SnapshotFile:
    """Return a tree of `json_text.parse` as the columns of the fast decoder, with issues for misfits.

    `BadInput` when the top level is not an object; a missing label_map or info is UNSET.
    """
    if _TOP.fields(tree, "$", collector) is None or not isinstance(tree, dict):
        raise BadInput(collector.issues())
    unusable: dict[str, Any] = dict.fromkeys(_DOCUMENT.required)
    listed = [
        DocumentEntry(**unusable | (_DOCUMENT.fields(item, place, collector) or {}))
        for place, item in _items(collector, tree, "documents")
    ]
    gathering = ColumnBuilder()
    for place, item in _items(collector, tree, "predictions"):
        gathering.add([_page(item, place, collector)])
    label_map, info = tree.get("label_map", UNSET), tree.get("info", UNSET)
    known = listed if isinstance(tree.get("documents"), list) else None
    return SnapshotFile(label_map, info, known, gathering.pages, gathering.objects(), gathering.pointed)


def _page(value: object, place: str, collector: Collector) -> PageEntry:
    fields: dict[str, Any] = dict.fromkeys(_PAGE.required) | (_PAGE.fields(value, place, collector) or {})
    fields["objects"] = [
        _object(item, f"{place}.objects[{position}]", collector)
        for position, item in enumerate(fields["objects"] or ())
    ]
    return PageEntry(**fields)


def _items(collector: Collector, tree: dict[str, object], key: str) -> Iterable[tuple[str, object]]:
    value = tree.get(key, [])
    if isinstance(value, list):
        return ((f"$.{key}[{index}]", item) for index, item in enumerate(value))
    rule = f"{key} must be an array (schema 1.3)"
    collector.error(f"$.{key}", rule, excerpt(value), "Put the entries in square brackets, also a single one.")
    return ()
