"""Crops of pages around some boxes, and the cards of the gallery as plain values.

Coordinates are shares of the displayed page, origin top left. Items are chosen and filtered elsewhere.
"""

from __future__ import annotations

import base64
import io
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import numpy as np

from evaluator.components.gallery.payload import CardBoxItem, CardItem
from evaluator.components.payload import Rect
from evaluator.components.viewer.outlines import outline_paths
from evaluator.data.boxes import FloatArray, IntArray
from evaluator.data.dataset import Side, box_key
from evaluator.data.issues import count_of, displayed, isolated, name_in_list
from evaluator.matching.box_items import MATCHED, Items
from evaluator.matching.box_results import AnyBoxResult
from evaluator.matching.error_types import DOCUMENT, ERROR_TYPES
from evaluator.matching.page_rows import page_shares, rows_on
from evaluator.pdf.pool import media_type_of
from evaluator.pdf.worker import part_of

CARD_ASPECT: Final = 1.7
"""Width of a crop over its height."""
# Around the boxes, as a share of the page's width; and the least that a crop shows of it.
_MARGIN: Final = 0.03
_LEAST_WIDTH: Final = 0.34
_QUALITY: Final = 82
# So many that the picture of a place has what its caption counts.
_BOXES_OF_A_CARD: Final = 300


def region(boxes: FloatArray, page_points: tuple[float, float], *, aspect: float = CARD_ASPECT) -> Rect:
    """Return the part of a page, in [0, 1], that shows some boxes with a margin.

    `aspect` is width over height in points; boxes, at least one, that are too large for it are shown whole.

    >>> region(np.array([[0.4, 0.4, 0.6, 0.5]]), (600.0, 800.0), aspect=1.7)
    (0.33, 0.375, 0.67, 0.525)
    """
    width, height = page_points
    ratio = width / height
    x1, y1 = boxes[:, :2].min(axis=0)
    x2, y2 = boxes[:, 2:].max(axis=0)
    across = max(x2 - x1 + 2 * _MARGIN, _LEAST_WIDTH)
    down = max(y2 - y1 + 2 * _MARGIN * ratio, across * ratio / aspect)
    across = max(across, down * aspect / ratio)
    spans = [_inside((x1 + x2) / 2, min(across, 1.0)), _inside((y1 + y2) / 2, min(down, 1.0))]
    left, right, top, bottom = (round(float(value), 6) for span in spans for value in span)
    return left, top, right, bottom


def _inside(middle: float, extent: float) -> tuple[float, float]:
    start = min(max(middle - extent / 2, 0.0), 1.0 - extent)
    return start, start + extent


def cut(picture: bytes, part: Rect, *, width: int) -> bytes:
    """Return a part of a page picture as WebP, at most `width` across; never of a file of the user."""
    # A review pack gets its crops cut by the process that draws, and is made without it.
    from PIL import Image

    with Image.open(io.BytesIO(picture), formats=("JPEG", "WEBP")) as page:
        crop = part_of(page.convert("RGB"), part, width=width)
    written = io.BytesIO()
    crop.save(written, format="WEBP", quality=_QUALITY, method=0)
    return written.getvalue()


def cards(result: AnyBoxResult, shown: Items) -> list[CardItem]:
    """Return items as cards, with keys stable for a pair of files; boxes of unknown place are left out."""
    mistakes = result.mistakes
    truths, predictions = [], []
    for row, mistake in enumerate(shown.mistake.tolist()):
        matched = mistake < 0
        truths.append(shown.truth[[row]] if matched else mistakes.truths_of(mistake))
        predictions.append(shown.prediction[[row]] if matched else mistakes.predictions_of(mistake))
    boxes = zip(_boxes_of("ground_truth", result, truths), _boxes_of("prediction", result, predictions), strict=True)
    return [_card(result, shown, row, *of) for row, of in enumerate(boxes)]


def _card(
    result: AnyBoxResult, shown: Items, row: int, truths: list[CardBoxItem], predictions: list[CardBoxItem]
) -> CardItem:
    dataset, kind = result.matching.dataset, int(shown.kind[row])
    boxes = [*truths, *predictions]
    document, index = dataset.documents[shown.document[row]], int(dataset.page_index[shown.page[row]])
    return CardItem(
        key=f"{shown.page[row]}/" + "".join(box.key for box in boxes),
        title="Matched" if kind == MATCHED else ERROR_TYPES["document"][DOCUMENT[kind]].chip,
        label=_label(shown, row, dataset.labels),
        facts=_facts(shown, row, len(truths), len(predictions)),
        place=f"{name_in_list(document.name)}, page {index + 1}",
        tags=_tags(boxes),
        document=document.doc_id,
        index=index,
        box=boxes[-1].key,
        boxes=_placed(boxes),
    )


def _tags(boxes: Sequence[CardBoxItem]) -> list[str]:
    counts = Counter(box.status for box in boxes)
    several = max(counts.values(), default=0) > 1
    return [f"{counts[name]:,} {name}" if several else name for name in ("FP", "FN", "TP") if counts[name]]


