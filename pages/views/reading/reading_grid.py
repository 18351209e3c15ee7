"""Reading as a grid: the mistakes of all pages as cards, by name, each judged there or opened on its page."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

import streamlit as st

from evaluator.components.gallery import reading_cards
from evaluator.components.gallery.payload import GroupItem, JudgeItem
from evaluator.components.gallery.reading_cards import CardPage, Entry
from evaluator.components.viewer.judged import judged_item
from evaluator.components.viewer.payload import JudgedItem
from evaluator.components.viewer.reading import ListedPages
from evaluator.data.issues import count_of
from evaluator.review.identity import TargetReview, targets_by_id
from evaluator.review.verdicts import Target
from pages.app.components import gallery
from pages.app.session_files import Model
from pages.app.state import State, go_to_page, report, state
from pages.views.findings import findings
from pages.views.gallery import gallery_items, grid, grid_judging
from pages.views.reading import item_verdicts, reading_results
from pages.views.reading.reading_results import Reading

_KEY: Final = "reading_grid"
_Page = tuple[CardPage, dict[tuple[str, tuple[str, ...]], TargetReview]]
_PageOf = Callable[[int], _Page]


@st.fragment
def show(of: Reading, model: Model, shown: ListedPages) -> None:
    """Draw the cards of the mistakes that pass the filter."""
    result, names = reading_results.result_of(of, model), tuple(state.reading_names)
    every = reading_cards.entries(result, shown.pages, names)
    grid.sheet_choice(len(every))
    first = state.gallery_sheet * gallery_items.CARDS
    sheet = every[first : first + gallery_items.CARDS]
    page_of = _pages(of, model)
    documents = of.loaded.dataset.documents
    cards = []
    for entry in sheet:
        page = result.own_pages[entry.at]
        name = documents[of.loaded.dataset.document_code[page.document]].name
        drawn, _ = page_of(entry.at)
        cards.append(reading_cards.card(entry, drawn, document=page.document, name=name, index=page.page))
    said = [_said(page_of, entry) for entry in sheet]
    gallery_items.draw_cards(
        of.loaded,
        cards,
        of="/".join(map(str, (*reading_results.key_of(of, model), *names))),
        key=_KEY,
        empty="No mistake passes the filter.",
        grid=gallery_items.GridPart(
            groups=_groups(of, model, page_of, every, first),
            causes=(),
            by_cause=True,
            verdicts=[[] if judged is None else [judged] for judged in said],
            reviewer=findings.author()[0],
            answered=state.answered,
            problem=grid_judging.problem(),
        ),
        on_judge=lambda: _judge(of, model, every),
        on_model=lambda: _switch_model(of, model),
    )
    opened = State.gallery_opened.pop()
    if opened:
        card, _ = opened
        go_to_page(card.document, card.index)
        state.reading_look, state.box = "page", card.box
    if opened or State.pair_whole.pop():
        st.rerun()


def _pages(of: Reading, model: Model) -> _PageOf:
    """Return what gives the page at a place of the result, and the verdicts on it, each once."""
    result = reading_results.result_of(of, model)

    @functools.cache
    def page_of(at: int) -> _Page:
        place = result.own_pages[at].document, result.own_pages[at].page
        layers = item_verdicts.layers_of(of, model, *place)
        assert layers is not None
        return CardPage(layers), item_verdicts.reviews(of, model, *place)

    return page_of


def _review(page_of: _PageOf, entry: Entry) -> TargetReview | None:
    page, reviews = page_of(entry.at)
    mistake = page.mistake(entry)
    return reviews.get((mistake.name, tuple(mistake.keys)))


def _said(page_of: _PageOf, entry: Entry) -> JudgedItem | None:
    review = _review(page_of, entry)
    return None if review is None or review[1] is None else judged_item(review[1])


def _groups(of: Reading, model: Model, page_of: _PageOf, every: Sequence[Entry], first: int) -> list[GroupItem]:
    result, log = reading_results.result_of(of, model), findings.review_log()
    groups, start = [], 0
    for name, some in groupby(every, key=lambda entry: entry.name):
        own = list(some)
        end = start + len(own)
        if end > first and start < first + gallery_items.CARDS:
            pages = [result.own_pages[entry.at] for entry in own]
            judged = [
                entry
                for entry, page in zip(own, pages, strict=True)
                if log.items_on(page.document, page.page) and _said(page_of, entry) is not None
            ]
            words = f"{count_of(len(own), 'mistake')} on {count_of(len({entry.at for entry in own}), 'page')}"
            groups.append(GroupItem(of.system.titles[name], words, max(start - first, 0), len(own), len(judged)))
        start = end
    return groups


def _judge(of: Reading, model: Model, every: Sequence[Entry]) -> None:
    named = findings.author()
    by_key, page_of = {entry.key: entry for entry in every}, _pages(of, model)

    def targets_of(act: JudgeItem) -> dict[str, Target]:
        asked = [by_key[key] for key in act.keys if key in by_key]
        if act.everywhere and asked:
            alike = [entry for entry in every if entry.name == asked[0].name]
            asked += [entry for entry in alike if _said(page_of, entry) is None]
        reviews = [review for entry in dict.fromkeys(asked) if (review := _review(page_of, entry)) is not None]
        return targets_by_id(reviews)

    grid_judging.save_acts(gallery.events(report(_KEY)).judge, targets_of)
    if findings.author() != named:
        State.pair_whole.set(True)


def _switch_model(of: Reading, model: Model) -> None:
    if gallery.events(report(_KEY)).model:
        state.model = (model.index + 1) % len(of.loaded.models)
        State.pair_whole.set(True)
