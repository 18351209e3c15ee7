"""Means on the Overview: pooled boxes, documents, labels with weights, and COCO's average precision."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import streamlit as st

from evaluator.data.issues import count_of, cut, displayed, plain
from evaluator.matching.box_results import WEIGHTED_MEAN
from pages.app import frame, protocol
from pages.app.cache import Cached
from pages.app.results import Result, result_of
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import State, form_value, state

MOST_WEIGHT: Final = 1e6
_RATIOS: Final = (("Precision", "precision"), ("Recall", "recall"), ("F1", "f1"))
_AVERAGES: Final = ("AP", "AP50", "AP75")
# Ranking more takes seconds, which belong into the terminal.
_MOST_RANKED: Final = 300_000
_RANKED: Final = Cached[Mapping[str, float | None] | None](16, spinner="Computing average precision")


class _Group(NamedTuple):
    title: str
    heads: tuple[str, ...]
    values: tuple[float | None, ...]
    notes: tuple[str, ...]


def means(loaded: LoadedBoxes, chosen: Sequence[PairModel]) -> None:
    """Draw a row for each model: pooled, mean over documents, weighted mean over labels, AP."""
    weights = weights_in_use(loaded)
    if protocol.has_class_weights():
        _weights_control(loaded, weights)
    rows = {model: _groups(loaded, model, weights) for model in chosen}
    shown = rows[chosen[0]]
    heads = "".join(
        f'<th colspan="{len(group.heads)}" scope="colgroup">{html.escape(group.title)}</th>' for group in shown
    )
    names = "".join(f'<th scope="col">{name}</th>' for group in shown for name in group.heads)
    body = "".join(_row(model, groups) for model, groups in rows.items())
    st.html(
        f'<div class="ls-wide"><table class="ls-own ls-means{frame.theme_class()}"><thead><tr><th></th>{heads}</tr>'
        f"<tr><th></th>{names}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    st.caption(frame.escaped(" ".join(_explained(shown, weights))))


def weights_in_use(loaded: LoadedBoxes) -> Mapping[str, float]:
    """Return the weights that differ from 1, of evaluated labels; none if the protocol has none."""
    labels = loaded.dataset.labels[: loaded.dataset.evaluated]
    return {label: weight for label, weight in state.class_weights if label in labels} if _weighted() else {}


def weights_text(loaded: LoadedBoxes) -> list[str]:
    """Return what a signature states about the weights; nothing where all are 1."""
    weights = weights_in_use(loaded)
    return [f"class weight {', '.join(_weighed(weights))}"] if weights else []


def _weighed(weights: Mapping[str, float]) -> list[str]:
    return [f"{label}={weight:g}" for label, weight in weights.items()]


def _weighted() -> bool:
    return bool(state.class_weights) and protocol.has_class_weights()


def _weights_control(loaded: LoadedBoxes, weights: Mapping[str, float]) -> None:
    labels = loaded.dataset.labels[: loaded.dataset.evaluated]
    title = "Class weights" + (f" ({len(weights)})" if weights else "")
    with st.container(horizontal=True, horizontal_alignment="right"), st.popover(title, icon=":material/balance:"):
        with st.form("class_weights_form", border=False):
            keys = {label: State.class_weights.of(f"{cut(label)}_{weights.get(label, 1.0):g}").key for label in labels}
            for label, key in keys.items():
                st.number_input(
                    frame.escaped(displayed(label)),
                    min_value=0.0,
                    max_value=MOST_WEIGHT,
                    value=weights.get(label, 1.0),
                    step=0.5,
                    format="%g",
                    key=key,
                )
            st.form_submit_button("Use these weights", on_click=_use_weights, args=(keys,))
        st.caption("Of the mean over labels alone; 0 leaves a label out. In the terminal: --class-weight Table=2.")


def _use_weights(keys: Mapping[str, str]) -> None:
    values = {label: float(form_value(key)) for label, key in keys.items()}
    state.class_weights = tuple((label, value) for label, value in values.items() if value != 1.0)


def _groups(loaded: LoadedBoxes, model: PairModel, weights: Mapping[str, float]) -> list[_Group]:
    result = result_of(loaded, model)
    labels = WEIGHTED_MEAN if weights else "Mean over labels"
    ratios = [key for _, key in _RATIOS]
    groups = [
        _ratios("All boxes pooled", result.micro.row(0), None),
        _ratios("Mean over documents", result.macro_documents(ratios), "documents"),
        _ratios(labels, result.macro_labels(weights, ratios), "labels"),
    ]
    ranked = _average_precision(loaded, result, model)
    return [*groups, ranked] if ranked is not None else groups


def _ratios(title: str, numbers: Any, counted: str | None) -> _Group:  # noqa: ANN401 - metrics, or their mean
    noun = (counted or "").removesuffix("s")
    notes = [
        f"over {count_of(numbers[counted][key], noun)} where it is defined" if counted else "" for _, key in _RATIOS
    ]
    values = tuple(numbers[key] for _, key in _RATIOS)
    return _Group(title, tuple(name for name, _ in _RATIOS), values, tuple(notes))


def _average_precision(loaded: LoadedBoxes, result: Result, model: PairModel) -> _Group | None:
    if len(result.matching.prediction) > _MOST_RANKED or protocol.has_average_precision():
        return None
    key = (loaded.digests, model.index)
    ranked = _RANKED.of(key, lambda: protocol.average_precision(loaded.dataset, model.index))
    numbers = ranked or dict.fromkeys(_AVERAGES)
    return _Group("mAP (COCO)", _AVERAGES, tuple(numbers[name] for name in _AVERAGES), ("", "", ""))


def _row(model: PairModel, groups: Sequence[_Group]) -> str:
    cells = "".join(
        f'<td title="{html.escape(note)}">{frame.number(value)}</td>'
        for group in groups
        for value, note in zip(group.values, group.notes, strict=True)
    )
    name = html.escape(plain(model.name))
    return f'<tr><th scope="row">{frame.letter_badge(model.letter)} <b title="{name}">{name}</b></th>{cells}</tr>'


def _explained(groups: Sequence[_Group], weights: Mapping[str, float]) -> list[str]:
    said = ["A mean leaves out documents and labels where its ratio is undefined."]
    if weights:
        said.append(f"Weights: {', '.join(_weighed(weights))}; all other labels 1.")
    if len(groups) == 4:
        said.append(
            "mAP is of all predictions at IoU 0.50 to 0.95, 101 recall levels (coco): the sliders do not move it."
        )
    return said
