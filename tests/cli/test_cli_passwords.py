"""PDFs that need a password: said everywhere, opened with ``--password-file``, and the password kept nowhere."""

import os
from collections.abc import Iterator
from pathlib import Path

import pymupdf  # type: ignore[import-untyped]
import pytest

from evaluator.pack.writing import Writer, WritingProblem
from evaluator.pdf import worker, writer
from evaluator.pdf.passwords import Passwords, in_force, opening_with
from evaluator.pdf.pool import PagePool
from evaluator.pdf.problems import PageProblem
from tests.cli.conftest import Runner

SECRET, OWNER = "letmein", "own-er"
NEEDS = (
    "locked.pdf needs a password. The document can be opened only with its password, so its pages cannot be drawn. "
    "{}Give the password in Files or with --password-file, or save a copy without it under the same name."
)
MATCHING = "--allow-no-match"
EMPTY = "boxes on an empty sheet"
UNPLACED = (
    "No file states the size of its pages, so its boxes have no place on them. Give the size with --page-size WxH."
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two PDFs of one page: one with an owner's password alone, one that needs the user's; and boxes on both."""
    made = tmp_path_factory.mktemp("locked")
    (made / "pdfs").mkdir()
    for name, user in (("open", ""), ("locked", SECRET)):
        document = pymupdf.open()
        document.new_page(width=612, height=792).insert_text((100, 170), "Restricted report")
        kept = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": OWNER, "user_pw": user}
        document.save(made / "pdfs" / f"{name}.pdf", **kept)
    for name, size, of_page in (("", "", ""), ("_sized", ",page_width,page_height", ",612,792")):
        truth, predicted = (f"document,page_index,label{score},x1,y1,x2,y2{size}\n" for score in ("", ",score"))
        for document in ("open", "locked"):
            truth += f"{document},0,Table,90,150,500,300{of_page}\n"
            predicted += f"{document},0,Table,0.9,90,150,200,300{of_page}\n"
        (made / f"gt{name}.csv").write_text(truth)
        (made / f"pred{name}.csv").write_text(predicted)
    (made / "all.txt").write_text(f"{SECRET}\n")
    (made / "named.txt").write_text(f"locked.pdf\t{SECRET}\nother\tnot this\n")
    return made


@pytest.fixture(scope="module")
def locked(folder: Path) -> Path:
    return folder / "pdfs" / "locked.pdf"


@pytest.fixture(scope="module")
def pool() -> Iterator[PagePool]:
    with PagePool(workers=1) as made:
        yield made


@pytest.mark.parametrize("given", [Passwords(SECRET), Passwords(OWNER), Passwords("no", {"locked": SECRET})])
def test_a_password_opens_a_document(pool: PagePool, locked: Path, given: Passwords) -> None:
    opened = pool.opening_with(given)
    assert opened.words(locked, 0).texts == ("Restricted", "report")
    assert opened.page_image(locked, 0, width=100).width == 100
    assert opened.page_size(locked, 0) == (612.0, 792.0)
    assert (opened.describe(locked).page_count, opened.describe(locked).encrypted) == (1, False)


def test_pages_are_kept_for_those_who_have_the_password(pool: PagePool, locked: Path) -> None:
    assert pool.opening_with(Passwords(SECRET)).words(locked, 0).texts
    for asked, detail in (
        (pool, ""),
        (pool.opening_with(Passwords("wrong")), "The given password does not open it. "),
        (pool.opening_with(Passwords("", {"other": SECRET})), ""),
    ):
        for ask in (asked.words, asked.page_size):
            with pytest.raises(PageProblem) as met:
                ask(locked, 0)
            assert (met.value.kind, met.value.in_files) == ("encrypted", True)
            assert str(met.value) == NEEDS.format(detail)
        assert asked.describe(locked).encrypted
    with pytest.raises(PageProblem, match=r"locked\.pdf has no page 8\."):
        pool.opening_with(Passwords(SECRET)).page_image(locked, 7)


def test_a_pool_opens_with_the_passwords_in_force(locked: Path) -> None:
    with opening_with(Passwords(SECRET)), PagePool(workers=1) as made:
        assert made.words(locked, 0).texts
    assert in_force().of(locked) == ""


def test_a_password_is_not_shown() -> None:
    shown = [Passwords(SECRET, {"a": SECRET}), worker.Request("page", password=SECRET), writer.Mark("", "", (), SECRET)]
    assert not any(SECRET in repr(each) or SECRET in str(each) for each in shown)


def test_a_marked_copy_needs_the_password_too(locked: Path) -> None:
    digest = worker.hashlib.sha256(locked.read_bytes()).hexdigest()
    note = writer.Note(0, (0.1, 0.1, 0.2, 0.2), "A", "#C75000", 1.0, dashed=False, title="A", text="Missed")
    with Writer() as made:
        made.send(writer.Mark(str(locked), digest, (note,), SECRET))
        content = made.finish()
    assert pymupdf.open(stream=content).needs_pass
    copy = pymupdf.open(stream=content)
    assert copy.authenticate(SECRET)
    page = copy[0]
    assert page.get_text().strip() == "Restricted report"
    assert [(each.info["title"], each.info["content"]) for each in page.annots()] == [("A", "Missed")]
    for password, given in (("", ""), ("wrong", " The given one does not open it.")):
        with Writer() as made, pytest.raises(WritingProblem) as met:
            made.send(writer.Mark(str(locked), digest, (note,), password))
        assert str(met.value) == (
            f"It needs a password.{given} Give it with --password-file, or save a copy of the PDF without one."
        )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file must hold a password, and at most 1,048,576 bytes."),
        (b"\n\n", "the file must hold a password, and at most 1,048,576 bytes."),
        (b"x" * 2**21, "the file must hold a password, and at most 1,048,576 bytes."),
        (b"\xff", "the file must be UTF-8 text."),
        (b"a.pdf\tx\nletmein\n", "the file must hold one password, or lines of a name, a tab and a password; line 2 "
         "has no name, tab or password."),
        (b"a.pdf\t\n", "the file must hold one password, or lines of a name, a tab and a password; line 1 has no name, "
         "tab or password."),
    ],
)  # fmt: skip
def test_what_is_no_file_of_passwords(content: bytes, sentence: str, folder: Path, tmp_path: Path, run: Runner) -> None:
    (tmp_path / "p.txt").write_bytes(content)
    words = ("evaluate", "snapshot", "--gt", folder / "gt.csv", "--pred", folder / "pred.csv")
    assert run(*words, "--password-file", tmp_path / "p.txt") == (2, "", f"error: --password-file: {sentence}\n")


def test_a_file_of_passwords_is_read_as_it_is(tmp_path: Path, run: Runner) -> None:
    path = tmp_path / "p.txt"
    for content in (b"\xef\xbb\xbf two  words \r\n", b" two  words ", " a\f b\x85\u2028c ".encode()):
        path.write_bytes(content)
        assert Passwords.read(path).of(Path("any.pdf")) in (" two  words ", " a\f b\x85\u2028c ")
    path.write_bytes("a.pdf\tx\tä\nb\ty\n".encode())
    read = Passwords.read(path)
    assert [read.of(Path(name)) for name in ("in/a.pdf", "b.pdf", "c.pdf")] == ["x\tä", "y", ""]
    words = ("evaluate", "snapshot", "--gt", path, "--pred", path, "--password-file", tmp_path / "none.txt")
    assert run(*words) == (
        2, "", "error: --password-file: none.txt must be readable; found No such file or directory. Check the name.\n"
    )  # fmt: skip


def test_sizes_of_pages_need_the_password(folder: Path, run: Runner) -> None:
    words = (
        "evaluate",
        "pixel",
        "--gt",
        folder / "gt.csv",
        "--pred",
        folder / "pred.csv",
        "--pdfs",
        folder / "pdfs",
        MATCHING,
    )
    code, _, said = run(*words)
    assert code == 2
    assert said.splitlines()[-1] == (
        "warning: locked.pdf: a document must be readable to give the sizes of its pages; found "
        + NEEDS.format("").replace("password. The", "password: The", 1)
        + " Or give the size with --page-size WxH."
    )
    for name in ("all.txt", "named.txt"):
        code, out, said = run(*words, "--password-file", folder / name)
        assert (code, "password" in said) == (0, False)
        assert "2 documents, 2 pages" in out


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "pixel"), ("compare", "pixel", "--pred", "pred.csv"), ("gate", "pixel", "--fail-if", "iou < 0"),
        ("slices", "pixel"), ("slices", "snapshot"), ("suspects", "snapshot"),
        ("evaluate", "snapshot", "--slices", "s.json"),
    ],
)  # fmt: skip
def test_every_command_opens_the_documents(folder: Path, run: Runner, words: tuple[str, ...]) -> None:
    (folder / "s.json").write_text('{"few": [{"attribute": "words", "op": "<", "value": 9}]}')
    given = [folder / word if word.endswith((".csv", ".json")) else word for word in words]
    command, protocol, *more = given
    sized = "" if protocol == "pixel" else "_sized"
    files = ("--gt", folder / f"gt{sized}.csv", "--pred", folder / f"pred{sized}.csv", "--pdfs", folder / "pdfs")
    code, out, said = run(command, protocol, *files, MATCHING, *more)
    assert "locked.pdf" in out + said
    code, out, said = run(command, protocol, *files, MATCHING, *more, "--password-file", folder / "all.txt")
    assert (code, "locked.pdf" in out + said) == (0, False)


def test_convert_opens_the_documents(folder: Path, tmp_path: Path, run: Runner) -> None:
    (tmp_path / "shares.csv").write_text("document,page_index,label,x1,y1,x2,y2\nlocked,0,Table,0.1,0.2,0.5,0.6\n")
    columns = ("--columns", "unit=page")
    words = ("convert", tmp_path / "shares.csv", *columns, "--to", "coco", "--pdfs", folder / "pdfs", "--out")
    code, _, said = run(*words, tmp_path / "a.json")
    assert (code, "locked.pdf needs a password" in said) == (2, True)
    assert run(*words, tmp_path / "b.json", "--password-file", folder / "all.txt").code == 0
    assert run(*words, folder / "all.txt", "--password-file", folder / "all.txt", "--force").err == (
        "error: all.txt: a source file is never written to; found what --password-file reads. Choose another --out.\n"
    )


@pytest.mark.parametrize("sized", ["", "_sized"])
def test_a_pack_says_which_documents_need_a_password(
    folder: Path,
    tmp_path: Path,
    run: Runner,
    sized: str,
) -> None:
    files = (
        "--gt",
        folder / f"gt{sized}.csv",
        "--pred",
        folder / f"pred{sized}.csv",
        "--pdfs",
        folder / "pdfs",
        MATCHING,
    )
    code, out, _ = run("report", "snapshot", *files, "--out", tmp_path / "pack")
    assert code == 0
    html, pdf, *marked = out.splitlines()
    assert all(line.endswith(f" MB, 2 pages, 1 of them {EMPTY}: locked.pdf needs a password") for line in (html, pdf))
    needs = "It needs a password. Give it with --password-file, or save a copy of the PDF without one."
    of_each = ("2 marks", needs) if sized else (UNPLACED, UNPLACED)
    assert marked == [f"locked: {of_each[1]}", f"open: {of_each[0]}"]


def test_a_pack_made_with_a_password_does_not_have_it(folder: Path, tmp_path: Path, run: Runner) -> None:
    files = ("--gt", folder / "gt.csv", "--pred", folder / "pred.csv", "--pdfs", folder / "pdfs", MATCHING)
    words = ("report", "snapshot", *files, "--page-size", "612x792", "--password-file", folder / "named.txt")
    code, out, said = run(*words, "--out", tmp_path / "pack")
    assert (code, SECRET in said) == (0, False)
    assert [line.partition(" MB")[2] or line for line in out.splitlines()] == [
        ", 2 pages", ", 2 pages", "locked: 2 marks", "open: 2 marks"
    ]  # fmt: skip
    written = [Path(place, name) for place, _, names in os.walk(tmp_path / "pack") for name in names]
    assert len(written) > 6
    assert not any(SECRET.encode() in path.read_bytes() for path in written)


def test_a_pack_counts_each_reason_of_empty_sheets(folder: Path, tmp_path: Path, run: Runner) -> None:
    (tmp_path / "pdfs").mkdir()
    (tmp_path / "pdfs" / "locked.pdf").write_bytes((folder / "pdfs" / "locked.pdf").read_bytes())
    files = ("--gt", folder / "gt.csv", "--pred", folder / "pred.csv", "--pdfs", tmp_path / "pdfs", MATCHING)
    _, out, _ = run("report", "snapshot", *files, "--out", tmp_path / "pack.html")
    assert out.endswith(
        f" MB, 2 pages, 2 of them {EMPTY}: 1 page: locked.pdf needs a password; 1 page: there is no PDF or image "
        "of the page\n"
    )


def test_check_names_the_documents_that_need_a_password(folder: Path, tmp_path: Path, run: Runner) -> None:
    files = ("check", folder / "gt_sized.csv")
    clean = run(*files)
    assert clean.out == "1 checked: 0 errors, 0 warnings\n"
    rule = "a PDF must open without a password, or with the one that is given"
    fix = "Give the password in Files or with --password-file, or save a copy without it under the same name."
    (tmp_path / "wrong.txt").write_text("wrong")
    for more, why in (
        ((), ""),
        (("--password-file", tmp_path / "wrong.txt"), ". The given password does not open it"),
    ):
        assert run(*files, "--pdfs", folder / "pdfs", *more).out == (
            f"warning: locked.pdf: {rule}; found locked.pdf needs a password{why}. {fix}\n"
            "1 checked: 0 errors, 1 warning\n"
        )
    assert run(*files, "--pdfs", folder / "pdfs", "--password-file", folder / "named.txt") == clean
