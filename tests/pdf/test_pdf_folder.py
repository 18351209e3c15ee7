"""Names from annotations find documents inside the open folders, and nothing else."""

import contextlib
import copy
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.problems import PageProblem
from tests.attacks_pages import names_of_the_corpus
from tests.page_asking import refused
from tests.pdf_fixtures import page, png_header

PROJECT = Path(__file__).resolve().parents[2]
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="needs links")
SAMPLE_FOLDER = PdfFolder(PROJECT / "sample_data")

HOSTILE_NAMES = names_of_the_corpus()
BLOCKED = {*HOSTILE_NAMES[:11], "link_to_outside.pdf", "....//....//etc/passwd", "CON", "nul.pdf", "ok.pdf:stream",
           "/dev/zero", "/dev/stdin", "/proc/self/environ", "a" * 5000 + ".pdf", "", ".", "ok.pdf\n"}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.pdf").write_bytes(page())
    root = tmp_path / "documents"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "ok.pdf").write_bytes(page())
    (root / "sub" / "Report.PDF").write_bytes(page())
    (root / "sub" / "deep" / "scan.png").write_bytes(png_header(8, 8))
    (root / "sub" / "twice.pdf").write_bytes(page())
    (root / "sub" / "deep" / "twice.pdf").write_bytes(page())
    (root / "notes.txt").write_text("secret")
    for number, names in ((7, ("poster.pdf", "photo.png")), (8, ("poster.jpg",)), (9, ("a.jpg", "b.png"))):
        (root / f"poster-{number}").mkdir()
        for name in names:
            (root / f"poster-{number}" / name).write_bytes(page())
    (root / "shot.jpg").write_bytes(page())
    (root / "sub" / "shot.tif").write_bytes(page())
    if sys.platform != "win32":
        (root / "link_to_outside.pdf").symlink_to(tmp_path / "outside.pdf")
        (root / "sub" / "other_link.pdf").symlink_to(tmp_path / "outside.pdf")
        (root / "link_inside.pdf").symlink_to(root / "ok.pdf")
        (root / "circle.pdf").symlink_to(root / "circle.pdf")
        (root / "linked_folder").symlink_to(tmp_path)
        os.mkfifo(root / "pipe.pdf")
    return root


@needs_links
def test_hostile_names_find_nothing_outside(folder: Path) -> None:
    assert PdfFolder(folder).find("oK.pdf") == (folder / "ok.pdf").resolve()
    for name in set(HOSTILE_NAMES) - {"oK.pdf"}:
        problem = refused(PdfFolder(folder).find, name)
        assert problem.kind == ("blocked" if name in BLOCKED else "missing"), name
        assert problem.title == "PDF not found under documents"
        assert str(folder.parent) not in str(problem)
        assert str(problem).isprintable(), name


