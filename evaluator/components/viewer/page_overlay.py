"""What the page viewer draws of one page: boxes with their status, mistakes, and text that is lost.

Keys of boxes are side and row (``g12``, ``p3``). Coordinates are shares of the displayed page, origin top left.
Mistakes are named over all scored boxes of a result; labels and filters choose only what is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from evaluator.components.payload import LimitItem, LostText
from evaluator.components.viewer.outlines import outline_paths
from evaluator.components.viewer.payload import (
    NOTHING_DRAWN,
    BoxItem,
    CauseItem,
    CountsItem,
    CutItem,
    MistakeItem,
    NearestItem,
    PageLayers,
)
from evaluator.components.viewer.text_lost import PageText, WordsOfMistake, mistake_texts, page_lost, sides_of
from evaluator.data.boxes import BoolArray, FloatArray, IntArray, Overlap
from evaluator.data.dataset import Annotations, JoinedBoxes, Side, box_key, parse_box_key
from evaluator.data.issues import count_of, cut, displayed
from evaluator.data.polygons import outline_bounds
from evaluator.matching.box_items import Selection
from evaluator.matching.box_results import UNMATCHED, AnyBoxResult, BoxMatching
from evaluator.matching.causes import Causes, Family
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES, NONE, SIDES, Mistakes
from evaluator.matching.page_rows import page_shares, rows_on
from evaluator.matching.pairs import TOUCHING, best_per_prediction, overlapping_pairs
from evaluator.metrics.results import defined

# More boxes of a side than this are not drawn; the page says how many were left out.
DRAWN_BOXES: Final = 1_000
_SIDES: Final[tuple[Side, Side]] = ("ground_truth", "prediction")
NO_SIZE: Final = "The boxes are in pixels and no file gives the size of this page, so they cannot be drawn."


class FilteredMistakes(NamedTuple):
    """The mistakes of a result, from `mistake_filter.mistakes_of`, and which of them a filter keeps."""

    mistakes: Mistakes
    keep: BoolArray
    asked: Selection | None = None


def page_data(
    result: AnyBoxResult,
    page: int,
    *,
    labels: Sequence[str] | None = None,
    page_points: tuple[float, float] | None = None,
    page_size: tuple[float, float] | None = None,
    kept: FilteredMistakes | None = None,
    text: PageText | None = None,
    causes: Causes | None = None,
) -> PageLayers:
    """Return boxes, mistakes (in reading order) and counts of a page row; -1 is a page no file mentions.

    Without `page_points` the length of a cut is unknown, without `text` no words are named; `causes` groups mistakes.
    A mistake stays whole: what `labels` or `kept` leave of one is drawn with its other half (`BoxItem.other`), boxes of
    all other mistakes not in `kept` are faded. `page_size`, in the unit of the boxes, is for pages whose size no file
    states; without one no box is drawn, and `NO_SIZE` is among the notes.
    """
    mistakes, keep, asked = kept or FilteredMistakes(result.mistakes, np.ones(len(result.mistakes), dtype=bool))
    every, of_labels = rows_on(result, page, None), rows_on(result, page, labels)
    counted = of_labels
    if asked is not None:
        counted = of_labels[0][asked.truth[of_labels[0]]], of_labels[1][asked.prediction[of_labels[1]]]
    counts = _counts(result, *counted)
    shown = of_labels[0][:DRAWN_BOXES], of_labels[1][:DRAWN_BOXES]
    listed_here = _listed_on(mistakes, keep, counted)
    beside: dict[str, int] = {}
    if labels is not None or asked is not None or not keep.all():
        beside = _other_halves(result, mistakes, listed_here, every, causes)
        for key in _drawn_in_full(mistakes, listed_here, shown, asked):
            beside.pop(key, None)
    drawn = _with_others(shown[0], "ground_truth", beside), _with_others(shown[1], "prediction", beside)
    total = sum(map(len, drawn)) + sum(map(len, of_labels)) - sum(map(len, shown))
    sides = sides_of(result, *drawn, stated=page_size)
    if not sides.placed:
        limit = LimitItem(drawn=0, total=total)
        return msgspec.structs.replace(NOTHING_DRAWN, counts=counts, limit=limit, notes=(NO_SIZE,))
    boxes = [
        *_boxes_of("ground_truth", result, _Drawn(drawn[0], sides.truth, page_size), every[1]),
        *_boxes_of("prediction", result, _Drawn(drawn[1], sides.prediction, page_size), every[0]),
    ]
    groups, faded = _grouped(boxes, mistakes, keep, listed_here)
    groups = _by_cause(groups, causes)
    pairs = [] if asked is None else _asked_pairs(boxes, asked)
    facts = _Facts(result, mistakes, page_points)
    listed = [facts.item(number, mistake, own) for number, (mistake, own) in enumerate(groups.items(), start=1)]
    if text is not None:
        places = [facts.text_rows(mistake, every) for mistake in groups]
        words = mistake_texts(text, sides_of(result, *every), places)
        listed = [_with_words(item, each) for item, each in zip(listed, words, strict=True)]
    listed = _with_families(listed, list(groups), causes)
    listed += [_pair_item(number, *pair) for number, pair in enumerate(pairs, start=len(listed) + 1)]
    numbers = {mistake: number for number, mistake in enumerate(groups, start=1)}
    changes: dict[str, Mapping[str, object]] = {key: {"faded": True} for key in faded if key not in beside}
    changes |= {key: {"mistake": numbers.get(mistake), "other": True} for key, mistake in beside.items()}
    for number, (mistake, own) in enumerate(groups.items(), start=1):
        fit = {"mistake": number, **facts.fit(mistake)}
        changes |= {box.key: {**changes.get(box.key, {}), **fit} for box in own}
    for item in listed[len(groups) :]:
        changes |= {key: {"mistake": item.number} for key in item.keys}
    boxes = [msgspec.structs.replace(box, **changes.get(box.key, {})) for box in boxes]
    items = [] if causes is None else _cause_items(list(groups), mistakes, causes)
    chips, halves = cause_chips(boxes, items), _half_chips(boxes)
    listed = [_with_half(item, halves.words.get(item.number, ())) for item in listed]
    present = {box.label for box in boxes}
    return PageLayers(
        boxes=[
            msgspec.structs.replace(box, cause=(halves.chips if box.other else chips).get(box.key)) for box in boxes
        ],
        by_outline=result.matching.pairs.polygons,
        mistakes=listed,
        noun="matched pair" if pairs and not groups else "mistake",
        hidden_mistakes=len(set(faded.values())),
        counts=counts,
        labels=[name for name in dict.fromkeys(map(displayed, result.matching.dataset.labels)) if name in present],
        limit=None if len(boxes) == total else LimitItem(drawn=len(boxes), total=total),
        causes=items,
    )


def _by_cause(groups: dict[int, list[BoxItem]], causes: Causes | None) -> dict[int, list[BoxItem]]:
    if causes is None:
        return groups
    first: dict[int, int] = {}
    for place, mistake in enumerate(groups):
        first.setdefault(int(causes.of_mistake[mistake]), place)
    ordered = sorted(groups, key=lambda mistake: first[int(causes.of_mistake[mistake])])
    return {mistake: groups[mistake] for mistake in ordered}


def _cause_items(listed: Sequence[int], mistakes: Mistakes, causes: Causes) -> list[CauseItem]:
    numbers: dict[int, list[int]] = {}
    wrong: dict[int, int] = {}
    for number, mistake in enumerate(listed, start=1):
        cause = int(causes.of_mistake[mistake])
        numbers.setdefault(cause, []).append(number)
        wrong[cause] = wrong.get(cause, 0) + int(mistakes.wrong_boxes[mistake])
    return [
        CauseItem(
            title=displayed(causes.title(cause)),
            numbers=own,
            boxes=wrong[cause],
            alike=causes.more_like(cause),
            family=Family(*map(cut, causes.family(cause))),
        )
        for cause, own in numbers.items()
        if len(own) > 1
    ]


def _with_families(listed: list[MistakeItem], of: Sequence[int], causes: Causes | None) -> list[MistakeItem]:
    """Return entries of the list, each `of` a mistake, with what other places like theirs have in common."""
    if causes is None:
        return listed
    return [
        msgspec.structs.replace(item, alike=alike, family=Family(*map(cut, causes.family(cause))))
        if (alike := causes.more_like(cause))
        else item
        for item, cause in zip(listed, causes.of_mistake[of].tolist(), strict=True)
    ]


def cause_chips(boxes: Sequence[BoxItem], causes: Sequence[CauseItem]) -> dict[str, str]:
    """Return the chips of boxes whose cause lies in one place: the cause on one of them, else empty.

    That one is the missed ground truth, else the largest box. Mistakes that are only alike keep theirs.
    """
    chips: dict[str, str] = {}
    for cause in causes:
        numbers = set(cause.numbers)
        own = [box for box in boxes if box.mistake in numbers and not box.other]
        if cause.family[0] == "named" or not own:
            continue
        holder = max(own, key=lambda box: (box.status == "FN", _area(box)))
        chips |= {box.key: cause.title if box is holder else "" for box in own}
    return chips


def _area(box: BoxItem) -> float:
    return (box.xyxy[2] - box.xyxy[0]) * (box.xyxy[3] - box.xyxy[1])


def _asked_pairs(boxes: Sequence[BoxItem], asked: Selection) -> list[tuple[BoxItem, BoxItem | None]]:
    """Return the matched pairs that a number counts, each prediction with its ground truth, in reading order."""
    by_key = {box.key: box for box in boxes}
    pairs = [
        (box, by_key.get(box.partner or ""))
        for box in boxes
        if box.status == "TP" and asked.prediction[parse_box_key(box.key)[1]]
    ]
    return sorted(pairs, key=lambda pair: (round(pair[0].xyxy[1], 2), pair[0].xyxy[0]))


def _pair_item(number: int, prediction: BoxItem, truth: BoxItem | None) -> MistakeItem:
    iou = "" if prediction.iou is None else f"IoU {prediction.iou:.2f} · "
    return MistakeItem(
        number=number,
        name="matched",
        status="TP",
        title="Matched",
        label=prediction.label,
        lines=[iou + _score_text(prediction.score)],
        tags=["TP"],
        keys=[box.key for box in (prediction, truth) if box is not None],
    )


class _HalfChips(NamedTuple):
    """The chips of boxes that are the other half of a mistake, and their words by the number of the mistake."""

    chips: Mapping[str, str | None]
    words: Mapping[int | None, Sequence[str]]


def _half_chips(boxes: Sequence[BoxItem]) -> _HalfChips:
    together: dict[tuple[int | None, str, str], list[BoxItem]] = {}
    for box in boxes:
        if box.other:
            together.setdefault((box.mistake, box.status, box.label), []).append(box)
    chips: dict[str, str | None] = {}
    words: dict[int | None, list[str]] = {}
    for (mistake, status, label), own in together.items():
        several = f"{len(own):,} {status} {label}"
        holder = max(own, key=_area)
        chips |= {box.key: "" if box is not holder else several if len(own) > 1 else None for box in own}
        words.setdefault(mistake, []).append(several if len(own) > 1 else f"{status} {label}")
    return _HalfChips(chips, words)


def _with_half(item: MistakeItem, words: Sequence[str]) -> MistakeItem:
    """Return an entry of the list with what the filter does not ask for and belongs to it."""
    return msgspec.structs.replace(item, lines=[*item.lines, f"other half: {', '.join(words)}"]) if words else item


def _listed_on(mistakes: Mistakes, keep: BoolArray, counted: tuple[IntArray, IntArray]) -> set[int]:
    """Return the kept mistakes that one of some rows of both sides carries."""
    carried = [
        of[rows[:DRAWN_BOXES]] for rows, of in zip(counted, (mistakes.of_truth, mistakes.of_prediction), strict=True)
    ]
    return {mistake for each in carried for mistake in each.tolist() if mistake != NONE and keep[mistake]}


def _drawn_in_full(
    mistakes: Mistakes, listed: Collection[int], shown: tuple[IntArray, IntArray], asked: Selection | None
) -> set[str]:
    names = mistakes.of_truth, mistakes.of_prediction
    return {
        box_key(side, row)
        for side, rows, of, wanted in zip(_SIDES, shown, names, asked or (None, None), strict=True)
        for row in rows.tolist()
        if of[row] == NONE or (of[row] in listed and (wanted is None or wanted[row]))
    }


def _other_halves(
    result: AnyBoxResult,
    mistakes: Mistakes,
    listed: Collection[int],
    every: tuple[IntArray, IntArray],
    causes: Causes | None,
) -> dict[str, int]:
    """Return the boxes of some mistakes, of the rest of their causes, and what they overlap, each with its mistake."""
    order = sorted(listed)
    beside: dict[str, int] = {}
    names = mistakes.of_truth, mistakes.of_prediction

    def add(side: Side, rows: IntArray, mistake: int) -> None:
        for row in rows.tolist():
            if side == "ground_truth" and result.truth_partner[row] != UNMATCHED and names[0][row] != mistake:
                beside.setdefault(box_key("prediction", int(result.truth_partner[row])), mistake)
            else:
                beside.setdefault(box_key(side, row), mistake)

    for mistake in order:
        add("ground_truth", mistakes.truths_of(mistake), mistake)
        add("prediction", mistakes.predictions_of(mistake), mistake)
    for side, rows, of, others in zip(_SIDES, every, names, every[::-1], strict=True):
        own = rows[np.isin(of[rows], order)]
        best, highest = _nearest(result, side, own, others)
        for row, at, overlap in zip(own.tolist(), best.tolist(), highest.tolist(), strict=True):
            if overlap > 0.0:
                add(_SIDES[1 - _SIDES.index(side)], others[[at]], int(of[row]))
    if causes is not None:
        first = {int(causes.of_mistake[mistake]): mistake for mistake in reversed(order)}
        for side, rows, of in zip(_SIDES, every, names, strict=True):
            for row in rows[of[rows] != NONE].tolist():
                owner = first.get(int(causes.of_mistake[of[row]]))
                if owner is not None:
                    add(side, np.array([row]), owner)
    return beside


def _with_others(rows: IntArray, side: Side, beside: Mapping[str, int]) -> IntArray:
    more = [row for of, row in map(parse_box_key, beside) if of == side]
    return np.union1d(rows, np.array(more, dtype=np.int64)) if more else rows


def lost_text(result: AnyBoxResult, page: int, text: PageText | None) -> LostText:
    """Return what the viewer marks as lost on a page; nothing where text or size is not known."""
    sides = sides_of(result, *rows_on(result, page, None))
    return page_lost(text, sides) if text is not None and sides.placed else LostText()


def _counts(result: AnyBoxResult, truths: IntArray, predictions: IntArray) -> CountsItem:
    missed = int((result.partners("ground_truth", truths) == UNMATCHED).sum())
    false = int((result.partners("prediction", predictions) == UNMATCHED).sum())
    return CountsItem(
        TP=len(predictions) - false, FP=false, FN=missed, ground_truth=len(truths), predictions=len(predictions)
    )


def _sides(result: AnyBoxResult, side: Side) -> tuple[JoinedBoxes, JoinedBoxes]:
    truth, prediction = result.matching.dataset.ground_truth, result.matching.prediction
    return (truth, prediction) if side == "ground_truth" else (prediction, truth)


class _Drawn(NamedTuple):
    """Rows of a side, their corners as shares of the page, and the size of a page that no file states."""

    rows: IntArray
    places: FloatArray
    stated: tuple[float, float] | None


def _boxes_of(side_name: Side, result: AnyBoxResult, drawn: _Drawn, others: IntArray) -> list[BoxItem]:
    """Boxes of one side; `others` are all rows of the other side on the page, whatever is shown."""
    (side, _), rows = _sides(result, side_name), drawn.rows
    other_name: Side = "prediction" if side_name == "ground_truth" else "ground_truth"
    partners, labels = result.partners(side_name, rows), result.matching.dataset.labels
    best, highest = _nearest(result, side_name, rows, others)
    near = others[best] if len(others) else partners
    matched, overlaps = partners != UNMATCHED, highest > 0.0
    # How a box fits is a fact of it and its match, or else of it and what it overlaps most.
    fits = _fits(result, side_name, rows, np.where(matched, partners, np.where(overlaps, near, NONE)))
    paths = outline_paths(result.matching.dataset, side, rows, stated=drawn.stated)
    statuses = ("truth", "FN") if side_name == "ground_truth" else ("TP", "FP")
    scores = np.full(len(rows), np.nan) if side_name == "ground_truth" else side.score[rows]
    return [
        BoxItem(
            key=box_key(side_name, row),
            side=side_name,
            status=statuses[0] if matched[at] else statuses[1],  # type: ignore[arg-type]
            label=displayed(labels[side.label[row]]),
            xyxy=(x1, y1, x2, y2),
            score=defined(scores[at]),
            iou=defined(fits[0, at]),
            coverage=defined(fits[1, at]),
            purity=defined(fits[2, at]),
            partner=box_key(other_name, int(partners[at])) if matched[at] else None,
            nearest=NearestItem(box_key(other_name, int(near[at])), float(highest[at]))
            if overlaps[at] and not matched[at]
            else None,
            source=_source(side.source, row),
            outline=paths[at],
        )
        for at, (row, (x1, y1, x2, y2)) in enumerate(zip(rows.tolist(), drawn.places.tolist(), strict=True))
    ]


def _nearest(result: AnyBoxResult, side: Side, rows: IntArray, others: IntArray) -> tuple[IntArray, FloatArray]:
    best, highest = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows))
    own, other = (
        outline_bounds(boxes.source.boxes, some) if result.matching.pairs.polygons else boxes.xyxy[some]
        for boxes, some in zip(_sides(result, side), (rows, others), strict=True)
    )
    page = np.zeros(len(others), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    touching = overlapping_pairs(other, page[0], own, page[1], iou_floor=TOUCHING)
    fit = _fit(result, side, rows[touching.prediction], others[touching.ground_truth])
    pairs = best_per_prediction(touching._replace(iou=fit.iou))
    best[pairs.prediction], highest[pairs.prediction] = pairs.ground_truth, pairs.iou
    return best, highest


def _fits(result: AnyBoxResult, side: Side, rows: IntArray, beside: IntArray) -> FloatArray:
    """IoU, coverage, purity of each box with row `beside` of the other side, (3, N); NaN for row -1."""
    fits = np.full((3, len(rows)), np.nan)
    some = beside != NONE
    fits[:, some] = np.stack(_fit(result, side, rows[some], beside[some]))
    return fits


def _fit(result: AnyBoxResult, side: Side, rows: IntArray, others: IntArray) -> Overlap:
    matching: BoxMatching = result.matching
    return matching.fit(*((rows, others) if side == "ground_truth" else (others, rows)))


def _source(source: Annotations, row: int) -> str:
    name, entry, position = source.source_of(row)
    return f"{name}, $.predictions[{entry}].objects[{position}]"


def _grouped(
    boxes: Sequence[BoxItem], mistakes: Mistakes, keep: BoolArray, listed: Collection[int]
) -> tuple[dict[int, list[BoxItem]], dict[str, int]]:
    """Return the boxes of each listed mistake, false positives first, and the mistake of each hidden box."""
    groups: dict[int, list[BoxItem]] = {}
    faded: dict[str, int] = {}
    for box in sorted(boxes, key=lambda box: (round(box.xyxy[1], 2), box.xyxy[0], box.key)):
        mistake = mistakes.of_box(box.key)
        if mistake == NONE:
            continue
        if mistake in listed:
            groups.setdefault(mistake, []).append(box)
        elif not keep[mistake]:
            faded[box.key] = mistake
    for own in groups.values():
        own.sort(key=lambda box: box.status != "FP")
    return groups, faded


class _Facts(NamedTuple):
    result: AnyBoxResult
    mistakes: Mistakes
    page_points: tuple[float, float] | None

    def item(self, number: int, mistake: int, boxes: Sequence[BoxItem]) -> MistakeItem:
        """Return an entry of the list: what it is, and its facts; `boxes` are those of its shown boxes."""
        kind = ERROR_TYPES["document"][DOCUMENT[self.mistakes.kind[mistake]]]
        cut = self._cut(mistake)
        lines = self._lines(kind.name, len(kind.sides), mistake, boxes)
        if cut is not None and cut.points is not None:
            lines[0] += f", {cut.points:.0f} pt"
        return MistakeItem(
            number=number,
            name=kind.name,
            status=boxes[0].status,
            title=kind.chip,
            label=displayed(self.result.matching.dataset.labels[self.mistakes.label[mistake]]),
            lines=lines,
            # A poor match has two boxes and one status.
            tags=[box.status for box in boxes if box.status != "truth"] or ["TP"],
            keys=[box.key for box in boxes],
            cut=cut,
        )

    def fit(self, mistake: int) -> Mapping[str, float]:
        kind = ERROR_TYPES["document"][DOCUMENT[self.mistakes.kind[mistake]]]
        truths, predictions = self.mistakes.truths_of(mistake), self.mistakes.predictions_of(mistake)
        if len(kind.sides) == 1 or not len(truths) == len(predictions) == 1:
            return {}
        fit = self.result.matching.fit(truths, predictions)
        return {name: float(column[0]) for name, column in zip(fit._fields, fit, strict=True)}

    def text_rows(self, mistake: int, every: tuple[IntArray, IntArray]) -> tuple[IntArray, IntArray]:
        """Return the rows of a mistake's boxes among all boxes of the page, of both sides."""
        truths, predictions = self.mistakes.truths_of(mistake), self.mistakes.predictions_of(mistake)
        if "ground_truth" not in ERROR_TYPES["document"][DOCUMENT[self.mistakes.kind[mistake]]].sides:
            # The ground truth that a duplicate repeats is not what is wrong.
            truths = truths[:0]
        return np.searchsorted(every[0], truths), np.searchsorted(every[1], predictions)

    def _lines(self, name: str, sides: int, mistake: int, boxes: Sequence[BoxItem]) -> list[str]:
        first, fit = boxes[0], self.fit(mistake)
        if sides == 1:
            numbers = [f"IoU {first.iou:.2f}"] if first.nearest else []
            numbers += [_score_text(first.score)] if first.side == "prediction" else []
            return [line for line in (self._nearest_text(first), " · ".join(numbers)) if line]
        truths, predictions = self.mistakes.truths_of(mistake), self.mistakes.predictions_of(mistake)
        if not fit:
            return [f"{count_of(len(truths), 'ground truth')}, {count_of(len(predictions), 'prediction')}"]
        prediction, row = self.result.matching.prediction, int(predictions[0])
        label = displayed(self.result.matching.dataset.labels[prediction.label[row]])
        score = _score_text(defined(prediction.score[row]))
        return [_wrong_text(name, self.mistakes, mistake, label), f"IoU {fit['iou']:.2f} · {score}"]

    def _nearest_text(self, box: BoxItem) -> str:
        if box.nearest is None:
            # Boxes of other labels may lie here.
            of_labels = "" if self.result.matching.asked_labels is None else " of these labels"
            return f"no {'ground truth' if box.side == 'prediction' else 'prediction'}{of_labels} here"
        _, row = parse_box_key(box.nearest.key)
        predicts = box.side == "prediction"
        side: Side = "ground_truth" if predicts else "prediction"
        other, _ = _sides(self.result, side)
        (partner,) = self.result.partners(side, np.array([row]))
        state = "a matched" if partner != UNMATCHED else "a missed" if predicts else "an extra"
        return f"overlaps {state} {displayed(self.result.matching.dataset.labels[other.label[row]])}"

    def _cut(self, mistake: int) -> CutItem | None:
        """Side, share and length of what a prediction cuts off; None for other mistakes."""
        if DOCUMENT[self.mistakes.kind[mistake]] != "cut_off" or self.mistakes.side[mistake] == NONE:
            return None
        side, share = SIDES[self.mistakes.side[mistake]], float(self.mistakes.share[mistake])
        points = None
        if self.page_points is not None:
            dataset = self.result.matching.dataset
            (place,) = page_shares(dataset, dataset.ground_truth, self.mistakes.truths_of(mistake)[:1])
            axis = 1 if side in ("top", "bottom") else 0
            points = defined(share * (place[axis + 2] - place[axis]) * self.page_points[axis])
        return CutItem(side=side, share=share, points=points)  # type: ignore[arg-type]


def _with_words(item: MistakeItem, words: WordsOfMistake) -> MistakeItem:
    lines = [*item.lines, *words.lines]
    return msgspec.structs.replace(
        item, lines=lines, lost_words=words.lost, foreign_words=words.foreign, foreign=words.boxes
    )


def _wrong_text(name: str, mistakes: Mistakes, mistake: int, label: str) -> str:
    """Return what is wrong with a pair, in words; `label` is that of the prediction."""
    if name == "wrong_class":
        return f"predicted as {label}"
    if name == "near_miss":
        return "overlaps too little for the IoU threshold"
    if mistakes.side[mistake] == NONE:
        return "fits badly inside its outline"
    side = SIDES[mistakes.side[mistake]]
    sign = "−" if name == "cut_off" else "+"
    return f"{side} {sign}{100 * mistakes.share[mistake]:.0f} %"


def _score_text(score: float | None) -> str:
    return "no score" if score is None else f"score {score:.2f}"
