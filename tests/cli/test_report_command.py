"""``layoutscope report``: one file or a folder, with the findings of a store, and every refusal in one sentence."""

import html
import json
import os
import re
import sys
import zipfile
from pathlib import Path

import pytest

from evaluator import formats
from evaluator.analysis.slices.pdf_pages import of_results
from evaluator.data.dataset import join
from evaluator.pack.diff import read
from evaluator.pack.slice_cards import pack_slices
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.protocols.snapshot.evaluation import pair
from evaluator.review.identity import mistake_targets
from evaluator.review.store import Store
from tests.building import box, write_file
from tests.cli.conftest import Runner
from tests.judging import opinion
from tests.pdf_fixtures import page, pages
from tests.sample_part import write_part

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
FILES = ["--gt", str(SAMPLE / "ground_truth.json"), "--pred", str(SAMPLE / "blocks.json")]
# A pack that has nothing to draw.
NO_PAGES = ("--pages", 0)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    rows = [
        box(0.1, 0.1 + 0.2 * place, 0.9, 0.2 + 0.2 * place, document=name, score=score)
        for name in ("a.pdf", "b.pdf")
        for place, score in enumerate([0.9, 0.65, 0.3])
    ]
    write_file(folder / "truth.json", rows, side="ground_truth")
    write_file(folder / "one.json", rows)
    write_file(folder / "two.json", rows[:4])
    (folder / "pdf").mkdir()
    for name in ("a.pdf", "b.pdf"):
        (folder / "pdf" / name).write_bytes(page())
    return folder


def sides(folder: Path, *models: str) -> list[object]:
    return ["--gt", folder / "truth.json", *(word for model in models for word in ("--pred", folder / f"{model}.json"))]


def test_one_html_file_with_the_findings_of_a_store(tmp_path: Path, run: Runner, small: Path) -> None:
    result = pair(join(formats.read(small / "truth.json"), formats.read(small / "two.json"))).match().at(0.5)
    with Store(tmp_path / "findings.sqlite") as store:
        store.add([opinion(mistake_targets(result, 1).targets[0], "ambiguous", note="Ask the editors.")])
    out = tmp_path / "pack.html"
    code, said, _ = run(
        "report", *sides(small, "two"), "--out", out, "--findings", tmp_path / "findings.sqlite", "--pages", 1,
        "--title", "One box", "--pdfs", small / "pdf",
    )  # fmt: skip
    assert (code, said.partition(" ")[0]) == (0, "pack.html:")
    text = out.read_text(encoding="utf-8")
    assert "Ask the editors." in text
    assert "<title>One box</title>" in text


def test_slices_are_searched_with_what_the_pdfs_show(tmp_path: Path, run: Runner) -> None:
    """Eight documents, the fewest that are searched; only half of the PDFs have words."""
    names = [f"{letter}.pdf" for letter in "abcdefgh"]
    rows = [box(0.1, 0.1 + 0.2 * place, 0.9, 0.2 + 0.2 * place, document=name) for name in names for place in range(3)]
    write_file(tmp_path / "truth.json", rows, side="ground_truth")
    write_file(tmp_path / "one.json", [row for at, row in enumerate(rows) if at >= 12 or at % 3 == 2])
    (tmp_path / "pdf").mkdir()
    for place, name in enumerate(names):
        (tmp_path / "pdf" / name).write_bytes(page() if place < 4 else pages(1))
    dataset = join(*(formats.read(tmp_path / f"{name}.json") for name in ("truth", "one")))
    result = pair(dataset).match().at(0.5)
    with PagePool() as pool:
        seen = of_results([result], PdfFolder(tmp_path / "pdf"), pool, lambda _done, _total: None)
    (told,) = pack_slices([result], ["A"], of_pages=seen.of_pages, of_boxes=seen.of_boxes).words
    (without,) = pack_slices([result], ["A"]).words
    assert told != without
    words = ("report", *sides(tmp_path, "one"), "--out", tmp_path / "pack.html", *NO_PAGES)
    for more, sentence in ((("--pdfs", tmp_path / "pdf"), told), ((), without)):
        assert run(*words, *more)[0] == 0
        assert sentence in html.unescape((tmp_path / "pack.html").read_text(encoding="utf-8"))


