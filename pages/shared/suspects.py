"""Suspected ground truth as the session holds it: the list of the two models, its filter, the plan of a review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import streamlit as st

from evaluator.drawing.payloads import Rect
from evaluator.drawing.suspect_picture import shares_of, small_picture
from evaluator.metrics.box_results import UNMATCHED, AnyBoxResult
from evaluator.model.boxes import IntArray
from evaluator.model.dataset import Dataset, join
from evaluator.pdf.folder import PdfFolder
from evaluator.review.verdicts import ReviewLog, Target
from evaluator.suspects import planning
from evaluator.suspects.ink import MOST_PAGES, with_ink
from evaluator.suspects.listing import Suspects, suspects
from evaluator.suspects.planning import Bound, Counts, Plan
from evaluator.suspects.ranking import KINDS
from evaluator.suspects.targets import target_of
from evaluator.system.recent import Recent
from pages.shared import pictures
from pages.shared.findings import log as findings
from pages.shared.gallery import crop
from pages.shared.opened import Named, OpenedBoxes
from pages.shared.reading import KEPT, Reading, kept_result
from pages.shared.results import result_of
from pages.shared.state import Field, state

MARGINS: Final = (0.05, 0.03, 0.02, 0.01)
SHOWN: Final = 200
"""Suspects that are listed at once."""
REVIEWED: Final = "reviewed"
"""The tag of a page on which everything was looked at."""


class Entry(NamedTuple):
    """A suspect that is listed: its place in the whole list, and what a verdict on it is about."""

    place: int
    target: Target
    id: str
    """the identity of the verdict; that of the correction as it was proposed"""


class SuspectKey(NamedTuple):
    """What words and ink were read for: the files, the models, and the PDF folder."""

    digests: tuple[str, ...]
    models: tuple[int, ...]
    pdfs: str


READING: Final[Field[Reading[SuspectKey, Suspects] | None]] = Field(None, "suspect_reading")
"""What the session reads of the pages of suspects, or has read."""
LAST: Final[Field[Entry | None]] = Field(None, "suspect_last")
"""The suspect that was answered last."""


def listed(loaded: OpenedBoxes) -> Suspects:
    """All suspects by the two chosen models, whatever their score thresholds; with words and ink once they are read."""
    return with_pages(loaded) or _listed(*_key(loaded)[:2], _dataset=loaded.dataset)


def _key(loaded: OpenedBoxes) -> SuspectKey:
    return SuspectKey(loaded.digests, tuple(model.index for model in loaded.pair), str(loaded.project.pdfs))


@st.cache_resource(show_spinner=False)
def _read() -> Recent[SuspectKey, Suspects]:
    """What this process has read to its end."""
    return Recent(most=KEPT)


def with_pages(loaded: OpenedBoxes) -> Suspects | None:
    """The suspects with what their pages say; None while these are not read."""
    return kept_result(READING.get(), _key(loaded), _read())


def read_pages(loaded: OpenedBoxes) -> None:
    """Begin to read words and ink of the likeliest suspects' pages; what this session has under way is stopped."""
    under_way = READING.get()
    if under_way is not None:
        under_way.stop()
    root, key = loaded.project.pdfs, _key(loaded)
    if root is None:
        return
    _read().drop(key)
    plain, pool = _listed(*key[:2], _dataset=loaded.dataset), pictures.pool()
    job: Reading[SuspectKey, Suspects] = Reading(key, min(MOST_PAGES, loaded.dataset.pages))
    READING.set(job)
    job.start(lambda count: with_ink(plain, PdfFolder(root), pool, count=count))


@st.cache_resource(max_entries=8, show_spinner="Comparing the ground truth with the models")
def _listed(digests: tuple[str, ...], models: tuple[int, ...], *, _dataset: Dataset) -> Suspects:
    sources = [_dataset.predictions[model].source for model in models]
    return suspects(join(_dataset.ground_truth.source, *sources))


def counts(every: Suspects) -> dict[str, int]:
    """How many suspects of each kind pass the filter but for the kind; "" for all."""
    kinds = every.ranked.kind[_passing(every)]
    return {"": len(kinds), **{kind: int((kinds == code).sum()) for code, kind in enumerate(KINDS)}}


def _passing(every: Suspects) -> IntArray:
    """Places of the suspects that pass the filter of document, label and evidence."""
    ranked, dataset = every.ranked, every.dataset
    keep = ranked.score >= state.suspect_least
    if state.within in dataset.document_code:
        keep &= dataset.page_document[ranked.page] == dataset.document_code[state.within]
    if state.label in dataset.labels:
        keep &= (ranked.label == dataset.labels.index(state.label)) | (
            ranked.new_label == dataset.labels.index(state.label)
        )
    return np.flatnonzero(keep)


def queue(every: Suspects, log: ReviewLog, signature: str) -> list[Entry]:
    """The suspects to show, most likely first, at most `SHOWN` of them."""
    entries: list[Entry] = []
    places = _passing(every)
    if state.suspect_kind in KINDS:
        places = places[every.ranked.kind[places] == KINDS.index(state.suspect_kind)]
    for place in places.tolist():
        target = target_of(every, place, signature=signature)
        judged = log.get(target.id)
        if state.suspect_unjudged and judged is not None and judged.opinions:
            continue
        entries.append(Entry(place, target, target.id))
        if len(entries) == SHOWN:
            break
    return entries


# --- pictures --------------------------------------------------------------------------------------------------------

PICTURES: Final = 12
"""Rows of the queue that have a picture at once: those of the block with the chosen one."""


