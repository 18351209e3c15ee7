"""The two readings of the poster criteria: ``documented`` as the text says, ``published`` as the program does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from evaluator.data import text
from evaluator.formats.posters import text_of

YEARS: Final = range(1900, 2100)
"""Integers of four digits that the documented profile takes for years of publication."""
_YEARS_TEXT: Final = f"{YEARS[0]}–{YEARS[-1]}"

STOP_WORDS_NAME: Final = "layoutscope-en-1"
"""Name of `STOP_WORDS`; a changed list gets a new one."""

_STOP_WORD_LIST: Final = """
    a about above after again against all also am among an and any are as at be because been before being below
    between both but by can could did do does doing done down during each either else ever every few for from
    further had has have having he hence her here hers herself him himself his how however i if in into is it
    its itself just may me might more most must my myself neither no nor not now of off on once only onto or
    other our ours ourselves out over own per rather same shall she should since so some such than that the
    their theirs them themselves then there therefore these they this those though through thus to too toward
    towards under until up upon us very via was we were what when where whether which while who whom whose why
    will with within without would yet you your yours yourself yourselves
"""
STOP_WORDS: Final = frozenset(_STOP_WORD_LIST.split())
"""English words without content, lower case, as `evaluator.data.text.words` splits them."""

_DOI: Final = re.compile(r"\b10\.\d{4,9}/\S*")
_PUBLISHED_NUMBER: Final = re.compile(r"\d+\.?\d*")
_PUBLISHED_SIGNS: Final = {**text.SPACES, **text.OTHER_QUOTES, **text.DASHES, **text.RAISED_DIGITS}
_PUBLISHED_TOKEN: Final = re.compile(r"[a-z0-9]+")
# The program stops counting below this many levels of objects and arrays.
_PUBLISHED_DEPTH: Final = 10

# Posters of which less is read, on either side, are named in a warning.
LEAST_READ: Final = 0.9

ProfileName = Literal["documented", "published"]
WordRule = Literal["blanks", "characters"]
"""What a word is in scripts that write no blanks between words: what is between blanks, or each character."""


@dataclass(frozen=True)
class Profile:
    """One reading of the four criteria; `words`, `tokens` and `numbers` take a normalised text.

    `numbers`: those that count, and those left out. `section_text`: not yet normalised; None when it is not compared.
    `read`: the share of the letters and digits of a normalised text that is read well. `unread`: rule, what the share
    is of, and fix of the warning where it is small. `span`: the longest piece of a text that can hold one word.
    `max_depth`: levels below which fields are not counted. `without_reference`: word capture when the reference has no
    word, and field proportion when neither side has a field. `options`: what the signature states.
    """

    name: ProfileName
    normalised: Callable[[str], str]
    words: Callable[[str], frozenset[str]]
    tokens: Callable[[str], list[str]]
    numbers: Callable[[str], tuple[frozenset[str], frozenset[str]]]
    section_text: Callable[[Any], str | None]
    read: Callable[[str], float]
    unread: tuple[str, str, str]
    span: re.Pattern[str]
    max_depth: int | None
    without_reference: float | None
    options: tuple[str, ...]


def _documented_words(normal: str) -> frozenset[str]:
    return frozenset(text.words(normal)) - STOP_WORDS


def _character_words(normal: str) -> frozenset[str]:
    return _documented_words(text.characters_apart(normal))


def _character_tokens(normal: str) -> list[str]:
    return text.words(text.characters_apart(normal))


def _read_between_blanks(normal: str) -> float:
    return 1.0 - text.share_without_blanks(normal)


def _read_whole(normal: str) -> float:
    return 1.0


def _documented_numbers(normal: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return numbers that count, and those that are only in a DOI or are years."""
    outside = frozenset(text.numbers(_DOI.sub(" ", normal)))
    years = {number for number in outside if len(number) == 4 and number.isdecimal() and int(number) in YEARS}
    return outside - years, (frozenset(text.numbers(normal)) - outside) | years


def _documented_section(value: object) -> str | None:
    """Return all text of a section; None for one without any, which is not compared."""
    section = text_of(value)
    return section if section.strip() else None


def _published_normalised(written: str) -> str:
    # Two of the program's quotes are really the string between them: a comma and a blank.
    return unicodedata.normalize("NFKD", written.translate(_PUBLISHED_SIGNS).replace(", ", "'"))


def _published_words(normal: str) -> frozenset[str]:
    return frozenset(re.sub(r"[^a-zA-Z0-9\s]", "", normal).lower().split())


