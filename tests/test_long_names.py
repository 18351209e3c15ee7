"""Names that are too long or write in the other direction, where they are shown."""

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator import formats
from evaluator.charts.boxes import mistakes_by_label
from evaluator.charts.theme import name_height
from evaluator.components.viewer.payload import GoEvent
from evaluator.data.issues import cut, displayed, whole
from pages.app import address
from pages.app import components as mounted
from pages.app.components import with_documents
from pages.app.frame import whole_name
from pages.app.session_files import Model
from pages.app.state import State
from pages.app.widgets import _room, distinct_words
from tests.building import box, snapshot_file
from tests.charting import specification
from tests.dashboard import (
    FIELDS,
    FILES,
    OVERVIEW,
    PAGE_BROWSER,
    SAMPLE_DATA,
    components,
    files_of,
    fine,
    go,
    key_of,
    send_event,
    start,
    viewer,
    workspace,
)  # fmt: skip

Start = Callable[[str, dict[str, str]], AppTest]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("org/model-x", "model-x"), ("a / b", "a / b"), ("1.2/3", "3"), ("/x", "/x"), ("x" * 99, "x" * 99)],
)
def test_only_an_owner_is_left_out_of_the_name_of_a_model(name: str, shown: str) -> None:
    assert whole_name(Model(0, name)) == shown


def test_names_on_axes_are_cut_before_they_are_measured() -> None:
    chart = mistakes_by_label(["x" * 10_000], {"A": np.array([1])}, baseline="A", dark=False, height=100)
    axis = next(layer["encoding"]["y"]["axis"] for layer in specification(chart)["layer"])
    assert "slice(datum.label, 0, 299)" in axis["labelExpr"]
    assert "202a" in axis["labelExpr"]


NAME = "Wide name " * 990
LONG = "Paragraph of running text in the body of the report, without captions or notes."


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("Section-header", 1), ("PARAGRAPH TEXT", 1), ("\u8868\u683c" * 10, 2), (LONG, 4),
        ("HEADING OF A SECTION IN THE ANNEX", 3), (LONG * 2, 7), (LONG * 9, 12),
    ],
)  # fmt: skip
def test_bars_have_room_for_the_lines_of_their_names(label: str, lines: int) -> None:
    assert name_height([label]) == 12 * lines
    chart = mistakes_by_label([label], {"A": np.array([1])}, baseline="A", dark=False, height=400)
    drawn = specification(chart)
    assert drawn["height"] == max(60, 12 * lines + 8 + 34)
    offset = next(layer["encoding"]["y"]["axis"]["labelOffset"] for layer in drawn["layer"])
    # All lines but the first are below it: half of their height brings them beside the bars.
    assert re.fullmatch(r"-6 \* \(min\(length\(.*\), 12\) - 1\)", offset["condition"]["expr"])


@pytest.mark.parametrize(
    ("name", "widths", "room"),
    [
        ("Text", (112,), (112, 26)), ("Section-header-2", (112,), (130, 26)), ("\u8868\u683c" * 8, (112,), (220, 58)),
        (LONG, (112,), (220, 58)), ("x" * 200, (140, 560), (560, 58)), ("x" * 60, (140, 560), (438, 26)),
        # Where there is less, four lines.
        ("x" * 60, (104, 130), (130, 76)), ("x" * 40, (104, 130), (130, 58)),
    ],
)  # fmt: skip
def test_a_column_of_names_gets_room_then_lines(name: str, widths: tuple[int, ...], room: tuple[int, int]) -> None:
    assert _room(["All labels", name], *widths) == room


def test_every_column_of_labels_fits_beside_a_long_one(tmp_path: Path) -> None:
    rows = [box(0.1, 0.1, 0.3, 0.3, label=LONG)]
    app = start(OVERVIEW, files=files_of(tmp_path, rows, rows, rows, labels=[LONG]), charts="labels")
    table = next(each for each in app.dataframe if "Purity" in each.value)
    columns = json.loads(table.proto.columns)
    # The width of the table in a window of 1,440 pixels, measured in Chromium.
    assert sum(columns[name]["width"] for name in table.value) <= 838


