"""Text as sequences of tokens: normalisation, words, numbers, stems, longest common subsequence."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from evaluator.data.boxes import FloatArray, IntArray


def _table(characters: str, becomes: str) -> dict[int, str]:
    return dict.fromkeys(map(ord, characters), becomes)


SPACES: Final[Mapping[int, str]] = _table(
    "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "
)
"""Blanks of other widths, as a table for `str.translate`."""

SCRIPT_LETTERS: Final = 2_000
"""Letters of a text that are looked at for its script."""

DASHES: Final[Mapping[int, str]] = _table("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
"""Hyphens, dashes and the minus sign."""

CURLY_QUOTES: Final[Mapping[int, str]] = {**_table("\u2018\u2019", "'"), **_table("\u201c\u201d", '"')}
"""The four quotation marks of typeset English."""

OTHER_QUOTES: Final[Mapping[int, str]] = {
    **_table("\u201a\u201b\u201f\u2032\u2039\u203a", "'"),
    **_table("\u201e\u00ab\u00bb\u301d\u301e\u301f\uff02", '"'),
}
"""Quotation marks of other languages and the prime."""

RAISED_DIGITS: Final[Mapping[int, str]] = {
    ord(character): str(place % 10) for place, character in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉")
}
"""Superscript and subscript digits."""

_EVERY_SIGN: Final = {**SPACES, **CURLY_QUOTES, **OTHER_QUOTES, **DASHES, **RAISED_DIGITS}
_SIGNS: Final = frozenset(map(chr, _EVERY_SIGN))
# What `str.isalnum` calls letters and digits.
_RUN: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
# How many different characters there are.
_MOST_CHARACTERS: Final = sys.maxunicode + 1


def normalised(text: str) -> str:
    """Return text in NFKD, white space single and none at the ends, quotes and dashes plain; case is kept.

    Poster evaluation, section "Text Normalization", steps 1 to 4; raised and lowered digits follow from NFKD.

    >>> normalised("10⁻⁵ \u2009m² – “ﬁne”")
    '10-5 m2 - "fine"'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        # A text has few kinds of signs: replacing each is faster than a table of all.
        for sign in _SIGNS.intersection(text):
            text = text.replace(sign, _EVERY_SIGN[ord(sign)])
    return " ".join(text.split())


def words(text: str) -> list[str]:
    """Return the words of a text: lower-case runs of letters, digits and their marks, composed (NFC).

    Normalise the text first. In a script that writes no blanks it is one word between two marks of punctuation.

    >>> words("Smith, J., and Doe: 3.5 well-known")
    ['smith', 'j', 'and', 'doe', '3', '5', 'well', 'known']
    """
    lower = text.lower()
    if not lower.isascii():
        lower = unicodedata.normalize("NFC", lower)
        others = {character for character in set(lower) if not character.isalnum()}
        if any(_in_word(character) for character in others):
            return lower.translate({ord(character): " " for character in others if not _in_word(character)}).split()
    return _RUN.findall(lower)


# Scripts that write no blanks between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer; letters, and their marks.
_LETTERS_WITHOUT_BLANKS: Final = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U000323af\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"
    "\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065\u1066\u106e-\u1070\u1075-\u1081\u108e\u1780-\u17b3\u17d7\u17dc"
)
_MARKS_WITHOUT_BLANKS: Final = (
    "\u3099\u309a\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd"
)
_WITHOUT_BLANKS: Final = re.compile(f"[{_LETTERS_WITHOUT_BLANKS}][{_MARKS_WITHOUT_BLANKS}]*")


def characters_apart(text: str) -> str:
    """Return text with blanks around each letter, with its marks, of a script that writes no blanks between words.

    Chinese, Japanese, Thai, Lao, Burmese and Khmer; digits stay together.

    >>> words(characters_apart("修复了45公里 of canal"))
    ['修', '复', '了', '45', '公', '里', 'of', 'canal']
    """
    return text if text.isascii() else _WITHOUT_BLANKS.sub(r" \g<0> ", text)


def share_without_blanks(text: str) -> float:
    """Return the share of letters and digits that are of a script which writes no blanks between words; 0 of none."""
    if text.isascii():
        return 0.0
    count = sum(character.isalnum() for character in text)
    return sum(map(len, re.findall(f"[{_LETTERS_WITHOUT_BLANKS}]", text))) / count if count else 0.0


def share_in_ascii(text: str) -> float:
    """Return the share of letters and digits that are in ASCII; 1 of none.

    >>> share_in_ascii("45 公里")
    0.5
    """
    if text.isascii():
        return 1.0
    known = [character.isascii() for character in text if character.isalnum()]
    return sum(known) / len(known) if known else 1.0