REFUSED: list[tuple[str, str]] = [
    ("voc", "protocol must be one of snapshot, pixel, pod, coco, fields, posters, order, text, tables; found voc."),
    ("snapshot,fields", "snapshot and fields read different files; give those of the second with --also."),
    ("coco,coco", "a protocol is named once."),
    (",", "protocol must name at least one protocol."),
    ("--also posters,gt", '--also must look like "posters,ground_truth,predictions"; found posters,gt.'),
    ("--iou 0", "--iou must be above 0 and at most 1; found 0."),
    ("--documents ", "--documents must name at least one document."),
    ("--verdicts ", "--verdicts must name at least one verdict."),
    ("--tags ,", "--tags must name at least one tag."),
    ("--min-score 1.5", "--min-score must be between 0 and 1; found 1.5."),
    ("--min-score 0.1 --min-score 0.2",
     "--min-score is given once for all models, or once for each; found 2 for 1 model."),
    ("--budget 0.1", "the size budget must be between 0.5 and 1,000 MB; found 0.1 MB."),
    ("--budget nan", "the size budget must be between 0.5 and 1,000 MB; found nan MB."),
    ("--documents gone.pdf", "--documents must be in the files; not there: gone.pdf."),
    ("--decide-by AP", "--decide-by must be one of f1, mean_coverage, mean_iou, mean_purity, precision, recall under "
     "snapshot; found AP."),
    ("--least 100", "--least must be at least 0 and below 100 points; found 100."),
    ("--largest-loss -1", "--largest-loss must be at least 0 and below 100 points; found -1."),
    ("--labels Chart", "labels not in the label map: Chart."),
    ("--keep-active-content --pdfs pdf",
     "--keep-active-content is for marked copies, which are made with --pdfs and a folder or .zip as --out."),
    # Of options without effect.
    ("pixel --documents a.pdf", "--documents is not an option of pixel."),
    ("pixel --iou 0.6", "--iou is not an option of pixel."),
    ("pixel --tags border", "--tags is not an option of pixel."),
    ("pixel --least 2", "--least is not an option of pixel."),
    ("fields --iou 0.6", "--iou is not an option of fields."),
    ("snapshot --decide-by recall", "--decide-by is for two models; give --pred twice."),
    ("snapshot --largest-loss 2", "--largest-loss is for two models; give --pred twice."),
]  # fmt: skip


@pytest.mark.parametrize(("words", "sentence"), REFUSED)
def test_what_makes_no_sense_is_refused_in_one_sentence(
    tmp_path: Path, run: Runner, small: Path, words: str, sentence: str
) -> None:
    # The protocol stands before the files.
    protocol, rest = ([], words.split(" ")) if words.startswith("-") else (words.split(" ")[:1], words.split(" ")[1:])
    refused = run("report", *protocol, *sides(small, "one"), "--out", tmp_path / "pack.html", *rest)
    assert refused == (2, "", f"error: {sentence}\n")
    assert list(tmp_path.iterdir()) == []


def test_bad_input_gives_its_findings_and_no_file(tmp_path: Path, run: Runner) -> None:
    (tmp_path / "bad.json").write_text('{"model": ')
    code, _, wrong = run("report", *FILES[:2], "--pred", tmp_path / "bad.json", "--out", tmp_path / "p.html")
    assert code == 2
    assert wrong.startswith("error: bad.json")
    assert not (tmp_path / "p.html").exists()


def test_a_file_that_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluator.cli.report.open_project", lambda *_: pytest.fail("files were read"))
    (tmp_path / "file").write_text("")
    (tmp_path / "taken.pdf").mkdir()
    refused = "must be writable; found Not a directory. Choose another place, or correct its permissions."
    for name, said in (
        ("missing/x.html", "the folder missing is not there; make it first."),
        ("file/folder", f"folder {refused}"),
        ("file", f"file {refused}"),
        ("taken.pdf", "taken.pdf is a folder; give the name of a file."),
    ):
        assert run("report", *FILES, "--out", tmp_path / name) == (2, "", f"error: --out: {said}\n")
    assert run("report", *FILES, "--out", tmp_path / "pack.docx") == (
        2,
        "",
        "error: --out must end in .html, .pdf or .zip, or be a folder without an ending; found pack.docx. Change the "
        "ending, or make the folder first.\n",
    )
    assert not (tmp_path / "pack.docx").exists()


