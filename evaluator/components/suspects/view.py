"""Suspects as the browser shows them: the list, the boxes at each place, and the evidence in a table.

The caller chooses which suspects are shown; what is known of their verdicts comes from `evaluator.review`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from evaluator.analysis.suspects.listing import Suspect, Suspects
from evaluator.analysis.suspects.pairing import NOBODY
from evaluator.components.payload import Rect
from evaluator.components.suspects.payload import SuspectItem, SuspectModelItem, SuspectsPayload
from evaluator.data.boxes import iou
from evaluator.data.dataset import Dataset
from evaluator.data.issues import cut, displayed, name_in_list
from evaluator.metrics.results import capitalised
from evaluator.review.verdicts import Target

NO_SUSPECTS: Final = SuspectsPayload(
    set="", suspects=[], more=0, states={}, only_open=True, pages={}, crops={}, labels=[], unit="", models=[],
    effects={}, reviewer="",
)  # fmt: skip
_MISSING: Final = "n/a"
_NO_BOX: Final = "no box"
_DIGITS: Final = 6
_PERCENT: Final = 100.0


def shares_of(dataset: Dataset, page: int, box: Rect) -> Rect | None:
    """Return a box as shares of its page, given by row; None for pixels on a page of unknown size."""
    size = _size_of(dataset, page)
    if size is None:
        return None
    across, down = size
    x1, y1, x2, y2 = box
    left, top, right, bottom = (round(value, _DIGITS) for value in (x1 / across, y1 / down, x2 / across, y2 / down))
    return left, top, right, bottom


def in_file(dataset: Dataset, page: int, shares: Rect) -> Rect | None:
    """Return a box in shares of its page in the unit of the files; None on a page of unknown size."""
    size = _size_of(dataset, page)
    if size is None:
        return None
    across, down = size
    x1, y1, x2, y2 = shares
    return x1 * across, y1 * down, x2 * across, y2 * down


def _size_of(dataset: Dataset, page: int) -> tuple[float, float] | None:
    if dataset.ground_truth.source.unit == "page":
        return 1.0, 1.0
    width, height = dataset.page_size[page].tolist()
    known = np.isfinite(width) and np.isfinite(height) and width > 0 and height > 0
    return (width, height) if known else None


def suspects_payload(
    every: Suspects, chosen: Sequence[tuple[int, Target]], names: Sequence[tuple[str, str]], *, more: int
) -> SuspectsPayload:
    """Return the list of some suspects without what is known of their verdicts.

    `chosen`: places in the whole list, most likely first, and the target of a verdict on each. `names`: letter and name
    of each model. `more`: how many more there are. Its `set` follows from the list alone.
    """
    shown = [suspect_item(every, place, target, names) for place, target in chosen]
    percent = every.dataset.ground_truth.source.unit == "page"
    return msgspec.structs.replace(
        NO_SUSPECTS,
        set=hashlib.blake2b(msgspec.json.encode(shown), digest_size=8).hexdigest(),
        suspects=shown,
        more=more,
        labels=[displayed(label) for label in every.dataset.labels],
        unit="%" if percent else "px",
        models=[(letter, displayed(name)) for letter, name in names],
    )


def suspect_item(every: Suspects, place: int, target: Target, names: Sequence[tuple[str, str]]) -> SuspectItem:
    """Return one suspect of the list."""
    suspect, dataset, page = every[place], every.dataset, int(every.ranked.page[place])
    now, proposed = (next(iter(target.of(side)), None) for side in ("ground_truth", "prediction"))
    rows = [int(row) for row in every.ranked.prediction[place]]
    models = []
    for (letter, _), side, row in zip(names, dataset.predictions, rows, strict=True):
        box = None if row == NOBODY else shares_of(dataset, page, _corners(side.xyxy[row]))
        if box is not None:
            score = float(side.score[row])
            label = displayed(dataset.labels[side.label[row]])
            models.append(SuspectModelItem(letter, label, None if np.isnan(score) else round(score, 4), box))
    size = _size_of(dataset, page) or (1.0, 1.0)
    percent = dataset.ground_truth.source.unit == "page"
    return SuspectItem(
        target=target.id,
        rank=place,
        document=cut(suspect.document),
        index=suspect.page,
        place=f"{name_in_list(suspect.document)}, page {suspect.page + 1}",
        kind=capitalised(suspect.kind),
        label=displayed(suspect.label),
        score=round(suspect.score, 4),
        reason=displayed(suspect.reason),
        now=None if now is None else shares_of(dataset, page, now.xyxy),
        proposed=None if proposed is None else shares_of(dataset, page, proposed.xyxy),
        new_label=None if proposed is None else dataset.labels.index(proposed.label),
        scale=(_PERCENT, _PERCENT) if percent else size,
        models=models,
        fit=_evidence(every, place, suspect, names),
    )


def _corners(xyxy: np.typing.NDArray[np.float64]) -> Rect:
    x1, y1, x2, y2 = xyxy.tolist()
    return x1, y1, x2, y2


def _evidence(
    every: Suspects, place: int, suspect: Suspect, names: Sequence[tuple[str, str]]
) -> list[tuple[str, str, str]]:
    boxes = (suspect.bbox if suspect.kind != "missing" else None, suspect.proposal.bbox)
    labels = (suspect.label if suspect.kind != "missing" else None, suspect.proposal.label)
    rows = []
    for model, ((letter, name), side) in enumerate(zip(names, every.dataset.predictions, strict=True)):
        row = int(every.ranked.prediction[place, model])
        fits = [_MISSING] * 2
        for at, box in enumerate(boxes):
            if box is not None and row != NOBODY:
                fits[at] = f"{iou(side.xyxy[[row]], np.array([box]))[0]:.2f}"
        rows.append((f"IoU with {letter} {displayed(name)}", fits[0], fits[1]))
    now, proposed = (_NO_BOX if label is None else displayed(label) for label in labels)
    return [*rows, ("Label", now, proposed)]


def picture_key(document: str, index: int) -> str:
    """Return the name of the picture of a page in the payload.

    >>> picture_key("a.pdf", 2)
    '2 a.pdf'
    """
    return f"{index} {cut(document)}"
