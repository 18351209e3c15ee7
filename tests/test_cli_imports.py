"""What the terminal imports before it does anything: starting it must not cost more than it shows."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from evaluator.cli import COMMANDS as COMMANDS_HELP
from evaluator.cli import app

HEAVY = ("numpy", "pandas", "pyarrow", "altair", "sqlalchemy", "jinja2", "streamlit", "pymupdf", "PIL", "shapely")
PROGRAM = """
import sys
from evaluator.cli import main
try:
    main({words!r})
except SystemExit:
    pass
sys.stderr.write(" ".join(sorted(name for name in {heavy!r} if name in sys.modules)))
"""
# What each command imports to print its own help; its options are made of the structs of the protocols.
IMPORTS = {
    "check": {"numpy", "shapely"},
    "compare": {"numpy", "shapely"},
    "convert": {"numpy", "shapely"},
    "describe": {"numpy", "shapely"},
    "diagnostics": {"numpy"},
    "evaluate": {"numpy", "shapely"},
    "findings": {"numpy", "shapely", "sqlalchemy"},
    "gate": {"numpy", "shapely"},
    "open": set(),
    "report": {"numpy", "shapely", "sqlalchemy", "jinja2", "PIL"},
    "slices": {"numpy", "shapely"},
    "suspects": {"numpy", "shapely"},
}
COMMANDS = [name for name in app if not name.startswith("-")]


def imported(*words: str) -> set[str]:
    """The heavy packages in memory after a command line."""
    program = PROGRAM.format(words=list(words), heavy=HEAVY)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stderr.split())


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_the_start_imports_nothing_heavy(word: str) -> None:
    assert imported(word) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_what_it_needs(command: str) -> None:
    assert imported(command, "--help") - {"pyarrow"} == IMPORTS[command]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_of_commands_says_what_the_command_says(command: str) -> None:
    """The first sentence of a command is written twice, so that the list needs no import."""
    own = app[command].default_command
    text = inspect.getdoc(own) if own else app[command].help
    assert text is not None
    assert text.split("\n")[0] == COMMANDS_HELP[command][1]
