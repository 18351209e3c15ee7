"""The profile omnidocbench-1.5: every oracle to the last digit, the demo pages, and what it refuses."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from evaluator import formats, project
from evaluator.protocols.base import Evaluation
from evaluator.protocols.omnidocbench import evaluation
from evaluator.protocols.omnidocbench.markdown import Item, items_of
from evaluator.protocols.omnidocbench.normal_forms import NEEDED, needed, normal_formula, normal_table, normal_text
from evaluator.protocols.omnidocbench.quick_match import Truth, least_distance, quick_match
from evaluator.protocols.omnidocbench.table_trees import teds_of_markup
from tests.building import write_items
from tests.reading import SHARED, needs_shared, refusal
from tests.terminal import run_command

for module in NEEDED:
    pytest.importorskip(module, reason="the extra omnidocbench is not installed")

ORACLES = Path(__file__).resolve().parents[1] / "oracles" / "reading"
DEMO = Path(SHARED, "real", "omnidocbench_demo")
PROFILE = "omnidocbench-1.5"
PROTOCOLS = ("text", "order", "tables")


def oracle(name: str) -> dict[str, Any]:
    return json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))


def written(folder: Path, truth: Any, markdown: dict[str, str]) -> tuple[Path, Path]:
    """A ground truth and a folder of Markdown."""
    path, read = folder / "truth.json", folder / "read"
    read.mkdir(exist_ok=True)
    path.write_text(json.dumps(truth), encoding="utf-8")
    for name, text in markdown.items():
        (read / name).write_text(text, encoding="utf-8")
    return path, read


def evaluated(protocol: str, truth: Path, read: Path, **options: Any) -> Evaluation:
    return project.evaluate(protocol, truth, [read], profile=PROFILE, **options)[0]


def numbers(truth: Path, read: Path) -> dict[str, Any]:
    of_each = (evaluated(protocol, truth, read).result.to_json()["omnidocbench"] for protocol in PROTOCOLS)
    return {element: held for each in of_each for element, held in each.items()}


def leaves(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """The numbers of an oracle by their names; samples and pages are compared apart."""
    if not isinstance(value, dict):
        return {path: value}
    parts = [leaves(held, (*path, key)) for key, held in value.items() if key not in ("samples", "pages")]
    return {name: held for part in parts for name, held in part.items()}


def page(*regions: tuple[str, Any, str, str], name: str = "a", relation: Any = ()) -> dict[str, Any]:
    """A page of regions: category, order, key and what it says."""
    poly = [0, 0, 9, 0, 9, 9, 0, 9]
    dets = [
        {"category_type": category, "order": order, "anno_id": at, "poly": poly, key: value}
        for at, (category, order, key, value) in enumerate(regions)
    ]
    info = {"page_no": 0, "height": 90, "width": 90, "image_path": f"{name}.jpg"}
    return {"layout_dets": dets, "page_info": info, "extra": {"relation": relation}}


@pytest.mark.parametrize("case", ["e01_text_and_order", "e02_truncated_and_ignored", "e03_formulas", "e04_tables"])
def test_the_numbers_and_samples_of_an_oracle(case: str, tmp_path: Path) -> None:
    held = oracle(case)
    expected = held["expected"]
    truth, read = written(tmp_path, held["input"]["ground_truth"], held["input"]["prediction"])
    own = leaves(numbers(truth, read))
    for name, value in leaves(expected).items():
        assert own[name] == (value if value is None else pytest.approx(value, abs=1e-9)), name
    pages = {protocol: evaluated(protocol, truth, read).result.pages for protocol in PROTOCOLS}  # type: ignore[attr-defined]
    for element, samples in (
        ("text_block", [(each.image, sample) for each in pages["text"] for sample in each.texts]
                       + [(each.image, sample) for each in pages["text"] for sample in each.moved]),
        ("display_formula", [(each.image, sample) for each in pages["text"] for sample in each.formulas]),
        ("table", [(each.image, table.text) for each in pages["tables"] for table in each.tables]),
    ):  # fmt: skip
        held_samples = (expected[element] or {}).get("samples", [])
        wanted = [(each["page"].removesuffix("_0"), each["gt"], each["pred"]) for each in held_samples]
        assert [(image, sample.truth, sample.predicted) for image, sample in samples] == wanted
    orders = [(each.image, each.order.truth, each.order.predicted) for each in pages["order"] if each.order]
    assert orders == [(each["page"], each["gt"], each["pred"]) for each in expected["reading_order"]["pages"]]


@needs_shared
def test_the_demo_pages_have_their_published_numbers() -> None:
    expected = oracle("e05_demo_numbers")["expected"]
    truth, read = DEMO / "omnidocbench_demo" / "OmniDocBench_demo.json", DEMO / "end2end"
    own = leaves(numbers(truth, read))
    for name, value in leaves(expected["totals"]).items():
        assert own[name] == pytest.approx(value, abs=1e-9), name
    for each in evaluated("text", truth, read).result.pages:  # type: ignore[attr-defined]
        ratios = [sample.ratio for sample in (*each.texts, *each.moved)]
        sums = [sum(column) for column in zip(*ratios, strict=True)] if ratios else []
        if each.image in expected["text_pages"]:
            assert [*sums, len(ratios)] == [
                expected["text_pages"][each.image][key] for key in ("edits", "longest", "samples")
            ]


def test_the_signature_says_the_profile_and_what_is_left_out(tmp_path: Path) -> None:
    pages = [page(("text_block", 1, "text", "one"), name=name) for name in ("a", "b.pdf_1", "c")]
    truth, read = written(tmp_path, pages, {"a.md": "one", "b_1.mmd": "other", "z.md": ""})
    result = evaluated("text", truth, read).result
    assert result.signature.line.startswith(
        "text omnidocbench-1.5 (7bd6c2e) · quick match · pages without prediction left out: 1 · 2 documents, 2 pages"
    )
    values = result.to_json()
    assert values["documents_only_in"] == {"ground_truth": ["c"], "predictions": ["z.md"]}
    assert values["dataset"]["ned"]["pages"] == 2


def test_markdown_is_taken_apart_in_this_order() -> None:
    text = (
        "![p](p.png)# Title\n\nof $x_1$ and \\(y\\)\n\n$$a\n= b$$\n\n<table><tr><td>1</td></tr></table>\n\nlost\n"
        "| a | 9:30 |\n|---|---|\n| b | c |\nafter\n\n```py\ncode\n```\n\n$ $\n\n\\section{Last}"
    )
    assert [(item.kind, item.text, item.inline) for item in items_of(text)] == [
        ("text", "# Title", False), ("text", "of $x_1$ and \\(y\\)", False), ("formula", "\\[x_1\\]", True),
        ("formula", "\\[y\\]", True), ("formula", "\\[a = b\\]", False),
        ("html", "<table><tr><td>1</td></tr></table>", False),
        ("html", '<table border="1" >\n    <tr>\n      <td colspan="1" rowspan="1">a</td>\n    </tr>\n    <tr>\n'
                 '      <td colspan="1" rowspan="1">b</td>\n      <td colspan="1" rowspan="1">c</td>\n    </tr>\n'
                 "</table>", False),
        ("formula", "\\[ \\]", True), ("text", "after", False), ("text", "```py\ncode", False), ("text", "Last", False),
    ]  # fmt: skip


def test_an_element_without_an_end_is_passed_over() -> None:
    text = "<table><tr>\n\nwords that follow it\n\n<table><td>1</td></table> end"
    assert [item.text for item in items_of(text) if item.kind == "html"] == ["<table><td>1</td></table>"]
    nested = "<table><td><table><td>1</td></table></td></table>"
    assert [item.text for item in items_of(nested)] == [nested]


@pytest.mark.parametrize(
    "mark", ["![](", "| ", "|\n\t", "\\[", "\\(", "$ ", "\\begin{tabular}", "<table", "```a\n", "\\title {"]
)
def test_marks_without_an_end_do_not_take_for_ever(mark: str) -> None:
    text = mark * (100_000 // len(mark))
    assert all(item.start <= len(text) for item in items_of(text))
    assert normal_text(text) is not None
    assert normal_formula("\\tag{" * 20_000 + text) is not None


def test_thousands_of_tables_of_bars_are_taken_out_at_once() -> None:
    """Each was taken out by itself, which made a text of a megabyte anew each time."""
    start = time.process_time()
    assert len(items_of("|a|b|\n|-|-|\n|c|d|\n\n" * 6_000)) == 6_000
    assert time.process_time() - start < 2.0


def test_normal_forms() -> None:
    assert normal_text("in and/then $x_1$ \\n \\(a^2\\) $5") == "inandhenx_1a25"
    assert normal_text("$\\frac") == "frac"
    assert normal_formula("$$ \\mathbf{X} = \\text{a}\\tag{1} . $$") == "{x}={a}."
    assert normal_formula("\\[ A \\quad\\left( b \\]") == "a(b"
    assert normal_table("<TABLE><td>1</td></TABLE>") == ""
    # The parser refuses this.
    assert normal_table("<table><![foo[x]]></table>") == '<html><body><table border="1" ></table></body></html>'
    head = '<thead><tr><th style="s">A<sup>2</sup></th></tr></thead>'
    html = f'<table class="t">{head}<tbody><tr><td>&lt;b\n</td></tr></tbody></table>'
    assert normal_table(html) == (
        '<html><body><table border="1" ><tr><td>A2</td></tr><tr><td><b</td></tr></table></body></html>'
    )


def test_lines_that_say_one_text_together_are_joined() -> None:
    truth = Truth("text_block", "The gauge was read every morning and every evening of the year.", 1)
    other = Truth("text_block", "Nothing was written down on Sundays by anybody there.", 2)
    items = [Item("text", "The gauge was read every morning", 0), Item("text", "and every evening of the year.", 40),
             Item("text", "Nothing was written down on Sundays by anybody there.", 80)]  # fmt: skip
    entries = quick_match([truth, other], items)
    assert sorted((len(entry.orders), entry.position, entry.truth == entry.predicted) for entry in entries) == [
        (1, 0, True), (1, 80, True),
    ]  # fmt: skip


def test_true_lines_inside_of_one_are_one_entry() -> None:
    truths = [Truth("text_block", "First sentence here.", 1), Truth("text_block", "Second sentence there, longer.", 2)]
    (entry,) = quick_match(truths, [Item("text", "First sentence here. Second sentence there, longer.", 0)])
    assert (entry.orders, entry.truth) == ((1, 2), "FirstsentencehereSecondsentencetherelonger")


@given(st.text("abc", max_size=30), st.text("abc", max_size=12), st.sampled_from((0.4, 0.6)))
def test_the_least_distance_is_that_of_every_window(text: str, part: str, below: float) -> None:
    windows = [text[at : at + len(part)] for at in range(len(text) - len(part) + 1)] if part else []
    every = min((Levenshtein.distance(window, part) / len(part) for window in windows), default=1.0)
    own = least_distance(text, part, below)
    assert own == every if every <= below else own > below


def test_an_array_of_one_column_is_a_formula_for_each_row() -> None:
    latex = "\\begin{array}{l} a=1 \\\\ b=2 \\end{array}"
    entries = quick_match([Truth("equation_isolated", latex, 3)], [Item("formula", f"\\[{latex}\\]", 10)])
    assert [entry.orders for entry in entries] == [(3.1,), (3.2,)]
    assert [entry.predicted for entry in entries] == ["a=1", "b=2"]


def table(rows: list[list[str]], row: str = "tr") -> str:
    inside = "".join(f"<{row}>{''.join(f'<td>{cell}</td>' for cell in cells)}</{row}>" for cells in rows)
    return f'<html><body><table border="1" >{inside}</table></body></html>'


def test_teds_is_the_same_for_any_tags_of_rows() -> None:
    """Rows of another tag go through the general tree distance."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        sides = [
            [["ab"[at] for at in rng.integers(0, 2, rng.integers(1, 4))] for _ in range(rng.integers(1, 4))]
            for _ in "ab"
        ]
        assert teds_of_markup(*(table(rows) for rows in sides)) == pytest.approx(
            teds_of_markup(*(table(rows, "tfoot") for rows in sides)), abs=1e-12
        )


