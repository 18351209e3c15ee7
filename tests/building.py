"""Builders of small inputs: boxes as rows, one object of an annotation file each, and the columns or file of a reader.
A new page entry begins wherever the (document, page) of a row differs from that of the row before it.
"""

import bisect
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Annotations, Boxes, Document, Side
from evaluator.data.fields import FieldDocuments
from evaluator.formats.fields import FORMAT
from evaluator.formats.posters import Posters, read_poster
from evaluator.metrics.results import ScoreCurve

LABELS = ("Figure", "Table")
NO_SCORE = float("nan")


class Box(NamedTuple):
    """One object: where it is, what it is called, how sure the model is."""

    document: str
    page: int
    label: str
    xyxy: tuple[float, float, float, float]
    score: float | None = None
    id: str = ""


def box(x1: float, y1: float, x2: float, y2: float, **given: Any) -> Box:
    """A Figure on the first page of a.pdf, unless stated otherwise."""
    return Box(**{"document": "a.pdf", "page": 0, "label": "Figure", **given}, xyxy=(x1, y1, x2, y2))


def annotations(
    rows: Sequence[Box],
    *,
    side: Side = "prediction",
    labels: Sequence[str] = LABELS,
    documents: Iterable[str] = (),
    pages: Iterable[tuple[str, int]] = (),
    name: str | None = None,
) -> Annotations:
    """The columns that a reader returns: `documents` and empty `pages` come on top of those of the rows."""
    pages = list(pages)
    names = dict.fromkeys([*documents, *(document for document, _ in pages), *(row.document for row in rows)])
    code = {doc_id: index for index, doc_id in enumerate(names)}
    every_label = (*labels, *dict.fromkeys(row.label for row in rows if row.label not in labels))
    entries, entry, position = list(pages), [], []
    for key, group in itertools.groupby(rows, key=lambda row: (row.document, row.page)):
        for place, _ in enumerate(group):
            entry.append(len(entries))
            position.append(place)
        entries.append(key)
    return Annotations(
        name=name or f"{side}.json",
        sha256=("a" if side == "ground_truth" else "b") * 64,
        format="snapshot",
        side=side,
        model=None if side == "ground_truth" else "toy",
        version=None,
        labels=every_label,
        evaluated=len(labels),
        documents=tuple(Document(doc_id, doc_id) for doc_id in names),
        page_document=np.array([code[doc_id] for doc_id, _ in entries], dtype=np.int32),
        page_index=np.array([page for _, page in entries], dtype=np.int64),
        boxes=Boxes(
            document=np.array([code[row.document] for row in rows], dtype=np.int32),
            page=np.array([row.page for row in rows], dtype=np.int64),
            label=np.array([every_label.index(row.label) for row in rows], dtype=np.int32),
            xyxy=np.array([row.xyxy for row in rows], dtype=np.float64).reshape(-1, 4),
            score=np.array([NO_SCORE if row.score is None else row.score for row in rows], dtype=np.float64),
            entry=np.array(entry, dtype=np.int32),
            position=np.array(position, dtype=np.int32),
            ids=[row.id or f"o{index}" for index, row in enumerate(rows)],
        ),
        label_map={str(index): label for index, label in enumerate(labels, 1)},
        page_ids=[f"{doc_id}::p{page:03d}" for doc_id, page in entries],
    )


def ground_truth(rows: Sequence[Box], **given: Any) -> Annotations:
    """Rows as a ground truth; their scores are left out."""
    return annotations([row._replace(score=None) for row in rows], side="ground_truth", **given)


