"""The second row of Pixel confusion: collapsed matrix, F1 of classes, means, pages behind the cell."""

from __future__ import annotations

import html

import numpy as np
import streamlit as st

from evaluator.charts import pixel as charts
from evaluator.components.matrix import matrix as heatmap
from evaluator.data.boxes import FloatArray
from evaluator.data.issues import count_of, cut, name_in_list
from evaluator.metrics.results import defined
from evaluator.protocols import pixel
from evaluator.protocols.pixel.cells import CellFacts, share_text
from evaluator.protocols.pixel.matrix import Matrices, PageMeans
from pages.app import frame, widgets
from pages.app.session_files import LoadedBoxes, Place
from pages.app.state import State, chosen_cells, go_to_page, state
from pages.views.pixel.scope import Scope, ShownMatrix, place_of, sides_of

_BEHIND = "pixel_behind"
_MEANS = {"all_classes": "All classes", "present_classes": "Present classes"}
_PAGES_SHOWN = 200
# Means over more pages than this are computed when asked for.
PAGES_AT_ONCE = 50_000


def summary(loaded: LoadedBoxes, shown: ShownMatrix, letter: str, facts: CellFacts, place: Place | None) -> None:
    """Draw the second row: collapsed matrix, F1 bars, means, pages behind the cell."""
    with st.container(key="pixel_lower"):
        first, second, third, fourth = st.columns([1.15, 1.1, 0.95, 1.25], gap="medium")
    with first:
        _collapsed(shown)
    with second:
        _bars(shown)
    with third:
        _means(shown)
    with fourth:
        _behind(shown, letter, facts, place)


def _collapsed(shown: ShownMatrix) -> None:
    rows, _ = sides_of(shown)
    small = f"pixels; rows: {rows[0].lower() + rows[1:]}"
    st.html(f'<h2 class="ls-section">Collapsed <small>{html.escape(small)}</small></h2>')
    cells = {letter: scope.columns.collapsed for letter, scope in shown.scopes.items()}
    names = ("background", "any label")
    body = "<tr><th></th>" + "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr>"
    for row, name in enumerate(names):
        body += f'<tr><th scope="row">{name}</th>'
        for column in (0, 1):
            body += _collapsed_cell(shown, cells, row, column)
        body += "</tr>"
    st.html(f'<table class="ls-collapsed{frame.theme_class()}">{body}</table>')


def _collapsed_cell(shown: ShownMatrix, cells: dict[str, Matrices], row: int, column: int) -> str:
    lines = []
    shares = []
    for letter, matrices in cells.items():
        scope = shown.scopes[letter]
        pixels, share = (float(getattr(matrices, name)[scope.row, row, column]) for name in ("confusion", "recall"))
        shares.append(share)
        words = "n/a" if np.isnan(share) else f"{share_text(share)} of row"
        both = len(cells) > 1
        head = f"{frame.letter_badge(letter)} {words}" if both else heatmap.short_pixels(pixels)
        lines.append(f"<b>{head}</b>" if not both else f"<div>{head}</div>")
        lines += [] if both else [f"<span>{words}</span>"]
    known = [share for share in shares if not np.isnan(share)]
    level = "out" if row + column == 0 or not known else heatmap.step_of(max(known))
    return f'<td class="ls-step-{level}">{"".join(lines)}</td>'


def _bars(shown: ShownMatrix) -> None:
    f1 = {letter: scope.columns.f1[scope.row] for letter, scope in shown.scopes.items()}
    letters = {"B" if shown.of == "B on A" else letter: values for letter, values in f1.items()}
    same = all(scope.result.same_classes for scope in shown.scopes.values())
    known = len(charts.lowest_f1(shown.first.result.classes, letters, top=64))
    small = (
        f"{min(known, charts.TOP)} lowest of {known}"
        if known > charts.TOP
        else f"{known} {'class' if known == 1 else 'classes'}"
    )
    st.html(f'<h2 class="ls-section">Pixel F1 <small>{small}</small></h2>')
    if not known:
        text = (
            "No class has pixels here."
            if same
            else "The sides use different classes, so no class has an F1 of its own."
        )
        st.caption(text)
        return
    classes = shown.first.result.classes
    aligned = {letter: _aligned(values, shown.scopes, letter, classes) for letter, values in letters.items()}
    chart = charts.f1_by_class(classes, aligned, baseline="A", dark=frame.is_dark(), height=330)
    widgets.chart(st, chart, key="pixel_f1", alt="Pixel F1 by class, lowest first")


