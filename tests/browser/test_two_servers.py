"""Two servers on one findings store, one of which starts again: nothing of what either was told is lost."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluator.review.store import Store
from evaluator.review.store_address import FINDINGS_VARIABLE
from evaluator.review.verdicts import Event
from tests.browser.conftest import Screen, Visit, dashboard, free_port, own_port
from tests.review.test_findings_store import REQUIRED, WITHOUT_POSTGRES
from tests.sample_part import write_part_with_pages
from tests.store_process import POSTGRES, own_schema

pytestmark = pytest.mark.browser
# What the browser itself says while nobody answers.
UNANSWERED = (
    "net::ERR_CONNECTION_REFUSED", "net::ERR_CONNECTION_RESET", "net::ERR_EMPTY_RESPONSE", "WebSocket",
    "No response received", "server is not responding",
)  # fmt: skip


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


def a_meeting_over_two_servers(visit: Visit, one: str, ben: Screen, given: Callable[[], list[Event]]) -> None:
    before = len(given())
    ben.open("findings", iou="0.6")
    ben.page.get_by_role("button", name="Start meeting").click()
    cleo = visit(one)
    cleo.page.goto(f"{one}/findings?meeting=yes")
    titles = [each.page.locator(".mt-title h1") for each in (ben, cleo)]
    live = cleo.page.locator(".mt-live")

    def together() -> bool:
        said = [title.inner_text() for title in titles]
        return said[0] == said[1] and live.get_attribute("data-role") == "follows"

    cleo.wait(together, "the place of the presenter")
    assert "IoU ≥ 0.60" in cleo.page.locator(".mt-signature").inner_text()
    assert "Ben presents" in live.inner_text()
    first = titles[0].inner_text()
    ben.page.bring_to_front()
    ben.page.keyboard.press("n")
    ben.wait(lambda: titles[0].inner_text() != first, "the next item")
    cleo.page.bring_to_front()
    cleo.wait(together, "the next item on the other screen")
    cleo.page.keyboard.press("p")
    cleo.wait(lambda: live.get_attribute("data-role") == "looks", "looking around")
    cleo.wait(lambda: titles[1].inner_text() == first, "the item before")
    cleo.page.keyboard.press("b")
    cleo.wait(together, "the way back")
    # A vote counts on both screens, and leads the follower nowhere.
    cleo.page.locator(".mt-verdict").nth(2).click()
    cleo.page.locator(".mt-decide").click()
    cleo.page.locator(".mt-name").fill("Cleo")
    cleo.page.keyboard.press("Enter")
    cleo.wait(lambda: len(given()) > before, "the vote in the store")
    for each in (ben, cleo):
        count = each.page.locator(".mt-verdict").nth(2).locator("b")
        each.page.bring_to_front()
        each.wait(lambda count=count: count.inner_text() == "1", "the count")
    assert together()
    # Who comes back after a while finds the place, which is read and was not sent.
    cleo.page.reload()
    cleo.wait(together, "the place after a reload")
    ben.page.bring_to_front()
    ben.page.get_by_role("button", name="End the meeting").click()
    cleo.page.bring_to_front()
    cleo.wait(lambda: live.inner_text().startswith("The meeting has ended."), "the end")
    for each in (ben, cleo):
        each.leave()


def test_two_reviewers_on_two_servers(visit: Visit, store: Store, tmp_path: Path) -> None:
    """Ben's sees what Anna's takes; hers starts again with `--workspace`: her tab goes on, and a new one finds all."""
    port = own_port()
    data = write_part_with_pages(tmp_path / "data", "tram-options.pdf")
    words = ("open", str(data), "--workspace", str(tmp_path / "ws"))

    def given() -> list[Event]:
        return [event for event in store.events() if event.verdict is not None]

    with dashboard(tmp_path, "open", str(data), port=free_port()) as other:
        with dashboard(tmp_path, *words, port=port) as one:
            screen = visit(one).open("page_browser", label="Section-header")
            page = screen.page
            screens = {"Anna": screen, "Ben": visit(other).open("page_browser", label="Section-header")}
            # Both on the same mistake, and both before either is answered.
            for each in screens.values():
                each.page.locator(".pane").first.focus()
                each.page.keyboard.press("n")
                each.settled()
            for place, (name, each) in enumerate(screens.items()):
                each.page.locator(".verdict-button").nth(place).click()
                each.page.locator(".verdict-name").fill(name)
            for each in screens.values():
                each.page.keyboard.press("Enter")
            screen.wait(lambda: len(given()) >= len(screens), "the verdicts of both")
            for each in screens.values():
                each.settled()
            first, ben = sorted(given(), key=lambda event: event.author)
            assert [(each.author, each.verified, each.verdict) for each in (first, ben)] == [
                ("Anna", False, "model_wrong"), ("Ben", False, "ground_truth_wrong"),
            ]  # fmt: skip
            assert (first.target.kind, first.target.label) == ("mistake", "Section-header")
            assert first.target_id == ben.target_id
            # Each server shows what the other one has taken; Anna's when it has started again.
            shown = screens["Ben"].go("Decisions")
            assert "1 finding" in shown.text()
            assert "1 findings" not in shown.text()
            for author in screens:
                shown.page.locator(".dc-people", has_text=author).first.wait_for()
            assert shown.page.locator(".dc-split").first.inner_text() == "1 of 2: Model wrong"
            shown.leave()
            screen.page.bring_to_front()
            # Not a click, which would leave the chosen mistake: N goes on from it.
            page.locator(".pane").first.focus()
            chosen = screen.address().get("box")
            page.keyboard.press("n")
            screen.wait(lambda: screen.address().get("box", chosen) != chosen, "the next box in the address").settled()
            was, at = screen.address(), screen.where()
        connected: list[str] = []

        def noted(socket: object) -> None:
            connected.append(one)

        page.on("websocket", noted)
        with dashboard(tmp_path, *words, port=port):
            # No reload: the tab knocks until somebody answers.
            screen.wait(lambda: bool(connected) and not screen.waiting, "the connection of the open tab")
            page.remove_listener("websocket", noted)
            screen.settled()
            page.get_by_test_id("stConnectionStatus").wait_for(state="detached")
            screen.wait(lambda: screen.address() == was, f"the address {was}, not {screen.address()}")
            assert screen.where() == at
            # It goes on: a verdict on the chosen box under the name of before.
            page.locator(".verdict-button", has_text="Ground truth wrong").click()
            screen.wait(lambda: len(given()) == 3, "the third verdict in the store")
            second = given()[2]
            assert (second.author, second.verdict, second.target.document) == ("Anna", "ground_truth_wrong", at[0])
            assert second.target_id != first.target_id
            # Another session: the browser remembers the name, the workspace folder the filter.
            screen.open("page_browser")
            screen.addressed(label="Section-header")
            screen.go("Decisions")
            alone = page.locator(".dc-row", has_text="Anna").filter(has_text="Ground truth wrong")
            alone.first.wait_for()
            assert "2 findings · 1 conflict" in screen.text()
            assert "corrected, 1 verdict applied" in screen.text()
            page.get_by_role("button", name="Add a note").click()
            field = page.get_by_role("textbox", name="Your name", exact=True)
            screen.wait(lambda: field.input_value() == "Anna", "the name")
            page.keyboard.press("Escape")
            alone.first.locator(".dc-link").click()
            screen.arrived("Pages")
            assert screen.where() == (second.target.document, (second.target.page or 0) + 1)
            screen.leave()
            a_meeting_over_two_servers(visit, one, screens["Ben"], given)
    screen.trouble[:] = [line for line in screen.trouble if not any(words in line for words in UNANSWERED)]
    store.check()
