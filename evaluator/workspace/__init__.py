"""What is open: files and their roles, uploads, the project file, and what outlives a session."""

from typing import Final

# How the terminal passes to the dashboard what to open: JSON in the environment; nothing for the sample data.
WORKSPACE_VARIABLE: Final = "LAYOUTSCOPE_WORKSPACE"
