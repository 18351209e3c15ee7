"""Zip archives: what is let in, and the whole sentence for what is not."""

import stat
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import formats
from evaluator.data.issues import BadInput, Collector, Issue
from evaluator.formats import archive, limits
from tests.reading import refusal, zipped

AGAIN = "Zip the files again with plain relative names."
NONE = "a.zip: an archive must hold files that end in .xml; found none. Zip the annotation files."


def read(content: bytes, suffixes: tuple[str, ...] = (".xml",)) -> tuple[list[archive.Member], tuple[Issue, ...]]:
    collector = Collector("a.zip", max_per_rule=None)
    return archive.read(content, collector, suffixes=suffixes), collector.issues()


def refused(content: bytes, suffixes: tuple[str, ...] = (".xml",)) -> list[str]:
    return refusal(read, content, suffixes)


def test_files_come_by_name_and_others_are_left_alone() -> None:
    hidden = (("__MACOSX/._a.xml", b"x"), (".h.xml", b"x"))
    content = zipped(("b/2.XML", b"two"), ("b/", b""), ("a.xml", b""), ("b/page.png", b"x"), *hidden)
    members, issues = read(content)
    assert members == [archive.Member("a.xml", b""), archive.Member("b/2.XML", b"two")]
    assert [issue.sentence for issue in issues] == [
        "a.zip: only the files of an archive that end in .xml are read; found 1 of another kind. "
        "Nothing to do if they are page images."
    ]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("/a.xml", f'a.zip: "/a.xml": the name of an entry must be relative; found an absolute path. {AGAIN}'),
        ("C:/a.xml", f'a.zip: "C:/a.xml": the name of an entry must be relative; found an absolute path. {AGAIN}'),
        ("b/../a.xml", f'a.zip: "b/../a.xml": an entry must stay inside of the archive; found "..". {AGAIN}'),
        ("b\\a.xml",
         r'a.zip: "b\\a.xml": the name of an entry must use "/" (ZIP 6.3, section 4.4.17); ' "found a backslash. "
         f"{AGAIN}"),
        ("a\n.xml", rf'a.zip: "a\n.xml": the name of an entry must be printable; found a control character. {AGAIN}'),
        ("b//a.xml", f'a.zip: "b//a.xml": every part of an entry\'s name must be named; found an empty part. {AGAIN}'),
        ("in.ZIP", 'a.zip: "in.ZIP": an archive must not hold archives; found one. Zip the files themselves.'),
    ],
)  # fmt: skip
def test_names(name: str, sentence: str) -> None:
    assert refused(zipped(("good.xml", b""), (name, b""))) == [sentence]


@pytest.mark.parametrize("other", ["B/A.xml", "b/a.XML", "b/a\u0301.xml".replace("a", "A")])
def test_names_that_one_file_system_would_take_for_one(other: str) -> None:
    first = "b/\u00e1.xml" if "\u0301" in other else "b/a.xml"
    (sentence,) = refused(zipped((first, b""), (other, b"")))
    assert "entries must differ in more than letter case" in sentence


def test_the_same_name_twice() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = zipped(("a.xml", b"1"), ("a.xml", b"2"))
    assert refused(content) == [
        'a.zip: "a.xml": entries must differ in more than letter case; found "a.xml" as well. Keep one of them.'
    ]


@pytest.mark.parametrize(
    ("mode", "what"),
    [(stat.S_IFLNK, "a symbolic link"), (stat.S_IFIFO, "a special file"), (stat.S_IFCHR, "a special file")],
)
def test_links_and_devices(mode: int, what: str) -> None:
    entry = zipfile.ZipInfo("l.xml")
    entry.external_attr = (mode | 0o777) << 16
    sentence = f'a.zip: "l.xml": an entry must be a file or a folder; found {what}. Zip the files themselves.'
    assert refused(zipped((entry, b"/etc/passwd"))) == [sentence]


def test_an_entry_without_a_name() -> None:
    # Two bytes for the name are left out of the list: Python reads an entry that is called "".
    content = zipped(("ab", b""))
    at = content.index(b"PK\x01\x02")
    entry = bytearray(content[at : at + 46] + content[at + 48 :])
    entry[28] = 0
    size = entry.index(b"PK\x05\x06")
    entry[size + 12] = size
    assert refused(content[:at] + bytes(entry)) == [
        f'a.zip: "": every part of an entry\'s name must be named; found an empty part. {AGAIN}'
    ]


def test_an_archive_under_another_name() -> None:
    sentence = (
        'a.zip: "a.xml": an archive must not hold archives; found one under another name. Zip the files themselves.'
    )
    assert refused(zipped(("a.xml", zipped(("b.xml", b""))))) == [sentence]


