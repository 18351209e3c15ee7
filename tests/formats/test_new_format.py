"""The page about new formats, followed to the letter: its module, its line, its file and its test."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from evaluator import cli, formats

PAGE = Path(__file__).resolve().parents[2] / "docs" / "new-format.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def module(name: str, code: str) -> ModuleType:
    """A module as if a file had this code."""
    made = ModuleType(name)
    exec(compile(code, name, "exec"), made.__dict__)
    return made


@pytest.fixture
def my(monkeypatch: pytest.MonkeyPatch) -> None:
    made = module("evaluator.formats.my", blocks("python")[0])
    monkeypatch.setitem(sys.modules, "evaluator.formats.my", made)
    monkeypatch.setattr(formats, "my", made, raising=False)
    monkeypatch.setitem(formats.FORMATS, "my", made.FORMAT)


@pytest.mark.usefixtures("my")
def test_its_test_passes() -> None:
    made = module("test_readers_my", blocks("python")[1])
    tests = [value for name, value in vars(made).items() if name.startswith("test_")]
    assert len(tests) == 3
    for each in tests:
        each()


@pytest.mark.usefixtures("my")
def test_its_file_is_known_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.xml").write_text(blocks("xml")[0])
    for words, line in (("check", "1 checked: 0 errors, 0 warnings"), ("describe", "page.xml: my, ground truth")):
        with pytest.raises(SystemExit) as left:
            cli.main([words, str(tmp_path / "page.xml")])
        assert left.value.code == 0
        assert line in capsys.readouterr().out.splitlines()
    source = formats.read_bytes(blocks("xml")[0].replace("/>", ' score="0.5"/>').encode(), "page.xml")
    assert (source.side, source.boxes.score.tolist()) == ("prediction", [0.5, 0.5])
