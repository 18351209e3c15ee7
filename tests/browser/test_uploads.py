"""The upload of Files in a real Chromium: XML, a zip of XML and page images in one drop, evaluated and shown."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from tests.browser.conftest import Screen

pytestmark = pytest.mark.browser
POD = Path(__file__).parents[1] / "oracles" / "pod" / "p01_basic"
WIDTH = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .map((node) => node.shadowRoot.querySelector('.page-image')).find((image) => image)?.naturalWidth ?? 0"""


def test_xml_a_zip_and_page_images_in_one_drop(
    visit: Callable[..., Screen], sample_server: str, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "gt.zip", "w") as archive:
        for path in sorted((POD / "gt").glob("*.xml")):
            archive.write(path, path.name)
    (tmp_path / "submission.xml").write_bytes((POD / "submission.xml").read_bytes())
    for number, colour in ((1, "white"), (2, "lightgrey")):
        Image.new("RGB", (1000, 800), colour).save(tmp_path / f"POD_000{number}.png")
    names = ("gt.zip", "submission.xml", "POD_0001.png", "POD_0002.png")
    screen = visit(sample_server).open("files")
    page = screen.page
    screen.choose(*(tmp_path / name for name in names))
    page.get_by_role("button", name="Read the files").click()
    opens = page.get_by_role("button", name="Open these files")
    opens.wait_for()
    # What each is was recognised by its content, and is proposed.
    form = page.get_by_test_id("stForm").filter(has=opens)
    assert "ICDAR 2017 page object detection" in form.inner_text()
    # Names are guarded against being taken for links.
    text = form.inner_text().replace("\u2060", "")
    assert all(name in text for name in ("gt.zip", "submission.xml")), text
    shown = [text, *(box.input_value() for box in form.get_by_role("combobox").all())]
    assert any("Ground truth" in each for each in shown), shown
    assert any("Prediction" in each for each in shown), shown
    opens.click()
    screen.wait(lambda: all(name in screen.cells() for name in ("gt.zip", "submission.xml")), "the files in the table")
    assert not page.get_by_text("The file has errors").count()
    screen.go("Overview")
    page.get_by_role("combobox", name="Protocol").click()
    page.get_by_role("option", name="pod 2017").click()
    screen.wait(lambda: screen.address().get("protocol") == "pod", "the protocol in the address")
    screen.settled()
    expected = json.loads((POD / "expected.json").read_text())["expected"]["0.6"]
    card = page.locator(".ls-card").first.inner_text().replace("\n", " ")
    for name in ("tp", "fp", "fn"):
        count = sum(expected[label][name] for label in ("formula", "table", "figure"))
        assert f"{name.upper()} {count}" in card, (name, count, card)
    screen.go("Page browser")
    page.locator(".chips.ready").wait_for(state="attached")
    screen.wait(lambda: int(page.evaluate(WIDTH)) > 0, "the picture of the page that was dropped")
    assert screen.where()[0].startswith("pod_000")
