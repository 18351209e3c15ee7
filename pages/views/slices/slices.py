"""The slices of the chosen results, searched once for each, and what the PDFs say about their boxes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple, cast

from evaluator.analysis.slices.all_measures import find_by_all_measures
from evaluator.analysis.slices.attributes import FROM_PDFS
from evaluator.analysis.slices.averages import find_by_average
from evaluator.analysis.slices.conditions import Condition, subject
from evaluator.analysis.slices.detail import overall as measured_overall
from evaluator.analysis.slices.measure_values import ALL, MEASURES, WORDS, Measure, is_average
from evaluator.analysis.slices.pdf_pages import PdfAttributes, of_pdf_pages
from evaluator.analysis.slices.search import SearchCache
from evaluator.analysis.slices.slices import Slice, Slices, boxes_in, find_slices, signature_of
from evaluator.components.slices.payload import SlicesPayload
from evaluator.components.slices.rows import overall_words, slices_payload
from evaluator.matching.box_items import Inside, Query, SliceOf
from evaluator.pdf.folder import PdfFolder
from evaluator.protocols.base import BoxEvaluation
from pages.app import jobs, pictures
from pages.app.cache import Cached
from pages.app.results import Result, ResultKey, evaluation_of, result_key, result_of
from pages.app.session_files import LoadedBoxes, Model, PairModel
from pages.app.state import state

_Searched = tuple[Slices, SlicesPayload]
_FOUND: Final = Cached[Slices](16)
_OVERALL: Final = Cached[str](64)
_INSIDE: Final = Cached[Inside](16)


class _SearchKey(NamedTuple):
    """What a search follows from: the results that are searched, the measure, what was read of PDFs."""

    searched: tuple[ResultKey, ...]
    measure: str
    pdfs: str

    @property
    def at_any(self) -> _SearchKey:
        return self._replace(searched=tuple(each._replace(min_score=0.0, iou=0.0) for each in self.searched))


class _ShownKey(NamedTuple):
    """What the list follows from: the search, and the results that are shown."""

    search: _SearchKey
    shown: tuple[ResultKey, ...]
    names: tuple[tuple[str, str], ...]


# --- what the PDFs say -----------------------------------------------------------------------------------------


class ReadKey(NamedTuple):
    """What was read: the files, the PDF folder, and the models whose boxes have attributes."""

    digests: tuple[str, ...]
    pdfs: str
    models: tuple[int, ...]


READING: Final[jobs.Jobs[ReadKey, PdfAttributes]] = jobs.Jobs("slices_reading")
"""What the session reads of the PDFs, or has read."""


def _read_key(loaded: LoadedBoxes) -> ReadKey:
    return ReadKey(loaded.digests, str(loaded.project.pdfs), tuple(model.index for model in loaded.pair))


def pdf_facts(loaded: LoadedBoxes) -> PdfAttributes | None:
    """Return what the PDFs say about pages and boxes; None while they are not read."""
    return READING.result(_read_key(loaded))


def read_pdfs(loaded: LoadedBoxes) -> None:
    """Begin to read the PDFs; what this session has under way is stopped."""
    root, key = loaded.project.pdfs, _read_key(loaded)
    if root is None:
        return
    dataset, pool = loaded.dataset, pictures.pool()
    sides = [dataset.ground_truth, *(dataset.predictions[model.index] for model in loaded.pair)]
    READING.start(key, lambda note: of_pdf_pages(dataset, sides, PdfFolder(root), pool, note), total=dataset.pages)


def _pdfs(loaded: LoadedBoxes) -> str:
    """Return what was read, for the keys of caches; another text after reading again."""
    seen = pdf_facts(loaded)
    return "" if seen is None else f"{loaded.project.pdfs} {id(seen)}"


def pdf_attributes(loaded: LoadedBoxes, models: Sequence[Model]) -> PdfAttributes:
    """Return attributes of pages, and of boxes of the ground truth and some models; empty while no PDF is read."""
    seen = pdf_facts(loaded)
    if seen is None:
        return PdfAttributes({}, ())
    places = [each.index for each in loaded.pair]
    of_models = [seen.of_boxes[1 + places.index(model.index)] for model in models]
    return PdfAttributes(seen.of_pages, (seen.of_boxes[0], *of_models))


# --- the search ------------------------------------------------------------------------------------------------

LARGE_BOXES: Final = 50_000
"""From so many boxes on a search shows how far it is, and can be cancelled."""
# Of the last search of this server: another IoU threshold asks for the same boxes again.
_SEARCH_CACHE: Final = SearchCache(most=1 << 20)


class _Choice(NamedTuple):
    searched: list[PairModel]
    results: dict[str, Result]
    key: _ShownKey


def _choice(loaded: LoadedBoxes, of: str, measure: str) -> _Choice:
    letters = ["A", "B"] if of == "B-A" else [of]
    searched = [model for model in loaded.pair if model.letter in letters]
    key = _SearchKey(tuple(result_key(loaded, model) for model in searched), measure, _pdfs(loaded))
    # Averages rank all predictions at the thresholds of the protocol.
    of_search = key.at_any if is_average(measure) else key
    shown = tuple(result_key(loaded, model) for model in loaded.pair)
    names = tuple((model.letter, model.name) for model in loaded.pair)
    results = {model.letter: result_of(loaded, model) for model in loaded.pair}
    return _Choice(searched, results, _ShownKey(of_search, shown, names))


def search(loaded: LoadedBoxes, of: str, measure: str) -> _Searched | None:
    """Return the slices of A, B or "B-A", and how they are shown; None when cancelled."""
    choice = _choice(loaded, of, measure)
    searched = [choice.results[model.letter] for model in choice.searched]
    results = list(choice.results.values())
    evaluations = [evaluation_of(loaded, model) for model in choice.searched] if is_average(measure) else []
    find = partial(_search, measure, searched, evaluations, pdf_attributes(loaded, choice.searched))

    def listed() -> _Searched:
        slices = _FOUND.of(choice.key.search, find)
        return slices, slices_payload(slices, choice.key.names, results, searched)

    boxes = sum(map(len, (loaded.dataset.ground_truth, *loaded.dataset.predictions)))
    return jobs.search_slices(choice.key, listed, long=boxes >= LARGE_BOXES)


def _search(
    measure: str, searched: Sequence[Result], evaluations: Sequence[BoxEvaluation], known: PdfAttributes
) -> Slices:
    if measure == ALL:
        return find_by_all_measures(searched, of_pages=known.of_pages, of_boxes=known.of_boxes)
    if is_average(measure):
        line = signature_of([each.signature.line for each in evaluations])
        return find_by_average(evaluations, measure, of_pages=known.of_pages, signature=line)
    one = cast("Measure", measure)
    return find_slices(searched, measure=one, of_pages=known.of_pages, of_boxes=known.of_boxes, cache=_SEARCH_CACHE)


def overall(loaded: LoadedBoxes, of: str, measure: str) -> str:
    """Return a choice's measure over all boxes of each shown model, in words; "" for an average."""
    if is_average(measure):
        return ""
    choice = _choice(loaded, of, measure)
    measures = MEASURES if measure == ALL else (cast("Measure", measure),)

    def words() -> str:
        results = list(choice.results.values())
        searched = [choice.results[model.letter] for model in choice.searched]
        every = [measured_overall(each, results, searched) for each in measures]
        return overall_words(every, list(choice.results))

    return _OVERALL.of((choice.key, measures), words)


