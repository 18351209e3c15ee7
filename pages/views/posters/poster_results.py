"""The view Posters: cached columns of its models, and one poster at a time, its page found by its id."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from evaluator.components.payload import PictureItem, with_notes
from evaluator.components.viewer.payload import SharperEvent
from evaluator.data.issues import Issue
from evaluator.formats import posters as reader
from evaluator.metrics.measures import Measures
from evaluator.pdf.folder import IMAGE_SUFFIXES
from evaluator.pdf.pool import sharpest_width
from evaluator.pdf.problems import PageProblem
from evaluator.protocols import PROTOCOLS, posters
from evaluator.protocols.posters.comparison import PosterComparison, PosterMetrics
from evaluator.protocols.posters.difference import (
    PosterColumns,
    columns_of,
    most_lost_first,
    paired,
    worst_first,
)
from evaluator.protocols.posters.profiles import DEFAULT_WORDS, ProfileName, WordRule, profile_of
from evaluator.protocols.posters.word_places import PageDifference, on_page
from pages.app import pictures
from pages.app.cache import Cached
from pages.app.session_files import POSTERS, PairModel, files, load_files
from pages.app.state import state

PARTS: Final = ("page", "text", "sections", "fields")
MODELS: Final = ("A", "B", "B-A")
# A poster is shown whole first; the reader who zooms in asks for more.
_FIRST_WIDTH: Final = 1_500
_WIDTH_STEP: Final = 1.5


@dataclass(frozen=True, slots=True)
class PosterModel(PairModel):
    """A chosen model with the reference and what it extracted."""

    reference: reader.Posters
    posters: reader.Posters

    @property
    def digests(self) -> tuple[str, str]:
        """Return what identifies both sides as they were read."""
        return POSTERS.digest(self.reference), POSTERS.digest(self.posters)


@dataclass(frozen=True, slots=True)
class PosterEvaluation:
    """The columns of one model, its signature, means, file for download, and measures to compare."""

    columns: PosterColumns
    signature: str
    means: PosterMetrics
    passed: int
    results_json: bytes
    issues: tuple[Issue, ...]
    measures: Measures


_EVALUATED: Final = Cached[PosterEvaluation](12, spinner="Comparing the texts")
_RESULTS: Final = Cached[posters.PostersResult](4, spinner="Comparing the texts")
_COMPARISONS: Final = Cached[PosterComparison](64)


def poster_ids() -> frozenset[str]:
    """Return the ids of every poster of either side."""
    sides = [member.source for member in files(POSTERS).members if member.source is not None]
    return frozenset(key for side in sides for key in (*side.posters, *side.broken))


# --- results -------------------------------------------------------------------------------------------------


def models() -> tuple[PosterModel, ...]:
    """Return the models that can be evaluated, A and, when there are two, B; none without a ground truth."""
    posters = load_files(POSTERS)
    if posters is None:
        return ()
    truth = posters.ground_truth
    return tuple(
        PosterModel(model.index, model.name, model.letter, truth, posters.predictions[model.index])
        for model in posters.pair
    )


def evaluate(model: PosterModel, *, under: ProfileName | None = None) -> PosterEvaluation:
    """Return the columns of a model under the chosen profile, or another one."""
    profile = under or state.poster_profile
    words = words_under(profile)
    return _EVALUATED.of((*model.digests, profile, words), lambda: _evaluated(model, profile, words))


def words_under(profile: ProfileName) -> WordRule:
    """Return the chosen rule for words, which one profile has alone."""
    return state.poster_words if profile == "documented" else DEFAULT_WORDS


def _evaluated(model: PosterModel, profile: ProfileName, words: WordRule = DEFAULT_WORDS) -> PosterEvaluation:
    result = posters.evaluate(model.reference, model.posters, profile=profile, words=words)
    columns = columns_of(result)
    content = json.dumps(result.results_json(), ensure_ascii=False, indent=1, allow_nan=False)
    signature = result.signature.line
    return PosterEvaluation(
        columns,
        signature,
        result.aggregate,
        int(columns.passes.sum()),
        f"{content}\n".encode(),
        result.issues,
        PROTOCOLS[posters.NAME].measures(result),
    )


def result_of(model: PosterModel) -> posters.PostersResult:
    """Return the whole evaluation of a model under the chosen profile."""
    profile = state.poster_profile
    words = words_under(profile)
    make = partial(posters.evaluate, model.reference, model.posters, profile=profile, words=words)
    return _RESULTS.of((*model.digests, profile, words), make)


def comparison(model: PosterModel, poster_id: str, *, under: ProfileName | None = None) -> PosterComparison | None:
    """Return the texts of one poster side by side; None when a side lacks it or is broken."""
    reference, generated = model.reference.posters.get(poster_id), model.posters.posters.get(poster_id)
    if reference is None or generated is None:
        return None
    profile = under or state.poster_profile
    words = words_under(profile)
    key = (reference.sha256, generated.sha256, profile, words)
    return _COMPARISONS.of(key, lambda: PosterComparison(profile_of(profile, words), reference, generated))


def sorted_posters(chosen: tuple[PosterModel, ...]) -> tuple[str, ...]:
    """Return every poster, worst first or most lost by B; those that the model lacks come last, by id."""
    columns = [evaluate(model).columns for model in chosen]
    if len(columns) == 2 and state.poster_of == "B-A":
        return most_lost_first(paired(*columns))
    shown = columns[-1] if state.poster_of == "B" else columns[0]
    return tuple(dict.fromkeys([*worst_first([shown]), *sorted({each for one in columns for each in one.ids})]))


def poster_shown(ordered: tuple[str, ...]) -> str:
    """Return the chosen poster, else the worst one."""
    return state.poster if state.poster in ordered and state.poster else ordered[0]


def open_poster(poster_id: str) -> None:
    """Show another poster; the chosen word is dropped."""
    state.poster, state.poster_box = poster_id, None


# --- the page ------------------------------------------------------------------------------------------------


def picture(poster_id: str) -> PictureItem:
    """Return a poster's page as sharp as the zoom needs, else the first picture with the reason."""
    pages, wanted = pictures.Pages(files(POSTERS).pdfs, poster_id), state.sharper
    first = pictures.picture(pages, 0, width=_FIRST_WIDTH)
    if wanted is None or wanted.document != poster_id or first.problem:
        return first
    sharper = pictures.picture(pages, 0, width=wanted.width)
    if sharper.problem:
        return with_notes(first, [f"No sharper picture: {sharper.problem.title}."])
    return sharper


