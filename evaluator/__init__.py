"""The evaluation core of LayoutScope; imports no Streamlit and works alone."""

TYPE_CHECKING = False  # as in `typing`, which takes part in the time that the command needs to begin
if TYPE_CHECKING:
    from evaluator.opened import open_files as open

__all__ = ["open"]


def __getattr__(name: str) -> object:
    """Return `open`, for which all the rest is imported when it is asked for."""
    if name == "open":
        from evaluator.opened import open_files

        return open_files
    raise AttributeError(f"module 'evaluator' has no attribute {name!r}")
