"""The exact walk over a schema-1.3 file that the fast decoder refused: every flaw of its shape, with its place.

Owns the rules on shape: which keys, how often, which types. What cannot be used becomes None (NaN in boxes and
scores), so that the rules on values in `snapshot_rules` see the rest and all issues come at once. Slow on
purpose, and only ever run on files that have something to report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeGuard, cast

from msgspec import UNSET, UnsetType

from evaluator.formats import json_text
from evaluator.formats.json_text import excerpt, step
from evaluator.formats.snapshot.shape import DocumentEntry, Gathering, ObjectEntry, PageEntry, SnapshotFile
from evaluator.model.issues import Collector, quote

PAGE_INDEX_RULE = "page_index must be an integer from 0 to 2147483647 (schema 1.3)"
PAGE_INDEX_FIX = "Count the pages of the document from 0 and write the number without quotes."
SCORE_RULE = "score must be a number in [0, 1] (schema 1.3)"
SCORE_FIX = "Write the confidence as a number, for instance 0.87."
MISSING_SCORE_RULE = "every object of a prediction file must have a score (snapshot 1.3, section 9.5)"
MISSING_SCORE_FIX = "Write the model's confidence, or 1.0 when it gives none."

_TOP = ("label_map", "info", "documents", "predictions")
_DOCUMENT = ("doc_id", "doc_name", "doc_path")
_PAGE = ("page_id", "doc_id", "page_index", "objects")
_OBJECT = ("id", "label", "bbox")
_OBJECT_OPTIONAL = ("score", "attributes")
_OBJECT_KEYS = frozenset((*_OBJECT, "score"))
# Keys that describe an object and do not place or rank it: a repeated one is a warning.
_DESCRIPTIVE = frozenset(("id", "label", "attributes"))
_NO_BOX = (math.nan,) * 4
_NOTHING = cast("Any", None)


def walk(tree: object, collector: Collector) -> SnapshotFile | None:
    """A parsed file as the columns of the fast path, with an issue for everything that does not fit them.

    Parameters
    ----------
    tree : object
        From `json_text.parse`.
    collector : Collector
        Receives the issues.

    Returns
    -------
    SnapshotFile or None
        Row i is position i in the file; unusable fields are None or NaN, a missing label_map or info is UNSET.
        None when the top level is not an object.
    """
    if not isinstance(tree, dict):
        rule = f"the top level must be an object with {', '.join(_TOP)} (snapshot 1.3, section 4)"
        collector.error("$", rule, excerpt(tree), "Write one such object for each file.")
        return None
    _keys(collector, tree, "$", _TOP, source="snapshot 1.3, section 4")
    for key in ("label_map", "info"):
        _free_form(collector, tree.get(key), f"$.{key}")
    documents = tree.get("documents", UNSET)
    entries = _items(collector, documents, "documents")
    listed = [_document(collector, item, f"$.documents[{index}]") for index, item in entries]
    gathering = Gathering()
    for index, item in _items(collector, tree.get("predictions", UNSET), "predictions"):
        gathering.add([_page(collector, item, f"$.predictions[{index}]")])
    label_map, info = tree.get("label_map", UNSET), tree.get("info", UNSET)
    known = listed if isinstance(documents, list) else None
    return SnapshotFile(label_map, info, known, gathering.pages, gathering.objects(), gathering.pointed)


def _items(collector: Collector, value: object, key: str) -> Iterable[tuple[int, object]]:
    if isinstance(value, list):
        return enumerate(value)
    if value is not UNSET:
        rule = f"{key} must be an array (schema 1.3)"
        collector.error(f"$.{key}", rule, excerpt(value), "Put the entries in square brackets, also a single one.")
    return ()


def _document(collector: Collector, value: object, place: str) -> DocumentEntry:
    if not _is_object(value, collector, place, "a document", _DOCUMENT):
        return DocumentEntry(_NOTHING, _NOTHING, _NOTHING)
    doc_id, name, path = (_text(collector, value, key, place) for key in _DOCUMENT)
    return DocumentEntry(doc_id, name, path)


def _page(collector: Collector, value: object, place: str) -> PageEntry:
    if not _is_object(value, collector, place, "a page entry", _PAGE):
        return PageEntry(_NOTHING, _NOTHING, _NOTHING, [])
    objects = value.get("objects", [])
    if not isinstance(objects, list):
        rule = "objects must be an array (schema 1.3)"
        collector.error(f"{place}.objects", rule, excerpt(objects), "Write [] for a page without objects.")
        objects = []
    return PageEntry(
        _text(collector, value, "page_id", place),
        _text(collector, value, "doc_id", place),
        _page_index(collector, value, place),
        [
            ObjectEntry(item["id"], item["label"], tuple(item["bbox"]), item.get("score", UNSET))
            if _fits(item)
            else _object(collector, item, f"{place}.objects[{position}]")
            for position, item in enumerate(objects)
        ],
    )


def _page_index(collector: Collector, page: dict[str, Any], place: str) -> int | float:
    value = page.get("page_index", UNSET)
    if value is UNSET:
        return cast("int", _NOTHING)
    # JSON Schema counts 0.0 as an integer; true is not a number.
    if isinstance(value, float) and value.is_integer():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    collector.error(f"{place}.page_index", PAGE_INDEX_RULE, excerpt(value), PAGE_INDEX_FIX)
    return cast("int", _NOTHING)


def _fits(item: object) -> bool:
    """Whether an object needs no issue about its shape: the quick way through the many good ones."""
    if type(item) is not dict or not item.keys() <= _OBJECT_KEYS or not all(key in item for key in _OBJECT):
        return False
    texts = item["id"], item["label"]
    plain = all(isinstance(text, str) and not json_text.has_lone_surrogate(text) for text in texts)
    return plain and _is_box(item["bbox"]) and _is_score(item.get("score"))


def _is_box(value: object) -> bool:
    # The exact type, because true is an int in Python and not a number in JSON.
    return isinstance(value, list) and len(value) == 4 and all(type(number) in (int, float) for number in value)


def _is_score(value: object) -> bool:
    return value is None or type(value) in (int, float)


def _object(collector: Collector, value: object, place: str) -> ObjectEntry:
    required, optional = _OBJECT, _OBJECT_OPTIONAL
    if not _is_object(value, collector, place, "an object", required, optional=optional, soft=_DESCRIPTIVE):
        return ObjectEntry(_NOTHING, _NOTHING, _NO_BOX, math.nan)
    attributes = value.get("attributes", {})
    if not isinstance(attributes, dict):
        rule = "attributes must be an object (schema 1.3)"
        collector.error(f"{place}.attributes", rule, excerpt(attributes), "Write the attributes as keys and values.")
    _free_form(collector, attributes, f"{place}.attributes")
    return ObjectEntry(
        _text(collector, value, "id", place), _text(collector, value, "label", place), _box(collector, value, place),
        _score(collector, value, place),
    )  # fmt: skip


def _box(collector: Collector, entry: dict[str, Any], place: str) -> tuple[float, float, float, float]:
    value = entry.get("bbox", UNSET)
    if _is_box(value):
        x1, y1, x2, y2 = map(float, value)
        return x1, y1, x2, y2
    if value is not UNSET:
        rule = "bbox must be four finite numbers, x1, y1, x2, y2 (snapshot 1.3, section 3)"
        collector.error(f"{place}.bbox", rule, excerpt(value), "Write them as [x1, y1, x2, y2], without quotes.")
    return _NO_BOX


def _score(collector: Collector, entry: dict[str, Any], place: str) -> float | UnsetType | None:
    value = entry.get("score", UNSET)
    if value is UNSET or _is_score(value):
        return cast("float | UnsetType | None", value)
    collector.error(f"{place}.score", SCORE_RULE, excerpt(value), SCORE_FIX)
    return math.nan


def _text(collector: Collector, entry: dict[str, Any], key: str, place: str) -> str:
    fix = "Write it as text in double quotes."
    return cast("str", json_text.text_at(entry, key, place, collector, source="schema 1.3", fix=fix))


def _is_object(
    value: object,
    collector: Collector,
    place: str,
    what: str,
    required: tuple[str, ...],
    *,
    optional: tuple[str, ...] = (),
    soft: frozenset[str] = frozenset(),
) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a JSON object; issues for that and for its keys."""
    if not isinstance(value, dict):
        rule = f"{what} must be an object with {', '.join(required)} (schema 1.3)"
        collector.error(place, rule, excerpt(value), "Write it as an object, or remove it.")
        return False
    _keys(collector, value, place, required, optional=optional, soft=soft, source="schema 1.3")
    return True


def _keys(
    collector: Collector,
    value: dict[str, Any],
    place: str,
    required: tuple[str, ...],
    *,
    source: str,
    optional: tuple[str, ...] = (),
    soft: frozenset[str] = frozenset(),
) -> None:
    """Issues for repeated, missing and unknown keys of one object."""
    for key, times in json_text.repeats(value).items():
        if key in soft:
            rule = "of a repeated key only the last value is used (RFC 8259, section 4)"
            fix = f"{excerpt(value[key])} is used; keep one {key}."
            collector.warning(step(place, key), rule, f"{quote(key)} {times} times", fix)
        else:
            collector.error(*json_text.repeated_key(step(place, key), key, times))
    json_text.report_missing(value, required, place, collector, known=required, source=source, none="none of the keys")
    for key, item in value.items():
        if key not in required and key not in optional:
            rule = f"only {', '.join((*required, *optional))} are allowed here (schema 1.3, additionalProperties)"
            fix = "Move it into attributes, or remove it." if soft else "Remove it."
            collector.error(step(place, key), rule, excerpt(item), fix)
            _free_form(collector, item, step(place, key))


def _free_form(collector: Collector, value: object, place: str) -> None:
    for oddity in json_text.oddities(value, place):
        collector.error(*oddity)
