"""The view Posters under AppTest: numbers, choices, links, empty and broken states, hostile text."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evaluator.components.payload import PictureItem, ProblemItem
from evaluator.components.viewer.payload import SharperEvent
from evaluator.formats.base import Reading
from evaluator.formats.posters import REPORT
from evaluator.project import evaluate
from evaluator.workspace.roles import Sides, Workspace, find
from tests import dashboard
from tests.dashboard import (
    SAMPLE_DATA,
    active_markdown,
    fine,
    html_blocks,
    key_of,
    markdown_texts,
    read_html,
    signature,
    start,
    title,
    viewer,
    words,
)

POSTERS = "pages/posters.py"
SAMPLE = SAMPLE_DATA / "posters"
SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
REAL = Path(SHARED, "real", "posters")
needs_shared = pytest.mark.skipif(not SHARED, reason="LAYOUTSCOPE_SHARED does not name the folder of real/posters")
HOSTILE = "![x](http://evil.example/a.png) <img src=x onerror=alert(1)> [l](javascript:alert(1)) `x` **b** :red[x]"


def opened(truth: Path | None, *models: Path, pdfs: Path | None = None) -> str:
    """What the command line hands over for some posters."""
    return Workspace({"posters": Sides(truth, models, pdfs)}).to_json()


def write(folder: Path, **contents: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def table(app: AppTest) -> list[dict[str, Any]]:
    """The rows of the table of all posters."""
    frame = next(each.value for each in app.dataframe if "Result" in each.value.columns)
    return list(frame.to_dict("records"))


def four(app: AppTest) -> list[list[str]]:
    """The rows of the table of one poster: letter, four numbers, verdict."""
    body = next(body for body in html_blocks(app) if "ls-four" in body)
    rows = re.findall(r"<tr>(.*?)</tr>", body.split("<tbody>")[1])
    return [read_html(row).words for row in rows]


def poster(app: AppTest) -> str:
    """The id of the shown poster."""
    body = next(body for body in html_blocks(app) if "ls-poster" in body)
    return read_html(body).words[0]


def choose(app: AppTest, key: str, value: str) -> AppTest:
    return fine(app.button_group(key=key).set_value(value).run()) if _is_group(app, key) else _set(app, key, value)


def _is_group(app: AppTest, key: str) -> bool:
    return any(each.key == key for each in app.get("button_group"))


def _set(app: AppTest, key: str, value: object) -> AppTest:
    app.session_state[key_of(app, key)] = value
    return fine(app.run())


# --- the sample posters ------------------------------------------------------------------------------------------


def test_all_posters_worst_first_with_their_criteria(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS)
    assert title(app) == "Posters"
    assert signature(app).startswith("posters 1 · profile documented · stop words layoutscope-en-1")
    rows = table(app)
    assert [(row["Poster"], row["Result"]) for row in rows] == [
        ("night-buses", "2 of 4 failed"), ("tidal-turbidity", "2 of 4 failed"), ("seed-bank", "2 of 4 failed"),
        ("museum-labels", "1 of 4 failed"), ("reading-aloud", "✓ pass"),
    ]  # fmt: skip
    assert list(rows[0])[2:] == ["Words", "ROUGE-L", "Numbers", "Fields"]
    (expected,) = evaluate("posters", SAMPLE / "ground_truth", [SAMPLE / "across"])
    by_id = {each["poster_id"]: each["metrics"] for each in expected.to_json()["posters"]}
    for row in rows:
        assert list(row.values())[2:] == list(by_id[row["Poster"]].values())
    assert "1 of 5" in words(app)
    assert "3 of 5" in words(app)


def test_one_poster_says_what_passes_and_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, poster="seed-bank")
    assert poster(app) == "seed-bank"
    assert four(app) == [
        ["A", "0.995", "✕ 0.612", "1.000", "✕ 0.395", "✕ fails"],
        ["B", "0.804", "0.882", "✕ 0.540", "0.721", "✕ fails"],
    ]
    assert "A under published: Words 0.971, ROUGE-L 0.612, Numbers 1.000, Fields 0.395" in words(app)


def test_the_profile_changes_numbers_and_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, profile="published", poster="tidal-turbidity", poster_of="B")
    assert "profile published · no stop words · Porter stems" in signature(app)
    assert four(app)[1] == ["B", "0.899", "0.921", "✕ 0.740", "0.721", "✕ fails"]
    app = choose(app, "poster_profile", "documented")
    assert four(app)[1] == ["B", "0.904", "0.921", "0.767", "0.721", "✓ passes"]
    assert "profile" not in app.query_params
    assert app.query_params["poster"] == "tidal-turbidity"


def test_the_table_is_sorted_by_the_model_that_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS)
    for of in ("A", "B"):
        app = choose(app, "poster_of", of)
        failed = [int(row["Result"].split()[0]) if "of" in row["Result"] else 0 for row in table(app)]
        assert failed == sorted(failed, reverse=True)
        assert any(f"model {of}, worst first" in text for text in words(app))
        assert poster(app) == "night-buses", "another order and the same poster"
    assert table(app)[0]["Poster"] == "seed-bank"


def test_differences_are_sorted_by_what_b_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, poster_of="B-A")
    lost = [sum(list(row.values())[2:5]) for row in table(app)]
    assert lost == sorted(lost)
    assert any("B minus A, most lost first" in text for text in words(app))
    rows = {row["Poster"]: row for row in table(app)}
    assert rows["night-buses"]["Result"] == "B only"
    assert rows["reading-aloud"]["Result"] == "both pass"
    assert rows["seed-bank"]["ROUGE-L"] == pytest.approx(0.882 - 0.612, abs=1e-3)
    assert viewer(app)["model"] == {"letter": "B", "name": "columns"}


def test_a_cell_opens_its_poster_once(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS)
    app.session_state["poster_table_A"] = {"selection": {"rows": [], "columns": [], "cells": [(1, "Result")]}}
    fine(app.run())
    assert poster(app) == "tidal-turbidity"
    assert app.query_params["poster"] == "tidal-turbidity"
    # The cell stays chosen; another way on is not undone by it.
    app = _set(app, "poster", "reading-aloud")
    assert poster(app) == "reading-aloud"


def test_missing_words_are_boxed_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    data = viewer(start(monkeypatch, POSTERS, poster_of="B", poster="seed-bank"))
    assert data["page"]["document"] == "seed-bank"
    assert (data["page"]["position"], data["page"]["total"]) == (1, 5)
    assert data["page"]["image"].startswith("data:image/jpeg;base64,")
    assert data["page"]["image_width"] == 1_500
    assert data["statuses"] == ["FP", "FN"]
    labels = {mistake["label"] for mistake in data["mistakes"] if mistake["status"] == "FN"}
    # Small print and the table are what the columns extractor leaves out.
    assert {"carrot", "0.171", "2019", "electricity"} <= labels
    years = [mistake["title"] for mistake in data["mistakes"] if mistake["label"] == "2019"]
    assert years == ["Missing word"]  # a year does not count as a number
    for box in data["boxes"]:
        assert 0 <= box["xyxy"][0] < box["xyxy"][2] <= 1
        assert 0 <= box["xyxy"][1] < box["xyxy"][3] <= 1
    keys = {box["key"] for box in data["boxes"]}
    assert {key for mistake in data["mistakes"] for key in mistake["keys"]} == keys


def test_a_picture_without_text_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    data = viewer(start(monkeypatch, POSTERS, poster_of="B", poster="museum-labels"))
    assert data["page"]["notes"] == ["This is an image without a text layer: missing words cannot be boxed."]
    assert data["mistakes"] == []
    assert data["page"]["image_width"] == 1_500
    assert data["page"]["width"] == 1_700


def test_the_text_marks_missing_words_and_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, poster_of="B", poster="seed-bank", part="text")
    body = next(body for body in html_blocks(app) if "ls-text" in body)
    assert '<mark class="ls-missing ls-number" title="missing number">0.083</mark>' in body
    assert '<mark class="ls-missing ls-word" title="missing word">electricity,</mark>' in body
    lists = next(body for body in html_blocks(app) if "ls-lists" in body)
    assert read_html(lists).words[:2] == ["Missing words", "39"]
    app = choose(app, "poster_text", "generated")
    assert app.query_params["text_of"] == "generated"
    body = next(body for body in html_blocks(app) if "ls-text" in body)
    assert "ls-missing" not in body


def test_the_sections_say_which_rouge_won(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, poster_of="B", poster="seed-bank", part="sections")
    assert "The whole text scores higher: ROUGE-L 0.882" in words(app)
    best = next(each.value for each in app.dataframe if "Best in the extraction" in each.value.columns)
    assert best["Best in the extraction"][0] == "1 Background"
    assert len(best) == 16


def test_the_sections_can_win(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def with_sections(*sections: str) -> Any:
        return {"posterContent": {"sections": [{"sectionTitle": "", "sectionContent": text} for text in sections]}}

    one, two = " ".join(f"one{n}" for n in range(30)), " ".join(f"two{n}" for n in range(30))
    files = opened(write(tmp_path / "gt", a=with_sections(one, two)), write(tmp_path / "m", a=with_sections(two, one)))
    app = start(monkeypatch, POSTERS, files=files, part="sections")
    assert "The sections score higher: ROUGE-L 1.000" in words(app)
    assert four(app)[0][1:] == ["1.000", "1.000", "1.000", "1.000", "✓ passes"]


def test_the_field_tree_shows_differences_or_all(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, poster_of="B", poster="seed-bank", part="fields")
    assert "31 fields against 43: 0.721" in words(app)
    tree = next(each.value for each in app.dataframe if "Field" in each.value.columns)
    assert tree["Field"].tolist()[:2] == ["conference", "conference.conferenceName"]
    assert set(tree["Difference"]) == {"✕ missing", "fewer"}
    app = choose(app, "poster_tree", "all")
    tree = next(each.value for each in app.dataframe if "Field" in each.value.columns)
    assert tree["Field"].tolist()[1] == "\u2003conferenceName"
    assert app.query_params["tree"] == "all"


def test_results_json_is_the_file_of_the_reference_program(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS)
    (button,) = app.get("download_button")
    assert button.proto.label == "results.json"
    from pages.views.posters import poster_results

    sides = (
        poster_results.reader.FORMAT.read_path(SAMPLE / "ground_truth", Reading(side="ground_truth")),
        poster_results.reader.FORMAT.read_path(SAMPLE / "across", Reading(side="prediction")),
    )
    evaluated = poster_results._evaluated.__wrapped__("t", "p", "documented", _sides=sides)
    content = json.loads(evaluated.results_json)
    assert set(content) == {"results", "aggregate"}
    assert [each["poster_id"] for each in content["results"]] == list(evaluated.columns.ids)
    assert set(content["results"][0]) == {"poster_id", "metrics", "passes", "error", "source"}


# --- other files ---------------------------------------------------------------------------------------------------


@needs_shared
def test_real_posters_opened_as_a_folder_give_the_printed_table(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = {}
    for line in (Path(SHARED) / "seeds" / "poster-validation.md").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| \w+ \| ✅ \|", line):
            printed[match[1]] = match.groups()[1:]
    app = start(monkeypatch, POSTERS, files=find([REAL]).to_json(), profile="published")
    rows = table(app)
    assert len(rows) == 9
    for row in rows:
        assert tuple(f"{value:.2f}" for value in list(row.values())[2:]) == printed[row["Poster"]]
        assert row["Result"] == "✓ pass"


@needs_shared
def test_a_real_poster_of_seventy_million_pixels_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, files=find([REAL]).to_json(), poster="4737132")
    page = viewer(app)["page"]
    assert page["problem"] is None
    assert (page["width"], page["height"], page["image_width"]) == (10_000, 7_073, 1_500)


def test_posters_that_are_images_alone_are_found_beside_their_texts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for side in ("ground_truth", "across"):
        ending = "" if side == "ground_truth" else "_extracted"
        (tmp_path / side).mkdir()
        shutil.copy(SAMPLE / side / f"museum-labels{ending}.json", tmp_path / side)
    (tmp_path / "scans").mkdir()
    shutil.copy(SAMPLE / "pdf" / "museum-labels.jpg", tmp_path / "scans" / "Museum-Labels.JPG")
    workspace = find([tmp_path])
    assert workspace.of("posters").pdfs == (tmp_path / "scans").resolve()
    data = viewer(start(monkeypatch, POSTERS, files=workspace.to_json()))
    assert data["page"]["problem"] is None
    assert data["page"]["width"] == 1_700


def test_no_posters_is_an_empty_state_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, files=opened(None))
    assert any("No posters are open." in text for text in words(app))
    fine(app.button[0].click().run())
    assert poster(app) == "night-buses"


def test_one_side_alone_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, files=opened(SAMPLE / "ground_truth"))
    assert any("No extraction is open" in text for text in words(app))
    app = start(monkeypatch, POSTERS, files=opened(None, SAMPLE / "across"))
    assert any("No reference of the posters is open" in text for text in words(app))


def test_one_poster_and_one_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth, model = write(tmp_path / "gt", a={"x": "one two 3"}), write(tmp_path / "m", a={"x": "one two 3"})
    app = start(monkeypatch, POSTERS, files=opened(truth, model))
    assert [row["Result"] for row in table(app)] == ["✓ pass"]
    assert "means of 1 poster" in words(app)
    data = viewer(app)
    assert data["page"]["problem"]["title"] == "No PDF folder is open"


def test_the_source_of_each_text_is_a_column(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = write(tmp_path / "gt", a={"x": "one two 3"}, b={"x": "four five 6"})
    model = write(tmp_path / "m", a={"x": "one two 3"}, b={"x": "seven"})
    assert "Source" not in table(start(monkeypatch, POSTERS, files=opened(truth, model)))[0]
    (model / REPORT).write_text(json.dumps([{"poster_id": "b", "source": "ocr"}]), encoding="utf-8")
    rows = table(start(monkeypatch, POSTERS, files=opened(truth, model)))
    assert [(row["Poster"], row["Source"]) for row in rows] == [("b", "ocr"), ("a", "")]


def test_the_same_texts_under_other_ids_are_other_posters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Results are cached for all sessions; a digest of the contents alone would show the names of another folder."""
    for folder, name in (("one", "first"), ("two", "second")):
        truth = write(tmp_path / folder / "gt", **{name: {"x": "the same words 7"}})
        model = write(tmp_path / folder / "m", **{name: {"x": "the same words"}})
        app = start(monkeypatch, POSTERS, files=opened(truth, model))
        assert [row["Poster"] for row in table(app)] == [name]


