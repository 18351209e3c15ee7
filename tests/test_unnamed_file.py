"""Files without a name: where they are, and that nothing of them stays."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from evaluator.system.unnamed_file import unnamed_file


@pytest.mark.parametrize("alone", [False, True])
def test_a_file_that_can_be_read_again_and_leaves_nothing(
    alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if alone:
        # A file system without files that have no name.
        monkeypatch.setattr(os, "O_TMPFILE", getattr(os, "O_DIRECTORY", 0), raising=False)
    with unnamed_file() as file:
        file.write(b"some bytes")
        assert file.seek(5) == 5
        assert file.read() == b"bytes"
        assert os.fstat(file.fileno()).st_dev == tmp_path.stat().st_dev
    assert file.closed
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with unnamed_file() as file:
        assert file.write(b"x") == 1
