"""What the page viewer draws of one page: boxes with their status, mistakes, and the page strip.

Owns the hand-over from a matching to the viewer's plain data; the viewer's JavaScript knows no protocol. A
box is named by side and row (``g12``, ``p3``), stable for a pair of files. Coordinates are shares of the
displayed page, origin top left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from evaluator.boxes import BoolArray, FloatArray, IntArray, iou, overlap
from evaluator.dataset import Annotations, JoinedBoxes
from evaluator.protocols.snapshot import UNMATCHED, ThresholdResult

# More boxes of a side than this are not drawn; the page says how many were left out.
DRAWN_BOXES: Final = 1_000
# Two unmatched boxes of the two sides that overlap at least so much are one mistake, not two.
NEAR_MISS_IOU: Final = 0.1
_STRIP_BLOCKS: Final = 12


def box_key(side: str, row: int) -> str:
    """Name of a box on the page: ``g12`` is row 12 of the ground truth, ``p12`` of the prediction."""
    return f"{'g' if side == 'ground_truth' else 'p'}{row}"


def page_data(result: ThresholdResult, page: int, *, labels: Sequence[str] | None = None) -> dict[str, Any]:
    """Boxes, mistakes and counts of one page, as the viewer reads them.

    Parameters
    ----------
    result : ThresholdResult
    page : int
        Row of the page in the dataset.
    labels : sequence of str, optional
        Show boxes of these labels only; all that are scored when absent.

    Returns
    -------
    dict
        ``boxes`` (matched ground truth under the status ``truth``), ``mistakes`` in reading order,
        ``counts``, ``labels`` and ``limit`` (None, or how many of how many boxes are drawn). Empty lists
        for a page without boxes.
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
    near = _nearest(truth.xyxy[drawn_truth], prediction.xyxy[drawn_prediction])
    boxes = [
        *_boxes_of("ground_truth", result, drawn_truth, drawn_prediction, near),
        *_boxes_of("prediction", result, drawn_prediction, drawn_truth, near.T),
    ]
    present = {box["label"] for box in boxes}
    total = len(truth_rows) + len(prediction_rows)
    return {
        "boxes": boxes,
        "mistakes": _mistakes(boxes),
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


def strip(result: ThresholdResult, pages: Sequence[tuple[str, int]], current: int) -> list[dict[str, Any]]:
    """The page strip: each page with its number of mistakes and a few blocks of its layout.

    Parameters
    ----------
    result : ThresholdResult
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
    entries: list[dict[str, Any]] = []
    for position, (document, index) in enumerate(pages):
        row = dataset.page_row(codes[document], index)
        on_page = np.flatnonzero(truth.page == row)[:_STRIP_BLOCKS] if row is not None else np.empty(0, np.int64)
        blocks = [
            [*(round(float(value), 3) for value in truth.xyxy[box]), dataset.labels[truth.label[box]]]
            for box in on_page
        ]
        mistakes = int(result.per_page.mistakes[row]) if row is not None else 0
        entries.append(
            {
                "document": document,
                "index": index,
                "mistakes": mistakes,
                "blocks": blocks,
                "current": position == current,
            }
        )
    return entries


def page_order(
    result: ThresholdResult,
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
    result : ThresholdResult
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
    side_name: str, result: ThresholdResult, rows: IntArray, other_rows: IntArray, near: FloatArray
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


def _mistakes(boxes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Unmatched boxes in reading order, numbered; two that are each other's nearest are one mistake.

    Writes the number into the ``mistake`` of each box.
    """
    by_key = {box["key"]: box for box in boxes}
    open_boxes = [box for box in boxes if box["status"] in ("FP", "FN")]
    open_boxes.sort(key=lambda box: (round(box["xyxy"][1], 2), box["xyxy"][0], box["key"]))
    mistakes: list[dict[str, Any]] = []
    for box in open_boxes:
        if box["mistake"] is not None:
            continue
        other = _near_miss_partner(box, by_key)
        together = [box] if other is None else sorted((box, other), key=lambda one: one["status"] != "FP")
        number = len(mistakes) + 1
        for one in together:
            one["mistake"] = number
        mistakes.append(_mistake(number, together, by_key))
    return mistakes


def _near_miss_partner(box: dict[str, Any], by_key: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """The unmatched box of the other side that is nearest to this one, and it to that."""
    near = box["nearest"]
    if near is None or near["iou"] < NEAR_MISS_IOU:
        return None
    other = by_key[near["key"]]
    mutual = other["nearest"] is not None and other["nearest"]["key"] == box["key"]
    return other if mutual and other["mistake"] is None else None


def _mistake(number: int, boxes: list[dict[str, Any]], by_key: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """One entry of the list: what it is, in the words of the legend, and its facts."""
    first = boxes[0]
    truth = next((box for box in boxes if box["side"] == "ground_truth"), None)
    predicted = next((box for box in boxes if box["side"] == "prediction"), None)
    if truth and predicted:
        same = truth["label"] == predicted["label"]
        title, label = ("Near miss" if same else "Wrong class"), truth["label"]
        facts = [
            "overlaps too little for the IoU threshold" if same else f"predicted as {predicted['label']}",
            f"{_fit_text(predicted)} · {_score_text(predicted)}",
        ]
    else:
        title, label = ("False positive" if predicted else "Missed"), first["label"]
        facts = [_nearest_text(first, by_key)]
        facts += [_fit_text(first)] if first["nearest"] else []
        facts += [_score_text(predicted)] if predicted else []
    return {
        "number": number,
        "status": first["status"],
        "title": title,
        "label": label,
        "lines": facts,
        "tags": [box["status"] for box in boxes],
        "keys": [box["key"] for box in boxes],
    }


def _score_text(box: dict[str, Any]) -> str:
    """The score of a prediction in words."""
    return "no score" if box["score"] is None else f"score {box['score']:.2f}"


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
