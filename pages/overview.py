"""Overview: how good each model is, on which labels and documents, and how well its boxes fit."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Final, get_args

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.charts import boxes as charts
from evaluator.compare.decision import Decision
from evaluator.compare.sentences import matched_sentence, worse_sentence
from evaluator.components.gallery import crops
from evaluator.components.viewer.mistake_filter import document_counts, label_counts
from evaluator.data.issues import count_of, displayed
from evaluator.matching.box_items import Status
from evaluator.matching.box_results import ALL_LABELS
from evaluator.matching.causes import Family
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from evaluator.metrics.results import threshold_text
from evaluator.review.decisions import CauseRow, deciding_cause
from pages.app import frame, pictures, protocol, widgets
from pages.app.address import read_url, write_url
from pages.app.results import Result, result_key, result_of
from pages.app.session_files import LoadedBoxes, Model, PairModel
from pages.app.state import Field, State, state
from pages.app.widgets import Column
from pages.views.browser import page_listing
from pages.views.compare import model_pair
from pages.views.files import doctor
from pages.views.gallery import gallery_items
from pages.views.overview import headline, means, protocol_metrics, score_curves

BROWSER_VIEW, GALLERY_VIEW, COMPARE_VIEW = "pages/page_browser.py", "pages/gallery.py", "pages/compare.py"
# One row in a window of 1,440 pixels.
_CAUSES_SHOWN = 5
_MOST_BUTTONS = 4
# The letter of the model and the status of the boxes that the reader asked for.
_BOXES_ASKED: Final[Field[tuple[str, Status] | None]] = Field(None, "boxes_asked")
# As high as the table of eight documents beside it.
_FIT_HEIGHT = 230


def _open_pages(
    model: Model,
    *,
    within: str = "",
    label: str = "",
    name: str = "",
    status: Status | None = None,
    iou: float | None = None,
) -> None:
    if iou is not None:
        state.iou = iou
    page_listing.open_all_of(model, within=within, label=label, name=name, status=status)
    st.switch_page(BROWSER_VIEW)


def _labels(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    head, controls = st.columns([1, 1.6], vertical_alignment="center")
    head.html('<h2 class="ls-section">Labels <small>a row opens its mistakes, TP, FP and FN their boxes</small></h2>')
    names = {model.letter: frame.escaped(f"{model.letter} {frame.short_name(model)}") for model in chosen}
    thresholds = sorted({state.iou, *protocol.chosen().thresholds})
    with controls.container(
        horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small", key="labels_controls"
    ):
        letter = widgets.one_of("Numbers of", names, "numbers_of")
        iou = _table_iou(thresholds)
    results = {model.letter: result_of(loaded, model, iou=iou) for model in chosen}
    shown = results[letter if letter in results else "A"]
    table = _label_rows(results, shown)
    ratio, count = widgets.ratio_column(66), widgets.count_column(48)
    event = widgets.table(
        table,
        rows=13,
        on_select="rerun",
        key=f"labels_{letter}_{iou}",
        placeholder="–",
        names="Label",
        # All columns fit windows of 1,024 and 1,440 pixels.
        widest=176,
        # The bars beside it have lines as well.
        high=True,
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
        _open_pages(_lettered(chosen, of), label=label, status=status, iou=iou)


def _label_rows(results: Mapping[str, Result], shown: Result) -> dict[str, Column]:
    columns, micro = shown.per_label, shown.micro
    labels = [ALL_LABELS, *map(displayed, shown.matching.labels)]
    table: dict[str, Column] = {"Label": labels}
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
    return table


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


def _mistakes(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    every = {model.letter: page_listing.all_mistakes(loaded, model) for model in chosen}
    head, control = st.columns([1.2, 1], gap="xsmall", vertical_alignment="center")
    with control.container(horizontal=True, horizontal_alignment="right"):
        by = widgets.one_of("Bars of the mistakes", {"Label": "Label", "Name": "Name"}, "mistakes_by")
    totals = "".join(f" {frame.letter_badge(letter)} {len(columns):,}" for letter, columns in every.items())
    head.html(f'<h2 class="ls-section{frame.theme_class()}">Mistakes <small class="ls-right">{totals}</small></h2>')
    if not any(map(len, every.values())):
        st.caption("No mistake at these thresholds.")
        return
    height = widgets.HEADER_HEIGHT + 12 * widgets.ROW_HEIGHT
    if by == "Name":
        titles = {ERROR_TYPES["document"][name].chip: name for name in DOCUMENT}
        counts = {letter: np.bincount(columns.kind, minlength=len(DOCUMENT)) for letter, columns in every.items()}
    else:
        titles = {displayed(label): label for label in loaded.dataset.labels}
        counts = {letter: label_counts(columns, len(titles)) for letter, columns in every.items()}
    with st.container(border=True, key="mistakes_chart"):
        chart = charts.mistakes_by_label(list(titles), counts, baseline="A", dark=frame.is_dark(), height=height)
        event = widgets.chart(
            st,
            chart,
            on_select="rerun",
            selection_mode="label",
            key=f"mistakes_{by}",
            alt=f"Mistakes by {str(by).lower()}",
        )
        st.caption("A bar opens them." + ("" if by == "Name" else " One between two labels counts for both."))
    for point in event["selection"]["label"]:
        asked = titles[str(point["label"])]
        label, name = ("", asked) if by == "Name" else (asked, "")
        _open_pages(_lettered(chosen, str(point.get("model"))), label=label, name=name)


def _lettered(chosen: tuple[PairModel, ...], letter: str | None) -> PairModel:
    """Return the model of a letter; A for a letter that no model has."""
    return next((model for model in chosen if model.letter == letter), chosen[0])


def _fit(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    lines = "A bars, B line" if len(chosen) == 2 else "bars"
    st.html(f'<h2 class="ls-section">Matched boxes <small>how well they fit: {lines}</small></h2>')
    results = {model.letter: result_of(loaded, model) for model in chosen}
    if not any(len(result.matches) for result in results.values()):
        st.caption("No box matches at these thresholds.")
        return
    for column, name in zip(st.columns(3, gap="small"), score_curves.FITS, strict=True):
        score_curves.fit_histogram(column, results, name, height=_FIT_HEIGHT)


def _documents(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    results = {model.letter: result_of(loaded, model) for model in chosen}
    dataset = loaded.dataset
    mistakes = {
        model.letter: document_counts(page_listing.all_mistakes(loaded, model), len(dataset.documents))
        for model in chosen
    }
    order = np.argsort(-mistakes["A"], kind="stable").tolist()
    pages = np.bincount(dataset.page_document, minlength=len(dataset.documents))
    table: dict[str, Column] = {"Document": [displayed(dataset.documents[row].name) for row in order]}
    table["Pages"] = pages[order]
    for key, result in results.items():
        table[f"F1, {key}"] = result.per_document.f1[order]
    for key, counts in mistakes.items():
        table[f"Mistakes, {key}"] = counts[order]
    st.html(f'<h2 class="ls-section">Documents, worst first <small>{len(order):,} by mistakes of A</small></h2>')
    event = widgets.table(
        table,
        rows=8,
        on_select="rerun",
        key="documents",
        placeholder="–",
        columns={
            "Document": 150,
            "Pages": widgets.count_column(48),
            **{f"F1, {model.letter}": widgets.bar_column(model.letter, 74, f"F1, {model.letter}") for model in chosen},
            **{
                f"Mistakes, {model.letter}": widgets.count_column(76, label=f"Mistakes {model.letter}")
                for model in chosen
            },
        },
        alt="Documents, worst first",
    )
    for row, column in event["selection"]["cells"]:
        letter = str(column)[-1:]
        _open_pages(_lettered(chosen, letter), within=dataset.documents[order[row]].doc_id)


def _headline(
    loaded: LoadedBoxes, chosen: tuple[PairModel, ...]
) -> tuple[Callable[[CauseRow | None], object], DeltaGenerator]:
    """Draw in one sentence what the models find, and what the files are; return what adds the worst, and the place."""
    rows = [result_of(loaded, model).micro.row(0) for model in chosen]
    counts = ([row["tp"] for row in rows], [row["fp"] for row in rows])
    sentence = matched_sentence([model.letter for model in chosen], *counts, rows[0]["tp"] + rows[0]["fn"])
    dataset = loaded.dataset
    of = f"The ground truth has {count_of(dataset.evaluated, 'label')} on {count_of(dataset.pages, 'page')} of "
    what = f"{of}{count_of(len(dataset.documents), 'document')}."
    place = st.container(key="headline").empty()

    def said(worst: CauseRow | None) -> None:
        more = ""
        if worst is not None and worst.family is not None:
            is_new = not len(worst.sides[0].rows)
            more = f" {displayed(worse_sentence(worst.family, [model.letter for model in chosen], is_new=is_new))}"
        place.html(f'<p class="ls-headline">{html.escape(sentence + more)}</p>')

    said(None)
    answer = st.container(key="answer", horizontal=True, vertical_alignment="center", gap="small")
    answer.html(f'<p class="ls-what">{html.escape(what)}</p>', width="content")
    return said, answer


def _answer(made: Decision | None) -> None:
    """Draw what Compare answers under the reader's rule, as the way there; of many boxes it takes too long here."""
    if made is not None:
        st.page_link(COMPARE_VIEW, label=frame.escaped(f"{made.headline}: {made.sentence}"), icon=":material/compare:")


