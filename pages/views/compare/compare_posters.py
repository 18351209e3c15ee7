"""Compare, posters of two models: words on the page and both texts, the differences and the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from evaluator.components.compare.pair import PairLayers
from evaluator.components.compare.pair_items import ItemPages, item_pages
from evaluator.components.compare.payload import OpenEvent
from evaluator.components.compare.poster_pair import poster_pair
from evaluator.components.payload import ModelItem, PairKind, PictureItem
from evaluator.components.viewer.payload import SharperEvent, VerdictEvent
from evaluator.data.issues import plain
from evaluator.formats.posters import Posters
from evaluator.protocols.posters.difference import PosterColumns, passages
from evaluator.protocols.posters.ledger import poster_ledger
from evaluator.protocols.posters.profiles import PROFILES, WORD_RULES
from pages.app import frame, widgets
from pages.app.address import write_url
from pages.app.cache import Cached
from pages.app.session_files import LoadedFiles, Place, of_letter
from pages.app.state import State, state
from pages.views.compare import pair_differences, panes
from pages.views.posters import panel, poster_results, poster_verdicts

POSTERS_VIEW = "pages/posters.py"


def body(posters: LoadedFiles[Posters], kinds: Mapping[str, str]) -> None:
    """Draw the profile, title, panes, texts, differences and ledger."""
    with frame.title("Compare"):
        panes.kind_choice(kinds)
        with frame.choices():
            widgets.choice("Profile", {name: name.capitalize() for name in PROFILES}, State.poster_profile)
            if state.poster_profile == "documented":
                widgets.choice("Words without blanks", WORD_RULES, State.poster_words)
    chosen = poster_results.models()
    every = [poster_results.evaluate(model) for model in chosen]
    frame.at_right(posters, every[0].signature)
    panes.part(_source)
    pair_differences.part(
        chosen,
        [*posters.digests, *(f"{model.index} {each.signature}" for model, each in zip(chosen, every, strict=True))],
        lambda: [each.measures for each in every],
        ledgers=lambda: [poster_ledger(*(each.columns for each in every))],
        open_item=lambda item: panes.open_place(lambda: poster_results.open_poster(item.document)),
    )
    write_url("compare")


_PAGES: Final = Cached[ItemPages](8)


def _pages(a: PosterColumns, b: PosterColumns) -> ItemPages:
    ledger = poster_ledger(a, b)
    # The first row is all criteria together; those that count nothing are left out of the ledger.
    return item_pages(ledger, "criterion", range(1, len(ledger.rows)))


def _source() -> panes.Source | None:
    chosen = poster_results.models()
    if len(chosen) < 2:
        return None
    a, b = (poster_results.evaluate(model) for model in chosen)
    signed = [f"{model.index} {model.posters.sha256} {model.reference.sha256}" for model in chosen]
    pages = _PAGES.of((*signed, a.signature, b.signature), lambda: _pages(a.columns, b.columns))
    first, second = (ModelItem(model.letter, plain(model.name)) for model in chosen)

    def draw(place: Place, picture: PictureItem, kinds: Sequence[PairKind]) -> PairLayers:
        words = tuple(poster_results.words(model, place.document) for model in chosen)
        return poster_pair((words[0], words[1]), models=(first, second), kinds=kinds)

    return panes.Source(
        chosen=chosen,
        key=(*signed, a.signature, b.signature, first, second),
        pages=pages,
        place=lambda: Place(state.poster, 0) if state.poster else None,
        go=_go,
        picture=lambda place: poster_results.picture(place.document),
        draw=draw,
        judged=lambda place, order, pane: poster_verdicts.on_pane(chosen[order], place.document, pane),
        opens="Posters",
        open=_open,
        judge=_judge,
        said=poster_verdicts.statuses,
        write_url=lambda: write_url("compare"),
        sharper=_sharper,
        prepare=lambda place: poster_results.prepare(place.document),
        below=lambda place: _texts(chosen, place.document),
    )


def _texts(chosen: Sequence[poster_results.PosterModel], poster_id: str) -> None:
    """Draw both texts in one frame, so that they scroll together, with what the reference lacks marked."""
    frame.section("Texts", "what the reference does not have is marked; both scroll together")
    bodies = []
    for model in chosen:
        compared = poster_results.comparison(model, poster_id)
        lines = [] if compared is None else passages(compared, "generated")
        nothing = "<p>This model has no text of this poster.</p>"
        body_ = "".join(panel.passage(line, "extra") for line in lines) or nothing
        bodies.append(frame.letter_badge(model.letter) + body_)
    panel.texts("Texts of both models", bodies)


def _go(place: Place) -> None:
    if state.poster != place.document:
        poster_results.open_poster(place.document)


def _sharper(wanted: SharperEvent | None) -> None:
    if wanted is not None:
        picture = poster_results.picture(wanted.document)
        poster_results.ask_sharper(wanted, (picture.width, picture.height))


def _open(event: OpenEvent) -> None:
    state.poster_of, state.poster_box = event.letter, None
    st.switch_page(POSTERS_VIEW)


def _judge(event: VerdictEvent) -> None:
    model = of_letter(poster_results.models(), event.letter)
    if model is not None:
        poster_verdicts.handle(model, event)