def test_tags_in_cells_count_in_the_size_alone() -> None:
    plain, marked = table([["ab", "c"]]), table([["a<b>b</b>", "c"]])
    assert teds_of_markup(plain, plain) == (1.0, 1.0)
    # Four signs for two; four nodes with that of the tag.
    assert teds_of_markup(plain, marked) == pytest.approx((1 - 0.5 / 4, 1.0))
    assert teds_of_markup(plain, "") == teds_of_markup(plain, "<p>1</p>") == (0.0, 0.0)


def test_what_is_wrong_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, read = written(tmp_path, [page(("text_block", 1, "text", "one"))], {"a.md": "one"})
    with pytest.raises(
        project.OptionError, match=r"--profile omnidocbench-1\.5 is as published; leave out --same-label"
    ):
        evaluated("text", truth, read, same_label=True)
    (read / "b.md").write_bytes(b"\xff")
    assert refusal(evaluated, "text", truth, read) == [
        "read: b.md: text must be UTF-8 (Markdown); found byte 0xFF at 0. Save the file as UTF-8."
    ]
    (read / "b.md").write_text("x" * 100_001, encoding="utf-8")
    assert refusal(evaluated, "text", truth, read) == [
        "read: b.md: a page may have 100,000 characters (Markdown); found 100,001. Give each page a file of its own."
    ]
    (read / "b.md").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "MOST_COMPARED", 5)
        assert refusal(evaluated, "text", truth, read) == [
            "read: a.jpg: omnidocbench-1.5 takes pages of up to 5 texts times characters of the other side; found 6. "
            "Split the page, or evaluate it without --profile."
        ]
    assert refusal(formats.read, read) == [
        "read: Markdown has no boxes; found a folder of it. "
        "Evaluate it with order, text or tables and --profile omnidocbench-1.5."
    ]
    assert formats.read(read / "a.md", format="markdown", items=True).boxes.text == ["one"]
    assert refusal(project.evaluate, "text", truth, [read]) == [
        "read: Markdown is compared with Markdown, or with a ground truth of OmniDocBench under its profile; found "
        "truth.json (omnidocbench). Add --profile omnidocbench-1.5, or choose it in Reading; else give Markdown for "
        "both."
    ]
    other = write_items(tmp_path / "items.jsonl", [{"items": []}])
    assert refusal(evaluated, "text", other, read)[0].startswith("items.jsonl: ")


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    needed.cache_clear()
    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(
        ValueError, match=r'needs beautifulsoup4; run uv pip install -e "\.\[omnidocbench\]" in the clone'
    ):
        needed("bs4")


