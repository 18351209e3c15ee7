"""Data sets of images on Hugging Face to boxes in pixels, origin top left: ``metadata.jsonl`` and Parquet."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import BadInput, Collector, quote
from evaluator.formats import json_text
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import Builder, Size
from evaluator.formats.json_text import excerpt
from evaluator.formats.model_output import document_of
from evaluator.pdf.parquet_pictures import IMAGE_NAMES, image_name

_SOURCE: Final = "Hugging Face image folder"
_OBJECTS: Final = ("objects", "annotations")
_BOXES: Final = ("bbox", "bboxes", "boxes")
_LABELS: Final = (
    "category", "categories", "label", "labels", "category_name", "class_name", "category_id", "category_ids", "class",
)  # fmt: skip
_SCORES: Final = ("score", "scores", "confidence")
_SIZES: Final = (("width", "height"), ("image_width", "image_height"), ("coco_width", "coco_height"))
_FIRST_LINE = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"[^"]*"\s*:\s*(?:"[^"]*"|[-\d.]+|null)\s*,\s*)*"(?:file_name|image|objects)"\s*:'
)
_OBJECT_MARK = re.compile(rb'"(?:objects"\s*:\s*[{\[][^\n]*"bbox(?:es)?|bboxes)"\s*:')
# The categories of DocLayNet by number; its rows state only the number.
_DOCLAYNET: Final = (
    "", "Caption", "Footnote", "Formula", "List-item", "Page-footer", "Page-header", "Picture", "Section-header",
    "Table", "Text", "Title",
)  # fmt: skip
_AGAIN: Final = "Correct the row, or write the data set again."


class ImageFolder(BoxFormat):
    """Hugging Face Datasets, "Create an image dataset", object detection: a line of JSON for each image.

    It has ``file_name`` and ``objects``: an object of lists (``bbox`` and ``category`` or ``categories``), or a list
    of objects; or lists of its own (``bboxes`` and ``labels``). A row without objects is an empty page. Categories
    that are numbers are labels as they are, with a warning. ``boxes.ids`` are line and number of the object.
    """

    name = "image-folder"
    title = "metadata.jsonl of a Hugging Face image folder"
    looks_for = "lines of JSON with a file_name and objects that have a bbox"
    suffixes = (".jsonl",)
    of_all_kinds = (".jsonl",)

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the first line names an image, and a line has objects with boxes."""
        return _FIRST_LINE.match(head) is not None and _OBJECT_MARK.search(head) is not None

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return "prediction" where objects have scores, else "ground_truth"."""
        return "prediction" if re.search(rb'"(?:scores?|confidence)"\s*:', content) else "ground_truth"

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file, in pixels; see `Format.read`."""
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        source = json_text.open_source(content, name)
        lines = source.content.split(b"\n")
        held = [at for at, line in enumerate(lines) if line.strip()]
        for at in held[1:]:
            lines[at] = b"," + lines[at]
        array = source._replace(content=b"[" + b"\n".join(lines) + b"]")
        file = _Rows(collector, format=self.name, names={})
        tree = json_text.parse_sound(array, collector)
        for at, row in zip(held, tree if isinstance(tree, list) else [], strict=False):
            place = f"line {at + 1}"
            if isinstance(row, dict):
                file.take(row, place)
            else:
                collector.error(place, f"a line must be an object ({_SOURCE})", excerpt(row), _AGAIN)
        return file.annotations(source.sha256, reading)


FORMAT: Final = ImageFolder()


