"""The comparison of two models in a notebook: the pages on which they differ, side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]

from evaluator.compare.changed_causes import changed_causes
from evaluator.compare.ledger import ledger
from evaluator.components.compare.listed_pair import ListedPair
from evaluator.components.compare.pair import PAGE_FILTERS
from evaluator.components.compare.payload import CompareEvents, ComparePayload
from evaluator.components.payload import EmptyItem, ModelItem, PageItem, with_notes
from evaluator.components.source import component_script
from evaluator.data.issues import cut, displayed, whole
from evaluator.matching.box_results import AnyBoxResult
from evaluator.notebook.widget import HEIGHT, DocumentPages, PageWidget, row_of

_LETTERS: Final = ("A", "B")


class ComparedPages(PageWidget[CompareEvents]):
    """The pages of two models beside each other.

    `selected` has the rows of the chosen box, as the `boxes()` of each model have it, under ``A`` and ``B``: both for a
    ground truth, one for a prediction.
    """

    _esm = component_script("notebook_compare")

    def __init__(
        self,
        names: tuple[str, str],
        results: tuple[AnyBoxResult, AnyBoxResult],
        boxes: tuple[pa.Table, pa.Table],
        pdfs: Path | None,
    ) -> None:
        super().__init__("notebook_compare", CompareEvents)
        a, b = (ModelItem(letter, displayed(name)) for letter, name in zip(_LETTERS, names, strict=True))
        both = ledger(*results)
        self._listed = ListedPair(
            results=results, models=(a, b), ledger=both, listed=both, causes=changed_causes(*results, both)
        )
        self._boxes, self._documents = boxes, DocumentPages(both.dataset, pdfs)
        self._mode = "side"
        self._list(show="changed", key="")
        self._draw()

    def act(self, events: CompareEvents) -> None:
        """List other pages, turn to one, choose a box, or draw a page sharper."""
        if events.selected is not None:
            self.choose(events.selected.key)
            return
        if events.mode is not None:
            self._mode = events.mode
            return
        if events.show in PAGE_FILTERS or events.clear_filter:
            self._list(show=events.show or "changed", key="")
        elif events.cause is not None:
            self._list(show="changed", key=events.cause)
        elif events.go is not None:
            document = whole(events.go.document, self._listed.ledger.dataset.document_code)
            self._place = self._listed.on_from(document, events.go.index, events.go.step)
        elif events.sharper is not None:
            self._documents.sharpen(events.sharper)
        else:
            return
        self._draw()

    def _list(self, *, show: str, key: str) -> None:
        self._listed = replace(self._listed, show=show, key=key)
        self._place = self._listed.at(0) if len(self._listed) else None

    def rows(self, key: str) -> dict[str, Any]:
        """Return the rows of a box by the letter of the model, both for a ground truth."""
        of = [letter for letter in _LETTERS if key[0] in ("g", letter.lower())]
        return {letter: row_of(self._boxes[_LETTERS.index(letter)], key) for letter in of}

    def _draw(self) -> None:
        payload = self._payload()
        self._keys = frozenset(box.key for pane in payload.panes for box in pane.boxes)
        if self._box not in self._keys:
            self.choose(None)
        self.show(msgspec.structs.replace(payload, selected=self._box))

    def _payload(self) -> ComparePayload:
        listed, place = self._listed, self._place
        position = 0 if place is None else listed.position(*place) or 0
        empty = ComparePayload(
            **msgspec.structs.asdict(listed.in_common(position)) | {"opens": ""},
            page=None,
            panes=(),
            differences=(),
            mode=self._mode,
            selected=None,
            summoned=False,
            visit="",
            empty=EmptyItem("No page passes the filter.", "Show every changed page"),
            height=HEIGHT,
        )
        if place is None:
            return empty
        picture = self._documents.picture(*place)
        drawn = listed.draw(*place, picture.points)
        page = PageItem(
            **msgspec.structs.asdict(with_notes(picture, drawn.notes)),
            document=cut(place[0]),
            index=place[1],
            position=position + 1,
            total=len(listed),
        )
        return msgspec.structs.replace(empty, page=page, panes=drawn.panes, differences=drawn.differences, empty=None)
