"""What views have at their head: thresholds, the chosen model, and the corrected numbers."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.components.overview.rows import CorrectedF1
from evaluator.data.issues import count_of, plain
from evaluator.metrics.results import Metrics, defined
from evaluator.metrics.terms import explained
from pages.app import protocol, widgets
from pages.app.frame import (
    banners,
    escaped,
    facts_of,
    letter_and_name,
    letter_badge,
    number,
    signature,
    theme_class,
    thresholds_at_right,
    title,
)
from pages.app.results import (
    BEST_F1,
    STANDARD,
    has_scores,
    iou_range,
    preset,
    result_of,
    score_threshold,
    use_best_f1,
    use_standard,
)
from pages.app.session_files import LoadedBoxes, Model, PairModel
from pages.app.state import State, View, state
from pages.views.findings import findings

Ratio = Literal["precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity"]
_RATIOS: Final[tuple[tuple[str, Ratio], ...]] = (("F1", "f1"), ("Precision", "precision"), ("Recall", "recall"))
# More models than this are chosen from a list.
_MODELS_IN_A_ROW: Final = 3


def thresholds(
    loaded: LoadedBoxes, chosen: Sequence[Model], signature: str = "", *, with_iou: bool = True
) -> DeltaGenerator:
    """Draw models, thresholds, presets and what made the numbers at the right of the navigation; return the place."""
    scores = " / ".join(dict.fromkeys(f"{score_threshold(loaded, model):.2f}" for model in chosen))
    label = f"*Thresholds:* IoU {state.iou:.2f}, score {scores}" if with_iou else f"*Threshold:* score {scores}"
    changed = with_iou and preset(loaded) != STANDARD
    place = thresholds_at_right(loaded, f"**{label}**" if changed else label)
    with place:
        if with_iou:
            low, high = iou_range()
            st.slider("IoU threshold", low, high, step=0.01, key=State.iou.key, persist_state="session")
        for model in chosen:
            score_slider(loaded, model)
        if with_iou:
            _presets(loaded)
        if signature:
            st.html(facts_of(signature))
    return place


def score_slider(loaded: LoadedBoxes, model: Model) -> None:
    """Draw the lowest score at which the boxes of a model count."""
    scores = has_scores(loaded, model)
    st.slider(
        f"Minimum score, {model.letter}" if isinstance(model, PairModel) else "Minimum score",
        0.0,
        1.0,
        step=0.01,
        key=State.score.of(model.index).key,
        persist_state="session",
        disabled=not scores,
        help=None if scores else "All scores of this model are equal or missing.",
    )


def of_one_model(
    name: str, loaded: LoadedBoxes, counts: Mapping[View, tuple[int, str]] = MappingProxyType({})
) -> DeltaGenerator:
    """Draw the first line of a view of the shown model, what changes its numbers, and thresholds; return the line."""
    shown = loaded.shown
    line = title(name, counts=counts)
    with line:
        model_switch(loaded.models)
    banners(loaded, [shown])
    thresholds(loaded, [shown], signature(loaded, [shown]))
    return line


def model_switch(models: Sequence[Model]) -> None:
    """Draw which model is shown, by letter when the view names two, else by name."""
    if state.model not in [model.index for model in models]:
        state.model = models[0].index
    if len(models) > _MODELS_IN_A_ROW:
        widgets.choice(
            "Model",
            {model.index: plain(model.name) for model in models},
            State.model,
            width=220,
            label_visibility="collapsed",
        )
    else:
        names = {model.index: escaped(letter_and_name(model)) for model in models}
        widgets.switch("Model", names, State.model, label_visibility="collapsed")


def _presets(loaded: LoadedBoxes) -> None:
    state.preset = preset(loaded)

    def apply() -> None:
        if state.preset == STANDARD:
            use_standard()
        elif state.preset == BEST_F1:
            use_best_f1(loaded)

    st.segmented_control(
        "Thresholds",
        [STANDARD, BEST_F1],
        format_func=lambda each: f"{each} ({protocol.standard_iou():.2f} / 0.00)" if each == STANDARD else each,
        key=State.preset.key,
        on_change=State.preset.changed(apply),
        label_visibility="collapsed",
    )


# --- corrected numbers ---------------------------------------------------------------------------------------


class Corrected(NamedTuple):
    """The numbers of a model on the corrected ground truth, and how many verdicts are applied."""

    numbers: Metrics
    applied: int


def corrected(loaded: LoadedBoxes, model: Model) -> Corrected | None:
    """Return a model's numbers on the corrected ground truth; None if precision, recall and F1 stay."""
    again = findings.corrected_of(loaded, model)
    if again is None:
        return None
    before, after = result_of(loaded, model).micro.row(0), again.result.micro.row(0)
    keys: tuple[Ratio, ...] = ("precision", "recall", "f1")
    return Corrected(after, again.applied) if any(before[key] != after[key] for key in keys) else None


def corrected_badge(after: Corrected, before: Metrics | Mapping[Ratio, float | None], key: Ratio) -> str:
    """Return a corrected number in small letters, as HTML; empty when it reads as the official one."""
    if number(after.numbers[key]) == number(before[key]):
        return ""
    return f'<small class="ls-after" title="{html.escape(_why(after))}">corrected {number(after.numbers[key])}</small>'


def corrected_f1(loaded: LoadedBoxes, model: Model) -> CorrectedF1 | None:
    """Return F1 of a model on the corrected ground truth; None where it reads as the official one."""
    after = corrected(loaded, model)
    if after is None or number(after.numbers["f1"]) == number(result_of(loaded, model).micro.row(0)["f1"]):
        return None
    return CorrectedF1(f"corrected {number(after.numbers['f1'])}", _why(after))


def _why(after: Corrected) -> str:
    return (
        f"On the ground truth as {count_of(after.applied, 'agreed verdict')} of reviewers "
        f"{'corrects' if after.applied == 1 else 'correct'} it; the official number is on the ground truth as it was "
        "opened. The view Decisions lists the verdicts."
    )


def numbers_line(loaded: LoadedBoxes, chosen: Sequence[PairModel]) -> None:
    """Draw the main numbers of some models in a line, each with its corrected number if that differs."""
    parts = []
    for model in chosen:
        after, micro = corrected(loaded, model), result_of(loaded, model).micro
        # These alone: how well the boxes fit takes longer than all counts.
        before: dict[Ratio, float | None] = {key: defined(getattr(micro, key)[0]) for _, key in _RATIOS}
        numbers = "".join(
            f'<span title="{html.escape(explained(name))}">{name} {number(before[key])} '
            f"{corrected_badge(after, before, key) if after else ''}</span>"
            for name, key in _RATIOS
        )
        parts.append(f"{letter_badge(model.letter)} {numbers}")
    st.html(f'<p class="ls-numbers-line{theme_class()}">{" ".join(parts)}</p>')
