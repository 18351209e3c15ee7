"""The suite is collected without a look at the shared folder, so that it runs for those who have none."""

import os
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
