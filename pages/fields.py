"""Fields: where extracted fields are found and whether their confidence can be trusted, down to the box on the page."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.components.payload import EmptyItem, ModelItem
from evaluator.components.viewer import fields as overlay
from evaluator.components.viewer.payload import PageEvents, PagePayload, without_page
from evaluator.data.issues import count_of, cut, displayed, has_errors, issue_count
from evaluator.metrics.results import threshold_text
from evaluator.metrics.terms import explained
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.fields.drill_down import LEAST_SURE, LINKS
from evaluator.protocols.fields.evaluation import FieldsResult
from evaluator.protocols.fields.field_types import field_types
from pages.app import frame, page_list, pictures, session_files, widgets
from pages.app.address import read_url, write_url
from pages.app.components import viewer, with_documents
from pages.app.session_files import FIELDS
from pages.app.state import State, report, state
from pages.views.compare import pair_differences
from pages.views.fields import field_results, field_verdicts, page_payload, tables
from pages.views.fields.field_results import ComparedFields, FieldModel, ListedRows
from pages.views.findings import findings
from pages.views.overview import headline

_KEY = "field_viewer"
# Names of the ways to compute the recall points.
_GRIDS = {"linspace": "linspace", "decimal": "Two decimals"}


# --- choices -------------------------------------------------------------------------------------------------


def _signature(result: FieldsResult, *more: str) -> str:
    """Protocol, thresholds, rule of the values and other options, what more there is, and counts behind the view."""
    protocol, compared = PROTOCOLS["fields"], result.compared
    parts_ = [
        f"{protocol.name} {protocol.version}",
        f"IoU ≥ {threshold_text(state.field_iou)}, AP over 0.50 to 0.95",
        *result.signature.options,
        *more,
        f"{count_of(len(compared.documents), 'document')}, {count_of(int(compared.pages.sum()), 'page')}",
    ]
    return " · ".join(parts_)


def _thresholds(compared: ComparedFields, model: FieldModel) -> None:
    state.field_preset = state.field_iou if state.field_iou in field_results.PRESETS else None
    low, high = field_results.IOU_RANGE
    label = f"*Threshold:* IoU {state.field_iou:.2f}"
    with frame.thresholds_at_right(compared.opened, label):
        st.slider("IoU threshold", low, high, step=0.01, key=State.field_iou.key, persist_state="session")
        st.segmented_control(
            "Thresholds",
            list(field_results.PRESETS),
            format_func=lambda value: f"IoU {threshold_text(value)}",
            key=State.field_preset.key,
            on_change=State.field_preset.changed(_preset),
            label_visibility="collapsed",
        )
        st.html(frame.facts_of(_signature(model.result)))


def _preset() -> None:
    if state.field_preset is not None:
        state.field_iou = state.field_preset


def _numbers(model: FieldModel) -> None:
    counts = model.result.overall(state.field_iou)
    cells = "".join(
        f'<div title="{formula}"><dt>{name}</dt><dd>{frame.number(value)}</dd></div>'
        for name, formula, value in (
            (f"mAP at {threshold_text(state.field_iou)}", explained("mAP"), field_results.mean_ap(model)),
            ("Precision", explained("Precision"), _defined(counts.precision[0])),
            ("Recall", explained("Recall"), _defined(counts.recall[0])),
            ("Coverage", "Share of the fields whose ground truth has a box.", model.result.coverage["ratio"]),
        )
    )
    st.html(f'<dl class="ls-numbers ls-field-numbers">{cells}</dl>')


def _defined(value: float) -> float | None:
    return None if value != value else float(value)  # noqa: PLR0124 - NaN


def _choices(compared: ComparedFields, model: FieldModel) -> None:
    pairs = model.result.compared
    with frame.choices():
        names = [pairs.documents[code] for code in model.pages.in_natural_order]
        documents = {"": f"All {count_of(len(names), 'document')}", **{name: displayed(name) for name in names}}
        widgets.choice("Document", documents, State.field_within)
        classes = field_types(each.result for each in compared.models)
        labels = {"": f"All {count_of(len(classes), 'field type')}", **{name: displayed(name) for name in classes}}
        widgets.choice("Field", labels, State.field_label)
        widgets.choice("Fields shown", LINKS, State.field_number)
        units = {
            field_results.AUTO: f"{overlay.UNITS[field_results.unit(model)][0]} (detected)",
            **{unit: names[0] for unit, names in overlay.UNITS.items()},
        }
        widgets.choice("Unit of the boxes", units, State.field_unit)
        parity = {"none": "None", "stickler": "stickler-eval 1.0.0"}
        widgets.choice(
            "Parity",
            {name: parity[name] for name in field_results.PARITY},
            State.field_parity,
            help="None follows the documentation of the metric; stickler-eval 1.0.0 reproduces its pairing, with the "
            "boxes that it loses.",
        )
        grids: dict[str, str] = {
            field_results.AUTO: f"{_GRIDS[model.result.recall_grid]} (by parity)",
            **{grid: _GRIDS[grid] for grid in field_results.RECALL_GRIDS},
        }
        widgets.choice(
            "Recall grid",
            grids,
            State.field_recall_grid,
            help="How the 101 recall points of AP are computed: numpy.linspace as in pycocotools, or rounded to two "
            "decimals as in stickler-eval 1.0.0. AP differs only where a recall lies exactly on a point.",
        )
        _schema()
        findings.ask_author()
        frame.small_lines(_count_lines(compared, model))


def _schema() -> None:

    def changed() -> None:
        uploaded = state.upload_field_schema
        if uploaded is not None:
            field_results.use_schema(uploaded.name, uploaded.getvalue())

    st.file_uploader(
        "Schema of the values",
        type="json",
        key=State.upload_field_schema.key,
        on_change=changed,
        help="How values are compared, by field path: "
        '{"total": {"comparator": "number", "threshold": 0.95}}. Kept until this tab closes.',
    )
    for issue in state.field_schema_issues:
        st.error(frame.escaped(issue.sentence), icon=":material/error:")
    if state.field_schema is not None:
        st.caption(f"Values are compared by {frame.escaped(state.field_schema.name)}.")
        st.button("Compare without the schema", on_click=field_results.drop_schema)


def _count_lines(compared: ComparedFields, model: FieldModel) -> list[str]:
    pairs, coverage = model.result.compared, model.result.coverage
    issues = count_of(issue_count(compared.opened.issues), "issue") if compared.opened.issues else "No issues"
    return [
        f"{count_of(int(pairs.pages.sum()), 'page')}, {count_of(len(pairs.documents), 'document')}",
        f"{coverage['fields_with_bbox']:,} of {count_of(coverage['fields_total'], 'field')} with a ground-truth box",
        f"{issues} in the files",
    ]


# --- the page ------------------------------------------------------------------------------------------------


def _events(model: FieldModel) -> PageEvents:
    return with_documents(viewer.events(report(_KEY)), lambda: model.result.compared.documents)


def _turn_page(model: FieldModel, shown: ListedRows) -> None:
    go = _events(model).go
    if go is None or not page_list.accept_event(go):
        return
    here = (go.document, go.index)
    if go.mistake:
        field_results.turn_to_problem(model, shown, here, go.mistake)
    else:
        field_results.turn(model, shown, here, go.step)
        state.field_box = go.box


def _select_box(model: FieldModel) -> None:
    selected = _events(model).selected
    page_list.accept_event(selected)
    if selected is not None and (selected.document, selected.index) == (state.field_doc, state.field_page - 1):
        state.field_box = selected.key


def _save_verdict(model: FieldModel) -> None:
    for event in findings.newly_said(_events(model).verdict):
        page_list.accept_event(event)
        field_verdicts.handle(model, event)


def _switch_model(compared: ComparedFields) -> None:
    compared.show(viewer.events(report(_KEY)).model or "")
    state.field_whole = True


def _clear_filter() -> None:
    state.field_within, state.field_label, state.field_number = "", "", field_results.PROBLEMS
    state.field_whole = True


def _page_head(model: FieldModel, shown: ListedRows, place: tuple[int, int] | None) -> None:
    if place is None:
        frame.section("Page")
        return
    facts = f"page {place[1] + 1} · {_number_in_words(model)}: {shown.counts.get(place, 0):,} here"
    frame.section(frame.shorten(model.result.compared.documents[place[0]], 44), facts)


@st.fragment
def _page(compared: ComparedFields, model: FieldModel, shown: ListedRows, corrected: DeltaGenerator) -> None:
    if State.field_whole.pop():
        st.rerun()
    with corrected.container():
        tables.corrected(compared, model, _signature)
    place = field_results.shown_page(model, shown)
    if place is not None:
        field_results.go_to(model, place, state.field_box)
    bare, address = _without_page(compared, model), write_url("fields")
    with st.container(key="field_page"):
        _page_head(model, shown, place)
        viewer(
            msgspec.structs.replace(bare, address=address)
            if place is None
            else page_payload.payload(compared, model, shown, place, bare, address=address),
            key=_KEY,
            on_go=lambda: _turn_page(model, shown),
            on_selected=lambda: _select_box(model),
            on_sharper=lambda: pictures.request_sharper(_events(model).sharper),
            on_model=lambda: _switch_model(compared),
            on_clear_filter=_clear_filter,
            on_verdict=lambda: _save_verdict(model),
        )
    with st.container(key="field_table"):
        _one_by_one(model, shown, place)


def _without_page(compared: ComparedFields, model: FieldModel) -> PagePayload:
    models = [ModelItem(each.letter, displayed(each.name)) for each in compared.models]
    nothing = EmptyItem("No field is behind this number.", "Show all problems")
    return msgspec.structs.replace(
        without_page(ModelItem(model.letter, displayed(model.name)), models, nothing),
        visit=str(state.field_visits),
        at_boxes=True,
        signature=_signature(model.result),
    )


# --- tables --------------------------------------------------------------------------------------------------


def _one_by_one(model: FieldModel, shown: ListedRows, place: tuple[int, int] | None) -> None:
    tabs = {name: name for name in field_results.TABS}
    tab = widgets.switch("Fields one by one", tabs, State.field_tab, label_visibility="collapsed")
    if tab == field_results.BEHIND:
        tables.rows_table(
            model, shown.rows, f"field_behind_{cut(_number_in_words(model))}", _opener(model), documents=True
        )
        st.caption(
            f"{count_of(len(shown.rows), 'field')}: {frame.escaped(_number_in_words(model))}. A row shows its box."
        )
        return
    document = model.result.compared.documents[place[0]] if place else ""
    rows = model.result.places(document)
    tables.rows_table(model, rows, f"field_document_{model.letter}_{cut(document)}", _opener(model), documents=False)
    st.caption(f"{count_of(len(rows), 'field')} of {frame.escaped(document)}. A row shows its box.")


def _number_in_words(model: FieldModel) -> str:
    name = LINKS[state.field_number]
    if state.field_number == LEAST_SURE:
        name += f" {field_results.budget():.0%}".replace("%", " %")
    where = [state.field_label, state.field_within]
    return ", ".join(part for part in (f"{name} of {model.letter}", *where) if part)


def _opener(model: FieldModel) -> Callable[[int], None]:
    def opened(row: int) -> None:
        has_prediction = bool(model.result.with_prediction[row])
        page = int(model.pages.predicted_page[row] if has_prediction else max(model.pages.truth_page[row], 0))
        box = f"{'p' if has_prediction else 'g'}{row}"
        field_results.open_page(model, (int(model.result.compared.document[row]), page), box)

    return opened


# --- files ---------------------------------------------------------------------------------------------------


def _files(*, expanded: bool) -> None:
    issues = session_files.issues(FIELDS)
    title = f"Files of this view: {count_of(issue_count(issues), 'issue')}" if issues else "Files of this view"
    with st.expander(title, expanded=expanded, icon=":material/folder_open:"):
        rows = frame.loaded_rows(FIELDS)
        if rows:
            widgets.table(rows, placeholder="–", alt="Files of this view")
        if issues:
            if has_errors(issues):
                st.error(
                    "Files with an error are not evaluated. Each row shows how to fix it.", icon=":material/error:"
                )
            frame.issues(issues)
        st.html(frame.opener("Add files"), width="content")


def _need_files() -> None:
    """Draw the empty state: what is missing, and the way out."""
    held = session_files.files(FIELDS)
    frame.title("Fields")
    if held.ground_truth is None:
        text = "No ground truth of fields is open. Start with layoutscope open FOLDER, or add files."
    elif held.ground_truth.source is None:
        text = "The ground truth has errors, so nothing can be evaluated yet."
    elif not held.models:
        text = "No prediction is open, so there is nothing to compare with the ground truth."
    else:
        text = "Every prediction has errors, so nothing can be evaluated yet."
    st.html(f'<div class="ls-empty"><p>{text}</p></div>')
    _files(expanded=True)


def view() -> None:
    """Draw the whole view."""
    read_url("fields")
    # Its processes start while the fields are compared.
    pictures.pool().start()
    compared = field_results.compare_models()
    if compared is None:
        _need_files()
        return
    dropped = field_results.drop_unknown(compared.models)
    State.field_whole.pop()
    model = compared.shown
    line = frame.title("Fields")
    frame.refused_parts(dropped)
    _thresholds(compared, model)
    with line:
        headline.model_switch(compared.models)
        model = compared.shown
        _choices(compared, model)
        _numbers(model)
    shown = field_results.list_rows(model)
    # Where there is room the page is beside all of them, else above: places of a grid.
    with st.container(key="field_upper"):
        with st.container(key="field_types"):
            frame.section("Field types", "a count opens its fields, any other cell the problems of its row")
            tables.types_table(compared, model)
            corrected = st.empty()
        _page(compared, model, shown, corrected)
        with st.container(key="field_rest"):
            ledger, curve = st.columns([1, 1.15], gap="small")
            with ledger:
                tables.value_by_box(model)
            with curve:
                tables.ap_chart(compared, model)
    # Below the upper part and drawn last: its intervals take longest.
    pair = st.container()
    with st.container(key="confidence"):
        tables.confidence(compared)
    _files(expanded=has_errors(compared.opened.issues))
    with pair:
        pair_differences.part(
            compared.models,
            [part for each in compared.models for part in map(str, (each.result.signature.line, *each.key))],
            lambda: [PROTOCOLS[FIELDS.name].measures(each.result) for each in compared.models],
            ledgers=lambda: field_results.ledgers(compared).by_box_and_value(state.field_iou),
            open_item=lambda item: field_results.open_item(compared, item),
            at=state.field_iou,
        )
    write_url("fields")


view()
