"""Costs beside quality: the oracle, rows of documents, and the whole sentence for what is wrong."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from evaluator.analysis.costs import ModelCosts, read_costs
from tests.building import annotations, box, ground_truth, write_file
from tests.reading import refusal
from tests.terminal import run_command

ORACLE = json.loads((Path(__file__).resolve().parents[1] / "oracles" / "reading" / "c01_costs.json").read_bytes())
PAGES = [("a.pdf", 0), ("a.pdf", 1), ("b.pdf", 0)]


def costs(folder: Path, text: str, models: tuple[str, ...] = ("m.json",), **options: Any) -> list[ModelCosts]:
    """A truth of three pages, and predictions on two of them."""
    path = folder / "costs.csv"
    path.write_text(text, encoding="utf-8")
    predicted = [box(0, 0, 0.1, 0.1, document=document, page=page) for document, page in PAGES[:2]]
    model = annotations(predicted)
    return read_costs(path, ground_truth([], pages=PAGES), dict.fromkeys(models, model), **options)


def test_the_numbers_of_the_oracle(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text(ORACLE["input"]["csv"], encoding="utf-8")
    pages = [(document, page) for document, count in ORACLE["input"]["pages"].items() for page in range(count)]
    (stated,) = read_costs(path, ground_truth([], pages=pages), {"m.json": annotations([])})

    def same(value: Any, own: Any) -> None:
        if isinstance(value, dict) and "fraction" in value:
            assert own == pytest.approx(value["value"], abs=1e-12)
        elif isinstance(value, dict):
            for name, inner in value.items():
                same(inner, own[name])
        else:
            assert own == value

    same(ORACLE["expected"], stated.costs.to_json())
    assert not stated.issues


def test_other_columns_are_kept_and_nothing_is_guessed(tmp_path: Path) -> None:
    (stated,) = costs(tmp_path, "document,page,status,gpu\na.pdf,1,skipped,H100\n")
    values = stated.costs.to_json()
    assert (values["pages"], values["stated"], values["unknown"]) == (3, 1, 2)
    assert values["seconds"] == {
        "total": None,
        "per_page_mean": None,
        "per_page_median": None,
        "pages": 0,
        "ok_mean": None,
    }
    assert (values["tokens"], values["by_page"][0]["more"]) == ({"input": None, "output": None}, {"gpu": "H100"})


def test_each_model_has_its_rows(tmp_path: Path) -> None:
    text = "document,model,seconds\na.pdf,one,4\na.pdf,two.json,6\nb.pdf,other,1\n"
    first, second = costs(tmp_path, text, ("one.json", "two.json"))
    assert [each.costs.to_json()["seconds"]["total"] for each in (first, second)] == [4, 6]
    assert [issue.sentence for issue in first.issues] == [
        'costs.csv: rows should name models that are compared; found 1 row of others, 1: "other". They are '
        'left out; write "one.json", for example.'
    ]
    assert refusal(costs, tmp_path, "document\na.pdf\n", ("one.json", "two.json")) == [
        "costs.csv: row 1: a table of several models must have a column model; found document. "
        'Name the model of each row, such as "one.json".'
    ]


def test_predictions_on_a_page_that_failed_are_compared_or_left_out(tmp_path: Path) -> None:
    text = "document,page,status\na.pdf,1,timeout\nb.pdf,0,failed\n"
    (kept,) = costs(tmp_path, text)
    assert (len(kept.prediction.boxes), [issue.sentence for issue in kept.issues]) == (2, [
        "costs.csv: a page that failed should have no predictions; found 1 prediction on pages 1: \"a.pdf, page 2\". "
        "They are compared; --failed-empty leaves them out."
    ])  # fmt: skip
    (dropped,) = costs(tmp_path, text, failed_empty=True)
    assert (len(dropped.prediction.boxes), dropped.prediction.fixes, dropped.issues) == (1, ("failed-empty",), ())


@pytest.mark.parametrize(
    ("rows", "issue"),
    [
        ("a.pdf,0,ok,-1,,", 'row 2, seconds: seconds must be a number from 0 to 1,000,000,000,000; found "-1". '
                            "Write it with a point, or leave it out."),
        ("a.pdf,0,ok,,nan,", 'row 2, cost: cost must be a number from 0 to 1,000,000,000,000; found "nan". '
                             "Write it with a point, or leave it out."),
        ("a.pdf,0,ok,1e308,,", 'row 2, seconds: seconds must be a number from 0 to 1,000,000,000,000; found "1e308". '
                               "Write it with a point, or leave it out."),
        ("a.pdf,0,done,,,", 'row 2, status: status must be one of ok, failed, timeout, skipped; found "done". '
                            "Correct it, or leave it out for ok."),
        ("a.pdf,0,,,,usd", 'row 2, currency: currency must be three capital letters (ISO 4217); found "usd". '
                           "Write it like USD."),
        ("a.pdf,0,,,,USD\na.pdf,1,,,,EUR", 'row 3, currency: a table of costs must have one currency; found "EUR", and '
                                           '"USD" before. Convert the costs to one.'),
        ("a.pdf,0,,,,\na.pdf,0,,,,", 'row 3: a table of costs must say a page once; found "a.pdf" again, as in row 2. '
                                     "Keep the row that is right."),
        ("a.pdf,0,,,,\na.pdf,,,,,", 'row 3: a document must have one row, or rows of its pages; found a row of "a.pdf" '
                                    "and one of a page of it, in row 2. Remove the row of the document, or those of "
                                    "its pages."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, rows: str, issue: str) -> None:
    text = f"document,page,status,seconds,cost,currency\n{rows}\n"
    assert refusal(costs, tmp_path, text) == [f"costs.csv: {issue}"]


def test_the_command_states_costs_beside_the_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [box(0.1, 0.1, 0.5, 0.5), box(0.1, 0.1, 0.5, 0.5, page=1)]
    truth = write_file(tmp_path / "truth.json", rows, side="ground_truth")
    read = write_file(tmp_path / "read.json", rows)
    table = tmp_path / "costs.csv"
    table.write_text("document,page,status,seconds\na.pdf,0,ok,2\na.pdf,1,failed,8\n", encoding="utf-8")
    given = ("evaluate", "snapshot", "--gt", truth, "--pred", read, "--costs", table)
    code, out, err = run_command(capsys, *given, "--failed-empty", "--json")
    values = json.loads(out)
    assert (code, values["costs"]["failed"], values["costs"]["seconds"]["total"]) == (0, 1, 10)
    assert values["thresholds"]["0.5"]["micro"]["tp"] == 1
    assert "fix: failed-empty" in values["signature"]
    code, out, err = run_command(capsys, *given)
    assert (code, "seconds per page" in out, '1 prediction on pages 1: "a.pdf, page 2"' in err) == (0, True, True)


@pytest.mark.parametrize(
    ("command", "second", "sides"),
    [
        (("evaluate",), "--pred", ("first", "second")),
        (("compare",), "--pred", ("a", "b")),
        (("gate", "--fail-if", "recall < 1"), "--baseline", ("result", "baseline")),
    ],
)
def test_each_command_states_the_costs_of_every_model_and_leaves_out_what_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], second: str, sides: tuple[str, str]
) -> None:
    rows = [box(0.1, 0.1, 0.5, 0.5), box(0.1, 0.1, 0.5, 0.5, page=1)]
    truth = write_file(tmp_path / "truth.json", rows, side="ground_truth")
    one, two = (write_file(tmp_path / f"{name}.json", rows) for name in ("one", "two"))
    table = tmp_path / "costs.csv"
    table.write_text("document,page,model,status,seconds\na.pdf,1,two,failed,8\na.pdf,,one,,3\n", encoding="utf-8")
    name, *more = command
    given = (name, "snapshot", "--gt", truth, "--pred", one, second, two, *more)
    code, out, err = run_command(capsys, *given, "--failed-empty")
    assert (code, err) == (2, "error: --failed-empty needs --costs, which says which pages failed.\n")
    given = (*given, "--costs", table)
    code, out, err = run_command(capsys, *given)
    assert (code, err.count('1 prediction on pages 1: "a.pdf, page 2"')) == (0, 1)
    stated = out[out.index("Failed pages, time and cost") :].splitlines()
    cells = [[cell.strip() for cell in line.split("│")] for line in stated]
    assert [line[1:9] for line in cells if len(line) > 9 and ".json" in line[1]] == [
        ["one.json", "2", "2", "2", "0", "0", "0", "3.0000"],
        ["two.json", "2", "1", "0", "1", "0", "0", "8.0000"],
    ]
    code, out, err = run_command(capsys, *given, "--failed-empty", "--json")
    values = json.loads(out)
    by_side = dict(zip(sides, values, strict=True)) if isinstance(values, list) else values
    outcomes = [
        (value["costs"]["failed"], value["thresholds"]["0.5"]["micro"]["tp"], "fix: failed-empty" in value["signature"])
        for value in map(by_side.__getitem__, sides)
    ]
    assert outcomes == [(0, 2, True), (1, 1, True)]


def test_a_row_of_a_document_that_all_of_its_pages_would_repeat_is_short(tmp_path: Path) -> None:
    assert refusal(costs, tmp_path, f"document,error,log\na.pdf,{'e' * 5_000},{'l' * 5_000}\n") == [
        "costs.csv: row 2: error and the other columns of a row may have 10,000 characters; found 10,003. Shorten "
        "them; each page of a document repeats them."
    ]


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ([f"c{at}" for at in range(50_000)], ["a.pdf,0" + "," * 50_000]),
        ([f"c{at}" for at in range(3_000)], [f"{name},0" + "," * 3_000 for name in ("a.pdf", *map(str, range(50)))]),
        (["model"], ["a.pdf,0,m.json", *(f"x{at}.pdf,0,m{at}" for at in range(30_000))]),
    ],
    ids=["columns", "cells", "models"],
)
def test_a_wide_or_long_table_costs_little(tmp_path: Path, columns: list[str], rows: list[str]) -> None:
    """Each took minutes."""
    start = time.process_time()
    (one,) = costs(tmp_path, "\n".join([",".join(["document", "page", *columns]), *rows]))
    assert [page.document for page in one.costs.stated] == ["a.pdf"]
    assert time.process_time() - start < 3.0
