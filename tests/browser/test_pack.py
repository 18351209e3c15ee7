"""The review pack opened from disk: no request, no console error, anchors that lead, pages that open in the viewer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.components.payload import ModelItem
from evaluator.pack.contents import gather
from evaluator.pack.html_pack import write_html
from evaluator.pack.options import PackOptions
from evaluator.pack.pictures import Pictures
from evaluator.pdf.pool import PagePool
from evaluator.review.decisions import cause_rows
from evaluator.review.verdicts import ReviewLog
from tests.browser.test_every_view import violations, with_axe
from tests.judging import opinion
from tests.sample_part import SAMPLE, sample_results

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pack(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    models = [ModelItem("A", "lines 1.0"), ModelItem("B", "blocks 1.0")]
    options = PackOptions(pages=5, documents=("river-districts.pdf",), date="21 November 2026")
    path = tmp_path_factory.mktemp("pack") / "pack.html"
    results = list(sample_results())
    rows, _ = cause_rows(results, [])
    row = next(each for each in rows if each.title == "Several List-item boxes read as one List-item")
    said = [opinion(target, note="Split at the gaps.") for target in row.targets(ReviewLog()).values()]
    with PagePool() as pool:
        contents = gather(results, models, ReviewLog.of(said), options)
        write_html(path, contents, Pictures(pool, SAMPLE / "pdf"), progress=lambda *_: None)
    return path


@pytest.fixture(scope="module")
def opened(browser: Any, pack: Path) -> Iterator[Any]:
    """The pack in a tab for all tests; at the end nothing was asked for and nothing complained."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: trouble.append(f"page error: {error}"))
    page.on("request", lambda request: trouble.append(f"request: {request.url}"))
    page.goto(pack.as_uri())
    yield page
    context.close()
    assert [each for each in trouble if not each.startswith(("request: data:", f"request: {pack.as_uri()}"))] == []


def test_it_opens_from_disk_with_every_part(opened: Any) -> None:
    for name in ("Decisions", "Causes", "Key numbers", "Ledger", "Labels", "Pages", "Method"):
        assert opened.get_by_role("heading", name=name).count() >= 1
    assert opened.evaluate("() => [...document.images].filter((image) => !image.naturalWidth).length") == 0
    # Each cause has the picture once, and refers to it on the other model's side.
    sides = opened.evaluate(
        """() => [...document.querySelectorAll('#causes .cause[id]')].map((cause) =>
          [...cause.querySelectorAll('svg.picture > *')].map((shape) =>
            shape.localName === 'image' ? shape.id : shape.getAttribute('href').slice(1)))"""
    )
    assert [len(names) for names in sides] == [2] * len(sides) != []
    assert all(own == other for own, other in sides)
    faces = opened.evaluate("() => document.fonts.ready.then((faces) => [...faces].map((face) => face.status))")
    assert faces == ["loaded", "loaded"]
    assert opened.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_boxes_lie_inside_their_pictures(opened: Any) -> None:
    outside = opened.evaluate(
        """() => [...document.querySelectorAll('figure .sheet, .crop .sheet')].flatMap((sheet) => {
          const frame = { width: sheet.clientWidth, height: sheet.clientHeight };
          const image = sheet.querySelector('img, svg.picture > *').getBoundingClientRect();
          const same = Math.abs(frame.width - image.width) < 1.5 && Math.abs(frame.height - image.height) < 1.5;
          const [across, down] = sheet.style.aspectRatio.split('/').map(Number);
          const natural = across / down;
          const kept = Math.abs(image.width / image.height / natural - 1) < 0.02;
          return same && kept ? [] : [[frame.width, frame.height, image.width, image.height, natural]]; })"""
    )
    assert outside == []


def test_a_page_opens_in_the_viewer_and_keys_walk_on(opened: Any) -> None:
    opened.get_by_role("button", name="Open in the viewer").first.click()
    opened.locator("#viewer .toggle:has(.swatch-TP)").wait_for()
    first = opened.locator("#viewer .place b").first.inner_text()
    opened.keyboard.press("ArrowRight")
    place = "document.querySelector('#viewer-host').shadowRoot.querySelector('.place b').innerText"
    opened.wait_for_function(f"(first) => {place} !== first", arg=first)
    root = "document.querySelector('#viewer-host').shadowRoot.textContent"
    opened.wait_for_function(f"() => {root}.includes('blocks 1.0')")
    font = "getComputedStyle(document.querySelector('#viewer-host').shadowRoot.querySelector('.layoutscope-viewer'))"
    assert opened.evaluate(f"{font}.fontFamily").startswith('"LayoutScope Sans"')
    counts = "document.querySelector('#viewer-host').shadowRoot.querySelector('.list-counts').innerText"
    assert opened.evaluate(counts).endswith(" places")
    opened.keyboard.press("f")
    opened.wait_for_function(f"() => {root}.includes('lines 1.0')")
    a_verdict_is_on_the_strip_on_the_page_and_in_the_list(opened)
    opened.keyboard.press("Escape")
    opened.keyboard.press("Escape")


def a_verdict_is_on_the_strip_on_the_page_and_in_the_list(opened: Any) -> None:
    viewer = opened.locator("#viewer")
    viewer.locator(".strip-page", has_text="judged").last.click()
    row = viewer.locator(".mistake", has_text="Model wrong by Anna")
    row.locator(".mistake-open").click()
    row.get_by_text("Anna: Split at the gaps.").wait_for()
    assert viewer.locator(".chip", has_text="\u25cf").count()


def test_a_phone_shows_the_pack_without_scrolling_sideways(opened: Any) -> None:
    opened.set_viewport_size({"width": 390, "height": 844})
    assert opened.evaluate("() => document.documentElement.scrollWidth") == 390


@with_axe
def test_no_part_breaks_a_rule_of_wcag(opened: Any) -> None:
    opened.set_viewport_size({"width": 1440, "height": 900})
    assert violations(opened) == []
    opened.get_by_role("button", name="Open in the viewer").first.click()
    opened.locator("#viewer .mistake").first.wait_for()
    assert violations(opened) == [], "the viewer"
    opened.keyboard.press("Escape")
