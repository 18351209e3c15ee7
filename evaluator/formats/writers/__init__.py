"""Writers: columns of boxes to the files of a format."""

from evaluator.formats.writers.base import WRITERS, Writer, WriteResult, writer_named

__all__ = ["WRITERS", "WriteResult", "Writer", "writer_named"]
