"""The queue of findings: its filter, its groups as a table, and what is said of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from evaluator.data.issues import displayed, plain
from evaluator.review.finding_groups import OPINIONS, FindingGroup
from evaluator.review.status import STATES, FindingStatus
from evaluator.review.verdicts import STATUSES, ReviewLog
from pages.app import frame, widgets
from pages.app.session_files import LoadedBoxes
from pages.app.state import State, state
from pages.views.findings import finding_card

FILTER: Final = (State.finding_verdicts, State.finding_author, State.finding_tag, State.finding_state)
"""What chooses the findings of the queue."""
# Groups of one sheet of the queue.
_SHEET: Final = 50
_STATE_CHOICES: Final[Mapping[str, str]] = {"": "All", "applies": "Applies", "past": "No longer applies"}
_STATUS_WORDS: Final[Mapping[str, str]] = {"": "", **STATUSES}
# What may be left out where it is empty, and the widths: the first ten columns fit a window of 1,440 pixels.
_MAY_BE_EMPTY = ("Model", "Owner", "Due", "Status", "Note", "Tags", "Label")
_WIDTHS: dict[str, object] = {
    "Boxes": widgets.count_column(50),
    "Finding": 146,
    "Model": 50,
    "Verdict": 130,
    "Document": 112,
    "Page": 42,
    "Judged": 56,
    "Owner": 72,
    "Due": 84,
    "Status": 84,
    "Who": 84,
    "Note": 130,
}


def filters(log: ReviewLog, entries: Sequence[FindingStatus]) -> None:
    """Draw the choices of the filter, verdicts and states with their numbers; a choice that is gone is dropped."""
    counts: dict[str, int] = dict.fromkeys(OPINIONS, 0)
    for entry in entries:
        counts[finding_card.verdict_of(entry)] += 1
    judged = list(log.judged.values())
    authors = sorted({name for each in judged for name in each.authors})
    tags = sorted({tag for each in judged for tag in each.tags})
    past = sum(entry.state != "applies" for entry in entries)
    totals = {"": len(entries), "applies": len(entries) - past, "past": past}
    for field, known in (
        (State.finding_author, authors),
        (State.finding_tag, tags),
        (State.finding_state, _STATE_CHOICES),
    ):
        if field.get() not in ("", *known):
            field.set("")
    kinds = {
        kind: f"{finding_card.verdict_label(kind)} {count:,}"
        for kind, count in counts.items()
        if count or kind in state.finding_verdicts
    }
    widgets.several(
        "Verdict", kinds, State.finding_verdicts.key, persist_state="session", help="None chosen shows all."
    )
    states = {key: f"{words} {totals[key]:,}" for key, words in _STATE_CHOICES.items()}
    widgets.switch("State", states, State.finding_state)
    for label, field, known in (("Author", State.finding_author, authors), ("Tag", State.finding_tag, tags)):
        widgets.choice(label, {"": "All", **{text: plain(text) or "All" for text in known}}, field)


def passes(entry: FindingStatus) -> bool:
    """Return whether the filter lets a finding through; what is empty lets all through."""
    judged = entry.judged
    return (
        (not state.finding_verdicts or finding_card.verdict_of(entry) in state.finding_verdicts)
        and (not state.finding_author or state.finding_author in judged.authors)
        and (not state.finding_tag or state.finding_tag in judged.tags)
        and (not state.finding_state or (entry.state == "applies") == (state.finding_state == "applies"))
    )


def table(loaded: LoadedBoxes | None, every: Sequence[FindingGroup]) -> FindingGroup:
    """Draw the list of groups, a sheet at a time; return the chosen one, or the first."""
    sheets = -(-len(every) // _SHEET)
    state.finding_sheet = min(state.finding_sheet, sheets - 1)
    if sheets > 1:
        names = {
            at: f"{at * _SHEET + 1:,} to {min((at + 1) * _SHEET, len(every)):,} of {len(every):,}"
            for at in range(sheets)
        }
        widgets.choice("Groups", names, State.finding_sheet, label_visibility="collapsed", width=190)
    first = state.finding_sheet * _SHEET
    shown = every[first : first + _SHEET]
    targets = [group.entries[0].judged.target for group in shown]
    tasks = [group.task for group in shown]
    cells: dict[str, list[Any]] = {
        "Boxes": [group.boxes if group.cause is not None else None for group in shown],
        "Finding": [title_of(group) for group in shown],
        "Model": [_model(loaded, group) for group in shown],
        "Verdict": [finding_card.verdict_label(group.opinion) for group in shown],
        "Document": [displayed(target.document or "") for target in targets],
        "Page": ["" if (page := target.page) is None else str(page + 1) for target in targets],
        "Judged": [_judged(group) for group in shown],
        "Owner": [plain(task.owner) if task else "" for task in tasks],
        "Due": [task.due if task else "" for task in tasks],
        "Status": [_STATUS_WORDS[task.status] if task else "" for task in tasks],
        "Who": [plain(", ".join(group.authors)) for group in shown],
        "Note": [plain(group.note) for group in shown],
        "State": [", ".join(dict.fromkeys(STATES[entry.state] for entry in group.entries)) for group in shown],
        "Label": [plain(", ".join(dict.fromkeys(_labels(group)))) for group in shown],
        "Tags": [plain(", ".join(dict.fromkeys(_tags(group)))) for group in shown],
        "When": [finding_card.event_time(group.entries[0].judged.last) for group in shown],
    }
    # A column in which nobody has said anything takes the room of the others.
    cells = {name: column for name, column in cells.items() if name not in _MAY_BE_EMPTY or any(column)}
    event: Any = widgets.table(
        cells,
        height=min(640, 26 * (len(shown) + 1) + 14),
        on_select="rerun",
        selection_mode="single-row",
        key="finding_queue",
        placeholder="–",
        columns={name: width for name, width in _WIDTHS.items() if name in cells},
        names="Document",
        alt="Findings in groups, most wrong boxes first",
    )
    rows = event["selection"]["rows"]
    return shown[rows[0]] if rows and rows[0] < len(shown) else shown[0]


def title_of(group: FindingGroup) -> str:
    """Return a group in words: its cause, or what its finding is about."""
    return plain(frame.shorten(group.title, 80)) if group.cause is not None else finding_card.subject(group.entries[0])


def _model(loaded: LoadedBoxes | None, group: FindingGroup) -> str:
    if loaded is None or group.model is None:
        return ", ".join(map(plain, group.entries[0].judged.target.models))
    return next(
        (model.letter for model in loaded.pair if model.index == group.model),
        frame.short_name(loaded.models[group.model]),
    )


def _judged(group: FindingGroup) -> str:
    return f"{len(group.entries):,} of {group.mistakes:,}" if group.cause is not None else ""


def _labels(group: FindingGroup) -> list[str]:
    return [label for entry in group.entries if (label := entry.judged.target.label)]


def _tags(group: FindingGroup) -> list[str]:
    return [tag for entry in group.entries for tag in entry.judged.tags]
