"""The page of all errors is that of the code, and what the readers really say is on it."""

import re

import pytest

from tests import error_page
from tests.formats.test_readers_snapshot import broken, outcome


def test_the_page_is_up_to_date() -> None:
    why = "run python -m tests.error_page"
    assert error_page.PAGE.read_text(encoding="utf-8") == error_page.page(), why


def rows() -> list[list[str]]:
    lines = error_page.PAGE.read_text(encoding="utf-8").splitlines()
    return [line[2:-2].split(" | ") for line in lines if line.startswith("| ") and "---" not in line]


def test_every_section_is_that_of_a_module() -> None:
    """A package that got another name would leave its rules to the last section."""
    names = [module.name for module in error_page.modules()]
    starts = [*error_page.OF_FILES, *error_page.OF_THE_REST]
    assert [start for start in starts if not any(name.startswith(start) for name in names)] == []


def test_every_rule_has_its_fix_and_only_its_own() -> None:
    assert [row for row in rows() if len(row) != 2 or error_page.OPEN in row] == []
    fixes = {rule: row[1] for row in rows() for rule in row[0].split("<br>")}
    # A fix by the side, one of several of a function, one of a branch, and one that a function returns.
    assert fixes["a page with vertices in pixels must have a dimension"] == "Add dimension, or normalizedVertices."
    assert fixes["area must not be negative"] == "Write the area in pixels."
    assert fixes["named slices must be JSON"] == "Write {name: [conditions]}."
    assert fixes["coordinates must lie in [0, 1]"] == (
        "Cut the box at the edge of the page; nothing is clamped here.<br>"
        "Divide pixels by the width and height of the page."
    )
    # Rules that differ in a name only are one, and what a format shares with every file is not said again.
    assert fixes["… must be above 0"] == "Write the size of the image in pixels."
    assert "width must be above 0" not in fixes


def test_what_is_said_of_broken_files_stands_on_the_page() -> None:
    rules = {rule for row in rows() for rule in row[0].split("<br>")}
    # A rule that begins and ends with what is filled in would fit anything.
    known = re.compile("|".join(re.escape(rule).replace(error_page.OPEN, ".*") for rule in rules if len(rule) > 12))
    issues = [issue for row in broken.ROWS for issue in outcome(row.content, side=row.side)[1]]
    said = {
        re.sub(r" \([^()]*\)", "", error_page.shown(each.rule)) for each in issues if error_page.is_listed(each.fix)
    }
    assert len(said) > 20
    # What comes from a table of keys, or repeats what the file has, is put together when it is said.
    assert [rule for rule in sorted(said) if not known.fullmatch(rule)] == [
        "of a repeated key only the last value is used",
        'origin must be "top_left"',
        "range must be [0.0, 1.0]",
    ]


@pytest.mark.parametrize("kind", ["too_slow", "blocked", "worker_lost"])
def test_problems_of_pages_stand_on_the_page(kind: str) -> None:
    title = error_page.blanked(error_page.pages._SENTENCES[kind][0])
    assert f"| {title} |" in error_page.PAGE.read_text(encoding="utf-8")
