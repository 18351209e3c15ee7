"""Confusion: which pixels of one label are taken for another, down to the pixels on the page."""

from __future__ import annotations

import hashlib
import html
from typing import NamedTuple

import msgspec
import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.components.matrix import matrix as heatmap
from evaluator.components.matrix.payload import MatrixPayload, with_axes
from evaluator.components.tint.cell_overlay import tint_data
from evaluator.components.tint.payload import TintPayload
from evaluator.components.viewer.payload import SharperEvent
from evaluator.data.issues import Issue, count_of, cut, displayed, issue_count, name_in_list, whole
from evaluator.metrics import export
from evaluator.metrics.results import defined
from evaluator.protocols import PROTOCOLS, pixel
from evaluator.protocols.pixel.cells import CellFacts, asymmetry, cell_words, difference_words
from pages.app import components, frame, pictures, widgets
from pages.app.address import at, read_url, write_url
from pages.app.session_files import LoadedBoxes, Place, load_pixels
from pages.app.state import AnyField, State, chosen_cells, form_value, go_to_page, report, state
from pages.views.compare import pair_differences
from pages.views.overview import headline
from pages.views.pixel import pixel_results
from pages.views.pixel.scope import (
    ShownMatrix,
    build_matrix,
    differences,
    facts_of,
    first_cell,
    letters_of,
    page_row,
    place_of,
    shown_place,
    sides_of,
    values_of,
)
from pages.views.pixel.summary import PAGES_AT_ONCE, summary

_HEATMAP, _PAGE, _TABLE = "pixel_matrix", "pixel_page_view", "pixel_table"
_SHOWS = {"pixels": "Pixels", "row": "Row share", "column": "Column share", "f1": "F1"}
_COLOURS = {"steps": "Steps", "linear": "Linear", "log": "Log"}
_SIZE = ("Width", "Height")
# The count names at most so many issues of one rule.
_ISSUES_OF_A_RULE = 200


# --- choices --------------------------------------------------------------------------------------------------


def _place_choices(result: pixel.PixelResult, place: Place | None) -> None:
    if place is None:
        return
    dataset = result.dataset
    counted = np.flatnonzero(result.counted)
    names = {each.doc_id: name_in_list(each.name) for each in dataset.documents}
    present = [dataset.documents[code].doc_id for code in np.unique(dataset.page_document[counted]).tolist()]
    state.pixel_document = place.document
    st.selectbox(
        "Document",
        present,
        format_func=names.__getitem__,
        key=State.pixel_document.key,
        on_change=State.pixel_document.changed(_choose_document),
    )
    code = dataset.document_code[place.document]
    pages = dataset.page_index[counted[dataset.page_document[counted] == code]].tolist()
    state.pixel_page = place.index
    st.selectbox(
        "Page",
        pages,
        format_func=lambda index: f"{index + 1:,}",
        key=State.pixel_page.key,
        on_change=State.pixel_page.changed(_choose_page),
    )


def _choose_document() -> None:
    state.doc, state.page = state.pixel_document, None


def _choose_page() -> None:
    state.page = state.pixel_page


def _controls(loaded: LoadedBoxes, result: pixel.PixelResult, place: Place | None) -> None:
    documents = len(np.unique(result.dataset.page_document[result.counted]))
    scopes = {
        "page": f"Page {place.index + 1:,}" if place else "Page",
        "document": "Document",
        "dataset": f"All {count_of(documents, 'document')}",
    }
    controls: tuple[tuple[AnyField, str, dict[str, str]], ...] = (
        (State.pixel_scope, "Scope", scopes),
        (State.pixel_shows, "Cell shows", _SHOWS),
        (State.pixel_colour, "Colour", _COLOURS),
    )
    for field, title, options in controls:
        widgets.switch(title, options, field)
    pixel_results.model_switch(loaded, pixel_results.matrix_choices(loaded))


def _choose_cell(classes: tuple[str, ...]) -> None:
    cell = components.chosen_cell(report(_HEATMAP), len(classes))
    if cell is not None:
        pixel_results.choose_cell(classes, *cell)


def _choose_table_cell(classes: tuple[str, ...], key: str) -> None:
    for row, sent in chosen_cells(key):
        column = whole(sent, classes)
        if column in classes:
            pixel_results.choose_cell(classes, int(row), classes.index(column))


def _sharper(place: Place) -> None:
    wanted = components.tint.events(report(_PAGE)).sharper
    if wanted is not None:
        pictures.request_sharper(SharperEvent(place.document, place.index, wanted.width))


# --- parts of the view ----------------------------------------------------------------------------------------