def test_bad_files_have_their_issues_in_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth = write(tmp_path / "gt", good={"x": "one two 3"}, bad={"x": "a"}, lonely={"x": "a"})
    model = write(tmp_path / "m", good={"x": "one two 3"}, bad='{"x": NaN}')
    app = start(monkeypatch, POSTERS, files=opened(truth, model), poster="bad")
    rows = {row["Poster"]: row["Result"] for row in table(app)}
    assert rows == {"good": "✓ pass", "bad": "✕ error", "lonely": "✕ error"}
    assert any("bad.json" in each.value.replace("\\", "") for each in app.warning)
    assert four(app) == [["A", "n/a", "n/a", "n/a", "n/a", "✕ not compared"]]
    issues = dashboard.issue_tables(app)
    assert len(issues) == 2
    assert [row["File"] for row in issues[0]] == ["bad.json"]
    app = start(monkeypatch, POSTERS, files=opened(truth, model), poster="lonely")
    assert any("has no such poster" in each.value for each in app.warning)


def test_a_folder_that_cannot_be_read_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = opened(write(tmp_path / "gt", a="[1"), SAMPLE / "across")
    app = start(monkeypatch, POSTERS, files=files)
    assert any("The reference of the posters has errors" in text for text in words(app))
    (issues,) = dashboard.issue_tables(app)
    assert [row["File"] for row in issues] == ["a.json"]


