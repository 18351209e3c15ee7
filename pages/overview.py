"""Overview: how good each model is, on which labels and documents, and how well its boxes fit."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from evaluator.charts import boxes as charts
from evaluator.metrics.box_results import ALL_LABELS
from evaluator.metrics.error_types import DOCUMENT, ERROR_TYPES
from evaluator.metrics.results import threshold_text
from evaluator.model.issues import plain
from pages.shared import doctor, frame, headline, protocol, widgets
from pages.shared.address import read_url, write_url
from pages.shared.opened import Named, OpenedBoxes
from pages.shared.results import Result, result_of
from pages.shared.state import state

BROWSER_VIEW = "pages/page_browser.py"
_FITS = (("IoU", "iou", "mean_iou"), ("Coverage", "coverage", "mean_coverage"), ("Purity", "purity", "mean_purity"))


def _open_pages(*, within: str = "", label: str = "") -> None:
    """Go to the page browser with some of its filters set."""
    state.within, state.label, state.order = within, label, "worst"
    state.box = state.page = None
    st.switch_page(BROWSER_VIEW)


def _labels(found: OpenedBoxes, chosen: tuple[Named, ...]) -> None:
    """One row per label: F1 of both models, and all numbers of one of them."""
    head, controls = st.columns([1, 1.6], vertical_alignment="center")
    head.html('<h2 class="ls-section">Labels <small>a row opens its boxes</small></h2>')
    names = {model.letter: f"{model.letter} {frame.short_name(model)}" for model in chosen}
    thresholds = sorted({state.iou, *protocol.chosen().thresholds})
    with controls.container(horizontal=True, horizontal_alignment="right", gap="small"):
        letter = st.segmented_control(
            "Numbers of",
            list(names),
            format_func=lambda key: frame.escaped(names[key]),
            default="A",
            key="numbers_of",
            label_visibility="collapsed",
            required=True,
            persist_state="session",
        )
        iou = st.segmented_control(
            "IoU threshold of the table",
            thresholds,
            format_func=lambda value: f"IoU {threshold_text(value)}",
            default=state.iou,
            key=f"table_iou_{state.iou}",
            label_visibility="collapsed",
            required=True,
        )
    results = {model.letter: result_of(found, model, iou=iou) for model in chosen}
    shown = results[letter if letter in results else "A"]
    columns, micro = shown.per_label, shown.micro
    labels = [ALL_LABELS, *(plain(label) for label in shown.matching.labels)]
    table = pd.DataFrame({"Label": labels})
    table["Boxes"] = [int((micro.tp + micro.fn)[0]), *(columns.tp + columns.fn)]
    for key, result in results.items():
        table[f"F1, {key}"] = [result.micro.f1[0], *result.per_label.f1]
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
        table[name] = [getattr(micro, field)[0], *getattr(columns, field)]
    ratio, count = widgets.ratio(66), widgets.count(48)
    event = widgets.table(
        table,
        rows=13,
        on_select="rerun",
        key=f"labels_{letter}_{iou}",
        placeholder="–",
        columns={
            "Label": 112,
            "Boxes": count,
            **{
                f"F1, {model.letter}": widgets.bar(
                    model.letter, 98, f"F1, {model.letter}", help=frame.escaped(model.name)
                )
                for model in chosen
            },
            **dict.fromkeys(("Precision", "Recall", "Mean IoU", "Coverage", "Purity"), ratio),
            **dict.fromkeys(("TP", "FP", "FN"), count),
        },
        alt="Results by label",
    )
    for row, _ in event["selection"]["cells"]:
        state.model = next((model.index for model in chosen if model.letter == letter), chosen[0].index)
        _open_pages(label="" if row == 0 else shown.matching.labels[row - 1])


def _mistakes(found: OpenedBoxes, chosen: tuple[Named, ...]) -> None:
    """Mistakes per label or per name, one bar per model."""
    results = {model.letter: result_of(found, model) for model in chosen}
    head, control = st.columns([1.2, 1], gap="xsmall", vertical_alignment="center")
    with control.container(horizontal=True, horizontal_alignment="right"):
        by = st.segmented_control(
            "Bars of the mistakes",
            ["Label", "Name"],
            default="Label",
            key="mistakes_by",
            label_visibility="collapsed",
            required=True,
            persist_state="session",
        )
    totals = "".join(f" {frame.letter_badge(letter)} {_items(result, by):,}" for letter, result in results.items())
    head.html(f'<h2 class="ls-section{frame.theme()}">Mistakes <small class="ls-right">{totals}</small></h2>')
    if not any(int(result.micro.mistakes[0]) for result in results.values()):
        st.caption("No mistake at these thresholds.")
        return
    height = widgets.HEADER_HEIGHT + 12 * widgets.ROW_HEIGHT
    with st.container(border=True, key="mistakes_chart"):
        if by == "Name":
            counts = {letter: result.mistakes.counts for letter, result in results.items()}
            titles = [ERROR_TYPES["document"][name].chip for name in DOCUMENT]
            chart = charts.mistakes_by_label(titles, counts, baseline="A", dark=frame.is_dark(), height=height)
            st.altair_chart(chart, theme=None, key="mistakes_by_name", alt="Mistakes by name")
            return
        per_label = {letter: result.per_label.mistakes for letter, result in results.items()}
        labels = next(iter(results.values())).matching.labels
        chart = charts.mistakes_by_label(labels, per_label, baseline="A", dark=frame.is_dark(), height=height)
        event = st.altair_chart(
            chart, on_select="rerun", selection_mode="label", theme=None, key="mistakes", alt="Mistakes by label"
        )
    points = event["selection"]["label"]
    if points:
        _open_pages(label=str(points[0]["label"]))


def _items(result: Result, by: str | None) -> int:
    """How many mistakes the bars add up to: boxes by label, named mistakes (a pair is one) by name."""
    return int(result.mistakes.counts.sum()) if by == "Name" else int(result.micro.mistakes[0])


def _fit(found: OpenedBoxes, chosen: tuple[Named, ...]) -> None:
    """How well matched boxes fit: IoU, coverage and purity."""
    lines = "A bars, B line" if len(chosen) == 2 else "bars"
    st.html(f'<h2 class="ls-section">Matched boxes <small>how well they fit: {lines}</small></h2>')
    results = {model.letter: result_of(found, model) for model in chosen}
    if not any(len(result.matches) for result in results.values()):
        st.caption("No box matches at these thresholds.")
        return
    for column, (name, field, mean) in zip(st.columns(3, gap="small"), _FITS, strict=True):
        means = ", ".join(f"{key} {frame.number(result.micro.row(0)[mean])}" for key, result in results.items())  # type: ignore[literal-required]
        column.html(f'<div class="ls-fit"><b>{name}</b><span>mean {means}</span></div>')
        values = {key: getattr(result.matches, field) for key, result in results.items()}
        low = state.iou
        column.altair_chart(
            charts.histogram(values, low=low, baseline="A", dark=frame.is_dark()),
            theme=None,
            alt=f"{name} of matched boxes",
        )


def _documents(found: OpenedBoxes, chosen: tuple[Named, ...]) -> None:
    """Documents, worst first; a row opens its pages."""
    results = {model.letter: result_of(found, model) for model in chosen}
    first = results["A"].per_document
    order = sorted(range(len(first)), key=lambda row: (-int(first.mistakes[row]), row))
    dataset = found.dataset
    pages = pd.Series(dataset.page_document).value_counts()
    table = pd.DataFrame({"Document": [plain(dataset.documents[row].name) for row in order]})
    table["Pages"] = [int(pages.get(row, 0)) for row in order]
    for key, result in results.items():
        table[f"F1, {key}"] = result.per_document.f1[order]
    for key, result in results.items():
        table[f"Mistakes, {key}"] = result.per_document.mistakes[order]
    st.html(f'<h2 class="ls-section">Documents, worst first <small>{len(table)} by mistakes of A</small></h2>')
    event = widgets.table(
        table,
        rows=8,
        on_select="rerun",
        key="documents",
        placeholder="–",
        columns={
            "Document": 170,
            "Pages": widgets.count(52),
            **{f"F1, {model.letter}": widgets.bar(model.letter, 96, f"F1, {model.letter}") for model in chosen},
            **{
                f"Mistakes, {model.letter}": st.column_config.NumberColumn(
                    f"Mistakes {model.letter}", format="localized", width=80
                )
                for model in chosen
            },
        },
        alt="Documents, worst first",
    )
    for row, _ in event["selection"]["cells"]:
        _open_pages(within=dataset.documents[order[row]].doc_id)


def view() -> None:
    """The whole view."""
    read_url("overview")
    found = frame.open_boxes("Overview")
    if found is None:
        doctor.banner()
        return
    frame.files_choice(found)
    chosen = found.pair
    frame.title("Overview", frame.signature(found, chosen))
    frame.banners(found, chosen)
    doctor.banner()
    headline.operating_point(found, chosen)
    baseline = result_of(found, chosen[0]).micro
    for model, column in zip(chosen, st.columns(len(chosen), gap="small"), strict=True):
        with column:
            headline.model_card(found, model, None if model.letter == "A" else baseline)
    with st.container(key="labels_row"):
        left, right = st.columns([2.75, 1], gap="small")
    with left:
        _labels(found, chosen)
    with right:
        _mistakes(found, chosen)
    with st.container(key="documents_row"):
        left, right = st.columns([1.25, 1], gap="medium")
    with left:
        _fit(found, chosen)
    with right:
        _documents(found, chosen)
    frame.sidebar(found)
    write_url("overview")


view()
