"""What the linked panes draw of a poster: the words that either of two extractions misses or adds.

Keys are ``g…`` for words of the reference, ``a…`` and ``b…`` for words that a model adds.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.components.compare.pair import PREFIXES, PairLayers, pair_layers, pane
from evaluator.components.compare.payload import DifferenceItem, PairBoxItem
from evaluator.components.payload import ModelItem, PairKind, Rect
from evaluator.components.viewer.page_overlay import DRAWN_BOXES
from evaluator.components.viewer.poster_page import STATUSES, word_mistake
from evaluator.data.issues import count_of, isolated
from evaluator.protocols.posters.word_places import PageDifference, WordPlaces

_Word = tuple[str, str, str]


def poster_pair(
    words: tuple[PageDifference | None, PageDifference | None],
    *,
    models: tuple[ModelItem, ModelItem],
    kinds: Sequence[PairKind],
) -> PairLayers:
    """Return the missing and extra words of two extractions; `kinds` are drawn in full and listed."""
    own = [_by_word(side) for side in words]
    numbers = {word: number for number, word in enumerate(dict.fromkeys([*own[0], *own[1]]), start=1)}
    compared = words[0] is not None and words[1] is not None
    panes = []
    for order, model in enumerate(models):
        side, of_side = words[order], own[order]
        boxes = [
            box
            for word, number in numbers.items()
            for box in _boxes(word, number, own, order, kinds=kinds, compared=compared)
        ]
        drawn = boxes[:DRAWN_BOXES]
        head = "not compared"
        if side is not None and not side.page_words:
            head = "no text layer: words cannot be boxed"
        elif side is not None:
            head = f"{count_of(len(side.missing), 'missing word')}, {len(side.extra):,} extra on the page"
        mistakes = [
            word_mistake(places, numbers[word], _keys(word, numbers[word], PREFIXES[order], len(places.boxes)))
            for word, places in of_side.items()
        ]
        panes.append(pane(model, head, drawn, mistakes, total=len(boxes)))
    names = [model.letter for model in models]
    listed = [
        DifferenceItem(
            _keys(word, number, "a" if word in own[0] else "b", 1)[0], kind, place, _sentence(word, own, names)
        )
        for word, number in numbers.items()
        for kind in [_kind(word, own)]
        for place in [_rects(own, word)[0]]
        if compared and kind in kinds
    ]
    return pair_layers(panes, listed)


def _by_word(side: PageDifference | None) -> dict[_Word, WordPlaces]:
    every = () if side is None else (*side.missing, *side.extra)
    return {(places.side, places.kind, places.token): places for places in every if len(places.boxes)}


def _kind(word: _Word, own: Sequence[dict[_Word, WordPlaces]]) -> PairKind:
    in_a, in_b = word in own[0], word in own[1]
    if word[0] == "missing":
        return "neither" if in_a and in_b else "b_only" if in_a else "a_only"
    return "shared" if in_a and in_b else "a_invents" if in_a else "b_invents"


def _rects(own: Sequence[dict[_Word, WordPlaces]], word: _Word) -> list[Rect]:
    places = own[0].get(word) or own[1][word]
    return [(x1, y1, x2, y2) for x1, y1, x2, y2 in places.boxes.tolist()]


def _keys(word: _Word, number: int, prefix: str, places: int) -> list[str]:
    """Keys of the boxes of a word: those of a missing word are shared by both panes."""
    letter = "g" if word[0] == "missing" else prefix
    return [f"{letter}{number}-{place}" for place in range(places)]


def _boxes(
    word: _Word,
    number: int,
    own: Sequence[dict[_Word, WordPlaces]],
    order: int,
    *,
    kinds: Sequence[PairKind],
    compared: bool,
) -> list[PairBoxItem]:
    """Return a word in one model's pane; one that only the other misses is ground truth, hidden at first."""
    missing, has = word[0] == "missing", word in own[order]
    if not has and not (missing and compared):
        return []
    kind, rects = _kind(word, own), _rects(own, word)
    full = not compared or kind in kinds
    status = STATUSES[word[0]]
    mates = _keys(word, number, PREFIXES[1 - order], len(rects)) if kind == "shared" else [None] * len(rects)
    keys = _keys(word, number, PREFIXES[order], len(rects))
    return [
        PairBoxItem(
            key=key,
            side="ground_truth" if missing else "prediction",
            status=status if has else "truth",
            label=word[2],
            xyxy=rect,
            mistake=number if has else None,
            kind=kind,
            full=full and has,
            chip=f"{'missing' if missing else 'extra'} {isolated(word[2])}" if has else None,
            mate=mate,
        )
        for key, mate, rect in zip(keys, mates, rects, strict=True)
    ]


def _sentence(word: _Word, own: Sequence[dict[_Word, WordPlaces]], names: Sequence[str]) -> str:
    side, kind, token = word
    who = [names[order] for order in (0, 1) if word in own[order]]
    noun = f"{kind} of the reference" if side == "missing" else f"{kind} that the reference does not have"
    if len(who) == 2:
        return f"{isolated(token)}: both {'miss' if side == 'missing' else 'add'} this {noun}."
    return f"{isolated(token)}: only {who[0]} {'misses' if side == 'missing' else 'adds'} this {noun}."