def test_other_methods_and_passwords() -> None:
    sentence = 'a.zip: "a.xml": an entry must be stored or deflated; found method 14. Zip the files in the usual way.'
    assert refused(zipped(("a.xml", b"x"), compression=zipfile.ZIP_LZMA)) == [sentence]
    content = bytearray(zipped(("a.xml", b"x")))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    sentence = (
        'a.zip: "a.xml": an entry must not be encrypted; found an encrypted one. Zip the files without a password.'
    )
    assert refused(bytes(content)) == [sentence]


def test_what_expands_too_much() -> None:
    blanks = b" " * ((1 << 20) + 1)
    sentence = 'a.zip: "a.xml": a file may expand to 100 times its compressed size; found more. '
    assert refused(zipped(("a.xml", blanks))) == [sentence + "Give the file itself if it is meant."]
    assert read(zipped(("a.xml", blanks[1:])))[0][0].content == blanks[1:]
    assert read(zipped(("a.xml", blanks), compression=zipfile.ZIP_STORED))[0][0].content == blanks


def test_what_is_too_much_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ARCHIVE_BYTES", 100)
    content = zipped(("a.xml", b"x" * 60), ("b.xml", b"x" * 41))
    sentence = 'a.zip: "b.xml": the files of an archive may have 100 bytes; found more. Split the archive.'
    assert refused(content) == [sentence]
    assert len(read(zipped(("a.xml", b"x" * 60), ("b.xml", b"x" * 40)))[0]) == 2


def test_too_many_entries_are_counted_before_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ARCHIVE_ENTRIES", 2)
    sentence = "a.zip: an archive may have 2 entries; found 3. Split the archive, or give a folder."
    assert refused(zipped(("a.xml", b""), ("b.xml", b""), ("c.xml", b""))) == [sentence]


def test_what_is_no_archive() -> None:
    assert refused(b"PK\x03\x04") == [
        "a.zip: a zip archive must be readable; found File is not a zip file. Zip the files again."
    ]
    assert refused(zipped()) == [NONE]
    assert refused(zipped(("a.json", b""))) == [NONE]


def test_every_damaged_entry_is_named() -> None:
    content = zipped(("a.xml", b"aaaa"), ("b.xml", b"bbbb"), compression=zipfile.ZIP_STORED)
    broken = content.replace(b"aaaa", b"aaax").replace(b"bbbb", b"bbbx")
    rule, found = "every entry of an archive must be intact", "found Bad CRC-32 for file"
    assert refused(broken) == [
        f"a.zip: \"{name}\": {rule}; {found} '{name}'. Zip the files again." for name in ("a.xml", "b.xml")
    ]


@given(st.data())
def test_a_damaged_archive_is_refused_or_read(data: st.DataObject) -> None:
    content = bytearray(zipped(("a.xml", b"<document/>" * 9), ("b/c.xml", b"x")))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    for damaged in (bytes(content), bytes(content[:cut])):
        try:
            members, _ = read(damaged)
        except BadInput:
            continue
        assert members


def refused_by_readers(content: bytes) -> str:
    return "\n".join(refusal(formats.read_bytes, content, "a.zip"))


PAGE_XML = b"""<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Page imageFilename="a.png" imageWidth="9" imageHeight="9"></Page></PcGts>"""


def test_an_archive_of_which_every_file_would_be_left_out() -> None:
    content = zipped(("a.txt", b"<?xml versio?>" + PAGE_XML))
    assert refused_by_readers(content).startswith("a.zip/a.txt: the content must be of a known format; found ")
    # Only the first bytes tell that every other byte is 0; without the blanks before it they are others.
    broken = zipped(("a.xml", b" \r\n\0<?xml version='1.0'?>" + PAGE_XML))
    assert refused_by_readers(broken) == (
        "a.xml: line 2, column 1: the text must be well-formed XML (XML 1.0); found not well-formed (invalid token) at "
        '"\\u0000                     <PcGts xmlns=\\"http". Correct the text at this place, or export it again.'
    )


def test_an_archive_of_files_that_are_known_and_not_read() -> None:
    hocr = b'<!DOCTYPE html><html><body><div class="ocr_page" title="bbox 0 0 9 9"/></body></html>'
    for name, held, what, fix in (
        ("b.xml", hocr, "hOCR", 'Export ALTO instead, as "tesseract IMAGE OUT alto" does.'),
        ("b.json", b'{"responses": [{"textAnnotations": []}]}', "an answer of Google Cloud Vision",
         "Give the result of a Document AI processor for the same document."),
    ):  # fmt: skip
        archived = zipped(("a.json", b"{}"), (name, held))
        assert refused_by_readers(archived) == f"a.zip/{name}: this is {what}, which is not read. {fix}"
