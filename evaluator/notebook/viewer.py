"""The page viewer in a notebook: the pages of one model, the worst first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from evaluator.components.payload import ModelItem
from evaluator.components.source import component_script
from evaluator.components.viewer.listed_page import on_list
from evaluator.components.viewer.mistake_filter import page_list
from evaluator.components.viewer.page_overlay import lost_text, page_data
from evaluator.components.viewer.page_strip import strip
from evaluator.components.viewer.payload import GoEvent, PageEvents, PagePayload, with_layers, without_page
from evaluator.data.issues import displayed, whole
from evaluator.matching.box_results import AnyBoxResult
from evaluator.notebook.widget import HEIGHT, DocumentPages, PageWidget, row_of


class PageViewer(PageWidget[PageEvents]):
    """The pages of one model with its mistakes; `selected` is the row of the chosen box, as `boxes()` has it."""

    _esm = component_script("notebook_viewer")

    def __init__(self, name: str, result: AnyBoxResult, boxes: pa.Table, pdfs: Path | None, signature: str) -> None:
        super().__init__("notebook_viewer", PageEvents)
        dataset = result.matching.dataset
        self._result, self._boxes, self._signature = result, boxes, signature
        self._model = ModelItem("1", displayed(name))
        self._documents = DocumentPages(dataset, pdfs)
        self._pages = page_list(dataset, np.bincount(result.mistakes.page, minlength=dataset.pages))
        self._place: tuple[str, int] | None = self._pages.at(0) if len(self._pages) else None
        self._draw(None)

    def act(self, events: PageEvents) -> None:
        """Turn to a page, choose a box, or draw a page sharper."""
        if events.selected is not None:
            self.choose(events.selected.key)
        elif events.go is not None:
            self._turn(events.go)
        elif events.sharper is not None:
            self._documents.sharpen(events.sharper)
            self._draw(self._box)

    def _turn(self, go: GoEvent) -> None:
        document = whole(go.document, self._result.matching.dataset.document_code)
        on = self._pages.on_to_mistake if go.mistake else self._pages.on_from
        self._place = on(document, go.index, go.mistake or go.step) or self._place
        self._draw({1: "first", -1: "last"}.get(go.mistake))

    def _draw(self, box: str | None) -> None:
        """Show the page with a box; "first" and "last" are those of its mistakes."""
        payload = self._payload()
        self._keys = frozenset(each.key for each in payload.boxes)
        if box in ("first", "last"):
            keys = [each.keys[0] for each in payload.mistakes]
            box = (keys[0] if box == "first" else keys[-1]) if keys else None
        self.show(msgspec.structs.replace(payload, selected=box))
        self.choose(box)

    def rows(self, key: str) -> dict[str, Any]:
        """Return the row of a box."""
        return row_of(self._boxes, key)

    def _payload(self) -> PagePayload:
        empty = without_page(self._model, [self._model], None)
        if self._place is None:
            return msgspec.structs.replace(empty, height=HEIGHT)
        document, index = self._place
        picture, text = self._documents.picture(document, index), self._documents.text(document, index)
        row = self._result.matching.dataset.page_row(document, index)
        page = -1 if row is None else row
        drawn = page_data(self._result, page, page_points=picture.points, text=text, causes=self._result.causes)
        listed = strip(self._result, self._pages, self._pages.position(document, index))
        return msgspec.structs.replace(
            on_list(
                with_layers(empty, drawn),
                self._pages,
                self._place,
                picture,
                lost_text(self._result, page, text),
                name=self._documents.name(document),
                count=self._documents.count(document),
            ),
            strip=listed.pages,
            strip_first=listed.first,
            signature=self._signature,
            height=HEIGHT,
        )
