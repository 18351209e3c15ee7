"""Findings: the verdicts of reviewers, what they change, and the way through them in a meeting."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, get_args

import streamlit as st

from evaluator.data.issues import BadInput, Issue, count_of, name_in_list, plain
from evaluator.pdf.sizes import page_sizes
from evaluator.review import findings_export, findings_import, identity
from evaluator.review.corrections import annotators_file
from evaluator.review.finding_groups import OPINIONS, agreed_by_two
from evaluator.review.verdicts import NOTE_LENGTH, VERDICTS, Event, ReviewLog, Target
from pages.app import frame, pictures, session_files, widgets
from pages.app.address import read_url, write_url
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes
from pages.app.state import CorrectedFile, ImportNote, State, form_value, state
from pages.views.fields import field_verdicts
from pages.views.findings import decision_list, findings, live, meeting, review_counts
from pages.views.overview import headline

_FORMS: Final = {
    "snapshot": "Schema 1.3",
    "label-studio": "Label Studio",
    "cvat": "CVAT",
    "coco": "COCO",
    "yolo": "YOLO",
    "omnidocbench": "OmniDocBench",
}
_Number = Literal["tp", "fp", "fn", "precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity"]
_NUMBERS: Final[tuple[_Number, ...]] = get_args(_Number)
_HEADS: Final = ("TP", "FP", "FN", "Precision", "Recall", "F1", "Mean IoU", "Coverage", "Purity")


# --- problems ----------------------------------------------------------------------------------------------------


def _problems() -> None:
    waiting = findings.all_unsaved()
    if not waiting:
        return
    with st.container(border=True, key="findings_unsaved"):
        rows = "".join(
            f'<li><span class="ls-tag ls-fp">{entry.words.partition(".")[0]}</span> '
            f"{html.escape(OPINIONS[entry.verdict or 'note'])}: "
            f"{html.escape(plain(entry.note)) or '–'}<small>{html.escape(plain(entry.problem))}</small></li>"
            for entry in waiting
        )
        st.html(f'<ul class="ls-unsaved">{rows}</ul>')
        st.button("Save again", on_click=findings.retry_unsaved, icon=":material/save:")


# --- corrected numbers -------------------------------------------------------------------------------------------


def _numbers(loaded: LoadedBoxes) -> None:
    to = findings.corrections_of(loaded)
    frame.section("Corrected numbers", "official numbers first; the verdicts change the ground truth, see below")
    if field_verdicts.any_field(findings.review_log()):
        st.caption("These are the numbers of the boxes. Those of extracted fields are in the view Fields.")
    if not to.applied:
        st.caption(
            "No agreed verdict on boxes states that the ground truth is wrong or that a mistake is to be ignored, "
            "so there are no corrected numbers."
        )
        return
    rows: list[str] = []
    signatures: list[str] = []
    for model in loaded.models:
        official = result_of(loaded, model)
        corrected = findings.corrected_of(loaded, model)
        assert corrected is not None
        name = html.escape(frame.shorten(plain(model.name), 28))
        before, after = official.micro.row(0), corrected.result.micro.row(0)
        rows += [frame.corrected_row(name, "official", [_shown(before[key]) for key in _NUMBERS])]
        rows += [frame.corrected_row("", "corrected", [_shown(after[key]) for key in _NUMBERS])]
        rows += [frame.corrected_row("", "change", [_moved(after[key], before[key]) for key in _NUMBERS])]
        signatures += [official.matching.signature(official.iou).line, corrected.signature.line]
    frame.corrected_table(_HEADS, "".join(rows), tuple(dict.fromkeys(signatures)))
    refused = to.issues
    text = f"{count_of(to.applied, 'verdict')} applied, {count_of(len(refused), 'verdict')} without effect"
    with st.expander(text):
        st.caption(
            "An accepted prediction becomes a ground truth box as its model drew it, so the corrected numbers of that "
            "model are an upper bound; every other model is measured against the same box."
        )
        frame.small_lines([change.sentence for change in to.changes[:200]])
        if refused:
            frame.issues(refused)


def _shown(value: float | None) -> str:
    return f"{value:,}" if isinstance(value, int) else frame.number(value)


def _moved(value: float | None, other: float | None) -> str:
    if value is None or other is None:
        return "n/a"
    whole = isinstance(value, int)
    difference = value - other if whole else 100 * (value - other)
    if abs(difference) < (1 if whole else 0.05):
        return "±0"
    text = f"{abs(difference):,}" if whole else f"{abs(difference):.1f} points"
    return f"{'+' if difference > 0 else '−'}{text}"


# --- notes on more than a mistake ------------------------------------------------------------------------------------


def _say_more(loaded: LoadedBoxes) -> None:
    with st.popover("Add a note", icon=":material/add:"):
        findings.ask_author()
        st.caption("On a page, a document or the comparison; of a cause: V in its row.")
        _note_form(loaded)


def _note_form(loaded: LoadedBoxes) -> None:
    with st.form("say_more", border=False):
        kinds = ["page", "document", *(["comparison"] if len(loaded.models) > 1 else [])]
        names = {document.doc_id: name_in_list(document.name) for document in loaded.dataset.documents}
        words: dict[str, str] = {"": "None, only a note", **dict(VERDICTS.items())}
        about, where, which = st.columns([2.1, 2, 1])
        about.segmented_control(
            "About", kinds, format_func=str.capitalize, default="page", required=True, key="said_kind"
        )
        where.selectbox("Document", list(names), format_func=widgets.distinct_words(names), key="said_document")
        which.number_input("Page", min_value=1, value=1, step=1, help="Only for a page.", key="said_page")
        st.selectbox("Verdict", list(words), format_func=words.__getitem__, key="said_verdict")
        st.text_area("Note", max_chars=NOTE_LENGTH, height=72, key="said_note")
        st.text_input("Tags, separated by commas", key="said_tags")
        st.form_submit_button("Save", on_click=_save_said, args=(loaded, names))
        if state.finding_refused:
            st.error(state.finding_refused, icon=":material/error:")


def _save_said(loaded: LoadedBoxes, names: Mapping[str, str]) -> None:
    document, page = str(form_value("said_document")), int(form_value("said_page"))
    target = _target(loaded, str(form_value("said_kind")), document, page - 1)
    state.finding_refused = "" if target else f"{frame.escaped(names[document])} has no page {page}."
    if target is not None:
        verdict, note, tags = (str(form_value(f"said_{each}")) for each in ("verdict", "note", "tags"))
        findings.save(target, verdict=verdict or None, note=note, tags=tags.split(","))


def _target(loaded: LoadedBoxes, kind: str, document: str, page: int) -> Target | None:
    signature = frame.signature(loaded, loaded.models)
    if kind == "comparison":
        sources = [loaded.dataset.predictions[model.index].source for model in loaded.pair]
        return Target(kind="comparison", models=tuple(map(identity.box_model_name, sources)), signature=signature)
    if kind == "document":
        return Target(kind="document", document=document, signature=signature)
    there = loaded.dataset.page_row(document, page) is not None
    there = there or page < (pictures.page_count(loaded, document) or 0)
    return identity.page_target(document, page, signature=signature) if there else None


# --- files -------------------------------------------------------------------------------------------------------


def _exchange(loaded: LoadedBoxes | None, log: ReviewLog) -> None:
    frame.section("Export and import", "every event with what it is about; an imported verdict is never verified")
    left, right = st.columns(2, gap="medium")
    with left.container(border=True):
        events = log.events
        with st.container(horizontal=True, gap="small"):
            forms: tuple[tuple[str, Callable[[Sequence[Event]], bytes], str], ...] = (
                ("CSV", lambda some: findings_export.to_csv(some).encode(), "text/csv"),
                ("JSON", lambda some: findings_export.to_json(some).encode(), "application/json"),
                ("Parquet", findings_export.to_parquet, "application/vnd.apache.parquet"),
            )
            for name, write, kind in forms:
                # Written when it is asked for, not on every run.
                content = functools.partial(write, events)
                file = f"findings.{name.lower()}"
                st.download_button(name, content, file, kind, on_click="ignore", disabled=not events)
        st.caption(f"{count_of(len(events), 'event')} in {frame.escaped(findings.store_name() or 'no store')}.")
        if loaded is not None and findings.corrections_of(loaded).of_boxes:
            _for_annotators(loaded)
    with right, st.form("findings_import", clear_on_submit=True):
        st.file_uploader(
            "Findings of other reviewers (CSV, JSON, Parquet)",
            type=["csv", "json", "parquet"],
            accept_multiple_files=True,
            key="import_files",
        )
        st.form_submit_button("Import", on_click=_import)
    _import_note()


def _for_annotators(loaded: LoadedBoxes) -> None:
    form = widgets.choice("Corrected ground truth as", _FORMS, State.corrected_as)
    st.button("Write the file", on_click=_write_corrected, args=(loaded, form), key="write_corrected")
    written = state.corrected_file
    if written is not None and written.digest == _digest(loaded):
        if written.issues:
            frame.issues(written.issues)
        else:
            st.download_button(f"Download {written.name}", written.content, written.name, on_click="ignore")
    st.caption(
        "The original file is never changed. Opened after the correction, its findings are Done by themselves: "
        "corrected in the ground truth that is open."
    )


def _digest(loaded: LoadedBoxes) -> str:
    return findings.corrections_of(loaded).dataset.ground_truth.source.sha256


def _write_corrected(loaded: LoadedBoxes, form: str) -> None:
    to = findings.corrections_of(loaded)
    source, pdfs = to.dataset.ground_truth.source, loaded.project.pdfs
    try:
        sizes = page_sizes(source, pdfs) if pdfs is not None and form != "snapshot" and source.unit == "page" else {}
        name, content = annotators_file(to, form, created_at=datetime.now(UTC), sizes=sizes)
    except BadInput as problem:
        state.corrected_file = CorrectedFile(_digest(loaded), "", b"", problem.issues)
    else:
        state.corrected_file = CorrectedFile(_digest(loaded), name, content, ())


def _import() -> None:
    files = [(file.name, file.getvalue()) for file in form_value("import_files") or []]
    if not files:
        return
    events: list[Event] = []
    bad: list[Issue] = []
    for name, content in files:
        try:
            read = findings_import.read(content, name)
        except BadInput as problem:
            bad += problem.issues
            continue
        events += read.events
        bad += read.issues
    failed = any(finding.severity == "error" for finding in bad)
    before = len(findings.review_log().events)
    refusal = None if failed else findings.add_events(events)
    added = 0 if failed or refusal else len(findings.review_log().events) - before
    state.finding_import = ImportNote(bad, failed, refusal, added, len(events))


def _import_note() -> None:
    note = state.finding_import
    if note is None:
        return
    bad, failed, refusal, added, total = note
    if failed:
        st.error(
            "Nothing was imported: the files have bad rows. Each row shows how to fix it.", icon=":material/error:"
        )
    elif refusal is not None:
        st.error(f"Nothing was imported. {frame.escaped(str(refusal))}", icon=":material/error:")
    else:
        there = total - added
        st.success(f"{count_of(added, 'event')} imported, {there:,} were there already.", icon=":material/check:")
    if bad:
        frame.issues(bad)


@st.fragment
def _meeting(loaded: LoadedBoxes) -> None:
    if state.whole_view or not state.meeting_open:
        st.rerun()
    meeting.show(loaded)
    write_url("findings")


def view() -> None:
    """Draw the whole view."""
    read_url("findings")
    loaded = session_files.load_boxes()
    log = findings.review_log()
    if state.meeting_open and loaded is not None:
        state.whole_view = False
        _meeting(loaded)
        return
    agreed = sum(agreed_by_two(judged) for judged in log.judged.values())
    facts = [
        count_of(len(log), "finding"),
        count_of(len(log.conflicts), "conflict"),
        f"{agreed:,} agreed by two reviewers",
    ]
    if findings.store_problem() is not None:
        facts = ["findings cannot be read"]
    elif not len(log):
        facts = []
    if state.entered_bare:
        # What the count of the tab counts.
        state.decided = ""
    with frame.title("Decisions", " · ".join(facts), review_counts.counts_of(loaded)):
        _ways(loaded)
    if loaded is not None:
        headline.thresholds(loaded, loaded.pair, frame.signature(loaded, loaded.models))
    _problems()
    if loaded is None and not len(log):
        frame.need_files()
    else:
        decision_list.show(loaded)
        if loaded is not None and len(log):
            _numbers(loaded)
    _exchange(loaded, log)
    write_url("findings")


def _ways(loaded: LoadedBoxes | None) -> None:
    if loaded is None:
        return
    with st.container(
        key="review_ways", horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"
    ):
        _say_more(loaded)
        if state.meeting_minutes:
            st.download_button(
                "Minutes",
                state.meeting_minutes,
                "minutes.md",
                "text/markdown",
                icon=":material/download:",
                on_click="ignore",
                help="Of the last meeting.",
            )
        held = live.now_of(loaded, findings.pulse())
        if held is not None:
            who = frame.escaped(held.presenter) or "Somebody"
            st.button("Join the meeting", type="primary", on_click=meeting.join, help=f"{who} presents.")
            return
        st.button(
            "Start meeting",
            type="primary",
            on_click=meeting.start,
            help="Goes through the causes with both models on one page; others see it on their own screens.",
        )


view()
