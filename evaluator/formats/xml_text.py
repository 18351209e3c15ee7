"""XML bytes to elements in document order, with a line for each; lines and columns count from 1.

Owns the rules of any XML format: a known encoding, no DTD, entities or external references, no nesting beyond
`limits.MAX_XML_DEPTH`, at most `limits.MAX_XML_ELEMENTS` held at a time. A file may have several roots, as the official
POD sample does.
"""

from __future__ import annotations

import codecs
import hashlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evaluator.data.issues import Collector, quote
from evaluator.formats import limits
from evaluator.system.progress import report

_SYNTAX_RULE = "the text must be well-formed XML (XML 1.0)"
_ENCODING_RULE = "text must be in a known encoding, the declared one or UTF-8 (XML 1.0, section 4.3.3)"
_DTD_RULE = "DTD/entities are not allowed: they can read files and fill the memory"
_SAVE_AS_UTF8 = "Save the file as UTF-8."

_UTF32_BOMS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# The first character of a UTF-16 file without byte order mark is "<".
_UTF16_STARTS = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
# Python has codecs that are no character sets (rot13, unicode_escape, idna): only real ones are let in.
_CHARACTER_SETS = frozenset(
    ("ascii", "utf-8", "utf-16", "utf-16-le", "utf-16-be", "gb2312", "gbk", "gb18030", "big5", "euc_jp", "euc_kr")
) | {f"{family}{number}" for family, numbers in (("iso8859-", range(1, 17)), ("cp125", range(9))) for number in numbers}
_ENCODING_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_DECLARATION = re.compile(r"<\?xml(?=\s)[^?]*+\?>")
_DECLARED = re.compile(r"""\sencoding\s*=\s*["']([^"']*)["']""")
_NOT_NEWLINE = re.compile(r"[^\n]")
_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?", re.ASCII)
# How far a declaration is looked for before the encoding is known.
_HEAD = 1024
# Expat allows one root; the roots of the file become children of this one.
_OPEN, _CLOSE = b"<_>", b"</_>"
_EXCERPT_BYTES = 40
_STEP_BYTES = 1 << 18


class Source(NamedTuple):
    """The text of an XML file, declarations blanked; SHA-256 of its bytes without byte order mark."""

    name: str
    text: str
    sha256: str


@dataclass(slots=True, eq=False)
class Element:
    """An element with its content; `name` has no namespace, `line` is that of the start tag, from 1.

    `depth` is 1 for a root, whose `parent` is empty. `text`, stripped, is empty until the element has ended.
    """

    name: str
    attributes: Mapping[str, str]
    line: int
    depth: int = 1
    parent: str = ""
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def child(self, name: str) -> Element | None:
        """Return the first child of a name; None without."""
        return next((child for child in self.children if child.name == name), None)

    @property
    def place(self) -> str:
        """Line and tag, for issues.

        >>> Element("tableRegion", {}, 118).place
        'line 118, <tableRegion>'
        """
        return f"line {self.line}, <{self.name}>"


def looks_like_xml(head: bytes) -> bool:
    """Return whether the first character, blanks and byte order mark apart, is "<" or there is none."""
    return narrow(head[:64]).lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")[:1] in (b"<", b"")


def narrow(content: bytes) -> bytes:
    """Return UTF-16 without every other byte, enough to find ASCII words; other bytes as they are."""
    return content.replace(b"\0", b"") if b"\0" in content[:4] else content


def number(element: Element, key: str, collector: Collector, *, source: str) -> float:
    """Return the finite number of an attribute; NaN with an error, which names the source, for the rest."""
    text = element.attributes.get(key)
    if text is not None and is_number(text):
        return float(text)
    what = "none" if text is None else quote(text)
    collector.error(element.place, f"{key} must be a finite number ({source})", what, "Correct it.")
    return math.nan


def is_number(text: str) -> bool:
    """Return whether text is a finite decimal number, with white space around it or not."""
    return _NUMBER.fullmatch(text.strip()) is not None and math.isfinite(float(text))


