"""What the page viewer draws of a page of extracted fields: boxes with status, problems, page strip.

Boxes are named by side and row (``g12``). One below the threshold and its ground truth are one problem.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np

from evaluator.components.payload import BlockItem, LimitItem, Rect
from evaluator.components.viewer.payload import BoxItem, CountsItem, MistakeItem, PageLayers, StripItem
from evaluator.data.boxes import BoolArray, IntArray, overlap
from evaluator.data.dataset import Side
from evaluator.data.fields import Corners, Field
from evaluator.data.issues import cut
from evaluator.metrics.results import SourceFile
from evaluator.protocols.fields.drill_down import FieldPages, problems
from evaluator.protocols.fields.evaluation import BELOW_THRESHOLD, MISSED, SPURIOUS, TRUE_POSITIVE, FieldsResult

SHARES: Final = "shares"
POINTS: Final = "points"
UNITS: Final[Mapping[str, tuple[str, float]]] = {
    SHARES: ("Shares of the page", 0.0),
    POINTS: ("Points", 72.0),
    **{f"{dpi}dpi": (f"Pixels at {dpi} dpi", float(dpi)) for dpi in (96, 100, 150, 200, 300)},
}
"""Units in which boxes may be given, with their names and how many go into an inch."""
_POINTS_PER_INCH: Final = 72.0
_STRIP_BLOCKS: Final = 12
_VALUE_LENGTH: Final = 60
# More boxes than this are not drawn; the page says how many were left out.
DRAWN_BOXES: Final = 1_000
Fit = tuple[float | None, float | None, float | None]
_NO_FIT: Final[Fit] = (None, None, None)
_WORDS: Final[Mapping[int, tuple[str, str]]] = {
    TRUE_POSITIVE: ("", "TP"),
    BELOW_THRESHOLD: ("Box too far off", "FP"),
    MISSED: ("Missed", "FN"),
    SPURIOUS: ("Extra", "FP"),
}


@dataclass(frozen=True, slots=True)
class Paper:
    """A page (document code, index from 0); `points` are width and height, None where the PDF cannot say."""

    document: int
    page: int
    points: tuple[float, float] | None
    unit: str

    def on_page(self, box: Corners) -> Rect | None:
        """Return a box as shares of the page; None when the unit needs a page size that is not known."""
        per_inch = UNITS[self.unit][1]
        if self.unit == SHARES:
            return box
        if self.points is None:
            return None
        width, height = (side * per_inch / _POINTS_PER_INCH for side in self.points)
        return box[0] / width, box[1] / height, box[2] / width, box[3] / height


def unit_of(result: FieldsResult) -> str:
    """Return the key of `UNITS` that boxes look like: shares if no coordinate exceeds 1, else points."""
    fields = (*result.compared.truth, *result.compared.predicted)
    return SHARES if all(max(field.box) <= 1.0 for field in fields if field and field.box) else POINTS


def page_data(
    result: FieldsResult, pages: FieldPages, paper: Paper, *, iou: float, kept: IntArray | None = None
) -> PageLayers:
    """Return boxes, problems (in reading order, those without a drawn box last) and counts of one page.

    `kept` are the rows that are listed, int64, shape (K,), None for all problems; boxes of other problems are faded.
    Matched ground truth has the status ``truth``; `row` is that of ``compared``.
    """
    rows = pages.rows_on(paper.document, paper.page)
    status = result.status(iou)
    wrong = problems(result, iou)
    listed = wrong if kept is None else np.isin(np.arange(len(wrong)), kept)
    boxes_of = {row: _boxes(result, pages, paper, row, int(status[row])) for row in rows.tolist()}
    every = [
        msgspec.structs.replace(box, faded=bool(wrong[row] and not listed[row]))
        for row, own in boxes_of.items()
        for box in own
    ]
    by_key = {box.key: box for box in every[:DRAWN_BOXES]}
    mistakes = _numbered(
        [_mistake(result, row, int(status[row]), boxes_of[row]) for row in rows[listed[rows]].tolist()], by_key
    )
    number_of = {key: mistake.number for mistake in mistakes for key in mistake.keys}
    drawn = [msgspec.structs.replace(box, mistake=number_of.get(key)) for key, box in by_key.items()]
    return PageLayers(
        boxes=drawn,
        mistakes=mistakes,
        hidden_mistakes=int((wrong & ~listed)[rows].sum()),
        counts=_counts(result, pages, paper, rows, status[rows] == TRUE_POSITIVE),
        labels=list(dict.fromkeys(box.label for box in drawn)),
        limit=None if len(drawn) == len(every) else LimitItem(drawn=len(drawn), total=len(every)),
        notes=_notes(result, pages, paper, rows, every),
    )


def strip(
    result: FieldsResult,
    pages: FieldPages,
    listed: Sequence[tuple[int, int]],
    current: int,
    *,
    counts: Mapping[tuple[int, int], int],
    papers: Mapping[tuple[int, int], Paper] | None = None,
) -> list[StripItem]:
    """Return the page strip: each page with its number of problems and a few blocks of its fields."""
    wanted = {page: list[BlockItem]() for page in listed}
    documents = np.isin(result.compared.document, [document for document, _ in listed])
    unit = unit_of(result)
    for row in np.flatnonzero(documents & result.compared.has_truth).tolist():
        page = int(result.compared.document[row]), int(pages.truth_page[row])
        blocks = wanted.get(page)
        field = result.compared.truth[row]
        if blocks is None or len(blocks) >= _STRIP_BLOCKS or field is None or field.box is None:
            continue
        paper = (papers or {}).get(page) or Paper(*page, None, unit)
        place = paper.on_page(field.box)
        if place is not None:
            x1, y1, x2, y2 = (round(min(max(share, 0.0), 1.0), 3) for share in place)
            blocks.append((x1, y1, x2, y2, "Text"))
    return [
        StripItem(
            document=cut(result.compared.documents[document]),
            index=index,
            mistakes=counts.get((document, index), 0),
            blocks=wanted[document, index],
            current=position == current,
        )
        for position, (document, index) in enumerate(listed)
    ]


def value_text(value: object, *, length: int = _VALUE_LENGTH) -> str:
    """Return a value as shown: text as it is, all else as JSON, cut at a length; "null" for null."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= length else text[: length - 1] + "…"