def is_nested(schema: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Return whether a Parquet schema has lists of boxes with their labels, or objects that have them."""
    import pyarrow as pa  # type: ignore[import-untyped]

    nested = {field.name for field in schema if pa.types.is_nested(field.type)}
    objects = next((field for field in schema if field.name in _OBJECTS and field.name in nested), None)
    if objects is not None and any(key in str(objects.type) for key in _BOXES):
        return True
    return bool(nested & set(_BOXES)) and bool(nested & set(_LABELS))


def leaves(schema: Any) -> list[str]:  # noqa: ANN401 - pyarrow has no types
    """Return the names of the columns of a Parquet schema, and of the keys of their objects."""
    return re.findall(r"\b(\w+): ", schema.to_string(show_schema_metadata=False))


@contextmanager
def readable_parquet(collector: Collector) -> Iterator[None]:
    """Report what pyarrow says of a file that it cannot read, and raise `BadInput` with all issues."""
    import pyarrow as pa

    try:
        yield
    except BadInput:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        rule, fix = "the file must be Parquet (Apache Parquet 2)", "Write the table again; the file may be cut off."
        collector.error("", rule, quote(str(error).partition("\n")[0][:100]), fix)
        raise BadInput(collector.issues()) from None


def read_parquet(content: bytes, name: str, reading: Reading, *, format: str) -> Annotations:
    """Return the columns of a Parquet file that `is_nested`, in pixels; `BadInput` with all issues."""
    from pyarrow import parquet

    collector = Collector(name, max_per_rule=reading.max_per_rule)
    if reading.columns:
        rule = f"--columns is for tables with a row for each box ({_SOURCE})"
        collector.fail("", rule, "lists of boxes", "Leave --columns out.")
    with readable_parquet(collector):
        file = parquet.ParquetFile(io.BytesIO(content))
        schema = file.schema_arrow
        # The bytes of images are most of a file, and are not looked at.
        leaves = [file.schema.column(at).path for at in range(len(file.schema.names))]
        wanted = [path for path in leaves if path.partition(".")[0] in _READ or path == "image.path"]
        rows = _Rows(collector, format=format, names=_class_names(schema.metadata or {}))
        for number, row in enumerate(
            (row for batch in file.iter_batches(batch_size=256, columns=wanted) for row in batch.to_pylist()), 1
        ):
            rows.take(row, f"row {number}")
    return rows.annotations(json_text.digest(content), reading)


_SIDES: Final = tuple(key for pair in _SIZES for key in pair)
_READ: Final = {*_OBJECTS, *_BOXES, *_LABELS, *_SCORES, *IMAGE_NAMES, *_SIDES, "image_id", "metadata"}


def _class_names(metadata: Mapping[bytes, bytes]) -> dict[str, list[str]]:
    """Return the names of categories by column, as ``ClassLabel`` of the data set states them."""
    try:
        tree = json.loads(metadata.get(b"huggingface", b"{}"))
    except ValueError:
        return {}
    named: dict[str, list[str]] = {}

    def walk(key: str, value: object) -> None:
        if isinstance(value, dict):
            names = value.get("names")
            if isinstance(names, list) and key in _LABELS:
                named.setdefault(key, [str(name) for name in names])
            for inner, held in value.items():
                walk(inner if inner in _LABELS else key, held)
        elif isinstance(value, list):
            for held in value:
                walk(key, held)

    walk("", tree)
    return named


class _Rows:
    """Rows on their way to pages and boxes; `names`: those of categories by column."""

    def __init__(self, collector: Collector, *, format: str, names: Mapping[str, Sequence[str]]) -> None:
        self._collector, self._names = collector, names
        self.builder = Builder(collector, format=format, source=_SOURCE)
        self._numbers: list[str] = []
        self._unnamed: list[str] = []

    def annotations(self, sha256: str, reading: Reading) -> Annotations:
        for places, rule, fix in (
            (self._numbers, "a category should have a name", "The numbers are read as labels."),
            (self._unnamed, "a row should name its image", "Pages are called by their rows; add a file_name."),
        ):
            if places:
                self._collector.warning(places[0], f"{rule} ({_SOURCE})", f"{len(places):,} without one", fix)
        return self.builder.annotations(sha256, reading)

    def take(self, row: Mapping[str, Any], place: str) -> None:
        metadata = row.get("metadata") if isinstance(row.get("metadata"), dict) else {}
        name = image_name(row)
        if not name:
            self._unnamed.append(place)
        page = self.builder.image(
            name or f"{document_of(self._collector.file)} {place}", place, size=_size(row, metadata or {})
        )
        objects = _objects(row)
        if objects is None:
            rule, found = f"the objects of a row must be lists by key, or a list of objects ({_SOURCE})", excerpt(row)
            self._collector.error(place, rule, found, _AGAIN)
            return
        boxes_at, label_at = _key(objects, _BOXES), _key(objects, _LABELS)
        boxes = objects.get(boxes_at) or []
        labels, scores = objects.get(label_at) or [], objects.get(_key(objects, _SCORES))
        if not isinstance(boxes, list) or not isinstance(labels, list) or len(boxes) != len(labels):
            rule = f"{boxes_at or 'bbox'} and {label_at or 'category'} of a row must be lists of one length ({_SOURCE})"
            found = " and ".join(
                f"{len(each)}" if isinstance(each, list) else excerpt(each) for each in (boxes, labels)
            )
            self._collector.error(place, rule, found, _AGAIN)
            return
        if scores is not None and not (isinstance(scores, list) and len(scores) == len(boxes)):
            rule = f"score of a row must be a list with a number for each object ({_SOURCE})"
            self._collector.error(place, rule, excerpt(scores), _AGAIN)
            return
        names = self._names.get(label_at) or (_DOCLAYNET if "page_hash" in (metadata or {}) else ())
        for at, (box, label) in enumerate(zip(boxes, labels, strict=True)):
            where = f"{place}, object {at + 1}"
            score = None if scores is None else scores[at]
            if corners := self._corners(box, where):
                if score is not None and not _is_number(score):
                    rule = f"score must be a finite number ({_SOURCE})"
                    self._collector.error(where, rule, excerpt(score), "Write a number between 0 and 1.")
                    continue
                self.builder.box(page, self._label(label, names, where), corners, where, score=score)

    def _corners(self, box: object, place: str) -> tuple[float, float, float, float] | None:
        if not isinstance(box, list) or len(box) != 4 or not all(map(_is_number, box)):
            rule = f"bbox must be four finite numbers, x, y, width, height ({_SOURCE})"
            self._collector.error(place, rule, excerpt(box), _AGAIN)
            return None
        x, y, width, height = map(float, box)
        return x, y, x + width, y + height

    def _label(self, label: object, names: Sequence[str], place: str) -> str:
        if isinstance(label, str):
            return label
        if isinstance(label, int) and names:
            if 0 <= label < len(names) and names[label]:
                return names[label]
            rule = f"a category must be one of those that the data set names ({_SOURCE})"
            self._collector.error(place, rule, f"{label}", _AGAIN)
        elif isinstance(label, int):
            self._numbers.append(place)
        return "" if label is None else str(label)


def _objects(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    held = next((row[key] for key in _OBJECTS if row.get(key) is not None), None)
    if isinstance(held, list) and all(isinstance(each, dict) for each in held):
        keys = dict.fromkeys(key for each in held for key in each)
        return {key: [each.get(key) for each in held] for key in keys}
    if isinstance(held, dict):
        return held if _key(held, _BOXES) else None
    return row if held is None else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _key(objects: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((key for key in keys if key in objects), "")


def _size(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> Size | None:
    for stated in (row, metadata):
        for width, height in _SIZES:
            if isinstance(stated.get(width), int | float) and isinstance(stated.get(height), int | float):
                return float(stated[width]), float(stated[height])
    return None
