"""The slices of a review pack: where the candidate fails, where it differs from the baseline, with examples.

Owns which slices go in and their examples; what a slice is, and how chance is controlled, `evaluator.slices` says.
Searching takes a second for ten thousand boxes, so it is done when a pack is made and not for its preview.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from evaluator.drawing.payloads import CardItem
from evaluator.drawing.slices import examples
from evaluator.metrics.box_items import items
from evaluator.metrics.box_results import AnyBoxResult
from evaluator.model.issues import plain
from evaluator.slices.attributes import OfPages
from evaluator.slices.slices import find_slices

MOST_SLICES: Final = 6
_EXAMPLES: Final = 2


class SliceCard(NamedTuple):
    """A slice as a pack shows it.

    Attributes
    ----------
    number : int
        From 1.
    of : str
        Letter of the model that fails there, or ``B minus A``.
    sentence : str
    lost : int
        Boxes that it costs.
    letter : str
        Of the model whose boxes the examples show.
    examples : tuple of CardItem
        Wrong boxes of the slice, one for each page as far as there are any.
    """

    number: int
    of: str
    sentence: str
    lost: int
    letter: str
    examples: tuple[CardItem, ...]


class PackSlices(NamedTuple):
    """The slices that go in, and what was searched, in a sentence for each search."""

    cards: tuple[SliceCard, ...] = ()
    words: tuple[str, ...] = ()


NO_SLICES: Final = PackSlices()


def pack_slices(
    results: Sequence[AnyBoxResult], letters: Sequence[str], *, of_pages: OfPages | None = None
) -> PackSlices:  # fmt: skip
    """Where the candidate misses boxes, and where it finds other boxes than the baseline; most costly first.

    Parameters
    ----------
    results : sequence of BoxResult, length >= 1
        Of one dataset; the second is the candidate, or the only one.
    letters : sequence of str
        What the models are called, one each.
    of_pages : mapping, optional
        Attributes of pages and documents from elsewhere.

    Returns
    -------
    PackSlices
        At most `MOST_SLICES`, half of them of each search, or more of one where the other has fewer.
    """
    shown = list(zip(results, letters, strict=True))[:2]
    searches = [(shown[-1][1], [shown[-1][0]])]
    if len(shown) == 2:
        searches.append((f"{shown[1][1]} minus {shown[0][1]}", [result for result, _ in shown]))
    last, letter = shown[-1]
    every = items(last)
    made: list[list[SliceCard]] = []
    words = []
    for of, searched in searches:
        slices = find_slices(searched, of_pages=of_pages)
        words.append(f"{of}: {slices.summary}")
        made.append([
            SliceCard(0, of, plain(one.sentence), round(one.lost), letter,
                      tuple(examples(one, last, every, most=_EXAMPLES)))
            for one in slices.slices
        ])  # fmt: skip
    share = MOST_SLICES // len(made)
    spare = sum(max(share - len(some), 0) for some in made)
    cards = [card for some in made for card in some[: share + spare]][:MOST_SLICES]
    return PackSlices(tuple(card._replace(number=at) for at, card in enumerate(cards, 1)), tuple(words))