@pytest.mark.parametrize(
    ("flag", "name", "out"),
    [
        ("--gt", "results.json", ""),
        ("--pred", "pack.zip", "pack.zip"),
        ("--pdfs", "a.pdf", "a.pdf"),
        ("--since", "pack.html", "pack.html"),
        ("--also", "findings.csv", ""),
        ("--findings", "pack.html", "pack.html"),
    ],
)
def test_a_pack_is_written_over_nothing_that_it_is_made_of(
    tmp_path: Path, run: Runner, flag: str, name: str, out: str
) -> None:
    (tmp_path / name).write_text("mine")
    given: dict[str, object] = {"--gt": SAMPLE / "ground_truth.json", "--pred": SAMPLE / "blocks.json"}
    of_folder = {"--pdfs": tmp_path, "--also": f"pod,{SAMPLE / 'ground_truth.json'},{tmp_path / name}"}
    given[flag] = of_folder.get(flag, tmp_path / name)
    words = [word for pair in given.items() for word in pair]
    code, said, wrong = run("report", *words, "--out", tmp_path / out)
    refused = f"error: {name}: a source file is never written to; found what {flag} reads. Choose another --out.\n"
    assert (code, said, wrong) == (2, "", refused)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "mine"}


def test_a_pack_replaces_the_files_of_an_earlier_one_and_no_others(tmp_path: Path, run: Runner, small: Path) -> None:
    """And a ZIP has what a folder has, whose name may have an ending."""
    out = tmp_path / "pack.v2"
    (out / "marked").mkdir(parents=True)
    mine = (out / "findings.csv", out / "marked" / "z-marked.pdf")
    for path in mine:
        path.write_text("mine")
    words = ("report", *sides(small, "one"), "--out", out, *NO_PAGES)
    refused = (
        "error: pack.v2: a pack replaces only the files of an earlier pack; found {}. Choose another --out, or move "
    )
    refused += "what is in it.\n"
    assert run(*words) == (2, "", refused.format("findings.csv and 1 other file"))
    mine[0].unlink()
    assert run(*words) == (2, "", refused.format("marked/z-marked.pdf"))
    mine[1].rename(out / "marked" / "notes.pdf")
    (out / "results.json").write_text('{"title": "Of another program"}')
    assert run(*words) == (2, "", refused.format("results.json"))
    (out / "results.json").unlink()
    assert run(*words, "--pdfs", small / "pdf", "--documents", "a.pdf")[0] == 0
    assert {path.name for path in (out / "marked").iterdir()} == {"a-marked.pdf", "notes.pdf"}
    assert run(*words)[0] == 0
    assert [path.name for path in (out / "marked").iterdir()] == ["notes.pdf"]
    assert run("report", *sides(small, "one"), "--out", tmp_path / "pack.zip", *NO_PAGES)[0] == 0
    with zipfile.ZipFile(tmp_path / "pack.zip") as archive:
        assert archive.testzip() is None
        assert {*archive.namelist(), "marked"} == {path.name for path in out.iterdir()}
    assert {path.name for path in tmp_path.iterdir()} == {"pack.v2", "pack.zip"}


