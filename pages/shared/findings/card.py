"""One finding on screen: its words, the part of the page around it, who said what, and one's own verdict."""

from __future__ import annotations

import html
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import streamlit as st

from evaluator.metrics.error_types import ERROR_TYPES
from evaluator.model.issues import plain
from evaluator.review.field_targets import PROBLEMS
from evaluator.review.status import STATES, FindingStatus
from evaluator.review.verdicts import KINDS, NOTE_LENGTH, VERDICTS, Event
from pages.shared import frame
from pages.shared.findings import log as findings
from pages.shared.findings import queue
from pages.shared.opened import OpenedBoxes
from pages.shared.state import State

ICONS: Final[Mapping[str, str]] = {
    "model_wrong": "●",
    "ground_truth_wrong": "◆",
    "ambiguous": "◐",
    "ignore": "○",
    "conflict": "≠",
    "note": "✎",
}
WORDS: Final[Mapping[str, str]] = {**dict(VERDICTS.items()), "conflict": "Reviewers differ", "note": "Note only"}


def kind(entry: FindingStatus) -> str:
    """The verdict of a finding: a key of `WORDS`."""
    judged = entry.judged
    return "conflict" if judged.conflict else judged.verdict or "note"


def said(kind: str) -> str:
    """A verdict as icon and word."""
    return f"{ICONS[kind]} {WORDS[kind]}"


def about(entry: FindingStatus) -> str:
    """What a finding is about, in words."""
    target = entry.judged.target
    if target.kind == "field":
        name = entry.mistake or target.mistake or ""
        return f"{KINDS['field']}: {PROBLEMS[name].lower() if name in PROBLEMS else plain(frame.shortened(name, 40))}"
    if target.kind != "mistake":
        return KINDS[target.kind]
    names = ERROR_TYPES["document"]
    name = entry.mistake or target.mistake or ""
    return names[name].title if name in names else plain(frame.shortened(name, 40))


def place(entry: FindingStatus) -> str:
    """Document and page, in words."""
    target = entry.judged.target
    parts = [
        frame.shortened(target.document or "All documents", 80),
        *([f"page {target.page + 1}"] if target.page is not None else []),
    ]
    return plain(", ".join(parts))


def when(event: Event) -> str:
    """Time of an event, to the minute."""
    return event.time.strftime("%Y-%m-%d %H:%M")


def state(entry: FindingStatus) -> None:
    """The verdict, and what became of the finding, in one line."""
    verdict = kind(entry)
    st.html(
        f'<p class="ls-state"><span class="ls-verdict ls-{verdict}">{html.escape(said(verdict))}</span> '
        f"<b>{html.escape(STATES[entry.state])}.</b> {html.escape(plain(entry.sentence))}</p>"
    )


def picture(found: OpenedBoxes | None, entry: FindingStatus, *, large: bool = False) -> None:
    """The part of the page around a mistake, with the boxes as they were judged."""
    target = entry.judged.target
    crop = queue.crop_of(found, target, large=large)
    if crop is None:
        return
    left, top, right, bottom = crop.region
    boxes = []
    for box in target.boxes:
        x1, y1, x2, y2 = box.xyxy
        edges = (
            (x1 - left) / (right - left),
            (y1 - top) / (bottom - top),
            (x2 - x1) / (right - left),
            (y2 - y1) / (bottom - top),
        )
        place = "left:{:.3f}%;top:{:.3f}%;width:{:.3f}%;height:{:.3f}%".format(*(100 * edge for edge in edges))
        status = "fn" if box.side == "ground_truth" else "fp"
        side = "Ground truth" if box.side == "ground_truth" else "Prediction"
        chip = html.escape(plain(f"{side} {frame.shortened(box.label, 28)}"))
        boxes.append(f'<span class="ls-crop-box ls-crop-{status}" style="{place}"><b>{chip}</b></span>')
    image = f'<img src="{crop.image}" alt="">' if crop.image else f"<p>{html.escape(crop.problem or '')}</p>"
    shape = f"aspect-ratio:{crop.aspect:.4f};width:min(100%,{78 * crop.aspect:.2f}vh)"
    st.html(f'<div class="ls-crop" style="{shape}">{image}{"".join(boxes)}</div>')


def history(entry: FindingStatus) -> None:
    """Opinions now, and every event before them."""
    judged = entry.judged
    latest = {event.id for event in judged.opinions}
    strange = findings.review_log().improbable(datetime.now(UTC))
    rows = []
    for event in reversed(judged.history):
        word = "Undone" if event.action == "cleared" else said(event.verdict or "note")
        vouched = "" if event.verified else " <small>unverified</small>"
        origin = f" <small>from {html.escape(plain(event.source))}</small>" if event.source else ""
        tags = "".join(f"<i>{html.escape(plain(tag))}</i>" for tag in event.tags)
        note = f"<p>{html.escape(event.note)}</p>" if event.note else ""
        doubt = " (improbable: a clock was wrong)" if event.id in strange else ""
        earlier = "" if event.id in latest else ' class="ls-earlier"'
        rows.append(
            f"<li{earlier}><b>{html.escape(word)}</b> {html.escape(plain(event.author))}{vouched}{origin}"
            f"<time>{when(event)} UTC{doubt}</time>{tags}{note}</li>"
        )
    st.html(f'<ol class="ls-history">{"".join(rows)}</ol>')


def judge(entry: FindingStatus, *, keys: bool) -> None:
    """One's own verdict on a finding: four buttons, note and tags."""
    target_id = entry.judged.target_id
    mine = findings.mine(target_id)
    waiting = findings.unsaved(target_id)
    note, tags = State.finding_note.of(target_id), State.finding_tags.of(target_id)
    held = waiting or mine
    if note.get() is None:
        note.set(held.note if held else "")
        tags.set(", ".join(held.tags) if held else "")

    def say(verdict: str | None) -> None:
        findings.save(
            entry.judged.target,
            verdict=verdict,
            note=note.get() or "",
            tags=[tag for tag in (tags.get() or "").split(",") if tag.strip()],
            target_id=target_id,
        )

    def say_the_rest() -> None:
        # Looked up now: the verdict may have been given a moment ago, on a screen that was drawn before.
        last = findings.unsaved(target_id) or findings.mine(target_id)
        say(last.verdict if last else None)

    with st.container(horizontal=True, gap="small", key="finding_verdict_row"):
        for number, (verdict, words) in enumerate(VERDICTS.items(), 1):
            chosen = held is not None and held.verdict == verdict
            st.button(
                f"{ICONS[verdict]} {words}{' ✓' if chosen else ''}",
                key=f"say_{verdict}",
                on_click=say,
                args=(verdict,),
                shortcut=str(number) if keys else None,
            )
    st.text_area("Note", key=note.key, max_chars=NOTE_LENGTH, height=72, placeholder="Why")
    st.text_input("Tags, separated by commas", key=tags.key)
    with st.container(horizontal=True, gap="small"):
        st.button("Save note and tags", on_click=say_the_rest, key="save_note")
        if mine is not None:
            st.button("Undo", on_click=_undo, args=(entry,), key="undo_verdict")
    if waiting is not None:
        st.error(f"NOT SAVED. {frame.escaped(waiting.problem)}", icon=":material/error:")


def _undo(entry: FindingStatus) -> None:
    """Withdraw one's own opinion; the history keeps it."""
    findings.save(entry.judged.target, verdict=None, note="", tags=[], target_id=entry.judged.target_id)
    for field in (State.finding_note, State.finding_tags):
        field.of(entry.judged.target_id).set("")