def numbers(text: str) -> list[str]:
    """Return the numbers of a text in order, as spelled: digits, with a point only between digits.

    Without sign, thousands separators and exponent: "-1,000.5" holds ``1`` and ``000.5``.

    >>> numbers("3.14 of 5. in v1.2.3")
    ['3.14', '5', '1.2', '3']
    """
    return _NUMBER.findall(text)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the Porter stem of an English word of lower-case letters and digits.

    Porter 1980, with the later rules of its author (``bli``, ``logi``) and those of NLTK (irregular words, ``ies`` and
    ``ied`` in short words, ``y`` after a consonant, ``alli``, ``fulli``), because rouge-score stems so. Words of one or
    two letters are their own stem.

    >>> [stem(word) for word in ("poster", "evaluated", "relational", "dying", "generally")]
    ['poster', 'evalu', 'relat', 'die', 'gener']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _without_ending(_without_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":
        word = word[:-1] + "i"
    word = _replaced(_without_double_suffix(word), _THIRD, 0)
    word = _replaced(word, _FOURTH, 1)
    if word.endswith("e") and ((size := _measure(word[:-1])) > 1 or (size == 1 and not _is_short(word[:-1]))):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two sequences."""
    return int(lcs_lengths([first], [second])[0, 0]) if first != second else len(first)


def lcs_lengths(first: Sequence[Sequence[str]], second: Sequence[Sequence[str]]) -> IntArray:
    """Return the LCS length of each of R sequences with each of C others, shape (R, C).

    Bit-parallel (Hyyrö 2004), by RapidFuzz. Each token becomes a character of its own first, so that equal means equal
    and not of one hash.
    """
    if not first or not second:
        return np.zeros((len(first), len(second)), dtype=np.int64)
    # Here, so that what has no text starts without it.
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cdist

    number: dict[str, int] = {}
    for tokens in (*first, *second):
        for token in tokens:
            number.setdefault(token, len(number))
    coded: list[list[Sequence[object]]]
    if len(number) > _MOST_CHARACTERS:
        coded = [[[number[token] for token in tokens] for tokens in side] for side in (first, second)]
    else:
        character = dict(zip(number, map(chr, range(len(number))), strict=True))
        coded = [["".join(map(character.__getitem__, tokens)) for tokens in side] for side in (first, second)]
    return np.asarray(cdist(*coded, scorer=LCSseq.similarity, dtype=np.int64), dtype=np.int64)


def lcs_f1(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the F-measure on the longest common subsequence (ROUGE-L without stemming), in [0, 1].

    2 LCS / (len(first) + len(second)); 0 when either is empty, as in rouge-score.
    """
    return 2 * lcs_length(first, second) / (len(first) + len(second)) if first and second else 0.0


def lcs_f1s(first: Sequence[Sequence[str]], second: Sequence[Sequence[str]]) -> FloatArray:
    """Return `lcs_f1` of each of R sequences with each of C others, shape (R, C)."""
    rows, columns = (np.array([len(tokens) for tokens in side], dtype=np.int64) for side in (first, second))
    tokens = rows[:, None] + columns
    return np.asarray(2 * lcs_lengths(first, second) / np.maximum(tokens, 1), dtype=np.float64)


def _in_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


_IRREGULAR: Final = {
    "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "innings": "inning",
    "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning", "canning": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_SECOND: Final = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
    "fulli": "ful",
}  # fmt: skip
_THIRD: Final = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_FOURTH: Final = dict.fromkeys(
    ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism",
     "ate", "iti", "ous", "ive", "ize"),
    "",
) | {"sion": "s", "tion": "t"}  # fmt: skip


def _shape(word: str) -> str:
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    shape = _shape(word)
    return (shape.endswith("cvc") and word[-1] not in "wxy") or shape == "vc"


def _without_plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_ending(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    ending = 2 if word.endswith("ed") else 3 if word.endswith("ing") else 0
    rest = word[:-ending]
    if not ending or "v" not in _shape(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and _shape(rest)[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest


def _without_double_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, _SECOND, 0)


def _replaced(word: str, endings: Mapping[str, str], above: int) -> str:
    """Return the word with its first listed ending replaced when what is before it is long enough."""
    for ending, new in endings.items():
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            # The s or t of -sion and -tion counts as part of what is before the ending.
            measured = rest + new if ending in ("sion", "tion") else rest
            return rest + new if _measure(measured) > above else word
    return word


def script_of(texts: Sequence[str]) -> str | None:
    """Return the script of most letters, the first word of their Unicode names; None without letters.

    >>> script_of(["Total", "Σ"]), script_of(["合計"]), script_of(["12"])
    ('Latin', 'CJK', None)
    """
    letters: Counter[str] = Counter()
    looked = 0
    for text in texts:
        own = [letter for letter in text if letter.isalpha()]
        letters.update(own)
        looked += len(own)
        if looked >= SCRIPT_LETTERS:
            break
    # Each letter is looked up once; a script comes where its first letter does.
    counts: Counter[str] = Counter()
    for letter, count in letters.items():
        counts[unicodedata.name(letter, "unknown").split()[0]] += count
    if not counts:
        return None
    name = counts.most_common(1)[0][0]
    return name if name == "CJK" else name.capitalize()