def open_source(content: bytes, collector: Collector) -> Source:
    """Return the text of an XML file; raise `BadInput` for its size, its encoding or a DTD.

    XML declarations become blanks of the same length, so that lines and columns stay.
    """
    _refuse_size(content, collector)
    mark, encoding = _encoding(content, collector)
    content = content.removeprefix(mark)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{content[error.start]:02X}, which {encoding} does not allow there"
        collector.fail(f"byte {error.start + len(mark)}", _ENCODING_RULE, wrong, _SAVE_AS_UTF8)
    for declaration in _DECLARATION.finditer(text):
        _refuse_other_encoding(text, declaration, encoding, collector)
    text = _DECLARATION.sub(lambda declaration: _NOT_NEWLINE.sub(" ", declaration[0]), text)
    at = _start_of_dtd(text)
    if at is not None:
        collector.fail(_line_and_column(text[:at]), _DTD_RULE, quote(text[at : at + 40]), "Remove the declaration.")
    return Source(collector.file, text, hashlib.sha256(content).hexdigest())


def parse(source: Source, take: Callable[[Element], None], collector: Collector, *, depth: int = 1) -> None:
    """Call `take` with the complete elements at `depth` (1: roots) and those around them, as they end.

    Those around them come without these children, so that memory does not grow. Text that is not well-formed, nested
    too deep or outside of the roots is an error, after the elements that ended before it. Expat gets the text at once
    because it is quadratic on long tokens that come in pieces.
    """
    from defusedxml.ElementTree import DefusedXMLParser, ParseError  # type: ignore[import-untyped]

    data = source.text.encode()
    target = _Target(take, depth, len(_OPEN) + len(data))
    parser = DefusedXMLParser(target=target, forbid_dtd=True)
    target.expat = parser.parser
    # Text comes line by line, so that its place is known.
    parser.parser.buffer_text = False
    try:
        for part in (_OPEN, data, _CLOSE):
            parser.feed(part)
        parser.close()
    except ParseError as error:
        at = int(parser.parser.ErrorByteIndex)
        reason = str(error).split(": line")[0]
        collector.error(*_syntax_error(data, at, reason, target))
    except _Unreadable as error:
        collector.error(_line_and_column(_before(data, error.at)), *error.issue)
    except ValueError:  # what defusedxml raises; the text has been searched for a DTD before
        at = int(parser.parser.CurrentByteIndex)
        collector.error(_line_and_column(_before(data, at)), _DTD_RULE, "", "Remove the declaration.")


class _Unreadable(Exception):
    """Raised inside the parser; carries where that was, rule, found and fix."""

    def __init__(self, at: int, rule: str, found: str, fix: str) -> None:
        super().__init__(rule)
        self.at = at
        self.issue = rule, found, fix


class _Target:
    """What the parser calls: keeps the open elements, and hands on those that have ended."""

    def __init__(self, take: Callable[[Element], None], depth: int, end: int) -> None:
        self._take, self._depth, self._end = take, depth, end
        self.expat: Any = None
        self.open: list[Element] = []
        self._texts: list[list[str]] = []
        self._held = self._reported = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        depth = len(self.open)
        parent = self.open[-1].name if depth > 1 else ""
        element = Element(tag.rpartition("}")[2], attributes, self.expat.CurrentLineNumber, depth, parent)
        self.open.append(element)
        self._texts.append([])
        if depth > limits.MAX_XML_DEPTH:
            rule = f"elements may be nested {limits.MAX_XML_DEPTH} deep"
            raise _Unreadable(self._at, rule, f"level {depth}, <{element.name}>", "Flatten the elements.")
        if depth > self._depth:
            self.open[-2].children.append(element)
            self._held += 1
            if self._held > limits.MAX_XML_ELEMENTS:
                around = self.open[self._depth]
                rule = f"one element may hold {limits.MAX_XML_ELEMENTS:,} others"
                raise _Unreadable(self._at, rule, f"more in {around.place}", "Split it.")

    def end(self, _tag: str) -> None:
        element = self.open.pop()
        element.text = "".join(self._texts.pop()).strip()
        if 1 <= element.depth <= self._depth:
            self._held = 0
            self._take(element)
            if self._at - self._reported >= _STEP_BYTES:
                self._reported = self._at
                report(self._reported, self._end)
        elif not element.depth and self._at < self._end:
            raise _Unreadable(self._at, _SYNTAX_RULE, "a closing tag that nothing opened", "Remove it.")

    def data(self, text: str) -> None:
        if len(self.open) > 1:
            self._texts[-1].append(text)
        elif text.strip():
            what = f"text outside of an element: {quote(text.strip()[:40])}"
            raise _Unreadable(self._at, _SYNTAX_RULE, what, "Remove it.")

    @property
    def _at(self) -> int:
        """Return where the parser is, in bytes; known only while it calls."""
        return int(self.expat.CurrentByteIndex)