class _PictureKey(NamedTuple):
    """What a picture follows from: the files, the listing of the PDFs, the page, and the boxes on it."""

    digests: tuple[str, ...]
    listing: str
    document: str
    page: int
    now: Rect | None
    proposed: Rect | None


class _NotDrawn(Exception):
    """The page cannot be drawn just now, which is not to be remembered."""


def small_pictures(loaded: OpenedBoxes, every: Suspects, entries: Sequence[Entry], chosen: int) -> list[str | None]:
    """The small picture of each entry; None for those far from the chosen one, and where there is none."""
    first = chosen // PICTURES * PICTURES
    return [
        _small_picture(loaded, every, entry) if first <= at < first + PICTURES else None
        for at, entry in enumerate(entries)
    ]


def _small_picture(loaded: OpenedBoxes, every: Suspects, entry: Entry) -> str | None:
    """The picture of one entry; None without PDFs, and where the page cannot be drawn."""
    pdfs = loaded.project.pdfs
    now, proposed = (box_of(every, entry, side) for side in ("ground_truth", "prediction"))
    if now is None and proposed is None:
        return None
    listing = f"{pdfs} {id(pictures.pdf_listing(pdfs))}"
    key = _PictureKey(loaded.digests, listing, entry.target.document or "", entry.target.page or 0, now, proposed)
    try:
        return _drawn(key, _loaded=loaded)
    except _NotDrawn:
        return None


@st.cache_data(max_entries=500, show_spinner=False)
def _drawn(key: _PictureKey, *, _loaded: OpenedBoxes) -> str:
    boxes = [box for box in (key.now, key.proposed) if box is not None]
    drawn = small_picture(crop(_loaded, key.document, key.page, boxes), now=key.now, proposed=key.proposed)
    if drawn is None:
        raise _NotDrawn
    return drawn


def box_of(every: Suspects, entry: Entry, side: Literal["ground_truth", "prediction"]) -> Rect | None:
    """The box as it is ("ground_truth") or as proposed, as shares of the page; None where there is none."""
    row = int(every.ranked.page[entry.place])
    boxes = entry.target.of(side)
    return shares_of(every.dataset, row, boxes[0].xyxy) if boxes else None


# --- how much to review ----------------------------------------------------------------------------------------------


class Known(NamedTuple):
    """The plan for a model, and what is known of its recall."""

    model: Named
    plan: Plan
    bound: Bound
    reviewed: Mapping[int, Counts]


def known(loaded: OpenedBoxes, every: Suspects) -> list[Known]:
    """The plan and the bound of each of the two models; the pages are the same."""
    dataset, log = loaded.dataset, findings.review_log()
    # The two models may name other pages than all models together; suspects are put where all models see them.
    page = dataset.page_rows(every.dataset)[every.ranked.page]
    here = page >= 0
    expected = np.bincount(page[here], every.ranked.score[here], minlength=dataset.pages).astype(np.float64)
    done = _reviewed(dataset, log)
    answers = []
    for model in loaded.pair:
        boxes, matched = per_page(result_of(loaded, model))
        planned = planning.plan(boxes, matched, expected, margin=state.suspect_margin)
        corrected = findings.corrected_of(loaded, model)
        after = (boxes, matched) if corrected is None else per_page(corrected.result)
        reviewed = {row: Counts(int(after[0][row]), int(after[1][row])) for row in done}
        answers.append(Known(model, planned, planning.bound(planned, reviewed), reviewed))
    return answers


def per_page(result: AnyBoxResult) -> tuple[IntArray, IntArray]:
    """Ground truth boxes of each page, and how many of them are matched."""
    dataset, counting = result.matching.dataset, result.matching.truth_counts
    page = dataset.ground_truth.page
    partnered = counting & (result.truth_partner != UNMATCHED)
    boxes, matched = (np.bincount(page[rows], minlength=dataset.pages) for rows in (counting, partnered))
    return boxes.astype(np.int64), matched.astype(np.int64)


def page_of(dataset: Dataset, row: int) -> tuple[str, int]:
    """Id of the document and page from 0."""
    return dataset.documents[dataset.page_document[row]].doc_id, int(dataset.page_index[row])


def _reviewed(dataset: Dataset, log: ReviewLog) -> list[int]:
    """Rows of the pages of which somebody stated that everything was looked at."""
    rows = []
    for judged in log.judged.values():
        target = judged.target
        if target.kind != "page" or target.document is None or target.page is None:
            continue
        if any(REVIEWED in event.tags for event in judged.opinions):
            row = dataset.page_row(target.document, target.page)
            rows += [] if row is None else [row]
    return rows


def next_page(answer: Known) -> int | None:
    """Row of the next page of the plan; None when all are reviewed."""
    return next((row for row in answer.plan.order.tolist() if row not in answer.reviewed), None)


class PlannedPage(NamedTuple):
    """A page of the plan: its place in the order from 1, which it is, its boxes, and whether it is reviewed."""

    number: int
    document: str
    page: int
    boxes: int
    reviewed: bool


def planned_pages(answer: Known, dataset: Dataset) -> list[PlannedPage]:
    """The pages to review, in order, up to where the margin is expected to be reached; at most `SHOWN`."""
    count = answer.bound.reviewed + answer.bound.more
    return [
        PlannedPage(number, *page_of(dataset, row), int(answer.plan.boxes[row]), row in answer.reviewed)
        for number, row in enumerate(answer.plan.order[: min(count, SHOWN)].tolist(), 1)
    ]
