"""Charts: specifications that validate, labels that stay data, colours of both themes, counts equal to numpy's."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.charts import boxes as charts
from evaluator.charts import theme, vega
from evaluator.data.boxes import IntArray
from tests.charting import specification

HOSTILE = (
    "a:Q", "a.b", "a[0]", "datum['x']", 'quote "double"', "it's", "back\\slash", "a\\", "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "![b](http://example.invalid/x.png)", "[a](http://example.invalid/)", "$x$",
    "line\nbreak", "\u202egnp", "=1+1", "", "   ", "count()", "sum(mistakes):Q", "x" * 300, "ä漢字😀",
)  # fmt: skip


def counts(*values: int) -> IntArray:
    return np.array(values, dtype=np.int64)


def bars(labels: Sequence[str], values: dict[str, IntArray], *, dark: bool = False, **given: Any) -> dict[str, Any]:
    return specification(charts.mistakes_by_label(labels, values, baseline="A", dark=dark, height=300, **given))


def mistakes(labels: Sequence[str], letters: Sequence[str] = "AB", *, dark: bool = False) -> dict[str, Any]:
    return bars(labels, {letter: counts(*range(len(labels), 0, -1)) for letter in letters}, dark=dark)


def histogram(low: float = 0.5, *, dark: bool = False, **values: Any) -> dict[str, Any]:
    return specification(charts.histogram(values, low=low, baseline="A", dark=dark))


def spread(seed: int = 0, low: float = 0.5) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(seed).uniform(low, 1.0, 500)


def every_value(node: Any, name: str) -> Iterator[Any]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == name:
                yield value
            yield from every_value(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from every_value(value, name)


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for rows in spec["datasets"].values() for row in rows]


@pytest.mark.parametrize(("letters", "dark"), [("A", False), ("AB", True), ("B", False)])
def test_every_chart_is_a_valid_specification(letters: str, dark: bool) -> None:
    of_boxes = histogram(dark=dark, **{letter: spread() for letter in letters})
    for spec in (mistakes(("Table", "Text"), letters, dark=dark), of_boxes):
        colours = theme.palette(dark=dark)
        text = json.dumps(spec)
        assert colours.muted in text
        marks = json.dumps({name: value for name, value in spec.items() if name != "config"})
        for letter, colour in (("A", colours.a), ("B", colours.b)):
            assert (colour in marks) == (letter in letters)
        other = theme.palette(dark=not dark)
        assert other.muted not in text or other.muted in (colours.a, colours.b)
        assert other.grid not in text
        assert spec["config"]["background"] == "transparent"
        assert "title" not in spec
        assert spec["config"]["axis"]["labelFontSize"] >= 12
        assert '"legend"' not in marks.replace('"legend": null', "")


def test_the_two_themes_are_those_of_the_design() -> None:
    assert (theme.LIGHT.a, theme.LIGHT.b, theme.LIGHT.grid) == ("#5B6675", "#1F5FA8", "#E3E6EB")
    assert (theme.DARK.a, theme.DARK.b, theme.DARK.grid) == ("#A3AEBB", "#7DB1F2", "#2A323B")


@pytest.mark.parametrize("labels", [HOSTILE[:12], HOSTILE[12:]])
def test_labels_are_cells_and_never_fields_or_expressions(labels: tuple[str, ...]) -> None:
    spec = mistakes(labels)
    assert list(dict.fromkeys(row["label"] for row in rows_of(spec))) == list(labels)
    assert set(every_value(spec, "field")) == {"label", "model", "mistakes"}
    orders = [value for value in every_value(spec, "sort") if isinstance(value, list) and labels[0] in value]
    assert orders
    assert all(order == list(labels) for order in orders)
    for name in ("calculate", "filter", "url", "href"):
        assert list(every_value(spec, name)) == []
    # Those of the axis are the same whatever the labels are.
    others = mistakes(("Table",))
    for name in ("expr", "test"):
        assert list(every_value(spec, name)) == list(every_value(others, name))


def test_mistakes_are_sorted_cut_and_free_of_zeros() -> None:
    labels = tuple(f"label {number}" for number in range(20))
    values = {"A": np.arange(20, dtype=np.int64), "B": np.zeros(20, dtype=np.int64)}
    rows = rows_of(bars(labels, values, top=5))
    shown = list(dict.fromkeys(row["label"] for row in rows))
    assert shown == ["label 19", "label 18", "label 17", "label 16", "label 15"]
    assert [(row["model"], row["mistakes"]) for row in rows if row["label"] == shown[0]] == [("A", 19), ("B", 0)]
    assert "label 0" not in {row["label"] for row in rows_of(bars(labels, values, top=100))}
    assert [row["label"] for row in rows_of(bars(("x", "y"), {"A": counts(2, 2)}))] == ["x", "y"]


def test_numbers_fit_behind_the_longest_bar() -> None:
    spec = bars(("x",), {"A": counts(100), "B": counts(7)})
    ends = [value[1] for value in every_value(spec, "domain") if isinstance(value, list) and value[0] == 0]
    assert min(ends) >= 1.1 * 100


def test_no_mistake_is_an_empty_chart() -> None:
    for labels in ((), ("Table",)):
        assert rows_of(bars(labels, {letter: np.zeros(len(labels), dtype=np.int64) for letter in "AB"})) == []


def test_a_click_picks_a_label_and_a_brush_a_range() -> None:
    picks = {
        param["name"]: param["select"]
        for spec in (mistakes(("Table",)), histogram(A=spread()))
        for param in spec["params"]
    }
    assert (picks["label"]["type"], picks["label"]["fields"]) == ("point", ["label", "model"])
    assert picks["range"] == {"type": "interval", "encodings": ["x"]}


@pytest.mark.parametrize("low", [0.1, 0.5, 0.53, 0.95])
def test_the_histogram_counts_like_numpy(low: float) -> None:
    values = {"A": np.append(spread(1, 0.0), [low, 1.0]), "B": spread(2, low)}
    rows = rows_of(histogram(low, **values))
    edges = np.linspace(low, 1.0, 21)
    for letter, column in values.items():
        mine = sorted((row["start"], row["boxes"]) for row in rows if row["model"] == letter)
        wanted = np.histogram(column, bins=edges)[0].tolist()
        # The second model's line has one more point at the right end.
        assert [boxes for _, boxes in mine][:20] == wanted
        assert [start for start, _ in mine][:20] == pytest.approx(edges[:-1])
        assert sum(wanted) == int((column >= low).sum())
    assert max(row["boxes"] for row in rows) > 0


def test_the_line_of_the_second_model_reaches_the_end_of_the_axis() -> None:
    rows = rows_of(histogram(A=spread(), B=np.array([0.99])))
    assert [row["boxes"] for row in rows if row["model"] == "B" and row["start"] == 1.0] == [1]


def test_a_model_without_matches_is_a_flat_histogram() -> None:
    nothing = np.empty(0, dtype=np.float64)
    for values in ({"A": nothing}, {"A": nothing, "B": spread()}, {"A": spread(), "B": nothing}):
        assert {row["model"] for row in rows_of(histogram(dark=True, **values))} == set(values)


def test_the_charts_of_a_first_view_need_no_package_that_is_slow_to_import() -> None:
    program = "import sys, evaluator.charts.boxes, evaluator.charts.curves, evaluator.charts.scores\n"
    program += "print({'altair', 'pandas'} & {*sys.modules})"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_columns_are_drawn_as_a_frame_of_them_is() -> None:
    columns = {"label": ["Text", "Table"], "boxes": np.array([3, 12]), "share": np.array([0.5, np.nan])}
    encoding = {"x": vega.field("boxes:Q"), "y": vega.field("label:N"), "opacity": vega.field("share:Q")}
    drawn, framed = (
        vega.chart([vega.layer(of, "bar", encoding)], {}, height=100) for of in (columns, pd.DataFrame(columns))
    )
    assert drawn == framed


@pytest.mark.parametrize(
    ("mark", "look", "drawn"),
    [
        ("line", {"opacity": 0.3}, {"opacity": 1, "strokeOpacity": 0.3}),
        ("rule", {"opacity": 0.7}, {"opacity": 1, "strokeOpacity": 0.7}),
        ("bar", {"opacity": 0.5}, {"opacity": 1, "fillOpacity": 0.5}),
        ("point", {"opacity": 0.6, "filled": True}, {"opacity": 1, "fillOpacity": 0.6}),
        ("point", {"opacity": 0.6, "filled": False}, {"opacity": 1, "strokeOpacity": 0.6}),
        ("point", {"opacity": 1}, {"opacity": 1}),
        ("line", {}, {}),
    ],
)
def test_a_pale_mark_is_pale_by_its_ink(mark: str, look: vega.Piece, drawn: vega.Piece) -> None:
    """A mark with an opacity of its own is a layer of its own to the browser."""
    piece = vega.layer({"a": [1.0]}, mark, {"x": vega.field("a:Q")}, **look)
    assert {name: value for name, value in piece["mark"].items() if "pacity" in name} == drawn