def _refuse_size(content: bytes, collector: Collector) -> None:
    if len(content) > limits.MAX_XML_BYTES:
        rule = f"an XML file may have {limits.MAX_XML_BYTES:,} bytes"
        collector.fail("", rule, f"{len(content):,}", "Split it: one file for each page, in one folder.")
    if not content.strip():
        what = f"{len(content):,} bytes of white space" if content else "an empty file"
        collector.fail("", _SYNTAX_RULE, what, "Export the file again.")


def _encoding(content: bytes, collector: Collector) -> tuple[bytes, str]:
    if content.startswith(_UTF32_BOMS):
        collector.fail("", _ENCODING_RULE, "UTF-32", _SAVE_AS_UTF8)
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return mark, encoding
    for start, encoding in _UTF16_STARTS:
        if content.startswith(start):
            return b"", encoding
    declaration = _DECLARATION.match(content[:_HEAD].decode("latin-1").lstrip())
    declared = _DECLARED.search(declaration[0]) if declaration else None
    codec = _codec(declared[1], "line 1", collector) if declared else "utf-8"
    # ASCII is a part of UTF-8, and UTF-16 would have been seen: the contradiction is reported later.
    return b"", "utf-8" if codec == "ascii" or codec.startswith("utf-16") else codec


def _codec(declared: str, where: str, collector: Collector) -> str:
    name = _codec_name(declared)
    if name not in _CHARACTER_SETS:
        collector.fail(where, _ENCODING_RULE, quote(declared), _SAVE_AS_UTF8)
    return name


def _codec_name(declared: str) -> str:
    try:
        return codecs.lookup(declared).name if _ENCODING_NAME.match(declared) else ""
    except LookupError:
        return ""


def _refuse_other_encoding(text: str, declaration: re.Match[str], encoding: str, collector: Collector) -> None:
    declared = _DECLARED.search(declaration[0])
    if declared is None:
        return
    name = _codec_name(declared[1])
    # UTF-16 need not say its byte order, and ASCII is a part of UTF-8.
    if name != encoding and not encoding.startswith(f"{name}-") and (name, encoding) != ("ascii", "utf-8"):
        where = _line_and_column(text[: declaration.start()])
        rule = "all declarations of a file must name the encoding that it is written in (XML 1.0, section 4.3.3)"
        collector.fail(where, rule, f"{quote(declared[1])} in a file read as {encoding}", _SAVE_AS_UTF8)


def _start_of_dtd(text: str) -> int | None:
    """Return where a DTD begins, outside of comments and CDATA; None for none. Expat would call it bad syntax."""
    at = text.find("<!")
    while at >= 0:
        if text.startswith("<!--", at):
            end = text.find("-->", at + 4)
        elif text.startswith("<![CDATA[", at):
            end = text.find("]]>", at + 9)
        else:
            return at if re.match(r"<!(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION|\[)", text[at : at + 12]) else None
        at = text.find("<!", end + 3) if end >= 0 else -1
    return None


def _syntax_error(data: bytes, at: int, reason: str, target: _Target) -> tuple[str, str, str, str]:
    start = at - len(_OPEN)
    # Expat points behind the "</" of a closing tag that nothing opened.
    start -= 2 if data[max(start - 2, 0) : max(start, 0)] == b"</" else 0
    where = _line_and_column(_before(data, len(_OPEN) + start))
    if start >= len(data):
        last = target.open[-1] if target.open else None
        inside = f" inside of <{last.name}> of line {last.line}" if last and last.depth else ""
        return where, _SYNTAX_RULE, f"the end of the file{inside}", "The file is cut off; copy or export it again."
    excerpt = data[start : start + _EXCERPT_BYTES].decode(errors="ignore")
    excerpt = excerpt.partition("\n")[0]
    return where, _SYNTAX_RULE, f"{reason} at {quote(excerpt)}", "Correct the text at this place, or export it again."


def _before(data: bytes, at: int) -> str:
    return data[: max(at - len(_OPEN), 0)].decode(errors="ignore")


def _line_and_column(before: str) -> str:
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"
