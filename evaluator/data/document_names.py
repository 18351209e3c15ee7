"""Document names that differ between two files: one document only if neither has another counterpart."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice
from typing import Final

# Of images, of documents and of what is written about them; anything else after a dot belongs to the name.
_ENDING: Final = re.compile(
    r"(?<=.)\.(?:png|jpe?g|jfif|tiff?|bmp|webp|gif|jp2|j2k|heic|avif|svg|p[bgnp]m|ico|img|pdf|djvu|docx?|pptx?|xlsx?|html?"
    r"|xml|json[l5]?|ndjson|txt|csv|tsv|parquet|ya?ml|md)\Z",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d+")
_APART: Final = re.compile(r"[\s_\-.]+")
PAGE_WORDS: Final = "page|pg|p|img|image|scan|seite|blatt|bild|pagina|folio|sheet|slide|out"
_PAGE_OF: Final = re.compile(rf"[\s_./-](?:(?:{PAGE_WORDS})[\s_.-]*)?(\d{{1,9}})\Z", re.IGNORECASE)
# Shorter ones are in other names by chance.
_SHORTEST: Final = 3
# So many lengths of names are looked for in longer ones, the most frequent.
_LENGTHS: Final = 128
# How many names are looked for in all others to see what is around them.
_TRIED: Final = 20


def _without_folder(name: str) -> str:
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def without_ending(name: str) -> str:
    """Return a name without what a kind of file ends in."""
    return _ENDING.sub("", name)


def _without_endings(name: str) -> str:
    # "a.pdf.json" is the output for "a.pdf".
    return without_ending(without_ending(name))


def _without_padding(name: str) -> str:
    return _NUMBER.sub(lambda number: number[0].lstrip("0") or "0", name)


KEYS: Final[Mapping[str, Callable[[str], str]]] = {
    "unicode": lambda name: unicodedata.normalize("NFKC", name),
    "folder": _without_folder,
    "ending": _without_endings,
    "case": str.casefold,
    "padding": _without_padding,
    "blanks": lambda name: _APART.sub(" ", name).strip(),
}
"""What a name is compared as, by the word of the fix, in the order in which several are applied."""

MODES: Final = (*KEYS, "prefix", "suffix", "pages", "only")
"""Every way in which names may differ; "only", the one name that each side has, is tried last."""

WORDS: Final[Mapping[str, str]] = {
    "unicode": "document names compared in one Unicode form",
    "folder": "document names compared without their folder",
    "ending": "document names compared without their ending",
    "case": "document names compared without upper and lower case",
    "padding": "numbers in document names compared without leading zeros",
    "blanks": "document names compared without blanks and punctuation",
    "prefix": "document names compared without a common prefix",
    "suffix": "document names compared without a common suffix",
    "pages": "images named by a document and a number read as its pages",
    "only": "the only document of each side taken for the same",
}


class _Keys:
    """What names are compared as under some of `KEYS`, in their order; each worked out once."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(dict.fromkeys(names))
        self._texts: dict[tuple[str, ...], list[str]] = {(): self.names}
        self._once: dict[tuple[str, ...], dict[str, str]] = {}

    def once(self, modes: tuple[str, ...]) -> dict[str, str]:
        if modes not in self._once:
            self._once[modes] = _unique(zip(self._of(modes), self.names, strict=True))
        return self._once[modes]

    def _of(self, modes: tuple[str, ...]) -> list[str]:
        if modes not in self._texts:
            self._texts[modes] = list(map(KEYS[modes[-1]], self._of(modes[:-1])))
        return self._texts[modes]


def match_names(names: Sequence[str], known: Sequence[str], modes: Iterable[str]) -> dict[str, str]:
    """Return the known name by the other one, for names that differ and have exactly one counterpart.

    `names` are of the file that is mended, `known` of the one that it is compared with; `modes` are of `MODES`. A
    prefix together with a suffix is the one that is seen most often at the first names.
    """
    return _matched(*_different(names, known), modes)


