"""Overview: what each model finds and what goes wrong, on which labels and documents, and how well its boxes fit."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Final

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.compare.decision import Decision
from evaluator.compare.sentences import matched_sentence, worse_sentence
from evaluator.components.viewer.mistake_filter import document_counts
from evaluator.data.issues import count_of, displayed, name_in_list, plain
from evaluator.matching.box_items import Status
from evaluator.metrics.resampling import RESAMPLES
from evaluator.review.decisions import CauseRow
from pages.app import frame, pictures, widgets
from pages.app.address import read_url, write_url
from pages.app.results import is_resampled, result_of
from pages.app.session_files import LoadedBoxes, PairModel, of_letter
from pages.app.state import Field, State, state
from pages.app.widgets import Column
from pages.views.browser import page_listing
from pages.views.compare import model_pair
from pages.views.files import doctor
from pages.views.overview import bars, causes, document_score, headline, labels, means, protocol_metrics, score_curves

BROWSER_VIEW, COMPARE_VIEW = "pages/page_browser.py", "pages/compare.py"
# Letter of a model, status and label of the boxes that the reader asked for; empty for any.
_BOXES_ASKED: Final[Field[tuple[str, Status | None, str] | None]] = Field(None, "boxes_asked")
_SECTIONS: Final = {
    "scores": ("Scores", "drag to see the boxes of a score range; a point of the right curve sets the threshold"),
    "fit": ("Fit", "IoU, coverage and purity of matched boxes; drag to see the pairs that fit like this"),
    "means": ("Means", "over all boxes, documents and labels at these thresholds"),
    "documents": ("Documents", "worst first, by mistakes of A"),
}


def _open_pages(
    loaded: LoadedBoxes,
    letter: str,
    *,
    within: str = "",
    label: str = "",
    status: Status | None = None,
    iou: float | None = None,
) -> None:
    if iou is not None:
        state.iou = iou
    model = of_letter(loaded.pair, letter) or loaded.pair[0]
    page_listing.open_all_of(model, within=within, label=label, status=status)
    st.switch_page(BROWSER_VIEW)


def _headline(
    loaded: LoadedBoxes, chosen: tuple[PairModel, ...]
) -> tuple[Callable[[CauseRow | None], object], DeltaGenerator]:
    """Draw in one sentence what the models find, and what the files are; return what adds the worst, and the place."""
    rows = [result_of(loaded, model).micro for model in chosen]
    tp, fp, fn = ([int(getattr(row, name)[0]) for row in rows] for name in ("tp", "fp", "fn"))
    sentence = matched_sentence([model.letter for model in chosen], tp, fp, tp[0] + fn[0])
    truth = loaded.ground_truth
    of = f"{count_of(len(truth.page_index), 'page')} of {count_of(len(truth.documents), 'document')}"
    what = f"The ground truth has {count_of(loaded.dataset.evaluated, 'label')} on {of}."
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
        st.page_link(COMPARE_VIEW, label=frame.escaped(f"{made.headline}: {made.sentence}"))


def _numbers(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> bool:
    """Draw the numbers at the thresholds, then the protocol's own; return whether it has any."""
    with st.container(key=f"bars_{len(chosen)}"):
        bars.draw(loaded, chosen, lambda letter, status: _BOXES_ASKED.set((letter, status, "")))
    # Which may take long.
    own = protocol_metrics.has_own_numbers(loaded)
    if own:
        with st.container(key=f"own_numbers_{len(chosen)}"):
            protocol_metrics.numbers_table(loaded, chosen)
    return own


def _labels(loaded: LoadedBoxes, chosen: tuple[PairModel, ...], *, differ: bool, own: bool) -> None:
    cells = st.container()
    if "labels" in state.sections:
        if own:
            protocol_metrics.labels_and_curves(loaded, chosen)

        def open_pages(letter: str, label: str, status: Status | None, iou: float) -> None:
            _open_pages(loaded, letter, label=label, status=status, iou=iou)

        labels.table(loaded, chosen, open_pages)
    every = model_pair.compare_models(loaded).differences if differ else None
    # After the table: it is there when the cells bring it into the window.
    with cells:
        labels.cells(loaded, chosen, every, lambda letter, label: _BOXES_ASKED.set((letter, None, label)))


