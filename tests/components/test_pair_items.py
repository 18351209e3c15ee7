"""Linked panes of pixels, fields and posters: pages and filters by hand, and what is drawn equals the ledgers."""

import itertools
import uuid
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.components.compare import pair_items
from evaluator.components.compare.field_pair import FieldSide, field_pair
from evaluator.components.compare.pair import PairLayers
from evaluator.components.compare.pixel_pair import pixel_pair
from evaluator.components.compare.poster_pair import poster_pair
from evaluator.components.payload import ModelItem
from evaluator.metrics.item_ledger import OUTCOMES, Item, Items, item_ledger
from evaluator.project import evaluate_together
from evaluator.protocols import PROTOCOLS
from evaluator.protocols.fields.drill_down import FieldPages
from evaluator.protocols.fields.ledger import FieldLedgers
from evaluator.protocols.pixel.evaluation import PixelResult
from evaluator.protocols.pixel.regions import connected_components
from evaluator.protocols.posters.word_places import PageDifference, WordPlaces
from pages.app.state import State
from tests import dashboard
from tests.dashboard import COMPARE, PIXELS, SAMPLE_DATA, address, fine, key_of, signature, start, table, texts
from tests.judging import stored

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


def test_pages_and_filters_worked_by_hand() -> None:
    wrong = {("a", 0): (1.0, 0.0), ("b", 0): (0.0, 1.0), ("c", None): (1.0, 1.0), ("d", 2): (0.0, 0.0)}
    items = [(Item(name, page, f"f{at}"), pair) for at, ((name, page), pair) in enumerate(wrong.items())]
    items.append((Item("b", 0, "more"), (0.0, 1.0)))
    sides = (np.array([[pair[side]] for _, pair in items]) for side in (0, 1))
    ledger = item_ledger("field", "box", ["All"], Items(item for item, _ in items), sides)
    pages = pair_items.item_pages(ledger, "field")
    assert pages.places == (("a", 0), ("b", 0), ("c", 0), ("d", 2))
    assert pages.net.tolist() == [1, -2, 0, 0]
    at = {
        show: [pages.places[row][0] for row in pair_items.listed_item_pages(pages, show).tolist()]
        for show in pair_items.ITEM_FILTERS
    }
    assert at == {"changed": ["b", "a"], "b_fixed": ["a"], "b_broke": ["b"], "both_missed": ["c"], "both_found": ["d"]}
    words = [(each.title, each.pages, each.words) for each in pair_items.item_filters(pages, "changed", "AB")]
    assert words == [
        ("Changed", 2, "2 pages, 3 fields"),
        ("Better in B", 1, "1 page, 1 field"),
        ("Worse in B", 1, "1 page, 2 fields"),
        ("Equally wrong", 1, "1 page, 1 field"),
    ]
    listing = pair_items.item_page_list(pages, "changed", pair_items.listed_item_pages(pages, "changed"), 1, "AB")
    assert [(each.name, each.number, each.words, each.current) for each in listing.strip] == [
        ("b", "−2", "2 fields worse in B", False),
        ("a", "+1", "1 field better in B", True),
    ]
    assert (listing.look.scale, listing.look.diverging) == (2, True)


def test_amounts_of_pages_are_by_how_much_they_moved() -> None:
    items = Items(Item("a", page) for page in range(3))
    amounts = np.array([[[9.0], [5.0], [4.0]], [[2.0], [8.0], [4.0]]])
    pages = pair_items.item_pages(item_ledger("page", "wrong pixels", ["All"], items, amounts), "pixel")
    assert pages.net.tolist() == [7, -3, 0]
    assert pages.amount[:, OUTCOMES.index("same_wrong")].tolist() == [0, 0, 4]


def of_fields() -> tuple[Any, Any]:
    a, b = results("fields")
    ledger = FieldLedgers(a, b).whole(0.5)
    sides = FieldSide(a, FieldPages(a.compared)), FieldSide(b, FieldPages(b.compared))

    def drawn(document: str, page: int, show: str) -> PairLayers:
        kinds = pair_items.ITEM_FILTERS[show].kinds
        return field_pair(
            sides, ledger, document, page, points=(612.0, 792.0), unit="points", iou=0.5, models=MODELS, kinds=kinds
        )

    return ledger, drawn


