"""Fixes: the words of ``--fix``, what each does to the columns of a file, and the check of the mended columns.

A fix is applied because somebody asked for it; the file stays as it is, and the mended columns carry their fixes, so
that every signature states them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NoReturn

import msgspec
import numpy as np

from evaluator.data import document_names as of_names
from evaluator.data import label_names as of_labels
from evaluator.data import taxonomies
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Annotations, PageKey, map_labels, page_keys, with_pages
from evaluator.data.document_names import pages_in_names
from evaluator.data.image_ids import BY_NAMES, image_rows
from evaluator.data.issues import Collector, count_of, cut, quote, refuse
from evaluator.data.page_sizes import entry_sizes

_NUMBER: Final = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# Beyond, areas overflow or vanish.
_LARGEST: Final = 1e12
_TWO: Final = re.compile(rf"{_NUMBER}(?:,{_NUMBER})?")
_SHIFT: Final = re.compile(rf"{_TWO.pattern}|{_NUMBER}%(?:,{_NUMBER}%)?")
_OFFSET: Final = re.compile(r"[-+]?\d{1,9}")
_TOLERANCE: Final = 1e-6

UNITS: Final = ("share", "percent", "thousandths", "pixels")
"""What the numbers of a file can be: shares of the page, per cent of it, 0 to 1,000, or pixels of its image."""


class FixError(ValueError):
    """Raised for a fix that is written wrongly; one sentence."""


class Fix(msgspec.Struct, frozen=True):
    """One fix: a key of `KINDS`, and what follows the equals sign; `file` is empty for all predictions."""

    kind: str
    value: str = ""
    file: str = ""

    @property
    def moves_boxes(self) -> bool:
        """Return whether coordinates change."""
        return self.kind not in ("names", "image-ids", "page-offset", "labels", "label", "swap-sides")

    @property
    def of_all_files(self) -> bool:
        """Return whether it is meant for the ground truth too, where it names no file: labels of a taxonomy."""
        return self.kind == "labels" and self.value in taxonomies.NAMES

    @property
    def text(self) -> str:
        """Return the fix as it is written, without the file."""
        return f"{self.kind}={self.value}" if self.value else self.kind


KINDS: Final[Mapping[str, str]] = {
    "names": f"names=HOW, where HOW is one of {', '.join(of_names.MODES)}",
    "image-ids": "image-ids=HOW, where HOW is names or a number to add, as +1",
    "swap-sides": "swap-sides",
    "page-offset": "page-offset=+1",
    "confidence-second": "confidence-second",
    "xywh": "xywh",
    "xyxy": "xyxy",
    "centre": "centre",
    "corners": "corners",
    "swap-axes": "swap-axes",
    "units": f"units=HOW, where HOW is one of {', '.join(UNITS)}",
    "scale": "scale=0.5 or scale=0.5,0.25",
    "x-flip": "x-flip",
    "y-flip": "y-flip",
    "shift": "shift=0.1,0.05, or shift=10%,5% of the page",
    "labels": f"labels=HOW, where HOW is case or one of {', '.join(taxonomies.NAMES)}",
    "label": "label=OLD=NEW",
}
"""How each kind of fix is written, in the order in which fixes of several kinds are applied."""

# The first place where a kind stands, so that names of files may have colons.
_WRITTEN: Final = re.compile(
    rf"(?:(?P<file>.*?):)??(?P<kind>{'|'.join(map(re.escape, KINDS))})(?:=(?P<value>.*))?", re.DOTALL
)
_PLAIN: Final = {"swap-sides", "confidence-second", "xywh", "xyxy", "centre", "corners", "swap-axes"}
_WORDS: Final[Mapping[str, str]] = {
    "swap-sides": "ground truth and predictions exchanged",
    "confidence-second": "the confidence read from the second column",
    "xywh": "boxes read as x, y, width, height",
    "xyxy": "boxes read as two corners",
    "centre": "boxes read as centre, width, height",
    "corners": "boxes read as any two opposite corners",
    "swap-axes": "x and y swapped",
    "x-flip": "the x axis flipped",
    "y-flip": "the y axis flipped",
}
POSITIONAL: Final = ("yolo",)
"""Formats whose columns have an order and no names."""
_FORM_OF_FORMAT: Final[Mapping[str, str]] = {"coco": "xywh", "yolo": "centre"}
"""The four numbers of a box in files of formats that do not state two corners."""
_UNIT_WORDS: Final[Mapping[str, str]] = {
    "share": "coordinates read as shares of the page",
    "percent": "coordinates read as per cent of the page",
    "thousandths": "coordinates read as 0 to 1,000",
    "pixels": "coordinates read as pixels of the page",
}


def parse_fix(text: str) -> Fix:
    """Return a fix from its text: ``y-flip``, ``page-offset=+1``, or ``lines.json:y-flip`` for one file.

    FixError, one sentence: there is no such fix, or its value makes no sense.
    """
    read = _WRITTEN.fullmatch(text)
    if read is None:
        raise FixError(f"--fix must be one of {', '.join(KINDS)}; found {text}")
    fix = Fix(read["kind"], read["value"] or "", read["file"] or "")
    if not _makes_sense(fix):
        raise FixError(f"--fix {fix.kind} is written {KINDS[fix.kind]}; found {text}")
    return fix


def _makes_sense(fix: Fix) -> bool:
    value = fix.value
    if fix.kind in _PLAIN:
        return not value
    if fix.kind in ("x-flip", "y-flip"):
        return not value or (re.fullmatch(_NUMBER, value) is not None and float(value) > 0.0)
    if fix.kind == "names":
        return value in of_names.MODES
    if fix.kind == "units":
        return value in UNITS
    if fix.kind == "labels":
        return value == "case" or fix.of_all_files
    if fix.kind == "label":
        old, _, new = value.rpartition("=")
        return bool(old and new)
    if fix.kind in ("page-offset", "image-ids"):
        by_names = fix.kind == "image-ids" and value == BY_NAMES
        return by_names or (_OFFSET.fullmatch(value) is not None and int(value) != 0)
    if fix.kind == "shift":
        return _SHIFT.fullmatch(value) is not None
    return _TWO.fullmatch(value) is not None and min(fix_numbers(fix)) > 0.0


def fix_numbers(fix: Fix) -> tuple[float, float]:
    """Return the two numbers of a scale or shift, which may be per cent; one number is both."""
    parts = [float(part) for part in fix.value.replace("%", "").split(",")]
    return (parts[0], parts[1]) if len(parts) == 2 else (parts[0], parts[0])


def fix_description(fix: Fix) -> str:
    """Return what a fix does, in words that follow "with"."""
    if fix.kind in _WORDS:
        return _WORDS[fix.kind]
    if fix.kind == "names":
        return of_names.WORDS[fix.value]
    if fix.kind == "units":
        return _UNIT_WORDS[fix.value]
    if fix.kind == "labels":
        if fix.of_all_files:
            return f"labels under the names of {taxonomies.taxonomy(fix.value).title}"
        return "label names compared without upper and lower case"
    if fix.kind == "label":
        old, _, new = fix.value.rpartition("=")
        return f"{old} read as {new}"
    if fix.kind == "image-ids":
        return "image ids read as the numbers in file names" if fix.value == BY_NAMES else added(fix.value, "image")
    if fix.kind == "page-offset":
        count = int(fix.value)
        return f"boxes moved {count_of(abs(count), 'page')} {'on' if count > 0 else 'back'}"
    numbers = " and ".join(f"{number:g}" for number in dict.fromkeys(fix_numbers(fix)))
    return f"coordinates times {numbers}" if fix.kind == "scale" else f"boxes shifted by {fix.value}"


def added(count: str, of: str) -> str:
    """Return in words that a number is added to ids of images or categories."""
    number = int(count)
    return f"{number:,} added to {of} ids" if number > 0 else f"{-number:,} subtracted from {of} ids"


def fix_options(fixes: Iterable[Fix], file: str = "") -> str:
    """Return fixes as the options of a command, for the file of a name when one is given."""
    words = [f"{file}:{fix.text}" if file else fix.text for fix in fixes]
    return " ".join("--fix " + (f'"{word}"' if re.search(r"[^\w.=,:+/-]", word) else word) for word in words)


def fixes_for(fixes: Sequence[Fix], name: str, *, prediction: bool = True) -> tuple[Fix, ...]:
    """Return the fixes that are meant for a file; those without a file are for every prediction, some for all files."""
    meant = (fix for fix in fixes if (fix.file == name if fix.file else prediction or fix.of_all_files))
    return tuple(fix for fix in meant if fix.kind != "swap-sides")


# --- applying ------------------------------------------------------------------------------------------------


def apply_fixes(source: Annotations, other: Annotations, fixes: Sequence[Fix]) -> Annotations:
    """Return the columns of a file with fixes applied; the same object for no fixes.

    `source` is read with `Reading.as_written`; `other` gives names, sizes of pages and labels. Fixes are applied in the
    order of `KINDS`. BadInput: a fix cannot be applied, or leaves boxes inverted or before the first page.
    """
    if not fixes:
        return source
    mended = source
    order = list(KINDS)
    ordered = sorted(fixes, key=lambda fix: order.index(fix.kind))
    modes = [fix.value for fix in ordered if fix.kind == "names"]
    if modes:
        mended = _with_names(mended, other, modes)
    for fix in ordered:
        if fix.kind in _STEPS:
            mended = _STEPS[fix.kind](mended, other, fix)
    mended = _with_labels(mended, other, ordered)
    return _checked(
        replace(mended, fixes=(*source.fixes, *(fix.text for fix in fixes))),
        boxes_moved=any(fix.moves_boxes for fix in fixes),
    )


def _with_names(source: Annotations, other: Annotations, modes: Sequence[str]) -> Annotations:
    names = [document.doc_id for document in source.documents]
    known = {document.doc_id: document for document in other.documents}
    partners = of_names.match_names(names, list(known), modes)
    documents = tuple(known[partners[each.doc_id]] if each.doc_id in partners else each for each in source.documents)
    mended = replace(source, documents=documents)
    return with_pages(mended, known, pages_by_name(mended, other)) if "pages" in modes else mended


def pages_by_name(source: Annotations, other: Annotations) -> list[PageKey]:
    """Return the page of each page entry where one-page documents are named by a document and a number."""
    ours, theirs = page_keys(source), page_keys(other)
    there = _named_pages(source, ours, {name for name, _ in theirs})
    back = {page: key for key, page in _named_pages(other, theirs, {name for name, _ in ours}).items()}
    return [there.get(key) or back.get(key, key) for key in ours]


def _named_pages(source: Annotations, keys: list[PageKey], known: set[str]) -> dict[PageKey, PageKey]:
    images = [*source.page_images, *[""] * (len(keys) - len(source.page_images))]
    often = Counter(name for name, _ in keys)
    single = [at for at, (name, index) in enumerate(keys) if not index and often[name] == 1 and name not in known]
    pages = pages_in_names([images[at] or keys[at][0] for at in single], sorted(known))
    return {keys[at]: page for at, page in zip(single, pages, strict=True) if page}


def _with_image_ids(source: Annotations, other: Annotations, fix: Fix) -> Annotations:
    boxes, own_pages = source.boxes, bool(source.evaluated)
    rows = image_rows(source.page_ids, other.page_ids, other.page_images, fix.value)
    # A results list has no pages until it takes those of its ground truth.
    is_list = not own_pages or (source.documents == other.documents and [*source.page_ids] == [*other.page_ids])
    without = len(boxes)
    if source.format == other.format == "coco" and is_list:
        without = int((rows[boxes.entry] < 0).sum())
    if without:
        rule = f"with {fix.text} each result of a COCO results list must have an image of {other.name}"
        refuse(source.name, "", rule, f"{without:,} of {len(boxes):,} without", "Leave it out.")
    if not own_pages:
        ids = [other.page_ids[row] if row >= 0 else key for key, row in zip(source.page_ids, rows, strict=True)]
        return replace(source, page_ids=ids)
    entry = rows[boxes.entry].astype(boxes.entry.dtype)
    document, page = other.page_document[entry], other.page_index[entry]
    return replace(source, boxes=replace(boxes, entry=entry, document=document, page=page))


def _with_offset(source: Annotations, other: Annotations, fix: Fix) -> Annotations:
    offset = int(fix.value)
    page_index = source.page_index + offset
    before = int((source.boxes.page + offset < 0).sum())
    if before:
        rule = f"{fix.text} must leave every box on a page"
        refuse(source.name, "", rule, f"{count_of(before, 'box')} before the first page", "Choose another page-offset.")
    # Pages without boxes that fall before the first one are none of the document.
    kept = page_index >= 0
    rows = np.cumsum(kept) - 1
    boxes = replace(
        source.boxes, page=source.boxes.page + offset, entry=rows[source.boxes.entry].astype(source.boxes.entry.dtype)
    )
    if kept.all():
        return replace(source, page_index=page_index, boxes=replace(boxes, entry=source.boxes.entry))
    page_ids, page_images = (
        [name for name, keep in zip(names, kept.tolist(), strict=False) if keep]
        for names in (source.page_ids, source.page_images)
    )
    return replace(
        source,
        page_index=page_index[kept],
        page_document=source.page_document[kept],
        page_ids=page_ids,
        page_images=page_images,
        page_size=None if source.page_size is None else source.page_size[kept],
        boxes=boxes,
    )


def with_corners(source: Annotations, corners: FloatArray, rings: Mapping[int, Sequence[FloatArray]]) -> Annotations:
    """Return the boxes with other corners and outlines, without the areas that the file states."""
    boxes = replace(source.boxes, xyxy=corners, polygons=rings, area=None, box_area=None)
    return replace(source, boxes=boxes)


def written_numbers(xyxy: FloatArray, format: str) -> FloatArray:
    """Return the four numbers of each box as a file of a format states them; float64, shape (N, 4)."""
    form = _FORM_OF_FORMAT.get(format)
    if form is None:
        return xyxy
    first = xyxy[:, :2] if form == "xywh" else (xyxy[:, :2] + xyxy[:, 2:]) / 2.0
    return np.hstack([first, xyxy[:, 2:] - xyxy[:, :2]])


def to_corners(xyxy: FloatArray, kind: str, format: str = "") -> FloatArray:
    """Return corners, float64, shape (N, 4), of numbers meant as `kind`, of which a reader made `xyxy`."""
    form = _FORM_OF_FORMAT.get(format)
    if (form == "centre" and kind in ("xywh", "xyxy")) or (form == "xywh" and kind == "centre"):
        numbers = written_numbers(xyxy, format)
        return numbers if kind == "xyxy" else _with_sides(numbers, kind)
    x, y, third, fourth = xyxy.T
    if kind == "corners":
        return np.hstack([np.minimum(xyxy[:, :2], xyxy[:, 2:]), np.maximum(xyxy[:, :2], xyxy[:, 2:])])
    if kind == "xyxy":
        # Read as x, y, width, height: the second corner is the sum.
        return np.stack([x, y, third - x, fourth - y], axis=1)
    return _with_sides(xyxy, kind)


def _with_sides(numbers: FloatArray, kind: str) -> FloatArray:
    """Return corners from x, y, width and height; x and y are of a corner (xywh) or of the centre."""
    x, y, width, height = numbers.T
    if kind == "xywh":
        return np.stack([x, y, x + width, y + height], axis=1)
    return np.stack([x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0], axis=1)


def in_second_column(xyxy: FloatArray, score: FloatArray, format: str) -> tuple[FloatArray, FloatArray]:
    """Return corners and scores, float64 (N, 4) and (N,), of lines whose score is the first number and not the last.

    `xyxy` and `score` are what a reader of `format` made of the lines, in its unit.
    """
    columns = np.hstack([written_numbers(xyxy, format), score[:, None]])
    return _with_sides(columns[:, 1:], _FORM_OF_FORMAT.get(format, "")), columns[:, 0].copy()


def _confidence_second(source: Annotations, other: Annotations, fix: Fix) -> Annotations:
    """Return the boxes of lines that were read as a box and a score, where the score comes first."""
    boxes = source.boxes
    size = np.tile(np.ones((1, 2)) if source.unit == "page" else _sizes(source, other, fix), 2)
    corners, score = in_second_column(boxes.xyxy / size, boxes.score, source.format)
    wrong = int((~(np.isfinite(corners).all(axis=1) & (score >= 0.0) & (score <= 1.0 + _TOLERANCE))).sum())
    if source.format not in POSITIONAL or wrong:
        rule = f"{fix.text} needs lines without names of columns, with a number between 0 and 1 behind the class (YOLO)"
        found = f"{wrong:,} of {len(boxes):,} boxes without" if source.format in POSITIONAL else source.format
        refuse(source.name, "", rule, found, "Leave it out.")
    mended = with_corners(source, corners * size, {})
    return replace(mended, boxes=replace(mended.boxes, score=np.minimum(score, 1.0)))


def _reshape(source: Annotations, other: Annotations, fix: Fix) -> Annotations:
    return with_corners(source, to_corners(source.boxes.xyxy, fix.kind, source.format), {})


def _rings(source: Annotations, points: Callable[[int, FloatArray], FloatArray]) -> dict[int, list[FloatArray]]:
    return {row: [points(row, ring) for ring in rings] for row, rings in source.boxes.polygons.items()}


def _swap(source: Annotations, other: Annotations, fix: Fix) -> Annotations:
    rings = _rings(source, lambda _row, ring: ring[:, ::-1].copy())
    return with_corners(source, source.boxes.xyxy[:, [1, 0, 3, 2]], rings)


def _scaled(source: Annotations, factor: FloatArray) -> Annotations:
    rings = _rings(source, lambda row, ring: ring * factor[row])
    return with_corners(source, source.boxes.xyxy * np.tile(factor, 2), rings)


def _scale(source: Annotations, other: Annotations, fix: Fix) -> Annotations:
    return _scaled(source, np.tile(np.array(fix_numbers(fix)), (len(source.boxes), 1)))


def _shift(source: Annotations, other: Annotations, fix: Fix) -> Annotations:
    by = np.tile(fix_numbers(fix), (len(source.boxes), 1))
    if "%" in fix.value:
        by *= 0.01 if source.unit == "page" else _sizes(source, other, fix) / 100.0
    rings = _rings(source, lambda row, ring: ring + by[row])
    return with_corners(source, source.boxes.xyxy + np.tile(by, 2), rings)


def _flip(source: Annotations, other: Annotations, fix: Fix) -> Annotations:
    axis = 0 if fix.kind == "x-flip" else 1
    if fix.value:
        side = np.full(len(source.boxes), float(fix.value))
    elif source.unit == "page":
        side = np.ones(len(source.boxes))
    else:
        side = _sizes(source, other, fix)[:, axis]
    corners = source.boxes.xyxy.copy()
    corners[:, axis] = side - source.boxes.xyxy[:, axis + 2]
    corners[:, axis + 2] = side - source.boxes.xyxy[:, axis]
    # A file that counts from the bottom may have named its corners by the page: then they come out in order.
    corners[:, [axis, axis + 2]] = np.sort(corners[:, [axis, axis + 2]], axis=1)

    def flipped(row: int, ring: FloatArray) -> FloatArray:
        ring = ring.copy()
        ring[:, axis] = side[row] - ring[:, axis]
        return ring

    return with_corners(source, corners, _rings(source, flipped))


def _units(source: Annotations, other: Annotations, fix: Fix) -> Annotations:
    parts = {"share": 1.0, "percent": 100.0, "thousandths": 1000.0}
    factor = np.full((len(source.boxes), 2), 1.0)
    factor /= parts[fix.value] if fix.value in parts else _sizes(source, other, fix, own_first=True)
    if other.unit == "pixels":
        factor = factor * _sizes(source, other, fix)
    # Boxes that are pixels now are those of the page as the other file states it.
    own = source.unit == other.unit and source.page_size is not None
    return replace(_scaled(source, factor), unit=other.unit, page_size=entry_sizes(source, other) if own else None)


def sizes_of(
    source: Annotations, other: Annotations, *, own_first: bool = False, rows: IntArray | None = None
) -> FloatArray | None:  # fmt: skip
    """Return the page size of each box, float64, shape (N, 2): of the other file, else of its own.

    `rows`: of these boxes alone. NaN for pages whose size neither file states; None when no size is stated.
    """
    if source.page_size is None and other.page_size is None:
        return None
    entry = source.boxes.entry
    return entry_sizes(source, other, own_first=own_first)[entry if rows is None else entry[rows]]


def _sizes(source: Annotations, other: Annotations, fix: Fix, *, own_first: bool = False) -> FloatArray:
    sizes = sizes_of(source, other, own_first=own_first)
    if sizes is None or np.isnan(sizes).any():
        rule = f"{fix.text} needs the sizes of the pages"
        without = 0 if sizes is None else int(np.isnan(sizes).any(axis=1).sum())
        pages = f"{count_of(without, 'box')} on pages without one" if without else "none"
        other_way = "a shift in their own unit" if fix.kind == "shift" else "scale="
        refuse(source.name, "", rule, pages, f"Give files that state them, or use {other_way}.")
    return sizes


def _with_labels(source: Annotations, other: Annotations, fixes: Sequence[Fix]) -> Annotations:
    names: dict[str, str] = {}
    issues = Collector(source.name, max_per_rule=None)
    if any(fix.kind == "labels" and not fix.of_all_files for fix in fixes):
        names |= of_labels.same_but_for_spelling(source.labels, other.labels)
    for fix in fixes:
        if fix.of_all_files:
            known_as = taxonomies.under_names_of(fix.value, source.labels, source.format)
            names |= known_as.names
            if known_as.left:
                rule = f"with {fix.text} a label should have a name in {taxonomies.taxonomy(fix.value).title}"
                found = cut(", ".join(map(quote, known_as.left)))
                issues.warning("", rule, found, 'They keep their names; "label=OLD=NEW" gives one another.')
        if fix.kind == "label":
            old, _, new = fix.value.rpartition("=")
            if fix.file and old not in source.labels:
                refuse_label(f"--fix {fix.file}:label", old, source.name, source.labels)
            names[old] = new
    mended = map_labels(source, names)
    if issues.issues():
        mended = replace(mended, issues=(*mended.issues, *issues.issues()))
    if mended is source:
        return source
    # With every label under a name of the other file the maps say the same; ids of merged labels differ by nature.
    known = set(other.labels[: other.evaluated])
    if set(mended.labels) <= known:
        missing = tuple(label for label in other.labels[: other.evaluated] if label not in mended.labels)
        labels = (*mended.labels, *missing)
        return replace(mended, labels=labels, evaluated=len(labels), label_map=dict(other.label_map))
    return mended


def refuse_label(option: str, old: str, file: str, labels: Iterable[str]) -> NoReturn:
    """Refuse another name for a label that there is not; `labels` are those that there are."""
    found = f"{quote(old)}; there are {cut(', '.join(map(quote, sorted(set(labels)))))}"
    refuse(file, option, "a label that gets another name must be in the files", found, "Write it as the files do.")


def _checked(source: Annotations, *, boxes_moved: bool) -> Annotations:
    if not boxes_moved:
        return source
    xyxy = source.boxes.xyxy
    thin = int(((xyxy[:, 2] < xyxy[:, 0]) | (xyxy[:, 3] < xyxy[:, 1])).sum())
    fixes = ", ".join(source.fixes)
    if not np.isfinite(xyxy).all() or thin:
        rule = "with the fixes every box must have a width and a height"
        what = f"{thin or len(xyxy):,} of {len(xyxy):,} boxes without, with {fixes}"
        refuse(source.name, "", rule, what, "Choose other fixes; layoutscope check lists what fits.")
    largest = float(np.abs(xyxy).max(initial=0.0))
    if largest > _LARGEST or 0.0 < largest < 1.0 / _LARGEST:
        rule = "with the fixes the largest coordinate must be from 1e-12 to 1e12"
        refuse(
            source.name,
            "",
            rule,
            f"{largest:.3g} with {fixes}",
            "Choose other fixes; layoutscope check lists what fits.",
        )
    outside = int(((xyxy < -_TOLERANCE) | (xyxy > 1.0 + _TOLERANCE)).any(axis=1).sum())
    if source.unit != "page" or not outside:
        return source
    collector = Collector(source.name, max_per_rule=None)
    rule = "with the fixes boxes should stay on their page"
    collector.warning("", rule, f"{outside:,} of {len(xyxy):,} boxes leave it, with {fixes}", "They count.")
    return replace(source, issues=(*source.issues, *collector.issues()))


Step = Callable[[Annotations, Annotations, Fix], Annotations]

_STEPS: Final[Mapping[str, Step]] = {
    "image-ids": _with_image_ids, "page-offset": _with_offset, "confidence-second": _confidence_second,
    "xywh": _reshape, "xyxy": _reshape, "centre": _reshape, "corners": _reshape, "swap-axes": _swap, "units": _units,
    "scale": _scale, "x-flip": _flip, "y-flip": _flip, "shift": _shift,
}  # fmt: skip
