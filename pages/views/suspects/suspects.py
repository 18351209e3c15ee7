"""Suspected ground truth of a session: the list by the two models, its filter, the plan of a review."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.analysis.suspects import review_plan
from evaluator.analysis.suspects.listing import Suspects, suspect_target, suspects, with_correction
from evaluator.analysis.suspects.page_evidence import MOST_PAGES, with_page_evidence
from evaluator.analysis.suspects.ranking import KINDS
from evaluator.analysis.suspects.review_plan import Bound, Counts, Plan
from evaluator.components.gallery.payload import CropItem
from evaluator.components.payload import PictureItem
from evaluator.components.suspects.payload import SuspectsPayload, SuspectStateItem, SuspectVerdictEvent
from evaluator.components.suspects.view import in_file, picture_key, shares_of, suspects_payload
from evaluator.components.viewer.judged import judged_item
from evaluator.data.boxes import IntArray
from evaluator.data.dataset import Dataset, join
from evaluator.matching.box_results import AnyBoxResult
from evaluator.pdf.folder import PdfFolder
from evaluator.review.correction_effect import PageFiles, counts_of, effect, effect_words
from evaluator.review.verdicts import ReviewLog, Target
from evaluator.review.verdicts import judge as judge_target
from evaluator.system.lru_cache import LRUCache
from pages.app import components, pictures
from pages.app.cache import Cached
from pages.app.jobs import Jobs
from pages.app.results import result_of
from pages.app.session_files import LoadedBoxes, PairModel, Place
from pages.app.state import AnyField, State, is_narrowed, reset, state
from pages.views.findings import findings
from pages.views.gallery.gallery_items import crop

MARGINS: Final = (0.05, 0.03, 0.02, 0.01)
SHOWN: Final = 200
"""Suspects that are listed at once."""
CORRECTED: Final = "ground_truth_wrong"
"""The verdict that accepts a correction."""
_FILTER: Final[tuple[AnyField, ...]] = (State.within, State.label, State.suspect_kind, State.suspect_least)
_READER: Final = "reader"
"""Who would accept a suspect, while nobody is named."""
REVIEWED: Final = "reviewed"
"""The tag of a page on which everything was looked at."""
_LISTED: Final = Cached[Suspects](8, spinner="Comparing the ground truth with the models")
_PAYLOADS: Final = Cached[SuspectsPayload](16)


class Entry(NamedTuple):
    """A suspect that is listed: its place in the whole list, and what a verdict on it is about."""

    place: int
    target: Target


class SuspectKey(NamedTuple):
    """What words and ink were read for: the files, the models, and the PDF folder."""

    digests: tuple[str, ...]
    models: tuple[int, ...]
    pdfs: str


READING: Final[Jobs[SuspectKey, Suspects]] = Jobs("suspect_reading")
"""What the session reads of the pages of suspects, or has read."""


def list_suspects(loaded: LoadedBoxes) -> Suspects:
    """Return all suspects by the two models, at any score; with words and ink once they are read."""
    return with_pages(loaded) or _without_pages(loaded)


def _key(loaded: LoadedBoxes) -> SuspectKey:
    return SuspectKey(loaded.digests, tuple(model.index for model in loaded.pair), str(loaded.project.pdfs))


def with_pages(loaded: LoadedBoxes) -> Suspects | None:
    """Return the suspects with what their pages say; None while these are not read."""
    return READING.result(_key(loaded))


def read_pages(loaded: LoadedBoxes) -> None:
    """Begin to read words and ink of the likeliest pages; what is under way is stopped."""
    root, key = loaded.project.pdfs, _key(loaded)
    if root is None:
        return
    plain, pool, pages = _without_pages(loaded), pictures.pool(), loaded.dataset.pages
    READING.start(
        key, lambda note: with_page_evidence(plain, PdfFolder(root), pool, count=note), total=min(MOST_PAGES, pages)
    )


def _without_pages(loaded: LoadedBoxes) -> Suspects:
    digests, models, _ = _key(loaded)
    sources = [loaded.dataset.predictions[model].source for model in models]
    return _LISTED.of((digests, models), lambda: suspects(join(loaded.dataset.ground_truth.source, *sources)))


def open_unanswered() -> None:
    """List every suspect without an answer."""
    clear_filter()
    state.suspect_unjudged = True


def counts(every: Suspects) -> dict[str, int]:
    """Return how many suspects of each kind pass the rest of the filter; "" for all."""
    places = _passing(every)
    kinds = every.ranked.kind[_unanswered(every, places) if state.suspect_unjudged else places]
    return {"": len(kinds), **{kind: int((kinds == code).sum()) for code, kind in enumerate(KINDS)}}


def count_unanswered(every: Suspects) -> int:
    """Return how many suspects `open_unanswered` lists."""
    return len(_unanswered(every, np.flatnonzero(every.ranked.score >= State.suspect_least.start)))


def _unanswered(every: Suspects, places: IntArray) -> IntArray:
    log = findings.review_log()
    if not len(log):
        return places
    judged = (log.get(suspect_target(every, place).id) for place in places.tolist())
    return places[[each is None or not each.opinions for each in judged]]


def _passing(every: Suspects) -> IntArray:
    ranked, dataset = every.ranked, every.dataset
    keep = ranked.score >= state.suspect_least
    if state.within in dataset.document_code:
        keep &= dataset.page_document[ranked.page] == dataset.document_code[state.within]
    if state.label in dataset.labels:
        keep &= (ranked.label == dataset.labels.index(state.label)) | (
            ranked.new_label == dataset.labels.index(state.label)
        )
    return np.flatnonzero(keep)


class FilteredSuspects(NamedTuple):
    """The listed suspects, and how many more there are."""

    entries: list[Entry]
    more: int


def is_filtered() -> bool:
    """Return whether the list shows some of the suspects only."""
    return is_narrowed(_FILTER)


def clear_filter() -> None:
    """Show every suspect again."""
    reset(_FILTER)


def filtered_suspects(every: Suspects, log: ReviewLog, signature: str) -> FilteredSuspects:
    """Return up to `SHOWN` suspects without a verdict, likeliest first, and the judged ones between."""
    entries: list[Entry] = []
    places = _passing(every)
    if state.suspect_kind in KINDS:
        places = places[every.ranked.kind[places] == KINDS.index(state.suspect_kind)]
    without = 0
    for place in places.tolist():
        target = suspect_target(every, place, signature=signature)
        judged = log.get(target.id)
        without += judged is None or not judged.opinions
        if without > SHOWN:
            break
        entries.append(Entry(place, target))
    return FilteredSuspects(entries, len(places) - len(entries))


def payload(loaded: LoadedBoxes, every: Suspects, listed_now: FilteredSuspects, held: str) -> SuspectsPayload:
    """Return the list, unless the browser has it (`held`), with its verdicts and the wanted pictures."""
    names = [(model.letter, model.name) for model in loaded.pair]
    key = _list_key(loaded, every, listed_now.entries)
    made = _PAYLOADS.of(key, lambda: suspects_payload(every, listed_now.entries, names, more=0))
    log = findings.review_log()
    states = {}
    for entry in listed_now.entries:
        identity = entry.target.id
        judged = log.get(identity)
        one = SuspectStateItem(
            verdict=None if judged is None else judged_item(judged),
            unsaved=findings.unsaved_item(findings.unsaved(identity)),
        )
        if one != SuspectStateItem():
            states[identity] = one
    pages, crops = _pictures(loaded, every)
    return msgspec.structs.replace(
        made,
        more=listed_now.more,
        suspects=None if made.set == held else made.suspects,
        states=states,
        only_open=state.suspect_unjudged,
        pages=pages,
        crops=crops,
        effects=_effects(loaded, every),
        reviewer=findings.author()[0],
        answered=state.answered,
    )


def _list_key(loaded: LoadedBoxes, every: Suspects, entries: Sequence[Entry]) -> str:
    """Return what the list follows from: files, models, which suspects, and what their pages said."""
    places = np.array([entry.place for entry in entries], dtype=np.int64)
    notes = [every.notes[place] for place in places.tolist()] if every.notes else []
    models = [(model.index, model.name) for model in loaded.pair]
    words = repr((loaded.digests, models, notes))
    content = words.encode("utf-8", "backslashreplace"), places.tobytes(), every.ranked.score[places].tobytes()
    return hashlib.blake2b(b"\0".join(content), digest_size=16).hexdigest()


def _pictures(loaded: LoadedBoxes, every: Suspects) -> tuple[dict[str, PictureItem], dict[str, CropItem]]:
    wanted = State.suspects_wanted.pop()
    if wanted is None:
        return {}, {}
    pages, crops = {}, {}
    for place in _known(every, wanted.pages):
        suspect = every[place]
        key = picture_key(suspect.document, suspect.page)
        if key not in pages:
            pages[key] = pictures.page_picture(loaded, Place(suspect.document, suspect.page))
    for place in _known(every, wanted.crops):
        target, row = suspect_target(every, place), int(every.ranked.page[place])
        boxes = [box for box in (shares_of(every.dataset, row, each.xyxy) for each in target.boxes) if box is not None]
        crops[target.id] = crop(loaded, target.document or "", target.page or 0, boxes)
    return pages, crops


def _effects(loaded: LoadedBoxes, every: Suspects) -> dict[str, list[str]]:
    log, (name, verified) = findings.review_log(), findings.author()
    now = []
    for model in loaded.pair:
        after = findings.corrected_of(loaded, model)
        now.append((model.letter, result_of(loaded, model) if after is None else after.result))
    effects = {}
    for place in _known(every, state.suspects_near):
        target = suspect_target(every, place)
        said = judge_target(
            target, verdict=CORRECTED, author=name or _READER, verified=verified, time=datetime.now(UTC)
        )
        page = PageFiles(loaded.dataset, target.document or "", target.page or 0)
        effects[target.id] = [
            effect_words(letter, counts_of(result), effect(result, page, log, said)) for letter, result in now
        ]
    return effects


def _known(every: Suspects, places: Sequence[int]) -> list[int]:
    """Return the places that exist, at most as many as one message asks for: they come from a browser."""
    return [place for place in places[: components.MOST_WANTED] if 0 <= place < len(every)]


def judge(every: Suspects, event: SuspectVerdictEvent, signature: str) -> None:
    """Keep a verdict that the browser sent; one on a suspect that is not there any more is not taken."""
    if not 0 <= event.number < len(every):
        return
    target = suspect_target(every, event.number, signature=signature)
    if target.id != event.target:
        return
    identity = target.id
    if event.verdict == CORRECTED and event.label is not None and event.xyxy is not None:
        box = in_file(every.dataset, int(every.ranked.page[event.number]), event.xyxy)
        if box is None or not 0 <= event.label < len(every.dataset.labels):
            return
        try:
            target = with_correction(target, every.dataset.labels[event.label], box)
        except ValueError:
            # The browser does not send a box without area.
            return
    findings.save_event(event, {identity: target})


# --- how much to review ----------------------------------------------------------------------------------------------

# The last plan for some files: at another threshold other boxes are matched, and the draw of the pages stays.
_PLANS: Final = LRUCache[tuple[str, ...], Plan](most=4)


class PlanProgress(NamedTuple):
    """The plan for a model, and what is known of its recall; `reviewed` is by page row."""

    model: PairModel
    plan: Plan
    bound: Bound
    reviewed: Mapping[int, Counts]


def plan_progress(loaded: LoadedBoxes, every: Suspects) -> list[PlanProgress]:
    """Return the plan and the bound of each of the two models; the pages are the same."""
    dataset, log = loaded.dataset, findings.review_log()
    # The two models may name other pages than all models together; suspects are put where all models see them.
    page = dataset.page_rows(every.dataset)[every.ranked.page]
    here = page >= 0
    expected = np.bincount(page[here], every.ranked.score[here], minlength=dataset.pages).astype(np.float64)
    done = _reviewed(dataset, log)
    answers = []
    for model in loaded.pair:
        boxes, matched = per_page(result_of(loaded, model))
        earlier = _PLANS.get(loaded.digests)
        planned = review_plan.plan(boxes, matched, expected, margin=state.suspect_margin, earlier=earlier)
        _PLANS.put(loaded.digests, planned)
        corrected = findings.corrected_of(loaded, model)
        after = (boxes, matched) if corrected is None else per_page(corrected.result)
        reviewed = {row: Counts(int(after[0][row]), int(after[1][row])) for row in done}
        answers.append(PlanProgress(model, planned, review_plan.bound(planned, reviewed), reviewed))
    return answers


def per_page(result: AnyBoxResult) -> tuple[IntArray, IntArray]:
    """Return the ground-truth boxes of each page, and how many of them are matched."""
    counts = result.per_page
    return counts.tp + counts.fn, counts.tp


def page_of(dataset: Dataset, row: int) -> tuple[str, int]:
    """Return document id and page from 0."""
    return dataset.documents[dataset.page_document[row]].doc_id, int(dataset.page_index[row])


def _reviewed(dataset: Dataset, log: ReviewLog) -> list[int]:
    rows = []
    for judged in log.judged.values():
        target = judged.target
        if target.kind != "page" or target.document is None or target.page is None:
            continue
        if any(REVIEWED in event.tags for event in judged.opinions):
            row = dataset.page_row(target.document, target.page)
            rows += [] if row is None else [row]
    return rows


def next_page(answer: PlanProgress) -> int | None:
    """Return the row of the next page of the plan; None when all are reviewed."""
    return next((row for row in answer.plan.order.tolist() if row not in answer.reviewed), None)


class PlannedPage(NamedTuple):
    """A page of the plan: its place in the order from 1, its boxes, and whether it is reviewed."""

    number: int
    document: str
    page: int
    boxes: int
    reviewed: bool


def planned_pages(answer: PlanProgress, dataset: Dataset) -> list[PlannedPage]:
    """Return the pages to review, in order, until the margin is expected; at most `SHOWN`."""
    count = answer.bound.reviewed + answer.bound.more
    return [
        PlannedPage(number, *page_of(dataset, row), int(answer.plan.boxes[row]), row in answer.reviewed)
        for number, row in enumerate(answer.plan.order[: min(count, SHOWN)].tolist(), 1)
    ]
