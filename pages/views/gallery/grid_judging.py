"""Verdicts in Grid: what reviewers say of each place, and what they say now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from evaluator.components.gallery.payload import GridCauseItem, GroupItem, JudgeItem
from evaluator.components.viewer.judged import judged_item
from evaluator.components.viewer.mistake_filter import side_words
from evaluator.components.viewer.payload import JudgedItem
from evaluator.data.boxes import BoolArray, IntArray
from evaluator.data.issues import count_of, displayed, name_in_list, plain
from evaluator.matching.causes import Causes, Family, family_title
from evaluator.matching.error_types import NONE
from evaluator.review.finding_groups import MOST_AT_ONCE, targets_of_causes
from evaluator.review.verdicts import Target
from pages.app.results import Result, result_of
from pages.app.session_files import LoadedBoxes, Model
from pages.app.state import Field, state
from pages.views.browser import page_listing
from pages.views.findings import findings
from pages.views.gallery.gallery_items import CARDS, GridPart, ShownItems

# Why the last act was not saved, and what its targets had before it: verdict and note by id.
_PROBLEM: Final[Field[str]] = Field("", "grid_problem")
_BEFORE: Final[Field[Mapping[str, tuple[Target, str | None, str]]]] = Field({}, "grid_before")


def part(loaded: LoadedBoxes, model: Model, shown: ShownItems, first: int, families: Sequence[Family]) -> GridPart:
    """Return what Grid has beside its cards, for the sheet that begins at place `first` of those that are shown."""
    assert shown.causes is not None
    made, chosen = shown.result.causes, state.gallery_question
    judged = page_listing.judged_causes(loaded, model)
    rail = [
        GridCauseItem(
            title=displayed(family_title(family)),
            boxes=int(made.boxes[rows].sum()),
            judged=float(judged[rows].mean()),
            chosen=chosen is not None and chosen.cause == family,
        )
        for family, rows in zip(families, made.alike.values(), strict=True)
    ]
    return GridPart(
        groups=_groups(shown.result, shown.causes, judged, first),
        causes=rail,
        by_cause=state.gallery_sort == "costliest",
        verdicts=_verdicts(loaded, model, shown.result, shown.causes[first : first + CARDS]),
        reviewer=findings.author()[0],
        answered=state.answered,
        problem=problem(),
    )


def _groups(result: Result, rows: IntArray, judged: BoolArray, first: int) -> list[GroupItem]:
    titles = _titles(result, rows)
    if titles is None or not len(rows):
        return []
    starts = [at for at in range(len(rows)) if at == 0 or titles[at] != titles[at - 1]]
    made = []
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        if end <= first or start >= first + CARDS:
            continue
        own = rows[start:end]
        made.append(
            GroupItem(
                title=titles[start],
                words=_group_words(result.causes, own),
                first=max(start - first, 0),
                places=len(own),
                judged=int(judged[own].sum()),
            )
        )
    return made


def _titles(result: Result, rows: IntArray) -> list[str] | None:
    made, dataset = result.causes, result.matching.dataset
    if state.gallery_sort == "costliest":
        return [displayed(family_title(made.family(row))) for row in rows.tolist()]
    if state.gallery_sort == "label":
        return [displayed(made.family(row).label) or "Several labels" for row in rows.tolist()]
    if state.gallery_sort == "page":
        pages = made.page[rows]
        names = [name_in_list(dataset.documents[code].name) for code in dataset.page_document[pages].tolist()]
        return [f"{name}, page {at + 1}" for name, at in zip(names, dataset.page_index[pages].tolist(), strict=True)]
    return None


def _group_words(made: Causes, rows: IntArray) -> str:
    missed, extra = made.counts[rows].sum(axis=0).tolist()
    parts = side_words(extra, missed, ("extra (FP)", "missed (FN)"))
    said = f"{count_of(missed + extra, 'wrong box')} at {count_of(len(rows), 'place')}"
    return f"{said}: {parts}" if parts else said


def _verdicts(loaded: LoadedBoxes, model: Model, result: Result, rows: IntArray) -> list[list[JudgedItem | None]]:
    judged = page_listing.said_of_mistakes(loaded, model, result.mistakes)
    said = {number: judged_item(each) for number, each in judged.items()}
    every = (result.causes.rows[row].tolist() for row in rows.tolist())
    return [[said.get(each) for each in own] if any(each in said for each in own) else [] for own in every]


# --- what is said now ----------------------------------------------------------------------------------------


def handle(loaded: LoadedBoxes, model: Model, acts: Sequence[JudgeItem] | None) -> None:
    """Save the acts of a reviewer on mistakes of boxes."""
    save_acts(acts, lambda act: _targets(loaded, model, act))


def save_acts(acts: Sequence[JudgeItem] | None, targets_of: Callable[[JudgeItem], Mapping[str, Target]]) -> None:
    """Save the acts of a reviewer that are not answered yet, in order; the last can be taken back."""
    for act in findings.newly_said(acts):
        findings.set_author(act.name)
        _PROBLEM.set("")
        if act.undo:
            _save(_BEFORE.get(), act.id)
            _BEFORE.set({})
            continue
        targets = targets_of(act)
        if not targets or _too_many(len(targets)):
            continue
        before = {}
        for key, target in targets.items():
            own = findings.own_opinion(key)
            before[key] = (target, own.verdict, own.note) if own else (target, None, "")
        _BEFORE.set(before)
        _save({key: (target, act.verdict, note) for key, (target, _, note) in before.items()}, act.id)


def problem() -> str:
    """Return why the last act was not saved."""
    return _PROBLEM.get()


def _too_many(mistakes: int) -> bool:
    if mistakes <= MOST_AT_ONCE:
        return False
    state.verdict_refused = False
    _PROBLEM.set(f"Too many mistakes for one verdict, which takes at most {MOST_AT_ONCE:,}.")
    return True


def _targets(loaded: LoadedBoxes, model: Model, act: JudgeItem) -> Mapping[str, Target]:
    result = result_of(loaded, model)
    made = result.causes
    numbers = [result.mistakes.of_box(key.rpartition("/")[2]) for key in act.keys]
    rows = [int(made.of_mistake[number]) for number in numbers if number != NONE]
    if not rows:
        return {}
    if act.everywhere:
        alike = made.alike[made.family(rows[0])]
        rows = [rows[0], *alike[~page_listing.judged_causes(loaded, model)[alike]].tolist()]
    asked = np.unique(np.array(rows))
    if _too_many(sum(len(made.rows[row]) for row in asked.tolist())):
        return {}
    return targets_of_causes(result, asked, findings.review_log())


def _save(said: Mapping[str, tuple[Target, str | None, str]], act: str) -> None:
    """Save verdicts, those with one verdict and note together, under ids that follow from that of the act."""
    state.verdict_refused = False
    together: dict[tuple[str | None, str], dict[str, Target]] = {}
    for key, (target, verdict, note) in said.items():
        together.setdefault((verdict, note), {})[key] = target
    for place, ((verdict, note), targets) in enumerate(together.items()):
        unsaved = findings.save_all(targets, verdict=verdict, note=note, event_id=f"{act}-{place}")
        if unsaved is not None:
            _PROBLEM.set(plain(unsaved.words))