def best_modes(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the fewest of `MODES` under which most names have a counterpart; empty when none helps."""
    best: tuple[str, ...] = ()
    count = 0
    sides = _different(names, known)
    for size in (1, 2, 3):
        for modes in combinations(MODES[:-2], size):
            paired = len(_matched(*sides, modes))
            # Another way of comparing has to bring more than a stray name.
            if paired > count + (0 if not best else len(names) // 20 if size > len(best) else 0):
                best, count = modes, paired
        if count and count == len(sides[0].names):
            break
    return best


def pages_in_names(names: Sequence[str], known: Iterable[str]) -> list[tuple[str, int] | None]:
    """Return the known document and the page index that each name or path of an image states, None for neither.

    Pages are counted from 1, or from 0 where an image of the document has that number. None for two of one page.

    >>> pages_in_names(["report_page_1.png", "x/report/2.png", "report.png"], ["report.pdf"])
    [('report.pdf', 0), ('report.pdf', 1), None]
    """
    documents = _unique((_without_endings(name), name) for name in known)
    read = (_document_and_number(_without_endings(name.replace("\\", "/"))) for name in names)
    parts = [(documents.get(_without_folder(document)), number) for document, number in read]
    from_0 = {document for document, number in parts if number == 0}
    pages = [(document, number - (document not in from_0)) if document else None for document, number in parts]
    often = Counter(pages)
    return [page if often[page] == 1 else None for page in pages]


def _document_and_number(name: str) -> tuple[str, int]:
    page = _PAGE_OF.search(name, 1)
    if page is None:
        return "", 0
    end = page.start()
    # By hand: a pattern would try every place of a long row of separators.
    while end > 1 and (name[end - 1] in "_./-" or name[end - 1].isspace()):
        end -= 1
    return name[:end], int(page[1])


def _different(names: Sequence[str], known: Sequence[str]) -> tuple[_Keys, _Keys]:
    ours, theirs = set(names), set(known)
    return _Keys(name for name in names if name not in theirs), _Keys(name for name in known if name not in ours)


def _matched(names: _Keys, known: _Keys, modes: Iterable[str]) -> dict[str, str]:
    chosen = set(modes)
    if "only" in chosen:
        return dict(zip(names.names, known.names, strict=True)) if len(names.names) == len(known.names) == 1 else {}
    keys = tuple(mode for mode in KEYS if mode in chosen)
    ours, theirs = names.once(keys), known.once(keys)
    partner = {ours[text]: theirs[text] for text in ours if text in theirs}
    for needed, longer in _ENDS.items():
        if chosen.issuperset(needed):
            taken = set(partner.values())
            left = {key: name for key, name in ours.items() if len(key) >= _SHORTEST and name not in partner}
            free = {key: name for key, name in theirs.items() if len(key) >= _SHORTEST and name not in taken}
            pairs = [*longer(left, free), *((name, other) for other, name in longer(free, left))]
            once, back = _unique(pairs), _unique((other, name) for name, other in pairs)
            partner |= {name: other for name, other in once.items() if back.get(other) == name}
    return partner


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    names: dict[str, str] = {}
    twice = set()
    for key, name in pairs:
        if key in names:
            twice.add(key)
        names[key] = name
    return {key: name for key, name in names.items() if key not in twice}


def _at_one_end(
    ours: Mapping[str, str], known: Mapping[str, str], *, first: bool
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """Yield each of our names that ends, or begins, with a known key of a usual length, with the name of that."""
    lengths = sorted(length for length, _ in Counter(map(len, known)).most_common(_LENGTHS))
    for key, name in ours.items():
        for length in lengths[: bisect_left(lengths, len(key))]:
            if (other := known.get(key[:length] if first else key[-length:])) is not None:
                yield name, other


def _between(ours: Mapping[str, str], known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each of our names that is a known key between the prefix and suffix of most of those that are tried."""
    around = Counter(
        key.partition(inner)[::2] for key in islice(ours, _TRIED) for inner in known if inner in key and inner != key
    )
    for prefix, suffix in [ends for ends, _ in around.most_common(1)]:
        for key, name in ours.items():
            inner = key.removeprefix(prefix).removesuffix(suffix)
            if len(key) == len(prefix) + len(inner) + len(suffix) and inner in known:
                yield name, known[inner]


_ENDS: Final[Mapping[tuple[str, ...], Callable[[Mapping[str, str], Mapping[str, str]], Iterator[tuple[str, str]]]]] = {
    ("prefix",): partial(_at_one_end, first=False),
    ("suffix",): partial(_at_one_end, first=True),
    ("prefix", "suffix"): _between,
}