def test_an_address_that_cannot_be_followed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, POSTERS, poster="none", profile="other", part="page", poster_of="C")
    assert poster(app) == "night-buses"
    assert any("could not be followed" in each.value and "profile" in each.value for each in app.caption)


def test_a_poster_whose_page_is_broken_shows_its_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pdf").mkdir()
    shutil.copy(SAMPLE / "pdf" / "night-buses.pdf", tmp_path / "pdf" / "seed-bank.jpg")
    files = opened(SAMPLE / "ground_truth", SAMPLE / "across", pdfs=tmp_path / "pdf")
    data = viewer(start(monkeypatch, POSTERS, files=files, poster="seed-bank"))
    assert data["page"]["problem"]["title"] == "seed-bank.jpg is not a document that can be shown"
    assert data["page"]["image"] is None
    assert data["mistakes"] == []


def test_a_sharper_picture_that_cannot_be_had_leaves_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from pages.app import pictures
    from pages.app.state import State

    app = start(monkeypatch, POSTERS, poster="night-buses")
    real = pictures.picture

    def slow(root: Path, name: str, index: int, *, width: int) -> PictureItem:
        if width == 1_500:
            return real(root, name, index, width=width)
        problem = ProblemItem("Rendering took too long", "", "")
        return PictureItem(width=1.0, height=1.0, image=None, image_width=0, problem=problem, notes=())

    monkeypatch.setattr(pictures, "picture", slow)
    app = _set(app, State.sharper.key, SharperEvent("night-buses", 0, 2_250))
    page = viewer(app)["page"]
    assert page["image_width"] == 1_500
    assert page["notes"] == ["No sharper picture: Rendering took too long."]


