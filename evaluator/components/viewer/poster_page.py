"""What the viewer draws of a poster: missing (FN) and extra (FP) words, one mistake for all places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evaluator.components.payload import CountedStatus, LimitItem
from evaluator.components.viewer.page_overlay import DRAWN_BOXES
from evaluator.components.viewer.payload import BoxItem, CountsItem, MistakeItem, PageLayers
from evaluator.data.issues import count_of
from evaluator.protocols.posters.word_places import PageDifference, WordPlaces

STATUSES: Final[dict[str, CountedStatus]] = {"missing": "FN", "extra": "FP"}
WORD_TITLES: Final = {
    ("missing", "word"): "Missing word",
    ("missing", "number"): "Missing number",
    ("extra", "word"): "Extra word",
    ("extra", "number"): "Extra number",
}


def poster_data(difference: PageDifference, *, extra: bool = True) -> PageLayers:
    """Return boxes, mistakes and word counts of a poster: missing words, then extra ones if `extra`."""
    words = [*difference.missing, *(difference.extra if extra else ())]
    boxes: list[BoxItem] = []
    mistakes: list[MistakeItem] = []
    total = sum(len(places.boxes) for places in words)
    for number, places in enumerate(words, start=1):
        own = _boxes(places, number, len(boxes))[: max(0, DRAWN_BOXES - len(boxes))]
        if not own:
            break
        boxes += own
        mistakes.append(word_mistake(places, number, [box.key for box in own]))
    missing, more = len(difference.missing), len(difference.extra) if extra else 0
    return PageLayers(
        boxes=boxes,
        mistakes=mistakes,
        counts=CountsItem(TP=0, FP=more, FN=missing, ground_truth=missing, predictions=more),
        labels=(),
        limit=None if len(boxes) == total else LimitItem(drawn=len(boxes), total=total),
        statuses=("FP", "FN") if extra else ("FN",),
        head=f"{missing:,} missing, {more:,} extra on the page" if extra else f"{missing:,} missing on the page",
    )


def _boxes(places: WordPlaces, number: int, first: int) -> list[BoxItem]:
    return [
        BoxItem(
            key=f"w{first + place}",
            side="ground_truth" if places.side == "missing" else "prediction",
            status=STATUSES[places.side],
            label=places.token,
            xyxy=(x1, y1, x2, y2),
            mistake=number,
        )
        for place, (x1, y1, x2, y2) in enumerate(places.boxes.tolist())
    ]


def word_mistake(places: WordPlaces, number: int, keys: Sequence[str]) -> MistakeItem:
    """Return one entry of the list; `keys` are those of its boxes, one for each place of the word."""
    missing = places.side == "missing"
    why = "in the reference, not in the extraction" if missing else "in the extraction, not in the reference"
    return MistakeItem(
        number=number,
        name=f"{places.side}_{places.kind}",
        status=STATUSES[places.side],
        title=WORD_TITLES[places.side, places.kind],
        label=places.token,
        lines=[why, count_of(len(keys), "place") + " on the page"],
        tags=[STATUSES[places.side]],
        keys=list(keys),
    )
