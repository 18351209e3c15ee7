"""Compare, fields of two models: what the linked panes show, the differences and the ledgers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from evaluator.components.compare.field_pair import FieldSide, field_pair
from evaluator.components.compare.pair import PairLayers
from evaluator.components.compare.pair_items import ItemPages, item_pages
from evaluator.components.compare.payload import OpenEvent
from evaluator.components.payload import ModelItem, PairKind, PictureItem
from evaluator.components.viewer.payload import VerdictEvent
from evaluator.data.issues import plain
from evaluator.metrics.item_ledger import Item, ItemLedger
from evaluator.metrics.results import threshold_text
from evaluator.protocols import PROTOCOLS
from pages.app import frame, pictures
from pages.app.address import write_url
from pages.app.cache import Cached
from pages.app.session_files import FIELDS, Place, of_letter
from pages.app.state import State, state
from pages.views.compare import pair_differences, panes
from pages.views.fields import field_results, field_verdicts
from pages.views.fields.field_results import ComparedFields

FIELDS_VIEW = "pages/fields.py"


def body(compared: ComparedFields, kinds: Mapping[str, str]) -> None:
    """Draw the threshold of the boxes, title, panes, differences and ledgers."""
    a = compared.models[0]
    protocol = PROTOCOLS[FIELDS.name]
    parts = [f"{protocol.name} {protocol.version}", f"IoU ≥ {threshold_text(state.field_iou)}"]
    low, high = field_results.IOU_RANGE
    label = f"*Threshold:* IoU {state.field_iou:.2f}"
    with frame.thresholds_at_right(compared.opened, label):
        st.slider("IoU threshold", low, high, step=0.01, key=State.field_iou.key, persist_state="session")
        st.html(frame.facts_of(" · ".join([*parts, *a.result.signature.options])))
    with frame.title("Compare"):
        panes.kind_choice(kinds)
    panes.part(_source)
    pair_differences.part(
        compared.models,
        [part for each in compared.models for part in map(str, (each.result.signature.line, *each.key))],
        lambda: [protocol.measures(each.result) for each in compared.models],
        ledgers=lambda: field_results.ledgers(compared).by_box_and_value(state.field_iou),
        open_item=lambda item: panes.open_place(lambda: _go_to_item(item)),
        at=state.field_iou,
    )
    write_url("compare")


_WHOLE: Final = Cached[tuple[ItemLedger, ItemPages]](8)


def _whole(compared: ComparedFields) -> tuple[ItemLedger, ItemPages]:
    ledger = field_results.ledgers(compared).whole(state.field_iou)
    return ledger, item_pages(ledger, "field")


def _source() -> panes.Source | None:
    compared = field_results.compare_models()
    if compared is None or len(compared.models) < 2:
        return None
    a, b = compared.models
    ledger, pages = _WHOLE.of((a.key, b.key, state.field_iou), lambda: _whole(compared))
    first, second = (ModelItem(model.letter, plain(model.name)) for model in (a, b))
    sides = FieldSide(a.result, a.pages), FieldSide(b.result, b.pages)

    def draw(place: Place, picture: PictureItem, kinds: Sequence[PairKind]) -> PairLayers:
        return field_pair(
            sides,
            ledger,
            place.document,
            place.index,
            points=picture.points,
            unit=field_results.unit(a),
            iou=state.field_iou,
            models=(first, second),
            kinds=kinds,
        )

    root = compared.opened.project.pdfs
    return panes.Source(
        chosen=(a, b),
        key=(a.key, b.key, first, second, state.field_iou, field_results.unit(a)),
        pages=pages,
        place=lambda: Place(state.field_doc, state.field_page - 1) if state.field_doc is not None else None,
        go=_go,
        picture=lambda place: pictures.zoomed_picture(pictures.Pages(root, place.document), place),
        draw=draw,
        judged=lambda place, order, pane: field_verdicts.on_pane((a, b)[order], place.document, pane),
        opens="Fields",
        open=_open,
        judge=_judge,
        said=field_verdicts.statuses,
        write_url=lambda: write_url("compare"),
        prepare=lambda place: pictures.prepare(pictures.Pages(root, place.document), place.index),
    )


def _go(place: Place) -> None:
    if (state.field_doc, state.field_page - 1) != (place.document, place.index):
        state.field_doc, state.field_page, state.field_box = place.document, place.index + 1, None


def _go_to_item(item: Item) -> None:
    _go(Place(item.document, item.page or 0))


def _open(event: OpenEvent) -> None:
    compared = field_results.compare_models()
    if compared is not None:
        compared.show(event.letter)
    state.field_number, state.field_label, state.field_within, state.field_box = field_results.PROBLEMS, "", "", None
    st.switch_page(FIELDS_VIEW)


def _judge(event: VerdictEvent) -> None:
    compared = field_results.compare_models()
    model = of_letter(compared.models, event.letter) if compared else None
    if model is not None:
        field_verdicts.handle(model, event)
