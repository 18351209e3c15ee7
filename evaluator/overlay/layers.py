"""What the page viewer draws of one page: boxes with their status, mistakes, and the page strip.

Owns the hand-over from a matching to the viewer's plain data; the viewer's JavaScript knows no protocol. A
box is named by side and row (``g12``, ``p3``), stable for a pair of files. Coordinates are shares of the
displayed page, origin top left. What a mistake is called, `evaluator.error_types` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evaluator.box_results import UNMATCHED, BoxResult
from evaluator.boxes import BoolArray, FloatArray, IntArray, iou, overlap
from evaluator.dataset import Annotations, JoinedBoxes
from evaluator.error_types import DOCUMENT, ERROR_TYPES, NONE, SIDES, BoxColumns, Mistakes, name_mistakes
from evaluator.results import count_of

# More boxes of a side than this are not drawn; the page says how many were left out.
DRAWN_BOXES: Final = 1_000
_STRIP_BLOCKS: Final = 12


def box_key(side: str, row: int) -> str:
    """Name of a box on the page: ``g12`` is row 12 of the ground truth, ``p12`` of the prediction."""
    return f"{'g' if side == 'ground_truth' else 'p'}{row}"


def page_data(
    result: BoxResult[Any],
    page: int,
    *,
    labels: Sequence[str] | None = None,
    page_points: tuple[float, float] | None = None,
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

    Returns
    -------
    dict
        ``boxes`` (matched ground truth under the status ``truth``), ``mistakes`` in reading order,
        ``counts``, ``labels`` and ``limit`` (None, or how many of how many boxes are drawn). Empty lists
        for a page without boxes. A mistake has ``number``, ``status``, ``title``, ``label``, ``lines``, ``tags``,
        ``keys``, ``name`` (see `evaluator.error_types`) and ``cut``: None, or ``side``, ``share`` of the ground
        truth's height or width, and ``points`` (float or None) of what is cut off.
    """
    matching = result.matching
    dataset = matching.dataset
    truth, prediction = dataset.ground_truth, matching.prediction
    shown = set(matching.labels if labels is None else labels)
    truth_rows = _rows_on(truth, page, matching.truth_counts, dataset.labels, shown)
    prediction_rows = _rows_on(prediction, page, matching.prediction_counts, dataset.labels, shown)
    missed = int((result.truth_partner[truth_rows] == UNMATCHED).sum())
    invented = int((result.prediction_partner[prediction_rows] == UNMATCHED).sum())
    drawn_truth, drawn_prediction = truth_rows[:DRAWN_BOXES], prediction_rows[:DRAWN_BOXES]
    named = _named(result, page, drawn_truth, drawn_prediction)
    near = _nearest(truth.xyxy[drawn_truth], prediction.xyxy[drawn_prediction])
    boxes = [
        *_boxes_of("ground_truth", result, drawn_truth, drawn_prediction, near),
        *_boxes_of("prediction", result, drawn_prediction, drawn_truth, near.T),
    ]
    present = {box["label"] for box in boxes}
    total = len(truth_rows) + len(prediction_rows)
    return {
        "boxes": boxes,
        "mistakes": _mistakes(boxes, named, result, page_points),
        "counts": {
            "TP": len(prediction_rows) - invented,
            "FP": invented,
            "FN": missed,
            "ground_truth": len(truth_rows),
            "predictions": len(prediction_rows),
        },
        "labels": [label for label in dataset.labels if label in present],
        "limit": None if len(boxes) == total else {"drawn": len(boxes), "total": total},
    }


def strip(result: BoxResult[Any], pages: Sequence[tuple[str, int]], current: int) -> list[dict[str, Any]]:
    """The page strip: each page with its number of mistakes and a few blocks of its layout.

    Parameters
    ----------
    result : BoxResult
    pages : sequence of (str, int)
        Document id and page index, in the order of the strip.
    current : int
        Position of the current page in `pages`.

    Returns
    -------
    list of dict
        ``document``, ``index``, ``mistakes``, ``blocks`` ([x1, y1, x2, y2, kind]), ``current``.
    """
    dataset = result.matching.dataset
    truth = dataset.ground_truth
    codes = {document.doc_id: code for code, document in enumerate(dataset.documents)}
    rows = [dataset.page_row(codes[document], index) for document, index in pages]
    # One pass over the boxes for all pages of the strip: a corpus has a million boxes and a strip 200 pages.
    wanted = np.array([row for row in rows if row is not None], dtype=np.int64)
    blocks_of: dict[int, list[list[Any]]] = {int(row): [] for row in wanted}
    for box in np.flatnonzero(np.isin(truth.page, wanted)).tolist():
        blocks = blocks_of[int(truth.page[box])]
        if len(blocks) < _STRIP_BLOCKS:
            blocks.append([*(round(float(value), 3) for value in truth.xyxy[box]), dataset.labels[truth.label[box]]])
    entries: list[dict[str, Any]] = []
    for position, ((document, index), row) in enumerate(zip(pages, rows, strict=True)):
        mistakes = int(result.per_page.mistakes[row]) if row is not None else 0
        entries.append(
            {
                "document": document,
                "index": index,
                "mistakes": mistakes,
                "blocks": blocks_of[row] if row is not None else [],
                "current": position == current,
            }
        )
    return entries


