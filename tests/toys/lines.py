"""A format of one file: a line of text for each box, ``document page label x1 y1 x2 y2 [score]``, as shares.

The first line says what the file is: ``# boxes ground_truth`` or ``# boxes prediction``.
"""

from __future__ import annotations

import hashlib

import numpy as np

from evaluator.formats.base import ANY_SIDE, BoxFormat, Reading
from evaluator.model.dataset import Annotations, Boxes, Document, Side
from evaluator.model.issues import BadInput, Collector

_SIDES: dict[bytes, Side] = {b"# boxes ground_truth": "ground_truth", b"# boxes prediction": "prediction"}


class Lines(BoxFormat):
    """The format."""

    name = "lines"
    title = "Boxes as lines of text"
    looks_for = "a first line with # boxes"
    suffixes = (".boxes",)

    def detect(self, head: bytes, name: str = "") -> bool:
        return head.startswith(b"# boxes ")

    def side_of(self, content: bytes, name: str = "") -> Side | None:
        return _SIDES.get(content.split(b"\n", 1)[0].strip())

    def read(self, content: bytes, name: str, reading: Reading = ANY_SIDE) -> Annotations:
        collector = Collector(name, max_per_rule=reading.max_per_rule)
        rows: list[tuple[int, list[str]]] = []
        for number, line in enumerate(content.decode().splitlines()[1:], start=2):
            if len(words := line.split()) in (7, 8):
                rows.append((number, words))
            elif words:
                collector.error(f"line {number}", "a line must have 7 or 8 words", line, "Write one box a line.")
        if collector.failed:
            raise BadInput(collector.issues())
        return _columns(name, content, self.side_of(content) or "prediction", rows)

    def place_in_file(self, source: Annotations, row: int) -> str:
        return f"line {source.boxes.ids[row]}"


def _columns(name: str, content: bytes, side: Side, rows: list[tuple[int, list[str]]]) -> Annotations:
    """The columns of some lines, one page entry for each box."""
    documents = tuple(dict.fromkeys(words[0] for _, words in rows))
    labels = tuple(dict.fromkeys(words[2] for _, words in rows))
    document = np.array([documents.index(words[0]) for _, words in rows], dtype=np.int32)
    page = np.array([int(words[1]) for _, words in rows], dtype=np.int64)
    scores = [float(words[7]) if len(words) == 8 and side == "prediction" else np.nan for _, words in rows]
    boxes = Boxes(
        document=document,
        page=page,
        label=np.array([labels.index(words[2]) for _, words in rows], dtype=np.int32),
        xyxy=np.array([[float(word) for word in words[3:7]] for _, words in rows]).reshape(-1, 4),
        score=np.array(scores),
        entry=np.arange(len(rows), dtype=np.int32),
        position=np.zeros(len(rows), dtype=np.int32),
        ids=[str(number) for number, _ in rows],
    )
    return Annotations(
        name=name,
        sha256=hashlib.sha256(content).hexdigest(),
        format="lines",
        side=side,
        model=None,
        version=None,
        labels=labels,
        evaluated=len(labels),
        documents=tuple(Document(doc_id=doc, name=doc) for doc in documents),
        page_document=document,
        page_index=page,
        boxes=boxes,
    )
