"""What the page viewer draws of one page: boxes with their status, mistakes, and the text that is lost.

Owns the hand-over from a matching to the viewer's plain data; the viewer's JavaScript knows no protocol. A
box is named by side and row (``g12``, ``p3``), stable for a pair of files. Coordinates are shares of the
displayed page, origin top left. What a mistake is called, `evaluator.metrics.error_types` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.drawing.page_rows import rows_on
from evaluator.drawing.text_lost import PageText, Sides, mistake_lines, page_lost, sides_of
from evaluator.metrics.box_results import UNMATCHED, BoxResult
from evaluator.metrics.error_types import (
    DOCUMENT,
    ERROR_TYPES,
    NONE,
    SIDES,
    BoxColumns,
    MistakeOptions,
    Mistakes,
    name_mistakes,
)
from evaluator.metrics.results import count_of
from evaluator.model.boxes import BoolArray, FloatArray, IntArray, iou, overlap
from evaluator.model.dataset import Annotations
from evaluator.model.issues import plain

# More boxes of a side than this are not drawn; the page says how many were left out.
DRAWN_BOXES: Final = 1_000


def box_key(side: str, row: int) -> str:
    """Name of a box on the page: ``g12`` is row 12 of the ground truth, ``p12`` of the prediction."""
    return f"{'g' if side == 'ground_truth' else 'p'}{row}"


def page_data(
    result: BoxResult[Any],
    page: int,
    *,
    labels: Sequence[str] | None = None,
    page_points: tuple[float, float] | None = None,
    options: MistakeOptions | None = None,
    kept: Kept | None = None,
    text: PageText | None = None,
) -> dict[str, Any]:
    """Boxes, mistakes and counts of one page, as the viewer reads them.

    Parameters
    ----------
    result : BoxResult
    page : int
        Row of the page in the dataset.
    labels : sequence of str, optional
        Show boxes of these labels only; all that are scored when absent. A mistake keeps its name and its facts when
        some of its boxes are not shown.
    page_points : tuple of float, optional
        Width and height of the page in points; the length of a cut is unknown without them.
    options : MistakeOptions, optional
        How mistakes are named; those of ``result.mistakes`` when absent.
    kept : Kept, optional
        The mistakes that a filter keeps; the boxes of the others stay on the page, faded and without a number.
    text : PageText, optional
        The text of the page; without it nothing is said about lost words.

    Returns
    -------
    dict
        ``boxes`` (matched ground truth under the status ``truth``), ``mistakes`` in reading order,
        ``counts``, ``labels``, ``limit`` (None, or how many of how many boxes are drawn), ``hidden_mistakes`` (how many
        the filter hides) and ``text``: ``lost``, ``lost_words`` and ``lost_ink`` as `page_lost` gives them. Empty lists
        for a page without boxes. A mistake has ``number``, ``status``, ``title``, ``label``, ``lines``, ``tags``,
        ``keys``, ``name`` (see `evaluator.metrics.error_types`), ``cut``: None, or ``side``, ``share`` of the ground
        truth's height or width, and ``points`` (float or None) of what is cut off; and ``lost_words``,
        ``foreign_words`` and ``foreign`` as `mistake_lines` gives them.
    """
    matching = result.matching
    dataset = matching.dataset
    truth, prediction = dataset.ground_truth, matching.prediction
    truth_rows, prediction_rows = rows_on(result, page, labels)
    missed = int((result.truth_partner[truth_rows] == UNMATCHED).sum())
    invented = int((result.prediction_partner[prediction_rows] == UNMATCHED).sum())
    drawn_truth, drawn_prediction = truth_rows[:DRAWN_BOXES], prediction_rows[:DRAWN_BOXES]
    named = _named(result, page, drawn_truth, drawn_prediction, options)
    near = _nearest(truth.xyxy[drawn_truth], prediction.xyxy[drawn_prediction])
    boxes = [
        *_boxes_of("ground_truth", result, drawn_truth, drawn_prediction, near),
        *_boxes_of("prediction", result, drawn_prediction, drawn_truth, near.T),
    ]
    present = {box["label"] for box in boxes}
    total = len(truth_rows) + len(prediction_rows)
    mistakes, hidden = _mistakes(boxes, named, result, page_points, kept)
    every = rows_on(result, page, None)
    sides = sides_of(result, *every)
    if text is not None:
        _add_text(mistakes, named, every, text, sides)
    for mistake in mistakes:
        del mistake["of"]
    return {
        "boxes": boxes,
        "mistakes": mistakes,
        "hidden_mistakes": hidden,
        "text": page_lost(text, sides) if text else {"lost": [], "lost_words": None, "lost_ink": None},
        "counts": {
            "TP": len(prediction_rows) - invented,
            "FP": invented,
            "FN": missed,
            "ground_truth": len(truth_rows),
            "predictions": len(prediction_rows),
        },
        "labels": list(dict.fromkeys(name for label in dataset.labels if (name := plain(label)) in present)),
        "limit": None if len(boxes) == total else {"drawn": len(boxes), "total": total},
    }


def _nearest(truth: FloatArray, prediction: FloatArray) -> FloatArray:
    """IoU of every ground truth with every prediction of a page, whatever their labels, shape (G, P)."""
    if not len(truth) or not len(prediction):
        return np.zeros((len(truth), len(prediction)))
    rows, columns = np.repeat(truth, len(prediction), axis=0), np.tile(prediction, (len(truth), 1))
    return iou(rows, columns).reshape(len(truth), len(prediction))


def _boxes_of(
    side_name: str, result: BoxResult[Any], rows: IntArray, other_rows: IntArray, near: FloatArray
) -> list[dict[str, Any]]:
    """The boxes of one side as plain values; `near` has a row for each of them."""
    matching = result.matching
    labels = matching.dataset.labels
    is_truth = side_name == "ground_truth"
    side, other = matching.dataset.ground_truth, matching.prediction
    partners, other_name = result.truth_partner[rows] if is_truth else result.prediction_partner[rows], "prediction"
    if not is_truth:
        side, other, other_name = other, side, "ground_truth"
    best = near.argmax(axis=1) if near.shape[1] else np.zeros(len(rows), dtype=np.int64)
    highest = near[np.arange(len(rows)), best] if near.shape[1] else np.zeros(len(rows))
    # The fit is told to the partner, or else to the box that overlaps most.
    beside = np.where(partners != UNMATCHED, partners, other_rows[best] if near.shape[1] else UNMATCHED)
    told = (partners != UNMATCHED) | (highest > 0.0)
    pair = side.xyxy[rows[told]], other.xyxy[beside[told]]
    fits = iter(zip(*(column.tolist() for column in overlap(*(pair if is_truth else pair[::-1]))), strict=True))
    boxes: list[dict[str, Any]] = []
    for place, (row, partner) in enumerate(zip(rows.tolist(), partners.tolist(), strict=True)):
        matched, overlaps = partner != UNMATCHED, bool(highest[place] > 0.0)
        fit = next(fits) if told[place] else (None, None, None)
        score = float(side.score[row])
        boxes.append(
            {
                "key": box_key(side_name, row),
                "side": side_name,
                "status": ("truth" if is_truth else "TP") if matched else ("FN" if is_truth else "FP"),
                "label": plain(labels[side.label[row]]),
                "xyxy": side.xyxy[row].tolist(),
                "score": None if is_truth or np.isnan(score) else score,
                **dict(zip(("iou", "coverage", "purity"), fit, strict=True)),
                "partner": box_key(other_name, partner) if matched else None,
                "nearest": None
                if matched or not overlaps
                else {"key": box_key(other_name, int(other_rows[best[place]])), "iou": float(highest[place])},
                "mistake": None,
                "faded": False,
                "source": _source(side.source, row),
            }
        )
    return boxes


def _source(source: Annotations, row: int) -> str:
    """File and place of a box, so that every number can be followed to its line."""
    name, entry, position = source.source_of(row)
    return f"{name}, $.predictions[{entry}].objects[{position}]"


class Kept(NamedTuple):
    """The mistakes of a whole dataset that a filter keeps.

    Attributes
    ----------
    mistakes : Mistakes
        Of the result, named with the same options as the page.
    keep : bool, shape (M,)
    """

    mistakes: Mistakes
    keep: BoolArray

    def has(self, side: str, row: int) -> bool:
        """Whether the mistake of a box passes; True for a box without one."""
        of = self.mistakes.of_truth if side == "ground_truth" else self.mistakes.of_prediction
        return of[row] == NONE or bool(self.keep[of[row]])


class _Named(NamedTuple):
    """The named mistakes of a page, and the rows of the files that they are about."""

    mistakes: Mistakes
    truth_rows: IntArray
    prediction_rows: IntArray

    def rows_of(self, mistake: int) -> tuple[list[int], list[int]]:
        """Rows of the ground truth and of the predictions of a mistake."""
        truths, predictions = self.mistakes.truths_of(mistake), self.mistakes.predictions_of(mistake)
        return self.truth_rows[truths].tolist(), self.prediction_rows[predictions].tolist()


def _named(
    result: BoxResult[Any],
    page: int,
    drawn_truth: IntArray,
    drawn_prediction: IntArray,
    options: MistakeOptions | None,
) -> _Named:
    """The mistakes of a page: of all its boxes, or of the drawn ones when there are too many to draw."""
    matching = result.matching
    truth, prediction = matching.dataset.ground_truth, matching.prediction
    truths, predictions = rows_on(result, page, None)
    if max(len(truths), len(predictions)) > DRAWN_BOXES:
        truths, predictions = drawn_truth, drawn_prediction
    partner, other_partner = result.truth_partner[truths], result.prediction_partner[predictions]
    # The match of a drawn box may not be drawn; such a box has no name and gives none.
    here, other_here = np.isin(partner, predictions), np.isin(other_partner, truths)
    mistakes = name_mistakes(
        BoxColumns(truth.xyxy[truths], truth.label[truths], truth.page[truths]),
        BoxColumns(prediction.xyxy[predictions], prediction.label[predictions], prediction.page[predictions]),
        np.where(here, np.searchsorted(predictions, partner), NONE),
        iou=result.iou,
        truth_counts=here | (partner == UNMATCHED),
        prediction_counts=other_here | (other_partner == UNMATCHED),
        options=options,
    )
    return _Named(mistakes, truths, predictions)


def _mistakes(
    boxes: list[dict[str, Any]],
    named: _Named,
    result: BoxResult[Any],
    page_points: tuple[float, float] | None,
    kept: Kept | None,
) -> tuple[list[dict[str, Any]], int]:
    """The mistakes in reading order, numbered, and how many the filter hides.

    Writes the number into the ``mistake`` of each box, and how two boxes that are one mistake fit; fades the boxes of
    hidden mistakes.
    """
    by_key = {box["key"]: box for box in boxes}
    number_of = {
        box_key(side, row): mistake
        for side, rows, of in (
            ("ground_truth", named.truth_rows, named.mistakes.of_truth),
            ("prediction", named.prediction_rows, named.mistakes.of_prediction),
        )
        for row, mistake in zip(rows.tolist(), of.tolist(), strict=True)
        if mistake != NONE
    }
    open_boxes = [box for box in boxes if box["key"] in number_of]
    open_boxes.sort(key=lambda box: (round(box["xyxy"][1], 2), box["xyxy"][0], box["key"]))
    together: dict[int, list[dict[str, Any]]] = {}
    hidden = set()
    for box in open_boxes:
        mistake = number_of[box["key"]]
        if kept is not None and not kept.has(box["side"], int(box["key"][1:])):
            box["faded"] = True
            hidden.add(mistake)
        else:
            together.setdefault(mistake, []).append(box)
    mistakes: list[dict[str, Any]] = []
    for number, (mistake, own) in enumerate(together.items(), start=1):
        own.sort(key=lambda box: box["status"] != "FP")
        for box in own:
            box["mistake"] = number
        mistakes.append({"number": number, **_mistake(own, named, mistake, result, by_key)})
        cut = _cut(named, mistake, result, page_points)
        mistakes[-1] |= {"cut": cut, "of": mistake, "lost_words": None, "foreign_words": None, "foreign": []}
        if cut and cut["points"] is not None:
            mistakes[-1]["lines"][0] += f", {cut['points']:.0f} pt"
    return mistakes, len(hidden)


def _add_text(
    mistakes: list[dict[str, Any]], named: _Named, every: tuple[IntArray, IntArray], text: PageText, sides: Sides
) -> None:
    """Write what each mistake does to the text into its facts; `every` are the rows of `sides`."""
    places = []
    for mistake in mistakes:
        truths, predictions = (np.array(part, dtype=np.int64) for part in named.rows_of(mistake["of"]))
        if "ground_truth" not in ERROR_TYPES["document"][mistake["name"]].sides:
            # The ground truth that a duplicate repeats is not what is wrong.
            truths = truths[:0]
        places.append((np.searchsorted(every[0], truths), np.searchsorted(every[1], predictions)))
    for mistake, found in zip(mistakes, mistake_lines(text, sides, places), strict=True):
        mistake["lines"] = [*mistake["lines"], *found.pop("lines")]
        mistake.update(found)


def _mistake(
    boxes: list[dict[str, Any]],
    named: _Named,
    mistake: int,
    result: BoxResult[Any],
    by_key: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """One entry of the list: what it is, and its facts; `boxes` are those of its boxes that are shown."""
    dataset = result.matching.dataset
    kind = ERROR_TYPES["document"][DOCUMENT[named.mistakes.kind[mistake]]]
    truths, predictions = named.rows_of(mistake)
    predicted = next((box for box in boxes if box["side"] == "prediction"), None)
    if len(kind.sides) == 1:
        first = boxes[0]
        facts = [_nearest_text(first, by_key)]
        iou_text = [f"IoU {first['iou']:.2f}"] if first["nearest"] else []
        facts += [" · ".join([*iou_text, *([_score_text(first["score"])] if predicted else [])])]
        facts = [fact for fact in facts if fact]
    elif len(truths) == len(predictions) == 1:
        truth, prediction = dataset.ground_truth, result.matching.prediction
        fit = overlap(truth.xyxy[truths], prediction.xyxy[predictions])
        for box in boxes:
            box |= {name: float(column[0]) for name, column in zip(fit._fields, fit, strict=True)}
        score = float(prediction.score[predictions[0]])
        label = plain(dataset.labels[prediction.label[predictions[0]]])
        facts = [_wrong_text(kind.name, named.mistakes, mistake, label)]
        facts += [f"IoU {boxes[0]['iou']:.2f} · {_score_text(None if np.isnan(score) else score)}"]
    else:
        facts = [f"{count_of(len(truths), 'ground truth')}, {count_of(len(predictions), 'prediction')}"]
    return {
        "name": kind.name,
        "status": boxes[0]["status"],
        "title": kind.title,
        "label": plain(dataset.labels[named.mistakes.label[mistake]]),
        "lines": facts,
        # A poor match has two boxes and one status.
        "tags": [box["status"] for box in boxes if box["status"] != "truth"] or ["TP"],
        "keys": [box["key"] for box in boxes],
    }


def _wrong_text(name: str, mistakes: Mistakes, mistake: int, label: str) -> str:
    """What is wrong with a pair, in words; `label` is that of the prediction."""
    if name == "wrong_class":
        return f"predicted as {label}"
    if name == "near_miss":
        return "overlaps too little for the IoU threshold"
    side = SIDES[mistakes.side[mistake]]
    sign = "−" if name == "cut_off" else "+"
    return f"{side} {sign}{100 * mistakes.share[mistake]:.0f} %"


def _cut(
    named: _Named, mistake: int, result: BoxResult[Any], page_points: tuple[float, float] | None
) -> dict[str, Any] | None:
    """Side, share and length of what a prediction cuts off; None for other mistakes."""
    if DOCUMENT[named.mistakes.kind[mistake]] != "cut_off":
        return None
    side, share = SIDES[named.mistakes.side[mistake]], float(named.mistakes.share[mistake])
    x1, y1, x2, y2 = result.matching.dataset.ground_truth.xyxy[named.rows_of(mistake)[0][0]].tolist()
    extent, axis = (y2 - y1, 1) if side in ("top", "bottom") else (x2 - x1, 0)
    return {"side": side, "share": share, "points": share * extent * page_points[axis] if page_points else None}


def _score_text(score: float | None) -> str:
    """The score of a prediction in words."""
    return "no score" if score is None else f"score {score:.2f}"


def _nearest_text(box: dict[str, Any], by_key: dict[str, dict[str, Any]]) -> str:
    """What an unmatched box overlaps most, in words."""
    near = box["nearest"]
    if near is None:
        return "no ground truth here" if box["side"] == "prediction" else "no prediction here"
    other = by_key[near["key"]]
    state = {"TP": "a matched", "truth": "a matched", "FP": "a false positive", "FN": "a missed"}[other["status"]]
    return f"overlaps {state} {other['label']}"
