"""Where missing and extra words are on the page of a poster, among the words of its PDF's text layer.

Boxes are x1, y1, x2, y2 in [0, 1] of the displayed page, origin top left. A page without a text layer (an image, a
scan) has no words, so nothing can be found on it. The words come from the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.protocols.posters.comparison import PosterComparison

# A word that is divided at the end of a line ends in one of these in the text layer.
_HYPHENS = ("-", "\u00ad", "\u2010")


@dataclass(frozen=True, eq=False)
class WordPlaces:
    """A missing or extra word or number, as the criterion counts it, and where it is on the page.

    `boxes`: float64, shape (P, 4), in [0, 1], of the page's words that hold it, in page order; a word divided at the
    end of a line has two.
    """

    token: str
    kind: Literal["word", "number"]
    side: Literal["missing", "extra"]
    boxes: FloatArray


@dataclass(frozen=True)
class PageDifference:
    """The missing and extra words of a poster, looked for on its page.

    `missing`, `extra`: those found, by their first place. `absent`: missing ones that the page does not have, sorted:
    they are in a picture, or are no text of it. `page_words`: 0 means that there is no text layer.
    """

    missing: tuple[WordPlaces, ...]
    extra: tuple[WordPlaces, ...]
    absent: tuple[str, ...]
    page_words: int


def on_page(comparison: PosterComparison, texts: Sequence[str], boxes: FloatArray) -> PageDifference:
    """Return the missing and extra words and numbers of a comparison among the words of a page.

    `texts`: W words in the order of the document. `boxes`: float64, shape (W, 4), in [0, 1]. The page is read as the
    profile reads a text, so the same rules decide what a word is; under ``published`` two words joined by a comma are
    boxed together. A word that is divided at the end of a line is looked for whole, too.
    """
    kinds = {"missing": _tokens(comparison, missing=True), "extra": _tokens(comparison, missing=False)}
    rows: dict[tuple[str, str, str], list[int]] = {}
    for places, text in _spans(comparison, texts):
        normal = comparison.profile.normalised(text)
        held = {"word": comparison.profile.words(normal), "number": comparison.profile.numbers(normal)[0]}
        for side, wanted in kinds.items():
            for kind, tokens in wanted.items():
                for token in held[kind] & tokens:
                    rows.setdefault((side, kind, token), []).extend(places)
    places_of = {
        key: WordPlaces(key[2], key[1], key[0], boxes[sorted(set(places))])  # type: ignore[arg-type]
        for key, places in sorted(rows.items(), key=lambda item: (min(item[1]), item[0]))
    }
    absent = {
        token
        for kind, tokens in kinds["missing"].items()
        for token in tokens
        if ("missing", kind, token) not in places_of
    }
    # The digits of a number are words as well: they are listed once, as the number.
    digits = {side: {row for key, own in rows.items() if key[:2] == (side, "number") for row in own} for side in kinds}
    described = [
        places
        for key, places in places_of.items()
        if key[1] == "number" or not (key[2].isdecimal() and digits[key[0]].issuperset(rows[key]))
    ]
    return PageDifference(
        missing=tuple(places for places in described if places.side == "missing"),
        extra=tuple(places for places in described if places.side == "extra"),
        absent=tuple(sorted(absent)),
        page_words=len(texts),
    )


def _tokens(comparison: PosterComparison, *, missing: bool) -> Mapping[str, frozenset[str]]:
    words, numbers = comparison.words, comparison.numbers
    if missing:
        return {"word": frozenset(words.missing), "number": frozenset(numbers.missing)}
    return {"word": frozenset(words.extra), "number": frozenset(numbers.extra)}


def _spans(comparison: PosterComparison, texts: Sequence[str]) -> list[tuple[list[int], str]]:
    """Return stretches of the page that can hold one word, with the rows of the page's words in them."""
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
    whole = " ".join(texts)
    spans: list[tuple[list[int], str]] = []
    for match in comparison.profile.span.finditer(whole):
        first = int(np.searchsorted(starts, match.start(), side="right")) - 1
        last = int(np.searchsorted(starts, match.end() - 1, side="right")) - 1
        spans.append((list(range(first, last + 1)), match.group()))
    for row, (text, after) in enumerate(pairwise(texts)):
        if len(text) > 1 and text.endswith(_HYPHENS) and after[:1].islower():
            spans.append(([row, row + 1], text[:-1] + after))
    return spans
