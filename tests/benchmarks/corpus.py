"""Seeded corpora of any size, as columns: the same boxes for the same numpy and the same number of pages.

Two kinds. `snap_like` has Figures and Tables as in reports: boxes on less than half of the pages, a third of
the page wide or more, and a model that invents about one box a page. `dln_like` has eleven labels as in
annotated scientific and business pages: one or two columns of boxes that do not overlap, 13.7 on average, and a
model that shifts, misses, splits, doubles and renames them. Documents have 20 pages; coordinates are normalised.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Annotations, Boxes, Document, Side

PAGES_PER_DOCUMENT = 20
SNAP_LABELS = ("Figure", "Table")
DLN_LABELS = (
    "Caption", "Footnote", "Formula", "List-item", "Page-footer", "Page-header",
    "Picture", "Section-header", "Table", "Text", "Title",
)  # fmt: skip
_DLN_SHARE = np.array([2.0, 0.6, 2.3, 17.2, 6.5, 5.1, 4.2, 12.6, 3.2, 45.8, 0.5]) / 100
# Typical height of a box in units of the page, and how much it varies (log scale).
_DLN_HEIGHT = np.array([18, 22, 28, 26, 12, 12, 180, 16, 160, 48, 30]) / 1025
_DLN_SPREAD = np.array([0.5, 0.5, 0.5, 0.6, 0.25, 0.25, 0.7, 0.25, 0.7, 0.8, 0.5])

Columns = tuple[IntArray, IntArray, FloatArray]
"""Page, label and corners of each box."""


def snap_like(pages: int) -> tuple[Annotations, Annotations]:
    """Ground truth and predictions of Figures and Tables; about 0.5 and 1.5 boxes a page."""
    rng = np.random.default_rng(1301)
    count = np.where(rng.random(pages) < 0.456, rng.choice([1, 2, 3], pages, p=[0.877, 0.107, 0.016]), 0)
    page = np.repeat(np.arange(pages), count)
    label = (rng.random(len(page)) < 0.876).astype(np.int64)
    width = np.where(label == 1, rng.triangular(0.4, 0.85, 0.9, len(page)), rng.triangular(0.2, 0.7, 0.95, len(page)))
    height = np.where(label == 1, rng.gamma(2.2, 0.12, len(page)), rng.gamma(1.8, 0.2, len(page))).clip(0.04, 0.85)
    corner = rng.random((len(page), 2)) * (1.0 - np.column_stack([width, height]))
    truth = page, label, np.hstack([corner, corner + np.column_stack([width, height])])
    mistaken = _mistaken(rng, truth, labels=2, missed=0.14, flipped=0.03, doubled=0.04, split=0.0)
    invented = _invented(rng, pages, per_page=0.93, share=np.array([0.124, 0.876]))
    return _sides(truth, [*mistaken, invented], SNAP_LABELS, pages, rng)


def dln_like(pages: int, *, seed: int = 1302) -> tuple[Annotations, Annotations]:
    """Ground truth and predictions of eleven labels; about 13.7 and 15.7 boxes a page."""
    rng = np.random.default_rng(seed)
    count = np.maximum(rng.poisson(rng.gamma(3.0, 13.7 / 3.0, pages)), 1)
    page = np.repeat(np.arange(pages), count)
    label = rng.choice(len(DLN_LABELS), len(page), p=_DLN_SHARE / _DLN_SHARE.sum())
    two_columns = (rng.random(pages) < 0.45)[page]
    column = np.where(two_columns, rng.integers(0, 2, len(page)), 0)
    order = np.lexsort((column, page))
    page, label, two_columns, column = page[order], label[order], two_columns[order], column[order]
    height = _DLN_HEIGHT[label] * np.exp(rng.normal(0.0, 1.0, len(page)) * _DLN_SPREAD[label])
    y1, y2 = _stacked(page * 2 + column, height, rng.exponential(0.01, len(page)) + 0.002)
    room = np.where(two_columns, 0.436, 0.9)
    width = room * rng.uniform(0.45, 1.0, len(page))
    x1 = np.where(column == 1, 0.516, 0.05) + rng.uniform(0.0, 0.3, len(page)) * (room - width)
    truth = page, label, np.column_stack([x1, y1, x1 + width, y2])
    mistaken = _mistaken(rng, truth, labels=len(DLN_LABELS), missed=0.08, flipped=0.04, doubled=0.05, split=0.02)
    invented = _invented(rng, pages, per_page=2.0, share=_DLN_SHARE / _DLN_SHARE.sum())
    return _sides(truth, [*mistaken, invented], DLN_LABELS, pages, rng)


def _stacked(stack: IntArray, height: FloatArray, gap: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Upper and lower edges of boxes that are below each other in their stack, shrunk where they would not fit."""
    starts = np.flatnonzero(np.diff(stack, prepend=-1))
    members = np.diff(np.append(starts, len(stack)))
    bottom = np.cumsum(height + gap)
    above = np.repeat(np.append(0.0, bottom)[starts], members)
    total = np.repeat(np.append(0.0, bottom)[starts + members], members) - above
    fit = np.minimum(1.0, 0.92 / total)
    return 0.04 + (bottom - height - above) * fit, 0.04 + (bottom - above) * fit


