"""Models: open models and earlier results ranked by one measure, which differ clearly, and every pair."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator.charts.models import Placed, over_runs
from evaluator.compare.models import Standings, difference_text, order_of_runs, rank_text
from evaluator.compare.sentences import points
from evaluator.data.issues import count_of, plain
from evaluator.metrics.metric import Metric
from evaluator.metrics.results import capitalised, defined
from pages.app import frame, widgets
from pages.app.address import read_url, write_url
from pages.app.session_files import LoadedBoxes
from pages.app.state import State, chosen_cells, state
from pages.views.models import ranking
from pages.views.models.ranking import RankedModels
from pages.views.overview import headline

COMPARE_VIEW = "pages/compare.py"
# Characters of a name above a column: the browser measures it whole to find where to cut it.
_HEAD = 40
# Pixels of the names of the rows of the pairs, at most.
_NAMES_WIDTH = 380
_PAIRS = "models_pairs"
_MOST_LANES = 4
_LANE = 11


def _filter(loaded: LoadedBoxes) -> None:
    with frame.choices():
        frame.label_choice(loaded)
        with st.expander("Add an earlier result", icon=":material/upload_file:"):
            uploads = st.file_uploader(
                "result.json of layoutscope evaluate", type=["json"], accept_multiple_files=True, key="earlier_upload"
            )
            if uploads:
                ranking.use_earlier([(upload.name, upload.getvalue()) for upload in uploads])
            elif state.earlier:
                st.button("Remove earlier results", on_click=ranking.remove_earlier, width="stretch")


def _choices() -> None:
    titles = {name: capitalised(metric.title) for name, metric in ranking.measures().items()}
    # Another protocol may not have what the last one was ranked by.
    if state.rank_by not in titles:
        state.rank_by = State.rank_by.start
    with st.container(horizontal=True, vertical_alignment="top", gap="medium", key="models_choices"):
        widgets.choice("Sort and rank by", titles, State.rank_by, width=170)
        # The one that ranks shows anyway.
        others = {name: title for name, title in titles.items() if name != state.rank_by}
        state.rank_more = [name for name in state.rank_more if name in others]
        widgets.several("Also show", others, State.rank_more.key, persist_state="session")


def _title(metric: Metric) -> str:
    return html.escape(capitalised(metric.title))


def _table(loaded: LoadedBoxes, every: RankedModels) -> None:
    of = every.standings
    shown = [of, *every.others[:2]]
    scales = [_scale(one) for one in shown]
    lanes = of.groups if len(of.groups) <= _MOST_LANES else ()
    heads = "".join(
        f'<th scope="col">{_title(ranking.measures()[one.key.metric])}</th>'
        f'<th class="ls-axis"><span>{low:.2f}</span><span>{high:.2f}</span></th>'
        for one, (low, high) in zip(shown, scales, strict=True)
    )
    rows = []
    for row, (model, rank) in enumerate(zip(of.models, of.ranks, strict=True)):
        letter = ranking.letter_of(loaded, every.places[row])
        badge = frame.letter_badge(letter) if letter else ""
        name = html.escape(plain(model.name))
        cells = "".join(
            _value(one, [each.name for each in one.models].index(model.name), scale, letter, first=not place)
            for place, (one, scale) in enumerate(zip(shown, scales, strict=True))
        )
        correct = "–" if model.per_100_pages is None else f"{model.per_100_pages:,.1f}"
        rows.append(
            f"<tr><td>{'–' if rank is None else rank_text(rank)}</td><td>{_lanes(lanes, row)}</td>"
            f'<th scope="row">{badge} <span title="{name}">{name}</span></th>{cells}<td>{correct}</td>'
            f"<td>{html.escape(plain(model.run_text) or '–')}</td><td>{'yes' if model.boxes else 'no'}</td></tr>"
        )
    width = 7 + 2 * len(shown)
    for apart in every.apart:
        name, why = html.escape(plain(apart.result.name)), html.escape(plain(apart.why))
        rows.append(
            f'<tr class="ls-apart"><td colspan="2">Shown apart</td><td colspan="{width - 2}"><b>{name}</b> {why}: '
            "not ranked, not in the pairs, not in the line.</td></tr>"
        )
    st.html(
        f'<div class="ls-wide"><table class="ls-own ls-models{frame.theme_class()}"><thead><tr><th>Rank</th><th></th>'
        f"<th>Model</th>{heads}<th>To correct<br>per 100 pages</th><th>Run</th><th>Boxes</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    pairs = len(of.models) * (len(of.models) - 1) // 2
    notes = []
    if of.has_intervals and pairs:
        notes.append(
            "A bracket joins models that cannot be told apart: simultaneous 95 % intervals of "
            f"{'all ' if pairs > 1 else ''}{count_of(pairs, 'pair')}. The intervals in the table are of one model; "
            "they overlap more than differences do."
        )
    if any(not model.boxes for model in of.models):
        notes.append("Boxes: no = from an earlier result.")
    if state.label:
        notes.append(f"To correct: boxes of mistakes of {frame.escaped(state.label)} alone.")
    if notes:
        st.caption(" ".join(notes))


def _scale(of: Standings) -> tuple[float, float]:
    ends = [of.values] if not of.has_intervals else [of.values, of.low, of.high]
    known = np.concatenate(ends)
    known = known[~np.isnan(known)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(np.floor(known.min() * 50) / 50), float(np.ceil(known.max() * 50) / 50)
    return (low, high) if high > low else (max(low - 0.02, 0.0), min(low + 0.02, 1.0))


def _value(of: Standings, row: int, scale: tuple[float, float], letter: str, *, first: bool) -> str:
    value = defined(of.values[row])
    number = f'<td class="{"ls-rank" if first else ""}">{frame.number(value)}</td>'
    if value is None:
        return f"{number}<td></td>"
    low, high = scale
    place = _percent(value, low, high)
    marks = f'<i class="ls-dot" style="left:{place:.1f}%"></i>'
    text = frame.number(value)
    ends = defined(of.low[row]), defined(of.high[row])
    if ends[0] is not None and ends[1] is not None:
        start, stop = _percent(ends[0], low, high), _percent(ends[1], low, high)
        marks = f'<i class="ls-whisker" style="left:{start:.1f}%;width:{stop - start:.1f}%"></i>{marks}'
        text += f", 95 % interval {frame.number(ends[0])} to {frame.number(ends[1])}"
    return f'{number}<td class="ls-scale ls-of-{letter.lower()}" title="{text}"><div>{marks}</div></td>'


def _percent(value: float, low: float, high: float) -> float:
    return 100 * (value - low) / (high - low)


def _lanes(lanes: Sequence[tuple[int, int]], row: int) -> str:
    drawn = []
    for lane, (first, last) in enumerate(lanes):
        if first <= row <= last:
            kind = "first" if row == first else "last" if row == last else "middle"
            drawn.append(f'<i class="ls-lane ls-{kind}" style="left:{lane * _LANE}px"></i>')
    return f'<div class="ls-lanes" style="width:{max(len(lanes), 1) * _LANE}px">{"".join(drawn)}</div>'


def _pairs(loaded: LoadedBoxes, every: RankedModels) -> None:
    of = every.standings
    frame.section(
        "Pairs",
        f"{ranking.measures()[of.key.metric].title}, column minus row, in points; a cell chooses row as A, column as B",
    )
    names = [
        f"{ranking.letter_of(loaded, place)} {plain(model.name)}".strip()
        for model, place in zip(of.models, every.places, strict=True)
    ]
    size = range(len(names))
    # Columns are places: two models may have one name.
    texts = pd.DataFrame({column: [difference_text(of.pair(row, column)) for row in size] for column in size})
    for row in size:
        texts.iloc[row, row] = ""
    shades = texts.map(lambda _: "")
    for row in size:
        for column in size:
            pair = of.pair(row, column)
            if pair.clear and pair.difference is not None:
                shades.iloc[row, column] = _shade(pair.difference > 0.0)
    table = pd.concat([pd.DataFrame({"": names}), texts], axis=1)
    styles = pd.concat([pd.DataFrame({"": [""] * len(names)}), shades], axis=1)

    def picked() -> None:
        for row, column in chosen_cells(_PAIRS):
            state.rank_pair = (row, int(column)) if str(column).isdecimal() and row != int(column) else None

    table.columns, styles.columns = (list(map(str, frame_.columns)) for frame_ in (table, styles))
    widgets.table(
        table.style.apply(lambda _: styles, axis=None),
        on_select=picked,
        key=_PAIRS,
        columns={
            "": min(max(130, 18 + 7 * max(map(len, names), default=0)), _NAMES_WIDTH),
            **{
                str(column): st.column_config.TextColumn(frame.shorten(names[column], _HEAD), width=86)
                for column in size
            },
        },
        alt="Differences of all pairs of models",
    )
    if not of.few_documents:
        st.caption("★ clear, with simultaneous intervals. Blue: the column is better; orange: it is worse.")
    _chosen_pair(loaded, every, names)


def _shade(better: bool) -> str:
    light, dark = ("#CFE0F3", "#1F3B5C") if better else ("#FBDCC6", "#4A2E17")
    return f"background-color: {dark if frame.is_dark() else light}"


def _chosen_pair(loaded: LoadedBoxes, every: RankedModels, names: Sequence[str]) -> None:
    chosen = state.rank_pair
    if chosen is None or max(chosen) >= len(names):
        return
    row, column = chosen
    pair = every.standings.pair(row, column)
    interval = ""
    if pair.low is not None and pair.high is not None:
        interval = f", simultaneous interval {points(pair.low)} to {points(pair.high)}"
    title = ranking.measures()[every.standings.key.metric].title
    sentence = f"{names[column]} against {names[row]}: {title} {difference_text(pair)}{interval}"
    places = every.places[row], every.places[column]
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.html(f'<span class="ls-pair">{html.escape(sentence)}</span>', width="content")
        if places[0] is None or places[1] is None:
            st.caption("An earlier result has no boxes to compare.", width="content")
        else:
            words, both = "Open in Compare", (loaded, places[0], places[1])
            widgets.button_to_view(
                COMPARE_VIEW, words, ranking.choose_pair, *both, key="pair_open", icon=":material/compare:"
            )


def _runs(loaded: LoadedBoxes, every: RankedModels) -> None:
    of = every.standings
    title = ranking.measures()[of.key.metric].title
    by, places = order_of_runs(of.models)
    over = "over runs" if by == "run" else "over run dates"
    frame.section(f"{capitalised(title)} {over}", "runs with the same model name are joined")
    placed = []
    for row, (model, place) in enumerate(zip(of.models, places, strict=True)):
        value = defined(of.values[row])
        if place is not None and value is not None:
            ends = defined(of.low[row]), defined(of.high[row])
            letter = ranking.letter_of(loaded, every.places[row])
            placed.append(Placed(plain(model.name), plain(model.family), letter, plain(place), value, *ends))
    if not placed:
        st.caption(
            "Two runs with different dates, or two run_ids of one model, make a line: "
            "info.created_at and info.run_id of a snapshot file."
        )
        return
    chart = over_runs(placed, dated=by == "date", title=title, dark=frame.is_dark())
    widgets.chart(st, chart, alt=f"{title} {over}")
    whiskers = "" if of.few_documents else "Whiskers: 95 % interval of one model. "
    st.caption(f"{whiskers}{'Date from info.created_at.' if by == 'date' else 'In the order of info.run_id.'}")


def _numbers(loaded: LoadedBoxes, every: RankedModels, answer: DeltaGenerator, place: DeltaGenerator) -> None:
    first, second = every.standings.sentence
    answer.html(f'<p class="ls-answer"><b>{html.escape(plain(first))}</b> {html.escape(plain(second))}</p>')
    own = [
        _title(ranking.measures()[one.key.metric])
        for one in (every.standings, *every.others)
        if ranking.is_of_protocol(one.key.metric)
    ]
    with place.container():
        if own:
            at = "of all predictions at the protocol's own IoU thresholds, whatever is set above."
            st.caption(f"{', '.join(own)}: {at}")
        _table(loaded, every)


def view() -> None:
    """Draw the whole view."""
    read_url("models")
    loaded = frame.open_boxes("All models")
    if loaded is None:
        return
    if state.label not in loaded.dataset.labels[: loaded.dataset.evaluated]:
        state.label = ""
    with frame.title("All models"):
        _filter(loaded)
    frame.banners(loaded, loaded.models)
    signature = frame.signature(loaded, loaded.models, *frame.interval_words(loaded))
    headline.thresholds(loaded, loaded.pair, signature)
    answer = st.container(key="models_answer")
    if state.earlier_rejected:
        frame.issues(state.earlier_rejected)
    _choices()
    sentence, table = answer.empty(), st.container(key="models_table").empty()
    if not ranking.is_ready(loaded):
        # The numbers are there at once; boxes to correct and intervals take seconds on many pages.
        _numbers(loaded, ranking.rank_models(loaded, resampled=False), sentence, table)
    every = ranking.rank_models(loaded)
    _numbers(loaded, every, sentence, table)
    if len(every.standings.models) > 1:
        with st.container(key="models_row"):
            left, right = st.columns([1.25, 1], gap="medium")
        with left:
            _pairs(loaded, every)
        with right:
            _runs(loaded, every)
    write_url("models")


view()
