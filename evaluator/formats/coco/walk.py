"""The exact walk over a COCO file that the fast decoder refused: every flaw of its shape, with its place.

Owns the rules on shape: which keys, how often, which types. What cannot be used becomes None or NaN, so that the
rules on values in `coco` see the rest and all issues come at once. Keys that COCO does not know are left alone.
Slow on purpose, and only ever run on files that have something to report or that carry keys of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec
import numpy as np
from msgspec import UNSET

from evaluator.formats import json_text
from evaluator.formats.coco.ids import number_ids
from evaluator.formats.coco.outlines import extent, is_number, region_area
from evaluator.formats.coco.shape import (
    ATTRIBUTE_KEYS,
    DOCUMENT_KEYS,
    PAGE_KEYS,
    Category,
    CocoFile,
    Gathering,
    Image,
    Item,
)
from evaluator.formats.json_text import excerpt, repeats, step
from evaluator.model.issues import Collector, quote

_TOP = ("images", "annotations", "categories")
_ITEM = ("image_id", "category_id", "bbox")
_ID_FIX = "Write the number of the id without quotes."
_FLAG_RULES = {"iscrowd": "iscrowd must be 0 or 1 (COCO format)", "ignore": "ignore must be 0 or 1"}
_LARGEST = 2**63 - 1
_NO_BOX = (math.nan,) * 4
_NOTHING = cast("Any", None)
_Box = tuple[float, float, float, float]


def walk(tree: object, collector: Collector) -> CocoFile | None:
    """A parsed file as the columns of the fast path, with an issue for everything that does not fit them.

    Parameters
    ----------
    tree : object
        From `json_text.parse`.
    collector : Collector
        Receives the issues.

    Returns
    -------
    CocoFile or None
        Row i is position i in the file. None when the top level is neither an object nor an array.
    """
    if isinstance(tree, list):
        texts = number_ids({"annotations": tree}, "$", collector)
        return _file(None, None, tree, collector, place="$")._replace(texts=texts)
    if not isinstance(tree, dict):
        rule = f"the top level must be an object with {', '.join(_TOP)}, or an array of results (COCO format)"
        collector.error("$", rule, excerpt(tree), "Export the file again in one of the two forms.")
        return None
    if _is_other(tree, collector):
        return None
    _keys(collector, tree, "$", _TOP, known=_TOP)
    parts = {key: _array(collector, tree, key) for key in _TOP}
    texts = number_ids(parts, "$.annotations", collector)
    images = [_image(collector, item, f"$.images[{i}]") for i, item in enumerate(parts["images"])]
    categories = [_category(collector, item, f"$.categories[{i}]") for i, item in enumerate(parts["categories"])]
    file = _file(images, categories, parts["annotations"], collector, place="$.annotations")
    return file._replace(texts=texts)


def _is_other(tree: Mapping[str, Any], collector: Collector) -> bool:
    """Whether an object is none of boxes: results under a name, segments of panoptic files, captions; says which."""
    names = [key for key, held in tree.items() if _first(held).keys() >= {"image_id", "category_id"}]
    if names and not any(key in tree for key in _TOP):
        rule = "results must be an array at the top level (COCO format)"
        collector.error("$", rule, f"an object with results under {quote(names[0])}", "Write the array alone.")
        return True
    first = _first(tree.get("annotations"))
    if "segments_info" in first and "bbox" not in first:
        rule = "this is a panoptic file of COCO, whose segments are in images of their own"
        fix = "Convert it with panoptic2detection_coco_format.py of panopticapi."
        collector.error("$.annotations[0].segments_info", rule, "", fix)
        return True
    if "caption" in first and "bbox" not in first:
        rule = "this is a file of captions of COCO, which has no boxes"
        collector.error("$.annotations[0].caption", rule, "", "Give the instances file of the same images.")
        return True
    return False


def _first(value: object) -> dict[str, Any]:
    """The first entry of an array of objects; an empty object without."""
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else {}


def _file(
    images: list[Image] | None,
    categories: list[Category] | None,
    values: list[Any],
    collector: Collector,
    *,
    place: str,
) -> CocoFile:
    gathering = Gathering()
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


def _image(collector: Collector, value: object, place: str) -> Image:
    if not isinstance(value, dict):
        collector.error(place, "an image must be an object with an id (COCO format)", excerpt(value), "Remove it.")
        return Image(_NOTHING)
    texts = ("file_name", *DOCUMENT_KEYS)
    _keys(collector, value, place, ("id",), known=("id", "width", "height", *texts, *PAGE_KEYS, *ATTRIBUTE_KEYS))
    image = Image(_integer(collector, value, "id", place))
    for key in ("width", "height"):
        if value.get(key) is not None:
            setattr(image, key, _number(collector, value, key, place))
    for key in texts:
        if key in value:
            setattr(image, key, _text(collector, value, key, place))
    for key in PAGE_KEYS:
        if key in value:
            setattr(image, key, _integer(collector, value, key, place))
    for key in ATTRIBUTE_KEYS:
        if isinstance(value.get(key), str | int | float):
            setattr(image, key, value[key])
    return image


def _category(collector: Collector, value: object, place: str) -> Category:
    if not isinstance(value, dict):
        collector.error(
            place, "a category must be an object with id and name (COCO format)", excerpt(value), "Remove it."
        )
        return Category(_NOTHING, _NOTHING)
    _keys(collector, value, place, ("id", "name"), known=("id", "name"))
    name = _text(collector, value, "name", place)
    return Category(_integer(collector, value, "id", place), name)


def _item(collector: Collector, value: object, place: str, derived: _Box | None) -> Item:
    """An entry; `derived` is the box around its segmentation when it has no bbox."""
    if not isinstance(value, dict):
        rule = f"an entry must be an object with {', '.join(_ITEM)} (COCO format)"
        collector.error(place, rule, excerpt(value), "Write it as an object, or remove it.")
        return Item(_NOTHING, _NOTHING, _NO_BOX)
    required = [key for key in _ITEM if key != "bbox" or derived is None]
    _keys(collector, value, place, required, known=Item.__struct_fields__)
    item = Item(
        _integer(collector, value, "image_id", place),
        _integer(collector, value, "category_id", place),
        _box(collector, value, place) if derived is None else derived,
    )
    for key in ("score", "area"):
        if key in value:
            setattr(item, key, _number(collector, value, key, place))
    if "id" in value:
        number = _integer(collector, value, "id", place)
        item.id = UNSET if number is None else number
    for key, rule in _FLAG_RULES.items():
        if key in value:
            setattr(item, key, _flag(collector, value[key], f"{place}.{key}", rule))
    if value.get("segmentation") is not None:
        item.segmentation = _outline(collector, value["segmentation"], f"{place}.segmentation")
    return item


def _derived(value: object) -> _Box | None:
    """The box around the segmentation of an entry without bbox; None for others."""
    # Some tools write null or [] for a region that has its outline alone.
    if not isinstance(value, dict) or value.get("bbox") not in (None, []):
        return None
    return extent(value.get("segmentation"))


def _keys(
    collector: Collector, value: Mapping[str, Any], place: str, required: Iterable[str], *, known: Iterable[str]
) -> None:
    for key, times in repeats(value).items():
        if key in known:
            collector.error(*json_text.repeated_key(step(place, key), key, times))
    json_text.report_missing(value, required, place, collector, known=known, source="COCO format")


def _integer(collector: Collector, value: Mapping[str, Any], key: str, place: str) -> int:
    if key not in value:
        return cast("int", _NOTHING)
    number = value[key]
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, int) and not isinstance(number, bool) and abs(number) <= _LARGEST:
        return number
    rule = f"{key} must be an integer of 64 bits (COCO format)"
    fix = _ID_FIX if "id" in key else "Write it without quotes."
    if isinstance(number, int) and not isinstance(number, bool):
        fix = "Write a smaller number, or put this id in quotes everywhere." if "id" in key else "Correct the number."
    collector.error(step(place, key), rule, excerpt(value[key]), fix)
    return cast("int", _NOTHING)


def _number(collector: Collector, value: Mapping[str, Any], key: str, place: str) -> float:
    number = value[key]
    if is_number(number):
        return float(number)
    rule = f"{key} must be a finite number (COCO format)"
    collector.error(step(place, key), rule, excerpt(number), "Write it as a number, without quotes.")
    return math.nan


def _text(collector: Collector, value: Mapping[str, Any], key: str, place: str) -> str:
    text = json_text.text_at(value, key, place, collector, source="COCO format", fix="Put it in quotes.")
    return cast("str", text)


def _box(collector: Collector, value: Mapping[str, Any], place: str) -> tuple[float, float, float, float]:
    box = value.get("bbox", UNSET)
    if isinstance(box, list) and len(box) == 4 and all(map(is_number, box)):
        x, y, width, height = map(float, box)
        return x, y, width, height
    if box is not UNSET:
        rule = "bbox must be four finite numbers, x, y, width, height (COCO format)"
        collector.error(f"{place}.bbox", rule, excerpt(box), "Write them as [x, y, width, height], without quotes.")
    return _NO_BOX


def _flag(collector: Collector, value: object, place: str, rule: str) -> int:
    # Other whole numbers are a matter of the rules on values.
    if type(value) in (int, float) and value == int(cast("float", value)) and abs(cast("float", value)) <= _LARGEST:
        return int(cast("float", value))
    collector.error(place, rule, excerpt(value), "Write 0 or 1.")
    return 0


def _outline(collector: Collector, value: object, place: str) -> msgspec.Raw | msgspec.UnsetType:
    flaws = list(json_text.oddities(value, place))
    for flaw in flaws:
        collector.error(*flaw)
    return UNSET if flaws else msgspec.Raw(msgspec.json.encode(value))
