"""The labels on the Overview: the worst as cells, and the table of all of them in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, get_args

import streamlit as st

from evaluator.compare.differences import Difference
from evaluator.components.overview import rows as shown_rows
from evaluator.data.issues import displayed, whole
from evaluator.matching.box_items import Status
from evaluator.matching.box_results import ALL_LABELS
from evaluator.metrics.results import threshold_text
from pages.app import frame, protocol, widgets
from pages.app.components import overview
from pages.app.results import Result, result_of
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import State, report, state
from pages.app.widgets import Column

_KEY: Final = "labels_shown"
_MOST_BUTTONS: Final = 4


def cells(
    loaded: LoadedBoxes,
    chosen: Sequence[PairModel],
    every: Sequence[Difference] | None,
    ask: Callable[[str, str], object],
) -> None:
    """Draw the labels with most wrong boxes; one `ask`s for its mistakes of the last model, by letter and label."""
    results = {model.letter: result_of(loaded, model) for model in chosen}

    def labelled() -> None:
        label = overview.events(report(_KEY)).label
        if label is not None:
            ask(chosen[-1].letter, whole(label, loaded.dataset.labels))

    def opened() -> None:
        widgets.turn(State.sections, "labels")

    payload = shown_rows.labels(results, every, opened="labels" in state.sections)
    with st.container(key="label_cells"):
        overview(payload, key=_KEY, on_label=labelled, on_every=opened)


def table(
    loaded: LoadedBoxes,
    chosen: tuple[PairModel, ...],
    open_pages: Callable[[str, str, Status | None, float], object],
) -> None:
    """Draw the numbers of every label at one IoU threshold."""
    head, controls = st.columns([1, 1.6], vertical_alignment="center")
    head.html(
        '<h2 class="ls-section">All labels <small>a row opens its mistakes, TP, FP and FN their boxes</small></h2>'
    )
    names = {model.letter: frame.escaped(frame.letter_and_name(model)) for model in chosen}
    thresholds = sorted({state.iou, *protocol.chosen().thresholds})
    with controls.container(
        horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small", key="labels_controls"
    ):
        letter = widgets.one_of("Numbers of", names, "numbers_of")
        iou = _table_iou(thresholds)
    results = {model.letter: result_of(loaded, model, iou=iou) for model in chosen}
    shown = results[letter if letter in results else "A"]
    ratio, count = widgets.ratio_column(66), widgets.count_column(48)
    event = widgets.table(
        _columns(results, shown),
        rows=13,
        on_select="rerun",
        key=f"labels_{letter}_{iou}",
        placeholder="–",
        names="Label",
        # All columns fit windows of 1,024 and 1,440 pixels.
        widest=176,
        columns={
            "Label": 112,
            "Boxes": count,
            **{
                f"F1, {model.letter}": widgets.bar_column(
                    model.letter, 70, f"F1, {model.letter}", help=frame.escaped(model.name)
                )
                for model in chosen
            },
            **dict.fromkeys(("Precision", "Recall", "Mean IoU", "Coverage", "Purity"), ratio),
            **dict.fromkeys(("TP", "FP", "FN"), count),
        },
        alt="Results by label",
    )
    for row, column in event["selection"]["cells"]:
        of = str(column).removeprefix("F1, ") if str(column).startswith("F1, ") else letter
        status = next((each for each in get_args(Status) if each == column), None)
        label = "" if row == 0 else shown.matching.labels[row - 1]
        open_pages(of, label, status, iou)


def _columns(results: Mapping[str, Result], shown: Result) -> dict[str, Column]:
    columns, micro = shown.per_label, shown.micro
    made: dict[str, Column] = {"Label": [ALL_LABELS, *map(displayed, shown.matching.labels)]}
    made["Boxes"] = [int((micro.tp + micro.fn)[0]), *(columns.tp + columns.fn)]
    for key, result in results.items():
        made[f"F1, {key}"] = [result.micro.f1[0], *result.per_label.f1]
    for name, field in (
        ("Precision", "precision"),
        ("Recall", "recall"),
        ("Mean IoU", "mean_iou"),
        ("Coverage", "mean_coverage"),
        ("Purity", "mean_purity"),
        ("TP", "tp"),
        ("FP", "fp"),
        ("FN", "fn"),
    ):
        made[name] = [getattr(micro, field)[0], *getattr(columns, field)]
    return made


def _table_iou(thresholds: list[float]) -> float:
    words: Callable[[float], str] = lambda value: f"IoU {threshold_text(round(value, 10))}"  # noqa: E731
    title, key = "IoU threshold of the table", f"table_iou_{state.iou}"
    if len(thresholds) > _MOST_BUTTONS:
        place = thresholds.index(state.iou)
        return float(st.selectbox(title, thresholds, place, words, key=key, label_visibility="collapsed", width=110))
    return float(
        st.segmented_control(
            title,
            thresholds,
            format_func=words,
            default=state.iou,
            key=key,
            label_visibility="collapsed",
            required=True,
        )
    )