def test_numbers_are_compared_and_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = [page(("text_block", 1, "text", "one two three"), ("text_block", 2, "text", "four five six"), name=name)
             for name in "abcdef"]  # fmt: skip
    truth, read = written(tmp_path, pages, {f"{name}.md": "one two three\n\nfour five six" for name in "abcdef"})
    other = tmp_path / "other"
    other.mkdir()
    for name in "abcdef":
        (other / f"{name}.md").write_text("one two thr33\n\nfour", encoding="utf-8")
    for protocol in ("text", "order"):
        code, out, err = run_command(
            capsys, "compare", protocol, "--gt", truth, "--pred", read, "--pred", other, "--profile", PROFILE
        )
        assert (code, err) == (0, ""), (out, err)
    code, out, _ = run_command(capsys, "evaluate", "text", "--gt", truth, "--pred", read, "--profile", PROFILE)
    assert (code, "ALL_page_avg" in out) == (0, True)
    of_slices = ("slices", "text", "--gt", truth, "--pred", read, "--profile", PROFILE)
    code, out, err = run_command(capsys, *of_slices)
    assert (code, out) == (2, "")
    assert err == "error: slices of published numbers are by page; give --measure pages, or leave out --profile.\n"
    code, out, err = run_command(capsys, *of_slices, "--measure", "pages", "--json")
    assert (code, json.loads(out), err[:47]) == (0, [], "note: Too few documents to say: 6 with pages. A")


def test_parts_give_the_result_of_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = oracle("e03_formulas")["input"]
    truth, read = written(tmp_path, held["ground_truth"], held["prediction"])
    for protocol in PROTOCOLS:
        given = ("evaluate", protocol, "--gt", truth, "--pred", read, "--profile", PROFILE)
        for number in (1, 2):
            run_command(capsys, *given, "--shard", f"{number}/2", "--out", tmp_path / protocol)
        _, merged, _ = run_command(capsys, "merge", tmp_path / protocol, "--json")
        assert merged == run_command(capsys, *given, "--json")[1]
