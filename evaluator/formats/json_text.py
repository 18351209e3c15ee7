"""JSON bytes to a generic tree, refusing what the standard parser lets pass.

Owns the rules of any JSON format: UTF-8, no NUL, NaN or Infinity, no number beyond float64, no nesting beyond
`limits.MAX_DEPTH`, visible repeated keys. Lines and columns count from 1, bytes from 0.
"""

from __future__ import annotations

import codecs
import gc
import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.data.issues import Collector, quote, refuse
from evaluator.formats import limits

if TYPE_CHECKING:
    import json

JsonPath = str

_UTF8_RULE = "JSON must be UTF-8 (RFC 8259, section 8.1)"
_SYNTAX_RULE = "the text must be well-formed JSON (RFC 8259)"
_ZIP = b"PK\x03\x04"
_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"), (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)  # fmt: skip
_DECODE_STEP = 1 << 20
# Longer integers overflow float64, and from 4,300 digits on Python refuses to convert them.
_MAX_DIGITS = 300
# Possessive, and the closing quote is optional: linear on every input, also on an unterminated string.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_STRUCTURAL = np.isin(np.arange(256), np.frombuffer(b"[]{}:", dtype=np.uint8))
_LONG_NUMBER = re.compile(rb"[0-9]{%d}" % (_MAX_DIGITS + 1))
_FEW_KEYS = 64
_SIMPLE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Source(NamedTuple):
    """The bytes of a JSON file, checked to be UTF-8, without byte order mark, and their SHA-256."""

    name: str
    content: bytes
    sha256: str


class Repeated(dict[str, object]):
    """An object in which keys occur more than once; holds the last values, and how often each key occurs."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.times: dict[str, int] = {key: keys.count(key) for key in self if keys.count(key) > 1}


class Unusable:
    """A number that no column can hold: NaN, Infinity, 1e400, a 5,000-digit integer. Keeps its spelling."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class Oddity(NamedTuple):
    """Something in a free-form part that is legal for the parser and not for us."""

    place: JsonPath
    rule: str
    found: str
    fix: str


@contextmanager
def garbage_collection_off() -> Iterator[None]:
    """Turn garbage collection off: it would walk over millions of new objects again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def open_source(content: bytes, name: str) -> Source:
    """Return the bytes of a JSON file after the rules on encoding, with their digest; see `text_of`."""
    content = text_of(content, name)
    return Source(name, content, digest(content))


def digest(content: bytes) -> str:
    """Return the SHA-256 of the content in hexadecimal digits; made without the interpreter's lock."""
    return hashlib.sha256(content).hexdigest()


def text_of(content: bytes, name: str) -> bytes:
    """Return the bytes of a JSON file without byte order mark; `name` is for the issues.

    Raises `BadInput` for a file that is too large, empty, a zip archive, not UTF-8, or has NUL bytes.
    """
    if len(content) > limits.MAX_FILE_BYTES:
        refuse(name, "", f"a file may have {limits.MAX_FILE_BYTES:,} bytes", f"{len(content):,}", "Split the file.")
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            refuse(name, "", _UTF8_RULE, f"{encoding} (byte order mark {mark.hex(' ').upper()})", "Save it as UTF-8.")
    content = content.removeprefix(codecs.BOM_UTF8)
    if not content.strip():
        found = "an empty file" if not content else f"{len(content):,} bytes of white space"
        refuse(name, "", _SYNTAX_RULE, found, "Export the file again.")
    if content.startswith(_ZIP):
        refuse(name, "", _SYNTAX_RULE, "a zip archive", "Unpack it, and give the folder.")
    if (nul := content.find(b"\0")) >= 0:
        fix = "Save the file as UTF-8; zero bytes mean that it is UTF-16, binary or damaged."
        refuse(name, f"byte {nul}", "JSON must not contain NUL bytes (RFC 8259, section 7)", "0x00", fix)
    _require_utf8(content, name)
    return content


