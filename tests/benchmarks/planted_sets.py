"""Sets of pages with a model's boxes on them, made from a seed, and files of them in which something is wrong.

What is wrong is planted in the prediction: on all pages or on some, and written as the tools write it that do so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from evaluator.data.boxes import BoolArray, FloatArray, IntArray, iou

KNOWN = (
    "Text", "Title", "Table", "Figure", "Caption", "List-item", "Formula", "Footnote", "Page-header", "Page-footer",
    "Section-header",
)  # fmt: skip
OTHERS = ("para", "head", "tab", "img", "legend", "bullet", "eq", "note", "top", "bottom", "chapter")
SIZES = ((1000, 1400), (1654, 2339), (595, 842), (842, 595), (1240, 1754), (800, 800))


class Rows(NamedTuple):
    """Boxes: page and label int64 (N,), corners in pixels float64 (N, 4), and scores float64 (N,)."""

    page: IntArray
    label: IntArray
    xyxy: FloatArray
    score: FloatArray

    def more(self, other: Rows) -> Rows:
        return Rows(*(np.concatenate(columns) for columns in zip(self, other, strict=True)))


@dataclass
class Files:
    """What is written: `truth` and `model` boxes on pages of `size`, float64 (P, 2).

    `frame`: the pages as the model has them, which may be turned. `spoilt`: those on which something is planted.
    `ids`, `categories`: what results state for each page and label.
    `names`: of labels, those of spoilt pages in `other_names`. `images`: file names. `stated`: sizes in the prediction.
    `form` and `shares`: of its numbers by page. `confidence`: its column. `in_shares`: all its
    numbers are shares.
    """

    rng: Generator
    format: str
    size: FloatArray
    frame: FloatArray
    labels: list[str]
    truth: Rows
    model: Rows
    spoilt: BoolArray
    images: list[str]
    ids: list[int | str]
    categories: list[int]
    names: list[str]
    other_names: list[str]
    stated: FloatArray
    form: list[str]
    shares: BoolArray
    confidence: list[str]
    in_shares: bool
    more: list[str] = field(default_factory=list)
    """Sentences that have to be said."""

    @property
    def rows(self) -> BoolArray:
        """Boxes of the model on pages on which something is planted."""
        return self.spoilt[self.model.page]


Plant = Callable[[Files], None]


class Kind(NamedTuple):
    """Something that is wrong, the formats in which it is written, and what it is about.

    `on_part`: it is planted on some pages only, too. `labels`: so many have to be there.
    """

    about: str
    formats: tuple[str, ...]
    plant: Plant
    on_part: bool = True
    labels: int = 1


# --- sets ------------------------------------------------------------------------------------------------------


def made(rng: Generator, format: str, *, labels: int = 1, bad: bool = False) -> Files:
    """A set of 3 to 60 pages, up to 11 labels and a model that finds 0.5 to 0.98 of the boxes; `bad`: 0.3 to 0.6."""
    pages, count = round(3.0 * 20.0 ** float(rng.random())), int(rng.integers(labels, 12))
    one = SIZES[rng.integers(len(SIZES))]
    size = np.array([one if rng.random() < 0.7 else SIZES[rng.integers(len(SIZES))] for _ in range(pages)], dtype=float)
    if rng.random() < 0.5:
        size[:] = one
    truth = _layout(rng, size, count)
    quality = float(rng.uniform(0.3, 0.6) if bad else rng.uniform(0.5, 0.98))
    model = _found(rng, size, truth, count, quality, bad=bad)
    images = _image_names(rng, pages)
    names = [KNOWN[at] for at in rng.permutation(len(KNOWN))[:count]]
    return Files(
        rng=rng, format=format, size=size, frame=size.copy(), labels=names, truth=truth, model=model,
        spoilt=np.ones(pages, dtype=bool),
        images=images, ids=list(range(1, pages + 1)), categories=list(range(1, count + 1)), names=list(names),
        other_names=list(names), stated=size.copy(), form=["own"] * pages, shares=np.zeros(pages, dtype=bool),
        confidence=["last"] * pages, in_shares=format == "yolo",
    )  # fmt: skip


def _layout(rng: Generator, size: FloatArray, labels: int) -> Rows:
    """Blocks one below the other in one to three columns, with gaps; a label is more frequent than the next one."""
    rows: list[tuple[int, int, list[float]]] = []
    often = 1.0 / np.arange(1, labels + 1)
    for page, (width, height) in enumerate(size):
        columns = int(rng.integers(1, 4))
        most = int(rng.integers(3, 16))
        for column in range(columns):
            x, y = (0.06 + column * 0.9 / columns), float(rng.uniform(0.03, 0.12))
            first = len(rows)
            while y < 0.9 and len(rows) - first < most / columns:
                down, across = float(rng.uniform(0.02, 0.2)), 0.85 / columns * float(rng.uniform(0.4, 1.0))
                left = x + float(rng.uniform(0.0, 0.85 / columns - across))
                corners = [left * width, y * height, (left + across) * width, min(y + down, 0.97) * height]
                rows.append((page, int(rng.choice(labels, p=often / often.sum())), corners))
                y += down + float(rng.uniform(0.01, 0.06))
    page, label, xyxy = (np.array(column) for column in zip(*rows, strict=True))
    return Rows(page, label, xyxy.astype(float), np.full(len(page), np.nan))


def _found(rng: Generator, size: FloatArray, truth: Rows, labels: int, quality: float, *, bad: bool) -> Rows:
    """Most boxes, a little off, some under another label, and some that are nowhere."""
    recall, precision = quality, quality
    if bad and rng.random() < 0.4:
        recall, precision = float(rng.uniform(0.6, 0.95)), float(rng.uniform(0.2, 0.4))
    kept = rng.random(len(truth.page)) < recall
    sides = np.tile(truth.xyxy[kept, 2:] - truth.xyxy[kept, :2], 2)
    xyxy = truth.xyxy[kept] + rng.normal(0.0, rng.uniform(0.003, 0.05), sides.shape) * sides
    label = truth.label[kept].copy()
    wrong = rng.random(len(label)) < 0.3 * (1.0 - quality)
    label[wrong] = rng.integers(0, labels, int(wrong.sum()))
    if bad and labels > 2 and rng.random() < 0.3:
        label[label == 1] = 0
    if bad and labels > 4 and rng.random() < 0.3:
        label[label >= 3] = rng.integers(0, 3)
    invented = int(kept.sum() * (1.0 - precision) / precision)
    page = rng.integers(0, len(size), invented)
    corner = rng.uniform(0.02, 0.8, (invented, 2))
    far = np.minimum(corner + rng.uniform(0.02, 0.4, (invented, 2)), 0.98)
    score = np.clip(rng.normal(0.8, 0.12, len(label)), 0.3, 0.999)
    of_page = np.tile(size[truth.page[kept]], 2)
    right = Rows(truth.page[kept], label, np.clip(xyxy, 0.0, of_page - 0.5), score)
    others = Rows(
        page, rng.integers(0, labels, invented), np.hstack([corner, far]) * np.tile(size[page], 2),
        np.clip(rng.normal(0.5, 0.2, invented), 0.05, 0.99),
    )  # fmt: skip
    model = right.more(others)
    order = np.argsort(model.page, kind="stable")
    return Rows(*(column[order] for column in model))


def _image_names(rng: Generator, pages: int) -> list[str]:
    """File names of images: texts, texts with numbers, numbers in another order than the ids."""
    way = rng.integers(4)
    if way == 0:
        return [f"report-{page // 4}_{'abcd'[page % 4]}.png" for page in range(pages)]
    if way == 1:
        return [f"scan_{page + 1:04d}.jpg" for page in range(pages)]
    if way == 2:
        return [f"{number + 1:04d}.png" for number in rng.permutation(pages)]
    return [f"{number}.png" for number in rng.permutation(10_000)[:pages] + 1000]


# --- what is wrong ---------------------------------------------------------------------------------------------


def moved(change: Callable[[FloatArray, FloatArray], FloatArray], *, turns: bool = False) -> Plant:
    """Corners in pixels, by the size that the page of each has for the model; `turns` exchanges its sides."""

    def plant(files: Files) -> None:
        rows, model = files.rows, files.model
        xyxy, page = model.xyxy.copy(), model.page[rows]
        # Shares of a page that was turned are of the page as it was read.
        unit, size = (files.size[page], np.ones((len(page), 2))) if files.in_shares else (1.0, files.frame[page])
        unit = np.tile(np.broadcast_to(unit, size.shape), 2)
        xyxy[rows] = change(xyxy[rows] / unit, size) * unit
        files.model = model._replace(xyxy=xyxy)
        if turns:
            files.frame[files.spoilt] = files.frame[files.spoilt, ::-1]

    return plant


def turned(quarters: int) -> Plant:
    """Boxes of a page that was turned counterclockwise before it was read."""

    def change(xyxy: FloatArray, size: FloatArray) -> FloatArray:
        for _ in range(quarters):
            x1, y1, x2, y2 = xyxy.T
            xyxy = np.stack([y1, size[:, 0] - x2, y2, size[:, 0] - x1], axis=1)
            size = size[:, ::-1]
        return xyxy

    return moved(change, turns=quarters % 2 == 1)


def from_below(xyxy: FloatArray, size: FloatArray) -> FloatArray:
    return np.stack([xyxy[:, 0], size[:, 1] - xyxy[:, 3], xyxy[:, 2], size[:, 1] - xyxy[:, 1]], axis=1)


def labels_under(order: Callable[[Generator, int], Sequence[int]]) -> Plant:
    """Labels under the names of one another."""

    def plant(files: Files) -> None:
        new = np.asarray(order(files.rng, len(files.labels)))
        files.model = files.model._replace(label=np.where(files.rows, new[files.model.label], files.model.label))

    return plant


def _another_order(rng: Generator, count: int) -> Sequence[int]:
    """No label is itself."""
    order = list(rng.permutation(count))
    return [order[(order.index(at) + 1) % count] for at in range(count)]


def in_place(files: Files) -> BoolArray:
    """Tell which boxes of the model lie on one of their label, as they are."""
    pairs = [files.model.page[:, None] == files.truth.page, files.model.label[:, None] == files.truth.label]
    on = iou(files.truth.xyxy, files.model.xyxy[:, None]) >= 0.5
    return np.asarray((on & pairs[0] & pairs[1]).any(axis=1))


def _two(rng: Generator, count: int) -> Sequence[int]:
    """The first two, which have most boxes."""
    return [1, 0, *range(2, count)]


def _by_name(files: Files) -> None:
    """Labels in alphabetical order under the ids of their own order."""
    places = sorted(range(len(files.labels)), key=lambda at: files.labels[at])
    labels_under(lambda _rng, _count: np.argsort(places).tolist())(files)


def named(names: Callable[[Files], list[str]]) -> Plant:
    """Labels under other names, each of which loses five boxes or more: a label is told by itself, fewer are none."""

    def plant(files: Files) -> None:
        lost = files.model.label[files.rows & in_place(files)]
        often = np.bincount(lost, minlength=len(files.labels)) >= 5
        files.other_names = [
            new if many else old for many, new, old in zip(often, names(files), files.names, strict=True)
        ]

    return plant


def stems(files: Files) -> None:
    """As Ultralytics writes them: a number where the stem is one."""
    names = [image.rsplit(".", 1)[0] for image in files.images]
    files.ids = [int(name) if name.isdecimal() else name for name in names]


def file_names(files: Files) -> None:
    files.ids = list(files.images)


def ids_by(offset: int) -> Plant:
    """Of a part: on the last pages, as after one that was left out."""

    def plant(files: Files) -> None:
        if not files.spoilt.all():
            files.spoilt = np.arange(len(files.spoilt)) >= len(files.spoilt) - files.spoilt.sum()
            # The page before them was left out, or there is none after the last one.
            without = len(files.ids) - 1 if offset > 0 else int(files.spoilt.argmax()) - 1
            files.model = Rows(*(column[files.model.page != without] for column in files.model))
        files.ids = [int(key) + offset * bool(off) for key, off in zip(files.ids, files.spoilt, strict=True)]

    return plant


def ids_exchanged(files: Files) -> None:
    """Of two to four pages, at most half where there are more than three."""
    count = min(int(files.rng.integers(2, 5)), max(2, len(files.ids) // 2))
    pages = files.rng.permutation(len(files.ids))[:count].tolist()
    taken = dict(zip(pages, [*pages[1:], pages[0]], strict=True))
    files.ids = [files.ids[taken.get(page, page)] for page in range(len(files.ids))]


def categories_by(offset: int) -> Plant:
    def plant(files: Files) -> None:
        files.categories = [key + offset for key in files.categories]

    return plant


def sizes_by(files: Files) -> None:
    """Pages at another scale, with the sizes that they have."""
    scale = np.where(files.spoilt, files.rng.choice([0.5, 0.72, 1.25, 2.0]), 1.0)
    if not files.in_shares:
        files.more.append("both files should state one size for a page")
    files.stated = np.round(files.size * scale[:, None])
    factor = files.stated / files.size
    files.model = files.model._replace(xyxy=files.model.xyxy * np.tile(factor[files.model.page], 2))


def form(name: str) -> Plant:
    def plant(files: Files) -> None:
        files.form = [name if off else old for off, old in zip(files.spoilt, files.form, strict=True)]

    return plant


def shares(files: Files) -> None:
    files.shares = files.spoilt.copy()


def confidence_second(files: Files) -> None:
    files.confidence = ["second" if off else "last" for off in files.spoilt]


def equal_scores(files: Files) -> None:
    files.model = files.model._replace(score=np.full(len(files.model.page), 0.9))
    files.more.append("average precision ranks by score, and the order of equal scores is that of the rows in the file")


def no_scores(files: Files) -> None:
    files.model = files.model._replace(score=np.full(len(files.model.page), np.nan))
    files.more.append("score")


def cut(files: Files) -> None:
    """More than a hundred boxes of a label on some pages, the least sure of all."""
    pages = files.rng.permutation(len(files.size))[: int(files.rng.integers(1, 4))]
    count = 110
    page = np.repeat(pages, count)
    corner = files.rng.uniform(0.0, 0.9, (len(page), 2))
    xyxy = np.hstack([corner, corner + 0.05]) * np.tile(files.size[page], 2)
    files.model = files.model.more(Rows(page, np.zeros(len(page), dtype=np.int64), xyxy, np.full(len(page), 0.01)
                                        - np.arange(len(page)) * 1e-6))  # fmt: skip
    files.more.append("the best 100 predictions of a page and label count (COCO)")


def nested(files: Files) -> None:
    """Each region in a container that the file states."""
    files.more.append("--level")


ALL = ("results", "instances", "yolo")
BY_NAME = ("instances", "yolo")
KINDS: Mapping[str, Kind] = {
    "image ids that are stems": Kind("identity", ("results",), stems, on_part=False),
    "image ids that are file names": Kind("identity", ("results",), file_names, on_part=False),
    "image ids one on": Kind("identity", ("results",), ids_by(1)),
    "image ids one back": Kind("identity", ("results",), ids_by(-1)),
    "category ids one on": Kind("labels", ("results",), categories_by(1), on_part=False),
    "category ids one back": Kind("labels", ("results",), categories_by(-1), on_part=False),
    "labels one on": Kind("labels", ALL, labels_under(lambda _, count: [*range(1, count), 0]), labels=2),
    "labels one back": Kind("labels", ALL, labels_under(lambda _, count: [count - 1, *range(count - 1)]), labels=2),
    "labels in alphabetical order": Kind("labels", ALL, _by_name, labels=2),
    "labels in any order": Kind("labels", ALL, labels_under(_another_order), labels=2),
    "two labels exchanged": Kind("labels", ALL, labels_under(_two), labels=2),
    "labels in capitals": Kind("labels", BY_NAME, named(lambda files: [name.upper() for name in files.labels])),
    "labels in snake case": Kind(
        "labels", BY_NAME, named(lambda files: [name.lower().replace("-", "_") for name in files.labels])
    ),
    "labels of other names": Kind(
        "labels", BY_NAME, named(lambda files: [OTHERS[KNOWN.index(name)] for name in files.labels])
    ),
    "turned by 90 degrees": Kind("geometry", ALL, turned(1)),
    "turned by 180 degrees": Kind("geometry", ALL, turned(2)),
    "turned by 270 degrees": Kind("geometry", ALL, turned(3)),
    "y from below": Kind("geometry", ALL, moved(from_below)),
    "x and y exchanged": Kind("geometry", ALL, moved(lambda xyxy, size: xyxy[:, [1, 0, 3, 2]], turns=True)),
    "half the resolution": Kind("scale", ("results", "instances"), moved(lambda xyxy, size: xyxy / 2.0)),
    "150 instead of 200 dpi": Kind("scale", ("results", "instances"), moved(lambda xyxy, size: xyxy * 0.75)),
    "sizes that differ": Kind("scale", ("instances",), sizes_by),
    "xyxy for xywh": Kind("form", ("results", "yolo"), form("xyxy")),
    "centre for corner": Kind("form", ("results",), form("centre")),
    "corner for centre": Kind("form", ("yolo",), form("xywh")),
    "shares for pixels": Kind("form", ("results", "instances"), shares),
    "confidence second": Kind("form", ("yolo",), confidence_second),
    "equal scores": Kind("said", ("results", "yolo"), equal_scores, on_part=False),
    "no scores": Kind("said", ("yolo",), no_scores, on_part=False),
    "cut at 100 a page": Kind("said", ("results", "yolo"), cut, on_part=False),
    "container and contents": Kind("said", ("page-xml",), nested, on_part=False),
    "shifted": Kind("scale", ALL, moved(lambda xyxy, size: xyxy + 0.08 * np.tile(size * [1.0, -1.0], 2))),
    "cropped": Kind("scale", ALL, moved(lambda xyxy, size: (xyxy - 0.1 * np.tile(size, 2)) / 0.8)),
    "image ids exchanged": Kind("identity", ("results",), ids_exchanged, on_part=False),
}  # fmt: skip


# --- files -----------------------------------------------------------------------------------------------------


def written(files: Files, folder: Path) -> tuple[Path, Path]:
    """A ground truth and a prediction on disk."""
    ours = {"results": _results, "instances": _instances, "yolo": _yolo, "page-xml": _page_xml}[files.format]
    return _truth(files, folder), ours(files, folder)


def _truth(files: Files, folder: Path) -> Path:
    boxes = files.truth
    truth = zip(boxes.page.tolist(), boxes.label.tolist(), boxes.xyxy, strict=True)
    rows = [
        {"id": at + 1, "image_id": page + 1, "category_id": label + 1, "bbox": _xywh(xyxy), "iscrowd": 0,
         "area": float(np.prod(xyxy[2:] - xyxy[:2]))}
        for at, (page, label, xyxy) in enumerate(truth)
    ]  # fmt: skip
    path = folder / "gt.json"
    path.write_text(json.dumps({"images": _images(files, files.size), "categories": _categories(files.labels),
                                "annotations": rows}))  # fmt: skip
    return path


def _images(files: Files, size: FloatArray) -> list[dict[str, Any]]:
    return [
        {"id": page + 1, "file_name": name, "width": int(width), "height": int(height)}
        for page, (name, (width, height)) in enumerate(zip(files.images, size.tolist(), strict=True))
    ]


def _categories(names: Sequence[str]) -> list[dict[str, Any]]:
    return [{"id": at + 1, "name": name} for at, name in enumerate(names)]


def _xywh(xyxy: FloatArray) -> list[float]:
    return [round(float(value), 4) for value in (*xyxy[:2], *(xyxy[2:] - xyxy[:2]))]


def _numbers(files: Files, own: str, unit: FloatArray) -> FloatArray:
    """The four numbers of each box of the model, in shares of `unit`, in the form of its page."""
    corners = files.model.xyxy / np.tile(unit[files.model.page], 2)
    sides, middle = corners[:, 2:] - corners[:, :2], (corners[:, 2:] + corners[:, :2]) / 2.0
    forms = {"xyxy": corners, "xywh": np.hstack([corners[:, :2], sides]), "centre": np.hstack([middle, sides])}
    of_page = [own if name == "own" else name for name in files.form]
    each = np.array([list(forms).index(name) for name in of_page])[files.model.page]
    return np.choose(each[:, None], list(forms.values()))


def _results(files: Files, folder: Path) -> Path:
    unit = np.where(files.shares[:, None], files.size, 1.0)
    numbers = _numbers(files, "xywh", unit).round(5).tolist()
    rows = [
        {"image_id": files.ids[page], "category_id": files.categories[label], "bbox": bbox, "score": round(score, 6)}
        for page, label, bbox, score in zip(
            files.model.page.tolist(), files.model.label.tolist(), numbers, files.model.score.tolist(), strict=True
        )
    ]
    path = folder / "results.json"
    path.write_text(json.dumps(rows))
    return path


def _all_names(files: Files) -> tuple[list[str], IntArray]:
    """Names of labels, and the place of that of each box among them."""
    names = list(dict.fromkeys([*files.names, *files.other_names]))
    places = np.array([[names.index(name) for name in each] for each in (files.names, files.other_names)])
    label = places[files.rows.astype(int), files.model.label]
    used = sorted(set(label.tolist()) | ({*places[0]} if not files.spoilt.all() else {*places[1]}))
    return [names[at] for at in used], np.searchsorted(used, label)


def _instances(files: Files, folder: Path) -> Path:
    unit = np.where(files.shares[:, None], files.size, 1.0)
    names, label = _all_names(files)
    numbers = _numbers(files, "xywh", unit).round(5).tolist()
    rows = [
        {"id": at + 1, "image_id": page + 1, "category_id": name + 1, "bbox": bbox, "score": round(score, 6),
         "iscrowd": 0, "area": bbox[2] * bbox[3]}
        for at, (page, name, bbox, score) in enumerate(
            zip(files.model.page.tolist(), label.tolist(), numbers, files.model.score.tolist(), strict=True)
        )
    ]  # fmt: skip
    path = folder / "pred.json"
    path.write_text(json.dumps({"images": _images(files, files.stated), "categories": _categories(names),
                                "annotations": rows}))  # fmt: skip
    return path


def _yolo(files: Files, folder: Path) -> Path:
    labels = folder / "dt" / "labels"
    labels.mkdir(parents=True)
    names, label = _all_names(files)
    (folder / "dt" / "data.yaml").write_text(f"names: {json.dumps(names)}\n")
    numbers, model = _numbers(files, "centre", files.size), files.model
    for page, image in enumerate(files.images):
        lines = []
        for row in np.flatnonzero(model.page == page).tolist():
            score = [] if np.isnan(model.score[row]) else [model.score[row]]
            columns = [*score, *numbers[row]] if files.confidence[page] == "second" else [*numbers[row], *score]
            lines.append(" ".join([str(label[row]), *(f"{value:.6f}" for value in columns)]))
        (labels / f"{image.rsplit('.', 1)[0]}.txt").write_text("\n".join(lines))
    return folder / "dt"


def _page_xml(files: Files, folder: Path) -> Path:
    """Each box as a region of text in a region that is a little larger; labels are the types of regions."""
    path = folder / "pages"
    path.mkdir()
    for page, (image, (width, height)) in enumerate(zip(files.images, files.size.tolist(), strict=True)):
        regions = []
        for row in np.flatnonzero(files.model.page == page).tolist():
            inner = files.model.xyxy[row]
            outer = inner + np.array([-0.15, -0.15, 0.15, 0.15]) * np.tile(inner[2:] - inner[:2], 2)
            kind = files.labels[files.model.label[row]]
            within = f'<TextRegion id="r{row}" custom="{kind}">{_coordinates(inner)}</TextRegion>'
            regions.append(f'<TableRegion id="t{row}">{_coordinates(np.maximum(outer, 0.0))}{within}</TableRegion>')
        (path / f"{image.rsplit('.', 1)[0]}.xml").write_text(
            '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page '
            f'imageFilename="{image}" imageWidth="{width:.0f}" imageHeight="{height:.0f}">{"".join(regions)}'
            "</Page></PcGts>"
        )
    return path


def _coordinates(xyxy: FloatArray) -> str:
    x1, y1, x2, y2 = np.round(xyxy).astype(int).tolist()
    return f'<Coords points="{x1},{y1} {x2},{y1} {x2},{y2} {x1},{y2}"/>'
