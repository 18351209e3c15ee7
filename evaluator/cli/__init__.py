"""The terminal: the same calls as the dashboard, with the names and exit codes that scripts rely on.

One module per group of commands. ``--version`` and ``--help`` are answered here, before any library is imported;
``program`` owns the `app`, exit codes and failures, ``registered`` imports each command when it is used.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import shutil
import signal
import sys
import textwrap
from collections.abc import Sequence

from evaluator.version import __version__

__all__ = ["COMMANDS", "OPTIONS", "SUMMARY", "main", "overview"]

SUMMARY = "Interactive error analysis for document layout detection and extraction."
# Where each command is, and the first sentence of its help.
COMMANDS = {
    "check": ("check:check", "Read and validate files; list all issues; exit 2 when any of them is an error."),
    "compare": (
        "compare:compare",
        "Compare two or more models: which boxes each one finds, every difference with its interval, and a decision.",
    ),
    "convert": ("convert:convert", "Write the boxes of a file in another format, and list what that cannot hold."),
    "describe": (
        "convert:describe",
        "Summarise a file: counts per label, pages without boxes, duplicates, sizes, boxes that leave their page.",
    ),
    "diagnostics": (
        "diagnostics:diagnostics",
        "Show versions and what confines the processes that read PDFs; exit 3 when they cannot be started.",
    ),
    "evaluate": ("evaluate:evaluate", "Evaluate predictions against a ground truth."),
    "findings": (
        "findings:findings_app",
        "Verdicts and notes: export, import, merge, and the corrected ground truth.",
    ),
    "gate": (
        "compare:gate",
        "Fail with exit code 1 when a prediction is not good enough, in absolute terms or against a baseline.",
    ),
    "open": (
        "dashboard:open_paths",
        "Start the dashboard on folders and files; ground truth, predictions and PDFs are recognised by content.",
    ),
    "report": (
        "report:review_pack",
        "Make a review pack of one or more models: numbers, differences, findings and pages in one file.",
    ),
    "slices": (
        "slices:slices",
        "Find the sets of boxes, fields or posters, by up to three conditions, in which a model is worse than "
        "elsewhere.",
    ),
    "suspects": (
        "suspects:suspects",
        "List ground truth that deserves a second look, most likely wrong first, with a proposed correction.",
    ),
}
# What can be said without a command, which starts the dashboard on the sample data.
OPTIONS = {
    "--workspace PATH": "Folder that keeps uploads and filters across reloads and restarts.",
    "--port INT": "Port on this machine; the first free one from 8501 when not given.",
    "--browser, --no-browser": "Open the browser when the dashboard is up. [default: --browser]",
    "--help, -h": "Display this message and exit.",
    "--version": "Display application version.",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code; ``sys.argv[1:]`` by default.

    ``--debug`` anywhere shows tracebacks, ``--no-cache`` parses every file anew.
    """
    try:
        code = _code_of(arguments)
    except KeyboardInterrupt:
        # While libraries are imported; later the program answers it itself.
        code = 130
    sys.exit(code)


def _code_of(arguments: Sequence[str] | None) -> int:
    """Return the exit code of a command line, arguments as in `main`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    quick = ""
    if words == ["--version"]:
        quick = f"layoutscope {__version__}\n"
    elif words in (["--help"], ["-h"]):
        quick = overview(shutil.get_terminal_size().columns)
    # Where nobody reads, or the disk is full, the program says so as for any other command.
    with contextlib.suppress(OSError):
        if quick:
            print(quick, end="", flush=True)
            return 0
    # The product has threads of its own; more of them inside each would only wait for each other. Read by numpy when it
    # is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if arguments is None:
        # A process of its own: modules and results stay, and looking through them for garbage finds next to nothing.
        gc.set_threshold(50_000)
        gc.disable()
        # Temporary folders are removed then, as after Ctrl+C.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    from evaluator.cli.registered import run

    if arguments is None:
        # What a command needs is imported before it is parsed, so that no look for garbage ever goes through it. What
        # cannot be imported is tried again and reported when the command is parsed.
        with contextlib.suppress(Exception):
            for place in [COMMANDS[word][0] for word in words if word in COMMANDS][:1]:
                importlib.import_module(f"{__name__}.{place.partition(':')[0]}")
        gc.freeze()
        gc.enable()
    return run(words)


def overview(width: int) -> str:
    """Return what ``layoutscope --help`` prints, wrapped to so many columns (at least 40)."""
    lines = ["Usage: layoutscope COMMAND [OPTIONS]", "", *textwrap.wrap(SUMMARY, max(width, 40))]
    rows = {"Commands": {name: text for name, (_, text) in COMMANDS.items()}, "Options": OPTIONS}
    margin = 2 + max(len(name) for section in rows.values() for name in section) + 2
    for title, section in rows.items():
        lines += ["", f"{title}:"]
        for name, text in section.items():
            first, *more = textwrap.wrap(text, max(width, 40) - margin)
            lines += [f"  {name}".ljust(margin) + first, *(" " * margin + line for line in more)]
    return "\n".join([*lines, "", "layoutscope COMMAND --help shows the options of a command.", ""])
