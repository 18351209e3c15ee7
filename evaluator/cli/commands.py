"""The commands and options in words, and the overview that ``--help`` prints without an import of a library."""

from __future__ import annotations

import textwrap

SUMMARY = "Interactive error analysis for document layout detection and extraction."
# Where each command is, and the first sentence of its help.
COMMANDS = {
    "check": ("check:check", "Read and validate files; list all issues; exit 2 when any of them is an error."),
    "compare": (
        "compare:compare",
        "Compare two or more models: which boxes each one finds, every difference with its interval, and a decision.",
    ),
    "convert": ("convert:convert", "Write the boxes of a file in another format, and list what that cannot hold."),
    "corpus": (
        "corpus:corpus",
        "Make a folder of columns of a ground truth and its models, which every command reads in place of the files.",
    ),
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
    "merge": (
        "merge:merge",
        "Make one result of the parts that evaluate --shard wrote: the same numbers as of one run.",
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
    "--install-completion": "Have the shell in use (bash, zsh, fish, PowerShell) complete commands and options.",
}


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
