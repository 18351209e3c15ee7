"""Tables and charts of the view Fields, each linked to the fields behind its numbers."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Sequence
from typing import Any, Final

import streamlit as st

from evaluator.charts import fields as charts
from evaluator.components.viewer.fields import value_text
from evaluator.data.boxes import IntArray
from evaluator.data.fields import Field
from evaluator.data.issues import count_of, cut, displayed, plain, whole
from evaluator.metrics.confidence import BINS, review_budgets, review_curve, review_sentence
from evaluator.metrics.results import defined, threshold_text
from evaluator.metrics.terms import explained
from evaluator.protocols.fields.drill_down import BIN, LEAST_SURE, LINKS
from evaluator.protocols.fields.evaluation import ALL_FIELDS, FieldRow, FieldsResult
from evaluator.protocols.fields.field_types import TypeRow, type_rows
from pages.app import frame, widgets
from pages.app.cache import Cached
from pages.app.state import State, chosen_cells, chosen_points, state
from pages.app.widgets import Column
from pages.views.fields import field_results, field_verdicts
from pages.views.fields.field_results import ComparedFields, FieldModel

ROWS_SHOWN: Final = 500
_TABLE_ROWS: Final = 13
# Pixels: the least and the most of a column of names, and of one letter.
_NAME_WIDTHS: Final = (110, 260)
_LETTER: Final = 5.9
# Pixels of columns whose title needs more, or less, than others.
_WIDTHS: Final = {"Mean IoU": 62, "TP": 38, "Missed": 52, "Box too far off": 88, "Extra (FP)": 62}
# Columns of the table of field types that are linked, by their title.
_COUNTS: Final = {
    "TP": ("true_positive", "true_positive"),
    "Box too far off": ("below_threshold", "below_threshold"),
    "Missed": ("missed", "missed"),
    "Extra (FP)": ("spurious", "spurious"),
    "Truth": ("num_gt", "ground_truth"),
    "Pred.": ("num_detections", "predictions"),
}
_HELP: Final = {
    "Truth": "Ground-truth boxes",
    "Pred.": "Predicted boxes",
    "TP": "IoU at the threshold or above",
    "Box too far off": "Two boxes, IoU below the threshold",
    "Missed": "Ground-truth box without a predicted one",
    "Extra (FP)": "Predicted box without a ground-truth one",
}
_TYPE_ROWS: Final = Cached[Sequence[TypeRow]](16)
_STATUS: Final = {
    "true positive": "TP",
    "below threshold": "Box too far off",
    "missed": "Missed",
    "spurious": "Extra (FP)",
}


def types_table(compared: ComparedFields, model: FieldModel) -> None:
    """Draw AP of both models by field type, and all numbers of one; a row or a count is linked."""
    results = {each.letter: each.result for each in compared.models}
    keys = tuple((each.letter, each.key) for each in compared.models)
    iou = state.field_iou
    rows = _TYPE_ROWS.of((keys, model.letter, iou), lambda: type_rows(results, model.letter, iou=iou))
    at = f"AP {threshold_text(state.field_iou)}"
    names = [displayed(row.label) for row in rows]
    table: dict[str, Column] = {"Field": names}
    for letter in results:
        table[f"AP, {letter}"] = [row.ap[letter] for row in rows]
    ratios = {"AP50": "ap_50", "AP75": "ap_75", at: "ap_at", "Mean IoU": "mean_iou"}
    if state.field_iou in field_results.PRESETS:
        del ratios[at]  # it has its column
    # The mean IoU and the sums of the counts come last: a narrow window scrolls to them.
    for title in list(ratios)[:-1]:
        table[title] = [getattr(row, ratios[title]) for row in rows]
    for title, (name, _) in _COUNTS.items():
        table[title] = [getattr(row, name) for row in rows]
    table["Mean IoU"] = [row.mean_iou for row in rows]
    columns = list(table)
    key = f"field_types_{model.letter}"
    widgets.table(
        table,
        rows=_TABLE_ROWS,
        on_select=lambda: _choose_type(key, rows, columns),
        key=key,
        placeholder="–",
        columns={
            "Field": _name_width(names),
            **{
                f"AP, {each.letter}": widgets.ratio_column(
                    46, help=f"Mean over IoU 0.50 to 0.95, {frame.escaped(each.name)}"
                )
                for each in compared.models
            },
            **{title: widgets.ratio_column(_WIDTHS.get(title, 46)) for title in ratios},
            **{title: widgets.count_column(_WIDTHS.get(title, 45), help=_HELP[title]) for title in _COUNTS},
        },
        alt="Results by field type",
    )


def _name_width(names: Sequence[str]) -> int:
    return min(max(_NAME_WIDTHS[0], round(_LETTER * max(map(len, names), default=0)) + 18), _NAME_WIDTHS[1])


_CORRECTED_HEADS: Final = ("Mean AP", "Precision", "Recall", "TP", "Box too far off", "Missed", "Extra (FP)")


def corrected(compared: ComparedFields, model: FieldModel, sign: Callable[..., str]) -> None:
    """Draw all fields on the corrected ground truth under the official numbers, if verdicts apply."""
    to = field_verdicts.corrections_of(compared)
    if to is None:
        return
    again = field_verdicts.corrected_of(compared, model)
    if again is not None:
        rows = _corrected_row("official", model.result) + _corrected_row("corrected", again.result)
        frame.corrected_table(_CORRECTED_HEADS, rows, (sign(model.result), sign(again.result, to.words)))
    refused = f", {count_of(len(to.issues), 'verdict')} without effect" if to.issues else ""
    with st.expander(f"{count_of(to.applied, 'verdict')} on fields applied{refused}"):
        st.caption(
            "An accepted prediction becomes ground truth with the value and box of its model, so the corrected numbers "
            "of that model are an upper bound; another model is measured against the same field."
        )
        frame.small_lines([change.sentence for change in to.changes[:200]])
        if to.issues:
            frame.issues(to.issues)


def _corrected_row(which: str, result: FieldsResult) -> str:
    counts = result.overall(state.field_iou)
    ratios = (result.mean_ap, defined(counts.precision[0]), defined(counts.recall[0]))
    columns = (counts.true_positive, counts.below_threshold, counts.missed, counts.spurious)
    cells = [*map(frame.number, ratios), *(f"{int(column[0]):,}" for column in columns)]
    name = ALL_FIELDS if which == "official" else ""
    return frame.corrected_row(name, which, cells)


def _choose_type(key: str, rows: Sequence[TypeRow], columns: Sequence[str]) -> None:
    for row, column in chosen_cells(key):
        label = rows[row].label
        title = columns[column] if isinstance(column, int) else column
        name = _COUNTS[title][1] if title in _COUNTS else field_results.PROBLEMS
        field_results.open_linked(name, None if label == ALL_FIELDS else label)


def rows_table(model: FieldModel, rows: IntArray, key: str, opened: Callable[[int], None], *, documents: bool) -> None:
    """Draw compared fields, one a row, with both values, confidence and IoU; a row opens its page."""
    shown = rows[:ROWS_SHOWN]
    fields = model.result.rows_of(shown, state.field_iou)
    if not fields:
        st.caption("No field is behind this number.")
        return
    names = [displayed(row.prediction_path or row.truth_path or "") for row in fields]
    table: dict[str, Column] = {"Document": [displayed(row.document) for row in fields]} if documents else {}
    table["Field"] = names
    table["Box"] = [_STATUS.get(row.status, "–") for row in fields]
    table["Value"] = [_judged(row) for row in fields]
    table["Predicted"] = [_value_of(row.predicted) for row in fields]
    table["Ground truth"] = [_value_of(row.truth) for row in fields]
    table["Conf."] = [row.confidence for row in fields]
    table["IoU"] = [row.iou for row in fields]
    ratio = st.column_config.NumberColumn(format="%.2f", width=48)

    def chosen() -> None:
        for row, _ in chosen_cells(key):
            opened(int(shown[row]))

    widgets.table(
        table,
        rows=_TABLE_ROWS,
        on_select=chosen,
        key=key,
        placeholder="–",
        columns={
            "Document": 100,
            "Field": _name_width(names),
            "Box": 58,
            "Value": 48,
            "Predicted": 104 if documents else 145,
            "Ground truth": 104 if documents else 145,
            "Conf.": ratio,
            "IoU": ratio,
        },
        alt="Compared fields",
    )
    if len(rows) > ROWS_SHOWN:
        st.caption(f"The first {ROWS_SHOWN} of {len(rows):,} fields; choose a field or a document to see others.")


def _judged(row: FieldRow) -> str:
    return "right" if row.right else "wrong"


def _value_of(field: Field | None) -> str | None:
    return None if field is None else plain(value_text(field.value))


def value_by_box(model: FieldModel) -> None:
    """Draw value right or wrong against box right or wrong: four buttons linked to their fields."""
    cells = model.result.value_by_box(state.field_iou)
    total = sum(count for row in cells.values() for count in row.values())
    frame.section("Value and box", f"{count_of(total, 'field')} with two boxes")
    with st.container(key="field_ledger"):
        head = st.columns([0.8, 1, 1], gap="xsmall")
        head[1].html('<div class="ls-ledger-head">Box right</div>')
        head[2].html('<div class="ls-ledger-head">Box wrong</div>')
        for value, words in (("value_right", "Value right"), ("value_wrong", "Value wrong")):
            row = st.columns([0.8, 1, 1], gap="xsmall", vertical_alignment="center")
            row[0].html(f'<div class="ls-ledger-row">{words}</div>')
            for column, box in zip(row[1:], ("box_right", "box_wrong"), strict=True):
                count, name = cells[value][box], f"{value}_{box}"
                share = f"{100 * count / total:.1f} %" if total else "–"
                column.button(
                    f"**{count:,}** {share}",
                    key=f"linked_{name}",
                    help=LINKS[name],
                    width="stretch",
                    on_click=field_results.open_linked,
                    args=(name, state.field_label or None),
                )


def ap_chart(compared: ComparedFields, model: FieldModel) -> None:
    """Draw AP against the IoU threshold of both models, over pale curves of one model's fields."""
    label = state.field_label or None
    own = field_results.curves(model)
    curves = {}
    for each in compared.models:
        drawn = field_results.curves(each)
        curve = drawn.mean if label is None else drawn.of_class.get(label)
        if curve is not None:
            curves[each.letter] = curve
    means = "mean of both models" if len(compared.models) > 1 else "mean"
    frame.section("AP against IoU", displayed(label) if label else f"{means}; pale: fields of {model.letter}")
    pale = {cut(name): curve for name, curve in own.of_class.items()}
    chart = charts.ap_against_iou(own.iou, curves, pale, current=state.field_iou, baseline="A", dark=frame.is_dark())
    key = f"field_curves_{model.letter}"

    def chosen() -> None:
        for point in chosen_points(key, "field"):
            field_results.open_linked(field_results.PROBLEMS, whole(str(point["name"]), own.of_class))

    widgets.chart(st, chart, key=key, on_select=chosen, selection_mode="field", alt="AP against the IoU threshold")