def _heatmap_data(shown: ShownMatrix, cell: tuple[int, int]) -> MatrixPayload:
    shows, colour = state.pixel_shows, state.pixel_colour
    if shown.of == "A-B":
        shares = differences(shown, "row") if shows == "pixels" else None
        data = heatmap.difference_data(differences(shown, shows), shows, colour, shares=shares)
    else:
        data = heatmap.matrix_data(shown.classes, shown.first.matrices, shows, colour)
    rows, columns = sides_of(shown)
    return with_axes(
        msgspec.structs.replace(data, classes=[displayed(name) for name in shown.classes]),
        key=f"{shown.of} {state.pixel_scope}",
        rows=rows,
        columns=columns,
        letters=("A", "B"),
        chosen=cell,
    )


def _heading(shown: ShownMatrix) -> bool:
    adds = {"row": "each row adds to 100 per cent; ", "column": "each column adds to 100 per cent; "}
    small = f"{'' if shown.of == 'A-B' else adds.get(state.pixel_shows, '')}a cell opens its pages"
    with st.container(key="pixel_heading", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f'<h2 class="ls-section">Where each label’s pixels go <small>{html.escape(small)}</small></h2>')
        as_table = st.toggle("As table", key="pixel_as_table", persist_state="session")
        st.download_button(
            "CSV",
            lambda: _archive(shown),
            file_name="pixel-confusion.zip",
            mime="application/zip",
            icon=":material/download:",
            key="pixel_csv",
            help="Every matrix of this scope, one CSV each, in a zip archive.",
            on_click="ignore",
        )
    return as_table


def _matrix(shown: ShownMatrix, cell: tuple[int, int], *, as_table: bool) -> None:
    rows, _ = sides_of(shown)
    shows = state.pixel_shows
    if not as_table:
        components.matrix(_heatmap_data(shown, cell), key=_HEATMAP, on_cell=lambda: _choose_cell(shown.classes))
        return
    values = differences(shown, shows).values if shown.of == "A-B" else values_of(shown.first, shows)
    share = shows in ("row", "column")
    table = pd.DataFrame(100 * values if share else values, columns=[cut(name) for name in shown.classes])
    # A label may be called like the first column, and column names must differ.
    first = rows if rows not in shown.classes else f"{rows} (rows)"
    table.insert(0, first, [displayed(name) for name in shown.classes])
    key = f"{_TABLE}_{shown.of}_{shows}_{state.pixel_scope}"
    form = "%.1f" if share else "%.3f" if shows == "f1" else "localized"
    names: dict[str, object] = {
        cut(name): st.column_config.NumberColumn(displayed(name), format=form, width=76) for name in shown.classes
    }
    names[first] = st.column_config.TextColumn(pinned=True, width=130)
    with st.container(key="pixel_table_frame"):
        widgets.table(
            table,
            rows=20,
            on_select=lambda: _choose_table_cell(shown.classes, key),
            key=key,
            placeholder="–",
            columns=names,
            alt=f"Confusion matrix, {_SHOWS[shows]}{', per cent' if share else ''}",
        )


def _cell_card(shown: ShownMatrix, facts: dict[str, CellFacts]) -> None:
    if shown.of == "A-B":
        head, detail = difference_words(facts["A"], facts["B"], ("A", "B"))
    else:
        models = ("A", "B") if shown.of == "B on A" else None
        head, detail = cell_words(facts[shown.of], models=models)
    pixel_results.cell_card(head, detail)


def _page(loaded: LoadedBoxes, shown: ShownMatrix, letter: str, place: Place | None, names: tuple[str, str]) -> None:
    result = shown.scopes[letter].result
    page = page_row(result, place)
    if place is None or page is None or names[0] not in result.classes or names[1] not in result.classes:
        st.html('<div class="ls-empty"><p>No page to show for this cell.</p></div>')
        return
    row, column = (result.classes.index(name) for name in names)
    sides = ("A", "B") if shown.of == "B on A" else ("True", f"{letter}" if shown.of == "A-B" else "Predicted")
    tint = tint_data(result, page, row, column, names=sides)
    picture = pictures.page_picture(loaded, place)
    if picture.problem:
        picture = msgspec.structs.replace(picture, width=tint.raster[0], height=tint.raster[1])
    name = result.dataset.documents[result.dataset.document_code[place.document]].name
    counted = defined(float(result.cell_pixels(row, column)[page])) or 0.0
    several = "" if abs(counted - tint.pixels) < 0.05 else f", counted as {counted:,.1f}: several labels"
    pixels = f"{tint.pixels:,} pixels{several}" if tint.pixels else "no pixel of this cell"
    payload = TintPayload(
        key=f"{shown.of}/{letter}/{cut(place.document)}/{place.index}/{cut(names[0])}/{cut(names[1])}",
        name=f"{displayed(name)}, page {place.index + 1}",
        caption=displayed(f"{name}, page {place.index + 1:,}: {pixels}"),
        page=picture,
        tint=tint,
        height=_page_height(len(shown.classes)),
    )
    components.tint(payload, key=_PAGE, on_sharper=lambda: _sharper(place))


