"""The widgets in a real JupyterLab: drawn, turned by keys, and a chosen box that comes back to Python."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import new_reader
from tests.dashboard import SAMPLE_DATA
from tests.serving import PATIENCE, ROOT, answering, free_port, stop

pytestmark = pytest.mark.browser
pytest.importorskip("jupyterlab", reason="requirements-notebook.txt has JupyterLab")

OPEN = f"""import evaluator, ipywidgets, os
os.chdir({str(SAMPLE_DATA)!r})
files = evaluator.open("ground_truth.json", ["lines.json", "blocks.json"], pdfs="pdf")
lines, blocks = files.evaluate("snapshot")

def told(widget, words):
    label = ipywidgets.Label("nothing")
    widget.observe(lambda change: setattr(label, "value", words(change["new"])), "selected")
    return ipywidgets.VBox([label, widget])
"""
CELLS = [
    OPEN,
    'viewer = lines.viewer()\ntold(viewer, lambda row: f\'chosen {row["status"]} {row["mistake"]}\')',
    "print('a row of the frame:', viewer.selected in lines.boxes_table().to_pylist())",
    "panes = lines.compare(blocks)\ntold(panes, lambda rows: f'chosen in {\" and \".join(rows)}')",
]
HOST = "[data-lm-suppress-shortcuts]"


def notebook_of(cells: list[str]) -> str:
    """A notebook file of cells of code."""
    made = [
        {
            "cell_type": "code",
            "id": f"cell{at}",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for at, source in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(scope="module")
def lab(tabs: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a notebook of `CELLS` in a JupyterLab, which keeps its settings in a folder of its own."""
    folder, port = tmp_path_factory.mktemp("lab"), free_port()
    (folder / "pages.ipynb").write_text(notebook_of(CELLS), encoding="utf-8")
    own = {name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    settings = {"IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": str(ROOT), "JUPYTERLAB_SETTINGS_DIR": str(folder)}
    # This reader has no token, and no terminal is wanted.
    words = ["--no-browser", "--ServerApp.token=", "--ServerApp.terminals_enabled=False", f"--ServerApp.port={port}"]
    words += ["--expose-app-in-browser", "--LabApp.extension_manager=readonly", f"--ServerApp.root_dir={folder}"]
    words += ["--allow-root"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    command = [sys.executable, "-m", "jupyterlab", *words]
    environment = {**os.environ, **own, **settings}
    process = answering(command, folder, folder / "lab.log", port, environment, path="/api/status")
    yield f"http://127.0.0.1:{port}/lab/tree/pages.ipynb"
    stop(process)


class Lab:
    """The notebook in a tab."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(url)
        self.cells = page.locator(".jp-Notebook .jp-CodeCell")
        page.get_by_text("Python 3 (ipykernel) | Idle").or_(page.get_by_text("Python 3 | Idle")).first.wait_for()

    def run(self, at: int) -> Any:
        """Run a cell and return its output."""
        self.cells.nth(at).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        return self.cells.nth(at).locator(".jp-OutputArea-output")

    def widget(self, at: int) -> Any:
        """Run a cell and return the widget that it shows, drawn."""
        self.run(at)
        host = self.cells.nth(at).locator(HOST)
        host.locator(".chips.ready").first.wait_for()
        return host


@pytest.fixture(scope="module")
def notebook(tabs: Any, lab: str) -> Iterator[Lab]:
    context = new_reader(tabs.browser, viewport={"width": 1440, "height": 1000})
    notebook = Lab(context.new_page(), lab)
    notebook.run(0)
    yield notebook
    context.close()


def test_a_box_chosen_in_the_viewer_comes_back_to_python(notebook: Lab) -> None:
    viewer = notebook.widget(1)
    assert viewer.locator(".joined-text").first.inner_text().startswith("1 ")
    pane = viewer.locator(".pane")
    first = pane.get_attribute("aria-label")
    pane.click(position={"x": 3, "y": 3})
    notebook.page.keyboard.press("ArrowRight")
    viewer.locator(f".pane:not([aria-label='{first}'])").wait_for()
    notebook.page.keyboard.press("n")
    notebook.cells.nth(1).get_by_text("chosen FN", exact=False).wait_for()
    assert notebook.cells.count() == len(CELLS)
    notebook.run(2).filter(has_text="a row of the frame: True").wait_for()


def test_a_box_chosen_in_the_comparison_comes_back_to_python(notebook: Lab) -> None:
    panes = notebook.widget(3)
    panes.locator(".pane").first.click(position={"x": 3, "y": 3})
    notebook.page.keyboard.press("n")
    notebook.cells.nth(3).get_by_text("chosen in A and B").wait_for()


def test_the_keys_of_cells_are_not_those_of_a_widget(notebook: Lab) -> None:
    viewer = notebook.cells.nth(1).locator(HOST)
    before = viewer.locator(".joined-text").first.inner_text()
    notebook.cells.nth(0).locator(".cm-content").click()
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("ArrowDown")
    notebook.page.keyboard.press("ArrowRight")
    assert viewer.locator(".joined-text").first.inner_text() == before
    assert notebook.cells.nth(1).evaluate("node => node.classList.contains('jp-mod-selected')")


def test_a_widget_follows_the_theme_of_jupyterlab(notebook: Lab) -> None:
    host = notebook.cells.nth(1).locator(HOST)
    scheme = "node => getComputedStyle(node).colorScheme"
    assert host.evaluate(scheme) == "light"
    notebook.page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    notebook.page.wait_for_function(f"() => getComputedStyle(document.querySelector({HOST!r})).colorScheme === 'dark'")
