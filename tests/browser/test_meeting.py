"""A live meeting: who follows is seen by the one who presents, and a follower who loses the network comes back."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.review.store_address import FINDINGS_VARIABLE
from tests.browser.conftest import Visit, dashboard, own_port
from tests.browser.test_two_servers import UNANSWERED
from tests.sample_part import write_part_with_pages

pytestmark = pytest.mark.browser
# What the browser itself says while nothing arrives.
CUT = (*UNANSWERED, "net::ERR_", "when disconnected from server")


class Line:
    def __init__(self, port: int) -> None:
        self._to, self._cut, self._ends = port, False, list[socket.socket]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                if self._cut:
                    here.close()
                    continue
                there = socket.create_connection(("127.0.0.1", self._to))
                self._ends += [here, there]
                for one, other in ((here, there), (there, here)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    @staticmethod
    def _carry(one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := one.recv(1 << 16):
                other.sendall(content)
        for each in (one, other):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        self._cut = True
        for each in self._ends:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._cut = False

    def close(self) -> None:
        self.cut()
        self._listener.close()


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Line]]:
    monkeypatch.setenv(FINDINGS_VARIABLE, str(tmp_path / "findings.sqlite"))
    port = own_port()
    data = write_part_with_pages(tmp_path / "data", "tram-options.pdf")
    with dashboard(tmp_path, "open", str(data), port=port) as url, contextlib.closing(Line(port)) as made:
        yield url, made


def test_a_follower_who_loses_the_network_is_gone_and_finds_the_place_again(
    visit: Visit, line: tuple[str, Line]
) -> None:
    url, cable = line
    ben = visit(url).open("findings")
    ben.page.get_by_role("button", name="Start meeting").click()
    count, title = ben.page.locator(".mt-count"), ben.page.locator(".mt-title h1")
    count.filter(has_text="0 follow · 0 of 1 have voted").wait_for()
    cleo = visit(f"http://127.0.0.1:{cable.port}")
    cleo.page.goto(f"{cleo.url}/findings?meeting=yes")
    theirs, live = cleo.page.locator(".mt-title h1"), cleo.page.locator(".mt-live")
    cleo.wait(lambda: live.get_attribute("data-role") == "follows", "that Cleo follows")
    ben.page.bring_to_front()
    count.filter(has_text="1 follows · 0 of 2 have voted").wait_for()
    cleo.page.bring_to_front()
    cleo.page.keyboard.press("3")
    cleo.page.locator(".mt-decide").click()
    cleo.page.locator(".mt-name").fill("Cleo")
    cleo.page.keyboard.press("Enter")
    ben.page.bring_to_front()
    # By name with the vote, as soon as the follower has one.
    row = ben.page.locator(".mt-people li", has_text="Cleo (unverified)")
    row.filter(has_text="follows").filter(has_text="Ambiguous").wait_for()
    before = theirs.inner_text()
    sockets: list[object] = []

    def noted(socket: object) -> None:
        sockets.append(socket)

    cleo.page.on("websocket", noted)
    cable.cut()
    count.filter(has_text="0 follow").wait_for()
    ben.page.keyboard.press("n")
    ben.wait(lambda: title.inner_text() != before, "the next item")
    assert theirs.inner_text() == before, "nothing reaches Cleo"
    cable.mend()
    cleo.page.bring_to_front()
    # No reload: the tab knocks until somebody answers.
    cleo.wait(lambda: theirs.inner_text() == title.inner_text(), "the place of the presenter")
    assert sockets
    assert live.get_attribute("data-role") == "follows"
    ben.page.bring_to_front()
    count.filter(has_text="1 follows").wait_for()
    cleo.page.bring_to_front()
    cleo.page.get_by_role("button", name="Leave the meeting").click()
    ben.page.bring_to_front()
    count.filter(has_text="0 follow").wait_for()
    for each in (ben, cleo):
        each.leave()
    cleo.trouble[:] = [words for words in cleo.trouble if not any(known in words for known in CUT)]
