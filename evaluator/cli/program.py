"""The program: its one `app`, exit codes, and how a failure is shown.

Exit codes: 0 fine, 1 a gate failed, 2 bad input or usage, 3 internal error. Results go to standard output, everything
else to standard error; no traceback without ``--debug``.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

from evaluator.cli.commands import SUMMARY
from evaluator.data.issues import BadInput, Issue, issues_text, plain
from evaluator.system import cache_folder
from evaluator.system.registry import LEFT_OUT
from evaluator.system.version import __version__

OK: Final = 0
GATE_FAILED: Final = 1
BAD_INPUT: Final = 2
INTERNAL_ERROR: Final = 3

app = App(
    name="layoutscope",
    help=SUMMARY,
    version=f"layoutscope {__version__}",
    version_flags=["--version"],
    help_format="plaintext",
)


Protocol = Annotated[str, Parameter(help="The evaluation system; see the README for the list.")]
Truth = Annotated[
    list[Path],
    Parameter(negative="", help="Ground-truth file or folder; repeat it to merge files of different documents."),
]
Columns = Annotated[
    str,
    Parameter(
        help="What the columns of a CSV or Parquet file hold, "
        '"document=file,label=cls,x1=left,y1=top,x2=right,y2=bottom".'
    ),
]
LevelName = Annotated[
    Literal["outer", "inner", "all"] | None,
    Parameter(help="Which boxes are read where a file states that some lie in others: outer, inner or all."),
]
Json = Annotated[bool, Parameter(negative="", help="Write JSON to standard output.")]
Markdown = Annotated[bool, Parameter(negative="", help="Write Markdown to standard output.")]


def need_folder(flag: str, folder: Path) -> None:
    """Refuse what is no folder, nor Parquet with pictures: without this its pages would be missing in silence."""
    from evaluator.pdf import parquet_pictures

    if not folder.is_dir() and not parquet_pictures.has_pictures(folder):
        what = "is no folder" if folder.exists() else "is not there"
        raise UsageError(f"{flag}: {plain(folder.name or str(folder))} {what}; give the folder of the PDFs.")


class UsageError(Exception):
    """Raised for arguments that parse but make no sense; the message is one sentence with its fix."""


@contextmanager
def writing(flag: str, place: Path) -> Iterator[None]:
    """Turn an OSError into a UsageError that names the place that was given."""
    try:
        yield
    except OSError as problem:
        name, reason = plain(place.name or str(place)), plain(problem.strerror or str(problem))
        raise UsageError(
            f"{flag}: {name} must be writable; found {reason}. Choose another place, or correct its permissions."
        ) from problem


@contextmanager
def in_one_sentence(*kinds: type[ValueError]) -> Iterator[None]:
    """Turn what makes no sense into a UsageError of one sentence."""
    try:
        yield
    except kinds as problem:
        raise UsageError(f"{problem}.") from problem


def run(arguments: Sequence[str]) -> int:
    """Run a command line, with ``--debug`` or ``--no-cache`` anywhere in it; return its exit code."""
    debug = "--debug" in arguments
    if "--no-cache" in arguments:
        # What the process starts, the dashboard for instance, is to know it too.
        os.environ[cache_folder.VARIABLE] = cache_folder.OFF
    words = [word for word in arguments if word not in ("--debug", "--no-cache")]
    # A number may follow this flag; another word does not belong to it.
    alone = [word == "--page-ranges" and not after[:1].isdigit() for word, after in pairwise([*words, ""])]
    words = [f"{word}=true" if each else word for word, each in zip(words, alone, strict=True)]
    for stream in (sys.stdout, sys.stderr):
        # What is piped or saved is UTF-8 whatever the locale; a terminal shows what it cannot print as an escape.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    return _run(words, debug=debug)


def _run(words: list[str], *, debug: bool) -> int:
    """Return the exit code of a command line; no exception leaves it."""
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
    finally:
        sys.stderr.write("".join(f"note: {plain(sentence)}\n" for sentence in LEFT_OUT))


def _complaint(problem: Exception) -> str:
    if isinstance(problem, BadInput):
        return issues_text(problem.issues)
    if isinstance(problem, UnusedCliTokensError):
        words = " ".join(problem.unused_tokens or ())
        return f"error: {plain(words)} is not understood here.\nSee layoutscope --help.\n"
    if isinstance(problem, OSError):
        reason = plain(problem.strerror or str(problem))
        if not isinstance(problem.filename, str):
            # Of a file that is open the system names none: most often standard output.
            return (
                f"error: standard output: it must take the whole result; found {reason}. Write it to another place.\n"
            )
        name = plain(Path(problem.filename).name)
        fix = "Correct the path or its permissions."
        return f"error: {name}: the file must be readable or writable; found {reason}. {fix}\n"
    more = "See layoutscope --help.\n" if isinstance(problem, CycloptsError) else ""
    return f"error: {plain(str(problem))}\n{more}"


def print_issues(issues: Iterable[Issue], notes: Iterable[str] = ()) -> None:
    """Write issues, each once, and notes, to standard error."""
    sys.stderr.write(issues_text(list(dict.fromkeys(issues))))
    sys.stderr.write("".join(f"note: {plain(note)}\n" for note in notes))
