"""When the value of a field is right: its similarity, in [0, 1], reaches the threshold of its rule."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Any, Final

import numpy as np

from evaluator.data.boxes import FloatArray
from evaluator.data.fields import Comparator, Rule, Schema

TEXT_THRESHOLD: Final = 0.8
"""Without a schema, text is right from this similarity on."""
RELATIVE_TOLERANCE: Final = 1e-9
"""Numbers that differ by less than this share of the larger one are equal."""

# Digits, in groups of three or not at all; the point is the decimal mark.
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:[,'’ \u00a0\u202f][0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?")
_SEPARATORS = str.maketrans("", "", ",'’ \u00a0\u202f")
_CURRENCY_CODE = re.compile(r"\A[A-Z]{3}(?=[^A-Za-z])|(?<=[^A-Za-z])[A-Z]{3}\Z")
# 007 is a name, not a number: without a schema it is compared as text.
_LEADING_ZERO = re.compile(r"\s*[+-]?0[0-9]")
_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:[t ].*)?|([0-9]{4})([0-9]{2})([0-9]{2})")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")
_DAY_MONTH = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)?[-. ]+([a-z]{3,9})[-., ]+([0-9]{4})")
_MONTH_DAY = re.compile(r"([a-z]{3,9})[-. ]+([0-9]{1,2})(?:st|nd|rd|th)?[-, ]+([0-9]{4})")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
# Normalised text is kept for as many values as a document with a long table has.
_REMEMBERED = 1 << 14


def similarity(truth: object, predicted: object, rule: Rule | None) -> float:
    """Return how much a predicted value is like the true one, in [0, 1]; 1 for two nulls, 0 for one.

    A field that is not there is None. Without a rule: booleans exactly; numbers, and text that is a number on both
    sides, as numbers; other text by its normalised Levenshtein similarity; anything else exactly. See `number_of`,
    `text_similarity`.
    """
    if truth is None or predicted is None:
        return float(truth is predicted)
    return _COMPARATORS[rule.comparator](truth, predicted) if rule else _by_kind(truth, predicted)


def similarities(truths: Sequence[object], predictions: Sequence[object], rule: Rule | None) -> FloatArray:
    """Return the `similarity` of each true value with each predicted one, float64, shape (T, P)."""
    every = [*truths, *predictions]
    kind = rule.comparator if rule else _only_kind(every)
    if kind == "number" and None not in every:
        # None, which is no number, becomes NaN.
        first, second = (np.array(list(map(number_of, side)), dtype=np.float64) for side in (truths, predictions))
        gap = np.abs(first[:, None] - second[None, :])
        # As math.isclose has it; NaN, which is not a number, is close to nothing.
        close = gap <= RELATIVE_TOLERANCE * np.maximum.outer(np.abs(first), np.abs(second))
        return np.asarray(close, dtype=np.float64)
    if kind == "text" and all(isinstance(value, str) for value in every):
        # Here and below, so that what has no fields starts without it.
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

        here, there = ([_normalised(value) for value in side] for side in (truths, predictions))
        table = process.cdist(here, there, scorer=Levenshtein.normalized_similarity, dtype=np.float64)
        return np.asarray(table, dtype=np.float64).reshape(len(truths), len(predictions))
    pairs = [[similarity(truth, predicted, rule) for predicted in predictions] for truth in truths]
    return np.array(pairs, dtype=np.float64).reshape(len(truths), len(predictions))


def is_right(truth: object, predicted: object, rule: Rule | None) -> bool:
    """Return whether a predicted value's similarity reaches the threshold of the rule.

    Without a rule the threshold of text is `TEXT_THRESHOLD`; everything else must be equal.
    """
    return similarity(truth, predicted, rule) >= (rule.threshold if rule else TEXT_THRESHOLD)


def is_absent(value: object) -> bool:
    """Return whether a value is empty: null, empty text, an empty list or object."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def describe(schema: Schema | None) -> str:
    """Return the rule of the values in words, for the signature."""
    if schema is None:
        return f"values: text ≥ {TEXT_THRESHOLD:.2f}, numbers within {RELATIVE_TOLERANCE:g}, others exact"
    return f"values: {schema.name} {schema.sha256[:12]}".rstrip()


def text_similarity(truth: str, predicted: str) -> float:
    """Return 1 minus the Levenshtein distance over the longer length, ignoring case and white space runs.

    1 for two texts without a visible character.

    >>> text_similarity("Acme  Corp", "acme corp.")
    0.9
    """
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(_normalised(truth), _normalised(predicted)))