def _boxes(result: FieldsResult, pages: FieldPages, paper: Paper, row: int, status: int) -> list[BoxItem]:
    compared = result.compared
    truth, predicted = compared.truth[row], compared.predicted[row]
    matched = status == TRUE_POSITIVE
    fit = _fit(truth, predicted) if pages.truth_page[row] == pages.predicted_page[row] else _NO_FIT
    boxes: list[BoxItem] = []
    sides: tuple[tuple[Side, str, Field | None, str | None, tuple[SourceFile, ...], int], ...] = (
        ("prediction", "p", predicted, compared.prediction_path[row], compared.prediction, pages.predicted_page[row]),
        ("ground_truth", "g", truth, compared.truth_path[row], compared.ground_truth, pages.truth_page[row]),
    )
    for side, letter, field, path, sources, page in sides:
        counts = result.with_truth[row] if letter == "g" else result.with_prediction[row]
        if field is None or field.box is None or page != paper.page or not counts:
            continue
        place = paper.on_page(field.box)
        if place is None:
            continue
        predicts = letter == "p"
        boxes.append(
            BoxItem(
                key=f"{letter}{row}",
                side=side,
                status=("TP" if predicts else "truth") if matched else ("FP" if predicts else "FN"),
                label=cut(path or ""),
                xyxy=place,
                score=_finite(field.confidence) if predicts else None,
                iou=fit[0],
                coverage=fit[1],
                purity=fit[2],
                partner=f"{'g' if predicts else 'p'}{row}" if matched else None,
                source=f"{sources[0].name}, {cut(compared.documents[compared.document[row]])}, $.{cut(path or '')}",
            )
        )
    return boxes