@st.fragment
def _what_goes_wrong(loaded: LoadedBoxes, chosen: tuple[PairModel, ...], first: Family | None) -> None:
    """Draw the largest causes of mistakes as pictures, one of them first; one opens all its places in the grid."""
    results = [result_of(loaded, model) for model in chosen]
    shown = crops.family_cards(results, [model.letter for model in chosen], _CAUSES_SHOWN, first)
    cards = [card for card, _, _ in shown]
    of = "/".join(str(result_key(loaded, model)[:3]) for model in chosen)
    gallery_items.draw_cards(loaded, cards, of=of, key="causes_shown", empty="No mistake at these thresholds.")
    opened = State.gallery_opened.pop()
    for card, family, place in shown:
        if opened is not None and card.key == opened.key:
            state.model = chosen[place].index
            gallery_items.show_alike(family)
    if State.alike_asked.pop():
        st.switch_page(GALLERY_VIEW)


def _fit_and_documents(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    with st.container(key="documents_row"):
        left, right = st.columns([1.25, 1], gap="medium")
    with left:
        _fit(loaded, chosen)
    with right:
        _documents(loaded, chosen)


def view() -> None:
    """Draw the whole view."""
    read_url("overview")
    loaded = frame.open_boxes("Overview")
    if loaded is None:
        doctor.banner()
        return
    chosen = loaded.pair
    asked = _BOXES_ASKED.pop()
    if asked is not None:
        _open_pages(_lettered(chosen, asked[0]), status=asked[1])
    frame.title("Overview")
    frame.banners(loaded, chosen)
    doctor.banner()
    headline.thresholds(loaded, chosen, frame.signature(loaded, chosen, *means.weights_text(loaded)))
    own = protocol_metrics.has_own_numbers(loaded)
    if own:
        protocol_metrics.numbers_table(loaded, chosen)
        protocol_metrics.labels_and_curves(loaded, chosen)
        protocol_metrics.costs_and_scores(loaded, chosen)
        frame.section("At these thresholds", "what the lists show")
    add_worst, answer = _headline(loaded, chosen)
    with st.container(key="model_cards"):
        add_mistakes = headline.model_cards(
            loaded, chosen, lambda model, status: _BOXES_ASKED.set((model.letter, status))
        )
    causes = st.container(key="what_goes_wrong")
    with causes:
        # At once: a place without anything in it has no height.
        frame.section("What goes wrong", "an example of each of the largest causes; a picture opens all its places")
    with st.container(key="labels_row"):
        left, right = st.columns([2.75, 1], gap="small")
    with left:
        _labels(loaded, chosen)
    add_mistakes()
    made = model_pair.decision_of(loaded)
    worst = None if made is None else deciding_cause([result_of(loaded, model) for model in chosen], made)
    add_worst(worst)
    with causes:
        _what_goes_wrong(loaded, chosen, None if worst is None else worst.family)
    with right:
        _mistakes(loaded, chosen)
    with answer:
        _answer(made)
    with st.container(key="means_row"):
        means.means(loaded, chosen)
    score_curves.draw(loaded, chosen, GALLERY_VIEW)
    _fit_and_documents(loaded, chosen)
    if not own:
        protocol_metrics.scores(loaded, chosen)
    write_url("overview")
    if loaded.project.pdfs:
        # The pages that are looked at next then wait for no process.
        pictures.pool().start()


view()
