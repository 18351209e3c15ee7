"""Outputs to the letter, and hostile text that stays text: in a spreadsheet, in Markdown, on a terminal."""

import csv
import io
import re

import msgspec
import pytest

from evaluator.data.issues import Issue, issues_text
from evaluator.metrics.export import to_csv, to_json, to_markdown, to_text
from evaluator.metrics.results import ResultTable

COLUMNS = ("iou_threshold", "label", "tp", "precision")


def table(*rows: tuple[object, ...], title: str = "model.json", signature: str = "snapshot 1.3") -> ResultTable:
    return ResultTable(title=title, signature=signature, columns=COLUMNS, rows=rows)  # type: ignore[arg-type]


SMALL = table((0.5, "All labels", 1234, 2 / 3), (0.5, "Table", 0, None))


def test_csv() -> None:
    head, *rows = [
        "predictions,iou_threshold,label,tp,precision,signature",
        "model.json,0.5,All labels,1234,0.6666666666666666,snapshot 1.3",
        "model.json,0.5,Table,0,,snapshot 1.3",
    ]
    assert to_csv([SMALL]) == "\n".join([head, *rows, ""])
    assert to_csv([table()]) == f"{head}\n"
    second = table((-0.75, "Table", -1, 1.0), title="b, c.json", signature='says "x"')
    # Several models have one header; negative numbers are numbers.
    assert to_csv([SMALL, second]).splitlines() == [head, *rows, '"b, c.json",-0.75,Table,-1,1.0,"says ""x"""']


def named(label: str) -> ResultTable:
    return table((0.5, label, 1, 1.0), title=label, signature=label)


CELLS = {
    "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1+1": "'\\t=1+1", "\r=1+1": "'\\r=1+1",
    "  =1+1": "'  =1+1", '=HYPERLINK("http://x","y")': '\'=HYPERLINK("http://x","y")', "a=b": "a=b", "a\nb": "a\\nb",
    "\x1b[31m\u202e": "\\x1b[31m\\u202e",
}  # fmt: skip


def test_a_spreadsheet_runs_nothing() -> None:
    for label, cell in CELLS.items():
        row = list(csv.reader(io.StringIO(to_csv([named(label)]))))[1]
        assert (row[0], row[2], row[5]) == (cell, cell, cell)


def test_markdown() -> None:
    assert to_markdown([SMALL]).splitlines() == [
        "**model.json**", "", "snapshot 1.3", "",
        "| iou_threshold | label | tp | precision |",
        "| ---: | --- | ---: | ---: |",
        "| 0.5000 | All labels | 1,234 | 0.6667 |",
        "| 0.5000 | Table | 0 | n/a |",
    ]  # fmt: skip
    assert to_markdown([SMALL, SMALL]).count("\n\n**model.json**") == 1


ESCAPED = {
    "a|b": "a\\|b", "[a](http://x)": "\\[a\\](http\\://x)", "<img src=x>": "\\<img src=x\\>", "`code`": "\\`code\\`",
    "**b** _i_ ~s~": "\\*\\*b\\*\\* \\_i\\_ \\~s\\~", "a\nb": "a\\\\nb", "\\|": "\\\\\\|", "&lt;": "\\&lt;",
    "$x$": "\\$x\\$", "www.example.org": "www\\.example.org", "WWW.example.org": "WWW\\.example.org",
    "https://example.org": "https\\://example.org", "a@example.org": "a\\@example.org", "![x](y)": "!\\[x\\](y)",
    ":smile:": "\\:smile:", "__b__": "\\_\\_b\\_\\_", "# head": "\\# head", "\u202eabc": "\\\\u202eabc",
}  # fmt: skip
PLAIN = ("Decided: 3 of 7", "at 12:30", "ground_truth.json", "Paragraphs joined!", "Ink & words", "ends with:")


@pytest.mark.parametrize("label", [*ESCAPED, *PLAIN])
def test_no_label_becomes_markup_and_words_without_it_are_read_as_they_are(label: str) -> None:
    cell = ESCAPED.get(label, label)
    lines = to_markdown([named(label)]).splitlines()
    assert (lines[0], lines[2], lines[6]) == (f"**{cell}**", cell, f"| 0.5000 | {cell} | 1 | 1.0000 |")
    assert len(lines) == 7
    # Unescaped, a row has exactly the bars that separate its cells.
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", lines[6])) == 5


def test_text_is_made_for_a_terminal() -> None:
    lines = to_text([SMALL]).splitlines()
    assert lines[0].strip() == "model.json"
    assert [cell.strip() for cell in re.split("[│┃]", lines[2])[1:-1]] == ["iou threshold", "label", "tp", "precision"]
    assert [cell.strip() for cell in lines[4].split("│")[1:-1]] == ["0.5000", "All labels", "1,234", "0.6667"]
    assert [cell.strip() for cell in lines[5].split("│")[1:-1]] == ["0.5000", "Table", "0", "n/a"]
    assert lines[-1].strip() == "snapshot 1.3"
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, to_text([SMALL], width=40).splitlines())) <= 40


@pytest.mark.parametrize("hostile", ["\x1b[31mred", "\u202egnp", "a\nb", "[bold]x[/bold]", "\x9b0m", "\x07", ":smile:"])
def test_a_terminal_obeys_nothing(hostile: str) -> None:
    text = to_text([named(hostile)])
    assert not set(text) & {"\x1b", "\u202e", "\x9b", "\x07", "\r"}
    shown = ascii(hostile)[1:-1] if not hostile.isprintable() else hostile
    assert text.count(shown) == 3


def test_json_has_no_nan_and_no_closing_newline() -> None:
    text = to_json({"a": None, "b": float("nan"), "c": "\u202e", "d": 0.1})
    assert "NaN" not in text
    assert text.startswith('{\n  "a": null')
    assert text.endswith("}")
    assert msgspec.json.decode(text) == {"a": None, "b": None, "c": "\u202e", "d": 0.1}


def test_issues() -> None:
    error = Issue(severity="error", file="p.json", place="$.a", rule="a is required", found="", fix="Add it.")
    warning = Issue(severity="warning", file="p\x1b.json", place="", rule="b", found='"x"', fix="Look.")
    assert issues_text([error, warning]) == (
        'error: p.json: $.a: a is required. Add it.\nwarning: p\\x1b.json: b; found "x". Look.\n'
    )
    assert issues_text([]) == ""
