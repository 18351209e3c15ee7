"""The doctor on screen: its diagnosis of each prediction, applied and undone; what is in the files."""

from __future__ import annotations

import html
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evaluator import formats
from evaluator.analysis.doctor import match_check
from evaluator.analysis.doctor.contents import Check, Contents, PageCount, Spread, contents, page_counts
from evaluator.analysis.doctor.diagnosis import Diagnosis
from evaluator.analysis.doctor.preview import Boxes, Preview, preview
from evaluator.data import taxonomies
from evaluator.data.boxes import FloatArray
from evaluator.data.dataset import Annotations
from evaluator.data.fixes import Fix, fix_description, parse_fix
from evaluator.data.issues import BadInput, count_of, cut, displayed, plain, whole
from evaluator.metrics.results import capitalised, distinct_names, ratio_text
from evaluator.project import Member
from pages.app import frame, protocol, session_files, widgets
from pages.app.cache import Cached
from pages.app.session_files import BOXES
from pages.app.state import chosen_cells, form_value, open_page, state

_SHOWN = 6
_PAPER = 168
_BROWSER_VIEW = "pages/page_browser.py"
_CHECKS: dict[str, Check] = {
    "Duplicate boxes": "duplicates",
    "Pages without boxes": "pages_without_boxes",
    "Boxes that leave the page": "outside",
    "Boxes without width or height": "flat",
}
_FEW = "Labels with fewer than 20 boxes"
_PAGES_LISTED = 200
# In pixels; beside it are the columns of three files, where the window is 1024 pixels wide.
_WIDEST_LABEL = 560
_DIAGNOSES: Final = Cached[Diagnosis | None](64, spinner="Looking at files that do not match")
_RESOLVED: Final = Cached[Annotations](32)
_CONTENTS: Final = Cached[Contents](64)


class Diagnosed(NamedTuple):
    """A prediction of this session and its diagnosis; the sides as they were read."""

    name: str
    diagnosis: Diagnosis
    truth: Annotations
    prediction: Annotations


# --- what is found -------------------------------------------------------------------------------------------


def diagnoses() -> list[Diagnosed]:
    """Return the diagnosis of each prediction without a fix; those with nothing to say are left out."""
    held = session_files.files(BOXES)
    truth = held.truth
    if truth is None or truth.boxes.lacks_boxes:
        return []
    cases = []
    for model in held.models:
        if protocol.fixes(model.name) or model.name in state.dismissed:
            continue
        prediction = _as_written(model)
        if prediction is None or prediction.boxes.lacks_boxes:
            continue
        key = (protocol.key(), BOXES.digest(truth), BOXES.digest(prediction))
        diagnosis = _DIAGNOSES.of(key, partial(_made, truth, prediction))
        if diagnosis is not None and (diagnosis.labels or not diagnosis.silent):
            cases.append(Diagnosed(model.name, diagnosis, truth, prediction))
    return cases


def _as_written(model: Member[Annotations]) -> Annotations | None:
    if model.source is not None:
        return model.source
    return session_files.read(BOXES, model.origin, model.name, model.side, as_written=True).source


def _made(truth: Annotations, prediction: Annotations) -> Diagnosis | None:
    of = protocol.chosen()
    try:
        return match_check.diagnosis_of(truth, prediction, of, protocol.options())
    except BadInput:
        return None


def apply(name: str, fixes: tuple[Fix, ...]) -> None:
    """Fix a prediction from now on."""
    state.fixes = (
        *(text for text in state.fixes if parse_fix(text).file != name),
        *(f"{name}:{fix.text}" for fix in fixes),
    )


def undo(name: str) -> None:
    """Compare a prediction as its file has it again."""
    state.fixes = tuple(text for text in state.fixes if parse_fix(text).file not in (name, ""))


def dismiss(name: str) -> None:
    """Hide the diagnosis of a prediction from now on."""
    state.dismissed = (*state.dismissed, name)


