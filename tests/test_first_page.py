"""The first page comes with pages ahead, and these wait for no renderer."""

from __future__ import annotations

import json
from concurrent.futures import wait
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evaluator.pdf.pool import PagePool
from pages.shared import by_digest, jobs, pictures
from tests.dashboard import PAGE_BROWSER, SAMPLE_DATA, start


@pytest.fixture
def routed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_digest, "_routed", True)


def payloads(app: AppTest, field: str) -> list[dict[str, Any]]:
    """What the components were given whose data have a field."""
    return [data for each in app.get("bidi_component") if field in (data := json.loads(each.proto.json))]


def test_the_first_page_comes_with_pages_ahead_that_nothing_waited_for(
    monkeypatch: pytest.MonkeyPatch, routed: None
) -> None:
    # What an earlier test of this process asked for ahead would be drawn here.
    for job in jobs._AHEAD.values():
        job.cancel()
        wait([job.future])
    # In another process the same pages are not drawn yet.
    fresh = PagePool()
    monkeypatch.setattr(pictures, "pool", lambda: fresh)
    monkeypatch.setattr("pages.shared.window._FIRST_SECONDS", 30.0)
    monkeypatch.setattr("pages.shared.window.prefetch", lambda *_: None)
    with fresh:
        app = start(monkeypatch, PAGE_BROWSER, order="page")
        (first,) = payloads(app, "around")
        drawn = [key for key in fresh._answers._values if key.operation == "page"]
        assert len(drawn) == 1, "the page that is shown"
        # Made ready in the background it is the same picture, which is drawn once.
        pictures.Preparation(SAMPLE_DATA / "pdf" / first["shown"]["document"], first["shown"]["index"])()
        assert [key for key in fresh._answers._values if key.operation == "page"] == drawn
        assert len(first["around"]) >= 5
        for placed in first["around"]:
            assert placed["image"].startswith("/layoutscope/")
            page = first["contents"][placed["content"]]["payload"]["page"]
            assert page["width"] > 0
            assert page["problem"] is None
        # The next run brings no further ones: it must be asked.
        app.run()
        assert payloads(app, "around")[0]["around"] == []
