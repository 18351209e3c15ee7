"""Reading order, text and tables on the Overview: the numbers of the pages whose boxes are above, with intervals."""

from __future__ import annotations

import html

import streamlit as st

from evaluator.compare.metrics import METRICS
from evaluator.components.viewer.reading import READINGS
from evaluator.data.issues import count_of
from evaluator.metrics.resampling import FEW_DOCUMENTS
from pages.app import frame, widgets
from pages.app.session_files import PairModel
from pages.views.reading import reading_results
from pages.views.reading.reading_results import Reading

READING_VIEW = "pages/reading.py"
# More items than this are compared where they are asked for.
_MOST_ITEMS = 20_000


def draw() -> None:
    """Draw a column for each of order, text and tables that the files have; nothing for files without items."""
    readings = [of for of in map(reading_results.read, READINGS.values()) if of is not None]
    if not readings or max(len(of.loaded.dataset.ground_truth) for of in readings) > _MOST_ITEMS:
        return
    few = len(readings[0].loaded.dataset.documents) < FEW_DOCUMENTS
    frame.section(
        "Order, text and tables",
        f"of the same pages; {'too few documents for intervals' if few else '95 % intervals over documents'}",
    )
    with st.container(key="document_score"):
        for of, column in zip(readings, st.columns(len(readings), gap="medium"), strict=True):
            with column:
                _column(of)


def _column(of: Reading) -> None:
    system, pair = of.system, of.loaded.pair
    heads = "".join(f'<th scope="col">{frame.letter_badge(model.letter)}</th>' for model in pair)
    rows = "".join(_row(of, metric) for metric in reading_results.headline_of(of))
    st.html(
        f'<table class="ls-score{frame.theme_class()}"><thead><tr><th scope="col">{html.escape(system.title)}</th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )
    with st.container(horizontal=True, gap="small"):
        for model in pair:
            _mistakes(of, model)


def _row(of: Reading, metric: str) -> str:
    cells = "".join(f"<td>{reading_results.score_html(of, model, metric)}</td>" for model in of.loaded.pair)
    title = html.escape(METRICS[metric].title)
    lower = ", lower is better" if METRICS[metric].lower_is_better else ""
    return f'<tr><th scope="row" title="{title}{lower}">{title}</th>{cells}</tr>'


def _mistakes(of: Reading, model: PairModel) -> None:
    shown = reading_results.all_pages(of, model)
    pages = sum(page.mistakes > 0 for page in shown.pages)
    label = f"{model.letter}: {count_of(shown.mistakes, 'mistake')} on {count_of(pages, 'page')}"
    key = f"score_{of.system.name}_{model.letter}"
    widgets.button_to_view(
        READING_VIEW, label, reading_results.open_mistakes, of.system.name, model, key=key, type="tertiary"
    )