def page_order(
    result: BoxResult[Any],
    *,
    document: str | None = None,
    page_counts: dict[str, int] | None = None,
    worst_first: bool = True,
    only_mistakes: bool = False,
    only_with_boxes: bool = False,
) -> list[tuple[str, int]]:
    """Pages to walk through: document id and page index.

    Parameters
    ----------
    result : BoxResult
    document : str, optional
        Pages of this document only.
    page_counts : dict of int, optional
        Pages of each PDF by document id: pages that no file mentions are walked too.
    worst_first : bool
        Most mistakes first, equal ones by document and page; else by document and page.
    only_mistakes : bool
        Leave out pages without a mistake.
    only_with_boxes : bool
        Leave out pages without any box that takes part.

    Returns
    -------
    list of (str, int)
        Empty when nothing passes.
    """
    dataset = result.matching.dataset
    mistakes = result.per_page.mistakes
    listed = np.flatnonzero((result.per_page.tp + mistakes) > 0) if only_with_boxes else np.arange(dataset.pages)
    known = {
        (dataset.documents[dataset.page_document[row]].doc_id, int(dataset.page_index[row])): int(mistakes[row])
        for row in listed.tolist()
    }
    for doc_id, pages in (page_counts or {}).items():
        for index in range(pages):
            known.setdefault((doc_id, index), 0)
    chosen = [
        (page, count)
        for page, count in sorted(known.items())
        if document in (None, page[0]) and (count or not only_mistakes)
    ]
    if worst_first:
        chosen.sort(key=lambda item: -item[1])
    return [page for page, _ in chosen]


def _rows_on(side: JoinedBoxes, page: int, counts: BoolArray, labels: Sequence[str], shown: set[str]) -> IntArray:
    """Rows of the boxes on a page that take part and have one of the labels, in file order."""
    wanted = np.array([label in shown for label in labels], dtype=bool)
    return np.flatnonzero((side.page == page) & counts & wanted[side.label])


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
    boxes: list[dict[str, Any]] = []
    for place, (row, partner) in enumerate(zip(rows.tolist(), partners.tolist(), strict=True)):
        matched = partner != UNMATCHED
        best = int(near[place].argmax()) if near.shape[1] else 0
        overlaps = near.shape[1] > 0 and near[place, best] > 0.0
        # The fit is told to the partner, or else to the box that overlaps most.
        beside = partner if matched else int(other_rows[best]) if overlaps else None
        pair = (side.xyxy[[row]], other.xyxy[[beside]]) if beside is not None else None
        fit = overlap(*(pair if is_truth else pair[::-1])) if pair else None
        score = float(side.score[row])
        boxes.append(
            {
                "key": box_key(side_name, row),
                "side": side_name,
                "status": ("truth" if is_truth else "TP") if matched else ("FN" if is_truth else "FP"),
                "label": labels[side.label[row]],
                "xyxy": side.xyxy[row].tolist(),
                "score": None if is_truth or np.isnan(score) else score,
                "iou": float(fit.iou[0]) if fit else None,
                "coverage": float(fit.coverage[0]) if fit else None,
                "purity": float(fit.purity[0]) if fit else None,
                "partner": box_key(other_name, partner) if matched else None,
                "nearest": None
                if matched or not overlaps
                else {"key": box_key(other_name, int(other_rows[best])), "iou": float(near[place, best])},
                "mistake": None,
                "source": _source(side.source, row),
            }
        )
    return boxes


def _source(source: Annotations, row: int) -> str:
    """File and place of a box, so that every number can be followed to its line."""
    name, entry, position = source.source_of(row)
    return f"{name}, $.predictions[{entry}].objects[{position}]"


