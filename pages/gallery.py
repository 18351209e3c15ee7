"""Grid: curves and distributions, and the exact boxes behind them as crops."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import streamlit as st

from evaluator.charts import boxes, curves
from evaluator.components.gallery import crops
from evaluator.data.issues import count_of, displayed
from evaluator.matching.box_items import MATCHED, MATCHED_NAME, Query
from evaluator.matching.causes import family_title
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from pages.app import frame, widgets
from pages.app.address import read_url, write_url
from pages.app.results import has_scores, result_key, result_of, score_threshold
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import State, chosen_cells, chosen_points, chosen_range, go_to_page, state
from pages.views.browser import page_listing, toolbar
from pages.views.findings import cause_verdicts
from pages.views.gallery import gallery_items
from pages.views.gallery.gallery_items import ShownItems
from pages.views.overview import headline

BROWSER_VIEW = "pages/page_browser.py"
_KEY = "gallery"
_CHART_HEIGHT = 236
_TITLES = {
    "scores": "Score curves",
    "fit": "How well pairs fit",
    "names": "Names of mistakes",
    "causes": "Causes",
}
_OF_ALL_MODELS = ("scores", "fit", "names")
_HINTS = {
    "scores": "drag to select a score range and see its boxes; a point of the right curve sets the threshold",
    "fit": "drag to see the pairs that fit like this",
    "names": "a bar opens its mistakes",
    "causes": "mistakes with one reason, put together, most wrong boxes first; a row shows its places",
}


def _charts(loaded: LoadedBoxes, chosen: tuple[PairModel, ...], model: PairModel) -> None:
    head, control = st.columns([1.2, 1], vertical_alignment="center")
    with control.container(horizontal=True, horizontal_alignment="right"):
        widgets.switch("Charts", gallery_items.CHARTS, State.gallery_charts, label_visibility="collapsed")
    charts = state.gallery_charts
    models = "".join(f" {frame.letter_badge(each.letter)}" for each in chosen) if charts in _OF_ALL_MODELS else ""
    head.html(f'<h2 class="ls-section">{_TITLES[charts]}{models} <small>{_HINTS[charts]}</small></h2>')
    draw: dict[str, Callable[[], None]] = {
        "scores": lambda: _scores(loaded, chosen),
        "fit": lambda: _fit(loaded, chosen, model),
        "names": lambda: _names(loaded, chosen),
        "causes": lambda: _causes(loaded, model),
    }
    with st.container(border=True, key=f"charts_{charts}"):
        draw[charts]()


def _scores(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    scored = [model for model in chosen if has_scores(loaded, model)]
    if not scored:
        st.caption("All scores of the models are equal or missing, so there is no curve.")
        return
    places = {model.letter: model.index for model in scored}
    made = {model.letter: gallery_items.curve_of(loaded, model) for model in scored}
    current = {model.letter: score_threshold(loaded, model) for model in scored}
    label = state.label or None
    keys = [f"{name}_{state.gallery_round}" for name in ("against_score", "precision_recall")]
    left, right = st.columns([1.35, 1], gap="medium")

    def brushed() -> None:
        bounds = chosen_range(keys[0], "score").get("score")
        gallery_items.show_query(Query(score=_bounds(bounds)) if bounds else None, here=True)

    def pointed() -> None:
        for point in chosen_points(keys[1], "point"):
            if point.get("model") in places:
                State.score.of(places[point["model"]]).set(round(float(point["score"]), 2))

    dark = frame.is_dark()
    widgets.chart(
        left,
        curves.against_score(made, current, label=label, baseline="A", dark=dark, height=_CHART_HEIGHT),
        on_select=brushed,
        selection_mode="score",
        key=keys[0],
        alt="F1, precision and recall against the score threshold",
    )
    widgets.chart(
        right,
        curves.precision_recall(made, current, label=label, baseline="A", dark=dark, height=_CHART_HEIGHT),
        on_select=pointed,
        selection_mode="point",
        key=keys[1],
        alt="Precision against recall",
    )


def _fit(loaded: LoadedBoxes, chosen: tuple[PairModel, ...], model: PairModel) -> None:
    results = {each.letter: result_of(loaded, each) for each in chosen}
    every = gallery_items.every_item(loaded, model)
    pairs = np.flatnonzero(~np.isnan(every.iou))
    if not len(pairs):
        st.caption("No box overlaps another at these thresholds.")
        return
    low, dark = state.iou, frame.is_dark()
    columns = st.columns([1, 1, 1, 1.4], gap="small")
    for column, name, title in zip(columns, ("iou", "coverage", "purity"), ("IoU", "Coverage", "Purity"), strict=False):
        key = f"fit_{name}_{state.gallery_round}"
        means = ", ".join(
            f"{letter} {frame.number(result.micro.row(0)[f'mean_{name}'])}"  # type: ignore[literal-required]
            for letter, result in results.items()
        )
        column.html(f'<div class="ls-fit"><b>{title}</b><span>mean {means}</span></div>')
        widgets.chart(
            column,
            boxes.histogram(
                {letter: getattr(result.matches, name) for letter, result in results.items()},
                low=low,
                baseline="A",
                dark=dark,
                height=_CHART_HEIGHT - 30,
            ),
            on_select=_fit_callback(key, name),
            selection_mode="range",
            key=key,
            alt=f"{title} of matched boxes",
        )
    drawn = pairs[: curves.SCATTER_POINTS]
    key = f"fit_scatter_{state.gallery_round}"
    left_out = f", the first {len(drawn):,} of {len(pairs):,}" if len(drawn) < len(pairs) else ""
    columns[3].html(
        f'<div class="ls-fit"><b>Coverage and purity</b><span>pairs of {model.letter}{left_out}</span></div>'
    )

    def brushed() -> None:
        ranges = chosen_range(key, "fit")
        coverage, purity = ranges.get("coverage"), ranges.get("purity")
        gallery_items.show_query(
            Query(coverage=_bounds(coverage), purity=_bounds(purity)) if coverage and purity else None, here=True
        )

    widgets.chart(
        columns[3],
        curves.coverage_purity(
            every.coverage[drawn],
            every.purity[drawn],
            (every.kind[drawn] == MATCHED).tolist(),
            dark=dark,
            height=_CHART_HEIGHT - 30,
        ),
        on_select=brushed,
        selection_mode="fit",
        key=key,
        alt="Purity against coverage",
    )


def _fit_callback(key: str, name: str) -> Callable[[], None]:
    def brushed() -> None:
        bounds = chosen_range(key, "range").get("start")
        asked = Query(name=MATCHED_NAME)
        gallery_items.show_query(
            msgspec.structs.replace(asked, **{name: _bounds(bounds)}) if bounds else None, here=True
        )

    return brushed


def _names(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    counts = {model.letter: result_of(loaded, model).mistakes.counts for model in chosen}
    if not any(int(column.sum()) for column in counts.values()):
        st.caption("No mistake at these thresholds.")
        return
    titles = [ERROR_TYPES["document"][name].chip for name in DOCUMENT]
    key = f"names_{state.gallery_round}"

    def pick() -> None:
        points = chosen_points(key, "label")
        picked = points[0].get("label") if points else None
        state.model = next(
            (each.index for each in chosen if points and each.letter == points[0].get("model")), state.model
        )
        gallery_items.show_query(Query(name=DOCUMENT[titles.index(picked)]) if picked in titles else None, here=True)

    widgets.chart(
        st,
        boxes.mistakes_by_label(titles, counts, baseline="A", dark=frame.is_dark(), height=_CHART_HEIGHT + 90),
        on_select=pick,
        selection_mode="label",
        key=key,
        alt="Mistakes by name",
    )


def _causes(loaded: LoadedBoxes, model: PairModel) -> None:
    result = result_of(loaded, model)
    made = result.causes
    if not len(made):
        st.caption("No mistake at these thresholds.")
        return
    families = list(made.alike.items())
    mistakes = np.diff(made.rows.offsets)
    key = f"causes_{model.letter}_{state.gallery_round}"

    def pick() -> None:
        for row, _ in chosen_cells(key):
            gallery_items.show_query(Query(cause=families[row][0]), here=True)

    widgets.table(
        {
            "Cause": [displayed(family_title(family)) for family, _ in families],
            "Places": [len(rows) for _, rows in families],
            "Mistakes": [int(mistakes[rows].sum()) for _, rows in families],
            "Wrong boxes": [int(made.boxes[rows].sum()) for _, rows in families],
            "Pages": [len(np.unique(made.page[rows])) for _, rows in families],
        },
        rows=8,
        on_select=pick,
        key=key,
        columns={
            "Cause": 420,
            **dict.fromkeys(("Places", "Mistakes", "Pages"), widgets.count_column(80)),
            "Wrong boxes": widgets.count_column(110),
        },
        alt="Causes of mistakes",
    )
    st.caption(
        f"{count_of(len(families), 'cause')} at {count_of(len(made), 'place')}: "
        f"{count_of(int(made.boxes.sum()), 'wrong box')} in {count_of(len(result.mistakes), 'mistake')}."
    )


def _bounds(values: list[float]) -> tuple[float, float]:
    low, high = sorted(min(max(float(value), 0.0), 1.0) for value in values[:2])
    return round(low, 3), round(high, 3)


def _head(shown: ShownItems) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="gallery_head"):
        frame.section("Mistakes")
        widgets.choice("Order", gallery_items.ORDERS, State.gallery_sort, label_visibility="collapsed", width=150)
        sheets = -(-len(shown) // gallery_items.CARDS)
        if sheets > 1:
            st.selectbox(
                "Cards",
                range(sheets),
                format_func=lambda at: _stretch(at, len(shown)),
                key=State.gallery_sheet.key,
                label_visibility="collapsed",
                width=190,
            )


def _stretch(sheet: int, total: int) -> str:
    first = sheet * gallery_items.CARDS
    return f"{first + 1:,} to {min(first + gallery_items.CARDS, total):,} of {total:,}"


@st.fragment
def _cards(loaded: LoadedBoxes, model: PairModel, shown: ShownItems, first: int) -> None:
    """Draw the cards; a crop that is wanted runs this part of the view only."""
    stretch = np.arange(first, min(first + gallery_items.CARDS, len(shown)))
    if shown.causes is None:
        cards = crops.cards(shown.result, shown.every.take(shown.rows[stretch]))
    else:
        cards = crops.cause_cards(shown.result, shown.causes[stretch])
    of = "/".join(str(part) for part in result_key(loaded, model)[:3])
    gallery_items.draw_cards(loaded, cards, of=of, key=_KEY, empty=gallery_items.empty_text())
    card = state.gallery_opened
    if card:
        state.gallery_opened = None
        go_to_page(card.document, card.index)
        state.box = card.box
        st.switch_page(BROWSER_VIEW)


def view() -> None:
    """Draw the whole view."""
    read_url("gallery")
    loaded = frame.open_boxes("Grid")
    if loaded is None:
        return
    page_listing.drop_unknown(loaded)
    chosen, line = loaded.pair, frame.title("Grid")
    with line:
        headline.model_switch(chosen)
    frame.banners(loaded, chosen)
    headline.thresholds(loaded, chosen, frame.signature(loaded, chosen))
    model = loaded.shown_of_pair
    listed = gallery_items.list_pages(loaded, model)
    with line:
        toolbar.judged(toolbar.draw(loaded, model, listed, pages=False), loaded, model, listed)
    if state.gallery_question is None or state.gallery_charts_open:
        _charts(loaded, chosen, model)
    else:
        # What a number of another view opened is on screen at once.
        st.button("Show the charts", on_click=lambda: State.gallery_charts_open.set(True), key="gallery_charts_show")
    shown = gallery_items.filtered_items(loaded, model)
    unknown = gallery_items.slice_boxes(loaded, model)
    if isinstance(unknown, str):
        st.warning(frame.escaped(unknown), icon=":material/info:")
    first = state.gallery_sheet * gallery_items.CARDS
    if first >= len(shown):
        state.gallery_sheet = 0
        first = 0
    _head(shown)
    if shown.causes is not None and len(shown.causes):
        cause_verdicts.judge(loaded, model, shown.causes)
    _cards(loaded, model, shown, first)
    write_url("gallery")


view()
