"""The program with all its commands: each is named here and imported when it is used."""

from evaluator.cli import dashboard
from evaluator.cli.commands import COMMANDS, OPTIONS
from evaluator.cli.program import app, run

__all__ = ["app", "run"]

app.default(dashboard.dashboard)
for _name, (_place, _help) in COMMANDS.items():
    app.command(f"evaluator.cli.{_place}", name=_name, help=_help)
app.register_install_completion_command(help=OPTIONS["--install-completion"])
