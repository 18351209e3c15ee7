"""The level of boxes in boxes, chosen on Files: the numbers are those of ``--level`` in the terminal."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evaluator.project import evaluate
from tests.cli.conftest import Runner, run
from tests.dashboard import (
    FILES,
    OVERVIEW,
    address,
    cards,
    drop,
    fine,
    go,
    press,
    set_role,
    signature,
    start,
    workspace,
)
from tests.dashboard import evaluate as evaluate_files
from tests.reports.test_nesting import sides

__all__ = ["run", "sides"]  # fixtures
LABEL = "Boxes in boxes of report\\.json"


def choice(app: AppTest, label: str = LABEL) -> Any:
    return next(each for each in app.button_group if each.label == label)


def f1(level: str, sides: tuple[Path, Path]) -> str:
    (evaluation,) = evaluate("snapshot", sides[0], [sides[1]], level=level or None)
    return f"{evaluation.to_json()['thresholds']['0.5']['micro']['f1']:.3f}"


def test_a_level_is_chosen_linked_and_kept_in_the_project(sides: tuple[Path, Path], run: Runner) -> None:
    app = start(FILES, files=(files := workspace(sides[0], [sides[1]])))
    assert choice(app).options == ["By kind 5", "Outer 5", "Inner 8", "All 10"]
    seen = {}
    for level in ("inner", "all", ""):
        app = fine(choice(app).set_value(level).run())
        app = go(app, OVERVIEW)
        assert address(app) == ({"level": level} if level else {})
        assert f"level {level}" in signature(app) if level else "level" not in signature(app)
        seen[level] = cards(app)[0]["F1"]
        linked = start(OVERVIEW, files=files, **address(app))
        assert (cards(linked)[0]["F1"], signature(linked)) == (seen[level], signature(app))
        # A link of the navigation has no address of the view before.
        app.query_params.clear()
        app = go(app, FILES)
        assert choice(app).value == level
    assert seen == {level: f1(level, sides) for level in seen}
    app = press(fine(choice(app).set_value("inner").run()), "Save project")
    saved = sides[0].parent / "layoutscope.toml"
    assert 'level = "inner"' in saved.read_text().splitlines()
    code, out, _ = run("evaluate", "--project", saved, "--json")
    assert (code, " · level inner · " in json.loads(out)["signature"]) == (0, True)


@pytest.mark.usefixtures("whole_app")
def test_a_level_is_that_of_files_read_before_and_after(sides: tuple[Path, Path]) -> None:
    app = start(OVERVIEW, files=workspace(sides[0], [sides[1]]), level="both")
    assert ("level" in signature(app), cards(app)[0]["F1"]) == (False, f1("", sides))
    app = fine(choice(go(app, FILES)).set_value("inner").run())
    evaluate_files(set_role(drop(app, {"again.json": sides[1].read_bytes()}), "again.json", "B"))
    app.query_params.clear()
    both = choice(go(app, FILES), f"{LABEL} and 1 more file")
    assert both.options == ["By kind 10", "Outer 10", "Inner 16", "All 20"]
    app = fine(both.set_value("all").run())
    # The document is named after the file.
    assert [card["F1"] for card in cards(go(app, OVERVIEW))] == [f1("all", sides), "0.000"]


def test_without_boxes_in_boxes_there_is_no_choice(sides: tuple[Path, Path]) -> None:
    app = start(FILES, files=workspace(sides[0], [sides[0]], as_reference=True), level="inner")
    with pytest.raises(StopIteration):
        choice(app)
