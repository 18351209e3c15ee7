"""A process that hostile documents own: what it tries outside of itself fails, and honest work goes on."""

import errno
import json
import os
import re
import socket
import struct
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.pdf import process, sandbox
from evaluator.pdf.pool import PagePool
from tests.page_asking import refused
from tests.pdf_fixtures import page, pages
from tests.terminal import run_command

PROJECT = Path(__file__).resolve().parents[2]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the layers are those of Linux")
HEADERS = (Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm-generic/unistd.h"))

# Runs inside the owned process, by Python and by system calls of its own; each attempt says what it got.
ATTEMPTS = """
import ctypes, mmap, os, signal, socket, subprocess, sys

library = ctypes.CDLL(None, use_errno=True)
library.mmap.restype = ctypes.c_void_p


def call(name, *arguments):
    function = getattr(library, name)
    if function(*arguments) in (-1, 2**64 - 1):
        raise OSError(ctypes.get_errno(), name)


def attempts(precious, folder, port, victim):
    yield "read", lambda: open("/etc/passwd").read()
    yield "read in C", lambda: call("open", b"/etc/passwd", 0)
    yield "list", lambda: os.listdir("/")
    yield "delete", lambda: os.unlink(precious)
    yield "rename", lambda: os.rename(precious, precious + ".gone")
    yield "change", lambda: os.truncate(precious, 0)
    yield "mode", lambda: os.chmod(precious, 0o777)
    yield "write outside", lambda: open(os.path.join(folder, "new"), "w")
    yield "write here", lambda: open("new", "w")
    yield "make a folder", lambda: os.mkdir("new")
    yield "connect", lambda: socket.socket().connect(("127.0.0.1", port))
    yield "connect in C", lambda: call("socket", 2, 1, 0)
    yield "a socket of this machine", lambda: call("socket", 1, 1, 0)
    yield "start a program", lambda: subprocess.run(["/bin/true"], check=True)
    yield "exec", lambda: call("execve", b"/bin/true", None, None)
    yield "fork", lambda: os._exit(0) if os.fork() == 0 else None
    yield "kill", lambda: os.kill(victim, 0)
    yield "trace", lambda: call("ptrace", 16, victim, None, None)
    yield "priority", lambda: os.setpriority(os.PRIO_PROCESS, victim, 19)
    yield "limits of another", lambda: call("prlimit64", victim, 7, None, ctypes.create_string_buffer(16))
    yield "more memory than allowed", lambda: bytearray(600 * 2**20)
    yield "executable memory", lambda: call("mmap", None, 4096, 7, 0x22, -1, 0)


def outcome(attempt):
    try:
        attempt()
    except OSError as problem:
        return problem.errno
    except MemoryError:
        return "MemoryError"
    except ImportError:
        return "ImportError"
    return "done"
"""
# The real worker, with one function exchanged: whatever is asked of it, it attacks, and answers with what it got.
OWNED = (
    ATTEMPTS
    + """
import json
from evaluator.pdf import worker

def attack(desk, request, handed):
    words = json.loads(os.read(handed, 65536).split(b"%%", 1)[1])
    found = {name: outcome(attempt) for name, attempt in attempts(*words)}
    found["environment"] = [dict(os.environ), ctypes.c_char_p(library.getenv(b"PATH") or None).value is None]
    return worker.Description(0, False, (json.dumps(found)[:900],))

worker._RequestHandler.answer = attack
worker.main()
"""
)


Targets = tuple[list[Any], socket.socket, subprocess.Popen[bytes]]


@pytest.fixture
def targets(tmp_path: Path) -> Iterator[Targets]:
    """What is worth attacking: a file of the user, a folder, a port that listens, a process."""
    precious = tmp_path / "precious.txt"
    precious.write_text("of the user")
    with socket.create_server(("127.0.0.1", 0)) as listening, subprocess.Popen(["sleep", "60"]) as victim:
        yield [str(precious), str(tmp_path), listening.getsockname()[1], victim.pid], listening, victim
        assert victim.poll() is None
        victim.kill()
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()
    assert precious.read_text() == "of the user"
    assert {path.name for path in tmp_path.iterdir()} <= {"precious.txt", "owned.py", "words.pdf"}


@linux_only
def test_an_owned_worker_reaches_nothing(tmp_path: Path, targets: Targets, monkeypatch: pytest.MonkeyPatch) -> None:
    program, document = tmp_path / "owned.py", tmp_path / "words.pdf"
    program.write_text(OWNED)
    document.write_bytes(b"%PDF-1.7\n%%" + json.dumps(targets[0]).encode())
    monkeypatch.setattr(process, "python_module", lambda _: [sys.executable, "-P", str(program)])
    with PagePool(time_limit=20.0) as pool:
        told = pool.describe(document).warnings[0]
        (worker,) = pool._live
    decoded = json.loads(told)
    assert worker.confined[0] == "no new privileges"
    if "seccomp" not in worker.confined:
        pytest.skip("this system forbids a filter of system calls")
    assert decoded.pop("environment") == [{}, True]
    assert decoded.pop("more memory than allowed") == "MemoryError"
    assert {name: got for name, got in decoded.items() if got != errno.EPERM} == {}
    assert len(decoded) == 21


def attempted(targets: list[Any], *missing: str) -> tuple[list[str], dict[str, object]]:
    """The layers and outcomes of a plain process that confines itself on a system without some of the layers."""
    code = ATTEMPTS + textwrap.dedent(
        """
        import json
        from evaluator.pdf import sandbox
        targets, missing = json.loads(sys.argv[1])
        for name in missing:
            setattr(sandbox, name, lambda *_: "")
        layers = sandbox.enter()
        found = {name: outcome(attempt) for name, attempt in attempts(*targets) if "memory" not in name}
        print(json.dumps([layers, found]))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps([targets, missing])],
        capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    layers, outcomes = json.loads(done.stdout)
    return layers, outcomes


@linux_only
def test_without_seccomp_landlock_holds_files_and_the_network(targets: Targets) -> None:
    layers, outcomes = attempted(targets[0], "_seccomp")
    version = next((int(name.split()[1]) for name in layers if name.startswith("Landlock")), 0)
    if version < 4:
        pytest.skip(f"Landlock {version} of this system does not hold the network")
    assert "seccomp" not in layers
    held = ("read", "read in C", "list", "delete", "rename", "change", "write outside", "write here", "make a folder")
    for name in (*held, "connect", "exec"):
        assert outcomes[name] in (errno.EACCES, errno.EPERM, errno.EXDEV), name


@linux_only
def test_without_landlock_the_filter_holds_everything(targets: Targets) -> None:
    layers, outcomes = attempted(targets[0], "_landlock")
    if "seccomp" not in layers:
        pytest.skip("this system forbids a filter of system calls")
    assert not [name for name in layers if name.startswith("Landlock")]
    assert {name: got for name, got in outcomes.items() if got != errno.EPERM} == {}


@linux_only
def test_a_system_that_refuses_every_layer_still_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, program = tmp_path / "one.pdf", tmp_path / "bare.py"
    path.write_bytes(page())
    names = ("_no_new_privileges", "_no_capabilities", "_landlock", "_seccomp")
    exchanged = "".join(f"sandbox.{name} = lambda *_: ''\n" for name in names)
    program.write_text(
        f"from evaluator.pdf import sandbox\n{exchanged}from evaluator.pdf import worker\nworker.main()\n"
    )
    monkeypatch.setattr(process, "python_module", lambda _: [sys.executable, "-P", str(program)])
    with PagePool() as pool:
        assert pool.page_image(path, 0).page_width == 612
        assert {worker.confined for worker in pool._live} == {()}


@linux_only
def test_nothing_of_a_worker_is_left_in_the_folder_of_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, scratch = tmp_path / "many.pdf", tmp_path / "scratch"
    scratch.mkdir()
    path.write_bytes(pages(4))
    monkeypatch.setenv("TMPDIR", str(scratch))
    with PagePool() as pool:
        pool.page_image(path, 0)
        for worker in pool._live:
            if worker.engine:
                where = os.readlink(f"/proc/{worker.process.pid}/cwd")
                assert re.fullmatch(rf"{re.escape(str(scratch))}/layoutscope-\w+ \(deleted\)", where)
        assert list(scratch.iterdir()) == []
    assert list(scratch.iterdir()) == []


def test_a_document_that_cannot_be_opened_any_more_is_a_typed_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gone.pdf"
    path.write_bytes(page())
    with PagePool() as pool:
        pool.describe(path)
        identify = pool._identify

        def then_taken_away(asked: Path) -> Any:
            identified = identify(asked)
            asked.unlink()
            return identified

        monkeypatch.setattr(pool, "_identify", then_taken_away)
        problem = refused(pool.page_image, path, 0)
    assert (problem.kind, problem.text) == (
        "unreadable",
        'The document is damaged, so this page cannot be drawn. The renderer reports: "No such file or directory".',
    )


@pytest.mark.skipif(not all(path.is_file() for path in HEADERS), reason="needs the headers of the C library")
def test_the_numbers_of_the_calls_are_those_of_the_kernel() -> None:
    """Of x86_64 from its own header; of aarch64 from the generic one, which it uses."""
    for column, path in enumerate(HEADERS):
        text = path.read_text()
        numbers = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
        wanted = {**sandbox.ALLOWED, **sandbox.GUARDED, "capset": sandbox._CAPSET}
        assert {name: numbers[name] for name in wanted} == {name: pair[column] for name, pair in wanted.items()}


def test_the_filter_kills_on_a_foreign_architecture_and_refuses_by_default() -> None:
    for machine in ("x86_64", "aarch64"):
        code = sandbox.program(machine)
        assert len(code) % 8 == 0
        assert answer(code, 0xDEAD, 0) == sandbox._KILL
        column = ("x86_64", "aarch64").index(machine)
        architecture = sandbox._ARCHITECTURES[machine]
        for name, numbers in sandbox.ALLOWED.items():
            assert answer(code, architecture, numbers[column]) == sandbox._ALLOW, name
        numbers_allowed = {pair[column] for pair in (*sandbox.ALLOWED.values(), *sandbox.GUARDED.values())}
        for number in set(range(1024)) - numbers_allowed:
            assert answer(code, architecture, number) == sandbox._REFUSE
            # The other calling convention of x86_64 has numbers of its own.
            assert answer(code, architecture, number | 0x4000_0000) == sandbox._REFUSE
        for name in ("mmap", "mprotect"):
            number = sandbox.GUARDED[name][column]
            for protection in range(8):
                wanted = sandbox._REFUSE if protection & 4 else sandbox._ALLOW
                assert answer(code, architecture, number, 0, 0, protection) == wanted
        limits = sandbox.GUARDED["prlimit64"][column]
        for pid, resource, wanted in ((0, 7, True), (0, 0, True), (0, 9, False), (1, 7, False), (1, 0, False)):
            assert answer(code, architecture, limits, pid, resource) == (sandbox._ALLOW if wanted else sandbox._REFUSE)


def answer(code: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the filter says to a call: classic BPF, worked step by step."""
    data = struct.pack("<iIQ6Q", number, architecture, 0, *arguments, *(0,) * (6 - len(arguments)))
    at, held = 0, 0
    while True:
        operation, yes, no, value = struct.unpack_from("<HBBI", code, 8 * at)
        at += 1
        if operation == 0x20:
            (held,) = struct.unpack_from("<I", data, value)
        elif operation == 0x06:
            return int(value)
        else:
            at += yes if (held == value if operation == 0x15 else bool(held & value)) else no


def test_elsewhere_the_process_gives_up_its_environment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "environ", {"SECRET": "1"})
    assert sandbox.enter() == ()
    assert os.environ == {}
    monkeypatch.setattr(sys, "platform", "win32")
    here = Path.cwd()
    sandbox.empty_folder()
    assert Path.cwd() == here


def test_the_terminal_says_what_is_in_force(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run_command(capsys, "diagnostics", "--json")
    told = json.loads(out)
    assert (code, told["renderer"].split()[0]) == (0, "PyMuPDF")
    layers = {name.split()[0] for name in (*told["confined_by"], *told["not_in_force"])}
    assert layers == {"no", "Landlock", "seccomp"}
    assert len(told["confined_by"]) + len(told["not_in_force"]) == 4


def test_the_terminal_says_that_no_page_can_be_drawn(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(Path(sys.executable).with_name("no-such-python")))
    code, out, _ = run_command(capsys, "diagnostics")
    assert code == 3
    assert out.splitlines()[2:4] == [
        "renderer: Pages cannot be drawn here. The renderer could not be started. "
        "The system refused to start a process. Check the installation of PyMuPDF and Pillow; all numbers are complete "
        "without page images.",
        "processes that read PDFs are confined by: their limits alone",
    ]