def _fit(truth: Field | None, predicted: Field | None) -> Fit:
    if truth is None or predicted is None or truth.box is None or predicted.box is None:
        return _NO_FIT
    iou, coverage, purity = (
        _finite(float(value)) for (value,) in overlap(np.array([truth.box]), np.array([predicted.box]))
    )
    return iou, coverage, purity


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _mistake(result: FieldsResult, row: int, status: int, boxes: Sequence[BoxItem]) -> MistakeItem:
    compared = result.compared
    truth, predicted = compared.truth[row], compared.predicted[row]
    paired = truth is not None and predicted is not None
    wrong = paired and bool(compared.is_field[row]) and not compared.right[row]
    title = _WORDS[status][0] if status in _WORDS else ""
    alone = "Right" if paired else "Value not predicted" if truth else "Value without ground truth"
    words = [word for word in (title, "Wrong value" if wrong else "") if word] or [alone]
    lines = [f"predicted {quoted_value(predicted)}" if predicted else "nothing predicted"]
    lines += [f"ground truth {quoted_value(truth)}" if truth else "no such field in the ground truth"]
    iou = f"IoU {compared.iou[row]:.2f}" if compared.has_truth[row] and compared.has_prediction[row] else ""
    known = predicted is not None and np.isfinite(predicted.confidence)
    sure = f"confidence {predicted.confidence:.2f}" if predicted and known else "no confidence" if predicted else ""
    lines += [" · ".join(part for part in (iou, sure, *_oddities(truth, predicted, status)) if part)]
    return MistakeItem(
        number=0,
        name="_".join(words).lower().replace(" ", "_"),
        status=_WORDS[status][1] if status in _WORDS else "none",
        title=", ".join([words[0], *(word.lower() for word in words[1:])]),
        label=cut(compared.truth_path[row] or compared.prediction_path[row] or ""),
        lines=[line for line in lines if line],
        tags=[box.status for box in boxes if box.status != "truth"],
        keys=[box.key for box in boxes],
        row=row,
    )


def quoted_value(field: Field) -> str:
    """Return a value in quotes; null and numbers as they are."""
    text = value_text(field.value)
    return f"“{text}”" if isinstance(field.value, str) else text


def _oddities(truth: Field | None, predicted: Field | None, status: int) -> list[str]:
    reasons = []
    if status == MISSED and predicted is not None:
        reasons.append("predicted without a box")
    if status == SPURIOUS and truth is not None:
        reasons.append("no box in the ground truth")
    for side, field in (("ground truth", truth), ("prediction", predicted)):
        if field is not None and field.has_box and field.box is None:
            reasons.append(f"malformed box in the {side}")
    if truth and predicted and truth.box and predicted.box and truth.page != predicted.page:
        reasons.append(f"on page {predicted.page + 1} instead of page {truth.page + 1}")
    return reasons


def _numbered(mistakes: Sequence[MistakeItem], boxes: Mapping[str, BoxItem]) -> list[MistakeItem]:
    drawn = [
        msgspec.structs.replace(mistake, keys=[key for key in mistake.keys if key in boxes]) for mistake in mistakes
    ]

    def place(mistake: MistakeItem) -> tuple[bool, float, float]:
        corners = [boxes[key].xyxy for key in mistake.keys]
        top = min(((round(box[1], 2), box[0]) for box in corners), default=(0.0, 0.0))
        return not corners, *top

    ordered = enumerate(sorted(drawn, key=place), start=1)
    return [msgspec.structs.replace(mistake, number=number) for number, mistake in ordered]


def _counts(result: FieldsResult, pages: FieldPages, paper: Paper, rows: IntArray, hit: BoolArray) -> CountsItem:
    predicted = result.with_prediction[rows] & (pages.predicted_page[rows] == paper.page)
    truths = result.with_truth[rows] & (pages.truth_page[rows] == paper.page)
    return CountsItem(
        TP=int((predicted & hit).sum()),
        FP=int((predicted & ~hit).sum()),
        FN=int((truths & ~hit).sum()),
        ground_truth=int(truths.sum()),
        predictions=int(predicted.sum()),
    )


def _notes(
    result: FieldsResult, pages: FieldPages, paper: Paper, rows: IntArray, boxes: Sequence[BoxItem]
) -> list[str]:
    compared = result.compared
    given = sum(
        int((has[rows] & (on[rows] == paper.page)).sum())
        for has, on in ((result.with_truth, pages.truth_page), (result.with_prediction, pages.predicted_page))
    )
    notes = []
    if given > len(boxes) and paper.unit != SHARES and paper.points is None:
        notes.append("The size of the page is not known, so boxes that are not shares of the page cannot be drawn.")
    elif given > len(boxes):
        notes.append(f"{given - len(boxes)} of {given} boxes of this page are malformed and cannot be drawn.")
    outside = sum(not all(-0.01 <= share <= 1.01 for share in box.xyxy) for box in boxes)
    if outside:
        name = UNITS[paper.unit][0].lower()
        notes.append(f"{outside} of {len(boxes)} boxes reach beyond the page when read as {name}.")
    return notes if len(compared) else []