def _page_height(classes: int) -> int:
    return max(340, min(39 + 36 * classes, 560) - 34)


def _no_sizes(counted: pixel_results.Counted) -> None:
    missing = [each for each in counted.issues if each.rule.startswith("a page needs its width and height")]
    if missing:
        count = count_of(len(missing), "page") + (" or more" if len(missing) >= _ISSUES_OF_A_RULE else "")
        text = (
            f"{count} without a size: neither the files nor the PDFs give one, so the pixels cannot be counted. "
            "Open the PDFs or page images in Files, or set one size for these pages."
        )
        st.html(f'<div class="ls-empty"><p>{html.escape(text)}</p></div>')
        with st.form("pixel_size_form"):
            columns = st.columns([1, 1, 2], vertical_alignment="bottom")
            for column, key, value in zip(columns, _SIZE, (612.0, 792.0), strict=False):
                column.number_input(key, 1.0, 100_000.0, value, step=1.0, format="%.1f", key=f"pixel_size_{key}")
            columns[2].form_submit_button("Use this size for pages without one", on_click=_use_size)
    else:
        st.html('<div class="ls-empty"><p>The pixels of these files cannot be counted.</p></div>')
    frame.issues(counted.issues)
    st.page_link(frame.FILES_VIEW, label="Open Files", icon=":material/folder_open:")


def _use_size() -> None:
    width, height = (float(form_value(f"pixel_size_{key}")) for key in _SIZE)
    state.pixel_size = (width, height)


def _notes(shown: ShownMatrix) -> None:
    size = state.pixel_size
    if size is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"Pages whose size nobody gives count as {size[0]:g} x {size[1]:g}.")
            st.button("Forget this size", on_click=State.pixel_size.set, args=(None,), key="pixel_forget_size")
    issues = _issues(shown)
    if issues:
        with st.expander(f"{count_of(issue_count(issues), 'issue')} of this count"):
            frame.issues(issues)


def _issues(shown: ShownMatrix) -> list[Issue]:
    return list(dict.fromkeys(each for scope in shown.scopes.values() for each in scope.result.issues))


def _signature(loaded: LoadedBoxes, shown: ShownMatrix) -> str:
    result = shown.first.result
    signed = result.signature
    options = [option for option in signed.options if not option.startswith("score of the first side")]
    parts = [f"{signed.protocol} {signed.version}", pixel_results.thresholds(loaded), f"{len(shown.classes)} classes"]
    return " · ".join([*parts, *options, signed.counts, signed.package])


def _said(result: pixel.PixelResult) -> str:
    return f"{result.signature.line} {hashlib.sha256(result.size.tobytes()).hexdigest()}"


def _follows(shown: ShownMatrix, letter: str, cell: tuple[int, int], place: Place | None) -> bool:
    # A page that the reader or the address chose stays.
    scope, names = state.pixel_scope, [shown.classes[each] for each in cell]
    now, before = (shown.of, scope, *names), state.pixel_cell_of
    chosen = State.pixel_follow.pop()
    state.pixel_cell_of = now
    linked = not before and state.pixel_row is not None and state.page is not None
    if scope == "page" or ((now == before or linked) and not chosen):
        return False
    result = shown.scopes[letter].result
    page = page_row(result, place)
    if chosen or page is None or not set(names) <= set(result.classes):
        return True
    row, column = (result.classes.index(name) for name in names)
    return not result.cell_pixels(row, column)[page] > 0.0


def _archive(shown: ShownMatrix) -> bytes:
    files = {}
    for letter, scope in shown.scopes.items():
        name = letter if shown.of != "B on A" else "B against A"
        for file, table in scope.result.csv_files(scope.columns, scope.row).items():
            files[f"{name} {file}"] = export.to_csv([table])
    return export.to_zip(files)


def _banners(loaded: LoadedBoxes) -> None:
    if loaded.project.as_reference:
        frame.reference_banner()
    frame.refused_parts()


class _Places(NamedTuple):
    head: DeltaGenerator
    choices: DeltaGenerator
    thresholds: DeltaGenerator


