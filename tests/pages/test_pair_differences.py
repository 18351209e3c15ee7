"""B against A in the views of pixels, fields and posters: the same sentence and intervals as in the terminal."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.compare.differences import Difference, decision_differences, differences
from evaluator.compare.sentences import difference_points, interval_text, name_of, summary
from evaluator.data.issues import name_in_list
from evaluator.metrics.results import signed
from evaluator.project import evaluate_together
from evaluator.protocols import PROTOCOLS
from pages.app import address as address_bar
from pages.app import widgets
from pages.app.state import Field, State
from pages.views.compare import pair_differences
from tests import dashboard
from tests.dashboard import FIELDS, PIXELS, POSTERS, SAMPLE_DATA, address, fine, start, texts, words

VIEWS = {
    "pixel": (PIXELS, SAMPLE_DATA / "ground_truth.json", ("lines.json", "blocks.json")),
    "fields": (FIELDS, SAMPLE_DATA / "fields" / "ground_truth", ("fields/anchors", "fields/rules")),
    "posters": (POSTERS, SAMPLE_DATA / "posters" / "ground_truth", ("posters/across", "posters/columns")),
}


@pytest.mark.parametrize("protocol", list(VIEWS))
def test_the_view_says_counts_and_lists_what_the_terminal_does(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    view, truth, models = VIEWS[protocol]
    options = {"pdfs": SAMPLE_DATA / "pdf"} if protocol == "pixel" else {}
    paths = [SAMPLE_DATA / name for name in models]
    results = [one.result for one in evaluate_together(protocol, truth, paths, **options)]
    app = start(view)
    check_differences(app, differences(*(PROTOCOLS[protocol].measures(result) for result in results)))
    ledgers = PROTOCOLS[protocol].item_ledgers(*results)
    assert ledgers
    tables = [each.value for each in app.dataframe if "B better" in each.value.columns]
    assert len(tables) == len(ledgers)
    for table, ledger in zip(tables, ledgers, strict=True):
        assert table.iloc[:, 0].tolist() == list(ledger.rows)
        every = [list(ledger.counts(row).values()) for row in range(len(ledger.rows))]
        counts = [[*outcomes, signed(net)] for *outcomes, net in every]
        assert table.iloc[:, 1:].to_numpy().tolist() == counts
    assert "ledger" not in address(app)
    for ledger in ledgers:
        for outcome in ("b_better", "a_better"):
            row = max(range(len(ledger.rows)), key=lambda row: ledger.counts(row)[outcome])
            number = [ledger.measure, ledger.rows[row], outcome]
            app.session_state[State.ledger_of.key] = tuple(number)
            fine(app.run())
            listed = items_listed(app)
            items = [ledger.items[at] for at in ledger.items_with_outcome(row, outcome)]
            assert len(listed) == ledger.counts(row)[outcome] > 0
            assert listed["Document"].tolist() == [name_in_list(item.document) for item in items]
            if items[0].page is not None:
                assert listed["Page"].tolist() == [str((item.page or 0) + 1) for item in items]
            if items[0].place:
                assert listed["Field"].tolist() == [item.place_words for item in items]
    # A link lists the number again, and nothing is computed for a second session.
    monkeypatch.delattr(pair_differences, "differences")
    assert json.loads(address(app)["ledger"]) == number
    pd.testing.assert_frame_equal(items_listed(start(view, **address(app))), listed)


def check_differences(app: AppTest, every: Sequence[Difference]) -> None:
    table = dashboard.table(app, "B − A, points")
    metrics = tuple(dict.fromkeys(one.metric for one in every))
    rows = decision_differences(every, limit=max(10, sum(one.overall for one in every)), metrics=metrics)
    assert list(table["Number"]) == [name_of(one) for one in rows]
    assert list(table["A"]) == pytest.approx([one.a for one in rows])
    assert list(table["B"]) == pytest.approx([one.b for one in rows])
    assert [text.removesuffix(" ★") for text in table["B − A, points"]] == [difference_points(one) for one in rows]
    assert ["★" in text for text in table["B − A, points"]] == [one.is_clear for one in rows]
    wanted = [None if one.too_few else interval_text(one, signed=True) for one in rows]
    assert list(table.get("95 % interval", ())) == [text or "–" for text in wanted if any(wanted)]
    assert list(table["Better in B"]) == [one.documents_better for one in rows]
    said = " ".join(words(app))
    headline = summary(every, ("A", "B")).headline
    # The models are called by their names there.
    assert headline[headline.index(" points") :] in said


def items_listed(app: AppTest) -> pd.DataFrame:
    table: pd.DataFrame = [each.value for each in app.dataframe if each.value.columns[0] == "Document"][-1]
    return table


@pytest.mark.parametrize("protocol", list(VIEWS))
def test_a_row_of_the_list_opens_its_page_field_or_poster(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    listed: list[dict[str, str]] = []
    pressed: list[Callable[[], None]] = []
    table, read = widgets.table, address_bar.read_url

    def with_list(data: Any, **more: Any) -> Any:
        """The table; its last row is pressed once it lists something."""
        if more.get("key", "").startswith("ledger_behind_") and not listed:
            listed.append({name: values[-1] for name, values in data.items()})
            pressed.append(more["on_select"])
        return table(data, **more)

    def with_press(view: str) -> None:
        """The beginning of a view, where what was pressed is done."""
        read(view)
        while pressed:
            pressed.pop()()

    app = start(VIEWS[protocol][0])
    monkeypatch.setattr(widgets, "table", with_list)
    monkeypatch.setattr(pair_differences, "chosen_cells", lambda _: [(len(items_with_outcome) - 1, "Document")])
    counts = dashboard.table(app, "B better")
    items_with_outcome = range(int(counts["B better"][0]))
    criterion = {"pixel": "wrong pixels", "fields": "box", "posters": "criteria"}[protocol]
    app.session_state[State.ledger_of.key] = (criterion, counts.iloc[0, 0], "b_better")
    fine(app.run())
    (row,) = listed
    monkeypatch.setattr(address_bar, "read_url", with_press)
    fine(app.run())
    assert not pressed

    def now(field: Field[Any]) -> Any:
        return app.session_state[field.key]

    if protocol == "posters":
        assert address(app)["poster"] == row["Document"]
        assert dashboard.viewer(app)["page"]["document"] == row["Document"]
    elif protocol == "pixel":
        assert (name_in_list(now(State.doc)), now(State.page) + 1) == (row["Document"], int(row["Page"]))
    else:
        assert (now(State.field_doc), now(State.field_page)) == (row["Document"], int(row["Page"]))
        data = dashboard.viewer(app)
        (box,) = [each for each in data["boxes"] if each["key"] == data["selected"]]
        assert box["key"] == now(State.field_box)
        assert box["label"] == row["Field"].removesuffix(" (extra)")


def test_a_link_to_a_number_that_is_not_there_says_so() -> None:
    app = start(FIELDS, ledger='["value","no such field","a_better"]')
    assert "The ledger by value has no row no such field." in texts(app.caption)
    for nonsense in ("a_better", '["value","All fields","better"]'):
        assert any("ledger" in text for text in texts(start(FIELDS, ledger=nonsense).caption)), nonsense
