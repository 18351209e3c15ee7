"""The question mark of every view: version, documentation from the package, and the tour."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from evaluator.metrics.terms import TERMS
from evaluator.system.version import __version__
from pages.app.help_menu import KEYS, MANUAL, STEPS
from pages.app.state import State
from tests.dashboard import EVERY_VIEW, ROOT, fine, html_blocks, read_html, start, words


@pytest.mark.parametrize("step", [0, 1, 5])
def test_the_tour_is_behind_the_question_mark_and_can_be_left_at_any_step(step: int) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app.session_state[State.access.key], app.session_state[State.tour.key] = True, step
    fine(app.run())
    assert any(f"LayoutScope {__version__}" in word for word in words(app))
    buttons = [button.label for button in app.button]
    assert "Tour of five steps" in buttons
    assert any(word.startswith(f"{step} of 5: ") for word in words(app)) == ("Leave the tour" in buttons) == (step > 0)
    assert ("Next" in buttons, "Back" in buttons) == (step == 1, step == 5)


def test_the_keys_behind_the_question_mark_are_those_of_the_views() -> None:
    script = (ROOT / "evaluator" / "components" / "shared" / "keys.js").read_text(encoding="utf-8")
    actions = dict(re.findall(r'\b(\w): "([a-z]+)', script[script.index("VERDICT_ACTIONS") :]))
    said = {key.lower(): words for keys, words in KEYS for key in keys.split()}
    assert {key: words for key, words in actions.items() if key in said} == {
        **dict.fromkeys("1234", "verdict"),
        "v": "note",
        "u": "undo",
    }
    assert all(said[key] == actions[key] for key in "1234vu")


def test_each_step_has_its_view() -> None:
    assert len(STEPS) == 5
    assert all((ROOT / "pages" / f"{view}.py").is_file() for view, _, _ in STEPS)


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "docs").glob("*.md")))
def test_every_page_of_the_documentation_opens_with_links_inside(name: str) -> None:
    app = start("pages/documentation.py", manual=name)
    (shown,) = [each.value for each in app.markdown if each.value.startswith("# ")]
    assert name in MANUAL
    assert not re.search(r"!\[|\]\([a-z-]+\.md|\]\(\.\./", shown)


@pytest.mark.parametrize("view", EVERY_VIEW)
def test_every_term_of_a_view_has_its_formula_as_a_tooltip(view: str) -> None:
    app = start(view)
    for element in app.dataframe:
        settings = json.loads(element.proto.columns or "{}")
        for column in map(str, element.value.columns):
            term = re.sub(r",? [AB]$", "", column)
            assert term not in TERMS or (settings.get(column) or {}).get("help"), column
    for body in html_blocks(app):
        assert "title=" in body or not any(word in TERMS for word in read_html(body).words), body


def test_terms_say_a_formula_or_what_is_counted() -> None:
    assert {"Precision", "Recall", "F1", "IoU", "AP", "AP50", "AR", "Coverage", "Purity", "ECE", "Kappa"} <= {*TERMS}
    assert all(text.endswith(".") and 30 < len(text) < 120 for text in TERMS.values())
