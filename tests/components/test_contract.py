"""The contract with the browser: the checked-in types are those of the structs, and what comes back is checked."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from evaluator.components import typescript
from evaluator.components.matrix.payload import CellEvent, MatrixEvents
from evaluator.components.payload import Event, Events, ModelItem, Payload, plain_payload, read_events
from evaluator.components.tint.payload import TintEvents, TintSharperEvent
from evaluator.components.viewer.payload import BoxItem, GoEvent, PageEvents, VerdictEvent, without_page

VERDICT = {
    "id": "one",
    "document": "a.pdf",
    "index": 0,
    "number": 1,
    "keys": ["p1"],
    "target": "t",
    "verdict": None,
    "note": "n",
}


def test_the_types_of_the_front_end_are_those_of_the_structs() -> None:
    why = "run python -m evaluator.components.typescript"
    assert typescript.PATH.read_text(encoding="utf-8") == typescript.typescript(), why
    assert typescript.VERDICTS_PATH.read_text(encoding="utf-8") == typescript.verdicts_script(), why


def test_a_type_that_the_contract_cannot_spell_is_refused() -> None:
    with pytest.raises(TypeError, match="no TypeScript for"):
        typescript._spelled(Sequence)


def structs() -> list[type[msgspec.Struct]]:
    return [each for module in typescript.MODULES for each in typescript.structs_of(module)]


def test_a_payload_is_never_changed() -> None:
    assert [each.__name__ for each in structs() if not each.__struct_config__.frozen] == []
    kinds = (Payload, Event, Events)
    assert [each.__name__ for each in structs() if not issubclass(each, kinds)] == []


def test_a_field_with_its_default_is_left_out_and_a_box_is_whole() -> None:
    empty = without_page(ModelItem("A", "lines"), (), None)
    assert set(plain_payload(empty)) == {
        "boxes", "mistakes", "counts", "labels", "limit", "page", "strip", "model", "models", "selected", "empty"
    }  # fmt: skip
    box = BoxItem(key="g1", side="ground_truth", status="FN", label="Table", xyxy=(0.0, 0.0, 1.0, 1.0))
    assert set(plain_payload(box)) == set(BoxItem.__struct_fields__)


@pytest.mark.parametrize(
    ("state", "events"),
    [
        (None, PageEvents()),
        ({}, PageEvents()),
        ({"go": {"document": "a.pdf", "index": 3, "step": -1}}, PageEvents(go=GoEvent("a.pdf", 3, -1))),
        ({"go": {"document": "a.pdf", "index": True, "step": 1}, "clear_filter": 1}, PageEvents()),
        ({"sharper": {"document": "a.pdf", "index": 3, "width": 0}, "model": ["A"]}, PageEvents()),
        ({"verdict": [{**VERDICT, "keys": "p1"}]}, PageEvents()),
        ({"clear_filter": True, "unknown": 1}, PageEvents(clear_filter=True)),
        ({"verdict": [VERDICT]}, PageEvents(verdict=[VerdictEvent(**{**VERDICT, "keys": ("p1",)})])),
    ],
)
def test_events_of_the_viewer_are_checked(state: dict[str, Any] | None, events: PageEvents) -> None:
    assert read_events(state, PageEvents) == events


def test_events_of_the_heatmap_are_checked() -> None:
    assert read_events({"cell": {"row": 1, "column": 0, "classes": 3}}, MatrixEvents).cell == CellEvent(1, 0, 3)
    assert read_events({"cell": {"row": -1, "column": 0, "classes": 3}}, MatrixEvents).cell is None
    assert read_events({"sharper": {"width": 8_000}}, TintEvents).sharper == TintSharperEvent(8_000)
    assert read_events({"sharper": {"width": 8_001}}, TintEvents).sharper is None
