"""Hypotheses of the doctor, planted: what a spoilt file looks like, for tests."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations, Document, map_labels

Plant = Callable[[Annotations], Annotations]
ALIASES = {"Text": "paragraph", "Figure": "image", "Table": "tabular", "Caption": "legend"}


def moved(change: Callable[[FloatArray], FloatArray]) -> Plant:
    """Corners changed."""

    def plant(source: Annotations) -> Annotations:
        boxes = replace(source.boxes, xyxy=change(source.boxes.xyxy.copy()), area=None, box_area=None, polygons={})
        return replace(source, boxes=boxes)

    return plant


def named(change: Callable[[str], str]) -> Plant:
    """Documents under other names."""
    return lambda source: replace(
        source, documents=tuple(Document(change(each.doc_id), change(each.name)) for each in source.documents)
    )


def paged(offset: int) -> Plant:
    """Pages counted from elsewhere."""
    return lambda source: replace(
        source, page_index=source.page_index + offset, boxes=replace(source.boxes, page=source.boxes.page + offset)
    )


def labelled(change: Callable[[str], str]) -> Plant:
    """Labels under other names."""
    return lambda source: map_labels(source, {label: change(label) for label in source.labels})


def columns(*rows: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    return lambda xyxy: np.stack([row(xyxy.T) for row in rows], axis=1)


PLANTS: Mapping[str, Plant] = {
    "padding": named(lambda name: name.removeprefix("00")),
    "Unicode form": named(lambda name: unicodedata.normalize("NFD", name)),
    "ending": named(lambda name: name.rsplit(".", 1)[0]),
    "case": named(str.upper),
    "prefix": named(lambda name: f"run7_{name}"),
    "suffix": named(lambda name: re.sub(r"(\.\w+)?$", r"_v2\1", name, count=1)),
    "folder": named(lambda name: f"data/pdf/{name}"),
    "one page on": paged(1),
    "three pages on": paged(3),
    "percent": moved(lambda xyxy: xyxy * 100.0),
    "thousandths": moved(lambda xyxy: xyxy * 1000.0),
    "points": moved(lambda xyxy: xyxy * np.array([595.3, 841.9] * 2)),
    "pixels": moved(lambda xyxy: xyxy * np.array([1654.0, 2339.0] * 2)),
    "bottom left": moved(columns(lambda c: c[0], lambda c: 1 - c[3], lambda c: c[2], lambda c: 1 - c[1])),
    "bottom left, corners": moved(columns(lambda c: c[0], lambda c: 1 - c[1], lambda c: c[2], lambda c: 1 - c[3])),
    "swapped": moved(lambda xyxy: xyxy[:, [1, 0, 3, 2]]),
    "cropped": moved(lambda xyxy: xyxy + np.array([0.08, 0.05] * 2)),
    "margins": moved(lambda xyxy: (xyxy - 0.1) / 0.8),
    "double size": moved(lambda xyxy: xyxy * 2.0),
    "other dpi": moved(lambda xyxy: xyxy * 0.48),
    "xywh": moved(columns(lambda c: c[0], lambda c: c[1], lambda c: c[2] - c[0], lambda c: c[3] - c[1])),
    "labels in capitals": labelled(str.upper),
    "labels in snake case": labelled(lambda label: label.lower().replace("-", "_")),
    "aliases": labelled(lambda label: ALIASES.get(label, label)),
}
"""Every kind of spoilt file by its name; of two the earlier in this table is planted first, units and forms last."""

NAMES_OF_BOTH: Mapping[str, Plant] = {
    "padding": named(lambda name: f"007-{name}"),
    "Unicode form": named(lambda name: f"\u00e9tude-{name}"),
}
"""What both files are called before names are spoilt that not every name shows: with a number, with an accent."""

LATE = ("xywh", "percent", "thousandths", "points", "pixels", "double size", "other dpi")


def spoilt(truth: Annotations, prediction: Annotations, *names: str) -> tuple[Annotations, Annotations]:
    """A ground truth, and a prediction spoilt in several ways."""
    # The number comes first, so that its zeros can be taken away.
    for name in ("Unicode form", "padding"):
        if name in names:
            truth, prediction = NAMES_OF_BOTH[name](truth), NAMES_OF_BOTH[name](prediction)
    every = list(PLANTS)
    for name in sorted(names, key=lambda name: (name in LATE[1:], name in LATE, every.index(name))):
        prediction = PLANTS[name](prediction)
    return truth, prediction
