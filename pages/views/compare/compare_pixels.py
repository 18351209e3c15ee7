"""Compare, wrong pixels of two models: what the panes show, the differences and the ledger of pages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import msgspec
import streamlit as st

from evaluator.components.compare.pair import PairLayers
from evaluator.components.compare.pair_items import ItemPages, item_pages
from evaluator.components.compare.payload import OpenEvent, PaneItem
from evaluator.components.compare.pixel_pair import DRAWN_PIECES, pixel_pair
from evaluator.components.matrix.matrix import short_pixels
from evaluator.components.payload import ModelItem, PairKind, PictureItem
from evaluator.components.viewer.judged import attach_pieces
from evaluator.components.viewer.payload import VerdictEvent
from evaluator.data.issues import plain
from evaluator.metrics.item_ledger import ItemLedger
from evaluator.protocols import PROTOCOLS, pixel
from evaluator.protocols.pixel.regions import WrongComponent
from evaluator.review.pixel_targets import JudgedPiece, judged_pieces
from evaluator.system.lru_cache import LRUCache
from pages.app import frame, pictures
from pages.app.cache import Cached
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes, PairModel, Place, of_letter
from pages.app.state import go_to_page, state
from pages.views.compare import pair_differences, panes
from pages.views.findings import findings
from pages.views.overview import headline
from pages.views.pixel import pixel_results

PIXEL_VIEW = "pages/pixel_confusion.py"


def body(loaded: LoadedBoxes, kinds: Mapping[str, str]) -> None:
    """Draw choices, title, panes, differences and ledger, or why the pixels cannot be compared."""
    thresholds = headline.thresholds(loaded, loaded.pair, with_iou=False)
    head = st.container()
    with head, frame.title("Compare"):
        panes.kind_choice(kinds)
        with frame.choices():
            pixel_results.count_choices()
    counted = [pixel_results.result_of(loaded, model.letter) for model in loaded.pair]
    results = [each.result for each in counted if each.result is not None]
    if len(results) < len(counted):
        st.html('<div class="ls-empty"><p>The pixels of these files cannot be counted.</p></div>')
        frame.issues([issue for each in counted for issue in each.issues])
        st.page_link(PIXEL_VIEW, label="Open Confusion", icon=":material/grid_on:")
        panes.write_page_url()
        return
    a, b = results
    with head:
        signed = a.signature
        parts = [
            f"{signed.protocol} {signed.version}",
            pixel_results.thresholds(loaded),
            *signed.options,
            signed.counts,
        ]
    thresholds.html(frame.facts_of(" · ".join(parts)))
    if not (a.same_classes and b.same_classes):
        st.caption(
            "The sides use different classes, so no pixel is right or wrong, and pages have no ledger. Confusion "
            "shows both matrices."
        )
    else:
        panes.part(lambda: _source(loaded))
    key = _key(loaded, a, b)
    pair_differences.part(
        loaded.pair,
        key,
        lambda: [PROTOCOLS[pixel.NAME].measures(result) for result in results],
        ledgers=lambda: _ledgers(tuple(key), a, b),
        open_item=lambda item: panes.open_place(lambda: go_to_page(item.document, item.page or 0)),
    )
    panes.write_page_url()


def _key(loaded: LoadedBoxes, *results: pixel.PixelResult) -> list[str]:
    sizes = [hashlib.sha256(result.size.tobytes()).hexdigest() for result in results]
    lines = [result.signature.line for result in results]
    return [*loaded.digests, *(str(model.index) for model in loaded.pair), *lines, *sizes]


_LEDGERS: Final = Cached[tuple[ItemLedger, ...]](8)
_PAGES: Final = Cached[ItemPages | None](8)
_PIECES: Final = LRUCache[object, tuple[list[WrongComponent], list[WrongComponent]]](most=64)


def _ledgers(key: tuple[str, ...], a: pixel.PixelResult, b: pixel.PixelResult) -> tuple[ItemLedger, ...]:
    return _LEDGERS.of(key, lambda: PROTOCOLS[pixel.NAME].item_ledgers(a, b))


def _pages(key: tuple[str, ...], a: pixel.PixelResult, b: pixel.PixelResult) -> ItemPages | None:
    ledgers = _ledgers(key, a, b)
    return _PAGES.of(key, lambda: item_pages(ledgers[0], "pixel") if ledgers else None)


def _source(loaded: LoadedBoxes) -> panes.Source | None:
    counted = [pixel_results.result_of(loaded, model.letter).result for model in loaded.pair]
    a, b = counted
    if a is None or b is None:
        return None
    key = tuple(_key(loaded, a, b))
    pages = _pages(key, a, b)
    if pages is None:
        return None
    first, second = (ModelItem(model.letter, plain(model.name)) for model in loaded.pair)

    def pieces_on(place: Place) -> tuple[list[WrongComponent], list[WrongComponent]]:
        return _PIECES.get_or_make(
            (key, place),
            lambda: (a.wrong_components(place.document, place.index), b.wrong_components(place.document, place.index)),
        )

    def draw(place: Place, picture: PictureItem, kinds: Sequence[PairKind]) -> PairLayers:
        pieces = pieces_on(place)
        return pixel_pair((a, b), place.document, place.index, pieces=pieces, models=(first, second), kinds=kinds)

    def judged(place: Place, order: int, pane: PaneItem) -> PaneItem:
        pieces = _judged_pieces(loaded, loaded.pair[order], place, (a, b)[order], pieces_on(place)[order])
        return findings.with_verdicts(pane, attach_pieces(pane.mistakes, pieces))

    return panes.Source(
        chosen=loaded.pair,
        key=(key, first, second),
        pages=pages,
        picture=lambda place: _picture(loaded, place, a),
        draw=draw,
        judged=judged,
        opens="Confusion",
        open=_open,
        judge=lambda event: _judge(loaded, event),
        said=partial(findings.statuses, loaded),
        short=lambda value: short_pixels(float(value)),
        prepare=lambda place: pictures.prepare_page(loaded, place),
    )


def _picture(loaded: LoadedBoxes, place: Place, result: pixel.PixelResult) -> PictureItem:
    picture = pictures.page_picture(loaded, place)
    row = result.dataset.page_row(place.document, place.index)
    if not picture.problem or row is None:
        return picture
    width, height = result.extent[row].tolist()
    return msgspec.structs.replace(picture, width=width, height=height)


def _open(event: OpenEvent) -> None:
    state.pixel_of, state.pixel_scope = event.letter, "page"
    st.switch_page(PIXEL_VIEW)


def _judge(loaded: LoadedBoxes, event: VerdictEvent) -> None:
    model = of_letter(loaded.pair, event.letter)
    result = None if model is None else pixel_results.result_of(loaded, model.letter).result
    if model is not None and result is not None:
        place = Place(event.document, event.index)
        pieces = result.wrong_components(place.document, place.index)
        judged = _judged_pieces(loaded, model, place, result, pieces)
        findings.save_event(event, {one.id: one.target for one in judged if one is not None})


def _judged_pieces(
    loaded: LoadedBoxes, model: PairModel, place: Place, result: pixel.PixelResult, pieces: Sequence[WrongComponent]
) -> list[JudgedPiece | None]:
    """Return what reviewers said of the pieces that are drawn on a page; a piece consists of boxes."""
    boxes = result_of(loaded, model)
    page = boxes.matching.dataset.page_row(place.document, place.index)
    own = result.dataset.page_row(place.document, place.index)
    drawn = pieces[:DRAWN_PIECES]
    if page is None or own is None:
        return [None] * len(drawn)
    width, height = result.extent[own].tolist()
    return judged_pieces(boxes, page, drawn, (width, height), findings.review_log())
