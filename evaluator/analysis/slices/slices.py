"""Slices of evaluated boxes: from results of protocols that match boxes to the search, and back to sentences.

`search` says what is tried and how chance is controlled, `measure_values` what a measure is a mean of. Of two models
that count the same boxes (recall), a box has the difference of both. Otherwise (precision) the boxes of both are
searched together for what they add to it, and a slice must be as clear by the difference of the measures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from evaluator.analysis.slices.attributes import PageValues, merge_page_values
from evaluator.analysis.slices.conditions import Condition, condition_mask, subject
from evaluator.analysis.slices.measure_values import (
    GROUND_TRUTH,
    WORDS,
    BoxValues,
    Means,
    Measure,
    MeasureValues,
    box_values,
    is_average,
    tables_of,
)
from evaluator.analysis.slices.search import (
    ALPHA,
    LEAST_DOCUMENTS,
    SMALLEST_EFFECT,
    Search,
    SearchCache,
    Subset,
    search,
)
from evaluator.compare.sentences import points
from evaluator.data.boxes import AnyArray, BoolArray, FloatArray, IntArray
from evaluator.data.dataset import JoinedBoxes
from evaluator.data.issues import count_of, plural_of
from evaluator.matching.box_items import Inside
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.observations import Attribute, MeasureWords
from evaluator.metrics.results import ResultTable


class Part(NamedTuple):
    """The boxes of a slice on one side: the ground truth (0), or the predictions of a result (1 and more).

    `rows`: rows of the boxes in their file; of two models those that B counts. `condition_bits`: uint8, shape
    (N,), for each box of the side a bit for each condition that holds, the first one lowest.
    """

    origin: int
    rows: IntArray
    condition_bits: npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Slice:
    """Boxes selected by conditions where a model is worse than elsewhere, or B differs from A.

    `value`, `rest`: the measure in the slice and elsewhere (the other boxes, of the same label if it names one), of two
    models B minus A; NaN without boxes, at other thresholds only. `boxes`, `documents`: that B counts.

    `lost`: boxes (or sum of fits) more with the measure of elsewhere; 0 if undefined. `p`: chance of so clear a slice
    anywhere in the search. `confirmed`: see `Subset`. `missing`: documents it lacks to be listed, 0 if listed. `also`:
    other measures as clearly different for mostly the same boxes. `models...`: those of A and B; None for one model.
    """

    conditions: tuple[Condition, ...]
    measure: str
    words: MeasureWords
    value: float
    rest: float
    boxes: int
    documents: int
    lost: float
    p: float
    confirmed: bool
    models: tuple[float, float] | None
    parts: tuple[Part, ...]
    missing: int = 0
    also: tuple[str, ...] = ()
    also_titles: tuple[str, ...] = ()
    models_elsewhere: tuple[float, float] | None = None

    @property
    def box_measure(self) -> Measure:
        """Return the measure of a slice of boxes."""
        return cast("Measure", self.measure)

    @property
    def difference(self) -> float:
        """Return the measure in the slice minus that elsewhere."""
        return self.value - self.rest

    @property
    def cost(self) -> str:
        """Return the cost in words, such as "12 boxes lost"; "" where nothing is lost."""
        if self.words.fits:
            return f"{self.lost:,.1f} {self.words.lost}" if self.lost >= 0.05 else ""
        boxes = round(self.lost)
        return f"{count_of(boxes, self.words.unit)} lost" if boxes > 0 else ""

    @property
    def subject(self) -> str:
        """Return which boxes, as the beginning of a sentence."""
        return subject(self.conditions, self.words.noun)

    @property
    def sentence(self) -> str:
        """Return the slice in one sentence."""
        kept = "confirmed on the other half" if self.confirmed else "not confirmed on the other half"
        if self.missing:
            kept = f"too few documents, {self.missing} more needed"
        return f"{self.subject}: {self.numbers}; {kept}"

    @property
    def numbers(self) -> str:
        """Return the measure in the slice and elsewhere, and the size of the slice, in words."""
        boxes = count_of(self.boxes, self.words.unit)
        counts = f"{boxes} in {count_of(self.documents, 'document')}"
        if self.also:
            counts += f"; also {', '.join(self.also_titles)}"
        title = self.words.title
        if self.models is None:
            return f"{title} {_two(self.value)}, elsewhere {_two(self.rest)}; {counts}"
        a, b = self.models
        if math.isnan(self.difference):
            return f"{title} {_two(b)} against {_two(a)} of A; {counts}"
        way = "loses" if self.value < 0 else "gains"
        if (self.difference < 0) != (self.value < 0):
            way += " less"
        return (
            f"B {way} here, {title} {b:.2f} against {a:.2f} of A "
            f"({points(self.value)} points, elsewhere {points(self.rest)}); {counts}"
        )

    def to_json(self) -> dict[str, object]:
        """Return the slice under the keys of the terminal contract."""
        value: dict[str, object] = {
            "conditions": [each.to_json() for each in self.conditions],
            "measure": self.measure,
            "value": self.value,
            "rest": self.rest,
            "difference": self.difference,
            "boxes": self.boxes,
            "documents": self.documents,
            "lost": self.lost,
            "p": self.p,
            "confirmed": self.confirmed,
            "sentence": self.sentence,
        }
        if self.models is not None:
            value |= {"a": self.models[0], "b": self.models[1]}
        if self.also:
            value["also"] = list(self.also)
        return value


def _two(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.2f}"


class Slices(NamedTuple):
    """What was found in one search, most costly first.

    `thin`: as clear, from too few documents. `attributes`: names for conditions. `unit`: what was searched, one of it.
    """

    slices: tuple[Slice, ...]
    thin: tuple[Slice, ...]
    boxes: int
    attributes: tuple[str, ...]
    searched: Search
    signature: str
    measures: tuple[str, ...]
    words: tuple[MeasureWords, ...]
    unit: str = "box"

    @property
    def summary(self) -> str:
        """Return what was found, tested and controlled, in words; with too few documents, only that."""
        tried = self.searched
        if not self.enough:
            missing = count_of(tried.needed - tried.documents, "more document")
            return (
                f"Too few documents to say: {tried.documents} with {plural_of(self.unit)}. A search needs {missing}; "
                "with still more, smaller effects are found."
            )
        return f"{self.heading}, {self.tested}"

    @property
    def enough(self) -> bool:
        """Return whether there are enough documents for a search."""
        return self.searched.documents >= self.searched.needed

    @property
    def heading(self) -> str:
        """Return how many were found and confirmed: "5 slices found, 4 confirmed"."""
        if not self.slices:
            return "No slice found"
        confirmed = sum(each.confirmed for each in self.slices)
        return f"{count_of(len(self.slices), 'slice')} found, {confirmed} confirmed"

    @property
    def tested(self) -> str:
        """Return what was tested and what is controlled, in words."""
        tried = self.searched
        more = "" if self.slices else f" The clearest has p = {min(tried.best_p, 1.0):.2g}."
        where = f"{count_of(self.boxes, self.unit)} of {count_of(tried.documents, 'document')}"
        if tried.drawn is not None:
            boxes, documents = tried.drawn
            where = f"{count_of(boxes, self.unit)} of {documents:,} documents drawn at random from {where}"
        return (
            f"of {tried.tested:,} tested on {where}. "
            f"At most {100 * ALPHA:.0f} % chance that any is listed where there is none (max-T over all tests, random "
            f"signs of whole documents).{more}"
        )

    def table(self) -> ResultTable:
        """Return one row per slice."""
        columns = (
            "lost",
            "slice",
            "measure",
            "value",
            "elsewhere",
            plural_of(self.unit),
            "documents",
            "p",
            "confirmed",
        )
        rows = tuple(
            (round(each.lost, 1) if each.words.fits else round(each.lost), each.subject, each.measure, each.value,
             each.rest, each.boxes, each.documents, each.p, "yes" if each.confirmed else "no")
            for each in self.slices
        )  # fmt: skip
        return ResultTable(title=self.summary, signature=self.signature, columns=columns, rows=rows)


def find_slices(
    results: Sequence[AnyBoxResult],
    *,
    measure: Measure = "recall",
    of_pages: PageValues | None = None,
    of_boxes: Sequence[Sequence[Attribute]] = (),
    use_score: bool = False,
    smallest: float = SMALLEST_EFFECT,
    depth: int = 3,
    signature: str = "",
    cache: SearchCache | None = None,
) -> Slices:
    """Find where a model fails, or where the second of two models on one dataset differs from the first.

    `of_pages` is added to the attributes of the ground truth's file; `of_boxes` has those of all boxes of the ground
    truth, then of the predictions of each result, or is empty. `use_score` allows conditions on the score, for
    precision only. See `search` for `smallest`, `depth` and `cache`.
    """
    counted = box_values(results, measure)
    known = known_page_values(counted.dataset.ground_truth, of_pages)
    tables = tables_of(counted, of_pages=known, of_boxes=of_boxes, score=use_score and measure == "precision")
    return find_in_values(counted, tables, smallest=smallest, depth=depth, signature=signature, cache=cache)


def find_in_values(
    counted: MeasureValues,
    tables: dict[int, tuple[Attribute, ...]],
    *,
    alpha: float = ALPHA,
    smallest: float = SMALLEST_EFFECT,
    depth: int = 3,
    signature: str = "",
    within_documents: bool = False,
    cache: SearchCache | None = None,
) -> Slices:
    """Return the slices of boxes that are counted already.

    `tables`: attributes of all boxes of each counted side, by origin. With `within_documents` each box is compared with
    the others of its document: differences between documents hide nothing, and a slice of whole documents is no slice.
    """
    taken = counted.attributes_of(tables)
    outcome, document = _outcome(counted), counted.document
    if within_documents:
        boxes = np.maximum(np.bincount(document), 1)
        outcome = outcome - (np.bincount(document, outcome) / boxes)[document]
    both = len(counted.values) == 2
    tried = search(
        taken,
        (0.0 if both else 1.0) - outcome,
        document,
        two_sided=both,
        alpha=alpha,
        smallest=smallest,
        depth=depth,
        models=tuple(counted.values) if both and not counted.paired else (),
        cache=cache,
    )
    means = Means(counted)

    def sorted_by_cost(subsets: Sequence[Subset]) -> tuple[Slice, ...]:
        made = [_slice(one, counted, means, tables) for one in subsets]
        # Elsewhere is what a reader compares with: where it is the same label and hardly differs, nothing is to tell.
        return tuple(sorted((each for each in made if abs(each.difference) >= smallest), key=lambda each: -each.lost))

    return Slices(
        sorted_by_cost(tried.subsets),
        sorted_by_cost(tried.thin),
        len(counted),
        tuple(each.name for each in taken),
        tried,
        signature,
        (counted.measure,),
        (counted.words,),
        "box" if isinstance(counted, BoxValues) else counted.words.unit,
    )


def _outcome(counted: MeasureValues) -> FloatArray:
    """Return what each box adds to the measure, or to the difference B - A, float64, shape (U,)."""
    if len(counted.values) == 1:
        return np.asarray(counted.values[0])
    a, b = counted.values
    if counted.paired:
        return np.asarray(b - a)
    outcome = np.zeros(len(counted))
    for sign, values in ((-1.0, a), (1.0, b)):
        counts = ~np.isnan(values)
        if counts.any():
            weight = sign * len(counted) / counts.sum()
            outcome[counts] += weight * (values[counts] - values[counts].mean())
    return outcome


def boxes_in(
    conditions: Sequence[Condition],
    result: AnyBoxResult,
    measure: Measure,
    *,
    of_pages: PageValues | None = None,
    of_boxes: Sequence[Sequence[Attribute]] = (),
) -> Inside:
    """Return the boxes of a slice that count; of an average those of the ground truth.

    `of_boxes`: attributes of all boxes of the ground truth and the predictions from elsewhere, or empty. KeyError: the
    name of an unknown attribute.
    """
    counted = box_values([result], _counting(measure))
    known = known_page_values(counted.dataset.ground_truth, of_pages)
    tables = tables_of(counted, of_pages=known, of_boxes=of_boxes, score=measure == "precision")
    holds = {origin: condition_mask(conditions, attribute_table(each)) for origin, each in tables.items()}
    rows = np.flatnonzero(counted.mask_of(holds))
    by_origin = {at: counted.row[rows[counted.origin[rows] == at]] for at in counted.origins}
    return _inside((counted.sides[0], counted.sides[1]), by_origin, 1, fits=WORDS[measure].fits)


def _counting(measure: Measure) -> Measure:
    """Return the measure whose boxes are counted: of an average, recall."""
    return "recall" if is_average(measure) else measure


def boxes_of_slice(one: Slice, result: AnyBoxResult) -> Inside:
    """Return the boxes of a slice in the last result searched; of an average those of the ground truth."""
    rows = {part.origin: part.rows for part in one.parts if part.origin == GROUND_TRUTH or not is_average(one.measure)}
    sides = result.matching.dataset.ground_truth, result.matching.prediction
    return _inside(sides, rows, 1 if one.models is None else 2, fits=one.words.fits)


def _inside(sides: tuple[JoinedBoxes, JoinedBoxes], rows: dict[int, IntArray], last: int, *, fits: bool) -> Inside:
    """Return rows by origin as masks over ground truth and predictions, whose origin is `last`."""

    def mask(origin: int, side: JoinedBoxes) -> BoolArray | None:
        if origin not in rows:
            return None
        made = np.zeros(len(side), bool)
        made[rows[origin]] = True
        return made

    return Inside(mask(GROUND_TRUTH, sides[0]), mask(last, sides[1]), matched=fits)


def file_page_values(side: JoinedBoxes) -> dict[tuple[str, int | None], dict[str, str | int | float | bool | None]]:
    """Return what the file of a side says about its pages; numbers where all texts are numbers."""
    source = side.source
    of_pages: dict[tuple[str, int | None], dict[str, str | int | float | bool | None]] = {}
    for name, texts in source.attributes.items():
        values = plain_numbers(texts)
        for entry, value in enumerate(values):
            if value is not None:
                document = source.documents[int(source.page_document[entry])].doc_id
                of_pages.setdefault((document, int(source.page_index[entry])), {}).setdefault(name, value)
    return of_pages


def known_page_values(side: JoinedBoxes, of_pages: PageValues | None) -> PageValues:
    """Return what the file of a side and `of_pages` say of pages; the latter counts more."""
    return merge_page_values(file_page_values(side), of_pages or {})


def plain_numbers(texts: Sequence[str | None]) -> list[str | float | None]:
    """Return texts as numbers when all of them are; an empty one is None."""
    known = [None if text is None or not str(text).strip() else str(text).strip() for text in texts]
    try:
        numbers = [None if text is None else float(text) for text in known]
    except ValueError:
        return list(known)
    if any(number is not None and not np.isfinite(number) for number in numbers):
        return list(known)
    return list(numbers)


def _slice(subset: Subset, counted: MeasureValues, means: Means, tables: dict[int, tuple[Attribute, ...]]) -> Slice:
    condition_bits = {}
    for origin in counted.origins:
        table = attribute_table(tables[origin])
        bits = condition_bits[origin] = np.zeros(counted.sizes[origin], dtype=np.uint8)
        for place, each in enumerate(subset.conditions):
            bits |= each.holds(table[each.attribute]).astype(np.uint8) << place
    inside, elsewhere = _inside_and_elsewhere(subset.conditions, counted, condition_bits)
    mine = np.flatnonzero(inside & means.counts[-1])
    row, bounds = counted.row[mine], np.searchsorted(mine, [each.start for each in counted.of_sides.values()])
    parts = zip(counted.origins, np.split(row, bounds[1:]), strict=True)
    return Slice(
        conditions=subset.conditions, measure=counted.measure, words=counted.words, p=subset.p,
        confirmed=subset.confirmed, parts=tuple(Part(origin, rows, condition_bits[origin]) for origin, rows in parts),
        missing=max(LEAST_DOCUMENTS - subset.documents, 0),
        **slice_numbers(means.of(inside), means.of(elsewhere), counted.document[mine])._asdict(),
    )  # fmt: skip


class SliceNumbers(NamedTuple):
    """The numbers of a slice under their names in `Slice`."""

    value: float
    rest: float
    boxes: int
    documents: int
    lost: float
    models: tuple[float, float] | None
    models_elsewhere: tuple[float, float] | None


def slice_numbers(here: Sequence[float], there: Sequence[float], document: AnyArray) -> SliceNumbers:
    """Return the numbers of a slice.

    `here`, `there`: the measure of one or two models in it and elsewhere. `document`: document code of each box of the
    slice that the last model counts.
    """
    value, rest = model_difference(here), model_difference(there)
    boxes, documents = len(document), int(np.count_nonzero(np.bincount(document)))
    lost = 0.0 if math.isnan(rest - value) else boxes * (rest - value)
    pairs = ((each[0], each[1]) if len(each) == 2 else None for each in (here, there))
    return SliceNumbers(value, rest, boxes, documents, lost, *pairs)


def model_difference(values: Sequence[float]) -> float:
    """Return the number of one model, or of two models that of B minus that of A."""
    return values[0] if len(values) == 1 else values[1] - values[0]


def _inside_and_elsewhere(
    conditions: Sequence[Condition], counted: MeasureValues, condition_bits: Mapping[int, npt.NDArray[np.uint8]]
) -> tuple[BoolArray, BoolArray]:
    """Return the things of a slice, given its parts' bits, and those it is compared with, bool, (U,) each."""
    every, bit = (1 << len(conditions)) - 1, label_bit(conditions)
    inside = counted.mask_of({origin: bits == every for origin, bits in condition_bits.items()})
    elsewhere = ~inside
    if bit:
        same = elsewhere & counted.mask_of({origin: (bits & bit) != 0 for origin, bits in condition_bits.items()})
        elsewhere = same if same.any() else elsewhere
    return inside, elsewhere


