"""The terminal: the same calls as the dashboard, with the names and exit codes that scripts rely on.

One module per group of commands. ``--version`` and ``--help`` are answered here, before any library is imported;
``commands`` lists them, ``program`` owns the `app`, exit codes and failures, ``registered`` imports each command when
it is used.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import shutil
import signal
import sys
from collections.abc import Sequence

from evaluator.cli.commands import COMMANDS, overview
from evaluator.system.version import __version__


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, ``sys.argv[1:]`` by default, and leave with its exit code; see `program.run`."""
    try:
        code = _code_of(arguments)
    except KeyboardInterrupt:
        # While libraries are imported; later the program answers it itself.
        code = 130
    sys.exit(code)


def _code_of(arguments: Sequence[str] | None) -> int:
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
                importlib.import_module(f"evaluator.cli.{place.partition(':')[0]}")
        gc.freeze()
        gc.enable()
    return run(words)
