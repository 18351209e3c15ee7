"""The ledgers of pages, fields and posters: counts worked by hand, what is behind them, and the terminal's tables."""

import json
import math
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.data.boxes import BoolArray
from evaluator.data.fields import FieldDocuments
from evaluator.formats.fields import FORMAT
from evaluator.formats.posters import Posters
from evaluator.metrics.item_ledger import OUTCOMES, Item, ItemLedger, Items, item_ledger
from evaluator.protocols import fields, pixel, posters
from evaluator.protocols.fields.drill_down import problems
from evaluator.protocols.fields.evaluation import SPURIOUS, TRUE_POSITIVE, FieldsResult
from evaluator.protocols.fields.ledger import FieldLedgers
from evaluator.protocols.pixel.ledger import page_ledger
from evaluator.protocols.posters.difference import columns_of
from evaluator.protocols.posters.ledger import poster_ledger
from tests.benchmarks import bench_fields
from tests.building import Box, annotations, box, field_documents, ground_truth
from tests.building import posters as posters_side
from tests.dashboard import SAMPLE_DATA
from tests.sample_part import write_part_with_pages
from tests.terminal import run_command


def rows_of(ledger: ItemLedger) -> dict[str, list[int]]:
    return {name: list(ledger.counts(row).values()) for row, name in enumerate(ledger.rows)}


def ledger_of(items: Iterable[Item], pairs: Sequence[tuple[float, float]]) -> ItemLedger:
    amounts = np.array(pairs).reshape(-1, 2, 1).swapaxes(0, 1)
    return item_ledger("page", "wrong pixels", ["All"], Items(items), amounts)


def test_each_thing_has_one_outcome_and_those_that_moved_most_are_first() -> None:
    ledger = ledger_of(map(Item, "abcd"), [(3.0, 2.0), (1.0, 8.0), (0.0, 0.0), (2.0, 2.0)])
    assert rows_of(ledger) == {"All": [1, 1, 1, 1, 0]}
    assert [int(ledger.items_with_outcome(0, each)[0]) for each in OUTCOMES] == [0, 1, 2, 3]
    item = {"page": None, "place": None, "spurious": False}
    assert ledger.to_json()["changed"] == [
        {"document": "b", **item, "outcome": "a_better", "a": 1.0, "b": 8.0},
        {"document": "a", **item, "outcome": "b_better", "a": 3.0, "b": 2.0},
    ]
    nothing = item_ledger("page", "wrong pixels", ["All", "Text"], Items(), np.empty((2, 0, 2)))
    assert (rows_of(nothing), nothing.to_json()["changed"]) == ({"All": [0, 0, 0, 0, 0]}, [])


amounts = st.sampled_from([0.0, 1.0, 2.5, float("nan")])


@given(st.lists(st.tuples(amounts, amounts), max_size=12))
def test_counts_open_exactly_that_many_and_a_swap_turns_the_signs(pairs: list[tuple[float, float]]) -> None:
    items = [Item("a.pdf", page) for page in range(len(pairs))]
    ledger, swapped = ledger_of(items, pairs), ledger_of(items, [pair[::-1] for pair in pairs])
    counts, other = ledger.counts(0), swapped.counts(0)
    assert [len(ledger.items_with_outcome(0, name)) for name in OUTCOMES] == [counts[name] for name in OUTCOMES]
    assert sum(counts[name] for name in OUTCOMES) == sum(a == a and b == b for a, b in pairs)  # noqa: PLR0124 - NaN
    assert (counts["b_better"], counts["a_better"], counts["net"]) == (
        other["a_better"], other["b_better"], -other["net"],
    )  # fmt: skip


