"""The page of all errors is that of the code, and what the readers really say is on it."""

from __future__ import annotations

import re

import pytest

from evaluator import cli
from tests import error_page
from tests.test_readers_snapshot import BROKEN, outcome

SAMPLE = error_page.ROOT / "sample_data"


def test_the_page_is_up_to_date() -> None:
    why = "run python -m tests.error_page"
    assert error_page.PAGE.read_text(encoding="utf-8") == error_page.page(), why


def test_every_rule_has_its_fix_and_only_its_own() -> None:
    lines = error_page.PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line[2:-2].split(" | ") for line in lines if line.startswith("| ") and " | " in line]
    assert [row for row in rows if error_page.OPEN in row] == []
    fixes = {rule: {row[1] for row in rows if row[0] == rule and len(row) > 1} for rule, *_ in rows}
    # A fix that is given to the function that notes it, one of several of a function, and one by the side.
    assert fixes["unit must be inch or pixel (Document Intelligence)"] == {"Export the file again, or correct it."}
    assert fixes["WIDTH and HEIGHT must not be negative (ALTO)"] == {"Correct the block, or remove it."}
    assert fixes["an item should state a box once (DoclingDocument)"] == {"It is read once."}


def test_what_is_said_of_broken_files_stands_on_the_page() -> None:
    lines = error_page.PAGE.read_text(encoding="utf-8").splitlines()
    rules = {line[2:].split(" | ")[0] for line in lines if line.startswith("| ")} - {"rule", "---"}
    # A rule that begins and ends with what is filled in would fit anything.
    known = re.compile("|".join(re.escape(rule).replace(error_page.OPEN, ".*") for rule in rules if len(rule) > 12))
    issues = [issue for row in BROKEN.ROWS for issue in outcome(row.content, side=row.side)[1]]
    said = {error_page.shown(issue.rule) for issue in issues}
    assert len(said) > 20
    missing = [rule for rule in sorted(said) if not known.fullmatch(rule)]
    assert missing == [], "\n".join(missing)


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "snapshot", "--labels", "Nonsense"),
        ("evaluate", "snapshot", "--class-weight", "Nonsense=2"),
        ("evaluate", "snapshot", "--map-label", "Nonsense=Table"),
        ("evaluate", "snapshot", "--fix", "label=Nonsense=Table"),
        ("evaluate", "pixel", "--labels", "Nonsense", "--page-size", "9x9"),
        ("slices", "snapshot", "--measure", "nonsense"),
        ("nonsense",),
    ],
)
def test_what_is_said_of_options_stands_on_the_page(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    sides = () if len(words) == 1 else ("--gt", str(SAMPLE / "ground_truth.json"), "--pred", str(SAMPLE / "lines.json"))
    with pytest.raises(SystemExit) as left:
        cli.main([*words, *sides])
    assert left.value.code == 2
    said = next(line for line in capsys.readouterr().err.splitlines() if line.startswith("error: "))
    lines = error_page.PAGE.read_text(encoding="utf-8").splitlines()
    sentences = {cell for line in lines if line.startswith("| ") for cell in line[2:-2].split(" | ")[:1]}
    stated = [each.removeprefix("error: ").split(" See layoutscope")[0].removesuffix(".") for each in sentences]
    # A sentence that is mostly filled in would fit anything.
    known = [re.escape(each) for each in stated if len(each.replace(error_page.OPEN, "")) > 15]
    assert any(re.search(each.replace(error_page.OPEN, ".*"), said) for each in known), said


@pytest.mark.parametrize("kind", ["too_slow", "blocked", "worker_lost"])
def test_problems_of_pages_stand_on_the_page(kind: str) -> None:
    title = error_page.blanked(error_page.pages._SENTENCES[kind][0])
    assert f"| {title} |" in error_page.PAGE.read_text(encoding="utf-8")