def view() -> None:
    """Draw the whole view."""
    read_url("pixel_confusion")
    loaded = frame.open_boxes("Confusion", load_pixels)
    if loaded is None:
        return
    head = st.container()
    with head, frame.title("Confusion"):
        choices = frame.choices()
    thresholds = headline.thresholds(loaded, loaded.pair, with_iou=False)
    with choices:
        pixel_results.count_choices()
    of = pixel_results.chosen_matrix(loaded)
    # What shows while pages are measured and counted has a place of its own: without it all that follows would move up
    # in the next run, and the browser would build the heatmap and the page anew.
    with st.container(key="pixel_work"):
        counted = {letter: pixel_results.result_of(loaded, letter) for letter in letters_of(of)}
        results = {letter: each.result for letter, each in counted.items() if each.result is not None}
        if len(results) == len(counted):
            results |= _beside(loaded, of, results)
    refusal = next((each for each in counted.values() if each.result is None), None)
    if refusal is not None:
        with head:
            _banners(loaded)
        _no_sizes(refusal)
        write_url("pixel_confusion", {State.pixel_of: of, **at(None)})
        return
    _results(loaded, _Places(head, choices, thresholds), of, results)


def _beside(loaded: LoadedBoxes, of: str, results: dict[str, pixel.PixelResult]) -> dict[str, pixel.PixelResult]:
    """Return the other model, for the means; none for a large corpus, where it would double the time."""
    if of not in ("A", "B") or len(loaded.pair) < 2 or int(results[of].counted.sum()) > PAGES_AT_ONCE:
        return {}
    other = "B" if of == "A" else "A"
    result = pixel_results.result_of(loaded, other).result
    return {} if result is None else {other: result}


def _results(
    loaded: LoadedBoxes,
    places: _Places,
    of: str,
    results: dict[str, pixel.PixelResult],
) -> None:
    first = results[letters_of(of)[0]]
    place = shown_place(first)
    with st.container(key="pixel_controls", horizontal=True, vertical_alignment="bottom", gap="medium"):
        _controls(loaded, first, place)
    shown = build_matrix(of, results, place)
    cell = pixel_results.chosen_cell(shown.classes) or first_cell(shown)
    facts = facts_of(shown, cell)
    letter = max(facts, key=lambda each: facts[each].pixels)
    if _follows(shown, letter, cell, place) and facts[letter].behind:
        place = place_of(results[letter], facts[letter].behind[0].page)
        shown = build_matrix(of, results, place)
    with places.head:
        places.thresholds.html(frame.facts_of(_signature(loaded, shown)))
        _banners(loaded)
        for issue in _issues(shown):
            if issue.rule.startswith("both sides should have the same pages"):
                st.warning(frame.escaped(issue.sentence), icon=":material/difference:")
    with st.container(key="pixel_upper"):
        left, right = st.columns([1.75, 1], gap="medium")
    with left:
        as_table = _heading(shown)
        _matrix(shown, cell, as_table=as_table)
        if of == "B on A" or loaded.project.as_reference:
            models = ("A", "B") if of == "B on A" else ("the reference", f"model {shown.of}")
            st.caption(frame.escaped(asymmetry(shown.first.columns, shown.first.row, models)))
    with right:
        _cell_card(shown, facts)
        _page(loaded, shown, letter, place, (shown.classes[cell[0]], shown.classes[cell[1]]))
    summary(loaded, shown, letter, facts[letter], place)
    pair = st.container()
    _notes(shown)
    with places.choices:
        _place_choices(first, place)
        pixels = int(first.whole.pixels[0])
        frame.small_lines([f"{heatmap.short_pixels(float(pixels))} pixels, {count_of(first.signature.pages, 'page')}"])
    if place is not None:
        state.doc, state.page = place.document, place.index
    row, column = (shown.classes[each] for each in cell)
    # The cell and the page follow from the files when nobody chose them, but a link must show the same on other files.
    write_url("pixel_confusion", {State.pixel_row: row, State.pixel_column: column, State.pixel_of: of, **at(place)})
    # Drawn last: its intervals take longest.
    if {"A", "B"} <= results.keys():
        with pair:
            pair_differences.part(
                loaded.pair,
                [*loaded.digests, *(f"{model.index} {_said(results[model.letter])}" for model in loaded.pair)],
                lambda: [PROTOCOLS[pixel.NAME].measures(results[model.letter]) for model in loaded.pair],
                ledgers=lambda: PROTOCOLS[pixel.NAME].item_ledgers(results["A"], results["B"]),
                open_item=lambda item: go_to_page(item.document, item.page or 0),
                of=f"all {count_of(len(loaded.dataset.documents), 'document')}",
            )


view()
