"""Memory that was freed goes back to the system."""

import ctypes
import os
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from evaluator.system import memory

needs_glibc = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")


@needs_glibc
def test_what_lies_between_pieces_in_use_goes_back() -> None:
    # Too small to be asked of the system one by one, and too far below the last one to go back by themselves.
    pieces = [bytearray(b"x") * 100_000 for _ in range(1_000)]
    kept = pieces[::50]
    del pieces
    before = resident()
    memory.release_freed_memory()
    assert (before - resident()) * resource.getpagesize() > 50_000_000
    assert all(piece == b"x" * 100_000 for piece in kept)


@pytest.mark.parametrize("platform", ["darwin", "linux"])
def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _name: SimpleNamespace())
    memory.release_freed_memory()
    memory.share_among_threads()
    memory.keep_freed_memory.__wrapped__()


_KEPT = """
import resource, sys
from evaluator.system import memory
if sys.argv[1] == "kept":
    memory.keep_freed_memory()
faults = []
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    pieces = [bytearray(4_000_000) for _ in range(8)]
    del pieces
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(faults[-1])
"""


def number_of(program: str, way: str) -> int:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MALLOC_")}
    return int(subprocess.check_output([sys.executable, "-c", program, way], env=environment))


@needs_glibc
def test_what_is_kept_is_there_for_the_next_ones() -> None:
    assert number_of(_KEPT, "kept") < number_of(_KEPT, "given back") / 10


_THREADS = """
import re, sys, threading
from evaluator.system.memory import share_among_threads
if sys.argv[1] == "shared":
    share_among_threads()
here = threading.Barrier(5)

def work():
    kept = bytearray(100_000)
    here.wait()

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
# The pool of a thread is a piece of 64 MiB of addresses, of which little is in use.
sizes = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) ---p 00000000 00:00 0 *$", open("/proc/self/maps").read(), re.MULTILINE)
here.wait()
print(sum(int(stop, 16) - int(start, 16) > 60 << 20 for start, stop in sizes))
"""


@needs_glibc
def test_threads_take_their_memory_from_one_pool() -> None:
    assert number_of(_THREADS, "own") >= 4
    assert number_of(_THREADS, "shared") == 0


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])
