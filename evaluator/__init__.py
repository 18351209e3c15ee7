"""The evaluation core of LayoutScope; imports no Streamlit and works alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluator.opened import open_files as open

__all__ = ["open"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - of any module
    """Return `open`, for which all the rest is imported when it is asked for."""
    if name == "open":
        from evaluator.opened import open_files

        return open_files
    raise AttributeError(f"module 'evaluator' has no attribute {name!r}")
