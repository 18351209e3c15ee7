"""A component of the browser as a widget: what it sends is checked, its pages are drawn by the renderer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from evaluator.components.gallery.crops import data_url
from evaluator.components.page_picture import SHARPEST_WIDTH, page_text, picture_item, problem_item, shown_image
from evaluator.components.payload import Events, Payload, PictureItem, plain_payload, read_events
from evaluator.components.source import component_style
from evaluator.components.viewer.payload import SharperEvent
from evaluator.components.viewer.text_lost import PageText
from evaluator.data.dataset import Dataset, parse_box_key
from evaluator.pdf.folder import PageFile, PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem

try:
    import anywidget
    import traitlets
except ModuleNotFoundError:
    needs = 'A widget of a notebook needs anywidget: run uv pip install -e ".[notebook]" in the clone.'
    raise ModuleNotFoundError(needs) from None

HEIGHT: Final = 640
"""Pixels of a widget."""

E = TypeVar("E", bound=Events)


@cache
def _renderer() -> PagePool:
    """Return the renderer of this process, for all widgets."""
    return PagePool(spares=1)


class DocumentPages:
    """Pages of a dataset, named by the id of their document and their index, as pictures and words."""

    def __init__(self, dataset: Dataset, pdfs: Path | None) -> None:
        self._dataset, self._folder = dataset, None if pdfs is None else PdfFolder(pdfs)
        self._sharper: SharperEvent | None = None

    def name(self, document: str) -> str:
        """Return the name of a document."""
        return self._dataset.documents[self._dataset.document_code[document]].name

    def sharpen(self, wanted: SharperEvent) -> None:
        """Note that a page is zoomed beyond its picture."""
        self._sharper = wanted

    def picture(self, document: str, index: int) -> PictureItem:
        """Return the picture of a page, as sharp as the zoom needs, or why there is none."""
        wanted = self._sharper
        zoomed = wanted is not None and (wanted.document, wanted.index) == (document, index)
        width = min(wanted.width, SHARPEST_WIDTH) if zoomed and wanted else None
        try:
            image = shown_image(_renderer(), *self._file(document, index), width=width)
        except PageProblem as problem:
            shown = problem_item(problem)
            if problem.kind != "no_folder" or shown.problem is None:
                return shown
            fix = 'Name the folder: evaluator.open(..., pdfs="FOLDER").'
            return msgspec.structs.replace(shown, problem=msgspec.structs.replace(shown.problem, fix=fix))
        return picture_item(image, data_url(image.jpeg))

    def text(self, document: str, index: int) -> PageText | None:
        """Return the words of a page, or its ink where it has none; None when it cannot be read."""
        try:
            return page_text(_renderer(), self._file(document, index))
        except PageProblem:
            return None

    def count(self, document: str) -> int | None:
        """Return the pages of the file of a document; None when it cannot be opened."""
        try:
            return _renderer().describe(self._file(document, 0).path).page_count or None
        except PageProblem:
            return None

    def _file(self, document: str, index: int) -> PageFile:
        name = self.name(document)
        if self._folder is None:
            raise PageProblem("no_folder", document=name)
        return self._folder.find_page(name, index, self._dataset.page_images)


class PageWidget(anywidget.AnyWidget, Generic[E]):
    """A component of the browser; a subclass has its script as `_esm` and answers with `show`.

    `selected` is what is chosen in it, None for nothing; `_keys` are the boxes that it draws, `_box` is the chosen one.
    """

    styles = traitlets.Unicode().tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    selected = traitlets.Instance(dict, allow_none=True)

    def __init__(self, files: str, kind: type[E]) -> None:
        self._kind = kind
        self._keys: frozenset[str] = frozenset()
        self._box: str | None = None
        super().__init__(styles=component_style(files))
        self.on_msg(self._receive)

    def _receive(self, _: object, content: Mapping[str, Any], __: object) -> None:
        self.act(read_events({str(content.get("name")): content.get("value")}, self._kind))

    def act(self, events: E) -> None:
        """Do what the reader asked for."""
        raise NotImplementedError

    def rows(self, key: str) -> dict[str, Any]:
        """Return what `selected` is for a box."""
        raise NotImplementedError

    def choose(self, key: str | None) -> None:
        """Choose a box that is drawn; none for any other key."""
        self._box = key if key in self._keys else None
        self.selected = None if self._box is None else self.rows(self._box)

    def show(self, payload: Payload) -> None:
        """Send what the component draws."""
        self.data = plain_payload(payload)


def row_of(boxes: pa.Table, key: str) -> dict[str, Any]:
    """Return the row of a box, by its key, in a table of `ModelResult.boxes_table`."""
    side, row = parse_box_key(key)
    of_side = boxes.filter(pc.field("side") == side)
    values: dict[str, Any] = of_side.slice(row, 1).to_pylist()[0]
    return values
