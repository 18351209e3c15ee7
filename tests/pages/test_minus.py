"""No hyphen stands for a minus: a walk over texts, tables and components of every view, and tables of the terminal."""

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from evaluator.metrics import export
from evaluator.metrics.results import ResultTable
from tests import dashboard
from tests.dashboard import COMPARE, EVERY_VIEW, FINDINGS, OVERVIEW, POSTERS, SLICES, start

HYPHEN = re.compile(r"(?:^|[\s(\[>=:])-(?=[.\d]*\d)")
MORE = [
    (OVERVIEW, {"protocol": "coco"}), (COMPARE, {"compare": "pixels"}), (COMPARE, {"compare": "fields"}),
    (COMPARE, {"compare": "posters"}), (POSTERS, {"poster_of": "B-A"}), (SLICES, {"of_models": "B-A"}),
    (FINDINGS, {"meeting": "yes"}),
]  # fmt: skip
# What nobody reads, and values of fields as the document has them.
NOT_READ = {"address", "set", "key", "lines"}


def texts_of(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from texts_of(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner, key)
    elif isinstance(value, str):
        yield key, value


def read(app: AppTest) -> Iterator[tuple[str, str]]:
    """Everything that is read on a view, with where it is; a number of a table that is not text as it is drawn."""
    yield from ((place, text) for place, text in dashboard.markdown_texts(app) if not place.endswith(".default"))
    yield from (("html", word) for word in dashboard.words(app))
    yield from (each for data in dashboard.every_component(app) for each in texts_of(data, ""))
    for element in app.dataframe:
        # A column that a style writes is read as its style has it.
        styled = bool(element.proto.arrow_data.styler.display_values)
        for name, column in element.value.items():
            if not pd.api.types.is_numeric_dtype(column):
                yield from ((f"table, {name}", str(each)) for each in column)
            elif not styled:
                yield from ((f"table, {name}", f"{each}") for each in column if each < 0)


@pytest.mark.parametrize(("view", "address"), [*((view, {}) for view in EVERY_VIEW), *MORE])
def test_no_view_has_a_hyphen_before_a_number(view: str, address: dict[str, str]) -> None:
    app = start(view, **address)
    hyphens = [(place, text) for place, text in read(app) if place not in NOT_READ and HYPHEN.search(text)]
    assert hyphens == []


def test_tables_that_people_read_have_a_minus_and_files_for_spreadsheets_a_number() -> None:
    table = ResultTable(title="Net", signature="s", columns=("name", "net", "share"), rows=(("-a", -3, -0.25),))
    assert "| -a | −3 | −0.2500 |" in export.to_markdown([table])
    assert "−3 │ −0.2500" in export.to_text([table])
    assert "'-a,-3,-0.25," in export.to_csv([table])