def _published_tokens(normal: str) -> list[str]:
    # rouge-score leaves tokens of up to three characters unstemmed.
    return [text.stem(token) if len(token) > 3 else token for token in _PUBLISHED_TOKEN.findall(normal.lower())]


def _published_numbers(normal: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return numbers that count, and integers from 2010 to 2030 or of 100,000 and more."""
    every = frozenset(_PUBLISHED_NUMBER.findall(normal))
    # float takes any length; digits that are no number to it do not match the pattern.
    kept = {n for n in every if "." in n or ((size := float(n)) < 100_000 and not 2010 <= size <= 2030)}
    return frozenset(kept), every - kept


def _published_section(value: object) -> str:
    return " ".join(str(item) for item in value) if isinstance(value, list) else str(value)


PROFILES: Final[Mapping[ProfileName, Profile]] = {
    "documented": Profile(
        name="documented",
        normalised=text.normalised,
        words=_documented_words,
        tokens=text.words,
        numbers=_documented_numbers,
        section_text=_documented_section,
        read=_read_between_blanks,
        unread=(
            "profile documented takes what is between blanks and punctuation for one word, and this script writes no "
            "blanks",
            "in scripts that write blanks",
            "Evaluate with --words characters, which takes each character for a word.",
        ),
        span=re.compile(r"\S+"),
        max_depth=None,
        without_reference=None,
        options=(
            "profile documented",
            f"stop words {STOP_WORDS_NAME}",
            f"numbers without DOIs and years {_YEARS_TEXT}",
        ),
    ),
    "published": Profile(
        name="published",
        normalised=_published_normalised,
        words=_published_words,
        tokens=_published_tokens,
        numbers=_published_numbers,
        section_text=_published_section,
        read=text.share_in_ascii,
        unread=(
            "profile published reads ASCII letters and digits alone, as its program does",
            "read",
            "Evaluate with --profile documented, which reads every script.",
        ),
        # A comma and one blank join two words there.
        span=re.compile(r"\S+(?:(?<=,)[ \u00a0\u2000-\u200a\u202f\u205f\u3000]\S+)*"),
        max_depth=_PUBLISHED_DEPTH,
        without_reference=0.0,
        options=("profile published", "no stop words", "Porter stems", "numbers without 2010–2030 and from 100000"),
    ),
}
"""The two readings, by name; `documented` is the one that the text describes."""

DEFAULT_PROFILE: Final[ProfileName] = "documented"
DEFAULT_WORDS: Final[WordRule] = "blanks"


def profile_of(name: ProfileName, words: WordRule = DEFAULT_WORDS) -> Profile:
    """Return a profile with a rule for words; `ValueError` when there is none such.

    ``characters`` needs the profile ``documented``: the other one reads ASCII alone.
    """
    for option, value, known in (("profile", name, [*PROFILES]), ("words", words, get_args(WordRule))):
        if value not in known:
            raise ValueError(f"{option} must be one of {', '.join(known)}; found {value}")
    profile = PROFILES[name]
    if words == DEFAULT_WORDS:
        return profile
    if name != "documented":
        raise ValueError(f"words {words} needs profile documented; {name} reads ASCII letters and digits alone")
    options = (*profile.options, "each character a word in scripts without blanks")
    return replace(profile, words=_character_words, tokens=_character_tokens, read=_read_whole, options=options)


EXPLANATIONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("Words", "split at punctuation, without stop words", "punctuation deleted, a comma and a blank join two words"),
    ("ROUGE-L", "whole words of any script", "Porter stems of ASCII letters and digits"),
    ("Numbers", f"without DOIs and years {_YEARS_TEXT}", "without 2010–2030 and from 100,000; 5. is not 5"),
    ("Quotes", "curly quotes become straight", "curly quotes stay; a comma and a blank become an apostrophe"),
    ("Fields", "counted at every depth", f"counted to {_PUBLISHED_DEPTH + 1} levels"),
    ("No reference words", "undefined", "0"),
)
"""What the two profiles do with what: subject, ``documented``, ``published``."""

WORD_RULES: Final[Mapping[WordRule, str]] = {"blanks": "Runs", "characters": "Characters"}
"""What a view calls the words of scripts that write no blanks, such as Chinese."""

PURPOSES: Final[Mapping[ProfileName, str]] = {
    "documented": "What the text of the poster evaluation says.",
    "published": "What the program behind the printed table does.",
}
"""Why there is each profile, as a sentence."""
