"""Sizes of pages, and boxes in pixels and in shares of the page brought into one unit; no file is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from evaluator.data.boxes import BoolArray, FloatArray, IntArray
from evaluator.data.cells import moved
from evaluator.data.dataset import Annotations, Boxes, PageKey, page_keys, rows_of_pages
from evaluator.data.issues import Collector, Issue, count_of, quote

_IN: Final = {"pixels": "pixels", "page": "shares of the page"}
# Two renderings of a page differ by the rounding of their sides.
_PROPORTION: Final = 0.005
_NAMED: Final = 3
# A box that leaves its page by more than this is reported; models round.
_TOLERANCE_PX: Final = 1.0
TURNED: Final = "turned before it was read"
"""Attribute of a page whose boxes are those of the page turned counterclockwise, by "90", "180" or "270" degrees."""
TURNED_BACK: Final = "turned back by"
"""Attribute of a page whose boxes were turned back by so many degrees."""
UNWARPED: Final = "unwarped before it was read"
"""Attribute of a page of which the boxes are those of an unwarped picture."""
TRANSFORMED: Final = "transformed before it was read"
"""Attribute of a page of which the boxes are those of a straightened, larger picture."""
_RESCALED: Final = (
    "both files should state one size for a page; its boxes are rescaled to the size in the ground truth",
    "Nothing to do if both are images of one page.",
)
_AS_WRITTEN: Final = (
    "two sizes of a page should be in proportion; its boxes are compared as they are written",
    "Correct the sizes, or give both sides the same images: the pages may be turned or cut.",
)
_TURNED_BACK: Final = (
    "boxes of a page that was turned before it was read are turned back to the page as it was given",
    "Nothing to do if the other side has the page as it was given.",
)
_TO_BE_TURNED: Final = (
    "boxes of a page that was turned before it was read are turned back where its size is known",
    "It is taken from the file that this one is compared with, or from --page-size WxH.",
)
_NOT_TURNED: Final = (
    "boxes of a page that was turned before it was read are compared as they are written without its size",
    "Give one size for all pages (--page-size WxH), or compare with a file that states the sizes.",
)
_NO_PLACE: Final = {
    UNWARPED: (
        "boxes of a page that was unwarped before it was read have no place on the page as it was given",
        "They are compared as they are written; run the model without unwarping (use_doc_unwarping=False).",
    ),
    TRANSFORMED: (
        "boxes of a page that was transformed before it was read are on the transformed image, not the page as given",
        "They are compared as they are written; give the other side the images of the result, or both straight ones.",
    ),
}


def entry_sizes(source: Annotations, other: Annotations, *, own_first: bool = False) -> FloatArray:
    """Return width and height of each page entry, as the other file states it, else as its own does.

    float64, shape (M, 2), NaN where neither file states it; with `own_first` the own file goes first.
    """
    nothing = np.full((len(source.page_index), 2), np.nan)
    own = nothing if source.page_size is None else source.page_size
    given = nothing
    if other.page_size is not None and len(other.page_size):
        rows = rows_of_pages(source, other)
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


def on_same_pages(prediction: Annotations, truth: Annotations) -> Annotations:
    """Return the boxes of a prediction in the unit and on the pages that its ground truth states.

    Boxes get the unit of the ground truth (`in_unit_of`); pixels of a page to which the two give different sizes are
    rescaled to that of the ground truth, with a warning. The same object where nothing of this is needed.
    """
    beyond = (*_beyond(prediction, truth), *_beyond(truth, prediction))
    prediction = replace(prediction, issues=(*prediction.issues, *beyond)) if beyond else prediction
    return _rescaled(in_unit_of(prediction, truth), truth)


def _beyond(source: Annotations, other: Annotations) -> tuple[Issue, ...]:
    """Return a warning for boxes in pixels that leave pages of which the other file alone states the size, if any."""
    own = source.page_size
    if source.unit != "pixels" or other.page_size is None or not (own is None or np.isnan(own).any()):
        return ()
    sizes, xyxy = entry_sizes(source, other), source.boxes.xyxy
    sizes = sizes if own is None else np.where(np.isnan(own), sizes, np.nan)
    room = sizes[source.boxes.entry]
    outside = (xyxy[:, 2:] - room > _TOLERANCE_PX) | ((xyxy[:, :2] < -_TOLERANCE_PX) & ~np.isnan(room))
    rows = np.flatnonzero(outside.any(axis=1))
    if not len(rows):
        return ()
    collector = Collector(source.name, max_per_rule=None)
    rule = f"a box should not leave its page, as {other.name} states it, by more than {_TOLERANCE_PX:g} px"
    entry = int(source.boxes.entry[rows[0]])
    document, index = page_keys(source)[entry]
    first = f"{quote(xyxy[rows[0]].tolist())} (corners) on {document}, page {index + 1} ({_size(sizes[entry])})"
    what = f"{count_of(len(rows), 'box')}, the first {first}"
    collector.warning("", rule, what, "They are compared as they are; check the unit of the boxes and the size.")
    return collector.issues()


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
    # An item without a box has one in any unit.
    if np.isnan(size[~np.isnan(boxes.xyxy[:, 0])]).any():
        return prediction
    factor = 1.0 / size if pixels is prediction else size
    moved = _times(boxes, factor)
    collector = Collector(prediction.name, max_per_rule=None)
    other = truth if pixels is prediction else prediction
    if len(boxes) and pixels.box_page_size is None:
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
    if names := names_issue(truth, prediction):
        return names
    sizes = entry_sizes(prediction, truth, own_first=prediction.unit == "pixels")
    pages = np.unique(prediction.boxes.entry)
    without = pages[np.isnan(sizes[pages]).any(axis=1)].tolist()
    if unlisted := _unlisted_issue(truth, prediction, without):
        return unlisted
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


def names_issue(truth: Annotations, prediction: Annotations) -> tuple[Issue, ...]:
    """Return an error when the sizes of pages are there, under the names of other documents; else empty."""
    ours, known = ([each.doc_id for each in side.documents] for side in (prediction, truth))
    if truth.page_size is None or not ours or not known or not set(ours).isdisjoint(known):
        return ()
    rule = f"documents should be those of {truth.name}, which states the sizes of pages; none is"
    found = f"{quote(ours[0])}, where {truth.name} has {quote(known[0])}"
    fix = "Give both sides the same documents, or one size for all pages (--page-size WxH)."
    return (Issue(severity="error", file=prediction.name, place="", rule=rule, found=found, fix=fix),)


def _unlisted_issue(truth: Annotations, prediction: Annotations, without: Sequence[int]) -> tuple[Issue, ...]:
    """Return an error when page entries `without` a size are of no page of a file that states sizes; else empty."""
    keys, known = page_keys(prediction), {*page_keys(truth)}
    if not without or truth.page_size is None or not known.isdisjoint(keys[row] for row in without):
        return ()
    rule = f"pages should be those of {truth.name}, which states their sizes"
    fix = "Give both sides the same pages, or one size for all pages (--page-size WxH)."
    found = pages_named(keys, np.array(without))
    return (Issue(severity="error", file=prediction.name, place="", rule=rule, found=found, fix=fix),)


def _rescaled(prediction: Annotations, truth: Annotations) -> Annotations:
    """Return pixels of pages of another stated size as those of the ground truth's, or say why not."""
    # Every page of which both state the size has that of the ground truth then.
    own, known = prediction.page_size, truth.page_size
    if own is None or known is None or own is known or {prediction.unit, truth.unit} != {"pixels"}:
        return prediction
    if own.shape == known.shape and not (own != known).any() and page_keys(prediction) == page_keys(truth):
        return prediction
    sizes = entry_sizes(prediction, truth)
    # Not of an unknown size: NaN differs from everything.
    differs = ((own != sizes) & ~np.isnan(own) & ~np.isnan(sizes)).any(axis=1)
    if not differs.any():
        return prediction
    fits = differs & _in_proportion(own, sizes)
    factor = np.where(fits[:, None], sizes / own, 1.0)
    moved = _times(prediction.boxes, factor[prediction.boxes.entry]) if fits.any() else prediction.boxes
    collector = Collector(prediction.name, max_per_rule=None)
    for rows, rule, fix in ((np.flatnonzero(fits), *_RESCALED), (np.flatnonzero(differs & ~fits), *_AS_WRITTEN)):
        if len(rows):
            named = pages_named(
                page_keys(prediction), rows, lambda row: f" ({_size(own[row])} instead of {_size(sizes[row])})"
            )
            collector.warning("", rule, named, fix)
    issues = (*prediction.issues, *collector.issues())
    return replace(prediction, boxes=moved, page_size=np.where(differs[:, None], sizes, own), issues=issues)