def _aligned(values: FloatArray, scopes: dict[str, Scope], letter: str, classes: tuple[str, ...]) -> FloatArray:
    own = scopes[letter].result.classes if letter in scopes else classes
    return np.array([values[own.index(name)] if name in own else np.nan for name in classes])


def _means(shown: ShownMatrix) -> None:
    st.html('<h2 class="ls-section">Means</h2>')
    letters = sorted(shown.beside)
    rows: list[tuple[str, list[str]]] = []
    for name, title in (("all", _MEANS["all_classes"]), ("present", _MEANS["present_classes"])):
        means = [getattr(scope.columns, f"mean_{name}")("f1")[scope.row] for _, scope in sorted(shown.beside.items())]
        rows.append((title, [frame.number(defined(float(mean))) for mean in means]))
    waiting = False
    if state.pixel_scope != "page":
        over: list[str] = []
        for _, scope in sorted(shown.beside.items()):
            asked = state.pixel_page_means or len(scope.pages) <= PAGES_AT_ONCE
            waiting = waiting or not asked
            over.append(frame.number(_page_mean(scope)) if asked else "…")
        rows.append(("Mean over pages", over))
    head = "".join(f"<th>{frame.letter_badge('B' if shown.of == 'B on A' else letter)}</th>" for letter in letters)
    body = "".join(
        f'<tr><th scope="row">{title}</th>{"".join(f"<td>{value}</td>" for value in values)}</tr>'
        for title, values in rows
    )
    head = f"<thead><tr><th>Mean F1</th>{head}</tr></thead>"
    st.html(f'<table class="ls-means{frame.theme_class()}">{head}<tbody>{body}</tbody></table>')
    if waiting:
        words = "Compute the mean over pages"
        st.button(words, key="pixel_means_wanted", on_click=State.pixel_page_means.set, args=(True,))
    if any(scope.result.mixed_sizes for scope in shown.scopes.values()):
        beside = "" if state.pixel_scope == "page" else "; the mean over pages gives each the same weight"
        st.caption(f"Pages weigh by their pixels and differ in size{beside}.")


def _page_mean(scope: Scope) -> float | None:
    if state.pixel_scope == "document" and len(scope.pages):
        low, high = int(scope.pages[0]), int(scope.pages[-1]) + 1
        means = PageMeans.of(scope.result.per_page.between(low, high), scope.pages - low).to_json()
    else:
        means = scope.result.page_means.to_json()
    value: float | None = means["mean"]["present_classes"]["f1"]
    return value


def _choose_page(result: pixel.PixelResult, facts: CellFacts, key: str) -> None:
    for row, _ in chosen_cells(key):
        place = place_of(result, facts.behind[int(row)].page)
        go_to_page(place.document, place.index)


def _behind(shown: ShownMatrix, letter: str, facts: CellFacts, place: Place | None) -> None:
    of = f"of {letter}, " if shown.of == "A-B" else ""
    small = f"{of}{facts.pages:,} of {count_of(len(shown.scopes[letter].pages), 'page')}"
    st.html(f'<h2 class="ls-section">Pages behind the cell <small>{small}</small></h2>')
    if not facts.behind:
        st.caption("No page adds to this cell.")
        return
    result = shown.scopes[letter].result
    places = [place_of(result, each.page) for each in facts.behind[:_PAGES_SHOWN]]
    names = {document.doc_id: name_in_list(document.name) for document in result.dataset.documents}
    table = {
        "": ["▸" if each == place else "" for each in places],
        "Document": [names[each.document] for each in places],
        "Page": [each.index + 1 for each in places],
        "Pixels": [each.pixels for each in facts.behind[:_PAGES_SHOWN]],
    }
    key = f"{_BEHIND}_{shown.of}_{letter}_{cut(facts.row)}_{cut(facts.column)}_{state.pixel_scope}"
    widgets.table(
        table,
        rows=7,
        on_select=lambda: _choose_page(result, facts, key),
        key=key,
        columns={
            "": 22,
            "Document": 140,
            "Page": widgets.count_column(48),
            "Pixels": widgets.count_column(80),
        },
        alt="Pages behind the cell",
    )
