"""A protocol's own numbers, of all predictions at its own thresholds, and what the scores are worth."""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import streamlit as st

from evaluator.charts import scores as charts
from evaluator.charts.scores import MOST_CURVES, Point
from evaluator.compare.differences import Difference, differences, ties_make, without_ties
from evaluator.compare.sentences import points
from evaluator.data.issues import count_of, displayed, plain
from evaluator.matching.box_results import ALL_LABELS
from evaluator.matching.box_scores import ThresholdChoice, box_calibrations, thin_curve, threshold_choice
from evaluator.matching.error_types import ERROR_TYPES, TIDE, TideErrors
from evaluator.metrics import export
from evaluator.metrics.average_precision import Curve
from evaluator.metrics.confidence import Calibration
from evaluator.metrics.measures import Key
from evaluator.metrics.resampling import FEW_DOCUMENTS
from evaluator.metrics.results import defined, threshold_text
from evaluator.metrics.terms import explained
from evaluator.protocols.base import NumberGroup
from pages.app import frame, protocol, widgets
from pages.app.cache import Cached
from pages.app.results import (
    evaluation_of,
    is_resampled,
    matching_of_all,
    result_key,
    result_of,
    result_of_all,
    score_threshold,
)
from pages.app.session_files import LoadedBoxes, Model, PairModel, of_letter
from pages.app.state import State, state
from pages.app.widgets import Column
from pages.views.gallery.gallery_items import curve_of

_GAINS_SHOWN: Final = 3
_STAR: Final = "★"
# By the letter of the model: the protocol's numbers of each label.
_Columns = Mapping[str, Mapping[str, Sequence[float | None]]]


# --- what is computed, once for all --------------------------------------------------------------------------

_CHOICES: Final = Cached[ThresholdChoice](64)
_TIDE: Final = Cached[TideErrors | None](16, spinner="Naming the errors")
_CALIBRATIONS: Final = Cached[Mapping[str | None, Calibration | None]](64)
_DIFFERENCES: Final = Cached[tuple[Difference, ...]](16, spinner="Resampling the documents")


def choice_of(loaded: LoadedBoxes, model: Model) -> ThresholdChoice:
    """Return one score threshold, or one for each label, at the chosen IoU threshold."""
    key = result_key(loaded, model)._replace(min_score=0.0)
    return _CHOICES.of(key, lambda: threshold_choice(curve_of(loaded, model)))


def _tide_of(loaded: LoadedBoxes, model: Model) -> TideErrors | None:
    key = result_key(loaded, model)._replace(min_score=0.0, iou=0.0)
    return _TIDE.of(key, lambda: protocol.chosen().error_types(evaluation_of(loaded, model)))


def _calibration_of(loaded: LoadedBoxes, model: Model, label: str | None = None) -> Calibration | None:
    """Return the calibration of a model's scores (of a label) at the chosen IoU threshold."""
    return _calibrations_of(loaded, model)[label]


def _calibrations_of(loaded: LoadedBoxes, model: Model) -> Mapping[str | None, Calibration | None]:
    """Return the same of all predictions, under None, and of each label."""
    key = result_key(loaded, model)._replace(min_score=0.0)
    return _CALIBRATIONS.of(key, lambda: box_calibrations(result_of_all(loaded, model)))


def _differences_of(loaded: LoadedBoxes, chosen: Sequence[Model]) -> dict[str, Difference]:
    def made() -> tuple[Difference, ...]:
        of, results = protocol.chosen(), [evaluation_of(loaded, model) for model in chosen]
        names = {one.metric for group in of.protocol_metrics(results[0]) for one in group.numbers if one.metric}
        every = differences(*map(of.measures, results), keys=[Key(name, ALL_LABELS) for name in names])
        return without_ties(every, *(result.tied_ranges for result in results))

    keys = tuple(result_key(loaded, model)._replace(min_score=0.0, iou=0.0) for model in chosen)
    return {one.metric: one for one in _DIFFERENCES.of(keys, made)}


# --- what is shown -------------------------------------------------------------------------------------------


def has_own_numbers(loaded: LoadedBoxes) -> bool:
    """Return whether the protocol has numbers beside those of the matching at one threshold."""
    return bool(protocol.chosen().protocol_metrics(evaluation_of(loaded, loaded.pair[0])))


