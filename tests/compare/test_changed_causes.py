"""Causes of the mistakes that only one of two models makes: each changed box once, and what became of it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluator.compare.changed_causes import ChangedCauses, changed_causes
from evaluator.compare.ledger import ledger
from evaluator.components.compare.pair import pair_data
from evaluator.components.compare.pair_causes import box_keys, boxes_per_page, cause_items, key_of, pages_of, place_of
from evaluator.matching.causes import family_title
from tests.building import Box, box, random_rows, read_by_browser
from tests.components.test_pair import MODELS, NAMES, Results, results_of, sample

WHOLE = box(0.1, 0.1, 0.9, 0.5, label="Table")
ROWS = [box(0.1, y, 0.9, y + 0.08, score=0.5) for y in (0.1, 0.2, 0.3, 0.4)]
BELOW = box(0.1, 0.7, 0.9, 0.8)


def of(results: Results) -> ChangedCauses:
    return changed_causes(*results, ledger(*results))


def test_a_table_read_as_lines_is_one_cause_that_b_solves() -> None:
    """A reads the table as four boxes: one missed and four extra; B finds it, and invents a Figure below."""
    made = of(results_of([WHOLE], ROWS, [WHOLE._replace(score=0.9), BELOW._replace(score=0.4)]))
    assert [(family_title(family), made.change(place)) for place, family in enumerate(made.families)] == [
        ("Table read as several Figure boxes", "solved"), ("Extra Figure", "new"),
    ]  # fmt: skip
    assert (made.solved.tolist(), made.new.tolist()) == ([5, 0], [0, 1])
    assert [item["boxes"] for item in read_by_browser(cause_items(made, NAMES))] == [
        "A's 5 wrong boxes on 1 page", "B's 1 wrong box on 1 page",
    ]  # fmt: skip
    assert box_keys(made, 0) == {"g0", "a0", "a1", "a2", "a3"}
    assert box_keys(made, 1) == {"b1"}


def test_what_both_miss_is_not_solved() -> None:
    """A reads the table as four boxes and B as nothing: the boxes are gone, the table is not found."""
    made = of(results_of([WHOLE, BELOW], [*ROWS, BELOW._replace(score=0.5)], [BELOW._replace(score=0.5)]))
    assert [made.change(place) for place in range(len(made))] == ["partly"]
    (item,) = read_by_browser(cause_items(made, NAMES))
    assert (item["change"], item["tone"]) == ("Partly solved in B", "gain")
    assert item["words"] == (
        "Table read as several Figure boxes. Partly solved in B: 4 wrong only in A, which has 5 wrong boxes at 1 "
        "place; on 1 page, some ground truth is missed by both"
    )


def test_two_equal_models_have_none() -> None:
    made = of(results_of([WHOLE], ROWS, ROWS))
    assert len(made) == 0
    assert made.family.shape == (0,)
    assert cause_items(made, NAMES) == ()


def test_an_unknown_key_is_no_cause() -> None:
    assert place_of(of(sample()), "no/such/cause") is None


def random_results(seed: int) -> Results:
    truth, first = random_rows(seed, documents=2, pages=2)
    _, second = random_rows(seed + 1, documents=2, pages=2)
    return results_of(truth, first, [*first[::3], *second[::2]])


@given(seed=st.integers(0, 10_000))
def test_the_boxes_add_up_to_the_ledger_and_each_has_one_cause(seed: int) -> None:
    results = random_results(seed)
    both, made = ledger(*results), of(results)
    assert made.solved.sum() == both.total.gains[0]
    assert made.new.sum() == both.total.losses[0]
    assert np.bincount(made.page, minlength=both.dataset.pages).tolist() == both.per_page.changed.tolist()
    keys = [key for place in range(len(made)) for key in box_keys(made, place)]
    assert len(keys) == len(set(keys)) == len(made.family)
    assert (made.family >= 0).all()
    assert (np.diff(made.solved + made.new) <= 0).all()
    assert set(made.source.tolist()) <= {0, 1, 2}


@given(seed=st.integers(0, 10_000))
def test_swapping_the_models_exchanges_solved_and_new(seed: int) -> None:
    first, second = random_results(seed)
    one, other = of((first, second)), of((second, first))

    def counts(made: ChangedCauses) -> dict[str, tuple[int, int]]:
        return {
            key_of(family): (int(made.solved[place]), int(made.new[place]))
            for place, family in enumerate(made.families)
        }

    assert counts(one) == {key: (solved, new) for key, (new, solved) in counts(other).items()}


def test_the_pages_of_a_cause_draw_exactly_its_boxes() -> None:
    results = sample()
    both, made = ledger(*results), of(sample())
    for place in range(len(made)):
        rows, keys, drawn = pages_of(made, place, both), box_keys(made, place), set()
        boxes = boxes_per_page(made, place, both.dataset.pages)
        assert boxes[rows].sum() == made.solved[place] + made.new[place]
        assert (np.diff(boxes[rows]) <= 0).all()
        for row in rows.tolist():
            page = read_by_browser(pair_data(*results, both, row, models=MODELS, only=keys))
            full = [each for pane in page["panes"] for each in pane["boxes"] if each["full"]]
            drawn |= {each["partner"] if each["status"] == "TP" else each["key"] for each in full}
            assert {each["key"] for each in page["differences"]} <= keys
            assert page["differences"]
        assert drawn == keys


def test_a_label_counts_its_boxes_only() -> None:
    results = sample()
    both = ledger(*results).only(labels={"Text"})
    made = changed_causes(*results, both)
    assert made.solved.sum() == both.total.gains[0]
    assert made.new.sum() == both.total.losses[0]


def test_a_page_row_is_a_row_of_the_dataset() -> None:
    truth = [Box("a.pdf", 2, "Table", (0.1, 0.1, 0.5, 0.5), None), BELOW._replace(page=0)]
    assert sorted(of(results_of(truth, [], truth)).page.tolist()) == [0, 1]
