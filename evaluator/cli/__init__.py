"""The terminal: the same calls as the dashboard, with the names and exit codes that scripts rely on.

One module per group of commands; each puts its commands on the one `app` of ``program``, which owns exit codes and
what a user sees when something is wrong. Evaluation, reading and formatting are other rooms'.
"""

from evaluator.cli import check, compare, dashboard, evaluate, findings, report, suspects
from evaluator.cli.program import app, main

__all__ = ["app", "check", "compare", "dashboard", "evaluate", "findings", "main", "report", "suspects"]
