"""What holds between the columns of a folder, whoever wrote it: sums are as easily written as columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.data.dataset import Annotations

AnyColumn = npt.NDArray[Any]
MOST_DIGITS: Final = 7


class _Form(NamedTuple):
    """The type of a column, what it has a row of, how many numbers a row has, and how many rows it has besides."""

    dtype: str
    of: str = ""
    width: int = 1
    more: int = 0


_FORMS: Final[Mapping[str, _Form]] = {
    "page_document": _Form("<i4", "pages"),
    "page_index": _Form("<i8", "pages"),
    "page_size": _Form("<f8", "pages", width=2),
    "page_ids": _Form("|u1"),
    "page_ids_first": _Form("<i8", "pages", more=1),
    "page_images": _Form("|u1"),
    "page_images_first": _Form("<i8", "pages", more=1),
    "pages": _Form("<i4", "pages"),
    "first_box": _Form("<i8", "pages", more=1),
    "row": _Form("<i8", "boxes"),
    "entry": _Form("<i4", "boxes"),
    "label": _Form("<i4", "boxes"),
    "position": _Form("<i4", "boxes"),
    "xyxy": _Form("<f8", "boxes", width=4),
    "box_area": _Form("<f8", "boxes"),
    "score": _Form("<f8", "boxes"),
    "area": _Form("<f8", "boxes"),
    "crowd": _Form("|b1", "boxes"),
    "outlines": _Form("<i8", "outlines"),
    "outlines_first_ring": _Form("<i8", "outlines", more=1),
    "outlines_first_point": _Form("<i8"),
    "outlines_points": _Form("<f8", width=2),
}
_NUMBER_IDS: Final = {"ids": _Form("<i8", "boxes")}
_TEXT_IDS: Final = {"ids": _Form("|u1"), "ids_first": _Form("<i8", "boxes", more=1)}
_NEEDED: Final = {"page_document", "page_index", "pages", "first_box", "entry", "label", "position", "xyxy", "ids"}
_OUTLINES: Final = ("outlines", "outlines_first_ring", "outlines_first_point", "outlines_points")
# Those of which all are there, or none.
_TOGETHER: Final = ({"page_ids", "page_ids_first"}, {"page_images", "page_images_first"}, {*_OUTLINES})


_NOT_BELOW_0: Final = ("page_document", "page_index", "entry", "label", "position")
_PLACES: Final = ("pages", "row")
# Of numbers that a file may leave out.
_MAY_LACK: Final = ("score", "area", "page_size")


def _forms(names: Collection[str]) -> dict[str, _Form]:
    return {**_FORMS, **(_TEXT_IDS if "ids_first" in names else _NUMBER_IDS)}


def are_known(kept: Mapping[str, tuple[str, int]]) -> bool:
    """Return whether columns, with type and digits of each, are those of annotations: no other file is opened."""
    forms, names = _forms(kept.keys()), kept.keys()
    return (
        _NEEDED <= names <= forms.keys()
        and all(names & group in (set(), group) for group in _TOGETHER)
        and all(dtype == forms[name].dtype for name, (dtype, _) in kept.items())
        and all(digits in range(MOST_DIGITS + 1 if dtype == "<f8" else 1) for dtype, digits in kept.values())
    )


def may_be(name: str, values: AnyColumn, dtype: str, digits: int) -> bool:
    """Return whether an array is a column as it is kept: of its width, and of its type or of integers for it."""
    width = _FORMS[name].width if name in _FORMS else 1
    kinds = "iu" if digits or dtype[1] in "iu" else dtype[1]
    return values.shape[1:] == (() if width == 1 else (width,)) and values.dtype.kind in kinds and values.ndim > 0


def contradictions(source: Annotations, names: Collection[str], read: Callable[[str], AnyColumn]) -> Iterator[str]:
    """Yield what contradicts the rest of a folder: columns by name, read one after the other, or lists of `source`."""
    counts = {"pages": len(read("page_index")), "boxes": len(read("entry")), "outlines": 0}
    if "outlines" in names:
        counts["outlines"] = len(read("outlines"))
    documents = [document.doc_id for document in source.documents]
    if len(set(documents)) < len(documents):
        yield "documents"
    if len(set(source.labels)) < len(source.labels) or not 0 <= source.evaluated <= len(source.labels):
        yield "labels"
    if any(len(values) != counts["pages"] for values in source.attributes.values()):
        yield "attributes"
    ends = {"page_document": len(documents), "label": len(source.labels), "entry": counts["pages"]}
    for name, form in _forms(names).items():
        values = read(name) if name in names else None
        if values is None:
            continue
        if form.of and len(values) != counts[form.of] + form.more:
            yield name
        if name in _NOT_BELOW_0 and not _lie_in(values, ends.get(name, 2**31)):
            yield name
        if name in _PLACES and not _are_all(values, counts[form.of]):
            yield name
        if (
            values.dtype.kind == "f"
            and not np.isfinite(values[~np.isnan(values)] if name in _MAY_LACK else values).all()
        ):
            yield name
    pages, first_box = read("pages"), read("first_box")
    if not _begin(first_box, counts["boxes"]) or not np.array_equal(
        np.repeat(pages, np.diff(first_box)), read("entry")
    ):
        yield "first_box"
    for name in ("page_ids", "page_images", "ids"):
        if f"{name}_first" in names and not _are_texts(read(name), read(f"{name}_first")):
            yield name
    if "outlines" in names and not _are_outlines(counts["boxes"], *map(read, _OUTLINES)):
        yield "outlines"


def _lie_in(values: AnyColumn, end: int) -> bool:
    return not len(values) or (int(values.min()) >= 0 and int(values.max()) < end)


def _are_all(places: AnyColumn, count: int) -> bool:
    return len(places) == count and _lie_in(places, count) and bool((np.bincount(places, minlength=count) == 1).all())


def _begin(first: AnyColumn, end: int) -> bool:
    """Return whether these are the places where parts of `end` rows begin, and the end."""
    return len(first) > 0 and first[0] == 0 and first[-1] == end and bool((np.diff(first) >= 0).all())


def _are_texts(content: AnyColumn, first: AnyColumn) -> bool:
    """Return whether all is UTF-8 and no text begins inside a character."""
    if not _begin(first, len(content)):
        return False
    try:
        str(content.data, "utf-8")
    except UnicodeDecodeError:
        return False
    return bool((content[first[first < len(content)]] & 0xC0 != 0x80).all())


def _are_outlines(
    boxes: int, rows: AnyColumn, first_ring: AnyColumn, first_point: AnyColumn, points: AnyColumn
) -> bool:
    rising = bool((np.diff(rows) > 0).all())
    rings = len(first_point) - 1
    return rising and _lie_in(rows, boxes) and _begin(first_ring, rings) and _begin(first_point, len(points))