@pytest.mark.parametrize("part", ["page", "text", "sections", "fields"])
def test_hostile_text_stays_text(part: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = {
        HOSTILE: HOSTILE,
        "posterContent": {"sections": [{"sectionTitle": HOSTILE, "sectionContent": HOSTILE}]},
    }
    name = "a`b`**c**[d](e)"
    truth, model = write(tmp_path / "gt**x**", **{name: content}), write(tmp_path / "`m`", **{name: {"y": HOSTILE}})
    app = start(monkeypatch, POSTERS, files=opened(truth, model), part=part)
    for place, text in markdown_texts(app):
        assert active_markdown(text) is None, (place, text)
    tags = {tag for body in html_blocks(app) for tag, _ in read_html(body).tags}
    assert not tags & {"img", "script", "a"}


def test_hundreds_of_posters_are_one_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    contents = {f"p{number:04d}": {"x": f"poster number {number} of many {number % 7}"} for number in range(300)}
    truth = write(tmp_path / "gt", **contents)
    model = write(tmp_path / "m", **{key: {"x": "poster number of many"} for key in contents})
    app = start(monkeypatch, POSTERS, files=opened(truth, model), poster="p0277")
    assert len(table(app)) == 300
    assert poster(app) == "p0277"
    assert "0 of 300" in words(app)
