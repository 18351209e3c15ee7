"""Posters: what two models extracted from posters, against four criteria, down to the missing word on the page."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from evaluator.charts import posters as charts
from evaluator.data.boxes import BoolArray, FloatArray
from evaluator.data.issues import count_of, displayed, issue_count
from evaluator.metrics import results
from evaluator.protocols.posters.difference import PosterColumns, paired
from evaluator.protocols.posters.evaluation import CRITERIA, FIELDS_FROM, FIELDS_TO, PASS_FROM
from evaluator.protocols.posters.ledger import poster_ledger
from evaluator.protocols.posters.profiles import EXPLANATIONS, PROFILES, PURPOSES, WORD_RULES
from pages.app import frame, session_files, widgets
from pages.app.address import read_url, write_url
from pages.app.session_files import POSTERS
from pages.app.state import State, state
from pages.views.compare import pair_differences
from pages.views.posters import panel, poster_results
from pages.views.posters.poster_results import PosterModel

_TABLE, _CHART = "poster_table", "poster_criteria"
_ROWS_SHOWN = 14
_BOUNDS = dict.fromkeys(CRITERIA, (PASS_FROM, np.inf)) | {"field_proportion": (FIELDS_FROM, FIELDS_TO)}


# --- choices -------------------------------------------------------------------------------------------------


def _controls(chosen: tuple[PosterModel, ...], shown: PosterModel) -> None:
    with st.container(border=True, key="poster_controls", horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.switch("Profile", {name: name.capitalize() for name in PROFILES}, State.poster_profile)
        if state.poster_profile == "documented":
            widgets.switch("Words without blanks", WORD_RULES, State.poster_words)
        with st.popover("What it changes", icon=":material/help:"):
            _explanation()
        names = {model.letter: f"{model.letter} {model.name}" for model in chosen}
        if len(chosen) == 2:
            names["B-A"] = "B − A"
        state.poster_of = state.poster_of if state.poster_of in names else "A"
        escaped = {key: frame.escaped(words) for key, words in names.items()}
        widgets.switch("Numbers of", escaped, State.poster_of)
        st.html(f'<span class="ls-purpose">{html.escape(PURPOSES[state.poster_profile])}</span>')
        st.download_button(
            "results.json",
            data=poster_results.evaluate(shown).results_json,
            file_name="results.json",
            mime="application/json",
            icon=":material/download:",
            help=f"Every poster of model {shown.letter} with its metrics, verdict and source, and the means.",
            on_click="ignore",
        )


def _explanation() -> None:
    rows = "".join(
        f"<tr><th scope=row>{html.escape(subject)}</th><td>{html.escape(documented)}</td>"
        f"<td>{html.escape(published)}</td></tr>"
        for subject, documented, published in EXPLANATIONS
    )
    st.html(
        '<table class="ls-profiles"><thead><tr><th></th><th scope=col>Documented</th><th scope=col>Published</th></tr>'
        f"</thead><tbody>{rows}</tbody></table><p class='ls-counts'>{html.escape(PURPOSES['documented'])} "
        f"{html.escape(PURPOSES['published'])}</p>"
    )


# --- all posters ---------------------------------------------------------------------------------------------


def _cards(chosen: tuple[PosterModel, ...]) -> None:
    for model, column in zip(chosen, st.columns(len(chosen), gap="small"), strict=True):
        result = poster_results.evaluate(model)
        means = "".join(
            f"<div><dt>{panel.TITLES[name]}</dt><dd>{frame.number(result.means[name])}</dd></div>" for name in CRITERIA
        )
        compared = sum(not error for error in result.columns.errors)
        means_of = f"means of {count_of(compared, 'poster')}"
        column.html(
            f'<section class="ls-card{frame.theme_class()}" aria-label="Model {model.letter}"><header>'
            f"{frame.letter_badge(model.letter)}<b>{html.escape(displayed(model.name))}</b>"
            f"<span>{html.escape(means_of)}</span></header>"
            f'<div class="ls-pass"><b>{result.passed:,} of {len(result.columns.ids):,}</b> pass</div>'
            f'<dl class="ls-criteria">{means}</dl></section>'
        )


def _table(chosen: tuple[PosterModel, ...], ordered: tuple[str, ...]) -> None:
    of = state.poster_of
    table, failing = _differences(chosen, ordered) if of == "B-A" else _values(chosen, ordered, of)
    rule = "B minus A, most lost first" if of == "B-A" else f"model {of}, worst first, ✕ fails"
    frame.section("All posters", f"{len(ordered):,} · {rule} · a row opens its poster")
    key = f"{_TABLE}_{of}"
    event = widgets.table(
        _styled(table, failing, signed=of == "B-A"),
        height=widgets.HEADER_HEIGHT + widgets.ROW_HEIGHT * min(len(table), _ROWS_SHOWN) + 2,
        on_select="rerun",
        key=key,
        placeholder="–",
        columns={
            "Poster": 98,
            "Result": 84,
            "Source": 96,
            **{_heading(name): st.column_config.NumberColumn(width=_WIDTHS[name]) for name in CRITERIA},
        },
        alt="All posters",
    )
    cells = event["selection"]["cells"]
    # A chosen cell stays chosen while the reader goes on by other ways.
    marked = State.poster_marked.of(key)
    if cells and cells != marked.get() and cells[0][0] < len(ordered):
        poster_results.open_poster(ordered[cells[0][0]])
    marked.set(cells)


_WIDTHS = dict(zip(CRITERIA, (60, 66, 68, 62), strict=True))


def _heading(name: str) -> str:
    return panel.TITLES[name]


def _values(chosen: tuple[PosterModel, ...], ordered: tuple[str, ...], letter: str) -> tuple[pd.DataFrame, BoolArray]:
    columns = poster_results.evaluate(next(model for model in chosen if model.letter == letter)).columns
    rows = [columns.of(poster_id) for poster_id in ordered]
    missing = np.full(len(CRITERIA), np.nan)
    values = np.array([missing if row is None else columns.values[row] for row in rows])
    failing = np.array([[row is not None and name in columns.failed[row] for name in CRITERIA] for row in rows])
    table = _frame_of(ordered, [_short_verdict(columns, row) for row in rows], values)
    if any(columns.sources):
        table["Source"] = ["" if row is None else displayed(columns.sources[row]) for row in rows]
    return table, failing


def _differences(chosen: tuple[PosterModel, ...], ordered: tuple[str, ...]) -> tuple[pd.DataFrame, BoolArray]:
    pairs = paired(*(poster_results.evaluate(model).columns for model in chosen))
    place = {poster_id: row for row, poster_id in enumerate(pairs.ids)}
    rows = [place[poster_id] for poster_id in ordered]
    difference = pairs.difference[rows]
    losing = difference < 0
    # More fields are neither better nor worse.
    losing[:, CRITERIA.index("field_proportion")] = False
    return _frame_of(ordered, [pairs.verdicts[row] for row in rows], difference), losing


def _short_verdict(columns: PosterColumns, row: int | None) -> str:
    if row is None or columns.errors[row]:
        return "✕ error"
    failed = len(columns.failed[row])
    return f"{failed} of {len(CRITERIA)} failed" if failed else "✓ pass"


def _frame_of(ordered: tuple[str, ...], results: list[str], values: FloatArray) -> pd.DataFrame:
    table = pd.DataFrame({"Poster": [displayed(poster_id) for poster_id in ordered], "Result": results})
    return table.assign(**{_heading(name): values[:, place] for place, name in enumerate(CRITERIA)})


def _styled(table: pd.DataFrame, failing: BoolArray, *, signed: bool) -> object:
    style = f"color: {'#FF9A4D' if frame.is_dark() else '#A84300'}; font-weight: 650"
    marks = pd.DataFrame("", index=table.index, columns=table.columns)
    for place, name in enumerate(CRITERIA):
        marks.loc[failing[:, place], _heading(name)] = style
    formats = {_heading(name): _writer(_BOUNDS[name], signed=signed) for name in CRITERIA}
    return table.style.apply(lambda _: marks, axis=None).format(formats, na_rep="–")  # type: ignore[arg-type]


def _writer(bounds: tuple[float, float], *, signed: bool) -> Callable[[Any], str]:
    def write(value: Any) -> str:  # noqa: ANN401 - a cell
        if signed:
            return results.signed(value, 3)
        return f"{value:.3f}" if bounds[0] <= value <= bounds[1] else f"✕ {value:.3f}"

    return write


def _criteria(chosen: tuple[PosterModel, ...], poster_id: str) -> None:
    shapes = "A circles, B diamonds; " if len(chosen) == 2 else ""
    frame.section("Criteria", f"{shapes}the lines are the thresholds; a dot opens its poster")
    columns = {model.letter: poster_results.evaluate(model).columns for model in chosen}
    event = widgets.chart(
        st,
        charts.criteria(
            {letter: list(each.values.T) for letter, each in columns.items()},
            [panel.TITLES[name] for name in CRITERIA],
            [_BOUNDS[name] for name in CRITERIA],
            names={letter: each.ids for letter, each in columns.items()},
            chosen=poster_id,
            baseline="A",
            dark=frame.is_dark(),
        ),
        on_select="rerun",
        selection_mode="poster",
        key=_CHART,
        alt="Four criteria of every poster against their thresholds",
    )
    points = event["selection"]["poster"]
    named = points[0]["poster"] if points else None
    marked = State.poster_marked.of(_CHART)
    if named is not None and named != marked.get():
        poster_results.open_poster(str(named))
    marked.set(named)


# --- the view ------------------------------------------------------------------------------------------------


def _nothing_to_evaluate() -> None:
    held = session_files.files(POSTERS)
    truth = held.ground_truth
    if truth is None and not held.models:
        text = "No posters are open."
    elif truth is None:
        text = "No reference of the posters is open, so nothing can be compared."
    elif truth.source is None:
        text = "The reference of the posters has errors, so nothing can be compared."
    elif not held.models:
        text = "No extraction is open, so there is nothing to compare with the reference."
    else:
        text = "No extraction can be read, so there is nothing to compare with the reference."
    st.html(
        f'<div class="ls-empty"><p>{html.escape(text)} Start LayoutScope with layoutscope open FOLDER, where the '
        "folder holds one JSON file per poster for each side, or look at the bundled posters.</p></div>"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Open the sample posters",
            icon=":material/folder_open:",
            on_click=session_files.open_sample,
            args=(POSTERS,),
        )
        st.page_link(frame.FILES_VIEW, label="Open Files", icon=":material/description:")
    issues = session_files.issues(POSTERS)
    if issues:
        frame.section("Issues", f"{issue_count(issues):,} in these files")
        frame.issues(issues)


def _file_issues(chosen: tuple[PosterModel, ...]) -> None:
    of_pairs = [issue for model in chosen for issue in poster_results.evaluate(model).issues]
    issues = dict.fromkeys([*session_files.issues(POSTERS), *of_pairs])
    if issues:
        frame.section("Issues", f"{issue_count(issues):,} in the files of the posters")
        frame.issues(list(issues))


def view() -> None:
    """Draw the whole view."""
    read_url("posters")
    posters, chosen = session_files.load_files(POSTERS), poster_results.models()
    if posters is None:
        frame.title("Posters")
        _nothing_to_evaluate()
        write_url("posters")
        return
    ordered = poster_results.sorted_posters(chosen)
    # Another model, or the difference, has another order; the poster on screen stays.
    state.poster = poster_results.poster_shown(ordered)
    shown = chosen[-1] if state.poster_of in ("B", "B-A") else chosen[0]
    frame.at_right(posters, poster_results.evaluate(shown).signature)
    frame.title("Posters")
    frame.refused_parts()
    _controls(chosen, shown)
    with st.container(key="posters_row"):
        left, right = st.columns([1.08, 1.16], gap="small")
    with left:
        with st.container(key="poster_cards"):
            _cards(chosen)
        _table(chosen, ordered)
        _criteria(chosen, poster_results.poster_shown(ordered))
    poster_id = poster_results.poster_shown(ordered)
    with right:
        panel.show(chosen, shown, ordered, poster_id)
    every = [poster_results.evaluate(model) for model in chosen]
    pair_differences.part(
        chosen,
        [*posters.digests, *(f"{model.index} {each.signature}" for model, each in zip(chosen, every, strict=True))],
        lambda: [each.measures for each in every],
        ledgers=lambda: [poster_ledger(*(each.columns for each in every))],
        open_item=lambda item: poster_results.open_poster(item.document),
    )
    _file_issues(chosen)
    write_url("posters", {State.poster: poster_id if poster_id != ordered[0] else None})


view()
