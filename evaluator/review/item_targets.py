"""Targets of the mistakes of reading order, text and tables, the verdicts on them, and whether these still apply.

A mistake is identified by its protocol, its name and its boxes; one without a box has no target. A verdict on it
changes no number: an order, a text or a table is corrected in the file of the ground truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from evaluator.data.issues import count_of
from evaluator.protocols.items import ItemResult
from evaluator.protocols.order.mistakes import TITLES as ORDER
from evaluator.protocols.tables.mistakes import TITLES as TABLES
from evaluator.protocols.text.mistakes import TITLES as TEXT
from evaluator.review.identity import match_reviews
from evaluator.review.status import FindingStatus, status_of, status_over
from evaluator.review.verdicts import MOST_BOXES, JudgedBox, ReviewedTarget, ReviewLog, Target

ITEM_PROBLEMS: Final[Mapping[str, str]] = {
    f"{protocol}_{name}": f"{title} ({words})"
    for protocol, words, titles in (("order", "order", ORDER), ("text", "text", TEXT), ("tables", "table", TABLES))
    for name, title in titles.items()
}
"""What can be wrong with items, by protocol and name of the mistake."""
_SENTENCES: Final[Mapping[bool, str]] = {
    True: "The model still makes it.",
    False: "The model does not make it any more.",
}


class ItemPlace(NamedTuple):
    """A mistake of items: its name, its page, which one of this name it is there, and what it costs."""

    name: str
    document: str
    page: int
    number: int
    cost: int


class ItemSide(NamedTuple):
    """What one model has of a kind of mistake: all of that name, how many are judged, and what they cost in `unit`."""

    places: Sequence[ItemPlace]
    judged: int
    unit: str

    @property
    def mistakes(self) -> int:
        """Return the number of its mistakes."""
        return len(self.places)

    @property
    def wrong(self) -> int:
        """Return what they cost."""
        return sum(place.cost for place in self.places)

    @property
    def noun(self) -> str:
        """Return what is counted as wrong, of several."""
        return f"{self.unit}s"

    @property
    def words(self) -> str:
        """Return cost and places: ``12 misplaced items at 5 places``."""
        places = count_of(len(self.places), "place")
        return f"{count_of(self.wrong, self.unit)} at {places}" if self.places else "none"

    @property
    def documents(self) -> int:
        """Return in how many documents they are."""
        return len({place.document for place in self.places})


class ItemsOf(NamedTuple):
    """One model under a protocol of items: name, documents, and the mistakes of a page, from 0, of a document."""

    name: str
    documents: Collection[str]
    on_page: Callable[[str, int], Sequence[Target]]


def places_of(result: ItemResult[Any]) -> Iterator[ItemPlace]:
    """Yield the mistakes of a result, page by page."""
    for page in result.own_pages:
        seen: Counter[str] = Counter()
        for name, cost in page.costs:
            yield ItemPlace(name, page.document, page.page, seen[name], cost)
            seen[name] += 1


def by_kind(models: Sequence[Sequence[ItemPlace]]) -> dict[str, list[list[ItemPlace]]]:
    """Return the mistakes of each model by their name."""
    kinds: dict[str, list[list[ItemPlace]]] = {}
    for at, places in enumerate(models):
        for place in places:
            if place.name not in kinds:
                kinds[place.name] = [[] for _ in models]
            kinds[place.name][at].append(place)
    return kinds


def item_target(
    protocol: str, mistake: str, boxes: Sequence[JudgedBox], *, document: str, page: int, model: str, signature: str
) -> Target:
    """Return a mistake with at least one box as a target; `boxes` in shares of the page, named by the label."""
    problem = f"{protocol}_{mistake}"
    return Target(
        kind="item",
        document=document,
        page=page,
        boxes=tuple(msgspec.structs.replace(box, label=problem) for box in boxes[:MOST_BOXES]),
        models=(model,),
        mistake=problem,
        label=", ".join(dict.fromkeys(box.label for box in boxes)),
        signature=signature,
    )


def item_statuses(log: ReviewLog, models: Sequence[ItemsOf]) -> list[FindingStatus]:
    """Return what became of judged mistakes of items under open models, newest first; ``model`` is None."""
    asked = [(model.name, model.documents, partial(_status, model)) for model in models]
    return [status_over(judged, asked) for judged in log.judged.values() if judged.target.kind == "item"]


def _status(model: ItemsOf, judged: ReviewedTarget) -> FindingStatus:
    target = judged.target
    reviews = match_reviews(model.on_page(target.document or "", target.page or 0), [judged])
    still = any(review is not None for _, review in reviews)
    status = status_of(judged, "applies" if still else "matched", None, target.mistake if still else None)
    return status._replace(sentence=_SENTENCES[still])
