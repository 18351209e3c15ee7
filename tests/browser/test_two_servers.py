"""Two servers on one findings store: what is judged on one is there on the other, and nothing of either is lost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluator.review.place import FINDINGS_VARIABLE
from evaluator.review.store import Store
from evaluator.review.verdicts import Event
from tests.browser.conftest import Screen, dashboard
from tests.sample_part import write_part_with_pages
from tests.store_process import POSTGRES, own_schema
from tests.test_findings_store import REQUIRED, WITHOUT_POSTGRES

pytestmark = pytest.mark.browser


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The store of both servers, empty, as a third one sees it."""
    if request.param == "postgresql" and not POSTGRES:
        assert not REQUIRED, WITHOUT_POSTGRES
        pytest.skip(WITHOUT_POSTGRES)
    place = own_schema() if request.param == "postgresql" else contextlib.nullcontext(str(tmp_path / "findings.sqlite"))
    with place as address, Store(address) as opened:
        monkeypatch.setenv(FINDINGS_VARIABLE, address)
        yield opened


def test_two_reviewers_on_two_servers(visit: Callable[..., Screen], store: Store, tmp_path: Path) -> None:
    def given() -> list[Event]:
        return [event for event in store.events() if event.verdict is not None]

    data = write_part_with_pages(tmp_path / "data", "tram-options.pdf")
    with dashboard(tmp_path, "open", str(data)) as one, dashboard(tmp_path, "open", str(data)) as other:
        screens = {"Anna": visit(one), "Ben": visit(other)}
        # Both on the same mistake, and both before either is answered.
        for screen in screens.values():
            screen.open("page_browser").page.locator(".pane").first.focus()
            screen.page.keyboard.press("n")
            screen.settled()
        for place, (name, screen) in enumerate(screens.items()):
            screen.page.locator(".verdict-button").nth(place).click()
            screen.page.locator(".verdict-name").fill(name)
        for screen in screens.values():
            screen.page.keyboard.press("Enter")
        screens["Anna"].wait(lambda: len(given()) >= len(screens), "the verdicts of both")
        for screen in screens.values():
            screen.settled()
        anna, ben = sorted(given(), key=lambda event: event.author)
        assert [(each.author, each.verdict) for each in (anna, ben)] == [
            ("Anna", "model_wrong"), ("Ben", "ground_truth_wrong"),
        ]  # fmt: skip
        assert anna.target_id == ben.target_id
        # Each server shows what the other one has taken.
        for screen in screens.values():
            screen.go("Findings")
            assert "1 finding" in screen.text()
            assert "1 findings" not in screen.text()
            for author in screens:
                screen.page.locator(".ls-history", has_text=author).first.wait_for()
        for screen in screens.values():
            screen.leave()
    store.check()
