"""Document names that differ between two files: by ending, case, padding, prefix, suffix, Unicode form or folder.

Two names are only taken for one when each has no other counterpart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final

_ENDING: Final = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,4}$")
_NUMBER: Final = re.compile(r"\d+")
_APART: Final = re.compile(r"[\s_\-.]+")


def _without_folder(name: str) -> str:
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _without_ending(name: str) -> str:
    # Twice: "a.pdf.json" is the output for "a.pdf".
    return _ENDING.sub("", _ENDING.sub("", name))


def _without_padding(name: str) -> str:
    return _NUMBER.sub(lambda number: number[0].lstrip("0") or "0", name)


KEYS: Final[Mapping[str, Callable[[str], str]]] = {
    "unicode": lambda name: unicodedata.normalize("NFKC", name),
    "folder": _without_folder,
    "ending": _without_ending,
    "case": str.casefold,
    "padding": _without_padding,
    "blanks": lambda name: _APART.sub(" ", name).strip(),
}
"""What a name is compared as, by the word of the fix, in the order in which several are applied."""

MODES: Final = (*KEYS, "prefix", "suffix")
"""Every way in which names may differ."""

WORDS: Final[Mapping[str, str]] = {
    "unicode": "document names compared in one Unicode form",
    "folder": "document names compared without their folder",
    "ending": "document names compared without their ending",
    "case": "document names compared without upper and lower case",
    "padding": "numbers in document names compared without leading zeros",
    "blanks": "document names compared without blanks and punctuation",
    "prefix": "document names compared without a common prefix",
    "suffix": "document names compared without a common suffix",
}


def match_names(names: Sequence[str], known: Sequence[str], modes: Iterable[str]) -> dict[str, str]:
    """Return the known name by the other one, for names that differ and have exactly one counterpart.

    `names` are of the file that is mended, `known` of the one that it is compared with; `modes` are of `MODES`.
    """
    chosen = set(modes)
    keys = [KEYS[mode] for mode in KEYS if mode in chosen]
    wanted = set(known)

    def key(name: str) -> str:
        for of in keys:
            name = of(name)
        return name

    free = [name for name in dict.fromkeys(names) if name not in wanted]
    taken = set(names)
    by_key = _unique((key(name), name) for name in dict.fromkeys(known) if name not in taken)
    ours = _unique((key(name), name) for name in free)
    partner = {ours[text]: by_key[text] for text in ours if text in by_key}
    ends: tuple[tuple[set[str], Callable[[str, str], bool]], ...] = (
        ({"prefix"}, str.endswith),
        ({"suffix"}, str.startswith),
        ({"prefix", "suffix"}, str.__contains__),
    )
    for needed, inside in ends:
        if needed <= chosen:
            partner |= _inside(
                {text: name for text, name in ours.items() if name not in partner},
                {text: name for text, name in by_key.items() if name not in set(partner.values())},
                inside,
            )
    return partner


def best_modes(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the fewest of `MODES` under which most names have a counterpart; empty when none helps."""
    best: tuple[str, ...] = ()
    count = 0
    for size in (1, 2, 3):
        for modes in combinations(MODES, size):
            paired = len(match_names(names, known, modes))
            # Another way of comparing has to bring more than a stray name.
            if paired > count + (0 if not best else max(0, len(names) // 20) if size > len(best) else 0):
                best, count = modes, paired
        if count and count == len(set(names) - set(known)):
            break
    return best


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the name by key, for keys that only one name has."""
    names: dict[str, str] = {}
    twice = set()
    for key, name in pairs:
        if key in names:
            twice.add(key)
        names[key] = name
    return {key: name for key, name in names.items() if key not in twice}


def _inside(
    ours: Mapping[str, str], known: Mapping[str, str], inside: Callable[[str, str], bool]
) -> dict[str, str]:  # fmt: skip
    """Return names of which one holds the other, by `inside`, each with exactly one counterpart."""
    pairs = [
        (name, other)
        for key, name in ours.items()
        for other_key, other in known.items()
        if min(len(key), len(other_key)) > 2 and (inside(key, other_key) or inside(other_key, key))
    ]
    once = _unique(pairs)
    back = _unique((other, name) for name, other in pairs)
    return {name: other for name, other in once.items() if back.get(other) == name}
