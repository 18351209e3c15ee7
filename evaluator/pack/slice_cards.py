"""The slices of a review pack: where the candidate fails or differs from the baseline, with examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from evaluator.analysis.slices.all_measures import find_by_all_measures
from evaluator.analysis.slices.attributes import PageValues
from evaluator.components.gallery.payload import CardItem
from evaluator.components.slices.rows import examples
from evaluator.data.issues import plain
from evaluator.matching.box_items import items
from evaluator.matching.box_results import AnyBoxResult
from evaluator.metrics.observations import Attribute

MOST_SLICES: Final = 6
_EXAMPLES: Final = 2


class SliceCard(NamedTuple):
    """A slice as a pack shows it; `of` is the letter of the failing model, or ``B minus A``.

    `lost`: see `analysis.slices.slices.Slice`; `cost`: in words, "" for nothing. `letter`: of the examples' model.
    """

    number: int
    of: str
    sentence: str
    measure: str
    lost: float
    cost: str
    letter: str
    examples: tuple[CardItem, ...]


class PackSlices(NamedTuple):
    """The slices that go in, and what was searched, in a sentence for each search."""

    cards: tuple[SliceCard, ...] = ()
    words: tuple[str, ...] = ()


NO_SLICES: Final = PackSlices()


class _Searched(NamedTuple):
    cards: tuple[SliceCard, ...]
    words: str


def pack_slices(
    results: Sequence[AnyBoxResult],
    letters: Sequence[str],
    *,
    of_pages: PageValues | None = None,
    of_boxes: Sequence[Sequence[Attribute]] = (),
    count: Callable[[int, int], None] = lambda _done, _all: None,
) -> PackSlices:
    """Return where the candidate fails by any measure, and where it differs; most costly first.

    `results` are of one dataset; the second is the candidate, or the only one. At most `MOST_SLICES`, shared by both
    searches. What `count`, given done and total, raises ends the search.
    """
    shown = list(zip(results, letters, strict=True))[:2]
    last, letter = shown[-1]
    searches = [(letter, [len(shown) - 1])]
    if len(shown) == 2:
        searches.append((f"{letter} minus {shown[0][1]}", [0, 1]))
    every = items(last)

    def searched(number: int, of_search: Callable[[int, int], None]) -> _Searched:
        of, places = searches[number]
        slices = find_by_all_measures(
            [results[place] for place in places],
            of_pages=of_pages,
            of_boxes=[of_boxes[0], *(of_boxes[1 + place] for place in places)] if of_boxes else (),
            count=of_search,
        )
        cards = tuple(
            SliceCard(0, of, plain(one.sentence), one.measure, one.lost, one.cost, letter,
                      tuple(examples(one, last, every, most=_EXAMPLES)))
            for one in slices.slices
        )  # fmt: skip
        return _Searched(cards, f"{of}: {slices.summary}")

    counts = [partial(_part, count, done, len(searches)) for done in range(len(searches))]
    made = [searched(number, of_search) for number, of_search in enumerate(counts)]
    share = MOST_SLICES // len(made)
    spare = sum(max(share - len(some.cards), 0) for some in made)
    cards = [card for some in made for card in some.cards[: share + spare]][:MOST_SLICES]
    return PackSlices(
        tuple(card._replace(number=at) for at, card in enumerate(cards, 1)), tuple(some.words for some in made)
    )


def _part(count: Callable[[int, int], None], search: int, searches: int, done: int, total: int) -> None:
    count(search * total + done, searches * total)
