"""What in a PDF acts by itself or carries other files, and its removal; runs in the process that writes documents.

Pages look as before: the picture of an attachment or a film stays. ``Document.scrub`` of PyMuPDF takes out less: it
passes over scripts inside other objects, launches, XFA and films.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import msgspec

from evaluator.data.issues import count_of
from evaluator.data.issues import listed as words_of

_Untyped: TypeAlias = Any

# PDF 32000-1, section 12.6.4, without those that only go to a place of the document (GoTo) or to an address (URI).
_ACTIONS: Final = frozenset((
    "Launch", "GoToR", "GoToE", "SubmitForm", "ImportData", "ResetForm", "Hide", "Named", "SetOCGState", "Rendition",
    "Sound", "Movie", "Trans", "GoTo3DView", "RichMediaExecute", "Thread",
))  # fmt: skip
_MEDIA: Final = frozenset(("RichMediaContent", "RichMediaSettings", "3DD", "Movie", "Sound"))
_MEDIA_TYPES: Final = ("RichMedia", "3D", "Movie", "Sound")
_FILE_KEYS: Final = ("F", "UF", "DOS", "Mac", "Unix")
_NOUNS: Final = {
    "scripts": "script", "actions": "action", "files": "embedded file", "forms": "XFA form", "media": "film or sound",
}  # fmt: skip
# Text of an object that has any of it; the type of an action may be an object of its own.
_WORDS: Final = "|".join(("JavaScript", "URI", "AA", "EF", "RF", *_ACTIONS, *_MEDIA))
_MARK: Final = re.compile(rf"/(?:{_WORDS})\b|/S \d+ \d+ R")
_BY_TYPE: Final = ("scripts", "actions", "links")


# Where else an address leads is for the reader's program to decide: a script, a file, a share of another machine.
_WEB: Final = re.compile(r"\s*(https?|mailto):", re.IGNORECASE)


class ActiveContent(msgspec.Struct, frozen=True, kw_only=True):
    """How much was taken out of a document, and how many `links` to addresses stay."""

    scripts: int = 0
    actions: int = 0
    files: int = 0
    forms: int = 0
    media: int = 0
    links: int = 0

    @property
    def words(self) -> str:
        """Return what was taken out and what stays; empty for a document without any of it."""
        parts = [count_of(count, noun) for key, noun in _NOUNS.items() if (count := getattr(self, key))]
        taken = f"taken out: {words_of(parts)}" if parts else ""
        kept = f"kept: {count_of(self.links, 'link')} to an address" if self.links else ""
        return "; ".join(filter(None, (taken, kept)))


def take_out(pymupdf: _Untyped, document: _Untyped) -> ActiveContent:
    """Take out of an open PDF what acts by itself or carries files; saving drops what nothing refers to then."""
    mupdf = pymupdf.mupdf
    pdf = mupdf.pdf_specifics(document.this)
    counts: Counter[str] = Counter()
    for number in range(1, document.xref_length()):
        try:
            text = document.xref_object(number, compressed=True)
        except (RuntimeError, mupdf.FzErrorBase):
            # What cannot be read is not known to be harmless.
            document.update_object(number, "null")
            continue
        # Names are in one spelling here, however the file escapes them.
        if _MARK.search(text):
            held = mupdf.pdf_load_object(pdf, number)
            kind = _kind(held, "", held)
            if kind in _BY_TYPE:
                counts[kind] += 1
            if kind in ("scripts", "actions"):
                _empty(held)
            _clean(held, counts)
    root = mupdf.pdf_trailer(pdf).pdf_dict_gets("Root")
    names, form = root.pdf_dict_gets("Names"), root.pdf_dict_gets("AcroForm")
    counts["forms"] += not form.pdf_dict_gets("XFA").pdf_is_null()
    for holder, key in ((root, "Collection"), (names, "JavaScript"), (names, "EmbeddedFiles"), (form, "XFA")):
        if holder.pdf_is_dict():
            holder.pdf_dict_dels(key)
    return ActiveContent(**counts)


def _clean(holder: _Untyped, counts: Counter[str]) -> None:
    """Take what is active out of an object and of those that lie directly in it; others come by themselves."""
    for name, key, value in list(_entries(holder)):
        kind = _kind(holder, name, value)
        if kind in _BY_TYPE and value.pdf_is_indirect():
            continue
        if kind == "triggers":
            _clean(value, counts)
        elif kind is not None:
            counts[kind] += 1
        if kind in (None, "links"):
            if not value.pdf_is_indirect():
                _clean(value, counts)
        elif holder.pdf_is_dict():
            holder.pdf_dict_del(key)
        else:
            _empty(value)


def _empty(held: _Untyped) -> None:
    for _, key, _ in list(_entries(held)):
        held.pdf_dict_del(key)


def _entries(holder: _Untyped) -> Iterator[tuple[str, _Untyped, _Untyped]]:
    """Yield name, key and value of what is in a dictionary or an array, without names and keys there."""
    if holder.pdf_is_dict():
        for at in range(holder.pdf_dict_len()):
            key = holder.pdf_dict_get_key(at)
            yield key.pdf_to_name(), key, holder.pdf_dict_get_val(at)
    elif holder.pdf_is_array():
        for at in range(holder.pdf_array_len()):
            yield "", None, holder.pdf_array_get(at)


def _kind(holder: _Untyped, name: str, value: _Untyped) -> str | None:
    """Return what a value is, by what it holds: resources of pages may have any name."""
    if value.pdf_is_dict():
        action = _type_of(value)
        if action == "JavaScript":
            return "scripts"
        if action in _ACTIONS:
            return "actions"
        if action == "URI":
            return "links" if _WEB.match(value.pdf_dict_gets("URI").pdf_to_text_string()) else "actions"
        if name == "AA" and all(_type_of(each) for _, _, each in _entries(value)):
            return "triggers"
        parts = [value.pdf_dict_gets(key) for key in _FILE_KEYS] if name in ("EF", "RF") else []
        if any(part.pdf_is_stream() or part.pdf_is_array() for part in parts):
            return "files"
    if name in _MEDIA and holder.pdf_dict_gets("Subtype").pdf_to_name() in _MEDIA_TYPES:
        return "media"
    return None


def _type_of(value: _Untyped) -> str:
    """Return the type of an action; empty for anything else."""
    return str(value.pdf_dict_gets("S").pdf_to_name()) if value.pdf_is_dict() else ""
