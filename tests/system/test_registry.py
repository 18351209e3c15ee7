"""Tables whose objects are imported when they are asked for."""

import sys

import pytest

from evaluator.formats import FORMATS
from evaluator.formats.writers import WRITERS
from evaluator.protocols import PROTOCOLS
from evaluator.system.registry import Registry


def test_an_object_is_imported_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    table: Registry[object] = Registry({"zen": "this:s", "pi": "math:pi"})
    assert (list(table), len(table), "zen" in table, "e" in table) == (["zen", "pi"], 2, True, False)
    assert table["pi"] == 3.141592653589793
    assert "this" not in sys.modules
    with pytest.raises(KeyError, match="e"):
        table["e"]


def test_objects_are_added_and_taken_out() -> None:
    table: Registry[object] = Registry({"pi": "math:pi", "tau": "math:tau"})
    table["e"], table["pi"] = 2.7, 3.1
    assert list(table.items()) == [("pi", 3.1), ("tau", 6.283185307179586), ("e", 2.7)]
    del table["pi"], table["tau"]
    assert dict(table) == {"e": 2.7}
    with pytest.raises(KeyError, match="pi"):
        table["pi"]


@pytest.mark.parametrize("table", [FORMATS, WRITERS, PROTOCOLS], ids=["formats", "writers", "protocols"])
def test_a_table_has_each_object_under_its_own_name(table: Registry[object]) -> None:
    assert [row.name for row in table.values()] == list(table)  # type: ignore[attr-defined]
