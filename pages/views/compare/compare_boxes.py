"""Two models box by box: from one sentence down to the boxes in which they differ."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.compare.decision import cost_of
from evaluator.compare.differences import Difference
from evaluator.compare.labels import label_notes
from evaluator.compare.sentences import difference_points, interval_text
from evaluator.components.compare import pair_causes, pair_list
from evaluator.components.compare.comparison_summary import board_data
from evaluator.components.compare.listed_pair import ListedPair
from evaluator.components.compare.pair import PairLayers
from evaluator.components.compare.payload import CompareEvents, OpenEvent
from evaluator.components.payload import EmptyItem
from evaluator.components.viewer.page_strip import window as first_and_last
from evaluator.data.issues import displayed, isolated
from evaluator.metrics.results import threshold_text
from evaluator.review.decisions import said_of_pages
from pages.app import frame, page_list, pictures, session_files, widgets
from pages.app.address import leave_first_address
from pages.app.components import board, panes, with_documents
from pages.app.results import result_key, score_threshold
from pages.app.session_files import LoadedBoxes, PairModel, Place, of_letter
from pages.app.state import State, chosen_cells, is_narrowed, open_page, report, state
from pages.app.widgets import Column
from pages.views.browser import page_listing
from pages.views.compare import compare_parts, decision, model_pair, page_payload
from pages.views.compare.model_pair import ModelPair
from pages.views.compare.page_payload import PairPages
from pages.views.compare.panes import kind_choice
from pages.views.findings import decision_rows, findings
from pages.views.gallery import gallery_items
from pages.views.overview import headline

BROWSER_VIEW, GALLERY_VIEW = "pages/page_browser.py", "pages/gallery.py"
_PANES, _BOARD, _LEDGER = "compare_panes", "compare_board", "compare_ledger"


def _choices(loaded: LoadedBoxes, kinds: Mapping[str, str]) -> None:
    narrowed = is_narrowed((State.label, State.within))
    with st.popover("**Filter**" if narrowed else "Filter", key="pair_filter"):
        kind_choice(kinds)
        frame.label_choice(loaded)
        frame.document_choice(loaded)


def _one_model(loaded: LoadedBoxes) -> None:
    frame.title("Compare")
    (model,) = loaded.pair
    name = frame.shorten(displayed(model.name), 60)
    st.html(
        '<div class="ls-empty"><p>Only one model is open, so there is nothing to compare. '
        "Add a second prediction under Files.</p></div>"
    )
    st.caption(f"Open now: {frame.escaped(name)}. Predictions of the same documents are recognised by their content.")
    st.page_link(frame.FILES_VIEW, label="Open Files", icon=":material/folder_open:")


def _label_notes(loaded: LoadedBoxes, chosen: tuple[PairModel, ...]) -> None:
    """Warn when the models do not have the same labels: it changes the numbers."""
    first, second = (loaded.dataset.predictions[model.index].source.labels for model in chosen)
    notes = label_notes(
        first, second, loaded.dataset.ground_truth.source.labels, names=[model.letter for model in chosen]
    )
    if notes.sentences:
        st.warning(frame.escaped(" ".join(notes.sentences)), icon=":material/label:")


def _open_link(key: str) -> None:
    pages = board.events(report(key)).link
    if pages is not None:
        model_pair.open_linked(pages)


def _events() -> CompareEvents:
    loaded = session_files.load_boxes()
    return with_documents(panes.events(report(_PANES)), lambda: loaded.dataset.document_code if loaded else ())


def _turn_page(pages: ListedPair) -> None:
    go = _events().go
    if go is not None and page_list.accept_event(go):
        model_pair.turn(pages, go.document, go.index, go.step)
        state.box = go.box


def _select_box() -> None:
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
    for event in findings.newly_said(_events().verdict):
        page_list.accept_event(event)
        model = of_letter(loaded.pair, event.letter)
        if model is not None:
            findings.handle(loaded, model, event)


def _show_alike(loaded: LoadedBoxes) -> None:
    event = _events().alike
    model = None if event is None else of_letter(loaded.pair, event.letter)
    if event is not None and model is not None:
        state.model = model.index
        gallery_items.show_alike(event.family)


def _choose_mode() -> None:
    name = _events().mode
    if name is not None:
        state.pair_mode = name


def _open_browser(loaded: LoadedBoxes, page: OpenEvent, cause: int | None, shown: PairLayers) -> None:
    """Draw the shown page of one model in Pages, with the same box; without one, with a box of the cause."""
    model = of_letter(loaded.pair, page.letter)
    if model is None:
        return
    state.model = model.index
    own = page.letter.lower()
    listed = [each.key for each in shown.differences if cause is not None and each.key[0] in ("g", own)]
    key = page.key or next(iter(listed), "")
    box = f"p{key[1:]}" if key.startswith(own) else key if key.startswith("g") else None
    if state.doc is not None:
        open_page(state.doc, state.page or 0, box)
    st.switch_page(BROWSER_VIEW)


@st.fragment
def _pages(loaded: LoadedBoxes, numbers: DeltaGenerator) -> None:
    if State.alike_asked.pop():
        st.switch_page(GALLERY_VIEW)
    if State.pair_whole.pop():
        st.rerun()
    both = model_pair.compare_models(loaded)
    with numbers:
        headline.numbers_line(loaded, both.chosen)
    listed = both.pages
    if listed.cause is None:
        state.pair_cause = ""
    position = listed.position(state.doc, state.page or 0)
    place = None if position is None else Place(*listed.at(position))
    pages, address = _pair_pages(loaded, both, listed, position), compare_parts.write_address(place)
    events = panes(
        page_payload.empty_payload(pages, EmptyItem(_nothing(both), "Show every changed page"), address=address)
        if position is None
        else page_payload.payload(pages, position, selected=state.box, address=address),
        key=_PANES,
        on_go=lambda: _turn_page(listed),
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
        _open_browser(loaded, events.open, listed.cause, pages.layers(position))


def _scope(loaded: LoadedBoxes) -> str:
    """Return what the filters keep, in words, so that no number is taken for that of all boxes."""
    code = loaded.dataset.document_code.get(state.within)
    name = "" if code is None else loaded.dataset.documents[code].name
    parts = [f"of {isolated(displayed(state.label))}"] if state.label else []
    if name:
        parts.append(f"in {isolated(displayed(name))}")
    return " ".join(["boxes", *parts]) if parts else ""


def _pair_pages(loaded: LoadedBoxes, both: ModelPair, listed: ListedPair, position: int | None) -> PairPages:
    scope, fails = _scope(loaded), model_pair.deciding_cause(loaded, both)
    keys = [result_key(loaded, model) for model in both.chosen]
    said = [row for row in decision_rows.boxes_of(loaded).causes if row.entries] if len(findings.review_log()) else []
    cause, families = listed.cause, listed.causes.families
    here = [row for row in said if cause is None or row.family == families[cause]]
    chosen = "" if cause is None else listed.key
    decided = listed.models, listed.label, state.within, listed.show, chosen, scope, fails, len(listed)
    return PairPages(
        listing=page_list.list_digest(keys, *decided),
        total=len(listed),
        first=first_and_last(position or 0, len(listed), pair_list.LISTED_PAGES)[0],
        place=lambda at: Place(*listed.at(at)),
        name=lambda _: "",
        picture=lambda place: pictures.page_picture(loaded, place),
        draw=lambda place, picture: listed.draw(place.document, place.index, picture.points),
        judged=lambda place, order, pane: findings.on_pane(loaded, both.chosen[order], place, pane),
        in_common=lambda: listed.in_common(position or 0, scope=scope, fails=fails),
        prepare=lambda place: pictures.prepare_page(loaded, place),
        said=said_of_pages(entry for row in here for entry in row.entries),
        said_of_causes={pair_causes.key_of(row.family): row.said for row in said if row.family},
    )


def _nothing(both: ModelPair) -> str:
    if not int(both.ledger.total.changed[0]) and state.pair_show == "changed":
        return "A and B have the same matches and the same mistakes at these thresholds."
    return "No page passes the filter."


def _every_model(loaded: LoadedBoxes) -> None:
    rows = model_pair.every_model(loaded)
    said = ", ".join(["against A", *frame.interval_words(loaded)])
    frame.section("All models", f"{said}; a row makes its model B")
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
    moved = None if one is None else difference_points(one)
    if one is None or moved is None:
        return None
    interval = interval_text(one, signed=True)
    return f"{moved} ({interval}){' ★' if one.is_clear else ''}" if interval else moved


def body(kinds: Mapping[str, str]) -> None:
    """Draw the view of boxes; `kinds` are what can be compared."""
    loaded = frame.open_boxes("Compare")
    if loaded is None:
        return
    chosen = loaded.pair
    if len(chosen) < 2:
        _one_model(loaded)
        return
    page_listing.drop_unknown(loaded)
    if state.entered_bare:
        model_pair.open_deciding_cause(loaded)
    leave_first_address()
    State.pair_whole.pop()
    headline.thresholds(loaded, chosen, frame.signature(loaded, chosen, *frame.interval_words(loaded)))
    frame.banners(loaded, chosen)
    _label_notes(loaded, chosen)
    answer = st.container(key="compare_answer", gap="small")
    work = st.container(key="compare_work")
    with work:
        with frame.title("Compare"):
            _choices(loaded, kinds)
        pages = st.container()
    # Out of the way of the panes, which keep the keys when corrected numbers come.
    main_numbers = st.empty()
    both = model_pair.compare_models(loaded)
    numbers = board_data(both.ledger, both.differences, both.letters, show=state.pair_show, label=state.label)
    with answer:
        add_cost = decision.card(
            chosen,
            both.differences,
            lambda: decision.COSTS.of(both.keys, lambda: cost_of(*both.results)),
            lambda: all(result.mistakes_known for result in both.results),
            lambda: compare_parts.write_address(model_pair.shown_place(loaded)),
            draw_differences=lambda: board(numbers, key=_BOARD, on_link=lambda: _open_link(_BOARD)),
        )
    frame.section("Found and missed", "ground-truth boxes; a number opens its pages")
    ledger = msgspec.structs.replace(numbers, part="ledger")
    board(ledger, key=_LEDGER, on_link=lambda: _open_link(_LEDGER))
    if len(loaded.names) > len(chosen):
        _every_model(loaded)
    with pages:
        _pages(loaded, main_numbers)
    add_cost()
    compare_parts.part(loaded)