def number_of(value: object) -> float | None:
    """Return a value as a number; None for booleans, text that is no number as a whole, and anything else.

    Text may carry a currency sign or three-letter code, thousands separators (comma, apostrophe or blank between groups
    of three digits) and the brackets of accounting. The point is the decimal mark: "1,5" and "12 pieces" are not
    numbers. ``NumericComparator`` of stickler-eval 1.0.0 removes every character but digits, point and minus, so that
    "12 pieces" equals 12 and "1,5" equals 15 there.

    >>> number_of("$1,500.00"), number_of("(20) EUR"), number_of("1,5")
    (1500.0, -20.0, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return _number_of_text(value) if isinstance(value, str) else None


def dates_of(text: str) -> frozenset[date]:
    """Return the days that a text can mean; empty for no date with a year of four digits.

    Two days for 03/04/2020, which is read both ways; a time of day is left out.

    >>> sorted(map(str, dates_of("03/04/2020"))), sorted(map(str, dates_of("4 March 2020")))
    (['2020-03-04', '2020-04-03'], ['2020-03-04'])
    """
    return frozenset(_readings(" ".join(text.lower().split())))


def _only_kind(values: Sequence[object]) -> Comparator | None:
    """Return which rule holds for all of some values without a schema; None when it depends on the pair."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return "number"
    if all(isinstance(value, str) and number_of(value) is None for value in values):
        return "text"
    return None


def _by_kind(truth: Any, predicted: Any) -> float:  # noqa: ANN401 - any JSON value
    if isinstance(truth, bool) or isinstance(predicted, bool):
        return float(truth is predicted)
    both_text = isinstance(truth, str) and isinstance(predicted, str)
    if not (both_text and (_LEADING_ZERO.match(truth) or _LEADING_ZERO.match(predicted))):
        first, second = number_of(truth), number_of(predicted)
        if first is not None and second is not None:
            return _same_number(first, second)
    return text_similarity(truth, predicted) if both_text else _exact(truth, predicted)


def _text(truth: Any, predicted: Any) -> float:  # noqa: ANN401 - any JSON value
    if isinstance(truth, list | dict) or isinstance(predicted, list | dict):
        return _exact(truth, predicted)
    return text_similarity(str(truth), str(predicted))


def _number(truth: Any, predicted: Any) -> float:  # noqa: ANN401 - any JSON value
    first, second = number_of(truth), number_of(predicted)
    return 0.0 if first is None or second is None else _same_number(first, second)


def _date(truth: object, predicted: object) -> float:
    if not (isinstance(truth, str) and isinstance(predicted, str)):
        return _exact(truth, predicted)
    first, second = dates_of(truth), dates_of(predicted)
    return float(bool(first & second) if first and second else _normalised(truth) == _normalised(predicted))


def _exact(truth: object, predicted: object) -> float:
    """Return 1 for equal JSON: no order of keys, 1 equals 1.0, and true is not 1."""
    if isinstance(truth, dict) and isinstance(predicted, dict):
        same = truth.keys() == predicted.keys() and all(_exact(truth[key], predicted[key]) for key in truth)
    elif isinstance(truth, list) and isinstance(predicted, list):
        same = len(truth) == len(predicted) and all(map(_exact, truth, predicted))
    else:
        same = isinstance(truth, bool) == isinstance(predicted, bool) and bool(truth == predicted)
    return float(same)


_COMPARATORS: Final[dict[Comparator, Callable[[Any, Any], float]]] = {
    "text": _text,
    "exact": _exact,
    "number": _number,
    "date": _date,
}


def _same_number(first: float, second: float) -> float:
    return float(math.isclose(first, second, rel_tol=RELATIVE_TOLERANCE))


@lru_cache(maxsize=_REMEMBERED)
def _normalised(text: str) -> str:
    return " ".join(text.lower().split())


@lru_cache(maxsize=_REMEMBERED)
def _number_of_text(text: str) -> float | None:
    bare = text.strip()
    # Most text has no digit at all, and needs no pattern.
    if not any(character.isdigit() for character in bare):
        return None
    bare = "".join(character for character in bare if unicodedata.category(character) != "Sc").strip()
    bare = _CURRENCY_CODE.sub("", bare, count=1).strip()
    negative = bare.startswith("(") and bare.endswith(")")
    bare = bare[1:-1].strip() if negative else bare
    if not _NUMBER.fullmatch(bare):
        return None
    value = float(bare.translate(_SEPARATORS))
    return -value if negative else value


def _readings(text: str) -> Iterator[date]:
    if match := _YEAR_FIRST.fullmatch(text):
        yield from _day(match[1] or match[5], match[3] or match[6], match[4] or match[7])
    elif match := _YEAR_LAST.fullmatch(text):
        yield from _day(match[4], match[3], match[1])
        if match[2] != ".":  # dots put the day first everywhere
            yield from _day(match[4], match[1], match[3])
    elif match := _DAY_MONTH.fullmatch(text):
        yield from _day(match[3], _month(match[2]), match[1])
    elif match := _MONTH_DAY.fullmatch(text):
        yield from _day(match[3], _month(match[1]), match[2])


def _day(year: str, month: str, day: str) -> Iterator[date]:
    try:
        yield date(int(year), int(month), int(day))
    except ValueError:
        return


def _month(name: str) -> str:
    matching = [number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name)]
    return str(matching[0]) if matching else "0"