def numbers_table(loaded: LoadedBoxes, chosen: Sequence[PairModel]) -> None:
    """Draw the protocol's own numbers, a row for each model, and B minus A in points."""
    of = protocol.chosen()
    every = [of.protocol_metrics(evaluation_of(loaded, model)) for model in chosen]
    why = dict.fromkeys(f"{one.title}: {one.why}" for group in every[0] for one in group.numbers if one.why)
    groups = _with_values(every)
    few = is_resampled(loaded, chosen)
    known: dict[str, Difference] = {}
    if len(chosen) == 2 and few and state.own_intervals:
        known = _differences_of(loaded, chosen)
    heads = "".join(
        f'<th colspan="{len(group.numbers)}" scope="colgroup">{html.escape(group.title)}</th>' for group in groups[0]
    )
    titles = "".join(f'<th scope="col">{html.escape(one.title)}</th>' for group in groups[0] for one in group.numbers)
    labels = count_of(len(evaluation_of(loaded, chosen[0]).matching.labels), "label")
    rows = "".join(_row(model, own) for model, own in zip(chosen, groups, strict=True))
    if len(chosen) == 2:
        rows += _moved(groups[0], groups[1], known)
    st.html(
        f'<div class="ls-wide"><table class="ls-own{frame.theme_class()}"><thead><tr><th></th>{heads}</tr>'
        f'<tr><th scope="row">Mean of {labels}</th>{titles}</tr></thead><tbody>{rows}</tbody></table></div>'
    )
    notes = ["All predictions at the protocol's own IoU thresholds: the sliders do not move these numbers."]
    notes += [f"{'; '.join(why)}."] if why else []
    said = []
    for model in chosen:
        limited = getattr(evaluation_of(loaded, model), "beyond_limit", None)
        if limited is not None and limited.predictions:
            said.append(f"The best {limited.limit:,} of a page and label count: {limited.words} in {model.letter}.")
        if ties := evaluation_of(loaded, model).ties:
            said.append(f"Equal scores in {model.letter}: {ties.words}.")
    if len(chosen) == 2 and (made := _made_by_ties(loaded, chosen, groups)):
        said.append(f"The order of equal scores alone can make the difference of {', '.join(made)}.")
    if len(chosen) == 2 and not few:
        notes.append(f"For intervals of so many boxes: layoutscope compare {of.name}.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(frame.escaped(" ".join(notes)), width="content")
        if len(chosen) == 2 and few and len(loaded.dataset.documents) >= FEW_DOCUMENTS:
            st.toggle(
                f"Intervals of B − A ({_STAR} outside 0)",
                key=State.own_intervals.key,
                persist_state="session",
                help="95 % intervals from resampled documents, of the numbers that have them. Takes some seconds.",
            )
    if said:
        st.caption(" ".join(map(frame.escaped, said)))


def _with_values(every: Sequence[Sequence[NumberGroup]]) -> list[list[NumberGroup]]:
    """Return the numbers that some model has, such as AP of small boxes where the ground truth has some."""
    shown = []
    for together in zip(*every, strict=True):
        rows = zip(*(group.numbers for group in together), strict=True)
        has = [any(one.value is not None for one in row) for row in rows]
        shown.append([group._replace(numbers=tuple(itertools.compress(group.numbers, has))) for group in together])
    return [[group for group in own if group.numbers] for own in zip(*shown, strict=True)]


def _made_by_ties(
    loaded: LoadedBoxes, chosen: Sequence[PairModel], groups: Sequence[Sequence[NumberGroup]]
) -> list[str]:
    """Return the titles of numbers that differ as the order of equal scores alone can make them."""
    ranges = [evaluation_of(loaded, model).tied_ranges for model in chosen]
    pairs = zip(*([one for group in own for one in group.numbers] for own in groups), strict=True)
    return [
        a.title
        for a, b in pairs
        if a.value != b.value and ties_make(Key(a.metric, ALL_LABELS), a.value, b.value, *ranges)
    ]


def _row(model: PairModel, groups: Sequence[NumberGroup]) -> str:
    cells = "".join(
        f'<td class="{"ls-first" if first else ""}" title="{html.escape(one.why or explained(one.title))}">'
        f"{_three(one.value)}</td>"
        for place, group in enumerate(groups)
        for first, one in ((not place and not at, one) for at, one in enumerate(group.numbers))
    )
    name = html.escape(displayed(model.name))
    return f'<tr><th scope="row">{frame.letter_badge(model.letter)} <b title="{name}">{name}</b></th>{cells}</tr>'


def _moved(first: Sequence[NumberGroup], second: Sequence[NumberGroup], known: dict[str, Difference]) -> str:
    cells = []
    for a, b in zip(
        (one for group in first for one in group.numbers),
        (one for group in second for one in group.numbers),
        strict=True,
    ):
        if a.value is None or b.value is None:
            cells.append("<td>–</td>")
            continue
        moved = known.get(a.metric)
        star = f" {_STAR}" if moved is not None and moved.is_clear else ""
        interval = ""
        if moved is not None and moved.low is not None and moved.high is not None and not moved.too_few:
            interval = f"95 % interval {points(moved.low)} to {points(moved.high)}"
        cells.append(
            f'<td class="{"ls-star" if star else ""}" title="{interval}">{points(b.value - a.value)}{star}</td>'
        )
    return f'<tr class="ls-moved"><th scope="row">B minus A, points</th>{"".join(cells)}</tr>'


def _three(value: float | None) -> str:
    return "–" if value is None else frame.number(value)


def labels_and_curves(loaded: LoadedBoxes, chosen: Sequence[PairModel]) -> None:
    """Draw the protocol's numbers of each label, and precision against recall of one model."""
    of = protocol.chosen()
    columns = {model.letter: of.label_numbers(evaluation_of(loaded, model)) for model in chosen}
    if not columns[chosen[0].letter]:
        return
    with st.container(key="own_labels_row"):
        left, right = st.columns([2, 1], gap="medium")
    with left:
        head, control = st.columns([1.4, 1], vertical_alignment="center")
        head.html('<h2 class="ls-section">Labels by average precision <small>scores of the best F1</small></h2>')
        shown = chosen[0]
        if len(chosen) == 2:
            with control.container(horizontal=True, horizontal_alignment="right"):
                names = {model.letter: frame.escaped(frame.letter_and_name(model)) for model in chosen}
                letter = widgets.one_of("Curves of", names, "own_model")
            shown = of_letter(chosen, letter) or shown
        _label_table(loaded, chosen, shown, columns)
    with right:
        _curves(loaded, shown)


def _label_table(loaded: LoadedBoxes, chosen: Sequence[PairModel], shown: PairModel, columns: _Columns) -> None:
    evaluation = evaluation_of(loaded, shown)
    counts = evaluation.first.per_label
    table: dict[str, Column] = {"Label": [displayed(label) for label in evaluation.matching.labels]}
    table["Boxes"] = counts.tp + counts.fn
    settings: dict[str, object] = {"Label": 104, "Boxes": widgets.count_column(48)}
    first = next(iter(columns[shown.letter]))
    for model in chosen:
        title = f"{first}, {model.letter}"
        table[title] = columns[model.letter][first]
        settings[title] = widgets.bar_column(model.letter, 76, title)
    if len(chosen) == 2:
        a, b = (np.array(columns[model.letter][first], dtype=np.float64) for model in chosen)
        table["B − A"] = [None if np.isnan(each) else points(each) for each in (b - a).tolist()]
        settings["B − A"] = st.column_config.TextColumn(width=54, help="In points.")
    for title, values in list(columns[shown.letter].items())[1:]:
        table[title] = values
        settings[title] = widgets.ratio_column(52)
    _add_scores(table, settings, loaded, chosen, shown)
    widgets.table(
        table,
        rows=12,
        key=f"own_labels_{shown.letter}",
        placeholder="–",
        names="Label",
        columns=settings,
        alt="Average precision by label",
    )


def _add_scores(
    table: dict[str, Column],
    settings: dict[str, object],
    loaded: LoadedBoxes,
    chosen: Sequence[PairModel],
    shown: PairModel,
) -> None:
    labels = matching_of_all(loaded, shown).labels
    for model in chosen:
        best = dict(zip(*_own(choice_of(loaded, model)), strict=True))
        title = f"Score {model.letter}"
        table[title] = [best.get(label) for label in labels]
        settings[title] = st.column_config.NumberColumn(format="%.2f", width=56, help="With the best F1.")
    choice = choice_of(loaded, shown)
    best_f1 = dict(zip(choice.labels, choice.label_f1_own.tolist(), strict=True))
    table["Best F1"] = [best_f1.get(label) for label in labels]
    settings["Best F1"] = widgets.ratio_column(58, help=frame.escaped(f"Of {frame.letter_and_name(shown)}."))
    for model in chosen:
        every = _calibrations_of(loaded, model)
        bins = [every[label] for label in labels]
        title = f"ECE {model.letter}"
        table[title] = [None if each is None else defined(each.error) for each in bins]
        settings[title] = widgets.ratio_column(52, help="Mean gap between score and share that is right.")


def scores(loaded: LoadedBoxes, chosen: Sequence[PairModel]) -> None:
    """Draw what scores are worth under a protocol that needs none."""
    if all(_calibration_of(loaded, model) is None for model in chosen):
        frame.section("Scores", "n/a")
        st.caption(
            "Scores are missing or not between 0 and 1, so there is no reliability and no best score. Without any "
            "score there is no mAP either: export the scores."
        )
        return
    with st.container(key="own_scores_row"):
        first, second, third = st.columns([1.25, 1.1, 1.0], gap="medium")
    with first:
        frame.section("Scores by label", f"IoU {threshold_text(state.iou)}, all predictions")
        labels = matching_of_all(loaded, chosen[0]).labels
        table: dict[str, Column] = {"Label": [displayed(label) for label in labels]}
        settings: dict[str, Any] = {"Label": 104}
        _add_scores(table, settings, loaded, chosen, chosen[0])
        widgets.table(
            table,
            rows=12,
            key="scores_by_label",
            placeholder="–",
            names="Label",
            # The numbers beside it are in sight at a width of 1,440 pixels.
            widest=130,
            columns=settings,
            alt="Best score and ECE by label",
        )
    with second:
        _reliability(loaded, chosen)
    with third:
        _one_or_own(loaded, chosen)


def _own(choice: ThresholdChoice) -> tuple[Sequence[str], Sequence[float]]:
    return choice.labels, choice.own.tolist()


def _curves(loaded: LoadedBoxes, model: PairModel) -> None:
    result = result_of_all(loaded, model)
    labels = result.matching.labels
    truths = (result.per_label.tp + result.per_label.fn).tolist()
    most = sorted((row for row in range(len(labels)) if truths[row]), key=lambda row: -truths[row])[:MOST_CURVES]
    frame.section(
        "Precision and recall",
        f"{model.letter}, {protocol.iou_words()}; {len(most)} of {count_of(len(labels), 'label')}, most boxes",
    )
    curves: dict[str, Curve] = {}
    for row in most:
        curve = thin_curve(protocol.curve(result, labels[row]))
        if len(curve.score):
            curves[labels[row]] = curve
    if not curves:
        st.caption("No prediction has a score, so there is no curve.")
        return
    here, choice = result_of(loaded, model).per_label, choice_of(loaded, model)
    now = {label: Point(float(here.recall[row]), float(here.precision[row])) for row, label in enumerate(labels)}
    best = {
        label: Point(float(choice.recall_own[row]), float(choice.precision_own[row]))
        for row, label in enumerate(choice.labels)
    }
    names = {label: displayed(label) for label in curves}
    drawn = charts.label_curves(
        {names[label]: curve for label, curve in curves.items()},
        {names[label]: now[label] for label in curves},
        {names[label]: best[label] for label in curves},
        dark=frame.is_dark(),
    )
    widgets.chart(st, drawn, alt="Precision against recall by label")
    score = threshold_text(score_threshold(loaded, model))
    st.caption(f"Filled dot: at score {score}. Hollow dot: at the best score of the label.")


def costs_and_scores(loaded: LoadedBoxes, chosen: Sequence[PairModel]) -> None:
    """Draw what each error costs, reliability, and one score against one per label."""
    with st.container(key="own_scores_row"):
        first, second, third = st.columns([1.15, 1.1, 1.1], gap="medium")
    with first:
        _costs(loaded, chosen)
    with second:
        _reliability(loaded, chosen)
    with third:
        _one_or_own(loaded, chosen)


def _costs(loaded: LoadedBoxes, chosen: Sequence[PairModel]) -> None:
    errors = {model.letter: _tide_of(loaded, model) for model in chosen}
    frame.section("What each error costs", "points of AP that its repair alone gains")
    known = {letter: one for letter, one in errors.items() if one is not None}
    if not known:
        st.caption("The errors have no cost here: the predictions have no scores.")
        return
    titles = [ERROR_TYPES["tide"][name].title for name in TIDE]
    chart = charts.error_costs(
        titles,
        {letter: 100 * one.costs.delta_ap for letter, one in known.items()},
        {letter: one.counts.tolist() for letter, one in known.items()},
        baseline="A",
        dark=frame.is_dark(),
    )
    widgets.chart(st, chart, alt="What each error costs")
    iou = threshold_text(next(iter(known.values())).options.iou)
    st.caption(f"TIDE at IoU ≥ {iou}, 101 points; the costs do not add up.")


def _reliability(loaded: LoadedBoxes, chosen: Sequence[PairModel]) -> None:
    frame.section("Reliability of scores", f"share that is right, by score; IoU {threshold_text(state.iou)}")
    # Without a key: other labels make it another choice.
    label = st.selectbox(
        "Reliability of",
        [None, *matching_of_all(loaded, chosen[0]).labels],
        format_func=lambda name: "All labels" if name is None else displayed(name),
        label_visibility="collapsed",
    )
    for column, model in zip(st.columns(len(chosen), gap="small"), chosen, strict=True):
        bins = _calibration_of(loaded, model, label)
        if bins is None:
            column.caption(f"{model.letter}: scores are missing or not between 0 and 1.")
            continue
        error = frame.number(defined(bins.error))
        column.html(f'<div class="ls-fit"><b>{model.letter} ECE {error}</b></div>')
        chart = charts.reliability_bars(bins, model=model.letter, baseline="A", dark=frame.is_dark())
        widgets.chart(column, chart, alt=f"Reliability of the scores of {model.letter}")
    st.caption("ECE: mean gap between score and share, weighted by boxes. On the dashed line a score is a probability.")


def _one_or_own(loaded: LoadedBoxes, chosen: Sequence[PairModel]) -> None:
    frame.section("One score or one per label", "F1, all labels pooled")
    choices = {model: choice_of(loaded, model) for model in chosen}
    rows = []
    for model, choice in choices.items():
        full = html.escape(displayed(model.name))
        name = f'{frame.letter_badge(model.letter)} <span title="{full}">{full}</span>'
        rows.append(_gain_row(name, defined(choice.f1_one), defined(choice.f1_own), f"at {choice.one:.2f}"))
    last, choice = list(choices.items())[-1]
    for place in choice.gains[:_GAINS_SHOWN].tolist():
        label = html.escape(frame.shorten(displayed(choice.labels[place]), 18))
        name = f"<span>{label} in {last.letter}, at {choice.own[place]:.2f}</span>"
        one, own = defined(choice.label_f1_one[place]), defined(choice.label_f1_own[place])
        rows.append(_gain_row(name, one, own, ""))
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Model", "One score", "Per label", "Gain"))
    st.html(
        f'<table class="ls-own ls-gains{frame.theme_class()}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    documents = count_of(len(loaded.dataset.documents), "document")
    st.caption(f"Chosen on these {documents}: check on others before use.")
    with st.popover("Scores as JSON", icon=":material/content_copy:"):
        text = export.to_json({plain(model.name): choice.to_json() for model, choice in choices.items()})
        st.code(text, language="json", height=320)


def _gain_row(name: str, one: float | None, own: float | None, note: str) -> str:
    gain = "–" if one is None or own is None else points(own - one)
    cells = f'<td title="{note}">{frame.number(one)}</td><td>{frame.number(own)}</td><td><b>{gain}</b></td>'
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'
