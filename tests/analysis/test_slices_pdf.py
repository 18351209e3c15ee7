"""What the PDFs show of pages and boxes, as attributes of slices."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pymupdf
import pytest
from PIL import Image, ImageDraw

from evaluator import formats
from evaluator.analysis.slices.attributes import FROM_PDFS, attributes_of, merge_page_values
from evaluator.analysis.slices.conditions import Condition
from evaluator.analysis.slices.pdf_pages import PdfAttributes, of_listed_pages, of_pdf_pages
from evaluator.analysis.slices.ruled_lines import ruled_lines
from evaluator.analysis.slices.slices import boxes_in
from evaluator.data.dataset import Dataset, join
from evaluator.data.text import script_of
from evaluator.pdf.folder import PdfFolder
from evaluator.pdf.pool import PagePool
from evaluator.protocols.snapshot.evaluation import ThresholdResult, pair
from tests.sample_part import write_part
from tests.terminal import run_command

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"


class Sample(NamedTuple):
    """Three documents of the sample data, one of them scanned, what their PDFs show, and how far that had come."""

    files: Path
    dataset: Dataset
    result: ThresholdResult
    seen: PdfAttributes
    calls: list[tuple[int, ...]]


@pytest.fixture(scope="module")
def pool() -> Iterator[PagePool]:
    with PagePool() as started:
        yield started


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory, pool: PagePool) -> Sample:
    documents = ("tram-options.pdf", "scanned-minutes-1997.pdf", "groundwater-note.pdf")
    files = write_part(tmp_path_factory.mktemp("part"), *documents)
    dataset = join(formats.read(files / "ground_truth.json"), formats.read(files / "lines.json"))
    result = pair(dataset).match().at(0.5)
    calls: list[tuple[int, ...]] = []
    sides = [dataset.ground_truth, result.matching.prediction]
    seen = of_pdf_pages(dataset, sides, PdfFolder(SAMPLE), pool, lambda *at: calls.append(at))
    return Sample(files, dataset, result, seen, calls)


def test_the_pages_of_the_sample(sample: Sample, pool: PagePool) -> None:
    dataset, (known, (of_boxes, _)) = sample.dataset, sample.seen
    document, index = next(key for key in known if key[1] is not None)
    assert index is not None
    path = PdfFolder(SAMPLE).find(next(each.name for each in dataset.documents if each.doc_id == document))
    assert known[document, index]["words"] == len(pool.words(path, index).texts)
    assert sample.calls == [(page, dataset.pages) for page in range(dataset.pages)]
    table = {one.name: one for one in attributes_of(dataset, dataset.ground_truth, of_pages=known, of_boxes=of_boxes)}
    assert table["words"].kind == "number"
    assert set(table["text layer"].names) == {"yes", "no"}
    ink = table["ink"].values
    assert ((ink >= 0) & (ink <= 1) | np.isnan(ink)).all()
    assert len(table["words in box"].values) == len(dataset.ground_truth.page)
    # The words of all boxes of a page are at most its words, and a title is set larger than the text.
    label = dataset.ground_truth.label
    size, names = table["font size"].values, dataset.labels
    assert np.nanmedian(size[label == names.index("Title")]) > np.nanmedian(size[label == names.index("Text")])
    inside = np.bincount(dataset.ground_truth.page, weights=np.nan_to_num(table["words in box"].values))
    assert inside.sum() > 0.8 * sum(int(values["words"] or 0) for values in known.values())


def test_a_page_that_cannot_be_read_or_is_not_there_has_no_attributes(
    sample: Sample, pool: PagePool, tmp_path: Path
) -> None:
    known, (of_boxes,) = of_pdf_pages(sample.dataset, [sample.dataset.ground_truth], PdfFolder(tmp_path), pool)
    assert known == {}
    assert all(np.isnan(each.values).all() for each in of_boxes)
    # A prediction may name a page that its document does not have; nobody knows before it is opened.
    pages = [("river-districts.pdf", 99), ("river-districts.pdf", 0)]
    assert [*of_listed_pages(pages, PdfFolder(SAMPLE / "pdf"), pool)] == pages[1:]


def drawn(page: pymupdf.Page) -> None:
    """A rule, a table frame, a thin filled bar, a diagonal, a short stroke, a picture and two sizes of text."""
    page.draw_line((10, 20), (60, 20), width=1)
    page.draw_rect((100, 50, 150, 90), width=1)
    page.draw_rect((10, 80, 60, 81), fill=(0, 0, 0), width=0)
    page.draw_line((10, 40), (60, 60), width=1)
    page.draw_line((70, 20), (75, 20), width=1)
    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 4, 4))
    picture.clear_with(0)
    page.insert_image((150, 10, 190, 40), pixmap=picture)
    page.insert_text((20, 70), "Hello", fontsize=12)
    page.insert_text((70, 70), "you", fontsize=8)


def turned(box: tuple[float, ...]) -> list[float]:
    x1, y1, x2, y2 = box
    return [(100 - y2) / 100, x1 / 200, (100 - y1) / 100, x2 / 200]


def upright(box: tuple[float, ...]) -> list[float]:
    return [side / (200, 100)[at % 2] for at, side in enumerate(box)]


@pytest.mark.parametrize(("rotation", "placed"), [(0, upright), (90, turned)])
def test_pictures_rules_and_fonts_of_a_page(rotation: int, placed: Any, pool: PagePool, tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=200, height=100)
        drawn(page)
        page.set_rotation(rotation)
        document.set_metadata({"producer": "Typewriter 1"})
        document.save(tmp_path / "a.pdf")
    layout = pool.layout(tmp_path / "a.pdf", 0)
    assert (layout.rotation, layout.producer, layout.scanned) == (rotation, "Typewriter 1", False)
    assert layout.images == pytest.approx(np.array([placed((150, 10, 190, 40))]), abs=1e-6)
    wanted = [(9.75, 19.75, 60.25, 20.25), (99.75, 49.75, 150.25, 50.25), (99.75, 89.75, 150.25, 90.25),
              (99.75, 49.75, 100.25, 90.25), (149.75, 49.75, 150.25, 90.25), (9.75, 79.75, 60.25, 81.25)]  # fmt: skip
    assert layout.rules == pytest.approx(np.array([placed(box) for box in wanted]), abs=1e-6)
    assert sorted(zip(layout.sizes.tolist(), layout.characters.tolist(), strict=True)) == [(8.0, 3.0), (12.0, 5.0)]


def scan(path: Path) -> None:
    """A page of 900 x 600 pixels with two ruled lines of 3 pixels, a filled area and text-like dots."""
    picture = Image.new("L", (900, 600), 255)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((100, 200, 799, 202), fill=0)
    pen.rectangle((450, 200, 452, 499), fill=0)
    pen.rectangle((600, 300, 799, 399), fill=0)
    for x in range(100, 400, 12):
        pen.rectangle((x, 100, x + 7, 109), fill=0)
    picture.save(path)


@pytest.mark.parametrize(
    ("first", "then", "scanned"),
    [
        # The layer of recognised words on a scan is not painted, or lies below the picture.
        ("", "recognised", True),
        ("painted", "", True),
        # A stamp on a scan, and a page that is set on a picture.
        ("", "stamp", True),
        ("", "painted", False),
    ],
)
def test_a_page_with_a_picture_behind_its_text_is_no_scan(
    tmp_path: Path, pool: PagePool, first: str, then: str, *, scanned: bool
) -> None:
    scan(tmp_path / "a.png")

    def written(page: pymupdf.Page, what: str) -> None:
        lines, times, size = {"": (0, 0, 0), "stamp": (1, 1, 6)}.get(what, (12, 4, 11))
        for line in range(lines):
            text, mode = "Words of a line " * times, 3 if what == "recognised" else 0
            page.insert_text((30, 20 + 20 * line), text, fontsize=size, render_mode=mode)

    with pymupdf.open() as document:
        page = document.new_page(width=450, height=300)
        written(page, first)
        page.insert_image(page.rect, filename=str(tmp_path / "a.png"))
        written(page, then)
        document.save(tmp_path / "a.pdf")
    assert pool.layout(tmp_path / "a.pdf", 0).scanned is scanned


def test_ruled_lines_of_a_scan(tmp_path: Path, pool: PagePool) -> None:
    scan(tmp_path / "a.png")
    with pymupdf.open() as document:
        document.new_page(width=450, height=300).insert_image((0, 0, 450, 300), filename=str(tmp_path / "a.png"))
        document.save(tmp_path / "a.pdf")
    for name in ("a.png", "a.pdf"):
        layout = pool.layout(tmp_path / name, 0)
        assert layout.scanned
        assert layout.mask.shape == (600, 900)
        lines = ruled_lines(layout.mask)
        across = lines[lines[:, 2] - lines[:, 0] > lines[:, 3] - lines[:, 1]]
        down = lines[lines[:, 2] - lines[:, 0] < lines[:, 3] - lines[:, 1]]
        assert across == pytest.approx(np.array([[100 / 900, 200 / 600, 800 / 900, 203 / 600]]), abs=2 / 600)
        assert down == pytest.approx(np.array([[450 / 900, 203 / 600, 453 / 900, 500 / 600]]), abs=4 / 600)


def test_a_blank_scan_has_no_ruled_lines() -> None:
    for size in ((0, 0), (300, 200)):
        assert ruled_lines(np.zeros(size, dtype=bool)).shape == (0, 4)


def test_the_script_of_most_letters() -> None:
    for texts, script in ((["المجموع", "a"], "Arabic"), (["合計", "金額", "x"], "CJK"), (["12", "—"], None)):
        assert script_of(texts) == script


def test_the_second_table_counts() -> None:
    assert merge_page_values(
        {("a", 0): {"words": 1, "ink": 0.5}}, {("a", 0): {"words": 2}, ("b", None): {"x": "y"}}
    ) == {("a", 0): {"words": 2, "ink": 0.5}, ("b", None): {"x": "y"}}


def test_a_named_slice_about_what_pdfs_show(sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = [Condition("font size", "<", 9.0), Condition("text layer", "==", "yes")]
    named = tmp_path / "named.json"
    named.write_text(json.dumps({"small print": [each.to_json() for each in small]}))
    result, seen = sample.result, sample.seen
    inside = boxes_in(small, result, "recall", of_pages=seen.of_pages, of_boxes=seen.of_boxes).truth
    predicted = boxes_in(small, result, "precision", of_pages=seen.of_pages, of_boxes=seen.of_boxes).prediction
    assert 0 < inside.sum() < len(inside)
    truth, lines = sample.files / "ground_truth.json", sample.files / "lines.json"
    files = ("--gt", truth, "--pred", lines, "--slices", named)
    code, out, err = run_command(capsys, "evaluate", "snapshot", *files, "--pdfs", SAMPLE, "--json")
    assert code == 0, err
    kept = json.loads(out)["slices"]["small print"]
    assert (kept["ground_truth"], kept["predictions"]) == (inside.sum(), predicted.sum())
    assert kept["recall"] == pytest.approx((result.truth_partner[inside] >= 0).mean())
    gate = ("gate", "snapshot", *files, "--fail-if", "recall[slice:small print] < 0.01")
    assert run_command(capsys, *gate, "--pdfs", SAMPLE)[0] == 0
    code, _, err = run_command(capsys, *gate)
    assert code == 2
    assert "--pdfs reads it from the documents" in err


def test_the_names_that_pdfs_give(sample: Sample) -> None:
    pages, of_boxes = [*sample.seen.of_pages.values()], sample.seen.of_boxes[0]
    assert {name for values in pages for name in values} | {each.name for each in of_boxes} == FROM_PDFS
    for values in pages:
        width, height = values["page width"], values["page height"]
        assert isinstance(width, float)
        assert isinstance(height, float)
        assert values["landscape"] == ("yes" if width > height else "no")
