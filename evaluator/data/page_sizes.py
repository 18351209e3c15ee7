"""Sizes of pages, and boxes in pixels and in shares of the page brought into one unit.

The size of a page comes from the file of the boxes, the file it is compared with, or what was measured or given. It
opens no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations, PageKey, page_keys
from evaluator.data.issues import Collector, Issue

_IN: Final = {"pixels": "pixels", "page": "shares of the page"}


def entry_sizes(source: Annotations, other: Annotations, *, own_first: bool = False) -> FloatArray:
    """Return width and height of each page entry, as the other file states it, else as its own does.

    float64, shape (M, 2), NaN where neither file states it; with `own_first` the own file goes first.
    """
    nothing = np.full((len(source.page_index), 2), np.nan)
    own = nothing if source.page_size is None else source.page_size
    given = nothing
    if other.page_size is not None and len(other.page_size):
        known = {key: row for row, key in reversed(list(enumerate(page_keys(other))))}
        rows = np.array([known.get(key, -1) for key in page_keys(source)], dtype=np.int64)
        given = np.where(rows[:, None] >= 0, other.page_size[rows], np.nan)
    first, second = (own, given) if own_first else (given, own)
    return np.where(np.isnan(first), second, first)


def with_sizes(
    source: Annotations, known: Mapping[PageKey, tuple[float, float]], given: tuple[float, float] | None = None
) -> Annotations:
    """Return columns with `known`, else `given` sizes where there are none; the same object for none new."""
    own = np.full((len(source.page_index), 2), np.nan) if source.page_size is None else source.page_size
    without = np.flatnonzero(np.isnan(own).any(axis=1)).tolist()
    keys = page_keys(source) if without else []
    new = {entry: size for entry in without if (size := known.get(keys[entry], given)) is not None}
    if not new:
        return source
    sizes = own.copy()
    sizes[list(new)] = list(new.values())
    return replace(source, page_size=sizes)


def in_unit_of(prediction: Annotations, truth: Annotations) -> Annotations:
    """Return the boxes of a prediction in the unit of its ground truth.

    The same object when the units are the same, and when a page with boxes has no known size (`unit_issue`). Sizes are
    those of the file that has pixels, else of the other one with a warning. Areas that the file states are left out.
    """
    if prediction.unit == truth.unit:
        return prediction
    pixels = prediction if prediction.unit == "pixels" else truth
    sizes = entry_sizes(prediction, truth, own_first=pixels is prediction)
    boxes = prediction.boxes
    size = sizes[boxes.entry]
    if np.isnan(size).any():
        return prediction
    factor = 1.0 / size if pixels is prediction else size
    rings = {row: [ring * factor[row] for ring in rings] for row, rings in boxes.polygons.items()}
    moved = replace(boxes, xyxy=boxes.xyxy * np.tile(factor, 2), polygons=rings, area=None, box_area=None)
    collector = Collector(prediction.name, max_per_rule=None)
    other = truth if pixels is prediction else prediction
    if len(boxes) and pixels.page_size is None:
        rule = f"the boxes of {pixels.name} are pixels of pages without a size"
        fix = "Give one size for all pages when its images are others."
        collector.warning("", rule, f"sizes in {other.name}, which are used", fix)
    return replace(
        prediction, boxes=moved, unit=truth.unit, page_size=sizes, issues=(*prediction.issues, *collector.issues())
    )


def unit_issue(truth: Annotations, prediction: Annotations) -> tuple[Issue, ...]:
    """Return an error when two files are in different units after `in_unit_of`; empty when in one."""
    if truth.unit == prediction.unit:
        return ()
    sizes = entry_sizes(prediction, truth, own_first=prediction.unit == "pixels")
    pages = np.unique(prediction.boxes.entry)
    without = pages[np.isnan(sizes[pages]).any(axis=1)].tolist()
    found = "pages without a size"
    if without:
        document, index = page_keys(prediction)[without[0]]
        found = f"{len(without):,} of {len(pages):,} pages without, {document}, page {index + 1} first"
    rule = (
        f"boxes in {_IN[prediction.unit]} can be compared with {truth.name}, which is in {_IN[truth.unit]}, only where "
        "the width and height of the page are known"
    )
    fix = "Give one size for all pages (--page-size WxH), or a folder with the images of the pages (--pdfs DIR)."
    return (Issue(severity="error", file=prediction.name, place="", rule=rule, found=found, fix=fix),)
