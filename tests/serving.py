"""Servers that tests and benchmarks start: a free port, the wait until one answers, its end, and its processes."""

import contextlib
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
HEALTH = "/_stcore/health"
# Seconds for the start of a server and for anything on screen: the first run of a server takes over a minute where
# twenty processes share a core.
PATIENCE = 120


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def answering(
    command: Sequence[str],
    folder: Path,
    log: Path,
    port: int,
    environment: Mapping[str, str] = os.environ,
    *,
    path: str = HEALTH,
    refuses: bool = False,
) -> subprocess.Popen[bytes]:
    """A server, started in `folder`, once it answers; `refuses` when an error of HTTP is an answer too."""
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with OPENER.open(f"http://127.0.0.1:{port}{path}", timeout=2):
                return process
        except urllib.error.HTTPError:
            if refuses:
                return process
        except OSError:
            pass
        time.sleep(0.1)
    stop(process)
    raise AssertionError(f"the server did not come up: {log.read_text()}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server."""
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=30)


@contextlib.contextmanager
def served(
    command: Sequence[str], port: int, folder: Path, root: Path = ROOT, *, path: str = HEALTH
) -> Iterator[tuple[str, int]]:
    """Address and process of a server of the checkout in `root` as users have it, which runs for the block."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    # Where this is set, each process compiles the whole product anew.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = answering(command, folder, folder / f"server-{port}.log", port, environment, path=path)
    try:
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        stop(process)


def processes(pid: int) -> set[int]:
    """A process and all below it, whichever of its threads started them."""
    below = {pid}
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        # It may end in between.
        with contextlib.suppress(OSError):
            for child in path.read_text().split():
                below |= processes(int(child))
    return below


def running(pids: set[int]) -> set[int]:
    """Those that have not ended; one that only waits for its adopter has."""
    states = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            states[pid] = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return {pid for pid, state in states.items() if state != "Z"}


def lasting(pids: set[int], seconds: float = 30) -> set[int]:
    """Those that have not ended in some seconds."""
    deadline = time.monotonic() + seconds
    while running(pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    return running(pids)


def cpu_ms(pids: set[int]) -> float:
    """Milliseconds of CPU that processes have taken, those that ended left out."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            # The clock of another process: see clock_getcpuclockid(3).
            total += time.clock_gettime((~pid << 3) | 2)
    return 1000.0 * total