def test_a_name_of_ten_thousand_characters_is_cut_and_found_again() -> None:
    names = ["x" * 10_000, "x" * 9_999 + "y", "Table"]
    shown = [displayed(name) for name in names]
    assert max(map(len, shown)) < 450
    assert len(set(shown)) == 3
    assert shown[2] == "Table"
    assert [whole(cut(name), names) for name in names] == names
    assert whole("Text", names) == "Text"
    # A name may look like one that was cut.
    assert whole(cut(names[0]), [*names, cut(names[0])]) == cut(names[0])


def test_a_number_of_a_long_label_opens_the_pages_of_that_label(tmp_path: Path) -> None:
    rows = [box(0.2 * at, 0.1, 0.2 * at + 0.1, 0.5, label=NAME) for at in range(3)]
    app = start("pages/compare.py", files=files_of(tmp_path, rows, rows, rows[1:], labels=(NAME,)))
    boards = [json.loads(each.proto.json)[0] for each in app.get("bidi_component") if "ledger" in each.proto.json]
    (link,) = {cell["link"]["label"] for shown in boards for row in shown.get("labels", ()) for cell in row["cells"]}
    assert link == cut(NAME)


def test_a_page_number_that_no_document_has_is_not_taken_in_silence() -> None:
    text = json.dumps(snapshot_file([box(0.1, 0.1, 0.4, 0.4, score=0.5)]))
    read = formats.read_bytes(text.replace('"page_index": 0', '"page_index": 1e9').encode(), "p.json")
    assert [issue.sentence for issue in read.issues] == [
        "p.json: $.predictions[0].page_index: page_index should be written as an integer (schema 1.3); "
        "found 1000000000.0. Read as 1000000000.",
        "p.json: $.predictions[0].page_index: page_index should be that of a page; no document has 100,000 pages; "
        "found 1000000000. Count the pages from 0.",
    ]
    assert formats.read_bytes(text.encode(), "p.json").issues == ()


def test_options_of_the_same_words_are_numbered() -> None:
    """The browser names an option by its words: of two with the same ones only the first could be chosen."""
    words = distinct_words({0: "blocks 1.0 …", 1: "lines", 2: "blocks 1.0 …"})
    assert [words(key) for key in range(3)] == ["blocks 1.0 … (1)", "lines", "blocks 1.0 … (2)"]


def test_a_third_model_whose_name_is_that_of_the_first_can_be_shown(tmp_path: Path) -> None:
    again = tmp_path / "mine.json"
    again.write_bytes((SAMPLE_DATA / "blocks.json").read_bytes())
    models = [SAMPLE_DATA / "blocks.json", SAMPLE_DATA / "lines.json", again]
    files = workspace(SAMPLE_DATA / "ground_truth.json", models, SAMPLE_DATA / "pdf")
    app = start(PAGE_BROWSER, files=files)
    next(each for each in app.button_group if each.label == "Model").set_value(2)
    fine(app.run())
    assert app.session_state[State.model.name] == 2
    assert viewer(app)["model"]["name"].endswith("(2)")


def test_a_name_that_is_no_option_any_more_chooses_nothing() -> None:
    app = start(PAGE_BROWSER)
    first = viewer(app)["model"]["name"]
    names = ("model", "model_a", "model_b")
    # At last views that do not draw the list, and one that draws it after it has asked for the models.
    for views in ((PAGE_BROWSER,), (FILES, "pages/compare.py", OVERVIEW, PAGE_BROWSER)):
        # A view without these lists.
        go(app, FIELDS)
        for name in names:
            # What Streamlit makes of a name that it does not find.
            app.session_state[key_of(app, name)] = "blocks of old"
        for view in views:
            go(app, view)
        assert viewer(app)["model"]["name"] == first
    assert [app.session_state[key_of(app, name)] for name in names] == [0, 0, 1]


def test_a_long_document_is_opened_by_the_beginning_of_its_name(tmp_path: Path) -> None:
    rows = [box(0.1, 0.1, 0.2, 0.5), box(0.3, 0.1, 0.4, 0.5, document=NAME)]
    named = {"within": cut(NAME), "doc": cut(NAME)}
    app = start(PAGE_BROWSER, files=files_of(tmp_path, rows, rows[:1]), page="1", **named)
    assert [app.session_state[key_of(app, field.key)] for field in (State.doc, State.within)] == [NAME, NAME]
    assert {name: app.query_params[name] for name in named} == named


