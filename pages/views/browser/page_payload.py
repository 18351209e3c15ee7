"""The pages of Pages as they are sent: what each shows, and what they have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec

from evaluator.components.payload import EmptyItem, LostText, ModelItem
from evaluator.components.viewer.listed_page import on_list
from evaluator.components.viewer.page_strip import strip, window
from evaluator.components.viewer.payload import (
    PageLayers,
    PagePayload,
    StripItem,
    WindowPayload,
    with_layers,
    without_page,
)
from evaluator.data.issues import cut, displayed
from evaluator.system.lru_cache import LRUCache
from pages.app import frame, page_list, pictures
from pages.app.results import result_key
from pages.app.session_files import LoadedBoxes, Model, Place
from pages.app.state import state
from pages.views.browser import page_listing
from pages.views.browser.page_listing import ListedPages
from pages.views.findings import findings

# What is drawn of pages, for all sessions.
_DRAWN: Final = LRUCache[object, tuple[PageLayers, LostText]](most=256)


def numbered_model(model: Model) -> ModelItem:
    """Return a model as the viewer knows it: by its number in the list of models."""
    return ModelItem(str(model.index + 1), displayed(model.name))


def empty_payload(loaded: LoadedBoxes, model: Model) -> PagePayload:
    """Return the viewer without a page."""
    nothing = EmptyItem("No page passes the filter.", "Clear filter")
    return without_page(numbered_model(model), [numbered_model(other) for other in loaded.models], nothing)


def payload(loaded: LoadedBoxes, model: Model, shown: ListedPages, place: Place, *, address: str) -> WindowPayload:
    """Return what the viewer draws of a page and the browser lacks; `address` leads back here."""
    name = _listing(loaded, model, shown)
    here = shown.pages.position(place.document, place.index)
    signature = frame.signature(loaded, [model])

    def place_at(at: int) -> Place:
        return Place(*shown.pages.at(at)) if at >= 0 else place

    def make(at: int) -> PagePayload:
        return _content(loaded, model, shown, place_at(at), of=name, signature=signature)

    def prepare(at: int) -> None:
        pictures.prepare_page(loaded, place_at(at))

    pages = page_list.PageList("page browser", name, len(shown.pages), -1 if here is None else here, make, prepare)
    content = make(pages.here)
    first, _ = window(here or 0, len(shown.pages))
    key = (name, first, pictures.pdf_listing(loaded.project.pdfs))
    return WindowPayload(
        **pages.window_fields(content),
        **page_list.strip_fields(key, lambda: _strip(loaded, shown, here)),
        strip_first=first,
        judged=page_listing.judged_on_pages(loaded, model, shown, first),
        reviewer=findings.author()[0],
        selected=page_listing.chosen_box(content.mistakes),
        address=address,
    )


def _strip(loaded: LoadedBoxes, shown: ListedPages, here: int | None) -> Sequence[StripItem]:
    bare = page_list.without_current(strip(shown.working.result, shown.pages, here).pages)
    ids = {cut(document.doc_id): document.doc_id for document in loaded.dataset.documents}
    return pictures.with_thumbnails(bare, lambda document: pictures.pages_of(loaded, ids[document]))


def _content(
    loaded: LoadedBoxes, model: Model, shown: ListedPages, place: Place, *, of: str, signature: str
) -> PagePayload:
    name = loaded.dataset.documents[loaded.dataset.document_code[place.document]].name
    picture, text = pictures.page_picture(loaded, place), page_listing.page_text(loaded, place)

    def draw() -> tuple[PageLayers, LostText]:
        layers, lost = page_listing.page_layers(loaded, shown, place, picture.points, text)
        return msgspec.structs.replace(layers, boxes=page_list.round_boxes(layers.boxes)), lost

    # The text of a slow page comes after its picture.
    drawn, lost = _DRAWN.get_or_make((of, place, picture.image, picture.points, text is None), draw)
    payload = page_listing.with_verdicts(loaded, model, place, with_layers(empty_payload(loaded, model), drawn))
    count = pictures.page_count(loaded, place.document)
    return msgspec.structs.replace(
        on_list(payload, shown.pages, (place.document, place.index), picture, lost, name=name, count=count),
        filtered=not shown.keep.all() or shown.asked is not None,
        signature=signature,
    )


def _listing(loaded: LoadedBoxes, model: Model, shown: ListedPages) -> str:
    said = hashlib.blake2b(shown.keep.tobytes(), digest_size=8).hexdigest() if shown.chosen.unjudged else ""
    poor = (state.poor_coverage, state.poor_purity) if page_listing.poor_match_options() is not None else None
    parts = (
        result_key(loaded, model),
        poor,
        shown.chosen,
        state.gallery_question,
        state.order,
        state.only,
        len(shown.pages),
        said,
    )
    return page_list.list_digest(*parts)
