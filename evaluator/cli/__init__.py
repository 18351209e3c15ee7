"""The terminal: the same calls as the dashboard, with the names and exit codes that scripts rely on.

One module per group of commands. They are imported when their command is used, so that ``--version`` and ``--help``
need neither numpy nor the readers; ``program`` owns the one `app`, exit codes and what a user sees when something is
wrong. Evaluation, reading and formatting are other rooms'.
"""

from evaluator.cli import dashboard
from evaluator.cli.program import app, main

__all__ = ["COMMANDS", "app", "dashboard", "main"]

# Where each command is, and the first sentence of its help.
COMMANDS = {
    "check": ("check:check", "Read and validate files; list all issues; exit 2 when any of them is an error."),
    "compare": (
        "compare:compare",
        "Compare predictions with each other: who finds what, how far they are apart, how sure that is.",
    ),
    "convert": ("convert:convert", "Write the boxes of a file in another format, and say what that cannot hold."),
    "describe": (
        "convert:describe",
        "Say what is in a file: counts per label, pages without boxes, duplicates, sizes, boxes that leave their page.",
    ),
    "diagnostics": (
        "diagnostics:diagnostics",
        "Say what is installed and what confines the processes that read PDFs; exit 3 when they cannot be started.",
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
        "Find where a model fails by itself: sets of boxes, told by up to three conditions, worse than elsewhere.",
    ),
    "suspects": (
        "suspects:suspects",
        "List ground truth that deserves a second look, most likely wrong first, with a proposed correction.",
    ),
}
for _name, (_place, _help) in COMMANDS.items():
    app.command(f"evaluator.cli.{_place}", name=_name, help=_help)
