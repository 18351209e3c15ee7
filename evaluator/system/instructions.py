"""Which instructions of the processor numpy is to use. Imports nothing, because numpy reads it when it is imported."""

import itertools
import os
import sys
from collections.abc import MutableMapping
from typing import Final

DISABLED: Final = "NPY_DISABLE_CPU_FEATURES"
"""Environment variable in which numpy is told which instructions it is not to use."""
ENABLED: Final = "NPY_ENABLE_CPU_FEATURES"
"""Environment variable with those it is to use alone; numpy refuses both at once."""
# Those of 512 bits, by the names of numpy 2.4 and later.
_WIDE: Final = "X86_V4 AVX512_ICL AVX512_SPR"
# Zen 4 is the only processor of this family that has them.
_VENDOR: Final = "AuthenticAMD"
_FAMILY: Final = "25"
# Where Linux lists its processors; the first is described within so many bytes.
_LIST: Final = "/proc/cpuinfo"
_ENOUGH: Final = 1 << 12


def choose(environment: MutableMapping[str, str]) -> None:
    """Have numpy sort with 256 bits on AMD Zen 4, unless the environment names instructions already.

    Parameters
    ----------
    environment : mapping
        That of this process, ``os.environ``, before numpy is imported; processes it starts inherit it.

    Notes
    -----
    numpy sorts with an instruction of 512 bits that Zen 4 carries out in more than a hundred cycles
    (numpy/x86-simd-sort, issue 6; OpenJDK leaves it out there too, JDK-8317976): a million numbers of 64 bits took
    52 ms, and take 10 without it. Exponentials and logarithms, which are rare here, take four times as long without
    it. numpy before 2.4 has other names and does not heed these.
    """
    if DISABLED not in environment and ENABLED not in environment and _zen_4(_processor()):
        environment[DISABLED] = _WIDE


def _processor() -> dict[str, str]:
    """What the system says of its first processor; nothing where it does not say it in one of two ways."""
    if sys.platform == "win32":
        # "AMD64 Family 25 Model 97 Stepping 2, AuthenticAMD". What is left out is not missed where it is not there.
        words = os.environ.get("PROCESSOR_IDENTIFIER", "").split()
        family = dict(itertools.pairwise(words)).get("Family", "")
        return {"vendor_id": words[-1] if words else "", "cpu family": family, "flags": "avx512f"}
    try:
        with open(_LIST, encoding="ascii", errors="replace") as file:
            lines = file.read(_ENOUGH).split("\n\n")[0].splitlines()
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _zen_4(processor: dict[str, str]) -> bool:
    """Whether these are the words of an AMD processor of that family with instructions of 512 bits."""
    return (
        processor.get("vendor_id") == _VENDOR
        and processor.get("cpu family") == _FAMILY
        and "avx512f" in processor.get("flags", "").split()
    )
