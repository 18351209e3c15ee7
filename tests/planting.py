"""Hypotheses of the doctor, planted: what a spoilt file looks like, for tests."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaluator.analysis.suspects.listing import LEAST_LISTED, Suspects, suspects
from evaluator.analysis.suspects.page_evidence import with_page_evidence
from evaluator.analysis.suspects.ranking import KINDS
from evaluator.data.boxes import FloatArray, intersection, iou
from evaluator.data.dataset import Annotations, Dataset, Document, join, map_labels
from evaluator.data.fixes import to_corners, written_numbers
from evaluator.formats.snapshot import ground_truth_file
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.review.apply_edits import Addition, apply_edits

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


def exchanged(order: Callable[[list[str]], list[str]]) -> Plant:
    """Labels that have the names of one another: those in a list under the names at the same places of another one."""

    def plant(source: Annotations) -> Annotations:
        names = list(source.labels)
        return map_labels(source, dict(zip(names, order(names), strict=True)))

    return plant


def confidence_second(source: Annotations) -> Annotations:
    """Lines of class, confidence, centre and size, as YOLO reads them, where the confidence is the last."""
    boxes = source.boxes
    numbers = written_numbers(boxes.xyxy, "yolo")
    read = to_corners(np.hstack([boxes.score[:, None], numbers[:, :3]]), "centre")
    boxes = replace(boxes, xyxy=read, score=numbers[:, 3].copy(), area=None, box_area=None, polygons={})
    return replace(source, format="yolo", boxes=boxes)


def on_part(plant: Plant, share: float) -> Plant:
    def partly(source: Annotations) -> Annotations:
        changed = plant(source)
        page = source.boxes.document.astype(np.int64) * 1_000_003 + source.boxes.page
        _, page = np.unique(page, return_inverse=True)
        spoilt_page = np.random.default_rng(0).permutation(page.max() + 1) < share * (page.max() + 1)
        rows = spoilt_page[page]
        names = [source.labels.index(label) for label in changed.labels]
        label = np.where(rows, np.array(names, dtype=np.int32)[changed.boxes.label], source.boxes.label)
        xyxy = np.where(rows[:, None], changed.boxes.xyxy, source.boxes.xyxy)
        return replace(
            source, boxes=replace(source.boxes, xyxy=xyxy, label=label, area=None, box_area=None, polygons={})
        )

    return partly


class PlantedError(NamedTuple):
    """An error of a ground truth: its kind, document and page, and the box as the file has it, or had it."""

    kind: str
    document: str
    page: int
    xyxy: tuple[float, float, float, float]


def ground_truth_errors(source: Annotations, seed: int, of_each: int = 5) -> tuple[Annotations, list[PlantedError]]:
    """A ground truth in shares of its pages with errors: boxes missing, extra, wrongly labelled and wrongly drawn."""
    rng, boxes = np.random.default_rng(seed), source.boxes
    chosen = rng.permutation(len(boxes))
    removed, relabelled, added, errors = np.zeros(len(boxes), dtype=bool), {}, [], []

    def note(kind: str, row: int, xyxy: FloatArray) -> tuple[float, float, float, float]:
        x1, y1, x2, y2 = xyxy.tolist()
        document = source.documents[boxes.document[row]].doc_id
        errors.append(PlantedError(kind, document, int(boxes.page[row]), (x1, y1, x2, y2)))
        return x1, y1, x2, y2

    def add(kind: str, row: int, xyxy: FloatArray) -> None:
        label = source.labels[boxes.label[row]]
        where = source.documents[boxes.document[row]], int(boxes.page[row])
        added.append(Addition(*where, label, note(kind, row, xyxy), f"{kind}{row:028d}"))

    for row in chosen[:of_each].tolist():
        removed[row] = True
        note("missing", row, boxes.xyxy[row])
    for row in chosen[of_each : 2 * of_each].tolist():
        others = [label for label in source.labels[: source.evaluated] if label != source.labels[boxes.label[row]]]
        relabelled[row] = others[rng.integers(len(others))]
        note("label", row, boxes.xyxy[row])
    for row in chosen[2 * of_each : 3 * of_each].tolist():
        removed[row] = True
        x1, y1, x2, y2 = boxes.xyxy[row].tolist()
        moved, axis = boxes.xyxy[row].copy(), int(rng.integers(2))
        # One side moves by a third to a half of the box, in or out.
        moved[2 + axis] += rng.choice([-1.0, 1.0]) * rng.uniform(0.33, 0.5) * ((x2 - x1), (y2 - y1))[axis]
        add("border", row, np.clip(moved, 0.0, 1.0))
    here = boxes.document.astype(np.int64) * 10_000 + boxes.page
    for row in chosen[3 * of_each :].tolist():
        if sum(error.kind == "extra" for error in errors) == of_each:
            break
        size = boxes.xyxy[row, 2:] - boxes.xyxy[row, :2]
        low = rng.uniform(0.05, np.maximum(0.95 - size, 0.051))
        new, others = np.concatenate([low, low + size]), boxes.xyxy[here == here[row]]
        # In a free place of its page.
        if not (intersection(np.broadcast_to(new, others.shape), others) > 0.1 * np.prod(size)).any():
            add("extra", row, new)
    spoilt, _ = apply_edits(
        source, removed=removed, relabelled=relabelled, added=added, marked=np.zeros(len(boxes), dtype=bool),
        labels=source.labels[: source.evaluated], reason="planted",
    )  # fmt: skip
    return spoilt, errors


def write_spoilt(folder: Path, dataset: Dataset, seed: int = 2) -> Path:
    truth, _ = ground_truth_errors(dataset.ground_truth.source, seed)
    path = folder / "ground_truth.json"
    path.write_bytes(ground_truth_file(truth, created_at="2026-01-01T00:00:00Z", notes={}))
    return path


class FoundErrors(NamedTuple):
    """Of 20 planted errors: how many suspects are listed and right, and how many errors they name, by kind."""

    listed: int
    right: int
    kinds: dict[str, int]
    planted: int


def listed_suspects(dataset: Dataset, pdfs: tuple[PdfFolder, PagePool] | None = None) -> Suspects:
    every = suspects(dataset)
    return (with_page_evidence(every, *pdfs) if pdfs else every).at_least(LEAST_LISTED)


def found_errors(dataset: Dataset, seed: int, pdfs: tuple[PdfFolder, PagePool] | None = None) -> FoundErrors:
    truth, errors = ground_truth_errors(dataset.ground_truth.source, seed)
    shown = listed_suspects(join(truth, *(side.source for side in dataset.predictions)), pdfs).to_list()
    at = {
        (row, place)
        for row, one in enumerate(shown)
        for place, error in enumerate(errors)
        if (one.document, one.page) == (error.document, error.page)
        and iou(np.array([one.bbox]), np.array([error.xyxy]))[0] >= 0.5
    }
    named = {place for _, place in at}
    kinds = {kind: sum(errors[place].kind == kind for place in named) for kind in KINDS}
    return FoundErrors(len(shown), len({row for row, _ in at}), kinds, len(errors))


def columns(*rows: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    return lambda xyxy: np.stack([row(xyxy.T) for row in rows], axis=1)


PLANTS: Mapping[str, Plant] = {
    "padding": named(lambda name: name.removeprefix("00")),
    "Unicode form": named(lambda name: unicodedata.normalize("NFD", name)),
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
    "labels one on": exchanged(lambda names: [*names[1:], names[0]]),
    "labels in the other order": exchanged(lambda names: names[::-1]),
    "two labels exchanged": labelled(lambda label: {"Text": "Table", "Table": "Text"}.get(label, label)),
    "confidence second": confidence_second,
}
"""Every kind of spoilt file by its name; of two the earlier in this table is planted first, units and forms last."""

NAMES_OF_BOTH: Mapping[str, Plant] = {
    "padding": named(lambda name: f"007-{name}"),
    "Unicode form": named(lambda name: f"\u00e9tude-{name}"),
}
"""What both files are called before names are spoilt that not every name shows: with a number, with an accent."""

IN_PART = (
    "bottom left", "swapped", "cropped", "double size", "xywh", "labels one on", "labels in the other order",
)  # fmt: skip
"""Those that `on_part` plants."""

# Lines of YOLO have no corners, and a height below 0 is refused when it is read.
NOT_TOGETHER = frozenset({frozenset({"confidence second", other}) for other in ("xywh", "bottom left, corners")})
"""Pairs that no file has."""

LATE = ("xywh", "percent", "thousandths", "points", "pixels", "double size", "other dpi", "confidence second")


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