def test_pages_by_wrong_pixels_worked_by_hand() -> None:
    labels = ["Text", "Table"]

    def half(page: int, label: str = "Text", height: float = 0.5) -> Box:
        return box(0.0, 0.0, 1.0, height, label=label, page=page, score=0.9)

    truth = ground_truth([half(0), half(1), half(2, "Table")], labels=labels)
    # A: right on page 1, nothing on page 2 (50 wrong), and the table called a text (50 wrong).
    a = annotations([half(0), half(2)], labels=labels)
    # B: 10 pixels short on page 1, 20 short on page 2, and nothing on page 3 (50 wrong).
    b = annotations([half(0, height=0.4), half(1, height=0.3)], labels=labels)
    first, second = (pixel.evaluate(truth, side, page_size=(10.0, 10.0)) for side in (a, b))
    ledger = page_ledger(first, second)
    assert ledger.items == tuple(Item("a.pdf", page) for page in range(3))
    assert [ledger.amounts(at) for at in range(3)] == [(0.0, 10.0), (50.0, 20.0), (50.0, 50.0)]
    # On page 3 the 50 pixels of A are wrong for Text, too; B has none of it there.
    assert rows_of(ledger) == {
        "All labels": [1, 1, 0, 1, 0],
        "Text": [2, 1, 0, 0, 1],
        "Table": [0, 0, 0, 1, 0],
    }


def test_pages_have_no_ledger_where_the_classes_differ() -> None:
    truth = ground_truth([box(0.0, 0.0, 1.0, 0.5, label="Text")], labels=["Text"])
    other = annotations([box(0.0, 0.0, 1.0, 0.5, label="Paragraph", score=0.9)], labels=["Paragraph"])
    result = pixel.evaluate(truth, other, page_size=(10.0, 10.0), classes="different")
    assert page_ledger(result, result) is None


def read_fields(**values: tuple[str, float]) -> FieldDocuments:
    rich = {key: {"_value": value, "_bbox": [0.0, 0.0, width, 0.1]} for key, (value, width) in values.items()}
    return field_documents({"letter": rich})


def test_fields_by_box_and_by_value_worked_by_hand() -> None:
    truth = read_fields(date=("1 May", 0.5), name=("Ada", 0.5), total=("12", 0.5))
    a = read_fields(date=("1 May", 0.5), name=("Bob", 0.5))
    b = read_fields(date=("9 Jul", 0.2), name=("Ada", 0.5), more=("x", 0.5))
    first, second = (fields.evaluate(truth, side) for side in (a, b))
    by_box, by_value = FieldLedgers(first, second).by_box_and_value(0.5)
    # IoU of the date in B is 0.4; the total has no box in either; only B has the field "more".
    assert rows_of(by_box) == {
        "All fields": [0, 2, 1, 1, -2], "date": [0, 1, 0, 0, -1], "more": [0, 1, 0, 0, -1],
        "name": [0, 0, 1, 0, 0], "total": [0, 0, 0, 1, 0],
    }  # fmt: skip
    assert rows_of(by_value)["All fields"] == [1, 2, 0, 1, -1]
    assert [by_value.items[at].words for at in by_value.items_with_outcome(0, "a_better")] == [
        "letter, page 1, date", "letter, page 1, more (extra)",
    ]  # fmt: skip
    assert [by_value.items[at].words for at in by_value.items_with_outcome(0, "b_better")] == ["letter, page 1, name"]
    assert rows_of(FieldLedgers(first, second).by_box_and_value(0.3)[0])["All fields"] == [0, 1, 2, 1, -1]


def test_a_field_that_only_predictions_have_is_right_where_it_is_not() -> None:
    truth = read_fields(date=("1 May", 0.5))
    a = read_fields(date=("1 May", 0.5), one=("x", 0.5), both=("x", 0.5))
    b = read_fields(date=("1 May", 0.5), both=("y", 0.2))
    first, second = (fields.evaluate(truth, side) for side in (a, b))
    for ledger in FieldLedgers(first, second).by_box_and_value(0.5):
        assert rows_of(ledger) == {
            "All fields": [1, 0, 1, 1, 1], "both": [0, 0, 0, 1, 0], "date": [0, 0, 1, 0, 0], "one": [1, 0, 0, 0, 1],
        }  # fmt: skip
        (place,) = ledger.items_with_outcome(0, "b_better").tolist()
        assert ledger.items[place] == Item("letter", 0, "one", spurious=True)
        assert ledger.to_json()["changed"][0]["spurious"] is True