def measured_issues(source: Annotations, measured: Mapping[PageKey, tuple[float, float]]) -> tuple[Issue, ...]:
    """Return a warning for the pages whose stated size is out of proportion to that of the page at hand, if any."""
    if source.page_size is None:
        return ()
    at_hand = np.array([measured.get(key, (np.nan, np.nan)) for key in page_keys(source)]).reshape(-1, 2)
    known = ~np.isnan(at_hand).any(axis=1) & ~np.isnan(source.page_size).any(axis=1)
    stated = source.page_size
    rows = np.flatnonzero(known)[~_in_proportion(stated[known], at_hand[known])]
    if not len(rows):
        return ()
    collector = Collector(source.name, max_per_rule=None)
    rule = "the stated size of a page should be in proportion to its PDF or image"
    named = pages_named(page_keys(source), rows, lambda row: f" ({_size(stated[row])}, at hand {_size(at_hand[row])})")
    fix = "Give the folder of the pages that were annotated, or correct the sizes: the pages may be turned or cut."
    collector.warning("", rule, named, fix)
    return collector.issues()


def _in_proportion(first: FloatArray, second: FloatArray) -> BoolArray:
    """Return which sizes, both float64 (M, 2), are in proportion: within half a per cent, or a pixel of either."""
    width, height = (first * second[:, ::-1]).T
    room = np.maximum(np.maximum(first, second).max(axis=1), _PROPORTION * np.maximum(width, height))
    return np.asarray(np.abs(width - height) <= room)


