"""One finding on screen: its words, the page around it, who judged how, and one's own verdict."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final

import streamlit as st

from evaluator.components.gallery import crops
from evaluator.components.gallery.payload import CropItem
from evaluator.components.payload import Rect
from evaluator.data.issues import plain
from evaluator.matching.box_results import AnyBoxResult
from evaluator.review.finding_groups import OPINIONS, VERDICT_MARKS, FindingGroup, Opinion, outcome, rows_of
from evaluator.review.status import FIELD_PROBLEMS, STATES, FindingStatus, title_of
from evaluator.review.verdicts import AUTHOR_LENGTH, KINDS, NOTE_LENGTH, STATUSES, VERDICTS, Event, Target
from evaluator.review.word_targets import WORD_PROBLEMS
from pages.app import frame
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes, PairModel
from pages.app.state import State
from pages.views.findings import findings
from pages.views.gallery.gallery_items import crop

# Of the picture of a finding, in pixels.
_CROP_WIDTH: Final = 900


def verdict_of(entry: FindingStatus) -> Opinion:
    """Return the verdict of a finding."""
    judged = entry.judged
    return "conflict" if judged.conflict else judged.verdict or "note"


def verdict_label(kind: str) -> str:
    """Return a verdict as icon and word."""
    return f"{VERDICT_MARKS[kind]} {OPINIONS[kind]}"


def subject(entry: FindingStatus) -> str:
    """Return what a finding is about, in words."""
    target = entry.judged.target
    if target.kind == "field":
        name = entry.mistake or target.mistake or ""
        problem = FIELD_PROBLEMS[name].lower() if name in FIELD_PROBLEMS else plain(frame.shorten(name, 40))
        return f"{KINDS['field']}: {problem}"
    if target.kind == "word":
        return WORD_PROBLEMS.get(target.mistake or "", KINDS["word"])
    if target.kind != "mistake":
        return KINDS[target.kind]
    return plain(frame.shorten(title_of(entry.mistake or target.mistake or ""), 40))


def place_words(entry: FindingStatus) -> str:
    """Return document and page, in words."""
    target = entry.judged.target
    parts = [
        frame.shorten(target.document or "All documents", 80),
        *([f"page {target.page + 1}"] if target.page is not None else []),
    ]
    return plain(", ".join(parts))


def event_time(event: Event) -> str:
    """Return the time of an event, to the minute."""
    return event.time.strftime("%Y-%m-%d %H:%M")


def status_line(entry: FindingStatus) -> None:
    """Draw the verdict, and what became of the finding, in one line."""
    verdict = verdict_of(entry)
    st.html(
        f'<p class="ls-state"><span class="ls-verdict ls-{verdict}">{html.escape(verdict_label(verdict))}</span> '
        f"<b>{html.escape(STATES[entry.state])}.</b> {html.escape(plain(entry.sentence))}</p>"
    )


def _boxes_of_group(group: FindingGroup) -> list[Rect]:
    """Return the boxes of a group as judged, as shares of the page; those in pixels are left out."""
    targets = [entry.judged.target for entry in group.entries]
    return [box.xyxy for target in targets if target.unit == "page" for box in target.boxes]


def _crop_of(loaded: LoadedBoxes | None, target: Target, boxes: Sequence[Rect]) -> CropItem | None:
    """Return a target's page around some boxes, or all of it; None without a place in the open files."""
    if loaded is None or target.page is None or target.document not in loaded.dataset.document_code:
        return None
    if target.unit != "page":
        return None
    return crop(loaded, target.document or "", target.page, boxes, width=_CROP_WIDTH)


def picture(loaded: LoadedBoxes | None, group: FindingGroup) -> None:
    """Draw the page around the boxes of some findings: for each of the two models, or as they were judged."""
    target = group.entries[0].judged.target
    around = _crop_of(loaded, target, _boxes_of_group(group))
    if around is None or loaded is None:
        return
    page = loaded.dataset.page_row(target.document or "", target.page or 0)
    if target.kind in ("field", "word") or page is None:
        judged = [(box.xyxy, "fn" if box.side == "ground_truth" else "fp", box.label) for box in target.boxes]
        _draw_crop(around, judged)
        return
    for model in loaded.pair:
        result = result_of(loaded, model)
        words = ""
        if group.cause is not None and group.model is not None:
            of = result_of(loaded, loaded.models[group.model])
            words = outcome(result, rows_of(of, of.causes.rows[group.cause], page), of).sentence
        _draw_model(model, words, around, result, page)


def page_of(loaded: LoadedBoxes, model: PairModel, document: str, index: int, words: str) -> None:
    """Draw a whole page with what a model shows on it, under its name and some words."""
    page = loaded.dataset.page_row(document, index)
    if page is not None:
        whole = crop(loaded, document, index, [], width=_CROP_WIDTH)
        _draw_model(model, words, whole, result_of(loaded, model), page)


def _draw_model(model: PairModel, words: str, around: CropItem, result: AnyBoxResult, page: int) -> None:
    st.html(
        f'<p class="ls-pane-head">{frame.letter_badge(model.letter)} '
        f"<b>{html.escape(plain(frame.shorten(model.name, 40)))}</b> {html.escape(words)}</p>"
    )
    _draw_crop(around, [(box.xyxy, _CLASSES[box.status], "") for box in crops.page_boxes(result, page)])


