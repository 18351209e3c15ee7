"""How much memory a process holds of what it may have."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evaluator.system import memory_limit

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="memory is looked at on Linux")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    memory_limit.memory_bytes.cache_clear()
    yield
    memory_limit.memory_bytes.cache_clear()


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
    monkeypatch.setattr(memory_limit, "_GROUP_LIMITS", paths)
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert memory_limit.memory_bytes() == (machine if expected is None else expected)


@linux_only
def test_what_the_process_takes_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    monkeypatch.setattr(memory_limit, "memory_bytes", lambda: 2 * (resident + (64 << 20)))
    assert not memory_limit.is_exceeded()
    taken = np.ones(16 << 20)
    assert memory_limit.is_exceeded()
    assert len(taken)


def test_where_nothing_is_known_nothing_is_exceeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limit, "_OWN", tmp_path / "nothing")
    assert not memory_limit.is_exceeded()
    monkeypatch.setattr("evaluator.system.memory_limit.sys.platform", "darwin")
    memory_limit.memory_bytes.cache_clear()
    assert memory_limit.memory_bytes() is None
    assert not memory_limit.is_exceeded()
