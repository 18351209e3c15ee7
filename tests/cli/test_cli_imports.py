"""What the terminal imports before it does anything: starting it must not cost more than it shows."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.cli.commands import COMMANDS as COMMANDS_HELP
from evaluator.cli.commands import OPTIONS, overview
from evaluator.cli.registered import app

HEAVY = (
    "numpy", "pandas", "pyarrow", "altair", "sqlalchemy", "jinja2", "streamlit", "pymupdf", "PIL", "shapely", "yaml",
    "rich.progress", "urllib.request", "webbrowser", "rapidfuzz", "numpy.ma", "numpy.random",
    "evaluator.components",
)  # fmt: skip
# What the start does not need either: it answers before the command line is parsed.
START = (*HEAVY, "cyclopts", "rich", "msgspec", "attrs", "inspect", "typing")
SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
PROGRAM = """
import json, sys
from evaluator.cli import main
loaded = []
for words in {lines!r}:
    try:
        main(words)
    except SystemExit:
        pass
    loaded.append([name for name in {heavy!r} if name in sys.modules])
sys.stderr.write(json.dumps(loaded))
"""
# What each command imports to print its own help; its options are made of the structs of the protocols.
COMMANDS = [name for name in app if not name.startswith("-")]
IMPORTS = {name: {"numpy"} for name in COMMANDS} | {
    "findings": {"numpy", "pyarrow", "sqlalchemy"},
    "open": set(),
    "report": {"numpy", "jinja2", "evaluator.components"},
}


def imported(*lines: list[str], of: tuple[str, ...] = HEAVY) -> list[set[str]]:
    """Those packages that are in memory after each of some command lines in one process."""
    program = PROGRAM.format(lines=lines, heavy=of)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [set(names) for names in json.loads(run.stderr.splitlines()[-1])]


def test_the_start_imports_nothing() -> None:
    assert imported(["--version"], ["--help"], ["-h"], of=START) == [set()] * 3


def test_a_command_imports_what_it_needs() -> None:
    """In one process those of which each needs all that the one before it needs."""
    growing = sorted((name for name in COMMANDS if name != "findings"), key=lambda name: len(IMPORTS[name]))
    for commands in (growing, ["findings"]):
        loaded = imported(*([name, "--help"] for name in commands))
        assert dict(zip(commands, loaded, strict=True)) == {name: IMPORTS[name] for name in commands}


def test_checking_and_evaluating_boxes_need_no_more_than_their_help() -> None:
    truth, prediction = map(str, (SAMPLE / "ground_truth.json", SAMPLE / "lines.json"))
    lines = ["check", truth, prediction], ["evaluate", "snapshot", "--gt", truth, "--pred", prediction]
    assert imported(*lines) == [IMPORTS["check"], IMPORTS["evaluate"]]


LOOKED_THROUGH = """
import gc, sys
looked = []
gc.callbacks.append(lambda phase, told: looked.append("evaluator.metrics" in sys.modules) if phase == "start" else None)
from evaluator.cli import main
try:
    main()
except SystemExit:
    pass
print(gc.isenabled(), gc.get_freeze_count() > 10_000, any(looked))
"""


@pytest.mark.parametrize("words", [["check", "missing.json"], ["--debug", "check", "missing.json"]])
def test_what_a_command_imports_is_never_looked_through_for_garbage(words: list[str]) -> None:
    command = [sys.executable, "-c", LOOKED_THROUGH, *words]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "True True False"


BROKEN = """
import sys
sys.modules["evaluator.cli.check"] = None
from evaluator.cli import main
main()
"""


def test_a_command_that_cannot_be_imported_ends_without_a_traceback() -> None:
    run = subprocess.run([sys.executable, "-c", BROKEN, "check", "a.json"], capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert "Traceback" not in run.stderr
    assert "evaluator.cli.check" in run.stderr


COCO_PROGRAM = """
import sys
from evaluator.project import evaluate
(one,) = evaluate("coco", sys.argv[1], [sys.argv[2]], boxes=False)
assert one.result.numbers["AP"] > 0.99
sys.stderr.write(" ".join(sys.modules))
"""


def test_the_numbers_of_coco_need_neither_other_protocols_nor_what_belongs_to_boxes(tmp_path: Path) -> None:
    box = {"image_id": 1, "category_id": 1, "bbox": [1.0, 2.0, 30.5, 40.25]}
    truth = {
        "images": [{"id": 1, "width": 100, "height": 100, "file_name": "a.png"}],
        "categories": [{"id": 1, "name": "Text"}],
        "annotations": [{"id": 1, **box, "area": 1227.625, "iscrowd": 0}],
    }
    paths = tmp_path / "gt.json", tmp_path / "dt.json"
    for path, value in zip(paths, (truth, [{**box, "score": 0.5}]), strict=True):
        path.write_text(json.dumps(value))
    command = [sys.executable, "-c", COCO_PROGRAM, *map(str, paths)]
    modules = subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()
    not_needed = {"xml.etree", "defusedxml", "concurrent.futures", "logging"}
    assert {*HEAVY, *not_needed} & {*modules} == {"numpy"}
    own = "base", "coco", *(f"coco.{name}" for name in ("curves", "evaluation", "matching", "streaming", "protocol"))
    assert {name for name in modules if name.startswith("evaluator.protocols.")} == {
        f"evaluator.protocols.{name}" for name in (*own, "registry")
    }
    # All formats are asked what a file is; what they write with is not needed.
    assert not [name for name in modules if name.startswith("evaluator.formats.writers")]
    assert not [name for name in modules if name.startswith("evaluator.analysis.")]
    for name in (
        "matching.error_types", "matching.box_items", "matching.box_measures", "matching.box_scores", "matching.causes",
        "metrics.measures", "metrics.bootstrap_ap", "pdf.pool", "pdf.sizes", "pdf.worker",
    ):  # fmt: skip
        assert f"evaluator.{name}" not in modules


def test_the_help_names_every_command_and_every_option_of_the_start() -> None:
    """The parser knows them; the text is written beforehand, so that it needs no import."""
    text = " ".join(overview(100).split())
    for command in COMMANDS:
        assert f" {command} {COMMANDS_HELP[command][1]}" in text
    documented = " ".join(str(inspect.getdoc(app.default_command)).split())
    options = {name: words for names, words in OPTIONS.items() for name in names.replace(",", "").split()}
    for argument in app.assemble_argument_collection():
        for name in argument.names:
            assert options[name].partition(" [")[0] in (argument.parameter.help or documented)
    assert {*app.help_flags, *app.version_flags} <= options.keys()


def test_the_help_fits_the_terminal() -> None:
    for width in (20, 80, 200):
        assert max(map(len, overview(width).splitlines())) <= max(width, 60)


def test_the_list_of_commands_says_what_the_command_says() -> None:
    """The first sentence of a command is written twice, so that the list needs no import."""
    for command in COMMANDS:
        own = app[command].default_command
        text = inspect.getdoc(own) if own else app[command].help
        assert str(text).split("\n")[0] == COMMANDS_HELP[command][1]
