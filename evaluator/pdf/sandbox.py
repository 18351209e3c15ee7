"""Confinement of a process before it reads files from strangers: limits, Landlock, seccomp; for good.

Works without root; what a system lacks or refuses is left out of the answer. On Linux (x86_64, aarch64): no new
privileges and no capabilities; Landlock: no file opened, made or removed, no TCP port reached, no outside process
signalled; seccomp: only the system calls for memory, pipes and open files, so no program or process is started or
touched, no file or socket made, no memory executable. What is open already stays open.
"""

from __future__ import annotations

import contextlib
import os
import platform
import struct
import sys
import tempfile
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

# ctypes has no types of its own for a loaded library.
_Library: TypeAlias = Any

# Of linux/prctl.h, linux/capability.h, linux/seccomp.h, linux/audit.h and linux/landlock.h.
_SET_SECCOMP: Final = 22
_SET_NO_NEW_PRIVILEGES: Final = 38
_FILTER: Final = 2
_CAPABILITIES_3: Final = 0x20080522
_ALLOW: Final = 0x7FFF_0000
_REFUSE: Final = 0x0005_0000 | 1  # the call fails with EPERM
_KILL: Final = 0x8000_0000
_ARCHITECTURES: Final[Mapping[str, int]] = MappingProxyType({"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7})
_CREATE_RULESET: Final = 444  # the same on both, as every call since Linux 5.1
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1
_LIMIT_FILES: Final = 7
_LIMIT_PROCESSOR: Final = 0

# Number of each call that may be made, on x86_64 (asm/unistd_64.h) and on aarch64 (asm-generic/unistd.h).
ALLOWED: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "read": (0, 63), "readv": (19, 65), "write": (1, 64), "writev": (20, 66), "close": (3, 57), "lseek": (8, 62),
        "fstat": (5, 80), "recvmsg": (47, 212), "munmap": (11, 215), "brk": (12, 214), "mremap": (25, 216),
        "madvise": (28, 233), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
        "sigaltstack": (131, 132), "restart_syscall": (219, 128), "sched_yield": (24, 124), "futex": (202, 98),
        "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "clock_gettime": (228, 113), "clock_getres": (229, 114),
        "gettimeofday": (96, 169), "getpid": (39, 172), "gettid": (186, 178), "getrandom": (318, 278),
        "getrusage": (98, 165), "sysinfo": (99, 179), "sched_getaffinity": (204, 123), "rseq": (334, 293),
        "exit": (60, 93), "exit_group": (231, 94),
    }
)  # fmt: skip
# These may be made with some arguments only.
GUARDED: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {"mmap": (9, 222), "mprotect": (10, 226), "prlimit64": (302, 261)}
)
_CAPSET: Final = (126, 91)


def empty_folder() -> None:
    """Make a new empty folder the working folder and remove its name: nothing can be made in it."""
    if sys.platform == "win32":
        return  # a working folder cannot be removed there
    try:
        place = tempfile.mkdtemp(prefix="layoutscope-")
    except OSError:
        os.chdir("/")
        return
    os.chdir(place)
    os.rmdir(place)


def limit_process(*, memory: int, open_files: int) -> None:
    """Limit memory (bytes beyond those in use now) and open files; forbid children, file writes, dumps."""
    if sys.platform == "win32":
        return
    import resource

    # NPROC: no child may outlive the process. FSIZE: pipes are not files. AS: what RLIMIT_DATA does not count.
    wanted = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_NPROC": 0, "RLIMIT_NOFILE": open_files}
    wanted["RLIMIT_DATA"] = memory
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as statm:
        wanted["RLIMIT_AS"] = int(statm.read().split()[0]) * resource.getpagesize() + memory
    for name, value in wanted.items():
        # A system that lacks or refuses one limit (macOS: RLIMIT_AS) still gets the others.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            resource.setrlimit(getattr(resource, name), (value, value))


def enter() -> tuple[str, ...]:
    """Give up environment, privileges, files, network and other processes; return what is in force.

    Such as ("no new privileges", "no capabilities", "Landlock 7", "seccomp"); empty where the system offers none. For a
    process of one thread. Open files can still be read and written, and fatal signals still come.
    """
    os.environ.clear()
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _ARCHITECTURES:
        return ()
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    # First: without it neither of the last two is open to a process without root.
    return tuple(
        words
        for words in (
            _no_new_privileges(library), _no_capabilities(library, machine), _landlock(library),
            _seccomp(library, machine),
        )
        if words
    )  # fmt: skip


def _no_new_privileges(library: _Library) -> str:
    return "" if library.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) else "no new privileges"


def _no_capabilities(library: _Library, machine: str) -> str:
    """Drop all capabilities of root; a process without any keeps none."""
    import ctypes

    header = ctypes.create_string_buffer(struct.pack("<Ii", _CAPABILITIES_3, 0))
    none = ctypes.create_string_buffer(24)
    number = _CAPSET[machine == "aarch64"]
    return "" if library.syscall(ctypes.c_long(number), header, none) else "no capabilities"


def _landlock(library: _Library) -> str:
    """Apply rules that handle every right that this kernel knows and allow none."""
    import ctypes

    version = library.syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    if version < 1:
        return ""
    # Rights to files by version: 13 in the first, then REFER, TRUNCATE (3) and IOCTL_DEV (5).
    rights = (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1
    rules = struct.pack("<Q", rights)
    if version >= 4:
        rules += struct.pack("<Q", 0b11)  # bind and connect of TCP
    if version >= 6:
        rules += struct.pack("<Q", 0b11)  # abstract sockets and signals
    held = library.syscall(ctypes.c_long(_CREATE_RULESET), rules, ctypes.c_size_t(len(rules)), ctypes.c_uint32(0))
    if held < 0:
        return ""
    refused = library.syscall(ctypes.c_long(_RESTRICT_SELF), ctypes.c_int(held), ctypes.c_uint32(0))
    os.close(held)
    return "" if refused else f"Landlock {version}"


def _seccomp(library: _Library, machine: str) -> str:
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    code = program(machine)
    wanted = Program(len(code) // 8, code)
    return "" if library.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(wanted), 0, 0) else "seccomp"


def program(machine: str) -> bytes:
    """Return the system call filter of a machine as classic BPF, eight bytes for each instruction."""
    column = list(_ARCHITECTURES).index(machine)
    load, equal, any_bit, answer = 0x20, 0x15, 0x45, 0x06

    def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("<HBBI", code, yes, no, value)

    def argument(index: int) -> bytes:
        return step(load, 16 + 8 * index)  # its low half: these arguments are ints, or bits below 32

    allow, refuse = step(answer, _ALLOW), step(answer, _REFUSE)
    code = step(load, 4) + step(equal, _ARCHITECTURES[machine], yes=1) + step(answer, _KILL) + step(load, 0)
    for numbers in ALLOWED.values():
        code += step(equal, numbers[column], no=1) + allow
    for name in ("mmap", "mprotect"):  # not executable
        code += step(equal, GUARDED[name][column], no=4) + argument(2) + step(any_bit, 0b100, no=1) + refuse + allow
    # Its own limits of open files and processor time: both are lowered and raised while it works.
    code += step(equal, GUARDED["prlimit64"][column], no=6) + argument(0) + step(equal, 0, no=4)
    code += argument(1) + step(equal, _LIMIT_FILES, yes=1) + step(equal, _LIMIT_PROCESSOR, no=1) + allow + refuse
    return code
