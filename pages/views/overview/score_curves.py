"""Curves against the score and how well pairs fit, on the Overview: what is marked on them opens in Grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.charts import boxes, curves
from evaluator.matching.box_items import MATCHED, MATCHED_NAME, Query
from pages.app import frame, widgets
from pages.app.results import Result, has_scores, result_of, score_threshold
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import State, chosen_points, chosen_range, state
from pages.views.gallery import gallery_items

_CHART_HEIGHT: Final = 236
FITS: Final = {"iou": "IoU", "coverage": "Coverage", "purity": "Purity"}


def _show(asked: Query, view: str) -> None:
    gallery_items.show_query(asked)
    state.curves_round += 1
    state.next_view = view


def scores(loaded: LoadedBoxes, chosen: tuple[PairModel, ...], view: str) -> None:
    """Draw what each model reaches at each score; what is marked leads to `view`."""
    scored = [model for model in chosen if has_scores(loaded, model)]
    if not scored:
        st.caption("All scores of the models are equal or missing, so there is no curve.")
        return
    places = {model.letter: model.index for model in scored}
    made = {model.letter: gallery_items.curve_of(loaded, model) for model in scored}
    current = {model.letter: score_threshold(loaded, model) for model in scored}
    label = state.label or None
    keys = [f"{name}_{state.curves_round}" for name in ("against_score", "precision_recall")]
    left, right = st.columns([1.35, 1], gap="medium")

    def brushed() -> None:
        bounds = chosen_range(keys[0], "score").get("score")
        if bounds:
            _show(Query(score=_bounds(bounds)), view)

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


def fit(loaded: LoadedBoxes, chosen: tuple[PairModel, ...], model: PairModel, view: str) -> None:
    """Draw how well the matched boxes of the models fit, and the pairs of one; what is marked leads to `view`."""
    results = {each.letter: result_of(loaded, each) for each in chosen}
    every = gallery_items.every_item(loaded, model)
    pairs = np.flatnonzero(~np.isnan(every.iou))
    if not len(pairs):
        st.caption("No box overlaps another at these thresholds.")
        return
    columns = st.columns([1, 1, 1, 1.4], gap="small")
    for column, name in zip(columns, FITS, strict=False):
        key = f"fit_{name}_{state.curves_round}"
        marked: dict[str, Any] = {"on_select": _fit_callback(key, name, view), "selection_mode": "range", "key": key}
        _histogram(column, results, name, **marked)
    drawn = pairs[: curves.SCATTER_POINTS]
    key = f"fit_scatter_{state.curves_round}"
    left_out = f", the first {len(drawn):,} of {len(pairs):,}" if len(drawn) < len(pairs) else ""
    columns[3].html(
        f'<div class="ls-fit"><b>Coverage and purity</b><span>pairs of {model.letter}{left_out}</span></div>'
    )

    def brushed() -> None:
        ranges = chosen_range(key, "fit")
        coverage, purity = ranges.get("coverage"), ranges.get("purity")
        if coverage and purity:
            _show(Query(coverage=_bounds(coverage), purity=_bounds(purity)), view)

    widgets.chart(
        columns[3],
        curves.coverage_purity(
            every.coverage[drawn],
            every.purity[drawn],
            (every.kind[drawn] == MATCHED).tolist(),
            dark=frame.is_dark(),
            height=_CHART_HEIGHT - 30,
        ),
        on_select=brushed,
        selection_mode="fit",
        key=key,
        alt="Purity against coverage",
    )


def _histogram(
    column: DeltaGenerator,
    results: Mapping[str, Result],
    name: str,
    **marked: Any,  # noqa: ANN401 - as Streamlit's
) -> None:
    """Draw how well the matched boxes of each model, by letter, fit by one of `FITS`; `marked`: how a range is."""
    means = ", ".join(
        f"{letter} {frame.number(result.micro.row(0)[f'mean_{name}'])}"  # type: ignore[literal-required]
        for letter, result in results.items()
    )
    column.html(f'<div class="ls-fit"><b>{FITS[name]}</b><span>mean {means}</span></div>')
    values = {letter: getattr(result.matches, name) for letter, result in results.items()}
    widgets.chart(
        column,
        boxes.histogram(values, low=state.iou, baseline="A", dark=frame.is_dark(), height=_CHART_HEIGHT - 30),
        alt=f"{FITS[name]} of matched boxes",
        **marked,
    )


def _fit_callback(key: str, name: str, view: str) -> Callable[[], None]:
    def brushed() -> None:
        bounds = chosen_range(key, "range").get("start")
        if bounds:
            _show(msgspec.structs.replace(Query(name=MATCHED_NAME), **{name: _bounds(bounds)}), view)

    return brushed


def _bounds(values: list[float]) -> tuple[float, float]:
    low, high = sorted(min(max(float(value), 0.0), 1.0) for value in values[:2])
    return round(low, 3), round(high, 3)
