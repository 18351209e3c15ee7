"""Reading order: every oracle to the last digit, what must hold, and how it is said."""

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import project
from evaluator.protocols.base import Evaluation
from evaluator.protocols.items import value_of
from evaluator.protocols.order import OrderPage
from evaluator.protocols.order.evaluation import MEASURES, Item, order_page
from evaluator.protocols.order.mistakes import kind_of, longest_rising
from tests.building import write_items
from tests.reading import refusal
from tests.terminal import run_command

ORACLES = Path(__file__).resolve().parents[1] / "oracles" / "reading"
CASES = sorted(path.stem for path in ORACLES.glob("o*.json"))
SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
A, B = [0, 0, 100, 20], [0, 30, 100, 50]


def number(value: Any) -> Any:
    return Fraction(value["fraction"]) if isinstance(value, dict) and "fraction" in value else value


def same(value: float | None, expected: Any) -> bool:
    """Equal as a double: a fraction is rounded once on both sides, a weighted sum more often."""
    return value == pytest.approx(None if expected is None else float(expected), abs=1e-12)


def sides(folder: Path, pages: list[dict[str, Any]]) -> tuple[Path, Path]:
    names = "ground_truth", "prediction"
    first, second = (write_items(folder / f"{name}.jsonl", [page[name] for page in pages]) for name in names)
    return first, second


def evaluated(folder: Path, pages: list[dict[str, Any]], **options: Any) -> Evaluation:
    truth, prediction = sides(folder, pages)
    return project.evaluate("order", truth, [prediction], **options)[0]


def page_of(order: list[float | None], predicted: list[float | None], labels: str = "") -> OrderPage:
    """Items of these numbers, paired one by one; `labels` by first letter."""
    names = {"h": "page-header", "f": "footnote", "c": "caption", "p": "picture"}
    kinds = [names.get(letter, "text") for letter in labels.ljust(len(order), "t")]
    ones, others = (
        [Item(None if at is None else (at,), kinds[row], None, row) for row, at in enumerate(side)]
        for side in (order, predicted)
    )
    return order_page("a", 0, ones, others, {row: row for row in range(len(order))})


@pytest.mark.parametrize("case", CASES)
def test_the_numbers_of_an_oracle(case: str, tmp_path: Path) -> None:
    oracle = json.loads((ORACLES / f"{case}.json").read_text(encoding="utf-8"))
    result = evaluated(tmp_path, oracle["input"].get("pages", [oracle["input"]])).result
    expected = oracle["expected"]
    for page, of_page in zip(result.pages, expected.get("pages", [expected]), strict=True):
        for name, value in of_page.items():
            if name == "mistakes":
                names = sorted((each["name"], each.get("items") or each.get("prediction")) for each in value)
                assert names == sorted((each.name, each.ground_truth or each.predictions) for each in page.mistakes)
            elif name in MEASURES:
                assert same(value_of(page.ratios[name]), number(value)), name
            elif name != "adjacent_pairs":
                assert getattr(page, name) == value, name
    dataset = result.to_json()["dataset"]
    for name, value in expected.get("page_mean", {}).items():
        assert same(dataset[name]["page_mean"], number(value["mean"]))
        assert dataset[name]["pages"] == value["pages"]
    for name, value in expected.get("micro", {}).items():
        assert same(dataset[name]["micro"], number(value))


@given(st.permutations(range(6)))
def test_kendalls_tau_counts_every_pair_and_the_rising_part_is_the_longest(order: list[int]) -> None:
    page = page_of(list(range(6)), [order.index(rank) for rank in range(6)])
    assert page.sequence == order
    right = sum(a < b for a, b in itertools.combinations(order, 2))
    assert (page.concordant, page.discordant, page.tied) == (right, 15 - right, 0)
    rising = [
        part
        for size in range(6, 0, -1)
        for part in itertools.combinations(order, size)
        if all(a < b for a, b in itertools.pairwise(part))
    ]
    longest = min(part for part in rising if len(part) == len(rising[0]))
    assert [order[at] for at in longest_rising(order, ["body"] * 6)] == list(longest)


@given(st.permutations(range(5)))
def test_the_order_of_the_truth_is_perfect_and_ties_cost_nothing(order: list[int]) -> None:
    for page in (page_of(order, order), page_of([1] * 5, order)):
        assert (value_of(page.ratios["edit_distance"]), value_of(page.ratios["adjacent"]), page.mistakes) == (0, 1, [])


def test_the_longest_rising_part_keeps_the_text_before_the_rest() -> None:
    assert longest_rising([2, 0, 1, 3], ["body", "caption", "caption", "body"]) == [1, 2, 3]
    assert longest_rising([1, 0], ["caption", "body"]) == [1]
    assert longest_rising([1, 0], ["body", "body"]) == [1]


def test_a_mistake_has_one_name() -> None:
    assert [each.name for each in page_of([0, 1, 2], [2, 1, 0]).mistakes] == ["reversed"]
    assert [each.name for each in page_of([0, 1], [1, 0]).mistakes] == ["swapped"]
    assert [each.name for each in page_of([0, 1, 2], [1, 0, 2], "cpt").mistakes] == ["caption_side"]
    assert [each.name for each in page_of([0, 1, None], [0, 2, 1], "tth").mistakes] == ["furniture_inside"]
    assert [each.name for each in page_of([0, 1], [0, None]).mistakes] == ["left_out"]


def test_a_kind_is_a_label_without_case_digits_and_signs() -> None:
    assert [kind_of(label) for label in ("PAGE_NUMBER", "footnote2", "Table-Caption", "Picture", "Section-header")] == [
        "furniture", "footnote", "caption", "float", "body",
    ]  # fmt: skip