def test_events_of_a_long_document_name_it_whole() -> None:
    events = mounted.viewer.events({"go": {"document": cut(NAME), "index": 3, "step": 0}, "alike": {"number": 1}})
    named = with_documents(events, lambda: ["a.pdf", NAME])
    assert named.go == GoEvent(document=NAME, index=3, step=0)
    assert msgspec.structs.replace(named, go=None) == msgspec.structs.replace(events, go=None)
    assert with_documents(events, lambda: ["a.pdf"]) == events


def test_a_question_about_a_long_label_is_short_in_the_address(tmp_path: Path) -> None:
    rows = [box(0.1, 0.1, 0.2, 0.5, label=NAME)]
    asked = json.dumps({"cell": [cut(NAME), None]})
    files = files_of(tmp_path, rows, rows, labels=(NAME,))
    app = start("pages/gallery.py", files=files, question=asked, label=cut(NAME))
    assert app.session_state[key_of(app, State.gallery_question.key)].cell == (NAME, None)
    assert app.session_state[key_of(app, State.label.key)] == NAME
    assert json.loads(app.query_params["question"])["cell"] == [cut(NAME), None]
    assert app.query_params["label"] == cut(NAME)


def fields_of_long_names(folder: Path) -> str:
    """Two models on a document and a field whose names have 9,900 characters; they are right in other fields."""

    def field(value: str, left: float) -> dict[str, object]:
        return {"_value": value, "_bbox": [left, 0.1, left + 0.1, 0.2]}

    truth = {NAME: {NAME: field("a", 0.1), "total": field("b", 0.3)}, "b": {"total": field("c", 0.3)}}
    first = {NAME: {NAME: field("a", 0.5), "total": field("b", 0.3)}, "b": {"total": field("x", 0.3)}}
    second = {NAME: {"total": field("z", 0.3), f"{NAME}2": field("z", 0.7)}, "b": {"total": field("c", 0.3)}}
    paths = {name: folder / f"{name}.jsonl" for name in ("truth", "first", "second")}
    for path, value in zip(paths.values(), (truth, first, second), strict=True):
        path.write_text("".join(f"{json.dumps({'doc_id': name, 'fields': of})}\n" for name, of in value.items()))
    sides = {"ground_truth": str(paths["truth"]), "predictions": [str(paths["first"]), str(paths["second"])]}
    return json.dumps({"sides": {"fields": {**sides, "pdfs": None}}, "as_reference": False})


def boxes_of_long_names(folder: Path) -> str:
    """Two models on 30 documents whose ids have 9,900 characters; they miss half the boxes of such a label."""
    rows, predicted = [], []
    for number, at in itertools.product(range(30), range(6)):
        label = NAME if at % 2 else "Table"
        rows.append(box(0.1 * at, 0.1, 0.1 * at + 0.08, 0.5, label=label, document=f"{NAME}{number}"))
        if label == "Table" or (number + at) % 4 == 0:
            predicted.append(rows[-1])
        elif number % 3 == 0:
            predicted.append(rows[-1]._replace(label="Table"))
    return files_of(folder, rows, predicted, predicted[40:], labels=("Table", NAME))