def applied() -> dict[str, list[Fix]]:
    """Return the fixes of this session by file; an empty name for those of all predictions."""
    by_file: dict[str, list[Fix]] = {}
    for text in state.fixes:
        fix = parse_fix(text)
        by_file.setdefault(fix.file, []).append(fix)
    return by_file


# --- on screen -----------------------------------------------------------------------------------------------


def banner(place: DeltaGenerator | None = None) -> None:
    """Draw each diagnosis in one line, with the way to apply or undo it; in a `place` above what waits for none."""
    cases = diagnoses()
    with place or st.container():
        undo_lines()
        for number, case in enumerate(cases):
            _line(number, case)


def _line(place: int, case: Diagnosed) -> None:
    diagnosis = case.diagnosis
    if diagnosis.best is None and not diagnosis.serious and not diagnosis.pages:
        return
    with st.container(key=f"diagnosis_banner_{place}", horizontal=True, vertical_alignment="center"):
        st.warning(
            f"{frame.escaped(case.name)}: {frame.escaped(diagnosis.sentence)}",
            icon=":material/healing:",
        )
        if diagnosis.best is not None:
            st.button("Apply", key=f"apply_{place}", on_click=apply, args=(case.name, diagnosis.best.fixes))
        st.button("Dismiss", key=f"dismiss_{place}", on_click=dismiss, args=(case.name,))


def undo_lines() -> None:
    """Draw one line for each file with fixes: what they are, and the way back."""
    for place, (name, fixes) in enumerate(applied().items()):
        words = ", ".join(fix_description(fix) for fix in fixes)
        whose = "all files" if all(fix.of_all_files for fix in fixes) else "all predictions"
        with st.container(key=f"fixed_{place}", horizontal=True, vertical_alignment="center"):
            st.caption(
                f"In {frame.escaped(name or whose)}: {frame.escaped(words)}.",
                width="content",
            )
            st.button("Undo", key=f"undo_{place}", on_click=undo, args=(name,), type="tertiary")


def cards() -> None:
    """Draw the diagnoses in full, with a page before and after; a line where no fix helps."""
    undo_lines()
    for place, case in enumerate(diagnoses()):
        if case.diagnosis.best is None:
            _line(place, case)
            continue
        with st.container(border=True, key=f"diagnosis_{place}"):
            _card(place, case)


def _card(place: int, case: Diagnosed) -> None:
    diagnosis = case.diagnosis
    shown = _shown(case)
    left, right = st.columns([1.05, 1], gap="medium")
    with left:
        evidence = ""
        if diagnosis.best is not None and diagnosis.best.documents:
            evidence = f"So in {diagnosis.best.documents:,} of {count_of(diagnosis.documents, 'document')}."
        st.html(
            f'<div class="ls-diagnosis{frame.theme_class()}"><p><i class="ls-badge">Diagnosis</i> <b>'
            f"{html.escape(plain(case.name))}</b></p><h2>{html.escape(diagnosis.sentence)}</h2>"
            f"<p>{html.escape(evidence)}</p>{_bars(diagnosis)}</div>"
        )
        with st.container(horizontal=True):
            if diagnosis.best is not None:
                st.button(
                    f"Apply to {frame.escaped(case.name)}",
                    key=f"apply_{place}",
                    on_click=apply,
                    args=(case.name, diagnosis.best.fixes),
                    type="primary",
                )
            if shown is not None:
                _show_pages(place, case, shown)
            st.button("Dismiss", key=f"dismiss_{place}", on_click=dismiss, args=(case.name,))
    if shown is not None and diagnosis.best is not None:
        with right:
            option = ", ".join(fix.text for fix in diagnosis.best.fixes)
            st.html(
                f'<div class="ls-before-after{frame.theme_class()}">{_page("As given", shown, shown.given)}'
                f"{_page('Fixed', shown, shown.fixed)}</div><p class='ls-small'>{html.escape(plain(shown.document))} "
                f"p. {shown.page + 1}. The file stays as it is; the signature will state fix: "
                f"<code>{html.escape(plain(option))}</code></p>"
            )