def test_the_panes_of_fields_list_what_the_ledger_counts() -> None:
    ledger, drawn = of_fields()
    pages = pair_items.item_pages(ledger, "field")
    for show in ("changed", "b_fixed", "b_broke", "both_missed"):
        outcomes = pair_items.ITEM_FILTERS[show].outcomes
        wanted = sum(ledger.counts(0)[name] for name in outcomes)
        listed = [drawn(*pages.places[row], show) for row in pair_items.listed_item_pages(pages, show).tolist()]
        without = [int(note.split()[0]) for page in listed for note in page.notes if "without a box" in note]
        assert sum(len(page.differences) for page in listed) + sum(without) == wanted > 0, show
        for page in listed:
            check_links(page)


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
    _, draw = of_fields()
    drawn = draw("quayside-credit-77188", 0, "changed")
    said = {each.words.split(":")[0].strip("\u2068\u2069"): each.words for each in drawn.differences}
    assert set(said) == {"invoice_date", "vendor.vat_id", "subtotal", "tax", "total"}
    assert "B nothing" in said["total"]
    assert [pane.words for pane in drawn.panes] == ["19 of 22 fields right", "18 of 22 fields right"]


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
        drawn = pixel_pair((a, b), *place, pieces=pieces, models=MODELS, kinds=pair_items.ITEM_FILTERS["changed"].kinds)
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
            assert region.rectangles.tolist() == a.cell_region(page, row, column).rectangles.tolist()
        cells = itertools.permutations(range(len(a.classes)), 2)
        assert set(regions) == {cell for cell in cells if a.cell_pixels(*cell)[page] > 0.0}


def test_rectangles_that_touch_along_an_edge_are_one_piece() -> None:
    rectangles = np.array([[0, 0, 4, 2], [4, 2, 6, 4], [2, 2, 4, 5], [8, 0, 9, 1], [9, 0, 10, 1]])
    groups = connected_components(rectangles)
    assert [sorted(map(tuple, group.tolist())) for group in groups] == [
        [(0, 0, 4, 2), (2, 2, 4, 5), (4, 2, 6, 4)],
        [(8, 0, 9, 1), (9, 0, 10, 1)],
    ]
    corner = connected_components(np.array([[0, 0, 1, 1], [1, 1, 2, 2]]))
    assert [len(group) for group in corner] == [1, 1], "a corner is no edge"


def word(token: str, side: Any, *, at: float = 0.1) -> WordPlaces:
    return WordPlaces(token, "word", side, np.array([[at, at, at + 0.1, at + 0.02]]))


def test_words_of_posters_worked_by_hand() -> None:
    a = PageDifference((word("both", "missing"), word("mine", "missing", at=0.3)), (word("more", "extra"),), (), 9)
    b = PageDifference((word("both", "missing"),), (word("more", "extra"), word("other", "extra", at=0.5)), (), 9)
    drawn = poster_pair((a, b), models=MODELS, kinds=pair_items.ITEM_FILTERS["changed"].kinds)
    check_links(drawn)
    of_both = {"both": ("FN", "neither", False), "more": ("FP", "shared", False)}
    assert [{box.label: (box.status, box.kind, box.full) for box in pane.boxes} for pane in drawn.panes] == [
        of_both | {"mine": ("FN", "b_only", True)},
        of_both | {"mine": ("truth", "b_only", False), "other": ("FP", "b_invents", True)},
    ]
    assert [each.words.replace("\u2068", "").replace("\u2069", "") for each in drawn.differences] == [
        "mine: only A misses this word of the reference.",
        "other: only B adds this word that the reference does not have.",
    ]
    alone = poster_pair((a, None), models=MODELS, kinds=pair_items.ITEM_FILTERS["changed"].kinds)
    assert (alone.differences, alone.panes[1].words, alone.panes[1].boxes) == ((), "not compared", [])
    scan = PageDifference((), (), ("mine",), 0)
    drawn = poster_pair((scan, scan), models=MODELS, kinds=pair_items.ITEM_FILTERS["changed"].kinds)
    assert [pane.words for pane in drawn.panes] == ["no text layer: words cannot be boxed"] * 2


def panes(app: AppTest) -> dict[str, Any]:
    return dashboard.component(app, "strip")


