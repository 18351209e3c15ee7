"""Compare, reading order, text or tables of two models: mistakes in both panes, the differences and the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from evaluator.components.compare.pair import PairLayers
from evaluator.components.compare.pair_items import ItemPages, item_pages
from evaluator.components.compare.payload import OpenEvent
from evaluator.components.compare.reading_pair import reading_pair
from evaluator.components.payload import ModelItem, PairKind, PictureItem
from evaluator.components.viewer.payload import NOTHING_DRAWN, VerdictEvent
from evaluator.data.issues import plain
from evaluator.metrics.item_ledger import Item, ItemLedger
from pages.app import frame, pictures
from pages.app.cache import Cached
from pages.app.session_files import Place, of_letter
from pages.app.state import go_to_page, state
from pages.views.compare import pair_differences, panes
from pages.views.reading import item_verdicts, reading_results
from pages.views.reading.reading_results import Reading

_PAGES: Cached[ItemPages] = Cached(8)


def body(of: Reading, kinds: Mapping[str, str]) -> None:
    """Draw title, panes, differences and ledger."""
    with frame.title("Compare"):
        panes.kind_choice(kinds)
    frame.at_right(of.loaded, reading_results.result_of(of, of.loaded.pair[0]).signature.line)
    panes.part(lambda: _source(of))
    differences(of, lambda item: panes.open_place(lambda: go_to_page(item.document, item.page or 0)))
    panes.write_page_url()


def differences(of: Reading, open_item: Callable[[Item], None]) -> None:
    """Draw the differences of two models and the ledger of pages; nothing for one model."""
    pair_differences.part(
        of.loaded.pair,
        _key(of),
        lambda: [of.system.measures(reading_results.result_of(of, model)) for model in of.loaded.pair],
        ledgers=lambda: _ledgers(of),
        open_item=open_item,
    )


def _key(of: Reading) -> tuple[str, ...]:
    return tuple(str(reading_results.key_of(of, model)) for model in of.loaded.pair)


def _ledgers(of: Reading) -> tuple[ItemLedger, ...]:
    a, b = (reading_results.result_of(of, model) for model in of.loaded.pair)
    return of.system.item_ledgers(a, b)


def _source(of: Reading) -> panes.Source:
    pair = of.loaded.pair
    first, second = (ModelItem(model.letter, plain(model.name)) for model in pair)

    def draw(place: Place, picture: PictureItem, kinds: Sequence[PairKind]) -> PairLayers:
        layers = [item_verdicts.layers_of(of, model, place.document, place.index) or NOTHING_DRAWN for model in pair]
        return reading_pair(layers, models=(first, second), kinds=kinds)

    return panes.Source(
        chosen=pair,
        key=(_key(of), first, second),
        pages=_PAGES.of(_key(of), lambda: item_pages(_ledgers(of)[0], reading_results.cost_of(of))),
        picture=lambda place: pictures.page_picture(of.loaded, place),
        draw=draw,
        judged=lambda place, order, pane: item_verdicts.on_pane(of, pair[order], place.document, place.index, pane),
        opens="Reading",
        open=lambda event: _open(of, event),
        judge=lambda event: _judge(of, event),
        said=item_verdicts.statuses,
        prepare=lambda place: pictures.prepare_page(of.loaded, place),
    )


def _open(of: Reading, event: OpenEvent) -> None:
    model = of_letter(of.loaded.pair, event.letter)
    if model is not None:
        state.model, state.reading_of = model.index, of.system.name
        reading_results.clear_filter()
        st.switch_page(item_verdicts.VIEW_FILE)


def _judge(of: Reading, event: VerdictEvent) -> None:
    model = of_letter(of.loaded.pair, event.letter)
    if model is not None:
        item_verdicts.handle(of, model, event)
