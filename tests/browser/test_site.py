"""The site of the documentation: built without a warning, and walked in Chromium in both themes."""

import subprocess
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.registered import app
from pages.app.help_menu import MANUAL
from tests.serving import ROOT

pytestmark = pytest.mark.browser
# Of a page: where its links lead, what can be linked to, what is not there, and how much wider than the window it is.
SEEN = """() => ({
  links: [...document.querySelectorAll('a[href]')].map((link) => link.href),
  ids: [...document.querySelectorAll('[id]')].map((node) => node.id),
  broken: [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src),
  wider: document.documentElement.scrollWidth - innerWidth,
})"""
COLOUR = "() => getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `sphinx-build` of CONTRIBUTING.md makes; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-n", "-q", "-c", "docs"]
    command = [sys.executable, "-m", "sphinx", *options, "-d", str(folder / "trees"), ".", str(folder / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


def test_every_page_opens_whole_without_another_host_and_its_links_lead_somewhere(site: Path, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    tab, trouble = context.new_page(), []
    tab.on("console", lambda message: trouble.append(f"console: {message.text}"))
    tab.on("pageerror", lambda error: trouble.append(f"page error: {error}"))
    tab.on("request", lambda request: trouble.append(f"request: {request.url}"))
    tab.goto((site / "index.html").as_uri())
    tab.wait_for_url("**/docs/index.html")
    pages = [path for path in site.rglob("*.html") if path != site / "index.html"]
    assert {f"{name}.html" for name in [*MANUAL, "commands", "python"]} <= {path.name for path in pages}
    seen = {}
    for url in [path.as_uri() for path in pages]:
        tab.emulate_media(color_scheme="light")
        tab.goto(url)
        seen[url], light = tab.evaluate(SEEN), tab.evaluate(COLOUR)
        tab.emulate_media(color_scheme="dark")
        assert tab.evaluate(COLOUR) != light
        assert (seen[url]["broken"], seen[url]["wider"]) == ([], 0), url
    lost = []
    for link in {link for each in seen.values() for link in each["links"] if link.startswith("file:")}:
        target, _, part = link.partition("#")
        there = Path(urllib.parse.unquote(urllib.parse.urlsplit(target).path)).is_file()
        if not there or (part and urllib.parse.unquote(part) not in seen[target]["ids"]):
            lost.append(link)
    assert lost == []
    tab.goto(f"{(site / 'search.html').as_uri()}?q=purity")
    tab.locator("#search-results li").first.wait_for()
    context.close()
    assert [each for each in trouble if not each.startswith(("request: file:", "request: data:"))] == []


def test_every_command_is_in_the_reference(site: Path) -> None:
    text = (site / "docs" / "commands.html").read_text(encoding="utf-8")
    commands = [name for name in app if not name.startswith("-")]
    assert [name for name in commands if f"layoutscope {name}<" not in text] == []
