"""How the terminal tells the dashboard what is open: names of environment variables, without any other import."""

from typing import Final

WORKSPACE_VARIABLE: Final = "LAYOUTSCOPE_WORKSPACE"
"""What to open, as JSON; nothing for the sample data."""