def _mistaken(
    rng: np.random.Generator,
    truth: Columns,
    *,
    labels: int,
    missed: float,
    flipped: float,
    doubled: float,
    split: float,
) -> list[Columns]:
    """What a model makes of the ground truth: shifted copies, some under a wrong label, doubled or cut in two."""
    page, label, xyxy = truth
    size = (xyxy[:, 2:] - xyxy[:, :2])[:, [0, 1, 0, 1]]
    kept = np.flatnonzero(rng.random(len(page)) > missed)
    spread = np.where(rng.random(len(kept)) < 0.06, 0.16, 0.025)[:, None]
    seen_label = np.where(rng.random(len(kept)) < flipped, rng.integers(0, labels, len(kept)), label[kept])
    parts = [(page[kept], seen_label, xyxy[kept] + rng.normal(size=(len(kept), 4)) * spread * size[kept])]
    twice = np.flatnonzero(rng.random(len(page)) < doubled)
    parts.append((page[twice], label[twice], xyxy[twice] + rng.normal(size=(len(twice), 4)) * 0.06 * size[twice]))
    cut = np.flatnonzero(rng.random(len(page)) < split)
    middle = xyxy[cut][:, [1, 3]].mean(axis=1)
    for edge in (1, 3):
        half = xyxy[cut].copy()
        half[:, edge] = middle
        parts.append((page[cut], label[cut], half))
    return parts


def _invented(rng: np.random.Generator, pages: int, *, per_page: float, share: FloatArray) -> Columns:
    """Boxes where nothing is."""
    page = np.repeat(np.arange(pages), rng.poisson(per_page, pages))
    size = np.column_stack([rng.uniform(0.05, 0.6, len(page)), rng.uniform(0.01, 0.2, len(page))])
    corner = rng.random((len(page), 2)) * (1.0 - size)
    return page, rng.choice(len(share), len(page), p=share), np.hstack([corner, corner + size])


def _sides(
    truth: Columns, parts: list[Columns], labels: tuple[str, ...], pages: int, rng: np.random.Generator
) -> tuple[Annotations, Annotations]:
    """Both sides as a reader returns them; the predictions of a page in random order."""
    page, label, xyxy = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    xyxy = np.clip(xyxy, 0.0, 1.0)
    valid = np.flatnonzero((xyxy[:, 2:] - xyxy[:, :2] > 1e-3).all(axis=1))
    order = valid[np.lexsort((rng.random(len(valid)), page[valid]))]
    score = rng.beta(3.0, 1.5, len(order))
    nothing = np.full(len(truth[0]), np.nan)
    return (
        annotations(truth, nothing, labels, pages, "ground_truth"),
        annotations((page[order], label[order], xyxy[order]), score, labels, pages, "prediction"),
    )


def annotations(
    columns: Columns,
    score: FloatArray,
    labels: tuple[str, ...],
    pages: int,
    side: Side,
    *,
    pages_per_document: int = PAGES_PER_DOCUMENT,
) -> Annotations:
    """One side as a reader returns it, its boxes in the order of pages."""
    page, label, xyxy = columns
    every = np.arange(pages)
    documents = [f"{index:06d}.pdf" for index in range(-(-pages // pages_per_document))]
    first_of_page = np.searchsorted(page, page, side="left")
    boxes = Boxes(
        document=(page // pages_per_document).astype(np.int32),
        page=page % pages_per_document,
        label=label.astype(np.int32),
        xyxy=np.ascontiguousarray(xyxy),
        score=score,
        entry=page.astype(np.int32),
        position=(np.arange(len(page)) - first_of_page).astype(np.int32),
        ids=[str(index) for index in range(len(page))],
    )
    return Annotations(
        name=f"{side}.json", sha256="", format="snapshot", side=side, model=None, version=None, labels=labels,
        evaluated=len(labels), documents=tuple(Document(name, name) for name in documents),
        page_document=(every // pages_per_document).astype(np.int32), page_index=every % pages_per_document,
        boxes=boxes, label_map={str(index): name for index, name in enumerate(labels, 1)},
        page_ids=[f"{documents[index // pages_per_document]}::p{index % pages_per_document:03d}" for index in every],
    )  # fmt: skip


def write_pair(folder: Path, pages: int, at_once: int = 20_000) -> tuple[Path, Path]:
    """Write instances and results of so many pages; those that are written at once are the same again and again."""
    paths = folder / "truth.json", folder / "model.json"
    with paths[0].open("w") as truth, paths[1].open("w") as model:
        images = (
            {"id": page, "file_name": f"{page}.png", "width": 1025, "height": 1025, "doc": f"{page // 20:06d}.pdf"}
            for page in range(1, pages + 1)
        )
        categories = [{"id": at + 1, "name": label} for at, label in enumerate(DLN_LABELS)]
        truth.write('{"images": [' + ", ".join(map(json.dumps, images)) + "], ")
        truth.write(f'"categories": {json.dumps(categories)}, "annotations": [')
        model.write("[")
        written = 0
        for start in range(0, pages, at_once):
            sides = dln_like(min(at_once, pages - start))
            for file, source, scored in zip((truth, model), sides, (False, True), strict=True):
                rows = list(_items(source, start, written, scored=scored))
                file.write((", " if start else "") + ", ".join(map(json.dumps, rows)))
            written += len(sides[0].boxes)
        truth.write("]}")
        model.write("]")
    return paths


def _items(source: Annotations, start: int, written: int, *, scored: bool) -> Iterator[dict[str, Any]]:
    boxes = source.boxes
    xyxy: FloatArray = np.round(boxes.xyxy * 1025, 2)
    xywh = np.round(np.hstack([xyxy[:, :2], xyxy[:, 2:] - xyxy[:, :2]]), 2).tolist()
    columns = zip(boxes.entry.tolist(), boxes.label.tolist(), xywh, boxes.score.tolist(), strict=True)
    for row, (page, label, bbox, score) in enumerate(columns):
        item = {"image_id": start + page + 1, "category_id": label + 1, "bbox": bbox}
        more = {"score": round(score, 6)}
        if not scored:
            more = {"id": written + row + 1, "area": bbox[2] * bbox[3], "iscrowd": 0}
        yield {**item, **more}
