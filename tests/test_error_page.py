"""The page of all errors is that of the code, and what the readers really say is on it."""

from __future__ import annotations

import re

import pytest

from tests import error_page
from tests.test_readers_snapshot import BROKEN, outcome


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


@pytest.mark.parametrize("kind", ["too_slow", "blocked", "worker_lost"])
def test_problems_of_pages_stand_on_the_page(kind: str) -> None:
    title = error_page.blanked(error_page.pages._SENTENCES[kind][0])
    assert f"| {title} |" in error_page.PAGE.read_text(encoding="utf-8")
