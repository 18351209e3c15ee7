"""The review pack: what it says equals the results, its file is whole and safe, and its size is what was asked for."""

import base64
import csv
import hashlib
import html.parser
import io
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pymupdf
import pytest
from PIL import Image

from evaluator import project
from evaluator.compare.decision import Cost
from evaluator.components.gallery import crops
from evaluator.components.payload import ModelItem
from evaluator.data.dataset import join
from evaluator.pack import annotated_pdf as marked_copies
from evaluator.pack import contents as pack_contents
from evaluator.pack import font, html_pack, tables
from evaluator.pack import options as chosen
from evaluator.pack.annotated_pdf import AnnotatedDocument, notes_of, write_annotated
from evaluator.pack.contents import Contents, gather, key_rows
from evaluator.pack.folder import write_folder
from evaluator.pack.html_pack import plan_of, write_html
from evaluator.pack.options import PackOptions
from evaluator.pack.pdf_pack import write_pdf
from evaluator.pack.pictures import Pictures
from evaluator.pack.story import documents_words, manual_work, rule_lines
from evaluator.pack.writing import Writer, WritingProblem
from evaluator.pdf.pool import PagePool
from evaluator.pdf.writer import Mark, Note
from evaluator.protocols.coco.evaluation import CocoResult
from evaluator.protocols.snapshot.evaluation import ThresholdResult, pair
from evaluator.review.identity import mistake_targets
from evaluator.review.verdicts import Event, ReviewLog, judge
from tests.building import annotations, box, ground_truth
from tests.pdf_fixtures import pages
from tests.sample_part import sample_results

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
MODELS = [ModelItem("A", "lines 1.0"), ModelItem("B", "blocks 1.0")]
GROUNDWATER = "groundwater-note.pdf"
HOSTILE = (
    "<script>alert(1)</script>", "</script><img src=http://evil.invalid/x>", "![x](http://evil.invalid)", "=1+1",
    "{{ 7*7 }}", "' onload='x", "\u202egnp", "&lt;b&gt;",
)  # fmt: skip


@pytest.fixture(scope="module")
def pool() -> Iterator[PagePool]:
    with PagePool() as started:
        yield started


@pytest.fixture(scope="module")
def results() -> list[ThresholdResult]:
    return list(sample_results())


def nothing(done: int, total: int, text: str) -> None:
    """Progress that nobody watches."""


class Packed(NamedTuple):
    folder: Path
    contents: Contents
    events: list[Event]
    marked: list[AnnotatedDocument]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory, pool: PagePool, results: list[ThresholdResult]) -> Packed:
    folder, events = tmp_path_factory.mktemp("packed"), judged(results)
    options = PackOptions(pages=1, documents=(GROUNDWATER,), verdicts=("model_wrong",))
    contents = gather(results, MODELS, ReviewLog.of(events), options)
    pdfs = SAMPLE / "pdf"
    written = write_folder(folder, contents, Pictures(pool, pdfs), events, pdfs, progress=nothing)
    return Packed(folder, contents, events, written.marked)


def opinion(result: ThresholdResult, page: int, place: int, **said: Any) -> Event:
    target = mistake_targets(result, page).targets[place]
    time = datetime(2026, 11, 19, 12, 0, tzinfo=UTC)
    return judge(target, **{"verdict": "model_wrong", "author": "M. Okafor", "verified": True, "time": time, **said})


def judged(results: list[ThresholdResult]) -> list[Event]:
    return [
        opinion(results[1], 0, 0, note="The box stops at the third rule."),
        opinion(results[1], 2, 0, verdict="ground_truth_wrong", author="J. Brandt", verified=False, tags=("style",)),
    ]


def contents_of(results: list[ThresholdResult], events: Iterable[Event] = (), **options: Any) -> Contents:
    return gather(results, MODELS[: len(results)], ReviewLog.of(events), PackOptions(**options))


def test_it_says_the_numbers_of_the_results(results: list[ThresholdResult]) -> None:
    contents = contents_of(results)
    named = [("A", "lines 1.0", ""), ("B", "blocks 1.0", "")]
    assert key_rows(contents) == [(*names, one.micro.row(0)) for names, one in zip(named, results, strict=True)]
    assert contents.title == "blocks 1.0 against lines 1.0: Keep lines 1.0"
    assert contents.summary.startswith("Keep lines 1.0. Text recall −14.0 points, more than the 5 allowed")
    assert "Saves 247.2 corrected boxes per 100 pages, 477.8 instead of 725.0." in contents.summary
    assert "more documents" not in contents.summary
    assert contents.ledger is not None
    assert contents.decisions_words == "No cause is decided yet."
    assert contents.causes_words == "all 28, most wrong boxes first: A has 302 and B has 196"