def pages_named(keys: Sequence[PageKey], rows: IntArray, more: Callable[[int], str] = lambda _row: "") -> str:
    """Return how many of the pages these rows are, and the first three: ``4 of 9 pages: a, page 1, ... and 1 more``.

    `more` is said of each that is named.
    """
    named = (f"{keys[row][0]}, page {keys[row][1] + 1}{more(row)}" for row in rows[:_NAMED].tolist())
    others = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
    return f"{len(rows):,} of {count_of(len(keys), 'page')}: {'; '.join(named)}{others}"


def _size(size: FloatArray) -> str:
    return f"{size[0]:g} x {size[1]:g}"


def _times(boxes: Boxes, factor: FloatArray) -> Boxes:
    """Return boxes times a factor for each, float64 (N, 2), without the areas that the file states."""
    rings = {row: [ring * factor[row] for ring in rings] for row, rings in boxes.polygons.items()}
    cells = boxes.cells and [moved(table, by) for table, by in zip(boxes.cells, factor.tolist(), strict=True)]
    return replace(boxes, xyxy=boxes.xyxy * np.tile(factor, 2), polygons=rings, area=None, box_area=None, cells=cells)


# --- pages that were turned before they were read --------------------------------------------------------------


def as_given(source: Annotations) -> Annotations:
    """Return a file with the boxes of pages that it states as `TURNED` on the page as it was given.

    A warning names these pages, others those whose own size is not known, which `on_same_pages` may know, and those
    that were `UNWARPED` or `TRANSFORMED`. The same object where the file states none.
    """
    if not {TURNED, *_NO_PLACE} & set(source.attributes):
        return source
    collector = Collector(source.name, max_per_rule=None)
    quarters = _quarters(source)
    own = np.full((len(quarters), 2), np.nan) if source.page_size is None else source.page_size
    known = ~np.isnan(own).any(axis=1) | (source.unit == "page")
    for rows, (rule, fix) in ((known, _TURNED_BACK), (~known, _TO_BE_TURNED)):
        if len(rows := np.flatnonzero(rows & (quarters > 0))):
            more = [f" ({90 * quarter} degrees)" for quarter in quarters.tolist()]
            collector.warning("", rule, pages_named(page_keys(source), rows, more.__getitem__), fix)
    for name, (rule, fix) in _NO_PLACE.items():
        rows = np.array([value is not None for value in source.attributes.get(name, ())], dtype=bool)
        if rows.any():
            collector.warning("", rule, pages_named(page_keys(source), np.flatnonzero(rows)), fix)
    sizes = np.where((quarters % 2 == 1)[:, None], own[:, ::-1], own)
    back = _turned_back(replace(source, page_size=sizes if source.page_size is not None else None), sizes)
    return replace(back, issues=tuple(dict.fromkeys((*source.issues, *collector.issues()))))