def confidence(compared: ComparedFields) -> None:
    """Draw whether the confidence can be trusted: numbers, reliability with bin counts, review budget."""
    label = state.field_label or None
    judged = {model.letter: model.result.confidence(label) for model in compared.models}
    frame.section("Confidence", f"of {displayed(label)}" if label else "of all predicted fields that have one")
    if not any(len(each) for each in judged.values()):
        st.caption("No predicted field has a confidence, so there is nothing to measure.")
        return
    with st.container(key="field_confidence"):
        numbers, reliable, review = st.columns([0.8, 1, 1.25], gap="medium")
    with numbers:
        _numbers(compared, judged)
    with reliable:
        _reliability(compared, judged)
    with review:
        _review(compared, judged)


def _numbers(compared: ComparedFields, judged: dict[str, Any]) -> None:
    values = {letter: each.to_json() for letter, each in judged.items()}
    heads = "".join(f"<th>{frame.letter_badge(model.letter)}</th>" for model in compared.models)
    lines = []
    for name, term, key in (
        ("AUROC", "AUROC", "auroc"), ("Brier score", "Brier score", "brier"), ("Calibration error", "ECE", "ece"),
    ):  # fmt: skip
        cells = "".join(f"<td>{frame.number(values[letter][key])}</td>" for letter in judged)
        lines.append(f"<tr><th scope='row' title='{explained(term)}'>{name}</th>{cells}</tr>")
    for name, counted in (
        ("Values", {letter: len(each) for letter, each in judged.items()}),
        ("Wrong values", {letter: int((~each.right).sum()) for letter, each in judged.items()}),
    ):
        cells = "".join(f"<td>{count:,}</td>" for count in counted.values())
        lines.append(f"<tr><th scope='row'>{name}</th>{cells}</tr>")
    st.html(
        f'<table class="ls-means{frame.theme_class()}" aria-label="Confidence metrics"><thead><tr><th>{BINS} bins</th>'
        f"{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )
    st.caption(
        "AUROC: how often a right value has the higher confidence. Brier score and calibration error: lower is better; "
        "0 is perfect. A value that only the prediction has is wrong."
    )


def _reliability(compared: ComparedFields, judged: dict[str, Any]) -> None:
    bins = {letter: each.calibration for letter, each in judged.items() if len(each)}
    st.html('<div class="ls-fit"><b>Reliability</b><span>right values, share; dashed: perfect</span></div>')
    for key, chart, words in (
        (
            "field_reliability",
            charts.reliability(bins, baseline="A", dark=frame.is_dark()),
            "Right values against the confidence",
        ),
        ("field_bins", charts.bin_counts(bins, baseline="A", dark=frame.is_dark()), "Values in each bin of confidence"),
    ):
        chosen = functools.partial(_choose_bin, compared, key)
        widgets.chart(st, chart, key=key, on_select=chosen, selection_mode="bin", alt=words)


def _choose_bin(compared: ComparedFields, key: str) -> None:
    for point in chosen_points(key, "bin"):
        compared.show(str(point["model"]))
        field_results.open_linked(f"{BIN}{int(point['bin'])}", state.field_label or None)


def _review(compared: ComparedFields, judged: dict[str, Any]) -> None:
    share = field_results.budget()
    st.html('<div class="ls-fit"><b>Review budget</b><span>errors caught; dashed: at random</span></div>')
    curves = {letter: review_curve(each.right, each.confidence) for letter, each in judged.items() if len(each)}
    chart = charts.review_budget(curves, budget=share, baseline="A", dark=frame.is_dark(), height=170)
    widgets.chart(st, chart, key="field_review", alt="Errors caught against the share that is reviewed")
    low, high = field_results.BUDGETS
    st.slider(
        "Reviewed, per cent of the values", low, high, step=1, key=State.field_budget.key, persist_state="session"
    )
    for letter, each in judged.items():
        caught = review_budgets(each.right, each.confidence, (share,)) if len(each) else ()
        sentence = review_sentence(caught[0] if caught else None, errors=int((~each.right).sum()), total=len(each))
        left, right = st.columns([5, 1], gap="xsmall", vertical_alignment="center")
        badge = frame.letter_badge(letter)
        left.html(f'<p class="ls-sentence{frame.theme_class()}">{badge} <span>{html.escape(sentence)}</span></p>')
        right.button(
            "Show",
            key=f"linked_least_{letter}",
            help=f"{LINKS[LEAST_SURE]} fields of {letter}",
            disabled=not len(each),
            on_click=_show_least_sure,
            args=(compared, letter),
            width="stretch",
        )


def _show_least_sure(compared: ComparedFields, letter: str) -> None:
    compared.show(letter)
    field_results.open_linked(LEAST_SURE, state.field_label or None)
