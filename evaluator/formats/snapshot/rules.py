"""The rules on the values of a schema-1.3 file: header, documents, pages, boxes, labels and scores.

The same for fast decoder and exact walk; None and NaN, which the walk has reported, are passed over. Coordinates are
normalised, origin top left; no tolerance, no clamping (snapshot 1.3, sections 3 and 9.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from msgspec import UNSET

from evaluator.data.boxes import BoolArray, FloatArray
from evaluator.data.dataset import NO_RUN, Run, Side
from evaluator.data.issues import Collector, count_of, quote
from evaluator.formats import limits
from evaluator.formats.json_text import excerpt, step
from evaluator.formats.snapshot.shape import DocumentEntry, ObjectColumns, PageColumns
from evaluator.formats.snapshot.validate import (
    MISSING_SCORE_FIX,
    MISSING_SCORE_RULE,
    PAGE_INDEX_FIX,
    PAGE_INDEX_RULE,
    SCORE_FIX,
    SCORE_RULE,
)

_LABEL_ID = re.compile(r"[1-9][0-9]*\Z")
_SIDES: tuple[Side, Side] = ("ground_truth", "prediction")
_INFO_REQUIRED = ("schema_version", "type", "model", "coordinate_system")
_INFO_KEYS = frozenset((*_INFO_REQUIRED, "run_id", "created_at"))
_COORDINATES = {
    "type": ("normalized_xyxy", "Convert the boxes to normalised x1, y1, x2, y2."),
    "range": ([0.0, 1.0], "Divide the coordinates by the width and height of the page."),
    "origin": ("top_left", "Turn the y axis, so that y grows downwards from the top."),
}
# No page beyond it is drawn either.
_LAST_PAGE, _CROWD = limits.MAX_PAGE_INDEX, limits.MAX_OBJECTS_PER_PAGE
_PAGE_KEY = "Nothing is lost: pages are distinguished by doc_id and page_index."
_EMPTY_FIX = "Write a text of at least one character."


class Header(NamedTuple):
    """What the file states of itself; None where it states nothing usable."""

    label_map: dict[str, str]
    side: Side | None
    model: str | None
    version: str | None
    run: Run = NO_RUN


class Labels(NamedTuple):
    """Names of the label codes: those of the label map first, in the order of their ids, then the others."""

    names: tuple[str, ...]
    evaluated: int


def check_header(label_map: object, info: object, collector: Collector) -> Header:
    """Return the header of a file, with issues for its label map and info; UNSET for a missing one."""
    names = _label_map(label_map, collector)
    if not isinstance(info, dict):
        if info is not UNSET:
            collector.error("$.info", "info must be an object (schema 1.3)", excerpt(info), "Write it as an object.")
        return Header(names, None, None, None)
    _info_keys(info, collector)
    _documentary(info, collector)
    _coordinate_system(info.get("coordinate_system", UNSET), collector)
    model, version = _model(info.get("model", UNSET), collector)
    side = info.get("type", UNSET)
    if side is not UNSET and side not in _SIDES:
        rule = 'type must be "ground_truth" or "prediction" (snapshot 1.3, section 4)'
        collector.error("$.info.type", rule, excerpt(side), "Write which of the two the file is.")
    run = Run(info.get("run_id"), info.get("created_at")) if not collector.failed else NO_RUN
    return Header(names, side if side in _SIDES else None, model, version, run)


def check_side(header: Header, expected: Side | None, collector: Collector, *, as_reference: bool) -> None:
    """Report a type of a file that is not the one it was given as."""
    if expected is None or header.side is None or header.side == expected:
        return
    name = expected.replace("_", " ")
    if as_reference and expected == "ground_truth":
        rule = "predictions are used as the reference, on request (snapshot 1.3, section 4)"
        collector.warning(
            "$.info.type", rule, quote(header.side), "Their scores are left out; read results accordingly."
        )
        return
    rule = f'a {name} file must have type "{expected}" (snapshot 1.3, section 4)'
    other = header.side.replace("_", " ")
    collector.error("$.info.type", rule, quote(header.side), f"Give this file as the {other}, or correct its type.")


def check_documents(documents: Sequence[DocumentEntry] | None, collector: Collector) -> dict[str, int]:
    """Return the position of each doc_id, with issues for empty and repeated ones; None was reported."""
    if documents is not None and not documents:
        collector.error(
            "$.documents", "documents must not be empty (schema 1.3)", "[]", "List every evaluated document."
        )
    codes: dict[str, int] = {}
    for index, document in enumerate(documents or ()):
        if not (document.doc_id and document.doc_name and document.doc_path):
            for key in ("doc_id", "doc_name", "doc_path"):
                _not_empty(getattr(document, key), f"$.documents[{index}].{key}", key, collector)
        if document.doc_id is not None and codes.setdefault(document.doc_id, index) != index:
            rule = "doc_id must be unique in documents (snapshot 1.3, section 9.3)"
            seen = f"{quote(document.doc_id)}, also in $.documents[{codes[document.doc_id]}]"
            collector.error(f"$.documents[{index}].doc_id", rule, seen, "Keep one entry for each document.")
    return codes


def check_pages(
    pages: PageColumns, codes: dict[str, int], collector: Collector, *, listed: bool, pointed: Sequence[int] = ()
) -> None:
    """Report documents that are not listed, page numbers (`pointed`: 1.0), names, and pages listed twice."""
    for row in pointed:
        if not 0 <= pages.indices[row] <= _LAST_PAGE:
            continue
        rule = "page_index should be written as an integer (schema 1.3)"
        written = f"{pages.indices[row]}.0"
        collector.warning(f"$.predictions[{row}].page_index", rule, written, f"Read as {pages.indices[row]}.")
    for row, (page_id, doc_id, index, size) in enumerate(zip(*pages, strict=True)):
        if doc_id in codes and page_id and index is not None and 0 <= index < limits.MOST_PAGES and size <= _CROWD:
            continue
        place = f"$.predictions[{row}]"
        _not_empty(page_id, f"{place}.page_id", "page_id", collector)
        _not_empty(doc_id, f"{place}.doc_id", "doc_id", collector)
        if doc_id and doc_id not in codes and listed:
            rule = "doc_id must be listed in documents (snapshot 1.3, section 9.3)"
            collector.error(f"{place}.doc_id", rule, quote(doc_id), "Add the document, or correct the id.")
        if index is not None and not 0 <= index <= _LAST_PAGE:
            collector.error(f"{place}.page_index", PAGE_INDEX_RULE, excerpt(index), PAGE_INDEX_FIX)
        if size > _CROWD:
            collector.error(f"{place}.objects", *crowd(size))
        if index is not None and limits.MOST_PAGES <= index <= _LAST_PAGE:
            rule = f"page_index should be that of a page; no document has {limits.MOST_PAGES:,} pages"
            collector.warning(f"{place}.page_index", rule, excerpt(index), "Count the pages from 0.")
    _page_names(pages, collector)


def crowd(objects: int) -> tuple[str, str, str]:
    """Return rule, found and fix for a page entry with too many objects."""
    rule = f"a page may have {limits.MAX_OBJECTS_PER_PAGE:,} objects"
    return rule, f"{objects:,}", "Remove the surplus, for instance with a score cut-off."


def check_boxes(columns: ObjectColumns, collector: Collector) -> None:
    """Report boxes outside the page, reversed, or without width or height."""
    xyxy = columns.xyxy
    x1, y1, x2, y2 = xyxy.T
    outside = np.zeros(len(xyxy), dtype=np.bool_)
    # For nearly every file two reductions show that nothing is wrong.
    if len(xyxy) and not (xyxy.min() >= 0.0 and xyxy.max() <= 1.0):
        outside = np.asarray(((xyxy < 0.0) | (xyxy > 1.0)).any(axis=1), dtype=np.bool_)
    bad_x, bad_y = ~outside & (x1 >= x2), ~outside & (y1 >= y2)

    def report(rule: str, rows: BoolArray, fix: Callable[[FloatArray], str]) -> None:
        where = np.flatnonzero(rows).tolist()
        collector.errors(
            rule, where, lambda row: (columns.place(row, "bbox"), excerpt(xyxy[row].tolist()), fix(xyxy[row]))
        )

    report("coordinates must lie in [0, 1] (snapshot 1.3, sections 3 and 9.4)", outside, _mend_outside)
    source = "(snapshot 1.3, section 3)"
    report(f"x2 must be greater than x1 {source}", bad_x & ~bad_y, lambda box: _mend_order(box[0] == box[2], "x"))
    report(f"y2 must be greater than y1 {source}", bad_y & ~bad_x, lambda box: _mend_order(box[1] == box[3], "y"))
    both = "Swap the corners, or convert the box if it is x, y, width, height."
    report(f"x2 must be greater than x1, and y2 than y1 {source}", bad_x & bad_y, lambda _: both)


def check_scores(columns: ObjectColumns, side: Side | None, collector: Collector) -> None:
    """Report scores: missing in predictions, present in ground truth, outside [0, 1]."""
    score = columns.score

    def report(rule: str, rows: BoolArray, fix: str, text: str = "") -> None:
        where = np.flatnonzero(rows).tolist()
        collector.errors(
            rule, where, lambda row: (columns.place(row, "score"), text or excerpt(float(score[row])), fix)
        )

    if side == "ground_truth":
        rule = "no object of a ground truth file may have a score (snapshot 1.3, section 9.6)"
        report(rule, ~np.isnan(score), "Remove the score, or write null.")
        return
    report(SCORE_RULE, (score < 0.0) | (score > 1.0), SCORE_FIX)
    if side == "prediction":
        report(MISSING_SCORE_RULE, columns.null_score, MISSING_SCORE_FIX, "null")
        report(MISSING_SCORE_RULE, columns.no_score, MISSING_SCORE_FIX, "no score")


def check_labels(columns: ObjectColumns, label_map: dict[str, str], collector: Collector) -> Labels:
    """Return the label names, those of the map by integer id, others as they appear, with issues for bad ones."""
    # By length first, because integers without leading zeros sort like that and may be too long to convert.
    mapped = tuple(dict.fromkeys(label_map[key] for key in sorted(label_map, key=lambda key: (len(key), key))))
    known = set(mapped)
    others = tuple(name for name in columns.names if name and name not in known)
    if "" in columns.names:
        rows = np.flatnonzero(columns.label == columns.names.index("")).tolist()
        rule = "label must not be empty (schema 1.3)"
        collector.errors(rule, rows, lambda row: (columns.place(row, "label"), '""', _EMPTY_FIX))
    if len(mapped) + len(others) > limits.MAX_LABELS:
        rule = f"a file may have {limits.MAX_LABELS:,} different labels"
        collector.error("", rule, f"{len(mapped) + len(others):,}", "Merge labels, or put free text into attributes.")
    elif others and label_map:
        _unlisted(columns, mapped, others, collector)
    return Labels((*mapped, *others), len(mapped))


def check_ids(pages: PageColumns, columns: ObjectColumns, collector: Collector) -> None:
    """Report object ids that are empty or occur twice on one page."""
    if "" in columns.ids:
        rows = [row for row, name in enumerate(columns.ids) if name == ""]
        rule = "id must not be empty (schema 1.3)"
        collector.errors(rule, rows, lambda row: (columns.place(row, "id"), '""', _EMPTY_FIX))
    keys = list(zip(pages.doc_ids, pages.indices, strict=True))
    if not columns.ids_repeat and len(set(keys)) == len(keys):
        return
    seen: dict[tuple[str, int, str], int] = {}
    for row, (entry, name) in enumerate(zip(columns.entry.tolist(), columns.ids, strict=True)):
        if not name or None in keys[entry]:
            continue
        first = seen.setdefault((*keys[entry], name), row)
        if first != row:
            rule = "id should be unique on its page (schema 1.3 is silent)"
            known = f"{quote(name)}, also at {columns.place(first, 'id')}"
            collector.warning(columns.place(row, "id"), rule, known, "Both objects count; give each its own id.")


def _mend_outside(box: FloatArray) -> str:
    if box.max() > 2.0:
        return "Divide pixels by the width and height of the page."
    return "Cut the box at the edge of the page; nothing is clamped here."


def _mend_order(equal: bool, axis: str) -> str:
    if equal:
        return f"Give the box a {'width' if axis == 'x' else 'height'}, or remove the object."
    return f"Swap {axis}1 and {axis}2, or remove the object."


def _label_map(value: object, collector: Collector) -> dict[str, str]:
    if not isinstance(value, dict):
        if value is not UNSET:
            rule = "label_map must be an object of ids and names (schema 1.3)"
            collector.error("$.label_map", rule, excerpt(value), 'Write it as {"1": "Figure", "2": "Table"}.')
        return {}
    if not value:
        collector.error("$.label_map", "label_map must not be empty (schema 1.3)", "{}", "List the labels to evaluate.")
    names: dict[str, str] = {}
    first: dict[str, str] = {}
    for key, name in value.items():
        place = step("$.label_map", key)
        if not _LABEL_ID.match(key):
            rule = "keys of label_map must be positive integers in quotes (schema 1.3)"
            swapped = isinstance(name, int)
            fix = "Ids and names look swapped; write id: name." if swapped else "Number the labels from 1."
            collector.error(place, rule, quote(key), fix)
        elif not isinstance(name, str) or not name:
            rule = "names in label_map must be text of at least one character (schema 1.3)"
            collector.error(place, rule, excerpt(name), "Write the name of the label in double quotes.")
        else:
            names[key] = name
            if first.setdefault(name, key) != key:
                rule = "a label should have one id (snapshot 1.3, section 4, is silent)"
                seen = f"{quote(name)}, also under {quote(first[name])}"
                collector.warning(place, rule, seen, "Both ids are read as the same label; remove one.")
    return names


def _info_keys(info: dict[str, object], collector: Collector) -> None:
    for key in (key for key in _INFO_REQUIRED if key not in info):
        there = ", ".join(quote(other) for other in info if other in _INFO_KEYS)
        found = f"only {there}" if there else "none of the keys"
        collector.error("$.info", f"{key} is required here (schema 1.3)", found, f"Add {key}.")
    for key in (key for key in info if key not in _INFO_KEYS):
        rule = "info has no such key (schema 1.3, additionalProperties)"
        collector.error(step("$.info", key), rule, excerpt(info[key]), "Remove it, or move it into model.")
    version = info.get("schema_version", "1.3")
    if version != "1.3":
        rule = 'schema_version must be "1.3" (snapshot 1.3, section 9.1)'
        fix = "Convert the file to version 1.3, or correct the version."
        collector.error("$.info.schema_version", rule, excerpt(version), fix)


def _documentary(info: dict[str, object], collector: Collector) -> None:
    """Issues for what only documents a file: the run and its date."""
    if "run_id" not in info:
        rule = "run_id should be given (schema 1.3)"
        collector.warning("$.info", rule, "no run_id", "Add the name of the run, or null.")
    elif info["run_id"] is not None and (not isinstance(info["run_id"], str) or not info["run_id"]):
        rule = "run_id must be null or text of at least one character (schema 1.3)"
        collector.error("$.info.run_id", rule, excerpt(info["run_id"]), "Write the name of the run, or null.")
    created = info.get("created_at", "unknown date")
    if not isinstance(created, str) or len(created) < 8:
        rule = "created_at must be an ISO 8601 date or time (schema 1.3)"
        collector.error("$.info.created_at", rule, excerpt(created), "Write it as 2026-02-22, or remove it.")
    elif "created_at" in info and not _is_date(created):
        rule = "created_at should be an ISO 8601 date or time (schema 1.3)"
        collector.warning("$.info.created_at", rule, excerpt(created), "Write it as 2026-02-22, or remove it.")


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _coordinate_system(value: object, collector: Collector) -> None:
    place = "$.info.coordinate_system"
    if not isinstance(value, dict):
        if value is not UNSET:
            rule = "coordinate_system must be an object with type, range, origin (snapshot 1.3, section 3)"
            collector.error(place, rule, excerpt(value), "Write it as the specification does.")
        return
    for key, (wanted, fix) in _COORDINATES.items():
        if key not in value:
            collector.error(place, f"{key} is required here (schema 1.3)", excerpt(value), f"Add {key}.")
        elif not _same(value[key], wanted):
            rule = f"{key} must be {excerpt(wanted)} (snapshot 1.3, section 3)"
            collector.error(f"{place}.{key}", rule, excerpt(value[key]), fix)
    for key in (key for key in value if key not in _COORDINATES):
        rule = "only type, range, origin are allowed here (schema 1.3, additionalProperties)"
        collector.error(step(place, key), rule, excerpt(value[key]), "Remove it.")


def _same(value: object, wanted: object) -> bool:
    """Equality as JSON Schema has it: 0 equals 0.0, false does not."""
    if isinstance(value, list):
        return value == wanted and not any(isinstance(item, bool) for item in value)
    return value == wanted


def _model(value: object, collector: Collector) -> tuple[str | None, str | None]:
    if not isinstance(value, dict):
        if value is not UNSET:
            rule = "model must be an object with a name (schema 1.3)"
            collector.error("$.info.model", rule, excerpt(value), 'Write it as {"name": "..."}.')
        return None, None
    name, version = value.get("name"), value.get("version")
    if "name" not in value:
        collector.error("$.info.model", "name is required here (schema 1.3)", excerpt(value), "Add the model's name.")
    elif not isinstance(name, str) or not name:
        rule = "name must be text of at least one character (schema 1.3)"
        collector.error("$.info.model.name", rule, excerpt(name), "Write the model's name in double quotes.")
    for key in ("version", "notes"):
        if value.get(key) is not None and not isinstance(value[key], str):
            rule = f"{key} must be text or null (schema 1.3)"
            collector.error(f"$.info.model.{key}", rule, excerpt(value[key]), "Put it in double quotes.")
    return name if isinstance(name, str) else None, version if isinstance(version, str) else None


def _not_empty(value: str | None, place: str, key: str, collector: Collector) -> None:
    if value == "":
        collector.error(place, f"{key} must not be empty (schema 1.3)", '""', _EMPTY_FIX)


def _page_names(pages: PageColumns, collector: Collector) -> None:
    keys = list(zip(pages.doc_ids, pages.indices, strict=True))
    if len(set(keys)) == len(keys) == len(set(pages.page_ids)):
        return
    by_page: dict[tuple[str, int], int] = {}
    by_name: dict[str, int] = {}
    for row, (name, key) in enumerate(zip(pages.page_ids, keys, strict=True)):
        if not name or None in key or not 0 <= key[1] <= _LAST_PAGE:
            continue  # said already
        place = f"$.predictions[{row}]"
        first = by_page.setdefault(key, row)
        if first != row:
            rule = "a page should have one entry (snapshot 1.3 is silent)"
            seen = f"{quote(key[0])}, page_index {key[1]}, also at $.predictions[{first}]"
            collector.warning(place, rule, seen, "The objects of both entries are pooled.")
        if name != pages.page_ids[first]:
            rule = "page_id should be spelled the same for the same page (snapshot 1.3 is silent)"
            seen = f"{quote(name)} and {quote(pages.page_ids[first])}"
            collector.warning(f"{place}.page_id", rule, seen, _PAGE_KEY)
        other = by_name.setdefault(name, row)
        if keys[other] != key:
            rule = "page_id should name one page (snapshot 1.3 is silent)"
            seen = f"{quote(name)}, also at $.predictions[{other}]"
            collector.warning(f"{place}.page_id", rule, seen, _PAGE_KEY)


def _unlisted(columns: ObjectColumns, mapped: Sequence[str], others: Sequence[str], collector: Collector) -> None:
    counts = np.bincount(columns.label, minlength=len(columns.names))
    by_case = {name.casefold(): name for name in mapped}
    for label in others:
        code = columns.names.index(label)
        like = by_case.get(label.casefold())
        fix = f"Write it {quote(like)}, " if like else "Add it to label_map, "
        place = columns.place(int(np.argmax(columns.label == code)), "label")
        rule = "label should be in label_map (schema 1.3, label)"
        number = f"{quote(label)} {count_of(int(counts[code]), 'time')}"
        collector.warning(place, rule, number, f"{fix}or leave it: its boxes are shown and not scored.")
