"""Text of items: every oracle exactly, what takes part, and how it is said."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import project
from evaluator.data.plain_text import plain, words
from evaluator.matching import item_pairs
from evaluator.protocols.base import Evaluation
from evaluator.protocols.items import value_of
from evaluator.protocols.text import TextPair, compare_texts
from tests.building import write_items
from tests.reading import refusal
from tests.terminal import run_command

ORACLES = Path(__file__).resolve().parents[1] / "oracles" / "reading"
CASES = sorted(path.stem for path in ORACLES.glob("t*.json"))
A, B, C = ([0, at, 100, at + 20] for at in (0, 30, 60))


def compared(reference: str, hypothesis: str, **options: Any) -> TextPair:
    return compare_texts(reference, hypothesis, **{"normalisation": "plain", "word_rule": "scripts", **options})


def evaluated(
    folder: Path, truth: list[tuple[str, Any, str | None]], read: list[tuple[str, Any, str | None]], **options: Any
) -> Evaluation:
    paths = [
        write_items(
            folder / name, [{"items": [{"label": label, "box": box, "text": text} for label, box, text in side]}]
        )
        for name, side in (("truth.jsonl", truth), ("read.jsonl", read))
    ]
    return project.evaluate("text", paths[0], [paths[1]], **options)[0]


@pytest.mark.parametrize("case", CASES)
def test_the_numbers_of_an_oracle(case: str, tmp_path: Path) -> None:
    oracle = json.loads((ORACLES / f"{case}.json").read_text(encoding="utf-8"))
    pairs, expected, rule = oracle["input"]["pairs"], oracle["expected"], oracle["options"]["words"]
    for pair, of_pair in zip(pairs, expected["pairs"], strict=True):
        own = compared(pair["reference"] or "", pair["hypothesis"] or "", word_rule=rule)
        for name, value in of_pair.items():
            if name in own.ratios:
                edits, length = own.ratios[name]
                assert (Fraction(edits, length) if length else None) == (value and Fraction(value["fraction"])), name
            else:
                assert getattr(own, name) == value, name
    boxes = [[0, 30 * at, 100, 30 * at + 20] for at in range(len(pairs))]
    sides = (
        [("Text", box, pair[side]) for box, pair in zip(boxes, pairs, strict=True)]
        for side in ("reference", "hypothesis")
    )
    dataset = evaluated(tmp_path, *sides, words=rule).result.to_json()["dataset"]
    for name, value in expected["micro"].items():
        assert dataset[name]["micro"] == pytest.approx(value and float(Fraction(value["fraction"])), abs=1e-12)
    mean = expected["mean_ned"]
    assert dataset["ned"]["item_mean"] == pytest.approx(mean and float(Fraction(mean["fraction"])), abs=1e-12)


@given(st.text(alphabet="ab-\u00ad\n\t \u2010\ufb01\u201cé", max_size=12))
def test_plain_text_is_plain(text: str) -> None:
    once = plain(text)
    assert once == " ".join(once.split())
    assert not set("\ufb01\u201c\u00ad\u2010\n\t") & set(once)
    assert "".join(words(once, "scripts")) == once.replace(" ", "")


def test_equal_texts_are_perfect_and_swapped_ones_have_one_distance() -> None:
    one, other = compared("Water level", "Water levels"), compared("Water levels", "Water level")
    assert (one.edits, one.insertions, other.edits, other.deletions) == (1, 1, 1, 1)
    same = compared("Water", "Water")
    assert (same.mistake, *map(value_of, same.ratios.values())) == (None, 0, 0, 0)


def test_what_has_no_partner_counts_as_a_whole(tmp_path: Path) -> None:
    evaluation = evaluated(
        tmp_path,
        [("Text", A, "abcd"), ("Text", B, "efgh"), ("Picture", C, None)],
        [("Text", A, "abcx"), ("Text", [0, 200, 100, 220], "xy")],
    )
    dataset = evaluation.result.to_json()["dataset"]
    assert (dataset["pairs"], dataset["missing"], dataset["extra"]) == (1, 1, 1)
    assert (dataset["cer"]["micro"], dataset["cer"]["micro_matched"]) == (7 / 8, 1 / 4)
    assert dataset["ned"]["page_mean"] == 7 / 10
    assert dataset["mistakes"] == {"characters": 1, "extra": 1, "missing": 1}
    places = [(each["ground_truth"], each["prediction"]) for each in evaluation.result.to_json()["pages"][0]["items"]]
    assert places == [(1, None), (None, 1), (0, 0)]


def test_formulas_have_numbers_of_their_own(tmp_path: Path) -> None:
    result = evaluated(
        tmp_path, [("Text", A, "ab"), ("Formula", B, "x^2")], [("Text", A, "ab"), ("Text", B, "x")]
    ).result
    dataset = result.to_json()["dataset"]
    assert (dataset["cer"]["micro"], dataset["pairs"], dataset["formulas"]["cer"]["micro"]) == (0.0, 1, 2 / 3)


def test_tables_are_left_out(tmp_path: Path) -> None:
    table = {"label": "table", "box": A, "text": "1 2", "html": "<table><tr><td>1</td></tr></table>"}
    path = write_items(tmp_path / "a.jsonl", [{"items": [table, {"label": "text", "box": B, "text": "a"}]}])
    dataset = project.evaluate("text", path, [path])[0].result.to_json()["dataset"]
    assert (dataset["pairs"], dataset["missing"]) == (1, 0)


def test_the_normalisation_and_the_words_are_chosen_and_said(tmp_path: Path) -> None:
    truth, read = [("Text", A, "ﬁve 文書")], [("Text", A, "five 文字")]
    for options, edits, said in (
        ({}, (1, 1, 3), "plain, code points, words by script"),
        ({"words": "spaces"}, (1, 1, 2), "plain, code points, words by blanks"),
        ({"normalisation": "none"}, (3, 2, 3), "as written, code points, words by script"),
    ):
        result = evaluated(tmp_path, truth, read, **options).result
        (pair,) = result.pages[0].pairs
        assert (pair.edits, pair.word_edits, pair.reference_words) == edits
        assert result.signature.line.startswith(f"text 1 · IoU ≥ 0.50, any label · {said} · all regions · 1 document")


def test_markup_of_one_side_is_said(tmp_path: Path) -> None:
    truth, read = [("Text", A, "of $x^2$")], [("Text", A, "of x2")]
    assert [issue.sentence for issue in evaluated(tmp_path, truth, read).issues] == [
        "truth.jsonl: inline math and Markdown are compared as they are written; found 1 item with some, none in "
        "read.jsonl. Read the numbers accordingly, or write both sides in one way."
    ]
    assert evaluated(tmp_path, truth, truth).issues == ()


def test_a_side_without_text_is_refused(tmp_path: Path) -> None:
    assert refusal(evaluated, tmp_path, [("Text", A, "a")], [("Text", A, None)]) == [
        "read.jsonl: text compares the text of items (Text of items); found none of 1 item has any. Give a file that "
        "has them, such as lines of items with text (format items, docs/formats.md)."
    ]


@pytest.mark.parametrize(
    ("name", "box", "sentence"),
    [
        (
            "most_pairs",
            None,
            "at most 3 pairs of items of the two sides of a page are compared by text; found 2 and 2. Give the items "
            "boxes, or split the page.",
        ),
        (
            "MOST_CHARACTER_PAIRS",
            A,
            "at most 3 pairs of characters of the two sides of a page are compared by text; found 2 and 2. Split the "
            "page, or the longest text.",
        ),
    ],
)
def test_more_pairs_than_a_page_may_have_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, box: list[float] | None, sentence: str
) -> None:
    limit = (lambda items: items * 0 + 3) if box is None else 3
    monkeypatch.setattr(item_pairs, name, limit)
    side = [("Text", box, "a"), ("Text", box, "b")]
    assert refusal(evaluated, tmp_path, side, side) == [f"read.jsonl: a, page 1: {sentence}"]


def test_the_terminal_gates_and_exports_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluated(tmp_path, [("Text", A, "a" * 300)], [("Text", A, "b" * 300)])
    files = "--gt", str(tmp_path / "truth.jsonl"), "--pred", str(tmp_path / "read.jsonl")
    assert run_command(capsys, "gate", "text", *files, "--fail-if", "cer > 0.5")[0] == 1
    code, out, err = run_command(capsys, "evaluate", "text", *files, "--words", "characters")
    assert (code, out, err) == (2, "", "error: --words must be one of scripts, spaces; found characters.\n")
    run_command(capsys, "evaluate", "text", *files, "--out", str(tmp_path / "out"))
    row = (tmp_path / "out" / "pairs.csv").read_text().splitlines()[1]
    assert "b" * 200 in row
    assert "b" * 201 not in row