_SIZED = {"page_size": "100x100"}
_LEDGER = json.dumps(["box", cut(NAME), "a_better"], ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    ("view", "given"),
    [
        ("fields", {}),
        ("fields", {"field": NAME, "field_within": NAME, "behind": "problems"}),
        ("fields", {"ledger": json.dumps(["box", NAME, "a_better"])}),
        ("compare", {"compare": "fields"}),
        ("files", {"kind": "fields"}),
        ("pixel_confusion", {**_SIZED, "row": NAME, "column": "Table"}),
        ("compare", {**_SIZED, "compare": "pixels"}),
        ("slices", {}),
        ("overview", {}),
        ("gallery", {}),
        ("page_browser", {}),
        ("compare", {}),
        ("models", {}),
        ("suspects", {}),
        ("findings", {}),
        ("files", {}),
        ("review_pack", {}),
    ],
)
def test_nothing_that_is_sent_has_a_long_name_whole(view: str, given: dict[str, str], started: Start) -> None:
    app = started(view, given)
    sent: dict[str, str] = {}

    def note(block: Any) -> None:
        for child in getattr(block, "children", {}).values():
            # The result itself and the conditions of a slice are shown to be copied into files.
            if hasattr(child, "proto") and child.type != "code":
                text = re.sub(r'"conditions[\\]+": [\\]+"\[.*?\]', "", str(child.proto))
                if "Wide name " * 60 in text:
                    sent[child.type] = text[: text.index("Wide name " * 60)][-80:]
            note(child)

    note(app._tree)
    assert sent == {}
    assert {name: len(text) for name, text in app.query_params.items() if len(text) > 600} == {}


@pytest.fixture(scope="module")
def long_files(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, str]:
    folder = tmp_path_factory.mktemp("long")
    return {True: fields_of_long_names(folder), False: boxes_of_long_names(folder)}


@pytest.fixture
def started(long_files: dict[bool, str]) -> Start:
    def begin(view: str, given: dict[str, str]) -> AppTest:
        of_fields = "fields" in (view, given.get("compare"), given.get("kind"))
        address = {name: text for name, text in given.items() if name != "kind"}
        return start(f"pages/{view}.py", files=long_files[of_fields], **address)

    return begin


@pytest.mark.parametrize(
    ("view", "given", "values"),
    [
        ("fields", {"field_doc": cut(NAME)}, [NAME]),
        ("fields", {"field_within": cut(NAME), "field": cut(NAME)}, [NAME, NAME]),
        ("fields", {"ledger": _LEDGER}, [("box", NAME, "a_better")]),
        ("pixel_confusion", {"row": cut(NAME), "column": cut(NAME), **_SIZED}, [NAME, NAME]),
    ],
)
def test_an_address_with_the_beginning_of_a_name_means_the_whole(
    view: str, given: dict[str, str], values: list[object], started: Start
) -> None:
    entries = {entry.name: entry for entry in address.TABLE}
    app = started(view, given)
    for name, value in zip(given, values, strict=False):
        assert app.session_state[key_of(app, entries[name].field.name)] == value
        assert app.query_params[name] == given[name]


def test_a_poster_is_found_by_the_beginning_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = next(each for each in address.TABLE if each.name == "poster")
    monkeypatch.setattr(address.poster_results, "poster_ids", lambda: frozenset({"a", NAME}))
    assert entry.codec.read(cut(NAME)) == NAME
    assert entry.codec.write(NAME) == cut(NAME)
    with pytest.raises(ValueError, match="none"):
        entry.codec.read("none")


@pytest.mark.parametrize("view", ["slices", "suspects"])
def test_a_page_of_a_list_opens_by_the_beginning_of_its_document(view: str, started: Start) -> None:
    app = started(view, {})
    (listed,) = [each for each in components(app) if view in each]
    page = listed["slices"][0]["pages"][0] if view == "slices" else listed["suspects"][0]
    send_event(app, view, "open", {"document": page["document"], "index": page["index"]})
    assert app.session_state[key_of(app, State.doc.name)].startswith(NAME)
    assert whole(page["document"], [app.session_state[key_of(app, State.doc.name)]]).startswith(NAME)


@pytest.mark.parametrize(
    ("view", "given", "shown"),
    [
        ("fields", {}, State.field_doc),
        ("compare", {"compare": "fields"}, State.field_doc),
        ("compare", {**_SIZED, "compare": "pixels"}, State.doc),
    ],
)
def test_a_turn_to_a_page_names_the_beginning_of_its_document(
    view: str, given: dict[str, str], shown: Any, started: Start
) -> None:
    app = started(view, given)
    (data,) = [each for each in components(app) if "strip" in each]
    page = next(each for each in data["strip"] if len(each["document"]) > 400)
    send_event(app, "strip", "go", {"document": page["document"], "index": page["index"], "step": 0})
    assert cut(app.session_state[key_of(app, shown.name)]) == page["document"]
