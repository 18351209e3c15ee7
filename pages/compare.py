"""Compare: two models on the same ground truth, from one sentence down to the boxes in which they differ."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.analysis.slices.measure_values import ALL
from evaluator.charts import boxes as charts
from evaluator.compare.decision import cost_of
from evaluator.compare.differences import Difference
from evaluator.compare.labels import label_notes
from evaluator.compare.sentences import difference_points, interval_text
from evaluator.components.compare import pair_causes, pair_list
from evaluator.components.compare.comparison_summary import board_data
from evaluator.components.compare.pair import PairLayers, pair_data
from evaluator.components.compare.payload import CompareEvents, LinkItem, OpenEvent, PairListItem
from evaluator.components.matrix.class_matrix import class_difference
from evaluator.components.matrix.matrix import SHOWS, difference_data
from evaluator.components.matrix.payload import with_axes
from evaluator.components.payload import EmptyItem, ModelItem, PictureItem
from evaluator.components.viewer.mistake_filter import label_counts
from evaluator.components.viewer.page_strip import window as first_and_last
from evaluator.data.boxes import IntArray
from evaluator.data.issues import displayed, isolated
from evaluator.formats.posters import Posters
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from evaluator.metrics.results import threshold_text
from evaluator.protocols.pixel.difference import difference
from pages.app import frame, page_list, pictures, session_files, widgets
from pages.app.address import at, leave_first_address, read_url, write_url
from pages.app.components import board, chosen_cell, matrix, panes, with_documents
from pages.app.results import confusion_of, result_key, score_threshold
from pages.app.session_files import LoadedBoxes, LoadedFiles, PairModel, Place
from pages.app.state import State, chosen_cells, chosen_points, report, state
from pages.app.widgets import Column
from pages.views.browser import page_listing
from pages.views.compare import compare_fields, compare_pixels, compare_posters, decision, model_pair, page_payload
from pages.views.compare.model_pair import ModelPair
from pages.views.compare.page_payload import PairPages
from pages.views.fields import field_results
from pages.views.fields.field_results import ComparedFields
from pages.views.findings import findings
from pages.views.gallery import gallery_items
from pages.views.overview import headline
from pages.views.pixel import pixel_results
from pages.views.slices import slice_list

BROWSER_VIEW, GALLERY_VIEW = "pages/page_browser.py", "pages/gallery.py"
PIXEL_VIEW = "pages/pixel_confusion.py"
SLICES_VIEW = "pages/slices.py"
_PANES, _MATRIX = "compare_panes", "compare_matrix"
_BOARD, _LEDGER = "compare_board", "compare_ledger"
_BY_NAME, _BY_LABEL = "compare_names", "compare_labels"
_PARTS = {"mistakes": "Mistakes", "slices": "Slices", "classes": "Class confusion", "pixels": "Pixels"}
_BARS_HEIGHT = 330


def _choices(loaded: LoadedBoxes) -> None:
    """Models, label and document, in the sidebar."""
    with st.sidebar:
        frame.candidate_choice(loaded)
        st.button(
            "Swap A and B", icon=":material/swap_horiz:", on_click=model_pair.swap, args=(loaded,), width="stretch"
        )
        frame.label_choice(loaded)
        frame.document_choice(loaded)


def _one_model(loaded: LoadedBoxes) -> None:
    frame.title("Compare", "")
    (model,) = loaded.pair
    name = frame.shorten(displayed(model.name), 60)
    st.html(
        '<div class="ls-empty"><p>Only one model is open, so there is nothing to compare. '
        "Add a second prediction under Files.</p></div>"
    )
    st.caption(f"Open now: {frame.escaped(name)}. Predictions of the same documents are recognised by their content.")
    st.page_link(frame.FILES_VIEW, label="Open Files", icon=":material/folder_open:")
    frame.sidebar(loaded)


def _names(chosen: tuple[PairModel, ...]) -> list[str]:
    return [model.letter for model in chosen]


def _label_notes(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    """Warn when the models do not have the same labels: it changes the numbers."""
    first, second = (loaded.dataset.predictions[model.index].source.labels for model in chosen)
    notes = label_notes(first, second, loaded.dataset.ground_truth.source.labels, names=_names(chosen))
    if notes.sentences:
        st.warning(frame.escaped(" ".join(notes.sentences)), icon=":material/label:")


def _open_link(key: str) -> None:
    """Open what a number of the summary or of the ledger counts."""
    pages = board.events(report(key)).link
    if pages is not None:
        model_pair.open_linked(pages)


def _events() -> CompareEvents:
    loaded = session_files.load_boxes()
    return with_documents(panes.events(report(_PANES)), lambda: loaded.dataset.document_code if loaded else ())


def _turn_page(both: ModelPair) -> None:
    """Follow a page turn or a click on the list."""
    go = _events().go
    if go is not None and page_list.accept_event(go):
        model_pair.turn(both, go.document, go.index, go.step)
        state.box = go.box


def _select_box() -> None:
    """Keep the chosen box, or that none is; one of a page that was left meanwhile is not kept."""
    selected = _events().selected
    page_list.accept_event(selected)
    if selected is not None and (selected.document, selected.index) == (state.doc, state.page):
        state.box = selected.key


def _choose_filter() -> None:
    name = _events().show
    if name is not None:
        model_pair.choose_show(name)


def _choose_cause() -> None:
    key = _events().cause
    if key is not None:
        model_pair.choose_cause(key)


def _save_verdict(loaded: LoadedBoxes) -> None:
    """Save a verdict on a mistake of one of the two models; the corrected numbers above the panes follow."""
    event = _events().verdict
    model = next((each for each in loaded.pair if event and each.letter == event.letter), None)
    page_list.accept_event(event)
    if event is not None and model is not None:
        findings.handle(loaded, model, event)


def _show_alike(loaded: LoadedBoxes) -> None:
    """More causes like one of the page: the gallery shows those of the model that makes the mistakes."""
    event = _events().alike
    model = next((each for each in loaded.pair if event and each.letter == event.letter), None)
    if event is not None and model is not None:
        state.model = model.index
        gallery_items.show_alike(event.family)


def _choose_mode() -> None:
    name = _events().mode
    if name is not None:
        state.pair_mode = name


def _open_browser(loaded: LoadedBoxes, page: OpenEvent, both: ModelPair, shown: PairLayers) -> None:
    """Draw the shown page of one model in the Page browser, with the same box; without one, with a box of the cause."""
    state.model = next(model.index for model in loaded.pair if model.letter == page.letter)
    own = page.letter.lower()
    listed = [each.key for each in shown.differences if both.cause is not None and each.key[0] in ("g", own)]
    key = page.key or next(iter(listed), "")
    state.box = f"p{key[1:]}" if key.startswith(own) else key if key.startswith("g") else None
    st.switch_page(BROWSER_VIEW)


@st.fragment
def _pages(loaded: LoadedBoxes, numbers: DeltaGenerator) -> None:
    """Show the list of pages and the two panes; each run of this part fills `numbers` above anew."""
    if State.alike_asked.pop():
        st.switch_page(GALLERY_VIEW)
    if State.pair_whole.pop():
        st.rerun()
    both = model_pair.compare_models(loaded)
    with numbers:
        headline.numbers_line(loaded, both.chosen)
    if both.cause is None:
        state.pair_cause = ""
    show, rows = state.pair_show, both.rows
    position = model_pair.place_in(both, rows)
    place = None if position is None else model_pair.place_of(both, int(rows[position]))
    pages, address = _pair_pages(loaded, both, show, rows, position), _write_url(place)
    events = panes(
        page_payload.empty_payload(pages, EmptyItem(_nothing(both, show), "Show every changed page"), address=address)
        if position is None
        else page_payload.payload(pages, position, selected=state.box, address=address),
        key=_PANES,
        on_go=lambda: _turn_page(both),
        on_selected=_select_box,
        on_sharper=lambda: pictures.request_sharper(_events().sharper),
        on_show=_choose_filter,
        on_cause=_choose_cause,
        on_mode=_choose_mode,
        on_clear_filter=model_pair.clear_filter,
        on_verdict=lambda: _save_verdict(loaded),
        on_alike=lambda: _show_alike(loaded),
    )
    if position is not None and events.open:
        _open_browser(loaded, events.open, both, pages.layers(position))


def _scope(loaded: LoadedBoxes) -> str:
    """Return what the filters keep, in words, so that no number is taken for that of all boxes."""
    code = loaded.dataset.document_code.get(state.within)
    name = "" if code is None else loaded.dataset.documents[code].name
    parts = [f"of {isolated(displayed(state.label))}"] if state.label else []
    if name:
        parts.append(f"in {isolated(displayed(name))}")
    return " ".join(["boxes", *parts]) if parts else ""


def _write_url(place: Place | None) -> str:
    """Write what the view shows into the address bar; the query of the address."""
    if place is not None:
        state.doc, state.page = place.document, place.index
    return write_url("compare", at(place))


def _pair_pages(loaded: LoadedBoxes, both: ModelPair, show: str, rows: IntArray, position: int | None) -> PairPages:
    cause, causes, names = both.cause, both.causes, _names(both.chosen)
    label, (a, b) = state.label or None, both.chosen
    models = ModelItem(a.letter, displayed(a.name)), ModelItem(b.letter, displayed(b.name))
    chosen = "" if cause is None else state.pair_cause
    scope = _scope(loaded)

    def in_common() -> PairListItem:
        of_cause = None if cause is None else pair_causes.boxes_per_page(causes, cause, both.listed.dataset.pages)
        listed = pair_list.page_list(both.listed, show, rows, position or 0, names, of_cause=of_cause)
        return PairListItem(
            strip=listed.strip,
            look=listed.look,
            filters=pair_list.filters(both.listed, show, names),
            show=show if cause is None else "",
            causes=pair_causes.cause_items(causes, names),
            cause=chosen,
            scope=scope,
        )

    def draw(place: Place, picture: PictureItem) -> PairLayers:
        row = loaded.dataset.page_row(place.document, place.index)
        return pair_data(
            *both.results,
            both.ledger,
            -1 if row is None else row,
            show=show,
            only=None if cause is None else pair_causes.box_keys(causes, cause),
            labels=[label] if label else None,
            page_points=picture.points,
            models=models,
        )

    keys = [result_key(loaded, model) for model in both.chosen]
    return PairPages(
        listing=page_list.list_digest(keys, models, label, state.within, show, chosen, scope, len(rows)),
        total=len(rows),
        first=first_and_last(position or 0, len(rows), pair_list.LISTED_PAGES)[0],
        place=lambda at: model_pair.place_of(both, int(rows[at])),
        name=lambda _: "",
        picture=lambda place: pictures.page_picture(loaded, place),
        draw=draw,
        judged=lambda place, order, pane: findings.on_pane(loaded, both.chosen[order], place, pane),
        in_common=in_common,
        prepare=lambda place: pictures.prepare_page(loaded, place),
    )


def _nothing(both: ModelPair, show: str) -> str:
    if not int(both.ledger.total.changed[0]) and show == "changed":
        return "A and B have the same matches and the same mistakes at these thresholds."
    return "No page passes the filter."


def _every_model(loaded: LoadedBoxes) -> None:
    rows = model_pair.every_model(loaded)
    frame.section("All models", "against A, 95 % intervals over documents; a row makes its model B")
    letters = [f"{row.model.letter} " if isinstance(row.model, PairModel) else "" for row in rows]
    names = [letter + displayed(row.model.name) for letter, row in zip(letters, rows, strict=True)]
    table: dict[str, Column] = {"Model": names}
    table["Score"] = [f"≥ {threshold_text(score_threshold(loaded, row.model))}" for row in rows]
    for metric, title in (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1")):
        table[title] = [getattr(row.result.micro, metric)[0] for row in rows]
        if metric != "f1":
            table[f"{title} − A"] = [_against(row.differences.get(metric)) for row in rows]
    for name in ("tp", "fp", "fn"):
        table[name.upper()] = [int(getattr(row.result.micro, name)[0]) for row in rows]
    ratio = st.column_config.NumberColumn(format="%.3f", width=80)
    # Another B is another table, so that no old choice stays marked.
    key = f"compare_models_{state.model_b}"

    def picked() -> None:
        for place, _ in chosen_cells(key):
            model_pair.make_b(loaded, rows[place].model.index)

    widgets.table(
        table,
        on_select=picked,
        key=key,
        placeholder="–",
        columns=dict.fromkeys(("Precision", "Recall", "F1"), ratio),
        alt="All models against A",
    )


def _against(one: Difference | None) -> str | None:
    """Return a difference with its interval, for a cell; None for A itself and where it is undefined."""
    moved = None if one is None else difference_points(one)
    if one is None or moved is None:
        return None
    interval = interval_text(one, signed=True)
    return f"{moved} ({interval}){' ★' if one.is_clear else ''}" if interval else moved


# --- below the pages -----------------------------------------------------------------------------------------


@st.fragment
def _more(loaded: LoadedBoxes) -> None:
    """Named mistakes, slices, class confusion and pixels, one of them at a time."""
    if State.pair_whole.pop():
        st.rerun()
    if State.pair_mistakes.pop():
        st.switch_page(BROWSER_VIEW)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="compare_more"):
        st.html('<h2 class="ls-section">What changed</h2>', width="content")
        widgets.switch(
            "What changed",
            _PARTS,
            State.pair_part,
            on_change=lambda: State.pair_part_moved.set(True),
            label_visibility="collapsed",
        )
    if State.pair_part_moved.pop():
        _write_url(model_pair.shown_place(loaded))
    {"mistakes": _mistakes, "slices": _slices, "classes": _classes, "pixels": _pixels}[state.pair_part](loaded)


def _mistakes(loaded: LoadedBoxes) -> None:
    """Mistakes of both models by name and by label."""
    both = model_pair.compare_models(loaded)
    every = [page_listing.all_mistakes(loaded, model) for model in both.chosen]
    if not any(map(len, every)):
        st.caption("No mistake at these thresholds.")
        return
    labels = loaded.dataset.labels
    titles = [ERROR_TYPES["document"][name].chip for name in DOCUMENT]
    totals = " ".join(
        f"{frame.letter_badge(model.letter)} {len(columns):,}"
        for model, columns in zip(both.chosen, every, strict=True)
    )
    left, right = st.columns(2, gap="medium")
    for column, name, key, names, meant, counts in (
        (
            left,
            "By name",
            _BY_NAME,
            titles,
            DOCUMENT,
            [np.bincount(one.kind, minlength=len(DOCUMENT)) for one in every],
        ),
        (
            right,
            "By label",
            _BY_LABEL,
            list(map(displayed, labels)),
            labels,
            [label_counts(one, len(labels)) for one in every],
        ),
    ):
        column.html(
            f'<h2 class="ls-section{frame.theme_class()}">{name} <small>a bar opens its mistakes</small>'
            f'<small class="ls-right">{totals}</small></h2>'
        )
        bars = charts.mistakes_by_label(
            names, dict(zip("AB", counts, strict=True)), baseline="A", dark=frame.is_dark(), height=_BARS_HEIGHT
        )
        widgets.chart(
            column,
            bars,
            on_select=_bar_callback(both.chosen, key, dict(zip(names, meant, strict=True))),
            selection_mode="label",
            key=key,
            alt=f"Mistakes of A and B, {name}",
        )
    right.caption("A mistake between two labels counts for both.")


def _bar_callback(chosen: tuple[PairModel, ...], key: str, meant: dict[str, str]) -> Callable[[], None]:
    def opened() -> None:
        for point in chosen_points(key, "label"):
            asked, letter = str(point["label"]), point.get("model")
            model = next((each for each in chosen if each.letter == letter), chosen[0])
            asked = meant.get(asked, "")
            model_pair.ask_mistakes(
                model, label=asked if key == _BY_LABEL else "", name=asked if key == _BY_NAME else ""
            )

    return opened


def _slices(loaded: LoadedBoxes) -> None:
    """Draw the sets of boxes in which B loses or gains against A, by any measure."""
    slice_list.of_choice(loaded, "B-A", ALL, key="compare_slices")
    st.page_link(SLICES_VIEW, label="Open Slices", icon=":material/troubleshoot:")


def _classes(loaded: LoadedBoxes) -> None:
    """Which labels are taken for which: B minus A."""
    both = model_pair.compare_models(loaded)
    labels = both.ledger.labels
    sides = [confusion_of(loaded, model) for model in both.chosen]
    st.caption(
        "Boxes, B minus A. On the diagonal more is better, elsewhere less. Background row: extra; background "
        "column: missed. A cell lists the changed pages of its label."
    )
    matrix(
        with_axes(
            class_difference(*sides, names=_names(both.chosen)),
            key="compare classes",
            rows="Ground truth",
            columns="Prediction",
            letters=("B", "A"),
        ),
        key=_MATRIX,
        on_cell=lambda: _cell(labels),
    )


def _cell(labels: tuple[str, ...]) -> None:
    """Show the changed pages of the label of a cell."""
    cell = chosen_cell(report(_MATRIX), len(labels) + 1)
    if cell is not None and any(cell):
        model_pair.open_linked(LinkItem("changed", labels[(cell[0] or cell[1]) - 1]))


def _pixels(loaded: LoadedBoxes) -> None:
    """Which pixels of one label are taken for another: B minus A, in points of the row."""
    counted = [pixel_results.result_of(loaded, letter) for letter in ("A", "B")]
    if any(each.result is None for each in counted):
        st.caption(
            "The pixels of these files cannot be counted; Pixel confusion shows why and asks for what is missing."
        )
    else:
        first, second = (each.result.whole for each in counted if each.result is not None)
        moved = difference(second, first, SHOWS["row"])
        st.caption("Points of the row share, B minus A, over all documents. On the diagonal more is better.")
        cells = difference_data(moved, "row", "steps")
        matrix(
            with_axes(
                msgspec.structs.replace(cells, classes=[displayed(name) for name in moved.classes]),
                key="compare pixels",
                rows="Ground truth",
                columns="Prediction",
                letters=("B", "A"),
            ),
            key=f"{_MATRIX}_pixels",
            on_cell=lambda: None,
        )
    st.page_link(PIXEL_VIEW, label="Open Pixel confusion", icon=":material/grid_on:")


# --- what is compared -----------------------------------------------------------------------------------------


def _files_of_kinds() -> tuple[LoadedBoxes | None, ComparedFields | None, LoadedFiles[Posters] | None]:
    return session_files.load_boxes(), field_results.compare_models(), session_files.load_files(session_files.POSTERS)


def _kinds() -> dict[str, str]:
    """Return what two open models can be compared by, with its name; boxes where nothing is open."""
    boxes, fields, posters = _files_of_kinds()
    kinds = {"boxes": "Boxes", "pixels": "Pixels"} if boxes is not None and len(boxes.pair) == 2 else {}
    if fields is not None and len(fields.models) == 2:
        kinds["fields"] = "Fields"
    if posters is not None and len(posters.pair) == 2:
        kinds["posters"] = "Posters"
    return kinds or {"boxes": "Boxes"}


def view() -> None:
    """Draw the whole view."""
    read_url("compare")
    kind = widgets.kind_switch("Compare", _kinds(), State.pair_kind, lambda: State.pair_box.set(None))
    if kind == "boxes":
        _of_boxes()
        return
    frame.refused_parts()
    # Without these a choice was taken away in the meantime; the switch above has given way then.
    boxes, fields, posters = _files_of_kinds()
    if kind == "pixels" and boxes is not None:
        compare_pixels.sidebar(boxes)
        compare_pixels.body(boxes)
    elif kind == "fields" and fields is not None:
        compare_fields.sidebar(fields)
        compare_fields.body(fields)
    elif posters is not None:
        compare_posters.sidebar(posters)
        compare_posters.body(posters)


def _of_boxes() -> None:
    """Two models box by box."""
    loaded = frame.open_boxes("Compare")
    if loaded is None:
        return
    chosen = loaded.pair
    if len(chosen) < 2:
        _one_model(loaded)
        return
    leave_first_address()
    page_listing.drop_unknown(loaded)
    State.pair_whole.pop()
    with st.container(key="compare_head", horizontal=True, vertical_alignment="center", gap="small"):
        frame.title("Compare", frame.signature(loaded, chosen, "95 % intervals over documents"))
        with st.popover("Operating point", icon=":material/tune:", width="content"):
            headline.operating_point(loaded, chosen)
    frame.banners(loaded, chosen)
    _label_notes(loaded, chosen)
    _choices(loaded)
    answer = st.container(key="compare_answer")
    left, right = answer.columns([1.05, 1], gap="small")
    # In here it moves no other part of the view, and the panes keep the keys, when a verdict brings corrected numbers.
    main_numbers = answer.empty()
    with main_numbers:
        headline.numbers_line(loaded, chosen)  # before what takes longer
    both = model_pair.compare_models(loaded)
    numbers = board_data(both.ledger, both.differences, _names(chosen), show=state.pair_show, label=state.label)
    with left:
        add_cost = decision.card(
            chosen,
            both.differences,
            lambda: decision.COSTS.of(both.keys, lambda: cost_of(*both.results)),
            lambda: all(result.mistakes_known for result in both.results),
            lambda: _write_url(model_pair.shown_place(loaded)),
        )
    with right:
        board(numbers, key=_BOARD, on_link=lambda: _open_link(_BOARD))
    pages = st.container()
    frame.section("Found and missed", "ground-truth boxes; a number opens its pages")
    ledger = msgspec.structs.replace(numbers, part="ledger")
    board(ledger, key=_LEDGER, on_link=lambda: _open_link(_LEDGER))
    if len(loaded.names) > len(chosen):
        _every_model(loaded)
    with pages:
        _pages(loaded, main_numbers)
    add_cost()
    _more(loaded)
    frame.sidebar(loaded)


view()
