"""``--pdfs``: a folder that is not there is refused, and documents without a file are named, in every command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evaluator import cli
from evaluator.pdf.folder import PdfFolder

SAMPLE = Path(__file__).resolve().parents[1] / "sample_data"
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


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        cli.main([str(word) for word in words])
    streams = capsys.readouterr()
    return int(left.value.code or 0), streams.out, streams.err


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_folder_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7")
    for folder, what in (("scans", "is not there"), ("a.pdf", "is no folder")):
        code, out, wrong = run(capsys, *COMMANDS[name], "--pdfs", folder)
        assert (code, out) == (2, "")
        assert wrong == f"error: --pdfs: {folder} {what}; give the folder of the PDFs.\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.pdf"]


@pytest.mark.parametrize("name", ["slices", "suspects"])
def test_documents_without_a_file_are_named(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(SAMPLE / "pdf" / "rainfall-atlas.pdf", tmp_path)
    code, _, noted = run(capsys, *COMMANDS[name], "--pdfs", tmp_path)
    assert code == 0
    assert noted.splitlines()[0] == (
        f"note: 7 of 8 documents have neither a PDF nor page images in {tmp_path.name}, so nothing of their pages was "
        "read: groundwater-note.pdf, harvest-survey-2024.pdf, port-authority-annual.pdf, river-districts.pdf, "
        "scanned-minutes-1997.pdf and 2 more."
    )
    code, _, noted = run(capsys, *COMMANDS[name], "--pdfs", SAMPLE / "pdf")
    assert "neither a PDF" not in noted


def test_a_document_with_the_image_of_one_page_is_there(tmp_path: Path) -> None:
    (tmp_path / "0003.png").write_bytes(b"")
    folder, pages = PdfFolder(tmp_path), [("a.pdf", 0), ("a.pdf", 1), ("b.pdf", 0)]
    assert folder.absent(pages, {("a.pdf", 1): "scans/0003.png"}) == ["b.pdf"]
    assert folder.absent(pages) == ["a.pdf", "b.pdf"]
    assert folder.absent([]) == []


def test_a_pack_says_which_pages_are_empty_sheets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = ("report", "snapshot", *FILES, "--pages", 3, "--cards", 0, "--out", tmp_path / "pack.html")
    _, out, _ = run(capsys, *made)
    assert out.endswith(" MB, 3 pages, 3 of them boxes on an empty sheet: there is no PDF or image of the page\n")
    _, out, _ = run(capsys, *made, "--pdfs", SAMPLE / "pdf")
    assert out.endswith(" MB, 3 pages\n")
    assert "3 shown" in (tmp_path / "pack.html").read_text(encoding="utf-8")


def test_slices_state_the_one_threshold_they_count_at(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *COMMANDS["slices"])
    assert out.splitlines()[-1].startswith("snapshot 1.3 · IoU ≥ 0.50 · score ≥ 0.00 · 8 documents, 36 pages · ")


def test_suspects_state_what_made_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *COMMANDS["suspects"], "--pdfs", SAMPLE / "pdf", "--fix", "lines.json:page-offset=+1")
    assert out.splitlines()[-1].startswith(
        "snapshot 1.3 · score ≥ 0.00 · 1 model · probability ≥ 0.01 · words and ink of the pages · "
    )
    assert " · fix: page-offset=+1 · " in out.splitlines()[-1]
