"""Document Snapshot Detection, schema 1.3: the face of the format."""

from evaluator.formats.snapshot.reader import check_pair, detect, read, side_of

__all__ = ["check_pair", "detect", "read", "side_of"]
