"""Marked copies: what acts by itself or carries files is taken out and said, and the pages look as before."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from evaluator.pack.writing import Writer
from evaluator.pdf.writer import Mark, Note
from tests.pdf_fixtures import page, stream

NOTE = Note(0, (0.1, 0.1, 0.2, 0.2), "A", "#C75000", 1.0, False, "A", "text")
SCRIPT = b"<< /S /JavaScript /JS (beep) >>"
ATTACHED = b"<< /Type /Filespec /F (a.exe) /EF << /F 6 0 R >> >>"
FILE = stream(b"MZ beep")
ICON = stream(b"0 0 1 rg 0 0 20 20 re f", b"/Type /XObject /Subtype /Form /BBox [0 0 20 20]")
# Catalogue, entries of the page, further objects from 5 on, what is said.
ACTIVE: dict[str, tuple[bytes, bytes, tuple[bytes, ...], str]] = {
    "a script at the start": (b"/OpenAction " + SCRIPT, b"", (), "taken out: 1 script"),
    "a script of its own": (b"/OpenAction 5 0 R", b"", (SCRIPT,), "taken out: 1 script"),
    "a type of its own": (b"/OpenAction << /S 5 0 R /JS (beep) >>", b"", (b"/JavaScript",), "taken out: 1 script"),
    "an escaped type": (b"/OpenAction << /S /Java#53cript /JS (beep) >>", b"", (), "taken out: 1 script"),
    "scripts by name": (b"/Names << /JavaScript << /Names [(a) %s] >> >>" % SCRIPT, b"", (), "taken out: 1 script"),
    "triggers": (b"/AA << /WC %s >>" % SCRIPT, b"/AA << /O << /S /GoTo /D [3 0 R] >> /C 5 0 R >>", (SCRIPT,),
                 "taken out: 2 scripts"),
    "a chain": (b"/OpenAction << /S /GoTo /D [3 0 R /Fit] /Next [%s] >>" % SCRIPT, b"", (), "taken out: 1 script"),
    "a program and an address": (
        b"", b"/Annots [<< /Subtype /Link /Rect [0 0 9 9] /A << /S /Launch /F (beep) >> >> << /Subtype /Link "
        b"/Rect [0 0 9 9] /A << /S /URI /URI (http://a.test) >> >> << /Subtype /Link /Rect [0 0 9 9] /A 5 0 R >>]",
        (b"<< /S /URI /URI (http://b.test) >>",), "taken out: 1 action; kept: 2 links to an address"),
    "addresses of scripts, files and shares": (
        b"", b"/Annots [<< /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (JavaScript:beep) >> >> << /Subtype /Link "
        b"/Rect [0 0 9 9] /A << /S /URI /URI (\\\\\\\\beep\\\\x) >> >> << /Subtype /Link /Rect [0 0 9 9] /A 5 0 R >>]",
        (b"<< /S /URI /URI (file:///beep) >>",), "taken out: 3 actions"),
    "a file of the document": (b"/Names << /EmbeddedFiles << /Names [(a) 5 0 R] >> >> /AF [5 0 R]", b"",
                               (ATTACHED, FILE), "taken out: 1 embedded file"),
    "an attachment on the page": (
        b"", b"/Annots [<< /Subtype /FileAttachment /Rect [10 10 40 40] /FS 5 0 R /AP << /N 7 0 R >> >>]",
        (ATTACHED, FILE, ICON), "taken out: 1 embedded file"),
    "a film": (b"", b"/Annots [<< /Subtype /RichMedia /Rect [10 10 40 40] /RichMediaContent << /Assets 6 0 R >> "
               b"/AP << /N 7 0 R >> >>]", (b"null", FILE, ICON), "taken out: 1 film or sound"),
    "a form": (b"/AcroForm << /XFA 6 0 R >>", b"", (b"null", FILE), "taken out: 1 XFA form"),
    "fonts and pictures of these names": (
        b"", b"/Resources << /XObject << /AA 5 0 R /EF 5 0 R >> >>", (ICON,), ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def writer() -> Iterator[Writer]:
    with Writer() as one:
        yield one


def all_of(content: bytes) -> str:
    with pymupdf.open(stream=content) as document:
        numbers = range(1, document.xref_length())
        texts = [document.xref_object(number, compressed=True) for number in numbers]
        return " ".join([*texts, *(str(document.xref_stream(number)) for number in numbers)])


def picture_of(content: bytes) -> Any:
    with pymupdf.open(stream=content) as document:
        return document[0].get_pixmap()


@pytest.mark.parametrize("name", ACTIVE)
def test_a_copy_is_without_what_acts_or_carries_files(name: str, tmp_path: Path, writer: Writer) -> None:
    catalogue, entries, others, words = ACTIVE[name]
    content = page(
        b"1 0 0 rg 100 100 50 80 re f /EF Do", entries=b"/MediaBox [0 0 200 200] " + entries, catalogue=catalogue,
        others=others,
    )  # fmt: skip
    path = tmp_path / "a.pdf"
    path.write_bytes(content)

    def copy_of(*, keep: bool) -> tuple[bytes, str]:
        done = writer.send(Mark(str(path), hashlib.sha256(content).hexdigest(), (NOTE,), keep_active=keep))
        return writer.finish(), done.active.words

    copy, said = copy_of(keep=False)
    assert said == words
    assert re.findall(r"beep|/JavaScript|/Launch|/AA <<|/EF <<|/XFA|/RichMediaC\w+", all_of(copy)) == []
    kept, nothing = copy_of(keep=True)
    assert nothing == ""
    assert "beep" in all_of(kept) or not said
    shown = picture_of(copy)
    assert shown.samples == picture_of(kept).samples
    assert (b"\0\0\xff" in shown.color_count(colors=True)) == (ICON in others)
