"""The question mark of every view: version, documentation from the package, and the tour."""

from __future__ import annotations

import re

import pytest

from evaluator.metrics.terms import TERMS
from evaluator.system.version import __version__
from pages.app.help_menu import MANUAL, STEPS
from tests.dashboard import ROOT, fine, press, start, words


def test_the_tour_is_behind_the_question_mark_and_can_be_left_at_any_step() -> None:
    app = start()
    assert any(f"LayoutScope {__version__}" in word for word in words(app))
    assert any(button.label == "Tour of five steps" for button in app.button)
    for step in (1, 5):
        app.session_state["tour"] = step
        assert any(word.startswith(f"{step} of 5: ") for word in words(fine(app.run())))
        press(app, "Leave the tour")
        assert not any(" of 5: " in word for word in words(app))


def test_each_step_has_its_view() -> None:
    assert len(STEPS) == 5
    assert all((ROOT / "pages" / f"{view}.py").is_file() for view, _, _ in STEPS)


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "docs").glob("*.md")))
def test_every_page_of_the_documentation_opens_with_links_inside(name: str) -> None:
    app = start("pages/documentation.py", manual=name)
    (shown,) = [each.value for each in app.markdown if each.value.startswith("# ")]
    assert name in MANUAL
    assert not re.search(r"!\[|\]\([a-z-]+\.md|\]\(\.\./", shown)


def test_terms_say_a_formula_or_what_is_counted() -> None:
    assert {"Precision", "Recall", "F1", "IoU", "AP", "AP50", "AR", "Coverage", "Purity", "ECE", "Kappa"} <= {*TERMS}
    assert all(text.endswith(".") and 30 < len(text) < 120 for text in TERMS.values())
