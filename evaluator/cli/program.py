"""The program: its one `app`, exit codes, how a failure is told, and the progress bars.

Exit codes: 0 fine, 1 a gate failed, 2 bad input or usage, 3 internal error. Results go to standard output, everything
else to standard error; no traceback without ``--debug``.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TimeElapsedColumn
from rich.text import Text

from evaluator import export
from evaluator.model.issues import BadInput, Issue, plain
from evaluator.version import __version__

OK: Final = 0
GATE_FAILED: Final = 1
BAD_INPUT: Final = 2
INTERNAL_ERROR: Final = 3

app = App(
    name="layoutscope",
    help="Interactive error analysis for document layout detection and extraction.",
    version=f"layoutscope {__version__}",
    version_flags=["--version"],
    help_format="plaintext",
)


Protocol = Annotated[str, Parameter(help="The evaluation system; see the README for the list.")]
Truth = Annotated[Path, Parameter(help="Ground-truth file or folder.")]


class UsageError(Exception):
    """Raised for arguments that parse but make no sense; the message is one sentence with its fix."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        ``sys.argv[1:]`` when absent. ``--debug`` anywhere shows tracebacks.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        # What is piped or saved is UTF-8 whatever the locale; a terminal shows what it cannot print as an escape.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    sys.exit(_run(words, debug=debug))


def _run(words: list[str], *, debug: bool) -> int:
    """Exit code of a command line; no exception leaves it."""
    try:
        code = app(words, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return code if isinstance(code, int) else OK
    except BrokenPipeError:
        # The reader has seen enough (``| head``); the interpreter must not try to write the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (CycloptsError, UsageError, BadInput, OSError) as problem:
        sys.stderr.write(_complaint(problem))
        sys.stderr.write(traceback.format_exc() if debug else "")
        return BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except Exception as problem:  # noqa: BLE001 - the last line of defence: exit code 3, no traceback
        sys.stderr.write(f"internal error: {type(problem).__name__}: {plain(str(problem))}\n")
        sys.stderr.write(traceback.format_exc() if debug else "Run again with --debug for the traceback.\n")
        return INTERNAL_ERROR


def _complaint(problem: Exception) -> str:
    """What is wrong with the input or the usage, in whole lines."""
    if isinstance(problem, BadInput):
        return export.issues_text(problem.issues)
    if isinstance(problem, UnusedCliTokensError):
        words = " ".join(problem.unused_tokens or ())
        return f"error: {plain(words)} is not understood here.\nSee layoutscope --help.\n"
    if isinstance(problem, OSError):
        name = Path(problem.filename).name if isinstance(problem.filename, str) else "file"
        return f"error: {plain(name)}: {plain(problem.strerror or str(problem))}.\n"
    more = "See layoutscope --help.\n" if isinstance(problem, CycloptsError) else ""
    return f"error: {plain(str(problem))}\n{more}"


def tell(issues: Iterable[Issue], notes: Iterable[str] = ()) -> None:
    """Issues, each once, and notes, to standard error."""
    sys.stderr.write(export.issues_text(list(dict.fromkeys(issues))))
    sys.stderr.write("".join(f"note: {plain(note)}\n" for note in notes))


class Bar:
    """A progress bar for one job after the other; calling it begins the next one."""

    def __init__(self, bars: Progress, start: str) -> None:
        self.bars = bars
        # Text from data goes into a Text, never into markup.
        self._job: TaskID = bars.add_task("", total=None, words=Text(plain(start)))
        self._begun = False

    def __call__(self, text: str) -> None:
        """Begin the next job, whose length is not known yet; the one before is done."""
        if self._begun:
            self.end()
            self._job = self.bars.add_task("", total=None, words=Text(plain(text)))
        else:
            self.bars.update(self._job, words=Text(plain(text)))
        self._begun = True

    def count(self, done: int, total: int) -> None:
        """How much of the present job is done."""
        self.bars.update(self._job, completed=done, total=total)

    def end(self) -> None:
        """The last job is done."""
        total = next(task.total for task in self.bars.tasks if task.id == self._job) or 1
        self.bars.update(self._job, completed=total, total=total)


class _Words(ProgressColumn):
    """What a job is."""

    def render(self, task: Task) -> Text:
        found: Text = task.fields["words"]
        return found


@contextlib.contextmanager
def progress(start: str) -> Iterator[Bar]:
    """Progress bars on a terminal's standard error, one for each job; silent elsewhere. Yields what they are told."""
    console = Console(stderr=True, markup=False, highlight=False)
    columns = (_Words(), BarColumn(bar_width=32), MofNCompleteColumn(), TimeElapsedColumn())
    # Gone when it ends, so that results alone stand on the screen.
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bars:
        bar = Bar(bars, start)
        yield bar
        bar.end()