def snapshot_file(rows: Sequence[Box], *, side: Side = "prediction", **given: Any) -> dict[str, Any]:
    """The same rows as the value of a file of schema 1.3; a prediction without score gets 0.5."""
    columns = annotations(rows, side=side, **given)
    names = [document.doc_id for document in columns.documents]
    entries: list[dict[str, Any]] = [
        {"page_id": page_id, "doc_id": names[document], "page_index": page, "objects": []}
        for page_id, document, page in zip(
            columns.page_ids, columns.page_document.tolist(), columns.page_index.tolist(), strict=True
        )
    ]
    for index, row in enumerate(rows):
        value: dict[str, Any] = {"id": columns.boxes.ids[index], "label": row.label, "bbox": list(row.xyxy)}
        if side == "prediction":
            value["score"] = 0.5 if row.score is None else row.score
        entries[columns.boxes.entry[index]]["objects"].append(value)
    return {
        "label_map": dict(columns.label_map),
        "info": {
            "schema_version": "1.3",
            "type": side,
            "created_at": "2026-01-01T00:00:00Z",
            "run_id": None if side == "ground_truth" else "run-1",
            "model": {"name": "annotators" if side == "ground_truth" else "toy"},
            "coordinate_system": {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"},
        },
        "documents": [{"doc_id": name, "doc_name": name, "doc_path": f"pdf/{name}"} for name in names],
        "predictions": entries,
    }


def write_file(path: Path, rows: Sequence[Box], **given: Any) -> Path:
    """`snapshot_file` on disk."""
    path.write_text(json.dumps(snapshot_file(rows, **given), ensure_ascii=False), encoding="utf-8")
    return path


def write_coco(folder: Path, truth: list[Box], predicted: list[Box]) -> tuple[Path, Path]:
    """Images in no order of their ids, and a results list."""
    pages = list(dict.fromkeys((row.document, row.page) for row in (*truth, *predicted)))
    labels = list(dict.fromkeys(row.label for row in (*truth, *predicted)))
    ids = {page: 3 * ((at * 7) % (len(pages) + 7)) + at % 3 for at, page in enumerate(pages)}

    def item(row: Box) -> dict[str, Any]:
        x1, y1, x2, y2 = (round(100 * each, 2) for each in row.xyxy)
        bbox = [x1, y1, round(max(x2 - x1, 0.01), 2), round(max(y2 - y1, 0.01), 2)]
        return {"image_id": ids[row.document, row.page], "category_id": labels.index(row.label) + 1, "bbox": bbox}

    instances = {
        "images": [{"id": ids[page], "file_name": f"{ids[page]}.png", "width": 101, "height": 101, "doc": page[0],
                    "page": page[1]} for page in pages],
        "categories": [{"id": at + 1, "name": label} for at, label in enumerate(labels)],
        "annotations": [{"id": at + 1, "area": 1.5, "iscrowd": at % 9 // 8, **item(row)}
                        for at, row in enumerate(truth)],
    }  # fmt: skip
    paths = folder / "gt.json", folder / "dt.json"
    paths[0].write_text(json.dumps(instances))
    paths[1].write_text(json.dumps([{**item(row), "score": row.score} for row in predicted]))
    return paths


def shuffled(source: Annotations, seed: int) -> Annotations:
    """The same boxes in another order of rows; entries and positions keep naming the same objects."""
    return taken(source, np.random.default_rng(seed).permutation(len(source.boxes)))


def taken(source: Annotations, rows: IntArray) -> Annotations:
    """Some boxes, in the order of the rows; polygons are left out."""
    boxes = source.boxes
    columns = {name: column[rows] for name in boxes.__slots__ if isinstance(column := getattr(boxes, name), np.ndarray)}
    return replace(source, boxes=replace(boxes, **columns, ids=[boxes.ids[row] for row in rows], polygons={}))


def random_rows(seed: int, *, documents: int = 4, pages: int = 3, per_page: float = 3.0) -> tuple[list[Box], list[Box]]:
    """Ground-truth rows and predictions with every kind of mistake; no two IoUs are equal but 0.

    Coordinates are continuous, so that ties do not occur; scores have two decimals, so that thresholds on them
    do. Some boxes carry a label that is not in the label map.
    """
    rng = np.random.default_rng(seed)
    names, at_most = (*LABELS, "For review"), np.cumsum([0.4, 0.5, 0.1]).tolist()
    truth: list[Box] = []
    predicted: list[Box] = []

    def add(rows: list[Box], document: int, page: int, label: str, corners: list[float]) -> None:
        # Numbers of Python: a property asks for tens of thousands of these boxes.
        x1, y1, x2, y2 = (min(max(corner, 0.0), 1.0) for corner in corners)
        (x1, x2), (y1, y2) = sorted((x1, x2)), sorted((y1, y2))
        if x2 - x1 > 1e-3 and y2 - y1 > 1e-3:
            rows.append(Box(f"{document}.pdf", page, label, (x1, y1, x2, y2), round(rng.random(), 2)))

    for document, page in itertools.product(range(documents), range(pages)):
        for _ in range(rng.poisson(per_page)):
            label = names[bisect.bisect_right(at_most, rng.random())]
            corners = rng.random(4).tolist()
            add(truth, document, page, label, corners)
            (x1, x2), (y1, y2) = sorted(corners[::2]), sorted(corners[1::2])
            for spread in rng.integers(0, 3, size=rng.integers(0, 3)).tolist():
                flipped = label if rng.random() < 0.9 else names[rng.integers(0, 3)]
                off = rng.normal(0, (0.01, 0.03, 0.1)[spread], 4).tolist()
                moved = [at + by for at, by in zip((x1, y1, x2, y2), off, strict=True)]
                add(predicted, document, page, flipped, moved)
        for _ in range(rng.poisson(0.5)):
            add(predicted, document, page, names[rng.integers(0, 3)], rng.random(4).tolist())
    return truth, predicted


def plain_curve(curve: ScoreCurve) -> tuple[object, ...]:
    """Everything that a score curve holds, in plain values."""
    arrays = (curve.threshold, curve.tp, curve.predictions, curve.ground_truth)
    return curve.labels, *(array.tolist() for array in arrays)


def read_by_browser(value: Any) -> Any:
    """A payload, or some in a named tuple, as JavaScript reads it; fields that are left out have their defaults."""
    if isinstance(value, msgspec.Struct):
        # A named tuple inside of a payload is a list there.
        values = msgspec.structs.asdict(value).items()
        return {name: read_by_browser(list(each) if isinstance(each, tuple) else each) for name, each in values}
    if hasattr(value, "_asdict"):
        return {name: read_by_browser(each) for name, each in value._asdict().items()}
    if isinstance(value, dict):
        return {key: read_by_browser(each) for key, each in value.items()}
    return [read_by_browser(each) for each in value] if isinstance(value, list | tuple) else value


def posters(contents: Mapping[str, Any], name: str = "side") -> Posters:
    """Posters as their reader returns them."""
    made = {key: read_poster(json.dumps(value).encode(), f"{key}.json", key) for key, value in sorted(contents.items())}
    issues = tuple(issue for _, of_poster in made.values() for issue in of_poster)
    return Posters(name, "0" * 64, {key: poster for key, (poster, _) in made.items()}, {}, issues)


def field_documents(trees: Mapping[str, Any], name: str = "side.jsonl") -> FieldDocuments:
    """Documents of fields as their reader returns them."""
    lines = [json.dumps({"doc_id": doc_id, "fields": tree}) for doc_id, tree in trees.items()]
    return FORMAT.read("\n".join(lines).encode(), name) if lines else FieldDocuments(name, "0" * 64, None, {})


def write_items(path: Path, pages: Iterable[Mapping[str, Any]]) -> Path:
    """Pages of items, each with its ``items`` and what else a line of the format has; the pages of one document."""
    lines = [{"document": "a", "page": number, **page} for number, page in enumerate(pages)]
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n", encoding="utf-8")
    return path
