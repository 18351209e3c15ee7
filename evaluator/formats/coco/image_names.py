"""Which image of a ground truth a result means: that of its file name, else of its id, which may be a name.

Owns the rule that annotations which state a file name as well name one image.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations
from evaluator.data.image_ids import number_of
from evaluator.data.issues import Collector, quote
from evaluator.formats.coco.ids import Texts, quoted_id
from evaluator.formats.coco.rules import Pages
from evaluator.formats.coco.shape import ItemColumns
from evaluator.formats.image_paths import is_image, parts_of

# What stands for the row of an image that no name, or that several images answer to.
_UNKNOWN: Final = -1
_SEVERAL: Final = -2
Key = TypeVar("Key", str, tuple[str, ...])
_WHOLE: Final = re.compile(r"-?[0-9]+")
_SUFFIX: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")


def images_of(
    prediction: Annotations, truth: Annotations, place: Callable[[int], str], collector: Collector
) -> IntArray:
    """Return the page entry in the ground truth of each image of a results list, int64; -1 after an error.

    Ids of which some are unknown, while all are names of images, are names. `place` is that of a row of the results.
    """
    ids, files = prediction.page_ids, _stated(prediction, truth)
    by_id = {key: row for row, key in enumerate(truth.page_ids)}
    names = _Names(truth.page_images)
    rows = [names.of_file(file) if file else by_id.get(key, _UNKNOWN) for key, file in zip(ids, files, strict=True)]
    unnamed = [at for at, file in enumerate(files) if not file]
    if any(rows[at] < 0 for at in unnamed):
        by_name = [names.of_id(ids[at]) for at in unnamed]
        if min(by_name) >= 0:
            for at, row in zip(unnamed, by_name, strict=True):
                rows[at] = row
            rule = f"image_id should be an id of {truth.name} (COCO format)"
            what = f"{ids[unnamed[0]]}, as the image {quote(truth.page_images[by_name[0]])}"
            collector.warning("$", rule, what, "The ids are used as names of images.")
    own_id = [by_id.get(key, _UNKNOWN) for key in ids]
    other = [at for at, file in enumerate(files) if file and rows[at] >= 0 and own_id[at] != rows[at]]
    # An id that is made of the file name says the same.
    apart = [at for at in other if own_id[at] >= 0 and names.of_id(ids[at]) != rows[at]]
    if len(other) > len(apart):
        at = next(at for at in other if at not in apart)
        rule = f"image_id should be the id that {truth.name} has for file_name (COCO format)"
        what = f"{ids[at]} for {quote(files[at])}, whose id is {truth.page_ids[rows[at]]}"
        collector.warning("$", rule, what, "The file names are used.")
    _refuse(prediction, truth, rows, apart=apart, place=place, collector=collector)
    return np.array(rows, dtype=np.int64)


def check_files(items: ItemColumns, pages: Pages, texts: Texts, place: str, collector: Collector) -> None:
    """Report annotations that state another file name than the image of their id has."""
    ids, stated = items.image_id, items.file_names
    files = dict(zip(pages.ids.tolist(), pages.images, strict=True)) if stated else {}
    collector.errors(
        "file_name of an annotation must be that of the image of image_id (COCO format)",
        [row for row, name in stated.items() if (file := files.get(int(ids[row]))) and not _agree(name, file)],
        lambda row: (
            f"{place}[{row}].file_name",
            f"{quote(stated[row])}, while {quoted_id(int(ids[row]), texts)} is {quote(files[int(ids[row])])}",
            "Correct one of them, or leave out file_name.",
        ),
    )


def _refuse(
    prediction: Annotations,
    truth: Annotations,
    rows: Sequence[int],
    *,
    apart: Sequence[int],
    place: Callable[[int], str],
    collector: Collector,
) -> None:
    """Report results of unknown images, and those (`apart`) whose id is that of another image than their file name."""
    ids, files, entry = prediction.page_ids, _stated(prediction, truth), prediction.boxes.entry

    def results_of(images: Sequence[int]) -> list[int]:
        return np.flatnonzero(np.isin(entry, images)).tolist() if images else []

    unknown = [at for at, row in enumerate(rows) if row < 0 and not files[at]]
    image = quote(truth.page_images[0]) if len(truth.page_images) else ""
    example = f", as {truth.page_ids[0]} of {image}" if image and len(truth.page_ids) else ""
    looks = f"The ids there are {_kind(truth.page_ids)}{example}; those of the results are "
    looks += _kind([ids[at] for at in unknown])
    collector.errors(
        f"image_id must be an id of {truth.name} (COCO format)",
        results_of(unknown),
        lambda row: (
            f"{place(row)}.image_id",
            ids[int(entry[row])],
            f"{looks}. Give the ground truth of these results, or correct the id.",
        ),
    )
    collector.errors(
        f"file_name must be that of one image of {truth.name}",
        results_of([at for at, row in enumerate(rows) if row < 0 and files[at]]),
        lambda row: (
            f"{place(row)}.file_name",
            quote(files[int(entry[row])]),
            f"The images there are named as {image}. Give the ground truth of these results, or correct the name.",
        ),
    )
    by_id = {key: row for row, key in enumerate(truth.page_ids)}
    collector.errors(
        "image_id and file_name of a result must be those of one image",
        results_of(apart),
        lambda row: (
            f"{place(row)}.image_id",
            f"{ids[int(entry[row])]}, which is {quote(truth.page_images[by_id[ids[int(entry[row])]]])}, "
            f"for {quote(files[int(entry[row])])}",
            "Correct one of them, or leave out file_name.",
        ),
    )


def _stated(prediction: Annotations, truth: Annotations) -> Sequence[str]:
    """Return the file name of each image of a results list, empty where none is stated on either side."""
    known = any(prediction.page_images) and any(truth.page_images)
    return prediction.page_images if known else [""] * len(prediction.page_ids)


class _Names:
    def __init__(self, files: Sequence[str]) -> None:
        self._parts = list(map(parts_of, files))
        named = [(file, parts, row) for row, (file, parts) in enumerate(zip(files, self._parts, strict=True)) if file]
        self._by_file = _rows((file, row) for file, _, row in named)
        self._by_name = _rows((_name(file), row) for file, _, row in named)
        self._by_parts = _rows((parts, row) for _, parts, row in named)
        self._by_stem = _rows((parts[-1], row) for _, parts, row in named)
        self._by_number = _rows((number_of(stem), row) for stem, row in self._by_stem.items() if _WHOLE.fullmatch(stem))

    def of_file(self, file: str) -> int:
        parts, unknown = parts_of(file), _UNKNOWN
        rows = (
            self._by_file.get(file, unknown),
            *(self._by_parts.get(parts[start:], unknown) for start in range(len(parts))),
            self._by_name.get(_name(file), unknown),
            self._by_stem.get(parts[-1], unknown),
        )
        row = next((row for row in rows if row >= 0), unknown)
        # Folders that both state must not contradict each other.
        return row if row < 0 or _one_end(parts, self._parts[row]) else _UNKNOWN

    def of_id(self, key: str) -> int:
        known = next((names for names in (self._by_file, self._by_name, self._by_stem) if key in names), None)
        if known is not None:
            return known[key]
        if _WHOLE.fullmatch(key):
            return self._by_number.get(number_of(key), _UNKNOWN)
        return self.of_file(key) if is_image(key) else _UNKNOWN


def _kind(texts: Sequence[str]) -> str:
    if all(map(_WHOLE.fullmatch, texts)):
        return "whole numbers"
    return "file names" if all(map(_SUFFIX.search, texts)) else "texts, as stems of file names are"


def _rows(pairs: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    rows: dict[Key, int] = {}
    for key, row in pairs:
        rows[key] = row if rows.setdefault(key, row) == row else _SEVERAL
    return rows


def _name(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def _agree(file: str, other: str) -> bool:
    return _one_end(parts_of(file), parts_of(other))


def _one_end(parts: Sequence[str], others: Sequence[str]) -> bool:
    count = min(len(parts), len(others))
    return parts[-count:] == others[-count:]
