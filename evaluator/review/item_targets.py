"""Targets of the mistakes of reading order, text and tables, the verdicts on them, and whether these still apply.

A mistake is identified by its protocol, its name and its boxes; one without a box has no target. A verdict on it
changes no number: an order, a text or a table is corrected in the file of the ground truth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec

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


class ItemsOf(NamedTuple):
    """One model under a protocol of items: name, documents, and the mistakes of a page, from 0, of a document."""

    name: str
    documents: Collection[str]
    on_page: Callable[[str, int], Sequence[Target]]


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
