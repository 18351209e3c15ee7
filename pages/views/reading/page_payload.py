"""The pages of the view Reading as they are sent: what each shows, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from evaluator.components.payload import ViewedPageItem, with_notes
from evaluator.components.viewer import reading
from evaluator.components.viewer.page_strip import window
from evaluator.components.viewer.payload import (
    PageLayers,
    PagePayload,
    StripItem,
    WindowPayload,
    walk_item,
    with_layers,
)
from evaluator.components.viewer.reading import ListedPages
from evaluator.data.issues import cut, displayed
from evaluator.system.lru_cache import LRUCache
from pages.app import page_list, pictures
from pages.app.session_files import Model, Place
from pages.app.state import state
from pages.views.browser.page_payload import empty_payload
from pages.views.findings import findings
from pages.views.reading import item_verdicts, reading_results
from pages.views.reading.reading_results import Reading

# What is drawn of pages, for all sessions.
_DRAWN: Final = LRUCache[object, PageLayers](most=128)


def payload(of: Reading, model: Model, shown: ListedPages, place: Place, *, address: str) -> WindowPayload:
    """Return what the viewer draws of a page and the browser lacks; `address` leads back here."""
    loaded = of.loaded
    here, names = shown.position(place.document, place.index) or 0, tuple(state.reading_names)
    name = page_list.list_digest(reading_results.key_of(of, model), names, state.within, state.order, len(shown.pages))

    def place_at(at: int) -> Place:
        return Place(shown.pages[at].document, shown.pages[at].page)

    pages = page_list.PageList(
        "reading",
        name,
        len(shown.pages),
        here,
        lambda at: _content(of, model, shown, at, name),
        lambda at: pictures.prepare_page(loaded, place_at(at)),
    )
    content = pages.make(here)
    first, last = window(here, len(shown.pages))
    result = reading_results.result_of(of, model)

    def strip() -> Sequence[StripItem]:
        ids = {cut(document.doc_id): document.doc_id for document in loaded.dataset.documents}
        bare = reading.strip(result, shown.pages[first:last])
        return pictures.with_thumbnails(bare, lambda document: pictures.pages_of(loaded, ids[document]))

    listed = [key for mistake in content.mistakes for key in mistake.keys[:1]]
    return WindowPayload(
        **pages.window_fields(content),
        **page_list.strip_fields((name, first, pictures.pdf_listing(loaded.project.pdfs)), strip),
        strip_first=first,
        reviewer=findings.author()[0],
        selected=reading_results.chosen_box(listed, {box.key for box in content.boxes}),
        address=address,
    )


def _content(of: Reading, model: Model, shown: ListedPages, at: int, name: str) -> PagePayload:
    loaded, listed, result = of.loaded, shown.pages[at], reading_results.result_of(of, model)
    place, names = Place(listed.document, listed.page), tuple(state.reading_names)
    picture = pictures.page_picture(loaded, place)

    def draw() -> PageLayers:
        layers = reading.page_layers(result, listed.at, names)
        return msgspec.structs.replace(layers, boxes=page_list.round_boxes(layers.boxes))

    drawn = _DRAWN.get_or_make((name, at), draw)
    before, after = (shown.next_with(at, step) for step in (-1, 1))
    document = loaded.dataset.documents[loaded.dataset.document_code[place.document]]
    payload = with_layers(empty_payload(loaded, model), drawn)
    return msgspec.structs.replace(
        item_verdicts.on_page(of, model, place.document, place.index, payload),
        page=ViewedPageItem(
            **msgspec.structs.asdict(with_notes(picture, drawn.notes)),
            document=cut(place.document),
            name=displayed(document.name),
            index=place.index,
            count=pictures.page_count(loaded, place.document),
            position=at + 1,
            total=len(shown.pages),
        ),
        walk=walk_item(before, after, shown.mistakes),
        filtered=bool(names),
        signature=result.signature.line,
        empty=None,
    )
