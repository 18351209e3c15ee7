"""Document Snapshot Detection files, schema 1.3: bytes to columns.

Owns the format `Snapshot`. Coordinates are normalised, origin top left. What the fast decoder refuses is read by the
exact walk, which lists every issue; the rules and columns are the same. Nothing is clamped, dropped or coerced.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Annotations, Boxes, CodeArray, Document, Side
from evaluator.data.issues import BadInput, Collector, Issue, refuse
from evaluator.formats import json_text, limits
from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.formats.snapshot import rules
from evaluator.formats.snapshot.pair import check_pair
from evaluator.formats.snapshot.shape import SnapshotFile, decode
from evaluator.formats.snapshot.validate import validate

_MARKS = (
    b'"label_map"', b'"coordinate_system"', b'"schema_version"', b'"documents"', b'"predictions"',
    b'"doc_name"', b'"doc_path"', b'"page_id"', b'"page_index"',
)  # fmt: skip
_OBJECTS, _BBOX = b'"objects"', b'"bbox"'
# {"id":"a","label":"b","bbox":[0,0,1,1]}, : no object of the schema takes fewer bytes.
_SHORTEST_OBJECT = 38
_TYPE = re.compile(rb'"type"\s*:\s*"(ground_truth|prediction)"')


class Snapshot(BoxFormat):
    """Document Snapshot Detection, schema 1.3 (sections 3, 4 and 9, and the JSON schema)."""

    name = "snapshot"
    title = "Document Snapshot Detection, schema 1.3 (JSON)"
    looks_for = "two of the keys label_map, coordinate_system, documents, predictions, page_index"

    def detect(self, head: bytes, name: str = "") -> bool:
        """Return whether two of the keys of the schema are there."""
        return sum(mark in head for mark in _MARKS) >= 2

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        """Return the first ``"type"`` with the name of a side, in broken files too."""
        stated = _TYPE.search(content)
        if stated is None:
            return None
        return "ground_truth" if stated[1] == b"ground_truth" else "prediction"

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        """Return the columns of a file; see `Format.read`. Nothing in the format may be repaired."""
        source = json_text.open_source(content, name)
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        _refuse_crowds(source)
        with json_text.garbage_collection_off():
            file = decode(source.content)
            if file is None:
                fix = "Something in it breaks schema 1.3; split it into several files in one folder and check that."
                file = validate(json_text.parse_exactly(source, collector, fix=fix), collector)
        return _checked(source, file, collector, reading)

    def place_in_file(self, source: Annotations, row: int) -> str:
        """Return the JSON path of the object."""
        _, entry, position = source.source_of(row)
        return f"$.predictions[{entry}].objects[{position}]"

    def pair_issues(self, truth: Annotations, prediction: Annotations, *, lenient: bool = False) -> tuple[Issue, ...]:
        """Return what is wrong or odd about two files; see `check_pair`."""
        return check_pair(truth, prediction)


FORMAT: Final = Snapshot()


def _refuse_crowds(source: json_text.Source) -> None:
    """Refuse too many objects by counting on the bytes, before anything is built from them."""
    # A page with too many leaves a stretch without ``"objects"`` that holds a whole window of half its length.
    # Escaped spellings of the keys are refused after decoding.
    content = source.content
    window, overlap = limits.MAX_OBJECTS_PER_PAGE * _SHORTEST_OBJECT // 2, len(_OBJECTS) - 1
    start = 0
    while start < len(content):
        if content.find(_OBJECTS, start, start + window + overlap) >= 0:
            start += window
            continue
        begin = content.rfind(_OBJECTS, max(start - window, 0), start + overlap)
        end = content.find(_OBJECTS, start)
        end = len(content) if end < 0 else end
        if begin >= 0 and (objects := content.count(_BBOX, begin, end)) > limits.MAX_OBJECTS_PER_PAGE:
            place = f"$.predictions[{content.count(_OBJECTS, 0, begin)}].objects"
            refuse(source.name, place, *rules.crowd(objects))
        start = end


def _checked(source: json_text.Source, file: SnapshotFile, collector: Collector, reading: Reading) -> Annotations:
    side, as_reference = reading.side, reading.as_reference
    header = rules.check_header(file.label_map, file.info, collector)
    rules.check_side(header, side, collector, as_reference=as_reference)
    codes = rules.check_documents(file.documents, collector)
    rules.check_pages(file.pages, codes, collector, listed=bool(file.documents), pointed=file.pointed)
    if not reading.as_written:
        rules.check_boxes(file.objects, collector)
    # A file that was given as the wrong side has one error, not one for each score.
    as_given = side is None or side == header.side or (as_reference and side == "ground_truth")
    scored_side = header.side if as_given and not (reading.unscored and header.side == "prediction") else None
    rules.check_scores(file.objects, scored_side, collector)
    labels = rules.check_labels(file.objects, header.label_map, collector)
    rules.check_ids(file.pages, file.objects, collector)
    if len(file.objects.ids) > limits.MAX_BOXES:
        collector.error(
            "", f"a file may have {limits.MAX_BOXES:,} boxes", f"{len(file.objects.ids):,}", "Split the file."
        )
    if collector.failed or header.side is None or file.documents is None:
        raise BadInput(collector.issues())
    as_side = side or header.side
    score = np.full(len(file.objects.ids), np.nan) if as_side == "ground_truth" else file.objects.score
    page_document, page_index, boxes = _coded(file, labels, codes, score)
    return Annotations(
        name=source.name,
        sha256=source.sha256,
        format="snapshot",
        side=as_side,
        model=header.model,
        version=header.version,
        labels=labels.names,
        evaluated=labels.evaluated,
        documents=tuple(Document(entry.doc_id, entry.doc_name, entry.doc_path) for entry in file.documents),
        page_document=page_document,
        page_index=page_index,
        boxes=boxes,
        issues=collector.issues(),
        label_map=header.label_map,
        page_ids=file.pages.page_ids,
        run=header.run,
    )


def _coded(
    file: SnapshotFile, labels: rules.Labels, codes: dict[str, int], score: FloatArray
) -> tuple[CodeArray, IntArray, Boxes]:
    pages, objects = file.pages, file.objects
    page_document = np.array([codes[doc_id] for doc_id in pages.doc_ids], dtype=np.int32)
    page_index = np.array(pages.indices, dtype=np.int64)
    final = {name: code for code, name in enumerate(labels.names)}
    recode = np.array([final[name] for name in objects.names], dtype=np.int32)
    boxes = Boxes(
        document=page_document[objects.entry],
        page=page_index[objects.entry],
        label=recode[objects.label],
        xyxy=objects.xyxy,
        score=score,
        entry=objects.entry,
        position=objects.position,
        ids=objects.ids,
    )
    return page_document, page_index, boxes