def _placed(boxes: list[CardBoxItem]) -> list[CardBoxItem]:
    return [box for box in boxes if not any(map(math.isnan, box.xyxy))]


def _boxes_of(side: Side, result: AnyBoxResult, rows: Sequence[IntArray]) -> Iterator[list[CardBoxItem]]:
    """`_boxes` of each of several lists of rows, all looked up at once."""
    boxes = iter(_boxes(side, result, np.concatenate([np.empty(0, dtype=np.int64), *rows])))
    return (list(islice(boxes, len(each))) for each in rows)


def cause_cards(result: AnyBoxResult, rows: IntArray) -> list[CardItem]:
    """Return some causes of the mistakes of a result, each on one card with all boxes of its name."""
    of_causes, dataset, mistakes = result.causes, result.matching.dataset, result.mistakes
    made = []
    for row in rows.tolist():
        truths = np.flatnonzero(np.isin(mistakes.of_truth, of_causes.rows[row]))
        predictions = np.flatnonzero(np.isin(mistakes.of_prediction, of_causes.rows[row]))
        boxes = [*_boxes("ground_truth", result, truths), *_boxes("prediction", result, predictions)]
        page = int(of_causes.page[row])
        document, index = dataset.documents[dataset.page_document[page]], int(dataset.page_index[page])
        made.append(
            CardItem(
                key=f"{page}/cause/{boxes[0].key}",
                title=displayed(of_causes.title(row)),
                label="",
                facts=[f"{count_of(len(boxes), 'wrong box')} in {count_of(len(of_causes.rows[row]), 'mistake')}"],
                place=f"{name_in_list(document.name)}, page {index + 1}",
                tags=_tags(boxes),
                family=str(of_causes.kind[row]),
                document=document.doc_id,
                index=index,
                box=boxes[-1].key,
                boxes=_placed(boxes)[:_BOXES_OF_A_CARD],
            )
        )
    return made


def page_card(result: AnyBoxResult, page: int, *, title: str, facts: Sequence[str]) -> CardItem:
    """Return a whole page as a card, with every scored box on it."""
    dataset, boxes = result.matching.dataset, page_boxes(result, page)
    document, index = dataset.documents[dataset.page_document[page]], int(dataset.page_index[page])
    return CardItem(
        key=f"{page}/page",
        title=title,
        label="",
        facts=facts,
        place=f"{name_in_list(document.name)}, page {index + 1}",
        tags=_tags([box for box in boxes if box.status in ("FP", "FN")]),
        document=document.doc_id,
        index=index,
        box="",
        boxes=boxes[:_BOXES_OF_A_CARD],
    )


def page_boxes(result: AnyBoxResult, page: int) -> list[CardBoxItem]:
    """Return every scored box of a page under the viewer's statuses; without those that have no place."""
    truths, predictions = rows_on(result, page, None)
    boxes = [*_boxes("ground_truth", result, truths), *_boxes("prediction", result, predictions)]
    return _placed(boxes)


def _boxes(side: Side, result: AnyBoxResult, rows: IntArray) -> list[CardBoxItem]:
    dataset, is_truth = result.matching.dataset, side == "ground_truth"
    own = dataset.ground_truth if is_truth else result.matching.prediction
    places, paths = page_shares(dataset, own, rows), outline_paths(dataset, own, rows)
    partners = result.partners(side, rows)
    matched, unmatched = ("truth", "FN") if is_truth else ("TP", "FP")
    return [
        CardBoxItem(box_key(side, row), side, matched if partner >= 0 else unmatched, (x1, y1, x2, y2), path)  # type: ignore[arg-type]
        for row, partner, (x1, y1, x2, y2), path in zip(
            rows.tolist(), partners.tolist(), places.tolist(), paths, strict=True
        )
    ]


def _label(shown: Items, row: int, labels: tuple[str, ...]) -> str:
    codes = [int(column[row]) for column in (shown.truth_label, shown.prediction_label) if column[row] >= 0]
    return " → ".join(isolated(displayed(labels[code])) for code in dict.fromkeys(codes))


def _facts(shown: Items, row: int, truths: int, predictions: int) -> list[str]:
    facts = []
    if truths > 1 or predictions > 1:
        facts.append(f"{truths} ground truth, {predictions} predicted")
    elif not np.isnan(shown.iou[row]):
        values = (shown.iou[row], shown.coverage[row], shown.purity[row])
        facts.append("IoU {:.2f} · coverage {:.2f} · purity {:.2f}".format(*values))
    if predictions:
        facts.append("no score" if np.isnan(shown.score[row]) else f"score {shown.score[row]:.2f}")
    return facts


def aspect_of(part: Rect, points: tuple[float, float]) -> float:
    """Return width over height of a part of a page, whose size is in points."""
    return (part[2] - part[0]) * points[0] / ((part[3] - part[1]) * points[1])


def data_url(picture: bytes) -> str:
    """Return a picture of the renderer, WebP or JPEG, as a data URL."""
    return f"data:{media_type_of(picture)};base64,{base64.b64encode(picture).decode('ascii')}"
