"""Findings: the verdicts of reviewers, what they change, and the way through them in a meeting."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, Literal, get_args

import numpy as np
import streamlit as st

from evaluator.data.issues import BadInput, Issue, count_of, displayed, plain
from evaluator.review import findings_export, findings_import, identity
from evaluator.review.corrections import snapshot_file
from evaluator.review.finding_groups import OPINIONS, FindingGroup, agreed_by_two, group_by_cause, targets_of_causes
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import NOTE_LENGTH, VERDICTS, Event, ReviewLog, Target
from pages.app import frame, pictures, session_files, widgets
from pages.app.address import read_url, write_url
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes
from pages.app.state import ImportNote, State, form_value, open_page, reset, state
from pages.views.fields import field_verdicts
from pages.views.findings import finding_card, findings, meeting, queue, review_sample
from pages.views.overview import headline
from pages.views.posters import poster_verdicts

BROWSER_VIEW = "pages/page_browser.py"
# Findings that have views of their own, by the kind of what they are about.
_OF_TEXTS: Final = {"field": field_verdicts, "word": poster_verdicts}
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
        frame.sidebar_lines([change.sentence for change in to.changes[:200]])
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


# --- one group --------------------------------------------------------------------------------------------------


def _detail(loaded: LoadedBoxes | None, group: FindingGroup) -> None:
    """Draw a group: what both models did there, and one verdict for all or one of its findings."""
    frame.section(queue.title_of(group), finding_card.place_words(group.entries[0]))
    targets = {group.key: group.entries[0].judged.target}
    if loaded is not None and group.cause is not None and group.model is not None:
        result = result_of(loaded, loaded.models[group.model])
        targets |= targets_of_causes(result, np.array([group.cause]), findings.review_log())
    single = _single(group, len(targets))
    if single is not None:
        group = replace(group, entries=(single,))
        targets = {group.key: single.judged.target}
    entry = group.entries[0]
    finding_card.status_line(entry)
    finding_card.picture(loaded, group)
    of_texts = _OF_TEXTS.get(entry.judged.target.kind)
    there = entry.state not in ("gone", "not_open") and entry.judged.target.page is not None
    if there and (of_texts is not None or loaded is not None):
        view = BROWSER_VIEW if of_texts is None else of_texts.VIEW_FILE
        symbol = ":material/find_in_page:"
        widgets.button_to_view(view, "Show on the page", _choose, loaded, entry, key="finding_show", icon=symbol)
    finding_card.judge(group, targets)
    finding_card.history(entry)
    st.html(f'<p class="ls-signature">Judged under {html.escape(plain(entry.judged.target.signature) or "–")}</p>')


def _choose(loaded: LoadedBoxes | None, entry: FindingStatus) -> None:
    """Choose the page of a finding, with its box, for the view that shows it."""
    of_texts = _OF_TEXTS.get(entry.judged.target.kind)
    if of_texts is not None:
        of_texts.show_on_page(entry)
    elif loaded is not None:
        target = entry.judged.target
        open_page(target.document or "", target.page or 0)
        if entry.model is not None and entry.model < len(loaded.models):
            state.model, state.box = entry.model, entry.box_key


def _single(group: FindingGroup, mistakes: int) -> FindingStatus | None:
    """Return the finding that is judged alone; None for all mistakes of the cause together."""
    if mistakes < 2:
        return None
    by_id = {entry.judged.target_id: entry for entry in group.entries}
    names = {"": f"All {mistakes:,} mistakes of this cause"}
    for number, (target_id, entry) in enumerate(by_id.items(), 1):
        label = plain(frame.shorten(entry.judged.target.label or "", 40))
        verdict = finding_card.verdict_label(finding_card.verdict_of(entry))
        names[target_id] = f"{number}. {finding_card.subject(entry)}: {label}, {verdict}"
    if state.finding_single not in names:
        state.finding_single = ""
    return by_id.get(widgets.choice("The verdict is for", names, State.finding_single))


def _say_more(loaded: LoadedBoxes) -> None:
    with st.expander("Add a note on a page, a document or the comparison"), st.form("say_more"):
        kinds = ["page", "document", *(["comparison"] if len(loaded.models) > 1 else [])]
        names = {document.doc_id: displayed(document.name) for document in loaded.dataset.documents}
        words: dict[str, str] = {"": "None, only a note", **dict(VERDICTS.items())}
        about, where, which = st.columns([1.2, 2, 1])
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
    """Return what was chosen to be judged; None for a page that does not exist."""
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
            st.download_button(
                "Corrected ground truth (schema 1.3)",
                lambda: snapshot_file(findings.corrections_of(loaded), created_at=datetime.now(UTC)),
                "ground_truth_corrected.json",
                "application/json",
                on_click="ignore",
            )
            st.caption("The original file is never changed.")
    with right, st.form("findings_import", clear_on_submit=True):
        st.file_uploader(
            "Findings of other reviewers (CSV, JSON, Parquet)",
            type=["csv", "json", "parquet"],
            accept_multiple_files=True,
            key="import_files",
        )
        st.form_submit_button("Import", on_click=_import)
    _import_note()


def _import() -> None:
    """Take the files of the form in, all of them or none."""
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


def _nothing(log: ReviewLog, entries: Sequence[FindingStatus]) -> None:
    if len(log):
        st.html(
            f'<div class="ls-empty"><p>No finding passes the filter; there {"is" if len(entries) == 1 else "are"} '
            f"{count_of(len(entries), 'finding')}.</p></div>"
        )
        st.button("Clear filter", on_click=reset, args=(queue.FILTER,))
    elif findings.store_problem() is None:
        st.html(
            '<div class="ls-empty"><p>Nothing has been judged yet. Choose a mistake in Pages and give it '
            "a verdict; or import the findings of others below.</p></div>"
        )
        st.page_link(BROWSER_VIEW, label="Open Pages", icon=":material/find_in_page:")


def _every_status(loaded: LoadedBoxes | None) -> list[FindingStatus]:
    """Return what became of every finding, of boxes, fields and words, the newest first."""
    place = {target_id: number for number, target_id in enumerate(findings.review_log().judged)}
    every = [*findings.statuses(loaded), *field_verdicts.statuses(), *poster_verdicts.statuses()]
    return sorted(every, key=lambda entry: place.get(entry.judged.target_id, len(place)))


def view() -> None:
    """Draw the whole view."""
    read_url("findings")
    loaded = session_files.load_boxes()
    log = findings.review_log()
    entries = _every_status(loaded)
    if state.meeting_open and loaded is not None:
        meeting.show(loaded)
        write_url("findings")
        return
    agreed = sum(agreed_by_two(judged) for judged in log.judged.values())
    facts = [
        count_of(len(log), "finding"),
        count_of(len(log.conflicts), "conflict"),
        f"{agreed:,} agreed by two reviewers",
    ]
    if findings.store_problem() is not None:
        facts = ["findings cannot be read"]
    frame.title("Decisions", " · ".join(facts))
    if loaded is not None:
        headline.thresholds(loaded, loaded.pair, frame.signature(loaded, loaded.models))
    _problems()
    shown = [entry for entry in entries if queue.passes(entry)]
    reviewing = loaded is not None and bool(loaded.pair) and state.queue_of_findings == review_sample.NAME
    with st.sidebar:
        # A reviewer without a name is asked where the verdict is pressed.
        if findings.author()[0] or not (shown or reviewing):
            findings.ask_author()
        if entries and not reviewing:
            queue.filters(log, entries)
    if loaded is not None:
        _meeting_button()
    if loaded is not None and len(log):
        _numbers(loaded)
    if loaded is not None and loaded.pair:
        names = {"": f"Findings {len(entries):,}", review_sample.NAME: "Review sample"}
        widgets.switch("Queue", names, State.queue_of_findings, label_visibility="collapsed")
    if loaded is not None and reviewing:
        review_sample.show(loaded)
    elif shown:
        _groups(loaded, shown, entries)
    else:
        _nothing(log, entries)
    if loaded is not None:
        _say_more(loaded)
    _exchange(loaded, log)
    write_url("findings")


def _groups(loaded: LoadedBoxes | None, shown: Sequence[FindingStatus], entries: Sequence[FindingStatus]) -> None:
    results = [result_of(loaded, model) for model in loaded.models] if loaded is not None else []
    grouped = group_by_cause(shown, results)
    boxes = sum(group.boxes for group in grouped)
    frame.section(
        "Queue",
        f"{len(shown):,} of {count_of(len(entries), 'finding')} in {count_of(len(grouped), 'group')}, "
        f"{count_of(boxes, 'wrong box')}, most first",
    )
    with st.container(key="findings_queue"):
        left, right = st.columns([1.55, 1], gap="medium")
    with left:
        chosen = queue.table(loaded, grouped)
    with right:
        _detail(loaded, chosen)


def _meeting_button() -> None:
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Start a meeting",
            icon=":material/co_present:",
            on_click=meeting.start,
            help="Goes through the causes of mistakes, most wrong boxes first, with both models on one page and keys.",
        )
        if state.meeting_minutes:
            st.download_button(
                "Minutes of the last meeting",
                state.meeting_minutes,
                "minutes.md",
                "text/markdown",
                icon=":material/download:",
                on_click="ignore",
            )


view()
