"""The small picture of a suspect: both boxes where they are on the crop, and nothing where the page is not drawn."""

from __future__ import annotations

import base64
from dataclasses import replace

import numpy as np
import pytest

from evaluator.drawing.payloads import CropItem
from evaluator.drawing.suspect_picture import shares_of, small_picture
from evaluator.model.dataset import join
from tests.building import annotations, box, ground_truth

CROP = CropItem("data:image/webp;base64,AAAA", (0.2, 0.4, 0.6, 0.6), 2.0, None)


def test_both_boxes_are_drawn_where_they_are() -> None:
    url = small_picture(CROP, now=(0.3, 0.45, 0.4, 0.5), proposed=(0.3, 0.45, 0.5, 0.55))
    assert url is not None
    head, _, body = url.partition(",")
    assert head == "data:image/svg+xml;base64"
    svg = base64.b64decode(body).decode()
    # 340 units for 0.4 of the width of the page, 170 for 0.2 of its height.
    assert '<rect x="85.0" y="42.5" width="85.0" height="42.5" fill="#5E35B1"' in svg
    assert '<rect x="85.0" y="42.5" width="170.0" height="85.0" fill="none" stroke="#1B2430"' in svg
    assert '<image href="data:image/webp;base64,AAAA" width="340" height="170.0"' in svg
    alone = small_picture(CROP, now=None, proposed=(0.3, 0.45, 0.5, 0.55))
    assert alone is not None
    assert base64.b64decode(alone.partition(",")[2]).count(b"<rect") == 1


def test_a_page_that_is_not_drawn_has_no_picture() -> None:
    missing = CropItem(None, (0.0, 0.0, 1.0, 1.0), 1.0, "The file is not there")
    assert small_picture(missing, now=(0.1, 0.1, 0.2, 0.2), proposed=None) is None


def test_boxes_in_pixels_are_shares_where_the_size_of_the_page_is_known() -> None:
    sides = ground_truth([box(0.1, 0.1, 0.4, 0.2)]), annotations([box(0.1, 0.1, 0.4, 0.2)])
    assert shares_of(join(*sides), 0, (0.1, 0.2, 0.3, 0.4)) == (0.1, 0.2, 0.3, 0.4)
    for size, shares in (((200.0, 400.0), (0.1, 0.1, 0.5, 0.5)), ((np.nan, np.nan), None)):
        dataset = join(*(replace(side, unit="pixels", page_size=np.array([size])) for side in sides))
        made = shares_of(dataset, 0, (20.0, 40.0, 100.0, 200.0))
        assert made == (None if shares is None else pytest.approx(shares))
