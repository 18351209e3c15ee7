"""The pages of the Page browser as they are sent: what each shows, and what they have in common."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec
import streamlit as st

from evaluator.drawing import page_window
from evaluator.drawing.page_strip import strip, window
from evaluator.drawing.page_window import PackedBoxes
from evaluator.drawing.payloads import (
    EmptyItem,
    LostText,
    ModelItem,
    PackedItem,
    PageLayers,
    PagePayload,
    PictureItem,
    PlacedItem,
    StripItem,
    ViewedPageItem,
    WindowPayload,
    with_layers,
    with_notes,
    without_page,
)
from evaluator.drawing.text_lost import PageText
from evaluator.model.issues import cut, displayed
from evaluator.pdf.folder import PageFile
from evaluator.pdf.problems import PageProblem
from evaluator.system.recent import Recent
from pages.shared import frame, pictures
from pages.shared import window as turned
from pages.shared.browser import listing
from pages.shared.browser.listing import Listed
from pages.shared.findings import log as findings
from pages.shared.opened import Model, OpenedBoxes, Place
from pages.shared.results import result_key
from pages.shared.state import state

_KEPT_PAGES: Final = 256


class _Sheet(NamedTuple):
    """What is known of a page besides its boxes.

    Attributes
    ----------
    image : str or None
        The address of its picture.
    points : tuple of float, or None
        Its size.
    text : PageText or None
    """

    image: str | None
    points: tuple[float, float] | None
    text: PageText | None


@st.cache_resource(show_spinner=False)
def _drawn() -> Recent[object, tuple[PageLayers, LostText, PackedBoxes]]:
    """What is drawn of pages, and their boxes as they are sent, for all sessions."""
    return Recent(most=_KEPT_PAGES)


def numbered(model: Model) -> ModelItem:
    """A model as the viewer knows it: by its number in the list of models."""
    return ModelItem(str(model.index + 1), displayed(model.name))


def nothing_shown(loaded: OpenedBoxes, model: Model) -> PagePayload:
    """The viewer without a page."""
    nothing = EmptyItem("No page passes the filter.", "Clear filter")
    return without_page(numbered(model), [numbered(other) for other in loaded.models], nothing)


def payload(
    loaded: OpenedBoxes, model: Model, shown: Listed, place: Place, *, address: str, build: bool
) -> WindowPayload:
    """What the viewer draws of a page, and what the browser lacks of the pages around it.

    Parameters
    ----------
    address : str
        The query that leads back here.
    build : bool
        See `window.placed_around`.
    """
    pages = _pages(loaded, model, shown, place)
    with turned.passing(build=build):
        picture = pictures.page_picture(loaded, place)
        payload, boxes = _content(loaded, model, shown, place, picture)
    made = _made(shown, place, payload, boxes, picture)
    first, _ = window(pages.here or 0, len(shown.pages))
    key = (pages.listing, first, pictures.pdf_listing(loaded.project.pdfs))
    strip_name, strips = turned.strip_of(key, lambda: _strip(loaded, shown, pages.here), build=build)
    around, contents = turned.placed_around(pages, made, build=build)
    return WindowPayload(
        shown=made.placed,
        around=around,
        listing=pages.listing,
        contents=contents,
        strip=strip_name,
        strip_first=first,
        strips=strips,
        turn=state.viewer_turn,
        selected=listing.chosen_box(payload.mistakes),
        address=address,
    )


def prepare(loaded: OpenedBoxes, model: Model, shown: Listed, place: Place) -> None:
    """Have the pages around a page rendered in the background."""
    turned.prepare(_pages(loaded, model, shown, place))


def _pages(loaded: OpenedBoxes, model: Model, shown: Listed, place: Place) -> turned.Pages[PackedItem]:
    """The pages of the list."""

    def make(at: int) -> turned.Made[PackedItem]:
        there = Place(*shown.pages.at(at))
        picture = pictures.page_picture(loaded, there)
        return _made(shown, there, *_content(loaded, model, shown, there, picture), picture)

    def preparation(at: int) -> Iterator[Callable[[], object] | None]:
        there = Place(*shown.pages.at(at))
        yield pictures.preparation_on(loaded, there)
        yield findings.preparation_on(loaded, model, there)
        page = None
        with contextlib.suppress(PageProblem):
            page = pictures.page_file(loaded, there.document, there.index)
        yield partial(_draw_ahead, loaded, shown, there, name, page)

    name = _listing(loaded, model, shown)
    return turned.Pages(
        listing=name,
        total=len(shown.pages),
        here=shown.pages.position(place.document, place.index),
        make=make,
        next_with=shown.pages.with_mistakes,
        preparation=preparation,
    )


def _strip(loaded: OpenedBoxes, shown: Listed, here: int | None) -> Sequence[StripItem]:
    """A strip for all pages in it."""
    bare = page_window.without_current(strip(shown.working.result, shown.pages, here).pages)
    dataset = loaded.dataset
    names = {cut(document.doc_id): document.name for document in dataset.documents}
    return pictures.with_thumbnails(bare, loaded.project.pdfs, lambda document: names[document], dataset.page_images)


def _made(
    shown: Listed, place: Place, payload: PagePayload, boxes: PackedBoxes, picture: PictureItem
) -> turned.Made[PackedItem]:
    """One page, packed and named."""
    content = page_window.packed(payload, boxes)
    position = shown.pages.position(place.document, place.index)
    placed = PlacedItem(
        document=cut(place.document),
        index=place.index,
        position=0 if position is None else position + 1,
        content=page_window.name_of(content),
        image=picture.image,
        image_width=picture.image_width,
        said=page_window.said(payload),
    )
    return turned.Made(placed, content)


def _content(
    loaded: OpenedBoxes, model: Model, shown: Listed, place: Place, picture: PictureItem
) -> tuple[PagePayload, PackedBoxes]:
    """Everything that a page shows, without strip and chosen box, and its boxes as they are sent."""
    position = shown.pages.position(place.document, place.index)
    name = loaded.dataset.documents[loaded.dataset.document_code[place.document]].name
    sheet = _Sheet(picture.image, picture.points, listing.page_text(loaded, place))
    drawn, lost, boxes = _drawn_on(loaded, shown, place, _listing(loaded, model, shown), sheet)
    payload = listing.with_verdicts(loaded, model, place, with_layers(nothing_shown(loaded, model), drawn))
    whole = msgspec.structs.replace(
        payload,
        page=ViewedPageItem(
            **msgspec.structs.asdict(with_notes(picture, drawn.notes)),
            **msgspec.structs.asdict(lost),
            document=cut(place.document),
            name=displayed(name),
            index=place.index,
            count=pictures.page_count(loaded, place.document),
            position=0 if position is None else position + 1,
            total=len(shown.pages),
        ),
        walk=listing.walk(shown, position),
        filtered=not shown.keep.all(),
        signature=frame.signature(loaded, [model]),
        empty=None,
    )
    return whole, boxes


def _drawn_on(
    loaded: OpenedBoxes, shown: Listed, place: Place, of: str, sheet: _Sheet
) -> tuple[PageLayers, LostText, PackedBoxes]:
    """What is drawn of a page of the list of some name, and its boxes as they are sent."""

    def made() -> tuple[PageLayers, LostText, PackedBoxes]:
        layers, lost = listing.drawn(loaded, shown, place, sheet.points, sheet.text)
        return layers, lost, page_window.packed_boxes(layers.boxes)

    # The text of a slow page comes after its picture.
    return _drawn().get_or_make((of, place, sheet.image, sheet.points, sheet.text is None), made)


def _draw_ahead(loaded: OpenedBoxes, shown: Listed, place: Place, of: str, page: PageFile | None) -> None:
    """Have ready what is drawn of a page before it is shown, in a thread without a session."""
    sheet = _Sheet(None, None, None)
    if page is not None:
        try:
            picture = pictures.drawn_when_fetched(page)
        except PageProblem:
            # It has no size yet, or none at all: then it is drawn when it is shown.
            return
        sheet = _Sheet(picture.image, picture.points, listing.text_of(page))
    _drawn_on(loaded, shown, place, of, sheet)


def _listing(loaded: OpenedBoxes, model: Model, shown: Listed) -> str:
    """What decides which pages are listed and what they show, as one name."""
    said = hashlib.blake2b(shown.keep.tobytes(), digest_size=8).hexdigest() if shown.chosen.unjudged else ""
    poor = (state.poor_coverage, state.poor_purity) if listing.options() is not None else None
    parts = (result_key(loaded, model), poor, shown.chosen, state.order, state.only, len(shown.pages), said)
    return turned.name_of_list(*parts)