def test_a_page_that_one_side_lacks_counts_as_empty(tmp_path: Path) -> None:
    page = {"items": [{"label": "text", "box": A, "order": 0}, {"label": "text", "box": B, "order": 1}]}
    empty = {"items": []}
    both = [{"ground_truth": page, "prediction": page}]
    missing = evaluated(tmp_path, [*both, {"ground_truth": page, "prediction": empty}]).result.to_json()
    assert missing["dataset"]["edit_distance"]["page_mean"] == 0.5
    extra = evaluated(tmp_path, [*both, {"ground_truth": empty, "prediction": page}]).result.to_json()
    assert extra["dataset"]["edit_distance"] == {"page_mean": 0.0, "document_mean": 0.0, "micro": 0.0, "pages": 1}
    assert (extra["dataset"]["edit_distance_all"]["micro"], extra["dataset"]["extra"]) == (0.5, 2)


def test_what_pairs_items_is_chosen_and_said(tmp_path: Path) -> None:
    items = [{"label": "text", "box": A, "order": 0, "text": "Upper"}]
    other = [{"label": "title", "box": [0, 0, 60, 20], "order": 0, "text": "Upper"}]
    pages = [{"ground_truth": {"items": items}, "prediction": {"items": other}}]
    for options, matched, said in (
        ({}, 1, "IoU ≥ 0.50, any label"),
        ({"iou": [0.75]}, 0, "IoU ≥ 0.75, any label"),
        ({"same_label": True}, 0, "IoU ≥ 0.50, one label"),
        ({"labels": ["text"]}, 0, "IoU ≥ 0.50, any label · labels text"),
    ):
        result = evaluated(tmp_path, pages, **options).result
        assert (result.pages[0].matched, result.signature.line.split(" · ties")[0]) == (matched, f"order 1 · {said}")
    other[0]["box"] = None
    evaluation = evaluated(tmp_path, pages)
    assert evaluation.result.pages[0].matched == 1
    assert [issue.sentence for issue in evaluation.issues] == [
        "prediction.jsonl: items of a page are paired with those of ground_truth.jsonl by their boxes, by their text "
        'where one has none; found pages by text 1: "a, page 1". Nothing to do if the source has no boxes.'
    ]
    other.append({"label": "picture", "box": None, "order": 1})
    assert evaluated(tmp_path, pages).issues[0].found == (
        'pages by text 1: "a, page 1"; 1 item without text and cells takes no part'
    )


def test_a_side_without_an_order_is_refused_or_read_as_in_its_file(tmp_path: Path) -> None:
    page = {"items": [{"label": "text", "box": A}, {"label": "text", "box": B}]}
    pages = [{"ground_truth": page, "prediction": page}]
    sentence = (
        "order compares the reading order of items (Reading order); found none of 2 items has any. Give a file that "
        "has them, such as lines of items with order (format items, docs/formats.md)."
    )
    assert refusal(evaluated, tmp_path, pages) == [f"ground_truth.jsonl: {sentence}", f"prediction.jsonl: {sentence}"]
    result = evaluated(tmp_path, pages, order="file").result
    assert result.pages[0].sequence == [0, 1]
    assert "file order where none is stated" in result.signature.line


def test_parts_of_the_documents_have_the_bits_of_the_whole(tmp_path: Path) -> None:
    oracle = json.loads((ORACLES / "o11_pages.json").read_text(encoding="utf-8"))["input"]["pages"]
    for page, place in itertools.product(oracle, ("ground_truth", "prediction")):
        page[place]["document"] = f"d{oracle.index(page)}"
    whole, parts = (evaluated(tmp_path, oracle, page_ranges=size).to_json() for size in (0, 2))
    assert whole == parts


def test_the_terminal_shows_compares_and_gates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    oracle = json.loads((ORACLES / "o01_reversed.json").read_text(encoding="utf-8"))["input"]
    truth, prediction = map(str, sides(tmp_path, [oracle]))
    code, out, err = run_command(capsys, "evaluate", "order", "--gt", truth, "--pred", prediction, "--csv")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == (
        "predictions,document,page,pages,n,matched,extra,left_out,edit_distance,edit_distance_all,kendall_tau,adjacent,"
        "ard,weighted_ard,signature"
    )
    run_command(capsys, "evaluate", "order", "--gt", truth, "--pred", prediction, "--out", str(tmp_path / "out"))
    assert "reversed" in (tmp_path / "out" / "mistakes.csv").read_text()
    gate = ("gate", "order", "--gt", truth, "--pred", prediction, "--baseline", truth, "--fail-if")
    assert run_command(capsys, *gate, "edit_distance > baseline")[0] == 1
    assert run_command(capsys, *gate, "kendall_tau > baseline")[0] == 0
    code, out, _ = run_command(capsys, "compare", "order", "--gt", truth, "--pred", truth, "--pred", prediction)
    assert "Edit distance of the order +" in out


def test_a_lower_number_is_the_gain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = [json.loads((ORACLES / "o01_reversed.json").read_text(encoding="utf-8"))["input"] for _ in range(12)]
    for number_, page in enumerate(pages):
        for side in ("ground_truth", "prediction"):
            page[side]["document"] = f"d{number_}"
    truth, prediction = map(str, sides(tmp_path, pages))
    for models, answer in (((truth, prediction), "keep"), ((prediction, truth), "ship")):
        words = [word for model in models for word in ("--pred", model)]
        _, out, _ = run_command(capsys, "compare", "order", "--gt", truth, *words, "--json", "--seed", "1")
        decision = json.loads(out)["decision"]
        assert (decision["answer"], decision["rule"]["metric"]) == (answer, "edit_distance")