class _Named(NamedTuple):
    """The named mistakes of a page, and the rows of the files that they are about."""

    mistakes: Mistakes
    truth_rows: IntArray
    prediction_rows: IntArray

    def rows_of(self, mistake: int) -> tuple[list[int], list[int]]:
        """Rows of the ground truth and of the predictions of a mistake."""
        truths, predictions = self.mistakes.truths_of(mistake), self.mistakes.predictions_of(mistake)
        return self.truth_rows[truths].tolist(), self.prediction_rows[predictions].tolist()


def _named(result: BoxResult[Any], page: int, drawn_truth: IntArray, drawn_prediction: IntArray) -> _Named:
    """The mistakes of a page: of all its boxes, or of the drawn ones when there are too many to draw."""
    matching = result.matching
    truth, prediction = matching.dataset.ground_truth, matching.prediction
    truths = np.flatnonzero((truth.page == page) & matching.truth_counts)
    predictions = np.flatnonzero((prediction.page == page) & matching.prediction_counts)
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
    )
    return _Named(mistakes, truths, predictions)


def _mistakes(
    boxes: list[dict[str, Any]], named: _Named, result: BoxResult[Any], page_points: tuple[float, float] | None
) -> list[dict[str, Any]]:
    """The mistakes in reading order, numbered.

    Writes the number into the ``mistake`` of each box, and how two boxes that are one mistake fit.
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
    for box in open_boxes:
        together.setdefault(number_of[box["key"]], []).append(box)
    mistakes = []
    for number, (mistake, own) in enumerate(together.items(), start=1):
        own.sort(key=lambda box: box["status"] != "FP")
        for box in own:
            box["mistake"] = number
        mistakes.append({"number": number, **_mistake(own, named, mistake, result, by_key)})
        mistakes[-1]["cut"] = _cut(named, mistake, result, page_points)
    return mistakes


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
        facts += [_fit_text(first)] if first["nearest"] else []
        facts += [_score_text(first["score"])] if predicted else []
    elif len(truths) == len(predictions) == 1:
        truth, prediction = dataset.ground_truth, result.matching.prediction
        fit = overlap(truth.xyxy[truths], prediction.xyxy[predictions])
        for box in boxes:
            box |= {name: float(column[0]) for name, column in zip(fit._fields, fit, strict=True)}
        score = float(prediction.score[predictions[0]])
        label = dataset.labels[prediction.label[predictions[0]]]
        facts = [_wrong_text(kind.name, named.mistakes, mistake, label)]
        facts += [_fit_text(boxes[0]), _score_text(None if np.isnan(score) else score)]
    else:
        facts = [f"{count_of(len(truths), 'ground truth')}, {count_of(len(predictions), 'prediction')}"]
    return {
        "name": kind.name,
        "status": boxes[0]["status"],
        "title": kind.title,
        "label": dataset.labels[named.mistakes.label[mistake]],
        "lines": facts,
        "tags": [box["status"] for box in boxes],
        "keys": [box["key"] for box in boxes],
    }


def _wrong_text(name: str, mistakes: Mistakes, mistake: int, label: str) -> str:
    """What is wrong with a pair, in words; `label` is that of the prediction."""
    if name == "wrong_class":
        return f"predicted as {label}"
    if name == "near_miss":
        return "overlaps too little for the IoU threshold"
    side = SIDES[mistakes.side[mistake]]
    share = f"{mistakes.share[mistake]:.0%}".replace("%", " %")
    extent = "height" if side in ("top", "bottom") else "width"
    place = f"at the {side}" if side in ("top", "bottom") else f"on the {side}"
    return f"{share} of the {extent} {'missing' if name == 'cut_off' else 'too much'} {place}"


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


def _fit_text(box: dict[str, Any]) -> str:
    """How a box fits the one that it belongs to or overlaps most, in words."""
    return f"IoU {box['iou']:.2f} · coverage {box['coverage']:.2f} · purity {box['purity']:.2f}"


def _nearest_text(box: dict[str, Any], by_key: dict[str, dict[str, Any]]) -> str:
    """What an unmatched box overlaps most, in words."""
    near = box["nearest"]
    if near is None:
        return "no ground truth here" if box["side"] == "prediction" else "no prediction here"
    other = by_key[near["key"]]
    state = {"TP": "a matched", "truth": "a matched", "FP": "a false positive", "FN": "a missed"}[other["status"]]
    return f"overlaps {state} {other['label']}"
