"""How the terminal tells the dashboard what is open: names of environment variables, without any other import."""

from typing import Final

WORKSPACE_VARIABLE: Final = "LAYOUTSCOPE_WORKSPACE"
"""What to open, as JSON; nothing for the sample data."""
QUERY_VARIABLE: Final = "LAYOUTSCOPE_QUERY"
"""The query that a session starts with whose address has none: protocol, fixes and filters of a project file."""
FOLDER_VARIABLE: Final = "LAYOUTSCOPE_WORKSPACE_FOLDER"
"""The folder that keeps uploads and the filter, named by --workspace."""
