"""Kinds of mistakes of reading order, text and tables under all models, as rows beside the causes of boxes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evaluator.review.decisions import CauseRow, CauseSide
from evaluator.review.identity import TargetReview, finding_id
from evaluator.review.item_targets import ITEM_PROBLEMS, ItemPlace, ItemSide, by_kind
from evaluator.review.status import FindingStatus
from evaluator.review.verdicts import ReviewLog, Target


class ItemModel(NamedTuple):
    """One model under a protocol: its mistakes, and what gives the target of one; None without a box."""

    places: Sequence[ItemPlace]
    review_of: Callable[[ItemPlace], TargetReview | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemRow(CauseRow):
    """A kind of mistake of items under all models, the findings on it as `entries`; an example is one mistake."""

    protocol: str
    name: str
    models: Sequence[ItemModel]
    of_items: tuple[ItemSide, ...]

    @property
    def key(self) -> str:
        """See `CauseRow.key`."""
        return hashlib.sha256(f"item/{self.protocol}/{self.name}".encode()).hexdigest()[:16]

    @property
    def title(self) -> str:
        """See `CauseRow.title`."""
        return ITEM_PROBLEMS[f"{self.protocol}_{self.name}"]

    @property
    def columns(self) -> Sequence[CauseSide | ItemSide]:
        """See `CauseRow.columns`."""
        return self.of_items

    @cached_property
    def _examples(self) -> list[tuple[ItemModel, ItemPlace]]:
        """Return the mistakes of all models, the dearest first."""
        every = [
            (model, place) for model, side in zip(self.models, self.of_items, strict=True) for place in side.places
        ]
        return sorted(every, key=lambda each: -each[1].cost)

    @property
    def examples(self) -> int:
        """See `CauseRow.examples`."""
        return len(self._examples)

    def target(self, example: int = 0) -> tuple[str, Target] | None:
        """See `CauseRow.target`."""
        model, place = self._examples[example]
        review = model.review_of(place)
        return None if review is None else (finding_id(*review), review[0])

    def targets(self, log: ReviewLog, example: int | None = None) -> dict[str, Target]:
        """See `CauseRow.targets`."""
        examples = range(self.examples) if example is None else [example]
        return dict(shown for each in examples if (shown := self.target(each)) is not None)


def item_rows(
    protocol: str, unit: str, models: Sequence[ItemModel], statuses: Sequence[FindingStatus]
) -> list[ItemRow]:
    """Return the kinds of mistakes of some models under a protocol, the dearest first; not those without a box.

    `statuses`: of all findings of items; those on a mistake of these models are entries of its row.
    """
    by_id = {status.judged.target_id: status for status in statuses}
    pages = {(status.judged.target.document, status.judged.target.page) for status in statuses}
    rows = []
    for name, of_models in by_kind([model.places for model in models]).items():
        sides, entries = [], {}
        for model, own in zip(models, of_models, strict=True):
            judged = 0
            for place in own:
                review = model.review_of(place) if (place.document, place.page) in pages else None
                said = None if review is None else review[1]
                if said is not None and said.target_id in by_id:
                    entries[said.target_id] = by_id[said.target_id]
                    judged += said.verdict is not None or said.conflict
            sides.append(ItemSide(own, judged, unit))
        row = ItemRow(
            None, (), tuple(entries.values()), protocol=protocol, name=name, models=models, of_items=tuple(sides)
        )
        rows += [row] if row.target() is not None else []
    return sorted(rows, key=lambda row: -row.most)