def test_judged_mistakes_come_with_verdict_and_note_and_a_corrected_row(results: list[ThresholdResult]) -> None:
    contents = contents_of(results, judged(results), title="Rules and headings")
    assert contents.title == "Rules and headings"
    said = {cause.row.verdict.split(",")[0]: cause.row for cause in contents.causes if cause.decided}
    first, second = said["Model wrong"], said["Ground truth wrong"]
    assert first.verdict == f"Model wrong, 1 of {first.mistakes} mistakes judged"
    assert first.people == ("M. Okafor, 19 Nov 2026",)
    assert [event.note for event in first.notes] == ["The box stops at the third rule."]
    assert second.people == ("J. Brandt (unverified), 19 Nov 2026",)
    assert contents.findings is None
    rows = key_rows(contents)
    assert {special for _, _, special, _ in rows} == {"", "corrected, 1 verdict applied"}
    corrected = next(row for letter, _, special, row in rows if special and letter == "B")
    official = results[1].micro.row(0)
    assert corrected["fp"] <= official["fp"]
    assert corrected != official


def test_findings_can_be_chosen(results: list[ThresholdResult]) -> None:
    events = judged(results)
    for options, words in (
        ({"verdicts": ("model_wrong",)}, {"Model wrong"}),
        ({"verdicts": ("ambiguous", "conflict")}, set()),
        ({"tags": ("style", "other")}, {"Ground truth wrong"}),
        ({}, {"Model wrong", "Ground truth wrong"}),
    ):
        causes = contents_of(results, events, **options).causes
        assert {cause.row.verdict.split(",")[0] for cause in causes if cause.decided} == words
    # A later verdict of the same person: the earlier one is of the same finding.
    events.append(opinion(results[1], 0, 0, verdict="ambiguous"))
    wanted: tuple[tuple[dict[str, Any], list[Event]], ...] = (
        ({}, events),
        ({"verdicts": ("ambiguous",)}, [events[0], events[2]]),
        ({"tags": ("style",)}, events[1:2]),
        ({"documents": (GROUNDWATER,)}, events),
        ({"documents": ("tram-options.pdf",)}, []),
    )
    for given, kept in wanted:
        assert chosen.chosen_events(events, PackOptions(**given)) == kept


def test_a_verdict_that_no_longer_applies_is_told_as_such(results: list[ThresholdResult]) -> None:
    only_lines = contents_of(results[:1], [opinion(results[1], 0, 0)])
    assert only_lines.findings is not None
    ((_, what, model, *_),) = only_lines.findings.rows
    assert (what.rpartition(" (")[2], model) == ("not open)", "blocks")
    assert only_lines.differences == ()
    assert only_lines.ledger is None


