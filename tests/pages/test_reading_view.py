"""The view Reading under AppTest: order, text and tables of items, what is listed, and files that have none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from evaluator.matching import item_pairs
from evaluator.protocols.omnidocbench import evaluation
from evaluator.review.item_targets import item_target
from evaluator.review.verdicts import JudgedBox
from pages.app.session_files import SAMPLE_READING
from tests import dashboard
from tests.building import write_items
from tests.components.test_reading_pages import ORDER, SIZE, in_order
from tests.dashboard import (
    COMPARE,
    FILES,
    FINDINGS,
    OVERVIEW,
    PACK,
    READING,
    SAMPLE_DATA,
    SLICES,
    address,
    fine,
    go,
    send_event,
    signature,
    start,
    words,
    workspace,
)
from tests.judging import opinion, store, stored
from tests.protocols.test_protocol_omnidocbench import page, written

TABLE = {"label": "table", "box": [0, 200, 190, 300], "order": 4}
HTML = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
TRUTH = [*ORDER, {**TABLE, "html": HTML}]
WORSE = [*in_order(ORDER, 0, 2, 1, 3)[:3], {**ORDER[3], "text": "wrong"}, {**TABLE, "html": HTML.replace(">d<", ">x<")}]


def files_of_items(folder: Path) -> str:
    """Two pages on which one model is right, and the other one wrong on the second page."""
    sides = {"truth": (TRUTH, TRUTH), "right": (TRUTH, TRUTH), "worse": (TRUTH, WORSE)}
    truth, *models = (
        write_items(folder / f"{name}.jsonl", [{**SIZE, "items": items} for items in pages])
        for name, pages in sides.items()
    )
    return workspace(truth, models)


@pytest.fixture
def files(tmp_path: Path) -> str:
    return files_of_items(tmp_path)


def page_of(app: Any) -> dict[str, Any]:
    """What the viewer shows."""
    return dashboard.viewer(app)


def test_the_worst_page_of_the_shown_model_with_its_mistakes(files: str) -> None:
    app = start(READING, files=files, model="2")
    data = page_of(app)
    assert (data["page"]["index"], [each["title"] for each in data["mistakes"]]) == (1, ["Column jumped"])
    assert signature(app).startswith("order 1 · IoU ≥ 0.50, any label · ties free · 1 document, 2 pages")
    assert "1 mistake (1 misplaced item) on 1 page" in words(app)
    assert address(app) == {"model": "2", "doc": "a", "page": "2"}


@pytest.mark.parametrize(
    ("of", "listed", "title"),
    [
        ("text", "1 mistake (9 edited characters) on 1 page", "Another text"),
        ("tables", "1 mistake (1 wrong slot) on 1 page", "Other text"),
    ],
)
def test_text_and_tables_of_the_same_pages(files: str, of: str, listed: str, title: str) -> None:
    app = start(READING, files=files, model="2", reading=of)
    assert listed in words(app)
    assert [each["title"] for each in page_of(app)["mistakes"]] == [title]


def test_how_items_are_compared_is_in_the_address_and_the_signature(files: str) -> None:
    chosen = {"reading_iou": "0.75", "same_label": "yes", "normalisation": "none", "text_words": "spaces"}
    app = start(READING, files=files, reading="text", **chosen)
    assert "IoU ≥ 0.75, one label · as written, code points, words by blanks" in " ".join(words(app))
    assert chosen.items() <= address(app).items()


def test_items_without_boxes_are_listed_and_the_empty_overview_leads_to_them(tmp_path: Path) -> None:
    bare = [{name: value for name, value in item.items() if name != "box"} for item in ORDER]
    sides = [bare, in_order(bare, 1, 0, 2, 3)]
    truth, model = (write_items(tmp_path / f"{n}.jsonl", [{"items": items}]) for n, items in enumerate(sides))
    files = workspace(truth, [model])
    assert [each["title"] for each in page_of(start(READING, files=files))["mistakes"]] == ["Neighbours exchanged"]
    assert "Open Reading" in [link.proto.label for link in start(OVERVIEW, files=files).get("page_link")]
    assert "Open Reading" not in [
        link.proto.label for link in start(OVERVIEW, files=workspace(truth, [])).get("page_link")
    ]


def test_a_name_of_a_mistake_in_the_address_lists_it_alone(files: str) -> None:
    app = start(READING, files=files, model="2", named="column_jumped")
    assert page_of(app)["page"]["total"] == 1
    app = start(READING, files=files, model="2", named="reversed")
    assert page_of(app)["empty"]["text"] == "No page passes the filter."
    app = send_event(app, "empty", "clear_filter", True)
    assert page_of(fine(app.run()))["page"]["total"] == 2


def test_the_difference_of_two_models_opens_its_pages(files: str) -> None:
    app = start(READING, files=files)
    assert list(dashboard.table(app, "Net")["Net"]) == ["\u22121", "\u22121"]
    assert page_of(app)["mistakes"] == []


def test_the_sample_opens_its_order_text_and_tables() -> None:
    app = start(READING)
    assert "The sample is open with its boxes alone." in words(app)
    app = fine(next(button for button in app.button if button.label == "Open its order, text and tables").click().run())
    assert page_of(app)["mistakes"]


def test_files_without_an_order_say_what_is_missing(tmp_path: Path) -> None:
    paths = [shutil.copy(SAMPLE_DATA / f"{name}.json", tmp_path) for name in ("ground_truth", "lines")]
    app = start(READING, files=workspace(Path(paths[0]), [Path(paths[1])]))
    assert "There is no reading order in these files that can be compared." in words(app)
    (row,) = [each for each in dashboard.issues(app) if each["File"] == "ground_truth.json"]
    assert row["Rule"] == "order compares the reading order of items (Reading order)"


def test_a_page_with_too_much_text_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_pairs, "MOST_CHARACTER_PAIRS", 3)
    # Of no other test: what is prepared is kept for the process.
    page = {**SIZE, "items": [{**ORDER[0], "text": "of this test alone"}]}
    truth, model = (write_items(tmp_path / f"{name}.jsonl", [page]) for name in ("truth", "model"))
    said = " ".join(words(start(READING, files=workspace(truth, [model]), reading="text")))
    assert "at most 3 pairs of characters of the two sides of a page are compared by text 18 and 18" in said


def test_the_overview_of_items_leads_to_them(files: str) -> None:
    app = start(OVERVIEW, files=files)
    assert "1 mistake on 1 page" in " ".join(button.label for button in app.button)


def test_a_count_of_the_overview_opens_exactly_its_mistakes(files: str) -> None:
    app = start(OVERVIEW, files=files)
    fine(next(button for button in app.button if button.key == "score_tables_B").click().run())
    assert "1 mistake (1 wrong slot) on 1 page" in words(go(app, READING))


def test_slices_and_packs_offer_what_files_with_items_have(files: str) -> None:
    names = {"Reading order", "Text of items", "Table structure"}
    assert names <= {*next(each for each in start(SLICES, files=files).selectbox if each.label == "Slices of").options}
    packed = next(each for each in start(PACK, files=files).button_group if (each.key or "").startswith("pack_also_"))
    assert names <= {*packed.options}
    fine(start(SLICES, files=files, slices="text", slice_measure="right"))


def test_a_verdict_is_kept_beside_its_mistake_listed_and_leads_back(files: str, store_path: Path) -> None:
    app = start(READING, files=files, model="2", reading="text")
    data = page_of(app)
    (mistake,) = data["mistakes"]
    where = {"document": "a", "index": 1, "number": 1, "keys": mistake["keys"], "target": mistake["target"]}
    event = {**where, "id": "1", "verdict": "model_wrong", "note": "", "name": "Anna"}
    app = send_event(app, "strip", "verdict", [event])
    (kept,) = stored(store_path)
    assert (kept.target.kind, kept.target.mistake, kept.verdict) == ("item", "text_other_text", "model_wrong")
    assert {(box.side, box.label) for box in kept.target.boxes} == {("prediction", "text_other_text")}
    (judged,) = page_of(start(READING, files=files, model="2", reading="text"))["mistakes"]
    assert judged["verdict"]["agreed"] == "model_wrong"
    app = start(FINDINGS, files=files)
    (row,) = (row for row in dashboard.component(app, "answered")["rows"] if row.get("verdict"))
    assert (row["title"], row.get("tags", [])) == ("Another text (text)", [])
    send_event(app, "answered", "open", row["key"])
    data = page_of(go(app, READING))
    assert (data["model"]["letter"], data["page"]["index"], data["selected"]) == ("2", 1, mistake["keys"][0])


def test_a_verdict_on_what_the_model_does_not_do_any_more_says_so(files: str, store_path: Path) -> None:
    box = JudgedBox(side="ground_truth", label="text", xyxy=(0.1, 0.1, 0.2, 0.2))
    gone = item_target("order", "missing", [box], document="a", page=0, model="worse.jsonl", signature="")
    store(store_path, opinion(gone))
    row = dashboard.component(start(FINDINGS, files=files), "answered")["rows"][-1]
    assert (row["title"], row["tags"]) == ("Missing (order): a, page 1", ["No longer a mistake"])


def test_boxes_without_text_are_compared_with_the_text_of_the_pdfs(tmp_path: Path) -> None:
    truth = Path(shutil.copy(SAMPLE_DATA / "ground_truth.json", tmp_path))
    files = workspace(truth, [SAMPLE_READING / "blocks.jsonl"], SAMPLE_DATA / "pdf")
    app = start(READING, files=files, reading="text")
    assert "There is no text of items in these files that can be compared." in words(app)
    button = next(each for each in app.button if each.label == "Compare with the text of the PDFs")
    app = fine(button.click().run())
    assert "fix of the ground truth: text of the PDFs" in signature(app)
    assert address(app)["true_text"] == "pdf"


def markdown_files(folder: Path) -> tuple[Path, Path]:
    """A ground truth of OmniDocBench, and a folder of Markdown that says half of it."""
    return written(folder, [page(("text_block", 1, "text", "one two three four"))], {"a.md": "one two"})


def test_markdown_beside_omnidocbench_has_the_published_numbers_and_what_differs(tmp_path: Path) -> None:
    truth, read = markdown_files(tmp_path)
    app = start(READING, files=workspace(truth, [read]), reading="text")
    assert signature(app).startswith("text omnidocbench-1.5 (7bd6c2e) · quick match")
    assert "1 mistake (9 edited characters) on 1 page" in words(app)
    (mistake,) = page_of(app)["mistakes"]
    assert (mistake["title"], mistake["lines"], mistake.get("target")) == ("Text differs", ["NED 0.600"], None)
    own = start(READING, files=workspace(truth, [read]), reading="text", reading_profile="own")
    assert "There is no text of items in these files that can be compared." in words(own)
    (row,) = [each for each in dashboard.issues(own) if each["File"] == "read"]
    assert row["Rule"].startswith("Markdown is compared with Markdown, or with a ground truth of OmniDocBench")
    fine(start(COMPARE, files=workspace(truth, [read, read]), compare="text"))
    fine(start(SLICES, files=workspace(truth, [read]), slices="text", slice_measure="pages"))
    fine(start(FINDINGS, files=workspace(truth, [read, read])))
    fine(start(PACK, files=workspace(truth, [read, read])))


@pytest.mark.parametrize("of", ["order", "text", "tables"])
def test_a_page_over_the_limit_of_the_profile_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    monkeypatch.setattr(evaluation, "MOST_COMPARED", 5)
    truth, read = written(tmp_path, [page(("text_block", 1, "text", "of this test"))], {"a.md": f"of {of} alone"})
    said = " ".join(words(start(READING, files=workspace(truth, [read]), reading=of)))
    assert "omnidocbench-1.5 takes pages of up to 5 texts times characters of the other side" in said


@pytest.mark.usefixtures("whole_app")
def test_markdown_that_is_dropped_is_a_model_and_opens_in_reading(tmp_path: Path) -> None:
    truth, read = markdown_files(tmp_path)
    files = {"truth.json": truth.read_bytes(), "end2end/a.md": (read / "a.md").read_bytes()}
    app = dashboard.evaluate(dashboard.drop(start(), files))
    assert signature(go(app, READING)).startswith("order omnidocbench-1.5")
    # Nothing is said of boxes that it does not have.
    assert "end2end" not in dashboard.table(go(app, FILES), "Label").columns


def test_compare_judges_a_mistake_of_items_in_its_pane_and_opens_it_in_reading(files: str, store_path: Path) -> None:
    app = start(COMPARE, files=files, compare="text")
    right, worse = dashboard.component(app, "panes")["panes"]
    assert (right["mistakes"], [each["title"] for each in worse["mistakes"]]) == ([], ["Another text"])
    assert list(dashboard.table(app, "Net")["Net"]) == ["\u22121", "\u22121"]
    (mistake,) = worse["mistakes"]
    where = {"document": "a", "index": 1, "letter": "B", "number": 1, "keys": mistake["keys"]}
    event = {**where, "target": mistake["target"], "id": "1", "verdict": "model_wrong", "note": "", "name": "Anna"}
    app = send_event(app, "panes", "verdict", [event])
    assert [kept.target.mistake for kept in stored(store_path)] == ["text_other_text"]
    app = send_event(app, "panes", "open", {"letter": "B", "key": None})
    assert dashboard.title(app) == "Reading"
    assert [each["title"] for each in page_of(app)["mistakes"]] == ["Another text"]


def test_the_grid_has_a_card_for_each_mistake_and_takes_one_verdict_for_all_of_a_name(
    tmp_path: Path, store_path: Path
) -> None:
    pages = {"truth": TRUTH, "worse": WORSE}
    truth, model = (write_items(tmp_path / f"{n}.jsonl", [{**SIZE, "items": i}] * 2) for n, i in pages.items())
    app = start(READING, files=workspace(truth, [model]), reading="text", reading_look="grid")
    data = dashboard.component(app, "cards")
    assert [(card["title"], card["place"]) for card in data["cards"]] == [
        ("Another text", "a, page 1"),
        ("Another text", "a, page 2"),
    ]
    assert [(group["title"], group["words"], group["judged"]) for group in data["groups"]] == [
        ("Another text", "2 mistakes on 2 pages", 0)
    ]
    act = {"id": "1", "keys": [data["cards"][0]["key"]], "verdict": "model_wrong", "everywhere": True, "name": "Ada"}
    data = dashboard.component(send_event(app, "cards", "judge", [act]), "cards")
    assert (data["groups"][0]["judged"], data["answered"]) == (2, "1")
    assert [kept.target.mistake for kept in stored(store_path)] == ["text_other_text"] * 2
    app = send_event(app, "cards", "judge", [{"id": "2", "keys": [], "verdict": None, "undo": True}])
    assert dashboard.component(app, "cards")["groups"][0]["judged"] == 0
    app = send_event(app, "cards", "open", data["cards"][1]["key"])
    assert page_of(fine(app.run()))["page"]["index"] == 1


def test_mistakes_of_items_that_nobody_judged_are_decided_in_a_meeting_as_causes_of_boxes_are(
    files: str, store_path: Path
) -> None:
    def items_of(app: Any) -> list[dict[str, Any]]:
        return [row for row in dashboard.component(app, "rows")["rows"] if row["title"].endswith(")")]

    rows = items_of(start(FINDINGS, files=files))
    assert [(row["title"], row["sides"], row["place"]) for row in rows] == [
        ("Column jumped (order)", ["none", "1 misplaced item at 1 place"], "a, page 2"),
        ("Another text (text)", ["none", "9 edited characters at 1 place"], "a, page 2"),
        ("Other text (table)", ["none", "1 wrong slot at 1 place"], "a, page 2"),
    ]
    pictures = dashboard.component(send_event(start(FINDINGS, files=files), "rows", "want", [rows[0]["key"]]), "rows")
    (picture,) = pictures["pictures"].values()
    assert [[box["side"] for box in boxes] for boxes in picture["boxes"]] == [[], ["prediction"]]
    app = dashboard.press(start(FINDINGS, files=files), "Start meeting")
    app.session_state["meeting_item"] = rows[1]["key"]
    data = dashboard.component(fine(app.run()), "agenda")
    assert (data["title"], data["page"]["place"], data["examples"]) == ("Another text (text)", "a, page 2", 1)
    assert data["sentence"] == "A: none. B: 9 edited characters at 1 place in 1 document."
    listed = {each["title"]: (each["wrong"], each["noun"], each["state"]) for each in data["agenda"]}
    assert listed["Another text (text)"] == ("0 / 9", "edited characters", "Open")
    said = {"verdict": "model_wrong", "note": "", "owner": "Ben", "due": "", "status": "open"}
    where = {"item": rows[1]["key"], "example": 0, "whole": True, "onward": False}
    app = send_event(app, "agenda", "decide", [{"id": "of-items", "name": "Ada", **where, **said}])
    (kept,) = stored(store_path)
    (judged,) = kept.target.boxes
    data = dashboard.component(app, "agenda")
    x1, y1, x2, y2 = data["page"]["zoom"]
    assert x1 <= judged.xyxy[0]
    assert y1 <= judged.xyxy[1]
    assert (x2 - x1) * (y2 - y1) < 1
    marked = [[box["side"] for box in pane["boxes"] if box["key"] in pane["chosen"]] for pane in data["page"]["panes"]]
    assert marked[1] == ["prediction"]
    (line,) = (line for line in data["minutes"].splitlines() if line.startswith("| Another text"))
    assert "9 edited characters at 1 place | [a, page 2](" in line
    assert "Model wrong, Ada (unverified)" in line
    assert "Changes no number" in line
    decided = items_of(start(FINDINGS, files=files, decided="decided"))
    assert [(row["title"], row["verdict"], row["owner"]) for row in decided] == [
        ("Another text (text)", "Model wrong", "Ben")
    ]
    app = send_event(start(FINDINGS, files=files), "rows", "open", rows[0]["key"])
    assert (dashboard.title(app), [each["title"] for each in page_of(app)["mistakes"]]) == (
        "Reading",
        ["Column jumped"],
    )
