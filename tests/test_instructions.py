"""On AMD Zen 4 the command has numpy sort without instructions of 512 bits; elsewhere nothing is chosen."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.system import instructions

ZEN_4 = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nflags\t\t: fpu avx2 avx512f\n"
SAID = {"vendor_id": "AuthenticAMD", "cpu family": "25", "flags": "fpu avx2 avx512f avx512cd"}
WIDE = "X86_V4 AVX512_ICL AVX512_SPR"
MAIN = """
import os, sys
from evaluator.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(os.environ.get("NPY_DISABLE_CPU_FEATURES"))
"""


def chosen(monkeypatch: pytest.MonkeyPatch, said: dict[str, str], **given: str) -> dict[str, str]:
    """The environment after a choice on a processor of which the system says this."""
    monkeypatch.setattr(instructions, "_processor", lambda: said)
    environment = {"HOME": "/home/a", **given}
    instructions.choose(environment)
    return {name: value for name, value in environment.items() if name != "HOME"}


def test_wide_instructions_are_left_out_on_zen_4_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(monkeypatch, SAID) == {instructions.DISABLED: WIDE}
    # Intel, Zen 5, Zen 3, another kind of processor.
    assert chosen(monkeypatch, SAID | {"vendor_id": "GenuineIntel", "cpu family": "6"}) == {}
    assert chosen(monkeypatch, SAID | {"cpu family": "26"}) == {}
    assert chosen(monkeypatch, SAID | {"flags": "fpu avx2"}) == {}
    assert chosen(monkeypatch, {}) == {}


@pytest.mark.parametrize("name", [instructions.DISABLED, instructions.ENABLED])
def test_what_the_environment_says_stays(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert chosen(monkeypatch, SAID, **{name: "X86_V3"}) == {name: "X86_V3"}
    assert chosen(monkeypatch, SAID, **{name: ""}) == {name: ""}


def test_linux_says_it_in_a_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(instructions, "_LIST", tmp_path / "cpuinfo")
    for words, there in (
        (ZEN_4 + "\n" + ZEN_4.replace(": 25", ": 26"), True),
        (ZEN_4.replace(": 25", ": 26") + "\n" + ZEN_4, False),
        (ZEN_4.replace(" avx512f", "") + "\n" + ZEN_4, False),
        ("CPU architecture: 8\nCPU part\t: 0xd40\n", False),
        ("", False),
    ):
        (tmp_path / "cpuinfo").write_text(words)
        environment: dict[str, str] = {}
        instructions.choose(environment)
        assert environment == ({instructions.DISABLED: WIDE} if there else {})
    monkeypatch.setattr(instructions, "_LIST", tmp_path / "missing")
    instructions.choose(environment)
    assert environment == {}


def test_windows_says_it_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    for words, there in (
        ("AMD64 Family 25 Model 97 Stepping 2, AuthenticAMD", True),
        ("AMD64 Family 26 Model 68 Stepping 0, AuthenticAMD", False),
        ("Intel64 Family 6 Model 151 Stepping 2, GenuineIntel", False),
        ("", False),
    ):
        monkeypatch.setenv("PROCESSOR_IDENTIFIER", words)
        environment: dict[str, str] = {}
        instructions.choose(environment)
        assert environment == ({instructions.DISABLED: WIDE} if there else {})


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/cpuinfo")
def test_the_command_chooses_before_it_imports_numpy() -> None:
    """On this machine, whatever its processor is."""
    wanted: dict[str, str] = {}
    instructions.choose(wanted)
    free = {
        name: value for name, value in os.environ.items() if name not in (instructions.DISABLED, instructions.ENABLED)
    }
    run = subprocess.run(
        [sys.executable, "-c", MAIN, "check", "--help"], capture_output=True, text=True, check=True, env=free
    )
    assert run.stdout.splitlines()[-1] == str(wanted.get(instructions.DISABLED))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numpy has these instructions on x86-64 alone")
def test_numpy_knows_the_names() -> None:
    """It warns of names that it does not know, and then uses all instructions."""
    program = "import numpy; print(numpy._core._multiarray_umath.__cpu_features__['X86_V4'])"
    environment = {name: value for name, value in os.environ.items() if name != instructions.ENABLED}
    run = subprocess.run(
        [sys.executable, "-W", "error::ImportWarning", "-c", program],
        capture_output=True,
        text=True,
        env=environment | {instructions.DISABLED: WIDE},
        check=False,
    )  # fmt: skip
    assert (run.stdout, run.returncode) == ("False\n", 0), run.stderr
