"""Slices in a real browser: wrong boxes are drawn as crops, and one click opens exactly the boxes of the slice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.conftest import Screen

pytestmark = pytest.mark.browser
Visit = Callable[..., Screen]


def test_examples_are_drawn_and_all_boxes_open_in_the_gallery(visit: Visit, sample_server: str) -> None:
    page = visit(sample_server).open("slices").page
    page.locator(".slices-example .gl-sheet img").first.wait_for()
    every = page.locator(".slices-boxes button")
    wanted = every.inner_text().removeprefix("Show all ")
    every.click()
    page.wait_for_url("**/gallery?*question=*")
    page.locator(".gl-card").first.wait_for()
    page.locator("h2", has_text=f"{wanted} in ").wait_for()
