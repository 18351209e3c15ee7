"""Commands that are killed in the middle: what they were to replace is whole, and once more gives the same bytes.
Children are forked from a process that has imported everything; ``bench_attack`` runs large counts.
"""

import contextlib
import io
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from evaluator import cli
from evaluator.system.atomic_write import UNFINISHED
from tests.building import random_rows, write_file

Contents = dict[str, bytes]
COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "evaluate": ("evaluate", "snapshot", "--gt", "gt.json", "--pred", "{pred}", "--json"),
    "pack": ("report", "snapshot", "--gt", "gt.json", "--pred", "{pred}", "--out", "{out}.html"),
    "folder": ("report", "snapshot", "--gt", "gt.json", "--pred", "{pred}", "--out", "{out}"),
    "coco": ("convert", "{pred}", "--to", "coco", "--page-size", "600x800", "--out", "{out}.json", "--force"),
    "yolo": ("convert", "{pred}", "--to", "yolo", "--page-size", "600x800", "--out", "{out}", "--force"),
}


class Interrupted(NamedTuple):
    """What became of one kind of command, in numbers."""

    kills: int
    torn: int
    """Times that a file of the result was neither the old nor the new one, as a whole."""
    differing: int
    """Times that running the command once more gave other bytes."""


def interrupted(kind: str, kills: int, seed: int) -> Interrupted:
    """Kill a command again and again, each time at another moment of its run."""
    chance, torn, differing, killed = random.Random(f"{kind}/{seed}"), 0, 0, 0
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        place = Path(name)
        _, predicted = random_rows(seed, documents=2, pages=2, per_page=4.0)
        # All but one match: the doctor is not asked, and what mistakes need is imported by the first run.
        write_file(place / "gt.json", predicted[1:], side="ground_truth")
        write_file(place / "old.json", predicted[:-1], side="prediction")
        write_file(place / "new.json", predicted, side="prediction")
        os.environ["LAYOUTSCOPE_FINDINGS"] = str(place / "findings.sqlite")
        # Here first, for what it imports.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            cli.main(_words(kind, "new.json", "result"))
        new = _contents(place, "result") or _done(kind, "new.json", "result")
        start = time.perf_counter()
        old = _done(kind, "old.json", "result")
        lasts = time.perf_counter() - start
        while killed < kills:
            process = _forked(lambda: _run(kind, "new.json", "result"))
            time.sleep(chance.random() * lasts)
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            killed += os.WIFSIGNALED(status)
            if kind != "evaluate":
                # What a killed process had begun is no result; the next run removes it.
                left = {file: each for file, each in _contents(place, "result").items() if not _begun(file)}
                gone = (old.keys() & new.keys()) - left.keys()
                torn += bool(gone) or any(left[file] not in (old.get(file), new.get(file)) for file in left)
                if left != old:
                    _done(kind, "old.json", "result")
            if killed % 10 == 0:
                differing += _done(kind, "new.json", "result") != new
                _done(kind, "old.json", "result")
    return Interrupted(killed, torn, differing)


def _words(kind: str, prediction: str, out: str) -> list[str]:
    return [word.format(pred=prediction, out=out) for word in COMMANDS[kind]]


def _run(kind: str, prediction: str, out: str) -> None:
    target = os.open(f"{out}.txt" if kind == "evaluate" else os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(target, 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with contextlib.suppress(SystemExit):
        cli.main(_words(kind, prediction, out))


def _done(kind: str, prediction: str, out: str) -> Contents:
    """The result of a command that may end."""
    os.waitpid(_forked(lambda: _run(kind, prediction, out)), 0)
    made = _contents(Path(), out)
    assert made, f"{kind} made nothing"
    return made


def _forked(work: Callable[[], None]) -> int:
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(0)
    return process


def _begun(file: str) -> bool:
    return UNFINISHED.fullmatch(Path(file).name) is not None


def _contents(folder: Path, out: str) -> Contents:
    """The files of a result by their names in it; a folder's are below it."""
    whole = [path for path in folder.iterdir() if path.name == out or path.name.startswith(f"{out}.")]
    files = [path for each in whole for path in (each.rglob("*") if each.is_dir() else [each]) if path.is_file()]
    return {str(path.relative_to(folder)).removeprefix(out): path.read_bytes() for path in sorted(files)}
