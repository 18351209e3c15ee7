"""Text that a prediction loses or swallows: words by hand-worked pages, ink by painted ones."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from evaluator.components.viewer import text_lost
from evaluator.components.viewer.text_lost import PageText, Sides, WordsHeld, count_page, quoted, words_in_boxes
from evaluator.data.dataset import join
from evaluator.pdf import pool as pages_pdf
from evaluator.pdf.ink import cells_in, ink_lost, inked_stretches
from evaluator.pdf.pool import Ink, PagePool, Words
from evaluator.pdf.worker import InkGrid
from evaluator.protocols import snapshot
from tests.building import annotations as prediction
from tests.building import box, ground_truth, read_by_browser
from tests.dashboard import SAMPLE_DATA
from tests.sample_results import sample

# Six words in two columns: a b / c d / e f, 0.1 high, middles at y 0.05, 0.15, 0.25 and x 0.2, 0.7.
WORDS = np.array([[x, y, x + 0.2, y + 0.1] for y in (0.0, 0.1, 0.2) for x in (0.1, 0.6)])
TEXTS = ("a", "b", "c", "d", "e", "f")


def boxes(*rows: tuple[float, float, float, float]) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def sides(truth: np.ndarray, truth_label: list[int], prediction: np.ndarray, prediction_label: list[int]) -> Sides:
    codes = (np.array(each, dtype=np.int32) for each in (truth_label, prediction_label))
    first, second = codes
    return Sides(truth, first, prediction, second)


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def test_a_word_belongs_to_the_box_that_holds_its_middle() -> None:
    # The second is the edge.
    for box_, held in (((0.0, 0.0, 0.5, 0.16), [0, 2]), ((0.2, 0.05, 0.2, 0.05), [0])):
        assert np.flatnonzero(words_in_boxes(WORDS, boxes(box_))).tolist() == held
    assert words_in_boxes(WORDS, boxes()).tolist() == [False] * 6
    assert words_in_boxes(boxes(), boxes((0, 0, 1, 1))).tolist() == []


def test_many_words_and_boxes_are_taken_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    every = boxes((0, 0, 0.5, 0.1), (0.5, 0.2, 1, 0.3))
    whole = words_in_boxes(WORDS, every).tolist()
    monkeypatch.setattr(text_lost, "_AT_ONCE", 4)
    assert words_in_boxes(WORDS, every).tolist() == whole == [True, False, False, False, False, True]


# The ground truth is the whole page under label 0; a prediction of label 0 holds the first line, one of label 1 "c".
PAGE = sides(boxes((0, 0, 1, 1)), [0], boxes((0, 0, 1, 0.1), (0, 0.1, 0.5, 0.2)), [0, 1])


def test_words_of_a_page_by_label() -> None:
    counts = count_page(WORDS, PAGE, 3)
    assert [column.tolist() for column in counts] == [[6, 0, 0], [3, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert counts.plus(counts).words.tolist() == [12, 0, 0]
    assert count_page(boxes(), PAGE, 3).plus(text_lost.no_counts(3)).words.tolist() == [0, 0, 0]


def test_words_of_a_mistake() -> None:
    for truths, predictions, lost, elsewhere, foreign in (
        ([0], [0], [3, 4, 5], [2], []),
        # An invented box swallows what it holds.
        ([], [1], [], [], [2]),
        # A wrong class swallows nothing of its own ground truth.
        ([0], [1], None, None, []),
    ):
        held = WordsHeld(WORDS, PAGE).of_mistake(rows(*truths), rows(*predictions))
        assert held.foreign.tolist() == foreign
        assert lost is None or (held.lost.tolist(), held.elsewhere.tolist()) == (lost, elsewhere)
    twice = sides(boxes((0, 0, 1, 0.1)), [0], boxes((0, 0, 1, 0.1), (0, 0, 0.5, 0.1)), [0, 0])
    repeats = WordsHeld(WORDS, twice).of_mistake(rows(), rows(1))
    assert repeats.foreign.tolist() == [], "a second box on a ground truth swallows nothing"


def test_a_count_over_pages_goes_on_and_can_be_stopped() -> None:
    """Page 0 has the words of this module, page 1 no text layer, page 2 cannot be read, page 3 the words again."""
    truth = [box(0, 0, 1, 1, page=page) for page in range(4)]
    predicted = [
        row._replace(page=page)
        for page in range(4)
        for row in (box(0, 0, 1, 0.1), box(0, 0.1, 0.5, 0.2, label="Table"))
    ]
    dataset = join(ground_truth(truth), prediction(predicted))
    result = snapshot.pair(dataset, 0, iou_floor=snapshot.IOU_FLOOR).match().at(0.5)
    words = {0: WORDS, 1: boxes(), 2: None, 3: WORDS}
    asked: list[int] = []

    def words_of(page: int) -> np.ndarray | None:
        asked.append(page)
        return words[page]

    counted = text_lost.count_pages(result, np.arange(4), words_of)
    first = next(counted)
    assert (first.pages, first.silent, asked) == (1, 0, [0]), "nothing is read before it is wanted"
    assert [column.tolist() for column in first.counts] == [[6, 0], [3, 0], [1, 0], [0, 1]]
    *_, last = counted
    assert (last.pages, last.silent) == (4, 2)
    assert last.rows(("Figure", "Table")) == [
        {"label": "Figure", "words": 12, "lost": 6, "share": 0.5, "elsewhere": 2, "foreign": 0},
        {"label": "Table", "words": 0, "lost": 0, "share": None, "elsewhere": 0, "foreign": 2},
        {"label": None, "words": 12, "lost": 6, "share": 0.5, "elsewhere": 2, "foreign": 2},
    ]
    assert list(text_lost.count_pages(result, np.arange(0), words_of)) == []
    assert text_lost.TextSummary(text_lost.no_counts(2), 3, 3).rows(("Figure", "Table")) == []


@given(st.integers(0, 10_000))
def test_lost_elsewhere_and_found_make_up_the_words(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 0.8, (40, 2))
    words = np.hstack([low, low + rng.uniform(0.001, 0.1, (40, 2))])
    corners = np.sort(rng.uniform(0, 1, (9, 2, 2)), axis=1).reshape(9, 4)
    page = sides(corners[:4], rng.integers(0, 3, 4).tolist(), corners[4:], rng.integers(0, 3, 5).tolist())
    counts = count_page(words, page, 3)
    predicted = words_in_boxes(words, page.prediction)
    for code in range(3):
        mine = words_in_boxes(words, page.truth[page.truth_label == code])
        covered = words_in_boxes(words, page.prediction[page.prediction_label == code])
        assert counts.words[code] - counts.lost[code] - counts.elsewhere[code] == (mine & covered).sum()
        assert counts.lost[code] == sum(bool(m and not p) for m, p in zip(mine, predicted, strict=True))
    lost = text_lost.lost_words(words, page)
    assert counts.lost.max() <= lost.sum() <= counts.lost.sum()


def test_the_line_of_the_list() -> None:
    assert quoted(TEXTS, rows(), "lost") == ""
    assert quoted(TEXTS, rows(2), "lost") == "lost “c” (1 word)"
    words = ("Figure", "3.", "Households", "by", "region,", "2015", "and", "2024")
    assert quoted(words, rows(*range(5)), "lost") == "lost “Figure 3. Households by region,” (5 words)"
    assert quoted(words * 2, rows(*range(16)), "lost") == "lost “Figure 3. Households by region, 2015 and …” (16 words)"
    assert quoted(("x" * 90,), rows(0), "takes in") == f"takes in “{'x' * 40}…” (1 word)"


def test_cells_whose_middle_lies_in_a_box() -> None:
    assert cells_in((2, 4), boxes((0.0, 0.0, 0.5, 0.5))).tolist() == [[True, True, False, False], [False] * 4]
    assert cells_in((2, 4), boxes((0.1, 0.0, 0.37, 1.0))).tolist() == [[True, False, False, False]] * 2
    assert cells_in((2, 4), boxes((0.13, 0.0, 0.38, 0.26))).tolist() == [[False, True, False, False], [False] * 4]
    assert not cells_in((2, 4), boxes()).any()


def test_the_share_of_the_ink_that_is_lost() -> None:
    cells = np.zeros((4, 4), dtype=np.uint8)
    cells[0], cells[2] = 200, 100
    ink = Ink(cells)
    whole, half = boxes((0, 0, 1, 1)), boxes((0, 0, 1, 0.5))
    lost = ink_lost(ink, whole, half)
    assert lost.share == pytest.approx(1 / 3)
    assert lost.cells.tolist() == [[False] * 4] * 2 + [[True] * 4] * 2
    assert ink_lost(ink, whole, boxes()).share == 1.0
    assert ink_lost(ink, boxes((0, 0.75, 1, 1)), boxes()).share is None, "no ink, no share"
    assert read_by_browser(inked_stretches(ink, lost.cells)) == [[0.0, 0.5, 1.0, 0.75]]


def test_stretches_close_small_gaps_and_join_equal_rows() -> None:
    cells = np.zeros((4, 10), dtype=np.uint8)
    cells[0:2, [0, 1, 3]] = 255
    cells[0:2, 8] = 255
    drawn = read_by_browser(inked_stretches(Ink(cells), np.ones((4, 10), dtype=bool)))
    assert drawn == [[0.0, 0.0, 0.4, 0.5], [0.8, 0.0, 0.9, 0.5]]


def lines_of(page: PageText, truths: list[int], predictions: list[int]) -> list[str]:
    return list(text_lost.mistake_texts(page, PAGE, [(rows(*truths), rows(*predictions))])[0].lines)


def test_a_page_with_words_is_never_told_by_its_ink() -> None:
    page = PageText(Words(WORDS, TEXTS), Ink(np.full((4, 4), 255, dtype=np.uint8)))
    lost = {"lost": WORDS[3:].tolist(), "lost_words": 3, "lost_ink": None}
    assert read_by_browser(text_lost.page_lost(page, PAGE)) == lost
    assert lines_of(page, [0], [0]) == ["lost “d e f” (3 words)", "1 word under other labels"]


def test_a_page_without_words_says_so() -> None:
    cells = np.zeros((10, 10), dtype=np.uint8)
    cells[[0, 5]] = 255
    page = PageText(Words(boxes(), ()), Ink(cells))
    drawn = read_by_browser(text_lost.page_lost(page, PAGE))
    assert (drawn["lost_words"], drawn["lost_ink"]) == (None, pytest.approx(0.5))
    assert lines_of(page, [0], [0]) == ["no text layer: 50.0 % of its ink lost"]
    assert lines_of(page, [], [1]) == []
    blank = PageText(Words(boxes(), ()), None)
    assert read_by_browser(text_lost.page_lost(blank, PAGE)) == {"lost": [], "lost_words": None, "lost_ink": None}


def painted(path: Path, *, ink: str, paper: str) -> Path:
    image = Image.new("RGB", (400, 200), paper)
    ImageDraw.Draw(image).rectangle((0, 0, 199, 99), fill=ink)
    image.save(path)
    return path


def test_ink_is_what_stands_out_from_the_paper(tmp_path: Path) -> None:
    with PagePool(workers=1, spares=0) as pool:
        for number, (ink, paper) in enumerate([("black", "white"), ("#333333", "#d0d0d0"), ("white", "#101828")]):
            cells = pool.ink(painted(tmp_path / f"{number}.png", ink=ink, paper=paper), 0).cells
            assert (cells.shape, cells.dtype, cells.flags.writeable) == ((80, 160), np.uint8, False)
            wanted = np.zeros((80, 160), dtype=np.uint8)
            wanted[:40, :80] = 255
            edge = np.ones((80, 160), dtype=bool)
            edge[38:42], edge[:, 78:82] = False, False
            assert (cells[edge] == wanted[edge]).all()
        blank = pool.ink(painted(tmp_path / "blank.png", ink="white", paper="white"), 0).cells
        assert not blank.any()


@pytest.mark.parametrize("cells", [b"", b"123", b"12345"])
def test_a_grid_with_missing_cells_is_not_taken(cells: bytes) -> None:
    with pytest.raises(pages_pdf.ProcessLost, match="missing cells"):
        pages_pdf._checked(InkGrid(2, 2, cells))


def test_the_ink_of_a_scanned_page_lies_where_its_ground_truth_is() -> None:
    """A scan of the sample data without a text layer: nearly all of its ink is inside the boxes."""
    mine = sample().ground_truth.xyxy[sample().ground_truth.page == sample().page_row("scanned-minutes-1997.pdf", 1)]
    assert len(mine) > 3
    with PagePool(workers=1, spares=0) as pool:
        path = SAMPLE_DATA / "pdf" / "scanned-minutes-1997.pdf"
        assert pool.words(path, 1).texts == ()
        cells = pool.ink(path, 1).cells
    assert cells[cells_in(cells.shape, mine)].sum() / cells.sum() > 0.9
    assert ink_lost(Ink(cells), mine, mine).share == 0.0
