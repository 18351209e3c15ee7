"""Behind a matrix of pixels: a cell in words, where its pixels are, and one matrix minus another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.metrics.pixel_counts import Resolution
from evaluator.protocols import pixel
from evaluator.protocols.pixel import regions as pixel_regions
from evaluator.protocols.pixel.cells import (
    CellFacts,
    asymmetry,
    cell_facts,
    cell_words,
    difference_words,
    share_text,
    worst_cell,
)
from evaluator.protocols.pixel.difference import KINDS, difference, largest
from evaluator.protocols.pixel.regions import CutPage, Region
from tests.building import Box, annotations, box, ground_truth
from tests.painting import cell_mask
from tests.protocols.test_protocol_pixel import KEYS, LABELS, fractions, rows, side


def facts(**changed: object) -> CellFacts:
    start = {"row": "Table", "column": "Background", "pixels": 1_309_000.0, "row_pixels": 11_690_000, "pages": 96}
    return CellFacts(**{**start, "row_pages": 181, "behind": (), **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({}, "11.2 % of Table pixels became background"),
        ({"column": "Text"}, "11.2 % of Table pixels became Text"),
        ({"column": "Table", "pixels": 9_750_000.0}, "83.4 % of Table pixels stayed Table"),
        ({"row": "Background", "column": "Table"}, "11.2 % of background pixels became Table"),
        ({"pixels": 0.0}, "0 % of Table pixels became background"),
        ({"pixels": 11_689_999.0}, "99.9 % of Table pixels became background"),
        ({"pixels": 10.0}, "under 0.1 % of Table pixels became background"),
        ({"row_pixels": 0, "pixels": 0.0}, "No Table pixels on these pages"),
    ],
)
def test_the_sentence_of_a_cell(changed: dict[str, object], sentence: str) -> None:
    assert cell_words(facts(**changed))[0] == sentence


def test_the_numbers_of_a_cell() -> None:
    assert cell_words(facts())[1] == "1,309,000 of 11,690,000 pixels, on 96 of 181 pages with Table"
    assert cell_words(facts(pages=1, row_pages=1))[1].endswith("on 1 of 1 page with Table")
    halves = cell_words(facts(row="Background", pixels=70 / 3))[1]
    assert halves == "23.3 of 11,690,000 pixels, on 96 of 181 pages with background"
    assert cell_words(facts(row_pixels=0))[1] == "Its row is empty, so shares of it are undefined."


def test_nothing_becomes_anything_between_two_predictions() -> None:
    assert cell_words(facts(), models=("A", "B"))[0] == "11.2 % of Table pixels of A are background in B"
    assert cell_words(facts(row_pixels=0), models=("A", "B"))[0] == "No Table pixels in A on these pages"


def test_two_models_in_one_sentence() -> None:
    head, detail = difference_words(facts(), facts(pixels=1_005_340.0, pages=1), ("A", "B"))
    assert head == "A: 11.2 % of Table pixels became background; B: 8.6 %"
    assert detail == "A 1,309,000 pixels on 96 pages, B 1,005,340 pixels on 1 page, of 11,690,000 pixels"
    assert difference_words(facts(row_pixels=0), facts(row_pixels=0), ("A", "B"))[0] == "No Table pixels on these pages"
    assert difference_words(facts(), facts(row_pixels=0, pixels=0.0), ("A", "B"))[0].endswith("; B: n/a")


@pytest.mark.parametrize(("share", "text"), [(0.00051, "0.1 %"), (0.9994, "99.9 %"), (1.0, "100 %"), (1.5, "150.0 %")])
def test_shares_are_rounded_without_lying(share: float, text: str) -> None:
    assert share_text(share) == text


@given(first=rows, second=rows, row=st.integers(0, 4), column=st.integers(0, 4), pages=st.sets(st.integers(0, 3)))
def test_facts_are_sums_of_pages(first: list[Box], second: list[Box], row: int, column: int, pages: set[int]) -> None:
    result = pixel.evaluate(side(first), side(second))
    chosen = np.array(sorted(pages), dtype=np.int64)
    facts = cell_facts(result, row, column, pages=chosen)
    matrices = result.per_page.matrices.confusion[chosen, row, column]
    assert facts.pixels == pytest.approx(matrices.sum(), abs=1e-9)
    assert facts.row_pixels == round(result.per_page.matrices.confusion[chosen, row].sum())
    assert facts.pages == int((matrices > 0).sum()) == len(facts.behind)
    assert {each.page for each in facts.behind} <= pages
    assert [each.pixels for each in facts.behind] == sorted((each.pixels for each in facts.behind), reverse=True)
    everything = cell_facts(result, row, column)
    assert everything.pixels == pytest.approx(result.whole.matrices.confusion[0, row, column], abs=1e-9)
    assert cell_facts(result, row, column, limit=1).behind == everything.behind[:1]


def test_the_worst_cell_is_the_most_pixels_of_a_class_that_went_elsewhere() -> None:
    assert worst_cell(np.array([[90.0, 50.0, 0.0], [3.0, 10.0, 7.0], [5.0, 0.0, 1.0]])) == (1, 2)
    assert worst_cell(np.array([[90.0, 50.0], [0.0, 10.0]])) == (0, 1)
    assert worst_cell(np.diag([5.0, 4.0])) == (0, 0)
    assert worst_cell(np.array([[7.0]])) == (0, 0)


def test_why_two_predictions_cannot_be_swapped() -> None:
    label = side([Box("x", 0, "a", (0, 0, 7, 11))])
    both = side([Box("x", 0, "a", (0, 0, 7, 11)), Box("x", 0, "b", (0, 0, 14, 11))])
    one, other = pixel.evaluate(label, both), pixel.evaluate(both, label)
    assert not (one.whole.matrices.confusion[0] == other.whole.matrices.confusion[0].T).all()
    assert pixel.ORDER_MATTERS in one.to_json()["notes"]
    # What the sentence says: a label that the second side adds halves the recall of the first side's label there ...
    assert one.whole.recall[0, 1] == 0.5
    # ... and one that only the first side has does not.
    assert other.whole.recall[0, 1] == 1.0
    assert asymmetry(one.whole, 0, ("A", "B")) == (
        "Rows are A, columns B. Swapping them does not mirror the matrix: a label that only B adds to a pixel takes a "
        "share from A's label there and lowers its recall; a label that only A has does not. A labels 12.5 % of the "
        "pixels, B 25.0 %."
    )
    assert asymmetry(pixel.evaluate(label, label).whole, 0, ("A", "B")).endswith("only A has does not.")


@given(truth=rows, first=rows, second=rows, kind=st.sampled_from(KINDS))
def test_it_is_the_difference_of_the_two_matrices(
    truth: list[Box], first: list[Box], second: list[Box], kind: str
) -> None:
    a, b = (pixel.evaluate(side(truth), side(predicted)) for predicted in (first, second))
    forth, back = difference(a.whole, b.whole, kind), difference(b.whole, a.whole, kind)
    expected = getattr(a.whole.matrices, kind)[0] - getattr(b.whole.matrices, kind)[0]
    assert forth.classes == a.classes
    assert np.array_equal(forth.values, expected, equal_nan=True)
    assert np.array_equal(back.values, -expected, equal_nan=True)
    assert (forth.gain == -back.gain).all()
    assert forth.limit == back.limit == largest(expected)
    none = difference(a.whole, a.whole, kind)
    assert none.limit == 0.0
    assert not none.gain.any()


@given(truth=rows, first=rows, second=rows)
def test_a_class_that_only_one_prediction_has_is_nothing_in_the_other(
    truth: list[Box], first: list[Box], second: list[Box]
) -> None:
    plain = [box for box in truth if box.label != "d"]
    only_first = [box for box in second if box.label not in ("c", "d")]
    labels = ("a", "b", "c"), LABELS, ("a", "b")
    reference, a, b = (side(boxes, names) for boxes, names in zip((plain, first, only_first), labels, strict=True))
    one, other = (pixel.evaluate(reference, change, classes="same") for change in (a, b))
    assert one.classes != other.classes
    # The same boxes under a label map that has every class.
    everywhere = pixel.evaluate(side(plain), side(only_first))
    for kind in KINDS:
        change = difference(one.whole, other.whole, kind)
        assert change.classes == one.classes
        assert np.array_equal(change.second, getattr(everywhere.whole.matrices, kind)[0], equal_nan=True)


def test_pixels_are_subtracted_exactly() -> None:
    truth = side([Box("x", 0, "a", (0, 0, 10, 10))])
    overlapping = [Box("x", 0, name, (0, 0, 10, 7)) for name in ("a", "b", "c")]
    a, b = (pixel.evaluate(truth, side(change)) for change in (overlapping, overlapping[1:]))
    change = difference(a.whole, b.whole, "confusion")
    exact = [
        [float(one - other) for one, other in zip(*lines, strict=True)]
        for lines in zip(fractions(a.whole.matrices), fractions(b.whole.matrices), strict=True)
    ]
    assert np.allclose(change.values, exact, rtol=1e-14)
    # 70 pixels of "a": a third stays, a third goes to each of the others; without "a" half goes to each.
    row = change.values[change.classes.index("a")]
    assert row.tolist() == pytest.approx([0.0, 70 / 3, 70 / 3 - 35, 70 / 3 - 35, 0.0])
    assert change.gain[change.classes.index("a")].tolist() == [0, 1, 1, 1, 0]


def test_scopes_are_chosen_for_each() -> None:
    truth = side([Box("x", 0, "a", (0, 0, 4, 4)), Box("y", 1, "b", (0, 0, 4, 4))])
    result = pixel.evaluate(truth, truth)
    change = difference(result.per_page, result.per_page, "confusion", rows=(0, 3))
    assert change.values[1:3, 1:3].tolist() == [[16.0, 0.0], [0.0, -16.0]]
    assert change.limit == 16.0


def test_undefined_stays_undefined_and_is_no_gain() -> None:
    truth = side([Box("x", 0, "a", (0, 0, 4, 4))])
    result = pixel.evaluate(truth, truth)
    change = difference(result.whole, result.whole, "recall")
    assert np.isnan(change.values[2]).all()
    assert not change.gain[2].any()
    assert largest(np.full((2, 2), np.nan)) == 0.0
    assert largest(np.array([[7.0]])) == 0.0


def test_a_kind_that_does_not_exist() -> None:
    result = pixel.evaluate(side([]), side([]))
    with pytest.raises(ValueError, match="kind must be one of confusion, precision, recall, f1; found iou"):
        difference(result.whole, result.whole, "iou")


def test_the_first_side_has_a_score_threshold_of_its_own() -> None:
    low, high = Box("x", 0, "a", (0, 0, 4, 4), 0.2), Box("x", 0, "b", (4, 4, 8, 8), 0.9)
    result = pixel.evaluate(side([low, high]), side([low, high]), min_score=0.1, first_min_score=0.5)
    pixels = dict(zip(result.classes, result.whole.first_pixels[0].tolist(), strict=True))
    assert (pixels["a"], pixels["b"]) == (0, 16)
    assert result.whole.second_pixels[0, 1] == 16
    assert "score of the first side ≥ 0.50" in result.signature.line


def painted(region: Region, shape: tuple[int, int]) -> np.ndarray:
    times = np.zeros(shape, dtype=int)
    for x1, y1, x2, y2 in region.rectangles.tolist():
        assert x1 < x2
        assert y1 < y2
        times[y1:y2, x1:x2] += 1
    return times


def drawn(region: Region) -> set[tuple[str, int, int]]:
    steps: list[tuple[str, int, int]] = []
    for x1, y1, x2, y2 in region.outline.tolist():
        assert (x1 == x2) != (y1 == y2)
        steps += [("-", x, y1) for x in range(x1, x2)] + [("|", x1, y) for y in range(y1, y2)]
    assert len(steps) == len(set(steps)), "lines lie on each other"
    return set(steps)


def around(mask: np.ndarray) -> set[tuple[str, int, int]]:
    padded = np.pad(mask, 1)
    steps = set()
    for y, x in np.argwhere(np.ones_like(mask)).tolist() if mask.size else []:
        if mask[y, x]:
            steps |= {("-", x, y)} if not padded[y, x + 1] else set()
            steps |= {("-", x, y + 1)} if not padded[y + 2, x + 1] else set()
            steps |= {("|", x, y)} if not padded[y + 1, x] else set()
            steps |= {("|", x + 1, y)} if not padded[y + 1, x + 2] else set()
    return steps


@given(first=rows, second=rows, row=st.integers(0, 4), column=st.integers(0, 4), at_once=st.integers(1, 40))
def test_a_region_is_the_painted_mask(first: list[Box], second: list[Box], row: int, column: int, at_once: int) -> None:
    result = pixel.evaluate(side(first), side(second))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pixel_regions, "_PARTS_AT_ONCE", at_once)
        regions = [result.cell_region(page, row, column) for page in range(len(KEYS))]
    for page, part in enumerate(regions):
        mask = cell_mask(result, page, row, column)
        assert (painted(part, mask.shape) == mask).all()
        assert (drawn(part), part.pixels) == (around(mask), int(mask.sum()))


def test_a_table_that_is_cut_off_leaves_one_rectangle() -> None:
    truth = side([Box("x", 0, "a", (2, 1, 8, 9))])
    result = pixel.evaluate(truth, side([Box("x", 0, "a", (2, 1, 8, 5))]))
    page, row = 0, result.classes.index("a")
    part = result.cell_region(page, row, 0)
    assert part.rectangles.tolist() == [[2, 5, 8, 9]]
    assert sorted(part.outline.tolist()) == [[2, 5, 2, 9], [2, 5, 8, 5], [2, 9, 8, 9], [8, 5, 8, 9]]
    assert part.pixels == 24
    assert cell_facts(result, row, 0).behind[0].pixels == 24.0


NOTHING = Resolution(np.empty(0, int), np.empty(0, int), np.empty((0, 4)))


def test_the_background_reaches_to_the_edge_of_the_page_with_a_hole() -> None:
    boxes = Resolution(np.array([0]), np.array([1]), np.array([[1.0, 1.0, 3.0, 3.0]]))
    part = CutPage(boxes, NOTHING, (4, 5)).region([(1, 1)])
    assert part.rectangles.tolist() == [[0, 0, 4, 1], [0, 1, 1, 3], [3, 1, 4, 3], [0, 3, 4, 5]]
    assert part.pixels == 16
    assert [1, 1, 3, 1] in part.outline.tolist()
    assert [0, 0, 4, 0] in part.outline.tolist()


@pytest.mark.parametrize(("size", "pairs"), [((0, 0), [(1, 1)]), ((9, 9), [])])
def test_no_pixel_has_no_rectangle(size: tuple[int, int], pairs: list[tuple[int, int]]) -> None:
    part = CutPage(NOTHING, NOTHING, size).region(pairs)
    assert part.rectangles.shape == part.outline.shape == (0, 4)
    assert part.pixels == 0


def test_a_page_too_large_to_paint_still_has_a_region() -> None:
    wide = (1 << 20) - 1
    one = Resolution(np.array([0]), np.array([63]), np.array([[0.0, 0.0, wide, wide]]))
    assert CutPage(one, NOTHING, (wide, wide)).region([(1 << 63, 1)]).pixels == wide * wide


def test_shares_of_a_page_whose_width_is_no_whole_number() -> None:
    truth = ground_truth([box(0.5, 0.5, 1.0, 1.0, label="Table")])
    result = pixel.evaluate(truth, annotations([]), page_size=(10.5, 20.0))
    assert result.size.tolist() == [[11, 20]]
    assert result.extent.tolist() == [[10.5, 20.0]]
    assert result.cell_region(0, result.classes.index("Table"), 0).rectangles.tolist() == [[5, 10, 11, 20]]
