"""``--pdfs``: a folder that is not there is refused, and documents without a file are named, in every command."""

from pathlib import Path

import pytest

from evaluator.pdf.folder import PdfFolder
from tests.building import box, write_file
from tests.cli.conftest import Runner
from tests.pdf_fixtures import page
from tests.sample_part import write_part

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
FILES = ("--gt", SAMPLE / "ground_truth.json", "--pred", SAMPLE / "lines.json")
COMMANDS: dict[str, tuple[object, ...]] = {
    "evaluate": ("evaluate", "snapshot", *FILES),
    "compare": ("compare", "snapshot", *FILES, "--pred", SAMPLE / "blocks.json"),
    "slices": ("slices", "snapshot", *FILES),
    "suspects": ("suspects", "snapshot", *FILES),
    "report": ("report", "snapshot", *FILES, "--out", "pack.html"),
    "convert": ("convert", SAMPLE / "lines.json", "--to", "coco", "--out", "made.json"),
    "open": ("open", SAMPLE / "ground_truth.json", "--no-browser"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_folder_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Runner) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    for folder, what in (("scans", "is not there"), ("a.pdf", "is no folder")):
        code, out, wrong = run(*COMMANDS[name], "--pdfs", folder)
        assert (code, out) == (2, "")
        assert wrong == f"error: --pdfs: {folder} {what}; give the folder of the PDFs.\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.pdf"]


@pytest.mark.parametrize("name", ["slices", "suspects"])
def test_documents_without_a_file_are_named(name: str, tmp_path: Path, run: Runner) -> None:
    names = [f"{letter}.pdf" for letter in "abcdefgh"]
    rows = [box(0.1, 0.1, 0.9, 0.3, document=document) for document in names]
    write_file(tmp_path / "truth.json", rows, side="ground_truth")
    write_file(tmp_path / "one.json", rows)
    words = (name, "snapshot", "--gt", tmp_path / "truth.json", "--pred", tmp_path / "one.json", "--pdfs", tmp_path)
    (tmp_path / "c.pdf").write_bytes(page())
    code, _, noted = run(*words)
    assert code == 0
    assert noted.splitlines()[0] == (
        f"note: 7 of 8 documents have neither a PDF nor page images in {tmp_path.name}, so nothing of their pages was "
        "read: a.pdf, b.pdf, d.pdf, e.pdf, f.pdf and 2 more."
    )
    for document in names:
        (tmp_path / document).write_bytes(page())
    code, _, noted = run(*words)
    assert code == 0
    assert "neither a PDF" not in noted


def test_a_document_with_the_image_of_one_page_is_there(tmp_path: Path) -> None:
    (tmp_path / "0003.png").write_bytes(b"")
    folder, pages = PdfFolder(tmp_path), [("a.pdf", 0), ("a.pdf", 1), ("b.pdf", 0)]
    assert folder.absent(pages, {("a.pdf", 1): "scans/0003.png"}) == ["b.pdf"]
    assert folder.absent(pages) == ["a.pdf", "b.pdf"]
    assert folder.absent([]) == []


def test_a_pack_says_which_pages_are_empty_sheets(tmp_path: Path, run: Runner) -> None:
    part = write_part(tmp_path, "tram-options.pdf")
    files = ("--gt", part / "ground_truth.json", "--pred", part / "lines.json")
    made = ("report", "snapshot", *files, "--pages", 2, "--out", tmp_path / "pack.html")
    _, out, _ = run(*made)
    assert out.endswith(" MB, 2 pages, 2 of them boxes on an empty sheet: there is no PDF or image of the page\n")
    _, out, _ = run(*made, "--pdfs", SAMPLE / "pdf")
    assert out.endswith(" MB, 2 pages\n")
    assert "2 shown" in (tmp_path / "pack.html").read_text(encoding="utf-8")


def test_slices_state_the_one_threshold_they_count_at(run: Runner) -> None:
    _, out, _ = run(*COMMANDS["slices"])
    assert out.splitlines()[-1].startswith("snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 · 8 documents, 36 pages · ")


def test_suspects_state_what_made_the_list(tmp_path: Path, run: Runner) -> None:
    part = write_part(tmp_path, "tram-options.pdf")
    words = ("suspects", "snapshot", "--gt", part / "ground_truth.json", "--pred", part / "lines.json")
    _, out, _ = run(*words, "--pdfs", SAMPLE / "pdf", "--fix", "lines.json:page-offset=+1")
    assert out.splitlines()[-1].startswith(
        "snapshot 1.3 · score ≥ 0.00 · 1 model · probability ≥ 0.30 · words and ink of the pages · "
    )
    assert " · fix: page-offset=+1 · " in out.splitlines()[-1]
