"""Issues: what is wrong with an input, worded so that its owner can correct it.

File, place, rule, found, fix, in that order. A place is a JSON path (``$.predictions[12].objects[3].bbox``) or a line
(``line 118, <region>``). Readers and protocols decide what is wrong.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, Literal, NoReturn

import msgspec

Severity = Literal["error", "warning"]

# Longer excerpts help nobody and let one hostile value fill a terminal.
_FOUND_LIMIT: Final = 160
_EXAMPLES: Final = 3
MOST_SHOWN: Final = 400
"""Characters of a name, or of a sentence with names, that a view is sent."""
# More issues of one rule in one file are shown as one.
_FOLDED_FROM: Final = 5
_CLOSING: Final = re.compile(r"the same ([\d,]+) more times")


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """One problem of one input, ready to be shown, counted or exported.

    Attributes
    ----------
    severity : "error" or "warning"
        An error blocks the file; a warning changes or may change a number.
    file : str
        Name of the file, never its folder.
    place : str
        JSON path or line; empty when the whole file is meant.
    rule : str
        The rule that is broken, with its source in brackets.
    found : str
        What is there, shortened; empty when nothing can be quoted.
    fix : str
        What its owner can do, as a sentence.
    """

    severity: Severity
    file: str
    place: str
    rule: str
    found: str
    fix: str

    @property
    def sentence(self) -> str:
        """Return the issue in one line: file, place, rule, found, fix; control and format characters escaped.

        >>> Issue(severity="error", file="p.json", place="$.info", rule="info is required (schema 1.3)",
        ...         found="", fix="Add it.").sentence
        'p.json: $.info: info is required (schema 1.3). Add it.'
        """
        place = f"{self.place}: " if self.place else ""
        detail = f"; found {self.found}" if self.found else ""
        return plain(f"{self.file}: {place}{self.rule}{detail}. {self.fix}")


class BadInput(Exception):
    """Raised when an input cannot be evaluated; carries every issue, errors first, warnings included."""

    def __init__(self, issues: Iterable[Issue]) -> None:
        ordered = sorted(issues, key=lambda issue: issue.severity != "error")
        self.issues: tuple[Issue, ...] = tuple(ordered)
        super().__init__("\n".join(issue.sentence for issue in self.issues))


class FixableMismatch(BadInput):
    """Files that do not match, with the fix that would help."""


class Collector:
    """Issues of one file while it is checked; of one rule `max_per_rule` (None: all) are spelled out."""

    def __init__(self, file: str, *, max_per_rule: int | None) -> None:
        self.file = file
        self._max_per_rule = max_per_rule
        self._issues: list[Issue] = []
        self._count: defaultdict[tuple[Severity, str], int] = defaultdict(int)

    def copy(self) -> Collector:
        """Return another one with the same issues, to which more can be added."""
        other = Collector(self.file, max_per_rule=self._max_per_rule)
        other._issues, other._count = list(self._issues), self._count.copy()
        return other

    @property
    def failed(self) -> bool:
        """Return whether an error was added."""
        return any(severity == "error" for severity, _ in self._count)

    def add(self, severity: Severity, place: str, rule: str, found: str, fix: str) -> None:
        """Note one issue; counted only, once its rule has been spelled out often enough."""
        self._count[severity, rule] += 1
        if self._max_per_rule is None or self._count[severity, rule] <= self._max_per_rule:
            self._issues.append(Issue(severity=severity, file=self.file, place=place, rule=rule, found=found, fix=fix))

    def error(self, place: str, rule: str, found: str, fix: str) -> None:
        """Note one error."""
        self.add("error", place, rule, found, fix)

    def warning(self, place: str, rule: str, found: str, fix: str) -> None:
        """Note one warning."""
        self.add("warning", place, rule, found, fix)

    def fail(self, place: str, rule: str, found: str, fix: str) -> NoReturn:
        """Note one error, and raise `BadInput` with all issues so far."""
        self.error(place, rule, found, fix)
        raise BadInput(self.issues()) from None

    def raise_if_failed(self) -> None:
        """Raise `BadInput` with all issues when an error was added."""
        if self.failed:
            raise BadInput(self.issues())

    def errors(self, rule: str, rows: Sequence[int], describe: Callable[[int], tuple[str, str, str]]) -> None:
        """Note an error of one rule for every row; place, found and fix are made only for those spelled out."""
        told = self._count.get(("error", rule), 0)
        room = len(rows) if self._max_per_rule is None else max(self._max_per_rule - told, 0)
        for row in rows[:room]:
            place, text, fix = describe(row)
            self.add("error", place, rule, text, fix)
        if len(rows) > room:
            self._count["error", rule] += len(rows) - room

    def issues(self) -> tuple[Issue, ...]:
        """Return all issues in order, then one for each rule that has more than are spelled out."""
        limit = self._max_per_rule
        more = () if limit is None else [(key, n - limit) for key, n in self._count.items() if n > limit]
        closing = (
            Issue(
                severity=severity,
                file=self.file,
                place="",
                rule=rule,
                found=f"the same {count:,} more times",
                fix="layoutscope check lists them all.",
            )
            for (severity, rule), count in more
        )
        return (*self._issues, *closing)


def issue_count(issues: Iterable[Issue]) -> int:
    """Return how many issues there are, those that a closing issue only counts included."""
    counts = (_CLOSING.fullmatch(issue.found) for issue in issues)
    return sum(int(count[1].replace(",", "")) if count else 1 for count in counts)


def folded(issues: Sequence[Issue]) -> list[Issue]:
    """Return issues with many of one rule in a file as one, in the place of the first, with how many more."""
    groups: dict[tuple[Severity, str, str], list[Issue]] = {}
    for issue in issues:
        groups.setdefault((issue.severity, issue.file, issue.rule), []).append(issue)
    shown: list[Issue] = []
    for group in groups.values():
        total = issue_count(group)
        if total <= _FOLDED_FROM:
            shown += group
            continue
        more = f"{group[0].found} and {total - 1:,} more" if group[0].found else f"{total:,} times"
        shown.append(msgspec.structs.replace(group[0], found=more))
    return shown


def has_errors(issues: Sequence[Issue]) -> bool:
    """Return whether any issue blocks its file."""
    return any(issue.severity == "error" for issue in issues)


def refuse(file: str, place: str, rule: str, found: str, fix: str) -> NoReturn:
    """Raise `BadInput` with one error."""
    raise BadInput([Issue(severity="error", file=file, place=place, rule=rule, found=found, fix=fix)])


def examples(names: Sequence[str]) -> str:
    """Return how many names there are, and the first three: ``4: "a", "b", "c" and 1 more``."""
    more = f" and {len(names) - _EXAMPLES:,} more" if len(names) > _EXAMPLES else ""
    return f"{len(names):,}: {', '.join(map(quote, names[:_EXAMPLES]))}{more}"


def quote(value: object) -> str:
    """Return a value from a file as JSON-like text of at most 160 characters, for ``found``."""
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, UnicodeEncodeError, OverflowError, RecursionError, msgspec.MsgspecError):
        text = ascii(value)
    return text if len(text) <= _FOUND_LIMIT else text[: _FOUND_LIMIT - 1] + "…"


def plain(text: str) -> str:
    r"""Return text with every control, format and surrogate character written as an escape, in one line.

    >>> plain("red\x1b[31m")
    'red\\x1b[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn") else ascii(char)[1:-1]
        for char in text
    )