def test_a_predicted_null_without_ground_truth_counts_by_box_alone() -> None:
    truth, more = {"date": {"_value": "1 May"}}, {"more": {"_value": None, "_bbox": [0.0, 0.0, 0.5, 0.1]}}
    sides = [field_documents({"letter": each}) for each in (truth, truth, truth | more)]
    by_box, by_value = FieldLedgers(*(fields.evaluate(sides[0], side) for side in sides[1:])).by_box_and_value(0.5)
    assert rows_of(by_box) == {"All fields": [0, 1, 0, 0, -1], "more": [0, 1, 0, 0, -1]}
    assert rows_of(by_value) == {"All fields": [0, 0, 1, 0, 0], "date": [0, 0, 1, 0, 0]}


def field_by_field(
    a: FieldsResult, b: FieldsResult, of: Callable[[FieldsResult], tuple[BoolArray, BoolArray, BoolArray]]
) -> dict[Item, list[dict[str, float]]]:
    """What is wrong with each field in both models, by row of the ledger, without any column kept.

    `of` gives what counts of the ground truth, what is right, and what is spurious.
    """
    wrong: list[dict[Item, dict[str, float]]] = []
    alone: list[dict[tuple[str, str], tuple[Item, dict[str, float]]]] = []
    for result in (a, b):
        compared, (counted, right, spurious) = result.compared, of(result)
        wrong.append({})
        alone.append({})
        for at in compared.order.tolist():
            document, name = compared.documents[compared.document[at]], compared.classes[compared.field_class[at]]
            if not compared.is_field[at]:
                continue
            path, field = compared.truth_path[at], compared.truth[at]
            if counted[at] and path is not None:
                page = field.page if field is not None and field.has_box else None
                wrong[-1][Item(document, page, path)] = dict.fromkeys(("All fields", name), float(not right[at]))
            path, field = compared.prediction_path[at], compared.predicted[at]
            if spurious[at] and not right[at] and path is not None:
                page = field.page if field is not None and field.has_box else None
                item = Item(document, page, path, spurious=True)
                alone[-1][document, path] = item, dict.fromkeys(("All fields", name), 1.0)
    for place in dict.fromkeys(place for model in alone for place in model):
        item, amounts = next(model[place] for model in alone if place in model)
        for own, model in zip(wrong, alone, strict=True):
            own[item] = amounts if place in model else dict.fromkeys(amounts, 0.0)
    return {item: [wrong[0][item], wrong[1][item]] for item in wrong[0] if item in wrong[1]}


