"""The words of the navigation lead to what the open files have, and to their modes; old addresses answer."""

from pathlib import Path
from typing import Any, get_args

import pytest
import streamlit as st

from evaluator.workspace.roles import Sides, Workspace
from pages.app.session_files import FIELDS, POSTERS
from pages.app.state import WORDS, View
from tests import dashboard
from tests.building import write_items
from tests.dashboard import COMPARE, EVERY_VIEW, FILES, FINDINGS, OVERVIEW, ROOT, SAMPLE_DATA, fine


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    every: list[Any] = []
    navigation = st.navigation
    monkeypatch.setattr(st, "navigation", lambda pages, **more: every.append(pages) or navigation(pages, **more))
    return every


def visible(made: list[Any]) -> list[str]:
    return [page.title for page in made[-1] if page.visibility == "visible"]


def test_every_view_is_a_mode_of_one_word_and_answers_by_its_address() -> None:
    views = [view for word in WORDS.values() for view in word]
    assert sorted(views) == sorted({*get_args(View)} - {"plugin"})
    assert {f"pages/{view}.py" for view in views} == {*EVERY_VIEW, "pages/documentation.py"}
    for view in views:
        assert (ROOT / "pages" / f"{view}.py").is_file()


def test_the_words_are_those_of_the_open_files(made: list[Any]) -> None:
    away = ["Fields", "Posters", "Help"]
    dashboard.start()
    assert visible(made) == [word for word in WORDS if word not in away], "help is behind the question mark"
    files = Workspace({"posters": Sides(SAMPLE_DATA / "posters" / "ground_truth")}).to_json()
    app = dashboard.start(files=files)
    assert dashboard.title(app) == "Posters"
    assert visible(made) == ["Compare", "Slices", "Posters", "Review", "Files"]
    links = [each.proto.label for view in (COMPARE, FINDINGS) for each in dashboard.go(app, view).get("page_link")]
    assert {"All models", "Queue", "Suspects", "Pack"}.intersection(links) == {"Pack"}, "the others are of boxes"
    # Another view still answers: the reader may have its address.
    dashboard.go(app, OVERVIEW)
    assert "No ground truth is open" in " ".join(dashboard.words(app))
    dashboard.start(files=dashboard.workspace(None))
    assert visible(made) == [word for word in WORDS if word not in (*away, "Reading")]


@pytest.mark.parametrize(
    ("view", "asked", "word"),
    [
        ("fields", {}, "Fields"),
        ("posters", {}, "Posters"),
        ("compare", {"compare": "fields"}, "Fields"),
        ("slices", {"slices": "posters"}, "Posters"),
    ],
)
def test_an_address_of_the_samples_fields_or_posters_opens_them(
    made: list[Any], view: str, asked: dict[str, str], word: str
) -> None:
    app = dashboard.start(f"pages/{view}.py", **asked)
    dashboard.go(app, "app.py")
    assert {"Fields", "Posters"}.intersection(visible(made)) == {word}


def test_files_offers_what_else_the_sample_has(made: list[Any]) -> None:
    app = dashboard.start(FILES)
    for count, what, kind in ((14, "invoices and forms", FIELDS), (5, "posters", POSTERS)):
        app = dashboard.press(app, f"Also open the sample's {count} {what}")
        assert kind.size(app.session_state[kind.project_field.key].ground_truth.source) == count
    assert not [each for each in app.button if each.label.startswith("Also open")]
    dashboard.go(app, "app.py")
    assert {"Fields", "Posters"} < set(visible(made))


def test_reading_is_there_before_and_after_files_with_items_are_read(made: list[Any], tmp_path: Path) -> None:
    items = [{"items": [{"label": "text", "order": 0, "text": "a"}]}]
    truth, model = (write_items(tmp_path / f"{name}.jsonl", items) for name in ("truth", "model"))
    app = dashboard.start(files=dashboard.workspace(truth, [model]))
    assert "Reading" in visible(made)
    fine(app.run())
    assert "Reading" in visible(made)


@pytest.mark.parametrize("word", [word for word, views in WORDS.items() if len(views) > 1])
def test_a_view_names_its_mode_and_leads_to_the_others(word: str) -> None:
    for view, name in WORDS[word].items():
        app = dashboard.start(f"pages/{view}.py")
        # With how many they list, where they say so.
        links = [each.proto.label.rstrip(" 0123456789") for each in app.get("page_link")]
        others = [each for each in WORDS[word].values() if each != name]
        assert links[: len(others)] == others
        (shown,) = dashboard.read_html(dashboard.block(app, "ls-mode")).words
        assert shown.rstrip(" 0123456789") == name


def test_the_sample_data_say_so_until_other_files_are_open() -> None:
    app = dashboard.start()
    assert "Sample data:" in dashboard.words(app)
    app = dashboard.start(files=dashboard.workspace(None))
    assert "Sample data:" not in dashboard.words(app)


def test_a_press_in_the_navigation_is_later_than_a_button_whose_run_it_came_before() -> None:
    app = dashboard.start()
    for view, title in ((OVERVIEW, "Files"), (COMPARE, "Compare")):
        app.session_state["next_view"] = FILES
        assert dashboard.title(dashboard.go(app, view)) == title
        app = dashboard.start()