def test_pages_of_findings_come_first_and_documents_can_be_chosen(results: list[ThresholdResult]) -> None:
    contents = contents_of(results, judged(results), pages=2)
    assert set(contents.pages) == {cause.example.page for cause in contents.causes if cause.decided}
    assert contents.left_out == 32
    chosen = contents_of(results, documents=("rainfall-atlas.pdf",))
    assert {chosen.place(cause.example.page)[0] for cause in chosen.causes} == {"rainfall-atlas.pdf"}
    assert {chosen.place(page)[0] for page in chosen.pages} == {"rainfall-atlas.pdf"}
    assert key_rows(chosen) == key_rows(contents)[:1] + key_rows(chosen)[1:]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"verdicts": ("good",)},
            "verdicts are model_wrong, ground_truth_wrong, ambiguous, ignore, conflict; found good",
        ),
        ({"pages": -1}, "the number of pages must be at least 0; found -1"),
        ({"budget": 1000}, "the size budget must be between 0.5 and 1,000 MB; found 0.000953674 MB"),
        ({"budget": float("nan")}, "the size budget must be between 0.5 and 1,000 MB; found nan MB"),
        ({"seconds": 1e300}, "the seconds for a box must be above 0 and at most 3,600; found 1e+300"),
        ({"pages_per_year": 10**10}, "the pages per year must be between 1 and 1,000,000,000; found 10,000,000,000"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        PackOptions(**options)


def test_further_models_are_listed_and_the_first_two_compared(results: list[ThresholdResult]) -> None:
    two = contents_of(results)
    three = gather([*results, results[0]], [*MODELS, ModelItem("C", "c")], ReviewLog.of([]), PackOptions())
    assert [(row.letter, row.name) for row in key_rows(three)] == [("A", "lines 1.0"), ("B", "blocks 1.0"), ("C", "c")]
    assert (three.summary, three.differences) == (two.summary, two.differences)
    with pytest.raises(ValueError, match=r"^a pack needs a result and a name of each model; found 2 and 1$"):
        gather(results, MODELS[:1], ReviewLog.of([]), PackOptions())


class Read(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        else:
            self.text.append(data)


def made(tmp_path: Path, contents: Contents, pool: PagePool, pdfs: Path | None = SAMPLE / "pdf") -> str:
    path = tmp_path / "pack.html"
    write_html(path, contents, Pictures(pool, pdfs), progress=nothing)
    return path.read_text(encoding="utf-8")


def test_the_file_holds_everything_and_asks_for_nothing(
    tmp_path: Path, pool: PagePool, results: list[ThresholdResult]
) -> None:
    text = made(tmp_path, contents_of(results, judged(results), pages=3, date="21 November 2026"), pool)
    page = Read(text)
    addresses = [
        value for _, attributes in page.elements for name, value in attributes.items() if name in ("src", "href")
    ]
    assert all(address and address.startswith(("data:image/webp", "#")) for address in addresses)
    assert "http:" not in re.sub(r"http://www\.w3\.org/[\w/]+", "", text)
    policy = next(a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv"))
    script = next(each for each in page.scripts if "layoutscope-viewer" in each)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    anchors = {attributes["id"] for _, attributes in page.elements if attributes.get("id")}
    assert {address[1:] for address in addresses if address and address.startswith("#")} <= anchors
    assert {"decisions", "cause-1", "page-1"} <= anchors
    words = " ".join(page.text)
    for expected in ("0.696", "0.794", "Model wrong", "The box stops at the third rule.", "21 November 2026"):
        assert expected in words
    # Three pages, and the record for a later pack.
    assert len(re.findall(r'<script type="application/json"', text)) == 4


def test_words_from_strangers_stay_words(tmp_path: Path, pool: PagePool) -> None:
    rows = [box(0.1, 0.1, 0.4, 0.3, label=label) for label in HOSTILE]
    others = [box(0.1, 0.15, 0.4, 0.31, label=label, score=0.5) for label in HOSTILE]
    labels = tuple(HOSTILE)
    dataset = join(ground_truth(rows, labels=labels), annotations(others, labels=labels))
    result = pair(dataset).match().at(0.9)
    event = opinion(result, 0, 0, note=" ".join(HOSTILE), author="<img src=x>", tags=("<b>",))
    contents = gather(
        [result], [ModelItem("A", "<script>alert(2)</script>")], ReviewLog.of([event]), PackOptions(title=HOSTILE[0])
    )
    written = Read(made(tmp_path, contents, pool, None))
    assert {tag for tag, _ in written.elements if tag in ("img", "iframe", "link", "object")} == set()
    assert sum(tag == "script" for tag, _ in written.elements) == 2 + len(contents.pages)  # the script, and the record
    assert not [name for _, attributes in written.elements for name in attributes if name.startswith("on")]
    assert "49" not in re.sub(r"base64,[\w+/=]+", "", " ".join(written.text)).split("{{")[0]
    for script in written.scripts:
        if "layoutscope-viewer" not in script:
            json.loads(script)
    pdf = write_pdf(tmp_path / "pack.pdf", contents, Pictures(pool, None), progress=nothing)
    again = write_pdf(tmp_path / "again.pdf", contents, Pictures(pool, None), progress=nothing)
    assert (tmp_path / "again.pdf").read_bytes() == (tmp_path / "pack.pdf").read_bytes(), "the same bytes each time"
    assert again == pdf
    assert pdf.pages == len(contents.pages)
    with pymupdf.open(tmp_path / "pack.pdf") as document:
        assert not [link for page in document for link in page.get_links()]
        assert "<script>alert(1)</script>" in "".join(page.get_text() for page in document).replace("\n", "")


def test_boxes_stand_on_the_crop_where_they_stand_on_the_page(pool: PagePool, results: list[ThresholdResult]) -> None:
    contents = contents_of(results, judged(results))
    page = contents.causes[0].example.page
    _, name, index = contents.place(page)
    (boxes,) = (layer.boxes for layer in html_pack.page_layers(contents, page, None)[:1])
    picture = Pictures(pool, SAMPLE / "pdf").crop(name, index, [each.xyxy for each in boxes[:2]])
    x1, y1, x2, y2 = picture.part
    for drawn in html_pack.boxes_on(boxes, picture):
        left, top = x1 + drawn.x * (x2 - x1), y1 + drawn.y * (y2 - y1)
        assert any(list(each.xyxy[:2]) == pytest.approx([left, top]) for each in boxes)
    assert picture.webp is not None
    with Image.open(io.BytesIO(picture.webp)) as image:
        assert image.size == picture.size
    shape = (x2 - x1) * picture.points[0] / ((y2 - y1) * picture.points[1])
    assert picture.size[0] / picture.size[1] == pytest.approx(shape, rel=0.01)


def test_a_crop_is_the_part_of_its_page(pool: PagePool) -> None:
    """It is cut before it is encoded; cut from the encoded page it is the same picture but for what WebP loses."""
    path, part = SAMPLE / "pdf" / "river-districts.pdf", (0.1031, 0.0517, 0.4702, 0.2519)
    drawn = pool.page_part(path, 0, part=part, dpi=144.0, width=640)
    page = pool.page_image(path, 0, dpi=144.0)
    assert (drawn.page_width, drawn.page_height) == (page.page_width, page.page_height)
    pictures = []
    for webp in (drawn.webp, crops.cut(page.webp, part, width=640)):
        with Image.open(io.BytesIO(webp)) as image:
            pictures.append(np.asarray(image.convert("RGB"), dtype=np.float64))
    assert pictures[0].shape == pictures[1].shape == (drawn.height, drawn.width, 3)
    assert drawn.width == round((part[2] - part[0]) * page.width)
    assert np.abs(pictures[0] - pictures[1]).mean() < 3.0
    assert pictures[0].std() > 20.0
    assert pool.page_part(path, 0, part=part, dpi=144.0, width=100).width == 100
    for wrong in ((0.5, 0.0, 0.5, 1.0), (0.0, 0.0, 1.2, 1.0)):
        with pytest.raises(ValueError, match="part must be"):
            pool.page_part(path, 0, part=wrong, dpi=144.0, width=640)


def test_a_crop_of_many_boxes_draws_those_of_its_cause_first_and_says_so(
    pool: PagePool, results: list[ThresholdResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def noted(result: ThresholdResult, page: int) -> list[Any]:
        asked.append(page)
        return crops.page_boxes(result, page)

    monkeypatch.setattr(pack_contents, "page_boxes", noted)
    contents, pictures = contents_of(results), Pictures(pool, SAMPLE / "pdf")
    every = [html_pack.sides_of_cause(cause, contents, pictures) for cause in contents.causes]
    assert len(asked) == 2 * len({cause.example.page for cause in contents.causes})
    at, place, own = next(
        (at, place, own)
        for at, sides in enumerate(every)
        for place, side in enumerate(sides)
        if 0 < (own := sum(not box.faint for box in side.boxes)) < len(side.boxes) - 1
    )
    monkeypatch.setattr(html_pack, "DRAWN_BOXES", own + 1)
    side = html_pack.sides_of_cause(contents.causes[at], contents, pictures)[place]
    assert [box.faint for box in side.boxes] == [True, *[False] * own]
    total = len(every[at][place].boxes)
    assert side.counts == f"{every[at][place].counts} · {own + 1} of {total} boxes drawn"


def test_crops_and_pages_are_asked_for_in_the_order_of_what_is_open(
    pool: PagePool, results: list[ThresholdResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that draws keeps the last document and what is on its last page: others would read them again."""
    asked: dict[str, list[tuple[int, str, int, str]]] = {"page_part": [], "page_image": []}

    def noting(name: str) -> Callable[..., object]:
        ask = getattr(PagePool, name)

        def noted(self: PagePool, path: Path, page_index: int, **more: Any) -> object:
            asked[name].append((threading.get_ident(), path.name, page_index, more.get("encoding", "")))
            return ask(self, path, page_index, **more)

        return noted

    documents = ("river-districts.pdf", "groundwater-note.pdf", "tram-options.pdf")
    contents = contents_of(results, documents=documents)
    pictures = Pictures(pool, SAMPLE / "pdf").encoded("jpeg")
    plan = plan_of(contents, pictures)
    for name in asked:
        monkeypatch.setattr(PagePool, name, noting(name))
    html_pack.draw_crops(contents, pictures, plan, nothing)
    told = list(html_pack.pages_with_pictures(contents, pictures, plan, nothing))
    assert [page for page, _ in told] == list(plan.pages)
    crops_of_threads = sorted(asked["page_part"], key=lambda each: each[0])
    runs = [page for page, _ in groupby(each[:3] for each in crops_of_threads)]
    assert len(runs) == len({each[1:] for each in runs}) < len(crops_of_threads)
    assert {each[3] for each in crops_of_threads} == {"jpeg"}
    pages = {name: [each for each in asked["page_image"] if each[1] == name] for name in documents}
    for calls in pages.values():
        assert [each[2] for each in calls] == sorted(each[2] for each in calls)
        assert len({each[0] for each in calls}) == 1
    assert max(map(len, pages.values())) > 3
    # The pages that were looked at for the budget are shown as they are, the others in the encoding that is asked for.
    shown = [picture for _, (picture, _) in told]
    assert all(picture.jpeg for picture in shown)
    assert 0 < sum(bool(picture.webp) for picture in shown) < len(shown)


def test_a_cause_of_a_third_model_stands_beside_the_first(results: list[ThresholdResult]) -> None:
    third = results[1].matching.at(0.9)
    contents = gather([*results, third], [*MODELS, ModelItem("C", "c")], ReviewLog.of([]), PackOptions())
    cause = contents.causes[1]
    assert cause.example.model == 2
    assert [model.letter for model in html_pack.compared_with(cause, contents.models)] == ["A", "C"]
    alone = contents_of(results[:1])
    assert [model.letter for model in html_pack.compared_with(alone.causes[0], alone.models)] == ["A"]


@pytest.mark.parametrize("style", ["regular", "bold"])
def test_the_font_has_latin_greek_and_cyrillic_and_a_licence(style: str) -> None:
    folder = Path(font.__file__).parent / "fonts"
    face = pymupdf.Font(fontfile=str(folder / f"{style}.ttf"))
    wanted = "azAZ09 éßñøÞ ąćęłńóśźż ŐŰ ţș αβγΩώ жщЫюё €–—…·×−±≥≤→★✓✕✎"
    assert [letter for letter in wanted if not face.has_glyph(ord(letter))] == []
    assert "SIL OPEN FONT LICENSE" in (folder / "OFL.txt").read_text().upper()
    # The reserved name of the original is not used.
    assert face.name.startswith("LayoutScope Sans")
    assert f"font-weight: {'400' if style == 'regular' else '600 700'}" in font.css()
    assert (folder / f"{style}.woff2").read_bytes()[:4] == b"wOF2"


@pytest.mark.parametrize("budget", [2**19, 20 * 2**20])
def test_the_size_is_what_was_asked_for(
    tmp_path: Path, pool: PagePool, results: list[ThresholdResult], budget: int
) -> None:
    options = PackOptions(budget=budget, documents=("rainfall-atlas.pdf",))
    contents = gather(results, MODELS, ReviewLog.of([]), options)
    path = tmp_path / "pack.html"
    written = write_html(path, contents, Pictures(pool, SAMPLE / "pdf"), progress=nothing)
    assert written.size == path.stat().st_size <= budget
    assert written.pages + written.left_out == len(contents.pages)
    assert (written.left_out == 0) == (budget > 2**21)
    assert path.stat().st_mode & 0o777 == 0o644


class Enough(Exception):
    """Raised by who listens, to end the work."""


def test_a_cancelled_pack_leaves_the_older_file(tmp_path: Path, pool: PagePool, results: list[ThresholdResult]) -> None:
    contents = contents_of(results)
    path = tmp_path / "pack.html"
    path.write_text("older")

    def stop(done: int, total: int, text: str) -> None:
        if done >= 2:
            raise Enough

    with pytest.raises(Enough):
        write_html(path, contents, Pictures(pool, SAMPLE / "pdf"), progress=stop)
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_the_pdf_says_the_same(tmp_path: Path, pool: PagePool, results: list[ThresholdResult]) -> None:
    contents = contents_of(results, judged(results), pages=4)
    path = tmp_path / "pack.pdf"
    written = write_pdf(path, contents, Pictures(pool, SAMPLE / "pdf"), progress=nothing)
    with pymupdf.open(path) as document:
        words = " ".join(" ".join(page.get_text().split()) for page in document)
        for expected in ("0.696", "0.794", "Model wrong", "The box stops at the third rule.", "Ledger", "Method"):
            assert expected in words
        assert all((page.rect.width, page.rect.height) == (595.0, 842.0) for page in document)
        assert words.count("missed (FN)") == 3, "decisions, causes and pages each have a legend"
        assert words.count("text lost") == 1, "of the pages alone"
        assert {font[3].partition("+")[2] for page in document for font in page.get_fonts()} == {
            "LayoutScope Sans Regular", "LayoutScope Sans Bold",
        }  # fmt: skip
        assert document.metadata["title"] == contents.title
        drawings = (shape for page in document for shape in page.get_drawings())
        bars = [shape for shape in drawings if shape["color"] and shape["width"] and shape["width"] > 1]
        assert len(bars) >= len(contents.keys)
    assert written.pages == 4


def test_marked_documents_carry_every_mistake_in_the_layer_of_its_model(packed: Packed) -> None:
    pypdf = pytest.importorskip("pypdf")
    contents, (marked,) = packed.contents, packed.marked
    assert contents.dataset is not None
    code = next(at for at, each in enumerate(contents.dataset.documents) if each.doc_id == GROUNDWATER)
    expected = list(notes_of(contents, code))
    assert marked.notes == len(expected)
    assert marked.path is not None
    # A second library reads what the first one wrote.
    document = pypdf.PdfReader(marked.path)
    seen = 0
    for index, page in enumerate(document.pages):
        wanted = [note for note in expected if note.page == index]
        marks = [each.get_object() for each in page.get("/Annots", [])]
        marks = [each for each in marks if each["/Subtype"] == "/Square"]
        assert len(marks) == len(wanted)
        seen += len(marks)
        width, height = float(page.mediabox.width), float(page.mediabox.height)
        for note, mark in zip(wanted, marks, strict=True):
            x1, y1, x2, y2 = (float(value) for value in mark["/Rect"])
            centre = ((x1 + x2) / 2 / width, 1 - (y1 + y2) / 2 / height)
            middle = ((note.xyxy[0] + note.xyxy[2]) / 2, (note.xyxy[1] + note.xyxy[3]) / 2)
            assert centre == pytest.approx(middle, abs=2e-3)
            assert mark["/Contents"] == note.text
            assert mark["/OC"].get_object()["/Name"] == note.layer
    assert seen == len(expected)
    assert {note.layer for note in expected} == {"A lines 1.0", "B blocks 1.0"}


TRIANGLE, SQUARE = [[0, 0], [60, 0], [0, 60]], [[40, 40], [60, 40], [60, 60], [40, 60]]


@pytest.fixture
def outlined(tmp_path: Path) -> Contents:
    """One missed region of two parts, in pixels of a page of 120 times 200, and no prediction of its label."""
    flat = [[float(value) for point in ring for value in point] for ring in (TRIANGLE, SQUARE)]
    region = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 60, 60], "segmentation": flat, "area": 3200}
    truth = {
        "images": [{"id": 1, "file_name": "sheet.pdf", "width": 120, "height": 200}],
        "categories": [{"id": 1, "name": "Text"}, {"id": 2, "name": "Table"}],
        "annotations": [region],
    }
    predicted = [{"image_id": 1, "category_id": 2, "bbox": [60, 100, 30, 50], "score": 0.5}]
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    (tmp_path / "dt.json").write_text(json.dumps(predicted))
    (evaluated,) = project.evaluate("coco", tmp_path / "gt.json", [tmp_path / "dt.json"], allow_no_match=True)
    assert isinstance(evaluated.result, CocoResult)
    return gather([evaluated.result.matching.at(0.5)], MODELS[:1], ReviewLog.of([]), PackOptions())


def test_outlines_are_in_the_pdf_and_in_marked_documents(tmp_path: Path, pool: PagePool, outlined: Contents) -> None:
    pypdf = pytest.importorskip("pypdf")
    sheet = pymupdf.open()
    sheet.new_page(width=120, height=200)
    sheet[0].set_rotation(90)
    (tmp_path / "pdf").mkdir()
    sheet.save(tmp_path / "pdf" / "sheet.pdf")
    write_pdf(tmp_path / "pack.pdf", outlined, Pictures(pool, tmp_path / "pdf"), progress=nothing)
    with pymupdf.open(tmp_path / "pack.pdf") as document:
        drawn = [path for page in document for path in page.get_drawings() if path.get("even_odd") and path["fill"]]
    # The cause, and the page.
    assert len(drawn) == 2
    for path in drawn:
        assert len(path["items"]) == 7
        corners = [item[1] for item in path["items"]]
        assert corners[3].x - corners[0].x == pytest.approx((corners[1].x - corners[0].x) * 2 / 3, rel=0.01)
    (marked,) = write_annotated(tmp_path, outlined, tmp_path / "pdf", progress=nothing)
    assert marked.path is not None
    page = pypdf.PdfReader(marked.path).pages[0]
    marks = [each.get_object() for each in page["/Annots"]]
    polygons = [each for each in marks if each["/Subtype"] == "/Polygon"]
    assert [each["/Contents"] for each in polygons] == ["Missed: Text\nMistake 1: Missed\nno prediction here"] * 2
    assert all(each["/OC"].get_object()["/Name"] == "A lines 1.0" for each in polygons)
    # The displayed page is 200 wide and 120 high, turned by a quarter: its x runs up the sheet, its y to the right.
    for mark, ring in zip(polygons, (TRIANGLE, SQUARE), strict=True):
        points = list(zip(*[iter(map(float, mark["/Vertices"]))] * 2, strict=True))
        shown = [(x / 120 * 200, y / 200 * 120) for x, y in ring]
        assert points == [pytest.approx((y, x), abs=0.2) for x, y in shown]


def test_a_document_that_is_not_there_or_no_pdf_is_told(tmp_path: Path, results: list[ThresholdResult]) -> None:
    contents = contents_of(results, documents=("river-districts.pdf",))
    (marked,) = write_annotated(tmp_path, contents, tmp_path, progress=nothing)
    assert marked.path is None
    assert marked.problem.startswith("PDF not found")
    fake = tmp_path / "river-districts.pdf"
    fake.write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    (marked,) = write_annotated(tmp_path, contents, tmp_path, progress=nothing)
    assert (marked.path, marked.problem) == (None, "The file is no PDF, so it cannot hold marks.")


def test_one_process_marks_many_documents_and_is_replaced_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pypdf = pytest.importorskip("pypdf")
    names = ("a.pdf", "b.pdf", "c.pdf")
    rows = [box(0.1, 0.1, 0.9, 0.3, document=name) for name in names]
    contents = gather([pair(join(ground_truth(rows), annotations(rows))).match().at(0.5)], MODELS[:1], ReviewLog.of([]),
                      PackOptions())  # fmt: skip
    documents = tmp_path / "pdf"
    documents.mkdir()
    for place, name in enumerate(names):
        (documents / name).write_bytes(pages(1 + place))

    def written() -> dict[str, bytes | None]:
        marked = write_annotated(tmp_path, contents, documents, progress=nothing)
        return {each.name: None if each.path is None else each.path.read_bytes() for each in marked}

    with monkeypatch.context() as few_each:
        few_each.setattr(marked_copies, "_DOCUMENTS_PER_PROCESS", 2)
        alone = written()
    assert list(alone) == list(names)
    assert [pypdf.PdfReader(io.BytesIO(content or b"")).get_num_pages() for content in alone.values()] == [1, 2, 3]
    assert written() == alone
    # It is tried in a fresh process too, and what follows is marked in another one.
    (documents / names[1]).write_bytes(b"no document")
    assert written() == {**alone, names[1]: None}


def test_a_changed_file_is_not_marked_and_a_writer_that_is_killed_is_told() -> None:
    path = str(SAMPLE / "pdf" / "river-districts.pdf")
    note = Note(0, (0.1, 0.1, 0.2, 0.2), "A", "#C75000", 1.0, False, "A", "text")
    with Writer() as writer, pytest.raises(WritingProblem, match=r"^The file has changed meanwhile\.$"):
        writer.send(Mark(path, "0" * 64, (note,)))
    with Writer(seconds=0.0) as writer, pytest.raises(WritingProblem, match="ended or took too long"):
        writer.send(Mark(path, "", ()))


def test_the_folder_has_every_form(packed: Packed, results: list[ThresholdResult]) -> None:
    folder, contents, events, marked = packed
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))
    assert names == [
        "decisions.csv", "findings.csv", "findings.json", "findings.parquet", "marked/groundwater-note-marked.pdf",
        "pack.html", "pack.pdf", "results.csv", "results.json", "results.parquet",
    ]  # fmt: skip
    assert [one.problem for one in marked] == [""]
    with (folder / "findings.csv").open(encoding="utf-8", newline="") as file:
        assert [row["event"] for row in csv.DictReader(file)] == [events[0].id], "of the two that which was chosen"
    value = json.loads((folder / "results.json").read_text())
    assert value["models"][0]["labels"][0]["tp"] == results[0].micro.row(0)["tp"]
    assert "NaN" not in (folder / "results.json").read_text()
    columns = pq.read_table(folder / "results.parquet").to_pydict()
    assert columns["tp"][0] == results[0].micro.row(0)["tp"]
    assert columns["predictions"][-1] == "B blocks 1.0, corrected"
    assert "corrected, " in columns["signature"][-1]
    assert len(tables.to_csv(contents).splitlines()) == 1 + len(columns["tp"])


def test_the_plan_never_promises_more_than_the_pages_there_are(pool: PagePool, results: list[ThresholdResult]) -> None:
    assert plan_of(contents_of(results, pages=0), Pictures(pool, None)).pages == ()


def test_the_head_names_the_models_and_the_rule_says_what_fails(results: list[ThresholdResult]) -> None:
    contents = contents_of(results)
    assert contents.question == "Ship blocks 1.0 instead of lines 1.0?"
    assert contents.decision is not None
    loss, main = rule_lines(contents.decision)
    assert (main.word, main.text) == ("cannot tell", "F1 is clearly higher by at least 1 point")
    assert main.number.startswith("+9.9 points, −1.5 to +22.5")
    assert (loss.word, loss.number) == ("fails", "Text recall −14.0 points")
    assert loss.text == "No clear loss of more than 5 points in F1, precision or recall"
    assert "F1 needs about 7 more documents." in documents_words(contents.decision, contents.differences)


def test_one_scale_has_every_clear_loss_and_f1_first(results: list[ThresholdResult]) -> None:
    plain_pack = contents_of(results)
    rows = [(row.name, row.note) for row in plain_pack.keys]
    assert rows[:3] == [("F1", "all labels"), ("Precision", "all labels"), ("Recall", "all labels")]
    of_recall = [one for one in plain_pack.differences if one.metric == "recall"]
    losses = {(one.metric, one.label) for one in of_recall if one.kind == "loss"}
    assert losses <= {(row.difference.metric, row.difference.label) for row in plain_pack.keys}
    assert contents_of(results[:1]).keys == ()
    corrected = contents_of(results, judged(results)).keys[1]
    assert (corrected.name, corrected.note) == ("F1", "corrected, 1 verdict applied")


def test_hand_work_is_told_in_hours() -> None:
    assert manual_work(Cost(839.0, 544.0), PackOptions()) == (
        "At 8 s a box: 1 h 52 min with A, 1 h 13 min with B.",
        "39 min less per 100 pages; for 20,000 pages a year 131 h.",
    )
    same = "At 8 s a box: 1 min with A, 1 min with B.", "As much work with both."
    assert manual_work(Cost(10.0, 10.0), PackOptions()) == same


def test_words_that_are_lost_are_on_pages_and_in_the_viewer(
    tmp_path: Path, pool: PagePool, results: list[ThresholdResult]
) -> None:
    contents = contents_of(results, documents=("groundwater-note.pdf",), pages=4)
    text = made(tmp_path, contents, pool)
    chapters, pages = text.split('<section id="pages">')
    for mark in ('class="lost"', "text lost"):
        assert (mark in chapters, mark in pages) == (False, True), "a cause shows the boxes of its caption"
    payloads = [json.loads(each) for each in Read(text).scripts if "layoutscope-viewer" not in each]
    page = contents.pages[0]
    _, name, index = contents.place(page)
    words = Pictures(pool, SAMPLE / "pdf").text(name, index)
    for model, layer in zip(contents.models, payloads[0]["models"], strict=True):
        assert layer["text"].get("lost_words") == html_pack.lost_text_on(model, page, words).lost_words


def test_a_list_of_labels_from_right_to_left_keeps_its_order_on_paper() -> None:
    side = SimpleNamespace(
        letter="A", name="m", counts="", picture=SimpleNamespace(problem=""),
        chips=[("FN", "1 FN \u05d0"), ("FP", "1 FP Table"), ("FP", "1 FP \u0639")],
    )  # fmt: skip
    text = html_pack.environment().get_template("print.html.j2").render(part="side", side=side)
    assert "1 FN \u05d0\u200e</b>, " in text
    assert "1 FP Table</b>, " in text


def test_one_mistake_is_counted_as_one(tmp_path: Path, pool: PagePool, results: list[ThresholdResult]) -> None:
    text = made(tmp_path, contents_of(results), pool, pdfs=None)
    assert ": 1 mistake, TP " in text
    assert ": 1 mistakes," not in text


def test_a_pack_of_some_documents_says_so_in_each_part(
    tmp_path: Path, pool: PagePool, results: list[ThresholdResult]
) -> None:
    contents = contents_of(results, [], pages=1, documents=(GROUNDWATER,))
    assert contents.notes == (
        "Numbers are over all documents; causes and pages are of groundwater-note.pdf only.",
        "Findings are only those of groundwater-note.pdf.",
    )
    words = r"\d+ with an example in groundwater-note\.pdf, most wrong boxes first: A has \d+ and B has \d+; of all doc"
    assert re.match(words, contents.causes_words)
    text = made(tmp_path, contents, pool, pdfs=None)
    assert "<h2>Pages <small>of groundwater-note.pdf: 1 shown, " in text
    everything = contents_of(results, [], pages=1)
    assert everything.notes == ()
    assert "<h2>Pages <small>1 shown, " in made(tmp_path, everything, pool, pdfs=None)
    path = tmp_path / "pack.pdf"
    write_pdf(path, contents, Pictures(pool, None), progress=nothing)
    with pymupdf.open(path) as document:
        printed = " ".join("".join(page.get_text() for page in document).split())
    assert "Boxes of B blocks 1.0; pages of groundwater-note.pdf." in printed
    assert contents.notes[0] in printed


def test_a_pack_of_some_verdicts_says_so(results: list[ThresholdResult]) -> None:
    one = contents_of(results, judged(results), pages=1, verdicts=("model_wrong",))
    assert one.notes[0] == "Findings are only those with the verdict model wrong."


def test_few_documents_are_named_and_more_are_counted() -> None:
    assert chosen.documents_in_words(PackOptions()) == ""
    assert chosen.documents_in_words(PackOptions(documents=("a.pdf", "b.pdf", "c.pdf"))) == "a.pdf, b.pdf and c.pdf"
    assert chosen.documents_in_words(PackOptions(documents=tuple("abcd"))) == "4 documents"


def test_a_verdict_that_is_not_applied_has_its_document_and_page(results: list[ThresholdResult]) -> None:
    events = [opinion(result, 0, 0, verdict="ground_truth_wrong") for result in results]
    assert contents_of(results, events, pages=1).notes == (
        "A verdict could not be applied: groundwater-note.pdf, page 1: a verdict is applied when no newer one changes "
        "the same box; found a newer one.",
    )
