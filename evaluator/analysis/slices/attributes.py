"""Attributes of boxes: what is known of a box, its page and its document without opening a PDF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from evaluator.analysis.slices.neighbours import NOTHING, columns_of_text, surroundings
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Dataset, JoinedBoxes, page_keys
from evaluator.metrics.observations import Attribute, Level, number

Value = str | int | float | bool | None
PageValues = Mapping[tuple[str, int | None], Mapping[str, Value]]
"""What is known of pages: names and values by document id and page from 0; a page None is the whole document."""

FROM_PDFS: Final = frozenset({
    "words", "text layer", "scanned", "script", "font size of page", "ink", "images", "image area", "ruled lines",
    "rotation", "producer", "landscape", "page width", "page height", "words in box", "font size", "ink in box",
    "ruled lines in box",
})  # fmt: skip
"""Every attribute that `pdf_pages` reads from documents, three only where no file gives page sizes."""
NONE_THERE: Final = "none"
"""Value of a neighbour that is not there."""


def merge_page_values(first: PageValues, second: PageValues) -> PageValues:
    """Join what two sources know of pages; where both name an attribute of a page, the second counts."""
    return {key: {**first.get(key, {}), **second.get(key, {})} for key in {**first, **second}}


def attributes_of(
    dataset: Dataset,
    side: JoinedBoxes,
    *,
    of_pages: PageValues | None = None,
    of_boxes: Sequence[Attribute] = (),
    score: bool = False,
) -> tuple[Attribute, ...]:
    """Return all attributes of the boxes of one side of a dataset, each with N = ``len(side)`` values.

    Neighbours and pages are those of this side. A name in `of_pages` that is taken already gets " (file)" behind it;
    attributes that the files do not give, such as the page size, are left out.
    """
    attributes = [*_of_places(dataset, side), *_of_page_sizes(dataset, side.page)]
    if score and not np.isnan(side.score).all():
        attributes.append(number("score", side.score))
    attributes += of_boxes
    taken = {attribute.name for attribute in attributes}
    for attribute in page_attributes(dataset, of_pages or {}):
        name = f"{attribute.name} (file)" if attribute.name in taken else attribute.name
        values = attribute.values[side.page]
        attributes.append(Attribute(name, attribute.kind, values, attribute.names, attribute.level, attribute.whole))
    return tuple(attributes)


def _category(name: str, codes: IntArray, names: Sequence[str], level: Level = "box") -> Attribute:
    return Attribute(name, "category", np.asarray(codes, np.float64), tuple(names), level)


def _of_places(dataset: Dataset, side: JoinedBoxes) -> list[Attribute]:
    page, label, pages = side.page, side.label.astype(np.int64), dataset.pages
    shares = page_shares(dataset, side)
    width, height = shares[:, 2] - shares[:, 0], shares[:, 3] - shares[:, 1]
    per_page = np.bincount(page, minlength=pages).astype(np.float64)
    labels = dataset.labels
    around = surroundings(page, label, shares)
    columns = columns_of_text(page, shares, pages)
    index, document = dataset.page_index.astype(np.float64), dataset.page_document.astype(np.int64)
    last = np.zeros(len(dataset.documents))
    np.maximum.at(last, document, index)
    length = last[document] + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        # Width against height as they are on the paper, where the size of the page is known.
        turned = (dataset.page_size[:, 0] / dataset.page_size[:, 1])[page] if has_page_sizes(dataset) else 1.0
        aspect = np.where(height > 0, width / height * turned, np.nan)
        place = np.where(length > 1, index / np.maximum(length - 1, 1), np.nan)
    same = np.bincount(page * len(labels) + label, minlength=pages * len(labels))[page * len(labels) + label]
    order = _order(page, shares[:, 1])

    def neighbour(name: str, codes: IntArray) -> Attribute:
        return _category(name, np.where(codes == NOTHING, len(labels), codes), (*labels, NONE_THERE))

    return [
        _category("label", label, labels),
        number("area", width * height),
        number("width", width),
        number("height", height),
        number("aspect", aspect),
        number("x", (shares[:, 0] + shares[:, 2]) / 2),
        number("y", (shares[:, 1] + shares[:, 3]) / 2),
        number("distance", around.distance),
        number("boxes beside", around.beside, whole=True),
        number("inside", around.inside, whole=True),
        number("holds", around.holds, whole=True),
        number("rank on page", order, whole=True),
        number("same label on page", same, whole=True),
        neighbour("next label", around.next_label),
        neighbour("label above", around.above),
        neighbour("label below", around.below),
        number("boxes on page", per_page[page], "page", whole=True),
        number("columns", columns[page], "page", whole=True),
        number("page number", dataset.page_index[page] + 1, "page", whole=True),
        number("position in document", place[page], "page"),
        number("pages in document", length[page], "document", whole=True),
    ]


def has_page_sizes(dataset: Dataset) -> bool:
    """Tell whether a file gives the size of any page."""
    return bool(dataset.pages) and not np.isnan(dataset.page_size).any(axis=1).all()


def _of_page_sizes(dataset: Dataset, page: IntArray) -> list[Attribute]:
    """Return the attributes from the page size of each box; none where no file gives a size."""
    if not has_page_sizes(dataset):
        return []
    size = dataset.page_size
    landscape = np.where(np.isnan(size[:, 0]), np.nan, size[:, 0] > size[:, 1])
    return [
        _category("landscape", landscape[page], ("no", "yes"), "page"),
        number("page width", size[page, 0], "page"),
        number("page height", size[page, 1], "page"),
    ]


def page_attributes(dataset: Dataset, of_pages: PageValues) -> tuple[Attribute, ...]:
    """Return attributes of pages and documents, one value for each page of a dataset; see `attributes_at`."""
    return attributes_at(page_keys(dataset), of_pages)


def attributes_at(places: Iterable[tuple[str, int | None]], of_pages: PageValues) -> tuple[Attribute, ...]:
    """Return attributes of pages and documents from elsewhere, one value for each place.

    A place is a document id and a page from 0 or None. A name whose values are all numbers is a number, any other a
    category; true and false are "yes" and "no". The value of a page counts before that of its document.
    """
    whole_documents: dict[str, Mapping[str, Value]] = {}
    of_page: dict[tuple[str, int], Mapping[str, Value]] = {}
    for (document, page), values in of_pages.items():
        if page is None:
            whole_documents[document] = values
        else:
            of_page[document, page] = values
    names = list(dict.fromkeys(name for values in of_pages.values() for name in values))
    if not names:
        return ()
    columns: dict[str, list[Value]] = {name: [] for name in names}
    nothing: Mapping[str, Value] = {}
    for document, index in places:
        from_document = whole_documents.get(document, nothing)
        from_page = nothing if index is None else of_page.get((document, index), nothing)
        for name, column in columns.items():
            value = from_page.get(name)
            column.append(from_document.get(name) if value is None else value)
    level_of = {name: "page" if any(name in values for values in of_page.values()) else "document" for name in names}
    return tuple(_column(name, column, "page" if level_of[name] == "page" else "document")
                 for name, column in columns.items())  # fmt: skip


def _column(name: str, column: Sequence[Value], level: Level) -> Attribute:
    known = [value for value in column if value is not None and value != ""]
    if known and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
        numbers = np.array([np.nan if value in (None, "") else float(value) for value in column])
        whole = bool((numbers[~np.isnan(numbers)] % 1 == 0).all())
        return Attribute(name, "number", numbers, (), level, whole)
    texts = [None if value in (None, "") else _words(value) for value in column]
    names = tuple(sorted({text for text in texts if text is not None}))
    code = {text: place for place, text in enumerate(names)}
    codes = np.array([np.nan if text is None else code[text] for text in texts], dtype=np.float64)
    return Attribute(name, "category", codes, names, level)


def _words(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def page_shares(dataset: Dataset, side: JoinedBoxes) -> FloatArray:
    """Return the boxes of a side as shares of their pages, float64, (N, 4); a page is as large as they need."""
    if side.source.unit == "page":
        return side.xyxy
    return np.asarray(side.xyxy / np.tile(_scale(dataset, side), 2)[side.page], dtype=np.float64)


def _scale(dataset: Dataset, side: JoinedBoxes) -> FloatArray:
    size = dataset.page_size.copy()
    missing = np.isnan(size)
    if missing.any():
        extent = np.ones_like(size)
        for axis in (0, 1):
            np.maximum.at(extent[:, axis], side.page, side.xyxy[:, 2 + axis])
        size[missing] = extent[missing]
    return size


def _order(page: IntArray, top: FloatArray) -> IntArray:
    order = np.lexsort((top, page))
    sorted_page = page[order]
    rank = np.empty(len(page), np.int64)
    rank[order] = np.arange(len(page)) - np.searchsorted(sorted_page, sorted_page, side="left") + 1
    return rank