def label_bit(conditions: Sequence[Condition]) -> int:
    """Return the bit of the condition on the label in `Part.condition_bits` where there are others; else 0.

    A slice that names a label is compared with the other things of that label, if there are any, else with all others.
    """
    labels = [place for place, each in enumerate(conditions) if each.on_label]
    return 1 << labels[0] if labels and len(conditions) > 1 else 0


@dataclass(frozen=True, slots=True)
class PageOfSlice:
    """A page with the number of its boxes in a slice, and of those wrong in the last of the models."""

    document: str
    page: int
    boxes: int
    wrong: int


def pages_of(one: Slice, results: Sequence[AnyBoxResult]) -> tuple[PageOfSlice, ...]:
    """Return the pages with boxes of a slice, those with most wrong ones first.

    `results` are those searched. Wrong are the missed and false ones of the last result; for a mean fit those that fit
    worse than elsewhere, for an average the missed ones.
    """
    counted = box_values(results, _counting(one.box_measure))
    dataset, values, page = counted.dataset, counted.values[-1], counted.page
    masks = {part.origin: np.zeros(len(counted.sides[part.origin]), bool) for part in one.parts}
    for part in one.parts:
        masks[part.origin][part.rows] = True
    inside = counted.mask_of(masks) & ~np.isnan(values)
    usual = one.rest if one.models is None else one.models[1] - one.value + one.rest
    bad = inside & (values < usual if one.words.fits else values == 0.0)
    boxes = np.bincount(page[inside], minlength=dataset.pages)
    wrong = np.bincount(page[bad], minlength=dataset.pages)
    order = np.lexsort((np.arange(dataset.pages), -wrong))
    names = dataset.document_ids
    return tuple(
        PageOfSlice(names[dataset.page_document[row]], int(dataset.page_index[row]), int(boxes[row]), int(wrong[row]))
        for row in order.tolist()
        if boxes[row]
    )


def signature_of(lines: Sequence[str]) -> str:
    """Return one signature for the results of one or two models."""
    return lines[0] if len(set(lines)) == 1 else f"A: {lines[0]} · B: {lines[1]}"


def attribute_table(attributes: Sequence[Attribute]) -> dict[str, Attribute]:
    """Return attributes by name."""
    return {each.name: each for each in attributes}
