"""A format that the program does not have, as somebody would add it: comma-separated boxes, one per line."""

from __future__ import annotations

import csv
import hashlib
import io

import numpy as np

from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.model.dataset import Annotations, Boxes, Document, Side
from evaluator.model.issues import BadInput, Collector, quote

HEAD = "document,page,label,x1,y1,x2,y2"


class Toy(BoxFormat):
    """Lines ``document,page,label,x1,y1,x2,y2`` with an optional ``score``, which makes them predictions."""

    name = "toy"
    title = "Toy boxes (CSV)"
    looks_for = f"the line {HEAD}"
    suffixes = (".csv",)

    def detect(self, head: bytes, name: str = "") -> bool:
        return head.startswith(HEAD.encode())

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        return "prediction" if content.startswith(f"{HEAD},score".encode()) else "ground_truth"

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        for line, row in enumerate(rows, start=2):
            if not float(row["x1"]) < float(row["x2"]):
                collector.error(f"line {line}", "x2 must be greater than x1 (toy)", quote(row["x2"]), "Correct it.")
        if collector.failed:
            raise BadInput(collector.issues())
        documents = list(dict.fromkeys(row["document"] for row in rows))
        labels = list(dict.fromkeys(row["label"] for row in rows))
        pages = list(dict.fromkeys((documents.index(row["document"]), int(row["page"])) for row in rows))
        entry = [pages.index((documents.index(row["document"]), int(row["page"]))) for row in rows]
        page_document = np.array([document for document, _ in pages], dtype=np.int32)
        page_index = np.array([page for _, page in pages], dtype=np.int64)
        return Annotations(
            name=name,
            sha256=hashlib.sha256(content).hexdigest(),
            format=self.name,
            side=reading.side or self.side_of(content) or "ground_truth",
            model=None,
            version=None,
            labels=tuple(labels),
            evaluated=len(labels),
            documents=tuple(Document(document, document) for document in documents),
            page_document=page_document,
            page_index=page_index,
            boxes=Boxes(
                document=page_document[entry],
                page=page_index[entry],
                label=np.array([labels.index(row["label"]) for row in rows], dtype=np.int32),
                xyxy=np.array([[float(row[key]) for key in ("x1", "y1", "x2", "y2")] for row in rows]).reshape(-1, 4),
                score=np.array([float(row.get("score") or "nan") for row in rows]),
                entry=np.array(entry, dtype=np.int32),
                position=np.arange(len(rows), dtype=np.int32),
                ids=[f"line {line}" for line in range(2, len(rows) + 2)],
            ),
        )