# The classes of boxes on a crop by their status: what matches is drawn thin.
_CLASSES: Final[Mapping[str, str]] = {"TP": "tp", "truth": "tp", "FP": "fp", "FN": "fn"}


def _draw_crop(around: CropItem, boxes: Sequence[tuple[Rect, str, str]]) -> None:
    left, top, right, bottom = around.region
    spans = []
    for (x1, y1, x2, y2), status, words in boxes:
        if x2 <= left or x1 >= right or y2 <= top or y1 >= bottom:
            continue
        edges = (
            (x1 - left) / (right - left),
            (y1 - top) / (bottom - top),
            (x2 - x1) / (right - left),
            (y2 - y1) / (bottom - top),
        )
        place = "left:{:.3f}%;top:{:.3f}%;width:{:.3f}%;height:{:.3f}%".format(*(100 * edge for edge in edges))
        chip = f"<b>{html.escape(plain(frame.shorten(words, 28)))}</b>" if words else ""
        spans.append(f'<span class="ls-crop-box ls-crop-{status}" style="{place}">{chip}</span>')
    image = f'<img src="{around.image}" alt="">' if around.image else f"<p>{html.escape(around.problem or '')}</p>"
    shape = f"aspect-ratio:{around.aspect:.4f};width:min(100%,{44 * around.aspect:.2f}vh)"
    st.html(f'<div class="ls-crop" style="{shape}">{image}{"".join(spans)}</div>')


def history(entry: FindingStatus) -> None:
    """Draw the opinions now, and every event before them."""
    judged = entry.judged
    latest = {event.id for event in judged.opinions}
    strange = findings.review_log().improbable(datetime.now(UTC))
    rows = []
    for event in reversed(judged.history):
        word = "Undone" if event.action == "cleared" else verdict_label(event.verdict or "note")
        vouched = "" if event.verified else " <small>unverified</small>"
        origin = f" <small>from {html.escape(plain(event.source))}</small>" if event.source else ""
        tags = "".join(f"<i>{html.escape(plain(tag))}</i>" for tag in event.tags)
        note = f"<p>{html.escape(event.note)}</p>" if event.note else ""
        doubt = " (improbable: a clock was wrong)" if event.id in strange else ""
        earlier = "" if event.id in latest else ' class="ls-earlier"'
        rows.append(
            f"<li{earlier}><b>{html.escape(word)}</b> {html.escape(plain(event.author))}{vouched}{origin}"
            f"<time>{event_time(event)} UTC{doubt}</time>{tags}{note}</li>"
        )
    st.html(f'<ol class="ls-history">{"".join(rows)}</ol>')


def judge(group: FindingGroup, targets: Mapping[str, Target]) -> None:
    """Draw one's own verdict on a group; `targets` are by identity, that of its newest finding first."""
    own = next(iter(targets))
    mine, waiting = findings.own_opinion(own), findings.unsaved(own)
    note, tags, owner = State.finding_note.of(own), State.finding_tags.of(own), State.finding_owner.of(own)
    due, status = State.finding_due.of(own), State.finding_status.of(own)
    held = waiting or mine
    if note.get() is None:
        task = group.task
        note.set(held.note if held else "")
        tags.set(", ".join(held.tags) if held else "")
        owner.set(task.owner if task else "")
        due.set(date.fromisoformat(task.due) if task and task.due else None)
        status.set(task.status if task else "")

    def say(verdict: str | None) -> None:
        findings.save_all(
            targets,
            verdict=verdict,
            note=note.get() or "",
            tags=[tag for tag in (tags.get() or "").split(",") if tag.strip()],
            task=findings.Task((owner.get() or "").strip(), str(due.get() or ""), status.get() or ""),
        )

    def say_the_rest() -> None:
        # Looked up now: the verdict may have been given a moment ago, on a screen that was drawn before.
        last = findings.unsaved(own) or findings.own_opinion(own)
        say(last.verdict if last else None)

    if not findings.author()[0]:
        findings.ask_author(label="Your name, shown with your verdicts")
    with st.container(horizontal=True, gap="small", key="finding_verdict_row"):
        for verdict, words in VERDICTS.items():
            chosen = held is not None and held.verdict == verdict
            st.button(
                f"{VERDICT_MARKS[verdict]} {words}{' ✓' if chosen else ''}",
                key=f"say_{verdict}",
                on_click=say,
                args=(verdict,),
            )
    st.text_area("Note", key=note.key, max_chars=NOTE_LENGTH, height=72, placeholder="Why")
    columns = st.columns(3, gap="small")
    columns[0].text_input("Owner", key=owner.key, max_chars=AUTHOR_LENGTH)
    columns[1].date_input("Due", key=due.key, format="YYYY-MM-DD")
    columns[2].selectbox("Status", ["", *STATUSES], format_func=lambda key: {"": "–", **STATUSES}[key], key=status.key)
    st.text_input("Tags, separated by commas", key=tags.key)
    with st.container(horizontal=True, gap="small"):
        st.button("Save note, tags and owner", on_click=say_the_rest, key="save_note")
        if mine is not None:
            st.button("Undo", on_click=_undo, args=(targets,), key="undo_verdict")
    findings.unsaved_line(own)


def _undo(targets: Mapping[str, Target]) -> None:
    findings.save_all(targets, verdict=None, note="", tags=[], task=findings.Task())
    for key in targets:
        for field in (State.finding_note, State.finding_tags, State.finding_owner):
            field.of(key).set("")
        State.finding_due.of(key).set(None)
        State.finding_status.of(key).set("")
