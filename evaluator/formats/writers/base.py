"""What a writer is, all of them by name, and what they need of the columns: pages with boxes, image names, outlines.

A new one is one file with a function, and its name in `WRITERS`. Nothing is clamped: what a format cannot hold is left
out or refused, with a warning or an error that states how much. In formats of images a page of a document that has
several is its own image.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final, Literal, NamedTuple

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations
from evaluator.data.issues import Collector, Issue, count_of, refuse
from evaluator.formats.image_paths import page_name, page_of, stem_of
from evaluator.system.registry import Registry

HEAD: Final = 512
"""Bytes of a file that tell whether a writer wrote it."""
_IMAGES: Final = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp", ".gif")

Lack = Literal["boxless", "scores", "outlines", "documents", "crowds", "model"]


class WriteResult(NamedTuple):
    """Files by name (one for a format of single files), what was left out, and how many boxes they hold."""

    files: Mapping[str, bytes]
    warnings: tuple[Issue, ...]
    boxes: int


class Writer(NamedTuple):
    """How a format is written; name and title are those of its reader.

    `target`: what warnings call it. Boxes are written in its `unit`, None for that of the source; in pixels the size of
    every page is needed. `items`: it holds the order, text and tables of items.
    `lacks`: what it cannot hold, besides what `write` warns of; an error of the collector of `write` refuses all.
    `count_left_out`: how many boxes the format does not hold. `own_files`: which files of a folder it wrote earlier, by
    the first `HEAD` bytes of all by path; others are never deleted.
    """

    name: str
    title: str
    target: str
    folder: bool
    unit: Literal["pixels", "page"] | None
    lacks: tuple[Lack, ...]
    write: Callable[[Annotations, list[OutputPage], Collector], Mapping[str, bytes]]
    count_left_out: Callable[[Annotations], int] = lambda _: 0
    own_files: Callable[[Mapping[str, bytes]], Collection[str]] = lambda _: ()
    items: bool = False

    def convert(self, source: Annotations) -> WriteResult:
        """Return the files of some columns; `BadInput` when the format cannot hold them, as without sizes."""
        collector = Collector(source.name, max_per_rule=None)
        pages = _output_pages(source)
        if self.unit is not None and "pixels" in (self.unit, source.unit):
            _need_sizes(source, pages, self.target)
        bare = 0
        if "boxless" in self.lacks:
            boxed = ~np.isnan(source.boxes.xyxy[:, 0])
            bare = int((~boxed).sum())
            pages = [page._replace(rows=[row for row in page.rows if boxed[row]]) for page in pages] if bare else pages
        files = self.write(source, pages, collector)
        for lack in _LACKS:
            if lack in self.lacks and (said := _LACKS[lack](source, pages)):
                rule, found, fix = said
                collector.warning("", f"{self.target} {rule}", found, fix)
        return WriteResult(files, collector.issues(), len(source.boxes) - bare - self.count_left_out(source))


class OutputPage(NamedTuple):
    """One page: row of its document, number in that from 0, image name unique in the source.

    `size`: width and height as the source states it. `rows`: its boxes, in file order.
    """

    document: int
    number: int
    image: str
    size: tuple[float, float] | None
    rows: list[int]


def _output_pages(source: Annotations) -> list[OutputPage]:
    """Return every page once, in file order, with its boxes, also when it has several entries."""
    place: dict[tuple[int, int], int] = {}
    made: list[OutputPage] = []
    sizes = source.page_size
    several = _several(source)
    taken: set[str] = set()
    rows_of: list[list[int]] = [[] for _ in range(len(source.page_index))]
    for row, entry in enumerate(source.boxes.entry.tolist()):
        rows_of[entry].append(row)
    pages = zip(source.page_document.tolist(), source.page_index.tolist(), strict=True)
    for entry, (document, index) in enumerate(pages):
        if (document, index) in place:
            made[place[document, index]].rows.extend(rows_of[entry])
            continue
        size = None
        if sizes is not None and not np.isnan(sizes[entry]).any():
            size = (float(sizes[entry, 0]), float(sizes[entry, 1]))
        place[document, index] = len(made)
        made.append(OutputPage(document, index, _image(source, document, index, several, taken), size, rows_of[entry]))
    return made


def _several(source: Annotations) -> set[int]:
    pages = set(zip(source.page_document.tolist(), source.page_index.tolist(), strict=True))
    count = Counter(document for document, _ in pages)
    return {document for document, index in pages if index or count[document] > 1}


def _image(source: Annotations, document: int, index: int, several: set[int], taken: set[str]) -> str:
    of = source.documents[document]
    path = PurePosixPath((of.path or of.name or of.doc_id).replace("\\", "/"))
    if document not in several and path.suffix.lower() in _IMAGES:
        stem, ending = path.stem, path.suffix
    else:
        stem, ending = of.doc_id, ".png"
        if document in several or page_of(stem) or stem_of(f"{stem}{ending}") != stem:
            stem = page_name(stem, index)
    image = f"{stem}{ending}"
    again = 2
    while image.casefold() in taken:
        image, again = f"{stem}-{again}{ending}", again + 1
    taken.add(image.casefold())
    return image


def _need_sizes(source: Annotations, pages: list[OutputPage], target: str) -> None:
    without = [page for page in pages if page.size is None]
    if without:
        first = f"{source.documents[without[0].document].doc_id}, page {without[0].number + 1}"
        rule = f"{target} needs the width and height of every page"
        found = f"{len(without):,} of {len(pages):,} pages without, {first} first"
        refuse(source.name, "", rule, found, "Give the PDFs with --pdfs DIR, or one size for all with --page-size WxH.")


def scaled(source: Annotations, page: OutputPage, unit: str) -> Iterator[tuple[int, FloatArray]]:
    """Yield the boxes of a page, by row, with their corners in pixels or in shares of the page."""
    if source.unit == unit or not page.rows:
        factor = np.ones(4)
    else:
        assert page.size is not None
        size = np.array(page.size * 2)
        factor = size if unit == "pixels" else 1.0 / size
    for row in page.rows:
        yield row, source.boxes.xyxy[row] * factor


def rings_of(source: Annotations, page: OutputPage, row: int, unit: str) -> list[FloatArray]:
    """Return the outline of a box in pixels or in shares of the page; empty for a plain box."""
    rings = source.boxes.polygons.get(row, ())
    if source.unit == unit:
        return [np.asarray(ring) for ring in rings]
    assert page.size is not None
    factor = np.array(page.size) if unit == "pixels" else 1.0 / np.array(page.size)
    return [ring * factor for ring in rings]


def score_of(source: Annotations, row: int) -> float | None:
    """Return the score of a box; None for none."""
    score = float(source.boxes.score[row])
    return None if math.isnan(score) else score


def _no_boxless(source: Annotations, _pages: list[OutputPage]) -> tuple[str, str, str] | None:
    bare = int(np.isnan(source.boxes.xyxy[:, 0]).sum())
    return ("has no items without a box", f"{count_of(bare, 'item')} without", "They are left out.") if bare else None


def _no_scores(source: Annotations, _pages: list[OutputPage]) -> tuple[str, str, str] | None:
    scored = int((~np.isnan(source.boxes.score)).sum())
    return ("has no scores", f"{count_of(scored, 'box')} with one", "The scores are left out.") if scored else None


def _no_outlines(source: Annotations, _pages: list[OutputPage]) -> tuple[str, str, str] | None:
    outlines = f"{count_of(len(source.boxes.polygons), 'box')} with one"
    return ("has no outlines", outlines, "Their boxes alone are written.") if source.boxes.polygons else None


def _no_documents(source: Annotations, pages: list[OutputPage]) -> tuple[str, str, str] | None:
    several = _several(source)
    found = f"{len(several):,} documents with {sum(page.document in several for page in pages):,} pages"
    rule = "has images, no documents of several pages"
    return (rule, found, f"Each page is an image of its own, such as {pages[0].image}.") if several else None


def _no_crowds(source: Annotations, _pages: list[OutputPage]) -> tuple[str, str, str] | None:
    crowds = 0 if source.boxes.crowd is None else int(source.boxes.crowd.sum())
    rule = "has no regions of many objects (iscrowd)"
    return (rule, count_of(crowds, "box"), "They become plain boxes.") if crowds else None


def _no_model(source: Annotations, _pages: list[OutputPage]) -> tuple[str, str, str] | None:
    named = f"{source.model} {source.version or ''}".strip()
    return ("does not name a model", named, "The name is left out.") if source.model else None


_LACKS: Final[Mapping[Lack, Callable[[Annotations, list[OutputPage]], tuple[str, str, str] | None]]] = {
    "boxless": _no_boxless, "scores": _no_scores, "outlines": _no_outlines, "documents": _no_documents,
    "crowds": _no_crowds, "model": _no_model,
}  # fmt: skip
"""Rule, found and fix of what is lost, in the order of the warnings; None where nothing is."""

_NAMES: Final = ("snapshot", "coco", "yolo", "cvat", "label-studio", "page-xml", "omnidocbench", "items")
WRITERS: Final[Registry[Writer]] = Registry(
    {name: f"evaluator.formats.writers.{name.replace('-', '_')}:WRITER" for name in _NAMES}
)
"""Every format that can be written, by its name; imported when it is asked for."""


def writer_named(name: str) -> Writer | None:
    """Return the writer of a name, however it is spelled (``Label Studio``, ``label_studio``), or None."""
    folded = _folded(name)
    other = {"schema13": "snapshot", "datasnapshot13": "snapshot", "pagexml": "page-xml", "page": "page-xml"}
    return next((row for key, row in WRITERS.items() if _folded(key) == folded), WRITERS.get(other.get(folded, "")))


def _folded(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())
