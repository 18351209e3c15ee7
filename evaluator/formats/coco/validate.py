"""The exact walk over a COCO file that the fast decoder refused: every flaw of its shape, with place.

Owns the rules on shape: keys and types. What cannot be used becomes None or NaN, so that the rules on values see the
rest. Keys that COCO does not know are left alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from evaluator.data.issues import Collector, quote
from evaluator.formats import json_text
from evaluator.formats.coco.ids import number_ids
from evaluator.formats.coco.outlines import extent, is_number, region_area
from evaluator.formats.coco.shape import (
    ATTRIBUTE_KEYS,
    DOCUMENT_KEYS,
    PAGE_KEYS,
    Category,
    CocoFile,
    ColumnBuilder,
    Image,
    Item,
)
from evaluator.formats.json_text import JsonPath, excerpt, step
from evaluator.formats.json_values import Shape, text, wanted

_SOURCE = "COCO format"
_KEYS = ("images", "annotations", "categories")
_LARGEST = 2**63 - 1
_Box = tuple[float, float, float, float]
_NO_BOX: _Box = (math.nan,) * 4


def _integer(value: object, key: str, place: JsonPath, collector: Collector) -> int | None:
    """Return the check of an integer of 64 bits, also one that is written with a point."""
    if type(value) is int and abs(value) <= _LARGEST:
        return value
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    is_integer = isinstance(number, int) and not isinstance(number, bool)
    if isinstance(number, int) and is_integer and abs(number) <= _LARGEST:
        return number
    fixes = ("Write the number of the id without quotes.", "Write it without quotes.")
    if is_integer:
        fixes = ("Write a smaller number, or put this id in quotes everywhere.", "Correct the number.")
    rule = f"{key} must be an integer of 64 bits (COCO format)"
    collector.error(step(place, key), rule, excerpt(value), fixes["id" not in key])
    return None


def _four(value: object) -> _Box | None:
    if isinstance(value, list) and len(value) == 4 and all(map(is_number, value)):
        x, y, width, height = map(float, value)
        return x, y, width, height
    return None


def _flag(value: Any) -> int | None:  # noqa: ANN401 - a value of a file
    # Other whole numbers than 0 and 1 are a matter of the rules on values.
    return int(value) if type(value) in (int, float) and value == int(value) and abs(value) <= _LARGEST else None


def _outline(value: object, key: str, place: JsonPath, collector: Collector) -> msgspec.Raw | msgspec.UnsetType:
    flaws = [] if value is None else list(json_text.oddities(value, step(place, key)))
    for flaw in flaws:
        collector.error(*flaw)
    return UNSET if flaws or value is None else msgspec.Raw(msgspec.json.encode(value))


def _size(value: object, key: str, place: JsonPath, collector: Collector) -> object:
    return UNSET if value is None else _NUMBER(value, key, place, collector)


def _stated_name(value: object, *_: object) -> object:
    return value if isinstance(value, str) and not json_text.has_lone_surrogate(value) else UNSET


def _attribute(value: object, *_: object) -> object:
    return value if value is None or isinstance(value, str | int | float) else UNSET


_TEXT = text(_SOURCE, "Put it in quotes.")
_NUMBER = wanted(
    lambda value: float(value) if is_number(value) else None,
    "{key} must be a finite number (COCO format)",
    "Write it as a number, without quotes.",
    otherwise=math.nan,
)
_BOX = wanted(
    _four,
    "bbox must be four finite numbers, x, y, width, height (COCO format)",
    "Write them as [x, y, width, height], without quotes.",
    otherwise=_NO_BOX,
)
_TOP = Shape("", "", _SOURCE, dict.fromkeys(("images", "annotations", "categories"), _attribute), _KEYS)
_IMAGE = Shape(
    "an image must be an object with an id (COCO format)",
    "Remove it.",
    _SOURCE,
    {
        "id": _integer,
        **dict.fromkeys(("width", "height"), _size),
        **dict.fromkeys(("file_name", *DOCUMENT_KEYS), _TEXT),
        "path": _stated_name,
        **dict.fromkeys(PAGE_KEYS, _integer),
        **dict.fromkeys(ATTRIBUTE_KEYS, _attribute),
    },
    ("id",),
)
_CATEGORY = Shape(
    "a category must be an object with id and name (COCO format)",
    "Remove it.",
    _SOURCE,
    {"name": _TEXT, "id": _integer},
    ("id", "name"),
)
_ITEM = Shape(
    "an entry must be an object with image_id, category_id, bbox (COCO format)",
    "Write it as an object, or remove it.",
    _SOURCE,
    {
        **dict.fromkeys(("image_id", "category_id"), _integer),
        "bbox": _BOX,
        **dict.fromkeys(("score", "area"), _NUMBER),
        "id": _integer,
        "iscrowd": wanted(_flag, "iscrowd must be 0 or 1 (COCO format)", "Write 0 or 1.", otherwise=0),
        "ignore": wanted(_flag, "ignore must be 0 or 1", "Write 0 or 1.", otherwise=0),
        "segmentation": _outline,
        **dict.fromkeys(("file_name", "category_name"), _stated_name),
    },
    ("image_id", "category_id", "bbox"),
)
_WITHOUT_BOX = _ITEM._replace(required=("image_id", "category_id"), checks={**_ITEM.checks, "bbox": lambda *_: _NO_BOX})


def validate(tree: object, collector: Collector) -> CocoFile:
    """Return a tree of `json_text.parse` as the columns of the fast decoder, with issues for misfits.

    `BadInput` when the top level is neither an object nor an array, or the object is no file of boxes.
    """
    if isinstance(tree, list):
        _name_categories(tree)
        texts = number_ids({"annotations": tree}, "$", collector)
        return _file(None, None, tree, collector, place="$")._replace(texts=texts)
    if not isinstance(tree, dict):
        rule = f"the top level must be an object with {', '.join(_KEYS)}, or an array of results (COCO format)"
        collector.fail("$", rule, excerpt(tree), "Export the file again in one of the two forms.")
    _refuse_other(tree, collector)
    _TOP.check_keys(tree, "$", collector)
    parts = {key: _array(collector, tree, key) for key in _KEYS}
    texts = number_ids(parts, "$.annotations", collector)
    images = [
        Image(**{"id": None} | (_IMAGE.fields(each, f"$.images[{i}]", collector) or {}))
        for i, each in enumerate(parts["images"])
    ]
    categories = [
        Category(**{"id": None, "name": None} | (_CATEGORY.fields(each, f"$.categories[{i}]", collector) or {}))
        for i, each in enumerate(parts["categories"])
    ]
    file = _file(images, categories, parts["annotations"], collector, place="$.annotations")
    return file._replace(texts=texts)


def _name_categories(results: Sequence[Any]) -> None:
    """Give results that state the name of their category instead of an id that name as the id."""
    for each in results:
        if isinstance(each, dict) and "category_id" not in each and isinstance(each.get("category_name"), str):
            each["category_id"] = each["category_name"]


def _refuse_other(tree: Mapping[str, Any], collector: Collector) -> None:
    names = [key for key, held in tree.items() if _first(held).keys() >= {"image_id", "category_id"}]
    # Annotations with scores alone are results.
    wanted = {"score"} if names == ["annotations"] else set()
    if names and not {"images", "categories"} & tree.keys() and _first(tree[names[0]]).keys() >= wanted:
        rule = "results must be an array at the top level (COCO format)"
        collector.fail("$", rule, f"an object with results under {quote(names[0])}", "Write the array alone.")
    first = _first(tree.get("annotations"))
    if "segments_info" in first and "bbox" not in first:
        rule = "this is a panoptic file of COCO, whose segments are in images of their own"
        fix = "Convert it with panoptic2detection_coco_format.py of panopticapi."
        collector.fail("$.annotations[0].segments_info", rule, "", fix)
    if "caption" in first and "bbox" not in first:
        rule = "this is a file of captions of COCO, which has no boxes"
        collector.fail("$.annotations[0].caption", rule, "", "Give the instances file of the same images.")


def _first(value: object) -> dict[str, Any]:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else {}


def _file(
    images: list[Image] | None,
    categories: list[Category] | None,
    values: list[Any],
    collector: Collector,
    *,
    place: str,
) -> CocoFile:
    gathering = ColumnBuilder()
    derived = [_derived(value) for value in values]
    items = [
        _item(collector, value, f"{place}[{i}]", box)
        for i, (value, box) in enumerate(zip(values, derived, strict=True))
    ]
    without = [row for row, box in enumerate(derived) if box is not None]
    if without:
        first = values[without[0]]
        there = f"bbox {excerpt(first['bbox'])}" if "bbox" in first else "no bbox"
        more = f" and {len(without) - 1:,} more" if len(without) > 1 else ""
        rule = "an entry without bbox has the box around its segmentation, as in pycocotools"
        collector.warning(f"{place}[{without[0]}]", rule, f"{there}{more}", "Nothing to do, or add the bbox.")
    unusable = np.array([item.image_id is None or item.category_id is None for item in items], dtype=bool)
    for item in items:
        if item.image_id is None or item.category_id is None:
            item.image_id = item.category_id = 0
            item.file_name = item.category_name = UNSET
    gathering.add(items)
    columns = gathering.columns()._replace(
        unusable=unusable if unusable.any() else None,
        region_area={row: region_area(values[row]["segmentation"]) for row in without},
    )
    return CocoFile(images, categories, columns)


def _array(collector: Collector, tree: Mapping[str, Any], key: str) -> list[Any]:
    value = tree.get(key, [])
    if isinstance(value, list):
        return value
    collector.error(f"$.{key}", f"{key} must be an array (COCO format)", excerpt(value), "Put the entries in [ ].")
    return []


def _item(collector: Collector, value: object, place: str, derived: _Box | None) -> Item:
    """Return an entry; `derived` is the box around its segmentation when it has no bbox."""
    fields = (_ITEM if derived is None else _WITHOUT_BOX).fields(value, place, collector) or {}
    if fields.get("id") is None:
        fields["id"] = UNSET
    if derived is not None:
        fields["bbox"] = derived
    return Item(**{"image_id": None, "category_id": None, "bbox": _NO_BOX} | fields)


def _derived(value: object) -> _Box | None:
    # Some tools write null or [] for a region that has its outline alone.
    if not isinstance(value, dict) or value.get("bbox") not in (None, []):
        return None
    return extent(value.get("segmentation"))
