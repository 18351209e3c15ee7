"""One verdict on all causes of one kind, each time they happened, where they are listed together."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from evaluator.data.boxes import IntArray
from evaluator.data.issues import count_of
from evaluator.review.finding_groups import MOST_AT_ONCE, VERDICT_MARKS, of_causes, targets_of_causes
from evaluator.review.verdicts import NOTE_LENGTH, VERDICTS, Verdict
from pages.app import frame
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes, Model
from pages.app.state import State, state
from pages.views.findings import findings


def judge(loaded: LoadedBoxes, model: Model, rows: IntArray) -> None:
    """Draw one verdict on some causes: `rows` of the model's `Causes`, at least one, all of one family."""
    result = result_of(loaded, model)
    made = result.causes
    mistakes = sum(len(made.rows[row]) for row in rows.tolist())
    about = f"{count_of(mistakes, 'mistake')} of {count_of(len(rows), 'cause')}"
    if mistakes > MOST_AT_ONCE:
        st.caption(f"{about}: too many for one verdict, which takes at most {MOST_AT_ONCE:,}.")
        return
    said = _own_verdicts(loaded, model, rows)
    note = State.cause_note.of("/".join(made.families[int(rows[0])]))

    def say(verdict: Verdict) -> None:
        unsaved = findings.save_all(
            targets_of_causes(result, rows, findings.review_log()), verdict=verdict, note=note.get()
        )
        state.cause_unsaved = "" if unsaved is None else unsaved.target_id

    with st.container(border=True, key="cause_verdict"):
        frame.section(f"One verdict for {about}", _in_words(said, mistakes))
        if not findings.author()[0]:
            findings.ask_author(label="Your name, shown with your verdicts")
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            for verdict, words in VERDICTS.items():
                done = " ✓" if said[verdict] == mistakes else ""
                st.button(
                    f"{VERDICT_MARKS[verdict]} {words}{done}",
                    key=f"say_{verdict}",
                    on_click=say,
                    args=(verdict,),
                    disabled=not findings.author()[0],
                )
            st.text_input(
                "Note",
                key=note.key,
                max_chars=NOTE_LENGTH,
                placeholder="Note, kept with the verdict",
                label_visibility="collapsed",
                width="stretch",
            )
        findings.unsaved_line(state.cause_unsaved)


def _own_verdicts(loaded: LoadedBoxes, model: Model, rows: IntArray) -> Counter[Verdict]:
    mine = findings.author()
    opinions = (
        event
        for entry in of_causes(findings.statuses(loaded), result_of(loaded, model), rows)
        for event in entry.judged.opinions
    )
    return Counter(event.verdict for event in opinions if event.reviewer == mine and event.verdict is not None)


def _in_words(said: Counter[Verdict], mistakes: int) -> str:
    if not said:
        return "none of them has your verdict"
    counts = ", ".join(f"{VERDICTS[verdict]} on {count:,} of {mistakes:,}" for verdict, count in said.most_common())
    return f"yours: {counts}; another one replaces it"