def prepare(poster_id: str) -> None:
    """Have the picture of a poster as it is first shown and its words ready in the renderer's caches."""
    pictures.prepare(pictures.Pages(files(POSTERS).pdfs, poster_id), 0, width=_FIRST_WIDTH)


def ask_sharper(wanted: SharperEvent, page: tuple[float, float]) -> None:
    """Note that the page is zoomed: the next of a few widths, up to what the pixel budget allows."""
    width = float(_FIRST_WIDTH)
    while width < wanted.width:
        width *= _WIDTH_STEP
    pictures.request_sharper(msgspec.structs.replace(wanted, width=min(round(width), sharpest_width(*page))))


def words(model: PosterModel, poster_id: str) -> PageDifference | None:
    """Return missing and extra words on the page; None without a page or a comparison."""
    compared = comparison(model, poster_id)
    path = page_path(poster_id)
    if compared is None or path is None:
        return None
    try:
        page = pictures.pool().words(path, 0, patience=pictures.PATIENCE)
    except PageProblem:
        # The viewer shows the same problem in the place of the page.
        return None
    return on_page(compared, page.texts, page.boxes)


def page_path(poster_id: str) -> Path | None:
    """Return the document of a poster; None when there is none, or more than one."""
    listing = pictures.pdf_listing(files(POSTERS).pdfs)
    if listing is None:
        return None
    try:
        return listing.find(poster_id)
    except PageProblem:
        return None


def is_image(path: Path) -> bool:
    """Return whether a document is an image, which has no words."""
    return path.suffix.lower() in IMAGE_SUFFIXES
