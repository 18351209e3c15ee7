"""What is wrong with a text, by name: the first rule that fits the two texts and their edits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from evaluator.data.plain_text import words

Edit = tuple[str, int, int]
"""replace, delete or insert; where in the true text, and where in the other one."""
Name = Literal[
    "missing", "extra", "case", "spaces", "hyphenation", "punctuation", "marks", "visual_order", "words_moved",
    "digits", "cut_off", "swallowed", "characters", "other_text",
]  # fmt: skip
TITLES: Final[Mapping[Name, str]] = {
    "missing": "Missing text",
    "extra": "Extra text",
    "case": "Upper and lower case",
    "spaces": "Spaces",
    "hyphenation": "Hyphenation",
    "punctuation": "Punctuation",
    "marks": "Accents and marks",
    "visual_order": "Read from the wrong side",
    "words_moved": "Words in another order",
    "digits": "Digits",
    "cut_off": "Text cut off",
    "swallowed": "Text of a neighbour taken in",
    "characters": "Characters",
    "other_text": "Another text",
}
"""The names in words."""
_LONG_ENOUGH_TO_TURN: Final = 3
_FEWEST_AT_ENDS: Final = 2
_NO_WORD: Final = re.compile(r"[\W_]+")
_NO_LETTERS: Final = bytes(code for code in range(128) if not chr(code).isalnum())


def mistake_of(reference: str, hypothesis: str, edits: Sequence[Edit]) -> Name | None:
    """Return the name of what is wrong between two plain texts; None for equal ones."""
    if reference == hypothesis:
        return None
    if not hypothesis:
        return "missing"
    if not reference:
        return "extra"
    if reference.casefold() == hypothesis.casefold():
        return "case"
    closed = reference.replace(" ", ""), hypothesis.replace(" ", "")
    if closed[0] == closed[1]:
        return "spaces"
    if closed[0].replace("-", "") == closed[1].replace("-", ""):
        return "hyphenation"
    if _are_equal_without("PS", reference, hypothesis):
        return "punctuation"
    both = (unicodedata.normalize("NFD", text) for text in (reference, hypothesis))
    if not (reference.isascii() and hypothesis.isascii()) and _are_equal_without("M", *both):
        return "marks"
    # Here, so that what has no text starts without it.
    from rapidfuzz.distance import Levenshtein

    distance, longest = len(edits), max(len(reference), len(hypothesis))
    if len(reference) > _LONG_ENOUGH_TO_TURN:
        turned = Levenshtein.distance(reference, hypothesis[::-1], score_cutoff=distance // 2)
        if 2 * turned <= distance:
            return "visual_order"
    if len(closed[0]) == len(closed[1]) and sorted(words(reference, "scripts")) == sorted(words(hypothesis, "scripts")):
        return "words_moved"
    if all(char.isdigit() for edit in edits for char in _touched(edit, reference, hypothesis)):
        return "digits"
    if _lies_at_ends([at for tag, at, _ in edits if tag == "delete"], distance, reference, hypothesis):
        return "cut_off"
    if _lies_at_ends([at for tag, _, at in edits if tag == "insert"], distance, hypothesis, reference):
        return "swallowed"
    return "characters" if 2 * distance <= longest else "other_text"


def _are_equal_without(kinds: str, one: str, other: str) -> bool:
    """Return whether texts are equal without white space and some categories of characters, which are no words'."""
    # Texts that differ in their letters and digits, as most do, need no category of any character; bytes are fastest.
    letters = one.encode("ascii", "ignore").translate(None, _NO_LETTERS)
    if letters != other.encode("ascii", "ignore").translate(None, _NO_LETTERS):
        return False
    return _NO_WORD.sub("", one) == _NO_WORD.sub("", other) and _without(one, kinds) == _without(other, kinds)


def _without(text: str, kinds: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] not in kinds and not char.isspace())


def _touched(edit: Edit, reference: str, hypothesis: str) -> str:
    tag, at, other = edit
    taken = "" if tag == "insert" else reference[at]
    return taken if tag == "delete" else taken + hypothesis[other]


def _lies_at_ends(places: Sequence[int], distance: int, longer: str, other: str) -> bool:
    """Return whether a tenth of a text is lacking at its ends, two characters at least, and little else differs."""
    size = len(longer)
    if len(places) < _FEWEST_AT_ENDS or 10 * len(places) < size:
        return False
    lacking = {*places}
    head = next(at for at in range(size + 1) if at not in lacking)
    tail = next(at for at in range(size + 1) if size - 1 - at not in lacking)
    ends = head % size + tail % size if size else 0
    return ends >= _FEWEST_AT_ENDS and 10 * ends >= size and 20 * (distance - ends) <= len(other)
