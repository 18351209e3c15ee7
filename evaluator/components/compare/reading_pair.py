"""What the linked panes draw of a page of `order`, `text` or `tables`: the mistakes of two models.

A mistake of both models is one with the same name about the same items of the ground truth.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.components.compare.pair import ALONE, PREFIXES, PairLayers, pair_layers, pane, with_keys
from evaluator.components.compare.payload import DifferenceItem, PairBoxItem
from evaluator.components.payload import ModelItem, PairKind
from evaluator.components.viewer.payload import MistakeItem, PageLayers
from evaluator.data.issues import isolated

_About = tuple[str, frozenset[str]]


def reading_pair(
    layers: Sequence[PageLayers], *, models: tuple[ModelItem, ModelItem], kinds: Sequence[PairKind]
) -> PairLayers:
    """Return the mistakes of two models on a page, as drawn for each alone; `kinds` are drawn in full and listed."""
    about = [[_about(mistake, side) for mistake in side.mistakes] for side in layers]
    panes, differences = [], []
    for order, (model, side) in enumerate(zip(models, layers, strict=True)):
        named = with_keys(side, PREFIXES[order])
        kind_of = {
            mistake.number: _kind(one, about[1 - order], order)
            for mistake, one in zip(named.mistakes, about[order], strict=True)
        }
        titles = {mistake.keys[0]: mistake.title for mistake in named.mistakes if mistake.keys}
        boxes = []
        for box in named.boxes:
            kind = "both" if box.mistake is None else kind_of[box.mistake]
            facts = {name: getattr(box, name) for name in box.__struct_fields__}
            boxes.append(PairBoxItem(**facts, kind=kind, full=kind in kinds, chip=titles.get(box.key), mate=None))
        panes.append(pane(model, side.head, boxes, named.mistakes, total=side.limit.total if side.limit else None))
        at = {box.key: box.xyxy for box in boxes}
        for mistake in named.mistakes:
            key, kind = next(iter(mistake.keys), ""), kind_of[mistake.number]
            if key in at and kind in kinds and (kind != "neither" or order == 0):
                who = "A and B" if kind == "neither" else model.letter
                words = f"{who}: {mistake.title} ({isolated(mistake.label)})."
                differences.append(DifferenceItem(key, kind, at[key], words))
    return pair_layers(panes, differences, [note for side in layers for note in side.notes])


def _about(mistake: MistakeItem, side: PageLayers) -> _About:
    """Return the name of a mistake, and the items of the ground truth that it is about."""
    partner = {box.key: box.partner for box in side.boxes}
    return mistake.name, frozenset(
        true for key in mistake.keys if (true := key if key.startswith("g") else partner.get(key)) is not None
    )


def _kind(one: _About, others: Sequence[_About], order: int) -> PairKind:
    if not one[1]:
        return ALONE[order]
    if one in others:
        return "neither"
    return "a_only" if order else "b_only"
