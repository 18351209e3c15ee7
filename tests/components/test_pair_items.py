"""Linked panes of pixels, fields and posters: pages and filters by hand, and what is drawn equals the ledgers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.components.compare.field_pair import FieldSide, field_pair
from evaluator.components.compare.pair import PairLayers
from evaluator.components.compare.pair_items import (
    ITEM_FILTERS,
    item_filters,
    item_page_list,
    item_pages,
    listed_item_pages,
)
from evaluator.components.compare.payload import CompareEvents
from evaluator.components.compare.pixel_pair import pixel_pair
from evaluator.components.compare.poster_pair import poster_pair
from evaluator.components.payload import ModelItem
from evaluator.metrics.item_ledger import OUTCOMES, Item, Items, item_ledger
from evaluator.project import evaluate_together
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.fields.drill_down import FieldPages
from evaluator.protocols.fields.evaluation import FieldsResult
from evaluator.protocols.fields.ledger import FieldLedgers
from evaluator.protocols.pixel.evaluation import PixelResult
from evaluator.protocols.pixel.regions import connected_components
from evaluator.protocols.posters.word_places import PageDifference, WordPlaces
from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE
from pages.app.state import State
from tests import dashboard
from tests.dashboard import SAMPLE_DATA, send_event, start

COMPARE = "pages/compare.py"
MODELS = (ModelItem("A", "first"), ModelItem("B", "second"))


@cache
def results(protocol: str) -> tuple[Any, Any]:
    """Two models of the sample data, without the dashboard."""
    folder = SAMPLE_DATA if protocol == "pixel" else SAMPLE_DATA / protocol
    names = {
        "pixel": ("ground_truth.json", "lines.json", "blocks.json"),
        "fields": ("ground_truth", "anchors", "rules"),
        "posters": ("ground_truth", "across", "columns"),
    }[protocol]
    truth, *models = (folder / name for name in names)
    options = {"pdfs": SAMPLE_DATA / "pdf"} if protocol == "pixel" else {}
    a, b = (each.result for each in evaluate_together(protocol, truth, models, **options))
    return a, b


# --- pages -------------------------------------------------------------------------------------------------------


def test_pages_and_filters_worked_by_hand() -> None:
    wrong = {("a", 0): (1.0, 0.0), ("b", 0): (0.0, 1.0), ("c", None): (1.0, 1.0), ("d", 2): (0.0, 0.0)}
    items = [(Item(name, page, f"f{at}"), pair) for at, ((name, page), pair) in enumerate(wrong.items())]
    items.append((Item("b", 0, "more"), (0.0, 1.0)))
    sides = (np.array([[pair[side]] for _, pair in items]) for side in (0, 1))
    ledger = item_ledger("field", "box", ["All"], Items(item for item, _ in items), sides)
    pages = item_pages(ledger, "field")
    assert pages.places == (("a", 0), ("b", 0), ("c", 0), ("d", 2))
    assert pages.net.tolist() == [1, -2, 0, 0]
    at = {show: [pages.places[row][0] for row in listed_item_pages(pages, show).tolist()] for show in ITEM_FILTERS}
    assert at == {"changed": ["b", "a"], "b_fixed": ["a"], "b_broke": ["b"], "both_missed": ["c"], "both_found": ["d"]}
    words = [(each.title, each.pages, each.words) for each in item_filters(pages, "changed", "AB")]
    assert words == [
        ("Changed", 2, "2 pages, 3 fields"),
        ("Better in B", 1, "1 page, 1 field"),
        ("Worse in B", 1, "1 page, 2 fields"),
        ("Equally wrong", 1, "1 page, 1 field"),
    ]
    listing = item_page_list(pages, "changed", listed_item_pages(pages, "changed"), 1, "AB")
    assert [(each.name, each.number, each.words, each.current) for each in listing.strip] == [
        ("b", "−2", "2 fields worse in B", False),
        ("a", "+1", "1 field better in B", True),
    ]
    assert (listing.look.scale, listing.look.diverging) == (2, True)


def test_amounts_of_pages_are_by_how_much_they_moved() -> None:
    items, amounts = (
        Items(Item("a", page) for page in range(3)),
        np.array([[[9.0], [5.0], [4.0]], [[2.0], [8.0], [4.0]]]),
    )
    pages = item_pages(item_ledger("page", "wrong pixels", ["All"], items, amounts), "pixel")
    assert pages.net.tolist() == [7, -3, 0]
    assert pages.amount[:, OUTCOMES.index("same_wrong")].tolist() == [0, 0, 4]


# --- fields ------------------------------------------------------------------------------------------------------


def field_pages() -> tuple[FieldsResult, FieldsResult, Any]:
    a, b = results("fields")
    return a, b, FieldLedgers(a, b).whole(0.5)


def test_the_panes_of_fields_list_what_the_ledger_counts() -> None:
    a, b, ledger = field_pages()
    pages = item_pages(ledger, "field")
    sides = FieldSide(a, FieldPages(a.compared)), FieldSide(b, FieldPages(b.compared))
    for show in ("changed", "b_fixed", "b_broke", "both_missed"):
        outcomes = ITEM_FILTERS[show].outcomes
        wanted = sum(ledger.counts(0)[name] for name in outcomes)
        drawn_, without = 0, 0
        for row in listed_item_pages(pages, show).tolist():
            drawn = field_pair(
                sides, ledger, *pages.places[row], points=(612.0, 792.0), unit="points", iou=0.5, models=MODELS,
                kinds=ITEM_FILTERS[show].kinds,
            )  # fmt: skip
            drawn_ += len(drawn.differences)
            without += sum(int(note.split()[0]) for note in drawn.notes if "without a box" in note)
            check_links(drawn)
        assert drawn_ + without == wanted > 0, show


def check_links(drawn: PairLayers) -> None:
    """A ground truth has one key in both panes, and what both have points to each other."""
    boxes = [{box.key: box for box in pane.boxes} for pane in drawn.panes]
    for key in boxes[0].keys() & boxes[1].keys():
        assert boxes[0][key].xyxy == boxes[1][key].xyxy
        assert key.startswith("g")
    for order in (0, 1):
        assert all(not key.startswith("ba"[order]) for key in boxes[order])
        for box in boxes[order].values():
            assert box.mate is None or box.mate in boxes[1 - order]
            assert box.partner is None or box.partner in boxes[order]
        for mistake in drawn.panes[order].mistakes:
            assert all(key in boxes[order] for key in mistake.keys)
    assert all(each.key in boxes[0] or each.key in boxes[1] for each in drawn.differences)


def test_a_difference_of_a_field_says_both_values() -> None:
    a, b, ledger = field_pages()
    sides = FieldSide(a, FieldPages(a.compared)), FieldSide(b, FieldPages(b.compared))
    drawn = field_pair(
        sides, ledger, "quayside-credit-77188", 0, points=(595.0, 842.0), unit="points", iou=0.5, models=MODELS,
        kinds=ITEM_FILTERS["changed"].kinds,
    )  # fmt: skip
    said = {each.words.split(":")[0].strip("\u2068\u2069"): each.words for each in drawn.differences}
    assert set(said) == {"invoice_date", "vendor.vat_id", "subtotal", "tax", "total"}
    assert "B nothing" in said["total"]
    assert [pane.words for pane in drawn.panes] == ["19 of 22 fields right", "18 of 22 fields right"]


# --- pixels ------------------------------------------------------------------------------------------------------


def test_the_pieces_of_a_page_are_its_wrong_pixels() -> None:
    a, b = results("pixel")
    assert isinstance(a, PixelResult)
    (ledger,) = PROTOCOLS["pixel"].item_ledgers(a, b)
    for at in range(0, len(ledger.items), 12):
        item = ledger.items[at]
        row = a.dataset.page_row(item.document, item.page or 0)
        assert row is not None
        for result, wanted in zip((a, b), ledger.amounts(at), strict=True):
            # Pixels with several labels count in parts in the matrix, and whole on the page.
            assert sum(region.pixels for region in result.wrong_regions(row).values()) >= wanted
        place = item.document, item.page or 0
        pieces = a.wrong_components(*place), b.wrong_components(*place)
        drawn = pixel_pair((a, b), *place, pieces=pieces, models=MODELS, kinds=ITEM_FILTERS["changed"].kinds)
        check_links(drawn)
        assert {box.kind for pane in drawn.panes for box in pane.boxes} <= {"a_invents", "b_invents", "shared"}
        swapped = pixel_pair((b, a), *place, pieces=pieces[::-1], models=MODELS, kinds=("shared",))
        assert [box.xyxy for box in swapped.panes[1].boxes] == [box.xyxy for box in drawn.panes[0].boxes]


def test_wrong_regions_are_the_regions_of_the_cells() -> None:
    a, _ = results("pixel")
    for page in np.flatnonzero(a.counted)[:2].tolist():
        regions = a.wrong_regions(page)
        assert regions
        for (row, column), region in regions.items():
            assert row != column
            assert region.rectangles.tolist() == a.cell_region(page, row, column).rectangles.tolist()
        cells = {
            (row, column)
            for row in range(len(a.classes))
            for column in range(len(a.classes))
            if row != column and a.cell_pixels(row, column)[page] > 0.0
        }
        assert set(regions) == cells


def test_rectangles_that_touch_along_an_edge_are_one_piece() -> None:
    rectangles = np.array([[0, 0, 4, 2], [4, 2, 6, 4], [2, 2, 4, 5], [8, 0, 9, 1], [9, 0, 10, 1]])
    groups = connected_components(rectangles)
    assert [sorted(map(tuple, group.tolist())) for group in groups] == [
        [(0, 0, 4, 2), (2, 2, 4, 5), (4, 2, 6, 4)],
        [(8, 0, 9, 1), (9, 0, 10, 1)],
    ]
    corner = connected_components(np.array([[0, 0, 1, 1], [1, 1, 2, 2]]))
    assert [len(group) for group in corner] == [1, 1], "a corner is no edge"


# --- posters -----------------------------------------------------------------------------------------------------


def word(token: str, side: Any, *, at: float = 0.1) -> WordPlaces:
    return WordPlaces(token, "word", side, np.array([[at, at, at + 0.1, at + 0.02]]))


def test_words_of_posters_worked_by_hand() -> None:
    a = PageDifference((word("both", "missing"), word("mine", "missing", at=0.3)), (word("more", "extra"),), (), 9)
    b = PageDifference((word("both", "missing"),), (word("more", "extra"), word("other", "extra", at=0.5)), (), 9)
    drawn = poster_pair((a, b), models=MODELS, kinds=ITEM_FILTERS["changed"].kinds)
    check_links(drawn)
    assert [{box.label: (box.status, box.kind, box.full) for box in pane.boxes} for pane in drawn.panes] == [
        {"both": ("FN", "neither", False), "mine": ("FN", "b_only", True), "more": ("FP", "shared", False)},
        {
            "both": ("FN", "neither", False),
            "mine": ("truth", "b_only", False),
            "more": ("FP", "shared", False),
            "other": ("FP", "b_invents", True),
        },
    ]
    assert [each.words.replace("\u2068", "").replace("\u2069", "") for each in drawn.differences] == [
        "mine: only A misses this word of the reference.",
        "other: only B adds this word that the reference does not have.",
    ]
    alone = poster_pair((a, None), models=MODELS, kinds=ITEM_FILTERS["changed"].kinds)
    assert alone.differences == ()
    assert alone.panes[1].words == "not compared"
    assert alone.panes[1].boxes == []


def test_words_of_a_page_without_text_are_not_counted_as_none() -> None:
    scan = PageDifference((), (), ("mine",), 0)
    drawn = poster_pair((scan, scan), models=MODELS, kinds=ITEM_FILTERS["changed"].kinds)
    assert [pane.words for pane in drawn.panes] == ["no text layer: words cannot be boxed"] * 2


# --- the view ----------------------------------------------------------------------------------------------------


def panes(app: AppTest) -> dict[str, Any]:
    (given,) = [data for each in app.get("bidi_component") if "strip" in (data := dashboard.data_of(each))]
    return dict(given)


@pytest.mark.parametrize("kind", ["pixels", "fields", "posters"])
def test_compare_shows_each_kind_and_a_link_reopens_page_and_filter(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    app = start(monkeypatch, COMPARE, compare=kind)
    assert app.selectbox(key="pair_kind").value == kind
    given = panes(app)
    assert [pane["letter"] for pane in given["panes"]] == ["A", "B"]
    a, b = results({"pixels": "pixel"}.get(kind, kind))
    if kind == "fields":
        pages = item_pages(FieldLedgers(a, b).whole(0.5), "field")
    else:
        (ledger,) = PROTOCOLS[{"pixels": "pixel"}.get(kind, kind)].item_ledgers(a, b)
        rows = range(1, len(ledger.rows)) if kind == "posters" else (0,)
        pages = item_pages(ledger, "criterion" if kind == "posters" else "pixel", rows)
    wanted = [pages.places[row] for row in listed_item_pages(pages, "changed").tolist()]
    assert [(each["document"], each["index"]) for each in given["strip"]] == wanted
    assert (given["page"]["document"], given["page"]["index"]) == wanted[0]
    assert given["opens"] == {"pixels": "Pixel confusion", "fields": "Fields", "posters": "Posters"}[kind]
    tables = [each.value for each in app.dataframe]
    assert any("B better" in table.columns for table in tables)
    assert any("95 % interval" in table.columns for table in tables)
    assert app.query_params["compare"] in (kind, [kind])
    # A link reopens page, filter and kind.
    app.session_state[State.pair_show.key] = "b_fixed"
    dashboard.fine(app.run())
    last = panes(app)["strip"][-1]
    if kind == "fields":
        app.session_state[State.field_doc.key] = last["document"]
        app.session_state[State.field_page.key] = last["index"] + 1
    elif kind == "posters":
        app.session_state[State.poster.key] = last["document"]
    else:
        app.session_state[State.doc.key], app.session_state[State.page.key] = last["document"], last["index"]
    dashboard.fine(app.run())
    address = {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}
    assert address["show"] == "b_fixed"
    linked = start(monkeypatch, COMPARE, **address)
    again = panes(linked)["page"]
    assert (again["document"], again["index"]) == (last["document"], last["index"])
    assert panes(linked)["show"] == "b_fixed"
    assert not any("could not be followed" in each.value for each in linked.caption)


KIND_JUDGED = {"pixels": "mistake", "fields": "field", "posters": "word"}


@pytest.mark.parametrize("kind", KIND_JUDGED)
def test_what_either_model_has_wrong_can_be_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    kept = tmp_path / "findings.sqlite"
    monkeypatch.setenv(FINDINGS_VARIABLE, str(kept))
    app = start(monkeypatch, COMPARE, compare=kind, **({"poster": "seed-bank"} if kind == "posters" else {}))
    given = panes(app)
    assert (given["verdicts"], given["reviewer"]) == (True, "")
    for pane in given["panes"]:
        keys = {box["key"] for box in pane["boxes"]}
        drawn = [each for each in pane["mistakes"] if each["keys"]]
        assert drawn
        assert all(each["target"] and set(each["keys"]) <= keys for each in drawn)
    for pane in given["panes"]:
        mistake = next(each for each in pane["mistakes"] if each["keys"])
        event = {
            "id": f"one-{pane['letter']}", "document": given["page"]["document"], "index": given["page"]["index"],
            "number": mistake["number"], "keys": mistake["keys"], "target": mistake["target"], "verdict": "ignore",
            "note": pane["letter"], "letter": pane["letter"], "name": "Ngozi",
        }  # fmt: skip
        app = send_event(app, "panes", "verdict", event)
        (shown,) = (each for each in panes(app)["panes"] if each["letter"] == pane["letter"])
        judged = [each for each in shown["mistakes"] if each.get("target") == mistake["target"]]
        # Several pieces of wrong pixels may be made by the same boxes.
        assert judged
        for each in judged:
            assert [(said["author"], said["note"]) for said in each["verdict"]["opinions"]] == [
                ("Ngozi", pane["letter"])
            ]
            assert each["answered"] == f"one-{pane['letter']}"
    with Store(kept) as store:
        assert {event.target.kind for event in store.log().events} == {KIND_JUDGED[kind]}
    listed_there = start(monkeypatch, "pages/findings.py")
    table = next(frame.value for frame in listed_there.dataframe if "Verdict" in frame.value)
    assert set(table["State"]) <= {"Still present in this run"}


def chosen_in(monkeypatch: pytest.MonkeyPatch, app: AppTest, box: dict[str, Any]) -> AppTest:
    """The view after a box was chosen in the panes."""
    sent: list[bool] = []

    def once(payload: Any, *, key: str, on_selected: Any, **on: Any) -> CompareEvents:
        if not sent:
            sent.append(True)
            on_selected()
        return CompareEvents()

    with monkeypatch.context() as patch:
        patch.setattr("pages.app.components.panes", once)
        patch.setattr("pages.views.compare.panes.report", lambda key: {"selected": box})
        app.run()
    assert sent
    return dashboard.fine(app.run())


@pytest.mark.parametrize("kind", KIND_JUDGED)
def test_a_box_chosen_on_the_first_page_stays_chosen(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    # Each view has chosen a box of its own on a page that is not the first one here.
    own: dict[str, dict[str, str]] = {
        "pixels": {"box": "p3"},
        "fields": {"field_box": "p302", "field_doc": "quayside-77120"},
    }
    own["posters"] = {"poster": "seed-bank"}
    app = start(monkeypatch, COMPARE, compare=kind, **own[kind])
    given = panes(app)
    assert given["selected"] is None
    key = next(box["key"] for box in given["panes"][0]["boxes"])
    box = {"document": given["page"]["document"], "index": given["page"]["index"], "key": key}
    app = chosen_in(monkeypatch, app, box)
    assert panes(app)["selected"] == key
    assert app.query_params["chosen"] in (key, [key])
    app = chosen_in(monkeypatch, app, {**box, "document": "another"})
    assert panes(app)["selected"] == key, "a box of a page that was left"


# What the address has of a kind of Compare, and what it never has.
PARTS: dict[str, tuple[set[str], set[str]]] = {
    "boxes": (
        {"iou", "doc"},
        {"field_iou", "field_doc", "recall_grid", "parity", "field_a", "poster", "profile", "classes"},
    ),
    "pixels": (
        {"classes", "doc"},
        {"iou", "field_iou", "field_doc", "recall_grid", "parity", "field_a", "poster", "profile", "label"},
    ),
    "fields": (
        {"recall_grid", "field_doc"},
        {"iou", "doc", "page", "box", "scores", "model_a", "poster", "profile", "classes", "label"},
    ),
    "posters": (
        {"profile", "poster"},
        {"iou", "doc", "page", "box", "scores", "field_iou", "recall_grid", "field_a", "classes"},
    ),
}


def test_the_address_has_the_parts_of_its_kind_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    every = {
        "iou": "0.6", "scores": "0.2,0.3", "doc": "school-census.pdf", "page": "3", "box": "g1", "label": "Table",
        "model_a": "2", "model_b": "1", "field_iou": "0.6", "field_doc": "norris-20466", "recall_grid": "decimal",
        "parity": "stickler", "field_a": "2", "field_b": "1", "profile": "published", "poster": "seed-bank",
        "classes": "same",
    }  # fmt: skip
    app = start(monkeypatch, COMPARE, compare="posters", **every)
    # What is left out is not forgotten: the other kinds come back with it.
    for kind in ("boxes", "pixels", "fields", "posters"):
        dashboard.fine(app.selectbox(key="pair_kind").set_value(kind).run())
        own, foreign = PARTS[kind]
        left = set(app.query_params)
        assert not left & foreign, kind
        assert left >= own, kind


def test_pixels_are_counted_in_compare_as_in_their_own_view(monkeypatch: pytest.MonkeyPatch) -> None:
    app = start(monkeypatch, COMPARE, compare="pixels")
    assert "missing pages: penalize" in dashboard.signature(app)
    dashboard.fine(app.selectbox(key=dashboard.key_of(app, "pixel_missing")).set_value("ignore").run())
    assert "missing pages: ignore" in dashboard.signature(app)
    assert app.query_params["missing"] in ("ignore", ["ignore"])
    dashboard.fine(app.selectbox(key=dashboard.key_of(app, "pixel_classes")).set_value("different").run())
    assert "different classes" in dashboard.signature(app)
    assert any("The sides use different classes" in each.value for each in app.caption)
    own = dashboard.go(app, "pages/pixel_confusion.py")
    assert own.selectbox(key=dashboard.key_of(own, "pixel_missing")).value == "ignore"
    assert own.selectbox(key=dashboard.key_of(own, "pixel_classes")).value == "different"


def test_where_no_pixel_is_left_a_way_out_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    given = panes(start(monkeypatch, COMPARE, compare="pixels", scores="1,1"))
    assert given["page"] is None
    assert given["empty"]["action"] == "Show every changed page"


def test_boxes_alone_offer_boxes_and_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json"]
    app = start(monkeypatch, COMPARE, files=dashboard.workspace(SAMPLE_DATA / "ground_truth.json", sides))
    assert app.selectbox(key="pair_kind").options == ["Boxes", "Pixels"]
    assert app.selectbox(key="pair_kind").value == "boxes"
