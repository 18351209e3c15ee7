"""Reading that takes long: how far it is, in the terminal's bar and in the dashboard, and its end on Cancel."""

import contextlib
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from evaluator import formats
from evaluator.formats import table as table_format
from evaluator.formats import xml_text
from evaluator.formats.base import Reading
from evaluator.system import progress
from pages.app import jobs, session_files
from tests.building import box, write_file
from tests.dashboard import FILES, fine, issue_tables, start, workspace

pytestmark = pytest.mark.usefixtures("store_path")

ROWS = "".join(f"p{at}.png,Text,1,1,{at % 90 + 5},9\n" for at in range(9000))
CSV = f"document,label,x1,y1,x2,y2\n{ROWS}".encode()


def heard(path: Path) -> list[tuple[int, int]]:
    """What is told while a file is read."""
    said: list[tuple[int, int]] = []
    with progress.reporting(lambda done, total: said.append((done, total))):
        formats.read(path)
    return said


def test_a_table_tells_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "boxes.csv").write_bytes(CSV)
    (_, first, second), totals = zip(*heard(tmp_path / "boxes.csv"), strict=True)
    assert 0 < first < second <= len(CSV)
    assert set(totals) == {len(CSV)}


def test_xml_tells_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_text, "_STEP_BYTES", 1000)
    image = (
        '<image id="{0}" name="p{0}.png" width="9" height="9"><box label="T" xtl="1" ytl="1" xbr="3" ybr="3"/></image>'
    )
    text = f"<annotations>{''.join(map(image.format, range(40)))}</annotations>"
    (tmp_path / "a.xml").write_text(text)
    said = heard(tmp_path / "a.xml")
    assert [done // 1000 for done, _ in said] == [1, 2, 3, 4]
    assert {total for _, total in said} == {len(text) + len("<_>")}


def test_a_folder_tells_its_files(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_file(tmp_path / f"{name}.json", [box(0, 0, 1, 1, document=f"{name}.pdf")], side="ground_truth")
    assert heard(tmp_path) == [(0, 3), (1, 3), (2, 3)]


def test_who_listens_may_end_it() -> None:
    def enough(_done: int, _total: int) -> None:
        raise EOFError

    with progress.reporting(enough), pytest.raises(EOFError):
        table_format.FORMAT.read(CSV, "boxes.csv", Reading())
    assert len(table_format.FORMAT.read(CSV, "boxes.csv", Reading()).boxes) == 9000


def on_a_terminal(*words: str) -> str:
    """What a command writes on a terminal, control sequences included."""
    pid, terminal = pty.fork()
    if not pid:
        os.execve(sys.executable, [sys.executable, "-m", "evaluator.cli", *words], {**os.environ, "TERM": "xterm"})
    written = b""
    # The end of a terminal is an error.
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 1 << 16):
            written += part
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return written.decode()


def test_a_terminal_has_a_bar_and_a_pipe_has_none(tmp_path: Path) -> None:
    (tmp_path / "boxes.csv").write_bytes(CSV)
    words = "describe", str(tmp_path / "boxes.csv")
    bar, result = on_a_terminal(*words).rsplit("\x1b[2K", 1)
    seen = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", bar)
    for said in ("Reading boxes.csv", "100%", "\u2501"):
        assert said in seen
    # The bar is gone when the result is written, and the cursor is back.
    assert bar.rfind("\x1b[?25h") > bar.rfind("\x1b[?25l") >= 0
    assert result.startswith("boxes.csv: table, ground truth\r\n")
    piped = subprocess.run([sys.executable, "-m", "evaluator.cli", *words], capture_output=True, text=True, check=True)
    assert (piped.stderr, piped.stdout.partition("\n")[0]) == ("", "boxes.csv: table, ground truth")


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setattr(session_files, "LARGE_BYTES", 1)
    write_file(tmp_path / "truth.json", [box(0.1, 0.1, 0.5, 0.5)], side="ground_truth")
    write_file(tmp_path / "a.json", [box(0.1, 0.1, 0.5, 0.5)])
    return workspace(tmp_path / "truth.json", [tmp_path / "a.json"])


def test_large_files_are_read_like_others_and_a_cancelled_one_is_named(large: str) -> None:
    app = start(FILES, files=large)
    assert app.dataframe[0].value["Boxes"].tolist() == [1, 1]
    assert "Cancel" not in [each.label for each in app.button]
    app.session_state["files"] = None
    app.session_state["cancelled"] = ("a.json",)
    assert [row["Rule"] for row in issue_tables(fine(app.run()))[0]] == ["the file must be read to its end"]


def test_a_reading_goes_on_when_the_view_is_left(monkeypatch: pytest.MonkeyPatch, large: str) -> None:
    shown: list[jobs.Job[Any, Any]] = []
    show = jobs.wait_with_progress

    def leave(_title: str, job: jobs.Job[Any, Any], *_more: object, **_named: object) -> None:
        shown.append(job)
        job.future.result(60)
        st.stop()

    def again(title: str, job: jobs.Job[Any, Any], *more: Any, **named: Any) -> Any:
        shown.append(job)
        return show(title, job, *more, **named)

    with monkeypatch.context() as left:
        left.setattr(jobs, "wait_with_progress", leave)
        app = start(FILES, files=large)
    monkeypatch.setattr(jobs, "wait_with_progress", again)
    fine(app.run())
    assert app.dataframe[0].value["Boxes"].tolist() == [1, 1]
    assert [job.key[0].name for job in shown] == ["truth.json", "truth.json", "a.json"]
    assert shown[0] is shown[1]
