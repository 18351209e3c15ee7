"""Files of the same pages in several formats, for the tables of further cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

LABELS = ("Text", "Title", "Table")
Box = tuple[str, float, float, float, float]


class Page(NamedTuple):
    """A page by its image, with boxes in its pixels."""

    name: str
    boxes: Sequence[Box]
    width: float = 1000
    height: float = 1400

    def times(self, factor: float) -> Page:
        """Return the page at another resolution."""
        boxes = [(label, *(factor * edge for edge in box)) for label, *box in self.boxes]
        return Page(self.name, boxes, factor * self.width, factor * self.height)  # type: ignore[arg-type]


def pages(*names: str) -> list[Page]:
    """Return pages of five boxes, each at places that those of the others do not have."""
    made = []
    for page, name in enumerate(names, 1):
        boxes: list[Box] = []
        for at in range(5):
            x, y = 40 + (37 * page * (at + 1) + 53 * at) % 430, 30 + at * 260 + (41 * page) % 120
            boxes.append((LABELS[(at + page) % 3], x, y, x + 300 + 11 * at, y + 70 + 9 * ((page + at) % 5)))
        made.append(Page(name, boxes))
    return made


def write(folder: Path, files: dict[str, Any]) -> None:
    """Write files by name: text, or values as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), "utf-8")


def each(made: Iterable[Page], content: Callable[[Page], Any], ending: str, folder: str = "pred") -> dict[str, Any]:
    """Return a file for each page, named by its image, in a folder."""
    return {f"{folder}/{page.name.replace('/', '_').rpartition('.')[0]}{ending}": content(page) for page in made}


def tree(made: Iterable[Page], content: Callable[[Page], Any], ending: str, folder: str = "pred") -> dict[str, Any]:
    """Return a file for each page, in the folders of its image."""
    return {f"{folder}/{page.name.rpartition('.')[0]}{ending}": content(page) for page in made}


def coco(made: Sequence[Page], name: Callable[[str], str] = str) -> dict[str, Any]:
    """Return COCO instances with scores, which a ground truth does not use."""
    images = [
        {"id": at, "file_name": name(page.name), "width": page.width, "height": page.height}
        for at, page in enumerate(made, 1)
    ]
    rows = results(made, range(1, len(made) + 1))
    rows = [{**row, "id": at, "area": row["bbox"][2] * row["bbox"][3], "iscrowd": 0} for at, row in enumerate(rows, 1)]
    categories = [{"id": at, "name": label} for at, label in enumerate(LABELS, 1)]
    return {"images": images, "annotations": rows, "categories": categories}


def results(made: Sequence[Page], ids: Sequence[Any], **stated: Callable[[str], Any]) -> list[dict[str, Any]]:
    """Return COCO results with these ids of images, and what else is stated of the image of each."""
    rows: list[dict[str, Any]] = []
    for key, page in zip(ids, made, strict=True):
        more = {name: made_of(page.name) for name, made_of in stated.items()}
        for label, x1, y1, x2, y2 in page.boxes:
            box = {"category_id": 1 + LABELS.index(label), "bbox": [x1, y1, x2 - x1, y2 - y1]}
            rows.append({"image_id": key, **box, "score": round(0.99 - len(rows) / 1000, 4), **more})
    return rows


def voc(page: Page, head: str = "", *, sized: bool = True) -> str:
    """Return Pascal VOC; `head` in place of the name of the image."""
    objects = "".join(
        f"<object><name>{label}</name><score>0.9</score><bndbox><xmin>{x1}</xmin><ymin>{y1}</ymin><xmax>{x2}</xmax>"
        f"<ymax>{y2}</ymax></bndbox></object>"
        for label, x1, y1, x2, y2 in page.boxes
    )
    size = f"<size><width>{page.width}</width><height>{page.height}</height></size>" if sized else ""
    return f"<annotation>{head or f'<filename>{page.name}</filename>'}{size}{objects}</annotation>"


def paddle(page: Page, **more: Any) -> dict[str, Any]:
    """Return a result of PP-DocLayout."""
    boxes = [{"label": label, "score": 0.9, "coordinate": box} for label, *box in page.boxes]
    return {"input_path": page.name, "boxes": boxes, **more}


def size_of(page: Page) -> dict[str, float]:
    """Return the size of a page as most formats have it."""
    return {"width": page.width, "height": page.height}
