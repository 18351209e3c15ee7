"""Writers: columns of boxes to the files of a format."""

from evaluator.formats.writers.base import Writer, WriteResult
from evaluator.formats.writers.registry import WRITERS, writer_named

__all__ = ["WRITERS", "WriteResult", "Writer", "writer_named"]