def _shown(case: Diagnosed) -> Preview | None:
    best = case.diagnosis.best
    if best is None:
        return None
    units = any(fix.kind == "units" for fix in best.fixes)
    try:
        resolved = formats.resolve(case.prediction, case.truth, keep_unit=units)
    except BadInput:
        return None  # a results list with unknown ids has no pages as given
    return preview(case.truth, resolved, best.fixes)


def _show_pages(place: int, case: Diagnosed, shown: Preview) -> None:
    loaded = session_files.load_files(BOXES)
    names = [each.name for each in loaded.predictions] if loaded is not None else []
    if case.name in names:
        of = PageCount(shown.document, shown.page, 1)
        widgets.button_to_view(_BROWSER_VIEW, "Show pages", _show_page, plain(case.name), of, key=f"show_{place}")


def _bars(diagnosis: Diagnosis) -> str:
    rows = [
        ("As given" if not each.fixes else each.words, each.f1, each == diagnosis.best) for each in diagnosis.hypotheses
    ]
    if rows and not any(words == "As given" for words, _, _ in rows):
        rows.append(("As given", diagnosis.as_given, False))
    lines = []
    for words, f1, best in rows[: _SHOWN + 1]:
        width = 100.0 * (f1 or 0.0)
        strong = ' class="ls-best"' if best else ""
        text = capitalised(words)
        lines.append(
            f"<li{strong}><span>{html.escape(plain(frame.shorten(text, 60)))}</span>"
            f'<i><u style="width:{width:.1f}%"></u></i><b>{ratio_text(f1)}</b></li>'
        )
    return f"<ul>{''.join(lines)}</ul>"


def _page(title: str, shown: Preview, boxes: Boxes) -> str:
    width, height = shown.size
    tall = min(1.6, max(0.4, height / width))
    style = f"width:{_PAPER}px;height:{_PAPER * tall:.0f}px"
    inner = _rectangles(boxes.truth, "ls-truth")
    inner += _rectangles(boxes.prediction[~boxes.hits], "ls-found")
    inner += _rectangles(boxes.prediction[boxes.hits], "ls-hit")
    counted = f"{boxes.matched:,} of {len(boxes.truth):,} match"
    return f'<figure><div style="{style}">{inner}</div><figcaption>{title}: <b>{counted}</b></figcaption></figure>'


def _rectangles(xyxy: FloatArray, name: str) -> str:
    cut = np.clip(xyxy[:300], 0.0, 1.0)
    return "".join(
        f'<s class="{name}" style="left:{100 * x1:.2f}%;top:{100 * y1:.2f}%;width:{100 * (x2 - x1):.2f}%;'
        f'height:{100 * (y2 - y1):.2f}%"></s>'
        for x1, y1, x2, y2 in cut.tolist()
        if x2 > x1 and y2 > y1
    )


def _take_taxonomy(key: str) -> None:
    chosen = form_value(key)
    others = (text for text in state.fixes if not (parse_fix(text).of_all_files and not parse_fix(text).file))
    state.fixes = (*others, *([f"labels={chosen}"] if chosen else []))


def taxonomy() -> None:
    """Draw the choice of a taxonomy under whose names the labels of all files are read."""
    if not session_files.files(BOXES).members:
        return
    fixes = map(parse_fix, state.fixes)
    chosen = next((fix.value for fix in fixes if fix.of_all_files and not fix.file), "")
    names = ("", *taxonomies.NAMES)
    frame.section("Label names", "those of a known taxonomy, in all files")
    # Another widget for each choice: that of one key would keep what was undone elsewhere.
    key = f"taxonomy_{chosen}"
    st.selectbox(
        "Label names",
        names,
        names.index(chosen),
        lambda name: taxonomies.taxonomy(name).title if name else "As the files have them",
        label_visibility="collapsed",
        key=key,
        on_change=_take_taxonomy,
        args=(key,),
        width=280,
    )


