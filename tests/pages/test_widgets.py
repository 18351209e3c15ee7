"""Columns of counts are wide enough for their longest number: one that is cut off at its left is another number."""

from typing import Any

import numpy as np
import pytest

from pages.app import widgets


def widths(monkeypatch: pytest.MonkeyPatch, data: dict[str, Any], **columns: Any) -> list[int]:
    settings: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.dataframe", lambda _data, **given: settings.update(given["column_config"]))
    widgets.table(data, columns=columns)
    return [int(settings[name]["width"]) for name in columns]


@pytest.mark.parametrize(
    ("values", "width"),
    [
        ([], 48),
        ([None], 48),
        ([0, 9_999], 48),
        ([12_345], 49),
        ([None, 970_462], 55),
        ([-1_094_983, 3], 65),
        (np.array([1_094_983, 0]), 65),
        (np.array([np.nan, 1_094_983.0]), 65),
        ([1_234_567_890], 87),
    ],
)
def test_a_count_is_never_cut_off(monkeypatch: pytest.MonkeyPatch, values: Any, width: int) -> None:
    assert widths(monkeypatch, {"Boxes": values}, Boxes=widgets.count_column(48)) == [width]


def test_ratios_keep_their_width(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"F1": [1_000_000.0], "Name": ["a"]}
    assert widths(monkeypatch, data, F1=widgets.ratio_column(48), Name=90) == [48, 90]
