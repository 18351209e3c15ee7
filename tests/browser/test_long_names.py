"""A label of ten thousand characters in a real Chromium: views with labels open, none wider than the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.conftest import Screen, dashboard
from tests.building import box, write_file

pytestmark = pytest.mark.browser
Visit = Callable[..., Screen]
LONG = "W\u202eide " * 1400


@pytest.fixture(scope="module")
def server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("long")
    rows = [box(0.1 * at, 0.1, 0.1 * at + 0.08, 0.5, label=label) for at, label in enumerate(["Table", LONG, LONG])]
    scored = [row._replace(score=0.5) for row in rows]
    scored[0], scored[1] = scored[0]._replace(label=LONG), scored[1]._replace(label="Table")
    labels = ("Table", LONG)
    truth = write_file(folder / "t.json", rows, side="ground_truth", labels=labels)
    prediction = write_file(folder / "p.json", scored, labels=labels)
    with dashboard(folder, "open", str(truth), str(prediction)) as url:
        yield url


def test_every_view_with_labels_opens_with_a_label_of_ten_thousand_characters(server: str, visit: Visit) -> None:
    screen = visit(server)
    for view in ("", "gallery", "page_browser", "slices"):
        screen.to(view) if view else screen.open()
        wide = screen.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, view
