"""How much memory a process holds of what it may have."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evaluator.system import held_memory

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="memory is looked at on Linux")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    held_memory.may_have.cache_clear()
    yield
    held_memory.may_have.cache_clear()


@linux_only
@pytest.mark.parametrize(
    ("limits", "expected"), [(["1000", None], 1000), (["max", "700"], 700), (["max", None], None), ([None, None], None)]
)
def test_a_control_group_may_have_less_than_the_machine(
    limits: list[str | None], expected: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = tuple(tmp_path / str(number) for number in range(len(limits)))
    for path, limit in zip(paths, limits, strict=True):
        if limit is not None:
            path.write_text(f"{limit}\n")
    monkeypatch.setattr(held_memory, "_GROUP_LIMITS", paths)
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert held_memory.may_have() == (machine if expected is None else expected)


@linux_only
def test_what_the_process_takes_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(held_memory, "may_have", lambda: 2 * (resident + (64 << 20)))
    assert not held_memory.is_much()
    taken = np.ones(16 << 20)
    assert held_memory.is_much()
    assert len(taken)


def test_elsewhere_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.system.held_memory.sys.platform", "darwin")
    assert held_memory.may_have() is None
    assert not held_memory.is_much()


@linux_only
def test_a_system_that_does_not_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_memory, "_OWN", tmp_path / "nothing")
    assert not held_memory.is_much()
