"""Every view in both themes, wide and narrow, under the rules of axe-core for WCAG 2.2 AA."""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.review.store_address import FINDINGS_VARIABLE
from tests.browser.conftest import ROOT, Screen, Visit, dashboard
from tests.building import box, write_file
from tests.sample_part import write_part

# `axe.min.js` of the packages of evaluator/components.
AXE = os.environ.get("LAYOUTSCOPE_AXE", "")
with_axe = pytest.mark.skipif(not AXE, reason="LAYOUTSCOPE_AXE is not set")
pytestmark = [pytest.mark.browser]
VIEWS = sorted(path.stem for path in (ROOT / "pages").glob("[a-z]*.py"))
# Not ours to mend: Vega draws the frame of a drag as a mark without a name, and Vega-Lite has no option for one.
NOT_OURS = [".mark-rect[class*=brush]"]
# What fades in has the contrast of its end.
VIOLATIONS = """async (excluded) => {
  const ending = document.getAnimations().filter((each) => Number.isFinite(each.effect?.getComputedTiming().endTime));
  await Promise.allSettled(ending.map((each) => each.finished));
  const options = {runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']},
    rules: {'target-size': {enabled: true}}, resultTypes: ['violations']};
  const said = await axe.run({include: [document], exclude: excluded.map((each) => [each])}, options);
  return said.violations.flatMap(({id, nodes}) => nodes.map((node) =>
    `${id}: ${node.target.flat(9).at(-1)} ${node.html.slice(0, 160)}`));
}"""


def violations(page: Any, settled: Callable[[], object] = lambda: None, *schemes: str) -> list[str]:
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    said = []
    for scheme in schemes or ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        settled()
        said += [f"{scheme}: {each}" for each in page.evaluate(VIOLATIONS, NOT_OURS)]
    return said


@with_axe
@pytest.mark.parametrize("view", VIEWS)
def test_no_view_breaks_a_rule_of_wcag(server: str, visit: Visit, view: str) -> None:
    screen: Screen = visit(server).open(view)
    for width in (1440, 1024):
        assert violations(screen.sized(width).page, screen.settled) == [], width


@with_axe
@pytest.mark.parametrize("name", ["help_popover", "models", "thresholds"])
def test_no_popover_breaks_a_rule_of_wcag(server: str, visit: Visit, name: str) -> None:
    screen: Screen = visit(server).open("overview")
    screen.opened(name)
    assert violations(screen.page, screen.settled) == []


# What a reader sees of a view at times: of other files, after a press, and while others use the store.
STATES: list[tuple[str, dict[str, str]]] = [
    *(("compare", {"compare": kind}) for kind in ("pixels", "fields", "posters")),
    ("compare", {"opened": "rule,differences", "look": "slider"}),
    *(("slices", {"slices": kind}) for kind in ("fields", "posters")),
    ("overview", {"charts": "labels,scores,fit,means,documents"}),
    ("overview", {"protocol": "coco"}),
    ("queue", {"queue": "sample"}),
    ("page_browser", {"within": "tram-options.pdf", "mistakes": "duplicate"}),
    ("gallery", {"within": "tram-options.pdf", "mistakes": "duplicate"}),
]


@with_axe
def test_no_state_of_a_view_breaks_a_rule_of_wcag(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FINDINGS_VARIABLE, str(tmp_path / "findings.sqlite"))
    with dashboard(tmp_path) as url:
        screen = visit(url)
        for view, address in STATES:
            screen.open(view, **address)
            assert violations(screen.page, screen.settled) == [], (view, address)
        # It has no title, and asks twice a second.
        screen.page.goto(f"{url}/findings?meeting=yes")
        screen.page.locator(".mt-foot").wait_for()
        assert violations(screen.page, screen.rested) == [], "a meeting"
        a_verdict_that_waits_breaks_none(tmp_path / "findings.sqlite", screen)
        screen.open("overview").choose(ROOT / "sample_data" / "lines.json", link="Open your own files")
        assert violations(screen.page, screen.settled) == [], "the list of files"
        screen.leave()


def a_verdict_that_waits_breaks_none(kept: Path, screen: Screen) -> None:
    with contextlib.closing(sqlite3.connect(kept, isolation_level=None)) as others:
        others.execute("BEGIN IMMEDIATE")
        screen.open("page_browser").drawn()
        screen.page.evaluate("localStorage.setItem('layoutscope-reviewer', 'Ada')")
        screen.press("n", "1")
        screen.page.get_by_text("Waiting to be saved: 1 verdict").wait_for()
        assert violations(screen.page, screen.rested) == [], "a store that others use"
    screen.page.get_by_text("Waiting to be saved").first.wait_for(state="detached")


@with_axe
def test_few_documents_and_no_mistake_break_no_rule_of_wcag(visit: Visit, tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    part = write_part(tmp_path / "part", "tram-options.pdf", "school-census.pdf")
    write_file(tmp_path / "truth.json", [box(0.1, 0.1, 0.5, 0.5)], side="ground_truth")
    write_file(tmp_path / "model.json", [box(0.1, 0.1, 0.5, 0.5)])
    few = "--gt", str(part / "ground_truth.json"), str(part / "lines.json"), str(part / "blocks.json")
    # The themes are those of `test_no_view_breaks_a_rule_of_wcag`.
    for scheme, words in (("light", few), ("dark", ("truth.json", "model.json"))):
        with dashboard(tmp_path, "open", *words) as url:
            screen = visit(url)
            for view in VIEWS:
                screen.open(view)
                assert violations(screen.page, screen.settled, scheme) == [], (words, view)
            screen.leave()
