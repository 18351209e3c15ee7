"""Which column of a table holds what, chosen on Files: the numbers are those of ``--columns`` in the terminal."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import formats
from evaluator.workspace import uploads
from pages.app.state import State
from tests import dashboard
from tests.building import box, write_file

TABLE = b"where;what;l;t;r;b;sure\na.pdf;Table;10;10;50;50;0.9\na.pdf;Figure;50;50;90;90;0.4\n"
CHOSEN = {"label": "what", "x1": "l", "y1": "t", "x2": "r", "y2": "b", "document": "where", "score": "sure"}
COLUMNS = ",".join(f"{target}={column}" for target, column in CHOSEN.items())


@pytest.mark.usefixtures("whole_app")
def test_columns_are_chosen_and_the_table_is_read(tmp_path: Path) -> None:
    truth = write_file(tmp_path / "truth.json", [box(0.1, 0.1, 0.5, 0.5, label="Table")], side="ground_truth")
    app = dashboard.start(dashboard.FILES, files=dashboard.workspace(truth))
    dashboard.drop(app, {"model.csv": TABLE})
    for target, column in CHOSEN.items():
        app.selectbox(key=f"column_0_{target}").set_value(column)
    app.selectbox(key="table_role_0").set_value("Prediction")
    dashboard.press(app, "Read the table")
    assert not any(each.label == "Read the table" for each in app.button)
    dashboard.evaluate(app)
    held: Any = app.session_state[State.files.key]
    (member,) = held.models
    # The chosen columns as they were put together, and no others.
    assert set(member.origin.columns.split(",")) == {*COLUMNS.split(","), "unit=pixels"}
    assert (member.name, member.issues) == ("model.csv", ())
    wanted = formats.read_bytes(TABLE, "model.csv", columns=COLUMNS, side="prediction")
    np.testing.assert_array_equal(member.source.boxes.xyxy, wanted.boxes.xyxy)
    np.testing.assert_array_equal(member.source.boxes.score, wanted.boxes.score)
    assert member.source.labels == wanted.labels


def test_a_dropped_table_of_unknown_columns_is_kept_for_the_choice() -> None:
    dropped = uploads.sort_dropped_files([("t.csv", TABLE), ("notes.csv", b"hello\n")])
    assert (dropped.tables, dropped.left_out) == ((("t.csv", TABLE),), ("notes.csv",))