def cut(text: str) -> str:
    """Return text of a bounded length: the beginning, the length and a checksum of a very long name.

    >>> cut("Table"), cut("x" * 10_000) == "x" * 400 + "… (10,000 characters, 0d55a4a3)"
    ('Table', True)
    """
    if len(text) <= MOST_SHOWN:
        return text
    sign = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    return f"{text[:MOST_SHOWN]}… ({len(text):,} characters, {sign:08x})"


def whole(text: str, names: Collection[str]) -> str:
    """Return the one of some names that was `cut` to a text; the text itself for one that was not.

    >>> whole(cut("x" * 10_000), ["Table", "x" * 10_000]) == "x" * 10_000, whole("Table", ["Table"])
    (True, 'Table')
    """
    if len(text) <= MOST_SHOWN or text in names:
        return text
    return next((name for name in names if cut(name) == text), text)


def displayed(text: str) -> str:
    """Return a name, or a sentence with names, as a view shows it: `cut`, then `plain`."""
    return plain(cut(text))


def name_in_list(name: str) -> str:
    """Return the name of a document as lists show it: `displayed`, without the ending that nearly all have.

    >>> name_in_list("report.pdf"), name_in_list("scan.png")
    ('report', 'scan.png')
    """
    return displayed(name).removesuffix(".pdf")


def isolated(name: str) -> str:
    r"""Return a name for the middle of a line; one from right to left is put between isolates.

    >>> isolated("Table"), isolated("\u05d0") == "\u2068\u05d0\u2069"
    ('Table', True)
    """
    if name.isascii() or not any(unicodedata.bidirectional(char) in ("R", "AL") for char in name):
        return name
    return f"\u2068{name}\u2069"


def issues_text(issues: Sequence[Issue]) -> str:
    """Return issues as lines of severity and sentence; many of one rule in one file are one line."""
    return "".join(f"{issue.severity}: {issue.sentence}\n" for issue in folded(issues))


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 page``, ``1,204 pages``, ``2 boxes``."""
    return f"{count:,} {noun if count == 1 else plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Return the noun for more than one: ``pages``, ``boxes``."""
    return f"{noun}es" if noun.endswith(("s", "x", "ch")) else f"{noun}s"


def listed(words: Sequence[str], before_last: Literal["and", "or"] = "and") -> str:
    """Return words in a sentence: ``a``, ``a and b``, ``a, b and c``; empty for none."""
    *first, last = words or [""]
    return f"{', '.join(first)} {before_last} {last}" if first else last
