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
from tests.browser.test_findings import name_oneself
from tests.store_process import POSTGRES, own_schema
from tests.test_findings_store import REQUIRED, WITHOUT_POSTGRES

pytestmark = pytest.mark.browser
ROUNDS = 2


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

    with dashboard(tmp_path) as one, dashboard(tmp_path) as other:
        screens = {"Anna": visit(one), "Ben": visit(other)}
        for name, screen in screens.items():
            name_oneself(screen.open("findings"), name)
            screen.go("Page browser")
        for number in range(ROUNDS):
            # Both on the same mistake, and both before either is answered.
            for screen in screens.values():
                screen.page.locator(".pane").first.focus()
                screen.page.keyboard.press("n")
                screen.settled()
            for key, screen in zip(("1", "2"), screens.values(), strict=True):
                screen.page.locator(".verdict-button").nth(int(key) - 1).click()
            anna = screens["Anna"]
            anna.wait(lambda wanted=2 * (number + 1): len(given()) >= wanted, f"the verdicts of round {number + 1}")  # type: ignore[misc]
            for screen in screens.values():
                screen.settled()
        events = given()
        assert [(event.author, event.verdict) for event in sorted(events, key=lambda event: event.author)] == [
            *[("Anna", "model_wrong")] * ROUNDS, *[("Ben", "ground_truth_wrong")] * ROUNDS,
        ]  # fmt: skip
        judged = {author: {each.target_id for each in events if each.author == author} for author in screens}
        assert judged["Anna"] == judged["Ben"]
        assert len(judged["Anna"]) == ROUNDS
        # Each server shows what the other one has taken.
        for screen in screens.values():
            screen.go("Findings")
            assert f"{ROUNDS} findings" in screen.text()
            for author in screens:
                screen.page.locator(".ls-history", has_text=author).first.wait_for()
        for screen in screens.values():
            screen.leave()
    store.check()
