"""Pages on their way to the browser: taken apart, named by their content, and the pages around that are sent ahead."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from evaluator.drawing import page_window
from evaluator.drawing.payloads import (
    BoxItem,
    JudgedItem,
    MistakeItem,
    ModelItem,
    NearestItem,
    PackedItem,
    PagePayload,
    StripItem,
    without_page,
)
from pages.shared.window import RUNNING_AHEAD, places_around
from tests.dashboard import boxes_of


def box(key: str, **more: Any) -> BoxItem:
    side = "ground_truth" if key[0] == "g" else "prediction"
    return BoxItem(key=key, side=side, status="FN", label="Text", xyxy=(0.1, 0.2, 0.3, 0.4), **more)  # type: ignore[arg-type]


def payload(*boxes: BoxItem, mistakes: tuple[MistakeItem, ...] = ()) -> PagePayload:
    model = ModelItem("1", "m")
    return msgspec.structs.replace(without_page(model, [model], None), boxes=boxes, mistakes=mistakes)


def packed_page(page: PagePayload) -> PackedItem:
    return page_window.packed(page, page_window.packed_boxes(page.boxes))


def mistake(number: int, verdict: JudgedItem | None = None) -> MistakeItem:
    return MistakeItem(
        number=number, status="FN", title="Missed", label="Text", lines=(), tags=("FN",), keys=("g1",), verdict=verdict
    )


def test_the_boxes_of_a_page_come_back_from_its_rows() -> None:
    boxes = (
        box("g1", source="truth.json, $.predictions[0].objects[12]", nearest=NearestItem("p2", 0.25), iou=0.25),
        box("g2", source="truth.json, $.predictions[0].objects[3]", mistake=4, faded=True, cause="Table read as 3"),
        box("p2", score=1 / 3, partner="g1", outline="M0 0L10 0L0 10Z"),
    )
    packed = packed_page(payload(*boxes))
    assert packed.sources == ("truth.json, $.predictions[0].objects[", "")
    back = msgspec.convert(boxes_of(msgspec.to_builtins(packed)), tuple[BoxItem, ...])
    assert back[:2] == boxes[:2]
    assert back[2].score == pytest.approx(1 / 3, abs=1e-6)
    assert (back[2].partner, back[2].source, back[2].outline) == ("g1", None, "M0 0L10 0L0 10Z")


def test_a_content_has_one_name_whatever_is_said_and_chosen() -> None:
    judged = JudgedItem(agreed="ignore", conflict=False, opinions=())
    plain, said = payload(box("g1"), mistakes=(mistake(1),)), payload(box("g1"), mistakes=(mistake(1, judged),))
    names = {
        page_window.name_of(packed_page(each))
        for each in (plain, said, msgspec.structs.replace(said, selected="g1", address="doc=a"))
    }
    assert len(names) == 1
    assert page_window.name_of(packed_page(payload(box("g2"), mistakes=(mistake(1),)))) not in names
    assert page_window.said(plain) == {}
    assert page_window.said(said)["1"].verdict == judged


def test_a_strip_is_the_same_for_all_its_pages() -> None:
    pages = [StripItem("a", index, 0, (), current=index == 1) for index in range(3)]
    assert not any(each.current for each in page_window.without_current(pages))


@pytest.mark.parametrize(
    ("here", "toward", "expected"),
    [
        (2, 1, [3, 4, 1, 7, 5, 6, 8]),
        (5, -1, [4, 3, 6, 2, 7, 1, 0]),
        (99, 1, [98, 7, 97]),
    ],
)
def test_the_pages_on_the_way_come_first(here: int, toward: int, expected: list[int]) -> None:
    assert places_around(100, here, toward, with_mistakes)[: len(expected)] == expected


def test_a_held_key_has_more_pages_on_its_way_and_none_behind() -> None:
    wanted = places_around(100, 20, 1, lambda at, step: at + 10 * step if at < 70 else None, running=True)
    assert wanted[:7] == [21, 22, 30, 40, 50, 60, 70]
    assert sorted(wanted) == [*range(21, 20 + RUNNING_AHEAD + 1), 50, 60, 70]
    assert places_around(3, 1, -1, with_mistakes, running=True) == [0]


def with_mistakes(position: int, step: int) -> int | None:
    """Pages 2 and 7 have mistakes."""
    return next((at for at in ((2, 7) if step > 0 else (7, 2)) if (at - position) * step > 0), None)
