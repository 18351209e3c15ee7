"""Extracted fields to trees of fields: a folder with one JSON file per document, or JSON lines.

What breaks JSON is an error; a box or confidence that cannot be used is a warning, because the evaluation has a rule
for it. Boxes keep their unit.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from evaluator.data.dataset import Side
from evaluator.data.fields import Field, FieldDocuments, Tree, box_corners
from evaluator.data.issues import BadInput, Collector, Issue, has_errors, quote, refuse
from evaluator.formats import folder, json_text, limits
from evaluator.formats.base import ANY_SIDE, FileGroup, Format, Reading, has_truth_name
from evaluator.formats.fields.pair import check_pair
from evaluator.formats.json_text import Unusable, excerpt, step

LINE_SUFFIXES: Final = (".jsonl", ".ndjson")
"""Endings of files with one document per line; other files are looked at."""
MAX_TEXT: Final = 100_000
"""Characters of one value: two of them are compared character by character."""
MAX_ITEMS: Final = 2_000
"""Items of one list: each is compared with each of the other side."""

_SOURCE = "fields, rich value"
_LINE_KEYS = frozenset(("doc_id", "fields"))
_HEAD = 1 << 16
_BOX_RULE = f"_bbox must be [[x1, y1], [x2, y2]] or [x1, y1, x2, y2] with finite numbers ({_SOURCE})"
_CONFIDENCE_RULE = f"_confidence must be a number in [0, 1] ({_SOURCE})"


def _looks_like_lines(source: json_text.Source) -> bool:
    """Return whether the first line of a file, whatever it is called, is a document with its id."""
    first = source.content.lstrip()[:_HEAD].partition(b"\n")[0].strip()
    if not (first.startswith(b"{") and b'"doc_id"' in source.content[:_HEAD] and b'"fields"' in source.content):
        return False
    try:
        tree = json_text.parse(json_text.Source(source.name, first, ""))
    except BadInput:
        # One document over several lines: the keys decide.
        return False
    return isinstance(tree, dict) and tree.keys() == _LINE_KEYS


def _lines(source: json_text.Source, collector: Collector) -> Iterator[tuple[str, Tree]]:
    first_line: dict[str, int] = {}
    for number, line in enumerate(source.content.split(b"\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}, $"
        try:
            tree = json_text.parse(json_text.Source(source.name, line, ""))
        except BadInput as bad:
            # The parser counts lines in what it was given: one line.
            for issue in bad.issues:
                where = issue.place.replace("line 1, ", "")
                collector.error(f"line {number}, {where}", issue.rule, issue.found, issue.fix)
            continue
        if not isinstance(tree, dict) or tree.keys() != _LINE_KEYS:
            keys = quote(list(tree)) if isinstance(tree, dict) else excerpt(tree)
            rule = 'each line must be an object with "doc_id" and "fields", and nothing else (fields, JSON lines)'
            collector.error(place, rule, keys, "Put the fields of the document under fields.")
            continue
        doc_id = tree["doc_id"]
        if not isinstance(doc_id, str) or not doc_id or json_text.has_lone_surrogate(doc_id):
            rule = "doc_id must be a text of at least one character (fields, JSON lines)"
            collector.error(f"{place}.doc_id", rule, excerpt(doc_id), "Name the document.")
        elif doc_id in first_line:
            rule = "a document may be on one line only (fields, JSON lines)"
            collector.error(f"{place}.doc_id", rule, f"{quote(doc_id)}, also on line {first_line[doc_id]}", "Keep one.")
        else:
            first_line[doc_id] = number
            yield doc_id, _document(tree["fields"], f"{place}.fields", collector)


def _one(source: json_text.Source, collector: Collector) -> Iterator[tuple[str, Tree]]:
    """Yield the document of a file of its own; its id is the stem of the name."""
    tree = json_text.parse(source)
    if isinstance(tree, dict) and tree.keys() == _LINE_KEYS and isinstance(tree["doc_id"], str) and tree["doc_id"]:
        # One line of JSON lines, set over several lines.
        yield tree["doc_id"], _document(tree["fields"], "$.fields", collector)
    else:
        yield Path(source.name).stem, _document(tree, "$", collector)


def _document(tree: object, place: str, collector: Collector) -> Tree:
    if not isinstance(tree, dict):
        collector.error(place, "the fields of a document must be an object (fields)", excerpt(tree), "Write an object.")
        return {}
    return _tree(tree, place, collector)


def _tree(value: object, place: str, collector: Collector) -> Tree:
    if isinstance(value, dict):
        _check_keys(value, place, collector)
        if "_value" in value:
            return _rich(value, place, collector)
        _check_metadata_without_value(value, place, collector)
        return {key: _tree(inner, step(place, key), collector) for key, inner in value.items()}
    if isinstance(value, list):
        if len(value) > MAX_ITEMS:
            rule = f"a list may have {MAX_ITEMS:,} items; each is compared with each (fields)"
            collector.error(place, rule, f"{len(value):,} items", "Split the list.")
            return []
        return [_tree(inner, f"{place}[{index}]", collector) for index, inner in enumerate(value)]
    _check_plain(value, place, collector)
    return Field(value=value)


def _rich(value: Mapping[str, object], place: str, collector: Collector) -> Field:
    """Return a rich value as a field; the outermost wins, what is inside ``_value`` is only a value."""
    inner = value["_value"]
    if isinstance(inner, dict | list):
        for oddity in json_text.oddities(inner, f"{place}._value"):
            collector.error(*oddity)
    else:
        _check_plain(inner, f"{place}._value", collector)
    page, page_known = _page(value.get("_page"), f"{place}._page", collector)
    corners = _corners(value.get("_bbox"), f"{place}._bbox", collector)
    confidence, refused = _confidence(value.get("_confidence"), f"{place}._confidence", collector)
    for key in ("_bbox", "_page", "_confidence"):
        if (other := json_text.spelled_otherwise(value, key)) is not None and other.startswith("_"):
            fix = "It is kept and not evaluated; correct it."
            collector.warning(step(place, other), f"{key} should be spelled so ({_SOURCE})", quote(other), fix)
    extras = {key: inner for key, inner in value.items() if key not in ("_value", "_confidence")}
    for key, extra in extras.items():
        if not key.startswith("_"):
            rule = f"keys beside _value should begin with an underscore ({_SOURCE})"
            collector.warning(
                step(place, key), rule, quote(key), "It is kept and not evaluated; rename it, or move it."
            )
        if key not in ("_bbox", "_page"):
            for oddity in json_text.oddities(extra, step(place, key)):
                collector.error(*oddity)
    return Field(
        value=inner,
        has_box=value.get("_bbox") is not None,
        box=corners if page_known else None,
        page=page,
        confidence=confidence,
        confidence_refused=refused,
        extras=extras,
    )


def _corners(box: object, place: str, collector: Collector) -> tuple[float, float, float, float] | None:
    if box is None:
        return None
    corners = box_corners(box)
    if corners is None:
        collector.warning(place, _BOX_RULE, excerpt(box), "It counts as a box with IoU 0; correct it.")
    elif not set(map(type, _flat(box))) <= {int, float}:
        fix = "Text and booleans are read as the numbers that they spell; write numbers."
        collector.warning(place, f"coordinates should be numbers ({_SOURCE})", excerpt(box), fix)
    return corners


def _flat(box: object) -> list[object]:
    assert isinstance(box, list)
    return box if len(box) == 4 else [*box[0], *box[1]]


def _page(page: object, place: str, collector: Collector) -> tuple[int, bool]:
    if page is None:
        return 0, True
    if isinstance(page, int) and not isinstance(page, bool) and 0 <= page <= limits.MAX_PAGE_INDEX:
        return page, True
    rule = f"_page must be a whole number from 0 to {limits.MAX_PAGE_INDEX:,} ({_SOURCE})"
    collector.warning(place, rule, excerpt(page), "The box counts with IoU 0; count pages from 0.")
    return 0, False


def _confidence(value: object, place: str, collector: Collector) -> tuple[float, bool]:
    if value is None:
        return math.nan, False
    number = isinstance(value, int | float) and not isinstance(value, bool)
    confidence = float(value) if isinstance(value, int | float) and number else math.nan
    if 0.0 <= confidence <= 1.0:
        return confidence, False
    how = f"as {confidence:g}" if number else "as if it were missing"
    fix = f"It ranks {how} and is left out of the confidence metrics; correct it."
    collector.warning(place, _CONFIDENCE_RULE, excerpt(value), fix)
    return confidence, True


def _check_plain(value: object, place: str, collector: Collector) -> None:
    if isinstance(value, Unusable):
        rule = "numbers must be finite and fit float64 (RFC 8259, section 6)"
        collector.error(place, rule, excerpt(value), "Correct it.")
    elif isinstance(value, str):
        if json_text.has_lone_surrogate(value):
            collector.error(*json_text.lone_surrogate(place, value))
        if len(value) > MAX_TEXT:
            rule = f"a value may have {MAX_TEXT:,} characters; it is compared character by character (fields)"
            collector.error(place, rule, f"{len(value):,} characters", "Shorten it, or leave the field out.")


def _check_keys(value: dict[str, object], place: str, collector: Collector) -> None:
    for key, times in json_text.repeats(value).items():
        collector.error(*json_text.repeated_key(step(place, key), key, times))
    for key in value:
        if not key.isascii() and json_text.has_lone_surrogate(key):
            collector.error(*json_text.lone_surrogate(step(place, key), key))


def _check_metadata_without_value(value: dict[str, object], place: str, collector: Collector) -> None:
    if alone := [key for key in ("_bbox", "_confidence", "_page") if key in value]:
        rule = f"an object with {' and '.join(alone)} should have _value ({_SOURCE})"
        fix = "Without it the object is read as nested fields; add _value (null is allowed)."
        collector.warning(place, rule, quote(list(value)), fix)
    elif {"value", "confidence"} <= value.keys():
        rule = f"value and confidence should be spelled _value and _confidence ({_SOURCE})"
        fix = "The object is read as nested fields; add the underscores if it is one value."
        collector.warning(place, rule, quote(list(value)), fix)


def _repeated_documents(parts: list[FieldDocuments]) -> list[Issue]:
    owner: dict[str, str] = {}
    issues: list[Issue] = []
    for part in parts:
        collector = Collector(part.name, max_per_rule=None)
        for doc_id in part.documents:
            if (other := owner.setdefault(doc_id, part.name)) != part.name:
                rule = "a document may be in one file of a folder only (fields)"
                collector.error("", rule, f"{quote(doc_id)}, also in {other}", "Keep one of them.")
        issues += collector.issues()
    return issues


def _merged(name: str, parts: list[FieldDocuments], side: Side | None) -> FieldDocuments:
    return FieldDocuments(
        name=name,
        # The name is part of what is read: it is the id of the document.
        sha256=hashlib.sha256(
            "".join(f"{part.name}:{part.sha256}\n" for part in parts).encode("utf-8", "surrogateescape")
        ).hexdigest(),
        side=side,
        documents={doc_id: tree for part in parts for doc_id, tree in part.documents.items()},
        issues=tuple(issue for part in parts for issue in part.issues),
    )


class Fields(Format[FieldDocuments]):
    """Extracted fields: JSON lines ``{"doc_id": ..., "fields": {...}}``, or the fields of one document.

    A rich value is an object with ``_value``, beside it ``_bbox``, ``_page`` and ``_confidence``. Nothing in a file
    states its side: the name of its folder or file does.
    """

    name = "fields"
    title = "extracted fields (JSON, or JSON lines)"
    looks_for = "the key _value, or the keys doc_id and fields"
    kind = "fields"
    suffixes = (".json", *LINE_SUFFIXES)
    states_side = False

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether a rich value or a line of JSON lines is there; plain values look like any JSON."""
        return b'"_value"' in head or (b'"doc_id"' in head[:_HEAD] and b'"fields"' in head[:_HEAD])

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return None: the files are the same for both sides."""
        return None

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> FieldDocuments:
        """Return the fields of one file; the stem of `name` is the id of a file with one document.

        The side of `reading` is kept, never checked. Raises `BadInput` with all issues of the file.
        """
        source = json_text.open_source(content, name)
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        lines = name.lower().endswith(LINE_SUFFIXES) or _looks_like_lines(source)
        documents = dict(_lines(source, collector) if lines else _one(source, collector))
        collector.raise_if_failed()
        return FieldDocuments(name, source.sha256, reading.side, documents, collector.issues(), single=not lines)

    def read_path(self, path: Path, reading: Reading = ANY_SIDE) -> FieldDocuments:
        """Return the fields of a file, or of a folder in the order of file names and lines.

        In a folder, .json files are one document each, named by their stem; .jsonl and .ndjson hold one per line.
        Raises `BadInput` with all issues of all files.
        """
        if not folder.is_folder(path):
            return self.read(folder.load(path, limits.MAX_FILE_BYTES), path.name, reading)
        name = path.resolve().name
        chosen = [entry for entry in folder.list_files(path) if entry.suffix.lower() in self.suffixes]
        if not chosen:
            rule = f"a folder must hold files that end in {', '.join(self.suffixes)} (fields)"
            refuse(name, "", rule, "none", "Name the folder of the documents.")
        return self._read_several(folder.on_disk(chosen), name, reading)

    def read_files(self, files: Sequence[tuple[str, bytes]], name: str, reading: Reading = ANY_SIDE) -> FieldDocuments:
        """Return several files whose bytes are at hand, as if they lay in one folder; one as itself."""
        if len(files) == 1:
            return self.read(files[0][1], files[0][0], reading)
        return self._read_several(folder.in_memory(files), name, reading)

    def _read_several(self, files: Sequence[folder.File], name: str, reading: Reading) -> FieldDocuments:
        parts, issues = folder.read_parts(files, lambda content, file: self.read(content, file, reading))
        issues += _repeated_documents(parts)
        if has_errors(issues):
            raise BadInput([*issues, *(issue for part in parts for issue in part.issues)])
        return _merged(name, parts, reading.side)

    def pair_issues(
        self, truth: FieldDocuments, prediction: FieldDocuments, *, lenient: bool = False
    ) -> tuple[Issue, ...]:
        """See `check_pair`."""
        return check_pair(truth, prediction)

    def group_path(self, file: Path, given: Collection[Path]) -> Path:
        """Return a file of JSON lines, a file that was given by itself, or else the folder of the documents."""
        return file if file in given or file.suffix.lower() in LINE_SUFFIXES else file.parent

    def file_group(self, path: Path, files: Sequence[tuple[Path, bytes]]) -> FileGroup:
        """Return the unit, a ground truth by its name; without a confidence, it may be one."""
        sides: frozenset[Side] = frozenset(["ground_truth"] if has_truth_name(path) else [])
        scored = any(b'"_confidence"' in content for _, content in files)
        return FileGroup(path=path, format=self.name, sides=sides, unscored=not sides and not scored)


FORMAT: Final = Fields()
