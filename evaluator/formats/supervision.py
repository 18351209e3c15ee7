"""CSV and JSON of the detection sinks of supervision to boxes in pixels of the image, origin top left."""

from __future__ import annotations

import codecs
from typing import Final

from evaluator.data.dataset import Annotations, Side
from evaluator.data.issues import Collector
from evaluator.formats import json_text, table
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.build import Builder
from evaluator.formats.json_text import excerpt
from evaluator.formats.table import Row, Rows

_SOURCE: Final = "supervision"
_COLUMNS: Final = ("x_min", "y_min", "x_max", "y_max", "class_id", "confidence", "tracker_id")
_IMAGES: Final = (
    "file_name", "filename", "file", "image_name", "image_path", "image", "image_id", "document", "doc_id", "source",
)  # fmt: skip
_PAGES: Final = ("page_index", "page_number", "frame_index", "frame_number", "frame")
_LABELS: Final = ("class_name", "label", "class", "category")


class Supervision(BoxFormat):
    """Output of ``CSVSink`` and ``JSONSink`` of supervision 0.20 to 0.31 ("Save detections").

    The label is the first of class_name, label, class, category and class_id that is there; an empty confidence is no
    score. The image is the first of file_name, filename, file, image_name, image_path, image, image_id, document,
    doc_id and source (custom data); without one all rows are of one image, with a warning.
    """

    name = "supervision"
    title = "supervision CSVSink or JSONSink"
    looks_for = "x_min, y_min, x_max, y_max, class_id, confidence and tracker_id"
    suffixes = (".csv", ".json")
    of_all_kinds = (".csv",)

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether the first line, or the first object of a list, has the columns of a sink."""
        start = head[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(b"["):
            return all(f'"{column}"'.encode() in head for column in _COLUMNS)
        line = head[: 1 << 16].removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
        return table.is_supervision([name.strip() for name in line.decode(errors="replace").split(",")])

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return "prediction"."""
        return "prediction"

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file, in pixels without page sizes; see `Format.read`.

        Predictions unless given as ground truth. ``boxes.ids`` are lines or JSON paths.
        """
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        header: list[str]
        rows: Rows
        if content[:64].removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
            header, rows = _objects(json_text.open_source(content, name), collector)
        else:
            header, rows = table.text_rows(content, collector)
        given = {"x1": "x_min", "y1": "y_min", "x2": "x_max", "y2": "y_max", "score": "confidence", "unit": "pixels"}
        given |= {
            target: column
            for target, columns in (("document", _IMAGES), ("label", (*_LABELS, "class_id")))
            if (column := next((column for column in columns if column in header), None))
        }
        if column := next((column for column in _PAGES if column in header), None):
            given["page_number" if column == "page_number" else "page_index"] = column
        if "document" not in given and header:
            rule = "a column should name the image (supervision)"
            fix = 'All rows are read as one image; pass custom_data={"file_name": ...} to append for each image.'
            collector.warning("", rule, "none", fix)
        plan = table.plan_of(header, given, collector, source=_SOURCE, unread=False) if header else None
        if plan is None:
            return Builder(collector, format=self.name, source=_SOURCE).annotations(
                json_text.digest(content), reading, side="prediction"
            )
        return table.columns_of(
            rows,
            plan,
            collector,
            reading,
            format=self.name,
            source=_SOURCE,
            side="prediction",
            sha256=json_text.digest(content),
        )


FORMAT: Final = Supervision()


def _objects(source: json_text.Source, collector: Collector) -> tuple[list[str], Rows]:
    tree = json_text.parse_sound(source, collector)
    entries: list[object] = tree if isinstance(tree, list) else []
    header: dict[str, None] = {}
    for index, entry in enumerate(entries):
        if isinstance(entry, dict):
            header.update(dict.fromkeys(entry))
        else:
            rule = "a detection must be an object (supervision)"
            collector.error(f"$[{index}]", rule, excerpt(entry), "Write the file again.")
    names = list(header)
    rows: list[Row] = [
        (f"$[{index}]", [entry.get(name) for name in names])
        for index, entry in enumerate(entries)
        if isinstance(entry, dict)
    ]
    collector.raise_if_failed()
    return names, lambda _issues: iter(rows)
