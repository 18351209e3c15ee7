"""Text brought into one form before it is compared, and its words in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final, Literal

WordRule = Literal["scripts", "spaces"]
"""What a word is: what stands between blanks, and with "scripts" each character of a script that has none."""
Normalisation = Literal["plain", "none"]

# Marks of direction and of no width; a search is much faster than a translation of each character.
_DROPPED: Final = re.compile("[\u200b\u2060\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FOLDED: Final = (
    (re.compile("[\u2018-\u201b\u2032]"), "'"),
    (re.compile("[\u201c-\u201f\u2033]"), '"'),
    (re.compile("[\u2010-\u2015\u2212]"), "-"),
)
# Most texts have none of either.
_ODD: Final = re.compile("[\r\n\u00ad\u200b\u2060\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_FOLDS: Final = re.compile("[\u2010-\u201f\u2032\u2033\u2212]")
_SOFT_HYPHEN: Final = re.compile("\u00ad(?:[ \t]*\n[ \t]*)?")
# What follows a hyphen is looked at and not taken, so that it may stand before the next one.
_HYPHEN_AT_LINE_END: Final = re.compile("(.)[-\u2010][ \t]*\n[ \t]*(?=(.))")
# Han, kana, Thai and Lao, Myanmar, Khmer.
_WORD_ALONE: Final = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af\u3040-\u30ff\u31f0-\u31ff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)


def plain(text: str) -> str:
    r"""Return text without line ends, ligatures, full-width forms and typographic marks; case and markup stay.

    >>> plain("Hyphen-\nation of \ufb01ve\u2009\u201cquotes\u201d")
    'Hyphenation of five "quotes"'
    """
    if text.isascii() and "\n" not in text and "\r" not in text:
        return " ".join(text.split())
    if _ODD.search(text) is not None:
        text = _DROPPED.sub("", with_line_feeds(text))
        text = _HYPHEN_AT_LINE_END.sub(_joined, _SOFT_HYPHEN.sub("", text))
    text = unicodedata.normalize("NFKC", text)
    if _FOLDS.search(text) is not None:
        for marks, mark in _FOLDED:
            text = marks.sub(mark, text)
    return " ".join(text.split())


def with_line_feeds(text: str) -> str:
    """Return text with one kind of line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _joined(end: re.Match[str]) -> str:
    before, after = end[1], end[2]
    if before.isalpha() and after.islower():
        return before
    return f"{before}-" if before.isalnum() and after.isalnum() else end[0]


def words(text: str, rule: WordRule) -> list[str]:
    """Return the words of a text; a mark stays with what stands before it.

    >>> words("PDF 文書 ok", "scripts"), words("PDF 文書 ok", "spaces")
    (['PDF', '文', '書', 'ok'], ['PDF', '文書', 'ok'])
    """
    if rule == "spaces" or text.isascii() or _WORD_ALONE.search(text) is None:
        return text.split()
    parts: list[str] = []
    for token in text.split():
        begins = True
        for at, char in enumerate(token):
            if at and unicodedata.category(char).startswith("M"):
                parts[-1] += char
                continue
            alone = _WORD_ALONE.match(char) is not None
            if alone or begins:
                parts.append(char)
            else:
                parts[-1] += char
            begins = alone
    return parts


class _Text:
    def __init__(self) -> None:
        self._parts: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._parts += {"math": ["$"], "br": ["\n"]}.get(tag, [])

    def end(self, tag: str) -> None:
        self._parts += ["$"] if tag == "math" else []

    def data(self, text: str) -> None:
        self._parts.append(text)

    def close(self) -> str:
        return "".join(self._parts).strip()


def text_of_html(html: str) -> str:
    """Return the text of some HTML without tags, its math between dollars; "" for what no parser takes."""
    # Only formats that write HTML need it, which takes 10 ms.
    from lxml.etree import HTMLParser, LxmlError  # type: ignore[import-untyped]

    parser = HTMLParser(target=_Text())
    try:
        parser.feed(html)
        return str(parser.close())
    except LxmlError:
        return ""
