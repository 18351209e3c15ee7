"""The pages of the view Fields as they are sent: what each shows, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import streamlit as st

from evaluator.drawing import fields as overlay
from evaluator.drawing import page_window
from evaluator.drawing.page_strip import window
from evaluator.drawing.page_window import PackedBoxes
from evaluator.drawing.payloads import (
    PackedItem,
    PageLayers,
    PagePayload,
    PictureItem,
    PlacedItem,
    StripItem,
    ViewedPageItem,
    WalkItem,
    WindowPayload,
    with_layers,
    with_notes,
)
from evaluator.model.issues import cut, displayed
from evaluator.system.recent import Recent
from pages.shared import pictures
from pages.shared import window as turned
from pages.shared.fields import results as choices
from pages.shared.fields import verdicts as field_findings
from pages.shared.opened import Place
from pages.shared.state import state

_KEPT_PAGES: Final = 256


@st.cache_resource(show_spinner=False)
def _drawn() -> Recent[object, tuple[PageLayers, PackedBoxes]]:
    """What is drawn of pages, and their boxes as they are sent, for all sessions."""
    return Recent(most=_KEPT_PAGES)


def payload(
    compared: choices.Compared,
    model: choices.FieldModel,
    shown: choices.Listed,
    place: tuple[int, int],
    bare: PagePayload,
    *,
    address: str,
    build: bool,
) -> WindowPayload:
    """What the viewer draws of a page, and what the browser lacks of the pages around it.

    Parameters
    ----------
    place : (int, int)
        Document code and page.
    bare : PagePayload
        The viewer without a page.
    address : str
        The query that leads back here.
    build : bool
        See `window.placed_around`.
    """
    listing = _Pages(compared, model, shown, bare)
    pages = listing.around(place)
    here = pages.here or 0
    with turned.passing(build=build):
        whole, boxes = listing.content(here)
        made = listing.made(here, whole, boxes)
    first, last = window(here, len(shown.order), choices.STRIP_PAGES)
    root = compared.opened.project.pdfs
    key = (pages.listing, first, pictures.pdf_listing(root))
    strip_name, strips = turned.strip_of(key, lambda: listing.strip(first, last), build=build)
    around, contents = turned.placed_around(pages, made, build=build)
    listed = [key for mistake in whole.mistakes for key in mistake.keys[:1]]
    return WindowPayload(
        shown=made.placed,
        around=around,
        listing=pages.listing,
        contents=contents,
        strip=strip_name,
        strip_first=first,
        strips=strips,
        turn=state.viewer_turn,
        selected=choices.chosen_box(listed, [box.key for box in whole.boxes]),
        address=address,
        visit=bare.visit,
    )


def prepare(
    compared: choices.Compared,
    model: choices.FieldModel,
    shown: choices.Listed,
    place: tuple[int, int],
    bare: PagePayload,
) -> None:
    """Have the pages around a page rendered in the background."""
    turned.prepare(_Pages(compared, model, shown, bare).around(place))


class _Pages:
    """The pages of the list."""

    def __init__(
        self, compared: choices.Compared, model: choices.FieldModel, shown: choices.Listed, bare: PagePayload
    ) -> None:
        self._model, self._shown, self._bare = model, shown, bare
        self._root = compared.opened.project.pdfs
        self._unit = choices.unit(model)
        self._kept = choices.kept_in_list(shown)
        self._listing = turned.name_of_list(
            model.key, bare.model, bare.models, state.field_iou, choices.number(), state.field_within, self._unit
        )
        self._total = sum(shown.counts.values())

    def around(self, place: tuple[int, int]) -> turned.Pages[PackedItem]:
        """Those around a page."""
        return turned.Pages(
            listing=self._listing,
            total=len(self._shown.order),
            here=self._shown.order.index(place),
            make=lambda at: self.made(at, *self.content(at)),
            next_with=lambda at, step: choices.next_with(self._shown, at, step),
            preparation=lambda at: [pictures.preparation_of(self._root, *self._place(at))],
        )

    def strip(self, first: int, last: int) -> Sequence[StripItem]:
        """The strip of some pages, for all pages in it."""
        pages = overlay.strip(
            self._model.result, self._model.pages, self._shown.order[first:last], -1, counts=self._shown.counts
        )
        names = {cut(name): name for name in self._model.result.compared.documents}
        return pictures.with_thumbnails(pages, self._root, names.__getitem__)

    def content(self, at: int) -> tuple[PagePayload, PackedBoxes]:
        """Everything that a page shows, without strip and chosen box, and its boxes as they are sent."""
        document, index = self._place(at)
        code, _ = self._shown.order[at]
        picture = self._picture(at)
        key = (self._listing, code, index, picture.points)
        paper = overlay.Paper(code, index, picture.points, self._unit)
        result, iou = self._model.result, state.field_iou

        def made() -> tuple[PageLayers, PackedBoxes]:
            layers = overlay.page_data(result, self._model.pages, paper, iou=iou, kept=self._kept)
            return layers, page_window.packed_boxes(layers.boxes)

        drawn, boxes = _drawn().get_or_make(key, made)
        payload = field_findings.on_page(self._model, document, with_layers(self._bare, drawn))
        before, after = (choices.next_with(self._shown, at, step) for step in (-1, 1))
        whole = msgspec.structs.replace(
            payload,
            page=ViewedPageItem(
                **msgspec.structs.asdict(with_notes(picture, drawn.notes)),
                document=cut(document),
                name=displayed(document),
                index=index,
                count=pictures.pages_of(self._root, document),
                position=at + 1,
                total=len(self._shown.order),
            ),
            walk=WalkItem(
                before=before is not None,
                after=after is not None,
                total=self._total,
                previous=0 if before is None else before + 1,
                next=0 if after is None else after + 1,
            ),
            empty=None,
        )
        return whole, boxes

    def made(self, at: int, payload: PagePayload, boxes: PackedBoxes) -> turned.Made[PackedItem]:
        """One page, packed and named."""
        document, index = self._place(at)
        content, picture = page_window.packed(payload, boxes), self._picture(at)
        placed = PlacedItem(
            document=cut(document),
            index=index,
            position=at + 1,
            content=page_window.name_of(content),
            image=picture.image,
            image_width=picture.image_width,
            said=page_window.said(payload),
        )
        return turned.Made(placed, content)

    def _place(self, at: int) -> tuple[str, int]:
        """Document and page from 0."""
        code, index = self._shown.order[at]
        return self._model.result.compared.documents[code], index

    def _picture(self, at: int) -> PictureItem:
        document, index = self._place(at)
        return pictures.zoomed_picture(self._root, document, Place(document, index))
