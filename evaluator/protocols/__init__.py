"""The evaluation systems, one file each, and the table of them.

To add one: write its file with an ``evaluate`` whose result has ``table()`` and ``to_json()``, add a row here and say
in ``evaluation`` how its files are read; the terminal, the documentation test and, for a protocol that matches boxes,
the shared property tests find it by this table.
"""

from __future__ import annotations

from typing import NamedTuple

from evaluator.protocols import coco, fields, pixel, pod, posters, snapshot


class Protocol(NamedTuple):
    """One evaluation system.

    Attributes
    ----------
    name : str
        As on the command line.
    version : str
    title : str
        What people call it.
    matches_boxes : bool
        Whether it pairs the boxes of two `Annotations` one to one.
    """

    name: str
    version: str
    title: str
    matches_boxes: bool


PROTOCOLS = {
    snapshot.NAME: Protocol(snapshot.NAME, snapshot.VERSION, "Document Snapshot Detection", matches_boxes=True),
    pixel.NAME: Protocol(pixel.NAME, pixel.VERSION, "Multi-label pixel confusion", matches_boxes=False),
    pod.NAME: Protocol(pod.NAME, pod.VERSION, "ICDAR 2017 page object detection", matches_boxes=True),
    coco.NAME: Protocol(coco.NAME, coco.VERSION, "COCO detection", matches_boxes=True),
    fields.NAME: Protocol(fields.NAME, fields.VERSION, "Field bounding-box mAP", matches_boxes=False),
    posters.NAME: Protocol(posters.NAME, posters.VERSION, posters.TITLE, matches_boxes=False),
}