def _documents(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    results = {model.letter: result_of(loaded, model) for model in chosen}
    dataset = loaded.dataset
    mistakes = {
        model.letter: document_counts(page_listing.all_mistakes(loaded, model), len(dataset.documents))
        for model in chosen
    }
    order = np.argsort(-mistakes["A"], kind="stable").tolist()
    pages = np.bincount(dataset.page_document, minlength=len(dataset.documents))
    table: dict[str, Column] = {"Document": [name_in_list(dataset.documents[row].name) for row in order]}
    table["Pages"] = pages[order]
    for key, result in results.items():
        table[f"F1, {key}"] = result.per_document.f1[order]
    for key, counts in mistakes.items():
        table[f"Mistakes, {key}"] = counts[order]
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
        _open_pages(loaded, letter, within=dataset.documents[order[row]].doc_id)


def _sections(loaded: LoadedBoxes, chosen: tuple[PairModel, ...], *, own: bool) -> None:

    def scores() -> None:
        score_curves.scores(loaded, chosen, causes.GALLERY_VIEW)
        if own:
            protocol_metrics.costs_and_scores(loaded, chosen)
        else:
            protocol_metrics.scores(loaded, chosen)

    draw: dict[str, Callable[[], object]] = {
        "scores": scores,
        "fit": lambda: score_curves.fit(loaded, chosen, loaded.shown_of_pair, causes.GALLERY_VIEW),
        "means": lambda: means.means(loaded, chosen),
        "documents": lambda: _documents(loaded, chosen),
    }
    for name, (words, facts) in _SECTIONS.items():
        with st.container(key=f"section_{name}", horizontal=True, vertical_alignment="center", gap="small"):
            widgets.fold(name, words, State.sections)
            st.html(f'<p class="ls-facts">{facts}</p>', width="stretch")
        if name in state.sections:
            draw[name]()


def _foot(loaded: LoadedBoxes, chosen: tuple[PairModel, ...], signature: str) -> None:
    wrong = ", ".join(f"{model.letter} has {result_of(loaded, model).micro.mistakes[0]:,}" for model in chosen)
    intervals = is_resampled(loaded, chosen) and frame.interval_words(loaded)
    few = "" if frame.interval_words(loaded) else " · too few documents for an interval"
    drawn = f" · intervals from {RESAMPLES:,} resamples of the documents" if intervals else few
    st.html(
        f'<div class="ls-foot"><span>Wrong boxes, extra (FP) and missed (FN): {wrong}.</span>'
        f"<span>{html.escape(plain(signature))}{drawn}</span></div>"
    )


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
        _open_pages(loaded, asked[0], status=asked[1], label=asked[2])
    state.sections = [name for name in state.sections if name == "labels" or name in _SECTIONS]
    frame.title("Overview")
    frame.banners(loaded, chosen)
    diagnosed = st.container()
    signature = frame.signature(loaded, chosen, *means.weights_text(loaded))
    headline.thresholds(loaded, chosen, signature)
    add_worst, answer = _headline(loaded, chosen)
    own = _numbers(loaded, chosen)
    # After the numbers, which wait for no diagnosis.
    doctor.banner(diagnosed)
    document_score.draw()
    with answer:
        made = model_pair.decision_of(loaded)
        _answer(made)
    rows = causes.rows_of(loaded)
    add_worst(rows[0] if rows and rows[0].fails else None)
    causes.draw(loaded, rows)
    _labels(loaded, chosen, differ=made is not None, own=own)
    _foot(loaded, chosen, signature)
    _sections(loaded, chosen, own=own)
    write_url("overview")
    if loaded.project.pdfs:
        # The pages that are looked at next then wait for no process.
        pictures.pool().start()


view()
