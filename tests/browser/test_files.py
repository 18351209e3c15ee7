"""Files in a real Chromium: a reading that is cancelled, and what is said of files that were opened."""

from pathlib import Path

import pytest

from tests.browser.conftest import Visit, dashboard
from tests.building import box, write_file

pytestmark = [pytest.mark.browser]


def test_a_large_file_can_be_cancelled_while_it_is_read(visit: Visit, tmp_path: Path) -> None:
    write_file(tmp_path / "truth.json", [box(0.1, 0.1, 0.5, 0.5)], side="ground_truth")
    rows = "".join(f"p{at}.png,Text,1,1,{at % 90 + 5},9,0.5\n" for at in range(15_000))
    (tmp_path / "large.csv").write_text(f"document,label,x1,y1,x2,y2,score\n{rows * 100}")
    with dashboard(tmp_path, "open", "truth.json", "large.csv") as url:
        screen = visit(url)
        screen.page.goto(f"{url}/files")
        bar = screen.page.get_by_test_id("stProgress")
        bar.get_by_text("% read").wait_for()
        assert screen.page.get_by_text("Reading large.csv").is_visible()
        first = int(bar.inner_text().split("%")[0])
        screen.wait(lambda: int(bar.inner_text().split("%")[0]) > first, "the bar to go on")
        # It is clicked, not called: what lies above it would take the click.
        screen.page.get_by_role("button", name="Cancel").click()
        screen.settled()
        assert bar.count() == 0
        screen.wait(lambda: "its reading was cancelled" in screen.text(), "the issue of the file")
        assert "the file must be read to its end" in screen.text()
        assert "Reload the tab to read it." in screen.text()
        screen.page.reload()
        bar.get_by_text("% read").wait_for()
        screen.leave()


def test_what_became_of_the_files_goes_by_itself(visit: Visit, tmp_path: Path) -> None:
    rows = [box(0.1, 0.1, 0.5, 0.5)]
    write_file(tmp_path / "truth.json", rows, side="ground_truth")
    write_file(tmp_path / "model.json", rows)
    with dashboard(tmp_path, "open", "truth.json", "model.json") as url:
        screen = visit(url).open("files")
        for name in ("Change roles", "Evaluate"):
            screen.page.get_by_role("button", name=name).click()
            screen.settled()
        said = screen.page.locator(".st-key-opened")
        said.get_by_text("Nothing has changed.").wait_for()
        # Pointed at, it stays.
        screen.page.mouse.move(700, 300)
        said.evaluate("(node) => node.getAnimations().forEach((each) => each.finish())")
        said.wait_for(state="hidden")
        screen.leave()
