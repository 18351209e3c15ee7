"""The view Posters under AppTest: numbers, choices, links, empty and broken states, hostile text."""

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
from pages.app import pictures
from pages.app.state import State
from pages.views.posters import poster_results
from tests import dashboard
from tests.dashboard import POSTERS, address, block, fine, key_of, read_html, signature, start, texts, viewer, words

SAMPLE = dashboard.SAMPLE_DATA / "posters"
SHARED = os.environ.get("LAYOUTSCOPE_SHARED", "")
REAL = Path(SHARED, "real", "posters")
needs_shared = pytest.mark.skipif(not SHARED, reason="LAYOUTSCOPE_SHARED does not name the folder of real/posters")
HOSTILE = "![x](http://evil.example/a.png) <img src=x onerror=alert(1)> [l](javascript:alert(1)) `x` **b** :red[x]"


def opened(truth: Path | None, *models: Path, pdfs: Path | None = None) -> str:
    return Workspace({"posters": Sides(truth, models, pdfs)}).to_json()


def write(folder: Path, **contents: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def both(folder: Path, truth: dict[str, Any], model: dict[str, Any]) -> str:
    return opened(write(folder / "gt", **truth), write(folder / "m", **model))


def table(app: AppTest) -> list[dict[str, Any]]:
    return list(dashboard.table(app, "Result").to_dict("records"))


def outcomes(app: AppTest) -> list[tuple[str, str]]:
    return [(row["Poster"], row["Result"]) for row in table(app)]


def four(app: AppTest) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", block(app, "ls-four").split("<tbody>")[1])
    return [read_html(row).words for row in rows]


def poster(app: AppTest) -> str:
    return read_html(block(app, "ls-poster")).words[0]


def choose(app: AppTest, name: str, value: object) -> AppTest:
    app.session_state[key_of(app, name)] = value
    return fine(app.run())


def test_all_posters_worst_first_with_their_criteria() -> None:
    app = start(POSTERS)
    assert dashboard.title(app) == "Posters"
    assert signature(app).startswith("posters 1 · profile documented · stop words layoutscope-en-1")
    assert outcomes(app) == [
        ("night-buses", "2 of 4 failed"), ("tidal-turbidity", "2 of 4 failed"), ("seed-bank", "2 of 4 failed"),
        ("museum-labels", "1 of 4 failed"), ("reading-aloud", "✓ pass"),
    ]  # fmt: skip
    (expected,) = evaluate("posters", SAMPLE / "ground_truth", [SAMPLE / "across"])
    by_id = {each["poster_id"]: each["metrics"] for each in expected.to_json()["posters"]}
    names = ["Words", "ROUGE-L", "Numbers", "Fields"]
    for row in table(app):
        assert list(row.items())[2:] == list(zip(names, by_id[row["Poster"]].values(), strict=True))
    assert {"1 of 5", "3 of 5"} <= set(words(app))


def test_one_poster_says_what_passes_and_what_fails() -> None:
    app = start(POSTERS, poster="seed-bank")
    assert poster(app) == "seed-bank"
    assert four(app) == [
        ["A", "0.995", "✕ 0.612", "1.000", "✕ 0.395", "✕ fails"],
        ["B", "0.804", "0.882", "✕ 0.540", "0.721", "✕ fails"],
    ]
    assert "A under published: Words 0.971, ROUGE-L 0.612, Numbers 1.000, Fields 0.395" in words(app)


def test_the_profile_changes_numbers_and_signature() -> None:
    app = start(POSTERS, profile="published", poster="tidal-turbidity", poster_of="B")
    assert "profile published · no stop words · Porter stems" in signature(app)
    assert four(app)[1] == ["B", "0.899", "0.921", "✕ 0.740", "0.721", "✕ fails"]
    app = choose(app, "poster_profile", "documented")
    assert four(app)[1] == ["B", "0.904", "0.921", "0.767", "0.721", "✓ passes"]
    assert (address(app)["poster"], "profile" in address(app)) == ("tidal-turbidity", False)


def test_the_table_is_sorted_by_the_model_that_it_shows() -> None:
    app = start(POSTERS)
    for of in ("A", "B"):
        fine(app.button_group(key="poster_of").set_value(of).run())
        failed = [int(result.split()[0]) if "of" in result else 0 for _, result in outcomes(app)]
        assert failed == sorted(failed, reverse=True)
        assert any(f"model {of}, worst first" in text for text in words(app))
        assert poster(app) == "night-buses", "another order and the same poster"
    assert table(app)[0]["Poster"] == "seed-bank"


def test_differences_are_sorted_by_what_b_loses() -> None:
    app = start(POSTERS, poster_of="B-A")
    lost = [sum(list(row.values())[2:5]) for row in table(app)]
    assert lost == sorted(lost)
    assert any("B minus A, most lost first" in text for text in words(app))
    rows = {row["Poster"]: row for row in table(app)}
    assert (rows["night-buses"]["Result"], rows["reading-aloud"]["Result"]) == ("B only", "both pass")
    assert rows["seed-bank"]["ROUGE-L"] == pytest.approx(0.882 - 0.612, abs=1e-3)
    assert viewer(app)["model"] == {"letter": "B", "name": "columns"}


def test_a_cell_opens_its_poster_once() -> None:
    app = start(POSTERS)
    app.session_state["poster_table_A"] = {"selection": {"rows": [], "columns": [], "cells": [(1, "Result")]}}
    fine(app.run())
    assert poster(app) == address(app)["poster"] == "tidal-turbidity"
    # The cell stays chosen; another way on is not undone by it.
    assert poster(choose(app, "poster", "reading-aloud")) == "reading-aloud"


def test_missing_words_are_boxed_on_the_page() -> None:
    data = viewer(start(POSTERS, poster_of="B", poster="seed-bank"))
    page = data["page"]
    assert (page["document"], page["position"], page["total"], page["image_width"]) == ("seed-bank", 1, 5, 1_500)
    assert page["image"].startswith("data:image/jpeg;base64,")
    assert data["statuses"] == ["FP", "FN"]
    titles = {mistake["label"]: mistake["title"] for mistake in data["mistakes"] if mistake["status"] == "FN"}
    # Small print and the table are what the columns extractor leaves out.
    assert {"carrot", "0.171", "2019", "electricity"} <= set(titles)
    assert titles["2019"] == "Missing word", "a year does not count as a number"
    for x1, y1, x2, y2 in (box["xyxy"] for box in data["boxes"]):
        assert 0 <= x1 < x2 <= 1
        assert 0 <= y1 < y2 <= 1
    keys = {key for mistake in data["mistakes"] for key in mistake["keys"]}
    assert keys == {box["key"] for box in data["boxes"]}


def test_a_picture_without_text_says_so() -> None:
    data = viewer(start(POSTERS, poster_of="B", poster="museum-labels"))
    assert data["page"]["notes"] == ["This is an image without a text layer: missing words cannot be boxed."]
    assert data["mistakes"] == []
    assert (data["page"]["image_width"], data["page"]["width"]) == (1_500, 1_700)


def test_the_text_marks_missing_words_and_numbers() -> None:
    app = start(POSTERS, poster_of="B", poster="seed-bank", part="text")
    body = block(app, "ls-text")
    assert '<mark class="ls-missing ls-number" title="missing number">0.083</mark>' in body
    assert '<mark class="ls-missing ls-word" title="missing word">electricity,</mark>' in body
    assert read_html(block(app, "ls-lists")).words[:2] == ["Missing words", "39"]
    app = choose(app, "poster_text", "generated")
    assert address(app)["text_of"] == "generated"
    assert "ls-missing" not in block(app, "ls-text")


def test_the_sections_say_which_rouge_won(tmp_path: Path) -> None:
    app = start(POSTERS, poster_of="B", poster="seed-bank", part="sections")
    assert "The whole text scores higher: ROUGE-L 0.882" in words(app)
    best = dashboard.table(app, "Best in the extraction")
    assert (best["Best in the extraction"][0], len(best)) == ("1 Background", 16)

    def with_sections(*sections: str) -> Any:
        return {"posterContent": {"sections": [{"sectionTitle": "", "sectionContent": text} for text in sections]}}

    one, two = " ".join(f"one{n}" for n in range(30)), " ".join(f"two{n}" for n in range(30))
    files = both(tmp_path, {"a": with_sections(one, two)}, {"a": with_sections(two, one)})
    app = start(POSTERS, files=files, part="sections")
    assert "The sections score higher: ROUGE-L 1.000" in words(app)
    assert four(app)[0][1:] == ["1.000", "1.000", "1.000", "1.000", "✓ passes"]


def test_the_field_tree_shows_differences_or_all() -> None:
    app = start(POSTERS, poster_of="B", poster="seed-bank", part="fields")
    assert "31 fields against 43: 0.721" in words(app)
    tree = dashboard.table(app, "Field")
    assert tree["Field"].tolist()[:2] == ["conference", "conference.conferenceName"]
    assert set(tree["Difference"]) == {"✕ missing", "fewer"}
    app = choose(app, "poster_tree", "all")
    assert dashboard.table(app, "Field")["Field"][1] == "\u2003conferenceName"
    assert address(app)["tree"] == "all"


def test_results_json_is_the_file_of_the_reference_program() -> None:
    (button,) = start(POSTERS).get("download_button")
    assert button.proto.label == "results.json"
    sides = tuple(
        poster_results.reader.FORMAT.read_path(SAMPLE / name, Reading(side=side))
        for name, side in (("ground_truth", "ground_truth"), ("across", "prediction"))
    )
    evaluated = poster_results._evaluated(poster_results.PosterModel(0, "across", "A", *sides), "documented")
    content = json.loads(evaluated.results_json)
    assert set(content) == {"results", "aggregate"}
    assert [each["poster_id"] for each in content["results"]] == list(evaluated.columns.ids)
    assert set(content["results"][0]) == {"poster_id", "metrics", "passes", "error", "source"}


@needs_shared
def test_real_posters_opened_as_a_folder_give_the_printed_table() -> None:
    printed = {}
    for line in (Path(SHARED) / "seeds" / "poster-validation.md").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| \w+ \| ✅ \|", line):
            printed[match[1]] = match.groups()[1:]
    files = find([REAL]).to_json()
    rows = table(start(POSTERS, files=files, profile="published"))
    assert len(rows) == 9
    for row in rows:
        assert tuple(f"{value:.2f}" for value in list(row.values())[2:]) == printed[row["Poster"]]
        assert row["Result"] == "✓ pass"
    # One of seventy million pixels is shown.
    page = viewer(start(POSTERS, files=files, poster="4737132"))["page"]
    assert (page["problem"], page["width"], page["height"], page["image_width"]) == (None, 10_000, 7_073, 1_500)


def test_posters_that_are_images_alone_are_found_beside_their_texts(tmp_path: Path) -> None:
    for name in ("ground_truth/museum-labels.json", "across/museum-labels_extracted.json"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(SAMPLE / name, tmp_path / name)
    (tmp_path / "scans").mkdir()
    shutil.copy(SAMPLE / "pdf" / "museum-labels.jpg", tmp_path / "scans" / "Museum-Labels.JPG")
    workspace = find([tmp_path])
    assert workspace.of("posters").pdfs == (tmp_path / "scans").resolve()
    page = viewer(start(POSTERS, files=workspace.to_json()))["page"]
    assert (page["problem"], page["width"]) == (None, 1_700)


def test_what_is_not_open_is_an_empty_state_with_a_way_out() -> None:
    for files, said in (
        (opened(SAMPLE / "ground_truth"), "No extraction is open"),
        (opened(None, SAMPLE / "across"), "No reference of the posters is open"),
        (opened(None), "No posters are open."),
    ):
        app = start(POSTERS, files=files)
        assert any(said in text for text in words(app))
    fine(app.button[0].click().run())
    assert poster(app) == "night-buses"


def test_one_poster_and_one_model(tmp_path: Path) -> None:
    app = start(POSTERS, files=both(tmp_path, {"a": {"x": "one two 3"}}, {"a": {"x": "one two 3"}}))
    assert outcomes(app) == [("a", "✓ pass")]
    assert "means of 1 poster" in words(app)
    assert viewer(app)["page"]["problem"]["title"] == "No PDF folder is open"


def test_the_source_of_each_text_is_a_column(tmp_path: Path) -> None:
    truth = {"a": {"x": "one two 3"}, "b": {"x": "four five 6"}}
    files = both(tmp_path, truth, truth | {"b": {"x": "seven"}})
    assert "Source" not in table(start(POSTERS, files=files))[0]
    (tmp_path / "m" / REPORT).write_text(json.dumps([{"poster_id": "b", "source": "ocr"}]), encoding="utf-8")
    rows = table(start(POSTERS, files=files))
    assert [(row["Poster"], row["Source"]) for row in rows] == [("b", "ocr"), ("a", "")]


def test_the_same_texts_under_other_ids_are_other_posters(tmp_path: Path) -> None:
    """Results are cached for all sessions; a digest of the contents alone would show the names of another folder."""
    for name in ("first", "second"):
        files = both(tmp_path / name, {name: {"x": "the same words 7"}}, {name: {"x": "the same words"}})
        assert [row["Poster"] for row in table(start(POSTERS, files=files))] == [name]


def test_bad_files_have_their_issues_in_place(tmp_path: Path) -> None:
    truth = {"good": {"x": "one two 3"}, "bad": {"x": "a"}, "lonely": {"x": "a"}}
    files = both(tmp_path, truth, {"good": {"x": "one two 3"}, "bad": '{"x": NaN}'})
    app = start(POSTERS, files=files, poster="bad")
    assert dict(outcomes(app)) == {"good": "✓ pass", "bad": "✕ error", "lonely": "✕ error"}
    assert any("bad.json" in text for text in texts(app.warning))
    assert four(app) == [["A", "n/a", "n/a", "n/a", "n/a", "✕ not compared"]]
    issues = dashboard.issue_tables(app)
    assert (len(issues), [row["File"] for row in issues[0]]) == (2, ["bad.json"])
    app = start(POSTERS, files=files, poster="lonely")
    assert any("has no such poster" in text for text in texts(app.warning))


def test_a_folder_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    app = start(POSTERS, files=opened(write(tmp_path / "gt", a="[1"), SAMPLE / "across"))
    assert any("The reference of the posters has errors" in text for text in words(app))
    (issues,) = dashboard.issue_tables(app)
    assert [row["File"] for row in issues] == ["a.json"]


def test_an_address_that_cannot_be_followed_is_said() -> None:
    app = start(POSTERS, poster="none", profile="other", part="page", poster_of="C")
    assert poster(app) == "night-buses"
    assert any("could not be followed" in text and "profile" in text for text in texts(app.caption))


def test_a_poster_whose_page_is_broken_shows_its_problem(tmp_path: Path) -> None:
    shutil.copy(SAMPLE / "pdf" / "night-buses.pdf", tmp_path / "seed-bank.jpg")
    files = opened(SAMPLE / "ground_truth", SAMPLE / "across", pdfs=tmp_path)
    data = viewer(start(POSTERS, files=files, poster="seed-bank"))
    assert data["page"]["problem"]["title"] == "seed-bank.jpg is not a document that can be shown"
    assert (data["page"]["image"], data["mistakes"]) == (None, [])


def test_a_sharper_picture_that_cannot_be_had_leaves_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(POSTERS, poster="night-buses")
    real = pictures.picture

    def slow(pages: pictures.Pages, index: int, *, width: int) -> PictureItem:
        if width == 1_500:
            return real(pages, index, width=width)
        problem = ProblemItem("Rendering took too long", "", "")
        return PictureItem(width=1.0, height=1.0, image=None, image_width=0, problem=problem, notes=())

    monkeypatch.setattr(pictures, "picture", slow)
    page = viewer(choose(app, State.sharper.key, SharperEvent("night-buses", 0, 2_250)))["page"]
    assert page["image_width"] == 1_500
    assert page["notes"] == ["No sharper picture: Rendering took too long."]


@pytest.mark.parametrize("part", ["page", "text", "sections", "fields"])
def test_hostile_text_stays_text(part: str, tmp_path: Path) -> None:
    sections = [{"sectionTitle": HOSTILE, "sectionContent": HOSTILE}]
    name = "a`b`**c**[d](e)"
    truth = write(tmp_path / "gt**x**", **{name: {HOSTILE: HOSTILE, "posterContent": {"sections": sections}}})
    app = start(POSTERS, files=opened(truth, write(tmp_path / "`m`", **{name: {"y": HOSTILE}})), part=part)
    for place, text in dashboard.markdown_texts(app):
        assert dashboard.active_markdown(text) is None, (place, text)
    assert not {tag for body in dashboard.html_blocks(app) for tag, _ in read_html(body).tags} & {"img", "script", "a"}


def test_hundreds_of_posters_are_one_table(tmp_path: Path) -> None:
    truth = {f"p{number:04d}": {"x": f"poster number {number} of many {number % 7}"} for number in range(300)}
    files = both(tmp_path, truth, {key: {"x": "poster number of many"} for key in truth})
    app = start(POSTERS, files=files, poster="p0277")
    assert len(table(app)) == 300
    assert poster(app) == "p0277"
    assert "0 of 300" in words(app)