def label_mapping() -> None:
    """Draw labels that only a prediction has, the proposed ones, and the way to map them."""
    for place, case in enumerate(diagnoses()):
        proposals = case.diagnosis.labels
        if not proposals:
            continue
        known = sorted(set(case.truth.labels))
        frame.section("Label mapping", f"{case.name}: {count_of(len(proposals), 'label')} unknown to the ground truth")
        edited: Any = st.data_editor(
            {
                "Map": [each.proposal is not None for each in proposals],
                "Model label": [displayed(each.label) for each in proposals],
                "Boxes": [each.boxes for each in proposals],
                "Ground-truth label": [each.proposal and cut(each.proposal) for each in proposals],
                "Overlap": [f"{each.overlapping:,} of {each.compared:,}" for each in proposals],
            },
            column_config={
                "Ground-truth label": st.column_config.SelectboxColumn(options=list(map(cut, known)), required=False)
            },
            disabled=["Model label", "Boxes", "Overlap"],
            hide_index=True,
            key=f"label_mapping_{place}",
        )
        chosen = tuple(
            Fix("label", f"{each.label}={whole(new, known)}")
            for each, use, new in zip(proposals, edited["Map"], edited["Ground-truth label"], strict=True)
            if use and new
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            others = tuple(
                fix
                for fix in (case.diagnosis.best.fixes if case.diagnosis.best else ())
                if fix.kind not in ("label", "labels")
                or (fix.kind == "label" and fix.value.rpartition("=")[0] in known)
            )
            st.button(
                f"Apply {len(chosen)}",
                key=f"apply_labels_{place}",
                on_click=apply,
                args=(case.name, (*others, *chosen)),
                disabled=not chosen,
            )
            if case.diagnosis.labels_f1 is not None:
                st.caption(
                    f"F1 {ratio_text(case.diagnosis.as_given)}, "
                    f"with all proposals: {ratio_text(case.diagnosis.labels_f1)}. "
                    "Overlap: IoU ≥ 0.50."
                )


def what_is_in_the_data() -> None:
    """Draw boxes per label and checks of every file, with the pages behind each count."""
    held = session_files.files(BOXES)
    sources = [(member.name, member.source) for member in held.members if member.source is not None]
    files = [(name, _named(source)) for name, source in sources if not source.boxes.lacks_boxes]
    if not files:
        return
    rows = [_contents_of(source) for _, source in files]
    frame.section("What is in the data", "boxes per label")
    labels = list(dict.fromkeys(label for row in rows for label in row.labels))
    labels.sort(key=lambda label: -rows[0].labels.get(label, 0))
    names = distinct_names([plain(name) for name, _ in files])
    table: dict[str, list[object]] = {"Label": [*(displayed(label) for label in labels), "All"]}
    for name, row in zip(names, rows, strict=True):
        table[name] = [*(row.labels.get(label, 0) for label in labels), row.boxes]
    widgets.table(
        table,
        columns={"Label": 140, **{name: widgets.count_column(90) for name in names}},
        rows=20,
        names="Label",
        widest=_WIDEST_LABEL,
        alt="Boxes per label",
    )
    listed: dict[str, list[object]] = {"Check": [*_CHECKS, _FEW]}
    for name, row in zip(names, rows, strict=True):
        listed[name] = [*(getattr(row, check) for check in _CHECKS.values()), len(row.few)]
    widgets.table(
        listed,
        columns={name: widgets.count_column(90) for name in names},
        alt="Checks of the files",
        on_select="rerun",
        key="checks_of_files",
    )
    cells = [(at, names.index(column)) for at, column in chosen_cells("checks_of_files") if column in names]
    for at, place in cells[:1]:
        _behind(listed["Check"][at], names[place], files[place][1], rows[place])
    if not cells:
        st.caption("Choose a count to see the pages behind it.")


def description(name: str, source: Annotations) -> None:
    """Draw what is in one file, and the way to its first page with boxes."""
    source = _named(source)
    row = _contents_of(source)
    unit = "of the page" if row.unit == "page" else "px"
    counted = f"{count_of(row.documents, 'document')}, {count_of(row.pages, 'page')}"
    facts = {
        "Holds": f"{counted}, {count_of(row.boxes, 'box')}, {count_of(len(row.labels), 'label')}",
        "Width of a box": f"{_spread(row.width)} {unit}",
        "Height of a box": f"{_spread(row.height)} {unit}",
        "Score": f"{_spread(row.score)}, {row.without_score:,} without",
        "Outlines": f"{row.outlines:,}",
    }
    widgets.table({"": list(facts), "In this file": list(facts.values())}, columns={"": 140}, alt="What is in the file")
    if row.boxes:
        boxes = source.boxes
        first = PageCount(source.documents[int(boxes.document[0])].doc_id, int(boxes.page[0]), 1)
        widgets.button_to_view(_BROWSER_VIEW, "Show pages", _show_page, plain(name), first, key="show_pages_of_file")


def _spread(spread: Spread) -> str:
    if spread.smallest is None:
        return "n/a"
    return f"{spread.smallest:.4g} to {spread.largest:.4g}, median {spread.median:.4g}"


def _behind(check: object, name: str, source: Annotations, row: Contents) -> None:
    if check == _FEW:
        frame.section(f"{_FEW} in {name}", count_of(len(row.few), "label"))
        if row.few:
            counts = {"Label": [*map(displayed, row.few)], "Boxes": [row.labels[label] for label in row.few]}
            widgets.table(counts, columns={"Boxes": widgets.count_column(90)}, alt="Labels with few boxes")
        return
    behind = page_counts(source, _CHECKS[str(check)])
    frame.section(f"{check} in {name}", f"{sum(each.number for each in behind):,} on {count_of(len(behind), 'page')}")
    if not behind:
        return
    shown = behind[:_PAGES_LISTED]
    widgets.table(
        {
            "Document": [displayed(each.document) for each in shown],
            "Page": [each.page + 1 for each in shown],
            "Count": [each.number for each in shown],
        },
        columns={"Page": widgets.count_column(70), "Count": widgets.count_column(70)},
        alt="Pages behind the count",
    )
    if len(behind) > len(shown):
        st.caption(f"The first {len(shown):,} of {len(behind):,} pages.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        at = st.selectbox(
            "Page",
            range(len(shown)),
            format_func=lambda at: f"{displayed(shown[at].document)}, page {shown[at].page + 1}",
            label_visibility="collapsed",
            key="page_of_check",
        )
        widgets.button_to_view(_BROWSER_VIEW, "Show page", _show_page, name, shown[at], key="show_page_of_check")


def _show_page(name: str, place: PageCount) -> None:
    loaded = session_files.load_files(BOXES)
    models = [plain(each.name) for each in loaded.predictions] if loaded is not None else []
    if name in models:
        state.model = models.index(name)
    open_page(place.document, place.page)


def _named(source: Annotations) -> Annotations:
    truth = session_files.files(BOXES).truth
    if truth is None or truth is source:
        return source

    def resolved() -> Annotations:
        try:
            return formats.resolve(source, truth, keep_unit=True)
        except BadInput:
            return source

    return _RESOLVED.of((BOXES.digest(source), BOXES.digest(truth)), resolved)


def _contents_of(source: Annotations) -> Contents:
    truth = session_files.files(BOXES).truth
    key = (BOXES.digest(source), "" if truth is None else BOXES.digest(truth))
    return _CONTENTS.of(key, lambda: contents(source))
