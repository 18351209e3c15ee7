"""Table structure: every oracle to 1e-9, the distance of trees against the general one, and how it is said."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from evaluator import project
from evaluator.data.cells import MOST_MARKUP, Cell, Table, cells_of
from evaluator.protocols.base import Evaluation
from evaluator.protocols.tables import compare_tables
from evaluator.protocols.tables import evaluation as tables
from evaluator.protocols.tables.teds import teds_of
from tests.building import write_items
from tests.reading import refusal
from tests.terminal import run_command

ORACLES = Path(__file__).resolve().parents[1] / "oracles" / "reading"
CASES = sorted(path.stem for path in ORACLES.glob("b*.json") if path.stem[:3] not in ("b13", "b14"))
BOX = [0, 0, 100, 50]
ONE = "<table><tr><td>x</td><td>y</td></tr><tr><td>1</td><td>2</td></tr></table>"


def oracle(name: str) -> dict[str, Any]:
    return json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))


def table(value: Any) -> Table:
    if isinstance(value, str):
        return value
    return tuple(Cell(**{**cell, "box": tuple(cell["box"]) if cell.get("box") else None}) for cell in value)


def number(value: Any) -> Any:
    return pytest.approx(value["value"], abs=1e-9) if isinstance(value, dict) and "fraction" in value else value


def evaluated(folder: Path, pages: Sequence[tuple[list[Any], list[Any]]], **options: Any) -> Evaluation:
    paths = [
        write_items(folder / name, [{"items": [{"label": "table", **item} for item in page[side]]} for page in pages])
        for side, name in enumerate(("truth.jsonl", "read.jsonl"))
    ]
    return project.evaluate("tables", paths[0], [paths[1]], **options)[0]


@pytest.mark.parametrize("case", CASES)
def test_the_numbers_of_an_oracle(case: str) -> None:
    held = oracle(case)
    for pair, expected in zip(held["input"]["pairs"], held["expected"]["pairs"], strict=True):
        own = compare_tables(table(pair["ground_truth"]), table(pair["prediction"]))
        plain = own.to_json()
        assert [list(shape) for shape in own.shape] == expected["shape"]
        for name in ("teds", "teds_s"):
            assert plain[name] == number(expected[name]), name
        for name in () if own.undefined else ("grits_top", "grits_con", "grits_loc"):
            score = expected[name]
            assert plain[name] == (score and {key: number(value) for key, value in score.items()}), name
        assert sorted(map(str, map(key_of, plain["mistakes"]))) == sorted(map(str, map(key_of, expected["mistakes"])))


def key_of(mistake: dict[str, Any]) -> tuple[Any, ...]:
    line = mistake["name"].endswith(("shifted", "wrong")) and mistake["name"] != "text_wrong"
    cells = [] if line else [mistake.get("cells", []), mistake.get("prediction", mistake.get("predictions", []))]
    return (mistake["name"], mistake.get("row"), mistake.get("column"), mistake.get("step"), *cells)


def test_notations_of_one_table_have_the_same_cells() -> None:
    held = oracle("b13_notations")
    for names, cells in held["expected"].items():
        for name in names.split(" = "):
            own = cells_of(held["input"][name])
            assert own == (cells and tuple(Cell(**cell) for cell in cells)), name


def test_pages_of_tables(tmp_path: Path) -> None:
    held = oracle("b14_pages")
    pages = [(page["ground_truth"], page["prediction"]) for page in held["input"]["pages"]]
    result, expected = evaluated(tmp_path, pages).result, held["expected"]
    dataset = result.to_json()["dataset"]
    assert [pair.teds for page in result.pages for pair in page.tables if pair.has_truth] == list(
        map(number, expected["teds"])
    )
    assert dataset["teds"]["table_mean"] == number(expected["teds_mean_tables"])
    assert dataset["teds"]["page_mean"] == number(expected["teds_mean_pages"])
    assert (dataset["tables"], dataset["missing"], dataset["extra"]) == (3, 1, 1)
    micro = expected["grits_con_micro"]
    assert {name: dataset["grits_con"][name] for name in micro} == {key: number(each) for key, each in micro.items()}
    assert result.signature.line == (
        "tables 1 · IoU ≥ 0.50, any label · plain · TEDS canonical, GriTS LCS and true IoU · 1 document, 3 pages · "
        f"{result.signature.package}"
    )


texts = st.sampled_from(["", "a", "ab", "b", "3.1"])
rows_of_cells = st.lists(st.lists(st.tuples(texts, st.sampled_from([1, 1, 1, 2])), max_size=3), min_size=1, max_size=3)


def cells_in(rows: list[list[tuple[str, int]]]) -> list[Cell]:
    return [
        Cell(row, 2 * at, 1, span, text=text) for row, line in enumerate(rows) for at, (text, span) in enumerate(line)
    ]


def general_distance(one: list[Cell], other: list[Cell]) -> tuple[float, int]:
    def postorder(cells: list[Cell]) -> tuple[list[tuple[Any, ...]], list[int]]:
        nodes: list[tuple[Any, ...]] = []
        leftmost = []
        for row in range(max(cell.row for cell in cells) + 1):
            start = len(nodes)
            for cell in (cell for cell in cells if cell.row == row):
                leftmost.append(len(nodes))
                nodes.append(("td", cell.col_span, cell.text))
            leftmost.append(start)
            nodes.append(("tr", 1, ""))
        return [*nodes, ("table", 1, "")], [*leftmost, 0]

    (a, left_a), (b, left_b) = postorder(one), postorder(other)
    keys = [[at for at in range(len(left)) if left[at] not in left[at + 1 :]] for left in (left_a, left_b)]
    trees = [[0.0] * len(b) for _ in a]
    for i, j in itertools.product(*keys):
        held = {(left_a[i] - 1, left_b[j] - 1): 0.0}
        for x in range(left_a[i], i + 1):
            held[x, left_b[j] - 1] = held[x - 1, left_b[j] - 1] + 1
        for y in range(left_b[j], j + 1):
            held[left_a[i] - 1, y] = held[left_a[i] - 1, y - 1] + 1
        for x, y in itertools.product(range(left_a[i], i + 1), range(left_b[j], j + 1)):
            whole = left_a[x] == left_a[i] and left_b[y] == left_b[j]
            change = 1.0 if a[x][:2] != b[y][:2] else Levenshtein.normalized_distance(a[x][2], b[y][2])
            tree = held[x - 1, y - 1] + change if whole else held[left_a[x] - 1, left_b[y] - 1] + trees[x][y]
            held[x, y] = min(held[x - 1, y] + 1, held[x, y - 1] + 1, tree)
            if whole:
                trees[x][y] = held[x, y]
    return trees[-1][-1], max(len(a), len(b)) - 1


@given(rows_of_cells, rows_of_cells)
def test_the_distance_of_tables_is_that_of_any_ordered_trees(
    one: list[list[tuple[str, int]]], other: list[list[tuple[str, int]]]
) -> None:
    first, second = cells_in(one), cells_in(other)
    own = teds_of(first, second)
    if not first or not second:
        assert own == (None if not first else (0.0, 0.0))
        return
    distance, nodes = general_distance(first, second)
    assert own is not None
    assert own[0] == pytest.approx(1.0 - distance / nodes, abs=1e-9)


def test_what_has_no_cells_is_counted_and_said(tmp_path: Path) -> None:
    pages = [
        ([{"box": BOX, "html": ONE}], [{"box": BOX, "html": "<p>x</p>"}]),
        ([{"box": BOX, "html": ONE}], [{"box": BOX, "html": "<table></table>"}]),
        ([{"box": BOX, "html": "<table></table>"}], [{"box": BOX, "html": ONE}]),
        ([{"box": BOX, "html": ONE}], [{"box": BOX, "html": ONE}]),
    ]
    evaluation = evaluated(tmp_path, pages)
    dataset = evaluation.result.to_json()["dataset"]
    assert [dataset[name] for name in ("tables", "unreadable", "empty", "undefined")] == [4, 1, 1, 1]
    assert dataset["teds"] == {"table_mean": 1 / 3, "page_mean": 1 / 3, "document_mean": 1 / 3, "pages": 3}
    assert [issue.sentence for issue in evaluation.issues] == [
        "truth.jsonl: a table of the ground truth must have cells to be compared; found 1 table, the first on a, page "
        "3. It is left out; correct its markup."
    ]


@pytest.mark.parametrize(
    ("limit", "most", "few"),
    [("cells", 15, 99), ("slots of few cells", 99, 15)],
)
def test_tables_of_too_many_pairs_have_no_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, few: int
) -> None:
    monkeypatch.setattr(tables, "MOST_PAIRS", most)
    monkeypatch.setattr(tables, "_FEW_PAIRS", few)
    wide = ONE if limit == "cells" else "<table><tr><td colspan=9>a</table>"
    evaluation = evaluated(tmp_path, [([{"box": BOX, "html": wide}], [{"box": BOX, "html": wide}])])
    dataset = evaluation.result.to_json()["dataset"]
    assert (dataset["tables"], dataset["teds"]["table_mean"], dataset["grits_con"]["f"]) == (1, None, None)
    assert [issue.sentence for issue in evaluation.issues] == [
        f"read.jsonl: two tables may have {most} pairs of slots, 64 for each pair of cells; found 1 table, the first "
        "on a, page 1. They have no numbers; split them."
    ]


@pytest.mark.parametrize(
    "markup",
    [
        "<table>" + "x" * MOST_MARKUP, "<table>" * 300, "<table>" + "<tr><td colspan=1000>" * 101, "no table",
        "<table><tr>" + "<td rowspan=99999 colspan=1000>" + "<tr>" * 101,
    ],
)  # fmt: skip
def test_markup_beyond_the_limits_is_unreadable(markup: str) -> None:
    assert cells_of(markup) is None


@pytest.mark.parametrize(
    ("markup", "cells"),
    [
        ("<table><td>a</td><td>b</td></tr><td>c", [(0, 0, "a"), (0, 1, "b"), (1, 0, "c")]),
        ("<table><thead><td rowspan=2>a</TR >x<td>b", [(0, 0, "a"), (1, 1, "b")]),
        ("<table><td>a</tbody>x<td>b</th>y", [(0, 0, "a"), (1, 0, "b")]),
        ("<table><tr><td/>a<Th class='x'/>b</td>x<td>c", [(0, 0, "a"), (0, 1, "b"), (0, 2, "c")]),
        ("<table><tr><td>a</td-x><td>b</tfootx>c", [(0, 0, "a"), (0, 1, "bc")]),
    ],
)
def test_rows_and_cells_end_as_in_a_browser(markup: str, cells: list[tuple[int, int, str]]) -> None:
    assert [(cell.row, cell.col, cell.text) for cell in cells_of(markup) or ()] == cells


@pytest.mark.parametrize(
    "part", ["<", "<!--", "<![", "<a ", "</", "&", "&#", "<td ", "<td/", "</tr", "<tr><td>", "<td a='"]
)
@pytest.mark.timeout(60)
def test_hostile_markup_does_not_take_quadratic_time(part: str) -> None:
    cells_of("<table>" + part * (200_000 // len(part)))


def test_a_side_without_tables_is_refused(tmp_path: Path) -> None:
    assert refusal(evaluated, tmp_path, [([{"box": BOX, "html": ONE}], [{"box": BOX}])]) == [
        "read.jsonl: tables compares tables with cells (Table structure); found none of 1 item has any. Give a file "
        "that has them, such as lines of items with html or cells (format items, docs/formats.md)."
    ]


def test_the_terminal_gates_and_exports_pairs_and_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluated(tmp_path, [([{"box": BOX, "html": ONE}], [{"box": BOX, "html": ONE.replace("y", "z")}])])
    files = "--gt", str(tmp_path / "truth.jsonl"), "--pred", str(tmp_path / "read.jsonl")
    assert run_command(capsys, "gate", "tables", *files, "--fail-if", "teds < 0.9")[0] == 1
    run_command(capsys, "evaluate", "tables", *files, "--out", str(tmp_path / "out"))
    rows = (tmp_path / "out" / "mistakes.csv").read_text().splitlines()
    assert rows[1].startswith("read.jsonl,a,0,0,0,text_wrong,1,,,1,1,")
    assert len((tmp_path / "out" / "pairs.csv").read_text().splitlines()) == 2
