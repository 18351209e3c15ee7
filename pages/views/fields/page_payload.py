"""The pages of the view Fields as they are sent: what each shows, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from evaluator.components.payload import ViewedPageItem, with_notes
from evaluator.components.viewer import fields as overlay
from evaluator.components.viewer.page_strip import window
from evaluator.components.viewer.payload import (
    PageLayers,
    PagePayload,
    StripItem,
    WindowPayload,
    walk_item,
    with_layers,
)
from evaluator.data.issues import cut, displayed
from evaluator.system.lru_cache import LRUCache
from pages.app import page_list, pictures
from pages.app.session_files import Place
from pages.app.state import state
from pages.views.fields import field_results, field_verdicts
from pages.views.fields.field_results import ComparedFields, FieldModel, ListedRows
from pages.views.findings import findings

# What is drawn of pages, for all sessions.
_DRAWN: Final = LRUCache[object, PageLayers](most=256)


def payload(
    compared: ComparedFields,
    model: FieldModel,
    shown: ListedRows,
    place: tuple[int, int],
    bare: PagePayload,
    *,
    address: str,
) -> WindowPayload:
    """Return what the viewer draws of a page (document code, index) and the browser lacks."""
    root, here, of = compared.opened.project.pdfs, shown.order.index(place), _listing(model, bare)

    def prepare(at: int) -> None:
        code, index = shown.order[at]
        pictures.prepare(pictures.Pages(root, model.result.compared.documents[code]), index)

    pages = page_list.PageList(
        "fields", of, len(shown.order), here, lambda at: _content(compared, model, shown, at, bare=bare, of=of), prepare
    )
    content = pages.make(here)
    first, last = window(here, len(shown.order), field_results.STRIP_PAGES)
    key = (of, first, pictures.pdf_listing(root))
    listed = [key for mistake in content.mistakes for key in mistake.keys[:1]]
    return WindowPayload(
        **pages.window_fields(content),
        **page_list.strip_fields(key, lambda: _strip(compared, model, shown, first, last)),
        strip_first=first,
        reviewer=findings.author()[0],
        selected=field_results.chosen_box(listed, [box.key for box in content.boxes]),
        address=address,
        visit=bare.visit,
    )


def _listing(model: FieldModel, bare: PagePayload) -> str:
    what = (field_results.chosen_number(), state.field_within, field_results.unit(model))
    return page_list.list_digest(model.key, bare.model, bare.models, state.field_iou, *what)


def _strip(
    compared: ComparedFields,
    model: FieldModel,
    shown: ListedRows,
    first: int,
    last: int,
) -> Sequence[StripItem]:
    pages = overlay.strip(model.result, model.pages, shown.order[first:last], -1, counts=shown.counts)
    names = {cut(name): name for name in model.result.compared.documents}
    root = compared.opened.project.pdfs
    return pictures.with_thumbnails(pages, lambda document: pictures.Pages(root, names[document]))


def _content(
    compared: ComparedFields,
    model: FieldModel,
    shown: ListedRows,
    at: int,
    *,
    bare: PagePayload,
    of: str,
) -> PagePayload:
    code, index = shown.order[at]
    root, document = compared.opened.project.pdfs, model.result.compared.documents[code]
    picture = pictures.zoomed_picture(pictures.Pages(root, document), Place(document, index))
    iou = state.field_iou
    paper = overlay.Paper(code, index, picture.points, field_results.unit(model))
    noun = "field" if state.field_number in field_results.MIXED else "mistake"

    def draw() -> PageLayers:
        layers = overlay.page_data(model.result, model.pages, paper, iou=iou, kept=shown.rows)
        return msgspec.structs.replace(layers, boxes=page_list.round_boxes(layers.boxes), noun=noun)

    drawn = _DRAWN.get_or_make((of, code, index, picture.points), draw)
    payload = field_verdicts.on_page(model, document, with_layers(bare, drawn))
    before, after = (field_results.next_with(shown, at, step) for step in (-1, 1))
    return msgspec.structs.replace(
        payload,
        page=ViewedPageItem(
            **msgspec.structs.asdict(with_notes(picture, drawn.notes)),
            document=cut(document),
            name=displayed(document),
            index=index,
            count=pictures.pdf_page_count(root, document),
            position=at + 1,
            total=len(shown.order),
        ),
        walk=walk_item(before, after, sum(shown.counts.values())),
        visit="",
        empty=None,
    )
