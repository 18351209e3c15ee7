"""A cell in words and numbers: exact sentences, which pages are behind it, which cell comes first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.protocols import pixel
from evaluator.protocols.pixel.cells import (
    CellFacts,
    asymmetry,
    cell_facts,
    cell_words,
    difference_words,
    share_text,
    worst_cell,
)
from tests.building import Box
from tests.protocols.test_protocol_pixel import rows, side


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
