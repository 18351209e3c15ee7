"""The script of a release refuses what it cannot make a release of, before it writes anything."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.serving import ROOT

SCRIPT = ROOT / ".ci" / "release"


@pytest.mark.skipif(not SCRIPT.exists(), reason="the sdist has no .ci")
def test_a_release_needs_a_version_of_its_own_and_a_clean_tree(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy(SCRIPT, folder / ".ci")
    (folder / "CHANGELOG.md").write_text("## [0.1.0] - 2026-11-29\n")

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)

    def said(*words: str) -> str:
        done = subprocess.run([folder / ".ci" / "release", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        return done.stderr

    git("init", "-q")
    assert said() == "error: give a version such as 0.3.0; found nothing.\n"
    assert said("v1") == "error: give a version such as 0.3.0; found v1.\n"
    assert said("0.2.0", "me") == "error: give the repository, OWNER/NAME; found me.\n"
    assert said("0.2.0", "me/it") == "error: the tree must be clean; commit or remove what git status lists.\n"
    git("add", "-A")
    git("commit", "-qm", "all")
    git("tag", "v0.2.0")
    assert said("0.2.0", "me/it") == "error: there is a tag v0.2.0; choose another version.\n"
    assert said("0.1.0", "me/it") == "error: CHANGELOG.md has a section 0.1.0; choose another version.\n"
