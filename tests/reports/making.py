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


def named(page: Page, ending: str = "") -> str:
    """Return the name of the image of a page, without its folders."""
    return page.name.rpartition("/")[2] + ending


def cvat(made: Sequence[Page], head: Callable[[Page], str]) -> str:
    """Return CVAT for images with an ``<image>`` of these attributes for each page."""
    images = "".join(
        f'<image id="{at}" width="{page.width}" height="{page.height}" {head(page)}>'
        + "".join(
            f'<box label="{label}" xtl="{x1}" ytl="{y1}" xbr="{x2}" ybr="{y2}"/>'
            for label, x1, y1, x2, y2 in page.boxes
        )
        + "</image>"
        for at, page in enumerate(made)
    )
    return f"<annotations><version>1.1</version><meta/>{images}</annotations>"


def alto(page: Page, image: str = "", body: str = "") -> str:
    """Return ALTO with blocks of a TYPE, or another body."""
    blocks = body or "".join(
        f'<TextBlock ID="b{at}" HPOS="{x1}" VPOS="{y1}" WIDTH="{x2 - x1}" HEIGHT="{y2 - y1}" TYPE="{label}"/>'
        for at, (label, x1, y1, x2, y2) in enumerate(page.boxes)
    )
    return (
        f"<alto><Description><MeasurementUnit>pixel</MeasurementUnit><sourceImageInformation><fileName>"
        f"{image or page.name}</fileName></sourceImageInformation></Description><Layout><Page WIDTH="
        f'"{page.width}" HEIGHT="{page.height}"><PrintSpace>{blocks}</PrintSpace></Page></Layout></alto>'
    )


def docling(*made: Page, name: str = "") -> dict[str, Any]:
    """Return a DoclingDocument, named by the image of its first page or otherwise."""
    texts = [
        {"label": label, "prov": [{"page_no": at, "bbox": {"l": x1, "t": y1, "r": x2, "b": y2}}]}
        for at, page in enumerate(made, 1) for label, x1, y1, x2, y2 in page.boxes
    ]  # fmt: skip
    pages = {str(at): {"size": size_of(page), "page_no": at} for at, page in enumerate(made, 1)}
    return {"schema_name": "DoclingDocument", "name": name or named(made[0]), "texts": texts, "pages": pages}


def omnidocbench(made: Sequence[Page]) -> list[dict[str, Any]]:
    """Return a ground truth of OmniDocBench."""
    return [
        {
            "page_info": {"page_no": at, "image_path": page.name, **size_of(page)},
            "layout_dets": [{"category_type": label, "bbox": box} for label, *box in page.boxes],
        }
        for at, page in enumerate(made)
    ]


def unstructured(made: Sequence[Page]) -> list[dict[str, Any]]:
    """Return elements of images in several directories."""
    return [
        {
            "type": label,
            "element_id": "0",
            "metadata": {
                "filename": named(page),
                "file_directory": f"in/{page.name.partition('/')[0]}",
                "coordinates": {
                    "points": [[x1, y1], [x1, y2], [x2, y2], [x2, y1]],
                    "system": "PixelSpace",
                    "layout_width": page.width,
                    "layout_height": page.height,
                },
            },
        }
        for page in made
        for label, x1, y1, x2, y2 in page.boxes
    ]


def label_studio(made: Sequence[Page]) -> list[dict[str, Any]]:
    """Return a task of which the pages are the images."""
    regions = [
        {
            "id": "r",
            "type": "rectanglelabels",
            "item_index": at,
            "original_width": page.width,
            "original_height": page.height,
            "value": {
                "x": x1 / page.width * 100,
                "y": y1 / page.height * 100,
                "width": (x2 - x1) / page.width * 100,
                "height": (y2 - y1) / page.height * 100,
                "rectanglelabels": [label],
            },
        }
        for at, page in enumerate(made)
        for label, x1, y1, x2, y2 in page.boxes
    ]
    urls = [f"/data/local-files/?d={page.name.replace(' ', '%20')}" for page in made]
    return [{"id": 1, "data": {"pages": urls}, "annotations": [{"id": 1, "result": regions}]}]


def yolo(page: Page) -> str:
    """Return lines of YOLO with a confidence."""
    return "".join(
        f"{LABELS.index(label)} {(x1 + x2) / 2 / page.width} {(y1 + y2) / 2 / page.height} "
        f"{(x2 - x1) / page.width} {(y2 - y1) / page.height} 0.9\n"
        for label, x1, y1, x2, y2 in page.boxes
    )