@pytest.mark.parametrize("kind", ["pixels", "fields", "posters"])
def test_compare_shows_each_kind_and_a_link_reopens_page_and_filter(kind: str) -> None:
    app = start(COMPARE, compare=kind)
    assert app.selectbox(key="pair_kind").value == kind
    given = panes(app)
    assert [pane["letter"] for pane in given["panes"]] == ["A", "B"]
    a, b = results({"pixels": "pixel"}.get(kind, kind))
    if kind == "fields":
        pages = pair_items.item_pages(FieldLedgers(a, b).whole(0.5), "field")
    else:
        (ledger,) = PROTOCOLS[{"pixels": "pixel"}.get(kind, kind)].item_ledgers(a, b)
        rows = range(1, len(ledger.rows)) if kind == "posters" else (0,)
        pages = pair_items.item_pages(ledger, "criterion" if kind == "posters" else "pixel", rows)
    wanted = [pages.places[row] for row in pair_items.listed_item_pages(pages, "changed").tolist()]
    assert [(each["document"], each["index"]) for each in given["strip"]] == wanted
    assert (given["page"]["document"], given["page"]["index"]) == wanted[0]
    assert given["opens"] == {"pixels": "Confusion", "fields": "Fields", "posters": "Posters"}[kind]
    assert len(table(app, "B better"))
    assert any("95 % interval" in each.value for each in app.dataframe) == (kind != "posters")
    assert address(app)["compare"] == kind
    app.session_state[State.pair_show.key] = "b_fixed"
    fine(app.run())
    last = panes(app)["strip"][-1]
    document, page, first = {
        "fields": (State.field_doc, State.field_page, 1),
        "posters": (State.poster, None, 0),
        "pixels": (State.doc, State.page, 0),
    }[kind]
    app.session_state[document.key] = last["document"]
    if page is not None:
        app.session_state[page.key] = last["index"] + first
    fine(app.run())
    assert address(app)["show"] == "b_fixed"
    linked = start(COMPARE, **address(app))
    again = panes(linked)
    assert (again["page"]["document"], again["page"]["index"], again["show"]) == (
        last["document"], last["index"], "b_fixed",
    )  # fmt: skip
    assert not any("could not be followed" in text for text in texts(linked.caption))


KIND_JUDGED = {"pixels": "mistake", "fields": "field", "posters": "word"}


@pytest.mark.parametrize("kind", KIND_JUDGED)
def test_what_either_model_has_wrong_can_be_judged(store_path: Path, kind: str) -> None:
    app = start(COMPARE, compare=kind, **({"poster": "seed-bank"} if kind == "posters" else {}))
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
            "id": uuid.uuid4().hex, "document": given["page"]["document"], "index": given["page"]["index"],
            "number": mistake["number"], "keys": mistake["keys"], "target": mistake["target"], "verdict": "ignore",
            "note": pane["letter"], "letter": pane["letter"], "name": "Ngozi",
        }  # fmt: skip
        app = dashboard.send_event(app, "panes", "verdict", [event])
        (shown,) = (each for each in panes(app)["panes"] if each["letter"] == pane["letter"])
        judged = [each for each in shown["mistakes"] if each.get("target") == mistake["target"]]
        # Several pieces of wrong pixels may be made by the same boxes.
        assert judged
        for each in judged:
            said = [(opinion["author"], opinion["note"]) for opinion in each["verdict"]["opinions"]]
            assert said == [("Ngozi", pane["letter"])]
        assert dashboard.component(app, "strip")["answered"] == event["id"]
    assert {event.target.kind for event in stored(store_path)} == {KIND_JUDGED[kind]}
    # In this session, where they are open: a new one opens the boxes of the sample alone.
    listed = dashboard.component(dashboard.go(app, dashboard.FINDINGS), "answered")["rows"]
    assert {tag for row in listed for tag in row.get("tags", ())} <= {"fails the rule"}
    assert listed


def chosen_in(monkeypatch: pytest.MonkeyPatch, app: AppTest, box: dict[str, Any]) -> AppTest:
    sent: list[bool] = []

    def once(*, on_selected_change: Any, **_: Any) -> None:
        if not sent:
            sent.append(True)
            on_selected_change()

    with monkeypatch.context() as patch:
        patch.setattr("pages.app.components.panes._mount", once)
        patch.setattr("pages.views.compare.panes.report", lambda key: {"selected": box})
        app.run()
    assert sent
    return fine(app.run())


