"""The terminal: the same calls as the dashboard, with the names and exit codes that scripts rely on."""

from evaluator.cli.command_line import main

__all__ = ["main"]