def parse(source: Source) -> object:
    """Return the generic tree of a JSON file: dict, list, str, int, float, bool, None.

    Objects with repeated keys are `Repeated`, numbers outside float64 are `Unusable`. Raises `BadInput` for what is not
    JSON (with line and column), or nested too deep.
    """
    # The compiled decoder reads what has no flaw.
    import json

    _refuse_depth(source)
    text = source.content.decode()
    try:
        tree: object = json.loads(
            text, object_pairs_hook=_object, parse_constant=Unusable, parse_float=_float, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        _refuse_syntax(source.name, text, error)
    return tree


def parse_exactly(source: Source, collector: Collector, *, fix: str) -> object:
    """Return the tree of a file whose issues are all to be listed; `BadInput` for one too large for that."""
    _refuse_large(source, collector, fix)
    return parse(source)


def parse_sound(source: Source, collector: Collector) -> object:
    """Return the tree of a file; `BadInput` for repeated keys, unusable numbers and lone surrogates."""
    _refuse_large(source, collector, "Split the file.")
    tree = parse_checked(source, collector)
    collector.raise_if_failed()
    return tree


def _refuse_large(source: Source, collector: Collector, fix: str) -> None:
    if len(source.content) > limits.MAX_EXACT_BYTES:
        rule = f"issues are listed only for files of up to {limits.MAX_EXACT_BYTES:,} bytes"
        collector.fail("", rule, f"{len(source.content):,} bytes", fix)


def parse_checked(source: Source, collector: Collector) -> object:
    """Return the tree of a JSON file; repeated keys, unusable numbers and lone surrogates are errors.

    The compiled decoder refuses all of these but repeated keys, which show as more colons than entries; `parse` then
    names the places.
    """
    colons = _refuse_depth(source)
    with suppress(msgspec.MsgspecError, RecursionError, UnicodeError):
        plain: object = msgspec.json.decode(source.content)
        if _entries(plain) == colons and not _LONG_NUMBER.search(source.content):
            return plain
    tree = parse(source)
    for oddity in oddities(tree, "$"):
        collector.error(*oddity)
    return tree


def step(place: JsonPath, key: str) -> JsonPath:
    """Return a JSON path one key deeper.

    >>> step("$.info", "type"), step("$.label_map", "0")
    ('$.info.type', '$.label_map["0"]')
    """
    return f"{place}.{key}" if _SIMPLE_KEY.match(key) else f"{place}[{quote(key)}]"


def spelled_otherwise(value: Mapping[str, object], key: str) -> str | None:
    """Return the key that differs from a missing one only in case and signs; None without one.

    >>> spelled_otherwise({"paraBlocks": []}, "para_blocks"), spelled_otherwise({"blocks": []}, "para_blocks")
    ('paraBlocks', None)
    """
    if key in value:
        return None
    # Objects of one kind have the same keys, and there are many of them.
    return _spelled(tuple(value), key) if len(value) <= _FEW_KEYS else _spelled.__wrapped__(tuple(value), key)


@lru_cache(maxsize=1024)
def _spelled(keys: tuple[str, ...], key: str) -> str | None:
    alike, bare = [each for each in keys if len(each) <= 2 * len(key)], _bare_key(key)
    return next((each for each in alike if _bare_key(each) == bare), None)


def _bare_key(key: str) -> str:
    return "".join(filter(str.isalnum, key.casefold()))


def excerpt(value: object) -> str:
    """Return a value of a parsed tree as a short quotation; numbers keep their spelling, shortened.

    >>> excerpt([0.1, Unusable("NaN"), "a"])
    '[0.1, NaN, "a"]'
    """
    if isinstance(value, Unusable):
        return value.text if len(value.text) <= 60 else f"{value.text[:20]}… ({len(value.text):,} characters)"
    if isinstance(value, int) and not isinstance(value, bool):
        return excerpt(Unusable(str(value)))
    if isinstance(value, list | tuple) and len(value) <= 8:
        inner = [excerpt(item) if not isinstance(item, list | tuple | dict) else quote(item) for item in value]
        return f"[{', '.join(inner)}]"
    return quote(value)


def repeats(value: object) -> dict[str, int]:
    """Return how often each repeated key of an object occurs; empty for anything else."""
    return value.times if isinstance(value, Repeated) else {}


def has_lone_surrogate(text: str) -> bool:
    """Return whether text has half of a surrogate pair, which no file can be written with."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def oddities(value: object, place: JsonPath) -> Iterator[Oddity]:
    """Yield repeated keys, unusable numbers and lone surrogates of a part of a tree; none for a clean one."""
    if isinstance(value, Unusable):
        yield Oddity(
            place, "numbers must be finite and fit float64 (RFC 8259, section 6)", excerpt(value), "Correct it."
        )
    elif isinstance(value, str) and has_lone_surrogate(value):
        yield lone_surrogate(place, value)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from oddities(item, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, times in repeats(value).items():
            yield repeated_key(step(place, key), key, times)
        for key, item in value.items():
            if has_lone_surrogate(key):
                yield lone_surrogate(step(place, key), key)
            yield from oddities(item, step(place, key))


def repeated_key(place: JsonPath, key: str, times: int) -> Oddity:
    """Return the issue for a key that occurs more than once in one object."""
    rule = "a key must not be repeated in one object (RFC 8259, section 4)"
    return Oddity(place, rule, f"{quote(key)} {times} times", "Keep one of them.")


def lone_surrogate(place: JsonPath, text: str) -> Oddity:
    """Return the issue for text with half of a surrogate pair."""
    rule = "text must not contain half of a surrogate pair (RFC 8259, section 8.2)"
    return Oddity(place, rule, quote(text), "Export the text again; a character was cut in two.")


def _entries(tree: object) -> int:
    count = 0
    waiting: list[Any] = [[tree]]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            count += len(value)
            value = value.values()
        # Not `dict | list`, which is made anew for each value.
        waiting += [each for each in value if isinstance(each, (dict, list))]
    return count


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else Repeated(pairs)


def _float(text: str) -> float | Unusable:
    value = float(text)
    return value if math.isfinite(value) else Unusable(text)


def _integer(text: str) -> int | Unusable:
    return int(text) if len(text) <= _MAX_DIGITS else Unusable(text)


def _require_utf8(content: bytes, name: str) -> None:
    """Decode in steps, so that a large file is not held as text only to be checked."""
    if content.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    for start in range(0, len(content), _DECODE_STEP):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(content[start : start + _DECODE_STEP], final=start + _DECODE_STEP >= len(content))
        except UnicodeDecodeError as error:
            offset = start - pending + error.start
            refuse(name, f"byte {offset}", _UTF8_RULE, f"0x{content[offset]:02X}", "Save the file as UTF-8.")


def _refuse_depth(source: Source) -> int:
    """Refuse a file that is nested too deep; how many colons it has outside of strings."""
    # Brackets of the whole file at once; single tokens are looked at only to name the place.
    bare = _structure(source.content)
    opening, closing = (bare == ord("[")) | (bare == ord("{")), (bare == ord("]")) | (bare == ord("}"))
    depth = np.cumsum(opening.astype(np.int8) - closing.astype(np.int8), dtype=np.int64)
    colons = int(np.count_nonzero(bare == ord(":")))
    if not len(depth) or depth.max() <= limits.MAX_DEPTH:
        return colons
    level = 0
    for token in _TOKEN.finditer(source.content):
        level += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(token.group(), 0)
        if level > limits.MAX_DEPTH:
            rule = f"arrays and objects may be nested {limits.MAX_DEPTH} deep"
            place = _line_and_column(source.content[: token.start()].decode())
            refuse(source.name, place, rule, f"level {level}", "Flatten the value, or remove it.")
    return colons


def _structure(content: bytes) -> npt.NDArray[np.uint8]:
    """Brackets and colons outside of strings, in order; in blocks, so that the file is not copied."""
    if b"\\" in content:
        content = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    structural, inside = [np.empty(0, dtype=np.uint8)], np.uint8(0)
    for start in range(0, len(content), _DECODE_STEP):
        block = np.frombuffer(content[start : start + _DECODE_STEP], dtype=np.uint8)
        in_string = np.bitwise_xor.accumulate((block == ord('"')).view(np.uint8)) ^ inside
        inside = in_string[-1]
        structural.append(block[_STRUCTURAL[block] & (in_string == 0)])
    return np.concatenate(structural)


def _refuse_syntax(name: str, text: str, error: json.JSONDecodeError) -> NoReturn:
    # Python 3.13 points at a comma before a closing bracket, older versions at the bracket; here it is the bracket.
    start = error.pos + error.msg.startswith("Illegal trailing comma")
    rest = text[start:].lstrip(" \t\r\n")
    position = len(text) - len(rest) if rest else error.pos
    if error.msg.startswith("Invalid control"):
        position = error.pos
        found, fix = quote(text[position]), "Write control characters in text as escapes."
    elif not rest or error.msg.startswith("Unterminated string"):
        found, fix = "the end of the text", "The file is cut off; copy or export it again."
        if rest:
            found = f"a string that does not end: {quote(rest)}"
    elif error.msg == "Extra data" and rest.startswith(("{", "[")):
        found, fix = f"a further value: {quote(rest[:20])}", "Put the values in one array, with commas between them."
    elif rest.startswith(("/", "#")):
        found, fix = quote(rest[:20]), "Remove the comment; JSON has none."
    elif rest.startswith("'"):
        found, fix = quote(rest[:20]), "Put text and keys in double quotes."
    else:
        found, fix = quote(rest[:20]), "Correct the text at this place, or export it again."
    refuse(name, _line_and_column(text[:position]), _SYNTAX_RULE, found, fix)


def _line_and_column(before: str) -> str:
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"