def test_blocked_names_reach_no_file_system_call(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = PdfFolder(folder)

    def forbidden(*arguments: object, **options: object) -> None:
        raise AssertionError("the file system was asked")

    with monkeypatch.context() as patch:
        for call in ("stat", "lstat", "open", "scandir", "listdir", "readlink", "access"):
            patch.setattr(os, call, forbidden)
        kinds = {name: refused(searched.find, name).kind for name in BLOCKED - {"link_to_outside.pdf"}}
    assert set(kinds.values()) == {"blocked"}, kinds


FOUND = {
    "ok.pdf": "ok.pdf", "ok": "ok.pdf", "OK": "ok.pdf", "sub/Report.PDF": "sub/Report.PDF",
    "report.pdf": "sub/Report.PDF", "report": "sub/Report.PDF", "somewhere/else/report.pdf": "sub/Report.PDF",
    "scan.png": "sub/deep/scan.png", "sub/twice.pdf": "sub/twice.pdf", "sub/deep/twice": "sub/deep/twice.pdf",
    "link_inside.pdf": "ok.pdf", "scan": "sub/deep/scan.png", "scan.pdf": "sub/deep/scan.png",
    "scan.xml": "sub/deep/scan.png", "ok.bmp": "ok.pdf", "poster-7": "poster-7/poster.pdf",
    "Poster-7": "poster-7/poster.pdf", "poster-8": "poster-8/poster.jpg",
}  # fmt: skip


@needs_links
def test_documents_are_found_by_name(folder: Path) -> None:
    assert {name: PdfFolder(folder).find(name) for name in FOUND} == {
        name: (folder / expected).resolve() for name, expected in FOUND.items()
    }


def test_of_two_spellings_the_exact_one_goes_first(folder: Path) -> None:
    (folder / "sub" / "\u00e9t\u00e9.pdf").write_bytes(page())
    assert PdfFolder(folder).find("e\u0301te\u0301.pdf").parent.name == "sub"
    if (folder / "OK.PDF").exists():
        pytest.skip("the file system ignores case")
    (folder / "sub" / "report.pdf").write_bytes(page())
    assert PdfFolder(folder).find("report.pdf") == (folder / "sub" / "report.pdf").resolve()
    assert refused(PdfFolder(folder).find, "REPORT.pdf").kind == "ambiguous"


SENTENCES = {
    "none.pdf": "PDF not found under documents. No document named none.pdf is in the folder documents or in the "
    "folders inside it. Folders that are links are not looked into: linked_folder. Put the document into this folder, "
    "or add it in Files.",
    "../x.pdf": "PDF not found under documents. Documents are found by their name inside the folder documents; "
    "../x.pdf holds steps such as . or .., so it was not looked up. Name the document in the annotation by its file "
    "name, such as report.pdf.",
    "far/twice.pdf": "Several documents are named twice.pdf. The folder documents holds sub/deep/twice.pdf and "
    "sub/twice.pdf; which one is meant is not clear. Keep one of them, or give them different names.",
    "shot": "Several documents are named shot. The folder documents holds shot.jpg and sub/shot.tif; which one is "
    "meant is not clear. Keep one of them, or give them different names.",
}
NO_DOCUMENTS = {
    "other_link.pdf": "blocked", "linked_folder/outside.pdf": "blocked", "circle.pdf": "missing",
    "pipe.pdf": "missing", "sub": "missing", "notes.txt": "missing", "poster-9": "missing",
}  # fmt: skip


@needs_links
def test_what_is_not_found_says_why(folder: Path) -> None:
    said = {name: refused(PdfFolder(folder).find, name) for name in (*SENTENCES, *NO_DOCUMENTS)}
    assert {name: str(said[name]) for name in SENTENCES} == SENTENCES
    assert {name: said[name].kind for name in NO_DOCUMENTS} == NO_DOCUMENTS


def test_listing_is_bounded_and_made_once(folder: Path) -> None:
    assert "Only the first 2 files were looked at." in str(refused(PdfFolder(folder, max_files=2).find, "none.pdf"))
    assert refused(PdfFolder(folder, max_depth=1).find, "scan.png").kind == "missing"
    assert "The folder does not exist." in str(refused(PdfFolder(folder / "none").find, "ok.pdf"))
    searched = PdfFolder(folder)
    assert refused(searched.find, "later.pdf").kind == "missing"
    (folder / "sub" / "later.pdf").write_bytes(page())
    assert refused(searched.find, "later.pdf").kind == "missing"
    assert PdfFolder(folder).find("later.pdf").name == "later.pdf"


def test_linked_folders_are_named_when_a_document_is_missing(tmp_path: Path) -> None:
    """A link may lead out of the folder, so that it is not followed; nobody would know why nothing is found."""
    root, elsewhere, names = tmp_path / "root", tmp_path / "elsewhere", ("one", "two", "three", "four")
    root.mkdir()
    elsewhere.mkdir()
    (elsewhere / "a.pdf").write_bytes(b"")
    for name in names:
        (root / name).symlink_to(elsewhere)
    told = "Folders that are links are not looked into: four, one, three and 1 more."
    with pytest.raises(PageProblem, match=f"No document named a.pdf is in the folder root .* {told}"):
        PdfFolder(root).find("a.pdf")
    for name in names:
        (root / name).unlink()
    assert "links" not in str(refused(PdfFolder(root).find, "a.pdf"))


@given(st.text(max_size=60) | st.text(alphabet="./\\~okpdf\0: ", max_size=30))
def test_any_name_stays_inside_or_is_a_typed_problem(name: str) -> None:
    # Nothing else may be raised, and nothing else be found.
    with contextlib.suppress(PageProblem):
        assert SAMPLE_FOLDER.find(name).is_relative_to(SAMPLE_FOLDER.roots[0].resolve())


def test_problem_survives_copying_and_hides_control_characters() -> None:
    problem = PageProblem("missing", document="a\x1b[31m\u202e.pdf", folder="documents", page_index=3)
    twin = copy.copy(problem)
    assert (twin.kind, str(twin)) == ("missing", str(problem))
    assert "\\x1b" in str(problem)
    assert str(problem).isprintable()
    assert "far out of range" in PageProblem("page_out_of_range", document="a.pdf", page_index=10**5000).text


def test_the_image_of_a_page_stands_in_for_a_document_that_is_not_there(tmp_path: Path) -> None:
    for name in ("report-0003.png", "book.pdf"):
        (tmp_path / name).write_bytes(b"x")
    folder = PdfFolder(tmp_path)
    images = {("report", 2): "scans\\a/report-0003.png", ("book", 1): "book-0002.png", ("report", 3): "../../x.png"}
    assert folder.find_page("report", 2, images) == (tmp_path.resolve() / "report-0003.png", 0)
    assert folder.find_page("book", 1, images) == (tmp_path.resolve() / "book.pdf", 1)
    for index in (1, 3):
        assert "No document named report is" in refused(folder.find_page, "report", index, images).text


def test_of_several_folders_the_better_name_goes_first_and_then_the_earlier_folder(tmp_path: Path) -> None:
    for name in ("first/report.png", "first/deep/page.pdf", "then/report.pdf", "then/page.pdf", "then/only.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    folder = PdfFolder((tmp_path / "first", tmp_path / "then", tmp_path / "gone"))
    root = tmp_path.resolve()
    assert folder.find("only.pdf") == root / "then/only.pdf"
    assert folder.find("report.pdf") == root / "then/report.pdf"
    assert folder.find("Report") == root / "then/report.pdf"
    assert folder.find("PAGE.pdf") == root / "first/deep/page.pdf"
    assert "in the folder gone or in the folders inside it" in refused(folder.find, "none.pdf").text


def test_a_link_out_of_one_of_several_folders_is_refused(tmp_path: Path) -> None:
    for name in ("first", "then"):
        (tmp_path / name).mkdir()
    (tmp_path / "then" / "a.pdf").write_bytes(b"x")
    (tmp_path / "first" / "a.pdf").symlink_to(tmp_path / "then" / "a.pdf")
    with pytest.raises(PageProblem, match="leads out of the folder"):
        PdfFolder((tmp_path / "first", tmp_path / "then")).find("a.pdf")
