"""The numbers at the head of a view: operating point, model cards, and the corrected numbers."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.compare.sentences import points
from evaluator.data.issues import count_of, plain
from evaluator.matching.box_items import Status
from evaluator.metrics.results import MetricColumns, Metrics, defined, threshold_text
from evaluator.metrics.terms import explained
from pages.app import protocol, widgets
from pages.app.frame import (
    escaped,
    facts_of,
    letter_and_name,
    letter_badge,
    number,
    theme_class,
    thresholds_at_right,
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
from pages.app.state import State, state
from pages.views.findings import findings

Ratio = Literal["precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity"]
_RATIOS: Final[tuple[tuple[str, Ratio], ...]] = (("F1", "f1"), ("Precision", "precision"), ("Recall", "recall"))
# More models than this are chosen from a list.
_MODELS_IN_A_ROW: Final = 3


def thresholds(
    loaded: LoadedBoxes, chosen: Sequence[Model], signature: str = "", *, with_iou: bool = True
) -> DeltaGenerator:
    """Draw models, thresholds, presets and what made the numbers at the right of the navigation; return the place.

    Without an IoU there are score thresholds alone.
    """
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


def model_cards(
    loaded: LoadedBoxes, chosen: Sequence[PairModel], ask: Callable[[PairModel, Status], None]
) -> Callable[[], None]:
    """Draw each model's ratios and counts, which `ask` for their boxes; return what adds mistakes without names yet."""
    baseline = result_of(loaded, chosen[0]).micro
    late = []
    for model, column in zip(chosen, st.columns(len(chosen), gap="small"), strict=True):
        result = result_of(loaded, model)
        row = result.micro.row(0)
        counts: tuple[tuple[Status, str], ...] = (
            ("TP", f"{row['tp']:,} found"),
            ("FN", f"{row['fn']:,} missed"),
            ("FP", f"{row['fp']:,} extra"),
        )
        with column.container(border=True, key=f"model_card_{model.letter}"):
            st.html(_model_card(loaded, model, None if model.letter == "A" else baseline))
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                for status, words in counts:
                    key, said = f"open_{status}_{model.letter}", explained(status)
                    st.button(words, key=key, on_click=ask, args=(model, status), help=said, disabled=words[0] == "0")
                place = st.empty()
            place.html(_signed(loaded, model, mistakes=result.mistakes_known))
            if not result.mistakes_known:
                late.append((model, place))

    def complete() -> None:
        for model, place in late:
            place.html(_signed(loaded, model, mistakes=True))

    return complete


def _signed(loaded: LoadedBoxes, model: PairModel, *, mistakes: bool) -> str:
    words = _thresholds(loaded, model)
    if mistakes:
        words += f" · {count_of(len(result_of(loaded, model).mistakes), 'mistake')}"
    return f'<p class="ls-facts">{html.escape(words)}</p>'


def _model_card(loaded: LoadedBoxes, model: PairModel, baseline: MetricColumns | None) -> str:
    row = result_of(loaded, model).micro.row(0)
    after = corrected(loaded, model)
    main = _metrics(*_RATIOS, of=row, after=after)
    second = _metrics(("Mean IoU", "mean_iou"), ("Coverage", "mean_coverage"), ("Purity", "mean_purity"), of=row)
    return (
        f'<section class="ls-card{theme_class()}" aria-label="Model {model.letter}"><header>'
        f'{letter_badge(model.letter)}<b title="{html.escape(plain(model.name))}">{html.escape(plain(model.name))}</b>'
        f"<span>{html.escape(against(row['f1'], baseline))}</span></header>"
        f'<div class="ls-metrics"><dl class="ls-main">{main}</dl><dl class="ls-second">{second}</dl></div></section>'
    )


def against(f1: float | None, baseline: MetricColumns | None) -> str:
    """Return F1 against the baseline model in points, in words."""
    if baseline is None:
        return "baseline"
    other = baseline.row(0)["f1"]
    if f1 is None or other is None:
        return "F1 n/a against A"
    return f"F1 {points(f1 - other)} points against A"


def _thresholds(loaded: LoadedBoxes, model: Model) -> str:
    of = protocol.chosen()
    score = threshold_text(score_threshold(loaded, model))
    return f"{of.name} {of.version} · {protocol.iou_words()} · score ≥ {score}"


def _metrics(*names: tuple[str, Ratio], of: Metrics, after: Corrected | None = None) -> str:
    """Return names and numbers of a card, each with its corrected number when there is one."""
    again = {} if after is None else {key: corrected_badge(after, of, key) for _, key in names}
    return "".join(
        f'<div title="{html.escape(explained(name))}"><dt>{name}</dt>'
        f"<dd>{number(of[key])}{again.get(key, '')}</dd></div>"
        for name, key in names
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
    why = (
        f"On the ground truth as {count_of(after.applied, 'agreed verdict')} of reviewers "
        f"{'corrects' if after.applied == 1 else 'correct'} it; the official number is on the ground truth as it was "
        "opened. The view Decisions lists the verdicts."
    )
    return f'<small class="ls-after" title="{html.escape(why)}">corrected {number(after.numbers[key])}</small>'


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
