"""Every view in both themes, wide and narrow, under the rules of axe-core for WCAG 2.2 AA."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import ROOT, Screen, Visit

# `axe.min.js` of the packages of evaluator/components.
AXE = os.environ.get("LAYOUTSCOPE_AXE", "")
with_axe = pytest.mark.skipif(not AXE, reason="LAYOUTSCOPE_AXE is not set")
pytestmark = [pytest.mark.browser]
VIEWS = sorted(path.stem for path in (ROOT / "pages").glob("[a-z]*.py"))
# Not ours to mend: Vega draws the frame of a drag as a mark without a name, and Vega-Lite has no option for one.
NOT_OURS = [".mark-rect[class*=brush]"]
VIOLATIONS = """async (excluded) => {
  const options = {runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']},
    rules: {'target-size': {enabled: true}}, resultTypes: ['violations']};
  const said = await axe.run({include: [document], exclude: excluded.map((each) => [each])}, options);
  return said.violations.flatMap(({id, nodes}) => nodes.map((node) =>
    `${id}: ${node.target.flat(9).at(-1)} ${node.html.slice(0, 160)}`));
}"""


def violations(page: Any, settled: Callable[[], object] = lambda: None) -> list[str]:
    """What breaks a rule in the light and in the dark theme."""
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    said = []
    for scheme in ("light", "dark"):
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
