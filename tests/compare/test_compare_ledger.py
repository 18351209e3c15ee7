"""The ledger: a page worked by hand, and what must hold for any two models under any protocol that matches boxes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.compare import labels
from evaluator.compare.comparison import compare
from evaluator.compare.ledger import NOT_COUNTED, OUTCOMES, Ledger, LedgerCounts, ledger
from evaluator.data.boxes import iou
from evaluator.data.dataset import Dataset, join
from evaluator.matching.box_results import BoxResult
from evaluator.metrics.resampling import LEAST_RESAMPLES
from evaluator.protocols import coco, pod, snapshot
from tests.building import Box, annotations, box, ground_truth, shuffled
from tests.comparing import names, side, snapshot_results, two_models

seeds = st.integers(0, 10**6)
COLUMNS = ("both", "a_only", "b_only", "neither", "shared", "a_invents", "b_invents")

PROTOCOLS: dict[str, Callable[[Dataset, int], BoxResult[Any]]] = {
    "snapshot": lambda dataset, model: snapshot.pair(dataset, model).match().at(0.5),
    "pod": lambda dataset, model: pod.pair(dataset, model).match().at(0.6),
    "coco": lambda dataset, model: coco.pair(dataset, model).match().at(0.5),
}
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def results_of(protocol: str, seed: int, *, swap: bool = False) -> tuple[Dataset, BoxResult[Any], BoxResult[Any]]:
    truth, a, b = two_models(seed)
    models = (b, a) if swap else (a, b)
    documents = names(5)
    dataset = join(side(truth, documents, truth=True), *(side(rows, documents) for rows in models))
    return dataset, PROTOCOLS[protocol](dataset, 0), PROTOCOLS[protocol](dataset, 1)


# Four ground truths on page 1, one on page 2: found by both, by A, by B, by nobody; the Table on page 2 by A.
TRUTH = [
    box(0.0, 0.0, 0.2, 0.2),
    box(0.3, 0.0, 0.5, 0.2),
    box(0.6, 0.0, 0.8, 0.2),
    box(0.0, 0.5, 0.2, 0.7, label="Table"),
    box(0.0, 0.0, 0.2, 0.2, label="Table", page=1),
]
# One invention of both models (IoU 2/3), one of A, two of B; the second B box near the shared one is left alone.
A = [TRUTH[0], TRUTH[1], TRUTH[4], box(0.5, 0.5, 0.7, 0.6), box(0.9, 0.9, 1.0, 1.0, label="Table", page=1)]
B = [TRUTH[0], TRUTH[2], box(0.5, 0.5, 0.65, 0.6), box(0.55, 0.5, 0.7, 0.6), box(0.9, 0.9, 1.0, 1.0, page=1)]


def by_hand() -> Ledger:
    return ledger(*snapshot_results(TRUTH, A, B))


def rows_of(counts: LedgerCounts) -> list[tuple[int, ...]]:
    return list(zip(*(getattr(counts, name).tolist() for name in COLUMNS), strict=True))


def test_every_box_of_a_hand_worked_page() -> None:
    expected = by_hand()
    assert [OUTCOMES[code] for code in expected.truth_outcome] == ["both", "a_only", "b_only", "neither", "a_only"]
    assert (expected.a.row.tolist(), expected.a.partner.tolist()) == ([3, 4], [2, -1])
    assert (expected.b.row.tolist(), expected.b.partner.tolist()) == ([2, 3, 4], [3, -1, -1])
    assert rows_of(expected.total) == [(1, 2, 1, 1, 1, 1, 2)]
    assert rows_of(expected.per_label) == [(1, 1, 1, 0, 1, 0, 2), (0, 1, 0, 1, 0, 1, 0)]
    assert rows_of(expected.per_page) == [(1, 1, 1, 1, 1, 0, 1), (0, 1, 0, 0, 0, 1, 1)]
    assert rows_of(expected.per_document) == rows_of(expected.total)
    # Page 1: B fixes one, breaks one and invents one more. Page 2: it breaks one, and one invention replaces another.
    assert (expected.per_page.gains.tolist(), expected.per_page.losses.tolist()) == ([1, 1], [2, 2])
    assert (expected.per_page.net.tolist(), expected.per_page.net_found.tolist()) == ([-1, -1], [0, -1])


def test_plain_values_have_the_keys_of_the_contract() -> None:
    expected = by_hand()
    assert expected.to_json()["Figure"] == {
        "both": 1, "a_only": 1, "b_only": 1, "neither": 0,
        "false_positives_shared": 1, "false_positives_a_only": 0, "false_positives_b_only": 2, "net": -2,
    }  # fmt: skip
    assert expected.false_positives_json() == {"shared": 1, "a_only": 1, "b_only": 2}
    first = expected.pages_json()[0]
    assert (first["document"], first["page"], first["gains"], first["losses"], first["net"]) == ("a.pdf", 0, 1, 2, -1)


def test_worst_pages_first_and_unchanged_ones_where_the_net_change_is_0() -> None:
    truth = [box(0.0, 0.0, 0.2, 0.2, page=page) for page in range(4)]
    a, b = [truth[0], truth[1]], [truth[0], truth[2], truth[3]._replace(xyxy=(0.8, 0.8, 0.9, 0.9))]
    compared = ledger(*snapshot_results(truth, a, b))
    assert compared.per_page.net.tolist() == [0, -1, 1, -1]
    assert compared.pages.tolist() == [1, 3, 0, 2]
    assert [page["page"] for page in compared.pages_json()] == [1, 3, 2]


def test_some_labels_or_documents() -> None:
    expected = by_hand()
    tables = expected.only(labels=["Table"])
    assert (tables.labels, rows_of(tables.total)) == (("Table",), [(0, 1, 0, 1, 0, 1, 0)])
    assert (tables.truth_outcome == NOT_COUNTED).tolist() == [True, True, True, False, False]
    assert rows_of(expected.only(documents=[]).total) == [(0,) * 7]
    assert rows_of(expected.only(documents=["a.pdf"]).total) == rows_of(expected.total)
    assert expected.only(labels=["no such"]).per_label.both.tolist() == []


def test_a_label_that_is_not_scored_takes_no_part() -> None:
    truth = [box(0.0, 0.0, 0.2, 0.2, label="For review"), box(0.3, 0.0, 0.5, 0.2)]
    compared = ledger(*snapshot_results(truth, truth, []))
    assert compared.truth_outcome.tolist() == [NOT_COUNTED, 1]
    assert (len(compared.a), len(compared.b)) == (0, 0)


def test_nothing_at_all() -> None:
    compared = ledger(*snapshot_results([], [], []))
    assert rows_of(compared.total) == [(0,) * 7]
    assert compared.pages.tolist() == []


def test_what_cannot_be_compared_is_refused() -> None:
    one, other = snapshot_results(TRUTH, A, B)
    for (_, second), sentence in (
        (snapshot_results(TRUTH, A, B, iou=0.75), "at one IoU threshold; found 0.5 and 0.75"),
        (snapshot_results(TRUTH, A, B, labels=["Table"]), "on the same labels; found different ones"),
        (snapshot_results(TRUTH[:2], A, B), "as predictions of one dataset; found two datasets"),
    ):
        with pytest.raises(ValueError, match=f"^two models are compared {sentence}$"):
            ledger(one, second)
    assert rows_of(ledger(one, snapshot_results(TRUTH, A, B)[1]).total) == rows_of(ledger(one, other).total)


def test_ground_truth_that_counts_for_one_model_only_is_refused() -> None:
    truth, documents = [box(0.0, 0.0, 0.01, 0.01)], ["a.pdf"]
    # Shares of the page: only the first prediction has page sizes, so only there the small box is ignored.
    sized = side(truth, documents, page=(1000.0, 1000.0))
    given = side(truth, documents)
    with_size = replace(given, page_size=sized.page_size)
    dataset = join(with_size, with_size, given)
    with pytest.raises(ValueError, match="some that counts for one of them only"):
        ledger(*(pod.pair(dataset, model).match(lenient=True).at(0.6) for model in (0, 1)))


@each_protocol
@given(seed=seeds)
def test_the_ledger_adds_up_to_both_results(protocol: str, seed: int) -> None:
    _, a, b = results_of(protocol, seed)
    compared = ledger(a, b)
    for counts, name in (("total", "micro"), ("per_label",) * 2, ("per_page",) * 2, ("per_document",) * 2):
        rows, of_a, of_b = getattr(compared, counts), getattr(a, name), getattr(b, name)
        assert (rows.both + rows.a_only == of_a.tp).all()
        assert (rows.b_only + rows.neither == of_a.fn).all()
        assert (rows.both + rows.b_only == of_b.tp).all()
        assert (rows.a_only + rows.neither == of_b.fn).all()
        assert (rows.shared + rows.a_invents == of_a.fp).all()
        assert (rows.shared + rows.b_invents == of_b.fp).all()
        assert (rows.net == of_a.mistakes - of_b.mistakes).all()
        assert (rows.net == rows.gains - rows.losses).all()


@each_protocol
@given(seed=seeds)
def test_swapping_the_models_swaps_the_ledger(protocol: str, seed: int) -> None:
    _, a, b = results_of(protocol, seed)
    forth = ledger(a, b)
    _, b, a = results_of(protocol, seed, swap=True)
    back = ledger(b, a)
    swapped = {"a_only": "b_only", "b_only": "a_only", "a_invents": "b_invents", "b_invents": "a_invents"}
    for name in ("total", "per_label", "per_page", "per_document"):
        here, there = getattr(forth, name), getattr(back, name)
        for column in COLUMNS:
            assert (getattr(here, column) == getattr(there, swapped.get(column, column))).all()
        assert (here.net == -there.net).all()
    assert forth.a.partner.tolist() == back.b.partner.tolist()


@given(seed=seeds, grid=st.sampled_from([2, 3, 4]))
def test_ties_do_not_depend_on_which_model_is_a_or_on_the_order_of_rows(seed: int, grid: int) -> None:
    # Boxes on a coarse grid: equal IoUs everywhere, so a tie that is broken by rows would show.
    rng = np.random.default_rng(seed)

    def some() -> list[Any]:
        corners = [(*rng.integers(0, grid, 2), *rng.integers(1, 3, 2)) for _ in range(12)]
        return [box(x / 9, y / 9, (x + w) / 9, (y + h) / 9) for x, y, w, h in (map(int, four) for four in corners)]

    a, b = some(), some()
    counts = ledger(*snapshot_results([], a, b)).total
    back = ledger(*snapshot_results([], b, a)).total
    mixed = join(ground_truth([]), shuffled(annotations(a), seed), shuffled(annotations(b), seed + 1))
    again = ledger(*(snapshot.pair(mixed, model).match().at(0.5) for model in (0, 1))).total
    assert rows_of(counts) == rows_of(again)
    assert (counts.shared, counts.a_invents, counts.b_invents) == (back.shared, back.b_invents, back.a_invents)


@each_protocol
@given(seed=seeds)
def test_a_model_against_itself_has_nothing_of_its_own(protocol: str, seed: int) -> None:
    truth, a, _ = two_models(seed)
    documents = names(5)
    dataset = join(side(truth, documents, truth=True), side(a, documents), side(a, documents))
    compared = ledger(*(PROTOCOLS[protocol](dataset, model) for model in (0, 1)))
    assert compared.total.changed.tolist() == [0]
    assert not compared.pages_json()
    assert compared.a.row.tolist() == compared.b.row.tolist()


@given(seed=seeds)
def test_labels_and_documents_partition_the_ledger(seed: int) -> None:
    dataset, a, b = results_of("snapshot", seed)
    compared = ledger(a, b)
    for parts in (
        [compared.only(labels=[label]) for label in compared.labels],
        [compared.only(documents=[document.doc_id]) for document in dataset.documents],
    ):
        for name in COLUMNS:
            assert sum(int(getattr(part.total, name)[0]) for part in parts) == int(getattr(compared.total, name)[0])


def test_a_name_says_nothing_of_labels_that_were_not_asked_for() -> None:
    truth, table = box(0.0, 0.0, 0.2, 0.2), box(0.5, 0.5, 0.7, 0.7, label="Table")
    sides = ground_truth([truth, table]), annotations([truth, box(0.8, 0.8, 0.9, 0.9)])
    for chosen, of_labels in ((None, ""), (["Figure"], "of these labels ")):
        result = snapshot.evaluate(*sides, labels=chosen)
        compared = compare([result, result], ("A", "B"), resamples=LEAST_RESAMPLES)
        assert compared.mistakes["invented"] == {"a": 1, "b": 1, "difference": 0}
        rows = {row[0]: row[1:] for row in compared.tables(("a.json", "b.json"))[-1].rows}
        assert rows[f"Extra box with nothing {of_labels}there"] == (1, 1, 0)


def test_labels_that_only_one_model_has() -> None:
    notes = labels.label_notes(
        ["Table", "list item", "Logo"], ["Table", "List-item"], ["Table", "List-item"], names=("A", "B")
    )
    assert notes.mapping == {"list item": "List-item"}
    assert notes.sentences == (
        "list item, Logo: only in A.",
        "List-item: only in B.",
        'Equal but for case and punctuation; to compare them as one label: --map-label "list item=List-item".',
    )


@pytest.mark.parametrize(
    ("a", "b", "truth", "mapping"),
    [
        (["Table"], ["Table"], [], {}),
        (["table"], ["table"], ["Table"], {"table": "Table"}),
        (["TABLE"], ["table"], ["Table"], {"TABLE": "Table", "table": "Table"}),
        (["page_header"], ["Page-Header"], [], {"page_header": "Page-Header"}),
        (["a b"], ["a-b", "a_b"], [], {}),
        (["?"], ["!"], [], {}),
        (["Ｔable"], ["Table"], [], {"Ｔable": "Table"}),
    ],
)
def test_a_mapping_is_proposed_for_one_name_in_two_spellings(
    a: list[str], b: list[str], truth: list[str], mapping: dict[str, str]
) -> None:
    assert labels.label_notes(a, b, truth, names=("A", "B")).mapping == mapping


def test_random_rows_have_every_outcome() -> None:
    # Guards the properties above against a corpus in which nothing happens.
    total = ledger(*snapshot_results(*two_models(7, documents=8))).total
    assert all(int(getattr(total, name)[0]) > 0 for name in COLUMNS)


@pytest.mark.parametrize("grid", [4, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_shared_false_positives_are_those_of_a_loop_over_pairs(seed: int, grid: int) -> None:
    rng = np.random.default_rng(seed)

    def boxes(count: int) -> list[Box]:
        rows = []
        for _ in range(count):
            low, size = rng.integers(0, grid, 2) / (2 * grid), rng.integers(1, grid, 2) / (2 * grid)
            label, page, score = rng.choice(["Table", "Figure"]), int(rng.integers(3)), round(float(rng.random()), 1)
            rows.append(box(*low, *(low + size), label=str(label), page=page, score=score))
        return rows

    def places(result: BoxResult[Any]) -> list[tuple[tuple[float, ...], int]]:
        side = result.matching.prediction
        rows = result.false_positives.tolist()
        return sorted(((float(side.page[row]), float(side.label[row]), *side.xyxy[row].tolist()), row) for row in rows)

    def looped(a: BoxResult[Any], b: BoxResult[Any]) -> set[tuple[int, int]]:
        first, second = sorted((places(a), places(b)), key=len)
        pairs = []
        for there, (other, right) in enumerate(second):
            for here, (one, left) in enumerate(first):
                if one[:2] == other[:2] and (share := float(iou(np.array([one[2:]]), np.array([other[2:]]))[0])) >= 0.5:
                    pairs.append((-share, there, here, right, left))
        taken: dict[int, int] = {}
        for _, _, _, right, left in sorted(pairs):
            if right not in taken and left not in taken.values():
                taken[right] = left
        return {(left, right) if first == places(a) else (right, left) for right, left in taken.items()}

    dataset = join(ground_truth(boxes(12)), annotations(boxes(40)), annotations(boxes(40)))
    pairs = [snapshot.pair(dataset, model) for model in (0, 1)]
    several = 0
    for at, scores in ((0.5, (0.0, 0.0)), (0.5, (0.1, 0.2)), (0.6, (0.4, 0.2)), (0.6, (0.2, 0.4))):
        a, b = (each.match(min_score=score).at(at) for each, score in zip(pairs, scores, strict=True))
        both, swapped = ledger(a, b), ledger(b, a)
        shared, mutual = (
            set(zip(own.row[own.shared].tolist(), own.partner[own.shared].tolist(), strict=True))
            for own in (both.a, both.b)
        )
        assert shared == {(left, right) for right, left in mutual}
        # Of as many on both sides, which one goes first in a tie is a matter of their bytes.
        if len(both.a) != len(both.b):
            assert shared == looped(a, b)
            several += len(shared) > 1
        for one, other in ((both.a, swapped.b), (both.b, swapped.a)):
            np.testing.assert_array_equal(one.partner, other.partner)
    assert several
