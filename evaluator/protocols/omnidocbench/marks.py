"""What lies between two marks, found in time that grows with the text alone.

As regular expressions with the shortest inside find it, which take quadratic time and more where marks have no end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Span(NamedTuple):
    """An element: the mark that begins it, where it starts, where its inside does and stops, and where it ends."""

    mark: str
    start: int
    inside: int
    stop: int
    end: int


class Places:
    """Where marks come next in a text, asked for from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next: dict[str, int] = {}

    def after(self, mark: str, start: int) -> int:
        """Return the next place of a mark from a start on; behind the end of the text for none."""
        at = self._next.get(mark, -1)
        if at < start:
            at = self._text.find(mark, start)
            at = self._next[mark] = len(self._text) + 1 if at < 0 else at
        return at


def spans(text: str, begin: re.Pattern[str], end: str | Mapping[str, str], *, in_line: bool = False) -> Iterator[Span]:
    """Yield elements from left to right; `end` may be one for each mark, `in_line` keeps them in their line.

    Two dollars that nothing ends are one that the other ends.
    """
    places, at = Places(text), 0
    while (mark := begin.search(text, at)) is not None:
        ending = end if isinstance(end, str) else end[mark[0]]
        inside, stop = mark.end(), places.after(ending, mark.end())
        if stop > len(text) and mark[0] == "$$":
            inside = stop = mark.start() + 1
            ending = "$"
        if stop > len(text) or (in_line and places.after("\n", inside) < stop):
            at = mark.start() + 1
            continue
        at = stop + len(ending)
        yield Span(text[mark.start() : inside], mark.start(), inside, stop, at)


def without(text: str, begin: re.Pattern[str], end: str, *, in_line: bool = False) -> str:
    """Return a text without some elements."""
    parts, done = [], 0
    for span in spans(text, begin, end, in_line=in_line):
        parts.append(text[done : span.start])
        done = span.end
    return "".join([*parts, text[done:]])


def without_pictures(text: str) -> str:
    """Return Markdown without its pictures, each in a line."""
    parts, done = [], 0
    places, at = Places(text), text.find("![")
    while at >= 0:
        stop = places.after(")", places.after("](", at + 2) + 2)
        if stop < places.after("\n", at):
            parts.append(text[done:at])
            done = stop + 1
        at = text.find("![", max(done, at + 1))
    return "".join([*parts, text[done:]])