@pytest.mark.parametrize("kind", KIND_JUDGED)
def test_a_box_chosen_on_the_first_page_stays_chosen(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    # Each view has chosen a box of its own on a page that is not the first one here.
    own = {"box": "p3", "field_box": "p302", "field_doc": "quayside-77120", "poster": "seed-bank"}
    parts = {"pixels": ["box"], "fields": ["field_box", "field_doc"], "posters": ["poster"]}
    app = start(COMPARE, compare=kind, **{name: own[name] for name in parts[kind]})
    given = panes(app)
    assert given["selected"] is None
    key = next(box["key"] for box in given["panes"][0]["boxes"])
    box = {"document": given["page"]["document"], "index": given["page"]["index"], "key": key}
    app = chosen_in(monkeypatch, app, box)
    assert panes(app)["selected"] == key
    assert address(app)["chosen"] == key
    app = chosen_in(monkeypatch, app, {**box, "document": "another"})
    assert panes(app)["selected"] == key, "a box of a page that was left"


# What the address has of a kind of Compare, and what it never has.
PARTS = {
    "boxes": ("iou doc", "field_iou field_doc recall_grid parity field_a poster profile classes"),
    "pixels": ("classes doc", "iou field_iou field_doc recall_grid parity field_a poster profile label"),
    "fields": ("recall_grid field_doc", "iou doc page box scores model_a poster profile classes label"),
    "posters": ("profile poster", "iou doc page box scores field_iou recall_grid field_a classes"),
}


def test_the_address_has_the_parts_of_its_kind_alone() -> None:
    every = {
        "iou": "0.6", "scores": "0.2,0.3", "doc": "school-census.pdf", "page": "3", "box": "g1", "label": "Table",
        "model_a": "2", "model_b": "1", "field_iou": "0.6", "field_doc": "norris-20466", "recall_grid": "decimal",
        "parity": "stickler", "field_a": "2", "field_b": "1", "profile": "published", "poster": "seed-bank",
        "classes": "same",
    }  # fmt: skip
    app = start(COMPARE, compare="posters", **every)
    # The view Fields opens its files, which Compare then has as a kind.
    app = dashboard.go(dashboard.go(app, "pages/fields.py"), COMPARE)
    # What is left out is not forgotten: the other kinds come back with it.
    for kind in ("boxes", "pixels", "fields", "posters"):
        fine(app.selectbox(key="pair_kind").set_value(kind).run())
        own, foreign = (set(names.split()) for names in PARTS[kind])
        left = set(app.query_params)
        assert (left & foreign, own - left) == (set(), set()), kind


def test_pixels_are_counted_in_compare_as_in_their_own_view() -> None:
    app = start(COMPARE, compare="pixels")
    assert "missing pages: penalize" in signature(app)
    fine(app.selectbox(key=key_of(app, "pixel_missing")).set_value("ignore").run())
    assert "missing pages: ignore" in signature(app)
    assert address(app)["missing"] == "ignore"
    fine(app.selectbox(key=key_of(app, "pixel_classes")).set_value("different").run())
    assert "different classes" in signature(app)
    assert any("The sides use different classes" in text for text in texts(app.caption))
    own = dashboard.go(app, PIXELS)
    chosen = [own.selectbox(key=key_of(own, name)).value for name in ("pixel_missing", "pixel_classes")]
    assert chosen == ["ignore", "different"]


def test_where_no_pixel_is_left_a_way_out_says_so() -> None:
    given = panes(start(COMPARE, compare="pixels", scores="1,1"))
    assert given["page"] is None
    assert given["empty"]["action"] == "Show every changed page"


def test_boxes_alone_offer_boxes_and_pixels() -> None:
    sides = [SAMPLE_DATA / "lines.json", SAMPLE_DATA / "blocks.json"]
    app = start(COMPARE, files=dashboard.workspace(SAMPLE_DATA / "ground_truth.json", sides))
    kinds = app.selectbox(key="pair_kind")
    assert (kinds.options, kinds.value) == (["Boxes", "Pixels"], "boxes")
