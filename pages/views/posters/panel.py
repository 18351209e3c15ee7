"""One poster of the view Posters: its four numbers, its page with boxed words, text, sections, fields."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
import streamlit as st

from evaluator.charts import posters as charts
from evaluator.components.payload import ModelItem, ViewedPageItem, with_notes
from evaluator.components.viewer.payload import PageEvents, with_layers, without_page
from evaluator.components.viewer.poster_page import poster_data
from evaluator.data.issues import count_of, cut, displayed, plain
from evaluator.protocols.posters.comparison import PosterComparison
from evaluator.protocols.posters.difference import Passage, PosterColumns, field_tree, passages, section_name
from evaluator.protocols.posters.evaluation import CRITERIA
from evaluator.protocols.posters.profiles import PROFILES
from pages.app import frame, widgets
from pages.app.components import viewer, with_documents
from pages.app.state import Field, State, report, state
from pages.views.findings import findings
from pages.views.posters import poster_results, poster_verdicts
from pages.views.posters.poster_results import PosterModel

TITLES: Final = dict(zip(CRITERIA, ("Words", "ROUGE-L", "Numbers", "Fields"), strict=True))
LIMITS: Final = dict(zip(CRITERIA, ("≥ 0.75", "≥ 0.75", "≥ 0.75", "0.50–2.00"), strict=True))
_KEY = "poster_viewer"
_PARTS = {"page": "Page", "text": "Text", "sections": "Sections", "fields": "Fields"}
_SIDES = {"reference": "Reference, missing marked", "generated": "Extraction, extra marked"}
_TREES = {"differences": "Differences", "all": "All fields"}
_STATES = {"both": "as often", "missing": "✕ missing", "fewer": "fewer", "extra": "+ extra", "more": "more"}
_WORDS_LISTED = 400


def show(chosen: tuple[PosterModel, ...], shown: PosterModel, ordered: tuple[str, ...], poster_id: str) -> None:
    """Draw everything behind the four numbers of one poster."""
    comparison = poster_results.comparison(shown, poster_id)
    left, right = st.columns([1, 1.15], gap="small", vertical_alignment="center")
    name = html.escape(displayed(poster_id))
    left.html(f'<h2 class="ls-section ls-poster" title="{name}">{name}</h2>')
    with right.container(horizontal=True, horizontal_alignment="right"):
        part = _switch("Show", State.poster_part, _PARTS)
    with st.container(key="poster_numbers"):
        _numbers(chosen, shown, poster_id)
    if comparison is None:
        _not_compared(shown, poster_id)
    if comparison is None or part == "page":
        _page(chosen, shown, ordered, poster_id)
    elif part == "text":
        _text(comparison)
    elif part == "sections":
        _sections(comparison)
    else:
        _fields(comparison)


def verdict(columns: PosterColumns, row: int | None) -> str:
    """Return pass or fail in words, with what failed."""
    if row is None or columns.errors[row]:
        return "✕ not compared"
    failed = columns.failed[row]
    return "✕ " + ", ".join(TITLES[name] for name in failed) if failed else "✓ pass"


def _switch(name: str, field: Field[str], titles: dict[str, str]) -> str:
    field.set(field.get() if field.get() in titles else next(iter(titles)))
    chosen = widgets.switch(name, titles, field, label_visibility="collapsed")
    return str(chosen)


def _numbers(chosen: tuple[PosterModel, ...], shown: PosterModel, poster_id: str) -> None:
    head = "".join(f"<th scope=col>{TITLES[name]} <small>{LIMITS[name]}</small></th>" for name in CRITERIA)
    body = "".join(_model_row(model, poster_id) for model in chosen)
    other = next(name for name in PROFILES if name != state.poster_profile)
    comparison = poster_results.comparison(shown, poster_id, under=other)
    note = ""
    if comparison is not None:
        values = ", ".join(f"{TITLES[name]} {frame.number(comparison.metrics[name])}" for name in CRITERIA)
        note = f"{shown.letter} under {other}: {values}"
    st.html(
        f'<table class="ls-four{frame.theme_class()}"><thead><tr><th></th>{head}<th></th></tr></thead>'
        f'<tbody>{body}</tbody></table><div class="ls-counts">{note}</div>'
    )


def _model_row(model: PosterModel, poster_id: str) -> str:
    columns = poster_results.evaluate(model).columns
    row = columns.of(poster_id)
    cells = ""
    for place, name in enumerate(CRITERIA):
        value = columns.values[row, place] if row is not None else np.nan
        fails = row is not None and name in columns.failed[row]
        text = frame.number(None if np.isnan(value) else float(value))
        cells += f'<td class="{"ls-fails" if fails else ""}">{"✕ " if fails else ""}{text}</td>'
    word = {"✓": "✓ passes", "✕": "✕ fails"}[verdict(columns, row)[0]]
    if row is None or columns.errors[row]:
        word = "✕ not compared"
    tag = "ls-tp" if word.startswith("✓") else "ls-fp"
    letter = frame.letter_badge(model.letter)
    return f'<tr><th scope=row>{letter}</th>{cells}<td><span class="ls-tag {tag}">{word}</span></td></tr>'


def _not_compared(shown: PosterModel, poster_id: str) -> None:
    columns = poster_results.evaluate(shown).columns
    row = columns.of(poster_id)
    why = columns.errors[row] if row is not None else f"{shown.name} has no such poster."
    st.warning(frame.escaped(why), icon=":material/error:")
    broken = [issue for side in (shown.reference, shown.posters) for issue in side.broken.get(poster_id, ())]
    if broken:
        frame.issues(broken)


def _events() -> PageEvents:
    return with_documents(viewer.events(report(_KEY)), poster_results.poster_ids)


def _page(chosen: tuple[PosterModel, ...], shown: PosterModel, ordered: tuple[str, ...], poster_id: str) -> None:
    picture = poster_results.picture(poster_id)
    boxed = poster_results.words(shown, poster_id)
    models = [ModelItem(model.letter, displayed(model.name)) for model in chosen]
    payload = msgspec.structs.replace(
        without_page(ModelItem(shown.letter, displayed(shown.name)), models, None),
        statuses=("FP", "FN"),
        head="nothing to compare",
        selected=state.poster_box,
    )
    if boxed is not None:
        payload = poster_verdicts.on_page(shown, poster_id, boxed, with_layers(payload, poster_data(boxed)))
    if boxed is not None and not boxed.page_words:
        path = poster_results.page_path(poster_id)
        why = "an image" if path is not None and poster_results.is_image(path) else "a page"
        payload = msgspec.structs.replace(payload, head="no text layer")
        picture = with_notes(picture, [f"This is {why} without a text layer: missing words cannot be boxed."])
    page = ViewedPageItem(
        **msgspec.structs.asdict(picture),
        document=cut(poster_id),
        name=displayed(poster_id),
        index=0,
        count=None,
        position=ordered.index(poster_id) + 1,
        total=len(ordered),
    )
    viewer(
        msgspec.structs.replace(payload, page=page),
        key=_KEY,
        on_go=lambda: _turn_page(ordered),
        on_selected=_select_box,
        on_sharper=lambda: _sharper((picture.width, picture.height)),
        on_model=lambda: _switch_model([model.letter for model in chosen]),
        on_verdict=lambda: _save_verdict(shown),
    )
    if boxed is not None and boxed.page_words and boxed.absent:
        words = ", ".join(plain(word) for word in boxed.absent[:_WORDS_LISTED])
        st.html(
            f'<p class="ls-counts">{count_of(len(boxed.absent), "missing word")} not in the text layer of the page: '
            f"{html.escape(words)}</p>"
        )


def _turn_page(ordered: tuple[str, ...]) -> None:
    go = _events().go
    if go is None or go.document not in ordered:
        return
    position = ordered.index(go.document) + go.step
    if 0 <= position < len(ordered):
        poster_results.open_poster(ordered[position])


def _select_box() -> None:
    selected = _events().selected
    if selected is not None and selected.document == state.poster:
        state.poster_box = selected.key


def _save_verdict(shown: PosterModel) -> None:
    for event in findings.newly_said(_events().verdict):
        poster_verdicts.handle(shown, event)


def _sharper(size: tuple[float, float]) -> None:
    wanted = _events().sharper
    if wanted is not None:
        poster_results.ask_sharper(wanted, size)


def _switch_model(letters: list[str]) -> None:
    letter = _events().model
    if letter in letters:
        state.poster_of = letter


def _text(comparison: PosterComparison) -> None:
    side = _switch("Text of", State.poster_text, _SIDES)
    lines = passages(comparison, "generated" if side == "generated" else "reference")
    kind = "extra" if side == "generated" else "missing"
    texts("Text of the poster", ["".join(passage(line, kind) for line in lines) or "<p>This side has no text.</p>"])
    lists = [
        ("Missing words", comparison.words.missing),
        ("Missing numbers", comparison.numbers.missing),
        ("Extra words", comparison.words.extra),
        ("Extra numbers", comparison.numbers.extra),
        ("Numbers that do not count", comparison.numbers.left_out),
    ]
    body = "".join(_words(title, words) for title, words in lists)
    st.html(f'<div class="ls-lists{frame.theme_class()}">{body}</div>')


def texts(name: str, bodies: Sequence[str]) -> None:
    """Draw texts, as HTML, beside each other in one frame that scrolls by keys too."""
    sides = "".join(f"<div>{body}</div>" for body in bodies)
    look = f"ls-text ls-texts{frame.theme_class()}"
    st.html(f'<div class="{look}" tabindex="0" role="region" aria-label="{name}">{sides}</div>')


def passage(line: Passage, kind: str) -> str:
    """Return one string of the JSON with its marks, as HTML."""
    body = ""
    for text, mark in line.pieces:
        written = "<br>".join(html.escape(plain(part)) for part in text.split("\n"))
        title = f"{kind} {mark}"
        body += f'<mark class="ls-{kind} ls-{mark}" title="{title}">{written}</mark>' if mark else written
    return f"<p><small>{html.escape(plain(line.place.removeprefix('$.')))}</small>{body}</p>"


def _words(title: str, words: tuple[str, ...]) -> str:
    shown = " ".join(f"<span>{html.escape(plain(word))}</span>" for word in words[:_WORDS_LISTED])
    more = f" and {len(words) - _WORDS_LISTED:,} more" if len(words) > _WORDS_LISTED else ""
    return f"<section><h3>{title} <b>{len(words):,}</b></h3><div>{shown}{more}</div></section>"


def _sections(comparison: PosterComparison) -> None:
    sections = comparison.sections
    whole, parts = frame.number(comparison.global_f1), frame.number(sections.mean)
    won = "The whole text scores higher" if comparison.rouge_winner == "global" else "The sections score higher"
    st.html(
        f'<div class="ls-cell{frame.theme_class()}"><b>{won}: ROUGE-L {frame.number(comparison.metrics["rouge_l"])}</b>'
        f"<span>whole text {whole}, mean of the best sections {parts}; the larger counts</span></div>"
    )
    if not sections.f1.size:
        missing = "reference" if not sections.reference else "extraction"
        st.caption(f"The {missing} has no sections, so the whole texts are compared alone.")
        return
    reference = [section_name(section) for section in sections.reference]
    generated = [section_name(section) for section in sections.generated]
    facts = f"rows: {len(reference)} of the reference, columns: {len(generated)} of the extraction; framed: best"
    frame.section("Sections", facts)
    with st.container(key="poster_matrix"):
        widgets.chart(
            st,
            charts.section_matrix(reference, generated, sections.f1, sections.best, dark=frame.is_dark()),
            width="content",
            alt="ROUGE-L of every pair of sections",
        )
    if max(len(reference), len(generated)) > charts.DRAWN_SECTIONS:
        st.caption(f"The first {charts.DRAWN_SECTIONS} of each side are drawn; the table has all of the reference.")
    best = sections.best.tolist()
    widgets.table(
        {
            "Reference": [f"{row + 1} {displayed(name)}" for row, name in enumerate(reference)],
            "Best in the extraction": [f"{at + 1} {displayed(generated[at])}" if at >= 0 else "none" for at in best],
            "ROUGE-L": sections.best_f1,
        },
        columns={"ROUGE-L": widgets.ratio_column(80)},
        alt="Best section for each section of the reference",
    )


def _fields(comparison: PosterComparison) -> None:
    reference, generated = (sum(getattr(field, side) for field in comparison.fields) for side in _SIDES)
    value = frame.number(comparison.metrics["field_proportion"])
    only = (
        f"{count_of(len(comparison.only_in_reference), 'field')} only in the reference, "
        f"{count_of(len(comparison.only_in_generated), 'field')} only in the extraction"
    )
    st.html(
        f'<div class="ls-cell{frame.theme_class()}"><b>{generated:,} fields against {reference:,}: {value}</b>'
        f"<span>{only}; passes from 0.50 to 2.00</span></div>"
    )
    shown = _switch("Fields", State.poster_tree, _TREES)
    tree = [node for node in field_tree(comparison.fields) if shown == "all" or node.state != "both"]
    if not tree:
        st.caption("Every field occurs as often in the extraction as in the reference.")
        return
    indent = "\u2003" if shown == "all" else ""
    widgets.table(
        {
            "Field": [indent * node.depth + displayed(node.name if shown == "all" else node.path[2:]) for node in tree],
            "Reference": [node.reference for node in tree],
            "Extraction": [node.generated for node in tree],
            "Difference": [_STATES[node.state] for node in tree],
        },
        height=widgets.HEADER_HEIGHT + widgets.ROW_HEIGHT * min(len(tree), 18),
        columns={
            "Field": 290,
            "Reference": widgets.count_column(80),
            "Extraction": widgets.count_column(80),
            "Difference": 100,
        },
        alt="Fields of the reference and of the extraction",
    )
