"""The components of the front end: what their scripts hold, and what joining the sources refuses."""

import json
import re
from pathlib import Path

import pytest

from evaluator.components import source
from evaluator.components.source import COMPONENTS, FOLDER, component_script, component_style, join_modules, modules_of

# The names that the style sheets and the browser tests know each component by.
ROOTS = {name: f"layoutscope-{name}" for name in COMPONENTS}
ROOTS |= {"compare_board": "layoutscope-board", "file_list": "layoutscope-files", "pack": "layoutscope-viewer"}
ROOTS |= {"notebook_viewer": "layoutscope-viewer", "notebook_compare": "layoutscope-compare"}


@pytest.mark.parametrize("name", COMPONENTS)
def test_each_component_is_one_script_that_loses_no_code(name: str) -> None:
    script = component_script(name)
    code = [
        line.strip()
        for file in modules_of(COMPONENTS[name].entry)
        for line in (FOLDER / file).read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.lstrip().startswith(("*", "/**", "import ", "export "))
    ]
    kept = set(script.splitlines())
    assert [line for line in code if line not in kept] == []
    assert not re.search(r"^(import|export (?!default))\b", script, re.MULTILINE)
    assert script.count("export default") == (0 if COMPONENTS[name].inline else 1)
    assert ROOTS[name] in script
    assert component_style(name).strip()


def test_a_script_for_a_file_declares_nothing_outside_of_itself() -> None:
    script = component_script("pack")
    assert script.startswith("(() => {\n")
    assert script.endswith("\n})();\n")
    assert "</script" not in script


def test_every_module_and_style_sheet_belongs_to_a_component() -> None:
    used = {file for each in COMPONENTS.values() for file in modules_of(each.entry)}
    folders = {path.split("/")[0] for path in used}
    files = {path.relative_to(FOLDER).as_posix() for folder in folders for path in (FOLDER / folder).rglob("*.js")}
    assert files == used
    styles = {
        path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.css") if "node_modules" not in path.parts
    }
    assert styles == {file for each in COMPONENTS.values() for file in each.styles}


def test_a_component_that_is_unknown_and_a_name_of_two_modules_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^name must be one of viewer, .*; found 'other'\.$"):
        component_script("other")
    with pytest.raises(ValueError, match=r"^b\.js: place is already declared in a\.js; find another name\.$"):
        join_modules({"a.js": "export const place = 1;\n", "b.js": "function place() {}\n"})


@pytest.mark.parametrize(
    ("imported", "refused"),
    [
        ("import * as b", r"^a\.js: an import must be on one line and name its imports"),
        ("import { b }", r"found a\.js -> b\.js -> a\.js\.$"),
    ],
    ids=["cannot be joined", "circle"],
)
def test_an_import_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imported: str, refused: str) -> None:
    monkeypatch.setattr(source, "FOLDER", tmp_path)
    (tmp_path / "a.js").write_text(f'{imported} from "./b.js";\n')
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\n')
    with pytest.raises(ValueError, match=refused):
        modules_of("a.js")


def test_the_lock_of_the_tools_names_no_host() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))
    assert lock["packages"]
    assert not re.search(r"[a-z+]+://", json.dumps(lock))
    assert all("resolved" not in each for each in lock["packages"].values())
    assert all("integrity" in each for name, each in lock["packages"].items() if name)
