"""The suite is collected without a look at the shared folder; a second run has what the first one skipped."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SHARED, looks_while_collected

needs_shared = pytest.mark.skipif(not SHARED, reason="without LAYOUTSCOPE_SHARED there is nothing to look at")


@needs_shared
def test_no_test_module_touches_the_shared_folder_while_it_is_collected() -> None:
    """Of the modules of this run: the whole suite, when the whole suite runs."""
    assert not looks_while_collected.collecting
    assert looks_while_collected.places == []


@needs_shared
def test_a_look_would_be_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks_while_collected, "places", [])
    monkeypatch.setattr(looks_while_collected, "collecting", True)
    shared = Path(SHARED)
    os.listdir(shared)
    list(shared.glob("*"))
    with pytest.raises(FileNotFoundError):
        (shared / "no such file").open()
    monkeypatch.setattr(looks_while_collected, "collecting", False)
    os.listdir(shared)
    assert len(looks_while_collected.places) == 3
    assert all(f"{__file__}:" in place for place in looks_while_collected.places)


CONFTEST = """
from tests.conftest import Passed, pytest_addoption

def pytest_configure(config):
    config.pluginmanager.register(Passed(config))
"""
MODULE = """
import os, pytest

def test_here(): ...

@pytest.mark.skipif("THERE" not in os.environ, reason="it is not there")
def test_of_what_is_not_there(): ...

@pytest.mark.parametrize("place", [1, 2] if "THERE" in os.environ else [1])
def test_of_each(place): ...
"""


def test_a_second_run_has_what_was_skipped_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "test_module.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    def run(*options: str, **variables: str) -> str:
        words = [sys.executable, "-m", "pytest", "-v", "-n", "1", "--no-header", *options, str(tmp_path)]
        root = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        return subprocess.run(words, env=root | variables, capture_output=True, text=True, check=True).stdout

    assert "2 passed, 1 skipped" in run()
    for _ in range(2):
        said = run("--not-passed", THERE="yes")
        assert "test_here" not in said
        assert "test_of_each[1]" not in said
        assert "2 passed in" in said