def questions(loaded: LoadedBoxes, model: Model) -> list[Query]:
    """Return the questions that the list of slices of a model opens, by the measure of the view Slices."""
    letter = next((each.letter for each in loaded.pair if each.index == model.index), None)
    measure = state.slices_measure if state.slices_measure in (ALL, *MEASURES) else MEASURES[0]
    searched = search(loaded, letter, measure) if letter else None
    return [] if searched is None else [question_of(one) for one in (*searched[0].slices, *searched[0].thin)]


# --- the boxes of a slice --------------------------------------------------------------------------------------


def question_of(one: Slice) -> Query:
    """Return the boxes of a slice as a question of Pages."""
    conditions = tuple((each.attribute, each.op, each.value) for each in one.conditions)
    return Query(slice=SliceOf(one.box_measure, conditions))


def slice_words(asked: SliceOf) -> str:
    """Return the slice of a question in words."""
    return subject([Condition(*each) for each in asked.conditions], WORDS[asked.measure].noun)


def boxes_in_slice(loaded: LoadedBoxes, model: Model, asked: SliceOf) -> Inside | str:
    """Return the boxes of a slice of one model; or why they are not known, in a sentence."""

    def inside() -> Inside:
        known, conditions = pdf_attributes(loaded, [model]), [Condition(*each) for each in asked.conditions]
        result = result_of(loaded, model)
        return boxes_in(conditions, result, asked.measure, of_pages=known.of_pages, of_boxes=known.of_boxes)

    try:
        return _INSIDE.of((result_key(loaded, model), asked, _pdfs(loaded)), inside)
    except KeyError as missing:
        name = str(missing.args[0])
        hint = "read the PDFs in the view Slices first" if name in FROM_PDFS else "the open files do not state it"
        return f"The slice needs the attribute {name}: {hint}."