@pytest.mark.parametrize("seed", range(6))
def test_ledgers_of_fields_at_many_thresholds_are_those_of_a_plain_loop(seed: int) -> None:
    dice = random.Random(seed)
    documents = bench_fields.make_corpus(6, items=4, seed=seed)
    sides = [bench_fields.as_lines(documents, "ground_truth")]
    for _ in range(2):
        for document in documents:
            document["prediction"] = bench_fields.guess(dice, document["ground_truth"])
            for _ in range(dice.randrange(3)):
                document["prediction"][f"extra{dice.randrange(3)}"] = bench_fields.rich(dice, "x")
        sides.append(bench_fields.as_lines(documents, "prediction"))
    truth, *models = (FORMAT.read(side, "side.jsonl") for side in sides)
    a, b = (fields.evaluate(truth, model, parity="stickler" if seed == 1 else "none") for model in models)
    both = FieldLedgers(a, b)
    for iou in (0.5, 0.51, 0.05, 0.95, 0.5):
        ways: list[Callable[[FieldsResult], tuple[BoolArray, BoolArray, BoolArray]]] = [
            lambda each, iou=iou: (each.with_truth, each.status(iou) == TRUE_POSITIVE, each.status(iou) == SPURIOUS),
            lambda each: (~each.compared.only_predicted, each.compared.right, each.compared.only_predicted),
            lambda each, iou=iou: (
                ~each.compared.only_predicted, ~problems(each, iou), each.compared.only_predicted,
            ),
        ]  # fmt: skip
        for ledger, way in zip((*both.by_box_and_value(iou), both.whole(iou)), ways, strict=True):
            plain = field_by_field(a, b, way)
            assert list(ledger.items) == list(plain)
            for side, amounts in enumerate((ledger.a, ledger.b)):
                listed = [
                    {name: value for name, value in zip(ledger.rows, row, strict=True) if not math.isnan(value)}
                    for row in amounts.tolist()
                ]
                assert listed == [each[side] for each in plain.values()]
            assert set(ledger.rows) == {"All fields"}.union(*(each[0] for each in plain.values()))


def read_posters(**texts: str) -> Posters:
    return posters_side(
        {key: {"posterContent": {"sections": [{"sectionContent": text}]}} for key, text in texts.items()}
    )


def test_posters_by_criterion_worked_by_hand() -> None:
    words = "rivers carry silt down towards wide deltas"
    truth = read_posters(one=words, two=words, three=words)
    # A lacks poster three, and has another text in two; B has another text in one.
    a = read_posters(one=words, two="nothing alike here")
    b = read_posters(one="nothing alike here", two=words, three=words)
    ledger = poster_ledger(*(columns_of(posters.evaluate(truth, side)) for side in (a, b)))
    assert rows_of(ledger)["All criteria"] == [2, 1, 0, 0, 1]
    assert [ledger.items[at].document for at in ledger.items_with_outcome(0, "b_better")] == ["three", "two"]
    assert rows_of(ledger)["word capture"] == [2, 1, 0, 0, 1]
    # Poster two has as many fields in both.
    assert rows_of(ledger)["field proportion"] == [1, 0, 2, 0, 1]


SIDES = {
    "snapshot": ("ground_truth.json", "lines.json", "blocks.json"),
    "pixel": ("ground_truth.json", "lines.json", "blocks.json"),
    "fields": ("fields/ground_truth", "fields/anchors", "fields/rules"),
    "posters": ("posters/ground_truth", "posters/across", "posters/columns"),
}
NOUNS = {"snapshot": set(), "pixel": {"page"}, "fields": {"field"}, "posters": {"poster"}}


@pytest.mark.parametrize("protocol", SIDES)
def test_the_terminal_shows_the_ledger_and_what_differs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, protocol: str
) -> None:
    home, more = SAMPLE_DATA, []
    if protocol == "pixel":
        home = write_part_with_pages(tmp_path / "part", "tram-options.pdf", "groundwater-note.pdf")
        more = ["--pdfs", home / "pdf"]
    truth, a, b = (home / name for name in SIDES[protocol])
    words = ["compare", protocol, "--gt", truth, "--pred", a, "--pred", b, *more, "--resamples", 40]
    value, text = json.loads(run_command(capsys, *words, "--json")[1]), run_command(capsys, *words, "--markdown")[1]
    # Boxes have their own ledger.
    assert (value["ledger"] is None, {each["item"] for each in value["item_ledgers"]}) == (
        protocol != "snapshot", NOUNS[protocol],
    )  # fmt: skip
    for ledger in value["item_ledgers"]:
        name, counts = next(iter(ledger["rows"].items()))
        outcomes = [each["outcome"] for each in ledger["changed"]]
        assert [outcomes.count(name) for name in ("a_better", "b_better")] == [counts["a_better"], counts["b_better"]]
        assert f"| {name} | {' | '.join(str(count) for count in counts.values())} |" in text