def turned_back(prediction: Annotations, truth: Annotations) -> Annotations:
    """Return a prediction with its `TURNED` pages as they were given, by the sizes that its ground truth states.

    A warning names those of either file that cannot be turned. The same object where no page is left to be turned.
    """
    if not any(TURNED in source.attributes for source in (prediction, truth)):
        return prediction
    back = _turned_back(prediction, entry_sizes(prediction, truth)) if TURNED in prediction.attributes else prediction
    collector = Collector(prediction.name, max_per_rule=None)
    for source in (truth, back):
        if len(rows := np.flatnonzero(_quarters(source) > 0)):
            rule, fix = _NOT_TURNED
            collector.warning("", rule, f"{source.name}, {pages_named(page_keys(source), rows)}", fix)
    return replace(back, issues=tuple(dict.fromkeys((*back.issues, *collector.issues()))))


def _quarters(source: Annotations) -> IntArray:
    """Return by how many quarters each page was turned, int64 (M,), 0 to 3; 0 for one that was turned back."""
    stated = source.attributes.get(TURNED) or [None] * len(source.page_index)
    return np.array([int(value or 0) // 90 for value in stated], dtype=np.int64)


def _turned_back(source: Annotations, sizes: FloatArray) -> Annotations:
    """Return the boxes of turned pages on the pages as given, of these sizes, float64 (M, 2); NaN for unknown."""
    sizes = np.ones_like(sizes) if source.unit == "page" else sizes
    quarters = np.where(np.isnan(sizes).any(axis=1), 0, _quarters(source))
    if not quarters.any():
        return source
    boxes = source.boxes
    quarter, size = quarters[boxes.entry], sizes[boxes.entry]
    points = unturned(boxes.xyxy.reshape(-1, 2, 2), quarter, size)
    rings = {
        row: [unturned(ring[None], quarter[[row]], size[[row]])[0] for ring in rings] if quarter[row] else rings
        for row, rings in boxes.polygons.items()
    }
    turned = (quarter > 0)[:, None]
    xyxy = np.where(turned, np.hstack([points.min(axis=1), points.max(axis=1)]), boxes.xyxy)
    left = [None if quarter else value for quarter, value in zip(quarters, source.attributes[TURNED], strict=True)]
    done = [value if quarter else None for quarter, value in zip(quarters, source.attributes[TURNED], strict=True)]
    others = {name: values for name, values in source.attributes.items() if name != TURNED}
    attributes = {**others, **({TURNED: left} if any(left) else {}), TURNED_BACK: done}
    return replace(source, boxes=replace(boxes, xyxy=xyxy, polygons=rings), attributes=attributes)


def unturned(points: FloatArray, quarters: IntArray, size: FloatArray) -> FloatArray:
    """Return points of turned pages, float64 (N, K, 2), on the pages as given, of (N, 2) `size`.

    `quarters`, int64 (N,), 0 to 3: how often the page was turned counterclockwise by 90 degrees.
    """
    x, y = points[..., 0], points[..., 1]
    width, height = size[:, :1], size[:, 1:]
    quarters = quarters[:, None]
    across = np.choose(quarters, [x, width - y, width - x, y])
    down = np.choose(quarters, [y, x, height - y, height - x])
    return np.stack([across, down], axis=-1)