def test_what_is_taken_out_of_marked_copies_is_said(tmp_path: Path, run: Runner, small: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(page(catalogue=b"/OpenAction << /S /JavaScript /JS (beep) >>"))
    words = ("report", *sides(small, "one"), *NO_PAGES, "--documents", "a.pdf", "--pdfs", tmp_path)
    for more, said in (((), "3 marks; taken out: 1 script"), (("--keep-active-content",), "3 marks")):
        code, lines, _ = run(*words, "--out", tmp_path / "pack", *more)
        assert (code, lines.splitlines()[-1]) == (0, f"a.pdf: {said}")
        results = json.loads((tmp_path / "pack" / "results.json").read_bytes())
        assert results["marked"] == [{"document": "a.pdf", "file": "a-marked.pdf", "said": said}]
        assert (b"JavaScript" in (tmp_path / "pack" / "marked" / "a-marked.pdf").read_bytes()) == bool(more)


def test_the_folder_of_the_documents_may_hold_the_packs(tmp_path: Path, run: Runner, small: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(page())
    without = ("report", *sides(small, "one"), *NO_PAGES, "--documents", "a.pdf")
    words = (*without, "--pdfs", tmp_path)
    for given, out, first in (
        (without, "pack", "pack.html"),
        (words, "pack.pdf", "pack.pdf"),
        (words, "pack", "pack.html"),
    ):
        code, said, _ = run(*given, "--out", tmp_path / out)
        assert (code, said.split(":")[0]) == (0, first)
    assert (tmp_path / "pack.pdf").read_bytes().startswith(b"%PDF-")
    assert {path.name for path in (tmp_path / "pack" / "marked").iterdir()} == {"a-marked.pdf"}
    assert run(*words, "--out", tmp_path / "a.pdf")[0] == 2
    assert (tmp_path / "a.pdf").read_bytes() == page()


def test_a_store_that_is_not_there_is_refused(tmp_path: Path, run: Runner) -> None:
    wrong = "error: there are no findings at nosuch.sqlite; check the spelling of --findings.\n"
    words = ("report", *FILES, "--findings", tmp_path / "nosuch.sqlite", "--out", tmp_path / "pack.html")
    assert run(*words) == (2, "", wrong)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_has_the_name_that_was_given(
    tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch, small: Path
) -> None:
    def full(_number: int) -> None:
        raise OSError(28, "No space left on device")

    words = ("report", *sides(small, "one"), *NO_PAGES, "--out")
    refused = "must be writable; found {}. Choose another place, or correct its permissions.\n"
    if sys.platform == "linux":  # a file system that takes no files
        code, said, wrong = run(*words, "/proc/x.html")
        assert (code, said, wrong) == (2, "", "error: --out: x.html " + refused.format("No such file or directory"))
    monkeypatch.setattr(os, "fsync", full)
    code, said, wrong = run(*words, tmp_path / "pack.html")
    assert (code, said, wrong) == (2, "", "error: --out: pack.html " + refused.format("No space left on device"))
    assert list(tmp_path.iterdir()) == []


def test_a_document_that_cannot_be_read_is_not_said_of_the_place(
    tmp_path: Path, run: Runner, monkeypatch: pytest.MonkeyPatch, small: Path
) -> None:
    read = Path.read_bytes

    def denied(path: Path) -> bytes:
        if path.name == "a.pdf":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", denied)
    words = (*NO_PAGES, "--documents", "a.pdf", "--pdfs", small / "pdf")
    code, said, _ = run("report", *sides(small, "one"), *words, "--out", tmp_path / "pack")
    assert (code, said.splitlines()[-1]) == (0, "a.pdf: Permission denied")


@pytest.mark.parametrize(
    "words",
    [["--map-label", "Text"], ["--map-label", "=Text"], ["--class-weight", "Text=1"], ["--profile", "published"]],
)
def test_options_are_refused_as_compare_refuses_them(tmp_path: Path, run: Runner, words: list[str]) -> None:
    both = [*FILES, "--pred", str(SAMPLE / "lines.json")]
    packed = run("report", "coco", *both, *words, "--out", tmp_path / "pack.html")
    assert packed == run("compare", "coco", *both, *words)
    assert packed[0] == 2


def test_the_decision_is_that_of_compare_under_the_same_rule(tmp_path: Path, run: Runner, small: Path) -> None:
    both = sides(small, "two", "one")
    words = ["--decide-by", "recall", "--least", "0.5", "--largest-loss", "20"]
    assert run("report", *both, *words, "--out", tmp_path / "pack", *NO_PAGES)[0] == 0
    packed = json.loads((tmp_path / "pack" / "results.json").read_text())["decision"]
    compared = json.loads(run("compare", "snapshot", *both, *words, "--json")[1])["decision"]
    assert packed["rule"] == {"metric": "recall", "least": 0.005, "loss": 0.2}
    # Compare in the terminal calls the models by their letters.
    told = ("headline", "sentence")
    assert {key: value for key, value in packed.items() if key not in told} == {
        key: value for key, value in compared.items() if key not in told
    }


def test_several_protocols_and_other_files_in_one_pack(tmp_path: Path, run: Runner) -> None:
    out, posters, part = tmp_path / "pack.html", SAMPLE / "posters", write_part(tmp_path, "tram-options.pdf")
    code, _, _ = run(
        "report", "snapshot,pod", "--gt", part / "ground_truth.json", "--pred", part / "blocks.json",
        "--pred", part / "lines.json", "--out", out, *NO_PAGES,
        "--also", f"posters,{posters / 'ground_truth'},{posters / 'across'}",
    )  # fmt: skip
    assert code == 0
    text = out.read_text(encoding="utf-8")
    for anchor in ("key-numbers", "ledger", "protocol-pod", "protocol-posters"):
        assert f'<section id="{anchor}"' in text
        assert f'href="#{anchor}"' in text
    assert "<mark>" in text


def test_a_pack_without_boxes(tmp_path: Path, run: Runner) -> None:
    posters = SAMPLE / "posters"
    files = ["--gt", posters / "ground_truth", "--pred", posters / "across", "--pred", posters / "columns"]
    code, said, wrong = run("report", "posters", *files, "--out", tmp_path / "pack")
    assert (code, wrong) == (0, "")
    assert "0 pages\n" in said
    text = (tmp_path / "pack" / "pack.html").read_text(encoding="utf-8")
    assert "<title>columns against across: Cannot tell on these 5 documents</title>" in text
    assert 'id="findings"' not in text
    assert (tmp_path / "pack" / "pack.pdf").read_bytes().startswith(b"%PDF-")
    code, _, wrong = run("report", "posters", *files, "--min-score", "0.5", "--out", tmp_path / "pack.html")
    assert (code, wrong) == (2, "error: --min-score is not an option of posters.\n")


def test_two_models_of_one_name_are_told_apart(tmp_path: Path, run: Runner, small: Path) -> None:
    code, _, wrong = run("report", *sides(small, "one", "two"), "--pages", 0, "--out", tmp_path / "pack.html")
    assert (code, wrong) == (0, "")
    assert "Ship toy (2) instead of toy (1)?" in (tmp_path / "pack.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "thresholds"),
    [(("0.6",), ["0.60"] * 3), (("0.6", "0.7", "0"), ["0.60", "0.70", "0.00"]), ((), ["0.00"] * 3)],
)
def test_a_score_threshold_is_of_all_models_or_of_each(
    tmp_path: Path, run: Runner, small: Path, given: tuple[str, ...], thresholds: list[str]
) -> None:
    words = [word for score in given for word in ("--min-score", score)]
    out = tmp_path / "pack.html"
    assert run("report", *sides(small, "one", "two", "one"), *words, "--out", out, *NO_PAGES)[0] == 0
    parts = [re.search(r"score ≥ ([\d.]+)", model.signature) for model in read(out).models]
    assert [each[1] for each in parts if each] == thresholds


def test_two_score_thresholds_for_three_models_are_refused(tmp_path: Path, run: Runner, small: Path) -> None:
    words = (*sides(small, "one", "two", "one"), "--min-score", 0.1, "--min-score", 0.2, "--out", tmp_path / "p.html")
    said = "--min-score is given once for all models, or once for each; found 2 for 3 models."
    assert run("report", *words) == (2, "", f"error: {said}\n")


def test_an_iou_threshold_below_the_slider_is_that_of_compare(tmp_path: Path, run: Runner, small: Path) -> None:
    out, files = tmp_path / "pack.html", sides(small, "two")
    assert run("report", *files, "--iou", "0.05", "--out", out, *NO_PAGES)[0] == 0
    (model,) = read(out).models
    _, said, _ = run("evaluate", "snapshot", *files, "--iou", "0.05", "--json")
    assert "IoU ≥ 0.05" in model.signature
    assert model.f1 == json.loads(said)["thresholds"]["0.05"]["micro"]["f1"]


def test_documents_and_marked_copies_are_kept_apart(tmp_path: Path, run: Runner) -> None:
    marked, rule = (
        tmp_path / "marked",
        "a source file is never written to; found what --pdfs reads. Choose another --out.",
    )
    marked.mkdir()
    (marked / "a.pdf").write_bytes(b"%PDF-")
    for out, name in ((tmp_path, "marked"), (marked / "a.pdf", "a.pdf")):
        assert run("report", *FILES, "--pdfs", marked, "--out", out) == (2, "", f"error: {name}: {rule}\n")
